"""RAVE: all moves of a playout as if each had been played first [Gelly and Silver 2007, 2011; UCD section 4].

For a position u and an action a of its mover, n~(u, a) playouts through u had the mover play a there or later, with payoffs
w~(u, a) in sum. The value of a move mixes their mean with its own:

    (1 - beta) mu(e) + beta w~ / n~ + c * sqrt(log p / n(e))        beta = n~ / (n~ + n(e) + bias * n~ * n(e))

so that a move that was not tried yet has the mean w~ / n~, and the bound `urgency` where nothing is known. A move's prior is
added to its own playouts. `bias` is 4 b^2 of Gelly and Silver. RAVE-UCD shares positions: mu has the depth d1, here depth_mean,
and with depth_rave = 1 the playouts through a child of u count for u as well, however they came there: n~ mixes the values of
u's children. GRAVE [Cazenave 2015] takes n~ and w~ from the nearest position of the descent with `ref` playouts or more.

Symbols: n~ and w~ are amaf(g)[u, player * actions + a], or mixed(g)[u, a] with depth_rave = 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ucd_envs.kernels import kernel
from ucd_envs.rng import below
from ucd_envs.settings import boolean, integer, real
from ucd_planners.search.graph import amaf, edges, exploit, explore, mixed, moves, nodes, priors, sums, weight
from ucd_planners.search.interface import BACK_UP, CHOOSE, Layout, Parameters, checked_constant, moves_of, notes_of, path_of
from ucd_planners.selection import ucd
from ucd_planners.selection.ucd import UCD

U0, U1, U16, LOW = np.uint64(0), np.uint64(1), np.uint64(16), np.uint64(0xFFFF)
ONE = np.float32(1.0)
REF = 15
"""The place of `ref` in the whole-number parameters, behind those of UCD."""
BIAS = 1
"""The place of the bias in the constants."""
MOST = np.float32(2**24)
"""Whole numbers are exact up to here."""
MOST_BIAS = 1e9
"""With more the weight could overflow."""


@kernel(CHOOSE)
def choose(g, w, node, may_add, rng):
    """The move with the largest bound; among equals each with the same probability."""
    tried = np.uint64(nodes(g)[node].tried)
    legal = np.uint64(nodes(g)[node].moves) if may_add else tried
    if node == g.root or sums(g)[node, 0] >= g.whole[REF]:
        w.reference = node
    row = np.uint64(np.int64(nodes(g)[node].mover) * g.actions)
    first, listed = np.uint64(nodes(g)[node].first_edge), np.uint64(nodes(g)[node].first_move)
    records, actions, means, chances, scale = edges(g), moves(g), exploit(g), explore(g), weight(g)[node]
    values, others, mixes = amaf(g), mixed(g), g.amaf_kind > 1
    known, given = priors(g), g.has_priors
    place, reference, constant = np.uint64(node), np.uint64(w.reference), g.constants[BIAS]
    most, equals, choice = -np.inf, np.uint64(0), -1
    for i in range(legal):
        action = np.uint64(actions[listed + i])
        if mixes:
            played, paid = np.float64(others[place, action, U0]), np.float64(others[place, action, U1])
        else:
            played, paid = np.float64(values[reference, row + action, U0]), np.float64(values[reference, row + action, U1])
        if i < tried:
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
            value = g.urgency
        if value > most:
            most, equals, choice = value, U1, i
        elif value == most:
            equals += U1
            if below(rng, equals) == U0:
                choice = i
    return np.int64(choice)


@kernel(BACK_UP)
def back_up(g, w, length):
    """Adds a playout to edges and sums as UCD does, and to what was played after each position of the path.

    From the end of the simulation to the root the actions of each player are noted once.
    """
    ucd.back_up(g, w, length)
    path_nodes, path_edges = path_of(w)
    stamps, listed = notes_of(w, g.players * g.actions)
    w.rounds += 1
    stamp, count = np.int32(w.rounds & 0x7FFFFFFF), U0
    played = moves_of(w)
    for i in range(np.uint64(length), np.uint64(w.count)):
        count = note(g, stamps, listed, stamp, count, played[i])
    for depth in range(length - 1, -1, -1):
        number, source = np.int64(path_edges[depth]), np.int64(path_nodes[depth])
        target = np.int64(edges(g)[number].target)
        if target >= 0:
            if g.amaf_kind > 1:
                if edges(g)[number].visits == 1:
                    adopt(g, number, source, target)
                mix(g, source, target, listed, count, w.payoffs)
            add_played(g, target, listed, count, w.payoffs)
        count = note(g, stamps, listed, stamp, count, played[depth])
    add_played(g, np.int64(path_nodes[0]), listed, count, w.payoffs)


@kernel()
def note(g, stamps, listed, stamp, count, move):
    """Lists a move, player * 2**16 + action, if it is not listed yet; how many are."""
    place = place_of(g, move)
    if stamps[place] == stamp:
        return count
    stamps[place] = stamp
    listed[count] = move
    return count + U1


@kernel()
def place_of(g, move):
    """Where a move, player * 2**16 + action, has its numbers."""
    return (np.uint64(move) >> U16) * np.uint64(g.actions) + (np.uint64(move) & LOW)


@kernel()
def add_played(g, node, listed, count, payoffs):
    """Adds a playout through a node to the actions that were played there or later."""
    place, mover = np.uint64(node), np.uint64(nodes(g)[node].mover)
    values, others, mixes = amaf(g), mixed(g), g.amaf_kind > 1
    for i in range(count):
        move = np.uint64(listed[i])
        player = move >> U16
        add_one(values, place, place_of(g, move), payoffs[player])
        if mixes and player == mover:
            add_one(others, place, move & LOW, payoffs[player])


@kernel()
def add_one(values, node, place, paid):
    """Adds one playout; a mean over MOST of them stays as it is, since more would not be exact."""
    if values[node, place, U0] < MOST:
        values[node, place, U0] += ONE
        values[node, place, U1] += np.float32(paid)


@kernel()
def mix(g, source, target, listed, count, payoffs):
    """Adds a playout through a node to its other sources, once to each."""
    g.stamp += 1
    stamp = np.int32(g.stamp & 0x7FFFFFFF)
    nodes(g)[source].stamp = stamp
    parent, slot = np.int64(nodes(g)[target].in_source), np.int64(nodes(g)[target].in_slot)
    while parent >= 0:
        if nodes(g)[parent].stamp != stamp:
            nodes(g)[parent].stamp = stamp
            mover = np.uint64(nodes(g)[parent].mover)
            for i in range(count):
                move = np.uint64(listed[i])
                if move >> U16 == mover:
                    add_one(mixed(g), np.uint64(parent), move & LOW, payoffs[mover])
        number = np.int64(nodes(g)[parent].first_edge) + slot
        parent, slot = np.int64(edges(g)[number].next_source), np.int64(edges(g)[number].next_slot)


@kernel()
def adopt(g, number, source, target):
    """Gives the source of a new edge what was played after the target before, if no other edge of it leads there."""
    first = np.int64(nodes(g)[source].first_edge)
    for other in range(first, first + np.int64(nodes(g)[source].tried)):
        if other != number and edges(g)[other].target == target:
            return
    row = np.int64(nodes(g)[source].mover) * g.actions
    for action in range(g.actions):
        mixed(g)[source, action, 0] += amaf(g)[target, row + action, 0]
        mixed(g)[source, action, 1] += amaf(g)[target, row + action, 1]


@dataclass(frozen=True)
class RAVE:
    """RAVE in a tree, RAVE-UCD in a graph, and GRAVE.

    bias: how soon a move's own mean outweighs that of all playouts with it, 0 to 1e9; c: exploration constant; table: whether
    positions reached in several ways share a node; depth_mean: d1 of UCD; depth_rave: 0, or 1 to count the playouts through a
    position's children too; ref: playouts of the position whose values are used, 0 for the present one. Raises TypeError or
    ValueError for anything else, for depths without a table, and for ref with depth_rave.
    """

    bias: float = 0.001
    c: float = 0.0
    table: bool = False
    depth_mean: float = 0
    depth_rave: int = 0
    ref: int = 0

    def __post_init__(self) -> None:
        if not 0 <= real("bias", self.bias) <= MOST_BIAS:
            raise ValueError(f"bias must be a number from 0 to {MOST_BIAS:g}, not {self.bias!r}")
        boolean("table", self.table)
        integer("depth_rave", self.depth_rave, 0, 1)
        integer("ref", self.ref, 0, 2**31 - 1)
        if self.depth_rave and not self.table:
            raise ValueError("depth_rave looks into a graph and must be 0 without a table")
        if self.depth_rave and self.ref:
            raise ValueError("depth_rave is for the present position's values: ref must be 0")
        checked_constant(self.c)
        _ = self.ucd

    @property
    def ucd(self) -> UCD:
        """Means, visits and sums."""
        try:
            return UCD(self.depth_mean, 0, 0, self.c, self.table)
        except (TypeError, ValueError) as error:
            words = str(error).replace("d1, d2 and d3 look", "depth_mean looks").replace("d1", "depth_mean")
            raise type(error)(words) from None

    @property
    def chooser(self) -> Any:
        """The largest mixed bound."""
        return choose

    @property
    def kernel(self) -> Any:
        """The backup."""
        return back_up

    def layout(self, players: int) -> Layout:
        """As UCD, and what was played after each node."""
        return self.ucd.layout(players)._replace(amaf=1 + self.depth_rave)

    def parameters(self, players: int) -> Parameters:
        """As UCD, and what the choice reads."""
        whole_numbers, constants = self.ucd.parameters(players)
        padded = np.zeros(REF + 1, np.int64)
        padded[: len(whole_numbers)] = whole_numbers
        padded[REF] = self.ref
        return Parameters(padded, np.array([constants[0], float(self.bias)]))
