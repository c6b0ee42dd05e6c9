"""Random generators: a search draws from generators of its own and leaves those of an environment as they were.

Generators among an environment's attributes are replaced by own ones in its copy, a kind by one of the same kind. Spaces are
replaced by copies that draw from an own generator. Generators that are found outside the attributes stay in their place: the
global ones of `random` and `numpy.random`, those of the environment's classes and of the modules of its classes. They have
numbers of the search while it lasts, and then the state that they had before.

`random.SystemRandom` draws from the operating system. It has no state, so it is shared.
"""

from __future__ import annotations

import copy
import io
import pickle
import random
import sys
import weakref
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from gymnasium.spaces import Space

GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)
GLOBAL: tuple[Any, ...] = (random.random.__self__, np.random.mtrand._rand)  # type: ignore[attr-defined]
"""The generators behind the functions of `random` and `numpy.random`."""


def is_generator(thing: Any) -> bool:
    """Returns whether an object is a random generator with a state."""
    return isinstance(thing, GENERATORS) and not isinstance(thing, random.SystemRandom)


class Chance:
    """The generators that a search draws from. They continue from one simulation to the next and start anew with `reseed`."""

    def __init__(self) -> None:
        self._seed = 0
        self._own: dict[Hashable, Any] = {}
        self._known_spaces: dict[int, tuple[weakref.ref[Space[Any]], Space[Any]]] = {}
        self._spaces: list[Space[Any]] = []
        self._streams: dict[int, tuple[Any, Any]] = {}
        self._inside = False

    def reseed(self, seed: int) -> None:
        """Begins new sequences of random numbers."""
        self._seed = seed
        for number, generator in enumerate(self._own.values()):
            set_state(generator, state_of(seeded_like(generator, (seed, number))))
        self._streams.clear()

    def own(self, generator: Any) -> Any:
        """Returns the own generator in place of one of an environment: one for each kind."""
        inner = getattr(generator, "bit_generator", None) or getattr(generator, "_bit_generator", None)
        kind = type(generator), type(inner)
        if kind not in self._own:
            self._own[kind] = seeded_like(generator, (self._seed, len(self._own)))
        return self._own[kind]

    def space(self, space: Space[Any]) -> Space[Any]:
        """Returns a copy of a space that draws from an own generator, the same one for equal spaces."""
        known = self._known_spaces.get(id(space))
        if known is None or known[0]() is not space:
            twin = next((twin for twin in self._spaces if twin is space or (type(twin) is type(space) and twin == space)), None)
            if twin is None:
                twin = copy.deepcopy(space)
                twin.seed(0)  # from here on, spaces inside this one have generators too
                twin = copy.deepcopy(twin, {id(generator): self.own(generator) for generator in generators_of(twin)})
                self._spaces.append(twin)
            known = self._known_spaces[id(space)] = weakref.ref(space), twin
        return known[1]

    @contextmanager
    def apart(self, env: Any) -> Iterator[None]:
        """Gives the generators outside an environment's attributes numbers of the search, and their own state in the end."""
        if self._inside:
            yield
            return
        found = outside(env)
        before = [state_of(generator) for generator in found]
        self._inside = True
        try:
            for number, generator in enumerate(found):
                known, state = self._streams.get(id(generator), (None, None))
                if known is not generator:
                    state = state_of(seeded_like(generator, (self._seed, number, 1)))
                set_state(generator, state)
            yield
        finally:
            for generator, state in zip(found, before, strict=True):
                self._streams[id(generator)] = generator, state_of(generator)
                set_state(generator, state)
            self._inside = False


class _Finder(pickle.Pickler):
    """A pickler that lists the generators it meets."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), pickle.HIGHEST_PROTOCOL)
        self.found: list[Any] = []

    def persistent_id(self, thing: Any) -> int | None:
        """Lists a generator."""
        if not is_generator(thing):
            return None
        self.found.append(thing)
        return len(self.found)


def generators_of(thing: Any) -> list[Any]:
    """Returns the generators inside an object. Raises as pickling does for one that cannot be pickled."""
    finder = _Finder()
    finder.dump(thing)
    return finder.found


def outside(env: Any) -> list[Any]:
    """Returns the generators that an environment may draw from though they are none of its attributes."""
    found = {id(generator): generator for generator in GLOBAL}
    for kind in type(env).__mro__:
        for holder in (kind, sys.modules.get(kind.__module__)):
            for value in list(vars(holder).values()) if holder else ():
                drawing = [value] if is_generator(value) else generators_of(value) if isinstance(value, Space) else []
                found |= {id(generator): generator for generator in drawing}
    return list(found.values())


def seeded_like(generator: Any, seed: tuple[int, ...]) -> Any:
    """Returns a seeded generator of the same kind as another."""
    kind: Any = type(generator)
    if isinstance(generator, random.Random):
        made = kind.__new__(kind)
        vars(made).update(copy.deepcopy(getattr(generator, "__dict__", {})))
        made.seed(int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]))
        return made
    if isinstance(generator, np.random.BitGenerator):
        return kind(np.random.SeedSequence(seed))
    inner = generator.bit_generator if isinstance(generator, np.random.Generator) else generator._bit_generator
    return kind(seeded_like(inner, seed))


def state_of(generator: Any) -> Any:
    """Returns a generator's state."""
    if isinstance(generator, random.Random):
        return generator.getstate()
    if isinstance(generator, np.random.RandomState):
        return generator.get_state(legacy=False)
    return getattr(generator, "bit_generator", generator).state


def set_state(generator: Any, state: Any) -> None:
    """Gives a generator a state of one of its kind."""
    if isinstance(generator, random.Random):
        generator.setstate(state)
    elif isinstance(generator, np.random.RandomState):
        generator.set_state(state)
    else:
        getattr(generator, "bit_generator", generator).state = state
