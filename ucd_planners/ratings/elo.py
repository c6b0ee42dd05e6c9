"""Elo ratings with 95% intervals: the model of Bradley and Terry, fitted to games with their pairs as clusters.

The expected score of i against j is 1 / (1 + 10^((r_j - r_i) / 400)) [Bradley and Terry 1952; Elo 1978]. A draw is half a
win. The fit is logistic regression by statsmodels. Errors are those of its cluster-robust covariance [Liang and Zeger 1986],
where a cluster is a pair of games with one opening: so they are pentanomial, not trinomial.

To a pairing of which all pairs ended alike the fit adds one game won and one lost, as BayesElo adds two draws to every one.
So ratings are finite. A player that took all points of the others, or none, has an infinite upper or lower bound all the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

METHOD = "Bradley-Terry, 95% interval from cluster-robust errors with the pair as cluster"
SCALE = 400 / math.log(10)
"""Elo of one unit of the logistic model."""
Z = NormalDist().inv_cdf(0.975)
"""Standard errors on each side of a 95% interval."""


class Scores(NamedTuple):
    """Mean payoffs of `first` in the pairs of games that it played against `second`; both are places among the players."""

    first: int
    second: int
    pairs: Sequence[float]


@dataclass(frozen=True)
class Ratings:
    """Ratings of players, in Elo."""

    elo: np.ndarray
    """[players] float64. Their mean is 0, or the anchor's rating is."""
    covariance: np.ndarray
    """[players, players] float64, in squared Elo."""
    low: np.ndarray
    """Lower ends of the 95% intervals, -inf for players that took no point of the others: [players] float64."""
    high: np.ndarray
    """Upper ends, inf for players that took all points of the others."""

    def difference(self, one: int, other: int) -> tuple[float, float, float]:
        """Returns the rating of one player less that of another, with its 95% interval."""
        middle = float(self.elo[one] - self.elo[other])
        spread = self.covariance[one, one] + self.covariance[other, other] - 2 * self.covariance[one, other]
        reach = Z * math.sqrt(max(0.0, float(spread)))
        return middle, middle - reach, middle + reach

    def ranks(self, player: int) -> tuple[int, int]:
        """Returns the best and the worst rank that a player can have.

        A player ranks above another only if the interval of their difference excludes 0.
        """
        others = [self.difference(player, other) for other in range(len(self.elo)) if other != player]
        above, below = sum(high < 0 for _, _, high in others), sum(low > 0 for _, low, _ in others)
        return 1 + above, len(self.elo) - below


def library() -> Any:
    """Returns statsmodels. Raises ImportError with one sentence where it is missing."""
    try:
        import statsmodels.api
    except ImportError:
        raise ImportError("ratings need statsmodels: pip install 'ucd-planners[ratings]'") from None
    return statsmodels.api


def rate(players: int, played: Sequence[Scores], anchor: int | None = None) -> Ratings:
    """Returns the ratings of players 0, 1, ... from the pairs that they played.

    anchor: the player whose rating is 0; by default the mean of all is. Raises ValueError for players that no chain of
    games connects, since nothing compares them.
    """
    played = [each for each in played if len(each.pairs)]
    group = _groups(players, [(each.first, each.second) for each in played], "weak")
    if players < 2 or len(set(group)) > 1:
        raise ValueError("ratings need players that are connected by finished pairs of games")
    mean, covariance = _fitted(players, played)
    shift = np.eye(players) - (1 / players if anchor is None else np.eye(players)[anchor])
    mean, covariance = SCALE * shift @ mean, SCALE**2 * shift @ covariance @ shift.T
    reach = Z * np.sqrt(np.maximum(0.0, np.diag(covariance)))
    low, high = mean - reach, mean + reach
    above, below = _unbounded(players, played, anchor)
    low[below], high[above] = -math.inf, math.inf
    return Ratings(mean, covariance, low, high)


def _fitted(players: int, played: Sequence[Scores]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the logits of all players and their covariance; the last player's are 0."""
    api = library()
    firsts: list[int] = []
    seconds: list[int] = []
    payoffs: list[float] = []
    clusters: list[int] = []
    for each in played:
        alike = len(set(each.pairs)) == 1
        scores = [score for score in each.pairs for _ in range(2)] + [1.0, 0.0] * alike
        firsts += [each.first] * len(scores)
        seconds += [each.second] * len(scores)
        begin = clusters[-1] + 1 if clusters else 0
        clusters += [begin + place // 2 for place in range(2 * len(each.pairs))]
        clusters += [begin + len(each.pairs), begin + len(each.pairs) + 1] * alike  # the two added games are independent
        payoffs += scores
    design = np.zeros((len(payoffs), players))
    design[np.arange(len(payoffs)), firsts] = 1.0
    design[np.arange(len(payoffs)), seconds] = -1.0
    model = api.GLM(np.array(payoffs), design[:, :-1], family=api.families.Binomial())
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": np.array(clusters)})
    mean, covariance = np.zeros(players), np.zeros((players, players))
    mean[:-1], covariance[:-1, :-1] = fit.params, fit.cov_params()
    return mean, covariance


def _unbounded(players: int, played: Sequence[Scores], anchor: int | None) -> tuple[list[int], list[int]]:
    """Returns the players that the games bound from one side only: those without an upper bound, and without a lower one.

    Ratings are bounded where each of two players scored against the other, directly or through others [Ford 1957]. The
    group of the anchor is bounded, and without one the largest group, if it is the only one of its size.
    """
    points = [(each.first, each.second) for each in played if sum(each.pairs) > 0]
    points += [(each.second, each.first) for each in played if sum(each.pairs) < len(each.pairs)]
    beaten = [(loser, winner) for winner, loser in points]
    group = _groups(players, points, "strong")
    sizes = sorted((group.count(each) for each in set(group)), reverse=True)
    if anchor is None and sizes[:1] == sizes[1:2]:
        inside = [[other for other in range(players) if group[other] == group[player]] for player in range(players)]
        above = [player for player in range(players) if len(_reached(players, beaten, [player])) == len(inside[player])]
        below = [player for player in range(players) if len(_reached(players, points, [player])) == len(inside[player])]
        return above, below
    middle = group[anchor] if anchor is not None else max(group, key=group.count)
    bounded = [player for player in range(players) if group[player] == middle]
    worse, better = _reached(players, points, bounded), _reached(players, beaten, bounded)
    return [player for player in range(players) if player not in worse], [
        player for player in range(players) if player not in better
    ]


def _groups(players: int, edges: Sequence[tuple[int, int]], connection: str) -> list[int]:
    """Returns the number of each player's connected group."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    matrix = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(players, players))
    return [int(each) for each in connected_components(matrix, connection=connection)[1]]


def _reached(players: int, edges: Sequence[tuple[int, int]], starts: Sequence[int]) -> set[int]:
    """Returns the players that edges lead to from some players, those included."""
    found, waiting = set(starts), list(starts)
    while waiting:
        player = waiting.pop()
        for one, other in edges:
            if one == player and other not in found:
                found.add(other)
                waiting.append(other)
    return found
