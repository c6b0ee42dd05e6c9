"""Names and versions of games, and how an environment or the rules of one are made.

A version moves only with a game's rules or its observations. Game files are imported when a game is first asked for, so
importing the package compiles nothing.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Hashable
from typing import Any

from ucd_envs.rules import Rules

_builders: dict[str, Callable[..., Rules] | str] = {
    f"{file}_v0": f"ucd_envs.games.{file}" for file in ("connect_four", "go", "havannah", "hex", "leftright", "tic_tac_toe")
}


def available() -> list[str]:
    """Every registered name, sorted."""
    return sorted(_builders)


def register(name: str, builder: Callable[..., Rules]) -> None:
    """Adds a game under a name such as "nim_v0"; `builder(**settings)` returns its Rules.

    Raises ValueError for a name without a version or one that is taken by another builder.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*_v\d+", name):
        raise ValueError(f"a game's name must look like nim_v0, not {name!r}")
    if _builders.get(name, builder) is not builder:
        raise ValueError(f"the name {name} is taken")
    _builders[name] = builder


def versioned(name: str) -> str:
    """The registered name that is meant: "hex_v0" and "hex-v0" as they are, "hex" in its highest version.

    Raises ValueError for an unknown game.
    """
    wanted = name.replace("-", "_")
    versions = [known for known in _builders if re.fullmatch(re.escape(wanted) + r"(_v\d+)?", known)]
    if not versions:
        raise ValueError(f"unknown game {name!r}: expected one of {', '.join(available())}")
    return max(versions, key=lambda known: int(known.rpartition("_v")[2]))


def builder(name: str) -> Callable[..., Rules]:
    """The function that makes the rules of a game. Raises ValueError for an unknown game."""
    found = _builders[versioned(name)]
    return importlib.import_module(found).rules if isinstance(found, str) else found


def make_rules(name: str, /, **settings: Any) -> Rules:
    """The rules of a game in one configuration.

    Raises ValueError for an unknown game, a setting out of range, or a builder whose rules bear another name, and TypeError for
    an unknown setting.
    """
    build = builder(name)
    known = inspect.signature(build).parameters
    for setting in settings:
        if setting not in known:
            expected = f"expected one of {', '.join(known)}" if known else "it has no settings at all"
            raise TypeError(f"{versioned(name)} has no setting {setting!r}: {expected}")
        if not isinstance(settings[setting], Hashable):
            raise TypeError(f"the setting {setting} of {versioned(name)} cannot be {settings[setting]!r}")
    made = build(**settings)
    if made.name != versioned(name):
        raise ValueError(f"the builder of {versioned(name)} made rules that are named {made.name}")
    return made


def examples(name: str) -> tuple[dict[str, Any], ...]:
    """The configurations that a game lists for tests; of a game registered by a user, its defaults."""
    found = _builders[versioned(name)]
    return importlib.import_module(found).EXAMPLES if isinstance(found, str) else ({},)


def make(name: str, /, render_mode: str | None = None, **settings: Any) -> Any:
    """A PettingZoo AEC environment of a game, wrapped as PettingZoo's classic games are.

    An illegal move ends the game with reward -1 for its player; the environment below (`env.unwrapped`) raises ValueError
    instead. Raises as `rules` does, and ValueError for an unknown render mode.
    """
    from ucd_envs.envs.aec import environment

    return environment(make_rules(name, **settings), render_mode)
