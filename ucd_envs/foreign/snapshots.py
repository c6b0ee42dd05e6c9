"""Snapshots of third-party environments: copies of Python objects with their state.

A snapshot is pickled once and unpickled at every restore. Objects without any state of the game (functions, modules, loggers,
windows) are shared instead of copied, and so are attributes that the user names as constant. A function that
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

from gymnasium.envs.registration import EnvSpec
from gymnasium.spaces import Space

from ucd_envs.foreign.chance import Chance, generators_of, is_generator, state_of

SHARED = (EnvSpec, logging.Logger, types.ModuleType, random.SystemRandom)
ITSELF = 0
"""The number of an object inside its own snapshot. In a copy, a method among the attributes belongs to the copy."""


class Copier:
    """Takes snapshots of an object's attributes and restores them.

    With chance "reseeded", random generators and spaces are not copied: own ones of `chance` take their places. With "copied"
    they are copied like other attributes.
    """

    def __init__(self, chance: str, constant: Sequence[str] = ()) -> None:
        self.reseeded = chance == "reseeded"
        self.chance = Chance()
        self.constant = frozenset(constant)
        self._shared: dict[int, Any] = {}
        self._class_spaces: dict[type, dict[str, Space[Any]]] = {}

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
        for name, space in self._spaces_of(type(thing)).items():
            attributes.setdefault(name, self.chance.space(space))
        for name in self.constant & thing.__dict__.keys():
            attributes[name] = thing.__dict__[name]
        thing.__dict__.clear()
        thing.__dict__.update(attributes)

    def twin(self, thing: Any) -> Any:
        """Returns a copy of an object."""
        other = object.__new__(type(thing))
        for name in self.constant & thing.__dict__.keys():
            value = thing.__dict__[name]
            other.__dict__[name] = self.chance.space(value) if isinstance(value, Space) else value
        self.restore(other, self.snapshot(thing))
        return other

    def _spaces_of(self, kind: type) -> dict[str, Space[Any]]:
        """Returns the spaces that are attributes of a class. A copy has its own, since a space may be drawn from."""
        if kind not in self._class_spaces:
            found = {name: value for base in reversed(kind.__mro__) for name, value in vars(base).items()}
            self._class_spaces[kind] = {name: value for name, value in found.items() if isinstance(value, Space)}
        return self._class_spaces[kind]

    def drawn(self, thing: Any) -> list[str]:
        """Returns the states of the generators among an object's attributes as texts, none if they cannot be pickled."""
        try:
            return [repr(state_of(generator)) for generator in generators_of(vars(thing))]
        except Exception:
            return []

    def share(self, thing: Any) -> int | None:
        """Returns the number under which an object is shared, or None for one to be copied."""
        if self.reseeded and is_generator(thing):
            thing = self.chance.own(thing)
        elif self.reseeded and isinstance(thing, Space):
            thing = self.chance.space(thing)
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
