"""The store: what goes in comes out, nothing mixes, nothing that was added is lost, and no foreign file is harmed."""

from __future__ import annotations

import multiprocessing
import os
import platform
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ucd_envs
from ucd_planners import files
from ucd_planners.arena import store as storage
from ucd_planners.arena.match import Game, Match
from ucd_planners.arena.origin import here
from ucd_planners.arena.store import Store
from ucd_planners.arena.workers import play_batch

MATCH = Match("hex", "uct(c=0.3)", "ucd", {"size": 3}, {"playouts": 20}, games=10, seed=5)
SOLO = Match("leftright", "uct(c=0.3)", None, {"steps": 5}, {"playouts": 20}, games=5, seed=5)


def game(number: int, **changes: Any) -> Game:
    """A game with numbers that are hard to write down."""
    return replace(Game(number, number % 2, (4, 0, 8), (1 / 3, 2 / 3), (60, 41), (0.1, 2 / 3), 0.7), **changes)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store(path) as opened:
        yield opened


# What goes in comes out.


@pytest.mark.parametrize("moves", [(), (0,), (65535, 0, 256, 255), tuple(range(1000))], ids=len)
def test_moves_are_restored_exactly(moves: tuple[int, ...], store: Store) -> None:
    store.append(MATCH, [game(0, moves=moves)])
    assert store.games(MATCH)[0].moves == moves


def test_a_move_takes_two_bytes(store: Store, path: Path) -> None:
    store.append(MATCH, [game(0, moves=(1, 258))])
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT moves FROM games").fetchone()[0] == b"\x01\x00\x02\x01"
    database.close()


def test_games_of_a_match_are_restored_exactly(store: Store) -> None:
    games = [game(0), game(1, payoffs=(0.1 + 0.2, 0.1))]
    store.append(MATCH, games)
    assert store.games(MATCH) == games


def test_games_of_a_solo_are_restored_exactly(store: Store) -> None:
    games = [Game(0, 0, (0, 1), (0.5,), (200,), (0.1,), 0.2)]
    store.append(SOLO, games)
    assert store.games(SOLO) == games


def test_games_come_in_the_order_of_their_numbers(store: Store) -> None:
    for number in (3, 9, 0, 4):
        store.append(MATCH, [game(number)])
    assert [each.number for each in store.games(MATCH)] == [0, 3, 4, 9]


def test_missing_numbers_are_those_that_are_not_there(store: Store) -> None:
    store.append(MATCH, [game(number) for number in (3, 9, 0, 4)])
    assert store.missing(MATCH) == [1, 2, 5, 6, 7, 8]


def test_of_an_unknown_contest_all_is_missing(store: Store) -> None:
    assert (store.games(SOLO), store.missing(SOLO)) == ([], [0, 1, 2, 3, 4])


def test_games_are_there_when_the_file_is_opened_again(store: Store, path: Path) -> None:
    store.append(MATCH, [game(0)])
    store.close()
    with Store(path) as again:
        assert again.games(MATCH) == [game(0)]


def test_a_number_keeps_its_first_game(store: Store) -> None:
    """B118e: each number once."""
    store.append(MATCH, [game(0)])
    store.append(MATCH, [game(0, payoffs=(1.0, 0.0)), game(1)])
    assert store.games(MATCH) == [game(0), game(1)]


def test_games_are_added_all_or_none(store: Store) -> None:
    with pytest.raises(ValueError, match=r"\Amoves of a stored game must be from 0 to 65535, not \(65536,\)\Z"):
        store.append(MATCH, [game(0), game(1, moves=(65536,))])
    assert store.missing(MATCH) == list(range(10))


# Configurations.


@pytest.mark.parametrize(
    "changes",
    [
        {"game": "connect_four", "settings": {}},
        {"a": "uct(c=0.4)"},
        {"b": "ucd(d1=2)"},
        {"settings": {"size": 4}},
        {"settings": {"size": 3, "opening": "a1"}},
        {"settings": {"size": 3, "swap": True}},
        {"budget": {"playouts": 21}},
        {"budget": {"seconds": 20}},
        {"seed": 6},
    ],
    ids=str,
)
def test_a_changed_match_meets_no_old_results(changes: dict[str, Any], store: Store) -> None:
    store.append(MATCH, [game(0)])
    assert store.games(replace(MATCH, **changes)) == []


