"""Views for learning libraries, driven as these drive them (section 5 of ecosystem.md)."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test
from pettingzoo.utils import BaseWrapper

import ucd_envs
from ucd_envs.envs.wrappers import (
    ChannelsFirstWrapper,
    FlatWrapper,
    FloatWrapper,
    MaskInInfosWrapper,
    MoverViewWrapper,
    ObservationsKeyWrapper,
    SeatWrapper,
)

VIEWS: dict[str, Callable[[Any], Any]] = {
    "mover view": MoverViewWrapper,
    "observations": ObservationsKeyWrapper,
    "channels first": ChannelsFirstWrapper,
    "flat": FlatWrapper,
    "float": FloatWrapper,
    "mask in infos": MaskInInfosWrapper,
}

every_view = pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)


def hex5(**more: Any) -> Any:
    return ucd_envs.make("hex", size=5, **more)


def flattened(observation: np.ndarray) -> list[int]:
    numbers: list[int] = observation.ravel().tolist()
    return numbers


# The mover's view


def test_the_movers_view_is_an_environment_of_both_libraries() -> None:
    """As in PettingZoo's tutorial for MaskablePPO; gymnasium.Wrapper takes gymnasium.Env only."""
    env = MoverViewWrapper(hex5())
    assert isinstance(env, BaseWrapper)
    assert isinstance(env, gymnasium.Env)


def test_the_movers_view_has_spaces_instead_of_functions() -> None:
    env = MoverViewWrapper(hex5())
    assert env.observation_space == gymnasium.spaces.Box(0, 1, (5, 5, 3), np.int8)
    assert env.action_space == gymnasium.spaces.Discrete(25)


def test_reset_returns_the_first_movers_observation_and_info() -> None:
    env, below = MoverViewWrapper(hex5()), hex5()
    below.reset()
    seen, info = env.reset(seed=3)
    assert flattened(seen) == flattened(below.observe("player_0")["observation"])
    assert info["action_mask"].tolist() == [1] * 25


def test_step_returns_the_next_movers_observation() -> None:
    env, below = MoverViewWrapper(hex5()), hex5()
    env.reset()
    below.reset()
    below.step(12)
    assert flattened(env.step(12)[0]) == flattened(below.observe("player_1")["observation"])


def test_step_returns_the_reward_of_the_one_that_moved() -> None:
    """Player 0 makes a row of tic-tac-toe with its third stone."""
    env = MoverViewWrapper(ucd_envs.make("tic_tac_toe"))
    env.reset()
    returned = [env.step(action)[1:4] for action in (0, 3, 1, 4, 2)]
    assert returned == [(0.0, False, False)] * 4 + [(1.0, True, False)]


def test_the_second_player_is_paid_for_its_own_win() -> None:
    env = MoverViewWrapper(ucd_envs.make("tic_tac_toe"))
    env.reset()
    assert [env.step(action)[1] for action in (8, 0, 3, 1, 4, 2)] == [0.0] * 5 + [1.0]


def test_an_illegal_move_is_paid_to_the_one_that_made_it() -> None:
    env = MoverViewWrapper(ucd_envs.make("tic_tac_toe"))
    env.reset()
    env.step(4)
    assert env.step(4)[1:4] == (-1.0, True, False)


def test_the_masks_are_those_of_the_agent_to_move() -> None:
    env = MoverViewWrapper(ucd_envs.make("tic_tac_toe"))
    env.reset()
    env.step(4)
    assert env.action_mask().tolist() == [1, 1, 1, 1, 0, 1, 1, 1, 1]
    assert env.action_masks().tolist() == [True] * 4 + [False] + [True] * 4


def test_the_masks_have_the_types_that_their_readers_ask_for() -> None:
    """int8 for the tutorial, bool for sb3-contrib, which finds `action_masks` by its name."""
    env = MoverViewWrapper(hex5())
    env.reset()
    assert (env.action_mask().dtype, env.get_wrapper_attr("action_masks")().dtype) == (np.int8, bool)


