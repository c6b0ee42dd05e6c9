"""Matches and their games: who plays, in which seats, and one game from its start to its end.

The moves of a game depend on the seed of its match and its number alone, not on how many games run at once or in what order.
Where a program that speaks GTP plays, they depend on it too.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ucd_envs import registry
from ucd_envs.settings import integer
from ucd_planners.arena.agents import Agent, FailedError, GTPAgent, PlannerAgent, Stop, agent_from


@dataclass(frozen=True)
class Match:
    """Agents, a game and how often they play it.

    game: a name as in ucd_envs.make, or a reference; a, b: planners, programs or agents in the notation of
    ucd_planners.notation, b only in a game of two players; settings: those of the game; budget: playouts or seconds a move, for
    planners that have none; games: how many, an even number for two players, since seats are swapped in pairs; seed.
    Raises ValueError or TypeError, before any game, for anything that cannot be played.
    """

    game: str
    a: str
    b: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    budget: Mapping[str, Any] = field(default_factory=lambda: {"playouts": 1000})
    games: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        rules = registry.make_rules(self.game, **self.settings)
        seats = len(self.planners)
        if rules.players > 2:
            raise ValueError(f"a match needs a game of one or two players, but {rules} has {rules.players}")
        if rules.players != seats:
            raise ValueError(f"a match of {rules} needs {('one planner: a', 'two planners: a and b')[rules.players - 1]}")
        integer("games", self.games, seats, 10**9)
        integer("seed", self.seed, 0, 2**64 - 1)
        for text in self.planners:
            agent = agent_from(text, self.budget)
            if isinstance(agent, PlannerAgent):
                agent.planner.check(rules)
            elif isinstance(agent, GTPAgent) and seats != 2:
                raise ValueError(f"a program that speaks GTP plays games of two players, but {rules} has {rules.players}")
        if self.games % seats:
            raise ValueError(f"games must be an even number, since seats are swapped in pairs, not {self.games}")

    @property
    def planners(self) -> tuple[str, ...]:
        """The planners' texts."""
        return (self.a,) if self.b is None else (self.a, self.b)

    def seats(self, number: int) -> tuple[int, ...]:
        """Which planner has each seat in a game; a, planner 0, has the first seat in games of even number."""
        seats = len(self.planners)
        return tuple((seat + number) % seats for seat in range(seats))


@dataclass(frozen=True)
class Game:
    """One game of a match; payoffs, playouts and seconds are listed by planner: (a's, b's), or (a's,)."""

    number: int
    seat: int
    """The seat of a: 0 for the first player."""
    moves: tuple[int, ...]
    payoffs: tuple[float, ...]
    """In [0, 1]; NaN in a game that failed."""
    playouts: tuple[int, ...]
    cpu_seconds: tuple[float, ...]
    seconds: float = 0.0
    """From the first move to the end by the clock on the wall; a process's first game compiles or loads its kernels in it."""
    failure: str = ""
    """Why it has no result: whose agent (a or b) failed, and how. Empty for a game that came to its end."""
    thoughts: tuple[tuple[float, int], ...] = field(default=(), repr=False, compare=False)
    """The mover's value and the playouts of each move; a result of a match does not keep them."""

    @property
    def payoff(self) -> float:
        """a's payoff."""
        return self.payoffs[0]


def play_game(match: Match, number: int, stop: Stop | None = None) -> Game:
    """Plays one game of a match; an agent that resigns has lost it. Raises StoppedError soon after `stop` is set."""
    began = time.perf_counter()
    seats = match.seats(number)
    agents = _agents(match)
    playouts, cpu = [0] * len(agents), [0.0] * len(agents)
    line: list[tuple[int, int]] = []
    thoughts: list[tuple[float, int]] = []
    payoffs, failure = tuple(math.nan for _ in agents), ""
    rules = registry.make_rules(match.game, **match.settings)
    state = rules.initial_state()
    side = 0
    try:
        for side, agent in enumerate(agents):
            agent.begin(rules, int(np.random.SeedSequence((match.seed, number, side)).generate_state(1, np.uint64)[0]), stop)
        while not state.over:
            side = seats[state.player]
            move = agents[side].choose(state, line)
            playouts[side] += move.playouts
            cpu[side] += move.cpu_seconds
            if move.action is None:
                break
            line.append((state.player, move.action))
            thoughts.append((move.value, move.playouts))
            state = state.after(move.action)
        if state.over:
            paid = state.payoffs()
            payoffs = tuple(paid[seats.index(each)] for each in range(len(agents)))
        else:
            payoffs = tuple(float(each != side) for each in range(len(agents)))
    except FailedError as error:
        failure = f"{'ab'[side]} {error}"
    moves = tuple(action for _, action in line)
    seconds = time.perf_counter() - began
    return Game(number, seats.index(0), moves, payoffs, tuple(playouts), tuple(cpu), seconds, failure, tuple(thoughts))


_local = threading.local()
"""`agents`: those of this thread, `key`: the match that they are for, `opened`: the list of those that others close."""


def open_into(opened: list[Agent]) -> None:
    """Makes this thread list the agents that it opens, so that they can be closed at the end."""
    _local.opened = opened


def _agents(match: Match) -> list[Agent]:
    """Returns this thread's agents for a match, whose memory serves one game after another."""
    key = (match.planners, tuple(sorted(match.budget.items())))
    if getattr(_local, "key", None) != key:
        for agent in getattr(_local, "agents", []):
            agent.close()
        _local.agents = [agent_from(text, match.budget) for text in match.planners]
        _local.key = key
        getattr(_local, "opened", []).extend(_local.agents)
    agents: list[Agent] = _local.agents
    return agents
