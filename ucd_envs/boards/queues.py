"""Chains of stones that are never captured, and one queue of moves for each colour, as in NoGo [NoGo section 3].

A stone is illegal if it would take the last liberty of a chain, an enemy's or its own. No stone leaves the board. So a point
that has become illegal for a colour stays illegal for it until the end of the game:

- It takes the last liberty of an enemy chain. The point is that chain's only liberty. A chain grows, alone or by joining
  others, only through a stone on one of its liberties, and so only on the point itself.
- Its own chain would have no liberty. The point has no empty neighbour, and no stone leaves the board. For each own chain
  beside it the point is the only liberty, so that this chain, too, can grow only on the point itself.

So each colour keeps a shrinking queue: all points that are legal for it, and perhaps some that have become illegal. Points
that are taken leave both queues at once. Illegal ones leave a queue when they are found. A uniform draw from the queue that
is repeated until the point is legal is a uniform draw from the legal points.

Points, chains and pseudo-liberties are those of `boards.chains`. A game that uses these kernels has the fields QUEUES in its
record.
"""

from __future__ import annotations

import numpy as np

from ucd_envs.boards.chains import (
    BORDER,
    CELLS,
    EMPTY,
    FLAG,
    MANY,
    POINT,
    POINTS,
    ROOM,
    U0,
    U1,
    UP,
    around,
    attached,
    chain_length,
    is_framed,
    is_named,
)
from ucd_envs.kernels import kernel
from ucd_envs.structs import stack_array

QUEUES = (
    ("left", np.uint64, (2,)),
    ("colour", np.uint8, (POINTS,)),
    ("around", np.uint16, (POINTS,)),
    ("chain", np.uint16, (POINTS,)),
    ("next", np.uint16, (POINTS,)),
    ("liberties", np.uint16, (POINTS,)),
    ("length", np.uint16, (POINTS,)),
    ("place", np.uint16, (2, POINTS)),
    ("queue", np.uint16, (2, CELLS)),
)
"""Fields of a record. `queue`: the `left` points of each player in any order; `place`: the index of each point in it, which
means nothing for a point that is not in the queue. The others are as in `chains.CHAINS`."""


@kernel()
def clear(s, points, cells):
    """Clears the board, whose points are the first `cells` of `points`, and puts all of them into both queues."""
    for p in range(POINTS):
        s.colour[p] = BORDER
        s.around[p] = s.chain[p] = s.next[p] = s.length[p] = 0
        s.liberties[p] = MANY
        s.place[0, p] = s.place[1, p] = 0
    for i in range(CELLS):
        s.queue[0, i] = s.queue[1, i] = points[i]
    for i in range(cells):
        point = np.uint64(points[i])
        s.colour[point] = EMPTY
        s.place[0, point] = s.place[1, point] = i
    for i in range(cells):
        point = np.uint64(points[i])
        s.around[point] = around(s, point)
    s.left[0] = s.left[1] = cells


@kernel()
def is_free(s, p, player):
    """Returns whether a stone on an empty point takes the last liberty of no chain."""
    own, enemy = np.uint8(player + 1), np.uint8(2 - player)
    e, w, d, u = p + U1, p - U1, p - UP, p + UP
    ce, cw, cd, cu = np.uint64(s.chain[e]), np.uint64(s.chain[w]), np.uint64(s.chain[d]), np.uint64(s.chain[u])
    ew, ed, eu = np.uint16(ce == cw), np.uint16(ce == cd), np.uint16(ce == cu)
    wd, wu, du = np.uint16(cw == cd), np.uint16(cw == cu), np.uint16(cd == cu)
    # Pairs that are left without p. Empty points and the border share NO_CHAIN, which has many.
    le = s.liberties[ce] - (1 + ew + ed + eu) != 0
    lw = s.liberties[cw] - (1 + ew + wd + wu) != 0
    ld = s.liberties[cd] - (1 + ed + wd + du) != 0
    lu = s.liberties[cu] - (1 + eu + wu + du) != 0
    he, hw, hd, hu = s.colour[e], s.colour[w], s.colour[d], s.colour[u]
    takes = ((he == enemy) & ~le) | ((hw == enemy) & ~lw) | ((hd == enemy) & ~ld) | ((hu == enemy) & ~lu)
    lives = ((he == own) & le) | ((hw == own) & lw) | ((hd == own) & ld) | ((hu == own) & lu)
    return ((s.around[p] >= ROOM) | lives) & ~takes


