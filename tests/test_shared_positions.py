"""The experiment that sets rules for shared positions side by side."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ucd_planners import cli
from ucd_planners.arena.match import Match
from ucd_planners.arena.store import Store
from ucd_planners.arena.study import Study
from ucd_planners.experiments import experiment_named, picture, shared_positions
from ucd_planners.experiments.experiment import Setting, contests, reproduce
from ucd_planners.experiments.shared_positions import FIELDS
from ucd_planners.intervals import mean_interval
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
    """Seven rules in four games of two players, and with UCT eight in LeftRight and on P-games, each under two budgets."""
    settings = CHOSEN.settings(400, 0)
    assert len(settings) == 2 * (8 + 4 * 7 + 8)
    for setting in settings:
        if setting.labels["game"] == "P-games":
            continue
        alone = setting.labels["game"] == "LeftRight"
        c = 0.3 if alone or setting.labels["game"] == "Hex 5x5" else 0.4
        assert planner_from(str(setting.match.a), playouts=1).selection == RULES[setting.labels["planner"]](c)
        assert setting.match.games == (200 if alone else 400)
        if alone:
            assert setting.match.b is None
        else:
            assert planner_from(str(setting.match.b), playouts=1).selection == RULES["uct"](c)


def test_planners_on_p_games_are_those_of_the_paper_for_them() -> None:
    """With the constant sqrt(2), all positions of a simulation added, and the move with the best mean, in trees of depth 20
    whose nodes are combined to 20 percent [Childs section 3]."""
    settings = [setting for setting in CHOSEN.settings(400, 3) if setting.labels["game"] == "P-games"]
    assert [setting.labels["planner"] for setting in settings[::2]] == list(RULES)
    for setting in settings:
        study = setting.match
        planner = planner_from(study.planner)
        assert planner.selection == RULES[setting.labels["planner"]](math.sqrt(2))
        assert (planner.options.expand_all, planner.final_move) == (True, "mean")
        assert study.settings == {"branching": 2, "depth": 20, "dag_combination": 20}
        assert (study.games, study.seed, study.playouts, study.runs) == (200, 3, (1000, 10_000), (200, 200))
        assert setting.labels["budget"] in ("1000 playouts", "10000 playouts")
    assert len(contests(settings)) == len(RULES)
    assert [setting.match.games for setting in CHOSEN.settings(40, 0) if setting.labels["game"] == "P-games"] == [20] * 16


def test_right_moves_on_p_games_stand_in_the_table_of_the_other_games(tmp_path: Path) -> None:
    """A study of two trees and a match in one table, each with the other's columns."""
    game = Match("tic_tac_toe", "ucd", "uct", budget={"playouts": 20}, games=2)
    study = Study("p_game_v0", "uct2(c=1.4,expand=all)", {"branching": 6, "depth": 4}, (1000, 10_000), (3, 1), 2, 1)
    settings = [Setting({"game": "Tic-tac-toe", "budget": "playouts", "planner": "ucd"}, game)]
    for playouts in (1000, 10_000):
        settings.append(Setting({"game": "P-games", "budget": f"{playouts} playouts", "planner": "uct2"}, study))
    few = replace(study, playouts=(1, 2), runs=(3, 1))
    games = [few.play(number) for number in range(2)]
    with Store(tmp_path / "shared.sqlite") as store:
        store.append(study, games)
        drawn = replace(CHOSEN, draw=lambda rows: picture.panels(["nothing"], "", "")[0])
        report = reproduce(drawn, settings, store)
    for row, place in zip(report.rows[1:], (0, 1), strict=True):
        shares = [game.payoffs[place] for game in games]
        low, high = mean_interval(shares)
        assert row.keys() == report.rows[0].keys()
        assert (row["percent"], row["games"]) == (round(50 * sum(shares), 4), 2)
        assert (row["interval_low"], row["interval_high"]) == (round(100 * low, 4), round(100 * high, 4))
        assert (row["distinct_games"], row["mean_payoff"], row["paper"]) == (None, None, None)
    assert len({row["percent"] for row in report.rows[1:]} | {0.0, 100.0}) > 2
    nothing = CHOSEN.measure(settings[1], [])
    assert (nothing["percent"], nothing["interval_low"], nothing["interval_high"]) == (None, 0.0, 100.0)


def test_the_command_shows_a_game_of_one_player_and_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither has distinct games, which the note below the table counts."""
    monkeypatch.setattr(shared_positions, "FIELDS", {"LeftRight": FIELDS["LeftRight"]._replace(settings={"steps": 5})})
    for name, value in {"P_GAME": {"depth": 4}, "PLAYOUTS": (5, 10), "RUNS": 2}.items():
        monkeypatch.setattr(shared_positions, name, value)
    assert cli.main(["reproduce", "shared-positions", "--games", "4", "--folder", str(tmp_path)]) == 0
    with open(tmp_path / "shared-positions.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["game"], row["games"]) for row in rows] == [("LeftRight", "2")] * 16 + [("P-games", "2")] * 16
    assert all(0 <= float(row["interval_low"]) <= float(row["percent"]) <= float(row["interval_high"]) for row in rows[16:])


def test_budgets_are_equal_within_a_game() -> None:
    for name in FIELDS:
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
                draw=lambda rows: CHOSEN.draw(
                    [dict(each.labels, games=200, percent=50.0, standard_error=1.0) for each in everything]
                ),
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
