"""PPO of RLlib, in its new API stack, learns Connect Four by playing both seats of the PettingZoo environment."""

import argparse
import os

import numpy as np
import torch

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune import register_env

import ucd_envs
from ucd_envs.envs.wrappers import FlatWrapper, FloatWrapper, ObservationsKeyWrapper
from ucd_planners.arena.match import Match, play_match

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=20_480, help="moves that are made in all")
parser.add_argument("--batch", type=int, default=2048, help="moves between two updates")
parser.add_argument("--games", type=int, default=200, help="games against each opponent at the end")
options = parser.parse_args()
torch.set_num_threads(1)  # fastest for small networks


def environment(_: dict) -> PettingZooEnv:
    """Returns the game as RLlib's module with masks sees it: under "observations", a vector of float32."""
    return PettingZooEnv(ObservationsKeyWrapper(FloatWrapper(FlatWrapper(ucd_envs.make("connect_four_v0")))))


register_env("connect_four", environment)
module = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config={"fcnet_hiddens": [128, 128]})
config = (
    PPOConfig()
    .environment("connect_four")
    .multi_agent(policies={"both"}, policy_mapping_fn=lambda agent, *_, **__: "both")
    .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"both": module}))
    .env_runners(num_env_runners=0)
    .training(train_batch_size_per_learner=options.batch, minibatch_size=128, num_epochs=8, lr=3e-4, entropy_coeff=0.01)
    .debugging(seed=1, log_level="ERROR")
)
# On one machine.
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")
algorithm = config.build_algo()
made = 0
while made < options.steps:
    algorithm.train()
    made += options.batch
network = algorithm.get_module("both")


def best(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
    """Returns the most probable legal action."""
    board = torch.from_numpy(observation).float().reshape(1, -1)
    seen = {"observations": board, "action_mask": torch.from_numpy(mask)[None]}
    with torch.no_grad():
        return int(network.forward_inference({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS].argmax())


for opponent in ("random", "uct(playouts=20)"):
    score = play_match(Match("connect_four", best, opponent, games=options.games, seed=1)).score()
    low, high = score.interval
    print(f"PPO after {made:,} steps against {opponent}: {score.mean:.0%} ({low:.0%} to {high:.0%})")
algorithm.stop()
ray.shutdown()
