"""The options of all planners, and former names of some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from ucd_envs.grouped import MoveGroups
    from ucd_envs.interface import Grouping
    from ucd_planners.playouts import PlayoutPolicy


class PlannerOptions(TypedDict, total=False):
    """The options of Planner, with its defaults; for `**options: Unpack[PlannerOptions]`."""

    playouts: int | None
    seconds: float | None
    seed: int | None
    workers: int
    final_move: str
    max_nodes: int | None
    expand: str
    first_play_urgency: float
    reuse_graph: bool
    stop_early: bool
    policies: PlayoutPolicy | Iterable[PlayoutPolicy]
    initial: Any
    groups: MoveGroups | Grouping | None
    progress: Callable[[int, float], None] | None


OLD_NAMES = {
    "urgency": "first_play_urgency",
    "keep": "reuse_graph",
    "early": "stop_early",
    "final": "final_move",
    "priors": "initial",
    "add": "expand",
}
"""New names of options by their old ones."""


def refuse_old_names(options: Iterable[str]) -> None:
    """Raises TypeError, naming the new name, if an option has its old one."""
    for name in options:
        if name in OLD_NAMES:
            raise TypeError(f"the option {name} is now called {OLD_NAMES[name]}")
