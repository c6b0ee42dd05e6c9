"""The backup of UCD in a graph with cycles, where a node may lie any number of plies above another.

Sums of depth 0 change at the sources of the path only, those of depth k also at every node within k plies above them. So all
changes of one depth are made, and every edge that sees them is made right again, before those of the next depth begin. Finite
depths need no order of the nodes for this, and no edge is carried over twice at a depth.
"""

from __future__ import annotations

import numpy as np

from ucd_envs.kernels import CHANCE, kernel
from ucd_planners.search.graph import edge_in, edges, node_stats, nodes, parameters
from ucd_planners.search.interface import BACKUP
from ucd_planners.search.sim import GOES_ON, begin_backup, frontier, marks, path, payoffs, pending, scratch
from ucd_planners.search.ucb import scale_of
from ucd_planners.selection.ucd import (
    FIRST_A,
    PARAMETERS,
    add_leaf_playout,
    add_playout,
    begin_changes,
    refresh,
    weigh_outcomes,
)


@kernel(BACKUP)
def backup(graph, sim):
    """Adds a playout to the edges of its path and makes every cached value right again, depth by depth."""
    p, near = parameters(graph, PARAMETERS), np.int64(sim.path.length)
    begin_backup(graph, sim)
    add_to_sources(graph, sim, p)
    apply_depth(graph, sim, p, 0, near)
    for depth in range(1, p.edge_reach + 1):
        above = near
        for i in range(near):
            above = carry_up(graph, sim, p, np.int64(frontier(graph, sim)[0, i]), depth, above)
        near = above
        if depth <= p.node_reach:
            apply_depth(graph, sim, p, depth, near)


@kernel()
def add_to_sources(graph, sim, p):
    """Adds a playout to the edges of its path, whose sources are the first nodes that wait."""
    trail, length, paid = path(sim), np.int64(sim.path.length), payoffs(sim)
    for place in range(length):
        begin_changes(graph, sim, np.int64(trail[0, place]), 0, 0, place)
    for place in range(length):
        number, source = np.int64(trail[1, place]), np.int64(trail[0, place])
        slot, target = np.int64(marks(graph, sim)[source].slot), np.int64(edges(graph)[number].target)
        add_playout(graph, sim, p, number, source, paid)
        # An edge that has just got its target brings all that this had before.
        fresh = target >= 0 and (edges(graph)[number].visits == 1 or trail[2, place] == GOES_ON)
        for column in range(FIRST_A, p.last_a if fresh else FIRST_A):
            pending(graph, sim)[slot, column + 1] += node_stats(graph)[target, column]
    add_leaf_playout(graph, sim, p, np.int64(trail[1, length - 1]), np.int64(trail[0, length - 1]), paid)


@kernel()
def carry_up(graph, sim, p, node, depth, waiting):
    """Carries a node's change of A of the depth before over every edge into it; returns how many nodes wait now."""
    here, reference = np.int64(marks(graph, sim)[node].slot), np.int64(nodes(graph)[node].first_in)
    column, stamp = FIRST_A + depth - 1, scratch(sim).stamp
    while reference >= 0:
        source, number = edge_in(graph, reference)
        if marks(graph, sim)[source].stamp != stamp:
            begin_changes(graph, sim, source, depth, 0, waiting)
            waiting += 1
        if column < p.last_a:
            pending(graph, sim)[np.int64(marks(graph, sim)[source].slot), column + 1] += pending(graph, sim)[here, column]
        refresh(graph, sim, p, number, source, True)
        reference = np.int64(edges(graph)[number].next_in)
    return waiting


@kernel()
def apply_depth(graph, sim, p, depth, count):
    """Adds the pending changes of the sums of one depth, which are complete now, to those of the first nodes that wait."""
    kept, changes, first = node_stats(graph), pending(graph, sim), p.first_b + depth * p.players
    for i in range(count):
        node = np.int64(frontier(graph, sim)[0, i])
        slot = np.int64(marks(graph, sim)[node].slot)
        if FIRST_A + depth <= p.last_a:
            kept[node, FIRST_A + depth] += changes[slot, FIRST_A + depth]
        if FIRST_A + depth == p.parent_visits:
            kept[node, 0] = scale_of(p.c, kept[node, p.parent_visits])
        for column in range(first, min(first + p.players, np.int64(graph.nodes.columns))):
            kept[node, column] += changes[slot, column]
        if nodes(graph)[node].mover == CHANCE:
            weigh_outcomes(graph, p, node)
