"""Lines of cells on a board in one word: cell row * columns + column is bit k."""

from __future__ import annotations

import numpy as np

from ucd_envs.boards.bits import ONE, ZERO
from ucd_envs.kernels import kernel
from ucd_envs.structs import leading_zeros

BITS, HIGHEST = np.uint64(64), np.uint64(1 << 63)


def beyond(cell: int, right: int, up: int, size: int, most: int = 8) -> int:
    """Returns the cells of a square board beyond a cell, at most `most` steps of `right` columns and `up` rows away."""
    found = 0
    for distance in range(1, most + 1):
        column, row = cell % size + distance * right, cell // size + distance * up
        if 0 <= column < size and 0 <= row < size:
            found |= 1 << row * size + column
    return found


@kernel()
def slid_up(movers, free, step):
    """Returns sliding pieces and all free cells that they pass within seven steps to higher cells."""
    two, four = step + step, step + step + step + step
    movers |= free & movers << step
    free &= free << step
    movers |= free & movers << two
    free &= free << two
    return movers | free & movers << four


@kernel()
def slid_down(movers, free, step):
    """Returns sliding pieces and all free cells that they pass within seven steps to lower cells."""
    two, four = step + step, step + step + step + step
    movers |= free & movers >> step
    free &= free >> step
    movers |= free & movers >> two
    free &= free >> two
    return movers | free & movers >> four


@kernel()
def seen_up(line, taken):
    """Returns a line to higher cells up to its first taken cell, that one included."""
    blockers = line & taken
    return line & (blockers ^ (blockers - ONE))


@kernel()
def seen_down(line, taken):
    """Returns a line to lower cells down to its first taken cell, that one included."""
    nearest = HIGHEST >> np.uint64(leading_zeros(line & taken | ONE))
    return line & (ZERO - nearest)


@kernel()
def rotated(cells, by):
    """Returns a set with all cells moved up, those that leave the word coming back from below, 0 < by < 64."""
    return cells << by | cells >> (BITS - by)
