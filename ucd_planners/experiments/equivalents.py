"""The worth of shared positions, as a number of playouts: UCT with k times the playouts is as strong as a planner on a graph.

No paper has this scale. Every planner plays UCT with the budget of its game. UCT itself does so with k times that budget, which
gives the scale: odds of points are taken as a power of k, so that each doubling adds the same to their logarithm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log, sqrt
from statistics import fmean
from typing import Any, NamedTuple

from ucd_planners.arena.match import Game, Match
from ucd_planners.experiments import picture
from ucd_planners.experiments.experiment import Experiment, Row, Setting
from ucd_planners.experiments.ucd_ggp import won
from ucd_planners.intervals import REACH
from ucd_planners.notation import planner_from

TIMES = ("1", "1.25", "1.5", "2", "3")
"""Budgets of UCT, in budgets of its opponent."""
SHARING = {
    "ucd(1,0,1)": "ucd(d1=1,d2=0,d3=1,",
    "ucd(0,1,2)": "ucd(d1=0,d2=1,d3=2,",
    "ucd(inf,0,1)": "ucd(d1=inf,d2=0,d3=1,",
    "update_all": "update_all(",
}
"""Planners on a graph, up to their constant."""
SAMPLED = 4
"""Games whose positions are searched again to count links."""
EARLY = "stop_early=true"
"""Searches end when their move is decided, which changes no move."""


class Field(NamedTuple):
    """A game of the experiment."""

    game: str
    settings: Mapping[str, Any]
    playouts: int
    c: float


FIELDS = {
    "Hex 5x5": Field("hex_v0", {"size": 5, "opening": "b2"}, 1000, 0.3),
    "Hex 7x7": Field("hex_v0", {"size": 7}, 1000, 0.3),
    "Connect 4": Field("connect_four_v0", {}, 1000, 0.4),
    "Go 6x6": Field("go_v0", {"size": 6, "komi": 5.5}, 1000, 0.4),
    "Havannah 4": Field("havannah_v0", {"base": 4}, 1000, 0.3),
    "Breakthrough": Field("breakthrough_v0", {}, 1000, 0.4),
    "CrissCross": Field("crisscross_v0", {}, 1000, 0.4),
    "Pentago": Field("pentago_v0", {}, 1000, 0.4),
}


def settings(games: int, seed: int) -> list[Setting]:
    """Returns UCT with each budget, and each planner on a graph, in each game. Raises ValueError for an odd number of games."""
    found = []
    for name, field in FIELDS.items():
        opponent = f"uct(c={field.c},{EARLY})"
        planners = [(f"uct, {k} times", f"uct(c={field.c},{EARLY},playouts={round(float(k) * field.playouts)})") for k in TIMES]
        planners += [(label, f"{text}c={field.c},{EARLY})") for label, text in SHARING.items()]
        for label, planner in planners:
            match = Match(field.game, planner, opponent, field.settings, {"playouts": field.playouts}, games, seed)
            found.append(Setting({"game": name, "planner": label}, match))
    return found


def with_links(setting: Setting, games: Sequence[Game]) -> Row:
    """Returns the row of a match, with the share of a search's playouts that found a known position by a new edge, in percent.

    The share is the mean over the positions of some games, each searched with the match's budget. A game is won by the higher
    payoff, since CrissCross pays the loser too and so two equal players get more than half.
    """
    row = won(setting, games)
    del row["mean_payoff"]
    row["links"] = None
    match = setting.match
    if games and setting.labels["planner"] in SHARING:
        planner = planner_from(str(match.a), seed=match.seed)
        shares = []
        for game in games[:SAMPLED]:
            state = match.rules.initial_state()
            for action in game.moves:
                found = planner.search(state, **match.budget)
                shares.append(found.transpositions / found.playouts)
                state = state.after(action)
        row["links"] = round(100 * fmean(shares), 2)
    return row


def equivalents(rows: Sequence[Row]) -> list[Row]:
    """Returns a row for each planner on a graph: the k of an equally strong UCT with its 95% interval, and its links.

    log(points / (100 - points)) = slope * log(k), with the slope that fits UCT's results best, weighted by their errors.
    Games whose results do not rise with k, or are all of one kind, have none.
    """
    found = []
    for name in FIELDS:
        cells = {row["planner"]: row for row in rows if row["game"] == name and row["standard_error"]}
        scale = [(log(float(k)), cells[f"uct, {k} times"]) for k in TIMES if f"uct, {k} times" in cells]
        weighted = [(x, *log_odds(row)) for x, row in scale]
        weight = sum(x * x / error**2 for x, _, error in weighted)
        slope = sum(x * odds / error**2 for x, odds, error in weighted) / weight if weight else 0.0
        for planner in SHARING:
            if planner not in cells or slope <= 0:
                continue
            odds, error = log_odds(cells[planner])
            middle, reach = odds / slope, REACH * sqrt((error / slope) ** 2 + (odds / slope**2) ** 2 / weight)
            found.append(
                {
                    **{"game": name, "planner": planner, "percent": cells[planner]["percent"]},
                    **{"k": round(exp(middle), 2), "from": round(exp(middle - reach), 2), "to": round(exp(middle + reach), 2)},
                    **{"links": cells[planner]["links"], "twice the playouts": round(100 / (1 + exp(-slope * log(2))), 1)},
                }
            )
    return found


def log_odds(row: Row) -> tuple[float, float]:
    """Returns the logarithm of the odds of a row's percentage, and its standard error. The percentage is not 0 or 100."""
    share, error = row["percent"] / 100, row["standard_error"] / 100
    return log(share / (1 - share)), error / (share * (1 - share))


def draw(rows: Sequence[Row]) -> Any:
    """Draws points against UCT over k, with a level for each planner on a graph, a panel for each game."""
    figure, axes = picture.panels(list(FIELDS), "k, times the opponent's playouts", "points in percent", columns=4)
    for axis, name in zip(axes, FIELDS, strict=True):
        cells = {row["planner"]: row for row in rows if row["game"] == name}
        scale = [{**cells[f"uct, {k} times"], "k": k, "planner": "uct"} for k in TIMES]
        picture.lines(axis, scale, "k", TIMES, "planner")
        for number, planner in enumerate(SHARING):
            picture.level(axis, cells[planner]["percent"], planner, "-", f"C{number + 1}")
    picture.legend(figure)
    return figure


EXPERIMENTS = {
    "playouts-equivalent": Experiment(
        name="playouts-equivalent",
        title="Planners on a graph against UCT, and UCT with k times the playouts",
        source="(no paper)",
        claim="none",
        games=2000,
        core_hours=1.6,
        settings=settings,
        draw=draw,
        measure=with_links,
        summary=equivalents,
    ),
}
"""Experiments by name."""
