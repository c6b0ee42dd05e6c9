"""Capture the King, chess without check.

Board    8x8 cells with the set-up of chess: rooks, knights, bishops, queen on d, king on e, behind eight pawns.
Players  two; player 0 is white, begins, and stands on rows 1 and 2.
Turn     a piece moves as in chess, but without castling and en passant, and kings may stay or move where they can be taken. A
         pawn goes one cell ahead or from its first cell two, onto empty cells, and takes diagonally. A white pawn that
         reaches row 8 becomes a queen. A black pawn that reaches row 1 is removed, or becomes a queen with `promotion`. A
         player without any move passes, and only then.
End      when a king is taken: its owner has lost. After `plies` plies, 69 by default, without that the game is a draw.
Moves    64 * from + to, row * 8 + column of both cells, the first row at the bottom; 4096 for the pass. Written as both cells,
         "e2e4", and "pass".
Source   General Game Playing, capture_the_king of the Dresden server, 2010.

choice          here                                           elsewhere
black pawns     vanish on row 1, by a slip of the rulesheet    become queens as white ones do: `promotion`
no move         a pass                                         undefined in the rulesheet
draws           by the number of plies alone                   chess: also repetition, fifty moves, dead positions

A player passes if all its pieces stand behind own ones and blocked pawns: white K a1, R b2, B b1, P a2 b3 c2 against black
pawns on a3 b4 c3. Whether a game can come to such a position in 69 plies is not known.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards import chess
from ucd_envs.boards.bits import ZERO, has
from ucd_envs.boards.chess import CELLS, KINDS, PASS, SIZE, chosen, kinds_of, kings_of, moved, moves, target_sets, targets
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
from ucd_envs.settings import boolean, integer
from ucd_envs.structs import configuration, fields, popcount, record, stack_array

MOST_PLIES = 1000
U6, U32 = np.uint64(6), np.uint64(32)

CONFIG = record(*chess.PIECES, ("plies", np.int64), ("promotion", np.int64), *chess.TABLES)
"""The pieces are those at the start."""
STATE = record(("player", np.int32), ("ply", np.int32), *chess.PIECES)


@kernel(RESET)
def reset(config, state):
    """Sets up the pieces."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    s.player, s.ply = 0, 0
    s.sides[0], s.sides[1] = c.sides[0], c.sides[1]
    s.kinds[0], s.kinds[1], s.kinds[2] = c.kinds[0], c.kinds[1], c.kinds[2]


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists the moves of all pieces, or the pass if there are none."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player == OVER:
        return 0
    count = chess.list_moves(c, s, actions)
    if count == 0:
        actions[0] = PASS
        count = 1
    return count


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether a piece of the mover can go so, or there is no move for a pass."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player == OVER or action < 0 or action > PASS:
        return False
    if action == PASS:
        return moves(c, s, stack_array(chess.DIRECTIONS, chess.WORD)) == ZERO
    start, end = np.uint64(action // CELLS), np.uint64(action % CELLS)
    return has(s.sides[s.player], start) and has(targets(c, s, start), end)


@kernel(PLAY)
def play(config, state, action):
    """Moves a piece and removes the one on its target, or passes. The game is over without a king or after the last ply."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    player, mine, other, kinds = s.player, s.sides[s.player], s.sides[1 - s.player], kinds_of(s)
    if action != PASS:
        start, end = np.uint64(action // CELLS), np.uint64(action % CELLS)
        mine, other, kinds = moved(mine, other, kinds, start, end, player == 0 or c.promotion != 0)
    settle(c, s, 1 - player, other, mine, kinds, s.ply + 1)


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 for the player whose king is left and 0 for the other, or 1/2 each if both are."""
    s = fields(state, STATE)
    kings = kings_of(kinds_of(s))
    for player in range(2):
        out[player] = 0.5 + 0.5 * (s.sides[player] & kings != ZERO) - 0.5 * (s.sides[1 - player] & kings != ZERO)


@kernel(KEY)
def key(config, state, words):
    """Writes player 0's pieces and the three kinds. The lowest empty cell, of no kind else, tells that player 1 is to move."""
    s = fields(state, STATE)
    empty = ~(s.sides[0] | s.sides[1])
    mark = empty & (ZERO - empty) if s.player == 1 else ZERO
    words[0] = s.sides[0]
    for i in range(3):
        words[1 + i] = s.kinds[i] | mark


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays random moves. Keeps the position in registers."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player == OVER:
        return 0
    sets = stack_array(chess.DIRECTIONS, chess.WORD)
    played, player, a, b = np.int64(0), np.int64(s.player), rng[0], rng[1]
    most = min(most_moves(trace), c.plies - s.ply)
    mine, other, kinds = s.sides[player], s.sides[1 - player], kinds_of(s)
    while played < most and mine & kings_of(kinds) != ZERO:
        count, action = target_sets(c, sets, player, mine, other, kinds), np.uint64(PASS)
        if count:
            bits, a, b = stepped(a, b)
            start, end = chosen(c, sets, (bits >> U32) * count >> U32, mine | other)
            action = start << U6 | end
            mine, other, kinds = moved(mine, other, kinds, start, end, player == 0 or c.promotion != 0)
        if trace.size > 0:
            trace[played] = move_of(player, action)
        played += 1
        mine, other, player = other, mine, 1 - player
    rng[0], rng[1] = a, b
    settle(c, s, player, mine, other, kinds, s.ply + played)
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns a move drawn uniformly, or the pass."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    sets = stack_array(chess.DIRECTIONS, chess.WORD)
    count = moves(c, s, sets)
    if count == ZERO:
        return PASS
    start, end = chosen(c, sets, below(rng, count), s.sides[0] | s.sides[1])
    return np.int64(start << U6 | end)


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes all own pieces and all others; own pieces by kind, then the others' by kind: pawns, knights, bishops, rooks,
    queens, kings; ones if the observer is to move; and the ply in binary digits, the lowest first."""
    s = fields(state, STATE)
    depth = planes.size // CELLS
    for cell in range(CELLS):
        at, kind = depth * cell, 0
        for i in range(3):
            kind += has(s.kinds[i], cell) << i
        for side in range(2):
            stands = has(s.sides[player if side == 0 else 1 - player], cell)
            planes[at + side] = stands
            for i in range(len(KINDS)):
                planes[at + 2 + len(KINDS) * side + i] = stands and kind == KINDS[i][0]
        planes[at + 2 + 2 * len(KINDS)] = s.player == player
        for digit in range(depth - 3 - 2 * len(KINDS)):
            planes[at + 3 + 2 * len(KINDS) + digit] = s.ply >> digit & 1


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether pieces are of known kinds where they can stand, not too many, and the game is over when they say so."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if not chess.are_possible(s):
        return False
    # A ply takes a piece at most, and a pawn that vanishes with it.
    if 32 - popcount(s.sides[0] | s.sides[1]) > 2 * s.ply:
        return False
    # Only the king of the player whose turn it would be can be gone.
    kings, turn = kings_of(kinds_of(s)), s.ply % 2
    if s.sides[1 - turn] & kings == ZERO:
        return False
    if s.ply == 0 and (s.sides[0] != c.sides[0] or s.sides[1] != c.sides[1] or kinds_of(s) != kinds_of(c)):
        return False
    return s.player == (OVER if s.sides[turn] & kings == ZERO or s.ply >= c.plies else turn)


@kernel()
def settle(c, s, player, mine, other, kinds, ply):
    """Writes the position after a ply with a player to move, or the end of the game."""
    s.sides[player], s.sides[1 - player] = mine, other
    s.kinds[0], s.kinds[1], s.kinds[2] = kinds
    s.player = OVER if ply >= c.plies or mine & kings_of(kinds) == ZERO else player
    s.ply = ply


def rules(promotion: bool = False, plies: int = 69) -> Rules:
    """Capture the King.

    promotion: whether black pawns become queens too, where the General Game Playing rules let them vanish. plies: the number of
    plies after which the game is a draw, 1 to 1000. Raises TypeError or ValueError for other values.
    """
    promotion, plies = boolean("promotion", promotion), integer("plies", plies, 1, MOST_PLIES)

    return Rules(
        name="capture_the_king_v0",
        settings={"promotion": promotion, "plies": plies},
        players=2,
        actions=PASS + 1,
        max_plies=plies,
        config=configuration(CONFIG, plies=plies, promotion=promotion, **chess.set_up(), **chess.tables()),
        state_bytes=STATE.itemsize,
        key_words=4,
        planes=(SIZE, SIZE, 3 + 2 * len(KINDS) + plies.bit_length()),
        tiling="chess",
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key),
            is_legal=is_legal,
            playout=playout,
            playout_action=playout_action,
            observe=observe,
        ),
        action_name=chess.action_name,
        action_named=chess.action_named,
        why_illegal=lambda action: "no own piece can go so" if action < PASS else "there is a move to make",
        layout=STATE,
        validate=validate,
    )


EXAMPLES: tuple[dict[str, Any], ...] = ({}, {"promotion": True, "plies": 25})
"""Configurations for the shared tests."""
