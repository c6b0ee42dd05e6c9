"""Schedules: the same games on any workers, each kept once, and what stops them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ucd_planners.arena import agents, contest
from ucd_planners.arena.match import Game, Match, play_game
from ucd_planners.arena.schedule import Batch, play_matches
from ucd_planners.arena.store import Store

MATCHES: list[Match] = [
    Match("hex", "ucd(d1=0, d2=1, d3=2)", "uct", {"size": 3}, {"playouts": 20}, games=12, seed=5),
    Match("leftright", "simple_way", None, {"steps": 10}, {"playouts": 20}, games=7, seed=5),
    Match("tic_tac_toe", "uct", "update_all", {}, {"playouts": 10}, games=20, seed=6),
]
ENDLESS = Match("hex", "uct", "uct", {"size": 11}, {"playouts": 10**9}, games=2)
"""Games that would take hours."""

Played = list[tuple[Any, ...]]


def played(games: list[Game]) -> Played:
    """All of the games but their times."""
    return [(game.number, game.seat, game.moves, game.payoff, game.playouts) for game in games]


@pytest.fixture(scope="module")
def alone() -> list[Played]:
    """The games of the matches, played one after another."""
    return [played([play_game(match, number) for number in range(match.games)]) for match in MATCHES]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "games.sqlite") as opened:
        yield opened


def stored(store: Store) -> list[Played]:
    return [played(store.games(match)) for match in MATCHES]


# The same games everywhere (B116).


@pytest.mark.parametrize("jobs", [1, 2])
def test_games_do_not_depend_on_the_number_of_jobs(jobs: int, store: Store, alone: list[Played]) -> None:
    assert play_matches(MATCHES, store, jobs)
    assert stored(store) == alone


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_games_do_not_depend_on_the_executor(kind: Callable[[int], Executor], store: Store, alone: list[Played]) -> None:
    with kind(2) as executor:
        assert play_matches(MATCHES, store, 2, executor)
    assert stored(store) == alone


def test_the_callers_executor_stays_open(store: Store) -> None:
    with ThreadPoolExecutor(1) as executor:
        play_matches(MATCHES, store, executor=executor)
        assert executor.submit(int, "7").result() == 7


@pytest.mark.parametrize("jobs", [0, -1, 1025, 1.5, None])
def test_jobs_out_of_range_are_refused(jobs: Any, store: Store) -> None:
    with pytest.raises((ValueError, TypeError), match="jobs must be"):
        play_matches(MATCHES, store, jobs)


# What is played.


def told_by(matches: list[Match], store: Store) -> list[tuple[str, int]]:
    """Games that progress is told of when matches are played, by the game's name and number, sorted."""
    told: list[tuple[str, int]] = []
    play_matches(matches, store, progress=lambda match, games: told.extend((match.game, each.number) for each in games))
    return sorted(told)


def test_progress_is_told_of_every_game_once(store: Store) -> None:
    assert told_by(MATCHES[:2], store) == [("hex", i) for i in range(12)] + [("leftright", i) for i in range(7)]


def test_what_is_stored_is_not_played_again(store: Store) -> None:
    store.append(MATCHES[0], [play_game(MATCHES[0], number) for number in (0, 1, 2, 5, 6, 7, 8, 9, 11)])
    assert told_by(MATCHES[:1], store) == [("hex", 3), ("hex", 4), ("hex", 10)]


def test_a_schedule_that_was_played_is_played_no_more(store: Store) -> None:
    told_by(MATCHES, store)
    assert told_by(MATCHES, store) == []


def test_more_games_are_added_to_those_that_are_there(store: Store) -> None:
    told_by(MATCHES[1:2], store)
    assert told_by([replace(MATCHES[1], games=9)], store) == [("leftright", 7), ("leftright", 8)]


def test_no_matches_are_soon_played(store: Store) -> None:
    assert play_matches([], store, 2)


def test_progress_is_told_of_what_is_stored(store: Store) -> None:
    def progress(match: Match, games: list[Game]) -> None:
        assert set(games) <= set(store.games(match))

    assert play_matches(MATCHES, store, progress=progress)


