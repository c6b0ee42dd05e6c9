"""The options of a search against definitions in exact fractions: add, urgency, store and keep, alone and together.

expand="all" makes every position of a simulation a node and the way to the end of the game its path; urgency is the bound of an
untried move; store="nodes" keeps the playouts that ended at a position there, for all edges into it; keep goes on in the graph
of the search before. Each graph is compared with a log of all paths (tests/searching.py, tests/oracle.py).
"""

from __future__ import annotations

import inspect
import math
import pydoc
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, product
from typing import Any

import hash_game
import numpy as np
import pytest
from searching import INF, C, Name, Search, after, assert_exact, assert_right, bound_of, close, log_of, random_games, real_games

import ucd_envs
from ucd_envs.rules import State
from ucd_planners import Planner, SearchResult, catch_up, simple_way, stop_and_correct, ucd, uct, update_all
from ucd_planners.options import PlannerOptions
from ucd_planners.presets import PRESETS
from ucd_planners.selection.ucd import UCD
from ucd_planners.selection.update_all import UpdateAll

DEPTHS = tuple(product((0, 1, 2, 3, INF), repeat=3))
FEW_DEPTHS = ((0, 0, 0), (1, 0, 1), (2, 1, 0), (0, 2, 3), (3, 3, 3), (INF, 0, 1), (1, INF, INF), (INF, INF, INF))
UCDS = [UCD(*depths, C, store=store) for depths in FEW_DEPTHS for store in ("edges", "nodes")]
TREE = UCD(c=C, table=False)
OTHERS = [TREE, UpdateAll(C), UCD(1, 2, 3, C, backup="section_3_4"), UCD(INF, INF, INF, C, backup="section_3_4")]


def told(selection: Any) -> str:
    """A selection as the name of a test."""
    if isinstance(selection, UpdateAll):
        return "update_all"
    depths = ",".join(map(str, (selection.d1, selection.d2, selection.d3)))
    return f"{depths} {selection.store}" if selection.table and selection.backup == "descent" else f"{depths} other"


every_selection = pytest.mark.parametrize("selection", [*UCDS, *OTHERS], ids=told)
every_ucd = pytest.mark.parametrize("selection", UCDS, ids=told)
every_add = pytest.mark.parametrize("add", ["first", "all"])
every_depth = pytest.mark.parametrize("depths", DEPTHS, ids=lambda depths: ",".join(map(str, depths)))


# Cached values and definitions


@every_depth
def test_cached_values_are_the_definitions_where_nodes_keep_playouts(depths: tuple[float, float, float]) -> None:
    """All of {0, 1, 2, 3, inf}^3 with store="nodes", on a graph of its own: every other one with expand="all"."""
    seed = DEPTHS.index(depths)
    start, add = random_games(seed)[seed % 3], ("first", "all")[seed % 2]
    assert_exact(start, UCD(*depths, C, store="nodes"), 30, {30}, seed=seed, expand=add)


@every_depth
@pytest.mark.sweep(2)
def test_cached_values_are_the_definitions_where_all_positions_are_added(depths: tuple[float, float, float]) -> None:
    """All of {0, 1, 2, 3, inf}^3 with expand="all", on a graph of its own."""
    seed = DEPTHS.index(depths)
    start = random_games(seed, width=9)[seed % 3]
    assert_exact(start, UCD(*depths, C), 30, {30}, seed=seed, expand="all")


URGENCIES = (INF, 1.3, 0.9, 0.5, 0.0)


@every_selection
@every_add
@pytest.mark.sweep(2)
def test_cached_values_are_the_definitions_with_options_together(selection: Any, add: str) -> None:
    """In random graphs for one, two and three players and in two of the package's games, each with another urgency."""
    for start, urgency in zip((*random_games(seed=500), *real_games()[add == "all" :: 2]), cycle(URGENCIES)):
        assert_exact(start, selection, 30, {3, 7, 30}, expand=add, first_play_urgency=urgency)


@every_selection
@pytest.mark.sweep(2)
def test_cached_values_are_the_definitions_after_every_playout(selection: Any) -> None:
    """No value is right only now and then."""
    for add, urgency, start in zip(("all", "first", "all"), (INF, 0.6, 0.8), random_games(seed=600), strict=True):
        assert_exact(start, selection, 18, set(range(19)), expand=add, first_play_urgency=urgency)


