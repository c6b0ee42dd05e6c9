"""Chains of stones on a square grid, as in Go and its relatives.

Points are numbered row by row. A border surrounds them and neighbouring rows share it, so the offsets to a point's
neighbours do not depend on the board's size. A chain is named by one of its points, where its number of stones and its
pseudo-liberties are stored. Pseudo-liberties are pairs of a stone and an empty neighbour; a chain has none exactly when it
has no liberty. When two chains meet, the shorter one is renamed. The algorithms are those of libego (Lew 2009), which found
them to be the fastest.

A game that uses these kernels has the fields CHAINS in its record.
"""

from __future__ import annotations

import numpy as np

from ucd_envs.kernels import kernel
from ucd_envs.structs import stack_array

SIDE = 19
"""Longest side of a board."""
CELLS = SIDE * SIDE
UP = np.uint64(SIDE + 1)
"""Distance from a point to the one above."""
POINTS = (SIDE + 2) * (SIDE + 1) + 1
"""Number of points with the border. Point 0 belongs to the border."""
U0, U1, U2, U4, U8, U15 = (np.uint64(n) for n in (0, 1, 2, 4, 8, 15))

EMPTY, BLACK, WHITE, BORDER = 0, 1, 2, 4
"""Colours of points. BLACK is player 0's, WHITE player 1's."""
ROOM = np.uint64(0x100)
"""Neighbour counts in one word: black, white and empty ones, four bits each. A border point counts as black and as white."""
EDGE = np.uint64(0x11)
SURROUNDED = np.uint64(4)
NO_CHAIN = np.uint64(0)
"""The chain of points without a stone. Its liberties mean nothing. They begin with MANY, so that no kernel has to test for
0."""
MANY = 0x8000
FLAG, POINT = np.dtype(np.uint8), np.dtype(np.uint16)

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
"""Fields of a record. `ko`: the point that a simple ko forbids, or 0. `around`: packed neighbour counts. `chain`: name of a
point's chain, where `liberties` (pairs) and `length` (stones) are stored. `next`: circular list of the chain's points.
`empty`: the `vacant` empty points in any order; `place`: the index of each point in it."""


@kernel()
def clear(s, points, cells):
    """Clears the board, whose points are the first `cells` of `points`."""
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
    """Returns whether an empty point surrounded by the player's stones is a true eye, judged by its diagonal points."""
    enemy = np.uint8(2 - player)
    a, b, c, d = s.colour[p - UP - U1], s.colour[p - UP + U1], s.colour[p + UP - U1], s.colour[p + UP + U1]
    enemies = np.uint64(a == enemy) + np.uint64(b == enemy) + np.uint64(c == enemy) + np.uint64(d == enemy)
    edge = np.uint64((a == BORDER) | (b == BORDER) | (c == BORDER) | (d == BORDER))
    return enemies + edge < U2


@kernel()
def breathes(s, p, player):
    """Returns whether a stone on an empty point without empty neighbours captures a chain or joins one with another liberty."""
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
    """Returns whether a neighbour is an own chain with a liberty left or an enemy chain with none."""
    return ((colour == own) & (liberties != 0)) | ((colour == enemy) & (liberties == 0))


@kernel()
def touches(s, p, player):
    """Returns whether a stone of the player is adjacent to a point."""
    own = np.uint8(player + 1)
    return (s.colour[p - U1] == own) | (s.colour[p + U1] == own) | (s.colour[p - UP] == own) | (s.colour[p + UP] == own)


@kernel()
def place(s, p, player):
    """Puts a stone on an empty point. Captures enemy chains without a liberty, then the own chain if it has none, and sets
    `ko`."""
    s.vacant = placed(s, p, player, s.vacant)
    if s.liberties[np.uint64(s.chain[p])] == 0:
        take(s, np.uint64(s.chain[p]), np.uint8(player + 1))


@kernel(inline=True)
def placed(s, p, player, vacant):
    """Puts a stone on one of `vacant` empty points and captures enemy chains without a liberty. Sets `ko` after a capture.
    Returns the number of empty points, which loops keep in a register."""
    # `empty` and `place` stay inverse: the last empty point takes the place of p.
    vacant -= U1
    last, i = s.empty[vacant], np.uint64(s.place[p])
    s.empty[i] = last
    s.place[np.uint64(last)] = i
    first, ce, cw, cd, cu = attached(s, p, player)
    enemy, e, w, d, u = np.uint8(2 - player), p + U1, p - U1, p - UP, p + UP
    # Numbers of enemy chains are as before: only own chains were renamed. A capture may give back own liberties.
    if (s.liberties[ce] == 0) | (s.liberties[cw] == 0) | (s.liberties[cd] == 0) | (s.liberties[cu] == 0):
        s.vacant = vacant
        if s.colour[e] == enemy and s.liberties[ce] == 0:
            take(s, ce, enemy)
        if s.colour[w] == enemy and s.liberties[cw] == 0:
            take(s, cw, enemy)
        if s.colour[d] == enemy and s.liberties[cd] == 0:
            take(s, cd, enemy)
        if s.colour[u] == enemy and s.liberties[cu] == 0:
            take(s, cu, enemy)
        if first == p and s.vacant == vacant + U1 and s.liberties[p] == 1:
            s.ko = s.empty[vacant]
        vacant = s.vacant
    return vacant


