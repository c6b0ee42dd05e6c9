"""Planners in environments that others wrote: PettingZoo, Gymnasium, hooks of their own, and environments with faults."""

from __future__ import annotations

import copy
import gc
import math
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from pettingzoo import AECEnv
from pettingzoo.classic import connect_four_v3, tictactoe_v3

import ucd_envs.foreign.callbacks
from ucd_envs import tic_tac_toe_v0
from ucd_envs.foreign import Adapter, AECGame, Report, SingleGame, adapted, check
from ucd_planners import Planner, SearchResult, simple_way, ucd, uct, update_all
from ucd_planners.presets import PRESETS
from ucd_planners.search.storage import Graph

ENVIRON = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
"""For processes of their own."""


def nameless(value: object) -> str:
    """A value as text, without addresses, which differ between the processes of a test run."""
    return re.sub(r" at 0x\w+", "", str(value))


def played(env: Any, *actions: int) -> Any:
    """The environment after a reset and so many moves."""
    env.reset(seed=0)
    for action in actions:
        env.step(action)
    return env


def found(result: SearchResult) -> tuple[Any, ...]:
    """What a search found, to the last bit."""
    numbers = result.playouts, result.nodes, result.edges, result.transpositions, result.depth
    return result.action, result.visits.tolist(), result.values.tobytes(), result.principal_variation, numbers


def everything(env: Any) -> list[dict[str, Any]]:
    """All attributes of an environment and of those that it wraps, by value."""
    layers = []
    while env is not None:
        fields = {key: value for key, value in vars(env).items() if key != "env"}
        layers.append({key: value.tobytes() if isinstance(value, np.ndarray) else repr(value) for key, value in fields.items()})
        env = vars(env).get("env")
    return layers


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C is KeyboardInterrupt, also where the shell has started the tests with that signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


# Environments of this file


class Sticks(AECEnv):
    """Take one, two or three sticks in turn; who takes the last wins 1, the others lose 1.

    With `masks` "observation", "infos" or "" for none; an illegal move is an AssertionError.
    """

    metadata = {"name": "sticks", "render_modes": [], "is_parallelizable": False}  # noqa: RUF012

    def __init__(self, sticks: int = 9, players: int = 2, masks: str = "observation") -> None:
        self.start, self.masks = sticks, masks
        self.possible_agents = [f"player_{i}" for i in range(players)]

    def observation_space(self, agent: str) -> Any:
        return Box(0, 100, (1,), np.int64)

    def action_space(self, agent: str) -> Any:
        return Discrete(3)

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self.agents = self.possible_agents[:]
        self.sticks = self.start
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self.tell()

    def mask(self) -> list[int]:
        return [int(take <= self.sticks) for take in (1, 2, 3)]

    def tell(self) -> None:
        if self.masks == "infos" and self.agents:
            self.infos[self.agent_selection] = {"action_mask": np.array(self.mask(), np.int8)}

    def observe(self, agent: str) -> Any:
        if self.masks == "observation":
            return {"observation": np.array([self.sticks]), "action_mask": np.array(self.mask(), np.int8)}
        return np.array([self.sticks])

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        assert action + 1 <= self.sticks, "not so many sticks are left"
        self._clear_rewards()
        self.take(action + 1)
        self._accumulate_rewards()
        self.tell()

    def take(self, count: int) -> None:
        self.sticks -= count
        agent = self.agent_selection
        if self.sticks == 0:
            self.rewards = {other: 1.0 if other == agent else -1.0 for other in self.agents}
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.agents[(self.agents.index(agent) + 1) % len(self.agents)]


def sticks_left(env: Any) -> Hashable:
    """The position of Sticks."""
    return env.sticks, env.agent_selection


class Walk(gymnasium.Env):
    """A walk from 0: action 1 goes up, 0 down; the walk ends at 3, for a reward of 1, or at -3."""

    def __init__(self) -> None:
        self.observation_space = Box(-3, 3, (1,), np.int64)
        self.action_space = Discrete(2)
        self.at = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at = 0
        return np.array([0]), {}

    def step(self, action: int) -> Any:
        assert action in (0, 1)
        self.at += 2 * int(action) - 1
        return np.array([self.at]), float(self.at == 3), abs(self.at) == 3, False, {}


def walk(made: Any = None, **options: Any) -> SingleGame:
    """A walk, or another environment, reset and adapted; at most 20 steps are looked ahead."""
    env = Walk() if made is None else made
    env.reset(seed=0)
    return SingleGame(env, **{"max_plies": 20, **options})


# The same game, ours and theirs

PLANNERS: dict[str, Callable[..., Planner]] = {
    "uct": uct,
    "simple_way": simple_way,
    "ucd with infinite depths": lambda **options: ucd(math.inf, math.inf, math.inf, **options),
    "update_all": update_all,
    "add all": lambda **options: simple_way(expand="all", **options),
    "add all in a tree": lambda **options: uct(expand="all", **options),
    "urgency": lambda **options: ucd(2, 1, 2, first_play_urgency=0.6, **options),
    "store nodes": lambda **options: ucd(1, 1, 1, store="nodes", **options),
    "keep": lambda **options: ucd(1, 0, 2, reuse_graph=True, **options),
    "keep a tree": lambda **options: uct(reuse_graph=True, **options),
    "few nodes": lambda **options: simple_way(max_nodes=60, **options),
}
every_planner = pytest.mark.parametrize("planner", PLANNERS.values(), ids=PLANNERS)


def board_of(env: Any) -> Hashable:
    """The position of tictactoe_v3."""
    return tuple(env.board.squares), env.agent_selection


@every_planner
@pytest.mark.parametrize("start", [(), (4, 0), (0, 4, 8), (0, 1, 2, 4, 3, 6, 5)], ids=str)
@pytest.mark.sweep(2)
def test_a_search_of_their_tic_tac_toe_is_that_of_ours(planner: Callable[..., Planner], start: tuple[int, ...]) -> None:
    """To the last bit: both number the cells alike, and payoffs are 0, 1/2 and 1."""
    ours, theirs = played(tic_tac_toe_v0.env(), *start), played(tictactoe_v3.env(), *start)
    game = AECGame(theirs, position=board_of)
    for seed in range(2):
        assert found(planner(playouts=400, seed=seed).search(game)) == found(planner(playouts=400, seed=seed).search(ours))


@every_planner
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.sweep(2)
def test_whole_games_in_step_are_the_same_in_their_tic_tac_toe_and_in_ours(planner: Callable[..., Planner], seed: int) -> None:
    """One planner for both seats, and another that answers every second move, so that kept graphs skip plies."""
    ours, theirs = played(tic_tac_toe_v0.env()), played(tictactoe_v3.env())
    game = AECGame(theirs, position=board_of)
    pairs = [(planner(playouts=300, seed=seed), planner(playouts=300, seed=seed)) for _ in range(2)]
    ply = 0
    while not any(ours.terminations.values()):
        mine, other = pairs[0] if ply % 3 else pairs[1]
        result, same = mine.search(ours), other.search(game)
        assert found(same) == found(result), ply
        ours.step(result.action)
        theirs.step(same.action)
        ply += 1
    assert list(theirs.rewards.values()) == list(ours.rewards.values())
    for a_planner in (pairs[0][1], pairs[1][1]):
        with pytest.raises(ValueError, match="the game is over"):
            a_planner.act(game)


def test_a_kept_graph_serves_the_next_move_of_their_game() -> None:
    """It has more positions at the second search than a fresh one of as many playouts."""
    theirs = played(tictactoe_v3.env(), 4)
    game = AECGame(theirs, position=board_of)
    keeping, fresh = simple_way(playouts=500, seed=1, reuse_graph=True), simple_way(playouts=500, seed=1)
    theirs.step(keeping.search(game).principal_variation[0])
    assert keeping.search(game).nodes > 1.2 * fresh.search(game).nodes


def test_adapters_of_our_own_environments_search_as_the_environments_do() -> None:
    """By their hooks, and through the callbacks. Only games whose playouts take no short cut can agree to the last bit."""
    env = played(tic_tac_toe_v0.env(), 4)
    game = adapted(env)
    assert isinstance(game, AECGame)
    assert found(simple_way(playouts=300, seed=2).search(game)) == found(simple_way(playouts=300, seed=2).search(env))


# connect_four_v3

FOUR_HOOKS: dict[str, Any] = {
    "clone_state": lambda env: (
        tuple(env.board),
        env.agent_selection,
        tuple(env.rewards.items()),
        tuple(env.terminations.items()),
        env._agent_selector._current_agent,
    ),
    "restore_state": lambda env, state: four_restored(env, state),
    "position": lambda env: (tuple(env.board), env.agent_selection),
}


