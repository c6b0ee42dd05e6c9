"""Planners written as text, such as "ucd(d1=0, d2=1, d3=2, c=0.3)".

    planner  =  name [ "(" [ key "=" value { "," key "=" value } ] ")" ]
    program  =  "gtp" "(" quoted text { "," key "=" value } ")"
    value    =  number | "-" number | "inf" | "true" | "false" | "none" | word | quoted text
    policies =  policy { policy }, each written as a planner is, and so are initial statistics

The name is a preset, the keys are its parameters and those of Planner, each at most once; blanks are free between symbols. The
values of `policies` and `initial` are quoted text, such as uct(policies="cmc(prob=0.5)", initial="go_initial").
A number is decimal, of at most 39 digits before its point. Nothing is evaluated. A program is an opponent in matches, such as
gtp("gnugo --mode gtp", timeout=30): the text is its command line, `timeout` the seconds that it has for a move.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from ucd_planners.planner import Planner
from ucd_planners.playouts import INITIAL, POLICIES, Initial, PlayoutPolicy
from ucd_planners.presets import PRESETS

WORDS = {"inf": math.inf, "true": True, "false": False, "True": True, "False": False, "none": None, "None": None}
NOT_WRITTEN = ("self", "selection", "name", "progress", "options")
LONGEST = 1000
"""Characters of a planner's text at most."""

WHOLE = re.compile(r"-?\d{1,39}", re.ASCII)
NAME = r"[A-Za-z_]\w*"
NUMBER = r"-?(?:\d{1,39}(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
PARAMETER = re.compile(rf"""\s*({NAME})\s*=\s*({NUMBER}|{NAME}|'[^']*'|"[^"]*")\s*""", re.ASCII)
PLANNER = re.compile(rf"\s*({NAME})\s*(?:\((\s*|{PARAMETER.pattern}(?:,{PARAMETER.pattern})*)\)\s*)?", re.ASCII)

PROGRAM = "gtp"
"""The name of what is no planner, but a program that speaks GTP."""
COMMAND = re.compile(rf"""\s*{PROGRAM}\s*\(\s*('[^']*'|"[^"]*")\s*((?:,{PARAMETER.pattern})*)\)\s*""", re.ASCII)


def planner_from(text: str, **defaults: Any) -> Planner:
    """The planner that a text names; what the text says goes before `defaults`, and its budget replaces theirs.

    Raises ValueError for a text that does not parse or names an unknown planner or parameter, and what the preset raises
    for a value out of range.
    """
    name, written = parsed(text)
    if name == PROGRAM:
        raise ValueError(f"{PROGRAM} is a program that plays in matches, not a planner: expected one of {', '.join(PRESETS)}")
    if name not in PRESETS:
        raise ValueError(f"unknown planner {name!r}: expected one of {', '.join(PRESETS)}")
    known = parameters(name)
    for key in written:
        if key not in known:
            raise ValueError(f"{name} has no parameter {key!r}: expected one of {', '.join(known)}")
    if "policies" in written:
        written["policies"] = policies_from(written["policies"])
    if "initial" in written:
        written["initial"] = initial_from(written["initial"])
    if "playouts" in written or "seconds" in written:
        defaults = {key: value for key, value in defaults.items() if key not in ("playouts", "seconds")}
    return PRESETS[name](**{**defaults, **written})


def policies_from(text: str) -> list[PlayoutPolicy]:
    """The playout policies that a text names, such as "cmc(prob=0.5)".

    Raises TypeError or ValueError as `planner_from` does.
    """
    return made_from(text, POLICIES, "policies", "policy", "cmc(prob=0.5)")


def initial_from(text: str) -> Initial | None:
    """The priors that a text names, such as "go_initial"; None for an empty one.

    Raises TypeError or ValueError as `planner_from` does, and for more than one.
    """
    found = made_from(text, INITIAL, "initial", "initial statistics", "go_initial")
    if len(found) > 1:
        raise ValueError(f"a planner has one kind of priors, not {text!r}")
    return found[0] if found else None