@pytest.mark.slow
@every_selection
@every_add
@pytest.mark.parametrize("urgency", URGENCIES)
def test_cached_values_are_the_definitions_in_many_graphs(selection: Any, add: str, urgency: float) -> None:
    """Graphs of other sizes and shapes, with more playouts and with limits, and every choice on the way to them."""
    for seed in range(8):
        sizes = {"width": 3 + seed, "branching": 2 + seed % 5, "plies": 4 + seed}
        for start in random_games(2000 + seed, **sizes):
            assert_choices(start, selection, 30, expand=add, first_play_urgency=urgency)
            for most_edges in (10, 40, 2**20):
                assert_exact(
                    start, selection, 80, {40, 80}, seed=seed, most_edges=most_edges, expand=add, first_play_urgency=urgency
                )


@pytest.mark.parametrize("most_edges", range(8, 60))
def test_a_playout_into_the_graph_never_passes_the_limit_of_edges(most_edges: int) -> None:
    """In a tree every position is new, and all games of LeftRight have eight plies."""
    start = ucd_envs.make_rules("leftright", steps=8).initial_state()
    search = Search(start, UCD(c=C, table=False), most_edges=most_edges, expand="all")
    for _ in search.steps(40):
        assert search.graph.edge_count <= most_edges


@every_selection
@every_add
@pytest.mark.parametrize("most_edges", [1, 3, 7, 20])
@pytest.mark.sweep(3)
def test_cached_values_are_the_definitions_in_a_full_graph(selection: Any, add: str, most_edges: int) -> None:
    """At every limit the path of a playout goes to the end of the game, or no further than expand="first" would, and that only
    when the longest game might not have fitted."""
    for start, urgency in zip(random_games(seed=700), (INF, 0.7, 0.4), strict=True):
        search = Search(start, selection, most_edges=most_edges, expand=add, first_play_urgency=urgency)
        log, max_plies = log_of(selection, start.rules.players), start.rules.max_plies - start.ply
        for path, payoffs in search.steps(30):
            known, before = set(log.out), len(log.edges())
            log.record(path, payoffs)
            if add == "all" and path[-1][2] is not None:
                assert all(target in known for _, _, target in path[:-1])
                assert before + max_plies > most_edges
            assert search.graph.edge_count == len(log.edges()) <= most_edges
        assert_right(search, log, selection)


def test_playouts_at_nodes_are_seen_by_every_edge_into_them() -> None:
    """The smallest graph where store="edges" and store="nodes" differ. Both moves of the root lead to a. Playout 1 tries x and
    ends at a, playout 2 tries y, goes on from a to b and ends there. So with edges mu_1 is (w_1 + w_2) / 2 for x, but w_2 for
    y, from n_1 = 2 and 1; with nodes y too has seen playout 1."""
    game = {"root": (0, ["a", "a"]), "a": (0, ["b"]), "b": (0, [0.0, 0.25, 0.5, 1.0])}
    start = hash_game.listed(game, players=1).initial_state()
    for seed in range(20):
        seen = {}
        for store in ("edges", "nodes"):
            search = Search(start, UCD(1, 1, 1, C, store=store), seed=seed)
            (first, (w1,)), (second, (w2,)) = search.steps(2)
            assert [len(first), len(second)] == [1, 2]
            x, y = (
                (search.graph.mean_value[number], search.graph.exploration[number] ** -2)
                for action in (first[0][1], second[0][1])
                for number, _, edge in search.edges()
                if edge == (start.key, action)
            )
            seen[store] = [*x, *y, search.graph.node_stats[search.root, 2]]
        assert seen["edges"] == pytest.approx([(w1 + w2) / 2, 2, w2, 1, 3])
        assert seen["nodes"] == pytest.approx([(w1 + w2) / 2, 2, (w1 + w2) / 2, 2, 4])


# All positions of a simulation


@every_selection
def test_with_all_every_path_goes_to_the_end_and_every_position_of_it_is_a_node(selection: Any) -> None:
    """Each position is a node as soon as a playout has passed it, and n' is that of edges that end the game."""
    for start in (*random_games(seed=800), *real_games()):
        search, passed = Search(start, selection, expand="all"), set()
        for path, payoffs in search.steps(12):
            assert path[-1][2] is None
            state = start
            for source, action, target in path:
                passed.add(source)
                state = state.after(action)
                assert target is None or state.player >= 0
            assert state.payoffs() == payoffs
            names = [name for _, name in search.nodes()]
            assert sorted(names) == sorted(passed)
            for number, _, _ in search.edges():
                edge = search.graph.edges[number]
                assert edge["leaf_visits"] == (edge["visits"] if edge["target"] < 0 else 0) or isinstance(selection, UpdateAll)


@every_selection
def test_with_first_no_path_goes_beyond_the_first_new_position(selection: Any) -> None:
    """All positions but the last were nodes before; in a tree, ends of edges."""
    for start in (*random_games(seed=800), *real_games()):
        log = log_of(selection, start.rules.players)
        for path, payoffs in Search(start, selection, expand="first").steps(25):
            assert all(target in log.out for _, _, target in path[:-1])
            assert path[-1][2] not in log.out
            log.record(path, payoffs)


