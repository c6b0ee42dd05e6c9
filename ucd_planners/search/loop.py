"""The one compiled loop: descend, play out, back up.

A simulation starts from the root's state. It *descends*: at each node an untried move goes before any tried one, in random
order; a tried one is chosen by its upper confidence bound. A new move whose position is in the table is linked to that
node and the descent goes on from there; a new position, or the end of the game, ends the descent. The rest of the game is
*played out* at random, or by policies that learn, and the payoffs are *backed up*.

Two choices that papers leave open are options. `urgency` is the bound of an untried move; infinite, all of a node's moves are
tried before any is chosen again. `expand="all"` enters every position of the playout as well, so that a simulation's path goes
to the end of the game; a simulation that might not fit under the limit of edges adds its first new position only.

Nothing is added to the graph before it is known to fit: when it does not, the generator goes back to where the simulation
began and the loop returns, so a search has the same result however its arrays grow. At the limit of edges the graph stays
as it is and simulations go on in it: at a node with tried moves the choice is among those, at one without the descent ends.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ucd_envs.kernels import BYTES, FAILED, HEADER, kernel, move_of
from ucd_envs.rng import unit
from ucd_envs.structs import fields
from ucd_planners.search.graph import (
    BROKEN,
    GRAPH,
    MORE_EDGES,
    MORE_MEMORY,
    MORE_MOVES,
    MORE_NODES,
    add_edge,
    add_node,
    edges,
    find,
    link,
    moves,
    next_room,
    nodes,
    priors,
)
from ucd_planners.search.interface import WORK
from ucd_planners.search.kernels import BOUND, WORK_TUPLE, kernels_of
from ucd_planners.search.ucb import choose

SIMULATE = types.boolean(BOUND, BYTES, WORK_TUPLE, BYTES, BYTES, types.int64)


@kernel(SIMULATE, counted=True)
def simulate(bound, graph, work, config, root, playouts):
    """Runs simulations until the graph has had `playouts` of them; False when something is `wanted` first."""
    fields(work.record, WORK).graph = graph.ctypes.data
    return run(kernels_of(bound), fields(graph, GRAPH), work, config, root, playouts)


@kernel()
def run(kernels, g, work, config, root, playouts):
    """As `simulate`, on the graph's record."""
    w = fields(work.record, WORK)
    while g.playouts < playouts:
        start = work.rng[0], work.rng[1]
        for i in range(root.size):
            work.state[i] = root[i]
        length = descend(kernels, g, work, config)
        plies = np.int64(0)
        if g.adds_all and length >= 0 and player_of(work.state) >= 0:
            plies = w.path_room - 1 - fields(work.state, HEADER).ply
            if g.edge_count + length + plies > g.most_edges:
                plies = np.int64(0)
        if length < 0 or not fits(g, work, length, plies):
            work.rng[0], work.rng[1] = start
            return False
        g.depth = max(g.depth, length)
        extend(g, work, length)
        w.descent, w.count = length, length
        if plies > 0:
            length = walk(kernels, g, work, config, length)
            w.played += length - w.count
            w.count = length
        elif player_of(work.state) >= 0 and w.policies > 0:
            w.count = play_out(kernels, work, config, length)
            w.played += w.count - length
        elif player_of(work.state) >= 0:
            w.count += kernels.playout(config, work.state, work.rng, work.moves[length:])
        kernels.payoffs(config, work.state, work.payoffs)
        if player_of(work.state) == FAILED:
            g.wanted = BROKEN
            return False
        for player in range(work.payoffs.size):
            w.payoffs[player] = work.payoffs[player]
        kernels.back_up(g, w, length)
        g.playouts += 1
        w.full = 0
        for policy in range(w.policies):
            if not kernels.learn[policy](w, work.memories[policy]):
                w.full |= 1 << policy
        if w.full != 0:
            g.wanted = MORE_MEMORY
            return False
    return True


@kernel()
def player_of(state):
    """The player to move, OVER or FAILED."""
    return fields(state, HEADER).player


