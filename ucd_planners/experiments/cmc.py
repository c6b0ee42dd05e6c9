"""The experiments of [CMC section 6], and the same in two more games: Rimmel and Teytaud, 2010.

Havannah, 1,000 playouts a move for both sides, contextual Monte Carlo against the same UCT without it. The paper does not
name the base: 5, 6 and 8 are run. The exploration constant is 0.3 here; the paper's formulas have sqrt(2 ln n / n). Its
Figure 3 has two plots: over prob at B = 0, and over B at a fixed prob. The text says that this prob is 75 and the caption
35, so both are run. Beyond the paper: Hex 7x7 and Go 9x9, at equal playouts and in equal time.

UCT with that constant is a weak program in Havannah, so the figure is also played over RAVE and over UCT with c = sqrt(2), the
constant of the paper's formulas. A table of details changes one choice that the paper leaves open at a time. And CMC at prob 0,
which is UCT itself, is played in many games.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ucd_planners.arena.match import Match
from ucd_planners.experiments import picture
from ucd_planners.experiments.experiment import Experiment, Row, Setting

UCT = "uct(c=0.3)"
PROBS = ("0", "20", "35", "50", "75", "100")
THRESHOLDS = ("0", "20", "40", "60", "80", "100")
"""Values of B. Both are in percent."""
FIXED = ("35", "75")
"""Fixed values of prob in the second plot."""
BASES = ("5", "6", "8")
BUDGETS: Mapping[str, Mapping[str, Any]] = {"1000 playouts": {"playouts": 1000}, "0.01 seconds": {"seconds": 0.01}}
PAPER = {("35", "0"): 57.0, ("35", "100"): 50.0, ("75", "0"): 56.0, ("75", "100"): 50.0}
"""[CMC Figure 3, text]: percent of wins by prob and B."""


PROGRAMS = {
    "UCT": "uct(c=0.3{})",
    "UCT, c = sqrt 2": f"uct(c={math.sqrt(2)!r}{{}})",
    "RAVE": "rave(revisit=0{})",
}
"""Programs with a place for policies."""
OVER = ("RAVE", "UCT, c = sqrt 2")
OVER_BASES = ("5", "8", "10")
DETAILS = {
    "ours": "",
    "tiles of both players": ",tiles=shared",
    "pairs in any order": ",pairs=any",
    "b from the playout": ",context=playout",
    "all three": ",tiles=shared,pairs=any,context=playout",
}
"""Options of CMC, each alone and all together."""
DETAIL_BASES = ("5", "8")


def pairs() -> list[tuple[str, str]]:
    """Returns prob and B of all points."""
    return list(dict.fromkeys([(prob, "0") for prob in PROBS] + [(prob, b) for prob in FIXED for b in THRESHOLDS]))


def planner_of(prob: str, threshold: str) -> str:
    """Returns CMC in the notation of planners."""
    return f"cmc(prob={int(prob) / 100},threshold={int(threshold) / 100},c=0.3)"


def havannah_settings(games: int, seed: int) -> list[Setting]:
    """Returns the settings of [CMC Figure 3]. Raises ValueError for an odd number of games."""
    return [
        Setting(
            {"base": base, "prob": prob, "B": threshold},
            Match("havannah_v0", planner_of(prob, threshold), UCT, {"base": int(base)}, BUDGETS["1000 playouts"], games, seed),
            PAPER.get((prob, threshold)),
        )
        for base in BASES
        for prob, threshold in pairs()
    ]


def other_settings(game: str, settings: Mapping[str, Any], games: int, seed: int) -> list[Setting]:
    """Returns the settings of another game, at equal playouts and in equal time. Raises ValueError for an odd number of
    games."""
    return [
        Setting(
            {"budget": name, "prob": prob, "B": threshold},
            Match(game, planner_of(prob, threshold), UCT, settings, budget, games, seed),
        )
        for name, budget in BUDGETS.items()
        for prob, threshold in pairs()
    ]


def program(name: str, policy: str = "") -> str:
    """Returns a program of the tables with a playout policy, or without."""
    return PROGRAMS[name].format(f",policies='{policy}'" if policy else "")


def havannah(name: str, policy: str, base: str, games: int, seed: int) -> Match:
    """Returns the match of a program with a policy against the same without it. Raises ValueError for an odd number of
    games."""
    budget = BUDGETS["1000 playouts"]
    return Match("havannah_v0", program(name, policy), program(name), {"base": int(base)}, budget, games, seed)


def over_settings(games: int, seed: int) -> list[Setting]:
    """Returns both plots of [CMC Figure 3] over stronger programs. Raises ValueError for an odd number of games."""
    return [
        Setting(
            {"over": name, "base": base, "prob": prob, "B": threshold},
            havannah(name, f"cmc(prob={int(prob) / 100},threshold={int(threshold) / 100})", base, games, seed),
            PAPER.get((prob, threshold)),
        )
        for name in OVER
        for base in OVER_BASES
        for prob, threshold in pairs()
    ]


def detail_settings(games: int, seed: int) -> list[Setting]:
    """Returns the table of details at prob 35 and B = 0. Raises ValueError for an odd number of games."""
    return [
        Setting(
            {"over": name, "base": base, "detail": detail},
            havannah(name, f"cmc(prob=0.35{options})", base, games, seed),
            PAPER["35", "0"],
        )
        for name in PROGRAMS
        for base in DETAIL_BASES
        for detail, options in DETAILS.items()
    ]


def zero_settings(games: int, seed: int) -> list[Setting]:
    """Returns CMC at prob 0 on each base. Raises ValueError for an odd number of games."""
    return [Setting({"base": base}, havannah("UCT", "cmc(prob=0)", base, games, seed)) for base in BASES]


def draw_over(rows: Sequence[Row]) -> Any:
    """Draws the plots of `draw` over each program, one row of panels each."""
    fixed = ("B = 0", *(f"prob = {prob}" for prob in FIXED))
    panels = [(name, title) for name in OVER for title in fixed]
    figure, axes = picture.panels(
        [f"over {name}, {title}" for name, title in panels], "percent", "points in percent", columns=3
    )
    for axis, (name, title) in zip(axes, panels, strict=True):
        these = [row for row in rows if row["over"] == name]
        across, places = ("prob", PROBS) if title == "B = 0" else ("B", THRESHOLDS)
        other, level = ("B", "0") if across == "prob" else ("prob", title.rpartition(" ")[2])
        _points(axis, [row for row in these if row[other] == level], across, places, "base", "without CMC")
    picture.legend(figure)
    return figure


def draw_details(rows: Sequence[Row]) -> Any:
    """Draws points over the details, a panel for each program."""
    figure, axes = picture.panels([f"Havannah, over {name}" for name in PROGRAMS], "detail", "points in percent")
    for axis, name in zip(axes, PROGRAMS, strict=True):
        picture.lines(axis, [row for row in rows if row["over"] == name], "detail", tuple(DETAILS), "base", "o")
        picture.level(axis, 50.0, "without CMC", "--")
        axis.tick_params(axis="x", rotation=20)
    picture.legend(figure)
    return figure


def draw_zero(rows: Sequence[Row]) -> Any:
    """Draws points over the base."""
    figure, (axis,) = picture.panels(["Havannah, CMC at prob 0"], "base", "points in percent")
    picture.lines(axis, [{**row, "prob": "0"} for row in rows], "base", BASES, "prob", "o")
    picture.level(axis, 50.0, "even", "--")
    picture.legend(figure)
    return figure


def draw(game: str, line: str, rows: Sequence[Row]) -> Any:
    """Draws points against UCT over prob and over B, a line for each label of `line`; crosses: the paper."""
    titles = [f"{game}, {fixed}" for fixed in ("B = 0", *(f"prob = {prob}" for prob in FIXED))]
    figure, axes = picture.panels(titles, "percent", "points in percent")
    shown = [([row for row in rows if row["B"] == "0"], "prob", PROBS)]
    shown += [([row for row in rows if row["prob"] == prob], "B", THRESHOLDS) for prob in FIXED]
    for axis, (these, across, places) in zip(axes, shown, strict=True):
        _points(axis, these, across, places, line, "UCT")
    picture.legend(figure)
    return figure


def _points(axis: Any, rows: Sequence[Row], across: str, places: Sequence[str], line: str, opponent: str) -> None:
    """Draws points over prob or B in percent, with the paper's, and the level of the opponent."""
    picture.lines(axis, rows, across, places, line)
    picture.paper(axis, rows, across, places)
    axis.set_xlabel(f"{across} in percent")
    picture.level(axis, 50.0, opponent, "--")


