"""The frontier of a backup: nodes whose sums change, ply by ply from the leaf to the root, with their pending changes.

It lies in the scratch of the simulation, not in the graph, so that several simulations can be under way in one graph.
"""

from __future__ import annotations

import numpy as np

from ucd_envs.kernels import kernel
from ucd_envs.structs import array_at, record
from ucd_planners.search.graph import INDEX, REAL

FIRST_A, FAR = 1, 65_535
"""The first column of sums, the visits of a node's edges; and where distances stop counting."""
SCRATCH = record(
    ("stamp", np.int64),
    ("note_stamp", np.int64),
    ("rave_node", np.int64),
    ("marks", np.uint64),
    ("frontier", np.uint64),
    ("pending", np.uint64),
)
"""Backups begun; for RAVE, those that took notes, and the node whose values are used; addresses of the arrays behind."""
MARK = record(("stamp", np.int64), ("slot", np.int32), ("distance", np.int32))
"""A node in the backup of this stamp: its row of pending changes, and its plies above the nearest node of the path."""
MARK_BYTES, SCRATCH_BYTES = np.uint64(MARK.itemsize), np.uint64(SCRATCH.itemsize)


@kernel(inline=True)
def scratch(sim):
    """The fixed part of the backup's scratch."""
    return array_at(sim.scratch.address, (1,), SCRATCH)[0]


@kernel(inline=True)
def marks(graph, sim):
    """[nodes.room] MARK."""
    return array_at(scratch(sim).marks, (graph.nodes.room,), MARK)


@kernel(inline=True)
def frontier(graph, sim):
    """[2, nodes.room] int32: nodes with changes at the ply under way and at the one above."""
    return array_at(scratch(sim).frontier, (2, graph.nodes.room), INDEX)


@kernel(inline=True)
def pending(graph, sim):
    """[2 * nodes.room, nodes.columns] float64: changes of sums, a row for each node of the frontier."""
    return array_at(scratch(sim).pending, (2 * graph.nodes.room, graph.nodes.columns), REAL)


@kernel()
def begin_backup(graph, sim):
    """Starts a backup: a new stamp, and the places of the arrays, which move when the graph gets more room."""
    begun, room = scratch(sim), np.uint64(graph.nodes.room)
    begun.stamp += 1
    begun.marks = sim.scratch.address + np.uint64(sim.scratch.length)
    begun.frontier = begun.marks + room * MARK_BYTES
    begun.pending = begun.frontier + room * np.uint64(8)
    return begun


def scratch_bytes(columns: int, notes: int = 0) -> tuple[int, int]:
    """Returns the scratch of a layout with so many columns of node_stats: fixed bytes, and bytes for each node."""
    return SCRATCH.itemsize + notes, MARK.itemsize + 8 + 16 * columns


@kernel()
def begin_changes(graph, sim, node, distance, side, place):
    """Puts a node at a place of the frontier, without changes so far."""
    slot = side * graph.nodes.room + place
    frontier(graph, sim)[side, place] = node
    mark = marks(graph, sim)[node]
    mark.stamp = scratch(sim).stamp
    mark.distance = min(distance, FAR)
    mark.slot = slot
    changes = pending(graph, sim)
    for column in range(FIRST_A, graph.nodes.columns):
        changes[slot, column] = 0.0
