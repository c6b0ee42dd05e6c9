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

A word holds, for each property, the cells with a 1: bit 16 * property + cell. Pieces and empty cells are drawn at random
from a word of 16 numbers of four bits, the remaining ones first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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
from ucd_envs.rules import Rules, State
from ucd_envs.settings import boolean, cell_named, shown
from ucd_envs.structs import configuration, fields, popcount, record, trailing_zeros

SIDE, CELLS, PROPERTIES, PLANES = 4, 16, 4, 12
ZERO, ONE, U2, U3, U4, U15, U16, U32 = (np.uint64(n) for n in (0, 1, 2, 3, 4, 15, 16, 32))
ALL = np.uint64(0xFFFF)
LANES = np.uint64(0x0001000100010001)
"""The lowest bit of each property's cells; times a set of cells, that set for each property."""
SPREAD = np.uint64(0x0000200040008001)
"""Multiplier that moves bit k of a piece to bit 16 * k, among others."""
FIRST_COLUMN, FIRST_ROW, CORNER, OTHER_CORNER, SQUARES = (LANES * np.uint64(n) for n in (0x1111, 0x000F, 1, 8, 0x0777))

CONFIG = record(("squares", np.int64))
STATE = record(
    *((name, np.int32) for name in ("player", "ply", "winner", "hand")),
    *((name, np.uint64) for name in ("ones", "taken", "left")),
)
"""`winner`: -1 for none; `hand`: the selected piece, -1 for none; `ones`: the cells with a 1, by property; `taken`: the taken
cells; `left`: the pieces to select from."""


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
    count = 0
    if s.player < 0:
        return count
    found, first = (s.left, CELLS) if s.hand < 0 else (ALL & ~s.taken, 0)
    while found:
        actions[count] = first + np.int64(trailing_zeros(found))
        found &= found - ONE
        count += 1
    return count


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether the cell is empty and a piece selected, or the piece left and none selected."""
    s = fields(state, STATE)
    if s.player < 0 or action < 0 or action >= 2 * CELLS:
        return False
    if s.hand < 0:
        return action >= CELLS and (s.left >> np.uint64(action - CELLS)) & ONE != ZERO
    return action < CELLS and (s.taken >> np.uint64(action)) & ONE == ZERO


@kernel(PLAY)
def play(config, state, action):
    """Selects a piece and passes the turn, or places the selected one. The game ends at a line or at the sixteenth piece."""
    s = fields(state, STATE)
    s.ply += 1
    if action >= CELLS:
        s.hand = action - CELLS
        s.left &= ~(ONE << np.uint64(s.hand))
        s.player = 1 - s.player
        return
    s.ones |= spread(np.uint64(s.hand)) << np.uint64(action)
    s.taken |= ONE << np.uint64(action)
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
            shift = ((bits >> U32) * few) >> U32 << U2
            piece = (pieces >> shift) & U15
            few -= ONE
            pieces = replaced(pieces, shift, few)
            left &= ~(ONE << piece)
            hand = np.int64(piece)
            if trace.size > 0:
                trace[played] = move_of(player, CELLS + hand)
            player = 1 - player
        else:
            shift = ((bits >> U32) * room) >> U32 << U2
            cell = (empty >> shift) & U15
            room -= ONE
            empty = replaced(empty, shift, room)
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
    found, first = (s.left, CELLS) if s.hand < 0 else (ALL & ~s.taken, 0)
    number = below(rng, np.uint64(popcount(found)))
    for _ in range(number):
        found &= found - ONE
    return first + np.int64(trailing_zeros(found))


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes the taken cells twice, as everybody's; the bits of the pieces on them; the bits of the selected piece and whether
    there is one, on all cells; and the pieces left, piece k on cell k. The lowest row comes first.
    """
    s = fields(state, STATE)
    for cell in range(CELLS):
        place, at = np.uint64(cell), PLANES * cell
        planes[at] = planes[at + 1] = (s.taken >> place) & ONE
        for k in range(PROPERTIES):
            planes[at + 2 + k] = (s.ones >> (U16 * np.uint64(3 - k) + place)) & ONE
            planes[at + 6 + k] = (s.hand >> (3 - k)) & 1 if s.hand >= 0 else 0
        planes[at + 10] = s.hand >= 0
        planes[at + 11] = (s.left >> place) & ONE


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether every piece is in one place, the turn is right, and the game is over if its last ply has ended it."""
    s, squares = fields(state, STATE), fields(config, CONFIG).squares
    placing, placed = s.ply & 1, s.ply // 2
    if not -1 <= s.hand < CELLS or (s.hand >= 0) != (placing == 1):
        return False
    if s.taken & ~ALL or popcount(s.taken) != placed or s.ones & ~(s.taken * LANES):
        return False
    found = ONE << np.uint64(s.hand) if s.hand >= 0 else ZERO
    for cell in range(CELLS):
        if (s.taken >> np.uint64(cell)) & ONE:
            piece = ONE << piece_on(s.ones, np.uint64(cell))
            if found & piece:
                return False
            found |= piece
    line = has_line(s.ones, s.taken, squares)
    if s.left != ALL & ~found or (line and placing):
        return False
    mover = (s.ply + 1) // 2 % 2
    over = line or placed == CELLS
    return s.player == (OVER if over else mover) and s.winner == (mover if line else -1)


@kernel()
def spread(piece):
    """Returns a piece on cell 0: bit 16 * k for bit k of the piece."""
    return piece * SPREAD & LANES


@kernel()
def piece_on(ones, cell):
    """Returns the piece on a taken cell."""
    bits = (ones >> cell) & LANES
    return (bits | bits >> np.uint64(15) | bits >> np.uint64(30) | bits >> np.uint64(45)) & U15


@kernel()
def numbers(cells):
    """Returns the numbers of the set bits of a word of 16, four bits each, ascending."""
    word, shift = ZERO, ZERO
    while cells:
        word |= np.uint64(trailing_zeros(cells)) << shift
        cells &= cells - ONE
        shift += U4
    return word


@kernel()
def replaced(word, shift, last):
    """Returns numbers of four bits after the one at `shift` has been replaced by number `last`, the last one in use."""
    at_last = (word >> (last << U2)) & U15
    return word & ~(U15 << shift) | at_last << shift


@kernel()
def has_line(ones, taken, squares):
    """Returns whether the pieces of a line, or of 2x2 cells, share the value of a property."""
    return line_of(ones, squares) | line_of(taken * LANES ^ ones, squares) != ZERO


@kernel()
def line_of(x, squares):
    """Returns the first cells of all lines of x, a set of cells for each property."""
    pairs, steep = x & x >> ONE, x & x >> U4
    found = pairs & pairs >> U2 & FIRST_COLUMN | steep & steep >> np.uint64(8) & FIRST_ROW
    rising, falling = x & x >> np.uint64(5), x & x >> U3
    found |= rising & rising >> np.uint64(10) & CORNER | falling & falling >> np.uint64(6) & OTHER_CORNER
    if squares:
        found |= pairs & pairs >> U4 & SQUARES
    return found


def rules(squares: bool = False) -> Rules:
    """Quarto. `squares`: four pieces on 2x2 cells that share a property win like a line."""
    squares = boolean("squares", squares)

    def action_name(state: State, action: int) -> str:
        if action >= CELLS:
            return f"s{action - CELLS:04b}"
        return f"{chr(ord('a') + action % SIDE)}{action // SIDE + 1}"

    def action_named(state: State, text: str) -> int:
        pieces = {f"s{piece:04b}": CELLS + piece for piece in range(CELLS)}
        if text.lower() in pieces:
            return pieces[text.lower()]
        try:
            return cell_named(text, SIDE, SIDE)
        except ValueError:
            raise ValueError(f"{shown(text)} is no move: expected a cell, a1 to d4, or a piece, s0000 to s1111") from None

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
        action_name=action_name,
        action_named=action_named,
        why_illegal=lambda action: (
            "the piece is gone, or one is to be placed"
            if action >= CELLS
            else "the cell is taken, or a piece is to be selected"
        ),
        layout=STATE,
        validate=validate,
    )


EXAMPLES: tuple[dict[str, Any], ...] = ({}, {"squares": True})
"""Configurations for the shared tests."""
