"""[UCD Table 1] with fewer playouts, and with keys that leave the ply out.

With 10,000 playouts c = 0.2 is far worse here than in the paper, whose figures look like those of fewer. So the table is played
with 1,000 and 3,000 playouts a move for both sides, each cell also with `graded=False`: a position that comes again at another
ply is then one node, and a cycle is cut at the node that the descent has passed.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from ucd_planners.arena.match import Match
from ucd_planners.experiments import picture
from ucd_planners.experiments.experiment import Experiment, Row, Setting
from ucd_planners.experiments.statistics import rank_correlation
from ucd_planners.experiments.ucd_go import CONSTANTS, SETTINGS, TABLE_1, UCT, papers

BUDGETS = {"1000": {"playouts": 1000}, "3000": {"playouts": 3000}}
KEYS = {"with the ply": "", "without": "graded=false,"}
"""Keys of positions, by what a planner's text has for them."""


def settings(games: int, seed: int) -> list[Setting]:
    """Returns the table for each budget and each kind of keys, against UCT without a table. Raises ValueError for an odd number
    of games."""
    found = []
    for budget, playouts in BUDGETS.items():
        for keys, option in KEYS.items():
            for (d1, d2, d3), percents in TABLE_1.items():
                for c, percent in zip(CONSTANTS, percents, strict=True):
                    planner = f"ucd(d1={d1},d2={d2},d3={d3},c={c},{option}stop_early=true)"
                    labels = {"playouts": budget, "keys": keys, "d1": d1, "d2": d2, "d3": d3, "c": c}
                    found.append(Setting(labels, Match("go_v0", planner, UCT, SETTINGS, playouts, games, seed), percent))
    return found


def compared(rows: Sequence[Row]) -> list[Row]:
    """Returns a row for each budget and kind of keys: the means of ours and of the paper's cells for each c, and the rank
    correlation of all cells. Tables of which a cell has no games are left out."""
    found = []
    for budget in BUDGETS:
        for keys in KEYS:
            these = [row for row in rows if (row["playouts"], row["keys"]) == (budget, keys)]
            if any(row["percent"] is None for row in these):
                continue
            line: Row = {"playouts": budget, "keys": keys, "cells": len(these)}
            for c in CONSTANTS:
                for name, column in (("", "percent"), (", the paper", "paper")):
                    line[f"c = {c}{name}"] = round(fmean(row[column] for row in these if row["c"] == c), 1)
            ours, theirs = ([row[column] for row in these] for column in ("percent", "paper"))
            line["rank correlation"] = round(rank_correlation(ours, theirs)[0], 2) if len(set(ours)) > 1 else None
            found.append(line)
    return found


def draw(rows: Sequence[Row]) -> Any:
    """Draws points against UCT over c, a panel for each budget and d1; crosses: the paper."""
    places = [(budget, d1) for budget in BUDGETS for d1 in "012"]
    titles = [f"{int(budget):,} playouts, d1 = {d1}" for budget, d1 in places]
    figure, axes = picture.panels(titles, "c", "points in percent", columns=3)
    for axis, place in zip(axes, places, strict=True):
        these = [
            {**row, "d2, d3": f"{row['d2']}, {row['d3']}" + ("" if row["keys"] == "with the ply" else ", keys without the ply")}
            for row in rows
            if (row["playouts"], row["d1"]) == place
        ]
        with_ply = [row for row in these if row["keys"] == "with the ply"]
        picture.lines(axis, these, "c", CONSTANTS, "d2, d3")
        picture.lines(axis, papers(with_ply), "c", CONSTANTS, "d2, d3", "x:", ", the paper")
        picture.level(axis, 50.0, "UCT", "--")
    picture.legend(figure)
    return figure


EXPERIMENTS = {
    "ucd-go-budgets": Experiment(
        name="ucd-go-budgets",
        title="Go 6x6, komi 5.5, 1,000 and 3,000 playouts a move, keys with and without the ply, against UCT with c = 0.4",
        source="[UCD Table 1]",
        claim="no setting is clearly better than UCT, and d1 = 2 is worse",
        games=200,
        core_hours=2.2,
        settings=settings,
        draw=draw,
        summary=compared,
    ),
}
"""Experiments by name."""
