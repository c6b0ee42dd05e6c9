"""Quarto: sixteen pieces with four properties, and the opponent chooses the piece that one places.

Board    4x4 cells, row 1 the lowest, and sixteen pieces, all patterns of four bits. They belong to nobody.
Players  two; player 0 begins and only selects.
Turn     selecting and placing are separate plies. After the first selection each player in turn places the selected piece on
         an empty cell and then selects one for the other.
End      a player wins who places the fourth piece of a row, a column or a main diagonal whose pieces share the value, 0 or 1,
         of some bit. A full board without such a line is a draw.
Moves    row * 4 + column of a cell, 0 to 15, "a1" to "d4"; 16 + piece to select, "s0000" to "s1111", the highest bit first.
Source   Müller 1991; the rulesheet quarto of the Dresden server for General Game Playing.

choice            here                                       elsewhere
squares           none                                       `squares`: 2x2 cells win like a line (advanced rules)
claim             none: a line wins when it is made          the winner must call it
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards import properties
from ucd_envs.boards.bits import ONE, ZERO, bit, has, list_cells, nth
from ucd_envs.boards.properties import ALL, CELLS, LANES, PROPERTIES, SIDE, drawn, has_line, numbers, spread
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
from ucd_envs.structs import configuration, fields, popcount, record
from ucd_envs.symmetries import symmetries, with_others

PLANES = 4 + 2 * PROPERTIES
U16, U32 = np.uint64(16), np.uint64(32)

CONFIG = record(("squares", np.int64))
STATE = record(
    *((name, np.int32) for name in ("player", "ply", "winner", "hand")),
    *((name, np.uint64) for name in ("ones", "taken", "left")),
)
"""`winner`: -1 for none; `hand`: the selected piece, -1 for none; `ones`: the pieces on the board, the
cells with a 1 by property; `taken`: the taken cells; `left`: the pieces to select from."""


@kernel(RESET)
def reset(config, state):
    """Clears the board."""
    s = fields(state, STATE)
    s.player, s.ply, s.winner, s.hand = 0, 0, -1, -1
    s.ones, s.taken, s.left = ZERO, ZERO, ALL


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists the empty cells while a piece is selected, else the pieces left."""
    s = fields(state, STATE)
    if s.player < 0:
        return 0
    if s.hand < 0:
        return list_cells(s.left, CELLS, actions, 0)
    return list_cells(ALL & ~s.taken, 0, actions, 0)


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether the cell is empty and a piece selected, or the piece left and none selected."""
    s = fields(state, STATE)
    if s.player < 0 or action < 0 or action >= 2 * CELLS:
        return False
    if s.hand < 0:
        return action >= CELLS and has(s.left, action - CELLS)
    return action < CELLS and not has(s.taken, action)


@kernel(PLAY)
def play(config, state, action):
    """Selects a piece and passes the turn, or places the selected one. The game ends at a line or at the sixteenth piece."""
    s = fields(state, STATE)
    s.ply += 1
    if action >= CELLS:
        s.hand = action - CELLS
        s.left &= ~bit(s.hand)
        s.player = 1 - s.player
        return
    s.ones |= spread(np.uint64(s.hand)) << np.uint64(action)
    s.taken |= bit(action)
    s.hand = -1
    if has_line(s.ones, s.taken, fields(config, CONFIG).squares):
        s.winner, s.player = s.player, OVER
    elif s.taken == ALL:
        s.player = OVER


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 for the player who completed a line and 0 for the other, or 1/2 each for a draw."""
    winner = fields(state, STATE).winner
    for player in range(2):
        out[player] = 0.5 if winner < 0 else 1.0 if winner == player else 0.0