@every_add
@pytest.mark.parametrize("keep", [True, False])
def test_figures_of_a_search_are_those_of_its_graph(add: str, keep: bool) -> None:
    """Every edge ends the game, made its target's node, or met a known position."""
    planner = simple_way(playouts=500, seed=1, expand=add, reuse_graph=keep)
    for _, result in played(planner, ucd_envs.make_rules("connect_four", columns=4, rows=4).initial_state()):
        graph = planner._workers[0].graph
        edges = np.concatenate([graph.edges[graph.block(node)] for node in range(graph.node_count)])
        assert (result.nodes, result.edges) == (graph.node_count, len(edges))
        assert result.transpositions == (edges["target"] >= 0).sum() - (result.nodes - 1)


@every_add
def test_playouts_are_random_games_whether_their_positions_are_added_or_not(add: str) -> None:
    """One playout from the start of a game with forced moves and free ones: which of 24 ends it comes to is fair."""
    game = {"root": (0, ["a"]), "a": (1, ["b", "c"]), "b": (0, [k / 23 for k in range(6)]), "c": (1, ["d"])}
    game |= {"d": (0, [k / 23 for k in range(6, 12)])}
    start = hash_game.listed(game).initial_state()
    ends = np.zeros(24, int)
    for seed in range(600):
        _, payoffs = Search(start, UCD(c=C), seed=seed, expand=add).step()
        ends[round(23 * payoffs[0])] += 1
    expected = 600 / 12
    assert ends[12:].sum() == 0
    assert ((ends[:12] - expected) ** 2 / expected).sum() < 31.3  # chi-square, 11 degrees of freedom, p = 0.001


@pytest.mark.parametrize("selection", [TREE, UCD(1, 0, 1, C), UCD(2, 2, 2, C, store="nodes"), UpdateAll(C)], ids=told)
@pytest.mark.sweep(2)
def test_without_a_limit_all_adds_an_edge_for_every_new_move_of_a_playout(selection: Any) -> None:
    """10,000 playouts, with every array grown many times: the visits of edges that end the game are all playouts."""
    start = ucd_envs.make_rules("connect_four", columns=5, rows=4).initial_state()
    search = Search(start, selection, expand="all")
    search.run(10_000)
    graph = search.graph
    edges = np.concatenate([graph.edges[graph.block(node)] for node, _ in search.nodes()])
    assert len(edges) == graph.edge_count
    assert edges["leaf_visits"][edges["target"] >= 0].sum() == 0
    assert edges["leaf_visits"].sum() == 10_000


# Urgency


@every_selection
@every_add
@pytest.mark.sweep(2)
def test_every_choice_follows_urgency_and_bounds(selection: Any, add: str) -> None:
    """At each node of each descent, from the log before the playout: an untried move when its urgency is not less than the
    largest bound of the tried ones, or when there is none; else a move with that bound."""
    kinds: set[str] = set()
    for start, urgency in zip((*random_games(seed=7), *real_games()[add == "all" :: 2]), cycle((0.5, INF, 0.9, 0.0, 1.3))):
        kinds |= assert_choices(start, selection, 25, expand=add, first_play_urgency=urgency)
    assert kinds == {"untried", "tried"}


def assert_choices(start: State, selection: Any, playouts: int, expand: str, first_play_urgency: float) -> set[str]:
    """Every choice of so many playouts is allowed; the kinds of moves that were chosen."""
    kinds = set()
    search = Search(start, selection, expand=expand, first_play_urgency=first_play_urgency)
    log = log_of(selection, start.rules.players)
    for path, payoffs in search.steps(playouts):
        for source, action, target in path:
            kinds.add(assert_choice(log, selection, search.states[source], source, action, first_play_urgency))
            if target not in log.out:
                break
        log.record(path, payoffs)
    return kinds


def assert_choice(log: Any, selection: Any, state: State, source: Name, action: int, urgency: float) -> str:
    """A move may be chosen at this position; whether it was untried."""
    tried = log.out.get(source, [])
    untried = set(state.legal_actions()) - {move for _, move in tried}
    best = max((bound_of(log, selection, edge, state.player) for edge in tried), default=-INF)
    if action in untried:
        assert urgency >= best - 1e-9
        return "untried"
    assert not untried or urgency <= best + 1e-9
    assert bound_of(log, selection, (source, action), state.player) >= best - 1e-9
    return "tried"


