"""An experiment of a paper: its matches, the paper's figures for them, and the report of ours.

Its games lie in a store. A run that ended early continues where it stopped, and one that asks for more games adds to it.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from ucd_planners import files
from ucd_planners.arena.contest import Contest
from ucd_planners.arena.match import Game, MatchResult
from ucd_planners.arena.schedule import play_matches
from ucd_planners.arena.store import Store
from ucd_planners.experiments import picture, statistics
from ucd_planners.experiments.quick import balanced, common_games, play_evenly
from ucd_planners.intervals import mean_interval, sample_error

Row = dict[str, Any]
"""Results of a setting by column: labels are text, the rest are numbers, or None if unknown."""


@dataclass(frozen=True)
class Setting:
    """One line of an experiment's table."""

    labels: Mapping[str, str]
    """Labels that identify the setting, by column, such as {"planner": "ucd", "d1": "inf", "d2": "0", "d3": "1"}."""
    match: Any
    """Its games: a Match, or another Contest. Several settings may measure the same ones."""
    paper: float | None = None
    """The paper's figure, if it gives one."""


def measured(setting: Setting, games: Sequence[Game]) -> Row:
    """Returns the mean payoff of planner a in percent, with its standard error and its 95% interval, as in Score.

    The row of a match of two planners also has the number of distinct games. One planner's payoffs may be any fractions, so
    their error and interval are those of a sample.
    """
    result = MatchResult(setting.match, list(games))
    score = result.score()
    alone = setting.match.b is None
    error = sample_error(score.payoffs) if alone else score.standard_error
    low, high = mean_interval(score.payoffs) if alone else score.interval
    row: Row = {**setting.labels, "games": score.games, "percent": _percent(score.mean), "standard_error": _percent(error)}
    row |= {"interval_low": _percent(low), "interval_high": _percent(high)}
    if not alone:
        row["distinct_games"] = result.distinct
    row["paper"] = setting.paper
    row["playouts_per_second"] = round(result.playouts_per_second(0)) if games else None
    return row


def _percent(share: float) -> float | None:
    return None if isnan(share) else round(100 * share, 4)


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper, and its settings here."""

    name: str
    title: str
    source: str
    """Place in the paper."""
    claim: str
    """The paper's statement of its results, beyond the figures of the table."""
    games: int
    """Number of games, or runs, of each setting in the paper."""
    settings: Callable[[int, int], list[Setting]]
    """Returns the settings, given the number of games of each and the seed."""
    draw: Callable[[Sequence[Row]], Any]
    """Returns a matplotlib figure of the rows."""
    measure: Callable[[Setting, Sequence[Game]], Row] = measured
    """Returns the row of a setting, given its games."""
    summary: Callable[[Sequence[Row]], list[Row]] | None = None
    """Returns rows of a second table, drawn from the first. None for an experiment without one."""
    core_hours: float | None = None
    """CPU time of all its games in hours, by a game of every setting after its kernels were compiled; None if not measured."""


@dataclass(frozen=True)
class Report:
    """The results of an experiment's run."""

    rows: list[Row]
    missing: int
    """Number of games that were asked for and are missing, since the run was stopped."""
    summary: list[Row]
    """The second table; empty for an experiment without one."""
    files: list[Path]
    """Files of the games, the rows and the picture. Only the games where the other files stay."""
    games: int | None = None
    """Most games that a line may have in a quick or a stopped run, so that all lines have equally many. None for all games."""


