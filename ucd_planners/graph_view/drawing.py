"""The searched graph for other programs, as networkx holds graphs, and a picture of it.

networkx and matplotlib are imported when they are first needed: pip install 'ucd-planners[plot]'.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ucd_envs.rules import State
from ucd_envs.settings import integer
from ucd_planners.search.storage import Graph

FORMATS = (".svg", ".png", ".pdf")
"""Pictures by the ending of their file's name."""
PAPER, INK, LINE = "#faf7f0", "#3c3834", "#a8a094"
KINDS = {
    "position": ("position", "#9fbfe3", "o"),
    "transposition": ("reached by several moves", "#f0a83c", "o"),
    "over": ("end of the game", "#d9d3c6", "s"),
}
"""Of positions: words of the legend, colour and shape."""
UNDATED = {".svg": "Date", ".pdf": "CreationDate"}
"""What is left out, so that the same graph gives the same file."""
ALONG = (0.6, 0.72, 0.48, 0.38, 0.8, 0.29)
"""Where on its line the name of a move can stand, best first."""
LETTER = 0.14
"""Width of a letter, in distances of neighbouring positions."""
SWEEPS = 24
"""Times that rows are put in order and positions moved."""


class Searched:
    """The graph that a search left in its planner's memory, until the planner takes that memory for another search.

    It does not travel: a copy, or what comes out of a pickle, has no graph.
    """

    def __init__(self, graph: Graph | None = None, state: State | None = None) -> None:
        self._graph, self._state = graph, state
        self._why = "a result that was copied or pickled has no graph: ask the one that the search gave"

    def forget(self) -> None:
        """From now on the memory belongs to another search."""
        self._graph = self._state = None
        self._why = "the graph of this result is gone: its planner has searched again, or was reset, since"

    def to_networkx(self, most: int | None = None) -> Any:
        """As the function of that name. Raises ValueError when the graph is no longer there."""
        if self._graph is None or self._state is None:
            raise ValueError(self._why)
        return to_networkx(self._graph, self._state, self._graph.root, most)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Searched, ())


def to_networkx(graph: Graph, state: State, root: int = 0, most: int | None = None) -> Any:
    """A networkx.MultiDiGraph of what can be reached from a node, `root`, whose position is `state`.

    Its nodes are whole numbers, the root first; `graph.graph["root"]` is the root. A move that has no node in memory (it was
    tried once in a tree, or it ends the game) gets a leaf. `most` keeps only so many positions, the most visited that hang
    together from the root.

    A node has `visits` (playouts through it), `mover` (-1 when over), `ply` below the root, `moves` (legal ones, 0 until they
    were listed), `tried` (how many of them), `over`, and `label` (root, or the move it was first reached by). An edge, with its
    action as key, has `action`, `name`, `visits` and `value` (mean payoff of the mover in [0, 1], as selection sees it).

    Raises ImportError without networkx, and TypeError or ValueError for a `most` below 1.
    """
    library = _networkx()
    if most is not None:
        integer("most", most, 1, 2**31)
    rules, count, visits = state.rules, graph.node_count, visits_of(graph)

    def target_of(place: int) -> int:
        """The node at the end of an edge; a leaf is numbered by its edge, after all nodes of the memory."""
        target = int(graph.edges["target"][place])
        return target if target >= 0 else count + place

    def children(node: Hashable) -> Iterable[tuple[Hashable, int]]:
        for place in places(graph, node, count):
            target = target_of(place)
            yield target, int(visits[target]) if target < count else int(graph.edges["visits"][place])

    order = most_visited(root, children, most)
    kept = set(order)
    made = library.MultiDiGraph(root=root, game=str(rules))
    moves_to: dict[Any, tuple[int, ...]] = {root: ()}
    _add_node(made, graph, root, state.player, visits=int(visits[root]), ply=0, label="root")
    for source in order:
        here = moves_to.pop(source)
        for place in places(graph, source, count):
            target, action = target_of(place), int(graph.edges["action"][place])
            if target not in kept:
                continue
            through, name = int(graph.edges["visits"][place]), state.action_name(action)
            if target not in made:
                moves_to[target] = (*here, action)
                known = target < count
                mover = int(graph.nodes["mover"][target]) if known else mover_after(state, moves_to[target])
                seen = int(visits[target]) if known else through
                _add_node(made, graph, target, mover, visits=seen, ply=made.nodes[source]["ply"] + 1, label=name)
            value = float(graph.mean_value[place]) if through else math.nan
            made.add_edge(source, target, action, action=action, name=name, visits=through, value=value)
    return made


