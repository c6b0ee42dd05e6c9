"""Initial statistics enter every choice of a descent, and nothing else."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from searching import Search

import ucd_envs
from ucd_envs.kernels import kernel
from ucd_envs.rules import Rules
from ucd_planners import Planner, rave, uct
from ucd_planners.search.interface import INITIAL, Selection
from ucd_planners.search.sim import trace
from ucd_planners.selection.rave import RAVE
from ucd_planners.selection.ucd import UCD


@kernel(INITIAL)
def by_number(config, state, sim, memory, actions, values):
    """Writes as many playouts as `memory` says for actions that are no multiple of 3; the last move says how many are won."""
    count = sim.traced.length
    last = trace(sim)[count - 1] & 0xFFFF if count > 0 else 0
    for i in range(actions.size):
        values[i, 0] = memory[0] if actions[i] % 3 > 0 else 0
        values[i, 1] = values[i, 0] * ((actions[i] + last) % 5) / 4


class Told:
    """Initial statistics of one kernel."""

    kernel = by_number

    def __init__(self, visits: int) -> None:
        self.visits = visits

    def memory(self, rules: Rules) -> np.ndarray:
        """One byte."""
        return np.full(1, self.visits, np.uint8)

    def __repr__(self) -> str:
        return f"Told({self.visits})"


def bounds(search: Search, selection: Selection, node: int) -> dict[int, float]:
    """The bound of every action at a node, from the statistics of the graph and the formulas of the docstrings."""
    graph, found = search.graph, {}
    record = graph.nodes[node]
    for place in range(int(record["legal"])):
        action = int(graph.actions[record["first_action"] + place])
        had, paid = graph.initial_stats[record["first_action"] + place].tolist()
        number = int(record["first_edge"]) + place
        tried = place < record["expanded"]
        n = float(graph.edges[number]["visits"]) if tried else 0.0
        mean = float(graph.mean_value[number]) if tried else 0.0
        weight = float(graph.exploration[number]) ** -2 if tried else 0.0
        played = won = 0.0
        if isinstance(selection, RAVE):
            played, won = graph.node_action_stats[node][int(record["mover"]) * search.start.rules.actions + action].tolist()
        if n + had + played == 0:
            found[action] = math.inf
            continue
        mean = (n * mean + paid) / (n + had) if n + had else 0.0
        bonus = float(graph.node_stats[node, 0]) / math.sqrt(weight + had) if weight + had else 0.0
        if isinstance(selection, RAVE):
            bias = selection.bias * (n + had) * played
            mean = (won + (n + had + bias) * mean) / (n + had + played + bias)
        found[action] = mean + bonus
    return found


@pytest.mark.parametrize("visits", [0, 7])
@pytest.mark.parametrize("selection", [UCD(c=0.3, table=False), UCD(1, 0, 1, 0.4), UCD(2, 1, 2, 0.4), RAVE(0.01, 0.2)], ids=str)
@pytest.mark.parametrize(
    ("game", "settings"), [("hex", {"size": 4}), ("go", {"size": 3, "komi": 1}), ("leftright", {"steps": 12})]
)
def test_every_choice_is_one_with_the_largest_bound(
    game: str, settings: dict[str, Any], selection: Selection, visits: int
) -> None:
    """Wherever moves were listed before a simulation; a list that it makes has what the moves so far say."""
    search = Search(ucd_envs.make_rules(game, **settings).initial_state(), selection, 5, initial=Told(visits))
    before: dict[int, dict[int, float]] = {}
    checked = made = 0
    for _ in range(120):
        path, _ = search.step()
        moves = [action for _, action, _ in path]
        nodes = search.worker.sim.path[0, : len(path)].tolist()
        for depth, (node, action) in enumerate(zip(nodes, moves, strict=True)):
            if node in before:
                assert before[node][action] >= max(before[node].values()) - 1e-6
                checked += 1
            else:
                assert written(search, node) == told(search, node, visits, moves[depth - 1] if depth else 0)
                made += 1
        before = {node: bounds(search, selection, node) for node in range(search.graph.node_count) if is_listed(search, node)}
    assert checked > 120
    assert made > 10


def is_listed(search: Search, node: int) -> bool:
    """Whether a node has its moves."""
    return bool(search.graph.nodes[node]["legal"])


def written(search: Search, node: int) -> dict[int, tuple[float, float]]:
    """What the graph has of a node's moves."""
    first, count = (int(search.graph.nodes[node][name]) for name in ("first_action", "legal"))
    rows = zip(
        search.graph.actions[first : first + count].tolist(),
        search.graph.initial_stats[first : first + count].tolist(),
        strict=True,
    )
    return {action: (row[0], row[1]) for action, row in rows}


def told(search: Search, node: int, visits: int, last: int) -> dict[int, tuple[float, float]]:
    """What `by_number` says."""
    had = {action: float(visits if action % 3 else 0) for action in written(search, node)}
    return {action: (number, number * ((action + last) % 5) / 4) for action, number in had.items()}


@pytest.mark.parametrize("preset", [uct, rave])
def test_initial_statistics_guide_the_search_and_count_in_no_result(preset: Any) -> None:
    """Visits add up to the playouts of the root whatever they are; with strong ones the search looks elsewhere."""
    state = ucd_envs.make_rules("hex", size=5).initial_state()
    plain, guided = (preset(playouts=400, seed=2, initial=given).search(state) for given in (None, Told(200)))
    assert sum(plain.visits) == sum(guided.visits) == 400
    assert plain.visits.tolist() != guided.visits.tolist()
    best = [action % 5 == 4 and action % 3 > 0 for action in guided.actions.tolist()]
    assert guided.visits[best].sum() > 300


def test_a_reused_graph_keeps_its_initial_statistics() -> None:
    """Nodes that are copied when the root moves on have the initial statistics that they had."""
    start = ucd_envs.make_rules("hex", size=4).initial_state()
    search = Search(start, UCD(c=0.3, table=False), 3, initial=Told(7), reuse_graph=True)
    for _ in range(400):
        search.step()
    action = int(search.graph.edges[search.graph.block(search.root)][0]["action"])
    first = next(n for n in range(search.graph.node_count) if search.key_of(n) == start.after(action).key)
    had = written(search, first)
    search.begin(start.after(action))
    assert had
    assert written(search, search.root) == had


def test_without_room_in_the_graph_only_tried_moves_are_chosen() -> None:
    """At its limit of edges the graph stays as it is, whatever is written for untried moves."""
    state = ucd_envs.make_rules("hex", size=4).initial_state()
    result = uct(playouts=500, max_nodes=30, seed=1, initial=Told(7)).search(state)
    assert result.nodes <= 30
    assert sum(result.visits) == 500


@pytest.mark.parametrize("initial", [3, Told, "go"])
def test_initial_statistics_are_an_object_with_a_kernel(initial: Any) -> None:
    """Anything else is an error of one sentence."""
    with pytest.raises(TypeError, match=r"^initial must be such as GoInitial\(\), not "):
        Planner(UCD(), playouts=10, initial=initial)


def test_a_planner_shows_its_initial_statistics() -> None:
    """By their own text."""
    assert "Told(7)" in repr(uct(playouts=10, initial=Told(7)))
