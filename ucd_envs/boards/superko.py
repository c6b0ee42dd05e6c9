"""Superko: the memory of earlier boards, in a game of chains.

A board has a 64-bit key, the exclusive or of its stones' keys. A game stores the keys of its boards in words behind its
record: first a filter of FILTER words, which answers most questions, then the list of keys.

A game that uses these kernels has the fields SUPERKO in its record. Its configuration has `ko`, the rule, and `key`, a copy
of KEYS.
"""

from __future__ import annotations

import numpy as np

from ucd_envs.boards.chains import EMPTY, POINTS, ROOM, U0, U1, UP, breathes
from ucd_envs.kernels import kernel
from ucd_envs.structs import array_at

RULES = ("simple", "positional", "situational")
POSITIONAL, SITUATIONAL = 1, 2
FILTER = 64
WORD = np.dtype(np.uint64)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
U6, U27, U30, U31, U63 = (np.uint64(n) for n in (6, 27, 30, 31, 63))

SUPERKO = (("boards", np.uint64), ("hash", np.uint64), ("digest", np.uint64))
"""Number of boards remembered, key of the present board, and a digest of all of them that does not depend on their order."""
KEYS = np.random.SeedSequence(361).generate_state(2 * POINTS, np.uint64).reshape(2, POINTS)
"""Keys of each player's stones, [players, POINTS] uint64, the same in every process. Entry (0, 0), which is no point, is the
key for White to move."""


@kernel(inline=True)
def boards_of(state, record_bytes):
    """Returns the words behind a state's record: the filter, then the keys."""
    return array_at(np.uint64(state.ctypes.data + record_bytes), ((state.size - record_bytes) // 8,), WORD)


@kernel()
def forget(s, boards):
    """Clears the memory of boards."""
    s.boards = U0
    s.hash = U0
    s.digest = U0
    for i in range(boards.size):
        boards[i] = U0


@kernel()
def remember(b, s, boards):
    """Adds the present board, or board and mover, to the memory. A pass makes no new board."""
    if b.ko == POSITIONAL and s.passes > 0:
        return
    key = with_mover(b, s.hash, s.player)
    bit = key & np.uint64(64 * FILTER - 1)
    boards[bit >> U6] |= U1 << (bit & U63)
    boards[np.uint64(FILTER) + s.boards] = key
    s.boards += U1
    s.digest += mixed(key)


@kernel()
def turn(b, s, boards, player):
    """Sets the mover of the present board, the last in the memory: only a board on which a player moves has occurred. The
    filter may keep the bit of the other mover, which does no harm."""
    s.player = player
    if b.ko != SITUATIONAL:
        return
    last, key = np.uint64(FILTER) + s.boards - U1, with_mover(b, s.hash, player)
    s.digest += mixed(key) - mixed(boards[last])
    boards[last] = key
    bit = key & np.uint64(64 * FILTER - 1)
    boards[bit >> U6] |= U1 << (bit & U63)


@kernel()
def agrees(b, s, boards):
    """Returns whether filter, digest and number of boards are those of the list, and its last entry is the present board."""
    plies = np.uint64(s.ply) + U1
    if s.boards == U0 or s.boards > plies or (b.ko == SITUATIONAL and s.boards != plies):
        return False
    key, digest = U0, U0
    for i in range(b.rows * b.columns):
        p = np.uint64(b.point[i])
        if s.colour[p] != EMPTY:
            key ^= b.key[s.colour[p] - 1, p]
    for i in range(np.uint64(FILTER), np.uint64(FILTER) + s.boards):
        bit = boards[i] & np.uint64(64 * FILTER - 1)
        if (boards[bit >> U6] >> (bit & U63)) & U1 == U0:
            return False
        digest += mixed(boards[i])
    last = boards[np.uint64(FILTER) + s.boards - U1]
    return (
        key == s.hash
        and digest == s.digest
        and (last == with_mover(b, key, s.player) or (s.player < 0 and last == with_mover(b, key, 1)))
    )


@kernel()
def with_mover(b, key, mover):
    """Returns the key of a board, with its mover where the ko rule depends on it."""
    return key ^ b.key[0, 0] if b.ko == SITUATIONAL and mover == 1 else key


@kernel()
def mixed(key):
    """Scrambles a key, so that sums of similar keys differ: the finalizer of splitmix64 (Steele, Lea, Flood 2014)."""
    key = (key ^ (key >> U30)) * FIRST
    key = (key ^ (key >> U27)) * SECOND
    return key ^ (key >> U31)


@kernel()
def repeats(b, s, boards, p, player):
    """Returns whether a stone on an empty point repeats an earlier board, or an earlier board and mover."""
    key = s.hash ^ b.key[player, p]
    own, enemy = np.uint8(player + 1), np.uint8(2 - player)
    suicide = s.around[p] < ROOM and not breathes(s, p, player)
    for q in (p - U1, p + U1, p - UP, p + UP):
        if s.colour[q] == enemy or (suicide and s.colour[q] == own):
            # A chain that touches p several times is removed once. An enemy chain falls if all its pairs are with p.
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
    # The filter has no false negatives: a bit of 0 means that the board is new.
    bit = key & np.uint64(64 * FILTER - 1)
    if (boards[bit >> U6] >> (bit & U63)) & U1 == U0:
        return False
    found = False
    for i in range(np.uint64(FILTER), np.uint64(FILTER) + s.boards):
        found |= boards[i] == key
    return found


@kernel()
def without_chain(b, s, key, stone, player):
    """Returns the key of a board after a stone's chain is removed."""
    p = stone
    while True:
        key ^= b.key[player, p]
        p = np.uint64(s.next[p])
        if p == stone:
            return key
