"""The command `ucd`, with one file for each subcommand."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import ucd_envs
from ucd_planners.cli import (
    bench,
    check,
    games,
    gtp,
    kb,
    match,
    play,
    profile,
    rate,
    report,
    reproduce,
    results,
    tournament,
    tune,
)
from ucd_planners.cli.console import game_from, settings_from, usage
from ucd_planners.cli.ending import ended

COMMANDS = (play, match, tournament, rate, gtp, kb, reproduce, results, report, tune, profile, bench, check, games)
"""Subcommands in the order of the help. Each has `add(commands)`, which adds its parser and the function that runs it."""
LONGEST = 400
"""Limit on the characters of a message about arguments."""


class Parser(argparse.ArgumentParser):
    """A parser of arguments whose messages stay short, however long the arguments are."""

    def error(self, message: str) -> NoReturn:
        """Prints the message and exits with status 2."""
        super().error(message if len(message) <= LONGEST else f"{message[:LONGEST]}...")

    def print_help(self, file: Any = None) -> None:
        """Prints the help. Unlike that of the parent class it raises OSError where the output cannot be written."""
        print(self.format_help(), end="", file=file)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit status, as ucd_planners.cli.ending lists them."""
    return ended(lambda: _run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    """Reads the arguments and runs their command."""
    description = "Monte-Carlo planners on games: play, matches, experiments of papers and benchmarks."
    parser = Parser(prog="ucd", description=description, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"ucd {ucd_envs.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    for command in COMMANDS:
        command.add(commands)
    known, rest = parser.parse_known_args(arguments)
    run: Callable[[argparse.Namespace], int] = known.run
    with usage():
        game, written = game_from(getattr(known, "game", None))
        known.game, known.settings = game, written | settings_from(rest, game)
    return run(known)
