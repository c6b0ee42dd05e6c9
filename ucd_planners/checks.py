"""Checks of a selection, a playout policy or initial statistics, with a report in sentences.

Short searches run in small games with every guard on: a strip of known bytes lies behind each array, and suggestions, choices
and moves are compared with the rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ucd_envs import make_rules
from ucd_envs.kernels import compiled
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules
from ucd_planners.planner import Planner
from ucd_planners.result import SearchResult
from ucd_planners.search.interface import BACKUP, INITIAL, LEARN, SELECT, SUGGEST
from ucd_planners.selection.ucd import UCD

GAMES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("tic_tac_toe", {}),
    ("hex", {"size": 4}),
    ("connect_four", {"columns": 4, "rows": 4}),
    ("leftright", {"steps": 12}),
    ("go", {"size": 4}),
    ("havannah", {"base": 3}),
)
"""Games of one player and two, with and without draws."""
PLAYOUTS = 300


@dataclass(frozen=True)
class Report:
    """The result of a check."""

    subject: str
    games: tuple[str, ...]
    """The games that were searched."""
    faults: tuple[str, ...]
    """One sentence for each fault; empty for a subject that passes."""

    @property
    def passed(self) -> bool:
        """Whether no fault was found."""
        return not self.faults

    def __str__(self) -> str:
        looked = f"{self.subject}: searches in {len(self.games)} games"
        return f"{looked}, no fault" if self.passed else "\n".join([f"{looked}, {len(self.faults)} faults", *self.faults])


def check(subject: Any, playouts: int = PLAYOUTS, seed: int = 0) -> Report:
    """Searches small games with a selection, a playout policy or initial statistics and reports each fault.

    A game that the subject refuses with ValueError is left out. Raises TypeError for any other object.
    """
    kind, kernels = _kernels_of(subject)
    name = str(subject)
    faults: list[str] = []
    for kernel, signature in kernels:
        try:
            compiled(kernel, signature)
        except TypeError as error:
            faults.append(str(error))
    if faults:
        return Report(name, (), tuple(faults))
    searched: list[str] = []
    for game, settings in GAMES:
        rules = make_rules(game, **settings)
        try:
            found = _searched(kind, subject, rules, playouts, seed)
        except ValueError:
            continue
        except (RuntimeError, TypeError) as error:
            faults.append(str(error))
        else:
            faults += found
        searched.append(str(rules))
    if not searched:
        faults.append(f"{name} refuses all of {', '.join(game for game, _ in GAMES)}")
    return Report(name, tuple(searched), tuple(dict.fromkeys(faults)))


def _kernels_of(subject: Any) -> tuple[str, list[tuple[Any, Any]]]:
    """The kind of a subject, and its kernels with their signatures."""
    if not isinstance(subject, type):
        if hasattr(subject, "backup_kernel"):
            chosen = [] if subject.select_kernel is None else [(subject.select_kernel, SELECT)]
            return "selection", [*chosen, (subject.backup_kernel, BACKUP)]
        if hasattr(subject, "suggest") and hasattr(subject, "prob"):
            return "policies", [(subject.suggest, SUGGEST), (subject.learn, LEARN)]
        if hasattr(subject, "kernel") and hasattr(subject, "memory"):
            return "initial", [(subject.kernel, INITIAL)]
    raise TypeError(f"expected a selection, a playout policy or initial statistics, not {subject!r}")


def _searched(kind: str, subject: Any, rules: Rules, playouts: int, seed: int) -> list[str]:
    """Searches a game twice from its start and returns the faults of what was found."""
    results = []
    for _ in range(2):
        if kind == "selection":
            planner = Planner(subject, playouts=playouts, seed=seed)
        else:
            options: dict[str, Any] = {kind: subject}
            planner = Planner(UCD(table=False), playouts=playouts, seed=seed, **options)
        planner.guard()
        results.append(planner.search(rules.initial_state().settled(seeded(seed))))
    return _faults(str(subject), results, playouts)


def _faults(name: str, results: list[SearchResult], playouts: int) -> list[str]:
    """The faults of two results that should be equal."""
    first, second = results
    found = []
    if first.visits.tobytes() != second.visits.tobytes() or first.values.tobytes() != second.values.tobytes():
        found.append(f"{name} gives another result for the same seed in {first.rules}")
    if first.visits.sum() < playouts:
        found.append(f"{name} counts {first.visits.sum()} of {playouts} playouts at the root of {first.rules}")
    if not np.all((first.values[first.visits > 0] >= -1e-9) & (first.values[first.visits > 0] <= 1 + 1e-9)):
        found.append(f"{name} gives a mean payoff outside [0, 1] in {first.rules}")
    return found
