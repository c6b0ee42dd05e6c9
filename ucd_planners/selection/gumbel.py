"""PUCT with Gumbel root selection: sequential halving of the moves at the root [Danihelka et al. 2022].

At the root each legal move a gets a draw g(a) of the Gumbel distribution, once a search, and is compared by

    g(a) + log P(a) + sigma(q(a))     sigma(q) = (c_visit + max n(b)) c_scale q,  q(a) = mu_d1(a)

Of the moves the `considered` best ones share the first part of the budget equally, the better half of them the next, and so
on down to two. The move played is the best one of those with the most visits. So a budget of a few playouts is spent well, and
even with few of them the move is at least as good as one drawn from the priors, in the expectation and under right values.

What a network should learn is the improved policy, P(a) exp(sigma(q(a))) made to sum to 1, where an unvisited move has in place
of q the value V of the root, N being all its visits, and sums going over the moves b with visits:

    V = (v + N * sum of P(b) q(b) / sum of P(b)) / (1 + N)     v its evaluation

Below the root moves are chosen by PUCT.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types

from ucd_envs.kernels import BYTES, kernel
from ucd_envs.rng import unit
from ucd_envs.settings import integer, real
from ucd_envs.structs import array_at, configuration, fields, record
from ucd_planners.search.graph import GRAPH, REAL, actions, edges, initial_stats, mean_value, nodes, parameters
from ucd_planners.search.interface import SELECT
from ucd_planners.search.sim import rng
from ucd_planners.selection import puct
from ucd_planners.selection.puct import PUCT, PUCT_PARAMETERS

PARAMETERS = record(
    *PUCT_PARAMETERS,
    *((name, np.int64) for name in ("considered", "playouts", "actions")),
    *((name, np.float64) for name in ("c_visit", "c_scale")),
)
"""Those of PUCT, the moves that are considered, the budget that they share, the actions of the game, and the two constants.
Behind the record are the draws g, one for each action."""
PARAMETER_BYTES, LEAST = np.uint64(PARAMETERS.itemsize), 2.0**-53
POLICY = types.void(BYTES, types.float64[::1])


@kernel(inline=True)
def draws(graph, p):
    """[actions] float64: g."""
    return array_at(graph.parameters + PARAMETER_BYTES, (p.actions,), REAL)


@kernel(SELECT)
def select(graph, sim, node, may_add):
    """At the root the best move of those that sequential halving visits now, else the choice of PUCT."""
    if node != graph.root or sim.path.columns > 0:
        return puct.select(graph, sim, node, may_add)
    p, source, listed = parameters(graph, PARAMETERS), nodes(graph)[node], actions(graph)
    first, count, legal = np.int64(source.first_action), np.int64(source.expanded), np.int64(source.legal)
    if count == 0:
        for i in range(first, first + legal):
            draws(graph, p)[np.int64(listed[i])] = -math.log(-math.log(max(unit(rng(sim)), LEAST)))
    wanted = visits_now(min(p.considered, legal), p.playouts, graph.playouts)
    choice = best_with(graph, p, wanted, legal if may_add else count)
    # At the limit of edges no move may have these visits.
    return choice if choice >= 0 else puct.select(graph, sim, node, may_add)


@kernel()
def visits_now(considered, playouts, done):
    """Returns the visits that the next move has had so far, when `done` of all playouts are over.

    Each phase visits its moves in rounds, all of them once in a round.
    """
    if considered <= 1:
        return np.int64(done)
    phases, visits, begun = np.int64(0), np.int64(0), np.int64(0)
    while 1 << phases < considered:
        phases += 1
    while True:
        rounds = max(np.int64(1), np.int64(playouts // (phases * considered)))
        if done < begun + rounds * considered:
            return np.int64(visits + (done - begun) // considered)
        begun, visits = begun + rounds * considered, visits + rounds
        considered = max(np.int64(2), considered // 2)


@kernel()
def best_with(graph, p, visits, count):
    """Returns the place of the best of the first `count` actions of the root with this number of visits, the first of equal
    ones; -1 for none."""
    source, given = nodes(graph)[graph.root], initial_stats(graph)
    first, listed, factor = np.int64(source.first_edge), np.int64(source.first_action), factor_of(graph, p)
    best, most = np.int64(-1), -np.inf
    for i in range(count):
        if visits != (np.int64(edges(graph)[first + i].visits) if i < np.int64(source.expanded) else 0):
            continue
        action, prior = np.int64(actions(graph)[listed + i]), np.float64(given[listed + i, 0])
        score = draws(graph, p)[action] + (math.log(prior) if prior > 0.0 else -np.inf)
        if visits > 0:
            score += factor * mean_value(graph)[first + i]
        if best < 0 or score > most:
            best, most = np.int64(i), score
    return best


@kernel()
def most_visits(graph):
    """The largest number of visits of a root's move."""
    source, most = nodes(graph)[graph.root], np.int64(0)
    for number in range(np.int64(source.first_edge), np.int64(source.first_edge) + np.int64(source.expanded)):
        most = max(most, np.int64(edges(graph)[number].visits))
    return most


