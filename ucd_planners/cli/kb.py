"""Subcommand `ucd kb`: knowledge bases of positions, filled by study and training and read by planners."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ucd_planners.cli.console import progress, rich, usage
from ucd_planners.cli.ending import FAILED, STOPPED

PLAYOUTS = 1000
"""Playouts of a search, by default."""


def add(commands: Any) -> None:
    """Adds `ucd kb` with its own commands."""
    parser = commands.add_parser(
        "kb",
        allow_abbrev=False,
        help="makes, fills and reads a knowledge base",
        description="A knowledge base is a file of positions with visits and values of good moves [NoGo 4.2]. A planner reads "
        "it, as uct(knowledge='hex.lmdb'), and plays a move of enough confidence at once.",
        epilog="example: ucd kb create hex.lmdb --game hex --size 5 && ucd kb train hex.lmdb --games 20",
    )
    kinds = parser.add_subparsers(required=True, metavar="command")
    made = _command(kinds, "create", _create, "makes an empty base; other options are the game's settings, such as --size 5")
    made.add_argument("--game", required=True, help="a registered game, with or without its version")
    made.add_argument("--planner", default="uct", help="the planner whose searches are learned (default uct)")
    made.add_argument("--alpha", type=float, default=1.0, help="weight of a move's share of the visits (default 1)")
    made.add_argument("--learn", type=float, default=0.7, help="confidence from which a move is written (default 0.7)")
    made.add_argument("--play", type=float, default=1.1, help="confidence from which a move is played at once (default 1.1)")
    made.add_argument("--ungraded", action="store_true", help="leave the ply out of keys, as searches with graded=false")
    info = _command(kinds, "info", _info, "shows what the base is of, its size, and its log or what it knows after moves")
    info.add_argument("--moves", help="show what is known after these moves, such as 'a1 b2'")
    info.add_argument("--log", action="store_true", help="show the whole log")
    info.add_argument("--json", action="store_true", help="print one JSON object")
    studied = _command(kinds, "study", _study, "searches all positions of games, or along moves, and learns")
    studied.add_argument("source", nargs="+", help="an SGF file, which ends in .sgf, or moves in quotes, such as 'a1 b2'")
    trained = _command(kinds, "train", _train, "plays games with the base, and learns from their searches")
    trained.add_argument("--games", type=int, default=100, help="default 100")
    trained.add_argument("--against", metavar="PLANNER", help="a planner or program as opponent (default: the base's planner)")
    for each in (studied, trained):
        budget = each.add_mutually_exclusive_group()
        budget.add_argument("--playouts", type=int, help=f"playouts of a search (default {PLAYOUTS:,})")
        budget.add_argument("--seconds", type=float, help="seconds of a search")
        each.add_argument("--seed", type=int, default=0, help="default 0")
    _command(kinds, "verify", _verify, "checks every page and every entry; the status is 1 if there is a fault")
    copied = _command(kinds, "compact", _compact, "writes a copy without gaps")
    copied.add_argument("copy", help="the file of the copy, which must not exist")
    shown = _command(kinds, "export", _export, "prints all entries as CSV")
    shown.add_argument("--json", action="store_true", help="print an object of JSON for each position")


def _command(kinds: Any, name: str, run: Any, text: str) -> Any:
    """Adds one of the commands and returns its parser."""
    parser = kinds.add_parser(name, allow_abbrev=False, help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.add_argument("base", help="the file of the base, such as hex.lmdb")
    parser.set_defaults(run=run)
    return parser


def _create(arguments: argparse.Namespace) -> int:
    from ucd_envs import registry
    from ucd_planners.knowledge_base import KnowledgeBase
    from ucd_planners.notation import canonical, planner_from

    with usage():
        rules = registry.make_rules(arguments.game, **arguments.settings)
        planner = planner_from(arguments.planner)
        planner.check(rules)
        if planner.knowledge is not None:
            raise ValueError("the planner of a base is written without knowledge: it uses the base itself")
        options = (arguments.alpha, arguments.learn, arguments.play, not arguments.ungraded)
        text = canonical(arguments.planner)
        base = _usable(lambda: KnowledgeBase.create(arguments.base, rules, text, *options))
    print(f"{base.path}: an empty base of {rules}")
    return 0


def _usable(make: Any) -> Any:
    """Returns what a function makes. Raises ValueError for a file that cannot be made."""
    try:
        return make()
    except OSError as error:
        raise ValueError(str(error)) from None


def _opened(arguments: argparse.Namespace) -> Any:
    """Returns the base. Raises UsageError for a file that is none."""
    from ucd_planners.knowledge_base import KnowledgeBase

    with usage():
        return KnowledgeBase(arguments.base)


def _info(arguments: argparse.Namespace) -> int:
    base = _opened(arguments)
    facts = {**vars(base.header), "positions": len(base), "bytes": base.path.stat().st_size}
    if arguments.moves is not None:
        from ucd_planners.arena.training import positions

        with usage():
            found = positions(base, arguments.moves)
        facts["known"] = _known(base, found[-1]) if len(found) == len(arguments.moves.split()) + 1 else []
    if arguments.log:
        facts["log"] = base.log()
    if arguments.json:
        print(json.dumps(facts))
        return 0
    for name, value in facts.items():
        if not isinstance(value, list):
            print(f"{name:20}{value:,}" if isinstance(value, int) else f"{name:20}{value}")
    for line in facts.get("log", ()):
        print(line)
    for move in facts.get("known", ()):
        print(f"{move['move']:>8} {move['visits']:>10,} visits, value {move['value']:.3f}, confidence {move['confidence']:.3f}")
    return 0


def _known(base: Any, state: Any) -> list[dict[str, Any]]:
    """Returns the known moves of a position, the one with the largest confidence first."""
    known = base.lookup(state)
    if known is None:
        return []
    columns = (known.actions, known.visits, known.values, known.confidence(base.header.alpha))
    rows = sorted(zip(*(column.tolist() for column in columns), strict=True), key=lambda row: -row[3])
    names = ("move", "visits", "value", "confidence")
    return [dict(zip(names, (state.action_name(row[0]), *row[1:]), strict=True)) for row in rows]


def _budget(arguments: argparse.Namespace) -> dict[str, Any]:
    """Returns the budget of a search. Raises ValueError for one out of range."""
    from ucd_envs.settings import integer
    from ucd_planners.options import checked_seconds

    integer("seed", arguments.seed, 0, 2**64 - 1)
    if arguments.seconds is not None:
        return {"seconds": checked_seconds(arguments.seconds)}
    return {"playouts": integer("playouts", PLAYOUTS if arguments.playouts is None else arguments.playouts, 1, 2**31)}


def _study(arguments: argparse.Namespace) -> int:
    from ucd_planners.arena.training import positions, study

    base = _opened(arguments)
    with usage():
        rich()
        budget = _budget(arguments)
        states = list({state: None for source in arguments.source for state in positions(base, source)})
    with progress(len(states), "positions") as advance:
        print(study(base, states, budget, arguments.seed, advance))
    return 0


def _train(arguments: argparse.Namespace) -> int:
    from ucd_envs.settings import integer
    from ucd_planners.arena.training import Training

    base = _opened(arguments)
    with usage():
        rich()
        games = integer("games", arguments.games, 1, 10**9)
        training = Training(base, _budget(arguments), arguments.seed, arguments.against)
    with progress(games, "games") as advance:
        ended = training.play(games, advance)
    print(training.lesson)
    return 0 if ended else STOPPED


def _verify(arguments: argparse.Namespace) -> int:
    from ucd_planners.arena.upkeep import verify

    base = _opened(arguments)
    faults = verify(base)
    for fault in faults:
        print(fault)
    if not faults:
        print(f"{base.path}: {len(base):,} positions, no fault")
    return FAILED if faults else 0


def _compact(arguments: argparse.Namespace) -> int:
    from ucd_planners.arena.upkeep import compact

    base = _opened(arguments)
    with usage():
        _usable(lambda: compact(base, Path(arguments.copy)))
    print(f"{arguments.copy}: {Path(arguments.copy).stat().st_size:,} bytes of {base.path.stat().st_size:,}")
    return 0


def _export(arguments: argparse.Namespace) -> int:
    from ucd_planners.arena.upkeep import exported

    for line in exported(_opened(arguments), arguments.json):
        print(line)
    return 0
