"""The compiled search from outside: counts, the table, growth, limits, chance, and positions with a known answer."""

from __future__ import annotations

import inspect
import math
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import hash_game
import numba
import numpy as np
import pytest
from scipy.stats import chisquare

import ucd_envs
import ucd_planners.worker
from ucd_envs.rules import State
from ucd_planners import Planner, SearchResult, simple_way, ucd, uct, uct1, uct3, update_all
from ucd_planners.search.storage import Graph

HERE = Path(__file__).resolve().parent
INF = math.inf
SIGNATURE = "117688415943835"

PRESETS: dict[str, Callable[..., Planner]] = {
    "uct": uct,
    "ucd": simple_way,
    "deep": partial(ucd, 2, 1, 3),
    "infinite": partial(ucd, INF, INF, INF),
    "section_3_4": partial(ucd, 1, 1, 1, backup="section_3_4"),
    "update_all": update_all,
}
every_planner = pytest.mark.parametrize("planner", PRESETS.values(), ids=PRESETS)
SHARING = {name: preset for name, preset in PRESETS.items() if name != "uct"}
every_graph = pytest.mark.parametrize("planner", SHARING.values(), ids=SHARING)


def after(name: str, *moves: str, **settings: Any) -> State:
    """The state of a game after moves, written as its players write them."""
    rules = ucd_envs.make_rules(name, **settings)
    state = rules.initial_state()
    for move in moves:
        state = state.after(rules.initial_state().action_named(move))
    return state


def graph_of(planner: Planner) -> Graph:
    """The graph of a planner's last search."""
    return planner._workers[0].graph


@cache
def known_states(start: State) -> dict[bytes, State]:
    """Every state that can be reached and has a move, by its position."""
    found = {start.key: start}
    queue = [start]
    for state in queue:
        for action in state.legal_actions():
            child = state.after(action)
            if not child.over and child.key not in found:
                found[child.key] = child
                queue.append(child)
    return found


def same(left: SearchResult, right: SearchResult) -> bool:
    """Whether two searches found the same, to the last bit."""
    return (
        left.action == right.action
        and left.visits.tobytes() == right.visits.tobytes()
        and left.values.tobytes() == right.values.tobytes()
        and left.principal_variation == right.principal_variation
        and (left.nodes, left.edges, left.transpositions, left.depth)
        == (right.nodes, right.edges, right.transpositions, right.depth)
    )


# Counts


SMALL = {
    "tic_tac_toe": after("tic_tac_toe"),
    "hex": after("hex", size=4),
    "connect_four": after("connect_four", columns=4, rows=4),
    "leftright": after("leftright", steps=12),
}
every_game = pytest.mark.parametrize("start", SMALL.values(), ids=SMALL)


@every_game
@every_planner
def test_the_root_is_visited_once_a_playout(planner: Callable[..., Planner], start: State) -> None:
    """B067. With update-all a playout may count at several moves."""
    result = planner(playouts=1000, seed=0).search(start)
    assert result.playouts == 1000
    assert result.visits.sum() == 1000 if planner is not update_all else result.visits.sum() >= 1000


@every_game
@pytest.mark.parametrize("planner", [simple_way, partial(ucd, INF, INF, INF)], ids=["ucd", "infinite"])
def test_what_goes_into_a_position_ends_there_or_goes_on(planner: Callable[..., Planner], start: State) -> None:
    """B067: at every node but the root the visits of the edges in, less those that ended there, are those of the edges out; and
    so are the payoffs."""
    search = planner(playouts=2000, seed=0)
    search.search(start)
    graph = graph_of(search)
    count = graph.node_count
    into, out = np.zeros(count, np.int64), np.zeros(count, np.int64)
    paid_into, paid_out = np.zeros((count, start.rules.players)), np.zeros((count, start.rules.players))
    for node in range(count):
        block = graph.block(node)
        value_sum, leaf_value_sum = np.split(graph.edge_stats[block, : 2 * start.rules.players], 2, axis=1)
        for edge, paid, ended in zip(graph.edges[block], value_sum, leaf_value_sum, strict=True):
            out[node] += edge["visits"]
            paid_out[node] += paid
            if edge["target"] >= 0:
                into[edge["target"]] += edge["visits"] - edge["leaf_visits"]
                paid_into[edge["target"]] += paid - ended
    assert into[1:].tolist() == out[1:].tolist()
    assert paid_into[1:] == pytest.approx(paid_out[1:])


