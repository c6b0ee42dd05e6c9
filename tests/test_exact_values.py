"""Exact values: known figures of Gymnasium's games of chance, and what their best play earns when it is played."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import Any

import gymnasium
import numpy as np
import pytest
from exact_values import (
    CARDS,
    STICK,
    Hand,
    Model,
    action_totals,
    action_values,
    best_actions,
    blackjack,
    dealers_ends,
    expected,
    hand,
    state_totals,
    table,
    taxi,
    totals_by_plies,
)
from model_games import FACES, bets, die, naming, played, walk

LONGEST_HAND = 22
"""More moves than a hand of Blackjack can have."""


def lake(size: str = "4x4") -> Any:
    """The slippery lake."""
    return gymnasium.make("FrozenLake-v1", map_name=size, max_episode_steps=2000)


def earned(env: Any, act: Callable[[Any, int], int], plies: int, games: int, seed: int) -> list[float]:
    """The totals of rewards of games in an environment, where act(env, moves left) plays."""
    env.reset(seed=seed)
    found = []
    for _ in range(games):
        env.reset()
        total, over, left = 0.0, False, plies
        while left and not over:
            _, reward, terminated, truncated, _ = env.step(act(env, left))
            total, over, left = total + float(reward), terminated or truncated, left - 1
        found.append(total)
    return found


def best_play(model: Model, starts: Sequence[Hashable], plies: int, state_of: Callable[[Any, int], Hashable]) -> Any:
    """The player of the best actions, for every number of moves left."""
    later = totals_by_plies(model, starts, plies)

    def act(env: Any, left: int) -> int:
        actions = model(state_of(env, left))
        return max(actions, key=lambda action: expected(actions[action], later[left - 1], 1.0))

    return act


def deviation(found: list[float], value: float) -> float:
    """The distance of a mean from a value in standard errors."""
    return abs(fmean(found) - value) / (stdev(found) / sqrt(len(found)))


def test_the_slippery_lake_is_crossed_with_probability_14_17() -> None:
    """The figure known of the 4x4 map without a limit of steps. In 2000 moves less than 1e-13 is missing, by the rate at which
    longer horizons add: 0.08 from 100 moves, 4e-6 from 500, 2e-11 from 1000."""
    assert max(action_values(table(lake()), 0, 2000).values()) == pytest.approx(14 / 17, abs=1e-12)
    assert max(action_values(table(lake()), 0, 500).values()) == pytest.approx(14 / 17, abs=5e-6)


@pytest.mark.parametrize(("size", "value"), [("4x4", 0.5420259), ("8x8", 0.4146404)])
def test_the_lake_has_the_known_value_at_a_discount(size: str, value: float) -> None:
    """Figures of value iteration at 0.99, as printed in many courses; 0.99^1500 is 3e-7."""
    assert max(action_values(table(lake(size)), 0, 1500, 0.99).values()) == pytest.approx(value, abs=1e-6)


def test_the_dealer_busts_as_often_as_is_known() -> None:
    """The table of an infinite deck where the dealer sticks on every 17, natural blackjacks included, to four digits."""
    known = [0.1153, 0.3536, 0.3739, 0.3945, 0.4164, 0.4232, 0.2623, 0.2447, 0.2284, 0.2121]
    assert [round(dealers_ends(hand([card]))[0], 4) for card in CARDS] == known


def test_blackjack_without_an_ace_is_played_as_in_the_book() -> None:
    """Sutton and Barto, Figure 5.2: without a usable ace the player sticks from these sums on, by the dealer's card."""
    known = {1: 17, 2: 13, 3: 13, 4: 12, 5: 12, 6: 12, 7: 17, 8: 17, 9: 17, 10: 17}
    for card, least in known.items():
        for total in range(12, 22):
            values = action_values(blackjack, (Hand(total, False), hand([card])), LONGEST_HAND)
            assert (best_actions(values) == {STICK}) == (total >= least)


def deals() -> dict[tuple[Hand, Hand], float]:
    """The first hands of Blackjack, with the dealer's card that is shown, and their probabilities."""
    found: dict[tuple[Hand, Hand], float] = {}
    for first, p in CARDS.items():
        for second, q in CARDS.items():
            for shown, r in CARDS.items():
                deal = hand([first, second]), hand([shown])
                found[deal] = found.get(deal, 0.0) + p * q * r
    return found


def blackjack_value() -> float:
    """The expected reward of a game of Blackjack."""
    best = state_totals(blackjack, deals(), LONGEST_HAND)
    return sum(probability * best[deal] for deal, probability in deals().items())


def test_the_deals_of_blackjack_add_up_and_the_dealer_wins() -> None:
    """-0.0466 of a bet, without doubling, splitting and a bonus for naturals; played games agree below."""
    assert sum(deals().values()) == pytest.approx(1)
    assert blackjack_value() == pytest.approx(-0.0466, abs=5e-5)


