"""The artificial trees of [Childs section 3 and 4]: how often a search is wrong about the move at the root, over its playouts.

Every tree is a P-game, whose values are known. A planner searches each tree several times; its error is the share of searches
whose move at the root is not a right one. All positions of a simulation are added, the final move is the one with the best
mean, and the constant is the paper's, sqrt(2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ucd_planners.arena.contest import Game
from ucd_planners.arena.study import Study
from ucd_planners.experiments import picture
from ucd_planners.experiments.experiment import Experiment, Row, Setting
from ucd_planners.intervals import mean_interval, sample_error

OPTIONS = f"c={math.sqrt(2)!r},expand=all,final_move=mean"
PLAYOUTS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
FEWER = (200,) * 7 + (20,) * 3 + (5,) * 3
"""Searches of a tree that go on to each number of playouts, so that all settings take hours instead of days."""
WHOLE = (200,) * len(PLAYOUTS)
BINARY = {"branching": 2, "depth": 20}
WIDE = {"branching": 10, "depth": 6}
RULES = {
    "uct0": "uct0(",
    "uct1": "uct1(",
    "uct2": "uct2(",
    "uct3": "uct3(",
    "ucd(1,0,1)": "ucd(d1=1,d2=0,d3=1,",
    "ucd(0,1,2)": "ucd(d1=0,d2=1,d3=2,",
    "ucd(inf,0,1)": "ucd(d1=inf,d2=0,d3=1,",
    "update_all": "update_all(",
}
COMBINATIONS = (10, 40, 80)
BIASES = (0, 25, 50, 75, 100)


class Part(NamedTuple):
    """Trees of one kind, and the planners that search them."""

    name: str
    share: str
    """Percent of nodes that are combined, or the bias of groups."""
    settings: dict[str, Any]
    planners: dict[str, str]


def parts() -> list[Part]:
    """Returns the parts of the paper's Figures 2 to 5."""
    both = {name: RULES[name] for name in ("uct0", "uct2")}
    found = [Part("combination", "20", {**BINARY, "dag_combination": 20}, RULES)]
    found += [Part("combination", str(share), {**BINARY, "dag_combination": share}, both) for share in COMBINATIONS]
    found.append(Part("groups", "none", WIDE, {"uct0": RULES["uct0"]}))
    for overlap, planners in ((False, ("uct0",)), (True, ("uct0", "uct2"))):
        for bias in BIASES:
            own = {"groups": 2, "group_size": 5, "group_bias": bias, "overlap": overlap}
            named = {f"{name}, groups": f"{RULES[name]}groups=own," for name in planners}
            found.append(Part("overlapping groups" if overlap else "groups", str(bias), {**WIDE, **own}, named))
    return found


def curve(part: Part, name: str, text: str, trees: int, seed: int, runs: tuple[int, ...]) -> list[Setting]:
    """Returns a setting for each number of playouts of one planner on the trees of one part."""
    study = Study("p_game_v0", f"{text}{OPTIONS})", part.settings, PLAYOUTS, runs, trees, seed)
    labels = {"trees": part.name, "share": part.share, "planner": name}
    return [Setting({**labels, "playouts": str(playouts)}, study) for playouts in PLAYOUTS]


def settings(trees: int, seed: int, runs: tuple[int, ...] = FEWER) -> list[Setting]:
    """Returns all curves."""
    return [
        setting
        for part in parts()
        for name, text in part.planners.items()
        for setting in curve(part, name, text, trees, seed, runs)
    ]


def whole_settings(trees: int, seed: int) -> list[Setting]:
    """Returns all curves, every search going on to the end."""
    return settings(trees, seed, WHOLE)


def measure(setting: Setting, games: Sequence[Game]) -> Row:
    """Returns the errors of a planner after the number of playouts of a setting."""
    return wrong_moves(setting, games, int(setting.labels["playouts"]))


