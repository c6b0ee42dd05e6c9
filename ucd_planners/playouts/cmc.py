"""Contextual Monte Carlo: playouts repeat pairs of moves that won [CMC sections 5 and 6].

A tile L(a1, a2) holds the simulations in which a player played a1 and later a2 in the playout, with any moves between them. Its
value V is the mean of the player's payoffs in them [CMC eq. 3-4]. With probability `prob`, a player whose last move was b plays
the move a with the largest U(V(L(b, a))); ties are broken at random.

    U(x) = x if x > B, else 0                          B = threshold                        [CMC eq. 5, Algorithm 1]

If no move has U > 0, the policy leaves the move to the next one. A pair played twice in a simulation counts twice. Tiles are
cleared before each search.

Three choices are ours, not the paper's: the order of the two moves of a tile counts; each player has its own tiles; and b is
taken from the descent for a player's first move in a playout.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ucd_envs.kernels import HEADER, action_of_move, kernel, player_of_move
from ucd_envs.rules import Rules
from ucd_envs.structs import array_at, fields, record
from ucd_planners.playouts.choosing import best, largest
from ucd_planners.search.interface import LEARN, SUGGEST, PlayoutPolicy, probability
from ucd_planners.search.sim import action_list, payoffs, trace

MEMORY = record(("threshold", np.float32), ("players", np.int64), ("actions", np.int64), ("max_plies", np.int64))
"""Header of the memory. Behind it lie the tiles, room for the moves of one player, and room for the values of a choice."""
MEMORY_BYTES = np.uint64(MEMORY.itemsize)
SINGLE, MOVE = np.dtype(np.float32), np.dtype(np.int32)
MOST = np.float32(2**24)
"""Largest count of a tile. Beyond it single precision is not exact, so the tile no longer changes."""
ONE = np.float32(1)
U0, U1, U2, U3, U16 = (np.uint64(n) for n in (0, 1, 2, 3, 16))


@kernel(inline=True)
def tiles_of(memory, m):
    """[players, actions, actions, 2] float32: simulations and payoff sum, by player, earlier action and later action."""
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES, (m.players, m.actions, m.actions, 2), SINGLE)


@kernel(inline=True)
def own_of(memory, m):
    """[max_plies + 1] int32, scratch: the actions of one player in a playout."""
    tiles = np.uint64(m.players * m.actions * m.actions) << U3
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES + tiles, (m.max_plies + 1,), MOVE)


@kernel(inline=True)
def values_of(memory, m):
    """[actions] float32, scratch: the values of a choice."""
    room = (np.uint64(m.players * m.actions * m.actions) << U3) + (np.uint64(m.max_plies + 1) << U2)
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES + room, (m.actions,), SINGLE)


@kernel(SUGGEST)
def suggest(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """Returns the move with the best tile after the mover's last move, or -1 if no value is above the threshold."""
    length = sim.traced.length
    m = fields(memory, MEMORY)
    moves, actions, player = trace(sim), action_list(sim), fields(state, HEADER).player
    place = length - 1
    while place >= 0 and player_of_move(moves[place]) != player:
        place -= 1
    if place < 0:
        return np.int64(-1)
    listed = np.uint64(playout_actions(config, state, actions))
    row, values = tiles_of(memory, m)[np.uint64(player), np.uint64(action_of_move(moves[place]))], values_of(memory, m)
    for i in range(listed):
        action = np.uint64(actions[i])
        values[i] = row[action, U1] / max(row[action, U0], ONE)
    most = largest(values, listed)
    if not most > m.threshold:
        return np.int64(-1)
    return np.int64(actions[best(values, listed, most, rng)])


@kernel(LEARN)
def learn(sim, memory):
    """Adds a simulation to the tiles of all pairs of moves that one player made in the playout."""
    m = fields(memory, MEMORY)
    tiles, own, moves = tiles_of(memory, m), own_of(memory, m), trace(sim)
    for player in range(np.uint64(m.players)):
        paid, found = np.float32(payoffs(sim)[player]), U0
        for i in range(np.uint64(sim.leaf_depth), np.uint64(sim.traced.length)):
            own[found] = action_of_move(moves[i])
            found += np.uint64(np.uint64(moves[i]) >> U16 == player)
        for i in range(found):
            row = tiles[player, np.uint64(own[i])]
            for j in range(i + U1, found):
                action = np.uint64(own[j])
                if row[action, U0] < MOST:
                    row[action, U0] += ONE
                    row[action, U1] += paid
    return np.bool_(True)


@dataclass(frozen=True)
class CMC(PlayoutPolicy):
    """Contextual Monte Carlo.

    prob: probability of asking the policy for a move, 0 to 1; threshold: B, the value that a move must exceed, 0 to 1. The
    defaults are the best point of [CMC Figure 3]. Raises TypeError or ValueError for anything else.
    """

    prob: float = 0.35
    threshold: float = 0.0
    serves_chance = True
    suggest, learn = suggest, learn

    def __post_init__(self) -> None:
        probability("prob", self.prob)
        probability("threshold", self.threshold)

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns memory with empty tiles."""
        tiles = rules.players * rules.actions**2
        memory = np.zeros(MEMORY.itemsize + 8 * tiles + 4 * (rules.max_plies + 1 + rules.actions), np.uint8)
        m = fields(memory, MEMORY)
        m.threshold, m.players, m.actions, m.max_plies = self.threshold, rules.players, rules.actions, rules.max_plies
        return memory

    def begin(self, memory: np.ndarray, goes_on: bool) -> None:
        """Forgets all tiles."""
        memory[MEMORY.itemsize :] = 0
