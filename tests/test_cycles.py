"""UCD in graphs with cycles: positions told apart by their keys alone, as `graded=False` has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import ucd_envs
from ucd_envs.rules import Rules, State
from ucd_planners import Planner, rave_ucd, ucd, update_all
from ucd_planners.graph_view.drawing import draw
from ucd_planners.search.graph import FINISHED
from ucd_planners.search.storage import Graph
from ucd_planners.selection.ucd import UCD

DEPTHS = [(0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 0, 1)]


@pytest.fixture(scope="module")
def go() -> Rules:
    """Go on four points with simple ko: stones are taken, and positions come again."""
    return ucd_envs.make_rules("go", rows=2, columns=2, komi=0.5)


def searched(state: State, depths: tuple[float, float, float], playouts: int = 3000) -> tuple[Planner, Graph]:
    """A planner after a search, and its graph."""
    planner = ucd(*depths, graded=False, playouts=playouts, seed=2)
    planner.search(state)
    return planner, planner._workers[0].graph


def edges_out(graph: Graph, node: int) -> np.ndarray:
    """The records of the edges out of a node."""
    return graph.edges[graph.block(node)]


def reached(state: State) -> set[bytes]:
    """The keys of all positions that can be reached, without their plies."""
    known, waiting = {bytes(state.words): state}, [state]
    while waiting:
        here = waiting.pop(0)
        for action in here.legal_actions():
            after = here.after(int(action))
            if after.player >= 0 and bytes(after.words) not in known:
                known[bytes(after.words)] = after
                waiting.append(after)
    return set(known)


@pytest.mark.parametrize("depths", DEPTHS)
def test_every_position_is_one_node(go: Rules, depths: tuple[float, float, float]) -> None:
    _, graph = searched(go.initial_state(), depths)
    keys = {bytes(row) for row in graph.keys[: graph.node_count]}
    assert len(keys) == graph.node_count
    assert keys <= reached(go.initial_state())


@pytest.mark.parametrize("depths", DEPTHS)
def test_moves_lead_back_to_positions_above(go: Rules, depths: tuple[float, float, float]) -> None:
    """A walk over all edges comes to a node that it comes from."""
    _, graph = searched(go.initial_state(), depths)
    below = {
        node: {int(target) for target in edges_out(graph, node)["target"] if target >= 0} for node in range(graph.node_count)
    }
    alive = set(below)
    while ends := {node for node in alive if not below[node] & alive}:
        alive -= ends
    assert alive


@pytest.mark.parametrize("depths", DEPTHS)
def test_every_kept_value_is_that_of_its_definition(go: Rules, depths: tuple[float, float, float]) -> None:
    """n_d and mu_d of each edge from the playouts of all edges [UCD eq. 9-13], and no playout is lost."""
    _, graph = searched(go.initial_state(), depths)
    d1, _, d3 = depths
    out = [graph.block(node) for node in range(graph.node_count)]
    assert int(edges_out(graph, graph.root)["visits"].sum()) == graph.playouts
    assert sum(int(edges_out(graph, node)["leaf_visits"].sum()) for node in range(graph.node_count)) == graph.playouts
    for node, block in enumerate(out):
        mover = int(graph.nodes[node]["mover"])
        for number in range(block.start, block.stop):
            edge, own = graph.edges[number], graph.edge_stats[number]
            target = int(edge["target"])
            below = out[target] if target >= 0 else slice(0, 0)
            visits = float(edge["visits"])
            seen = float(edge["leaf_visits"] + graph.edges[below]["visits"].sum())
            total = own[2 + mover] + graph.edge_stats[below, mover].sum() if d1 == 1 else own[mover]
            value = total / (seen if d1 == 1 else visits)
            assert graph.mean_value[number] == pytest.approx(value, abs=1e-9)
            assert graph.exploration[number] == pytest.approx((seen if d3 == 1 else visits) ** -0.5)
            assert target >= 0 or target == FINISHED


def test_a_graph_without_cycles_is_the_graded_one() -> None:
    """In tic-tac-toe a key tells the ply, so both searches are one."""
    state = ucd_envs.make_rules("tic_tac_toe").initial_state()
    graded, free = (ucd(1, 0, 1, graded=graded, playouts=2000, seed=5).search(state) for graded in (True, False))
    assert graded.visits.tolist() == free.visits.tolist()
    assert graded.values.tolist() == free.values.tolist()


def test_the_principal_variation_ends_where_a_position_comes_again(go: Rules) -> None:
    result = ucd(graded=False, playouts=5000, seed=1).search(go.initial_state())
    state, seen = go.initial_state(), set()
    for action in result.principal_variation[:-1]:
        assert bytes(state.words) not in seen
        seen.add(bytes(state.words))
        state = state.after(int(action))


def test_a_graph_with_cycles_is_drawn(go: Rules, tmp_path: Path) -> None:
    planner = ucd(graded=False, playouts=400, seed=1)
    result = planner.search(go.initial_state())
    graph = result.to_networkx()
    rows = {node: data["ply"] for node, data in graph.nodes(data=True)}
    assert any(rows[target] <= rows[source] for source, target in graph.edges())
    draw(graph, tmp_path / "cycles.svg")
    assert (tmp_path / "cycles.svg").stat().st_size > 10_000


@pytest.mark.parametrize(
    "settings",
    [{"d2": 1}, {"d1": 2}, {"d3": float("inf")}, {"table": False}, {"backup": "section_3_4"}, {"store": "nodes"}],
    ids=str,
)
def test_what_looks_further_is_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="graded=False goes with d1 and d3 up to 1"):
        UCD(graded=False, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"expand": "all"}, {"reuse_graph": True}], ids=str)
def test_options_that_need_plies_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="graded=False goes with expand"):
        ucd(graded=False, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("planner", [update_all, rave_ucd])
def test_other_selections_have_no_such_parameter(planner: Callable[..., Planner]) -> None:
    with pytest.raises(TypeError, match="graded"):
        planner(graded=False)


def test_a_word_is_no_answer() -> None:
    with pytest.raises(TypeError, match="graded must be True or False"):
        UCD(graded="no")  # type: ignore[arg-type]
