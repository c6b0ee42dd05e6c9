"""BoardEnv against the contract of PettingZoo and of the libraries that drive it (ids: cases.md and ecosystem.md)."""

from __future__ import annotations

import copy
import gc
import importlib
import os
import pickle
import random
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pettingzoo
import pytest
from gymnasium.utils import EzPickle
from pettingzoo.test import api_test, render_test, seed_test

import ucd_envs
from ucd_envs.envs.aec import BoardEnv
from ucd_envs.rules import State

Configuration = tuple[str, dict[str, Any]]
CONFIGURATIONS: list[Configuration] = [(name, {}) for name in ucd_envs.available()]
CONFIGURATIONS += [("hex_v0", {"size": 5, "swap": True}), ("hex_v0", {"size": 5, "opening": "b2"})]
DETERMINED = [(name, settings) for name, settings in CONFIGURATIONS if not ucd_envs.make_rules(name, **settings).has_chance]
WITH_ILLEGAL_MOVES = [
    configuration
    for configuration in CONFIGURATIONS
    if configuration[0] not in ("leftright_v0", "p_game_v0", "twenty_forty_eight_v0")
]
TWO_PLAYERS = [(name, settings) for name, settings in CONFIGURATIONS if ucd_envs.make_rules(name, **settings).players == 2]
MAKERS = ("env", "raw_env")
SITUATIONS = ("start", "middle", "end", "one agent gone", "all agents gone", "illegal move", "illegal move, one agent gone")
PLIES = 20


def shown(configuration: Configuration) -> str:
    return configuration[0] + "".join(f"-{key}={value}" for key, value in configuration[1].items())


def maker(configuration: Configuration, which: str) -> Callable[..., Any]:
    """`env` or `raw_env` of the game's module, with the settings."""
    name, settings = configuration
    constructor = getattr(importlib.import_module(f"ucd_envs.{name}"), which)
    return lambda **more: constructor(**settings, **more)


def started(configuration: Configuration, which: str = "raw_env", **more: Any) -> Any:
    env = maker(configuration, which)(**more)
    env.reset(seed=1)
    return env


def legal(env: Any) -> list[int]:
    actions: list[int] = env.unwrapped.clone_state().legal_actions()
    return actions


def ended(env: Any) -> bool:
    return not env.agents or any(env.terminations.values())


def play(env: Any, plies: int, seed: int = 0) -> None:
    """Random legal moves, so many or to the end of the game."""
    choose = random.Random(seed).choice
    for _ in range(plies):
        if ended(env):
            return
        env.step(choose(legal(env)))


def facts(env: Any) -> dict[str, Any]:
    """All that can be seen of a game, by value."""
    raw = env.unwrapped
    state = raw.clone_state()
    return {
        "agents": list(raw.agents),
        "selection": raw.agent_selection,
        "rewards": dict(raw.rewards),
        "cumulative": dict(raw._cumulative_rewards),
        "terminations": dict(raw.terminations),
        "truncations": dict(raw.truncations),
        "infos": copy.deepcopy(raw.infos),
        "skipped": raw._skip_agent_selection,
        "state": state.data,
        "ending": state.ending,
        "position": state.key,
        "seen": {agent: {key: array.tolist() for key, array in raw.observe(agent).items()} for agent in raw.possible_agents},
    }


FIRST_TWICE = {"capture_the_king_v0", "othello_v0"}
"""Games in which the first legal move cannot be made twice."""


def occupy_twice(configuration: Configuration) -> list[int]:
    """Moves of which the last is illegal: a cell that is taken, a column that is full, a face of the die, a stone of
    the other player, or a piece that is gone."""
    name, settings = configuration
    if name in FIRST_TWICE:
        return ucd_envs.make_rules(name, **settings).initial_state().legal_actions()[:1] * 2
    moves = {
        "breakthrough_v0": [25, 25],
        "connect_four_v0": [0] * 7,
        "crisscross_v0": [15, 15],
        "einstein_v0": [15, 15],
        "knightthrough_v0": [5, 5],
        "pawn_whopping_v0": [33, 33],
        "pig_v0": [0, 5],
        "quarto_v0": [20, 20],
    }
    return moves.get(name, [8, 8])


def in_situation(configuration: Configuration, which: str, situation: str, **more: Any) -> Any:
    """A game in one of SITUATIONS."""
    env = started(configuration, "env", **more)
    if situation.startswith("illegal move"):
        for action in occupy_twice(configuration):
            env.step(action)
    elif situation != "start":
        play(env, 4 if situation == "middle" else 1000)
    gone = env.max_num_agents if "all" in situation else 1 if "one" in situation else 0
    for _ in range(gone):
        env.step(None)
    return env if which == "env" else env.unwrapped


def settings_and_situations() -> Iterator[Any]:
    for configuration in CONFIGURATIONS:
        for situation in SITUATIONS:
            if configuration in WITH_ILLEGAL_MOVES or not situation.startswith("illegal"):
                for which in MAKERS:
                    yield pytest.param(configuration, situation, which, id=f"{shown(configuration)}-{situation}-{which}")


def restored(env: Any) -> Any:
    name = env.metadata["name"]
    other = maker((name, dict(env.unwrapped.rules.settings)), "raw_env" if env is env.unwrapped else "env")()
    other.restore_state(env.clone_state())
    return other


