"""The worth of transpositions under a network: PUCT on graphs against PUCT on a tree, with equal evaluations.

It plays with a network of alphazero.py. Each depths of UCD meet the tree in games from random openings, in pairs with seats
swapped. Both sides have the same network and as many playouts, each of which evaluates one position, since no evaluation is
remembered; only a playout that ends the game needs none.
"""

import argparse
import math
from pathlib import Path

from ucd_envs import make_rules
from ucd_planners import Planner, puct
from ucd_planners.arena.match import Match, play_match
from ucd_planners.ratings.openings import RandomOpenings

DEPTHS = [(0, 0, 0), (1, 0, 1), (0, 1, 2), (math.inf, 0, 1)]

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--net", type=Path, default=Path("net.pt"))
parser.add_argument("--game", default="hex")
parser.add_argument("--size", type=int, help="of a board that has one")
parser.add_argument("--playouts", type=int, default=200)
parser.add_argument("--games", type=int, default=400, help="games of each match, an even number")
parser.add_argument("--plies", type=int, default=2, help="random moves of an opening")
parser.add_argument("--jobs", type=int, default=1)
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()

settings = {} if options.size is None else {"size": options.size}
rules = make_rules(options.game, **settings)


def planner(**search: float) -> Planner:
    """Returns PUCT with the network: in a graph, or in a tree with table=False."""
    return puct(str(options.net), remember=0, playouts=options.playouts, **search)


tree = planner(table=False)
print(f"tree: {tree.search(rules.initial_state()).nodes} positions after the first search")
for d1, d2, d3 in DEPTHS:
    graph = planner(d1=d1, d2=d2, d3=d3)
    found = graph.search(rules.initial_state())
    match = Match(
        options.game, graph, tree, settings, {}, options.games, options.seed, RandomOpenings(options.plies, options.seed)
    )
    score = play_match(match, jobs=options.jobs).score()
    low, high = score.interval
    print(f"graph ({d1}, {d2}, {d3}): {found.nodes} positions, {found.transpositions} transpositions", end="; ")
    print(f"{score.mean:.1%} ({low:.1%} to {high:.1%}) against the tree, {score.games} games", flush=True)
