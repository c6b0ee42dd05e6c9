"""The experiments of [UCD section 4] on ten games of General Game Playing, Tables 3 to 12: Saffidine, Cazenave and Mehat, 2012.

(d1, d2, d3) in {0, 1, 2}^3 against UCT without transpositions. The paper's constant of 40 on goals from 0 to 100 is c = 0.4.
It gave 10 seconds a move to an interpreter of rules; a number of playouts stands for that here. It does not say what is kept
between moves, so every table has two readings: "fresh", in which both sides begin anew, and "kept", in which UCD keeps its
graph and UCT does not keep its tree.

Planners maximise payoffs, of which CrissCross pays 1 and 1/4. A game here is won by the higher payoff, and equal ones are half
a win for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

from ucd_planners.arena.match import Game, Match
from ucd_planners.experiments import picture
from ucd_planners.experiments.experiment import Experiment, Row, Setting, measured
from ucd_planners.experiments.statistics import against, holm, homogeneity, rank_correlation

DEPTHS = tuple(product("012", repeat=3))
"""(d1, d2, d3) in the order of the paper's tables."""
UCT = "uct(c=0.4,stop_early=true)"
"""The opponent. It ends a search when the move is decided, which changes no move."""
READINGS = {"fresh": "stop_early=true", "kept": "reuse_graph=true"}
"""Options of UCD. A graph that is kept is searched to the end of the budget."""
PAPER_ERROR = 3.5
"""Standard error of the paper's percentages, of about 200 games each."""


class Table(NamedTuple):
    """A table of the paper and the playouts a move that stand for its 10 seconds."""

    number: int
    playouts: int
    percents: tuple[float, ...]
    """Percent of points, in the order of DEPTHS."""


# fmt: off
TABLES = {
    "breakthrough": Table(3, 1000, (
        43.4, 49.0, 48.0, 46.5, 50.8, 46.7, 44.4, 49.0, 48.5, 49.0, 52.5, 53.0, 51.5, 50.3, 51.8, 46.0, 50.5, 48.0,
        54.0, 48.7, 51.5, 48.0, 54.1, 49.5, 46.9, 51.3, 53.5)),
    "capture_the_king": Table(4, 1000, (
        54.1, 49.6, 49.2, 46.3, 46.3, 47.6, 52.4, 47.7, 49.4, 56.5, 50.0, 44.9, 48.8, 51.4, 49.4, 49.2, 50.2, 56.1,
        42.3, 46.1, 48.4, 51.4, 48.2, 47.6, 44.9, 50.8, 47.8)),
    "connect_four": Table(5, 2000, (
        52.2, 46.1, 58.3, 66.7, 48.9, 42.8, 58.9, 52.8, 52.8, 69.4, 63.9, 50.6, 61.7, 67.8, 53.3, 66.1, 60.6, 54.4,
        57.2, 56.7, 67.8, 61.1, 58.3, 70.9, 57.2, 62.2, 70.7)),
    "crisscross": Table(6, 2000, (
        58.0, 52.2, 43.1, 61.1, 51.4, 45.8, 62.0, 50.8, 43.5, 56.5, 55.1, 49.6, 57.4, 58.8, 55.0, 57.4, 56.9, 50.0,
        59.7, 54.6, 58.8, 57.9, 56.9, 59.2, 57.9, 58.9, 56.9)),
    "knightthrough": Table(7, 2000, (
        41.2, 55.6, 48.8, 56.4, 53.3, 50.0, 49.5, 49.0, 49.3, 48.6, 56.6, 39.4, 52.6, 53.3, 53.1, 45.7, 51.5, 54.8,
        50.5, 49.1, 48.1, 52.6, 56.9, 43.5, 52.6, 52.6, 52.6)),
    "merrills": Table(8, 1000, (
        49.0, 52.6, 50.8, 50.6, 47.8, 50.0, 47.9, 54.2, 50.4, 55.7, 48.9, 50.2, 46.4, 50.0, 52.5, 47.0, 48.3, 55.8,
        47.8, 52.0, 52.5, 50.8, 52.2, 54.8, 47.7, 47.5, 51.7)),
    "othello": Table(9, 1000, (
        54.1, 50.0, 52.9, 49.3, 46.1, 46.4, 45.7, 50.2, 51.1, 42.1, 46.5, 42.6, 46.9, 59.2, 50.6, 53.4, 47.6, 51.4,
        44.2, 52.9, 46.4, 54.1, 47.0, 51.6, 43.8, 49.8, 53.2)),
    "pawn_whopping": Table(10, 2000, (
        48.0, 53.7, 51.0, 51.2, 52.1, 50.6, 53.8, 48.2, 49.8, 52.0, 50.5, 50.8, 50.8, 59.8, 52.6, 42.8, 57.4, 51.9,
        50.0, 49.0, 49.1, 46.8, 52.1, 52.8, 47.5, 49.0, 58.6)),
    "pentago": Table(11, 2000, (
        55.8, 53.4, 56.0, 55.3, 51.5, 45.5, 52.8, 56.8, 46.2, 46.6, 53.8, 47.2, 51.0, 50.0, 49.8, 51.7, 53.8, 48.3,
        49.6, 52.1, 52.4, 48.3, 52.6, 53.0, 48.9, 53.3, 53.5)),
    "quarto": Table(12, 2000, (
        55.8, 47.4, 49.5, 53.7, 47.5, 49.8, 51.2, 51.9, 47.9, 50.2, 50.7, 50.2, 49.1, 52.1, 49.8, 48.6, 48.9, 48.6,
        50.9, 51.4, 50.4, 51.1, 49.6, 46.2, 51.2, 47.6, 50.2)),
}
# fmt: on
"""[UCD Tables 3 to 12] by our name of the game. The four games that take longest have half of the playouts of the others."""
BUDGETS = {"connect_four": (500, 2000, 8000), "crisscross": (250, 1000, 4000)}
"""Games over the budget: playouts a move."""


