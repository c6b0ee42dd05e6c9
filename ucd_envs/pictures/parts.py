"""Parts of scenes that several tilings share."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from ucd_envs.pictures.observation import STONES, caption, name_of, subject
from ucd_envs.pictures.scene import (
    BLACK,
    CELL,
    INK,
    LINE,
    PAPER,
    PLAYERS,
    WHITE,
    Box,
    Cell,
    Colour,
    Disc,
    Label,
    Line,
    Scene,
    Shape,
    Words,
)
from ucd_envs.rules import State

EDGE = 0.5
"""Width of the border for coordinates, in cells, beside a board of texts."""
NAMED = {BLACK: "Black", WHITE: "White"}
"""Names of players by the colour of their stones; others are named as agents."""
LETTER, LONGEST_LINE = 0.36, 72
"""Width of a letter in line heights, and letters of a line, in descriptions by words."""


def scene(
    state: State, across: float, down: float, colours: tuple[Colour, ...] = PLAYERS, in_text: str = STONES, **parts: Any
) -> Scene:
    """Returns a scene with its captions."""
    players = state.rules.players
    names = tuple(NAMED.get(colours[player % len(colours)], f"player_{player}") for player in range(players))
    player = subject(state) if players > 1 else None
    return Scene(
        across,
        down,
        caption=caption(state, names),
        sentence=caption(state, names, in_text),
        subject=None if player is None else colours[player % len(colours)],
        stones=colours,
        **parts,
    )


def letters(count: int) -> list[str]:
    """Returns names of columns: a, b, c, ..."""
    return [chr(ord("a") + column) for column in range(count)]


def square_cells(board: np.ndarray) -> list[list[Cell]]:
    """Returns cells of a rectangle, row by row."""
    return [[Cell(column + 0.5, row + 0.5, int(stone)) for column, stone in enumerate(line)] for row, line in enumerate(board)]


def coordinates(cells: list[list[Cell]]) -> tuple[Label, ...]:
    """Returns letters above the columns, and numbers beside the rows."""
    above = [Label(cell, "above", letter, letter) for cell, letter in zip(cells[0], letters(len(cells[0])), strict=True)]
    left = [Label(row[0], "left", str(number), str(number)) for number, row in enumerate(cells, 1)]
    return (*above, *left)


def flat(cells: list[list[Cell]]) -> tuple[Cell, ...]:
    """Returns all cells, row by row."""
    return tuple(cell for row in cells for cell in row)


def lattice(xs: list[float], ys: list[float], colour: Colour) -> list[Shape]:
    """Returns vertical lines at each x, and horizontal lines at each y."""
    across = [Line(((xs[0], y), (xs[-1], y)), colour, 1 / 40, least=1) for y in ys]
    down = [Line(((x, ys[0]), (x, ys[-1])), colour, 1 / 40, least=1) for x in xs]
    return [*across, *down]


def told(state: State, board: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Returns the game, lines of a board and the legal moves in words."""
    lines = [*textwrap.wrap(str(state.rules), LONGEST_LINE, break_on_hyphens=False), *board]
    if not state.over:
        moves = "legal moves: " + " ".join(name_of(state, action) for action in state.legal_actions())
        lines += textwrap.wrap(moves, LONGEST_LINE, break_on_hyphens=False)
    return tuple(lines)


def table(state: State, texts: list[list[str]], written: list[list[str]], discs: list[Disc], in_text: str) -> Scene:
    """Draws texts in squares, with coordinates. `written`: the same in a board as text."""
    rows, columns, width = len(texts), len(texts[0]), max(len(text) for row in written for text in row)
    names, numbers = letters(columns), [str(number) for number in range(1, rows + 1)]
    lines = ["    " + " ".join(letter.rjust(width) for letter in names)]
    lines += [
        f"{number:>3} " + " ".join(text.rjust(width) for text in row) for number, row in zip(numbers, written, strict=True)
    ]
    squares = [Box((EDGE, EDGE), (columns + EDGE, rows + EDGE), CELL)]
    places = [EDGE + place for place in range(max(rows, columns) + 1)]
    words = [Words((column + EDGE + 0.5, EDGE / 2), letter, 0.3) for column, letter in enumerate(names)]
    words += [Words((EDGE / 2, row + EDGE + 0.5), number, 0.3) for row, number in enumerate(numbers)]
    for row, line in enumerate(texts):
        for column, text in enumerate(line):
            if text != ".":
                words.append(Words((column + EDGE + 0.5, row + EDGE + 0.5), text, 0.3, PAPER if discs else INK))
    ground = (*squares, *lattice(places[: columns + 1], places[: rows + 1], LINE), *discs, *words)
    return scene(state, columns + EDGE, rows + EDGE, in_text=in_text, ground=ground, lines=told(state, tuple(lines)))
