"""Many searches of one game in one compiled call, each exactly as it would run alone.

A CALL holds the addresses of a search: its kernels, root, graph and simulation. Searches share nothing that changes but
remembered evaluations, so the result of one depends neither on the others nor on how many there are.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ucd_envs.bindings import BYTE
from ucd_envs.kernels import BYTES, HEADER, kernel
from ucd_envs.structs import array_at, fields, record
from ucd_planners.search.evaluation import BATCH, add_noise, ask, take_row
from ucd_planners.search.graph import GRAPH, edges, free_blocks, mean_value, nodes, transpositions
from ucd_planners.search.growth import add_node
from ucd_planners.search.in_flight import gather, has_rows, land, take_all
from ucd_planners.search.interface import DONE, NEEDS_EVALUATION, NO_PRIORS, NO_VALUE
from ucd_planners.search.kernels import RULES_BINDING, SEARCH_BINDING, rules_at, search_at
from ucd_planners.search.loop import run
from ucd_planners.search.sim import SIM, key

CALL = record(
    *((name, np.uint64) for name in ("rules", "search", "root", "graph", "sim")),
    *((name, np.int64) for name in ("root_bytes", "goal", "share", "status", "row", "noise")),
    *((name, np.int64) for name in ("leaves", "waiting", "taken", "asked")),
    *((name, np.uint64) for name in ("descents", "waiting_keys")),
)
"""Addresses of a search, the bytes of its root, the playouts that its graph is to have now and in the end, and the status that
stopped it; the row of the batch in which it waits, or -1, and whether its root is yet to get noise. Leaves in flight at most,
now, those of them that are taken, -1 for none yet, and the answered calls of the batch before; their descents and keys."""
NO_ROOM = -2
"""A row of a search that waits for room in the batch before it gathers leaves."""
WORD = np.dtype(np.uint64)
RULES_WORDS, SEARCH_WORDS = RULES_BINDING.words, SEARCH_BINDING.words
GRAPH_BYTES, SIM_BYTES = GRAPH.itemsize, SIM.itemsize
CALLS = types.Array(types.uint8, 2, "C")
"""[searches, CALL.itemsize] uint8."""
PLACES = types.int64[::1]


@kernel(types.void(CALLS, PLACES))
def begin_each(calls, places):
    """Makes the roots of the searches at these places the only nodes of their graphs."""
    for i in range(places.size):
        call = fields(calls[places[i]], CALL)
        rules = rules_at(array_at(call.rules, (RULES_WORDS,), WORD))
        graph = fields(array_at(call.graph, (GRAPH_BYTES,), BYTE), GRAPH)
        sim = fields(array_at(call.sim, (SIM_BYTES,), BYTE), SIM)
        root = array_at(call.root, (call.root_bytes,), BYTE)
        rules.key(rules.config, root, key(sim))
        if graph.nodes.length > 0:
            for slot in range(graph.slots.room):
                transpositions(graph)[slot] = 0
        for size in range(graph.free_blocks.room):
            free_blocks(graph)[size] = -1
        graph.nodes.length = graph.edges.length = graph.actions.length = 0
        graph.edge_count = graph.root = graph.playouts = graph.depth = graph.transpositions = 0
        ply = fields(root, HEADER).ply if search_at(array_at(call.search, (SEARCH_WORDS,), WORD)).graded else np.int32(0)
        add_node(graph, key(sim), fields(root, HEADER).player, ply)


@kernel(types.int64(CALLS, PLACES, BYTES))
def run_each(calls, places, batch_bytes):
    """Runs the searches at these places to their goals, or until they wait in a batch; returns how many have stopped otherwise.

    Those that wait in rows of the batch get the answers that lie there first.
    """
    stopped, batch = np.int64(0), fields(batch_bytes, BATCH)
    for i in range(places.size):
        call = fields(calls[places[i]], CALL)
        words = (
            array_at(call.rules, (RULES_WORDS,), WORD),
            array_at(call.search, (SEARCH_WORDS,), WORD),
            array_at(call.root, (call.root_bytes,), BYTE),
            array_at(call.graph, (GRAPH_BYTES,), BYTE),
            array_at(call.sim, (SIM_BYTES,), BYTE),
        )
        rules, search = rules_at(words[0]), search_at(words[1])
        graph, sim = fields(words[3], GRAPH), fields(words[4], SIM)
        call.status = resumed(words, rules, search, graph, sim, call, batch)
        stopped += call.status != DONE and call.status != NEEDS_EVALUATION
    return stopped


@kernel()
def gathers(graph, sim, call):
    """Whether several leaves may be in flight: the root is known, and all of them fit under the limit of edges."""
    fits = graph.edge_count + call.leaves * sim.path.room < graph.most_edges
    return fits and nodes(graph)[graph.root].legal > 0


@kernel()
def resumed(words, rules, search, graph, sim, call, batch):
    """Goes on with one search; returns DONE at its goal, or the status that stops it before."""
    status = np.int64(call.status if call.status == NEEDS_EVALUATION and call.row != NO_ROOM else DONE)
    call.row = -1 if call.row == NO_ROOM else call.row
    if call.waiting > 0:
        if call.taken < 0 and call.asked == batch.calls:
            land(graph, sim, call)  # the evaluation has failed: they are gathered anew
            status = np.int64(DONE)
        else:
            status = take_all(words, rules, search, graph, sim, call, batch)
        if status in (DONE, NO_PRIORS, NO_VALUE):
            call.waiting = 0
        if status != DONE:
            return status
    elif status == NEEDS_EVALUATION and call.row >= 0:
        status = take_row(rules, search, graph, sim, batch, call.row)
        call.row = call.row if status in (NO_PRIORS, NO_VALUE) else -1  # the row tells what was wrong
    while status in (DONE, NEEDS_EVALUATION):
        if status == NEEDS_EVALUATION:
            status = ask(rules, search, graph, sim, call, batch)
            if status != DONE:
                break
        if call.noise and nodes(graph)[graph.root].legal > 0:
            add_noise(graph, sim, np.int64(graph.root), batch.fraction, batch.alpha)
            call.noise = 0
        if graph.playouts >= call.goal:
            break
        if call.leaves > 1 and gathers(graph, sim, call):
            if batch.rows - batch.used < call.leaves:
                call.row = NO_ROOM
                return np.int64(NEEDS_EVALUATION)
            call.asked, call.taken = batch.calls, -1
            status = gather(rules, search, words[2], graph, sim, call, batch)
            if status != DONE:
                break
            if call.waiting > 0:
                if has_rows(sim, call):
                    return np.int64(NEEDS_EVALUATION)
                status = take_all(words, rules, search, graph, sim, call, batch)  # ends of games only
                call.waiting = 0 if status == DONE else call.waiting
                continue
        goal = graph.playouts + 1 if call.leaves > 1 else call.goal
        status = run(words[0], words[1], words[2], words[3], words[4], goal)
        if status == DONE and call.leaves == 1:
            break
    return status


@kernel(types.void(CALLS, PLACES, types.int32[:, ::1], types.float64[:, ::1]))
def read_each(calls, places, visits, values):
    """Writes visits and mean values of the roots' actions, a row for each place: [places, actions]; 0, NaN if untried."""
    for i in range(places.size):
        graph = fields(array_at(fields(calls[places[i]], CALL).graph, (GRAPH_BYTES,), BYTE), GRAPH)
        for action in range(visits.shape[1]):
            visits[i, action] = 0
            values[i, action] = np.nan
        root = nodes(graph)[graph.root]
        first = np.int64(root.first_edge)
        for number in range(first, first + np.int64(root.expanded)):
            edge = edges(graph)[number]
            visits[i, np.int64(edge.action)] = edge.visits
            if edge.visits > 0:
                # Rounded as in a result.
                values[i, np.int64(edge.action)] = edge.visits * mean_value(graph)[number] / edge.visits
