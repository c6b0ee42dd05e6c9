"""Subcommand `ucd reproduce`: the experiments of papers."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ucd_planners.cli.console import add_workers, folder, progress, rich, table, usage, workers_of
from ucd_planners.cli.ending import FAILED, STOPPED
from ucd_planners.experiments import MODULES, experiment_named

QUICK = 600.0
"""Seconds of a quick run by default."""


def add(commands: Any) -> None:
    """Adds `ucd reproduce`."""
    parser = commands.add_parser(
        "reproduce",
        allow_abbrev=False,
        help="runs an experiment of a paper",
        description="Runs an experiment of a paper and shows its figures beside ours. The folder then holds the games "
        "(NAME.sqlite), the table (NAME.csv) and a picture (NAME.svg). A run that was stopped goes on where it was. "
        "With --only the games of some settings are played; the table has all that there are. A table that has more games in "
        "one of its lines, and its picture, stay as they are, unless --force says otherwise.",
        epilog="example: ucd reproduce leftright --games 20 --jobs 2",
    )
    parser.add_argument(
        "experiment", nargs="?", help=f"one of {', '.join(MODULES)}, or a reference such as my_module:my_experiment"
    )
    parser.add_argument("--list", action="store_true", help="show all experiments: size, time, and results in the folder")
    parser.add_argument(
        "--quick",
        nargs="?",
        type=float,
        const=QUICK,
        metavar="SECONDS",
        help="a first answer in this time (default 600 s), with equally many games of every setting; a later run goes on",
    )
    parser.add_argument("--games", type=int, help="games of each setting (default: as many as the paper)")
    parser.add_argument(
        "--only", action="append", metavar="COLUMN=LABEL,...", help="play only settings so labelled, such as budget=10k"
    )
    parser.add_argument("--game", dest="of_game", metavar="NAME", help="play the settings of one game, as --only game=NAME")
    add_workers(parser)
    parser.add_argument("--seed", type=int, default=0, help="default 0")
    parser.add_argument("--folder", default="results", help="where the files are (default results)")
    parser.add_argument("--force", action="store_true", help="replace a table and a picture, even of more games")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from ucd_envs import registry
    from ucd_planners.arena.store import Store
    from ucd_planners.experiments.experiment import contests, needed, reproduce, with_labels

    if arguments.list:
        return _list(arguments)
    with usage():
        rich()
        if arguments.experiment is None:
            raise ValueError("name an experiment, as `ucd reproduce --list` shows them")
        if arguments.quick is not None and not 0 < arguments.quick <= 10**7:
            raise ValueError(f"quick must be a number of seconds above 0, at most 10 million, not {arguments.quick}")
        chosen = experiment_named(arguments.experiment)
        needed(chosen)
        games = chosen.games if arguments.games is None else arguments.games
        settings = chosen.settings(games, arguments.seed)
        labels = _labels(arguments.only or [])
        if arguments.of_game is not None:
            labels.setdefault("game", []).append(registry.versioned(arguments.of_game).rpartition("_v")[0])
        played = with_labels(settings, labels)
        store = Store(folder(arguments.folder) / f"{chosen.name}.sqlite")
    with store, workers_of(arguments) as (jobs, executor):
        missing = sum(len(store.missing(contest)) for contest in contests(played))
        failed: list[Any] = []
        with progress(missing, "games") as advance:

            def count(match: Any, games: list[Any]) -> None:
                failed.extend(game for game in games if game.failure)
                for _ in games:
                    advance()

            report = reproduce(chosen, settings, store, jobs, executor, count, played, arguments.force, arguments.quick)
    if arguments.json:
        print(json.dumps(_object(chosen, report)))
    else:
        _show(chosen, report, sum(contest.games for contest in contests(played)), arguments.quick is not None)
    if arguments.quick is not None and any(row["games"] for row in report.rows):
        return 0
    return STOPPED if report.missing > len(failed) else FAILED if report.missing else 0


def _labels(words: list[str]) -> dict[str, list[str]]:
    """Returns the texts of --only by column. Raises ValueError for words that are not COLUMN=LABEL."""
    labels: dict[str, list[str]] = {}
    for word in words:
        column, equals, text = word.partition("=")
        if not (column and equals and text):
            raise ValueError(f"--only must be like budget=10k, or budget=10k,30k for both, not {word!r}")
        labels.setdefault(column, []).append(text)
    return labels


def _object(chosen: Any, report: Any) -> dict[str, Any]:
    """Returns a report as one object."""
    about = {"experiment": chosen.name, "title": chosen.title, "source": chosen.source}
    return {
        **about,
        "missing_games": report.missing,
        **({} if report.games is None else {"games_of_each": report.games}),
        "rows": report.rows,
        "summary": report.summary,
        "files": [str(path) for path in report.files],
    }


def _show(chosen: Any, report: Any, total: int, quick: bool) -> None:
    """Prints the table of the settings that have games, and notes. `total` is the number of games asked for."""
    from ucd_planners.experiments.picture import FEW

    played = [row for row in report.rows if row["games"]]
    print(f"{chosen.title} {chosen.source}")
    if played:
        columns = [column for column in played[0] if column not in ("interval_low", "interval_high", "distinct_games")]
        table(
            [column.replace("_", " ") for column in columns],
            [
                [_cell(column, row[column]) + "*" * (column == "games" and row[column] < FEW) for column in columns]
                for row in played
            ],
        )
    if any(row["games"] < FEW for row in played):
        print(f"* fewer than {FEW} games")
    if report.summary:
        columns = list(report.summary[0])
        table(columns, [[_cell(column, row[column]) for column in columns] for row in report.summary])
    print(f"the paper: {chosen.claim}")
    distinct = [(row["distinct_games"], row["games"]) for row in played if row.get("distinct_games") is not None]
    repeated = sum(count < 0.9 * games for count, games in distinct)
    if repeated:
        print(
            f"fewer than 90% of the games are distinct in {repeated} of {len(played)} lines: their errors are larger than shown"
        )
    print(f"files: {', '.join(str(path) for path in report.files)}")
    if len(report.files) == 1:
        print("the table there has more games or is another one: it stays as it is, and its picture; --force replaces them")
    if quick:
        _show_quick(report)
    elif report.missing:
        if report.games is not None:
            print(f"lines have {report.games} games at most, so that all that are played have equally many")
        print(f"stopped: {report.missing} of {total} games are missing; the same command goes on", file=sys.stderr)


def _show_quick(report: Any) -> None:
    """Prints what a quick run leaves out."""
    if not report.missing:
        print("quick, and whole all the same: no game is missing")
        return
    none = [row for row in report.rows if not row["games"]]
    print(f"quick: {report.games} games of each line; {report.missing} games are missing, which a run without --quick plays")
    if none:
        labels = [column for column, value in report.rows[0].items() if isinstance(value, str)]
        first = ", ".join(" ".join(str(row[label]) for label in labels if row[label]) for row in none[:3])
        print(f"{len(none)} of {len(report.rows)} settings got no pair of games, such as {first}")


def _list(arguments: argparse.Namespace) -> int:
    """Prints the catalogue of experiments."""
    from ucd_planners.experiments.catalogue import catalogue, spoken

    with usage():
        rich()
        if arguments.experiment is not None:
            raise ValueError("--list shows all experiments: it goes without a name")
    rows = catalogue(Path(arguments.folder))
    if arguments.json:
        print(json.dumps(rows))
        return 0
    columns = ["experiment", "settings", "games", "--quick", "whole, one core", "source", "last result"]
    cells = []
    for row in rows:
        hours = row["core_hours"]
        quick = spoken(QUICK / 3600 if hours is None else min(hours, QUICK / 3600))
        last = " ".join(str(row[key]) for key in ("result", "result_date") if row[key])
        cells.append(
            [row["experiment"], f"{row['settings']:,}", f"{row['games']:,}", quick, spoken(hours), row["source"], last]
        )
    table(columns, cells)
    print("whole: by CPU time of the games in the folder, else of a game of every setting; --jobs divides it")
    return 0


def _cell(column: str, value: Any) -> str:
    """Returns a number in readable form."""
    if value is None:
        return ""
    if column in ("percent", "standard_error", "paper", "mean_payoff"):
        return f"{value:.2f}" if column == "standard_error" else f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
