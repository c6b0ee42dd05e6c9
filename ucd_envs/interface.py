"""The kernels that a game offers, and other parts of its `Rules`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol, runtime_checkable

from ucd_envs import defaults
from ucd_envs.kernels import (
    DRAW,
    IS_LEGAL,
    KEY,
    LEGAL_ACTIONS,
    OBSERVE,
    PLAY,
    PLAYOUT,
    PLAYOUT_ACTION,
    PROBABILITY,
    READ_PAYOFFS,
    RESET,
)


class PythonGame(Protocol):
    """A game behind kernels that call back into Python. One thread can search it at a time."""

    def reseed(self, seed: int) -> None:
        """Begins a new sequence of random numbers for a search."""

    def failure(self) -> BaseException | None:
        """Returns and clears the exception that a callback has caught, or None."""

    def listening(self) -> AbstractContextManager[None]:
        """Lets Ctrl-C reach callbacks while it lasts."""


@runtime_checkable
class RootedGame(PythonGame, Protocol):
    """A Python game whose only state is the root of its search."""

    def mover_after(self, state: Any, moves: Iterable[int]) -> int:
        """Returns the player to move after moves from the root, -1 when the game is over."""

    def facts(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Returns a function and its arguments that make Rules with the same facts in another process, without the game."""


class Kernels(NamedTuple):
    """The kernels of a game: five that every game has, and eight that it may leave out."""

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
    draw: Any = None
    """Draws an outcome where the player is CHANCE; by `probability` by default. A game without chance has neither."""
    probability: Any = None
    """Returns the probability of an outcome that `legal_actions` lists, above 0; they sum to 1. Without it searches count how
    often outcomes come."""

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
            self.draw or defaults.draw,
            self.probability or defaults.probability,
        )


SIGNATURES = Kernels(
    *(RESET, LEGAL_ACTIONS, PLAY, READ_PAYOFFS, KEY, IS_LEGAL, PLAYOUT, PLAYOUT_ACTION, LEGAL_ACTIONS, IS_LEGAL, OBSERVE),
    *(DRAW, PROBABILITY),
)


class Victory(NamedTuple):
    """The way a game was won."""

    kinds: tuple[str, ...]
    """Kinds of victory of the last move, such as "ring"."""
    cells: tuple[int, ...]
    """Actions of the winning stones, ascending."""


class Grouping(NamedTuple):
    """Move groups of a game in one configuration [Childs section 4]: the mover picks a group, and then a move of it."""

    name: str
    """Text of the grouping with its parameters, which tells it from all others of the game."""
    groups: int
    """Number of groups, 1 to 63."""
    kernel: Any
    """Kernel that returns the groups of a legal action as bits: kernel(config, state, memory, action), declared with
    @kernel(GROUPS)."""
    whole: int = -1
    """Group that holds every legal action, -1 for none."""
    memory: bytes = b""
    """Parameters that the kernels read."""
    key_words: int = 0
    """Size of `key` in words of 64 bits."""
    key: Any = None
    """Kernel that writes what the groups depend on beyond the game's own key: key(config, state, memory, words), declared with
    @kernel(GROUP_KEY)."""
    later: Any = None
    """A kernel such as `key` for a position behind the pick of the group that holds every action, whose moves depend on nothing
    more: it writes what the groups of later positions depend on. By default `key`."""
