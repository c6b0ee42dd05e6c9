"""The one seam between games and planners: what a game is.

A game is a frozen `Rules` value: facts about one configuration and its compiled kernels. A state is a flat vector of
bytes that the game reads as a record; what never changes for a configuration is a second vector, `config`.
Everything above this file knows games through these names only.

Identities that hold for every game (held by the shared test over the registry):

- `legal_actions` is ascending, agrees with `is_legal`, and is empty exactly when the game is over (player -1);
- `play` makes a legal move in place; the ply grows by one and never passes `Rules.max_plies`;
- `payoffs` are in [0, 1], one a player: loss 0, draw 1/2, win 1; to be read when the game is over;
- equal `position` words mean equal legal actions, mover, ply and future, and conversely: two move orders to one position
  agree. Since the ply belongs to it, the graph of positions has no cycles and every edge goes down one ply;
- `playout` plays the moves of a random policy: uniform over the legal moves, if the game's file does not say otherwise. It
  writes each move to `trace`, as `move_of` does, until that is full or the game is over, and leaves the state that they lead
  to, or one that no kernel but the policy's can tell from it. With a trace of length 0 only the outcome is asked for: the
  state is over and `payoffs` is right (the same distribution), but the rest of the record is undefined, so that a game may
  take a short cut;
- `playout_action` is one move of that policy, each of `playout_actions` with the same probability; `is_playable` says of one
  action whether it is among them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from ucd_envs.kernels import (
    IS_LEGAL,
    KEY,
    LEGAL_ACTIONS,
    OBSERVE,
    OVER,
    PLAY,
    PLAYOUT,
    PLAYOUT_ACTION,
    READ_PAYOFFS,
    RESET,
    compiled,
)


class Kernels(NamedTuple):
    """The kernels of a game, with the signatures of this file."""

    reset: Any
    legal_actions: Any
    is_legal: Any
    play: Any
    payoffs: Any
    key: Any
    playout: Any
    playout_action: Any
    observe: Any
    playout_actions: Any = None
    """Lists what the random policy may play, in any order. Rules have `legal_actions` where a game names none."""
    is_playable: Any = None
    """Whether the random policy may play an action. Rules have `is_legal` where a game names none."""


SIGNATURES = Kernels(
    RESET, LEGAL_ACTIONS, IS_LEGAL, PLAY, READ_PAYOFFS, KEY, PLAYOUT, PLAYOUT_ACTION, OBSERVE, LEGAL_ACTIONS, IS_LEGAL
)


class Live(Protocol):
    """A game behind kernels that call back into Python, which one search at a time can use."""

    def reseed(self, seed: int) -> None:
        """Begins a new sequence of chance for a search."""

    def failure(self) -> BaseException | None:
        """Takes the exception that a callback has caught, if one has."""

    def listening(self) -> AbstractContextManager[None]:
        """Lets Ctrl-C reach callbacks while it lasts."""

    def mover_after(self, state: State, moves: Iterable[int]) -> int:
        """The player to move after moves from the root, -1 when the game is over."""


class Victory(NamedTuple):
    """How a game was won."""

    kinds: tuple[str, ...]
    """What the last move made, such as "ring"."""
    cells: tuple[int, ...]
    """Actions of stones that show it, ascending."""


@dataclass(frozen=True, eq=False)
class Rules:
    """One game in one configuration: facts, sizes, names of actions, and kernels."""

    name: str
    """The registered name, such as "hex_v0"."""
    settings: Mapping[str, Any]
    """The parameters that make this configuration."""
    players: int
    actions: int
    """Number of actions: they are 0 ... actions - 1."""
    max_plies: int
    """No game has more plies than this."""
    config: np.ndarray
    """What never changes: [any] uint8."""
    state_bytes: int
    key_words: int
    planes: tuple[int, int, int]
    """Shape of an observation: rows, columns, planes. Planes 0 and 1 hold the observer's and the next player's stones."""
    tiling: str
    """How boards are drawn: "square", "hexagonal", "hexagon" (of hexagonal cells), "points" (stones on crossings, the first row
    at the bottom), "column" (stones fall) or "track" (a line of steps)."""
    kernels: Kernels
    action_name: Callable[[int], str]
    """Text of an action, as players of the game write it."""
    action_named: Callable[[str], int]
    """The action of a text; raises ValueError with one sentence for a text that names none."""
    rewards: tuple[float, float] = (-1.0, 1.0)
    """Rewards of an environment for the payoffs 0 and 1; linear between."""
    why_illegal: Callable[[int], str] = field(default=lambda action: "it is not among the legal moves")
    """What is usually wrong with an illegal action of this game, for messages."""
    victory: Callable[[State], Victory | None] | None = None
    """How a game was won, None for one that was not; None for a game whose victories are all alike."""
    score: Callable[[State], float] | None = None
    """The first player's points less the second's, as if the game were over now; None where a game knows no points."""
    live: Live | None = None
    """Only for kernels that call back into Python: the one game that they are about."""

    def __post_init__(self) -> None:
        given = self.kernels
        completed = given._replace(
            playout_actions=given.playout_actions or given.legal_actions, is_playable=given.is_playable or given.is_legal
        )
        object.__setattr__(self, "kernels", completed)
        for function, signature in zip(completed, SIGNATURES, strict=True):
            compiled(function, signature)

    @cached_property
    def identity(self) -> tuple[Any, ...]:
        """What two Rules must share for a state of one to be a state of the other."""
        return (self.name, self.config.tobytes(), self.state_bytes)

    def initial_state(self) -> State:
        """The state before the first move."""
        state = np.zeros(self.state_bytes, np.uint8)
        self.kernels.reset(self.config, state)
        return State(self, state.tobytes())

    def __deepcopy__(self, memo: dict[int, Any]) -> Rules:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self.live is not None:
            return (_left_behind, (self.name, self.players, self.actions, self.max_plies))
        return (_registered, (self.name, dict(self.settings)))

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in self.settings.items())})"


class State:
    """An immutable snapshot of a game: hashed and compared by exact position, so two move orders to one position are equal.

    `ending` is what an environment adds once a game has ended (which agents are left and what they were paid); it is
    empty while the game goes on and takes no part in equality.
    """

    __slots__ = ("_words", "data", "ending", "rules")
    rules: Rules
    data: bytes
    ending: Any
    _words: bytes | None

    def __init__(self, rules: Rules, data: bytes, ending: Any = None) -> None:
        set_once = object.__setattr__
        set_once(self, "rules", rules)
        set_once(self, "data", data)
        set_once(self, "ending", ending)
        set_once(self, "_words", None)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a State does not change: clone_state() and after() give another")

    @property
    def player(self) -> int:
        """The player to move, or -1 when the game is over."""
        return int.from_bytes(self.data[:4], "little", signed=True)

    @property
    def ply(self) -> int:
        """How many moves have been played."""
        return int.from_bytes(self.data[4:8], "little", signed=True)

    @property
    def over(self) -> bool:
        """Whether the game has ended, by its rules or by an illegal move in an environment."""
        return self.player == OVER or self.ending is not None

    def array(self) -> np.ndarray:
        """A fresh writable copy of the state vector: [state_bytes] uint8."""
        return np.frombuffer(bytearray(self.data), np.uint8)

    @property
    def key(self) -> bytes:
        """The exact encoding of the position, the key of hashing and equality."""
        if self._words is None:
            words = np.zeros(self.rules.key_words, np.uint64)
            self.rules.kernels.key(self.rules.config, self.array(), words)
            self._raise_caught()
            object.__setattr__(self, "_words", words.tobytes())
            return words.tobytes()
        return self._words

    def legal_actions(self) -> list[int]:
        """The legal actions, ascending; empty when the game is over."""
        actions = np.empty(self.rules.actions, np.int32)
        count = self.rules.kernels.legal_actions(self.rules.config, self.array(), actions)
        self._raise_caught()
        return [int(action) for action in actions[:count]]

    def after(self, action: int) -> State:
        """The state that a legal action leads to.

        Raises ValueError for an illegal one, TypeError for no whole number and for a live game, whose states are its root only.
        """
        if self.rules.live is not None:
            raise TypeError(f"{self.rules.name} is one game of Python: step its environment instead")
        state = self.array()
        action = operator.index(action)
        if not 0 <= action < self.rules.actions or not self.rules.kernels.is_legal(self.rules.config, state, action):
            raise ValueError(f"action {action} is not legal here: expected one of {self.legal_actions()}")
        self.rules.kernels.play(self.rules.config, state, action)
        return State(self.rules, state.tobytes())

    def payoffs(self) -> list[float]:
        """Each player's payoff in [0, 1]. Raises ValueError while the game goes on."""
        if self.player != OVER:
            raise ValueError("payoffs are known when the game is over, and this one goes on")
        out = np.zeros(self.rules.players)
        self.rules.kernels.payoffs(self.rules.config, self.array(), out)
        return [float(payoff) for payoff in out]

    def _raise_caught(self) -> None:
        """Raises what a kernel that calls back into Python has caught."""
        caught = None if self.rules.live is None else self.rules.live.failure()
        if caught is not None:
            raise caught

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return self.rules.identity == other.rules.identity and self.key == other.key

    def __hash__(self) -> int:
        return hash((self.rules.name, self.key))

    def __reduce__(self) -> tuple[Any, ...]:
        return (State, (self.rules, self.data, self.ending))

    def __repr__(self) -> str:
        mover = "over" if self.player == OVER else f"player {self.player} to move"
        return f"State({self.rules}, ply {self.ply}, {mover})"


def _registered(name: str, settings: dict[str, Any]) -> Rules:
    """Unpickles Rules through the registry, since compiled kernels do not travel."""
    from ucd_envs.registry import make_rules

    return make_rules(name, **settings)


def _left_behind(name: str, players: int, actions: int, max_plies: int) -> Rules:
    """Unpickles the facts of a live game, which itself stays where it is."""
    from ucd_envs.foreign.callbacks import rules_without_game

    return rules_without_game(name, players, actions, max_plies)
