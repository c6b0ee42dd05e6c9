"""Functions of Python as evaluators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ucd_envs.rules import Rules
from ucd_envs.settings import boolean


class FunctionEvaluator:
    """A function `net(planes, masks, players) -> (policy, values)` as an evaluator.

    logits: whether its policies are logits, else probabilities or other weights; signed: whether its values go from -1 to 1,
    not from 0 to 1. What the function raises comes out of the search unchanged. Raises TypeError for anything but a function.
    """

    kernel: Any = None

    def __init__(self, function: Callable[..., Any], logits: bool = True, signed: bool = False) -> None:
        if not callable(function):
            raise TypeError(f"an evaluator must be a function of planes, masks and players, not {function!r}")
        self.function, self.logits, self.signed = function, boolean("logits", logits), boolean("signed", signed)

    def __call__(self, planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> Any:
        """Returns what the function answers."""
        return self.function(planes, masks, players)

    def check(self, rules: Rules) -> None:
        """Does what the function's own `check(rules)` does, where it has one."""
        own = getattr(self.function, "check", None)
        if callable(own):
            own(rules)

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns nothing."""
        return np.zeros(0, np.uint8)

    def __str__(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))
