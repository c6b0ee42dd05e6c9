"""PUCT: priors guide the exploration of UCD [Rosin 2011; Silver et al. 2018].

The bound of a move is mu_d1(e) + c * P(e) * sqrt(p_d2(e)) / (1 + n_d3(e)), each term seen d1, d2 or d3 plies deep as in
UCD, and P(e) the prior of the move at its source, by an evaluation of the position. UCD's backup keeps mu, p and n; nothing is
added to it. An untried move has n = 0 and in place of mu the first-play urgency: the value of its source for the mover,

    V(u) = (v(u) + sum of n_d3(f) mu_d1(f)) / (1 + sum of n_d3(f))     over the tried moves f of u,  v(u) its evaluation

minus `reduction`. Ties go to the move that was tried first, and among untried ones to the first in the list: no choice draws a
random number. With shared positions the values of Czech et al. 2020 and of KataGo's graph search lag behind those of other
parents and are corrected later; here the sums of UCD make all of them right after each playout [UCD section 3].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ucd_envs.kernels import kernel
from ucd_envs.settings import real
from ucd_envs.structs import array_at, configuration, record
from ucd_planners.search.graph import (
    SINGLE,
    actions,
    edges,
    exploration,
    initial_stats,
    mean_value,
    node_stats,
    nodes,
    parameters,
)
from ucd_planners.search.growth import put_largest_first
from ucd_planners.search.interface import BACKUP, SELECT, Layout
from ucd_planners.search.sim import path
from ucd_planners.selection import ucd
from ucd_planners.selection.ucd import UCD, UCD_PARAMETERS

PUCT_PARAMETERS = (*UCD_PARAMETERS, ("reduction", np.float64))
PARAMETERS = record(*PUCT_PARAMETERS)
"""Those of UCD, which its backup reads, and the reduction of the first-play urgency."""
U0, U1, U2 = np.uint64(0), np.uint64(1), np.uint64(2)


@kernel(SELECT)
def select(graph, sim, node, may_add):
    """The tried action with the largest bound, or the untried one with the largest prior if its bound is larger."""
    p, source = parameters(graph, PARAMETERS), nodes(graph)[node]
    if sim.path.columns > 0:
        return place_of(graph, source, path(sim)[2, sim.path.length])
    if graph.actions.columns > 1:
        return select_in_flight(graph, p, source, node, may_add)
    first, count, listed = np.uint64(source.first_edge), np.uint64(source.expanded), np.uint64(source.first_action)
    means, chances, priors = mean_value(graph), exploration(graph), priors_of(graph)
    scale = p.c * math.sqrt(node_stats(graph)[node, p.parent_visits])
    most = largest(means, chances, priors, scale, first, listed, count) if count > U0 else -np.inf
    if count < np.uint64(source.legal) and may_add:
        value = np.float64(priors[listed + np.uint64(source.legal)])
        if urgency(means, chances, value, first, count) - p.reduction + scale * priors[listed + count] > most:
            return np.int64(count)
    for i in range(count):
        if bound(means[first + i], chances[first + i], priors[listed + i], scale) == most:
            return np.int64(i)
    return np.int64(-1)


@kernel()
def place_of(graph, source, action):
    """The place of an action in a node's list, or -1: of one that a simulation is led along."""
    first = np.int64(source.first_action)
    for place in range(np.int64(source.legal)):
        if actions(graph)[first + place] == action:
            return np.int64(place)
    return np.int64(-1)


@kernel()
def select_in_flight(graph, p, source, node, may_add):
    """The same where f visits are in flight at an action and F at all of the node, each as good as one that the mover lost.

    n mu / (n + f) + c P sqrt(p + F) / (1 + n + f)
    """
    first, count, listed = np.uint64(source.first_edge), np.uint64(source.expanded), np.uint64(source.first_action)
    means, chances, given = mean_value(graph), exploration(graph), initial_stats(graph)
    legal = np.uint64(source.legal) if may_add else count
    flights = 0.0
    for i in range(legal):
        flights += given[listed + i, 1]
    scale = p.c * math.sqrt(node_stats(graph)[node, p.parent_visits] + flights)
    untried = urgency(means, chances, np.float64(given[listed + np.uint64(source.legal), 0]), first, count) - p.reduction
    most, choice = -np.inf, np.int64(-1)
    for i in range(legal):
        flying, value, weight = np.float64(given[listed + i, 1]), untried, 1.0
        if i < count:
            square = chances[first + i] * chances[first + i]
            value, weight = means[first + i] / (1.0 + flying * square), square / (1.0 + square * (1.0 + flying))
        elif flying > 0.0:
            value, weight = 0.0, 1.0 / (1.0 + flying)
        value += scale * given[listed + i, 0] * weight
        if value > most:
            most, choice = value, np.int64(i)
    return choice


