"""Searches that end as soon as their move is decided play the moves of those that do not."""

from __future__ import annotations

from typing import Any

import pytest

import ucd_envs
from ucd_envs.rules import State
from ucd_planners import Planner, catch_up, grave, rave, rave_ucd, stop_and_correct, ucd, uct, update_all

GAMES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("go", {"size": 4, "komi": 2}),
    ("hex", {"size": 4}),
    ("connect_four", {"columns": 5, "rows": 4}),
    ("tic_tac_toe", {}),
    ("leftright", {"steps": 20}),
)
PRESETS = (uct, ucd, update_all, stop_and_correct, catch_up, rave, rave_ucd, grave)
PLAYOUTS = 800


def positions(state: State, planner: Planner) -> list[State]:
    """The positions of a game that a planner plays alone."""
    found = []
    while not state.over:
        found.append(state)
        state = state.after(planner.search(state).action)
    return found


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(("game", "settings"), GAMES)
@pytest.mark.sweep(2)
def test_an_early_end_changes_no_move(game: str, settings: dict[str, Any], preset: Any) -> None:
    """At every position of a game; fewer playouts exactly where the search says that it was decided, and there are such."""
    decided = 0
    for seed, state in enumerate(positions(ucd_envs.make_rules(game, **settings).initial_state(), uct(playouts=100, seed=1))):
        whole = preset(playouts=PLAYOUTS, seed=seed).search(state)
        early = preset(playouts=PLAYOUTS, seed=seed, stop_early=True).search(state)
        assert early.action == whole.action
        assert (early.stopped == "decided") == (early.playouts < PLAYOUTS)
        decided += early.stopped == "decided"
    assert decided > 0


def test_an_early_end_comes_when_the_first_is_further_ahead_than_playouts_are_left() -> None:
    """And not before: among the looks, which are a 64th of the budget apart."""
    state = ucd_envs.make_rules("connect_four").initial_state()
    early = uct(playouts=6400, seed=3, stop_early=True).search(state)
    second, first = sorted(early.visits.tolist())[-2:]
    assert first - second > 6400 - early.playouts
    before = uct(playouts=early.playouts - 101, seed=3).search(state)
    second, first = sorted(before.visits.tolist())[-2:]
    assert first - second <= 6400 - before.playouts


def test_a_budget_of_seconds_that_comes_later_is_kept() -> None:
    """As an engine with a clock sets it."""
    planner = uct(playouts=100, seed=1, stop_early=True)
    planner.playouts, planner.seconds = None, 0.05
    result = planner.search(ucd_envs.make_rules("hex", size=5).initial_state())
    assert (result.stopped, result.seconds >= 0.05) == ("seconds", True)


def test_the_only_move_needs_no_search() -> None:
    """The last cell of a board: 256 playouts are one piece."""
    state = ucd_envs.make_rules("hex", rows=1, columns=1).initial_state()
    assert uct(playouts=100_000, seed=1, stop_early=True).search(state).playouts == 256


@pytest.mark.parametrize(
    "options", [{"seconds": 1.0}, {"playouts": 100, "workers": 2}, {"playouts": 100, "final_move": "mean"}]
)
def test_what_does_not_go_with_an_early_end_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r'\Astop_early goes with a budget in playouts, one worker and final_move="visits"\Z'):
        uct(stop_early=True, **options)


def test_early_is_on_or_off() -> None:
    with pytest.raises(TypeError, match="stop_early must be True or False, not 1"):
        uct(playouts=10, stop_early=1)
