"""Chains of stones on a square grid: what Go and its relatives share.

Points lie in one line, row behind row, with a border around them that rows share: a board of any size has the same
neighbours. A chain is named by one of its points, where its number of stones and its pseudo-liberties are kept: the pairs of
a stone and an empty neighbour, which are none exactly when it has no liberty. Two chains that meet become one by renaming
the shorter. All as in libego (Lew 2009), which found it the fastest way.

A game that uses these kernels has the fields CHAINS in its record.
"""

from __future__ import annotations

import numpy as np

from ucd_envs.kernels import kernel

SIDE = 19
"""The longest side of a board."""
CELLS = SIDE * SIDE
UP = np.uint64(SIDE + 1)
"""From a point to the one above."""
POINTS = (SIDE + 2) * (SIDE + 1) + 1
"""Points with the border; point 0 is of the border."""
U0, U1, U2, U4, U8 = (np.uint64(n) for n in (0, 1, 2, 4, 8))

EMPTY, BLACK, WHITE, BORDER = 0, 1, 2, 4
"""Colours of points: the second is player 0's, the third player 1's."""
ROOM = np.uint64(0x100)
"""Neighbours are counted in one word: black, white and empty ones, four bits each. The border counts as black and white."""
EDGE = np.uint64(0x11)
SURROUNDED = np.uint64(4)
NO_CHAIN = np.uint64(0)
"""The chain of points without a stone. Its liberties mean nothing; they begin with MANY, since 0 costs time."""
MANY = 0x8000

CHAINS = (
    ("ko", np.int32),
    ("vacant", np.uint64),
    ("colour", np.uint8, (POINTS,)),
    ("around", np.uint16, (POINTS,)),
    ("chain", np.uint16, (POINTS,)),
    ("next", np.uint16, (POINTS,)),
    ("liberties", np.uint16, (POINTS,)),
    ("length", np.uint16, (POINTS,)),
    ("place", np.uint16, (POINTS,)),
    ("empty", np.uint16, (CELLS,)),
)
"""`ko`: where a lone stone with one liberty has just taken a lone stone, or 0. `around`: neighbours counted. `chain`: a point's
chain, at whose point `liberties` (pairs) and `length` (stones) are; `next` goes round it. `empty`: the `vacant` empty points in
any order, `place` of each there."""


@kernel()
def clear(s, points, cells):
    """An empty board whose points are the first `cells` of `points`."""
    s.ko = 0
    s.vacant = U0
    for p in range(POINTS):
        s.colour[p] = BORDER
        s.around[p] = 0
        s.chain[p] = 0
        s.next[p] = 0
        s.liberties[p] = MANY
        s.length[p] = 0
        s.place[p] = 0
    for i in range(CELLS):
        s.empty[i] = 0
    for i in range(cells):
        put_empty(s, np.uint64(points[i]))
    for i in range(s.vacant):
        point = np.uint64(s.empty[i])
        for q in (point - U1, point + U1, point - UP, point + UP):
            s.around[point] += ROOM if s.colour[q] == EMPTY else EDGE


@kernel()
def is_eye(s, p, player):
    """Whether an empty point among one's own stones is a true eye by its diagonal points."""
    enemy = np.uint8(2 - player)
    a, b, c, d = s.colour[p - UP - U1], s.colour[p - UP + U1], s.colour[p + UP - U1], s.colour[p + UP + U1]
    enemies = np.uint64(a == enemy) + np.uint64(b == enemy) + np.uint64(c == enemy) + np.uint64(d == enemy)
    edge = np.uint64((a == BORDER) | (b == BORDER) | (c == BORDER) | (d == BORDER))
    return enemies + edge < U2


@kernel()
def breathes(s, p, player):
    """Whether a stone on an empty point without empty neighbours takes a chain or joins one with another liberty."""
    own, enemy = np.uint8(player + 1), np.uint8(2 - player)
    e, w, d, u = p + U1, p - U1, p - UP, p + UP
    ce, cw, cd, cu = np.uint64(s.chain[e]), np.uint64(s.chain[w]), np.uint64(s.chain[d]), np.uint64(s.chain[u])
    ew, ed, eu = np.uint16(ce == cw), np.uint16(ce == cd), np.uint16(ce == cu)
    wd, wu, du = np.uint16(cw == cd), np.uint16(cw == cu), np.uint16(cd == cu)
    return (
        lives(s.colour[e], s.liberties[ce] - (1 + ew + ed + eu), own, enemy)
        | lives(s.colour[w], s.liberties[cw] - (1 + ew + wd + wu), own, enemy)
        | lives(s.colour[d], s.liberties[cd] - (1 + ed + wd + du), own, enemy)
        | lives(s.colour[u], s.liberties[cu] - (1 + eu + wu + du), own, enemy)
    )


@kernel()
def lives(colour, liberties, own, enemy):
    """Whether a neighbour is an own chain with a liberty or an enemy one without."""
    return ((colour == own) & (liberties != 0)) | ((colour == enemy) & (liberties == 0))


@kernel()
def touches(s, p, player):
    """Whether a stone of the player stands beside a point."""
    own = np.uint8(player + 1)
    return (s.colour[p - U1] == own) | (s.colour[p + U1] == own) | (s.colour[p - UP] == own) | (s.colour[p + UP] == own)


