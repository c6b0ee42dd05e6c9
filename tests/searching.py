"""A compiled search run one playout at a time, and its graph held against the exact fractions of tests/oracle.py.

The path of a playout is read as actions and played again from the start, so that positions, the ends of games and, in a tree,
the ways to a position come from the rules of the game and not from the graph.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import Any

import hash_game
import numpy as np
import oracle

import ucd_envs
from ucd_envs.kernels import CHANCE
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_planners.planner import Planner
from ucd_planners.search.interface import Selection
from ucd_planners.search.storage import Graph
from ucd_planners.selection.ucd import UCD
from ucd_planners.selection.update_all import UpdateAll
from ucd_planners.worker import Budget, Stop, Worker

C = 0.3
INF = math.inf
Name = Hashable
"""Of a position: its words, or in a tree the moves that lead to it from the root."""
Path = list[tuple[Name, int, Name | None]]


class Search:
    """A search in steps of one playout; its arrays begin as small as they can be, and grow on the way."""

    def __init__(self, start: State, selection: Selection, seed: int = 0, most_edges: int = 2**20, **options: Any) -> None:
        planner = Planner(selection, playouts=1, max_nodes=most_edges + 1, **options)
        self.worker, self.seed, self.searches = Worker(planner._settings, start.rules, 1), seed, 0
        self.tree = not selection.layout(start.rules.players, start.rules.actions).merges
        self.begin(start)

    def begin(self, start: State) -> None:
        """Another search of the same planner, from this state."""
        self.start = start
        self.states: dict[Name, State] = {self.name(start, ()): start}
        self.chances: dict[Name, dict[Hashable, oracle.Fraction]] = {}
        self.worker.begin(start, seeded(self.seed, self.searches), None, Stop(), Budget(2**20, None, None, "visits"))
        self.searches += 1

    def name(self, state: State, moves: tuple[int, ...]) -> Name:
        """What a position is called after these moves from the root."""
        return moves if self.tree else state.key

    @property
    def graph(self) -> Graph:
        """The graph as it is now."""
        return self.worker.graph

    @property
    def root(self) -> int:
        """The node where descents start."""
        return self.graph.root

    def step(self) -> tuple[Path, list[float]]:
        """One playout: its path, with None for the end of the game, and its payoffs."""
        graph, path = self.graph, self.worker.sim.path
        path[1].fill(-1)
        self.run(graph.playouts + 1)
        log: Path = []
        state, moves = self.start, ()
        for number in path[1, path[1] >= 0].tolist():
            action = int(graph.edges[number]["action"])
            child, longer = state.after(action), (*moves, action)
            log.append((self.name(state, moves), action, None if child.over else self.name(child, longer)))
            self.states.setdefault(self.name(child, longer), child)
            if child.player == CHANCE and child.rules.knows_probabilities:
                self.chances[self.name(child, longer)] = {
                    outcome: oracle.Fraction(child.rules.kernels.probability(child.rules.config, child.array(), outcome))
                    for outcome in child.legal_actions()
                }
            state, moves = child, longer
        return log, self.worker.sim.payoffs.tolist()

    def run(self, goal: int) -> None:
        """Plays until the graph has had so many playouts."""
        self.worker.simulate(goal)

    def steps(self, playouts: int) -> Iterator[tuple[Path, list[float]]]:
        """So many playouts."""
        return (self.step() for _ in range(playouts))

    def key_of(self, node: int) -> bytes:
        """The key of a node's position, as `State.key` has it."""
        return self.graph.keys[node].tobytes() + int(self.graph.nodes[node]["ply"]).to_bytes(8, "little")

    def nodes(self) -> Iterator[tuple[int, Name]]:
        """Every node that edges lead to from the root, with its position as the graph has it; in a tree, the moves to it."""
        queue: list[tuple[int, tuple[int, ...]]] = [(self.root, ())]
        found = {self.root}
        for node, moves in queue:
            yield node, moves if self.tree else self.key_of(node)
            for edge in self.graph.edges[self.graph.block(node)]:
                target = int(edge["target"])
                if target >= 0 and target not in found:
                    found.add(target)
                    queue.append((target, (*moves, int(edge["action"]))))

    def edges(self) -> Iterator[tuple[int, int, oracle.Edge]]:
        """Every edge below the root: its number, its source's mover, and its name in the oracle."""
        for node, name in self.nodes():
            block = self.graph.block(node)
            for number in range(block.start, block.stop):
                yield number, int(self.graph.nodes[node]["mover"]), (name, int(self.graph.edges[number]["action"]))


