"""The command `ucd`, with one file for each subcommand."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

import ucd_envs
from ucd_planners.cli import bench, check, games, gtp, match, play, profile, reproduce
from ucd_planners.cli.console import UsageError, game_from, settings_from, usage

COMMANDS = (play, match, gtp, reproduce, profile, bench, check, games)
"""Subcommands in the order of the help. Each has `add(commands)`, which adds its parser and the function that runs it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command. Returns its exit status: 0, 1 for a stopped command, 2 for unusable arguments."""
    description = "Monte-Carlo planners on games: play, matches, experiments of papers and benchmarks."
    parser = argparse.ArgumentParser(prog="ucd", description=description, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"ucd {ucd_envs.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    for command in COMMANDS:
        command.add(commands)
    known, rest = parser.parse_known_args(arguments)
    run: Callable[[argparse.Namespace], int] = known.run
    try:
        with usage():
            game, written = game_from(getattr(known, "game", None))
            known.game, known.settings = game, written | settings_from(rest, game)
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
