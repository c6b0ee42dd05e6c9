"""Subcommand `ucd check`: tests whether a game, a selection or a policy follows its interface."""

from __future__ import annotations

import argparse
from typing import Any

from ucd_envs import registry
from ucd_envs.rules import Rules
from ucd_planners.cli.console import game_from, usage


def add(commands: Any) -> None:
    """Adds `ucd check`."""
    parser = commands.add_parser(
        "check",
        allow_abbrev=False,
        help="checks a user-defined game, selection or policy",
        description="Plays random games and short searches with a game, a selection, a playout policy or initial statistics, "
        "compares what its kernels say, and prints one sentence for each finding. The status is 1 if there is a fault.",
        epilog='example: ucd check "my_module:rules(size=5)"',
    )
    parser.add_argument("name", help="a reference such as my_module:my_name, or a name, with parameters in brackets")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    import ucd_envs
    import ucd_planners

    with usage():
        made = _made(arguments.name)
        report = ucd_envs.check(made) if isinstance(made, Rules) else ucd_planners.check(made)
    print(report)
    return 0 if report.passed else 1


def _made(text: str) -> Any:
    """Returns the rules, the selection or the policy of a text. Raises ValueError or TypeError for one that names none."""
    from ucd_planners.notation import initial_from, is_selection, player_from, policies_from
    from ucd_planners.planner import Planner
    from ucd_planners.playouts import INITIAL, POLICIES
    from ucd_planners.presets import PRESETS
    from ucd_planners.references import built

    name, written = game_from(text)
    assert name is not None
    if name in POLICIES:
        return policies_from(text)[0]
    if name in INITIAL:
        return initial_from(text)
    if name in PRESETS:
        return player_from(text).selection
    if ":" not in name or registry.family_of(name) is not None:
        return registry.make_rules(name, **written)
    made = built(name, registry.load(name), written)
    if isinstance(made, Planner):
        return made.selection
    if isinstance(made, Rules):
        return registry.make_rules(name, **written)
    if is_selection(made) or (not isinstance(made, type) and (hasattr(made, "suggest") or hasattr(made, "memory"))):
        return made
    raise ValueError(f"{name} is no game, selection or policy, but {made!r}")
