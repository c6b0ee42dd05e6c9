"""PUCT: priors guide the exploration of UCD [Rosin 2011; Silver et al. 2018].

The value of a move is mu_d1(e) + c * P(e) * sqrt(p_d2(e)) / (1 + n_d3(e)), each term seen d1, d2 or d3 plies deep as in UCD, and
P(e) the prior of the move at its source, by an evaluation of the position. UCD's backup keeps mu, p and n; nothing is added to
it. An untried move has n = 0 and in place of mu the first-play urgency: the value of its source for the mover,

    V(u) = (v(u) + sum of n(f) mu_d1(f)) / (1 + sum of n(f))     over the tried moves f of u,  v(u) its evaluation

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
from ucd_envs.structs import configuration, record
from ucd_planners.search.graph import edges, exploration, initial_stats, mean_value, node_stats, nodes, parameters
from ucd_planners.search.growth import put_largest_first
from ucd_planners.search.interface import BACKUP, SELECT, Layout
from ucd_planners.search.sim import path
from ucd_planners.selection import ucd
from ucd_planners.selection.ucd import UCD, UCD_PARAMETERS

PARAMETERS = record(*UCD_PARAMETERS, ("reduction", np.float64))
"""Those of UCD, which its backup reads, and the reduction of the first-play urgency."""
U1 = np.uint64(1)


@kernel(SELECT)
def select(graph, sim, node, may_add):
    """The tried action with the largest bound, or the untried one with the largest prior if its bound is larger."""
    p, source = parameters(graph, PARAMETERS), nodes(graph)[node]
    first, count, listed = np.uint64(source.first_edge), np.uint64(source.expanded), np.uint64(source.first_action)
    means, chances, given, records = mean_value(graph), exploration(graph), initial_stats(graph), edges(graph)
    scale, most, choice = p.c * math.sqrt(node_stats(graph)[node, p.parent_visits]), -np.inf, np.int64(-1)
    total, visits = np.float64(given[listed + np.uint64(source.legal), 0]), 1.0  # the evaluation counts as a visit
    for i in range(count):
        mean, chance = means[first + i], chances[first + i]
        # 1 / (1 + n) with n = 1 / chance^2
        value = mean + scale * given[listed + i, 0] * (chance * chance / (1.0 + chance * chance))
        if value > most:
            most, choice = value, np.int64(i)
        had = np.float64(records[first + i].visits)
        total += had * mean
        visits += had
    if count < np.uint64(source.legal) and may_add:
        if total / visits - p.reduction + scale * given[listed + count, 0] > most:
            choice = np.int64(count)
    return choice


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

    c: exploration constant, 0 or more; d1, d2, d3, table, backup, store, graded: as in UCD; reduction: of the first-play
    urgency, from -1 to 1. It goes with a planner that has an evaluator. Raises TypeError or ValueError otherwise.
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
        _ = self.ucd

    @property
    def ucd(self) -> UCD:
        """Means, visits and sums."""
        return UCD(self.d1, self.d2, self.d3, self.c, self.table, self.backup, self.store, self.graded)

    def layout(self, players: int, actions: int) -> Layout:
        """The statistics of UCD, and the priors of actions."""
        return self.ucd.layout(players, actions)._replace(has_priors=True)

    def parameters(self, players: int, actions: int) -> np.ndarray:
        """Returns the record of UCD's backup, and behind it that of the choice."""
        values: dict[str, Any] = self.ucd.parameter_values(players)
        return configuration(PARAMETERS, **values, reduction=float(self.reduction))
