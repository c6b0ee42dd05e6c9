"""The one compiled loop: descend, play out, back up.

A simulation starts from the root's state. It *descends*: at each node an untried move goes before any tried one, in random
order; a tried one is chosen by its upper confidence bound. A new move whose position is in the table is linked to that
node and the descent goes on from there; a new position, or the end of the game, ends the descent. The rest of the game is
*played out* at random and the payoffs are *backed up*.

Nothing is added to the graph before it is known to fit: when it does not, the generator goes back to where the simulation
began and the loop returns, so a search has the same result however its arrays grow. At the limit of edges the graph stays
as it is and simulations go on in it: at a node with tried moves the choice is among those, at one without the descent ends.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import config, types
from numba.core.types import FunctionType
from numba.experimental import structref

from ucd_envs.records import address_of, fields
from ucd_envs.rng import below
from ucd_envs.rules import (
    ACTIONS,
    BYTES,
    HEADER,
    LEGAL_ACTIONS,
    PAYOFFS,
    PLAY,
    PLAYOUT,
    POSITION,
    READ_PAYOFFS,
    RNG,
    WORDS,
    Rules,
    compiled,
    kernel,
)
from ucd_planners.graph import (
    GRAPH,
    MORE_EDGES,
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
)
from ucd_planners.selection.seam import BACK_UP, WORK, Selection
from ucd_planners.selection.ucb import choose


class Bound(NamedTuple):
    """The kernels that a search calls. In compiled code a structure of function pointers, made once for a planner and a
    game: passing the functions themselves costs 50 microseconds each at every call."""

    legal_actions: Any
    play: Any
    payoffs: Any
    position: Any
    playout: Any
    back_up: Any


BOUND_SIGNATURES = Bound(LEGAL_ACTIONS, PLAY, READ_PAYOFFS, POSITION, PLAYOUT, BACK_UP)


@structref.register
class BoundType(types.StructRef):
    """The numba type of bound kernels."""


class BoundKernels(structref.StructRefProxy):
    """Bound kernels as Python holds them."""


structref.define_boxing(BoundType, BoundKernels)
BOUND = BoundType([(name, FunctionType(signature)) for name, signature in BOUND_SIGNATURES._asdict().items()])


@kernel(BOUND(*(FunctionType(signature) for signature in BOUND_SIGNATURES)), counted=True)
def bind(legal_actions, play, payoffs, position, playout, back_up):
    """The structure of these kernels."""
    bound: Any = structref.new(BOUND)  # type: ignore[call-arg]
    bound.legal_actions = legal_actions
    bound.play = play
    bound.payoffs = payoffs
    bound.position = position
    bound.playout = playout
    bound.back_up = back_up
    return bound


def bound_kernels(rules: Rules, selection: Selection) -> Any:
    """The kernels of a game and a selection, as `simulate` takes them; it is compiled now, before any clock runs."""
    compiled(simulate, SIMULATE)
    game = rules.kernels
    kernels = (game.legal_actions, game.play, game.payoffs, game.position, game.playout)
    functions = (*kernels, compiled(selection.kernel, BACK_UP))
    if getattr(config, "DISABLE_JIT", 0):
        return Bound(*functions)
    return compiled(bind, bind.seam_signature)(*functions)


class Work(NamedTuple):
    """What one simulation works on."""

    record: np.ndarray
    """[WORK.itemsize] uint8: what the backup sees."""
    state: np.ndarray
    """[state_bytes] uint8: the position that the simulation has reached."""
    rng: np.ndarray
    """[2] uint64: the generator."""
    actions: np.ndarray
    """[actions] int32."""
    words: np.ndarray
    """[position_words] uint64."""
    payoffs: np.ndarray
    """[players] float64."""
    trace: np.ndarray
    """[longest] int32 for moves of the playout, or [0]."""
    path: np.ndarray
    """[3, longest + 1] int32: sources of the descent's edges, then the known node where it ended, or -1; the edges, -1 for one
    that is yet to be made; and for such a one the place of its move in the source's list, else -1."""


WORK_TUPLE = types.NamedTuple((BYTES, BYTES, RNG, ACTIONS, WORDS, PAYOFFS, ACTIONS, types.int32[:, ::1]), Work)


def work_for(rules: Rules) -> Work:
    """Room for the simulations of any search in a game."""
    path = np.empty((3, rules.longest + 1), np.int32)
    header = np.zeros(WORK.itemsize, np.uint8)
    fixed = header.view(WORK)[0]
    fixed.longest = path.shape[1]
    fixed.path_nodes, fixed.path_edges = address_of(path[0]), address_of(path[1])
    return Work(
        header,
        np.zeros(rules.state_bytes, np.uint8),
        np.zeros(2, np.uint64),
        np.empty(rules.actions, np.int32),
        np.zeros(rules.position_words, np.uint64),
        np.zeros(rules.players),
        np.empty(0, np.int32),
        path,
    )


