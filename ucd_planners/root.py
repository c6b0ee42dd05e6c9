"""Statistics of the moves at the root of search graphs, and the choice of one of them.

In a grouped game the root's edges may be picks of groups, and its moves lie behind them. A move of several groups then has the
visits of all its edges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numba import types

from ucd_envs.kernels import BYTES, kernel
from ucd_envs.rng import below, unit
from ucd_envs.rules import State
from ucd_envs.structs import fields
from ucd_planners.intervals import wilson
from ucd_planners.search.graph import FINISHED, GRAPH, edges, mean_value, nodes
from ucd_planners.search.interface import divides_budget
from ucd_planners.search.storage import Graph


class Tried(NamedTuple):
    """Actions with their statistics over all graphs, one entry an action."""

    actions: np.ndarray
    """Ascending: [actions] int."""
    visits: np.ndarray
    totals: np.ndarray
    """Visits times mean payoffs of the player to move: [actions] float."""
    wins: np.ndarray
    """Whether an action ends the game with a payoff of 1 for the player to move: [actions] bool."""

    @property
    def values(self) -> np.ndarray:
        """Mean payoffs of the player to move, NaN without visits: [actions] float."""
        with np.errstate(invalid="ignore"):
            means: np.ndarray = self.totals / self.visits
        return means

    def place(self, final_move: str, rng: np.ndarray) -> int:
        """Returns the place of the action that a final rule chooses: among those that win at once, if there are any."""
        places = np.flatnonzero(self.wins) if self.wins.any() else np.arange(len(self.actions))
        return int(places[FINALS[final_move](self.visits[places], self.values[places], rng)])


def only_at(graph: Graph, node: int) -> np.ndarray:
    """Returns the numbers of a node's edges: [edges] int."""
    block = graph.block(node)
    return np.arange(block.start, block.stop)


def moves_at(graph: Graph, node: int) -> np.ndarray:
    """Returns the numbers of the edges that are moves from a node's position, also behind picks of groups: [edges] int."""
    numbers = only_at(graph, node)
    picks = graph.edges["action"][numbers] >= graph.moves
    if not picks.any():
        return numbers
    targets = graph.edges["target"][numbers[picks]]
    return np.concatenate([numbers[~picks], *(only_at(graph, int(target)) for target in targets if target >= 0)])


def winning(graph: Graph, numbers: np.ndarray) -> np.ndarray:
    """Returns of each edge whether it ended the game with a payoff of 1 for the player to move: [edges] bool."""
    ended: np.ndarray = graph.edges["target"][numbers] == FINISHED
    ended &= graph.mean_value[numbers] >= 1.0
    return ended


def tried(graphs: Sequence[Graph], numbers: Sequence[np.ndarray], actions: np.ndarray | None = None) -> Tried:
    """Adds up edges of several graphs by their actions: `actions`, ascending, or by default those that the edges have."""
    if actions is None:
        found = [graph.edges["action"][these] for graph, these in zip(graphs, numbers, strict=True)]
        actions = np.unique(np.concatenate(found)).astype(np.int64)
    visits, totals, wins = np.zeros(len(actions), np.int64), np.zeros(len(actions)), np.zeros(len(actions), bool)
    for graph, these in zip(graphs, numbers, strict=True):
        records = graph.edges[these]
        place = np.searchsorted(actions, records["action"])
        np.add.at(visits, place, records["visits"])
        np.logical_or.at(wins, place, winning(graph, these))
        np.add.at(totals, place, np.where(records["visits"] > 0, records["visits"] * graph.mean_value[these], 0.0))
    return Tried(actions, visits, totals, wins)


def root_moves(graphs: Sequence[Graph], state: State) -> Tried:
    """Returns all legal moves of the root with their statistics."""
    first = graphs[0]
    if first.grouped:
        legal = np.array(state.legal_actions(), np.int64)
    else:
        root = first.nodes[first.root]
        start = int(root["first_action"])
        legal = np.sort(first.actions[start : start + int(root["legal"])].astype(np.int64))
    return tried(graphs, [moves_at(graph, graph.root) for graph in graphs], legal)


def root_edges(graphs: Sequence[Graph], found: Tried) -> Tried:
    """Returns the root's own edges with their statistics, given its moves, which they are but in a grouped game."""
    return tried(graphs, [only_at(graph, graph.root) for graph in graphs]) if graphs[0].grouped else found


def chosen(graphs: Sequence[Graph], final_move: str, rng: np.ndarray, state: State, temperature: float = 0.0) -> int:
    """Returns the move that the final rule chooses: in a grouped game first among the root's own edges, then in the group.

    temperature: above 0 a move is drawn as in `drawn`.
    """
    if temperature == 0.0 and final_move in ("visits", "mean") and len(graphs) == 1 and not divides_budget(graphs[0].selection):
        # One best action needs no sums and no draw: most of the time of a search of few playouts.
        action = int(clearly_best(graphs[0].header, graphs[0].moves, final_move == "mean"))
        if action >= 0:
            return action
    return of_moves(graphs, root_moves(graphs, state), final_move, rng, temperature)


