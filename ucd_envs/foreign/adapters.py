"""Adapters that give third-party environments the hooks that planners need.

A planner needs three hooks of an environment: `clone_state()`, a hashable snapshot that later moves do not change, equal for
equal positions; `restore_state(snapshot)`; and `clone()`, an independent environment in the same state. An environment that
has them needs no preparation: `planner.act(env)`. Any other needs an adapter, made once and passed to the planner instead:

    AECGame(env)       a PettingZoo AEC environment
    SingleGame(env)    a Gymnasium environment

An adapter copies the environment by its own hooks, by functions that the user names, or by pickling all of its attributes (see
snapshots.py), and plans in the copy. It never steps the environment itself. Wrappers are ignored: the raw environment is
copied and stepped.

Payoffs are total rewards since the root of the search, mapped from the user's `payoff_range` to [0, 1]. A total outside raises
an error, or counts as the nearest end with `clip`. A position is the value of `position(env)` together with the ply and the
total rewards so far. By default it is the pickled attributes. Equal attributes mean equal positions, but attributes that
depend on the path keep equal positions apart, so pass `position` to search in graphs.

Chance: with "reseeded" every simulation draws random numbers of the search, so the planner cannot foresee the real
environment's draws. Outcomes of a move are kept apart by the total rewards and the position that followed: the value of
`position`, or the environment's own snapshot, or by default the observation with the legal actions. Once a move has had a
second outcome, the search begins again with a position of CHANCE behind every move, whose edges are the outcomes. At most
`outcomes` of them are kept apart; a descent that meets another one ends there. With "copied" a copy repeats the draws of the
original, so the planner foresees the future. Functions of the user and an environment's own hooks decide for themselves. A
search leaves the environment's random numbers as they were (see chance.py), and `check` tells whether it has seen chance.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

from ucd_envs.foreign.callbacks import Callbacks
from ucd_envs.foreign.chance import is_generator
from ucd_envs.foreign.outcomes import fingerprint
from ucd_envs.foreign.reading import actions_of_mask, discrete, is_range, raw_environment
from ucd_envs.foreign.snapshots import Copier
from ucd_envs.kernels import OVER
from ucd_envs.rules import Rules, State
from ucd_envs.settings import integer, one_of, real

HOOKS = ("clone_state", "restore_state", "clone")
CHANCES = ("reseeded", "copied")
SLACK = 1e-9
"""Rounding error by which a payoff may lie outside its range."""
MOST_PLIES = 1_000_000
"""Largest value of `max_plies`."""
MOST_OUTCOMES = 10_000
"""Largest value of `outcomes`."""


@runtime_checkable
class Hooks(Protocol):
    """The three hooks."""

    def clone_state(self) -> Hashable:
        """Returns a snapshot that later moves do not change. Equal snapshots have equal futures."""

    def restore_state(self, state: Any) -> None:
        """Restores a snapshot."""

    def clone(self) -> Any:
        """Returns an independent environment in the same state."""


class Adapter(ABC):
    """Hooks, payoff range and live copy, the common part of both adapters. Searches play in the live copy."""

    players: int
    actions: int
    max_plies: int
    outcomes: int
    widening: float
    agents: list[str]

    def __init__(
        self,
        env: Any,
        *,
        clone_state: Callable[[Any], Any] | None = None,
        restore_state: Callable[[Any, Any], None] | None = None,
        clone: Callable[[Any], Any] | None = None,
        position: Callable[[Any], Hashable] | None = None,
        legal_actions: Callable[[Any], Iterable[int]] | None = None,
        constant: Sequence[str] = (),
        payoff_range: tuple[float, float] = (0.0, 1.0),
        clip: bool = False,
        max_plies: int = 1000,
        chance: str = "reseeded",
        outcomes: int = 32,
        widening: float = 1.0,
    ) -> None:
        """Adapts an environment.

        clone_state, restore_state: functions of the environment that copy and restore its state, both or neither; clone: a
        function of the environment that makes another of its kind, for one that cannot be pickled; position: a function of
        the environment with a hashable result, equal for equal positions; legal_actions: a function of the environment that
        returns its legal actions in any order; constant: attributes that never change and are shared instead of copied;
        payoff_range: the least and the largest total reward; clip: whether totals outside count as the nearest end;
        max_plies: limit on the plies that a search looks ahead; chance: "reseeded" or "copied"; outcomes: the most outcomes of
        a move that are kept apart; widening: at most n**widening of them after n visits of the move, rounded up, above 0 and at
        most 1.

        Raises TypeError or ValueError for invalid parameters, and TypeError for an environment that cannot be copied.
        """
        if (clone_state is None) != (restore_state is None):
            raise TypeError("clone_state and restore_state go together: name both or neither")
        one_of("chance", chance, CHANCES)
        if not is_range(payoff_range):
            raise ValueError(f"payoff_range must be two finite numbers, the lower one first, not {payoff_range!r}")
        least, most = payoff_range
        self.env = raw_environment(env)
        if isinstance(constant, str):
            raise ValueError(f"constant must be several names, such as ({constant!r},), not {constant!r}")
        unknown = [name for name in constant if not hasattr(self.env, name)]
        if unknown:
            raise ValueError(f"{type(self.env).__name__} has no attribute {', '.join(unknown)} to be constant")
        drawing = [name for name in constant if is_generator(getattr(self.env, name))]
        if drawing:
            raise ValueError(f"{drawing[0]} of {type(self.env).__name__} draws random numbers: it is not constant")
        self.least, self.width, self.clip = float(least), float(most) - float(least), clip
        self.payoff_range = payoff_range
        self.max_plies = integer("max_plies", max_plies, 1, MOST_PLIES)
        self.outcomes = integer("outcomes", outcomes, 2, MOST_OUTCOMES) if chance == "reseeded" else 0
        if not 0 < real("widening", widening) <= 1:
            raise ValueError(f"widening must be above 0 and at most 1, not {widening!r}")
        self.widening = float(widening)
        self._copier = Copier(chance, constant)
        has_hooks = all(callable(getattr(self.env, name, None)) for name in HOOKS[:2])
        self._clone_state: Callable[[Any], Any] = clone_state or (
            (lambda env: env.clone_state()) if has_hooks else self._copier.snapshot
        )
        self._restore_state: Callable[[Any, Any], None] = restore_state or (
            (lambda env, state: env.restore_state(state)) if has_hooks else self._copier.restore
        )
        self._position = position or (self._clone_state if has_hooks else self._copier.snapshot)
        self._actions_of = self.masks(self.env) if legal_actions is None else self._named(legal_actions)
        told = position or (self._clone_state if has_hooks and clone_state is None else None)
        self._told: Callable[[Any], Hashable] = told or self._seen
        if clone is None:
            clone = (lambda env: env.clone()) if callable(getattr(self.env, "clone", None)) else self._copier.twin
        with self.apart():
            self.live: Any = clone(self.env)
        if self.live is self.env:
            raise ValueError(f"clone must make another environment, but that of {type(self.env).__name__} gives the same one")
        self.snapshot: Any = None
        self._zero = (0.0,) * self.players
        self.totals = self._zero
        self._player = OVER
        named = (getattr(self.env, "metadata", None) or {}).get("name")
        self._trampolines = Callbacks(self, named or type(self.env).__name__)

    @property
    def rules(self) -> Rules:
        """Returns the game as planners see it."""
        return self._trampolines.rules

    def clone_state(self) -> State:
        """Returns the environment's present state as the root of a search. States returned before become invalid.

        Raises ValueError for a copy whose position differs from the environment's.
        """
        with self.apart():
            self.snapshot = self._clone_state(self.env)
            state = self._trampolines.begin()
            here, there = self.described(self.env), self.described(self.live)
            if here != there:
                raise ValueError(
                    f"the copy of {type(self.env).__name__} has lost its state: {there} instead of {here}; "
                    "name clone_state and restore_state"
                )
            return state

    def restart(self) -> None:
        """Resets the live copy to the root."""
        self._restore_state(self.live, self.snapshot)
        self.totals = self._zero
        self._player = self.mover(self.live)

    def reseed(self, seed: int) -> None:
        """Begins a new sequence of random numbers."""
        self._copier.chance.reseed(seed)

    def apart(self) -> AbstractContextManager[None]:
        """Returns a context in which generators outside the environment's attributes have numbers of the search. It puts them
        back."""
        return self._copier.chance.apart(self.env)

    def drawn(self) -> list[str]:
        """Returns the states of the generators among the environment's attributes as texts, none if it cannot be pickled."""
        return self._copier.drawn(self.env)

    def player(self) -> int:
        """Returns the player to move, or -1 when the game is over."""
        return self._player

    def name(self) -> tuple[int, Hashable, Hashable]:
        """Returns the mover of the live copy, and two values that keep apart the outcomes of the last move."""
        player = self._player
        return player, None if player == OVER else self._told(self.live), self.totals

    def _seen(self, env: Any) -> Hashable:
        """Returns the observation of an environment and its legal actions."""
        return fingerprint(self.observation(env)), tuple(self.actions_of(env))

    def position(self) -> Hashable:
        """Returns the user's position of the live copy, with the total rewards so far."""
        return self._position(self.live), self.totals

    def legal_actions(self) -> Sequence[int]:
        """Returns the legal actions of the live copy. Raises ValueError where there is none."""
        return self.actions_of(self.live)

    def payoffs(self) -> list[float]:
        """Returns the total rewards of the live copy, mapped to [0, 1]. Raises ValueError for one outside its range."""
        payoffs = []
        for total in self.totals:
            payoff = (total - self.least) / self.width
            payoffs.append(payoff if 0.0 <= payoff <= 1.0 else self._outside(total, payoff))
        return payoffs

    def _outside(self, total: float, payoff: float) -> float:
        """Returns the nearest end of the range for a payoff outside it."""
        if not -SLACK <= payoff <= 1 + SLACK and not (self.clip and payoff == payoff):
            agent = self.agents[self.totals.index(total)] if total == total else "an agent"
            raise ValueError(
                f"the total reward {total} of {agent} is outside payoff_range={self.payoff_range}: "
                "tell the least and the largest one, or clip=True"
            )
        return min(max(payoff, 0.0), 1.0)

    def described(self, env: Any) -> tuple[int, list[int]]:
        """Returns the mover of an environment and its legal actions."""
        mover = self.mover(env)
        return mover, [] if mover == OVER else list(self.actions_of(env))

    def actions_of(self, env: Any) -> Sequence[int]:
        """Returns an environment's legal actions."""
        actions = self._actions_of(env)
        if not actions:
            raise ValueError(f"{type(env).__name__} has no legal action, but the game goes on: {self._position(env)!r}")
        return actions

    def _named(self, legal_actions: Callable[[Any], Iterable[int]]) -> Callable[[Any], Sequence[int]]:
        """Wraps the user's function so that it returns sorted actions. The result raises ValueError for an invalid action."""

        def named(env: Any) -> Sequence[int]:
            actions = sorted({operator.index(action) for action in legal_actions(env)})
            if actions and not 0 <= actions[0] <= actions[-1] < self.actions:
                raise ValueError(
                    f"legal_actions says {actions} of {type(env).__name__}, whose actions are 0 to {self.actions - 1}"
                )
            return actions

        return named

    @abstractmethod
    def mover(self, env: Any) -> int:
        """Returns the player to move in an environment, or -1."""

    @abstractmethod
    def masks(self, env: Any) -> Callable[[Any], Sequence[int]]:
        """Returns a function that reads an environment's legal actions from its own masks."""

    @abstractmethod
    def observation(self, env: Any) -> Any:
        """Returns the mover's observation of the live copy."""

    @abstractmethod
    def step(self, action: int) -> int:
        """Plays a move in the live copy. Returns the next player to move, or -1."""


