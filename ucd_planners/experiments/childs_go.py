"""The matches of [Childs section 5, Figures 6 and 7]: Go against GNU Go, with transpositions and with move groups.

Groups are those of a small Manhattan distance from the last two moves, beside all legal moves. The paper does not give its
budget and its exploration constant for Go. Here budgets are equal in playouts and equal in time, and the constant is 0.3. GNU
Go plays at its default level, 10.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ucd_planners.arena.match import Game, Match
from ucd_planners.experiments import picture
from ucd_planners.experiments.experiment import Experiment, Row, Setting, measured
from ucd_planners.intervals import wilson

GNU_GO = 'gtp("gnugo --mode gtp --level 10 --chinese-rules --capture-all-dead")'
PLANNERS = {
    "uct0": "uct0(c=0.3)",
    "uct2": "uct2(c=0.3)",
    "uct0, groups": "uct0(c=0.3,groups=manhattan)",
    "uct2, groups": "uct2(c=0.3,groups=manhattan)",
}
BUDGETS: dict[str, dict[str, Any]] = {"30,000 playouts": {"playouts": 30_000}, "0.1 s": {"seconds": 0.1}}
SIZES = ("9", "13")
CONFIDENCE = 0.9


def settings(games: int, seed: int) -> list[Setting]:
    """Returns every planner on both boards under both budgets. Raises ValueError for an odd number of games."""
    return [
        Setting(
            {"size": size, "budget": budget, "planner": name},
            Match("go_v0", text, GNU_GO, {"size": int(size), "komi": 7.5}, limit, games, seed),
        )
        for size in SIZES
        for budget, limit in BUDGETS.items()
        for name, text in PLANNERS.items()
    ]


def measure(setting: Setting, games: Sequence[Game]) -> Row:
    """Returns the row of a match, with the paper's interval of 90%."""
    low, high = wilson(sum(game.payoff for game in games), len(games), CONFIDENCE)
    return {**measured(setting, games), "low_90": round(100 * low, 4), "high_90": round(100 * high, 4)}


def draw(rows: Sequence[Row]) -> Any:
    """Draws points against GNU Go with their 90% intervals, a panel for each board."""
    figure, axes = picture.panels([f"Go {size}x{size}" for size in SIZES], "planner", "wins in percent", bars="90% intervals")
    for axis, size in zip(axes, SIZES, strict=True):
        these = [row for row in rows if row["size"] == size]
        picture.intervals(axis, these, "planner", tuple(PLANNERS), "budget", ("low_90", "high_90"))
        axis.tick_params(axis="x", rotation=20)
    picture.legend(figure)
    return figure


EXPERIMENTS = {
    "childs-go": Experiment(
        name="childs-go",
        title="Go 9x9 and 13x13 against GNU Go at level 10, with transpositions and with move groups, c = 0.3",
        source="[Childs section 5, Figures 6 and 7]",
        claim="groups gain 14 points of percentage over the base on 9x9 and 25 on 13x13",
        games=1000,
        settings=settings,
        draw=draw,
        measure=measure,
    ),
}
"""Experiments by name."""
