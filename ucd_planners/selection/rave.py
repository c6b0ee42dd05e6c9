"""RAVE: all moves of a playout as if each had been played first [Gelly and Silver 2007, 2011; UCD section 4].

For a position u and an action a of its mover, n~(u, a) playouts through u had the mover play a there or later, with payoffs
w~(u, a) in sum. The value of a move mixes their mean with its own:

    (1 - beta) mu(e) + beta w~ / n~ + c * sqrt(log p / n(e))        beta = n~ / (n~ + n(e) + bias * n~ * n(e))

so that a move that was not tried yet has the mean w~ / n~, and the bound `first_play_urgency` where nothing is known. With
c = 0, as in the papers, the only good move may then stay untried for ever. So one of `revisit` playouts of a position goes to
its least tried move, which is not in the papers: a search of fewer playouts is theirs, a longer one converges
(tests/test_rave.py: in positions of tic-tac-toe). Initial statistics are added to its own playouts. `bias` is 4 b^2 of Gelly
and Silver. RAVE-UCD shares positions: mu has the depth d1, here depth_mean, and with depth_rave = 1 the playouts through a
child of u count for u as well, however they came there: n~ mixes the values of u's children. GRAVE [Cazenave 2015] takes n~ and
w~ from the nearest position of the descent with `ref` playouts or more.

Symbols: n~ and w~ are node_action_stats(graph, u)[player * actions + a], or [players * actions + a] with depth_rave = 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ucd_envs.kernels import CHANCE, kernel
from ucd_envs.rng import below
from ucd_envs.settings import boolean, integer, real
from ucd_envs.structs import array_at, configuration, record
from ucd_planners.search.graph import (
    INDEX,
    actions,
    edge_in,
    edges,
    exploration,
    initial_stats,
    mean_value,
    node_action_stats,
    node_stats,
    nodes,
    parameters,
)
from ucd_planners.search.interface import BACKUP, SELECT, Layout, exploration_constant
from ucd_planners.search.sim import SCRATCH_BYTES, begin_backup, marks, path, payoffs, rng, scratch, scratch_bytes, trace
from ucd_planners.selection import ucd
from ucd_planners.selection.ucd import FIRST_A, UCD, UCD_PARAMETERS

U0, U1, U16, LOW = np.uint64(0), np.uint64(1), np.uint64(16), np.uint64(0xFFFF)
ONE = np.float32(1.0)
CHOICE = (*((name, np.int64) for name in ("actions", "ref", "mixes", "revisit")), ("bias", np.float64))
PARAMETERS = record(*UCD_PARAMETERS, *CHOICE)
"""Those of UCD, which its backup reads, and those of the choice."""
MOST = np.float32(2**24)
"""Whole numbers are exact up to here."""
MOST_BIAS = 1e9
"""The largest bias: the weight of a larger one could overflow."""


@kernel(inline=True)
def notes(sim, p):
    """[2, players * actions] int32: for every action of a player the backup that noted it last, and the list of those noted."""
    return array_at(sim.scratch.address + SCRATCH_BYTES, (2, p.players * p.actions), INDEX)


@kernel()
def least_tried(graph, sim, first, expanded, legal):
    """The place of an action with the fewest playouts; among equals each with the same probability."""
    if expanded < legal:
        return np.int64(expanded + below(rng(sim), legal - expanded))
    least, equals, choice = np.float64(np.inf), U0, -1
    for i in range(expanded):
        visits = np.float64(edges(graph)[first + i].visits)
        if visits < least:
            least, equals, choice = visits, U1, i
        elif visits == least:
            equals += U1
            if below(rng(sim), equals) == U0:
                choice = i
    return np.int64(choice)


@kernel(SELECT)
def select(graph, sim, node, may_add):
    """The action with the largest bound, or every `revisit` playouts the least tried one; among equals each with the same
    probability."""
    p, begun = parameters(graph, PARAMETERS), scratch(sim)
    expanded = np.uint64(nodes(graph)[node].expanded)
    legal = np.uint64(nodes(graph)[node].legal) if may_add else expanded
    if node == graph.root or node_stats(graph)[node, FIRST_A] >= p.ref:
        begun.rave_node = node
    row = np.uint64(np.int64(nodes(graph)[node].mover) * p.actions)
    first, listed = np.uint64(nodes(graph)[node].first_edge), np.uint64(nodes(graph)[node].first_action)
    if p.revisit > 0 and np.uint64(node_stats(graph)[node, FIRST_A] + 1.0) % np.uint64(p.revisit) == U0:
        return least_tried(graph, sim, first, expanded, legal)
    records, moves, means, chances = edges(graph), actions(graph), mean_value(graph), exploration(graph)
    scale, mixes, constant = node_stats(graph)[node, 0], p.mixes > 0, p.bias
    known, given = initial_stats(graph), graph.actions.columns > 1
    if mixes:
        row = np.uint64(p.players * p.actions)
    values = node_action_stats(graph, np.uint64(node) if mixes else np.uint64(begun.rave_node))
    most, equals, choice = -np.inf, np.uint64(0), -1
    for i in range(legal):
        action = np.uint64(moves[listed + i])
        played, paid = np.float64(values[row + action, U0]), np.float64(values[row + action, U1])
        if i < expanded:
            visits, mean, chance = np.float64(records[first + i].visits), means[first + i], chances[first + i]
        else:
            visits = mean = chance = np.float64(0)
        if given:
            ahead = np.float64(known[listed + i, U0])
            if ahead > 0.0:
                mean = (visits * mean + np.float64(known[listed + i, U1])) / (visits + ahead)
                chance = 1.0 / math.sqrt((1.0 / (chance * chance) if chance > 0.0 else 0.0) + ahead)
                visits += ahead
        if visits + played > 0.0:
            bias = constant * visits * played
            value = (paid + (visits + bias) * mean) / (visits + played + bias) + scale * chance
        else:
            value = graph.first_play_urgency
        if value > most:
            most, equals, choice = value, U1, i
        elif value == most:
            equals += U1
            if below(rng(sim), equals) == U0:
                choice = i
    return np.int64(choice)


@kernel(BACKUP)
def backup(graph, sim):
    """Adds a playout to edges and sums as UCD does, and to the actions played after each position of the path.

    From the end of the simulation to the root the actions of each player are noted once.
    """
    ucd.backup(graph, sim)
    p, trail, moves, begun = parameters(graph, PARAMETERS), path(sim), trace(sim), scratch(sim)
    length = np.int64(sim.path.length)
    begun.note_stamp += 1
    stamp, count = np.int32(begun.note_stamp & 0x7FFFFFFF), U0
    # Moves of the path come first in the trace; picks of groups are edges that are not in it.
    traced = np.int64(0)
    for depth in range(length):
        traced += edges(graph)[trail[1, depth]].action < sim.moves
    for i in range(np.uint64(traced), np.uint64(sim.traced.length)):
        count = note(sim, p, stamp, count, moves[i])
    for depth in range(length - 1, -1, -1):
        number, source = np.int64(trail[1, depth]), np.int64(trail[0, depth])
        target = np.int64(edges(graph)[number].target)
        if target >= 0:
            if p.mixes:
                if edges(graph)[number].visits == 1:
                    inherit_played(graph, p, number, source, target)
                mix(graph, sim, p, source, target, count)
            add_played(graph, sim, p, target, count)
        if edges(graph)[number].action < sim.moves:
            traced -= 1
            count = note(sim, p, stamp, count, moves[traced])
    add_played(graph, sim, p, np.int64(trail[0, 0]), count)


@kernel()
def note(sim, p, stamp, count, move):
    """Lists a move of a player if it is not listed yet; returns the length of the list."""
    if move >= CHANCE << 16:
        return count
    noted, place = notes(sim, p), place_of(p, move)
    if noted[0, place] == stamp:
        return count
    noted[0, place] = stamp
    noted[1, count] = move
    return count + U1


@kernel()
def place_of(p, move):
    """The place of a move among all actions of all players."""
    return (np.uint64(move) >> U16) * np.uint64(p.actions) + (np.uint64(move) & LOW)


@kernel()
def add_played(graph, sim, p, node, count):
    """Adds a playout through a node to the actions that were played there or later."""
    mover, moves, paid = np.uint64(nodes(graph)[node].mover), notes(sim, p)[1], payoffs(sim)
    values, mixes, mixed = node_action_stats(graph, np.uint64(node)), p.mixes > 0, np.uint64(p.players * p.actions)
    for i in range(count):
        move = np.uint64(moves[i])
        player = move >> U16
        add_one(values, place_of(p, move), paid[player])
        if mixes and player == mover:
            add_one(values, mixed + (move & LOW), paid[player])


@kernel()
def add_one(values, place, paid):
    """Adds one playout; a mean over MOST of them stays as it is, since more would not be exact."""
    if values[place, U0] < MOST:
        values[place, U0] += ONE
        values[place, U1] += np.float32(paid)


@kernel()
def mix(graph, sim, p, source, target, count):
    """Adds a playout through a node to its other sources, once to each."""
    begun, moves, paid, mixed = scratch(sim), notes(sim, p)[1], payoffs(sim), np.uint64(p.players * p.actions)
    begin_backup(graph, sim)
    marks(graph, sim)[source].stamp = begun.stamp
    reference = nodes(graph)[target].first_in
    while reference >= 0:
        parent, number = edge_in(graph, reference)
        if marks(graph, sim)[parent].stamp != begun.stamp:
            marks(graph, sim)[parent].stamp = begun.stamp
            mover, values = np.uint64(nodes(graph)[parent].mover), node_action_stats(graph, np.uint64(parent))
            for i in range(count):
                move = np.uint64(moves[i])
                if move >> U16 == mover:
                    add_one(values, mixed + (move & LOW), paid[mover])
        reference = edges(graph)[number].next_in


@kernel()
def inherit_played(graph, p, number, source, target):
    """Gives the source of a new edge the actions played after the target before, if no other edge of it leads there."""
    first, values = np.int64(nodes(graph)[source].first_edge), node_action_stats(graph, np.uint64(source))
    for other in range(first, first + np.int64(nodes(graph)[source].expanded)):
        if other != number and edges(graph)[other].target == target:
            return
    if nodes(graph)[source].mover == CHANCE:
        return
    row, mixed = np.int64(nodes(graph)[source].mover) * p.actions, p.players * p.actions
    there = node_action_stats(graph, np.uint64(target))
    for action in range(p.actions):
        values[mixed + action, 0] += there[row + action, 0]
        values[mixed + action, 1] += there[row + action, 1]


@dataclass(frozen=True)
class RAVE:
    """RAVE in a tree, RAVE-UCD in a graph, and GRAVE.

    bias: how soon a move's own mean outweighs that of all playouts with it, 0 to 1e9; c: exploration constant; table: whether
    positions reached in several ways share a node; depth_mean: d1 of UCD; depth_rave: 0, or 1 to count the playouts through a
    position's children too; ref: playouts of the position whose values are used, the last one where a player moves, 0 for the
    present one. Raises TypeError or ValueError for anything else, for depths without a table, and for ref with depth_rave.
    """

    bias: float = 0.001
    c: float = 0.0
    table: bool = False
    depth_mean: float = 0
    depth_rave: int = 0
    ref: int = 0
    revisit: int = 512
    serves_urgency, serves_initial, serves_chance = True, True, True
    select_kernel, backup_kernel = select, backup

    def __post_init__(self) -> None:
        if not 0 <= real("bias", self.bias) <= MOST_BIAS:
            raise ValueError(f"bias must be a number from 0 to {MOST_BIAS:g}, not {self.bias!r}")
        boolean("table", self.table)
        integer("depth_rave", self.depth_rave, 0, 1)
        integer("ref", self.ref, 0, 2**31 - 1)
        integer("revisit", self.revisit, 0, 2**31 - 1)
        if self.depth_rave and not self.table:
            raise ValueError("depth_rave looks into a graph and must be 0 without a table")
        if self.depth_rave and self.ref:
            raise ValueError("depth_rave is for the present position's values: ref must be 0")
        exploration_constant(self.c)
        _ = self.ucd

    @property
    def ucd(self) -> UCD:
        """Means, visits and sums."""
        try:
            return UCD(self.depth_mean, 0, 0, self.c, self.table)
        except (TypeError, ValueError) as error:
            words = str(error).replace("d1, d2 and d3 look", "depth_mean looks").replace("d1", "depth_mean")
            raise type(error)(words) from None

    def layout(self, players: int, actions: int) -> Layout:
        """The statistics of UCD, and the actions played after each node, by all players, and mixed over its edges for its
        mover."""
        layout, pairs = self.ucd.layout(players, actions), players * actions
        played = ("all", "mixed") if self.depth_rave else ("all",)
        return layout._replace(
            node_action_stats=played, scratch=scratch_bytes(len(layout.node_stats), notes=8 * pairs), traced=True
        )

    def parameters(self, players: int, actions: int) -> np.ndarray:
        """Returns the record of UCD's backup, and behind it that of the choice."""
        own = {"actions": actions, "ref": self.ref, "mixes": self.depth_rave, "revisit": self.revisit}
        return configuration(PARAMETERS, **self.ucd.parameter_values(players), **own, bias=float(self.bias))
