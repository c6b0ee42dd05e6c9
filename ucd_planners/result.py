"""SearchResult: everything a search has found out at its root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ucd_envs.rules import Rules, State
from ucd_planners.graph_view.searched import Searched
from ucd_planners.root import moves_at, of_moves, root_edges, root_moves
from ucd_planners.search.interface import divides_budget
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
    """Each move's prior P(a), with the root's noise, or its share of the payoffs of initial statistics: [moves] float, sums to
    1, or None for a planner without either and for one with groups."""
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
    """The end of the search: "playouts", "seconds", "interrupt", or "decided" where it may end early; "progress": nothing;
    "knowledge": there was none, and visits and values are those of the knowledge base."""
    workers: int
    seconds: float
    """Wall-clock time."""
    cpu_seconds: float
    """CPU time of all workers."""
    bytes: int
    """Memory of the graphs."""
    reused: int = 0
    """Visits of the root's edges before the search, from earlier ones in a kept graph [NoGo Table 3]. 0 for a search that began
    afresh, as every one from a position above the last root does. They are among `visits`, not among `playouts`."""
    _policy: np.ndarray | None = field(default=None, repr=False, compare=False)
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
        """Share of the playouts that went through each move, with Gumbel root selection the improved policy: [moves] float,
        sums to 1."""
        if self._policy is not None:
            return self._policy
        total = self.visits.sum()
        policy: np.ndarray = self.visits / total if total else np.full(len(self.visits), 1 / len(self.visits))
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
            f"{f', {self.reused} visits reused' if self.reused else ''}"
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
    temperature: float = 0.0,
) -> SearchResult:
    """Adds up the root statistics of graphs from one state."""
    found = root_moves(graphs, state)
    action = of_moves(graphs, found, final_move, rng, temperature)
    own = root_edges(graphs, found)
    widest = graphs[0] if len(graphs) == 1 else max(graphs, key=lambda graph: _visits_of(graph, action))
    in_tree = not graphs[0].layout.merges
    return SearchResult(
        action=action,
        actions=found.actions,
        visits=found.visits,
        values=found.values,
        priors=initial_shares(graphs[0]),
        value=float(own.totals.sum() / own.visits.sum()),
        principal_variation=variation(widest, action),
        state=state,
        playouts=sum(graph.playouts for graph in graphs),
        reused=sum(graph.reused for graph in graphs),
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
        _policy=own_policy(graphs[0], found.actions),
        _searched=searched,
    )


def own_policy(graph: Graph, actions: np.ndarray) -> np.ndarray | None:
    """Returns what a network should learn of a search by a selection that divides its budget, None for any other."""
    if not divides_budget(graph.selection):
        return None
    policy: np.ndarray = graph.selection.policy(graph.header, graph.moves)[actions]
    return policy


def initial_shares(graph: Graph) -> np.ndarray | None:
    """Returns each root action's prior, or its share of the payoffs of initial statistics, actions ascending: [legal] float,
    sums to 1.

    All shares are equal where nothing is known of any action. None for a graph without either and in a grouped game.
    """
    # A single column holds priors, or the probabilities of outcomes. In a grouped game moves lie behind picks.
    if (graph.record.actions.columns < 2 and not graph.layout.has_priors) or graph.grouped:
        return None
    root = graph.nodes[graph.root]
    listed = slice(int(root["first_action"]), int(root["first_action"]) + int(root["legal"]))
    payoffs = graph.initial_stats[listed, 0 if graph.layout.has_priors else 1][np.argsort(graph.actions[listed])].astype(
        np.float64
    )
    total = payoffs.sum()
    return payoffs / total if total > 0 else np.full(len(payoffs), 1 / len(payoffs))


def _visits_of(graph: Graph, action: int) -> int:
    records = graph.edges[moves_at(graph, graph.root)]
    return int(records["visits"][records["action"] == action].sum())


def variation(graph: Graph, action: int) -> list[int]:
    """Returns the action and then the most visited action of each node, to the end of the graph or a position that comes
    again. Picks of groups are left out.
    """
    records = _records_of(graph, graph.root)
    found = np.flatnonzero(records["action"] == action)
    if len(found) == 0:
        return [action]
    line, seen, place = [action], {graph.root}, int(found[int(np.argmax(records["visits"][found]))])
    while True:
        node = int(records["target"][place])
        if node < 0 or node in seen:
            return line
        records = _records_of(graph, node)
        if len(records) == 0:
            return line
        seen.add(node)
        place = int(records["visits"].argmax())
        line.append(int(records["action"][place]))


def _records_of(graph: Graph, node: int) -> np.ndarray:
    """Returns the edges that are moves from a node's position, also those behind picks of groups."""
    edges: np.ndarray = graph.edges
    return edges[moves_at(graph, node)] if graph.grouped else edges[graph.block(node)]
