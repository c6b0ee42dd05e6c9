"""Studies: searches of one planner on many problems whose right moves are known, and its error over the playouts."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ucd_envs import registry
from ucd_envs.rules import Rules
from ucd_envs.settings import integer, shown
from ucd_planners.arena.contest import Game
from ucd_planners.arena.interface import Stop, obey
from ucd_planners.notation import canonical, planner_from
from ucd_planners.planner import MOST_EDGES


@dataclass(frozen=True)
class Study:
    """Searches of a planner from the starts of games that differ in their seed.

    game: a name as in ucd_envs.make, of a game with a setting `seed` whose rules tell right moves; planner: in the notation of
    ucd_planners.notation, with one worker and without a budget of its own; settings: those of the game but its seed; playouts:
    the numbers after which moves are compared, ascending; runs: of the searches of a game, how many go so far, descending;
    games: number of games; seed: of games and searches. Game n has the seed `seed + n`. Its payoffs are the shares of right
    moves after each number of playouts.

    Raises ValueError or TypeError, before any game, for anything that cannot be played, but a game that is too large to solve:
    `play` raises what its rules raise.
    """

    game: str
    planner: str
    settings: Mapping[str, Any]
    playouts: tuple[int, ...]
    runs: tuple[int, ...]
    games: int
    seed: int = 0

    def __post_init__(self) -> None:
        integer("games", self.games, 1, 10**9)
        integer("seed", self.seed, 0, 2**62)
        goals, runs = whole_numbers("playouts", self.playouts), whole_numbers("runs", self.runs)
        if any(later <= goal for goal, later in pairwise(goals)):
            raise ValueError(f"playouts must ascend, not {self.playouts}")
        if len(runs) != len(goals) or runs != sorted(runs, reverse=True):
            raise ValueError(f"runs must be a number for each of playouts, descending, not {self.runs}")
        if not isinstance(self.settings, Mapping):
            raise TypeError(f"settings must be a dict, not {shown(self.settings)}")
        if "seed" in self.settings:
            raise ValueError("a study gives each game its seed: settings go without one")
        rules = self.rules(0)
        if rules.solution is None:
            raise ValueError(f"{self.game} does not tell right moves")
        planner = planner_from(self.planner)
        if planner.workers > 1 or planner.playouts is not None or planner.seconds is not None:
            raise ValueError(f"a study's planner has one worker and no budget of its own, not {shown(self.planner)}")
        if planner.options.reuse_graph or planner.stop_early:
            raise ValueError(f"a study's planner goes without reuse_graph and stop_early, not {shown(self.planner)}")
        planner.check(rules)

    def rules(self, number: int) -> Rules:
        """Returns the rules of a game."""
        return registry.make_rules(self.game, **self.settings, seed=self.seed + number)

    @property
    def sides(self) -> int:
        """Returns the number of numbers of playouts."""
        return len(self.playouts)

    def play(self, number: int, stop: Stop | None = None) -> Game:
        """Searches one game. Raises StoppedError soon after `stop` is set."""
        began, cpu = time.perf_counter(), time.thread_time()
        state = self.rules(number).initial_state()
        solution = state.rules.solution
        assert solution is not None
        right, planner = set(solution(state)), planner_from(self.planner)
        hits = np.zeros(len(self.playouts), np.int64)
        planner.reset(int(np.random.SeedSequence((self.seed, number)).generate_state(1, np.uint64)[0]))

        for run in range(self.runs[0]):
            goals = [goal for goal, runs in zip(self.playouts, self.runs, strict=True) if run < runs]
            moves = planner.moves_after(state, goals, progress=lambda playouts, seconds: obey(stop))
            hits[: len(moves)] += [move in right for move in moves]
        shares = tuple(float(hit / runs) for hit, runs in zip(hits, self.runs, strict=True))
        spent = [0.0] * (len(shares) - 1) + [time.thread_time() - cpu]
        return Game(number, 0, (), shares, self.simulations, tuple(spent), time.perf_counter() - began)

    @property
    def simulations(self) -> tuple[int, ...]:
        """Returns the playouts of a game's searches that end at each number."""
        fewer = (*self.runs[1:], 0)
        return tuple((runs - more) * goal for goal, runs, more in zip(self.playouts, self.runs, fewer, strict=True))

    def facts(self) -> dict[str, Any]:
        """Returns everything that decides the shares."""
        return dict(self._facts)

    @cached_property
    def _facts(self) -> dict[str, Any]:
        """The facts, found once: a store asks for them with each batch, and the rules of a large game take time to make."""
        rules = self.rules(0)
        settings = {key: value for key, value in rules.settings.items() if key != "seed"}
        return {
            "study": canonical(self.planner),
            **{"game": rules.reference or rules.name, "settings": settings, "seed": self.seed},
            **{"playouts": list(self.playouts), "runs": list(self.runs)},
        }


def whole_numbers(name: str, numbers: Any) -> list[int]:
    """Returns numbers as a list. Raises TypeError or ValueError for none at all and for any but whole ones from 1."""
    if isinstance(numbers, str) or not isinstance(numbers, Sequence) or not numbers:
        raise TypeError(f"{name} must be a tuple of whole numbers, not {shown(numbers)}")
    return [integer(name, number, 1, MOST_EDGES) for number in numbers]
