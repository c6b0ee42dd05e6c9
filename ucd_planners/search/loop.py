"""The one compiled loop: select, expand, roll out, back up, learn.

A simulation starts at the root. It *selects*: at each node an untried action goes before any tried one, in random order; a
tried one is chosen by its upper confidence bound. A new action whose position is known leads to that node, and the descent goes
on from there; a new position, or the end of the game, ends it. The path is *expanded* into the graph, the rest of the game is
*rolled out* at random or by playout policies, and the payoffs are *backed up*.

Two choices that papers leave open are options. `first_play_urgency` is the bound of an untried action; infinite, all of a
node's actions are tried before any is chosen again. `expand_all` adds every position of the playout as well, so that a path
goes to the end of the game; a simulation that might not fit under the limit of edges adds its first new position only.

Every verb returns a status, and all but DONE stop the loop. Nothing enters the graph before it is known to fit: else the
generator goes back to where the simulation began, so a search has the same result however its blocks grow. At the limit of
edges simulations go on inside the graph: at a node with tried actions the choice is among those, at one without the descent
ends.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ucd_envs.kernels import BYTES, FAILED, HEADER, WORDS, action_of_move, kernel, move_of, player_of_move
from ucd_envs.rng import unit
from ucd_envs.structs import fields
from ucd_planners.search.graph import (
    FINISHED,
    GRAPH,
    actions,
    add_edge,
    add_node,
    edges,
    initial_stats,
    larger_room,
    link,
    lookup,
    merges,
    nodes,
)
from ucd_planners.search.kernels import rules_at, search_at
from ucd_planners.search.sim import SIM, action_list, key, memory_of, path, payoffs, policies, rng, state, trace
from ucd_planners.search.ucb import select_action

DONE, GROW_NODES, GROW_EDGES, GROW_ACTIONS, GROW_MEMORY, NEEDS_EVALUATION = range(6)
"""The simulation came to its end; a block of the graph or a policy's memory has to grow first; the leaf waits for a value."""
STOPPED, NO_ACTIONS, TOO_MANY_ACTIONS, NO_ACTION, NO_PLAYER, NO_CHOICE, NO_SUGGESTION, NO_MOVE, TOO_LONG = range(10, 19)
"""A kernel broke its contract, or a callback of Python has failed: errors.py has a sentence for each."""
RUN = types.int64(WORDS, WORDS, BYTES, BYTES, BYTES, types.int64)


@kernel(RUN)
def run(rules_words, search_words, root, graph_bytes, sim_bytes, playouts):
    """Simulates until the graph has had `playouts` simulations; returns DONE, or the status that stopped it."""
    rules, search = rules_at(rules_words), search_at(search_words)
    graph, sim, status = fields(graph_bytes, GRAPH), fields(sim_bytes, SIM), np.int64(DONE)
    while graph.playouts < playouts and status == DONE:
        status = simulate(rules, search, root, graph, sim)
    return status


@kernel(RUN)
def resume(rules_words, search_words, root, graph_bytes, sim_bytes, playouts):
    """Ends a simulation that waited for the value of its leaf, which lies in the payoffs, and goes on as `run`."""
    rules, search = rules_at(rules_words), search_at(search_words)
    graph, sim = fields(graph_bytes, GRAPH), fields(sim_bytes, SIM)
    status = end(search, graph, sim)
    while graph.playouts < playouts and status == DONE:
        status = simulate(rules, search, root, graph, sim)
    return status


@kernel()
def simulate(rules, search, root, graph, sim):
    """One simulation; returns its status."""
    start = rng(sim)[0], rng(sim)[1]
    position = state(sim)
    for i in range(root.size):
        position[i] = root[i]
    status = select(rules, search, graph, sim)
    plies = plies_to_add(search, graph, sim)
    if status == DONE:
        status = reserve(rules, graph, sim, plies)
    if status != DONE:
        rng(sim)[0], rng(sim)[1] = start
        return status
    expand(graph, sim)
    status = rollout_into_graph(rules, search, graph, sim) if plies > 0 else rollout(rules, search, graph, sim)
    if status != DONE:
        return status
    return end(search, graph, sim)


