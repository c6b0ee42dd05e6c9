"""Boards of numbered tiles: words of nibbles, cell by cell from the lowest bits, 16 cells a word.

A nibble is the exponent k of a tile 2**k, 0 for an empty cell. A 4x4 board is one word, and a row of it 16 bits, so that a
table tells what becomes of each row when its tiles slide.
"""

from __future__ import annotations

import numpy as np

from ucd_envs.kernels import kernel
from ucd_envs.structs import record

UP, RIGHT, DOWN, LEFT = range(4)
ROW, SIDE, MOST_EXPONENT = 16, 4, 15
"""Bits of a row of a 4x4 board, its side, and the largest nibble."""
U1, U2, U12, U16, U24 = (np.uint64(n) for n in (1, 2, 12, 16, 24))
NIBBLE, LOW16 = np.uint64(0xF), np.uint64(0xFFFF)
ONES, TOPS = np.uint64(0x1111111111111111), np.uint64(0x8888888888888888)
STAY_3, RIGHT_3, LEFT_3 = (np.uint64(n) for n in (0xF0F00F0FF0F00F0F, 0x0000F0F00000F0F0, 0x0F0F00000F0F0000))
STAY_6, RIGHT_6, LEFT_6 = (np.uint64(n) for n in (0xFF00FF0000FF00FF, 0x00FF00FF00000000, 0x00000000FF00FF00))
"""Nibbles that stay, and that go 3 or 6 places, where a board is transposed."""

TABLE = record(("moved", np.uint32, (1 << ROW,)))
"""`moved`: of each row of four tiles, the row after a move to the left and, 16 bits higher, to the right."""


@kernel()
def exponent(board, cell):
    """Returns the exponent of the tile on a cell, 0 for an empty one."""
    return np.int64(board[cell >> 4] >> np.uint64(4 * (cell & 15)) & NIBBLE)


@kernel()
def put(board, cell, k):
    """Puts the tile 2**k on a cell, or none for 0."""
    shift = np.uint64(4 * (cell & 15))
    board[cell >> 4] = (board[cell >> 4] & ~(NIBBLE << shift)) | np.uint64(k) << shift


@kernel()
def occupied(word):
    """Returns the lowest bits of all nibbles that are not 0."""
    halves = word | word >> U1
    return (halves | halves >> U2) & ONES


@kernel()
def contains(word, nibbles):
    """Returns whether two words have an equal nibble at the same place."""
    different = word ^ nibbles
    return (different - ONES) & ~different & TOPS != 0


@kernel()
def transposed(board):
    """Returns a 4x4 board with rows and columns exchanged."""
    # Within blocks of 2x2 cells, then the blocks.
    board = board & STAY_3 | (board & RIGHT_3) << U12 | (board & LEFT_3) >> U12
    return board & STAY_6 | (board & RIGHT_6) >> U24 | (board & LEFT_6) << U24


@kernel()
def slid(table, board, shift):
    """Returns a 4x4 board after a move to the left, shift 0, or to the right, shift 16."""
    found = np.uint64(0)
    for row in range(SIDE):
        at = np.uint64(ROW * row)
        found |= (np.uint64(table.moved[board >> at & LOW16]) >> shift & LOW16) << at
    return found


@kernel()
def moved(table, board, direction):
    """Returns a 4x4 board after a move."""
    shift = U16 if direction in (RIGHT, DOWN) else np.uint64(0)
    if direction in (UP, DOWN):
        return transposed(slid(table, transposed(board), shift))
    return slid(table, board, shift)


def row_moves() -> np.ndarray:
    """Returns `moved` of TABLE: [2**16] uint32. Tiles of the largest exponent do not merge."""
    rows = np.arange(1 << ROW)
    tiles = rows[:, None] >> 4 * np.arange(SIDE) & 15
    left, right = _slid_left(tiles), _slid_left(tiles[:, ::-1])[:, ::-1]
    places = 16 ** np.arange(SIDE)
    found: np.ndarray = (left @ places | (right @ places) << ROW).astype(np.uint32)
    return found


def _slid_left(tiles: np.ndarray) -> np.ndarray:
    """Returns rows of exponents after a move to the left: [rows, SIDE] int."""
    tiles = np.take_along_axis(tiles, np.argsort(tiles == 0, axis=1, kind="stable"), axis=1)
    for place in range(SIDE - 1):
        here, behind = tiles[:, place], tiles[:, place + 1]
        merge = (here > 0) & (here == behind) & (here < MOST_EXPONENT)
        tiles[merge, place] += 1
        tiles[merge, place + 1 : -1] = tiles[merge, place + 2 :]
        tiles[merge, -1] = 0
    return tiles