# Batches.


class Counting(Executor):
    """Plays nothing; every batch has ended as soon as it is submitted."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.batches: list[tuple[Match, list[int]]] = []

    def submit(self, run: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        match, numbers = arguments
        self.batches.append((match, numbers))
        future: Future[Any] = Future()
        future.set_result([Game(number, 0, (), (0.5, 0.5), (1, 1), (1.0, 1.0), self.seconds) for number in numbers])
        return future


def test_matches_take_turns(store: Store) -> None:
    executor = Counting(100.0)
    play_matches(MATCHES, store, executor=executor)
    assert [match for match, _ in executor.batches[:6]] == MATCHES * 2


def test_batches_grow_to_a_second(store: Store) -> None:
    """Games of 1/50 s: 1, then four times as many at most, then 50; two of each are under way at once."""
    executor = Counting(0.02)
    play_matches([replace(MATCHES[0], games=1000)], store, executor=executor)
    assert [len(numbers) for _, numbers in executor.batches[:8]] == [1, 1, 4, 4, 16, 16, 50, 50]


def test_long_games_are_batches_of_their_own(store: Store) -> None:
    executor = Counting(3.0)
    play_matches(MATCHES[:1], store, executor=executor)
    assert [numbers for _, numbers in executor.batches] == [[number] for number in range(12)]


def test_the_last_games_are_shared_out() -> None:
    batch = Batch(MATCHES[0], range(10), 100)
    assert [list(batch.take(2)) for _ in range(3)] == [[0, 1, 2], [3, 4], [5, 6]]


# Exceptions and Ctrl-C.


def fails_at(number: int) -> Callable[..., Game]:
    """`play_game`, but one game fails."""

    def play(match: Match, which: int, stop: Any = None) -> Game:
        if which == number:
            raise OSError("the disk is gone")
        return play_game(match, which, stop)

    return play


def test_an_exception_in_a_game_is_raised(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """B118h: a game that failed is no result."""
    monkeypatch.setattr(contest, "play_game", fails_at(9))
    with pytest.raises(OSError, match=r"\Athe disk is gone\Z"):
        play_matches(MATCHES, store)


def test_an_exception_leaves_the_finished_batches_in_the_store(
    store: Store, monkeypatch: pytest.MonkeyPatch, alone: list[Played]
) -> None:
    monkeypatch.setattr(contest, "play_game", fails_at(9))
    with pytest.raises(OSError, match="the disk is gone"):
        play_matches(MATCHES[:1], store)
    assert stored(store)[0][:6] == alone[0][:6]  # batches of 1, 1 and 4; the next one failed


def test_an_exception_crosses_processes_and_ends_the_games_under_way(store: Store) -> None:
    """A match that no worker can play, since it was changed behind its back, and one that would take hours."""
    broken = replace(MATCHES[0])
    object.__setattr__(broken, "a", "foo")
    with pytest.raises(ValueError, match=r"\Aunknown planner 'foo'"):
        play_matches([ENDLESS, broken], store, 2)


def test_an_exception_of_progress_is_raised(store: Store) -> None:
    def stumble(match: Match, games: list[Game]) -> None:
        raise OSError("the pipe is broken")

    with pytest.raises(OSError, match=r"\Athe pipe is broken\Z"):
        play_matches(MATCHES, store, progress=stumble)


def interrupt_after(batches: int) -> Callable[[Match, list[Game]], None]:
    """A progress that does as Ctrl-C does after so many batches."""
    told = []

    def progress(match: Match, games: list[Game]) -> None:
        told.append(match)
        if len(told) == batches:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_and_the_same_again_give_the_same_games(jobs: int, store: Store, alone: list[Played]) -> None:
    """B118e."""
    assert not play_matches(MATCHES, store, jobs, progress=interrupt_after(3))
    some = sum(map(len, stored(store)))
    assert play_matches(MATCHES, store, jobs)
    assert (0 < some < 39, stored(store)) == (True, alone)


def test_ctrl_c_takes_the_waiting_batches_off_the_callers_executor(store: Store) -> None:
    match = replace(MATCHES[2], games=1000)
    with ThreadPoolExecutor(1) as executor:
        play_matches([match], store, 500, executor, interrupt_after(1))
        assert executor.submit(int, "7").result() == 7
    assert len(store.games(match)) < 500


def test_ctrl_c_ends_a_long_search_in_a_thread(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes when the search looks for the first time whether it should stop."""
    obey, looks = agents._obey, []

    def look(stop: Any) -> None:
        looks.append(stop)
        if len(looks) == 1:
            os.kill(os.getpid(), signal.SIGINT)
        obey(stop)

    monkeypatch.setattr(agents, "_obey", look)
    assert not play_matches([ENDLESS], store)


