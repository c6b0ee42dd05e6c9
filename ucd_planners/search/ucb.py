"""The choice of an action: the largest upper confidence bound [UCD eq. 2; Auer, Cesa-Bianchi, Fischer 2002, UCB1].

    mu + c * sqrt(log p / n)     mu = mean_value,  c * sqrt(log p) = the exploration scale,  1 / sqrt(n) = exploration

A backup keeps the three numbers, with the selection's own meaning of mu, p and n, and this one kernel chooses by them.
"""

from __future__ import annotations

import math

import numpy as np

from ucd_envs.kernels import kernel
from ucd_envs.rng import below
from ucd_planners.search.graph import edges, exploration, initial_stats, mean_value, node_stats, nodes
from ucd_planners.search.interface import SELECT
from ucd_planners.search.sim import rng


@kernel(fastmath={"nnan", "nsz"})
def largest(means, chances, scale, first, count):
    """The largest bound of a block of edges. The flags let LLVM compare several at once; there is no NaN here."""
    best = means[first] + scale * chances[first]  # every edge of the block has a visit, so no bound is NaN
    for i in range(first + np.uint64(1), first + count):
        value = means[i] + scale * chances[i]
        best = value if value > best else best
    return best


@kernel()
def best_bound(graph, node):
    """The largest bound of a node's tried actions. Needs one."""
    first, count = np.uint64(nodes(graph)[node].first_edge), np.uint64(nodes(graph)[node].expanded)
    return largest(mean_value(graph), exploration(graph), node_stats(graph)[node, 0], first, count)


@kernel(SELECT, inline=True)
def select_action(graph, sim, node, may_add):
    """An untried action at random if those are urgent, else the tried one with the largest bound."""
    expanded, legal = np.int64(nodes(graph)[node].expanded), np.int64(nodes(graph)[node].legal)
    if expanded < legal and may_add and is_urgent(graph, node, expanded):
        return expanded + np.int64(below(rng(sim), np.uint64(legal - expanded)))
    # At the limit of edges a node without edges has no choice, and the descent ends there.
    return best(graph, node, rng(sim)) if expanded > 0 else np.int64(-1)


@kernel()
def is_urgent(graph, node, expanded):
    """Whether an untried action of a node goes before its tried ones."""
    return expanded == 0 or graph.first_play_urgency == np.inf or graph.first_play_urgency >= best_bound(graph, node)


@kernel()
def best(graph, node, rng):
    """The place of the tried action with the largest bound; among equals each with the same probability. Needs one."""
    means, chances, scale = mean_value(graph), exploration(graph), node_stats(graph)[node, 0]
    first, count = np.uint64(nodes(graph)[node].first_edge), np.uint64(nodes(graph)[node].expanded)
    if count == np.uint64(2):  # as in narrow games, whose descents are long
        one, other = means[first] + scale * chances[first], means[first + np.uint64(1)] + scale * chances[first + np.uint64(1)]
        if one != other:
            return np.int64(other > one)
    most = largest(means, chances, scale, first, count)
    # Both passes compute the same bounds from the same numbers, so the largest one is met exactly.
    equals = np.uint64(0)
    for i in range(first, first + count):
        equals += np.uint64(means[i] + scale * chances[i] == most)
    rank = below(rng, equals) if equals > np.uint64(1) else np.uint64(0)
    for i in range(first, first + count):
        if means[i] + scale * chances[i] == most:
            if rank == np.uint64(0):
                return np.int64(i - first)
            rank -= np.uint64(1)  # equals in front of the drawn one
    return np.int64(0)  # never reached: rank < equals


@kernel(SELECT)
def select_with_initial(graph, sim, node, may_add):
    """The action with the largest bound, where n~ virtual playouts with payoffs w~ in sum are added to the real ones.

        (n mu + w~) / (n + n~) + scale / sqrt(1 / exploration^2 + n~)

    An untried action without initial statistics has the bound `first_play_urgency`; among equals each has the same probability.
    """
    expanded = np.uint64(nodes(graph)[node].expanded)
    legal = np.uint64(nodes(graph)[node].legal) if may_add else expanded  # places from expanded on are untried
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


@kernel()
def scale_of(c, parent_visits):
    """c * sqrt(log p); 0 for p = 0."""
    return c * math.sqrt(math.log(parent_visits)) if parent_visits > 1.0 else 0.0


@kernel()
def exploration_of(visits):
    """1 / sqrt(n)."""
    return 1.0 / math.sqrt(visits)  # never of 0: an edge is on the path that made it
