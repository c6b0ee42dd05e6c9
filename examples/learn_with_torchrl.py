"""PPO of TorchRL learns Connect Four in one seat, against UCT."""

import argparse
import logging

import numpy as np
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.envs import EnvBase, GymWrapper, SerialEnv
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import ucd_envs
from ucd_envs.envs.wrappers import SeatWrapper
from ucd_planners.arena.match import Match, play_match

SEATS, MOVES, EPOCHS, BATCH = 8, 256, 8, 256
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=20_480, help="moves that the learner makes in all")
parser.add_argument("--games", type=int, default=200, help="games against each opponent at the end")
options = parser.parse_args()
logging.getLogger("torchrl").setLevel(logging.WARNING)  # it notes each environment
torch.set_num_threads(1)  # fastest for small networks
torch.manual_seed(1)


def environment() -> EnvBase:
    """Returns a seat as TorchRL sees it. The legal actions come with the infos, as "action_mask"."""
    env = SeatWrapper(ucd_envs.make("connect_four_v0"), opponent="uct(playouts=20)", seat="random")
    return GymWrapper(env, categorical_action_encoding=True).auto_register_info_dict()


def network(outputs: int) -> nn.Sequential:
    """Returns two layers over the flat board."""
    return nn.Sequential(nn.Linear(size, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, outputs))


def flat(board: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the cells as numbers and the legal actions as bool."""
    return board.flatten(-3).float(), mask.bool()


games = SerialEnv(SEATS, environment)
games.set_seed(1)
size = games.observation_spec["observation"].shape[-3:].numel()
prepare = TensorDictModule(flat, ["observation", "action_mask"], ["cells", "mask"])
logits = TensorDictModule(network(games.action_spec.space.n), ["cells"], ["logits"])
actor = ProbabilisticActor(
    TensorDictSequential(prepare, logits),
    in_keys=["logits", "mask"],
    distribution_class=MaskedCategorical,
    return_log_prob=True,
)
critic = TensorDictSequential(prepare, ValueOperator(network(1), in_keys=["cells"]))
advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01)
optimizer = torch.optim.Adam(loss.parameters(), lr=3e-4)
made = 0
while made < options.steps:
    length = max(1, min(MOVES, (options.steps - made) // SEATS))
    with torch.no_grad():
        data = games.rollout(length, actor, break_when_any_done=False)
        advantage(data)
    made += data.numel()
    data = data.reshape(-1)
    for _ in range(EPOCHS):
        for part in torch.randperm(len(data)).split(BATCH):
            losses = loss(data[part])
            optimizer.zero_grad()
            (losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]).backward()
            optimizer.step()


def best(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
    """Returns the most probable legal action."""
    seen = TensorDict(observation=torch.from_numpy(observation), action_mask=torch.from_numpy(mask))
    with torch.no_grad():
        return int(actor.get_dist(seen).mode)


for opponent in ("random", "uct(playouts=20)"):
    score = play_match(Match("connect_four", best, opponent, games=options.games, seed=1)).score()
    low, high = score.interval
    print(f"PPO after {made:,} steps against {opponent}: {score.mean:.0%} ({low:.0%} to {high:.0%})")
