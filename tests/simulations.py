"""Simulations written by hand, and the kernels of policies asked about them from Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types

from ucd_envs.kernels import compiled, kernel, move_of
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields
from ucd_planners.playouts import Initial, PlayoutPolicy
from ucd_planners.search.graph import GRAPH
from ucd_planners.search.interface import INITIAL, LEARN, SUGGEST, learn_nothing, suggest_nothing
from ucd_planners.search.sim import SIM, Sim

Move = tuple[int, int]
"""A player and an action."""
NO_GRAPH = np.zeros(GRAPH.itemsize, np.uint8)
"""A graph without nodes."""


SUGGEST_EACH = types.void(types.FunctionType(SUGGEST), *SUGGEST.args[:-1], types.uint64[:, ::1], types.int64[::1])


@kernel(SUGGEST_EACH)
def suggest_each(suggest, playout_actions, is_playable, config, state, graph, sim, memory, rngs, found):
    """Suggestions in one state, one with each generator: rngs [number, 2], found [number]."""
    for i in range(len(found)):
        found[i] = suggest(playout_actions, is_playable, config, state, graph, sim, memory, rngs[i])


class WrittenSimulation(Sim):
    """A simulation of a game whose moves are written by hand."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules, traced=True, memories=(), initial=None)

    def write(self, moves: Sequence[Move], descent: int, payoffs: Sequence[float] = ()) -> Any:
        """Writes the moves so far, of which the first `descent` are the descent's; returns the record of kernels."""
        self.trace[: len(moves)] = [move_of(player, action) for player, action in moves]
        self.record.traced.length, self.record.leaf_depth = len(moves), descent
        self.payoffs[: len(payoffs)] = payoffs
        return fields(self.header, SIM)

    def suggestions(
        self, state: State, moves: Sequence[Move], policy: PlayoutPolicy, memory: np.ndarray, rngs: Sequence[np.ndarray]
    ) -> list[int]:
        """Returns the action, or -1, that a policy suggests in a state after these moves with each generator.

        The state stays as it is, and so do the generators.
        """
        kernels, array, suggest = state.rules.kernels, state.array(), compiled(policy.suggest, SUGGEST)
        known = kernels.playout_actions, kernels.is_playable, state.rules.config, array
        rest = fields(NO_GRAPH, GRAPH), self.write(moves, len(moves)), memory
        found = np.empty(len(rngs), np.int64)
        compiled(suggest_each, SUGGEST_EACH)(suggest, *known, *rest, np.array(rngs, np.uint64), found)
        assert array.tobytes() == state.data
        listed: list[int] = found.tolist()
        return listed


def teach(
    rules: Rules,
    policy: PlayoutPolicy,
    memory: np.ndarray,
    moves: Sequence[Move],
    payoffs: Sequence[float],
    descent: int = 0,
) -> bool:
    """Lets a policy learn from a simulation of these moves; returns whether there is room for another."""
    simulation = WrittenSimulation(rules)
    return bool(compiled(policy.learn, LEARN)(simulation.write(moves, descent, payoffs), memory))


def initial_stats(state: State, moves: Sequence[Move], initial: Initial) -> np.ndarray:
    """Returns virtual playouts and their payoffs of every legal action of a state after these moves: [actions, 2] float32."""
    rules, actions, simulation = state.rules, np.array(state.legal_actions(), np.int32), WrittenSimulation(state.rules)
    values = np.full((len(actions), 2), -1, np.float32)
    kernel, memory = compiled(initial.kernel, INITIAL), initial.memory(rules)
    kernel(rules.config, state.array(), simulation.write(moves, len(moves)), memory, actions, values)
    return values


@dataclass(frozen=True)
class Policy(PlayoutPolicy):
    """A playout policy of two kernels, with eight bytes of memory."""

    suggest: Any = suggest_nothing
    learn: Any = learn_nothing
    prob = 1.0

    def memory(self, rules: Rules) -> np.ndarray:
        """Eight bytes."""
        return np.zeros(8, np.uint8)

    def __str__(self) -> str:
        return "Policy()"
