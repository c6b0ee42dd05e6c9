"""Boards as text."""

from __future__ import annotations

from collections import defaultdict
from math import inf

from ucd_envs.pictures.observation import STONES
from ucd_envs.pictures.scene import Cell
from ucd_envs.pictures.tilings import describe
from ucd_envs.rules import State


def text(state: State) -> str:
    """Returns the board as text, with coordinates and a caption. A cell is two characters wide and a row one line high."""
    scene = describe(state)
    if scene.lines:
        return "\n".join([*scene.lines, scene.sentence]) + "\n"
    leftmost = min((cell.x for cell in scene.cells), default=0.0)
    lines: dict[float, dict[int, str]] = defaultdict(dict)

    def column(cell: Cell) -> int:
        return scene.indent + round(2 * (cell.x - leftmost))

    for cell in scene.cells:
        lines[cell.y][column(cell)] = cell.letter or STONES[cell.stone]
    for cell, side, _, characters in scene.labels:
        line = {"above": -inf, "below": inf}.get(side, cell.y)
        # a label on the left ends a blank before its cell, one on the right begins a blank after it
        first = column(cell) + {"left": -1 - len(characters), "right": 2}.get(side, 0)
        lines[line].update(enumerate(characters, first))
    drawn = ["".join(line.get(place, " ") for place in range(max(line) + 1)) for _, line in sorted(lines.items())]
    if scene.legend:
        drawn.append(", ".join(entry.words for entry in scene.legend))
    return "\n".join([*drawn, scene.sentence]) + "\n"
