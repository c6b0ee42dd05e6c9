"""Pictures of experiments: panels of lines with error bars, drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ucd_planners import files

FEW = 100
"""Games below which a figure is marked in tables and pictures."""
MARK = f"open: fewer than {FEW} games"


def library() -> Any:
    """Returns the drawing library. Raises ImportError, naming the extra that installs it."""
    try:
        import matplotlib.figure
    except ImportError:
        raise ImportError("pictures need matplotlib: pip install 'ucd-planners[plot]'") from None
    return matplotlib


def panels(
    titles: Sequence[str], across: str, up: str, columns: int | None = None, bars: str = "one standard error"
) -> tuple[Any, list[Any]]:
    """Returns a figure and its panels with a common scale, given their titles and the names of both axes.

    They stand side by side, or in rows of `columns` panels. `bars`: the meaning of error bars.
    """
    columns = min(columns or len(titles), len(titles))
    rows = -(-len(titles) // columns)
    figure = library().figure.Figure(figsize=(2 + 5.5 * columns, 4.5 * rows), layout="constrained")
    places = figure.subplots(rows, columns, sharey=True, squeeze=False).flatten()
    axes = list(places[: len(titles)])
    for axis, title in zip(axes, titles, strict=True):
        axis.set(title=title, xlabel=across)
        axis.grid(alpha=0.3)
    for axis in axes[::columns]:
        axis.set_ylabel(f"{up} (bars: {bars})")
    for axis in places[len(titles) :]:
        axis.remove()
    return figure, axes


def lines(
    axis: Any, rows: Sequence[dict[str, Any]], across: str, places: Sequence[str], line: str, style: str = "o-", note: str = ""
) -> None:
    """Draws percentages with their standard errors, over the labels of column `across`, a line for each label of `line`.

    The labels stand in the order of `places` at equal distances, since they may be words such as "inf". Lines are shifted a
    little from each other, so that their error bars do not overlap. `note` is added to their names.
    """
    names = list(dict.fromkeys(row[line] for row in rows))
    for i, name in enumerate(names):
        these = [row for row in rows if row[line] == name and row["percent"] is not None]
        along = [places.index(row[across]) + 0.06 * (i - (len(names) - 1) / 2) for row in these]
        axis.errorbar(
            along,
            [row["percent"] for row in these],
            [row["standard_error"] or 0.0 for row in these],
            fmt=style,
            color=f"C{i}",
            capsize=2,
            markersize=4,
            label=f"{line} = {name}{note}",
        )
        _mark_few(axis, along, these, f"C{i}", 4)
    axis.set_xticks(range(len(places)), places)


def intervals(
    axis: Any, rows: Sequence[dict[str, Any]], across: str, places: Sequence[str], line: str, bounds: tuple[str, str]
) -> None:
    """Draws percentages as `lines` does, with the intervals in two columns of the rows as bars."""
    names = list(dict.fromkeys(row[line] for row in rows))
    for i, name in enumerate(names):
        these = [row for row in rows if row[line] == name and row["percent"] is not None]
        along = [places.index(row[across]) + 0.1 * (i - (len(names) - 1) / 2) for row in these]
        axis.errorbar(
            along,
            [row["percent"] for row in these],
            _reaches(these, bounds),
            fmt="o",
            color=f"C{i}",
            capsize=2,
            label=f"{line} = {name}",
        )
        _mark_few(axis, along, these, f"C{i}", 6)
    axis.set_xticks(range(len(places)), places)


def curves(axis: Any, rows: Sequence[dict[str, Any]], across: str, line: str) -> None:
    """Draws percentages with their 95% intervals over the numbers of column `across`, both scales logarithmic.

    A percentage of 0 has no place there and is left out.
    """
    for i, name in enumerate(dict.fromkeys(row[line] for row in rows)):
        these = [row for row in rows if row[line] == name and row["percent"]]
        axis.errorbar(
            [float(row[across]) for row in these],
            [row["percent"] for row in these],
            _reaches(these, ("interval_low", "interval_high")),
            fmt="o-",
            color=f"C{i}",
            capsize=2,
            markersize=3,
            linewidth=1,
            label=name,
        )
        _mark_few(axis, [float(row[across]) for row in these], these, f"C{i}", 3)
    if any(row["percent"] for row in rows):  # a logarithmic scale needs a number
        axis.set(xscale="log", yscale="log")


def _mark_few(axis: Any, along: Sequence[float], rows: Sequence[dict[str, Any]], colour: str, size: float) -> None:
    """Draws an open circle at each figure of few games. Those of a paper have None."""
    counts = [FEW if row["games"] is None else row["games"] for row in rows]
    few = [(place, row["percent"]) for place, row, games in zip(along, rows, counts, strict=True) if games < FEW]
    if few:
        known = axis.get_legend_handles_labels()[1]
        label = "_" if MARK in known else MARK  # matplotlib leaves a name out that begins so
        axis.plot(*zip(*few, strict=True), "o", color=colour, markerfacecolor="white", markersize=size, zorder=3, label=label)


def _reaches(rows: Sequence[dict[str, Any]], bounds: tuple[str, str]) -> list[list[float]]:
    """Returns how far the bars of rows reach down and up."""
    low, high = bounds
    return [[row["percent"] - row[low] for row in rows], [row[high] - row["percent"] for row in rows]]


def paper(axis: Any, rows: Sequence[dict[str, Any]], across: str, places: Sequence[str]) -> None:
    """Draws the paper's figures of rows, if there are any, as crosses over the labels of column `across`. Equal ones are
    drawn once."""
    told = sorted({(places.index(row[across]), row["paper"]) for row in rows if row["paper"] is not None})
    if told:
        axis.plot(*zip(*told, strict=True), "kx", label="the paper", zorder=3)


def legend(figure: Any) -> None:
    """Names everything shown, once each, to the right of all panels."""
    shown: dict[str, Any] = {}
    for axis in figure.axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            shown.setdefault(label, handle)
    figure.legend(shown.values(), shown.keys(), loc="outside right upper", fontsize="small")


def level(axis: Any, percent: float | None, label: str, style: str, colour: str = "gray") -> None:
    """Draws a horizontal line at a percentage, if there is one."""
    if percent is not None:
        axis.axhline(percent, linestyle=style, color=colour, label=label)


def save(figure: Any, path: Path) -> None:
    """Writes a figure as SVG, completely or not at all. Equal figures give equal files."""
    with library().rc_context({"svg.hashsalt": path.stem}):
        files.save(path, lambda part: figure.savefig(part, format="svg", metadata={"Date": None}))


def scores(rows: Sequence[dict[str, Any]], title: str) -> Any:
    """Returns a figure with a line for each configuration of a store: its percentage and 95% interval.

    rows: as Summary.row returns them, with games.
    """
    figure = library().figure.Figure(figsize=(14, 1.5 + 0.32 * len(rows)), layout="constrained")
    axis = figure.subplots()
    places = range(len(rows))
    axis.errorbar(
        [row["percent"] for row in rows],
        places,
        xerr=_reaches(rows, ("interval_low", "interval_high")),
        fmt="o",
        capsize=3,
        markersize=5,
    )
    axis.axvline(50.0, color="gray", linestyle="--", linewidth=1)
    one_game = len({row["game"] for row in rows}) == 1
    names = [" against ".join(_short(row[side], 44) for side in "ab" if row[side] is not None) for row in rows]
    games = ["" if one_game else f"{_short(row['game'], 24)}: " for row in rows]
    labels = [f"{row['configuration']}. {game}{name}" for row, game, name in zip(rows, games, names, strict=True)]
    axis.set_yticks(places, labels, fontsize=8)
    axis.invert_yaxis()
    axis.set(
        xlim=(-2, 102), xlabel="percent of a, with its 95% interval", title=f"{title}: {rows[0]['game']}" if one_game else title
    )
    axis.grid(alpha=0.3, axis="x")
    return figure


def ladders(rungs: Mapping[str, Sequence[dict[str, Any]]]) -> Any:
    """Returns a figure with a line for each game: Elo over playouts, with 95% intervals.

    rungs: by game, the players of its ladder that have `playouts`, with `elo` and `interval`, whose ends may be None.
    """
    figure = library().figure.Figure(figsize=(10, 6), layout="constrained")
    axis = figure.subplots()
    shift = 0.012
    for place, (name, players) in enumerate(rungs.items()):
        apart = 10 ** (shift * (place - (len(rungs) - 1) / 2))  # so that bars do not overlap
        ends = [[player["elo"] if end is None else end for end in player["interval"]] for player in players]
        axis.errorbar(
            [player["playouts"] * apart for player in players],
            [player["elo"] for player in players],
            [
                [player["elo"] - low for player, (low, _) in zip(players, ends, strict=True)],
                [high - player["elo"] for player, (_, high) in zip(players, ends, strict=True)],
            ],
            fmt="o-" if place < 10 else "o--",
            color=f"C{place % 10}",
            capsize=2,
            markersize=3,
            linewidth=1,
            label=name,
        )
    axis.set(xscale="log", xlabel="playouts of UCT a move", ylabel="Elo (bars: 95% intervals where they are finite)")
    axis.grid(alpha=0.3)
    axis.legend(fontsize="x-small")
    return figure


def _short(text: str, most: int) -> str:
    """Returns a text, cut if it is long; a dollar sign would begin a formula."""
    return (text if len(text) <= most else f"{text[: most - 3]}...").replace("$", r"\$")
