"""The worth of transpositions under a network: PUCT on graphs against PUCT on a tree, with equal evaluations.

It plays with a network of alphazero.py. Each depths of UCD meet the tree in games from random openings, in pairs with seats
swapped. Both sides have the same network and as many playouts, each of which evaluates one position, since no evaluation is
remembered; only a playout that ends the game needs none.
"""

import argparse
import math
from functools import reduce
from pathlib import Path
from statistics import fmean

from ucd_envs import make_rules
from ucd_envs.rules import State
from ucd_planners import Planner, puct
from ucd_planners.arena.match import Match, play_match
from ucd_planners.ratings.openings import RandomOpenings

DEPTHS = [(0, 0, 0), (1, 0, 1), (0, 1, 2), (math.inf, 0, 1)]

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--net", type=Path, default=Path("net.onnx"))
parser.add_argument("--game", default="hex")
parser.add_argument("--size", type=int, help="of a board that has one")
parser.add_argument("--playouts", type=int, default=200)
parser.add_argument("--games", type=int, default=400, help="games of each match, an even number, or 0 for none")
parser.add_argument("--plies", type=int, default=2, help="random moves of an opening")
parser.add_argument("--jobs", type=int, default=1)
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()

settings = {} if options.size is None else {"size": options.size}
rules = make_rules(options.game, **settings)


def planner(**search: float) -> Planner:
    """Returns PUCT with the network: in a graph, or in a tree with table=False."""
    return puct(str(options.net), remember=0, playouts=options.playouts, **search)


openings = RandomOpenings(options.plies, options.seed)
starts = [reduce(State.after, openings.moves(rules, pair), rules.initial_state()) for pair in range(20)]


def positions(player: Planner) -> str:
    """Returns the means of positions and of transpositions over searches after twenty openings."""
    found = [player.search(start) for start in starts]
    nodes, transpositions = fmean(each.nodes for each in found), fmean(each.transpositions for each in found)
    return f"{nodes:.1f} positions and {transpositions:.1f} transpositions in a search"


tree = planner(table=False)
print(f"tree: {positions(tree)}", flush=True)
for d1, d2, d3 in DEPTHS:
    graph = planner(d1=d1, d2=d2, d3=d3)
    print(f"graph ({d1}, {d2}, {d3}): {positions(graph)}", flush=True)
    if options.games:
        match = Match(options.game, graph, tree, settings, {}, options.games, options.seed, openings)
        score = play_match(match, jobs=options.jobs).score()
        low, high = score.interval
        print(f"against the tree: {score.mean:.1%} ({low:.1%} to {high:.1%}), {score.games} games", flush=True)
