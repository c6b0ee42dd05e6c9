"""Games of OpenSpiel in the benchmark of third-party environments: the calls of a search, and OpenSpiel's MCTS in Python."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ucd_envs.foreign import SpielGame
from ucd_planners.benchmarks.speed import find_peer, rate

COPY = "clone"
CALLS = ("legal_actions", "current_player", "apply_action", "chance_outcomes", "returns", "__str__")
"""The calls of a search to a position, beside its copies."""
PLAYOUTS = 1000
"""Simulations a move of OpenSpiel's MCTS."""


def spiel_game(name: str) -> SpielGame:
    """Returns a game of OpenSpiel at its start. Raises ImportError without OpenSpiel."""
    return SpielGame(find_peer("openspiel").load_game(name))


class Noted:
    """A position in place of a pyspiel.State, which notes its calls and an action's number."""

    def __init__(self, state: Any, calls: list[tuple[str, Any]]) -> None:
        self._state, self._calls = state, calls
        for name in CALLS[:-1]:
            setattr(self, name, self._noting(name, getattr(state, name)))

    def clone(self) -> Noted:
        """Returns a copy, which notes its calls too."""
        self._calls.append((COPY, None))
        return Noted(self._state.clone(), self._calls)

    def __str__(self) -> str:
        self._calls.append(("__str__", None))
        return str(self._state)

    def _noting(self, name: str, function: Any) -> Any:
        def noted(*action: int) -> Any:
            self._calls.append((name, action[0] if action else None))
            return function(*action)

        return noted


@contextlib.contextmanager
def recorded(game: SpielGame) -> Iterator[list[tuple[str, Any]]]:
    """Records the calls that searches from the start of a game make to its positions."""
    calls: list[tuple[str, Any]] = []
    live: Any = game.rules.live
    start = live.start
    live.begin(Noted(start, calls))
    try:
        yield calls
    finally:
        live.begin(start)


def replay(game: SpielGame, calls: list[tuple[str, Any]]) -> None:
    """Makes the same calls again."""
    live: Any = game.rules.live
    start = state = live.start
    for name, action in calls:
        if name == COPY:
            state = start.clone()
        elif name == "current_player":
            state.current_player()
        elif name == "apply_action":
            state.apply_action(action)
        elif name == "legal_actions":
            state.legal_actions()
        elif name == "__str__":
            str(state)
        else:
            getattr(state, name)()


def python_mcts_rate(name: str) -> float:
    """Returns playouts a second of OpenSpiel's MCTSBot in Python at the start of a game."""
    game = find_peer("openspiel").load_game(name)
    mcts: Any = importlib.import_module("open_spiel.python.algorithms.mcts")
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    bot = mcts.MCTSBot(game, 1.0, PLAYOUTS, evaluator, random_state=np.random.RandomState(1))
    start = game.new_initial_state()

    def run() -> int:
        bot.step(start)
        return PLAYOUTS

    return rate(run)
