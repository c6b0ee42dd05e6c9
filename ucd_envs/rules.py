"""The one interface between games and planners.

A game is a frozen `Rules` value: facts about one configuration and its compiled kernels. A state is a flat vector of
bytes that the game reads as a record. A second vector, `config`, holds the constants of a configuration.
Everything above this file knows games through these names only.

Identities that hold for every game (`ucd_envs.check` looks for one that does not):

- `reset` writes the whole record of a state, independently of its earlier content;
- `legal_actions` is ascending, agrees with `is_legal`, and is empty exactly when the game is over (player OVER, -1);
- `play` makes a legal move in place; the ply grows by one and never passes `Rules.max_plies`;
- `payoffs` are in [0, 1], one a player: loss 0, draw 1/2, win 1; they are read only when the game is over;
- equal words of `key` at equal plies mean equal legal actions, mover and future, and conversely: two move orders to one
  position agree. The key may leave the ply out, since `State` and the search add it. So the graph of positions has no cycles
  and every edge leads to the next ply;
- `playout` plays the moves of a random policy: uniform over the legal moves, unless the game's file says otherwise. It
  writes each move to `trace`, as `move_of` does, until that is full or the game is over. It leaves the state that the moves
  lead to, or one that only the policy's own kernels can tell from it. With a trace of length 0 it need only find the
  outcome: the state is over and `payoffs` is right (with the same distribution), but the rest of the record is undefined,
  so that a game may take a short cut;
- `playout_action` is one move of that policy, drawn uniformly from `playout_actions`; `is_playable` returns whether an action
  is among these.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from ucd_envs import defaults
from ucd_envs.defaults import LINK_BYTES, LINKS, SLACK
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
    address,
    compiled,
)
from ucd_envs.settings import integer
from ucd_envs.structs import configuration

MOST_PLAYERS, MOST_ACTIONS, MOST_PLIES = 2**10, 2**16, 2**30


class Kernels(NamedTuple):
    """The kernels of a game: five that every game has, and six that it may leave out."""

    reset: Any
    legal_actions: Any
    play: Any
    payoffs: Any
    key: Any
    is_legal: Any = None
    """Searches `legal_actions` by default."""
    playout: Any = None
    """Plays moves of the random policy one by one, by default."""
    playout_action: Any = None
    """Draws from `playout_actions` by default."""
    playout_actions: Any = None
    """Lists the moves of the random policy, in any order; `legal_actions` by default."""
    is_playable: Any = None
    """Returns whether the random policy may play an action: by default whether it is among the game's own `playout_actions`,
    or legal where the game has none."""
    observe: Any = None
    """Writes the bits of the key by default, the same for all players: [1, 1, 64 * key_words]."""

    def completed(self) -> Kernels:
        """Returns these kernels, with defaults for those left out."""
        is_legal = self.is_legal or defaults.is_legal
        return Kernels(
            *(self.reset, self.legal_actions, self.play, self.payoffs, self.key, is_legal),
            self.playout or defaults.playout,
            self.playout_action or defaults.playout_action,
            self.playout_actions or self.legal_actions,
            self.is_playable or (defaults.is_playable if self.playout_actions else is_legal),
            self.observe or defaults.observe,
        )


SIGNATURES = Kernels(
    RESET, LEGAL_ACTIONS, PLAY, READ_PAYOFFS, KEY, IS_LEGAL, PLAYOUT, PLAYOUT_ACTION, LEGAL_ACTIONS, IS_LEGAL, OBSERVE
)


class PythonGame(Protocol):
    """A game behind kernels that call back into Python. Only one search at a time can use it."""

    def reseed(self, seed: int) -> None:
        """Begins a new sequence of random numbers for a search."""

    def failure(self) -> BaseException | None:
        """Returns and clears the exception that a callback has caught, or None."""

    def listening(self) -> AbstractContextManager[None]:
        """Lets Ctrl-C reach callbacks while it lasts."""

    def mover_after(self, state: State, moves: Iterable[int]) -> int:
        """Returns the player to move after moves from the root, -1 when the game is over."""

    def facts(self) -> tuple[Callable[..., Rules], tuple[Any, ...]]:
        """Returns a function and its arguments that make Rules with the same facts in another process, without the game."""


class Victory(NamedTuple):
    """The way a game was won."""

    kinds: tuple[str, ...]
    """Kinds of victory of the last move, such as "ring"."""
    cells: tuple[int, ...]
    """Actions of the winning stones, ascending."""


@dataclass(frozen=True, eq=False)
class Rules:
    """One game in one configuration: facts, sizes, names of actions, and kernels."""

    name: str
    """The registered name, such as "hex_v0"."""
    settings: Mapping[str, Any]
    """Parameters of this configuration."""
    players: int
    actions: int
    """Number of actions: they are 0 ... actions - 1."""
    max_plies: int
    """No game has more plies than this."""
    config: np.ndarray
    """Constants of the configuration: [any] uint8. Rules store it followed by the addresses that the default kernels need."""
    state_bytes: int
    """Size of a state, a multiple of 8."""
    key_words: int
    """Size of a key in words of 64 bits."""
    kernels: Kernels
    action_name: Callable[[State, int], str]
    """Text of an action in a state, as players of the game write it."""
    action_named: Callable[[State, str], int]
    """Returns the action of a text in a state. Raises ValueError with one sentence for a text that names none."""
    planes: tuple[int, int, int] = (0, 0, 0)
    """Shape of an observation: rows, columns, planes. Planes 0 and 1 hold the observer's and the next player's stones.
    Required for a game with its own `observe`; without one it is (1, 1, 64 * key_words)."""
    tiling: str | None = None
    """Drawing of boards: "square", "hexagonal", "hexagon" (of hexagonal cells), "points" (stones on crossings, the first row
    at the bottom), "column" (stones fall) or "track" (a line of steps). None for a game that only lists its moves."""
    rewards: tuple[float, float] = (-1.0, 1.0)
    """Rewards of an environment for the payoffs 0 and 1; linear between."""
    why_illegal: Callable[[int], str] = field(default=lambda action: "it is not among the legal moves")
    """Returns the usual reason why an action of this game is illegal, for messages."""
    victory: Callable[[State], Victory | None] | None = None
    """Returns the way a game was won, or None for one that was not. None itself for a game with one kind of victory."""
    score: Callable[[State], float] | None = None
    """Returns the first player's points less the second's, as if the game were over now. None itself for a game without
    points."""
    live: PythonGame | None = None
    """The live game behind kernels that call back into Python, None for all other games."""

    config_bytes: int | None = None
    """Size of the game's own part of `config`; by default all of it."""
    reference: str | None = None
    """Reference from which `make_rules` makes these Rules again; None for `name`."""

    def __post_init__(self) -> None:
        self._check()
        kernels = self.kernels.completed()
        for function, signature in zip(kernels, SIGNATURES, strict=True):
            compiled(function, signature)
        own = self.config[: self.config_bytes]
        links = configuration(
            LINKS,
            legal_actions=address(kernels.legal_actions),
            play=address(kernels.play),
            key=address(kernels.key),
            playout_actions=address(kernels.playout_actions),
            playout_action=0 if kernels.playout_action is defaults.playout_action else address(kernels.playout_action),
            actions=self.actions,
            key_words=self.key_words,
            max_plies=self.max_plies,
        )
        linked = np.zeros(-(-len(own) // 8) * 8 + LINK_BYTES, np.uint8)
        linked[: len(own)] = own
        linked[-LINK_BYTES:] = links
        found = {"kernels": kernels, "config": linked, "config_bytes": len(own)}
        if kernels.observe is defaults.observe:
            found["planes"] = (1, 1, 64 * self.key_words)
        for name, value in found.items():
            object.__setattr__(self, name, value)

    def _check(self) -> None:
        """Raises TypeError or ValueError with one sentence for invalid facts."""
        integer("players", self.players, 1, MOST_PLAYERS)
        integer("actions", self.actions, 1, MOST_ACTIONS)
        integer("max_plies", self.max_plies, 1, MOST_PLIES)
        integer("key_words", self.key_words, 1, MOST_ACTIONS)
        if integer("state_bytes", self.state_bytes, 8, MOST_PLIES) % 8:
            raise ValueError(f"state_bytes must be a multiple of 8, not {self.state_bytes}")
        if not isinstance(self.config, np.ndarray) or self.config.dtype != np.uint8 or self.config.ndim != 1:
            raise TypeError("config must be a vector of bytes, such as structs.configuration makes")
        if not isinstance(self.kernels, Kernels):
            raise TypeError(f"kernels must be Kernels(...), not {type(self.kernels).__name__}")
        if self.kernels.observe is not None and min(self.planes) < 1:
            raise ValueError("planes must be given with an observe kernel: the rows, columns and planes that it writes")

    @property
    def own_config(self) -> np.ndarray:
        """Returns the game's own part of `config`: [config_bytes] uint8, a view."""
        return self.config[: self.config_bytes]

    @cached_property
    def identity(self) -> tuple[Any, ...]:
        """Returns the facts that two Rules must share for a state of one to be a state of the other."""
        return (self.name, self.own_config.tobytes(), self.state_bytes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rules):
            return NotImplemented
        return self is other or (self.kernels == other.kernels and self.identity == other.identity)

    def __hash__(self) -> int:
        return hash(self.identity)

    def initial_state(self) -> State:
        """Returns the state before the first move."""
        state = np.zeros(self.state_bytes, np.uint8)
        self.kernels.reset(self.config, state)
        return State(self, state.tobytes())

    def __deepcopy__(self, memo: dict[int, Any]) -> Rules:
        return self

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in self.settings.items())})"


