"""Statistics of tournaments against published figures and simulation: ratings, sequential tests, residuals, power."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from ucd_planners.arena.contest import Game
from ucd_planners.ratings.elo import SCALE, Scores, rate
from ucd_planners.ratings.pairs import Pairing, expanded, pentanomial
from ucd_planners.ratings.residuals import residuals
from ucd_planners.ratings.sequential import SPRT, games_needed, normalised_elo

FISHTEST = (13, 37, 50, 25, 3)
"""Pentanomial counts of a test that a public server of the fishtest software shows with its statistics
(montytest.muzhen.org/tests/stats/69d3c8dc7c5b3724e29d2712): H0 0, H1 4 normalised Elo, alpha = beta = 0.05."""


def games(payoffs: list[float], start: int = 0) -> tuple[Game, ...]:
    """Games of a pairing that ended with these payoffs of a."""
    return tuple(
        Game(start + place, place % 2, (place,), (payoff, 1 - payoff), (0, 0), (0.0, 0.0))
        for place, payoff in enumerate(payoffs)
    )


def slow(*values: float) -> Any:
    """Values of a test's case that only long runs have."""
    return pytest.param(*values, marks=pytest.mark.slow)


# Published figures.


def test_normalised_elo_is_that_of_fishtest() -> None:
    assert normalised_elo(FISHTEST) == pytest.approx(-63.97, abs=0.005)


def test_the_log_likelihood_ratio_is_the_exact_one_of_fishtest() -> None:
    assert SPRT(0, 4).ratio(FISHTEST) == pytest.approx(-0.54912, abs=5e-6)


def test_the_bounds_are_those_of_fishtest() -> None:
    assert SPRT(0, 4).bounds == pytest.approx((-2.9444, 2.9444), abs=5e-5)


def test_elo_of_two_players_is_that_of_their_score() -> None:
    """The mean score of the same test is 0.4375: 400 log10(0.4375 / 0.5625) = -43.658, as it shows."""
    ratings = rate(2, [Scores(0, 1, expanded(FISHTEST))], anchor=1)
    assert ratings.elo[0] == pytest.approx(-43.6578, abs=5e-5)


def test_ratings_are_those_of_the_american_league() -> None:
    """Wins of 1987, 13 games between two teams, and the estimates relative to Baltimore [Agresti 1990, section 10.6]."""
    teams = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
    wins = {0: (7, 9, 7, 7, 9, 11), 1: (7, 5, 11, 9, 9), 2: (7, 7, 8, 12), 3: (6, 7, 10), 4: (7, 12), 5: (6,)}
    played = [
        Scores(team, team + 1 + place, [1.0] * won + [0.0] * (13 - won))
        for team, each in wins.items()
        for place, won in enumerate(each)
    ]
    logits = rate(len(teams), played, anchor=6).elo / SCALE
    assert logits == pytest.approx([1.581, 1.436, 1.294, 1.248, 1.108, 0.684, 0.0], abs=6e-4)


def test_the_games_that_show_three_percent_are_those_of_the_normal_formula() -> None:
    """((1.959964 + 0.841621) / 0.03)^2 / 8 = 1090.1 pairs, where a pair of decided games has the variance 1/8."""
    assert games_needed(3) == 2 * 1091


def test_a_smaller_variance_of_pairs_needs_fewer_games() -> None:
    assert games_needed(3, deviation=0.25) == 2 * math.ceil(((1.959964 + 0.841621) * 0.25 / 0.03) ** 2)


# Simulation (B118c).


def simulated(rng: np.random.Generator, difference: float, pairs: int, bias: float) -> list[float]:
    """Scores of pairs of decided games. The opening of a pair favours one seat, by a random rating of this deviation."""
    found = []
    for opening in rng.normal(0, bias, pairs):
        first = rng.random() < 1 / (1 + 10 ** (-(difference + opening) / 400))
        second = rng.random() < 1 / (1 + 10 ** (-(difference - opening) / 400))
        found.append((float(first) + float(second)) / 2)
    return found


@pytest.mark.parametrize(("difference", "bias"), [slow(0.0, 0.0), slow(150.0, 0.0), (60.0, 400.0)])
def test_the_intervals_of_ratings_hold_the_truth_95_times_in_100(difference: float, bias: float) -> None:
    """1,000 tournaments of 200 games. With biased openings the truth is the rating that the mean score stands for."""
    rng = np.random.default_rng(1)
    ratings = np.random.default_rng(2).normal(0, bias, 200_000) if bias else np.zeros(1)
    both = [1 / (1 + 10 ** (-(difference + sign * ratings) / 400)) for sign in (1, -1)]
    mean = float(np.mean(both))
    truth, held = 400 * math.log10(mean / (1 - mean)), 0
    for _ in range(1000):
        found = rate(2, [Scores(0, 1, simulated(rng, difference, 100, bias))])
        _, low, high = found.difference(0, 1)
        held += low <= truth <= high
    assert 930 <= held <= 970


@pytest.mark.slow
def test_intervals_among_four_players_hold_the_truth_95_times_in_100() -> None:
    """1,000 round robins of 40 games in each pairing."""
    rng, truth = np.random.default_rng(3), np.array([120.0, 40.0, -30.0, -130.0])
    held = 0
    for _ in range(1000):
        played = [
            Scores(one, other, simulated(rng, truth[one] - truth[other], 20, 0.0))
            for one, other in product(range(4), repeat=2)
            if one < other
        ]
        found = rate(4, played)
        held += int(((found.low <= truth) & (truth <= found.high)).sum())
    assert 3720 <= held <= 3880