def same(left: SearchResult, right: SearchResult) -> bool:
    """Whether two searches found the same, to the last bit."""
    return all(
        getattr(left, name).tobytes() == getattr(right, name).tobytes()
        if isinstance(getattr(left, name), np.ndarray)
        else getattr(left, name) == getattr(right, name)
        for name in ("action", "visits", "values", "principal_variation", "nodes", "edges", "transpositions", "depth")
    )


@pytest.mark.parametrize("planner", PRESETS.values(), ids=PRESETS)
def test_the_defaults_are_the_search_without_options(planner: Callable[..., Planner]) -> None:
    """To the last bit, search after search, whether they are left out or said."""
    parameters = inspect.signature(Planner.__init__).parameters
    names, values = ("expand", "first_play_urgency", "untried", "reuse_graph"), ["first", INF, "random", False]
    assert [parameters[name].default for name in names] == values
    for start in real_games():
        left_out = planner(playouts=300, seed=3)
        said = planner(playouts=300, seed=3, **dict(zip(names, values, strict=True)))
        assert all(same(left_out.search(start), said.search(start)) for _ in range(3))
        assert left_out.search(start).visits.sum() >= 300


def test_the_default_store_is_edges() -> None:
    """In the selection and in the preset."""
    start = real_games()[1]
    assert UCD() == UCD(store="edges") != UCD(store="nodes")
    assert same(
        ucd(2, 2, 2, playouts=300, seed=1).search(start), ucd(2, 2, 2, store="edges", playouts=300, seed=1).search(start)
    )
    assert ucd(store="nodes", playouts=1).selection.store == "nodes"


@pytest.mark.parametrize("planner", [uct, simple_way, update_all, partial(ucd, INF, INF, INF, store="nodes")])
def test_a_move_is_tried_alone_while_its_bound_is_above_the_urgency(planner: Callable[..., Planner]) -> None:
    """Every end is worth 1/2 to both players, so all bounds are at least that: with 0.49 nothing else is ever tried."""
    game = {"root": (0, ["a", "b", 0.5]), "a": (1, ["c", 0.5]), "b": (1, ["c", 0.5]), "c": (0, [0.5] * 5)}
    start = hash_game.listed(game).initial_state()
    for seed in range(20):
        result = planner(playouts=200, seed=seed, first_play_urgency=0.49).search(start)
        assert sorted(result.visits.tolist()) == [0, 0, 200]
        assert result.edges == len(result.principal_variation) == result.depth


def test_a_move_with_a_bound_equal_to_the_urgency_is_left_for_an_untried_one() -> None:
    """Without exploration the bounds of the three moves are exactly 1/2."""
    start = hash_game.listed({"root": (0, [0.5] * 3)}).initial_state()
    assert uct(c=0, playouts=3, seed=0, first_play_urgency=0.5).search(start).visits.tolist() == [1, 1, 1]
    assert sorted(uct(c=0, playouts=3, seed=0, first_play_urgency=0.4999).search(start).visits.tolist()) == [0, 0, 3]


def test_urgency_worked_out_by_hand() -> None:
    """A move worth 1/4 that has had all n playouts has the bound 1/4 + sqrt(log n / n): 0.25, 0.839, 0.855, 0.839, 0.817 for
    n = 1 ... 5, 0.744 for 9, 0.730 for 10, 0.637 for 20. With an urgency of 0.25 the second move is tried at once. With 0.24
    it never is, and with anything in between the first playout decides."""
    start = hash_game.listed({"root": (0, [0.25] * 2)}).initial_state()
    assert uct(c=1, playouts=2, seed=0, first_play_urgency=0.25).search(start).visits.tolist() == [1, 1]
    assert sorted(uct(c=1, playouts=3000, seed=0, first_play_urgency=0.2499).search(start).visits.tolist()) == [0, 3000]


def test_an_untried_move_is_tried_when_the_bound_has_fallen_to_the_urgency() -> None:
    """Without exploration, with an urgency of 1/2: the first move is tried alone until, after some playout, its mean is 1/2 or
    less, and then the other one is."""
    start = hash_game.listed({"root": (0, ["a", "a"]), "a": (1, [0.0, 0.0, 0.0, 1.0])}).initial_state()
    turns = []
    for seed in range(50):
        playouts = list(Search(start, UCD(c=0), seed=seed, first_play_urgency=0.5).steps(30))
        moves = [path[0][1] for path, _ in playouts]
        turns.append(next(turn for turn, move in enumerate(moves) if move != moves[0]))
        means = [sum(payoffs[0] for _, payoffs in playouts[:count]) / count for count in range(1, turns[-1] + 1)]
        assert all(mean > 0.5 for mean in means[:-1])
        assert means[-1] <= 0.5
    assert max(turns) > 1


