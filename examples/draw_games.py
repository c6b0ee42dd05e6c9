"""Pictures of the three games of search_in_graphs.py, as SVG: python examples/draw_games.py [folder]."""

import sys
from pathlib import Path
from typing import Any

from search_in_graphs import REFUTED, STALE, UNEXPLORED

WIDTH, STEP, MARGIN = 360, 84, 44
"""Width of a picture, height of a ply, and margin, in pixels."""
COLOURS = ("#9fbfe3", "#b9d8a4")
"""Colours of positions, by the player to move."""
PAPER, INK, END = "#faf7f0", "#3c3834", "#e4dfd4"
Place = tuple[float, float]


def children(game: dict[str, Any], name: str) -> list[tuple[str, str]]:
    """Returns the targets of a position's moves, a key and a label each. Equal ends are one target, labelled with their
    number."""
    found: dict[str, list[int]] = {}
    for number, target in enumerate(game[name][1]):
        found.setdefault(target if isinstance(target, str) else f"{name}:{target:g}", []).append(number)
    return [(key, f"{key.rpartition(':')[2]}{f' (x{len(moves)})' if len(moves) > 1 else ''}") for key, moves in found.items()]


def places(game: dict[str, Any]) -> dict[str, Place]:
    """Returns the places of all positions and ends.

    Each ply is a row. Ends below the leftmost position stand on its left, all others on the right.
    """
    row, found = ["root"], {}
    ply = 0
    while row:
        for i, key in enumerate(row):
            found[key] = (MARGIN + (WIDTH - 2 * MARGIN) * (i + 0.5) / len(row), MARGIN + STEP * ply)
        below: dict[str, None] = {}
        for i, name in enumerate(name for name in row if name in game):
            keys = [key for key, _ in children(game, name)]
            below |= dict.fromkeys(sorted(keys, key=lambda key: (key in game) == (i == 0)))
        row, ply = list(below), ply + 1
    return found


def drawn(game: dict[str, Any]) -> str:
    """Returns the picture of a game as SVG."""
    where = places(game)
    height = max(y for _, y in where.values()) + MARGIN
    lines, labels, shapes = [], [], []
    for name in (key for key in where if key in game):
        x, y = where[name]
        for number, (key, label) in enumerate(children(game, name)):
            to_x, to_y = where[key]
            lines.append(f'<line x1="{x:.0f}" y1="{y:.0f}" x2="{to_x:.0f}" y2="{to_y:.0f}" stroke="{INK}" stroke-width="1.5"/>')
            if name == "root":
                labels.append(text((2 * x + 3 * to_x) / 5, (2 * y + 3 * to_y) / 5, f"move {number}", 12, PAPER))
            if key not in game:
                shapes.append(
                    f'<rect x="{to_x - 32:.0f}" y="{to_y - 14:.0f}" width="64" height="28" fill="{END}" stroke="{INK}"/>'
                )
                shapes.append(text(to_x, to_y, label, 14))
        shapes.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="22" fill="{COLOURS[game[name][0]]}" stroke="{INK}"/>')
        shapes.append(text(x, y, name, 14))
    body = "\n".join([*lines, *labels, *shapes])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}" viewBox="0 0 {WIDTH} {height:.0f}">\n'
        f'<rect width="{WIDTH}" height="{height:.0f}" fill="{PAPER}"/>\n{body}\n</svg>\n'
    )


def text(x: float, y: float, words: str, size: int, behind: str = "none") -> str:
    """Returns SVG for words centred at (x, y), with a rim of the colour `behind`."""
    font = f'font-family="sans-serif" font-size="{size}" text-anchor="middle" dominant-baseline="central" fill="{INK}"'
    rim = f'stroke="{behind}" stroke-width="5" paint-order="stroke"'
    return f'<text x="{x:.0f}" y="{y:.0f}" {font} {rim}>{words}</text>'


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for title, game in {"refuted": REFUTED, "unexplored": UNEXPLORED, "stale": STALE}.items():
        path = folder / f"{title}.svg"
        path.write_text(drawn(game), encoding="utf-8")
        print(f"{path}: {len(game)} positions")