@kernel()
def end(search, graph, sim):
    """Backs up the payoffs and lets the policies learn."""
    search.backup(graph, sim)
    graph.playouts += 1
    status = np.int64(DONE)
    for policy in range(search.policies):
        if not search.learn[policy](sim, memory_of(policies(sim)[policy].memory)):
            policies(sim)[policy].memory.length = 1
            status = np.int64(GROW_MEMORY)
    return status


@kernel()
def player_of(sim):
    """The player to move, OVER or FAILED."""
    return fields(state(sim), HEADER).player


@kernel()
def move(rules, sim, action):
    """Plays an action, and notes it where moves are traced."""
    moves, position = trace(sim), state(sim)
    if moves.size > 0:
        moves[sim.traced.length] = move_of(fields(position, HEADER).player, action)
    sim.traced.length += 1
    rules.play(rules.config, position, action)


@kernel()
def select(rules, search, graph, sim):
    """Goes down from the root to a leaf; the path lies in the simulation."""
    sim.traced.length = 0
    status = descend(rules, search, graph, sim)
    sim.leaf_depth = sim.path.length = sim.traced.length
    return status


@kernel()
def descend(rules, search, graph, sim):
    """Plays from the root on by the selection until a leaf is reached; every move is an entry of the path."""
    trail, position, config = path(sim), state(sim), rules.config
    node, length, fresh, most = np.int64(graph.root), np.int64(0), np.int64(0), np.int64(sim.path.room) - 1
    while True:
        trail[0, length] = node
        if nodes(graph)[node].legal == 0:
            status = list_actions(rules, search, graph, sim, node)
            if status != DONE:
                return status
        if length == most:
            return np.int64(TOO_LONG)
        may_add = graph.edge_count + fresh < graph.most_edges
        choice = search.select(graph, sim, node, may_add) if search.has_select else select_action(graph, sim, node, may_add)
        if choice < 0:
            return np.int64(DONE)
        if choice < nodes(graph)[node].expanded:
            number = np.int64(nodes(graph)[node].first_edge) + choice
            action = np.int64(edges(graph)[number].action)
            choice = np.int64(-1)
        else:
            if choice >= nodes(graph)[node].legal or not may_add:
                return np.int64(NO_CHOICE)
            number = np.int64(-1)
            action = np.int64(actions(graph)[nodes(graph)[node].first_action + choice])
            fresh += 1
        move(rules, sim, action)
        trail[1, length] = number
        trail[2, length] = choice
        length += 1
        trail[0, length] = -1
        player = fields(position, HEADER).player
        if player < 0 or player >= rules.players:
            return np.int64(DONE if FAILED <= player < 0 else NO_PLAYER)
        if number >= 0:
            node = np.int64(edges(graph)[number].target)
            if node < 0:
                # A tree's edge gets its node at the second visit.
                if graph.nodes.length == graph.nodes.room:
                    return np.int64(GROW_NODES)
                node = link_or_add(rules, graph, sim, np.int64(trail[0, length - 1]), number)
        elif merges(graph):
            rules.key(config, position, key(sim))
            node = lookup(graph, key(sim), fields(position, HEADER).ply)
            if node < 0:
                return np.int64(DONE)
        else:
            if adds_leaf(graph) and graph.keys.columns > 0:
                rules.key(config, position, key(sim))
            return np.int64(DONE)


@kernel(inline=True)
def adds_leaf(graph):
    """Whether a new position gets its node at once: where it can be found, or where its playouts are kept."""
    return merges(graph) or graph.node_actions.columns > 0


@kernel()
def list_actions(rules, search, graph, sim, node):
    """Lists the legal actions of a node, whose position the simulation has reached."""
    found = action_list(sim)
    count = np.int64(rules.legal_actions(rules.config, state(sim), found))
    if count <= 0:
        return np.int64(STOPPED if player_of(sim) == FAILED else NO_ACTIONS)
    if count > rules.actions:
        return np.int64(TOO_MANY_ACTIONS)
    first = graph.actions.length
    if first + count > graph.actions.room:
        return np.int64(GROW_ACTIONS)
    for i in range(count):
        if found[i] < 0 or found[i] >= rules.actions:
            return np.int64(NO_ACTION)
        actions(graph)[first + i] = found[i]
    if search.has_initial:
        values = initial_stats(graph)[first : first + count]
        search.initial(rules.config, state(sim), sim, memory_of(sim.initial_memory), found[:count], values)
    graph.actions.length += count
    nodes(graph)[node].first_action = first
    nodes(graph)[node].legal = count
    return np.int64(DONE)


