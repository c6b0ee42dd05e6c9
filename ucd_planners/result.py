"""SearchResult: everything a search has found out at its root."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import types

from ucd_envs.kernels import BYTES, kernel
from ucd_envs.rng import below
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields
from ucd_planners.graph_view.searched import Searched
from ucd_planners.intervals import wilson
from ucd_planners.search.graph import FINISHED, GRAPH, edges, nodes
from ucd_planners.search.storage import Graph


@dataclass(frozen=True)
class SearchResult:
    """The moves of the root with their statistics, and figures about the search."""

    action: int
    """The move chosen by the final rule, among those that win at once if the search has tried one."""
    actions: np.ndarray
    """The legal actions, ascending: [moves] int."""
    visits: np.ndarray
    """Playouts through each: [moves] int. With update-all, playouts whose leaf lies below it, by any way: a playout may count
    for several moves of the root, once for each, so they may sum to more than `playouts`."""
    values: np.ndarray
    """Mean payoff of the player to move in [0, 1], as the selection sees it; NaN where there is no playout: [moves] float."""
    priors: np.ndarray | None
    """Each move's share of the payoffs of initial statistics: [moves] float, sums to 1, or None for a planner without them."""
    value: float
    """Mean payoff of the player to move over all playouts, in [0, 1]."""
    principal_variation: list[int]
    """The chosen action and then the most visited moves."""
    state: State
    """The position of the root, which names actions."""
    playouts: int
    nodes: int
    """Positions in the graph, the root among them; in a tree each tried move is one."""
    edges: int
    """Moves tried anywhere."""
    transpositions: int
    """Edges that led to a position that the graph had already."""
    depth: int
    """Plies of the longest descent."""
    full: bool
    """Whether the graph reached its limit and stopped growing."""
    stopped: str
    """The end of the search: "playouts", "seconds", "interrupt", or "decided" where it may end early; "progress": nothing."""
    workers: int
    seconds: float
    """Wall-clock time."""
    cpu_seconds: float
    """CPU time of all workers."""
    bytes: int
    """Memory of the graphs."""
    _searched: Searched = field(default_factory=Searched, repr=False, compare=False)

    @property
    def playouts_per_second(self) -> float:
        """Playouts per second of wall-clock time."""
        return self.playouts / max(self.seconds, 1e-9)

    def names(self, action: int) -> str:
        """Returns the text of an action of the root."""
        return self.state.action_name(action)

    def names_of(self, line: Sequence[int]) -> list[str]:
        """Returns the texts of actions that follow one another from the root."""
        names, state = [], self.state
        for place, action in enumerate(line):
            names.append(state.action_name(action))
            if state.rules.rooted is None and place + 1 < len(line):
                state = state.after(action)
        return names

    @property
    def rules(self) -> Rules:
        """The game."""
        return self.state.rules

    @property
    def policy(self) -> np.ndarray:
        """Share of the playouts that went through each move: [moves] float, sums to 1."""
        policy: np.ndarray = self.visits / self.visits.sum()
        return policy

    def to_networkx(self, most: int | None = None) -> Any:
        """The searched graph, of the first worker if there are several, as a networkx.MultiDiGraph: see graph_view.networkx.

        most: the number of positions to keep, the most visited ones. The graph is the planner's memory: raises ValueError when
        the planner has searched again or been reset since, and for a result that was copied or pickled, ImportError without
        networkx.
        """
        return self._searched.to_networkx(most)

    def __str__(self) -> str:
        order = np.argsort(-self.visits, kind="stable")[:8]
        lines = [f"{'move':>6} {'visits':>9} {'value':>7}"]
        lines += [f"{self.names(int(self.actions[i])):>6} {self.visits[i]:9} {self.values[i]:7.3f}" for i in order]
        lines.append("variation  " + " ".join(self.names_of(self.principal_variation)))
        lines.append(
            f"{self.playouts} playouts, {self.playouts_per_second:,.0f}/s, {self.nodes} nodes, {self.edges} edges, "
            f"{self.transpositions} transpositions, depth {self.depth}{', graph full' if self.full else ''}"
        )
        return "\n".join(lines)


def summary(
    state: State,
    graphs: list[Graph],
    *,
    final_move: str,
    seconds: float,
    cpu_seconds: float,
    stopped: str,
    rng: np.ndarray,
    searched: Searched,
) -> SearchResult:
    """Adds up the root statistics of graphs from one state."""
    actions, visits, totals, values, wins = _root_statistics(graphs)
    action = int(actions[_place(final_move, visits, values, wins, rng)])
    widest = max(graphs, key=lambda graph: _visits_of(graph, action))
    in_tree = not graphs[0].layout.merges
    return SearchResult(
        action=action,
        actions=actions,
        visits=visits,
        values=values,
        priors=initial_shares(graphs[0]),
        value=float(totals.sum() / visits.sum()),
        principal_variation=variation(widest, action),
        state=state,
        playouts=sum(graph.playouts for graph in graphs),
        nodes=sum(graph.edge_count + 1 if in_tree else graph.node_count for graph in graphs),
        edges=sum(graph.edge_count for graph in graphs),
        transpositions=sum(graph.transpositions for graph in graphs),
        depth=max(graph.depth for graph in graphs),
        full=any(graph.edge_count >= graph.most_edges for graph in graphs),
        stopped=stopped,
        workers=len(graphs),
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        bytes=sum(graph.bytes for graph in graphs),
        _searched=searched,
    )