class AECGame(Adapter):
    """A PettingZoo AEC environment. Legal actions: the mask in the observation or in the infos, else all actions.

    Payoffs of all agents are their rewards added up. `payoff_range` is (-1, 1) by default.
    """

    def __init__(self, env: Any, *, payoff_range: tuple[float, float] = (-1.0, 1.0), **options: Any) -> None:
        """Adapts an environment; options as in Adapter. Raises TypeError for one that is not AEC, ValueError before a reset."""
        raw = raw_environment(env)
        if not all(hasattr(raw, name) for name in ("possible_agents", "step", "observe", "action_space")):
            raise TypeError(f"AECGame needs a PettingZoo AEC environment, not {type(raw).__name__}")
        if not hasattr(raw, "agent_selection"):
            raise ValueError(f"{type(raw).__name__} has no agent to move: call reset() first")
        self.agents = list(raw.possible_agents)
        self.players = len(self.agents)
        self._seats = {agent: seat for seat, agent in enumerate(self.agents)}
        self.actions = max(discrete(raw.action_space(agent), raw) for agent in self.agents)
        super().__init__(env, payoff_range=payoff_range, **options)

    def step(self, action: int) -> int:
        """Plays a move, and the steps that remove finished agents from a game that goes on."""
        env = self.live
        env.step(action)
        rewards = env.rewards
        if any(rewards.values()):
            pairs = zip(self.totals, self.agents, strict=True)
            self.totals = tuple([total + rewards.get(agent, 0.0) for total, agent in pairs])
        player = self.mover(env)
        while player == OVER and not all(env.terminations[agent] or env.truncations[agent] for agent in env.agents):
            there = len(env.agents)
            env.step(None)
            if len(env.agents) == there:
                raise ValueError(f"{self.rules.name} keeps {env.agent_selection}, which is finished, after its step of None")
            player = self.mover(env)
        self._player = player
        return player

    def observation(self, env: Any) -> Any:
        """Returns the selected agent's observation."""
        return env.observe(env.agent_selection)

    def mover(self, env: Any) -> int:
        """Returns the seat of the selected agent, or -1 if it is finished or gone."""
        agent = env.agent_selection
        if env.terminations.get(agent, True) or env.truncations.get(agent, True):
            return OVER
        return self._seats[agent]

    def masks(self, env: Any) -> Callable[[Any], Sequence[int]]:
        """Returns a reader of the mask in the observation or in the infos, or of all actions without a mask."""
        counts = {agent: env.action_space(agent).n for agent in self.agents}

        def masked(env: Any) -> Sequence[int]:
            agent = env.agent_selection
            seen = env.observe(agent)
            mask = seen.get("action_mask") if isinstance(seen, dict) else None
            if mask is None:
                mask = env.infos[agent].get("action_mask")
            return range(counts[agent]) if mask is None else actions_of_mask(mask, counts[agent], env)

        return masked