def made_from(text: str, makers: Mapping[str, Callable[..., Any]], kinds: str, kind: str, example: str) -> list[Any]:
    """What is written one after another, each made by the one of `makers` that is named.

    Raises TypeError or ValueError as `planner_from` does, in words of `kinds`, one `kind`, and an example.
    """
    if not isinstance(text, str):
        raise TypeError(f"{kinds} must be written as text, such as {example!r}, not {text!r}")
    made, place = [], 0
    while text[place:].strip():
        found = PLANNER.match(text, place)
        if found is None:
            raise ValueError(f"{kinds} {text!r} do not parse: expected name(key=value, ...), such as {example}")
        place = found.end()
        maker, written = makers.get(found[1]), arguments(text, found[2] or "")
        if maker is None:
            raise ValueError(f"unknown {kind} {found[1]!r}: expected one of {', '.join(makers)}")
        known = list(inspect.signature(maker).parameters)
        for key in written:
            if key not in known:
                raise ValueError(f"{found[1]} has no parameter {key!r}: expected one of {', '.join(known)}")
        made.append(maker(**written))
    return made


def parameters(preset: str) -> list[str]:
    """What can be written for a preset: its own parameters, then those of Planner."""
    own = inspect.signature(PRESETS[preset]).parameters
    return [key for key in (*own, *inspect.signature(Planner.__init__).parameters) if key not in NOT_WRITTEN]


def parsed(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the parameters of a planner's text; the command line of a program is its parameter `command`.

    Raises TypeError or ValueError for a text that does not follow the grammar.
    """
    if not isinstance(text, str):
        raise TypeError(f"a planner must be written as text, such as 'uct(c=0.3)', not {text!r}")
    if len(text) > LONGEST:
        raise ValueError(f"a planner's text must have at most {LONGEST} characters, not {len(text)}")
    command = COMMAND.fullmatch(text)
    found = PLANNER.fullmatch(text)
    if command is not None:
        return PROGRAM, {"command": value_of(command[1]), **arguments(text, command[2], "command")}
    if found is not None and found[1] != PROGRAM:
        return found[1], arguments(text, found[2] or "")
    if found is not None:
        raise ValueError(f"planner {text!r} does not parse: expected a command line, such as {PROGRAM}('gnugo --mode gtp')")
    examples = "ucd(d1=1, d3=1, c=0.3) or uct(policies='cmc(prob=0.5)')"
    raise ValueError(f"planner {text!r} does not parse: expected name(key=value, ...), such as {examples}")


def arguments(text: str, listed: str, *taken: str) -> dict[str, Any]:
    """The parameters listed in a text. Raises ValueError for one that stands there twice or is taken already."""
    written: dict[str, Any] = {}
    for key, value in PARAMETER.findall(listed):
        if key in written or key in taken:
            raise ValueError(f"planner {text!r} has the parameter {key!r} twice")
        written[key] = value_of(value)
    return written


def value_of(text: str) -> Any:
    """The number, word or quoted text that a value of the grammar stands for."""
    if text[0] in "'\"":
        return text[1:-1]
    if WHOLE.fullmatch(text):
        return int(text)
    return float(text) if re.fullmatch(NUMBER, text) else WORDS.get(text, text)


def setting_from(name: str, text: str | None, default: Any) -> Any:
    """A game's setting as typed on a command line: text where its default is text, else true or false, a number or text.

    Only where the default has a point may the number have one.

    None stands for an option without a value, which is true. Raises ValueError for what cannot be of the default's kind.
    """
    if text is None and not isinstance(default, bool):
        raise ValueError(f"{name} needs a value")
    if isinstance(default, str):
        return text
    if text is None or text.lower() in ("true", "false"):
        return text is None or text.lower() == "true"
    if isinstance(default, bool):
        raise ValueError(f"{name} must be true or false, not {text!r}")
    if isinstance(default, float) and re.fullmatch(NUMBER, text, re.ASCII):
        return float(text)
    return int(text) if WHOLE.fullmatch(text) else text
