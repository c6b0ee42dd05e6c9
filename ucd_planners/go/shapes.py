"""Records of Go playouts: a policy that suggests nothing and counts moves that match a pattern of the expert."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ucd_envs.boards.chains import EMPTY, POINTS
from ucd_envs.games.go import CONFIG, STATE
from ucd_envs.kernels import action_of_move, kernel
from ucd_envs.rules import Rules
from ucd_envs.structs import array_at, fields, record
from ucd_planners.go import patterns
from ucd_planners.go.patterns import CODES, apart, check_game, code, is_set
from ucd_planners.search.interface import LEARN, SUGGEST, PlayoutPolicy
from ucd_planners.search.sim import trace

SHAPES = record(
    ("matched", np.int64),
    ("answers", np.int64),
    ("moves", np.int64),
    ("cells", np.int64),
    ("columns", np.int64),
    ("shapes", np.uint8, (CODES // 8,)),
    ("max_plies", np.int64),
)
"""`moves` of playouts, those `matched` by a pattern, and `answers`, the matched ones around the move before; the board; the
table of patterns. Behind it lie the middles: [max_plies + 1, POINTS] uint8."""
SHAPES_BYTES = np.uint64(SHAPES.itemsize)
BYTE = np.dtype(np.uint8)


@kernel(inline=True)
def middles_of(memory, m):
    """[max_plies + 1, POINTS] uint8: for each move, the points that were the middle of a pattern for its mover."""
    return array_at(np.uint64(memory.ctypes.data) + SHAPES_BYTES, (m.max_plies + 1, POINTS), BYTE)


@kernel(SUGGEST)
def look(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """Notes the empty points that are the middle of a pattern now; suggests nothing."""
    length = sim.traced.length
    b, s, m = fields(config, CONFIG), fields(state, STATE), fields(memory, SHAPES)
    row = middles_of(memory, m)[np.uint64(length)]
    for action in range(b.rows * b.columns):
        p = np.uint64(b.point[action])
        row[action] = s.colour[p] == EMPTY and is_set(m.shapes, code(s, p, s.player))
    return np.int64(-1)


@kernel(LEARN)
def compare(sim, memory):
    """Counts the moves of a playout. A pass matches no pattern and has no points around it."""
    m, moves = fields(memory, SHAPES), trace(sim)
    rows = middles_of(memory, m)
    for i in range(sim.leaf_depth, sim.traced.length):
        action = action_of_move(moves[i])
        m.moves += 1
        m.matched += rows[i, action]
        if i > 0 and rows[i, action]:
            before = action_of_move(moves[i - 1])
            m.answers += max(apart(action, before, m.columns)) == 1 and before < m.cells
    return np.bool_(True)


@dataclass(frozen=True)
class GoShapes(PlayoutPolicy):
    """Counts the moves of playouts that match a pattern of the expert."""

    prob = 1.0
    suggest, learn = look, compare

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns memory with all counts at 0. Raises ValueError for another game than Go."""
        check_game("go_shapes", rules)
        memory = np.zeros(SHAPES.itemsize + (rules.max_plies + 1) * POINTS, np.uint8)
        m = fields(memory, SHAPES)
        m.shapes, m.max_plies = patterns.table(), rules.max_plies
        rows, m.columns, _ = rules.planes
        m.cells = rows * m.columns
        return memory

    def begin(self, memory: np.ndarray, goes_on: bool) -> None:
        """Sets all counts to 0."""
        m = fields(memory, SHAPES)
        m.matched = m.answers = m.moves = 0
