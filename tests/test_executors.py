"""Executors on clusters: the same games as here, lost workers, and what cannot be used."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ucd_planners import cli
from ucd_planners.arena import contest, executors, workers
from ucd_planners.arena.executors import Cluster, LostError, RayExecutor, executor_from
from ucd_planners.arena.match import Game, Match, play_game, play_match
from ucd_planners.arena.schedule import MOST_LOSSES, play_matches
from ucd_planners.arena.store import Store
from ucd_planners.planner import Planner

HEX = Match("hex", "ucd(d1=0, d2=1, d3=2)", "uct", {"size": 3}, {"playouts": 20}, games=40, seed=5)
LONG = Match("hex", "uct", "uct", {"size": 5}, {"playouts": 3000}, games=40, seed=5)
"""A quick match, and one whose games take some tens of milliseconds."""


def played(games: list[Game]) -> list[tuple[Any, ...]]:
    """All of the games but their times."""
    return [(game.number, game.seat, game.moves, game.payoff, game.playouts) for game in games]


@pytest.fixture(scope="module")
def alone() -> list[tuple[Any, ...]]:
    return played([play_game(HEX, number) for number in range(HEX.games)])


def descendants(pid: int) -> list[int]:
    """The processes below a process."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*"):  # each thread has its own children
        with suppress(OSError):
            found += [int(word) for word in (task / "children").read_text().split()]
    return [each for child in found for each in (child, *descendants(child))]


class Killer:
    """A progress that kills a process once, after its first game."""

    def __init__(self, chosen: Callable[[], list[int]]) -> None:
        self.chosen, self.killed = chosen, 0

    def __call__(self, game: Game) -> None:
        if not self.killed:
            self.killed = self.chosen()[0]
            os.kill(self.killed, signal.SIGKILL)


# Dask and Ray on this machine.


