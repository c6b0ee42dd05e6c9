"""The one compiled loop: select, expand, roll out, back up, learn.

A simulation starts at the root. It *selects*: at each node an untried action goes before any tried one, in random or listed
order; a tried one is chosen by its upper confidence bound. A new action whose position is known leads to that node, and the
descent goes on from there; a new position, or the end of the game, ends it. The path is *expanded* into the graph, the rest of
the game is *rolled out* at random or by playout policies, or its value comes from outside, and the payoffs are *backed up*.

Choices that papers leave open are options. `first_play_urgency` is the bound of an untried action; infinite, all of a
node's actions are tried before any is chosen again. `expand_all` adds all positions to the end of the game where they fit.

Verbs that can fail return a status, and all but DONE stop the loop. Nothing enters the graph before it fits and its value is
at hand: a simulation without room comes again from the same generator, so results do not depend on how blocks grow. At the
limit of edges simulations go on inside: at a node with tried actions the choice is among those, at one without descents end.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ucd_envs.kernels import BYTES, CHANCE, FAILED, HEADER, WORDS, kernel
from ucd_envs.structs import fields
from ucd_planners.search.graph import FINISHED, GRAPH, actions, edges, merges, nodes
from ucd_planners.search.growth import add_edge, add_node, adds_leaf, link, link_or_add, list_actions, lookup, ply_of, reserve
from ucd_planners.search.interface import (
    DONE,
    GROW_MEMORY,
    GROW_NODES,
    NEEDS_EVALUATION,
    NO_CHOICE,
    NO_DRAW,
    NO_PLAYER,
    TOO_LONG,
)
from ucd_planners.search.kernels import rules_at, search_at
from ucd_planners.search.rollout import UNLISTED, awaits, is_no_player, outcome, plies_to_add, rollout, rollout_into_graph
from ucd_planners.search.sim import GOES_ON, SIM, is_settled, key, memory_of, move, path, player_of, policies, rng, state
from ucd_planners.search.ucb import select_action

RUN = types.int64(WORDS, WORDS, BYTES, BYTES, BYTES, types.int64)


@kernel(RUN)
def run(rules_words, search_words, root, graph_bytes, sim_bytes, playouts):
    """Simulates until the graph has had `playouts` simulations; returns DONE, or the status that stopped it."""
    graph, sim = fields(graph_bytes, GRAPH), fields(sim_bytes, SIM)
    return go_on(rules_at(rules_words), search_at(search_words), root, graph, sim, playouts, np.int64(DONE))


@kernel(RUN)
def resume(rules_words, search_words, root, graph_bytes, sim_bytes, playouts):
    """Ends a simulation that waited for the value of its leaf, which lies in the payoffs, and goes on as `run`."""
    rules, search = rules_at(rules_words), search_at(search_words)
    graph, sim = fields(graph_bytes, GRAPH), fields(sim_bytes, SIM)
    expand(search, graph, sim)
    return go_on(rules, search, root, graph, sim, playouts, end(search, graph, sim))


@kernel(inline=True)
def go_on(rules, search, root, graph, sim, playouts, status):
    """Simulates as long as the status is DONE and playouts are left; returns the last status."""
    while graph.playouts < playouts and status == DONE:
        status = simulate(rules, search, root, graph, sim)
    return status


@kernel(inline=True)
def simulate(rules, search, root, graph, sim):
    """One simulation; returns its status."""
    start, position = (rng(sim)[0], rng(sim)[1]), state(sim)
    for i in range(root.size):
        position[i] = root[i]  # the root itself is never played on
    status = select(rules, search, graph, sim)
    sim.leaf_depth = sim.traced.length  # as many moves as the path has edges, but for picks of groups
    plies = plies_to_add(search, graph, sim)
    if status == DONE:
        status = reserve(rules, search, graph, sim, plies)
    if status != DONE:
        rng(sim)[0], rng(sim)[1] = start
        return status
    if search.evaluates and awaits(sim):
        return np.int64(NEEDS_EVALUATION)  # the path and its leaf are in `sim`
    expand(search, graph, sim)
    if search.has_select and is_settled(sim):
        return end(search, graph, sim)
    status = rollout_into_graph(rules, search, graph, sim) if plies > 0 else rollout(rules, search, graph, sim)
    return end(search, graph, sim) if status == DONE else status


@kernel(inline=True)
def end(search, graph, sim):
    """Backs up the payoffs and lets the policies learn, which a simulation without a playout does not."""
    search.backup(graph, sim)
    graph.playouts += 1  # after the backup: the two are never apart when the loop stops
    status = np.int64(DONE)
    for policy in range(search.policies):
        if not (is_settled(sim) or search.learn[policy](sim, memory_of(policies(sim)[policy].memory))):
            # The mark tells the worker which memory has to grow.
            policies(sim)[policy].memory.length = 1
            status = np.int64(GROW_MEMORY)
    return status


@kernel()
def select(rules, search, graph, sim):
    """Plays from the root on by the selection until a leaf is reached; every move is an entry of the path."""
    # Nothing but a tree's second visits changes the graph here: a status other than DONE leaves it as good as untouched.
    sim.traced.length = sim.path.length = 0  # a simulation that comes again begins with an empty path
    trail, position, config = path(sim), state(sim), rules.config
    node, length, fresh, most = np.int64(graph.root), np.int64(0), np.int64(0), np.int64(sim.path.room) - 1
    player = fields(position, HEADER).player
    while True:
        trail[0, length] = node
        # A node that was never chosen at has no list of actions: a position in memory always has a legal action.
        if nodes(graph)[node].legal == 0:
            status = list_actions(rules, search, graph, sim, node)
            if status != DONE:
                return status
        if length == most:
            return np.int64(TOO_LONG)
        may_add = graph.edge_count + fresh < graph.most_edges
        if player == CHANCE:
            choice = outcome(rules, graph, sim, node, length, may_add)
            if choice == UNLISTED:
                return np.int64(NO_DRAW)
        elif search.has_select:
            choice = search.select(graph, sim, node, may_add)
        else:
            choice = select_action(graph, sim, node, may_add)
        if choice < 0:
            if player != CHANCE:
                trail[2, length] = choice
            return np.int64(DONE if length > 0 else NO_CHOICE)
        if choice < nodes(graph)[node].expanded:
            number = np.int64(nodes(graph)[node].first_edge) + choice
            action = np.int64(edges(graph)[number].action)
            choice = np.int64(-1)
        else:
            if choice >= nodes(graph)[node].legal or not may_add:
                return np.int64(NO_CHOICE)
            # The edge is made after the descent, by `expand`: a path holds at most one that leads to an unknown position.
            number = np.int64(-1)
            # The first untried action leaves the others in their order.
            choice = np.int64(nodes(graph)[node].expanded) if search.in_order and player != CHANCE else choice
            action = np.int64(actions(graph)[nodes(graph)[node].first_action + choice])
            fresh += 1
        move(rules, sim, action)
        trail[1, length] = number
        trail[2, length] = choice
        length += 1
        sim.path.length = length
        trail[0, length] = -1
        player = fields(position, HEADER).player
        if player < 0 or is_no_player(rules, player):
            return np.int64(DONE if FAILED <= player < 0 else NO_PLAYER)
        node = np.int64(edges(graph)[number].target) if number >= 0 else np.int64(-1)
        if node < 0 and merges(graph):
            # A new action may lead to a known position one ply below, where the descent goes on; so may one that ended games.
            trail[2, length - 1] = choice if number < 0 else np.int64(GOES_ON)
            rules.key(config, position, key(sim))
            node = lookup(graph, key(sim), ply_of(search, sim))
            if node < 0:
                return np.int64(DONE)
        elif node < 0 and number >= 0:  # a tree's edge gets its node at the second visit
            if graph.nodes.length == graph.nodes.room:
                return np.int64(GROW_NODES)
            node = link_or_add(rules, search, graph, sim, np.int64(trail[0, length - 1]), number)
        elif node < 0:
            if adds_leaf(search, graph) and graph.keys.columns > 0:
                rules.key(config, position, key(sim))
            return np.int64(DONE)
        if not search.graded and is_on_path(trail, length, node):
            # A position that comes again ends the descent: a cycle is gone round once, and its playout starts from there.
            trail[0, length] = node
            trail[2, length] = -1
            return np.int64(DONE)


@kernel()
def is_on_path(trail, length, node):
    """Whether a node is the source of one of the first `length` moves of a path."""
    depth = length - 1
    while depth >= 0 and trail[0, depth] != node:
        depth -= 1
    return depth >= 0


@kernel()
def expand(search, graph, sim):
    """Adds the new edges of a path, and the node of a new position at its end. Needs room."""
    trail, player, ply = path(sim), player_of(sim), ply_of(search, sim)
    graph.depth = max(graph.depth, sim.path.length)
    for depth in range(sim.path.length):
        if trail[2, depth] < 0 and trail[2, depth] != GOES_ON:
            continue
        node = np.int64(trail[0, depth])
        number = add_edge(graph, node, np.int64(trail[2, depth])) if trail[2, depth] >= 0 else np.int64(trail[1, depth])
        trail[1, depth] = number
        known = np.int64(trail[0, depth + 1])  # of a new position -1, as of one that ended
        # Only the last edge of a path can be new and lead to no known node.
        if known >= 0:
            link(graph, node, number, known)
            graph.transpositions += 1
        elif player < 0:
            edges(graph)[number].target = FINISHED
        elif merges(graph):
            link(graph, node, number, add_node(graph, key(sim), player, ply))
        elif adds_leaf(search, graph):
            edges(graph)[number].target = add_node(graph, key(sim), player, ply)
