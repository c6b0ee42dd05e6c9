"""Third-party environments with the hooks that planners need."""

from ucd_envs.foreign.adapters import Adapter, AECGame, SingleGame, adapted
from ucd_envs.foreign.checks import Report, check

__all__ = ["AECGame", "Adapter", "Report", "SingleGame", "adapted", "check"]
