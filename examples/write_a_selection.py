"""A selection in one file: UCB1-Tuned [Auer, Cesa-Bianchi and Fischer 2002, section 4] in a tree or in a graph.

The bound of an action j of a node with n visits depends on the variance of its payoffs:

    mu_j + c * sqrt(log n / n_j * min(1/4, V_j))
    V_j = (sum of squared payoffs) / n_j - mu_j^2 + sqrt(2 log n / n_j)

From the folder of this file: `ucd match --game hex --size 5 --a "write_a_selection:tuned(c=0.5)" --b uct --playouts 100`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ucd_envs.kernels import kernel
from ucd_envs.structs import configuration, record
from ucd_planners.arena.match import Match, play_match
from ucd_planners.search.graph import edge_stats, edges, exploration, mean_value, node_stats, nodes, parameters
from ucd_planners.search.interface import BACKUP, Layout, exploration_constant
from ucd_planners.search.sim import path, payoffs

PARAMETERS = record(("c", np.float64), ("players", np.int64))
SCALE, VISITS = 0, 1
"""Columns of node_stats: c * sqrt(log n), and n."""


@kernel(BACKUP)
def backup(graph, sim):
    """Adds a playout to every edge of the path, and updates all bounds at their sources, since V_j depends on n."""
    trail, length = path(sim), np.int64(sim.path.length)
    for depth in range(length):
        source, number = np.int64(trail[0, depth]), np.int64(trail[1, depth])
        add_playout(graph, sim, source, number)
        renew(graph, source)
    edges(graph)[trail[1, length - 1]].leaf_visits += 1


@kernel()
def add_playout(graph, sim, source, number):
    """Adds a playout to one edge: each player's payoff, and the square of the mover's."""
    players, own = parameters(graph, PARAMETERS).players, edge_stats(graph)[number]
    for player in range(players):
        own[player] += payoffs(sim)[player]
    own[players] += payoffs(sim)[nodes(graph)[source].mover] ** 2
    edges(graph)[number].visits += 1
    node_stats(graph)[source, VISITS] += 1.0


@kernel()
def renew(graph, source):
    """Writes the mean and the factor sqrt(min(1/4, V_j) / n_j) of every edge of a node, and the node's scale."""
    p, log_visits = parameters(graph, PARAMETERS), math.log(node_stats(graph)[source, VISITS])
    node_stats(graph)[source, SCALE] = p.c * math.sqrt(log_visits)
    first, mover = np.int64(nodes(graph)[source].first_edge), nodes(graph)[source].mover
    for number in range(first, first + nodes(graph)[source].expanded):
        own, visits = edge_stats(graph)[number], edges(graph)[number].visits
        mean = own[mover] / visits
        # Rounding may make the variance of equal payoffs negative.
        variance = max(own[p.players] / visits - mean * mean, 0.0) + math.sqrt(2.0 * log_visits / visits)
        mean_value(graph)[number] = mean
        exploration(graph)[number] = math.sqrt(min(0.25, variance) / visits)


@dataclass(frozen=True)
class Tuned:
    """UCB1-Tuned; c: factor of the paper's bound, 0 or more; table: whether positions reached in several ways share a node."""

    c: float = 1.0
    table: bool = False
    select_kernel, backup_kernel = None, backup
    """None is the default rule of selection: the largest `mean_value + scale * exploration`."""

    def __post_init__(self) -> None:
        exploration_constant(self.c)

    def layout(self, players: int, actions: int) -> Layout:
        """Returns the statistics: an edge has one number more than the value sums of the players."""
        values = tuple(f"value_sum[{player}]" for player in range(players))
        return Layout(self.table, ("exploration_scale", "visits"), (*values, "square_sum"))

    def parameters(self, players: int, actions: int) -> np.ndarray:
        """Returns the record that the backup reads."""
        return configuration(PARAMETERS, c=float(self.c), players=players)


tuned = Tuned
"""Name of the selection in texts of planners, such as write_a_selection:tuned(c=0.5)."""


if __name__ == "__main__":
    match = Match("hex", "write_a_selection:tuned(c=0.5)", "uct(c=0.3)", {"size": 5}, {"playouts": 300}, games=40, seed=1)
    print(f"UCB1-Tuned scores {100 * play_match(match).score().mean:.0f} percent against UCT, at equal playouts")
