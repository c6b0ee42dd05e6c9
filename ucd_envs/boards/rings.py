"""Chains of stones on a hexagonal board: tests for rings, bridges and forks.

A new stone makes a ring in two cases.

First: two of its neighbours belong to one chain, and on neither side of the stone does an unbroken run of own neighbours
lead from one to the other. A loop through the stone then separates the cells between them on one side from those on the
other, and one of the two groups lies inside the loop.

Second: the stone completes the six own neighbours of another own stone. If the first case does not hold, own neighbours lead
around the new stone for each such pair. A loop that avoids the stone then encloses the same cells, except for these
neighbours. So either there was a ring before, or the ring encloses own stones only, one of which now has six own neighbours.

Chains are trees of links. A root stores its chain's number of stones and the corners and edges that they touch.

A game that uses these kernels has the fields HEXAGON in its configuration, filled by `hexagon`, and `stones` in its record:
[players, SIDE + 2] uint32, one bit for each column of a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards.hexagon import AROUND, GOING_AROUND, arcs_of, cells_of, marks_of
from ucd_envs.boards.rows import widened
from ucd_envs.kernels import kernel
from ucd_envs.structs import popcount, stack_array

MOST_BASE = 10
SIDE = 2 * MOST_BASE - 1
CELLS = 3 * MOST_BASE * (MOST_BASE - 1) + 1
POINTS = (SIDE + 2) << 5
"""Number of points, which are cells and a border: row << shift | column, both from 1, where a row has 16 or 32 points."""
U0, U1, U2, U3, U5, U6, U8 = (np.uint64(n) for n in (0, 1, 2, 3, 5, 6, 8))
BYTE, SIX = np.uint64(0xFF), np.uint64(63)
ONE, ROW = np.uint32(1), np.dtype(np.uint32)

SURROUNDED = np.uint64(sum(1 << bit for bit in GOING_AROUND))
BIAS = np.uint64(64)
"""Added to steps between points in storage, so that they are not negative."""

ROOT, FLAGS, ONE_STONE = np.uint32(1 << 31), np.uint32((1 << 12) - 1), np.uint32(1 << 12)
"""Bits of links. A root's link has ROOT, its chain's number of stones from bit 12 on, six bits for edges and six for
corners. The link of any other stone is a stone nearer to the root. Links of empty cells are not used."""
RING, BRIDGE, FORK = np.uint64(1), np.uint64(2), np.uint64(4)
KINDS = ("ring", "bridge", "fork")

HEXAGON = (
    ("side", np.int32),
    ("shift", np.uint64),
    ("cells", np.uint64),
    ("arcs", np.uint32, (128,)),
    ("inner", np.uint8, (128,)),
    ("step", np.uint64, (7,)),
    ("marks", np.uint16, (POINTS,)),
    ("action", np.uint16, (POINTS,)),
    ("point", np.uint16, (CELLS,)),
    ("first", np.uint64, (SIDE,)),
    ("width", np.uint64, (SIDE,)),
)
"""Fields of a configuration. `arcs`: for each set of own neighbours, the number of its unbroken runs and a step to one cell
of each. `inner`: the neighbours between two others. `marks`: corners and edges of a point. `first`, `width`: first column
and number of cells of each row."""


def hexagon(base: int) -> dict[str, Any]:
    """Returns the fields HEXAGON of a board with `base` cells on a side."""
    side, shift, grid = 2 * base - 1, 4 if base < 8 else 5, cells_of(base)
    points = [(y + 1) << shift | (x + 1) for x, y in grid]
    steps = [int(BIAS) + x + (y << shift) for x, y in AROUND]
    heads, inner = zip(*(arcs_of(around) for around in range(128)), strict=True)
    arcs = [len(bits) + sum(steps[bit] << 8 * (place + 1) for place, bit in enumerate(bits)) for bits in heads]
    marks, action = np.zeros(POINTS, np.uint16), np.zeros(POINTS, np.uint16)
    action[points] = range(len(grid))
    marks[points] = [marks_of(base, cell) for cell in grid]
    first = [max(0, y - base + 1) + 1 for y in range(side)]
    width = [side - abs(y - base + 1) for y in range(side)]
    return {
        **{"side": side, "shift": shift, "cells": len(grid), "arcs": arcs, "inner": inner, "step": steps},
        **{"marks": marks, "action": action, "point": np.pad(points, (0, CELLS - len(grid)))},
        **{"first": np.pad(first, (0, SIDE - side)), "width": np.pad(width, (0, SIDE - side))},
    }


@kernel(inline=True)
def split(b, p):
    """Returns row and column of a point."""
    return p >> b.shift, p & ((U1 << b.shift) - U1)


@kernel()
def own_around(b, s, player, p):
    """Returns a player's stones around a point, as bits of AROUND."""
    row, column = split(b, p)
    before, same, after = (
        np.uint64(s.stones[player, row - U1]),
        np.uint64(s.stones[player, row]),
        np.uint64(s.stones[player, row + U1]),
    )
    left = column - U1
    return ((before >> left) & U3) | ((same >> left) & U5) << U2 | ((after >> column) & U3) << U5


