"""The growth of a search graph: nodes, the table that finds them, edges in blocks, and links from edges to nodes.

Every kernel here needs room that the loop has made sure of before.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ucd_envs.kernels import BYTES, CHANCE, FAILED, HEADER, kernel
from ucd_envs.structs import fields
from ucd_envs.tables import HASH, place_in
from ucd_planners.search.graph import (
    GRAPH,
    NONE,
    actions,
    edge_stats,
    edges,
    exploration,
    free_blocks,
    initial_stats,
    keys,
    mean_value,
    merges,
    node_action_stats,
    node_stats,
    nodes,
    transpositions,
)
from ucd_planners.search.interface import (
    DONE,
    GROW_ACTIONS,
    GROW_EDGES,
    GROW_NODES,
    NEEDS_EVALUATION,
    NO_ACTION,
    NO_ACTIONS,
    STOPPED,
    TOO_MANY_ACTIONS,
)
from ucd_planners.search.sim import action_list, key, memory_of, path, player_of, state

U29, U32 = np.uint64(29), np.uint64(32)


@kernel(inline=True)
def adds_leaf(search, graph):
    """Whether a new position gets its node at once: where it can be found, and where its playouts or priors are kept."""
    return merges(graph) or graph.node_actions.columns > 0 or search.has_priors > 0


@kernel(inline=True)
def ply_of(search, sim):
    """The ply that goes with a position's key; 0 for all in a graph that may have cycles."""
    return np.int64(fields(state(sim), HEADER).ply) if search.graded else np.int64(0)


@kernel()
def add_node(graph, words, mover, ply):
    """Adds a position without edges; returns its node. Needs room for one node."""
    node = graph.nodes.length
    graph.nodes.length += 1  # nodes are never taken away, so a number stays a node
    made = nodes(graph)[node]
    made.first_edge = 0
    made.first_action = 0
    made.first_in = -1  # no edge leads here until `link`
    made.ply = ply
    made.legal = 0  # its actions are listed at the first choice there
    made.expanded = 0
    made.room = 0
    made.mover = mover  # OVER never: ends of games have no node
    for column in range(graph.nodes.columns):
        node_stats(graph)[node, column] = 0.0
    if graph.node_actions.columns > 0:
        node_action_stats(graph, np.uint64(node))[:] = np.float32(0.0)
    for i in range(graph.keys.columns):
        keys(graph)[node, i] = words[i]
    if merges(graph):
        insert(graph, node)
    return node


@kernel()
def hash_of(words, count, ply):
    """A number from all bits of a key of `count` words and its ply."""
    # Every bit reaches the low bits, which are the slot of a table: keys of near positions differ in few bits.
    mixed = HASH ^ np.uint64(ply)
    for i in range(count):
        mixed = (mixed ^ words[i]) * HASH
        mixed ^= mixed >> U29
    return mixed ^ (mixed >> U32)


@kernel()
def slot_of(graph, words, ply):
    """The slot at which the table's search for a position begins."""
    return hash_of(words, np.uint64(graph.keys.columns), ply) & np.uint64(graph.slots.room - 1)


@kernel()
def insert(graph, node):
    """Puts a node into the table. Needs a free slot."""
    home, slots = slot_of(graph, keys(graph)[node], nodes(graph)[node].ply), transpositions(graph)
    slots[place_in(slots, 0, home, np.uint64(slots.size), is_taken)] = node + 1


@kernel()
def is_taken(slots, slot, key):
    """Whether a slot of the table holds a node."""
    return slots[slot] != key


@kernel(types.void(BYTES))
def insert_all(graph):
    """Fills an empty table with all nodes."""
    g = fields(graph, GRAPH)
    for node in range(g.nodes.length):
        insert(g, node)


@kernel()
def lookup(graph, words, ply):
    """Returns the node of a position, or -1."""
    # A free slot ends the search, and there always is one.
    slot = place_in(graph, (words, ply), slot_of(graph, words, ply), np.uint64(graph.slots.room), is_other)
    return np.int64(transpositions(graph)[slot]) - 1


