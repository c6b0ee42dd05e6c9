"""Subcommand `ucd results`: what a store of games holds, as a table, files, a picture, or one game move by move."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ucd_planners.cli.console import rich, table, usage

if TYPE_CHECKING:
    from ucd_planners.arena.store import Store
    from ucd_planners.arena.summary import Summary

GAME_COLUMNS = (
    *("configuration", "game", "a", "b", "seed", "number", "seat_of_a", "moves", "payoffs", "playouts", "cpu_seconds"),
    "seconds",
)
MOST_LINES = 60
"""Most lines of a picture."""


def add(commands: Any) -> None:
    """Adds `ucd results` with its own subcommands."""
    parser = commands.add_parser(
        "results",
        allow_abbrev=False,
        help="shows, exports and replays stored games",
        description="Reads a store of games, as `ucd match --store` and `ucd reproduce` write it. The file stays as it is.",
    )
    kinds = parser.add_subparsers(required=True, metavar="show | export | plot | replay")

    def subcommand(name: str, run: Any, about: str, example: str) -> argparse.ArgumentParser:
        one: argparse.ArgumentParser = kinds.add_parser(
            name,
            allow_abbrev=False,
            help=about.replace("%", "%%"),
            description=f"{about[0].upper()}{about[1:]}.",
            epilog=f"example: {example}",
        )
        one.add_argument("file", metavar="FILE", help="a store of games")
        one.set_defaults(run=run)
        return one

    show = subcommand("show", _show, "prints each configuration with its score, and the sessions", "ucd results show a.sqlite")
    show.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    export = subcommand(
        "export", _export, "writes a row for each configuration or each game", "ucd results export a.sqlite --games --csv"
    )
    form = export.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="comma-separated values (default)")
    form.add_argument("--json", action="store_true", help="one JSON object a line")
    export.add_argument("--games", dest="each_game", action="store_true", help="a row for each game, with its moves")
    export.add_argument("--output", metavar="PATH", help="a file (default: print)")
    plot = subcommand("plot", _plot, "draws percentages with their 95% intervals as SVG", "ucd results plot a.sqlite")
    plot.add_argument("--output", metavar="PATH", help="default: FILE with the ending .svg")
    replay = subcommand("replay", _replay, "prints the moves and boards of a stored game", "ucd results replay a.sqlite 0")
    replay.add_argument("number", metavar="GAME", type=int, help="its number, from 0")
    replay.add_argument("--configuration", type=int, metavar="N", help="as `ucd results show` numbers them, from 1")
    replay.add_argument("--sgf", action="store_true", help="print the game as SGF, if it is go, nogo or hex")


def _opened(arguments: argparse.Namespace) -> Store:
    """Returns the store of a command, for reading. Raises UsageError for a file that is none."""
    from ucd_planners.arena.store import Store

    with usage():
        return Store(arguments.file, reading=True)


def _show(arguments: argparse.Namespace) -> int:
    with usage():
        rich()
    with _opened(arguments) as store:
        rows, sessions = [summary.row() for summary in store.summaries()], store.sessions()
    if arguments.json:
        print(json.dumps({"file": arguments.file, "configurations": rows, "sessions": sessions}))
        return 0
    games = sum(row["games"] for row in rows)
    print(f"{arguments.file}: {games:,} games, {len(rows):,} configuration{'s' * (len(rows) != 1)}")
    if rows:
        keys = [key for key in ("configuration", "game", "a", "b", "seed") if any(row[key] is not None for row in rows)]
        head = ["" if key == "configuration" else key for key in keys]
        cells = [["" if row[key] is None else str(row[key]) for key in keys] + _cells(row) for row in rows]
        table([*head, "games", "percent", "95% interval", "distinct"], cells)
    uneven = [row["configuration"] for row in rows if row["b"] is not None and 2 * row["games_as_first"] != row["games"]]
    if uneven:
        print(f"a has not been first in half of the games in {len(uneven)} of {len(rows)} lines: a run goes on or was stopped")
    few = [row for row in rows if row["distinct_games"] is not None and row["distinct_games"] < 0.9 * row["games"]]
    if few:
        print(f"fewer than 90% of the games are distinct in {len(few)} of {len(rows)} lines: their intervals are too narrow")
    if sessions:
        columns = list(sessions[0])
        table(["session", *columns[1:]], [[str(session[column]) for column in columns] for session in sessions])
    versions = sorted({str(row["version"]) for row in rows})
    if versions:
        print(f"games of ucd-planners {', '.join(versions)}")
    return 0


def _cells(row: dict[str, Any]) -> list[str]:
    """Returns the cells of a configuration's score."""
    if row["percent"] is None:
        return ["0", "", "", ""]
    interval = f"{row['interval_low']:.1f} to {row['interval_high']:.1f}"
    distinct = "" if row["distinct_games"] is None else f"{row['distinct_games']:,}"
    return [f"{row['games']:,}", f"{row['percent']:.1f}", interval, distinct]


def _export(arguments: argparse.Namespace) -> int:
    from ucd_planners import files

    with _opened(arguments) as store:
        summaries = store.summaries()
        if arguments.each_game:
            columns, rows = list(GAME_COLUMNS), _games(store, summaries)
        else:
            whole = [summary.row() for summary in summaries]
            columns, rows = list(dict.fromkeys(column for row in whole for column in row)), iter(whole)

        def write(part: Path | None) -> None:
            with nullcontext(sys.stdout) if part is None else open(part, "w", newline="", encoding="utf-8") as file:
                _write(rows, columns, file, arguments.json)

        if arguments.output is None:
            write(None)
        else:
            files.save(Path(arguments.output), write)
    return 0