def test_dask_plays_the_same_games_also_when_a_worker_is_killed(alone: list[tuple[Any, ...]]) -> None:
    def busy() -> list[int]:
        spawned = [pid for pid in descendants(os.getpid()) if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        return [pid for pid in spawned if pid not in before]

    before = descendants(os.getpid())
    with executor_from("dask://local?batch_seconds=0.2", 2) as cluster:
        assert cluster is not None
        assert (cluster.jobs, cluster.batch_seconds) == (2, 0.2)
        assert played(play_match(HEX, executor=cluster).games) == alone
        killer = Killer(busy)
        assert played(play_match(LONG, executor=cluster, progress=killer).games) == played(play_match(LONG).games)
        assert killer.killed


def free_port() -> int:
    """A port at which nothing listens now."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port: int = unused.getsockname()[1]
        return port


@pytest.fixture
def dask_cluster() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A Dask scheduler with two workers in processes of their own: its text, and the scheduler."""
    port, quiet = free_port(), {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    words = [sys.executable, "-m", "dask"]
    address = f"tcp://127.0.0.1:{port}"
    server = subprocess.Popen([*words, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"], **quiet)
    team = [*words, "worker", address, "--nworkers", "2", "--nthreads", "1", "--no-dashboard", "--death-timeout", "30"]
    helpers = subprocess.Popen(team, **quiet)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            time.sleep(0.2)
        yield f"dask://127.0.0.1:{port}", server
    finally:
        for process in (helpers, server):
            process.terminate()
            process.wait(30)


def test_a_dask_scheduler_plays_until_it_dies(
    dask_cluster: tuple[str, subprocess.Popen[bytes]],
    alone: list[tuple[Any, ...]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The match ends with one sentence and keeps its games, and goes on elsewhere. Dask's own futures would wait for ever."""
    monkeypatch.setattr(executors, "KNOCK", 2.0)
    text, server = dask_cluster
    killer = Killer(lambda: [server.pid])
    with Store(tmp_path / "games.sqlite") as store:
        with executor_from(f"{text}?batch_seconds=0.2", 2) as cluster:
            assert cluster is not None
            assert played(play_match(HEX, executor=cluster).games) == alone
            with pytest.raises(BrokenExecutor) as caught:
                play_matches([LONG], store, executor=cluster, progress=lambda match, games: killer(games[0]))
        assert (
            str(caught.value)
            == f"the cluster cannot be reached any more: {text}?batch_seconds=0.2 has not answered for 2 seconds"
        )
        kept = len(store.games(LONG))
        assert 0 < kept < LONG.games
        assert play_matches([LONG], store)
        assert played(store.games(LONG)) == played(play_match(LONG).games)


@pytest.mark.learning
def test_ray_plays_the_same_games_also_when_a_worker_is_killed(alone: list[tuple[Any, ...]]) -> None:
    def busy() -> list[int]:
        return [pid for pid in descendants(os.getpid()) if b"ray::_call" in Path(f"/proc/{pid}/cmdline").read_bytes()]

    with executor_from("ray://local?batch_seconds=0.2", 2) as cluster:
        assert cluster is not None
        assert played(play_match(HEX, executor=cluster).games) == alone
        killer = Killer(busy)
        assert played(play_match(LONG, executor=cluster, progress=killer).games) == played(play_match(LONG).games)
        assert killer.killed
        ray = RayExecutor()
        with pytest.raises(ValueError, match=r"\Ainvalid literal"):
            ray.submit(int, "x").result()
        sleeping = ray.submit(time.sleep, 60)
        assert (sleeping.cancel(), sleeping.cancelled()) == (True, True)


@pytest.fixture
def ray_port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of the client server of a Ray cluster with two cores, in processes of its own.

    It asks for a token where this process has one, as after `ray://local`.
    """
    monkeypatch.setenv("RAY_AUTH_MODE", os.environ.get("RAY_AUTH_MODE", "disabled"))
    port, quiet = free_port(), {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    ports = ["--port", str(free_port()), "--ray-client-server-port", str(port)]
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp") as folder:  # a short path, since sockets lie in it
        more = ["--num-cpus", "2", "--include-dashboard", "false", "--disable-usage-stats", "--temp-dir", folder]
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", *ports, *more]
        head = subprocess.Popen(command, **quiet)  # type: ignore[call-overload]
        try:
            end = time.monotonic() + 120
            while subprocess.run([sys.executable, "-c", f"import ray; ray.init('ray://127.0.0.1:{port}')"], **quiet).returncode:  # type: ignore[call-overload]
                assert time.monotonic() < end, "the cluster does not start"
            yield port
        finally:
            head.terminate()
            head.wait(30)


@pytest.mark.learning
def test_a_ray_cluster_plays_the_same_games_by_its_client_server_and_from_within(
    ray_port: int, alone: list[tuple[Any, ...]]
) -> None:
    for text in (f"ray://127.0.0.1:{ray_port}", "ray://auto"):
        with executor_from(f"{text}?batch_seconds=0.2") as cluster:
            assert cluster is not None
            assert cluster.jobs == 2
            assert played(play_match(HEX, executor=cluster).games) == alone


def test_a_command_plays_on_an_executor(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["match", "--game", "hex", "--size", "3", "--a", "uct", "--b", "random", "--playouts", "5", "--games", "10"]
    assert cli.main([*words, "--executor", "dask://local", "--jobs", "1"]) == 0
    there = capsys.readouterr().out.splitlines()
    assert cli.main(words) == 0
    here = capsys.readouterr().out.splitlines()
    assert there[:-1] == here[:-1]


# Lost workers.


class Losing(Executor):
    """Loses the workers of its first batches."""

    def __init__(self, losses: int) -> None:
        self.left, self.asked = losses, 0

    def submit(self, run: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.asked += 1
        if self.left:
            self.left -= 1
            future.set_exception(BrokenExecutor("gone"))
        else:
            future.set_result(run(*arguments, **named))
        return future


def test_the_games_of_a_lost_worker_are_played_again(alone: list[tuple[Any, ...]]) -> None:
    assert played(play_match(HEX, executor=Losing(MOST_LOSSES - 1)).games) == alone


def test_a_batch_that_loses_every_worker_ends_the_match(tmp_path: Path) -> None:
    losing = Losing(10**6)
    with Store(tmp_path / "games.sqlite") as store, pytest.raises(BrokenExecutor, match="gone"):
        play_matches([HEX], store, 1, losing)
    assert losing.asked <= 2 * MOST_LOSSES


def test_a_worker_process_that_is_killed_is_replaced() -> None:
    before = descendants(os.getpid())
    killer = Killer(lambda: [pid for pid in descendants(os.getpid()) if pid not in before][-1:])
    assert played(play_match(LONG, 2, progress=killer).games) == played(play_match(LONG).games)
    assert killer.killed


class Refusing(Executor):
    """Takes no batch."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def submit(self, run: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        raise self.error


def test_a_cluster_that_has_ended_is_told_in_one_sentence() -> None:
    with pytest.raises(LostError, match=r"\Athe cluster cannot be reached any more: closed\Z"):
        play_match(HEX, executor=Cluster(Refusing(RuntimeError("closed\nmore")), 2))
    with pytest.raises(TypeError, match="pickle"):
        play_match(HEX, executor=Cluster(Refusing(TypeError("pickle")), 2))


def test_a_cluster_tells_lost_workers_from_failures() -> None:
    inner: Future[Any] = Future()

    class Waiting(Executor):
        def submit(self, run: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
            return inner

    cluster = Cluster(Waiting(), 1, lost=(KeyError,))
    lost = cluster.submit(int)
    inner.set_exception(KeyError("killed"))
    assert isinstance(lost.exception(), LostError)
    for error, kind in ((ValueError("x"), ValueError), (None, LostError)):
        inner = Future()
        failed = cluster.submit(int)
        inner.cancel() if error is None else inner.set_exception(error)
        assert isinstance(failed.exception(), kind)


def test_a_call_that_is_cancelled_is_taken_off_the_cluster() -> None:
    wait = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        cluster = Cluster(pool, 1)
        first, second = cluster.submit(wait.wait), cluster.submit(wait.wait)
        assert second.cancel()
        wait.set()
        assert first.result() is True
        assert cluster.submit(int, "7").result() == 7


# Batches.


def test_batches_on_a_cluster_are_as_long_as_it_says() -> None:
    sizes = []

    class Counting(Executor):
        def submit(self, run: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
            future: Future[Any] = Future()
            sizes.append(len(arguments[1]))
            future.set_result([Game(number, 0, (), (0.5, 0.5), (1, 1), (1.0, 1.0), 0.25) for number in arguments[1]])
            return future

    play_match(Match("hex", "uct", "uct", games=10**4), executor=Cluster(Counting(), 1, 3.0))
    assert sizes[:10] == [1, 1, 4, 4, 12, 12, 12, 12, 12, 12]


def test_kernels_are_ready_before_the_clock_of_a_first_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """B118f: a process that plays its first batch would else count seconds of compiling as the pace of games."""
    events: list[str] = []
    act = Planner.act

    def acted(self: Planner, env: Any, **given: Any) -> int:
        events.append(f"{given['playouts']} playouts")
        return act(self, env, **given)

    def play(match: Match, number: int, stop: Any = None) -> Game:
        events.append(f"game {number}")
        return play_game(match, number, stop)

    monkeypatch.setattr(Planner, "act", acted)
    monkeypatch.setattr(contest, "play_game", play)
    monkeypatch.setattr(workers, "_prepared", set())
    assert played(workers.play_batch(HEX, range(2))) == played([play_game(HEX, number) for number in range(2)])
    workers.play_batch(HEX, range(2, 3))
    assert events == ["1 playouts", "1 playouts", "game 0", "game 1", "game 2"]


def test_worker_processes_have_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "3")
    with workers.workers(None, 2) as team:
        asked = [team._pools[1][0].submit(os.getenv, name).result() for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")]
    assert (asked, os.getenv("OMP_NUM_THREADS")) == (["1", "3"], None)


# What cannot be used.

MATCH = ["match", "--game", "hex", "--size", "3", "--a", "uct", "--b", "uct", "--games", "2"]


@pytest.mark.parametrize("command", [MATCH, ["reproduce", "leftright", "--games", "1"]], ids=["match", "reproduce"])
@pytest.mark.parametrize("text", ["foo", "foo://local", "dask://", "dask://auto", "ray://a:b", "ray://a:0", "dask://a:65536"])
def test_a_text_of_another_form_is_refused(
    text: str, command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main([*command, "--executor", text]) == 2
    assert capsys.readouterr().err == f"ucd: executor must be {executors.FORMS}, not {text!r}\n"


@pytest.mark.parametrize("query", ["batch_seconds=0", "batch_seconds=x", "batch_seconds=inf", "batch_seconds", "jobs=2", "="])
def test_an_unknown_setting_is_refused(query: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*MATCH, "--executor", f"dask://local?{query}"]) == 2
    assert capsys.readouterr().err.startswith("ucd: an executor's only setting is such as ?batch_seconds=30, not ")


@pytest.mark.parametrize(("kind", "module"), [("ray", "ray"), ("dask", "distributed")])
def test_a_library_that_is_missing_is_named_with_its_extra(
    kind: str, module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert cli.main([*MATCH, "--executor", f"{kind}://local"]) == 2
    assert capsys.readouterr().err == f"ucd: {kind}:// needs {module}: pip install 'ucd-planners[{kind}]'\n"


def test_an_address_where_nothing_listens_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        text = f"dask://127.0.0.1:{unused.getsockname()[1]}"
        assert cli.main([*MATCH, "--executor", text]) == 1
    assert capsys.readouterr().err == f"ucd: {text} cannot be reached: Connection refused\n"


def test_a_server_of_another_kind_is_told_in_time(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(executors, "KNOCK", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        text = f"dask://127.0.0.1:{server.getsockname()[1]}"
        assert cli.main([*MATCH, "--executor", text]) == 1
    assert capsys.readouterr().err.startswith(f"ucd: {text} cannot be reached: ")


def test_workers_that_do_not_answer_or_have_another_version_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "PATIENCE", 0.05)
    wait = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        cluster = Cluster(pool, 1)
        pool.submit(wait.wait)
        with pytest.raises(ConnectionError, match=r"\Ax has no worker that answers within 0.05 seconds\Z"):
            executors._check("x", cluster)
        wait.set()
    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(executors, "_version", lambda: "0.0.1")
        with pytest.raises(ConnectionError, match=r"\Aa worker of x has version 0.0.1 of this package, but this process has "):
            executors._check("x", Cluster(pool, 1))


@pytest.mark.parametrize(("jobs", "seconds"), [(0, 1.0), (1.5, 1.0), (1, 0.0), (1, float("nan"))])
def test_a_cluster_without_room_or_time_is_refused(jobs: Any, seconds: float) -> None:
    with pytest.raises((ValueError, TypeError), match=r"\A(jobs|batch_seconds) must be"):
        Cluster(Losing(0), jobs, seconds)