def four_restored(env: Any, state: Any) -> None:
    """Puts a state of connect_four_v3 back."""
    board, env.agent_selection, rewards, terminations, env._agent_selector._current_agent = state
    env.board[:] = board
    env.rewards, env.terminations = dict(rewards), dict(terminations)
    env._cumulative_rewards = dict.fromkeys(env.possible_agents, 0)
    env.agents = env.possible_agents[:]


FOUR_WAYS: dict[str, dict[str, Any]] = {
    "copies": {},
    "copies, named": {"position": FOUR_HOOKS["position"]},
    "hooks": FOUR_HOOKS,
}
every_way = pytest.mark.parametrize("options", FOUR_WAYS.values(), ids=FOUR_WAYS)


@every_way
@pytest.mark.parametrize("make", [connect_four_v3.env, connect_four_v3.raw_env], ids=["wrapped", "raw"])
def test_a_search_leaves_their_environment_as_it_was(make: Callable[..., Any], options: dict[str, Any]) -> None:
    """Attributes of all layers, masks, the order of agents and the world's generators of random numbers."""
    env = played(make(), 3, 3, 2)
    state, numpy_state = random.getstate(), np.random.get_state()
    mask = env.observe(env.agent_selection)["action_mask"].tolist()
    before, game = everything(env), AECGame(env, **options)
    result = uct(playouts=100, seed=0).search(game)
    assert everything(env) == before
    assert env.observe(env.agent_selection)["action_mask"].tolist() == mask
    assert random.getstate() == state
    assert all(np.array_equal(a, b) for a, b in zip(np.random.get_state(), numpy_state, strict=True))
    assert result.actions.tolist() == list(range(7))
    env.step(result.action)
    env.step(np.int64(0))


def test_copies_and_hooks_search_their_connect_four_alike() -> None:
    """With a named position in graphs too; the board of three moves a side has transpositions below it."""
    env = played(connect_four_v3.env(), 3, 3, 2, 4)
    named, hooks = AECGame(env, position=FOUR_HOOKS["position"]), AECGame(env, **FOUR_HOOKS)
    for planner in (uct, simple_way):
        first, second = (planner(playouts=250, seed=5).search(game) for game in (named, hooks))
        assert found(first) == found(second)
    assert first.transpositions > 0


@every_way
@pytest.mark.parametrize(
    ("moves", "best"),
    [
        ((0, 6, 1, 6, 2, 5), 3),  # x x x _ in the lowest row: win
        ((0, 6, 0, 6, 0, 5), 0),  # three in a column: win
        ((0, 6, 1, 6, 0, 6), 6),  # o has three in column 6: block
        ((3, 0, 3, 0, 5, 0, 6), 0),  # it is o's turn, who has three in column 0: win
    ],
    ids=["row", "column", "block", "second player"],
)
def test_the_winning_or_saving_move_of_their_connect_four_is_found(
    moves: tuple[int, ...], best: int, options: dict[str, Any]
) -> None:
    assert uct(playouts=400, seed=1).act(AECGame(played(connect_four_v3.env(), *moves), **options)) == best


