"""What playouts are like: policies that suggest nothing and record what is played.

`Locality` counts the moves of playouts that are near the one before: at most NEAR lines and columns away in sum (Manhattan
distance), on a board whose first rows * columns actions are its cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ucd_envs.kernels import action_of_move, kernel
from ucd_envs.rules import Rules
from ucd_envs.structs import fields, record
from ucd_planners.search.interface import LEARN, PlayoutPolicy, suggest_nothing
from ucd_planners.search.sim import trace

NEAR = 3
"""[BHRF section 5]"""
LOCALITY = record(("rows", np.int64), ("columns", np.int64), ("moves", np.int64), ("near", np.int64), ("pairs", np.int64))
"""`moves`: of playouts; `near`: those near the one before, of the `pairs` of a move and one before that are both cells."""


@kernel(LEARN)
def compare(sim, memory):
    """Counts the moves of a playout, each with the one before, which may be the last of the descent."""
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

    @property
    def suggest(self) -> Any:
        """Nothing."""
        return suggest_nothing

    @property
    def learn(self) -> Any:
        """Counts a playout's moves."""
        return compare

    def memory(self, rules: Rules) -> np.ndarray:
        """Nothing is counted. Raises ValueError for a game whose actions are not cells first."""
        rows, columns, _ = rules.planes
        if rules.actions < rows * columns:
            raise ValueError(f"moves of {rules} have no distance: they are not the cells of its board")
        memory = np.zeros(LOCALITY.itemsize, np.uint8)
        counts = fields(memory, LOCALITY)
        counts.rows, counts.columns = rows, columns
        return memory

    def begin(self, memory: np.ndarray, goes_on: bool) -> None:
        """Nothing is counted."""
        counts = fields(memory, LOCALITY)
        counts.moves = counts.near = counts.pairs = 0
