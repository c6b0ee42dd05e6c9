"""Men of two players on the points of nine men's morris, which are put down, moved and removed.

A set of men is a word: point k is bit k. An action is a point for a man put down or removed, 24 * from + to + 24 for a move;
PASS comes behind. A Position is the part of a state that kernels keep in registers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ucd_envs.boards.bits import ONE, ZERO, bit, first, has, list_cells, nth
from ucd_envs.boards.mills import ALL, NAMED, NAMES, POINTS, SIDE, completes, in_mills
from ucd_envs.kernels import kernel
from ucd_envs.rules import State
from ucd_envs.settings import no_move
from ucd_envs.structs import fields, popcount, record

MEN, FEWEST = 9, 3
"""Men of a player at the start, and fewest with which it goes on. They may move to any empty point."""
PASS = POINTS + POINTS * POINTS
OWN, OTHER, POINT, MINE, REMOVING, HANDS, PLY = 0, 1, 2, 3, 4, 5, 13
"""Planes: men, points, whether the observer is to move, whether a removal is next, bits of both hands, and of the ply."""
PLY_BITS = 8
PLANES = PLY + PLY_BITS
U24, U32, U48, U52, U56, U57 = (np.uint64(n) for n in (24, 32, 48, 52, 56, 57))

STATE = record(
    *((name, np.int32) for name in ("player", "ply", "turn", "removing")),
    ("hands", np.int32, (2,)),
    ("men", np.uint64, (2,)),
)
"""`turn`: whose turn it is, and at the end would be; `removing`: whether a removal is next; `hands`: men not yet put down."""


class Position(NamedTuple):
    """Men and hands of the player whose turn it is and of the other one, and whether a removal is next."""

    turn: np.int64
    own: np.uint64
    other: np.uint64
    hand: np.int64
    rest: np.int64
    removing: bool


@kernel()
def set_up(s):
    """Clears the board and gives each player its men."""
    s.player = s.ply = s.turn = s.removing = 0
    s.hands[0] = s.hands[1] = MEN
    s.men[0] = s.men[1] = ZERO


@kernel()
def position_of(s):
    """Returns the position of a record."""
    turn = np.int64(s.turn)
    return Position(turn, s.men[turn], s.men[1 - turn], np.int64(s.hands[turn]), np.int64(s.hands[1 - turn]), s.removing != 0)


@kernel()
def write(s, p):
    """Writes a position."""
    s.turn, s.removing = p.turn, p.removing
    s.men[p.turn], s.men[1 - p.turn], s.hands[p.turn], s.hands[1 - p.turn] = p.own, p.other, p.hand, p.rest


@kernel()
def empty_points(p):
    """Returns the points without a man."""
    return ALL & ~(p.own | p.other)


@kernel()
def reach(c, p, man):
    """Returns the empty points to which an own man may move."""
    return (ALL if popcount(p.own) == FEWEST else c.neighbours[man]) & empty_points(p)


@kernel()
def is_blocked(c, p):
    """Returns whether no own man can move."""
    men = p.own
    while men:
        if reach(c, p, np.uint64(first(men))):
            return False
        men &= men - ONE
    return True


@kernel()
def can_move(c, p, action):
    """Returns whether an action is a move of an own man, or a pass where none can move."""
    if action == PASS:
        return is_blocked(c, p)
    man, target = (action - POINTS) // POINTS, (action - POINTS) % POINTS
    return action >= POINTS and has(p.own, man) and has(reach(c, p, man), target)


@kernel()
def list_moves(c, p, actions):
    """Writes the moves of own men, and returns their number."""
    count, men = 0, p.own
    while men:
        man = first(men)
        count = list_cells(reach(c, p, man), POINTS + POINTS * man, actions, count)
        men &= men - ONE
    return count


@kernel()
def after(c, p, action):
    """Returns the position after an action. The turn ends unless a mill is completed."""
    own, other, hand, removing = p.own, p.other, p.hand, False
    if p.removing and action != PASS:
        other &= ~bit(action)
    elif action != PASS:
        target = np.uint64(action)
        if action >= POINTS:
            moved = target - U24
            target = moved % U24
            own &= ~bit(moved // U24)
        else:
            hand -= 1
        own |= bit(target)
        removing = completes(c.pairs[target], own)
    if removing:
        return Position(p.turn, own, other, hand, p.rest, True)
    return Position(1 - p.turn, other, own, p.rest, hand, False)


@kernel()
def chosen_point(points, bits):
    """Returns a point of a set, drawn by 64 random bits, or the pass if there is none."""
    count = np.uint64(popcount(points))
    return nth(points, (bits >> U32) * count >> U32) if count else np.int64(PASS)


@kernel()
def chosen_move(c, p, bits):
    """Returns a move of an own man, drawn by 64 random bits, or the pass if there is none."""
    own, empty = p.own, empty_points(p)
    if popcount(own) == FEWEST:
        count = np.uint64(popcount(empty))
        which = (bits >> U32) * count * np.uint64(FEWEST) >> U32
        return POINTS + POINTS * nth(own, which // count) + nth(empty, which % count)
    ways, men = 0, own
    while men:
        ways += popcount(c.neighbours[np.uint64(first(men))] & empty)
        men &= men - ONE
    if ways == 0:
        return np.int64(PASS)
    which, men = np.int64((bits >> U32) * np.uint64(ways) >> U32), own
    while True:
        man = np.uint64(first(men))
        targets = c.neighbours[man] & empty
        own_ways = np.int64(popcount(targets))
        if which < own_ways:
            return POINTS + POINTS * np.int64(man) + nth(targets, which)
        which -= own_ways
        men &= men - ONE


@kernel()
def write_key(s, words):
    """Writes both players' men, hands, whose turn it is and whether a removal is next."""
    hands = np.uint64(s.hands[0]) << U48 | np.uint64(s.hands[1]) << U52
    words[0] = s.men[0] | s.men[1] << U24 | hands | np.uint64(s.turn) << U56 | np.uint64(s.removing) << U57