def wrong_moves(setting: Setting, games: Sequence[Game], playouts: int) -> Row:
    """Returns the mean error of a planner after a number of playouts in percent, its standard error and its 95% interval.

    The searches of one tree are alike, so the errors of trees are the sample.
    """
    study: Study = setting.match
    place = study.playouts.index(playouts)
    errors = [1 - game.payoffs[place] for game in games]
    low, high = mean_interval(errors)
    error, spent = sample_error(errors), sum(sum(game.cpu_seconds) for game in games)
    return {
        **setting.labels,
        **{"games": len(games), "percent": round(100 * sum(errors) / len(errors), 4) if errors else None},
        "standard_error": None if math.isnan(error) else round(100 * error, 4),
        **{"interval_low": round(100 * low, 4), "interval_high": round(100 * high, 4)},
        **{"runs": study.runs[place], "paper": None},
        "playouts_per_second": round(len(games) * sum(study.simulations) / spent) if spent else None,
    }


SHOWN = ("100", "1000", "10000", "100000")
"""Numbers of playouts of the second table."""


def ratios(rows: Sequence[Row]) -> list[Row]:
    """Returns each planner's error over that of uct0 on trees of the same kind, after some numbers of playouts."""
    found = []
    percents = {(row["trees"], row["share"], row["planner"], row["playouts"]): row["percent"] for row in rows}
    for row in (row for row in rows if row["playouts"] == SHOWN[0] and row["planner"] != "uct0" and row["games"]):
        place = {key: row[key] for key in ("trees", "share", "planner")}
        line = dict(place)
        for playouts in SHOWN:
            own = percents[(*place.values(), playouts)]
            kind = ("groups", "none") if "groups" in row["trees"] else (row["trees"], row["share"])
            known = percents.get((*kind, "uct0", playouts))
            line[f"over uct0 at {int(playouts):,}"] = f"{own / known:.2f}" if known and own is not None else ""
        found.append(line)
    return found


def draw(rows: Sequence[Row]) -> Any:
    """Draws errors over playouts with their 95% intervals, a panel for each figure."""
    wide = those(rows, "groups", "uct0")
    panels = {
        "20 percent of nodes combined": [row for row in rows if row["share"] == "20"],
        "uct0 and uct2 by combination": [*those(rows, "combination", "uct0"), *those(rows, "combination", "uct2")],
        "groups without overlap, by bias": [*wide, *those(rows, "groups", "uct0, groups")],
        "uct0, overlapping groups, by bias": [*wide, *those(rows, "overlapping groups", "uct0, groups")],
        "uct2, overlapping groups, by bias": [*wide, *those(rows, "overlapping groups", "uct2, groups")],
    }
    figure, axes = picture.panels(list(panels), "playouts", "wrong moves in percent", columns=2, bars="95% intervals")
    for axis, (title, these) in zip(axes, panels.items(), strict=True):
        one_planner = title.startswith("20 percent")
        named = [{**row, "line": row["planner"] if one_planner else f"{row['planner']} {row['share']}"} for row in these]
        picture.curves(axis, named, "playouts", "line")
        axis.legend(fontsize="x-small")
    return figure


def those(rows: Sequence[Row], trees: str, planner: str) -> list[Row]:
    """Returns the rows of a planner on trees of one kind."""
    return [row for row in rows if (row["trees"], row["planner"]) == (trees, planner)]


TREES = Experiment(
    name="childs-trees",
    title="Wrong moves on P-games after each number of playouts, c = sqrt(2), 200 searches a tree, fewer to the long end",
    source="[Childs sections 3 and 4, Figures 2 to 5]",
    claim="plots of these errors, without figures in print",
    games=200,
    core_hours=6.3,
    settings=settings,
    draw=draw,
    measure=measure,
    summary=ratios,
)
WHOLE_TREES = replace(
    TREES,
    name="childs-trees-whole",
    title="Wrong moves on P-games after each number of playouts, c = sqrt(2), 200 searches a tree, each to the end",
    core_hours=None,
    settings=whole_settings,
)
EXPERIMENTS = {each.name: each for each in (TREES, WHOLE_TREES)}
"""Experiments by name."""
