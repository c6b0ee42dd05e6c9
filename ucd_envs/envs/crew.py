"""Threads that share the work of a kernel on many games."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

LEAST_SHARE = 64
"""Smallest number of games for which a thread is worth its start."""


class Crew:
    """A number of threads, the caller's among them, each with a run of the games 0 ... games - 1.

    The others are started when they are first needed, and again after `close`.
    """

    def __init__(self, threads: int, games: int) -> None:
        shares = max(1, min(threads, games // LEAST_SHARE))
        self.bounds = [games * share // shares for share in range(shares + 1)]
        self._pool: ThreadPoolExecutor | None = None

    def run(self, kernel: Callable[..., int], *arguments: Any) -> int:
        """Calls kernel(*arguments, first, last) for all runs of games at once. Returns the highest of the results."""
        shares, others = len(self.bounds) - 1, list[Future[int]]()
        if shares == 1:
            return kernel(*arguments, 0, self.bounds[1])
        if self._pool is None:
            self._pool = ThreadPoolExecutor(shares - 1, "ucd-batch")
        for share in range(1, shares):
            others.append(self._pool.submit(kernel, *arguments, *self.bounds[share : share + 2]))
        try:
            own = kernel(*arguments, *self.bounds[:2])
        finally:
            wait(others)  # nobody may write into arrays of a caller that has gone on
        return max(own, *(other.result() for other in others))

    def close(self) -> None:
        """Ends the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.bounds,)


def _again(bounds: list[int]) -> Crew:
    """Unpickles a crew, without its threads."""
    crew = Crew(1, 1)
    crew.bounds = bounds
    return crew


def cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