@kernel()
def is_other(graph, slot, position):
    """Whether a slot of the table holds a node of another position."""
    node = np.int64(transpositions(graph)[slot]) - 1
    if node < 0:
        return False
    same = nodes(graph)[node].ply == position[1]
    for i in range(np.uint64(graph.keys.columns)):
        same = same and keys(graph)[node, i] == position[0][i]
    return not same


@kernel()
def larger_room(expanded, legal):
    """Places in the block that follows one of `expanded` places: half as many again, at most `legal`."""
    return min(expanded + (expanded >> 1) + 1, legal)  # so edges are copied about twice each


@kernel()
def add_edge(graph, node, choice):
    """Expands the untried action at place `choice` of a node's list; returns its edge. Needs room for a larger block."""
    source, listed = nodes(graph)[node], actions(graph)
    expanded = np.int64(source.expanded)  # places below are edges in order, places from it on are untried
    if expanded == source.room:
        move_block(graph, source, larger_room(expanded, np.int64(source.legal)))
    # The expanded actions stay in front, in the order of their edges: place i of the list is the action of edge i.
    first = np.int64(source.first_action)
    action = listed[first + choice]
    listed[first + choice] = listed[first + expanded]
    listed[first + expanded] = action
    a, b, given = np.uint64(first + choice), np.uint64(first + expanded), initial_stats(graph)
    for i in range(graph.actions.columns):
        given[a, i], given[b, i] = given[b, i], given[a, i]
    number = np.int64(source.first_edge) + expanded
    source.expanded = expanded + 1
    graph.edge_count += 1  # edges in use, while edges.length counts places of blocks
    edge = edges(graph)[number]
    edge.visits = 0  # 1 or more as soon as the simulation has backed up
    edge.leaf_visits = 0
    edge.target = NONE  # until `link` or the end of the game
    edge.next_in = -1
    edge.action = action
    for column in range(graph.edges.columns):
        edge_stats(graph)[number, column] = 0.0
    return number


@kernel()
def move_block(graph, source, room):
    """Gives a node's edges a block of `room` places; the old block is free for others."""
    # A block is taken from the free ones of its very size, else from the end; none is ever split or joined.
    blocks, records = free_blocks(graph), edges(graph)
    if blocks[room] >= 0:
        first = np.int64(blocks[room])
        blocks[room] = records[first].target  # its first edge held the next free block
    else:
        first = graph.edges.length
        graph.edges.length += room
    old = np.int64(source.first_edge)
    # References to these edges stay right: they name the source and the place in its block, not the number.
    for i in range(np.int64(source.expanded)):
        copy_edge(graph, old + i, graph, first + i)
    # A free block is linked through the `target` of its first edge.
    if source.room > 0:
        records[old].target = blocks[source.room]
        blocks[source.room] = old
    source.first_edge = first
    source.room = room  # an edge more needs no move while expanded < room


@kernel()
def copy_edge(graph, old, other, new):
    """Copies an edge with its statistics to a place of a graph."""
    edges(other)[new] = edges(graph)[old]
    mean_value(other)[new] = mean_value(graph)[old]
    exploration(other)[new] = exploration(graph)[old]
    for column in range(graph.edges.columns):
        edge_stats(other)[new, column] = edge_stats(graph)[old, column]


@kernel()
def link(graph, node, number, target):
    """Lets an edge lead to a node, and puts it first in the list of edges into that."""
    edge, into = edges(graph)[number], nodes(graph)[target]
    edge.target = target
    edge.next_in = into.first_in
    into.first_in = node << 16 | (number - nodes(graph)[node].first_edge)  # the last link comes first in the list


@kernel()
def reserve(rules, search, graph, sim, plies):
    """Makes sure of room for a path's new edges and node, and for a playout of `plies` positions."""
    # Each new edge may need a larger block. No node occurs twice as a source: edges go one ply down, or descents end there.
    trail, room = path(sim), graph.edges.length + plies * rules.actions
    for depth in range(sim.path.length):
        source = nodes(graph)[trail[0, depth]]
        if trail[2, depth] >= 0 and source.expanded == source.room:
            room += larger_room(np.int64(source.expanded), np.int64(source.legal))
    if room > graph.edges.room:
        return np.int64(GROW_EDGES)
    if graph.nodes.length + plies + (1 if adds_leaf(search, graph) else 0) > graph.nodes.room:
        return np.int64(GROW_NODES)
    if search.has_priors and graph.actions.length + rules.actions + 1 > graph.actions.room:
        return np.int64(GROW_ACTIONS)  # the list of a leaf comes with its priors
    if plies > 0 and graph.actions.length + plies * rules.actions > graph.actions.room:
        return np.int64(GROW_ACTIONS)
    return np.int64(DONE)


