"""A planner plays Connect Four against two policies, functions of an observation: chance, and a user-defined one."""

from collections.abc import Callable

import numpy as np

import ucd_envs
import ucd_planners

GAMES = 20
Policy = Callable[[np.ndarray, np.ndarray], int]
chance = np.random.default_rng(1)


def random_policy(board: np.ndarray, mask: np.ndarray) -> int:
    """Any legal move."""
    return int(chance.choice(np.flatnonzero(mask)))


def central_policy(board: np.ndarray, mask: np.ndarray) -> int:
    """The legal column nearest to the middle; a policy network would stand here."""
    columns = np.flatnonzero(mask)
    return int(columns[np.argmin(np.abs(columns - len(mask) // 2))])


def play(planner: ucd_planners.Planner, policy: Policy, seat: str) -> float:
    """One game with the planner in a seat; the planner's reward."""
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