@kernel()
def found(links, p):
    """Returns the root of a stone's chain, and the root's link."""
    link = links[p]
    while link & ROOT == 0:
        p = np.uint64(link)
        link = links[p]
    return p, link


@kernel()
def put(b, s, links, player, p):
    """Puts a stone on an empty point and joins the chains around it. Returns the kinds of victory that it makes."""
    around = own_around(b, s, player, p)
    row, column = split(b, p)
    s.stones[player, row] |= np.uint32(U1 << column)
    marks = np.uint32(b.marks[p])
    arcs = np.uint64(b.arcs[around])
    count = arcs & BYTE
    if count == 0:
        links[p] = ROOT | ONE_STONE | marks
        return U0
    # A set of neighbours has an arc for each unbroken run of own stones, which belong to one chain each.
    kinds = U0
    root, link = found(links, p + ((arcs >> U8) & BYTE) - BIAS)
    links[p] = np.uint32(root)
    link = (link + ONE_STONE) | marks
    while count > U1:
        arcs >>= U8
        count -= U1
        other, others = found(links, p + ((arcs >> U8) & BYTE) - BIAS)
        if other == root:
            kinds |= RING
        else:
            # The high bits are the number of stones: the larger chain keeps its root, so that paths of links stay short.
            if others > link:
                root, other, link, others = other, root, others, link
            links[other] = np.uint32(root)
            link = (link + (others & ~(ROOT | FLAGS))) | (others & FLAGS)
    links[root] = link
    if b.inner[around] and surrounds(b, s, player, p, np.uint64(b.inner[around])):
        kinds |= RING
    # x & (x - 1) clears the lowest bit: two corners make a bridge, three edges a fork.
    corners, edges = np.uint64(link) & SIX, (np.uint64(link) >> U6) & SIX
    edges &= edges - U1
    kinds |= BRIDGE if corners & (corners - U1) else U0
    kinds |= FORK if edges & (edges - U1) else U0
    return kinds


@kernel()
def surrounds(b, s, player, p, inner):
    """Returns whether a neighbour in `inner` of a new stone has six own neighbours."""
    for bit in range(np.uint64(7)):
        if (inner >> bit) & U1 and own_around(b, s, player, p + b.step[bit] - BIAS) == SURROUNDED:
            return True
    return False


@kernel()
def on_board(b, row):
    """Returns the cells of a row of points, as bits."""
    if row < 1 or row > b.side:
        return np.uint32(0)
    place = np.uint64(row) - U1
    return np.uint32(((U1 << b.width[place]) - U1) << b.first[place])


