"""Quick runs: as many games as fit into a time, spread evenly over all settings, with both seats equally often."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import suppress

from ucd_planners.arena.contest import Contest, Game
from ucd_planners.arena.schedule import Batch, play_batches
from ucd_planners.arena.store import Store
from ucd_planners.arena.workers import workers

PAIR = 2
"""Games after which each planner has had each seat equally often."""


class TimeUp(Exception):  # noqa: N818
    """Raised to end a schedule whose time is over."""


def play_evenly(
    contests: Sequence[Contest],
    store: Store,
    seconds: float,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Callable[[Contest, list[Game]], None] | None = None,
) -> None:
    """Plays and stores games that a store lacks, a pair of each contest, then another pair of each, until the time is over.

    seconds: of wall-clock time, which also counts compiling. Games under way at its end are given up, but those on a caller's
    executor. The other parameters, and Ctrl-C, are as in play_matches.
    """
    end = time.monotonic() + seconds
    wanted = [(contest, set(store.missing(contest))) for contest in contests]
    most = max((contest.games for contest in contests), default=0)
    batches = [
        Batch(contest, [number])
        for first in range(0, most, PAIR)
        for contest, lacking in wanted
        for number in range(first, first + PAIR)
        if number in lacking
    ]

    def report(contest: Contest, games: list[Game]) -> None:
        if progress is not None:
            progress(contest, games)
        if time.monotonic() >= end:
            raise TimeUp

    with suppress(TimeUp, KeyboardInterrupt):
        if executor is not None:
            play_batches(batches, store.append, jobs, executor, report)
            return
        with workers(None, jobs) as team:
            alarm = threading.Timer(seconds, team.stop)
            alarm.start()
            try:
                play_batches(batches, store.append, jobs, team, report)
            finally:
                alarm.cancel()


def common_games(contests: Sequence[Contest], store: Store) -> int:
    """Returns the greatest even number of games that every contest has, of those that have a pair; 0 where none has.

    Games count from number 0 without a gap. A contest that is complete has enough.
    """
    counts = []
    for contest in contests:
        lacking = store.missing(contest)
        there = lacking[0] // PAIR * PAIR if lacking else max(PAIR, *(each.games for each in contests))
        if there:
            counts.append(there)
    return min(counts, default=0)


def balanced(games: Sequence[Game], most: int) -> list[Game]:
    """Returns the games below a number, without the last one of a pair that is not whole.

    games: by number, ascending.
    """
    whole = [game for place, game in enumerate(games) if game.number == place < most]
    return whole[: len(whole) // PAIR * PAIR] if len(whole) < most else whole