@kernel(KEY)
def key(config, state, words):
    """Writes the pieces on the board, the taken cells and the selected piece; the rest are left."""
    s = fields(state, STATE)
    words[0] = s.ones
    words[1] = s.taken | np.uint64(s.hand + 1) << U16


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays random moves. Keeps the position in registers."""
    s, squares = fields(state, STATE), fields(config, CONFIG).squares
    if s.player < 0:
        return 0
    played, most, player, hand = np.int64(0), most_moves(trace), np.int64(s.player), np.int64(s.hand)
    ones, taken, a, b, won = s.ones, s.taken, rng[0], rng[1], False
    pieces, empty = numbers(s.left), numbers(ALL & ~taken)
    few, room = np.uint64(popcount(s.left)), np.uint64(popcount(ALL & ~taken))
    left = s.left
    while room > ZERO and not won and played < most:
        bits, a, b = stepped(a, b)
        if hand < 0:
            piece, pieces = drawn(pieces, few, bits >> U32)
            few -= ONE
            left &= ~(ONE << piece)
            hand = np.int64(piece)
            if trace.size > 0:
                trace[played] = move_of(player, CELLS + hand)
            player = 1 - player
        else:
            cell, empty = drawn(empty, room, bits >> U32)
            room -= ONE
            ones |= spread(np.uint64(hand)) << cell
            taken |= ONE << cell
            hand = np.int64(-1)
            if trace.size > 0:
                trace[played] = move_of(player, np.int64(cell))
            won = has_line(ones, taken, squares)
        played += 1
    rng[0], rng[1] = a, b
    s.ones, s.taken, s.left, s.hand = ones, taken, left, hand
    s.ply += played
    s.player = player
    if won:
        s.winner, s.player = player, OVER
    elif room == ZERO:
        s.player = OVER
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns an empty cell or a piece left, drawn uniformly."""
    s = fields(state, STATE)
    if s.hand < 0:
        return CELLS + nth(s.left, below(rng, np.uint64(popcount(s.left))))
    empty = ALL & ~s.taken
    return nth(empty, below(rng, np.uint64(popcount(empty))))


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes the taken cells twice, as everybody's; the bits of the pieces on them; the bits of the selected piece and whether
    there is one, on all cells; and the pieces left, piece k on cell k. The lowest row comes first.
    """
    s = fields(state, STATE)
    for cell in range(CELLS):
        at = PLANES * cell
        planes[at] = planes[at + 1] = has(s.taken, cell)
        for k in range(PROPERTIES):
            planes[at + 2 + k] = has(s.ones, CELLS * (3 - k) + cell)
            planes[at + 6 + k] = s.hand >= 0 and s.hand >> 3 - k & 1
        planes[at + 10] = s.hand >= 0
        planes[at + 11] = has(s.left, cell)


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether every piece is in one place, the turn is right, and the game is over if its last ply has ended it."""
    s, squares = fields(state, STATE), fields(config, CONFIG).squares
    placing, placed = s.ply & 1, s.ply // 2
    if not -1 <= s.hand < CELLS or (s.hand >= 0) != (placing == 1):
        return False
    if s.taken & ~ALL or popcount(s.taken) != placed or s.ones & ~(s.taken * LANES):
        return False
    found = properties.pieces_on(s.ones, s.taken) | (bit(s.hand) if s.hand >= 0 else ZERO)
    line = has_line(s.ones, s.taken, squares)
    # The plies tell how many pieces were selected: fewer are found if one is in two places.
    if popcount(found) != placed + placing or s.left != ALL & ~found or (line and placing):
        return False
    mover = (s.ply + 1) // 2 % 2
    over = line or placed == CELLS
    return s.player == (OVER if over else mover) and s.winner == (mover if line else -1)


def rules(squares: bool = False) -> Rules:
    """Quarto. `squares`: four pieces on 2x2 cells that share a property win like a line."""
    squares = boolean("squares", squares)
    turned, bits = properties.images_of(squares), np.arange(CELLS)[:, None] + 16 * np.arange(5)
    entries = turned[:, :, None] * PLANES + np.arange(PLANES)
    entries[:, :, -1] = np.arange(CELLS) * PLANES + PLANES - 1  # the pieces left stay
    return Rules(
        name="quarto_v0",
        settings={"squares": squares},
        players=2,
        actions=2 * CELLS,
        max_plies=2 * CELLS,
        config=configuration(CONFIG, squares=squares),
        state_bytes=STATE.itemsize,
        key_words=2,
        planes=(SIDE, SIDE, PLANES),
        tiling="pieces",
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key),
            is_legal=is_legal,
            playout=playout,
            playout_action=playout_action,
            observe=observe,
        ),
        action_name=properties.action_name,
        action_named=properties.action_named,
        why_illegal=lambda action: (
            "the piece is gone, or one is to be placed"
            if action >= CELLS
            else "the cell is taken, or a piece is to be selected"
        ),
        layout=STATE,
        validate=validate,
        symmetries=symmetries(turned, bits, with_others(turned, CELLS), 2, entries.reshape(len(turned), -1)),
    )


EXAMPLES: tuple[dict[str, Any], ...] = ({}, {"squares": True})
"""Configurations for the shared tests."""
