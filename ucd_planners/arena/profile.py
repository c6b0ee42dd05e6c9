"""Statistics of a planner's playouts [BHRF section 4]: locality, matches of an expert's patterns, and moves from policies.

`profile` has those of searches from given positions; ProfiledGames, a contest, those of whole games in which a planner plays
all seats, so that what its policies have learned goes on from move to move.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ucd_envs import registry
from ucd_envs.kernels import CHANCE
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_envs.settings import integer, shown
from ucd_envs.structs import fields
from ucd_planners.arena.agents import seed_of
from ucd_planners.arena.contest import Game
from ucd_planners.arena.interface import Stop, obey
from ucd_planners.go.patterns import is_go
from ucd_planners.go.shapes import SHAPES, GoShapes
from ucd_planners.notation import canonical, planner_from
from ucd_planners.planner import MOST_EDGES, Planner
from ucd_planners.playouts import PlayoutPolicy
from ucd_planners.playouts.recording import LOCALITY, Locality
from ucd_planners.result import SearchResult
from ucd_planners.search.interface import MOST_POLICIES

MEASURES = ("near", "suggested", "pattern", "near pattern")
"""Shares of a profile: of the pairs of moves, those that are near; of all moves, those that a policy suggested, those of an
expert's pattern, and those of one around the move before. The last two are known in Go only."""


@dataclass(frozen=True)
class Profile:
    """Counts over the playouts of searches. Shares are of all moves of playouts, unless stated otherwise."""

    playouts: int
    moves: int
    near: int
    """Moves at most NEAR lines and columns from the previous move, out of `pairs`: moves for which both are cells of the
    board."""
    pairs: int
    matched: int | None
    """Moves in the middle of an expert's pattern; None for games without an expert."""
    answers: int | None
    """Matched moves on the eight points around the previous move, where an expert plays patterns."""
    suggested: tuple[tuple[PlayoutPolicy, int], ...]
    """Each active policy and the number of moves that it suggested."""

    @property
    def shares(self) -> dict[str, float]:
        """Returns the shares, in [0, 1], by those of MEASURES that are known; 0 where there are no moves."""
        moves = max(self.moves, 1)
        found = {"near": self.near / max(self.pairs, 1), "suggested": sum(count for _, count in self.suggested) / moves}
        if self.matched is not None and self.answers is not None:
            found |= {"pattern": self.matched / moves, "near pattern": self.answers / moves}
        return found


def profile(planner: Planner, states: Iterable[State]) -> Profile:
    """Returns the profile of a planner's playouts in one search from each state.

    Raises ValueError without states and for a planner without room for two more policies, and as `Planner.search` does.
    """
    states = list(states)
    if not states:
        raise ValueError("a profile needs at least one position")
    recorder = Recorder(planner, states[0].rules)
    return added([recorder.search(state)[1] for state in states])


def added(profiles: Sequence[Profile]) -> Profile:
    """Returns the profiles of searches of one planner, at least one, as one."""
    first = profiles[0]
    playouts, moves, near, pairs = (
        sum(getattr(each, name) for each in profiles) for name in ("playouts", "moves", "near", "pairs")
    )
    matched, answers = (
        None if getattr(first, name) is None else sum(getattr(each, name) for each in profiles)
        for name in ("matched", "answers")
    )
    suggested = tuple(
        (policy, sum(each.suggested[place][1] for each in profiles)) for place, (policy, _) in enumerate(first.suggested)
    )
    return Profile(playouts, moves, near, pairs, matched, answers, suggested)


