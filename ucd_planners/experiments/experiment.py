"""An experiment of a paper: contests, the paper's figures for them, and how ours are told.

Its games lie in a store, so a run that ended early goes on where it was, and one that asks for more games adds to it.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from ucd_planners.arena.match import Game, Match, MatchResult
from ucd_planners.arena.schedule import play_matches
from ucd_planners.arena.store import Store
from ucd_planners.experiments import picture
from ucd_planners.intervals import mean_interval, sample_error

Row = dict[str, Any]
"""What is known of a setting, by column: labels are text, the rest are numbers, None where there is none."""


@dataclass(frozen=True)
class Setting:
    """One line of an experiment's table."""

    labels: Mapping[str, str]
    """What tells it from the others, by column, such as {"planner": "ucd", "d1": "inf", "d2": "0", "d3": "1"}."""
    match: Match
    paper: float | None = None
    """The paper's figure, where it gives one."""


def measured(setting: Setting, games: Sequence[Game]) -> Row:
    """Returns the mean payoff of planner a in percent, with its standard error and its 95% interval, as in Score.

    The row of a match of two planners has the number of distinct games as well. One planner's payoffs may be any fractions:
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
    """What a paper did, and how it is done here."""

    name: str
    title: str
    source: str
    """Where in which paper."""
    claim: str
    """The paper's words on its results, beyond the figures of the table."""
    games: int
    """How many games, or runs, of each setting the paper had."""
    settings: Callable[[int, int], list[Setting]]
    """The settings, given the number of games of each and the seed."""
    draw: Callable[[Sequence[Row]], Any]
    """A matplotlib figure of the rows."""
    measure: Callable[[Setting, Sequence[Game]], Row] = measured
    """The row of a setting, given its games."""


@dataclass(frozen=True)
class Report:
    """What a run of an experiment leaves."""

    rows: list[Row]
    missing: int
    """Games that were asked for and are not there, since the run was stopped."""
    files: list[Path]
    """The games, the rows and the picture; the games only where the others are of more games."""


def reproduce(
    experiment: Experiment,
    settings: Sequence[Setting],
    store: Store,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Callable[[Match, list[Game]], None] | None = None,
    played: Sequence[Setting] | None = None,
    force: bool = False,
) -> Report:
    """Plays what a store lacks of an experiment's settings, and writes the rows and the picture beside the store.

    jobs, executor, progress and Ctrl-C: as in play_matches; a run that was stopped reports what there is. played: the settings
    of which games are played, by default all; the others have the games that the store has. force: whether a table and a
    picture of more games are replaced; by default they stay.
    Raises ImportError, before any game, when the library that draws is not there.
    """
    picture.library()
    played = settings if played is None else played
    play_matches([setting.match for setting in played], store, jobs, executor, progress)
    rows = [experiment.measure(setting, store.games(setting.match)) for setting in settings]
    missing = sum(len(store.missing(setting.match)) for setting in played)
    table, drawing = (store.path.with_suffix(suffix) for suffix in (".csv", ".svg"))
    if not force and games_in(table) > sum(row["games"] for row in rows):
        return Report(rows, missing, [store.path])
    write_rows(rows, table)
    picture.save(experiment.draw(rows), drawing)
    return Report(rows, missing, [store.path, table, drawing])


def games_in(path: Path) -> int:
    """Returns the games of all rows of a table, 0 where there is none."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            return sum(int(row["games"]) for row in csv.DictReader(file))
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def with_labels(settings: Sequence[Setting], labels: Mapping[str, Collection[str]]) -> list[Setting]:
    """The settings that have one of the labels that are wanted of each column named.

    Raises ValueError for a column or a label that no setting has.
    """
    for column, wanted in labels.items():
        known = dict.fromkeys(label for setting in settings if (label := setting.labels.get(column)))
        if not known:
            columns = dict.fromkeys(column for setting in settings for column in setting.labels)
            raise ValueError(f"settings have no column {column!r}: expected one of {', '.join(columns)}")
        for label in wanted:
            if label not in known:
                raise ValueError(f"no setting has {column} = {label!r}: expected one of {', '.join(known)}")
    return [setting for setting in settings if all(setting.labels.get(column) in wanted for column, wanted in labels.items())]


def write_rows(rows: Sequence[Row], path: Path) -> None:
    """Writes rows as comma-separated values, whole or not at all; what is not known is left empty."""
    unfinished = path.with_name(path.name + ".part")
    with open(unfinished, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    os.replace(unfinished, path)
