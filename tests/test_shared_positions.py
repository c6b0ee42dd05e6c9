"""The experiment that sets rules for shared positions side by side."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from ucd_planners.arena.store import Store
from ucd_planners.experiments import experiment_named, shared_positions
from ucd_planners.experiments.experiment import reproduce
from ucd_planners.notation import planner_from
from ucd_planners.selection.catch_up import CatchUp
from ucd_planners.selection.stop_and_correct import StopAndCorrect
from ucd_planners.selection.ucd import UCD

CHOSEN = experiment_named("shared-positions")
RULES: dict[str, Any] = {
    "uct": lambda c: UCD(c=c, table=False),
    "uct1": lambda c: UCD(0, 0, 0, c),
    "uct2": lambda c: UCD(1, 0, 0, c),
    "stop_and_correct": lambda c: StopAndCorrect(0.01, c),
    "catch_up": CatchUp,
    "ucd(1,0,1)": lambda c: UCD(1, 0, 1, c),
    "ucd(0,1,2)": lambda c: UCD(0, 1, 2, c),
    "ucd(inf,0,1)": lambda c: UCD(math.inf, 0, 1, c),
}


def test_every_rule_has_the_constant_of_its_game_and_of_its_opponent() -> None:
    """Seven rules in four games of two players, and with UCT eight in LeftRight, each under two budgets."""
    settings = CHOSEN.settings(400, 0)
    assert len(settings) == 2 * (8 + 4 * 7)
    for setting in settings:
        alone = setting.labels["game"] == "LeftRight"
        c = 0.3 if alone or setting.labels["game"] == "Hex 5x5" else 0.4
        assert planner_from(str(setting.match.a), playouts=1).selection == RULES[setting.labels["planner"]](c)
        assert setting.match.games == (200 if alone else 400)
        if alone:
            assert setting.match.b is None
        else:
            assert planner_from(str(setting.match.b), playouts=1).selection == RULES["uct"](c)


def test_budgets_are_equal_within_a_game() -> None:
    for name in shared_positions.FIELDS:
        limits = {
            (setting.labels["budget"], *setting.match.budget.items())
            for setting in CHOSEN.settings(2, 0)
            if setting.labels["game"] == name
        }
        alone = name == "LeftRight"
        playouts, seconds = (100, 0.001) if alone else (1000, 0.01)
        assert limits == {("playouts", ("playouts", playouts)), ("seconds", ("seconds", seconds))}


def test_a_game_of_one_player_and_one_of_two_are_measured_in_one_table(tmp_path: Path) -> None:
    """Ten steps instead of 300; Hex and Connect 4 with 20 playouts."""
    few = [setting for setting in CHOSEN.settings(4, 1) if setting.labels["budget"] == "playouts"]
    few = [setting for setting in few if setting.labels["planner"] in ("uct", "catch_up", "stop_and_correct")][:7]
    short = [
        replace(
            setting,
            match=replace(
                setting.match,
                settings={"steps": 10} if setting.match.b is None else setting.match.settings,
                budget={"playouts": 20},
            ),
        )
        for setting in few
    ]
    with Store(tmp_path / "shared.sqlite") as store:
        everything = CHOSEN.settings(2, 1)
        report = reproduce(
            replace(
                CHOSEN,
                draw=lambda rows: CHOSEN.draw([dict(each.labels, percent=50.0, standard_error=1.0) for each in everything]),
            ),
            short,
            store,
        )
    assert [(row["game"], row["games"]) for row in report.rows] == [
        *[("LeftRight", 2)] * 3,
        *[("Hex 5x5", 4)] * 2,
        *[("Connect 4", 4)] * 2,
    ]
    assert [row["distinct_games"] is None for row in report.rows] == [True] * 3 + [False] * 4
    assert all(row["percent"] == row["mean_payoff"] for row in report.rows[:3])
    assert report.missing == 0