@every_game
def test_in_a_tree_a_move_counts_its_first_playout_and_those_below(start: State) -> None:
    """B067: n(e) = 1 + sum of n below, for every edge whose position has been entered."""
    search = uct(playouts=2000, seed=0)
    search.search(start)
    graph = graph_of(search)
    entered = 0
    for node in range(graph.node_count):
        for edge in graph.edges[graph.block(node)]:
            if edge["target"] >= 0:
                entered += 1
                assert edge["visits"] == 1 + graph.edges[graph.block(edge["target"])]["visits"].sum()
    assert entered == graph.node_count - 1


@every_game
@every_planner
def test_payoffs_at_the_root_add_up_to_the_value(planner: Callable[..., Planner], start: State) -> None:
    """B067: the value is the mean over moves, by visits, and lies in [0, 1]."""
    result = planner(playouts=1000, seed=0).search(start)
    assert result.value == pytest.approx(float(np.average(result.values, weights=result.visits)))
    assert 0 <= result.value <= 1


@every_planner
def test_a_budget_below_the_number_of_moves_visits_as_many_moves(planner: Callable[..., Planner]) -> None:
    """B070: with 1, 2, ... 9 playouts for the nine moves, one each, and a legal move comes out."""
    for playouts in range(1, 10):
        result = planner(playouts=playouts, seed=playouts).search(SMALL["tic_tac_toe"])
        assert sorted(result.visits.tolist()) == [0] * (9 - playouts) + [1] * playouts
        assert result.visits[result.actions.tolist().index(result.action)] == 1


@every_planner
def test_one_playout_in_a_large_game_gives_a_legal_move(planner: Callable[..., Planner]) -> None:
    """B070, on the largest board there is."""
    state = after("hex", size=19)
    assert planner(playouts=1, seed=0).search(state).action in state.legal_actions()


@every_planner
def test_a_move_that_ends_the_game_has_its_payoff_exactly(planner: Callable[..., Planner]) -> None:
    """B071: no playout goes on behind the end, whatever else has been tried."""
    ends = (0.25, 1.0, 0.0, 0.625)
    game = hash_game.listed({"root": (0, [*ends])}).initial_state()
    result = planner(playouts=500, seed=0).search(game)
    assert result.values.tolist() == list(ends)
    assert (result.nodes, result.depth) == ((5 if planner is uct else 1), 1)


@every_planner
def test_a_finished_position_uses_no_chance(planner: Callable[..., Planner]) -> None:
    """B071: one move, which ends the game: the choice among one move draws once, the first time, and then nothing."""
    game = hash_game.listed({"root": (0, [1.0])}).initial_state()
    few, many = planner(playouts=1, seed=4), planner(playouts=1000, seed=4)
    few.search(game), many.search(game)
    assert few._workers[0].sim.rng.tolist() == many._workers[0].sim.rng.tolist()


@every_planner
def test_visits_gather_on_a_move_that_wins_at_once(planner: Callable[..., Planner]) -> None:
    """B071: x wins with c1; its mean is 1 and it has most of the playouts."""
    state = after("tic_tac_toe", "a1", "a2", "b1", "b2")
    result = planner(playouts=1000, seed=0).search(state)
    place = result.actions.tolist().index(2)
    assert (result.action, result.values[place]) == (2, 1.0)
    assert result.visits[place] > 800


# Chance


def test_equal_moves_are_chosen_equally_often() -> None:
    """B074: five moves with one payoff, 20 playouts, four each: over 2,000 seeds a fair choice among the five."""
    game = hash_game.listed({"root": (0, [0.5] * 5)}).initial_state()
    planner = uct(playouts=20)
    chosen = np.zeros(5, int)
    for seed in range(2000):
        planner.reset(seed)
        result = planner.search(game)
        assert result.visits.tolist() == [4] * 5
        chosen[result.action] += 1
    assert chisquare(chosen).pvalue > 0.001


