"""The searched graph as a graph of networkx, imported on first use: pip install 'ucd-planners[plot]'."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ucd_envs.kernels import CHANCE
from ucd_envs.rules import State
from ucd_envs.settings import integer
from ucd_planners.search.storage import Graph


class Contents:
    """Nodes and edges of a search graph, under the names of this file. No other code here reads the graph's arrays.

    A tried move without a node in memory also has a number: that of its edge, after all nodes.
    """

    def __init__(self, graph: Graph) -> None:
        nodes, edges = graph.nodes[: graph.node_count], graph.edges
        self.root, self.count = graph.root, len(nodes)
        self.mover, self.legal = nodes["mover"], nodes["legal"]
        self.first_edge, self.expanded = nodes["first_edge"], nodes["expanded"].astype(np.int64)
        self.action, self.target, self.value = edges["action"], edges["target"], graph.mean_value
        self.edge_visits, self.leaf_visits = edges["visits"], edges["leaf_visits"]
        self.node_visits = self._node_visits()

    def edges_of(self, node: Any) -> range:
        """Returns the edges of a node in memory, none for another node."""
        return range(first := int(self.first_edge[node]), first + int(self.expanded[node])) if node < self.count else range(0)

    def target_of(self, edge: int) -> int:
        """Returns the node below an edge."""
        target = int(self.target[edge])
        return target if target >= 0 else self.count + edge

    def visits_below(self, edge: int) -> int:
        """Returns playouts through the node below an edge."""
        target = int(self.target[edge])
        return int(self.node_visits[target] if target >= 0 else self.edge_visits[edge])

    def _node_visits(self) -> np.ndarray:
        """Returns playouts through each node: [nodes] int64.

        This is the larger of two counts: playouts that continued by one of the node's moves or ended in it, and playouts
        over the edges into it. One of them is incomplete where a selection stores ended playouts at nodes, or where the root
        has moved on.
        """
        sources = np.repeat(np.arange(self.count), self.expanded)
        before = np.cumsum(self.expanded) - self.expanded
        edges = np.repeat(self.first_edge - before, self.expanded) + np.arange(len(sources))
        out = np.bincount(sources, self.edge_visits[edges], self.count)
        linked = edges[self.target[edges] >= 0]
        ended = np.bincount(self.target[linked], self.leaf_visits[linked], self.count)
        arrived = np.bincount(self.target[linked], self.edge_visits[linked], self.count)
        visits: np.ndarray = np.maximum(out + ended, arrived).astype(np.int64)
        return visits


class Place(NamedTuple):
    """A position, given by a state and the moves from it. The moves are needed for states of live games."""

    state: State
    moves: tuple[int, ...] = ()

    def after(self, action: int) -> Place:
        """Returns the position after a move."""
        live = self.state.rules.rooted is not None
        return Place(self.state, (*self.moves, action)) if live else Place(self.state.after(action))

    def mover(self) -> int:
        """Returns the player to move, -1 when the game is over."""
        live = self.state.rules.rooted
        return self.state.player if live is None else live.mover_after(self.state, self.moves)


def to_networkx(graph: Graph, state: State, most: int | None = None) -> Any:
    """Returns the part of a graph below its root, whose position is `state`, as a networkx.MultiDiGraph.

    Nodes are whole numbers, the root first; `graph.graph["root"]` is the root. A move that has no node in memory (it was
    tried once in a tree, or it ends the game) gets a leaf. `most` limits the graph to a connected set of the most visited
    positions.

    A node has `visits` (playouts through it), `mover` (-1 when over), `ply` below the root, `legal` (moves, 0 until they
    were listed), `expanded` (moves tried), `over`, and `label` (root, or the move it was first reached by). An edge, with
    its action as key, has `action`, `name`, `visits` and `value` (mean payoff of the mover in [0, 1], as selection sees it,
    and NaN where chance is to move).

    Raises ImportError without networkx, and TypeError or ValueError for a `most` below 1.
    """
    try:
        from networkx import MultiDiGraph
    except ImportError:
        raise ImportError("graphs for networkx need it: pip install 'ucd-planners[plot]'") from None
    if most is not None:
        integer("most", most, 1, 2**31)
    contents = Contents(graph)

    def children(node: Hashable) -> Iterable[tuple[Hashable, int]]:
        return [(contents.target_of(edge), contents.visits_below(edge)) for edge in contents.edges_of(node)]

    def add(node: int, mover: int, **facts: Any) -> None:
        known = node < contents.count
        legal, expanded = (int(column[node]) if known else 0 for column in (contents.legal, contents.expanded))
        made.add_node(node, **facts, mover=mover, legal=legal, expanded=expanded, over=mover < 0)

    root = contents.root
    made = MultiDiGraph(root=root, game=str(state.rules))
    places: dict[Any, Place] = {root: Place(state)}
    add(root, state.player, visits=int(contents.node_visits[root]), ply=0, label="root")
    order = most_visited(root, children, most)
    kept = set(order)
    for source in order:
        here = places.pop(source)
        for edge in contents.edges_of(source):
            target, action, visits = contents.target_of(edge), int(contents.action[edge]), int(contents.edge_visits[edge])
            if target not in kept:
                continue
            name = here.state.action_name(action)
            if target not in made:
                places[target] = here.after(action)
                mover = int(contents.mover[target]) if target < contents.count else places[target].mover()
                add(target, mover, visits=contents.visits_below(edge), ply=made.nodes[source]["ply"] + 1, label=name)
            value = float(contents.value[edge]) if visits and made.nodes[source]["mover"] != CHANCE else math.nan
            made.add_edge(source, target, action, action=action, name=name, visits=visits, value=value)
    return made


def most_visited(
    root: Hashable, children: Callable[[Any], Iterable[tuple[Hashable, int]]], most: int | None = None
) -> list[Any]:
    """Returns the root and at most `most` - 1 of its descendants. Each next one is the most visited child of the nodes in
    the list.

    children: returns the children of a node with their visits.
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
