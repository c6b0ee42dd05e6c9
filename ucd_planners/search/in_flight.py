"""Several leaves of one search in one batch: visits in flight with a virtual loss [Chaslot, Winands, van den Herik 2008].

A descent that waits for its evaluation leaves a visit in flight at each of its actions: the second column of `initial_stats`.
Choices count it as a visit that the mover has lost, so that the next descents go elsewhere; nothing else of the graph changes.
When the batch has its answers they are taken in the order of the descents, each by a simulation that is led along the same
actions. All sums are therefore exact after each, and the result depends on the number of leaves only, not on other searches.

A descent to a position that waits already ends the gathering. Evaluations are not remembered here, and a batch is gathered only
where it has room for all of it: else the result would depend on the company.
"""

from __future__ import annotations

import numpy as np

from ucd_envs.kernels import kernel
from ucd_envs.structs import array_at
from ucd_planners.search.evaluation import list_legal, row_of, take_row
from ucd_planners.search.graph import INDEX, WORD, actions, initial_stats, nodes
from ucd_planners.search.interface import DONE, NEEDS_EVALUATION
from ucd_planners.search.loop import run, select
from ucd_planners.search.sim import key, path, player_of, state

HEAD, STEP = 2, 3
"""Numbers of a waiting descent: its row of the batch, or -1 for the end of a game, and its length; and of each of its actions:
the source, the action, and its place in the source's list."""


@kernel(inline=True)
def descents(sim, call):
    """[leaves, HEAD + STEP * plies] int32: the descents that wait."""
    return array_at(call.descents, (call.leaves, HEAD + STEP * sim.path.room), INDEX)


@kernel(inline=True)
def waiting_keys(sim, call):
    """[leaves, key_words] uint64: the keys of their positions."""
    return array_at(call.waiting_keys, (call.leaves, sim.key.room), WORD)


@kernel()
def gather(rules, search, root, graph, sim, call, batch):
    """Descends until the leaves in flight are as many as there may be; returns DONE, or the status that stopped the first."""
    while call.waiting < call.leaves and graph.playouts + call.waiting < call.share:
        position = state(sim)
        for i in range(root.size):
            position[i] = root[i]
        status = select(rules, search, graph, sim)
        if status != DONE:
            return status if call.waiting == 0 else np.int64(DONE)
        row = np.int64(-1)
        if player_of(sim) >= 0:
            status = list_legal(rules, sim)
            rules.key(rules.config, position, key(sim))
            if status != DONE or is_waiting(sim, call):
                return status if call.waiting == 0 else np.int64(DONE)
            row = row_of(rules, sim, batch)
            for i in range(np.uint64(sim.key.room)):
                waiting_keys(sim, call)[call.waiting, i] = key(sim)[i]
        note(graph, sim, call, row)
        call.waiting += 1
    return np.int64(DONE)


@kernel()
def is_waiting(sim, call):
    """Whether the position whose key lies in `sim` waits already."""
    for place in range(call.waiting):
        same = descents(sim, call)[place, 0] >= 0
        for i in range(np.uint64(sim.key.room)):
            same = same and waiting_keys(sim, call)[place, i] == key(sim)[i]
        if same:
            return True
    return False


@kernel()
def has_rows(sim, call):
    """Whether any of the descents that wait needs an answer."""
    found = False
    for place in range(call.waiting):
        found = found or descents(sim, call)[place, 0] >= 0
    return found


@kernel()
def note(graph, sim, call, row):
    """Writes a descent down, and leaves a visit in flight at each of its actions."""
    kept, trail, length = descents(sim, call)[call.waiting], path(sim), np.int64(sim.path.length)
    kept[0], kept[1] = row, length
    for depth in range(length):
        source = nodes(graph)[trail[0, depth]]
        number = np.int64(trail[1, depth])
        place = number - np.int64(source.first_edge) if number >= 0 else np.int64(trail[2, depth])
        at = HEAD + STEP * depth
        kept[at], kept[at + 1], kept[at + 2] = trail[0, depth], actions(graph)[np.int64(source.first_action) + place], place
        initial_stats(graph)[np.int64(source.first_action) + place, 1] += np.float32(1.0)


@kernel()
def land(graph, sim, call):
    """Takes all visits in flight away."""
    for flight in range(call.waiting):
        kept = descents(sim, call)[flight]
        for depth in range(np.int64(kept[1])):
            at = HEAD + STEP * depth
            initial_stats(graph)[np.int64(nodes(graph)[kept[at]].first_action) + kept[at + 2], 1] = np.float32(0.0)


@kernel()
def take_all(words, rules, search, graph, sim, call, batch):
    """Takes the answers of all descents that wait, in their order; returns DONE, or the status of the first that stops."""
    if call.taken < 0:
        land(graph, sim, call)
        call.taken = 0
    status = np.int64(DONE)
    while call.taken < call.waiting and status == DONE:
        kept, trail = descents(sim, call)[call.taken], path(sim)
        for depth in range(np.int64(kept[1])):
            trail[2, depth] = kept[HEAD + STEP * depth + 1]
        sim.path.columns = 1  # led along these actions
        status = run(words[0], words[1], words[2], words[3], words[4], graph.playouts + 1)
        sim.path.columns = 0
        if status == NEEDS_EVALUATION:
            list_legal(rules, sim)
            status = take_row(rules, search, graph, sim, batch, np.int64(kept[0]))
            call.row = kept[0] if status != DONE else -1  # the row tells what was wrong
        call.taken += status == DONE
    return status
