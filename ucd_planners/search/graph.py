"""The search graph: positions as nodes, actions as edges, a table of transpositions, and blocks of numbers for selections.

A node's expanded edges lie together, and the block moves to a larger one when it is full and leaves its place to another node;
an edge is therefore named for good by its source and its slot. A node's actions are listed when a descent first chooses there,
and untried ones cost two bytes each. In a tree an edge gets its node only at its second visit. The edges into a node are a
linked list. The table compares whole keys and plies, so no two positions ever share a node [UCD section 4], and since every
edge goes one ply down there are no cycles, but where a selection leaves the plies out.

The graph knows shapes, not algorithms: `node_stats`, `edge_stats`, `node_action_stats` and `initial_stats` have as many columns
as a selection's layout names. Two numbers of each edge are the graph's own, since every choice reads them: the largest
`mean_value + exploration_scale * exploration` of a node is chosen.
"""

from __future__ import annotations

import numpy as np
from numba import from_dtype

from ucd_envs.kernels import kernel
from ucd_envs.structs import BLOCK, array_at, record

NODE = record(
    ("first_edge", np.int32),  # only edges 0 to expanded - 1 of the block are initialised
    ("first_action", np.int32),  # the list never moves; only untried actions change places
    ("first_in", np.int64),
    ("ply", np.int32),  # 0 for all in a graph with cycles
    ("legal", np.uint16),
    ("expanded", np.uint16),
    ("room", np.uint16),
    ("mover", np.int16),
)
"""`legal`: its number of legal actions, 0 until they are listed; the first `expanded` of them have edges, in a block of `room`
places. `first_in`: the head of the list of edges into the node, -1 for none."""
EDGE = record(
    ("visits", np.int32), ("leaf_visits", np.int32), ("next_in", np.int64), ("target", np.int32), ("action", np.uint16)
)
"""`visits` n(e), `leaf_visits` n'(e): simulations through the edge, and those whose path ended with it; `target`: a node,
NONE or FINISHED; `next_in`: the next edge into the same target. An edge in such a list is source * 2**16 + slot."""
GRAPH = record(
    ("nodes", BLOCK),
    ("edges", BLOCK),
    ("actions", BLOCK),
    ("keys", BLOCK),
    ("node_actions", BLOCK),
    ("slots", BLOCK),
    ("free_blocks", BLOCK),
    ("edge_count", np.int64),
    ("most_edges", np.int64),
    ("root", np.int64),
    ("playouts", np.int64),
    ("depth", np.int64),
    ("transpositions", np.int64),
    ("first_play_urgency", np.float64),
    ("parameters", np.uint64),
)
"""Blocks; edges, of which `edges.length` places are given out, and their largest number; playouts of the search, the plies of
its longest path, edges that led to a known position; the bound of untried actions; the address of the selection's
parameters."""
GRAPH_RECORD = from_dtype(GRAPH)
"""A graph in the signature of a kernel."""

NONE, FINISHED = -1, -2  # every other target is a node, so target >= 0 asks for one
"""Targets of an edge without a node: none so far, and the end of the game."""
REAL, SINGLE, INDEX, WORD, ACTION = (np.dtype(kind) for kind in (np.float64, np.float32, np.int32, np.uint64, np.uint16))
LOW = np.int64(0xFFFF)  # a place in a block has 16 bits
NODE_BYTES, EDGE_BYTES, REAL_BYTES, INDEX_BYTES = map(np.uint64, (NODE.itemsize, EDGE.itemsize, 8, 4))


@kernel(inline=True)
def nodes(graph):
    """[nodes.room] NODE."""
    return array_at(graph.nodes.address, (graph.nodes.room,), NODE)


@kernel(inline=True)
def node_stats(graph):
    """[nodes.room, nodes.columns] float64: the exploration scale, then the selection's own."""
    # Arrays of a block follow one another, each of `room` rows.
    address = graph.nodes.address + np.uint64(graph.nodes.room) * NODE_BYTES
    return array_at(address, (graph.nodes.room, graph.nodes.columns), REAL)


@kernel(inline=True)
def edges(graph):
    """[edges.room] EDGE."""
    return array_at(graph.edges.address, (graph.edges.room,), EDGE)


@kernel(inline=True)
def mean_value(graph):
    """[edges.room] float64: the mean payoff that selection sees, for the source's mover."""
    address = graph.edges.address + np.uint64(graph.edges.room) * EDGE_BYTES  # rows of all arrays have the number of their edge
    return array_at(address, (graph.edges.room,), REAL)


@kernel(inline=True)
def exploration(graph):
    """[edges.room] float64: the factor of the source's exploration scale."""
    address = graph.edges.address + np.uint64(graph.edges.room) * (EDGE_BYTES + REAL_BYTES)
    return array_at(address, (graph.edges.room,), REAL)


@kernel(inline=True)
def edge_stats(graph):
    """[edges.room, edges.columns] float64: the value sum w(e) of each player, then the selection's own."""
    address = graph.edges.address + np.uint64(graph.edges.room) * (EDGE_BYTES + REAL_BYTES + REAL_BYTES)
    return array_at(address, (graph.edges.room, graph.edges.columns), REAL)


@kernel(inline=True)
def actions(graph):
    """[actions.room] uint16: the actions of every listed node, expanded ones first."""
    return array_at(graph.actions.address, (graph.actions.room,), ACTION)


@kernel(inline=True)
def initial_stats(graph):
    """[actions.room, actions.columns] float32: playouts and payoffs that an action is given before its first visit; at a chance
    node the probability of an outcome, 0 for an unknown one, comes first."""
    address = graph.actions.address + np.uint64(graph.actions.room) * np.uint64(2)
    return array_at(address, (graph.actions.room, graph.actions.columns), SINGLE)


@kernel(inline=True)
def keys(graph):
    """[keys.room, keys.columns] uint64: the keys of positions; no columns where they are not asked for."""
    return array_at(graph.keys.address, (graph.keys.room, graph.keys.columns), WORD)


@kernel(inline=True)
def node_action_stats(graph, node):
    """[node_actions.columns, 2] float32: playouts and payoffs by the actions played after a node."""
    # Rows are wide: a kept graph hands them on and copies only their numbers, which come first in the block.
    block, room = graph.node_actions, np.uint64(graph.node_actions.room)
    place = np.uint64(array_at(block.address, (block.room,), INDEX)[node]) * np.uint64(block.columns) * REAL_BYTES
    return array_at(block.address + room * INDEX_BYTES + place, (block.columns, 2), SINGLE)


@kernel(inline=True)
def transpositions(graph):
    """[slots.room] int32, a power of two or empty: node + 1, or 0."""
    return array_at(graph.slots.address, (graph.slots.room,), INDEX)


@kernel(inline=True)
def free_blocks(graph):
    """[free_blocks.room] int32: by size, the first free block of edges, linked through `target`; -1 for none."""
    return array_at(graph.free_blocks.address, (graph.free_blocks.room,), INDEX)


@kernel(inline=True)
def parameters(graph, layout):
    """The selection's parameters, a record of its layout."""
    return array_at(graph.parameters, (1,), layout)[0]


@kernel(inline=True)
def merges(graph):
    """Whether positions share nodes."""
    return graph.slots.room > 0  # a tree has no table, and none gets one later


@kernel(inline=True)
def edge_in(graph, reference):
    """The source and the number of an edge in a list of edges into a node."""
    source = reference >> 16  # it names a place in the block, since blocks move
    return source, np.int64(nodes(graph)[source].first_edge) + (reference & LOW)