COPIES: dict[str, Callable[[Any], Any]] = {
    "clone": lambda env: env.clone(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "restore_state": restored,
}

every_configuration = pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=shown)
every_determined = pytest.mark.parametrize("configuration", DETERMINED, ids=shown)
every_illegal = pytest.mark.parametrize("configuration", WITH_ILLEGAL_MOVES, ids=shown)
every_two_player = pytest.mark.parametrize("configuration", TWO_PLAYERS, ids=shown)
every_maker = pytest.mark.parametrize("which", MAKERS)
every_situation = pytest.mark.parametrize(("configuration", "situation", "which"), tuple(settings_and_situations()))
every_copy = pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)


def unavoidable_warnings(function: Callable[..., Any]) -> Callable[..., Any]:
    """PettingZoo's tests exempt its own games by name from these; the last two stand for an empty board and a finished game."""
    for message in (
        "Observation is not a NumPy array",
        "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
        "Observation numpy array is all zeros.",
        "Action mask numpy array is all zeros",
    ):
        function = pytest.mark.filterwarnings(f"ignore:{message}:UserWarning")(function)
    return function


@pytest.fixture
def fast_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows that do not wait between two pictures."""
    monkeypatch.setattr("ucd_envs.envs.aec.FRAMES_PER_SECOND", 1_000_000)


# PettingZoo's own tests


@every_configuration
@every_maker
@unavoidable_warnings
def test_pettingzoo_api_test_passes(configuration: Configuration, which: str) -> None:
    """T1, T2, T6 and B104 as PettingZoo checks them."""
    api_test(maker(configuration, which)(), num_cycles=400)


@every_configuration
@every_maker
def test_pettingzoo_seed_test_passes(configuration: Configuration, which: str) -> None:
    """T3, T4 as PettingZoo checks them."""
    seed_test(maker(configuration, which), num_cycles=500)


@every_configuration
@every_maker
@pytest.mark.sweep(2)
def test_pettingzoo_render_test_passes(configuration: Configuration, which: str, fast_windows: None) -> None:
    """B110: all render modes, without a display."""
    render_test(maker(configuration, which))


# Spaces and observations


@every_configuration
def test_all_seats_have_equal_spaces(configuration: Configuration) -> None:
    env = started(configuration)
    assert all(env.observation_space(agent) == env.observation_space("player_0") for agent in env.possible_agents)
    assert all(env.action_space(agent) == env.action_space("player_0") for agent in env.possible_agents)


@every_configuration
@every_maker
def test_observations_have_two_keys_in_order(configuration: Configuration, which: str) -> None:
    env = started(configuration, which)
    assert list(env.observe("player_0")) == ["observation", "action_mask"]


@every_configuration
def test_the_observation_space_has_the_same_keys_in_the_same_order(configuration: Configuration) -> None:
    env = started(configuration)
    assert list(env.observation_space("player_0").spaces) == ["observation", "action_mask"]


@every_configuration
def test_observations_are_boxes_of_zeros_and_ones_in_int8(configuration: Configuration) -> None:
    space = started(configuration).observation_space("player_0")["observation"]
    assert (space.dtype, space.low.min(), space.high.max(), len(space.shape)) == (np.int8, 0, 1, 3)


@every_configuration
def test_masks_are_int8_that_a_discrete_space_samples_by(configuration: Configuration) -> None:
    """T1: a mask of bool or int64 fails Discrete.sample."""
    env = started(configuration)
    mask = env.observe(env.agent_selection)["action_mask"]
    assert mask.dtype == np.int8
    assert env.action_space(env.agent_selection).sample(mask) in legal(env)


@every_situation
def test_observe_answers_for_every_agent_at_any_time(configuration: Configuration, situation: str, which: str) -> None:
    """TorchRL asks for the observations of finished and of removed agents."""
    env = in_situation(configuration, which, situation)
    assert all(env.observe(agent) in env.observation_space(agent) for agent in env.possible_agents)


@every_situation
def test_only_the_agent_to_move_has_legal_actions_in_its_mask(configuration: Configuration, situation: str, which: str) -> None:
    """T23, B103: all zero for the agent that is not to move, and for all when the game has ended."""
    env = in_situation(configuration, which, situation)
    for agent in env.possible_agents:
        mover = agent == env.agent_selection and not ended(env)
        assert np.flatnonzero(env.observe(agent)["action_mask"]).tolist() == (legal(env) if mover else [])


@every_configuration
@every_maker
def test_observations_are_fresh_on_every_call(configuration: Configuration, which: str) -> None:
    """AgileRL writes into observations and masks in place."""
    env = started(configuration, which)
    one, other = env.observe("player_0"), env.observe("player_0")
    for key in one:
        assert one[key].flags.writeable
        assert not np.shares_memory(one[key], other[key])


@every_configuration
def test_an_observation_that_was_given_away_never_changes(configuration: Configuration) -> None:
    """B083: aliased arrays."""
    env = started(configuration)
    seen = env.observe("player_0")
    kept = copy.deepcopy(seen)
    play(env, PLIES)
    assert all((seen[key] == kept[key]).all() for key in kept)


@every_configuration
def test_writing_into_an_observation_changes_nothing(configuration: Configuration) -> None:
    """B083: aliased arrays."""
    env = started(configuration)
    play(env, 3)
    before = facts(env)
    for array in env.observe(env.agent_selection).values():
        array[...] = 1 - array
    assert facts(env) == before


@every_two_player
def test_the_two_players_see_each_others_planes_exchanged(configuration: Configuration) -> None:
    """B103: observe once ignored its argument."""
    env = started(configuration)
    play(env, 5)
    mine, other = (env.observe(agent)["observation"] for agent in env.possible_agents)
    assert (mine[:, :, 0] == other[:, :, 1]).all()
    assert (mine[:, :, 1] == other[:, :, 0]).all()


def test_a_first_stone_stands_in_plane_0_of_its_own_player() -> None:
    """B106: colours were exchanged. b3 of tic-tac-toe is row 2, column 1."""
    env = started(("tic_tac_toe_v0", {}))
    env.step(7)
    assert np.argwhere(env.observe("player_0")["observation"]).tolist() == [[2, 1, 0]]


def test_a_first_stone_stands_in_plane_1_of_the_other_player() -> None:
    """B106: colours were exchanged. b3 of tic-tac-toe is row 2, column 1."""
    env = started(("tic_tac_toe_v0", {}))
    env.step(7)
    assert np.argwhere(env.observe("player_1")["observation"]).tolist() == [[2, 1, 1]]


def test_equal_observations_do_not_make_equal_states() -> None:
    """T24: an observation is not a key of the state: here the two games differ in what wins."""
    one, other = (started(("connect_four_v0", {"in_a_row": number})) for number in (3, 4))
    assert (one.observe("player_0")["observation"] == other.observe("player_0")["observation"]).all()
    assert one.clone_state() != other.clone_state()


def test_an_unknown_agent_is_named_in_the_error() -> None:
    env = started(("tic_tac_toe_v0", {}))
    for ask in (env.observe, env.observation_space, env.action_space):
        with pytest.raises(ValueError, match="unknown agent 'white_0': expected one of player_0, player_1"):
            ask("white_0")


@every_configuration
@every_maker
def test_two_environments_share_no_space(configuration: Configuration, which: str) -> None:
    """T3: shared spaces share their random generators."""
    one, other = started(configuration, which), started(configuration, which)
    assert one.action_space("player_0") is not other.action_space("player_0")
    assert one.observation_space("player_0") is not other.observation_space("player_0")


def test_sampling_from_a_clones_space_leaves_the_original_alone() -> None:
    """T5: clones that share spaces share their random generators."""
    env = started(("hex_v0", {}))
    env.action_space("player_0").seed(1)
    expected = [env.action_space("player_0").sample() for _ in range(5)]
    env.action_space("player_0").seed(1)
    twin = env.clone()
    for _ in range(5):
        twin.action_space("player_0").sample()
    assert [env.action_space("player_0").sample() for _ in range(5)] == expected


@every_configuration
def test_environments_compare_by_identity(configuration: Configuration) -> None:
    """T4: an environment hashed by its state shares what is cached by it."""
    env = started(configuration)
    twin = env.clone()
    assert env != twin
    assert len({env, twin}) == 2


def test_a_clone_is_not_kept_alive() -> None:
    """T4: a cache of spaces kept every clone alive."""
    twin = started(("tic_tac_toe_v0", {})).clone()
    twin.observation_space("player_0"), twin.action_space("player_0")
    gone = weakref.ref(twin)
    del twin
    gc.collect()
    assert gone() is None


def test_two_sizes_in_one_process_do_not_meet() -> None:
    """T21: a board size in a global."""
    small, large = started(("hex_v0", {"size": 3})), started(("hex_v0", {"size": 7}))
    large.step(48)
    small.step(8)
    assert [env.observe("player_0")["observation"].shape[0] for env in (small, large)] == [3, 7]
    assert [len(legal(env)) for env in (small, large)] == [8, 48]


# Names and registration


@every_configuration
@every_maker
def test_the_text_of_an_environment_is_its_name(configuration: Configuration, which: str) -> None:
    env = maker(configuration, which)()
    assert str(env) == env.metadata["name"] == configuration[0]


@every_configuration
def test_the_metadata_are_complete(configuration: Configuration) -> None:
    env = maker(configuration, "env")()
    assert set(env.metadata) == {"name", "render_modes", "is_parallelizable", "render_fps"}
    assert env.metadata["render_modes"] == ["human", "ansi", "rgb_array"]
    assert env.metadata["is_parallelizable"] is False


def test_pettingzoo_makes_the_games_by_id() -> None:
    env: Any = pettingzoo.make("aec", "ucd_envs/hex-v0", size=5)
    assert env.unwrapped.rules.settings["rows"] == 5


def test_pettingzoo_knows_every_game() -> None:
    entered = {name for name in pettingzoo.aec_registry if name.startswith("ucd_envs/")}
    assert entered >= {f"ucd_envs/{name.replace('_v', '-v')}" for name, _ in CONFIGURATIONS}


def test_no_game_is_registered_with_a_limit_that_it_does_not_take() -> None:
    """T20: `max_cycles` would be passed to `env()`."""
    assert all(spec.max_cycles is None for name, spec in pettingzoo.aec_registry.items() if name.startswith("ucd_envs/"))


# The course of a game


@every_configuration
def test_terminations_and_truncations_are_python_booleans(configuration: Configuration) -> None:
    """T2: numpy's booleans fail PettingZoo's test."""
    env = started(configuration)
    while True:
        assert {type(flag) for flag in (*env.terminations.values(), *env.truncations.values())} == {bool}
        if ended(env):
            break
        env.step(legal(env)[0])


@every_situation
def test_rewards_are_python_floats(configuration: Configuration, situation: str, which: str) -> None:
    raw = in_situation(configuration, which, situation).unwrapped
    assert all(type(reward) is float for reward in (*raw.rewards.values(), *raw._cumulative_rewards.values()))


@every_situation
def test_infos_are_empty(configuration: Configuration, situation: str, which: str) -> None:
    """TorchRL makes tensors of all that is in an info."""
    env = in_situation(configuration, which, situation)
    assert env.infos == {agent: {} for agent in env.agents}


@every_configuration
def test_rewards_are_zero_after_every_step_but_the_last(configuration: Configuration) -> None:
    """tianshou reads `rewards` as increments after every step."""
    env = started(configuration)
    while True:
        env.step(legal(env)[0])
        if ended(env):
            break
        assert set(env.rewards.values()) == {0.0}


@every_configuration
@every_maker
def test_rewards_are_cleared_when_the_first_agent_has_gone(configuration: Configuration, which: str) -> None:
    env = in_situation(configuration, which, "one agent gone")
    assert set(env.rewards.values()) <= {0.0}


@every_configuration
@every_maker
def test_the_agent_after_the_last_mover_is_selected_at_the_end(configuration: Configuration, which: str) -> None:
    """B104: selection did not advance on the last ply."""
    env = started(configuration, which)
    while not ended(env):
        mover = env.agent_selection
        env.step(legal(env)[0])
    after = (env.possible_agents.index(mover) + 1) % len(env.possible_agents)
    assert env.agent_selection == env.possible_agents[after]


@every_configuration
@every_maker
def test_a_finished_game_drains_in_one_step_an_agent(configuration: Configuration, which: str) -> None:
    """B104: draining with None ends without agents in exactly as many steps as there are agents."""
    env = in_situation(configuration, which, "end")
    steps = 0
    for _ in env.agent_iter():
        env.step(None)
        steps += 1
    assert (steps, env.agents) == (env.max_num_agents, [])


@every_configuration
@every_maker
def test_last_tells_each_agent_its_result_exactly_once(configuration: Configuration, which: str) -> None:
    """B104: last() gives the final reward once an agent."""
    env = in_situation(configuration, which, "end")
    results = dict(env.rewards)
    told: dict[str, float] = {}
    for agent in env.agent_iter():
        assert agent not in told
        told[agent] = env.last()[1]
        env.step(None)
    assert told == results


@every_two_player
def test_final_rewards_are_zero_sum(configuration: Configuration) -> None:
    """Except in CrissCross, which pays both players for coming home."""
    env = in_situation(configuration, "env", "end")
    if configuration[0] == "crisscross_v0":
        payoffs = env.unwrapped.clone_state().payoffs()
        assert list(env.rewards.values()) == pytest.approx([2 * payoff - 1 for payoff in payoffs])
    else:
        assert sum(env.rewards.values()) == 0.0
        assert set(env.rewards.values()) <= {-1.0, -0.5, 0.0, 0.5, 1.0}


def test_a_win_is_paid_plus_one_and_minus_one() -> None:
    """a1, b1 and c1 make a row for player 0."""
    env = started(("tic_tac_toe_v0", {}), "env")
    for action in (0, 3, 1, 4, 2):
        env.step(action)
    assert env.rewards == {"player_0": 1.0, "player_1": -1.0}


def test_the_reward_of_leftright_is_its_payoff() -> None:
    env = started(("leftright_v0", {"steps": 4}), "env")
    for action in (0, 1, 0, 0):
        env.step(action)
    assert env.rewards == {"player_0": 0.75}


@every_situation
def test_no_legal_action_is_left_after_the_end(configuration: Configuration, situation: str, which: str) -> None:
    """B062: mask all zero for every agent; the state's own list is empty when the rules ended the game."""
    env = in_situation(configuration, which, situation)
    if ended(env):
        assert not any(env.observe(agent)["action_mask"].any() for agent in env.possible_agents)
        assert situation.startswith("illegal") or legal(env) == []


