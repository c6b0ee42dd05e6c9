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

from ucd_envs.settings import shown

WORDS = {"inf": math.inf, "true": True, "false": False, "True": True, "False": False, "none": None, "None": None}
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
