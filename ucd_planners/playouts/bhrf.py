"""Background History Reply Forest: playouts repeat replies that the search tried after the same last moves [BHRF section 4].

A pattern is a reply with its context: the last L = 1, 2, 3, ... moves before it, of all players. Descents teach patterns,
playouts do not. For each reply of a descent the matching patterns are visited in the order of L. A known pattern counts one
more simulation and the payoff of the reply's player. The first unknown pattern is added and ends the visit.

In a playout the policy is asked with probability `prob`. It uses the longest context that matches the last moves and has a
playable reply [BHRF Algorithms 1-4]. Playable is what the game's random policy may play: in Go no reply fills an eye.

    choice="soft_uct"     draws a reply in proportion to mean + b sqrt(ln(sum n) / n) [BHRF eq. 1] and suggests it with the
                          probability of its mean, else nothing
    choice="last_reply"   suggests the reply last taken in a descent after the longest matching context, if that is playable

Options of soft_uct are the details of Algorithm 3: accept="estimate" suggests a reply with the probability of that whole sum
instead of its mean, 1 at most; fallback="default" leaves the move to the next policy where the longest context has no playable
reply; total="legal" has the playable replies in the sum of eq. 1 instead of all replies of the context.

Patterns are kept over the turns of a game. Memory grows with them up to `most_bytes`. There, if a simulation of the longest
game might find no room, the patterns with the fewest simulations are forgotten: all up to the smallest number of simulations
that leaves at most half of the patterns that fit before a simulation. A context is forgotten with the last of its replies. A
pattern never has more simulations than the same reply with a shorter context, so a forgotten context has no longer ones.

The memory and its search are those of forest.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ucd_envs.kernels import HEADER, action_of_move, compiled, kernel, player_of_move
from ucd_envs.rng import draw, unit
from ucd_envs.rules import Rules
from ucd_envs.settings import integer, one_of, real
from ucd_envs.structs import fields
from ucd_planners.playouts.forest import (
    COPY,
    LOW,
    MEMORY,
    ONE,
    READ_COUNTS,
    STALE,
    U0,
    U1,
    U32,
    add,
    blank,
    bytes_of,
    clear,
    contexts_of,
    copy,
    longest_context,
    most_room,
    read_counts,
    replies_of,
)
from ucd_planners.search.interface import LEARN, SUGGEST, PlayoutPolicy, probability
from ucd_planners.search.sim import payoffs, trace

CHOICES = {
    **{"choice": ("soft_uct", "last_reply"), "accept": ("mean", "estimate")},
    **{"fallback": ("shorter", "default"), "total": ("all", "legal")},
}
"""Options by name; the first of each is the default."""
MOST_B, MOST_BYTES = 10**6, 2**35
PATIENCE = np.uint64(16)
"""Number of rejected replies after which the largest remaining weight is computed."""
ZERO, FRACTION = np.float32(0), np.float32(2.0**-32)


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
            if np.float32(np.int64(bits & LOW)) * FRACTION * most > r.weight:
                vain += U1
                if vain == PATIENCE:
                    most, vain = largest(replies, first, left), U0
                continue
            action = action_of_move(r.move)
            if player_of_move(r.move) == player and is_playable(config, state, action):
                return action if is_accepted(m, r, rng) else np.int64(-1)
            left -= U1
            swap(r, replies[first + left])
        context = U0 if m.to_default else np.uint64(c.parent)
    return np.int64(-1)


@kernel(inline=True)
def is_accepted(m, r, rng):
    """Whether a reply that was drawn is suggested: with the probability of its mean, or of its weight."""
    return unit(rng) < r.weight if m.by_estimate else unit(rng) * r.count < r.paid


@kernel(SUGGEST)
def suggest_among_playable(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """Returns a reply as suggest_softly does, where weights depend on the playable replies alone, or -1."""
    m, player = fields(memory, MEMORY), fields(state, HEADER).player
    contexts, replies = contexts_of(memory, m), replies_of(memory, m)
    context = longest_context(memory, m, trace(sim), sim.traced.length)
    while context != U0:
        c = contexts[context]
        first, end = np.uint64(c.first), np.uint64(c.first) + np.uint64(c.replies)
        total, whole = np.float64(0), np.float64(0)
        c.most = STALE  # weights are those of this position
        for place in range(first, end):
            r = replies[place]
            playable = player_of_move(r.move) == player and is_playable(config, state, action_of_move(r.move))
            r.weight = ONE if playable else ZERO
            total += r.count if playable else ZERO
        if total > 0:
            spread = m.b * np.float32(math.sqrt(math.log(total)))
            for place in range(first, end):
                r = replies[place]
                r.weight *= (r.paid + spread * np.float32(math.sqrt(r.count))) / r.count
                whole += r.weight
            drawn = unit(rng) * whole
            for place in range(first, end):
                r = replies[place]
                if drawn < r.weight:
                    return action_of_move(r.move) if is_accepted(m, r, rng) else np.int64(-1)
                drawn -= r.weight
            return np.int64(-1)  # all weights are 0, and nothing is accepted
        context = U0 if m.to_default else np.uint64(c.parent)
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


@dataclass(frozen=True)
class BHRF(PlayoutPolicy):
    """Background History Reply Forest.

    prob: epsilon, the probability of asking the policy for a move, 0 to 1; choice: "soft_uct" or "last_reply"; b: preference
    for replies with few simulations, 0 to 1,000,000, by default that of [BHRF eq. 1]; most_bytes: largest memory of a worker,
    where patterns are forgotten. With soft_uct: accept: "mean" or "estimate"; fallback: "shorter" contexts or "default";
    total: "all" replies or "legal" ones. Raises TypeError or ValueError for anything else.
    """

    prob: float = 1.0
    choice: str = "soft_uct"
    b: float = 0.7
    most_bytes: int = 2**28
    accept: str = "mean"
    fallback: str = "shorter"
    total: str = "all"
    learn = learn

    def __post_init__(self) -> None:
        probability("prob", self.prob)
        if not 0 <= real("b", self.b) <= MOST_B:
            raise ValueError(f"b must be a number from 0 to {MOST_B}, not {self.b!r}")
        for name, choices in CHOICES.items():
            one_of(name, getattr(self, name), choices)
            if self.choice == "last_reply" and name != "choice" and getattr(self, name) != choices[0]:
                raise ValueError(f'{name} goes with choice="soft_uct" only')
        integer("most_bytes", self.most_bytes, 1, MOST_BYTES)

    @property
    def suggest(self) -> Any:
        """Suggests a reply of the longest matching context."""
        if self.choice == "last_reply":
            return suggest_last
        return suggest_softly if self.total == "all" else suggest_among_playable

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
        m.by_estimate, m.to_default = self.accept == "estimate", self.fallback == "default"
        return blank(head, max_plies)

    def most_patterns(self, rules: Rules) -> int:
        """Returns the number of patterns that fit in most_bytes."""
        return most_room(self.most_bytes, rules.players * rules.actions)

    def begin(self, memory: np.ndarray, goes_on: bool) -> None:
        """Forgets all patterns unless the same game goes on."""
        if not goes_on:
            clear(memory)

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
