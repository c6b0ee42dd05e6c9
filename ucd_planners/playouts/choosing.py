"""Choice of a move by values in [0, 1]: the best one, or a draw from the Gibbs distribution.

    P(a) = exp(V(a) / tau) / sum of exp(V(b) / tau)         over the moves b that may be played

Weights are whole numbers in units of 2**-23 of the largest, rounded down. Their sums are therefore exact in any order. A move
whose weight is less than one unit is never played.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ucd_envs.kernels import kernel
from ucd_envs.rng import below, unit
from ucd_envs.settings import one_of, real
from ucd_envs.structs import array_at, equal_bits, popcount, row_sum, stack_array, trailing_zeros
from ucd_planners.search.interface import probability

CHOICES = ("gibbs", "greedy")
LEAST_TAU, MOST_TAU = 0.001, 1000.0

U0, U1, U4 = np.uint64(0), np.uint64(1), np.uint64(4)
ROW, LEFT, ALL = np.uint64(32), np.uint64(31), np.uint64(2**32 - 1)
BITS, SINGLE = np.dtype(np.int32), np.dtype(np.float32)
HALF, UNIT, LOWEST, NEVER = (np.float32(value) for value in (0.5, 2**23, -30, -1e30))
LN2 = np.float32(math.log(2))
C0, C1, C2, C3, C4, C5, C6 = (np.float32(1 / math.factorial(power)) for power in range(7))


@kernel(inline=True)
def bits_of(values):
    """[any] int32: the bits of float32 values. From 0 up they have the order of the values; others are negative."""
    return array_at(np.uint64(values.ctypes.data), (values.size,), BITS)


@kernel()
def largest(values, count):
    """Returns the largest of the first `count` values, 0 or more. None may be NaN."""
    bits, most = bits_of(values), np.int32(0)
    for i in range(count):  # LLVM compares many whole numbers at once, and reals one by one
        most = max(most, bits[i])
    found = stack_array(1, SINGLE)
    bits_of(found)[0] = most
    return found[0]


@kernel()
def best(values, count, most, rng):
    """Returns the place of `most`, the largest of the first `count` values, ties broken at random. Needs count > 0.

    Values fill whole rows. Those behind `count` are read, and have no effect.
    """
    equals, place = U0, U0
    while place < count:
        equals += np.uint64(popcount(row_of(values, place, count, most)))
        place += ROW
    rank, place = below(rng, equals) if equals > U1 else U0, U0
    row = row_of(values, place, count, most)
    while rank >= np.uint64(popcount(row)):
        rank -= np.uint64(popcount(row))
        place += ROW
        row = row_of(values, place, count, most)
    while rank > U0:
        row &= row - U1
        rank -= U1
    return place + np.uint64(trailing_zeros(row))


@kernel()
def row_of(values, place, count, value):
    """Returns a bit for each value of a row: set where it is among the first `count` and equals `value`."""
    left = count - place
    return equal_bits(values, place, value) & ((U1 << left) - U1 if left < ROW else ALL)


@kernel()
def weigh(values, weights, count, scale):
    """Writes the weights of the first `count` values and returns their sum.

    scale: 1 / (tau * ln 2); values: [padded(count)] float32; weights: [padded(count)] uint32.

    2**x is a power of two times the exponential series of the fraction; its first 7 terms are exact to 2**-22. LLVM computes
    whole rows at once and remainders one by one, so the last row is filled with values of no weight.
    """
    most, total, whole_rows = largest(values, count), U0, (count + LEFT) & ~LEFT
    for i in range(count, whole_rows):
        values[i] = NEVER
    for i in range(whole_rows):
        x = (values[i] - most) * scale
        x = x if x > LOWEST else LOWEST
        whole = np.floor(x + HALF)
        r = (x - whole) * LN2
        series = C0 + r * (C1 + r * (C2 + r * (C3 + r * (C4 + r * (C5 + r * C6)))))
        weights[i] = np.uint32(np.int32(series * UNIT) >> np.int32(-whole))
        total += np.uint64(weights[i])
    return total


@kernel()
def part_of(total, rng):
    """Returns a random whole number in [0, total). Needs total < 2**52."""
    return np.uint64(unit(rng) * np.float64(total))


@kernel()
def gibbs(values, weights, count, scale, rng):
    """Draws a place among the first `count` values by their weights. Arrays are those of `weigh`. Needs count > 0."""
    return place_of(weights, part_of(weigh(values, weights, count, scale), rng))


@kernel()
def place_of(weights, part):
    """Returns the place of a part of the sum of weights, below the sum. Weights fill whole rows, as those of `weigh` do."""
    place, row = U0, np.uint64(row_sum(weights, U0))
    while part >= row:
        part -= row
        place += ROW
        row = np.uint64(row_sum(weights, place))
    while part >= np.uint64(weights[place]):
        part -= np.uint64(weights[place])
        place += U1
    return place


@kernel()
def gibbs_playable(weights, total, tries, is_playable, config, state, rng):
    """Draws an action by the weights of all actions, whose sum is `total`, until one is playable. Returns it, or -1 after
    `tries` actions that are not.

    An action that is not playable loses its weight, so the draw goes on among the others and each playable one keeps its
    probability, as in a draw among these alone. It ends when little weight is left, where that of one unit is coarse.
    """
    left = total
    while tries > U0 and left > total >> U4:
        action = place_of(weights, part_of(left, rng))
        if is_playable(config, state, np.int64(action)):
            return np.int64(action)
        left -= np.uint64(weights[action])
        weights[action] = np.uint32(0)
        tries -= U1
    return np.int64(-1)


def padded(count: int) -> int:
    """Returns `count` rounded up to whole rows: the length of the arrays of `weigh`."""
    return (count + int(LEFT)) & ~int(LEFT)


def scale_of(tau: float) -> float:
    """Returns 1 / (tau * ln 2)."""
    return 1 / (tau * math.log(2))


def check_choice(choice: Any, tau: Any, epsilon: Any) -> None:
    """Raises ValueError for an unknown choice, TypeError or ValueError for a temperature or a probability out of range."""
    one_of("choice", choice, CHOICES)
    if not LEAST_TAU <= real("tau", tau) <= MOST_TAU:
        raise ValueError(f"tau must be a number from {LEAST_TAU:g} to {MOST_TAU:g}, not {tau!r}")
    probability("epsilon", epsilon)
