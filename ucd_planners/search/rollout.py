"""The rest of a simulation below its leaf: random moves of the game, playout policies, or every position into the graph."""

from __future__ import annotations

import numpy as np

from ucd_envs.kernels import CHANCE, FAILED, HEADER, action_of_move, kernel, player_of_move
from ucd_envs.rng import unit
from ucd_envs.structs import fields
from ucd_planners.search.graph import FINISHED, actions, edges, nodes
from ucd_planners.search.growth import add_edge, link_or_add, list_actions
from ucd_planners.search.interface import (
    DONE,
    NO_COUNT,
    NO_DRAW,
    NO_MOVE,
    NO_PLAYER,
    NO_SUGGESTION,
    STOPPED,
    TOO_LONG,
)
from ucd_planners.search.sim import is_settled, memory_of, move, path, payoffs, player_of, policies, rng, state, trace

NOT_PLAYABLE = -2
"""A value in place of an action: a policy suggested one that cannot be played."""
UNLISTED = -2
"""A value in place of a choice: chance drew an outcome that is not among the legal actions."""


@kernel()
def is_no_player(rules, player):
    """Whether a number of 0 or more is no player's, nor CHANCE in a game that has it."""
    return player >= rules.players and not (player == CHANCE and rules.has_chance)


@kernel()
def outcome(rules, graph, sim, node, length, may_add):
    """Draws an outcome of a chance node at the end of a path; returns its place in the node's list, -1 where the descent ends,
    UNLISTED for one that is not there.
    """
    source, action = nodes(graph)[node], np.int64(rules.draw(rules.config, state(sim), rng(sim)))
    path(sim)[2, length] = -1
    first, expanded = np.int64(source.first_action), np.int64(source.expanded)
    for choice in range(np.int64(source.legal)):
        if actions(graph)[first + choice] == action:
            if choice < expanded or may_add:
                return np.int64(choice)
            # The playout begins with this outcome: another draw would make those with edges too frequent.
            path(sim)[2, length] = action
            return np.int64(-1)
    return np.int64(UNLISTED if action >= 0 else -1)


@kernel()
def awaits(sim):
    """Whether a path that has been selected ends where the game goes on, and no selection has settled its value."""
    return player_of(sim) >= 0 and not is_settled(sim)


@kernel()
def rollout(rules, search, graph, sim):
    """Plays the rest of the game and reads the payoffs."""
    if player_of(sim) == CHANCE and path(sim)[0, sim.path.length] >= 0:
        known = np.int64(path(sim)[2, sim.path.length])
        if known >= 0:
            move(rules, sim, known)
    return play_out(rules, search, graph, sim)


@kernel()
def play_out(rules, search, graph, sim):
    """Plays the rest of the game from a position, if there is any, and reads the payoffs."""
    if player_of(sim) >= 0:
        status = np.int64(DONE)
        if search.policies > 0:
            status = follow_policies(rules, search, graph, sim)
        else:
            status = play_on(rules, search, sim, trace(sim)[sim.traced.length :])
        if status == DONE and player_of(sim) >= 0:
            status = np.int64(NO_COUNT)  # a playout that leaves the game unfinished
        if status != DONE:
            return status
    return read_payoffs(rules, sim)


@kernel()
def play_on(rules, search, sim, room):
    """Plays random moves of the game's own policy, as many as `room` holds of the trace; to the end if moves are not traced.

    Returns DONE, or the status for moves that it cannot have made.
    """
    ply = fields(state(sim), HEADER).ply
    count = rules.playout(rules.config, state(sim), rng(sim), room)  # it may leave only player and payoffs valid
    if player_of(sim) == FAILED:
        return np.int64(STOPPED)
    if count < 0 or (count == 0 and player_of(sim) >= 0) or (room.size > 0 and count > room.size):
        return np.int64(NO_COUNT)
    # Moves are counted even where they are not traced: `leaf_depth` and the count tell the plies of the playout.
    first = np.int64(sim.traced.length)
    sim.traced.length = first + count  # entries from first on are the playout's own
    return check_moves(rules, sim, ply, first, count) if search.guarded else np.int64(DONE)


@kernel()
def check_moves(rules, sim, ply, first, count):
    """Whether a user-defined playout can have made the moves that it counts and, where they are traced, has written."""
    moves = trace(sim)
    if first + count >= sim.path.room:
        return np.int64(TOO_LONG)
    if is_no_player(rules, player_of(sim)):
        return np.int64(NO_PLAYER)
    if moves.size > 0 and fields(state(sim), HEADER).ply != ply + count:
        return np.int64(NO_COUNT)
    for i in range(first, first + count if moves.size > 0 else 0):
        if is_no_player(rules, player_of_move(moves[i])) or moves[i] < 0 or action_of_move(moves[i]) >= rules.actions:
            return np.int64(NO_MOVE)
    return np.int64(DONE)


@kernel()
def read_payoffs(rules, sim):
    """Reads the payoffs of the game that has ended."""
    rules.payoffs(rules.config, state(sim), payoffs(sim))  # of every player, so that no sign has to be turned
    return np.int64(STOPPED if player_of(sim) == FAILED else DONE)