def test_an_episode_of_masked_play_ends() -> None:
    """The loop of MaskablePPO: reset without draining after each game."""
    env = MoverViewWrapper(hex5())
    choose = random.Random(1).choice
    for _ in range(3):
        env.reset()
        terminated = False
        while not terminated:
            seen, reward, terminated, truncated, _ = env.step(int(choose(np.flatnonzero(env.action_masks()))))
            assert seen in env.observation_space
        assert (reward, truncated) == (1.0, False)


def test_the_mask_of_a_finished_game_is_empty() -> None:
    env = MoverViewWrapper(ucd_envs.make("hex", size=1))
    env.reset()
    env.step(0)
    assert not env.action_masks().any()


def test_the_movers_view_passes_through_gymnasiums_wrappers() -> None:
    env = gymnasium.wrappers.RecordEpisodeStatistics(MoverViewWrapper(ucd_envs.make("tic_tac_toe")))
    env.reset(seed=1)
    for action in (0, 3, 1, 4, 2):
        *_, info = env.step(action)
    assert info["episode"]["l"] == 5


def test_the_movers_view_seeds_gymnasiums_generator() -> None:
    """T16: as `super().reset(seed=seed)` does."""
    env = MoverViewWrapper(hex5())
    drawn = []
    for _ in range(2):
        env.reset(seed=4)
        drawn.append(env.np_random.random())
    assert drawn[0] == drawn[1]


def test_the_movers_view_keeps_metadata_and_render_mode() -> None:
    """gymnasium.Env has empty ones, which must not hide those of the game."""
    env = MoverViewWrapper(hex5(render_mode="ansi"))
    env.reset()
    assert (env.metadata["name"], env.render_mode) == ("hex_v0", "ansi")
    assert "player_0 (X) to move" in env.render()


def test_the_movers_view_needs_observations_with_a_mask() -> None:
    class Bare(BaseWrapper):  # type: ignore[type-arg]
        def observation_space(self, agent: str) -> Any:
            return gymnasium.spaces.Discrete(3)

    with pytest.raises(ValueError, match=r'observations must be dictionaries with "observation" and "action_mask"'):
        MoverViewWrapper(Bare(hex5()))


# The key for RLlib


def test_the_key_is_renamed_in_observations() -> None:
    env = ObservationsKeyWrapper(hex5())
    env.reset()
    assert list(env.observe("player_0")) == ["observations", "action_mask"]


def test_the_key_is_renamed_in_the_space() -> None:
    env = ObservationsKeyWrapper(hex5())
    assert list(env.observation_space("player_0").spaces) == ["observations", "action_mask"]


def test_the_renamed_arrays_are_those_below() -> None:
    env = ObservationsKeyWrapper(hex5())
    env.reset()
    env.step(7)
    here, below = env.observe("player_1"), env.env.observe("player_1")
    assert flattened(here["observations"]) == flattened(below["observation"])
    assert flattened(here["action_mask"]) == flattened(below["action_mask"])


def test_last_gives_the_renamed_observation() -> None:
    env = ObservationsKeyWrapper(hex5())
    env.reset()
    assert list(env.last()[0]) == ["observations", "action_mask"]


# Channels first


def test_planes_come_first_in_observations() -> None:
    """b4 of a board with 3 rows and 7 columns would be out of it; d2 is row 1, column 3."""
    env = ChannelsFirstWrapper(ucd_envs.make("hex", rows=3, columns=7))
    env.reset()
    env.step(10)
    seen = env.observe("player_0")["observation"]
    assert seen.shape == (3, 3, 7)
    assert np.argwhere(seen[0]).tolist() == [[1, 3]]


def test_planes_come_first_in_the_space() -> None:
    env = ChannelsFirstWrapper(ucd_envs.make("hex", size=5, swap=True))
    assert env.observation_space("player_0")["observation"] == gymnasium.spaces.Box(0, 1, (4, 5, 5), np.int8)


def test_planes_that_come_first_lie_in_one_piece() -> None:
    """PyTorch's from_numpy takes them without a copy."""
    env = ChannelsFirstWrapper(hex5())
    env.reset()
    assert env.observe("player_0")["observation"].flags.c_contiguous


def test_masks_stay_as_they_are() -> None:
    env = ChannelsFirstWrapper(hex5())
    env.reset()
    env.step(7)
    assert flattened(env.observe("player_1")["action_mask"]) == flattened(env.env.observe("player_1")["action_mask"])


