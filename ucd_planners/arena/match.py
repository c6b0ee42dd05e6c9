"""A match of two planners: games in pairs with seats swapped, and what they say; a solo: one planner's games alone.

Both are contests. A game's moves depend on the contest's seed and the game's number alone, not on how many games run at once
or in what order. In a match a program that speaks GTP may stand for a planner; then they depend on it too.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from queue import SimpleQueue
from typing import Any

import numpy as np

from ucd_envs import registry
from ucd_envs.settings import integer
from ucd_planners.arena.agents import Agent, FailedError, Stop, Thinker, agent_from
from ucd_planners.intervals import wilson


@dataclass(frozen=True)
class Match:
    """Two planners, a game and how often they play it.

    game and settings: as in ucd_envs.make; a, b: planners, or programs, in the notation of ucd_planners.notation; budget:
    playouts or seconds a move, for planners that name none; games: how many, an even number, since seats are swapped in pairs;
    seed.
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
    rules = registry.make_rules(contest.game, **contest.settings)
    seats = len(contest.planners)
    if rules.players != seats:
        wanted = ("one player", "two players")[seats - 1]
        raise ValueError(f"a {type(contest).__name__.lower()} needs a game of {wanted}, but {rules} has {rules.players}")
    integer("games", contest.games, seats, 10**9)
    integer("seed", contest.seed, 0, 2**64 - 1)
    for text in contest.planners:
        agent = agent_from(text, contest.budget)
        if isinstance(agent, Thinker):
            agent.planner.check(rules)
        elif seats != 2:
            raise ValueError(f"a program that speaks GTP plays games of two players, but {rules} has {rules.players}")


@dataclass(frozen=True)
class Game:
    """One game of a contest; what belongs to every planner is (a's, b's), or (a's,) in a solo."""

    number: int
    seat: int
    """The seat of a: 0 for the first player."""
    moves: tuple[int, ...]
    payoff: float
    """a's payoff in [0, 1]; NaN of a game that failed."""
    playouts: tuple[int, ...]
    cpu_seconds: tuple[float, ...]
    seconds: float = 0.0
    """From the first move to the end by the clock on the wall; a process's first game compiles or loads its kernels in it."""
    failure: str = ""
    """Why it has no result: whose agent (a or b) failed, and how. Empty for a game that came to its end."""
    thoughts: tuple[tuple[float, int], ...] = field(default=(), repr=False, compare=False)
    """The mover's value and the playouts of each move; a result of a match does not keep them."""


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
    failures: list[Game] = field(default_factory=list)
    """Games that failed, which count for nobody."""

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


def play_game(contest: Contest, number: int, stop: Stop | None = None) -> Game:
    """One game of a contest; an agent that resigns has lost it. Raises StoppedError soon after `stop` is set."""
    began = time.perf_counter()
    seats = contest.seats(number)
    seat = seats.index(0)
    agents = _agents(contest)
    playouts, cpu = [0] * len(agents), [0.0] * len(agents)
    line: list[tuple[int, int]] = []
    thoughts: list[tuple[float, int]] = []
    payoff, failure = math.nan, ""
    rules = registry.make_rules(contest.game, **contest.settings)
    state = rules.initial_state()
    side = 0
    try:
        for side, agent in enumerate(agents):
            agent.begin(rules, int(np.random.SeedSequence((contest.seed, number, side)).generate_state(1, np.uint64)[0]), stop)
        while not state.over:
            side = seats[state.player]
            choice = agents[side].choose(state, line)
            playouts[side] += choice.playouts
            cpu[side] += choice.cpu_seconds
            if choice.action is None:
                break
            line.append((state.player, choice.action))
            thoughts.append((choice.value, choice.playouts))
            state = state.after(choice.action)
        payoff = state.payoffs()[seat] if state.over else float(side != 0)
    except FailedError as error:
        failure = f"{'ab'[side]} {error}"
    moves = tuple(action for _, action in line)
    seconds = time.perf_counter() - began
    return Game(number, seat, moves, payoff, tuple(playouts), tuple(cpu), seconds, failure, tuple(thoughts))


AHEAD = 1024
"""Games that wait in an executor at most, so that a match of any length takes little memory."""


def play_match(
    match: Match,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Callable[[Game], None] | None = None,
) -> MatchResult:
    """Plays a match, `jobs` games at once in threads, or on an executor of the caller's.

    `progress` is called with each game as it ends, one that failed as well. Ctrl-C ends the match with the games played so far.
    Programs that play end with the match, but on an executor of the caller's with the thread or process that they serve.
    """
    ended: list[Game] = []
    stop = threading.Event()
    arguments = (stop,) if executor is None else ()
    numbers = iter(range(match.games))
    running: set[Future[Game]] = set()
    done: SimpleQueue[Future[Game]] = SimpleQueue()
    with _threads(executor, integer("jobs", jobs, 1, 1024)) as pool:
        try:
            while len(ended) < match.games:
                for number in islice(numbers, AHEAD - len(running)):
                    future = pool.submit(play_game, match, number, *arguments)
                    running.add(future)
                    future.add_done_callback(done.put)
                future = done.get()
                running.remove(future)
                game = future.result()
                ended.append(replace(game, thoughts=()))
                if progress is not None:
                    progress(game)
        except KeyboardInterrupt:
            pass
        finally:
            stop.set()
            for future in running:
                future.cancel()
    ended.sort(key=lambda game: game.number)
    return MatchResult(match, [game for game in ended if not game.failure], [game for game in ended if game.failure])


@contextmanager
def _threads(executor: Executor | None, jobs: int) -> Iterator[Executor]:
    """The caller's executor, which stays open, or threads whose agents are closed at their end."""
    if executor is not None:
        yield executor
        return
    agents: list[Agent] = []
    try:
        with ThreadPoolExecutor(jobs, initializer=_begin, initargs=(agents,)) as pool:
            yield pool
    finally:
        for agent in agents:
            agent.close()


_local = threading.local()
"""The agents of a thread, the contest that they are for, and the list of those that others close."""


def _begin(agents: list[Agent]) -> None:
    """The first thing that a thread of a match does."""
    _local.opened = agents


def _agents(contest: Contest) -> list[Agent]:
    """This thread's agents for a contest, whose memory serves one game after another."""
    key = (contest.planners, tuple(sorted(contest.budget.items())))
    if getattr(_local, "key", None) != key:
        for agent in getattr(_local, "agents", []):
            agent.close()
        _local.agents = [agent_from(text, contest.budget) for text in contest.planners]
        _local.key = key
        getattr(_local, "opened", []).extend(_local.agents)
    agents: list[Agent] = _local.agents
    return agents
