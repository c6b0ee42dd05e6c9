"""What a selection is to the search: a kernel that chooses, one that backs up, their parameters, and columns in the graph.

At each node of a descent the search calls `choose(g, w, node, may_add, rng)`, which answers the place of a move in the node's
list: the first `tried` have edges; `may_add` says whether one without may be chosen; -1: there is nothing to choose from. Where
moves have priors (`g.has_priors`, `priors(g)`), a kernel of its own has to heed them.

After each simulation it calls `back_up(g, w, length)` with the records of the graph and of the simulation: the first `length`
entries of `path_of(w)` are the sources and edges of the descent, the first `w.count` of `moves_of(w)` its moves and then those
of the playout where the selection asks for them, `w.payoffs` each player's payoff. The kernel leaves `exploit`, `explore` and
`weight` right for the next choice.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numba import from_dtype, types

from ucd_envs.kernels import RNG, kernel
from ucd_envs.settings import real
from ucd_envs.structs import array_at, record
from ucd_planners.search.graph import GRAPH, GRAPH_RECORD, INDEX

MOST_PLAYERS, MOST_POLICIES = 16, 4
LOW = np.int64(0xFFFF)
"""The bits of a move that are its action."""

WORK = record(
    ("path_nodes", np.uint64),
    ("path_edges", np.uint64),
    ("path_room", np.int64),
    ("payoffs", np.float64, (MOST_PLAYERS,)),
    ("moves", np.uint64),
    ("descent", np.int64),
    ("count", np.int64),
    ("notes", np.uint64),
    ("actions", np.uint64),
    ("action_room", np.int64),
    ("graph", np.uint64),
    ("policies", np.int64),
    ("full", np.int64),
    ("probs", np.float64, (MOST_POLICIES,)),
    ("suggested", np.int64, (MOST_POLICIES,)),
    ("played", np.int64),
    ("reference", np.int64),
    ("rounds", np.int64),
)
"""What one simulation leaves for its selection and policies: the addresses of the path and its capacity, each player's payoff,
the address of the moves, how many those of the descent are and how many all, the addresses of room for notes and for a list of
actions, and of the graph, how many policies play out, which of them, a bit for each, have no room left, how often each is
asked, and how many moves each has suggested of how many in playouts since the search began; and, for a selection to remember, a
node of the descent and how often it has taken notes."""
WORK_RECORD = from_dtype(WORK)
CHOOSE = types.int64(GRAPH_RECORD, WORK_RECORD, types.int64, types.boolean, RNG)
BACK_UP = types.void(GRAPH_RECORD, WORK_RECORD, types.int64)


@kernel(inline=True)
def path_of(w):
    """Sources and edges of the descent: two [path_room] int32."""
    return array_at(w.path_nodes, (w.path_room,), INDEX), array_at(w.path_edges, (w.path_room,), INDEX)


@kernel(inline=True)
def moves_of(w):
    """The simulation's moves from the root on, each player * 2**16 + action: [path_room] int32."""
    return array_at(w.moves, (w.path_room,), INDEX)


@kernel(inline=True)
def actions_of(w):
    """Room for a list of all actions: [actions] int32."""
    return array_at(w.actions, (w.action_room,), INDEX)


@kernel(inline=True)
def graph_of(w):
    """The search's graph: a record of GRAPH."""
    return array_at(w.graph, (1,), GRAPH)[0]


@kernel(inline=True)
def notes_of(w, pairs):
    """Two numbers for every action of a player, to note what was played: [2, pairs] int32."""
    return array_at(w.notes, (2, pairs), INDEX)


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
    amaf: int = 0
    """What is kept of the actions played after a node: 0 nothing, 1 what its own playouts played, 2 that of its children
    beside. If anything is, the playout's moves are move_of."""

    @property
    def adds_leaf(self) -> bool:
        """Whether a new position gets its node at once: where it can be found, or where its playouts are kept."""
        return self.table or self.amaf > 0


class Parameters(NamedTuple):
    """A selection's parameters, as its kernel lays them out in the graph's record."""

    whole: np.ndarray
    """[at most 16] int64."""
    constants: np.ndarray
    """[at most 8] float64."""


class Selection(Protocol):
    """What the graph and the planner ask of a selection."""

    @property
    def chooser(self) -> Any:
        """What chooses, declared with @kernel(CHOOSE), or None for `choose` of ucb.py, which is compiled into the loop."""

    @property
    def kernel(self) -> Any:
        """The backup, declared with @kernel(BACK_UP)."""

    def layout(self, players: int) -> Layout:
        """Its columns in the graph."""

    def parameters(self, players: int) -> Parameters:
        """What its kernel reads."""


def checked_constant(c: Any) -> float:
    """An exploration constant: a finite number, 0 or more. Raises TypeError or ValueError otherwise."""
    if not 0 <= real("c", c) < float("inf"):
        raise ValueError(f"c must be a finite number, 0 or more, not {c!r}")
    return float(c)
