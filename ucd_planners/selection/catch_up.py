"""Catch up: an edge into a position that has more visits than the edge gets a visit without a playout [KataGo].

KataGo's page "Monte-Carlo Graph Search from First Principles" (docs/GraphSearch.md of lightvector/KataGo): visits of edges are
a policy, and the value of a position is the mean of its moves under that policy, with its own playouts as one more move:

    N(e), N(v)    visits of edge e = (u -> v), as often as u chose it;  N(v) = L(v) + sum of N(f) over the edges f out of v
    L(v), U(v)    playouts that began at v, nearly always 1, and their mean
    Q(v)          (L(v) U(v) + sum of N(f) Q(f)) / N(v);  Q(e) = Q(v), and the payoffs where the game is over

A descent that comes over e into v with N(v) > N(e) ends there, and e is visited without a playout. A backup computes Q of the
positions on its path only; others are as of their last visit. In a tree N(v) = N(e), and the rule is UCT.

The sum is kept at each node: when Q(v) changes, the shares N(e) Q(v) of all edges into v change, and the sums of their sources
with them. It is the sum that the page computes anew at each visit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ucd_envs.kernels import kernel
from ucd_envs.structs import configuration, record
from ucd_planners.search.graph import edge_in, edge_stats, edges, exploration, mean_value, node_stats, nodes, parameters
from ucd_planners.search.interface import BACKUP, SELECT, Layout, exploration_constant
from ucd_planners.search.sim import SETTLED, is_settled, path, payoffs
from ucd_planners.search.ucb import exploration_of, scale_of, select_action

PARAMETERS = record(("c", np.float64), ("players", np.int64))
VISITS, ENDED, SUM = 1, 2, 3
"""Columns of node_stats: sum of N(f); L(v); player 0's L(v) U(v) + sum of N(f) Q(f). The same as of the last visit, N(v) Q(v),
stands `players` columns further."""


@kernel(SELECT)
def select(graph, sim, node, may_add):
    """Ends the simulation at a node with more visits than the edge it came by; elsewhere chooses the largest bound."""
    depth = np.int64(sim.path.length)
    if depth > 0:
        number = np.int64(path(sim)[1, depth - 1])
        if visits(graph, node) > (edges(graph)[number].visits if number >= 0 else 0):
            return np.int64(SETTLED)
    return select_action(graph, sim, node, may_add)


@kernel()
def visits(graph, node):
    """N(v)."""
    return node_stats(graph)[node, VISITS] + node_stats(graph)[node, ENDED]


@kernel(BACKUP)
def backup(graph, sim):
    """Adds a visit to the edges of a path and computes the values of its nodes, from the leaf up."""
    p, trail, length, kept = parameters(graph, PARAMETERS), path(sim), np.int64(sim.path.length), node_stats(graph)
    paid, settled = payoffs(sim), is_settled(sim)
    last = np.int64(trail[1, length - 1])
    leaf = np.int64(edges(graph)[last].target)
    edges(graph)[last].leaf_visits += 1
    if leaf >= 0 and not settled:
        kept[leaf, ENDED] += 1.0
        for player in range(p.players):
            kept[leaf, SUM + player] += paid[player]
        look(graph, p, leaf)
    for depth in range(length - 1, -1, -1):
        number, source = np.int64(trail[1, depth]), np.int64(trail[0, depth])
        edge, target = edges(graph)[number], np.int64(edges(graph)[number].target)
        edge.visits += 1
        if target < 0:
            for player in range(p.players):
                add_share(graph, number, source, player, edge_stats(graph)[number, player] + paid[player])
            mean_value(graph)[number] = edge_stats(graph)[number, np.int64(nodes(graph)[source].mover)] / edge.visits
        elif settled and depth == length - 1:
            refresh(graph, p, number, source, target)  # the node itself has not changed
        else:
            refresh_all(graph, p, target)
        exploration(graph)[number] = exploration_of(edge.visits)
        kept[source, VISITS] += 1.0
        kept[source, 0] = scale_of(p.c, kept[source, VISITS])
        look(graph, p, source)


@kernel()
def look(graph, p, node):
    """Computes N(v) Q(v) of a node from the values of its edges."""
    kept = node_stats(graph)
    for player in range(p.players):
        kept[node, SUM + p.players + player] = kept[node, SUM + player]


@kernel()
def refresh_all(graph, p, node):
    """Makes every edge into a node see its value."""
    reference = nodes(graph)[node].first_in
    while reference >= 0:
        source, number = edge_in(graph, reference)
        refresh(graph, p, number, source, node)
        reference = edges(graph)[number].next_in


@kernel()
def refresh(graph, p, number, source, node):
    """Computes an edge's value and its share of the source's sum from the value of its target."""
    kept, count, first = node_stats(graph), visits(graph, node), SUM + p.players
    # First times, then divided by: in a tree, where both are equal, nothing is rounded.
    for player in range(p.players):
        add_share(graph, number, source, player, edges(graph)[number].visits * kept[node, first + player] / count)
    mean_value(graph)[number] = kept[node, first + np.int64(nodes(graph)[source].mover)] / count


@kernel()
def add_share(graph, number, source, player, share):
    """Replaces an edge's share N(e) Q(e) of its source's sum."""
    own = edge_stats(graph)
    node_stats(graph)[source, SUM + player] += share - own[number, player]
    own[number, player] = share


@dataclass(frozen=True)
class CatchUp:
    """UCT on a graph in which visits of an edge catch up with those of its position.

    c: exploration constant, 0 or more. Raises TypeError or ValueError otherwise. Games with chance are refused.
    """

    c: float = 0.3
    serves_urgency, serves_untried = True, True
    select_kernel, backup_kernel = select, backup

    def __post_init__(self) -> None:
        exploration_constant(self.c)

    def layout(self, players: int, actions: int) -> Layout:
        """Visits, playouts and sums of values of nodes, now and as of their last visit; shares N(e) Q(e) of edges."""
        sums = tuple(f"value_sum[{player}]" for player in range(players))
        seen = tuple(f"seen_sum[{player}]" for player in range(players))
        return Layout(True, ("exploration_scale", "A_0", "ended", *sums, *seen), sums)

    def parameters(self, players: int, actions: int) -> np.ndarray:
        """Returns the exploration constant and the number of players."""
        return configuration(PARAMETERS, c=float(self.c), players=players)
