"""Subcommand `ucd games`: lists the available games."""

from __future__ import annotations

import argparse
from typing import Any

from ucd_envs import registry
from ucd_planners.cli.console import usage


def add(commands: Any) -> None:
    """Adds `ucd games`."""
    parser = commands.add_parser("games", allow_abbrev=False, help="lists the games and their settings")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    for name in registry.available():
        with usage():
            settings = registry.parameters(name).values()
        print(name, ", ".join(f"{setting.name}={setting.default!r}" for setting in settings) or "(no settings)")
    return 0
