"""A planner plays Connect Four against two policies that map an observation to an action: a random one and a user-defined
one."""

from collections.abc import Callable

import numpy as np

import ucd_envs
import ucd_planners

GAMES = 20
Policy = Callable[[np.ndarray, np.ndarray], int]
chance = np.random.default_rng(1)


def random_policy(board: np.ndarray, mask: np.ndarray) -> int:
    """Returns a random legal action."""
    return int(chance.choice(np.flatnonzero(mask)))


def central_policy(board: np.ndarray, mask: np.ndarray) -> int:
    """Returns the legal column nearest to the middle. A policy network would stand here."""
    columns = np.flatnonzero(mask)
    return int(columns[np.argmin(np.abs(columns - len(mask) // 2))])


def play(planner: ucd_planners.Planner, policy: Policy, seat: str) -> float:
    """Plays one game with the planner in a seat. Returns the planner's reward."""
    env = ucd_envs.make("connect_four_v0")
    env.reset()
    total = 0.0
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        total += reward if agent == seat else 0.0
        if terminated or truncated:
            env.step(None)
        elif agent == seat:
            env.step(planner.act(env))
        else:
            env.step(policy(observation["observation"], observation["action_mask"]))
    return total


planner = ucd_planners.ucd(d1=1, d2=0, d3=1, c=0.5, playouts=500, seed=7)
for policy in (random_policy, central_policy):
    rewards = [play(planner, policy, f"player_{game % 2}") for game in range(GAMES)]
    wins, draws = rewards.count(1.0), rewards.count(0.0)
    print(f"against {policy.__name__}: {wins} wins, {draws} draws, {GAMES - wins - draws} losses")
