"""Snapshots of third-party environments: copies of Python objects with their state.

A snapshot is pickled once and unpickled at every restore. Objects without any state of the game (spaces, functions, modules,
loggers, windows) are shared instead of copied, and so are attributes that the user names as constant. A function that
captures variables of another one may hold state of the game in them, and is refused. Objects that would pickle only their
constructor's arguments, such as subclasses of Gymnasium's EzPickle, are pickled by their attributes.
"""

from __future__ import annotations

import io
import logging
import pickle
import random
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.spaces import Space

SHARED = (Space, EnvSpec, logging.Logger, types.ModuleType)
ITSELF = 0
"""The number of an object inside its own snapshot. In a copy, a method among the attributes belongs to the copy."""
CHANCE = (np.random.Generator, np.random.RandomState, random.Random)


class Copier:
    """Takes snapshots of an object's attributes and restores them.

    With `chance`, random generators are not copied. Each is replaced by one of the copier's own, which continues from one
    restore to the next and starts anew with `reseed`.
    """

    def __init__(self, chance: str, constant: Sequence[str] = ()) -> None:
        self.reseeded = chance == "reseeded"
        self.constant = frozenset(constant)
        self._shared: dict[int, Any] = {}
        self._generators: dict[type, Any] = {}
        self.reseed(0)

    def reseed(self, seed: int) -> None:
        """Begins new sequences of random numbers."""
        for kind, generator in self._generators.items():
            fresh = _seeded(kind, seed)
            if kind is np.random.Generator:
                generator.bit_generator.state = fresh.bit_generator.state
            else:
                generator.__setstate__(fresh.__getstate__())

    def generator(self, kind: type) -> Any:
        """Returns the copier's own generator of a kind."""
        if kind not in self._generators:
            self._generators[kind] = _seeded(kind, 0)
        return self._generators[kind]

    def snapshot(self, thing: Any) -> bytes:
        """Returns an object's present attributes, pickled. Raises TypeError, naming the attribute, if one cannot be pickled."""
        attributes = {name: value for name, value in thing.__dict__.items() if name not in self.constant}
        try:
            return self._pickled(thing, attributes)
        except Exception as error:
            name = next((name for name, value in attributes.items() if not self._can_pickle(thing, value)), "dictionary")
            raise TypeError(
                f"{type(thing).__name__} cannot be copied, for its attribute {name} ({error}): name it in constant if it never "
                "changes, or give the environment clone_state, restore_state and clone"
            ) from error

    def _pickled(self, thing: Any, value: Any) -> bytes:
        """Returns a value that belongs to an object, pickled."""
        buffer = io.BytesIO()
        _Pickler(buffer, self, thing).dump(value)
        return buffer.getvalue()

    def _can_pickle(self, thing: Any, value: Any) -> bool:
        """Returns whether a value that belongs to an object can be pickled."""
        try:
            self._pickled(thing, value)
        except Exception:
            return False
        return True

    def restore(self, thing: Any, snapshot: bytes) -> None:
        """Gives an object the attributes of a snapshot and removes all others, except the constant ones."""
        self._shared[ITSELF] = thing
        attributes = _Unpickler(io.BytesIO(snapshot), self._shared).load()
        for name in self.constant & thing.__dict__.keys():
            attributes[name] = thing.__dict__[name]
        thing.__dict__.clear()
        thing.__dict__.update(attributes)

    def twin(self, thing: Any) -> Any:
        """Returns a copy of an object."""
        other = object.__new__(type(thing))
        other.__dict__.update({name: value for name, value in thing.__dict__.items() if name in self.constant})
        self.restore(other, self.snapshot(thing))
        return other

    def share(self, thing: Any) -> int | None:
        """Returns the number under which an object is shared, or None for one to be copied."""
        if isinstance(thing, CHANCE) and self.reseeded:
            thing = self.generator(type(thing))
        elif not (isinstance(thing, SHARED) or _is_stateless(thing) or _is_shown(thing)):
            return None
        self._shared[id(thing)] = thing
        return id(thing)


def _is_stateless(thing: Any) -> bool:
    """Returns whether an object is a function without captured variables that belongs to no object."""
    if isinstance(thing, types.FunctionType):
        return thing.__closure__ is None
    return isinstance(thing, types.BuiltinFunctionType) and isinstance(thing.__self__, types.ModuleType | None)


def _is_shown(thing: Any) -> bool:
    """Returns whether an object belongs to pygame's windows. Pygame cannot pickle these, unlike rectangles, vectors and
    groups."""
    kind: Any = type(thing)
    return kind.__module__.startswith("pygame") and kind.__reduce__ is object.__reduce__ and not hasattr(thing, "__dict__")


def _seeded(kind: type, seed: int) -> Any:
    """Returns a seeded generator of a kind."""
    return np.random.default_rng(seed) if kind is np.random.Generator else kind(seed)


class _Pickler(pickle.Pickler):
    def __init__(self, buffer: io.BytesIO, copier: Copier, owner: Any) -> None:
        super().__init__(buffer, pickle.HIGHEST_PROTOCOL)
        self.copier, self.owner = copier, owner

    def persistent_id(self, thing: Any) -> int | None:
        """Returns the number under which an object is shared."""
        return ITSELF if thing is self.owner else self.copier.share(thing)

    def reducer_override(self, thing: Any) -> Any:
        """Returns a reduction for an object that would otherwise lose its state."""
        if "_ezpickle_args" in getattr(thing, "__dict__", ()):
            return object.__new__, (type(thing),), thing.__dict__, None, None, _set_attributes
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def __init__(self, buffer: io.BytesIO, shared: dict[int, Any]) -> None:
        super().__init__(buffer)
        self.persistent_load: Callable[[Any], Any] = shared.__getitem__


def _set_attributes(thing: Any, attributes: dict[str, Any]) -> None:
    thing.__dict__.update(attributes)
