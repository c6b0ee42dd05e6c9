"""Boards as text and as pictures, from what any game tells: its observation and its tiling.

Pillow and pygame are imported when the first picture or window is asked for; nothing here is part of a game's state.
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt
from typing import Any

import numpy as np

from ucd_envs.rules import OVER, State

STONES = ".XOABC"
"""Text of an empty cell and of the players' stones."""
PAPER, INK, LINE = (250, 247, 240), (60, 56, 52), (168, 160, 148)
CELL = (226, 217, 200)
FRAME = (43, 92, 158)
PLAYERS = ((206, 60, 51), (52, 101, 178), (233, 185, 44), (83, 148, 91), (124, 86, 148))
"""Colours of the players' stones."""
SHARPNESS = 3
"""Pictures are drawn so much larger and then made smaller, which smooths their edges."""


def stones(state: State) -> np.ndarray:
    """Whose stone stands on each cell: [rows, columns] int, 0 for none, else player + 1."""
    rules = state.rules
    planes = np.zeros(rules.planes, np.int8)
    rules.kernels.observe(rules.board, state.array(), 0, planes.reshape(-1))
    board = np.zeros(rules.planes[:2], np.int64)
    for player in range(max(rules.players, 2)):
        board[planes[:, :, player] == 1] = player + 1
    return board


def caption(state: State) -> str:
    """Who is to move, or how the game ended."""
    if state.player != OVER:
        return f"ply {state.ply}: player_{state.player} to move"
    payoffs = state.payoffs()
    if len(payoffs) == 1:
        return f"ply {state.ply}: over, payoff {payoffs[0]:.3f}"
    if len(set(payoffs)) == 1:
        return f"ply {state.ply}: a draw"
    return f"ply {state.ply}: player_{payoffs.index(max(payoffs))} has won"


def letters(count: int) -> list[str]:
    """Names of columns: a, b, c, ..."""
    return [chr(ord("a") + column) for column in range(count)]


def text(state: State) -> str:
    """The board in characters, with coordinates and a caption."""
    board = stones(state)
    rows, columns = board.shape
    tiling = state.rules.tiling
    marks = [[STONES[stone] for stone in row] for row in board]
    if tiling == "track":
        left, right = steps(state)
        lines = [f"left {left}, right {right}, to go {columns - left - right}"]
    elif tiling == "column":
        lines = [" ".join(row) for row in marks] + [" ".join(str((column + 1) % 10) for column in range(columns))]
    else:
        slant = 1 if tiling == "hexagonal" else 0
        lines = ["    " + " ".join(letters(columns))]
        lines += [f"{' ' * (slant * row)} {row + 1:2} " + " ".join(marks[row]) for row in range(rows)]
    return "\n".join([*lines, caption(state)]) + "\n"


def steps(state: State) -> tuple[int, int]:
    """Steps to the left and to the right on a track."""
    rules = state.rules
    planes = np.zeros(rules.planes, np.int8)
    rules.kernels.observe(rules.board, state.array(), 0, planes.reshape(-1))
    return int(planes[:, :, 0].sum()), int(planes[:, :, 1].sum())


def picture(state: State, width: int = 640) -> np.ndarray:
    """The board as [height, width, 3] uint8. Raises ImportError where Pillow is not installed."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise ImportError("pictures need Pillow: pip install 'ucd-planners[render]'") from None
    painter = {"hexagonal": _hexagons, "square": _squares, "column": _columns, "track": _track}[state.rules.tiling]
    unit, size = _scale(state, width * SHARPNESS)
    image = Image.new("RGB", size, PAPER)
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(max(unit * 0.36, 10 * SHARPNESS))
    painter(draw, font, unit, state)
    small = ImageFont.load_default(14 * SHARPNESS)
    draw.text((size[0] / 2, size[1] - 16 * SHARPNESS), caption(state), INK, small, anchor="mm")
    image = image.resize((size[0] // SHARPNESS, size[1] // SHARPNESS), Image.Resampling.LANCZOS)
    return np.asarray(image).copy()


def _scale(state: State, width: int) -> tuple[float, tuple[int, int]]:
    """Width of a cell, and size of the whole picture, in drawing units."""
    rows, columns, _ = state.rules.planes
    across, down = {
        "hexagonal": (columns + (rows - 1) / 2 + 2, (rows - 1) * sqrt(3) / 2 + 3),
        "square": (columns + 2, rows + 2),
        "column": (columns + 1, rows + 1.4),
        "track": (10, 2.2),
    }[state.rules.tiling]
    unit = min(width / across, width / 4)
    foot = 32 * SHARPNESS
    height = int(unit * down + foot) // SHARPNESS * SHARPNESS
    return unit, (max(int(unit * across), 260 * SHARPNESS) // SHARPNESS * SHARPNESS, height)


def _hexagons(draw: Any, font: Any, unit: float, state: State) -> None:
    """Cells as hexagons; the sides that a player joins carry the player's colour."""
    board = stones(state)
    rows, columns = board.shape
    radius = unit / sqrt(3)
    corners = [(radius * sin(pi * k / 3), -radius * cos(pi * k / 3)) for k in range(6)]

    def centre(row: float, column: float) -> tuple[float, float]:
        return unit * (column + row / 2 + 1.5), unit * (row * sqrt(3) / 2 + 1.5)

    for row in range(rows):
        for column in range(columns):
            x, y = centre(row, column)
            draw.polygon([(x + dx, y + dy) for dx, dy in corners], CELL, LINE, max(1, int(unit / 30)))
    edge = max(2, int(unit / 9))
    for row in range(rows):
        for column in range(columns):
            x, y = centre(row, column)
            sides = [(0, s) for s in (5, 0) if row == 0] + [(0, s) for s in (2, 3) if row == rows - 1]
            sides += [(1, s) for s in (3, 4) if column == 0 and (row < rows - 1 or s == 4)]
            sides += [(1, s) for s in (0, 1) if column == columns - 1 and (row > 0 or s == 1)]
            for player, side in sides:
                (ax, ay), (bx, by) = corners[side], corners[(side + 1) % 6]
                draw.line([(x + ax, y + ay), (x + bx, y + by)], PLAYERS[player], edge, joint="curve")
    for row in range(rows):
        for column in range(columns):
            if board[row, column]:
                _stone(draw, centre(row, column), unit * 0.36, board[row, column])
    for column, letter in enumerate(letters(columns)):
        x, y = centre(-1, column)
        draw.text((x, y), letter, INK, font, anchor="mm")
    for row in range(rows):
        x, y = centre(row, -1)
        draw.text((x, y), str(row + 1), INK, font, anchor="mm")


