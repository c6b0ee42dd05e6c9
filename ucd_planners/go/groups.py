"""Groups of moves of Go by their distance from the last moves [Childs section 5; Saito et al. 2007].

Group 0 holds the points whose Manhattan distance from a stone of the last moves is small. Group 1 holds all legal moves, which
makes the groups overlap, or the others only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ucd_envs.games.go import CONFIG, STATE
from ucd_envs.interface import Grouping
from ucd_envs.kernels import GROUP_KEY, GROUPS, kernel
from ucd_envs.rules import Rules
from ucd_envs.settings import boolean, integer
from ucd_envs.structs import configuration, fields, record
from ucd_planners.go.patterns import apart, check_game

MEMORY = record(("distance", np.int64), ("moves", np.int64), ("disjoint", np.int64))
NEAR, OTHERS, BOTH = np.uint64(1), np.uint64(2), np.uint64(3)


@kernel(GROUPS)
def near_and_all(config, state, memory, action):
    """Returns the groups of a move: it is near, and it is one of all or one of the others."""
    c, s, m = fields(config, CONFIG), fields(state, STATE), fields(memory, MEMORY)
    cells = np.int64(c.rows * c.columns)
    near = False
    for i in range(m.moves if action < cells else 0):
        last = np.int64(s.last[i])
        if 0 <= last < cells:
            rows, columns = apart(action, last, np.int64(c.columns))
            near = near or rows + columns <= m.distance
    if m.disjoint != 0:
        return NEAR if near else OTHERS
    return BOTH if near else OTHERS


@kernel(GROUP_KEY)
def last_moves(config, state, memory, words):
    """Writes the last moves that count."""
    s, m = fields(state, STATE), fields(memory, MEMORY)
    words[0] = np.uint64(0)
    for i in range(m.moves):
        words[0] |= np.uint64(s.last[i] + 1) << np.uint64(16 * i)


@kernel(GROUP_KEY)
def moves_yet_to_count(config, state, memory, words):
    """Writes the last moves that will count after the next one."""
    s, m = fields(state, STATE), fields(memory, MEMORY)
    words[0] = np.uint64(0)
    for i in range(m.moves - 1):
        words[0] |= np.uint64(s.last[i] + 1) << np.uint64(16 * i)


@dataclass(frozen=True)
class Manhattan:
    """Groups of Go: the moves near the last ones, and all.

    distance: of a near point from the stone of one of the last moves, in steps along the lines, 1 to 36; moves: the last moves
    that count, 1 or 2; disjoint: whether the second group holds the other moves only. A pass is near to nothing. Raises
    TypeError or ValueError for anything else.
    """

    distance: int = 2
    moves: int = 2
    disjoint: bool = False

    def __post_init__(self) -> None:
        integer("distance", self.distance, 1, 36)
        integer("moves", self.moves, 1, 2)
        boolean("disjoint", self.disjoint)

    def of(self, rules: Rules) -> Grouping:
        """Returns the groups. Raises ValueError for another game than Go, whose states do not tell the last moves."""
        check_game("manhattan", rules)
        memory = configuration(MEMORY, distance=self.distance, moves=self.moves, disjoint=self.disjoint)
        name = f"manhattan(distance={self.distance},moves={self.moves},disjoint={str(self.disjoint).lower()})"
        whole = -1 if self.disjoint else 1
        return Grouping(name, 2, near_and_all, whole, memory.tobytes(), 1, last_moves, moves_yet_to_count)
