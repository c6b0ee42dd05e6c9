"""Agents that play the games of matches: planners, programs that speak GTP, random players and user-defined ones."""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ucd_envs.rules import Rules, State
from ucd_envs.settings import real, shown
from ucd_planners.gtp.analysis import both
from ucd_planners.gtp.client import Program, ProgramError
from ucd_planners.gtp.protocol import COLOURS, RESIGN
from ucd_planners.notation import PROGRAM, TIMEOUT, canonical, parse, player_from, write
from ucd_planners.options import checked_seconds
from ucd_planners.planner import Planner
from ucd_planners.references import built, parameters_of

METHODS = ("begin", "choose", "close")
"""Methods of an agent."""


class StoppedError(Exception):
    """Raised to end the search of a stopped match."""


class FailedError(Exception):
    """Raised when an agent cannot continue its game; the text gives the reason."""


class Stop(Protocol):
    """A flag that ends games under way: an event of threads or of processes."""

    def is_set(self) -> bool:
        """Returns whether games should end."""
        ...

    def set(self) -> None:
        """Sets the flag."""
        ...


class Move(NamedTuple):
    """An agent's move, with its value."""

    action: int | None
    """Action, or None when the agent resigns."""
    value: float = math.nan
    """Mean payoff that the agent expects for itself, in [0, 1]; NaN when it gives none."""
    playouts: int = 0
    cpu_seconds: float = 0.0


Player = str | Planner
"""A player of a match: a text in the notation of ucd_planners.notation, or a planner."""


class Agent(Protocol):
    """The interface of agents. An agent plays one game after another, in one thread.

    Its methods raise FailedError, and StoppedError soon after `stop` is set.
    """

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """Begins the next game. All random choices follow from the seed."""
        ...

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Move:
        """Returns the agent's move in a state. `moves` are player and action of each move since the start."""
        ...

    def close(self) -> None:
        """Releases everything held outside this process."""
        ...


def agent_from(player: Player, budget: Mapping[str, Any]) -> Agent:
    """Returns a new agent for a player. `budget` applies to planners that have none.

    Raises ValueError or TypeError for a player that is neither a planner nor a text of one.
    """
    if isinstance(player, Planner):
        made: Any = copy.copy(player)  # the caller's planner is never searched with, and no two threads share one
    else:
        name, written = parse(player)
        if name in AGENTS:
            return built(name, AGENTS[name], written)  # type: ignore[no-any-return]
        made = player_from(player, **budget)
    if isinstance(made, Planner):
        if made.playouts is None and made.seconds is None and not budget:
            raise ValueError(f"{label(player)} has no budget: give it, or the match, playouts or seconds")
        return PlannerAgent(made, budget)
    if isinstance(made, type) or not all(callable(getattr(made, method, None)) for method in METHODS):
        raise ValueError(f"{name} makes no selection, planner or agent, but {shown(made)}")
    agent: Agent = made
    return agent


def label(player: Player) -> str:
    """Returns the text of a player in tables and records: its own, or a planner's name."""
    return player if isinstance(player, str) else player.name


def canonical_player(player: Player, budget: Mapping[str, Any]) -> str:
    """Returns one text for all texts that name the same player with its budget.

    Raises TypeError for a planner that was given as an object, which no text can make again.
    """
    if not isinstance(player, str):
        raise TypeError(f"a match of {shown(player)} cannot be stored: write the planner as text, such as 'uct(c=0.3)'")
    name, written = parse(player)
    if name in AGENTS and name != PROGRAM:
        return write(name, written, parameters_of(AGENTS[name]))
    return canonical(player, **budget)


def seed_of(seed: int, number: int, side: int) -> int:
    """Returns the seed of an agent in a game, given that of all games, the game's number and the agent's side."""
    return int(np.random.SeedSequence((seed, number, side)).generate_state(1, np.uint64)[0])


def budget_of(playouts: int | None, seconds: float | None) -> dict[str, Any]:
    """Returns the part of a budget that is given."""
    given = {"playouts": playouts, "seconds": checked_seconds(seconds)}
    return {name: value for name, value in given.items() if value is not None}


