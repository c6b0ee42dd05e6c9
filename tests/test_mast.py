"""MAST and the choices by value: tables against dictionaries, frequencies against probabilities worked out by hand."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from simulations import teach
from test_playout_baselines import ALL_GAMES, chi_square, limit, start_of
from test_policies import Search, Simulation, policy_moves, suggested

import ucd_envs
from ucd_envs.rng import seeded
from ucd_envs.structs import fields
from ucd_planners.playouts.choosing import best, padded, scale_of, weigh
from ucd_planners.playouts.mast import MAST, MEMORY, sums_of
from ucd_planners.selection.ucd import UCD

SMALLEST = Fraction(math.log(2**24))
"""A weight may be so much smaller than the largest, in units of tau, and the move still be played."""

NUMBER = 6000


class Means(dict[tuple[int, int], list[Fraction]]):
    """Of a player and an action the number of times it was played, and the payoffs in sum."""

    def add(self, simulation: Simulation) -> None:
        """Adds every move."""
        for move in simulation.moves:
            numbers = self.setdefault(move, [Fraction(0), Fraction(0)])
            numbers[0] += 1
            numbers[1] += Fraction(simulation.payoffs[move[0]])

    def value(self, player: int, action: int) -> Fraction:
        """Q."""
        count, paid = self.get((player, action), (1, Fraction(1)))
        return Fraction(paid) / count


def table(memory: np.ndarray) -> Means:
    """The numbers in a memory."""
    found = sums_of.py_func(memory, fields(memory, MEMORY))
    return Means(
        ((player, action), [Fraction(float(n)), Fraction(float(found[player, action, 1]))])
        for (player, action), n in np.ndenumerate(found[..., 0])
        if n
    )


@pytest.mark.parametrize("choice", ["greedy", "gibbs"])
@pytest.mark.parametrize(("game", "settings"), ALL_GAMES)
@pytest.mark.sweep(2)
def test_means_are_those_of_a_dictionary(game: str, settings: dict[str, Any], choice: str) -> None:
    """With prob = 1 a playout's move is one of the best, or one whose weight at tau is not too small."""
    tau = Fraction(1, 100)
    policy = MAST(choice=choice, tau=float(tau), epsilon=0)
    search = Search(start_of(game, settings), UCD(c=0.3, table=False), 1, policies=policy)
    means, excluded, margin = Means(), 0, Fraction(0) if choice == "greedy" else tau * SMALLEST
    for _ in range(150):
        simulation = search.simulation()
        for place in range(simulation.descent, len(simulation.moves)):
            player, action = simulation.moves[place]
            values = {move: means.value(player, move) for move in policy_moves(simulation.states[place])}
            allowed = [move for move, value in values.items() if value >= max(values.values()) - margin]
            assert action in allowed
            excluded += len(values) - len(allowed)
        means.add(simulation)
    assert table(search.worker.sim.memories[0]) == means
    assert excluded > 100 or game == "leftright"


def test_positions_of_the_playout_may_be_added_too() -> None:
    """Each move of a simulation counts once, whether it became an edge or not."""
    search, means = Search(start_of("hex", {"size": 4}), UCD(table=False), 1, policies=MAST(), expand="all"), Means()
    for _ in range(200):
        means.add(search.simulation())
    assert table(search.worker.sim.memories[0]) == means


TABLE = {0: (8, 2), 2: (4, 2), 3: (2, 1), 5: (4, 3), 6: (1, 0), 7: (8, 6)}
"""In tic-tac-toe: of actions of player 0 how often they were played, and what they paid."""


def taught(policy: MAST, *won: int) -> np.ndarray:
    """A memory with TABLE, and actions that player 0 has won with a hundred times."""
    rules = ucd_envs.make_rules("tic_tac_toe")
    memory = policy.memory(rules)
    for action, (count, paid) in {**TABLE, **dict.fromkeys(won, (100, 100))}.items():
        for number in range(count):
            teach(rules, policy, memory, [(0, action)], [number < paid, number >= paid])
    return memory


@pytest.mark.parametrize("tau", [0.1, 0.25, 5.0])
@pytest.mark.parametrize("hidden", [False, True])
def test_gibbs_plays_each_move_with_its_probability(tau: float, hidden: bool) -> None:
    """After 4 and 1, 8 never played: exp(Q / tau) of 1/4, 1/2, 1/2, 3/4, 0, 3/4 and 1, whether 4, which is taken, has a weight
    as large as all others or so much that moves have to be listed.
    """
    state, policy = ucd_envs.make_rules("tic_tac_toe").initial_state().after(4).after(1), MAST(tau=tau)
    memory = taught(policy, 4, 1) if hidden else taught(policy)
    weights = {action: math.exp(paid / count / tau) for action, (count, paid) in TABLE.items()} | {8: math.exp(1 / tau)}
    counts = suggested(state, [(0, 4), (1, 1)], policy, memory, NUMBER)
    assert set(counts) <= set(weights)
    shown = [action for action, weight in weights.items() if NUMBER * weight / sum(weights.values()) > 5]
    expected = [NUMBER * weights[action] / sum(weights.values()) for action in shown]
    rest = NUMBER - sum(expected), NUMBER - sum(counts[action] for action in shown)
    listed = [counts[action] for action in shown]
    if rest[0] > 5:
        expected, listed = [*expected, rest[0]], [*listed, rest[1]]
    assert len(shown) >= 4
    assert chi_square(listed, expected) < limit(listed)


