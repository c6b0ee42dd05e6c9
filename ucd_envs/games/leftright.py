"""LeftRight [UCD 4.1].

Board    a path of `steps` steps.
Players  one.
Turn     a step to the left or to the right.
End      after `steps` steps.
Moves    0 left, 1 right; written "left" and "right".
Payoff   the share of steps to the left, in [0, 1].
Source   [UCD 4.1], with 300 steps.

The order of the steps does not matter. After k steps there are k + 1 positions for 2**k paths, so nearly every position is a
transposition.
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
from ucd_envs.rng import draw
from ucd_envs.rules import Rules, State
from ucd_envs.settings import integer
from ucd_envs.structs import configuration, fields, popcount, record

LONGEST = 100_000
U1, U63, U64 = np.uint64(1), np.uint64(63), np.uint64(64)

CONFIG = record(("steps", np.int64))
STATE = record(("player", np.int32), ("ply", np.int32), ("lefts", np.int64))


@kernel(RESET)
def reset(config, state):
    """Returns to the start of the path."""
    s = fields(state, STATE)
    s.player = 0
    s.ply = 0
    s.lefts = 0


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists left and right."""
    if fields(state, STATE).player < 0:
        return 0
    actions[0] = 0
    actions[1] = 1
    return 2


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether the path goes on and the action is left or right."""
    return fields(state, STATE).player >= 0 and 0 <= action <= 1


@kernel(PLAY)
def play(config, state, action):
    """Makes one step. The last one ends the game."""
    s = fields(state, STATE)
    s.lefts += 1 - action
    s.ply += 1
    if s.ply == fields(config, CONFIG).steps:
        s.player = -1


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes the share of steps to the left."""
    out[0] = fields(state, STATE).lefts / fields(config, CONFIG).steps


@kernel(KEY)
def key(config, state, words):
    """Writes the number of steps to the left."""
    words[0] = np.uint64(fields(state, STATE).lefts)


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Makes random steps, 64 from each random word."""
    s = fields(state, STATE)
    steps = fields(config, CONFIG).steps
    left_over = np.uint64(min(steps - s.ply, most_moves(trace)))
    played = np.uint64(0)
    while played < left_over:
        bits = draw(rng)
        count = min(U64, left_over - played)
        if count < U64:
            bits >>= U64 - count
        s.lefts += np.int64(count - np.uint64(popcount(bits)))
        if trace.size > 0:
            for i in range(count):
                trace[played + i] = move_of(0, np.int64((bits >> i) & U1))
        played += count
    s.ply += np.int32(played)
    s.player = -1 if s.ply == steps else 0
    return np.int64(played)


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns left or right, each with probability 1/2."""
    return np.int64(draw(rng) >> U63)


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes a one for each step to the left in plane 0, and for each step to the right in plane 1."""
    s = fields(state, STATE)
    for step in range(fields(config, CONFIG).steps):
        planes[2 * step] = step < s.lefts
        planes[2 * step + 1] = step < s.ply - s.lefts


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether the path has gone as many steps as its ply says, and ends at the last one."""
    s = fields(state, STATE)
    return 0 <= s.lefts <= s.ply and (s.player < 0) == (s.ply == fields(config, CONFIG).steps)


def rules(steps: int = 300) -> Rules:
    """LeftRight with `steps` steps, 1 to 100,000. Raises ValueError for another number."""
    steps = integer("steps", steps, 1, LONGEST)

    def action_named(state: State, text: str) -> int:
        if text.lower() not in ("left", "right"):
            raise ValueError(f"{text!r} is no step: expected left or right")
        return int(text.lower() == "right")

    return Rules(
        name="leftright_v0",
        settings={"steps": steps},
        players=1,
        actions=2,
        max_plies=steps,
        config=configuration(CONFIG, steps=steps),
        state_bytes=STATE.itemsize,
        key_words=1,
        planes=(1, steps, 2),
        tiling="track",
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key),
            is_legal=is_legal,
            playout=playout,
            playout_action=playout_action,
            observe=observe,
        ),
        action_name=lambda state, action: ("left", "right")[action],
        action_named=action_named,
        rewards=(0.0, 1.0),
        layout=STATE,
        validate=validate,
    )


EXAMPLES: tuple[dict[str, Any], ...] = ({"steps": 1}, {"steps": 12}, {"steps": 64}, {"steps": 300})
"""Configurations for the shared tests."""
