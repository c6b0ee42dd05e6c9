"""Playout policies, what may be played in a simulation after its descent, and priors, what is thought of moves before it."""

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
from ucd_planners.search.initial import Priors
from ucd_planners.search.policies import Policy

__all__ = [
    "BHRF",
    "CMC",
    "INITIAL",
    "MAST",
    "POLICIES",
    "GoExpert",
    "GoInitial",
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
INITIAL: dict[str, Callable[..., Priors]] = {"go_initial": GoInitial}
"""All priors by name."""
