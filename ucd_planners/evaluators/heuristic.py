"""Compiled heuristics of a game as evaluators, which never leave the compiled loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ucd_envs.kernels import compiled
from ucd_envs.rules import Rules
from ucd_planners.search.interface import EVALUATE


class Heuristic:
    """A kernel `(config, state, memory, actions, priors, values)` as an evaluator, declared with @kernel(EVALUATE).

    It writes a weight, 0 or more, into `priors` for each of `actions`, the legal ones, and a payoff from 0 to 1 for each player
    into `values`. parameters: a function that returns the bytes that it reads as `memory` for a game, and raises ValueError for
    one that it does not know; none by default. name: its text in messages. Raises TypeError for a kernel that does not compile.
    """

    logits, signed = False, False

    def __init__(self, kernel: Any, parameters: Callable[[Rules], np.ndarray] | None = None, name: str = "") -> None:
        self.kernel, self.parameters = compiled(kernel, EVALUATE), parameters
        self.name = name or str(getattr(kernel, "__name__", "heuristic"))

    def __call__(self, planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> Any:
        """Raises TypeError: it evaluates in compiled code only."""
        raise TypeError(f"{self.name} evaluates in compiled code only")

    def check(self, rules: Rules) -> None:
        """Raises ValueError for a game that it does not know."""
        self.memory(rules)

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns the parameters that the kernel reads: [any] uint8."""
        return np.zeros(0, np.uint8) if self.parameters is None else self.parameters(rules)

    def __str__(self) -> str:
        return self.name
