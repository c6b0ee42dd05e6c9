"""One simulation: its path, its moves, and the room that it needs.

SIM is the record that kernels see: blocks at addresses, so that a kernel takes one pointer instead of a dozen arrays. `Sim` is
the same as Python holds it. Behind every block lies a strip of known bytes; a kernel that wrote too far has changed it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import from_dtype

from ucd_envs.kernels import HEADER, kernel, move_of
from ucd_envs.rules import Rules
from ucd_envs.structs import BLOCK, address_of, array_at, fields, record

BYTE, WORD, INDEX, REAL = (np.dtype(kind) for kind in (np.uint8, np.uint64, np.int32, np.float64))
STRIP, STRIP_BYTE = 4096, 0xA5
"""Bytes behind every block, and their value."""
SETTLED = -2
"""A choice of a selection that ends the simulation at the node, without a playout."""
GOES_ON = -3
"""Stands for a choice at an edge that has ended games and gets a target: where keys have no ply, a game may go on there."""

POLICY = record(("memory", BLOCK), ("suggested", np.int64))
"""A playout policy in a search: its memory, and how many moves it suggested since the search began."""
SIM = record(
    ("state", BLOCK),
    ("rng", BLOCK),
    ("key", BLOCK),
    ("action_list", BLOCK),
    ("payoffs", BLOCK),
    ("traced", BLOCK),
    ("path", BLOCK),
    ("leaf_depth", np.int64),
    ("moves", np.int64),
    ("policies", BLOCK),
    ("initial_memory", BLOCK),
    ("scratch", BLOCK),
)
"""`path.length`: edges of the path; `path.columns`: 1 where a simulation is led along actions, which lie in the last row of the
path before it comes there; `leaf_depth`: moves of the descent; `traced.length`: moves of the descent and the
playout; `moves`: actions from this number on are picks of groups, which are edges and no moves."""
SIM_RECORD = from_dtype(SIM)
"""A simulation in the signature of a kernel."""
SCRATCH = record(
    *((name, np.int64) for name in ("stamp", "note_stamp", "rave_node")),
    *((name, np.uint64) for name in ("marks", "frontier", "pending")),
)
"""Backups begun; for RAVE, those that took notes, and the node whose values are used; addresses of the arrays behind."""
MARK = record(("stamp", np.int64), ("slot", np.int32), ("distance", np.int32))
"""A node in the backup of this stamp: its row of pending changes, and its plies above the nearest node of the path."""
MARK_BYTES, SCRATCH_BYTES = np.uint64(MARK.itemsize), np.uint64(SCRATCH.itemsize)


@kernel(inline=True)
def state(sim):
    """[state_bytes] uint8: the position that the simulation has reached."""
    return array_at(sim.state.address, (sim.state.room,), BYTE)


@kernel(inline=True)
def rng(sim):
    """[2] uint64: the generator."""
    return array_at(sim.rng.address, (sim.rng.room,), WORD)


@kernel(inline=True)
def key(sim):
    """[key_words] uint64, scratch: the key of a position."""
    return array_at(sim.key.address, (sim.key.room,), WORD)


@kernel(inline=True)
def action_list(sim):
    """[actions] int32, scratch: a list of actions."""
    return array_at(sim.action_list.address, (sim.action_list.room,), INDEX)


@kernel(inline=True)
def payoffs(sim):
    """[players] float64: each player's payoff, in [0, 1]."""
    return array_at(sim.payoffs.address, (sim.payoffs.room,), REAL)


@kernel(inline=True)
def trace(sim):
    """[2 * (max_plies + 1)] int32, or [0]: the moves from the root on, as `move_of` writes them; playouts use the rest as
    scratch."""
    return array_at(sim.traced.address, (sim.traced.room,), INDEX)


@kernel(inline=True)
def path(sim):
    """[3, max_plies + 1] int32: sources of the path's edges, then the known node where it ended, or -1; the edges, -1 for one
    that is yet to be made; and for such a one the place of its action in the source's list, else -1 or GOES_ON. Where a path
    ends at a chance node the last row has there the outcome with which the playout begins, one for which no edge may be added,
    or -1; at another known one the choice that ended it, -1 or SETTLED."""
    return array_at(sim.path.address, (3, sim.path.room), INDEX)


@kernel()
def is_settled(sim):
    """Whether a selection has ended the simulation without a playout, at the known node where its path ends."""
    return path(sim)[0, sim.path.length] >= 0 and path(sim)[2, sim.path.length] == SETTLED


@kernel(inline=True)
def policies(sim):
    """[policies] POLICY."""
    return array_at(sim.policies.address, (sim.policies.room,), POLICY)


@kernel(inline=True)
def memory_of(block):
    """[any] uint8: the memory of a policy or of initial statistics."""
    return array_at(block.address, (block.room,), BYTE)


@kernel()
def player_of(sim):
    """The player to move, OVER or FAILED."""
    return fields(state(sim), HEADER).player


@kernel()
def move(rules, sim, action):
    """Plays an action, and notes it where moves are traced; picks of groups never are."""
    moves, position = trace(sim), state(sim)
    if action < rules.moves:
        if moves.size > 0:
            moves[sim.traced.length] = move_of(fields(position, HEADER).player, action)
        sim.traced.length += 1  # also where moves are not traced
    rules.play(rules.config, position, action)  # the action is legal: it was listed, drawn or checked