@kernel()
def is_found_free(s, p, player, unseen, todo):
    """Returns the same as `is_free`, by the colours alone: a search of every chain beside the point for a liberty.

    unseen: [POINTS] uint8 and todo: [CELLS] uint16, scratch.
    """
    s.colour[p] = player + 1
    free = is_alive(s, p, unseen, todo)
    for q in (p - U1, p + U1, p - UP, p + UP):
        if free and s.colour[q] == 2 - player:
            free = is_alive(s, q, unseen, todo)
    s.colour[p] = EMPTY
    return free


@kernel()
def is_alive(s, start, unseen, todo):
    """Returns whether the chain of a stone touches an empty point."""
    for place in range(POINTS):
        unseen[place] = 1
    unseen[start] = 0
    todo[0] = start
    done, end = U0, U1
    while done < end:
        p = np.uint64(todo[done])
        done += U1
        for q in (p - U1, p + U1, p - UP, p + UP):
            if s.colour[q] == EMPTY:
                return True
            if s.colour[q] == s.colour[start] and unseen[q]:
                unseen[q] = 0
                todo[end] = q
                end += U1
    return False


@kernel()
def put(s, p, player):
    """Puts a stone on a point that is free for the player, and takes it out of both queues."""
    drop(s, p, U0)
    drop(s, p, U1)
    attached(s, p, player)


@kernel()
def drop(s, p, player):
    """Takes a point out of a player's queue, if it is there: the last point takes its place."""
    i = np.uint64(s.place[player, p])
    if i < s.left[player] and s.queue[player, i] == p:
        s.left[player] -= U1
        q = s.queue[player, s.left[player]]
        s.queue[player, i] = q
        s.place[player, np.uint64(q)] = i


@kernel()
def free_end(s, player):
    """Returns the length of a player's queue without the points at its end that are not free."""
    left = s.left[player]
    while left > U0 and not is_free(s, np.uint64(s.queue[player, left - U1]), player):
        left -= U1
    return left


@kernel()
def may_move(s, player):
    """Returns whether any point is free for a player. Drops points that are not from the end of its queue."""
    s.left[player] = free_end(s, player)
    return s.left[player] > U0


@kernel()
def agrees(s, points, cells):
    """Returns whether all fields of a record follow from its colours, every chain has a liberty, and both queues hold all
    points that are free. Any bytes will do."""
    unseen, scratch = stack_array(POINTS, FLAG), stack_array(CELLS, POINT)
    if not is_framed(s, points, cells, unseen):
        return False
    counted = np.int64(0)
    for i in range(cells):
        p = np.uint64(points[i])
        if s.around[p] != around(s, p) or not is_named(s, p):
            return False
        if s.colour[p] == EMPTY:
            counted += 1
        elif s.chain[p] == p:
            length = chain_length(s, p, unseen, scratch)
            if length == 0:
                return False
            counted += length
    return counted == cells and is_whole(s, points, cells, U0) and is_whole(s, points, cells, U1)


@kernel()
def is_whole(s, points, cells, player):
    """Returns whether a player's queue holds empty points, among them all that are free."""
    left = s.left[player]
    if left > np.uint64(cells):
        return False
    for i in range(left):
        p = np.uint64(s.queue[player, i])
        if p >= np.uint64(POINTS) or s.colour[p] != EMPTY or s.place[player, p] != i:
            return False
    for i in range(cells):
        p = np.uint64(points[i])
        place = np.uint64(s.place[player, p])
        if s.colour[p] == EMPTY and is_free(s, p, player) and (place >= left or s.queue[player, place] != p):
            return False
    return True
