"""LeftRight [UCD Figure 4] under the reading that comes near both figures of the paper's text.

The graph is kept between moves, UCT's tree is not, and the untried moves of a position are tried in a fixed order, Right first.
All depths of the figure are run with c = 0.3, and some planners over c. tests/test_leftright_order.py has UCT and update-all
under this reading in plain Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ucd_planners.experiments import picture
from ucd_planners.experiments.experiment import Experiment, Row, Setting
from ucd_planners.experiments.ucd import LEFTRIGHT_DEPTHS, labels, leftright

TREE, GRAPH = "untried=reversed", "untried=reversed,reuse_graph=true"
"""Options of UCT, and of planners on a graph. LeftRight lists Left before Right."""
CONSTANT = "0.3"
"""The paper's c, with which all depths are run."""
CONSTANTS = ("0.03", "0.05", "0.1", "0.2", CONSTANT)
FEW_DEPTHS = (("0", "0", "0"), ("1", "0", "1"), ("inf", "0", "1"))
"""Depths that are run with every c."""
FIGURES: dict[tuple[str, ...], float] = {
    ("uct", "", "", ""): 81.5,
    ("update_all", "", "", ""): 77.7,
    ("ucd", "inf", "0", "1"): 99.8,
}
"""The paper's figures, by planner and depths."""
D3 = ("0", "1", "2")


def settings(games: int, seed: int) -> list[Setting]:
    """Returns UCT, update-all and UCD of each c: 300 steps, 100 playouts a move."""
    every = [(d1, d2, d3) for d2, some in (("0", LEFTRIGHT_DEPTHS), ("1", ("0", "1", "2", "inf"))) for d3 in D3 for d1 in some]
    found = []
    for c in CONSTANTS:
        cells = [
            (labels("uct"), f"uct(c={c},{TREE})"),
            (labels("update_all"), f"update_all(c={c},{GRAPH})"),
            *(
                (labels("ucd", d1, d2, d3), f"ucd(d1={d1},d2={d2},d3={d3},c={c},{GRAPH})")
                for d1, d2, d3 in (every if c == CONSTANT else FEW_DEPTHS)
            ),
        ]
        for told, planner in cells:
            paper = FIGURES.get(cell_of(told)) if c == CONSTANT else None
            found.append(Setting({"c": c, **told}, leftright(planner, games, seed), paper))
    return found


def cell_of(labels: Any) -> tuple[str, ...]:
    """Returns the planner and the depths of a row or of its labels."""
    return tuple(labels[column] for column in ("planner", "d1", "d2", "d3"))


def nearness(rows: Sequence[Row]) -> list[Row]:
    """Returns a row for each c and each figure of the paper's text: how far ours is from it, in points and in standard errors,
    and the place of ours among UCD's depths that were run with this c, 1 for the best.

    Rows without games are left out, and so are standard errors where all runs are equal.
    """
    found = []
    for c in CONSTANTS:
        cells = {cell_of(row): row for row in rows if row["c"] == c and row["percent"] is not None}
        depths = [row["percent"] for cell, row in cells.items() if cell[0] == "ucd"]
        for cell, paper in FIGURES.items():
            if cell not in cells:
                continue
            percent, error = cells[cell]["percent"], cells[cell]["standard_error"]
            name = f"({','.join(cell[1:])})" if cell[0] == "ucd" else cell[0]
            found.append(
                {
                    **{"c": c, "planner": name, "games": cells[cell]["games"], "percent": percent, "paper": paper},
                    "points_off": round(percent - paper, 2),
                    "errors_off": round((percent - paper) / error, 1) if error else None,
                    "place": 1 + sum(other > percent for other in depths) if cell[0] == "ucd" else None,
                    "of": len(depths) if cell[0] == "ucd" else None,
                }
            )
    return found


def draw(rows: Sequence[Row]) -> Any:
    """Draws steps to the left over d1 with the paper's c, crosses for d2 = 1, and over c."""
    titles = [f"LeftRight, the graph kept, Right first, c = {CONSTANT}", "over c"]
    figure, (depths, constants) = picture.panels(titles, "d1", "steps to the left in percent")
    these = [row for row in rows if row["c"] == CONSTANT]
    picture.lines(depths, [row for row in these if row["d2"] == "0"], "d1", LEFTRIGHT_DEPTHS, "d3")
    picture.lines(depths, [row for row in these if row["d2"] == "1"], "d1", LEFTRIGHT_DEPTHS, "d3", "x", ", d2 = 1")
    for row in these:
        if row["planner"] != "ucd":
            picture.level(depths, row["percent"], row["planner"], "--" if row["planner"] == "uct" else ":")
    few = [
        {**row, "planner": row["planner"] if row["planner"] != "ucd" else f"ucd({','.join(cell_of(row)[1:])})"}
        for row in rows
        if row["planner"] != "ucd" or cell_of(row)[1:] in FEW_DEPTHS
    ]
    picture.lines(constants, few, "c", CONSTANTS, "planner")
    constants.set_xlabel("c")
    picture.legend(figure)
    return figure


EXPERIMENTS = {
    "leftright-order": Experiment(
        name="leftright-order",
        title="LeftRight, 300 steps, 100 playouts a move: the graph kept, the tree not, untried moves Right first",
        source="[UCD Figure 4]",
        claim="plain UCT has 81.5 and update-all 77.7, the best is (inf, 0, 1) with 99.8",
        games=100,
        core_hours=2.5,
        settings=settings,
        draw=draw,
        summary=nearness,
    ),
}
"""Experiments by name."""