def _write(rows: Iterable[dict[str, Any]], columns: list[str], file: Any, as_json: bool) -> None:
    """Writes rows, each a JSON object or comma-separated values below the names of the columns."""
    if as_json:
        file.writelines(json.dumps(row) + "\n" for row in rows)
        return
    writer = csv.DictWriter(file, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        words = {name: " ".join(map(str, value)) if isinstance(value, list) else value for name, value in row.items()}
        writer.writerow(words)


def _games(store: Store, summaries: list[Summary]) -> Iterator[dict[str, Any]]:
    """Yields a row for each game. Lists have a value for each planner; moves are action numbers."""
    for summary in summaries:
        a, b = (*summary.planners, None)[:2]
        about = {"configuration": summary.number, "game": summary.game, "a": a, "b": b, "seed": summary.about.get("seed")}
        for game in store.stored(summary.number):
            lists = {name: list(getattr(game, name)) for name in ("moves", "payoffs", "playouts", "cpu_seconds")}
            yield about | {"number": game.number, "seat_of_a": game.seat} | lists | {"seconds": game.seconds}


def _plot(arguments: argparse.Namespace) -> int:
    from ucd_planners.experiments import picture

    with usage():
        picture.library()
    with _opened(arguments) as store:
        rows = [summary.row() for summary in store.summaries() if summary.games]
    with usage():
        if not rows:
            raise ValueError(f"{arguments.file} has no games to draw")
        if len(rows) > MOST_LINES:
            print(f"ucd: the first {MOST_LINES} of {len(rows)} configurations are drawn", file=sys.stderr)
    path = Path(arguments.file).with_suffix(".svg") if arguments.output is None else Path(arguments.output)
    picture.save(picture.scores(rows[:MOST_LINES], Path(arguments.file).name), path)
    print(path)
    return 0


def _replay(arguments: argparse.Namespace) -> int:
    with _opened(arguments) as store, usage():
        summary = _chosen(store.summaries(), arguments)
        found = list(store.stored(summary.number, arguments.number, arguments.number))
        if not found:
            raise ValueError(f"configuration {summary.number} has no game {arguments.number}: {_numbers(store, summary)}")
        if not summary.longest:
            raise ValueError(f"{arguments.file} keeps no moves: it is of a study")
        rules = _rules(summary)
        text = _sgf(summary, rules, found[0]) if arguments.sgf else _boards(summary, rules, found[0])
    print(text.rstrip())
    return 0


def _chosen(summaries: list[Summary], arguments: argparse.Namespace) -> Summary:
    """Returns the configuration of a command. Raises ValueError where there is none, or no one is said."""
    wanted = arguments.configuration
    if wanted is None and len(summaries) == 1:
        return summaries[0]
    by_number = {summary.number: summary for summary in summaries}
    if wanted is None or wanted not in by_number:
        there = f"{len(summaries)} configurations" if summaries else "no games"
        raise ValueError(f"{arguments.file} has {there}: name one by --configuration, as `ucd results show` numbers them")
    return by_number[wanted]


def _numbers(store: Store, summary: Summary) -> str:
    """Returns text about the numbers of a configuration's games."""
    first = next(store.stored(summary.number), None)
    return "it has none" if first is None else f"it has {summary.games}, from {first.number}"


def _rules(summary: Summary) -> Any:
    """Returns the rules of a configuration's game. Raises ValueError for a game that cannot be made here."""
    from ucd_envs import registry

    return registry.make_rules(str(summary.about.get("game")), **summary.about.get("settings", {}))


def _names(summary: Summary, game: Any) -> list[str]:
    """Returns the planner of each seat."""
    return [summary.planners[(seat - game.seat) % len(summary.planners)] for seat in range(len(summary.planners))]


def _boards(summary: Summary, rules: Any, game: Any) -> str:
    """Returns a game's moves, each with the board after it. Raises ValueError for moves that the rules do not allow."""
    from ucd_envs.pictures import text

    names, state = _names(summary, game), rules.initial_state()
    lines = [f"{summary.game}, game {game.number}", *(f"player {seat}: {name}" for seat, name in enumerate(names, 1))]
    lines += ["", text(state)]
    for ply, action in enumerate(game.moves, 1):
        mover = f"player {state.player + 1}" if state.player >= 0 else "chance"
        lines += ["", f"{ply}. {mover}: {state.action_name(action)}"]
        state = state.after(action)
        lines.append(text(state))
    ended = "" if state.over else ", resigned"
    paid = ", ".join(f"{'ab'[side]} {payoff:g}" for side, payoff in enumerate(game.payoffs))
    return "\n".join([*lines, "", f"payoffs: {paid}{ended}"])


def _sgf(summary: Summary, rules: Any, game: Any) -> str:
    """Returns a game as SGF. Raises ValueError for a game that is not written so."""
    from ucd_envs.formats import sgf

    names, state = _names(summary, game), rules.initial_state()
    for action in game.moves:
        state = state.after(action)
    result = "" if state.over else f"{'B' if game.payoff == 1.0 - game.seat else 'W'}+R"
    return sgf.saved(rules, game.moves, players=(names[0], names[1]), result=result)
