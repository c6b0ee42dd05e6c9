"""Tournaments: who plays whom, in pairs of games with seats swapped, as matches that one store keeps.

A pairing's games depend on the two players, the game, the openings and the seed, and on nothing else: not on the other
players, their order, the engine, the workers or the number of games.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from ucd_envs import registry
from ucd_envs.rules import Rules
from ucd_envs.settings import integer, one_of
from ucd_planners.arena.agents import Player, canonical_player, label
from ucd_planners.arena.contest import Game, Match
from ucd_planners.arena.store import Store
from ucd_planners.ratings.openings import GivenOpenings, Openings, RandomOpenings
from ucd_planners.ratings.pairs import Pairing

FORMS = ("round-robin", "gauntlet", "ladder")
"""All against all; the first against all others; each against the next one."""


@dataclass(frozen=True)
class Tournament:
    """A tournament of at least two different players, each a player of a match.

    form: one of FORMS; games: those of each pairing, an even number; openings: two random plies by default. Other parameters
    are those of a match. Raises ValueError or TypeError, before any game, for anything that cannot be played.
    """

    game: str
    players: Sequence[Player]
    form: str = "round-robin"
    settings: Mapping[str, Any] = field(default_factory=dict)
    budget: Mapping[str, Any] = field(default_factory=lambda: {"playouts": 1000})
    games: int = 100
    seed: int = 0
    openings: Openings | None = None

    def __post_init__(self) -> None:
        one_of("a tournament's form", self.form, FORMS)
        if len(self.players) < 2:
            raise ValueError(f"a tournament needs at least two players, not {len(self.players)}")
        texts = [name_of(player, self.budget) for player in self.players]
        for place, text in enumerate(texts):
            if text in texts[:place]:
                raise ValueError(f"{label(self.players[place])} is there twice: players of a tournament are different")
        if isinstance(self.openings, GivenOpenings):
            self.openings.check(self.rules)
        self.matches()

    @property
    def rules(self) -> Rules:
        """Returns the rules of the game."""
        return registry.make_rules(self.game, **self.settings)

    @property
    def labels(self) -> tuple[str, ...]:
        """Returns the players' texts, in their order."""
        return tuple(map(label, self.players))

    def places(self) -> list[tuple[int, int]]:
        """Returns the two players of each pairing, by their places."""
        count = len(self.players)
        if self.form == "gauntlet":
            return [(0, other) for other in range(1, count)]
        if self.form == "ladder":
            return [(place, place + 1) for place in range(count - 1)]
        return list(combinations(range(count), 2))

    def matches(self) -> list[Match]:
        """Returns the match of each pairing."""
        return [
            paired(
                self.game, self.players[i], self.players[j], self.settings, self.budget, self.games, self.seed, self.openings
            )
            for i, j in self.places()
        ]

    def pairings(self, games_of: Callable[[Match], Sequence[Game]]) -> list[Pairing]:
        """Returns the results of each pairing, given a function that returns a match's games."""
        found = []
        for (i, j), match in zip(self.places(), self.matches(), strict=True):
            swapped = match.a is not self.players[i]
            found.append(Pairing((j, i) if swapped else (i, j), tuple(games_of(match)), self.games))
        return found


def paired(
    game: str,
    one: Player,
    other: Player,
    settings: Mapping[str, Any],
    budget: Mapping[str, Any],
    games: int,
    seed: int,
    openings: Openings | None = None,
) -> Match:
    """Returns the match of two players, whichever is named first.

    Its seed follows from the texts of the two and that of the tournament. Openings are two random plies by default, the same
    in all pairings of a tournament.
    """
    integer("seed", seed, 0, 2**64 - 1)
    (first, a), (second, b) = sorted([(name_of(one, budget), one), (name_of(other, budget), other)], key=lambda each: each[0])
    chosen = RandomOpenings(2, seed) if openings is None else openings
    own = (seed << 32) + zlib.crc32(f"{first} {second}".encode())
    return Match(game, a, b, settings, budget, games, own % 2**64, chosen)


def name_of(player: Player, budget: Mapping[str, Any]) -> str:
    """Returns the canonical text of a player, or the name of one that was given as an object."""
    return canonical_player(player, budget) if isinstance(player, str) else label(player)


def claim(tournament: Tournament, store: Store) -> None:
    """Makes a store that of a tournament. Raises ValueError for one with games of something else.

    A tournament may grow by players and by games; its game, seed, openings and budgets stay.
    """
    kept = {key: tournament.matches()[0].facts()[key] for key in ("game", "settings", "openings")}
    for summary in store.summaries():
        if {key: summary.about.get(key) for key in kept} != kept:
            raise ValueError(f"{store.path} holds games of another tournament or match: name another store")
