"""DQN of tianshou learns Connect Four by playing both seats of the PettingZoo environment."""

import argparse
import logging

import numpy as np
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import ucd_envs
from ucd_planners.arena.match import Match, play_match

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=20_000, help="moves that are made in all")
parser.add_argument("--games", type=int, default=200, help="games against each opponent at the end")
options = parser.parse_args()
logging.getLogger("tianshou").setLevel(logging.ERROR)  # rewards are of two players: it notes this at every step
torch.set_num_threads(1)  # fastest for small networks
torch.manual_seed(1)
np.random.seed(1)


def environment() -> PettingZooEnv:
    """Returns the game as tianshou sees it: observations with "agent_id", "obs" and "mask", and rewards of both seats."""
    return PettingZooEnv(ucd_envs.make("connect_four_v0"))


game = environment()
shape, actions = game.observation_space["observation"].shape, game.action_space.n
# The parts of a multi-agent policy are not told that they train, so that exploration is set as for inference.
policy = DiscreteQLearningPolicy(
    model=Net(state_shape=shape, action_shape=actions, hidden_sizes=(128, 128)),
    action_space=game.action_space,
    eps_inference=0.2,
)
# The next observation is the opponent's. Two steps ahead is the next one of the same seat.
learner = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=0.97, n_step_return_horizon=2, target_update_freq=200)
both = MultiAgentOffPolicyAlgorithm(algorithms=[learner, learner], env=game)

games = DummyVectorEnv([environment for _ in range(8)])
games.seed(1)
collector = Collector(both, games, VectorReplayBuffer(20_000, len(games)), exploration_noise=True)
collector.reset()
both.run_training(
    OffPolicyTrainerParams(
        training_collector=collector,
        max_epochs=1,
        epoch_num_steps=options.steps,
        collection_step_num_env_steps=64,
        update_step_num_gradient_steps_per_sample=0.1,
        batch_size=128,
        multi_agent_return_reduction=lambda returns: returns[:, 0],
        verbose=False,
        show_progress=False,
    )
)


def best(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
    """Returns the legal action with the largest value."""
    with torch.no_grad():
        seen = Batch(obs=observation[np.newaxis], mask=mask[np.newaxis].astype(bool))
        return int(policy(Batch(obs=seen, info=Batch())).act[0])


policy.set_eps_inference(0.0)
for opponent in ("random", "uct(playouts=20)"):
    score = play_match(Match("connect_four", best, opponent, games=options.games, seed=1)).score()
    low, high = score.interval
    print(f"DQN after {collector.collect_step:,} steps against {opponent}: {score.mean:.0%} ({low:.0%} to {high:.0%})")
