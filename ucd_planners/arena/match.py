"""Matches and their scores: games of two planners in pairs with seats swapped, or of one planner alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from statistics import fmean

from ucd_envs.settings import integer
from ucd_planners.arena.contest import Contest, Game, Match, play_game
from ucd_planners.arena.schedule import Batch, play_batches
from ucd_planners.arena.store import Store
from ucd_planners.arena.workers import Workers
from ucd_planners.intervals import mean_interval, sample_error, wilson

__all__ = ["Game", "Ledger", "Match", "MatchResult", "Score", "play_game", "play_match"]

DECIDED = {0.0, 0.5, 1.0}
"""Payoffs of a loss, a draw and a win."""
EXECUTOR_JOBS = 32
"""Least number of batches submitted at once to a caller's executor, which may have many workers."""


@dataclass(frozen=True)
class Score:
    """The payoffs of planner a, each in [0, 1]."""

    payoffs: tuple[float, ...]

    @property
    def games(self) -> int:
        """Returns the number of games."""
        return len(self.payoffs)

    @property
    def decided(self) -> bool:
        """Returns whether every game was won, drawn or lost: a payoff of 1, 1/2 or 0."""
        return DECIDED.issuperset(self.payoffs)

    @property
    def wins(self) -> int | None:
        """Returns the number of payoffs of 1; None unless every game was decided."""
        return self._count(1.0)

    @property
    def draws(self) -> int | None:
        """Returns the number of payoffs of 1/2; None unless every game was decided."""
        return self._count(0.5)

    @property
    def losses(self) -> int | None:
        """Returns the number of payoffs of 0; None unless every game was decided."""
        return self._count(0.0)

    @property
    def mean(self) -> float:
        """Returns the mean payoff, a draw being half a win; NaN without games."""
        return fmean(self.payoffs) if self.payoffs else math.nan

    @property
    def standard_error(self) -> float:
        """Returns the standard error of the mean; NaN for too few games.

        It is sqrt(p (1 - p) / n) if every game was decided, which is at least the sample's error; else the sample's error.
        """
        if self.decided:
            return math.sqrt(self.mean * (1 - self.mean) / self.games) if self.games else math.nan
        return sample_error(self.payoffs)

    @property
    def interval(self) -> tuple[float, float]:
        """Returns the 95% interval of the mean: Wilson's if every game was decided, else Student's."""
        return wilson(sum(self.payoffs), self.games) if self.decided else mean_interval(self.payoffs)

    def _count(self, payoff: float) -> int | None:
        return self.payoffs.count(payoff) if self.decided else None


@dataclass(frozen=True)
class MatchResult:
    """The games played in a match, in order of their numbers."""

    match: Match
    games: list[Game]
    failures: list[Game] = field(default_factory=list)
    """Games that failed, which count for no planner."""

    def score(self, seat: int | None = None) -> Score:
        """Returns the score of a, in one seat or in both."""
        return Score(tuple(game.payoff for game in self.games if seat is None or game.seat == seat))

    @property
    def distinct(self) -> int:
        """Returns the number of different games, compared by their moves."""
        return len({game.moves for game in self.games})

    def playouts_per_second(self, side: int) -> float:
        """Returns playouts per second of CPU time, of a (0) or b (1)."""
        cpu = sum(game.cpu_seconds[side] for game in self.games)
        return sum(game.playouts[side] for game in self.games) / max(cpu, 1e-9)


class Ledger:
    """The games of a match so far: those that its store had, and those that ended since. It is complete at every moment.

    store: where each game is kept as soon as its batch has ended; record: called with each of these games before that, with
    its thoughts. A game that failed is recorded but not stored.
    """

    def __init__(self, match: Match, store: Store | None = None, record: Callable[[Game], None] | None = None) -> None:
        self.match, self._store, self._record = match, store, record
        self._ended = {} if store is None else {game.number: game for game in store.games(match)}

    @property
    def missing(self) -> Sequence[int]:
        """Returns the numbers of the games that have no result, ascending."""
        if not self._ended:
            return range(self.match.games)
        return [number for number in range(self.match.games) if number not in self._ended or self._ended[number].failure]

    def play(
        self,
        jobs: int = 1,
        executor: Executor | Workers | None = None,
        progress: Callable[[Game], None] | None = None,
    ) -> bool:
        """Plays the missing games. Parameters are those of play_match. Returns False if Ctrl-C ended it early."""

        def report(match: Contest, games: list[Game]) -> None:
            for game in games:
                if progress is not None:
                    progress(game)

        integer("jobs", jobs, 1, 1024)
        at_once = max(jobs, EXECUTOR_JOBS) if isinstance(executor, Executor) else jobs
        batches = [Batch(self.match, numbers)] if (numbers := self.missing) else []
        return play_batches(batches, self._keep, at_once, executor, report)

    def result(self) -> MatchResult:
        """Returns the games so far."""
        ended = [self._ended[number] for number in sorted(self._ended)]
        failures = [game for game in ended if game.failure]
        return MatchResult(self.match, [game for game in ended if not game.failure], failures)

    def _keep(self, match: Contest, games: list[Game]) -> None:
        """Adds games that have ended. Where one cannot be recorded or stored, all are there."""
        self._ended |= {game.number: replace(game, thoughts=()) for game in games}
        try:
            if self._record is not None:
                for game in games:
                    self._record(game)
        finally:
            if self._store is not None:
                self._store.append(match, games)


def play_match(
    match: Match,
    jobs: int = 1,
    executor: Executor | Workers | None = None,
    progress: Callable[[Game], None] | None = None,
    store: Store | None = None,
) -> MatchResult:
    """Plays a match, `jobs` games at once as in play_batches, or on a caller's executor, or on started workers.

    `progress` is called with each game soon after its end, also for one that failed. Ctrl-C ends the match with the games
    played so far. With a store, the games that it has are not played again, and the others are added to it. Programs that play
    end with the match; on a caller's executor they end with their thread or process.
    """
    ledger = Ledger(match, store)
    ledger.play(jobs, executor, progress)
    return ledger.result()
