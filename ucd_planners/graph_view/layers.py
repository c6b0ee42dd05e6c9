"""A layout of nodes in rows, with few crossings and near their neighbours [Sugiyama, Tagawa, Toda 1981]."""

from __future__ import annotations

from typing import Any

import numpy as np

SWEEPS = 24
"""Number of times that rows are ordered and positions moved."""


def ladder(graph: Any) -> Any:
    """Returns the graph without its moves to another row than the next one, which only graphs with cycles have."""
    from networkx import subgraph_view

    ply = graph.nodes(data="ply")
    return subgraph_view(graph, filter_edge=lambda source, target, _: ply[target] == ply[source] + 1)


def rows_of(graph: Any) -> list[list[Any]]:
    """Returns the nodes of each ply from left to right, in an order with few crossings, none in a tree.

    Rows are sorted in turn by the mean place of their neighbours in the row above, then below [Sugiyama, Tagawa, Toda 1981].
    Neighbours in a row are swapped while that helps, and the best order is kept.
    """
    from networkx import dfs_preorder_nodes

    rows: list[list[Any]] = [[] for _ in range(1 + max(graph.nodes[node]["ply"] for node in graph))]
    for node in dfs_preorder_nodes(graph, graph.graph["root"]):
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
    """Swaps neighbours in a row while that reduces the crossings."""
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
    """Returns the number of pairs of lines that cross each other."""
    at = {node: place for row in rows for place, node in enumerate(row)}
    total = 0
    for row in rows:
        lines = np.array([(at[node], at[below]) for node in row for below in set(graph.successors(node))]).reshape(-1, 2)
        above, below = (np.subtract.outer(lines[:, end], lines[:, end]) for end in (0, 1))
        total += int(np.sum(above * below < 0)) // 2
    return total


def placed(graph: Any, rows: list[list[Any]]) -> dict[Any, tuple[float, float]]:
    """Returns the place of each node, (x, y), as near to the middle of its neighbours as its row allows, at least 1 apart; y
    = -ply."""
    at = {node: place - (len(row) - 1) / 2 for row in rows for place, node in enumerate(row)}
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 else reversed(rows):
            near = {node: {*graph.predecessors(node), *graph.successors(node)} for node in row}
            wanted = [float(np.mean([at[other] for other in near[node]] or [0.0])) for node in row]
            at |= dict(zip(row, spread(wanted), strict=True))
    return {node: (at[node], -ply) for ply, row in enumerate(rows) for node in row}


def spread(wanted: list[float]) -> list[float]:
    """Returns the places nearest to the wanted ones, in their order and at least 1 apart: least squares, by pooling
    neighbours."""
    pools: list[tuple[float, int]] = []
    for place, x in enumerate(wanted):
        pool = (x - place, 1)
        while pools and pools[-1][0] > pool[0]:
            mean, count = pools.pop()
            pool = ((mean * count + pool[0] * pool[1]) / (count + pool[1]), count + pool[1])
        pools.append(pool)
    flat = [mean for mean, count in pools for _ in range(count)]
    return [x + place for place, x in enumerate(flat)]
