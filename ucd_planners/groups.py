"""Groups of moves, from which a planner picks one before a move of it [Childs section 4]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ucd_envs.grouped import MoveGroups
from ucd_envs.interface import Grouping
from ucd_envs.rules import Rules
from ucd_planners.go.groups import Manhattan

__all__ = ["GROUPS", "Manhattan", "OwnGroups"]


@dataclass(frozen=True)
class OwnGroups:
    """The groups that belong to a game itself, such as those of P-games."""

    def of(self, rules: Rules) -> Grouping:
        """Returns the game's groups. Raises ValueError for a game without any."""
        if rules.groups is None:
            raise ValueError(f"{rules} has no groups of its own")
        return rules.groups


GROUPS: dict[str, Callable[..., MoveGroups]] = {"own": OwnGroups, "manhattan": Manhattan}
"""Every kind of groups by its name in a planner's text."""
