"""Subcommand `ucd match`: two planners against each other or against GTP programs, or one planner alone."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ucd_envs import registry
from ucd_envs.rules import Rules
from ucd_planners.cli.console import add_workers, folder, progress, rich, table, usage, workers_of
from ucd_planners.cli.ending import FAILED, STOPPED
from ucd_planners.intervals import mean_interval, sample_error

SEATS = ("first", "second")


def add(commands: Any) -> None:
    """Adds `ucd match`."""
    parser = commands.add_parser(
        "match",
        allow_abbrev=False,
        help="plays two planners or other agents against each other",
        description="Plays two planners against each other, with seats swapped in pairs, or one alone in a game of one player. "
        "A reference such as my_module:my_name stands for a game, a selection or a policy. Other options are the game's "
        "settings, such as --size 5 --opening b2 for hex. A program that speaks GTP may stand for a planner, such as "
        "gtp('gnugo --mode gtp --level 1 --chinese-rules --capture-all-dead', timeout=60), with seconds for each of its moves; "
        "the budget is not for it. Our rules decide: of Go by area, where all stones left on the board are alive. A game in "
        "which it fails (no answer in time, an illegal move, a crash) counts for nobody, and the command's status is then 1. "
        "The word random stands for a player whose moves are all equally likely, my_module:my_function for a function "
        "(observation, mask, rng) -> action, sb3('model.zip'), torch('net.pt') and onnx('net.onnx') for trained networks, and "
        "spiel_bot('uniform_random') for a bot of OpenSpiel. A match that is stopped shows the games so "
        "far; with --store or --sgf the same command goes on, and more --games are added.",
        epilog='example: ucd match --game hex --size 5 --opening b2 --a "ucd(d1=0,d2=1,d3=2,c=0.3)" --b "uct(c=0.3)" '
        "--playouts 1000 --games 400 --seed 1 --jobs 2",
    )
    parser.add_argument("--game", required=True, help="a registered game, with or without its version")
    parser.add_argument("--a", required=True, help="a planner or another agent, such as ucd(d1=0,d2=1,d3=2,c=0.3)")
    parser.add_argument("--b", help="the other one, in a game of two players")
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument("--playouts", type=int, help="playouts a move (default 1000)")
    budget.add_argument("--seconds", type=float, help="seconds a move")
    parser.add_argument("--games", type=int, default=100, help="an even number (default 100)")
    parser.add_argument("--seed", type=int, default=0, help="default 0")
    add_workers(parser)
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument("--store", metavar="FILE", help="keep the games there, from where the same command goes on")
    kept.add_argument(
        "--sgf", metavar="FOLDER", help="write games of go, nogo or hex to files there: game-0001.sgf, ...; with a store beside"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from ucd_planners.arena.workers import workers

    with usage():
        rich()
    with workers_of(arguments) as (jobs, executor):
        if executor is not None:
            return _play(arguments, jobs, executor)
        with workers(None, jobs) as team:  # they start while the match is made
            return _play(arguments, jobs, team)


def _play(arguments: argparse.Namespace, jobs: int, team: Any) -> int:
    """Plays the match on workers and prints its result, also when it is stopped or fails."""
    from ucd_planners.arena.match import Ledger, Match

    with usage():
        budget = {"playouts": 1000 if arguments.playouts is None else arguments.playouts}
        if arguments.seconds is not None:
            budget = {"seconds": arguments.seconds}
        match = Match(arguments.game, arguments.a, arguments.b, arguments.settings, budget, arguments.games, arguments.seed)
        records = None if arguments.sgf is None else Records(match, arguments.sgf)
        store = _claimed(match, arguments.store if records is None else records.store)
    failure: Exception | None = None
    with nullcontext() if store is None else store:
        ledger = Ledger(match, store, None if records is None else records.write)
        try:
            if records is not None:
                records.complete(ledger.result().games)
            with progress(len(ledger.missing), "games") as advance:
                ended = ledger.play(jobs, team, lambda game: advance())
        except KeyboardInterrupt:
            ended = False
        except Exception as error:
            failure = error
    result = ledger.result()
    if result.games or failure is None:
        _report(result, arguments.json)
    if failure is not None:
        raise failure
    return STOPPED if not ended else 0 if len(result.games) == match.games else FAILED


def _claimed(match: Any, path: str | Path | None) -> Any:
    """Returns the store in a file, or None without one. Raises ValueError for a file that is no store of this match."""
    from ucd_planners.arena.store import Store

    if path is None:
        return None
    store = Store(path)
    try:
        store.claim(match)
    except BaseException:
        store.close()
        raise
    return store


class Records:
    """The SGF files of a match in a folder, a file for each game, and the store beside them, from which the match goes on.

    Raises ValueError or ImportError, before any game, for a game that is not written as SGF or a folder that cannot be used.
    """

    def __init__(self, match: Any, name: str) -> None:
        from ucd_envs.formats import sgf

        self._match, self._rules = match, match.rules
        sgf.saved(self._rules, ())
        self._folder = folder(name)
        self.store = self._folder / "games.sqlite"
        if not self.store.exists() and any(self._folder.glob("game-*.sgf")):
            raise ValueError(f"the folder {name} has games in it, which would be lost: name another")

    def write(self, game: Any) -> None:
        """Writes a game to its file. Raises OSError if that is not possible."""
        from ucd_planners import files

        text = _sgf(self._match, self._rules, game)
        files.save(self._path(game), lambda part: part.write_text(text, encoding="utf-8"))

    def complete(self, games: Sequence[Any]) -> None:
        """Writes the games of the store that have no file, without the planners' values, which the store does not keep."""
        for game in games:
            if not self._path(game).exists():
                self.write(game)

    def _path(self, game: Any) -> Path:
        return self._folder / f"game-{game.number + 1:04}.sgf"


