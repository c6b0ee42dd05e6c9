"""MaskablePPO of sb3-contrib learns Connect Four against UCT.

It writes the network, model.zip, and the learning curve, curve.svg: the score against the opponent over the learner's steps.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from matplotlib import pyplot
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env

import ucd_envs  # noqa: F401, its games get their names in Gymnasium
from ucd_planners.arena.match import Match, Score, play_match

torch.set_num_threads(1)  # fastest for small networks

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=20_000, help="moves that the learner makes in all")
parser.add_argument("--points", type=int, default=10, help="points of the learning curve after the first")
parser.add_argument("--games", type=int, default=100, help="games for each point")
parser.add_argument("--opponent", default="uct(playouts=20)", help="the planner to learn against")
parser.add_argument("--folder", type=Path, default=Path("."), help="where the network and the curve are written")
options = parser.parse_args()

# A view has `action_masks()`, which MaskablePPO finds by its name.
settings = {"opponent": options.opponent, "seat": "random"}
env = make_vec_env("ucd_envs/ConnectFour-v0", n_envs=8, seed=1, env_kwargs=settings)
steps = min(256, options.steps // options.points // 8)  # of each of the 8 environments between two updates
layers = {"net_arch": [128, 128]}
model = MaskablePPO(
    "MlpPolicy", env, n_steps=steps, batch_size=256, n_epochs=8, ent_coef=0.01, policy_kwargs=layers, seed=1, device="cpu"
)


def policy(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
    """Returns the most probable legal action of the network."""
    action, _ = model.predict(observation, action_masks=mask, deterministic=True)
    return int(action)


def score(opponent: str) -> Score:
    """Returns the score of the network against an opponent, and prints it."""
    found = play_match(Match("connect_four", policy, opponent, games=options.games, seed=1)).score()
    low, high = found.interval
    print(f"after {model.num_timesteps:,} steps against {opponent}: {found.mean:.0%} ({low:.0%} to {high:.0%})", flush=True)
    return found


curve = [(0, score(options.opponent))]
while model.num_timesteps < options.steps:
    model.learn(options.steps // options.points, reset_num_timesteps=False)
    curve.append((model.num_timesteps, score(options.opponent)))
score("random")
model.save(options.folder / "model.zip")

at = [steps for steps, _ in curve]
low, high = zip(*(point.interval for _, point in curve), strict=True)
pyplot.rcParams |= {"svg.hashsalt": "curve", "svg.fonttype": "none"}  # the same curve is the same file
figure, axes = pyplot.subplots(figsize=(6, 3.2), layout="constrained")
axes.plot(at, [point.mean for _, point in curve])
axes.fill_between(at, low, high, alpha=0.25, label="95% interval")
axes.axhline(0.5, color="grey", linewidth=0.8)
axes.set(xlabel="steps of the learner", ylabel=f"score against {options.opponent}", ylim=(0, 1))
axes.xaxis.set_major_formatter("{x:,.0f}")
axes.legend(frameon=False)
figure.savefig(options.folder / "curve.svg", metadata={"Date": None})
