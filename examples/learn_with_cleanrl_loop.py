"""PPO in one file, in the manner of CleanRL, with masks: a network learns Connect Four in one seat, against UCT."""

import argparse

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from torch import nn
from torch.distributions import Categorical

import ucd_envs  # noqa: F401, its games get their names in Gymnasium
from ucd_planners.arena.match import Match, play_match

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=20_480, help="moves that the learner makes in all")
parser.add_argument("--games", type=int, default=200, help="games against each opponent at the end")
options = parser.parse_args()
ENVS, MOVES, EPOCHS, BATCH, GAMMA, LAMBDA, CLIP = 8, 256, 8, 256, 0.99, 0.95, 0.2
torch.set_num_threads(1)  # fastest for small networks
torch.manual_seed(1)

# A finished game is followed by the start of the next in the same step, so that every step is a move.
settings = {"opponent": "uct(playouts=20)", "seat": "random"}
mode = {"autoreset_mode": AutoresetMode.SAME_STEP}
envs = gymnasium.make_vec("ucd_envs/ConnectFour-flat-v0", ENVS, vector_kwargs=mode, **settings)
inputs, actions = envs.single_observation_space.shape[0], int(envs.single_action_space.n)


def network(outputs: int) -> nn.Sequential:
    """Returns two layers over the board."""
    return nn.Sequential(nn.Linear(inputs, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, outputs))


actor, critic = network(actions), network(1)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-4)


def choices(boards: torch.Tensor, masks: torch.Tensor) -> Categorical:
    """Returns the policy, in which illegal actions have no probability."""
    return Categorical(logits=actor(boards).masked_fill(~masks, -torch.inf))


def legal(infos: dict) -> torch.Tensor:
    """Returns the legal actions of each environment: [environments, actions] bool."""
    return torch.from_numpy(np.stack(infos["action_mask"])).bool()


boards, infos = envs.reset(seed=1)
made = 0
while made < options.steps:
    seen, masks, taken, paid, ended = [], [], [], [], []
    for _ in range(MOVES):
        seen.append(torch.from_numpy(boards))
        masks.append(legal(infos))
        with torch.no_grad():
            taken.append(choices(seen[-1], masks[-1]).sample())
        boards, rewards, terminated, truncated, infos = envs.step(taken[-1].numpy())
        paid.append(torch.from_numpy(rewards).float())
        ended.append(torch.from_numpy(terminated | truncated))
    made += ENVS * MOVES
    x, m, a = torch.stack(seen), torch.stack(masks), torch.stack(taken)
    with torch.no_grad():
        values = critic(torch.stack([*seen, torch.from_numpy(boards)])).squeeze(-1)
        old = choices(x, m).log_prob(a)
    gains, gain = torch.zeros(MOVES, ENVS), torch.zeros(ENVS)
    for t in reversed(range(MOVES)):
        goes_on = (~ended[t]).float()
        gain = paid[t] + GAMMA * goes_on * values[t + 1] - values[t] + GAMMA * LAMBDA * goes_on * gain
        gains[t] = gain
    returns = gains + values[:-1]
    x, m, a, old, gains, returns = (each.flatten(0, 1) for each in (x, m, a, old, gains, returns))
    for _ in range(EPOCHS):
        for part in torch.randperm(len(x)).split(BATCH):
            policy = choices(x[part], m[part])
            ratio = (policy.log_prob(a[part]) - old[part]).exp()
            gain = (gains[part] - gains[part].mean()) / (gains[part].std() + 1e-8)
            surrogate = torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
            value_loss = (critic(x[part]).squeeze(-1) - returns[part]).square().mean()
            optimizer.zero_grad()
            (0.5 * value_loss - surrogate - 0.01 * policy.entropy().mean()).backward()
            optimizer.step()


def best(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
    """Returns the most probable legal action."""
    with torch.no_grad():
        board = torch.from_numpy(observation).float().flatten()
        return int(choices(board, torch.from_numpy(mask).bool()).logits.argmax())


for opponent in ("random", "uct(playouts=20)"):
    score = play_match(Match("connect_four", best, opponent, games=options.games, seed=1)).score()
    low, high = score.interval
    print(f"PPO after {made:,} steps against {opponent}: {score.mean:.0%} ({low:.0%} to {high:.0%})")
