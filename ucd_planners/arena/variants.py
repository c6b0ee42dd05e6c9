"""Planners that search another variant of a match's game: one with the same states, but other legal moves or other playouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ucd_envs import registry
from ucd_envs.rules import Rules, State
from ucd_planners.arena.agents import Move, PlannerAgent, Stop, budget_of
from ucd_planners.grammar import parse
from ucd_planners.notation import planner_from
from ucd_planners.planner import Planner


class VariantAgent(PlannerAgent):
    """A planner that searches each position of a match as one of other rules, whose states must have the same fields."""

    def __init__(self, planner: Planner, budget: Mapping[str, Any], rules: Rules) -> None:
        super().__init__(planner, budget)
        self.rules = rules

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """Begins a reproducible sequence of searches. Raises ValueError for a game of other states."""
        if (self.rules.name, self.rules.layout, self.rules.actions) != (rules.name, rules.layout, rules.actions):
            raise ValueError(f"{self.rules} is no variant of {rules}: it has other states or actions")
        super().begin(rules, seed, stop)

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Move:
        """Returns the move that a search of the variant chooses. Ctrl-C raises KeyboardInterrupt."""
        return super().choose(State(self.rules, state.data), moves)


def variant(planner: str, game: str, playouts: int | None = None, seconds: float | None = None) -> VariantAgent:
    """Returns a planner that searches a variant of the game that it plays.

    planner: in the notation of ucd_planners.notation; game: the variant, in the same notation, such as "nogo(irrational=true)";
    playouts or seconds: the budget if the planner has none. Raises TypeError or ValueError for texts that name no planner or
    game.
    """
    name, settings = parse(game)
    return VariantAgent(planner_from(planner), budget_of(playouts, seconds), registry.make_rules(name, **settings))