def _sgf(match: Any, rules: Rules, game: Any) -> str:
    """Returns a game as SGF, each move with its planner's name and, if they are known, its value and playouts."""
    from ucd_envs.formats import sgf

    names = [match.labels[side] for side in match.seats(game.number)]
    state, comments = rules.initial_state(), []
    for place, action in enumerate(game.moves):
        value, playouts = game.thoughts[place] if game.thoughts else (0.0, 0)
        comments.append(names[state.player] + (f"\nvalue {value:.3f}, {playouts} playouts" if playouts else ""))
        state = state.after(action)
    resigned = f"{'B' if game.payoff == 1.0 - game.seat else 'W'}+R"
    ended = "Void" if game.failure else "" if state.over else resigned
    return sgf.saved(rules, game.moves, comments=comments, players=(names[0], names[1]), result=ended)


def _report(result: Any, as_json: bool) -> None:
    """Prints a match's result, or why it has none."""
    if not result.games:
        played = "no game came to its end" if result.failures else "stopped before the first game ended"
        print(f"ucd: {played}{_failed(result)}", file=sys.stderr)
    if as_json:
        print(json.dumps(match_row(result)))
    elif result.games:
        _show(result)


def match_row(result: Any) -> dict[str, Any]:
    """Returns a match's result as one flat object, with percentages from 0 to 100.

    Wins, draws and losses are None unless every game was decided.
    """
    score = result.score()
    sides = range(len(result.match.planners))
    seats = {
        f"{kind}_as_{SEATS[i]}": getattr(result.score(i), kind) if score.decided else None
        for i in sides
        for kind in ("wins", "draws", "losses")
    }
    return {
        "game": str(registry.make_rules(result.match.game, **result.match.settings)),
        "a": result.match.labels[0],
        "b": result.match.labels[1] if result.match.b is not None else None,
        **result.match.budget,
        "games": score.games,
        "stopped": score.games + len(result.failures) < result.match.games,
        "wins": score.wins,
        "draws": score.draws,
        "losses": score.losses,
        "percent": percent(score.mean),
        "standard_error": percent(score.standard_error),
        "interval_95": [percent(end) for end in score.interval],
        **seats,
        "distinct_games": result.distinct,
        "playouts_per_s": [round(result.playouts_per_second(side)) for side in sides],
        **({"failed": len(result.failures), "failures": _reasons(result)} if result.failures else {}),
    }


def percent(share: float) -> float | None:
    """Returns a share in percent, or None for NaN."""
    return None if math.isnan(share) else round(100 * share, 2)


def _reasons(result: Any) -> dict[str, int]:
    """Returns the reasons for which games have failed, with the number of games for each."""
    return dict(Counter(game.failure for game in result.failures).most_common())


def _failed(result: Any) -> str:
    """Returns text about failed games after a line break, empty when there are none."""
    if not result.failures:
        return ""
    head = f"failed, and counted for nobody: {len(result.failures)} of {result.match.games} games"
    return "\n" + "\n".join([head, *(f"  {count} x {reason}" for reason, count in _reasons(result).items())])


def _show(result: Any) -> None:
    """Prints the table of a match, and notes on its games."""
    row = match_row(result)
    names = ("first", "second") if len(result.match.planners) == 2 else ("only",)
    scores = [(name, result.score(i)) for i, name in enumerate(names)] + [("both", result.score())] * (len(names) - 1)
    budget = ", ".join(f"{value:,} {key}" for key, value in result.match.budget.items())
    print(f"{row['game']}, {budget} a move\na = {row['a']}" + (f"\nb = {row['b']}" if row["b"] is not None else ""))
    if result.score().decided:
        columns = ["seat of a", "games", "wins", "draws", "losses", "percent", "95% interval (Wilson)"]
    else:
        columns = ["seat of a", "games", "mean payoff in percent", "standard error", "95% interval (Student)"]
    table(columns, [[name, *_cells(score, result.score().decided)] for name, score in scores if score.games])
    print(f"{row['distinct_games']} of {row['games']} games are distinct", end="")
    print(" (fewer than 90%: the interval is too narrow)" if row["distinct_games"] < 0.9 * row["games"] else "")
    rates = [f"{side} {rate:,}" for side, rate in zip("ab", row["playouts_per_s"], strict=False) if rate]
    if rates:
        print(f"playouts per second of CPU time: {', '.join(rates)}")
    print(_failed(result)[1:], end="\n" if result.failures else "")
    if row["stopped"]:
        print(f"stopped: {len(result.games)} of {result.match.games} games were played")


def _cells(score: Any, decided: bool) -> list[str]:
    """Returns the cells of a score, without its name."""
    low, high = score.interval if score.decided == decided else mean_interval(score.payoffs)
    interval = f"{100 * low:.1f} to {100 * high:.1f}"
    if decided:
        return [*map(str, (score.games, score.wins, score.draws, score.losses)), f"{100 * score.mean:.1f}", interval]
    error = score.standard_error if score.decided == decided else sample_error(score.payoffs)
    return [str(score.games), f"{100 * score.mean:.1f}", "" if math.isnan(error) else f"{100 * error:.2f}", interval]
