"""The experiments of [UCD section 4] on Go 6x6: Saffidine, Cazenave and Mehat, 2012.

Komi 5.5, 10,000 playouts a move for both sides. The paper does not give its ko rule. Here it is the simple one, with which
different move orders reach equal positions. Nor does the paper give the weight of RAVE, its exploration constant and, in
Table 2, the opponent's RAVE constant. Here they are those of selection/rave.py, 0, and the best of the table, 0.0002.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ucd_planners.arena.match import Match
from ucd_planners.experiments import picture
from ucd_planners.experiments.experiment import Experiment, Row, Setting

SETTINGS = {"size": 6, "komi": 5.5}
BUDGET = {"playouts": 10_000}
UCT = "uct(c=0.4,stop_early=true)"
"""The opponent. Searches end when their move is decided, which saves a quarter of the time and changes no move."""
CONSTANTS = ("0.2", "0.4", "0.6")
TABLE_1 = {
    ("0", "0", "0"): (42.5, 52.0, 46.5),
    ("1", "0", "0"): (40.5, 53.0, 48.0),
    ("2", "0", "0"): (34.5, 37.0, 33.5),
    ("0", "0", "1"): (47.5, 48.5, 53.0),
    ("1", "0", "1"): (45.0, 48.0, 44.5),
    ("2", "0", "1"): (36.0, 31.0, 31.0),
    ("0", "1", "0"): (44.0, 53.0, 44.0),
    ("1", "1", "0"): (45.5, 56.0, 51.0),
    ("2", "1", "0"): (37.5, 33.0, 33.5),
    ("0", "1", "1"): (40.5, 52.0, 49.0),
    ("1", "1", "1"): (51.5, 48.5, 49.5),
    ("2", "1", "1"): (39.0, 37.5, 31.5),
}
"""[UCD Table 1]: percent of wins by (d1, d2, d3), for each c."""
BIASES = ("0.0001", "0.0002", "0.0004", "0.0008", "0.0016", "0.0032", "0.0064")
RAVE = "rave(bias=0.0002,revisit=0,stop_early=true)"
"""Standard RAVE, the opponent, with the constant of the paper's best result."""
TABLE_2 = {"0": (48.0, 52.0, 47.5, 45.5, 49.0, 47.5, 39.0), "1": (32.0, 38.0, 36.0, 33.0, 31.5, 37.5, 30.5)}
"""[UCD Table 2]: percent of wins by depth of the mean, for each constant, with a RAVE depth of 1."""


def go_settings(games: int, seed: int) -> list[Setting]:
    """Returns the settings of [UCD Table 1]: UCD against UCT without a table, c = 0.4. Raises ValueError for an odd number
    of games."""
    settings = []
    for (d1, d2, d3), percents in TABLE_1.items():
        for c, percent in zip(CONSTANTS, percents, strict=True):
            planner = f"ucd(d1={d1},d2={d2},d3={d3},c={c},stop_early=true)"
            match = Match("go_v0", planner, UCT, SETTINGS, BUDGET, games, seed)
            settings.append(Setting({"d1": d1, "d2": d2, "d3": d3, "c": c}, match, percent))
    return settings


def draw_go(rows: Sequence[Row]) -> Any:
    """Draws points against UCT over c, a panel for each d2 and d3; crosses: the paper."""
    pairs = [(d2, d3) for d2 in "01" for d3 in "01"]
    figure, axes = picture.panels([f"Go 6x6 against UCT, d2 = {d2}, d3 = {d3}" for d2, d3 in pairs], "c", "points in percent")
    for axis, pair in zip(axes, pairs, strict=True):
        these = [row for row in rows if (row["d2"], row["d3"]) == pair]
        picture.lines(axis, these, "c", CONSTANTS, "d1")
        picture.lines(axis, papers(these), "c", CONSTANTS, "d1", "x:", ", the paper")
        picture.level(axis, 50.0, "UCT", "--")
    picture.legend(figure)
    return figure


def rave_settings(games: int, seed: int) -> list[Setting]:
    """Returns the settings of [UCD Table 2]: RAVE-UCD against standard RAVE. Raises ValueError for an odd number of games."""
    settings = []
    for depth_mean, percents in TABLE_2.items():
        for bias, percent in zip(BIASES, percents, strict=True):
            planner = f"rave_ucd(bias={bias},depth_rave=1,depth_mean={depth_mean},revisit=0,stop_early=true)"
            match = Match("go_v0", planner, RAVE, SETTINGS, BUDGET, games, seed)
            settings.append(Setting({"depth_mean": depth_mean, "bias": bias}, match, percent))
    return settings


def draw_rave(rows: Sequence[Row]) -> Any:
    """Draws points against RAVE over the constant; crosses: the paper."""
    figure, (axis,) = picture.panels(["Go 6x6 against RAVE, depth RAVE 1"], "RAVE constant", "points in percent")
    picture.lines(axis, rows, "bias", BIASES, "depth_mean")
    picture.lines(axis, papers(rows), "bias", BIASES, "depth_mean", "x:", ", the paper")
    picture.level(axis, 50.0, "RAVE", "--")
    picture.legend(figure)
    return figure


def papers(rows: Sequence[Row]) -> list[Row]:
    """Returns the rows with the paper's figures in place of ours."""
    return [{**row, "percent": row["paper"], "standard_error": 0.0, "games": None} for row in rows]


EXPERIMENTS = {
    "ucd-go": Experiment(
        name="ucd-go",
        title="Go 6x6, komi 5.5, 10,000 playouts a move, against UCT with c = 0.4",
        source="[UCD Table 1]",
        claim="no setting is clearly better than UCT, and d1 = 2 is worse",
        games=200,
        core_hours=1.4,
        settings=go_settings,
        draw=draw_go,
    ),
    "ucd-rave": Experiment(
        name="ucd-rave",
        title="Go 6x6, komi 5.5, 10,000 playouts a move, RAVE-UCD with depth RAVE 1 against RAVE",
        source="[UCD Table 2]",
        claim="depth mean 0 is about as good as RAVE, depth mean 1 is worse",
        games=200,
        core_hours=1.0,
        settings=rave_settings,
        draw=draw_rave,
    ),
}
"""Experiments by name."""
