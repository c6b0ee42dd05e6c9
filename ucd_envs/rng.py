"""The random generator of kernels: xoroshiro128+ (Blackman and Vigna, 2018).

Its state is an array of two 64-bit words that the caller passes on. A run therefore depends on its seed alone: not on
NumPy's generator, numba's, or threads. Draws use the high bits, which have the best quality in this generator.
"""

from __future__ import annotations

import numpy as np

from ucd_envs.kernels import kernel

U32 = np.uint64(32)
U24, U16, U37, U40, U27, U11 = (np.uint64(n) for n in (24, 16, 37, 40, 27, 11))


def seeded(*entropy: int) -> np.ndarray:
    """Returns a fresh generator state for non-negative integers such as (seed, game, player): [2] uint64, never all zero.

    Raises ValueError for a negative one.
    """
    # Words of 32 bits are what a SeedSequence makes of the numbers itself, only slower.
    parts: list[int] = []
    for number in map(int, entropy):
        if number < 0:
            raise ValueError(f"a seed must be 0 or more, not {number}")
        parts.append(number & 0xFFFFFFFF)
        while number := number >> 32:
            parts.append(number & 0xFFFFFFFF)
    words: np.ndarray = np.random.SeedSequence(np.array(parts, np.uint32)).generate_state(2, np.uint64)
    return words if words[0] or words[1] else np.ones(2, np.uint64)


def unforeseen() -> int:
    """Returns a seed from the system's randomness, a number of 64 bits."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])


@kernel()
def stepped(a, b):
    """Returns 64 random bits of a generator in the state (a, b), and its next state, for loops that keep it in registers."""
    c = a ^ b
    return a + b, ((a << U24) | (a >> U40)) ^ c ^ (c << U16), (c << U37) | (c >> U27)


@kernel()
def draw(rng):
    """Returns 64 random bits and advances the state by one."""
    bits, rng[0], rng[1] = stepped(rng[0], rng[1])
    return bits


@kernel()
def below(rng, n):
    """Returns a random integer in [0, n), n < 2**32, by multiplying and shifting: the bias is under n / 2**32."""
    return ((draw(rng) >> U32) * n) >> U32


@kernel()
def unit(rng):
    """Returns a random number in [0, 1) with 53 bits."""
    return np.float64(draw(rng) >> U11) * 2.0**-53
