"""Pawn Whopping, the pawns of chess alone.

Board    rows x columns cells, 8x8 by default; row 0 is the bottom. The pawns of player 0 (x in the rulesheet) fill the second
         row, those of player 1 (o) the last row but one.
Players  two; player 0 moves up and begins, player 1 moves down.
Turn     a pawn goes one row straight ahead to an empty cell, or diagonally ahead onto a pawn of the other player, which is
         removed. From its first row a pawn of player 0 may go two rows straight ahead if both cells are empty; one of player 1
         may so with `corrected` only. A side without a move passes, and may not pass otherwise.
End      a player wins with a pawn on its last row, or by taking the last pawn of the other. The game is a draw when neither
         side has a move.
Moves    4 * cell + 0 for a capture to the lower column, 1 for a step, 2 for a capture to the higher column, 3 for a double
         step, with cell = row * columns + column; written as both cells, "a2a4". The last action is "pass".
Source   the rulesheet of the General Game Playing competitions, as the Dresden server had it in 2010.

choice              here                                              elsewhere
double step of o    none: the rulesheet writes it for a wrong row     `corrected`: as x, in the rulesheet of 2012
en passant          none                                              as in chess
last row            wins                                              promotes in chess
size                rows * columns <= 64, 4 rows or more              8x8
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards import forward
from ucd_envs.boards.bits import ZERO, has
from ucd_envs.boards.forward import all_of, chosen, is_won, list_moves, movable, moved, rotated, write_key
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

LEFT, STEP, RIGHT, DOUBLE = 0, 1, 2, 3
WAYS, STEPS = 4, ((-1, 1), (0, 1), (1, 1), (0, 2))
"""Number of ways, and the columns and rows that each goes for player 0."""
HOME, LEAST_ROWS, LONGEST = 1, 4, 2
"""Row where player 0 begins, least rows of a board, and most rows of a move."""

CONFIG = forward.CONFIG
STATE = forward.STATE


@kernel(RESET)
def reset(config, state):
    """Sets up both sides."""
    forward.set_up(fields(config, CONFIG), fields(state, STATE))


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists the moves of all pawns, or the pass of a side that has none."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0:
        return 0
    count = list_moves(ways_of(c, s.player, s.pieces[s.player], s.pieces[1 - s.player]), actions)
    if count == 0:
        actions[0], count = c.pass_action, 1
    return count


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether the mover's pawn can go that way, or passes for want of a move."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0 or action < 0 or action > c.pass_action:
        return False
    ways = ways_of(c, s.player, s.pieces[s.player], s.pieces[1 - s.player])
    if action == c.pass_action:
        return all_of(ways) == ZERO
    return has(ways[action % WAYS], action // WAYS)


@kernel(PLAY)
def play(config, state, action):
    """Moves a pawn, if it is no pass. The game is over when the mover has won or neither side has a move."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    side, rival = np.uint64(s.player), np.uint64(1 - s.player)
    s.ply += 1
    if action != c.pass_action:
        own, other = moved(c, side, action % WAYS, action // WAYS, s.pieces[side], s.pieces[rival])
        s.pieces[side], s.pieces[rival] = own, other
    s.player = OVER if is_over(c, side, s.pieces[side], s.pieces[rival]) else 1 - s.player


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 for the player who moved last and 0 for the other, or 1/2 each where both are blocked."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    last, rival = np.uint64((s.ply + 1) % 2), np.uint64(s.ply % 2)
    won = is_won(c, last, s.pieces[last], s.pieces[rival])
    out[last], out[rival] = 1.0 if won else 0.5, 0.0 if won else 0.5


@kernel(KEY)
def key(config, state, words):
    """Writes the pawns of both sides and the mover."""
    write_key(fields(config, CONFIG), fields(state, STATE), words)


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays random moves. Keeps the position in registers."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0:
        return 0
    played, most, over, player = np.int64(0), most_moves(trace), False, np.int64(s.player)
    own, other, a, b = s.pieces[player], s.pieces[1 - player], rng[0], rng[1]
    ways = ways_of(c, player, own, other)
    while not over and played < most:
        action, side = c.pass_action, np.uint64(player)
        if all_of(ways):
            bits, a, b = stepped(a, b)
            way, cell = chosen(ways, bits)
            action = WAYS * cell + way
            own, other = moved(c, side, way, cell, own, other)
            over = is_won(c, side, own, other)
        if trace.size > 0:
            trace[played] = move_of(player, action)
        own, other, player, played = other, own, 1 - player, played + 1
        ways = ways_of(c, player, own, other)
        if not over and all_of(ways) == ZERO:
            over = all_of(ways_of(c, 1 - player, other, own)) == ZERO
    rng[0], rng[1] = a, b
    s.pieces[player], s.pieces[1 - player] = own, other
    s.player, s.ply = OVER if over else player, s.ply + played
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns a move drawn uniformly."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    ways = ways_of(c, s.player, s.pieces[s.player], s.pieces[1 - s.player])
    if all_of(ways) == ZERO:
        return c.pass_action
    way, cell = chosen(ways, draw(rng))
    return WAYS * cell + way


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes own pawns, the other's pawns, and whether the observer is to move, the bottom row first."""
    forward.write_planes(fields(config, CONFIG), fields(state, STATE), player, planes)


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether the pawns can have come where they are in turn, and the game is over when they say so."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    last, rival = np.uint64((s.ply + 1) % 2), np.uint64(s.ply % 2)
    # The first ply is a move, and so is one of any two in sequence.
    if s.pieces[last] == ZERO or s.ply > 2 * (forward.gained(c, s, 0) + forward.gained(c, s, 1)):
        return False
    over = is_over(c, last, s.pieces[last], s.pieces[rival])
    return forward.is_possible(c, s, LONGEST, True) and s.player == (OVER if over else s.ply % 2)


@kernel()
def ways_of(c, player, own, other):
    """Returns the pawns that can take to the left, step, take to the right and make a double step."""
    side, empty = np.uint64(player), ~(own | other)
    behind_empty = rotated(empty, c.shift[side, STEP])
    return (
        movable(c, side, LEFT, own, other),
        movable(c, side, STEP, own, empty),
        movable(c, side, RIGHT, own, other),
        movable(c, side, DOUBLE, own & c.start[side], empty & behind_empty),
    )


@kernel()
def is_over(c, side, own, other):
    """Returns whether a side that has moved has won, or both are blocked."""
    if is_won(c, side, own, other):
        return True
    rival = np.uint64(1) - side
    return all_of(ways_of(c, rival, other, own)) | all_of(ways_of(c, side, own, other)) == ZERO


def rules(rows: int = 8, columns: int = 8, corrected: bool = False) -> Rules:
    """Pawn Whopping on `rows` x `columns` cells, 4 or more rows, 2 to 16 columns, rows * columns <= 64.

    corrected: whether player 1 has the double step too. Raises ValueError for other sizes.
    """
    rows, columns = forward.checked_size(rows, columns, LEAST_ROWS, 2)
    corrected = boolean("corrected", corrected)
    constants = forward.constants(rows, columns, (HOME,), STEPS)
    if not corrected:
        constants["inside"][1, DOUBLE] = 0
    names = forward.Names(rows, columns, STEPS)
    return Rules(
        name="pawn_whopping_v0",
        settings={"rows": rows, "columns": columns, "corrected": corrected},
        players=2,
        actions=WAYS * rows * columns + 1,
        # A pass is never answered by a pass: of two plies one is a move.
        max_plies=2 * (2 * columns * (rows - 2 - HOME) + 1),
        config=configuration(CONFIG, **constants),
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
        why_illegal=lambda action: "no pawn of the mover can go there",
        layout=STATE,
        validate=validate,
        symmetries=forward.symmetries_of(rows, columns, (RIGHT, STEP, LEFT, DOUBLE), 1),
    )


EXAMPLES: tuple[dict[str, Any], ...] = (
    {},
    {"rows": 5, "columns": 3, "corrected": True},
    {"rows": 4, "columns": 4},
)
"""Configurations for the shared tests."""
