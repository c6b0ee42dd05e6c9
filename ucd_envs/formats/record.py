"""A recorded game, and its moves in turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ucd_envs.rules import Rules, State

COLOURS = ("Black", "White")


@dataclass(frozen=True)
class Record:
    """A game from its first position on."""

    rules: Rules
    actions: tuple[int, ...]
    comments: tuple[str, ...]
    """One comment for each action."""
    players: tuple[str, str]
    """Names of player 0 and player 1, empty where missing, as are the result and the event."""
    result: str
    event: str

    def states(self) -> Iterator[State]:
        """Returns the states before the first move and after each move."""
        state = self.rules.initial_state()
        yield state
        for action in self.actions:
            state = state.after(action)
            yield state

    @cached_property
    def state(self) -> State:
        """Returns the state after the last move."""
        return deque(self.states(), maxlen=1)[0]


def after_move(state: State, player: int, action: int) -> State:
    """Returns the state after a player's move. Raises ValueError with the reason for an illegal one."""
    if state.over:
        raise ValueError("the game is over")
    if player != state.player:
        raise ValueError(f"it is {COLOURS[state.player]}'s turn")
    try:
        return state.after(action)
    except ValueError:
        raise ValueError(state.rules.why_illegal(action)) from None
