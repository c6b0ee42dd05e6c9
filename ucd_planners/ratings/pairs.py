"""Pairs of games with seats swapped: the unit of all statistics, since the two games of a pair share an opening."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ucd_planners.arena.contest import Game

SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Mean payoffs of a pair of decided games: the five classes of pentanomial counts."""


@dataclass(frozen=True)
class Pairing:
    """The games of two players. Payoffs are those of the first one."""

    players: tuple[int, int]
    """Places of a and b among the players."""
    games: tuple[Game, ...]
    """Those that have ended, by number. One that failed is no result."""
    wanted: int
    """Number of games asked for."""

    @property
    def scores(self) -> list[float]:
        """Returns a's mean payoff in each pair of which both games have a result, in order of the pairs."""
        return list(self.by_pair().values())

    def by_pair(self) -> dict[int, float]:
        """Returns a's mean payoff by the number of the pair."""
        payoffs = {game.number: game.payoff for game in self.games if not game.failure}
        found = {}
        for number in sorted(payoffs):
            if number % 2 == 0 and number + 1 in payoffs:
                found[number // 2] = (payoffs[number] + payoffs[number + 1]) / 2
        return found

    @property
    def distinct(self) -> int:
        """Returns the number of different games, compared by their moves."""
        return len({(game.seat, game.moves) for game in self.games if not game.failure})


def pentanomial(scores: Sequence[float]) -> tuple[int, ...]:
    """Returns the number of pairs with each of SCORES. Raises ValueError for a game that was not won, drawn or lost."""
    counted = Counter(scores)
    if counted.keys() - set(SCORES):
        raise ValueError("the game pays other payoffs than 0, 1/2 and 1, so its pairs have no five classes")
    return tuple(counted[score] for score in SCORES)


def expanded(counts: Sequence[int]) -> list[float]:
    """Returns scores of pairs that have these pentanomial counts."""
    return [score for score, count in zip(SCORES, counts, strict=True) for _ in range(count)]