@kernel()
def place(s, p, player):
    """Puts a stone on an empty point and takes off enemy chains without a liberty, then its own if it has none; finds a ko."""
    own, enemy = np.uint8(player + 1), np.uint8(2 - player)
    gone = U1 << U4 * np.uint64(player)
    s.vacant -= U1
    last, i = np.uint64(s.empty[s.vacant]), np.uint64(s.place[p])
    s.empty[i] = last
    s.place[last] = i
    e, w, d, u = p + U1, p - U1, p - UP, p + UP
    room = np.uint64(s.around[p]) >> U8
    s.colour[p] = own
    change = gone - ROOM
    s.around[e] += change
    s.around[w] += change
    s.around[d] += change
    s.around[u] += change
    ce, cw, cd, cu = np.uint64(s.chain[e]), np.uint64(s.chain[w]), np.uint64(s.chain[d]), np.uint64(s.chain[u])
    s.liberties[ce] -= 1
    s.liberties[cw] -= 1
    s.liberties[cd] -= 1
    s.liberties[cu] -= 1
    oe, ow, od, ou = s.colour[e] == own, s.colour[w] == own, s.colour[d] == own, s.colour[u] == own
    alone = not (oe | ow | od | ou)
    if alone:
        s.chain[p] = p
        s.next[p] = p
        s.liberties[p] = room
        s.length[p] = 1
    else:
        first = ce if oe else cw if ow else cd if od else cu
        s.chain[p] = first
        s.next[p] = s.next[first]
        s.next[first] = p
        s.liberties[first] += room
        s.length[first] += 1
        if (ow & (cw != first)) | (od & (cd != first)) | (ou & (cu != first)):
            if ow & (cw != first):
                join(s, first, cw)
            if od:
                join(s, np.uint64(s.chain[p]), np.uint64(s.chain[d]))
            if ou:
                join(s, np.uint64(s.chain[p]), np.uint64(s.chain[u]))
    none = (s.liberties[ce] == 0) | (s.liberties[cw] == 0) | (s.liberties[cd] == 0) | (s.liberties[cu] == 0)
    if none:
        before = s.vacant
        if s.colour[e] == enemy and s.liberties[ce] == 0:
            take(s, ce, enemy)
        if s.colour[w] == enemy and s.liberties[cw] == 0:
            take(s, cw, enemy)
        if s.colour[d] == enemy and s.liberties[cd] == 0:
            take(s, cd, enemy)
        if s.colour[u] == enemy and s.liberties[cu] == 0:
            take(s, cu, enemy)
        if alone and s.vacant == before + U1 and s.liberties[p] == 1:
            s.ko = s.empty[before]
    if s.liberties[np.uint64(s.chain[p])] == 0:
        take(s, np.uint64(s.chain[p]), own)


@kernel()
def join(s, a, b):
    """Makes one chain of two, or leaves the one that both are: the shorter is renamed."""
    if a == b:
        return
    if s.length[a] < s.length[b]:
        a, b = b, a
    q = b
    while True:
        s.chain[q] = a
        q = np.uint64(s.next[q])
        if q == b:
            break
    s.next[a], s.next[b] = s.next[b], s.next[a]
    s.liberties[a] += s.liberties[b]
    s.length[a] += s.length[b]


@kernel()
def take(s, chain, colour):
    """Takes a chain of a colour off the board."""
    change = ROOM - (U1 << U4 * np.uint64(colour - 1))
    p = chain
    while True:
        put_empty(s, p)
        s.around[p - U1] += change
        s.around[p + U1] += change
        s.around[p - UP] += change
        s.around[p + UP] += change
        s.liberties[np.uint64(s.chain[p - U1])] += 1
        s.liberties[np.uint64(s.chain[p + U1])] += 1
        s.liberties[np.uint64(s.chain[p - UP])] += 1
        s.liberties[np.uint64(s.chain[p + UP])] += 1
        p = np.uint64(s.next[p])
        if p == chain:
            break


@kernel()
def put_empty(s, p):
    """Makes a point empty; its neighbours do not know yet."""
    s.colour[p] = EMPTY
    s.chain[p] = NO_CHAIN
    s.place[p] = s.vacant
    s.empty[s.vacant] = p
    s.vacant += U1


@kernel()
def surrounded(s):
    """Empty points of regions that touch Black only, less those that touch White only.

    Each region is gathered at the front of the empty points not counted yet.
    """
    points, start = np.int64(0), U0
    while start < s.vacant:
        seen, done, end = np.uint8(0), start, start + U1
        while done < end:
            p = np.uint64(s.empty[done])
            done += U1
            seen |= s.colour[p - U1] | s.colour[p + U1] | s.colour[p - UP] | s.colour[p + UP]
            if s.around[p] >= ROOM:
                for q in (p - U1, p + U1, p - UP, p + UP):
                    if s.colour[q] == EMPTY and s.place[q] >= end:
                        other, i = np.uint64(s.empty[end]), np.uint64(s.place[q])
                        s.empty[end], s.empty[i] = q, other
                        s.place[q], s.place[other] = end, i
                        end += U1
        owner = seen & np.uint8(3)
        if owner == BLACK:
            points += np.int64(end - start)
        elif owner == WHITE:
            points -= np.int64(end - start)
        start = end
    return points
