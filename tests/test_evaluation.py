"""A search that stops at each new leaf goes on with the payoffs that it is given (`NEEDS_EVALUATION`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ucd_envs
from ucd_envs.kernels import compiled
from ucd_envs.rng import seeded
from ucd_envs.rules import State
from ucd_planners.planner import Planner
from ucd_planners.search.errors import action_at
from ucd_planners.search.interface import DONE, NEEDS_EVALUATION, SearchOptions
from ucd_planners.search.loop import RUN, resume, run
from ucd_planners.search.storage import Graph
from ucd_planners.selection.ucd import UCD
from ucd_planners.selection.update_all import UpdateAll
from ucd_planners.worker import Budget, Stop, Worker

PLAYOUTS = 400
STARTS = {
    "hex": ucd_envs.make_rules("hex", size=4).initial_state(),
    "connect_four": ucd_envs.make_rules("connect_four", columns=4, rows=4).initial_state(),
    "leftright": ucd_envs.make_rules("leftright", steps=9).initial_state(),
}
every_start = pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
SELECTIONS = (UCD(table=False), UCD(1, 0, 1), UCD(2, 1, 3, store="nodes"), UpdateAll())


def worker_for(start: State, selection: Any, evaluates: bool) -> Worker:
    """A worker that is about to search, with little room at first."""
    settings = Planner(selection, playouts=PLAYOUTS)._settings._replace(options=SearchOptions(evaluates=evaluates))
    worker = Worker(settings, start.rules, 1)
    worker.begin(start, seeded(3), None, Stop(), Budget(PLAYOUTS, None, None, "visits"))
    return worker


def evaluated(worker: Worker, value: Callable[[Worker], list[float]], playouts: int = PLAYOUTS) -> int:
    """Runs a search whose leaves are evaluated by a function of the worker; returns how many were."""
    words = worker.rules_kernels, worker.search_kernels
    leaves, go_on = 0, compiled(run, RUN)
    while (status := go_on(*words, worker.root, worker.graph.header, worker.sim.header, playouts)) != DONE:
        go_on = run
        if status == NEEDS_EVALUATION:
            leaves += 1
            worker.sim.payoffs[:] = value(worker)
            go_on = compiled(resume, RUN)
        else:
            worker.grow(status)
    return leaves


def random_playout(worker: Worker) -> list[float]:
    """The payoffs of a playout from the leaf, drawn from the search's own generator."""
    rules, sim = worker.rules, worker.sim
    state, found = sim.state.copy(), np.zeros(rules.players)
    rules.kernels.playout(rules.config, state, sim.rng, np.zeros(0, np.int32))
    rules.kernels.payoffs(rules.config, state, found)
    paid: list[float] = found.tolist()
    return paid


def contents(graph: Graph) -> list[list[Any]]:
    """All that the nodes of a graph hold, to the last bit, with their edges and actions."""
    found = []
    for node in range(graph.node_count):
        block, first = graph.block(node), int(graph.nodes[node]["first_action"])
        listed = graph.actions[first : first + int(graph.nodes[node]["legal"])]
        numbers = graph.node_stats[node], graph.mean_value[block], graph.exploration[block], graph.edge_stats[block]
        records = graph.nodes[node].tolist(), graph.edges[block].tolist(), listed.tolist(), graph.keys[node].tolist()
        found.append([*records, *(array.tobytes() for array in numbers)])
    return found


@every_start
@pytest.mark.parametrize("selection", SELECTIONS, ids=str)
def test_leaves_evaluated_by_playouts_give_the_graph_of_a_search_with_playouts(selection: Any, start: State) -> None:
    """To the last bit, counts and generator too."""
    built_in, outside = worker_for(start, selection, False), worker_for(start, selection, True)
    built_in.simulate(PLAYOUTS)
    assert 0 < evaluated(outside, random_playout) <= PLAYOUTS
    assert contents(outside.graph) == contents(built_in.graph)
    for name in ("playouts", "root", "edge_count", "depth", "transpositions"):
        assert getattr(outside.graph, name) == getattr(built_in.graph, name)
    assert outside.sim.rng.tolist() == built_in.sim.rng.tolist()


def test_a_simulation_that_ends_the_game_needs_no_evaluation() -> None:
    """Three steps of LeftRight: 2 + 4 positions of a tree go on; every other simulation ends the game."""
    start = ucd_envs.make_rules("leftright", steps=3).initial_state()
    assert evaluated(worker_for(start, UCD(c=5.0, table=False), True), lambda worker: [0.5]) == 6


@every_start
def test_a_leaf_is_the_position_that_its_path_leads_to(start: State) -> None:
    """An evaluator is shown the state that follows from the root by the actions of the path."""

    def look(worker: Worker) -> list[float]:
        sim, state = worker.sim, start
        for source, number, place in sim.path[:, : int(sim.record.path.length)].T.tolist():
            state = state.after(action_at(worker.graph, source, number, place))
        assert sim.state.tobytes() == state.data
        assert not state.over
        return [0.5] * state.rules.players

    assert evaluated(worker_for(start, UCD(table=False), True), look) > 0


def test_the_values_given_are_backed_up() -> None:
    """One leaf for each of the 16 cells of a board, worth 3/4 to the first player."""
    worker = worker_for(STARTS["hex"], UCD(table=False), True)
    assert evaluated(worker, lambda worker: [0.75, 0.25], playouts=16) == 16
    graph = worker.graph
    assert graph.mean_value[graph.block(graph.root)].tolist() == [0.75] * 16
