"""Learning libraries drive our environments for some steps, unmodified: one function each, run in a process of its own.

`python tests/libraries.py NAME` runs one. What a library warns of does not matter there, and a failed assertion ends it.
"""

from __future__ import annotations

import sys
from typing import Any

import gymnasium
import numpy as np

import ucd_envs
from ucd_envs.envs.wrappers import FlatWrapper, FloatWrapper, MoverViewWrapper, ObservationsKeyWrapper, SeatWrapper

STEPS = 256


class Watched(gymnasium.Wrapper):
    """An environment of Gymnasium in which an illegal action is an error."""

    def step(self, action: Any) -> Any:
        assert self.get_wrapper_attr("action_masks")()[int(action)]
        return super().step(action)


def sb3_contrib() -> None:
    """MaskablePPO learns in both views and plays legal actions only."""
    from sb3_contrib import MaskablePPO

    for view in (MoverViewWrapper(ucd_envs.make("hex", size=3)), SeatWrapper(ucd_envs.make("tic_tac_toe"), seat="random")):
        model = MaskablePPO("MlpPolicy", Watched(view), n_steps=STEPS // 2, batch_size=64, n_epochs=2, seed=1)
        model.learn(STEPS)
        assert model.num_timesteps == STEPS
        for seed in range(20):
            seen, info = view.reset(seed=seed)
            action, _ = model.predict(seen, action_masks=info["action_mask"])
            assert info["action_mask"][action]


def stable_baselines3() -> None:
    """PPO without masks learns by ids, vectors by the library's own; illegal actions end games with reward -1."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.evaluation import evaluate_policy

    for name in ("ucd_envs/TicTacToe-v0", "ucd_envs/Hex-flat-v0", "ucd_envs/TwentyFortyEight-v0"):
        env = make_vec_env(name, n_envs=2, seed=1)
        model = PPO("MlpPolicy", env, n_steps=STEPS // 4, batch_size=64, n_epochs=1, seed=1).learn(STEPS)
        assert env.env_method("action_masks")[0].dtype == bool
        mean, _ = evaluate_policy(model, env, n_eval_episodes=10)
        assert np.isfinite(mean)


def tianshou() -> None:
    """Games collected by both seats: masks, zero-sum increments of rewards, legal actions."""
    from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
    from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
    from tianshou.data import Collector, VectorReplayBuffer
    from tianshou.env import DummyVectorEnv, PettingZooEnv

    def environment() -> Any:
        return PettingZooEnv(ucd_envs.make("tic_tac_toe_v0"))

    players = [MARLRandomDiscreteMaskedOffPolicyAlgorithm(environment().action_space) for _ in range(2)]
    both = MultiAgentOffPolicyAlgorithm(algorithms=players, env=environment())
    buffer = VectorReplayBuffer(10 * STEPS, 2)
    collector = Collector(both, DummyVectorEnv([environment, environment]), buffer)
    collector.reset()
    collector.collect(n_episode=40)
    data = buffer[:]
    rows = np.arange(len(data.act))
    assert len(rows) >= 5 * 40
    assert data.obs.mask.dtype == bool
    assert data.obs.mask[rows, data.act].all()
    assert (data.rew.sum(axis=1) == 0).all()
    assert not data.rew[~data.done].any()
    assert data.rew[data.done].any()
    assert set(data.obs.agent_id) == {"player_0", "player_1"}


def torchrl() -> None:
    """Both of its wrappers pass its own check; one agent moves at a time, and plays by its mask."""
    from torchrl.envs import GymWrapper, PettingZooWrapper
    from torchrl.envs.utils import check_env_specs

    env = PettingZooWrapper(ucd_envs.make("hex_v0", size=3), use_mask=True)
    check_env_specs(env)
    found = env.rollout(STEPS, break_when_any_done=False)
    moving = [found[agent, "mask"].numpy().ravel() for agent in env.possible_agents]
    assert (np.sum(moving, axis=0) == 1).all()
    for agent, moves in zip(env.possible_agents, moving, strict=True):
        legal, chosen = found[agent, "action_mask"].numpy()[moves, 0], found[agent, "action"].numpy()[moves, 0]
        assert legal[np.arange(len(chosen)), chosen].all()
        assert not legal.all()
    ends = found["next", "done"].numpy().ravel()
    assert ends.sum() > 10
    rewards = sum(found["next", agent, "reward"].numpy().ravel() for agent in env.possible_agents)
    assert not rewards.any()

    seat = GymWrapper(SeatWrapper(ucd_envs.make("hex_v0", size=3)), categorical_action_encoding=True)
    check_env_specs(seat.auto_register_info_dict())


def _renamed() -> Any:
    """A game as RLlib's module with masks sees it."""
    from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv

    return PettingZooEnv(ObservationsKeyWrapper(FloatWrapper(FlatWrapper(ucd_envs.make("tic_tac_toe_v0")))))


def rllib_env() -> None:
    """Games stepped as by its samplers. What both players see at the end is in the space, and their rewards cancel out."""
    env, rng = _renamed(), np.random.default_rng(1)
    for seed in range(20):
        seen, _ = env.reset(seed=seed)
        ended = {"__all__": False}
        while not ended["__all__"]:
            (agent,) = seen
            action = rng.choice(np.flatnonzero(seen[agent]["action_mask"]))
            seen, rewards, ended, cut, _ = env.step({agent: action})
            assert all(seen[agent] in env.observation_spaces[agent] for agent in seen)
        assert set(seen) == {"player_0", "player_1"}
        assert sum(rewards.values()) == 0
        assert not cut["__all__"]


def rllib() -> None:
    """PPO of the new API stack trains its module with masks, both seats one policy, and plays legal actions only."""
    import ray
    import torch
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
    from ray.tune import register_env

    torch.set_num_threads(1)
    illegal = []

    def environment(_: Any) -> Any:
        env = _renamed()
        below, step = env.env, env.env.step

        def watched(action: Any) -> None:
            if action is not None and not below.observe(below.agent_selection)["action_mask"][action]:
                illegal.append(action)
            step(action)

        below.step = watched
        return env

    register_env("game", environment)
    spec = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config={"fcnet_hiddens": [32]})
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")
    algorithm = (
        PPOConfig()
        .environment("game")
        .multi_agent(policies={"both"}, policy_mapping_fn=lambda agent, *_, **__: "both")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"both": spec}))
        .env_runners(num_env_runners=0)
        .training(train_batch_size_per_learner=STEPS, minibatch_size=64, num_epochs=1)
        .build_algo()
    )
    result = algorithm.train()
    assert result["env_runners"]["num_episodes"] > 10
    assert not illegal
    algorithm.stop()
    ray.shutdown()


DRIVES = (sb3_contrib, stable_baselines3, tianshou, torchrl, rllib_env, rllib)

if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print(f"{sys.argv[1]} has driven")
