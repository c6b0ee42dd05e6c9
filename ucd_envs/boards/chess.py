"""Pieces of chess as sets of cells, without castling, en passant and check.

A set of cells is one word, cell row * 8 + column in its bit, the first row at the bottom. Three sets tell the kinds of both
players' pieces: bishops are in the set diagonal, rooks in straight, queens in both, pawns in special, knights in special and
diagonal, kings in special and straight. Action 64 * from + to is a move, and PASS comes behind.

The moves of a position are counted without looking at single pieces. There are 16 directions: eight along which pieces slide,
kings step and pawns go, and the eight leaps of knights. A direction and a target name one move, since its piece is the nearest
one behind the target. So the targets in each direction are one set, and all sets together tell the number of moves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards.bits import ONE, ZERO, bit, first, has, list_cells, nth
from ucd_envs.boards.lines import beyond, rotated, seen_down, seen_up, slid_down, slid_up
from ucd_envs.kernels import kernel
from ucd_envs.rules import State
from ucd_envs.settings import cell_name, cell_named, shown
from ucd_envs.structs import leading_zeros, popcount

SIZE, CELLS, PASS = 8, 64, 64 * 64
WORD, U63 = np.dtype(np.uint64), np.uint64(63)
ENDS = np.uint64(0xFF000000000000FF)
"""The rows where no pawn stays."""
STEPS = ((1, 0), (0, 1), (-1, 1), (1, 1), (-2, 1), (2, 1), (-1, 2), (1, 2))
"""Columns and rows of directions 0 to 7, to higher cells: two straight ones, two diagonal ones, four leaps. Directions 8 to 15
are their opposites."""
STRAIGHTS, SLIDES, HALF, DIRECTIONS = 2, 4, 8, 16
KINDS = ((0b001, "P"), (0b011, "N"), (0b010, "B"), (0b100, "R"), (0b110, "Q"), (0b101, "K"))
"""Kinds of pieces: bit 0 for special, 1 for diagonal, 2 for straight."""

PIECES = (("sides", np.uint64, (2,)), ("kinds", np.uint64, (3,)))
"""Fields of a state. `sides`: the players' pieces; `kinds`: the sets special, diagonal and straight."""
TABLES = (
    *(("ahead", np.uint64, (2,)), ("third", np.uint64, (2,))),
    *((name, np.uint64, (HALF,)) for name in ("step", "above", "below")),
    *((name, np.uint64, (CELLS, HALF)) for name in ("up", "down")),
    *((name, np.uint64, (CELLS,)) for name in ("leaps", "near")),
)
"""Fields of a configuration. `ahead`: by how much a step of a player's pawns rotates their cells; `third`: the row of their
first step. `step`: by how much directions 0 to 7 raise a cell; `above`, `below`: the columns where steps in these directions
and in their opposites can end; `up`, `down`: all cells in these directions; `leaps`, `near`: the targets of knights and
kings."""


@kernel()
def kinds_of(s):
    """Returns the sets special, diagonal and straight of a record."""
    return s.kinds[0], s.kinds[1], s.kinds[2]


@kernel()
def kings_of(kinds):
    """Returns the cells of kings."""
    special, _, straight = kinds
    return special & straight


@kernel()
def pawns_of(kinds):
    """Returns the cells of pawns."""
    special, diagonal, straight = kinds
    return special & ~(diagonal | straight)


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
        ahead, pawn, empty = c.ahead[s.player], bit(start), ~(mine | other)
        forward = rotated(pawn, ahead) & empty
        twice = rotated(forward & c.third[s.player], ahead) & empty
        left, right = rotated(pawn, ahead - ONE) & c.above[2], rotated(pawn, ahead + ONE) & c.above[3]
        return forward | twice | (left | right) & other
    found, taken = ZERO, mine | other
    for i in range(0 if is_straight else STRAIGHTS, SLIDES if is_diagonal else STRAIGHTS):
        found |= seen_up(c.up[start, i], taken) | seen_down(c.down[start, i], taken)
    return found & ~mine


@kernel()
def list_moves(c, s, actions):
    """Writes the moves of the mover's pieces, and returns their number."""
    count, left = 0, s.sides[s.player]
    while left:
        start = first(left)
        left &= left - ONE
        count = list_cells(targets(c, s, np.uint64(start)), CELLS * start, actions, count)
    return count


@kernel()
def moves(c, s, sets):
    """Writes the targets of the mover's moves by their directions and returns how many moves there are."""
    return target_sets(c, sets, s.player, s.sides[s.player], s.sides[1 - s.player], kinds_of(s))


