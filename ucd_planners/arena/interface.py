"""The interface of agents: the methods that a match calls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ucd_envs.rules import Rules, State

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


class Agent(Protocol):
    """The interface of agents. An agent plays one game after another, in one thread.

    Its methods raise FailedError, and StoppedError soon after `stop` is set. Any other exception of a user-defined agent fails
    its game too. An agent may have a fourth method: `check(rules)` raises ValueError, before any game, for a game that it does
    not play.
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


def obey(stop: Stop | None) -> None:
    """Raises StoppedError once the stop is set."""
    if stop is not None and stop.is_set():
        raise StoppedError