def setting(game: str, reading: str, depths: tuple[str, ...], playouts: int, games: int, seed: int) -> Setting:
    """Returns the match of UCD with these depths against UCT."""
    d1, d2, d3 = depths
    planner = f"ucd(d1={d1},d2={d2},d3={d3},c=0.4,{READINGS[reading]})"
    match = Match(f"{game}_v0", planner, UCT, {}, {"playouts": playouts}, games, seed)
    labels = {"game": game, "playouts": str(playouts), "reading": reading, "d1": d1, "d2": d2, "d3": d3}
    return Setting(labels, match, TABLES[game].percents[DEPTHS.index(depths)])


def ggp_settings(games: int, seed: int) -> list[Setting]:
    """Returns the settings of the ten tables, each under both readings. Raises ValueError for an odd number of games."""
    cells = product(TABLES.items(), READINGS, DEPTHS)
    return [setting(game, reading, depths, table.playouts, games, seed) for (game, table), reading, depths in cells]


def budget_settings(games: int, seed: int) -> list[Setting]:
    """Returns the tables of two games at three budgets. Raises ValueError for an odd number of games."""
    cells = [(game, playouts) for game, budgets in BUDGETS.items() for playouts in budgets]
    return [
        setting(game, reading, depths, playouts, games, seed)
        for (game, playouts), reading, depths in product(cells, READINGS, DEPTHS)
    ]


def best_depths(game: str) -> tuple[str, ...]:
    """Returns the depths of the paper's best cell of a game, the first of equal ones."""
    percents = TABLES[game].percents
    return DEPTHS[percents.index(max(percents))]


def best_settings(games: int, seed: int) -> list[Setting]:
    """Returns the paper's best cell of each game under both readings. Raises ValueError for an odd number of games."""
    return [
        setting(game, reading, best_depths(game), table.playouts, games, seed)
        for (game, table), reading in product(TABLES.items(), READINGS)
    ]


def won(setting: Setting, games: Sequence[Game]) -> Row:
    """Returns the share of games won by planner a in percent, as `measured` does, and its mean payoff."""
    points = {True: (1.0, 0.0), False: (0.0, 1.0)}
    decided = [
        replace(game, payoffs=(0.5, 0.5) if game.payoffs[0] == game.payoffs[1] else points[game.payoffs[0] > game.payoffs[1]])
        for game in games
    ]
    return {**measured(setting, decided), "mean_payoff": measured(setting, games)["percent"]}


def tables_of(rows: Sequence[Row]) -> dict[tuple[str, str, str], list[Row]]:
    """Returns the rows of each game, budget and reading."""
    tables: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        tables.setdefault((row["game"], row["playouts"], row["reading"]), []).append(row)
    return tables


def cell_name(row: Row) -> str:
    """Returns depths as the paper writes them."""
    return f"({row['d1']}, {row['d2']}, {row['d3']})"


def compared(rows: Sequence[Row]) -> list[Row]:
    """Returns a row for each table whose cells all have a standard error above 0.

    It has the chi-square of "all cells are equal" for the paper and for ours, the rank correlation of both, and the best cell
    of each.
    """
    found = []
    for (game, playouts, reading), cells in tables_of(rows).items():
        if not all(row["standard_error"] for row in cells):
            continue
        ours, papers = [row["percent"] for row in cells], [row["paper"] for row in cells]
        theirs, best = max(cells, key=lambda row: row["paper"]), max(cells, key=lambda row: row["percent"])
        paper_square, paper_p = homogeneity(papers, [PAPER_ERROR] * len(papers))
        square, p = homogeneity(ours, [row["standard_error"] for row in cells])
        correlation, correlation_p = rank_correlation(papers, ours)
        found.append(
            {
                **{"game": game, "playouts": playouts, "reading": reading},
                **{"paper chi2": round(paper_square, 1), "paper p": round(paper_p, 3)},
                **{"chi2": round(square, 1), "p": round(p, 3)},
                **{"correlation": round(correlation, 2), "correlation p": round(correlation_p, 3)},
                **{"paper's best": cell_name(theirs), "paper": theirs["paper"], "ours there": round(theirs["percent"], 1)},
                **{"best": cell_name(best), "percent": round(best["percent"], 1)},
            }
        )
    return found