@kernel()
def descend(kernels, g, work, config):
    """Goes down from the root by moves in `work.state`, and notes the path; its length, or -1 when the graph must grow."""
    w = fields(work.record, WORK)
    node, length, fresh = np.int64(g.root), np.int64(0), np.int64(0)
    while True:
        work.path[0, length] = node
        if nodes(g)[node].moves == 0 and not list_moves(kernels, g, work, config, node, length):
            return np.int64(-1)
        may_add = g.edge_count + fresh < g.most_edges
        choice = kernels.choose(g, w, node, may_add, work.rng) if g.has_chooser else choose(g, w, node, may_add, work.rng)
        if choice < 0:
            return length
        if choice < nodes(g)[node].tried:
            number = np.int64(nodes(g)[node].first_edge) + choice
            action = np.int64(edges(g)[number].action)
            choice = np.int64(-1)
        else:
            number = np.int64(-1)
            action = np.int64(moves(g)[nodes(g)[node].first_move + choice])
            fresh += 1
        if work.moves.size > 0:
            work.moves[length] = move_of(nodes(g)[node].mover, action)
        kernels.play(config, work.state, action)
        work.path[1, length] = number
        work.path[2, length] = choice
        length += 1
        work.path[0, length] = -1
        if player_of(work.state) < 0:
            return length
        if number >= 0:
            node = np.int64(edges(g)[number].target)
            if node < 0:
                if g.node_count == g.node_room:
                    g.wanted = MORE_NODES
                    return np.int64(-1)
                node = arrive(kernels, g, work, config, np.int64(work.path[0, length - 1]), number)
        elif g.has_table:
            kernels.key(config, work.state, work.words)
            node = find(g, work.words)
            if node < 0:
                return length
        else:
            if g.adds_leaf and g.words > 0:
                kernels.key(config, work.state, work.words)
            return length


@kernel()
def list_moves(kernels, g, work, config, node, length):
    """Lists the legal moves of a node, whose position is in `work.state`, and after how many moves; False without room."""
    count = kernels.legal_actions(config, work.state, work.actions)
    first = g.move_count
    if count <= 0:
        g.wanted = BROKEN
        return False
    if first + count > g.move_room:
        g.wanted = MORE_MOVES
        return False
    for i in range(count):
        moves(g)[first + i] = work.actions[i]
    if g.has_priors:
        w, values = fields(work.record, WORK), priors(g)[first : first + count]
        kernels.priors(config, work.state, w, length, work.knowledge, work.actions[:count], values)
    g.move_count += count
    nodes(g)[node].first_move = first
    nodes(g)[node].moves = count
    return True


@kernel()
def fits(g, work, length, plies):
    """Whether there is room for a descent's new edges and node, and for a playout of so many plies."""
    room = g.edge_places + plies * g.actions
    for depth in range(length):
        source = nodes(g)[work.path[0, depth]]
        if work.path[2, depth] >= 0 and source.tried == source.room:
            room += next_room(np.int64(source.tried), np.int64(source.moves))
    if room > g.edge_room:
        g.wanted = MORE_EDGES
    elif g.node_count + plies + (1 if g.adds_leaf else 0) > g.node_room:
        g.wanted = MORE_NODES
    elif plies > 0 and g.move_count + plies * g.actions > g.move_room:
        g.wanted = MORE_MOVES
    else:
        return True
    return False


@kernel()
def extend(g, work, length):
    """Adds the new edges of a descent, and the node of a new position at its end. Needs room."""
    for depth in range(length):
        if work.path[2, depth] < 0:
            continue
        node = np.int64(work.path[0, depth])
        number = add_edge(g, node, np.int64(work.path[2, depth]))
        work.path[1, depth] = number
        if not g.has_table:
            if g.adds_leaf and player_of(work.state) >= 0:
                edges(g)[number].target = add_node(g, work.words, player_of(work.state))
            continue
        known = np.int64(work.path[0, depth + 1])
        if known >= 0:
            link(g, node, number, known)
            g.links += 1
        elif player_of(work.state) >= 0:
            link(g, node, number, add_node(g, work.words, player_of(work.state)))


