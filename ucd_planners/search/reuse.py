"""The part of a graph that is kept when its root moves on: the positions that can still be reached, copied into another graph.

Every statistic depends only on simulations below, so all of them stay as they are; the edges into a position keep their order.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ucd_envs.kernels import BYTES, WORDS, kernel
from ucd_envs.structs import fields
from ucd_planners.search.graph import (
    GRAPH,
    actions,
    edge_in,
    edges,
    initial_stats,
    keys,
    merges,
    node_stats,
    nodes,
)
from ucd_planners.search.growth import copy_edge, insert, lookup

COUNTED = types.int64[::1]
NUMBERS = types.int32[:, ::1]


@kernel(types.int64(BYTES, WORDS, types.int64))
def node_of(graph, key, ply):
    """Returns the node of a position, or -1. In a tree, where it can have several, the one with the most visits below it."""
    g = fields(graph, GRAPH)
    if merges(g):  # a table holds each position once
        return lookup(g, key, ply)
    best, most = np.int64(-1), np.int64(-1)
    for node in range(g.nodes.length):
        same = nodes(g)[node].ply == ply
        for i in range(np.uint64(g.keys.columns)):
            same = same and keys(g)[node, i] == key[i]
        if same:
            visits = np.int64(0)
            first = np.int64(nodes(g)[node].first_edge)
            for number in range(first, first + np.int64(nodes(g)[node].expanded)):
                visits += edges(g)[number].visits
            if visits > most:
                best, most = np.int64(node), visits
    return best


@kernel(types.void(BYTES, NUMBERS, COUNTED))
def survey(graph, numbers, counted):
    """Numbers the nodes that can be reached from the root, in the order of a breadth-first search.

    numbers: [2, nodes] int32, each node's new number or -1, and the nodes by their new numbers; counted: [3] int64, how many
    nodes, edges and listed actions they have.
    """
    g = fields(graph, GRAPH)
    for node in range(g.nodes.length):
        numbers[0, node] = -1
    numbers[1, 0] = g.root
    numbers[0, g.root] = 0  # the root is node 0 of the new graph
    # Breadth first: numbers[1, :count] is the queue of found nodes and their new order at once, with the root in front.
    count, expanded, listed, place = np.int64(1), np.int64(0), np.int64(0), 0
    while place < count:
        source = nodes(g)[numbers[1, place]]
        first = np.int64(source.first_edge)
        expanded += np.int64(source.expanded)
        listed += np.int64(source.legal)
        for number in range(first, first + np.int64(source.expanded)):
            target = np.int64(edges(g)[number].target)
            if target >= 0 and numbers[0, target] < 0:  # each node is queued once, also in a graph with cycles
                numbers[0, target] = count
                numbers[1, count] = target
                count += 1
        place += 1
    counted[0], counted[1], counted[2] = count, expanded, listed


@kernel(types.void(BYTES, BYTES, NUMBERS, COUNTED, types.int64))
def copy_reachable(old, new, numbers, counted, rows):
    """Copies what `survey` has counted into an empty graph with room for it; `rows`: behind the actions of each listed node."""
    g, into = fields(old, GRAPH), fields(new, GRAPH)
    for node in range(counted[0]):
        source = np.int64(numbers[1, node])
        copy_node(g, into, source, node, rows)  # in the new order, so blocks and lists lie in the order of the search
        first = np.int64(nodes(into)[node].first_edge)
        for i in range(np.int64(nodes(g)[source].expanded)):
            copy_edge(g, np.int64(nodes(g)[source].first_edge) + i, into, first + i)
            target = np.int64(edges(into)[first + i].target)
            if target >= 0:
                edges(into)[first + i].target = numbers[0, target]  # a target of a kept node is kept
    # Lists of edges into a node name their sources by number, so they follow when every node has its new one.
    into.nodes.length, into.edge_count = counted[0], counted[1]
    leading = np.int64(0)
    for node in range(counted[0]):
        leading += copy_edges_in(g, into, numbers, np.int64(numbers[1, node]), node)
        if merges(into):
            insert(into, node)
    into.transpositions = max(0, leading - (counted[0] - 1))


@kernel()
def copy_node(g, into, source, node, rows):
    """Copies a node with its key, statistics and actions, but for `node_action_stats`, which are handed on."""
    nodes(into)[node] = nodes(g)[source]
    made = nodes(into)[node]
    # A block has no spare room at first, which is the smallest graph; it moves when the node gets another edge.
    made.room = made.expanded
    made.first_edge = into.edges.length
    made.first_action = into.actions.length
    for column in range(g.nodes.columns):
        node_stats(into)[node, column] = node_stats(g)[source, column]
    for i in range(g.keys.columns):
        keys(into)[node, i] = keys(g)[source, i]
    first = np.int64(nodes(g)[source].first_action)
    listed = np.int64(made.legal) + (rows if made.legal > 0 else 0)
    for i in range(listed):
        actions(into)[into.actions.length + i] = actions(g)[first + i]
        for column in range(g.actions.columns):
            initial_stats(into)[into.actions.length + i, column] = initial_stats(g)[first + i, column]
    into.edges.length += np.int64(made.expanded)  # blocks without gaps: nothing is free
    into.actions.length += listed


@kernel()
def copy_edges_in(g, into, numbers, old, new):
    """Copies the list of edges into a node, without those from nodes that are not kept; returns how many are left."""
    count, last = 0, np.int64(-1)
    nodes(into)[new].first_in = -1  # sources that are gone leave the list
    reference = nodes(g)[old].first_in
    while reference >= 0:
        source, number = edge_in(g, reference)
        kept = np.int64(numbers[0, source])
        # The order of the list stays, since backups add floating-point numbers in its order.
        if kept >= 0:
            copied = kept << 16 | (reference & 0xFFFF)
            if last < 0:
                nodes(into)[new].first_in = copied
            else:
                edges(into)[last].next_in = copied
            _, last = edge_in(into, copied)
            edges(into)[last].next_in = -1
            count += 1
        reference = edges(g)[number].next_in
    return count
