"""MAST, move-average sampling technique: moves that went well anywhere are played [Finnsson and Bjornsson 2008, 2010].

Q(a) of a player is the mean of its payoffs in the simulations in which it played the action a, in the descent or the playout,
each time counted; 1, the largest payoff, for an action that was never played, so that it will be. A playout's move is chosen
by Q as told in choosing.py: with choice="gibbs" at the temperature tau, with choice="greedy" the best one, but with the
probability epsilon left to the next policy and in the end to chance.

Most choices by Gibbs need no list of moves: an action is drawn from all, by weights that change after simulations only, until
one comes that may be played; that leaves each of those its probability. After TRIES in vain the moves are listed.

Before another search in the same game numbers and sums are multiplied by `decay` [Tak, Winands and Bjornsson 2014, move decay].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types

from ucd_envs.kernels import BYTES, HEADER, action_of_move, compiled, kernel, player_of_move
from ucd_envs.rng import unit
from ucd_envs.rules import Rules
from ucd_envs.structs import array_at, fields, record
from ucd_planners.playouts.choosing import best, check_choice, gibbs, padded, part_of, scale_of, weigh
from ucd_planners.search.interface import LEARN, SUGGEST, PlayoutPolicy, probability
from ucd_planners.search.sim import action_list, payoffs, trace

MEMORY = record(
    ("players", np.int64),
    ("actions", np.int64),
    ("places", np.int64),
    ("greedy", np.int64),
    ("epsilon", np.float64),
    ("scale", np.float32),
)
"""What every memory begins with. Behind it lie sums, running weights, guides to these, means, and room for a choice."""
MEMORY_BYTES = np.uint64(MEMORY.itemsize)
SUM, RUNNING, SINGLE, WEIGHT = (np.dtype(kind) for kind in (np.float64, np.uint64, np.float32, np.uint32))
TRIES = 8
SHIFT = np.uint64(21)
"""A part of the weights is 2**21 units: a quarter of the largest weight."""
ONE = np.float32(1)
U0, U1, U2, U4 = (np.uint64(n) for n in (0, 1, 2, 4))


@kernel(inline=True)
def sums_of(memory, m):
    """[players, places, 2] float64: how often a player played an action, and the payoffs in sum."""
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES, (m.players, m.places, 2), SUM)


@kernel(inline=True)
def running_of(memory, m):
    """[players, places] uint64: the weights of all actions up to each one."""
    room = np.uint64(m.players * m.places) << U4
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES + room, (m.players, m.places), RUNNING)


@kernel(inline=True)
def guides_of(memory, m):
    """[players, 4 * places] uint32: the actions at which equal parts of a player's weights begin."""
    room = np.uint64(m.players * m.places) * np.uint64(24)
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES + room, (m.players, m.places << 2), WEIGHT)


@kernel(inline=True)
def means_of(memory, m):
    """[players, places] float32: Q."""
    room = np.uint64(m.players * m.places) * np.uint64(40)
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES + room, (m.players, m.places), SINGLE)


@kernel(inline=True)
def scratch_of(memory, m):
    """[places] float32 and [places] uint32: room for the values and the weights of a choice."""
    room = np.uint64(memory.ctypes.data) + MEMORY_BYTES + np.uint64(m.players * m.places) * np.uint64(44)
    return array_at(room, (m.places,), SINGLE), array_at(room + (np.uint64(m.places) << U2), (m.places,), WEIGHT)


