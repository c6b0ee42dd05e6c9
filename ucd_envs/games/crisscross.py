"""CrissCross, Chinese checkers for two on a small plus.

Board    20 cells: columns a, b, e and f have the rows 3 and 4, columns c and d the rows 1 to 6. Row 1 is the lowest. Player 0
         has stones on a3, a4, b3 and b4, player 1 on c1, c2, d1 and d2.
Players  two; player 0 begins.
Turn     player 0 moves to the right only, player 1 upwards only: a step to the next empty cell; a jump over a stone of
         anybody to the empty cell behind it; or a double jump over a stone, across an empty cell, over another stone to an
         empty cell. Nothing is captured. A player whose stones cannot move passes, and only then.
Goal     player 0 is home on e3, e4, f3 and f4, player 1 on c5, c6, d5 and d6.
End      when both are home, or after `plies` plies. The player who was home while the other was not is the first; the game
         goes on for the other.
Moves    3 * cell + kind: 0 for a step, 1 a jump, 2 a double jump, written as both cells, "c2c3"; 60 to pass, "pass". Cells
         are counted row by row from c1: a3 is 4, f4 is 15, d6 is 19.
Payoff   1 to the first. The other gets 0.25 for four stones home, 0.15 for both far cells (f3 and f4, or c6 and d6) and one
         near one, 0.1 for both near cells and one far one, 0.05 for both far cells, else 0. If nobody was first, each gets 1,
         0.75, 0.5, 0.25 or 0 for the same. The payoffs do not sum to 1.
Source   the rulesheet crisscross of the Dresden server for General Game Playing, competition of 2006.

choice            here                                elsewhere
`plies`           39, as in the rulesheet             any limit; with one below 15 nobody need be first
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards import plus
from ucd_envs.boards.bits import has
from ucd_envs.boards.plus import KINDS, PASS, ROW, SIDE, can_move, chosen, is_home, list_moves, moved
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
from ucd_envs.settings import integer
from ucd_envs.structs import configuration, fields, record

PLANES, MOST_PLIES = 14, 99
U32 = np.uint64(32)

CONFIG = record(("plies", np.int64), *plus.TABLES)
STATE = record(*((name, np.int32) for name in ("player", "ply", "first")), ("stones", np.uint64, (2,)))
"""`first`: the player who was home while the other was not, -1 for nobody, from the ply after that on."""


@kernel(RESET)
def reset(config, state):
    """Sets up the stones."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    s.player, s.ply, s.first = 0, 0, -1
    s.stones[0], s.stones[1] = c.start[0], c.start[1]


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists the moves of all stones, or the pass."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0:
        return 0
    count = list_moves(c, s.stones[s.player], s.stones[1 - s.player], s.player, actions)
    if count == 0:
        actions[0] = PASS
        count = 1
    return count


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether the stone can make the move, or none can and the action is a pass."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0 or action < 0 or action > PASS:
        return False
    return can_move(c, s.stones[s.player], s.stones[1 - s.player], s.player, action)