def test_untried_moves_are_chosen_at_random_with_an_urgency() -> None:
    """Which of four moves comes first, and which second: 1,000 seeds, fair within chi-square at p = 0.001."""
    start = hash_game.listed({"root": (0, [0.0] * 4)}).initial_state()
    first, second = np.zeros(4), np.zeros(4)
    for seed in range(1000):
        paths = [path for path, _ in Search(start, UCD(c=C), seed=seed, first_play_urgency=0.9).steps(2)]
        first[paths[0][0][1]] += 1
        second[paths[1][0][1]] += 1
    for count in (first, second):
        assert ((count - 250) ** 2 / 250).sum() < 16.3


# Keeping the graph


Dump = dict[Name, tuple[Any, ...]]
"""For each position what its node holds: mover, moves with the tried ones first in order, weight and sums; and its edges in
order, each with its target."""


def dump(search: Search) -> Dump:
    """The whole graph by positions, to the last bit; in a tree, all below the root by their moves from there."""
    graph, found = search.graph, {}
    names = dict(search.nodes() if search.tree else everything(search))
    for node, name in names.items():
        record, edges = graph.nodes[node], graph.edges[graph.block(node)]
        first = int(record["first_action"])
        listed = graph.actions[first : first + int(record["legal"])].tolist()
        tried = int(record["expanded"])
        assert edges["action"].tolist() == listed[:tried]
        kept = [graph.edge_stats, graph.mean_value, graph.exploration]
        found[name] = (
            int(record["mover"]),
            sorted(listed[tried:]),
            graph.node_stats[node, 0],
            graph.node_stats[node, 1:].tobytes(),
            [
                (int(edge["action"]), int(edge["visits"]), int(edge["leaf_visits"]), names.get(int(edge["target"])))
                for edge in edges
            ],
            [array[graph.block(node)].tobytes() for array in kept],
        )
    return found


def everything(search: Search) -> Iterator[tuple[int, Name]]:
    """Every node with its position, whether it can be reached from the root or not."""
    return ((node, search.key_of(node)) for node in range(search.graph.node_count))


def below(found: Dump, root: Name) -> Dump:
    """The part that can be reached from a position; in a tree, named anew from there."""
    if isinstance(root, tuple):
        return {
            name[len(root) :]: (*rest, [(*edge[:3], edge[3] and edge[3][len(root) :]) for edge in edges], kept)
            for name, (*rest, edges, kept) in found.items()
            if name[: len(root)] == root
        }
    queue = [root]
    for name in queue:
        queue += {target for *_, target in found[name][4] if target is not None} - set(queue)
    return {name: found[name] for name in queue}


def known(search: Search, state: State) -> list[int]:
    """The nodes of a position in a search that keeps its graph."""
    return [node for node in range(search.graph.node_count) if search.key_of(node) == state.key]


def go_on(search: Search, log: Any, selection: Any, state: State) -> tuple[Any, str]:
    """Begins a search from another state: nothing that can be reached from there has changed, and the log knows what the graph
    knows. A log, and what became of the graph: "fresh", "rebuilt" or "whole"."""
    nodes, before, count = known(search, state), dump(search), search.graph.node_count
    names, back = dict(search.nodes()), state.ply < search.start.ply
    search.begin(state)
    graph = search.graph
    if back or not nodes:
        assert graph.node_count == 1
        assert graph.edge_count == 0
        assert graph.nodes[search.root]["legal"] == 0
        return log_of(selection, state.rules.players), "fresh"
    after_it = dump(search)
    if search.tree:
        assert any(below(before, names[node]) == after_it for node in nodes if node in names)
        return log, "rebuilt" if graph.node_count < count else "whole"
    assert search.key_of(search.root) == state.key
    assert below(after_it, state.key) == below(before, state.key)
    if graph.node_count == count:
        assert after_it == before
        return log, "whole"
    assert after_it == below(before, state.key)
    log.forget(state.key)
    return log, "rebuilt"


KEPT = [
    *(selection for selection in UCDS if selection.d1 < INF or selection.d2 == INF),
    UpdateAll(C),
    UCD(1, 2, 3, C, backup="section_3_4"),
]
FEW_KEPT = [UCD(1, 0, 1, C), UCD(2, 2, 2, C, store="nodes"), UCD(INF, INF, INF, C), UpdateAll(C)]