@pytest.mark.parametrize("games", [3000, pytest.param(300_000, marks=pytest.mark.slow)])
def test_best_play_of_blackjack_earns_its_value(games: int) -> None:
    """In Gymnasium's own games, within 3 standard errors; with 300,000 games one is 0.0017."""
    act = best_play(blackjack, list(deals()), LONGEST_HAND, lambda env, left: (hand(env.player), hand(env.dealer[:1])))
    env = gymnasium.make("Blackjack-v1").unwrapped
    assert deviation(earned(env, act, LONGEST_HAND, games, seed=1), blackjack_value()) < 3


@pytest.mark.parametrize("games", [1000, pytest.param(30_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("plies", [20, 100])
def test_best_play_of_the_lake_earns_its_value(games: int, plies: int) -> None:
    act = best_play(table(lake()), [0], plies, lambda env, left: int(env.s))
    value = max(action_totals(table(lake()), 0, plies).values())
    assert deviation(earned(lake().unwrapped, act, plies, games, seed=2), value) < 3


def test_a_taxi_in_dry_weather_earns_the_known_mean() -> None:
    """The optimum over all first states is known to be 7.93; no trip needs 25 moves."""
    env = taxi(is_rainy=False).unwrapped
    starts = np.flatnonzero(env.initial_state_distrib).tolist()
    assert len(starts) == 300
    best = state_totals(table(env), starts, 25)
    assert fmean(best[start] for start in starts) == pytest.approx(7.93, abs=0.005)


def test_masks_of_the_taxi_hide_no_best_action() -> None:
    """They leave out moves into walls, which stay in place also in the rain, and vain pickups."""
    env = taxi(is_rainy=True).unwrapped
    masked = table(env, lambda state: np.flatnonzero(env.action_mask(state)))
    starts = np.flatnonzero(env.initial_state_distrib).tolist()
    every, some = state_totals(table(env), starts, 20), state_totals(masked, starts, 20)
    assert [every[start] for start in starts] == pytest.approx([some[start] for start in starts])


@pytest.mark.parametrize("games", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_best_play_of_the_taxi_in_the_rain_earns_its_value(games: int) -> None:
    env, plies = taxi(is_rainy=True).unwrapped, 25
    starts = np.flatnonzero(env.initial_state_distrib).tolist()
    best = state_totals(table(env), starts, plies)
    act = best_play(table(env), starts, plies, lambda env, left: int(env.s))
    assert deviation(earned(env, act, plies, games, seed=3), fmean(best[start] for start in starts)) < 3


@pytest.mark.parametrize("face", FACES)
def test_five_throws_are_paid_a_half(face: int) -> None:
    assert action_values(die, (face, 5), 5) == {face: pytest.approx(0.5)}
    assert action_values(die, (face, 5), 5, discount=0.5) == {face: pytest.approx(0.1 * (2 - 2**-4))}


def test_the_last_bet_pays_its_number_times_its_chance() -> None:
    """A bet on n is won by 7 - n faces of 6."""
    assert action_totals(bets, (6, 1), 1) == pytest.approx({0: 1, 1: 1, 2: 10 / 6, 3: 2, 4: 2, 5: 10 / 6, 6: 1})


def test_turning_a_one_over_is_better_with_a_move_left() -> None:
    """The last move earns 1, 10/6 and 2 at the faces 1, 2 and others, so 10.667/6 = 32/18 after a throw; a one turned over is a
    six, which earns 2."""
    assert action_totals(bets, (1, 2), 2) == pytest.approx({0: 1 + 2, 1: 1 + 32 / 18})
    assert best_actions(action_totals(bets, (6, 2), 2)) == {3, 4}


def test_best_play_of_bets_earns_its_value() -> None:
    act = best_play(bets, [(1, 5)], 5, lambda env, left: env.state)
    value = max(action_totals(bets, (1, 5), 5).values())
    assert deviation(earned(played(bets, (1, 5)), act, 5, 1500, seed=4), value) < 3


def test_naming_a_die_that_is_shown_is_paid_every_time() -> None:
    """With five moves to follow, which earn 5 whatever the die shows."""
    assert action_totals(naming, (4, 6), 6) == pytest.approx({name: 6.0 if name == 4 else 5.0 for name in FACES})


def test_a_walk_is_won_by_binomial_coefficients() -> None:
    """Of the 16 ways of four steps 1 + 4 + 6 do not lead below the start, and 1 + 4 lead more than 1 above it."""
    up, down = 11 / 16, 5 / 16
    assert action_values(walk, (0, 5), 5) == pytest.approx({0: up, 1: up / 4 + down * 3 / 4, 2: up * 3 / 4 + down / 4})


@pytest.mark.parametrize(("model", "action"), [(die, 3), (bets, 3)])
def test_an_illegal_action_raises(model: Model, action: int) -> None:
    """So a planner that steps one cannot stay unseen."""
    with pytest.raises(AssertionError, match=r"\Athe action 3 is illegal in \(2, 5\)\Z"):
        played(model, (2, 5)).step(action)


def test_payoffs_are_totals_mapped_from_their_range() -> None:
    """A range of (-4, 6) maps 1 to 0.5, and the cut of the horizon pays the total so far."""
    values = action_values(bets, (1, 2), 1, payoff_range=(-4, 6))
    assert values == pytest.approx({0: 0.5, 1: 0.5})