@pytest.mark.parametrize("seat", [0, 1])
def test_a_whole_game_of_their_connect_four_is_won_against_random_moves(seat: int) -> None:
    env = connect_four_v3.env()
    env.reset(seed=0)
    game, planner, choice = AECGame(env), uct(playouts=100, seed=3), random.Random(4)
    rewards = dict.fromkeys(env.possible_agents, 0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        rewards[agent] += reward
        if terminated or truncated:
            env.step(None)
        elif agent == env.possible_agents[seat]:
            env.step(planner.act(game))
        else:
            env.step(choice.choice(np.flatnonzero(observation["action_mask"]).tolist()))
    assert rewards[env.possible_agents[seat]] == 1
    assert env.agents == []


def test_illegal_moves_and_later_games_do_not_disturb_the_adapter_of_a_wrapped_environment() -> None:
    """B100, B101: the wrapper that ends a game at an illegal move is left aside; the next game is planned in as the first."""
    env, fresh = tictactoe_v3.env(), AECGame(played(tictactoe_v3.env(), 4), position=board_of)
    game = AECGame(played(env), position=board_of)
    expected = found(uct(playouts=200, seed=1).search(fresh))
    for _ in range(3):
        played(env, 4)
        assert found(uct(playouts=200, seed=1).search(game)) == expected
        env.step(4)
        with pytest.raises(ValueError, match="the game is over"):
            uct(playouts=10).search(game)


# Gymnasium


def lake_hooks(env: Any) -> dict[str, Any]:
    """Hooks of FrozenLake and CliffWalking, whose state is one number."""

    def restored(env: Any, state: Any) -> None:
        env.s, env.lastaction = state

    return {
        "clone_state": lambda env: (env.s, env.lastaction),
        "restore_state": restored,
        "position": lambda env: int(env.s),
    }


def episode(env: Any, planner: Planner, game: SingleGame, most: int) -> tuple[float, int]:
    """Total reward and length of an episode."""
    total, steps, over = 0.0, 0, False
    while not over and steps < most:
        _, reward, terminated, truncated, _ = env.step(planner.act(game))
        total, steps, over = total + float(reward), steps + 1, terminated or truncated
    assert over, "the episode did not end"
    return total, steps


@pytest.mark.parametrize(("size", "playouts", "steps"), [("4x4", 1000, 12), ("8x8", 1500, 30)])
def test_the_goal_of_a_frozen_lake_is_reached(size: str, playouts: int, steps: int) -> None:
    """6 steps are shortest, and 8 from the fifth cell of the third row; a discount makes longer ways worse."""
    env = gymnasium.make("FrozenLake-v1", map_name=size, is_slippery=False)
    env.reset(seed=0)
    env.unwrapped.s = 0 if size == "4x4" else 2 * 8 + 4
    game = SingleGame(env, discount=0.95, **lake_hooks(env))
    total, taken = episode(env, uct(playouts=playouts, seed=1), game, 100)
    assert total == 1
    assert (6 if size == "4x4" else 8) <= taken <= steps


@pytest.mark.parametrize("planner", [uct, simple_way])
def test_the_cliff_is_walked_along(planner: Callable[..., Planner]) -> None:
    """From the ninth column of the row above it the goal is 4 steps away; a fall costs 100, and counts here as 20."""
    env = gymnasium.make("CliffWalking-v1")
    env.reset(seed=0)
    env.unwrapped.s = 2 * 12 + 8
    game = SingleGame(env, payoff_range=(-20, 0), max_plies=10, clip=True, constant=("P",), position=lambda env: int(env.s))
    total, steps = episode(env, planner(c=0.1, playouts=1000, seed=1), game, 20)
    assert -20 <= total <= -4
    assert steps == -total


TAXI_WAYS: dict[str, dict[str, Any]] = {
    "copies": {"constant": ("P", "desc", "initial_state_distrib"), "position": lambda env: int(env.s)},
    "hooks": {
        "clone_state": lambda env: int(env.s),
        "restore_state": lambda env, state: setattr(env, "s", state),
    },
}


def taxi(env: Any, **options: Any) -> SingleGame:
    """A taxi, whose fare is 20 and whose steps cost 1."""
    return SingleGame(env, payoff_range=(-60, 20), clip=True, max_plies=40, **options)


@pytest.mark.parametrize("options", TAXI_WAYS.values(), ids=TAXI_WAYS)
@pytest.mark.sweep(2)
def test_a_taxi_brings_its_passenger(options: dict[str, Any]) -> None:
    """The fare of 20 comes at the end of the episode, and steps cost 1; a wrong pick-up or a wrong end would cost 10."""
    env = gymnasium.make("Taxi-v4")
    env.reset(seed=5)
    total, _ = episode(env, simple_way(playouts=1500, seed=1), taxi(env, **{"position": lambda env: int(env.s), **options}), 60)
    assert total >= -20
    assert env.unwrapped.s in {env.unwrapped.encode(row, column, i, i) for i, (row, column) in enumerate(env.unwrapped.locs)}


def test_a_taxi_is_searched_alike_by_copies_and_by_hooks() -> None:
    env = gymnasium.make("Taxi-v4")
    env.reset(seed=5)
    for discount in (1.0, 0.9):
        options = {"discount": discount, "position": lambda env: int(env.s)}
        games = [taxi(env, **{**options, **way}) for way in TAXI_WAYS.values()]
        first, second = (simple_way(playouts=300, seed=1).search(game) for game in games)
        assert found(first) == found(second)


@pytest.mark.parametrize("planner", [uct, simple_way, update_all])
def test_a_lake_is_searched_alike_by_copies_and_by_hooks(planner: Callable[..., Planner]) -> None:
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    env.reset(seed=0)
    env.step(1)
    hooks = lake_hooks(env)
    games = [SingleGame(env, position=hooks["position"]), SingleGame(env, **hooks), SingleGame(env.unwrapped, **hooks)]
    first, *others = [found(planner(playouts=300, seed=1).search(game)) for game in games]
    assert others == [first, first]


def test_a_discounted_reward_is_worth_less_with_every_step() -> None:
    """One forced way: the reward of 1 comes with the third step, and is worth 0.5 ** 2."""
    game = walk(discount=0.5, legal_actions=lambda env: [1])
    assert uct(playouts=10, seed=0).search(game).value == 0.25
    game.env.step(1)
    assert uct(playouts=10, seed=0).search(game).value == 0.5


def test_wrappers_with_a_limit_of_steps_are_left_aside_and_tell_how_far_to_look() -> None:
    """T12: the limit is in the wrapper; a search counts it from where it begins."""
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    assert SingleGame(env).max_plies == gymnasium.spec("FrozenLake-v1").max_episode_steps == 100
    env = gymnasium.wrappers.TimeLimit(env, 3)
    assert SingleGame(env).max_plies == 3
    env.reset(seed=0)
    before = everything(env)
    assert SingleGame(gymnasium.make("FrozenLake-v1", max_episode_steps=7)).max_plies == 7
    assert SingleGame(Walk()).max_plies == 1000
    game = SingleGame(env, max_plies=5)
    assert uct(playouts=500, seed=0).search(game).value == 0  # the goal is 6 steps away
    assert uct(playouts=500, seed=0).search(SingleGame(env, max_plies=6)).value > 0
    assert everything(env) == before


class MaskedWalk(Walk):
    """A walk that may only go up."""

    def action_masks(self) -> Any:
        return np.array([False, True])


def test_masks_are_those_of_the_environment_below_its_wrappers() -> None:
    """Gymnasium's wrappers do not forward `action_masks`."""
    env = gymnasium.wrappers.TimeLimit(MaskedWalk(), 9)
    env.reset(seed=0)
    assert uct(playouts=10, seed=0).search(SingleGame(env)).actions.tolist() == [1]


def test_discounted_rewards_of_another_root_are_not_kept() -> None:
    """The same position is worth less from a root further away: a kept graph does not know it."""
    game = walk(discount=0.5)
    planner = simple_way(playouts=60, seed=0, reuse_graph=True)
    assert planner.search(game).visits.sum() == 60
    game.env.step(1)
    assert planner.search(game).visits.sum() == 60
    whole = simple_way(playouts=60, seed=0, reuse_graph=True)
    game = walk()
    whole.search(game)
    game.env.step(1)
    assert whole.search(game).visits.sum() > 60


def test_an_attribute_of_the_class_may_be_constant() -> None:
    """It is no attribute of the copy, which has it by its class."""
    env = walk(constant=("metadata", "observation_space"))
    assert env.live.metadata is env.env.metadata
    assert found(uct(playouts=50, seed=1).search(env)) == found(uct(playouts=50, seed=1).search(walk()))


@pytest.mark.parametrize("chance", ["reseeded", "copied"])
def test_searches_on_a_slippery_lake_are_repeated_by_their_seed_and_leave_its_chance_alone(chance: str) -> None:
    env = gymnasium.make("FrozenLake-v1")
    env.reset(seed=3)
    game, before = SingleGame(env, chance=chance), everything(env)
    generator, state = env.unwrapped.np_random, env.unwrapped.np_random.bit_generator.state
    first = found(uct(playouts=300, seed=1).search(game))
    assert env.unwrapped.np_random is generator
    assert generator.bit_generator.state == state
    assert everything(env) == before
    assert found(uct(playouts=300, seed=1).search(game)) == first
    assert found(uct(playouts=300, seed=1).search(SingleGame(env, chance=chance))) == first
    assert found(uct(playouts=300, seed=2).search(game)) != first


class Coin(gymnasium.Env):
    """Guess the coin that is tossed next."""

    def __init__(self) -> None:
        self.observation_space, self.action_space = Discrete(2), Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return 0, {}

    def step(self, action: int) -> Any:
        coin = int(self.np_random.integers(2))
        return coin, float(coin == action), True, False, {}


@pytest.mark.parametrize("seed", range(8))
def test_with_copied_chance_a_planner_sees_the_coin_before_it_is_tossed(seed: int) -> None:
    """T13: that is what the name says."""
    env = Coin()
    env.reset(seed=seed)
    result = uct(playouts=50, seed=1).search(SingleGame(env, chance="copied"))
    assert sorted(result.values.tolist()) == [0, 1]
    assert env.step(result.action)[1] == 1


def test_with_reseeded_chance_a_planner_does_not_see_the_coin() -> None:
    """Each guess is right half of the time: 1000 playouts, so that four standard errors are 0.09 at most."""
    hits = 0
    for seed in range(40):
        env = Coin()
        env.reset(seed=seed)
        result = uct(c=1.0, playouts=1000, seed=seed).search(SingleGame(env))
        assert result.values.tolist() == pytest.approx([0.5, 0.5], abs=0.09)
        hits += int(env.step(result.action)[1])
    assert 8 <= hits <= 32  # four standard deviations


def test_a_slippery_lake_is_crossed_more_often_than_at_random() -> None:
    """From the field before the goal random moves reach it in 227 of 500 episodes, the best policy in 4 of 5."""
    env = gymnasium.make("FrozenLake-v1")
    game = SingleGame(env, position=lambda env: int(env.s), constant=("P",), max_plies=12)
    planner, goals = ucd(c=0.5, playouts=300, seed=1), 0.0
    for seed in range(20):
        env.reset(seed=seed)
        env.unwrapped.s = 14
        goals += episode(env, planner, game, 100)[0]
    assert goals >= 13


# Hooks of their own


class HookedSticks(Sticks):
    """Sticks with the three hooks."""

    calls = 0

    def clone_state(self) -> Hashable:
        return self.sticks, self.agent_selection, tuple(self.rewards.items()), tuple(self.terminations.items())

    def restore_state(self, state: Any) -> None:
        type(self).calls += 1
        self.sticks, self.agent_selection, rewards, terminations = state
        self.agents = self.possible_agents[:]
        self.rewards, self.terminations = dict(rewards), dict(terminations)

    def clone(self) -> Any:
        other = type(self)(self.start, len(self.possible_agents), self.masks)
        other.reset()
        other.restore_state(self.clone_state())
        return other


class HookedWalk(Walk):
    """A walk with the three hooks, and something that cannot be copied."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()

    def clone_state(self) -> Hashable:
        return self.at

    def restore_state(self, state: Any) -> None:
        self.at = state

    def clone(self) -> Any:
        other = type(self)()
        other.at = self.at
        return other


@pytest.mark.parametrize("planner", PRESETS.values(), ids=PRESETS)
def test_an_environment_with_the_three_hooks_is_planned_in_as_it_is(planner: Callable[..., Planner]) -> None:
    """Nine sticks: leave a multiple of four, so take one, which is action 0."""
    env = played(HookedSticks())
    before, calls = everything(env), HookedSticks.calls
    acting = planner(playouts=400, seed=1)
    best = acting.act(env)
    assert best == 0 or planner is update_all  # whose mean is not what it looks for
    assert HookedSticks.calls > calls
    assert everything(env) == before
    adapter = acting._adapter
    env.step(0)
    env.step(1)
    assert acting.search(env).actions.tolist() == [0, 1, 2]
    assert acting._adapter is adapter


def test_a_gymnasium_environment_with_the_three_hooks_is_planned_in_as_it_is() -> None:
    env = HookedWalk()
    env.reset(seed=0)
    assert simple_way(playouts=400, seed=1).act(env) == 1
    assert env.at == 0
    wrapped = gymnasium.wrappers.TimeLimit(env, 100)
    assert simple_way(playouts=400, seed=1).act(wrapped) == 1


@pytest.mark.parametrize(
    "missing", [("clone",), ("restore_state",), ("clone_state", "clone"), ("clone_state", "restore_state")]
)
@pytest.mark.parametrize("base", [HookedSticks, HookedWalk])
def test_missing_hooks_and_the_adapters_are_named(base: type, missing: tuple[str, ...]) -> None:
    env = type("Partial", (base,), dict.fromkeys(missing))()
    env.reset(seed=0)
    with pytest.raises(TypeError) as raised:
        uct(playouts=10).act(env)
    message = str(raised.value)
    assert f"Partial has no {', '.join(missing)}:" in message
    assert "AECGame(env)" in message
    assert "SingleGame(env)" in message


@pytest.mark.parametrize("thing", [None, 3, "env", object(), [1]], ids=nameless)
def test_something_that_is_no_environment_is_refused_with_a_sentence(thing: Any) -> None:
    with pytest.raises(TypeError, match="a planner needs an environment with clone_state, restore_state, clone"):
        uct(playouts=10).act(thing)
    with pytest.raises(TypeError, match="AECGame needs a PettingZoo AEC environment"):
        AECGame(thing)
    with pytest.raises(TypeError, match="SingleGame needs a Gymnasium environment"):
        SingleGame(thing)


def test_an_environment_before_its_reset_is_refused_with_a_sentence() -> None:
    with pytest.raises(ValueError, match="call reset"):
        AECGame(connect_four_v3.env())
    with pytest.raises(ValueError, match="call reset"):
        AECGame(Sticks())


def test_hooks_that_a_user_names_go_before_those_of_the_environment() -> None:
    env, calls = played(HookedSticks()), HookedSticks.calls
    game = AECGame(
        env,
        clone_state=lambda env: copy.deepcopy(vars(env)),
        restore_state=lambda env, state: vars(env).update(copy.deepcopy(state)),
        position=sticks_left,
    )
    made = HookedSticks.calls
    assert simple_way(playouts=400, seed=1).act(game) == 0
    assert made == calls + 1  # by clone()
    assert HookedSticks.calls == made


@pytest.mark.parametrize("masks", ["observation", "infos"])
@pytest.mark.parametrize("planner", [uct, simple_way, update_all])
def test_masks_are_read_from_observations_and_from_infos(masks: str, planner: Callable[..., Planner]) -> None:
    game = AECGame(played(Sticks(5, masks=masks)), position=sticks_left)
    assert planner(playouts=400, seed=1).act(game) == 0
    assert check(game).deterministic
    game.env.step(2)
    assert planner(playouts=400, seed=1).search(game).actions.tolist() == [0, 1]


@pytest.mark.parametrize("planner", [uct, simple_way, update_all])
def test_masks_of_a_gymnasium_environment_are_its_method_s(planner: Callable[..., Planner]) -> None:
    """Upwards only, until 2; there both ways."""

    class Masked(Walk):
        def action_masks(self) -> Any:
            return np.array([self.at == 2, True])

    game = walk(Masked())
    assert planner(playouts=60, seed=0).search(game).actions.tolist() == [1]
    game.env.at = 2
    assert planner(playouts=60, seed=0).search(game).actions.tolist() == [0, 1]
    game.env.action_masks = None
    assert planner(playouts=60, seed=0).search(walk()).actions.tolist() == [0, 1]


@pytest.mark.parametrize("planner", [uct, simple_way])
def test_a_truncated_game_is_over(planner: Callable[..., Planner]) -> None:
    """Nobody wins after the first move of either; Gymnasium's walk stops after one step."""

    class Short(Sticks):
        def take(self, count: int) -> None:
            super().take(count)
            if self.sticks <= 7:
                self.truncations = dict.fromkeys(self.agents, True)

    class OneStep(Walk):
        def step(self, action: int) -> Any:
            observation, _, *_ = super().step(action)
            return observation, float(action), False, True, {}

    result = planner(playouts=100, seed=0).search(AECGame(played(Short(9)), position=sticks_left))
    assert (result.depth, result.value) == (2, 0.5)
    result = planner(playouts=100, seed=0).search(walk(OneStep()))
    assert (result.depth, result.values.tolist()) == (1, [0, 1])


# Names of users


@pytest.mark.parametrize(
    ("legal", "expected"),
    [
        (lambda env: np.array([0, 1]), [0, 1]),
        (lambda env: np.array([1]), [1]),
        (lambda env: np.array([0]), [0]),
        (lambda env: (1, 0), [0, 1]),
        (lambda env: {0, 1}, [0, 1]),
        (lambda env: (action for action in range(2)), [0, 1]),
        (lambda env: [np.int64(1), np.uint8(0)], [0, 1]),
        (lambda env: [0, 1, 1, 0] * 200, [0, 1]),
    ],
    ids=["array", "array of one", "array of zero", "tuple", "set", "generator", "numpy numbers", "repeated"],
)
def test_legal_actions_are_taken_in_any_form(legal: Callable[[Any], Any], expected: list[int]) -> None:
    """More entries than there are actions once were written behind the end of an array."""
    result = uct(playouts=60, seed=0).search(walk(legal_actions=legal))
    assert result.actions.tolist() == expected
    assert result.visits.sum() == 60


@pytest.mark.parametrize("actions", [[0, 2], [-1, 1], [2**16], [0, 1, 2**40]], ids=str)
def test_actions_that_there_are_not_are_refused(actions: list[int]) -> None:
    game = walk(legal_actions=lambda env: actions)
    with pytest.raises(ValueError, match="whose actions are 0 to 1"):
        uct(playouts=60, seed=0).search(game)


def test_actions_that_are_no_whole_numbers_are_refused() -> None:
    with pytest.raises(TypeError, match="float"):
        uct(playouts=60, seed=0).search(walk(legal_actions=lambda env: [0.0, 1.0]))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"max_plies": 0}, ValueError),
        ({"max_plies": -1}, ValueError),
        ({"max_plies": 10**12}, ValueError),
        ({"max_plies": 2.5}, TypeError),
        ({"max_plies": True}, TypeError),
        ({"chance": "seen"}, ValueError),
        ({"payoff_range": (1, 0)}, ValueError),
        ({"payoff_range": (0, 0)}, ValueError),
        ({"payoff_range": (0, math.inf)}, ValueError),
        ({"payoff_range": (math.nan, 1)}, ValueError),
        ({"discount": 0}, ValueError),
        ({"discount": 1.1}, ValueError),
        ({"discount": math.nan}, ValueError),
        ({"constant": ("nothing",)}, ValueError),
        ({"constant": "at"}, ValueError),
        ({"clone_state": lambda env: env.at}, TypeError),
        ({"restore_state": lambda env, state: None}, TypeError),
        ({"unknown": 1}, TypeError),
    ],
    ids=nameless,
)
def test_parameters_that_are_not_so_are_refused(options: dict[str, Any], error: type[Exception]) -> None:
    """A longest of 0 once was written behind the end of an array."""
    with pytest.raises(error):
        walk(**options)


