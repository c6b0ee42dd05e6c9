"""UCD in graphs with cycles: positions told apart by their keys alone, as `graded=False` has them."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import ucd_envs
from ucd_envs.kernels import CHANCE
from ucd_envs.rules import Rules, State
from ucd_planners import Planner, rave_ucd, ucd, update_all
from ucd_planners.graph_view.drawing import draw
from ucd_planners.search.graph import FINISHED
from ucd_planners.search.storage import Graph
from ucd_planners.selection.ucd import UCD

SHALLOW = [(0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 0, 1)]
DEEP = [(2, 0, 0), (2, 0, 1), (2, 1, 0), (2, 1, 1), (0, 1, 0), (0, 2, 0), (0, 0, 2), (0, 1, 2), (3, 1, 2), (1, 3, 4)]
DEPTHS = SHALLOW + DEEP


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
def test_every_kept_value_is_that_of_its_definition(go: Rules, depths: tuple[int, int, int]) -> None:
    """mu_d, n_d and p_d from the playouts of all edges [UCD eq. 9-13], and no playout is lost."""
    _, graph = searched(go.initial_state(), depths)
    defined = Defined(graph, 0 if depths[0] == 0 else 2)
    assert int(edges_out(graph, graph.root)["visits"].sum()) == graph.playouts
    assert sum(int(edges_out(graph, node)["leaf_visits"].sum()) for node in range(graph.node_count)) == graph.playouts
    assert_defined(graph, defined, depths, 0.3)


@pytest.mark.parametrize("depths", [*SHALLOW, (2, 1, 1), (3, 2, 2)])
def test_outcomes_weigh_by_their_probabilities_where_positions_come_again(depths: tuple[int, int, int]) -> None:
    """In Pig a turn without gain leads back to a position of two turns ago."""
    _, graph = searched(ucd_envs.make_rules("pig", target=20).initial_state(), depths)
    defined = Defined(graph, 0 if depths[0] == 0 else 2)
    assert any(defined.chances(node) for node in range(graph.node_count))
    assert_defined(graph, defined, depths, 0.3)


def assert_defined(graph: Graph, defined: Defined, depths: tuple[int, int, int], c: float) -> None:
    """Every value that selection reads is that of its definition."""
    d1, d2, d3 = depths
    for node, block in enumerate(defined.out):
        if block.stop == block.start:
            continue
        seen = sum(defined.n(number, d2) for number in range(block.start, block.stop))
        assert graph.node_stats[node, 0] == pytest.approx(c * math.sqrt(math.log(seen)), abs=1e-9)
        mover = int(graph.nodes[node]["mover"])
        for number in range(block.start, block.stop if mover != CHANCE else block.start):
            assert graph.mean_value[number] == pytest.approx(defined.mean(number, d1, mover), abs=1e-9)
            assert graph.exploration[number] == pytest.approx(defined.n(number, d3) ** -0.5)
            target = int(graph.edges[number]["target"])
            assert target >= 0 or target == FINISHED


class Defined:
    """The values of edges as they are defined, one call below the other.

    leaf: the column of edge_stats where the payoffs of playouts begin that ended with the edge; 0 where they are not kept.
    """

    def __init__(self, graph: Graph, leaf: int) -> None:
        self.graph, self.leaf = graph, leaf
        self.out = [graph.block(node) for node in range(graph.node_count)]
        self.known: dict[tuple[int, int, int], float] = {}

    def below(self, number: int) -> range:
        """The edges out of an edge's target."""
        target = int(self.graph.edges[number]["target"])
        return range(self.out[target].start, self.out[target].stop) if target >= 0 else range(0)

    def n(self, number: int, depth: int) -> float:
        """n_d(e)."""
        edge = self.graph.edges[number]
        if depth == 0:
            return float(edge["visits"])
        if (found := self.known.get((number, depth, -1))) is None:
            found = float(edge["leaf_visits"]) + sum(self.n(other, depth - 1) for other in self.below(number))
            self.known[number, depth, -1] = found
        return found

    def chances(self, node: int) -> list[float]:
        """The probabilities of the outcomes that have come at a chance node; none at another node."""
        if int(self.graph.nodes[node]["mover"]) != CHANCE:
            return []
        first, block = int(self.graph.nodes[node]["first_action"]), self.out[node]
        return [float(chance) for chance in self.graph.initial_stats[first : first + block.stop - block.start, 0]]

    def mean(self, number: int, depth: int, player: int) -> float:
        """mu_d(e) for a player."""
        own = self.graph.edge_stats[number]
        if depth == 0:
            return float(own[player] / self.n(number, 0))
        if (found := self.known.get((number, depth, player))) is None:
            parts = [(self.n(other, 0), self.mean(other, depth - 1, player)) for other in self.below(number)]
            visits, below = sum(n for n, _ in parts), sum(n * mean for n, mean in parts)
            if parts and (chances := self.chances(int(self.graph.edges[number]["target"]))):
                below = visits * sum(chance * mean for chance, (_, mean) in zip(chances, parts, strict=True)) / sum(chances)
            total = float(own[self.leaf + player]) + below
            found = total / (float(self.graph.edges[number]["leaf_visits"]) + visits)
            self.known[number, depth, player] = found
        return found


@pytest.mark.parametrize("depths", DEPTHS)
def test_a_graph_without_cycles_is_the_graded_one(depths: tuple[int, int, int]) -> None:
    """In tic-tac-toe a key tells the ply, so both searches are one, up to the order of their additions."""
    state = ucd_envs.make_rules("tic_tac_toe").initial_state()
    graded, free = (ucd(*depths, graded=graded, playouts=2000, seed=5).search(state) for graded in (True, False))
    assert graded.visits.tolist() == free.visits.tolist()
    assert graded.values.tolist() == pytest.approx(free.values.tolist(), abs=1e-9)


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
    [{"d1": math.inf}, {"d2": math.inf}, {"d3": math.inf}, {"table": False}, {"backup": "section_3_4"}, {"store": "nodes"}],
    ids=str,
)
def test_what_has_no_end_is_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="graded=False goes with finite depths"):
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
