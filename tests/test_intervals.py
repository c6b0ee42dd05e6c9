"""Confidence intervals against SciPy, and against what they promise."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.stats import binomtest, t

from ucd_planners.intervals import mean_interval, student, wilson


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99, 0.999])
@pytest.mark.parametrize("games", [1, 2, 10, 77, 400])
def test_intervals_are_those_of_scipy(games: int, confidence: float) -> None:
    """Every number of wins."""
    for wins in range(games + 1):
        theirs = binomtest(wins, games).proportion_ci(confidence, method="wilson")
        assert wilson(wins, games, confidence) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_a_published_interval() -> None:
    """Newcombe 1998, Statistics in Medicine 17, Table I, method 3: 81 of 263 and 15 of 148."""
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.635, 0.9])
def test_intervals_cover_the_truth_as_often_as_they_say(share: float) -> None:
    """B118c: 1,000 matches of 200 games; 95 % intervals hold the true share in 93 to 97 % of them."""
    wins = np.random.default_rng(int(1000 * share)).binomial(200, share, 1000)
    intervals = [wilson(int(count), 200) for count in wins]
    assert 0.93 <= np.mean([low <= share <= high for low, high in intervals]) <= 0.97


def test_draws_do_not_make_intervals_too_narrow() -> None:
    """B118c: win, draw and loss with 1/4, 1/2 and 1/4: the variance is half of that without draws, so coverage is higher."""
    rng = np.random.default_rng(0)
    scores = rng.choice([0.0, 0.5, 1.0], size=(1000, 200), p=[0.25, 0.5, 0.25]).sum(axis=1)
    intervals = [wilson(float(score), 200) for score in scores]
    assert np.mean([low <= 0.5 <= high for low, high in intervals]) > 0.97


@pytest.mark.parametrize("games", [1, 20, 1000])
def test_a_score_of_0_or_100_percent_has_a_finite_interval(games: int) -> None:
    """B118c: one end is the score itself, the other is z^2 / (n + z^2) away, z = 1.96."""
    z2 = 1.959963984540054**2
    assert wilson(0, games) == pytest.approx((0, z2 / (games + z2)))
    assert wilson(games, games) == pytest.approx((games / (games + z2), 1))


def test_intervals_of_losses_are_those_of_wins_turned_round() -> None:
    for wins in range(51):
        low, high = wilson(wins, 50)
        assert wilson(50 - wins, 50) == pytest.approx((1 - high, 1 - low))


def test_without_games_nothing_is_known() -> None:
    """B118g."""
    assert wilson(0, 0) == (0.0, 1.0)


def test_half_points_are_scores() -> None:
    low, high = wilson(10.5, 20)
    assert wilson(10, 20)[0] < low < 0.525 < high < wilson(11, 20)[1]


def test_more_games_make_the_interval_narrower() -> None:
    widths = [high - low for low, high in (wilson(0.6 * games, games) for games in (10, 100, 1000, 10_000))]
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize(
    ("score", "games", "confidence"),
    [
        (-1, 10, 0.95),
        (11, 10, 0.95),
        (1, 0, 0.95),
        (0, -1, 0.95),
        (5, 10, 0.0),
        (5, 10, 1.0),
        (5, 10, 95),
        (float("nan"), 10, 0.95),
        (5, float("nan"), 0.95),
        (5, 10, float("nan")),
    ],
)
def test_impossible_numbers_are_refused(score: float, games: float, confidence: float) -> None:
    sentence = f"expected 0 <= score <= games and a confidence in (0, 1), not {score}, {games}, {confidence}"
    with pytest.raises(ValueError, match=rf"\A{re.escape(sentence)}\Z"):
        wilson(score, games, confidence)


# Means.


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 10, 77, 199])
def test_quantiles_of_student_are_those_of_scipy(freedom: int, confidence: float) -> None:
    assert student(confidence, freedom) == pytest.approx(t.ppf((1 + confidence) / 2, freedom), rel=1e-12)


@pytest.mark.parametrize("freedom", [200, 1000, 10**6])
def test_for_many_games_students_quantile_is_the_normal_one(freedom: int) -> None:
    """0.95% less than it at most, at 200 and 99%."""
    assert student(0.99, freedom) == pytest.approx(t.ppf(0.995, freedom), rel=0.01)


def test_the_interval_of_a_mean_is_students() -> None:
    payoffs = [0.25, 0.5, 0.75, 0.5, 0.375]
    theirs = t.interval(0.95, 4, np.mean(payoffs), np.std(payoffs, ddof=1) / np.sqrt(5))
    assert mean_interval(payoffs) == pytest.approx(theirs)


@pytest.mark.parametrize(
    ("payoffs", "interval"), [([], (0, 1)), ([0.3], (0, 1)), ([0.25] * 4, (0.25, 0.25)), ([0.1, 0.9], (0, 1))]
)
def test_the_interval_of_a_mean_stays_in_its_range(payoffs: list[float], interval: tuple[float, float]) -> None:
    assert mean_interval(payoffs) == interval


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95, float("nan")])
def test_an_impossible_confidence_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match=rf"\Aexpected a confidence in \(0, 1\), not {confidence}\Z"):
        mean_interval([0.5, 1.0], confidence)