@kernel()
def factor_of(graph, p):
    """sigma(q) / q."""
    return (p.c_visit + most_visits(graph)) * p.c_scale


@kernel()
def final_action(graph):
    """Returns the move to play: the best one of those with the most visits. Needs a visit."""
    p, source = parameters(graph, PARAMETERS), nodes(graph)[graph.root]
    choice = best_with(graph, p, most_visits(graph), np.int64(source.expanded))
    return np.int64(edges(graph)[np.int64(source.first_edge) + choice].action)


@kernel()
def improve(graph, policy):
    """Writes the improved policy, [actions], 0 for illegal actions. Needs a visit."""
    p, source, given, means = parameters(graph, PARAMETERS), nodes(graph)[graph.root], initial_stats(graph), mean_value(graph)
    first, listed, legal = np.int64(source.first_edge), np.int64(source.first_action), np.int64(source.legal)
    count, visits, weight, total = np.int64(source.expanded), 0.0, 0.0, 0.0
    for i in range(count):
        visits += edges(graph)[first + i].visits
        weight += given[listed + i, 0]
        total += given[listed + i, 0] * means[first + i]
    known = total / weight if weight > 0.0 else np.float64(given[listed + legal, 0])
    value, factor = (given[listed + legal, 0] + visits * known) / (1.0 + visits), factor_of(graph, p)
    most, whole = value, 0.0
    for i in range(count):
        most = max(most, means[first + i])
    for action in range(policy.size):
        policy[action] = 0.0
    for i in range(legal):
        mean = means[first + i] if i < count else value
        share = given[listed + i, 0] * math.exp(factor * (mean - most))
        policy[np.int64(actions(graph)[listed + i])] = share
        whole += share
    for action in range(policy.size):
        policy[action] /= whole


@kernel(types.int64(BYTES))
def final_of(graph_bytes):
    """The move to play after a search."""
    return final_action(fields(graph_bytes, GRAPH))


@kernel(POLICY)
def policy_of(graph_bytes, policy):
    """The improved policy after a search."""
    improve(fields(graph_bytes, GRAPH), policy)


@dataclass(frozen=True)
class GumbelPUCT(PUCT):
    """PUCT with Gumbel root selection.

    considered: moves at the root among which the budget is divided, 1 or more; c_visit, c_scale: how much values weigh beside
    priors, 0 or more [Danihelka et al. 2022]; the others: as in PUCT. It goes with a budget in playouts, and without noise,
    several leaves in flight, reuse_graph and stop_early. Raises TypeError or ValueError otherwise.
    """

    divides_budget = True
    select_kernel = select
    considered: int = 16
    c_visit: float = 50.0
    c_scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        integer("considered", self.considered, 1, 2**16)
        for name in ("c_visit", "c_scale"):
            if not 0 <= real(name, getattr(self, name)) < math.inf:
                raise ValueError(f"{name} must be a number, 0 or more, not {getattr(self, name)!r}")

    def parameters(self, players: int, actions: int) -> np.ndarray:
        """Returns the record that its kernels read, with room for the draws behind it."""
        own: dict[str, Any] = {"considered": self.considered, "playouts": 1, "actions": actions}
        own |= {"c_visit": float(self.c_visit), "c_scale": float(self.c_scale)}
        known = configuration(PARAMETERS, **self.parameter_values(players), **own)
        return np.concatenate([known, np.zeros(8 * actions, np.uint8)])

    def final_move(self, graph: np.ndarray) -> int:
        """Returns the move to play after a search, given the record of its graph."""
        return int(final_of(graph))

    def policy(self, graph: np.ndarray, actions: int) -> np.ndarray:
        """Returns the improved policy after a search: [actions] float, 0 for illegal ones."""
        found = np.empty(actions)
        policy_of(graph, found)
        return found

    def divide(self, parameters: np.ndarray, playouts: int) -> None:
        """Writes the budget of the next search where the kernels read it."""
        parameters[: PARAMETERS.itemsize].view(PARAMETERS)[0]["playouts"] = playouts
