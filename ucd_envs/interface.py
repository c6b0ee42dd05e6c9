"""The kernels that a game offers, and other parts of its `Rules`."""

from __future__ import annotations

from typing import Any, NamedTuple

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
