"""A picture of a searched graph by matplotlib, imported on first use: pip install 'ucd-planners[plot]'."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ucd_envs.kernels import CHANCE
from ucd_envs.settings import integer
from ucd_planners.graph_view.layers import ladder, placed, rows_of
from ucd_planners.graph_view.networkx import most_visited

FORMATS = (".svg", ".png", ".pdf")
"""Picture formats, by file extension."""
PAPER, INK, LINE = "#faf7f0", "#3c3834", "#a8a094"
KINDS = {
    "position": ("position", "#9fbfe3", "o"),
    "transposition": ("reached by several moves", "#f0a83c", "o"),
    "chance": ("chance draws", "#c9c2e8", "D"),
    "over": ("end of the game", "#d9d3c6", "s"),
}
"""Kinds of positions: legend, colour and shape."""
UNDATED = {".svg": "Date", ".pdf": "CreationDate"}
"""Metadata that is left out, so that equal graphs give equal files."""
ALONG = (0.6, 0.72, 0.48, 0.38, 0.8, 0.29)
"""Places of a move's name along its line, best first."""
LETTER = 0.14
"""Width of a letter, in distances of neighbouring positions."""


def draw(graph: Any, path: str | Path, most: int = 60) -> None:
    """Writes a picture of a graph made by to_networkx: SVG, PNG or PDF, by the file extension.

    Positions stand in rows by ply, larger with more playouts. Positions reached in several ways are orange, those of chance
    diamonds. Lines are moves, broader with more playouts. Of larger graphs only the `most` most visited positions are drawn.

    Raises ImportError without matplotlib, and TypeError or ValueError for another extension and a `most` below 1.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D
    except ImportError:
        raise ImportError("pictures of graphs need matplotlib: pip install 'ucd-planners[plot]'") from None
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"the name of a picture must end in one of {', '.join(FORMATS)}, not {path.name!r}")
    root = graph.graph["root"]

    def children(node: Any) -> Iterable[tuple[Any, int]]:
        return [(child, graph.nodes[child]["visits"]) for child in graph.successors(node)]

    drawn = graph.subgraph(most_visited(root, children, integer("most", most, 1, 10_000)))
    steps = ladder(drawn)
    place = placed(steps, rows_of(steps))
    depth = max(drawn.nodes[node]["ply"] for node in drawn)
    left, right = min(x for x, _ in place.values()), max(x for x, _ in place.values())

    figure = Figure((max(7.5, 0.46 * (right - left) + 2.6), 1.4 * depth + 1.7), facecolor=PAPER)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(left - 3.2, right + 1.2)
    axes.set_ylim(-depth - 0.45, 0.75)
    _draw_moves(axes, drawn, root, place)
    _draw_positions(axes, drawn, root, place)
    for ply in range(depth + 1):
        axes.text(left - 2.9, -ply, row_title(drawn, ply), size=8, color=INK, va="center")
    shown = f"{len(drawn)} positions"
    if len(drawn) < len(graph):
        shown = f"the {len(drawn)} most visited of {len(graph)} positions"
    axes.text(left - 2.9, 0.58, f"{graph.graph['game']}: {shown}", size=10, color=INK, va="center")
    used = {kind_of(drawn, node) for node in drawn}
    keys = [
        Line2D([], [], color=colour, marker=marker, markeredgecolor=INK, linestyle="", markersize=8, label=words)
        for kind, (words, colour, marker) in KINDS.items()
        if kind in used
    ]
    axes.legend(handles=keys, loc="upper right", fontsize=8, facecolor=PAPER, edgecolor="none", labelcolor=INK)
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "graph"}):
        figure.savefig(path, dpi=150, metadata={} if path.suffix.lower() == ".png" else {UNDATED[path.suffix.lower()]: None})


def _draw_moves(axes: Any, graph: Any, root: Any, place: dict[Any, tuple[float, float]]) -> None:
    """Draws a line for each pair of positions, with the names of all moves between them where there is room."""
    total = max(1, graph.nodes[root]["visits"])
    taken: list[tuple[float, float, float]] = []
    for source, target in dict.fromkeys((source, target) for source, target, _ in graph.edges):
        moves = graph[source][target].values()
        share = sum(move["visits"] for move in moves) / total
        (x, y), (below_x, below_y) = place[source], place[target]
        axes.plot((x, below_x), (y, below_y), color=LINE, linewidth=0.7 + 7 * share**0.7, zorder=1, solid_capstyle="round")
        names = ", ".join(move["name"] for move in moves)
        spots = [(x + at * (below_x - x), y + at * (below_y - y), LETTER * len(names)) for at in ALONG]
        spot = next((spot for spot in spots if not any(_touch(spot, other) for other in taken)), spots[0])
        taken.append(spot)
        box = {"boxstyle": "round,pad=0.1", "facecolor": PAPER, "edgecolor": "none"}
        axes.text(*spot[:2], names, size=7.5, color=INK, ha="center", va="center", bbox=box, zorder=2)


def _touch(one: tuple[float, float, float], other: tuple[float, float, float]) -> bool:
    """Returns whether two names, each (x, y, width), would overlap."""
    return abs(one[0] - other[0]) < 0.1 + (one[2] + other[2]) / 2 and abs(one[1] - other[1]) < 0.11


def _draw_positions(axes: Any, graph: Any, root: Any, place: dict[Any, tuple[float, float]]) -> None:
    """Draws a mark for each position, with its playouts below."""
    total = max(1, graph.nodes[root]["visits"])
    for node, (x, y) in place.items():
        _, colour, marker = KINDS[kind_of(graph, node)]
        visits = graph.nodes[node]["visits"]
        size = 110 + 1000 * visits / total
        axes.scatter(x, y, size, color=colour, marker=marker, edgecolors=INK, linewidths=0.8, zorder=3)
        axes.text(x, y, f"{visits:,}", size=6, color=INK, ha="center", va="center", zorder=4)


def kind_of(graph: Any, node: Any) -> str:
    """Returns the kind of a position, one of KINDS."""
    facts = graph.nodes[node]
    if facts["over"] or facts["mover"] == CHANCE:
        return "over" if facts["over"] else "chance"
    return "transposition" if graph.in_degree(node) >= 2 else "position"


def row_title(graph: Any, ply: int) -> str:
    """Returns the words beside a row: its ply and, where all its positions agree, the player to move."""
    movers = {facts["mover"] for _, facts in graph.nodes(data=True) if facts["ply"] == ply and not facts["over"]}
    if movers == {CHANCE}:
        return f"ply {ply}\nchance draws"
    return f"ply {ply}" + (f"\nplayer_{movers.pop()} to move" if len(movers) == 1 else "")
