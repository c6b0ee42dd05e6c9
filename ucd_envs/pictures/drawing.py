"""Boards as text and as pictures, from what any game tells: its observation and its tiling.

Pillow and pygame are imported when the first picture or window is asked for; nothing here is part of a game's state.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from math import cos, pi, sin, sqrt
from typing import Any

import numpy as np

from ucd_envs.boards.points import LETTERS
from ucd_envs.kernels import OVER
from ucd_envs.rules import State, Victory

STONES = ".XOABC"
"""Text of an empty cell and of the players' stones."""
PAPER, INK, LINE = (250, 247, 240), (60, 56, 52), (168, 160, 148)
CELL = (226, 217, 200)
FRAME = (43, 92, 158)
RED, BLUE, YELLOW, GREEN, VIOLET = (206, 60, 51), (52, 101, 178), (233, 185, 44), (83, 148, 91), (124, 86, 148)
PLAYERS = (RED, BLUE, YELLOW, GREEN, VIOLET)
"""Colours of the players' stones."""
WOOD, BLACK, WHITE = (226, 192, 138), (36, 34, 32), (246, 246, 243)
EDGES = {BLACK: (132, 126, 118), WHITE: (84, 78, 70)}
"""Edges of stones for which a darker shade will not do."""
KO = 3
"""The plane of a board of points that has a 1 where a stone must not be put at once."""
SHARPNESS = 3
"""Pictures are drawn so much larger and then made smaller, which smooths their edges."""
PAD, GUTTER, FOOT, BORDER = 20 * SHARPNESS, 26 * SHARPNESS, 34 * SHARPNESS, 6 * SHARPNESS
"""Room around everything, for the names of rows and columns, for the caption, and for the borders that a player joins."""


def colour(state: State, player: int) -> tuple[int, int, int]:
    """The colour of a player's stones: black and white on points; the second is yellow where stones fall into a blue frame."""
    if state.rules.tiling == "points":
        return (BLACK, WHITE)[player]
    return YELLOW if state.rules.tiling == "column" and player == 1 else PLAYERS[player]


def called(state: State, player: int) -> str:
    """What captions call a player: by the stones on a board of points."""
    return ("Black", "White")[player] if state.rules.tiling == "points" else f"player_{player}"


def seen(state: State, player: int) -> np.ndarray:
    """A player's observation: [rows, columns, planes] int8."""
    planes = np.zeros(state.rules.planes, np.int8)
    state.rules.kernels.observe(state.rules.config, state.array(), player, planes.reshape(-1))
    return planes


def stones(state: State) -> np.ndarray:
    """Whose stone stands on each cell: [rows, columns] int, 0 for none, else player + 1."""
    board = np.zeros(state.rules.planes[:2], np.int64)
    for player in range(state.rules.players):
        board[seen(state, player)[:, :, 0] == 1] = player + 1
    return board


def steps(state: State) -> tuple[int, int]:
    """Steps to the left and to the right on a track."""
    planes = seen(state, 0)
    return int(planes[:, :, 0].sum()), int(planes[:, :, 1].sum())


def subject(state: State) -> int | None:
    """The player of whom the caption tells: the one to move, the winner, or the one whose illegal move ended the game."""
    if state.player != OVER:
        return state.player
    payoffs = state.payoffs()
    return payoffs.index(max(payoffs)) if len(set(payoffs)) > 1 else None


def caption(state: State, marks: str = "") -> str:
    """Who is to move, or how the game ended; `marks` are the stones to name the players by as well."""
    player = subject(state)
    name = "" if player is None else called(state, player) + (f" ({marks[player + 1]})" if marks else "")
    if state.player != OVER:
        what = f"{name} to move" if state.ending is None else f"over by an illegal move of {name}"
    elif state.rules.players == 1:
        what = f"over, payoff {state.payoffs()[0]:.3f}"
    else:
        what = "a draw" if player is None else f"{name} has won"
        if victory := victory_of(state):
            what += " by a " + " and a ".join(victory.kinds)
            what += ": " + " ".join(state.action_name(cell) for cell in victory.cells) if marks else ""
    return f"ply {state.ply}: {what}"


