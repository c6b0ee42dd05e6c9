"""RAVE, RAVE-UCD and GRAVE: what the graph keeps and what is chosen, against the definitions in fractions of rave_oracle.py.

The compiled search runs one simulation at a time. The path and the playout's moves that it leaves are played again by the rules
of the game and go into the oracle's list, from which every number and every choice is worked out anew. Cases: /cases.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import cycle, product
from typing import Any

import hash_game
import numpy as np
import pytest
import rave_oracle
from searching import INF, Name, Path, Search, after, assert_definition, random_games

import ucd_envs
from ucd_envs.kernels import CHANCE
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_planners import Planner, SearchResult, grave, rave, rave_ucd
from ucd_planners.notation import planner_from
from ucd_planners.presets import PRESETS
from ucd_planners.search.storage import Graph
from ucd_planners.selection.rave import RAVE
from ucd_planners.selection.ucd import UCD
from ucd_planners.worker import Budget, Stop

BIASES, CONSTANTS, REFS, DEPTHS = (0, 0.001, 0.5), (0, 0.4), (0, 5, 50), (0, 1, 2, INF)
SELECTIONS = [
    *(RAVE(bias, c, ref=ref) for bias, c, ref in product(BIASES, CONSTANTS, REFS)),
    *(RAVE(bias, c, True, depth, ref=ref) for bias, c, depth, ref in product(BIASES, CONSTANTS, DEPTHS, REFS)),
    *(RAVE(bias, c, True, depth, 1) for bias, c, depth in product(BIASES, CONSTANTS, DEPTHS)),
]
FEW = [
    RAVE(0.001, 0.4, revisit=8),
    RAVE(0, 0, ref=5),
    RAVE(0.001, 0, True, 0, 0, ref=5),
    RAVE(0.5, 0.4, True, 2, 0, revisit=8),
    RAVE(0.001, 0, True, 0, 1),
    RAVE(0, 0.4, True, INF, 1),
]


def told(selection: RAVE) -> str:
    """A selection as the name of a test."""
    kind = f"mean {selection.depth_mean} rave {selection.depth_rave}" if selection.table else "tree"
    return f"{kind} ref {selection.ref} bias {selection.bias} c {selection.c}"


every_selection = pytest.mark.parametrize("selection", FEW, ids=told)
every_add = pytest.mark.parametrize("add", ["first", "all"])

PLANNERS: dict[str, Callable[..., Planner]] = {
    "rave": rave,
    "rave_c": partial(rave, c=0.3),
    "rave_ucd_0": partial(rave_ucd, depth_rave=0, depth_mean=1),
    "rave_ucd_1": rave_ucd,
    "rave_ucd_inf": partial(rave_ucd, depth_mean=INF),
    "grave": partial(grave, ref=10),
}
every_planner = pytest.mark.parametrize("planner", PLANNERS.values(), ids=PLANNERS)


def real_games() -> list[State]:
    """Small positions of the package's games, whose payoffs are multiples of 1/16."""
    starts = [
        (ucd_envs.make_rules("tic_tac_toe"), (4, 0)),
        (ucd_envs.make_rules("hex", size=3), (0, 8, 4)),
        (ucd_envs.make_rules("hex", size=4, swap=True), ()),
        (ucd_envs.make_rules("go", size=3, komi=0), (4,)),
        (ucd_envs.make_rules("go", size=4, komi=1, ko="positional"), ()),
        (ucd_envs.make_rules("leftright", steps=16), ()),
    ]
    return [after(rules, *actions) for rules, actions in starts]


# The search, one simulation at a time


class Simulations(Search):
    """A search of which each simulation is read whole: its path and the moves of its playout."""

    prefix: tuple[int, ...] = ()
    """In a tree, the moves that led from the first root to this one."""

    def name(self, state: State, moves: tuple[int, ...]) -> Name:
        """What a position is called after these moves from the root."""
        return (*self.prefix, *moves) if self.tree else state.key

    def nodes(self) -> Iterator[tuple[int, Name]]:
        """Every node that edges lead to from the root."""
        return ((node, (*self.prefix, *name) if self.tree else name) for node, name in super().nodes())

    def simulation(self) -> tuple[Path, list[int], list[rave_oracle.Move], list[float]]:
        """One simulation, as the oracle records it; its playout ends the game, with the payoffs that the search has read."""
        path, payoffs = self.step()
        movers = [self.states[source].player for source, _, _ in path]
        source, action, _ = path[-1]
        state = self.states[source].after(action)
        movers.append(state.player)
        played = self.worker.sim.trace[len(path) : int(self.worker.sim.record.traced.length)].tolist()
        playout = [(move >> 16, move & 0xFFFF) for move in played]
        for player, action in playout:
            assert state.player == player
            state = state.after(action)
        assert state.over
        assert state.payoffs() == payoffs
        return path, movers, playout, payoffs


def amaf_of(graph: Graph) -> np.ndarray:
    """Counts and payoffs of the actions of all players after each node: [nodes, players * actions, 2]."""
    return graph.node_action_stats[:, : pairs(graph)]


def mixed_of(graph: Graph) -> np.ndarray:
    """Those that are mixed over a node's edges, for its mover: [nodes, actions or 0, 2]."""
    return graph.node_action_stats[:, pairs(graph) :]


