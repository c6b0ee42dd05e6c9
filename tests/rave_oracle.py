"""Slow exact reference for all moves as first: RAVE, RAVE-UCD and GRAVE from their definitions, over a list of all simulations.

A simulation is a path from the root through positions of the graph, the moves of its playout behind them, and payoffs. Nothing
is counted on the way: each question is answered from the whole list.

    N(u, q, a), W(u, q, a)   simulations whose path holds u and in which q plays a at u or later; what they paid q
    M(u, a), V(u, a)         simulations whose path holds u, or a position that a recorded edge of u leads to, and in which u's
                             mover plays a there or later; what they paid that player

A position that was forgotten and comes again begins anew.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import oracle
from oracle import Depth, Edge, Position, Step, Vector

CHANCE = 1024
"""The mover where an outcome is drawn, as `ucd_envs.kernels` has it."""
Move = tuple[int, int]
"""A player and an action."""
Sums = dict[Any, tuple[int, Fraction]]
"""How many simulations, and what they paid."""


class Simulation(NamedTuple):
    """One of the list."""

    number: int
    places: dict[Position, int]
    """Each position of the path, with the number of moves before it."""
    moves: list[Move]
    """All of them, to the end of the game."""
    payoffs: Vector

    def played_from(self, position: Position) -> set[Move]:
        """Return the players' moves made at a position of the path or later, each once."""
        return {move for move in self.moves[self.places[position] :] if move[0] != CHANCE}


class Log(oracle.Oracle):
    """All simulations, and what UCD's own oracle knows of their paths."""

    def __init__(self, players: int) -> None:
        super().__init__(players)
        self.list: list[Simulation] = []
        self.mover: dict[Position, int] = {}
        self.born: dict[Position, int] = {}

    def record_all(
        self, path: Sequence[Step], movers: Sequence[int], playout: Iterable[Move], payoffs: Sequence[float]
    ) -> None:
        """Add a simulation: its path with the player to move at each source and at the end (-1: the game is over there), the
        moves behind the path, and one payoff in [0, 1] a player."""
        self.record(path, payoffs)
        positions = [path[0][0], *(target for _, _, target in path if target is not None)]
        for position, mover in zip(positions, movers, strict=False):
            self.mover[position] = mover
            self.born.setdefault(position, len(self.list))
        moves = [(mover, action) for mover, (_, action, _) in zip(movers, path, strict=False)]
        places = {position: place for place, position in enumerate(positions)}
        gain = tuple(Fraction(payoff) for payoff in payoffs)
        self.list.append(Simulation(len(self.list), places, [*moves, *playout], gain))

    def forget(self, root: Position) -> None:
        """Drop every position that recorded edges do not lead to from the root."""
        super().forget(root)
        self.born = {position: number for position, number in self.born.items() if position in self.out}

    def holding(self, position: Position) -> Iterator[Simulation]:
        """Yield the simulations whose path holds a position, since it was recorded."""
        return (one for one in self.list[self.born[position] :] if position in one.places)

    def played(self, position: Position) -> Sums:
        """Return N and W of every player and action that are not 0."""
        return summed((move, one.payoffs[move[0]]) for one in self.holding(position) for move in one.played_from(position))

    def mixed(self, position: Position) -> Sums:
        """Return M and V of every action that are not 0."""
        mover, counted = self.mover[position], {}
        targets = {self.target[edge] for edge in self.out[position]} - {None}
        for place in (*targets, position):  # one that holds the position itself counts from there
            for one in self.holding(place):
                counted[one.number] = {action for player, action in one.played_from(place) if player == mover}
        return summed((action, self.list[number].payoffs[mover]) for number, played in counted.items() for action in played)

    def visited(self, position: Position) -> int:
        """Return the sum of n over the position's edges."""
        return int(sum(self.n[edge] for edge in self.out.get(position, [])))


def summed(pairs: Iterable[tuple[Any, Fraction]]) -> Sums:
    """Return how often each thing comes, and the sum of its payoffs."""
    sums: Sums = {}
    for thing, payoff in pairs:
        count, total = sums.get(thing, (0, Fraction(0)))
        sums[thing] = count + 1, total + payoff
    return sums


def beta(n: int, amaf: int, bias: float) -> Fraction:
    """Return the weight of the mean of all playouts with a move, against that of the move's own n."""
    return Fraction(amaf) / (amaf + n + Fraction(bias) * amaf * n)


class Choice(NamedTuple):
    """A selection's parameters."""

    bias: float
    c: float
    depth_mean: Depth
    depth_rave: int
    ref: int
    first_play_urgency: float
    revisit: int = 0

    def is_due(self, log: Log, position: Position) -> bool:
        """Return whether the next simulation of a position is for its least tried move."""
        return self.revisit > 0 and (log.visited(position) + 1) % self.revisit == 0

    def reference(self, log: Log, descent: Sequence[Position]) -> Position:
        """Return the last position of a descent where a player moves and whose edges had `ref` simulations or more; the root if
        none has."""
        enough = [place for place in descent[1:] if log.visited(place) >= self.ref and log.mover[place] != CHANCE]
        return [descent[0], *enough][-1]

    def known(self, log: Log, descent: Sequence[Position], mover: int) -> Sums:
        """Return n~, w~ of every action that are not 0, at the end of a descent."""
        if self.depth_rave:
            return log.mixed(descent[-1]) if descent[-1] in log.out else {}
        reference = self.reference(log, descent)
        sums = log.played(reference) if reference in log.out else {}
        return {action: sums for (player, action), sums in sums.items() if player == mover}

    def values(self, log: Log, descent: Sequence[Position], mover: int, legal: Iterable[int]) -> dict[int, float]:
        """Return the bound of each legal move at the end of a descent."""
        known, position = self.known(log, descent, mover), descent[-1]
        return {action: self.value(log, (position, action), mover, *known.get(action, (0, Fraction(0)))) for action in legal}

    def value(self, log: Log, edge: Edge, mover: int, amaf: int, paid: Fraction) -> float:
        """Return the bound of one move with n~ = amaf and w~ = paid."""
        if edge not in log.out.get(edge[0], []):
            return float(paid / amaf) if amaf else self.first_play_urgency
        n = int(log.n[edge])
        mean, weight = log.mean(edge, self.depth_mean)[mover], beta(n, amaf, self.bias)
        if amaf:
            mean = (1 - weight) * mean + weight * paid / amaf
        return float(mean) + self.c * math.sqrt(math.log(log.visited(edge[0])) / n)
