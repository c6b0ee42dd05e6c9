"""Subcommand `ucd bench`: the speed of planners and environments."""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ucd_envs import registry
from ucd_planners.cli.console import progress, rich, table, usage


class Kind(NamedTuple):
    """A benchmark."""

    words: str
    """The measured things."""
    peer: str | None = None
    """A program that can be measured in the same run."""
    no_game: str = ""
    """A reason to refuse --game; empty for none."""


EVERY = "measures every game with its defaults"
KINDS = {
    "planners": Kind("planners", "openspiel"),
    "envs": Kind("environments", "pettingzoo", EVERY),
    "foreign": Kind("planners in environments of others", "python", "measures environments that others wrote"),
    "kept": Kind("planners that keep their graph"),
    "seats": Kind("steps of a learner", None, EVERY),
    "batch": Kind("batches of games", "pgx", EVERY),
    "puct": Kind("searches with an evaluator", "torch", "measures Hex of two sizes"),
    "selfplay": Kind("self-play"),
}
"""Benchmarks by their options; without one, planners are measured."""


def add(commands: Any) -> None:
    """Adds `ucd bench`."""
    parser = commands.add_parser(
        "bench",
        allow_abbrev=False,
        help="prints playouts per second",
        description="Playouts per second of user CPU time on one core, and of user and system time of a fresh planner. Without "
        "--game, a standard suite; with it, one game with its settings as further options.",
    )
    parser.add_argument("--game", help="only this game")
    parser.add_argument("--planner", action="append", help='with --game: a planner, or "playout"; may be repeated')
    parser.add_argument("--playouts", type=int, help="with --game: playouts a search (default 10,000)")
    parser.add_argument("--envs", action="store_true", help="steps and clones of the environments instead of planners")
    parser.add_argument(
        "--foreign", action="store_true", help="planners in environments that others wrote, beside a bare loop of their steps"
    )
    parser.add_argument(
        "--kept",
        action="store_true",
        help="planners that keep their graph through a game, beside fresh ones (default 1,000 playouts)",
    )
    parser.add_argument(
        "--seats", action="store_true", help="steps of a learner in one seat against a random player and a planner"
    )
    parser.add_argument("--batch", action="store_true", help="plies of 1,024 games at once, stepped by one call")
    parser.add_argument("--threads", type=int, help="with --batch: also how many times as fast that number of threads is")
    parser.add_argument(
        "--puct",
        action="store_true",
        help="evaluations a second of searches with an evaluator, outside of its own time, and of a network beside them",
    )
    parser.add_argument(
        "--selfplay",
        action="store_true",
        help="samples a second of self-play, beside a loop in Python (default 200 playouts)",
    )
    parser.add_argument(
        "--against",
        choices=tuple(kind.peer for kind in KINDS.values() if kind.peer),
        help="a peer in the same run: openspiel for planners, pettingzoo with --envs, pgx with --batch, with --foreign "
        "python, which is gymcts, mcts-simple and OpenSpiel's MCTS in Python, and with --puct torch, a network alone",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a line instead of a table")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from ucd_planners.benchmarks import speed as bench

    with usage():
        if not arguments.json:
            rich()
        cases = _cases(arguments, bench)
        needed = ["pettingzoo", "openspiel"] if arguments.foreign else []
        if arguments.against is not None:
            name = _name(arguments)
            if KINDS[name].peer is None:
                raise ValueError(f"--{name} has no peer")
            if arguments.against != KINDS[name].peer:
                raise ValueError(f"the peer of {KINDS[name].words} is {KINDS[name].peer}")
            needed += ["gymcts", "mcts-simple"] if arguments.foreign else [arguments.against]
        for program in needed:
            bench.find_peer(program)
    count, rows = len(cases), None
    if arguments.envs:
        count, rows = len(registry.available()), bench.environment_rows(arguments.against)
    elif arguments.foreign:
        from ucd_planners.benchmarks import foreign

        count, rows = len(foreign.cases()) * len(foreign.PLANNERS), foreign.foreign_rows(arguments.against is not None)
    elif arguments.puct:
        from ucd_planners.benchmarks import evaluation

        count, rows = len(evaluation.SIZES) * len(evaluation.CASES), evaluation.puct_rows(arguments.against is not None)
    elif arguments.seats:
        from ucd_planners.benchmarks import seats

        count, rows = len(seats.games()), seats.seat_rows()
    elif arguments.batch:
        from ucd_planners.benchmarks import batches

        count, rows = len(registry.available()), batches.batch_rows(arguments.against, arguments.threads)
    elif arguments.kept:
        from ucd_planners.benchmarks import kept

        count, rows = len(cases), kept.kept_rows(cases)
    elif arguments.selfplay:
        from ucd_planners.benchmarks import selfplay

        count, rows = len(cases), selfplay.selfplay_rows(cases)
    shown: list[dict[str, Any]] = []
    try:
        with progress(count, "measured") as advance:
            for row in _measured(cases, arguments.against, bench, advance) if rows is None else rows:
                shown.append(row)
                advance()
                if arguments.json:
                    print(json.dumps(row), flush=True)
    finally:
        if not arguments.json and shown:
            _show(shown)
    return 0


def _name(arguments: argparse.Namespace) -> str:
    """Returns the benchmark that is asked for. Raises ValueError for two of them."""
    asked = [name for name in KINDS if getattr(arguments, name, False)]
    if len(asked) > 1:
        raise ValueError(f"--{asked[0]} and --{asked[1]} are two benchmarks: one at a time")
    return asked[0] if asked else "planners"


def _measured(cases: list[Any], against: str | None, bench: Any, tell: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """Returns the row of each case, and tells of the case before, since its kernels may have to be compiled."""
    for case in cases:
        tell(f"{case.planner} in {case.game}")
        yield bench.measure(case, against)


def _cases(arguments: argparse.Namespace, bench: Any) -> list[Any]:
    """Returns the cases to measure. Raises ValueError or TypeError for arguments that are wrong or would have no effect."""
    from ucd_envs.envs.batch import MOST_THREADS
    from ucd_envs.settings import integer
    from ucd_planners.planner import MOST_EDGES

    name = _name(arguments)
    if arguments.threads is not None:
        if name != "batch":
            raise ValueError("--threads goes with --batch")
        integer("threads", arguments.threads, 2, MOST_THREADS)
    if arguments.game is None and (arguments.planner or arguments.playouts is not None):
        raise ValueError("--planner and --playouts go with --game")
    if KINDS[name].no_game:
        if arguments.game is not None:
            raise ValueError(f"--{name} {KINDS[name].no_game}: it goes without --game")
        return []
    own: Any = bench
    if name != "planners":
        own = importlib.import_module(f"ucd_planners.benchmarks.{name}")
    if arguments.game is None:
        return list(bench.suite() if name == "planners" else own.cases())
    rules = registry.make_rules(arguments.game, **arguments.settings)
    usual, planners = 10_000, [bench.PLAYOUT, "uct(c=0.3)", bench.ucd_text("1,0,1")]
    if name != "planners":
        usual, planners = own.PLAYOUTS, list(own.PLANNERS)
        if bench.PLAYOUT in (arguments.planner or ()):
            raise ValueError(f"--{name} measures planners: {bench.PLAYOUT!r} is none")
    playouts = integer("playouts", usual if arguments.playouts is None else arguments.playouts, 1, MOST_EDGES)
    cases = []
    for planner in arguments.planner or planners:
        cases.append(bench.Case(arguments.game, planner, playouts, arguments.settings))
        if planner != bench.PLAYOUT:
            cases[-1].built().check(rules)
    return cases


def _show(rows: list[dict[str, Any]]) -> None:
    """Prints one line a row. The peer's name stands in the head of its column."""
    peer = rows[0].get("peer")
    titles = {"game": "game", "planner": "planner", "playouts": "playouts", "playouts_per_s": "playouts/s"}
    titles |= {
        "moves": "moves",
        "samples_per_s": "samples/s",
        "loop_per_s": "loop in Python/s",
        "kept_per_s": "kept/s",
        "fresh_per_s": "fresh/s",
        "bytes_per_playout": "bytes/playout",
        "steps_per_s": "steps/s",
        "plies_per_s": "plies/s",
        "scaling": f"times as fast with {rows[0].get('threads')} threads",
        "random_steps_per_s": "steps/s against random",
        "uct_steps_per_s": "against uct(playouts=20)",
        "clone_restore_us": "clone+restore us",
        "batch": "batch",
        "evaluations_per_s": "evaluations/s",
        "net_in_search_per_s": "network in search/s",
        "net_alone_per_s": "network alone/s",
        "net_ratio": "ratio",
    }
    if "bare_per_s" in rows[0]:
        del titles["game"]
        titles = {"game": "environment", "copies": "copies"} | titles
        titles |= {"bare_per_s": "bare loop/s", "cost_percent": "cost in percent", "peer": "peer"}
        peer = "peer"
    titles |= {"peer_playouts_per_s": f"{peer}/s", "peer_steps_per_s": f"{peer}/s", "peer_plies_per_s": f"{peer}/s"}
    titles["ratio"] = "ratio"
    titles |= {"kept_edges": "edges, kept", "fresh_edges": "edges, fresh"}

    def cell(row: dict[str, Any], key: str) -> str:
        if key == "game":
            usual = registry.make_rules(row["game"]).settings if row["game"] in registry.available() else {}
            words = {name for name, value in usual.items() if isinstance(value, str) and row["config"][name] == value}
            settings = [f"{name}={value}" for name, value in row["config"].items() if value and name not in words]
            return " ".join([row["game"], *settings])
        return "" if row[key] is None else f"{row[key]:,}" if isinstance(row[key], (int, float)) else row[key]

    keys = [key for key in titles if key in rows[0]]
    table([titles[key] for key in keys], [[cell(row, key) for key in keys] for row in rows])
