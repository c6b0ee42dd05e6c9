"""Planning in Gymnasium environments that have no support for planners: FrozenLake, CliffWalking and Taxi.

The adapter plans in a copy. Only the loop below steps the environment itself. `position` returns equal values for equal
states, so that the search can share statistics between them. `constant` names the attributes that no step changes.
"""

import gymnasium
import numpy as np

import ucd_planners
from ucd_envs.foreign import SingleGame

ENVIRONMENTS = {
    "FrozenLake-v1": {
        "settings": {"is_slippery": False},
        "options": {"discount": 0.95, "max_plies": 100},
        "playouts": 500,
    },
    "CliffWalking-v1": {
        "settings": {},
        "options": {"payoff_range": (-60.0, 0.0), "clip": True, "max_plies": 60},
        "playouts": 2000,
    },
    "Taxi-v4": {
        "settings": {},
        "options": {
            "payoff_range": (-30.0, 20.0),
            "clip": True,
            "max_plies": 30,
            "legal_actions": lambda env: np.flatnonzero(env.action_mask(env.s)).tolist(),
        },
        "playouts": 1000,
    },
}

for name, case in ENVIRONMENTS.items():
    env = gymnasium.make(name, **case["settings"])
    env.reset(seed=1)
    game = SingleGame(env, position=lambda env: int(env.s), constant=("P", "initial_state_distrib"), **case["options"])
    planner = ucd_planners.ucd(d1=1, d2=0, d3=1, c=0.3, playouts=case["playouts"], seed=3, reuse_graph=True)
    total, steps, over = 0.0, 0, False
    while not over:
        _, reward, terminated, truncated, _ = env.step(planner.act(game))
        total, steps, over = total + float(reward), steps + 1, terminated or truncated
    print(f"{name}: total reward {total:.0f} in {steps} steps")
    env.close()
