"""The one compiled loop: descend, play out, back up.

A simulation starts from the root's state. It *descends*: at each node an untried move goes before any tried one, in random
order; a tried one is chosen by its upper confidence bound. A new move whose position is in the table is linked to that
node and the descent goes on from there; a new position, or the end of the game, ends the descent. The rest of the game is
*played out* at random and the payoffs are *backed up*.

Two choices that papers leave open are options. `urgency` is the bound of an untried move; infinite, all of a node's moves are
tried before any is chosen again. `add="all"` enters every position of the playout as well, so that a simulation's path goes
to the end of the game; a simulation that might not fit under the limit of edges adds its first new position only.

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
from ucd_envs.rules import (
    ACTIONS,
    BYTES,
    FAILED,
    HEADER,
    LEGAL_ACTIONS,
    PAYOFFS,
    PLAY,
    PLAYOUT,
    PLAYOUT_ACTION,
    POSITION,
    READ_PAYOFFS,
    RNG,
    WORDS,
    Rules,
    compiled,
    kernel,
)
from ucd_planners.graph import (
    BROKEN,
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
from ucd_planners.selection.seam import BACK_UP, CHOOSE, WORK, Selection
from ucd_planners.selection.ucb import choose


class Bound(NamedTuple):
    """The kernels that a search calls. In compiled code a structure of function pointers, made once for a planner and a
    game: passing the functions themselves costs 50 microseconds each at every call."""

    legal_actions: Any
    play: Any
    payoffs: Any
    position: Any
    playout: Any
    playout_action: Any
    choose: Any
    back_up: Any


BOUND_SIGNATURES = Bound(LEGAL_ACTIONS, PLAY, READ_PAYOFFS, POSITION, PLAYOUT, PLAYOUT_ACTION, CHOOSE, BACK_UP)


@structref.register
class BoundType(types.StructRef):
    """The numba type of bound kernels."""


class BoundKernels(structref.StructRefProxy):
    """Bound kernels as Python holds them."""


structref.define_boxing(BoundType, BoundKernels)
BOUND = BoundType([(name, FunctionType(signature)) for name, signature in BOUND_SIGNATURES._asdict().items()])


@kernel(BOUND(*(FunctionType(signature) for signature in BOUND_SIGNATURES)), counted=True)
def bind(legal_actions, play, payoffs, position, playout, playout_action, choose, back_up):
    """The structure of these kernels."""
    bound: Any = structref.new(BOUND)  # type: ignore[call-arg]
    bound.legal_actions = legal_actions
    bound.play = play
    bound.payoffs = payoffs
    bound.position = position
    bound.playout = playout
    bound.playout_action = playout_action
    bound.choose = choose
    bound.back_up = back_up
    return bound


def bound_kernels(rules: Rules, selection: Selection) -> Any:
    """The kernels of a game and a selection, as `simulate` takes them; it is compiled now, before any clock runs."""
    compiled(simulate, SIMULATE)
    game = rules.kernels
    kernels = (game.legal_actions, game.play, game.payoffs, game.position, game.playout, game.playout_action)
    functions = (*kernels, compiled(selection.chooser or choose, CHOOSE), compiled(selection.kernel, BACK_UP))
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
    """int32: for moves of the playout [longest + 1], and behind them for two numbers of every action of a player; or [0] where
    the selection asks for none."""
    path: np.ndarray
    """[3, longest + 1] int32: sources of the descent's edges, then the known node where it ended, or -1; the edges, -1 for one
    that is yet to be made; and for such a one the place of its move in the source's list, else -1."""


WORK_TUPLE = types.NamedTuple((BYTES, BYTES, RNG, ACTIONS, WORDS, PAYOFFS, ACTIONS, types.int32[:, ::1]), Work)


def work_for(rules: Rules, selection: Selection) -> Work:
    """Room for the simulations of any search in a game with a selection."""
    path = np.empty((3, rules.longest + 1), np.int32)
    traces = selection.layout(rules.players).amaf > 0
    pairs = rules.players * rules.actions
    trace = np.zeros((path.shape[1] + 2 * pairs) * traces, np.int32)
    header = np.zeros(WORK.itemsize, np.uint8)
    fixed = header.view(WORK)[0]
    fixed.longest = path.shape[1]
    fixed.path_nodes, fixed.path_edges = address_of(path[0]), address_of(path[1])
    fixed.playout = address_of(trace)
    return Work(
        header,
        np.zeros(rules.state_bytes, np.uint8),
        np.zeros(2, np.uint64),
        np.empty(rules.actions, np.int32),
        np.zeros(rules.position_words, np.uint64),
        np.zeros(rules.players),
        trace,
        path,
    )