@kernel(PLAY)
def play(config, state, action):
    """Moves a stone or passes, and ends the game when both players are home or the last ply was made."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    player = s.player
    s.first = first_home(c, s.first, s.stones[0], s.stones[1])
    if action < PASS:
        s.stones[player] = moved(c, s.stones[player], c.place[action // KINDS], action % KINDS, player)
    s.ply += 1
    over = s.ply == c.plies or (s.first >= 0 and is_home(c, s.stones[1 - s.first], 1 - s.first))
    s.player = OVER if over else 1 - player


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 for the first player, and a share for the other; shares of 1 for both where nobody is first."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    for player in range(2):
        near, far = s.stones[player] & c.near[player], s.stones[player] & c.far[player]
        value = 0
        if far == c.far[player]:
            value = 25 if near == 0 else 100 if near == c.near[player] else 75
        elif near == c.near[player] and far != 0:
            value = 50
        if s.first == player:
            out[player] = 1.0
        elif s.first < 0:
            out[player] = value / 100.0
        else:
            out[player] = 0.25 if value == 100 else value / 500.0


@kernel(KEY)
def key(config, state, words):
    """Writes both players' stones, whose turn it is, and the first player."""
    s = fields(state, STATE)
    words[0] = s.stones[0] | np.uint64(s.ply & 1) << np.uint64(48)
    words[1] = s.stones[1] | np.uint64(s.first + 1) << np.uint64(48)


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays random moves. Keeps the position in registers."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0:
        return 0
    played, most, left = np.int64(0), most_moves(trace), np.int64(c.plies - s.ply)
    turn, leader, over = np.int64(s.player), np.int64(s.first), False
    mine, other, a, b = s.stones[turn], s.stones[1 - turn], rng[0], rng[1]
    while not over and played < most:
        leader = first_home(c, leader, mine if turn == 0 else other, other if turn == 0 else mine)
        bits, a, b = stepped(a, b)
        place, kind = chosen(c, mine, other, turn, bits >> U32)
        if trace.size > 0:
            trace[played] = move_of(turn, PASS if kind < 0 else KINDS * c.cell[place] + kind)
        if kind >= 0:
            mine = moved(c, mine, place, kind, turn)
        played += 1
        mine, other, turn = other, mine, 1 - turn
        over = played == left or (leader >= 0 and is_home(c, other if leader == turn else mine, 1 - leader))
    rng[0], rng[1] = a, b
    s.stones[turn], s.stones[1 - turn] = mine, other
    s.ply += played
    s.first, s.player = leader, OVER if over else turn
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns a move, drawn uniformly, or the pass."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    place, kind = chosen(c, s.stones[s.player], s.stones[1 - s.player], s.player, draw(rng) >> U32)
    return PASS if kind < 0 else KINDS * c.cell[place] + kind


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes own stones, the other's stones, the cells of the board, own and the other's goal, whether the observer and whether
    the other was home first, and the plies left, from 1 upwards in seven bits. The lowest row comes first.
    """
    c, s = fields(config, CONFIG), fields(state, STATE)
    left, at = c.plies - s.ply, 0
    for row in range(SIDE):
        for column in range(SIDE):
            place = ROW * row + column
            for i in range(2):
                whose = player if i == 0 else 1 - player
                planes[at + i] = has(s.stones[whose], place)
                planes[at + 3 + i] = has(c.near[whose] | c.far[whose], place)
                planes[at + 5 + i] = s.first == whose
            planes[at + 2] = has(c.board, place)
            for k in range(7):
                planes[at + 7 + k] = (left >> k) & 1
            at += PLANES


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether the stones are in their rows and columns, and turn, first player and end agree with them."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.stones[0] & s.stones[1] or not -1 <= s.first <= 1:
        return False
    if not plus.are_on_lines(c, s.stones[0], 0) or not plus.are_on_lines(c, s.stones[1], 1):
        return False
    home, other_home = is_home(c, s.stones[0], 0), is_home(c, s.stones[1], 1)
    if s.first < 0:
        # Only the player who has just moved may be home unnoticed.
        if (home and other_home) or (home if s.ply & 1 == 0 else other_home):
            return False
    elif not (home if s.first == 0 else other_home):
        return False
    over = s.ply == c.plies or (s.first >= 0 and home and other_home)
    return s.player == (OVER if over else s.ply & 1)


@kernel()
def first_home(c, leader, stones, others):
    """Returns the first player after a ply from these stones of players 0 and 1: one who alone is home, or the one before."""
    if leader >= 0:
        return np.int64(leader)
    home, other_home = is_home(c, stones, 0), is_home(c, others, 1)
    return np.int64(-1 if home == other_home else 0 if home else 1)


def rules(plies: int = 39) -> Rules:
    """CrissCross, over after `plies` plies at the latest, 1 to 99."""
    plies = integer("plies", plies, 1, MOST_PLIES)
    return Rules(
        name="crisscross_v0",
        settings={"plies": plies},
        players=2,
        actions=PASS + 1,
        max_plies=plies,
        config=configuration(CONFIG, plies=plies, **plus.tables()),
        state_bytes=STATE.itemsize,
        key_words=2,
        planes=(SIDE, SIDE, PLANES),
        tiling="cross",
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key),
            is_legal=is_legal,
            playout=playout,
            playout_action=playout_action,
            observe=observe,
        ),
        action_name=plus.action_name,
        action_named=plus.action_named,
        why_illegal=lambda action: "a stone can move" if action == PASS else "no stone of the player can move so",
        layout=STATE,
        validate=validate,
    )


EXAMPLES: tuple[dict[str, Any], ...] = ({}, {"plies": 14})
"""Configurations for the shared tests."""
