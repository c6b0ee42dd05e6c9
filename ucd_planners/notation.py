"""Planners from their texts, and the canonical text of a planner. ucd_planners.grammar has the grammar and tells what names and
keys stand for.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from ucd_envs.grouped import MoveGroups
from ucd_envs.settings import shown
from ucd_planners.grammar import PROGRAM, QUOTED, TIMEOUT, number, parse, parse_all, quoted, write
from ucd_planners.groups import GROUPS
from ucd_planners.knowledge_base import KnowledgeBase
from ucd_planners.options import PlannerOptions, refuse_old_names
from ucd_planners.planner import Planner
from ucd_planners.playouts import INITIAL, POLICIES, Initial, PlayoutPolicy
from ucd_planners.presets import PRESETS, WITH_NET
from ucd_planners.references import built, chooses_moves, found, parameters_of, refuse_unknown, takes_any

PLANNERS = {**PRESETS, **WITH_NET}
"""Makers of planners, by their names."""
OPTIONS = tuple(name for name in PlannerOptions.__annotations__ if name != "progress")
"""Options of Planner that can be written."""
ENTRY_POINTS = {"policies": ("ucd.policies",), "initial": (), "groups": (), "knowledge": ()}
"""Groups of entry points that name values of an option."""
PARTS: dict[str, Mapping[str, Any]] = {
    **{"policies": POLICIES, "initial": INITIAL, "groups": GROUPS},
    "knowledge": {"base": KnowledgeBase},
}
"""Makers of the values of an option, by their names."""


def planner_from(text: str, **defaults: Any) -> Planner:
    """Returns the planner of a text. The text takes precedence over `defaults`, and its budget replaces theirs.

    Raises ValueError for a text that does not parse or names an unknown planner or parameter, TypeError for an option's old
    name, and the preset's errors for a value out of range.
    """
    made = player_from(text, **defaults)
    if not isinstance(made, Planner):
        raise ValueError(f"{parse(text)[0]} makes no selection and no planner, but {shown(made)}")
    return made


def player_from(text: str, **defaults: Any) -> Any:
    """Returns the planner of a text, or any other object that its reference makes. Raises as `planner_from` does."""
    name, written = parse(text)
    maker = maker_of(name)
    if chooses_moves(maker, written):
        raise ValueError(f"{name} chooses moves: it plays in matches, and is no planner")
    refuse_old_names(written.keys() - parameters_of(maker))
    refuse_unknown(name, written, parameters(name))
    if "policies" in written:
        written["policies"] = policies_from(written["policies"])
    if written.get("initial") is not None:
        written["initial"] = initial_from(written["initial"])
    if written.get("groups") is not None:
        written["groups"] = groups_from(written["groups"])
    if written.get("knowledge") is not None:
        written["knowledge"] = knowledge_from(written["knowledge"])
    written = {key: value for key, value in written.items() if value is not None or key not in ("playouts", "seconds")}
    if "playouts" in written or "seconds" in written:
        defaults = {key: value for key, value in defaults.items() if key not in ("playouts", "seconds")}
    given = {**defaults, **written}
    own = {key: value for key, value in given.items() if key in parameters_of(maker) or takes_any(maker)}
    made = built(name, maker, own)
    if is_selection(made):
        return Planner(made, name=name.rpartition(":")[2], **{key: given[key] for key in given.keys() - own})
    refuse_unknown(name, written.keys() - own, parameters_of(maker))
    return made


def maker_of(name: str) -> Any:
    """Returns the function or class behind a planner's name. Raises ValueError for an unknown one."""
    if name in QUOTED:
        kind = "a program" if name == PROGRAM else "an agent"
        raise ValueError(f"{name} is {kind} that plays in matches, not a planner: expected one of {', '.join(PLANNERS)}")
    return found(name, PLANNERS, ("ucd.selections", "ucd.agents"), "planner")


def is_selection(made: Any) -> bool:
    """Returns whether an object is a selection."""
    return not isinstance(made, type) and hasattr(made, "layout") and hasattr(made, "parameters")


def policies_from(text: str) -> list[PlayoutPolicy]:
    """Returns the playout policies of a text, such as "cmc(prob=0.5)".

    Raises TypeError or ValueError as `planner_from` does.
    """
    return build_all(text, "policies", "policy", "cmc(prob=0.5)")


