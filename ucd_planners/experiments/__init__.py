"""The experiments of papers, reproduced: one module for each paper."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ucd_planners.experiments.experiment import Experiment

MODULES = {
    **dict.fromkeys(("leftright", "leftright-readings", "ucd-hex", "ucd-hex-readings"), "ucd"),
    "leftright-order": "ucd_orders",
    **dict.fromkeys(("ucd-go", "ucd-rave"), "ucd_go"),
    "ucd-go-budgets": "ucd_go_budgets",
    **dict.fromkeys(("ucd-hex-kept", "ucd-go-kept"), "ucd_kept"),
    **dict.fromkeys(("ucd-ggp", "ucd-ggp-budgets", "ucd-ggp-best"), "ucd_ggp"),
    "playouts-equivalent": "equivalents",
    "shared-positions": "shared_positions",
    **dict.fromkeys(("graph-against-tree", "graph-with-rave"), "beyond"),
    **dict.fromkeys(("childs-trees", "childs-trees-whole"), "childs_trees"),
    "childs-go": "childs_go",
    **dict.fromkeys(("nogo", "nogo-knowledge"), "nogo"),
    **dict.fromkeys(("cmc", "cmc-hex", "cmc-go", "cmc-over", "cmc-details", "cmc-zero"), "cmc"),
    **dict.fromkeys(("bhrf", "bhrf-playouts", "bhrf-epsilon", "bhrf-readings"), "bhrf"),
    "bhrf-profile": "bhrf_profile",
}
"""Module of every experiment, imported on first use of the experiment."""


def experiment_named(name: str) -> Experiment:
    """Returns an experiment by its name, a reference `package.module:name`, or an entry point of the group
    `ucd.experiments`.

    Raises TypeError for anything but text, and ValueError with one sentence for a name that stands for none.
    """
    from ucd_envs.settings import shown
    from ucd_planners.experiments.experiment import Experiment
    from ucd_planners.references import found

    if isinstance(name, str) and name in MODULES:
        chosen = importlib.import_module(f"{__name__}.{MODULES[name]}").EXPERIMENTS[name]
    else:
        chosen = found(name, dict.fromkeys(MODULES), ("ucd.experiments",), "experiment")
    if not isinstance(chosen, Experiment):
        raise ValueError(f"{name} is no experiment, but {shown(chosen)}")
    return chosen
