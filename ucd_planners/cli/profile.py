"""Subcommand `ucd profile`: statistics of a planner's playouts."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ucd_envs import registry
from ucd_planners.cli.console import rich, table, usage

PLAYOUTS = 10_000


def add(commands: Any) -> None:
    """Adds `ucd profile`."""
    parser = commands.add_parser(
        "profile",
        allow_abbrev=False,
        help="tells what a planner's playouts are like",
        description="The share of the moves of playouts that are near the move before, that an expert's pattern has (in Go), "
        "anywhere and on the eight points around the move before, and that each policy suggested, over one search from each "
        "position: the start of a game, the one after --moves, or every position of a record. Other options are the game's "
        "settings.",
        epilog='example: ucd profile --game go --size 9 --planner "uct(policies=\'cmc\')" --moves "e5 c3"',
    )
    parser.add_argument("--game", help="a registered game, with or without its version; with --sgf what the record says")
    parser.add_argument("--planner", action="append", help="default uct; may be repeated")
    parser.add_argument("--playouts", type=int, default=PLAYOUTS, help=f"playouts a search (default {PLAYOUTS:,})")
    parser.add_argument("--seed", type=int, default=1, help="default 1")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--moves", default="", help="moves before the position, as players write them")
    where.add_argument("--sgf", help="a record of a game of Go, NoGo or Hex: its positions")
    parser.add_argument("--every", type=int, help="with --sgf: only every so many moves (default 10)")
    parser.add_argument("--json", action="store_true", help="print one JSON object a planner instead of a table")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from ucd_planners.arena.profile import profile
    from ucd_planners.notation import planner_from

    with usage():
        rich()
        texts = arguments.planner or ["uct"]
        planners = [planner_from(text, playouts=arguments.playouts, seed=arguments.seed) for text in texts]
        states = _states(arguments)
        profiles = []
        for planner in planners:
            planner.reset(arguments.seed)
            profiles.append(profile(planner, states))
    rows = [_row(text, found) for text, found in zip(texts, profiles, strict=True)]
    if arguments.json:
        for row in rows:
            print(json.dumps(row))
    else:
        number = "1 position" if len(states) == 1 else f"{len(states)} positions"
        print(f"{states[0].rules}, {number}; in percent of the moves of playouts")
        columns = [
            "planner",
            "playouts",
            "moves a playout",
            "near the last move",
            "expert pattern",
            "around the last move",
            "suggested",
        ]
        table(columns, [_cells(row) for row in rows])
    return 0


def _states(arguments: argparse.Namespace) -> list[Any]:
    """Returns the positions. Raises ValueError, TypeError or ImportError for arguments that name none."""
    from ucd_envs.rng import seeded
    from ucd_envs.settings import integer

    if arguments.sgf is None:
        if arguments.every is not None:
            raise ValueError("--every goes with --sgf")
        if arguments.game is None:
            raise ValueError("a profile needs a game: --game, or a record with --sgf")
        state = registry.make_rules(arguments.game, **arguments.settings).initial_state()
        for number, word in enumerate(arguments.moves.split(), 1):
            try:
                state = state.after(state.action_named(word))
            except ValueError as error:
                raise ValueError(f"move {number} ({word}): {error}") from None
        return [state.settled(seeded(arguments.seed))]
    from ucd_envs.formats import sgf

    every = integer("every", 10 if arguments.every is None else arguments.every, 1, 2**31)
    game = None if arguments.game is None else arguments.game.partition("_v")[0]
    try:
        found = sgf.load(Path(arguments.sgf), game=game, **arguments.settings)
    except OSError as error:
        raise ValueError(f"the record {arguments.sgf} cannot be read: {error.strerror}") from None
    return [state for number, state in enumerate(found.states()) if number % every == 0 and not state.over]


def _row(text: str, found: Any) -> dict[str, Any]:
    """Returns a profile as one object, with shares in percent."""
    share = {
        name: None if count is None else round(100 * count / max(total, 1), 2)
        for name, count, total in (
            ("near", found.near, found.pairs),
            ("pattern", found.matched, found.moves),
            ("near_pattern", found.answers, found.moves),
        )
    }
    suggested = [(type(policy).__name__, round(100 * count / max(found.moves, 1), 2)) for policy, count in found.suggested]
    return {"planner": text, "playouts": found.playouts, "moves": found.moves, **share, "suggested": suggested}


def _cells(row: dict[str, Any]) -> list[str]:
    """Returns a row of the table."""
    shares = ["" if row[name] is None else f"{row[name]:.1f}" for name in ("near", "pattern", "near_pattern")]
    suggested = ", ".join(f"{share:.1f} {policy}" for policy, share in row["suggested"])
    return [row["planner"], f"{row['playouts']:,}", f"{row['moves'] / max(row['playouts'], 1):.1f}", *shares, suggested]
