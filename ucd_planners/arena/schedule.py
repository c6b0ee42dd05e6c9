"""A schedule: the games of many contests on several processes, each kept in a store as soon as it can be.

Workers play batches of about a second. Contests take turns, so that no core waits while there is a game left. Which
worker plays a game, and when, decides nothing about it.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import SimpleQueue

from ucd_envs.settings import integer
from ucd_planners.arena.agents import Stop, StoppedError
from ucd_planners.arena.match import Contest, Game, play_game
from ucd_planners.arena.store import Store

BATCH_SECONDS = 1.0
"""About how long a batch takes: the most that is lost when a process is killed."""


def play_contests(
    contests: Sequence[Contest],
    store: Store,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Callable[[Contest, list[Game]], None] | None = None,
) -> bool:
    """Plays the games of contests that a store lacks and stores them; whether all came to their end.

    jobs: so many processes, one being a thread of this process; executor: one of the caller's that runs the batches instead,
    with `jobs` telling how many it can run at once; progress: called with each batch once it is stored. Ctrl-C ends it soon,
    with all finished games in the store. An exception in a game is raised once the other finished batches are stored; a game
    that failed is told to `progress` and played anew when the schedule is.

    Processes are spawned: a program that calls this with jobs > 1 does so below `if __name__ == "__main__"`, and games that it
    registers itself need jobs = 1 or an executor whose workers know them.
    """
    jobs = integer("jobs", jobs, 1, 1024)
    turns = deque(Rest(contest, deque(numbers)) for contest in contests if (numbers := store.missing(contest)))
    running: dict[Future[list[Game]], Rest] = {}
    ended: SimpleQueue[Future[list[Game]]] = SimpleQueue()
    failures = 0
    with _workers(executor, jobs) as (pool, stop):
        try:
            while turns or running:
                while turns and len(running) < 2 * jobs:
                    rest = turns.popleft()
                    with _no_interrupt():
                        future = pool.submit(play_batch, rest.contest, rest.batch(jobs))
                        running[future] = rest
                    future.add_done_callback(ended.put)
                    if rest.numbers:
                        turns.append(rest)
                future = ended.get()
                games = future.result()
                failures += sum(bool(game.failure) for game in games)
                running[future].learn(games)
                store.append(running[future].contest, games)
                rest = running.pop(future)
                if progress is not None:
                    progress(rest.contest, games)
        except KeyboardInterrupt:
            return False
        finally:
            stop.set()
            for future in [future for future in running if not future.cancel()]:
                if executor is None or future.done():
                    with suppress(Exception):
                        store.append(running[future].contest, future.result())
    return not failures


def play_batch(contest: Contest, numbers: Sequence[int]) -> list[Game]:
    """Games of a contest; fewer if the schedule is stopped meanwhile."""
    stop: Stop | None = getattr(_local, "stop", None)
    games: list[Game] = []
    with suppress(StoppedError):
        for number in numbers:
            if stop is not None and stop.is_set():
                break
            games.append(play_game(contest, number, stop))
    return games


@dataclass
class Rest:
    """What is left to play of a contest, and how many of its games make a batch."""

    contest: Contest
    numbers: deque[int]
    size: int = 1

    def batch(self, jobs: int) -> list[int]:
        """Takes the next numbers; fewer near the end, so that all workers have a part of it."""
        return [self.numbers.popleft() for _ in range(min(self.size, math.ceil(len(self.numbers) / jobs)))]

    def learn(self, games: list[Game]) -> None:
        """Sets the size of batches by the time that games took; it grows by steps, since the first games tell little."""
        if games:
            pace = sum(game.seconds for game in games) / len(games)
            self.size = max(1, min(int(BATCH_SECONDS / max(pace, 1e-6)), 4 * len(games)))


_local = threading.local()
"""What ends the batches of a worker, be it a thread or a process."""


@contextmanager
def _workers(executor: Executor | None, jobs: int) -> Iterator[tuple[Executor, Stop]]:
    """What runs batches, and the event that ends those under way; batches on the caller's executor go on to their end."""
    if executor is not None:
        yield executor, threading.Event()
    elif jobs == 1:
        halt = threading.Event()
        with ThreadPoolExecutor(1, initializer=_begin, initargs=(halt,)) as threads:
            yield threads, halt
    else:
        context = multiprocessing.get_context("spawn")
        event = context.Event()
        with ProcessPoolExecutor(jobs, context, _begin_process, (event,)) as processes:
            yield processes, event


def _begin(stop: Stop) -> None:
    """The first thing that a worker does."""
    _local.stop = stop


def _begin_process(stop: Stop) -> None:
    """The first thing that a worker process does: Ctrl-C is for its parent, without which it does not go on."""
    _begin(stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Ctrl-C waits; a process that is spawned meanwhile never sees it, not even while it starts."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
