"""Pig, a race with one die.

Board    two scores and the total of the present turn.
Players  two; player 0 begins.
Turn     the mover rolls the die or holds. A roll of 2 to 6 is added to the total, and the turn goes on. A roll of 1 loses the
         total, and a hold adds it to the mover's score; both end the turn.
End      when a hold brings a score to `target` or more; and after `max_plies` plies, rolls of the die among them.
Moves    0 roll, 1 hold; written "roll" and "hold". The faces 1 to 6 of the die are the outcomes 0 to 5.
Payoff   1 to the player who reached the target, 0 to the other; 1/2 each where nobody did.
Source   Scarne, 1945; optimal play by Neller and Presser: Optimal Play of the Dice Game Pig, UMAP Journal 25, 2004.

The key leaves the ply out, although the game ends by it: with the default `max_plies` that is far off.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.interface import Kernels
from ucd_envs.kernels import (
    CHANCE,
    DRAW,
    IS_LEGAL,
    KEY,
    LEGAL_ACTIONS,
    OBSERVE,
    OVER,
    PLAY,
    PLAYOUT,
    PLAYOUT_ACTION,
    PROBABILITY,
    READ_PAYOFFS,
    RESET,
    VALIDATE,
    kernel,
    most_moves,
    move_of,
)
from ucd_envs.rng import below, draw
from ucd_envs.rules import Rules, State
from ucd_envs.settings import integer, move_among
from ucd_envs.structs import configuration, fields, record

ROLL, HOLD, FACES = 0, 1, 6
HIGHEST, LONGEST = 10_000, 1_000_000
U63, U_FACES = np.uint64(63), np.uint64(FACES)

CONFIG = record(("target", np.int64), ("max_plies", np.int64))
STATE = record(
    *((name, np.int32) for name in ("player", "ply", "turn", "total")),
    *((name, np.int32) for name in ("first", "second")),
)
"""`turn`: whose turn it is, also while the die rolls; `first`, `second`: the scores of player 0 and 1."""


@kernel(RESET)
def reset(config, state):
    """Sets both scores to 0."""
    s = fields(state, STATE)
    s.player = s.ply = s.turn = s.total = s.first = s.second = 0


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists roll and hold, or the faces of the die."""
    player = fields(state, STATE).player
    count = 0 if player < 0 else FACES if player == CHANCE else 2
    for action in range(count):
        actions[action] = action
    return count


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether the action is roll or hold, or a face while the die rolls."""
    player = fields(state, STATE).player
    return 0 <= action < (0 if player < 0 else FACES if player == CHANCE else 2)


@kernel(PLAY)
def play(config, state, action):
    """Lets the die roll, holds, or reads the face that came."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    s.ply += 1
    if s.player == CHANCE:
        if action > 0:
            s.total += action + 1
        else:
            s.total = 0
            s.turn = 1 - s.turn
        s.player = s.turn
    elif action == ROLL:
        s.player = CHANCE
    else:
        if s.turn == 0:
            s.first += s.total
        else:
            s.second += s.total
        s.total = 0
        s.turn = 1 - s.turn
        s.player = OVER if max(s.first, s.second) >= c.target else s.turn
    if s.ply >= c.max_plies:
        s.player = OVER


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 for the player at the target, 1/2 each where nobody is."""
    target, s = fields(config, CONFIG).target, fields(state, STATE)
    out[0] = 1.0 if s.first >= target else 0.0 if s.second >= target else 0.5
    out[1] = 1.0 - out[0]


@kernel(KEY)
def key(config, state, words):
    """Writes both scores, the total, whose turn it is, and whether the die rolls."""
    s = fields(state, STATE)
    words[0] = np.uint64(s.first) << np.uint64(32) | np.uint64(s.second)
    words[1] = np.uint64(s.total) << np.uint64(2) | np.uint64(s.turn) << np.uint64(1) | np.uint64(s.player == CHANCE)


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Rolls or holds at random, and rolls the die."""
    s, played, most = fields(state, STATE), np.int64(0), most_moves(trace)
    while s.player >= 0 and played < most:
        action = roll(config, state, rng) if s.player == CHANCE else np.int64(draw(rng) >> U63)
        if trace.size > 0:
            trace[played] = move_of(s.player, action)
        play(config, state, action)
        played += 1
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns roll or hold, each with probability 1/2."""
    return np.int64(draw(rng) >> U63)


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes the observer's score, the other's and the total in unary, a row of `target` each, and whose turn it is."""
    target, s = fields(config, CONFIG).target, fields(state, STATE)
    mine, other = (s.first, s.second) if player == 0 else (s.second, s.first)
    for i in range(target):
        planes[4 * i] = i < mine
        planes[4 * i + 1] = i < other
        planes[4 * i + 2] = i < s.total
        planes[4 * i + 3] = s.turn == player


@kernel(DRAW)
def roll(config, state, rng):
    """Returns a face, each with probability 1/6."""
    return np.int64(below(rng, U_FACES))


@kernel(PROBABILITY)
def probability(config, state, action):
    """Returns 1/6."""
    return 1.0 / FACES


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether scores and total can be, and the game is over exactly when it must be."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if not (0 <= s.turn <= 1 and min(s.first, s.second, s.total) >= 0 and max(s.first, s.second, s.total) <= 6 * s.ply):
        return False
    won = max(s.first, s.second) >= c.target
    if won and (min(s.first, s.second) >= c.target or s.total > 0 or (s.second >= c.target) != (s.turn == 0)):
        return False
    if (s.player == OVER) != (won or s.ply >= c.max_plies):
        return False
    return s.player == OVER or s.player == CHANCE or s.player == s.turn


def rules(target: int = 100, max_plies: int = 10_000) -> Rules:
    """Pig to `target` points, 1 to 10,000, in at most `max_plies` plies, 1 to 1,000,000. Raises ValueError for others."""
    target, max_plies = integer("target", target, 1, HIGHEST), integer("max_plies", max_plies, 1, LONGEST)

    def action_name(state: State, action: int) -> str:
        return str(action + 1) if state.player == CHANCE or action > HOLD else ("roll", "hold")[action]

    def action_named(state: State, text: str) -> int:
        return move_among(text, {action_name(state, action): action for action in state.legal_actions()})

    return Rules(
        name="pig_v0",
        settings={"target": target, "max_plies": max_plies},
        players=2,
        actions=FACES,
        max_plies=max_plies,
        config=configuration(CONFIG, target=target, max_plies=max_plies),
        state_bytes=STATE.itemsize,
        key_words=2,
        planes=(1, target, 4),
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key),
            is_legal=is_legal,
            playout=playout,
            playout_action=playout_action,
            observe=observe,
            draw=roll,
            probability=probability,
        ),
        action_name=action_name,
        action_named=action_named,
        layout=STATE,
        validate=validate,
    )


EXAMPLES: tuple[dict[str, Any], ...] = ({"target": 1}, {"target": 20}, {"target": 100}, {"target": 20, "max_plies": 30})
"""Configurations for the shared tests."""
