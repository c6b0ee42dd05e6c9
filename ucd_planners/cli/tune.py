"""Subcommand `ucd tune`: a planner's parameters by Optuna, with matches as the measure."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from ucd_planners.cli.console import add_workers, progress, rich, table, usage, workers_of
from ucd_planners.cli.ending import STOPPED
from ucd_planners.cli.match import percent

SHOWN = 10
"""Trials in the table, the best ones."""


def add(commands: Any) -> None:
    """Adds `ucd tune`."""
    parser = commands.add_parser(
        "tune",
        allow_abbrev=False,
        help="tunes a planner's parameters by matches",
        description="Proposes parameters of a planner with Optuna, plays each proposal against an opponent, and plays the best "
        "one again on fresh seeds: its score among the proposals is too high, since luck chose it too. Weak proposals are "
        "pruned early. The result depends neither on the number of jobs nor on the executor. With --store a tuning that was "
        "stopped goes on by the same command, also with more --trials. Other options are the game's settings.",
        epilog='example: ucd tune --game hex --size 5 --a "uct" --range c=0.05:2.0:log --playouts 500 --trials 20 --jobs 2',
    )
    parser.add_argument("--game", required=True, help="a registered game, with or without its version")
    parser.add_argument("--a", required=True, help="the planner to tune, such as uct, or with {name} for a value inside a text")
    parser.add_argument("--b", help="the opponent (default: the planner as it is)")
    parser.add_argument(
        "--range",
        dest="ranges",
        action="append",
        metavar="NAME=RANGE",
        help="values of a parameter: low:high, low:high:log, or values such as true,false; whole numbers if neither end has a "
        "point; may be repeated",
    )
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument("--playouts", type=int, help="playouts a move (default 1000)")
    budget.add_argument("--seconds", type=float, help="seconds a move")
    parser.add_argument("--trials", type=int, default=40, help="proposals (default 40)")
    parser.add_argument("--games", type=int, default=100, help="of each proposal that is not pruned (default 100)")
    parser.add_argument("--again", type=int, default=400, help="of the best one, on fresh seeds (default 400)")
    parser.add_argument("--at-once", type=int, default=4, help="proposals made together (default 4); more for many workers")
    parser.add_argument("--seed", type=int, default=0, help="default 0")
    add_workers(parser)
    parser.add_argument("--store", metavar="FILE", help="keep the games there, from where the same command goes on")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from ucd_planners.arena.store import Store
    from ucd_planners.arena.tuning import Tuning, library, range_from, tune

    with usage():
        rich()
        library()
        budget = {"playouts": 1000 if arguments.playouts is None else arguments.playouts}
        if arguments.seconds is not None:
            budget = {"seconds": arguments.seconds}
        tuning = Tuning(
            arguments.game,
            arguments.a,
            tuple(map(range_from, arguments.ranges or ())),
            arguments.b,
            arguments.settings,
            budget,
            *(arguments.trials, arguments.games, arguments.again, arguments.seed, arguments.at_once),
        )
    with workers_of(arguments) as (jobs, executor), tempfile.TemporaryDirectory() as unkept:
        with usage():
            store = Store(arguments.store or Path(unkept) / "games.sqlite")
        with store, progress(tuning.trials + 1, "trials") as advance:
            tuned = tune(tuning, store, jobs, executor, lambda trial: advance())
    if arguments.json:
        print(json.dumps(_object(tuning, tuned)))
    else:
        _show(tuning, tuned)
    return STOPPED if tuned.again is None else 0


def _score(score: Any) -> dict[str, Any]:
    """Returns a score as an object, in percent."""
    return {"games": score.games, "percent": percent(score.mean), "interval_95": [percent(end) for end in score.interval]}


def _object(tuning: Any, tuned: Any) -> dict[str, Any]:
    """Returns a tuning as one object."""
    best = tuned.best
    trials = [
        {"number": trial.number, "values": trial.values, "pruned": trial.pruned, **_score(trial.score)}
        for trial in tuned.trials
    ]
    return {
        **{"game": tuning.game, "settings": dict(tuning.settings), "a": tuning.a, "b": tuning.opponent, **tuning.budget},
        "stopped": tuned.again is None,
        "best": None if best is None else {"planner": best.planner, "values": best.values},
        "chosen_by": None if best is None else _score(best.score),
        "again": None if tuned.again is None else _score(tuned.again.score()),
        "trials": trials,
    }


def _show(tuning: Any, tuned: Any) -> None:
    """Prints the best trials and the winner's score on fresh seeds."""
    ranked = sorted(tuned.trials, key=lambda trial: (trial.pruned, -trial.score.mean))[:SHOWN]
    budget = ", ".join(f"{value:,} {key}" for key, value in tuning.budget.items())
    print(f"{tuning.game}, {budget} a move" + (f", against {tuning.opponent}" if tuning.opponent is not None else ""))
    if ranked:
        cells = [[trial.planner, *_cells(trial.score), "pruned" if trial.pruned else ""] for trial in ranked]
        table(["planner", "games", "percent", "95% interval", ""], cells)
    pruned = sum(trial.pruned for trial in tuned.trials)
    print(f"{len(tuned.trials)} of {tuning.trials} trials, {pruned} of them pruned")
    if tuned.again is None:
        print("stopped: with --store the same command goes on")
        return
    score, chosen = tuned.again.score(), tuned.best.score
    low, high = (100 * end for end in score.interval)
    print(f"the best: {tuned.best.planner}")
    print(f"on fresh seeds: {100 * score.mean:.1f}%, 95% interval {low:.1f} to {high:.1f}, of {score.games} games")
    print(f"among the trials: {100 * chosen.mean:.1f}% of {chosen.games} games, too high on average, since luck chose it too")


def _cells(score: Any) -> list[str]:
    low, high = score.interval
    return [str(score.games), f"{100 * score.mean:.1f}", f"{100 * low:.1f} to {100 * high:.1f}"]
