"""Opponents of a learner in one seat of a game: random players, functions, planners and agents."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ucd_envs.envs.turns import RANDOM, SEES
from ucd_envs.registry import load, sentence
from ucd_envs.rng import below
from ucd_envs.rules import Rules
from ucd_envs.settings import shown

AGENTS = "ucd_planners.arena.agents:agent_from"
"""The function that makes agents of texts. It is loaded when a text is used: environments import no planner."""
RESIGNS = object()
"""The answer of an opponent that resigns."""
KINDS = (
    "'random', the text of a planner or agent, a function of observation, mask and rng, a planner with act, or an agent with "
    "begin and choose"
)

Seen = dict[str, np.ndarray]
"""Observation and action mask of the agent to move; empty for an opponent that is shown none."""


class Opponent(Protocol):
    """The interface of opponents to a view."""

    kind: int
    """RANDOM, SEES, or 0 for an opponent that is asked for each move and looks at the environment itself."""
    hears: bool
    """Whether it reads `moves`."""
    rng: np.ndarray
    """Generator of random moves: [2] uint64."""

    def begin(self, generator: np.random.Generator) -> None:
        """Begins a game. All random choices follow from the generator."""
        ...

    def choose(self, env: Any, seen: Seen, moves: Sequence[tuple[int, int]]) -> Any:
        """Returns an action in an environment. `moves` are player and action of each move since the start, those of chance
        too."""
        ...


class RandomOpponent:
    """Legal moves, all equally likely."""

    kind, hears = RANDOM, False

    def __init__(self) -> None:
        self.rng = np.ones(2, np.uint64)

    def begin(self, generator: np.random.Generator) -> None:
        """Begins a sequence of random numbers."""
        self.rng[:] = generator.bit_generator.random_raw(2)

    def choose(self, env: Any, seen: Seen, moves: Sequence[tuple[int, int]]) -> Any:
        """Returns one of the legal actions."""
        legal = np.flatnonzero(seen["action_mask"])
        return int(legal[int(below(self.rng, np.uint64(len(legal))))])

    def __str__(self) -> str:
        return "random"


class FunctionOpponent(RandomOpponent):
    """A function of observation, [rows, columns, planes] or as the view shows it, mask, [actions] int8, and a generator."""

    kind = SEES

    def __init__(self, function: Callable[[np.ndarray, np.ndarray, np.random.Generator], Any]) -> None:
        super().__init__()
        self.function = function

    def begin(self, generator: np.random.Generator) -> None:
        """Keeps the generator, which is the function's third argument."""
        self.generator = generator

    def choose(self, env: Any, seen: Seen, moves: Sequence[tuple[int, int]]) -> Any:
        """Returns the function's action."""
        return self.function(seen["observation"], seen["action_mask"], self.generator)

    def __str__(self) -> str:
        return getattr(self.function, "__name__", None) or shown(self.function)


class PlannerOpponent(RandomOpponent):
    """A planner: `act(env)` returns an action, and `reset(seed)`, where it has one, begins a game."""

    kind = 0

    def __init__(self, planner: Any) -> None:
        super().__init__()
        self.planner = copy.copy(planner)  # the user's planner keeps its seed, and no two games share one

    def begin(self, generator: np.random.Generator) -> None:
        """Begins a reproducible sequence of searches."""
        if callable(getattr(self.planner, "reset", None)):
            self.planner.reset(generator.bit_generator.random_raw())

    def choose(self, env: Any, seen: Seen, moves: Sequence[tuple[int, int]]) -> Any:
        """Returns the planner's action."""
        return self.planner.act(env)

    def __str__(self) -> str:
        return getattr(self.planner, "name", None) or type(self.planner).__name__


class AgentOpponent(RandomOpponent):
    """An agent of a match: `begin(rules, seed, stop)` and `choose(state, moves)`, which returns a move with its `action`."""

    kind, hears = 0, True

    def __init__(self, agent: Any, rules: Rules, name: str | None = None) -> None:
        super().__init__()
        self.agent, self.rules, self.name = agent, rules, name

    def begin(self, generator: np.random.Generator) -> None:
        """Begins a game with a seed."""
        self.agent.begin(self.rules, generator.bit_generator.random_raw(), None)

    def choose(self, env: Any, seen: Seen, moves: Sequence[tuple[int, int]]) -> Any:
        """Returns the agent's action, or RESIGNS."""
        action = self.agent.choose(env.clone_state(), moves).action
        return RESIGNS if action is None else action

    def __str__(self) -> str:
        return self.name or type(self.agent).__name__


def opponent_from(given: Any, rules: Rules | None) -> Opponent:
    """Returns the opponent that a user names or gives. rules: of a game of this package, None for other environments.

    Raises TypeError for an object that is none, ValueError for a text that names none, and for an agent in an environment of
    others.
    """
    name = None
    if isinstance(given, str):
        if given == "random":
            return RandomOpponent()
        name, agent = given, load(AGENTS)(given, {})
        given = getattr(agent, "planner", agent)  # a planner is asked for its move alone, not for a whole result
    if isinstance(given, type):
        raise TypeError(f"an opponent is {KINDS}, not the class {given.__name__}")
    if callable(getattr(given, "act", None)):
        return PlannerOpponent(given)
    if callable(getattr(given, "begin", None)) and callable(getattr(given, "choose", None)):
        if rules is None:
            raise ValueError(f"the opponent {name or type(given).__name__} plays the games of ucd_envs only")
        return AgentOpponent(given, rules, name)
    if not callable(given):
        raise TypeError(f"an opponent is {KINDS}, not {shown(given)}")
    return FunctionOpponent(given)


def answer(opponent: Opponent, env: Any, seen: Seen, moves: Sequence[tuple[int, int]]) -> Any:
    """Returns an opponent's action. Raises RuntimeError with one sentence for an opponent that raises."""
    try:
        return opponent.choose(env, seen, moves)
    except Exception as error:
        raise RuntimeError(f"the opponent {opponent} failed: {sentence(error)}") from error


def started(opponent: Opponent, generator: np.random.Generator) -> None:
    """Begins an opponent's game. Raises RuntimeError with one sentence for an opponent that raises."""
    try:
        opponent.begin(generator)
    except Exception as error:
        raise RuntimeError(f"the opponent {opponent} failed: {sentence(error)}") from error
