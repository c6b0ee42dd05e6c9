"""Pentago: place a stone, then rotate a quadrant.

Board    6x6 cells in four quadrants of 3x3: Q1 upper right, Q2 upper left, Q3 lower left, Q4 lower right. Row 1 is the
         lowest.
Players  two; player 0 begins.
Turn     two plies of one player: a stone on an empty cell, then a rotation of any quadrant by 90 degrees, of an empty one
         too. All eight rotations are always legal.
End      five own stones in a row, a column or a diagonal, tested after every ply. A placement that makes five wins at once,
         without a rotation. After a rotation the player with five wins, also if the other one rotated; five of both are a
         draw. The 36th stone ends the game without a rotation, as a draw if it makes no five.
Moves    row * 6 + column of a cell, 0 to 35, "a1" to "f6"; then 36 + 2 * quadrant + direction of a rotation, "Q1cw",
         "Q1ccw", ... "Q4ccw": quadrants in the order above, direction 0 clockwise, 1 counter-clockwise.
Source   Flodén 2005; the rulesheet pentago_2008 of the Dresden server for General Game Playing.

choice            here                                       elsewhere
five in a row     looked at after the placement as well      `after_rotation`: after the rotation only, as in OpenSpiel.
                                                             Then the 36th stone too is followed by a rotation
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards import quadrants
from ucd_envs.boards.bits import ONE, ZERO
from ucd_envs.boards.quadrants import BOARD, CELLS, ROTATIONS, SIDE, has_line, rotated
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
from ucd_envs.rng import below, stepped
from ucd_envs.rules import Rules
from ucd_envs.settings import boolean
from ucd_envs.structs import configuration, fields, record
from ucd_envs.symmetries import of_planes, of_rectangle, symmetries

PLACES, U32 = np.uint64(CELLS), np.uint64(32)

CONFIG = record(("after_rotation", np.int64), *quadrants.TABLES)
STATE = record(("player", np.int32), ("ply", np.int32), ("winner", np.int32), ("stones", np.uint64, (2,)))
"""At even plies a stone is to be placed, at odd ones a quadrant to be rotated. `winner`: -1 for none."""


@kernel(RESET)
def reset(config, state):
    """Clears the board."""
    s = fields(state, STATE)
    s.player, s.ply, s.winner = 0, 0, -1
    s.stones[0] = s.stones[1] = ZERO


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists the empty cells, or all rotations."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0:
        return 0
    if s.ply & 1:
        for rotation in range(ROTATIONS):
            actions[rotation] = CELLS + rotation
        return ROTATIONS
    return quadrants.list_empty(c, s.stones[0] | s.stones[1], actions)


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether a stone is to be placed and the cell is empty, or a quadrant is to be rotated."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0:
        return False
    if s.ply & 1:
        return CELLS <= action < CELLS + ROTATIONS
    return 0 <= action < CELLS and ((s.stones[0] | s.stones[1]) >> c.place[action]) & ONE == ZERO


@kernel(PLAY)
def play(config, state, action):
    """Places the mover's stone, or rotates a quadrant and passes the turn. Ends the game at five in a row or a full board."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    player = s.player
    mine, other = s.stones[player], s.stones[1 - player]
    s.ply += 1
    if action < CELLS:
        s.stones[player] = mine | ONE << c.place[action]
        if not c.after_rotation:
            finish(c, s, player, False)
    else:
        s.stones[player] = rotated(c, mine, np.uint64(action - CELLS))
        s.stones[1 - player] = rotated(c, other, np.uint64(action - CELLS))
        s.player = 1 - player
        finish(c, s, player, True)


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 for the winner and 0 for the other, or 1/2 each for a draw."""
    winner = fields(state, STATE).winner
    for player in range(2):
        out[player] = 0.5 if winner < 0 else 1.0 if winner == player else 0.0


@kernel(KEY)
def key(config, state, words):
    """Writes both players' stones and, in bit 36, whether a rotation follows."""
    s = fields(state, STATE)
    words[0] = s.stones[0] | np.uint64(s.ply & 1) << PLACES
    words[1] = s.stones[1]


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays random moves. Keeps the position in registers."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0:
        return 0
    played, most, player, turning = np.int64(0), most_moves(trace), np.int64(s.player), s.ply & 1 == 1
    mine, other, a, b = s.stones[player], s.stones[1 - player], rng[0], rng[1]
    own, theirs, over = False, False, False
    while not over and played < most:
        bits, a, b = stepped(a, b)
        if turning:
            rotation = bits >> np.uint64(61)
            if trace.size > 0:
                trace[played] = move_of(player, CELLS + np.int64(rotation))
            mine, other = rotated(c, mine, rotation), rotated(c, other, rotation)
            own, theirs = has_line(c, mine), has_line(c, other)
            over = own or theirs or mine | other == BOARD
            mine, other, own, theirs, player = other, mine, theirs, own, 1 - player
        else:
            place = ((bits >> U32) * PLACES) >> U32
            while ((mine | other) >> place) & ONE:
                bits, a, b = stepped(a, b)
                place = ((bits >> U32) * PLACES) >> U32
            if trace.size > 0:
                trace[played] = move_of(player, c.cell[place])
            mine |= ONE << place
            if not c.after_rotation:
                own = has_line(c, mine)
                over = own or mine | other == BOARD
        played, turning = played + 1, not turning
    rng[0], rng[1] = a, b
    s.stones[player], s.stones[1 - player] = mine, other
    s.ply += played
    s.player = player
    if over:
        s.player = OVER
        if own != theirs:
            s.winner = player if own else 1 - player
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns an empty cell or a rotation, drawn uniformly."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.ply & 1:
        return CELLS + np.int64(below(rng, np.uint64(ROTATIONS)))
    place = below(rng, PLACES)
    while ((s.stones[0] | s.stones[1]) >> place) & ONE:
        place = below(rng, PLACES)
    return c.cell[place]


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes own stones, the other's stones, and whether a rotation follows, the lowest row first."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    for cell in range(CELLS):
        planes[3 * cell] = (s.stones[player] >> c.place[cell]) & ONE
        planes[3 * cell + 1] = (s.stones[1 - player] >> c.place[cell]) & ONE
        planes[3 * cell + 2] = s.ply & 1


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether the stones were placed in turn, only the last ply made five, and the game is over when they say so."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if not quadrants.are_in_turn(s.stones[0], s.stones[1], np.uint64(s.ply + 1) // np.uint64(2)):
        return False
    turning, turn, full = s.ply & 1 == 1, s.ply // 2 % 2, s.stones[0] | s.stones[1] == BOARD
    own, theirs = has_line(c, s.stones[turn]), has_line(c, s.stones[1 - turn])
    if turning and theirs:
        return False
    over = (own or theirs or full) and not (turning and c.after_rotation)
    winner = -1 if not over or own == theirs else turn if own else 1 - turn
    return s.player == (OVER if over else turn) and s.winner == winner


