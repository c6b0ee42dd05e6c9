"""The choice of an action with initial statistics: virtual playouts that count like real ones."""

from __future__ import annotations

import math

import numpy as np

from ucd_envs.kernels import kernel
from ucd_envs.rng import below
from ucd_planners.search.graph import edges, exploration, initial_stats, mean_value, node_stats, nodes
from ucd_planners.search.interface import SELECT
from ucd_planners.search.sim import rng


@kernel(SELECT)
def select_with_initial(graph, sim, node, may_add):
    """The action with the largest bound, where n~ virtual playouts with payoffs w~ in sum are added to the real ones.

        (n mu + w~) / (n + n~) + scale / sqrt(1 / exploration^2 + n~)

    An untried action without initial statistics has the bound `first_play_urgency`; among equals each has the same probability.
    """
    expanded = np.uint64(nodes(graph)[node].expanded)
    legal = np.uint64(nodes(graph)[node].legal) if may_add else expanded
    first, listed = np.uint64(nodes(graph)[node].first_edge), np.uint64(nodes(graph)[node].first_action)
    given, records, means, chances = initial_stats(graph), edges(graph), mean_value(graph), exploration(graph)
    scale, most, equals, choice = node_stats(graph)[node, 0], -np.inf, np.uint64(0), -1
    for i in range(legal):
        visits, paid = np.float64(given[listed + i, 0]), np.float64(given[listed + i, 1])
        if i < expanded:
            had, chance = np.float64(records[first + i].visits), chances[first + i]
            value = (had * means[first + i] + paid) / (had + visits) + scale / math.sqrt(1.0 / (chance * chance) + visits)
        else:
            value = paid / visits + scale / math.sqrt(visits) if visits > 0.0 else graph.first_play_urgency
        if value > most:
            most, equals, choice = value, np.uint64(1), i
        elif value == most:
            equals += np.uint64(1)
            if below(rng(sim), equals) == np.uint64(0):
                choice = i
    return np.int64(choice)
