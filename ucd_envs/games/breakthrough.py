"""Breakthrough.

Board    rows x columns cells, 8x8 by default; row 0 is the bottom. The pieces of player 0 fill the first `filled` rows, and
         those of player 1 the last ones.
Players  two; player 0 moves up and begins, player 1 moves down.
Turn     a piece goes one row ahead: straight or diagonally to an empty cell, or diagonally onto a piece of the other player,
         which is removed. There is always a move: the foremost piece has a diagonal without an own piece.
End      a player wins with a piece on its last row, or by taking the last piece of the other. There are no draws.
Moves    3 * cell + 0 for the diagonal to the lower column, 1 for straight ahead, 2 for the diagonal to the higher column, with
         cell = row * columns + column; written as both cells, "a2a3".
Source   Dan Troyka, 2000; the rulesheet of the General Game Playing competitions.

choice            here                                     elsewhere
filled rows       2 a side from 6 rows on, else 1          the same in OpenSpiel; 2 on 8x8 in the rulesheet
sides             player 0 below                           player 0 above in OpenSpiel
size              rows * columns <= 64, 2 or more each     any
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards import forward
from ucd_envs.boards.bits import ZERO, has
from ucd_envs.boards.forward import chosen, is_won, list_moves, movable, moved, write_key
from ucd_envs.interface import Kernels
from ucd_envs.kernels import (
    IS_LEGAL,
    KEY,
    LEGAL_ACTIONS,
    OBSERVE,
    OVER,
    PLAY,
    PLAYOUT,
    PLAYOUT_ACTION,
    READ_PAYOFFS,
    RESET,
    VALIDATE,
    kernel,
    most_moves,
    move_of,
)
from ucd_envs.rng import draw, stepped
from ucd_envs.rules import Rules
from ucd_envs.structs import configuration, fields

LEFT, STRAIGHT, RIGHT = 0, 1, 2
WAYS, STEPS = 3, ((-1, 1), (0, 1), (1, 1))
"""Number of ways, and the columns and rows that each goes for player 0."""

CONFIG = forward.CONFIG
STATE = forward.STATE


@kernel(RESET)
def reset(config, state):
    """Sets up both sides."""
    forward.set_up(fields(config, CONFIG), fields(state, STATE))


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists the moves of all pieces."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0:
        return 0
    return list_moves(ways_of(c, s.player, s.pieces[s.player], s.pieces[1 - s.player]), actions)


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether the mover's piece can go that way."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0 or action < 0 or action >= WAYS * c.rows * c.columns:
        return False
    return has(ways_of(c, s.player, s.pieces[s.player], s.pieces[1 - s.player])[action % WAYS], action // WAYS)


@kernel(PLAY)
def play(config, state, action):
    """Moves a piece. The game is over when it reaches the last row or takes the last piece."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    side, rival = np.uint64(s.player), np.uint64(1 - s.player)
    own, other = moved(c, side, action % WAYS, action // WAYS, s.pieces[side], s.pieces[rival])
    s.pieces[side], s.pieces[rival] = own, other
    s.ply += 1
    s.player = OVER if is_won(c, side, own, other) else 1 - s.player


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 for the player who moved last and 0 for the other."""
    s = fields(state, STATE)
    out[s.ply % 2], out[1 - s.ply % 2] = 0.0, 1.0


@kernel(KEY)
def key(config, state, words):
    """Writes the pieces of both sides and the mover."""
    write_key(fields(config, CONFIG), fields(state, STATE), words)


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays random moves. Keeps the position in registers."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0:
        return 0
    played, most, over, player = np.int64(0), most_moves(trace), False, np.int64(s.player)
    own, other, a, b = s.pieces[player], s.pieces[1 - player], rng[0], rng[1]
    while not over and played < most:
        bits, a, b = stepped(a, b)
        way, cell = chosen(ways_of(c, player, own, other), bits)
        if trace.size > 0:
            trace[played] = move_of(player, WAYS * cell + way)
        side = np.uint64(player)
        own, other = moved(c, side, way, cell, own, other)
        over = is_won(c, side, own, other)
        own, other, player, played = other, own, 1 - player, played + 1
    rng[0], rng[1] = a, b
    s.pieces[player], s.pieces[1 - player] = own, other
    s.player, s.ply = OVER if over else player, s.ply + played
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns a move drawn uniformly."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    way, cell = chosen(ways_of(c, s.player, s.pieces[s.player], s.pieces[1 - s.player]), draw(rng))
    return WAYS * cell + way


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes own pieces, the other's pieces, and whether the observer is to move, the bottom row first."""
    forward.write_planes(fields(config, CONFIG), fields(state, STATE), player, planes)


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether the pieces can have come where they are in turn, and the game is over when they say so."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    last, rival = np.uint64((s.ply + 1) % 2), np.uint64(s.ply % 2)
    over = is_won(c, last, s.pieces[last], s.pieces[rival])
    return forward.is_possible(c, s, 1, False) and s.pieces[last] != ZERO and s.player == (OVER if over else s.ply % 2)


@kernel()
def ways_of(c, player, own, other):
    """Returns the pieces that can go left, straight and right."""
    side = np.uint64(player)
    return (
        movable(c, side, LEFT, own, ~own),
        movable(c, side, STRAIGHT, own, ~(own | other)),
        movable(c, side, RIGHT, own, ~own),
    )


def rules(rows: int = 8, columns: int = 8, filled: int | None = None) -> Rules:
    """Breakthrough on `rows` x `columns` cells, 2 or more each, rows * columns <= 64, columns <= 26.

    filled: rows that a side fills, 1 or 2; by default 2 from 6 rows on, else 1. Raises ValueError for other sizes, and for two
    filled rows on fewer than four.
    """
    rows, columns = forward.checked_size(rows, columns, 2, 2)
    filled = forward.checked_filled(filled, rows)
    names = forward.Names(rows, columns, STEPS)
    before_last = columns * sum(rows - 2 - row for row in range(filled))
    return Rules(
        name="breakthrough_v0",
        settings={"rows": rows, "columns": columns, "filled": filled},
        players=2,
        actions=WAYS * rows * columns,
        max_plies=2 * before_last + 1,
        config=configuration(CONFIG, **forward.constants(rows, columns, range(filled), STEPS)),
        state_bytes=STATE.itemsize,
        key_words=2,
        planes=(rows, columns, forward.PLANES),
        tiling="checkered",
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key),
            is_legal=is_legal,
            playout=playout,
            playout_action=playout_action,
            observe=observe,
        ),
        action_name=names.action_name,
        action_named=names.action_named,
        why_illegal=lambda action: "no piece of the mover can go there",
        layout=STATE,
        validate=validate,
        symmetries=forward.symmetries_of(rows, columns, (RIGHT, STRAIGHT, LEFT), 0),
    )


EXAMPLES: tuple[dict[str, Any], ...] = (
    {},
    {"rows": 4, "columns": 3},
    {"rows": 4, "columns": 2, "filled": 2},
    {"rows": 3, "columns": 21, "filled": 1},
)
"""Configurations for the shared tests."""
