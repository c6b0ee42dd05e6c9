"""Functions and objects of users as agents, guarded: a fault of theirs fails the game in which it comes, and no other.

A function `(observation, mask, rng) -> action` is called once for each move, with

- observation: [rows, columns, planes] int8 of 0 and 1, seen by the player to move, as an environment's `observe` returns it;
- mask: [actions] int8, 1 for each legal action;
- rng: a numpy.random.Generator, seeded by the game.

The arrays are the function's own: it may write into them. It returns a legal action, any kind of whole number.
"""

from __future__ import annotations

import math
import operator
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ucd_envs.registry import sentence
from ucd_envs.rules import Rules, State
from ucd_envs.settings import real, shown
from ucd_planners.arena.interface import Agent, FailedError, Move, Stop, StoppedError, obey

MoveFunction = Callable[[np.ndarray, np.ndarray, np.random.Generator], Any]


def observed(state: State) -> tuple[np.ndarray, np.ndarray]:
    """Returns observation and mask of the player to move: [rows, columns, planes] int8 and [actions] int8."""
    rules = state.rules
    planes, mask = np.zeros(rules.planes, np.int8), np.zeros(rules.actions, np.int8)
    rules.kernels.observe(rules.config, state.array(), state.player, planes.reshape(-1))
    mask[state.legal_actions()] = 1
    return planes, mask


class FunctionAgent:
    """A function of observation, mask and generator as an agent."""

    def __init__(self, function: MoveFunction) -> None:
        self.function = function

    def check(self, rules: Rules) -> None:
        """Raises ValueError for a game that the function does not play, as its own `check(rules)` does where it has one."""
        own = getattr(self.function, "check", None)
        if callable(own):
            own(rules)

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """Begins a reproducible sequence of moves."""
        self._rng = np.random.default_rng(seed)

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Move:
        """Returns what the function answers, which may be an action alone."""
        answer: Move = self.function(*observed(state), self._rng)
        return answer

    def close(self) -> None:
        """Does nothing, since the agent holds nothing."""


class Guard:
    """A user-defined agent whose faults raise FailedError: an exception, an illegal action, a move after its time.

    agent: an agent, whose `choose` may also return a bare action; timeout: seconds for a move, None for any number. A move is
    measured once it is there: a call that never returns cannot be ended.
    """

    def __init__(self, agent: Agent, timeout: float | None = None) -> None:
        if timeout is not None and not 0 < real("timeout", timeout) < math.inf:
            raise ValueError(f"timeout must be a finite number of seconds above 0, not {timeout!r}")
        self.agent, self.timeout = agent, timeout
        self._stop: Stop | None = None

    @property
    def name(self) -> str:
        """Returns the name of the function or of the agent."""
        inner: Any = getattr(self.agent, "function", self.agent)
        found = next((name for key in ("label", "name", "__name__") if (name := getattr(inner, key, None))), None)
        return str(found or type(inner).__name__)

    def check(self, rules: Rules) -> None:
        """Raises ValueError for a game that the agent does not play."""
        own = getattr(self.agent, "check", None)
        if callable(own):
            own(rules)

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """Begins the next game."""
        self._stop = stop
        self._guarded(self.agent.begin, rules, seed, stop)

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Move:
        """Returns the agent's move, which is legal."""
        obey(self._stop)
        began = time.perf_counter()
        move = move_of(self._guarded(self.agent.choose, state, moves), state)
        if self.timeout is not None and time.perf_counter() - began > self.timeout:
            raise FailedError(f"takes more than its {self.timeout:g} s for a move")
        return move

    def close(self) -> None:
        """Closes the agent."""
        self.agent.close()

    def _guarded(self, method: Callable[..., Any], *given: Any) -> Any:
        """Returns what a method of the agent does. Raises FailedError for an exception in it."""
        try:
            return method(*given)
        except (FailedError, StoppedError, MemoryError):
            raise
        except Exception as error:
            raise FailedError(f"raises {sentence(error)[:200]} ({place_of(error)})") from error


def move_of(answer: Any, state: State) -> Move:
    """Returns an agent's answer as a move. Raises FailedError for anything but a legal action or a Move with one."""
    move = answer if isinstance(answer, Move) else Move(answer)
    if move.action is None and answer is not None:
        return move
    try:
        if isinstance(move.action, (bool, np.bool_)):
            raise TypeError
        action = operator.index(move.action)  # type: ignore[arg-type]
    except TypeError:
        raise FailedError(f"answers {shown(move.action)}, which is no action") from None
    rules = state.rules
    if not 0 <= action < rules.actions:
        raise FailedError(f"plays action {action}, which is not legal: actions are 0 to {rules.actions - 1}")
    if not rules.kernels.is_legal(rules.config, state.array(), action):
        raise FailedError(f"plays action {action}, which is not legal: {rules.why_illegal(action)}")
    return move._replace(action=action)


def place_of(error: BaseException) -> str:
    """Returns file and line where an exception was raised."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(frame.filename).name}:{frame.lineno}"
