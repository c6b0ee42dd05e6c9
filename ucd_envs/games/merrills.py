"""Merrills, or nine men's morris.

Board    24 points on three nested squares: corners and middles of their sides, joined along the sides and from middle to
         middle across the squares. The 16 straight lines of three points are the mills.
Players  two, with nine men each in hand; player 0 is white and begins.
Turn     a player with men in hand puts one on an empty point. Then a man moves along a line to the next point if that is
         empty, or, of a player's last three men, to any empty point. A man that completes a mill gives its player the next
         ply as well, in which it removes one enemy man outside of all mills. If there is none it passes, and so does a player
         who cannot move.
End      when a player has fewer than three men, those in hand included, or after 60 plies.
Payoff   1 to 0 against fewer than three men, else 3/4 to 1/4 for more men on the board, 1/2 each for as many.
Moves    24 * from + to + 24; the point alone for a man put down or removed; 600 to pass. Points are counted row by row
         from 0, the top row first: a7 d7 g7 b6 d6 f6 c5 d5 e5 a4 b4 c4 e4 f4 g4 c3 d3 e3 b2 d2 f2 a1 d1 g1.
         Written "+On", "On>One", "xOn" and "pass", a point as square (outer, middle, inner) and direction.
Source   the rulesheet "merrills" of the Dresden server for General Game Playing, 2010. Nine men's morris is a draw:
         Gasser, Solving Nine Men's Morris, 1996.

choice                    here               tournament=True           elsewhere
enemy men all in mills    none is removed    any is removed            as in tournaments
a player without a move   passes             loses                     as in tournaments
long games                end at ply 60      a draw after 200 turns    a draw at the third repetition or after 50 moves
                                                                       without a mill
payoff                    men count          win, draw or loss         as in tournaments

A turn is a man put down or moved, with the removal that follows. Draws are by turns, as in OpenSpiel, since a rule of
repetition needs a history: so men, hands and the ply decide the future.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards.bits import ONE, ZERO, bit, first, has, nth
from ucd_envs.boards.mills import (
    ALL,
    MILLS,
    NAMED,
    NAMES,
    PLACES,
    POINTS,
    SIDE,
    completes,
    completions,
    in_mills,
    neighbours,
    set_of,
)
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
from ucd_envs.rules import Rules, State
from ucd_envs.settings import boolean, shown
from ucd_envs.structs import configuration, fields, popcount, record

MEN, FEWEST = 9, 3
"""Men of a player at the start, and fewest that do not lose."""
PASS = POINTS + POINTS * POINTS
PLIES, TURNS, REMOVALS = 60, 200, 13
"""Longest games: in plies, in turns of a tournament, and its most removals, since the second player to lose a seventh man
does not live to see it."""
STEP_BITS = 8
OWN, OTHER, POINT, MINE, REMOVING, HANDS, STEP = 0, 1, 2, 3, 4, 5, 13
"""Planes: men, points, whether the observer is to move, whether a removal is next, bits of both hands, and of the ply."""
PLANES = STEP + STEP_BITS
U24, U32, U48, U52, U56, U57 = (np.uint64(n) for n in (24, 32, 48, 52, 56, 57))

CONFIG = record(
    ("tournament", np.int64),
    ("neighbours", np.uint64, (POINTS,)),
    ("pairs", np.uint64, (POINTS, 2)),
    ("mills", np.uint64, (len(MILLS),)),
    ("cell", np.uint8, (POINTS,)),
)
"""Sets of points: `neighbours` of a point; `pairs`, which are mills together with it; all `mills`. `cell`: of a point on the
grid."""
STATE = record(
    *((name, np.int32) for name in ("player", "ply", "turn", "removing")),
    ("hands", np.int32, (2,)),
    ("men", np.uint64, (2,)),
)
"""`turn`: whose turn it is, and at the end would be; `removing`: whether a removal is next; `hands`: men not yet put down."""


@kernel(RESET)
def reset(config, state):
    """Clears the board and gives each player its men."""
    s = fields(state, STATE)
    s.player = s.ply = s.turn = s.removing = 0
    s.hands[0] = s.hands[1] = MEN
    s.men[0] = s.men[1] = ZERO


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists points for a man to be put down or removed, or moves, or the pass."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    count = 0
    if s.player < 0:
        return count
    own, other = s.men[s.turn], s.men[1 - s.turn]
    if s.removing or s.hands[s.turn]:
        points = removable(c, other) if s.removing else ALL & ~(own | other)
        while points:
            actions[count] = first(points)
            points &= points - ONE
            count += 1
    else:
        men = own
        while men:
            man = first(men)
            targets = reach(c, own, other, man)
            while targets:
                actions[count] = POINTS + POINTS * man + first(targets)
                targets &= targets - ONE
                count += 1
            men &= men - ONE
    if count == 0:
        actions[0] = PASS
        count = 1
    return count


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether the man may be put down, moved or removed, or the player can only pass."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0 or action < 0 or action > PASS:
        return False
    own, other, moves = s.men[s.turn], s.men[1 - s.turn], s.removing == 0 and s.hands[s.turn] == 0
    if moves:
        if action == PASS:
            return is_blocked(c, own, other)
        man, target = (action - POINTS) // POINTS, (action - POINTS) % POINTS
        return action >= POINTS and has(own, man) and has(reach(c, own, other, man), target)
    points = removable(c, other) if s.removing else ALL & ~(own | other)
    return points == ZERO if action == PASS else action < POINTS and has(points, action)


@kernel(PLAY)
def play(config, state, action):
    """Puts down, moves or removes a man, or passes. The turn ends unless a mill is completed."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    turn = np.int64(s.turn)
    own, other, hand, removing = after(c, s.men[turn], s.men[1 - turn], s.hands[turn], s.removing != 0, action)
    s.men[turn], s.men[1 - turn], s.hands[turn] = own, other, hand
    s.ply += 1
    s.removing = removing
    s.turn = turn if removing else 1 - turn
    s.player = OVER if is_over(c, s) else s.turn


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 and 0 where a player has lost, else what the men are worth."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    turn = np.int64(s.turn)
    own, other = s.men[turn], s.men[1 - turn]
    mine, theirs = popcount(own), popcount(other)
    if has_lost(c, own, other, s.hands[turn], s.removing != 0):
        out[turn] = 0.0
    elif c.tournament or mine == theirs:
        out[turn] = 0.5
    else:
        out[turn] = 0.75 if mine > theirs else 0.25
    out[1 - turn] = 1.0 - out[turn]


