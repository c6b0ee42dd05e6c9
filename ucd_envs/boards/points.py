"""Names of points on a board of chains, and stones placed before the start."""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards.chains import BLACK, BORDER, CELLS, EMPTY, POINTS, SIDE, WHITE
from ucd_envs.settings import real
from ucd_envs.symmetries import Symmetries, of_planes, of_rectangle, symmetries, with_others

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""Names of columns. They leave out I."""


def points_of(rows: int, columns: int) -> np.ndarray:
    """Returns the points of a board row by row: [rows * columns] uint16."""
    return np.array([(row + 1) * (SIDE + 1) + column + 1 for row in range(rows) for column in range(columns)], np.uint16)


def tables(rows: int, columns: int) -> dict[str, np.ndarray]:
    """Returns `point` of an action and `action` of a point, padded for the largest board: [CELLS] and [POINTS] uint16."""
    point, action = points_of(rows, columns), np.zeros(POINTS, np.uint16)
    action[point] = np.arange(len(point))
    return {"point": np.pad(point, (0, CELLS - len(point))), "action": action}


def symmetries_of(rows: int, columns: int, planes: int, first: int, others: int = 0) -> Symmetries:
    """Returns the symmetries of a game whose keys have two bits a point from the bit `first` on, with `planes` planes of
    observations and `others` more actions behind the points."""
    turned = of_rectangle(rows, columns)
    bits = first + 2 * np.arange(rows * columns)[:, None] + np.arange(2)
    key_words = (first + 2 * rows * columns + 63) // 64
    return symmetries(turned, bits, with_others(turned, others), key_words, of_planes(turned, planes))


def point_name(row: int, column: int) -> str:
    """Returns a point's usual name, such as "J9"."""
    return f"{LETTERS[column]}{row + 1}"


def action_name(action: int, rows: int, columns: int) -> str:
    """Returns the name of a point, or "pass" for the action after the last point."""
    return "pass" if action == rows * columns else point_name(action // columns, action % columns)


def action_named(text: str, rows: int, columns: int) -> int:
    """Returns the action of a point or a pass, in upper or lower case. Raises ValueError for any other text."""
    if text.lower() == "pass":
        return rows * columns
    try:
        return point_named(text, rows, columns)
    except ValueError as error:
        raise ValueError(f"{error}, or pass") from None


def point_named(text: str, rows: int, columns: int) -> int:
    """Returns the action of a point such as "J9" or "j9". Raises ValueError for any other text."""
    column, line = LETTERS.find(text[:1].upper() or "I"), text[1:]
    if not 0 <= column < columns or not (line.isascii() and line.isdecimal()) or not 1 <= int(line) <= rows:
        raise ValueError(f"{text!r} is no point of this board: expected A1 to {point_name(rows - 1, columns - 1)}")
    return (int(line) - 1) * columns + column


def handicap_points(stones: int, rows: int, columns: int) -> list[str]:
    """Returns the points of handicap stones as the GTP standard fixes them. Raises ValueError for a number that it has no
    points for."""
    odd = rows % 2 == 1 and columns % 2 == 1
    most = 0 if min(rows, columns) < 7 else 9 if odd and min(rows, columns) > 7 else 4
    if stones > most or stones == 1:
        allowed = f"0 or 2 to {most}" if most else "0"
        raise ValueError(f"handicap on {rows} rows and {columns} columns must be {allowed}, not {stones}")
    low, left = (3 if side >= 13 else 2 for side in (rows, columns))
    high, right, middle, centre = rows - 1 - low, columns - 1 - left, rows // 2, columns // 2
    corners = [(low, left), (high, right), (high, left), (low, right)]
    sides = [(middle, left), (middle, right), (low, centre), (high, centre)]
    places = corners[:stones] if stones < 5 else corners + sides[: stones // 2 * 2 - 4]
    if stones in (5, 7, 9):
        places.append((middle, centre))
    return [point_name(row, column) for row, column in places]


def twice_komi(komi: Any) -> int:
    """Returns komi in half points. Raises TypeError or ValueError unless it is a multiple of 1/2 and at most the number of
    points."""
    doubled = 2 * real("komi", komi)
    if not abs(doubled) <= 2 * CELLS or doubled != int(doubled):
        raise ValueError(f"komi must be a multiple of 1/2 from -{CELLS} to {CELLS}, not {komi!r}")
    return int(doubled)


def first_player(first: str | None, handicap: int) -> str:
    """Returns the player who moves first, by default the side without a handicap. Raises ValueError for any other name."""
    if first is None:
        return "white" if handicap else "black"
    if first not in ("black", "white"):
        raise ValueError(f"first must be black or white, not {first!r}")
    return first


def set_up(black: str, white: str, handicap: int, rows: int, columns: int) -> tuple[str, np.ndarray]:
    """Returns the black points as text and the board, [rows * columns] uint8, from lists of points such as "C3 D4".

    The handicap stones are added to the black ones. Raises TypeError for a list that is not text. Raises ValueError for an
    invalid point, two stones on one point, a chain without a liberty, and a handicap that the board does not allow.
    """
    if not isinstance(black, str) or not isinstance(white, str):
        raise TypeError(f"black and white must be text such as 'C3 D4', not {black!r} and {white!r}")
    if handicap:
        black = " ".join([black, *handicap_points(handicap, rows, columns)]).strip()
    stones = np.zeros(rows * columns, np.uint8)
    for colour, text in ((BLACK, black), (WHITE, white)):
        for name in text.split():
            action = point_named(name, rows, columns)
            if stones[action] != EMPTY:
                raise ValueError(f"there are two stones on {name} before the start")
            stones[action] = colour
    if not has_liberties(stones.reshape(rows, columns)):
        raise ValueError("every chain before the start needs a liberty")
    return black, stones


def has_liberties(stones: np.ndarray) -> bool:
    """Returns whether every chain of a board, [rows, columns] of EMPTY, BLACK and WHITE, touches an empty point."""
    padded = np.pad(stones, 1, constant_values=BORDER)
    free = padded == EMPTY
    while True:
        grown = free.copy()
        for axis, step in ((0, 1), (0, -1), (1, 1), (1, -1)):
            near = np.roll(padded, step, axis)
            grown |= np.roll(free, step, axis) & ((near == EMPTY) | (near == padded)) & (padded != BORDER)
        if (grown == free).all():
            return bool(free[padded != BORDER].all())
        free = grown
