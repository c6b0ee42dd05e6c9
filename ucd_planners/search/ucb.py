"""The choice of a tried move: the largest upper confidence bound [UCD eq. 2; Auer, Cesa-Bianchi, Fischer 2002, UCB1].

    mu + c * sqrt(log p / n)     mu = exploit,  c * sqrt(log p) = weight,  1 / sqrt(n) = explore

A backup keeps the three numbers, each selection with its own meaning of mu, p and n; any bound of the form
`exploit + weight * explore` is chosen by this one kernel.
"""

from __future__ import annotations

import math

import numpy as np

from ucd_envs.kernels import kernel
from ucd_envs.rng import below
from ucd_planners.search.graph import edges, exploit, explore, nodes, priors, weight
from ucd_planners.search.interface import CHOOSE


@kernel(fastmath={"nnan", "nsz"})
def largest(means, chances, scale, first, count):
    """The largest bound of a block of edges. The flags let LLVM compare several at once; there is no NaN here."""
    best = means[first] + scale * chances[first]
    for i in range(first + np.uint64(1), first + count):
        value = means[i] + scale * chances[i]
        best = value if value > best else best
    return best


@kernel()
def best_bound(g, node):
    """The largest bound of a node's tried moves. Needs one."""
    first, count = np.uint64(nodes(g)[node].first_edge), np.uint64(nodes(g)[node].tried)
    return largest(exploit(g), explore(g), weight(g)[node], first, count)


@kernel(CHOOSE, inline=True)
def choose(g, w, node, may_add, rng):
    """An untried move at random if those are urgent, else the tried one with the largest bound."""
    tried, legal = np.int64(nodes(g)[node].tried), np.int64(nodes(g)[node].moves)
    if tried < legal and may_add and is_urgent(g, node, tried):
        return tried + np.int64(below(rng, np.uint64(legal - tried)))
    if tried == 0:
        return np.int64(-1)
    return best(g, node, rng)


@kernel()
def is_urgent(g, node, tried):
    """Whether an untried move of a node goes before its tried ones."""
    return tried == 0 or g.urgency == np.inf or g.urgency >= best_bound(g, node)


@kernel()
def best(g, node, rng):
    """The place of the tried move with the largest bound; among equals each with the same probability. Needs a tried move."""
    means, chances, scale = exploit(g), explore(g), weight(g)[node]
    first, count = np.uint64(nodes(g)[node].first_edge), np.uint64(nodes(g)[node].tried)
    most = largest(means, chances, scale, first, count)
    equals = np.uint64(0)
    for i in range(first, first + count):
        equals += np.uint64(means[i] + scale * chances[i] == most)
    rank = below(rng, equals) if equals > np.uint64(1) else np.uint64(0)
    for i in range(first, first + count):
        if means[i] + scale * chances[i] == most:
            if rank == np.uint64(0):
                return np.int64(i - first)
            rank -= np.uint64(1)
    return np.int64(0)


@kernel(CHOOSE)
def choose_with_priors(g, w, node, may_add, rng):
    """The move with the largest bound, where n~ playouts with payoffs w~ in sum, its prior, are added to what it had.

        (n mu + w~) / (n + n~) + weight / sqrt(1 / explore^2 + n~)

    One that was not tried and has no prior has the bound `urgency`; among equals each has the same probability.
    """
    tried = np.uint64(nodes(g)[node].tried)
    legal = np.uint64(nodes(g)[node].moves) if may_add else tried
    first, listed = np.uint64(nodes(g)[node].first_edge), np.uint64(nodes(g)[node].first_move)
    known, records, means, chances, scale = priors(g), edges(g), exploit(g), explore(g), weight(g)[node]
    most, equals, choice = -np.inf, np.uint64(0), -1
    for i in range(legal):
        visits, paid = np.float64(known[listed + i, 0]), np.float64(known[listed + i, 1])
        if i < tried:
            had, chance = np.float64(records[first + i].visits), chances[first + i]
            value = (had * means[first + i] + paid) / (had + visits) + scale / math.sqrt(1.0 / (chance * chance) + visits)
        else:
            value = paid / visits + scale / math.sqrt(visits) if visits > 0.0 else g.urgency
        if value > most:
            most, equals, choice = value, np.uint64(1), i
        elif value == most:
            equals += np.uint64(1)
            if below(rng, equals) == np.uint64(0):
                choice = i
    return np.int64(choice)


@kernel()
def weight_of(c, parent_visits):
    """c * sqrt(log p); 0 for p = 0."""
    return c * math.sqrt(math.log(parent_visits)) if parent_visits > 1.0 else 0.0


@kernel()
def explore_of(visits):
    """1 / sqrt(n)."""
    return 1.0 / math.sqrt(visits)
