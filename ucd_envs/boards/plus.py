"""Stones that step and jump across a small plus of 20 cells, those of player 0 to the right, those of player 1 upwards.

Cells are counted row by row from c1, the lowest row first. A set of cells is a word of rows of seven bits, the last one always
empty, so that no stone moves past the end of a row. Action 3 * cell + kind moves the stone on a cell, and PASS comes behind.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards.bits import ONE, ZERO, bit, first, has
from ucd_envs.kernels import kernel
from ucd_envs.rules import State
from ucd_envs.settings import move_among
from ucd_envs.structs import popcount

SIDE, ROW, STONES, KINDS = 6, 7, 4, 3
"""Rows and columns of the square around the plus, bits of a row, and stones of a player."""
PLACES = tuple(ROW * row + column for row in range(SIDE) for column in range(SIDE) if row in (2, 3) or column in (2, 3))
"""Bit of each of the 20 cells."""
PASS = KINDS * len(PLACES)
NAMES = tuple(f"{chr(ord('a') + place % ROW)}{place // ROW + 1}" for place in PLACES)
STEP, JUMP, DOUBLE = range(KINDS)
"""Kinds of moves: over 1, 2 and 4 cells."""
U2, U3, U4, U32 = (np.uint64(n) for n in (2, 3, 4, 32))

TABLES = (
    ("board", np.uint64),
    *((name, np.uint64, (2,)) for name in ("start", "way", "near", "far")),
    ("lines", np.uint64, (2, 2)),
    ("place", np.uint64, (len(PLACES),)),
    ("cell", np.int64, (ROW * SIDE,)),
)
"""Fields of a configuration. `board`: all cells; of each player: `start`, `way`: bits of a step, `near` and `far`: the halves
of the goal, `lines`: both lines along which stones move. `place`: bit of each cell; `cell`: cell of each bit."""


@kernel()
def movable(c, mine, other, player):
    """Returns the stones of a player that can step, jump and jump twice."""
    way, taken = c.way[player], mine | other
    empty = c.board & ~taken
    next_taken = mine & taken >> way
    jumps = next_taken & empty >> U2 * way
    return mine & empty >> way, jumps, jumps & taken >> U3 * way & empty >> U4 * way


@kernel()
def can_move(c, mine, other, player, action):
    """Returns whether a player's stone can make a move, or none can for the pass."""
    steps, jumps, doubles = movable(c, mine, other, player)
    if action == PASS:
        return steps | jumps | doubles == ZERO
    kind = action % KINDS
    return has(steps if kind == STEP else jumps if kind == JUMP else doubles, c.place[action // KINDS])


@kernel()
def is_home(c, stones, player):
    """Returns whether all stones of a player are on its goal."""
    return stones == c.near[player] | c.far[player]


@kernel()
def moved(c, stones, place, kind, player):
    """Returns a player's stones after a move of the one at a bit."""
    return stones ^ (bit(place) | bit(place) << (c.way[player] << np.uint64(kind)))


@kernel()
def list_moves(c, mine, other, player, actions):
    """Writes the moves of a player's stones, and returns their number."""
    steps, jumps, doubles = movable(c, mine, other, player)
    count, stones = 0, steps | jumps | doubles
    while stones:
        place = first(stones)
        for kind, able in ((STEP, steps), (JUMP, jumps), (DOUBLE, doubles)):
            if has(able, place):
                actions[count] = KINDS * c.cell[place] + kind
                count += 1
        stones &= stones - ONE
    return count


@kernel()
def chosen(c, mine, other, player, bits):
    """Returns the bit of a stone and the kind of a move, drawn by 32 random bits; kind -1 for a pass."""
    steps, jumps, doubles = movable(c, mine, other, player)
    stepping, jumping = np.uint64(popcount(steps)), np.uint64(popcount(jumps))
    count = stepping + jumping + np.uint64(popcount(doubles))
    if count == ZERO:
        return np.int64(0), np.int64(-1)
    number, able, kind = bits * count >> U32, steps, np.int64(STEP)
    if number >= stepping + jumping:
        number, able, kind = number - stepping - jumping, doubles, np.int64(DOUBLE)
    elif number >= stepping:
        number, able, kind = number - stepping, jumps, np.int64(JUMP)
    while number > ZERO:
        able &= able - ONE
        number -= ONE
    return first(able), kind


@kernel()
def are_on_lines(c, stones, player):
    """Returns whether a player's stones are two on each of its lines, which they never leave."""
    lower, upper = stones & c.lines[player, 0], stones & c.lines[player, 1]
    return stones == lower | upper and popcount(lower) == STONES // 2 and popcount(upper) == STONES // 2


def cells(names: str) -> int:
    """Returns the set of the cells with these names."""
    return sum(1 << PLACES[NAMES.index(name)] for name in names.split())


def tables() -> dict[str, Any]:
    """Returns the values of TABLES."""
    row, column = sum(1 << i for i in range(SIDE)), sum(1 << ROW * i for i in range(SIDE))
    return {
        "board": cells(" ".join(NAMES)),
        "start": [cells("a3 a4 b3 b4"), cells("c1 c2 d1 d2")],
        "way": [1, ROW],
        "near": [cells("e3 e4"), cells("c5 d5")],
        "far": [cells("f3 f4"), cells("c6 d6")],
        "lines": [[row << 2 * ROW, row << 3 * ROW], [column << 2, column << 3]],
        "place": PLACES,
        "cell": [PLACES.index(place) if place in PLACES else 0 for place in range(ROW * SIDE)],
    }


def _move(start: int, kind: int, player: int) -> str:
    """Returns the name of a move as both cells, or as a cell and a distance for a target off the board."""
    place, by = PLACES[start], (ROW if player else 1) << kind
    target = place + by
    if target in PLACES and (player or target // ROW == place // ROW):
        return NAMES[start] + NAMES[PLACES.index(target)]
    return f"{NAMES[start]}+{1 << kind}"


MOVES = tuple(
    (*(_move(start, kind, player) for start in range(len(PLACES)) for kind in range(KINDS)), "pass") for player in (0, 1)
)
"""Names of all actions, by player."""


def action_name(state: State, action: int) -> str:
    """Returns the text of an action, legal or not."""
    return MOVES[state.ply % 2][action]


def action_named(state: State, text: str) -> int:
    """Returns the action of a text, in upper or lower case. Raises ValueError for one that names no legal move."""
    return move_among(text, {action_name(state, action): action for action in state.legal_actions()})
