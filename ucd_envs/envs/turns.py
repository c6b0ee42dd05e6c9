"""Compiled turns of one seat: a move, the outcomes of chance, and the replies to it, in one call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core.types import FunctionType

from ucd_envs.bindings import BindingType, bound, reader
from ucd_envs.kernels import (
    BYTES,
    CHANCE,
    DRAW,
    HEADER,
    IS_LEGAL,
    LEGAL_ACTIONS,
    OBSERVE,
    OVER,
    PLANES,
    PLAY,
    RNG,
    WORDS,
    compiled,
    kernel,
)
from ucd_envs.rng import below
from ucd_envs.rules import Rules
from ucd_envs.structs import fields, stack_array

RANDOM, SEES = 1, 2
"""Kinds of opponents: its moves are random, and played at once; it is asked for each, and is shown the observation."""
ILLEGAL = -(2**20)
"""The player that `advance` returns for an illegal action, which it has not played."""
BROKEN = ILLEGAL - 1
"""The player that it returns for a game that breaks its contract."""
ACTION = np.dtype(np.int32)
SLACK = 64
"""Spare entries of a list, which make small faults of an unchecked game harmless."""

TURNS = BindingType(
    "turns",
    {
        "legal_actions": FunctionType(LEGAL_ACTIONS),
        "is_legal": FunctionType(IS_LEGAL),
        "play": FunctionType(PLAY),
        "observe": FunctionType(OBSERVE),
        "draw": FunctionType(DRAW),
        "config": BYTES,
        "actions": types.int64,
        "max_plies": types.int64,
    },
)
"""Kernels and facts of a game for its turns."""
turns_at = reader(TURNS)
NUMBER = types.int64
ADVANCE = types.int64(WORDS, BYTES, NUMBER, NUMBER, NUMBER, RNG, RNG, PLANES, PLANES)


@kernel(ADVANCE)
def advance(words, state, action, seat, kind, rng, chance, planes, mask):
    """Plays an action, none for -1, and goes on until the seat is to move, an opponent has to be asked or the game is over.

    Writes the observation and the legal actions of the player to move, or of the seat at the end; of an opponent only if it
    is shown them. Returns the player to move; at the end -1 less the last player that moved; ILLEGAL, BROKEN.
    """
    turns, s = turns_at(words), fields(state, HEADER)
    actions = stack_array(turns.actions + SLACK, ACTION)
    mover = np.int64(seat)
    if action >= 0:
        if not turns.is_legal(turns.config, state, action):
            return np.int64(ILLEGAL)
        mover = np.int64(s.player)
        turns.play(turns.config, state, action)
    while s.player == CHANCE or (kind == RANDOM and s.player >= 0 and s.player != seat):
        if s.ply >= turns.max_plies:
            return np.int64(BROKEN)
        if s.player == CHANCE:
            chosen = np.int64(turns.draw(turns.config, state, chance))
        else:
            mover = np.int64(s.player)
            count = turns.legal_actions(turns.config, state, actions[: turns.actions])
            if count < 1 or count > turns.actions:
                return np.int64(BROKEN)
            chosen = np.int64(actions[below(rng, np.uint64(count))])
        if chosen < 0 or chosen >= turns.actions:
            return np.int64(BROKEN)
        turns.play(turns.config, state, chosen)
    player = np.int64(s.player)
    if player < OVER:
        return np.int64(BROKEN)
    if player >= 0 and player != seat and kind != SEES:
        return player
    turns.observe(turns.config, state, seat if player < 0 else player, planes)
    if player < 0:
        return -1 - mover
    count = turns.legal_actions(turns.config, state, actions[: turns.actions])
    if count < 1 or count > turns.actions:
        return np.int64(BROKEN)
    for i in range(count):
        if actions[i] < 0 or actions[i] >= turns.actions:
            return np.int64(BROKEN)
        mask[actions[i]] = 1
    return player


class Turns:
    """The kernel `advance` for a game: [words] uint64, which hold addresses and are made anew in every process."""

    def __init__(self, rules: Rules) -> None:
        self.rules, kernels = rules, rules.kernels
        self.advance = compiled(advance, ADVANCE)
        self.words = bound(
            TURNS,
            **{name: getattr(kernels, name) for name in ("legal_actions", "is_legal", "play", "observe", "draw")},
            **{"config": rules.config, "actions": rules.actions, "max_plies": rules.max_plies},
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Turns, (self.rules,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Turns:
        return self
