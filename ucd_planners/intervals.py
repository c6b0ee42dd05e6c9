"""Confidence intervals of shares and of means."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, nan, pi, sin, sqrt, tan
from statistics import NormalDist, fmean, stdev

REACH = 1.96
"""Standard errors to each side of a 95% interval, for a normal distribution."""
MANY = 200
"""Degrees of freedom from which the normal distribution replaces Student's: within 1% of its quantiles."""


def wilson(score: float, games: float, confidence: float = 0.95) -> tuple[float, float]:
    """Returns Wilson's score interval for a share `score / games`, in [0, 1]; (0, 1) without games [Wilson 1927].

    A draw counts half. The variance is then at most that of wins and losses with the same share, so the interval is not too
    narrow. Raises ValueError unless 0 <= score <= games and 0 < confidence < 1.
    """
    if not 0 <= score <= games or not 0 < confidence < 1:
        raise ValueError(f"expected 0 <= score <= games and a confidence in (0, 1), not {score}, {games}, {confidence}")
    if games == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = score / games
    middle = (share + z * z / (2 * games)) / (1 + z * z / games)
    reach = z / (1 + z * z / games) * sqrt(share * (1 - share) / games + z * z / (4 * games * games))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def mean_interval(payoffs: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """Returns Student's interval for the mean of payoffs in [0, 1], clipped to it; (0, 1) for fewer than two [Student 1908].

    Raises ValueError unless 0 < confidence < 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"expected a confidence in (0, 1), not {confidence}")
    if len(payoffs) < 2:
        return 0.0, 1.0
    middle = fmean(payoffs)
    reach = student(confidence, len(payoffs) - 1) * sample_error(payoffs)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def sample_error(payoffs: Sequence[float]) -> float:
    """Returns the standard error of the mean of a sample; NaN for fewer than two."""
    return stdev(payoffs) / sqrt(len(payoffs)) if len(payoffs) > 1 else nan


def student(confidence: float, freedom: int) -> float:
    """Returns t such that Student's distribution has `confidence` within [-t, t]; `freedom` is at least 1."""
    if freedom >= MANY:
        return NormalDist().inv_cdf((1 + confidence) / 2)
    low, high = 0.0, pi / 2
    for _ in range(60):  # halves the interval of the angle atan(t / sqrt(freedom))
        middle = (low + high) / 2
        if _within(middle, freedom) < confidence:
            low = middle
        else:
            high = middle
    return sqrt(freedom) * tan((low + high) / 2)


def _within(angle: float, freedom: int) -> float:
    """Returns A(t) [Abramowitz and Stegun 1964, 26.7.3 and 26.7.4] for the angle atan(t / sqrt(freedom))."""
    term = sin(angle) * (cos(angle) if freedom % 2 else 1.0)
    total = 0.0 if freedom == 1 else term
    for k in range(2 + freedom % 2, freedom - 1, 2):
        term *= cos(angle) ** 2 * (k - 1) / k
        total += term
    return 2 / pi * (angle + total) if freedom % 2 else total
