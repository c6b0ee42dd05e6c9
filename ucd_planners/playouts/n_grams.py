"""N-gram selection: a move is as good as the sequences that end with it [Tak, Winands and Bjornsson 2012, NST].

An n-gram of a player is n moves in a row, whoever made the first of them, of which the player made the last; R is the mean of
the player's payoffs in the simulations in which it was played, in the descent or the playout, each time counted. The value of
a move after the moves x, y is

    V(a) = mean of those of R(a), R(y, a), R(x, y, a) that are known

where R(a) is known always and 1, the largest payoff, for an action that was never played; a longer one is known from `least`
simulations on. A playout's move is chosen by V as told in choosing.py: with choice="gibbs" at the temperature tau, with
choice="greedy" the best one, but with the probability epsilon left to the next policy and in the end to chance.

There is a place for every n-gram of 1 or 2 moves; those of 3 are in a table that grows while it may: it is at most half full,
and all is under `most_bytes`. Then 3-grams are forgotten, those of the fewest simulations first and those of equally many
together, until a quarter of the places is left at most. Before another search in the same game numbers and sums are multiplied
by `decay` [Tak, Winands and Bjornsson 2014, move decay].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types

from ucd_envs.kernels import BYTES, HEADER, action_of_move, compiled, kernel
from ucd_envs.rng import unit
from ucd_envs.rules import Rules
from ucd_envs.settings import integer
from ucd_envs.structs import array_at, fields, popcount, record
from ucd_planners.playouts.choosing import best, check_choice, gibbs, padded, scale_of
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
)
"""What every memory begins with: facts of the game (`plies`: of its longest course), parameters, sizes, and how many places of
the table are filled. Behind it lie room for a choice, 1-grams, 2-grams, marks of known 3-grams and the table."""
MEMORY_BYTES = np.uint64(MEMORY.itemsize)
GRAM = record(("key", np.uint64), ("visits", np.float32), ("paid", np.float32))
"""A 3-gram: what it is, 0 for an empty place; how often it was played and what it paid in sum."""
SINGLE, WEIGHT, WORD = (np.dtype(kind) for kind in (np.float32, np.uint32, np.uint64))
MOST = np.float32(2**24)
"""The largest number of simulations: with more, single precision would not be exact, and the n-gram stays as it is."""
HASH = np.uint64(0x9E3779B97F4A7C15)
HALF, ONE, TWO, THIRD = (np.float32(value) for value in (1 / 2, 1, 2, 1 / 3))
U0, U1, U2, U3, U6, U16, U32, U63 = (np.uint64(n) for n in (0, 1, 2, 3, 6, 16, 32, 63))


@kernel(inline=True)
def scratch_of(memory, m):
    """[room] float32 of every action, and [room] float32 and uint32: the values and the weights of a choice."""
    start, size = np.uint64(memory.ctypes.data) + MEMORY_BYTES, np.uint64(m.room) << U2
    return (
        array_at(start, (m.room,), SINGLE),
        array_at(start + size, (m.room,), SINGLE),
        array_at(start + (size << U1), (m.room,), WEIGHT),
    )


@kernel(inline=True)
def singles_of(memory, m):
    """[players, 2, actions] float32: how often a player played each action, and the payoffs in sum."""
    start = np.uint64(memory.ctypes.data) + MEMORY_BYTES + (np.uint64(2 * m.room) << U3)
    return array_at(start, (m.players, 2, m.actions), SINGLE)


@kernel(inline=True)
def pairs_of(memory, m):
    """[players, actions, 2, actions] float32: the same of a player's actions after another action."""
    start = np.uint64(memory.ctypes.data) + MEMORY_BYTES + (np.uint64(2 * m.room + m.players * m.actions) << U3)
    return array_at(start, (m.players, m.actions, 2, m.actions), SINGLE)


@kernel(inline=True)
def marks_of(memory, m):
    """[players, actions, actions, words] uint64, a bit for every 3-gram: whether it is in the table and known."""
    start = np.uint64(memory.ctypes.data) + MEMORY_BYTES
    start += np.uint64(2 * m.room + m.players * m.actions * (m.actions + 1)) << U3
    return array_at(start, (m.players, m.actions, m.actions, m.words), WORD)


@kernel(inline=True)
def grams_of(memory, m):
    """[places] GRAM: the same of a player's actions after two actions, those that were played."""
    start = np.uint64(memory.ctypes.data) + MEMORY_BYTES
    start += np.uint64(2 * m.room + m.players * m.actions * (m.actions + 1 + m.actions * m.words)) << U3
    return array_at(start, (m.places,), GRAM)


