"""Sets of cells as words of bits: cell k is bit k."""

from __future__ import annotations

import numpy as np

from ucd_envs.kernels import kernel
from ucd_envs.structs import popcount, trailing_zeros

ZERO, ONE = np.uint64(0), np.uint64(1)
HALVES = np.uint64(32), np.uint64(16), np.uint64(8), np.uint64(4), np.uint64(2), np.uint64(1)


@kernel()
def bit(cell):
    """Returns the set of one cell, 0 to 63."""
    return ONE << np.uint64(cell)


@kernel()
def has(cells, cell):
    """Returns whether a cell belongs to a set."""
    return (cells >> np.uint64(cell)) & ONE != ZERO


@kernel()
def first(cells):
    """Returns the lowest cell of a set that is not empty. `cells & (cells - ONE)` is the set without it."""
    return np.int64(trailing_zeros(cells))


@kernel()
def nth(cells, n):
    """Returns the cell of a set that has `n` lower ones in it, 0 <= n < popcount(cells)."""
    cell, left = ZERO, np.uint64(n)
    for half in HALVES:
        low = cells & ((ONE << half) - ONE)
        count = np.uint64(popcount(low))
        if left >= count:
            left, cell, cells = left - count, cell + half, cells >> half
        else:
            cells = low
    return np.int64(cell)


@kernel()
def list_cells(cells, base, actions, count):
    """Writes `base` + cell for each cell of a set, ascending, behind the first `count` actions. Returns the new count."""
    while cells:
        actions[count] = base + first(cells)
        cells &= cells - ONE
        count += 1
    return count
