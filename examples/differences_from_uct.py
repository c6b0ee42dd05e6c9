"""Differences between an agent and UCT of equal rating: a network of learn_with_sb3.py, or any other agent of a match.

The agent is placed on the game's rated ladder and plays UCT with as many playouts as are as strong. Both are asked for a move
in every position of these games. Printed are how often each misses a win at once or lets the opponent win at once, and in all
other positions what its moves lose, by the values that a long search finds for them.
"""

import argparse
from collections import defaultdict

import numpy as np

from ucd_envs import make_rules
from ucd_envs.rules import State
from ucd_planners import ucd
from ucd_planners.arena.agents import agent_from
from ucd_planners.arena.match import Match, play_match
from ucd_planners.intervals import REACH, sample_error, wilson
from ucd_planners.ratings.ladder import ladder_of
from ucd_planners.ratings.openings import RandomOpenings
from ucd_planners.ratings.placing import Placing

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--agent", default='sb3("model.zip")', help="in the notation of `ucd match`")
parser.add_argument("--game", default="connect_four")
parser.add_argument("--place", type=int, default=200, help="games on the ladder at most, an even number")
parser.add_argument("--games", type=int, default=200, help="games against UCT, an even number")
parser.add_argument("--judge", type=int, default=10_000, help="playouts of the search that values moves")
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()
rules, judge = make_rules(options.game), ucd(playouts=options.judge, seed=options.seed)


def wins_at_once(state: State, action: int) -> bool:
    """Whether a move ends the game with a win of the player who makes it."""
    after = state.after(action)
    return after.over and after.payoffs()[state.player] == 1.0


def lets_win(state: State, action: int) -> bool:
    """Whether the opponent can win at once after a move."""
    after = state.after(action)
    return not after.over and any(wins_at_once(after, reply) for reply in after.legal_actions())


def value(state: State, action: int) -> float:
    """The payoff of the player who makes a move, by a search of what follows, in [0, 1]."""
    after = state.after(action)
    if after.over:
        return float(after.payoffs()[state.player])
    found = judge.search(after)
    return 1.0 - float(found.values[found.actions == found.action][0])


placing = Placing(ladder_of(options.game, {}), options.agent, games=options.place, seed=options.seed)
placing.play()
place = placing.place
assert place is not None
print(f"{options.agent} is as strong as UCT with {place.playouts:,.0f} playouts ({place.fewest:,.0f} to {place.most:,.0f})")

opponent = f"uct(playouts={round(min(max(place.playouts, 1), options.judge))})"
openings = RandomOpenings(2, options.seed)
played = play_match(Match(options.game, options.agent, opponent, {}, {}, options.games, options.seed, openings))
score = played.score()
low, high = score.interval
print(f"against {opponent}: {score.mean:.0%} ({low:.0%} to {high:.0%})")

positions: dict[bytes, State] = {}
for game in played.games:
    state = rules.initial_state()
    for action in game.moves:
        positions.setdefault(state.key, state)
        state = state.after(action)

players = [agent_from(text, {}) for text in (options.agent, opponent)]
for player in players:
    player.begin(rules, options.seed, None)
tactics: dict[str, list[list[bool]]] = defaultdict(list)
losses: dict[str, list[list[float]]] = defaultdict(list)
equal = 0
for state in positions.values():
    chosen = [player.choose(state, []).action for player in players]
    equal += chosen[0] == chosen[1]
    wins = [action for action in state.legal_actions() if wins_at_once(state, action)]
    lets = {action: lets_win(state, action) for action in state.legal_actions()}
    if wins:
        tactics["misses a win at once"].append([action not in wins for action in chosen])
    elif any(lets.values()) and not all(lets.values()):
        tactics["lets the opponent win at once"].append([lets[action] for action in chosen])
    elif not any(lets.values()):
        candidates = [*chosen, judge.act(state)]
        values = {action: value(state, action) for action in set(candidates)}
        third = min(3 * state.ply // rules.max_plies, 2)
        name = f"loses value, plies {third * rules.max_plies // 3} to {(third + 1) * rules.max_plies // 3 - 1}"
        losses[name].append([max(values.values()) - values[action] for action in chosen])

print(f"{len(positions):,} positions, the same move in {equal / len(positions):.0%}")
print(f"{'':32}{'positions':>10}{'agent':>24}{'UCT':>24}")
for name, missed in sorted(tactics.items(), reverse=True):
    cells = []
    for count in np.sum(missed, axis=0).tolist():
        low, high = wilson(count, len(missed))
        cells.append(f"{count / len(missed):.1%} ({low:.1%} to {high:.1%})")
    print(f"{name:32}{len(missed):>10}" + "".join(f"{cell:>24}" for cell in cells))
for name, lost in sorted(losses.items()):
    cells = [f"{np.mean(each):.3f} +- {REACH * sample_error(each):.3f}" for each in np.transpose(lost).tolist()]
    print(f"{name:32}{len(lost):>10}" + "".join(f"{cell:>24}" for cell in cells))
