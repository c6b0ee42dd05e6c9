"""Rules for shared positions side by side: where an edge and the position below it know different things.

Path only: the edge's own mean (uct1, [Childs section 3]). The position's mean (uct2). Stop and correct [Czech, Korus, Kersting
2020]. Catch up [KataGo, docs/GraphSearch.md]. Exact sums at three depths [UCD section 3]. LeftRight is played alone, for the
share of steps to the left, with UCT without shared positions for comparison; in the other games each rule plays that UCT. All
planners of a game have the same constant. On P-games of which 20 percent of the nodes are combined, the percentage is that of
right moves at the root after a number of playouts.

Budgets are equal in simulations, of which one that ends without a playout counts as any other, and in time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ucd_planners.arena.match import Game, Match
from ucd_planners.arena.study import Study
from ucd_planners.experiments import picture
from ucd_planners.experiments.childs_trees import wrong_moves
from ucd_planners.experiments.experiment import Experiment, Row, Setting, measured
from ucd_planners.experiments.ucd_ggp import won

RULES = {
    "uct1": "uct1(",
    "uct2": "uct2(",
    "stop_and_correct": "stop_and_correct(",
    "catch_up": "catch_up(",
    "ucd(1,0,1)": "ucd(d1=1,d2=0,d3=1,",
    "ucd(0,1,2)": "ucd(d1=0,d2=1,d3=2,",
    "ucd(inf,0,1)": "ucd(d1=inf,d2=0,d3=1,",
}
"""Planners on a graph, up to their constant."""
UCT = "uct"


class Field(NamedTuple):
    """A game of the experiment, with the budgets of a move."""

    game: str
    settings: Mapping[str, Any]
    playouts: int
    seconds: float
    c: float
    alone: bool = False
    """Whether it is a game of one player, of which half as many are played."""


FIELDS = {
    "LeftRight": Field("leftright_v0", {"steps": 300}, 100, 0.001, 0.3, alone=True),
    "Hex 5x5": Field("hex_v0", {"size": 5, "opening": "b2"}, 1000, 0.01, 0.3),
    "Connect 4": Field("connect_four_v0", {}, 1000, 0.01, 0.4),
    "CrissCross": Field("crisscross_v0", {}, 1000, 0.01, 0.4),
    "Quarto": Field("quarto_v0", {}, 1000, 0.01, 0.4),
}
BUDGETS = ("playouts", "seconds")
GRAPHS, PLAYOUTS, RUNS, TREES = "P-games", (1000, 10_000), 200, 200
P_GAME = {"branching": 2, "depth": 20, "dag_combination": 20}


def settings(games: int, seed: int) -> list[Setting]:
    """Returns every rule in every game under both budgets. Raises ValueError for an odd number of games."""
    found = []
    for name, field in FIELDS.items():
        opponent, count = (None, max(games // 2, 1)) if field.alone else (f"uct(c={field.c})", games)
        rules = {UCT: "uct(", **RULES} if field.alone else RULES
        for budget in BUDGETS:
            for label, text in rules.items():
                limit = {budget: getattr(field, budget)}
                match = Match(field.game, f"{text}c={field.c})", opponent, field.settings, limit, count, seed)
                found.append(Setting({"game": name, "budget": budget, "planner": label}, match))
    for label, text in {UCT: "uct(", **RULES}.items():
        planner = f"{text}c={math.sqrt(2)!r},expand=all,final_move=mean)"
        trees = min(max(games // 2, 1), TREES)
        study = Study("p_game_v0", planner, P_GAME, PLAYOUTS, (RUNS,) * len(PLAYOUTS), trees, seed)
        found += [Setting({"game": GRAPHS, "budget": f"{playouts} playouts", "planner": label}, study) for playouts in PLAYOUTS]
    return found


def measure(setting: Setting, games: Sequence[Game]) -> Row:
    """Returns the share of games won against UCT in percent, and the mean payoff; in LeftRight the mean payoff only, and on
    P-games the share of right moves."""
    if isinstance(setting.match, Study):
        row = wrong_moves(setting, games, int(setting.labels["budget"].split()[0]))
        del row["runs"]
        bounds = {"percent": row["percent"], "interval_low": row["interval_high"], "interval_high": row["interval_low"]}
        right = {name: None if wrong is None else round(100 - wrong, 4) for name, wrong in bounds.items()}
        return {**row, **right, "distinct_games": None, "mean_payoff": None}
    if setting.match.b is not None:
        return won(setting, games)
    row = measured(setting, games)
    return {**row, "distinct_games": None, "mean_payoff": row["percent"]}


def draw(rows: Sequence[Row]) -> Any:
    """Draws percent of each rule under both budgets, a panel for each game; lines: UCT."""
    figure, axes = picture.panels([*FIELDS, f"{GRAPHS}: right moves"], "planner", "percent", columns=2)
    graphs = [row for row in rows if row["game"] == GRAPHS]
    picture.lines(axes[-1], graphs, "planner", (UCT, *RULES), "budget", "o")
    axes[-1].tick_params(axis="x", rotation=90)
    for axis, (name, field) in zip(axes, FIELDS.items(), strict=False):
        these = [row for row in rows if row["game"] == name]
        picture.lines(axis, [row for row in these if row["planner"] != UCT], "planner", tuple(RULES), "budget", "o")
        levels = {row["budget"]: row["percent"] for row in these if row["planner"] == UCT}
        if field.alone:
            for budget, style in zip(BUDGETS, ("--", ":"), strict=True):
                picture.level(axis, levels[budget], f"UCT, budget = {budget}", style)
        else:
            picture.level(axis, 50.0, "UCT", "-")
        axis.tick_params(axis="x", rotation=90)
    picture.legend(figure)
    return figure


EXPERIMENTS = {
    "shared-positions": Experiment(
        name="shared-positions",
        title="Rules for shared positions at equal playouts and in equal time, against UCT without shared positions",
        source="[Childs section 3; UCD section 3; Czech, Korus, Kersting 2020; KataGo, docs/GraphSearch.md]",
        claim="no comparison of them is published",
        games=400,
        settings=settings,
        draw=draw,
        measure=measure,
    ),
}
"""Experiments by name."""
