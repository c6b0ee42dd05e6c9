"""What a graph keeps when its root moves on: the positions that can still be reached, copied into a graph without the others.

Every statistic depends on what lies below only, so all of them stay as they are; the edges into a position keep their order.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ucd_envs.kernels import BYTES, WORDS, kernel
from ucd_envs.structs import fields
from ucd_planners.search.graph import (
    GRAPH,
    amaf,
    edges,
    ended_payoff,
    enter,
    exploit,
    explore,
    find,
    frontier,
    mixed,
    moves,
    nodes,
    payoff,
    positions,
    priors,
    shares,
    sums,
    weight,
)

COUNTED = types.int64[::1]


@kernel(types.int64(BYTES, WORDS))
def node_of(graph, words):
    """The node of a position, or -1. In a tree, where it can have several, the one with the most moves tried below it."""
    g = fields(graph, GRAPH)
    if g.has_table:
        return find(g, words)
    best, most = np.int64(-1), np.int64(-1)
    for node in range(g.node_count):
        same = True
        for i in range(np.uint64(g.words)):
            same = same and positions(g)[node, i] == words[i]
        if same:
            visits = np.int64(0)
            first = np.int64(nodes(g)[node].first_edge)
            for number in range(first, first + np.int64(nodes(g)[node].tried)):
                visits += edges(g)[number].visits
            if visits > most:
                best, most = np.int64(node), visits
    return best


@kernel(types.void(BYTES, COUNTED))
def survey(graph, counted):
    """Numbers the nodes that can be reached from the root in `slot`, others -1, and lists them in the frontier.

    counted: [3] int64, how many nodes, edges and listed moves they have.
    """
    g = fields(graph, GRAPH)
    for node in range(g.node_count):
        nodes(g)[node].slot = -1
    queue = frontier(g)[0]
    queue[0] = g.root
    nodes(g)[g.root].slot = 0
    count, tried, listed = np.int64(1), np.int64(0), np.int64(0)
    place = 0
    while place < count:
        source = nodes(g)[queue[place]]
        first = np.int64(source.first_edge)
        tried += np.int64(source.tried)
        listed += np.int64(source.moves)
        for number in range(first, first + np.int64(source.tried)):
            target = np.int64(edges(g)[number].target)
            if target >= 0 and nodes(g)[target].slot < 0:
                nodes(g)[target].slot = count
                queue[count] = target
                count += 1
        place += 1
    g.widest = max(g.widest, count)
    counted[0], counted[1], counted[2] = count, tried, listed


@kernel(types.void(BYTES, BYTES, COUNTED))
def copy_reachable(old, new, counted):
    """Copies what `survey` has counted into an empty graph with room for it."""
    g, into = fields(old, GRAPH), fields(new, GRAPH)
    for node in range(counted[0]):
        source = np.int64(frontier(g)[0, node])
        copy_node(g, into, source, node)
        copy_edges(g, into, source, node)
    into.node_count, into.edge_count, into.kept = counted[0], counted[1], counted[1]
    leading = np.int64(0)
    for node in range(counted[0]):
        leading += copy_edges_in(g, into, np.int64(frontier(g)[0, node]), node)
        if into.has_table:
            enter(into, node)
    into.links = max(0, leading - (counted[0] - 1))


@kernel()
def copy_node(g, into, source, node):
    """Copies a node with its position, sums and moves."""
    nodes(into)[node] = nodes(g)[source]
    made = nodes(into)[node]
    made.stamp = 0
    made.room = made.tried
    made.first_edge = into.edge_places
    made.first_move = into.move_count
    weight(into)[node] = weight(g)[source]
    for column in range(g.columns):
        sums(into)[node, column] = sums(g)[source, column]
    for i in range(g.players * g.actions if g.amaf_kind > 0 else 0):
        amaf(into)[node, i, 0] = amaf(g)[source, i, 0]
        amaf(into)[node, i, 1] = amaf(g)[source, i, 1]
    for i in range(g.actions if g.amaf_kind > 1 else 0):
        mixed(into)[node, i, 0] = mixed(g)[source, i, 0]
        mixed(into)[node, i, 1] = mixed(g)[source, i, 1]
    for i in range(g.words):
        positions(into)[node, i] = positions(g)[source, i]
    first = np.int64(nodes(g)[source].first_move)
    for i in range(np.int64(made.moves)):
        moves(into)[into.move_count + i] = moves(g)[first + i]
    for i in range(np.int64(made.moves) if g.has_priors else 0):
        priors(into)[into.move_count + i, 0] = priors(g)[first + i, 0]
        priors(into)[into.move_count + i, 1] = priors(g)[first + i, 1]
    into.edge_places += np.int64(made.tried)
    into.move_count += np.int64(made.moves)


@kernel()
def copy_edges(g, into, source, node):
    """Copies a node's edges with their statistics and targets."""
    old, new = np.int64(nodes(g)[source].first_edge), np.int64(nodes(into)[node].first_edge)
    for i in range(np.int64(nodes(g)[source].tried)):
        edges(into)[new + i] = edges(g)[old + i]
        target = np.int64(edges(g)[old + i].target)
        edges(into)[new + i].target = nodes(g)[target].slot if target >= 0 else -1
        exploit(into)[new + i] = exploit(g)[old + i]
        explore(into)[new + i] = explore(g)[old + i]
        for player in range(g.players):
            payoff(into)[new + i, player] = payoff(g)[old + i, player]
            if g.keeps_ended:
                ended_payoff(into)[new + i, player] = ended_payoff(g)[old + i, player]
        for column in range(g.share_columns):
            shares(into)[new + i, column] = shares(g)[old + i, column]


@kernel()
def copy_edges_in(g, into, old, new):
    """Copies the list of edges into a node, without those from nodes that are not kept; how many are left."""
    count, last = 0, np.int64(-1)
    nodes(into)[new].in_source = -1
    source, slot = np.int64(nodes(g)[old].in_source), np.int64(nodes(g)[old].in_slot)
    while source >= 0:
        number = np.int64(nodes(g)[source].first_edge) + slot
        kept = np.int64(nodes(g)[source].slot)
        if kept >= 0:
            if last < 0:
                nodes(into)[new].in_source = kept
                nodes(into)[new].in_slot = slot
            else:
                edges(into)[last].next_source = kept
                edges(into)[last].next_slot = slot
            last = np.int64(nodes(into)[kept].first_edge) + slot
            edges(into)[last].next_source = -1
            count += 1
        source, slot = np.int64(edges(g)[number].next_source), np.int64(edges(g)[number].next_slot)
    return count
