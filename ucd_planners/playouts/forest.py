"""The memory of BHRF: patterns, which are replies with their contexts [BHRF section 4].

The contexts are a trie: from the root by the last move, from there by the one before it, and so on. They lie side by side. An
index finds them by hash, as small as their number allows: most searches find nothing and read the index alone.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ucd_envs.kernels import BYTES, action_of_move, kernel, player_of_move
from ucd_envs.structs import array_at, fetch, fields, record
from ucd_envs.tables import HASH, place_in

MEMORY = record(
    ("b", np.float32),
    ("singles", np.int64),
    ("actions", np.int64),
    ("max_plies", np.int64),
    ("room", np.int64),
    ("patterns", np.int64),
    ("contexts", np.int64),
    ("places", np.int64),
    ("slots", np.int64),
    ("by_estimate", np.int64),
    ("to_default", np.int64),
)
"""Header of the memory. `by_estimate`, `to_default`: options of BHRF; `singles`: number of contexts of one move; `room`: number
of patterns that fit; `patterns`, `contexts` of two moves or more, `places` of replies, `slots` of the index: numbers in use.
Behind it lie contexts, index and replies."""
CONTEXT = record(
    ("parent", np.int32),
    ("move", np.int32),
    ("children", np.int32),
    ("last", np.int32),
    ("first", np.int32),
    ("replies", np.int32),
    ("most", np.float32),
    ("spare", np.int32),
)
"""A context. `parent`: the context without the earliest move; `move`: that earliest move; `children`: number of contexts longer
by one move; `last`: the reply last taken; `first`, `replies`: place of the first reply and their number; `most`: the largest
weight of a reply, STALE if weights are outdated; `spare`: makes the size a power of two."""
REPLY = record(("move", np.int32), ("weight", np.float32), ("count", np.float32), ("paid", np.float32))
"""A pattern: the reply, its weight in a draw, the number of its simulations and the sum of their payoffs."""
MEMORY_BYTES, CONTEXT_BYTES = np.uint64(MEMORY.itemsize), np.uint64(CONTEXT.itemsize)
SLOT = np.dtype(np.uint64)
"""A slot of the index: a context of two moves or more, 0 for a free slot; above it its mark, 31 bits of its hash and a 1."""
SLOTS, PLACES = 2, 4
"""Slots and places of replies for each pattern. A context of two moves or more has a pattern at least, so the index is at most
half full. The replies of a context have room for a power of two and move to twice the room when it is full, so r of them have
used fewer than 4 r places."""
PATTERN_BYTES = CONTEXT.itemsize + SLOTS * SLOT.itemsize + PLACES * REPLY.itemsize
FEWEST_SLOTS = 64
MOST = np.float32(2**24)
"""Largest count of a pattern. Beyond it single precision is not exact, so the pattern no longer changes."""
STALE, ONE = np.float32(-1), np.float32(1)
U0, U1, U2, U4, U16, U32 = (np.uint64(n) for n in (0, 1, 2, 4, 16, 32))
LOW = np.uint64(2**32 - 1)
READ_COUNTS = types.void(BYTES, types.float32[::1])
COPY = types.void(BYTES, BYTES, types.float32, types.int32[::1])


@kernel(inline=True)
def contexts_of(memory, m):
    """[1 + singles + room] CONTEXT: the root, contexts of one move in the order of moves, then longer ones as they came."""
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES, (1 + m.singles + m.room,), CONTEXT)


@kernel(inline=True)
def index_of(memory, m):
    """[slots] uint64: the contexts of two moves or more by hash. There is room for 2 * room slots."""
    before = np.uint64(1 + m.singles + m.room) * CONTEXT_BYTES
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES + before, (m.slots,), SLOT)


@kernel(inline=True)
def replies_of(memory, m):
    """[4 * room] REPLY: the replies of each context lie together."""
    before = np.uint64(1 + m.singles + m.room) * CONTEXT_BYTES + (np.uint64(m.room) << U4)
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES + before, (4 * m.room,), REPLY)


@kernel()
def single(m, move):
    """Returns the context of one move."""
    return U1 + np.uint64(player_of_move(move) * m.actions + action_of_move(move))


@kernel()
def slot_of(contexts, index, parent, move):
    """Returns the slot of a context of two moves or more, or the free one where it belongs, and its mark."""
    hashed, size = (parent << U32 | np.uint64(move)) * HASH, np.uint64(index.size)
    mark = hashed >> U16 & LOW | U1  # never that of a free slot, at which the search ends
    return place_in(index, (contexts, mark, parent, move), ((hashed >> U32) * size) >> U32, size, is_other), mark


@kernel()
def is_other(index, slot, key):
    """Whether a slot has another context than that of a parent and a move. Its context is read only if the hashes agree."""
    contexts, mark, parent, move = key
    if index[slot] >> U32 != mark:
        return index[slot] != U0
    c = contexts[index[slot] & LOW]
    return c.move != move or np.uint64(c.parent) != parent


@kernel()
def longest_context(memory, m, moves, count):
    """Returns the longest context with replies that matches the last of the first `count` moves, or 0."""
    if count == 0:
        return U0
    contexts, index, place = contexts_of(memory, m), index_of(memory, m), count - 1
    context = single(m, moves[place])
    while place > 0 and contexts[context].children > 0:
        place -= 1
        slot, _ = slot_of(contexts, index, context, moves[place])
        if index[slot] == U0:
            break
        context = index[slot] & LOW
    first = np.uint64(contexts[context].first)
    for part in range(U4):  # the replies of many contexts lie in four lines of the cache
        fetch(replies_of(memory, m), first + (part << U2))
    return context if contexts[context].replies > 0 else U0


@kernel()
def add(memory, m, moves, place, paid):
    """Adds a payoff to the known patterns of the reply at `place`, and to the shortest unknown one, which becomes known."""
    contexts, replies, reply, context = contexts_of(memory, m), replies_of(memory, m), moves[place], U0
    while place > U0:
        place -= U1
        context = single(m, moves[place]) if context == U0 else longer_context(memory, m, context, moves[place])
        c = contexts[context]
        c.last, c.most = reply, STALE
        at, end = np.uint64(c.first), np.uint64(c.first) + np.uint64(c.replies)
        while at < end and replies[at].move != reply:
            at += U1
        if at == end:
            r = new_reply(m, c, replies)
            r.move, r.count, r.paid = reply, ONE, paid
            return
        r = replies[at]
        if r.count < MOST:
            r.count += ONE
            r.paid += paid


@kernel()
def longer_context(memory, m, parent, move):
    """Returns the context that is longer by an earlier move; adds one without replies if there is none."""
    contexts, index = contexts_of(memory, m), index_of(memory, m)
    slot, mark = slot_of(contexts, index, parent, move)
    if index[slot] != U0:
        return index[slot] & LOW
    m.contexts += 1
    context = np.uint64(m.singles + m.contexts)
    index[slot] = mark << U32 | context
    c = contexts[context]
    c.parent, c.move, c.children, c.replies = parent, move, 0, 0
    contexts[parent].children += 1
    if 2 * m.contexts >= m.slots:
        spread_out(memory, m)
    return context


@kernel()
def spread_out(memory, m):
    """Writes the index anew in twice the slots or all that there is room for."""
    m.slots = min(2 * m.slots, 2 * m.room)
    contexts, index, before = contexts_of(memory, m), index_of(memory, m), np.uint64(m.singles)
    for slot in range(np.uint64(index.size)):
        index[slot] = U0
    for context in range(before + U1, before + np.uint64(m.contexts) + U1):
        c = contexts[context]
        slot, mark = slot_of(contexts, index, np.uint64(c.parent), np.int64(c.move))
        index[slot] = mark << U32 | context


@kernel()
def new_reply(m, c, replies):
    """Returns a new reply of a context. If no place is left behind the others, all of them move to twice the room."""
    count, old = np.uint64(c.replies), np.uint64(c.first)
    if count & (count - U1) == U0:
        c.first = m.places
        m.places += np.int64(max(count << U1, U1))
        for i in range(count):
            copy_reply(replies[old + i], replies[np.uint64(c.first) + i])
    c.replies += 1
    m.patterns += 1
    return replies[np.uint64(c.first) + count]


@kernel()
def copy_reply(old, new):
    """Copies a reply without its weight."""
    new.move, new.count, new.paid = old.move, old.count, old.paid


@kernel(READ_COUNTS)
def read_counts(memory, counts):
    """Writes the number of simulations of every pattern, in any order: [patterns] float32."""
    m, read = fields(memory, MEMORY), U0
    contexts, replies = contexts_of(memory, m), replies_of(memory, m)
    for context in range(U1, U1 + np.uint64(m.singles + m.contexts)):
        first = np.uint64(contexts[context].first)
        for place in range(first, first + np.uint64(contexts[context].replies)):
            counts[read] = replies[place].count
            read += U1


@kernel(COPY)
def copy(old, memory, fewest, moves):
    """Copies the patterns with more than `fewest` simulations, and their contexts, to empty memory.

    moves: [max_plies] int32, scratch.
    """
    a, b = fields(old, MEMORY), fields(memory, MEMORY)
    old_contexts, old_replies, contexts, replies = (
        contexts_of(old, a),
        replies_of(old, a),
        contexts_of(memory, b),
        replies_of(memory, b),
    )
    for i in range(U1, U1 + np.uint64(a.singles + a.contexts)):
        c, context = old_contexts[i], U0
        for place in range(np.uint64(c.first), np.uint64(c.first) + np.uint64(c.replies)):
            reply = old_replies[place]
            if reply.count > fewest:
                if context == U0:
                    context = same_context(old_contexts, i, memory, b, moves)
                    contexts[context].last, contexts[context].most = c.last, STALE
                copy_reply(reply, new_reply(b, contexts[context], replies))


@kernel()
def same_context(old_contexts, context, memory, m, moves):
    """Returns the context with the same moves in another memory; adds one without replies if there is none."""
    length = 0
    while old_contexts[context].parent != 0:
        moves[length] = old_contexts[context].move
        context = np.uint64(old_contexts[context].parent)
        length += 1
    while length > 0:
        length -= 1
        context = longer_context(memory, m, context, np.int64(moves[length]))
    return context


def bytes_of(singles: int, room: int) -> int:
    """Returns the size of a memory with `singles` contexts of one move and room for `room` patterns."""
    return MEMORY.itemsize + (1 + singles) * CONTEXT.itemsize + room * PATTERN_BYTES


def most_room(most_bytes: int, singles: int) -> int:
    """Returns the number of patterns that fit in a memory of `most_bytes` bytes."""
    return max(0, (most_bytes - bytes_of(singles, 0)) // PATTERN_BYTES)


def blank(head: np.ndarray, room: int) -> np.ndarray:
    """Returns memory without patterns that has the parameters of a header."""
    memory = np.zeros(bytes_of(int(fields(head, MEMORY).singles), room), np.uint8)
    memory[: MEMORY.itemsize] = head[: MEMORY.itemsize]
    m = fields(memory, MEMORY)
    m.room = room
    clear(memory)
    return memory


def clear(memory: np.ndarray) -> None:
    """Forgets all patterns."""
    m = fields(memory, MEMORY)
    m.patterns, m.contexts, m.places, m.slots = 0, 0, 0, min(FEWEST_SLOTS, 2 * int(m.room))
    index = bytes_of(int(m.singles), 0) + int(m.room) * CONTEXT.itemsize
    memory[MEMORY.itemsize : bytes_of(int(m.singles), 0)] = 0
    memory[index : index + int(m.slots) * SLOT.itemsize] = 0