def random_games(seed: int, **settings: Any) -> list[State]:
    """The starts of random games for one, two and three players, with several ways to most positions."""
    sizes = {"width": 6, "branching": 4, "plies": 7, **settings}
    return [hash_game.rules(seed=seed, players=players, **sizes).initial_state() for players in (1, 2, 3)]


def real_games() -> list[State]:
    """Positions of the package's games from which a few playouts meet many transpositions."""
    starts = [
        (ucd_envs.make_rules("tic_tac_toe"), (4, 0, 8)),
        (ucd_envs.make_rules("hex", size=3), (0, 8, 4)),
        (ucd_envs.make_rules("connect_four", columns=4, rows=4), (0, 0, 1, 1, 3, 2)),
        (ucd_envs.make_rules("leftright", steps=12), ()),
    ]
    return [after(rules, *actions) for rules, actions in starts]


def after(rules: Rules, *actions: int) -> State:
    """The state after so many moves."""
    state = rules.initial_state()
    for action in actions:
        state = state.after(action)
    return state


def close(left: float | np.ndarray, right: Any) -> bool:
    """Whether floating-point numbers are these fractions, up to 1e-9 of their size."""
    return bool(np.allclose(left, np.array(right, float), rtol=1e-9, atol=1e-12))


def scaled_log(c: float, visits: Any) -> float:
    """c sqrt(log p); 0 for p <= 1."""
    return c * math.sqrt(math.log(visits)) if visits > 1 else 0.0


def log_of(selection: Any, players: int) -> Any:
    """An empty log that computes what this selection should keep."""
    if isinstance(selection, UpdateAll):
        return oracle.UpdateAll(players)
    if selection.backup == "section_3_4":
        return oracle.Section34(players, selection.d1, selection.d2, selection.d3)
    return oracle.Places(players) if selection.store == "nodes" else oracle.Oracle(players)


def bound_of(log: Any, selection: Any, edge: oracle.Edge, mover: int) -> float:
    """The bound of a tried move for its mover, by the log."""
    if isinstance(log, oracle.UpdateAll):
        return log.value(edge, selection.c, mover)
    if isinstance(log, oracle.Section34):
        weight = scaled_log(selection.c, log.parent_visits(edge[0]))
        return float(log.cached_mean(edge)[mover]) + weight / math.sqrt(log.cached_visits(edge))
    return log.value(edge, selection.d1, selection.d2, selection.d3, selection.c, mover)


def assert_right(search: Search, log: Any, selection: Any) -> None:
    """What the graph keeps is what the log says: raw numbers, and what the selection makes of them."""
    if isinstance(log, oracle.UpdateAll):
        assert_update_all(search, log, selection)
    elif isinstance(log, oracle.Section34):
        assert_section_3_4(search, log, selection)
    else:
        assert_definition(search, log, selection)


def assert_log(search: Search, log: oracle.Descents) -> None:
    """n, w, n', w' of every edge are those of the log, and no edge is missing."""
    graph, names, at_nodes = search.graph, [], isinstance(log, oracle.Places)
    for number, _, edge in search.edges():
        elsewhere = at_nodes and log.target[edge] is not None
        assert graph.edges[number]["visits"] == log.n[edge]
        assert graph.edges[number]["leaf_visits"] == (0 if elsewhere else log.n_end[edge])
        assert close(graph.edge_stats[number, : log.players], log.w[edge])
        if "leaf_value_sum[0]" in graph.layout.edge_stats and not elsewhere:
            assert close(graph.edge_stats[number, log.players : 2 * log.players], log.w_end[edge])
        names.append(edge)
    assert sorted(names) == sorted(edge for edge in log.edges() if edge[0] in log.reached(name_of_root(search)))


def name_of_root(search: Search) -> Name:
    """The root's position."""
    return next(name for _, name in search.nodes())