@every_planner
def test_moves_are_tried_in_random_order(planner: Callable[..., Planner]) -> None:
    """B074: which move is tried first, and which second, is fair over 1,000 seeds."""
    game = hash_game.listed({"root": (0, ["a"] * 4), "a": (1, [0.0, 1.0])}).initial_state()
    first, search = np.zeros(4, int), planner(playouts=1)
    pairs, twice = np.zeros((4, 4), int), planner(playouts=2)
    for seed in range(1000):
        search.reset(seed)
        twice.reset(seed)
        first += search.search(game).visits
        both = np.flatnonzero(twice.search(game).visits)
        pairs[both[0], both[-1]] += 1
    assert chisquare(first).pvalue > 0.001
    assert chisquare(pairs[np.triu_indices(4, 1)]).pvalue > 0.001


@every_planner
def test_ties_of_bounds_are_broken_at_random(planner: Callable[..., Planner]) -> None:
    """B074: of three equal moves with one playout each, the fourth goes to any, in the order of their first trial and of their
    numbers."""
    game = hash_game.listed({"root": (0, [0.5] * 3)}).initial_state()
    search, by_trial, by_number = planner(playouts=4), np.zeros(3, int), np.zeros(3, int)
    for seed in range(1000):
        search.reset(seed)
        by_number += search.search(game).visits - 1
        by_trial += graph_of(search).edges[graph_of(search).block(0)]["visits"] - 1
    assert chisquare(by_number).pvalue > 0.001
    assert chisquare(by_trial).pvalue > 0.001


@every_game
@every_planner
def test_the_same_seed_finds_the_same_and_another_seed_something_else(planner: Callable[..., Planner], start: State) -> None:
    """B085."""
    first, again, other = (planner(playouts=500, seed=seed).search(start) for seed in (5, 5, 6))
    assert same(first, again)
    assert not same(first, other)