def of_moves(graphs: Sequence[Graph], found: Tried, final_move: str, rng: np.ndarray, temperature: float = 0.0) -> int:
    """Returns the move that the final rule chooses, given the root's moves."""
    if temperature == 0.0 and divides_budget(graphs[0].selection):
        return int(graphs[0].selection.final_move(graphs[0].header))
    if temperature > 0.0:
        return int(found.actions[drawn(found.visits, temperature, rng)])
    own = root_edges(graphs, found)
    if not found.wins.any() and len(own.actions) and own.actions[-1] >= graphs[0].moves:
        choice = int(own.actions[own.place(final_move, rng)])
        if choice < graphs[0].moves:
            return choice
        behind = [behind_pick(graph, choice) for graph in graphs]
        if any(map(len, behind)):
            found = tried(graphs, behind)
    return int(found.actions[found.place(final_move, rng)])


def behind_pick(graph: Graph, pick: int) -> np.ndarray:
    """Returns the numbers of the edges behind the root's pick of a group: [edges] int, none where it was not tried."""
    numbers = only_at(graph, graph.root)
    targets = graph.edges["target"][numbers[graph.edges["action"][numbers] == pick]]
    return only_at(graph, int(targets[0])) if len(targets) and targets[0] >= 0 else numbers[:0]


@kernel(types.int64(BYTES, types.int64, types.boolean))
def clearly_best(graph_bytes, moves, by_mean):
    """Returns the root's move with the most visits, of several the one with the best mean, or the other way round; -1 where
    several are alike, and where a move has won. Picks of groups are actions from `moves` on: of the best pick the best move
    counts, -1 where it has none.
    """
    graph = fields(graph_bytes, GRAPH)
    root, records = nodes(graph)[graph.root], edges(graph)
    first, count = np.int64(root.first_edge), np.int64(root.expanded)
    if has_won(graph, first, count):
        return np.int64(-1)
    for number in range(first, first + count):
        if records[number].action >= moves and records[number].target >= 0:
            behind = nodes(graph)[records[number].target]
            if has_won(graph, np.int64(behind.first_edge), np.int64(behind.expanded)):
                return np.int64(-1)
    best = best_edge(graph, first, count, by_mean)
    if best >= 0 and records[best].action >= moves:
        if records[best].target < 0:
            return np.int64(-1)
        behind = nodes(graph)[records[best].target]
        best = best_edge(graph, np.int64(behind.first_edge), np.int64(behind.expanded), by_mean)
    return np.int64(records[best].action) if best >= 0 else np.int64(-1)


@kernel()
def has_won(graph, first, count):
    """Whether one of `count` edges from `first` on ended the game with a payoff of 1."""
    for number in range(first, first + count):
        if edges(graph)[number].target == FINISHED and mean_value(graph)[number] >= 1.0:
            return True
    return False


@kernel()
def best_edge(graph, first, count, by_mean):
    """Returns the edge with the most visits and then the best mean, or the other way round, of `count` edges from `first` on;
    -1 where several are alike, and without visits."""
    records, best, best_visits, best_mean, ties = edges(graph), np.int64(-1), 0.0, 0.0, 0
    for number in range(first, first + count):
        visits = np.float64(records[number].visits)
        if visits == 0.0:
            continue
        mean = visits * mean_value(graph)[number] / visits  # rounded as in `tried`
        more, better = visits > best_visits, mean > best_mean
        if best < 0 or (better or (mean == best_mean and more) if by_mean else more or (visits == best_visits and better)):
            best, best_visits, best_mean, ties = np.int64(number), visits, mean, 0
        elif visits == best_visits and mean == best_mean:
            ties += 1
    return best if ties == 0 else np.int64(-1)


def _most(keys: list[np.ndarray], rng: np.ndarray) -> int:
    """Returns the place of the largest first key, among equals of the second, and so on; at random where all are equal."""
    best = np.arange(len(keys[0]))
    for key in keys:
        best = best[key[best] == key[best].max()]
    return int(best[int(below(rng, np.uint64(len(best))))])


def drawn(visits: np.ndarray, temperature: float, rng: np.ndarray) -> int:
    """Returns a place drawn in proportion to visits^(1 / temperature) [Silver et al. 2018]. Needs a visit."""
    # Of logarithms, so that a small temperature does not overflow.
    with np.errstate(divide="ignore"):
        weights = np.exp((np.log(visits) - np.log(visits.max())) / temperature)
    bounds = np.cumsum(weights)
    return int(np.searchsorted(bounds, unit(rng) * bounds[-1], side="right"))


def by_visits(visits: np.ndarray, values: np.ndarray, rng: np.ndarray) -> int:
    """The robust child: most visits, then the best mean [Chaslot et al. 2008]."""
    return _most([visits, np.nan_to_num(values, nan=-1.0)], rng)


def by_mean(visits: np.ndarray, values: np.ndarray, rng: np.ndarray) -> int:
    """The max child: the best mean, then most visits [Chaslot et al. 2008]."""
    return _most([np.nan_to_num(values, nan=-1.0), visits], rng)


def by_lower_bound(visits: np.ndarray, values: np.ndarray, rng: np.ndarray) -> int:
    """The secure child: the best lower end of Wilson's 95% interval of the mean."""
    bounds = [wilson(value * count, count)[0] if count else -1.0 for value, count in zip(values, visits, strict=True)]
    return _most([np.array(bounds), visits], rng)


FINALS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], int]] = {
    "visits": by_visits,
    "mean": by_mean,
    "lower_bound": by_lower_bound,
}
"""The rules for the final move."""
