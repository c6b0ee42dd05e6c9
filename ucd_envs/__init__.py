"""Board games as PettingZoo and Gymnasium environments whose state can be hashed, cloned and restored."""

import importlib
import importlib.metadata
import sys
from typing import TYPE_CHECKING, Any

from ucd_envs.checks import check
from ucd_envs.envs.aec import make, module_of
from ucd_envs.envs.batch import BatchEnv, batch
from ucd_envs.grouped import MoveGroups, grouped
from ucd_envs.interface import Grouping
from ucd_envs.registry import OWN_GAMES, available, make_rules, register
from ucd_envs.rules import Rules, State

if TYPE_CHECKING:
    from ucd_envs.foreign import openspiel as openspiel

__all__ = [
    "BatchEnv",
    "Grouping",
    "MoveGroups",
    "Rules",
    "State",
    "available",
    "batch",
    "check",
    "grouped",
    "make",
    "make_rules",
    "register",
]

__version__ = importlib.metadata.version("ucd-planners")


def __getattr__(name: str) -> Any:
    """Returns the module of games of OpenSpiel, which is imported when it is first needed."""
    if name == "openspiel":
        return importlib.import_module("ucd_envs.foreign.openspiel")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


SEATED = {
    "Breakthrough-v0": "breakthrough_v0",
    "CaptureTheKing-v0": "capture_the_king_v0",
    "ConnectFour-v0": "connect_four_v0",
    "CrissCross-v0": "crisscross_v0",
    "EinStein-v0": "einstein_v0",
    "Go-v0": "go_v0",
    "Havannah-v0": "havannah_v0",
    "Hex-v0": "hex_v0",
    "Knightthrough-v0": "knightthrough_v0",
    "Merrills-v0": "merrills_v0",
    "NoGo-v0": "nogo_v0",
    "Othello-v0": "othello_v0",
    "PGame-v0": "p_game_v0",
    "PawnWhopping-v0": "pawn_whopping_v0",
    "Pentago-v0": "pentago_v0",
    "Pig-v0": "pig_v0",
    "Quarto-v0": "quarto_v0",
    "TicTacToe-v0": "tic_tac_toe_v0",
}
"""Games of several players by their names in Gymnasium: one seat, by default the first, against random moves."""
SOLITARY = {"LeftRight-v0": "leftright_v0", "TwentyFortyEight-v0": "twenty_forty_eight_v0"}
"""Games of one player by their names in Gymnasium."""


def _announce() -> None:
    """Creates a module for each game and registers the games in Gymnasium and, where it has a registry, in PettingZoo."""
    import gymnasium.envs.registration
    import pettingzoo

    for entry, games in (("seated", SEATED), ("solitary", SOLITARY)):
        for title, game in games.items():
            place, flat_title = f"ucd_envs.envs.single:{entry}", title.replace("-v", "-flat-v")
            enter_id = gymnasium.envs.registration.register
            enter_id(id=f"ucd_envs/{title}", entry_point=place, kwargs={"game": game})
            enter_id(id=f"ucd_envs/{flat_title}", entry_point=place, kwargs={"game": game, "flat": True})
    enter: Any = getattr(pettingzoo, "register", None)
    for name in OWN_GAMES:
        module = module_of(name)
        sys.modules[module.__name__] = globals()[name] = module
        if enter:
            enter("aec", f"ucd_envs/{name.replace('_v', '-v')}", entry_point=f"{module.__name__}:env")


_announce()
