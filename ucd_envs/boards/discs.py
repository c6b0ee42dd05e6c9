"""Discs of two players on a square board, where runs of the other's discs between own ones are turned over.

Each player's discs are one word, cell row * columns + column in its bit, on at most 8x8 cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards.bits import ONE, ZERO
from ucd_envs.boards.lines import HIGHEST, beyond
from ucd_envs.kernels import kernel
from ucd_envs.structs import leading_zeros

AHEAD = ((1, 0), (-1, 1), (0, 1), (1, 1))
"""Columns and rows of a step in each direction to higher cells."""

BOARD = (*((name, np.uint64) for name in ("columns", "board", "inner", "centre")), ("start", np.uint64, (2,)))
LINES = tuple((name, np.uint64, (64, len(AHEAD))) for name in ("up", "down"))
"""Fields of a configuration. `board`: all cells; `inner`: cells that are in neither the first nor the last column; `centre`:
the cells of the first four discs; `start`: these discs, by player; `up`, `down`: the cells beyond a cell, in the
directions to higher and to lower cells."""


@kernel()
def open_cells(c, mine, other):
    """Returns the empty cells at the ends of runs of the other's discs that begin beside an own one."""
    # Runs along rows and diagonals cannot go on beyond the first and the last column.
    inner, n = other & c.inner, c.columns
    found = ends(mine, inner, ONE) | ends(mine, other, n) | ends(mine, inner, n - ONE) | ends(mine, inner, n + ONE)
    return found & c.board & ~(mine | other)


@kernel()
def ends(mine, other, step):
    """Returns the cells behind runs of up to six of the other's discs, in the two directions of a step."""
    two = step + step
    up, down = other & mine << step, other & mine >> step
    up |= other & up << step
    down |= other & down >> step
    pairs = other & other << step
    up |= pairs & up << two
    up |= pairs & up << two
    pairs >>= step
    down |= pairs & down >> two
    down |= pairs & down >> two
    return up << step | down >> step


@kernel()
def flips(c, mine, other, cell):
    """Returns the other's discs that a disc on an empty cell turns over."""
    found = ZERO
    for i in range(4):
        # A carry runs through the other's discs to the first cell that is none of them.
        line = c.up[cell, i]
        end = ((other | ~line) + ONE) & line & mine
        found |= (end - (ONE if end else ZERO)) & line
        # The same downwards: the highest cell of the line that is none of the other's discs.
        line = c.down[cell, i]
        end = HIGHEST >> np.uint64(leading_zeros((line & ~other) | ONE)) & line & mine
        found |= (ZERO - (end + end)) & line
    return found


def tables(size: int, crossed: bool) -> dict[str, Any]:
    """Returns the values of BOARD and LINES for size x size cells.

    crossed: whether the first discs of one colour lie on a diagonal, else in a row.
    """
    cells, low = size * size, (size // 2 - 1) * (size + 1)
    middle = 0b11 << low | 0b11 << low + size
    black = 1 << low | 1 << low + (size + 1 if crossed else 1)
    up, down = np.zeros((2, 64, len(AHEAD)), np.uint64)
    for cell in range(cells):
        up[cell] = [beyond(cell, right, rows, size) for right, rows in AHEAD]
        down[cell] = [beyond(cell, -right, -rows, size) for right, rows in AHEAD]
    return {
        "columns": size,
        "board": (1 << cells) - 1,
        "inner": sum(1 << cell for cell in range(cells) if 0 < cell % size < size - 1),
        "centre": middle,
        "start": [black, middle ^ black],
        "up": up,
        "down": down,
    }
