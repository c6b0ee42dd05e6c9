"""A match of two planners: games in pairs with seats swapped, and what they say; a solo: one planner's games alone.

Both are contests. A game's moves depend on the contest's seed and the game's number alone, not on how many games run at once
or in what order.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from queue import SimpleQueue
from typing import Any, Protocol

import numpy as np

from ucd_envs import registry
from ucd_envs.rules import whole
from ucd_planners.notation import planner_from
from ucd_planners.planner import Planner
from ucd_planners.statistics import wilson


@dataclass(frozen=True)
class Match:
    """Two planners, a game and how often they play it.

    game and settings: as in ucd_envs.make; a, b: planners in the notation of ucd_planners.notation; budget: playouts or
    seconds a move, for planners that name none; games: how many, an even number, since seats are swapped in pairs; seed.
    Raises ValueError or TypeError, before any game, for anything that cannot be played.
    """

    game: str
    a: str
    b: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    budget: Mapping[str, Any] = field(default_factory=lambda: {"playouts": 1000})
    games: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        _check(self)
        if self.games % 2:
            raise ValueError(f"games must be an even number, since seats are swapped in pairs, not {self.games}")

    @property
    def planners(self) -> tuple[str, ...]:
        """The planners' texts."""
        return (self.a, self.b)

    def seats(self, number: int) -> tuple[int, ...]:
        """Which planner has each seat in a game; a, planner 0, has the first seat in games of even number."""
        return (1, 0) if number % 2 else (0, 1)


@dataclass(frozen=True)
class Solo:
    """A planner, a game of one player and how often it is played; what is said of a Match holds, but games may be odd."""

    game: str
    a: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    budget: Mapping[str, Any] = field(default_factory=lambda: {"playouts": 1000})
    games: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        _check(self)

    @property
    def planners(self) -> tuple[str, ...]:
        """The planner's text."""
        return (self.a,)

    def seats(self, number: int) -> tuple[int, ...]:
        """Which planner has each seat in a game."""
        return (0,)


Contest = Match | Solo
"""What has games that can be played, stored and scheduled."""


def _check(contest: Contest) -> None:
    """Raises ValueError or TypeError for a contest that cannot be played."""
    rules = registry.rules(contest.game, **contest.settings)
    seats = len(contest.planners)
    if rules.players != seats:
        wanted = ("one player", "two players")[seats - 1]
        raise ValueError(f"a {type(contest).__name__.lower()} needs a game of {wanted}, but {rules} has {rules.players}")
    whole("games", contest.games, seats, 10**9)
    whole("seed", contest.seed, 0, 2**64 - 1)
    for text in contest.planners:
        planner_from(text, **contest.budget)


@dataclass(frozen=True)
class Game:
    """One game of a contest; what belongs to every planner is (a's, b's), or (a's,) in a solo."""

    number: int
    seat: int
    """The seat of a: 0 for the first player."""
    moves: tuple[int, ...]
    payoff: float
    """a's payoff in [0, 1]."""
    playouts: tuple[int, ...]
    cpu_seconds: tuple[float, ...]
    seconds: float = 0.0
    """From the first move to the end by the clock on the wall; a process's first game compiles or loads its kernels in it."""


@dataclass(frozen=True)
class Tally:
    """Wins, draws and losses of planner a."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """How many games."""
        return self.wins + self.draws + self.losses

    @property
    def share(self) -> float:
        """Points of a game, a draw half, in [0, 1]; NaN without games."""
        return (self.wins + self.draws / 2) / self.games if self.games else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% interval of the share."""
        return wilson(self.wins + self.draws / 2, self.games)