def test_moves_are_listed_where_drawing_is_in_vain() -> None:
    """Where 2, 3 and 7 are left with 1/2, 1/2 and 3/4, and all actions that are taken have won."""
    rules, policy, colder = ucd_envs.make_rules("tic_tac_toe"), MAST(tau=0.1), MAST(tau=0.01)
    state, moves = rules.initial_state(), []
    for action in (4, 0, 1, 6, 5, 8):
        moves.append((state.player, action))
        state = state.after(action)
    memory = taught(colder, 0, 1, 4, 5, 6, 8)
    counts = suggested(state, moves, colder, memory, 1000)
    assert counts == {7: 1000}
    memory = taught(policy, 0, 1, 4, 5, 6, 8)
    counts = suggested(state, moves, policy, memory, NUMBER)
    weights, listed = [math.exp(5), math.exp(5), math.exp(7.5)], [counts[action] for action in (2, 3, 7)]
    assert sum(listed) == NUMBER
    assert chi_square(listed, [NUMBER * weight / sum(weights) for weight in weights]) < limit(listed)


@pytest.mark.parametrize("epsilon", [0, 0.3, 1])
def test_the_greedy_choice_is_left_to_chance_with_epsilon(epsilon: float) -> None:
    """Else it is one of the best, each as often: after 4 and 1, 8 taken too, that is 5 or 7 with 3/4."""
    policy, number = MAST(choice="greedy", epsilon=epsilon), 6000
    state = ucd_envs.make_rules("tic_tac_toe").initial_state().after(4).after(1).after(8).after(0)
    moves, memory = [(0, 4), (1, 1), (0, 8), (1, 0)], taught(policy)
    counts = suggested(state, moves, policy, memory, number)
    assert set(counts) <= {-1, 5, 7}
    assert abs(counts[-1] - epsilon * number) <= 4 * math.sqrt(number * epsilon * (1 - epsilon))
    assert abs(counts[5] - counts[7]) <= 4 * math.sqrt(number * (1 - epsilon))


@pytest.mark.parametrize("decay", [0, 0.5, 1])
def test_numbers_decay_from_turn_to_turn(decay: float) -> None:
    """And the next search goes on from what is left; for another game nothing is."""
    start, policy = start_of("havannah", {"base": 3}), MAST(decay=decay, choice="greedy", epsilon=0)
    search, means = Search(start, UCD(table=False), 1, policies=policy), Means()
    for _ in range(100):
        means.add(search.simulation())
    search.begin(start.after(4).after(7))
    left = Means((move, [Fraction(decay) * number for number in numbers]) for move, numbers in means.items() if decay)
    assert table(search.worker.sim.memories[0]) == left
    simulation = search.simulation()
    for place in range(simulation.descent, len(simulation.moves)):
        player, action = simulation.moves[place]
        assert left.value(player, action) == max(left.value(player, move) for move in policy_moves(simulation.states[place]))
    left.add(simulation)
    assert table(search.worker.sim.memories[0]) == left
    search.begin(start)
    assert table(search.worker.sim.memories[0]) == {}


@pytest.mark.parametrize("tau", [0.001, 0.03, 0.1, 1, 1000])
@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 100])
def test_weights_are_exponentials(tau: float, count: int) -> None:
    """To 8 units of the largest, which is 2**23; the sum is theirs and counts no place behind them."""
    drawn = np.random.default_rng(count).random(padded(count)).astype(np.float32)
    values, weights = drawn.copy(), np.zeros(padded(count), np.uint32)
    total = weigh(values, weights, np.uint64(count), np.float32(scale_of(tau)))
    largest = max(drawn[:count].tolist())
    expected = [2**23 * math.exp((value - largest) / tau) for value in drawn[:count].tolist()]
    assert all(abs(weight - mean) <= 8 for weight, mean in zip(weights.tolist(), expected, strict=False))
    assert total == sum(weights[:count].tolist())
    assert max(weights.tolist()) == 2**23


def test_among_equal_values_each_is_as_frequent() -> None:
    """Of five values, three of them the largest, and of values that are all 0."""
    rng = seeded(1)
    for values, places in (([0.5, 0.75, 0.75, 0.25, 0.75], [1, 2, 4]), ([0.0, 0.0], [0, 1]), ([0.125, 0.5], [1])):
        row, count = np.array(values, np.float32), np.uint64(len(values))
        found = Counter(int(best(row, count, np.float32(max(values)), rng)) for _ in range(6000))
        assert sorted(found) == places
        assert len(places) == 1 or chi_square([found[place] for place in places], [6000 / len(places)] * len(places)) < 20
