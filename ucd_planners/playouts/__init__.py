"""Playout policies, what may be played in a simulation after its descent, and priors, what is thought of moves before it."""

from __future__ import annotations

from collections.abc import Callable

from ucd_planners.playouts.bhrf import BHRF
from ucd_planners.playouts.cmc import CMC
from ucd_planners.playouts.go_expert import GoExpert
from ucd_planners.playouts.go_priors import GoPriors
from ucd_planners.playouts.last_good_reply import LastGoodReply
from ucd_planners.playouts.mast import MAST
from ucd_planners.playouts.n_grams import NGrams
from ucd_planners.playouts.pool_rave import PoolRAVE
from ucd_planners.playouts.seam import Policy
from ucd_planners.selection.priors import Priors

__all__ = [
    "BHRF",
    "CMC",
    "MAST",
    "POLICIES",
    "PRIORS",
    "GoExpert",
    "GoPriors",
    "LastGoodReply",
    "NGrams",
    "Policy",
    "PoolRAVE",
    "Priors",
]

POLICIES: dict[str, Callable[..., Policy]] = {
    "cmc": CMC,
    "bhrf": BHRF,
    "last_good_reply": LastGoodReply,
    "mast": MAST,
    "n_grams": NGrams,
    "pool_rave": PoolRAVE,
    "go_expert": GoExpert,
}
"""Every policy by the name that it has in a planner's text."""
PRIORS: dict[str, Callable[..., Priors]] = {"go_priors": GoPriors}
"""All priors by name."""