@every_configuration
@every_maker
def test_a_move_after_the_end_is_refused(configuration: Configuration, which: str) -> None:
    """B062: as PettingZoo's games do."""
    env = in_situation(configuration, which, "end")
    with pytest.raises(ValueError, match="the only valid action is None"):
        env.step(0)


@every_configuration
@every_copy
@pytest.mark.sweep(2)
def test_a_copy_of_a_finished_game_is_finished(configuration: Configuration, copied: Callable[[Any], Any]) -> None:
    """B062: search went on below a finished state."""
    twin = copied(in_situation(configuration, "raw_env", "end"))
    assert ended(twin)
    assert twin.clone_state().over


def test_a_hex_game_opened_by_one_stone_begins_with_the_second_player() -> None:
    env = started(("hex_v0", {"size": 5, "opening": "b2"}), "env")
    assert env.agent_selection == "player_1"


@pytest.mark.parametrize("kind", [int, np.int32, np.int64, np.array], ids=["int", "int32", "int64", "0-d array"])
@every_configuration
@every_maker
def test_actions_may_be_any_kind_of_whole_number(configuration: Configuration, which: str, kind: Any) -> None:
    env, other = started(configuration, which), started(configuration, which)
    action = legal(env)[-1]
    env.step(action)
    other.step(kind(action))
    assert facts(env) == facts(other)