def tested(rows: Sequence[Row]) -> list[Row]:
    """Returns a row for each cell with a standard error above 0.

    It has the two-sided p of "as good as UCT", and the same corrected by Holm's method for the number of rows of its reading.
    """
    found = []
    for reading in READINGS:
        cells = [row for row in rows if row["reading"] == reading and row["standard_error"]]
        ps = [against(row["percent"], row["standard_error"], 50.0) for row in cells]
        for row, p, corrected in zip(cells, ps, holm(ps), strict=True):
            found.append(
                {
                    **{"game": row["game"], "reading": reading, "cell": cell_name(row), "paper": row["paper"]},
                    **{"percent": round(row["percent"], 1), "p": round(p, 4), "corrected p": round(corrected, 4)},
                }
            )
    return found


def draw(rows: Sequence[Row]) -> Any:
    """Draws points against UCT over (d1, d2, d3), a panel for each game and budget; crosses: the paper."""
    tables = tables_of(rows)
    panels = list(dict.fromkeys((game, playouts) for game, playouts, _ in tables))
    titles = [f"{game.replace('_', ' ')}, {int(playouts):,} playouts a move" for game, playouts in panels]
    figure, axes = picture.panels(titles, "d1 d2 d3", "points in percent", columns=2)
    places = [" ".join(depths) for depths in DEPTHS]
    for axis, panel in zip(axes, panels, strict=True):
        these = [row for table, cells in tables.items() if table[:2] == panel for row in cells]
        marked = [{**row, "cell": f"{row['d1']} {row['d2']} {row['d3']}"} for row in these]
        _draw_cells(axis, marked, places)
    picture.legend(figure)
    return figure


def draw_best(rows: Sequence[Row]) -> Any:
    """Draws points of one cell of each game against UCT over the games; crosses: the paper."""
    figure, (axis,) = picture.panels(["the paper's best cell of each game"], "game", "points in percent")
    figure.set_size_inches(9, 6)  # names of cells are long
    marked = [{**row, "cell": f"{row['game'].replace('_', ' ')} {cell_name(row)}"} for row in rows]
    places = list(dict.fromkeys(row["cell"] for row in marked))
    _draw_cells(axis, marked, places)
    picture.legend(figure)
    return figure


def _draw_cells(axis: Any, rows: Sequence[Row], places: Sequence[str]) -> None:
    """Draws points of both readings over the labels of column `cell`, the paper's figures, and the level of UCT."""
    picture.lines(axis, rows, "cell", places, "reading", "o")
    picture.paper(axis, rows, "cell", places)
    picture.level(axis, 50.0, "UCT", "--")
    axis.tick_params(axis="x", rotation=90)


SHOWN = ("(0, 0, 0)", "(1, 0, 0)", "(1, 0, 1)", "(0, 1, 2)", "(2, 1, 2)")
"""Cells of the picture over budgets: extremes of Connect 4 in the paper, and common choices."""


def draw_budgets(rows: Sequence[Row]) -> Any:
    """Draws points of some cells against UCT over the budget, a panel for each game and reading."""
    panels = [(game, reading) for game in BUDGETS for reading in READINGS]
    titles = [f"{game.replace('_', ' ')}, {reading}" for game, reading in panels]
    figure, axes = picture.panels(titles, "playouts a move", "points in percent", columns=2)
    named = [{**row, "(d1, d2, d3)": cell_name(row)} for row in rows if cell_name(row) in SHOWN]
    for axis, (game, reading) in zip(axes, panels, strict=True):
        these = [row for row in named if (row["game"], row["reading"]) == (game, reading)]
        picture.lines(axis, these, "playouts", [str(playouts) for playouts in BUDGETS[game]], "(d1, d2, d3)")
        picture.level(axis, 50.0, "UCT", "--")
    picture.legend(figure)
    return figure


CLAIM = "transpositions help clearly at Connect 4 (70.9 at best) and CrissCross, little or nothing in the other games"
EXPERIMENTS = {
    "ucd-ggp": Experiment(
        name="ucd-ggp",
        title="Ten games of General Game Playing against UCT without transpositions, c = 0.4",
        source="[UCD Tables 3 to 12]",
        claim=CLAIM,
        games=200,
        settings=ggp_settings,
        draw=draw,
        measure=won,
        summary=compared,
    ),
    "ucd-ggp-budgets": Experiment(
        name="ucd-ggp-budgets",
        title="Two games of General Game Playing at three budgets, against UCT without transpositions, c = 0.4",
        source="[UCD Tables 5 and 6]",
        claim=CLAIM,
        games=200,
        core_hours=2.5,
        settings=budget_settings,
        draw=draw_budgets,
        measure=won,
        summary=compared,
    ),
    "ucd-ggp-best": Experiment(
        name="ucd-ggp-best",
        title="The paper's best cell of ten games of General Game Playing, against UCT without transpositions, c = 0.4",
        source="[UCD Tables 3 to 12]",
        claim="these cells score 54.1 to 70.9",
        games=1000,
        core_hours=0.35,
        settings=best_settings,
        draw=draw_best,
        measure=won,
        summary=tested,
    ),
}
"""Experiments by name."""
