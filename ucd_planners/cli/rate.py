"""Subcommand `ucd rate`: the strength of a player as a number of playouts of UCT."""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from contextlib import nullcontext
from typing import Any

from ucd_planners.cli.console import add_workers, progress, rich, table, usage, workers_of
from ucd_planners.cli.ending import FAILED, STOPPED
from ucd_planners.cli.tournament import interval


def add(commands: Any) -> None:
    """Adds `ucd rate`."""
    parser = commands.add_parser(
        "rate",
        allow_abbrev=False,
        help="tells how strong a player is, in playouts of UCT",
        description="Plays a player against the rungs of a game's ladder that are near its strength: UCT with 1 to 100,000 "
        "playouts a move. The answer is the number of playouts with which UCT is as strong, with a 95% interval. Without "
        "--agent the ladder is shown; without --game all ladders are listed. --build plays a ladder's games and keeps it. "
        "Other options are the game's settings.",
        epilog='example: ucd rate --game connect_four --agent "rave(playouts=1000)" --games 100',
    )
    parser.add_argument("--game", help="a game with a ladder")
    parser.add_argument("--agent", help="a player as in ucd match")
    parser.add_argument(
        "--playouts", type=int, default=1000, help="playouts a move of a planner that names none (default 1000)"
    )
    parser.add_argument("--games", type=int, default=200, help="games at most, an even number (default 200)")
    parser.add_argument("--factor", type=float, default=3.0, help="end when the interval's ends are apart by it (default 3)")
    parser.add_argument("--seed", type=int, default=0, help="default 0")
    add_workers(parser)
    parser.add_argument("--store", metavar="FILE", help="keep the games there, from where the same command goes on")
    parser.add_argument("--build", action="store_true", help="play the games of the ladder of --game, or of all; needs --store")
    parser.add_argument("--ladders", metavar="FILE", help="the file of ladders (default: that of the package)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from ucd_envs.settings import integer
    from ucd_planners.arena.store import Store
    from ucd_planners.ratings.elo import library

    with usage():
        rich()
        library()
        integer("seed", arguments.seed, 0, 2**32 - 1)
        place = _place(arguments)
        if arguments.build:
            return _build(arguments, place)
        if arguments.agent is None:
            return _shown(arguments, place)
        if arguments.game is None:
            raise ValueError("rating an agent needs a game: --game")
        store = None if arguments.store is None else Store(arguments.store)
    with nullcontext() if store is None else store:
        return _rated(arguments, place, store)


def _place(arguments: argparse.Namespace) -> Any:
    """Returns the file of ladders. Raises ValueError for one that does not exist, unless it is built."""
    from pathlib import Path

    from ucd_planners.strong import PLACE

    path = PLACE if arguments.ladders is None else Path(arguments.ladders)
    if not arguments.build and not path.is_file():
        raise ValueError(f"{path} is no file of ladders")
    return path


def _build(arguments: argparse.Namespace, place: Any) -> int:
    """Plays the games of ladders and keeps them in the file."""
    from ucd_planners.arena.schedule import play_matches
    from ucd_planners.arena.store import Store
    from ucd_planners.ratings.ladder import build, keep
    from ucd_planners.ratings.rungs import rungs_of

    if arguments.store is None:
        raise ValueError("--build needs --store, where the games are kept")
    chosen = rungs_of(arguments.game, arguments.settings)
    failed: list[Any] = []
    with Store(arguments.store) as store, workers_of(arguments) as (jobs, executor):
        for rungs in chosen:
            matches = [match for _, match in rungs.matches(arguments.games, arguments.seed)]
            with progress(sum(len(store.missing(match)) for match in matches), "games") as advance:

                def count(match: Any, games: list[Any], advance: Any = advance) -> None:
                    failed.extend(game for game in games if game.failure)
                    for _ in games:
                        advance()

                ended: list[bool] = []

                def play(matches: Any, count: Any = count, ended: list[bool] = ended, store: Any = store) -> bool:
                    ended.append(play_matches(matches, store, jobs, executor, count))
                    return ended[-1]

                ladder = build(rungs, store, arguments.games, arguments.seed, play)
            if not ended[-1]:
                print(f"{rungs.name}: games are missing; the same command goes on")
                return FAILED if failed else STOPPED
            if ladder is not None:
                keep(ladder, place)
                print(f"{rungs.name}: kept in {place}")
    return 0


def _shown(arguments: argparse.Namespace, place: Any) -> int:
    """Prints the ladder of a game, or the list of all."""
    from ucd_planners.ratings.ladder import games_of, kept_ladders, ladder_of

    if arguments.game is None:
        found = kept_ladders(place)
        if arguments.json:
            print(json.dumps({"ladders": [ladder.name for ladder in found]}))
        else:
            table(["game", "players", "games"], [[each.name, str(len(each.players)), str(games_of(each))] for each in found])
            print("ucd rate --game GAME --build --store FILE makes the ladder of another game")
        return 0
    rows = ladder_rows(ladder_of(arguments.game, arguments.settings, place))
    if arguments.json:
        print(json.dumps({"players": rows}))
    else:
        _table(rows)
    return 0


def ladder_rows(ladder: Any) -> list[dict[str, Any]]:
    """Returns the players of a ladder with their ratings, the strongest first."""
    ratings = ladder.ratings()
    order = sorted(range(len(ladder.players)), key=lambda player: -ratings.elo[player])
    return [
        {
            "player": ladder.players[player],
            "elo": round(float(ratings.elo[player]), 1),
            "interval_95": [_finite(ratings.low[player]), _finite(ratings.high[player])],
            "games": 2 * sum(sum(counts) for one, other, counts in ladder.results if player in (one, other)),
        }
        for player in order
    ]


def _finite(value: float) -> float | None:
    return round(float(value), 1) if math.isfinite(value) else None


def _table(rows: list[dict[str, Any]]) -> None:
    from ucd_planners.ratings.elo import METHOD

    table(
        ["player", "Elo", "95% interval", "games"],
        [[row["player"], f"{row['elo']:.0f}", interval(row), str(row["games"])] for row in rows],
    )
    print(METHOD)


def _rated(arguments: argparse.Namespace, place: Any, store: Any) -> int:
    """Plays the agent and prints its place."""
    from ucd_planners.ratings.ladder import ladder_of
    from ucd_planners.ratings.placing import Placing

    with usage():
        ladder = ladder_of(arguments.game, arguments.settings, place)
        budget = {"playouts": arguments.playouts}
        placing = Placing(ladder, arguments.agent, budget, arguments.games, arguments.factor, arguments.seed, store)
    with workers_of(arguments) as (jobs, executor), progress(arguments.games, "games") as advance:
        ended = placing.play(jobs, lambda game: advance(), executor)
    report = _report(ladder, placing)
    if arguments.json:
        print(json.dumps(report))
    else:
        _show(report)
    return STOPPED if not ended else FAILED if placing.failures or report["answer"] is None else 0


def _report(ladder: Any, placing: Any) -> dict[str, Any]:
    """Returns the place of an agent as one object. Bounds that do not exist are None."""
    from ucd_planners.ratings.ladder import sentence

    found, ratings = placing.place, ladder.ratings()
    report: dict[str, Any] = {"game": ladder.name, "agent": placing.match(0).labels[0], "answer": None}
    if found is not None:
        report["answer"] = sentence(found, ladder.rungs[0][1], ladder.rungs[-1][1])
        ends = (found.fewest, found.most)
        report["playouts"] = found.playouts if 0 < found.playouts < math.inf else None
        report["playouts_interval_95"] = [end if 0 < end < math.inf else None for end in ends]
        report["elo"], report["interval_95"] = round(found.elo, 1), [_finite(found.low), _finite(found.high)]
    report["rungs"] = [
        {
            "player": ladder.players[place],
            "elo": round(float(ratings.elo[place]), 1),
            "pairs": len(scores),
            "percent": round(100 * sum(scores) / len(scores), 1),
        }
        for place, scores in placing.results().items()
    ]
    report["failures"] = dict(Counter(game.failure for game in placing.failures))
    return report


def _show(report: dict[str, Any]) -> None:
    """Prints the place of an agent."""
    name = f"{report['agent']} in {report['game']}"
    print(f"{name}: {report['answer'] or 'no pair of games came to its end'}")
    if report["rungs"]:
        rows = [[row["player"], f"{row['elo']:.0f}", str(row["pairs"]), f"{row['percent']:.1f}"] for row in report["rungs"]]
        table(["rung", "Elo", "pairs", "percent of the agent"], rows)
        print(f"Elo {report['elo']:.0f} ({interval(report)}), where UCT with 1 playout has 0; 95% intervals")
    if report["failures"]:
        print(f"failed, and counted for nobody: {sum(report['failures'].values())} games")
        for reason, count in report["failures"].items():
            print(f"  {count} x {reason}")