@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning")
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be:UserWarning")
@pytest.mark.filterwarnings("ignore:Observation numpy array is all zeros:UserWarning")
@pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros:UserWarning")
@pytest.mark.parametrize("view", [ChannelsFirstWrapper, FlatWrapper, FloatWrapper, MaskInInfosWrapper])
@pytest.mark.parametrize("below", ["tic_tac_toe", "connect_four", "hex", "pig"])
def test_pettingzoos_tests_pass_on_a_view_of_all_seats(below: str, view: Callable[[Any], Any]) -> None:
    api_test(view(ucd_envs.make(below)))
    seed_test(lambda: view(ucd_envs.make(below)))


# Vectors, float32 and masks in infos


def test_a_vector_has_the_entries_in_their_order() -> None:
    env = FlatWrapper(ucd_envs.make("hex", rows=3, columns=7))
    env.reset()
    env.step(10)
    seen = env.observe("player_0")["observation"]
    assert seen.tolist() == flattened(env.env.observe("player_0")["observation"])
    assert env.observation_space("player_0")["observation"] == gymnasium.spaces.Box(0, 1, (63,), np.int8)


def test_float32_has_the_same_entries() -> None:
    env = FloatWrapper(hex5())
    env.reset()
    env.step(7)
    seen = env.observe("player_1")["observation"]
    assert seen.dtype == np.float32
    assert flattened(seen) == flattened(env.env.observe("player_1")["observation"])
    assert env.observation_space("player_0")["observation"] == gymnasium.spaces.Box(0, 1, (5, 5, 3), np.float32)


def test_masks_in_infos_are_those_of_the_agents() -> None:
    """For a loop of PettingZoo: `last` returns an array and the info of the agent to move."""
    env = MaskInInfosWrapper(hex5())
    env.reset(seed=1)
    env.step(7)
    seen, reward, terminated, truncated, info = env.last()
    assert env.agent_selection == "player_1"
    assert flattened(seen) == flattened(env.env.observe("player_1")["observation"])
    assert info["action_mask"].tolist() == [1] * 7 + [0] + [1] * 17
    assert not env.infos["player_0"]["action_mask"].any()
    assert (reward, terminated, truncated) == (0.0, False, False)


def test_masks_in_infos_follow_a_restored_state() -> None:
    """T8."""
    env = MaskInInfosWrapper(hex5())
    env.reset()
    state = env.clone_state()
    env.step(7)
    env.restore_state(state)
    assert env.infos["player_0"]["action_mask"].all()
    env.reset(options={"state": state.after(3)})
    assert env.infos["player_1"]["action_mask"].sum() == 24


@pytest.mark.parametrize("view", [MaskInInfosWrapper, FlatWrapper, SeatWrapper])
def test_a_view_needs_observations_with_a_mask(view: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match=r'\Aobservations must be dictionaries with "observation" and "action_mask"'):
        view(MaskInInfosWrapper(hex5())).observation_space("player_0")


@pytest.mark.parametrize("single", [MoverViewWrapper, SeatWrapper])
def test_forms_of_observations_meet_in_a_view_for_one_learner(single: Callable[[Any], Any]) -> None:
    env = single(FloatWrapper(FlatWrapper(ChannelsFirstWrapper(ucd_envs.make("hex", rows=3, columns=7)))))
    seen, info = env.reset(seed=1)
    assert env.observation_space == gymnasium.spaces.Box(0, 1, (63,), np.float32)
    assert info["action_mask"].shape == (21,)
    for _ in range(3):
        expected = env.env.observe("player_0" if single is SeatWrapper else env.agent_selection)["observation"]
        assert seen.tolist() == expected.tolist() == env.observe(env.viewer).tolist()
        seen, *_, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))


# All views


@pytest.mark.parametrize("view", [ObservationsKeyWrapper, ChannelsFirstWrapper, FlatWrapper, FloatWrapper, MaskInInfosWrapper])
def test_a_view_gives_the_same_space_on_every_call(view: Callable[[Any], Any]) -> None:
    env = view(hex5())
    assert env.observation_space("player_0") is env.observation_space("player_0")


