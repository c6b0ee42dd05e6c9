"""Confidence intervals of shares."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist


def wilson(score: float, games: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for a share `score / games`, in [0, 1]; (0, 1) without games [Wilson 1927].

    With draws counted half the variance is at most that of wins and losses with the same share, so the interval is not too
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