def test_step_returns_nothing() -> None:
    assert started(("tic_tac_toe_v0", {}), "env").step(0) is None


@every_determined
@every_maker
def test_every_seed_starts_the_same_game(configuration: Configuration, which: str) -> None:
    """B109, T13: without chance a seed has nothing to change and a clone nothing to foresee."""
    env = maker(configuration, which)()
    starts = []
    for seed in (None, 0, 1, 1):
        env.reset(seed=seed)
        starts.append(facts(env))
    assert starts == starts[:1] * 4


@every_configuration
def test_a_seeded_action_space_gives_the_same_actions(configuration: Configuration) -> None:
    """B109: sampling spaces have generators of their own, which are seeded through the space."""
    drawn = []
    for _ in range(2):
        space = started(configuration).action_space("player_0")
        space.seed(7)
        drawn.append([int(space.sample()) for _ in range(20)])
    assert drawn[0] == drawn[1]


@every_maker
def test_reset_takes_options_that_it_does_not_know(which: str) -> None:
    """T6: PettingZoo's test passes one."""
    env = maker(("tic_tac_toe_v0", {}), which)()
    env.reset(seed=1, options={"unheard of": 1})
    assert env.agent_selection == "player_0"


@every_situation
def test_reset_starts_over_from_any_situation(configuration: Configuration, situation: str, which: str) -> None:
    env = in_situation(configuration, which, situation)
    env.reset(seed=1)
    assert facts(env) == facts(started(configuration))


