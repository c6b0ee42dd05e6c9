"""Residuals of sessions: whether the results that one session added to a store fit those of the others.

A session is one run of a command, on one machine. Its results in a pairing are compared with the mean of all in that pairing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ucd_planners.ratings.pairs import Pairing

ODD = 0.001
"""Error rate, of all sessions together, at which one is named."""


class Residual(NamedTuple):
    """The results of a session in all pairings."""

    session: int
    pairs: int
    percent: float
    """Mean of score less expected score, in points of the first players."""
    chi_square: float
    """Sum of squared standard residuals over the pairings."""
    freedom: int
    probability: float
    """Probability of a sum as large by chance."""
    odd: bool
    """Whether it is below 0.001, divided by the number of sessions."""


def residuals(pairings: Sequence[Pairing], sessions: Sequence[Mapping[int, int]]) -> list[Residual]:
    """Returns the residuals of each session, by its number.

    sessions: for each pairing, the session of each game by number. A pair of games belongs to the session of its first game.
    Pairings in which a session has all pairs, or all scores are equal, say nothing about it.
    """
    from scipy.stats import chi2

    found: dict[int, list[tuple[int, float, float]]] = {}
    for pairing, session_of in zip(pairings, sessions, strict=True):
        scores = pairing.by_pair()
        values = np.array(list(scores.values()))
        owners = np.array([session_of.get(2 * pair, 0) for pair in scores])
        for session in sorted(set(owners.tolist())):
            own, others = values[owners == session], values[owners != session]
            square = 0.0
            if len(others) > 1 and len(own) > 1:
                spread = others.var(ddof=1) / len(others) + max(others.var(ddof=1), own.var(ddof=1)) / len(own)
                square = float((own.mean() - others.mean()) ** 2 / spread) if spread else float("nan")
            middle = others.mean() if len(others) else own.mean()
            found.setdefault(session, []).append((len(own), float(own.sum() - len(own) * middle), square))
    listed = []
    for session, rows in sorted(found.items()):
        compared = [square for _, _, square in rows if square > 0]
        pairs, total = sum(count for count, _, _ in rows), sum(compared)
        probability = float(chi2.sf(total, len(compared))) if compared else 1.0
        off = 100 * sum(excess for _, excess, _ in rows) / pairs
        listed.append(Residual(session, pairs, off, total, len(compared), probability, probability < ODD / len(found)))
    return listed
