"""Symmetries of a game: permutations of its actions, and of the bits of its keys.

A symmetry maps every position to one with the same mover, ply and future, in which each action stands for its image. It is
written as two lists of numbers: bit b of a key goes to bit `bits[s, b]`, and action a becomes `actions[s, a]`. A game names its
symmetries by `Rules.symmetries`, if the key of a position's image is the image of its key. Positions of one class then have one
canonical key: the smallest, compared word by word.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import numpy as np
from numba import types

from ucd_envs.kernels import WORDS, kernel
from ucd_envs.structs import stack_array, trailing_zeros

U0, U1, U6, U63 = (np.uint64(n) for n in (0, 1, 6, 63))
WORD = np.dtype(np.uint64)
TRIED_PLIES = 60
"""Moves of each game that is played beside its image."""
CANONICAL = types.int64(types.int32[:, ::1], WORDS, WORDS)


class Symmetries(NamedTuple):
    """The symmetries of a game, a group whose first one is the identity."""

    bits: np.ndarray
    """Image of each bit of a key, the lowest of the first word first: [symmetries, 64 * key_words] int32."""
    actions: np.ndarray
    """Image of each action: [symmetries, actions] int32."""


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


def symmetries(images: np.ndarray, places: np.ndarray, actions: np.ndarray, key_words: int) -> Symmetries:
    """Returns the symmetries that move cells.

    images: of each cell, [symmetries, cells]; places: the bits of a key that belong to a cell, [cells, bits]; actions: image of
    each action, [symmetries, actions]. Other bits of a key stay. Raises ValueError for lists that do not begin with the
    identity or are no permutations.
    """
    bits = np.tile(np.arange(64 * key_words), (len(images), 1))
    for symmetry, image in enumerate(images):
        bits[symmetry, places] = places[image]
    for name, listed in (("images", images), ("bits", bits), ("actions", actions)):
        whole = np.arange(listed.shape[1])
        if len(listed) != len(images) or not (listed[0] == whole).all() or not (np.sort(listed, axis=1) == whole).all():
            raise ValueError(f"{name} must be permutations, one a symmetry, of which the first is the identity")
    return Symmetries(np.ascontiguousarray(bits, np.int32), np.ascontiguousarray(actions, np.int32))


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
            if sorted(int(actions[action]) for action in legal) != image.legal_actions():
                return f"symmetry {symmetry} of {rules} gives images of legal actions that are not legal, after {ply} moves"
            action = draw.choice(legal)
            state, image = state.after(action), image.after(int(actions[action]))
            if _image(state.words, bits) != image.words or state.player != image.player:
                return f"symmetry {symmetry} of {rules} gives an image of a key that no position has, after {ply + 1} moves"
    return ""


def _image(words: bytes, bits: np.ndarray) -> bytes:
    """Returns the image of a key."""
    image = np.zeros(len(bits), np.uint8)
    image[bits] = np.unpackbits(np.frombuffer(words, np.uint8), bitorder="little")
    return np.packbits(image, bitorder="little").tobytes()