def signature(**environment: str) -> subprocess.Popen[str]:
    """The script tests/signature.py in a process of its own."""
    settings = {**os.environ, "PYTHONPATH": str(HERE.parent), **environment}
    command = [sys.executable, "-W", "error", str(HERE / "signature.py")]
    return subprocess.Popen(command, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_the_signature_is_the_same_in_every_process() -> None:
    """B085: Python's hash seed changes nothing.

    A change of this number is a change of behaviour and says why in its commit.
    """
    assert [signature(PYTHONHASHSEED=seed).communicate()[0].strip() for seed in ("0", "1")] == [SIGNATURE] * 2


@pytest.mark.slow
def test_the_signature_is_the_same_without_the_compiler() -> None:
    """B113: plain Python finds the same, to the last bit."""
    assert signature(NUMBA_DISABLE_JIT="1").communicate()[0].strip() == SIGNATURE


def visits_of(seed: int) -> list[int]:
    """A search that a process may run: its visits."""
    return simple_way(playouts=300, seed=seed).search(SMALL["hex"]).visits.tolist()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_find_what_one_process_finds(method: str) -> None:
    """B116: seeds go with searches, not with processes."""
    with ProcessPoolExecutor(2, mp_context=get_context(method)) as processes:
        assert list(processes.map(visits_of, range(8))) == [visits_of(seed) for seed in range(8)]


def test_searches_one_after_another_differ() -> None:
    """B116: each search of a planner has chance of its own."""
    planner = uct(playouts=300, seed=0)
    assert len({planner.search(SMALL["hex"]).visits.tobytes() for _ in range(50)}) == 50


def test_seeds_differ() -> None:
    """B116: 50 seeds, 50 different tables of visits."""
    assert len({uct(playouts=300, seed=seed).search(SMALL["hex"]).visits.tobytes() for seed in range(50)}) == 50


@numba.njit
def numbas_random() -> float:
    """A draw of the generator that numba hides."""
    return np.random.random()


def test_other_generators_neither_change_a_search_nor_are_changed() -> None:
    """B115: NumPy's generator and numba's, seeded, drawn from in between, or left alone."""
    quiet = uct(playouts=200, seed=3)
    expected = [quiet.search(SMALL["hex"]) for _ in range(4)]
    noisy = uct(playouts=200, seed=3)
    for seed, result in enumerate(expected):
        np.random.seed(seed)
        before = np.random.get_state()[1].tolist()
        numbas_random()
        assert same(noisy.search(SMALL["hex"]), result)
        assert np.random.get_state()[1].tolist() == before


# The table


@every_graph
def test_two_orders_of_moves_lead_to_one_search(planner: Callable[..., Planner]) -> None:
    """B088: the states are equal, and so is all that a search finds."""
    left = after("connect_four", "1", "2", "3", "4", "5")
    right = after("connect_four", "3", "4", "5", "2", "1")
    assert left == right
    assert same(planner(playouts=500, seed=0).search(left), planner(playouts=500, seed=0).search(right))


def test_positions_that_differ_in_the_mover_are_not_merged() -> None:
    """B088, B089: after a swap the same stones, but with another owner or mover, are other positions."""
    swapped = after("hex", "b1", "swap", size=2, swap=True)
    assert swapped != after("hex", "b1", size=2, swap=True)


EXHAUSTED = {
    "tic_tac_toe": after("tic_tac_toe"),
    "hex 2x3": after("hex", rows=2, columns=3),
    "hex 2x2 with a swap": after("hex", size=2, swap=True),
    "connect_four 3x3": after("connect_four", columns=3, rows=3, in_a_row=3),
    "leftright": after("leftright", steps=12),
    "hash": hash_game.rules(seed=1, width=9, branching=4, plies=8, players=3).initial_state(),
}


@pytest.mark.parametrize("start", EXHAUSTED.values(), ids=EXHAUSTED)
def test_a_search_of_the_whole_game_has_one_node_for_every_position(start: State) -> None:
    """B089: as many as breadth-first enumeration finds; exploration makes sure that nothing is missed."""
    planner = uct1(c=100.0, playouts=100_000, seed=0)
    planner.search(start)
    assert_table(planner, start)
    assert graph_of(planner).node_count == len(known_states(start))


@every_graph
@pytest.mark.parametrize("start", EXHAUSTED.values(), ids=EXHAUSTED)
def test_the_table_merges_no_two_positions(planner: Callable[..., Planner], start: State) -> None:
    """B089: so does every planner, with the figures of the result."""
    search = planner(playouts=3000, seed=0)
    result = search.search(start)
    assert_table(search, start)
    graph = graph_of(search)
    endings = sum(int((graph.edges[graph.block(node)]["target"] < 0).sum()) for node in range(result.nodes))
    assert result.transpositions == result.edges - endings - (result.nodes - 1)


def assert_table(planner: Planner, start: State) -> None:
    """No position has two nodes; each node has its position's mover and moves, and each edge leads where its move leads."""
    graph, states = graph_of(planner), known_states(start)
    plies = graph.nodes["ply"][: graph.node_count].astype("<u8")
    positions = [graph.keys[node].tobytes() + ply.tobytes() for node, ply in enumerate(plies)]
    assert len(set(positions)) == len(positions)
    for node, position in enumerate(positions):
        state, first = states[position], int(graph.nodes[node]["first_action"])
        assert graph.nodes[node]["mover"] == state.player
        listed = graph.actions[first : first + graph.nodes[node]["legal"]].tolist()
        assert sorted(listed) == (state.legal_actions() if listed else [])
        assert graph.edges[graph.block(node)]["action"].tolist() == listed[: graph.nodes[node]["expanded"]]
        for edge in graph.edges[graph.block(node)]:
            child = state.after(int(edge["action"]))
            assert child.over if edge["target"] < 0 else positions[edge["target"]] == child.key


# Growth and limits


LARGE = {
    "hex": after("hex", size=5, opening="b2"),
    "connect_four": after("connect_four"),
    "leftright": after("leftright", steps=100),
}


@every_game
@every_planner
@pytest.mark.parametrize("room", [1, 2, 3, 7, 64])
def test_room_at_first_changes_nothing(
    planner: Callable[..., Planner], start: State, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B113: with arrays that have to grow in the middle of simulations, all is the same to the last bit."""
    expected = planner(playouts=1500, seed=2).search(start)
    make_room, grow, grown = Graph.make_room, Graph.grow, []
    monkeypatch.setattr(Graph, "make_room", lambda graph, playouts: make_room(graph, min(playouts, room)))
    monkeypatch.setattr(Graph, "grow", lambda graph, *wanted: (grown.append(wanted), grow(graph, *wanted)))
    assert same(planner(playouts=1500, seed=2).search(start), expected)
    assert grown or room == 64


@every_game
@every_planner
@pytest.mark.parametrize("seconds", [1e-6, 10.0])
def test_the_length_of_a_piece_changes_nothing(
    planner: Callable[..., Planner], start: State, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B085: neither looks at the clock after every playout, nor a single one, nor a callback."""
    expected = planner(playouts=700, seed=2).search(start)
    monkeypatch.setattr(ucd_planners.worker, "CHUNK_SECONDS", seconds)
    seen: list[int] = []
    assert same(planner(playouts=700, seed=2, progress=lambda done, _: seen.append(done)).search(start), expected)
    assert seen[-1] == 700


@every_planner
@pytest.mark.parametrize("most", [2, 3, 100])
def test_a_full_graph_ends_neither_the_search_nor_the_process(planner: Callable[..., Planner], most: int) -> None:
    """B095: 10,000 playouts in a graph of so many nodes: all are made, inside it."""
    for start in LARGE.values():
        result = planner(playouts=10_000, seed=0, max_nodes=most).search(start)
        assert (result.playouts, result.full, result.stopped) == (10_000, True, "playouts")
        assert result.nodes <= most
        assert result.action in start.legal_actions()


def test_a_full_graph_does_not_stop_the_clock() -> None:
    """B095: a budget of seconds ends in time."""
    result = simple_way(seconds=0.2, max_nodes=2, seed=0).search(SMALL["hex"])
    assert (result.stopped, result.full) == ("seconds", True)
    assert 0.2 <= result.seconds < 2


@every_graph
def test_a_full_graph_has_every_position_once(planner: Callable[..., Planner]) -> None:
    """B080, B089: at every limit, the last edge too leads to the node that its position has already."""
    for start in (EXHAUSTED["tic_tac_toe"], EXHAUSTED["leftright"], EXHAUSTED["hash"]):
        for most in range(2, 60):
            search = planner(playouts=300, seed=most, max_nodes=most)
            search.search(start)
            assert_table(search, start)


@every_planner
def test_memory_stays_as_it_is_from_search_to_search(planner: Callable[..., Planner]) -> None:
    """B080: 60 searches of one planner, as in a long match; what the first took is enough for all."""
    search = planner(playouts=2000, seed=0)
    sizes = [search.search(SMALL["hex"]).bytes for _ in range(60)]
    assert max(sizes[10:]) <= 1.1 * max(sizes[:10])


def test_the_process_does_not_grow_from_search_to_search() -> None:
    """B080: resident memory after 20 searches and after 200 more, with new states, results and planners all the time."""

    def search(seed: int) -> None:
        state = after("hex", "b2", "c3", size=5)
        simple_way(playouts=1000, seed=seed).search(state.after(state.legal_actions()[seed % 20]))

    for seed in range(20):
        search(seed)
    before = resident()
    for seed in range(200):
        search(seed)
    assert resident() - before < 16_000_000


def resident() -> int:
    """Bytes of memory that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


CHAIN = {str(ply): (ply % 2, [str(ply + 1) if ply < 1499 else 1.0]) for ply in range(1500)}
"""A game of 1,500 forced moves."""


@every_planner
def test_descents_are_longer_than_python_could_recur(planner: Callable[..., Planner]) -> None:
    """B079: 1,500 plies down, with room for 100 calls."""
    start = hash_game.listed(CHAIN).initial_state()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 100)
    try:
        result = planner(playouts=1600, seed=0).search(start)
    finally:
        sys.setrecursionlimit(limit)
    assert (result.depth, len(result.principal_variation)) == (1500, 1500)
    assert result.value == 1.0


@every_planner
def test_playouts_are_longer_than_python_could_recur(planner: Callable[..., Planner]) -> None:
    """B079: 5,000 steps to the end of LeftRight."""
    start = after("leftright", steps=5000)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 100)
    try:
        result = planner(playouts=300, seed=0).search(start)
    finally:
        sys.setrecursionlimit(limit)
    assert 0.45 < result.value < 0.55


# Positions with a known answer


def noughts(*rows: str) -> State:
    """A tic-tac-toe position, x to move when there are as many x as o."""
    state = ucd_envs.make_rules("tic_tac_toe").initial_state()
    cells = "".join(rows)
    stones = {stone: [cell for cell, mark in enumerate(cells) if mark == stone] for stone in "xo"}
    for turn in range(len(stones["x"]) + len(stones["o"])):
        state = state.after(stones["xo"[turn % 2]][turn // 2])
    return state


@every_planner
@pytest.mark.parametrize(
    ("state", "move"),
    [
        pytest.param(noughts("xx.", "oo.", "..."), "c1", id="x wins"),
        pytest.param(noughts("x.x", "oo.", ".x."), "c2", id="o wins rather than stop x"),
        pytest.param(noughts("x.o", ".o.", "x.."), "a2", id="x wins rather than stop o"),
        pytest.param(noughts("xx.", ".o.", "..."), "c1", id="o must stop x"),
        pytest.param(noughts("x.o", "...", "x.o"), "a2", id="x wins in the first column"),
        pytest.param(after("connect_four", "4", "5", "3", "5", "2", "6"), "1", id="player 0 makes four"),
        pytest.param(after("connect_four", "1", "4", "1", "4", "1", "3"), "1", id="four in a column"),
        pytest.param(after("connect_four", "1", "4", "1", "4", "1"), "1", id="player 1 must stop a column"),
        pytest.param(after("hex", "b1", "a1", "b2", "a2", "b3", "a4", size=4), "b4", id="player 0 joins top and bottom"),
        pytest.param(after("hex", "a4", "a1", "b4", "b1", "d4", "c1", "a3", size=4), "d1", id="player 1 joins left and right"),
        pytest.param(after("hex", "d4", "a1", "d3", "b1", "d2", "c1", size=4), "d1", id="one cell for both"),
    ],
)
def test_the_only_good_move_is_found(planner: Callable[..., Planner], state: State, move: str) -> None:
    """A win in one, or the only defence against one."""
    assert state.action_name(planner(playouts=3000, seed=0).search(state).action) == move


@every_planner
def test_winning_openings_of_hex_are_preferred(planner: Callable[..., Planner]) -> None:
    """F03: on 3x3 the first player wins with c1, a2, b2, c2 and a3, and with no other move."""
    start = after("hex", size=3)
    chosen = {start.action_name(planner(playouts=3000, seed=seed).search(start).action) for seed in range(20)}
    assert chosen <= {"c1", "a2", "b2", "c2", "a3"}


@every_planner
@pytest.mark.parametrize(("rows", "columns", "least", "most"), [(2, 3, 0.95, 1.0), (3, 2, 0.0, 0.05)])
def test_the_player_whose_sides_are_near_wins_hex(
    planner: Callable[..., Planner], rows: int, columns: int, least: float, most: float
) -> None:
    """F03: on 2 rows and 3 columns the first player wins from every opening, on 3 rows and 2 columns the second does."""
    result = planner(playouts=20_000, seed=0).search(after("hex", rows=rows, columns=columns))
    assert least <= result.value <= most


def left_share(planner: Callable[..., Planner], steps: int, games: int) -> float:
    """The mean payoff of LeftRight, played with 100 playouts a move."""
    total = 0.0
    for seed in range(games):
        mover, state = planner(playouts=100, seed=seed), after("leftright", steps=steps)
        while not state.over:
            state = state.after(mover.search(state).action)
        total += state.payoffs()[0]
    return total / games


@pytest.mark.parametrize(
    ("planner", "least", "most"),
    [(uct, 0.79, 0.84), (simple_way, 0.97, 1.0), (uct3, 0.94, 0.98), (partial(ucd, INF, 0, 1), 0.993, 1.0)],
    ids=["uct", "simple_way", "uct3", "best"],
)
def test_leftright_goes_as_in_the_paper(planner: Callable[..., Planner], least: float, most: float) -> None:
    """[UCD 4.1]: 300 steps, 100 playouts a move, c = 0.3. The paper has 81.5 % for UCT and 99.8 % for (inf, 0, 1)."""
    assert least < left_share(planner, 300, 8) < most
