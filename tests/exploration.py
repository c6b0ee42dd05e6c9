"""The payoff that UCT loses by exploration, estimated from exact values.

In a position with n playouts an action whose value is d below the best one is tried until its bound falls below the best
value: mu + c sqrt(ln n / m) < mu + d after m = c^2 ln n / d^2 tries [Auer, Cesa-Bianchi and Fischer 2002], but at most for its
share n / K of K actions. Each costs d. The best action has the other playouts, its outcomes have their shares of them, and lose
by their own exploration. A position with no more playouts than actions is played at random. The estimate ignores that the loss
of an outcome makes its action look worse; measured losses of a plain UCT were 0.5 to 2.6 times the estimate.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable
from math import log, sqrt
from statistics import fmean

from exact_values import Model, expected, totals_by_plies


def losses(
    model: Model, start: Hashable, plies: int, playouts: int, c: float, discount: float = 1.0, width: float = 1.0
) -> tuple[float, float]:
    """How far the means of the root and of its best action lie below their values, as payoffs. width: that of payoff_range."""
    later = totals_by_plies(model, [start], plies, discount)
    random = totals_by_plies(model, [start], plies, discount, fmean)

    def values(state: Hashable, left: int, weight: float) -> dict[int, float]:
        return {
            action: expected(outcomes, later[left - 1], discount) * weight / width for action, outcomes in model(state).items()
        }

    def below(state: Hashable, left: int, n: float, weight: float, action: int) -> float:
        return sum(
            each.probability * loss(each.state, left - 1, n * each.probability, weight * discount)
            for each in model(state)[action]
        )

    @functools.cache
    def loss(state: Hashable, left: int, n: float, weight: float) -> float:
        if state is None or left == 0:
            return 0.0
        found = values(state, left, weight)
        best = max(found, key=lambda action: found[action])
        if n <= len(found):
            return found[best] - random[left][state] * weight / width
        lost, tries = 0.0, 0.0
        for action, value in found.items():
            if action != best:
                gap = found[best] - value
                tried = min(n / len(found), c * c * log(n) / gap**2 + 1) if gap > 0 else n / len(found)
                lost, tries = lost + gap * tried / n, tries + tried
        return lost + below(state, left, n - tries, weight, best) * (n - tries) / n

    found = values(start, plies, 1.0)
    best = max(found, key=lambda action: found[action])
    return loss(start, plies, playouts, 1.0), below(start, plies, playouts, 1.0, best)


def noise(playouts: float, doubt: float = 1e-6) -> float:
    """How far a mean of payoffs in [0, 1] exceeds its expectation with the probability `doubt` at most [Hoeffding 1963].

    It holds for a search too, by Azuma's inequality: each playout plays the game without foresight, so that its expected payoff
    given the others is no more than the value.
    """
    return sqrt(log(1 / doubt) / (2 * playouts))
