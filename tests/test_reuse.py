"""Kept graphs: what is reused is told, what is out of reach is given back, and neither changes what a search finds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from signature import found
from test_saved import PLANNERS, every_planner, start

from ucd_envs.rules import State
from ucd_planners import Planner, SearchResult, rave, rave_ucd, ucd, uct, update_all
from ucd_planners.playouts import PoolRAVE
from ucd_planners.search import storage
from ucd_planners.search.storage import Graph


def game_of(planner: Planner, state: State, moves: int) -> list[SearchResult]:
    """What a planner finds in a game that it plays against the replies that it has visited most."""
    results: list[SearchResult] = []
    while not state.over and len(results) < moves:
        results.append(planner.search(state))
        state = reply_to(results[-1])
    return results


def reply_to(result: SearchResult) -> State:
    """The position after a result's move and the most visited reply."""
    state = result.state
    for action in result.principal_variation[:2]:
        state = state.after(action)
    return state


@every_planner
def test_the_visits_before_a_search_are_told(planner: Callable[..., Planner]) -> None:
    """All visits of the root's moves are of this search or reused, but with update-all, where a playout counts for several, and
    where choices have ended without a playout below the root."""
    made = planner(playouts=240, seed=4, reuse_graph=True)
    results = game_of(made, start(size=4), 5)
    assert results[0].reused == 0
    assert any(result.reused > 0 for result in results[1:])
    if planner is not update_all:
        assert [result.visits.sum() - result.reused for result in results] == [result.playouts for result in results]
    fresh = planner(playouts=240, seed=4)
    assert [result.reused for result in game_of(fresh, start(size=4), 3)] == [0, 0, 0]


def test_in_a_tree_a_moves_visits_but_the_first_are_reused_after_it() -> None:
    """The first playout through a move ended with it: of its visits n, n - 1 chose among its replies."""
    planner = uct(playouts=300, seed=1, reuse_graph=True)
    state = start()
    first = planner.search(state)
    second = planner.search(state.after(first.action))
    assert second.reused == first.visits.max() - 1
    assert f"{second.reused} visits reused" in str(second)
    assert "reused" not in str(first)


def test_the_visits_of_all_workers_are_reused() -> None:
    planner = ucd(1, 0, 1, playouts=300, seed=1, workers=3, reuse_graph=True)
    state = start()
    first = planner.search(state)
    second = planner.search(state.after(first.action))
    assert second.visits.sum() == second.reused + 300
    assert second.reused == sum(worker.graph.reused for worker in planner._workers) > 0


@every_planner
def test_a_position_above_the_last_one_begins_afresh(planner: Callable[..., Planner]) -> None:
    """Playouts from below have not gone up to it, so its sums would be wrong: the search is that of a new graph."""
    state = start(size=4)
    kept, fresh = (planner(playouts=120, seed=2, reuse_graph=keep) for keep in (True, False))
    first = kept.search(state)
    assert found(first) == found(fresh.search(state))
    below, above = reply_to(first), state.after(first.action)
    assert kept.search(below).reused > 0
    fresh.search(below)
    one, other = kept.search(above), fresh.search(above)
    assert one.reused == 0
    assert found(one) == found(other)
    assert kept.search(reply_to(one)).reused > 0


@every_planner
def test_a_search_is_the_same_however_often_the_graph_is_rebuilt(
    planner: Callable[..., Planner], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every move, or only when it has doubled; with room made ahead or not, and the second graph's memory kept or not."""
    rebuilt, counted = Graph._rebuilt, [0]

    def counting(graph: Graph) -> Graph:
        counted[0] += 1
        return rebuilt(graph)

    monkeypatch.setattr(Graph, "_rebuilt", counting)
    # Where a limit is met it counts what was given back.
    options = {"max_nodes": 10_000} if planner is PLANNERS["small"] else {}
    results: list[list[tuple[int, list[int], list[float]]]] = []
    often = []
    for copied, searches, large in ((0, 8, 2**27), (10**9, 8, 2**27), (10**9, 1, 0), (512, 1, 2**27)):
        for name, value in (("COPIED", copied), ("SEARCHES", searches), ("LARGE", large)):
            monkeypatch.setattr(storage, name, value)
        counted[0] = 0
        made = planner(playouts=150, seed=6, reuse_graph=True, **options)
        game = game_of(made, start(size=4), 6)
        results.append([(each.action, each.visits.tolist(), np.nan_to_num(each.values, nan=-1.0).tolist()) for each in game])
        often.append(counted[0])
    assert all(each == results[0] for each in results)
    assert often[1] >= often[0] > 0


def test_a_graph_that_has_stopped_growing_gives_positions_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tic-tac-toe's 5478 positions are soon all known, and a graph without new edges would never double."""
    counts = []
    for copied in (0, storage.COPIED):
        monkeypatch.setattr(storage, "COPIED", copied)
        planner = ucd(1, 0, 1, playouts=10_000, seed=1, reuse_graph=True)
        state = start("tic_tac_toe")
        for _ in range(3):
            result = planner.search(state)
            state = reply_to(result)
        counts.append(result.nodes)
    assert counts[1] < counts[0] / 2


@pytest.mark.parametrize("planner", [rave, rave_ucd, lambda **options: rave(policies=PoolRAVE(), **options)])
def test_rows_of_played_actions_follow_their_nodes(planner: Callable[..., Planner], monkeypatch: pytest.MonkeyPatch) -> None:
    """A rebuilt graph is handed the rows and copies their numbers: each node has its own, and no row has two nodes."""
    monkeypatch.setattr(storage, "COPIED", 10**9)
    made = planner(playouts=400, seed=1, reuse_graph=True)
    state = start(size=4)
    for _ in range(3):
        state = reply_to(made.search(state))
        worker = made._workers[0]
        before = played_in(worker.graph)
        worker.graph = worker.graph.begin(np.frombuffer(state.words, np.uint64), state.player, state.ply)
        assert 0 < worker.graph.node_count < len(before)
        assert played_in(worker.graph) <= before


def played_in(graph: Graph) -> set[tuple[bytes, int, bytes]]:
    """The keys, plies and played actions of all nodes. Asserts that every row has one place."""
    rows = graph.played_rows[:, 0].tolist()
    assert sorted(rows) == list(range(len(rows)))
    keys, plies, played = graph.keys, graph.nodes["ply"], graph.node_action_stats
    return {(keys[node].tobytes(), int(plies[node]), played[node].tobytes()) for node in range(graph.node_count)}
