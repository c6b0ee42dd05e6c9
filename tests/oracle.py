"""Slow exact reference for the search statistics of UCD (Saffidine, Cazenave, Mehat 2012).

Equation numbers are the paper's. A depth is a non-negative int or `math.inf`. The graph is acyclic.
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

Position = Hashable
Edge = tuple[Position, Hashable]
Step = tuple[Position, Hashable, Position | None]
Depth = int | float
Vector = tuple[Fraction, ...]


def add(left: Vector, right: Vector, factor: Fraction | int = 1) -> Vector:
    """Return left + factor * right, entry by entry."""
    return tuple(a + factor * b for a, b in zip(left, right, strict=True))


def bound(mean: Fraction, parent_visits: Fraction, visits: Fraction, c: float) -> float:
    """Return mean + c sqrt(log(parent_visits) / visits), with the natural logarithm."""
    return float(mean) + c * math.sqrt(math.log(parent_visits) / visits)


class Graph:
    """The links of all paths recorded so far, with visits n and payoff sums w of every edge.

    An edge is the pair (source, action); its target is None when the move ends the game.
    """

    def __init__(self, players: int) -> None:
        self.players = players
        self.simulations = 0
        self.zero: Vector = (Fraction(0),) * players
        self.target: dict[Edge, Position | None] = {}
        self.out: dict[Position, list[Edge]] = {}
        self.into: dict[Position, list[Edge]] = {}
        self.n: defaultdict[Edge, Fraction] = defaultdict(Fraction)
        self.w: defaultdict[Edge, Vector] = defaultdict(lambda: self.zero)

    def link(self, path: Sequence[Step], payoffs: Iterable[float | Fraction]) -> tuple[list[Edge], Vector]:
        """Add the path's links to the graph and return its edges and its payoffs as fractions.

        The path is non-empty, each target the next source; payoffs has one entry in [0, 1] a player.
        """
        gain = tuple(Fraction(x) for x in payoffs)
        if len(gain) != self.players or not all(0 <= x <= 1 for x in gain):
            raise ValueError(f"payoffs must be {self.players} numbers in [0, 1]: {gain}")
        if not path or any(a[2] is None or a[2] != b[0] for a, b in pairwise(path)):
            raise ValueError(f"path must be a non-empty list of consecutive edges: {path}")
        for source, action, target in path:
            edge = (source, action)
            if self.target.setdefault(edge, target) != target:
                raise ValueError(f"edge {edge} already has another target than {target}")
            if edge not in self.out.setdefault(source, []):
                self.out[source].append(edge)
                if target is not None:
                    self.out.setdefault(target, [])
                    self.into.setdefault(target, []).append(edge)
        self.simulations += 1
        return [(source, action) for source, action, _ in path], gain

    def reached(self, root: Position) -> set[Position]:
        """Return the root and the positions that recorded edges lead to from it."""
        found, queue = {root}, [root]
        while queue:
            targets = {self.target[edge] for edge in self.out.get(queue.pop(), [])}
            fresh = {target for target in targets if target is not None} - found
            queue.extend(fresh)
            found |= fresh
        return found

    def forget(self, root: Position) -> None:
        """Drop every position and edge that recorded edges do not lead to from the root, with all that is known of them."""
        kept = self.reached(root)
        self.out = {position: edges for position, edges in self.out.items() if position in kept}
        self.into = {v: [e for e in edges if e[0] in kept] for v, edges in self.into.items() if v in kept}
        for table in self.edge_tables():
            for edge in [edge for edge in table if edge[0] not in kept]:
                del table[edge]

    def edge_tables(self) -> list[dict[Edge, Any]]:
        """Return every table of this log that has an entry an edge."""
        return [self.target, self.n, self.w]

    def below(self, edge: Edge) -> list[Edge]:
        """Return the recorded edges out of the edge's target, none when the game is over there."""
        return self.out.get(self.target[edge], [])

    def edges(self) -> list[Edge]:
        """Return the recorded edges, in order of first record."""
        return list(self.target)

    def positions(self) -> list[Position]:
        """Return the recorded positions, sources and targets, in order of first record."""
        return list(self.out)


