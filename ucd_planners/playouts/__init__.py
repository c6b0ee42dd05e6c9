"""Playout policies suggest moves of playouts; initial statistics are virtual playouts of untried moves."""

from __future__ import annotations

from collections.abc import Callable

from ucd_planners.go.expert import GoExpert
from ucd_planners.go.initial import GoInitial
from ucd_planners.playouts.bhrf import BHRF
from ucd_planners.playouts.cmc import CMC
from ucd_planners.playouts.last_good_reply import LastGoodReply
from ucd_planners.playouts.mast import MAST
from ucd_planners.playouts.n_grams import NGrams
from ucd_planners.playouts.pool_rave import PoolRAVE
from ucd_planners.search.interface import Initial, PlayoutPolicy

__all__ = [
    "BHRF",
    "CMC",
    "INITIAL",
    "MAST",
    "POLICIES",
    "GoExpert",
    "GoInitial",
    "Initial",
    "LastGoodReply",
    "NGrams",
    "PlayoutPolicy",
    "PoolRAVE",
]

POLICIES: dict[str, Callable[..., PlayoutPolicy]] = {
    "cmc": CMC,
    "bhrf": BHRF,
    "last_good_reply": LastGoodReply,
    "mast": MAST,
    "n_grams": NGrams,
    "pool_rave": PoolRAVE,
    "go_expert": GoExpert,
}
"""Every policy by its name in a planner's text."""
INITIAL: dict[str, Callable[..., Initial]] = {"go_initial": GoInitial}
"""Every kind of initial statistics by its name in a planner's text."""
