"""The search graph: positions as nodes, moves as edges, a table from positions to nodes, and how all of them grow.

A node's tried edges lie together in one block, which moves to a larger one when it is full and leaves its place to another
node; an edge is therefore named for good by its source and its slot in the block. A node's moves are listed when a descent
first chooses there, and those not tried yet cost two bytes each. In a tree (without a table) an edge gets its node only at
its second visit. The edges into a node are a linked list. Table entries compare whole positions, so no two positions ever
share a node ([UCD] section 4 asks for that).

Statistics: an edge e keeps n(e), w(e) and n'(e), w'(e); `exploit` and `explore` are the two numbers from which selection makes
its value, `exploit + weight(source) * explore`; `sums` holds what a selection keeps at nodes, `amaf` and `mixed` what was
played after them (all moves as first).

Kernels know a graph as one record, GRAPH, of counts, sizes and addresses of arrays; `nodes(g)`, `edges(g)` ... are the arrays.
"""

from __future__ import annotations

import numpy as np
from numba import from_dtype, types

from ucd_envs.kernels import BYTES, kernel
from ucd_envs.structs import array_at, fields, record

NODE = record(
    ("first_edge", np.int32),
    ("first_move", np.int32),
    ("in_source", np.int32),
    ("stamp", np.int32),
    ("moves", np.uint16),
    ("tried", np.uint16),
    ("room", np.uint16),
    ("in_slot", np.uint16),
    ("mover", np.int16),
    ("distance", np.uint16),
    ("slot", np.int32),
)
"""`moves`: legal moves, 0 until listed; the first `tried` of them have edges, in a block of `room` places. `in_source`,
`in_slot`: head of the list of edges into the node (source -1: none). `stamp`, `distance`, `slot`: marks of the backup."""
EDGE = record(
    ("visits", np.int32),
    ("ended", np.int32),
    ("target", np.int32),
    ("next_source", np.int32),
    ("action", np.uint16),
    ("next_slot", np.uint16),
)
"""`visits` n(e), `ended` n'(e), `target` a node or -1, `next_*`: the next edge into the same target."""

ARRAYS = (
    "nodes",
    "edges",
    "exploit",
    "explore",
    "payoff",
    "ended_payoff",
    "shares",
    "weight",
    "sums",
    "amaf",
    "mixed",
    "pending",
    "frontier",
    "positions",
    "table",
    "moves",
    "priors",
    "free",
)
COUNTS = (
    "node_count",
    "edge_count",
    "edge_places",
    "move_count",
    "links",
    "depth",
    "playouts",
    "stamp",
    "widest",
    "wanted",
    "root",
    "kept",
    "node_room",
    "edge_room",
    "move_room",
    "table_size",
    "players",
    "words",
    "columns",
    "share_columns",
    "actions",
    "most_edges",
    "has_table",
    "keeps_ended",
    "adds_all",
    "amaf_kind",
    "adds_leaf",
    "has_chooser",
    "has_priors",
)
GRAPH = record(
    *((name, np.int64) for name in COUNTS),
    *((name, np.uint64) for name in ARRAYS),
    ("urgency", np.float64),
    ("whole", np.int64, (16,)),
    ("constants", np.float64, (8,)),
)
"""Counts: nodes, edges, places of edges given out, moves listed, edges that met a known position, plies of the longest
descent, playouts, backups begun, the longest frontier, what has to grow before the search can go on, the root, and the edges
left when the graph was last rebuilt; sizes and facts (`most_edges`: the edges allowed; `adds_all`: whether all positions of
a simulation are added; `amaf_kind`: as in the selection's layout; `adds_leaf`: whether a new position gets its node at once
rather than when it is reached again; `has_chooser`: whether the loop's own choice is not used; `has_priors`: whether moves have
some); addresses of arrays; the bound of untried moves; and the selection's parameters, as its kernel lays them out."""
PLACES = {name: place for place, name in enumerate((*COUNTS, *ARRAYS))}
"""Where each count and address lies in the record, in words of 8 bytes."""
GRAPH_RECORD = from_dtype(GRAPH)
"""A graph in the signature of a kernel."""

REAL, SINGLE, INDEX, WORD, ACTION = (np.dtype(kind) for kind in (np.float64, np.float32, np.int32, np.uint64, np.uint16))
"""What arrays hold."""

MORE_NODES, MORE_EDGES, MORE_MOVES, MORE_MEMORY, BROKEN = 1, 2, 3, 4, 5
"""What `wanted` says; MORE_MEMORY: policies do; BROKEN: nothing helps, a kernel that calls back into Python has failed."""

