"""Agents: what plays the games of a contest, be it a planner or a program that speaks GTP."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ucd_envs.rules import Rules, State
from ucd_envs.settings import real
from ucd_planners.gtp.client import Program, ProgramError
from ucd_planners.gtp.protocol import COLOURS, RESIGN
from ucd_planners.notation import PROGRAM, parsed, planner_from
from ucd_planners.planner import Planner

TIMEOUT = 60.0
"""Seconds that a program has for a move, and at least for its start."""


class StoppedError(Exception):
    """Ends a search of a contest that was stopped."""


class FailedError(Exception):
    """An agent cannot go on with its game; the text tells why."""


class Stop(Protocol):
    """What tells games under way to end: an event of threads or of processes."""

    def is_set(self) -> bool:
        """Whether they should."""
        ...

    def set(self) -> None:
        """From now on they should."""
        ...


class Choice(NamedTuple):
    """What an agent does with its turn."""

    action: int | None
    """None when it resigns."""
    value: float = math.nan
    """The mean payoff that it sees for itself, in [0, 1]; NaN when it does not say."""
    playouts: int = 0
    cpu_seconds: float = 0.0


class Agent(Protocol):
    """One game after another, in one thread. Its methods raise FailedError, and StoppedError soon after `stop` is set."""

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """The next game, with the random numbers of a seed if it draws any from us."""
        ...

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Choice:
        """Its move in a state, to which these moves have led: player and action of each since the start."""
        ...

    def close(self) -> None:
        """Gives back what it holds outside of this process."""
        ...


def agent_from(text: str, budget: Mapping[str, Any]) -> Agent:
    """The agent that a text of ucd_planners.notation names; `budget` is that of planners that name none.

    Raises ValueError or TypeError for a text that names none.
    """
    name, written = parsed(text)
    if name != PROGRAM:
        return Thinker(planner_from(text, **budget))
    unknown = written.keys() - {"command", "timeout"}
    if unknown:
        raise ValueError(f"{PROGRAM} has no parameter {min(unknown)!r}: expected timeout")
    return Opponent(**written)


class Thinker:
    """A planner as an agent."""

    def __init__(self, planner: Planner) -> None:
        self.planner = planner

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """Begins the sequence of searches of a seed."""
        self.planner.reset(seed)
        self.planner.progress = None if stop is None else lambda playouts, seconds: _obey(stop)

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Choice:
        """The move of a search. Ctrl-C raises KeyboardInterrupt."""
        result = self.planner.search(state)
        if result.stopped == "interrupt":
            raise KeyboardInterrupt
        return Choice(result.action, result.value, result.playouts, result.cpu_seconds)

    def close(self) -> None:
        """Nothing is held."""


class Opponent:
    """A program that speaks GTP, as an agent; its process serves game after game, and another is started after a failure.

    It is told of size, komi, stones before the start and moves, and plays by the rules that it was started with. Our rules
    decide what is legal and who has won: of Go by area once both have passed, where all stones on the board are alive. A
    program that passes while there are dead ones loses by them: GNU Go wants --chinese-rules --capture-all-dead.
    """

    def __init__(self, command: str, timeout: float = TIMEOUT) -> None:
        if not 0 < real("timeout", timeout) < math.inf:
            raise ValueError(f"timeout must be a finite number of seconds above 0, not {timeout!r}")
        self.program, self.timeout = Program(command), float(timeout)
        self._stop: Stop | None = None

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """An empty board, komi, and the stones that stand there before the start."""
        self._known, self._stop, self._told = rules.initial_state(), stop, 0
        rows, columns = rules.planes[:2]
        self._ask(f"boardsize {rows}" if rows == columns else f"boardsize {columns} {rows}", max(self.timeout, TIMEOUT))
        self._ask("clear_board")
        if "komi" in rules.settings:
            self._ask(f"komi {rules.settings['komi']:g}")
        for player, name in stones_before(rules):
            self._ask(f"play {COLOURS[player]} {name}")

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Choice:
        """Its answer to genmove, after it was told of the moves that it does not know."""
        for player, action in moves[self._told :]:
            self._ask(f"play {COLOURS[player]} {self._known.action_name(action)}")
            self._known = self._known.after(action)
        self._told = len(moves) + 1
        answer = self._ask(f"genmove {COLOURS[state.player]}")
        if answer.lower() == RESIGN:
            return Choice(None)
        try:
            action = state.action_named(answer)
        except ValueError:
            raise self._failed(f"answers genmove with {answer[:60]!r}, which is no move") from None
        if action not in state.legal_actions():
            raise self._failed(f"plays {answer}, which is not legal: {state.rules.why_illegal(action)}")
        self._known = state.after(action)
        return Choice(action)

    def close(self) -> None:
        """Ends the process."""
        self.program.close()

    def _ask(self, command: str, seconds: float | None = None) -> str:
        try:
            return self.program.ask(command, seconds or self.timeout, lambda: _obey(self._stop))
        except ProgramError as error:
            raise self._failed(str(error)) from None

    def _failed(self, reason: str) -> FailedError:
        """The error of this game; what the process thinks of it is not to be relied on any more."""
        self.program.close(0.0)
        return FailedError(reason)


def stones_before(rules: Rules) -> list[tuple[int, str]]:
    """Player and name of the stones that a game's settings put on the board before the start."""
    found = []
    for setting in ("opening", "black", "white"):
        for turn, name in enumerate(str(rules.settings.get(setting, "")).split()):
            found.append(({"opening": turn % 2, "black": 0, "white": 1}[setting], name))
    return found


def _obey(stop: Stop | None) -> None:
    """Raises StoppedError once the stop is set."""
    if stop is not None and stop.is_set():
        raise StoppedError