class State:
    """An immutable snapshot of a game: hashed and compared by exact position and ply.

    Two move orders to one position give equal states.

    `ending` is set by an environment once a game has ended: the agents left and their rewards. It is empty while the game
    goes on and takes no part in equality.
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
        """Returns the player to move, or -1 when the game is over."""
        return int.from_bytes(self.data[:4], "little", signed=True)

    @property
    def ply(self) -> int:
        """Returns the number of moves played."""
        return int.from_bytes(self.data[4:8], "little", signed=True)

    @property
    def over(self) -> bool:
        """Returns whether the game has ended, by its rules or by an illegal move in an environment."""
        return self.player == OVER or self.ending is not None

    def array(self) -> np.ndarray:
        """Returns a fresh writable copy of the state vector: [state_bytes] uint8."""
        return np.frombuffer(bytearray(self.data), np.uint8)

    @property
    def words(self) -> bytes:
        """Returns the key of the position as its game writes it: [key_words] uint64."""
        if self._words is None:
            room = np.zeros(self.rules.key_words + SLACK, np.uint64)
            words = room[: self.rules.key_words]
            self.rules.kernels.key(self.rules.config, self.array(), words)
            self._raise_caught()
            if room[len(words) :].any():
                raise RuntimeError(f"key of {self.rules} writes more than {len(words)} words")
            object.__setattr__(self, "_words", words.tobytes())
            return words.tobytes()
        return self._words

    @property
    def key(self) -> bytes:
        """Returns the exact position, by which states are hashed and compared: the words, then the ply in 8 bytes."""
        return self.words + self.ply.to_bytes(8, "little")

    def legal_actions(self) -> list[int]:
        """Returns the legal actions, ascending; none when the game is over."""
        actions = np.empty(self.rules.actions, np.int32)
        count = self.rules.kernels.legal_actions(self.rules.config, self.array(), actions)
        self._raise_caught()
        return [int(action) for action in actions[:count]]

    def action_name(self, action: int) -> str:
        """Returns the text of an action in this state, as players of the game write it."""
        return self.rules.action_name(self, action)

    def action_named(self, text: str) -> int:
        """Returns the action of a text in this state. Raises ValueError with one sentence for a text that names none."""
        return self.rules.action_named(self, text)

    def after(self, action: int) -> State:
        """Returns the state after a legal action.

        Raises ValueError for an illegal one. Raises TypeError for anything but a whole number, and for a live game, whose
        only state is its root.
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
        """Returns each player's payoff in [0, 1]. Raises ValueError while the game goes on."""
        if self.player != OVER:
            raise ValueError("payoffs are known when the game is over, and this one goes on")
        out = np.zeros(self.rules.players)
        self.rules.kernels.payoffs(self.rules.config, self.array(), out)
        return [float(payoff) for payoff in out]

    def _raise_caught(self) -> None:
        """Raises the exception that a kernel with callbacks has caught."""
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
