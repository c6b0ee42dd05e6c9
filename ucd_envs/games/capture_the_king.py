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

A set of cells is one word, cell k in bit k. Three sets tell the kinds of both players' pieces: bishops are in the set
diagonal, rooks in straight, queens in both, pawns in special, knights in special and diagonal, kings in special and straight.

The moves of a position are counted without looking at single pieces. There are 16 directions: eight along which pieces slide,
kings step and pawns go, and the eight leaps of knights. A direction and a target name one move, since its piece is the nearest
one behind the target. So the targets in each direction are one set, and all sets together tell the number of moves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards.bits import has, nth
from ucd_envs.boards.lines import beyond, rotated, seen_down, seen_up, slid_down, slid_up
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
from ucd_envs.settings import boolean, cell_named, integer, shown
from ucd_envs.structs import configuration, fields, leading_zeros, popcount, record, stack_array, trailing_zeros

ZERO, ONE, U6, U32, U63 = (np.uint64(n) for n in (0, 1, 6, 32, 63))
WORD = np.dtype(np.uint64)
ENDS = np.uint64(0xFF000000000000FF)
"""The rows where no pawn stays."""
SIZE, CELLS, PASS, MOST_PLIES = 8, 64, 64 * 64, 1000
STEPS = ((1, 0), (0, 1), (-1, 1), (1, 1), (-2, 1), (2, 1), (-1, 2), (1, 2))
"""Columns and rows of directions 0 to 7, to higher cells: two straight ones, two diagonal ones, four leaps. Directions 8 to 15
are their opposites."""
STRAIGHTS, SLIDES, HALF, DIRECTIONS = 2, 4, 8, 16
SPECIAL, DIAGONAL, STRAIGHT = 0, 1, 2
KINDS = ((0b001, "P"), (0b011, "N"), (0b010, "B"), (0b100, "R"), (0b110, "Q"), (0b101, "K"))
"""Kinds of pieces in the order of planes: bit 0 for special, 1 for diagonal, 2 for straight."""