EXPERIMENTS = {
    "cmc": Experiment(
        name="cmc",
        title="Havannah, 1,000 playouts a move, CMC against the same UCT without",
        source="[CMC Figure 3]",
        claim="at B = 0 CMC has 57.0 at prob 35 and 56.0 at prob 75; at B = 100 it has 50.0",
        games=400,
        core_hours=0.57,
        settings=havannah_settings,
        draw=partial(draw, "Havannah", "base"),
    ),
    "cmc-hex": Experiment(
        name="cmc-hex",
        title="Hex 7x7, CMC against the same UCT, as in Havannah",
        source="[CMC Figure 3]",
        claim="Havannah only, where CMC has 57.0 at prob 35 and B = 0",
        games=400,
        core_hours=0.22,
        settings=partial(other_settings, "hex_v0", {"size": 7}),
        draw=partial(draw, "Hex 7x7", "budget"),
    ),
    "cmc-go": Experiment(
        name="cmc-go",
        title="Go 9x9, CMC against the same UCT, as in Havannah",
        source="[CMC Figure 3]",
        claim="Havannah only, where CMC has 57.0 at prob 35 and B = 0",
        games=400,
        core_hours=2.2,
        settings=partial(other_settings, "go_v0", {"size": 9}),
        draw=partial(draw, "Go 9x9", "budget"),
    ),
    "cmc-over": Experiment(
        name="cmc-over",
        title="Havannah, 1,000 playouts a move, CMC over RAVE and over UCT with c = sqrt(2), against the same without",
        source="[CMC Figure 3]",
        claim="at B = 0 CMC has 57.0 at prob 35 and 56.0 at prob 75; at B = 100 it has 50.0",
        games=400,
        core_hours=7.2,
        settings=over_settings,
        draw=draw_over,
    ),
    "cmc-details": Experiment(
        name="cmc-details",
        title="Havannah, 1,000 playouts a move, CMC at prob 35 with one detail changed at a time",
        source="[CMC sections 5 and 6]",
        claim="CMC has 57.0 at prob 35 and B = 0; details are left open",
        games=1000,
        core_hours=2.7,
        settings=detail_settings,
        draw=draw_details,
    ),
    "cmc-zero": Experiment(
        name="cmc-zero",
        title="Havannah, 1,000 playouts a move, CMC at prob 0, which is UCT itself",
        source="[CMC Figure 3]",
        claim="nothing: at prob 0 CMC plays no move",
        games=4000,
        core_hours=0.25,
        settings=zero_settings,
        draw=draw_zero,
    ),
}
"""Experiments by name."""