class Recorder:
    """A copy of a planner that searches as it would and counts the moves of its playouts, which leaves the planner alone."""

    def __init__(self, planner: Planner, rules: Rules) -> None:
        """Raises ValueError for a planner without room for the policies that count."""
        self.in_go = is_go(rules)
        own: tuple[PlayoutPolicy, ...] = (Locality(), GoShapes()) if self.in_go else (Locality(),)
        if len(own) + len(planner.policies) > MOST_POLICIES:
            raise ValueError(
                f"a profile can be made of {MOST_POLICIES - len(own)} policies at most, not {len(planner.policies)}"
            )
        self.asked, self.first = planner.asked, len(own)
        self.planner = copy.copy(planner)
        self.planner.policies, self.planner._workers = (*own, *planner.policies), []
        self.planner._settings = self.planner._settings._replace(policies=self.planner.asked)

    def search(self, state: State, **call: Any) -> tuple[SearchResult, Profile]:
        """Searches from a state, as `Planner.search` does; the result, and the profile of its playouts."""
        result = self.planner.search(state, **call)
        moves = near = pairs = matched = answers = 0
        suggested = [0] * len(self.asked)
        for worker in self.planner._workers:
            counts = fields(worker.sim.memories[0], LOCALITY)
            moves += int(counts.moves)
            near, pairs = near + int(counts.near), pairs + int(counts.pairs)
            if self.in_go:
                shapes = fields(worker.sim.memories[1], SHAPES)
                matched, answers = matched + int(shapes.matched), answers + int(shapes.answers)
            for place in range(len(self.asked)):
                suggested[place] += int(worker.sim.policies["suggested"][self.first + place])
        told = tuple(zip(self.asked, suggested, strict=True))
        known = (matched, answers) if self.in_go else (None, None)
        return result, Profile(result.playouts, moves, near, pairs, known[0], known[1], told)


@dataclass(frozen=True)
class ProfiledGames:
    """Whole games of a planner that plays all seats, and the profiles of its playouts in them.

    game: a name as in ucd_envs.make, whose first actions are the cells of its board; planner: in the notation of
    ucd_planners.notation, without a budget of its own; settings: those of the game; playouts: of each search; games: number of
    games; seed: of all. A game's payoffs are the shares of its profile, in the order of `measures`, over the playouts of all
    its searches. Policies keep what they learned from move to move, as in any game; a graph only with reuse_graph.

    Raises ValueError or TypeError, before any game, for anything that cannot be played.
    """

    game: str
    planner: str
    settings: Mapping[str, Any]
    playouts: int
    games: int
    seed: int = 0

    def __post_init__(self) -> None:
        integer("games", self.games, 1, 10**9)
        integer("seed", self.seed, 0, 2**62)
        integer("playouts", self.playouts, 1, MOST_EDGES)
        if not isinstance(self.settings, Mapping):
            raise TypeError(f"settings must be a dict, not {shown(self.settings)}")
        planner = planner_from(self.planner)
        if planner.playouts is not None or planner.seconds is not None:
            raise ValueError(f"a planner whose playouts are profiled has no budget of its own, as {shown(self.planner)} has")
        Recorder(planner, self.rules).planner.check(self.rules)

    @property
    def rules(self) -> Rules:
        """Returns the rules of the game."""
        return registry.make_rules(self.game, **self.settings)

    @property
    def measures(self) -> tuple[str, ...]:
        """Returns the shares that are known of its playouts, in the order of a game's payoffs."""
        return MEASURES if is_go(self.rules) else MEASURES[:2]

    @property
    def sides(self) -> int:
        """Returns the number of shares."""
        return len(self.measures)

    def play(self, number: int, stop: Stop | None = None) -> Game:
        """Plays one game. Raises StoppedError soon after `stop` is set."""
        began, cpu = time.perf_counter(), time.thread_time()
        planner = planner_from(self.planner, playouts=self.playouts, seed=seed_of(self.seed, number, 0))
        recorder, chance = Recorder(planner, self.rules), seeded(self.seed, number, 1)
        state, found = self.rules.initial_state(), []

        while not state.over:
            if state.player == CHANCE:
                state = state.after(state.outcome(chance))
                continue
            result, of_search = recorder.search(state, progress=lambda playouts, seconds: obey(stop))
            found.append(of_search)
            state = state.after(result.action)
        whole = added(found)
        shares = tuple(whole.shares[measure] for measure in self.measures)
        spent = (*[0.0] * (len(shares) - 1), time.thread_time() - cpu)
        playouts = (*[0] * (len(shares) - 1), whole.playouts)
        return Game(number, 0, (), shares, playouts, spent, time.perf_counter() - began)

    def facts(self) -> dict[str, Any]:
        """Returns everything that decides the shares."""
        rules = self.rules
        about = {"study": canonical(self.planner), "game": rules.reference or rules.name, "settings": rules.settings}
        return {**about, "seed": self.seed, "playouts": self.playouts, "measures": list(self.measures)}
