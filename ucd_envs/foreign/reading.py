"""Facts of third-party environments: what lies below wrappers, the number of actions, and masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete
from pettingzoo.utils.wrappers import BaseWrapper


def raw_environment(env: Any) -> Any:
    """Returns the environment below all wrappers, also below views that are environments of Gymnasium on one of PettingZoo."""
    raw = getattr(env, "unwrapped", env)
    while isinstance(raw, BaseWrapper):
        raw = raw.env.unwrapped
    return raw


def is_range(ends: Any) -> bool:
    """Returns whether a value is two finite numbers, the lower one first."""
    try:
        least, most = ends
        return bool(-np.inf < least < most < np.inf)
    except (TypeError, ValueError):
        return False


def discrete(space: Any, env: Any) -> int:
    """Returns the number of actions of a space."""
    if not isinstance(space, Discrete) or space.start != 0:
        raise TypeError(f"a planner needs actions 0, 1, ... in a Discrete space, but {type(env).__name__} has {space}")
    return int(space.n)


def actions_of_mask(mask: Any, actions: int, env: Any) -> Sequence[int]:
    """Returns the actions of a mask."""
    if len(mask) != actions:
        raise ValueError(f"the action mask of {type(env).__name__} has {len(mask)} entries for {actions} actions")
    legal: list[int] = np.flatnonzero(mask).tolist()
    return legal
