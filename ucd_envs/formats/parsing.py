"""Nodes of game records as text: the bytes are decoded first, and sgfmill's grammar parses the text.

Two liberties of other programs are repaired: a root without its semicolon, and names of properties in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ucd_envs.formats.decoding import LOST, Decoded, decodings

T = TypeVar("T")
ROOT = r"\(\s*(?=(?:GM|FF|SZ|CA|AP|GN|EV|DT|PB|PW|KM|RU)\s*\[)"
"""Start of a root without a semicolon, known by its first property."""
START = re.compile(rf"\(\s*;|{ROOT}", re.IGNORECASE)
FAULTS = re.compile(rf"(\[[^\\\]]*(?:\\.[^\\\]]*)*\]?)|((?i:{ROOT}))|(?<![A-Za-z])([a-z]+)(?=\s*\[)", re.DOTALL)
"""A value in its brackets, which is left alone, the start of a root without a semicolon, or a name in lower case."""
NAMES = {"black": "B", "white": "W"}
"""Names that the oldest files write in full."""
SHOWN = 20
"""Characters of a wrong value in a message."""


def printable(text: str, most: int) -> str:
    """Returns the first characters of a text for a message, with a mark for each that cannot be printed."""
    return "".join(letter if letter.isprintable() else LOST for letter in " ".join(text[:most].split()))


def sgfmill_grammar() -> Any:
    """Returns the library's grammar of SGF. Raises ImportError where it is not installed."""
    try:
        from sgfmill import sgf_grammar
    except ImportError:
        raise ImportError("SGF needs sgfmill: pip install 'ucd-planners[sgf]'") from None
    return sgf_grammar


@dataclass(frozen=True)
class Node:
    """A node: its properties by name, each with its values in UTF-8 and escaped."""

    properties: Mapping[str, Sequence[bytes]]

    def __contains__(self, name: str) -> bool:
        return name in self.properties

    def texts(self, name: str) -> list[str]:
        """Returns the values of a property as they stand in the file."""
        return [value.decode("utf-8", "replace") for value in self.properties.get(name, ())]

    def text(self, name: str) -> str:
        """Returns a property's first value without escapes, empty where it is missing. Only comments keep their line ends."""
        if name not in self:
            return ""
        grammar = sgfmill_grammar()
        found: bytes = (grammar.text_value if name == "C" else grammar.simpletext_value)(self.properties[name][0])
        return found.decode("utf-8", "replace")

    def value(self, name: str, read: Callable[[str], T], default: T) -> T:
        """Returns a property's first value, or the default where it is missing or empty. Raises ValueError where it cannot be
        read."""
        text = next((text for text in self.texts(name) if text.strip()), None)
        if text is None:
            return default
        try:
            return read(text)
        except (ValueError, KeyError):
            raise ValueError(f"{name} cannot be read: {text[:SHOWN]!r}") from None


def whole_from(text: str) -> int:
    """Returns a whole number. Raises ValueError for any other text."""
    if not re.fullmatch(r"[+-]?[0-9]{1,9}", bare := text.strip()):
        raise ValueError(f"{text[:SHOWN]!r} is no whole number")
    return int(bare)


def real_from(text: str) -> float:
    """Returns a decimal number. Raises ValueError for any other text."""
    if not re.fullmatch(r"[+-]?(?:[0-9]{1,9}(?:\.[0-9]*)?|\.[0-9]+)", bare := text.strip()):
        raise ValueError(f"{text[:SHOWN]!r} is no decimal number")
    return float(bare)


def main_line(source: str | Path | bytes, strict: bool = False) -> list[Node]:
    """Returns the nodes of the main line of the first game. Raises ValueError with one sentence for text other than SGF, for a
    text of doubtful encoding without a size and, with `strict`, for one that needs repairs."""
    grammar = sgfmill_grammar()
    try:
        return _main_lines(source, lambda data: [grammar.parse_sgf_game(data)], strict)[0]
    except ValueError as error:
        named = isinstance(source, str) and re.fullmatch(r"[^(\n]+", source)
        raise ValueError(f"this is no SGF: {error}{'; the name of a file must be a Path' if named else ''}") from None


def main_lines(source: Path) -> list[list[Node]]:
    """Returns the main line of every game of a file. Raises ValueError as `main_line` does."""
    return _main_lines(source, sgfmill_grammar().parse_sgf_collection, False)


def _main_lines(source: str | Path | bytes, parse: Callable[[bytes], list[Any]], strict: bool) -> list[list[Node]]:
    """Returns the main lines by the text with most properties, the most trusted one among equals."""
    if isinstance(source, str):
        found = [Decoded(source, None, LOST in source)]
    else:
        found = list(decodings(source.read_bytes() if isinstance(source, Path) else source))
    best: tuple[int, bool, list[list[Node]]] | None = None
    refusal = None
    for decoded in found:
        try:
            trees = parse(_repaired(decoded.text, strict).encode(errors="replace"))
        except ValueError as error:
            refusal = refusal or error
            continue
        lines = [[Node(node) for node in sgfmill_grammar().main_sequence_iter(tree)] for tree in trees]
        if decoded.declared is not None and decoded.declared != lines[0][0].text("CA").strip():
            continue
        count = sum(len(node.properties) for line in lines for node in line)
        if best is None or count > best[0]:
            best = count, decoded.doubtful, lines
    if best is None:
        raise refusal or ValueError("no SGF data found")
    if best[1] and "SZ" not in best[2][0][0]:
        raise ValueError("its encoding is not known, and no size of a board can be read")
    return best[2]


def _repaired(text: str, strict: bool) -> str:
    """Returns a text with the semicolons of its roots and with names in capital letters. Raises ValueError for a text that
    needs it, with `strict`."""
    start = START.search(text)
    if start is None:
        return text
    tail = text[start.start() :]
    repaired = FAULTS.sub(_correct, tail)
    if strict and repaired != tail:
        raise ValueError("a root has no semicolon, or names of properties are in lower case")
    return repaired


def _correct(fault: re.Match[str]) -> str:
    """Returns the text that a match of FAULTS stands for."""
    value, root, name = fault.groups()
    if value is not None:
        return value
    return f"{root};" if root is not None else NAMES.get(name, name.upper())
