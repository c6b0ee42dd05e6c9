"""Exact values of small games against chance, by value iteration over (state, plies left) [Bellman 1957].

A model lists the outcomes of every legal action of a state. A value is the expected payoff of the best play, as SingleGame
pays: the rewards of at most `plies` moves, that of move t weighted by discount^t, added up and mapped from payoff_range to
[0, 1]. The end of the horizon pays the total so far. Nothing of the search is used.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

import gymnasium

CARDS = {card: (4 if card == 10 else 1) / 13 for card in range(1, 11)}
"""Probabilities of the cards of an infinite deck; an ace is 1."""
STICK, HIT = 0, 1


class Outcome(NamedTuple):
    """A result of a move; a state of None is the end of the episode."""

    probability: float
    reward: float
    state: Hashable


Model = Callable[[Any], dict[int, list[Outcome]]]


def reachable(model: Model, starts: Iterable[Hashable]) -> list[Hashable]:
    """The starts and all states that can follow them."""
    found = dict.fromkeys(starts)
    waiting = list(found)
    while waiting:
        for outcomes in model(waiting.pop()).values():
            for outcome in outcomes:
                if outcome.state is not None and outcome.state not in found:
                    found[outcome.state] = None
                    waiting.append(outcome.state)
    return list(found)


def expected(outcomes: list[Outcome], best: dict[Hashable, float], discount: float) -> float:
    """The mean of the rewards of a move and of the discounted totals that follow it."""
    return sum(each.probability * (each.reward + discount * best.get(each.state, 0.0)) for each in outcomes)


def totals_by_plies(
    model: Model, starts: Iterable[Hashable], plies: int, discount: float = 1.0, over_actions: Callable[..., float] = max
) -> list[dict[Hashable, float]]:
    """The expected totals of rewards in 0, 1, ..., `plies` moves, from each of the starts and of the states that can follow.

    over_actions: what is taken of the totals after the actions, their greatest for best play or their mean for random play.
    """
    moves = {state: list(model(state).values()) for state in reachable(model, starts)}
    found = [dict.fromkeys(moves, 0.0)]
    for _ in range(plies):
        found.append(
            {
                state: over_actions([expected(outcomes, found[-1], discount) for outcomes in actions])
                for state, actions in moves.items()
            }
        )
    return found


def state_totals(model: Model, starts: Iterable[Hashable], plies: int, discount: float = 1.0) -> dict[Hashable, float]:
    """The best expected totals of rewards in `plies` moves, by state."""
    return totals_by_plies(model, starts, plies, discount)[-1]


def action_totals(model: Model, start: Hashable, plies: int, discount: float = 1.0) -> dict[int, float]:
    """The best expected total of rewards after each action of the start, which is the first of `plies` moves."""
    best = state_totals(model, [start], plies - 1, discount)
    return {action: expected(outcomes, best, discount) for action, outcomes in model(start).items()}


def action_values(
    model: Model, start: Hashable, plies: int, discount: float = 1.0, payoff_range: tuple[float, float] = (0.0, 1.0)
) -> dict[int, float]:
    """The values of the actions of the start, as payoffs."""
    least, most = payoff_range
    return {action: (total - least) / (most - least) for action, total in action_totals(model, start, plies, discount).items()}


def best_actions(values: dict[int, float], within: float = 1e-9) -> set[int]:
    """The actions whose value is the greatest, up to `within`."""
    most = max(values.values())
    return {action for action, value in values.items() if value >= most - within}


def table(env: Any, legal_actions: Callable[[int], Iterable[int]] | None = None) -> Model:
    """The model of an environment with a table P, such as FrozenLake and Taxi; by default all actions are legal."""
    rows = env.unwrapped.P

    @functools.cache
    def model(state: int) -> dict[int, list[Outcome]]:
        actions = rows[state] if legal_actions is None else legal_actions(state)
        return {
            int(action): [
                Outcome(float(probability), float(reward), None if over else int(target))
                for probability, target, reward, over in rows[state][action]
            ]
            for action in actions
        }

    return model


def taxi(**options: Any) -> Any:
    """Taxi of the version that is installed."""
    return gymnasium.make(max(name for name in gymnasium.registry if name.startswith("Taxi-v")), **options)


class Hand(NamedTuple):
    """The cards of one side: their sum, and whether an ace in it counts 11."""

    total: int
    ace: bool

    def with_card(self, card: int) -> Hand:
        """The hand with one more card; an ace counts 11 unless that busts."""
        total, ace = self.total + card, self.ace
        if card == 1 and not ace and total + 10 <= 21:
            return Hand(total + 10, True)
        return Hand(total - 10, False) if ace and total > 21 else Hand(total, ace)


def hand(cards: Iterable[int]) -> Hand:
    """The hand of some cards."""
    return functools.reduce(Hand.with_card, cards, Hand(0, False))


@functools.cache
def dealers_ends(dealer: Hand) -> dict[int, float]:
    """The probabilities of the dealer's last sums; 0 is a bust. He draws up to 16 and sticks on every 17."""
    if dealer.total >= 17:
        return {dealer.total if dealer.total <= 21 else 0: 1.0}
    found: dict[int, float] = {}
    for card, chance in CARDS.items():
        for total, probability in dealers_ends(dealer.with_card(card)).items():
            found[total] = found.get(total, 0.0) + chance * probability
    return found


def blackjack(state: tuple[Hand, Hand]) -> dict[int, list[Outcome]]:
    """The model of Blackjack-v1 without `natural` and `sab`. A state is the player's hand and the dealer's known cards."""
    player, dealer = state
    stick = [
        Outcome(probability, float(player.total > total) - float(player.total < total), None)
        for total, probability in dealers_ends(dealer).items()
    ]
    hit = []
    for card, chance in CARDS.items():
        more = player.with_card(card)
        hit.append(Outcome(chance, -1.0, None) if more.total > 21 else Outcome(chance, 0.0, (more, dealer)))
    return {STICK: stick, HIT: hit}