HASH = np.uint64(0x9E3779B97F4A7C15)
U1, U29, U32 = np.uint64(1), np.uint64(29), np.uint64(32)


@kernel(inline=True)
def nodes(g):
    """[node_room] NODE."""
    return array_at(g.nodes, (g.node_room,), NODE)


@kernel(inline=True)
def edges(g):
    """[edge_room] EDGE."""
    return array_at(g.edges, (g.edge_room,), EDGE)


@kernel(inline=True)
def exploit(g):
    """[edge_room] float64: the mean that selection sees, for the source's mover."""
    return array_at(g.exploit, (g.edge_room,), REAL)


@kernel(inline=True)
def explore(g):
    """[edge_room] float64: what the source's weight multiplies."""
    return array_at(g.explore, (g.edge_room,), REAL)


@kernel(inline=True)
def payoff(g):
    """[edge_room, players] float64: w(e)."""
    return array_at(g.payoff, (g.edge_room, g.players), REAL)


@kernel(inline=True)
def ended_payoff(g):
    """[edge_room, players] float64: w'(e), or no rows where the selection needs none."""
    return array_at(g.ended_payoff, (g.edge_room if g.keeps_ended else 0, g.players), REAL)


@kernel(inline=True)
def shares(g):
    """[edge_room, share_columns] float64: what the edge adds to those of its source's sums that are not of w."""
    return array_at(g.shares, (g.edge_room, g.share_columns), REAL)


@kernel(inline=True)
def weight(g):
    """[node_room] float64: what multiplies `explore`."""
    return array_at(g.weight, (g.node_room,), REAL)


@kernel(inline=True)
def sums(g):
    """[node_room, columns] float64, as the selection lays them out."""
    return array_at(g.sums, (g.node_room, g.columns), REAL)


@kernel(inline=True)
def amaf(g):
    """[node_room, players * actions, 2] float32, or no rows: of the playouts through a node those in which a player played an
    action there or later, and what they paid the player. Whole numbers are exact up to 2**24."""
    return array_at(g.amaf, (g.node_room if g.amaf_kind > 0 else 0, g.players * g.actions, 2), SINGLE)


@kernel(inline=True)
def mixed(g):
    """[node_room, actions, 2] float32, or no rows: the same for the node's mover, and the playouts through a node or one of its
    children."""
    return array_at(g.mixed, (g.node_room if g.amaf_kind > 1 else 0, g.actions, 2), SINGLE)


@kernel(inline=True)
def pending(g):
    """[2 * node_room, columns] float64: changes of sums in the backup under way, a row for each node of the frontier."""
    return array_at(g.pending, (2 * g.node_room, g.columns), REAL)


@kernel(inline=True)
def frontier(g):
    """[2, node_room] int32: nodes with changes at the ply under way and at the one above, from the front."""
    return array_at(g.frontier, (2, g.node_room), INDEX)


@kernel(inline=True)
def positions(g):
    """[node_room, words] uint64; no words where positions are not asked for."""
    return array_at(g.positions, (g.node_room, g.words), WORD)


@kernel(inline=True)
def table(g):
    """[table_size] int32, a power of two: node + 1, or 0."""
    return array_at(g.table, (g.table_size,), INDEX)


@kernel(inline=True)
def moves(g):
    """[move_room] uint16: every listed node's actions, tried ones first."""
    return array_at(g.moves, (g.move_room,), ACTION)


@kernel(inline=True)
def priors(g):
    """[move_room, 2] float32, or no rows: playouts that each of these is taken to have had before the first, and what they paid
    the mover."""
    return array_at(g.priors, (g.move_room if g.has_priors else 0, 2), SINGLE)


@kernel(inline=True)
def free(g):
    """[actions + 1] int32: by size, the first free block of edge places, linked through `target`; -1 none."""
    return array_at(g.free, (g.actions + 1,), INDEX)


@kernel()
def add_node(g, words, mover):
    """Enters a position as a node without moves or edges; its number. Needs room for one node."""
    node = g.node_count
    g.node_count += 1
    made = nodes(g)[node]
    made.first_edge = 0
    made.first_move = 0
    made.in_source = -1
    made.in_slot = 0
    made.stamp = 0
    made.distance = 0
    made.slot = 0
    made.moves = 0
    made.tried = 0
    made.room = 0
    made.mover = mover
    weight(g)[node] = 0.0
    for column in range(g.columns):
        sums(g)[node, column] = 0.0
    for i in range(g.players * g.actions if g.amaf_kind > 0 else 0):
        amaf(g)[node, i, 0] = 0.0
        amaf(g)[node, i, 1] = 0.0
    for i in range(g.actions if g.amaf_kind > 1 else 0):
        mixed(g)[node, i, 0] = 0.0
        mixed(g)[node, i, 1] = 0.0
    for i in range(g.words):
        positions(g)[node, i] = words[i]
    if g.has_table:
        enter(g, node)
    return node


