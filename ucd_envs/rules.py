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
  is among these;
- where the player is CHANCE, `legal_actions` lists the outcomes that can come, `draw` returns one of them by their
  probabilities, `probability` tells each, and `play` lets it come; `playout` draws them in the same way;
- `Rules.turn` changes mover and key and not the ply, and back again; `Rules.validate` accepts the states of all kernels.

Bytes from outside are checked where they become a State: `State(rules, data)` and unpickling. States of the game's own kernels
are not: `initial_state`, `after`, `turned`, `clone_state`, and all inside a search.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from struct import Struct
from typing import Any, NamedTuple

import numpy as np

from ucd_envs import defaults
from ucd_envs.bindings import bound
from ucd_envs.defaults import LINK_BYTES, LINKS, SLACK
from ucd_envs.interface import SIGNATURES, Grouping, Kernels, PythonGame, RootedGame, Victory
from ucd_envs.kernels import CHANCE, HEADER, OVER, compiled
from ucd_envs.settings import integer
from ucd_envs.structs import fields
from ucd_envs.symmetries import Symmetries

MOST_PLAYERS, MOST_ACTIONS, MOST_PLIES = 2**10, 2**16, 2**30
_read_header = Struct("<ii").unpack_from


class Inside(NamedTuple):
    """The game inside a grouped one."""

    rules: Rules
    grouping: Grouping
    source: Any
    """Groups from which the grouping was made, by which the rules are pickled."""
    memory: np.ndarray
    """Parameters at the address that compiled code has: [any] uint8."""


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
    at the bottom), "column" (stones fall), "track" (a line of steps), "tiles" (numbers 2**k), "numbered" (stones with
    numbers), "checkered", "discs" or "chess" (the first row at the bottom), "quadrants" (four parts that turn), "pieces"
    (pieces with four properties), "cross" (some cells of a rectangle) or "rings" (nine men's morris). None for a game that
    only lists its moves."""
    drawing: Callable[[State], str] | None = None
    """Returns a board as text, for a game without a tiling. None itself for a game that has none."""
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
    """The game behind kernels that call back into Python, None for all other games."""
    layout: np.dtype[Any] = HEADER
    """Record at the beginning of a state. Pickled states carry its digest, and one of another version is refused."""
    validate: Callable[[np.ndarray, np.ndarray], bool] | None = None
    """Returns whether the fields of a state agree: validate(config, state). It is called with any bytes whose player and ply
    are in range, must end on all of them, and changes nothing. None itself for a game that checks no more than these two."""
    turn: Callable[[np.ndarray, np.ndarray, int], None] | None = None
    """Sets another player to move in place, such as `set_mover`: turn(config, state, player). None itself for a game whose
    players move only in turn, such as one whose key does not tell the mover."""
    symmetries: Symmetries | None = None
    """Symmetries of the game. None for a game that names none."""
    shrinking: bool = False
    """Whether playable actions only become fewer: one that was played, or is not playable, never is again in the same game."""
    solution: Callable[[State], list[int]] | None = None
    """Returns the actions that are right with best play afterwards. None itself for a game whose values are not known."""
    groups: Grouping | None = None
    """Move groups that belong to the game itself. None for a game without any."""
    inside: Inside | None = None
    """The game inside a grouped one, whose playouts it plays. None for all others."""

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
        optional = {
            name: None if getattr(kernels, name) is getattr(defaults, name) else getattr(kernels, name)
            for name in ("playout_action", "draw", "probability")
        }
        links = bound(
            LINKS,
            **{name: getattr(kernels, name) for name in ("legal_actions", "play", "key", "playout_actions")},
            **optional,
            **{f"has_{name}": made is not None for name, made in optional.items()},
            **{"actions": self.actions, "key_words": self.key_words, "max_plies": self.max_plies},
        )
        linked = np.zeros(-(-len(own) // 8) * 8 + LINK_BYTES, np.uint8)
        linked[: len(own)] = own
        linked[-LINK_BYTES:] = links.view(np.uint8)
        planes = (1, 1, 64 * self.key_words) if kernels.observe is defaults.observe else self.planes
        vars(self).update(kernels=kernels, config=linked, config_bytes=len(own), planes=planes)

    def _check(self) -> None:
        """Raises TypeError or ValueError with one sentence for invalid facts."""
        sizes = {"players": MOST_PLAYERS, "actions": MOST_ACTIONS, "max_plies": MOST_PLIES, "key_words": MOST_ACTIONS}
        for name, most in sizes.items():
            integer(name, getattr(self, name), 1, most)
        if integer("state_bytes", self.state_bytes, 8, MOST_PLIES) % 8:
            raise ValueError(f"state_bytes must be a multiple of 8, not {self.state_bytes}")
        if not isinstance(self.config, np.ndarray) or self.config.dtype != np.uint8 or self.config.ndim != 1:
            raise TypeError("config must be a vector of bytes, such as structs.configuration makes")
        if not isinstance(self.kernels, Kernels):
            raise TypeError(f"kernels must be Kernels(...), not {type(self.kernels).__name__}")
        if self.kernels.observe is not None and min(self.planes) < 1:
            raise ValueError("planes must be given with an observe kernel: the rows, columns and planes that it writes")
        if self.layout.descr[:2] != HEADER.descr[:2] or self.layout.itemsize > self.state_bytes:
            raise ValueError("layout must begin with player and ply, each np.int32, and be no longer than state_bytes")

    @property
    def own_config(self) -> np.ndarray:
        """Returns the game's own part of `config`: [config_bytes] uint8, a view."""
        return self.config[: self.config_bytes]

    @property
    def moves(self) -> int:
        """Returns the number of actions that playouts may play: all of them, but the picks of groups in a grouped game."""
        return self.actions if self.inside is None else self.inside.rules.actions

    @cached_property
    def has_chance(self) -> bool:
        """Returns whether chance decides some moves."""
        return self.kernels.draw is not defaults.draw or self.knows_probabilities

    @cached_property
    def knows_probabilities(self) -> bool:
        """Returns whether the game knows the probabilities of its outcomes."""
        return self.kernels.probability is not defaults.probability

    @cached_property
    def rooted(self) -> RootedGame | None:
        """Returns the live game whose only state is its root, None for a game in which moves lead to states."""
        return self.live if isinstance(self.live, RootedGame) else None

    @cached_property
    def identity(self) -> tuple[Any, ...]:
        """Returns the facts that two Rules must share for a state of one to be a state of the other."""
        own = sha256(self.own_config.data).digest() if self.inside is None else self.inside.rules.identity
        return (self.name, own, self.state_bytes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rules):
            return NotImplemented
        return self is other or (self.kernels == other.kernels and self.identity == other.identity)

    def __hash__(self) -> int:
        return hash(self.identity)

    @cached_property
    def digest(self) -> str:
        """Returns a digest of a state's layout and size and, but for a live game, of the configuration."""
        found = sha256(repr((self.layout.descr, self.state_bytes)).encode())
        if self.inside is not None:  # the configuration holds addresses
            found.update(f"{self.inside.rules.digest} {self.inside.grouping.name}".encode())
        elif self.live is None:
            found.update(self.own_config.data)
        return found.hexdigest()[:16]

    def initial_state(self) -> State:
        """Returns the state before the first move."""
        state = np.zeros(self.state_bytes, np.uint8)
        self.kernels.reset(self.config, state)
        return State.trusted(self, state.tobytes())

    def checked(self, data: bytes) -> bytes:
        """Returns the bytes of a state if they can be one: their length, player and ply, then `validate`.

        Raises TypeError for anything but bytes, ValueError with one sentence for bytes that no game leaves.
        """
        if not isinstance(data, bytes):
            raise TypeError(f"a state is made of bytes, not of {type(data).__name__}")
        if len(data) != self.state_bytes:
            raise ValueError(f"a state of {self} has {self.state_bytes} bytes, not {len(data)}")
        player, ply = _read_header(data)
        if not (OVER <= player < self.players or (player == CHANCE and (self.has_chance or self.rooted is not None))):
            raise ValueError(
                f"no state of {self}: the player to move is 0 to {self.players - 1}, or -1 at the end, not {player}"
            )
        last = MOST_PLIES if self.rooted is not None else self.max_plies - (player != OVER)
        if not 0 <= ply <= last:
            raise ValueError(f"no state of {self}: the ply is 0 to {last}, not {ply}")
        if self.validate is not None and not self.validate(self.config, np.frombuffer(bytearray(data), np.uint8)):
            raise ValueError(f"no state of {self}: its fields contradict each other")
        return data

    def __deepcopy__(self, memo: dict[int, Any]) -> Rules:
        return self

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in self.settings.items())})"