def assert_links(search: Search, log: oracle.Graph) -> None:
    """Every edge leads where its move leads, and every position of the log is one node; in a tree, one at most."""
    names, graph = dict(search.nodes()), search.graph
    for number, _, edge in search.edges():
        target = int(graph.edges[number]["target"])
        if target >= 0 or not search.tree:
            assert names.get(target) == log.target[edge]
    assert len(set(names.values())) == len(names)
    reached = log.reached(names[search.root])
    assert set(names.values()) <= reached
    assert search.tree or set(names.values()) == reached


def assert_definition(search: Search, log: oracle.Oracle, selection: UCD) -> None:
    """Means, visits, weights and level sums everywhere below the root are those of equations 9-13."""
    graph, d1, d2, d3 = search.graph, selection.d1, selection.d2, selection.d3
    assert_log(search, log)
    assert_links(search, log)
    for number, mover, edge in search.edges():
        if mover == CHANCE:
            continue
        assert close(graph.mean_value[number], log.mean(edge, d1)[mover])
        assert close(graph.exploration[number], 1 / math.sqrt(log.visits(edge, d3)))
    last_a, b_levels = selection.levels()
    levels_a = [*range(last_a + 1), *([INF] if INF in (d2, d3) else [])]
    levels_b = [INF] if d1 == INF else [*range(b_levels)]
    zero = oracle.Fraction(0), log.zero
    for node, name in search.nodes():
        out = log.out.get(name, [])
        here = (log.n_here[name], log.w_here[name]) if isinstance(log, oracle.Places) else zero
        if isinstance(log, oracle.Places) and log.has_come(name):
            here = here[0], log.zero
        a = [here[0] + sum(log.visits(f, d) for f in out) for d in levels_a]
        sums = [oracle.add(here[1], log.passed(name, {f: log.mean(f, d) for f in out})) for d in levels_b]
        b = [total for entry in sums for total in entry]
        assert graph.node_stats[node, 1 : 1 + len(a)].tolist() == [float(count) for count in a]
        assert close(graph.node_stats[node, 1 + len(a) :], b)
        parent_visits = log.parent_visits(name, d2) if out else here[0]
        assert close(graph.node_stats[node, 0], scaled_log(selection.c, parent_visits))


def assert_section_3_4(search: Search, log: oracle.Section34, selection: UCD) -> None:
    """Means, visits and weights are what the rule of that section, executed step by step, has cached."""
    graph = search.graph
    assert_log(search, log)
    for number, mover, edge in search.edges():
        assert close(graph.mean_value[number], log.cached_mean(edge)[mover])
        assert close(graph.exploration[number], 1 / math.sqrt(log.cached_visits(edge)))
    for node, name in search.nodes():
        assert close(graph.node_stats[node, 0], scaled_log(selection.c, log.parent_visits(name)))


def assert_update_all(search: Search, log: oracle.UpdateAll, selection: UpdateAll) -> None:
    """n, w and what selection makes of them, everywhere in the graph."""
    graph, names = search.graph, []
    for number, mover, edge in search.edges():
        assert graph.edges[number]["visits"] == log.visits(edge)
        assert close(graph.edge_stats[number, : log.players], log.w[edge])
        if mover != CHANCE:
            assert close(graph.mean_value[number], log.mean(edge)[mover])
        assert close(graph.exploration[number], 1 / math.sqrt(log.visits(edge)))
        names.append(edge)
    assert sorted(names) == sorted(edge for edge in log.edges() if edge[0] in log.reached(name_of_root(search)))
    for node, name in search.nodes():
        assert close(graph.node_stats[node, 0], scaled_log(selection.c, sum(log.visits(f) for f in log.out.get(name, []))))


def assert_exact(start: State, selection: Any, playouts: int, looks: set[int], **options: Any) -> Search:
    """The whole graph agrees with the log after the playouts of these numbers; options are those of `Search`."""
    search, log = Search(start, selection, **options), log_of(selection, start.rules.players)
    for number, (path, payoffs) in enumerate(search.steps(playouts), 1):
        log.record(path, payoffs)
        if isinstance(log, oracle.Oracle):
            log.chances = search.chances
        if number in looks:
            assert_right(search, log, selection)
            assert search.graph.edge_count == len(log.edges())
            assert search.tree or search.graph.node_count == len(log.positions())
    return search
