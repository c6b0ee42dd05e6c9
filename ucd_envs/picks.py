"""Kernels of grouped games: picks of groups around the kernels of the game inside.

The binding behind the inner configuration tells them the game and its grouping; grouped.py has the rules.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.core.types import FunctionType

from ucd_envs.bindings import BindingType, reader
from ucd_envs.defaults import LINK_BYTES, SLACK
from ucd_envs.kernels import (
    BYTES,
    CHANCE,
    DRAW,
    FAILED,
    GROUP_KEY,
    GROUPS,
    HEADER,
    IS_LEGAL,
    KEY,
    LEGAL_ACTIONS,
    OBSERVE,
    PLAY,
    PLAYOUT,
    PLAYOUT_ACTION,
    PROBABILITY,
    READ_PAYOFFS,
    RESET,
    RNG,
    kernel,
    move_of,
)
from ucd_envs.rng import below
from ucd_envs.structs import fields, popcount, record, stack_array

PICK = record(("ply", np.int32), ("group", np.int32))
"""Fields behind the state of the game inside: its plies, and the group picked, -1 for none."""
PICK_BYTES = PICK.itemsize
INSIDE = BindingType(
    "inside",
    {
        "reset": FunctionType(RESET),
        "legal_actions": FunctionType(LEGAL_ACTIONS),
        "play": FunctionType(PLAY),
        "payoffs": FunctionType(READ_PAYOFFS),
        "key": FunctionType(KEY),
        "playout": FunctionType(PLAYOUT),
        "playout_action": FunctionType(PLAYOUT_ACTION),
        "playout_actions": FunctionType(LEGAL_ACTIONS),
        "is_playable": FunctionType(IS_LEGAL),
        "is_legal": FunctionType(IS_LEGAL),
        "observe": FunctionType(OBSERVE),
        "draw": FunctionType(DRAW),
        "probability": FunctionType(PROBABILITY),
        "groups_of": FunctionType(GROUPS),
        "group_key": FunctionType(GROUP_KEY),
        "later_key": FunctionType(GROUP_KEY),
        "memory": types.uint8[::1],
        "config_bytes": types.int64,
        "actions": types.int64,
        "key_words": types.int64,
        "group_words": types.int64,
        "groups": types.int64,
        "whole": types.int64,
        "planes": types.int64,
        "cells": types.int64,
    },
)
"""The game inside and its grouping, as compiled code sees them. `planes`: of an observation, each of `cells` numbers."""
INSIDE_BYTES = 8 * INSIDE.words
inside_at = reader(INSIDE)
ACTION, COUNT, BYTE, WORD = (np.dtype(kind) for kind in (np.int32, np.int64, np.int8, np.uint64))
U0, U1, U64 = np.uint64(0), np.uint64(1), np.uint64(64)
TRIES = 64
"""Draws of a move at most before one of a group is taken as it comes."""


@kernel(GROUP_KEY)
def no_group_key(config, state, memory, words):
    """Writes nothing: the groups depend on the game's own key only."""


@kernel(inline=True)
def inside_of(config):
    """Returns the binding behind the configuration of the game inside."""
    return inside_at(config[config.size - LINK_BYTES - INSIDE_BYTES :])


@kernel(inline=True)
def pick_of(state):
    """Returns the fields behind the state of the game inside."""
    return fields(state[state.size - PICK_BYTES :], PICK)


@kernel()
def enter(state):
    """Gives the header the plies of the game inside; returns those with picks, for `leave`."""
    s = fields(state, HEADER)
    plies = np.int64(s.ply)
    s.ply = pick_of(state).ply
    return plies


@kernel()
def leave(state, plies):
    """Notes the plies of the game inside, and gives the header those with picks."""
    s = fields(state, HEADER)
    pick_of(state).ply = s.ply
    s.ply = plies


