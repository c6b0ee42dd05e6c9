"""Kernels of Python games whose states hold their moves: they call back into Python.

A state is the game's history. Python keeps one live position a thread. A token, a hash of the history, tells it which position
a call is about. A simulation goes down move by move, so that the live position is nearly always the right one already;
otherwise it is copied from the root of the search, or played again from the start of the game.

What follows a move lies in the state too: the payoffs at the end, or the outcomes of a chance node with their probabilities.
An exception in a callback is stored: the state's player becomes FAILED, the search stops, and the planner raises it.
"""

from __future__ import annotations

import ctypes

import numpy as np
from numba import types

from ucd_envs.interface import Kernels
from ucd_envs.kernels import (
    CHANCE,
    FAILED,
    KEY,
    LEGAL_ACTIONS,
    PLAY,
    PLAYOUT,
    PROBABILITY,
    READ_PAYOFFS,
    RESET,
    action_of_move,
    kernel,
    most_moves,
)
from ucd_envs.rng import draw
from ucd_envs.structs import array_at, c_function, fields, record, stack_array
from ucd_envs.tables import HASH

CONFIG = record(
    ("legal_actions", np.uint64),
    ("play", np.uint64),
    ("position", np.uint64),
    ("playout", np.uint64),
    ("start", np.uint64),
    ("players", np.int64),
    ("numbers", np.int64),
    ("outcomes", np.int64),
    ("max_plies", np.int64),
)
"""Addresses of the callbacks and of the first state; sizes of the blocks behind a state's record."""
STATE = record(("player", np.int32), ("ply", np.int32), ("token", np.uint64), ("listed", np.int64))
"""Fields of a state. `token`: a hash of the history; `listed`: the number of outcomes, 0 but at a chance node. Three blocks
follow: [numbers] float64, the probabilities or the payoffs; [outcomes] int32; [max_plies] uint16, the history."""
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64)
"""A callback: token, number, address of the state, and address of what it writes or reads, or the token that follows."""
REAL, OUTCOME, MOVE, WORD = np.dtype(np.float64), np.dtype(np.int32), np.dtype(np.uint16), np.dtype(np.uint64)
PIECE = 128
"""Most random moves of a callback."""
LAST = 2**32
"""Added to the action of the last ply that a game may have."""
call = c_function(types.int64(types.uint64, types.int64, types.uint64, types.uint64))
U1, U4, U8, U32 = (np.uint64(n) for n in (1, 4, 8, 32))
RECORD_BYTES = np.uint64(STATE.itemsize)
LOW = np.int64(0xFFFFFFFF)


@kernel(inline=True)
def numbers(c, state):
    """[numbers] float64: the payoffs of a finished game, or the probabilities of the outcomes."""
    return array_at(np.uint64(state.ctypes.data) + RECORD_BYTES, (c.numbers,), REAL)


@kernel(inline=True)
def outcomes(c, state):
    """[outcomes] int32: the actions of a chance node, ascending."""
    return array_at(np.uint64(state.ctypes.data) + RECORD_BYTES + np.uint64(c.numbers) * U8, (c.outcomes,), OUTCOME)


@kernel(inline=True)
def history(c, state):
    """[max_plies] uint16: the actions from the start of the game, outcomes among them."""
    before = RECORD_BYTES + np.uint64(c.numbers) * U8 + np.uint64(c.outcomes) * U4
    return array_at(np.uint64(state.ctypes.data) + before, (c.max_plies,), MOVE)


@kernel()
def token_after(token, action):
    """Returns the token of a history with one more action."""
    return (token ^ (np.uint64(action) + U1)) * HASH


@kernel()
def clear(c, s, state):
    """Forgets the outcomes of a chance node."""
    for i in range(s.listed):
        numbers(c, state)[i] = 0.0
        outcomes(c, state)[i] = 0
    s.listed = 0


@kernel(RESET)
def reset(config, state):
    """Copies the first state."""
    first = array_at(fields(config, CONFIG).start, (state.size,), np.dtype(np.uint8))
    for i in range(state.size):
        state[i] = first[i]


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Copies the outcomes that lie in the state, or lets the callback write the legal actions."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player == CHANCE:
        for i in range(s.listed):
            actions[i] = outcomes(c, state)[i]
        return s.listed
    if s.player < 0:
        return np.int64(0)
    count = call(c.legal_actions, s.token, s.ply, np.uint64(state.ctypes.data), np.uint64(actions.ctypes.data))
    if count < 0:
        s.player = FAILED
        return np.int64(0)
    return count


@kernel(PLAY)
def play(config, state, action):
    """Steps the live position and appends the action."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player == FAILED:
        return
    clear(c, s, state)
    after, last = token_after(s.token, action), LAST if s.ply + 1 >= c.max_plies else 0
    answer = call(c.play, s.token, action + last, np.uint64(state.ctypes.data), after)
    if answer < 0:
        s.player = FAILED
        return
    history(c, state)[s.ply] = action
    s.token = after
    s.ply += 1
    s.player = answer - 1


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Copies the payoffs that lie in the state."""
    c = fields(config, CONFIG)
    for player in range(c.players):
        out[player] = numbers(c, state)[player]


@kernel(KEY)
def key(config, state, words):
    """Lets the callback write a digest of the position."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if call(c.position, s.token, s.ply, np.uint64(state.ctypes.data), np.uint64(words.ctypes.data)) < 0:
        s.player = FAILED


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays random moves, up to PIECE in one callback, which finds random words and leaves moves in their place."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    words, line = stack_array(PIECE, WORD), history(c, state)
    played, most = np.int64(0), most_moves(trace)
    while s.player >= 0 and played < most:
        clear(c, s, state)
        piece = min(np.int64(PIECE), most - played, c.max_plies - s.ply)
        first, second = rng[0], rng[1]
        for i in range(piece):
            words[i] = draw(rng) >> U32
        rng[0], rng[1] = first, second
        answer = call(c.playout, s.token, piece, np.uint64(state.ctypes.data), np.uint64(words.ctypes.data))
        if answer < 0:
            s.player = FAILED
            break
        count = answer & LOW
        for i in range(count):
            draw(rng)
            action = action_of_move(np.int64(words[i]))
            if trace.size > 0:
                trace[played + i] = words[i]
            line[s.ply + i] = action
            s.token = token_after(s.token, action)
        played += count
        s.ply += np.int32(count)
        s.player = (answer >> 32) - 1
    return played


@kernel(PROBABILITY)
def probability(config, state, action):
    """Returns the probability of an outcome that lies in the state, 0 for any other."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    for i in range(s.listed):
        if outcomes(c, state)[i] == action:
            return numbers(c, state)[i]
    return 0.0


def kernels(chance: bool) -> Kernels:
    """Returns the kernels of a game, with probabilities of outcomes where it has chance."""
    return Kernels(*(reset, legal_actions, play, payoffs, key), playout=playout, probability=probability if chance else None)
