"""Random games played side by side with OpenSpiel, an implementation of the rules that shares no code with ours."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pyspiel

from ucd_envs.kernels import OVER
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State

Returns = tuple[float, ...]


def lockstep(
    rules: Rules,
    load: str,
    games: int,
    seed: int,
    favourite: int | None = None,
    translated: Callable[[State, int], int] | None = None,
) -> Counter[Returns]:
    """Plays so many random games in both programs and asserts that they agree; how often each returns occurred.

    Compared are, at every ply, the end, the mover and the whole legal list, and at the end the returns. `load` is
    OpenSpiel's name of the game. A `favourite` action is taken half of the time that it is legal. `translated` gives
    OpenSpiel's number of an action; without it both programs must number actions alike.
    """
    theirs = pyspiel.load_game(load)
    assert translated is not None or theirs.num_distinct_actions() == rules.actions
    choice = random.Random(seed)
    results: Counter[Returns] = Counter()
    for game in range(games):
        state, other = rules.initial_state(), theirs.new_initial_state()
        history: list[int] = []
        while True:
            where = f"{rules}, game {game} of seed {seed}, after {history}"
            legal = state.legal_actions()
            assert state.over == other.is_terminal(), where
            assert state.player == (OVER if other.is_terminal() else other.current_player()), where
            numbers = legal if translated is None else [translated(state, action) for action in legal]
            assert sorted(numbers) == other.legal_actions(), where
            if state.over:
                break
            action = favourite if favourite in legal and choice.random() < 0.5 else choice.choice(legal)
            other.apply_action(numbers[legal.index(action)])
            state = state.after(action)
            history.append(action)
        returns = tuple(2 * payoff - 1 for payoff in state.payoffs())
        assert returns == tuple(other.returns()), where
        results[returns] += 1
    return results


def mean_return(rules: Rules, playouts: int, seed: int) -> tuple[float, float]:
    """Mean return of player 0 (loss -1, win 1) over so many playouts without a trace, and its standard error."""
    start, no_trace, rng = rules.initial_state(), np.empty(0, np.int32), seeded(seed)
    fresh, payoffs, total, squares = start.array(), np.zeros(rules.players), 0.0, 0.0
    for _ in range(playouts):
        state = fresh.copy()
        rules.kernels.playout(rules.config, state, rng, no_trace)
        rules.kernels.payoffs(rules.config, state, payoffs)
        value = 2 * float(payoffs[0]) - 1
        total += value
        squares += value * value
    mean = total / playouts
    return mean, math.sqrt((squares / playouts - mean * mean) / playouts)
