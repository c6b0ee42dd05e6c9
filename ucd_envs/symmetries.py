"""Symmetries of a game: permutations of its actions, of the bits of its keys, and of the entries of its observations.

A symmetry maps every position to one with the same mover, ply and future, in which each action stands for its image. It is
written as three lists of numbers: bit b of a key goes to bit `bits[s, b]`, action a becomes `actions[s, a]`, and entry i of a
flat observation goes to place `entries[s, i]`. A game names its symmetries by `Rules.symmetries`, if the key of a position's
image is the image of its key. They are symmetries of the rules: the start of a game need not be its own image.

Two uses are sound. An observation and its policy, mapped by one symmetry, are a sample of an equally good position. And equal
canonical keys at equal plies belong to positions of one class, with the same value and with actions that are each other's
images; the canonical key of a class is the smallest of all its images' keys, compared word by word.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types

from ucd_envs.kernels import WORDS, compiled, kernel
from ucd_envs.structs import stack_array, trailing_zeros

U0, U1, U6, U63 = (np.uint64(n) for n in (0, 1, 6, 63))
WORD = np.dtype(np.uint64)
TRIED_PLIES = 60
"""Moves of each game that is played beside its image."""
CANONICAL = types.int64(types.int32[:, ::1], WORDS, WORDS)


class Symmetries(NamedTuple):
    """The symmetries of a game, a group whose first one is the identity.

    Observations are [..., rows, columns, planes] and policies [..., actions], of any dtype, a game's sizes in all of them.
    """

    bits: np.ndarray
    """Image of each bit of a key, the lowest of the first word first: [symmetries, 64 * key_words] int32."""
    actions: np.ndarray
    """Image of each action: [symmetries, actions] int32."""
    entries: np.ndarray | None = None
    """Image of each entry of a flat observation: [symmetries, rows * columns * planes] int32. None where samples are not
    mapped."""

    def image(self, symmetry: int, observation: np.ndarray, *policies: np.ndarray) -> tuple[np.ndarray, ...]:
        """Returns the images of observations and of any policies or masks under one symmetry: fresh arrays of the same shapes.

        Raises ValueError for another symmetry than 0 ... symmetries - 1, other shapes and a game without images of entries.
        """
        self._check(observation, policies)
        if not 0 <= symmetry < len(self.actions):
            raise ValueError(f"the symmetry must be 0 to {len(self.actions) - 1}, not {symmetry}")
        images = tuple(np.empty(given.shape, given.dtype) for given in (observation, *policies))
        _flat(images[0])[..., self.entries[symmetry]] = _flat(observation)  # type: ignore[index]
        for image, policy in zip(images[1:], policies, strict=True):
            image[..., self.actions[symmetry]] = policy
        return images

    def augmented(self, rng: np.random.Generator, observations: np.ndarray, *policies: np.ndarray) -> tuple[np.ndarray, ...]:
        """Returns samples, each mapped by a symmetry of its own that is drawn uniformly: fresh arrays of the same shapes.

        observations: [samples, rows, columns, planes]; policies: any of [samples, actions], mapped together. Raises as `image`
        does.
        """
        self._check(observations, policies)
        shapes = [given.shape for given in (observations, *policies)]
        if observations.ndim != 4 or any(len(shape) != 2 or shape[0] != shapes[0][0] for shape in shapes[1:]):
            raise ValueError(f"observations and policies need a row for each sample, not the shapes {shapes}")
        drawn = rng.integers(len(self.actions), size=len(observations))
        images = tuple(np.empty(given.shape, given.dtype) for given in (observations, *policies))
        np.put_along_axis(_flat(images[0]), self.entries[drawn].astype(np.int64), _flat(observations), axis=1)  # type: ignore[index]
        for image, policy in zip(images[1:], policies, strict=True):
            np.put_along_axis(image, self.actions[drawn].astype(np.int64), policy, axis=1)
        return images

    def _check(self, observation: np.ndarray, policies: Sequence[np.ndarray]) -> None:
        """Raises ValueError where observations or policies do not have the game's sizes."""
        if self.entries is None:
            raise ValueError("the game's symmetries say nothing of observations: entries are missing")
        wanted, actions = self.entries.shape[1], self.actions.shape[1]
        wrong = observation.ndim < 3 or math.prod(observation.shape[-3:]) != wanted
        if wrong or any(policy.shape[-1:] != (actions,) for policy in policies):
            shapes = ", ".join(str(given.shape) for given in (observation, *policies))
            raise ValueError(
                f"expected observations of {wanted} entries and policies of {actions} actions, not shapes {shapes}"
            )


def _flat(observations: np.ndarray) -> np.ndarray:
    """Returns a view of contiguous observations in which each is a vector."""
    return observations.reshape(*observations.shape[:-3], -1)


@kernel(CANONICAL)
def canonical(bits, words, least):
    """Writes the smallest image of a key, [key_words] uint64 both; returns the first symmetry that leads to it."""
    image, found = stack_array(words.size, WORD), 0
    for i in range(words.size):
        least[i] = words[i]
    for symmetry in range(1, bits.shape[0]):
        write_image(bits, symmetry, words, image)
        if is_smaller(image, least):
            found = symmetry
            for i in range(words.size):
                least[i] = image[i]
    return found


@kernel()
def write_image(bits, symmetry, words, image):
    """Writes the image of a key under a symmetry."""
    for i in range(words.size):
        image[i] = U0
    for i in range(words.size):
        left = words[i]
        while left:
            target = np.uint64(bits[symmetry, 64 * i + np.int64(trailing_zeros(left))])
            image[target >> U6] |= U1 << (target & U63)
            left &= left - U1


