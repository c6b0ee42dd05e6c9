"""A sequential test of two players on pairs of games, in normalised Elo, and the number of games that a difference needs.

Normalised Elo is t * 800 / ln 10, where t is the mean payoff above 1/2 in standard deviations of one game: that of a pair
divided by root 2 [Van den Bergh, "Normalized Elo", 2020]. The test is Wald's on the likelihood ratio of two hypotheses
about t, each with its most likely distribution of the five scores of a pair [Wald 1945; Van den Bergh, "Comments on normalized
Elo", 2021].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ucd_envs.settings import real
from ucd_planners.ratings.pairs import SCORES, pentanomial

UNIT = 800 / math.log(10)
"""Normalised Elo of t = 1."""
UNSEEN = 1e-3
"""Count of a score that has not been seen, as in fishtest."""
ROUNDS, CLOSE = 50, 1e-9
"""Limit on the iterations for a most likely distribution, and the change at which they end."""


@dataclass(frozen=True)
class SPRT:
    """Hypotheses and error rates of a test.

    elo0, elo1: normalised Elo of H0 and H1, elo0 < elo1; alpha: probability of accepting H1 where H0 is true, beta: of
    accepting H0 where H1 is true, both above 0 and in sum below 1. Raises ValueError for other values.
    """

    elo0: float = 0.0
    elo1: float = 10.0
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        for name in ("elo0", "elo1", "alpha", "beta"):
            if not math.isfinite(real(name, getattr(self, name))):
                raise ValueError(f"{name} must be finite, not {getattr(self, name)}")
        if not self.elo0 < self.elo1:
            raise ValueError(f"elo0 must be below elo1, not {self.elo0} and {self.elo1}")
        if not (0 < self.alpha < 1 and 0 < self.beta < 1 and self.alpha + self.beta < 1):
            raise ValueError(f"alpha and beta must be above 0 and in sum below 1, not {self.alpha} and {self.beta}")

    @property
    def bounds(self) -> tuple[float, float]:
        """Returns the log-likelihood ratios at or beyond which H0 and H1 are accepted [Wald 1945]."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def ratio(self, counts: Sequence[int]) -> float:
        """Returns the log-likelihood ratio of H1 to H0 of pentanomial counts of pairs."""
        if not sum(counts):
            return 0.0
        seen = np.array([max(float(count), UNSEEN) for count in counts])
        one, other = (_most_likely(seen / seen.sum(), math.sqrt(2) * elo / UNIT) for elo in (self.elo0, self.elo1))
        return float(seen @ np.log(other / one))

    def verdict(self, scores: Sequence[float]) -> Verdict:
        """Returns the answer at the first pair that gives one, in the order of the pairs; later pairs change nothing.

        scores: mean payoffs of the pairs, multiples of 1/4.
        """
        low, high = self.bounds
        counts, ratio = [0] * len(SCORES), 0.0
        pentanomial(scores)
        for pairs, score in enumerate(scores, 1):
            counts[int(4 * score)] += 1
            ratio = self.ratio(counts)
            if ratio <= low or ratio >= high:
                return Verdict("H0" if ratio <= low else "H1", ratio, pairs, tuple(counts))
        return Verdict("", ratio, len(scores), tuple(counts))


@dataclass(frozen=True)
class Verdict:
    """The state of a test."""

    accepted: str
    """"H0", "H1", or empty while the test goes on."""
    ratio: float
    """Log-likelihood ratio."""
    pairs: int
    """Number of pairs that decided."""
    counts: tuple[int, ...]
    """Their pentanomial counts."""


def normalised_elo(counts: Sequence[int]) -> float:
    """Returns normalised Elo of pentanomial counts of pairs; NaN where all pairs ended alike."""
    seen, scores = np.array(counts, float), np.array(SCORES)
    mean = seen @ scores / seen.sum() if seen.sum() else math.nan
    variance = seen @ (scores - mean) ** 2 / seen.sum() if seen.sum() else 0.0
    return float((mean - 0.5) / math.sqrt(2 * variance) * UNIT) if variance > 0 else math.nan


def games_needed(percent: float, deviation: float = math.sqrt(1 / 8), alpha: float = 0.05, power: float = 0.8) -> int:
    """Returns the games that show a difference of the score from 50% with a probability, in a two-sided test.

    percent: the difference in points, above 0 and up to 50; deviation: standard deviation of a pair's mean payoff, by default
    that of two independent games without draws; alpha: error rate; power: the probability. Raises ValueError for values out of
    range.
    """
    from ucd_planners.ratings.elo import library

    if not 0 < real("percent", percent) <= 50:
        raise ValueError(f"percent must be above 0 and at most 50, not {percent}")
    if not 0 < real("alpha", alpha) < real("power", power) < 1:
        raise ValueError(f"alpha and power must be in (0, 1), with alpha below power, not {alpha} and {power}")
    if not 0 < real("deviation", deviation) <= 0.5:
        raise ValueError(f"deviation must be above 0 and at most 0.5, not {deviation}")
    library()
    from statsmodels.stats.power import NormalIndPower

    effect = percent / 100 / deviation
    pairs = NormalIndPower(ddof=0).solve_power(effect, alpha=alpha, power=power, ratio=0)
    return 2 * math.ceil(float(pairs))


def _most_likely(seen: np.ndarray, t: float) -> np.ndarray:
    """Returns the most likely distribution of pair scores whose mean is 1/2 + t standard deviations.

    seen: observed shares, all above 0: [5] float64. At the maximum p = seen / (1 + k g), where g is the gradient of
    (mean - 1/2) - t * deviation and k makes the sum of p g zero; g depends on p, so this is repeated.
    """
    from scipy.optimize import brentq

    scores = np.array(SCORES)
    found = np.full(len(scores), 1 / len(scores))
    for _ in range(ROUNDS):
        mean = found @ scores
        deviation = math.sqrt(found @ (scores - mean) ** 2)
        gradient = scores - 0.5 - t * deviation * (1 + ((scores - mean) / deviation) ** 2) / 2
        low, high = -1 / gradient.max(), -1 / gradient.min()
        inside = 1e-12 * (high - low)
        k = brentq(lambda k, g: float(np.sum(seen * g / (1 + k * g))), low + inside, high - inside, args=(gradient,))
        before, found = found, seen / (1 + k * gradient)
        if np.abs(found - before).max() < CLOSE:
            break
    return found
