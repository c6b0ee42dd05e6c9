"""The board of nine men's morris: 24 points on three nested squares, their lines and their names.

Points are counted row by row from 0, the top row first. A set of points is a word: point k is bit k.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards.bits import ZERO
from ucd_envs.kernels import kernel
from ucd_envs.symmetries import of_rectangle

SIDE = 7
"""Rows and columns of the grid on which the points lie."""
GRID = (
    *("a7", "d7", "g7", "b6", "d6", "f6", "c5", "d5", "e5"),
    *("a4", "b4", "c4", "e4", "f4", "g4"),
    *("c3", "d3", "e3", "b2", "d2", "f2", "a1", "d1", "g1"),
)
"""Names of points by column and row of the grid."""
POINTS = len(GRID)
ALL = np.uint64(2**POINTS - 1)
PLACES = tuple((SIDE - int(name[1]), ord(name[0]) - ord("a")) for name in GRID)
"""Row and column of each point on the grid, the top row being 0."""
_BY_COLUMN = sorted(range(POINTS), key=lambda point: PLACES[point][::-1])
MILLS = tuple(tuple(points[start : start + 3]) for points in (range(POINTS), _BY_COLUMN) for start in range(0, POINTS, 3))
"""Lines of three points in order: those along rows, then those along columns."""


def _name(row: int, column: int) -> str:
    """Returns the name of a point as square and direction, such as "Ose"."""
    down, right = row - SIDE // 2, column - SIDE // 2
    return (
        "IMO"[max(abs(down), abs(right)) - 1]
        + ("n" if down < 0 else "s" * (down > 0))
        + ("w" if right < 0 else "e" * (right > 0))
    )


NAMES = tuple(_name(*place) for place in PLACES)
"""Names of points as square (outer, middle, inner) and direction (n, ne, ...)."""
NAMED = {name.lower(): point for names in (NAMES, GRID) for point, name in enumerate(names)}
"""Points by either name in lower case."""

TABLES = (
    ("neighbours", np.uint64, (POINTS,)),
    ("pairs", np.uint64, (POINTS, 2)),
    ("mills", np.uint64, (len(MILLS),)),
    ("cell", np.uint8, (POINTS,)),
)
"""Fields of a configuration. Sets of points: `neighbours` of a point; `pairs`, which are mills together with it; all `mills`.
`cell`: of a point on the grid."""


def set_of(points: tuple[int, ...]) -> int:
    """Returns points as a set."""
    return sum(1 << point for point in points)


def neighbours() -> list[int]:
    """Returns the set of points next to each point along the lines."""
    found = [0] * POINTS
    for one, middle, other in MILLS:
        found[middle] |= 1 << one | 1 << other
        found[one] |= 1 << middle
        found[other] |= 1 << middle
    return found


def completions() -> list[list[int]]:
    """Returns for each point the two sets of two points that are a line together with it."""
    return [[set_of(mill) & ~(1 << point) for mill in MILLS if point in mill] for point in range(POINTS)]


def tables() -> dict[str, Any]:
    """Returns the values of TABLES."""
    return {
        "neighbours": neighbours(),
        "pairs": completions(),
        "mills": [set_of(mill) for mill in MILLS],
        "cell": [row * SIDE + column for row, column in PLACES],
    }


def images_of() -> tuple[np.ndarray, np.ndarray]:
    """Returns the images of the points, [16, POINTS], and of the cells of the grid, [16, SIDE * SIDE].

    The symmetries are those of the grid, and the same after an exchange of the inner and the outer square.
    """
    of_grid = of_rectangle(SIDE, SIDE)
    cells = [row * SIDE + column for row, column in PLACES]
    number, middle = {cell: point for point, cell in enumerate(cells)}, SIDE // 2
    exchanged = np.arange(SIDE * SIDE)
    for row, column in PLACES:
        down, right = row - middle, column - middle
        scale = 4 - max(abs(down), abs(right))  # the square on which the point comes to lie
        there = [middle + scale * ((step > 0) - (step < 0)) for step in (down, right)]
        exchanged[row * SIDE + column] = there[0] * SIDE + there[1]
    seen = np.concatenate([of_grid, of_grid[:, exchanged]])
    return np.array([[number[int(image[cell])] for cell in cells] for image in seen]), seen


@kernel()
def in_mills(mills, men):
    """Returns those of a player's men that stand in full lines. mills: [16] uint64, all lines."""
    found = ZERO
    for mill in mills:
        found |= mill if men & mill == mill else ZERO
    return found


@kernel()
def completes(pairs, men):
    """Returns whether a man whose lines need these pairs stands in a full line. pairs: [2] uint64."""
    return men & pairs[0] == pairs[0] or men & pairs[1] == pairs[1]
