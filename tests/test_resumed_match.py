"""Matches that go on: `ucd match` with a store, stopped, killed, or with files that cannot be written."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import time
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from stopping import games_in, process, wait_for

from ucd_envs.formats import sgf
from ucd_planners import cli
from ucd_planners.arena import contest, match
from ucd_planners.arena.match import Game, Ledger, Match, play_game, play_match
from ucd_planners.arena.store import Store

QUICK = ["--game", "hex", "--size", "3", "--a", "uct", "--b", "random", "--playouts", "20", "--seed", "3"]
LONG = ["--game", "hex", "--size", "5", "--a", "uct", "--b", "ucd", "--playouts", "3000", "--seed", "3"]
"""A quick match, and one whose games take some tens of milliseconds."""


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Status, output and errors of a match."""
    status = cli.main(["match", *words])
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def row(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """The result of a match that is played to its end, without its speed."""
    status, out, err = run(capsys, *words, "--json")
    assert (status, err) == (0, "")
    return {key: value for key, value in json.loads(out).items() if key != "playouts_per_s"}


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the games that are played from now on, in this process."""
    numbers = []

    def play(match: Match, number: int, stop: Any = None) -> Game:
        numbers.append(number)
        return play_game(match, number, stop)

    monkeypatch.setattr(contest, "play_game", play)
    return numbers


# The store.


@pytest.mark.parametrize("kept", ["--store", "--sgf"])
def test_the_same_command_plays_no_game_twice(
    kept: str, tmp_path: Path, begun: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    """F2-62."""
    words = [*QUICK, kept, str(tmp_path / "kept"), "--games"]
    first = row(capsys, *words, "6")
    assert (row(capsys, *words, "6"), sorted(begun)) == (first, [0, 1, 2, 3, 4, 5])
    more = row(capsys, *words, "10")
    assert (sorted(begun), more) == (list(range(10)), row(capsys, *QUICK, "--games", "10"))


def test_fewer_games_than_there_are_are_the_first_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """F2-22: and none of the others is lost."""
    words = [*QUICK, "--store", str(tmp_path / "kept"), "--games"]
    many = row(capsys, *words, "10")
    assert row(capsys, *words, "4") == row(capsys, *QUICK, "--games", "4")
    assert row(capsys, *words, "10") == many


@pytest.mark.parametrize("kept", ["--store", "--sgf"])
@pytest.mark.parametrize("change", [("--seed", "4"), ("--playouts", "30"), ("--a", "uct(c=1)"), ("--size", "4")], ids=str)
def test_another_match_is_refused_and_leaves_the_store_as_it_was(
    change: tuple[str, str], kept: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*QUICK, kept, str(tmp_path / "kept"), "--games", "4"]
    row(capsys, *words)
    store = tmp_path / "kept" / "games.sqlite" if kept == "--sgf" else tmp_path / "kept"
    sentence = f"ucd: {store} holds games of another match, or of another version: name another store\n"
    assert run(capsys, *words, *change) == (2, "", sentence)
    with closing(sqlite3.connect(store)) as database:
        assert database.execute("SELECT count(*) FROM configurations").fetchone() == (1,)


def test_the_same_match_in_other_words_goes_on(tmp_path: Path, begun: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    words = [*QUICK, "--store", str(tmp_path / "kept"), "--games", "4"]
    row(capsys, *words)
    row(capsys, *words, "--a", "uct(c=0.30)", "--b", "random()", "--game", "hex_v0")
    assert len(begun) == 4


def test_a_store_and_records_exclude_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["match", *QUICK, "--store", str(tmp_path / "a"), "--sgf", str(tmp_path / "b")])
    assert (left.value.code, "not allowed with argument" in capsys.readouterr().err) == (2, True)


def test_a_match_of_the_library_goes_on_in_a_store(tmp_path: Path) -> None:
    quick = Match("tic_tac_toe", "uct", "random", {}, {"playouts": 5}, games=8)
    alone = play_match(quick)
    told: list[Game] = []
    with Store(tmp_path / "games.sqlite") as store:
        store.append(quick, alone.games[2:5])
        result = play_match(quick, progress=told.append, store=store)
        assert (len(told), result.games[2:5], store.games(quick)) == (5, alone.games[2:5], result.games)
    assert [game.moves for game in result.games] == [game.moves for game in alone.games]


# Records.


def records(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.glob("*.sgf"))}


def test_records_of_a_match_that_goes_on_are_those_of_one_that_was_not_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for games in ("2", "6"):
        row(capsys, *QUICK, "--games", games, "--sgf", str(tmp_path / "stopped"))
    row(capsys, *QUICK, "--games", "6", "--sgf", str(tmp_path / "whole"))
    assert records(tmp_path / "stopped") == records(tmp_path / "whole")
    assert len(records(tmp_path / "whole")) == 6


def test_a_record_that_is_gone_is_written_again_without_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*QUICK, "--games", "4", "--sgf", str(tmp_path)]
    row(capsys, *words)
    lost = tmp_path / "game-0003.sgf"
    before = sgf.load(lost, game="hex")
    assert "value" in before.comments[0]
    lost.unlink()
    row(capsys, *words)
    after = sgf.load(lost, game="hex")
    assert (after.actions, after.players, after.comments[:2]) == (before.actions, before.players, ("uct", "random"))


def test_a_folder_with_records_and_no_store_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "game-0001.sgf").write_text("mine")
    sentence = f"ucd: the folder {tmp_path} has games in it, which would be lost: name another\n"
    assert run(capsys, *QUICK, "--games", "2", "--sgf", str(tmp_path)) == (2, "", sentence)
    assert [path.name for path in tmp_path.iterdir()] == ["game-0001.sgf"]


def test_a_record_that_cannot_be_written_loses_no_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """F2-62: the games so far are shown and kept, and the match goes on once there is room."""
    words = [*QUICK, "--games", "6", "--sgf", str(tmp_path)]
    row(capsys, *words, "--games", "2")
    (tmp_path / "game-0003.sgf").mkdir()
    status, out, err = run(capsys, *words, "--json")
    assert (status, err) == (1, f"ucd: {tmp_path / 'game-0003.sgf'} cannot be written: Is a directory\n")
    there = json.loads(out)["games"]
    assert 3 <= there == games_in(tmp_path / "games.sqlite") < 6
    (tmp_path / "game-0003.sgf").rmdir()
    assert row(capsys, *words) == row(capsys, *QUICK, "--games", "6")
    assert len(records(tmp_path)) == 6


# Stopped.


def test_games_that_ended_in_a_batch_under_way_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C comes in the fourth game; the second and third, of the same batch, have ended."""

    def play(match: Match, number: int, stop: Any = None) -> Game:
        if number == 3:
            os.kill(os.getpid(), signal.SIGINT)
            stop.wait()
        return play_game(match, number, stop)

    monkeypatch.setattr(contest, "play_game", play)
    quick = Match("tic_tac_toe", "uct", "random", {}, {"playouts": 5}, games=100)
    with Store(tmp_path / "games.sqlite") as store:
        assert [game.number for game in play_match(quick, store=store).games] == [0, 1, 2]
        assert [game.number for game in store.games(quick)] == [0, 1, 2]


def test_ctrl_c_while_a_batch_is_kept_counts_no_game_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[list[int]] = []

    def record(game: Game) -> None:
        told.append([game.number])
        if len(told) == 1:
            raise KeyboardInterrupt

    ledger = Ledger(Match("tic_tac_toe", "uct", "random", {}, {"playouts": 5}, games=10), record=record)
    assert not ledger.play()
    numbers = [game.number for game in ledger.result().games]
    assert numbers == sorted(set(numbers)) != []


def test_a_ledger_plays_games_that_failed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    failing = [True]

    def play(match: Match, number: int, stop: Any = None) -> Game:
        played = play_game(match, number, stop)
        return replace(played, failure="b has ended") if failing[0] and number == 2 else played

    monkeypatch.setattr(contest, "play_game", play)
    ledger = Ledger(Match("tic_tac_toe", "uct", "random", {}, {"playouts": 5}, games=4))
    assert ledger.play()
    assert ([game.number for game in ledger.result().failures], ledger.missing) == ([2], [2])
    failing[0] = False
    assert ledger.play()
    assert (ledger.result().failures, len(ledger.result().games), ledger.missing) == ([], 4, [])


def killed_and_resumed(tmp_path: Path, games: int, kills: int, seed: int) -> None:
    """Stops a match again and again, by SIGKILL, Ctrl-C and SIGTERM, at random numbers of games in its store."""
    draw = random.Random(seed)
    path = tmp_path / "games.sqlite"
    words = [*LONG, "--games", str(games), "--json", "--store", str(path)]
    for turn in range(kills):
        number = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)[turn % 3]
        before = games_in(path)
        with process("match", *words, "--jobs", str(draw.choice((1, 2)))) as started:
            assert wait_for(path, before + draw.randint(1, max(1, games // (6 * kills))), started)
            if number == signal.SIGTERM:
                started.send_signal(number)
            else:
                os.killpg(started.pid, number)
            out, err = started.communicate(timeout=100)
        assert before < games_in(path) < games
        if number == signal.SIGKILL:
            assert started.returncode == -signal.SIGKILL
        else:
            shown = json.loads(out)
            assert (started.returncode, err) == (128 + number, "")
            assert (shown["games"], shown["stopped"]) == (games_in(path), True)
    with process("match", *words) as started, process("match", *words[:-2]) as whole:
        results = [json.loads(each.communicate()[0]) | {"playouts_per_s": None} for each in (started, whole)]
    assert results[0] == results[1]
    assert results[0]["games"] == games


def test_a_match_that_is_killed_twice_has_the_table_of_an_undisturbed_one(tmp_path: Path) -> None:
    """F2-62."""
    killed_and_resumed(tmp_path, 80, 2, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2])
def test_a_match_that_is_killed_twenty_times_has_the_table_of_an_undisturbed_one(seed: int, tmp_path: Path) -> None:
    """F2-62."""
    killed_and_resumed(tmp_path, 1600, 20, seed)


def spawned(pid: int) -> list[int]:
    """The worker processes of a command."""
    found = []
    with suppress(OSError):  # one that has ended meanwhile
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(int(child))
    return found


def test_workers_that_are_killed_again_and_again_end_a_match_that_keeps_its_results(tmp_path: Path) -> None:
    """F2-61, F2-62. A worker that was killed once is replaced: test_executors.py."""
    path = tmp_path / "games.sqlite"
    with process("match", *LONG, "--games", "10000", "--jobs", "2", "--json", "--store", str(path)) as started:
        assert wait_for(path, 2, started)
        while started.poll() is None:
            for child in spawned(started.pid):
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            time.sleep(0.02)
        out, err = started.communicate(timeout=100)
    assert (started.returncode, json.loads(out)["games"]) == (1, games_in(path))
    assert err == "ucd: a process that played games has ended too early, as when it is killed or memory runs out\n"


def test_a_ledger_is_complete_where_its_store_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Store, match: Match, games: list[Game]) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(Store, "append", full)
    with Store(tmp_path / "games.sqlite") as store:
        ledger = match.Ledger(Match("tic_tac_toe", "uct", "random", {}, {"playouts": 5}, games=10), store)
        with pytest.raises(OSError, match="the disk is full"):
            ledger.play()
        assert ledger.result().games[0].number == 0