@pytest.mark.parametrize("selection", KEPT, ids=told)
@every_add
@pytest.mark.sweep(4)
def test_a_kept_graph_is_right_through_whole_games(selection: Any, add: str) -> None:
    """After each search of a game, own moves and random replies, the graph is that of a log which has only forgotten what a
    rebuilding gave back."""
    for number, start in enumerate((*random_games(seed=900, plies=9)[add == "all" :], *real_games()[2:])):
        rng = np.random.default_rng(number)
        search = Search(start, selection, reuse_graph=True, expand=add, first_play_urgency=(INF, 0.8)[number % 2])
        log, state = log_of(selection, start.rules.players), start
        while not state.over:
            if state is not start:
                log, _ = go_on(search, log, selection, state)
            for path, payoffs in search.steps(14):
                log.record(path, payoffs)
            assert_right(search, log, selection)
            block = search.graph.edges[search.graph.block(search.root)]
            state = state.after(int(block["action"][np.argmax(block["visits"])]))
            if not state.over and state.ply % 2 == 0:
                state = state.after(int(rng.choice(state.legal_actions())))


@pytest.mark.parametrize("selection", KEPT, ids=told)
@pytest.mark.sweep(2)
def test_a_search_after_going_back_to_an_earlier_position_is_right(selection: Any) -> None:
    """Forward and back again, over and over; what is in the graph, at the last root's ply or below, goes on, all else begins
    afresh, because what a search learns does not go up beyond its root."""
    ends: set[str] = set()
    for number, start in enumerate((*random_games(seed=1000), *real_games()[::2])):
        rng = np.random.default_rng(number)
        search, log = Search(start, selection, reuse_graph=True), log_of(selection, start.rules.players)
        line = [start]
        for turn in range(16):
            if turn:
                log, end = go_on(search, log, selection, line[-1])
                ends.add(end)
            for path, payoffs in search.steps(8):
                log.record(path, payoffs)
            assert_right(search, log, selection)
            forward = line[-1].after(int(rng.choice(line[-1].legal_actions())))
            if rng.random() < 0.5 and len(line) > 1:
                line.pop()
            elif not forward.over:
                line.append(forward)
    assert ends == {"fresh", "rebuilt", "whole"}


@pytest.mark.parametrize("selection", FEW_KEPT, ids=told)
@every_add
@pytest.mark.parametrize("most_edges", [1, 5, 20, 60])
@pytest.mark.sweep(2)
def test_a_kept_graph_is_right_at_every_limit(selection: Any, add: str, most_edges: int) -> None:
    """It never grows over the limit, whatever of it is garbage, and every playout of every search is made."""
    for start in random_games(seed=1100, plies=9)[add == "all" :]:
        search = Search(start, selection, reuse_graph=True, expand=add, most_edges=most_edges)
        log, state = log_of(selection, start.rules.players), start
        while not state.over:
            if state is not start:
                log, _ = go_on(search, log, selection, state)
            for path, payoffs in search.steps(25):
                log.record(path, payoffs)
                assert search.graph.edge_count <= most_edges
            assert_right(search, log, selection)
            state = state.after(state.legal_actions()[0])


@every_add
@pytest.mark.parametrize("tree", [True, False])
def test_a_kept_tree_is_right_through_whole_games(add: str, tree: bool) -> None:
    """Where every position is reached in one way a tree has the statistics of the log below its root; elsewhere those of one of
    its nodes with that position."""
    ends = set()
    for seed, players in product(range(8), (1, 2, 3)):
        width = {"tree": True} if tree else {"width": 5}
        start = hash_game.rules(seed=seed, players=players, branching=3, plies=8, **width).initial_state()
        search, state = Search(start, TREE, seed=seed, reuse_graph=True, expand=add), start
        while not state.over:
            if state is not start:
                ends.add(go_on(search, None, TREE, state)[1])
            kept = visits_at_root(search)
            for _ in search.steps(30):
                pass
            assert visits_at_root(search) == kept + 30
            assert_tree(search)
            block = search.graph.edges[search.graph.block(search.root)]
            state = state.after(int(block["action"][np.argmax(block["visits"])]))
    assert ends >= {"rebuilt", "whole"}


def visits_at_root(search: Search) -> int:
    """Playouts through all moves of the root."""
    return int(search.graph.edges[search.graph.block(search.root)]["visits"].sum())


def assert_tree(search: Search) -> None:
    """Mean, visits and weight of each node and edge below the root follow from the raw numbers, and n(e) = n'(e) + n below."""
    graph = search.graph
    for node, _ in search.nodes():
        block, mover = graph.block(node), int(graph.nodes[node]["mover"])
        visits = graph.edges[block]["visits"]
        assert close(graph.mean_value[block], graph.edge_stats[block, mover] / visits)
        assert close(graph.exploration[block], visits**-0.5)
        assert graph.node_stats[node, 1] == visits.sum()
        for edge in graph.edges[block]:
            if edge["target"] >= 0:
                assert edge["visits"] == edge["leaf_visits"] + graph.edges[graph.block(edge["target"])]["visits"].sum()