class Descents(Graph):
    """The raw statistics of the descent backup: n, w of paths that hold an edge, n', w' of those it ends."""

    def __init__(self, players: int) -> None:
        super().__init__(players)
        self.n_end: defaultdict[Edge, Fraction] = defaultdict(Fraction)
        self.w_end: defaultdict[Edge, Vector] = defaultdict(lambda: self.zero)
        self.chances: dict[Position, dict[Hashable, Fraction]] = {}

    def record(self, path: Sequence[Step], payoffs: Iterable[float | Fraction]) -> None:
        """Add one simulation, its path from the root down and one payoff in [0, 1] a player."""
        edges, gain = self.link(path, payoffs)
        for edge in edges:
            self.n[edge], self.w[edge] = self.n[edge] + 1, add(self.w[edge], gain)
        self.n_end[edge], self.w_end[edge] = self.n_end[edge] + 1, add(self.w_end[edge], gain)

    def edge_tables(self) -> list[dict[Edge, Any]]:
        """Return every table of this log that has an entry an edge."""
        return [*super().edge_tables(), self.n_end, self.w_end]


class Oracle(Descents):
    """The adapted statistics, each query computed from scratch by their definitions."""

    def ended(self, edge: Edge) -> tuple[Vector, Fraction]:
        """Return what ended here, for a look below the edge: w', n'."""
        return self.w_end[edge], self.n_end[edge]

    def passed(self, position: Position, means: dict[Edge, Vector]) -> Vector:
        """Return the sum of n(f) mu(f) over the edges out of a position.

        Where chance decides by known probabilities P, it is the visits of the position times the mean by P of what has come.
        """
        out = self.out.get(position, [])
        known = sum((self.chances[position][f[1]] for f in out), Fraction(0)) if position in self.chances else Fraction(0)
        total = self.zero
        for f in out:
            share = self.chances[position][f[1]] / known * self.through(position) if known else self.n[f]
            total = add(total, means[f], share)
        return total

    def through(self, position: Position) -> Fraction:
        """Return the visits of a position, n(f) of all edges out of it."""
        return sum((self.n[f] for f in self.out.get(position, [])), Fraction(0))

    def layers(self, edge: Edge, d: Depth) -> list[list[Edge]]:
        """Return the distinct edges k = 0, 1, ... d steps below the edge, each needed at depth d - k."""
        layers = [[edge]]
        while len(layers) <= d and layers[-1]:
            layers.append(list(dict.fromkeys(f for e in layers[-1] for f in self.below(e))))
        return layers

    def mean(self, edge: Edge, d: Depth) -> Vector:
        """Return mu_d, one entry a player (eq. 9-10)."""
        lower: dict[Edge, Vector] = {}
        for k, layer in reversed(list(enumerate(self.layers(edge, d)))):
            means: dict[Edge, Vector] = {}
            for e in layer:
                total, count = (self.w[e], self.n[e]) if k == d else self.ended(e)
                if k < d and self.below(e):
                    total = add(total, self.passed(self.target[e], lower))
                    count += sum(self.n[f] for f in self.below(e))
                means[e] = tuple(x / count for x in total)
            lower = means
        return lower[edge]

    def visits(self, edge: Edge, d: Depth) -> Fraction:
        """Return n_d (eq. 11-12)."""
        lower: dict[Edge, Fraction] = {}
        for k, layer in reversed(list(enumerate(self.layers(edge, d)))):
            if k == d:
                lower = {e: self.n[e] for e in layer}
            else:
                lower = {e: sum((lower[f] for f in self.below(e)), self.ended(e)[1]) for e in layer}
        return lower[edge]

    def parent_visits(self, position: Position, d: Depth) -> Fraction:
        """Return p_d of any edge out of the position (eq. 13), 0 when none is recorded."""
        return sum((self.visits(e, d) for e in self.out[position]), Fraction(0))

    def value(self, edge: Edge, d1: Depth, d2: Depth, d3: Depth, c: float, player: int) -> float:
        """Return mu_d1 + c sqrt(log p_d2 / n_d3) for the player."""
        return bound(self.mean(edge, d1)[player], self.parent_visits(edge[0], d2), self.visits(edge, d3), c)


