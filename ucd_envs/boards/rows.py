"""Stones as rows of bits, a word for each row, on a board of hexagonal cells.

Cell (row, column) touches (row, column +- 1), (row +- 1, column), (row - 1, column + 1) and (row + 1, column - 1).
"""

from __future__ import annotations

import numpy as np

from ucd_envs.kernels import kernel
from ucd_envs.structs import popcount

ONE, U1 = np.uint32(1), np.uint64(1)
WHY_NO_SWAP = "the swap is on at the second move only, for the other player's stone"


@kernel()
def may_swap(c, s):
    """Returns whether the mover may swap: at the second move, if the stone is the other player's."""
    if c.swap == 0 or s.ply != 1 or s.player < 0:
        return False
    stones = np.uint32(0)
    for row in range(s.stones.shape[1]):
        stones |= s.stones[1 - s.player, row]
    return stones != 0


@kernel()
def spread(stones, joined, row, last):
    """Extends `joined` from one row to all connected stones. Returns whether the last row is reached.

    Sweeps down and up in turn over the rows that may still extend their neighbours, until a sweep changes nothing.
    """
    joined[row] = widened(joined[row], stones[row])
    top, bottom = row, row  # no row outside can extend a neighbour
    while True:
        row = top
        while row < last:
            more = stones[row + ONE] & (joined[row] | (joined[row] >> ONE)) & ~joined[row + ONE]
            row += ONE
            if more != 0:
                joined[row] = widened(joined[row] | more, stones[row])
                bottom = max(bottom, row)
            elif row > bottom:
                break
        if joined[last] != 0:
            return True
        row, lowest, grown = bottom, top, False
        while row > 0:
            more = stones[row - ONE] & (joined[row] | (joined[row] << ONE)) & ~joined[row - ONE]
            row -= ONE
            if more != 0:
                joined[row] = widened(joined[row] | more, stones[row])
                top = row
                if not grown:
                    bottom, grown = row, True
            elif row < lowest:
                break
        if not grown:
            return False


@kernel()
def widened(seeds, stones):
    """Returns all stones of a row in an unbroken line with a seed."""
    seeds |= ((stones + seeds) ^ stones) & stones  # the carry of the sum runs up each line from its seed
    while True:
        more = stones & (seeds >> ONE) & ~seeds
        if more == 0:
            return seeds
        seeds |= more


@kernel()
def place(s, player, row, column, rows, columns):
    """Puts a stone in its player's frame and extends `joined`. Returns whether the last row is reached."""
    stones, joined = s.stones[player], s.joined[player]
    last = np.uint32(rows - 1)
    if player == 1:
        row, column = column, row
        last = np.uint32(columns - 1)
    stone = ONE << column
    stones[row] |= stone
    near = joined[row] & ((stone << ONE) | (stone >> ONE))
    if row > 0:
        near |= joined[row - ONE] & (stone | (stone << ONE))
    if row < last:
        near |= joined[row + ONE] & (stone | (stone >> ONE))
    if near == 0 and row > 0:
        return False
    joined[row] |= stone
    return spread(stones, joined, row, last)


@kernel()
def ranked(words, rank):
    """Returns row and bit of the set bit of rank `rank` in `words`."""
    row = np.uint64(0)
    while True:
        count = np.uint64(popcount(words[row]))
        if rank < count:
            break
        rank -= count
        row += U1
    word = words[row]
    while rank > 0:
        word &= word - ONE  # clears the lowest bit
        rank -= U1
    return row, word & (~word + ONE)