class State:
    """An immutable snapshot of a game: hashed and compared by exact position and ply.

    Two move orders to one position give equal states. State(rules, data) and unpickling raise as `Rules.checked` does, and
    unpickling ValueError for another version's layout.

    `ending` is set by an environment once a game has ended: the agents left and their rewards. It is empty while the game
    goes on and takes no part in equality.
    """

    __slots__ = ("_words", "data", "ending", "rules")
    rules: Rules
    data: bytes
    ending: Any
    _words: bytes | None

    def __init__(self, rules: Rules, data: bytes, ending: Any = None) -> None:
        if not isinstance(rules, Rules):
            raise TypeError(f"expected Rules, such as make_rules returns, not {type(rules).__name__}")
        self._write(rules, rules.checked(data), ending)

    @classmethod
    def trusted(cls, rules: Rules, data: bytes, ending: Any = None) -> State:
        """Returns the state in bytes that the game's own kernels have written, unchecked."""
        state = cls.__new__(cls)
        state._write(rules, data, ending)
        return state

    def _write(self, rules: Rules, data: bytes, ending: Any) -> None:
        set_once = object.__setattr__
        set_once(self, "rules", rules)
        set_once(self, "data", data)
        set_once(self, "ending", ending)
        set_once(self, "_words", None)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a State does not change: clone_state() and after() give another")

    @property
    def player(self) -> int:
        """Returns the player to move, OVER (-1) when the game is over, or CHANCE where an outcome is drawn."""
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
        words = self._words
        if words is None:
            count = self.rules.key_words
            room = np.zeros(count + SLACK, np.uint64)
            self.rules.kernels.key(self.rules.config, self.array(), room[:count])
            self._raise_caught()
            written = room.tobytes()
            if written[8 * count :] != bytes(8 * SLACK):
                raise RuntimeError(f"key of {self.rules} writes more than {count} words")
            words = written[: 8 * count]
            object.__setattr__(self, "_words", words)
        return words

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
        if self.rules.rooted is not None:
            raise TypeError(f"{self.rules.name} is one game of Python: step its environment instead")
        state = self.array()
        action = operator.index(action)
        if not 0 <= action < self.rules.actions or not self.rules.kernels.is_legal(self.rules.config, state, action):
            raise ValueError(f"action {action} is not legal here: expected one of {self.legal_actions()}")
        self.rules.kernels.play(self.rules.config, state, action)
        self._raise_caught()
        return State.trusted(self.rules, state.tobytes())

    def outcome(self, rng: np.ndarray) -> int:
        """Returns an outcome drawn by chance, an action for `after`.

        rng: [2] uint64, a generator of ucd_envs.rng, which goes on. Raises ValueError where a player is to move or the game is
        over.
        """
        if self.player != CHANCE:
            raise ValueError("there is nothing to draw: the move is not left to chance")
        return int(self.rules.kernels.draw(self.rules.config, self.array(), rng))

    def settled(self, rng: np.ndarray) -> State:
        """Returns the position where a player is to move or the game is over, after drawing every outcome that comes before.

        rng: as in `outcome`.
        """
        state = self
        while state.player == CHANCE:
            state = state.after(state.outcome(rng))
        return state

    def turned(self, player: int) -> State:
        """Returns this position with a player to move, in turn or not. The ply stays.

        Raises ValueError when the game is over or chance is to move, for a player that does not exist, and for one out of turn
        in a game whose players move only in turn.
        """
        if not 0 <= player < self.rules.players:
            raise ValueError(f"players are 0 to {self.rules.players - 1}, not {player}")
        if self.over:
            raise ValueError("the game is over: no player is to move")
        if self.player == CHANCE:
            raise ValueError("the move is left to chance: no player is to move")
        if player == self.player:
            return self
        if self.rules.turn is None:
            raise ValueError(f"players of {self.rules.name} move only in turn, and player {self.player} is to move")
        state = self.array()
        self.rules.turn(self.rules.config, state, player)
        return State.trusted(self.rules, state.tobytes())

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

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (_unpickled, (self.rules, self.data, self.ending, self.rules.digest))

    def __repr__(self) -> str:
        mover = {OVER: "over", CHANCE: "chance to move"}.get(self.player, f"player {self.player} to move")
        return f"State({self.rules}, ply {self.ply}, {mover})"


def set_mover(config: np.ndarray, state: np.ndarray, player: int) -> None:
    """Sets the player to move and nothing else: `Rules.turn` of many games."""
    fields(state, HEADER).player = player


def _unpickled(rules: Rules, data: bytes, ending: Any, digest: str) -> State:
    """Returns a pickled state. Raises ValueError for one of another layout or configuration."""
    if digest != rules.digest:
        raise ValueError(f"this state was pickled by another version, whose states of {rules.name} have another layout")
    return State(rules, data, ending)
