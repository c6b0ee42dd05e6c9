"""Superko: which boards were there before, in a game of chains.

A board has a 64-bit key, the exclusive or of its stones' keys. A game remembers the keys of its boards in words behind its
record: a filter of FILTER words, which answers most questions, then the list of them.

A game that uses these kernels has the fields SUPERKO in its record, and `ko`, the rule, and `key`: KEYS in its board.
"""

from __future__ import annotations

import numpy as np

from ucd_envs.boards.chains import POINTS, ROOM, U0, U1, UP, breathes
from ucd_envs.kernels import kernel
from ucd_envs.structs import array_at

RULES = ("simple", "positional", "situational")
POSITIONAL, SITUATIONAL = 1, 2
FILTER = 64
WORD = np.dtype(np.uint64)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
U6, U27, U30, U31, U63 = (np.uint64(n) for n in (6, 27, 30, 31, 63))

SUPERKO = (("boards", np.uint64), ("hash", np.uint64), ("digest", np.uint64))
"""How many boards are remembered, the present one's key, and a digest of all of them in whatever order they came."""
KEYS = np.random.SeedSequence(361).generate_state(2 * POINTS, np.uint64).reshape(2, POINTS)
"""[players, POINTS] uint64, always the same: of a player's stone on a point, and at (0, 0), which is no point, of White to
move."""


@kernel(inline=True)
def boards_of(state, record_bytes):
    """The words behind a state's record: the filter, then the keys."""
    return array_at(np.uint64(state.ctypes.data + record_bytes), ((state.size - record_bytes) // 8,), WORD)


@kernel()
def forget(s, boards):
    """No board was there before."""
    s.boards = U0
    s.hash = U0
    s.digest = U0
    for i in range(boards.size):
        boards[i] = U0


@kernel()
def remember(b, s, boards):
    """Adds the present board, or board and mover, to those that were there. A pass makes no new board."""
    if b.ko == POSITIONAL and s.passes > 0:
        return
    key = with_mover(b, s.hash, s.player)
    bit = key & np.uint64(64 * FILTER - 1)
    boards[bit >> U6] |= U1 << (bit & U63)
    boards[np.uint64(FILTER) + s.boards] = key
    s.boards += U1
    s.digest += mixed(key)


@kernel()
def with_mover(b, key, mover):
    """The key of a board and, where the rule asks who moves, its mover."""
    return key ^ b.key[0, 0] if b.ko == SITUATIONAL and mover == 1 else key


@kernel()
def mixed(key):
    """The key scrambled, so that sums of keys that are alike differ: the finalizer of splitmix64 (Steele, Lea, Flood 2014)."""
    key = (key ^ (key >> U30)) * FIRST
    key = (key ^ (key >> U27)) * SECOND
    return key ^ (key >> U31)


@kernel()
def repeats(b, s, boards, p, player):
    """Whether a stone on an empty point makes a board, or a board and mover, that was there."""
    key = s.hash ^ b.key[player, p]
    own, enemy = np.uint8(player + 1), np.uint8(2 - player)
    suicide = s.around[p] < ROOM and not breathes(s, p, player)
    for q in (p - U1, p + U1, p - UP, p + UP):
        if s.colour[q] == enemy or (suicide and s.colour[q] == own):
            chain, contacts, first = s.chain[q], 0, U0
            for r in (p + UP, p - UP, p + U1, p - U1):
                if s.chain[r] == chain:
                    contacts += 1
                    first = r
            if first == q and (s.colour[q] == own or s.liberties[np.uint64(chain)] == contacts):
                key = without_chain(b, s, key, q, player if s.colour[q] == own else 1 - player)
    if suicide:
        key ^= b.key[player, p]
    key = with_mover(b, key, 1 - player)
    bit = key & np.uint64(64 * FILTER - 1)
    if (boards[bit >> U6] >> (bit & U63)) & U1 == U0:
        return False
    found = False
    for i in range(np.uint64(FILTER), np.uint64(FILTER) + s.boards):
        found |= boards[i] == key
    return found


@kernel()
def without_chain(b, s, key, stone, player):
    """The key of a board when a stone's chain is taken off."""
    p = stone
    while True:
        key ^= b.key[player, p]
        p = np.uint64(s.next[p])
        if p == stone:
            return key