def test_another_version_meets_no_old_results(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.append(MATCH, [game(0)])
    monkeypatch.setattr(ucd_envs, "__version__", "99")
    assert store.games(MATCH) == []


def test_results_of_a_changed_match_leave_the_old_ones_alone(store: Store) -> None:
    store.append(MATCH, [game(0)])
    store.append(replace(MATCH, seed=6), [game(0, payoffs=(1.0, 0.0)), game(1)])
    assert store.games(MATCH) == [game(0)]


def test_more_games_add_to_those_that_are_there(store: Store) -> None:
    store.append(MATCH, [game(number) for number in range(10)])
    assert store.missing(replace(MATCH, games=14)) == [10, 11, 12, 13]


def test_fewer_games_are_the_first_ones(store: Store) -> None:
    """So that a result does not depend on what was asked for before."""
    store.append(MATCH, [game(number) for number in range(10)])
    assert store.games(replace(MATCH, games=2)) == [game(0), game(1)]


@pytest.mark.parametrize(
    "same",
    [
        {"game": "hex_v0"},
        {"game": "hex-v0"},
        {"settings": {"rows": 3, "columns": 3}},
        {"settings": {"size": 3, "swap": False}},
        {"seed": np.int64(5)},
        {"a": "uct"},
        {"a": "uct( c = 0.30, final_move='visits')"},
        {"b": "ucd(d3=1, d1=1.0)"},
        {"b": "ucd(playouts=20)"},
        {"budget": {"playouts": np.int32(20)}},
    ],
    ids=str,
)
def test_the_same_match_in_other_words_is_the_same(same: dict[str, Any], store: Store) -> None:
    """F2-21."""
    store.append(MATCH, [game(0)])
    assert store.games(replace(MATCH, **same)) == [game(0)]


# Sessions.


def test_a_session_tells_the_versions(store: Store) -> None:
    store.append(MATCH, [game(0)])
    (session,) = store.sessions()
    assert (session["python"], session["numpy"]) == (platform.python_version(), np.__version__)


def test_a_session_names_no_host(store: Store) -> None:
    store.append(MATCH, [game(0)])
    assert store.sessions()[0]["platform"] == f"{platform.system()} {platform.machine()}, process {os.getpid()}"
    assert platform.node() not in str(store.sessions())


def test_reading_makes_no_session(store: Store) -> None:
    store.games(MATCH)
    assert store.sessions() == []


def test_every_opening_that_adds_is_a_session(store: Store, path: Path) -> None:
    store.append(MATCH, [game(0)])
    store.append(MATCH, [game(1)])
    with Store(path) as again:
        again.append(MATCH, [game(2)])
        assert [session["id"] for session in again.sessions()] == [1, 2]


def test_a_worker_process_is_a_session_of_its_own(store: Store) -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        away = pool.submit(play_batch, MATCH, [0, 1]).result()
    store.append(MATCH, [*away, *play_batch(MATCH, [2]), game(3)])
    assert store.sessions_of(MATCH) == {0: 1, 1: 1, 2: 2, 3: 2}
    one, other = (session["platform"].rpartition(" ")[2] for session in store.sessions())
    assert (one != other, other) == (True, str(os.getpid()))


def test_games_of_two_workers_are_told_apart(store: Store) -> None:
    one, other = (here()._replace(token=token, platform=f"Linux, process {place}") for place, token in enumerate("ab"))
    store.append(MATCH, [replace(game(0), origin=one), replace(game(1), origin=other)])
    store.append(MATCH, [replace(game(2), origin=one)])
    assert store.sessions_of(MATCH) == {0: 1, 1: 2, 2: 1}
    assert [session["platform"] for session in store.sessions()] == ["Linux, process 0", "Linux, process 1"]


# Other processes.

ADDING = """
import sys
from ucd_planners.arena.match import Game, Match
from ucd_planners.arena.origin import here
from ucd_planners.arena.store import Store
from ucd_planners.arena.workers import play_batch
match = Match("hex", "uct(c=0.3)", "ucd", {"size": 3}, {"playouts": 20}, games=1000, seed=5)
with Store(sys.argv[1]) as store:
    for number in range(*map(int, sys.argv[2:])):
        store.append(match, [Game(number, number % 2, (4, 0, 8), (1.0, 0.0), (60, 41), (0.1, 0.2), 0.3)])
        print(number, flush=True)
"""


def adding(path: Path, *numbers: int) -> subprocess.Popen[str]:
    """A process that adds the games of these numbers and prints each once it is added."""
    words = [sys.executable, "-c", ADDING, str(path), *map(str, numbers)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_processes_may_make_and_fill_one_store(path: Path) -> None:
    """Games 20 to 39 are added by both."""
    with adding(path, 0, 40) as one, adding(path, 20, 60) as other:
        assert [run.communicate()[1] for run in (one, other)] == ["", ""]
    with Store(path) as store:
        assert [each.number for each in store.games(replace(MATCH, games=1000))] == list(range(60))


def test_what_was_added_outlasts_kill_9(path: Path) -> None:
    with adding(path, 0, 1000) as run:
        assert run.stdout
        told = [int(run.stdout.readline()) for _ in range(7)]
        run.send_signal(signal.SIGKILL)
        told += [int(line) for line in run.stdout.read().split()]
    with Store(path) as store:
        there = [each.number for each in store.games(replace(MATCH, games=1000))]
    assert there[: len(told)] == told
    assert len(told) <= len(there) <= len(told) + 1


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PATIENCE", 0.05)


@pytest.mark.usefixtures("impatient")
def test_a_writer_that_never_ends_is_told_of_in_one_sentence(path: Path) -> None:
    with Store(path) as one, Store(path) as other, one._transaction(), pytest.raises(OSError) as error:  # noqa: PT011
        other.append(MATCH, [game(0)])
    assert str(error.value) == f"{path} cannot be used: database is locked"


@pytest.mark.usefixtures("impatient")
def test_a_store_can_be_read_while_another_process_writes(path: Path) -> None:
    with Store(path) as one, Store(path) as other:
        one.append(MATCH, [game(0)])
        with one._transaction():
            assert other.games(MATCH) == [game(0)]


# Files that are no store.


def foreign(path: Path, *statements: str) -> bytes:
    """Makes an SQLite file that is no store; its content."""
    database = sqlite3.connect(path)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()
    return path.read_bytes()


@pytest.mark.parametrize("content", [b"x", b"a text\n" * 1000, b"SQLite format 3\x00" + bytes(2000)], ids=len)
def test_a_file_that_is_no_store_is_refused_unharmed(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"games.sqlite is no store of games\Z"):
        Store(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE games (number)", "PRAGMA application_id = 7", "PRAGMA user_version = 2"], ids=str
)
def test_another_database_is_refused_unharmed(statement: str, path: Path) -> None:
    content = foreign(path, statement)
    with pytest.raises(ValueError, match=r"games.sqlite is no store of games\Z"):
        Store(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("layout", [0, 1, storage.LAYOUT + 1])
def test_another_layout_is_refused_unharmed(layout: int, store: Store, path: Path) -> None:
    store.close()
    content = foreign(path, f"PRAGMA user_version = {layout}")
    with pytest.raises(ValueError, match=rf"has the layout {layout} of stores, but this version needs the layout 3\Z"):
        Store(path)
    assert path.read_bytes() == content


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.touch()
    with Store(path) as store:
        assert store.sessions() == []


@pytest.mark.parametrize("where", [".", "no/such/folder.sqlite"])
def test_a_file_that_cannot_be_opened_is_refused(where: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"cannot be opened: unable to open database file\Z"):
        Store(tmp_path / where)
