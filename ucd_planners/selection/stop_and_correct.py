"""Stop and correct: a simulation ends where an edge and the shared position below it disagree [Czech, Korus, Kersting 2020].

Monte-Carlo Graph Search for AlphaZero, arXiv 2012.11045. Edges keep their own mean, positions theirs:

    N(e), Q(e)    simulations over edge e = (u -> v), and the mean of what was backed up over it
    V(v)          the mean of the playouts that ended at v, and of what was backed up over the edges out of v

A descent that comes over e into v, a position that several edges lead to, ends there without a playout if some player has
|V(v) - Q(e)| > eps, and over a new edge into a known position always. The backup then gives e not V(v) but a value that moves
Q(e) to V(v), as far as payoffs allow:

    Q_delta = V(v) - Q(e)        Q_phi = N(e) Q_delta + V(v), cut to [0, 1]

Every edge of a path that leads to a shared position is corrected so, with the V(v) that this simulation has left behind; the
corrected value goes on to the edges above. In a tree no position is shared, and the rule is UCT.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ucd_envs.kernels import kernel
from ucd_envs.structs import array_at, configuration, record
from ucd_planners.search.graph import edge_in, edge_stats, edges, exploration, mean_value, node_stats, nodes, parameters
from ucd_planners.search.interface import BACKUP, SELECT, Layout, exploration_constant, probability
from ucd_planners.search.sim import REAL, SETTLED, is_settled, path, payoffs
from ucd_planners.search.ucb import exploration_of, scale_of, select_action

ROUNDING = 1e-9
"""The least eps: a corrected edge may differ from its position by rounding, which must not stop descents for ever."""
PARAMETERS = record(("c", np.float64), ("eps", np.float64), ("players", np.int64))
VISITS, ENDED, SUM = 1, 2, 3
"""Columns of node_stats: simulations that went on from a node, playouts that ended at it, and player 0's sum of both."""


@kernel(SELECT)
def select(graph, sim, node, may_add):
    """Ends the simulation at a node that disagrees with the edge it came by; elsewhere chooses the largest bound."""
    depth = np.int64(sim.path.length)
    if depth > 0 and disagrees(graph, node, np.int64(path(sim)[1, depth - 1])):
        for player in range(parameters(graph, PARAMETERS).players):
            payoffs(sim)[player] = value(graph, node, player)
        return np.int64(SETTLED)
    return select_action(graph, sim, node, may_add)


@kernel()
def disagrees(graph, node, number):
    """Whether |V(v) - Q(e)| > eps for a player, at a shared node and the edge that a descent came by, -1 for a new one."""
    if number < 0:
        return node_stats(graph)[node, VISITS] + node_stats(graph)[node, ENDED] > 0.0
    p, stale = parameters(graph, PARAMETERS), False
    if is_shared(graph, node):
        for player in range(p.players):
            own = edge_stats(graph)[number, player] / edges(graph)[number].visits
            stale |= abs(value(graph, node, player) - own) > p.eps
    return stale


@kernel()
def is_shared(graph, node):
    """Whether several edges lead to a node."""
    first = nodes(graph)[node].first_in
    return first >= 0 and edges(graph)[edge_in(graph, first)[1]].next_in >= 0


@kernel()
def value(graph, node, player):
    """V(v), in [0, 1]. Needs a simulation."""
    kept = node_stats(graph)
    return kept[node, SUM + player] / (kept[node, VISITS] + kept[node, ENDED])


@kernel(BACKUP)
def backup(graph, sim):
    """Adds a simulation to the edges and nodes of its path, corrected at every edge into a shared node."""
    p, trail, length = parameters(graph, PARAMETERS), path(sim), np.int64(sim.path.length)
    kept, own = node_stats(graph), edge_stats(graph)
    gain = array_at(sim.scratch.address, (p.players,), REAL)  # payoffs stay as they are: policies learn from them
    for player in range(p.players):
        gain[player] = payoffs(sim)[player]
    last = np.int64(trail[1, length - 1])
    leaf = np.int64(edges(graph)[last].target)
    edges(graph)[last].leaf_visits += 1
    if leaf >= 0 and not is_settled(sim):
        kept[leaf, ENDED] += 1.0
        for player in range(p.players):
            kept[leaf, SUM + player] += gain[player]
    for depth in range(length - 1, -1, -1):  # upward: V of the node below has this simulation already
        number, source = np.int64(trail[1, depth]), np.int64(trail[0, depth])
        edge = edges(graph)[number]
        target, visits = np.int64(edge.target), np.int64(edge.visits)
        if visits > 0 and target >= 0 and is_shared(graph, target):
            for player in range(p.players):
                # Q_phi = N (V - Q) + V, with the sum w = N Q.
                gain[player] = min(max((visits + 1) * value(graph, target, player) - own[number, player], 0.0), 1.0)
        edge.visits += 1
        kept[source, VISITS] += 1.0
        for player in range(p.players):
            own[number, player] += gain[player]
            kept[source, SUM + player] += gain[player]
        mean_value(graph)[number] = own[number, np.int64(nodes(graph)[source].mover)] / (visits + 1)
        exploration(graph)[number] = exploration_of(visits + 1)
        kept[source, 0] = scale_of(p.c, kept[source, VISITS])


@dataclass(frozen=True)
class StopAndCorrect:
    """UCT on a graph that stops at stale edges and corrects them.

    eps: the largest difference between an edge and its position that stops no simulation, 0 to 1, in payoffs from 0 to 1;
    c: exploration constant, 0 or more. Raises TypeError or ValueError otherwise. Games with chance are refused.
    """

    eps: float = 0.01
    c: float = 0.3
    serves_urgency, serves_untried = True, True
    select_kernel, backup_kernel = select, backup

    def __post_init__(self) -> None:
        probability("eps", self.eps)
        exploration_constant(self.c)

    def layout(self, players: int, actions: int) -> Layout:
        """Simulations, ended playouts and value sums of nodes; value sums of edges; a vector of payoffs as scratch."""
        sums = tuple(f"value_sum[{player}]" for player in range(players))
        return Layout(True, ("exploration_scale", "A_0", "ended", *sums), sums, scratch=(8 * players, 0))

    def parameters(self, players: int, actions: int) -> np.ndarray:
        """Returns the exploration constant, eps and the number of players."""
        return configuration(PARAMETERS, c=float(self.c), eps=max(float(self.eps), ROUNDING), players=players)
