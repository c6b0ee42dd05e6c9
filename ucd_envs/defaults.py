"""Default kernels that a game may leave out. Compiled once for all games, they call the game's own kernels by address.

The addresses are the last bytes of the `config` vector, a binding of LINKS. A faulty game ends a playout with the player
FAILED. A game is faulty if its random policy names no action or one outside 0 ... actions - 1, or if it passes `max_plies`.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.core.types import FunctionType

from ucd_envs.bindings import BindingType, reader
from ucd_envs.kernels import (
    CHANCE,
    DRAW,
    FAILED,
    HEADER,
    IS_LEGAL,
    KEY,
    LEGAL_ACTIONS,
    OBSERVE,
    PLAY,
    PLAYOUT,
    PLAYOUT_ACTION,
    PROBABILITY,
    kernel,
    most_moves,
    move_of,
)
from ucd_envs.rng import below, unit
from ucd_envs.structs import fields, stack_array

LINKS = BindingType(
    "links",
    {
        "legal_actions": FunctionType(LEGAL_ACTIONS),
        "play": FunctionType(PLAY),
        "key": FunctionType(KEY),
        "playout_actions": FunctionType(LEGAL_ACTIONS),
        "playout_action": FunctionType(PLAYOUT_ACTION),
        "draw": FunctionType(DRAW),
        "probability": FunctionType(PROBABILITY),
        "has_playout_action": types.int64,
        "has_draw": types.int64,
        "has_probability": types.int64,
        "actions": types.int64,
        "key_words": types.int64,
        "max_plies": types.int64,
    },
)
"""Kernels of a game and sizes from `Rules`. `has_`: whether the game has such a kernel of its own."""
LINK_BYTES = 8 * LINKS.words
links_at = reader(LINKS)
ACTION, WORD = np.dtype(np.int32), np.dtype(np.uint64)
SLACK = 64
"""Spare entries of a list, which make small faults of an unchecked game harmless."""


@kernel(inline=True)
def links_of(config):
    """Returns the binding at the end of a configuration."""
    return links_at(config[config.size - LINK_BYTES :])


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether the action is legal."""
    links = links_of(config)
    return found_in(links.legal_actions, links.actions, config, state, action)


@kernel(IS_LEGAL)
def is_playable(config, state, action):
    """Returns whether the random policy may play the action."""
    links = links_of(config)
    return found_in(links.playout_actions, links.actions, config, state, action)


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays moves of the random policy one by one."""
    links, s = links_of(config), fields(state, HEADER)
    actions = stack_array(links.actions + SLACK, ACTION)
    played, most = np.int64(0), most_moves(trace)
    while s.player >= 0 and played < most:
        action = drawn(links, actions, config, state, rng)
        if action < 0 or action >= links.actions or s.ply >= links.max_plies:
            s.player = FAILED
            break
        if trace.size > 0:
            trace[played] = move_of(s.player, action)
        links.play(config, state, action)
        played += 1
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns one action of the random policy, drawn uniformly, or -1 where there is none."""
    links = links_of(config)
    return one_of(links, stack_array(links.actions + SLACK, ACTION), config, state, rng)


@kernel(DRAW)
def draw(config, state, rng):
    """Returns an outcome drawn by the game's probabilities, or -1 where they are not above 0."""
    links = links_of(config)
    return outcome_of(links, stack_array(links.actions + SLACK, ACTION), config, state, rng)


@kernel(PROBABILITY)
def probability(config, state, action):
    """Returns 0 for every outcome: the game does not know its probabilities."""
    return 0.0


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes the bits of the key, the lowest of each word first, the same for all players."""
    links = links_of(config)
    words = stack_array(links.key_words + SLACK, WORD)
    links.key(config, state, words[: links.key_words])
    for i in range(planes.size):
        planes[i] = (words[i // 64] >> np.uint64(i % 64)) & np.uint64(1)


@kernel()
def found_in(listing, room, config, state, action):
    """Returns whether a kernel lists the action."""
    actions = stack_array(room + SLACK, ACTION)
    count = listing(config, state, actions[:room])
    found = False
    for i in range(min(count, room)):
        found = found or actions[i] == action
    return found


@kernel()
def drawn(links, actions, config, state, rng):
    """Returns an outcome of chance, or one action of the random policy, by the game's own kernel where it has one."""
    if fields(state, HEADER).player == CHANCE:
        if links.has_draw:
            return links.draw(config, state, rng)
        return outcome_of(links, actions, config, state, rng)
    if links.has_playout_action:
        return links.playout_action(config, state, rng)
    return one_of(links, actions, config, state, rng)


@kernel()
def outcome_of(links, actions, config, state, rng):
    """Returns an outcome drawn by the game's probabilities, or -1 where they are not above 0."""
    count, total = links.legal_actions(config, state, actions[: links.actions]), 0.0
    if not links.has_probability or count < 1 or count > links.actions:
        return np.int64(-1)
    for i in range(count):
        total += links.probability(config, state, np.int64(actions[i]))
    left, found = total * unit(rng), np.int64(-1)
    for i in range(count):
        chance = links.probability(config, state, np.int64(actions[i]))
        # Rounding may leave a little at the end, which goes to the last outcome that is possible.
        if chance > 0.0 and left >= 0.0:
            found = np.int64(actions[i])
        left -= chance
    return found


@kernel()
def one_of(links, actions, config, state, rng):
    """Returns one of the actions that the random policy lists, drawn uniformly, or -1 where there is none."""
    count = links.playout_actions(config, state, actions[: links.actions])
    if count < 1 or count > links.actions:
        return np.int64(-1)
    return np.int64(actions[below(rng, np.uint64(count))])