KEEPERS: dict[str, Callable[..., Planner]] = {
    "uct": uct,
    "simple_way": simple_way,
    "nodes": partial(ucd, 2, 1, 2, store="nodes"),
    "infinite": partial(ucd, INF, INF, INF),
    "update_all": update_all,
    "stop_and_correct": stop_and_correct,
    "catch_up": catch_up,
}
every_keeper = pytest.mark.parametrize("planner", KEEPERS.values(), ids=KEEPERS)


def played(planner: Planner, state: State, seed: int = 0) -> Iterator[tuple[State, SearchResult]]:
    """Every search of a game in which the planner's moves are answered at random."""
    rng = np.random.default_rng(seed)
    while not state.over:
        result = planner.search(state)
        yield state, result
        state = state.after(result.action)
        if not state.over and state.rules.players > 1:
            state = state.after(int(rng.choice(state.legal_actions())))


@every_keeper
def test_a_kept_graph_of_few_positions_leaves_its_table_half_empty(planner: Callable[..., Planner]) -> None:
    """However small what is left of the last search: a lookup ends at an empty slot. A budget in seconds asks for no room."""
    start = ucd_envs.make_rules("connect_four", columns=4, rows=4).initial_state()
    for playouts in range(1, 40):
        search = planner(seed=playouts, reuse_graph=True)
        result = search.search(start, playouts=playouts)
        state = start.after(int(result.actions[np.argmin(result.visits + (result.visits == 0) * 10**6)]))
        assert search.search(state, seconds=1e-6).visits.sum() >= 1
        for worker in search._workers:
            slots = worker.graph.record.slots.room
            assert slots == 0 or 2 * worker.graph.record.nodes.room <= slots


@every_keeper
@every_add
def test_visits_of_a_kept_position_are_added_to(planner: Callable[..., Planner], add: str) -> None:
    """Result by result, from outside: as many playouts as asked for, legal moves, visits on top of those there were."""
    search = planner(playouts=200, seed=1, reuse_graph=True, expand=add)
    more = 0
    for state, result in played(search, ucd_envs.make_rules("connect_four", columns=5, rows=5).initial_state()):
        assert result.playouts == 200
        assert result.actions.tolist() == state.legal_actions()
        assert result.visits.sum() >= 200
        assert result.action in state.legal_actions()
        assert result.principal_variation[0] == result.action
        assert 0 <= result.value <= 1
        more += result.visits.sum() > 200
    assert more >= 3


@every_keeper
def test_a_second_search_of_one_position_adds_to_the_first(planner: Callable[..., Planner]) -> None:
    """The same state again: visits add up, and after a reset the first search is repeated to the last bit."""
    start = real_games()[1]
    search = planner(playouts=100, seed=1, reuse_graph=True)
    first, second = search.search(start), search.search(start)
    assert second.playouts == 100
    assert (second.visits >= first.visits).all()
    assert second.visits.sum() >= first.visits.sum() + 100
    search.reset(1)
    assert same(search.search(start), first)
    assert same(planner(playouts=100, seed=1).search(start), first)


@every_keeper
def test_a_position_that_is_not_in_the_graph_begins_afresh(planner: Callable[..., Planner]) -> None:
    """Another position of the game, and another game: to the last bit what a search without a graph finds there."""
    start, other = after(ucd_envs.make_rules("tic_tac_toe"), 0, 1), after(ucd_envs.make_rules("tic_tac_toe"), 8, 2)
    for elsewhere in (other, ucd_envs.make_rules("hex", size=3).initial_state()):
        keeping, plain = (planner(playouts=150, seed=5, reuse_graph=keep) for keep in (True, False))
        assert same(keeping.search(start), plain.search(start))
        assert same(keeping.search(elsewhere), plain.search(elsewhere))


@every_keeper
def test_without_keep_a_search_begins_afresh(planner: Callable[..., Planner]) -> None:
    """The visits of each are its own playouts."""
    search = planner(playouts=100, seed=1)
    for _ in range(3):
        result = search.search(real_games()[0])
        assert result.visits.sum() == 100 or planner is update_all


@every_keeper
def test_workers_keep_their_own_graphs(planner: Callable[..., Planner]) -> None:
    """Two of them through a game: the same seed gives the same, and each graph's root has its share of playouts or more."""
    start = ucd_envs.make_rules("connect_four", columns=4, rows=5).initial_state()
    left, right = (planner(playouts=301, seed=2, workers=2, reuse_graph=True) for _ in range(2))
    games = list(played(left, start)), list(played(right, start))
    assert all(a[0] == b[0] and same(a[1], b[1]) for a, b in zip(*games, strict=True))
    assert all(result.playouts == 301 and result.visits.sum() >= 301 for _, result in games[0])
    shares = [worker.graph.playouts for worker in left._workers]
    assert sorted(shares) == [150, 151]
    total = 0
    for worker in left._workers:
        edges = worker.graph.edges[worker.graph.block(worker.graph.root)]
        assert edges["visits"].sum() >= 150
        total += edges["visits"].sum()
    assert games[0][-1][1].visits.sum() == total


