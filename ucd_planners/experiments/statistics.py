"""Tests of percentages with known standard errors, by scipy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def library() -> Any:
    """Returns the statistics library. Raises ImportError, naming the extra that installs it."""
    try:
        import scipy.stats
    except ImportError:
        raise ImportError("statistics need scipy: pip install 'ucd-planners[plot]'") from None
    return scipy.stats


def homogeneity(values: Sequence[float], errors: Sequence[float]) -> tuple[float, float]:
    """Returns chi-square and its p for "all values are equal", given their standard errors, above 0 [Cochran 1954]."""
    weights = [1 / error**2 for error in errors]
    mean = sum(weight * value for weight, value in zip(weights, values, strict=True)) / sum(weights)
    square = sum(weight * (value - mean) ** 2 for weight, value in zip(weights, values, strict=True))
    return square, float(library().chi2.sf(square, len(values) - 1))


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """Returns Spearman's rank correlation and its two-sided p."""
    found = library().spearmanr(first, second)
    return float(found.statistic), float(found.pvalue)


def against(value: float, error: float, expected: float) -> float:
    """Returns the two-sided p of an expected mean, given a mean and its standard error, above 0, by the normal distribution."""
    return float(2 * library().norm.sf(abs(value - expected) / error))


def holm(ps: Sequence[float]) -> list[float]:
    """Returns p-values corrected for their number, each at most 1 [Holm 1979]."""
    order, corrected, least = sorted(range(len(ps)), key=lambda i: ps[i]), [0.0] * len(ps), 0.0
    for rank, i in enumerate(order):
        least = max(least, min(1.0, (len(ps) - rank) * ps[i]))
        corrected[i] = least
    return corrected
