"""Matches and single games: the agents, their seats, and one game from its start to its end.

A match is one kind of contest, of which a schedule plays the games and a store keeps them; a study is another one.

The moves of a game depend only on the seed of its match and its number, not on the number of games at once or their order.
Where a program that speaks GTP plays, they also depend on the program.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ucd_envs import registry
from ucd_envs.kernels import CHANCE
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules
from ucd_envs.settings import integer
from ucd_planners.arena.agents import (
    Agent,
    FailedError,
    Player,
    Stop,
    agent_from,
    canonical_player,
    label,
    refuse_unpicklable,
    seed_of,
)
from ucd_planners.arena.origin import Origin


class Contest(Protocol):
    """Numbered games, each of which depends on nothing but the contest and its number."""

    @property
    def games(self) -> int:
        """Returns the number of games."""

    @property
    def sides(self) -> int:
        """Returns the number of payoffs of a game."""

    def play(self, number: int, stop: Stop | None = None) -> Game:
        """Plays one game. Raises StoppedError soon after `stop` is set."""

    def facts(self) -> dict[str, Any]:
        """Returns everything that decides the games, in forms that JSON has."""


class Openings(Protocol):
    """The first moves of the games of a match, the same in both games of a pair."""

    def moves(self, rules: Rules, pair: int) -> Sequence[int]:
        """Returns the actions before the first move of a planner. They do not end the game."""
        ...

    def facts(self) -> Any:
        """Returns everything that decides the moves, in forms that JSON has."""
        ...


@dataclass(frozen=True)
class Match:
    """A match: agents, a game, and the number of games.

    game: a name as in ucd_envs.make, or a reference; a, b: planners, programs or other agents, by their texts or as objects,
    which the match copies: see ucd_planners.arena.agents; b only in a game of two players; settings: those of
    the game; budget: playouts or seconds a move, for planners that have none; games: their number, even for two players, since
    seats are swapped in pairs; seed: any whole number from 0, from which all random choices follow; openings: the first moves
    of each pair of games, none by default. Raises ValueError or TypeError, before any game, for anything that cannot be
    played.
    """

    game: str
    a: Player
    b: Player | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    budget: Mapping[str, Any] = field(default_factory=lambda: {"playouts": 1000})
    games: int = 100
    seed: int = 0
    openings: Openings | None = None

    def __post_init__(self) -> None:
        rules = self.rules
        seats = len(self.planners)
        if rules.players > 2:
            raise ValueError(f"a match needs a game of one or two players, but {rules} has {rules.players}")
        if rules.players != seats:
            raise ValueError(f"a match of {rules} needs {('one planner: a', 'two planners: a and b')[rules.players - 1]}")
        integer("games", self.games, seats, 10**9)
        integer("seed", self.seed, 0, 2**64 - 1)
        for player in self.planners:
            check = getattr(agent_from(player, self.budget), "check", None)
            if callable(check):
                check(rules)
        if self.games % seats:
            raise ValueError(f"games must be an even number, since seats are swapped in pairs, not {self.games}")

    @property
    def rules(self) -> Rules:
        """Returns the rules of the game."""
        return registry.make_rules(self.game, **self.settings)

    @property
    def planners(self) -> tuple[Player, ...]:
        """Returns a, and b if there is one."""
        return (self.a,) if self.b is None else (self.a, self.b)

    @property
    def labels(self) -> tuple[str, ...]:
        """Returns the planners' texts in tables and records."""
        return tuple(map(label, self.planners))

    @property
    def sides(self) -> int:
        """Returns the number of planners."""
        return len(self.planners)

    def play(self, number: int, stop: Stop | None = None) -> Game:
        """Plays one game, as `play_game` does."""
        return play_game(self, number, stop)

    def facts(self) -> dict[str, Any]:
        """Returns everything that decides the games: canonical texts of planners, the game with all its settings, the seed."""
        rules = self.rules
        planners = [canonical_player(player, self.budget) for player in self.planners]
        facts = {"planners": planners, "game": rules.reference or rules.name, "settings": rules.settings, "seed": self.seed}
        return facts if self.openings is None else {**facts, "openings": self.openings.facts()}

    def refuse_processes(self) -> None:
        """Raises ValueError with one sentence if an agent of the match cannot be sent to another process."""
        for player in self.planners:
            refuse_unpicklable(player)

    def seats(self, number: int) -> tuple[int, ...]:
        """Returns the planner of each seat in a game. Planner 0, which is a, has the first seat in games of even number."""
        seats = len(self.planners)
        return tuple((seat + number) % seats for seat in range(seats))


@dataclass(frozen=True)
class Game:
    """One game of a contest. Payoffs, playouts and seconds are listed by side: in a match by planner, (a's, b's) or (a's,)."""

    number: int
    seat: int
    """Seat of a: 0 for the first player."""
    moves: tuple[int, ...]
    payoffs: tuple[float, ...]
    """Payoffs in [0, 1]; NaN in a game that failed."""
    playouts: tuple[int, ...]
    cpu_seconds: tuple[float, ...]
    seconds: float = 0.0
    """Wall-clock time from the first move to the end. A process's first game includes compiling or loading its kernels."""
    failure: str = ""
    """Reason for a missing result: which agent (a or b) failed, and how. Empty for a finished game."""
    thoughts: tuple[tuple[float, int], ...] = field(default=(), repr=False, compare=False)
    """The mover's value and the playouts of each move. A match's result does not keep them."""
    origin: Origin | None = field(default=None, repr=False, compare=False)
    """The process that played it, where workers play; None for this one."""

    @property
    def payoff(self) -> float:
        """Returns the payoff of a."""
        return self.payoffs[0]


def play_game(match: Match, number: int, stop: Stop | None = None) -> Game:
    """Plays one game of a match. An agent that resigns has lost it. Raises StoppedError soon after `stop` is set."""
    began = time.perf_counter()
    seats = match.seats(number)
    agents = _agents(match)
    playouts, cpu = [0] * len(agents), [0.0] * len(agents)
    line: list[tuple[int, int]] = []
    thoughts: list[tuple[float, int]] = []
    payoffs, failure = tuple(math.nan for _ in agents), ""
    rules = match.rules
    state, chance = rules.initial_state(), seeded(match.seed, number, len(agents))
    side = 0
    try:
        for side, agent in enumerate(agents):
            agent.begin(rules, seed_of(match.seed, number, side), stop)
        for action in () if match.openings is None else match.openings.moves(rules, number // 2):
            line.append((state.player, action))
            thoughts.append((math.nan, 0))
            state = state.after(action)
        while not state.over:
            if state.player == CHANCE:
                line.append((CHANCE, state.outcome(chance)))
                thoughts.append((math.nan, 0))
                state = state.after(line[-1][1])
                continue
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
"""State of a thread. `agents`: its agents; `key`: their match; `opened`: the list of agents that the thread's owner closes."""


def open_into(opened: list[Agent]) -> None:
    """Makes this thread add the agents that it opens to a list, so that they can be closed at the end."""
    _local.opened = opened


def _agents(match: Match) -> list[Agent]:
    """Returns this thread's agents for a match, which keep their memory from game to game."""
    key = (match.planners, tuple(sorted(match.budget.items())))
    if getattr(_local, "key", None) != key:
        opened: list[Agent] = getattr(_local, "opened", [])
        for agent in getattr(_local, "agents", []):
            agent.close()
            opened[:] = [other for other in opened if other is not agent]
        _local.agents = [agent_from(player, match.budget) for player in match.planners]
        _local.key = key
        opened.extend(_local.agents)
    agents: list[Agent] = _local.agents
    return agents
