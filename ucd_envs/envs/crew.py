"""Threads that share the work of a kernel on many games."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

LEAST_SHARE = 64
"""Smallest number of games for which a thread is worth its start."""
LEAST_SECONDS = 2e-4
"""Seconds that a share has to take for a thread to be woken: waking it, and waiting for it, takes some of them."""


class Job:
    """A call of a kernel on some games, with its result once that is there."""

    def __init__(self, kernel: Callable[..., int] | None, arguments: tuple[Any, ...]) -> None:
        self.kernel, self.arguments = kernel, arguments
        self._result: int | BaseException = 0
        self._done = threading.Lock()
        self._done.acquire()

    def run(self, first: int, last: int) -> None:
        """Calls the kernel."""
        try:
            self._result = 0 if self.kernel is None else self.kernel(*self.arguments, first, last)
        except BaseException as error:
            self._result = error
        self._done.release()

    def result(self) -> int:
        """Waits for the result and returns it. Raises what the kernel has raised."""
        self._done.acquire()
        if isinstance(self._result, BaseException):
            raise self._result
        return self._result


class Helper:
    """A thread that runs kernels on its run of games, one after another."""

    def __init__(self, first: int, last: int) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        threading.Thread(target=_serve, args=(self._jobs, first, last), name="ucd-batch", daemon=True).start()

    def ask(self, kernel: Callable[..., int] | None, arguments: tuple[Any, ...]) -> Job:
        """Begins kernel(*arguments, first, last); without a kernel there is nothing to do."""
        job = Job(kernel, arguments)
        self._jobs.put(job)
        return job

    def settle(self) -> None:
        """Waits until nothing that was asked for is under way, also through Ctrl-C."""
        job = self.ask(None, ())
        while True:
            try:
                job.result()
                return
            except KeyboardInterrupt:
                pass

    def end(self) -> None:
        """Ends the thread after all that was asked for."""
        self._jobs.put(None)


def _serve(jobs: SimpleQueue[Job | None], first: int, last: int) -> None:
    """Runs jobs until there is None."""
    while (job := jobs.get()) is not None:
        job.run(first, last)
        del job  # no array outlives its call here


class Crew:
    """A number of threads, the caller's among them, each with a run of the games 0 ... games - 1.

    The others are started when they are first needed, and again after `close` and in a forked process. The caller works alone
    where a share would take less than LEAST_SECONDS, by the time that the kernel has taken for a game so far.
    """

    def __init__(self, threads: int, games: int) -> None:
        shares = max(1, min(threads, games // LEAST_SHARE))
        self.bounds = [games * share // shares for share in range(shares + 1)]
        self._helpers: list[Helper] = []
        self._process = 0
        self._ending: Callable[[], Any] | None = None
        self._paces: dict[int, float] = {}

    def run(self, kernel: Callable[..., int], *arguments: Any) -> int:
        """Calls kernel(*arguments, first, last) for all runs of games at once. Returns the highest of the results."""
        shares, games = len(self.bounds) - 1, self.bounds[-1]
        if shares == 1:
            return kernel(*arguments, 0, games)
        pace = self._paces.get(id(kernel), 0.0)
        alone = pace * games < LEAST_SECONDS * shares
        last = games if alone else self.bounds[1]
        helpers = [] if alone else self._started()
        try:
            jobs = [helper.ask(kernel, arguments) for helper in helpers]
            began = time.perf_counter()
            own = kernel(*arguments, 0, last)
            spent = time.perf_counter() - began
            highest = max(own, *(job.result() for job in jobs)) if jobs else own
        except BaseException:
            for helper in helpers:  # nobody may write into arrays of a caller that has gone on
                helper.settle()
            raise
        # Half of what was known before: a game may become slower.
        self._paces[id(kernel)] = (pace + spent / last) / 2
        return highest

    def _started(self) -> list[Helper]:
        """The other threads."""
        if self._process != os.getpid():
            self._helpers = [Helper(*self.bounds[share : share + 2]) for share in range(1, len(self.bounds) - 1)]
            self._process = os.getpid()
            self._ending = weakref.finalize(self, _end, self._helpers)
        return self._helpers

    def close(self) -> None:
        """Ends the threads."""
        if self._ending is not None and self._process == os.getpid():
            self._ending()
        self._helpers, self._process, self._ending = [], 0, None

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.bounds,)


def _end(helpers: list[Helper]) -> None:
    for helper in helpers:
        helper.end()


def _again(bounds: list[int]) -> Crew:
    """Unpickles a crew, without its threads."""
    crew = Crew(1, 1)
    crew.bounds = bounds
    return crew


def cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
