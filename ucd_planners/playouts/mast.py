"""MAST, move-average sampling technique: playouts prefer actions that paid anywhere [Finnsson and Bjornsson 2008, 2010].

Q(a) of a player is the mean of its payoffs in the simulations in which it played the action a, in the descent or the playout.
Repeated actions count each time. Q of an action never played is 1, the largest payoff, so that it is tried. A playout's move is
chosen by Q as choosing.py describes: with choice="gibbs" at the temperature tau, with choice="greedy" the best one. The greedy
choice leaves a move to the next policy with probability epsilon.

Most Gibbs choices need no list of moves. Actions are drawn from all actions until one is playable, by weights that change
between simulations only. This keeps the probabilities of the playable ones in proportion. After TRIES failures the playable
moves are listed.

Before another search in the same game counts and sums are multiplied by `decay` [Tak, Winands and Bjornsson 2014, move decay].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import types

from ucd_envs.kernels import BYTES, HEADER, action_of_move, compiled, kernel, player_of_move
from ucd_envs.rng import unit
from ucd_envs.rules import Rules
from ucd_envs.structs import array_at, fields, record
from ucd_planners.playouts.choosing import best, check_choice, gibbs, largest, padded, part_of, scale_of, weigh
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
"""Header of the memory. Behind it lie sums, running weights, guides to these, means, and room for a choice."""
MEMORY_BYTES = np.uint64(MEMORY.itemsize)
SUM, RUNNING, SINGLE, WEIGHT = (np.dtype(kind) for kind in (np.float64, np.uint64, np.float32, np.uint32))
TRIES = 8
SHIFT = np.uint64(21)
"""Binary logarithm of the size of a part: 2**21 units, a quarter of the largest weight."""
ONE = np.float32(1)
U0, U1, U2, U4 = (np.uint64(n) for n in (0, 1, 2, 4))


@kernel(inline=True)
def sums_of(memory, m):
    """[players, places, 2] float64: count and payoff sum of each action of a player."""
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES, (m.players, m.places, 2), SUM)


@kernel(inline=True)
def running_of(memory, m):
    """[players, places] uint64: the sum of the weights of all actions up to each one."""
    room = np.uint64(m.players * m.places) << U4
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES + room, (m.players, m.places), RUNNING)


@kernel(inline=True)
def guides_of(memory, m):
    """[players, 4 * places] uint32: the action at which each part of a player's weights begins."""
    room = np.uint64(m.players * m.places) * np.uint64(24)
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES + room, (m.players, m.places << 2), WEIGHT)


@kernel(inline=True)
def means_of(memory, m):
    """[players, places] float32: Q of each action."""
    room = np.uint64(m.players * m.places) * np.uint64(40)
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES + room, (m.players, m.places), SINGLE)


@kernel(inline=True)
def scratch_of(memory, m):
    """[places] float32 and [places] uint32, scratch: the values and the weights of a choice."""
    room = np.uint64(memory.ctypes.data) + MEMORY_BYTES + np.uint64(m.players * m.places) * np.uint64(44)
    return array_at(room, (m.places,), SINGLE), array_at(room + (np.uint64(m.places) << U2), (m.places,), WEIGHT)


@kernel(SUGGEST)
def suggest(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """Returns a move chosen by its mean, or -1."""
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
        return np.int64(actions[best(values, listed, largest(values, listed), rng)])
    return np.int64(actions[gibbs(values, weights, listed, m.scale, rng)])


@kernel(LEARN)
def learn(sim, memory):
    """Adds a simulation to the means of the actions played, and sums up the weights."""
    m = fields(memory, MEMORY)
    moves, sums, means = trace(sim), sums_of(memory, m), means_of(memory, m)
    for i in range(np.uint64(sim.traced.length)):
        player, action = np.uint64(player_of_move(moves[i])), np.uint64(action_of_move(moves[i]))
        if player >= np.uint64(m.players):
            continue
        sums[player, action, U0] += 1.0
        sums[player, action, U1] += payoffs(sim)[player]
        means[player, action] = np.float32(sums[player, action, U1] / sums[player, action, U0])
    if not m.greedy:
        add_up_all(memory)
    return np.bool_(True)


@kernel(types.void(BYTES, types.float64))
def fade(memory, decay):
    """Multiplies counts and sums by `decay`, which leaves the means. With 0 every action counts as never played."""
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
    """Computes running weights and guides of all players from the means."""
    m = fields(memory, MEMORY)
    means, weights, running, guides = means_of(memory, m), scratch_of(memory, m)[1], running_of(memory, m), guides_of(memory, m)
    for player in range(np.uint64(m.players)):
        add_up(means[player], weights, running[player], guides[player], np.uint64(m.actions), m.scale)


@kernel()
def add_up(means, weights, running, guide, actions, scale):
    """Writes the running weights of one player, and the action at which each part of them begins."""
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

    prob: probability of asking the policy for a move, 0 to 1; choice: "gibbs" or "greedy"; tau: temperature of "gibbs", 0.001
    to 1000; epsilon: probability that "greedy" suggests nothing, 0 to 1; decay: factor of the statistics before the next
    search of a game, 0 to 1. The defaults are ours. Raises TypeError or ValueError for anything else.
    """

    prob: float = 1.0
    choice: str = "gibbs"
    tau: float = 0.1
    epsilon: float = 0.1
    decay: float = 0.5
    serves_chance = True
    suggest, learn = suggest, learn

    def __post_init__(self) -> None:
        probability("prob", self.prob)
        check_choice(self.choice, self.tau, self.epsilon)
        probability("decay", self.decay)

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns memory in which no action has been played."""
        places = padded(rules.actions)
        memory = np.zeros(MEMORY.itemsize + (44 * rules.players + 8) * places, np.uint8)
        m = fields(memory, MEMORY)
        m.players, m.actions, m.places = rules.players, rules.actions, places
        m.greedy, m.epsilon, m.scale = self.choice == "greedy", self.epsilon, scale_of(self.tau)
        self.begin(memory, goes_on=False)
        return memory

    def begin(self, memory: np.ndarray, goes_on: bool) -> None:
        """Multiplies the statistics by `decay`, or forgets them if another game begins."""
        decay = float(self.decay) if goes_on else 0.0
        if decay == 0:
            memory[MEMORY.itemsize :] = 0
        compiled(fade, fade.seam_signature)(memory, decay)