CONFIG = record(
    ("sides", np.uint64, (2,)),
    ("kinds", np.uint64, (3,)),
    ("plies", np.int64),
    ("promotion", np.int64),
    ("ahead", np.uint64, (2,)),
    ("third", np.uint64, (2,)),
    *((name, np.uint64, (HALF,)) for name in ("step", "above", "below")),
    *((name, np.uint64, (CELLS, HALF)) for name in ("up", "down")),
    *((name, np.uint64, (CELLS,)) for name in ("leaps", "near")),
)
"""`sides`, `kinds`: as in a state, at the start. `ahead`: by how much a step of a player's pawns rotates their cells; `third`:
the row of their first step. `step`: by how much directions 0 to 7 raise a cell; `above`, `below`: the columns where steps in
these directions and in their opposites can end; `up`, `down`: all cells in these directions; `leaps`, `near`: the targets of
knights and kings."""
STATE = record(
    *(("player", np.int32), ("ply", np.int32)),
    *(("sides", np.uint64, (2,)), ("kinds", np.uint64, (3,))),
)
"""`sides`: the players' pieces; `kinds`: the sets special, diagonal and straight."""


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
    count = 0
    if s.player == OVER:
        return count
    left = s.sides[s.player]
    while left:
        start = np.int64(trailing_zeros(left))
        left &= left - ONE
        found = targets(c, s, np.uint64(start))
        while found:
            actions[count] = CELLS * start + np.int64(trailing_zeros(found))
            found &= found - ONE
            count += 1
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
        return moves(c, s, stack_array(DIRECTIONS, WORD)) == ZERO
    start, end = np.uint64(action // CELLS), np.uint64(action % CELLS)
    return has(s.sides[s.player], start) and has(targets(c, s, start), end)


@kernel(PLAY)
def play(config, state, action):
    """Moves a piece and removes the one on its target, or passes. The game is over without a king or after the last ply."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    player, mine, other, kinds = s.player, s.sides[s.player], s.sides[1 - s.player], kinds_of(s)
    if action != PASS:
        mine, other, kinds = moved(c, player, mine, other, kinds, np.uint64(action // CELLS), np.uint64(action % CELLS))
    settle(c, s, 1 - player, other, mine, kinds, s.ply + 1)


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 for the player whose king is left and 0 for the other, or 1/2 each if both are."""
    s = fields(state, STATE)
    kings = s.kinds[SPECIAL] & s.kinds[STRAIGHT]
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
    sets = stack_array(DIRECTIONS, WORD)
    played, player, a, b = np.int64(0), np.int64(s.player), rng[0], rng[1]
    most = min(most_moves(trace), c.plies - s.ply)
    mine, other, kinds = s.sides[player], s.sides[1 - player], kinds_of(s)
    while played < most and mine & kinds[0] & kinds[2] != ZERO:
        count, action = target_sets(c, sets, player, mine, other, kinds), np.uint64(PASS)
        if count:
            bits, a, b = stepped(a, b)
            start, end = chosen(c, sets, (bits >> U32) * count >> U32, mine | other)
            action = start << U6 | end
            mine, other, kinds = moved(c, player, mine, other, kinds, start, end)
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
    sets = stack_array(DIRECTIONS, WORD)
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
    special, diagonal, straight = kinds_of(s)
    taken, pawns, kings = s.sides[0] | s.sides[1], special & ~(diagonal | straight), special & straight
    if s.sides[0] & s.sides[1] or taken != special | diagonal | straight or kings & diagonal or pawns & ENDS:
        return False
    left, lost = 32 - popcount(taken), False
    for player in range(2):
        count = popcount(s.sides[player] & kings)
        # Only the king of the player whose turn it would be can be gone.
        if count > 1 or (count == 0 and player != s.ply % 2):
            return False
        lost = lost or count == 0
        if popcount(s.sides[player]) > 16 or popcount(s.sides[player] & pawns) > 8:
            return False
    # A ply takes a piece at most, and a pawn that vanishes with it.
    if left > 2 * s.ply:
        return False
    if s.ply == 0 and (s.sides[0] != c.sides[0] or s.sides[1] != c.sides[1] or kinds_of(s) != kinds_of(c)):
        return False
    return s.player == (OVER if lost or s.ply >= c.plies else s.ply % 2)


@kernel()
def kinds_of(s):
    """Returns the sets special, diagonal and straight of a record."""
    return s.kinds[0], s.kinds[1], s.kinds[2]


@kernel()
def settle(c, s, player, mine, other, kinds, ply):
    """Writes the position after a ply with a player to move, or the end of the game."""
    s.sides[player], s.sides[1 - player] = mine, other
    s.kinds[0], s.kinds[1], s.kinds[2] = kinds
    s.player = OVER if ply >= c.plies or mine & kinds[0] & kinds[2] == ZERO else player
    s.ply = ply


@kernel()
def moves(c, s, sets):
    """Writes the targets of the mover's moves by their directions and returns how many moves there are."""
    return target_sets(c, sets, s.player, s.sides[s.player], s.sides[1 - s.player], kinds_of(s))


@kernel()
def target_sets(c, sets, player, mine, other, kinds):
    """Writes a player's targets in each direction to `sets`: [DIRECTIONS] uint64, and returns how many there are."""
    special, diagonal, straight = kinds
    empty, kings, knights = ~(mine | other), mine & special & straight, mine & special & diagonal
    for i in range(SLIDES):
        movers = mine & ~special & (straight if i < STRAIGHTS else diagonal)
        step = c.step[i]
        sets[i] = (slid_up(movers, empty & c.above[i], step) | kings) << step & c.above[i] & ~mine
        sets[i + HALF] = (slid_down(movers, empty & c.below[i], step) | kings) >> step & c.below[i] & ~mine
    for i in range(SLIDES, HALF):
        sets[i] = knights << c.step[i] & c.above[i] & ~mine
        sets[i + HALF] = knights >> c.step[i] & c.below[i] & ~mine
    # Pawns of player 0 go in directions 1 to 3, those of player 1 in their opposites; none goes beyond the board.
    pawns, ahead = mine & special & ~(diagonal | straight), c.ahead[player]
    forward = rotated(pawns, ahead) & empty
    sets[1 + HALF * player] |= forward | (rotated(forward & c.third[player], ahead) & empty)
    sets[2 + (HALF + 1) * player] |= rotated(pawns, ahead - ONE) & c.above[2] & other
    sets[3 + (HALF - 1) * player] |= rotated(pawns, ahead + ONE) & c.above[3] & other
    count = 0
    for i in range(DIRECTIONS):
        count += popcount(sets[i])
    return np.uint64(count)


@kernel()
def chosen(c, sets, n, taken):
    """Returns the cells from and to of the n-th move in the order of `sets`."""
    i = np.uint64(0)
    count = np.uint64(popcount(sets[i]))
    while n >= count:
        n -= count
        i += ONE
        count = np.uint64(popcount(sets[i]))
    end = np.uint64(nth(sets[i], n))
    # The piece is the nearest one behind its target.
    if i < np.uint64(HALF):
        return U63 - np.uint64(leading_zeros(c.down[end, i] & taken)), end
    return np.uint64(trailing_zeros(c.up[end, i - np.uint64(HALF)] & taken)), end


@kernel()
def moved(c, player, mine, other, kinds, start, end):
    """Returns both players' pieces and their kinds after a move."""
    special, diagonal, straight = kinds
    here, there = ONE << start, ONE << end
    keep = ~(here | there)
    is_pawn = here & special & ~(diagonal | straight) != ZERO
    special = special & keep | (special >> start & ONE) << end
    diagonal = diagonal & keep | (diagonal >> start & ONE) << end
    straight = straight & keep | (straight >> start & ONE) << end
    mine, other = mine & keep | there, other & keep
    if is_pawn and there & ENDS != ZERO:
        special ^= there
        if player == 0 or c.promotion:
            diagonal, straight = diagonal | there, straight | there
        else:
            mine ^= there
    return mine, other, (special, diagonal, straight)


@kernel()
def targets(c, s, start):
    """Returns where the mover's piece on a cell can go."""
    mine, other = s.sides[s.player], s.sides[1 - s.player]
    is_special, is_diagonal, is_straight = has(s.kinds[0], start), has(s.kinds[1], start), has(s.kinds[2], start)
    if is_special:
        if is_diagonal:
            return c.leaps[start] & ~mine
        if is_straight:
            return c.near[start] & ~mine
        ahead, pawn, empty = c.ahead[s.player], ONE << start, ~(mine | other)
        forward = rotated(pawn, ahead) & empty
        twice = rotated(forward & c.third[s.player], ahead) & empty
        left, right = rotated(pawn, ahead - ONE) & c.above[2], rotated(pawn, ahead + ONE) & c.above[3]
        return forward | twice | (left | right) & other
    found, taken = ZERO, mine | other
    for i in range(0 if is_straight else STRAIGHTS, SLIDES if is_diagonal else STRAIGHTS):
        found |= seen_up(c.up[start, i], taken) | seen_down(c.down[start, i], taken)
    return found & ~mine


def rules(promotion: bool = False, plies: int = 69) -> Rules:
    """Capture the King.

    promotion: whether black pawns become queens too, where the General Game Playing rules let them vanish. plies: the number of
    plies after which the game is a draw, 1 to 1000. Raises TypeError or ValueError for other values.
    """
    promotion, plies = boolean("promotion", promotion), integer("plies", plies, 1, MOST_PLIES)

    def reached(steps: tuple[tuple[int, int], ...], cell: int) -> int:
        return sum(beyond(cell, sign * right, sign * up, SIZE, 1) for right, up in steps for sign in (1, -1))

    def lines(sign: int) -> list[list[int]]:
        far = [(sign * right, sign * up, SIZE, SIZE if i < SLIDES else 1) for i, (right, up) in enumerate(STEPS)]
        return [[beyond(cell, *line) for line in far] for cell in range(CELLS)]

    def landings(sign: int) -> list[int]:
        return [sum(1 << cell for cell in range(CELLS) if 0 <= cell % SIZE - sign * right < SIZE) for right, _ in STEPS]

    row = "RNBQKBNR"
    white = dict(enumerate(row + "P" * SIZE))
    pieces = {**white, **{cell ^ 56: kind for cell, kind in white.items()}}
    codes = {letter: code for code, letter in KINDS}
    kinds = [sum(1 << cell for cell, kind in pieces.items() if codes[kind] >> digit & 1) for digit in range(3)]

    def cell_name(cell: int) -> str:
        return f"{chr(ord('a') + cell % SIZE)}{cell // SIZE + 1}"

    def action_name(state: State, action: int) -> str:
        return "pass" if action == PASS else cell_name(action // CELLS) + cell_name(action % CELLS)

    def action_named(state: State, text: str) -> int:
        if text.lower() == "pass":
            return PASS
        try:
            return CELLS * cell_named(text[:2], SIZE, SIZE) + cell_named(text[2:], SIZE, SIZE)
        except ValueError:
            raise ValueError(f"{shown(text)} is no move: expected two cells such as e2e4, or pass") from None

    return Rules(
        name="capture_the_king_v0",
        settings={"promotion": promotion, "plies": plies},
        players=2,
        actions=PASS + 1,
        max_plies=plies,
        config=configuration(
            CONFIG,
            **{"sides": (0xFFFF, 0xFFFF << 48), "kinds": kinds, "plies": plies, "promotion": promotion},
            **{"ahead": (SIZE, CELLS - SIZE), "third": (0xFF << 16, 0xFF << 40)},
            step=[SIZE * up + right for right, up in STEPS],
            **{"above": landings(1), "below": landings(-1), "up": lines(1), "down": lines(-1)},
            leaps=[reached(STEPS[SLIDES:], cell) for cell in range(CELLS)],
            near=[reached(STEPS[:SLIDES], cell) for cell in range(CELLS)],
        ),
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
        action_name=action_name,
        action_named=action_named,
        why_illegal=lambda action: "no own piece can go so" if action < PASS else "there is a move to make",
        layout=STATE,
        validate=validate,
    )


EXAMPLES: tuple[dict[str, Any], ...] = ({}, {"promotion": True, "plies": 25})
"""Configurations for the shared tests."""
