"""N-gram selection against dictionaries, and how its table grows and forgets."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from simulations import teach
from test_mast import SMALLEST
from test_playout_baselines import ALL_GAMES, chi_square, limit, start_of
from test_policies import Search, Simulation, policy_moves, suggested

import ucd_envs
from ucd_envs.structs import fields
from ucd_planners import uct
from ucd_planners.playouts.n_grams import GRAM, MEMORY, NGrams, grams_of, marks_of, pairs_of, singles_of
from ucd_planners.selection.ucd import UCD

ROUNDING = Fraction(1, 10**5)
"""Values are computed in single precision."""
Gram = tuple[int, tuple[int, ...]]
"""The player of the last move, and the actions of all."""


class Grams(dict[Gram, list[Fraction]]):
    """Of every n-gram the number of times it was played, and the payoffs in sum."""

    def __init__(self, policy: NGrams, found: Any = ()) -> None:
        super().__init__(found)
        self.policy = policy

    def add(self, simulation: Simulation) -> None:
        """Adds all n-grams."""
        actions = [action for _, action in simulation.moves]
        for place, (player, _) in enumerate(simulation.moves):
            for length in range(1, min(self.policy.length, place + 1) + 1):
                numbers = self.setdefault((player, tuple(actions[place + 1 - length : place + 1])), [Fraction(0), Fraction(0)])
                numbers[0] += 1
                numbers[1] += Fraction(simulation.payoffs[player])

    def values(self, simulation: Simulation, place: int) -> dict[int, list[Fraction]]:
        """The means of the known n-grams of every move at a place of a simulation, the shortest first."""
        state = simulation.states[place]
        before = [action for _, action in simulation.moves[:place]]
        found: dict[int, list[Fraction]] = {}
        for action in policy_moves(state):
            found[action] = []
            for length in range(1, min(self.policy.length, place + 1) + 1):
                gram = state.player, (*before[place + 1 - length :], action)
                count, paid = self.get(gram, (0, Fraction(0)))
                if count and (length == 1 or count >= self.policy.least):
                    found[action].append(paid / count)
                elif length == 1:
                    found[action].append(Fraction(1))
        return found

    def forget(self, places: int, max_plies: int) -> bool:
        """Forgets 3-grams of the fewest simulations where the table has no room for another game; whether it had none."""
        longer = {gram: numbers[0] for gram, numbers in self.items() if len(gram[1]) == 3}
        if len(longer) + max_plies <= places // 2:
            return False
        least = 0
        while sum(count > least for count in longer.values()) > places // 4:
            least += 1
        for gram, count in longer.items():
            if count <= least:
                del self[gram]
        return True


def table(memory: np.ndarray) -> dict[Gram, list[Fraction]]:
    """The numbers in a memory."""
    m = fields(memory, MEMORY)
    singles, pairs, grams = (part.py_func(memory, m) for part in (singles_of, pairs_of, grams_of))
    found: dict[Gram, list[Any]] = {}
    for (player, action), visits in np.ndenumerate(singles[:, 0]):
        found[player, (action,)] = [visits, singles[player, 1, action]]
    for (player, last, action), visits in np.ndenumerate(pairs[:, :, 0]):
        found[player, (last, action)] = [visits, pairs[player, last, 1, action]]
    for gram in grams[grams["key"] > 0]:
        found[unpacked(int(gram["key"]), int(m.actions))] = [gram["visits"], gram["paid"]]
    assert m.filled == np.count_nonzero(grams["key"])
    return {gram: [Fraction(float(number)) for number in numbers] for gram, numbers in found.items() if numbers[0]}


def unpacked(key: int, actions: int) -> Gram:
    """The 3-gram of a key: 1 more than player, first, second and third action as digits of a number."""
    digits = []
    for _ in range(3):
        key, digit = divmod(key - 1 if not digits else key, actions)
        digits.append(digit)
    return key, tuple(reversed(digits))


def marked(memory: np.ndarray) -> set[Gram]:
    """The 3-grams that are marked as known."""
    marks = marks_of.py_func(memory, fields(memory, MEMORY))
    return {
        (player, (first, second, 64 * word + bit))
        for (player, first, second, word), bits in np.ndenumerate(marks)
        for bit in range(64)
        if int(bits) >> bit & 1
    }


def assert_right(search: Search, grams: Grams) -> None:
    """The memory is the dictionary, and just the 3-grams that were played often enough are marked."""
    memory = search.worker.sim.memories[0]
    assert table(memory) == grams
    known = {gram for gram, (count, _) in grams.items() if len(gram[1]) == 3 and count >= grams.policy.least}
    assert marked(memory) == known


@pytest.mark.parametrize(
    "policy", [NGrams(least=2, epsilon=0, choice="greedy"), NGrams(length=2, least=2, tau=0.01)], ids=["greedy", "gibbs"]
)
@pytest.mark.parametrize(("game", "settings"), ALL_GAMES)
@pytest.mark.sweep(2)
def test_n_grams_are_those_of_a_dictionary(game: str, settings: dict[str, Any], policy: NGrams) -> None:
    """With prob = 1 a playout's move is one of the best, or one whose weight at tau is not too small."""
    assert_plays(Search(start_of(game, settings), UCD(c=0.3, table=False), 1, policies=policy), Grams(policy))