def test_a_fresh_process_plays_the_same_game() -> None:
    """B085: nothing depends on the order of a set or on Python's hash seed."""
    program = (
        "import random, ucd_envs; env = ucd_envs.make('hex', size=5); env.reset(); choose = random.Random(3).choice\n"
        "for _ in range(9): env.step(choose(env.clone_state().legal_actions()))\n"
        "print(env.clone_state().key.hex(), env.agent_selection)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    env = started(("hex_v0", {"size": 5}))
    play(env, 9, seed=3)
    assert run.stdout.split() == [env.clone_state().key.hex(), env.agent_selection]


# Illegal moves


def illegal_actions() -> Iterator[Any]:
    for configuration in CONFIGURATIONS:
        actions = ucd_envs.make_rules(configuration[0], **configuration[1]).actions
        for label, action in (
            ("too large", actions),
            ("negative", -1),
            ("float", 1.0),
            ("None", None),
            ("text", "a1"),
            ("array", np.array([0, 1])),
        ):
            yield pytest.param(configuration, [], action, id=f"{shown(configuration)}-{label}")
        if configuration in WITH_ILLEGAL_MOVES:
            *moves, taken = occupy_twice(configuration)
            yield pytest.param(configuration, moves, taken, id=f"{shown(configuration)}-taken")


@pytest.mark.parametrize(("configuration", "moves", "action"), tuple(illegal_actions()))
def test_the_raw_environment_refuses_an_illegal_action_and_stays_as_it_was(
    configuration: Configuration, moves: list[int], action: Any
) -> None:
    """B022, B082: nothing of a rejected move is applied."""
    env = started(configuration)
    for move in moves:
        env.step(move)
    before = facts(env)
    with pytest.raises(ValueError, match=r"\A[^\n]+\Z"):
        env.step(action)
    assert facts(env) == before


def test_the_error_says_what_is_wrong_with_the_move() -> None:
    env = started(("hex_v0", {"size": 5}))
    env.step(12)
    with pytest.raises(ValueError, match="move c3 is not legal: the cell is taken"):
        env.step(12)


@pytest.mark.parametrize("action", [9, -1, 10**30])
def test_the_error_says_which_actions_there_are(action: int) -> None:
    env = started(("tic_tac_toe_v0", {}))
    with pytest.raises(ValueError, match=f"action {action} is not legal: actions are 0 to 8"):
        env.step(action)


def test_the_error_says_what_an_action_is() -> None:
    env = started(("tic_tac_toe_v0", {}))
    with pytest.raises(ValueError, match=r"an action is a whole number from 0 to 8, not 1\.0"):
        env.step(1.0)


@every_illegal
def test_an_illegal_move_ends_the_game_against_its_player(configuration: Configuration) -> None:
    """B100: -1 for the offender, 0 for the others, all terminated and truncated."""
    env = started(configuration, "env")
    for action in occupy_twice(configuration):
        offender = env.agent_selection
        env.step(action)
    assert env.rewards == {agent: -1.0 if agent == offender else 0.0 for agent in env.possible_agents}
    assert set(env.terminations.values()) == set(env.truncations.values()) == {True}


@every_illegal
def test_games_after_an_illegal_move_are_played_normally(configuration: Configuration) -> None:
    """B100: PettingZoo's wrapper kept the ended game's values on itself; three games in a row, each after an illegal move."""
    env = maker(configuration, "env")()
    for seed in range(3):
        env.reset(seed=1)
        for action in occupy_twice(configuration):
            env.step(action)
            assert env.agent_selection == env.unwrapped.agent_selection
        for _ in env.agent_iter():
            env.step(None)
        env.reset()
        while not ended(env):
            assert env.agent_selection == env.unwrapped.agent_selection
            play(env, 1, seed)
        assert not any(env.truncations.values())


@every_illegal
def test_an_illegal_move_is_told_to_each_agent_once(configuration: Configuration) -> None:
    """B100: agent_iter drains with None."""
    env = in_situation(configuration, "env", "illegal move")
    results = dict(env.rewards)
    told: dict[str, float] = {}
    for agent in env.agent_iter():
        _, told[agent], terminated, truncated, _ = env.last()
        assert terminated
        assert truncated
        env.step(None)
    assert told == results


def test_the_very_first_move_may_be_the_illegal_one() -> None:
    """B100: an illegal move as first action; the opening has taken b2."""
    env = started(("hex_v0", {"size": 5, "opening": "b2"}), "env")
    env.step(6)
    assert env.rewards == {"player_0": 0.0, "player_1": -1.0}


@pytest.mark.parametrize("configuration", [each for each in WITH_ILLEGAL_MOVES if each in DETERMINED], ids=shown)
def test_a_move_is_judged_by_the_restored_state(configuration: Configuration) -> None:
    """B101, T8: PettingZoo's wrapper remembers a mask. Only in the earlier state is the last move legal."""
    *moves, last = occupy_twice(configuration)
    env = started(configuration, "env")
    for move in moves[:-1]:
        env.step(move)
    earlier = env.clone_state()
    env.step(moves[-1])
    env.last()
    env.restore_state(earlier)
    env.step(last)
    assert not any(env.truncations.values())


@every_illegal
def test_a_move_that_the_restored_state_forbids_ends_the_game(configuration: Configuration) -> None:
    """B100, B101: an illegal move directly after a restore."""
    *moves, last = occupy_twice(configuration)
    env = started(configuration, "env")
    for move in moves:
        env.step(move)
    later = env.clone_state()
    env.reset()
    env.last()
    env.restore_state(later)
    env.step(last)
    assert all(env.truncations.values())


@every_configuration
def test_the_wrapped_environment_asserts_that_actions_are_in_the_space(configuration: Configuration) -> None:
    env = started(configuration, "env")
    with pytest.raises(AssertionError, match="action is not in action space"):
        env.step(env.unwrapped.rules.actions)


# Before the reset and after the last agent


def test_the_raw_environment_asks_for_a_reset_before_anything_else() -> None:
    env = maker(("tic_tac_toe_v0", {}), "raw_env")(render_mode="ansi")
    for use in (lambda: env.step(0), lambda: env.observe("player_0"), env.clone_state, env.render):
        with pytest.raises(ValueError, match=r"call reset\(\) first"):
            use()


def test_the_wrapped_environment_asks_for_a_reset_before_anything_else() -> None:
    """B110: render before reset raises as PettingZoo's wrapper does."""
    env = maker(("tic_tac_toe_v0", {}), "env")(render_mode="ansi")
    for use in (lambda: env.step(0), lambda: env.observe("player_0"), env.agent_iter, env.render):
        with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before"):
            use()


def test_the_possible_agents_are_known_before_the_reset() -> None:
    """T22: the others are not."""
    env = maker(("tic_tac_toe_v0", {}), "env")()
    assert env.possible_agents == ["player_0", "player_1"]
    with pytest.raises(AttributeError, match="agents cannot be accessed before reset"):
        _ = env.agents


@every_copy
@every_maker
def test_a_copy_of_a_fresh_environment_is_as_fresh(copied: Callable[[Any], Any], which: str) -> None:
    if copied is restored:
        with pytest.raises(ValueError, match=r"call reset\(\) first"):
            copied(maker(("tic_tac_toe_v0", {}), which)())
        return
    twin = copied(maker(("tic_tac_toe_v0", {}), which)())
    twin.reset()
    assert facts(twin) == facts(started(("tic_tac_toe_v0", {})))


def test_the_raw_environment_asks_for_a_reset_when_all_agents_have_gone() -> None:
    env = in_situation(("tic_tac_toe_v0", {}), "raw_env", "all agents gone")
    with pytest.raises(ValueError, match=r"call reset\(\) first"):
        env.step(None)


# Snapshots and copies


@every_situation
@every_copy
@pytest.mark.sweep(4)
def test_a_copy_is_the_same_game(
    configuration: Configuration, situation: str, which: str, copied: Callable[[Any], Any]
) -> None:
    """B098, T7: copies of PettingZoo's classic games are fresh, un-reset games."""
    env = in_situation(configuration, which, situation)
    assert facts(copied(env)) == facts(env)


@every_situation
@every_copy
@pytest.mark.sweep(4)
def test_a_copy_and_its_original_go_on_alike(
    configuration: Configuration, situation: str, which: str, copied: Callable[[Any], Any]
) -> None:
    """B098: twenty identical random plies on both, and the steps with None after the end.

    A clone draws outcomes of its own; here it has the generator of the original.
    """
    env = in_situation(configuration, which, situation)
    twin = copied(env)
    twin.unwrapped._rng = copy.deepcopy(env.unwrapped._rng)
    choose = random.Random(5).choice
    for _ in range(PLIES):
        if not env.agents:
            break
        action = None if ended(env) else choose(legal(env))
        env.step(action)
        twin.step(action)
        assert facts(twin) == facts(env)


@every_configuration
@every_maker
@every_copy
def test_what_a_copy_plays_does_not_reach_the_original(
    configuration: Configuration, which: str, copied: Callable[[Any], Any]
) -> None:
    """B098, B082: originals are independent."""
    env = in_situation(configuration, which, "middle")
    before = facts(env)
    play(copied(env), PLIES)
    assert facts(env) == before


@pytest.mark.parametrize("mode", [None, "ansi", "rgb_array"])
@every_maker
def test_copies_draw_as_their_original(mode: str | None, which: str) -> None:
    """B098: render_mode None, "ansi" and "rgb_array"."""
    env = in_situation(("hex_v0", {"size": 5, "swap": True}), which, "middle", render_mode=mode)
    for copied in (COPIES["clone"], COPIES["deepcopy"], COPIES["pickle"]):
        twin = copied(env)
        assert twin.render_mode == mode
        if mode is not None:
            assert np.array_equal(twin.render(), env.render())


def test_a_clone_of_a_game_in_a_window_opens_none(fast_windows: None) -> None:
    env = in_situation(("tic_tac_toe_v0", {}), "raw_env", "middle", render_mode="human")
    assert env.clone().render_mode is None
    env.close()


def test_a_game_in_a_window_can_be_pickled(fast_windows: None) -> None:
    """T7: only the window is left behind."""
    env = in_situation(("tic_tac_toe_v0", {}), "raw_env", "middle", render_mode="human")
    twin = pickle.loads(pickle.dumps(env))
    env.close()
    assert facts(twin) == facts(env)


def test_environments_are_not_pickled_by_their_constructors_arguments() -> None:
    """T7: EzPickle makes a fresh game."""
    assert not issubclass(BoardEnv, EzPickle)


def test_the_hooks_of_a_wrapped_environment_are_those_of_the_game() -> None:
    """T10: `clone` gives the raw environment."""
    env = in_situation(("tic_tac_toe_v0", {}), "env", "middle")
    assert type(env.clone()) is BoardEnv
    assert env.clone_state() == env.unwrapped.clone_state()


@every_configuration
def test_a_restored_state_counts_as_a_reset(configuration: Configuration) -> None:
    env = in_situation(configuration, "env", "middle")
    other = maker(configuration, "env")()
    other.restore_state(env.clone_state())
    play(other, 1)
    assert other.clone_state().ply > env.clone_state().ply


def test_a_restored_state_counts_as_a_step_of_agent_iter() -> None:
    """T9: the order wrapper asks for a step in each round of the loop."""
    env = started(("tic_tac_toe_v0", {}), "env")
    start = env.clone_state()
    rounds = 0
    for _ in env.agent_iter(max_iter=3):
        env.restore_state(start)
        rounds += 1
    assert rounds == 3


@every_situation
def test_looking_at_a_game_does_not_change_it(configuration: Configuration, situation: str, which: str) -> None:
    """B082: serialised before and after; observing, asking, drawing and copying leave everything as it was."""
    env = in_situation(configuration, which, situation, render_mode="ansi")
    before = pickle.dumps({**env.unwrapped.__getstate__(), "_observation_spaces": None, "_action_spaces": None})
    state = env.clone_state()
    hash(state), state.legal_actions(), env.render()
    for agent in env.possible_agents:
        env.observe(agent), env.observation_space(agent), env.action_space(agent)
    if env.agents:
        env.last()
    play(env.clone(), PLIES)
    play(copy.deepcopy(env), PLIES)
    after = pickle.dumps({**env.unwrapped.__getstate__(), "_observation_spaces": None, "_action_spaces": None})
    assert before == after


@every_configuration
def test_a_snapshot_does_not_move_with_the_game(configuration: Configuration) -> None:
    """B083: the state handed out was the live board."""
    env = in_situation(configuration, "raw_env", "middle")
    state = env.clone_state()
    kept = (state.data, state.key, hash(state), state.legal_actions())
    play(env, PLIES)
    assert (state.data, state.key, hash(state), state.legal_actions()) == kept


@every_configuration
def test_a_game_does_not_move_with_its_snapshot(configuration: Configuration) -> None:
    """B083: `array()` is the caller's own."""
    env = in_situation(configuration, "raw_env", "middle")
    before = facts(env)
    state = env.clone_state()
    for array in (state.array(), state.array()):
        assert not np.shares_memory(array, env._state)
        array[...] = 255
    assert facts(env) == before


@every_configuration
def test_a_snapshot_restored_twice_is_restored_alike(configuration: Configuration) -> None:
    """B083: a game restored from a state must not write into it."""
    env = in_situation(configuration, "raw_env", "middle")
    state = env.clone_state()
    before = facts(env)
    for seed in range(3):
        play(env, PLIES, seed)
        env.restore_state(state)
        assert facts(env) == before


@every_determined
def test_restore_undoes_any_line_of_play(configuration: Configuration) -> None:
    """The state, the masks and the future are those of the game that was never left."""
    env, other = started(configuration), started(configuration)
    for seed in range(5):
        play(env, 2, seed)
        play(other, 2, seed)
        if ended(env):
            break
        state = env.clone_state()
        play(env, PLIES, seed + 100)
        env.restore_state(state)
        assert facts(env) == facts(other)


@pytest.mark.parametrize(
    ("name", "settings", "one", "other"),
    [
        ("tic_tac_toe_v0", {}, (0, 4, 8), (8, 4, 0)),
        ("hex_v0", {"size": 5}, (0, 1, 2, 3), (2, 3, 0, 1)),
        ("connect_four_v0", {}, (0, 1, 2), (2, 1, 0)),
        ("leftright_v0", {}, (0, 1, 1), (1, 1, 0)),
    ],
)
def test_two_move_orders_to_one_position_give_one_key(
    name: str, settings: dict[str, Any], one: tuple[int, ...], other: tuple[int, ...]
) -> None:
    table = {}
    for moves in (one, other):
        env = started((name, settings))
        for move in moves:
            env.step(move)
        table[env.clone_state()] = moves
    assert list(table.values()) == [other]


@every_configuration
def test_different_positions_give_different_keys(configuration: Configuration) -> None:
    env = started(configuration)
    keys = [env.clone_state()]
    while not ended(env):
        env.step(legal(env)[0])
        keys.append(env.clone_state())
    assert len(set(keys)) == len(keys)


def test_states_of_two_configurations_are_different() -> None:
    """Of one shape, and both empty."""
    states = {started(("hex_v0", {"size": 4, "swap": swap})).clone_state() for swap in (False, True)}
    assert len(states) == 2


@every_situation
def test_a_state_survives_pickling(configuration: Configuration, situation: str, which: str) -> None:
    state = in_situation(configuration, which, situation).clone_state()
    twin = pickle.loads(pickle.dumps(state))
    assert (twin, hash(twin), twin.ending) == (state, hash(state), state.ending)


@every_configuration
def test_how_far_a_finished_game_is_drained_takes_no_part_in_equality(configuration: Configuration) -> None:
    states = [in_situation(configuration, "raw_env", situation).clone_state() for situation in SITUATIONS[2:5]]
    assert len(set(states)) == 1


@pytest.mark.parametrize(
    "foreign",
    [
        ("tic_tac_toe_v0", {}),
        ("hex_v0", {"size": 4}),
        ("hex_v0", {"size": 5, "swap": True}),
        ("hex_v0", {"rows": 3, "columns": 5}),
    ],
    ids=shown,
)
@every_maker
def test_a_state_of_another_game_is_refused_and_changes_nothing(foreign: Configuration, which: str) -> None:
    env = in_situation(("hex_v0", {"size": 5}), which, "middle")
    state = started(foreign).clone_state()
    before = facts(env)
    with pytest.raises(ValueError, match=r"\Athis state belongs to \w+\(.*\), but the environment plays hex_v0\(.*\)\Z"):
        env.restore_state(state)
    assert facts(env) == before


def test_a_state_of_equal_rules_is_accepted() -> None:
    """`size=5` and `rows=5, columns=5` name one configuration."""
    env = started(("hex_v0", {"size": 5}))
    other = in_situation(("hex_v0", {"rows": 5, "columns": 5}), "raw_env", "middle")
    env.restore_state(other.clone_state())
    assert facts(env) == facts(other)


@pytest.mark.parametrize("thing", [None, b"", 3, "state"], ids=repr)
@every_maker
def test_something_else_than_a_state_is_refused_and_changes_nothing(thing: Any, which: str) -> None:
    env = in_situation(("tic_tac_toe_v0", {}), which, "middle")
    before = facts(env)
    with pytest.raises(TypeError, match=r"expected a State from clone_state\(\), not "):
        env.restore_state(thing)
    assert facts(env) == before


@every_two_player
def test_a_finished_state_that_rules_made_is_restored_with_its_rewards(configuration: Configuration) -> None:
    """A planner's states come from `after`, without an environment's ending."""
    env = in_situation(configuration, "raw_env", "end")
    state = env.clone_state()
    other = started(configuration)
    other.restore_state(State(state.rules, state.data))
    assert (other.rewards, other.terminations) == (env.rewards, env.terminations)


# Drawing


@every_maker
def test_render_without_a_mode_warns_and_returns_nothing(which: str) -> None:
    """B110: render_mode None."""
    env = started(("tic_tac_toe_v0", {}), which)
    with pytest.warns(UserWarning, match="pass one when the environment is made"):
        assert env.render() is None


def test_an_unknown_render_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="render_mode must be None or one of human, ansi, rgb_array, not 'svg'"):
        ucd_envs.make("tic_tac_toe", render_mode="svg")


