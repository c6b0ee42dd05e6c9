"""Third-party environments with the hooks that planners need."""

from ucd_envs.foreign.adapters import Adapter, AECGame, SingleGame, adapted, raw_environment
from ucd_envs.foreign.callbacks import ChanceFoundError
from ucd_envs.foreign.checks import Report, check

__all__ = ["AECGame", "Adapter", "ChanceFoundError", "Report", "SingleGame", "adapted", "check", "raw_environment"]
