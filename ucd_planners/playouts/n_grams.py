"""N-gram selection: the value of a move is that of the sequences that it ends [Tak, Winands and Bjornsson 2012, NST].

An n-gram of a player is n moves in a row, the last one made by the player and the others by anyone. R is the mean of the
player's payoffs in the simulations in which the n-gram was played, in the descent or the playout. Repetitions count each time.
The value of a move a after the moves x, y is

    V(a) = mean of those of R(a), R(y, a), R(x, y, a) that are known

R(a) is always known: it is 1, the largest payoff, for an action never played. A longer n-gram is known from `least` simulations
on. A playout's move is chosen by V as choosing.py describes: with choice="gibbs" at the temperature tau, with choice="greedy"
the best one. The greedy choice leaves a move to the next policy with probability epsilon. Most Gibbs choices need no list of
moves: actions are drawn from all actions until one is playable. After TRIES failures the playable moves are listed, for all
moves of the playout that are left.

Every n-gram of 1 or 2 moves has a place. Those of 3 moves lie in a table that is at most half full and grows while the memory
stays under `most_bytes`. At that limit 3-grams with the fewest simulations are forgotten, equal numbers together, until at most
a quarter of the places is used. Before another search in the same game counts and sums are multiplied by `decay` [Tak, Winands
and Bjornsson 2014, move decay].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import types

from ucd_envs.kernels import BYTES, HEADER, action_of_move, compiled, kernel
from ucd_envs.rng import unit
from ucd_envs.rules import Rules
from ucd_envs.settings import integer
from ucd_envs.structs import array_at, fetch, fields, popcount, record
from ucd_envs.tables import HASH, place_in
from ucd_planners.playouts.choosing import best, check_choice, gibbs, gibbs_playable, largest, padded, scale_of, weigh
from ucd_planners.search.interface import LEARN, SUGGEST, PlayoutPolicy, probability
from ucd_planners.search.sim import action_list, payoffs, trace

MEMORY = record(
    ("players", np.int64),
    ("actions", np.int64),
    ("plies", np.int64),
    ("greedy", np.int64),
    ("epsilon", np.float64),
    ("scale", np.float32),
    ("least", np.float32),
    ("room", np.int64),
    ("words", np.int64),
    ("places", np.int64),
    ("filled", np.int64),
    ("crowded", np.int64),
)
"""Header of the memory: facts of the game (`plies`: its max_plies), parameters, sizes, `filled` places of the table, and
`crowded`, the simulation in which few actions are playable by now, -1 for none. Behind it lie room for a choice, 1-grams,
2-grams, marks of known 3-grams and the table."""
MEMORY_BYTES = np.uint64(MEMORY.itemsize)
GRAM = record(("key", np.uint64), ("visits", np.float32), ("paid", np.float32))
"""A 3-gram: its key, 0 for an empty place; the number of simulations and the sum of their payoffs."""
SINGLE, WEIGHT, WORD = (np.dtype(kind) for kind in (np.float32, np.uint32, np.uint64))
MOST = np.float32(2**24)
"""Largest count of an n-gram. Beyond it single precision is not exact, so the n-gram no longer changes."""
TRIES = np.uint64(3)
HALF, ONE, TWO, THIRD = (np.float32(value) for value in (1 / 2, 1, 2, 1 / 3))
U0, U1, U2, U3, U6, U16, U32, U63 = (np.uint64(n) for n in (0, 1, 2, 3, 6, 16, 32, 63))


@kernel(inline=True)
def scratch_of(memory, m):
    """[room] float32, [room] float32 and [room] uint32, scratch: means of all actions, values and weights of a choice."""
    start, size = np.uint64(memory.ctypes.data) + MEMORY_BYTES, np.uint64(m.room) << U2
    return (
        array_at(start, (m.room,), SINGLE),
        array_at(start + size, (m.room,), SINGLE),
        array_at(start + (size << U1), (m.room,), WEIGHT),
    )


@kernel(inline=True)
def singles_of(memory, m):
    """[players, 2, actions] float32: counts and payoff sums of each player's actions."""
    start = np.uint64(memory.ctypes.data) + MEMORY_BYTES + (np.uint64(2 * m.room) << U3)
    return array_at(start, (m.players, 2, m.actions), SINGLE)