@kernel()
def write_planes(c, s, player, planes):
    """Writes the men on the points of a 7x7 grid, the top row first, and facts on the whole grid."""
    hands = s.hands[player] | s.hands[1 - player] << 4
    for cell in range(SIDE * SIDE):
        at = cell * PLANES
        planes[at + OWN] = planes[at + OTHER] = planes[at + POINT] = 0
        planes[at + MINE] = s.turn == player
        planes[at + REMOVING] = s.removing
        for place in range(PLY - HANDS):
            planes[at + HANDS + place] = hands >> place & 1
        for place in range(PLY_BITS):
            planes[at + PLY + place] = s.ply >> place & 1
    for point in range(POINTS):
        here = np.int64(c.cell[point]) * PLANES
        planes[here + OWN], planes[here + OTHER] = has(s.men[player], point), has(s.men[1 - player], point)
        planes[here + POINT] = 1


@kernel()
def are_possible(c, s, put):
    """Returns whether players can have put down `put` men in turn, with these men and hands left, and a removal follows a
    mill."""
    if s.turn not in (0, 1) or s.removing not in (0, 1) or min(s.hands[0], s.hands[1]) < 0:
        return False
    if s.men[0] & s.men[1] or (s.men[0] | s.men[1]) & ~ALL:
        return False
    for player in range(2):
        if popcount(s.men[player]) + s.hands[player] > MEN:
            return False
    # Player 0 puts down the first of two men.
    if s.hands[0] != MEN - (put + 1) // 2 or s.hands[1] != MEN - put // 2:
        return False
    return s.removing == 0 or in_mills(c.mills, s.men[s.turn]) != ZERO


def images_of(turned: np.ndarray) -> np.ndarray:
    """Returns the image of each action, [symmetries, PASS + 1]; turned: image of each point, [symmetries, POINTS]."""
    moves = POINTS + POINTS * turned[:, :, None] + turned[:, None, :]
    return np.hstack([turned, moves.reshape(len(turned), -1), np.full((len(turned), 1), PASS)])


def action_name(state: State, action: int) -> str:
    """Returns the name of an action: "On>One", "pass", or the name of a point behind "x" for a removal, else "+"."""
    if action == PASS:
        return "pass"
    if action < POINTS:
        return "+x"[fields(state.array(), STATE).removing] + NAMES[action]
    return ">".join(NAMES[point] for point in divmod(action - POINTS, POINTS))


def action_named(state: State, text: str) -> int:
    """Returns the action of a text, in upper or lower case. Raises ValueError for a text that names none."""
    written = text.lower()
    if written == "pass":
        return PASS
    man, arrow, target = written.replace("-", ">").partition(">")
    if arrow and man in NAMED and target in NAMED:
        return POINTS + POINTS * NAMED[man] + NAMED[target]
    # A point alone needs no sign.
    point = man.removeprefix("+x"[fields(state.array(), STATE).removing])
    if not arrow and point in NAMED:
        return NAMED[point]
    raise no_move(text, [action_name(state, action) for action in state.legal_actions()])