@kernel(inline=True)
def priors_of(graph):
    """[actions.room] float32: the only column of `initial_stats`."""
    return array_at(graph.actions.address + np.uint64(graph.actions.room) * U2, (graph.actions.room,), SINGLE)


@kernel()
def bound(mean, chance, prior, scale):
    """mean + scale * P / (1 + n), with 1 / sqrt(n) = chance."""
    square = chance * chance
    return mean + scale * prior * (square / (1.0 + square))


@kernel(fastmath={"nnan", "nsz"})
def largest(means, chances, priors, scale, first, listed, count):
    """The largest bound of a block of edges. The flags let LLVM compare several at once; there is no NaN here."""
    best = -np.inf
    for i in range(count):
        value = bound(means[first + i], chances[first + i], priors[listed + i], scale)
        best = value if value > best else best
    return best


@kernel()
def urgency(means, chances, value, first, count):
    """V(u), given v(u): the mean of the evaluation and of all that the tried moves have found."""
    # Two sums at a time, in a fixed order: an addition waits for the one before.
    totals, visits, other_totals, other_visits, i = value, 1.0, 0.0, 0.0, U0
    while i + U1 < count:
        had, others = 1.0 / (chances[first + i] * chances[first + i]), 1.0 / (chances[first + i + U1] * chances[first + i + U1])
        totals, visits = totals + had * means[first + i], visits + had
        other_totals, other_visits = other_totals + others * means[first + i + U1], other_visits + others
        i += U2
    if i < count:
        had = 1.0 / (chances[first + i] * chances[first + i])
        totals, visits = totals + had * means[first + i], visits + had
    return (totals + other_totals) / (visits + other_visits)


@kernel(BACKUP)
def backup(graph, sim):
    """Backs up as UCD, and finds the next untried action of every position with a new edge."""
    ucd.backup(graph, sim)
    for depth in range(sim.path.length):
        if edges(graph)[path(sim)[1, depth]].visits == 1:
            put_largest_first(graph, np.int64(path(sim)[0, depth]))


@dataclass(frozen=True)
class PUCT:
    """PUCT in a tree, and in a graph with the three depths of UCD.

    c: exploration constant, 0 or more; d1, d2, d3, table, backup, store, graded: as in UCD, but graded=False goes with d1 and
    d3 up to 1 and d2 = 0 only; reduction: of the first-play urgency, from -1 to 1. It goes with a planner that has an
    evaluator. Raises TypeError or ValueError otherwise.
    """

    has_priors = True
    select_kernel, backup_kernel = select, backup
    c: float = 1.5
    d1: float = 0
    d2: float = 0
    d3: float = 0
    table: bool = True
    backup: str = "descent"
    store: str = "edges"
    graded: bool = True
    reduction: float = 0.0

    def __post_init__(self) -> None:
        if not -1 <= real("reduction", self.reduction) <= 1:
            raise ValueError(f"reduction must be a number from -1 to 1, not {self.reduction!r}")
        if not self.ucd.graded and not self.ucd.is_shallow():
            raise ValueError("graded=False with priors goes with d1 and d3 up to 1 and d2 = 0 only")

    @property
    def ucd(self) -> UCD:
        """Means, visits and sums."""
        return UCD(self.d1, self.d2, self.d3, self.c, self.table, self.backup, self.store, self.graded)

    def layout(self, players: int, actions: int) -> Layout:
        """The statistics of UCD, and the priors of actions."""
        return self.ucd.layout(players, actions)._replace(has_priors=True)

    def parameters(self, players: int, actions: int) -> np.ndarray:
        """Returns the record of UCD's backup, and behind it that of the choice."""
        return configuration(PARAMETERS, **self.parameter_values(players))

    def parameter_values(self, players: int) -> dict[str, Any]:
        """Returns the values of PUCT_PARAMETERS."""
        return {**self.ucd.parameter_values(players), "reduction": float(self.reduction)}