@kernel()
def plies_to_add(search, graph, sim):
    """How many positions the playout may add: all that a game can have if `expand_all`, unless the limit of edges is near."""
    if not search.expand_all or player_of(sim) < 0:
        return np.int64(0)
    plies = np.int64(sim.path.room) - 1 - sim.path.length
    return plies if graph.edge_count + sim.path.length + plies <= graph.most_edges else np.int64(0)


@kernel()
def reserve(rules, graph, sim, plies):
    """Makes sure of room for a path's new edges and node, and for a playout of `plies` positions."""
    trail, room = path(sim), graph.edges.length + plies * rules.actions
    for depth in range(sim.path.length):
        source = nodes(graph)[trail[0, depth]]
        if trail[2, depth] >= 0 and source.expanded == source.room:
            room += larger_room(np.int64(source.expanded), np.int64(source.legal))
    if room > graph.edges.room:
        return np.int64(GROW_EDGES)
    if graph.nodes.length + plies + (1 if adds_leaf(graph) else 0) > graph.nodes.room:
        return np.int64(GROW_NODES)
    if plies > 0 and graph.actions.length + plies * rules.actions > graph.actions.room:
        return np.int64(GROW_ACTIONS)
    return np.int64(DONE)


@kernel()
def expand(graph, sim):
    """Adds the new edges of a path, and the node of a new position at its end. Needs room."""
    trail, player, ply = path(sim), player_of(sim), fields(state(sim), HEADER).ply
    graph.depth = max(graph.depth, sim.path.length)
    for depth in range(sim.path.length):
        if trail[2, depth] < 0:
            continue
        node = np.int64(trail[0, depth])
        number = add_edge(graph, node, np.int64(trail[2, depth]))
        trail[1, depth] = number
        known = np.int64(trail[0, depth + 1])
        # Only the last edge of a path can be new and lead to no known node.
        if known >= 0:
            link(graph, node, number, known)
            graph.transpositions += 1
        elif player < 0:
            edges(graph)[number].target = FINISHED
        elif merges(graph):
            link(graph, node, number, add_node(graph, key(sim), player, ply))
        elif adds_leaf(graph):
            edges(graph)[number].target = add_node(graph, key(sim), player, ply)


@kernel()
def rollout(rules, search, graph, sim):
    """Plays the rest of the game and reads the payoffs; or leaves the leaf to a value from outside."""
    if player_of(sim) >= 0:
        if search.evaluates:
            return np.int64(NEEDS_EVALUATION)
        status = np.int64(DONE)
        if search.policies > 0:
            status = follow_policies(rules, search, graph, sim)
        else:
            play_on(rules, sim, trace(sim)[sim.traced.length :])
        if status != DONE:
            return status
    return read_payoffs(rules, search, sim)


@kernel()
def play_on(rules, sim, room):
    """Plays random moves of the game's own policy, as many as `room` holds of the trace; to the end if moves are not traced."""
    sim.traced.length += rules.playout(rules.config, state(sim), rng(sim), room)


@kernel()
def read_payoffs(rules, search, sim):
    """Reads the payoffs of the game that has ended."""
    rules.payoffs(rules.config, state(sim), payoffs(sim))
    if player_of(sim) == FAILED:
        return np.int64(STOPPED)
    if search.guarded:
        return check_moves(rules, sim)
    return np.int64(DONE)


@kernel()
def check_moves(rules, sim):
    """Whether a user-defined playout wrote moves of players and actions that there are."""
    moves = trace(sim)
    if sim.traced.length < sim.leaf_depth or sim.traced.length >= sim.path.room:
        return np.int64(TOO_LONG)
    for i in range(sim.leaf_depth, sim.traced.length if moves.size > 0 else 0):
        if not 0 <= player_of_move(moves[i]) < rules.players or action_of_move(moves[i]) >= rules.actions:
            return np.int64(NO_MOVE)
    return np.int64(DONE)


