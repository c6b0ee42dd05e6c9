"""Planners written as text, such as "ucd(d1=0, d2=1, d3=2, c=0.3)".

    planner   =  name [ "(" [ key "=" value { "," key "=" value } ] ")" ]
    name      =  word | reference
    reference =  word { "." word } ":" word { "." word }
    agent     =  ( "gtp" | "sb3" | "torch" | "onnx" | "spiel_bot" ) "(" quoted text { "," key "=" value } ")"
    value     =  number | "-" number | "inf" | "true" | "false" | "none" | word | reference | quoted text
    policies  =  policy { policy }, each written as a planner is, and so are initial statistics and groups

The name is a preset, or a reference `package.module:name` to a function or class that returns a selection or a planner. An
installed package may give it a short name by an entry point of the group `ucd.selections`. The keys are its parameters and the
options of Planner, each at most once. Blanks between symbols are ignored. The values of `policies`, `initial`, `groups` and
`knowledge` are text, quoted unless they are a single name, such as uct(policies="cmc(prob=0.5)", initial=go_initial). A text of
`knowledge` without brackets is the path of a base, as uct(knowledge="hex.lmdb") is uct(knowledge="base(path='hex.lmdb')").
A number is decimal, of at most 39 digits before its point. No text is evaluated: a reference imports its module and calls the
object that it names. Agents of these names play in matches: a program by its command line, such as gtp("gnugo --mode gtp",
timeout=30), a trained network by its file, such as sb3("model.zip") or torch("net.pt", layout=hwc), and a bot of OpenSpiel by
its name. `timeout` is the seconds that one has for a move.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ucd_envs.grouped import MoveGroups
from ucd_envs.settings import shown
from ucd_planners.groups import GROUPS
from ucd_planners.knowledge_base import KnowledgeBase
from ucd_planners.options import PlannerOptions, refuse_old_names
from ucd_planners.planner import Planner
from ucd_planners.playouts import INITIAL, POLICIES, Initial, PlayoutPolicy
from ucd_planners.presets import PRESETS, WITH_NET
from ucd_planners.references import built, chooses_moves, found, parameters_of, refuse_unknown, takes_any

WORDS = {"inf": math.inf, "true": True, "false": False, "True": True, "False": False, "none": None, "None": None}
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
LONGEST = 1000
"""Limit on the characters of a text, of a planner or of its policies."""
TIMEOUT = 60.0
"""Seconds that a program has for a move, by default."""

WHOLE = re.compile(r"-?\d{1,39}", re.ASCII)
NAME = r"[A-Za-z_]\w*"
REFERENCE = rf"{NAME}(?:(?:\.{NAME})*:{NAME}(?:\.{NAME})*)?"
NUMBER = r"-?(?:\d{1,39}(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
PARAMETER = re.compile(rf"""\s*({NAME})\s*=\s*({NUMBER}|{REFERENCE}|'[^']*'|"[^"]*")\s*""", re.ASCII)
PLANNER = re.compile(rf"\s*({REFERENCE})\s*(?:\((\s*|{PARAMETER.pattern}(?:,{PARAMETER.pattern})*)\)\s*)?", re.ASCII)

PROGRAM = "gtp"
"""The name of a program that speaks GTP."""
QUOTED = {
    PROGRAM: ("command", "a command line", "gnugo --mode gtp"),
    "sb3": ("path", "a file", "model.zip"),
    "torch": ("path", "a file or a reference", "net.pt"),
    "onnx": ("path", "a file", "net.onnx"),
    "spiel_bot": ("name", "a bot or a reference", "uniform_random"),
}
"""Agents whose text begins with a quoted one: the parameter that it is, its kind, and an example."""
NAMES = "|".join(QUOTED)
COMMAND = re.compile(rf"""\s*({NAMES})\s*\(\s*('[^']*'|"[^"]*")\s*((?:,{PARAMETER.pattern})*)\)\s*""", re.ASCII)


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


