"""Games of chance with exact values: positions in them, searches there, and how near a search must come."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from exact_values import Model, action_values, best_actions, blackjack, hand, table, taxi
from exploration import losses, noise
from model_games import bets, naming, played

from ucd_envs.foreign import SingleGame
from ucd_planners import PRESETS, Planner, SearchResult, ucd, uct

FACTOR = 3
"""How often the estimate of exploration.py fits into the loss that is accepted."""
SELECTIONS: dict[str, Callable[..., Planner]] = {
    "uct": uct,
    "ucd(1,0,1)": lambda **options: ucd(1, 0, 1, **options),
    "ucd(inf,0,1)": lambda **options: ucd(math.inf, 0, 1, **options),
    "ucd(0,1,2)": lambda **options: ucd(0, 1, 2, **options),
}
SERVING = [name for name, make in PRESETS.items() if getattr(make().selection, "serves_chance", False)]
"""Presets that serve games with chance."""


class Case(NamedTuple):
    """A game with its model, a position in it, and the settings of a search there."""

    env: Any
    model: Model
    start: Hashable
    plies: int
    c: float
    position: Callable[[Any], Hashable]
    payoff_range: tuple[float, float] = (0.0, 1.0)
    discount: float = 1.0
    options: dict[str, Any] = {}  # noqa: RUF012

    def game(self, named: bool = True, **options: Any) -> SingleGame:
        """The game for planners, with or without its position by name."""
        if named:
            options["position"] = self.position
        settings = {"payoff_range": self.payoff_range, "discount": self.discount, "max_plies": self.plies}
        return SingleGame(self.env, **{**settings, **self.options, **options})

    @property
    def values(self) -> dict[int, float]:
        """The exact values of the actions."""
        return action_values(self.model, self.start, self.plies, self.discount, self.payoff_range)


def standing(env: Any, state: int) -> Any:
    """An environment with a table, put into a state."""
    env.reset(seed=0)
    env.unwrapped.s = state
    return env


def lake(state: int, c: float = 0.5, **options: Any) -> Case:
    """The slippery lake, from a state of it."""
    size = options.pop("size", "4x4")
    env = standing(gymnasium.make("FrozenLake-v1", map_name=size), state)
    return Case(env, table(env), state, c=c, position=lambda env: int(env.s), options={"constant": ("P",)}, **options)


def rainy_taxi(row: int, column: int) -> Case:
    """A taxi with its passenger near the second landmark, where the trip ends; legal is what its mask allows."""
    env = taxi(is_rainy=True)
    start = env.unwrapped.encode(row, column, 4, 1)

    def legal(env: Any) -> list[int]:
        return np.flatnonzero(env.action_mask(env.s)).tolist()

    model = table(env, lambda state: np.flatnonzero(env.unwrapped.action_mask(state)).tolist())
    options = {"constant": ("P",), "legal_actions": legal}
    return Case(standing(env, start), model, start, 5, 0.5, lambda env: int(env.s), (-5, 20), options=options)


def cards(player: list[int], dealer: int) -> Case:
    """Blackjack whose search knows only the dealer's first card; the rest of his hand comes when the player sticks."""
    env: Any = gymnasium.make("Blackjack-v1").unwrapped
    env.reset(seed=0)
    env.player, env.dealer = player, [dealer, 10]

    def restore(env: Any, state: tuple[tuple[int, ...], int]) -> None:
        env.player, env.dealer = list(state[0]), [state[1]]

    options = {"clone_state": lambda env: (tuple(env.player), env.dealer[0]), "restore_state": restore}
    state = hand(player), hand([dealer])
    return Case(env, blackjack, state, 22, 0.5, lambda env: (hand(env.player), env.dealer[0]), (-1, 1), options=options)


def model_game(model: Model, start: tuple[int, int], c: float, most: float = 1.0) -> Case:
    """A game of model_games.py to its end."""
    env = played(model, start)
    return Case(env, model, start, start[1], c, lambda env: env.state, (0, most), options={"constant": ("model",)})


CASES: dict[str, Callable[[], Case]] = {
    "lake": lambda: lake(62, plies=5, size="8x8"),
    "lake with a discount": lambda: lake(13, c=0.7, plies=6, discount=0.9),
    "taxi": lambda: rainy_taxi(0, 2),
    "blackjack": lambda: cards([5, 3], 7),
    "blackjack with aces": lambda: cards([1, 1], 7),
    "bets": lambda: model_game(bets, (2, 3), 0.2, most=18),
    "naming": lambda: model_game(naming, (2, 3), 0.2, most=3),
}


def value_of(result: SearchResult, action: int) -> float:
    """The value of an action of the root."""
    return float(result.values[list(result.actions).index(action)])


def visits_of(result: SearchResult, action: int) -> int:
    """The playouts of an action of the root."""
    return int(result.visits[list(result.actions).index(action)])


def assert_near(case: Case, result: SearchResult) -> None:
    """Holds the root and its best action against their values.

    Means exceed values by noise alone, and fall below them by noise and exploration.
    """
    values = case.values
    best = min(best_actions(values))
    root_loss, loss = losses(
        case.model, case.start, case.plies, result.playouts, case.c, case.discount, case.payoff_range[1] - case.payoff_range[0]
    )
    assert list(result.actions) == sorted(values)
    assert -FACTOR * root_loss - noise(result.playouts) < result.value - values[best] < noise(result.playouts)
    assert value_of(result, best) - values[best] < noise(visits_of(result, best))
    assert value_of(result, best) - values[best] > -FACTOR * loss - noise(visits_of(result, best))


@functools.cache
def searched(name: str, named: bool, selection: str, playouts: int) -> tuple[Case, SearchResult]:
    """A case and what a search finds in it."""
    case = CASES[name]()
    return case, SELECTIONS[selection](c=case.c, playouts=playouts, seed=1).search(case.game(named))
