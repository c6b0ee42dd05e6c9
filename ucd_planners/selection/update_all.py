"""Update-all: a playout is added to every edge that leads to its leaf [Childs section 3, UCT2; UCD section 2].

Every ancestor edge of the leaf gets the playout once, however many ways lead from it. Simple, and wrong in a telling way:
a node then counts playouts that its own choices would never have made ([UCD] Figure 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ucd_envs.kernels import kernel
from ucd_planners.search.graph import edges, exploit, explore, frontier, nodes, payoff, sums, weight
from ucd_planners.search.interface import BACK_UP, Layout, Parameters, checked_constant, path_of
from ucd_planners.search.ucb import explore_of, weight_of


@kernel(BACK_UP)
def back_up(g, w, length):
    """Adds a playout to the last edge of its path and to every edge from which that one can be reached."""
    path_nodes, path_edges = path_of(w)
    g.stamp += 1
    stamp = np.int32(g.stamp & 0x7FFFFFFF)
    reached, above, count = 0, 1, 1
    edges(g)[path_edges[length - 1]].ended += 1
    add(g, np.int64(path_edges[length - 1]), np.int64(path_nodes[length - 1]), w.payoffs)
    frontier(g)[reached, 0] = path_nodes[length - 1]
    for _ in range(length - 1):
        waiting = 0
        for i in range(count):
            node = np.int64(frontier(g)[reached, i])
            source, slot = np.int64(nodes(g)[node].in_source), np.int64(nodes(g)[node].in_slot)
            while source >= 0:
                number = np.int64(nodes(g)[source].first_edge) + slot
                add(g, number, source, w.payoffs)
                if nodes(g)[source].stamp != stamp:
                    nodes(g)[source].stamp = stamp
                    frontier(g)[above, waiting] = source
                    waiting += 1
                source, slot = np.int64(edges(g)[number].next_source), np.int64(edges(g)[number].next_slot)
        count = waiting
        reached, above = above, reached


@kernel()
def add(g, number, source, payoffs):
    """Adds a playout to one edge."""
    edge = edges(g)[number]
    edge.visits += 1
    for player in range(g.players):
        payoff(g)[number, player] += payoffs[player]
    sums(g)[source, 0] += 1.0
    exploit(g)[number] = payoff(g)[number, nodes(g)[source].mover] / edge.visits
    explore(g)[number] = explore_of(edge.visits)
    weight(g)[source] = weight_of(g.constants[0], sums(g)[source, 0])


@dataclass(frozen=True)
class UpdateAll:
    """UCT on a graph whose backup reaches all ancestors; c: exploration constant, 0 or more."""

    c: float = 0.3

    def __post_init__(self) -> None:
        checked_constant(self.c)

    @property
    def chooser(self) -> Any:
        """None: the largest bound."""
        return None

    @property
    def kernel(self) -> Any:
        """The backup."""
        return back_up

    def layout(self, players: int) -> Layout:
        """One sum: n over the edges out of a node."""
        return Layout(table=True, columns=1, shares=0, ended=False)

    def parameters(self, players: int) -> Parameters:
        """The exploration constant."""
        return Parameters(np.zeros(0, np.int64), np.array([float(self.c)]))
