"""Three small games in which a tree search breaks when it is run on a graph, with the moves that each planner chooses.

The games are dictionaries, played by an environment with the three hooks that planners need. The page "Search in graphs" of
the documentation explains them, with pictures made by draw_games.py.
"""

from typing import Any

import numpy as np
from gymnasium.spaces import Discrete

import ucd_planners

REFUTED = {"root": (0, ["l", "r"]), "l": (1, [0.0, "s"]), "r": (1, ["s"]), "s": (0, [1.0])}
UNEXPLORED = {"root": (0, ["l", "r"]), "l": (0, ["g", "s"]), "r": (0, ["s"]), "s": (0, [0.5]), "g": (0, [1.0, *[0.0] * 7])}
STALE = {
    "root": (0, ["p", "q", 0.3]),
    "p": (1, ["v", 0.6]),
    "q": (1, ["v"]),
    "v": (1, ["x", 1.0, 1.0, 1.0]),
    "x": (1, [0.0, *[1.0] * 7]),
}
"""Positions by name: the mover, then the moves. A move is the name of a position or, at the end, the payoff of player_0.
Player_1 gets the rest of 1."""


class Listed:
    """A PettingZoo AEC environment of one of the games, with clone_state, restore_state and clone."""

    possible_agents = ("player_0", "player_1")

    def __init__(self, positions: dict[str, Any]) -> None:
        self.positions = positions
        self.agents = self.possible_agents
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.restore_state("root")

    def clone_state(self) -> str | float:
        """Returns the name of the position, or the payoff of player_0 at the end."""
        return self.place

    def restore_state(self, state: str | float) -> None:
        """Sets the game to a position."""
        self.place = state
        over = not isinstance(state, str)
        self.terminations = self.truncations = dict.fromkeys(self.agents, over)
        gain = 2 * state - 1 if over else 0
        self.rewards = dict(zip(self.agents, (gain, -gain), strict=True))
        self.agent_selection = self.agents[0 if over else self.positions[state][0]]

    def clone(self) -> "Listed":
        """Returns another environment at the same position."""
        other = Listed(self.positions)
        other.restore_state(self.place)
        return other

    def step(self, action: int) -> None:
        """Plays a move."""
        self.restore_state(self.positions[self.place][1][action])

    def action_space(self, agent: str) -> Discrete:
        """Returns the action space. Its size is the largest number of moves in any position."""
        return Discrete(max(len(moves) for _, moves in self.positions.values()))

    def observe(self, agent: str) -> dict[str, Any]:
        """Returns the mask of legal moves."""
        moves = len(self.positions[self.place][1])
        return {"action_mask": (np.arange(self.action_space(agent).n) < moves).astype(np.int8)}


def show(title: str, game: dict[str, Any], planners: list[str], c: float, playouts: int, seeds: int) -> None:
    """Prints each planner's mean value of the root's first move over several seeds, and how often it chose each move."""
    print(f"{title} ({playouts:,} playouts, c = {c})")
    for name in planners:
        planner = ucd_planners.PRESETS[name](c=c, playouts=playouts, seed=1)
        results = [planner.search(game_env) for game_env in [Listed(game)] * seeds]
        value = np.mean([result.values[0] for result in results])
        chosen = [sum(result.action == action for result in results) for action in results[0].actions]
        print(f"  {name:<10}  value of move 0: {value:.3f}  chosen: {' '.join(map(str, chosen))} of {seeds}")


if __name__ == "__main__":
    names = ["uct", "update_all", "uct1", "simple_way", "uct3"]
    show("refuted: move 0 loses, move 1 wins", REFUTED, names, 1.0, 2000, 20)
    show("unexplored: move 0 wins, move 1 draws", UNEXPLORED, names, 1.0, 2000, 20)
    show("stale: move 2 is best", STALE, ["uct", "update_all", "uct1", "uct2", "simple_way", "uct3"], 0.2, 500, 50)