def _squares(draw: Any, font: Any, unit: float, state: State) -> None:
    """Cells as squares."""
    board = stones(state)
    rows, columns = board.shape
    for row in range(rows):
        for column in range(columns):
            x, y = unit * (column + 1), unit * (row + 1)
            draw.rectangle((x, y, x + unit, y + unit), CELL, LINE, max(1, int(unit / 40)))
            if board[row, column]:
                _stone(draw, (x + unit / 2, y + unit / 2), unit * 0.36, board[row, column])
    for column, letter in enumerate(letters(columns)):
        draw.text((unit * (column + 1.5), unit * 0.5), letter, INK, font, anchor="mm")
    for row in range(rows):
        draw.text((unit * 0.5, unit * (row + 1.5)), str(row + 1), INK, font, anchor="mm")


def _columns(draw: Any, font: Any, unit: float, state: State) -> None:
    """A frame with holes, the columns numbered below."""
    board = stones(state)
    rows, columns = board.shape
    corner = unit / 2
    draw.rounded_rectangle((corner, corner, corner + unit * columns, corner + unit * rows), unit / 4, FRAME)
    for row in range(rows):
        for column in range(columns):
            middle = (corner + unit * (column + 0.5), corner + unit * (row + 0.5))
            if board[row, column]:
                _stone(draw, middle, unit * 0.4, (0, 1, 3)[board[row, column]])
            else:
                _disc(draw, middle, unit * 0.4, PAPER)
    for column in range(columns):
        draw.text((corner + unit * (column + 0.5), unit * (rows + 0.85)), str(column + 1), INK, font, anchor="mm")


def _track(draw: Any, font: Any, unit: float, state: State) -> None:
    """One bar: steps to the left, steps to the right, steps to go."""
    left, right = steps(state)
    total = state.rules.planes[1]
    start, height = unit * 0.5, unit * 0.9
    top = unit * 0.6
    draw.rectangle((start, top, start + 9 * unit, top + height), CELL)
    draw.rectangle((start, top, start + 9 * unit * left / total, top + height), PLAYERS[3])
    draw.rectangle((start + 9 * unit * left / total, top, start + 9 * unit * (left + right) / total, top + height), PLAYERS[2])
    draw.rectangle((start, top, start + 9 * unit, top + height), None, INK, max(1, int(unit / 40)))
    draw.text((5 * unit, top + height + unit * 0.35), f"left {left}   right {right}   of {total}", INK, font, anchor="mm")


def _stone(draw: Any, middle: tuple[float, float], radius: float, stone: int) -> None:
    colour = PLAYERS[stone - 1]
    _disc(draw, middle, radius, tuple(int(part * 0.7) for part in colour))
    _disc(draw, middle, radius * 0.88, colour)


def _disc(draw: Any, middle: tuple[float, float], radius: float, colour: Any) -> None:
    x, y = middle
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), colour)


class Screen:
    """A window that shows pictures. Raises ImportError where pygame is not installed."""

    def __init__(self, title: str, shape: tuple[int, ...]) -> None:
        try:
            import pygame
        except ImportError:
            raise ImportError("a window needs pygame: pip install 'ucd-planners[render]'") from None
        self._pygame: Any = pygame
        pygame.display.init()
        pygame.display.set_caption(title)
        self._window = pygame.display.set_mode((shape[1], shape[0]))
        self._clock = pygame.time.Clock()

    def show(self, pixels: np.ndarray, per_second: int) -> None:
        """Shows a picture, [height, width, 3] uint8, and waits so that at most so many are shown a second."""
        self._window.blit(self._pygame.surfarray.make_surface(pixels.swapaxes(0, 1)), (0, 0))
        self._pygame.event.pump()
        self._pygame.display.flip()
        self._clock.tick(per_second)

    def close(self) -> None:
        """Closes the window."""
        self._pygame.display.quit()
