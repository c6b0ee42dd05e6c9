"""Board games as PettingZoo and Gymnasium environments whose state can be hashed, cloned and restored."""

import importlib.metadata
from typing import Any

from ucd_envs.registry import available, make, make_rules, register
from ucd_envs.rules import Rules, State

__all__ = ["Rules", "State", "available", "make", "make_rules", "register"]

__version__ = importlib.metadata.version("ucd-planners")


def _announce() -> None:
    """Enters the games in Gymnasium's registry and, where the installed version has one, in PettingZoo's."""
    import gymnasium.envs.registration
    import pettingzoo

    gymnasium.envs.registration.register(id="ucd_envs/LeftRight-v0", entry_point="ucd_envs.envs.single:leftright")
    enter: Any = getattr(pettingzoo, "register", None)
    for name in available() if enter else ():
        enter("aec", f"ucd_envs/{name.replace('_v', '-v')}", entry_point=f"ucd_envs.{name}:env")


_announce()