def mover_after(state: State, moves: Iterable[int]) -> int:
    """The player to move after moves from a state, -1 when the game is over."""
    if state.rules.live is not None:
        return state.rules.live.mover_after(state, moves)
    for move in moves:
        state = state.after(move)
    return state.player


def _add_node(made: Any, graph: Graph, node: int, mover: int, **facts: Any) -> None:
    known = node < graph.node_count
    moves, tried = (int(graph.nodes[name][node]) if known else 0 for name in ("legal", "expanded"))
    made.add_node(node, **facts, mover=mover, moves=moves, tried=tried, over=mover < 0)


def places(graph: Graph, node: Any, count: int) -> range:
    """Where the edges of a node are; a leaf, from `count` on, has none."""
    block = graph.block(node) if node < count else slice(0, 0)
    return range(block.start, block.stop)


def visits_of(graph: Graph) -> np.ndarray:
    """Playouts through each node of the memory: [nodes] int.

    Those that went on by one of its moves or ended there, or those that came over the edges into it, if these are more: where
    a selection keeps ended playouts at nodes, or the root has moved on, one of the two is incomplete.
    """
    count = graph.node_count
    nodes = graph.nodes[:count]
    tried = nodes["expanded"].astype(np.int64)
    sources = np.repeat(np.arange(count), tried)
    before = np.cumsum(tried) - tried
    numbers = np.repeat(nodes["first_edge"] - before, tried) + np.arange(len(sources))
    edges = graph.edges[numbers]
    linked = edges[edges["target"] >= 0]
    out = np.bincount(sources, edges["visits"], count)
    ended = np.bincount(linked["target"], linked["leaf_visits"], count)
    arrived = np.bincount(linked["target"], linked["visits"], count)
    visits: np.ndarray = np.maximum(out + ended, arrived).astype(np.int64)
    return visits


def most_visited(
    root: Hashable, children: Callable[[Any], Iterable[tuple[Hashable, int]]], most: int | None = None
) -> list[Any]:
    """The root and its descendants, at most so many: always the most visited child of those that are in is next.

    children: gives the children of a node with their visits.
    """
    order: list[Any] = []
    seen = {root}
    waiting: list[tuple[int, int, Any]] = [(0, 0, root)]
    while waiting and (most is None or len(order) < most):
        node = heapq.heappop(waiting)[2]
        order.append(node)
        for child, visits in children(node):
            if child not in seen:
                seen.add(child)
                heapq.heappush(waiting, (-visits, len(seen), child))
    return order


