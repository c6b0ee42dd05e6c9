"""Background History Reply Forest: playouts repeat replies that the search tried after the same last moves [BHRF section 4].

A pattern is a reply with its context: the last L = 1, 2, 3, ... moves before it, of all players. Descents teach patterns,
playouts do not. For each reply of a descent the matching patterns are visited in the order of L. A known pattern counts one
more simulation and the payoff of the reply's player. The first unknown pattern is added and ends the visit.

In a playout the policy is asked with probability `prob`. It uses the longest context that matches the last moves and has a
playable reply [BHRF Algorithms 1-4]. Playable is what the game's random policy may play: in Go no reply fills an eye.

    choice="soft_uct"     draws a reply in proportion to mean + b sqrt(ln(sum n) / n), the sum over all replies of the context
                          [BHRF eq. 1], and suggests it with the probability of its mean, else nothing. [BHRF Algorithm 3]
                          accepts by the UCT estimate instead of the mean.
    choice="last_reply"   suggests the reply last taken in a descent after the longest matching context, if that is playable

Patterns are kept over the turns of a game. Memory grows with them up to `most_bytes`. There, if a simulation of the longest
game might find no room, the patterns with the fewest simulations are forgotten: all up to the smallest number of simulations
that leaves at most half of the patterns that fit before a simulation. A context is forgotten with the last of its replies. A
pattern never has more simulations than the same reply with a shorter context, so a forgotten context has no longer ones.

The contexts are a trie: from the root by the last move, from there by the one before it, and so on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types

from ucd_envs.kernels import BYTES, HEADER, action_of_move, compiled, kernel, player_of_move
from ucd_envs.rng import draw, unit
from ucd_envs.rules import Rules
from ucd_envs.settings import integer, real
from ucd_envs.structs import array_at, fields, record
from ucd_envs.tables import HASH, place_in
from ucd_planners.search.interface import LEARN, SUGGEST, PlayoutPolicy, probability
from ucd_planners.search.sim import payoffs, trace

MEMORY = record(
    ("b", np.float32),
    ("singles", np.int64),
    ("actions", np.int64),
    ("max_plies", np.int64),
    ("room", np.int64),
    ("patterns", np.int64),
    ("contexts", np.int64),
    ("places", np.int64),
)
"""Header of the memory. `singles`: number of contexts of one move; `room`: number of patterns that fit; `patterns`, `contexts`
of two moves or more, and `places` of replies: numbers in use. Behind it lie the contexts and the replies."""
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
"""A context. `parent`: the context without the earliest move, 0 for a free place; `move`: that earliest move; `children`:
number of contexts longer by one move; `last`: the reply last taken; `first`, `replies`: place of the first reply and their
number; `most`: the largest weight of a reply, STALE if weights are outdated; `spare`: makes the size a power of two."""
REPLY = record(("move", np.int32), ("weight", np.float32), ("count", np.float32), ("paid", np.float32))
"""A pattern: the reply, its weight in a draw, the number of its simulations and the sum of their payoffs."""
MEMORY_BYTES, CONTEXT_BYTES = np.uint64(MEMORY.itemsize), np.uint64(CONTEXT.itemsize)
ENTRIES, PLACES = 2, 4
"""Contexts and places of replies for each pattern. The replies of a context have room for a power of two and move to twice the
room when it is full, so r of them have used fewer than 4 r places."""
PATTERN_BYTES = ENTRIES * CONTEXT.itemsize + PLACES * REPLY.itemsize
CHOICES = ("soft_uct", "last_reply")
MOST_B, MOST_BYTES = 10**6, 2**35
MOST = np.float32(2**24)
"""Largest count of a pattern. Beyond it single precision is not exact, so the pattern no longer changes."""
PATIENCE = np.uint64(16)
"""Number of rejected replies after which the largest remaining weight is computed."""
STALE, ZERO, ONE, FRACTION = (np.float32(value) for value in (-1, 0, 1, 2.0**-32))
U0, U1, U32 = np.uint64(0), np.uint64(1), np.uint64(32)
HALF = np.uint64(2**32 - 1)
READ_COUNTS = types.void(BYTES, types.float32[::1])
COPY = types.void(BYTES, BYTES, types.float32, types.int32[::1])


@kernel(inline=True)
def contexts_of(memory, m):
    """[1 + singles + 2 * room] CONTEXT: the root, contexts of one move in the order of moves, then longer ones by hash."""
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES, (1 + m.singles + 2 * m.room,), CONTEXT)


@kernel(inline=True)
def replies_of(memory, m):
    """[4 * room] REPLY: the replies of each context lie together."""
    before = np.uint64(1 + m.singles + 2 * m.room) * CONTEXT_BYTES
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES + before, (4 * m.room,), REPLY)


@kernel()
def single(m, move):
    """Returns the context of one move."""
    return U1 + np.uint64(player_of_move(move) * m.actions + action_of_move(move))


@kernel()
def place_of(m, contexts, parent, move):
    """Returns the place of a context of two moves or more, or the free place where it belongs."""
    size, before = np.uint64(2 * m.room), np.uint64(1 + m.singles)
    home = ((((parent << U32 | np.uint64(move)) * HASH) >> U32) * size) >> U32
    return before + place_in(contexts, (before, parent, move), home, size, is_other)


@kernel()
def is_other(contexts, place, key):
    """Whether a place, counted from the first of the table, has another context than that of a parent and a move."""
    before, parent, move = key
    c = contexts[before + place]
    return c.parent != 0 and (c.move != move or np.uint64(c.parent) != parent)


@kernel()
def longest_context(memory, m, moves, count):
    """Returns the longest context with replies that matches the last of the first `count` moves, or 0."""
    if count == 0:
        return U0
    contexts, place = contexts_of(memory, m), count - 1
    context = single(m, moves[place])
    while place > 0 and contexts[context].children > 0:
        place -= 1
        longer = place_of(m, contexts, context, moves[place])
        if contexts[longer].parent == 0:
            break
        context = longer
    return context if contexts[context].replies > 0 else U0


@kernel(SUGGEST)
def suggest_softly(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """Returns a reply of the longest context with a playable one, drawn by weight and accepted by its mean, or -1.

    A random reply is kept with a probability in proportion to its weight. One that is not playable moves behind the others and
    the draw goes on among these. Every playable reply thus has its exact probability, though few are examined.
    """
    m, player = fields(memory, MEMORY), fields(state, HEADER).player
    contexts, replies = contexts_of(memory, m), replies_of(memory, m)
    context = longest_context(memory, m, trace(sim), sim.traced.length)
    while context != U0:
        c = contexts[context]
        if c.most < ZERO:
            weigh(m, c, replies)
        first, left, most, vain = np.uint64(c.first), np.uint64(c.replies), c.most, U0
        while left > U0:
            bits = draw(rng)
            r = replies[first + ((bits >> U32) * left >> U32)]
            if np.float32(np.int64(bits & HALF)) * FRACTION * most > r.weight:
                vain += U1
                if vain == PATIENCE:
                    most, vain = largest(replies, first, left), U0
                continue
            action = action_of_move(r.move)
            if player_of_move(r.move) == player and is_playable(config, state, action):
                return action if unit(rng) * r.count < r.paid else np.int64(-1)
            left -= U1
            swap(r, replies[first + left])
        context = np.uint64(c.parent)
    return np.int64(-1)


@kernel()
def weigh(m, c, replies):
    """Writes mean + b sqrt(ln(sum n) / n) of each reply of a context [BHRF eq. 1], and the largest of them."""
    first, end, total = np.uint64(c.first), np.uint64(c.first) + np.uint64(c.replies), 0.0
    for place in range(first, end):
        total += replies[place].count
    spread = m.b * np.float32(math.sqrt(math.log(total)))
    for place in range(first, end):
        r = replies[place]
        r.weight = (r.paid + spread * math.sqrt(r.count)) / r.count
    c.most = largest(replies, first, np.uint64(c.replies))


@kernel()
def largest(replies, first, count):
    """Returns the largest weight of `count` replies."""
    most = ZERO
    for place in range(first, first + count):
        most = max(most, replies[place].weight)
    return most


@kernel()
def swap(a, b):
    """Exchanges two replies."""
    move, weight, count, paid = a.move, a.weight, a.count, a.paid
    a.move, a.weight, a.count, a.paid = b.move, b.weight, b.count, b.paid
    b.move, b.weight, b.count, b.paid = move, weight, count, paid


@kernel(SUGGEST)
def suggest_last(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """Returns the reply last taken after the longest matching context if it is playable, else -1."""
    m = fields(memory, MEMORY)
    context = longest_context(memory, m, trace(sim), sim.traced.length)
    if context != U0:
        move = contexts_of(memory, m)[context].last
        action = action_of_move(move)
        if player_of_move(move) == fields(state, HEADER).player and is_playable(config, state, action):
            return action
    return np.int64(-1)


@kernel(LEARN)
def learn(sim, memory):
    """Adds a simulation to the patterns of its descent; returns whether the longest game still finds room."""
    m, moves = fields(memory, MEMORY), trace(sim)
    for place in range(U1, np.uint64(sim.leaf_depth)):
        add(memory, m, moves, place, np.float32(payoffs(sim)[np.uint64(player_of_move(moves[place]))]))
    return np.bool_(m.patterns + m.max_plies <= m.room)


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
    contexts = contexts_of(memory, m)
    context = place_of(m, contexts, parent, move)
    c = contexts[context]
    if c.parent == 0:
        c.parent, c.move, c.children, c.replies = parent, move, 0, 0
        contexts[parent].children += 1
        m.contexts += 1
    return context


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
    for context in range(U1, np.uint64(contexts.size)):
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
    for i in range(U1, np.uint64(old_contexts.size)):
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


@dataclass(frozen=True)
class BHRF(PlayoutPolicy):
    """Background History Reply Forest.

    prob: epsilon, the probability of asking the policy for a move, 0 to 1; choice: "soft_uct" or "last_reply"; b: preference
    for replies with few simulations, 0 to 1,000,000, by default that of [BHRF eq. 1]; most_bytes: largest memory of a worker,
    where patterns are forgotten. Raises TypeError or ValueError for anything else.
    """

    prob: float = 1.0
    choice: str = "soft_uct"
    b: float = 0.7
    most_bytes: int = 2**28
    learn = learn

    def __post_init__(self) -> None:
        probability("prob", self.prob)
        if not 0 <= real("b", self.b) <= MOST_B:
            raise ValueError(f"b must be a number from 0 to {MOST_B}, not {self.b!r}")
        if self.choice not in CHOICES:
            raise ValueError(f"choice must be one of {', '.join(CHOICES)}, not {self.choice!r}")
        integer("most_bytes", self.most_bytes, 1, MOST_BYTES)

    @property
    def suggest(self) -> Any:
        """Suggests a reply of the longest matching context."""
        return suggest_softly if self.choice == "soft_uct" else suggest_last

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns memory without patterns and with room for one game. Raises ValueError if most_bytes is too small for that."""
        singles, max_plies = rules.players * rules.actions, rules.max_plies
        if self.most_patterns(rules) < max_plies:
            least = bytes_of(singles, max_plies)
            raise ValueError(f"most_bytes must be at least {least} for {rules}, not {self.most_bytes}")
        compiled(read_counts, READ_COUNTS)
        compiled(copy, COPY)
        head = np.zeros(MEMORY.itemsize, np.uint8)
        m = fields(head, MEMORY)
        m.b, m.singles, m.actions, m.max_plies = self.b, singles, rules.actions, max_plies
        return blank(head, max_plies)

    def most_patterns(self, rules: Rules) -> int:
        """Returns the number of patterns that fit in most_bytes."""
        return most_room(self.most_bytes, rules.players * rules.actions)

    def begin(self, memory: np.ndarray, goes_on: bool) -> None:
        """Forgets all patterns unless the same game goes on."""
        m = fields(memory, MEMORY)
        if not goes_on:
            m.patterns, m.contexts, m.places = 0, 0, 0
            memory[MEMORY.itemsize : bytes_of(m.singles, 0) + m.room * ENTRIES * CONTEXT.itemsize] = 0

    def grown(self, memory: np.ndarray) -> np.ndarray:
        """Returns the memory with twice the room or all that most_bytes allows; if that is too little, forgets patterns."""
        m, fewest = fields(memory, MEMORY), 0.0
        most = most_room(self.most_bytes, int(m.singles))
        if m.patterns + m.max_plies > most:
            counts = np.empty(m.patterns, np.float32)
            read_counts(memory, counts)
            fewest = np.sort(counts)[::-1][(most - m.max_plies) // 2]
        larger = blank(memory, min(2 * int(m.room), most))
        copy(memory, larger, fewest, np.zeros(m.max_plies, np.int32))
        return larger


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
    m.room, m.patterns, m.contexts, m.places = room, 0, 0, 0
    return memory
