"""A picture of the graph that UCD has searched in Hex 3x3: python examples/draw_graph.py [picture.svg, .png or .pdf]."""

import sys

import ucd_envs
import ucd_planners
from ucd_planners.graph_view.drawing import draw

path = sys.argv[1] if len(sys.argv) > 1 else "search_graph.svg"

env = ucd_envs.make("hex_v0", size=3)
env.reset()
result = ucd_planners.ucd(c=0.3, playouts=1000, seed=1).search(env)

graph = result.to_networkx(most=50)
draw(graph, path)
print(f"{result.nodes} nodes, {result.edges} edges, {result.transpositions} transpositions")
print(f"{path} shows {len(graph)} nodes; {sum(into > 1 for _, into in graph.in_degree())} of them are reached by several moves")
