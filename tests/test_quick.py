"""Quick runs and the catalogue: in time, evenly, with games that a longer run uses."""

from __future__ import annotations

import csv
import json
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ucd_planners.arena.match import Game, Match
from ucd_planners.arena.store import Store
from ucd_planners.cli import main
from ucd_planners.experiments import MODULES, experiment_named
from ucd_planners.experiments.catalogue import catalogue, spoken
from ucd_planners.experiments.experiment import Experiment, contests, reproduce
from ucd_planners.experiments.quick import balanced, common_games, play_evenly

SLOW = Match("hex", "uct", "uct", {"size": 11}, {"playouts": 10**9}, games=2)
"""Games that would take hours."""
FAST = Match("tic_tac_toe", "uct", "update_all", {}, {"playouts": 10}, games=20, seed=6)
SOLO = Match("leftright", "uct", None, {"steps": 5}, {"playouts": 10}, games=20, seed=6)


def game(number: int) -> Game:
    return Game(number, number % 2, (4, 0, 8), (1.0, 0.0), (60, 41), (0.1, 0.2), 0.5)


@pytest.mark.parametrize("jobs", [1, 2])
def test_time_is_kept_even_in_the_middle_of_a_game(jobs: int, tmp_path: Path) -> None:
    began = time.monotonic()
    with Store(tmp_path / "games.sqlite") as store:
        play_evenly([SLOW], store, 1.0, jobs)
        assert store.games(SLOW) == []
    assert time.monotonic() - began < 60


def test_without_an_end_of_time_all_games_are_played_in_turns(tmp_path: Path) -> None:
    order: list[tuple[str, int]] = []

    def note(match: Any, games: list[Game]) -> None:
        order.extend((match.game, each.number) for each in games)

    with Store(tmp_path / "games.sqlite") as store:
        store.append(FAST, [game(1)])
        play_evenly([FAST, SOLO], store, 600.0, 1, None, note)
        assert (store.missing(FAST), store.missing(SOLO)) == ([], [])
    assert order[:5] == [("tic_tac_toe", 0), ("leftright", 0), ("leftright", 1), ("tic_tac_toe", 2), ("tic_tac_toe", 3)]


@pytest.mark.parametrize(
    ("numbers", "common"),
    [
        ([range(7), range(12)], 6),
        ([range(1), range(12)], 12),  # the first has no pair, and is left out
        ([[0, 1, 3, 4], range(12)], 2),
        ([range(20), range(9)], 8),  # the first is whole
        ([[], []], 0),
    ],
    ids=str,
)
def test_lines_are_cut_to_a_common_even_number(numbers: list[Any], common: int, tmp_path: Path) -> None:
    matches = [FAST, replace(FAST, seed=7)]
    with Store(tmp_path / "games.sqlite") as store:
        for match, these in zip(matches, numbers, strict=True):
            store.append(match, [game(number) for number in these])
        assert common_games(matches, store) == common


@pytest.mark.parametrize(
    ("numbers", "most", "left"),
    [(range(7), 4, [0, 1, 2, 3]), ([0], 4, []), ([0, 1, 2], 4, [0, 1]), ([0, 1, 3], 8, [0, 1]), ([1, 2], 8, [])],
    ids=str,
)
def test_a_line_has_whole_pairs_only(numbers: Any, most: int, left: list[int]) -> None:
    assert [each.number for each in balanced([game(number) for number in numbers], most)] == left


def quickly(name: str, folder: Path, seconds: float) -> tuple[Experiment, list[dict[str, str]]]:
    """A quick run of an experiment, and its table."""
    assert main(["reproduce", name, "--quick", str(seconds), "--folder", str(folder)]) in (0, 130)
    with open(folder / f"{name}.csv", newline="") as file:
        return experiment_named(name), list(csv.DictReader(file))


