"""A scene placed in a picture: its shapes in pixels, in drawing order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ucd_envs.pictures.scene import (
    BLACK,
    CELL,
    LINE,
    WHITE,
    Box,
    Cell,
    Colour,
    Disc,
    Line,
    Point,
    Polygon,
    Scene,
    Shape,
    Words,
)

PAD, GUTTER, FOOT = 20.0, 26.0, 34.0
"""Margins in pixels: around everything, for the coordinates of rows and columns, and for the caption."""
EDGES = {BLACK: (132, 126, 118), WHITE: (84, 78, 70)}
"""Edge colours of stones for which a darker shade would not be visible."""
CAPTION = 14.0
"""Font size of the caption."""


@dataclass(frozen=True)
class Frame:
    """The pixels of a picture and of its board: the upper left corner and the length of a cell."""

    scene: Scene
    width: float
    height: float
    corner: Point
    unit: float
    caption_length: float

    def point(self, point: Point) -> Point:
        """Returns a point of the scene in pixels."""
        return self.corner[0] + self.unit * point[0], self.corner[1] + self.unit * point[1]

    def points(self, points: Iterable[Point]) -> tuple[Point, ...]:
        """Returns points of the scene in pixels."""
        return tuple(self.point(point) for point in points)

    def shapes(self) -> Iterator[Shape]:
        """Returns all shapes in pixels, the lowest first."""
        scene = self.scene
        yield from map(self._placed, scene.ground)
        for cell in scene.cells:
            if cell.outline:
                yield from self._cell(cell)
        for cell in scene.cells:
            if cell.stone:
                colour = scene.stones[(cell.stone - 1) % len(scene.stones)]
                yield from _stone(self.point((cell.x, cell.y)), scene.stone_radius * self.unit, colour)
            elif cell.name:
                yield self._placed(Words((cell.x, cell.y), cell.name, 0.24, LINE, least=8))
        yield from map(self._placed, scene.marks)
        yield from self._labels()
        yield from self._legend()
        yield from self._caption()

    def _placed(self, shape: Shape) -> Shape:
        """Returns a shape of the scene in pixels."""
        unit = self.unit
        match shape:
            case Polygon(points):
                return shape._replace(points=self.points(points))
            case Box(corner, far, width=width, least=least, round=radius):
                corner, far = self.points((corner, far))
                return shape._replace(corner=corner, far=far, width=max(width * unit, least), round=radius * unit)
            case Line(points, width=width, least=least, most=most):
                return shape._replace(points=self.points(points), width=min(max(width * unit, least), most))
            case Disc(centre, radius, least=least):
                return shape._replace(centre=self.point(centre), radius=max(radius * unit, least))
            case Words(at, size=size, least=least, most=most):
                return shape._replace(at=self.point(at), size=min(max(size * unit, least), most))

    def _cell(self, cell: Cell) -> Iterator[Shape]:
        """Returns a cell inside its lines."""
        inside = 1 - max(1.5 / self.unit, 1 / 24)
        shrunk = [(cell.x + inside * (x - cell.x), cell.y + inside * (y - cell.y)) for x, y in cell.outline]
        yield Polygon(self.points(cell.outline), LINE)
        yield Polygon(self.points(shrunk), CELL)

    def _labels(self) -> Iterator[Shape]:
        """Returns coordinates in the gutters."""
        size = min(max(self.unit * 0.36, 11), 20)
        away = self.scene.rim + GUTTER / 2
        for cell, side, words, _ in self.scene.labels:
            x, y = self.point((cell.x, cell.y))
            match side:
                case "left":
                    x -= self.unit / 2 + away
                case "above":
                    y = self.corner[1] - away
                case "below":
                    y = self.corner[1] + self.unit * self.scene.down + 0.6 * GUTTER
            if words:
                yield Words((x, y), words, size)

    def _legend(self) -> Iterator[Shape]:
        """Returns swatches and words in the gutter below."""
        lines = 1.6 if any(label.side == "below" for label in self.scene.labels) else 0.6
        size, base = GUTTER / 4, self.corner[1] + self.unit * self.scene.down + lines * GUTTER
        for number, (words, colour) in enumerate(self.scene.legend):
            x = self.corner[0] + self.unit * self.scene.across * number / len(self.scene.legend)
            yield Box((x, base - size), (x + 2 * size, base + size), colour, LINE, 1)
            yield Words((x + 3 * size, base), words, min(max(self.unit * 0.36, 11), 20), left=True)

    def _caption(self) -> Iterator[Shape]:
        """Returns the caption below the board, after a disc in its subject's colour."""
        middle, base = self.width / 2, int(self.height) - PAD / 2 - FOOT / 2
        yield Words((middle, base), self.scene.caption, CAPTION)
        if self.scene.subject is not None:
            yield from _stone((middle - self.caption_length / 2 - 0.6 * PAD, base), 0.35 * PAD, self.scene.subject)


def framed(scene: Scene, width: float, measure: Callable[[str, float], float]) -> Frame:
    """Places a scene in a picture of the given width in pixels and at most 5/4 of that height. A long caption makes it
    wider.

    A cell has at most a fifth of the width. `measure` returns the length of words in a font size.
    """
    sides = {label.side for label in scene.labels if label.words}
    left, top = ((GUTTER + scene.rim) * (side in sides) for side in ("left", "above"))
    below = GUTTER * (("below" in sides) + bool(scene.legend))
    aside, above = 2 * PAD + left, 2 * PAD + top + below + FOOT
    fitting = (width - aside) / scene.across, (1.25 * width - above) / scene.down
    unit = min(*fitting, width / 5, scene.largest)
    length = measure(scene.caption, CAPTION)
    full = max(unit * scene.across + aside, length + 4 * PAD)
    corner = (full - unit * scene.across - aside) / 2 + PAD + left, PAD + top
    return Frame(scene, full, unit * scene.down + above, corner, unit, length)


def _stone(middle: Point, radius: float, colour: Colour) -> Iterator[Shape]:
    """Returns a stone with an edge."""
    dark: Colour = (int(colour[0] * 0.7), int(colour[1] * 0.7), int(colour[2] * 0.7))
    yield Disc(middle, radius, EDGES.get(colour, dark))
    yield Disc(middle, radius - max(radius * 0.07, 1.2) if colour in EDGES else radius * 0.88, colour)
