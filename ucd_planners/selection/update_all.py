"""Update-all: a playout is added to every edge that leads to its leaf [UCD section 3.2].

Every ancestor edge of the leaf gets the playout once, however many ways lead from it. Simple, and wrong in a telling way:
a node then counts playouts that its own choices would never have made ([UCD] Figure 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ucd_envs.kernels import CHANCE, kernel
from ucd_envs.structs import configuration, record
from ucd_planners.search.graph import edge_in, edge_stats, edges, exploration, mean_value, node_stats, nodes, parameters
from ucd_planners.search.interface import BACKUP, Layout, exploration_constant
from ucd_planners.search.sim import begin_backup, frontier, marks, path, payoffs, scratch_bytes
from ucd_planners.search.ucb import exploration_of, scale_of
from ucd_planners.selection.ucd import FIRST_A as VISITS

PARAMETERS = record(("c", np.float64), ("players", np.int64))


@kernel(BACKUP)
def backup(graph, sim):
    """Adds a playout to the last edge of its path and to every edge from which that one can be reached."""
    trail, length, begun = path(sim), np.int64(sim.path.length), begin_backup(graph, sim)
    reached, above, count = 0, 1, 1
    edges(graph)[trail[1, length - 1]].leaf_visits += 1
    add(graph, sim, np.int64(trail[1, length - 1]), np.int64(trail[0, length - 1]))
    frontier(graph, sim)[reached, 0] = trail[0, length - 1]
    for _ in range(length - 1):
        waiting = 0
        for i in range(count):
            reference = nodes(graph)[np.int64(frontier(graph, sim)[reached, i])].first_in
            while reference >= 0:
                source, number = edge_in(graph, reference)
                add(graph, sim, number, source)
                # The stamp keeps a source that several edges lead to from being counted twice.
                if marks(graph, sim)[source].stamp != begun.stamp:
                    marks(graph, sim)[source].stamp = begun.stamp
                    frontier(graph, sim)[above, waiting] = source
                    waiting += 1
                reference = edges(graph)[number].next_in
        count = waiting
        reached, above = above, reached


@kernel()
def add(graph, sim, number, source):
    """Adds a playout to one edge."""
    p, edge, own, kept, paid = (
        parameters(graph, PARAMETERS),
        edges(graph)[number],
        edge_stats(graph),
        node_stats(graph),
        payoffs(sim),
    )
    edge.visits += 1
    for player in range(p.players):
        own[number, player] += paid[player]
    kept[source, VISITS] += 1.0
    mover = np.int64(nodes(graph)[source].mover)
    mean_value(graph)[number] = own[number, mover] / edge.visits if mover != CHANCE else 0.0
    exploration(graph)[number] = exploration_of(edge.visits)
    kept[source, 0] = scale_of(p.c, kept[source, VISITS])


@dataclass(frozen=True)
class UpdateAll:
    """UCT on a graph whose backup reaches all ancestors; c: exploration constant, 0 or more."""

    c: float = 0.3
    serves_chance = True
    select_kernel, backup_kernel = None, backup

    def __post_init__(self) -> None:
        exploration_constant(self.c)

    def layout(self, players: int, actions: int) -> Layout:
        """The sum of n over the edges out of a node, and the value sums of edges."""
        sums = ("exploration_scale", "A_0")
        return Layout(True, sums, tuple(f"value_sum[{player}]" for player in range(players)), scratch=scratch_bytes(len(sums)))

    def parameters(self, players: int, actions: int) -> np.ndarray:
        """Returns the exploration constant and the number of players."""
        return configuration(PARAMETERS, c=float(self.c), players=players)
