"""Agents play the games of matches: planners, programs that speak GTP, and user-defined ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ucd_envs.rules import Rules, State
from ucd_envs.settings import real
from ucd_planners.gtp.analysis import both
from ucd_planners.gtp.client import Program, ProgramError
from ucd_planners.gtp.protocol import COLOURS, RESIGN
from ucd_planners.notation import PROGRAM, TIMEOUT, parse, player_from
from ucd_planners.planner import Planner

METHODS = ("begin", "choose", "close")
"""The methods of an agent."""


class StoppedError(Exception):
    """Ends a search of a match that was stopped."""


class FailedError(Exception):
    """An agent cannot go on with its game; the text tells why."""


class Stop(Protocol):
    """Ends games under way: an event of threads or of processes."""

    def is_set(self) -> bool:
        """Returns whether they should end."""
        ...

    def set(self) -> None:
        """Ends them."""
        ...


class Move(NamedTuple):
    """An agent's turn."""

    action: int | None
    """None when it resigns."""
    value: float = math.nan
    """The mean payoff that it sees for itself, in [0, 1]; NaN when it does not say."""
    playouts: int = 0
    cpu_seconds: float = 0.0


class Agent(Protocol):
    """One game after another, in one thread. Its methods raise FailedError, and StoppedError soon after `stop` is set."""

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """Begins the next game; what it draws at random follows from the seed."""
        ...

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Move:
        """Returns its move in a state; `moves` are player and action of each since the start."""
        ...

    def close(self) -> None:
        """Gives back everything held outside of this process."""
        ...


def agent_from(text: str, budget: Mapping[str, Any]) -> Agent:
    """Returns the agent of a text of ucd_planners.notation; `budget` is that of planners that have none.

    Raises ValueError or TypeError for a text that names none.
    """
    name, written = parse(text)
    if name == PROGRAM:
        unknown = written.keys() - {"command", "timeout"}
        if unknown:
            raise ValueError(f"{PROGRAM} has no parameter {min(unknown)!r}: expected timeout")
        return GTPAgent(**written)
    made = player_from(text, **budget)
    if isinstance(made, Planner):
        own = made.playouts is not None or made.seconds is not None
        if not own and not budget:
            raise ValueError(f"{text} has no budget: give it, or the match, playouts or seconds")
        return PlannerAgent(made, {} if own else budget)
    if isinstance(made, type) or not all(callable(getattr(made, method, None)) for method in METHODS):
        raise ValueError(f"{name} makes no selection, planner or agent, but {made!r}")
    agent: Agent = made
    return agent


class PlannerAgent:
    """A planner as an agent; `budget` is that of its searches if it has none."""

    def __init__(self, planner: Planner, budget: Mapping[str, Any]) -> None:
        self.planner, self.budget = planner, dict(budget)
        self._stop: Stop | None = None

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """Begins the sequence of searches of a seed."""
        self.planner.reset(seed)
        self._stop = stop

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Move:
        """Returns the move of a search. Ctrl-C raises KeyboardInterrupt."""
        stop = self._stop
        progress = None if stop is None else both(self.planner.progress, lambda playouts, seconds: _obey(stop))
        result = self.planner.search(state, progress=progress, **self.budget)
        if result.stopped == "interrupt":
            raise KeyboardInterrupt
        return Move(result.action, result.value, result.playouts, result.cpu_seconds)

    def close(self) -> None:
        """Nothing is held."""


class GTPAgent:
    """A program that speaks GTP, as an agent; its process serves game after game, and another is started after a failure.

    It learns size, komi, stones before the start and moves, and plays by the rules that it was started with. Our rules
    decide what is legal and who has won: of Go by area once both have passed, where all stones on the board are alive. A
    program that passes while there are dead ones loses by them: GNU Go wants --chinese-rules --capture-all-dead.
    """

    def __init__(self, command: str, timeout: float = TIMEOUT) -> None:
        if not 0 < real("timeout", timeout) < math.inf:
            raise ValueError(f"timeout must be a finite number of seconds above 0, not {timeout!r}")
        self.program, self.timeout = Program(command), float(timeout)
        self._stop: Stop | None = None

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """Sends the size, komi, and the stones that stand on the board before the start."""
        self._known, self._stop, self._sent = rules.initial_state(), stop, 0
        rows, columns = rules.planes[:2]
        self._ask(f"boardsize {rows}" if rows == columns else f"boardsize {columns} {rows}", max(self.timeout, TIMEOUT))
        self._ask("clear_board")
        if "komi" in rules.settings:
            self._ask(f"komi {rules.settings['komi']:g}")
        for player, name in stones_before(rules):
            self._ask(f"play {COLOURS[player]} {name}")

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Move:
        """Returns its answer to genmove, once it has the moves that it does not know."""
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
        """Returns the error of this game; its process has lost track and is ended."""
        self.program.close(0.0)
        return FailedError(reason)


def stones_before(rules: Rules) -> list[tuple[int, str]]:
    """Returns player and name of the stones that a game's settings put on the board before the start."""
    found = []
    for setting in ("opening", "black", "white"):
        for turn, name in enumerate(str(rules.settings.get(setting, "")).split()):
            found.append(({"opening": turn % 2, "black": 0, "white": 1}[setting], name))
    return found


def _obey(stop: Stop | None) -> None:
    """Raises StoppedError once the stop is set."""
    if stop is not None and stop.is_set():
        raise StoppedError