@kernel()
def target_sets(c, sets, player, mine, other, kinds):
    """Writes a player's targets in each direction to `sets`: [DIRECTIONS] uint64, and returns how many there are."""
    special, diagonal, straight = kinds
    empty, kings, knights = ~(mine | other), mine & kings_of(kinds), mine & special & diagonal
    for i in range(SLIDES):
        movers = mine & ~special & (straight if i < STRAIGHTS else diagonal)
        step = c.step[i]
        sets[i] = (slid_up(movers, empty & c.above[i], step) | kings) << step & c.above[i] & ~mine
        sets[i + HALF] = (slid_down(movers, empty & c.below[i], step) | kings) >> step & c.below[i] & ~mine
    for i in range(SLIDES, HALF):
        sets[i] = knights << c.step[i] & c.above[i] & ~mine
        sets[i + HALF] = knights >> c.step[i] & c.below[i] & ~mine
    # Pawns of player 0 go in directions 1 to 3, those of player 1 in their opposites; none goes beyond the board.
    pawns, ahead = mine & pawns_of(kinds), c.ahead[player]
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
    return np.uint64(first(c.up[end, i - np.uint64(HALF)] & taken)), end


@kernel()
def moved(mine, other, kinds, start, end, promotes):
    """Returns both players' pieces and their kinds after a move. A pawn at the end of the board becomes a queen or vanishes."""
    special, diagonal, straight = kinds
    here, there = bit(start), bit(end)
    keep = ~(here | there)
    is_pawn = here & pawns_of(kinds) != ZERO
    special = special & keep | (special >> start & ONE) << end
    diagonal = diagonal & keep | (diagonal >> start & ONE) << end
    straight = straight & keep | (straight >> start & ONE) << end
    mine, other = mine & keep | there, other & keep
    if is_pawn and there & ENDS != ZERO:
        special ^= there
        if promotes:
            diagonal, straight = diagonal | there, straight | there
        else:
            mine ^= there
    return mine, other, (special, diagonal, straight)


@kernel()
def are_possible(s):
    """Returns whether pieces are of known kinds where they can stand, and no player has more than at the start."""
    kinds = kinds_of(s)
    _, diagonal, straight = kinds
    kings, pawns, taken = kings_of(kinds), pawns_of(kinds), s.sides[0] | s.sides[1]
    if s.sides[0] & s.sides[1] or taken != kinds[0] | diagonal | straight or kings & diagonal or pawns & ENDS:
        return False
    for player in range(2):
        own = s.sides[player]
        if popcount(own) > 2 * SIZE or popcount(own & pawns) > SIZE or popcount(own & kings) > 1:
            return False
    return True


def set_up() -> dict[str, Any]:
    """Returns the values of PIECES at the start of chess."""
    white = dict(enumerate("RNBQKBNR" + "P" * SIZE))
    pieces = {**white, **{cell ^ 56: kind for cell, kind in white.items()}}
    codes = {letter: code for code, letter in KINDS}
    kinds = [sum(1 << cell for cell, kind in pieces.items() if codes[kind] >> digit & 1) for digit in range(3)]
    return {"sides": (0xFFFF, 0xFFFF << 48), "kinds": kinds}


def tables() -> dict[str, Any]:
    """Returns the values of TABLES."""

    def reached(steps: tuple[tuple[int, int], ...], cell: int) -> int:
        return sum(beyond(cell, sign * right, sign * up, SIZE, 1) for right, up in steps for sign in (1, -1))

    def lines(sign: int) -> list[list[int]]:
        far = [(sign * right, sign * up, SIZE, SIZE if i < SLIDES else 1) for i, (right, up) in enumerate(STEPS)]
        return [[beyond(cell, *line) for line in far] for cell in range(CELLS)]

    def landings(sign: int) -> list[int]:
        return [sum(1 << cell for cell in range(CELLS) if 0 <= cell % SIZE - sign * right < SIZE) for right, _ in STEPS]

    return {
        **{"ahead": (SIZE, CELLS - SIZE), "third": (0xFF << 16, 0xFF << 40)},
        "step": [SIZE * up + right for right, up in STEPS],
        **{"above": landings(1), "below": landings(-1), "up": lines(1), "down": lines(-1)},
        "leaps": [reached(STEPS[SLIDES:], cell) for cell in range(CELLS)],
        "near": [reached(STEPS[:SLIDES], cell) for cell in range(CELLS)],
    }


def action_name(state: State, action: int) -> str:
    """Returns the name of a move as both cells, such as "e2e4", or "pass"."""
    return "pass" if action == PASS else cell_name(action // CELLS, SIZE) + cell_name(action % CELLS, SIZE)


def action_named(state: State, text: str) -> int:
    """Returns the action of two cells or a pass, in upper or lower case. Raises ValueError for any other text."""
    if text.lower() == "pass":
        return PASS
    try:
        return CELLS * cell_named(text[:2], SIZE, SIZE) + cell_named(text[2:], SIZE, SIZE)
    except ValueError:
        raise ValueError(f"{shown(text)} is no move: expected two cells such as e2e4, or pass") from None
