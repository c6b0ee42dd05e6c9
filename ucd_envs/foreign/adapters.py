"""Environments that others wrote, with the hooks that planners need.

A planner needs three hooks of an environment: `clone_state()`, a hashable snapshot that later moves do not change, equal for
equal positions; `restore_state(snapshot)`; and `clone()`, an independent environment in the same state. An environment that
has them is planned in as it is: `planner.act(env)`. Any other joins through an adapter, made once and given to the planner in
its place:

    AECGame(env)       a PettingZoo AEC environment
    SingleGame(env)    a Gymnasium environment

An adapter copies the environment by its own hooks, by functions that the user names, or by pickling all of its attributes (see
copying.py), and plans in the copy; the environment itself is looked at only. Wrappers are left aside: the raw environment is
copied and stepped.

Payoffs are total rewards from the root of the search on, mapped from `payoff_range`, which the user tells, to [0, 1]; a total
outside is an error, or with `clip` counts as the nearest end. A position is what `position(env)` says, and belongs together
with the ply and the totals so far. Where nothing is named it is the pickled attributes: equal ones are surely the same, but
attributes that tell how a position was reached keep equal positions apart, so name a position to search in graphs.

Chance: with "reseeded" every simulation has random numbers of the search's own, and the planner does not see what the real
environment will draw; with "copied" a copy draws what the original would, each time the same. Functions of the user's own and
an environment's own hooks decide for themselves. A move's target is the position that it led to first: where chance decides,
use a planner without a table, which then averages over what the moves led to.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from gymnasium.spaces import Discrete

from ucd_envs.foreign.callbacks import Trampolines
from ucd_envs.foreign.snapshots import Copier
from ucd_envs.kernels import OVER
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_envs.settings import integer

HOOKS = ("clone_state", "restore_state", "clone")
CHANCES = ("reseeded", "copied")
SLACK = 1e-9
"""How far a payoff may lie outside its range by rounding."""
MOST_PLIES = 1_000_000
"""A search has room for so many."""


@runtime_checkable
class Hooks(Protocol):
    """The three hooks."""

    def clone_state(self) -> Hashable:
        """A snapshot that later moves do not change; equal snapshots have equal futures."""

    def restore_state(self, state: Any) -> None:
        """The environment is as it was when the snapshot was taken."""

    def clone(self) -> Any:
        """An independent environment in the same state."""


class Adapter(ABC):
    """What both adapters share: hooks, the range of payoffs, and the live copy that searches play in."""

    players: int
    actions: int
    max_plies: int
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
    ) -> None:
        """Adapts an environment.

        clone_state, restore_state: functions of the environment that copy and put back its state, both or neither; clone: a
        function of the environment that makes another of its kind, for one that cannot be pickled; position: a function of
        the environment whose answer is hashable and equal for equal positions; legal_actions: a function of the environment,
        its legal actions in any order; constant: attributes that never change and are shared instead of copied;
        payoff_range: the least and the largest total reward; clip: whether totals outside count as the nearest end; max_plies:
        how many plies a search looks ahead at most; chance: "reseeded" or "copied".

        Raises TypeError or ValueError for parameters that are not so, and TypeError for an environment that cannot be copied.
        """
        if (clone_state is None) != (restore_state is None):
            raise TypeError("clone_state and restore_state go together: name both or neither")
        if chance not in CHANCES:
            raise ValueError(f"chance must be one of {', '.join(CHANCES)}, not {chance!r}")
        try:
            least, most = payoff_range
        except (TypeError, ValueError):
            raise ValueError(f"payoff_range must be two finite numbers, the lower one first, not {payoff_range!r}") from None
        if not -np.inf < least < most < np.inf:
            raise ValueError(f"payoff_range must be two finite numbers, the lower one first, not {payoff_range!r}")
        self.env = getattr(env, "unwrapped", env)
        if isinstance(constant, str):
            raise ValueError(f"constant must be several names, such as ({constant!r},), not {constant!r}")
        unknown = [name for name in constant if not hasattr(self.env, name)]
        if unknown:
            raise ValueError(f"{type(self.env).__name__} has no attribute {', '.join(unknown)} to be constant")
        self.least, self.width, self.clip = float(least), float(most) - float(least), clip
        self.payoff_range = payoff_range
        self.max_plies = integer("max_plies", max_plies, 1, MOST_PLIES)
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
        if clone is None:
            clone = (lambda env: env.clone()) if callable(getattr(self.env, "clone", None)) else self._copier.twin
        self.live: Any = clone(self.env)
        if self.live is self.env:
            raise ValueError(f"clone must make another environment, but that of {type(self.env).__name__} gives the same one")
        self.snapshot: Any = None
        self._zero = (0.0,) * self.players
        self.totals = self._zero
        self._player = OVER
        named = (getattr(self.env, "metadata", None) or {}).get("name")
        self._trampolines = Trampolines(self, named or type(self.env).__name__)

    @property
    def rules(self) -> Rules:
        """The game as planners see it."""
        return self._trampolines.rules

    def clone_state(self) -> State:
        """Where the environment is now, for a planner to start from. States from before are then no longer of use.

        Raises ValueError for a copy that is not in the same position as the environment.
        """
        self.snapshot = self._clone_state(self.env)
        self.restart()
        here, there = self.described(self.env), self.described(self.live)
        if here != there:
            raise ValueError(
                f"the copy of {type(self.env).__name__} has lost its state: {there} instead of {here}; "
                "name clone_state and restore_state"
            )
        return self._trampolines.begin()

    def restart(self) -> None:
        """Puts the live copy back to the root."""
        self._restore_state(self.live, self.snapshot)
        self.totals = self._zero
        self._player = self.mover(self.live)

    def reseed(self, seed: int) -> None:
        """Begins a new sequence of chance."""
        self._copier.reseed(seed)

    def player(self) -> int:
        """The player to move, or -1 when the game is over."""
        return self._player

    def position(self) -> Hashable:
        """What the user's function says of the live copy, and the total rewards so far."""
        return self._position(self.live), self.totals

    def legal_actions(self) -> Sequence[int]:
        """The legal actions of the live copy. Raises ValueError where there is none."""
        return self.actions_of(self.live)

    def payoffs(self) -> list[float]:
        """The total rewards of the live copy, mapped to [0, 1]. Raises ValueError for one outside its range."""
        payoffs = []
        for total in self.totals:
            payoff = (total - self.least) / self.width
            payoffs.append(payoff if 0.0 <= payoff <= 1.0 else self._outside(total, payoff))
        return payoffs

    def _outside(self, total: float, payoff: float) -> float:
        """The end of the range that a payoff outside stands for."""
        if not -SLACK <= payoff <= 1 + SLACK and not (self.clip and payoff == payoff):
            agent = self.agents[self.totals.index(total)] if total == total else "an agent"
            raise ValueError(
                f"the total reward {total} of {agent} is outside payoff_range={self.payoff_range}: "
                "tell the least and the largest one, or clip=True"
            )
        return min(max(payoff, 0.0), 1.0)

    def described(self, env: Any) -> tuple[int, list[int]]:
        """The mover of an environment and its legal actions."""
        mover = self.mover(env)
        return mover, [] if mover == OVER else list(self.actions_of(env))

    def actions_of(self, env: Any) -> Sequence[int]:
        """An environment's legal actions."""
        actions = self._actions_of(env)
        if not actions:
            raise ValueError(f"{type(env).__name__} has no legal action, but the game goes on: {self._position(env)!r}")
        return actions

    def _named(self, legal_actions: Callable[[Any], Iterable[int]]) -> Callable[[Any], Sequence[int]]:
        """The user's function, with its answers in order. It raises ValueError for an action that there is not."""

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
        """The player to move in an environment, or -1."""

    @abstractmethod
    def masks(self, env: Any) -> Callable[[Any], Sequence[int]]:
        """How an environment tells its legal actions by itself."""

    @abstractmethod
    def step(self, action: int) -> int:
        """Plays a move in the live copy; the player to move then, or -1."""