@kernel()
def finish(c, s, mover, turned):
    """Ends the game if its last ply, a rotation or not, has made five in a row or filled the board."""
    own, theirs = has_line(c, s.stones[mover]), turned and has_line(c, s.stones[1 - mover])
    if own or theirs or s.stones[0] | s.stones[1] == BOARD:
        s.player = OVER
        if own != theirs:
            s.winner = mover if own else 1 - mover


def rules(after_rotation: bool = False) -> Rules:
    """Pentago. `after_rotation`: five in a row counts only after the rotation, and every stone is followed by one."""
    after_rotation = boolean("after_rotation", after_rotation)
    turned, bits = of_rectangle(SIDE, SIDE), quadrants.tables()["place"][:, None] + np.array([0, 64])
    return Rules(
        name="pentago_v0",
        settings={"after_rotation": after_rotation},
        players=2,
        actions=CELLS + ROTATIONS,
        max_plies=2 * CELLS - (not after_rotation),
        config=configuration(CONFIG, after_rotation=after_rotation, **quadrants.tables()),
        state_bytes=STATE.itemsize,
        key_words=2,
        planes=(SIDE, SIDE, 3),
        tiling="quadrants",
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key),
            is_legal=is_legal,
            playout=playout,
            playout_action=playout_action,
            observe=observe,
        ),
        action_name=quadrants.action_name,
        action_named=quadrants.action_named,
        why_illegal=lambda action: "a stone comes first" if action >= CELLS else "the cell is taken, or a rotation comes first",
        layout=STATE,
        validate=validate,
        symmetries=symmetries(turned, bits, quadrants.images_of(turned), 2, of_planes(turned, 3)),
    )


EXAMPLES: tuple[dict[str, Any], ...] = ({}, {"after_rotation": True})
"""Configurations for the shared tests."""
