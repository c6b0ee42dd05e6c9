"""Descriptions of boards whose cells or pieces are of a kind of their own, the first row at the bottom."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ucd_envs.pictures.observation import seen, stones
from ucd_envs.pictures.parts import flat, lattice, letters, scene
from ucd_envs.pictures.pieces import coordinates_below, upwards
from ucd_envs.pictures.scene import (
    CELL,
    INK,
    LINE,
    PAPER,
    Box,
    Cell,
    Colour,
    Disc,
    Label,
    Point,
    Scene,
    Shape,
    Words,
)
from ucd_envs.rules import State

GAP, STRIP = 0.3, 0.4
"""Widths of the bands between quadrants, and of the strips above and below them with their names."""
TINTS: tuple[Colour, Colour] = ((236, 199, 184), (190, 205, 224))
"""Colours of the players' goals."""
LIGHT_PIECE, DARK_PIECE = (232, 200, 140), (112, 72, 46)
MARGIN, SHELF, SLOT = 0.6, 0.5, 0.75
"""Width of the coordinates beside a board of pieces, distance of the pieces beside it, and width of each."""


def quadrants(state: State) -> Scene:
    """Draws stones on a board in four parts that turn, with the parts' names."""
    board, turning = stones(state), bool(seen(state, 0)[:, :, 2].any())
    columns = board.shape[1]
    half = columns // 2

    def moved(cell: Cell) -> Cell:
        return cell._replace(x=cell.x + GAP * (cell.x > half), y=cell.y + STRIP + GAP * (cell.y > half))

    cells = [[moved(cell) for cell in row] for row in upwards(board)]
    across = columns + GAP
    ground: list[Shape] = [Box((0, STRIP), (across, across + STRIP), INK)]
    names = [Label(cells[4][-1], "right", "", "Q2 Q1"), Label(cells[1][-1], "right", "", "Q3 Q4")]
    for name, (right, down) in (("Q1", (1, 0)), ("Q2", (0, 0)), ("Q3", (0, 1)), ("Q4", (1, 1))):
        x, y = right * (half + GAP), down * (half + GAP) + STRIP
        ground.append(Box((x, y), (x + half, y + half), CELL))
        ground += lattice([x + i for i in range(half + 1)], [y + i for i in range(half + 1)], LINE)
        ground.append(Words((x + half / 2, y + half + STRIP / 2 if down else STRIP / 2), name, 0.26))
    drawn = scene(
        state,
        across,
        across + 2 * STRIP,
        cells=flat(cells),
        ground=tuple(ground),
        labels=(*coordinates_below(cells), *names),
    )
    due = "to rotate a quadrant" if turning else "to place a stone"
    caption, sentence = (text.replace("to move", due) for text in (drawn.caption, drawn.sentence))
    return replace(drawn, caption=caption, sentence=sentence)


def cross(state: State) -> Scene:
    """Draws the cells of a board that does not fill its rectangle, with the goal of each player in a tint of its colour.

    Plane 2 has the cells of the board, planes 3 and 4 the goals of the observer and of the other player.
    """
    board, planes = stones(state), seen(state, 0)
    on_board = planes[:, :, 2] == 1
    cells = upwards(board)
    kept: list[Cell] = []
    ground: list[Shape] = []
    for row, column in np.argwhere(on_board).tolist():
        cell = cells[row][column]
        x, y = cell.x, cell.y
        goals = [player for player in range(2) if planes[row, column, 3 + player]]
        corners = ((x - 0.5, y - 0.5), (x + 0.5, y + 0.5))
        ground.append(Box(*corners, TINTS[goals[0]] if goals else CELL))
        kept.append(cell)
        ground += lattice([x - 0.5, x + 0.5], [y - 0.5, y + 0.5], LINE)
    rows, columns = board.shape
    below = [cells[int(on_board[:, column].argmax())][column] for column in range(columns)]
    names = [Label(cell, "below", letter, letter) for cell, letter in zip(below, letters(columns), strict=True)]
    numbers = [Label(cells[row][0], "left", str(row + 1), str(row + 1)) for row in range(rows)]
    return scene(state, columns, rows, cells=tuple(kept), ground=tuple(ground), labels=(*names, *numbers))


def patterned(state: State) -> Scene:
    """Draws pieces with four properties, beside them the selected one and those that are left.

    The bits of a piece, the highest first: dark or light, large or small, square or round, with a hole or without one.
    Planes 2 to 5 have the bits of the pieces on the board, 6 to 9 and 10 the selected one, 11 the pieces left.
    """
    planes = seen(state, 0)
    rows, columns, _ = planes.shape
    bits = 1 << np.arange(3, -1, -1)
    numbers, taken, left = planes[:, :, 2:6] @ bits, planes[:, :, 0] == 1, planes[:, :, 11].reshape(-1) == 1
    hand = int(planes[0, 0, 6:10] @ bits) if planes[0, 0, 10] else None
    places = [MARGIN + place for place in range(columns + 1)]
    ground: list[Shape] = [Box((MARGIN, 0), (MARGIN + columns, rows), CELL)]
    ground += lattice(places, [*map(float, range(rows + 1))], LINE)
    lines = ["   " + " ".join(f"{letter:>4}" for letter in letters(columns))]
    for row in range(rows - 1, -1, -1):
        y = rows - row - 0.5
        ground.append(Words((MARGIN / 2, y), str(row + 1), 0.3))
        for column in np.flatnonzero(taken[row]).tolist():
            ground += piece((MARGIN + column + 0.5, y), 1, int(numbers[row, column]))
        texts = [f"{number:04b}" if there else "...." for number, there in zip(numbers[row], taken[row], strict=True)]
        lines.insert(rows - 1 - row, f"{row + 1:>2} " + " ".join(texts))
    ground += [Words((MARGIN + i + 0.5, rows + MARGIN / 2), letter, 0.3) for i, letter in enumerate(letters(columns))]
    edge = MARGIN + columns + SHELF
    ground.append(Words((edge, 0.5), "selected" if hand is not None else "left", 0.26, left=True))
    if hand is not None:
        ground += [*piece((edge + 1.9, 0.42), 1, hand), Words((edge + 1.9, 0.95), f"{hand:04b}", 0.18)]
    for number in np.flatnonzero(left).tolist():
        x, y = edge + SLOT * (number % 4 + 0.5), 1.45 + 0.8 * (number // 4)
        ground += [*piece((x, y), 0.6, number), Words((x, y + 0.38), f"{number:04b}", 0.15)]
    lines.append("selected: " + ("none" if hand is None else f"{hand:04b}"))
    lines.append("left: " + (" ".join(f"{number:04b}" for number in np.flatnonzero(left).tolist()) or "none"))
    return scene(state, edge + 4 * SLOT, rows + MARGIN, in_text="", ground=tuple(ground), lines=tuple(lines))


def piece(at: Point, size: float, number: int) -> list[Shape]:
    """Returns a piece around its centre, in a square of `size`."""
    is_dark, is_large, is_square, has_hole = (bool(number >> place & 1) for place in (3, 2, 1, 0))
    radius = size * (0.42 if is_large else 0.27)
    shapes: list[Shape] = []
    for reach, colour in ((radius, INK), (radius - 0.04 * size, DARK_PIECE if is_dark else LIGHT_PIECE)):
        if is_square:
            shapes.append(Box((at[0] - reach, at[1] - reach), (at[0] + reach, at[1] + reach), colour, round=reach / 5))
        else:
            shapes.append(Disc(at, reach, colour))
    if has_hole:
        shapes += [Disc(at, radius * 0.46, INK), Disc(at, radius * 0.38, PAPER)]
    return shapes
