"""A playout policy of one's own: in Hex, who is attacked at a bridge answers on its other cell.

Two stones are bridged where they have two empty neighbours in common: when the enemy takes one, the other joins them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ucd_envs.games.hex import CONFIG, STATE
from ucd_envs.kernels import kernel
from ucd_envs.rules import Rules
from ucd_envs.structs import fields
from ucd_planners.arena.match import Match, play_match
from ucd_planners.playouts import POLICIES
from ucd_planners.search.interface import LOW, moves_of
from ucd_planners.search.policies import SUGGEST, Policy

AROUND = np.array([[-1, 0], [-1, 1], [0, 1], [1, 0], [1, -1], [0, -1]])
"""The six neighbours of a cell, one after the other; every second one touches the one between."""


@kernel()
def has_stone(b, s, row, column):
    """Whether the mover has a stone there; player 1's stones are kept by columns."""
    if row < 0 or row >= b.rows or column < 0 or column >= b.columns:
        return False
    line, place = (row, column) if s.player == 0 else (column, row)
    return (s.stones[s.player, line] >> np.uint32(place)) & np.uint32(1) != 0


@kernel(SUGGEST)
def save_bridge(playout_actions, is_playable, config, state, w, count, memory, rng):
    """The other cell of a bridge that the last move attacks, or -1 to leave the move to chance."""
    b, s = fields(config, CONFIG), fields(state, STATE)
    last = moves_of(w)[count - 1] & LOW if count > 0 else np.int64(b.rows * b.columns)
    if last == b.rows * b.columns:  # the start, or a swap
        return np.int64(-1)
    row, column = last // b.columns, last % b.columns
    for i in range(6):
        one, two = AROUND[i], AROUND[(i + 2) % 6]
        if has_stone(b, s, row + one[0], column + one[1]) and has_stone(b, s, row + two[0], column + two[1]):
            other = AROUND[(i + 1) % 6]
            action = (row + other[0]) * b.columns + column + other[1]
            if is_playable(config, state, action):
                return np.int64(action)
    return np.int64(-1)


@dataclass(frozen=True)
class SaveBridge(Policy):
    """Answers attacks on bridges."""

    prob: float = 1.0

    @property
    def suggest(self) -> Any:
        """The other cell."""
        return save_bridge

    def memory(self, rules: Rules) -> np.ndarray:
        """Nothing to remember. Raises ValueError for another game."""
        if rules.name != "hex_v0":
            raise ValueError(f"SaveBridge knows Hex only, not {rules}")
        return np.zeros(8, np.uint8)


POLICIES["save_bridge"] = SaveBridge
found = play_match(Match("hex", "uct(policies=save_bridge)", "uct", {"size": 7}, {"playouts": 500}, games=60, seed=1))
print(f"with the policy UCT wins {found.tally().wins} of {found.tally().games} games against UCT without, at equal playouts")
