"""Playable actions that only become fewer: the games that say so, and a policy that keeps them up to date."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from simulations import WrittenSimulation

import ucd_envs
from ucd_envs import registry
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields
from ucd_planners.playouts.cmc import CMC, MEMORY, tiles_of

SHRINKING = [("hex", {"size": 4}), ("havannah", {"base": 3}), ("tic_tac_toe", {})]


def playable(state: State) -> set[int]:
    """What the random policy may play."""
    rules, actions = state.rules, np.zeros(state.rules.actions, np.int32)
    return set(actions[: rules.kernels.playout_actions(rules.config, state.array(), actions)].tolist())


def examples() -> list[Rules]:
    """Every game whose playable actions only become fewer, in the small configurations of its tests."""
    found = [registry.make_rules(name, **settings) for name in registry.available() for settings in registry.examples(name)]
    return [rules for rules in found if rules.shrinking and rules.actions < 200]


def test_what_was_played_or_is_not_playable_never_is_again() -> None:
    """In random games of all games that say so, for either player; some have moves that come back and do not say so."""
    rng, games = random.Random(1), examples()
    assert {rules.name for rules in games} >= {"hex_v0", "havannah_v0", "nogo_v0", "tic_tac_toe_v0"}
    assert not ucd_envs.make_rules("hex", size=3, swap=True).shrinking
    assert not ucd_envs.make_rules("go").shrinking
    for rules in games:
        for _ in range(3):
            state, left = rules.initial_state(), [set(range(rules.actions)) for _ in range(rules.players)]
            while not state.over:
                now = playable(state)
                assert now <= left[state.player]
                left[state.player] = now
                action = rng.choice(sorted(now))
                state = state.after(action)
                for actions in left:
                    actions.discard(action)


@pytest.mark.parametrize(("game", "settings"), SHRINKING)
def test_a_policy_that_keeps_playable_actions_suggests_what_one_that_lists_them_suggests(
    game: str, settings: dict[str, Any]
) -> None:
    """At every second or third move of random games, with the same random tiles and the same numbers."""
    rules, policy, choices = ucd_envs.make_rules(game, **settings), CMC(1.0), random.Random(2)
    kept, listed = policy.memory(rules), policy.memory(rules)
    assert fields(kept, MEMORY).shrinking
    fields(listed, MEMORY).shrinking = 0
    tiles = np.random.default_rng(3).integers(0, 3, (rules.players, rules.actions, rules.actions))
    for memory in (kept, listed):
        found = tiles_of.py_func(memory, fields(memory, MEMORY))
        found[:, :, : rules.actions, 0], found[:, :, : rules.actions, 1] = 2, tiles
    spoken = 0
    for number in range(10):
        policy_of = {id(memory): WrittenSimulation(rules) for memory in (kept, listed)}
        for memory in (kept, listed):
            fields(memory, MEMORY).simulation = -1
        state, moves = rules.initial_state(), list[tuple[int, int]]()
        while not state.over:
            if len(moves) < 2 or choices.random() < 0.6:
                action = choices.choice(sorted(playable(state)))
            else:
                first, second = (
                    policy_of[id(memory)].suggestions(state, moves, policy, memory, [seeded(number, len(moves))])[0]
                    for memory in (kept, listed)
                )
                assert first == second
                assert first in playable(state) | {-1}
                spoken += first >= 0
                action = first if first >= 0 else choices.choice(sorted(playable(state)))
            moves.append((state.player, action))
            state = state.after(action)
    assert spoken > 15


def test_an_action_that_has_become_unplayable_unseen_is_not_suggested() -> None:
    """The kept actions are more than the playable ones where a move takes away more than itself: the game is asked."""
    rules, policy = ucd_envs.make_rules("hex", size=3), CMC(1.0)
    memory, written = policy.memory(rules), WrittenSimulation(ucd_envs.make_rules("hex", size=3))
    tiles = tiles_of.py_func(memory, fields(memory, MEMORY))
    tiles[0, 0, [4, 5]] = [[2, 2], [4, 1]]
    state, moves = rules.initial_state().after(0).after(1), [(0, 0), (1, 1)]
    assert written.suggestions(state, moves, policy, memory, [seeded(1)])[0] == 4
    unseen = state.after(4).after(8)  # the trace does not show these moves
    assert written.suggestions(unseen, moves, policy, memory, [seeded(1)])[0] == 5