@kernel(SUGGEST)
def suggest(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """A move by the mean of its n-grams."""
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
    listed = np.uint64(playout_actions(config, state, actions))
    if listed == U0:
        return np.int64(-1)
    for i in range(listed):
        values[i] = means[np.uint64(actions[i])]
    if m.greedy:
        return np.int64(actions[best(values, listed, rng)])
    return np.int64(actions[gibbs(values, weights, listed, m.scale, rng)])


@kernel()
def average(singles, pairs, means, least):
    """Writes the mean of each action's 1-gram and its 2-gram, if that has at least so many simulations."""
    for action in range(np.uint64(singles.shape[1])):
        one = singles[U1, action] / singles[U0, action] if singles[U0, action] > 0 else ONE
        two = pairs[U1, action] / pairs[U0, action]
        means[action] = (one + two) * HALF if pairs[U0, action] >= least else one


@kernel()
def mix(marks, grams, context, means):
    """Mixes the known 3-grams of a context into the means of 1-grams and 2-grams, which then are known too."""
    for word in range(np.uint64(marks.size)):
        left = marks[word]
        while left != U0:
            action = (word << U6) + popcount((left & (~left + U1)) - U1)
            gram = grams[place_of(grams, context + action)]
            means[action] = (TWO * means[action] + gram.paid / gram.visits) * THIRD
            left &= left - U1


@kernel()
def context_of(m, player, before, last):
    """What the keys of a player's 3-grams after two actions begin with."""
    actions = np.uint64(m.actions)
    return ((player * actions + before) * actions + last) * actions + U1


@kernel()
def place_of(grams, key):
    """The place of a 3-gram in the table, or the empty one where it belongs. Four neighbours are looked for side by side."""
    last = np.uint64(grams.size) - U1
    mixed = (key >> U2) * HASH
    place = ((mixed ^ mixed >> U32) << U2 | key & U3) & last
    while grams[place].key != key and grams[place].key != U0:
        place = (place + U1) & last
    return place


@kernel(LEARN)
def learn(sim, memory):
    """Adds a simulation to all its n-grams; whether another one has room in the table."""
    m = fields(memory, MEMORY)
    moves, singles, pairs = trace(sim), singles_of(memory, m), pairs_of(memory, m)
    marks, grams = marks_of(memory, m), grams_of(memory, m)
    before, last = U0, U0
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
            if gram.visits >= m.least:
                marks[player, before, last, action >> U6] |= U1 << (action & U63)
        before, last = last, action
    return np.bool_(m.words == 0 or m.filled + m.plies <= m.places >> 1)


@kernel()
def add(numbers, action, paid):
    """Adds a simulation to an action's number of them and their payoffs in sum."""
    if numbers[U0, action] < MOST:
        numbers[U0, action] += ONE
        numbers[U1, action] += paid


@kernel(types.void(BYTES, BYTES, types.float32))
def refill(old, new, least):
    """Copies the 3-grams of more than so many simulations into an empty table."""
    m, into = fields(old, MEMORY), fields(new, MEMORY)
    grams, copied = grams_of(old, m), grams_of(new, into)
    for i in range(np.uint64(m.places)):
        if grams[i].key != U0 and grams[i].visits > least:
            copied[place_of(copied, grams[i].key)] = grams[i]
            into.filled += 1
    mark_all(new)


@kernel(types.void(BYTES, types.float32))
def fade(memory, decay):
    """Multiplies the numbers and sums of all n-grams."""
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
    """Multiplies the numbers and sums of all actions."""
    for action in range(np.uint64(numbers.shape[1])):
        numbers[U0, action] *= decay
        numbers[U1, action] *= decay


@kernel()
def mark_all(memory):
    """Makes the marks those of the known 3-grams."""
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

    prob: how often a playout's move is asked for, 0 to 1; length: how long n-grams are at most, 2 or 3 (with 1 it would be
    MAST); least: in how many simulations a longer one than 1 must have been played, 1 to 2**24; choice: "gibbs" or "greedy";
    tau: temperature of the former, 0.001 to 1000; epsilon: how often the latter leaves a move to chance, 0 to 1; decay: what is
    left of the statistics for the next search in a game, 0 to 1; most_bytes: of a worker's memory, 1 to 2**40. length and least
    are those of [Tak et al. 2012], the other defaults are ours. Raises TypeError or ValueError for anything else.
    """

    prob: float = 1.0
    length: int = 3
    least: int = 7
    choice: str = "gibbs"
    tau: float = 0.1
    epsilon: float = 0.1
    decay: float = 0.5
    most_bytes: int = 2**27

    def __post_init__(self) -> None:
        probability("prob", self.prob)
        integer("length", self.length, 2, 3)
        integer("least", self.least, 1, 2**24)
        check_choice(self.choice, self.tau, self.epsilon)
        probability("decay", self.decay)
        integer("most_bytes", self.most_bytes, 1, 2**40)

    @property
    def suggest(self) -> Any:
        """A move by the mean of its n-grams."""
        return suggest

    @property
    def learn(self) -> Any:
        """N-grams of the simulation."""
        return learn

    def memory(self, rules: Rules) -> np.ndarray:
        """No n-gram has a simulation. Raises ValueError where the memory of one game's n-grams is more than most_bytes."""
        words, places = ((rules.actions + 63) // 64, 1 << (4 * rules.max_plies - 1).bit_length()) if self.length > 2 else (0, 0)
        dense = 2 * padded(rules.actions) + rules.players * rules.actions * (rules.actions + 1 + rules.actions * words)
        size = MEMORY.itemsize + 8 * dense + GRAM.itemsize * places
        if size > self.most_bytes:
            raise ValueError(f"most_bytes must be {size} or more for the n-grams of one game of {rules}, not {self.most_bytes}")
        memory = np.zeros(size, np.uint8)
        m = fields(memory, MEMORY)
        m.players, m.actions, m.plies, m.least = rules.players, rules.actions, rules.max_plies, self.least
        m.greedy, m.epsilon, m.scale = self.choice == "greedy", self.epsilon, scale_of(self.tau)
        m.room, m.words, m.places = padded(rules.actions), words, places
        return memory

    def begin(self, memory: np.ndarray, goes_on: bool) -> None:
        """Lets the statistics decay, or forgets those of another game."""
        if not goes_on or self.decay == 0:
            memory[MEMORY.itemsize :] = 0
            fields(memory, MEMORY).filled = 0
        elif self.decay < 1:
            compiled(fade, fade.seam_signature)(memory, np.float32(self.decay))

    def grown(self, memory: np.ndarray) -> np.ndarray:
        """Memory with twice as many places for 3-grams, or without those of the fewest simulations where that is too large."""
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