@kernel(inline=True)
def attached(s, p, player):
    """Puts a stone on an empty point and joins the own chains beside it. Returns the chain that it has entered, which is p for
    a new one, and the former chains on its right, on its left, below and above."""
    own, change = np.uint8(player + 1), (U1 << U4 * np.uint64(player)) - ROOM
    e, w, d, u = p + U1, p - U1, p - UP, p + UP
    room = np.uint64(s.around[p]) >> U8
    s.colour[p] = own
    s.around[e] += change
    s.around[w] += change
    s.around[d] += change
    s.around[u] += change
    ce, cw, cd, cu = np.uint64(s.chain[e]), np.uint64(s.chain[w]), np.uint64(s.chain[d]), np.uint64(s.chain[u])
    oe, ow, od, ou = s.colour[e] == own, s.colour[w] == own, s.colour[d] == own, s.colour[u] == own
    # One decrement for each pair: a chain that touches p twice loses two. Empty points share NO_CHAIN, whose count is void.
    s.liberties[ce] -= 1
    s.liberties[cw] -= 1
    s.liberties[cd] -= 1
    s.liberties[cu] -= 1
    # The stone enters the chain of an own neighbour, or that of p, empty until then: the same stores without a branch.
    first = ce if oe else cw if ow else cd if od else cu if ou else p
    s.liberties[p] = 0
    s.length[p] = 0
    s.next[p] = p
    s.chain[p] = first
    s.liberties[first] += room
    s.length[first] += 1
    # A chain's `next` is a circle, so p may enter it at any of its stones.
    behind = s.next[first]
    s.next[first] = p
    s.next[p] = behind
    if (ow & (cw != first)) | (od & (cd != first)) | (ou & (cu != first)):
        if ow & (cw != first):
            join(s, first, cw)
        if od:
            join(s, np.uint64(s.chain[p]), np.uint64(s.chain[d]))
        if ou:
            join(s, np.uint64(s.chain[p]), np.uint64(s.chain[u]))
    return first, ce, cw, cd, cu


@kernel()
def join(s, a, b):
    """Merges two chains by renaming the shorter. Does nothing if they are the same."""
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
    # Exchanging the successors of two circles joins them to one.
    s.next[a], s.next[b] = s.next[b], s.next[a]
    s.liberties[a] += s.liberties[b]
    s.length[a] += s.length[b]


@kernel()
def take(s, chain, colour):
    """Removes a chain of a colour from the board."""
    # Every neighbour of a removed stone gains a pair. The counts of the removed chain and of NO_CHAIN are void.
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
    """Makes a point empty. The neighbour counts around it are not updated."""
    s.colour[p] = EMPTY
    s.chain[p] = NO_CHAIN
    s.place[p] = s.vacant
    s.empty[s.vacant] = p
    s.vacant += U1


@kernel()
def surrounded(s):
    """Returns the empty points of regions that touch Black only, less those that touch White only.

    Each region is gathered at the front of the empty points that are not counted yet.
    """
    points, start, counts = np.int64(0), U0, U0
    for number in range(s.vacant):
        beside = np.uint64(s.around[np.uint64(s.empty[number])])
        counts |= beside
        points += np.int64(beside & U15 == SURROUNDED) - np.int64(beside >> U4 & U15 == SURROUNDED)
    if counts < ROOM:
        return points  # no two empty points touch: every region is one point, shut in by one colour or by both
    points = np.int64(0)
    while start < s.vacant:
        # empty[start:done] are expanded points of the region, empty[done:end] known ones that are not expanded.
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


@kernel()
def agrees(s, points, cells):
    """Returns whether all fields of a record follow from its colours, and every chain has a liberty. Any bytes will do."""
    unseen, queue = stack_array(POINTS, FLAG), stack_array(CELLS, POINT)
    if not is_framed(s, points, cells, unseen) or s.vacant > np.uint64(cells):
        return False
    for i in range(s.vacant):
        p = np.uint64(s.empty[i])
        if p >= np.uint64(POINTS) or s.colour[p] != EMPTY or s.place[p] != i:
            return False
    counted = np.int64(s.vacant)
    for i in range(cells):
        p = np.uint64(points[i])
        if s.around[p] != around(s, p) or not is_named(s, p):
            return False
        if s.colour[p] != EMPTY and s.chain[p] == p:
            length = chain_length(s, p, unseen, queue)
            if length == 0:
                return False
            counted += length
        elif s.colour[p] == EMPTY and s.place[p] >= s.vacant:
            return False
    return counted == cells


