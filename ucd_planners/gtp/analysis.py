"""Analysis of a running search, printed line by line in the formats of Leela Zero (lz-analyze) and KataGo (kata-analyze).

  info move D4 visits 123 winrate 5321 prior 270 lcb 4440 order 0 pv D4 C3 C4 info move C3 ...

One line lists the moves that were tried, the best one first. `winrate` is the mover's mean payoff, `lcb` the lower end of its
95% interval (Wilson), both in hundredths of a percent for Leela Zero's format and from 0 to 1 for KataGo's. `prior`, in the
same unit, is the move's share of the payoffs that initial statistics give to the legal moves. Without them there is no `prior`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ucd_planners.intervals import wilson
from ucd_planners.planner import Planner
from ucd_planners.result import SearchResult

LONGEST_LINE = 20
"""Limit on the moves of a variation."""
Unit = Callable[[float], str]
"""Writes a number from 0 to 1."""


def leela(share: float) -> str:
    """Writes a number from 0 to 1 in hundredths of a percent, as Leela Zero does."""
    return str(round(10_000 * share))


def katago(share: float) -> str:
    """Writes a number from 0 to 1 with a point, as KataGo does. Sabaki tells the two units apart by the point."""
    return f"{share:.6f}"


class Wish(NamedTuple):
    """The lines that a controller wants of an analysis."""

    interval: float = 1.0
    """Seconds between two lines."""
    unit: Unit = leela
    most: int | None = None
    """The number of moves in a line, None for all that were tried."""


class StoppedError(Exception):
    """Raised to end a search that is no longer watched."""


class Watch:
    """The progress of a search. Writes a line every `interval` seconds, and ends the search when `stopped` returns true.

    With several workers it shows the first one that reports, since each knows its own graph only.
    """

    def __init__(
        self, planner: Planner, wish: Wish, tell: Callable[[str], None], stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self._planner, self._wish, self._tell, self._stopped = planner, wish, tell, stopped
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
            self._next = seconds + self._wish.interval
            self._tell(information(self._planner.known(), self._planner.line, self._wish))
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


def information(result: SearchResult, line: Callable[[int], list[int]], wish: Wish) -> str:
    """Returns the line of a result. `line` returns the moves from an action on, itself the first."""
    place = int(np.flatnonzero(result.actions == result.action)[0])
    rest = [int(i) for i in np.argsort(-result.visits, kind="stable") if i != place and result.visits[i]]
    told = []
    for order, i in enumerate([place, *rest][: wish.most]):
        value, visits = float(np.clip(np.nan_to_num(result.values[i]), 0.0, 1.0)), int(result.visits[i])
        lowest = wilson(value * visits, visits)[0] if visits else 0.0
        prior = "" if result.priors is None else f"prior {wish.unit(float(result.priors[i]))} "
        moves = " ".join(result.names_of(line(int(result.actions[i]))[:LONGEST_LINE]))
        told.append(
            f"info move {result.names(int(result.actions[i]))} visits {visits} winrate {wish.unit(value)} "
            f"{prior}lcb {wish.unit(lowest)} order {order} pv {moves}"
        )
    return " ".join(told)
