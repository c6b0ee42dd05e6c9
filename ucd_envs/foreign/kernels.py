"""Kernels of games that are Python objects: they call back into Python.

There is one live game. A state of it is either the root or the present position of the live game; the present position is never
copied. A simulation goes to the root at its first move and steps the live game from there.

A step of the live game may draw random numbers. Where that has been seen, every step leads to a position of CHANCE, though the
outcome has come: the state holds its number and the player after it, and the search goes on to it as to one that was drawn.

An exception in a callback is stored: the state's player becomes FAILED, the search stops, and the planner raises the
exception.
"""

from __future__ import annotations

import ctypes

import numpy as np
from numba import types

from ucd_envs.interface import Kernels
from ucd_envs.kernels import (
    CHANCE,
    DRAW,
    FAILED,
    IS_LEGAL,
    KEY,
    LEGAL_ACTIONS,
    OVER,
    PLAY,
    PLAYOUT,
    PLAYOUT_ACTION,
    READ_PAYOFFS,
    RESET,
    kernel,
    most_moves,
    move_of,
)
from ucd_envs.rng import below, draw
from ucd_envs.structs import array_at, c_function, fields, record

LIVE, PAID = -1, -2
CONFIG = record(
    ("legal_actions", np.uint64),
    ("play", np.uint64),
    ("position", np.uint64),
    ("payoffs", np.uint64),
    ("playout", np.uint64),
    ("numbers", np.uint64),
    ("bits", np.uint64),
    ("shares", np.uint64),
    ("room", np.int64),
    ("max_plies", np.int64),
    ("outcomes", np.int64),
    ("epoch", np.uint64),
)
"""Addresses of the callbacks and of their buffers: actions, random bits, payoffs, [room] each. `max_plies`:
steps from the root. `outcomes`: the most that are kept apart after a step, 0 where steps have no chance."""
STATE = record(
    ("player", np.int32),
    ("ply", np.int32),
    ("place", np.int64),
    ("steps", np.int32),
    ("following", np.int32),
    ("outcome", np.int64),
)
"""Fields of a state. `ply` counts from the first root of a numbering of positions. `place` is the number of the root, LIVE,
or PAID when the payoffs are also written. `steps` counts from the root. `following` and `outcome`: the player after the last
step and the number of its outcome, where steps have chance."""
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
NUMBER, WORD, REAL = np.dtype(np.int32), np.dtype(np.uint64), np.dtype(np.float64)
call = c_function(types.int64(types.int64, types.int64))
U32 = np.uint64(32)
LOW = np.int64(0xFFFFFFFF)


@kernel(RESET)
def reset(config, state):
    """Writes the root, the last position to which the game was reset. Only a state made by the game itself is valid."""
    s = fields(state, STATE)
    s.player = OVER
    s.ply = 0
    s.place = LIVE
    s.steps = 0
    s.following = OVER
    s.outcome = 0


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Copies the actions that the callback has written, or lists the numbers of outcomes."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0:
        return 0
    if s.player == CHANCE:
        for i in range(c.outcomes):
            actions[i] = i
        return c.outcomes
    count = call(c.legal_actions, s.place, 0)
    if count < 0:
        s.player = FAILED
        return 0
    numbers = array_at(c.numbers, (c.room,), NUMBER)
    for i in range(count):
        actions[i] = numbers[i]
    return count


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether the action is legal."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0:
        return False
    if s.player == CHANCE:
        return 0 <= action < c.outcomes
    numbers = array_at(c.numbers, (c.room,), NUMBER)
    found = False
    for i in range(call(c.legal_actions, s.place, 0)):
        found = found or numbers[i] == action
    return found


@kernel(PLAY)
def play(config, state, action):
    """Steps the live game, from the root if the state is the root; or goes on to the outcome that the last step had."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player == FAILED:
        return
    s.ply += 1
    if s.player == CHANCE:
        s.player = s.following if action == s.outcome else FAILED
        return
    answer = call(c.play, s.place, action)
    s.place = LIVE
    if answer < 0:
        s.player = FAILED
        return
    s.steps += 1
    player = (answer & LOW) - 1
    if s.steps >= c.max_plies:
        player = np.int64(OVER)
    if c.outcomes > 0:
        s.following = player
        s.outcome = answer >> 32
        player = np.int64(CHANCE)
    s.player = player


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Copies the payoffs that the callback has written."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player == FAILED or (s.place != PAID and call(c.payoffs, s.place, 0) < 0):
        s.player = FAILED
        return
    shares = array_at(c.shares, (c.room,), REAL)
    for player in range(out.size):
        out[player] = shares[player]


@kernel(KEY)
def key(config, state, words):
    """Writes the number of the position among those seen, and the number of the numbering.

    A position before an outcome is named has a number of its own each time: it can only be reached by its one move.
    """
    c, s = fields(config, CONFIG), fields(state, STATE)
    number = np.int64(-1)
    if s.player != FAILED and c.room > 0:
        number = call(c.position, s.place, -1 if s.player == CHANCE else s.ply)
    if number < 0:
        s.player = FAILED
        number = np.int64(0)
    words[0] = np.uint64(number)
    words[1] = c.epoch


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays random steps in one callback, which receives as many random words as it can need."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    known = np.int64(0)
    if s.player == CHANCE:
        known = np.int64(1)
        if trace.size > 0:
            trace[0] = move_of(CHANCE, min(s.outcome, c.outcomes - 1))
        s.ply += 1
        s.player = s.following
        if s.player == OVER or most_moves(trace) == 1:
            return known
    bits = array_at(c.bits, (c.room,), WORD)
    first, second = rng[0], rng[1]
    most = min(c.max_plies - s.steps, most_moves(trace) - known)
    for i in range(most):
        bits[i] = draw(rng) >> U32
    rng[0], rng[1] = first, second
    answer = np.int64(-1) if s.player == FAILED else call(c.playout, s.place, most)
    if answer < 0:
        s.player = FAILED
        return 0
    played = answer & LOW
    numbers = array_at(c.numbers, (c.room,), NUMBER)
    for i in range(played):
        draw(rng)
        if trace.size > 0:
            trace[known + i] = numbers[i]
    s.ply += np.int32(played)
    s.steps += np.int32(played)
    player = (answer >> 32) - 1
    s.player = OVER if s.steps == c.max_plies else player
    s.place = PAID if player == OVER else LIVE
    return known + played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns a legal action, drawn uniformly, or -1 when the callback has failed."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    count = np.int64(-1) if s.player == FAILED else call(c.legal_actions, s.place, 0)
    if count <= 0:
        s.player = FAILED
        return np.int64(-1)
    return np.int64(array_at(c.numbers, (c.room,), NUMBER)[below(rng, np.uint64(count))])


@kernel(DRAW)
def outcome(config, state, rng):
    """Returns the outcome of the last step, -1 for one beyond those that are kept apart."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    return np.int64(s.outcome if s.outcome < c.outcomes else -1)


def kernels(chance: bool) -> Kernels:
    """Returns the kernels of a game; chance: whether its steps have been seen to draw random numbers."""
    own = (reset, legal_actions, play, payoffs, key)
    draws = outcome if chance else None
    return Kernels(*own, is_legal=is_legal, playout=playout, playout_action=playout_action, draw=draws)
