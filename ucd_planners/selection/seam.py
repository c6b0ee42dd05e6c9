"""What a selection is to the search: a backup kernel, its parameters, and its columns in the graph.

After each simulation the search calls `back_up(g, w, length)` with the records of the graph and of the simulation: the first
`length` entries of `path_of(w)` are the sources and edges of the descent, `w.payoffs` each player's payoff. The kernel
leaves `exploit`, `explore` and `weight` right for the next choice.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numba import from_dtype, types

from ucd_envs.records import array_at, record
from ucd_envs.rules import kernel, number
from ucd_planners.graph import GRAPH_RECORD, INDEX

MOST_PLAYERS = 16

WORK = record(
    ("path_nodes", np.uint64),
    ("path_edges", np.uint64),
    ("longest", np.int64),
    ("payoffs", np.float64, (MOST_PLAYERS,)),
)
"""What one simulation leaves for its backup: the addresses of the path and its capacity, and each player's payoff."""
WORK_RECORD = from_dtype(WORK)
BACK_UP = types.void(GRAPH_RECORD, WORK_RECORD, types.int64)


@kernel(inline=True)
def path_of(w):
    """Sources and edges of the descent: two [longest] int32."""
    return array_at(w.path_nodes, (w.longest,), INDEX), array_at(w.path_edges, (w.longest,), INDEX)


class Layout(NamedTuple):
    """What a selection needs in the graph."""

    table: bool
    """Whether positions share nodes."""
    columns: int
    """Sums a node."""
    shares: int
    """Shares an edge."""
    ended: bool
    """Whether w'(e) is kept."""


class Parameters(NamedTuple):
    """A selection's parameters, as its kernel lays them out in the graph's record."""

    whole: np.ndarray
    """[at most 16] int64."""
    constants: np.ndarray
    """[at most 8] float64."""


class Selection(Protocol):
    """What the graph and the planner ask of a selection."""

    @property
    def kernel(self) -> Any:
        """The backup, declared with @kernel(BACK_UP)."""

    def layout(self, players: int) -> Layout:
        """Its columns in the graph."""

    def parameters(self, players: int) -> Parameters:
        """What its kernel reads."""


def checked_constant(c: Any) -> float:
    """An exploration constant: a finite number, 0 or more. Raises TypeError or ValueError otherwise."""
    if not 0 <= number("c", c) < float("inf"):
        raise ValueError(f"c must be a finite number, 0 or more, not {c!r}")
    return float(c)