class SingleGame(Adapter):
    """A Gymnasium environment with one player. Legal actions: its `action_masks()` if it has that method, else all actions.

    The payoff is the total reward since the root of the search. Each step's reward has `discount` times the weight of the
    one before. With a discount below 1 `reuse_graph` never finds an earlier position, since payoffs depend on the root.
    `payoff_range` is (0, 1) by default. `max_plies` is by default the environment's registered limit of steps, or 1000. An
    environment cannot be asked whether its episode has ended: do not plan after the end.
    """

    def __init__(self, env: Any, *, discount: float = 1.0, max_plies: int | None = None, **options: Any) -> None:
        """Adapts an environment; other options as in Adapter. Raises TypeError for one that is not of Gymnasium."""
        raw = raw_environment(env)
        if not all(hasattr(raw, name) for name in ("step", "action_space", "observation_space")):
            raise TypeError(f"SingleGame needs a Gymnasium environment, not {type(raw).__name__}")
        if hasattr(raw, "possible_agents"):
            raise TypeError(f"{type(raw).__name__} is a PettingZoo environment: give it AECGame(env)")
        if not 0 < discount <= 1:
            raise ValueError(f"discount must be above 0 and at most 1, not {discount!r}")
        self.discount, self._factor, self._roots = discount, 1.0, 0
        self._every_action = False
        self.agents, self.players = ["the player"], 1
        self.actions = discrete(raw.action_space, raw)
        if max_plies is None:
            max_plies = getattr(getattr(env, "spec", None), "max_episode_steps", None) or 1000
        super().__init__(env, max_plies=max_plies, **options)

    def step(self, action: int) -> int:
        """Plays a move."""
        self._observation, reward, terminated, truncated, _ = self.live.step(action)
        if reward:
            self.totals = (self.totals[0] + self._factor * float(reward),)
        self._factor *= self.discount
        if terminated or truncated:
            self._player = OVER
        return self._player

    def clone_state(self) -> State:
        """Returns the environment's present state, as in Adapter."""
        self._roots += 1
        return super().clone_state()

    def restart(self) -> None:
        """Resets the live copy to the root."""
        super().restart()
        self._factor, self._observation = 1.0, None

    def observation(self, env: Any) -> Any:
        """Returns what the last step has shown, None at the root."""
        return self._observation

    def _seen(self, env: Any) -> Hashable:
        """Returns the observation, with the legal actions of an environment where they may vary."""
        return fingerprint(self._observation) if self._every_action else super()._seen(env)

    def position(self) -> Hashable:
        """Returns the position, as in Adapter. With a discount it belongs to one root only, since rewards count from there."""
        return super().position() if self.discount == 1 else (super().position(), self._roots)

    def mover(self, env: Any) -> int:
        """Returns 0, the seat of the only player."""
        return 0

    def masks(self, env: Any) -> Callable[[Any], Sequence[int]]:
        """Returns a reader of `action_masks()`, or of all actions without that method."""
        if callable(getattr(env, "action_masks", None)):
            return lambda env: actions_of_mask(env.action_masks(), self.actions, env)
        self._every_action = True
        every = list(range(self.actions))
        return lambda env: every


def adapted(env: Any) -> Adapter:
    """Returns the adapter of an environment that has the three hooks.

    Raises TypeError for any other, with the names of the missing hooks and of the adapters.
    """
    raw = raw_environment(env)
    missing = [name for name in HOOKS if not callable(getattr(raw, name, None))]
    if missing:
        raise TypeError(
            f"a planner needs an environment with {', '.join(HOOKS)}, but {type(raw).__name__} has no {', '.join(missing)}: "
            "give it ucd_envs.foreign.AECGame(env) for PettingZoo, SingleGame(env) for Gymnasium, SpielGame(env) for OpenSpiel"
        )
    return AECGame(env) if hasattr(raw, "possible_agents") else SingleGame(env)
