"""Compiled steps of many games of one kind: a move in each, the outcomes of chance, ends, new games, observations and masks.

Arrays hold the games one after another. Each game has generators of its own, so that nothing depends on the order in which
games are stepped, or on the number of threads.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.core.types import FunctionType

from ucd_envs.bindings import BindingType, bound, reader
from ucd_envs.kernels import (
    ACTIONS,
    BYTES,
    CHANCE,
    DRAW,
    HEADER,
    IS_LEGAL,
    LEGAL_ACTIONS,
    OBSERVE,
    OVER,
    PAYOFFS,
    PLANES,
    PLAY,
    READ_PAYOFFS,
    RESET,
    RNG,
    WORDS,
    kernel,
)
from ucd_envs.rng import below
from ucd_envs.rules import Rules
from ucd_envs.structs import fields, stack_array

NEXT_STEP, SAME_STEP = 0, 1
"""Modes of a step: a new game is begun by the step after an end, or by the step that ends a game."""
GOES_ON, ENDED = 0, 1
"""Marks of games. A game that ended by an illegal action is marked, while its state is that before the action."""
ILLEGAL_REWARD = -1.0
ACTION, PAYOFF = np.dtype(np.int32), np.dtype(np.float64)
SLACK = 64
"""Spare entries of a list, which make small faults of an unchecked game harmless."""
FINE = -1
"""Returned by kernels where no game breaks its contract, else the number of one that does."""

STEPS = BindingType(
    "steps",
    {
        "reset": FunctionType(RESET),
        "legal_actions": FunctionType(LEGAL_ACTIONS),
        "is_legal": FunctionType(IS_LEGAL),
        "play": FunctionType(PLAY),
        "payoffs": FunctionType(READ_PAYOFFS),
        "observe": FunctionType(OBSERVE),
        "draw": FunctionType(DRAW),
        "config": BYTES,
        "players": types.int64,
        "actions": types.int64,
        "max_plies": types.int64,
        "state_bytes": types.int64,
        "plane_bytes": types.int64,
        "least": types.float64,
        "most": types.float64,
    },
)
"""Kernels and facts of a game for its steps. `least` and `most`: rewards for the payoffs 0 and 1."""
steps_at = reader(STEPS)
NUMBER = types.int64
NUMBERS = types.int64[::1]

FIND_ILLEGAL = types.int64(WORDS, BYTES, BYTES, NUMBERS)
BEGIN = types.int64(WORDS, BYTES, BYTES, RNG, BYTES, NUMBER, NUMBER)
SETTLE = types.int64(WORDS, BYTES, BYTES, ACTIONS, RNG, BYTES, NUMBER, NUMBER)
STEP = types.int64(
    *(WORDS, BYTES, BYTES, ACTIONS, RNG, NUMBER, NUMBERS, PAYOFFS, PAYOFFS, BYTES, PLANES, PLANES, PLANES, ACTIONS),
    *(NUMBER, NUMBER),
)
LOOK = types.int64(WORDS, BYTES, BYTES, ACTIONS, PLANES, PLANES, ACTIONS, NUMBER, NUMBER)
SAMPLE = types.int64(RNG, PLANES, NUMBER, NUMBERS, NUMBER, NUMBER)


@kernel(FIND_ILLEGAL)
def find_illegal(words, states, marks, actions):
    """Returns the first game that goes on and has an illegal action, or FINE."""
    steps = steps_at(words)
    for i in range(actions.size):
        if marks[np.uint64(i)] == GOES_ON:
            action = actions[np.uint64(i)]
            state = row(states, i, steps.state_bytes)
            if action < 0 or action >= steps.actions or not steps.is_legal(steps.config, state, action):
                return np.int64(i)
    return np.int64(FINE)


@kernel(BEGIN)
def begin_games(words, states, marks, rngs, chosen, first, last):
    """Begins the chosen ones of the games first ... last - 1."""
    steps = steps_at(words)
    for i in range(first, last):
        if chosen[np.uint64(i)]:
            marks[np.uint64(i)] = GOES_ON
            if begin(steps, row(states, i, steps.state_bytes), row(rngs, i, 2)) < 0:
                return i
    return np.int64(FINE)


@kernel(SETTLE)
def settle_games(words, states, marks, viewers, rngs, chosen, first, last):
    """Draws outcomes in the chosen ones of the games first ... last - 1 until a player is to move or the game is over."""
    steps = steps_at(words)
    for i in range(first, last):
        at = np.uint64(i)
        if chosen[at]:
            player = settle(steps, row(states, i, steps.state_bytes), row(rngs, i, 2))
            if player < OVER:
                return i
            if player == OVER:
                marks[at] = ENDED
                viewers[at] = 0
    return np.int64(FINE)


@kernel(STEP)
def step_games(
    words, states, marks, viewers, rngs, mode, actions, gains, rewards, ended, finals, planes, masks, players, first, last
):
    """Plays an action in each of the games first ... last - 1, and writes all that a step returns.

    states: [games, state_bytes]; marks: [games]; viewers: [games], the players who see ended games; rngs: [games, 2]; actions:
    [games]; gains: [games, players], all rewards; rewards: [games], those of the players that moved; ended: [games]; planes,
    finals: [games, plane_bytes], observations, and those at the end where a new game begins at once; masks: [games, actions];
    players: [games], to move next, -1 at the end. All flat.
    """
    steps = steps_at(words)
    listed = stack_array(steps.actions + SLACK, ACTION)
    payoffs = stack_array(steps.players + SLACK, PAYOFF)
    for i in range(first, last):
        at = np.uint64(i)
        state, rng = row(states, i, steps.state_bytes), row(rngs, i, 2)
        gained = row(gains, i, steps.players)
        for player in range(np.uint64(steps.players)):
            gained[player] = 0.0
        rewards[at] = 0.0
        ended[at] = 0
        if marks[at] == ENDED:
            marks[at] = GOES_ON
            if begin(steps, state, rng) < 0:
                return i
        else:
            mover = np.int64(fields(state, HEADER).player)
            if not steps.is_legal(steps.config, state, actions[at]):
                gained[np.uint64(mover)] = ILLEGAL_REWARD
                marks[at] = ENDED
            else:
                steps.play(steps.config, state, actions[at])
                player = settle(steps, state, rng)
                if player < OVER:
                    return i
                if player == OVER:
                    marks[at] = ENDED
                    steps.payoffs(steps.config, state, payoffs[: steps.players])
                    for seat in range(np.uint64(steps.players)):
                        gained[seat] = steps.least + (steps.most - steps.least) * payoffs[seat]
            rewards[at] = gained[np.uint64(mover)]
            if marks[at] == ENDED:
                ended[at] = 1
                viewers[at] = mover + 1 if mover + 1 < steps.players else 0
                if mode == SAME_STEP:
                    see(steps, state, np.int64(viewers[at]), row(finals, i, steps.plane_bytes))
                    marks[at] = GOES_ON
                    if begin(steps, state, rng) < 0:
                        return i
        seen, legal = row(planes, i, steps.plane_bytes), row(masks, i, steps.actions)
        found = look(steps, state, marks[at], viewers[at], listed, seen, legal)
        if found < OVER:
            return i
        players[at] = found
    return np.int64(FINE)


@kernel(LOOK)
def look_at_games(words, states, marks, viewers, planes, masks, players, first, last):
    """Writes observations, legal actions and players to move of the games first ... last - 1."""
    steps = steps_at(words)
    listed = stack_array(steps.actions + SLACK, ACTION)
    for i in range(first, last):
        at = np.uint64(i)
        state = row(states, i, steps.state_bytes)
        seen, legal = row(planes, i, steps.plane_bytes), row(masks, i, steps.actions)
        found = look(steps, state, marks[at], viewers[at], listed, seen, legal)
        if found < OVER:
            return i
        players[at] = found
    return np.int64(FINE)


@kernel(SAMPLE)
def sample_actions(rngs, masks, width, actions, first, last):
    """Draws an action of each mask of the games first ... last - 1, all that are set equally likely; 0 where none is."""
    for i in range(first, last):
        mask, count = row(masks, i, width), np.int64(0)
        for action in range(np.uint64(width)):
            count += np.int64(mask[action])
        chosen = np.uint64(0)
        if count > 0:
            left = np.int64(below(row(rngs, i, 2), np.uint64(count)))
            while left > 0 or mask[chosen] == 0:
                left -= np.int64(mask[chosen])
                chosen += np.uint64(1)
        actions[np.uint64(i)] = np.int64(chosen)
    return np.int64(FINE)


@kernel(inline=True)
def row(array, i, width):
    """Returns the part of a flat array that belongs to a game."""
    return array[i * width : (i + 1) * width]


@kernel()
def begin(steps, state, rng):
    """Begins a game. Returns the player to move, below 0 for a game without a first move or one that breaks its contract."""
    steps.reset(steps.config, state)
    return settle(steps, state, rng)


@kernel()
def settle(steps, state, rng):
    """Draws outcomes until a player is to move or the game is over. Returns the player, below OVER for a broken contract."""
    s = fields(state, HEADER)
    while s.player == CHANCE:
        if s.ply >= steps.max_plies:
            return np.int64(OVER - 1)
        outcome = np.int64(steps.draw(steps.config, state, rng))
        if outcome < 0 or outcome >= steps.actions:
            return np.int64(OVER - 1)
        steps.play(steps.config, state, outcome)
    player = np.int64(s.player)
    if player >= steps.players or (player >= 0 and s.ply >= steps.max_plies):
        return np.int64(OVER - 1)
    return player


@kernel()
def look(steps, state, mark, viewer, listed, planes, mask):
    """Writes the observation of the player to move and its legal actions, or at the end that of the viewer and none.

    Returns the player to move, OVER at the end, less for a broken contract.
    """
    for action in range(np.uint64(mask.size)):
        mask[action] = 0
    if mark == ENDED:
        see(steps, state, np.int64(viewer), planes)
        return np.int64(OVER)
    player = np.int64(fields(state, HEADER).player)
    see(steps, state, player, planes)
    count = steps.legal_actions(steps.config, state, listed[: steps.actions])
    if count < 1 or count > steps.actions:
        return np.int64(OVER - 1)
    for i in range(np.uint64(count)):
        if listed[i] < 0 or listed[i] >= steps.actions:
            return np.int64(OVER - 1)
        mask[np.uint64(listed[i])] = 1
    return player


@kernel()
def see(steps, state, player, planes):
    """Writes an observation."""
    for i in range(np.uint64(planes.size)):
        planes[i] = 0
    steps.observe(steps.config, state, player, planes)


def bound_steps(rules: Rules) -> np.ndarray:
    """Returns the binding of a game for its steps: [words] uint64. It holds addresses, and is made anew in every process."""
    names = ("reset", "legal_actions", "is_legal", "play", "payoffs", "observe", "draw")
    least, most = rules.rewards
    rows, columns, depth = rules.planes
    return bound(
        STEPS,
        **{name: getattr(rules.kernels, name) for name in names},
        **{"config": rules.config, "players": rules.players, "actions": rules.actions, "max_plies": rules.max_plies},
        **{"state_bytes": rules.state_bytes, "plane_bytes": rows * columns * depth, "least": float(least), "most": float(most)},
    )