@pytest.mark.parametrize("selection", [TREE, *FEW_KEPT], ids=told)
@pytest.mark.parametrize("game", ["leftright", "hex"])
@pytest.mark.sweep(2)
def test_memory_is_given_back_over_a_long_game(selection: Any, game: str) -> None:
    """64 steps of LeftRight, and Hex 7x7 with own moves on both sides. After each search there are at most twice the edges that
    could be reached after the largest search so far, and what one search adds; memory goes with that, and not with all that
    was ever added, which in Hex is several times as much."""
    start, playouts = {
        "leftright": (ucd_envs.make_rules("leftright", steps=64).initial_state(), 200),
        "hex": (ucd_envs.make_rules("hex", size=7).initial_state(), 1000),
    }[game]
    search, state = Search(start, selection, reuse_graph=True), start
    grown, reached, most, fresh_bytes = [], [], [], 0
    while not state.over:
        if state is not start:
            search.begin(state)
        before = search.graph.edge_count
        search.run(search.graph.playouts + playouts)
        graph = search.graph
        most.append(graph.edge_count)
        grown.append(most[-1] - before)
        reached.append(sum(1 for _ in search.edges()))
        fresh_bytes = fresh_bytes or graph.bytes
        assert most[-1] <= 2 * max(reached) + max(grown)
        assert graph.bytes <= 3 * fresh_bytes * max(most) / most[0]
        block = graph.edges[graph.block(search.root)]
        state = state.after(int(block["action"][np.argmax(block["visits"])]))
    assert game == "leftright" or max(most) < sum(grown) / 2


@every_keeper
def test_a_full_kept_graph_goes_on(planner: Callable[..., Planner]) -> None:
    """A whole game in a graph of 2, 10 or 100 nodes: every search makes its playouts and has a legal move to play."""
    for most in (2, 10, 100):
        for start in (ucd_envs.make_rules("connect_four", columns=4, rows=4).initial_state(), real_games()[3]):
            for state, result in played(planner(playouts=100, seed=3, reuse_graph=True, max_nodes=most), start):
                assert result.playouts == 100
                assert result.action in state.legal_actions()
                assert result.visits.sum() >= 1
                assert 0 <= result.value <= 1


# Mistakes


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"expand": "some"}, ValueError, "expand must be one of first, all, not 'some'"),
        ({"expand": None}, ValueError, "expand must be one of first, all, not None"),
        ({"first_play_urgency": math.nan}, ValueError, "first_play_urgency .*nan"),
        ({"first_play_urgency": -1}, ValueError, "first_play_urgency .*-1"),
        ({"first_play_urgency": -math.inf}, ValueError, "first_play_urgency .*-inf"),
        ({"first_play_urgency": "x"}, TypeError, "first_play_urgency must be a number, not 'x'"),
        ({"first_play_urgency": True}, TypeError, "first_play_urgency must be a number, not True"),
        ({"first_play_urgency": None}, TypeError, "first_play_urgency must be a number, not None"),
        ({"store": "x"}, ValueError, "store must be one of edges, nodes, not 'x'"),
        ({"reuse_graph": "yes"}, TypeError, "reuse_graph must be True or False, not 'yes'"),
        ({"reuse_graph": 1}, TypeError, "reuse_graph must be True or False, not 1"),
        ({"reuse_graph": None}, TypeError, "reuse_graph must be True or False, not None"),
        ({"store": "nodes", "backup": "section_3_4"}, ValueError, ".*"),
    ],
    ids=str,
)
def test_a_mistaken_option_is_refused_in_one_sentence(options: dict[str, Any], error: type[Exception], words: str) -> None:
    """By the planner or by the selection, before anything is searched."""
    with pytest.raises(error, match=rf"\A{words}.*\Z") as refusal:
        ucd(playouts=5, **options)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 120


def test_store_at_nodes_needs_a_table() -> None:
    """A tree has one edge into each position."""
    with pytest.raises(ValueError, match=r"\A[^\n]*store[^\n]*\Z"):
        UCD(table=False, store="nodes")


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_the_help_of_a_preset_lists_every_option(preset: Any) -> None:
    """F2-51."""
    text = pydoc.plain(pydoc.render_doc(preset))
    assert "**options" not in text
    assert all(f"{option}: " in text for option in PlannerOptions.__annotations__)
