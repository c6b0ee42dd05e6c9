"""The searched graph as networkx holds it, and its picture."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import hash_game
import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ucd_envs
from ucd_envs.rules import State
from ucd_planners import Planner, SearchResult, simple_way, ucd, uct, uct3, update_all
from ucd_planners.graph_view.drawing import draw
from ucd_planners.graph_view.layers import crossings, placed, rows_of, spread

GAMES = {
    "hex": ucd_envs.make_rules("hex", size=3).initial_state(),
    "tic_tac_toe": ucd_envs.make_rules("tic_tac_toe").initial_state(),
    "leftright": ucd_envs.make_rules("leftright", steps=6).initial_state(),
    "three players": hash_game.rules(seed=2, branching=4, plies=5, players=3).initial_state(),
}
WITH_TABLE: dict[str, Callable[..., Planner]] = {"ucd": simple_way, "uct3": uct3, "update_all": update_all}
every_game = pytest.mark.parametrize("start", GAMES.values(), ids=GAMES)
every_planner_with_a_table = pytest.mark.parametrize("planner", WITH_TABLE.values(), ids=WITH_TABLE)
every_planner = pytest.mark.parametrize("planner", [uct, *WITH_TABLE.values()], ids=["uct", *WITH_TABLE])


def searched(planner: Callable[..., Planner], start: State, playouts: int = 400, **options: Any) -> tuple[SearchResult, Any]:
    """What a search has found, and its graph."""
    result = planner(playouts=playouts, seed=5, **options).search(start)
    return result, result.to_networkx()


def after(start: State, names: str) -> State:
    for name in names.split():
        start = start.after(start.action_named(name))
    return start


# The graph


@every_game
@every_planner
def test_the_graph_is_acyclic_and_hangs_together_from_its_root(planner: Callable[..., Planner], start: State) -> None:
    _, graph = searched(planner, start)
    root = graph.graph["root"]
    assert networkx.is_directed_acyclic_graph(graph)
    assert networkx.descendants(graph, root) | {root} == set(graph)
    assert graph.in_degree(root) == 0
    for source, target in graph.edges():
        assert graph.nodes[target]["ply"] == graph.nodes[source]["ply"] + 1


@every_game
@every_planner_with_a_table
def test_a_graph_has_the_nodes_edges_and_transpositions_of_the_result(planner: Callable[..., Planner], start: State) -> None:
    """A transposition is an edge into a position that had one already. Ends of the game are no nodes of the memory."""
    result, graph = searched(planner, start)
    going_on = [node for node, over in graph.nodes(data="over") if not over]
    assert len(going_on) == result.nodes
    assert graph.number_of_edges() == result.edges
    assert sum(graph.in_degree(node) - 1 for node in going_on if graph.in_degree(node) >= 2) == result.transpositions > 0


@every_game
def test_a_tree_has_a_node_for_each_move_tried(start: State) -> None:
    result, graph = searched(uct, start)
    assert networkx.is_arborescence(graph)
    assert (len(graph), graph.number_of_edges()) == (result.nodes, result.edges)


@every_game
@pytest.mark.parametrize("planner", [uct, ucd, uct3], ids=["uct", "ucd", "uct3"])
def test_the_playouts_of_a_position_came_over_its_edges(planner: Callable[..., Planner], start: State) -> None:
    """In UCD a descent enters a position over one edge, and leaves it over one or ends there."""
    result, graph = searched(planner, start)
    root = graph.graph["root"]
    for node, visits in graph.nodes(data="visits"):
        came = sum(visits for _, _, visits in graph.in_edges(node, data="visits"))
        left = sum(visits for _, _, visits in graph.out_edges(node, data="visits"))
        assert left <= visits == (result.playouts if node == root else came)


@every_game
@every_planner
def test_the_moves_of_the_root_are_those_of_the_result(planner: Callable[..., Planner], start: State) -> None:
    result, graph = searched(planner, start)
    root = graph.graph["root"]
    seen = {move["action"]: move for _, _, move in graph.out_edges(root, data=True)}
    assert sorted(seen) == list(result.actions)
    for action, visits, value in zip(result.actions, result.visits, result.values, strict=True):
        assert seen[action]["visits"] == visits
        assert seen[action]["value"] == pytest.approx(value)
        assert seen[action]["name"] == result.names(int(action))


@every_game
@every_planner
def test_every_way_to_a_node_leads_to_one_position(planner: Callable[..., Planner], start: State) -> None:
    """Which has the mover, the end and the number of moves that the node says."""
    _, graph = searched(planner, start)
    states = {graph.graph["root"]: start}
    for node in networkx.topological_sort(graph):
        state, facts = states[node], graph.nodes[node]
        assert (facts["mover"], facts["over"]) == (state.player, state.over)
        assert facts["legal"] in (0, len(state.legal_actions()))
        assert facts["expanded"] == graph.out_degree(node) <= len(state.legal_actions())
        for _, target, action in graph.out_edges(node, keys=True):
            there = state.after(action)
            assert states.setdefault(target, there) == there


@pytest.mark.parametrize("planner", [uct, ucd], ids=["uct", "ucd"])
def test_a_move_that_ends_the_game_leads_to_a_leaf_of_its_own(planner: Callable[..., Planner]) -> None:
    """XX. / OO. / ...: X wins by c1."""
    start = after(GAMES["tic_tac_toe"], "a1 a2 b1 b2")
    _, graph = searched(planner, start)
    ends = [node for node, over in graph.nodes(data="over") if over]
    assert ends
    for node in ends:
        assert (graph.in_degree(node), graph.out_degree(node), graph.nodes[node]["mover"]) == (1, 0, -1)
    winning = start.action_named("c1")
    (leaf,) = [target for _, target, action in graph.out_edges(graph.graph["root"], keys=True) if action == winning]
    assert leaf in ends
    assert graph.nodes[leaf]["label"] == "c1"


@pytest.mark.parametrize("planner", [uct, ucd], ids=["uct", "ucd"])
def test_moves_are_named_by_the_position_in_which_they_are_played(planner: Callable[..., Planner]) -> None:
    start = GAMES["tic_tac_toe"]
    named = replace(start.rules, action_name=lambda state, action: f"{state.ply}:{action}")
    _, graph = searched(planner, State(named, start.data))
    assert {graph.nodes[source]["ply"] for source, _ in graph.edges()} >= {0, 1, 2}
    for source, _, move in graph.edges(data=True):
        assert move["name"] == f"{graph.nodes[source]['ply']}:{move['action']}"


def test_two_moves_from_one_position_to_another_are_two_edges(tmp_path: Path) -> None:
    """With one position a ply all moves of a position meet; the picture has one line for them, with all their names."""
    start = hash_game.rules(seed=1, width=1, branching=4, plies=4, players=1).initial_state()
    result, graph = searched(ucd, start, 60)
    assert graph.number_of_edges() == result.edges > len(set(graph.edges()))
    below = {target for _, target in graph.out_edges(graph.graph["root"])}
    assert len(below) == 1
    draw(graph, tmp_path / "graph.svg")
    names = {name for words in words_of(tmp_path / "graph.svg") for name in words.split(", ")}
    assert {result.names(int(action)) for action in result.actions} <= names


@every_game
@every_planner
@pytest.mark.parametrize("most", [1, 7, 30])
def test_the_most_visited_positions_hang_together(planner: Callable[..., Planner], start: State, most: int) -> None:
    result, whole = searched(planner, start)
    part = result.to_networkx(most=most)
    root = part.graph["root"]
    assert len(part) == min(most, len(whole))
    assert networkx.descendants(part, root) | {root} == set(part)
    assert set(part.edges(keys=True)) == set(whole.subgraph(part).edges(keys=True))


@every_game
def test_no_position_left_out_of_a_tree_has_more_playouts_than_one_in_it(start: State) -> None:
    """In a graph it can, where the only ways to it that are in came in late."""
    result, whole = searched(uct, start)
    part = result.to_networkx(most=9)
    outside = [visits for node, visits in whole.nodes(data="visits") if node not in part]
    assert max(outside) <= min(visits for _, visits in part.nodes(data="visits"))


@pytest.mark.parametrize("most", [0, -1, 1.5, True])
def test_less_than_one_position_is_refused(most: Any) -> None:
    result = ucd(playouts=10, seed=1).search(GAMES["hex"])
    with pytest.raises((TypeError, ValueError), match="most must be"):
        result.to_networkx(most=most)


def test_of_several_workers_the_graph_is_the_firsts() -> None:
    result = ucd(playouts=101, workers=2, seed=1).search(GAMES["hex"])
    graph = result.to_networkx()
    assert graph.nodes[graph.graph["root"]]["visits"] == 51


def test_a_planner_that_is_gone_leaves_its_graph_to_the_result() -> None:
    result = ucd(playouts=50, seed=1).search(GAMES["hex"])
    assert len(result.to_networkx()) >= result.nodes


@pytest.mark.parametrize("keep", [False, True])
def test_after_another_search_the_graph_is_gone(keep: bool) -> None:
    planner = ucd(playouts=50, seed=1, reuse_graph=keep)
    first = planner.search(GAMES["hex"])
    second = planner.search(GAMES["hex"].after(first.action))
    with pytest.raises(ValueError, match="is gone: its planner has searched again, or was reset, since"):
        first.to_networkx()
    assert second.to_networkx().nodes[second.to_networkx().graph["root"]]["visits"] >= 50


def test_a_kept_graph_begins_at_its_new_root() -> None:
    planner = ucd(playouts=300, seed=1, reuse_graph=True)
    start = GAMES["hex"].after(planner.search(GAMES["hex"]).action)
    result = planner.search(start)
    graph = result.to_networkx()
    root = graph.graph["root"]
    assert graph.nodes[root]["mover"] == start.player
    assert [graph.nodes[root][name] for name in ("ply", "label")] == [0, "root"]
    assert {action for _, _, action in graph.out_edges(root, keys=True)} == set(result.actions)


def test_after_a_reset_the_graph_is_gone() -> None:
    planner = ucd(playouts=50, seed=1)
    result = planner.search(GAMES["hex"])
    planner.reset(1)
    with pytest.raises(ValueError, match="or was reset"):
        result.to_networkx()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda result: pickle.loads(pickle.dumps(result))])
def test_what_was_copied_or_pickled_says_that_it_has_no_graph(copied: Callable[[SearchResult], SearchResult]) -> None:
    result = ucd(playouts=50, seed=1).search(GAMES["hex"])
    twin = copied(result)
    assert (twin.action, list(twin.visits)) == (result.action, list(result.visits))
    if copied is copy.copy:
        assert len(twin.to_networkx()) == len(result.to_networkx())
    else:
        with pytest.raises(ValueError, match="copied or pickled has no graph"):
            twin.to_networkx()


def test_the_graph_is_no_part_of_what_a_result_says() -> None:
    assert "_searched" not in repr(ucd(playouts=50, seed=1).search(GAMES["hex"]))


@pytest.mark.parametrize(("library", "words"), [("networkx", "graphs for networkx"), ("matplotlib", "pictures of graphs")])
def test_a_missing_library_is_told(library: str, words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result, graph = searched(ucd, GAMES["hex"], 20)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"{words} need .*: pip install 'ucd-planners\[plot\]'"):
        result.to_networkx() if library == "networkx" else draw(graph, tmp_path / "graph.svg")


# The picture


def words_of(path: Path) -> list[str]:
    """All text of an SVG."""
    root = ElementTree.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return ["".join(text.itertext()).strip() for text in root.iter("{http://www.w3.org/2000/svg}text")]


@every_game
@every_planner
def test_a_picture_names_plies_moves_and_playouts(planner: Callable[..., Planner], start: State, tmp_path: Path) -> None:
    result, graph = searched(planner, start, 60)
    draw(graph, tmp_path / "graph.svg", most=10)
    words = words_of(tmp_path / "graph.svg")
    assert f"{start.rules}: the 10 most visited of {len(graph)} positions" in words
    assert result.names(result.action) in words
    assert f"{graph.nodes[graph.graph['root']]['visits']}" in words
    assert "ply 0" in " ".join(words)


def test_a_picture_has_a_legend_of_what_it_shows(tmp_path: Path) -> None:
    for planner, known in ((ucd, True), (uct, False)):
        _, graph = searched(planner, GAMES["hex"], 1000)
        draw(graph, tmp_path / "graph.svg")
        assert ("reached by several moves" in words_of(tmp_path / "graph.svg")) == known


def test_the_same_graph_gives_the_same_picture(tmp_path: Path) -> None:
    _, graph = searched(ucd, GAMES["hex"], 100)
    for name in ("one.svg", "two.svg"):
        draw(graph, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


@pytest.mark.parametrize(("name", "start"), [("a.PNG", b"\x89PNG"), ("a.pdf", b"%PDF")])
def test_pictures_have_other_formats_too(name: str, start: bytes, tmp_path: Path) -> None:
    _, graph = searched(ucd, GAMES["hex"], 20)
    draw(graph, str(tmp_path / name))
    assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["graph", "graph.svgz", "graph.txt"])
def test_another_ending_is_refused(name: str, tmp_path: Path) -> None:
    _, graph = searched(ucd, GAMES["hex"], 20)
    with pytest.raises(ValueError, match=rf"must end in one of .svg, .png, .pdf, not '{name}'"):
        draw(graph, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_graph_of_one_position_can_be_drawn(tmp_path: Path) -> None:
    _, graph = searched(ucd, GAMES["hex"], 20)
    draw(graph, tmp_path / "graph.svg", most=1)
    assert "20" in words_of(tmp_path / "graph.svg")


# Where positions stand


@given(st.lists(st.integers(-40, 40).map(lambda quarters: quarters / 4), min_size=1, max_size=12))
def test_places_are_in_order_one_apart_and_where_they_were_wanted_if_there_is_room(wanted: list[float]) -> None:
    places = spread(wanted)
    assert all(right - left >= 1 - 1e-9 for left, right in pairwise(places))
    assert sum(places) == pytest.approx(sum(wanted))
    if all(right - left >= 1 for left, right in pairwise(wanted)):
        assert places == pytest.approx(wanted)


def two_rows(*edges: tuple[str, str]) -> Any:
    """A graph of a root with a row of capitals and a row of small letters below."""
    graph = networkx.MultiDiGraph(root="root")
    graph.add_node("root", ply=0)
    for above, below in edges:
        graph.add_node(above, ply=1)
        graph.add_node(below, ply=2)
        graph.add_edge("root", above)
        graph.add_edge(above, below)
    return graph


def test_crossings_are_counted_in_pairs() -> None:
    r"""A to b and c cross B to a: two pairs."""
    graph = two_rows(("A", "b"), ("A", "c"), ("B", "a"))
    assert crossings(graph, [["root"], ["A", "B"], ["a", "b", "c"]]) == 2
    assert crossings(graph, [["root"], ["B", "A"], ["a", "b", "c"]]) == 0


def test_rows_are_put_in_an_order_without_crossings_where_there_is_one() -> None:
    graph = two_rows(("A", "x"), ("B", "y"), ("C", "z"), ("A", "z"), ("B", "x"))
    rows = rows_of(graph)
    assert crossings(graph, rows) == 0
    assert [sorted(row) for row in rows] == [["root"], ["A", "B", "C"], ["x", "y", "z"]]
    places = placed(graph, rows)
    assert len(set(places.values())) == len(graph)
    assert {node: -y for node, (_, y) in places.items()} == dict(graph.nodes(data="ply"))


def test_a_tree_has_no_crossings() -> None:
    graph = uct(playouts=400, seed=5).search(GAMES["hex"]).to_networkx(most=60)
    assert crossings(graph, rows_of(graph)) == 0