SIMULATE = types.boolean(BOUND, BYTES, WORK_TUPLE, BYTES, BYTES, types.int64)


@kernel(inline=True)
def kernels_of(bound):
    """The kernels of a structure, ready to be called."""
    return Bound(
        bound.legal_actions,
        bound.play,
        bound.payoffs,
        bound.position,
        bound.playout,
        bound.playout_action,
        bound.choose,
        bound.back_up,
    )


@kernel(SIMULATE, counted=True)
def simulate(bound, graph, work, board, root, playouts):
    """Runs simulations until the graph has had `playouts` of them; False when something is `wanted` first."""
    return run(kernels_of(bound), fields(graph, GRAPH), work, board, root, playouts)


@kernel()
def run(kernels, g, work, board, root, playouts):
    """As `simulate`, on the graph's record."""
    w = fields(work.record, WORK)
    while g.playouts < playouts:
        start = work.rng[0], work.rng[1]
        for i in range(root.size):
            work.state[i] = root[i]
        length = descend(kernels, g, work, board)
        plies = np.int64(0)
        if g.adds_all and length >= 0 and player_of(work.state) >= 0:
            plies = w.longest - 1 - fields(work.state, HEADER).ply
            if g.edge_count + length + plies > g.most_edges:
                plies = np.int64(0)
        if length < 0 or not fits(g, work, length, plies):
            work.rng[0], work.rng[1] = start
            return False
        g.depth = max(g.depth, length)
        extend(g, work, length)
        played = np.int64(0)
        if plies > 0:
            length = walk(kernels, g, work, board, length)
        elif player_of(work.state) >= 0:
            played = kernels.playout(board, work.state, work.rng, work.trace)
        kernels.payoffs(board, work.state, work.payoffs)
        if player_of(work.state) == FAILED:
            g.wanted = BROKEN
            return False
        for player in range(work.payoffs.size):
            w.payoffs[player] = work.payoffs[player]
        w.played = played
        kernels.back_up(g, w, length)
        g.playouts += 1
    return True


@kernel()
def player_of(state):
    """The player to move, OVER or FAILED."""
    return fields(state, HEADER).player


@kernel()
def descend(kernels, g, work, board):
    """Goes down from the root by moves in `work.state`, and notes the path; its length, or -1 when the graph must grow."""
    w = fields(work.record, WORK)
    node, length, fresh = np.int64(g.root), np.int64(0), np.int64(0)
    while True:
        work.path[0, length] = node
        if nodes(g)[node].moves == 0 and not list_moves(kernels, g, work, board, node):
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
                node = arrive(kernels, g, work, board, np.int64(work.path[0, length - 1]), number)
        elif g.has_table:
            kernels.position(board, work.state, work.words)
            node = find(g, work.words)
            if node < 0:
                return length
        else:
            if g.adds_leaf and g.words > 0:
                kernels.position(board, work.state, work.words)
            return length


@kernel()
def list_moves(kernels, g, work, board, node):
    """Lists the legal moves of a node, whose position is in `work.state`; False when there is no room."""
    count = kernels.legal_actions(board, work.state, work.actions)
    first = g.move_count
    if count <= 0:
        g.wanted = BROKEN
        return False
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
def walk(kernels, g, work, board, length):
    """Plays the rest of the game at random, its positions as nodes and its moves as edges of the path; the path's length.

    Needs room for all of it.
    """
    number = np.int64(work.path[1, length - 1])
    while player_of(work.state) >= 0:
        node = np.int64(edges(g)[number].target)
        if node < 0:
            node = arrive(kernels, g, work, board, np.int64(work.path[0, length - 1]), number)
        if nodes(g)[node].moves == 0 and not list_moves(kernels, g, work, board, node):
            return length
        action = kernels.playout_action(board, work.state, work.rng)
        if player_of(work.state) == FAILED:
            return length
        number = edge_of(g, node, action)
        kernels.play(board, work.state, action)
        work.path[0, length] = node
        work.path[1, length] = number
        length += 1
    return length


@kernel()
def arrive(kernels, g, work, board, source, number):
    """The node of the position that an edge has led to, which from now on is its target. Needs room for a node."""
    if g.words > 0:
        kernels.position(board, work.state, work.words)
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
