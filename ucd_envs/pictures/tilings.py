"""Descriptions of positions, one function for each tiling."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import cos, pi, sin, sqrt

import numpy as np

from ucd_envs.boards.points import LETTERS
from ucd_envs.pictures.morris import rings
from ucd_envs.pictures.mosaics import cross, patterned, quadrants
from ucd_envs.pictures.observation import STONES, name_of, seen, stones, victory_of
from ucd_envs.pictures.parts import EDGE, LETTER, coordinates, flat, lattice, letters, scene, square_cells, table, told
from ucd_envs.pictures.pieces import checkered, chess, discs
from ucd_envs.pictures.scene import (
    BLACK,
    BLUE,
    CELL,
    FRAME,
    GREEN,
    INK,
    LINE,
    PAPER,
    PLAYERS,
    RED,
    WHITE,
    WOOD,
    YELLOW,
    Box,
    Cell,
    Disc,
    Entry,
    Label,
    Line,
    Point,
    Scene,
    Words,
)
from ucd_envs.rules import State

KO = 3
"""The plane of a board of points that marks where a ko forbids a stone."""


def describe(state: State) -> Scene:
    """Returns the scene of a position. An unknown tiling, or None, gives lines of words."""
    return TILINGS.get(state.rules.tiling or "", _words)(state)


def _squares(state: State) -> Scene:
    """Draws cells as squares."""
    board = stones(state)
    rows, columns = board.shape
    cells = square_cells(board)
    lines = lattice([*map(float, range(columns + 1))], [*map(float, range(rows + 1))], LINE)
    ground = (Box((0, 0), (columns, rows), CELL), *lines)
    return scene(state, columns, rows, cells=flat(cells), ground=ground, labels=coordinates(cells))


def _hexagon(x: float, y: float) -> tuple[Point, ...]:
    """Returns the corners of a hexagon around a centre, clockwise from the topmost."""
    return tuple((x + sin(pi * k / 3) / sqrt(3), y - cos(pi * k / 3) / sqrt(3)) for k in range(6))


def _hexagonal(state: State) -> Scene:
    """Draws cells as hexagons in slanting rows, inside borders in the colour of the player who connects them."""
    board = stones(state)
    rows, columns = board.shape

    def cell(row: int, column: int) -> Cell:
        x, y = column + row / 2 + 0.5, (1.5 * row + 1) / sqrt(3)
        return Cell(x, y, int(board[row, column]), outline=_hexagon(x, y))

    cells = [[cell(row, column) for column in range(columns)] for row in range(rows)]
    first, last = cells[0], cells[-1]
    sides = (
        (BLUE, [row[0].outline[corner] for row in cells for corner in (5, 4)]),
        (BLUE, [row[-1].outline[corner] for row in cells for corner in (1, 2)]),
        (RED, [cell.outline[corner] for cell in first for corner in (5, 0)] + [first[-1].outline[1]]),
        (RED, [cell.outline[corner] for cell in last for corner in (4, 3)] + [last[-1].outline[2]]),
    )
    ground = tuple(Line(tuple(points), colour, 1 / 5, least=6, most=12, round=True) for colour, points in sides)
    return scene(
        state,
        columns + (rows - 1) / 2,
        (1.5 * rows + 0.5) / sqrt(3),
        cells=flat(cells),
        ground=ground,
        labels=coordinates(cells),
        rim=6,
    )


def _hexagon_of_cells(state: State) -> Scene:
    """Draws hexagonal cells within a hexagon, empty ones with their names, and marks the stones that won the game."""
    board = stones(state)
    rows, columns = board.shape
    cells: list[Cell] = []
    labels: list[Label] = []
    on_board = seen(state, 0)[:, :, 2] == 1
    for row, letter in enumerate(letters(rows)):
        line: list[Cell] = []
        for column in np.flatnonzero(on_board[row]).tolist():
            x, y = column - row / 2 + columns / 4 + 0.25, (1.5 * row + 1) / sqrt(3)
            line.append(Cell(x, y, int(board[row, column]), name_of(state, len(cells) + len(line)), _hexagon(x, y)))
        labels += [Label(line[0], "left", letter, letter), Label(line[-1], "right", "", str(len(line)))]
        cells += line
    victory = victory_of(state)
    marks = tuple(Disc((cells[action].x, cells[action].y), 0.14, PAPER) for action in (victory.cells if victory else ()))
    return scene(state, columns, (1.5 * rows + 0.5) / sqrt(3), cells=tuple(cells), labels=tuple(labels), marks=marks, indent=3)


def stars(rows: int, columns: int) -> list[tuple[int, int]]:
    """Returns row and column of a board's marked points: near the corners, in the centre, and near the sides of a large
    board."""
    corners = [{2, count - 3} if count < 13 else {3, count - 4} for count in (rows, columns)]
    middles = [{count // 2} if count % 2 else set() for count in (rows, columns)]
    lines = corners if min(rows, columns) >= 7 else [set(), set()]
    sides = middles if min(rows, columns) >= 15 else [set(), set()]
    pairs = [(lines[0], lines[1]), (middles[0], middles[1]), (lines[0], sides[1]), (sides[0], lines[1])]
    return sorted(point for across in pairs for point in product(*across))


def _points(state: State) -> Scene:
    """Draws stones on the crossings of lines, the first row at the bottom. A small square marks a point forbidden by a ko."""
    board = stones(state)
    rows, columns = board.shape
    cells = square_cells(board[::-1])[::-1]
    middles = [cell.x for cell in cells[0]], [row[0].y for row in cells]
    dots = [Disc((cells[row][column].x, cells[row][column].y), 0.09, INK, least=2.5) for row, column in stars(rows, columns)]
    forbidden = seen(state, 0)[:, :, KO : KO + 1].any(axis=2) & (board == 0)
    kos = [cells[row][column] for row, column in np.argwhere(forbidden).tolist()]
    squares = [Box((x - 0.2, y - 0.2), (x + 0.2, y + 0.2), WOOD, INK, 1 / 20, least=2) for x, y, *_ in kos]
    below = [Label(cell, "below", letter, letter) for cell, letter in zip(cells[0], LETTERS, strict=False)]
    left = [Label(row[0], "left", str(number), str(number)) for number, row in enumerate(cells, 1)]
    return scene(
        state,
        columns,
        rows,
        (BLACK, WHITE),
        cells=flat(cells),
        ground=(Box((0, 0), (columns, rows), WOOD), *lattice(middles[0], middles[1], INK), *dots),
        marks=tuple(squares),
        labels=(*below, *left),
        stone_radius=0.47,
        indent=3,
    )


def _columns(state: State) -> Scene:
    """Draws a frame with holes and numbered columns."""
    board = stones(state)
    rows, columns = board.shape
    cells = square_cells(board)
    holes = [Disc((cell.x, cell.y), 0.4, PAPER) for cell in flat(cells) if not cell.stone]
    labels = [Label(cell, "below", str(number), str(number % 10)) for number, cell in enumerate(cells[-1], 1)]
    return scene(
        state,
        columns,
        rows,
        (RED, YELLOW),
        cells=flat(cells),
        ground=(Box((0, 0), (columns, rows), FRAME, round=1 / 4), *holes),
        labels=tuple(labels),
        stone_radius=0.4,
        indent=0,
    )


def _track(state: State) -> Scene:
    """Draws one bar with the numbers of steps to the left, to the right, and to go."""
    planes, total = seen(state, 0), state.rules.planes[1]
    left, right = (int(planes[:, :, plane].sum()) for plane in range(2))
    bars, legend, x = [], [], 0.0
    for word, steps, colour in (("left", left, GREEN), ("right", right, YELLOW), ("to go", total - left - right, CELL)):
        length = 10 * steps / total
        bars += [Box((x, 0), (x + length, 1), colour)] if steps else []
        legend.append(Entry(f"{word} {steps}", colour))
        x += length
    frame = Box((0, 0), (10, 1), None, LINE, least=2)
    return scene(state, 10, 1, in_text="", ground=(*bars, frame), legend=tuple(legend))


def _words(state: State) -> Scene:
    """Writes the game, the board if it has a text, and the legal moves in words."""
    drawing = state.rules.drawing
    lines = told(state, () if drawing is None else tuple(drawing(state).splitlines()))
    words = tuple(Words((0, row + 0.5), line, 0.7, left=True) for row, line in enumerate(lines))
    across = LETTER * max(map(len, lines))
    return scene(state, across, len(lines), in_text="", ground=words, lines=lines, largest=20)


def _tiles(state: State) -> Scene:
    """Draws the numbers of tiles 2**k, each in plane k - 1."""
    planes = seen(state, 0)
    numbers = planes @ (2 ** np.arange(1, planes.shape[2] + 1))
    texts = [[str(number) if number else "." for number in row] for row in numbers.tolist()]
    return table(state, texts, texts, [], "")


def _numbered(state: State) -> Scene:
    """Draws stones with their numbers: behind planes 0 and 1, a third of the planes are own ones, a third the other's."""
    board, planes = stones(state), seen(state, 0)
    count = (planes.shape[2] - 3) // 3
    numbers = sum(planes[:, :, first : first + count] @ np.arange(1, count + 1) for first in (2, 2 + count))
    texts = [[str(number) if number else "." for number in row] for row in np.asarray(numbers).tolist()]
    owned = [
        [STONES[stone] * (stone > 0) + text for stone, text in zip(*row, strict=True)]
        for row in zip(board.tolist(), texts, strict=True)
    ]
    discs = [
        Disc((column + EDGE + 0.5, row + EDGE + 0.5), 0.4, PLAYERS[board[row, column] - 1])
        for row, column in np.argwhere(board).tolist()
    ]
    return table(state, texts, owned, discs, STONES)


TILINGS: dict[str, Callable[[State], Scene]] = {
    "square": _squares,
    "hexagonal": _hexagonal,
    "hexagon": _hexagon_of_cells,
    "points": _points,
    "column": _columns,
    "track": _track,
    "tiles": _tiles,
    "numbered": _numbered,
    "checkered": checkered,
    "quadrants": quadrants,
    "pieces": patterned,
    "cross": cross,
    "discs": discs,
    "chess": chess,
    "rings": rings,
}
