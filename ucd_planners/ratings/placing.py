"""Placing: games of a player against the rungs near its strength, until its place on the ladder is narrow enough."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

from ucd_envs.settings import integer, real
from ucd_planners.arena.agents import Player
from ucd_planners.arena.contest import Contest, Game, Match
from ucd_planners.arena.schedule import Batch, play_batches
from ucd_planners.arena.store import Store
from ucd_planners.arena.workers import Workers, workers
from ucd_planners.ratings.ladder import Ladder, Placed, narrow, next_rung, placed
from ucd_planners.ratings.openings import RandomOpenings
from ucd_planners.ratings.pairs import Pairing
from ucd_planners.ratings.rungs import PLIES

STEP = 10
"""Games between two choices of a rung."""


@dataclass
class Placing:
    """The games of a player against rungs of a ladder.

    agent: a player of a match; budget: for a planner that names none; games: the most to play, an even number from 2;
    factor: the placing ends when the interval's ends are apart by at most this factor, above 1; store: where games are kept,
    by default nowhere. Raises ValueError or TypeError, before any game, for what cannot be played.
    """

    ladder: Ladder
    agent: Player
    budget: dict[str, Any] = field(default_factory=lambda: {"playouts": 1000})
    games: int = 200
    factor: float = 3.0
    seed: int = 0
    store: Store | None = None
    failures: list[Game] = field(default_factory=list)
    """Games that failed, which count for nobody."""

    def __post_init__(self) -> None:
        if integer("games", self.games, 2, 10**6) % 2:
            raise ValueError(f"games must be an even number, since seats are swapped in pairs, not {self.games}")
        if real("factor", self.factor) <= 1:
            raise ValueError(f"factor must be above 1, not {self.factor}")
        self._played: dict[int, dict[int, Game]] = {}
        self._tried: dict[int, int] = {}
        self.match(self.ladder.rungs[0][0])

    def match(self, place: int) -> Match:
        """Returns the match against a rung, by its place: of all games, of which the first ones are played."""
        rung, openings = self.ladder.players[place], RandomOpenings(PLIES, self.seed)
        settings = self.ladder.settings
        return Match(self.ladder.game, self.agent, rung, settings, self.budget, self.games, self.seed, openings)

    def results(self) -> dict[int, list[float]]:
        """Returns the agent's mean payoff in the pairs against each rung, by the rung's place."""
        found = {
            place: Pairing((0, 1), tuple(games.values()), len(games)).scores for place, games in sorted(self._played.items())
        }
        return {place: scores for place, scores in found.items() if scores}

    @property
    def place(self) -> Placed | None:
        """Returns the place so far; None before the first pair of games."""
        results = self.results()
        return placed(self.ladder, results) if results else None

    @property
    def tried(self) -> int:
        """Returns the number of games that were begun, the failed ones included."""
        return sum(self._tried.values())

    def play(self, jobs: int = 1, progress: Callable[[Game], None] | None = None, executor: Executor | None = None) -> bool:
        """Plays until the place is narrow or the games are used up. Returns False if Ctrl-C ended it early.

        jobs, executor: as in play_batches.
        """
        with workers(executor, jobs) as team:
            while self.tried < self.games:
                place = next_rung(self.ladder, self.results())
                begin = self._tried.get(place, 0)
                count = min(STEP, self.games - self.tried)
                if not self._step(place, range(begin, begin + count), jobs, team, progress):
                    return False
                self._tried[place] = begin + count
                found = self.place
                if found is not None and self.tried >= 2 * STEP and narrow(found, self.factor):
                    break
        return True

    def _step(self, place: int, numbers: range, jobs: int, team: Workers, progress: Callable[[Game], None] | None) -> bool:
        """Plays some games against a rung, or takes them from the store."""
        match, games = self.match(place), self._played.setdefault(place, {})
        kept = [] if self.store is None else [game for game in self.store.games(match) if game.number in numbers]
        games.update({game.number: game for game in kept})
        missing = [number for number in numbers if number not in games]

        def keep(played: Contest, ended: list[Game]) -> None:
            games.update({game.number: game for game in ended if not game.failure})
            self.failures.extend(game for game in ended if game.failure)
            if self.store is not None:
                self.store.append(played, ended)

        def report(played: Contest, ended: list[Game]) -> None:
            for game in ended:
                if progress is not None:
                    progress(game)

        return play_batches([Batch(match, missing)] if missing else [], keep, jobs, team, report)
