"""`ucd match`: two planners against each other, or against programs that speak GTP."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

from ucd_envs import registry
from ucd_envs.rules import Rules
from ucd_planners.cli.console import UsageError, folder, progress, rich, table, usage


def add(commands: Any) -> None:
    """Adds `ucd match`."""
    parser = commands.add_parser(
        "match",
        allow_abbrev=False,
        help="plays two planners against each other",
        description="Plays two planners against each other, with seats swapped in pairs. Other options are the game's "
        "settings, such as --size 5 --opening b2 for hex. A program that speaks GTP may stand for a planner, such as "
        "gtp('gnugo --mode gtp --level 1 --chinese-rules --capture-all-dead', timeout=60), with seconds for each of its moves; "
        "the budget is not for it. Our rules decide: of Go by area, where all stones left on the board are alive. A game in "
        "which it fails (no answer in time, an illegal move, a crash) counts for nobody, and the command's status is then 1.",
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
    parser.add_argument("--sgf", metavar="FOLDER", help="write each game of go or hex to a file there: game-0001.sgf, ...")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from ucd_envs.settings import integer
    from ucd_planners.arena.match import Match, play_match

    with usage():
        rich()
        budget = {"playouts": 1000 if arguments.playouts is None else arguments.playouts}
        if arguments.seconds is not None:
            budget = {"seconds": arguments.seconds}
        integer("jobs", arguments.jobs, 1, 1024)
        match = Match(arguments.game, arguments.a, arguments.b, arguments.settings, budget, arguments.games, arguments.seed)
        keep = None if arguments.sgf is None else _keeper(match, arguments.sgf)
    with progress(match.games, "games") as advance:

        def told(game: Any) -> None:
            if keep is not None:
                keep(game)
            advance()

        result = play_match(match, arguments.jobs, progress=told)
    if not result.games:
        played = "no game came to its end" if result.failures else "stopped before the first game ended"
        print(f"ucd: {played}{_failed(result)}", file=sys.stderr)
        if arguments.json:
            print(json.dumps(match_row(result)))
        return 1
    print(json.dumps(match_row(result))) if arguments.json else _show(result)
    return 0 if len(result.games) == match.games else 1


def _keeper(match: Any, name: str) -> Callable[[Any], None]:
    """Writes a game to its SGF file. Raises ValueError or ImportError, before any game, for what cannot be written."""
    from ucd_envs.formats import sgf

    rules = registry.make_rules(match.game, **match.settings)
    sgf.saved(rules, ())
    place = folder(name)
    if any(place.glob("game-*.sgf")):
        raise ValueError(f"the folder {name} has games in it, which would be lost: name another")

    def keep(game: Any) -> None:
        path = place / f"game-{game.number + 1:04}.sgf"
        try:
            path.write_text(_sgf(match, rules, game), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from None

    return keep


def _sgf(match: Any, rules: Rules, game: Any) -> str:
    """A game as SGF, each move with its planner's name, value and playouts."""
    from ucd_envs.formats import sgf

    names = [match.planners[side] for side in match.seats(game.number)]
    state, comments = rules.initial_state(), []
    for action, (value, playouts) in zip(game.moves, game.thoughts, strict=True):
        comments.append(names[state.player] + (f"\nvalue {value:.3f}, {playouts} playouts" if playouts else ""))
        state = state.after(action)
    resigned = f"{'B' if game.payoff == 1.0 - game.seat else 'W'}+R"
    ended = "Void" if game.failure else "" if state.over else resigned
    return sgf.saved(rules, game.moves, comments=comments, players=(names[0], names[1]), result=ended)


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
        "game": str(registry.make_rules(result.match.game, **result.match.settings)),
        "a": result.match.a,
        "b": result.match.b,
        **result.match.budget,
        "games": total.games,
        "stopped": total.games + len(result.failures) < result.match.games,
        "wins": total.wins,
        "draws": total.draws,
        "losses": total.losses,
        "percent": round(100 * total.share, 2),
        "interval_95": [round(100 * low, 2), round(100 * high, 2)],
        **seats,
        "distinct_games": result.distinct,
        "playouts_per_s": [round(result.playouts_per_second(side)) for side in (0, 1)],
        **({"failed": len(result.failures), "failures": _reasons(result)} if result.failures else {}),
    }


def _reasons(result: Any) -> dict[str, int]:
    """Why games have failed, and how many so."""
    return dict(Counter(game.failure for game in result.failures).most_common())


def _failed(result: Any) -> str:
    """What there is to say of games that failed, after a line break; nothing when there are none."""
    if not result.failures:
        return ""
    head = f"failed, and counted for nobody: {len(result.failures)} of {result.match.games} games"
    return "\n" + "\n".join([head, *(f"  {count} x {reason}" for reason, count in _reasons(result).items())])


def _show(result: Any) -> None:
    row = match_row(result)
    rows = []
    for label, tally in (("first", result.tally(0)), ("second", result.tally(1)), ("both", result.tally())):
        if tally.games:
            low, high = tally.interval
            numbers = (tally.games, tally.wins, tally.draws, tally.losses)
            rows.append([label, *map(str, numbers), f"{100 * tally.share:.1f}", f"{100 * low:.1f} to {100 * high:.1f}"])
    budget = ", ".join(f"{value:,} {key}" for key, value in result.match.budget.items())
    print(f"{row['game']}, {budget} a move\na = {row['a']}\nb = {row['b']}")
    table(["seat of a", "games", "wins", "draws", "losses", "percent", "95% interval (Wilson)"], rows)
    print(f"{row['distinct_games']} of {row['games']} games are distinct", end="")
    print(" (fewer than 90%: the interval is too narrow)" if row["distinct_games"] < 0.9 * row["games"] else "")
    rates = [f"{side} {rate:,}" for side, rate in zip("ab", row["playouts_per_s"], strict=True) if rate]
    if rates:
        print(f"playouts per second of CPU time: {', '.join(rates)}")
    print(_failed(result)[1:], end="\n" if result.failures else "")
    if row["stopped"]:
        print(f"stopped: {len(result.games)} of {result.match.games} games were played")
