"""Openings of tournaments: random ones that a short search calls open, or given ones.

Both games of a pair begin with the same opening, so a pair is balanced even if the opening is not. A random opening is also
tried by a short search, since a decided position tells nothing about the players.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ucd_envs.kernels import CHANCE
from ucd_envs.rules import Rules, State
from ucd_envs.settings import integer, shown
from ucd_planners.presets import uct

TRIES = 8
"""Openings drawn for a pair. The most balanced one is taken where none is within `SLACK`."""
SLACK = 0.2
"""Greatest distance of the mover's value from 1/2 in an opening that is taken at once."""
GLANCE = 100
"""Playouts of the search that values an opening."""
MOST_PLIES = 1000


@dataclass(frozen=True)
class RandomOpenings:
    """A number of random plies, drawn for each pair from its number and a seed.

    An opening is taken if UCT with 100 playouts gives the mover a value from 0.3 to 0.7; of 8 that fail, the one nearest to
    1/2 is. plies: 0 to 1000; seed: any whole number from 0.
    """

    plies: int
    seed: int = 0

    def __post_init__(self) -> None:
        integer("plies", self.plies, 0, MOST_PLIES)
        integer("seed", self.seed, 0, 2**64 - 1)

    def moves(self, rules: Rules, pair: int) -> Sequence[int]:
        """Returns the opening of a pair. Raises ValueError where every one of 8 draws ends the game."""
        return _drawn(rules, self.plies, self.seed, pair) if self.plies else ()

    def facts(self) -> Any:
        """Returns the plies, the seed and the test."""
        return {"plies": self.plies, "seed": self.seed, "tries": TRIES, "playouts": GLANCE, "slack": SLACK}


@dataclass(frozen=True)
class GivenOpenings:
    """Openings in a list, which begins again at its end. Each is the texts of its moves, separated by blanks."""

    texts: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.texts:
            raise ValueError("there are no openings: expected a line of moves for each")

    def moves(self, rules: Rules, pair: int) -> Sequence[int]:
        """Returns the opening of a pair. Raises ValueError for an illegal move, and for an end of the game."""
        return _played(rules, self.texts[pair % len(self.texts)])

    def facts(self) -> Any:
        """Returns the list."""
        return list(self.texts)

    def check(self, rules: Rules) -> None:
        """Raises ValueError for an opening that is not legal in a game or ends it."""
        for pair in range(len(self.texts)):
            self.moves(rules, pair)


Openings = RandomOpenings | GivenOpenings


def openings_in(path: str) -> GivenOpenings:
    """Returns the openings of a file, one a line; empty lines and those that begin with # are passed over.

    Raises ValueError for a file that cannot be read.
    """
    try:
        lines = [line.strip() for line in Path(path).read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"the openings in {path} cannot be read: {error}") from None
    return GivenOpenings(tuple(line for line in lines if line and not line.startswith("#")))


@lru_cache(maxsize=4096)
def _drawn(rules: Rules, plies: int, seed: int, pair: int) -> tuple[int, ...]:
    """Returns the most balanced opening of several draws, the first one that is balanced enough."""
    draw = random.Random(f"{seed} {pair}")
    judge = uct(playouts=GLANCE)
    best: tuple[float, tuple[int, ...]] = (1.0, ())
    for _ in range(TRIES):
        state, line = rules.initial_state(), list[int]()
        while len(line) < plies and not state.over:
            line.append(_random(state, draw))
            state = state.after(line[-1])
        while state.player == CHANCE:
            line.append(_random(state, draw))
            state = state.after(line[-1])
        if state.over:
            continue
        judge.reset(draw.getrandbits(32))
        distance = abs(judge.search(state).value - 0.5)
        if distance < best[0]:
            best = distance, tuple(line)
        if distance <= SLACK:
            break
    if not best[1]:
        raise ValueError(f"{plies} random plies end every game of {rules}: use fewer")
    return best[1]


def _random(state: State, draw: random.Random) -> int:
    if state.player == CHANCE:
        import numpy as np

        return state.outcome(np.array([draw.getrandbits(64), draw.getrandbits(64)], np.uint64))
    return draw.choice(state.legal_actions())


@lru_cache(maxsize=4096)
def _played(rules: Rules, text: str) -> tuple[int, ...]:
    """Returns the actions of an opening."""
    state, line = rules.initial_state(), []
    for word in text.split():
        if state.over:
            raise ValueError(f"the opening {shown(text)} goes on after the end of the game")
        try:
            action = state.action_named(word)
            state = state.after(action)
        except ValueError:
            raise ValueError(f"the opening {shown(text)} is not legal: {word} cannot be played there") from None
        line.append(action)
    if state.over:
        raise ValueError(f"the opening {shown(text)} ends the game")
    return tuple(line)
