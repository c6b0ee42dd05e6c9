"""The list of experiments: their size, the time that they take, and where their last results are."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ucd_planners.arena.store import Store, configuration
from ucd_planners.experiments import MODULES, experiment_named
from ucd_planners.experiments.experiment import Experiment, contests
from ucd_planners.grammar import PROGRAM


def catalogue(folder: Path) -> list[dict[str, Any]]:
    """Returns a row for each experiment of this package.

    core_hours: by the CPU time of the games of a store in the folder, where it has some of every setting, and by their time on
    the clock where a program of its own plays; else as the experiment declares it; None if neither is known. result: the table
    in the folder, or None; result_games: the games of its store.
    """
    return [row(experiment_named(name), folder) for name in MODULES]


def row(experiment: Experiment, folder: Path) -> dict[str, Any]:
    """Returns an experiment's row of the catalogue."""
    settings = experiment.settings(experiment.games, 0)
    played = contests(settings)
    found = {
        "experiment": experiment.name,
        "title": experiment.title,
        "source": experiment.source,
        "settings": len(settings),
        "games": sum(contest.games for contest in played),
        "core_hours": experiment.core_hours,
        "measured_on": None if experiment.core_hours is None else "declared",
        "result": None,
        "result_date": None,
        "result_games": None,
    }
    table, store = folder / f"{experiment.name}.csv", folder / f"{experiment.name}.sqlite"
    if table.is_file():
        changed = datetime.fromtimestamp(table.stat().st_mtime, UTC)
        found |= {"result": str(table), "result_date": changed.date().isoformat()}
    if store.is_file():
        found["result"] = found["result"] or str(store)
        with Store(store, reading=True) as opened:
            spent = opened.cpu_seconds()
            costs = {
                summary.text: (
                    summary.games,
                    summary.seconds if f"{PROGRAM}(" in summary.text else spent.get(summary.number, 0.0),
                )
                for summary in opened.summaries()
            }
        found["result_games"] = sum(games for games, _ in costs.values())
        wanted = [(contest.games, *costs.get(configuration(contest), (0, 0.0))) for contest in played]
        if all(games for _, games, _ in wanted):
            hours = sum(whole * seconds / games for whole, games, seconds in wanted) / 3600
            found |= {"core_hours": round(hours, 3), "measured_on": str(store)}
    return found


def spoken(hours: float | None) -> str:
    """Returns a time in words, such as 20 min, 3.5 h or 4 days."""
    if hours is None:
        return "not measured"
    if hours < 1.5:
        return f"{max(1, round(60 * hours))} min"
    return f"{hours:.1f} h" if hours < 36 else f"{hours / 24:.1f} days"
