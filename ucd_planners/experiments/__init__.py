"""The experiments of papers, run again: one module a paper."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ucd_planners.experiments.experiment import Experiment

MODULES = {
    **dict.fromkeys(("leftright", "leftright-readings", "ucd-hex", "ucd-hex-readings"), "ucd"),
    **dict.fromkeys(("ucd-go", "ucd-rave"), "ucd_go"),
    **dict.fromkeys(("cmc", "cmc-hex", "cmc-go"), "cmc"),
    **dict.fromkeys(("bhrf", "bhrf-playouts", "bhrf-epsilon"), "bhrf"),
}
"""The module of every experiment; it is imported when the experiment is first asked for."""


def experiment_named(name: str) -> Experiment:
    """An experiment by its name. Raises ValueError for an unknown one."""
    if name not in MODULES:
        raise ValueError(f"unknown experiment {name!r}: expected one of {', '.join(MODULES)}")
    found: Experiment = importlib.import_module(f"{__name__}.{MODULES[name]}").EXPERIMENTS[name]
    return found