def chosen(graphs: list[Graph], final_move: str, rng: np.ndarray) -> int:
    """Returns the action that the final rule chooses."""
    if final_move == "visits" and len(graphs) == 1:
        # One most visited action needs no sums and no tie to break: most of the time of a search of few playouts.
        action = only_most_visited(graphs[0].header)
        if action >= 0:
            return int(action)
    actions, visits, _, values, wins = _root_statistics(graphs)
    return int(actions[_place(final_move, visits, values, wins, rng)])


@kernel(types.int64(BYTES))
def only_most_visited(graph_bytes):
    """Returns the root's most visited action, -1 where several are or where a move has ended the game and may be a win."""
    graph = fields(graph_bytes, GRAPH)
    root, records = nodes(graph)[graph.root], edges(graph)
    first, count, best, ties = np.int64(root.first_edge), np.int64(root.expanded), np.int64(-1), 0
    for number in range(first, first + count):
        if records[number].target == FINISHED:
            return np.int64(-1)
        if best < 0 or records[number].visits > records[best].visits:
            best, ties = np.int64(number), 0
        elif records[number].visits == records[best].visits:
            ties += 1
    return np.int64(records[best].action) if best >= 0 and ties == 0 else np.int64(-1)


def winning(graph: Graph) -> np.ndarray:
    """Returns of each edge of the root whether it ended the game with a payoff of 1 for the player to move: [edges] bool."""
    block = graph.block(graph.root)
    ended: np.ndarray = graph.edges[block]["target"] == FINISHED
    ended &= graph.mean_value[block] >= 1.0
    return ended


def _place(final_move: str, visits: np.ndarray, values: np.ndarray, wins: np.ndarray, rng: np.ndarray) -> int:
    """The place of the move that a final rule chooses: among those that win at once, if there are any."""
    if not wins.any():
        return FINALS[final_move](visits, values, rng)
    places = np.flatnonzero(wins)
    return int(places[FINALS[final_move](visits[places], values[places], rng)])


def _root_statistics(graphs: list[Graph]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The root's actions, ascending, with their visits, sums of values, means, and whether they win at once: [legal] each."""
    first = graphs[0]
    root = first.nodes[first.root]
    start = int(root["first_action"])
    actions = np.sort(first.actions[start : start + int(root["legal"])].astype(np.int64))
    visits = np.zeros(len(actions), np.int64)
    totals = np.zeros(len(actions))
    wins = np.zeros(len(actions), bool)
    for graph in graphs:
        block = graph.block(graph.root)
        tried = graph.edges[block]
        place = np.searchsorted(actions, tried["action"])
        visits[place] += tried["visits"]
        wins[place] |= winning(graph)
        totals[place] += np.where(tried["visits"] > 0, tried["visits"] * graph.mean_value[block], 0.0)
    with np.errstate(invalid="ignore"):
        values = totals / visits
    return actions, visits, totals, values, wins


def initial_shares(graph: Graph) -> np.ndarray | None:
    """Returns each root action's share of the payoffs of initial statistics, actions ascending: [legal] float, sums to 1.

    All shares are equal where nothing is known of any action. None for a graph without initial statistics.
    """
    # A single column holds the probabilities of outcomes.
    if graph.record.actions.columns < 2:
        return None
    root = graph.nodes[graph.root]
    listed = slice(int(root["first_action"]), int(root["first_action"]) + int(root["legal"]))
    payoffs = graph.initial_stats[listed, 1][np.argsort(graph.actions[listed])].astype(np.float64)
    total = payoffs.sum()
    return payoffs / total if total > 0 else np.full(len(payoffs), 1 / len(payoffs))


def _visits_of(graph: Graph, action: int) -> int:
    block = graph.edges[graph.block(graph.root)]
    return int(block["visits"][block["action"] == action].sum())


def variation(graph: Graph, action: int) -> list[int]:
    """Returns the action and then the most visited action of each node, to the end of the graph or a position that comes
    again.
    """
    line, node, wanted, seen = [], graph.root, action, {graph.root}
    while True:
        line.append(wanted)
        block = graph.edges[graph.block(node)]
        found = np.flatnonzero(block["action"] == wanted)
        if len(found) == 0:
            return line
        node = int(block["target"][found[0]])
        if node < 0 or node in seen or graph.nodes[node]["expanded"] == 0:
            return line
        seen.add(node)
        below_it = graph.edges[graph.block(node)]
        wanted = int(below_it["action"][int(np.argmax(below_it["visits"]))])


def _most(keys: list[np.ndarray], rng: np.ndarray) -> int:
    """Returns the place of the largest first key, among equals of the second, and so on; at random where all are equal."""
    best = np.arange(len(keys[0]))
    for key in keys:
        best = best[key[best] == key[best].max()]
    return int(best[int(below(rng, np.uint64(len(best))))])


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
