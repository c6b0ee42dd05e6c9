"""Copies of Python objects that keep their state: snapshots of environments that others wrote.

A snapshot is pickled once and unpickled at every restoring. What has no state of the game in it (spaces, functions, modules,
loggers, windows) is shared instead of copied, and so are attributes that the user names as constant. Objects that would pickle
as their constructor's arguments only, as Gymnasium's EzPickle makes its heirs do, are pickled by their attributes.
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

SHARED = (Space, EnvSpec, logging.Logger, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, types.LambdaType)
CHANCE = (np.random.Generator, np.random.RandomState, random.Random)


class Copier:
    """Takes snapshots of an object's attributes and gives them back.

    With `chance` generators of random numbers are not copied: each is replaced by one of the copier's own, which goes on from
    one restoring to the next and is begun anew by `reseed`.
    """

    def __init__(self, chance: str, constant: Sequence[str] = ()) -> None:
        self.reseeded = chance == "reseeded"
        self.constant = frozenset(constant)
        self._shared: dict[int, Any] = {}
        self._generators: dict[type, Any] = {}
        self.reseed(0)

    def reseed(self, seed: int) -> None:
        """Begins new sequences of chance."""
        for kind, generator in self._generators.items():
            generator.__setstate__(_seeded(kind, seed).__getstate__())

    def generator(self, kind: type) -> Any:
        """The copier's own generator of a kind."""
        if kind not in self._generators:
            self._generators[kind] = _seeded(kind, 0)
        return self._generators[kind]

    def snapshot(self, thing: Any) -> bytes:
        """An object's attributes as they are now. Raises TypeError for one that cannot be pickled."""
        buffer = io.BytesIO()
        try:
            _Pickler(buffer, self).dump({name: value for name, value in thing.__dict__.items() if name not in self.constant})
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise TypeError(
                f"{type(thing).__name__} cannot be copied ({error}): name clone_state and restore_state of your own"
            ) from error
        return buffer.getvalue()

    def restore(self, thing: Any, snapshot: bytes) -> None:
        """Gives an object the attributes of a snapshot, and beside the constant ones no others."""
        attributes = _Unpickler(io.BytesIO(snapshot), self._shared).load()
        for name in self.constant & thing.__dict__.keys():
            attributes[name] = thing.__dict__[name]
        thing.__dict__.clear()
        thing.__dict__.update(attributes)

    def twin(self, thing: Any) -> Any:
        """A copy of an object."""
        other = object.__new__(type(thing))
        other.__dict__.update({name: value for name, value in thing.__dict__.items() if name in self.constant})
        self.restore(other, self.snapshot(thing))
        return other

    def share(self, thing: Any) -> int | None:
        """The number under which an object is shared, or None for one to be copied."""
        if isinstance(thing, CHANCE) and self.reseeded:
            thing = self.generator(type(thing))
        elif not isinstance(thing, SHARED) and not type(thing).__module__.startswith("pygame"):
            return None
        self._shared[id(thing)] = thing
        return id(thing)


def _seeded(kind: type, seed: int) -> Any:
    """A generator of a kind."""
    return np.random.default_rng(seed) if kind is np.random.Generator else kind(seed)


class _Pickler(pickle.Pickler):
    def __init__(self, buffer: io.BytesIO, copier: Copier) -> None:
        super().__init__(buffer, pickle.HIGHEST_PROTOCOL)
        self.copier = copier

    def persistent_id(self, thing: Any) -> int | None:
        return self.copier.share(thing)

    def reducer_override(self, thing: Any) -> Any:
        if "_ezpickle_args" in getattr(thing, "__dict__", ()):
            return object.__new__, (type(thing),), thing.__dict__, None, None, _set_attributes
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def __init__(self, buffer: io.BytesIO, shared: dict[int, Any]) -> None:
        super().__init__(buffer)
        self.persistent_load: Callable[[Any], Any] = shared.__getitem__


def _set_attributes(thing: Any, attributes: dict[str, Any]) -> None:
    thing.__dict__.update(attributes)