@dataclass(frozen=True)
class MatchResult:
    """The games that were played, in order of their numbers."""

    match: Match
    games: list[Game]

    def tally(self, seat: int | None = None) -> Tally:
        """Results of a, in one seat or in both."""
        payoffs = [game.payoff for game in self.games if seat is None or game.seat == seat]
        wins, losses = payoffs.count(1.0), payoffs.count(0.0)
        return Tally(wins, len(payoffs) - wins - losses, losses)

    @property
    def distinct(self) -> int:
        """How many different games, by their moves."""
        return len({game.moves for game in self.games})

    def playouts_per_second(self, side: int) -> float:
        """Playouts per second of CPU time, of a (0) or b (1)."""
        cpu = sum(game.cpu_seconds[side] for game in self.games)
        return sum(game.playouts[side] for game in self.games) / max(cpu, 1e-9)


class StoppedError(Exception):
    """Ends a search of a contest that was stopped."""


class Stop(Protocol):
    """What tells games under way to end: an event of threads or of processes."""

    def is_set(self) -> bool:
        """Whether they should."""
        ...

    def set(self) -> None:
        """From now on they should."""
        ...


def play_game(contest: Contest, number: int, stop: Stop | None = None) -> Game:
    """One game of a contest. Raises StoppedError within a fraction of a second after `stop` is set."""
    began = time.perf_counter()
    seats = contest.seats(number)
    planners = _planners(contest)
    for side, planner in enumerate(planners):
        planner.reset(int(np.random.SeedSequence((contest.seed, number, side)).generate_state(1, np.uint64)[0]))
        planner.progress = None if stop is None else _stopper(stop)
    playouts, cpu, moves = [0] * len(planners), [0.0] * len(planners), []
    state = registry.rules(contest.game, **contest.settings).initial_state()
    while not state.over:
        side = seats[state.player]
        result = planners[side].search(state)
        if result.stopped == "interrupt":
            raise KeyboardInterrupt
        playouts[side] += result.playouts
        cpu[side] += result.cpu_seconds
        moves.append(result.action)
        state = state.after(result.action)
    seat = seats.index(0)
    seconds = time.perf_counter() - began
    return Game(number, seat, tuple(moves), state.payoffs()[seat], tuple(playouts), tuple(cpu), seconds)


AHEAD = 1024
"""Games that wait in an executor at most, so that a match of any length takes little memory."""


def play_match(
    match: Match,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Callable[[Game], None] | None = None,
) -> MatchResult:
    """Plays a match, `jobs` games at once in threads, or on an executor of the caller's.

    `progress` is called with each game as it ends. Ctrl-C ends the match with the games played so far.
    """
    games: list[Game] = []
    stop = threading.Event()
    arguments = (stop,) if executor is None else ()
    numbers = iter(range(match.games))
    running: set[Future[Game]] = set()
    ended: SimpleQueue[Future[Game]] = SimpleQueue()
    with _threads(executor, whole("jobs", jobs, 1, 1024)) as pool:
        try:
            while len(games) < match.games:
                for number in islice(numbers, AHEAD - len(running)):
                    future = pool.submit(play_game, match, number, *arguments)
                    running.add(future)
                    future.add_done_callback(ended.put)
                future = ended.get()
                running.remove(future)
                games.append(future.result())
                if progress is not None:
                    progress(games[-1])
        except KeyboardInterrupt:
            pass
        finally:
            stop.set()
            for future in running:
                future.cancel()
    return MatchResult(match, sorted(games, key=lambda game: game.number))


@contextmanager
def _threads(executor: Executor | None, jobs: int) -> Iterator[Executor]:
    """The caller's executor, which stays open, or threads."""
    if executor is not None:
        yield executor
        return
    with ThreadPoolExecutor(jobs) as pool:
        yield pool


def _stopper(stop: Stop) -> Callable[[int, float], None]:
    def check(playouts: int, seconds: float) -> None:
        if stop.is_set():
            raise StoppedError

    return check


_local = threading.local()


def _planners(contest: Contest) -> list[Planner]:
    """This thread's planners for a contest, whose memory serves one game after another."""
    key = (contest.planners, tuple(sorted(contest.budget.items())))
    if getattr(_local, "key", None) != key:
        _local.planners = [planner_from(text, **contest.budget) for text in contest.planners]
        _local.key = key
    planners: list[Planner] = _local.planners
    return planners
