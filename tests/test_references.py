"""References: a game, a selection, a policy and an experiment of a user's, from the command line and in worker processes."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ucd_planners import cli
from ucd_planners.arena.contest import Match
from ucd_planners.arena.match import play_match
from ucd_planners.arena.store import Store, configuration

EXAMPLES = Path(__file__).parent.parent / "examples"
COMMAND = [sys.executable, "-P", "-m", "ucd_planners.cli"]
"""As the console script runs: the current folder is not on the path of imports."""

MINE = """
from dataclasses import replace
from ucd_envs import make_rules
from ucd_planners.playouts import CMC
from ucd_planners.selection.ucd import UCD

def board(size=3):
    return make_rules("hex", size=size)

def short():
    return replace(make_rules("tic_tac_toe"), max_plies=3)

def wide(c=1.5):
    return UCD(c=c, table=False)

def near(prob=0.25):
    return CMC(prob)

class First:
    def __init__(self, name="first"):
        self.name = name
    def begin(self, rules, seed, stop):
        pass
    def choose(self, state, moves):
        from ucd_planners.arena.agents import Move
        return Move(state.legal_actions()[0])
    def close(self):
        pass

number = 7
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a user's module, which is the current one."""
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    return tmp_path


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, which imports anew."""
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, cwd=folder, timeout=300)


Shown = tuple[int, str, str]
"""Status, output and errors of a command."""


@pytest.fixture
def ucd(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Shown]:
    """The command, run in this process in the folder."""

    def shown(*words: str) -> Shown:
        status = cli.main(words)
        return status, *capsys.readouterr()

    return shown


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_match_of_references_is_played_from_another_folder(jobs: str, folder: Path) -> None:
    words = ["--a", "mine:wide(c=0.5)", "--b", "uct(policies=mine:near)", "--playouts", "20", "--games", "12", "--json"]
    shown = run(folder, "match", "--game", "mine:board(size=4)", *words, "--jobs", jobs)
    assert (shown.stderr, shown.returncode) == ("", 0)
    row = json.loads(shown.stdout)
    assert (row["games"], row["wins"] + row["losses"], "rows=4" in row["game"]) == (12, 12, True)


def test_a_game_of_an_example_is_played_by_reference(folder: Path) -> None:
    shutil.copy(EXAMPLES / "write_a_game.py", folder)
    words = [
        "--a",
        "uct",
        "--b",
        "mine:wide",
        "--rows",
        "5",
        "--columns",
        "4",
        "--playouts",
        "10",
        "--games",
        "4",
        "--jobs",
        "2",
    ]
    shown = run(folder, "match", "--game", "write_a_game:rules", *words, "--json")
    assert (shown.stderr, json.loads(shown.stdout)["games"]) == ("", 4)


def test_a_user_defined_agent_plays(folder: Path) -> None:
    """It takes the first cell that is free."""
    result = play_match(Match("hex", "mine:First", "mine:First(name='second')", {"size": 2}, games=2))
    assert [game.moves for game in result.games] == [(0, 1, 2), (0, 1, 2)]


def test_a_store_keeps_games_of_references(folder: Path) -> None:
    """F2-21: a reference has one canonical text too."""
    match = Match("mine:board", "mine:wide", "mine:wide(c=1.5)", {"size": 3}, {"playouts": 5}, games=2)
    other = Match("mine:board", "mine:wide(c=1.50)", "mine:wide(playouts=5)", {"size": 3}, {"playouts": 5}, games=2)
    assert configuration(match) == configuration(other)
    with Store(folder / "games.sqlite") as store:
        games = play_match(match).games
        store.append(match, games)
        assert store.games(other) == games


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["match", "--game", "no_such:x", "--a", "uct", "--b", "uct"], "no_such:x cannot be imported"),
        (["match", "--game", "mine:number", "--a", "uct", "--b", "uct"], "mine:number is no game"),
        (["match", "--game", "mine:board(", "--a", "uct", "--b", "uct"], "game 'mine:board(' does not parse"),
        (
            ["match", "--game", "hex", "--a", "mine:number", "--b", "uct"],
            "mine:number makes no selection, planner or agent, but 7",
        ),
        (["match", "--game", "hex", "--a", "uct(policies=mine:wide)", "--b", "uct"], "mine:wide makes no policy, but UCD"),
        (["match", "--game", "hex", "--a", "uct(early=true)", "--b", "uct"], "the option early is now called stop_early"),
        (["reproduce", "mine:number"], "mine:number is no experiment, but 7"),
        (["reproduce", "mine:missing"], "mine:missing cannot be imported"),
        (["check", "mine:number"], "mine:number is no game, selection or policy, but 7"),
        (["check", "mine:wide(d=1)"], "mine:wide has no parameter 'd'"),
    ],
    ids=str,
)
def test_a_reference_that_cannot_be_used_is_refused_in_one_sentence(
    words: list[str], sentence: str, ucd: Callable[..., Shown]
) -> None:
    status, out, err = ucd(*words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"ucd: {sentence}")


@pytest.mark.parametrize("name", ["mine:board(size=2)", "tic_tac_toe", "mine:wide(c=0.5)", "mine:near", "cmc"])
def test_a_check_without_faults_has_status_0(name: str, ucd: Callable[..., Shown]) -> None:
    status, out, err = ucd("check", name)
    assert (err, status, out.endswith(", no fault\n")) == ("", 0, True)


def test_a_refusal_and_its_status_leave_the_process(folder: Path) -> None:
    shown = run(folder, "check", "mine:number")
    sentence = "ucd: mine:number is no game, selection or policy, but 7\n"
    assert (shown.returncode, shown.stdout, shown.stderr) == (2, "", sentence)


def test_a_check_with_faults_prints_a_sentence_for_each_and_has_status_1(folder: Path) -> None:
    """A game that is over after three plies, as it says, and is not."""
    shown = run(folder, "check", "mine:short")
    assert (shown.stderr, shown.returncode) == ("", 1)
    assert "max_plies" in shown.stdout


def test_an_experiment_of_an_example_is_reproduced_from_another_folder(folder: Path) -> None:
    shutil.copy(EXAMPLES / "write_an_experiment.py", folder)
    shown = run(folder, "reproduce", "write_an_experiment:EXPERIMENT", "--games", "4", "--jobs", "2")
    assert (shown.stderr, shown.returncode) == ("", 0)
    with open(folder / "results" / "exploration.csv", newline="") as file:
        assert [(row["c"], row["games"]) for row in csv.DictReader(file)] == [("0.1", "4"), ("0.3", "4"), ("0.9", "4")]