class AECGame(Adapter):
    """A PettingZoo AEC environment. Legal actions: the mask in the observation or in the infos, else all.

    Payoffs of all agents are their rewards added up; `payoff_range` is (-1, 1) unless told otherwise.
    """

    def __init__(self, env: Any, *, payoff_range: tuple[float, float] = (-1.0, 1.0), **options: Any) -> None:
        """Adapts an environment; options as in Adapter. Raises TypeError for one that is not AEC, ValueError before a reset."""
        raw = getattr(env, "unwrapped", env)
        if not all(hasattr(raw, name) for name in ("possible_agents", "step", "observe", "action_space")):
            raise TypeError(f"AECGame needs a PettingZoo AEC environment, not {type(raw).__name__}")
        if not hasattr(raw, "agent_selection"):
            raise ValueError(f"{type(raw).__name__} has no agent to move: call reset() first")
        self.agents = list(raw.possible_agents)
        self.players = len(self.agents)
        self._seats = {agent: seat for seat, agent in enumerate(self.agents)}
        self.actions = max(_discrete(raw.action_space(agent), raw) for agent in self.agents)
        super().__init__(env, payoff_range=payoff_range, **options)

    def step(self, action: int) -> int:
        """Plays a move, and the steps that take finished agents out of a game that goes on."""
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

    def mover(self, env: Any) -> int:
        """The seat of the selected agent; -1 if it is finished or gone."""
        agent = env.agent_selection
        if env.terminations.get(agent, True) or env.truncations.get(agent, True):
            return OVER
        return self._seats[agent]

    def masks(self, env: Any) -> Callable[[Any], Sequence[int]]:
        """The mask in the observation, or in the infos, or none."""
        counts = {agent: env.action_space(agent).n for agent in self.agents}

        def masked(env: Any) -> Sequence[int]:
            agent = env.agent_selection
            seen = env.observe(agent)
            mask = seen.get("action_mask") if isinstance(seen, dict) else None
            if mask is None:
                mask = env.infos[agent].get("action_mask")
            return range(counts[agent]) if mask is None else _actions_of_mask(mask, counts[agent], env)

        return masked


