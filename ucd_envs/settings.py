"""Checks of parameters, each with a one-sentence error that names the parameter, and names of cells."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

MOST_SHOWN = 80
MOST_MOVES = 6
"""Largest number of legal moves that a message lists."""


def shown(value: Any) -> str:
    """Returns a value as a message quotes it: its `repr`, shortened if longer than 80 characters."""
    if isinstance(value, str) and len(value) > MOST_SHOWN:
        return f"{value[:MOST_SHOWN]!r}... ({len(value)} characters)"
    try:
        text = repr(value)
    except Exception:  # whole numbers of thousands of digits, and objects of a user's with a faulty text
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def integer(name: str, value: Any, least: int, most: int) -> int:
    """Returns a parameter as a whole number in [least, most]. Raises TypeError or ValueError with one sentence otherwise."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number from {least} to {most}, not {shown(value)}")
    if not least <= value <= most:
        raise ValueError(f"{name} must be from {least} to {most}, not {shown(value)}")
    return int(value)


def boolean(name: str, value: Any) -> bool:
    """Returns a parameter that is on or off. Raises TypeError with one sentence for anything else."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, not {shown(value)}")
    return bool(value)


def real(name: str, value: Any) -> float:
    """Returns a parameter as a number. Raises TypeError with one sentence for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} must be a number, not {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} must be a number that a float can hold") from None


def one_of(name: str, value: Any, choices: Collection[str]) -> str:
    """Returns a parameter that is one of some words. Raises ValueError with one sentence for anything else."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {shown(value)}")
    return value


def cell_name(cell: int, columns: int) -> str:
    """Returns the name of cell row * columns + column, such as "b2"."""
    return f"{chr(ord('a') + cell % columns)}{cell // columns + 1}"


def cell_named(text: str, rows: int, columns: int) -> int:
    """Returns row * columns + column of a cell written as column letter and row number from 1, such as "b2" or "B2".

    Raises ValueError for any other text.
    """
    letter, number = text[:1].lower(), text[1:]
    column = ord(letter) - ord("a") if letter.isalpha() else -1
    if not 0 <= column < columns or not (number.isascii() and number.isdecimal()) or not 1 <= int(number) <= rows:
        last = cell_name(rows * columns - 1, columns)
        raise ValueError(f"{shown(text)} is no cell of this board: expected a1 to {last}")
    return (int(number) - 1) * columns + column


def move_among(text: str, named: Mapping[str, int]) -> int:
    """Returns the action of a text, in upper or lower case, given the legal actions by their names in lower case.

    Raises ValueError with one sentence for a text that names none.
    """
    if text.lower() not in named:
        raise no_move(text, list(named))
    return named[text.lower()]


def no_move(text: str, names: Sequence[str]) -> ValueError:
    """Returns the error for a text that names no legal move, given the names of those that are legal."""
    if not names:
        wanted = "the game is over"
    else:
        wanted = f"expected one of {', '.join(names)}" if len(names) <= MOST_MOVES else f"expected one such as {names[0]}"
    return ValueError(f"{shown(text)} is no move here: {wanted}")
