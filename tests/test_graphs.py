"""Five whole search graphs, written down before the search was rebuilt, come out value for value."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ucd_envs
from ucd_envs.rules import State
from ucd_planners import Planner, rave_ucd, ucd, uct
from ucd_planners.search.graph import FINISHED, NONE
from ucd_planners.search.storage import Graph

WRITTEN = json.loads(gzip.decompress((Path(__file__).parent / "data" / "graphs.json.gz").read_bytes()))


def start(game: str, **settings: Any) -> State:
    """The first position of a game."""
    return ucd_envs.make_rules(game, **settings).initial_state()


SEARCHES: dict[str, Callable[[], tuple[Planner, list[State]]]] = {
    "uct": lambda: (uct(playouts=300, seed=3), [start("hex", size=4)]),
    "ucd(1,0,1)": lambda: (ucd(1, 0, 1, playouts=300, seed=3), [start("connect_four", columns=5, rows=4)]),
    "ucd(inf,0,1)": lambda: (ucd(math.inf, 0, 1, playouts=300, seed=3), [start("connect_four", columns=5, rows=4)]),
    "rave_ucd": lambda: (rave_ucd(depth_rave=1, depth_mean=1, playouts=200, seed=3), [start("hex", size=3)]),
    "kept": lambda: (ucd(2, 1, 3, playouts=200, seed=3, reuse_graph=True), kept_states()),
}


def kept_states() -> list[State]:
    """Three positions of one game."""
    first = start("connect_four", columns=5, rows=4)
    return [first, first.after(2), first.after(2).after(2)]


def written_in(graph: Graph, players: int) -> list[dict[str, Any]]:
    """The nodes of a graph as they were written down: lists of numbers by name."""
    found = []
    for node in range(graph.node_count):
        record, block = graph.nodes[node], graph.block(node)
        edges, own = graph.edges[block], graph.edge_stats[block]
        first, into = int(record["first_action"]), int(record["first_in"])
        listed = {
            "action": edges["action"].tolist(),
            "visits": edges["visits"].tolist(),
            "leaf_visits": edges["leaf_visits"].tolist(),
            "target": np.where(edges["target"] == FINISHED, NONE, edges["target"]).tolist(),
            "next_source": [reference >> 16 for reference in edges["next_in"].tolist()],
            "next_slot": [reference & 0xFFFF if reference >= 0 else 0 for reference in edges["next_in"].tolist()],
            "mean_value": graph.mean_value[block].tolist(),
            "exploration": graph.exploration[block].tolist(),
            "value_sum": own[:, :players].tolist(),
        }
        if "leaf_value_sum[0]" in graph.layout.edge_stats:
            listed["leaf_value_sum"] = own[:, players : 2 * players].tolist()
        if any(name.startswith("share") for name in graph.layout.edge_stats):
            listed["shares"] = own[:, 2 * players :].tolist()
        one = {
            "mover": int(record["mover"]),
            "legal": int(record["legal"]),
            "expanded": int(record["expanded"]),
            "actions": graph.actions[first : first + int(record["legal"])].tolist(),
            "exploration_scale": float(graph.node_stats[node, 0]),
            "sums": graph.node_stats[node, 1:].tolist(),
            "in_edge": [into >> 16, into & 0xFFFF if into >= 0 else 0],
            "edges": listed,
        }
        played = graph.node_action_stats[node].astype(float).tolist()
        pairs = players * len(graph.free_blocks[1:])
        for name, rows in (("amaf", played[:pairs]), ("mixed", played[pairs:])):
            if rows:
                one[name] = [[place, *row] for place, row in enumerate(rows) if row[0]]
        found.append(one)
    return found


@pytest.mark.parametrize("name", WRITTEN)
def test_a_whole_search_graph_is_the_one_written_down(name: str) -> None:
    planner, states = SEARCHES[name]()
    for state in states:
        planner.search(state)
    graph, before = planner._workers[0].graph, WRITTEN[name]
    assert (graph.root, graph.playouts, graph.depth) == (before["root"], before["playouts"], before["depth"])
    assert (graph.transpositions, graph.edge_count) == (before["links"], before["edge_count"])
    assert written_in(graph, states[0].rules.players) == before["nodes"]