def assert_plays(search: Search, grams: Grams) -> None:
    """The memory is right after 150 simulations, and playouts heed it."""
    policy = grams.policy
    lengths, excluded = Counter[int](), 0
    margin = ROUNDING + (0 if policy.choice == "greedy" else Fraction(policy.tau) * SMALLEST)
    for _ in range(150):
        simulation = search.simulation()
        for place in range(simulation.descent, len(simulation.moves)):
            means = grams.values(simulation, place)
            values = {action: sum(known) / len(known) for action, known in means.items()}
            assert values[simulation.moves[place][1]] >= max(values.values()) - margin
            lengths.update(len(known) for known in means.values())
            excluded += sum(value < max(values.values()) - margin for value in values.values())
        grams.add(simulation)
    assert_right(search, grams)
    assert all(lengths[length] > 10 for length in range(1, policy.length + 1)), lengths
    assert excluded > 100 or search.start.rules.name == "leftright_v0"


def test_positions_of_the_playout_may_be_added_too() -> None:
    """Each n-gram of a simulation counts once, whether its moves became edges or not."""
    policy = NGrams()
    search, grams = Search(start_of("hex", {"size": 4}), UCD(table=False), 1, policies=policy, expand="all"), Grams(policy)
    for _ in range(200):
        grams.add(search.simulation())
    assert_right(search, grams)


@pytest.mark.parametrize("tau", [0.1, 1.0])
def test_gibbs_plays_each_move_with_its_probability(tau: float) -> None:
    """In tic-tac-toe after 4 and 1. Of 10 games 4 1 0 player 0 won 9, of 6 games 4 1 2 all, of 8 games 1 3 none and of one game
    8 none; 5, 6 and 7 were never played.

    So 0 is worth 9/10 as a move, after 1, and after 4 and 1; 2 is worth 1, since 6 are too few for more; 3 is worth 0 as a move
    and after 1.
    """
    rules, policy = ucd_envs.make_rules("tic_tac_toe"), NGrams(tau=tau)
    memory = policy.memory(rules)
    for number in range(10):
        teach(rules, policy, memory, [(0, 4), (1, 1), (0, 0)], [number > 0, number == 0])
    for moves, times, paid in (([(0, 4), (1, 1), (0, 2)], 6, 1), ([(1, 1), (0, 3)], 8, 0), ([(0, 8)], 1, 0)):
        for _ in range(times):
            teach(rules, policy, memory, moves, [paid, 1 - paid])
    values = {0: 0.9, 2: 1.0, 3: 0.0, 5: 1.0, 6: 1.0, 7: 1.0, 8: 0.0}
    assert_frequencies(memory, policy, values)
    for _ in range(10):
        teach(rules, policy, memory, [(1, 1), (0, 0)], [0, 1])
        teach(rules, policy, memory, [(0, 0)], [0, 1])
    values[0] = (9 / 30 + 9 / 20 + 9 / 10) / 3
    assert_frequencies(memory, policy, values)
    short = NGrams(length=2, tau=tau)
    memory = short.memory(rules)
    for _ in range(8):
        teach(rules, short, memory, [(0, 4), (1, 1), (0, 0)], [1, 0])
        teach(rules, short, memory, [(0, 0)], [0, 1])
    assert_frequencies(memory, short, dict.fromkeys((2, 3, 5, 6, 7, 8), 1.0) | {0: (1 / 2 + 1) / 2})


def assert_frequencies(memory: np.ndarray, policy: NGrams, values: dict[int, float]) -> None:
    """The third moves of tic-tac-toe after 4 and 1 are played with the probabilities of these values."""
    state, number = ucd_envs.make_rules("tic_tac_toe").initial_state().after(4).after(1), 6000
    counts = suggested(state, [(0, 4), (1, 1)], policy, memory, number)
    assert set(counts) <= set(values)
    weights = {action: math.exp(value / policy.tau) for action, value in values.items()}
    shown = [action for action, weight in weights.items() if number * weight / sum(weights.values()) > 5]
    expected = [number * weights[action] / sum(weights.values()) for action in shown]
    listed = [counts[action] for action in shown]
    assert number - sum(listed) < 20
    assert chi_square(listed, expected) < limit(listed)