class PlannerAgent:
    """A planner as an agent. `budget` applies to its searches if the planner has none."""

    def __init__(self, planner: Planner, budget: Mapping[str, Any]) -> None:
        own = planner.playouts is not None or planner.seconds is not None
        self.planner, self.budget = planner, {} if own else dict(budget)
        self._stop: Stop | None = None

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """Begins a reproducible sequence of searches."""
        self.planner.reset(seed)
        self._stop = stop

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Move:
        """Returns the move chosen by a search. Ctrl-C raises KeyboardInterrupt."""
        stop = self._stop
        progress = None if stop is None else both(self.planner.progress, lambda playouts, seconds: _obey(stop))
        result = self.planner.search(state, progress=progress, **self.budget)
        if result.stopped == "interrupt":
            raise KeyboardInterrupt
        return Move(result.action, result.value, result.playouts, result.cpu_seconds)

    def close(self) -> None:
        """Does nothing, since the agent holds nothing."""


class RandomAgent:
    """A player whose moves are all equally likely."""

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """Begins a reproducible sequence of moves."""
        self._random, self._stop = random.Random(seed), stop

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Move:
        """Returns one of the legal moves."""
        _obey(self._stop)
        return Move(self._random.choice(state.legal_actions()))

    def close(self) -> None:
        """Does nothing, since the agent holds nothing."""


class GTPAgent:
    """A program that speaks GTP, as an agent. Its process serves game after game and is restarted after a failure.

    It receives size, komi, stones before the start and moves, and plays by the rules set on its command line. Our rules
    decide legality and the winner. Go is scored by area after both have passed, with all stones on the board alive. A
    program that passes while there are dead stones loses by them: GNU Go needs --chinese-rules --capture-all-dead.
    """

    def __init__(self, command: str, timeout: float = TIMEOUT) -> None:
        if not 0 < real("timeout", timeout) < math.inf:
            raise ValueError(f"timeout must be a finite number of seconds above 0, not {timeout!r}")
        self.program, self.timeout = Program(command), float(timeout)
        self._stop: Stop | None = None

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """Sends size, komi, and the stones that stand on the board before the start."""
        self._known, self._stop, self._sent = rules.initial_state(), stop, 0
        rows, columns = rules.planes[:2]
        self._ask(f"boardsize {rows}" if rows == columns else f"boardsize {columns} {rows}", max(self.timeout, TIMEOUT))
        self._ask("clear_board")
        if "komi" in rules.settings:
            self._ask(f"komi {rules.settings['komi']:g}")
        for player, name in stones_before(rules):
            self._ask(f"play {COLOURS[player]} {name}")

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Move:
        """Returns the program's answer to genmove, after sending it the moves that it does not know."""
        for player, action in moves[self._sent :]:
            self._ask(f"play {COLOURS[player]} {self._known.action_name(action)}")
            self._known = self._known.after(action)
        self._sent = len(moves) + 1
        answer = self._ask(f"genmove {COLOURS[state.player]}")
        if answer.lower() == RESIGN:
            return Move(None)
        try:
            action = state.action_named(answer)
        except ValueError:
            raise self._failed(f"answers genmove with {answer[:60]!r}, which is no move") from None
        if action not in state.legal_actions():
            raise self._failed(f"plays {answer}, which is not legal: {state.rules.why_illegal(action)}")
        self._known = state.after(action)
        return Move(action)

    def close(self) -> None:
        """Ends the process."""
        self.program.close()

    def _ask(self, command: str, seconds: float | None = None) -> str:
        try:
            return self.program.ask(command, seconds or self.timeout, lambda: _obey(self._stop))
        except ProgramError as error:
            raise self._failed(str(error)) from None

    def _failed(self, reason: str) -> FailedError:
        """Returns the error of this game, and ends the process, whose board may be wrong."""
        self.program.close(0.0)
        return FailedError(reason)


AGENTS: dict[str, Callable[..., Agent]] = {PROGRAM: GTPAgent, "random": RandomAgent}
"""Agents by the name in their texts, which are no planners."""


def stones_before(rules: Rules) -> list[tuple[int, str]]:
    """Returns player and point of the stones that a game's settings put on the board before the start."""
    found = []
    for setting in ("opening", "black", "white"):
        for turn, name in enumerate(str(rules.settings.get(setting, "")).split()):
            found.append(({"opening": turn % 2, "black": 0, "white": 1}[setting], name))
    return found


def _obey(stop: Stop | None) -> None:
    """Raises StoppedError once the stop is set."""
    if stop is not None and stop.is_set():
        raise StoppedError