@kernel(inline=True)
def pairs_of(memory, m):
    """[players, actions, 2, actions] float32: counts and payoff sums of each player's actions after an action."""
    start = np.uint64(memory.ctypes.data) + MEMORY_BYTES + (np.uint64(2 * m.room + m.players * m.actions) << U3)
    return array_at(start, (m.players, m.actions, 2, m.actions), SINGLE)


@kernel(inline=True)
def marks_of(memory, m):
    """[players, actions, actions, words] uint64: a bit for every 3-gram, set if it is in the table and known."""
    start = np.uint64(memory.ctypes.data) + MEMORY_BYTES
    start += np.uint64(2 * m.room + m.players * m.actions * (m.actions + 1)) << U3
    return array_at(start, (m.players, m.actions, m.actions, m.words), WORD)


@kernel(inline=True)
def grams_of(memory, m):
    """[places] GRAM: the table of the 3-grams that were played."""
    start = np.uint64(memory.ctypes.data) + MEMORY_BYTES
    start += np.uint64(2 * m.room + m.players * m.actions * (m.actions + 1 + m.actions * m.words)) << U3
    return array_at(start, (m.places,), GRAM)


@kernel(SUGGEST)
def suggest(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """Returns a move chosen by the mean of its n-grams, or -1."""
    length = sim.traced.length
    m = fields(memory, MEMORY)
    if m.greedy and unit(rng) < m.epsilon:
        return np.int64(-1)
    actions, moves, player = action_list(sim), trace(sim), np.uint64(fields(state, HEADER).player)
    means, values, weights = scratch_of(memory, m)
    if length > 0:
        last = np.uint64(action_of_move(moves[length - 1]))
        average(singles_of(memory, m)[player], pairs_of(memory, m)[player, last], means, m.least)
        if length > 1 and m.words > 0:
            before = np.uint64(action_of_move(moves[length - 2]))
            mix(marks_of(memory, m)[player, before, last], grams_of(memory, m), context_of(m, player, before, last), means)
    else:
        average(singles_of(memory, m)[player], pairs_of(memory, m)[player, U0], means, np.float32(np.inf))
    if not m.greedy and m.crowded != graph.playouts:
        total = weigh(means, weights, np.uint64(m.actions), m.scale)
        action = gibbs_playable(weights, total, TRIES, is_playable, config, state, rng)
        if action >= 0:
            return action
        m.crowded = graph.playouts
    listed = np.uint64(playout_actions(config, state, actions))
    if listed == U0:
        return np.int64(-1)
    for i in range(listed):
        values[i] = means[np.uint64(actions[i])]
    if m.greedy:
        return np.int64(actions[best(values, listed, largest(values, listed), rng)])
    return np.int64(actions[gibbs(values, weights, listed, m.scale, rng)])


@kernel()
def average(singles, pairs, means, least):
    """Writes the mean of each action's 1-gram and 2-gram; a 2-gram with fewer than `least` simulations is left out."""
    for action in range(np.uint64(singles.shape[1])):
        one = singles[U1, action] / singles[U0, action] if singles[U0, action] > 0 else ONE
        two = pairs[U1, action] / pairs[U0, action]
        means[action] = (one + two) * HALF if pairs[U0, action] >= least else one


@kernel()
def mix(marks, grams, context, means):
    """Mixes the known 3-grams of a context into the means. Their 1-grams and 2-grams are known too."""
    for word in range(np.uint64(marks.size)):
        left = marks[word]
        while left != U0:
            action = (word << U6) + popcount((left & (~left + U1)) - U1)
            gram = grams[place_of(grams, context + action)]
            means[action] = (TWO * means[action] + gram.paid / gram.visits) * THIRD
            left &= left - U1


@kernel()
def context_of(m, player, before, last):
    """Returns the key of a player's 3-gram after two actions with action 0; other actions are added to it."""
    actions = np.uint64(m.actions)
    return ((player * actions + before) * actions + last) * actions + U1


@kernel()
def place_of(grams, key):
    """Returns the place of a 3-gram in the table, or the empty place where it belongs. Four neighbours lie side by side."""
    return place_in(grams, key, home_of(grams, key), np.uint64(grams.size), is_other)


@kernel()
def home_of(grams, key):
    """Returns the place of the table where the search for a 3-gram begins."""
    mixed = (key >> U2) * HASH
    return ((mixed ^ mixed >> U32) << U2 | key & U3) & (np.uint64(grams.size) - U1)


@kernel()
def is_other(grams, place, key):
    """Whether a place of the table has another 3-gram."""
    return grams[place].key != key and grams[place].key != U0


@kernel(LEARN)
def learn(sim, memory):
    """Adds a simulation to all its n-grams; returns whether the table has room for another simulation."""
    m = fields(memory, MEMORY)
    moves, singles, pairs = trace(sim), singles_of(memory, m), pairs_of(memory, m)
    marks, grams = marks_of(memory, m), grams_of(memory, m)
    before, last = U0, U0
    for i in range(sim.traced.length if m.words > 0 else 0):
        player, action = np.uint64(moves[i]) >> U16, np.uint64(action_of_move(moves[i]))
        fetch(grams, home_of(grams, context_of(m, player, before, last) + action))
        before, last = last, action
    for i in range(sim.traced.length):
        player, action = np.uint64(moves[i]) >> U16, np.uint64(action_of_move(moves[i]))
        paid = np.float32(payoffs(sim)[player])
        add(singles[player], action, paid)
        if i > 0:
            add(pairs[player, last], action, paid)
        if i > 1 and m.words > 0:
            key = context_of(m, player, before, last) + action
            gram = grams[place_of(grams, key)]
            if gram.key == U0:
                gram.key = key
                m.filled += 1
            if gram.visits < MOST:
                gram.visits += ONE
                gram.paid += paid
            if m.least <= gram.visits < m.least + ONE:
                marks[player, before, last, action >> U6] |= U1 << (action & U63)
        before, last = last, action
    return np.bool_(m.words == 0 or m.filled + m.plies <= m.places >> 1)


@kernel()
def add(numbers, action, paid):
    """Adds a simulation to the count and the payoff sum of an action."""
    if numbers[U0, action] < MOST:
        numbers[U0, action] += ONE
        numbers[U1, action] += paid


@kernel(types.void(BYTES, BYTES, types.float32))
def refill(old, new, least):
    """Copies the 3-grams with more than `least` simulations into an empty table."""
    m, into = fields(old, MEMORY), fields(new, MEMORY)
    grams, copied = grams_of(old, m), grams_of(new, into)
    for i in range(np.uint64(m.places)):
        if grams[i].key != U0 and grams[i].visits > least:
            copied[place_of(copied, grams[i].key)] = grams[i]
            into.filled += 1
    mark_all(new)


@kernel(types.void(BYTES, types.float32))
def fade(memory, decay):
    """Multiplies the counts and sums of all n-grams by `decay`."""
    m = fields(memory, MEMORY)
    singles, pairs, grams = singles_of(memory, m), pairs_of(memory, m), grams_of(memory, m)
    for player in range(np.uint64(m.players)):
        shrink(singles[player], decay)
        for last in range(np.uint64(m.actions)):
            shrink(pairs[player, last], decay)
    for i in range(np.uint64(m.places)):
        grams[i].visits *= decay
        grams[i].paid *= decay
    mark_all(memory)


@kernel()
def shrink(numbers, decay):
    """Multiplies the counts and sums of all actions by `decay`."""
    for action in range(np.uint64(numbers.shape[1])):
        numbers[U0, action] *= decay
        numbers[U1, action] *= decay


@kernel()
def mark_all(memory):
    """Sets the marks of the known 3-grams and clears all others."""
    m = fields(memory, MEMORY)
    marks, grams, actions = marks_of(memory, m), grams_of(memory, m), np.uint64(m.actions)
    for player in range(np.uint64(m.players)):
        for before in range(actions):
            for last in range(actions):
                for word in range(np.uint64(m.words)):
                    marks[player, before, last, word] = U0
    for i in range(np.uint64(m.places)):
        if grams[i].key != U0 and grams[i].visits >= m.least:
            number = grams[i].key - U1
            action, context = number % actions, number // actions
            last, before, player = context % actions, context // actions % actions, context // actions // actions
            marks[player, before, last, action >> U6] |= U1 << (action & U63)


@dataclass(frozen=True)
class NGrams(PlayoutPolicy):
    """N-gram selection.

    prob: probability of asking the policy for a move, 0 to 1; length: longest n-gram in moves, 2 or 3 (with 1 it would be
    MAST); least: simulations from which a 2-gram or 3-gram is known, 1 to 2**24; choice: "gibbs" or "greedy"; tau: temperature
    of "gibbs", 0.001 to 1000; epsilon: probability that "greedy" suggests nothing, 0 to 1; decay: factor of the statistics
    before the next search of a game, 0 to 1; most_bytes: largest memory of a worker, 1 to 2**40. length and least are those of
    [Tak et al. 2012], the other defaults are ours. Raises TypeError or ValueError for anything else.
    """

    prob: float = 1.0
    length: int = 3
    least: int = 7
    choice: str = "gibbs"
    tau: float = 0.1
    epsilon: float = 0.1
    decay: float = 0.5
    most_bytes: int = 2**27
    suggest, learn = suggest, learn

    def __post_init__(self) -> None:
        probability("prob", self.prob)
        integer("length", self.length, 2, 3)
        integer("least", self.least, 1, 2**24)
        check_choice(self.choice, self.tau, self.epsilon)
        probability("decay", self.decay)
        integer("most_bytes", self.most_bytes, 1, 2**40)

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns memory without n-grams. Raises ValueError if the n-grams of one game need more than most_bytes."""
        words, places = ((rules.actions + 63) // 64, 1 << (4 * rules.max_plies - 1).bit_length()) if self.length > 2 else (0, 0)
        dense = 2 * padded(rules.actions) + rules.players * rules.actions * (rules.actions + 1 + rules.actions * words)
        size = MEMORY.itemsize + 8 * dense + GRAM.itemsize * places
        if size > self.most_bytes:
            raise ValueError(f"most_bytes must be {size} or more for the n-grams of one game of {rules}, not {self.most_bytes}")
        memory = np.zeros(size, np.uint8)
        m = fields(memory, MEMORY)
        m.players, m.actions, m.plies, m.least = rules.players, rules.actions, rules.max_plies, self.least
        m.greedy, m.epsilon, m.scale = self.choice == "greedy", self.epsilon, scale_of(self.tau)
        m.room, m.words, m.places, m.crowded = padded(rules.actions), words, places, -1
        return memory

    def begin(self, memory: np.ndarray, goes_on: bool) -> None:
        """Multiplies the statistics by `decay`, or forgets them if another game begins."""
        fields(memory, MEMORY).crowded = -1
        if not goes_on or self.decay == 0:
            memory[MEMORY.itemsize :] = 0
            fields(memory, MEMORY).filled = 0
        elif self.decay < 1:
            compiled(fade, fade.seam_signature)(memory, np.float32(self.decay))

    def grown(self, memory: np.ndarray) -> np.ndarray:
        """Returns the memory with twice as many places for 3-grams; if that is too large, forgets some."""
        table, least = GRAM.itemsize * int(fields(memory, MEMORY).places), -1.0
        dense, more = len(memory) - table, table if len(memory) + table <= self.most_bytes else 0
        if more == 0:
            grams = memory[dense:].view(GRAM)
            visits, quarter = np.sort(grams["visits"][grams["key"] > 0]), len(grams) // 4
            least = float(visits[-quarter - 1])
        new = np.zeros(len(memory) + more, np.uint8)
        new[:dense] = memory[:dense]
        into = fields(new, MEMORY)
        into.places, into.filled = (table + more) // GRAM.itemsize, 0
        compiled(refill, refill.seam_signature)(memory, new, np.float32(least))
        return new