@kernel()
def follow_policies(rules, search, graph, sim):
    """Plays the rest of the game by the policies.

    Moves for which no policy is asked are played together by the game's own playout, which is faster.
    """
    most = np.int64(sim.path.room) - 1
    while player_of(sim) >= 0:
        asked, more = policies_asked(search, sim), np.int64(0)
        while asked == 0 and sim.traced.length + more < most:
            asked, more = policies_asked(search, sim), more + 1
        if more > 0:
            play_on(rules, sim, trace(sim)[sim.traced.length : sim.traced.length + more])
            if player_of(sim) < 0:
                break
        if sim.traced.length >= most:
            return np.int64(TOO_LONG)
        action = suggested_action(rules, search, graph, sim, asked)
        if action == NOT_PLAYABLE:
            return np.int64(NO_SUGGESTION)
        if action < 0:
            play_on(rules, sim, trace(sim)[sim.traced.length : sim.traced.length + 1])
        else:
            move(rules, sim, action)
    return np.int64(DONE)


@kernel()
def policies_asked(search, sim):
    """Draws the policies that are asked for one move, a bit for each."""
    asked = np.int64(0)
    for policy in range(search.policies):
        if search.probs[policy] == 1.0 or unit(rng(sim)) < search.probs[policy]:
            asked |= 1 << policy
    return asked


NOT_PLAYABLE = -2
"""In place of an action: a policy suggested one that cannot be played."""


@kernel()
def suggested_action(rules, search, graph, sim, asked):
    """Returns the suggestion of the first policy asked that has one, or -1."""
    for policy in range(search.policies):
        if asked >> policy & 1:
            known = policies(sim)[policy]
            listing, playable, memory = rules.playout_actions, rules.is_playable, memory_of(known.memory)
            action = search.suggest[policy](listing, playable, rules.config, state(sim), graph, sim, memory, rng(sim))
            if action >= 0:
                known.suggested += 1
                if search.guarded and (action >= rules.actions or not rules.is_legal(rules.config, state(sim), action)):
                    return np.int64(NOT_PLAYABLE)
                return action
    return np.int64(-1)


@kernel()
def rollout_into_graph(rules, search, graph, sim):
    """Plays the rest of the game, its positions as nodes and its moves as edges of the path. Needs room for all of it."""
    trail, length = path(sim), np.int64(sim.path.length)
    number = np.int64(trail[1, length - 1])
    while player_of(sim) >= 0:
        node = np.int64(edges(graph)[number].target)
        if node < 0:
            node = link_or_add(rules, graph, sim, np.int64(trail[0, length - 1]), number)
        if length >= sim.path.room - 1:
            return np.int64(TOO_LONG)
        if nodes(graph)[node].legal == 0:
            status = list_actions(rules, search, graph, sim, node)
            if status != DONE:
                return status
        action = suggested_action(rules, search, graph, sim, policies_asked(search, sim))
        if action == -1:
            action = rules.playout_action(rules.config, state(sim), rng(sim))
        if player_of(sim) == FAILED:
            return np.int64(STOPPED)
        number = edge_of(graph, node, action)
        if number < 0:
            return np.int64(NO_SUGGESTION)
        move(rules, sim, action)
        trail[0, length] = node
        trail[1, length] = number
        length += 1
        sim.path.length = length
        if player_of(sim) < 0:
            edges(graph)[number].target = FINISHED
        elif player_of(sim) >= rules.players:
            return np.int64(NO_PLAYER)
    return read_payoffs(rules, search, sim)


@kernel()
def link_or_add(rules, graph, sim, source, number):
    """Gives an edge its target: the node of the position reached, a known one or a new one. Needs room for a node."""
    player, ply = player_of(sim), fields(state(sim), HEADER).ply
    if graph.keys.columns > 0:
        rules.key(rules.config, state(sim), key(sim))
    if not merges(graph):
        node = add_node(graph, key(sim), player, ply)
        edges(graph)[number].target = node
        return node
    node = lookup(graph, key(sim), ply)
    if node >= 0:
        graph.transpositions += 1
    else:
        node = add_node(graph, key(sim), player, ply)
    link(graph, source, number, node)
    return node


@kernel()
def edge_of(graph, node, action):
    """Returns the edge of a node's action, made if it was never tried; -1 for an action that is not legal."""
    source = nodes(graph)[node]
    first, expanded, legal = np.int64(source.first_edge), np.int64(source.expanded), np.int64(source.legal)
    for number in range(first, first + expanded):
        if edges(graph)[number].action == action:
            return np.int64(number)
    for choice in range(expanded, legal):
        if actions(graph)[source.first_action + choice] == action:
            return add_edge(graph, node, np.int64(choice))
    return np.int64(-1)
