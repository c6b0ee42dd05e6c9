"""Two planners play Hex in an ordinary PettingZoo loop."""

import ucd_envs
import ucd_planners

env = ucd_envs.make("hex_v0", size=5, swap=True, render_mode="ansi")
planners = {
    "player_0": ucd_planners.uct(c=0.3, playouts=2000, seed=1),
    "player_1": ucd_planners.ucd(d1=1, d2=0, d3=1, c=0.3, playouts=2000, seed=2),
}

env.reset()
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    if terminated or truncated:
        print(f"{agent} gets {reward:+.0f}")
        env.step(None)
        continue
    result = planners[agent].search(env)
    move = result.names(result.action)
    print(f"{agent} plays {move} (value {result.value:.2f}, {result.transpositions} transpositions)")
    env.step(result.action)
    if any(env.terminations.values()):
        print(env.render())
env.close()