class Places(Oracle):
    """The adapted statistics where playouts that ended at a position v are kept at v, whichever edge they came by.

    n'(v), w'(v) stand for n'(e), w'(e) of every edge e that leads to v, and p_d counts n'(u) in too. An edge that ends
    the game keeps its own.
    """

    def __init__(self, players: int) -> None:
        super().__init__(players)
        self.n_here: defaultdict[Position, Fraction] = defaultdict(Fraction)
        self.w_here: defaultdict[Position, Vector] = defaultdict(lambda: self.zero)

    def record(self, path: Sequence[Step], payoffs: Iterable[float | Fraction]) -> None:
        """Add one simulation, its path from the root down and one payoff in [0, 1] a player."""
        gain = tuple(Fraction(x) for x in payoffs)
        super().record(path, gain)
        last = path[-1][2]
        if last is not None:
            self.n_here[last], self.w_here[last] = self.n_here[last] + 1, add(self.w_here[last], gain)

    def ended(self, edge: Edge) -> tuple[Vector, Fraction]:
        """Return what ended where the edge leads: w', n' of the position, or of the edge itself when the game is over there."""
        target = self.target[edge]
        if target is None:
            return super().ended(edge)
        return self.zero if self.has_come(target) else self.w_here[target], self.n_here[target]

    def has_come(self, position: Position) -> bool:
        """Whether the mean of outcomes of known probability stands for what ended here as well."""
        return position in self.chances and bool(self.out.get(position))

    def through(self, position: Position) -> Fraction:
        """Return the visits of a position with the playouts that ended there."""
        return self.n_here[position] + super().through(position)

    def parent_visits(self, position: Position, d: Depth) -> Fraction:
        """Return p_d of any edge out of the position: n' of the position, and n_d of all edges out of it."""
        return self.n_here[position] + super().parent_visits(position, d)

    def forget(self, root: Position) -> None:
        """Drop what recorded edges do not lead to from the root; the root keeps what ended there."""
        super().forget(root)
        for table in (self.n_here, self.w_here):
            for position in [position for position in table if position not in self.out]:
                del table[position]


class UpdateAll(Graph):
    """The update-all backup: a simulation counts once at every ancestor edge of the end of its path."""

    def record(self, path: Sequence[Step], payoffs: Iterable[float | Fraction]) -> None:
        """Add one simulation to the last edge and to every edge that leads to its source."""
        edges, gain = self.link(path, payoffs)
        reached, queue = {edges[-1]}, [edges[-1]]
        while queue:
            fresh = set(self.into.get(queue.pop()[0], [])) - reached
            queue.extend(fresh)
            reached |= fresh
        for edge in reached:
            self.n[edge], self.w[edge] = self.n[edge] + 1, add(self.w[edge], gain)

    def mean(self, edge: Edge) -> Vector:
        """Return w / n, one entry a player."""
        return tuple(x / self.n[edge] for x in self.w[edge])

    def visits(self, edge: Edge) -> Fraction:
        """Return n."""
        return self.n[edge]

    def value(self, edge: Edge, c: float, player: int) -> float:
        """Return w / n + c sqrt(log(sum of n over the source's edges) / n) for the player."""
        total = sum((self.n[e] for e in self.out[edge[0]]), Fraction(0))
        return bound(self.mean(edge)[player], total, self.n[edge], c)