@kernel(KEY)
def key(config, state, words):
    """Writes both players' men, hands, whose turn it is and whether a removal is next."""
    s = fields(state, STATE)
    hands = np.uint64(s.hands[0]) << U48 | np.uint64(s.hands[1]) << U52
    words[0] = s.men[0] | s.men[1] << U24 | hands | np.uint64(s.turn) << U56 | np.uint64(s.removing) << U57


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays random moves."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    turn, ply, removing, over = np.int64(s.turn), np.int64(s.ply), s.removing != 0, s.player < 0
    own, other, hand, rest = s.men[turn], s.men[1 - turn], np.int64(s.hands[turn]), np.int64(s.hands[1 - turn])
    a, b = rng[0], rng[1]
    played, most = np.int64(0), most_moves(trace)
    while not over and played < most:
        bits, a, b = stepped(a, b)
        action = chosen(c, own, other, hand, removing, bits)
        if trace.size > 0:
            trace[played] = move_of(turn, action)
        own, other, hand, removing = after(c, own, other, hand, removing, action)
        played += 1
        ply += 1
        if not removing:
            own, other, hand, rest, turn = other, own, rest, hand, 1 - turn
        over = has_ended(c, own, other, hand, rest, removing, ply)
    rng[0], rng[1] = a, b
    s.men[turn], s.men[1 - turn], s.hands[turn], s.hands[1 - turn] = own, other, hand, rest
    s.turn, s.ply, s.removing, s.player = turn, ply, removing, OVER if over else turn
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns a legal action, drawn uniformly."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    return chosen(c, s.men[s.turn], s.men[1 - s.turn], s.hands[s.turn], s.removing != 0, draw(rng))


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes the men on the points of a 7x7 grid, the top row first, and facts on the whole grid."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    hands = s.hands[player] | s.hands[1 - player] << 4
    for cell in range(SIDE * SIDE):
        at = cell * PLANES
        planes[at + OWN] = planes[at + OTHER] = planes[at + POINT] = 0
        planes[at + MINE] = s.turn == player
        planes[at + REMOVING] = s.removing
        for place in range(STEP - HANDS):
            planes[at + HANDS + place] = hands >> place & 1
        for place in range(STEP_BITS):
            planes[at + STEP + place] = s.ply >> place & 1
    for point in range(POINTS):
        here = np.int64(c.cell[point]) * PLANES
        planes[here + OWN], planes[here + OTHER] = has(s.men[player], point), has(s.men[1 - player], point)
        planes[here + POINT] = 1


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether men, hands, plies and the turn agree, and the game is over when they say so."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.turn not in (0, 1) or s.removing not in (0, 1) or min(s.hands[0], s.hands[1]) < 0:
        return False
    if s.men[0] & s.men[1] or (s.men[0] | s.men[1]) & ~ALL:
        return False
    standing, put = popcount(s.men[0]) + popcount(s.men[1]), 2 * MEN - s.hands[0] - s.hands[1]
    for player in range(2):
        if popcount(s.men[player]) + s.hands[player] > MEN:
            return False
    # White puts down the first of two men.
    if s.hands[0] != MEN - (put + 1) // 2 or s.hands[1] != MEN - put // 2:
        return False
    turns = s.ply - (put - np.int64(standing)) - s.removing
    if put < 2 * MEN and (s.turn != (put - s.removing) % 2 or turns < put - s.removing):
        return False
    if turns < put - s.removing or (c.tournament and put < 2 * MEN and turns != put - s.removing):
        return False
    if c.tournament and s.turn != turns % 2:
        return False
    if s.removing and in_mills(c.mills, s.men[s.turn]) == ZERO:
        return False
    return s.player == (OVER if is_over(c, s) else s.turn)


