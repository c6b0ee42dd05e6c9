"""Workers: this process and others, which play batches of games at the same time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from multiprocessing.util import Finalize
from typing import Any

from ucd_envs.kernels import CHANCE
from ucd_envs.rng import seeded
from ucd_planners.arena.agents import Agent, PlannerAgent, Stop, StoppedError, agent_from, label
from ucd_planners.arena.contest import Contest, Game, Match, open_into
from ucd_planners.arena.executors import Cluster
from ucd_planners.arena.origin import here

AHEAD = 2
"""Number of batches that each worker has at once, so that none waits for its next one."""
BATCH_SECONDS = 1.0
"""Approximate time of a batch: the most that is lost when a process is killed."""
SINGLE_THREADED = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables of libraries that start a thread for each core, of which every worker process has one."""


class Workers:
    """Plays batches: `jobs` at once, one in a thread of this process and the others in processes of their own.

    The processes are spawned, and end with this one, however it ends. When one of them is killed, others take their place. A
    caller's executor may play all batches instead. Workers serve one schedule after another; none of them plays after `stop`.

    jobs: batches played at once; pools: executors with the number of batches that each has at once; stops: flags that end them;
    renewed: starts an executor in the place of a broken one; batch_seconds: approximate time of a batch.
    """

    def __init__(
        self,
        jobs: int,
        pools: Sequence[tuple[Executor, int]],
        stops: Sequence[Stop],
        renewed: Callable[[], Executor] | None = None,
        batch_seconds: float = BATCH_SECONDS,
    ) -> None:
        self.ours = bool(stops)
        """Whether the workers end here, and soon after `stop`; False on a caller's executor."""
        self.jobs, self.batch_seconds = jobs, batch_seconds
        self._pools = list(pools)
        self._stops = stops
        self._renewed = renewed
        self._busy = [0] * len(pools)
        self._pool_of: dict[Future[Any], int] = {}

    @property
    def idle(self) -> bool:
        """Returns whether some worker wants another batch."""
        return any(busy < room for busy, (_, room) in zip(self._busy, self._pools, strict=True))

    def submit(self, match: Contest, numbers: Sequence[int], tell: Callable[[Future[list[Game]]], Any]) -> Future[list[Game]]:
        """Gives a batch to the worker with the least work. `tell` is called, in any thread, once the batch has ended.

        Raises BrokenExecutor for an executor that has ended and has no successor.
        """
        place = min(range(len(self._pools)), key=lambda pool: self._busy[pool] / self._pools[pool][1])
        with _no_interrupt():
            pool, room = self._pools[place]
            try:
                future: Future[list[Game]] = pool.submit(play_batch, match, numbers)
            except BrokenExecutor:
                if self._renewed is None:
                    raise
                self._pools[place] = (self._renewed(), room)
                future = self._pools[place][0].submit(play_batch, match, numbers)
            self._pool_of[future] = place
            self._busy[place] += 1
        future.add_done_callback(tell)
        return future

    def release(self, future: Future[list[Game]]) -> None:
        """Records that a batch has ended."""
        self._busy[self._pool_of.pop(future)] -= 1

    def stop(self) -> None:
        """Ends the batches under way soon. Those on a caller's executor continue to their end."""
        for stop in self._stops:
            stop.set()


@contextmanager
def workers(executor: Executor | None, jobs: int) -> Iterator[Workers]:
    """Starts workers, and ends them with all programs of their agents. A caller's executor stays open.

    Processes start at once, in parallel with the caller's work before the first batch.
    """
    if executor is not None:
        seconds = BATCH_SECONDS
        if isinstance(executor, Cluster):
            jobs, seconds = executor.jobs, executor.batch_seconds
        yield Workers(jobs, [(executor, AHEAD * jobs)], [], batch_seconds=seconds)
        return
    opened: list[Agent] = []
    with ExitStack() as stack:
        stack.callback(_close, opened)
        halt = threading.Event()
        thread = stack.enter_context(ThreadPoolExecutor(1, initializer=_begin, initargs=(halt, opened)))
        pools: list[tuple[Executor, int]] = [(thread, AHEAD)]
        stops: list[Stop] = [halt]
        renewed = None
        if jobs > 1:
            context = multiprocessing.get_context("spawn")
            with _no_interrupt():  # Ctrl-C must not come between the making of a semaphore and the note to remove it
                event = context.Event()

            def renewed() -> Executor:
                with _no_interrupt():
                    pool = stack.enter_context(ProcessPoolExecutor(jobs - 1, context, _begin_process, (event,)))
                with _no_interrupt(), _single_threaded():  # once more: the first semaphore of a program unblocks the signal
                    for _ in range(jobs - 1):
                        pool.submit(_started)
                return pool

            pools.append((renewed(), AHEAD * (jobs - 1)))
            stops.append(event)
        yield Workers(jobs, pools, stops, renewed)


def play_batch(match: Contest, numbers: Sequence[int]) -> list[Game]:
    """Plays games of a match, fewer if the workers are stopped meanwhile. The time of no game has the compiling of kernels."""
    _prepare(match)
    stop: Stop | None = getattr(_local, "stop", None)
    games: list[Game] = []
    with suppress(StoppedError):
        for number in numbers:
            if stop is not None and stop.is_set():
                break
            games.append(replace(match.play(number, stop), origin=here()))
    return games


_local = threading.local()
"""State of a worker, a thread or a process. `stop`: the flag that ends its batches."""


_prepared: set[tuple[str, ...]] = set()
"""Game and planners whose kernels this process has compiled, or loaded."""


def _prepare(match: Contest) -> None:
    """Compiles or loads the kernels of a match in this process by a search of one playout by each planner."""
    if not isinstance(match, Match):
        return
    names = (match.game, *map(label, match.planners))
    if names in _prepared:
        return
    _prepared.add(names)
    with suppress(Exception):  # whatever fails here fails in the first game, which tells
        state = match.rules.initial_state()
        while state.player == CHANCE:
            state = state.after(state.outcome(seeded(0)))
        for player in match.planners:
            agent = agent_from(player, match.budget)
            if isinstance(agent, PlannerAgent):
                agent.planner.reset(0)
                agent.planner.act(state, playouts=agent.planner.workers)


def _started() -> None:
    """Does nothing. Submitting it makes a process start."""


def _begin(stop: Stop, opened: list[Agent]) -> None:
    """Prepares a worker."""
    _local.stop = stop
    open_into(opened)


def _begin_process(stop: Stop) -> None:
    """Prepares a worker process. It ignores Ctrl-C, which its parent handles, and ends with its parent."""
    opened: list[Agent] = []
    _begin(stop, opened)
    Finalize(None, _close, (opened,), exitpriority=10)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(opened,), daemon=True).start()


def _end_with_parent(opened: list[Agent]) -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        _close(opened)
        os._exit(1)


def _close(opened: list[Agent]) -> None:
    for agent in opened:
        agent.close()


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Makes the processes that are spawned meanwhile use one thread each, unless the environment says otherwise."""
    added = [name for name in SINGLE_THREADED if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Delays Ctrl-C. A process that is spawned meanwhile never receives it, not even while it starts."""
    handler, waiting = signal.getsignal(signal.SIGINT), threading.Event()
    handled = threading.current_thread() is threading.main_thread() and callable(handler)
    if handled:
        # Another thread may receive the signal that this one blocks, and its handler would run here all the same.
        signal.signal(signal.SIGINT, lambda number, frame: waiting.set())
    masks = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masks else None
    try:
        yield
    finally:
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if handled:
            signal.signal(signal.SIGINT, handler)
    if waiting.is_set():
        signal.raise_signal(signal.SIGINT)
