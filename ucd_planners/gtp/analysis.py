"""Analysis of a running search, printed line by line in the format of Leela Zero's lz-analyze.

  info move D4 visits 123 winrate 5321 prior 0 order 0 pv D4 C3 C4 info move C3 ...

One line lists every move that was tried, the best one first. `winrate` is the mover's mean payoff in hundredths of a percent.
`prior` is an evaluator's probability in the same unit, 0 without one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from ucd_planners.planner import Planner
from ucd_planners.result import SearchResult

LONGEST_LINE = 20
"""Limit on the moves of a variation."""


class StoppedError(Exception):
    """Raised to end a search that is no longer watched."""


class Watch:
    """The progress of a search. Writes a line every `interval` seconds, and ends the search when `stopped` returns true.

    With several workers it shows the first one that reports, since each knows its own graph only.
    """

    def __init__(
        self, planner: Planner, interval: float, tell: Callable[[str], None], stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self._planner, self._interval, self._tell, self._stopped = planner, interval, tell, stopped
        self._thread: int | None = None
        self._next = 0.0

    def __call__(self, playouts: int, seconds: float) -> None:
        """Reports progress between pieces of the search. Raises StoppedError."""
        if self._thread is None:
            self._thread = threading.get_ident()
        if self._thread != threading.get_ident():
            return
        stopped = self._stopped()
        if seconds >= self._next or stopped:
            self._next = seconds + self._interval
            self._tell(information(self._planner.known(), self._planner.line))
        if stopped:
            raise StoppedError


def both(first: Callable[[int, float], None] | None, second: Callable[[int, float], None]) -> Callable[[int, float], None]:
    """Returns a progress function that calls two others, the first one if there is one."""
    if first is None:
        return second
    one = first

    def progress(playouts: int, seconds: float) -> None:
        one(playouts, seconds)
        second(playouts, seconds)

    return progress


def information(result: SearchResult, line: Callable[[int], list[int]]) -> str:
    """Returns the line of a result. `line` returns the moves from an action on, itself the first."""
    place = int(np.flatnonzero(result.actions == result.action)[0])
    rest = [int(i) for i in np.argsort(-result.visits, kind="stable") if i != place and result.visits[i]]
    told = []
    for order, i in enumerate([place, *rest]):
        moves = " ".join(result.names_of(line(int(result.actions[i]))[:LONGEST_LINE]))
        prior = 0.0 if result.priors is None else float(result.priors[i])
        told.append(
            f"info move {result.names(int(result.actions[i]))} visits {result.visits[i]} "
            f"winrate {round(10_000 * float(np.nan_to_num(result.values[i])))} prior {round(10_000 * prior)} "
            f"order {order} pv {moves}"
        )
    return " ".join(told)
