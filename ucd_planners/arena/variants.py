"""Planners that search a match's game under other settings: those that change how a game is searched, not how it is played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ucd_envs import registry
from ucd_envs.rules import Rules, State
from ucd_planners.arena.agents import Move, PlannerAgent, Stop
from ucd_planners.notation import planner_from
from ucd_planners.planner import Planner


class VariantAgent(PlannerAgent):
    """A planner that searches every position under the match's settings with some of them replaced.

    The records of both games must have the same fields, and a state of one must be a state of the other.
    """

    def __init__(self, planner: Planner, budget: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        super().__init__(planner, budget)
        self.settings = dict(settings)

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """Begins a reproducible sequence of searches. Raises ValueError for a game whose states have another form."""
        super().begin(rules, seed, stop)
        self.variant = registry.make_rules(rules.name, **{**rules.settings, **self.settings})
        if (self.variant.state_bytes, self.variant.actions) != (rules.state_bytes, rules.actions):
            raise ValueError(f"states of {rules} are no states of {self.variant}")

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Move:
        """Returns the move that a search of the variant chooses. Ctrl-C raises KeyboardInterrupt."""
        return super().choose(State(self.variant, state.data), moves)


def variant(planner: str, *, playouts: int | None = None, seconds: float | None = None, **settings: Any) -> VariantAgent:
    """Returns a planner, in the notation of ucd_planners.notation, that searches under other settings of the game.

    playouts, seconds: its budget if the text has none. Raises as `planner_from` does, and TypeError or ValueError for settings
    that the game does not have, when a game begins.
    """
    made = planner_from(planner)
    own = made.playouts is not None or made.seconds is not None
    budget = {key: value for key, value in (("playouts", playouts), ("seconds", seconds)) if value is not None}
    return VariantAgent(made, {} if own else budget, settings)