@kernel()
def spread(b, cells, reached):
    """Extends `reached` to all cells that are joined to it by cells of a set. Both are rows of bits."""
    grown = True
    while grown:
        grown = False
        for row in range(U1, np.uint64(b.side) + U1):
            below, above = reached[row - U1], reached[row + U1]
            near = reached[row] | ((below | below << ONE | above | above >> ONE) & cells[row])
            if near:
                near = widened(near, cells[row])
            grown |= near != reached[row]
            reached[row] = near


@kernel()
def next_chain(b, stones, left, chain):
    """Moves the first chain of `left`, a part of `stones`, to `chain`. Returns its number of stones as a root's link, with
    its corners and edges."""
    found = False
    for row in range(SIDE + 2):
        first = left[row] & (~left[row] + ONE)
        chain[row] = np.uint32(0) if found else first
        found |= first != 0
    spread(b, stones, chain)
    link = np.uint32(0)
    for row in range(U1, np.uint64(b.side) + U1):
        cells = chain[row]
        left[row] &= ~cells
        while cells:
            link = (link + ONE_STONE) | np.uint32(b.marks[row << b.shift | np.uint64(popcount((cells & (~cells + ONE)) - ONE))])
            cells &= cells - ONE
    return link


@kernel()
def kinds_on(b, stones):
    """Returns the kinds of victory among a player's stones, rows of bits, however they came there."""
    left, chain, kinds = stack_array(SIDE + 2, ROW), stack_array(SIDE + 2, ROW), U0
    for row in range(SIDE + 2):
        left[row] = stones[row]
    link = next_chain(b, stones, left, chain)
    while link:
        corners, edges = np.uint64(link) & SIX, (np.uint64(link) >> U6) & SIX
        edges &= edges - U1
        kinds |= BRIDGE if corners & (corners - U1) else U0
        kinds |= FORK if edges & (edges - U1) else U0
        link = next_chain(b, stones, left, chain)
    # A ring keeps other cells from the border, or a stone of its own amid six.
    free, reached = left, chain
    for row in range(SIDE + 2):
        free[row] = on_board(b, row) & ~stones[row]
        reached[row] = np.uint32(0)
    for cell in range(b.cells):
        p = np.uint64(b.point[cell])
        row, column = split(b, p)
        if b.marks[p]:
            reached[row] |= free[row] & (ONE << np.uint32(column))
    spread(b, free, reached)
    for row in range(U1, np.uint64(b.side) + U1):
        below, same, above = stones[row - U1], stones[row], stones[row + U1]
        if reached[row] != free[row] or same & (same << ONE) & (same >> ONE) & below & (below << ONE) & above & (above >> ONE):
            kinds |= RING
    return kinds


@kernel()
def links_agree(b, s, links):
    """Returns whether the links of every chain lead to one root, which stores its number of stones, corners and edges."""
    left, chain = stack_array(SIDE + 2, ROW), stack_array(SIDE + 2, ROW)
    for player in range(2):
        for row in range(SIDE + 2):
            left[row] = s.stones[player, row]
        expected = next_chain(b, s.stones[player], left, chain)
        while expected:
            roots = 0
            for row in range(U1, np.uint64(b.side) + U1):
                cells = chain[row]
                while cells:
                    p = row << b.shift | np.uint64(popcount((cells & (~cells + ONE)) - ONE))
                    cells &= cells - ONE
                    roots += links[p] == ROOT | expected
                    if not leads_to_root(b, chain, links, p, expected):
                        return False
            if roots != 1:
                return False
            expected = next_chain(b, s.stones[player], left, chain)
    return True


@kernel()
def leads_to_root(b, chain, links, p, expected):
    """Returns whether a stone's link leads to the link of its root, over stones of its chain."""
    for _ in range(b.cells):
        if links[p] & ROOT:
            return links[p] == ROOT | expected
        p = np.uint64(links[p])
        row, column = split(b, p)
        if row > np.uint64(b.side) or not (chain[row] >> np.uint32(column)) & ONE:
            return False
    return False
