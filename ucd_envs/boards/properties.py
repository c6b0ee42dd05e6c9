"""Pieces with four properties on 4x4 cells: a piece is a pattern of four bits, 0 to 15.

A word holds, for each property, the cells of the pieces with a 1: bit 16 * property + cell. Action row * 4 + column is a cell,
and action 16 + piece a piece.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from ucd_envs.boards.bits import ONE, ZERO, bit, first
from ucd_envs.kernels import kernel
from ucd_envs.rules import State
from ucd_envs.settings import cell_name, cell_named, shown

SIDE, CELLS, PROPERTIES = 4, 16, 4
U2, U3, U4, U5, U15 = (np.uint64(n) for n in (2, 3, 4, 5, 15))
ALL = np.uint64(0xFFFF)
"""All cells, and all pieces."""
LANES = np.uint64(0x0001000100010001)
"""The lowest bit of each property's cells; times a set of cells, that set for each property."""
SPREAD = np.uint64(0x0000200040008001)
"""Multiplier that moves bit k of a piece to bit 16 * k, among others."""
FIRST_COLUMN, FIRST_ROW, CORNER, OTHER_CORNER, SQUARES = (LANES * np.uint64(n) for n in (0x1111, 0x000F, 1, 8, 0x0777))
"""Cells where lines begin, for each property: those along rows, columns and both diagonals, and squares of 2x2 cells."""


def images_of(squares: bool) -> np.ndarray:
    """Returns the images of all cells under the symmetries that keep lines: [symmetries, CELLS].

    There are eight with squares of 2x2 cells, and without them 32: rows and columns change places alike, in an order that keeps
    the pairs of outer and inner ones, so that diagonals stay diagonals. Exchanges of properties are symmetries as well, but not
    of a key's bits.
    """
    orders = [order for order in permutations(range(SIDE)) if all(order[i] + order[3 - i] == 3 for i in range(SIDE))]
    if squares:
        orders = [order for order in orders if order in ((0, 1, 2, 3), (3, 2, 1, 0))]
    found = []
    for order in orders:
        for columns in (order, order[::-1]):
            turned = np.add.outer(np.array(order) * SIDE, columns)
            found += [turned.flatten().tolist(), turned.T.flatten().tolist()]
    return np.array(sorted(found))  # the identity comes first


@kernel()
def spread(piece):
    """Returns a piece on cell 0: bit 16 * k for bit k of the piece."""
    return piece * SPREAD & LANES


@kernel()
def piece_on(ones, cell):
    """Returns the piece on a taken cell."""
    bits = (ones >> cell) & LANES
    return (bits | bits >> np.uint64(15) | bits >> np.uint64(30) | bits >> np.uint64(45)) & U15


@kernel()
def pieces_on(ones, taken):
    """Returns the set of the pieces on taken cells."""
    found = ZERO
    while taken:
        found |= bit(piece_on(ones, np.uint64(first(taken))))
        taken &= taken - ONE
    return found


@kernel()
def has_line(ones, taken, squares):
    """Returns whether the pieces of a line, or of 2x2 cells, share the value of a property."""
    return line_of(ones, squares) | line_of(taken * LANES ^ ones, squares) != ZERO


@kernel()
def line_of(x, squares):
    """Returns the first cells of all lines of x, a set of cells for each property."""
    pairs, steep = x & x >> ONE, x & x >> U4
    found = pairs & pairs >> U2 & FIRST_COLUMN | steep & steep >> np.uint64(8) & FIRST_ROW
    rising, falling = x & x >> U5, x & x >> U3
    found |= rising & rising >> np.uint64(10) & CORNER | falling & falling >> np.uint64(6) & OTHER_CORNER
    if squares:
        found |= pairs & pairs >> U4 & SQUARES
    return found


@kernel()
def numbers(found):
    """Returns the members of a set of cells or pieces as a word of numbers of four bits, ascending."""
    word, shift = ZERO, ZERO
    while found:
        word |= np.uint64(first(found)) << shift
        found &= found - ONE
        shift += U4
    return word


@kernel()
def drawn(word, count, bits):
    """Draws one of the first `count` numbers of a word by 32 random bits.

    Returns it and the word after the last of them has taken its place.
    """
    shift = bits * count >> np.uint64(32) << U2
    number, last = (word >> shift) & U15, (word >> ((count - ONE) << U2)) & U15
    return number, word & ~(U15 << shift) | last << shift


def action_name(state: State, action: int) -> str:
    """Returns the name of a cell or, behind all cells, of a piece."""
    return f"s{action - CELLS:04b}" if action >= CELLS else cell_name(action, SIDE)


def action_named(state: State, text: str) -> int:
    """Returns the cell or the piece of a text, in upper or lower case. Raises ValueError for any other text."""
    pieces = {f"s{piece:04b}": CELLS + piece for piece in range(CELLS)}
    if text.lower() in pieces:
        return pieces[text.lower()]
    try:
        return cell_named(text, SIDE, SIDE)
    except ValueError:
        raise ValueError(f"{shown(text)} is no move: expected a cell, a1 to d4, or a piece, s0000 to s1111") from None