@kernel(RESET)
def reset(config, state):
    """Sets up the game inside, with no group picked."""
    game = inside_of(config)
    game.reset(config[: game.config_bytes], state[: state.size - PICK_BYTES])
    pick_of(state).group = -1
    leave(state, np.int64(0))


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists the moves that need no pick, then the groups; or the moves of the group that is picked.

    Where a legal move has no group, it lists nothing and the player is FAILED.
    """
    game, group = inside_of(config), np.int64(pick_of(state).group)
    inner, position = config[: game.config_bytes], state[: state.size - PICK_BYTES]
    plies = enter(state)
    count = np.int64(game.legal_actions(inner, position, actions[: game.actions]))
    if count > 0 and group >= 0:
        count = only_of(game, inner, position, actions, count, group)
    elif count > 0 and fields(state, HEADER).player != CHANCE:
        count = offered(game, inner, position, actions, count)
    leave(state, plies)
    if count < 0:
        fields(state, HEADER).player = FAILED
        return np.int64(0)
    return count


@kernel()
def only_of(game, inner, position, actions, count, group):
    """Keeps the actions of a group; returns their number."""
    if group == game.whole:
        return count
    kept = np.int64(0)
    for i in range(count):
        action = np.int64(actions[i])
        actions[kept] = action
        kept += np.int64(game.groups_of(inner, position, game.memory, action) >> np.uint64(group) & U1)
    return kept


@kernel()
def offered(game, inner, position, actions, count):
    """Replaces the legal actions of the game inside by what the mover may do before a pick; returns their number.

    -1 where an action has no group.
    """
    sizes, single = stack_array(U64, COUNT), stack_array(U64, COUNT)
    for group in range(game.groups):
        sizes[group] = 0
    for i in range(count):
        bits = game.groups_of(inner, position, game.memory, np.int64(actions[i]))
        if bits & ((U1 << np.uint64(game.groups)) - U1) == U0:
            return np.int64(-1)
        for group in range(game.groups):
            if bits >> np.uint64(group) & U1 != U0:
                sizes[group] += 1
                single[group] = actions[i]
    # A group with every action is picked as the last of its kind, or as the one that is known to have all.
    last = np.int64(game.whole)
    for group in range(game.groups if last < 0 else 0):
        last = np.int64(group) if sizes[group] == count else last
    listed = np.int64(0)
    for group in range(game.groups):
        listed += sizes[group] > 0 and (sizes[group] < count or group == last)
    if listed <= 1:
        return count
    listed = np.int64(0)
    for group in range(game.groups):
        if sizes[group] == 1:
            listed = insert(actions, listed, single[group])
    for group in range(game.groups):
        if sizes[group] > 1 and (sizes[group] < count or group == last):
            actions[listed] = game.actions + group
            listed += 1
    return listed


@kernel()
def insert(actions, count, action):
    """Puts an action into an ascending list if it is not there; returns the length of the list."""
    place = count
    while place > 0 and actions[place - 1] > action:
        place -= 1
    if place > 0 and actions[place - 1] == action:
        return count
    for i in range(count, place, -1):
        actions[i] = actions[i - 1]
    actions[place] = action
    return count + 1


@kernel(PLAY)
def play(config, state, action):
    """Picks a group, or makes a move of the game inside."""
    game, s, pick = inside_of(config), fields(state, HEADER), pick_of(state)
    if action >= game.actions:
        pick.group = action - game.actions
        s.ply += 1
        return
    plies = enter(state)
    game.play(config[: game.config_bytes], state[: state.size - PICK_BYTES], action)
    leave(state, plies + 1)
    pick.group = -1


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes the payoffs of the game inside."""
    game, plies = inside_of(config), enter(state)
    game.payoffs(config[: game.config_bytes], state[: state.size - PICK_BYTES], out)
    leave(state, plies)


@kernel(KEY)
def key(config, state, words):
    """Writes the key of the game inside, what the groups depend on besides, and the group picked with the game's plies.

    The moves of a group that holds all depend on nothing else, but the groups of the positions behind them may.
    """
    game, pick = inside_of(config), pick_of(state)
    inner, position = config[: game.config_bytes], state[: state.size - PICK_BYTES]
    own, others = np.uint64(game.key_words), np.uint64(game.group_words)
    plies = enter(state)
    game.key(inner, position, words[:own])
    for i in range(others):
        words[own + i] = U0
    if others > U0 and fields(state, HEADER).player >= 0:
        if pick.group >= 0 and pick.group == game.whole:
            game.later_key(inner, position, game.memory, words[own : own + others])
        else:
            game.group_key(inner, position, game.memory, words[own : own + others])
    leave(state, plies)
    words[own + others] = np.uint64(pick.group + 1) | np.uint64(pick.ply) << np.uint64(8)


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays a random move of the group picked, if there is one, and then the playout of the game inside."""
    game, s, pick = inside_of(config), fields(state, HEADER), pick_of(state)
    inner, position = config[: game.config_bytes], state[: state.size - PICK_BYTES]
    played = np.int64(0)
    if pick.group >= 0:
        action = playout_action(config, state, rng)
        if trace.size > 0:
            trace[0] = move_of(s.player, action)
        play(config, state, action)
        played = np.int64(1)
        if s.player < 0 or trace.size == 1:
            return played
    plies = enter(state)
    count = np.int64(game.playout(inner, position, rng, trace[played if trace.size > 0 else 0 :]))
    leave(state, plies + count)
    return played + count


@kernel(LEGAL_ACTIONS)
def playout_actions(config, state, actions):
    """Lists the moves of the game's random policy, of the group picked only; all moves of that where the policy has none."""
    game, group = inside_of(config), np.int64(pick_of(state).group)
    inner, position = config[: game.config_bytes], state[: state.size - PICK_BYTES]
    plies = enter(state)
    count = np.int64(game.playout_actions(inner, position, actions[: game.actions]))
    if count > 0 and group >= 0:
        count = only_of(game, inner, position, actions, count, group)
        if count == 0:
            count = np.int64(game.legal_actions(inner, position, actions[: game.actions]))
            count = only_of(game, inner, position, actions, count, group)
    leave(state, plies)
    return count


