"""Subcommand `ucd tournament`: planners and other agents in pairs of games, with ratings or a sequential test."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from typing import Any

from ucd_planners.cli.console import add_workers, progress, rich, table, usage, workers_of
from ucd_planners.cli.ending import FAILED, STOPPED


def add(commands: Any) -> None:
    """Adds `ucd tournament`."""
    parser = commands.add_parser(
        "tournament",
        allow_abbrev=False,
        help="rates several players by games against each other",
        description="Plays a tournament in pairs of games with seats swapped, both from one opening, and prints Elo ratings "
        "with 95% intervals. Players are those of `ucd match`. Openings are random plies that a short search calls open, "
        "the same for all pairings. With --store the same command goes on where it was. With --sprt the two players stop as "
        "soon as one hypothesis about normalised Elo is accepted. Other options are the game's settings.",
        epilog='example: ucd tournament --game hex --size 5 --player "uct(c=0.3)" --player rave --player random --games 100',
    )
    parser.add_argument("--game", help="a registered game, with or without its version")
    parser.add_argument("--player", action="append", metavar="PLAYER", default=[], help="a player; give at least two")
    parser.add_argument("--budgets", metavar="N,N,...", help="instead: one --player with each of these playouts, as a ladder")
    parser.add_argument("--form", help="round-robin, gauntlet (the first against all) or ladder (each against the next)")
    parser.add_argument("--playouts", type=int, default=1000, help="playouts a move of planners that name none (default 1000)")
    parser.add_argument("--games", type=int, default=100, help="games of each pairing, an even number (default 100)")
    parser.add_argument("--plies", type=int, default=2, help="random plies before each pair (default 2)")
    parser.add_argument("--openings", metavar="FILE", help="instead: openings, a line of moves for each")
    parser.add_argument("--anchor", metavar="PLAYER", help="the player whose rating is 0 (default: the mean is 0)")
    parser.add_argument("--sprt", metavar="ELO0,ELO1", help="stop two players by a sequential test, such as 0,10")
    parser.add_argument("--alpha", type=float, default=0.05, help="error rate of accepting ELO1 wrongly (default 0.05)")
    parser.add_argument("--beta", type=float, default=0.05, help="error rate of accepting ELO0 wrongly (default 0.05)")
    parser.add_argument("--power", type=float, metavar="PERCENT", help="only print how many games show such a difference")
    parser.add_argument("--seed", type=int, default=0, help="default 0")
    add_workers(parser)
    parser.add_argument("--store", metavar="FILE", help="keep the games there (default: nowhere)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from tempfile import TemporaryDirectory

    if arguments.power is not None:
        return _power(arguments)
    with usage():
        rich()
        tournament, test, anchor = _prepared(arguments)
    with TemporaryDirectory(prefix="ucd-tournament-") as folder:
        return _played(arguments, tournament, test, anchor, arguments.store or f"{folder}/games.sqlite")


def _power(arguments: argparse.Namespace) -> int:
    """Prints the number of games that show a difference."""
    from ucd_planners.ratings.sequential import games_needed

    with usage():
        games = games_needed(arguments.power)
    if arguments.json:
        print(json.dumps({"percent": arguments.power, "alpha": 0.05, "power": 0.8, "games": games}))
    else:
        print(
            f"{games:,} games show a score of {50 + arguments.power:g}% with a probability of 80%, at an error rate of 5%, "
            "two-sided"
        )
    return 0


def _prepared(arguments: argparse.Namespace) -> tuple[Any, Any, int | None]:
    """Returns the tournament, its sequential test if there is one, and the anchor. Raises ValueError or TypeError."""
    from ucd_envs.settings import integer
    from ucd_planners.ratings.elo import library
    from ucd_planners.ratings.openings import RandomOpenings, openings_in
    from ucd_planners.ratings.sequential import SPRT
    from ucd_planners.ratings.tournament import Tournament

    library()
    if arguments.game is None:
        raise ValueError("a tournament needs a game: --game")
    players, form = list(arguments.player), arguments.form or "round-robin"
    if arguments.budgets is not None:
        players, form = _budgets(players, arguments.budgets), arguments.form or "ladder"
    integer("seed", arguments.seed, 0, 2**32 - 1)
    openings = RandomOpenings(arguments.plies, arguments.seed)
    chosen = openings if arguments.openings is None else openings_in(arguments.openings)
    budget = {"playouts": arguments.playouts}
    settings = arguments.settings
    tournament = Tournament(arguments.game, players, form, settings, budget, arguments.games, arguments.seed, chosen)
    if arguments.anchor is not None and arguments.anchor not in tournament.labels:
        raise ValueError(f"the anchor {arguments.anchor} is none of the players")
    anchor = None if arguments.anchor is None else tournament.labels.index(arguments.anchor)
    if arguments.sprt is None:
        return tournament, None, anchor
    try:
        low, high = map(float, arguments.sprt.split(","))
    except ValueError:
        raise ValueError(f"--sprt must be two numbers such as 0,10, not {arguments.sprt}") from None
    if len(players) != 2:
        raise ValueError(f"a sequential test is between two players, not {len(players)}")
    return tournament, SPRT(low, high, arguments.alpha, arguments.beta), anchor


def _budgets(players: list[str], text: str) -> list[str]:
    """Returns one player with each of several numbers of playouts."""
    from ucd_planners.notation import canonical

    if len(players) != 1:
        raise ValueError(f"a ladder of budgets has one player, not {len(players)}")
    try:
        playouts = [int(word) for word in text.split(",")]
    except ValueError:
        raise ValueError(f"--budgets must be numbers such as 10,100,1000, not {text}") from None
    return [canonical(players[0], playouts=count) for count in playouts]


def _played(arguments: argparse.Namespace, tournament: Any, test: Any, anchor: int | None, path: str) -> int:
    """Plays the missing games and prints the result, also when it is stopped."""
    from ucd_planners.arena.store import Store
    from ucd_planners.ratings.schedule import play
    from ucd_planners.ratings.tournament import claim

    failures: list[Any] = []
    with usage():
        store = Store(path)
    with store, workers_of(arguments) as (jobs, executor):
        with usage():
            claim(tournament, store)
        missing = sum(len(store.missing(match)) for match in tournament.matches())
        with progress(missing, "games") as advance:

            def count(match: Any, games: list[Any]) -> None:
                failures.extend((match, game) for game in games if game.failure)
                for _ in games:
                    advance()

            ended = play(tournament, store, jobs, count, test, executor)
        report = _report(tournament, store, test, anchor, failures)
    report["stopped"] = not ended
    if arguments.json:
        print(json.dumps(report))
    else:
        _show(report)
    return STOPPED if not ended else FAILED if failures or not report["players"] else 0


def _report(tournament: Any, store: Any, test: Any, anchor: int | None, failures: list[Any]) -> dict[str, Any]:
    """Returns the results of a tournament as one object. Infinite bounds are None."""
    from ucd_planners.ratings.elo import METHOD, Scores, rate
    from ucd_planners.ratings.pairs import pentanomial
    from ucd_planners.ratings.residuals import residuals

    pairings = tournament.pairings(store.games)
    scores = [pairing.scores for pairing in pairings]
    decided = all(score % 0.25 == 0 for each in scores for score in each)
    labels = tournament.labels
    report: dict[str, Any] = {"game": str(tournament.rules), "form": tournament.form, "method": METHOD, "players": []}
    report["pairings"] = [
        {
            "a": labels[pairing.players[0]],
            "b": labels[pairing.players[1]],
            "pairs": len(each),
            "percent": round(100 * sum(each) / len(each), 2) if each else None,
            "pentanomial": list(pentanomial(each)) if decided else None,
            "distinct_games": pairing.distinct,
            "games": len(pairing.games),
        }
        for pairing, each in zip(pairings, scores, strict=True)
    ]
    report["failures"] = dict(Counter(_reason(match, game) for match, game in failures))
    report["sessions"] = [
        row._asdict() for row in residuals(pairings, [store.sessions_of(match) for match in tournament.matches()])
    ]
    try:
        played = [Scores(pairing.players[0], pairing.players[1], each) for pairing, each in zip(pairings, scores, strict=True)]
        ratings = rate(len(labels), played, anchor)
    except ValueError as error:
        report["why"] = str(error)
    else:
        order = sorted(range(len(labels)), key=lambda player: -ratings.elo[player])
        report["players"] = [
            {
                "player": labels[player],
                "ranks": list(ratings.ranks(player)),
                "elo": round(float(ratings.elo[player]), 1),
                "interval_95": [_finite(ratings.low[player]), _finite(ratings.high[player])],
                "games": 2
                * sum(len(each) for pairing, each in zip(pairings, scores, strict=True) if player in pairing.players),
            }
            for player in order
        ]
    if test is not None:
        report["sprt"] = _tested(test, pairings[0], labels)
    return report


def _reason(match: Any, game: Any) -> str:
    """Returns the reason of a failed game, with the label of the player that failed."""
    side, _, reason = game.failure.partition(" ")
    return f"{match.labels['ab'.index(side)]} {reason}" if side in ("a", "b") else str(game.failure)


def _tested(test: Any, pairing: Any, labels: tuple[str, ...]) -> dict[str, Any]:
    """Returns the verdict of a sequential test as an object, in scores of the first player named."""
    from ucd_planners.ratings.sequential import normalised_elo

    swapped = pairing.players[0] != 0
    verdict = test.verdict([1 - score if swapped else score for score in pairing.scores])
    elo = normalised_elo(verdict.counts)
    return {
        "player": labels[0],
        "elo0": test.elo0,
        "elo1": test.elo1,
        "alpha": test.alpha,
        "beta": test.beta,
        "bounds": [round(bound, 3) for bound in test.bounds],
        "ratio": round(verdict.ratio, 3),
        "accepted": verdict.accepted or None,
        "pairs": verdict.pairs,
        "normalised_elo": None if math.isnan(elo) else round(elo, 1),
    }


def _finite(value: float) -> float | None:
    return round(float(value), 1) if math.isfinite(value) else None


def _show(report: dict[str, Any]) -> None:
    """Prints the tables of a tournament and notes on its games."""
    print(f"{report['game']}, {report['form']}")
    if report["players"]:
        rows = [
            [_ranks(row["ranks"]), row["player"], f"{row['elo']:.0f}", interval(row), str(row["games"])]
            for row in report["players"]
        ]
        table(["rank", "player", "Elo", "95% interval", "games"], rows)
        print(f"{report['method']}")
        if any(low != high for low, high in (row["ranks"] for row in report["players"])):
            print("players share ranks where the interval of their difference includes 0")
    else:
        print(f"no ratings: {report['why']}", file=sys.stderr)
    cells = [
        [row["a"], row["b"], str(row["pairs"]), "" if row["percent"] is None else f"{row['percent']:.1f}",
         " ".join(map(str, row["pentanomial"] or [])), f"{row['distinct_games']} of {row['games']}"]
        for row in report["pairings"]
    ]  # fmt: skip
    table(["a", "b", "pairs", "percent of a", "pairs with 0, 1/2, 1, 3/2, 2 points", "distinct games"], cells)
    few = sum(row["distinct_games"] < 0.9 * row["games"] for row in report["pairings"])
    if few:
        print(f"fewer than 90% of the games are distinct in {few} pairings: the intervals are too narrow")
    for row in report["sessions"]:
        if row["odd"]:
            print(f"session {row['session']}, a worker, does not fit: {row['pairs']} pairs, chance {row['probability']:.1g}")
    if report["failures"]:
        print(f"failed, and counted for nobody: {sum(report['failures'].values())} games")
        for reason, count in report["failures"].items():
            print(f"  {count} x {reason}")
    if "sprt" in report:
        _show_test(report["sprt"])
    if report["stopped"]:
        print("stopped: games are missing; with --store the same command goes on", file=sys.stderr)


def _show_test(row: dict[str, Any]) -> None:
    low, high = row["bounds"]
    answer = f"{row['accepted']} accepted" if row["accepted"] else "neither is accepted yet"
    print(
        f"SPRT of {row['player']} in normalised Elo, H0 {row['elo0']:g} and H1 {row['elo1']:g}, alpha {row['alpha']:g}, beta "
        f"{row['beta']:g}: {answer} after {row['pairs']} pairs, ratio {row['ratio']:.2f} in ({low:.2f}, {high:.2f})"
    )
    if row["accepted"]:
        print("ratings after an early stop lean to the accepted side")


def _ranks(ranks: list[int]) -> str:
    return "-".join(map(str, dict.fromkeys(ranks)))


def interval(row: dict[str, Any]) -> str:
    """Returns the interval of a rating in words."""
    low, high = row["interval_95"]
    return f"{'-inf' if low is None else f'{low:.0f}'} to {'inf' if high is None else f'{high:.0f}'}"
