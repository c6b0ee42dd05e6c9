"""PoolRAVE: playouts prefer the best actions by RAVE near their leaf [Rimmel, Teytaud and Teytaud 2010].

At the start of a playout each player gets a pool: the `size` actions with n~ > 0 that have the largest w~ / n~
(selection/rave.py). The values are those of the last position of the descent with `least` playouts or more. Among equals the
lower action goes first. With probability `prob` a playout's move is drawn uniformly from the playable moves of the mover's
pool. If the pool has none, the move is left to the next policy.

The values lie in the search graph, where the selection must keep them. The policy itself learns nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ucd_envs.kernels import HEADER, kernel
from ucd_envs.rng import below
from ucd_envs.rules import Rules
from ucd_envs.settings import integer
from ucd_envs.structs import array_at, fields, record
from ucd_planners.search.graph import node_action_stats, node_stats
from ucd_planners.search.interface import LEARN, SUGGEST, PlayoutPolicy, Selection, probability
from ucd_planners.search.sim import path

MEMORY = record(
    ("players", np.int64),
    ("actions", np.int64),
    ("room", np.int64),
    ("least", np.int64),
    ("ready", np.int64),
)
"""Header of the memory. `room`: most actions in a pool; `ready`: whether the pools are those of this playout. Behind it lie the
pools, their sizes, and room for the values of one pool."""
MEMORY_BYTES = np.uint64(MEMORY.itemsize)
SINGLE, INDEX = np.dtype(np.float32), np.dtype(np.int32)
VISITS = 1
"""Column of node_stats with the playouts through a node."""
U0, U1, U2 = (np.uint64(n) for n in range(3))


@kernel(inline=True)
def pools_of(memory, m):
    """[players, room] int32: the actions of each pool, best first until a draw reorders them."""
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES, (m.players, m.room), INDEX)


@kernel(inline=True)
def counts_of(memory, m):
    """[players] int32: the number of actions in each pool."""
    room = np.uint64(m.players * m.room) << U2
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES + room, (m.players,), INDEX)


@kernel(inline=True)
def values_of(memory, m):
    """[room] float32, scratch: the values of a pool."""
    room = np.uint64(m.players * m.room + m.players) << U2
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES + room, (m.room,), SINGLE)


@kernel(SUGGEST)
def suggest(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """Returns a random playable move of the mover's pool, or -1."""
    m = fields(memory, MEMORY)
    if not m.ready:
        fill(graph, sim, memory, m)
        m.ready = 1
    player = np.uint64(fields(state, HEADER).player)
    pool, left = pools_of(memory, m)[player], np.uint64(counts_of(memory, m)[player])
    while left > U0:
        place = below(rng, left)
        action = np.int64(pool[place])
        if is_playable(config, state, action):
            return action
        left -= U1
        pool[place] = pool[left]
        pool[left] = action
    return np.int64(-1)


@kernel()
def fill(graph, sim, memory, m):
    """Fills the pools from the last well-known position of the descent."""
    counts = counts_of(memory, m)
    node = last_known(graph, sim, m.least)
    for player in range(np.uint64(m.players)):
        counts[player] = 0
        if node >= 0:
            row = np.uint64(m.actions) * player
            played = node_action_stats(graph, np.uint64(node))[row : row + np.uint64(m.actions)]
            counts[player] = take(played, pools_of(memory, m)[player], values_of(memory, m))


@kernel()
def last_known(graph, sim, least):
    """Returns the last node of the descent with at least `least` playouts, or -1."""
    trail = path(sim)
    depth = sim.leaf_depth - 1
    while depth >= 0 and node_stats(graph)[np.uint64(trail[0, depth]), VISITS] < least:
        depth -= 1
    return np.int64(trail[0, depth]) if depth >= 0 else np.int64(-1)


@kernel()
def take(played, pool, values):
    """Fills a pool with the actions of the largest means, best first; returns their number."""
    found, room = U0, np.uint64(pool.size)
    for action in range(np.uint64(played.shape[0])):
        if played[action, U0] == 0:
            continue
        value = played[action, U1] / played[action, U0]
        if found == room and not value > values[room - U1]:
            continue
        place = found if found < room else room - U1
        while place > U0 and value > values[place - U1]:
            values[place], pool[place] = values[place - U1], pool[place - U1]
            place -= U1
        values[place], pool[place] = value, action
        found = min(found + U1, room)
    return np.int32(found)


@kernel(LEARN)
def learn(sim, memory):
    """Marks the pools as outdated."""
    fields(memory, MEMORY).ready = 0
    return np.bool_(True)


@dataclass(frozen=True)
class PoolRAVE(PlayoutPolicy):
    """Pool-RAVE: playouts with the best moves by RAVE.

    prob: probability of asking the policy for a move, 0 to 1; size: actions in a pool, 1 to 65535; least: playouts that a
    position needs for its values to be used, 1 to 2**31 - 1. Raises TypeError or ValueError for anything else.
    """

    prob: float = 0.5
    size: int = 10
    least: int = 50
    suggest, learn = suggest, learn

    def __post_init__(self) -> None:
        probability("prob", self.prob)
        integer("size", self.size, 1, 2**16 - 1)
        integer("least", self.least, 1, 2**31 - 1)

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns memory with empty pools."""
        size = min(self.size, rules.actions)
        memory = np.zeros(MEMORY.itemsize + 4 * (rules.players * (size + 1) + size), np.uint8)
        m = fields(memory, MEMORY)
        m.players, m.actions, m.room, m.least = rules.players, rules.actions, size, self.least
        return memory

    def begin(self, memory: np.ndarray, goes_on: bool) -> None:
        """Marks the pools as outdated."""
        fields(memory, MEMORY).ready = 0


def check_pools(policies: Iterable[PlayoutPolicy], selection: Selection) -> None:
    """Raises ValueError for a PoolRAVE with a selection that keeps no RAVE values."""
    if any(isinstance(policy, PoolRAVE) for policy in policies) and not selection.layout(1, 1).node_action_stats:
        raise ValueError(f"PoolRAVE needs a selection that keeps RAVE values, such as RAVE(), not {selection}")