def errors(test: SPRT, elo: float, runs: int, wrong: str) -> int:
    """Simulated tests that accept the wrong hypothesis; pairs have the shares 1/16, 4/16, 6/16, 4/16, 1/16, tilted."""
    rng, shares = np.random.default_rng(4), np.array([1, 4, 6, 4, 1]) / 16
    scores = np.arange(5) / 4
    low, high = -20.0, 20.0
    for _ in range(60):  # tilts the shares until they have the normalised Elo
        middle = (low + high) / 2
        tilted = shares * np.exp(middle * (scores - 0.5))
        tilted /= tilted.sum()
        low, high = (middle, high) if normalised_elo(1e6 * tilted) < elo else (low, middle)
    count = 0
    for _ in range(runs):
        drawn = rng.choice(scores, size=400, p=tilted)
        count += test.verdict([float(score) for score in drawn]).accepted == wrong
    return count


@pytest.mark.parametrize(("elo", "wrong"), [(0.0, "H1"), (120.0, "H0")])
def test_a_sequential_test_errs_no_more_often_than_stated(elo: float, wrong: str) -> None:
    """5% of 100 are 5; 12 or more would be seen once in 230 times."""
    assert errors(SPRT(0, 120), elo, 100, wrong) < 12


@pytest.mark.slow
@pytest.mark.parametrize(("elo", "wrong"), [(0.0, "H1"), (60.0, "H0")])
def test_a_sequential_test_errs_no_more_often_than_stated_in_a_thousand_runs(elo: float, wrong: str) -> None:
    """5% of 1,000 are 50, with a standard deviation of 6.9."""
    assert errors(SPRT(0, 60), elo, 1000, wrong) <= 50 + 2 * 7


# Bounds and ranks.


def test_a_player_that_won_every_game_has_no_upper_bound() -> None:
    """B118c: a score of 100% or 0% gives an infinite bound on one side and a finite one on the other."""
    ratings = rate(2, [Scores(0, 1, [1.0] * 50)])
    assert ratings.high[0] == math.inf
    assert ratings.low[1] == -math.inf
    assert 0 < ratings.low[0] < ratings.elo[0] < math.inf


def test_a_ranking_is_refused_where_the_interval_of_a_difference_includes_0() -> None:
    """B118g: 15 pairs, 56.7%."""
    ratings = rate(3, [Scores(0, 1, [1.0] * 4 + [0.5] * 9 + [0.0] * 2), Scores(1, 2, [1.0] * 18 + [0.0] * 2)])
    assert [ratings.ranks(player) for player in range(3)] == [(1, 2), (1, 2), (3, 3)]


def test_only_draws_give_an_interval_of_some_width() -> None:
    ratings = rate(2, [Scores(0, 1, [0.5] * 20)])
    assert ratings.elo[0] == pytest.approx(0.0)
    assert ratings.low[0] < -1


def test_players_that_never_met_have_no_ratings() -> None:
    with pytest.raises(ValueError, match="connected by finished pairs"):
        rate(4, [Scores(0, 1, [0.5]), Scores(2, 3, [1.0])])


def test_pairs_count_in_five_classes() -> None:
    """B118d. Games 4 and 5 are no pair, since one of them is missing."""
    pairing = Pairing((0, 1), games([1.0, 1.0, 0.5, 0.0, 1.0]), 6)
    assert pairing.scores == [1.0, 0.25]
    assert pentanomial(pairing.scores) == (0, 1, 0, 0, 1)


# Sequential tests.


def test_a_verdict_depends_on_the_first_pairs_only() -> None:
    test = SPRT(0, 100)
    won = test.verdict([1.0, 0.75] * 40)
    assert won.accepted == "H1"
    assert test.verdict([1.0, 0.75] * (won.pairs // 2 + 1) + [0.0] * 100) == won


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((5, 5, 0.05, 0.05), "elo0 must be below elo1"),
        ((0, 5, 0.0, 0.05), "alpha and beta"),
        ((0, 5, 0.6, 0.5), "alpha and beta"),
        ((0, 5, 0.05, 1.5), "alpha and beta"),
        ((0, math.inf, 0.05, 0.05), "elo1 must be finite"),
    ],
)
def test_hypotheses_and_errors_out_of_range_are_refused(values: tuple[float, ...], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        SPRT(*values)


# Sessions.


def test_a_session_whose_results_do_not_fit_is_seen() -> None:
    """Session 2 has lost 80% of the pairs of a player that wins 65% of the others'."""
    rng = np.random.default_rng(5)
    payoffs = [float(rng.random() < (0.2 if 200 <= number < 300 else 0.65)) for number in range(600)]
    session = {number: 2 if 200 <= number < 300 else 1 if number < 200 else 3 for number in range(600)}
    found = residuals([Pairing((0, 1), games(payoffs), 600)], [session])
    assert {row.session for row in found if row.odd} == {2}


def test_sessions_that_fit_are_rarely_named() -> None:
    rng, named = np.random.default_rng(6), 0
    session = {number: number // 60 for number in range(300)}
    for _ in range(200):
        payoffs = [float(rng.random() < 0.6) for _ in range(300)]
        named += any(row.odd for row in residuals([Pairing((0, 1), games(payoffs), 300)], [session]))
    assert named <= 3
