"""The search graph: positions as nodes, actions as edges, a table of transpositions, and blocks of numbers for selections.

A node's expanded edges lie together, and the block moves to a larger one when it is full and leaves its place to another node;
an edge is therefore named for good by its source and its slot. A node's actions are listed when a descent first chooses there,
and untried ones cost two bytes each. In a tree an edge gets its node only at its second visit. The edges into a node are a
linked list. The table compares whole keys and plies, so no two positions ever share a node [UCD section 4], and since every
edge goes one ply down there are no cycles.

The graph knows shapes, not algorithms: `node_stats`, `edge_stats`, `node_action_stats` and `initial_stats` have as many columns
as a selection's layout names. Two numbers of each edge are the graph's own, since every choice reads them: the largest
`mean_value + exploration_scale * exploration` of a node is chosen.
"""

from __future__ import annotations

import numpy as np
from numba import from_dtype, types

from ucd_envs.kernels import BYTES, kernel
from ucd_envs.structs import BLOCK, array_at, fields, record

NODE = record(
    ("first_edge", np.int32),
    ("first_action", np.int32),
    ("first_in", np.int64),
    ("ply", np.int32),
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

NONE, FINISHED = -1, -2
"""Targets of an edge without a node: none so far, and the end of the game."""
REAL, SINGLE, INDEX, WORD, ACTION = (np.dtype(kind) for kind in (np.float64, np.float32, np.int32, np.uint64, np.uint16))
HASH = np.uint64(0x9E3779B97F4A7C15)
U1, U16, U29, U32, LOW = np.uint64(1), np.uint64(16), np.uint64(29), np.uint64(32), np.int64(0xFFFF)
NODE_BYTES, EDGE_BYTES, REAL_BYTES = np.uint64(NODE.itemsize), np.uint64(EDGE.itemsize), np.uint64(8)


@kernel(inline=True)
def nodes(graph):
    """[nodes.room] NODE."""
    return array_at(graph.nodes.address, (graph.nodes.room,), NODE)


@kernel(inline=True)
def node_stats(graph):
    """[nodes.room, nodes.columns] float64: the exploration scale, then the selection's own."""
    address = graph.nodes.address + np.uint64(graph.nodes.room) * NODE_BYTES
    return array_at(address, (graph.nodes.room, graph.nodes.columns), REAL)


@kernel(inline=True)
def edges(graph):
    """[edges.room] EDGE."""
    return array_at(graph.edges.address, (graph.edges.room,), EDGE)


@kernel(inline=True)
def mean_value(graph):
    """[edges.room] float64: the mean payoff that selection sees, for the source's mover."""
    address = graph.edges.address + np.uint64(graph.edges.room) * EDGE_BYTES
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
    """[actions.room, actions.columns] float32: playouts and payoffs that an action is given before its first visit."""
    address = graph.actions.address + np.uint64(graph.actions.room) * np.uint64(2)
    return array_at(address, (graph.actions.room, graph.actions.columns), SINGLE)


@kernel(inline=True)
def keys(graph):
    """[keys.room, keys.columns] uint64: the keys of positions; no columns where they are not asked for."""
    return array_at(graph.keys.address, (graph.keys.room, graph.keys.columns), WORD)


@kernel(inline=True)
def node_action_stats(graph):
    """[node_actions.room, node_actions.columns, 2] float32: playouts and payoffs by the actions played after a node."""
    return array_at(graph.node_actions.address, (graph.node_actions.room, graph.node_actions.columns, 2), SINGLE)


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
    return graph.slots.room > 0


@kernel()
def add_node(graph, key, mover, ply):
    """Adds a position without edges; returns its node. Needs room for one node."""
    node = graph.nodes.length
    graph.nodes.length += 1
    made = nodes(graph)[node]
    made.first_edge = 0
    made.first_action = 0
    made.first_in = -1
    made.ply = ply
    made.legal = 0
    made.expanded = 0
    made.room = 0
    made.mover = mover
    for column in range(graph.nodes.columns):
        node_stats(graph)[node, column] = 0.0
    for column in range(graph.node_actions.columns):
        node_action_stats(graph)[node, column, 0] = 0.0
        node_action_stats(graph)[node, column, 1] = 0.0
    for i in range(graph.keys.columns):
        keys(graph)[node, i] = key[i]
    if merges(graph):
        insert(graph, node)
    return node


@kernel()
def slot_of(graph, key, ply):
    """The slot at which the table's search for a position begins."""
    mixed = HASH ^ np.uint64(ply)
    for i in range(np.uint64(graph.keys.columns)):
        mixed = (mixed ^ key[i]) * HASH
        mixed ^= mixed >> U29
    mixed ^= mixed >> U32
    return mixed & np.uint64(graph.slots.room - 1)


@kernel()
def insert(graph, node):
    """Puts a node into the table. Needs a free slot."""
    slots = transpositions(graph)
    slot = slot_of(graph, keys(graph)[node], nodes(graph)[node].ply)
    while slots[slot] != 0:
        slot = (slot + U1) & np.uint64(graph.slots.room - 1)
    slots[slot] = node + 1


@kernel(types.void(BYTES))
def insert_all(graph):
    """Fills an empty table with all nodes."""
    g = fields(graph, GRAPH)
    for node in range(g.nodes.length):
        insert(g, node)


@kernel()
def lookup(graph, key, ply):
    """Returns the node of a position, or -1."""
    slots, known, records = transpositions(graph), keys(graph), nodes(graph)
    slot = slot_of(graph, key, ply)
    while slots[slot] != 0:
        node = np.int64(slots[slot]) - 1
        same = records[node].ply == ply
        for i in range(np.uint64(graph.keys.columns)):
            same = same and known[node, i] == key[i]
        if same:
            return node
        slot = (slot + U1) & np.uint64(graph.slots.room - 1)
    return np.int64(-1)


@kernel()
def larger_room(expanded, legal):
    """Places in the block that follows one of `expanded` places: half as many again, at most `legal`."""
    return min(expanded + (expanded >> 1) + 1, legal)


@kernel()
def add_edge(graph, node, choice):
    """Expands the untried action at place `choice` of a node's list; returns its edge. Needs room for a larger block."""
    source, listed = nodes(graph)[node], actions(graph)
    expanded = np.int64(source.expanded)
    if expanded == source.room:
        move_block(graph, source, larger_room(expanded, np.int64(source.legal)))
    # The expanded actions stay in front, in the order of their edges.
    first = np.int64(source.first_action)
    action = listed[first + choice]
    listed[first + choice] = listed[first + expanded]
    listed[first + expanded] = action
    a, b, given = np.uint64(first + choice), np.uint64(first + expanded), initial_stats(graph)
    for i in range(graph.actions.columns):
        given[a, i], given[b, i] = given[b, i], given[a, i]
    number = np.int64(source.first_edge) + expanded
    source.expanded = expanded + 1
    graph.edge_count += 1
    edge = edges(graph)[number]
    edge.visits = 0
    edge.leaf_visits = 0
    edge.target = NONE
    edge.next_in = -1
    edge.action = action
    for column in range(graph.edges.columns):
        edge_stats(graph)[number, column] = 0.0
    return number


@kernel()
def move_block(graph, source, room):
    """Gives a node's edges a block of `room` places; the old block is free for others."""
    blocks, records = free_blocks(graph), edges(graph)
    if blocks[room] >= 0:
        first = np.int64(blocks[room])
        blocks[room] = records[first].target
    else:
        first = graph.edges.length
        graph.edges.length += room
    old = np.int64(source.first_edge)
    for i in range(np.int64(source.expanded)):
        copy_edge(graph, old + i, graph, first + i)
    # A free block is linked through the `target` of its first edge.
    if source.room > 0:
        records[old].target = blocks[source.room]
        blocks[source.room] = old
    source.first_edge = first
    source.room = room


@kernel()
def copy_edge(graph, old, other, new):
    """Copies an edge with its statistics to a place of a graph."""
    edges(other)[new] = edges(graph)[old]
    mean_value(other)[new] = mean_value(graph)[old]
    exploration(other)[new] = exploration(graph)[old]
    for column in range(graph.edges.columns):
        edge_stats(other)[new, column] = edge_stats(graph)[old, column]


@kernel(inline=True)
def edge_in(graph, reference):
    """The source and the number of an edge in a list of edges into a node."""
    source = reference >> 16
    return source, np.int64(nodes(graph)[source].first_edge) + (reference & LOW)


@kernel()
def link(graph, node, number, target):
    """Lets an edge lead to a node, and puts it first in the list of edges into that."""
    edge, into = edges(graph)[number], nodes(graph)[target]
    edge.target = target
    edge.next_in = into.first_in
    into.first_in = node << 16 | (number - nodes(graph)[node].first_edge)