PROGRAM = """
import sys
from ucd_planners.arena import agents
from ucd_planners.arena.match import Match
from ucd_planners.arena.schedule import play_matches
from ucd_planners.arena.store import Store
quick = Match("tic_tac_toe", "uct", "uct", {}, {"playouts": 10}, games=2)
endless = Match("hex", "uct", "uct", {"size": 11}, {"playouts": 10**9}, games=2)
if __name__ == "__main__":
    obey = agents._obey
    def look(stop):
        if "searching" not in said:
            say("searching")
        obey(stop)
    def say(word):
        said.append(word)
        print(word, flush=True)
    said = []
    agents._obey = look
    with Store(sys.argv[1]) as store:
        say("playing")
        tell = lambda match, games: say(len(games))
        print(play_matches([quick, endless], store, 2, progress=tell))
"""


def program(tmp_path: Path) -> subprocess.Popen[str]:
    """A program of two processes that tells of two quick games, and then plays for hours, in a group of its own."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    words = [sys.executable, str(file), str(tmp_path / "games.sqlite")]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


@pytest.mark.parametrize("word", ["playing", "searching"], ids=["while they start", "while they search"])
def test_ctrl_c_in_a_terminal_ends_the_processes_in_order(word: str, tmp_path: Path) -> None:
    """A terminal sends the signal to all processes of the group, as soon as there are some."""
    with program(tmp_path) as run:
        assert run.stdout
        while run.stdout.readline() != f"{word}\n":
            pass
        while not children(run.pid):
            time.sleep(0.001)
        os.killpg(run.pid, signal.SIGINT)
        out, err = run.communicate(timeout=60)
    assert (run.returncode, out.split()[-1], err) == (0, "False", "")


INTERRUPTED = """
import os, signal, sys
from multiprocessing import resource_tracker
from ucd_planners.arena.match import Match
from ucd_planners.arena.schedule import play_matches
from ucd_planners.arena.store import Store
note, notes = resource_tracker.register, []
def noted(name, kind):
    note(name, kind)
    notes.append(name)
    if len(notes) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGINT)
resource_tracker.register = noted
if __name__ == "__main__":
    with Store(sys.argv[1]) as store:
        print(play_matches([Match("tic_tac_toe", "uct", "uct", {}, {"playouts": 10}, games=1000)], store, 2))
"""


@pytest.mark.parametrize("semaphore", [1, 5, 8])
def test_ctrl_c_while_semaphores_are_made_leaves_none_behind(semaphore: int, tmp_path: Path) -> None:
    """It comes when a semaphore has been made, and before it is noted that it must be removed."""
    file = tmp_path / "program.py"
    file.write_text(INTERRUPTED)
    words = [sys.executable, str(file), str(tmp_path / "games.sqlite"), str(semaphore)]
    run = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "False\n", "")


def children(pid: int) -> list[int]:
    """The processes that a process has started and that are still there."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    try:
        return "zombie" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def test_no_process_outlives_one_that_was_killed(tmp_path: Path) -> None:
    with program(tmp_path) as run:
        assert run.stdout
        while run.stdout.readline() != "searching\n":
            pass
        workers = children(run.pid)
        run.kill()
    end = time.monotonic() + 30
    while any(map(alive, workers)) and time.monotonic() < end:
        time.sleep(0.05)
    assert (len(workers) >= 2, list(filter(alive, workers))) == (True, [])
