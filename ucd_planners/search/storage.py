"""The memory of a search graph: its blocks, made and lengthened in Python between two runs of the compiled loop."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types

from ucd_envs.kernels import BYTES, WORDS, kernel
from ucd_envs.rules import Rules
from ucd_envs.structs import address_of, fields
from ucd_planners.search.graph import EDGE, GRAPH, NODE
from ucd_planners.search.growth import add_node, insert_all
from ucd_planners.search.interface import (
    DEFAULT,
    GROW_ACTIONS,
    GROW_EDGES,
    GROW_NODES,
    SearchOptions,
    Selection,
    divides_budget,
)
from ucd_planners.search.reuse import copy_reachable, node_of, survey
from ucd_planners.search.sim import Sim

MOST_ACTIONS = 2**16 - 1
"""Actions, and places in a block of edges, are 16-bit numbers."""
MOST_PLAYERS = 16
LARGE = 2**27
"""Bytes of a graph that are given back rather than left for the next rebuilding."""
SEARCHES = 8
"""Searches of a game for which a kept graph has room at first."""
COPIED, AT_LEAST = 512, 2**16
"""Bytes of a kept graph that are copied for each playout since the last time, at most, where few edges were added; and what
every copying takes beside them, in bytes."""
MOST_ROOM = 2**31
"""Bytes of a block that are asked for before they are needed: the system gives them only when they are written."""
PARTS = {
    "nodes": (("nodes", NODE), ("node_stats", np.float64)),
    "edges": (("edges", EDGE), ("mean_value", np.float64), ("exploration", np.float64), ("edge_stats", np.float64)),
    "actions": (("actions", np.uint16), ("initial_stats", np.float32)),
    "keys": (("keys", np.uint64),),
    "node_actions": (("played_rows", np.int32), ("node_action_stats", np.float32)),
    "slots": (("slots", np.int32),),
    "free_blocks": (("free_blocks", np.int32),),
}
"""The arrays of each block, one behind the other."""
WITH_COLUMNS = {"node_stats", "edge_stats", "initial_stats", "keys", "played_rows", "node_action_stats"}
FIELDS: Any = GRAPH.fields
COUNTS = {name: FIELDS[name][1] // 8 for name in ("edge_count", "most_edges", "root", "playouts", "depth", "transpositions")}
COUNTS |= {"node_count": FIELDS["nodes"][1] // 8 + 1, "node_room": FIELDS["nodes"][1] // 8 + 2}
COUNTS |= {"edge_places": FIELDS["edges"][1] // 8 + 1, "action_places": FIELDS["actions"][1] // 8 + 1}
"""Counts and where they lie in the record, in words of 8 bytes."""
OWN_COUNTS = ("ply", "kept", "reused", "simulated")
"""Counts of a kept graph that only Python knows: the root's ply, edges at the last rebuilding, the root's visits before the
search, and playouts since the last rebuilding but for those of the search."""
CLEARED = [place for name, place in COUNTS.items() if name not in ("most_edges", "node_room")]
"""Numbers that are 0 in a graph without nodes."""


@kernel(types.void(BYTES, WORDS, types.int64, types.int64))
def plant(graph, key, mover, ply):
    """Makes the root of an empty graph, for a position with its mover and ply."""
    add_node(fields(graph, GRAPH), key, mover, ply)


class Row(NamedTuple):
    """A row of an array of a block."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    bytes: int