@pytest.mark.sweep(8)
@pytest.mark.parametrize("name", MODULES)
def test_every_experiment_has_a_quick_run(name: str, tmp_path: Path) -> None:
    """Its end waits for kernels that are compiled."""
    began = time.monotonic()
    _, rows = quickly(name, tmp_path, 1.0)
    took = time.monotonic() - began
    counts = {int(row["games"]) for row in rows} - {0}
    assert len(counts) <= 1 or name in ("nogo-knowledge", "shared-positions")
    assert all(count % 2 == 0 for count in counts)
    assert took < 60


@pytest.mark.slow
def test_a_longer_run_uses_the_games_of_a_quick_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    experiment, rows = quickly("leftright-readings", tmp_path, 4.0)
    out = capsys.readouterr().out
    store = Store(tmp_path / "leftright-readings.sqlite")
    with store:
        played = [store.games(match) for match in contests(experiment.settings(experiment.games, 0))]
        assert sum(map(len, played)) >= 2
        most = re.search(r"quick: (\d+) games of each line", out)
        assert most
        assert {int(row["games"]) for row in rows} <= {0, int(most[1])}
        told: list[int] = []
        two = experiment.settings(2, 0)
        reproduce(experiment, two, store, progress=lambda match, games: told.extend(each.number for each in games))
        assert len(told) == sum(
            match.games - min(match.games, len(old)) for match, old in zip(contests(two), played, strict=True)
        )
        for match, old in zip(contests(experiment.settings(experiment.games, 0)), played, strict=True):
            assert store.games(match)[: len(old)] == old


def test_settings_without_games_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Games of 19x19 with 100,000 playouts do not fit into a second."""
    status = main(
        ["reproduce", "bhrf", "--only", "board=19", "--only", "budget=1 s", "--quick", "1", "--folder", str(tmp_path)]
    )
    said = capsys.readouterr()
    assert status == 130
    assert "72 of 72 settings got no pair of games, such as 9 10k soft-UCT" in said.out


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "1e9"])
def test_a_time_that_is_none_is_refused(seconds: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "leftright", f"--quick={seconds}", "--folder", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("ucd: quick must be a number of seconds above 0")


# The catalogue.


def test_the_list_has_every_experiment_with_its_size(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["reproduce", "--list", "--json", "--folder", str(tmp_path)]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["experiment"] for row in rows] == list(MODULES)
    (row,) = (row for row in rows if row["experiment"] == "ucd-hex")
    assert (row["settings"], row["games"], row["result"]) == (73, 29_200, None)


def test_the_list_shows_results_and_takes_times_from_their_games(tmp_path: Path) -> None:
    experiment = experiment_named("leftright-readings")
    with Store(tmp_path / "leftright-readings.sqlite") as store:
        for match in contests(experiment.settings(experiment.games, 0)):
            store.append(match, [Game(0, 0, (0,), (1.0,), (100,), (3.6,), 2000.0)])
    (tmp_path / "leftright-readings.csv").write_text("")
    (row,) = (row for row in catalogue(tmp_path) if row["experiment"] == "leftright-readings")
    assert (row["core_hours"], row["result_games"]) == (1.9, 19)  # 19 settings with 100 games of 3.6 s, paused or not
    assert row["result"] == str(tmp_path / "leftright-readings.csv")


def test_the_list_takes_times_with_a_program_from_the_clock(tmp_path: Path) -> None:
    experiment = experiment_named("childs-go")
    with Store(tmp_path / "childs-go.sqlite") as store:
        for match in contests(experiment.settings(experiment.games, 0)):
            store.append(match, [Game(0, 0, (0,), (1.0, 0.0), (100, 0), (1.0, 0.0), 3.6)])
    (row,) = (row for row in catalogue(tmp_path) if row["experiment"] == "childs-go")
    assert row["core_hours"] == 16.0  # 16 settings with 1,000 games of 3.6 s


def test_the_list_goes_without_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "leftright", "--list"]) == 2
    assert main(["reproduce"]) == 2
    assert "name an experiment, as `ucd reproduce --list` shows them" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("hours", "words"),
    [(None, "not measured"), (0.001, "1 min"), (0.5, "30 min"), (3.51, "3.5 h"), (96.0, "4.0 days")],
    ids=str,
)
def test_times_are_in_words(hours: float | None, words: str) -> None:
    assert spoken(hours) == words