def draw(graph: Any, path: str | Path, most: int = 60) -> None:
    """Writes a picture of a graph that to_networkx has made: SVG, PNG or PDF, by the ending of the file's name.

    Positions stand in rows by ply, larger with more playouts, and those reached in several ways have a colour of their own;
    lines are moves, broader with more playouts. Of larger graphs the most visited positions, `most` of them, are drawn.

    Raises ImportError without matplotlib, and TypeError or ValueError for another ending and a `most` below 1.
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
    place = placed(drawn, rows_of(drawn))
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
    """A line for each pair of positions, named by all moves between them where no other name stands."""
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
    """Whether two names, each (x, y, width), would overlap."""
    return abs(one[0] - other[0]) < 0.1 + (one[2] + other[2]) / 2 and abs(one[1] - other[1]) < 0.11


def _draw_positions(axes: Any, graph: Any, root: Any, place: dict[Any, tuple[float, float]]) -> None:
    """A mark for each position, with its playouts below."""
    total = max(1, graph.nodes[root]["visits"])
    for node, (x, y) in place.items():
        _, colour, marker = KINDS[kind_of(graph, node)]
        visits = graph.nodes[node]["visits"]
        size = 110 + 1000 * visits / total
        axes.scatter(x, y, size, color=colour, marker=marker, edgecolors=INK, linewidths=0.8, zorder=3)
        axes.text(x, y, f"{visits:,}", size=6, color=INK, ha="center", va="center", zorder=4)


def kind_of(graph: Any, node: Any) -> str:
    """One of KINDS."""
    return "over" if graph.nodes[node]["over"] else "transposition" if graph.in_degree(node) >= 2 else "position"


def row_title(graph: Any, ply: int) -> str:
    """What stands beside a row: its ply and, where all its positions agree, who is to move there."""
    movers = {facts["mover"] for _, facts in graph.nodes(data=True) if facts["ply"] == ply and not facts["over"]}
    return f"ply {ply}" + (f"\nplayer_{movers.pop()} to move" if len(movers) == 1 else "")


def rows_of(graph: Any) -> list[list[Any]]:
    """The positions of each ply from left to right, in an order of few crossings.

    A tree has none. Rows are put in order by the mean place of their neighbours in the row above, then below, and so on
    [Sugiyama, Tagawa, Toda 1981], neighbours in a row change places while that helps, and the best order is kept.
    """
    rows: list[list[Any]] = [[] for _ in range(1 + max(graph.nodes[node]["ply"] for node in graph))]
    for node in _networkx().dfs_preorder_nodes(graph, graph.graph["root"]):
        rows[graph.nodes[node]["ply"]].append(node)
    best, fewest = rows, crossings(graph, rows)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        rows = [list(row) for row in rows]
        for ply in range(1, len(rows)) if down else range(len(rows) - 2, -1, -1):
            beside = rows[ply - 1] if down else rows[ply + 1]
            at = {node: place / max(1, len(beside) - 1) for place, node in enumerate(beside)}
            here = {node: place / max(1, len(rows[ply]) - 1) for place, node in enumerate(rows[ply])}
            linked = {node: set(graph.predecessors(node) if down else graph.successors(node)) for node in rows[ply]}
            mean = {node: np.mean([at[other] for other in linked[node]] or [here[node]]) for node in rows[ply]}
            if sweep % 4 > 1:  # equals change places, so that not every sweep ends where the one before did
                rows[ply].reverse()
            rows[ply].sort(key=mean.__getitem__)
        _swap(graph, rows)
        found = crossings(graph, rows)
        if found < fewest:
            best, fewest = rows, found
    return best


def _swap(graph: Any, rows: list[list[Any]]) -> None:
    """Lets neighbours in a row change places while that makes fewer crossings."""
    at = {node: place for row in rows for place, node in enumerate(row)}
    sides = {node: [set(graph.predecessors(node)), set(graph.successors(node))] for node in graph}

    def crossed(left: Any, right: Any) -> int:
        pairs = zip(sides[left], sides[right], strict=True)
        return sum(at[one] > at[other] for lefts, rights in pairs for one in lefts for other in rights)

    changed = True
    while changed:
        changed = False
        for row in rows:
            for place in range(len(row) - 1):
                left, right = row[place : place + 2]
                if crossed(left, right) > crossed(right, left):
                    row[place : place + 2] = right, left
                    at[left], at[right] = place + 1, place
                    changed = True


def crossings(graph: Any, rows: list[list[Any]]) -> int:
    """How many pairs of lines cross each other."""
    at = {node: place for row in rows for place, node in enumerate(row)}
    total = 0
    for row in rows:
        lines = np.array([(at[node], at[below]) for node in row for below in set(graph.successors(node))]).reshape(-1, 2)
        above, below = (np.subtract.outer(lines[:, end], lines[:, end]) for end in (0, 1))
        total += int(np.sum(above * below < 0)) // 2
    return total


def placed(graph: Any, rows: list[list[Any]]) -> dict[Any, tuple[float, float]]:
    """Where each position is drawn: as near to the middle of its neighbours as its row allows, at least 1 apart; y = -ply."""
    at = {node: place - (len(row) - 1) / 2 for row in rows for place, node in enumerate(row)}
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 else reversed(rows):
            near = {node: {*graph.predecessors(node), *graph.successors(node)} for node in row}
            wanted = [float(np.mean([at[other] for other in near[node]] or [0.0])) for node in row]
            at |= dict(zip(row, spread(wanted), strict=True))
    return {node: (at[node], -ply) for ply, row in enumerate(rows) for node in row}


def spread(wanted: list[float]) -> list[float]:
    """The places nearest to those wanted, in their order and at least 1 apart: least squares, by pooling neighbours."""
    pools: list[tuple[float, int]] = []
    for place, x in enumerate(wanted):
        pool = (x - place, 1)
        while pools and pools[-1][0] > pool[0]:
            mean, count = pools.pop()
            pool = ((mean * count + pool[0] * pool[1]) / (count + pool[1]), count + pool[1])
        pools.append(pool)
    flat = [mean for mean, count in pools for _ in range(count)]
    return [x + place for place, x in enumerate(flat)]


def _networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise ImportError("graphs for networkx need it: pip install 'ucd-planners[plot]'") from None
    return networkx
