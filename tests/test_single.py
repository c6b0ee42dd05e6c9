"""SinglePlayerEnv against Gymnasium's checker and the hooks (ids: cases.md and ecosystem.md)."""

from __future__ import annotations

import copy
import inspect
import pickle
import random
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import ucd_envs
from ucd_envs.envs.aec import BoardEnv
from ucd_envs.envs.single import SinglePlayerEnv, solitary

ID = "ucd_envs/LeftRight-v0"
COPIES: dict[str, Callable[[SinglePlayerEnv], SinglePlayerEnv]] = {
    "clone": SinglePlayerEnv.clone,
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
}

every_copy = pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)


def started(steps: int = 20, plies: int = 0, **more: Any) -> SinglePlayerEnv:
    """LeftRight after so many random steps."""
    env = solitary("leftright", steps=steps, **more)
    env.reset(seed=0)
    play(env, plies)
    return env


def play(env: SinglePlayerEnv, plies: int, seed: int = 0) -> list[tuple[Any, ...]]:
    """What so many random steps return, by value."""
    choose = random.Random(seed).choice
    return [plain(env.step(choose((0, 1)))) for _ in range(plies)]


def plain(returned: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arrays in what reset or step returned as lists."""
    *rest, info = returned
    return (rest[0].tolist(), *rest[1:], {key: value.tolist() for key, value in info.items()})


@pytest.fixture
def fast_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows that do not wait between two pictures."""
    monkeypatch.setattr("ucd_envs.envs.aec.FRAMES_PER_SECOND", 1_000_000)


def test_gymnasiums_check_env_passes(fast_windows: None) -> None:
    """T14, T16, T17: fresh data, the seed, and all render modes, since the unwrapped environment has its spec."""
    check_env(gymnasium.make(ID, steps=20).unwrapped)


def test_gymnasiums_check_env_passes_whatever_it_samples() -> None:
    """T15: it samples without the mask; here every action is legal at any time before the end."""
    for _ in range(10):
        check_env(gymnasium.make(ID, steps=20).unwrapped, skip_render_check=True)


def test_every_action_of_the_space_is_legal_until_the_end() -> None:
    """T15: an environment that raises for sampled actions is flaky under check_env."""
    env = started(steps=20)
    for ply in range(20):
        assert env.clone_state().legal_actions() == list(range(env.action_space.n)), f"ply {ply}"  # type: ignore[attr-defined]
        env.step(ply % 2)


def test_reset_and_step_return_data_of_their_own() -> None:
    """T14, B083: no array is used again, that of the mask neither."""
    env = solitary("leftright", steps=20)
    seen, info = env.reset()
    arrays = [seen, info["action_mask"]]
    for _ in range(3):
        seen, *_, info = env.step(0)
        arrays += [seen, info["action_mask"]]
    assert not any(np.shares_memory(one, other) for at, one in enumerate(arrays) for other in arrays[:at])


def test_reset_seeds_gymnasiums_generator() -> None:
    """T16: `super().reset(seed=seed)`."""
    env = solitary("leftright", steps=20)
    drawn = []
    for seed in (3, 3, 4):
        env.reset(seed=seed)
        drawn.append(float(env.np_random.random()))
    assert drawn[0] == drawn[1] != drawn[2]


def test_the_environment_is_registered_by_the_package() -> None:
    """T18: `import ucd_envs` enters it, so that `gymnasium.make` finds it."""
    spec = gymnasium.spec(ID)
    assert spec.entry_point == "ucd_envs.envs.single:solitary"


def test_no_step_limit_lies_in_a_wrapper() -> None:
    """T12: a clone of the unwrapped environment would forget it; the rules hold the longest game."""
    env = gymnasium.make(ID, steps=20)
    assert env.spec is not None
    assert env.spec.max_episode_steps is None
    assert env.unwrapped.rules.max_plies == 20  # type: ignore[attr-defined]


def test_the_hooks_are_reached_through_gymnasiums_wrappers_by_unwrapped() -> None:
    """T11: Gymnasium's wrappers pass no attributes on."""
    env = gymnasium.make(ID, steps=20)
    env.reset()
    assert not hasattr(env, "clone_state")
    assert env.unwrapped.clone_state() == env.get_wrapper_attr("clone_state")()  # type: ignore[attr-defined]


def test_settings_go_through_gymnasiums_make() -> None:
    assert gymnasium.make(ID, steps=7).observation_space.shape == (1, 7, 2)


def test_the_default_is_the_papers_300_steps() -> None:
    assert gymnasium.make(ID).observation_space.shape == (1, 300, 2)


def test_rules_of_two_players_are_refused() -> None:
    with pytest.raises(ValueError, match=r"a Gymnasium environment has one player, but tic_tac_toe_v0\(\) has 2"):
        SinglePlayerEnv(ucd_envs.make_rules("tic_tac_toe"))


def test_an_observation_counts_the_steps_to_each_side() -> None:
    env = started()
    for action in (0, 1, 0):
        seen, *_ = env.step(action)
    assert seen.sum(axis=(0, 1)).tolist() == [2, 1]


def test_the_reward_comes_with_the_last_step() -> None:
    """Three of four steps to the left."""
    env = started(steps=4)
    rewards = [env.step(action)[1] for action in (0, 1, 0, 0)]
    assert rewards == [0.0, 0.0, 0.0, 0.75]


def test_the_last_step_terminates_and_none_truncates() -> None:
    env = started(steps=3)
    assert [env.step(0)[2:4] for _ in range(3)] == [(False, False), (False, False), (True, False)]


def test_rewards_and_flags_are_python_values() -> None:
    env = started(steps=1)
    assert [type(value) for value in env.step(0)[1:4]] == [float, bool, bool]


def test_the_mask_is_zero_at_the_end() -> None:
    """B062: no legal action in a finished state."""
    env = started(steps=1)
    assert env.step(0)[4]["action_mask"].tolist() == [0, 0]


def test_a_step_after_the_end_is_refused() -> None:
    env = started(steps=3, plies=3)
    with pytest.raises(ValueError, match=r"the game is over: call reset\(\) to start another"):
        env.step(0)


def test_a_step_before_the_reset_is_refused() -> None:
    with pytest.raises(ValueError, match=r"call reset\(\) first"):
        solitary("leftright", steps=3).step(0)


@pytest.mark.parametrize("action", [2, -1, 0.0, None, "left"], ids=repr)
def test_an_illegal_action_is_refused_and_changes_nothing(action: Any) -> None:
    env = started(plies=3)
    before = env.clone_state()
    with pytest.raises(ValueError, match=r"\A[^\n]+\Z"):
        env.step(action)
    assert env.clone_state().data == before.data


@pytest.mark.parametrize("plies", [0, 9, 20])
@every_copy
def test_a_copy_and_its_original_go_on_alike(copied: Callable[[SinglePlayerEnv], SinglePlayerEnv], plies: int) -> None:
    """B098, T7: at the start, in the middle and at the end."""
    env = started(plies=plies)
    twin = copied(env)
    assert twin.clone_state() == env.clone_state()
    assert play(twin, 20 - plies, seed=1) == play(env, 20 - plies, seed=1)


@every_copy
def test_what_a_copy_plays_does_not_reach_the_original(copied: Callable[[SinglePlayerEnv], SinglePlayerEnv]) -> None:
    """B082, B098: originals are independent."""
    env = started(plies=9)
    before = env.clone_state().data
    play(copied(env), 11, seed=1)
    assert env.clone_state().data == before


@every_copy
def test_a_copy_of_a_finished_game_is_finished(copied: Callable[[SinglePlayerEnv], SinglePlayerEnv]) -> None:
    """B062: as its original it refuses a step."""
    twin = copied(started(steps=3, plies=3))
    with pytest.raises(ValueError, match="the game is over"):
        twin.step(0)


def test_a_clone_does_not_know_the_generator_of_its_original() -> None:
    """T13: a planner's clone must not see what the original will draw."""
    env = started()
    twin = env.clone()
    assert twin.np_random is not env.np_random
    assert twin.np_random.random() != env.np_random.random()


def test_a_deep_copy_draws_as_its_original() -> None:
    """T13: the other kind of copy, exact."""
    env = started()
    assert copy.deepcopy(env).np_random.random() == env.np_random.random()


def test_a_clone_has_spaces_of_its_own() -> None:
    """T5: shared spaces share their generators."""
    env = started()
    assert env.clone().action_space is not env.action_space


def test_restore_undoes_any_line_of_play() -> None:
    env, other = started(plies=9), started(plies=9)
    state = env.clone_state()
    play(env, 11, seed=1)
    env.restore_state(state)
    assert play(env, 11, seed=2) == play(other, 11, seed=2)


def test_two_orders_of_steps_give_one_key() -> None:
    table = {}
    for moves in ((0, 1, 1), (1, 1, 0)):
        env = started()
        for move in moves:
            env.step(move)
        table[env.clone_state()] = moves
    assert len(table) == 1


def test_states_pass_between_the_gymnasium_and_the_pettingzoo_environment() -> None:
    env = started(plies=9)
    other = ucd_envs.make("leftright", steps=20)
    other.restore_state(env.clone_state())
    assert other.clone_state() == env.clone_state()


def test_a_state_of_another_number_of_steps_is_refused() -> None:
    env = started(plies=9)
    with pytest.raises(ValueError, match="this state belongs to"):
        env.restore_state(started(steps=21).clone_state())


def test_something_else_than_a_state_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a State"):
        started().restore_state(None)  # type: ignore[arg-type]


def test_a_snapshot_before_the_reset_is_refused() -> None:
    with pytest.raises(ValueError, match=r"call reset\(\) first"):
        solitary("leftright").clone_state()


def test_the_hooks_have_the_names_of_the_pettingzoo_environment() -> None:
    for hook in ("clone_state", "restore_state", "clone"):
        here, there = (getattr(cls, hook) for cls in (SinglePlayerEnv, BoardEnv))
        assert list(inspect.signature(here).parameters) == list(inspect.signature(there).parameters)


@pytest.mark.parametrize(("mode", "kind"), [("ansi", str), ("rgb_array", np.ndarray), ("human", type(None))])
def test_each_render_mode_returns_its_kind(mode: str, kind: type, fast_windows: None) -> None:
    """B110: without a display."""
    env = started(plies=3, render_mode=mode)
    assert isinstance(env.render(), kind)
    env.close()
    env.close()


def test_an_unknown_render_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="render_mode must be None or one of"):
        solitary("leftright", render_mode="svg")
