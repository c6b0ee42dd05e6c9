"""The options of all planners, their checks, and former names of some of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from ucd_envs.grouped import check_groups
from ucd_envs.rules import Rules
from ucd_envs.settings import boolean, integer, one_of, real
from ucd_planners.evaluation import Evaluation
from ucd_planners.search.interface import (
    MOST_POLICIES,
    UNTRIED,
    Initial,
    PlayoutPolicy,
    SearchOptions,
    Selection,
    divides_budget,
    is_graded,
)

if TYPE_CHECKING:
    from ucd_envs.grouped import MoveGroups
    from ucd_envs.interface import Grouping

Progress = Callable[[int, float], None]
"""A callback of playouts and seconds so far."""
EXPANDS = ("first", "all")


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
    untried: str
    reuse_graph: bool
    stop_early: bool
    policies: PlayoutPolicy | Iterable[PlayoutPolicy]
    initial: Any
    groups: MoveGroups | Grouping | None
    knowledge: Any
    progress: Progress | None
    temperature: float
    temperature_plies: int | None


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


def search_options(
    selection: Selection,
    expand: str,
    first_play_urgency: float,
    untried: str,
    reuse_graph: bool,
    initial: Initial | None,
    evaluation: Evaluation | None,
) -> SearchOptions:
    """The options of the loop and of the graph.

    Raises TypeError or ValueError for a value that is not one, and for options that do not go together or with a selection.
    """
    one_of("expand", expand, EXPANDS)
    if not real("first_play_urgency", first_play_urgency) >= 0:
        raise ValueError(f"first_play_urgency must be a number, 0 or more, or inf, not {first_play_urgency!r}")
    one_of("untried", untried, UNTRIED)
    if initial is not None and (isinstance(initial, type) or not (hasattr(initial, "kernel") and hasattr(initial, "memory"))):
        raise TypeError(f"initial must be such as GoInitial(), not {initial!r}")
    if untried != "random" and (expand == "all" or initial is not None):
        raise ValueError(f'untried="{untried}" goes with expand="first" and without initial')
    refuse_unserved(selection, first_play_urgency, initial, untried)
    return SearchOptions(
        expand == "all",
        float(first_play_urgency),
        boolean("reuse_graph", reuse_graph),
        has_initial=initial is not None,
        evaluates=evaluation is not None,
        untried=untried,
        leaves=getattr(evaluation, "leaves", 1),
    )


def listed(policies: Any) -> tuple[PlayoutPolicy, ...]:
    """One policy or several. Raises TypeError for anything else and for too many."""
    found = tuple(policies) if isinstance(policies, Iterable) else (policies,)
    if len(found) > MOST_POLICIES or not all(hasattr(policy, "suggest") and not isinstance(policy, type) for policy in found):
        raise TypeError(f"policies must be at most {MOST_POLICIES} playout policies such as CMC(), not {policies!r}")
    return found


def refuse_unserved(selection: Selection, first_play_urgency: float, initial: Initial | None, untried: str = "random") -> None:
    """Raises ValueError for an option that a selection with its own choice does not declare to serve."""
    if selection.select_kernel is None:
        return
    for name, given, declared in (
        ("first_play_urgency", first_play_urgency < math.inf, "serves_urgency"),
        ("initial", initial is not None, "serves_initial"),
        ("untried", untried != "random", "serves_untried"),
    ):
        if given and not getattr(selection, declared, False):
            raise ValueError(f"{selection} does not serve {name}: one whose own choice does declares {declared} = True")


def checked_temperature(temperature: float, plies: int | None, stop_early: bool) -> tuple[float, int | None]:
    """A temperature and the plies of a game for which it holds."""
    if not 0 <= real("temperature", temperature) <= 1e6:
        raise ValueError(f"temperature must be a number, 0 or more, not {temperature!r}")
    if plies is not None:
        integer("temperature_plies", plies, 0, 2**31 - 1)
    if temperature > 0 and stop_early:
        raise ValueError("stop_early goes with temperature=0: visits that come later would change what is drawn")
    return float(temperature), plies


def refuse_with_groups(
    groups: Any, selection: Selection, expands_all: bool, reuse_graph: bool, stop_early: bool, asked: Any
) -> None:
    """Raises TypeError or ValueError for groups of moves, and for a graph with cycles, with options that they go without."""
    if groups is not None:
        check_groups(groups)
        if reuse_graph or stop_early or not is_graded(selection):
            raise ValueError("groups of moves go without reuse_graph, stop_early and graded=False")
        if expands_all and asked:
            raise ValueError('groups of moves and policies go with expand="first"')
    if not is_graded(selection) and (expands_all or reuse_graph):
        raise ValueError('graded=False goes with expand="first" and without reuse_graph')


def refuse_with_evaluation(evaluation: Evaluation | None, selection: Selection, others: Mapping[str, Any]) -> None:
    """Raises TypeError or ValueError for a selection without the evaluation that it needs, and for one with other options."""
    if evaluation is None:
        if getattr(selection, "has_priors", False):
            raise ValueError(f"{selection} needs priors: give the planner an evaluation, such as Evaluation(evaluator_of(net))")
        return
    if not isinstance(evaluation, Evaluation):
        raise TypeError(f"evaluation must be such as Evaluation(evaluator_of(net)), not {evaluation!r}")
    for name, given in others.items():
        if given:
            raise ValueError(f"the evaluation of leaves goes without {name}")
    if (evaluation.is_noisy or evaluation.leaves > 1) and not getattr(selection, "has_priors", False):
        raise ValueError(f"noise and several leaves are for priors, which {selection} has not")


def refuse_with_division(
    selection: Selection, final_move: str, reuse_graph: bool, stop_early: bool, evaluation: Evaluation | None
) -> None:
    """Raises ValueError for a selection that divides a budget among moves, with options that it goes without."""
    given = {"reuse_graph": reuse_graph, "stop_early": stop_early, "final_move": final_move != "visits"}
    if evaluation is not None:
        given |= {"noise": evaluation.is_noisy, "leaves above 1": evaluation.leaves > 1}
    for name in (name for name, is_given in given.items() if is_given and divides_budget(selection)):
        raise ValueError(f"Gumbel root selection goes without {name}")


def refuse_undivided(selection: Selection, playouts: int | None, final_move: str | None) -> None:
    """Raises ValueError for a budget in seconds, and for a final rule, where the selection divides a budget in playouts."""
    if divides_budget(selection) and playouts is None:
        raise ValueError("Gumbel root selection divides a budget in playouts: seconds are none")
    if divides_budget(selection) and final_move not in (None, "visits"):
        raise ValueError("Gumbel root selection has a final rule of its own: final_move is none of its options")


def refuse_chance(rules: Rules, *parts: Any) -> None:
    """Raises ValueError for a selection or policy that does not declare to serve a game with chance."""
    for part in parts if rules.has_chance else ():
        if not getattr(part, "serves_chance", False):
            raise ValueError(
                f"{part} does not serve {rules.name}, a game with chance: one that does declares serves_chance = True"
            )