@pytest.mark.parametrize("mode", ["human", "ansi", "rgb_array"])
def test_playing_and_drawing_print_nothing(mode: str, capfd: pytest.CaptureFixture[str], fast_windows: None) -> None:
    """B110: no noise on stdout."""
    env = started(("tic_tac_toe_v0", {}), "env", render_mode=mode)
    env.render()
    play(env, 9)
    env.render()
    env.close()
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("mode", [None, "human", "ansi", "rgb_array"])
@every_maker
def test_close_may_be_called_twice(mode: str | None, which: str, fast_windows: None) -> None:
    """B110: env.close() twice."""
    env = started(("tic_tac_toe_v0", {}), which, render_mode=mode)
    env.step(4)
    env.close()
    env.close()


@every_situation
def test_a_game_can_be_drawn_at_any_time(configuration: Configuration, situation: str, which: str) -> None:
    """B110: render must survive the end of the game."""
    env = in_situation(configuration, which, situation, render_mode="ansi")
    assert isinstance(env.render(), str)


def test_a_window_shows_each_move(fast_windows: None, monkeypatch: pytest.MonkeyPatch) -> None:
    shown_pictures = []
    monkeypatch.setattr("ucd_envs.pictures.Screen.show", lambda self, pixels, rate: shown_pictures.append(pixels))
    env = started(("tic_tac_toe_v0", {}), "env", render_mode="human")
    env.step(4)
    env.step(4)
    assert len(shown_pictures) == 2
    env.close()


def test_closing_one_window_does_not_break_another(fast_windows: None) -> None:
    """pygame has one window for the process."""
    one, other = (started(configuration, render_mode="human") for configuration in (("connect_four_v0", {}), ("go_v0", {})))
    one.step(0)
    other.step(0)
    one.step(1)
    one.close()
    other.step(1)
    other.close()
