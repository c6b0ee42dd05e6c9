"""Records of playouts: policies that suggest nothing and count moves.

`Locality` counts the moves of playouts near the move before: at a Manhattan distance of at most NEAR. The first rows * columns
actions of the game must be the cells of its board.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ucd_envs.kernels import action_of_move, kernel
from ucd_envs.rules import Rules
from ucd_envs.structs import fields, record
from ucd_planners.search.interface import LEARN, PlayoutPolicy, suggest_nothing
from ucd_planners.search.sim import trace

NEAR = 3
"""Largest distance of a near move [BHRF section 4]."""
LOCALITY = record(("rows", np.int64), ("columns", np.int64), ("moves", np.int64), ("near", np.int64), ("pairs", np.int64))
"""`moves`: moves of playouts; `pairs`: those that are cells after a cell; `near`: those of the pairs that are near."""


@kernel(LEARN)
def compare(sim, memory):
    """Counts the moves of a playout, each with the move before. That of the first may be in the descent."""
    m, moves = fields(memory, LOCALITY), trace(sim)
    m.moves += sim.traced.length - sim.leaf_depth
    for i in range(max(sim.leaf_depth, 1), sim.traced.length):
        before, action = action_of_move(moves[i - 1]), action_of_move(moves[i])
        if max(before, action) < m.rows * m.columns:
            m.pairs += 1
            lines, columns = action // m.columns - before // m.columns, action % m.columns - before % m.columns
            m.near += abs(lines) + abs(columns) <= NEAR
    return np.bool_(True)


@dataclass(frozen=True)
class Locality(PlayoutPolicy):
    """Records how local playouts are."""

    prob = 1.0
    suggest, learn = suggest_nothing, compare

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns memory with all counts at 0. Raises ValueError for a game whose first actions are not cells."""
        rows, columns, _ = rules.planes
        if rules.actions < rows * columns:
            raise ValueError(f"moves of {rules} have no distance: they are not the cells of its board")
        memory = np.zeros(LOCALITY.itemsize, np.uint8)
        counts = fields(memory, LOCALITY)
        counts.rows, counts.columns = rows, columns
        return memory

    def begin(self, memory: np.ndarray, goes_on: bool) -> None:
        """Sets all counts to 0."""
        counts = fields(memory, LOCALITY)
        counts.moves = counts.near = counts.pairs = 0