@kernel()
def list_actions(rules, search, graph, sim, node):
    """Lists the legal actions of a node, whose position the simulation has reached; or leaves it to an evaluation."""
    if search.has_priors:
        has_room = graph.actions.length + rules.actions + 1 <= graph.actions.room
        return np.int64(NEEDS_EVALUATION if has_room else GROW_ACTIONS)
    found = action_list(sim)
    count = np.int64(rules.legal_actions(rules.config, state(sim), found))
    if count <= 0:
        return np.int64(STOPPED if player_of(sim) == FAILED else NO_ACTIONS)
    if count > rules.actions:
        return np.int64(TOO_MANY_ACTIONS)
    first = graph.actions.length
    if first + count > graph.actions.room:
        return np.int64(GROW_ACTIONS)
    if search.reverses:
        reverse(found, count)
    for i in range(count):
        if found[i] < 0 or found[i] >= rules.actions:
            return np.int64(NO_ACTION)
        actions(graph)[first + i] = found[i]
    # Statistics of a list are written before it counts as listed, so that a kernel that fails leaves the node untouched.
    if player_of(sim) == CHANCE:
        for i in range(count if graph.actions.columns > 0 else 0):
            initial_stats(graph)[first + i, 0] = rules.probability(rules.config, state(sim), np.int64(found[i]))
    elif search.has_initial:
        values, known = initial_stats(graph)[first : first + count], count
        while known > 0 and found[known - 1] >= rules.moves:
            known -= 1  # picks of groups, which come last
            values[known, 0] = values[known, 1] = np.float32(0)
        search.initial(rules.config, state(sim), sim, memory_of(sim.initial_memory), found[:known], values[:known])
    graph.actions.length += count  # from here on the list counts, so that a kernel that failed before has left nothing
    nodes(graph)[node].first_action = first
    nodes(graph)[node].legal = count
    return np.int64(DONE)


@kernel()
def reverse(actions, count):
    """Turns the order of the first `count` actions of a list round."""
    for i in range(count >> 1):
        actions[i], actions[count - 1 - i] = actions[count - 1 - i], actions[i]


@kernel()
def put_largest_first(graph, node):
    """Makes the untried action with the largest prior the first untried one; of equal ones the first in the list."""
    source, listed, given = nodes(graph)[node], actions(graph), initial_stats(graph)
    first, most = np.uint64(source.first_action), np.uint64(source.first_action) + np.uint64(source.expanded)
    start, last, largest = most, first + np.uint64(source.legal), np.float32(-1.0)
    for i in range(start, last):
        if given[i, 0] > largest:
            largest, most = given[i, 0], np.uint64(i)
    if start < last and most != start:
        listed[start], listed[most] = listed[most], listed[start]
        for column in range(graph.actions.columns):
            given[start, column], given[most, column] = given[most, column], given[start, column]


@kernel()
def link_or_add(rules, search, graph, sim, source, number):
    """Gives an edge its target: the node of the position reached, a known one or a new one. Needs room for a node."""
    player, ply = player_of(sim), ply_of(search, sim)
    # A tree has keys only if it is kept for the next search, which finds its root by them.
    if graph.keys.columns > 0:
        rules.key(rules.config, state(sim), key(sim))
    if not merges(graph):
        node = add_node(graph, key(sim), player, ply)
        edges(graph)[number].target = node  # a tree: each edge has a node of its own, and no list of edges leads back
        return node
    node = lookup(graph, key(sim), ply)
    if node >= 0:
        graph.transpositions += 1
    else:
        node = add_node(graph, key(sim), player, ply)
    link(graph, source, number, node)
    return node
