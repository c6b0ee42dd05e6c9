"""Residuals of sessions: whether the results that one session added to a store fit those of the others.

A session is one worker in one run of a command. Its results in a pairing are compared with the mean of all in that pairing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
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
    An odd session is left out of the mean that the others are compared with, the oddest one first. Pairings in which a
    session has all pairs, or all scores are equal, say nothing about it.
    """
    odd: set[int] = set()
    while True:
        listed = _compared(pairings, sessions, odd)
        found = [row for row in listed if row.odd and row.session not in odd]
        if not found:
            return listed
        odd.add(min(found, key=lambda row: row.probability).session)


def _compared(pairings: Sequence[Pairing], sessions: Sequence[Mapping[int, int]], odd: AbstractSet[int]) -> list[Residual]:
    """Returns the residuals of each session against the sessions that are not odd."""
    from scipy.stats import chi2

    found: dict[int, list[tuple[int, float, float]]] = {}
    for pairing, session_of in zip(pairings, sessions, strict=True):
        scores = pairing.by_pair()
        values = np.array(list(scores.values()))
        owners = np.array([session_of.get(2 * pair, 0) for pair in scores])
        usual = ~np.isin(owners, sorted(odd))
        for session in sorted(set(owners.tolist())):
            own, others = values[owners == session], values[(owners != session) & usual]
            square = 0.0
            if len(others) > 1 and len(own) > 1:
                own_spread, spread = own.var(ddof=1), others.var(ddof=1)
                error = spread / len(others) + max(own_spread, spread) / len(own)
                square = float((own.mean() - others.mean()) ** 2 / error) if error else 0.0
            middle = others.mean() if len(others) else own.mean()
            found.setdefault(session, []).append((len(own), float(own.sum() - len(own) * middle), square))
    listed = []
    for session, rows in sorted(found.items()):
        squares = [square for _, _, square in rows if square > 0]
        pairs, total = sum(count for count, _, _ in rows), sum(squares)
        probability = float(chi2.sf(total, len(squares))) if squares else 1.0
        off = 100 * sum(excess for _, excess, _ in rows) / pairs
        listed.append(Residual(session, pairs, off, total, len(squares), probability, probability < ODD / len(found)))
    return listed
