"""The memory of a search graph: its arrays, made and lengthened in Python between two runs of the compiled loop."""

from __future__ import annotations

import numpy as np

from ucd_envs.records import address_of
from ucd_envs.rules import Rules
from ucd_planners.graph import COUNTS, EDGE, GRAPH, MORE_EDGES, MORE_NODES, NODE, PLACES, enter_all
from ucd_planners.selection.seam import MOST_PLAYERS, Selection

MOST_ACTIONS = 2**16 - 1
"""Actions, and places in a block of edges, are 16-bit numbers."""


class Graph:
    """A search graph as Python holds it: the arrays that kernels fill, and the record that tells kernels where they are."""

    def __init__(self, selection: Selection, rules: Rules, playouts: int, most_edges: int) -> None:
        """A graph without nodes for a game, with room for about so many playouts and at most so many edges.

        Raises ValueError for a game with more players or actions than a graph can hold.
        """
        if rules.players > MOST_PLAYERS or rules.actions > MOST_ACTIONS:
            raise ValueError(f"a graph holds {MOST_PLAYERS} players and {MOST_ACTIONS} actions at most, but {rules} has more")
        self.layout = selection.layout(rules.players)
        self.header = np.zeros(GRAPH.itemsize, np.uint8)
        self._words = self.header.view(np.int64)
        self.arrays: dict[str, np.ndarray] = {}
        record = self.header.view(GRAPH)[0]
        record.players, record.actions, record.most_edges = rules.players, rules.actions, most_edges
        record.columns, record.share_columns = self.layout.columns, self.layout.shares
        record.has_table, record.keeps_ended = self.layout.table, self.layout.ended
        record.words = rules.position_words if self.layout.table else 0
        whole, constants = selection.parameters(rules.players)
        record.whole[: len(whole)] = whole
        record.constants[: len(constants)] = constants
        self._set("free", np.full(rules.actions + 1, -1, np.int32))
        self._set("table", np.zeros(1, np.int32))
        self._make_edge_room(playouts + playouts // 4 + rules.actions)
        self._make_node_room(playouts + 2 if self.layout.table else playouts // 4 + 16)
        self._make_move_room(8 * playouts + rules.actions)

    def __getattr__(self, name: str) -> np.ndarray:
        """An array by its name."""
        try:
            array: np.ndarray = self.__dict__["arrays"][name]
        except KeyError:
            raise AttributeError(name) from None
        return array

    def count(self, name: str) -> int:
        """One of COUNTS."""
        return int(self._words[PLACES[name]])

    def clear(self) -> None:
        """Forgets all nodes and edges, but keeps the room."""
        for name in COUNTS[: COUNTS.index("node_room")]:
            self._words[PLACES[name]] = 0
        self.free.fill(-1)
        self.table.fill(0)

    def grow(self, playouts_left: int | None) -> None:
        """Makes more room of the kind that a search said it wants, but no more than the rest of a budget can fill."""
        wanted, actions = self.count("wanted"), self.count("actions")
        if wanted == MORE_NODES:
            self._make_node_room(next_size(self.count("node_room"), 1, playouts_left))
        elif wanted == MORE_EDGES:
            self._make_edge_room(next_size(self.count("edge_room"), 2, playouts_left) + actions)
        else:
            self._make_move_room(next_size(self.count("move_room"), actions, playouts_left) + actions)

    @property
    def bytes(self) -> int:
        """Memory of all arrays; of those for the frontier, which begin empty in each backup, the part that was ever written."""
        whole = sum(array.nbytes for name, array in self.arrays.items() if name not in ("pending", "frontier"))
        return whole + 2 * self.count("widest") * (8 * self.layout.columns + 4)

    def block(self, node: int) -> slice:
        """The places of a node's edges."""
        first = int(self.nodes[node]["first_edge"])
        return slice(first, first + int(self.nodes[node]["tried"]))

    def _make_node_room(self, size: int) -> None:
        self._words[PLACES["node_room"]] = size
        columns = self.layout.columns
        self._lengthen("nodes", size, NODE)
        self._lengthen("weight", size, np.float64)
        self._lengthen("sums", size, np.float64, columns)
        self._set("pending", np.empty((2 * size, columns)))
        self._set("frontier", np.empty((2, size), np.int32))
        if self.layout.table:
            self._lengthen("positions", size, np.uint64, self.count("words"))
            entries = 1 << (2 * size - 1).bit_length()
            if entries > len(self.table):
                self._words[PLACES["table_size"]] = entries
                self._set("table", np.zeros(entries, np.int32))
                enter_all(self.header)

    def _make_edge_room(self, size: int) -> None:
        self._words[PLACES["edge_room"]] = size
        self._lengthen("edges", size, EDGE)
        self._lengthen("exploit", size, np.float64)
        self._lengthen("explore", size, np.float64)
        self._lengthen("payoff", size, np.float64, self.count("players"))
        if self.layout.ended:
            self._lengthen("ended_payoff", size, np.float64, self.count("players"))
        if self.layout.shares:
            self._lengthen("shares", size, np.float64, self.layout.shares)

    def _make_move_room(self, size: int) -> None:
        self._words[PLACES["move_room"]] = size
        self._lengthen("moves", size, np.uint16)

    def _lengthen(self, name: str, size: int, dtype: np.typing.DTypeLike, *columns: int) -> None:
        array = np.empty((size, *columns), dtype)
        if name in self.arrays:
            array[: len(self.arrays[name])] = self.arrays[name]
        self._set(name, array)

    def _set(self, name: str, array: np.ndarray) -> None:
        self.arrays[name] = array
        self._words[PLACES[name]] = address_of(array)


def next_size(size: int, each: int, playouts_left: int | None) -> int:
    """Half as much again, or less if the playouts that are left need less at `each` places a playout."""
    more = size // 2 + 64
    return size + (more if playouts_left is None else min(more, each * playouts_left + 64))
