"""UCD: upper confidence bounds in rooted directed acyclic graphs [UCD section 3].

The value of a move is mu_d1(e) + c * sqrt(log p_d2(e) / n_d3(e)), each term seen d1, d2 or d3 plies deep [UCD eq. 9-13]:

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

After a playout the changes are pushed up ply by ply, from leaf to root: to the edges into every node whose sums changed, and on
to their sources as far as the parameters see. [UCD section 3.4] updates n_d on the path and within distance d of the leaf only,
which misses edges that enter an inner node of the path from outside; that literal rule is backup="section_3_4".
Infinite depth is one more level that feeds itself. A_inf counts paths and can grow exponentially, hence floating point.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ucd_envs.kernels import CHANCE, kernel
from ucd_envs.settings import boolean, one_of, real
from ucd_envs.structs import configuration, record
from ucd_planners.search.graph import (
    edge_in,
    edge_stats,
    edges,
    exploration,
    initial_stats,
    mean_value,
    node_stats,
    nodes,
    parameters,
)
from ucd_planners.search.interface import BACKUP, Layout, exploration_constant
from ucd_planners.search.sim import begin_backup, frontier, marks, path, payoffs, pending, scratch, scratch_bytes
from ucd_planners.search.ucb import exploration_of, scale_of

COLUMNS = ("parent_visits", "child_visits", "mean_column", "last_a", "a_inf", "first_b", "own_b", "shares")
REACH = ("edge_reach", "node_reach", "from_leaf", "at_nodes", "shallow")
UCD_PARAMETERS = (("c", np.float64), *((name, np.int64) for name in ("players", *COLUMNS, *REACH)))
PARAMETERS = record(*UCD_PARAMETERS)
"""Columns of node_stats: A_d2, A_(d3-1) and B_(d1-1) (-1: the edge's own n, w), the last finite A, A_inf (-1: none)
and the first B; whether that is B_0, the sum of w; the number of shares. How many plies above a changed node edges, and nodes,
can change; whether this counts from the leaf, not from the path; whether nodes keep n', w'; whether all depths are shallow."""
FIRST_A, FAR = 1, 65_535
"""The first column of sums, the visits of a node's edges; and where distances stop counting."""


@kernel(BACKUP)
def backup(graph, sim):
    """Adds a playout to the edges of its path and makes every cached value right again."""
    p, trail, length, paid = parameters(graph, PARAMETERS), path(sim), np.int64(sim.path.length), payoffs(sim)
    # An edge is on the path that made it, so n(e) is never 0 when its values are computed.
    if p.shallow:
        add_to_path(graph, sim, p)
        return
    begin_backup(graph, sim)
    changed, above, count = 0, 1, 0  # two sides of the frontier, which change places at each ply
    leaf = np.int64(edges(graph)[trail[1, length - 1]].target)
    if p.at_nodes and leaf >= 0:
        add_leaf_playout_to_node(graph, sim, p, leaf, paid)
        count = 1
    for depth in range(length - 1, -1, -1):  # upward: sums below are right before an edge reads them
        number, source = np.int64(trail[1, depth]), np.int64(trail[0, depth])
        # The frontier is ordered by distance, and the node of the path comes first with distance 0.
        begin_changes(graph, sim, source, length - 1 - depth if p.from_leaf else 0, above, 0)
        waiting = 1  # place 0 is the source on the path
        add_playout(graph, sim, p, number, source, paid)
        if depth == length - 1 and count == 0:
            add_leaf_playout(graph, sim, p, number, source, paid)
        if edges(graph)[number].visits == 1 and edges(graph)[number].target >= 0:
            inherit_sums(graph, sim, p, number, source)
        for i in range(count):
            node = np.int64(frontier(graph, sim)[changed, i])
            if marks(graph, sim)[node].distance < p.edge_reach:
                waiting = propagate_to_all(graph, sim, p, node, above, waiting)
            elif edges(graph)[number].target == node:
                propagate(graph, sim, p, number, source, node)
        # Only nodes whose sums change go on to the next ply.
        count = 0
        for i in range(waiting):
            node = np.int64(frontier(graph, sim)[above, i])
            if i == 0 or marks(graph, sim)[node].distance <= p.node_reach:
                apply_changes(graph, sim, p, node)
                frontier(graph, sim)[above, count] = node
                count += 1
        changed, above = above, changed  # sources of this ply are the changed nodes of the next


@kernel()
def add_to_path(graph, sim, p):
    """The backup where no value looks further than the position that its edge leads to: only sums of path nodes change."""
    trail, length, paid, kept = path(sim), np.int64(sim.path.length), payoffs(sim), node_stats(graph)
    weighs = graph.actions.columns > 0  # else no probability is known
    for depth in range(length - 1, -1, -1):
        number, source, last = np.int64(trail[1, depth]), np.int64(trail[0, depth]), depth == length - 1
        edge, own = edges(graph)[number], edge_stats(graph)[number]
        edge.visits += 1
        edge.leaf_visits += 1 if last else 0
        for player in range(p.players):
            own[player] += paid[player]
            if last and p.mean_column >= 0:
                own[p.players + player] += paid[player]
        if last or p.edge_reach == 0:
            refresh(graph, sim, p, number, source, True)
        else:
            refresh_all(graph, sim, p, np.int64(edge.target))
        kept[source, FIRST_A] += 1.0
        for player in range(p.players if p.own_b else 0):
            kept[source, p.first_b + player] += paid[player]
        kept[source, 0] = scale_of(p.c, kept[source, FIRST_A])  # of the node: one root and logarithm for all edges
        if weighs and nodes(graph)[source].mover == CHANCE:
            weigh_outcomes(graph, p, source)
    if p.edge_reach > 0:
        refresh_all(graph, sim, p, np.int64(trail[0, 0]))  # where positions may come again, edges lead to the root too


@kernel()
def refresh_all(graph, sim, p, node):
    """Makes every edge into a node see its changed sums."""
    reference = nodes(graph)[node].first_in
    while reference >= 0:
        source, number = edge_in(graph, reference)
        refresh(graph, sim, p, number, source, True)
        reference = edges(graph)[number].next_in


@kernel()
def begin_changes(graph, sim, node, distance, side, place):
    """Puts a node at a place of the frontier, without changes so far."""
    slot = side * graph.nodes.room + place
    frontier(graph, sim)[side, place] = node
    mark = marks(graph, sim)[node]
    mark.stamp = scratch(sim).stamp  # an old stamp is as good as none: marks are never cleared
    mark.distance = min(distance, FAR)
    mark.slot = slot  # pending changes of a node lie in the row of its place
    for column in range(FIRST_A, graph.nodes.columns):
        pending(graph, sim)[slot, column] = 0.0


@kernel()
def apply_changes(graph, sim, p, node):
    """Adds a node's pending changes to its sums."""
    slot, kept, changes = np.int64(marks(graph, sim)[node].slot), node_stats(graph), pending(graph, sim)
    for column in range(FIRST_A, graph.nodes.columns):
        kept[node, column] += changes[slot, column]  # sums change here only, once a backup
    if changes[slot, p.parent_visits] != 0.0:
        kept[node, 0] = scale_of(p.c, kept[node, p.parent_visits])  # stale nowhere: it changes with the sum that it depends on
    if nodes(graph)[node].mover == CHANCE:
        weigh_outcomes(graph, p, node)


@kernel()
def weigh_outcomes(graph, p, node):
    """Makes each B_d of a chance node its visits times the mean of its outcomes by their probabilities, where they are known.

    B_d(v) = A_0(v) * sum of P(f) mu_d(f) / sum of P(f)     over the outcomes f that have come
    """
    source, kept, own = nodes(graph)[node], node_stats(graph), edge_stats(graph)
    first, listed, count = np.int64(source.first_edge), np.int64(source.first_action), np.int64(source.expanded)
    total = 0.0
    for i in range(count if graph.actions.columns > 0 else 0):
        total += initial_stats(graph)[listed + i, 0]
    if total == 0.0:  # probabilities are unknown: outcomes weigh as often as they came
        return
    # An edge keeps n(f) mu_d(f), of which n(f) is known: w(f) for d = 0, and its shares above.
    for column in range(np.int64(graph.nodes.columns) - p.first_b):
        place = column if p.own_b and column < p.players else 2 * p.players + column - (p.players if p.own_b else 0)
        mean = 0.0
        for i in range(count):
            mean += initial_stats(graph)[listed + i, 0] * own[first + i, place] / edges(graph)[first + i].visits
        kept[node, p.first_b + column] = kept[node, FIRST_A] * mean / total


@kernel()
def add_playout(graph, sim, p, number, source, paid):
    """Adds a playout to n(e), w(e) of an edge of the path, and to A_0, B_0 of its source."""
    slot = np.int64(marks(graph, sim)[source].slot)
    edges(graph)[number].visits += 1  # every edge of the path, once: no path has an edge twice
    pending(graph, sim)[slot, FIRST_A] += 1.0
    for player in range(p.players):
        edge_stats(graph)[number, player] += paid[player]
        if p.own_b:
            pending(graph, sim)[slot, p.first_b + player] += paid[player]


@kernel()
def add_leaf_playout(graph, sim, p, number, source, paid):
    """Adds a playout to n'(e), w'(e) of the last edge of the path, and to A_1 ... of its source."""
    slot = np.int64(marks(graph, sim)[source].slot)
    edges(graph)[number].leaf_visits += 1  # n'(e) <= n(e) always
    for player in range(p.players if p.mean_column >= 0 else 0):
        edge_stats(graph)[number, p.players + player] += paid[player]
    for column in range(FIRST_A + 1, p.last_a + 1):
        pending(graph, sim)[slot, column] += 1.0
    if p.a_inf >= 0:
        pending(graph, sim)[slot, p.a_inf] += 1.0
    refresh(graph, sim, p, number, source, True)


@kernel()
def add_leaf_playout_to_node(graph, sim, p, node, paid):
    """Adds a playout to n'(v), w'(v) of the node where the path ended: to every A and B of it."""
    begin_changes(graph, sim, node, 0, 0, 0)  # first of the changed ones, before any edge is looked at
    slot = np.int64(marks(graph, sim)[node].slot)
    for column in range(FIRST_A, p.first_b):
        pending(graph, sim)[slot, column] = 1.0
    for column in range(p.first_b, graph.nodes.columns):
        pending(graph, sim)[slot, column] = paid[(column - p.first_b) % p.players]
    apply_changes(graph, sim, p, node)


@kernel()
def inherit_sums(graph, sim, p, number, source):
    """Gives the source of a new edge to a known position the sums that this had before the playout."""
    changes, target = pending(graph, sim), np.int64(edges(graph)[number].target)
    here, there = np.int64(marks(graph, sim)[source].slot), np.int64(marks(graph, sim)[target].slot)
    # A descent may end at the target, where chance draws an outcome without room: then nothing has changed there.
    changed = marks(graph, sim)[target].stamp == scratch(sim).stamp
    # A_d of the target becomes A_(d+1) of the source; A_inf feeds itself.
    for column in range(FIRST_A, p.last_a):
        changes[here, column + 1] += node_stats(graph)[target, column] - (changes[there, column] if changed else 0.0)
    if p.a_inf >= 0:
        changes[here, p.a_inf] += node_stats(graph)[target, p.a_inf] - (changes[there, p.a_inf] if changed else 0.0)


@kernel()
def propagate_to_all(graph, sim, p, node, above, waiting):
    """Carries a node's changes over every edge into it and puts the sources on the frontier; returns how many wait there."""
    distance, stamp = np.int64(marks(graph, sim)[node].distance) + 1, scratch(sim).stamp
    reference = nodes(graph)[node].first_in
    while reference >= 0:
        source, number = edge_in(graph, reference)
        # A source that is on the frontier already is there with its least distance.
        if marks(graph, sim)[source].stamp != stamp:
            begin_changes(graph, sim, source, distance, above, waiting)
            waiting += 1
        propagate(graph, sim, p, number, source, node)
        reference = edges(graph)[number].next_in
    return waiting


@kernel()
def propagate(graph, sim, p, number, source, node):
    """Carries the changes of a node's sums over one edge into it: A_d to A_(d+1) of the source, then the edge's own values."""
    changes = pending(graph, sim)
    here, there = np.int64(marks(graph, sim)[source].slot), np.int64(marks(graph, sim)[node].slot)
    for column in range(FIRST_A, p.last_a):
        changes[here, column + 1] += changes[there, column]
    if p.a_inf >= 0:
        changes[here, p.a_inf] += changes[there, p.a_inf]
    # Most edges far above the path only get another mean: there no visits have changed.
    refresh(graph, sim, p, number, source, p.child_visits < 0 or p.from_leaf or changes[there, p.child_visits] != 0.0)


@kernel(inline=True)
def refresh(graph, sim, p, number, source, counts):
    """Computes an edge's mean, and if it counts more its visits, from its target's sums, and its shares n(e) mu_d(e) of B_d."""
    edge, own, kept = edges(graph)[number], edge_stats(graph)[number], node_stats(graph)
    target, mover = np.int64(edge.target), np.int64(nodes(graph)[source].mover)
    if p.shares > 0:
        refresh_shares(graph, sim, p, number, source)
    # Outcomes are drawn: nothing reads their bounds.
    if mover == CHANCE:
        mean_value(graph)[number] = exploration(graph)[number] = 0.0
        return
    if p.mean_column < 0:
        mean_value(graph)[number] = own[mover] / edge.visits  # d1 = 0: w(e) / n(e)
    elif target < 0:
        mean_value(graph)[number] = own[p.players + mover] / edge.leaf_visits  # below it nothing, so n(e) = n'(e)
    else:
        total = own[p.players + mover] + kept[target, p.mean_column + mover]  # w'(e) + B_(d-1)(v)
        mean_value(graph)[number] = total / (edge.leaf_visits + kept[target, FIRST_A])
    if p.child_visits < 0:
        exploration(graph)[number] = exploration_of(edge.visits)
    elif counts:
        exploration(graph)[number] = exploration_of(edge.leaf_visits + (kept[target, p.child_visits] if target >= 0 else 0.0))


@kernel()
def refresh_shares(graph, sim, p, number, source):
    """Computes an edge's shares n(e) mu_d(e), and adds their changes to the source's pending B_d."""
    edge, own, kept = edges(graph)[number], edge_stats(graph)[number], node_stats(graph)
    target, slot = np.int64(edge.target), np.int64(marks(graph, sim)[source].slot)
    visits = edge.leaf_visits + (kept[target, FIRST_A] if target >= 0 else 0.0)
    # B_0 is the sum of w and has no shares: they begin one level further, but for B_inf, which feeds itself.
    first = p.first_b + (p.players if p.own_b else 0)
    for column in range(p.shares):
        share = own[p.players + column % p.players]
        if target >= 0:  # an edge without a node has only playouts that ended with it
            share += kept[target, p.first_b + column]
        share = edge.visits * share / visits
        place = 2 * p.players + column
        pending(graph, sim)[slot, first + column] += share - own[place]
        own[place] = share  # so the next change is the difference to what the source has


BACKUPS, STORES = ("descent", "section_3_4"), ("edges", "nodes")


@dataclass(frozen=True)
class UCD:
    """UCT (without a table) and UCD with its three depths.

    d1, d2, d3: plies that the mean, the parent's visits and the child's visits look down, each 0, 1, 2, ... or math.inf;
    c: exploration constant, 0 or more; table: whether positions reached in several ways share a node (all depths are 0
    without); backup: "descent", exact, or "section_3_4", the literal rule of that section; store: whether the playouts that
    ended are kept by "edges", as in the paper, or by "nodes"; graded: whether a position at another ply is another node.
    Without, a position that comes again is one node, in a graph with cycles; it goes with finite depths, a table and the other
    defaults. Raises TypeError or ValueError otherwise.
    """

    serves_chance = True
    select_kernel = None
    d1: float = 0
    d2: float = 0
    d3: float = 0
    c: float = 0.3
    table: bool = True
    backup: str = "descent"
    store: str = "edges"
    graded: bool = True

    def __post_init__(self) -> None:
        for name in ("d1", "d2", "d3"):
            depth = getattr(self, name)
            if not real(name, depth) >= 0 or (depth != math.inf and (depth != int(depth) or depth >= FAR)):
                raise ValueError(f"{name} must be 0, 1, 2, ... or inf, not {depth!r}")
        exploration_constant(self.c)
        one_of("backup", self.backup, BACKUPS)
        one_of("store", self.store, STORES)
        if self.store == "nodes" and (not self.table or self.backup != "descent"):
            raise ValueError('store="nodes" goes with a table and backup="descent" only')
        depths, special = (self.d1, self.d2, self.d3), (self.backup, self.store) != ("descent", "edges")
        if not self.table and depths != (0, 0, 0):
            raise ValueError("d1, d2 and d3 look into a graph and must be 0 without a table")
        if not boolean("graded", self.graded) and (not self.table or math.inf in depths or special):
            raise ValueError("graded=False goes with finite depths, a table and the default backup and store only")

    @property
    def backup_kernel(self) -> Any:
        """The backup: another one where a position may lie any number of plies above another, unless all depths are shallow."""
        from ucd_planners.selection import cyclic  # it builds on this file

        return backup if self.graded or self.is_shallow() else cyclic.backup

    def is_shallow(self) -> bool:
        """Whether no value looks further than the position that its edge leads to."""
        return self.d1 <= 1 and self.d2 == 0 and self.d3 <= 1 and (self.backup, self.store) == ("descent", "edges")

    def levels(self) -> tuple[int, int]:
        """The last finite level of A, and how many levels of B are kept (infinite depth keeps one)."""
        finite = [int(depth) for depth in (0, self.d2, self.d3 - 1) if depth != math.inf]
        return max(finite), 1 if self.d1 == math.inf else int(self.d1)

    def layout(self, players: int, actions: int) -> Layout:
        """Sums A_0 ... A_last, A_inf, B_0 ... of each player at nodes; value sums, those of the leaf, and shares at edges."""
        last_a, b_levels = self.levels()
        seats, endless = range(players), self.d1 == math.inf
        sums = [f"A_{level}" for level in range(last_a + 1)] + ["A_inf"] * (math.inf in (self.d2, self.d3))
        depths = ["inf"] if endless else list(range(b_levels))
        sums += [f"B_{depth}[{player}]" for depth in depths for player in seats]
        own = [f"value_sum[{player}]" for player in seats]
        if self.d1 > 0:
            own += [f"leaf_value_sum[{player}]" for player in seats]
            own += [f"share_{depth}[{player}]" for depth in (depths if endless else depths[1:]) for player in seats]
        stats = ("exploration_scale", *sums)
        return Layout(self.table, stats, tuple(own), scratch=scratch_bytes(len(stats)))

    def parameter_values(self, players: int) -> dict[str, Any]:
        """Returns the values of UCD_PARAMETERS."""
        (last_a, b_levels), endless = self.levels(), self.d1 == math.inf
        a_inf = FIRST_A + last_a + 1 if math.inf in (self.d2, self.d3) else -1
        first_b = FIRST_A + last_a + 1 + (a_inf >= 0)
        return {
            "c": float(self.c),
            "players": players,
            "parent_visits": a_inf if self.d2 == math.inf else FIRST_A + int(self.d2),
            "child_visits": -1 if self.d3 == 0 else a_inf if self.d3 == math.inf else FIRST_A + int(self.d3) - 1,
            "mean_column": -1 if self.d1 == 0 else first_b + (b_levels - 1) * players,
            "last_a": FIRST_A + last_a,
            "a_inf": a_inf,
            "first_b": first_b,
            "own_b": b_levels > 0 and not endless,
            "shares": players * (b_levels if endless else max(b_levels - 1, 0)),
            "edge_reach": min(max(self.d1, self.d2, self.d3), FAR + 1),
            "node_reach": min(max(self.d2, self.d3 - 1, self.d1 - 1, 0), FAR + 1),
            "from_leaf": self.backup == "section_3_4",
            "at_nodes": self.store == "nodes",
            "shallow": self.is_shallow(),
        }

    def parameters(self, players: int, actions: int) -> np.ndarray:
        """Returns the record that the backup reads."""
        return configuration(PARAMETERS, **self.parameter_values(players))