class SingleGame(Adapter):
    """A Gymnasium environment with one player. Legal actions: its `action_masks()` if it has that method, else all.

    The payoff is the reward added up from the root of the search on, each step's counted `discount` times the one before (with
    a discount below 1 a planner's `keep` finds nothing again, since payoffs of another root are others);
    `payoff_range` is (0, 1) unless told otherwise. Without `max_plies` a search looks as far ahead as the environment's
    registered limit of steps, or 1000. Whether an episode has ended cannot be asked of an environment: do not plan behind
    its end.
    """

    def __init__(self, env: Any, *, discount: float = 1.0, max_plies: int | None = None, **options: Any) -> None:
        """Adapts an environment; other options as in Adapter. Raises TypeError for one that is not of Gymnasium."""
        raw = getattr(env, "unwrapped", env)
        if not all(hasattr(raw, name) for name in ("step", "action_space", "observation_space")):
            raise TypeError(f"SingleGame needs a Gymnasium environment, not {type(raw).__name__}")
        if hasattr(raw, "possible_agents"):
            raise TypeError(f"{type(raw).__name__} is a PettingZoo environment: give it AECGame(env)")
        if not 0 < discount <= 1:
            raise ValueError(f"discount must be above 0 and at most 1, not {discount!r}")
        self.discount, self._factor, self._roots = discount, 1.0, 0
        self.agents, self.players = ["the player"], 1
        self.actions = _discrete(raw.action_space, raw)
        if max_plies is None:
            max_plies = getattr(getattr(env, "spec", None), "max_episode_steps", None) or 1000
        super().__init__(env, max_plies=max_plies, **options)

    def step(self, action: int) -> int:
        """Plays a move."""
        _, reward, terminated, truncated, _ = self.live.step(action)
        if reward:
            self.totals = (self.totals[0] + self._factor * float(reward),)
        self._factor *= self.discount
        if terminated or truncated:
            self._player = OVER
        return self._player

    def clone_state(self) -> State:
        """As in Adapter."""
        self._roots += 1
        return super().clone_state()

    def restart(self) -> None:
        """Puts the live copy back to the root."""
        super().restart()
        self._factor = 1.0

    def position(self) -> Hashable:
        """As in Adapter; with a discount it belongs to one root only, since rewards count from there."""
        return super().position() if self.discount == 1 else (super().position(), self._roots)

    def mover(self, env: Any) -> int:
        """The one player."""
        return 0

    def masks(self, env: Any) -> Callable[[Any], Sequence[int]]:
        """`action_masks()`, or none."""
        if callable(getattr(env, "action_masks", None)):
            return lambda env: _actions_of_mask(env.action_masks(), self.actions, env)
        every = list(range(self.actions))
        return lambda env: every


