"""Choices by values and weights: rows of 32 values against plain Python, and draws against the probabilities of weights."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numba import types
from scipy.stats import chisquare

from ucd_envs.kernels import BYTES, RNG, compiled, kernel
from ucd_envs.rng import seeded
from ucd_envs.structs import equal_bits, fetch, row_sum
from ucd_planners.playouts.choosing import best, gibbs_playable, largest, place_of

SINGLES, WEIGHTS = types.float32[::1], types.uint32[::1]
READ_ROW = types.void(SINGLES, WEIGHTS, types.int64, types.float32, types.uint64[::1])
LARGEST = types.float32(SINGLES, types.int64)
BEST = types.int64(SINGLES, types.int64, types.float32, RNG)
PLACE = types.int64(WEIGHTS, types.int64)
DRAW = types.int64(WEIGHTS, WEIGHTS, BYTES, types.int64, RNG)


@kernel(READ_ROW)
def read_row(values, weights, first, value, out):
    """Writes the bits and the sum of a row."""
    fetch(values, np.uint64(first))
    out[0] = equal_bits(values, np.uint64(first), value)
    out[1] = row_sum(weights, np.uint64(first))


@kernel(LARGEST)
def largest_of(values, count):
    """The largest of some values."""
    return largest(values, np.uint64(count))


@kernel(BEST)
def best_of(values, count, most, rng):
    """The place of one of the largest values."""
    return best(values, np.uint64(count), most, rng)


@kernel(PLACE)
def place_of_part(weights, part):
    """The place of a part of the sum."""
    return place_of(weights, np.uint64(part))


@kernel()
def is_marked(config, state, action):
    """Whether an action is playable."""
    return state[action] != 0


@kernel(DRAW)
def draw_playable(weights, scratch, playable, tries, rng):
    """A draw by a copy of the weights."""
    total = np.uint64(0)
    for i in range(weights.size):
        scratch[i] = weights[i]
        total += np.uint64(weights[i])
    return gibbs_playable(scratch, total, np.uint64(tries), is_marked, playable, playable, rng)


@pytest.mark.parametrize("first", [0, 1, 31, 32])
def test_a_row_of_values_is_read_at_once_as_one_by_one(first: int) -> None:
    """From any place, also values that no float equals but one, zeros of both signs, and sums above 2**32."""
    rng = np.random.default_rng(1)
    read = compiled(read_row, READ_ROW)
    for _ in range(50):
        values = rng.choice(np.array([0.0, -0.0, 0.25, 1, -1e30], np.float32), 64)
        weights = rng.integers(0, 2**32, 64, np.uint32)
        for value in (0.0, 0.25, -1e30, 7):
            out = np.zeros(2, np.uint64)
            read(values, weights, first, np.float32(value), out)
            row = range(first, first + 32)
            assert int(out[0]) == sum(1 << i for i, place in enumerate(row) if values[place] == np.float32(value))
            assert int(out[1]) == sum(int(weights[place]) for place in row) % 2**32
            assert int(out[0]) == equal_bits(values, first, np.float32(value))
            assert int(out[1]) == row_sum(weights, first)


def test_the_largest_value_is_found_among_values_of_both_signs() -> None:
    rng = np.random.default_rng(2)
    found = compiled(largest_of, LARGEST)
    for count in range(100):
        values = np.append(rng.normal(-0.5, 1, count), [9.0] * 5).astype(np.float32)  # those behind are not looked at
        assert found(values, count) == max([np.float32(0), *values[:count]])


@pytest.mark.parametrize("count", [1, 5, 31, 32, 33, 90])
def test_ties_are_broken_at_random_in_every_row(count: int) -> None:
    """Of 0, 1, 2 ... places those that are 0 modulo 4 and the last one have the largest value; so do all behind the last."""
    values = np.full((count + 31) // 32 * 32, 0.5, np.float32)
    values[:count] = 0.25
    expected = sorted({*range(0, count, 4), count - 1})
    values[expected] = 0.5
    choose, rng = compiled(best_of, BEST), seeded(3)
    counts = Counter(choose(values, count, np.float32(0.5), rng) for _ in range(300 * len(expected)))
    assert sorted(counts) == expected
    assert len(expected) == 1 or chisquare(list(counts.values())).pvalue > 1e-4


def test_every_part_of_a_sum_of_weights_has_its_place() -> None:
    rng = np.random.default_rng(4)
    weights = rng.integers(0, 3, 96, np.uint32)
    weights[:40] = 0
    expected = np.repeat(np.arange(96), weights)
    assert [compiled(place_of_part, PLACE)(weights, part) for part in range(len(expected))] == expected.tolist()


@pytest.mark.parametrize("tries", [1, 3, 50])
def test_playable_actions_are_drawn_in_proportion_to_their_weights(tries: int) -> None:
    """Whatever the weights of the others; after so many others, or where little weight is left, there is no draw."""
    weights, playable = np.zeros(64, np.uint32), np.zeros(64, np.uint8)
    weights[:40] = 1000 * (1 + np.arange(40) % 7)
    playable[[3, 8, 20, 36, 50]] = 1
    draw, rng, scratch = compiled(draw_playable, DRAW), seeded(5), np.zeros(64, np.uint32)
    counts = Counter(draw(weights, scratch, playable, tries, rng) for _ in range(40_000))
    failures = counts.pop(-1, 0)
    assert sorted(counts) == [3, 8, 20, 36]
    shares = np.array([weights[action] for action in sorted(counts)], float)
    observed = [counts[action] for action in sorted(counts)]
    assert chisquare(observed, shares / shares.sum() * sum(observed)).pvalue > 1e-4
    if tries == 1:
        assert abs(failures / 40_000 - (1 - shares.sum() / weights.sum())) < 0.01
