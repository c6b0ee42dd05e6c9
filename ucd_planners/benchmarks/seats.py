"""The speed of a learner's seat: its steps per second against opponents, on one core."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from ucd_envs import registry
from ucd_envs.envs.aec import environment
from ucd_envs.envs.wrappers import SeatWrapper
from ucd_planners.benchmarks.speed import rate

OPPONENTS = ("random", "uct(playouts=20)")
STEPS = 500
"""Steps of the learner between two looks at the clock."""


def games() -> list[str]:
    """Returns the games of several players."""
    return [name for name in registry.available() if registry.make_rules(name).players > 1]


def seat_rows() -> Iterator[dict[str, Any]]:
    """Yields a row for each game: game, config, and steps of the learner per second of user time against each of OPPONENTS.

    The learner has the first seat and draws legal actions from the mask. Observations, masks and resets are counted too.
    """
    for name in games():
        rules = registry.make_rules(name)
        row: dict[str, Any] = {"game": name, "config": dict(rules.settings)}
        for opponent in OPPONENTS:
            row[f"{opponent.partition('(')[0]}_steps_per_s"] = round(seat_rate(SeatWrapper(environment(rules), opponent)))
        yield row


def seat_rate(env: SeatWrapper) -> float:
    """Returns the learner's steps per second."""
    draw, (_, info) = random.Random(1).random, env.reset(seed=1)

    def play() -> int:
        nonlocal info
        for _ in range(STEPS):
            legal = np.flatnonzero(info["action_mask"])
            _, _, over, _, info = env.step(int(legal[int(draw() * len(legal))]))
            if over:
                _, info = env.reset()
        return STEPS

    return rate(play)