@pytest.mark.parametrize("space", [Box(0, 1, (2,)), Discrete(2, start=1), gymnasium.spaces.MultiDiscrete([2, 2])], ids=str)
def test_other_spaces_of_actions_than_0_1_and_so_on_are_refused(space: Any) -> None:
    env = Walk()
    env.action_space = space
    with pytest.raises(TypeError, match=r"actions 0, 1, \.\.\. in a Discrete space, but Walk has"):
        SingleGame(env)
    sticks = played(Sticks())
    sticks.action_space = lambda agent: space
    with pytest.raises(TypeError, match="but Sticks has"):
        AECGame(sticks)


def test_more_than_one_worker_is_refused_with_a_sentence() -> None:
    planner = uct(playouts=100, workers=2)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"Walk is one game of Python, .* workers=1"):
            planner.search(walk())
    assert planner.search(played(tic_tac_toe_v0.env())).workers == 2


def test_an_action_space_given_to_some_agents_only_is_masked_for_each() -> None:
    """Agents with fewer actions than others."""

    class Uneven(Sticks):
        def action_space(self, agent: str) -> Any:
            return Discrete(2 if agent == "player_0" else 3)

        def mask(self) -> list[int]:
            return super().mask()[: self.action_space(self.agent_selection).n]

    game = AECGame(played(Uneven(4)), position=sticks_left)
    assert simple_way(playouts=200, seed=0).search(game).actions.tolist() == [0, 1]
    game.env.step(0)
    result = simple_way(playouts=200, seed=0).search(game)
    assert result.actions.tolist() == [0, 1, 2]
    assert result.action == 2


# Players, turns and rewards


class Duel(Sticks):
    """Three players; who takes the last but one stick is out, and the others go on from five."""

    def take(self, count: int) -> None:
        agent = self.agent_selection
        living = [other for other in self.agents if not self.terminations[other]]
        self.sticks -= count
        follower = living[(living.index(agent) + 1) % len(living)]
        self.agent_selection = follower
        if len(living) == 3 and self.sticks <= 1:
            self.terminations[agent] = True
            self.rewards[agent] = -1.0
            self.sticks = 5
            self._skip_agent_selection = follower
            self.agent_selection = agent  # PettingZoo: the finished agent steps with None next
        elif len(living) == 2 and self.sticks == 0:
            self.rewards = {other: 1.0 if other == agent else -1.0 for other in self.agents}
            self.terminations = dict.fromkeys(self.agents, True)

    def mask(self) -> list[int]:
        return super().mask()


@pytest.mark.parametrize("planner", PRESETS.values(), ids=PRESETS)
def test_a_game_goes_on_after_one_of_three_players_is_out(planner: Callable[..., Planner]) -> None:
    """Three sticks: taking two or three is to be out, so take one. The steps with None are no plies."""
    env = played(Duel(3, players=3))
    game = AECGame(env, position=lambda env: (env.sticks, env.agent_selection, tuple(env.agents)))
    result = planner(playouts=600, seed=1).search(game)
    assert result.action == 0
    assert result.values[1] == result.values[2] == 0
    env.step(2)
    assert env.agent_selection == "player_0"
    with pytest.raises(ValueError, match="the game is over"):
        planner(playouts=10).act(game)
    env.step(None)
    assert env.agents == ["player_1", "player_2"]
    second = planner(playouts=600, seed=1).search(game)
    assert second.action == 0  # of five, leave four
    assert second.actions.tolist() == [0, 1, 2]


