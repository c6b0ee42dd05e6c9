"""The options of all planners, their checks, and former names of some of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypedDict

from ucd_envs.rules import Rules
from ucd_envs.settings import real
from ucd_planners.search.interface import MOST_POLICIES, Initial, PlayoutPolicy, Selection

if TYPE_CHECKING:
    from ucd_envs.grouped import MoveGroups
    from ucd_envs.interface import Grouping

Progress = Callable[[int, float], None]
"""A callback of playouts and seconds so far."""


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
    knowledge: Any
    progress: Progress | None


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


def checked_seconds(seconds: float | None) -> float | None:
    """A budget in seconds."""
    if seconds is not None and not 0 < real("seconds", seconds) < math.inf:
        raise ValueError(f"seconds must be a finite number above 0, not {seconds!r}")
    return None if seconds is None else float(seconds)


def checked_progress(progress: Progress | None) -> Progress | None:
    """A callback."""
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function of playouts and seconds, not {progress!r}")
    return progress


def checked_initial(initial: Initial | None) -> Initial | None:
    """Initial statistics."""
    if initial is not None and (isinstance(initial, type) or not (hasattr(initial, "kernel") and hasattr(initial, "memory"))):
        raise TypeError(f"initial must be such as GoInitial(), not {initial!r}")
    return initial


def listed(policies: Any) -> tuple[PlayoutPolicy, ...]:
    """One policy or several. Raises TypeError for anything else and for too many."""
    found = tuple(policies) if isinstance(policies, Iterable) else (policies,)
    if len(found) > MOST_POLICIES or not all(hasattr(policy, "suggest") and not isinstance(policy, type) for policy in found):
        raise TypeError(f"policies must be at most {MOST_POLICIES} playout policies such as CMC(), not {policies!r}")
    return found


def refuse_unserved(selection: Selection, first_play_urgency: float, initial: Initial | None) -> None:
    """Raises ValueError for an option that a selection with its own choice does not declare to serve."""
    if selection.select_kernel is None:
        return
    for name, given, declared in (
        ("first_play_urgency", first_play_urgency < math.inf, "serves_urgency"),
        ("initial", initial is not None, "serves_initial"),
    ):
        if given and not getattr(selection, declared, False):
            raise ValueError(f"{selection} does not serve {name}: one whose own choice does declares {declared} = True")


def refuse_chance(rules: Rules, *parts: Any) -> None:
    """Raises ValueError for a selection or policy that does not declare to serve a game with chance."""
    for part in parts if rules.has_chance else ():
        if not getattr(part, "serves_chance", False):
            raise ValueError(
                f"{part} does not serve {rules.name}, a game with chance: one that does declares serves_chance = True"
            )
