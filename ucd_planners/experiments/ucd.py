"""The experiments of [UCD section 4]: Saffidine, Cazenave and Mehat, 2012.

LeftRight consists of transpositions; Hex 5x5 is a real game with few of them. All planners have c = 0.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ucd_planners.arena.match import Match
from ucd_planners.experiments import picture
from ucd_planners.experiments.experiment import Experiment, Row, Setting

UCT, UPDATE_ALL = "uct(c=0.3)", "update_all(c=0.3)"
LEFTRIGHT_DEPTHS = ("0", "1", "2", "3", "4", "5", "6", "8", "10", "inf")
HEX_DEPTHS = ("0", "1", "2", "3", "4", "inf")
READINGS = {
    "plain": "",
    "mean": "final_move=mean",
    "nodes": "store=nodes",
    "urgency 1": "first_play_urgency=1",
    "kept": "reuse_graph=true",
    "all": "expand=all",
    "all, kept": "expand=all,reuse_graph=true",
}
"""Details that the paper leaves open, as options of a planner: the final move by mean, playouts stored at nodes, first-play
urgency, the graph kept between moves, and all positions of a simulation added."""


def ucd(d1: str, d2: str, d3: str) -> str:
    """Returns the planner of these depths."""
    return f"ucd(d1={d1},d2={d2},d3={d3},c=0.3)"


def labels(planner: str, d1: str = "", d2: str = "", d3: str = "") -> dict[str, str]:
    """Returns labels that identify a setting in these experiments."""
    return {"planner": planner, "d1": d1, "d2": d2, "d3": d3}


def leftright(planner: str, games: int, seed: int) -> Match:
    """Returns runs of a planner on LeftRight, 300 steps, 100 playouts a move."""
    return Match("leftright_v0", planner, None, {"steps": 300}, {"playouts": 100}, games, seed)


def leftright_settings(games: int, seed: int) -> list[Setting]:
    """Returns the settings of [UCD Figure 4]: 300 steps, 100 playouts a move. The paper's figures are taken from its text."""

    def run(planner: str) -> Match:
        return leftright(planner, games, seed)

    settings = [
        Setting(labels("uct"), run(UCT), 81.5),
        Setting(labels("update_all"), run(UPDATE_ALL), 77.7),
    ]
    for d2, depths in (("0", LEFTRIGHT_DEPTHS), ("1", ("0", "1", "2", "inf"))):
        for d3 in "012":
            for d1 in depths:
                paper = 99.8 if (d1, d2, d3) == ("inf", "0", "1") else None
                settings.append(Setting(labels("ucd", d1, d2, d3), run(ucd(d1, d2, d3)), paper))
    return settings


def hex_settings(games: int, seed: int) -> list[Setting]:
    """Returns the settings of [UCD Figures 5 and 6]: Hex 5x5 opened at b2, against plain UCT, 1,000 playouts a move for
    both.

    The paper's figures are taken from its text. Raises ValueError for an odd number of games.
    """

    def match(planner: str) -> Match:
        return Match("hex_v0", planner, UCT, {"size": 5, "opening": "b2"}, {"playouts": 1000}, games, seed)

    settings = [Setting(labels("update_all"), match(UPDATE_ALL), 51.5)]
    for d2 in "01":
        for d3 in HEX_DEPTHS:
            for d1 in HEX_DEPTHS:
                paper = 63.5 if (d1, d2, d3) == ("0", "1", "2") else None
                settings.append(Setting(labels("ucd", d1, d2, d3), match(ucd(d1, d2, d3)), paper))
    return settings


def under(reading: str, planner: str) -> str:
    """Returns a planner with the options of a reading."""
    options = READINGS[reading]
    return f"{planner[:-1]},{options})" if options else planner


def leftright_readings(games: int, seed: int) -> list[Setting]:
    """Returns plain UCT, update-all and UCD (0, 0, 0) on LeftRight under each reading."""
    settings = []
    for reading in READINGS:
        for name, planner, paper in (("uct", UCT, 81.5), ("update_all", UPDATE_ALL, 77.7), ("ucd", ucd("0", "0", "0"), None)):
            if reading == "nodes" and name != "ucd":
                continue
            match = leftright(under(reading, planner), games, seed)
            settings.append(Setting({"reading": reading, "planner": name}, match, paper))
    return settings