@kernel()
def entry_of(g, words):
    """Where the table's search for a position begins."""
    mixed = HASH
    for i in range(np.uint64(g.words)):
        mixed = (mixed ^ words[i]) * HASH
        mixed ^= mixed >> U29
    mixed ^= mixed >> U32
    return mixed & np.uint64(g.table_size - 1)


@kernel()
def enter(g, node):
    """Puts a node into the table."""
    entries = table(g)
    entry = entry_of(g, positions(g)[node])
    while entries[entry] != 0:
        entry = (entry + U1) & np.uint64(g.table_size - 1)
    entries[entry] = node + 1


@kernel(types.void(BYTES))
def enter_all(graph):
    """Fills an empty table with all nodes."""
    g = fields(graph, GRAPH)
    for node in range(g.node_count):
        enter(g, node)


@kernel()
def find(g, words):
    """The node of a position, or -1."""
    entries, known = table(g), positions(g)
    entry = entry_of(g, words)
    while entries[entry] != 0:
        node = np.int64(entries[entry]) - 1
        same = True
        for i in range(np.uint64(g.words)):
            same = same and known[node, i] == words[i]
        if same:
            return node
        entry = (entry + U1) & np.uint64(g.table_size - 1)
    return np.int64(-1)


@kernel()
def next_room(tried, moves):
    """Places in the block after one of `tried` places: half as many again, but no more than there are moves."""
    return min(tried + (tried >> 1) + 1, moves)


@kernel()
def add_edge(g, node, choice):
    """Makes the edge of a node's untried move at place `choice` of its list; its number. Needs room for a larger block."""
    source, actions = nodes(g)[node], moves(g)
    tried = np.int64(source.tried)
    if tried == source.room:
        move_block(g, source, next_room(tried, np.int64(source.moves)))
    first = np.int64(source.first_move)
    action = actions[first + choice]
    actions[first + choice] = actions[first + tried]
    actions[first + tried] = action
    if g.has_priors:
        a, b = np.uint64(first + choice), np.uint64(first + tried)
        for i in range(2):
            priors(g)[a, i], priors(g)[b, i] = priors(g)[b, i], priors(g)[a, i]
    number = np.int64(source.first_edge) + tried
    source.tried = tried + 1
    g.edge_count += 1
    edge = edges(g)[number]
    edge.visits = 0
    edge.ended = 0
    edge.target = -1
    edge.next_source = -1
    edge.next_slot = 0
    edge.action = action
    for player in range(g.players):
        payoff(g)[number, player] = 0.0
        if g.keeps_ended:
            ended_payoff(g)[number, player] = 0.0
    for column in range(g.share_columns):
        shares(g)[number, column] = 0.0
    return number


@kernel()
def move_block(g, source, room):
    """Gives a node's edges a block of `room` places; the old one is free for others."""
    blocks, records = free(g), edges(g)
    if blocks[room] >= 0:
        first = np.int64(blocks[room])
        blocks[room] = records[first].target
    else:
        first = g.edge_places
        g.edge_places += room
    old = np.int64(source.first_edge)
    for i in range(np.int64(source.tried)):
        records[first + i] = records[old + i]
        exploit(g)[first + i] = exploit(g)[old + i]
        explore(g)[first + i] = explore(g)[old + i]
        for player in range(g.players):
            payoff(g)[first + i, player] = payoff(g)[old + i, player]
            if g.keeps_ended:
                ended_payoff(g)[first + i, player] = ended_payoff(g)[old + i, player]
        for column in range(g.share_columns):
            shares(g)[first + i, column] = shares(g)[old + i, column]
    if source.room > 0:
        records[old].target = blocks[source.room]
        blocks[source.room] = old
    source.first_edge = first
    source.room = room


@kernel()
def link(g, node, number, target):
    """Lets an edge lead to a node, and the node know the edge."""
    edge, into = edges(g)[number], nodes(g)[target]
    edge.target = target
    edge.next_source = into.in_source
    edge.next_slot = into.in_slot
    into.in_source = node
    into.in_slot = number - nodes(g)[node].first_edge