@kernel(types.void(BYTES, WORDS, types.int64))
def plant(graph, words, mover):
    """Makes the root of an empty graph, for a position and its mover."""
    add_node(fields(graph, GRAPH), words, mover)


SIMULATE = types.boolean(BOUND, BYTES, WORK_TUPLE, BYTES, BYTES, types.int64)


@kernel(SIMULATE, counted=True)
def simulate(bound, graph, work, board, root, playouts):
    """Runs simulations until the graph has had `playouts` of them; False when it must grow first (`wanted` says what)."""
    kernels = Bound(bound.legal_actions, bound.play, bound.payoffs, bound.position, bound.playout, bound.back_up)
    return run(kernels, fields(graph, GRAPH), work, board, root, playouts)


@kernel()
def run(kernels, g, work, board, root, playouts):
    """As `simulate`, on the graph's record."""
    w = fields(work.record, WORK)
    while g.playouts < playouts:
        start = work.rng[0], work.rng[1]
        for i in range(root.size):
            work.state[i] = root[i]
        length = descend(kernels, g, work, board)
        if length < 0 or not extend(g, work, length):
            work.rng[0], work.rng[1] = start
            return False
        if player_of(work.state) >= 0:
            kernels.playout(board, work.state, work.rng, work.trace)
        kernels.payoffs(board, work.state, work.payoffs)
        for player in range(work.payoffs.size):
            w.payoffs[player] = work.payoffs[player]
        kernels.back_up(g, w, length)
        g.playouts += 1
        g.depth = max(g.depth, length)
    return True


@kernel()
def player_of(state):
    """The player to move, -1 when the game is over."""
    return fields(state, HEADER).player


@kernel()
def descend(kernels, g, work, board):
    """Goes down from the root by moves in `work.state`, and notes the path; its length, or -1 when the graph must grow."""
    node, length, fresh = np.int64(0), np.int64(0), np.int64(0)
    while True:
        work.path[0, length] = node
        if nodes(g)[node].moves == 0 and not list_moves(kernels, g, work, board, node):
            return np.int64(-1)
        tried, legal = np.int64(nodes(g)[node].tried), np.int64(nodes(g)[node].moves)
        number, choice = np.int64(-1), np.int64(-1)
        if tried < legal and g.edge_count + fresh < g.most_edges:
            choice = tried + np.int64(below(work.rng, np.uint64(legal - tried)))
            action = np.int64(moves(g)[nodes(g)[node].first_move + choice])
            fresh += 1
        elif tried > 0:
            number = choose(g, node, work.rng)
            action = np.int64(edges(g)[number].action)
        else:
            return length
        kernels.play(board, work.state, action)
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
                node = add_node(g, work.words, player_of(work.state))
                edges(g)[number].target = node
        elif g.has_table:
            kernels.position(board, work.state, work.words)
            node = find(g, work.words)
            if node < 0:
                return length
        else:
            return length


@kernel()
def list_moves(kernels, g, work, board, node):
    """Lists the legal moves of a node, whose position is in `work.state`; False when there is no room."""
    count = kernels.legal_actions(board, work.state, work.actions)
    first = g.move_count
    if first + count > g.move_room:
        g.wanted = MORE_MOVES
        return False
    for i in range(count):
        moves(g)[first + i] = work.actions[i]
    g.move_count += count
    nodes(g)[node].first_move = first
    nodes(g)[node].moves = count
    return True


@kernel()
def extend(g, work, length):
    """Adds the new edges of a descent, and the node of a new position at its end; False, and nothing, without room."""
    room = g.edge_places
    for depth in range(length):
        source = nodes(g)[work.path[0, depth]]
        if work.path[2, depth] >= 0 and source.tried == source.room:
            room += next_room(np.int64(source.tried), np.int64(source.moves))
    if room > g.edge_room:
        g.wanted = MORE_EDGES
        return False
    if g.has_table and g.node_count == g.node_room:
        g.wanted = MORE_NODES
        return False
    for depth in range(length):
        if work.path[2, depth] < 0:
            continue
        node = np.int64(work.path[0, depth])
        number = add_edge(g, node, np.int64(work.path[2, depth]))
        work.path[1, depth] = number
        if not g.has_table:
            continue
        known = np.int64(work.path[0, depth + 1])
        if known >= 0:
            link(g, node, number, known)
            g.links += 1
        elif player_of(work.state) >= 0:
            link(g, node, number, add_node(g, work.words, player_of(work.state)))
    return True
