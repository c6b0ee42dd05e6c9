"""GTP 2: lines to commands, answers to text [Farnebaeck: Specification of the Go Text Protocol, version 2, draft 2].

    command  =  [ number ] name { word } end of line
    answer   =  ( "=" | "?" ) [ number ] text, ended by an empty line

Control characters are removed from a line, tabs become blanks, `#` begins a comment, and lines without a command are ignored.
Colours are b, w, black or white in any case. Moves are written as the game writes them: column letters leave out I in Go, but
not in Hex.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import NamedTuple

COLOURS = ("b", "w")
"""Names of the players, the first being black."""
RESIGN = "resign"
"""Used in place of a vertex to resign."""
CONTROL: dict[int, str | None] = dict.fromkeys((*range(32), 127)) | {9: " "}
"""Replacements of control characters."""
ROOM = 65_536
"""Number of bytes read at once."""
LONGEST = 65_536
"""Limit on the bytes of a line. The rest of a longer line is not read as a command."""


class GTPError(Exception):
    """Raised for a command that fails; the text is the answer."""


class Command(NamedTuple):
    """A line with a command."""

    number: str
    """Number as it was written, empty if there was none."""
    name: str
    """Name of the command, empty after a number alone."""
    words: list[str]


def command_from(line: bytes) -> Command | None:
    """Returns the command of a line, or None if there is none."""
    words = line[:LONGEST].decode(errors="replace").translate(CONTROL).partition("#")[0].split()
    if not words:
        return None
    number = words.pop(0) if re.fullmatch(r"\d+", words[0], re.ASCII) else ""
    return Command(number, words[0] if words else "", words[1:])


def colour_named(word: str) -> int:
    """Returns the player of a colour's name. Raises GTPError for any other word."""
    named = {"b": 0, "black": 0, "w": 1, "white": 1}.get(word.lower())
    if named is None:
        raise GTPError("syntax error")
    return named


def exactly(count: int, words: list[str]) -> list[str]:
    """Returns the first `count` words of a command; more are ignored. Raises GTPError for fewer."""
    if len(words) < count:
        raise GTPError("syntax error")
    return words[:count]


def whole_from(word: str) -> int:
    """Returns a whole number, 0 or more. Raises GTPError for anything else."""
    if not re.fullmatch(r"\d{1,9}", word, re.ASCII):
        raise GTPError("syntax error")
    return int(word)


def real_from(word: str) -> float:
    """Returns a decimal number. Raises GTPError for anything else."""
    if not re.fullmatch(r"[+-]?(\d{1,9}(\.\d*)?|\.\d+)", word, re.ASCII):
        raise GTPError("syntax error")
    return float(word)


def seconds_from(word: str) -> float:
    """Returns a number of seconds, 0 for one below zero, such as servers send. Raises GTPError for anything else."""
    return max(0.0, real_from(word))


class Reply:
    """The answer to one command. Lines written before its end are sent at once."""

    def __init__(self, number: str, write: Callable[[str], None]) -> None:
        self.number, self._write = number, write
        self._begun = False

    def tell(self, line: str) -> None:
        """Writes a line of a successful answer that continues."""
        self._write(f"{line}\n" if self._begun else f"={self.number}\n{line}\n")
        self._begun = True

    def end(self, text: str) -> None:
        """Ends a successful answer."""
        if self._begun:
            self._write(f"{_lines(text)}\n\n" if text else "\n")
        else:
            self._write(f"={self.number} {_lines(text)}".rstrip() + "\n\n")

    def refuse(self, text: str) -> None:
        """Ends the answer with an error. A successful answer that has begun is only ended."""
        self._write("\n" if self._begun else f"?{self.number} {_lines(text)}".rstrip() + "\n\n")


def _lines(text: str) -> str:
    """Returns a text without empty lines, since these end answers, and without control characters."""
    lines = [line.translate(CONTROL).rstrip() for line in text.split("\n")]
    return "\n".join(line for place, line in enumerate(lines) if line or place == 0)


class Lines:
    """The lines of a file, read while other work goes on. None stands for its end, and comes last.

    A thread reads the descriptor itself. A thread that waits inside one of Python's file objects could not be abandoned.
    """

    def __init__(self, descriptor: int) -> None:
        self._arrived: SimpleQueue[bytes | None] = SimpleQueue()
        threading.Thread(target=self._read, args=(descriptor,), daemon=True).start()

    def next(self) -> bytes | None:
        """Returns the next line, as soon as it arrives."""
        return self._arrived.get()

    def waiting(self) -> bool:
        """Returns whether a line, or the end, has arrived and was not read yet."""
        return not self._arrived.empty()

    def _read(self, descriptor: int) -> None:
        rest = b""
        try:
            while piece := os.read(descriptor, ROOM):
                *lines, rest = (rest + piece).split(b"\n")
                rest = rest[: LONGEST + 1]
                for line in lines:
                    self._arrived.put(line)
        except OSError:
            pass
        if rest:
            self._arrived.put(rest)
        self._arrived.put(None)
