"""Contextual Monte Carlo: playouts repeat pairs of moves that won [CMC sections 5 and 6].

A tile L(a1, a2) holds the simulations in which a player played a1 and later a2 in the playout, with any moves between them. Its
value V is the mean of the player's payoffs in them [CMC eq. 3-4]. With probability `prob`, a player whose last move was b plays
the move a with the largest U(V(L(b, a))); ties are broken at random.

    U(x) = x if x > B, else 0                          B = threshold                        [CMC eq. 5, Algorithm 1]

If no move has U > 0, the policy leaves the move to the next one. A pair played twice in a simulation counts twice. Tiles are
cleared before each search.

Three details are not the paper's but options. Each player has its own tiles, or both share one table, as Algorithm 1 has no
index of a player. A tile has pairs in the order in which they were played, or in any order. And b is a player's last move of
the simulation, or of its playout only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ucd_envs.kernels import HEADER, action_of_move, kernel, player_of_move
from ucd_envs.rules import Rules
from ucd_envs.settings import one_of
from ucd_envs.structs import array_at, fields, record
from ucd_planners.playouts.choosing import best, largest, padded
from ucd_planners.playouts.playable import OUT, update
from ucd_planners.search.interface import LEARN, SUGGEST, PlayoutPolicy, probability
from ucd_planners.search.sim import payoffs, trace

MEMORY = record(
    ("threshold", np.float32),
    *((name, np.int64) for name in ("players", "tables", "actions", "places", "max_plies", "any_order", "from_playout")),
    *((name, np.int64) for name in ("shrinking", "simulation")),
)
"""Header of the memory. `tables`: tables of tiles, one for each player or one for all; `places`: `actions` in whole rows of a
choice; `shrinking`, `simulation`: as in playable.py. Behind it lie the tiles, the playable actions, room for the values of a
choice, and room for the moves of one player."""
MEMORY_BYTES = np.uint64(MEMORY.itemsize)
SINGLE, MOVE, COUNT = np.dtype(np.float32), np.dtype(np.int32), np.dtype(np.int64)
MOST = np.float32(2**24)
"""Largest count of a tile. Beyond it single precision is not exact, so the tile no longer changes."""
ONE = np.float32(1)
CHOICES = {"tiles": ("own", "shared"), "pairs": ("later", "any"), "context": ("descent", "playout")}
U0, U1, U2, U3, U16 = (np.uint64(n) for n in (0, 1, 2, 3, 16))


@kernel(inline=True)
def tiles_of(memory, m):
    """[tables, actions, places, 2] float32: simulations and payoff sum, by player, earlier action and later action."""
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES, (m.tables, m.actions, m.places, 2), SINGLE)


@kernel(inline=True)
def table_of(m, player):
    """The table of a player's tiles."""
    return np.uint64(player) if m.tables > 1 else U0


@kernel(inline=True)
def playable_of(memory, m):
    """[players] int64 and [players, places] float32: the moves seen and the playable actions of each player."""
    start = np.uint64(memory.ctypes.data) + MEMORY_BYTES + (np.uint64(m.tables * m.actions * m.places) << U3)
    return array_at(start, (m.players,), COUNT), array_at(start + (np.uint64(m.players) << U3), (m.players, m.places), SINGLE)


@kernel(inline=True)
def values_of(memory, m):
    """[places] float32, scratch: the values of a choice."""
    before = (np.uint64(m.tables * m.actions * m.places + m.players) << U3) + (np.uint64(m.players * m.places) << U2)
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES + before, (m.places,), SINGLE)


@kernel(inline=True)
def own_of(memory, m):
    """[max_plies + 1] int32, scratch: the actions of one player in a playout."""
    before = (np.uint64(m.tables * m.actions * m.places + m.players) << U3) + (np.uint64((m.players + 1) * m.places) << U2)
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES + before, (m.max_plies + 1,), MOVE)


@kernel(SUGGEST)
def suggest(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """Returns the move with the best tile after the mover's last move, or -1 if no value is above the threshold."""
    m, moves, player = fields(memory, MEMORY), trace(sim), fields(state, HEADER).player
    first = np.int64(sim.leaf_depth) if m.from_playout else np.int64(0)
    place = sim.traced.length - 1
    while place >= first and player_of_move(moves[place]) != player:
        place -= 1
    if place < first:
        return np.int64(-1)
    seen, sets = playable_of(memory, m)
    update(playout_actions, config, state, graph, sim, m, seen, sets, np.uint64(player))
    row, playable = tiles_of(memory, m)[table_of(m, player), np.uint64(action_of_move(moves[place]))], sets[np.uint64(player)]
    values, places = values_of(memory, m), np.uint64(m.places)
    for i in range(places):
        values[i] = playable[i] * row[i, U1] / (row[i, U0] if row[i, U0] > ONE else ONE)
    while True:
        most = largest(values, places)
        if not most > m.threshold:
            return np.int64(-1)
        action = best(values, places, most, rng)
        if not m.shrinking or is_playable(config, state, np.int64(action)):
            return np.int64(action)
        playable[action] = values[action] = OUT


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
        own_tiles = tiles[table_of(m, player)]
        for i in range(found):
            action = np.uint64(own[i])
            for j in range(i + U1, found):
                later = np.uint64(own[j])
                add(own_tiles[action], later, paid)
                if m.any_order and later != action:
                    add(own_tiles[later], action, paid)
    return np.bool_(True)


@kernel(inline=True)
def add(row, action, paid):
    """Adds a simulation to a tile."""
    if row[action, U0] < MOST:
        row[action, U0] += ONE
        row[action, U1] += paid


@dataclass(frozen=True)
class CMC(PlayoutPolicy):
    """Contextual Monte Carlo.

    prob: probability of asking the policy for a move, 0 to 1; threshold: B, the value that a move must exceed, 0 to 1; tiles:
    "own" for tiles of each player or "shared" for one table; pairs: moves a1 and "later" a2, or in "any" order; context: b is
    the player's last move also of the "descent", or of the "playout" only. The first two defaults are the best point of
    [CMC Figure 3]. Raises TypeError or ValueError for anything else.
    """

    prob: float = 0.35
    threshold: float = 0.0
    tiles: str = "own"
    pairs: str = "later"
    context: str = "descent"
    serves_chance = True
    suggest, learn = suggest, learn

    def __post_init__(self) -> None:
        probability("prob", self.prob)
        probability("threshold", self.threshold)
        for name, choices in CHOICES.items():
            one_of(name, getattr(self, name), choices)

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns memory with empty tiles."""
        players, places, tables = rules.players, padded(rules.actions), rules.players if self.tiles == "own" else 1
        numbers = 2 * (tables * rules.actions * places + players) + (players + 1) * places + rules.max_plies + 1
        memory = np.zeros(MEMORY.itemsize + 4 * numbers, np.uint8)
        m = fields(memory, MEMORY)
        m.threshold, m.players, m.tables, m.actions, m.max_plies = (
            self.threshold,
            players,
            tables,
            rules.actions,
            rules.max_plies,
        )
        m.any_order, m.from_playout = self.pairs == "any", self.context == "playout"
        m.places, m.shrinking, m.simulation = places, rules.shrinking, -1
        return memory

    def begin(self, memory: np.ndarray, goes_on: bool) -> None:
        """Forgets all tiles."""
        fields(memory, MEMORY).simulation = -1
        memory[MEMORY.itemsize :] = 0