@kernel()
def removable(c, men):
    """Returns the enemy men that may be removed."""
    free = men & ~in_mills(c.mills, men)
    return men if c.tournament and free == ZERO else free


@kernel()
def reach(c, own, other, man):
    """Returns the empty points to which a man may move."""
    return (ALL if popcount(own) == FEWEST else c.neighbours[man]) & ~(own | other)


@kernel()
def is_blocked(c, own, other):
    """Returns whether no man can move."""
    men = own
    while men:
        if reach(c, own, other, np.uint64(first(men))):
            return False
        men &= men - ONE
    return True


@kernel()
def after(c, own, other, hand, removing, action):
    """Returns the mover's men, the other's men, the mover's hand and whether a removal is next, after an action."""
    if action == PASS:
        return own, other, np.int64(hand), False
    if removing:
        return own, other & ~bit(action), np.int64(hand), False
    target, left = np.uint64(action), np.int64(hand) - 1
    if action >= POINTS:
        moved = np.uint64(action) - U24
        target, left = moved % U24, np.int64(hand)
        own &= ~bit(moved // U24)
    own |= bit(target)
    return own, other, left, completes(c.pairs[target], own)


@kernel()
def has_lost(c, own, other, hand, removing):
    """Returns whether the player whose turn it is has too few men, or in a tournament no move."""
    if np.int64(popcount(own)) + hand < FEWEST:
        return True
    return c.tournament != 0 and not removing and hand == 0 and is_blocked(c, own, other)


@kernel()
def has_ended(c, own, other, hand, rest, removing, ply):
    """Returns whether the game is over. own, hand: of the player whose turn it is."""
    if c.tournament:
        # Men are missing by removals, each a ply that is no turn of its own, as is the one that comes.
        removals = 2 * MEN - hand - rest - np.int64(popcount(own | other))
        if not removing and ply - removals >= TURNS:
            return True
    elif ply >= PLIES:
        return True
    return has_lost(c, own, other, hand, removing)


@kernel()
def is_over(c, s):
    """Returns whether the game is over by its men, hands, ply and turn."""
    turn = np.int64(s.turn)
    return has_ended(
        c, s.men[turn], s.men[1 - turn], np.int64(s.hands[turn]), np.int64(s.hands[1 - turn]), s.removing != 0, np.int64(s.ply)
    )


@kernel()
def chosen(c, own, other, hand, removing, bits):
    """Returns a random legal action from 64 random bits."""
    bits >>= U32
    empty = ALL & ~(own | other)
    if removing or hand > 0:
        points = removable(c, other) if removing else empty
        count = np.uint64(popcount(points))
        return nth(points, bits * count >> U32) if count else np.int64(PASS)
    if popcount(own) == FEWEST:
        count = np.uint64(popcount(empty))
        which = bits * count * np.uint64(FEWEST) >> U32
        return POINTS + POINTS * nth(own, which // count) + nth(empty, which % count)
    ways, men = 0, own
    while men:
        ways += popcount(c.neighbours[np.uint64(first(men))] & empty)
        men &= men - ONE
    if ways == 0:
        return np.int64(PASS)
    which, men = np.int64(bits * np.uint64(ways) >> U32), own
    while True:
        man = np.uint64(first(men))
        targets = c.neighbours[man] & empty
        own_ways = np.int64(popcount(targets))
        if which < own_ways:
            return POINTS + POINTS * np.int64(man) + nth(targets, which)
        which -= own_ways
        men &= men - ONE


def rules(tournament: bool = False) -> Rules:
    """Merrills as the rulesheet has it, or the nine men's morris of tournaments. Raises TypeError for anything but a bool."""
    tournament = boolean("tournament", tournament)

    def action_name(state: State, action: int) -> str:
        if action == PASS:
            return "pass"
        if action < POINTS:
            return "+x"[fields(state.array(), STATE).removing] + NAMES[action]
        return ">".join(NAMES[point] for point in divmod(action - POINTS, POINTS))

    def action_named(state: State, text: str) -> int:
        written = text.lower()
        if written == "pass":
            return PASS
        man, arrow, target = written.replace("-", ">").partition(">")
        if arrow and man in NAMED and target in NAMED:
            return POINTS + POINTS * NAMED[man] + NAMED[target]
        # A point alone needs no sign.
        point = man.removeprefix("+x"[fields(state.array(), STATE).removing])
        if arrow or point not in NAMED:
            named = action_name(state, state.legal_actions()[0])
            raise ValueError(f"{shown(text)} is no move here: expected one such as {named}")
        return NAMED[point]

    return Rules(
        name="merrills_v0",
        settings={"tournament": tournament},
        players=2,
        actions=PASS + 1,
        max_plies=TURNS + REMOVALS if tournament else PLIES,
        config=configuration(
            CONFIG,
            tournament=tournament,
            neighbours=neighbours(),
            pairs=completions(),
            mills=[set_of(mill) for mill in MILLS],
            cell=[row * SIDE + column for row, column in PLACES],
        ),
        state_bytes=STATE.itemsize,
        key_words=1,
        planes=(SIDE, SIDE, PLANES),
        tiling="rings",
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key),
            is_legal=is_legal,
            playout=playout,
            playout_action=playout_action,
            observe=observe,
        ),
        action_name=action_name,
        action_named=action_named,
        why_illegal=lambda action: "it is not a pass that is forced" if action == PASS else "the rules do not allow it",
        layout=STATE,
        validate=validate,
    )


EXAMPLES: tuple[dict[str, Any], ...] = ({}, {"tournament": True})
"""Configurations for the shared tests."""
