"""Playout policies that learn: what may be played in a simulation after its descent."""

from __future__ import annotations

from collections.abc import Callable

from ucd_planners.playouts.cmc import CMC
from ucd_planners.playouts.seam import Policy

__all__ = ["CMC", "POLICIES", "Policy"]

POLICIES: dict[str, Callable[..., Policy]] = {"cmc": CMC}
"""Every policy by the name that it has in a planner's text."""