@kernel(SUGGEST)
def suggest(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """A move by its mean."""
    m = fields(memory, MEMORY)
    player = np.uint64(fields(state, HEADER).player)
    if m.greedy:
        if unit(rng) < m.epsilon:
            return np.int64(-1)
    else:
        running, guide = running_of(memory, m)[player], guides_of(memory, m)[player]
        total = running[m.actions - 1]
        for _ in range(TRIES):
            part = part_of(total, rng)
            place = np.uint64(guide[part >> SHIFT])
            while running[place] <= part:
                place += U1
            if is_playable(config, state, np.int64(place)):
                return np.int64(place)
    actions, means = action_list(sim), means_of(memory, m)[player]
    values, weights = scratch_of(memory, m)
    listed = np.uint64(playout_actions(config, state, actions))
    if listed == U0:
        return np.int64(-1)
    for i in range(listed):
        values[i] = means[np.uint64(actions[i])]
    if m.greedy:
        return np.int64(actions[best(values, listed, rng)])
    return np.int64(actions[gibbs(values, weights, listed, m.scale, rng)])


@kernel(LEARN)
def learn(sim, memory):
    """Adds a simulation to the means of what each player played, and sums up the weights."""
    m = fields(memory, MEMORY)
    moves, sums, means = trace(sim), sums_of(memory, m), means_of(memory, m)
    for i in range(np.uint64(sim.traced.length)):
        player, action = np.uint64(player_of_move(moves[i])), np.uint64(action_of_move(moves[i]))
        sums[player, action, U0] += 1.0
        sums[player, action, U1] += payoffs(sim)[player]
        means[player, action] = np.float32(sums[player, action, U1] / sums[player, action, U0])
    if not m.greedy:
        add_up_all(memory)
    return np.bool_(True)


@kernel(types.void(BYTES, types.float64))
def fade(memory, decay):
    """Multiplies numbers and sums, which leaves the means; by 0, all actions have not been played."""
    m = fields(memory, MEMORY)
    sums, means = sums_of(memory, m), means_of(memory, m)
    for player in range(np.uint64(m.players)):
        for action in range(np.uint64(m.actions)):
            sums[player, action, U0] *= decay
            sums[player, action, U1] *= decay
            means[player, action] = ONE if decay == 0.0 else means[player, action]
    add_up_all(memory)


@kernel()
def add_up_all(memory):
    """Makes running weights and guides those of the means."""
    m = fields(memory, MEMORY)
    means, weights, running, guides = means_of(memory, m), scratch_of(memory, m)[1], running_of(memory, m), guides_of(memory, m)
    for player in range(np.uint64(m.players)):
        add_up(means[player], weights, running[player], guides[player], np.uint64(m.actions), m.scale)


@kernel()
def add_up(means, weights, running, guide, actions, scale):
    """Sums up the weights of all actions, and notes where each part of them begins."""
    weigh(means, weights, actions, scale)
    part, total = U0, U0
    for i in range(actions):
        total += np.uint64(weights[i])
        running[i] = total
        while (part << SHIFT) < total:
            guide[part] = i
            part += U1


@dataclass(frozen=True)
class MAST(PlayoutPolicy):
    """Move-average sampling technique.

    prob: how often a playout's move is asked for, 0 to 1; choice: "gibbs" or "greedy"; tau: temperature of the former, 0.001 to
    1000; epsilon: how often the latter leaves a move to chance, 0 to 1; decay: what is left of the statistics for the next
    search in a game, 0 to 1. The defaults are ours. Raises TypeError or ValueError for anything else.
    """

    prob: float = 1.0
    choice: str = "gibbs"
    tau: float = 0.1
    epsilon: float = 0.1
    decay: float = 0.5

    def __post_init__(self) -> None:
        probability("prob", self.prob)
        check_choice(self.choice, self.tau, self.epsilon)
        probability("decay", self.decay)

    @property
    def suggest(self) -> Any:
        """A move by its mean."""
        return suggest

    @property
    def learn(self) -> Any:
        """Means of the simulation's moves."""
        return learn

    def memory(self, rules: Rules) -> np.ndarray:
        """No action has been played."""
        places = padded(rules.actions)
        memory = np.zeros(MEMORY.itemsize + (44 * rules.players + 8) * places, np.uint8)
        m = fields(memory, MEMORY)
        m.players, m.actions, m.places = rules.players, rules.actions, places
        m.greedy, m.epsilon, m.scale = self.choice == "greedy", self.epsilon, scale_of(self.tau)
        self.begin(memory, goes_on=False)
        return memory

    def begin(self, memory: np.ndarray, goes_on: bool) -> None:
        """Lets the statistics decay, or forgets those of another game."""
        decay = float(self.decay) if goes_on else 0.0
        if decay == 0:
            memory[MEMORY.itemsize :] = 0
        compiled(fade, fade.seam_signature)(memory, decay)
