"""UCD: upper confidence bounds in rooted directed acyclic graphs [UCD section 3].

The value of a move is mu_d1(e) + c * sqrt(log p_d2(e) / n_d3(e)), each term seen so many plies deep [UCD eq. 9-13]:

    n(e), w(e)     playouts through edge e = (u -> v) and their payoffs;  n'(e), w'(e): those whose descent ended at e
    mu_0(e)        w(e) / n(e)
    mu_d(e)        (w'(e) + sum of n(f) mu_(d-1)(f)) / (n'(e) + sum of n(f))     over the edges f out of v
    n_0(e), n_d(e) n(e);  n'(e) + sum of n_(d-1)(f)
    p_d(e)         sum of n_d(f) over the edges f out of u

All depend on what lies below v only through sums kept at v, which selection never has to add up:

    A_0(v) = sum of n(f)      A_d(v) = sum of n_d(f)           n_d(e)  = n'(e) + A_(d-1)(v),   p_d(e) = A_d(u)
    B_0(v) = sum of w(f)      B_d(v) = sum of n(f) mu_d(f)     mu_d(e) = (w'(e) + B_(d-1)(v)) / (n'(e) + A_0(v))

Playouts that ended may also be kept by the position they ended at (store="nodes") instead of by the edge they came over: with
n'(v), w'(v) in place of n'(e), w'(e) for depths of 1 and more, and p_d(e) = n'(u) + the sum above. All edges into a position
then share its playouts, the first one too; the sums kept at a node contain n'(v) and w'(v).

After a playout the changes are pushed up ply by ply, from the leaf to the root: to the edges into every node whose sums
changed, and on to their sources as far as the parameters see. [UCD section 3.4] updates n_d on the path and within distance
d of the leaf only, which misses edges that enter an inner node of the path from outside; that literal rule is kept as
backup="section_3_4". Infinite depth is one more level that feeds itself. A_inf counts paths and can grow exponentially
with depth, hence floating point.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ucd_envs.kernels import kernel
from ucd_envs.settings import real
from ucd_planners.search.graph import (
    edges,
    ended_payoff,
    exploit,
    explore,
    frontier,
    nodes,
    payoff,
    pending,
    shares,
    sums,
    weight,
)
from ucd_planners.search.interface import BACK_UP, Layout, Parameters, checked_constant, path_of
from ucd_planners.search.ucb import explore_of, weight_of

(
    PARENT_COLUMN,
    VISITS_COLUMN,
    MEAN_COLUMN,
    LAST_A,
    A_INF,
    B_FIRST,
    B_LEVELS,
    B_IS_INF,
    EDGE_REACH,
    NODE_REACH,
    FROM_LEAF,
    AT_NODES,
) = range(12)
"""Places in the whole-number parameters: columns of A_d2, A_(d3-1) and B_(d1-1) (-1: use the edge's own n, w); the last
finite level of A, the column of A_inf (-1: none); the first column of B, how many levels of it are kept and whether the
one that is kept is B_inf; how many plies above a changed node edges, and nodes, can change; whether that distance is
counted from the leaf (the literal rule) instead of from the nearest node of the path; and whether nodes keep n' and w'."""

FAR = 65_535
"""Where distances stop counting; finite depths are below, and infinity reaches one further."""


@kernel(BACK_UP)
def back_up(g, w, length):
    """Adds a playout to the edges of its path and makes every cached value right again."""
    whole, payoffs = g.whole, w.payoffs
    path_nodes, path_edges = path_of(w)
    g.stamp += 1
    stamp = np.int32(g.stamp & 0x7FFFFFFF)
    changed, above, count = 0, 1, 0
    if whole[AT_NODES] and edges(g)[path_edges[length - 1]].target >= 0:
        end_at_node(g, np.int64(edges(g)[path_edges[length - 1]].target), stamp, payoffs)
        count = 1
    for depth in range(length - 1, -1, -1):
        number, source = np.int64(path_edges[depth]), np.int64(path_nodes[depth])
        open_node(g, source, stamp, length - 1 - depth if whole[FROM_LEAF] else 0, above, 0)
        waiting = 1
        add_playout(g, number, source, payoffs)
        if depth == length - 1 and count == 0:
            end_playout(g, number, source, payoffs)
        elif edges(g)[number].visits == 1:
            adopt(g, number, source)
        for i in range(count):
            node = np.int64(frontier(g)[changed, i])
            if nodes(g)[node].distance < whole[EDGE_REACH]:
                waiting = pass_up_all(g, node, stamp, above, waiting)
            elif edges(g)[number].target == node:
                pass_up(g, number, source, node)
        count = 0
        g.widest = max(g.widest, waiting)
        for i in range(waiting):
            node = np.int64(frontier(g)[above, i])
            if i == 0 or nodes(g)[node].distance <= whole[NODE_REACH]:
                settle(g, node)
                frontier(g)[above, count] = node
                count += 1
        changed, above = above, changed


@kernel()
def settle(g, node):
    """Adds a node's pending changes to its sums."""
    for column in range(g.columns):
        sums(g)[node, column] += pending(g)[nodes(g)[node].slot, column]
    weight(g)[node] = weight_of(g.constants[0], sums(g)[node, g.whole[PARENT_COLUMN]])


@kernel()
def end_at_node(g, node, stamp, payoffs):
    """Adds a playout to n'(v), w'(v) of the node where it ended, which is then the frontier: to every A and B of it."""
    whole = g.whole
    open_node(g, node, stamp, 0, 0, 0)
    slot = np.int64(nodes(g)[node].slot)
    for column in range(whole[B_FIRST]):
        pending(g)[slot, column] = 1.0
    for column in range(whole[B_FIRST], g.columns):
        pending(g)[slot, column] = payoffs[(column - whole[B_FIRST]) % g.players]
    settle(g, node)


@kernel()
def open_node(g, node, stamp, distance, side, place):
    """Puts a node at a place of the frontier, without changes so far."""
    slot = side * g.node_room + place
    frontier(g)[side, place] = node
    nodes(g)[node].stamp = stamp
    nodes(g)[node].distance = min(distance, FAR)
    nodes(g)[node].slot = slot
    for column in range(g.columns):
        pending(g)[slot, column] = 0.0


@kernel()
def add_playout(g, number, source, payoffs):
    """Adds a playout to n(e), w(e) of an edge of the path, and to A_0, B_0 of its source."""
    whole, slot = g.whole, np.int64(nodes(g)[source].slot)
    edges(g)[number].visits += 1
    pending(g)[slot, 0] += 1.0
    for player in range(g.players):
        payoff(g)[number, player] += payoffs[player]
        if whole[B_LEVELS] > 0 and not whole[B_IS_INF]:
            pending(g)[slot, whole[B_FIRST] + player] += payoffs[player]


@kernel()
def end_playout(g, number, source, payoffs):
    """Adds a playout to n'(e), w'(e) of the last edge of the path, and to A_1 ... of its source."""
    whole, slot = g.whole, np.int64(nodes(g)[source].slot)
    edges(g)[number].ended += 1
    if g.keeps_ended:
        for player in range(g.players):
            ended_payoff(g)[number, player] += payoffs[player]
    for column in range(1, whole[LAST_A] + 1):
        pending(g)[slot, column] += 1.0
    if whole[A_INF] >= 0:
        pending(g)[slot, whole[A_INF]] += 1.0
    refresh(g, number, source)


@kernel()
def adopt(g, number, source):
    """Gives the source of a new edge to a known position what that position's sums were before this playout."""
    whole, changes, target = g.whole, pending(g), np.int64(edges(g)[number].target)
    here, there = np.int64(nodes(g)[source].slot), np.int64(nodes(g)[target].slot)
    for column in range(whole[LAST_A]):
        changes[here, column + 1] += sums(g)[target, column] - changes[there, column]
    if whole[A_INF] >= 0:
        changes[here, whole[A_INF]] += sums(g)[target, whole[A_INF]] - changes[there, whole[A_INF]]


@kernel()
def pass_up_all(g, node, stamp, above, waiting):
    """Carries a node's changes over every edge into it and puts the sources on the frontier; how many wait there.

    The frontier is in order of distance, so a source that is on it already is there with its least distance.
    """
    distance = np.int64(nodes(g)[node].distance) + 1
    source, slot = np.int64(nodes(g)[node].in_source), np.int64(nodes(g)[node].in_slot)
    while source >= 0:
        number = np.int64(nodes(g)[source].first_edge) + slot
        if nodes(g)[source].stamp != stamp:
            open_node(g, source, stamp, distance, above, waiting)
            waiting += 1
        pass_up(g, number, source, node)
        source, slot = np.int64(edges(g)[number].next_source), np.int64(edges(g)[number].next_slot)
    return waiting


@kernel()
def pass_up(g, number, source, node):
    """Carries the changes of a node's sums over one edge into it: A_d to A_(d+1) of the source, then the edge's own values."""
    whole, changes = g.whole, pending(g)
    here, there = np.int64(nodes(g)[source].slot), np.int64(nodes(g)[node].slot)
    for column in range(whole[LAST_A]):
        changes[here, column + 1] += changes[there, column]
    if whole[A_INF] >= 0:
        changes[here, whole[A_INF]] += changes[there, whole[A_INF]]
    refresh(g, number, source)


@kernel()
def refresh(g, number, source):
    """Computes an edge's mean and visits from its target's sums, and its shares n(e) mu_d(e) of the source's B_d."""
    whole, edge, kept = g.whole, edges(g)[number], sums(g)
    target, mover = np.int64(edge.target), nodes(g)[source].mover
    if g.share_columns > 0:
        refresh_shares(g, number, source)
    if whole[MEAN_COLUMN] < 0:
        exploit(g)[number] = payoff(g)[number, mover] / edge.visits
    elif target < 0:
        exploit(g)[number] = ended_payoff(g)[number, mover] / edge.ended
    else:
        total = ended_payoff(g)[number, mover] + kept[target, whole[MEAN_COLUMN] + mover]
        exploit(g)[number] = total / (edge.ended + kept[target, 0])
    if whole[VISITS_COLUMN] < 0:
        explore(g)[number] = explore_of(edge.visits)
    else:
        explore(g)[number] = explore_of(edge.ended + (kept[target, whole[VISITS_COLUMN]] if target >= 0 else 0.0))


@kernel()
def refresh_shares(g, number, source):
    """Computes an edge's shares n(e) mu_d(e), and adds what they changed by to the source's pending B_d."""
    whole, edge, kept = g.whole, edges(g)[number], sums(g)
    target = np.int64(edge.target)
    visits = edge.ended + (kept[target, 0] if target >= 0 else 0.0)
    first = whole[B_FIRST] + (0 if whole[B_IS_INF] else g.players)
    for column in range(g.share_columns):
        share = ended_payoff(g)[number, column % g.players]
        if target >= 0:
            share += kept[target, whole[B_FIRST] + column]
        share = edge.visits * share / visits
        pending(g)[nodes(g)[source].slot, first + column] += share - shares(g)[number, column]
        shares(g)[number, column] = share


BACKUPS = ("descent", "section_3_4")
STORES = ("edges", "nodes")


@dataclass(frozen=True)
class UCD:
    """UCT (without a table) and UCD with its three depths.

    d1, d2, d3: plies that the mean, the parent's visits and the child's visits look down, each 0, 1, 2, ... or math.inf;
    c: exploration constant, 0 or more; table: whether positions reached in several ways share a node (all depths are 0
    without); backup: "descent", exact, or "section_3_4", the literal rule of that section; store: whether the playouts that
    ended are kept by "edges", as in the paper, or by "nodes". Raises ValueError otherwise.
    """

    d1: float = 0
    d2: float = 0
    d3: float = 0
    c: float = 0.3
    table: bool = True
    backup: str = "descent"
    store: str = "edges"

    def __post_init__(self) -> None:
        for name in ("d1", "d2", "d3"):
            depth = getattr(self, name)
            if not real(name, depth) >= 0 or (depth != math.inf and (depth != int(depth) or depth >= FAR)):
                raise ValueError(f"{name} must be 0, 1, 2, ... or inf, not {depth!r}")
        checked_constant(self.c)
        if self.backup not in BACKUPS:
            raise ValueError(f"backup must be one of {', '.join(BACKUPS)}, not {self.backup!r}")
        if self.store not in STORES:
            raise ValueError(f"store must be one of {', '.join(STORES)}, not {self.store!r}")
        if self.store == "nodes" and (not self.table or self.backup != "descent"):
            raise ValueError('store="nodes" goes with a table and backup="descent" only')
        if not self.table and (self.d1, self.d2, self.d3) != (0, 0, 0):
            raise ValueError("d1, d2 and d3 look into a graph and must be 0 without a table")

    @property
    def chooser(self) -> Any:
        """None: the largest bound."""
        return None

    @property
    def kernel(self) -> Any:
        """The backup."""
        return back_up

    def levels(self) -> tuple[int, int]:
        """The last finite level of A, and how many levels of B are kept (infinite depth keeps one)."""
        finite = [depth for depth in (self.d2, self.d3 - 1) if depth != math.inf]
        return int(max([0, *finite])), 1 if self.d1 == math.inf else int(self.d1)

    def layout(self, players: int) -> Layout:
        """Columns in the graph: A_0 ... A_last, A_inf, B_0 ... of each player; an edge's shares in B_1 ... or B_inf."""
        last_a, b_levels = self.levels()
        columns = last_a + 1 + (math.inf in (self.d2, self.d3)) + b_levels * players
        shares = b_levels if self.d1 == math.inf else max(b_levels - 1, 0)
        return Layout(self.table, columns, shares * players, ended=self.d1 > 0)

    def parameters(self, players: int) -> Parameters:
        """What the backup reads."""
        last_a, b_levels = self.levels()
        a_inf = last_a + 1 if math.inf in (self.d2, self.d3) else -1
        b_first = last_a + 1 + (a_inf >= 0)
        mean = -1 if self.d1 == 0 else b_first + (b_levels - 1) * players
        visits = -1 if self.d3 == 0 else a_inf if self.d3 == math.inf else int(self.d3) - 1
        parent = a_inf if self.d2 == math.inf else int(self.d2)
        edge_reach = max(self.d1, self.d2, self.d3)
        node_reach = max(self.d2, self.d3 - 1, self.d1 - 1, 0)
        whole = np.zeros(AT_NODES + 1, np.int64)
        whole[PARENT_COLUMN], whole[VISITS_COLUMN], whole[MEAN_COLUMN] = parent, visits, mean
        whole[LAST_A], whole[A_INF] = last_a, a_inf
        whole[B_FIRST], whole[B_LEVELS], whole[B_IS_INF] = b_first, b_levels, self.d1 == math.inf
        whole[EDGE_REACH], whole[NODE_REACH] = min(edge_reach, FAR + 1), min(node_reach, FAR + 1)
        whole[FROM_LEAF], whole[AT_NODES] = self.backup == "section_3_4", self.store == "nodes"
        return Parameters(whole, np.array([float(self.c)]))
