"""Two playout policies in one file: `near` plays beside the last move in any board game, `bridges` saves bridges in Hex.

From the folder of this file: `ucd match --game hex --size 5 --a "uct(policies=write_a_policy:bridges)" --b uct --playouts 100`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ucd_envs.games.hex import CONFIG, STATE
from ucd_envs.kernels import action_of_move, kernel
from ucd_envs.rng import below
from ucd_envs.rules import Rules
from ucd_envs.structs import configuration, fields, record
from ucd_planners.arena.match import Match, play_match
from ucd_planners.search.interface import SUGGEST, PlayoutPolicy
from ucd_planners.search.sim import action_list, trace

BOARD = record(("rows", np.int64), ("columns", np.int64), ("each", np.int64))
"""Fields of the memory of `near`: sides of the board, and the number of actions for each cell."""
AROUND = np.array([[-1, 0], [-1, 1], [0, 1], [1, 0], [1, -1], [0, -1]])
"""The six neighbours of a cell, in circular order. Each touches the one before and the one after it."""


@kernel(SUGGEST)
def answer_near(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """Returns a random playable action at most one row and one column from the last move, or -1 where there is none."""
    m, actions, count = fields(memory, BOARD), action_list(sim), np.uint64(0)
    if sim.traced.length == 0:
        return np.int64(-1)
    last = action_of_move(trace(sim)[sim.traced.length - 1]) // m.each
    for i in range(playout_actions(config, state, actions)):
        cell = np.int64(actions[i]) // m.each
        if abs(cell // m.columns - last // m.columns) <= 1 and abs(cell % m.columns - last % m.columns) <= 1:
            actions[count] = actions[i]
            count += np.uint64(1)
    return np.int64(actions[below(rng, count)]) if count > 0 else np.int64(-1)


@kernel()
def has_stone(c, s, row, column):
    """Returns whether the mover has a stone on a cell. Player 1's stones are stored by columns."""
    if row < 0 or row >= c.rows or column < 0 or column >= c.columns:
        return False
    line, place = (row, column) if s.player == 0 else (column, row)
    return (s.stones[s.player, line] >> np.uint32(place)) & np.uint32(1) != 0


@kernel(SUGGEST)
def save_bridge(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """Returns the other cell of a bridge that the last move attacks, or -1 for a random move."""
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
    """Plays beside the last move; prob: probability that it is active for a move of a playout, 0 to 1."""

    prob: float = 0.5
    suggest = answer_near

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns the sides of the board. Raises ValueError for a game whose settings name none."""
        rows, columns = (rules.settings.get(name) for name in ("rows", "columns"))
        if rows is None or columns is None:
            raise ValueError(f"near knows boards of rows and columns, not {rules}")
        return configuration(BOARD, rows=rows, columns=columns, each=max(1, rules.actions // (rows * columns)))


@dataclass(frozen=True)
class Bridges(PlayoutPolicy):
    """Saves attacked bridges in Hex by the other cell; prob: probability that it is active, 0 to 1.

    Two stones form a bridge if they have two empty neighbours in common. When the opponent takes one of these cells, the
    other one still connects the stones.
    """

    prob: float = 1.0
    suggest = save_bridge

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns no memory. Raises ValueError for another game than Hex."""
        if rules.name != "hex_v0":
            raise ValueError(f"bridges knows Hex only, not {rules}")
        return np.zeros(0, np.uint8)


near, bridges = Near, Bridges
"""Names of the policies in texts of planners, such as uct(policies="write_a_policy:near(prob=0.5)")."""


if __name__ == "__main__":
    match = Match("hex", "uct(policies=write_a_policy:bridges)", "uct", {"size": 7}, {"playouts": 500}, games=60, seed=1)
    score = play_match(match).score()
    print(f"with the policy UCT wins {sum(score.payoffs):.0f} of {score.games} games against UCT without, at equal playouts")