@kernel(inline=True)
def scratch(sim):
    """The fixed part of the backup's scratch."""
    return array_at(sim.scratch.address, (1,), SCRATCH)[0]


@kernel(inline=True)
def marks(graph, sim):
    """[nodes.room] MARK."""
    return array_at(scratch(sim).marks, (graph.nodes.room,), MARK)


@kernel(inline=True)
def frontier(graph, sim):
    """[2, nodes.room] int32: nodes with changes at the ply under way and at the one above."""
    return array_at(scratch(sim).frontier, (2, graph.nodes.room), INDEX)


@kernel(inline=True)
def pending(graph, sim):
    """[2 * nodes.room, nodes.columns] float64: changes of sums, a row for each node of the frontier."""
    return array_at(scratch(sim).pending, (2 * graph.nodes.room, graph.nodes.columns), REAL)


@kernel()
def begin_backup(graph, sim):
    """Starts a backup: a new stamp, and the places of the arrays, which move when the graph gets more room."""
    begun, room = scratch(sim), np.uint64(graph.nodes.room)
    begun.stamp += 1  # 64 bits: it never comes round to an old one
    # Behind the fixed part, which a selection may use for notes.
    begun.marks = sim.scratch.address + np.uint64(sim.scratch.length)
    begun.frontier = begun.marks + room * MARK_BYTES
    begun.pending = begun.frontier + room * np.uint64(8)
    return begun


def scratch_bytes(columns: int, notes: int = 0) -> tuple[int, int]:
    """Returns the bytes of scratch for a layout with these columns of node_stats: fixed, and for each node."""
    return SCRATCH.itemsize + notes, MARK.itemsize + 8 + 16 * columns


class Sim:
    """One simulation as Python holds it: the record of kernels, and the arrays whose addresses it has.

    traced: whether moves are noted; memories: of the policies; initial: the memory of initial statistics; guarded: whether a
    strip of known bytes lies behind the memory of user-defined kernels too.
    """

    def __init__(
        self, rules: Rules, traced: bool, memories: Sequence[np.ndarray], initial: np.ndarray | None, guarded: bool = False
    ) -> None:
        self.header = np.zeros(SIM.itemsize, np.uint8)
        self.record: Any = self.header.view(SIM)[0]
        self.guarded = guarded
        self._kept: dict[str, np.ndarray] = {}
        plies = rules.max_plies + 1  # one more than any path: its end has a place too
        self.state = self._block("state", rules.state_bytes, BYTE)
        self.rng = self._block("rng", 2, WORD)
        self.key = self._block("key", rules.key_words, WORD)
        self.action_list = self._block("action_list", rules.actions, INDEX)
        self.payoffs = self._block("payoffs", rules.players, REAL)
        self.trace = self._block("traced", 2 * plies * traced, INDEX)
        self.path = self._block("path", 3 * plies, INDEX).reshape(3, -1)
        self.record.path.room, self.record.moves = plies, rules.moves
        self.policies = self._block("policies", len(memories), POLICY)
        self.memories = list(memories)
        for place, memory in enumerate(memories):
            self.remember(place, memory)
        self.initial_memory = self._guarded("initial", np.zeros(0, np.uint8) if initial is None else initial)
        self._place(self.record.initial_memory, self.initial_memory)
        self.scratch_rows = -1
        self._block("scratch", 0, BYTE)

    def remember(self, place: int, memory: np.ndarray) -> None:
        """Gives a policy its memory."""
        self.memories[place] = self._guarded(f"memory {place}", memory)
        self._place(self.policies[place]["memory"], self.memories[place])

    def make_scratch(self, fixed: int, rows: int, each: int) -> None:
        """Makes room for a selection's scratch, zeros but for its fixed part, which stays: fixed + rows * each bytes."""
        old = self._kept["scratch"][:fixed]
        scratch = self._block("scratch", fixed + rows * each, BYTE)
        if len(old) == fixed:
            scratch[:fixed] = old  # the stamp among it goes on, so marks of zeros are old ones
        self.scratch_rows, self.record.scratch.length = rows, fixed

    def damaged(self) -> str:
        """Returns the name of a block behind which a kernel has written, or an empty text."""
        return next((name for name, kept in self._kept.items() if (kept[-STRIP:] != STRIP_BYTE).any()), "")

    def _block(self, name: str, size: int, dtype: np.dtype[Any]) -> np.ndarray:
        kept = np.zeros(size * dtype.itemsize + STRIP, np.uint8)
        kept[-STRIP:] = STRIP_BYTE  # a kernel that writes past its block is found by `damaged`
        self._kept[name] = kept
        array = kept[:-STRIP].view(dtype)
        self._place(getattr(self.record, name), array)  # the array must live as long as the record
        return array

    def _guarded(self, name: str, memory: np.ndarray) -> np.ndarray:
        """Returns memory, copied in front of a strip where a user-defined kernel writes to it."""
        if not self.guarded:
            return memory
        kept = np.concatenate([memory, np.full(STRIP, STRIP_BYTE, np.uint8)])
        self._kept[name] = kept
        return kept[:-STRIP]

    @staticmethod
    def _place(block: Any, array: np.ndarray) -> None:
        block["address"], block["room"] = address_of(array), array.size
