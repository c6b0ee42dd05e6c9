"""Knightthrough, Breakthrough with knights.

Board    rows x columns cells, 8x8 by default; row 0 is the bottom. The knights of player 0 fill the first `filled` rows, and
         those of player 1 the last ones.
Players  two; player 0 moves up and begins, player 1 moves down.
Turn     a knight jumps as in chess, but ahead only: one row ahead and two columns aside, or two rows ahead and one column
         aside, to an empty cell or onto a knight of the other player, which is removed. A side with knights always has a
         move: on four columns or more its foremost knight can jump one row ahead, where no own knight stands.
End      a player wins with a knight on its last row or, with `elimination`, by taking the last knight of the other. Without
         `elimination` a side without knights passes until the other reaches its last row. There are no draws.
Moves    4 * cell + way, with cell = row * columns + column; the ways are ordered by the target's column: 2 lower, 1 lower,
         1 higher, 2 higher. Written as both cells, "b1c3". The last action is "pass", without `elimination` only.
Source   the rulesheet of the General Game Playing competitions, as the Dresden server had it in 2010.

choice              here                                    elsewhere
no knights left     loses: `elimination`                    no end and no move in the rulesheet of 2010; loses since 2013
filled rows         2 a side from 6 rows on, else 1         2, on 8x8 only
columns             4 or more: on 3 a knight can be stuck   8
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
from ucd_envs.settings import boolean
from ucd_envs.structs import configuration, fields

WAYS, STEPS = 4, ((-2, 1), (-1, 2), (1, 2), (2, 1))
"""Number of ways, and the columns and rows that each goes for player 0."""
LEAST_COLUMNS, LONGEST = 4, 2
"""Columns on which no side with knights is stuck, and most rows of a jump."""

CONFIG = forward.CONFIG
STATE = forward.STATE


@kernel(RESET)
def reset(config, state):
    """Sets up both sides."""
    forward.set_up(fields(config, CONFIG), fields(state, STATE))


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists the jumps of all knights, or the pass of a side without any."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0:
        return 0
    if s.pieces[s.player] == ZERO:
        actions[0] = c.pass_action
        return 1
    return list_moves(ways_of(c, s.player, s.pieces[s.player]), actions)


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether the mover's knight can jump that way, or passes for want of one."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0 or action < 0 or action > c.pass_action:
        return False
    if action == c.pass_action:
        return s.pieces[s.player] == ZERO
    return has(ways_of(c, s.player, s.pieces[s.player])[action % WAYS], action // WAYS)


@kernel(PLAY)
def play(config, state, action):
    """Moves a knight, if it is no pass. The game is over when the mover has won."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    side, rival = np.uint64(s.player), np.uint64(1 - s.player)
    s.ply += 1
    if action != c.pass_action:
        own, other = moved(c, side, action % WAYS, action // WAYS, s.pieces[side], s.pieces[rival])
        s.pieces[side], s.pieces[rival] = own, other
    s.player = OVER if is_won(c, side, s.pieces[side], s.pieces[rival]) else 1 - s.player


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 for the player who moved last and 0 for the other."""
    s = fields(state, STATE)
    out[s.ply % 2], out[1 - s.ply % 2] = 0.0, 1.0


@kernel(KEY)
def key(config, state, words):
    """Writes the knights of both sides and the mover."""
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
        action, side = c.pass_action, np.uint64(player)
        if own:
            bits, a, b = stepped(a, b)
            way, cell = chosen(ways_of(c, player, own), bits)
            action = WAYS * cell + way
            own, other = moved(c, side, way, cell, own, other)
            over = is_won(c, side, own, other)
        if trace.size > 0:
            trace[played] = move_of(player, action)
        own, other, player, played = other, own, 1 - player, played + 1
    rng[0], rng[1] = a, b
    s.pieces[player], s.pieces[1 - player] = own, other
    s.player, s.ply = OVER if over else player, s.ply + played
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns a move drawn uniformly."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.pieces[s.player] == ZERO:
        return c.pass_action
    way, cell = chosen(ways_of(c, s.player, s.pieces[s.player]), draw(rng))
    return WAYS * cell + way


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes own knights, the other's knights, and whether the observer is to move, the bottom row first."""
    forward.write_planes(fields(config, CONFIG), fields(state, STATE), player, planes)


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether the knights can have come where they are in turn, and the game is over when they say so."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    last, rival = np.uint64((s.ply + 1) % 2), np.uint64(s.ply % 2)
    # The side that moved last has a knight, or has passed before one of the other.
    if s.pieces[last] == ZERO and (c.elimination or s.pieces[rival] == ZERO):
        return False
    over = is_won(c, last, s.pieces[last], s.pieces[rival])
    return forward.is_possible(c, s, LONGEST, False) and s.player == (OVER if over else s.ply % 2)


@kernel()
def ways_of(c, player, own):
    """Returns the knights that can jump in each way."""
    side = np.uint64(player)
    return (
        movable(c, side, 0, own, ~own),
        movable(c, side, 1, own, ~own),
        movable(c, side, 2, own, ~own),
        movable(c, side, 3, own, ~own),
    )


def rules(rows: int = 8, columns: int = 8, filled: int | None = None, elimination: bool = True) -> Rules:
    """Knightthrough on `rows` x `columns` cells, 2 or more rows and 4 or more columns, rows * columns <= 64.

    filled: rows that a side fills, 1 or 2; by default 2 from 6 rows on, else 1. elimination: whether a side without knights
    loses. Raises ValueError for other sizes, and for two filled rows on fewer than four.
    """
    rows, columns = forward.checked_size(rows, columns, 2, LEAST_COLUMNS)
    filled = forward.checked_filled(filled, rows)
    elimination = boolean("elimination", elimination)
    names = forward.Names(rows, columns, STEPS)
    before_last = columns * sum(rows - 2 - row for row in range(filled))
    return Rules(
        name="knightthrough_v0",
        settings={"rows": rows, "columns": columns, "filled": filled, "elimination": elimination},
        players=2,
        actions=WAYS * rows * columns + (not elimination),
        # Player 1 makes the last move where player 0 passes to the end.
        max_plies=2 * before_last + (1 if elimination else 2),
        config=configuration(CONFIG, **forward.constants(rows, columns, range(filled), STEPS, elimination)),
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
        why_illegal=lambda action: "no knight of the mover can go there",
        layout=STATE,
        validate=validate,
        symmetries=forward.symmetries_of(rows, columns, range(WAYS)[::-1], not elimination),
    )


EXAMPLES: tuple[dict[str, Any], ...] = (
    {},
    {"rows": 5, "columns": 4},
    {"rows": 5, "columns": 4, "elimination": False},
    {"rows": 8, "columns": 4, "elimination": False},
)
"""Configurations for the shared tests."""
