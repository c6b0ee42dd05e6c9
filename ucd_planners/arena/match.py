"""A match of two planners: games in pairs with seats swapped, and what they say.

A game's moves depend on the match's seed and the game's number alone, not on how many games run at once or in what order.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from queue import SimpleQueue
from typing import Any

import numpy as np

from ucd_envs import registry
from ucd_envs.aec import BoardEnv
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
        rules = registry.rules(self.game, **self.settings)
        if rules.players != 2:
            raise ValueError(f"a match needs a game of two players, but {rules} has {rules.players}")
        if whole("games", self.games, 2, 10**9) % 2:
            raise ValueError(f"games must be an even number, since seats are swapped in pairs, not {self.games}")
        whole("seed", self.seed, 0, 2**64 - 1)
        for text in (self.a, self.b):
            planner_from(text, **self.budget)


@dataclass(frozen=True)
class Game:
    """One game of a match; what belongs to both planners is (a's, b's)."""

    number: int
    seat: int
    """The seat of a: 0 for the first player."""
    moves: tuple[int, ...]
    payoff: float
    """a's payoff in [0, 1]."""
    playouts: tuple[int, int]
    cpu_seconds: tuple[float, float]


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
    """Ends a search of a match that was stopped."""


def play_game(match: Match, number: int, stop: threading.Event | None = None) -> Game:
    """One game of a match; planner a has the first seat in games of even number."""
    seat = number % 2
    env = BoardEnv(registry.rules(match.game, **match.settings))
    planners = _planners(match)
    for side, planner in enumerate(planners):
        planner.reset(int(np.random.SeedSequence((match.seed, number, side)).generate_state(1, np.uint64)[0]))
        planner.progress = None if stop is None else _stopper(stop)
    playouts, cpu, moves = [0, 0], [0.0, 0.0], []
    env.reset()
    while not any(env.terminations.values()):
        side = (env.possible_agents.index(env.agent_selection) + seat) % 2
        result = planners[side].search(env)
        if result.stopped == "interrupt":
            raise KeyboardInterrupt
        playouts[side] += result.playouts
        cpu[side] += result.cpu_seconds
        moves.append(result.action)
        env.step(result.action)
    payoff = env.clone_state().payoffs()[seat]
    return Game(number, seat, tuple(moves), payoff, (playouts[0], playouts[1]), (cpu[0], cpu[1]))


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


def _stopper(stop: threading.Event) -> Callable[[int, float], None]:
    def check(playouts: int, seconds: float) -> None:
        if stop.is_set():
            raise StoppedError

    return check


_local = threading.local()


def _planners(match: Match) -> tuple[Planner, Planner]:
    """This thread's planners for a match, whose memory serves one game after another."""
    key = (match.a, match.b, tuple(sorted(match.budget.items())))
    if getattr(_local, "key", None) != key:
        _local.planners = (planner_from(match.a, **match.budget), planner_from(match.b, **match.budget))
        _local.key = key
    planners: tuple[Planner, Planner] = _local.planners
    return planners
