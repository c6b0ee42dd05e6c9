"""Outcomes of moves: their numbers, by the position before a move and the one that followed."""

from __future__ import annotations

import pickle
from collections.abc import Hashable
from typing import Any

import numpy as np

PLAIN = (int, float, complex, str, bytes, bool, type(None), np.generic)


class Outcomes:
    """The outcomes that each move has had in the searches so far, at most `most` each, numbered in the order in which they
    came.

    Positions are numbered places: each outcome leads to a place of its own, or to that of an equal position.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.clear()

    def clear(self) -> None:
        """Forgets all moves."""
        self.places = 0
        self._moves: dict[tuple[int, int], dict[Hashable, tuple[int, int]]] = {}
        self._place_of: dict[int, int] = {}
        self._last: tuple[dict[Hashable, tuple[int, int]], Hashable] = {}, None

    def root(self, position: int | None) -> int:
        """Returns the place of a root, whose position has a number, or None for one that is unknown."""
        return self._new() if position is None else self.same(position, -1)

    def after(self, place: int, action: int, name: Hashable) -> tuple[int, int]:
        """Returns the number of what followed a move and its place: 0 for its first outcome, `most` for one too many."""
        outcomes = self._moves.setdefault((place, action), {})
        self._last = outcomes, name
        known = outcomes.get(name)
        if known is None:
            if len(outcomes) == self.most:
                return self.most, -1
            known = outcomes[name] = len(outcomes), self._new()
        return known

    def same(self, position: int, place: int) -> int:
        """Returns the place of a numbered position, to which the last move has led: an earlier one, else `place`."""
        if position not in self._place_of:
            self._place_of[position] = place if place >= 0 else self._new()
        earlier = self._place_of[position]
        outcomes, name = self._last
        if place not in (-1, earlier) and outcomes.get(name, (0, -1))[1] == place:
            outcomes[name] = outcomes[name][0], earlier
        return earlier

    def named(self, place: int, action: int, number: int) -> tuple[Any, int]:
        """Returns what followed a move as its outcome of a number, and the place. Raises an error for one that never came."""
        name, (_, following) = list(self._moves[place, action].items())[number]
        return name, following

    def _new(self) -> int:
        """Returns a new place."""
        self.places += 1
        return self.places - 1


def fingerprint(seen: Any) -> Hashable:
    """Returns a hashable value of an observation, equal for equal ones."""
    if isinstance(seen, np.ndarray) and seen.dtype != object:
        return seen.tobytes()
    if isinstance(seen, PLAIN):
        return seen
    if isinstance(seen, tuple | list):
        return tuple(map(fingerprint, seen))
    if isinstance(seen, dict):
        return tuple((name, fingerprint(value)) for name, value in seen.items())
    return pickle.dumps(seen)