def row_of(graph: Graph, node: int) -> np.ndarray:
    """Both of a node, to write to: [columns, 2]."""
    row: np.ndarray = graph._arrays["node_action_stats"][graph.played_rows[node, 0]]
    return row


def pairs(graph: Graph) -> int:
    """How many actions all players have."""
    rules: Rules = graph._arguments[1]
    return rules.players * rules.actions


def oracle_of(selection: RAVE, first_play_urgency: float = INF) -> rave_oracle.Choice:
    """The oracle's selection."""
    given = selection.bias, selection.c, selection.depth_mean, selection.depth_rave, selection.ref
    return rave_oracle.Choice(*given, first_play_urgency, selection.revisit)


def assert_choices(search: Simulations, log: rave_oracle.Log, choice: rave_oracle.Choice, path: Path) -> set[str]:
    """Each choice of a descent had the largest bound by the log before it or was due as the least tried, and the descent went
    to the first new position, the end of the game, or where a full graph has no move to choose from; the kinds of choices."""
    descent: list[Name] = [path[0][0]]
    kinds, fresh, most_edges = set(), 0, int(search.graph.record.most_edges)
    for source, action, target in path:
        state, tried = search.states[source], {move for _, move in log.out.get(source, [])}
        full = len(log.edges()) + fresh >= most_edges
        legal = tried if full else state.legal_actions()
        if state.player == CHANCE:
            assert action in legal
            kinds.add("drawn")
        elif choice.is_due(log, source):
            played = {move: log.n[source, move] if move in tried else 0 for move in legal}
            assert played[action] == min(played.values())
            kinds.add("least")
        else:
            values = choice.values(log, descent, state.player, legal)
            assert values[action] >= max(values.values()) - 1e-9
            kinds |= {"tried" if action in tried else "urgent" if values[action] == choice.first_play_urgency else "known"}
        fresh += action not in tried
        if target not in log.out:
            assert search.worker.settings.options.expand_all or target == path[-1][2]
            return kinds
        descent.append(target)
    assert len(log.edges()) + fresh >= most_edges
    assert not log.out[descent[-1]] or search.states[descent[-1]].player == CHANCE
    return {*kinds, "full"}


def assert_right(search: Simulations, log: rave_oracle.Log, selection: RAVE) -> None:
    """Each position of the paths is one node, with the sums of its list of simulations, and all that UCD keeps is right."""
    assert_definition(search, log, selection.ucd)
    graph, actions = search.graph, search.start.rules.actions
    names = dict(search.nodes())
    assert set(names.values()) == log.reached(names[search.root])
    for node, name in names.items():
        expected = np.zeros((log.players, actions, 2))
        for (player, action), sums in log.played(name).items():
            expected[player, action] = [float(x) for x in sums]
        assert np.array_equal(amaf_of(graph)[node].reshape(expected.shape), expected)
        if selection.depth_rave:
            assert graph.nodes[node]["mover"] == log.mover[name]
            expected = np.zeros((actions, 2))
            for action, sums in log.mixed(name).items():
                expected[action] = [float(x) for x in sums]
            assert np.array_equal(mixed_of(graph)[node], expected)


def assert_search(
    start: State, selection: RAVE, playouts: int, looks: set[int], first_play_urgency: float = INF, **options: Any
) -> set[str]:
    """Every choice is the oracle's, and the whole graph after the playouts of these numbers; the kinds of choices."""
    search = Simulations(start, selection, first_play_urgency=first_play_urgency, **options)
    return go_on(search, rave_oracle.Log(start.rules.players), selection, playouts, looks, first_play_urgency)


def go_on(
    search: Simulations,
    log: rave_oracle.Log,
    selection: RAVE,
    playouts: int,
    looks: set[int],
    first_play_urgency: float = INF,
) -> set[str]:
    """As `assert_search`, with a search and its log."""
    choice, kinds = oracle_of(selection, first_play_urgency), set()
    for number in range(1, playouts + 1):
        path, movers, playout, payoffs = search.simulation()
        kinds |= assert_choices(search, log, choice, path)
        log.record_all(path, movers, playout, payoffs)
        log.chances = search.chances
        assert search.graph.edge_count == len(log.edges())
        if number in looks:
            assert_right(search, log, selection)
    return kinds


