"""The memory of a search graph: its arrays, made and lengthened in Python between two runs of the compiled loop."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import types

from ucd_envs.kernels import BYTES, WORDS, kernel
from ucd_envs.rules import Rules
from ucd_envs.structs import address_of, fields
from ucd_planners.search.graph import COUNTS, EDGE, GRAPH, MORE_EDGES, MORE_NODES, NODE, PLACES, add_node, enter_all
from ucd_planners.search.interface import MOST_PLAYERS, Selection
from ucd_planners.search.reuse import copy_reachable, node_of, survey

MOST_ACTIONS = 2**16 - 1
"""Actions, and places in a block of edges, are 16-bit numbers."""


@kernel(types.void(BYTES, WORDS, types.int64))
def plant(graph, words, mover):
    """Makes the root of an empty graph, for a position and its mover."""
    add_node(fields(graph, GRAPH), words, mover)


class Options(NamedTuple):
    """How a search grows its graph."""

    adds_all: bool
    """Whether all positions of a simulation are added, or the first new one."""
    urgency: float
    """The bound of an untried move."""
    keeps: bool
    """Whether the graph serves the next search too."""
    has_priors: bool = False
    """Whether moves have priors."""


DEFAULT_OPTIONS = Options(adds_all=False, urgency=math.inf, keeps=False)
LARGE = 2**24
"""Bytes of a graph that are given back rather than left for the next rebuilding."""


class Graph:
    """A search graph as Python holds it: the arrays that kernels fill, and the record that tells kernels where they are."""

    def __init__(
        self, selection: Selection, rules: Rules, playouts: int, most_edges: int, options: Options = DEFAULT_OPTIONS
    ) -> None:
        """A graph without nodes for a game, with room for about so many playouts and at most so many edges.

        Raises ValueError for a game with more players or actions than a graph can hold.
        """
        if rules.players > MOST_PLAYERS or rules.actions > MOST_ACTIONS:
            raise ValueError(f"a graph holds {MOST_PLAYERS} players and {MOST_ACTIONS} actions at most, but {rules} has more")
        self._arguments = selection, rules, most_edges, options
        self.layout = selection.layout(rules.players)
        self.plies = rules.max_plies if options.adds_all else 0
        self.header = np.zeros(GRAPH.itemsize, np.uint8)
        self._words = self.header.view(np.int64)
        self.arrays: dict[str, np.ndarray] = {}
        self.spare: Graph | None = None
        self.ply = 0
        record = self.header.view(GRAPH)[0]
        record.players, record.actions, record.most_edges = rules.players, rules.actions, most_edges
        record.columns, record.share_columns = self.layout.columns, self.layout.shares
        record.has_table, record.keeps_ended = self.layout.table, self.layout.ended
        record.words = rules.key_words if self.layout.table or options.keeps else 0
        record.adds_all, record.urgency, record.amaf_kind = options.adds_all, options.urgency, self.layout.amaf
        record.adds_leaf = self.layout.adds_leaf
        record.has_chooser, record.has_priors = selection.chooser is not None or options.has_priors, options.has_priors
        whole, constants = selection.parameters(rules.players)
        record.whole[: len(whole)] = whole
        record.constants[: len(constants)] = constants
        self._set("free", np.full(rules.actions + 1, -1, np.int32))
        self._set("table", np.zeros(1, np.int32))
        self._make_edge_room(playouts + playouts // 4 + rules.actions)
        self._make_node_room(playouts + 2 if self.layout.adds_leaf else playouts // 4 + 16)
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

    def begin(self, words: np.ndarray, mover: int, ply: int) -> Graph:
        """The graph with a position as its root: what can be reached from there where positions are kept, else afresh.

        words: [key_words] uint64; ply: of the position. A position above the last root starts afresh too, since what a
        search learns does not go up beyond its root. It is this graph, or another one that has copied what can still be
        reached: when as many edges have been added as were left the last time, or when edges run short, so that copying never
        costs much more than adding did.
        """
        lasts = self._arguments[-1].keeps and self.count("node_count") > 0 and ply >= self.ply
        node = node_of(self.header, words) if lasts else -1
        self.ply = ply
        if node < 0:
            self.clear()
            plant(self.header, words, mover)
            return self
        for name in ("playouts", "depth"):
            self._words[PLACES[name]] = 0
        self._words[PLACES["root"]] = node
        edges = self.count("edge_count")
        if edges < 2 * self.count("kept") and 2 * edges < self.count("most_edges"):
            return self
        return self._rebuilt()

    def _rebuilt(self) -> Graph:
        """A graph of what can be reached from the root."""
        counted = np.zeros(3, np.int64)
        survey(self.header, counted)
        other, self.spare = self.spare, None
        if other is None:
            selection, rules, most_edges, options = self._arguments
            other = Graph(selection, rules, 0, most_edges, options)
        other.clear()
        for name, least in zip(("node_room", "edge_room", "move_room"), counted.tolist(), strict=True):
            if other.count(name) < least + least // 4:
                other._make_room(name, least + least // 4 + 64)
        copy_reachable(self.header, other.header, counted)
        other.ply = self.ply
        other.spare = self if self.bytes < LARGE else None
        return other

    def grow(self, playouts_left: int | None) -> None:
        """Makes more room of the kind that a search said it wants, but no more than the rest of a budget can fill."""
        wanted, actions, plies = self.count("wanted"), self.count("actions"), self.plies
        if wanted == MORE_NODES:
            name, each, least = "node_room", 1 + plies, plies
        elif wanted == MORE_EDGES:
            name, each, least = "edge_room", 2 + plies, (1 + plies) * actions
        else:
            name, each, least = "move_room", (1 + plies) * actions, (1 + plies) * actions
        self._make_room(name, next_size(self.count(name), each, playouts_left) + least)

    def _make_room(self, name: str, size: int) -> None:
        {"node_room": self._make_node_room, "edge_room": self._make_edge_room, "move_room": self._make_move_room}[name](size)

    @property
    def bytes(self) -> int:
        """Memory of all arrays, those kept for the next rebuilding too; of those for the frontier, which begin empty in each
        backup, the part that was ever written.
        """
        whole = sum(array.nbytes for name, array in self.arrays.items() if name not in ("pending", "frontier"))
        spare = 0 if self.spare is None else self.spare.bytes
        return whole + spare + 2 * self.count("widest") * (8 * self.layout.columns + 4)

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
        if self.layout.amaf:
            self._lengthen("amaf", size, np.float32, self.count("players") * self.count("actions"), 2)
        if self.layout.amaf > 1:
            self._lengthen("mixed", size, np.float32, self.count("actions"), 2)
        self._set("pending", np.empty((2 * size, columns)))
        self._set("frontier", np.empty((2, size), np.int32))
        self._lengthen("positions", size, np.uint64, self.count("words"))
        if self.layout.table:
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
        if self._arguments[-1].has_priors:
            self._lengthen("priors", size, np.float32, 2)

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
