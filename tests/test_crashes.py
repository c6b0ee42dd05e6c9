"""Crashes: a match or an experiment that is killed, or whose disk is full, loses no game and none counts twice."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ucd_planners.arena.match import Game, Match, play_game, play_match
from ucd_planners.arena.store import Store
from ucd_planners.cli.match import _show
from ucd_planners.experiments import experiment_named
from ucd_planners.experiments.experiment import Setting, contests

UCD = [sys.executable, "-m", "ucd_planners.cli"]
LIMITED = """
import resource, sys
from ucd_planners.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.exit(main(sys.argv[2:]))
"""
"""The command `ucd` where no file may have more than some bytes."""


def match_of(games: int) -> Match:
    return Match("hex", "uct", "ucd(d1=0, d2=1, d3=2)", {"size": 4}, {"playouts": 200}, games, 5)


def words_of(match: Match, path: Path) -> list[str]:
    """The command of a match."""
    assert isinstance(match.a, str)
    assert isinstance(match.b, str)
    return [
        *("match", "--game", "hex", "--size", "4", "--a", match.a, "--b", match.b, "--playouts", "200"),
        *("--games", str(match.games), "--seed", "5", "--store", str(path)),
    ]


def played(game: Game) -> tuple[Any, ...]:
    """All of a game but its times."""
    return (game.number, game.seat, game.moves, game.payoffs, game.playouts)


def killed(words: list[str], path: Path, rng: random.Random) -> bool:
    """Runs a command and kills it at a random moment after it began to play, or returns False where it ended before."""
    before = path.stat().st_size if path.exists() else -1
    with subprocess.Popen([*UCD, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        deadline = time.monotonic() + 60
        while run.poll() is None and time.monotonic() < deadline and (not path.exists() or path.stat().st_size == before):
            time.sleep(0.005)
        time.sleep(rng.uniform(0.0, 0.3))
        run.send_signal(signal.SIGKILL)
        return run.wait() == -signal.SIGKILL


@pytest.mark.parametrize(("kills", "games"), [(3, 200), pytest.param(30, 3000, marks=pytest.mark.slow)])
def test_a_match_that_is_killed_has_every_game_once(
    kills: int, games: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """B118e."""
    match, path, rng = match_of(games), tmp_path / "games.sqlite", random.Random(kills)
    counts = [0]
    for _ in range(kills):
        killed(words_of(match, path), path, rng)
        with Store(path, reading=True) as store:
            counts.append(sum(summary.games for summary in store.summaries()))
            assert counts[-1] == len(store.games(match)) >= counts[-2]
    done = subprocess.run([*UCD, *words_of(match, path)], capture_output=True, text=True, check=True)
    with Store(path) as store:
        (summary,) = store.summaries()
        assert [played(game) for game in store.games(match)] == [played(play_game(match, number)) for number in range(games)]
    with Store(tmp_path / "whole.sqlite") as store:
        _show(play_match(match, store=store))
    assert table_of(done.stdout) == table_of(capsys.readouterr().out)
    assert (summary.games, summary.score(0).games) == (games, games // 2)


def table_of(text: str) -> list[str]:
    """What a match printed, without speeds."""
    return [line for line in text.splitlines() if "per second" not in line]


@pytest.mark.slow
def test_an_experiment_that_is_killed_has_the_table_of_an_undisturbed_run(tmp_path: Path) -> None:
    rng, tables = random.Random(4), []
    for folder, kills in ((tmp_path / "killed", 10), (tmp_path / "whole", 0)):
        words = ["reproduce", "leftright-readings", "--games", "20", "--folder", str(folder)]
        for _ in range(kills):
            folder.mkdir(exist_ok=True)
            killed(words, folder / "leftright-readings.sqlite", rng)
        subprocess.run([*UCD, *words], capture_output=True, check=True)
        rows = (folder / "leftright-readings.csv").read_text().splitlines()
        tables.append([row.rpartition(",")[0] for row in rows])  # the last column is a speed
    assert tables[0] == tables[1]
    experiment = experiment_named("leftright-readings")
    settings: list[Setting] = experiment.settings(20, 0)
    with Store(tmp_path / "killed" / "leftright-readings.sqlite") as store:
        assert [len(store.games(contest)) for contest in contests(settings)] == [20] * len(settings)


def test_a_full_disk_is_said_and_the_games_before_are_kept(tmp_path: Path) -> None:
    match, path = match_of(2000), tmp_path / "games.sqlite"
    done = subprocess.run([sys.executable, "-c", LIMITED, "60000", *words_of(match, path)], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(
        f"ucd: {path} cannot be used: disk I/O error; is the disk full? The games that it has are kept"
    )
    assert done.stderr.count("\n") == 1
    with Store(path) as store:
        games = store.games(match)
        assert 20 < len(games) < 2000
        assert [played(game) for game in games[:5]] == [played(play_game(match, number)) for number in range(5)]
        assert store.summaries()[0].games == len(games)


def test_a_database_that_may_not_grow_is_said_to_be_full(tmp_path: Path) -> None:
    """As where the disk has no room."""
    match = match_of(1000)
    with Store(tmp_path / "games.sqlite") as store:
        store.append(match, [play_game(match, 0)])
        store._run("PRAGMA max_page_count = 12")
        with pytest.raises(OSError, match=r"database or disk is full; is the disk full\? The games that it has are kept\Z"):
            store.append(match, [Game(number, 0, (4,) * 500, (1.0, 0.0), (1, 1), (0.1, 0.1), 0.1) for number in range(1, 100)])
        assert [game.number for game in store.games(match)] == [0]


def test_an_interrupted_change_is_taken_back_before_a_store_is_read(tmp_path: Path) -> None:
    """A process is killed within a transaction that has reached the disk: its journal lies beside the file."""
    path, match = tmp_path / "games.sqlite", match_of(10)
    with Store(path) as store:
        store.append(match, [play_game(match, 0)])
    program = (
        "import os, sqlite3, sys; d = sqlite3.connect(sys.argv[1], isolation_level=None); d.execute('PRAGMA cache_size = 1');"
        "d.execute('BEGIN IMMEDIATE'); d.execute('UPDATE games SET moves = zeroblob(100000)');"
        "d.execute('DELETE FROM configurations'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert path.with_name("games.sqlite-journal").exists()
    with Store(path, reading=True) as store:
        assert [played(game) for game in store.games(match)] == [played(play_game(match, 0))]
    assert sqlite3.sqlite_version_info >= (3, 24)
