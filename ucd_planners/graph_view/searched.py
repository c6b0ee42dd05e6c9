"""The graph of a search, as long as its planner's memory holds it."""

from __future__ import annotations

from typing import Any

from ucd_envs.rules import State
from ucd_planners.graph_view.networkx import to_networkx
from ucd_planners.search.storage import Graph


class Searched:
    """The graph in a planner's memory, until the planner uses that memory for another search.

    A deep copy or a pickled copy has no graph.
    """

    def __init__(self, graph: Graph | None = None, state: State | None = None) -> None:
        self._graph, self._state = graph, state
        self._why = "a result that was copied or pickled has no graph, nor has an answer of a knowledge base: use another one"

    def forget(self) -> None:
        """Marks the memory as used by another search."""
        self._graph = self._state = None
        self._why = "the graph of this result is gone: its planner has searched again, or was reset, since"

    def to_networkx(self, most: int | None = None) -> Any:
        """Returns the graph as a networkx.MultiDiGraph. Raises ValueError when the memory belongs to another search."""
        if self._graph is None or self._state is None:
            raise ValueError(self._why)
        return to_networkx(self._graph, self._state, most)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Searched, ())