def test_the_oracle_counts_what_can_be_counted_by_hand() -> None:
    """Four simulations; both moves of the root r, where player 0 moves, and then move 5 of player 1 lead to s."""
    log = rave_oracle.Log(2)
    log.record_all([("r", 0, "a")], [0, 1], [(1, 5), (0, 1), (1, 5)], (1, 0))
    log.record_all([("r", 1, "b")], [0, 1], [(1, 5), (0, 0)], (0, 1))
    log.record_all([("r", 0, "a"), ("a", 5, "s")], [0, 1, 0], [(0, 1)], (1, 0))
    log.record_all([("r", 1, "b"), ("b", 5, "s")], [0, 1, 0], [(0, 2), (1, 6)], (0.5, 0.5))
    assert log.played("r") == {(0, 0): (3, 2), (0, 1): (4, 2.5), (0, 2): (1, 0.5), (1, 5): (4, 1.5), (1, 6): (1, 0.5)}
    assert log.played("a") == {(1, 5): (2, 0), (0, 1): (2, 2)}
    assert log.mixed("a") == {5: (2, 0), 6: (1, 0.5)}  # the fourth came to s by way of b
    assert log.mixed("b") == {5: (2, 1.5), 6: (1, 0.5)}
    assert log.mixed("r") == {action: sums for (player, action), sums in log.played("r").items() if player == 0}
    greedy = rave_oracle.Choice(bias=0.5, c=0, depth_mean=0, depth_rave=0, ref=2, first_play_urgency=INF)
    assert [greedy.reference(log, ["r", *path]) for path in ([], ["a"], ["a", "s"])] == ["r"] * 3
    assert greedy._replace(ref=1).reference(log, ["r", "a", "s"]) == "a"
    # Move 0: mean 1, n = 2, n~ = 3, beta = 3 / 8, and all of them 2 / 3. Move 1: 1/4, 2, 4, 2/5, and 5/8. Move 2 is untried.
    values = greedy.values(log, ["r"], 0, (0, 1, 2, 3))
    assert values == pytest.approx({0: 5 / 8 + 3 / 8 * 2 / 3, 1: 3 / 5 / 4 + 2 / 5 * 5 / 8, 2: 1 / 2, 3: INF})


OPTIONS = tuple(product(("first", "all"), (INF, 0.6)))


