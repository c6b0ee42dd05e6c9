"""Statistics of a planner's playouts [BHRF section 4]: locality, matches of an expert's patterns, and moves from policies."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass

from ucd_envs.rules import State
from ucd_envs.structs import fields
from ucd_planners.go.patterns import is_go
from ucd_planners.go.shapes import SHAPES, GoShapes
from ucd_planners.planner import Planner
from ucd_planners.playouts import PlayoutPolicy
from ucd_planners.playouts.recording import LOCALITY, Locality
from ucd_planners.search.interface import MOST_POLICIES


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


def profile(planner: Planner, states: Iterable[State]) -> Profile:
    """Returns the profile of a planner's playouts in one search from each state.

    Raises ValueError without states and for a planner without room for two more policies, and as `Planner.search` does.
    """
    states = list(states)
    if not states:
        raise ValueError("a profile needs at least one position")
    in_go = is_go(states[0].rules)
    recorders: tuple[PlayoutPolicy, ...] = (Locality(), GoShapes()) if in_go else (Locality(),)
    if len(recorders) + len(planner.policies) > MOST_POLICIES:
        raise ValueError(
            f"a profile can be made of {MOST_POLICIES - len(recorders)} policies at most, not {len(planner.policies)}"
        )
    watched = copy.copy(planner)
    watched.policies, watched._workers = (*recorders, *planner.policies), []
    watched._settings = watched._settings._replace(policies=watched.asked)
    asked = planner.asked
    playouts = moves = near = pairs = matched = answers = 0
    suggested = [0] * len(asked)
    for state in states:
        playouts += watched.search(state).playouts
        for worker in watched._workers:
            counts = fields(worker.sim.memories[0], LOCALITY)
            moves += int(counts.moves)
            near, pairs = near + int(counts.near), pairs + int(counts.pairs)
            if in_go:
                shapes = fields(worker.sim.memories[1], SHAPES)
                matched, answers = matched + int(shapes.matched), answers + int(shapes.answers)
            for place in range(len(asked)):
                suggested[place] += int(worker.sim.policies["suggested"][len(recorders) + place])
    told = tuple(zip(asked, suggested, strict=True))
    return Profile(playouts, moves, near, pairs, matched if in_go else None, answers if in_go else None, told)