@kernel()
def follow_policies(rules, search, graph, sim):
    """Plays the rest of the game by the policies.

    Moves for which no policy is asked are played together by the game's own playout, which is faster.
    """
    most = np.int64(sim.path.room) - 1  # no game of the rules is longer
    while player_of(sim) >= 0:
        # The draws of moves without a policy come first, so the moves between two suggestions are one call of the game.
        asked, more = policies_asked(search, sim), np.int64(0)
        while asked == 0 and sim.traced.length + more < most:
            asked, more = policies_asked(search, sim), more + 1
        if more > 0:
            status = play_on(rules, search, sim, trace(sim)[sim.traced.length : sim.traced.length + more])
            if status != DONE or player_of(sim) < 0:
                return status
        if sim.traced.length >= most:
            return np.int64(TOO_LONG)
        # Policies suggest moves of players; an outcome is left to the game.
        action = suggested_action(rules, search, graph, sim, asked) if player_of(sim) != CHANCE else np.int64(-1)
        if action == NOT_PLAYABLE:
            return np.int64(NO_SUGGESTION)
        status = np.int64(DONE)
        if action < 0:
            status = play_on(rules, search, sim, trace(sim)[sim.traced.length : sim.traced.length + 1])
        else:
            move(rules, sim, action)
        if is_no_player(rules, player_of(sim)):
            status = np.int64(NO_PLAYER)
        if status != DONE:
            return status
    return np.int64(DONE)


@kernel()
def policies_asked(search, sim):
    """Draws the policies that are asked for one move, a bit for each."""
    asked = np.int64(0)
    for policy in range(search.policies):
        if search.probs[policy] == 1.0 or unit(rng(sim)) < search.probs[policy]:
            asked |= 1 << policy
    return asked


@kernel()
def suggested_action(rules, search, graph, sim, asked):
    """Returns the suggestion of the first policy asked that has one, or -1."""
    for policy in range(search.policies):
        if asked >> policy & 1:
            known = policies(sim)[policy]
            listing, playable, memory = rules.playout_actions, rules.is_playable, memory_of(known.memory)
            action = search.suggest[policy](listing, playable, rules.config, state(sim), graph, sim, memory, rng(sim))
            # Behind the pick of a group only its moves are playable; further on all legal ones are.
            if (
                sim.traced.length == sim.leaf_depth
                and rules.moves < rules.actions
                and not (action < 0 or playable(rules.config, state(sim), action))
            ):
                action = np.int64(-1)
            if action >= 0:
                known.suggested += 1  # counted for profiles, and read by nothing in the search
                if search.guarded and (action >= rules.actions or not rules.is_legal(rules.config, state(sim), action)):
                    return np.int64(NOT_PLAYABLE)
                return action
    return np.int64(-1)


@kernel()
def plies_to_add(search, graph, sim):
    """Returns the number of positions that the playout may add: with `expand_all` all, unless the limit of edges is near."""
    if not search.expand_all or player_of(sim) < 0 or is_settled(sim):
        return np.int64(0)
    plies = np.int64(sim.path.room) - 1 - sim.path.length
    return plies if graph.edge_count + sim.path.length + plies <= graph.most_edges else np.int64(0)


@kernel()
def rollout_into_graph(rules, search, graph, sim):
    """Plays the rest of the game, its positions as nodes and its moves as edges of the path. Needs room for all of it."""
    trail, length = path(sim), np.int64(sim.path.length)
    number = np.int64(trail[1, length - 1])  # the last edge of the descent, whose target may be unknown
    while player_of(sim) >= 0:
        # The path grows by the edge just made; its target becomes a node when the next move is played from it.
        node = np.int64(edges(graph)[number].target)
        if node < 0:
            node = link_or_add(rules, search, graph, sim, np.int64(trail[0, length - 1]), number)
        if length >= sim.path.room - 1:
            return np.int64(TOO_LONG)
        if nodes(graph)[node].legal == 0:
            status = list_actions(rules, search, graph, sim, node)
            if status != DONE:
                return status
        action, unknown = np.int64(-1), np.int64(NO_SUGGESTION)
        if player_of(sim) == CHANCE:
            action, unknown = rules.draw(rules.config, state(sim), rng(sim)), np.int64(NO_DRAW)
        else:
            action = suggested_action(rules, search, graph, sim, policies_asked(search, sim))
        if action == -1 and player_of(sim) != CHANCE:
            action, unknown = rules.playout_action(rules.config, state(sim), rng(sim)), np.int64(NO_DRAW)
        if player_of(sim) == FAILED:
            return np.int64(STOPPED)
        number = edge_of(graph, node, action)
        if number < 0:
            return rollout(rules, search, graph, sim) if action == -1 and unknown == NO_DRAW else unknown
        move(rules, sim, action)
        trail[0, length] = node
        trail[1, length] = number
        length += 1
        trail[2, length] = -1
        sim.path.length = length
        if player_of(sim) < 0:
            edges(graph)[number].target = FINISHED  # no node, so nothing is ever chosen there
        elif is_no_player(rules, player_of(sim)):
            return np.int64(NO_PLAYER)
    return read_payoffs(rules, sim)


@kernel()
def edge_of(graph, node, action):
    """Returns the edge of a node's action, made if it was never tried; -1 for an action that is not legal."""
    source = nodes(graph)[node]
    first, expanded, legal = np.int64(source.first_edge), np.int64(source.expanded), np.int64(source.legal)
    # Places below `expanded` have edges and those behind it none, so the two searches together see each action once.
    for number in range(first, first + expanded):
        if edges(graph)[number].action == action:
            return np.int64(number)
    for choice in range(expanded, legal):
        if actions(graph)[source.first_action + choice] == action:
            return add_edge(graph, node, np.int64(choice))  # room for it was made sure of, for every ply of the playout
    return np.int64(-1)
