"""A playout policy in one file: in Hex, whoever is attacked at a bridge answers on its other cell.

Two stones are bridged where they have two empty neighbours in common: when the enemy takes one, the other joins them.

From the folder of this file: `ucd match --game hex --size 5 --a "uct(policies=write_a_policy:near)" --b uct --playouts 100`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ucd_envs.games.hex import CONFIG, STATE
from ucd_envs.kernels import action_of_move, kernel
from ucd_envs.rules import Rules
from ucd_envs.structs import fields
from ucd_planners.arena.match import Match, play_match
from ucd_planners.search.interface import SUGGEST, PlayoutPolicy
from ucd_planners.search.sim import trace

AROUND = np.array([[-1, 0], [-1, 1], [0, 1], [1, 0], [1, -1], [0, -1]])
"""The six neighbours of a cell, one after the other; every second one touches the one between."""


@kernel()
def has_stone(c, s, row, column):
    """Whether the mover has a stone on a cell; player 1's stones are kept by columns."""
    if row < 0 or row >= c.rows or column < 0 or column >= c.columns:
        return False
    line, place = (row, column) if s.player == 0 else (column, row)
    return (s.stones[s.player, line] >> np.uint32(place)) & np.uint32(1) != 0


@kernel(SUGGEST)
def save_bridge(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """Returns the other cell of a bridge that the last move attacks, or -1 to leave the move to chance."""
    c, s, length = fields(config, CONFIG), fields(state, STATE), sim.traced.length
    last = action_of_move(trace(sim)[length - 1]) if length > 0 else np.int64(c.rows * c.columns)
    if last == c.rows * c.columns:  # the start, or a swap
        return np.int64(-1)
    row, column = last // c.columns, last % c.columns
    for i in range(6):
        one, two = AROUND[i], AROUND[(i + 2) % 6]
        if has_stone(c, s, row + one[0], column + one[1]) and has_stone(c, s, row + two[0], column + two[1]):
            other = AROUND[(i + 1) % 6]
            action = (row + other[0]) * c.columns + column + other[1]
            if is_playable(config, state, action):
                return np.int64(action)
    return np.int64(-1)


@dataclass(frozen=True)
class Near(PlayoutPolicy):
    """Answers attacks on bridges; prob: how often it is asked for a move of a playout, 0 to 1."""

    prob: float = 1.0

    @property
    def suggest(self) -> Any:
        """The kernel that suggests moves."""
        return save_bridge

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns no memory. Raises ValueError for another game than Hex."""
        if rules.name != "hex_v0":
            raise ValueError(f"near knows Hex only, not {rules}")
        return np.zeros(0, np.uint8)


near = Near
"""The name in texts of planners, such as uct(policies="write_a_policy:near(prob=0.5)")."""


if __name__ == "__main__":
    match = Match("hex", "uct(policies=write_a_policy:near)", "uct", {"size": 7}, {"playouts": 500}, games=60, seed=1)
    score = play_match(match).score()
    print(f"with the policy UCT wins {sum(score.payoffs):.0f} of {score.games} games against UCT without, at equal playouts")
