"""Subcommand `ucd check`: tests whether a game, a selection or a policy follows its interface, and a program the protocol."""

from __future__ import annotations

import argparse
from typing import Any

from ucd_envs import registry
from ucd_envs.rules import Rules
from ucd_envs.settings import real
from ucd_planners.cli.console import game_from, rich, table, usage

PROGRAM, PREFIX = "gtp", "gtp:"
"""Beginnings of a program's text, with brackets and with its bare command line."""


def add(commands: Any) -> None:
    """Adds `ucd check`."""
    parser = commands.add_parser(
        "check",
        allow_abbrev=False,
        help="checks a user-defined game, selection or policy, or a program that speaks GTP",
        description="Plays random games and short searches with a game, a selection, a playout policy or initial statistics, "
        "compares what its kernels say, and prints one sentence for each finding. Of a program that speaks GTP it tells in a "
        "table which rules of the protocol it keeps. The status is 1 if there is a fault.",
        epilog='examples: ucd check "my_module:rules(size=5)"; ucd check "gtp:gnugo --mode gtp" --game go --size 9',
    )
    parser.add_argument(
        "name",
        help="a reference such as my_module:my_name, or a name, with parameters in brackets; gtp: before a program's command "
        "line, or gtp('gnugo --mode gtp', timeout=30) with seconds for each answer",
    )
    parser.add_argument("--game", help="the game of a program (default go), with its settings, such as --size 9")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    import ucd_envs
    import ucd_planners

    if arguments.name.startswith((PREFIX, f"{PROGRAM}(")):
        return _checked_program(arguments)
    with usage():
        if arguments.game is not None:
            raise ValueError('--game goes with a program, such as ucd check "gtp:gnugo --mode gtp" --game go')
        made = _made(arguments.name)
        report = ucd_envs.check(made) if isinstance(made, Rules) else ucd_planners.check(made)
    print(report)
    return 0 if report.passed else 1


def _checked_program(arguments: argparse.Namespace) -> int:
    """Prints a table of the rules of GTP and of how a program keeps them."""
    from ucd_planners.grammar import TIMEOUT, parse
    from ucd_planners.gtp.checks import check_program

    with usage():
        rich()
        command, timeout = arguments.name.removeprefix(PREFIX), TIMEOUT
        if command == arguments.name:
            written = parse(command)[1]
            command, timeout = written["command"], real("timeout", written.get("timeout", TIMEOUT))
        rules = registry.make_rules(arguments.game or "go", **arguments.settings)
        report = check_program(command, rules, timeout)
    table(
        ["rule", "kept", "what the program does"], [[rule, "no" if fault else "yes", fault] for rule, fault in report.findings]
    )
    kept = sum(not finding.fault for finding in report.findings)
    slowest = f"; the slowest answer, to {report.slowest!r}, took {report.seconds:.2g} s" if report.slowest else ""
    print(f"{kept} of {len(report.findings)} rules are kept{slowest}")
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