@kernel()
def is_smaller(words, others):
    """Returns whether a key comes before another one."""
    for i in range(words.size):
        if words[i] != others[i]:
            return words[i] < others[i]
    return False


def symmetries(
    images: np.ndarray, places: np.ndarray, actions: np.ndarray, key_words: int, entries: np.ndarray | None = None
) -> Symmetries:
    """Returns the symmetries that move cells.

    images: of each cell, [symmetries, cells]; places: the bits of a key that belong to a cell, [cells, bits]; actions: image of
    each action, [symmetries, actions]; entries: image of each entry of an observation, such as `of_planes` returns. Other bits
    of a key stay. Raises ValueError for lists that do not begin with the identity or are no permutations.
    """
    bits = np.tile(np.arange(64 * key_words), (len(images), 1))
    for symmetry, image in enumerate(images):
        bits[symmetry, places] = places[image]
    given = {"images": images, "bits": bits, "actions": actions}
    given |= {} if entries is None else {"entries": entries}
    for name, listed in given.items():
        whole = np.arange(listed.shape[1])
        if len(listed) != len(images) or not (listed[0] == whole).all() or not (np.sort(listed, axis=1) == whole).all():
            raise ValueError(f"{name} must be permutations, one a symmetry, of which the first is the identity")
    return Symmetries(*(np.ascontiguousarray(listed, np.int32) for listed in list(given.values())[1:]))


def canonical_key(state: Any) -> tuple[bytes, int]:
    """Returns the smallest key of all images of a State, and the first symmetry that leads to it.

    In a game that names no symmetries this is its own key. Equal canonical keys at equal plies mean positions of one class:
    the images of their actions are the same actions of one position, and their values are equal.
    """
    named = state.rules.symmetries
    if named is None:
        return state.words, 0
    least = np.zeros(state.rules.key_words, np.uint64)
    found = compiled(canonical, CANONICAL)(named.bits, np.frombuffer(state.words, np.uint64).copy(), least)
    return least.tobytes(), int(found)


def of_planes(images: np.ndarray, planes: int) -> np.ndarray:
    """Returns the image of each entry of an observation whose planes move with its cells.

    images: of each cell, row * columns + column, [symmetries, rows * columns]; planes: their number. Returns [symmetries,
    rows * columns * planes].
    """
    return (images[:, :, None] * planes + np.arange(planes)).reshape(len(images), -1)


def of_rectangle(rows: int, columns: int) -> np.ndarray:
    """Returns the image of each cell, row * columns + column, under the mirrorings and turns of a board: four of a rectangle
    and eight of a square, [symmetries, rows * columns]."""
    cells = np.arange(rows * columns).reshape(rows, columns)
    boards = [cells, cells[::-1], cells[:, ::-1], cells[::-1, ::-1]]
    boards += [board.T for board in boards] if rows == columns else []
    return np.array([np.argsort(board, axis=None) for board in boards])


def with_others(images: np.ndarray, others: int) -> np.ndarray:
    """Returns the images of actions that are cells, followed by those of `others` more actions, which stay."""
    more = np.arange(images.shape[1], images.shape[1] + others)
    return np.hstack([images, np.tile(more, (len(images), 1))])


def disagreement(rules: Any, seed: int = 0) -> str:
    """Returns a sentence about symmetries that do not fit a game, empty for none.

    rules: Rules with symmetries; seed: of the random games that are played beside their images. From a start that is no image
    of itself a symmetry cannot be tried in this way.
    """
    named, start = rules.symmetries, rules.initial_state()
    count = len(named.bits)
    if named.bits.shape != (count, 64 * rules.key_words) or named.actions.shape != (count, rules.actions):
        return f"symmetries of {rules} need an image of each of {64 * rules.key_words} bits and {rules.actions} actions"
    observed = math.prod(rules.planes)
    if named.entries is not None and named.entries.shape != (count, observed):
        return f"symmetries of {rules} need an image of each of {observed} entries of an observation"
    draw = random.Random(seed)
    for symmetry in range(1, count):
        state = image = start
        bits, actions = named.bits[symmetry], named.actions[symmetry]
        if _image(state.words, bits) != image.words:
            continue
        for ply in range(TRIED_PLIES):
            legal = state.legal_actions()
            if not legal:
                break
            if named.entries is not None and (_seen(image)[:, named.entries[symmetry]] != _seen(state)).any():
                return f"symmetry {symmetry} of {rules} gives an image of an observation that nobody sees, after {ply} moves"
            if sorted(int(actions[action]) for action in legal) != image.legal_actions():
                return f"symmetry {symmetry} of {rules} gives images of legal actions that are not legal, after {ply} moves"
            action = draw.choice(legal)
            state, image = state.after(action), image.after(int(actions[action]))
            if _image(state.words, bits) != image.words or state.player != image.player:
                return f"symmetry {symmetry} of {rules} gives an image of a key that no position has, after {ply + 1} moves"
        if state.over and state.payoffs() != image.payoffs():
            return f"symmetry {symmetry} of {rules} gives other payoffs, after {state.ply} moves"
    return ""


def _image(words: bytes, bits: np.ndarray) -> bytes:
    """Returns the image of a key."""
    image = np.zeros(len(bits), np.uint8)
    image[bits] = np.unpackbits(np.frombuffer(words, np.uint8), bitorder="little")
    return np.packbits(image, bitorder="little").tobytes()


def _seen(state: Any) -> np.ndarray:
    """Returns the flat observation of each player: [players, rows * columns * planes] int8."""
    rules = state.rules
    planes = np.zeros((rules.players, math.prod(rules.planes)), np.int8)
    for player in range(rules.players):
        rules.kernels.observe(rules.config, state.array(), player, planes[player])
    return planes
