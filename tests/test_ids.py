"""The games by their ids in Gymnasium: with the settings of their defaults, as learning libraries make and drive them."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import ucd_envs
from ucd_envs.envs.wrappers import SeatWrapper
from ucd_planners import uct

IDS = [name for name in gymnasium.registry if name.startswith("ucd_envs/")]
every_id = pytest.mark.parametrize("name", IDS)


def test_every_game_has_an_id_and_one_for_vectors() -> None:
    games = {gymnasium.spec(name).kwargs["game"] for name in IDS}
    assert games == set(ucd_envs.registry.OWN_GAMES)
    assert len(IDS) == 2 * len(games)


@every_id
def test_gymnasiums_check_passes_on_every_id(name: str) -> None:
    """Without a warning, since warnings fail tests here. T15: it samples actions without the mask, legal or not."""
    check_env(gymnasium.make(name).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", ["ucd_envs/Hex-v0", "ucd_envs/Hex-flat-v0"])
def test_gymnasiums_check_of_render_modes_passes_on_a_seat(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ucd_envs.envs.aec.FRAMES_PER_SECOND", 1_000_000)
    check_env(gymnasium.make(name, size=3).unwrapped)


def test_vectors_are_the_planes_as_float32() -> None:
    for name, settings in (("Hex", {"size": 5}), ("LeftRight", {"steps": 9})):
        planes, flat = (gymnasium.make(f"ucd_envs/{name}{kind}-v0", **settings) for kind in ("", "-flat"))
        (seen, info), (vector, its_info) = planes.reset(seed=1), flat.reset(seed=1)
        action = int(np.flatnonzero(info["action_mask"])[0])
        for _ in range(2):
            assert vector.dtype == np.float32
            assert vector.tolist() == seen.ravel().tolist()
            assert vector in flat.observation_space
            assert its_info["action_mask"].tolist() == info["action_mask"].tolist()
            (seen, *_, info), (vector, *_, its_info) = planes.step(action), flat.step(action)
            action = int(np.flatnonzero(info["action_mask"])[0])


def test_a_truth_value_tells_whether_observations_are_vectors() -> None:
    with pytest.raises(TypeError, match=r"\Aflat must be True or False, not 1"):
        gymnasium.make("ucd_envs/Hex-v0", flat=1)


@every_id
def test_an_illegal_action_ends_the_game_with_reward_minus_one(name: str) -> None:
    """In games whose first position leaves something out. In the others every action is legal at first."""
    env = gymnasium.make(name)
    _, info = env.reset(seed=1)
    if not info["action_mask"].all():
        _, reward, terminated, truncated, info = env.step(int(np.flatnonzero(info["action_mask"] == 0)[0]))
        assert (reward, terminated, truncated) == (-1.0, True, False)
        assert not info["action_mask"].any()
    else:
        assert info["action_mask"].size == env.action_space.n  # type: ignore[attr-defined]


def test_opponent_and_seat_are_settings_of_an_id() -> None:
    env = gymnasium.make("ucd_envs/ConnectFour-v0", opponent="uct(playouts=5)", seat=1, rows=5)
    env.reset(seed=1)
    below: SeatWrapper = env.unwrapped  # type: ignore[assignment]
    assert (below.seat, below.clone_state().ply, str(below.opponent)) == (1, 1, "uct")
    assert below.clone_state().rules.settings["rows"] == 5


def masked_course(envs: Any, steps: int) -> list[Any]:
    """What a vector of environments returns to a learner that takes the first legal actions."""
    observations, infos = envs.reset(seed=3)
    met = [observations.tolist()]
    for _ in range(steps):
        masks = infos["action_mask"]
        assert masks.shape == (envs.num_envs, envs.single_action_space.n)
        observations, rewards, over, _, infos = envs.step(masks.argmax(axis=1))
        met.append((observations.tolist(), rewards.tolist(), over.tolist()))
    return met


def test_vectors_of_environments_play_on_by_themselves() -> None:
    """Each has a planner of its own, so that a course is repeated."""
    settings = {"opponent": uct(playouts=4), "seat": "random"}
    first, again = (
        masked_course(gymnasium.make_vec("ucd_envs/TicTacToe-v0", 3, vectorization_mode="sync", **settings), 12)
        for _ in range(2)
    )
    assert first == again
    assert any(any(over) for _, _, over in first[1:])


def test_environments_play_in_processes_of_their_own() -> None:
    in_processes = gymnasium.make_vec("ucd_envs:ucd_envs/TicTacToe-v0", 2, vectorization_mode="async")
    in_this = gymnasium.make_vec("ucd_envs/TicTacToe-v0", 2, vectorization_mode="sync")
    try:
        assert masked_course(in_processes, 8) == masked_course(in_this, 8)
    finally:
        in_processes.close()


# Libraries


@pytest.mark.learning
@every_id
def test_the_check_of_stable_baselines_passes_on_every_id(name: str) -> None:
    """Without a warning for vectors. It takes planes for images, which would have other bounds."""
    from stable_baselines3.common.env_checker import check_env as check

    with warnings.catch_warnings():
        if "-flat-" not in name:
            warnings.filterwarnings("ignore", "It seems that your observation .*is an image|The minimal resolution")
        check(gymnasium.make(name).unwrapped)


@pytest.mark.learning
def test_maskable_ppo_learns_in_a_vector_of_environments() -> None:
    """Also against a planner; ten games after some steps have no illegal move, since the masks are found."""
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.env_util import make_vec_env

    settings = {"opponent": "uct(playouts=5)", "seat": "random"}
    for name in ("ucd_envs/TicTacToe-v0", "ucd_envs:ucd_envs/TicTacToe-flat-v0"):
        envs = make_vec_env(name, n_envs=4, seed=1, env_kwargs=settings)
        model = MaskablePPO("MlpPolicy", envs, n_steps=16, batch_size=32, n_epochs=1, seed=1, device="cpu").learn(128)
        env = gymnasium.make(name, **settings)
        for game in range(10):
            observation, info = env.reset(seed=game)
            over = False
            while not over:
                action, _ = model.predict(observation, action_masks=info["action_mask"])
                assert info["action_mask"][action]
                observation, _, over, _, info = env.step(action)


@pytest.mark.learning
def test_a_loop_of_cleanrl_runs_by_an_id() -> None:
    """As ppo.py does: no mask, actions and observations as they come, a network on the shape of the space."""
    import torch

    def made() -> gymnasium.Env[Any, Any]:
        return gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("ucd_envs:ucd_envs/ConnectFour-flat-v0"))

    envs = gymnasium.vector.SyncVectorEnv([made for _ in range(3)])
    inputs, actions = int(np.prod(envs.single_observation_space.shape or ())), envs.single_action_space
    actor = torch.nn.Sequential(torch.nn.Linear(inputs, 64), torch.nn.Tanh(), torch.nn.Linear(64, actions.n))  # type: ignore
    torch.manual_seed(1)
    seen, _ = envs.reset(seed=1)
    finished = 0
    for _ in range(100):
        chosen = torch.distributions.Categorical(logits=actor(torch.Tensor(seen))).sample()
        seen, rewards, terminations, _, infos = envs.step(chosen.numpy())
        assert np.isfinite(rewards).all()
        assert ("episode" in infos) == bool(terminations.any())
        finished += int(terminations.sum())
    assert finished > 3
