"""The contract of a search with evaluators.

An evaluator is called with a batch of positions whose games go on,

    planes   [n, rows, columns, planes] int8   what `observe` shows the player to move
    masks    [n, actions] int8                 1 for each legal action
    players  [n] int8                          the player to move

and returns a policy [n, actions] and values. With `logits` the policy is made of logits, else of probabilities or of other
weights, 0 or more; either is made to sum to 1 over the legal actions, and others are ignored. A value is a payoff, from 0 for a
loss to 1 for a win: [n] or [n, 1] for the player to move, or [n, players]. Of two players the other has the rest of 1; a game
of more needs [n, players]. With `signed` values go from -1 to 1 instead, as tanh and AlphaZero have them, and v stands for
(1 + v) / 2. The arrays are the search's own, and hold the positions during the call only.

The answer for a position may not depend on the others of its batch: then a search finds the same in a batch of any size.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ucd_envs.rules import Rules


class Evaluator(Protocol):
    """An evaluator of positions, as the search knows it."""

    logits: bool
    """Whether policies are logits."""
    signed: bool
    """Whether values go from -1 to 1."""
    kernel: Any
    """The kernel that evaluates without leaving the compiled loop, declared with @kernel(EVALUATE), or None."""

    def __call__(self, planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> tuple[Any, Any]:
        """Returns the policy and the values of a batch."""

    def check(self, rules: Rules) -> None:
        """Raises ValueError, with both shapes, for a game that it does not fit."""

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns the parameters that the kernel reads: [any] uint8."""


def checked_answer(answer: Any, label: Any, count: int, rules: Rules) -> tuple[np.ndarray, np.ndarray]:
    """Returns the policy [count, actions] and the values [count, 1 or players] of an answer, each float32.

    Raises ValueError for an answer of another form or shape.
    """
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise ValueError(f"{label} must answer with a policy and values, not with {type(answer).__name__}")
    policy, values = np.ascontiguousarray(answer[0], np.float32), np.ascontiguousarray(answer[1], np.float32)
    if policy.shape != (count, rules.actions):
        raise ValueError(f"{label} answers with a policy of {list(policy.shape)}, but {rules} needs {[count, rules.actions]}")
    if rules.players <= 2 and values.shape in ((count,), (count, 1)):
        return policy, values.reshape(count, 1)
    if values.shape != (count, rules.players):
        needed = f"{[count]} or {[count, rules.players]}" if rules.players <= 2 else str([count, rules.players])
        raise ValueError(f"{label} answers with values of {list(values.shape)}, but {rules} needs {needed}")
    return policy, values
