"""Third-party environments with the hooks that planners need."""

from ucd_envs.foreign.adapters import Adapter, AECGame, SingleGame, adapted, raw_environment
from ucd_envs.foreign.checks import Report, check

__all__ = ["AECGame", "Adapter", "Report", "SingleGame", "adapted", "check", "raw_environment"]