def reproduce(
    experiment: Experiment,
    settings: Sequence[Setting],
    store: Store,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Callable[[Contest, list[Game]], None] | None = None,
    played: Sequence[Setting] | None = None,
    force: bool = False,
    quick: float | None = None,
) -> Report:
    """Plays the games of an experiment's settings that a store lacks, and writes the rows and the picture beside the store.

    jobs, executor, progress and Ctrl-C: as in play_matches. played: the settings whose games are played, by default all; the
    others have the games in the store. force: whether a table is replaced that has more games in one of its rows, and its
    picture; by default they stay. quick: seconds after which it ends; games are then spread evenly over the settings. Rows of a
    quick or a stopped run have the same even number of games, or all that there are where no setting has a pair. Raises
    ImportError, before any game, when a library that it needs is not installed, and OSError for a file that cannot be written.
    """
    needed(experiment)
    played, failed = settings if played is None else played, 0

    def report(contest: Contest, finished: list[Game]) -> None:
        nonlocal failed
        failed += sum(bool(game.failure) for game in finished)
        if progress is not None:
            progress(contest, finished)

    if quick is None:
        play_matches(contests(played), store, jobs, executor, report)
    else:
        play_evenly(contests(played), store, quick, jobs, executor, report)
    missing = sum(len(store.missing(contest)) for contest in contests(played))
    most = None
    if quick is not None or missing > failed:  # a game that failed ends no run
        most = common_games(contests(played), store) or (None if quick is None else 0)
    cut = contests(settings if quick is not None else played) if most is not None else []
    games = {id(contest): store.games(contest) for contest in contests(settings)}
    games |= {id(contest): balanced(games[id(contest)], most or 0) for contest in cut}
    rows = [experiment.measure(setting, games[id(setting.match)]) for setting in settings]
    table, drawing = (store.path.with_suffix(suffix) for suffix in (".csv", ".svg"))
    columns = dict.fromkeys(column for setting in settings for column in setting.labels)
    summary = [] if experiment.summary is None else experiment.summary(rows)
    if not force and not replaceable(table, rows, columns):
        return Report(rows, missing, summary, [store.path], most)
    write_rows(rows, table)
    picture.save(experiment.draw(rows), drawing)
    return Report(rows, missing, summary, [store.path, table, drawing], most)


def contests(settings: Sequence[Setting]) -> list[Contest]:
    """Returns the contests of settings, each once."""
    return list({id(setting.match): setting.match for setting in settings}.values())


def needed(experiment: Experiment) -> None:
    """Raises ImportError for a library that an experiment needs and that is not installed."""
    picture.library()
    if experiment.summary is not None:
        statistics.library()


def replaceable(path: Path, rows: Sequence[Row], labels: Collection[str]) -> bool:
    """Returns whether a table may give way to rows: there is none, or each of its rows has at most the games of the new one.

    labels: the columns that identify a row. A file that cannot be read as such a table is not replaceable.
    """
    games = {tuple(row.get(label, "") for label in labels): row["games"] for row in rows}
    try:
        with open(path, newline="", encoding="utf-8") as file:
            old = [(tuple(row[label] for label in labels), int(row["games"])) for row in csv.DictReader(file)]
    except FileNotFoundError:
        return True
    except (OSError, ValueError, KeyError, TypeError, csv.Error):
        return False
    return all(count <= games.get(place, 0) for place, count in old)


def with_labels(settings: Sequence[Setting], labels: Mapping[str, Sequence[str]]) -> list[Setting]:
    """Returns the settings that have one of the wanted labels in each named column.

    labels: column to texts, each a label or several with commas between them. Labels may have commas themselves.
    Raises ValueError for a column or a label that no setting has.
    """
    wanted: dict[str, set[str]] = {}
    for column, texts in labels.items():
        known = dict.fromkeys(label for setting in settings if (label := setting.labels.get(column)))
        if not known:
            columns = dict.fromkeys(column for setting in settings for column in setting.labels)
            raise ValueError(f"settings have no column {column!r}: expected one of {', '.join(columns)}")
        longest_first = sorted(known, key=len, reverse=True)
        for text in texts:
            rest = f"{text},"
            while rest:
                label = next((label for label in longest_first if rest.startswith(f"{label},")), None)
                if label is None:
                    unknown = rest.partition(",")[0]
                    raise ValueError(f"no setting has {column} = {unknown!r}: expected one of {', '.join(known)}")
                wanted.setdefault(column, set()).add(label)
                rest = rest[len(label) + 1 :]
    return [setting for setting in settings if all(setting.labels.get(column) in some for column, some in wanted.items())]


def write_rows(rows: Sequence[Row], path: Path) -> None:
    """Writes rows as comma-separated values, completely or not at all. Unknown values are left empty."""

    def write(part: Path) -> None:
        with open(part, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    files.save(path, write)
