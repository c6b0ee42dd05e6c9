"""Update-all: a playout is added to every edge that leads to its leaf [UCD section 3.2].

Every ancestor edge of the leaf gets the playout once, however many ways lead from it. Simple, and wrong in a telling way:
a node then counts playouts that its own choices would never have made ([UCD] Figure 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ucd_envs.kernels import CHANCE, kernel
from ucd_envs.structs import configuration, record
from ucd_planners.search.graph import edge_stats, edges, exploration, mean_value, node_stats, nodes, parameters
from ucd_planners.search.interface import BACKUP, Layout, exploration_constant
from ucd_planners.search.sim import begin_backup, frontier, marks, path, payoffs, scratch_bytes
from ucd_planners.search.ucb import exploration_of, scale_of
from ucd_planners.selection.ucd import FIRST_A as VISITS

U16, LOW = np.uint64(16), np.uint64(0xFFFF)
PARAMETERS = record(("c", np.float64), ("players", np.int64))


@kernel(BACKUP)
def backup(graph, sim):
    """Adds a playout to the last edge of its path and to every edge from which that one can be reached."""
    p, trail, length, begun = parameters(graph, PARAMETERS), path(sim), np.int64(sim.path.length), begin_backup(graph, sim)
    records, heads, waits, seen, stamp = edges(graph), nodes(graph), frontier(graph, sim), marks(graph, sim), begun.stamp
    reached, above, count = 0, 1, 1
    records[trail[1, length - 1]].leaf_visits += 1
    add(graph, sim, p, np.uint64(trail[1, length - 1]), np.uint64(trail[0, length - 1]))
    waits[reached, 0] = trail[0, length - 1]
    for _ in range(length - 1):
        waiting = 0
        for i in range(count):
            node = np.uint64(waits[reached, i])
            reference = np.int64(heads[node].first_in)
            scale(graph, p, node)
            while reference >= 0:
                source = np.uint64(reference) >> U16
                number = np.uint64(heads[source].first_edge) + (np.uint64(reference) & LOW)
                reference = np.int64(records[number].next_in)
                add(graph, sim, p, number, source)
                # The stamp keeps a source that several edges lead to from being counted twice.
                if seen[source].stamp != stamp:
                    seen[source].stamp = stamp
                    waits[above, waiting] = source
                    waiting += 1
        count = waiting
        reached, above = above, reached
    for i in range(count):
        scale(graph, p, np.uint64(waits[reached, i]))


@kernel(inline=True)
def add(graph, sim, p, number, source):
    """Adds a playout to one edge and to the visits of its source."""
    edge, own, paid, mover = edges(graph)[number], edge_stats(graph), payoffs(sim), np.int64(nodes(graph)[source].mover)
    edge.visits += 1
    for player in range(p.players):
        own[number, player] += paid[player]
    node_stats(graph)[source, VISITS] += 1.0
    mean_value(graph)[number] = own[number, mover] / edge.visits if mover != CHANCE else 0.0
    exploration(graph)[number] = exploration_of(edge.visits)


@kernel(inline=True)
def scale(graph, p, node):
    """Computes a node's exploration scale, once all its edges have their playout."""
    kept = node_stats(graph)
    kept[node, 0] = scale_of(p.c, kept[node, VISITS])


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
