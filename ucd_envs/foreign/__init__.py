"""Third-party environments with the hooks that planners need."""

from ucd_envs.foreign.adapters import Adapter, AECGame, SingleGame, adapted
from ucd_envs.foreign.callbacks import ChanceFoundError
from ucd_envs.foreign.checks import Report, check
from ucd_envs.foreign.openspiel import SpielGame
from ucd_envs.foreign.reading import raw_environment

__all__ = ["AECGame", "Adapter", "ChanceFoundError", "Report", "SingleGame", "SpielGame", "adapted", "check", "raw_environment"]
