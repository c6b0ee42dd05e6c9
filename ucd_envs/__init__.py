"""Board games as PettingZoo and Gymnasium environments whose state can be hashed, cloned and restored."""

import importlib.metadata
import sys
from typing import Any

from ucd_envs.checks import check
from ucd_envs.envs.aec import make, module_of
from ucd_envs.registry import OWN_GAMES, available, make_rules, register
from ucd_envs.rules import Rules, State

__all__ = ["Rules", "State", "available", "check", "make", "make_rules", "register"]

__version__ = importlib.metadata.version("ucd-planners")


SEATED = {
    "ConnectFour-v0": "connect_four_v0",
    "Go-v0": "go_v0",
    "Havannah-v0": "havannah_v0",
    "Hex-v0": "hex_v0",
    "TicTacToe-v0": "tic_tac_toe_v0",
}
"""Games of several players by their names in Gymnasium: one seat, against random moves."""


def _twenty_forty_eight(render_mode: str | None = None, **settings: Any) -> Any:
    """Returns 2048 as a Gymnasium environment; settings as in ucd_envs.games.twenty_forty_eight."""
    from ucd_envs.envs.single import SinglePlayerEnv

    return SinglePlayerEnv(make_rules("twenty_forty_eight_v0", **settings), render_mode)


def _announce() -> None:
    """Creates a module for each game and registers the games in Gymnasium and, where it has a registry, in PettingZoo."""
    import gymnasium.envs.registration
    import pettingzoo

    gymnasium.envs.registration.register(id="ucd_envs/LeftRight-v0", entry_point="ucd_envs.envs.single:leftright")
    for title, game in SEATED.items():
        entry = "ucd_envs.envs.single:seated"
        gymnasium.envs.registration.register(id=f"ucd_envs/{title}", entry_point=entry, kwargs={"game": game})
    gymnasium.envs.registration.register(id="ucd_envs/TwentyFortyEight-v0", entry_point=_twenty_forty_eight)
    enter: Any = getattr(pettingzoo, "register", None)
    for name in OWN_GAMES:
        module = module_of(name)
        sys.modules[module.__name__] = globals()[name] = module
        if enter:
            enter("aec", f"ucd_envs/{name.replace('_v', '-v')}", entry_point=f"{module.__name__}:env")


_announce()