@pytest.mark.parametrize(
    "selection",
    [pytest.param(selection, marks=[pytest.mark.slow] * (number % 2)) for number, selection in enumerate(SELECTIONS)],
    ids=told,
)
@pytest.mark.sweep(2)
def test_sums_and_choices_are_the_definitions(selection: RAVE) -> None:
    """Every selection in a random game of its own or in a real one, each with other options."""
    number = SELECTIONS.index(selection)
    games = [*random_games(number), *real_games(), *random_games(number + 200, plies=5)]
    add, urgency = OPTIONS[(number // 6) % 4]
    assert_search(games[7 * number % 12], selection, 25, {25}, seed=number, expand=add, first_play_urgency=urgency)


@every_selection
def test_sums_and_choices_are_the_definitions_after_every_playout(selection: RAVE) -> None:
    """No sum is right only now and then, and every kind of choice is met."""
    kinds = set()
    for start, (add, urgency) in zip((*random_games(seed=50), *real_games()[::2]), cycle(OPTIONS)):
        kinds |= assert_search(start, selection, 8, set(range(9)), expand=add, first_play_urgency=urgency)
    assert kinds == {"tried", "urgent", "known", *(["least"] if selection.revisit <= 8 else [])}


@every_selection
@pytest.mark.parametrize("add", ["first", "all"])
def test_sums_and_choices_are_the_definitions_where_chance_decides(selection: RAVE, add: str) -> None:
    """Outcomes are no moves of a player: they have no sums, and no bound."""
    kinds: set[str] = set()
    games = random_games(seed=310, chance=3) if selection.table else random_games(seed=310, chance=3, branching=3, tree=True)
    for most_edges, start in zip((2**20, 2**20, 12), games, strict=True):
        kinds |= assert_search(start, selection, 24, {12, 24}, most_edges=most_edges, expand=add)
    assert kinds >= {"tried", "drawn"}


@every_selection
def test_sums_and_choices_are_the_definitions_in_a_full_graph(selection: RAVE) -> None:
    """Descents choose among tried moves and end at known positions, which count the playout too."""
    kinds = set()
    for most_edges in (1, 2, 7, 20):
        for add, start in zip(("first", "all", "first"), random_games(seed=300), strict=True):
            kinds |= assert_search(start, selection, 24, {12, 24}, most_edges=most_edges, expand=add)
    assert kinds >= {"tried", "full"}


@pytest.mark.parametrize("selection", [RAVE(1e-10, 0, ref=50), RAVE(1e-10, 0.4, True, 1, ref=50)], ids=told)
def test_grave_takes_the_values_of_the_nearest_position_with_fifty_playouts(selection: RAVE) -> None:
    """200 playouts of a narrow game, in which several positions have as many."""
    start = hash_game.rules(seed=5, width=3, branching=2, plies=7, players=2, tree=not selection.table).initial_state()
    search, log = Simulations(start, selection), rave_oracle.Log(2)
    go_on(search, log, selection, 200, {200})
    assert sum(log.visited(name) >= 50 for name in log.out) > 2


@pytest.mark.slow
@pytest.mark.parametrize("selection", SELECTIONS, ids=told)
@every_add
def test_sums_and_choices_are_the_definitions_in_many_games(selection: RAVE, add: str) -> None:
    """Every selection in graphs of other sizes and shapes, with limits and urgencies, and in every real game."""
    number = SELECTIONS.index(selection)
    for seed, urgency in enumerate((INF, 0.9, 0.5, 0.0)):
        sizes = {"width": 3 + seed, "branching": 2 + (seed + number) % 5, "plies": 4 + 2 * seed}
        for most_edges, start in zip((2**20, 30, 5), random_games(4000 + 10 * number + seed, **sizes), strict=True):
            assert_search(
                start, selection, 45, {20, 45}, seed=seed, first_play_urgency=urgency, most_edges=most_edges, expand=add
            )
    for start in real_games():
        assert_search(start, selection, 45, {20, 45}, expand=add)


# Searches one after another


@every_selection
@every_add
@pytest.mark.sweep(2)
def test_a_kept_graph_is_right_through_whole_games(selection: RAVE, add: str) -> None:
    """Own moves and random replies: what is kept stays as it was, what was given back begins anew."""
    ends: set[str] = set()
    games = random_games(seed=900, plies=9) if selection.table else random_games(seed=900, branching=3, tree=True)
    for number, start in enumerate((*games, *real_games()[3 if selection.table else 6 :])):
        rng = np.random.default_rng(number)
        search, log = Simulations(start, selection, reuse_graph=True, expand=add), rave_oracle.Log(start.rules.players)
        state = start
        while not state.over and state.ply < start.ply + 8:
            if state is not start:
                log, end = begin(search, log, state)
                ends.add(end)
                if end != "fresh":
                    assert_right(search, log, selection)
            go_on(search, log, selection, 9, {9})
            block = search.graph.edges[search.graph.block(search.root)]
            state = state.after(int(block["action"][np.argmax(block["visits"])]))
            if not state.over and state.ply % 2 == 0:
                state = state.after(int(rng.choice(state.legal_actions())))
    assert ends >= {"rebuilt", "whole"}


def begin(search: Simulations, log: rave_oracle.Log, state: State) -> tuple[rave_oracle.Log, str]:
    """Begins a search from another state; its log, and what became of the graph: "fresh", "rebuilt" or "whole"."""
    count = search.graph.node_count
    nodes = search.nodes() if search.tree else ((node, state.key) for node in range(count))
    names = [name for node, name in nodes if search.key_of(node) == state.key]
    most = max(map(log.visited, names), default=0)
    search.prefix = next((name for name in names if log.visited(name) == most), ()) if search.tree else ()
    search.begin(state)
    if not names:
        assert search.graph.node_count == 1
        assert not amaf_of(search.graph)[search.root].any()
        return rave_oracle.Log(state.rules.players), "fresh"
    if search.graph.node_count == count:
        return log, "whole"
    log.forget(search.name(state, ()))
    return log, "rebuilt"


@every_selection
def test_a_second_search_of_a_planner_begins_anew(selection: RAVE) -> None:
    """Notes of moves are not those of the search before, in the same position and in another."""
    for start in (*random_games(seed=60), *real_games()[:4]):
        search = Simulations(start, selection)
        for state in (start, start, start.after(start.legal_actions()[-1])):
            search.begin(state)
            go_on(search, rave_oracle.Log(start.rules.players), selection, 15, {1, 15})


def same(left: SearchResult, right: SearchResult) -> bool:
    """Whether two searches found the same, to the last bit."""
    names = ("action", "visits", "values", "principal_variation", "nodes", "edges", "transpositions", "depth")
    return all(np.array_equal(getattr(left, name), getattr(right, name), equal_nan=name == "values") for name in names)


@every_planner
def test_a_planner_that_was_used_before_is_as_good_as_new(planner: Callable[..., Planner]) -> None:
    """After searches of this game and of others, and a reset."""
    used = planner(playouts=200, seed=9)
    for start in (*real_games(), *random_games(seed=3)):
        used.reset(9)
        first, second = used.search(start), used.search(start)
        new = planner(playouts=200, seed=9)
        assert same(new.search(start), first)
        assert same(new.search(start), second)


@every_selection
@every_add
def test_a_graph_that_grows_on_the_way_is_the_one_that_had_room(selection: RAVE, add: str) -> None:
    """To the last bit, all arrays, however small they began."""
    for start in (
        *random_games(seed=70, width=9, plies=9),
        ucd_envs.make_rules("connect_four", columns=5, rows=4).initial_state(),
    ):
        search, planner = Simulations(start, selection, expand=add), Planner(selection, playouts=700, seed=0, expand=add)
        search.worker.begin(start, seeded(0, 0, 0), None, Stop(), Budget(700, None, None, "visits"))
        first_room = int(search.graph.record.nodes.room)
        search.run(700)
        planner.search(start)
        small, large = search.graph, planner._workers[0].graph
        assert first_room < small.node_count
        for name in ("node_count", "edge_count", "transpositions", "depth"):
            assert getattr(small, name) == getattr(large, name)
        for name in ("edges", "actions"):
            assert small.record[name].length == large.record[name].length
        for name in ("node_stats", "node_action_stats"):
            left, right = (getattr(graph, name)[: graph.node_count] for graph in (small, large))
            assert left.tobytes() == right.tobytes()


@every_planner
@pytest.mark.parametrize("workers", [1, 3])
def test_the_same_seed_gives_the_same(planner: Callable[..., Planner], workers: int) -> None:
    """With several workers too, whose visits are added up; another seed gives something else."""
    for start in real_games()[:5]:
        left, right, other = (planner(playouts=301, seed=seed, workers=workers).search(start) for seed in (4, 4, 5))
        assert same(left, right)
        assert left.visits.sum() == left.playouts == 301
        assert not same(left, other)


# The formula


@pytest.mark.parametrize(
    ("bias", "n", "amaf", "weight"),
    [
        (0, 1, 1, 1 / 2),
        (0, 3, 1, 1 / 4),
        (0, 1, 3, 3 / 4),
        (0, 1000, 1, 1 / 1001),
        (0.5, 2, 2, 1 / 3),  # 2 / (4 + 0.5 * 4)
        (0.5, 1, 10, 10 / 16),  # 10 / (11 + 0.5 * 10)
        (0.001, 10, 10, 10 / 20.1),
        (0.001, 100, 100, 10 / 21),  # 100 / (200 + 0.001 * 10,000)
        (0.001, 1000, 1000, 1 / 3),
        (0.001, 10**6, 10**6, 1 / 1002),
        (1e-10, 10**6, 10**6, 1 / 2.0001),
        (1, 1, 10**6, 1 / (2 + 1e-6)),
    ],
)
def test_the_weight_of_all_playouts_worked_out_by_hand(bias: float, n: int, amaf: int, weight: float) -> None:
    """B092: a tried move with its own mean 0 and the mean 1 of all playouts is worth just beta: an untried one is chosen if it
    is known to be worth more, and not if less."""
    assert rave_oracle.beta(n, amaf, bias) == pytest.approx(weight)
    scale, start = 2**20, hash_game.listed({"root": (0, [0.0, 0.0])}).initial_state()
    for selection, change in product((RAVE(bias), RAVE(bias, table=True), RAVE(bias, 0, True, 0, 1)), (-2, 2)):
        search = Simulations(start, selection)
        tried = search.step()[0][0][1]
        graph = search.graph
        number = graph.block(search.root).start
        graph.edges[number]["visits"], graph.mean_value[number] = n, 0.0
        sums = row_of(graph, search.root)[pairs(graph) * selection.depth_rave :]
        sums[tried], sums[1 - tried] = (amaf, amaf), (scale, math.floor(weight * scale) + change)
        assert (search.step()[0][0][1] == tried) == (change < 0)


def test_the_weight_of_all_playouts_falls_from_one_to_nothing() -> None:
    """B092: it is 1 at n = 0, where the kernel takes w~ / n~ as it is, and falls with every playout."""
    for bias, amaf in product((0, 1e-10, 0.001, 0.5), (1, 30, 10**4)):
        weights = [rave_oracle.beta(n, amaf, bias) for n in (0, 1, 2, 10, 100, 10**4, 10**8, 10**12)]
        assert weights[0] == 1
        assert weights == sorted(set(weights), reverse=True)
        assert weights[-1] < 1e-7
    start = hash_game.listed({"root": (0, [0.0, 0.0])}).initial_state()
    for selection, most in product((RAVE(0.5), RAVE(0.5, 0, True, 0, 1)), (0, 1)):
        search = Simulations(start, selection)
        sums = row_of(search.graph, search.root)[pairs(search.graph) * selection.depth_rave :]
        sums[most], sums[1 - most] = (8, 6), (2**20, 3 * 2**18 - 1)
        assert search.step()[0][0][1] == most


@pytest.mark.parametrize("bias", [1e8, 1e9])
def test_with_a_large_bias_tried_moves_are_those_of_uct(bias: float) -> None:
    """Means of all playouts have no weight, but for untried moves; every playout is made, in a tree and in a graph."""
    for selection, start in product((RAVE(bias, 0.4), RAVE(bias, 0.4, True, 1, 1)), random_games(seed=80)):
        search, log = Simulations(start, selection), rave_oracle.Log(start.rules.players)
        for _ in range(60):
            path, movers, playout, payoffs = search.simulation()
            for source, action, _ in path:
                tried = log.out.get(source, [])
                if (source, action) in tried:
                    mover = search.states[source].player
                    values = {edge: log.value(edge, selection.depth_mean, 0, 0, 0.4, mover) for edge in tried}
                    assert values[source, action] >= max(values.values()) - 2 / bias
            log.record_all(path, movers, playout, payoffs)
        log.chances = search.chances
        assert_right(search, log, selection)


@pytest.mark.parametrize("bias", [0, 1e-300, 1e-10, 0.001, 1e9])
def test_every_playout_is_made_whatever_the_bias(bias: float) -> None:
    """B091: no bound is NaN, which would leave a position without a move to choose."""
    for planner, start in product((rave, rave_ucd, grave), real_games()[:5]):
        result = planner(bias=bias, c=0.3, playouts=300, seed=1).search(start)
        assert result.visits.sum() == 300


@pytest.mark.parametrize("selection", [RAVE(), RAVE(table=True, depth_rave=1)], ids=told)
def test_sums_stop_together_where_counts_would_not_be_exact(selection: RAVE) -> None:
    """A 32-bit number holds whole numbers up to 2**24 = 16,777,216; further payoffs alone would carry a mean away."""
    start = hash_game.listed({"root": (0, ["a"]), "a": (0, [1.0])}).initial_state()
    search = Simulations(start, selection)
    search.run(2)
    played = search.graph._arrays["node_action_stats"]  # rows are still in the order of their nodes
    kept = [played[:, first] for first in (0, pairs(search.graph))[: 1 + selection.depth_rave]]
    for sums in kept:
        sums[:2] = 2**24 - 3, 2**23 - 3
    search.run(10)
    for sums in kept:
        assert sums[:2].tolist() == [[2**24, 2**23]] * 2


# Identities


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("c", CONSTANTS)
def test_without_transpositions_all_are_rave(bias: float, c: float) -> None:
    """In a tree a playout through a child passes its parent, means see the same playouts at depths 0 and 1, and with ref = 0
    each position has enough playouts."""
    for players in (1, 2, 3):
        start = hash_game.rules(seed=players, branching=3, plies=6, players=players, tree=True).initial_state()
        plain = rave(bias, c, playouts=1000, seed=1).search(start)
        for planner in (
            rave_ucd(bias, 0, 0, c, playouts=1000, seed=1),
            rave_ucd(bias, 1, 0, c, playouts=1000, seed=1),
            rave_ucd(bias, 1, 1, c, playouts=1000, seed=1),
            grave(0, bias, c, playouts=1000, seed=1),
        ):
            result = planner.search(start)
            assert (result.visits.tolist(), result.action) == (plain.visits.tolist(), plain.action)
            assert np.array_equal(result.values, plain.values, equal_nan=True)


def mirrored(rules: Rules) -> Rules:
    """A random game of two with the players changed about."""
    config = rules.own_config.copy()
    table = config.view(hash_game.CONFIG)[0]
    table["mover"] = np.where(table["mover"] >= 0, 1 - table["mover"], -1)
    table["payoffs"][:, :2] = table["payoffs"][:, 1::-1].copy()
    return replace(rules, config=config)


@every_planner
def test_players_changed_about_find_the_same(planner: Callable[..., Planner]) -> None:
    """B091: nothing works for one of them only."""
    for seed in range(5):
        rules = hash_game.rules(seed=seed, width=6, branching=5, plies=8)
        found = [planner(playouts=400, seed=2).search(game.initial_state()) for game in (rules, mirrored(rules))]
        assert mirrored(rules).initial_state().player == 1 - rules.initial_state().player
        assert same(*found)
    for add in ("first", "all"):
        games = [ucd_envs.make_rules("go", size=3, komi=0, first=first) for first in ("black", "white")]
        assert same(*(planner(playouts=400, seed=2, expand=add).search(game.initial_state()) for game in games))


@every_planner
def test_sums_are_finite_and_no_larger_than_the_playouts(planner: Callable[..., Planner]) -> None:
    """B091: 0 <= w~ <= n~ <= playouts everywhere, and n~ of tried moves is not less than n; draws pay 1/2."""
    for start in (*real_games(), ucd_envs.make_rules("go", size=5, komi=0).initial_state()):
        search = planner(playouts=1500, seed=1)
        search.search(start)
        graph = search._workers[0].graph
        for sums in (amaf_of(graph)[: graph.node_count], mixed_of(graph)[: graph.node_count]):
            if sums.size == 0:
                assert not search.selection.depth_rave
                continue
            assert np.isfinite(sums).all()
            assert sums.min() >= 0
            assert (sums[..., 1] <= sums[..., 0]).all()
            assert sums[..., 0].max() <= 1500
        for node in range(graph.node_count):
            edges = graph.edges[graph.block(node)]
            row = int(graph.nodes[node]["mover"]) * start.rules.actions
            assert (amaf_of(graph)[node][row + edges["action"].astype(int), 0] >= edges["visits"]).all()


# Choices


def chi_square(counts: np.ndarray) -> float:
    """That of equal chances."""
    expected = counts.sum() / counts.size
    return float(((counts - expected) ** 2 / expected).sum())


@pytest.mark.parametrize("selection", FEW, ids=told)
def test_equals_are_chosen_alike(selection: RAVE) -> None:
    """B074: five moves that are all worth 1/2, over 2,000 seeds: the first of nothing known, the second among one that was
    tried and four that were not, with an urgency of 1/2, each fair within chi-square at p = 0.001."""
    start = hash_game.listed({"root": (0, [0.5] * 5)}).initial_state()
    search = Simulations(start, replace(selection, c=0), first_play_urgency=0.5)
    first, second = np.zeros(5), np.zeros(5)
    for seed in range(2000):
        search.seed = seed
        search.begin(start)
        first[search.step()[0][0][1]] += 1
        second[search.step()[0][0][1]] += 1
    assert chi_square(first) < 18.5
    assert chi_square(second) < 18.5


@pytest.mark.parametrize("table", [False, True])
def test_the_least_tried_is_chosen_alike(table: bool) -> None:
    """F2-16: with revisit=1 every move in turn, and each of the five is the seventh playout's with the same chance."""
    start = hash_game.listed({"root": (0, [1.0, 0.0, 0.0, 0.0, 0.0])}).initial_state()
    search, seventh = Simulations(start, RAVE(table=table, revisit=1)), np.zeros(5)
    for seed in range(500):
        search.seed = seed
        search.begin(start)
        moves = [search.step()[0][0][1] for _ in range(7)]
        assert sorted(moves[:5]) == [0, 1, 2, 3, 4]
        assert moves[5] != moves[6]
        seventh[moves[6]] += 1
    assert chi_square(seventh) < 18.5


def test_moves_that_are_due_come_at_every_revisit_only() -> None:
    """A win whose bound is 1 has all playouts but the fourth, the eighth, and so on, which go round the four others."""
    start = hash_game.listed({"root": (0, [1.0, 0.0, 0.0, 0.0, 0.0])}).initial_state()
    search = Simulations(start, RAVE(revisit=4), first_play_urgency=0.5)
    search.begin(start)
    moves = [search.step()[0][0][1] for _ in range(100)]
    assert all(move == 0 for number, move in enumerate(moves[10:], 11) if number % 4)
    assert sorted(moves[11::4][:20]) == sorted(5 * [1, 2, 3, 4])[: len(moves[11::4][:20])]


def worth(state: State, known: dict[bytes, float]) -> float:
    """The payoff of the player to move in a game of two, by looking at every game."""
    if state.key not in known:
        known[state.key] = max(value_of(state, action, known) for action in state.legal_actions())
    return known[state.key]


def value_of(state: State, action: int, known: dict[bytes, float]) -> float:
    """The payoff of a move for its player."""
    child = state.after(action)
    return float(child.payoffs()[state.player]) if child.over else 1 - worth(child, known)


@pytest.fixture(scope="module")
def hard() -> list[tuple[State, set[int]]]:
    """The 3,191 positions of tic-tac-toe whose moves are not all worth the same, with the best ones."""
    known: dict[bytes, float] = {}
    seen: dict[bytes, State] = {}
    level = [ucd_envs.make_rules("tic_tac_toe").initial_state()]
    while level:
        level = [child for state in level for child in map(state.after, state.legal_actions()) if not child.over]
        level = list({child.key: child for child in level}.values())
        seen |= {state.key: state for state in level}
    found = []
    for state in seen.values():
        values = {action: value_of(state, action, known) for action in state.legal_actions()}
        best = {action for action, value in values.items() if value == max(values.values())}
        if len(best) < len(values):
            found.append((state, best))
    assert len(found) == 3191
    return found


@pytest.mark.parametrize("planner", [rave, rave_ucd], ids=["rave", "rave_ucd"])
def test_the_only_move_is_found(planner: Callable[..., Planner]) -> None:
    """F2-16: a3 was chosen with 9 of 10 seeds. X holds b3, O a1, and every other move loses."""
    rules = ucd_envs.make_rules("tic_tac_toe")
    start = rules.initial_state()
    start = start.after(start.action_named("b3"))
    start = start.after(start.action_named("a1"))
    for seed in range(10):
        assert planner(playouts=100_000, seed=seed).act(start) == start.action_named("a3")


def assert_best(planner: Planner, positions: list[tuple[State, set[int]]]) -> None:
    """A planner chooses a best move in each position."""
    wrong = [state for state, best in positions if planner.act(state) not in best]
    assert not wrong


@pytest.mark.parametrize("planner", [rave, rave_ucd], ids=["rave", "rave_ucd"])
def test_the_default_converges(planner: Callable[..., Planner], hard: list[tuple[State, set[int]]]) -> None:
    """F2-16: with c = 0 alone, 57 of 6,382 searches of 20,000 playouts ended with a move that loses or gives a win away."""
    assert_best(planner(playouts=20_000, seed=1), hard[::24])


@pytest.mark.slow
@pytest.mark.parametrize("planner", [rave, rave_ucd], ids=["rave", "rave_ucd"])
def test_the_default_converges_in_many_positions(planner: Callable[..., Planner], hard: list[tuple[State, set[int]]]) -> None:
    """F2-16: in every fourth one."""
    assert_best(planner(playouts=50_000, seed=1), hard[::4])


def winning(state: State) -> list[int]:
    """The moves that win at once."""
    children = {action: state.after(action) for action in state.legal_actions()}
    return [action for action, child in children.items() if child.over and child.payoffs()[state.player] == 1]


WINS = {
    "tic_tac_toe": after(ucd_envs.make_rules("tic_tac_toe"), 0, 3, 1, 4),
    "tic_tac_toe second": after(ucd_envs.make_rules("tic_tac_toe"), 0, 4, 8, 3, 1),
    "hex": after(ucd_envs.make_rules("hex", size=3), 7, 5, 4, 1),
    "connect_four": after(ucd_envs.make_rules("connect_four"), 3, 2, 3, 2, 3, 4),
}


@pytest.mark.parametrize("start", WINS.values(), ids=WINS)
@pytest.mark.parametrize("planner", PRESETS.values(), ids=PRESETS)
def test_a_win_in_one_is_found(planner: Callable[..., Planner], start: State) -> None:
    """B071: by every preset, and its mean is exactly 1, for nothing is played behind the end. Without exploration it takes a
    while where the means of all playouts favour another move: grave tries 2,000 playouts of one in Connect Four."""
    assert len(winning(start)) == 1
    for seed in range(3):
        result = planner(playouts=8000, seed=seed).search(start)
        assert [result.action] == winning(start)
        assert result.values[result.actions == result.action] == 1.0


@every_planner
def test_fewer_playouts_than_moves(planner: Callable[..., Planner]) -> None:
    """B070: 1, 2 and 5 on a large board."""
    start = ucd_envs.make_rules("go", size=9).initial_state()
    for playouts, add in product((1, 2, 5), ("first", "all")):
        result = planner(playouts=playouts, seed=1, expand=add).search(start)
        assert result.visits.sum() == playouts
        assert result.action in start.legal_actions()
        assert result.visits[result.actions == result.action] >= 1


def test_every_position_of_a_tree_is_a_node_at_once() -> None:
    """One for each playout that did not end at the end of the game, where UCT makes one at the second visit."""
    start = ucd_envs.make_rules("go", size=5).initial_state()
    search = Simulations(start, RAVE())
    for playouts in (1, 2, 50):
        search.run(playouts)
        assert search.graph.node_count == playouts + 1
    plain = Search(start, UCD(table=False))
    plain.run(50)
    assert plain.graph.node_count < 50


# Mistakes


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: RAVE(bias=-1), ValueError, "bias must be a number from 0 to 1e\\+09, not -1"),
        (lambda: RAVE(bias=1.1e9), ValueError, "bias .*1100000000.0"),
        (lambda: RAVE(bias=math.inf), ValueError, "bias .*inf"),
        (lambda: RAVE(bias=math.nan), ValueError, "bias .*nan"),
        (lambda: RAVE(bias="x"), TypeError, "bias must be a number, not 'x'"),
        (lambda: RAVE(bias=None), TypeError, "bias must be a number, not None"),
        (lambda: RAVE(bias=True), TypeError, "bias must be a number, not True"),
        (lambda: RAVE(c=-0.1), ValueError, "c must be a finite number, 0 or more, not -0.1"),
        (lambda: RAVE(c=math.nan), ValueError, "c .*nan"),
        (lambda: RAVE(c="x"), TypeError, "c must be a number, not 'x'"),
        (lambda: RAVE(table=1), TypeError, "table must be True or False, not 1"),
        (lambda: RAVE(table=True, depth_rave=2), ValueError, "depth_rave .*2"),
        (lambda: RAVE(table=True, depth_rave=-1), ValueError, "depth_rave .*-1"),
        (lambda: RAVE(table=True, depth_rave=0.5), TypeError, "depth_rave .*0.5"),
        (lambda: RAVE(table=True, depth_rave=INF), TypeError, "depth_rave .*inf"),
        (lambda: RAVE(table=True, depth_rave=True), TypeError, "depth_rave .*True"),
        (lambda: RAVE(depth_rave=1), ValueError, "depth_rave .*table"),
        (lambda: RAVE(depth_mean=1), ValueError, "depth_mean looks .*table"),
        (lambda: RAVE(table=True, depth_mean=1.5), ValueError, "depth_mean must be 0, 1, 2, ... or inf, not 1.5"),
        (lambda: RAVE(table=True, depth_mean=-1), ValueError, "depth_mean must be 0, 1, 2, ... or inf, not -1"),
        (lambda: RAVE(table=True, depth_mean=math.nan), ValueError, "depth_mean .*nan"),
        (lambda: RAVE(table=True, depth_mean="x"), TypeError, "depth_mean must be a number, not 'x'"),
        (lambda: RAVE(ref=-1), ValueError, "ref .*-1"),
        (lambda: RAVE(ref=1.5), TypeError, "ref .*1.5"),
        (lambda: RAVE(ref=2**31), ValueError, "ref .*2147483648"),
        (lambda: RAVE(table=True, depth_rave=1, ref=1), ValueError, "depth_rave .*ref must be 0"),
        (lambda: planner_from("rave(bias=-1)", playouts=1), ValueError, "bias .*-1"),
        (lambda: planner_from("rave(bias=inf)", playouts=1), ValueError, "bias .*inf"),
        (lambda: planner_from("rave(bias=none)", playouts=1), TypeError, "bias .*None"),
        (
            lambda: planner_from("rave(ref=5)", playouts=1),
            ValueError,
            "rave has no parameter 'ref': expected one of bias, c",
        ),
        (lambda: planner_from("grave(ref=-5)", playouts=1), ValueError, "ref .*-5"),
        (lambda: planner_from("rave_ucd(depth_rave=2)", playouts=1), ValueError, "depth_rave .*2"),
        (lambda: planner_from("rave_ucd(depth_mean=0.5)", playouts=1), ValueError, "depth_mean .*0.5"),
        (lambda: planner_from("rave_ucd(depth_mean=word)", playouts=1), TypeError, "depth_mean .*'word'"),
    ],
)
def test_a_mistaken_parameter_is_refused_in_one_sentence(make: Callable[[], Any], error: type[Exception], words: str) -> None:
    """In Python and as text."""
    with pytest.raises(error, match=rf"\A{words}") as refusal:
        make()
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 300


def test_planners_as_text() -> None:
    """Names, and the parameters of Table 2."""
    assert planner_from("rave", playouts=1).selection == RAVE() == rave(playouts=1).selection
    assert planner_from("grave(ref=7)", playouts=1).selection == RAVE(1e-10, ref=7)
    text = "rave_ucd(bias=0.5, depth_rave=0, depth_mean=inf, c=0.1)"
    assert planner_from(text, playouts=1).selection == RAVE(0.5, 0.1, True, INF, 0)