@kernel()
def play_out(kernels, work, config, count):
    """Plays the rest of the game by the policies, after so many moves of a simulation; how many it then has.

    Moves for which no policy is asked are played together by the game's own playout, which is faster.
    """
    w = fields(work.record, WORK)
    while player_of(work.state) >= 0:
        asked, more = asked_of(w, work.rng), np.int64(0)
        while asked == 0 and count + more < w.path_room - 1:
            asked, more = asked_of(w, work.rng), more + 1
        if more > 0:
            count += kernels.playout(config, work.state, work.rng, work.moves[count : count + more])
            if player_of(work.state) < 0:
                break
        action = suggestion(kernels, work, config, count, asked)
        if action < 0:
            count += kernels.playout(config, work.state, work.rng, work.moves[count : count + 1])
            continue
        work.moves[count] = move_of(player_of(work.state), action)
        kernels.play(config, work.state, action)
        count += 1
    return count


@kernel()
def asked_of(w, rng):
    """The policies that are asked for one move, a bit for each."""
    asked = np.int64(0)
    for policy in range(w.policies):
        if w.probs[policy] == 1.0 or unit(rng) < w.probs[policy]:
            asked |= 1 << policy
    return asked


@kernel()
def suggestion(kernels, work, config, count, asked):
    """What the first of the policies asked that has a suggestion suggests after so many moves of a simulation, else -1."""
    w = fields(work.record, WORK)
    for policy in range(w.policies):
        if asked >> policy & 1:
            suggest, memory = kernels.suggest[policy], work.memories[policy]
            listing, playable = kernels.playout_actions, kernels.is_playable
            action = suggest(listing, playable, config, work.state, w, count, memory, work.rng)
            if action >= 0:
                w.suggested[policy] += 1
                return action
    return np.int64(-1)


@kernel()
def walk(kernels, g, work, config, length):
    """Plays the rest of the game as `play_out`, its positions as nodes and its moves as edges of the path; the path's length.

    Needs room for all of it.
    """
    w = fields(work.record, WORK)
    number = np.int64(work.path[1, length - 1])
    while player_of(work.state) >= 0:
        node = np.int64(edges(g)[number].target)
        if node < 0:
            node = arrive(kernels, g, work, config, np.int64(work.path[0, length - 1]), number)
        if nodes(g)[node].moves == 0 and not list_moves(kernels, g, work, config, node, length):
            return length
        action = suggestion(kernels, work, config, length, asked_of(w, work.rng))
        if action < 0:
            action = kernels.playout_action(config, work.state, work.rng)
        if player_of(work.state) == FAILED:
            return length
        if work.moves.size > 0:
            work.moves[length] = move_of(player_of(work.state), action)
        number = edge_of(g, node, action)
        kernels.play(config, work.state, action)
        work.path[0, length] = node
        work.path[1, length] = number
        length += 1
    return length


@kernel()
def arrive(kernels, g, work, config, source, number):
    """The node of the position that an edge has led to, which from now on is its target. Needs room for a node."""
    if g.words > 0:
        kernels.key(config, work.state, work.words)
    if not g.has_table:
        node = add_node(g, work.words, player_of(work.state))
        edges(g)[number].target = node
        return node
    node = find(g, work.words)
    if node >= 0:
        g.links += 1
    else:
        node = add_node(g, work.words, player_of(work.state))
    link(g, source, number, node)
    return node


@kernel()
def edge_of(g, node, action):
    """The edge of a node's move, which is made if the move was never tried. Needs room for a larger block."""
    source = nodes(g)[node]
    first, tried = np.int64(source.first_edge), np.int64(source.tried)
    for number in range(first, first + tried):
        if edges(g)[number].action == action:
            return np.int64(number)
    choice = tried
    while moves(g)[source.first_move + choice] != action:
        choice += 1
    return add_edge(g, node, choice)