@pytest.mark.parametrize("view", [ObservationsKeyWrapper, ChannelsFirstWrapper, FlatWrapper, FloatWrapper, MaskInInfosWrapper])
def test_observations_of_a_view_lie_in_its_space_to_the_end(view: Callable[[Any], Any]) -> None:
    env = view(hex5())
    env.reset()
    choose = random.Random(2).choice
    for agent in env.agent_iter():
        assert all(env.observe(other) in env.observation_space(other) for other in env.possible_agents)
        ended = env.terminations[agent]
        mask = (env.infos if view is MaskInInfosWrapper else {agent: env.env.observe(agent)})[agent]["action_mask"]
        env.step(None if ended else int(choose(np.flatnonzero(mask))))
    assert env.agents == []


@every_view
def test_the_hooks_work_through_a_view(view: Callable[[Any], Any]) -> None:
    env = view(hex5())
    env.reset()
    env.step(3)
    state = env.clone_state()
    env.step(4)
    env.restore_state(state)
    assert env.clone_state() == state


@every_view
def test_reset_of_a_view_begins_from_a_state(view: Callable[[Any], Any]) -> None:
    env, state = view(hex5()), ucd_envs.make_rules("hex", size=5).initial_state().after(5).after(6)
    env.reset(seed=1, options={"state": state})
    assert env.clone_state() == state


@pytest.mark.parametrize("single", [MoverViewWrapper, SeatWrapper])
def test_a_clone_of_a_view_is_a_view(single: Callable[[Any], Any]) -> None:
    """T10: it was the raw game. What the clone plays does not reach the original."""
    env = single(FlatWrapper(hex5()))
    env.reset(seed=1)
    env.step(3)
    before, twin = env.clone_state(), env.clone()
    assert type(twin) is type(env)
    assert twin.clone_state() == before
    twin.step(int(np.flatnonzero(twin.action_masks())[0]))
    assert env.clone_state() == before != twin.clone_state()
    assert twin.np_random.random() != env.np_random.random()


def test_a_clone_of_a_view_does_not_know_the_outcomes_of_chance_to_come() -> None:
    """T13: 20 rolls of a die."""
    env = MoverViewWrapper(ucd_envs.make("pig"))
    env.reset(seed=1)
    twin = env.clone()
    for one in (env, twin):
        for _ in range(20):
            one.step(0)
    assert env.clone_state() != twin.clone_state()


def test_no_warning_is_printed_for_an_illegal_move_in_a_view(capfd: pytest.CaptureFixture[str]) -> None:
    """A learner without masks makes many of them."""
    for env in (MoverViewWrapper(hex5()), SeatWrapper(hex5())):
        env.reset(seed=1)
        env.step(12)
        assert env.step(12)[1:4] == (-1.0, True, False)
    assert capfd.readouterr() == ("", "")


@every_view
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deepcopy", "pickle"])
def test_a_copy_of_a_view_is_the_same_game(view: Callable[[Any], Any], copied: Callable[[Any], Any]) -> None:
    """B098: mid-game."""
    env = view(hex5())
    env.reset()
    env.step(3)
    twin = copied(env)
    env.step(4)
    twin.step(4)
    assert twin.clone_state() == env.clone_state()


@pytest.mark.parametrize("view", [MoverViewWrapper, ObservationsKeyWrapper])
def test_two_views_may_be_put_on_each_other(view: Callable[[Any], Any]) -> None:
    env = view(ChannelsFirstWrapper(ucd_envs.make("hex", rows=3, columns=7)))
    env.reset()
    seen = env.observe("player_0")
    array = seen if isinstance(seen, np.ndarray) else next(iter(seen.values()))
    assert array.shape == (3, 3, 7)


@every_view
def test_a_view_goes_on_the_raw_environment_too(view: Callable[[Any], Any]) -> None:
    env = view(hex5().unwrapped)
    env.reset()
    with pytest.raises(ValueError, match="not legal"):
        env.step(25)


def test_the_views_import_no_learning_library() -> None:
    program = "import sys, ucd_envs.envs.wrappers; print(*{name.partition('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"torch", "stable_baselines3", "sb3_contrib", "ray", "tianshou", "torchrl"} & set(run.stdout.split())