def parse(text: str) -> tuple[str, dict[str, Any]]:
    """Returns the name and the parameters of a planner's text. The quoted text of an agent is the parameter in QUOTED.

    Raises TypeError or ValueError for a text that does not follow the grammar.
    """
    check_text(text, "a planner", "uct(c=0.3)")
    command = COMMAND.fullmatch(text)
    match = PLANNER.fullmatch(text)
    if command is not None:
        first = QUOTED[command[1]][0]
        return command[1], {first: value_of(command[2]), **arguments(text, command[3], first)}
    if match is not None and match[1] not in QUOTED:
        return match[1], arguments(text, match[2] or "")
    if match is not None:
        _, kind, example = QUOTED[match[1]]
        raise ValueError(f"planner {text!r} does not parse: expected {kind}, such as {match[1]}('{example}')")
    examples = "ucd(d1=1, d3=1, c=0.3) or uct(policies='cmc(prob=0.5)')"
    raise ValueError(f"planner {text!r} does not parse: expected name(key=value, ...), such as {examples}")


def parse_all(text: str, option: str, example: str) -> list[tuple[str, dict[str, Any]]]:
    """Returns the names and parameters of everything written one after another.

    Raises TypeError or ValueError, with the option and an example, for a text that does not follow the grammar.
    """
    check_text(text, option, example)
    each, place = [], 0
    while text[place:].strip():
        match = PLANNER.match(text, place)
        if match is None:
            raise ValueError(f"{option} {text!r} do not parse: expected name(key=value, ...), such as {example}")
        place = match.end()
        each.append((match[1], arguments(text, match[2] or "")))
    return each


def check_text(text: Any, kind: str, example: str) -> None:
    """Raises TypeError for anything but text, and ValueError for one that is too long."""
    if not isinstance(text, str):
        raise TypeError(f"{kind} must be written as text, such as {example!r}, not {shown(text)}")
    if len(text) > LONGEST:
        raise ValueError(f"{kind} must be written with at most {LONGEST} characters, not {len(text)}")


def arguments(text: str, listed: str, *taken: str) -> dict[str, Any]:
    """Returns the parameters listed in a text. Raises ValueError for a repeated one or one in `taken`."""
    written: dict[str, Any] = {}
    for key, value in PARAMETER.findall(listed):
        if key in written or key in taken:
            raise ValueError(f"planner {text!r} has the parameter {key!r} twice")
        written[key] = value_of(value)
    return written


def value_of(text: str) -> Any:
    """Returns the number, word or quoted text that a value of the grammar stands for."""
    if text[0] in "'\"":
        return text[1:-1]
    if WHOLE.fullmatch(text):
        return int(text)
    return float(text) if re.fullmatch(NUMBER, text) else WORDS.get(text, text)


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


def write(
    name: str, written: Mapping[str, Any], known: Mapping[str, inspect.Parameter], options: Mapping[str, Any] | None = None
) -> str:
    """Writes a name with all of its parameters in their order, with defaults for missing ones, then options."""
    values = {}
    for key, each in known.items():
        value = written.get(key, each.default)
        if value is None or isinstance(value, (bool, int, float, str)):
            values[key] = value
    values |= options or {}
    first = QUOTED[name][0] if name in QUOTED else None
    texts = [quoted(str(value)) if key == first else f"{key}={value_text(value)}" for key, value in values.items()]
    return f"{name}({','.join(texts)})" if texts else name


def value_text(value: Any) -> str:
    """Writes a value of the grammar in its canonical form."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return number(value)
    return value if re.fullmatch(REFERENCE, value, re.ASCII) and value not in WORDS else quoted(value)


def number(value: float) -> str:
    """Writes a number. Whole ones have no point."""
    return str(int(value)) if math.isfinite(value) and value == int(value) and abs(value) < 10**15 else repr(value)


def quoted(text: str) -> str:
    """Writes a text between quotes of a kind that it does not contain."""
    return f'"{text}"' if "'" in text else f"'{text}'"


def setting_from(name: str, text: str | None, default: Any) -> Any:
    """Returns a game's setting typed on a command line: text where its default is text, else true or false, a number or
    text.

    The number may have a point only if the default has one. None stands for an option without a value, which is true. Raises
    ValueError for a text that does not fit the default's type.
    """
    if text is None and not isinstance(default, bool):
        raise ValueError(f"{name} needs a value")
    if isinstance(default, str):
        return text
    if text is None or text.lower() in ("true", "false"):
        return text is None or text.lower() == "true"
    if isinstance(default, bool):
        raise ValueError(f"{name} must be true or false, not {shown(text)}")
    if isinstance(default, float) and re.fullmatch(NUMBER, text, re.ASCII):
        return float(text)
    return int(text) if WHOLE.fullmatch(text) else text
