"""Descriptions of boards whose rows are counted from the bottom: pieces on squares, and boards of other shapes."""

from __future__ import annotations

import numpy as np

from ucd_envs.pictures.observation import seen, stones
from ucd_envs.pictures.parts import flat, lattice, letters, scene, square_cells
from ucd_envs.pictures.scene import BLACK, CELL, CLOTH, INK, LINE, WHITE, Box, Cell, Entry, Label, Scene, Shape, Words
from ucd_envs.rules import State

DARK = (204, 190, 166)
"""Colour of the dark squares."""
PIECES = "PNBRQKpnbrqk"
"""Letters of chess pieces, those of player 0 first."""


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
    return scene(state, columns, rows, cells=flat(cells), ground=chequers(cells), labels=coordinates_below(cells))


def chequers(cells: list[list[Cell]]) -> tuple[Shape, ...]:
    """Returns light and dark squares, the first one dark."""
    rows, columns = len(cells), len(cells[0])
    dark = [
        Box((cell.x - 0.5, cell.y - 0.5), (cell.x + 0.5, cell.y + 0.5), DARK)
        for row, line in enumerate(cells)
        for cell in line[row % 2 :: 2]
    ]
    lines = lattice([*map(float, range(columns + 1))], [*map(float, range(rows + 1))], LINE)
    return (Box((0, 0), (columns, rows), CELL), *dark, *lines)


def discs(state: State) -> Scene:
    """Draws black and white discs on a green board, the first row at the bottom, and counts them."""
    board = stones(state)
    rows, columns = board.shape
    cells = upwards(board)
    lines = lattice([*map(float, range(columns + 1))], [*map(float, range(rows + 1))], INK)
    counts = ((board == player + 1).sum() for player in range(2))
    legend = [Entry(f"{name} {n}", colour) for name, n, colour in zip(("Black", "White"), counts, (BLACK, WHITE), strict=True)]
    return scene(
        state,
        columns,
        rows,
        (BLACK, WHITE),
        cells=flat(cells),
        ground=(Box((0, 0), (columns, rows), CLOTH), *lines),
        labels=coordinates_below(cells),
        legend=tuple(legend),
        stone_radius=0.42,
        indent=3,
    )


def chess(state: State) -> Scene:
    """Draws pieces as discs with letters on light and dark squares, the first row at the bottom.

    Behind planes 0 and 1 come player 0's pawns, knights, bishops, rooks, queens and king, a plane each, then player 1's. In
    text, letters of player 0 are upper case and those of player 1 lower case.
    """
    board, planes = stones(state), seen(state, 0)
    rows, columns = board.shape
    cells = upwards(board)
    words = []
    for row, line in enumerate(cells):
        for column in np.flatnonzero(board[row]).tolist():
            cell, kind = line[column], int(planes[row, column, 2:14].argmax())
            letter = PIECES[kind]
            line[column] = cell._replace(letter=letter)
            words.append(Words((cell.x, cell.y), letter.upper(), 0.5, INK if kind < 6 else WHITE))
    return scene(
        state,
        columns,
        rows,
        (WHITE, BLACK),
        ".Kk",
        cells=flat(cells),
        ground=chequers(cells),
        marks=tuple(words),
        labels=coordinates_below(cells),
        stone_radius=0.4,
        indent=3,
    )
