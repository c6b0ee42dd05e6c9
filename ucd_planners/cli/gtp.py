"""Subcommand `ucd gtp`: a planner as a GTP engine on standard input and output."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ucd_planners.cli.console import readable, usage

PLAYOUTS = 10_000
"""Playouts of a move, where neither the command nor the planner's text has a budget."""
MAX_NODES = 5_000_000
"""Limit on nodes of a planner whose text has none, since an analysis may run for hours."""


def add(commands: Any) -> None:
    """Adds `ucd gtp`."""
    parser = commands.add_parser(
        "gtp",
        allow_abbrev=False,
        help="speaks GTP 2, for boards on the screen and for matches of programs",
        description="A planner that answers commands of the Go Text Protocol, version 2, on standard input: play b d4, "
        "genmove w, undo, showboard, final_score, time_settings, handicaps, loadsgf, lz-analyze and others (list_commands). "
        "Any game of two players will do. All stones on the board are alive when the score is counted. Other options are the "
        "game's settings, such as --size 9 --komi 7.5 for go.",
        epilog='example: ucd gtp --game go --size 9 --planner "uct(c=0.4)" --playouts 10000',
    )
    parser.add_argument("--game", required=True, help="a registered game, with or without its version")
    parser.add_argument(
        "--planner",
        default="uct",
        help=f"default uct, another is ucd(d1=1,d2=0,d3=1,c=0.3); max_nodes is {MAX_NODES:,} unless it says otherwise",
    )
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument("--playouts", type=int, help=f"playouts a move (default {PLAYOUTS:,}), where no time is set")
    budget.add_argument("--seconds", type=float, help="seconds a move, where no time is set")
    parser.add_argument(
        "--resign", type=float, default=0.0, help="gives up when its mean payoff is below this, such as 0.1 (default: never)"
    )
    parser.add_argument("--seed", type=int, help="the planner's random numbers (default: others each time)")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from ucd_planners.gtp.engine import Engine
    from ucd_planners.gtp.protocol import Lines
    from ucd_planners.notation import planner_from

    with usage():
        budget = {"playouts": PLAYOUTS if arguments.playouts is None else arguments.playouts}
        if arguments.seconds is not None:
            budget = {"seconds": arguments.seconds}
        seed = {} if arguments.seed is None else {"seed": arguments.seed}
        planner = planner_from(arguments.planner, **{"max_nodes": MAX_NODES, **budget, **seed})
        lines = Lines(readable().fileno())
        engine = Engine(
            arguments.game,
            arguments.settings,
            planner,
            name=f"ucd {arguments.planner}",
            resign=arguments.resign,
            write=_write,
            waiting=lines.waiting,
        )
    engine.warm()
    engine.serve(lines)
    return 0


def _write(text: str) -> None:
    """Writes text to the controller at once, as UTF-8, which every move's name survives.

    Raises BrokenPipeError if that fails in any way, for which an engine ends.
    """
    try:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
    except OSError as error:
        raise BrokenPipeError(error.errno, error.strerror) from None
