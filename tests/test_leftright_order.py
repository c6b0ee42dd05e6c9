"""LeftRight under the reading "the graph is kept, the tree is not, untried moves Right first", against plain Python.

tests/leftright_oracle.py shares nothing with the package. Both sides draw their own random numbers, so their means are compared
within four standard errors of the difference, with fixed seeds.
"""

from __future__ import annotations

from functools import cache
from math import sqrt
from random import Random
from statistics import mean, variance

import pytest
from leftright_oracle import LEFT, RIGHT, share_of_lefts

from ucd_planners.arena.match import Match, play_match

ORDERS = {"reversed": (RIGHT, LEFT), "random": None}
TEXTS = {False: "uct(c={c},untried={order})", True: "update_all(c={c},untried={order},reuse_graph=true)"}
SIZES = ((16, 3, 0.3), (30, 8, 0.1))
"""Steps, playouts a move and c."""
OURS, THEIRS = 150, 60


@cache
def ours(steps: int, playouts: int, c: float, text: str, games: int = OURS) -> tuple[float, float]:
    """The mean share of steps to the left of our planner, and the variance of that mean."""
    match = Match("leftright_v0", text.format(c=c), None, {"steps": steps}, {"playouts": playouts}, games, 1)
    shares = [game.payoffs[0] for game in play_match(match).games]
    return mean(shares), variance(shares) / games


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("shared", [False, True], ids=["uct", "update_all"])
@pytest.mark.parametrize("order", ORDERS)
def test_the_share_of_steps_to_the_left_is_that_of_a_simulation_in_plain_python(
    size: tuple[int, int, float], shared: bool, order: str
) -> None:
    steps, playouts, c = size
    shares = [share_of_lefts(Random(seed), steps, playouts, c, shared, ORDERS[order]) for seed in range(THEIRS)]
    share, error = ours(*size, TEXTS[shared].replace("{order}", order))
    assert abs(share - mean(shares)) < 4 * sqrt(error + variance(shares) / THEIRS)


def test_the_comparison_can_tell_the_readings_apart() -> None:
    """Update-all that forgets its graph is more than six standard errors away; with one playout a move the order is all."""
    kept, forgotten = (ours(*SIZES[1], f"update_all(c={{c}}{option})") for option in (",reuse_graph=true", ""))
    assert abs(kept[0] - forgotten[0]) > 6 * sqrt(kept[1] + forgotten[1])
    for shared in (False, True):
        for order, moves, share in (("reversed", (RIGHT, LEFT), 0.0), ("listed", (LEFT, RIGHT), 1.0)):
            assert ours(20, 1, 0.3, TEXTS[shared].replace("{order}", order), 3) == (share, 0.0)
            assert share_of_lefts(Random(1), 20, 1, 0.3, shared, moves) == share