class Pair(Sticks):
    """Four players; taking three of the first sticks puts the mover and the next one out, and the others go on from five."""

    def take(self, count: int) -> None:
        agent, agents = self.agent_selection, self.agents
        if len(agents) == 4 and count == 3:
            at = agents.index(agent)
            for other in (agent, agents[(at + 1) % 4]):
                self.terminations[other] = True
                self.rewards[other] = -1.0
            self.sticks = 5
            self._skip_agent_selection = agents[(at + 2) % 4]
            return
        super().take(count)


@pytest.mark.parametrize("planner", PRESETS.values(), ids=PRESETS)
def test_a_game_goes_on_after_two_of_four_players_are_out_by_one_move(planner: Callable[..., Planner]) -> None:
    """The two step with None, one after the other. Then the third takes one of five and leaves four, which wins."""
    env = played(Pair(9, players=4))
    game = AECGame(env, position=lambda env: (env.sticks, env.agent_selection, tuple(env.agents)))
    game.clone_state()
    assert game.step(2) == 2
    assert game.live.agents == ["player_2", "player_3"]
    assert (game.totals, game.live.sticks) == ((-1.0, -1.0, 0.0, 0.0), 5)
    result = planner(playouts=400, seed=1).search(game)
    assert result.action != 2
    assert result.values[2] == 0
    for action in (2, None, None):
        env.step(action)
    assert env.agents == ["player_2", "player_3"]
    assert planner(playouts=600, seed=1).search(game).action == 0


def test_every_player_of_three_looks_at_its_own_rewards() -> None:
    """Whoever takes the last stick wins; the one with three sticks before it takes all."""
    env = played(Sticks(6, players=3))
    game = AECGame(env, position=sticks_left)
    for taken in (0, 1):
        env.step(taken)
    result = simple_way(playouts=300, seed=1).search(game)
    assert (result.action, result.values[2]) == (2, 1)
    assert env.agent_selection == "player_2"


class Twice(Sticks):
    """Who takes one stick moves again."""

    def take(self, count: int) -> None:
        agent = self.agent_selection
        super().take(count)
        if count == 1:
            self.agent_selection = agent


def test_several_moves_in_a_row_are_the_same_player_s() -> None:
    """Any number of sticks is won by taking one after the other; with two or three left over the other one does so."""
    game = AECGame(played(Twice(6)), position=sticks_left)
    result = simple_way(playouts=3000, seed=1).search(game)
    assert result.action == 0
    assert result.values[0] > 0.8
    assert result.values[1] < 0.3


class Pay(Walk):
    """Five steps; action 1 pays now, action 0 pays nothing but doubles what the last step pays."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.taken, self.last = 0, 1.0
        return super().reset(seed=seed)

    def step(self, action: int) -> Any:
        self.taken += 1
        if action == 0:
            self.last *= 2
        over = self.taken == 5
        return np.array([0]), (1.0 if action else 0.0) + (self.last if over else 0.0), over, False, {}


@pytest.mark.parametrize("planner", PRESETS.values(), ids=PRESETS)
@pytest.mark.sweep(2)
def test_rewards_in_the_middle_of_a_game_are_added_up(planner: Callable[..., Planner]) -> None:
    """All zeros pay 2 ** 5 = 32, all ones 5 + 1."""
    game = walk(Pay(), payoff_range=(0, 32), position=lambda env: (env.taken, env.last))
    result = planner(playouts=800, seed=1).search(game)
    assert result.principal_variation == [0] * 5
    assert result.value * 32 <= 32
    assert check(game) == Report(100, check(game).positions, True, False, False, True)


def test_equal_positions_with_different_rewards_so_far_are_kept_apart() -> None:
    """1 then 0 and 0 then 1 both have one doubling, and one coin; the key of the user does not tell the coin."""
    game = walk(Pay(), payoff_range=(0, 32), position=lambda env: env.taken)
    game.clone_state()
    keys = []
    for action in (0, 1):
        game.restart()
        game.step(action)
        keys.append(game.position())
    assert keys[0] != keys[1]


def test_rewards_from_before_the_root_do_not_count() -> None:
    env = Pay()
    game = walk(env, payoff_range=(0, 32), legal_actions=lambda env: [1])
    assert uct(playouts=5, seed=0).search(game).value * 32 == 6
    env.step(1)
    env.step(1)
    assert uct(playouts=5, seed=0).search(game).value * 32 == 4


@pytest.mark.parametrize(("low", "high"), [(0, 5), (-1, 3), (6.001, 10)])
def test_a_total_outside_its_range_is_told_and_can_be_clipped(low: float, high: float) -> None:
    """All ones pay 6."""
    options: dict[str, Any] = {"payoff_range": (low, high), "legal_actions": lambda env: [1]}
    with pytest.raises(ValueError, match=r"the total reward 6\.0 of the player is outside payoff_range=.*clip=True"):
        uct(playouts=5, seed=0).search(walk(Pay(), **options))
    assert uct(playouts=5, seed=0).search(walk(Pay(), clip=True, **options)).value == (0 if low > 6 else 1)


def test_a_total_at_the_ends_of_its_range_is_right_and_rounding_is_forgiven() -> None:
    class Tenths(Walk):
        def step(self, action: int) -> Any:
            self.at += 1
            return np.array([0]), 0.1, self.at == 3, False, {}

    assert sum([0.1] * 3) > 0.3
    assert uct(playouts=5, seed=0).search(walk(Tenths(), payoff_range=(0, 0.3))).value == 1


def test_the_agent_whose_total_is_outside_is_named() -> None:
    game = AECGame(played(Sticks(1)), payoff_range=(-0.5, 1), legal_actions=lambda env: [0])
    with pytest.raises(ValueError, match=r"the total reward -1\.0 of player_1 is outside"):
        uct(playouts=5, seed=0).search(game)


@pytest.mark.parametrize("reward", [math.nan, np.float32("nan")], ids=repr)
@pytest.mark.parametrize("clip", [False, True])
def test_a_reward_that_is_no_number_is_told(reward: float, clip: bool) -> None:
    class Strange(Walk):
        def step(self, action: int) -> Any:
            observation, _, *rest = super().step(action)
            return observation, reward, *rest

    with pytest.raises(ValueError, match="the total reward nan"):
        uct(playouts=50, seed=0).search(walk(Strange(), clip=clip))


@pytest.mark.parametrize("planner", PRESETS.values(), ids=PRESETS)
def test_a_game_without_an_end_is_cut_after_its_longest_plies(planner: Callable[..., Planner]) -> None:
    """It is paid as it stands: 3 at least in seven steps, when each pays the action."""

    class Endless(Walk):
        def step(self, action: int) -> Any:
            self.at += int(action)
            return np.array([0]), float(action), False, False, {}

    game = walk(Endless(), payoff_range=(0, 7), max_plies=7, position=lambda env: env.at)
    result = planner(playouts=1500, seed=1).search(game)
    assert result.principal_variation[0] == 1
    assert result.depth <= 7
    assert 0.5 < result.value <= 1
    for max_plies in (1, 2):
        game = walk(Endless(), payoff_range=(0, 7), max_plies=max_plies)
        assert planner(playouts=50, seed=1).search(game).depth <= max_plies


def test_a_kept_graph_goes_on_beyond_where_it_was_cut() -> None:
    """The goal is 6 steps away and 4 can be seen: after two steps it can be."""
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    env.reset(seed=0)
    game, planner = SingleGame(env, max_plies=4, **lake_hooks(env)), simple_way(playouts=2000, seed=0, reuse_graph=True)
    assert planner.search(game).value == 0
    env.step(1)
    assert planner.search(game).value == 0
    env.step(1)
    assert planner.search(game).value > 0


def test_actions_come_to_an_environment_as_whole_numbers_of_python() -> None:
    """T1 and PettingZoo's own assertions: neither numpy's nor ctypes' numbers."""
    kinds = set()

    class Asking(Walk):
        def step(self, action: int) -> Any:
            kinds.add(type(action))
            return super().step(action)

    for planner in (uct, simple_way, lambda **options: uct(expand="all", **options)):
        assert type(planner(playouts=50, seed=0).act(walk(Asking()))) is int
    assert kinds == {int}


def test_actions_of_numpy_can_be_stepped_in_between() -> None:
    game = AECGame(played(tictactoe_v3.env()), position=board_of)
    game.env.step(np.int64(uct(playouts=50, seed=0).act(game)))
    game.env.step(np.int32(uct(playouts=50, seed=0).act(game)))
    assert len(uct(playouts=50, seed=0).search(game).actions) == 7


