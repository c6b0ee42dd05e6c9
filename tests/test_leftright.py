"""LeftRight [UCD 4.1]: payoffs, positions, playouts, and paths far longer than Python's stack."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from math import comb

import numpy as np
import pytest
from scipy.stats import binom, chisquare

import ucd_envs
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State

LEFT, RIGHT = 0, 1


def leftright(steps: int = 300) -> Rules:
    """The rules of LeftRight with so many steps."""
    return ucd_envs.make_rules("leftright", steps=steps)


def walked(steps: int, path: str) -> State:
    """The state after steps written as l and r."""
    state = leftright(steps).initial_state()
    for step in path:
        state = state.after("lr".index(step))
    return state


@pytest.fixture
def shallow_stack() -> Iterator[None]:
    """A limit of 200 nested calls of Python, a test's own included."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(200)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize(("path", "payoff"), [("llll", 1.0), ("rrrr", 0.0), ("lrrr", 0.25), ("rlrl", 0.5), ("llrl", 0.75)])
def test_the_payoff_is_the_share_of_steps_to_the_left(path: str, payoff: float) -> None:
    """B064: whatever their order; the last step counts."""
    assert walked(4, path).payoffs() == [payoff]


@pytest.mark.parametrize("steps", [1, 2, 63, 64, 65, 300])
def test_all_steps_to_the_left_are_worth_1(steps: int) -> None:
    """The best path, on either side of a word's length."""
    assert walked(steps, "l" * steps).payoffs() == [1.0]


@pytest.mark.parametrize("steps", [1, 3, 300])
def test_the_path_ends_after_its_steps(steps: int) -> None:
    """Not before, and nothing is legal then."""
    state = walked(steps, "r" * (steps - 1))
    assert state.legal_actions() == [LEFT, RIGHT]
    assert state.after(LEFT).over
    assert state.after(LEFT).legal_actions() == []


def test_there_are_k_plus_1_positions_after_k_steps() -> None:
    """[UCD 4.1]: 2**k paths lead to them, binom(k, i) to the one with i steps to the left."""
    level = {leftright(12).initial_state(): 1}
    for k in range(1, 13):
        following: dict[State, int] = {}
        for state, paths in level.items():
            for action in (LEFT, RIGHT):
                child = state.after(action)
                following[child] = following.get(child, 0) + paths
        level = following
        assert sorted(level.values()) == sorted(comb(k, i) for i in range(k + 1))


def test_two_orders_of_steps_lead_to_one_position() -> None:
    """The same steps to either side."""
    assert walked(5, "llr") == walked(5, "rll")


def test_the_same_steps_to_the_left_in_more_steps_are_another_position() -> None:
    """How many steps have been made belongs to the position."""
    assert walked(5, "ll") != walked(5, "llr")


@pytest.mark.parametrize(("steps", "made"), [(1, ""), (12, ""), (12, "lrl"), (64, ""), (65, "r"), (300, ""), (300, "l" * 237)])
@pytest.mark.parametrize("move_of", [False, True], ids=["without a trace", "with a trace"])
def test_playouts_are_binomial(steps: int, made: str, move_of: bool) -> None:
    """Steps to the left that are added to those made: chi-square against the exact distribution, rare values left out."""
    rules, rng, left_over = leftright(steps), seeded(steps, len(made)), steps - len(made)
    start, trace = walked(steps, made).array(), np.zeros(steps * move_of, np.int32)
    payoff, counts, playouts = np.zeros(1), np.zeros(left_over + 1), 20_000
    for _ in range(playouts):
        state = start.copy()
        assert rules.kernels.playout(rules.config, state, rng, trace) == left_over
        rules.kernels.payoffs(rules.config, state, payoff)
        counts[round(payoff[0] * steps) - made.count("l")] += 1
    expected = binom.pmf(np.arange(left_over + 1), left_over, 0.5) * playouts
    common = expected > 10
    rest = playouts - expected[common].sum()
    observed = np.append(counts[common], playouts - counts[common].sum())[: None if rest > 1 else -1]
    wanted = np.append(expected[common], rest)[: None if rest > 1 else -1]
    assert chisquare(observed, wanted * observed.sum() / wanted.sum()).pvalue > 1e-4


def test_every_step_of_a_playout_is_fair() -> None:
    """Each of 130 steps goes to the left in half of the playouts, within five standard deviations: all bits of a word."""
    rules, rng, trace = leftright(130), seeded(1), np.zeros(130, np.int32)
    rights = np.zeros(130)
    for _ in range(10_000):
        rules.kernels.playout(rules.config, rules.initial_state().array(), rng, trace)
        rights += trace
    assert np.abs(rights - 5000).max() < 5 * np.sqrt(2500)


@pytest.mark.usefixtures("shallow_stack")
def test_a_path_of_5000_steps_needs_no_stack() -> None:
    """B079: played step by step under a limit of 200 nested calls."""
    state, choice = leftright(5000).initial_state(), random.Random(1)
    lefts = 0
    while not state.over:
        action = choice.choice((LEFT, RIGHT))
        lefts += action == LEFT
        state = state.after(action)
    assert state.ply == 5000
    assert state.payoffs() == [lefts / 5000]


@pytest.mark.usefixtures("shallow_stack")
def test_a_playout_of_5000_steps_needs_no_stack() -> None:
    """B079: and the trace holds all of them."""
    rules, trace = leftright(5000), np.full(5000, -1, np.int32)
    array = rules.initial_state().array()
    assert rules.kernels.playout(rules.config, array, seeded(1), trace) == 5000
    assert State(rules, array.tobytes()).payoffs() == [(trace == LEFT).sum() / 5000]


def test_the_longest_path_has_100000_steps() -> None:
    """A playout reaches its end, and the longest path that is allowed is played right."""
    rules = leftright(100_000)
    array = rules.initial_state().array()
    rules.kernels.playout(rules.config, array, seeded(1), np.empty(0, np.int32))
    state = State(rules, array.tobytes())
    assert (state.over, state.ply) == (True, 100_000)
    assert abs(state.payoffs()[0] - 0.5) < 5 * 0.5 / np.sqrt(100_000)


@pytest.mark.parametrize("steps", [0, -1, 100_001])
def test_a_number_of_steps_out_of_range_is_refused(steps: int) -> None:
    """With one sentence."""
    with pytest.raises(ValueError, match=f"^steps must be from 1 to 100000, not {steps}$"):
        leftright(steps)


@pytest.mark.parametrize("steps", [3.0, "3", None, True])
def test_a_number_of_steps_that_is_not_whole_is_refused(steps: object) -> None:
    """With one sentence, and whichever numbers have been asked for before."""
    leftright(1)
    leftright(3)
    with pytest.raises(TypeError, match="steps must be a whole number from 1 to 100000"):
        leftright(steps)  # type: ignore[arg-type]


def test_the_observation_counts_steps_to_either_side() -> None:
    """As many ones as steps to the left in plane 0, to the right in plane 1."""
    state = walked(5, "lrl")
    planes = np.full((1, 5, 2), -7, np.int8)
    state.rules.kernels.observe(state.rules.config, state.array(), 0, planes.reshape(-1))
    assert planes[0].T.tolist() == [[1, 1, 0, 0, 0], [1, 0, 0, 0, 0]]


def test_steps_are_written_left_and_right() -> None:
    """Capital letters are read too."""
    rules = leftright()
    assert [rules.initial_state().action_name(action) for action in (LEFT, RIGHT)] == ["left", "right"]
    assert [rules.initial_state().action_named(name) for name in ("LEFT", "Right")] == [LEFT, RIGHT]
