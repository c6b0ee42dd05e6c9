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

from ucd_envs.boards import men, mills
from ucd_envs.boards.bits import ZERO, has, list_cells
from ucd_envs.boards.men import FEWEST, MEN, PASS, after, chosen_move, chosen_point, empty_points, is_blocked, position_of
from ucd_envs.boards.mills import POINTS, SIDE, in_mills
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
from ucd_envs.structs import configuration, fields, popcount, record
from ucd_envs.symmetries import of_planes, symmetries

PLIES, TURNS, REMOVALS = 60, 200, 13
"""Longest games: in plies, in turns of a tournament, and its most removals, since the second player to lose a seventh man
does not live to see it."""

CONFIG = record(("tournament", np.int64), *mills.TABLES)
STATE = men.STATE


@kernel(RESET)
def reset(config, state):
    """Clears the board and gives each player its men."""
    men.set_up(fields(state, STATE))


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists points for a man to be put down or removed, or moves, or the pass."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0:
        return 0
    p = position_of(s)
    count = list_cells(points_for(c, p), 0, actions, 0) if p.removing or p.hand else men.list_moves(c, p, actions)
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
    p = position_of(s)
    if not p.removing and p.hand == 0:
        return men.can_move(c, p, action)
    points = points_for(c, p)
    return points == ZERO if action == PASS else action < POINTS and has(points, action)


@kernel(PLAY)
def play(config, state, action):
    """Puts down, moves or removes a man, or passes. The turn ends unless a mill is completed."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    p = after(c, position_of(s), action)
    men.write(s, p)
    s.ply += 1
    s.player = OVER if has_ended(c, p, s.ply) else s.turn


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 and 0 where a player has lost, else what the men are worth."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    p = position_of(s)
    mine, theirs = popcount(p.own), popcount(p.other)
    if has_lost(c, p):
        out[p.turn] = 0.0
    elif c.tournament or mine == theirs:
        out[p.turn] = 0.5
    else:
        out[p.turn] = 0.75 if mine > theirs else 0.25
    out[1 - p.turn] = 1.0 - out[p.turn]


@kernel(KEY)
def key(config, state, words):
    """Writes both players' men, hands, whose turn it is and whether a removal is next."""
    men.write_key(fields(state, STATE), words)


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays random moves. Keeps the position in registers."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    played, most, over, ply = np.int64(0), most_moves(trace), s.player < 0, np.int64(s.ply)
    p, a, b = position_of(s), rng[0], rng[1]
    while not over and played < most:
        bits, a, b = stepped(a, b)
        action = chosen(c, p, bits)
        if trace.size > 0:
            trace[played] = move_of(p.turn, action)
        p = after(c, p, action)
        played += 1
        over = has_ended(c, p, ply + played)
    rng[0], rng[1] = a, b
    men.write(s, p)
    s.ply, s.player = ply + played, OVER if over else p.turn
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns a legal action, drawn uniformly."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    return chosen(c, position_of(s), draw(rng))


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes the men on the points of a 7x7 grid, the top row first, and facts on the whole grid."""
    men.write_planes(fields(config, CONFIG), fields(state, STATE), player, planes)


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether men, hands, plies and the turn agree, and the game is over when they say so."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    standing, put = popcount(s.men[0]) + popcount(s.men[1]), 2 * MEN - s.hands[0] - s.hands[1]
    if not men.are_possible(c, s, put):
        return False
    turns, done = s.ply - (put - np.int64(standing)) - s.removing, put - s.removing
    if turns < done or (put < 2 * MEN and (s.turn != done % 2 or (c.tournament and turns != done))):
        return False
    if c.tournament and s.turn != turns % 2:
        return False
    return s.player == (OVER if has_ended(c, position_of(s), s.ply) else s.turn)


@kernel()
def points_for(c, p):
    """Returns the points where a man may be put down, or those of the enemy men that may be removed."""
    if not p.removing:
        return empty_points(p)
    free = p.other & ~in_mills(c.mills, p.other)
    return p.other if c.tournament and free == ZERO else free


@kernel()
def chosen(c, p, bits):
    """Returns a random legal action from 64 random bits."""
    if p.removing or p.hand > 0:
        return chosen_point(points_for(c, p), bits)
    return chosen_move(c, p, bits)


@kernel()
def has_lost(c, p):
    """Returns whether the player whose turn it is has too few men, or in a tournament no move."""
    if np.int64(popcount(p.own)) + p.hand < FEWEST:
        return True
    return c.tournament != 0 and not p.removing and p.hand == 0 and is_blocked(c, p)


@kernel()
def has_ended(c, p, ply):
    """Returns whether the game is over."""
    if c.tournament:
        # Men are missing by removals, each a ply that is no turn of its own, as is the one that comes.
        removals = 2 * MEN - p.hand - p.rest - np.int64(popcount(p.own | p.other))
        if not p.removing and ply - removals >= TURNS:
            return True
    elif ply >= PLIES:
        return True
    return has_lost(c, p)


def rules(tournament: bool = False) -> Rules:
    """Merrills as the rulesheet has it, or the nine men's morris of tournaments. Raises TypeError for anything but a bool."""
    tournament = boolean("tournament", tournament)
    turned, seen = mills.images_of()
    bits = np.arange(POINTS)[:, None] + np.array([0, POINTS])

    return Rules(
        name="merrills_v0",
        settings={"tournament": tournament},
        players=2,
        actions=PASS + 1,
        max_plies=TURNS + REMOVALS if tournament else PLIES,
        config=configuration(CONFIG, tournament=tournament, **mills.tables()),
        state_bytes=STATE.itemsize,
        key_words=1,
        planes=(SIDE, SIDE, men.PLANES),
        tiling="rings",
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key),
            is_legal=is_legal,
            playout=playout,
            playout_action=playout_action,
            observe=observe,
        ),
        action_name=men.action_name,
        action_named=men.action_named,
        why_illegal=lambda action: "it is not a pass that is forced" if action == PASS else "the rules do not allow it",
        layout=STATE,
        validate=validate,
        symmetries=symmetries(turned, bits, men.images_of(turned), 1, of_planes(seen, men.PLANES)),
    )


EXAMPLES: tuple[dict[str, Any], ...] = ({}, {"tournament": True})
"""Configurations for the shared tests."""
