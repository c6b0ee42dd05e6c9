"""An experiment of a paper: contests, the paper's figures for them, and how ours are told.

Its games lie in a store, so a run that ended early goes on where it was, and one that asks for more games adds to it.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from ucd_planners.arena.match import Contest, Game, Match, MatchResult
from ucd_planners.arena.schedule import play_contests
from ucd_planners.arena.store import Store
from ucd_planners.experiments import picture

Row = dict[str, Any]
"""What is known of a setting, by column: labels are text, the rest are numbers, None where there is none."""


@dataclass(frozen=True)
class Setting:
    """One line of an experiment's table."""

    labels: Mapping[str, str]
    """What tells it from the others, by column, such as {"planner": "ucd", "d1": "inf", "d2": "0", "d3": "1"}."""
    contest: Contest
    paper: float | None = None
    """The paper's figure, where it gives one."""


def measured(setting: Setting, games: Sequence[Game]) -> Row:
    """The mean payoff of planner a in percent, with its standard error.

    The standard error is sqrt(p (1 - p) / n) in a match, whose row also has Wilson's 95% interval and the number of distinct
    games; in a solo it is that of the mean of the payoffs.
    """
    count, contest = len(games), setting.contest
    row: Row = {**setting.labels, "games": count, "percent": _percent(fmean(game.payoff for game in games) if games else None)}
    if isinstance(contest, Match):
        result = MatchResult(contest, list(games))
        share = result.tally().share
        low, high = result.tally().interval
        row["standard_error"] = _percent(sqrt(share * (1 - share) / count) if games else None)
        row |= {"wilson_low": _percent(low), "wilson_high": _percent(high), "distinct_games": result.distinct}
    else:
        row["standard_error"] = _percent(stdev(game.payoff for game in games) / sqrt(count) if count > 1 else None)
    row["paper"] = setting.paper
    cpu = sum(game.cpu_seconds[0] for game in games)
    row["playouts_per_second"] = round(sum(game.playouts[0] for game in games) / max(cpu, 1e-9)) if games else None
    return row


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 4)


@dataclass(frozen=True)
class Experiment:
    """What a paper did, and how it is done here."""

    name: str
    title: str
    source: str
    """Where in which paper."""
    said: str
    """What the paper says of its results beyond the figures of the table."""
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
    """The games, the rows and the picture."""


def reproduce(
    experiment: Experiment,
    settings: Sequence[Setting],
    store: Store,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Callable[[Contest, list[Game]], None] | None = None,
    played: Sequence[Setting] | None = None,
) -> Report:
    """Plays what a store lacks of an experiment's settings, and writes the rows and the picture beside the store.

    jobs, executor, progress and Ctrl-C: as in play_contests; a run that was stopped reports what there is. played: the settings
    of which games are played, by default all; the others have the games that the store has.
    Raises ImportError, before any game, when the library that draws is not there.
    """
    picture.library()
    played = settings if played is None else played
    play_contests([setting.contest for setting in played], store, jobs, executor, progress)
    rows = [experiment.measure(setting, store.games(setting.contest)) for setting in settings]
    missing = sum(len(store.missing(setting.contest)) for setting in played)
    table, drawing = (store.path.with_suffix(suffix) for suffix in (".csv", ".svg"))
    write_rows(rows, table)
    picture.save(experiment.draw(rows), drawing)
    return Report(rows, missing, [store.path, table, drawing])


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
