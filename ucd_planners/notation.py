"""Planners written as text, such as "ucd(d1=0, d2=1, d3=2, c=0.3)".

    planner  =  name [ "(" [ key "=" value { "," key "=" value } ] ")" ]
    value    =  number | "-" number | "inf" | "true" | "false" | word | quoted text

The name is a preset, the keys are its parameters and those of Planner. Nothing is evaluated.
"""

from __future__ import annotations

import ast
import inspect
import math
from typing import Any

from ucd_planners.planner import Planner
from ucd_planners.presets import PRESETS

WORDS = {"inf": math.inf, "true": True, "false": False, "True": True, "False": False, "none": None, "None": None}
NOT_WRITTEN = ("self", "selection", "name", "progress", "options")


def planner_from(text: str, **defaults: Any) -> Planner:
    """The planner that a text names; what the text says goes before `defaults`, and its budget replaces theirs.

    Raises ValueError for a text that does not parse or names an unknown planner or parameter, and what the preset raises
    for a value out of range.
    """
    name, written = parsed(text)
    if name not in PRESETS:
        raise ValueError(f"unknown planner {name!r}: expected one of {', '.join(PRESETS)}")
    known = parameters(name)
    for key in written:
        if key not in known:
            raise ValueError(f"{name} has no parameter {key!r}: expected one of {', '.join(known)}")
    if "playouts" in written or "seconds" in written:
        defaults = {key: value for key, value in defaults.items() if key not in ("playouts", "seconds")}
    return PRESETS[name](**{**defaults, **written})


def parameters(preset: str) -> list[str]:
    """What can be written for a preset: its own parameters, then those of Planner."""
    own = inspect.signature(PRESETS[preset]).parameters
    return [key for key in (*own, *inspect.signature(Planner.__init__).parameters) if key not in NOT_WRITTEN]


def parsed(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the parameters of a planner's text. Raises ValueError when it does not follow the grammar."""
    wrong = ValueError(f"planner {text!r} does not parse: expected name(key=value, ...), such as ucd(d1=1, d3=1, c=0.3)")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise wrong from None
    if isinstance(tree, ast.Name):
        return tree.id, {}
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name) or tree.args:
        raise wrong
    written: dict[str, Any] = {}
    for keyword in tree.keywords:
        if keyword.arg is None:
            raise wrong
        try:
            written[keyword.arg] = value_of(keyword.value)
        except ValueError:
            raise wrong from None
    return tree.func.id, written


def value_of(node: ast.expr) -> Any:
    """A number, text or word of the grammar. Raises ValueError for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = value_of(node.operand)
        if isinstance(number, (int, float)) and not isinstance(number, bool):
            return -number
    if isinstance(node, ast.Name):
        return WORDS.get(node.id, node.id)
    raise ValueError("no value of the grammar")


def setting_from(text: str) -> Any:
    """A game's setting as typed on a command line: a whole number, true or false, or text."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if text.lstrip("-").isdecimal() else text