class Section34(Descents):
    """The paper's incremental rule (section 3.4), which refreshes caches on the path and near its leaf only.

    A[v, d] caches the sum of n_d, and B[v, d] of n mu_d, over the edges out of v; stored[e, d] is n mu_d of e
    when last processed. With `exact`, every path node has distance 0 from the leaf, which makes the caches
    equal to `Oracle`. The graph must be graded.
    """

    def __init__(self, players: int, d1: Depth, d2: Depth, d3: Depth, exact: bool = False) -> None:
        super().__init__(players)
        self.d1, self.d2, self.d3, self.exact = d1, d2, d3, exact
        finite = max(int(d) if d < math.inf else 0 for d in (d1, d2, d3))
        self.depths: list[Depth] = [*range(finite + 1)] + ([math.inf] if math.inf in (d1, d2, d3) else [])
        self.A: defaultdict[tuple[Position | None, Depth], Fraction] = defaultdict(Fraction)
        self.B: defaultdict[tuple[Position | None, Depth], Vector] = defaultdict(lambda: self.zero)
        self.stored: defaultdict[tuple[Edge, Depth], Vector] = defaultdict(lambda: self.zero)
        self.means: dict[Edge, Vector] = {}
        self.counts: dict[Edge, Fraction] = {}

    def record(self, path: Sequence[Step], payoffs: Iterable[float | Fraction]) -> None:
        """Add one simulation, ply by ply from the last edge up.

        In-edges of a changed node are processed below distance max(d1, d2, d3); a node off the path takes
        changes up to distance max(d2, d3 - 1, d1 - 1). A new edge counts with all of its target's sums.
        """
        gain = tuple(Fraction(x) for x in payoffs)
        new = {(u, a) for u, a, _ in path if (u, a) not in self.target}
        super().record(path, gain)
        edges = [(u, a) for u, a, _ in path]
        distance: dict[Position | None, float] = {}  # of the changed nodes one ply down
        change: dict[tuple[Position | None, Depth], Fraction] = {}  # of their A
        ply = len(path) - 1
        while ply >= 0 or distance:
            near = [v for v in distance if distance[v] < max(self.d1, self.d2, self.d3)]
            processed = dict.fromkeys(edges[ply : ply + 1] if ply >= 0 else [])
            processed |= dict.fromkeys(e for v in near for e in self.into.get(v, []))
            up_distance: dict[Position | None, float] = {}
            up_change: dict[tuple[Position | None, Depth], Fraction] = {}
            for u in dict.fromkeys(e[0] for e in processed):
                on_path = ply >= 0 and u == path[ply][0]
                mine = [e for e in processed if e[0] == u]
                da, db = dict.fromkeys(self.depths, Fraction(0)), dict.fromkeys(self.depths, self.zero)
                if on_path:
                    far = 0.0 if self.exact else float(len(path) - 1 - ply)
                    da[0], db[0] = Fraction(1), gain
                else:
                    far = 1 + min(distance[self.target[e]] for e in mine)
                for e in mine:
                    t = self.target[e]
                    for d in self.depths[1:]:
                        shift = self.A[t, d - 1] if e in new else change.get((t, d - 1), Fraction(0))
                        da[d] += shift + (e == edges[-1])
                        term = add(self.zero, self.refreshed_mean(e, d), self.n[e])
                        db[d] = add(db[d], add(term, self.stored[e, d], -1))
                        self.stored[e, d] = term
                    self.means[e] = self.refreshed_mean(e, self.d1)
                    self.counts[e] = self.n[e] if self.d3 == 0 else self.n_end[e] + self.A[t, self.d3 - 1]
                if on_path or far <= max(self.d2, self.d3 - 1, self.d1 - 1):
                    up_distance[u] = far
                    up_change |= {(u, d): da[d] for d in self.depths}
                    for d in self.depths:
                        self.A[u, d], self.B[u, d] = self.A[u, d] + da[d], add(self.B[u, d], db[d])
            distance, change, ply = up_distance, up_change, ply - 1

    def forget(self, root: Position) -> None:
        """Drop what recorded edges do not lead to from the root, with all caches of it."""
        super().forget(root)
        for table in (self.A, self.B):
            for key in [key for key in table if key[0] not in self.out]:
                del table[key]
        for key in [key for key in self.stored if key[0] not in self.target]:
            del self.stored[key]

    def edge_tables(self) -> list[dict[Edge, Any]]:
        """Return every table of this log that has an entry an edge."""
        return [*super().edge_tables(), self.means, self.counts]

    def refreshed_mean(self, edge: Edge, d: Depth) -> Vector:
        """Return mu_d from the edge's raw statistics and its target's cached sums."""
        if d == 0:
            return tuple(x / self.n[edge] for x in self.w[edge])
        t = self.target[edge]
        total, count = add(self.w_end[edge], self.B[t, d - 1]), self.n_end[edge] + self.A[t, 0]
        return tuple(x / count for x in total)

    def cached_mean(self, edge: Edge) -> Vector:
        """Return mu_d1 as of the last time the edge was processed, one entry a player."""
        return self.means[edge]

    def cached_visits(self, edge: Edge) -> Fraction:
        """Return n_d3 as of the last time the edge was processed."""
        return self.counts[edge]

    def parent_visits(self, position: Position) -> Fraction:
        """Return the cached p_d2 of any edge out of the position, 0 when none is recorded."""
        return self.A[position, self.d2]
