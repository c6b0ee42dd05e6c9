"""Outcomes of moves: their numbers, by the position before a move and the one that followed."""

from __future__ import annotations

import pickle
from collections.abc import Hashable
from typing import Any

import numpy as np

PLAIN = (int, float, complex, str, bytes, bool, type(None), np.generic)


class Move:
    """A move from a place, with the outcomes that it has had: the first one, then others by their names."""

    __slots__ = ("first", "others", "place", "visits")

    def __init__(self, first: Hashable) -> None:
        self.first = first
        self.place: Place = {}
        self.others: dict[Hashable, tuple[int, Place]] = {}
        self.visits = 0


Place = dict[int, Move]
"""The moves that searches have made from a position."""


class Outcomes:
    """The outcomes that each move has had in the searches so far, numbered in the order in which they came.

    most: how many of a move are kept apart; widening: at most n**widening of them, rounded up, after n visits of the move. Each
    outcome leads to a place of its own, or to that of an equal position.
    """

    def __init__(self, most: int, widening: float) -> None:
        self.most, self.widening = most, widening
        self.clear()

    def clear(self) -> None:
        """Forgets all moves."""
        self.moves = 0
        self.last: Move | None = None
        self._place_of: dict[int, Place] = {}

    def root(self, position: int | None) -> Place:
        """Returns the place of a root, whose position has a number, or None for one that is unknown."""
        return {} if position is None else self._place_of.setdefault(position, {})

    def after(self, place: Place, action: int, name: Hashable) -> tuple[int, Place | None]:
        """Returns the number of what followed a move and its place: 0 for its first outcome, `most` for one too many."""
        move = place.get(action)
        if move is None:
            self.moves += 1
            move = place[action] = Move(name)
        self.last = move
        move.visits += 1
        if move.first == name:
            return 0, move.place
        found = move.others.get(name)
        if found is None:
            number = len(move.others) + 1
            if number >= self.most or number >= move.visits**self.widening:
                return self.most, None
            found = move.others[name] = number, {}
        return found

    def same(self, position: int, place: Place) -> Place:
        """Returns the place of a numbered position, to which the last move has led: an earlier one, else `place`."""
        earlier = self._place_of.setdefault(position, place)
        if earlier is not place and self.last is not None:
            move = self.last
            if move.place is place:
                move.place = earlier
            for name, (number, following) in move.others.items():
                if following is place:
                    move.others[name] = number, earlier
        return earlier

    def named(self, place: Place, action: int, number: int) -> tuple[Any, Place]:
        """Returns what followed a move as its outcome of a number, and the place. Raises an error for one that never came."""
        move = place[action]
        if number == 0:
            return move.first, move.place
        name, (_, following) = list(move.others.items())[number - 1]
        return name, following


def fingerprint(seen: Any) -> Hashable:
    """Returns a hashable value of an observation, equal for equal ones."""
    if isinstance(seen, PLAIN):
        return seen
    if isinstance(seen, np.ndarray) and seen.dtype != object:
        return seen.tobytes()
    if isinstance(seen, tuple | list):
        return tuple(map(fingerprint, seen))
    if isinstance(seen, dict):
        return tuple((name, fingerprint(value)) for name, value in seen.items())
    return pickle.dumps(seen)
