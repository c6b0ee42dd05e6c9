"""The parts of a NoGo program, each against the same program without it [NoGo, Figures 2 to 6, Tables 2 and 3].

UCT on 9x9, equal time a move. Beside the games won, each row has figures about the searches of both sides on positions of the
first games: playouts, which the paper calls descents, positions in the graph, plies of the longest descent, visits that the
root had from earlier searches, and the share of the time that playouts take at the start of the game.

A knowledge base is filled by games of the program against itself, in the file results/nogo-GAMES.lmdb, before the first game of
the match, if there is no such file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from ucd_envs.rules import Rules, State
from ucd_planners.arena.match import Game, Match
from ucd_planners.experiments import picture
from ucd_planners.experiments.experiment import Experiment, Row, Setting, measured
from ucd_planners.notation import planner_from

UCT = "uct(c=0.3)"
SECONDS = 0.05
"""Time of a move. The paper has 10 seconds, on a computer of its time."""
GAME = "nogo_v0"
SAMPLED = 2
"""Games whose positions are searched again for the figures about searches."""
SHARED = 10_000
"""Playouts of the searches that tell the share of playouts in the time."""


class Side(NamedTuple):
    """A planner, and the settings of the game under which it searches."""

    planner: str
    settings: Mapping[str, Any]

    @property
    def text(self) -> str:
        """Returns it as a player of a match."""
        if not self.settings:
            return self.planner
        words = ",".join(f"{key}={str(value).lower()}" for key, value in self.settings.items())
        return f"ucd_planners.arena.variants:variant(planner='{self.planner}',game='nogo({words})')"


WHOLE = Side(UCT, {})
"""Legal moves only, playouts from queues of moves, a new tree for each move."""
PARTS: dict[tuple[str, str], tuple[Side, Side]] = {
    ("legal moves only", "every empty point"): (WHOLE, Side(UCT, {"irrational": True})),
    ("queue of moves", "every point tested"): (WHOLE, Side(UCT, {"generation": "points"})),
    ("queue of moves", "liberties searched"): (WHOLE, Side(UCT, {"generation": "search"})),
    ("kept tree", "new tree"): (Side("uct(c=0.3,reuse_graph=true)", {}), WHOLE),
}
"""Both sides of each row by their labels."""


def settings(games: int, seed: int) -> list[Setting]:
    """Returns each part against the program without it. Raises ValueError for an odd number of games."""
    return [
        Setting({"a": a, "b": b}, Match(GAME, one.text, two.text, {}, {"seconds": SECONDS}, games, seed))
        for (a, b), (one, two) in PARTS.items()
    ]


LEARNED = ("25", "50", "100")
"""Games of training."""
TRAINING, PLAYED = 10_000, 1000
"""Playouts of a move in the training and in the match."""


def knowledge_settings(games: int, seed: int) -> list[Setting]:
    """Returns UCT with the bases of several trainings against UCT. Raises ValueError for an odd number of games."""
    found = []
    for learned in LEARNED:
        words = f"planner='{UCT}',base='results/nogo-{learned}.lmdb',games={learned},training={TRAINING}"
        match = Match(GAME, f"ucd_planners.arena.trained:trained({words})", UCT, {}, {"playouts": PLAYED}, games, seed)
        found.append(Setting({"training": learned}, match))
    return found


def draw_knowledge(rows: Sequence[Row]) -> Any:
    """Draws the games won with a base over the games of its training."""
    figure, (axis,) = picture.panels(["NoGo 9x9, a knowledge base against none"], "games of training", "games won in percent")
    picture.lines(axis, [{**row, "planner": "with a base"} for row in rows], "training", LEARNED, "planner")
    picture.level(axis, 50.0, "even", "--")
    picture.legend(figure)
    return figure


class Figures(NamedTuple):
    """Means over searches."""

    playouts: float
    nodes: float
    depth: float
    reused: float
    in_playouts: float
    """Percent of the CPU time of a search that its playouts take, at the start of the game."""


def figures(side: Side, match: Match, games: Sequence[Game], number: int) -> Figures:
    """Returns the figures of one side, 0 or 1, on its own positions in some games, searched one after the other."""
    rules = match_under(side, match)
    planner = planner_from(side.planner, seed=match.seed, **match.budget)
    found = []
    for game in games:
        planner.forget()
        state = match.rules.initial_state()
        for action in game.moves:
            if match.seats(game.number)[state.player] == number:
                found.append(planner.search(State(rules, state.data)))
            state = state.after(action)
    playouts, nodes, depth, reused = (
        fmean(getattr(each, name) for each in found) for name in ("playouts", "nodes", "depth", "reused")
    )
    return Figures(playouts, nodes, depth, reused, playouts_share(rules, match.seed))


def match_under(side: Side, match: Match) -> Rules:
    """Returns the rules under which a side searches."""
    return Match(match.game, match.a, match.b, {**match.settings, **side.settings}, match.budget, match.games).rules


def playouts_share(rules: Rules, seed: int) -> float:
    """Returns the percentage of the CPU time of UCT that its playouts take at the start of the game: the time of as many
    playouts with a tree of two nodes, over that of the search."""
    times = []
    for text in ("uct(c=0.3,max_nodes=2)", UCT):
        planner = planner_from(text, seed=seed, playouts=SHARED)
        planner.search(rules.initial_state(), playouts=1)  # compiles
        times.append(planner.search(rules.initial_state()).cpu_seconds)
    return 100 * times[0] / times[1]


def with_figures(setting: Setting, games: Sequence[Game]) -> Row:
    """Returns the row of a match with the figures about the searches of both sides."""
    row = measured(setting, games)
    both = PARTS[setting.labels["a"], setting.labels["b"]]
    for number, (side, name) in enumerate(zip(both, "ab", strict=True)):
        told = figures(side, setting.match, games[:SAMPLED], number) if games else None
        for column in Figures._fields:
            row[f"{column}_{name}"] = None if told is None else round(getattr(told, column), 1)
    return row


def draw(rows: Sequence[Row]) -> Any:
    """Draws the games won by a over the parts."""
    figure, (axis,) = picture.panels([f"NoGo 9x9, {SECONDS} s a move"], "", "games won by a in percent")
    named = [{**row, "pair": f"{row['a']}\nagainst {row['b']}", "winner": "a"} for row in rows]
    picture.lines(axis, named, "pair", [row["pair"] for row in named], "winner", "o")
    picture.level(axis, 50.0, "even", "--")
    axis.tick_params(axis="x", labelsize="x-small")
    picture.legend(figure)
    return figure


EXPERIMENTS = {
    "nogo": Experiment(
        name="nogo",
        title=f"NoGo 9x9, the parts of a program, {SECONDS} s a move, UCT, c = 0.3",
        source="[NoGo Figures 2 to 5, Tables 2 and 3]",
        claim="a queue of moves raises the descents of 10 s from 50,000 to nearly 200,000 and lowers the share of playouts "
        "from 89 to 46 percent; a kept tree searches 5 to 30 percent deeper and wins above 85 percent of the games",
        games=200,
        core_hours=0.77,
        settings=settings,
        draw=draw,
        measure=with_figures,
    ),
    "nogo-knowledge": Experiment(
        name="nogo-knowledge",
        title=f"NoGo 9x9, UCT with a base from {TRAINING:,} playouts a move against UCT, {PLAYED:,} playouts, c = 0.3",
        source="[NoGo Figure 6]",
        claim="a base wins more games, in a plot that we could not read",
        games=1000,
        settings=knowledge_settings,
        draw=draw_knowledge,
    ),
}
"""Experiments by name."""