def hex_readings(games: int, seed: int) -> list[Setting]:
    """Returns the paper's best planner, the simple way and update-all on Hex under each reading, against UCT under the same."""
    settings = []
    for reading in READINGS:
        opponent = UCT if reading == "nodes" else under(reading, UCT)
        for name, planner, paper in (
            ("ucd(0,1,2)", ucd("0", "1", "2"), 63.5),
            ("ucd(1,0,1)", ucd("1", "0", "1"), None),
            ("update_all", UPDATE_ALL, 51.5),
        ):
            if reading == "nodes" and name == "update_all":
                continue
            match = Match(
                "hex_v0", under(reading, planner), opponent, {"size": 5, "opening": "b2"}, {"playouts": 1000}, games, seed
            )
            settings.append(Setting({"reading": reading, "planner": name}, match, paper))
    return settings


def draw_readings(title: str) -> Callable[[Sequence[Row]], Any]:
    """Returns a function that draws percent over readings, with a mark for each planner."""

    def draw(rows: Sequence[Row]) -> Any:
        figure, (axis,) = picture.panels([title], "reading", "percent")
        picture.lines(axis, rows, "reading", tuple(READINGS), "planner", "o")
        picture.legend(figure)
        return figure

    return draw


def percent_of(rows: Sequence[Row], planner: str) -> float | None:
    """Returns the percentage of a planner that has one row, else None."""
    (row,) = (row for row in rows if row["planner"] == planner)
    percent: float | None = row["percent"]
    return percent


def draw_leftright(rows: Sequence[Row]) -> Any:
    """Draws steps to the left over d1; crosses: d2 = 1."""
    figure, (axis,) = picture.panels(["LeftRight, 300 steps, 100 playouts a move"], "d1", "steps to the left in percent")
    picture.lines(axis, [row for row in rows if row["d2"] == "0"], "d1", LEFTRIGHT_DEPTHS, "d3")
    picture.lines(axis, [row for row in rows if row["d2"] == "1"], "d1", LEFTRIGHT_DEPTHS, "d3", "x", ", d2 = 1")
    picture.level(axis, percent_of(rows, "uct"), "UCT", "--")
    picture.level(axis, percent_of(rows, "update_all"), "update-all", ":")
    picture.legend(figure)
    return figure


def draw_hex(rows: Sequence[Row]) -> Any:
    """Draws points against UCT over d1, one panel for each d2."""
    titles = [f"Hex 5x5 against UCT, 1,000 playouts a move, d2 = {d2}" for d2 in "01"]
    figure, axes = picture.panels(titles, "d1", "points in percent")
    for axis, d2 in zip(axes, "01", strict=True):
        picture.lines(axis, [row for row in rows if row["d2"] == d2], "d1", HEX_DEPTHS, "d3")
        picture.level(axis, 50.0, "UCT", "--")
        picture.level(axis, percent_of(rows, "update_all"), "update-all", ":")
    picture.legend(figure)
    return figure


EXPERIMENTS = {
    "leftright": Experiment(
        name="leftright",
        title="LeftRight, 300 steps, 100 playouts a move, c = 0.3",
        source="[UCD Figure 4]",
        claim="d3 = 1 is a huge gain, raising d1 always helps, d2 hardly matters; the best is (inf, 0, 1)",
        games=200,
        core_hours=0.37,
        settings=leftright_settings,
        draw=draw_leftright,
    ),
    "ucd-hex": Experiment(
        name="ucd-hex",
        title="Hex 5x5 opened at b2, 1,000 playouts a move, c = 0.3, against UCT",
        source="[UCD Figures 5 and 6]",
        claim="d1 = 0 is always above 53, d1 = 1 between 48 and 62; the best is (0, 1, 2)",
        games=400,
        core_hours=0.049,
        settings=hex_settings,
        draw=draw_hex,
    ),
    "leftright-readings": Experiment(
        name="leftright-readings",
        title="LeftRight, 300 steps, 100 playouts a move, c = 0.3, under each reading of the paper",
        source="[UCD Figure 4]",
        claim="plain UCT has 81.5 and update-all 77.7",
        games=100,
        core_hours=0.3,
        settings=leftright_readings,
        draw=draw_readings("LeftRight, 300 steps, under each reading"),
    ),
    "ucd-hex-readings": Experiment(
        name="ucd-hex-readings",
        title="Hex 5x5 opened at b2, 1,000 playouts a move, c = 0.3, against UCT, under each reading of the paper",
        source="[UCD Figures 5 and 6]",
        claim="(0, 1, 2) has 63.5 and update-all 51.5",
        games=2000,
        core_hours=0.13,
        settings=hex_readings,
        draw=draw_readings("Hex 5x5 against UCT, under each reading"),
    ),
}
"""Experiments by name."""