def _discrete(space: Any, env: Any) -> int:
    """How many actions a space has."""
    if not isinstance(space, Discrete) or space.start != 0:
        raise TypeError(f"a planner needs actions 0, 1, ... in a Discrete space, but {type(env).__name__} has {space}")
    return int(space.n)


def _actions_of_mask(mask: Any, actions: int, env: Any) -> Sequence[int]:
    """The actions of a mask."""
    if len(mask) != actions:
        raise ValueError(f"the action mask of {type(env).__name__} has {len(mask)} entries for {actions} actions")
    legal: list[int] = np.flatnonzero(mask).tolist()
    return legal


def adapted(env: Any) -> Adapter:
    """The adapter of an environment that has the three hooks.

    Raises TypeError for one that has not, with the names of the missing ones and of the adapters.
    """
    raw = getattr(env, "unwrapped", env)
    missing = [name for name in HOOKS if not callable(getattr(raw, name, None))]
    if missing:
        raise TypeError(
            f"a planner needs an environment with {', '.join(HOOKS)}, but {type(raw).__name__} has no {', '.join(missing)}: "
            "give it ucd_envs.foreign.AECGame(env) for PettingZoo or SingleGame(env) for Gymnasium"
        )
    return AECGame(env) if hasattr(raw, "possible_agents") else SingleGame(env)


class Report(NamedTuple):
    """What a check of an adapter has seen."""

    games: int
    positions: int
    """Different positions."""
    deterministic: bool
    """Whether the same action always led from the same position to the same one."""


def check(game: Adapter, games: int = 100, seed: int = 0) -> Report:
    """Plays random games in an adapter's live copy from where its environment is, and looks whether its hooks keep their word.

    What does not show in these games it does not find. In an environment without chance, a report that is not deterministic
    tells that the position leaves something out.

    Raises ValueError, naming the position, when two visits of one position differ in their mover, their legal actions or the
    payoffs at the end; when a restored copy is not at the root; when the copy shares memory with the environment or with the
    snapshot; TypeError for a position that is not hashable.
    """
    choices = np.random.default_rng(seeded(seed))
    game.clone_state()
    root = game.position()
    before = game._position(game.env), game.described(game.env)
    known: dict[Any, tuple[Any, ...]] = {}
    led: dict[tuple[Any, int], Any] = {}
    deterministic, last = True, (root, 0)
    for number in range(games):
        game.reseed(number)
        game.restart()
        if game.position() != root or game.described(game.live) != before[1]:
            raise ValueError(
                f"after restore_state the copy is at {game.position()!r} instead of {root!r}: its snapshot changed"
            )
        for ply in range(game.max_plies + 1):
            key = (game.position(), ply)
            over = game.player() == OVER or ply == game.max_plies
            seen = (game.player(), *(game.payoffs() if over else game.legal_actions()))
            if known.setdefault(key, seen) != seen:
                raise ValueError(f"two different positions share the key {key[0]!r}: {known[key]} and {seen}")
            if ply:
                deterministic &= led.setdefault(last, key) == key
            if over:
                break
            last = (key, int(choices.choice(seen[1:])))
            game.step(last[1])
        after = game._position(game.env), game.described(game.env)
        if after != before:
            raise ValueError(f"the copy shares memory with its environment, which went from {before} to {after}")
    return Report(games, len(known), deterministic)