def victory_of(state: State) -> Victory | None:
    """How a game was won, where its rules tell."""
    return state.rules.victory(state) if state.rules.victory else None


def on_board(state: State) -> np.ndarray:
    """Which cells a hexagon has: [rows, columns] bool."""
    return np.asarray(seen(state, 0)[:, :, 2] == 1)


def shown(state: State) -> set[tuple[int, int]]:
    """Row and column of the stones that show how a game on a hexagon was won."""
    victory, cells = victory_of(state), np.argwhere(on_board(state))
    return {(int(row), int(column)) for row, column in cells[list(victory.cells)]} if victory else set()


def letters(count: int) -> list[str]:
    """Names of columns: a, b, c, ..."""
    return [chr(ord("a") + column) for column in range(count)]


def stars(rows: int, columns: int) -> list[tuple[int, int]]:
    """Row and column of the points that a board marks: by the corners, in the centre, and by the sides of a large one."""
    corners = [{2, count - 3} if count < 13 else {3, count - 4} for count in (rows, columns)]
    middles = [{count // 2} if count % 2 else set() for count in (rows, columns)]
    lines = corners if min(rows, columns) >= 7 else [set(), set()]
    sides = middles if min(rows, columns) >= 15 else [set(), set()]
    pairs = [(lines[0], lines[1]), (middles[0], middles[1]), (lines[0], sides[1]), (sides[0], lines[1])]
    return sorted(point for across in pairs for point in product(*across))


def text(state: State) -> str:
    """The board in characters, with coordinates and a caption."""
    rows, columns, _ = state.rules.planes
    tiling = state.rules.tiling
    if tiling == "track":
        left, right = steps(state)
        return f"left {left}, right {right}, to go {columns - left - right}\n{caption(state)}\n"
    marks = [" ".join(STONES[stone] for stone in row) for row in stones(state)]
    if tiling == "points":
        lines = [f"{row + 1:2} {marks[row]}" for row in reversed(range(rows))]
        lines.append("   " + " ".join(LETTERS[:columns]))
    elif tiling == "hexagon":
        board = on_board(state)
        lines = []
        for row, letter in enumerate(letters(rows)):
            line = " ".join(np.array(marks[row].split())[board[row]])
            lines.append(f"{' ' * abs(row - rows // 2)} {letter} {line} {board[row].sum()}")
    elif tiling == "column":
        lines = [*marks, " ".join(str((column + 1) % 10) for column in range(columns))]
    else:
        slant = " " if tiling == "hexagonal" else ""
        lines = ["    " + " ".join(letters(columns))]
        lines += [f"{slant * row} {row + 1:2} {marks[row]}" for row in range(rows)]
    return "\n".join([*lines, caption(state, STONES)]) + "\n"


def picture(state: State, width: int = 640) -> np.ndarray:
    """The board as [height, width, 3] uint8, in cells of at most a fifth of `width`.

    It is at most so wide, unless the caption needs more, and at most 5/4 of that high. Raises ImportError where Pillow is not
    installed.
    """
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise ImportError("pictures need Pillow: pip install 'ucd-planners[render]'") from None
    rows, columns, _ = state.rules.planes
    painter, across, down, left, top, below = {
        "hexagonal": (_hexagons, columns + (rows - 1) / 2, (1.5 * rows + 0.5) / sqrt(3), GUTTER + BORDER, GUTTER + BORDER, 0),
        "hexagon": (_hexagon, columns, (1.5 * rows + 0.5) / sqrt(3), GUTTER, 0, 0),
        "square": (_squares, columns, rows, GUTTER, GUTTER, 0),
        "points": (_points, columns, rows, GUTTER, 0, GUTTER),
        "column": (_columns, columns, rows, 0, 0, GUTTER),
        "track": (_track, 10, 1, 0, 0, GUTTER),
    }[state.rules.tiling or "square"]
    aside, above = 2 * PAD + left, 2 * PAD + top + below + FOOT
    widest = width * SHARPNESS
    unit = min((widest - aside) / across, (1.25 * widest - above) / down, widest / 5)

    words = caption(state)
    small = ImageFont.load_default(14 * SHARPNESS)
    length = small.getlength(words)
    full = max(unit * across + aside, length + 4 * PAD)
    image = Image.new("RGB", (_whole(full), _whole(unit * down + above)), PAPER)
    draw = ImageDraw.Draw(image)
    x = (full - unit * across - aside) / 2 + PAD + left
    font = ImageFont.load_default(min(max(unit * 0.36, 11 * SHARPNESS), 20 * SHARPNESS))
    painter(draw, font, unit, (x, PAD + top), state)

    middle, base = full / 2, image.height - PAD / 2 - FOOT / 2
    draw.text((middle, base), words, INK, small, anchor="mm")
    player = subject(state)
    if player is not None and state.rules.players > 1:
        _stone(draw, (middle - length / 2 - 0.6 * PAD, base), 0.35 * PAD, colour(state, player))
    return np.asarray(image.reduce(SHARPNESS)).copy()


def _whole(length: float) -> int:
    """The length as a multiple of SHARPNESS."""
    return int(length / SHARPNESS) * SHARPNESS


def _hexagons(draw: Any, font: Any, unit: float, corner: tuple[float, float], state: State) -> None:
    """Cells as hexagons, inside the borders that each player joins, in the player's colour."""
    board = stones(state)
    rows, columns = board.shape
    radius = unit / sqrt(3)

    def centre(row: float, column: float) -> tuple[float, float]:
        return corner[0] + unit * (column + row / 2 + 0.5), corner[1] + radius * (1.5 * row + 1)

    def outline(row: int, column: int, *which: int) -> list[tuple[float, float]]:
        return _corners(unit, centre(row, column), which)

    last_row, last_column = rows - 1, columns - 1
    border = min(max(unit / 10, BORDER / 2), BORDER)  # twice as wide, and half of it below the cells
    sides = (
        (1, [point for row in range(rows) for point in outline(row, 0, 5, 4)]),
        (1, [point for row in range(rows) for point in outline(row, last_column, 1, 2)]),
        (0, [point for column in range(columns) for point in outline(0, column, 5, 0)] + outline(0, last_column, 1)),
        (
            0,
            [point for column in range(columns) for point in outline(last_row, column, 4, 3)]
            + outline(last_row, last_column, 2),
        ),
    )
    for player, points in sides:
        draw.line(points, PLAYERS[player], int(2 * border))
        for point in points:
            _disc(draw, point, border, PLAYERS[player])
    for row in range(rows):
        for column in range(columns):
            _cell(draw, unit, centre(row, column))
            if board[row, column]:
                _stone(draw, centre(row, column), unit * 0.36, PLAYERS[board[row, column] - 1])
    for column, letter in enumerate(letters(columns)):
        draw.text((centre(0, column)[0], corner[1] - BORDER - GUTTER / 2), letter, INK, font, anchor="mm")
    for row in range(rows):
        x, y = centre(row, 0)
        draw.text((x - unit / 2 - BORDER - GUTTER / 2, y), str(row + 1), INK, font, anchor="mm")


def _hexagon(draw: Any, font: Any, unit: float, corner: tuple[float, float], state: State) -> None:
    """Hexagonal cells within a hexagon, the empty ones with their names; stones that show how the game was won are marked."""
    board, cells, marked = stones(state), np.argwhere(on_board(state)), shown(state)
    rows, columns = board.shape
    small = font.font_variant(size=max(unit * 0.24, 8 * SHARPNESS))

    def centre(row: int, column: int) -> tuple[float, float]:
        return corner[0] + unit * (column - row / 2 + columns / 4 + 0.25), corner[1] + unit / sqrt(3) * (1.5 * row + 1)

    for action, (row, column) in enumerate(cells.tolist()):
        middle = centre(row, column)
        _cell(draw, unit, middle)
        if board[row, column]:
            _stone(draw, middle, unit * 0.36, PLAYERS[board[row, column] - 1])
        else:
            draw.text(middle, state.action_name(action), LINE, small, anchor="mm")
        if (row, column) in marked:
            _disc(draw, middle, unit * 0.14, PAPER)
    for row, letter in enumerate(letters(rows)):
        x, y = centre(row, int(cells[cells[:, 0] == row][0, 1]))
        draw.text((x - unit / 2 - GUTTER / 2, y), letter, INK, font, anchor="mm")


def _corners(unit: float, centre: tuple[float, float], which: Iterable[int], scale: float = 1.0) -> list[tuple[float, float]]:
    """Corners of a hexagon that is `unit` wide, clockwise from the topmost."""
    radius = scale * unit / sqrt(3)
    return [(centre[0] + radius * sin(pi * k / 3), centre[1] - radius * cos(pi * k / 3)) for k in which]


def _cell(draw: Any, unit: float, centre: tuple[float, float]) -> None:
    """A hexagonal cell."""
    draw.polygon(_corners(unit, centre, range(6)), LINE)
    draw.polygon(_corners(unit, centre, range(6), 1 - max(1.5 * SHARPNESS / unit, 1 / 24)), CELL)


def _squares(draw: Any, font: Any, unit: float, corner: tuple[float, float], state: State) -> None:
    """Cells as squares."""
    board = stones(state)
    rows, columns = board.shape
    x, y = corner
    draw.rectangle((x, y, x + unit * columns, y + unit * rows), CELL)
    line = max(SHARPNESS, int(unit / 40))
    for row in range(rows + 1):
        draw.line((x - line / 2, y + unit * row, x + unit * columns + line / 2, y + unit * row), LINE, line)
    for column in range(columns + 1):
        draw.line((x + unit * column, y - line / 2, x + unit * column, y + unit * rows + line / 2), LINE, line)
    for row in range(rows):
        for column in range(columns):
            if board[row, column]:
                middle = (x + unit * (column + 0.5), y + unit * (row + 0.5))
                _stone(draw, middle, unit * 0.36, PLAYERS[board[row, column] - 1])
    for column, letter in enumerate(letters(columns)):
        draw.text((x + unit * (column + 0.5), y - GUTTER / 2), letter, INK, font, anchor="mm")
    for row in range(rows):
        draw.text((x - GUTTER / 2, y + unit * (row + 0.5)), str(row + 1), INK, font, anchor="mm")


def _points(draw: Any, font: Any, unit: float, corner: tuple[float, float], state: State) -> None:
    """Stones on the crossings of lines, the first row at the bottom; a small square where a ko forbids a stone."""
    board = stones(state)
    rows, columns = board.shape
    forbidden = seen(state, 0)[:, :, KO:]

    def place(row: float, column: float) -> tuple[float, float]:
        return corner[0] + unit * (column + 0.5), corner[1] + unit * (rows - row - 0.5)

    draw.rectangle((*corner, corner[0] + unit * columns, corner[1] + unit * rows), WOOD)
    line = max(SHARPNESS, int(unit / 40))
    end = line / 2 / unit
    for row in range(rows):
        draw.line((*place(row, -end), *place(row, columns - 1 + end)), INK, line)
    for column in range(columns):
        draw.line((*place(-end, column), *place(rows - 1 + end, column)), INK, line)
    for point in stars(rows, columns):
        _disc(draw, place(*point), max(unit * 0.09, 2.5 * SHARPNESS), INK)
    for row, column in product(range(rows), range(columns)):
        x, y = place(row, column)
        if board[row, column]:
            _stone(draw, (x, y), unit * 0.47, colour(state, board[row, column] - 1))
        elif forbidden[row, column, :1].any():
            half = unit * 0.2
            draw.rectangle((x - half, y - half, x + half, y + half), WOOD, INK, 2 * line)
    for column, letter in enumerate(LETTERS[:columns]):
        draw.text((place(0, column)[0], corner[1] + unit * rows + 0.6 * GUTTER), letter, INK, font, anchor="mm")
    for row in range(rows):
        draw.text((corner[0] - GUTTER / 2, place(row, 0)[1]), str(row + 1), INK, font, anchor="mm")


def _columns(draw: Any, font: Any, unit: float, corner: tuple[float, float], state: State) -> None:
    """A frame with holes, the columns numbered below."""
    board = stones(state)
    rows, columns = board.shape
    x, y = corner
    draw.rounded_rectangle((x, y, x + unit * columns, y + unit * rows), unit / 4, FRAME)
    for row in range(rows):
        for column in range(columns):
            middle = (x + unit * (column + 0.5), y + unit * (row + 0.5))
            if board[row, column]:
                _stone(draw, middle, unit * 0.4, colour(state, board[row, column] - 1))
            else:
                _disc(draw, middle, unit * 0.4, PAPER)
    for column in range(columns):
        draw.text((x + unit * (column + 0.5), y + unit * rows + 0.6 * GUTTER), str(column + 1), INK, font, anchor="mm")


def _track(draw: Any, font: Any, unit: float, corner: tuple[float, float], state: State) -> None:
    """One bar: steps to the left, steps to the right, steps to go, with their numbers below."""
    left, right = steps(state)
    total = state.rules.planes[1]
    x, y = corner
    scale = 10 * unit / total
    parts = (("left", left, GREEN), ("right", right, YELLOW), ("to go", total - left - right, CELL))
    at, base, size = x, y + unit + 0.6 * GUTTER, GUTTER / 4
    for number, (name, count, paint) in enumerate(parts):
        if count:
            draw.rectangle((at, y, at + scale * count, y + unit), paint)
        at += scale * count
        swatch = x + 10 * unit * number / 3
        draw.rectangle((swatch, base - size, swatch + 2 * size, base + size), paint, LINE, SHARPNESS)
        draw.text((swatch + 3 * size, base), f"{name} {count}", INK, font, anchor="lm")
    draw.rectangle((x, y, x + 10 * unit, y + unit), None, LINE, 2 * SHARPNESS)


def _stone(draw: Any, middle: tuple[float, float], radius: float, paint: tuple[int, int, int]) -> None:
    _disc(draw, middle, radius, EDGES.get(paint, tuple(int(part * 0.7) for part in paint)))
    _disc(draw, middle, radius - max(radius * 0.07, 1.2 * SHARPNESS) if paint in EDGES else radius * 0.88, paint)


def _disc(draw: Any, middle: tuple[float, float], radius: float, paint: Any) -> None:
    x, y = middle
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), paint)


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
        self._size = (shape[1], shape[0])
        self._clock = pygame.time.Clock()

    def show(self, pixels: np.ndarray, per_second: int) -> None:
        """Shows a picture, [height, width, 3] uint8, and waits so that at most so many are shown a second."""
        window = self._pygame.display.get_surface()  # pygame has one for the process: another Screen may have changed it
        if window is None or window.get_size() != self._size:
            window = self._pygame.display.set_mode(self._size)
        window.blit(self._pygame.surfarray.make_surface(pixels.swapaxes(0, 1)), (0, 0))
        self._pygame.event.pump()
        self._pygame.display.flip()
        self._clock.tick(per_second)

    def close(self) -> None:
        """Closes the window."""
        self._pygame.display.quit()
