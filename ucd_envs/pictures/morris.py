"""The description of the board of nine men's morris."""

from __future__ import annotations

import numpy as np

from ucd_envs.boards.mills import MILLS, PLACES
from ucd_envs.pictures.observation import STONES, seen, stones
from ucd_envs.pictures.parts import letters, scene, square_cells
from ucd_envs.pictures.pieces import coordinates_below
from ucd_envs.pictures.scene import BLACK, INK, RED, WHITE, WOOD, Box, Disc, Line, Scene
from ucd_envs.rules import State

RINGS = """
.-----.-----.
| .---.---. |
| | .-.-. | |
.-.-.   .-.-.
| | .-.-. | |
| .---.---. |
.-----.-----.
"""
"""The board of nine men's morris in text: points and lines."""
IN_HAND, HAND_BITS, REMOVING = 5, 4, 4
"""First plane of the bits of both players' men in hand, bits of one, and the plane of a removal."""


def rings(state: State) -> Scene:
    """Draws black and white men on the points of three nested squares, and men in hand beside them.

    Red dots mark men that may be removed.
    """
    board, planes = stones(state), seen(state, 0)
    rows, columns = board.shape
    cells, bits = square_cells(board), planes[0, 0, IN_HAND : IN_HAND + 2 * HAND_BITS].reshape(2, HAND_BITS)
    hands = (bits @ (1 << np.arange(HAND_BITS))).tolist()
    points = [cells[row][column] for row, column in PLACES]
    ends = [(points[mill[0]], points[mill[-1]]) for mill in MILLS]
    lines = [Line(((one.x, one.y), (other.x, other.y)), INK, 1 / 25, least=1.5) for one, other in ends]
    dots = [Disc((point.x, point.y), 0.1, INK, least=2.5) for point in points]
    held = [
        Disc((columns + 0.42 + 0.6 * player, 0.55 + 0.62 * place), 0.26 + edge, colour)
        for player, count in enumerate(hands)
        for place in range(count)
        for edge, colour in ((0, INK), (-0.03, (WHITE, BLACK)[player]))
    ]
    removing = bool(planes[0, 0, REMOVING]) and not state.over
    targets = [points[action] for action in state.legal_actions() if removing and action < len(points)]
    text = [list(line) for line in RINGS.strip().splitlines()]
    for row, column in PLACES:
        text[row][2 * column] = STONES[board[row, column]]
    numbered = [f"{rows - row} {''.join(line)}" for row, line in enumerate(text)]
    told = ", ".join(f"{STONES[player + 1]} {count}" for player, count in enumerate(hands))
    told += "; a man is to be removed" if removing else ""
    return scene(
        state,
        columns + 1.4,
        rows,
        (WHITE, BLACK),
        cells=tuple(points),
        ground=(Box((0, 0), (columns + 1.4, rows), WOOD), *lines, *dots, *held),
        marks=tuple(Disc((cell.x, cell.y), 0.12, RED) for cell in targets),
        labels=coordinates_below(cells[::-1]),
        lines=(*numbered, "  " + " ".join(letters(columns)), f"in hand: {told}"),
    )
