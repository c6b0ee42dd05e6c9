"""The generator that kernels carry, against its definition in plain integers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numba import njit
from scipy.stats import chisquare

from ucd_envs.rng import below, draw, seeded

MASK = 2**64 - 1


def rotated(word: int, by: int) -> int:
    """A 64-bit word rotated to the left."""
    return ((word << by) | (word >> (64 - by))) & MASK


def xoroshiro128plus(state: list[int]) -> int:
    """The next output of the generator [Blackman and Vigna, 2018: constants 24, 16, 37]; `state` moves on."""
    a, b = state
    b ^= a
    result = (state[0] + state[1]) & MASK
    state[0] = rotated(a, 24) ^ b ^ ((b << 16) & MASK)
    state[1] = rotated(b, 37)
    return result


def test_the_outputs_for_the_seed_1_2_are_the_published_ones() -> None:
    """The first outputs of the reference C code, as the Rust crate rand_xoshiro tests them."""
    rng = np.array([1, 2], np.uint64)
    expected = [3, 412333834243, 2360170716294286339, 9295852285959843169, 2797080929874688578]
    assert [draw(rng) for _ in expected] == expected


@pytest.mark.parametrize("start", [(0, 1), (1, 0), (MASK, MASK), (2**63, 1), (0x0123456789ABCDEF, 0xFEDCBA9876543210)])
def test_draws_are_those_of_the_definition(start: tuple[int, int]) -> None:
    """Outputs and states equal those of the definition for 2,000 draws, top bits and carries included."""
    rng, reference = np.array(start, np.uint64), list(start)
    for _ in range(2000):
        assert draw(rng) == xoroshiro128plus(reference)
        assert rng.tolist() == reference


def test_every_bit_of_the_draws_is_fair() -> None:
    """Each of the 64 bits is set in half of the draws, within five standard deviations."""
    rng = seeded(1)
    draws = np.array([draw(rng) for _ in range(20_000)], np.uint64)
    ones = ((draws[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)).sum(axis=0)
    assert np.abs(ones - 10_000.0).max() < 5 * np.sqrt(20_000 / 4)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 9, 64, 361])
def test_below_is_uniform(n: int) -> None:
    """Every value below n is as frequent as the others and no other value comes."""
    rng = seeded(2, n)
    counts = np.bincount([below(rng, np.uint64(n)) for _ in range(max(20_000, 50 * n))], minlength=n)
    assert len(counts) == n
    assert n == 1 or chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("n", [1, 2, 361, 2**31, 2**32 - 1])
def test_below_stays_below_for_the_smallest_and_the_largest_draw(n: int) -> None:
    """The draw 0 gives 0 and the draw 2**64 - 1 gives n - 1."""
    assert below(np.array([0, 0], np.uint64), np.uint64(n)) == 0
    assert below(np.array([MASK, 0], np.uint64), np.uint64(n)) == n - 1


def test_one_path_of_integers_gives_one_state() -> None:
    """The same entropy seeds the same state in fresh memory."""
    first, second = seeded(5, 1, 0), seeded(5, 1, 0)
    assert first.dtype == np.uint64
    assert first.tolist() == second.tolist()
    assert not np.shares_memory(first, second)


def test_different_paths_of_integers_give_different_states() -> None:
    """No two of a thousand paths (seed, game, player) share a word."""
    paths = product(range(10), range(50), range(2))
    words = [word for path in paths for word in seeded(*path).tolist()]
    assert len(set(words)) == 2000


def test_the_state_is_never_all_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """The generator would stay at zero for ever, so a seed that gives zeros is replaced."""

    class Zeros:
        def __init__(self, entropy: tuple[int, ...]) -> None: ...

        def generate_state(self, count: int, dtype: type) -> np.ndarray:
            return np.zeros(count, dtype)

    monkeypatch.setattr(np.random, "SeedSequence", Zeros)
    assert seeded(0).any()


def test_numpys_generator_does_not_change_ours() -> None:
    """B115: seeds and draws are the same whatever state NumPy's global generator is in."""
    np.random.seed(1)
    first = seeded(3)
    draws = [draw(first) for _ in range(10)]
    np.random.seed(2)
    np.random.random(5)
    again = seeded(3)
    assert [draw(again) for _ in range(10)] == draws


def test_our_draws_do_not_change_numpys_generator() -> None:
    """B115: NumPy's global generator goes on as if nothing had been drawn from ours."""
    np.random.seed(1)
    expected = np.random.random(4).tolist()
    np.random.seed(1)
    rng = seeded(4)
    for _ in range(100):
        below(rng, np.uint64(6))
    assert np.random.random(4).tolist() == expected


def test_our_draws_and_numbas_generator_leave_each_other_alone() -> None:
    """B115: another user of numba in this process, with its hidden generator, changes no draw of ours nor we its."""

    @njit
    def seed_theirs(seed):
        np.random.seed(seed)

    @njit
    def theirs():
        return np.random.random()

    seed_theirs(1)
    expected_theirs = [theirs() for _ in range(4)]
    rng = seeded(5)
    expected_ours = [draw(rng) for _ in range(4)]
    seed_theirs(1)
    rng = seeded(5)
    mixed = [(draw(rng), theirs()) for _ in range(4)]
    assert mixed == list(zip(expected_ours, expected_theirs, strict=True))


@pytest.mark.parametrize(
    "path", [(0,), (1,), (0, 0, 0), (7, 0, 2), (2**32 - 1, 1), (2**32, 3), (2**64 + 5, 2**40), (2**128 - 1, 1000, 15)]
)
def test_a_path_seeds_as_numpys_seed_sequence_does(path: tuple[int, ...]) -> None:
    assert seeded(*path).tolist() == np.random.SeedSequence(path).generate_state(2, np.uint64).tolist()


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\Aa seed must be 0 or more, not -1\Z"):
        seeded(3, -1)
