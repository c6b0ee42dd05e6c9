"""An experiment in one file: which exploration constant suits UCT in Connect Four on a small board?

Each setting is a match. Its games are kept in a store, so a stopped run continues where it ended, on any number of
processes. The table and the picture are written beside the store.

From the folder of this file: `ucd reproduce write_an_experiment:EXPERIMENT --games 100 --jobs 2`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ucd_planners.arena.match import Match
from ucd_planners.arena.store import Store
from ucd_planners.experiments import picture
from ucd_planners.experiments.experiment import Experiment, Row, Setting, reproduce

BOARD = {"columns": 5, "rows": 4, "in_a_row": 3}
CONSTANTS = ("0.1", "0.3", "0.9")


def settings(games: int, seed: int) -> list[Setting]:
    """Returns one match for each constant against c = 0.3. Both planners have 50 playouts a move."""
    return [
        Setting({"c": c}, Match("connect_four", f"uct(c={c})", "uct(c=0.3)", BOARD, {"playouts": 50}, games, seed))
        for c in CONSTANTS
    ]


def draw(rows: Sequence[Row]) -> Any:
    """Draws points over c, with a horizontal line at one half."""
    figure, (axis,) = picture.panels(["Connect Four 5x4, three in a row"], "c", "points in percent")
    picture.lines(axis, [{**row, "planner": "UCT"} for row in rows], "c", CONSTANTS, "planner")
    picture.level(axis, 50.0, "c = 0.3", "--")
    picture.legend(figure)
    return figure


EXPERIMENT = Experiment(
    name="exploration",
    title="Connect Four 5x4 with three in a row, 50 playouts a move, UCT against UCT with c = 0.3",
    source="(an example)",
    claim="nothing",
    games=200,
    settings=settings,
    draw=draw,
)


def main() -> None:
    """Plays ten games of each setting, and prints their rows."""
    with TemporaryDirectory() as folder, Store(Path(folder) / "exploration.sqlite") as store:
        report = reproduce(EXPERIMENT, settings(games=10, seed=0), store)
    for row in report.rows:
        print(f"c = {row['c']}: {row['percent']:.1f} percent, 95%: {row['interval_low']:.1f} to {row['interval_high']:.1f}")


if __name__ == "__main__":
    main()