@kernel()
def is_framed(s, points, cells, unseen):
    """Returns whether the board's points are empty or have a stone, and all others are border. Marks the board's points.

    unseen: [POINTS] uint8.
    """
    for place in range(POINTS):
        unseen[place] = 0
    for i in range(cells):
        unseen[points[i]] = 1
    framed = True
    for place in range(POINTS):
        border = s.colour[place] == BORDER and s.chain[place] == NO_CHAIN
        framed = framed and (s.colour[place] <= WHITE if unseen[place] else border)
    return framed


@kernel()
def around(s, p):
    """Returns the neighbour counts of a point, by the colours."""
    counts = U0
    for q in (p - U1, p + U1, p - UP, p + UP):
        colour = np.uint64(s.colour[q])
        counts += EDGE if colour == np.uint64(BORDER) else ROOM if colour == U0 else U1 << U4 * (colour - U1)
    return counts


@kernel()
def is_named(s, p):
    """Returns whether an empty point has no chain, or a stone the same as its own neighbours, named by one of its stones."""
    name = np.uint64(s.chain[p])
    if s.colour[p] == EMPTY:
        return name == NO_CHAIN
    if name >= np.uint64(POINTS) or s.colour[name] != s.colour[p] or s.chain[name] != name:
        return False
    same = True
    for q in (p - U1, p + U1, p - UP, p + UP):
        same = same and (s.colour[q] != s.colour[p] or s.chain[q] == name)
    return same


@kernel()
def chain_length(s, name, unseen, queue):
    """Returns a chain's number of stones, or 0 if its length, liberties or circle of stones are not those on the board."""
    length, _ = gather(s, name, unseen, queue)
    pairs = U0
    for i in range(length):
        pairs += np.uint64(s.around[np.uint64(queue[i])]) >> U8
    if length != s.length[name] or pairs == U0 or pairs != np.uint64(s.liberties[name]):
        return np.int64(0)
    q = name
    for i in range(length):
        q = np.uint64(s.next[q])
        if q >= np.uint64(POINTS) or s.chain[q] != name or (q == name) != (i == length - 1):
            return np.int64(0)
    return np.int64(length)


@kernel()
def gather(s, start, unseen, queue):
    """Gathers the points joined to a point by its own colour. Returns their number and the union of the colours around."""
    unseen[start] = 0
    queue[0] = start
    done, end, colours = 0, 1, np.uint8(0)
    while done < end:
        p = np.uint64(queue[done])
        done += 1
        for q in (p - U1, p + U1, p - UP, p + UP):
            colours |= s.colour[q]
            if s.colour[q] == s.colour[start] and unseen[q]:
                unseen[q] = 0
                queue[end] = q
                end += 1
    return end, colours


@kernel()
def territory(s, points, cells):
    """Returns the result of `surrounded`, and leaves the order of the empty points."""
    unseen, queue, total = stack_array(POINTS, FLAG), stack_array(CELLS, POINT), np.int64(0)
    for place in range(POINTS):
        unseen[place] = 1
    for i in range(cells):
        p = np.uint64(points[i])
        if s.colour[p] == EMPTY and unseen[p]:
            size, colours = gather(s, p, unseen, queue)
            owner = colours & np.uint8(3)
            total += size if owner == BLACK else -size if owner == WHITE else 0
    return total


@kernel()
def lead(s, points, cells):
    """Returns the number of black stones less that of white ones."""
    total = np.int64(0)
    for i in range(cells):
        colour = s.colour[np.uint64(points[i])]
        total += np.int64(colour == BLACK) - np.int64(colour == WHITE)
    return total


@kernel()
def may_be_ko(s):
    """Returns whether `ko` is an empty point shut in by one player, beside a lone stone whose only liberty it is."""
    p = np.uint64(s.ko)
    if s.ko <= 0 or s.ko >= POINTS or s.colour[p] != EMPTY:
        return False
    counts, lone = np.uint64(s.around[p]), False
    for q in (p - U1, p + U1, p - UP, p + UP):
        lone = lone or (s.colour[q] != BORDER and s.chain[q] == q and s.length[q] == 1 and s.liberties[q] == 1)
    return lone and (counts & np.uint64(15) == SURROUNDED or counts >> U4 & np.uint64(15) == SURROUNDED)


@kernel()
def in_ko(s, p, player):
    """Returns whether a simple ko forbids a player's stone: on its point, unless the player's own stones shut it in."""
    return p == np.uint64(s.ko) and (player < 0 or (s.around[p] >> U4 * np.uint64(player)) & 15 != SURROUNDED)