@kernel(IS_LEGAL)
def is_playable(config, state, action):
    """Returns whether the random policy of the game inside may play a move, which must be of the group picked."""
    game = inside_of(config)
    return holds(game.is_playable, game, config, state, action)


@kernel(IS_LEGAL)
def is_move(config, state, action):
    """Returns whether a move is legal in the game inside, and of the group picked if there is one."""
    game = inside_of(config)
    return holds(game.is_legal, game, config, state, action)


@kernel()
def holds(allows, game, config, state, action):
    """Returns whether a kernel of the game inside allows a move, which must be of the group picked."""
    group = np.int64(pick_of(state).group)
    inner, position = config[: game.config_bytes], state[: state.size - PICK_BYTES]
    if action < 0 or action >= game.actions:
        return False
    plies = enter(state)
    found = bool(allows(inner, position, action))
    if found and group >= 0 and group != game.whole:
        found = game.groups_of(inner, position, game.memory, action) >> np.uint64(group) & U1 != U0
    leave(state, plies)
    return found


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns a pick for a move of the random policy, or a move of the group picked, so that all moves are equally probable.

    A move is drawn, and then one of its groups. Behind a pick a move of n groups is drawn n times less often.
    """
    game, group = inside_of(config), np.int64(pick_of(state).group)
    inner, position = config[: game.config_bytes], state[: state.size - PICK_BYTES]
    actions = stack_array(game.actions + game.groups + SLACK, ACTION)
    if group >= 0:
        count = np.uint64(max(playout_actions(config, state, actions), 1))
        action = np.int64(actions[below(rng, count)])
        for _ in range(TRIES):
            plies = enter(state)
            shared = popcount(game.groups_of(inner, position, game.memory, action))
            leave(state, plies)
            if below(rng, np.uint64(max(shared, 1))) == U0:
                break
            action = np.int64(actions[below(rng, count)])
        return action
    plies = enter(state)
    action = np.int64(game.playout_action(inner, position, rng))
    if action < 0 or action >= game.actions or fields(state, HEADER).player == CHANCE:
        leave(state, plies)
        return action
    bits = game.groups_of(inner, position, game.memory, action)
    leave(state, plies)
    listed = legal_actions(config, state, actions[: game.actions + game.groups])
    places, found = np.int64(0), action
    for i in range(listed):
        choice = np.int64(actions[i])
        holds = choice == action or (choice >= game.actions and bits >> np.uint64(choice - game.actions) & U1 != U0)
        if holds:
            places += 1
            if places == 1 or below(rng, np.uint64(places)) == U0:
                found = choice
    return found


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes the planes of the game inside, then one for each group: ones for the group picked."""
    game, pick = inside_of(config), pick_of(state)
    seen = stack_array(game.cells * game.planes + SLACK, BYTE)
    plies = enter(state)
    game.observe(config[: game.config_bytes], state[: state.size - PICK_BYTES], player, seen[: game.cells * game.planes])
    leave(state, plies)
    each = game.planes + game.groups
    for cell in range(game.cells):
        for plane in range(game.planes):
            planes[cell * each + plane] = seen[cell * game.planes + plane]
        for group in range(game.groups):
            planes[cell * each + game.planes + group] = pick.group == group


@kernel(DRAW)
def draw(config, state, rng):
    """Draws an outcome as the game inside does."""
    game, plies = inside_of(config), enter(state)
    action = game.draw(config[: game.config_bytes], state[: state.size - PICK_BYTES], rng)
    leave(state, plies)
    return action


@kernel(PROBABILITY)
def probability(config, state, action):
    """Returns the probability of an outcome of the game inside."""
    game, plies = inside_of(config), enter(state)
    chance = game.probability(config[: game.config_bytes], state[: state.size - PICK_BYTES], action)
    leave(state, plies)
    return chance


@kernel(types.int64(BYTES, BYTES, RNG, types.int64))
def find_ungrouped(config, state, rng, most):
    """Plays `most` random moves of the game inside, from its start; returns a legal move without a group, or -1.

    One that is not in the group that should hold all is returned as its number and that of all actions.
    """
    game = inside_of(config)
    inner, position = config[: game.config_bytes], state[: state.size - PICK_BYTES]
    actions = stack_array(game.actions + SLACK, ACTION)
    game.reset(inner, position)
    for _ in range(most):
        if fields(state, HEADER).player < 0:
            break
        count = game.legal_actions(inner, position, actions[: game.actions])
        if fields(state, HEADER).player == CHANCE:
            game.play(inner, position, game.draw(inner, position, rng))
            continue
        for i in range(count):
            bits = game.groups_of(inner, position, game.memory, np.int64(actions[i]))
            if bits & ((U1 << np.uint64(game.groups)) - U1) == U0:
                return np.int64(actions[i])
            if game.whole >= 0 and bits >> np.uint64(game.whole) & U1 == U0:
                return np.int64(actions[i]) + game.actions
        game.play(inner, position, np.int64(actions[below(rng, np.uint64(max(count, 1)))]))
    return np.int64(-1)
