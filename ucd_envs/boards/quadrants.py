"""Stones on 6x6 cells in four quadrants of 3x3 cells, which rotate.

A cell is row * 6 + column, the lowest row first. A place is its bit in a word: bits 9 * quadrant to 9 * quadrant + 8 are a
quadrant, row by row from below. The quadrants are the upper right one, the upper left, the lower left and the lower right. A
rotation is 2 * quadrant + direction: 0 clockwise, 1 counter-clockwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards.bits import ONE
from ucd_envs.kernels import kernel
from ucd_envs.rules import State
from ucd_envs.settings import cell_name, cell_named, shown
from ucd_envs.structs import popcount

SIDE, CELLS, ROTATIONS, FIVE = 6, 36, 8, 5
CORNERS = (3, 3), (3, 0), (0, 0), (0, 3)
"""Row and column of the lower left cell of each quadrant."""
NAMES = tuple(f"Q{quadrant}{way}" for quadrant in (1, 2, 3, 4) for way in ("cw", "ccw"))
"""Names of rotations."""
TWO, NINE = np.uint64(2), np.uint64(9)
QUADRANT, BOARD = np.uint64(0x1FF), np.uint64(2**36 - 1)

TABLES = (
    ("place", np.uint64, (CELLS,)),
    ("cell", np.int64, (CELLS,)),
    ("turned", np.uint64, (2, 512)),
    ("lines", np.uint32, (4, 512)),
)
"""Fields of a configuration. `place`: bit of each cell; `cell`: cell of each bit; `turned`: a quadrant's stones after a
rotation, by direction; `lines`: of the 32 lines, those whose part in a quadrant is full, by the quadrant's stones."""


@kernel()
def has_line(c, stones):
    """Returns whether five stones stand in a line: whether all quadrants have full parts of the same one."""
    shift = NINE
    full = c.lines[0, stones & QUADRANT]
    for quadrant in range(1, 4):
        full &= c.lines[quadrant, (stones >> shift) & QUADRANT]
        shift += NINE
    return full != 0


@kernel()
def rotated(c, stones, rotation):
    """Returns a player's stones after a rotation."""
    shift = NINE * (rotation >> ONE)
    before = (stones >> shift) & QUADRANT
    return stones ^ ((before ^ c.turned[rotation & ONE, before]) << shift)


@kernel()
def list_empty(c, taken, actions):
    """Writes the cells whose places are not taken, and returns their number."""
    count = 0
    for cell in range(CELLS):
        if not (taken >> c.place[cell]) & ONE:
            actions[count] = cell
            count += 1
    return count


@kernel()
def are_in_turn(first, second, placed):
    """Returns whether two players in turn can have placed these stones, `placed` in all, on different cells of the board."""
    if first & second or (first | second) & ~BOARD or np.uint64(popcount(first | second)) != placed:
        return False
    return np.uint64(popcount(first)) == (placed + ONE) // TWO


def tables() -> dict[str, Any]:
    """Returns the values of TABLES."""
    place = [0] * CELLS
    for quadrant, (row, column) in enumerate(CORNERS):
        for at in range(9):
            place[SIDE * (row + at // 3) + column + at % 3] = 9 * quadrant + at
    patterns = np.arange(512, dtype=np.uint64)
    turned = np.zeros((2, 512), np.uint64)
    for direction in range(2):
        for at in range(9):
            row, column = divmod(at, 3)
            to = 3 * (2 - column) + row if direction == 0 else 3 * column + 2 - row
            turned[direction] |= ((patterns >> np.uint64(at)) & ONE) << np.uint64(to)
    lines, number = np.zeros((4, 512), np.uint32), 0
    for cell in range(CELLS):
        for up, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            row, column = cell // SIDE + (FIVE - 1) * up, cell % SIDE + (FIVE - 1) * right
            if row < SIDE and 0 <= column < SIDE:
                line = sum(1 << place[cell + step * (SIDE * up + right)] for step in range(FIVE))
                for quadrant in range(4):
                    part = np.uint64(line >> 9 * quadrant & 0x1FF)
                    lines[quadrant] |= np.where(patterns & part == part, np.uint32(1 << number), np.uint32(0))
                number += 1
    return {"place": np.array(place), "cell": np.argsort(place), "turned": turned, "lines": lines}


def images_of(turned: np.ndarray) -> np.ndarray:
    """Returns the image of each action under the symmetries of the board; turned: image of each cell, [symmetries, CELLS].

    A mirroring exchanges the two directions of rotations.
    """
    corners = [SIDE * row + column for row, column in CORNERS]
    whole = np.zeros((len(turned), CELLS + ROTATIONS), np.int64)
    whole[:, :CELLS] = turned
    for symmetry, image in enumerate(turned):
        # Where the step to the right and the step up lead: a mirroring changes the sense in which one follows the other.
        (up, right), (up_after, right_after) = (
            np.subtract(divmod(image[step], SIDE), divmod(image[0], SIDE)) for step in (1, SIDE)
        )
        mirrored = right * up_after - up * right_after < 0
        for quadrant, corner in enumerate(corners):
            row, column = divmod(int(image[corner + SIDE + 1]), SIDE)  # the middle of the quadrant
            target = CORNERS.index((row - 1, column - 1))
            for direction in range(2):
                whole[symmetry, CELLS + 2 * quadrant + direction] = CELLS + 2 * target + (direction ^ int(mirrored))
    return whole


def action_name(state: State, action: int) -> str:
    """Returns the name of a cell or, behind all cells, of a rotation."""
    return NAMES[action - CELLS] if action >= CELLS else cell_name(action, SIDE)


def action_named(state: State, text: str) -> int:
    """Returns the cell or the rotation of a text, in upper or lower case. Raises ValueError for any other text."""
    rotations = {name.lower(): CELLS + rotation for rotation, name in enumerate(NAMES)}
    if text.lower() in rotations:
        return rotations[text.lower()]
    try:
        return cell_named(text, SIDE, SIDE)
    except ValueError:
        raise ValueError(f"{shown(text)} is no move: expected a cell, a1 to f6, or a rotation, Q1cw to Q4ccw") from None
