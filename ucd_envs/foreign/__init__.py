"""Third-party environments with the hooks that planners need."""

from ucd_envs.foreign.adapters import Adapter, AECGame, Report, SingleGame, adapted, check

__all__ = ["AECGame", "Adapter", "Report", "SingleGame", "adapted", "check"]