@pytest.mark.parametrize("epsilon", [0, 0.3, 1])
def test_the_greedy_choice_is_left_to_chance_with_epsilon(epsilon: float) -> None:
    """Else, where nothing is known, it is any move, each as often."""
    policy, number, state = NGrams(choice="greedy", epsilon=epsilon), 6000, ucd_envs.make_rules("tic_tac_toe").initial_state()
    memory = policy.memory(state.rules)
    counts = suggested(state, [], policy, memory, number)
    assert set(counts) <= {-1, *range(9)}
    assert abs(counts[-1] - epsilon * number) <= 4 * math.sqrt(number * epsilon * (1 - epsilon))
    if epsilon < 1:
        assert chi_square([counts[action] for action in range(9)], [(number - counts[-1]) / 9] * 9) < 30


def tight(game: str, policy: NGrams, **settings: Any) -> NGrams:
    """A policy that has no more memory than it needs."""
    rules = ucd_envs.make_rules(game, **settings)
    needed = len(policy.memory(rules))
    with pytest.raises(ValueError, match=rf"^most_bytes must be {needed} or more for the n-grams of one game of .*, not 1$"):
        NGrams(most_bytes=1).memory(rules)
    with pytest.raises(ValueError, match=rf", not {needed - 1}$"):
        NGrams(most_bytes=needed - 1).memory(rules)
    return NGrams(policy.prob, policy.length, policy.least, policy.choice, policy.tau, policy.epsilon, policy.decay, needed)


@pytest.mark.parametrize(("game", "settings"), [("havannah", {"base": 3}), ("go", {"size": 4, "komi": 1})])
def test_the_rarest_3_grams_are_forgotten(game: str, settings: dict[str, Any]) -> None:
    """Where the table may not grow: it has room for four games at the beginning, and forgets time after time."""
    policy = tight(game, NGrams(least=2, choice="greedy", epsilon=0), **settings)
    search, grams, times = Search(start_of(game, settings), UCD(table=False), 1, policies=policy), Grams(policy), 0
    places, max_plies = fields(search.worker.sim.memories[0], MEMORY).places, search.start.rules.max_plies
    for _ in range(300):
        simulation = search.simulation()
        for place in range(simulation.descent, len(simulation.moves)):
            values = {action: sum(known) / len(known) for action, known in grams.values(simulation, place).items()}
            assert values[simulation.moves[place][1]] >= max(values.values()) - ROUNDING
        grams.add(simulation)
        times += grams.forget(places, max_plies)
    assert_right(search, grams)
    assert times > 5
    assert len(search.worker.sim.memories[0]) == policy.most_bytes


def test_a_table_that_grows_changes_nothing() -> None:
    """A search is the one with a table that was large from the start, and knows all."""
    policy, start = NGrams(least=2, tau=0.05), start_of("go", {"size": 4, "komi": 1})
    small, large = (Search(start, UCD(table=False), 1, policies=policy) for _ in range(2))
    memory = large.worker.sim.memories[0]
    for _ in range(8):
        memory = policy.grown(memory)
    large.worker.sim.remember(0, memory)
    before, grams = len(small.worker.sim.memories[0]), Grams(policy)
    for _ in range(300):
        one, two = small.simulation(), large.simulation()
        assert one.moves == two.moves
        grams.add(one)
    assert_right(small, grams)
    assert_right(large, grams)
    assert before < len(small.worker.sim.memories[0]) < len(memory) == len(large.worker.sim.memories[0])


def test_a_grown_memory_stays_under_its_limit() -> None:
    """It doubles as long as it may, and no simulation is lost at the end of a search."""
    start, policy = start_of("hex", {"size": 5}), NGrams(most_bytes=2**18)
    planner = uct(playouts=2000, seed=1, policies=policy)
    planner.search(start)
    memory = planner._workers[0].sim.memories[0]
    table_bytes = GRAM.itemsize * int(fields(memory, MEMORY).places)
    assert len(policy.memory(start.rules)) < len(memory) <= 2**18 < len(memory) + table_bytes
    assert 2 * fields(memory, MEMORY).filled <= fields(memory, MEMORY).places


@pytest.mark.parametrize("decay", [0, 0.5, 1])
def test_numbers_decay_from_turn_to_turn(decay: float) -> None:
    """Less is known then; and for another game nothing is left."""
    start, policy = start_of("havannah", {"base": 3}), NGrams(least=4, decay=decay)
    search, grams = Search(start, UCD(table=False), 1, policies=policy), Grams(policy)
    for _ in range(300):
        grams.add(search.simulation())
    search.begin(start.after(4).after(7))
    left = Grams(policy, ((gram, [Fraction(decay) * number for number in grams[gram]]) for gram in grams if decay))
    assert_right(search, left)
    for _ in range(100):
        left.add(search.simulation())
    assert_right(search, left)
    search.begin(start)
    assert_right(search, Grams(policy))