# Faults of environments


class TrapError(Exception):
    """What the environments below raise."""


class Ringing:
    """Raises the same error from a method, at its so-many-th call in copies and originals alike."""

    def __init__(self, function: Callable[..., Any], error: BaseException) -> None:
        self.function, self.error, self.left = function, error, -1

    def __call__(self, *arguments: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            raise self.error
        return self.function(*arguments)


ERRORS: dict[str, BaseException] = {
    "of its own": TrapError("broken"),
    "stop": StopIteration(3),
    "key": KeyError("s"),
    "exit": SystemExit(2),
    "group": ExceptionGroup("two", [TrapError(), ValueError()]),
}
every_error = pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
PLACES = ["step", "observe", "position", "clone_state", "restore_state"]


@every_error
@pytest.mark.parametrize("calls", [1, pytest.param(5, marks=pytest.mark.slow), 333])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "planner", [uct, simple_way, lambda **options: ucd(2, 2, 2, expand="all", reuse_graph=True, **options)]
)
@pytest.mark.sweep(3)
def test_what_an_environment_raises_comes_out_of_the_search_itself(
    planner: Callable[..., Planner], place: str, calls: int, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same object, wherever it is raised; planner and adapter go on, with the searches of ones that saw no error."""
    env = played(Sticks(12))
    rings = {
        "step": Ringing(Sticks.step, error),
        "observe": Ringing(Sticks.observe, error),
        "position": Ringing(sticks_left, error),
        "clone_state": Ringing(lambda env: (env.sticks, env.agent_selection), error),
        "restore_state": Ringing(sticks_restored, error),
    }
    monkeypatch.setattr(Sticks, "step", lambda self, action: rings["step"](self, action))
    monkeypatch.setattr(Sticks, "observe", lambda self, agent: rings["observe"](self, agent))
    options = {name: rings[name] for name in PLACES[2:]}
    game, acting, other = AECGame(env, **options), planner(playouts=400, seed=1), planner(playouts=400, seed=1)
    ring = rings[place]
    for _ in range(2):
        ring.left = calls
        raised = None
        try:
            acting.search(game)
        except BaseException as caught:
            raised = caught
        assert raised is error or (raised is None and ring.left > 0)
        ring.left = -1
        acting.reset(7)
        other.reset(7)
        assert found(acting.search(game)) == found(other.search(AECGame(env, **options)))


def sticks_restored(env: Any, state: Any) -> None:
    """Puts a state of Sticks back."""
    env.sticks, env.agent_selection = state
    env.agents = env.possible_agents[:]
    env.terminations = dict.fromkeys(env.agents, False)
    env.rewards = dict.fromkeys(env.agents, 0.0)


def test_an_error_in_the_only_call_that_fails_is_not_lost_when_memory_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every step of a search in turn fails once; the error comes out, also where the graph was about to grow."""
    make_room = Graph.make_room
    monkeypatch.setattr(Graph, "make_room", lambda graph, playouts: make_room(graph, min(playouts, 1)))
    env = played(Sticks(12))
    ring = Ringing(Sticks.step, TrapError("once"))
    monkeypatch.setattr(Sticks, "step", lambda self, action: ring(self, action))
    game = AECGame(env, position=sticks_left)
    for calls in range(1, 400):
        ring.left = calls
        with pytest.raises(TrapError):
            simple_way(playouts=200, seed=1).search(game)


def test_an_error_in_clone_comes_out_of_the_planner() -> None:
    error = TrapError("no twin")

    class Single(HookedWalk):
        def clone(self) -> Any:
            raise error

    with pytest.raises(TrapError) as raised:
        uct(playouts=10).act(Single())
    assert raised.value is error


def test_an_error_in_the_rewards_comes_out_of_the_search() -> None:
    class Text(Walk):
        def step(self, action: int) -> Any:
            observation, _, *rest = super().step(action)
            return observation, "much", *rest

    game = walk(Text())
    for _ in range(2):
        with pytest.raises(ValueError, match="could not convert string to float"):
            uct(playouts=10).search(game)


@pytest.mark.parametrize("length", [0, 2, 4])
def test_a_mask_of_the_wrong_length_is_told(length: int) -> None:
    class Short(Sticks):
        def mask(self) -> list[int]:
            return [1] * length

    with pytest.raises(ValueError, match=f"the action mask of Short has {length} entries for 3 actions"):
        uct(playouts=10).search(AECGame(played(Short())))


@pytest.mark.parametrize("sticks", [5, 9])
def test_a_game_that_goes_on_without_a_legal_action_is_told_with_its_position(sticks: int) -> None:
    """At the root and below."""

    class Stuck(Sticks):
        def mask(self) -> list[int]:
            return [0, 0, 0] if self.sticks == 5 else super().mask()

    game = AECGame(played(Stuck(sticks)), position=sticks_left)
    with pytest.raises(ValueError, match=r"Stuck has no legal action, but the game goes on: \(5, 'player_"):
        uct(playouts=100, seed=0).search(game)


def test_an_illegal_move_that_a_mask_allows_is_what_the_environment_says() -> None:
    game = AECGame(played(Sticks(4, masks="")), position=sticks_left)
    with pytest.raises(AssertionError, match="not so many sticks are left"):
        uct(playouts=100, seed=0).search(game)
    assert game.env.sticks == 4


def test_a_game_that_is_over_at_its_start_is_told() -> None:
    env = played(Sticks(0))
    env.terminations = dict.fromkeys(env.agents, True)
    for planner in (uct, simple_way):
        with pytest.raises(ValueError, match="the game is over"):
            planner(playouts=10).search(AECGame(env))


def test_a_position_that_cannot_be_hashed_is_told() -> None:
    """At the root, below, and in a check."""
    with pytest.raises(TypeError, match=r"a position must be hashable, but .*\[0\]"):
        simple_way(playouts=10).search(walk(position=lambda env: [env.at]))
    below = walk(position=lambda env: [env.at] if env.at == 1 else env.at)
    for _ in range(2):
        with pytest.raises(TypeError, match=r"a position must be hashable, but .*\[1\]"):
            simple_way(playouts=50).search(below)
    with pytest.raises(TypeError, match="unhashable"):
        check(below)


class CarelessSticks(HookedSticks):
    """Hooks that lose one thing or another."""

    fault = ""
    shared: list[int] = []  # noqa: RUF012

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self.log = [0]
        super().reset(seed)

    def clone_state(self) -> Any:
        if self.fault == "key":
            return self.agent_selection, tuple(self.rewards.items()), tuple(self.terminations.items()), self.sticks > 0
        state = super().clone_state()
        return (*state, tuple(self.log)) if self.fault == "shares" else state

    def restore_state(self, state: Any) -> None:
        if self.fault == "key":
            self.agent_selection, rewards, terminations, _ = state
            self.agents = self.possible_agents[:]
            self.sticks, self.rewards, self.terminations = self.start, dict(rewards), dict(terminations)
            return
        kept = self.sticks
        super().restore_state(state[:4])
        if self.fault == "forgets":
            self.sticks = kept

    def clone(self) -> Any:
        other = super().clone()
        if self.fault == "shares":
            other.log = self.log
        return other

    def take(self, count: int) -> None:
        self.log.append(count)
        super().take(count)


def careless(name: str, sticks: int = 9) -> AECGame:
    """A game with a fault of that name."""
    return AECGame(played(type("Careless", (CarelessSticks,), {"fault": name})(sticks)))


def test_check_finds_nothing_in_hooks_that_keep_their_word() -> None:
    report = check(careless(""))
    assert report.games == 100
    assert report.deterministic
    assert report.positions > 20


def test_check_names_a_key_that_different_positions_share() -> None:
    with pytest.raises(ValueError, match=r"two different positions share the key .*player_.* and "):
        check(careless("key"), games=50)


def test_check_names_a_restoring_that_forgets() -> None:
    with pytest.raises(ValueError, match=r"after restore_state the copy is at .*instead of .*9, 'player_0'"):
        check(careless("forgets"))


def test_check_names_memory_that_copy_and_environment_share() -> None:
    with pytest.raises(ValueError, match="the copy shares memory with its environment"):
        check(careless("shares"))


def test_check_names_a_snapshot_that_later_moves_change() -> None:
    """The list of the snapshot is the list of the game."""
    env = played(Sticks(9))
    env.log = [0]
    step = Sticks.take

    class Logged(Sticks):
        def take(self, count: int) -> None:
            self.log.append(count)
            step(self, count)

    env.__class__ = Logged

    def restored(env: Any, state: Any) -> None:
        sticks_restored(env, state[:2])
        env.log = state[2]

    game = AECGame(
        env,
        clone_state=lambda env: (env.sticks, env.agent_selection, env.log),
        restore_state=restored,
        position=lambda env: (env.sticks, env.agent_selection, tuple(env.log)),
    )
    with pytest.raises(ValueError, match=r"its snapshot changed|shares memory"):
        check(game)


def test_check_names_a_mask_in_the_infos_that_is_not_restored() -> None:
    """B101: the mask of where the last game ended. With four sticks all moves are legal, with fewer left not."""
    env = played(HookedSticks(4, masks="infos"))
    with pytest.raises(ValueError, match=r"after restore_state the copy is at|has no legal action|share the key"):
        check(AECGame(env))


@pytest.mark.parametrize("chance", ["reseeded", "copied"])
def test_check_tells_whether_there_is_chance(chance: str) -> None:
    """On slippery ice one action leads to several cells; copied chance shows only one of them a way."""
    env = gymnasium.make("FrozenLake-v1")
    env.reset(seed=1)
    assert check(SingleGame(env, chance="reseeded", position=lambda env: int(env.s)), games=60).deterministic is False
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    env.reset(seed=1)
    assert check(SingleGame(env, chance=chance, position=lambda env: int(env.s))).deterministic is True


@pytest.mark.parametrize("seed", range(3))
def test_check_passes_their_games_and_leaves_them_alone(seed: int) -> None:
    env = played(connect_four_v3.env(), 3, 3)
    for options in FOUR_WAYS.values():
        before = everything(env)
        assert check(AECGame(env, **options), games=5, seed=seed).deterministic
        assert everything(env) == before


@pytest.mark.parametrize("make", [connect_four_v3.env, tictactoe_v3.env], ids=["connect four", "tic-tac-toe"])
def test_a_copy_by_deepcopy_that_has_lost_the_game_is_told(make: Callable[..., Any]) -> None:
    """B098: copy.deepcopy of an EzPickle environment is a fresh one."""
    env = played(make(), *([0] * 6 if make is connect_four_v3.env else [0, 1, 2]))

    def restored(env: Any, state: Any) -> None:
        vars(env).clear()
        vars(env).update(vars(copy.deepcopy(state)))
        if not hasattr(env, "rewards"):
            env.reset()

    game = AECGame(env, clone_state=copy.deepcopy, restore_state=restored)
    with pytest.raises(
        (ValueError, AttributeError), match=r"has lost its state: .* instead of .*; name clone_state|no attribute"
    ):
        uct(playouts=10).search(game)


@pytest.mark.parametrize("way", ["lock", "generator", "closure"])
def test_an_environment_that_cannot_be_copied_is_told_with_its_attribute(way: str) -> None:
    env = Walk()
    env.reset(seed=0)
    env.held = {"lock": threading.Lock(), "generator": (x for x in ()), "closure": lambda: env.step(1)}[way]
    with pytest.raises(TypeError, match="Walk cannot be copied, for its attribute held"):
        SingleGame(env)
    assert uct(playouts=400, seed=0).act(SingleGame(env, constant=("held",), max_plies=20)) == 1


def test_moves_kept_as_methods_are_those_of_the_copy() -> None:
    """The copy once moved a third environment, so that no way led anywhere."""

    class Handlers(Walk):
        def __init__(self) -> None:
            super().__init__()
            self.handlers = {0: self.down, 1: self.up}

        def down(self) -> None:
            self.at -= 1

        def up(self) -> None:
            self.at += 1

        def step(self, action: int) -> Any:
            self.handlers[action]()
            return np.array([self.at]), float(self.at == 3), abs(self.at) == 3, False, {}

    game = walk(Handlers())
    assert found(uct(playouts=200, seed=1).search(game)) == found(uct(playouts=200, seed=1).search(walk()))
    assert game.env.at == 0


def test_a_state_of_an_earlier_search_is_told() -> None:
    game = walk()
    old = game.clone_state()
    game.env.step(1)
    game.clone_state()
    for planner in (uct, simple_way):
        with pytest.raises(ValueError, match="this environment has been searched from another root since"):
            planner(playouts=10).search(old)


# Ctrl-C and memory


class Pressing(HookedWalk):
    """A walk without an end that presses Ctrl-C in a step; `left`: steps up to that one, over all copies."""

    left = 0

    def step(self, action: int) -> Any:
        Pressing.left -= 1
        if Pressing.left == 0:
            os.kill(os.getpid(), signal.SIGINT)
        self.at += 2 * int(action) - 1
        return np.array([self.at]), 0.0, False, False, {}


@pytest.mark.parametrize("planner", [uct, simple_way])
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_in_the_code_of_an_environment_ends_a_search_with_what_it_has(planner: Callable[..., Planner]) -> None:
    """In the 201st step, which is one of the 41st playout: five plies each."""
    game = walk(Pressing(), max_plies=5)
    Pressing.left = 201
    searching = planner(playouts=10**5, seed=0)
    result = searching.search(game)
    assert result.stopped == "interrupt"
    assert result.visits.sum() == result.playouts
    assert 40 <= result.playouts <= 41
    assert result.action in (0, 1)
    assert game.env.at == 0
    Pressing.left = 201
    with pytest.raises(KeyboardInterrupt):
        searching.act(game)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    fresh, again = planner(playouts=20, seed=0), planner(playouts=20, seed=0)
    assert found(fresh.search(game)) == found(again.search(walk(Pressing(), max_plies=5)))


INTERRUPTED = r"""
import os, signal, sys, threading, time
import gymnasium
from gymnasium.spaces import Discrete
from ucd_envs.foreign import SingleGame
from ucd_planners import ucd, uct, update_all
import math, random

signal.signal(signal.SIGINT, signal.default_int_handler)

class Bits(gymnasium.Env):
    def __init__(self):
        self.observation_space = self.action_space = Discrete(2)
        self.at = self.ply = 0
    def reset(self, *, seed=None, options=None):
        self.at = self.ply = 0
        return 0, {}
    def step(self, action):
        if timers and self.ply == 1:
            simulations.append(self.ply)
            if len(simulations) == 2:
                timers.pop().start()
        self.at += action
        self.ply += 1
        return 0, self.at / 40 if self.ply == 40 else 0.0, self.ply == 40, False, {}

timers, simulations = [], []
env = Bits()
env.reset()
def restore(env, state):
    env.at, env.ply = state
game = SingleGame(env, clone_state=lambda env: (env.at, env.ply), restore_state=restore)
planners = [
    uct,
    update_all,
    lambda **options: ucd(math.inf, math.inf, math.inf, **options),
    lambda **options: uct(expand="all", **options),
]
for planner in planners:
    planner(playouts=5, seed=0).search(game)
before = ucd(playouts=300, seed=5).search(game).visits.tolist()
delays = random.Random(1)
ended = 0
for trial in range(int(sys.argv[1])):
    timer = threading.Timer(delays.uniform(0.002, 0.04), os.kill, (os.getpid(), signal.SIGINT))
    simulations.clear()
    timers.append(timer)  # the second simulation starts it, so that Ctrl-C comes when the search has something
    result = planners[trial % len(planners)](playouts=10**7, seed=trial).search(game)
    assert result.stopped == "interrupt", result.stopped
    assert result.playouts > 0
    ended += 1
    timer.join()
    assert (env.at, env.ply) == (0, 0)
assert ucd(playouts=300, seed=5).search(game).visits.tolist() == before
print("ended", ended)
"""


def test_ctrl_c_at_any_moment_is_neither_lost_nor_printed() -> None:
    """In the environment's code, in compiled code and between: ctypes would print "Exception ignored" and go on."""
    command = [sys.executable, "-c", INTERRUPTED, "60"]
    done = subprocess.run(command, env=ENVIRON, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout.splitlines() == ["ended 60"]


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupted_search_that_keeps_its_graph_begins_afresh() -> None:
    game, keeping = walk(Pressing(), max_plies=5), simple_way(playouts=10**5, seed=0, reuse_graph=True)
    Pressing.left = 101
    assert keeping.search(game).stopped == "interrupt"
    small = simple_way(playouts=30, seed=4, reuse_graph=True)
    assert found(small.search(game)) == found(simple_way(playouts=30, seed=4).search(game))


def test_a_search_in_another_thread_does_as_in_the_main_one() -> None:
    game, results = walk(), []
    thread = threading.Thread(target=lambda: results.append(found(uct(playouts=100, seed=1).search(game))))
    thread.start()
    thread.join()
    assert results == [found(uct(playouts=100, seed=1).search(game))]


def test_a_handler_of_the_user_s_own_is_called_and_stays() -> None:
    """One that raises nothing: the search goes on to its end."""
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        handler = signal.getsignal(signal.SIGINT)
        Pressing.left = 101
        result = uct(playouts=50, seed=0).search(walk(Pressing(), max_plies=5))
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [signal.SIGINT]
    assert (result.stopped, result.playouts) == ("playouts", 50)


def test_progress_is_told_and_what_it_raises_ends_the_search() -> None:
    told: list[tuple[int, float]] = []
    game = walk()
    result = uct(playouts=3000, seed=0, progress=lambda done, seconds: told.append((done, seconds))).search(game)
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert told[-1][0] == result.playouts == 3000
    error = TrapError("enough")

    def raising(done: int, seconds: float) -> None:
        raise error

    with pytest.raises(TrapError) as raised:
        uct(playouts=3000, seed=0, progress=raising).search(game)
    assert raised.value is error
    assert uct(playouts=300, seed=0).search(game).playouts == 300


def test_adapters_are_given_back_when_nobody_needs_them() -> None:
    """With their callbacks and live copies; planners keep one at most."""
    planner = uct(playouts=20, seed=0)
    adapters, copies = [], []
    for _ in range(5):
        game = walk()
        planner.search(game)
        simple_way(playouts=20).search(game)
        adapters.append(weakref.ref(game))
        copies.append(weakref.ref(game.live))
    del game
    gc.collect()
    assert sum(adapter() is not None for adapter in adapters) <= 1
    planner.search(played(tic_tac_toe_v0.env()))
    del planner
    gc.collect()
    assert [ref() for ref in adapters + copies] == [None] * 10


def test_a_state_outlives_the_variable_of_its_adapter() -> None:
    """Callbacks that were given back would be called all the same."""
    state = walk().clone_state()
    gc.collect()
    assert uct(playouts=300, seed=0).search(state).action == 1


def test_many_searches_do_not_need_more_and_more_memory() -> None:
    env = played(tictactoe_v3.env(), 4)
    game = AECGame(env, position=board_of)
    planner, keeping = simple_way(playouts=60, seed=0), uct(playouts=60, seed=0, reuse_graph=True)

    def blocks(count: int) -> int:
        for _ in range(count):
            planner.search(game)
            keeping.search(game)
            uct(playouts=5).search(walk())
        gc.collect()
        return sys.getallocatedblocks()

    blocks(30)  # all positions of the game are known by then, nearly
    first = blocks(30)
    assert blocks(30) - first < 1500


def test_numbers_of_positions_are_given_back_when_a_search_begins_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or when they are too many; a kept graph of other numbers is then not gone on in."""
    env = played(tictactoe_v3.env())
    game = AECGame(env, position=board_of)
    planner = simple_way(playouts=300, seed=0, reuse_graph=True)
    planner.search(game)
    keys = game._trampolines.keys
    many = len(keys)
    assert many > 100
    env.step(planner.search(game).action)
    planner.search(game)
    assert len(keys) >= many
    choice = random.Random(0)
    while any(key[0][0] == board_of(env.unwrapped) for key in keys):
        played(env, *choice.sample(range(9), 3))
    game.clone_state()
    assert len(keys) == 0
    planner.search(game)
    monkeypatch.setattr(ucd_envs.foreign.callbacks, "MOST_KEYS", 50)
    epoch = game._trampolines.epoch
    fresh = AECGame(env, position=board_of)
    planner.reset(3)
    result = planner.search(game)
    assert game._trampolines.epoch == epoch + 1
    assert found(result) == found(simple_way(playouts=300, seed=3).search(fresh))


# Planners and adapters together


def test_two_planners_in_turn_do_not_disturb_each_other() -> None:
    """In one adapter, with graphs kept, and as each would do in an adapter of its own."""
    env = played(tictactoe_v3.env())
    together = AECGame(env, position=board_of)
    alone = [AECGame(env, position=board_of) for _ in range(2)]
    pairs = [
        (ucd(2, 1, 2, reuse_graph=True, playouts=200, seed=seed), ucd(2, 1, 2, reuse_graph=True, playouts=200, seed=seed))
        for seed in range(2)
    ]
    ply = 0
    while not any(env.terminations.values()):
        shared, own = pairs[ply % 2]
        result = shared.search(together)
        assert found(result) == found(own.search(alone[ply % 2])), ply
        env.step(result.action)
        ply += 1
    assert ply >= 5


def test_one_planner_can_serve_several_adapters_and_our_own_games_in_turn() -> None:
    planner, games = simple_way(playouts=100, seed=0), [walk(), AECGame(played(tictactoe_v3.env()), position=board_of)]
    for _ in range(2):
        for game in games:
            planner.reset(4)
            assert found(planner.search(game)) == found(simple_way(playouts=100, seed=4).search(game))
        planner.reset(4)
        ours = played(tic_tac_toe_v0.env())
        assert found(planner.search(ours)) == found(simple_way(playouts=100, seed=4).search(ours))


def test_a_reset_planner_repeats_its_searches() -> None:
    game = AECGame(played(tictactoe_v3.env()), position=board_of)
    for options in ({}, {"reuse_graph": True}):
        planner = simple_way(playouts=150, seed=3, **options)
        first = [found(planner.search(game)) for _ in range(3)]
        planner.reset(3)
        assert [found(planner.search(game)) for _ in range(3)] == first
        assert len(set(map(repr, first))) == 3


@pytest.mark.parametrize("travel", [copy.copy, copy.deepcopy, lambda planner: pickle.loads(pickle.dumps(planner))])
def test_a_planner_that_has_searched_in_their_environment_travels(travel: Callable[[Any], Any]) -> None:
    """The copy goes on as the original does, with an adapter of its own making."""
    env, game = played(HookedSticks()), AECGame(played(tictactoe_v3.env()), position=board_of)
    planner = simple_way(playouts=100, seed=3)
    planner.act(env)
    planner.search(game)
    other = travel(planner)
    assert found(other.search(game)) == found(planner.search(game))
    assert found(other.search(env)) == found(planner.search(env))


@pytest.mark.parametrize("travel", [copy.copy, copy.deepcopy])
def test_a_result_of_their_environment_can_be_copied(travel: Callable[[Any], Any]) -> None:
    result = uct(playouts=50, seed=0).search(walk())
    assert found(travel(result)) == found(result)
    assert str(travel(result)) == str(result)


def test_a_result_of_their_environment_travels_between_processes() -> None:
    result = uct(playouts=50, seed=0).search(walk())
    other = pickle.loads(pickle.dumps(result))
    assert found(other) == found(result)
    assert str(other) == str(result)
    again = pickle.loads(pickle.dumps(other))
    assert str(again) == str(result)
    with pytest.raises(RuntimeError, match="is one game of Python in another process: it cannot be played here"):
        uct(playouts=5).search(again.state)


def test_a_graph_of_their_game_can_be_looked_at() -> None:
    result = simple_way(playouts=60, seed=0).search(AECGame(played(Sticks(6)), position=sticks_left))
    graph = result.to_networkx()
    assert len(graph) >= result.nodes


def test_an_environment_may_plan_inside_its_own_steps() -> None:
    """An opponent that is a planner, in the environment that another planner searches."""

    class Against(Walk):
        def step(self, action: int) -> Any:
            other = Walk()
            other.at = self.at
            reply = uct(playouts=20, seed=int(self.at) + 3).act(SingleGame(other, max_plies=6))
            self.at += 2 * int(action) - 1 + (2 * reply - 1)
            over = abs(self.at) >= 3
            return np.array([self.at]), float(self.at >= 3), over, False, {}

    game = walk(Against(), max_plies=6)
    first, second = (found(uct(playouts=30, seed=0).search(game)) for _ in range(2))
    assert first == second


def test_an_adapter_is_an_adapter_of_the_raw_environment() -> None:
    """Wrapped or not, the planner finds the adapter that it made; a given adapter is used as it is."""
    env = tictactoe_v3.env()
    played(env)
    game: Adapter = AECGame(env)
    assert game.env is env.unwrapped
    assert game.live is not game.env
    assert type(game.live) is type(game.env)


class Stroll(gymnasium.Env[Any, Any]):
    """Action 1 goes a step on, of six, and action 0 stays: the same position one ply later."""

    action_space = Discrete(2)
    observation_space = Discrete(7)

    def __init__(self) -> None:
        self.at = 0

    def step(self, action: Any) -> Any:
        self.at += int(action)
        return self.at, float(self.at == 6), self.at == 6, False, {}


def test_a_kept_graph_goes_on_at_a_root_that_a_move_can_lead_back_to() -> None:
    """The position is in the graph at several plies; the root's own ply is the one that is meant."""
    game, planner = (
        SingleGame(Stroll(), position=lambda env: env.at, max_plies=10),
        simple_way(playouts=200, seed=1, reuse_graph=True),
    )
    assert [int(planner.search(game).visits.sum()) for _ in range(4)] == [200, 400, 600, 800]


def test_a_clone_that_is_the_environment_itself_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\Aclone must make another environment, but that of Stroll gives the same one\Z"):
        SingleGame(Stroll(), clone=lambda env: env)


def test_each_adapter_names_the_other() -> None:
    env = tictactoe_v3.raw_env()
    env.reset()
    with pytest.raises(TypeError, match=r"PettingZoo environment: give it AECGame\(env\)"):
        SingleGame(env)
