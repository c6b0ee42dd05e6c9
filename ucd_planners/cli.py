"""The command `ucd`."""

from __future__ import annotations

import argparse
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import ucd_envs
from ucd_envs import registry


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; its exit status: 0, 1 for one that was stopped, 2 for arguments that cannot be used."""
    description = "Monte-Carlo planners on games: matches and benchmarks."
    parser = argparse.ArgumentParser(prog="ucd", description=description, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"ucd {ucd_envs.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    _add_match(commands)
    _add_bench(commands)
    _add_games(commands)
    known, rest = parser.parse_known_args(arguments)
    run: Callable[[argparse.Namespace], int] = known.run
    try:
        with usage():
            known.settings = settings_from(rest, getattr(known, "game", None))
        status = run(known)
        sys.stdout.flush()
    except UsageError as error:
        print(f"ucd: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("ucd: stopped", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader, such as `head`, has what it wanted; nothing is left to be flushed at the exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


class UsageError(Exception):
    """Arguments that cannot be used; its text tells why."""


@contextmanager
def usage() -> Iterator[None]:
    """Turns what wrong arguments raise into a UsageError; for the part of a command that only reads its arguments."""
    try:
        yield
    except (ValueError, TypeError, ImportError) as error:
        raise UsageError(str(error)) from error


def settings_from(words: Sequence[str], game: str | None) -> dict[str, Any]:
    """A game's settings from the options that are not the command's own: --size 5 or --size=5; --swap alone is true.

    Raises ValueError for a word that belongs to no option, an unknown game, and options without a game.
    """
    from ucd_planners.notation import setting_from

    if words and game is None:
        raise ValueError(f"unexpected argument {words[0]!r}: settings are those of a game, after --game")
    typed: dict[str, str | None] = {}
    waiting: str | None = None
    for word in words:
        if word.startswith("--"):
            option, equals, value = word[2:].partition("=")
            waiting = option.replace("-", "_")
            typed[waiting] = value if equals else None
            waiting = None if equals else waiting
        elif waiting is None:
            raise ValueError(f"unexpected argument {word!r}: expected options such as --size 5")
        else:
            typed[waiting] = word
            waiting = None
    known = inspect.signature(registry.builder(game)).parameters if game is not None else {}
    return {name: setting_from(name, text, known[name].default) if name in known else text for name, text in typed.items()}


def _rich() -> Any:
    """The library that draws tables and progress bars."""
    try:
        import rich.box
        import rich.console
        import rich.progress
        import rich.table
    except ImportError:
        raise ImportError("the command ucd needs rich: pip install 'ucd-planners[cli]'") from None
    return rich


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a table; words to the left, numbers to the right; as wide as it must be, since rich would cut numbers off."""
    rich = _rich()
    table = rich.table.Table(box=rich.box.SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(columns):
        words = all(not row[i][:1].isdigit() for row in rows if row[i])
        table.add_column(column, justify="left" if words else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    rich.console.Console(width=1000, highlight=False).print(table)


def _add_match(commands: Any) -> None:
    parser = commands.add_parser(
        "match",
        allow_abbrev=False,
        help="plays two planners against each other",
        description="Plays two planners against each other, with seats swapped in pairs. Other options are the game's "
        "settings, such as --size 5 --opening b2 for hex.",
        epilog='example: ucd match --game hex --size 5 --opening b2 --a "ucd(d1=0,d2=1,d3=2,c=0.3)" --b "uct(c=0.3)" '
        "--playouts 1000 --games 400 --seed 1 --jobs 2",
    )
    parser.add_argument("--game", required=True, help="a registered game, with or without its version")
    parser.add_argument("--a", required=True, help="a planner, such as ucd(d1=0,d2=1,d3=2,c=0.3)")
    parser.add_argument("--b", required=True, help="the other planner")
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument("--playouts", type=int, help="playouts a move (default 1000)")
    budget.add_argument("--seconds", type=float, help="seconds a move")
    parser.add_argument("--games", type=int, default=100, help="an even number (default 100)")
    parser.add_argument("--seed", type=int, default=0, help="default 0")
    parser.add_argument("--jobs", type=int, default=1, help="games at once (default 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.set_defaults(run=_match)


def _match(arguments: argparse.Namespace) -> int:
    from ucd_envs.rules import whole
    from ucd_planners.arena.match import Match, play_match

    with usage():
        rich = _rich()
        budget = {"playouts": 1000 if arguments.playouts is None else arguments.playouts}
        if arguments.seconds is not None:
            budget = {"seconds": arguments.seconds}
        whole("jobs", arguments.jobs, 1, 1024)
        match = Match(arguments.game, arguments.a, arguments.b, arguments.settings, budget, arguments.games, arguments.seed)
    console = rich.console.Console(stderr=True)
    columns = ("{task.description}", rich.progress.BarColumn(), "{task.completed:.0f}/{task.total:.0f} games")
    with rich.progress.Progress(
        *(rich.progress.TextColumn(column) if isinstance(column, str) else column for column in columns),
        rich.progress.TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    ) as bar:
        task = bar.add_task("playing", total=match.games)
        result = play_match(match, arguments.jobs, progress=lambda game: bar.advance(task))
    if not result.games:
        print("ucd: stopped before the first game ended", file=sys.stderr)
        return 1
    print(json.dumps(match_row(result))) if arguments.json else _show_match(result)
    return 0 if len(result.games) == match.games else 1


def match_row(result: Any) -> dict[str, Any]:
    """A match's result as one flat object; percentages are 0 to 100."""
    total = result.tally()
    low, high = total.interval
    seats = {
        f"{kind}_as_{seat}": getattr(result.tally(i), kind)
        for i, seat in enumerate(("first", "second"))
        for kind in ("wins", "draws", "losses")
    }
    return {
        "game": str(registry.rules(result.match.game, **result.match.settings)),
        "a": result.match.a,
        "b": result.match.b,
        **result.match.budget,
        "games": total.games,
        "stopped": total.games < result.match.games,
        "wins": total.wins,
        "draws": total.draws,
        "losses": total.losses,
        "percent": round(100 * total.share, 2),
        "interval_95": [round(100 * low, 2), round(100 * high, 2)],
        **seats,
        "distinct_games": result.distinct,
        "playouts_per_s": [round(result.playouts_per_second(side)) for side in (0, 1)],
    }


def _show_match(result: Any) -> None:
    row = match_row(result)
    rows = []
    for label, tally in (("first", result.tally(0)), ("second", result.tally(1)), ("both", result.tally())):
        if tally.games:
            low, high = tally.interval
            numbers = (tally.games, tally.wins, tally.draws, tally.losses)
            rows.append([label, *map(str, numbers), f"{100 * tally.share:.1f}", f"{100 * low:.1f} to {100 * high:.1f}"])
    budget = ", ".join(f"{value:,} {key}" for key, value in result.match.budget.items())
    print(f"{row['game']}, {budget} a move\na = {row['a']}\nb = {row['b']}")
    _table(["seat of a", "games", "wins", "draws", "losses", "percent", "95% interval (Wilson)"], rows)
    print(f"{row['distinct_games']} of {row['games']} games are distinct", end="")
    print(" (fewer than 90%: the interval is too narrow)" if row["distinct_games"] < 0.9 * row["games"] else "")
    print(f"playouts per second of CPU time: a {row['playouts_per_s'][0]:,}, b {row['playouts_per_s'][1]:,}")
    if row["stopped"]:
        print(f"stopped: {len(result.games)} of {result.match.games} games were played")


def _add_bench(commands: Any) -> None:
    parser = commands.add_parser(
        "bench",
        allow_abbrev=False,
        help="prints playouts per second",
        description="Playouts per second of user CPU time on one core. Without --game, a standard suite; with it, one game "
        "with its settings as further options.",
    )
    parser.add_argument("--game", help="only this game")
    parser.add_argument("--planner", action="append", help='with --game: a planner, or "playout"; may be repeated')
    parser.add_argument("--playouts", type=int, help="with --game: playouts a search (default 10,000)")
    parser.add_argument("--envs", action="store_true", help="steps and clones of the environments instead of planners")
    parser.add_argument("--against", choices=("openspiel", "pettingzoo"), help="a peer in the same run")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line instead of a table")
    parser.set_defaults(run=_bench)


def _bench(arguments: argparse.Namespace) -> int:
    from ucd_planners import bench

    with usage():
        if not arguments.json:
            _rich()
        if arguments.against is not None:
            if arguments.against != ("pettingzoo" if arguments.envs else "openspiel"):
                raise ValueError(f"the peer of {'environments is pettingzoo' if arguments.envs else 'planners is openspiel'}")
            bench.find_peer(arguments.against)
        cases = _cases(arguments, bench)
    if arguments.envs:
        rows = bench.environment_rows(arguments.against)
    else:
        rows = (bench.measure(case, arguments.against) for case in cases)
    shown: list[dict[str, Any]] = []
    try:
        for row in rows:
            shown.append(row)
            if arguments.json:
                print(json.dumps(row), flush=True)
    finally:
        if not arguments.json and shown:
            _show_bench(shown)
    return 0


def _cases(arguments: argparse.Namespace, bench: Any) -> list[Any]:
    """What to measure. Raises ValueError or TypeError for arguments that are wrong, or that would change nothing."""
    from ucd_envs.rules import whole
    from ucd_planners.planner import MOST_EDGES

    if arguments.game is None:
        if arguments.planner or arguments.playouts is not None:
            raise ValueError("--planner and --playouts go with --game")
        cases: list[Any] = [] if arguments.envs else bench.suite()
        return cases
    if arguments.envs:
        raise ValueError("--envs measures every game with its defaults: it goes without --game")
    registry.rules(arguments.game, **arguments.settings)
    playouts = whole("playouts", 10_000 if arguments.playouts is None else arguments.playouts, 1, MOST_EDGES)
    cases = []
    for planner in arguments.planner or [bench.PLAYOUT, "uct(c=0.3)", bench.ucd_text("1,0,1")]:
        cases.append(bench.Case(arguments.game, planner, playouts, arguments.settings))
        if planner != bench.PLAYOUT:
            cases[-1].built()
    return cases


def _show_bench(rows: list[dict[str, Any]]) -> None:
    """One line a row; the peer's name stands in the head of its column."""
    peer = rows[0].get("peer")
    titles = {"game": "game", "planner": "planner", "playouts": "playouts", "playouts_per_s": "playouts/s"}
    titles |= {"bytes_per_playout": "bytes/playout", "steps_per_s": "steps/s", "clone_restore_us": "clone+restore us"}
    titles |= {"peer_playouts_per_s": f"{peer}/s", "peer_steps_per_s": f"{peer}/s", "ratio": "ratio"}

    def cell(row: dict[str, Any], key: str) -> str:
        if key == "game":
            settings = [f"{name}={value}" for name, value in row["config"].items() if value not in ("", False)]
            return " ".join([row["game"], *settings])
        return "" if row[key] is None else f"{row[key]:,}" if isinstance(row[key], (int, float)) else row[key]

    keys = [key for key in titles if key in rows[0]]
    _table([titles[key] for key in keys], [[cell(row, key) for key in keys] for row in rows])


def _add_games(commands: Any) -> None:
    parser = commands.add_parser("games", allow_abbrev=False, help="lists the games and their settings")
    parser.set_defaults(run=_games)


def _games(arguments: argparse.Namespace) -> int:
    for name in registry.games():
        settings = inspect.signature(registry.builder(name)).parameters.values()
        print(name, ", ".join(f"{setting.name}={setting.default!r}" for setting in settings) or "(no settings)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