class Graph:
    """A search graph as Python holds it: the arrays that kernels fill, and the record with their addresses.

    Its arrays are attributes by the names of PARTS, such as `graph.edges["visits"]`, each with the rows of its whole room.
    """

    def __init__(
        self, selection: Selection, rules: Rules, playouts: int, most_edges: int, options: SearchOptions = DEFAULT
    ) -> None:
        """Makes a graph without nodes, with room for about `playouts` playouts and at most `most_edges` edges.

        Raises ValueError for a game with more players or actions than a graph can hold.
        """
        if rules.players > MOST_PLAYERS or rules.actions > MOST_ACTIONS:
            raise ValueError(f"a graph holds {MOST_PLAYERS} players and {MOST_ACTIONS} actions at most, but {rules} has more")
        self._arguments = selection, rules, most_edges, options
        self.layout = layout = selection.layout(rules.players, rules.actions)
        self.plies = rules.max_plies if options.expand_all else 0
        self.moves, self.grouped = rules.moves, rules.inside is not None
        self.header = np.zeros(GRAPH.itemsize, np.uint8)
        self._numbers = self.header.view(np.int64)
        self._arrays: dict[str, np.ndarray] = {}
        self.record: Any = self.header.view(GRAPH)[0]
        self.spare: Graph | None = None
        self.ply = self.kept = self.reused = self.simulated = 0
        self._roomy = -1
        self._blocks: dict[str, np.ndarray] = {}
        self._parameters = selection.parameters(rules.players, rules.actions)
        pairs = {"all": rules.players * rules.actions, "mixed": rules.actions}
        record = self.record
        record.most_edges, record.parameters = most_edges, address_of(self._parameters)
        record.first_play_urgency = options.first_play_urgency
        record.nodes.columns, record.edges.columns = len(layout.node_stats), len(layout.edge_stats)
        single = 1 + (options.leaves > 1) if layout.has_priors else int(rules.knows_probabilities)
        record.actions.columns = 2 if options.has_initial else single
        record.keys.columns = rules.key_words if layout.merges or options.reuse_graph else 0
        record.node_actions.columns = sum(pairs[name] for name in layout.node_action_stats)
        self._rows = {block: [self._row(block, *part) for part in parts] for block, parts in PARTS.items()}
        self._widths = {block: sum(row.bytes for row in rows) for block, rows in self._rows.items()}
        self._make("free_blocks", rules.actions + 1)
        self.free_blocks.fill(-1)
        self._make("slots", 0)
        for name in ("nodes", "keys", "node_actions", "edges", "actions"):
            self._make(name, 0)
        self.make_room(playouts)

    def divide(self, playouts: int) -> None:
        """Hands the budget of a search to a selection that divides it."""
        if divides_budget(self.selection):
            self.selection.divide(self._parameters, playouts)

    @property
    def selection(self) -> Any:
        """The selection whose statistics it keeps."""
        return self._arguments[0]

    def make_room(self, playouts: int) -> None:
        """Makes room for about `playouts` playouts at once, and for later searches where the graph is kept.

        Memory is taken from the system only as it is written.
        """
        if playouts <= self._roomy:
            return
        if self._arguments[-1].reuse_graph:
            playouts = max(playouts, min(SEARCHES * playouts, self.most_edges + 1))
        self._roomy = playouts
        record, actions = self.record, self._listed
        nodes = playouts + 2 if self.adds_leaf else playouts // 4 + 16
        wanted = {
            "nodes": self._affordable(nodes, "nodes", "keys", "node_actions"),
            "edges": self._affordable(playouts + playouts // 4 + actions, "edges"),
            "actions": self._affordable(nodes * actions, "actions") + actions,
        }
        for name, size in wanted.items():
            if record[name]["room"] < size:
                self._grow(name, size)

    @property
    def adds_leaf(self) -> bool:
        """Whether a new position gets its node at once."""
        return self.layout.merges or bool(self.layout.node_action_stats) or self.layout.has_priors

    @property
    def _listed(self) -> int:
        """The largest number of rows that a node takes in the block of actions."""
        return self._arguments[1].actions + self.layout.has_priors

    def __getattr__(self, name: str) -> Any:
        """An array by its name, a row for each place of its room. Of `node_action_stats` it is a copy, a row for each node."""
        if name == "node_action_stats":
            rows = self.played_rows[: self.node_count]
            return self._arrays[name][rows[:, 0] if rows.size else slice(self.node_count)]
        try:
            return self.__dict__["_arrays"][name]
        except KeyError:
            raise AttributeError(name) from None

    def clear(self) -> None:
        """Forgets all nodes and edges, but keeps the room."""
        if self.node_count:
            self.slots.fill(0)
        self._numbers[CLEARED] = 0
        self.kept = self.reused = self.simulated = 0
        self.free_blocks.fill(-1)

    def begin(self, key: np.ndarray, mover: int, ply: int) -> Graph:
        """Returns the graph with a position as its root: the part that can be reached where positions are kept, else afresh.

        key: [key_words] uint64; ply: of the position. A position above the last root starts afresh too, since statistics do not
        go up beyond the root; `reused` is then 0, else the visits of the root's edges. It is this graph, or another one that
        has copied the part that can still be reached: when as many edges have been added as were left the last time, when edges
        run short, or when playouts took longer than copying would, since backups of a graph go up to what is out of reach.
        """
        lasts = self._arguments[-1].reuse_graph and self.node_count > 0 and ply >= self.ply
        node = node_of(self.header, key, ply) if lasts else -1
        self.ply = ply
        if node < 0:
            self.clear()
            plant(self.header, key, mover, ply)
            return self
        self.simulated += self.playouts
        self.record.playouts = self.record.depth = 0
        self.record.root = node
        self.reused = int(self.edges["visits"][self.block(node)].sum())
        edges, pays = self.edge_count, self.simulated * COPIED >= self._copied_bytes + AT_LEAST and self.layout.merges
        if edges < 2 * self.kept and 2 * edges < self.record.most_edges and not pays:
            return self
        return self._rebuilt()

    def _rebuilt(self) -> Graph:
        """Returns a graph of the positions that can be reached from the root."""
        numbers, counted = np.empty((2, self.node_count), np.int32), np.zeros(3, np.int64)
        survey(self.header, numbers, counted)
        other, self.spare = self.spare, None
        if other is None:
            selection, rules, most_edges, options = self._arguments
            other = Graph(selection, rules, 0, most_edges, options)
        other.clear()
        self._hand_rows_to(other, numbers[1, : counted[0]])
        # Rooms of the same size: they cost nothing until they are written, and scratch serves again.
        for name in ("nodes", "keys", "edges", "actions"):
            if other.record[name]["room"] != self.record[name]["room"]:
                other._make(name, int(self.record[name]["room"]))
        other._make_table()
        other._roomy = self._roomy
        copy_reachable(self.header, other.header, numbers, counted, int(self.layout.has_priors))
        other.ply, other.kept, other.reused = self.ply, other.edge_count, self.reused
        other.spare = self if self._copied_bytes < LARGE else None
        return other

    def _hand_rows_to(self, other: Graph, nodes: np.ndarray) -> None:
        """Gives another graph, whose nodes are some of this one's, its rows of `node_action_stats`: only numbers are copied.

        nodes: [nodes] int32, in the order of the other graph.
        """
        if self.record.node_actions.columns == 0:
            return
        rows = self.played_rows[:, 0]
        kept, free = rows[nodes], np.ones(len(rows), bool)
        free[kept] = False
        rows[: len(kept)], rows[len(kept) :] = kept, np.flatnonzero(free)
        for mine, others in ((self._blocks, other._blocks), (self._arrays, other._arrays)):
            for name in mine.keys() & {"node_actions", "played_rows", "node_action_stats"}:
                mine[name], others[name] = others[name], mine[name]
        for graph in (self, other):
            block = graph._blocks["node_actions"]
            graph.record.node_actions.address = address_of(block)
            graph.record.node_actions.room = len(graph.played_rows)

    def parts(self) -> tuple[dict[str, np.ndarray], dict[str, int]]:
        """Returns all that the graph holds: the rows in use of its arrays, and counts, each by its name.

        The table is left out, since it follows from the nodes.
        """
        rows = {"edges": self.edge_places, "actions": self.action_places, "free_blocks": len(self.free_blocks)}
        arrays = {
            name: getattr(self, name)[: rows.get(block, self.node_count)]
            for block, parts in PARTS.items()
            for name, _ in parts
            if name not in ("slots", "played_rows")
        }
        counts = {name: getattr(self, name) for name in (*COUNTS, *OWN_COUNTS) if name not in ("most_edges", "node_room")}
        return arrays, counts

    def restore(self, arrays: dict[str, np.ndarray], counts: dict[str, int]) -> None:
        """Takes what `parts` of a graph with the same arguments has returned."""
        self.clear()
        for name, count in (("nodes", "node_count"), ("edges", "edge_places"), ("actions", "action_places")):
            if self.record[name]["room"] < counts[count]:
                self._grow(name, counts[count])
        for name, rows in arrays.items():
            self._arrays[name][: len(rows)] = rows
        for name, number in counts.items():
            if name in COUNTS:
                self._numbers[COUNTS[name]] = number
            else:
                setattr(self, name, number)
        if self.layout.merges:
            insert_all(self.header)

    def grow(self, status: int, playouts_left: int | None) -> None:
        """Makes more room of the kind that a status asks for, but no more than the rest of a budget can fill."""
        actions, plies = self._listed, self.plies
        name, each, least = {
            GROW_NODES: ("nodes", 1 + plies, plies),
            GROW_EDGES: ("edges", 2 + plies, (1 + plies) * actions),
            GROW_ACTIONS: ("actions", (1 + plies) * actions, (1 + plies) * actions),
        }[status]
        self._grow(name, next_size(int(self.record[name]["room"]), each, playouts_left) + least)

    def _grow(self, name: str, size: int) -> None:
        if name == "nodes":
            self.make_node_room(size)
        else:
            self._make(name, size)

    def make_node_room(self, size: int) -> None:
        """Makes room for `size` nodes, their keys and played actions, and for the table that finds them."""
        for name in ("nodes", "keys", "node_actions"):
            self._make(name, size)
        self._make_table()

    def _make_table(self) -> None:
        """Makes the table that finds nodes, where there is one, as large as their room needs."""
        # Half of the table stays empty: a lookup ends at an empty slot.
        slots = 1 << (2 * int(self.record.nodes.room) - 1).bit_length()
        if self.layout.merges and slots > self.record.slots.room:
            self._make("slots", slots)
            insert_all(self.header)

    @property
    def bytes(self) -> int:
        """Memory that nodes, edges, actions and the table take, and that of the graph kept for the next rebuilding."""
        rows = self.node_count * self._widths["node_actions"]
        return int(self._copied_bytes + rows + (0 if self.spare is None else self.spare._copied_bytes))

    @property
    def _copied_bytes(self) -> int:
        """Memory of what a rebuilding copies: all but the rows that it hands on."""
        width = self._widths
        nodes = self.node_count * (width["nodes"] + width["keys"])
        return int(nodes + self.edge_places * width["edges"] + self.action_places * width["actions"] + self.slots.nbytes)

    def block(self, node: int) -> slice:
        """The places of a node's edges."""
        first = int(self.nodes[node]["first_edge"])
        return slice(first, first + int(self.nodes[node]["expanded"]))

    def _row(self, block: str, part: str, dtype: Any) -> Row:
        """A row of an array: a number, or columns of its block."""
        columns = int(self.record[block]["columns"])
        shape: tuple[int, ...] = {"played_rows": (min(columns, 1),), "node_action_stats": (columns, 2)}.get(part, (columns,))
        shape = shape if part in WITH_COLUMNS else ()
        plain = np.dtype((np.void, dtype)) if np.dtype(dtype).names else np.dtype(dtype)  # np.record reads a field slowly
        return Row(part, plain, shape, plain.itemsize * math.prod(shape))

    def _affordable(self, size: int, *blocks: str) -> int:
        """Returns the number of rows, or fewer where a block would pass MOST_ROOM."""
        return min(size, *(MOST_ROOM // max(self._widths[block], 1) for block in blocks))

    def _make(self, block: str, size: int) -> None:
        """Gives a block room for `size` rows, rounded up to a multiple of 4 that keeps its arrays aligned; rows in use stay."""
        room = (size + 3) & ~3 if block not in ("slots", "free_blocks") else size
        length = FIELDS[block][1] // 8 + 1
        used, old = self._numbers[length : length + 2].tolist()
        used = self.node_count if block in ("keys", "node_actions") else used
        played = self.node_action_stats if block == "node_actions" and used and self._widths[block] else None
        # Zeros that the system gives when they are read: room for a large budget costs nothing before it is used, and a saved
        # graph has no other memory of the process in places that are still unwritten.
        made = np.zeros(room * self._widths[block], np.uint8)
        from_place = to_place = 0
        for row in self._rows[block]:
            if used and played is None:
                size = used * row.bytes
                made[to_place : to_place + size] = self._blocks[block][from_place : from_place + size]
            self._arrays[row.name] = made[to_place : to_place + room * row.bytes].view(row.dtype).reshape(room, *row.shape)
            from_place, to_place = from_place + old * row.bytes, to_place + room * row.bytes
        self._blocks[block] = made
        self._numbers[length - 1], self._numbers[length + 1] = address_of(made), room
        if block == "node_actions":
            self.played_rows[:] = np.arange(room)[:, None]  # a node's row has its number until a graph is handed rows
            if played is not None:
                self._arrays["node_action_stats"][:used] = played


def _count(place: int) -> property:
    """A count of the record as an attribute, which takes less time than `__getattr__`."""

    def count(graph: Graph) -> int:
        return int(graph._numbers[place])

    return property(count)


for _name, _place in COUNTS.items():
    setattr(Graph, _name, _count(_place))


def next_size(size: int, each: int, playouts_left: int | None) -> int:
    """Half as much again, or less if the playouts that are left need less at `each` places a playout."""
    more = size // 2 + 64
    return size + (more if playouts_left is None else min(more, each * playouts_left + 64))


def fit_scratch(sim: Sim, graph: Graph) -> None:
    """Gives a simulation the scratch that its selection needs for the graph's room."""
    fixed, each = graph.layout.scratch
    if sim.scratch_rows != graph.node_room:
        sim.make_scratch(fixed, graph.node_room, each)
