"""The description of a board: cells, stones, labels and shapes, from which text, SVG and pixels are drawn.

Lengths are in cells, with x to the right and y down from the board's upper left corner. `least` or `most` beside a length
limits it in pixels of the finished picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

Point = tuple[float, float]
Colour = tuple[int, int, int]

PAPER, INK, LINE = (250, 247, 240), (60, 56, 52), (168, 160, 148)
CELL = (226, 217, 200)
FRAME = (43, 92, 158)
RED, BLUE, YELLOW, GREEN, VIOLET = (206, 60, 51), (52, 101, 178), (233, 185, 44), (83, 148, 91), (124, 86, 148)
PLAYERS = (RED, BLUE, YELLOW, GREEN, VIOLET)
"""Colours of the players' stones."""
WOOD, BLACK, WHITE = (226, 192, 138), (36, 34, 32), (246, 246, 243)
CLOTH = (64, 134, 92)
"""Colour of the board of Othello."""


class Polygon(NamedTuple):
    """A filled polygon."""

    points: tuple[Point, ...]
    fill: Colour


class Box(NamedTuple):
    """A rectangle from its upper left to its lower right corner, with an edge. `round` is the radius of its corners."""

    corner: Point
    far: Point
    fill: Colour | None
    edge: Colour | None = None
    width: float = 0.0
    least: float = 0.0
    round: float = 0.0


class Line(NamedTuple):
    """A line through points, extended by half its width at its ends. Joints and ends are round or straight."""

    points: tuple[Point, ...]
    colour: Colour
    width: float
    least: float = 0.0
    most: float = inf
    round: bool = False


class Disc(NamedTuple):
    """A filled circle."""

    centre: Point
    radius: float
    fill: Colour
    least: float = 0.0


class Words(NamedTuple):
    """A text centred at its place, or to the right of it where `left` is set. `size` is the font's."""

    at: Point
    words: str
    size: float
    colour: Colour = INK
    least: float = 0.0
    most: float = inf
    left: bool = False


Shape = Polygon | Box | Line | Disc | Words


class Cell(NamedTuple):
    """A cell, given by its centre."""

    x: float
    y: float
    stone: int = 0
    """Zero for none, else player + 1."""
    name: str = ""
    """Shown in pictures while the cell is empty."""
    outline: tuple[Point, ...] = ()
    """Corners of the cell, empty where the ground shows the cells."""
    letter: str = ""
    """Character of the stone in text, where it is not the player's."""


class Label(NamedTuple):
    """A coordinate beside a cell. Those above and below stand outside the whole board."""

    cell: Cell
    side: str
    """Side of the cell: "left", "right", "above" or "below"."""
    words: str
    """Label in pictures; may be empty."""
    characters: str
    """Label in text."""


class Entry(NamedTuple):
    """An entry of the legend below a board."""

    words: str
    colour: Colour


@dataclass(frozen=True)
class Scene:
    """A board and its caption, drawn in this order: ground, cells, stones, marks, labels, legend, caption."""

    across: float
    down: float
    caption: str
    """Caption of pictures."""
    sentence: str
    """Caption of text, which also gives the players' characters."""
    subject: Colour | None
    """Colour of the disc before a picture's caption."""
    cells: tuple[Cell, ...] = ()
    ground: tuple[Shape, ...] = ()
    marks: tuple[Shape, ...] = ()
    labels: tuple[Label, ...] = ()
    legend: tuple[Entry, ...] = ()
    lines: tuple[str, ...] = ()
    """Lines of text, instead of one drawn from cells and labels."""
    stone_radius: float = 0.36
    stones: tuple[Colour, ...] = PLAYERS
    rim: float = 0.0
    """Pixels between the cells and the labels."""
    indent: int = 4
    """Characters of a line of text before the leftmost cell."""
    largest: float = inf
    """Largest size of a cell in pixels."""
