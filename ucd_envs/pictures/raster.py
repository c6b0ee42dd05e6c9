"""Boards in pixels, drawn by Pillow, which is imported for the first picture."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ucd_envs.pictures.frame import framed
from ucd_envs.pictures.scene import PAPER, Box, Disc, Line, Point, Polygon, Shape, Words
from ucd_envs.pictures.tilings import describe
from ucd_envs.rules import State

SHARPNESS = 3
"""Oversampling factor. Pictures are drawn larger by it and scaled down, which smooths their edges."""


def pixels(state: State, width: int = 640) -> np.ndarray:
    """Returns the board as [height, width, 3] uint8, in cells of at most a fifth of `width`.

    It is at most `width` wide, unless the caption needs more, and at most 5/4 of that high.

    Raises ImportError where Pillow is not installed.
    """
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise ImportError("pictures need Pillow: pip install 'ucd-planners[render]'") from None

    font = lru_cache(lambda size: ImageFont.load_default(size * SHARPNESS))
    frame = framed(describe(state), width, lambda words, size: font(size).getlength(words) / SHARPNESS)
    # sums of fractions of a width may end a hair below it
    size = [int(length + 1e-6) * SHARPNESS for length in (frame.width, frame.height)]
    image = Image.new("RGB", (size[0], size[1]), PAPER)
    draw = ImageDraw.Draw(image)
    for shape in frame.shapes():
        _draw(draw, font, shape)
    return np.asarray(image.reduce(SHARPNESS)).copy()


def _draw(draw: Any, font: Any, shape: Shape) -> None:
    """Draws a shape, SHARPNESS times as large."""
    match shape:
        case Polygon(points, fill):
            draw.polygon(_larger(points), fill)
        case Box(corner, far, fill, edge, width, _, radius):
            draw.rounded_rectangle(_larger((corner, far)), radius * SHARPNESS, fill, edge, int(width * SHARPNESS))
        case Line(points, colour, width, round=rounded):
            thick = int(width * SHARPNESS)
            points = tuple(_larger(points))
            draw.line(points if rounded else _lengthened(points, thick / 2), colour, thick)
            for point in points if rounded else ():
                _disc(draw, point, thick / 2, colour)
        case Disc(centre, radius, fill):
            _disc(draw, _larger((centre,))[0], radius * SHARPNESS, fill)
        case Words(at, words, size, colour, left=left):
            draw.text(_larger((at,))[0], words, colour, font(size), anchor="lm" if left else "mm")


def _larger(points: tuple[Point, ...]) -> list[Point]:
    return [(x * SHARPNESS, y * SHARPNESS) for x, y in points]


def _lengthened(points: tuple[Point, ...], by: float) -> tuple[Point, Point]:
    """Returns a straight line extended at both ends."""
    (x, y), (far_x, far_y) = points
    length = max(abs(far_x - x) + abs(far_y - y), 1e-9)  # lines lie along an axis
    step_x, step_y = by * (far_x - x) / length, by * (far_y - y) / length
    return (x - step_x, y - step_y), (far_x + step_x, far_y + step_y)


def _disc(draw: Any, middle: Point, radius: float, colour: Any) -> None:
    x, y = middle
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), colour)
