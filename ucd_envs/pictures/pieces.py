"""Descriptions of boards whose rows are counted from the bottom: pieces on squares, and boards of other shapes."""

from __future__ import annotations

import numpy as np

from ucd_envs.pictures.observation import stones
from ucd_envs.pictures.parts import flat, lattice, letters, scene, square_cells
from ucd_envs.pictures.scene import CELL, LINE, Box, Cell, Label, Scene
from ucd_envs.rules import State

DARK = (204, 190, 166)
"""Colour of the dark squares."""


def coordinates_below(cells: list[list[Cell]]) -> tuple[Label, ...]:
    """Returns letters below the columns, and numbers beside the rows, the first row at the bottom."""
    below = [Label(cell, "below", letter, letter) for cell, letter in zip(cells[0], letters(len(cells[0])), strict=True)]
    left = [Label(row[0], "left", str(number), str(number)) for number, row in enumerate(cells, 1)]
    return (*below, *left)


def upwards(board: np.ndarray) -> list[list[Cell]]:
    """Returns cells of a rectangle, the first row at the bottom."""
    return square_cells(board[::-1])[::-1]


def checkered(state: State) -> Scene:
    """Draws stones on light and dark squares, the first row at the bottom and its first square dark."""
    board = stones(state)
    rows, columns = board.shape
    cells = upwards(board)
    dark = [
        Box((cell.x - 0.5, cell.y - 0.5), (cell.x + 0.5, cell.y + 0.5), DARK)
        for row, line in enumerate(cells)
        for cell in line[row % 2 :: 2]
    ]
    lines = lattice([*map(float, range(columns + 1))], [*map(float, range(rows + 1))], LINE)
    ground = (Box((0, 0), (columns, rows), CELL), *dark, *lines)
    return scene(state, columns, rows, cells=flat(cells), ground=ground, labels=coordinates_below(cells))
