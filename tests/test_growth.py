"""Blocks of edges: every place that was given out belongs to one node or is free for the next."""

from __future__ import annotations

import pytest
from searching import Search

import ucd_envs
from ucd_planners.search.interface import Selection
from ucd_planners.search.storage import Graph
from ucd_planners.selection.catch_up import CatchUp
from ucd_planners.selection.stop_and_correct import StopAndCorrect
from ucd_planners.selection.ucd import UCD
from ucd_planners.selection.update_all import UpdateAll


def blocks_of(graph: Graph) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Begin and size of the blocks of all nodes, and of all free blocks."""
    nodes = graph.nodes[: graph.node_count]
    used = [(int(node["first_edge"]), int(node["room"])) for node in nodes if node["room"]]
    free = []
    for size, first in enumerate(graph.free_blocks.tolist()):
        while first >= 0:
            assert len(free) <= graph.record["edges"]["length"], "the list of free blocks has a circle"
            free.append((first, size))
            first = int(graph.edges[first]["target"])
    return used, free


def assert_all_places_are_known(graph: Graph) -> int:
    """Asserts that blocks share no place and leave none out. Returns the number of free blocks."""
    used, free = blocks_of(graph)
    places = [place for first, size in used + free for place in range(first, first + size)]
    assert sorted(places) == list(range(int(graph.record["edges"]["length"])))
    return len(free)


@pytest.mark.parametrize("selection", [UCD(), UpdateAll(), StopAndCorrect(), CatchUp()], ids=str)
@pytest.mark.parametrize("options", [{}, {"expand": "all"}, {"reuse_graph": True}], ids=str)
def test_rooms_and_free_blocks_are_all_places_that_were_given_out(selection: Selection, options: dict[str, object]) -> None:
    """After every one of 300 playouts on Hex 3x3, where blocks of one place are outgrown first."""
    start = ucd_envs.make_rules("hex", size=3).initial_state()
    search = Search(start, selection, seed=2, **options)
    most, ones = 0, 0
    for playouts in range(1, 301):
        search.worker.simulate(playouts)
        most = max(most, assert_all_places_are_known(search.graph))
        ones += any(size == 1 for _, size in blocks_of(search.graph)[1])
    assert most > 3
    assert ones > 0
    if options.get("reuse_graph"):
        search.begin(start.after(4))
        for playouts in range(1, 101):
            search.worker.simulate(playouts)
            assert_all_places_are_known(search.graph)
