"""Version 0 of ucd_envs.games.go as a PettingZoo module: `env(**settings)` and `raw_env(**settings)`."""

from ucd_envs.envs.aec import constructors

__all__ = ["env", "raw_env"]

env, raw_env = constructors("go_v0")