def initial_from(text: str) -> Initial | None:
    """Returns the initial statistics of a text, such as "go_initial"; None for an empty one.

    Raises TypeError or ValueError as `planner_from` does, and for more than one.
    """
    made: Initial | None = only(
        build_all(text, "initial", "initial statistics", "go_initial"), text, "kind of initial statistics"
    )
    return made


def groups_from(text: str) -> MoveGroups | None:
    """Returns the move groups of a text, such as "manhattan(distance=2)"; None for an empty one.

    Raises TypeError or ValueError as `planner_from` does, and for more than one.
    """
    made: MoveGroups | None = only(build_all(text, "groups", "groups of moves", "manhattan"), text, "grouping of moves")
    return made


def knowledge_from(text: str) -> KnowledgeBase | None:
    """Returns the knowledge base of a text, opened: its path, or such as "base(path='hex.lmdb', use=seed)"; None for an empty
    one.

    Raises TypeError or ValueError as `planner_from` does, and OSError for a file that cannot be read as a base.
    """
    made = build_all(with_brackets(text), "knowledge", "knowledge base", "base(path='hex.lmdb')")
    found: KnowledgeBase | None = only(made, text, "knowledge base")
    return found


def with_brackets(text: Any) -> Any:
    """Returns the text of a knowledge base with its path in brackets, where it was the path alone."""
    return f"base(path={quoted(text)})" if isinstance(text, str) and text and "(" not in text else text


def only(made: list[Any], text: str, kind: str) -> Any:
    """Returns the one thing that a text makes, None for an empty one. Raises ValueError for several."""
    if len(made) > 1:
        raise ValueError(f"a planner has one {kind}, not {shown(text)}")
    return made[0] if made else None


def build_all(text: str, option: str, kind: str, example: str) -> list[Any]:
    """Builds everything written one after another, each by one of the option's makers or by a reference.

    Raises TypeError or ValueError as `planner_from` does. Messages contain the option, its kind and an example.
    """
    made = []
    for name, written in parse_all(text, option, example):
        made.append(built(name, found(name, PARTS[option], ENTRY_POINTS[option], kind), written))
        wanted = {"policies": "suggest", "initial": "kernel", "groups": "of", "knowledge": "answer"}[option]
        if isinstance(made[-1], type) or not hasattr(made[-1], wanted):
            raise ValueError(f"{name} makes no {kind}, but {shown(made[-1])}")
    return made


def parameters(name: str) -> list[str]:
    """Returns the parameters that can be written for a planner: its own, then those of Planner."""
    own = [key for key, each in parameters_of(maker_of(name)).items() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    return [key for key in dict.fromkeys((*own, *OPTIONS)) if key != "progress"]


def canonical(text: str, **defaults: Any) -> str:
    """Returns one canonical text for all that name the same planner: `uct` and `uct(c=0.30)` are "uct(c=0.3)".

    It has all of the planner's own parameters, in their order, then the options of Planner that are not at their defaults.
    The budget of `defaults` is written where the text has none. Raises as `planner_from` does for a text that does not
    parse.
    """
    name, written = parse(text)
    if name == PROGRAM:
        timeout = float(written.get("timeout", TIMEOUT))
        return f"{PROGRAM}({quoted(written['command'])},timeout={number(timeout)})"
    refuse_unknown(name, written, parameters(name))
    budget = ("playouts", "seconds")
    if all(written.get(key) is None for key in budget):
        plain = {key: value.item() if isinstance(value, np.generic) else value for key, value in defaults.items()}
        written = {key: value for key, value in written.items() if key not in budget} | plain
    if written.get("knowledge") is not None:
        written["knowledge"] = with_brackets(written["knowledge"])
    for option, makers in PARTS.items():
        if written.get(option) is not None:
            each = parse_all(written[option], option, next(iter(makers)))
            makers_of = [found(one, makers, ENTRY_POINTS[option], option) for one, _ in each]
            written[option] = " ".join(
                write(one, given, parameters_of(maker)) for (one, given), maker in zip(each, makers_of, strict=True)
            )
    usual = inspect.signature(Planner.__init__).parameters
    options = {key: value for key in OPTIONS if (value := written.pop(key, None)) not in (None, "", usual[key].default)}
    own = {key: each for key, each in parameters_of(maker_of(name)).items() if key not in usual}
    return write(name, written, own, options)
