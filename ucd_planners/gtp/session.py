"""A session with a controller: the board, the planner, the clocks, and how a move is chosen."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from ucd_planners.gtp.analysis import Watch, both
from ucd_planners.gtp.board import Board, wins_at_once
from ucd_planners.gtp.clock import Clock, Control
from ucd_planners.gtp.protocol import COLOURS, RESIGN, GTPError
from ucd_planners.planner import Planner
from ucd_planners.result import SearchResult

Budget = Mapping[str, Any]
"""Playouts or seconds of a search, by name."""
OWN_BUDGET: Budget = {}
"""The planner's own budget."""
UNTIL_STOPPED: Budget = {"seconds": 1e9}
"""Thirty years, in effect until the search is stopped."""


class Session:
    """A board, a planner and two clocks, between one command and the next.

    Parameters and errors are those of Engine.
    """

    def __init__(
        self, game: str, settings: Mapping[str, Any], planner: Planner, name: str, resign: float, waiting: Callable[[], bool]
    ) -> None:
        self.board = Board(game, settings)
        if self.board.rules.players != 2:
            raise ValueError(f"GTP needs a game of two players, but {self.board.rules} has {self.board.rules.players}")
        if self.board.rules.has_chance:
            raise ValueError(f"GTP knows no dice, and {self.board.rules} is a game with chance")
        planner.check(self.board.rules)
        if not 0 <= resign <= 1:
            raise ValueError(f"resign must be from 0 to 1, not {resign}")
        self.planner, self.name, self.resign, self.waiting = planner, name, resign, waiting
        self.clocks: list[Clock] | None = None
        self.left = False
        """Whether `quit` was received."""
        self.names: Collection[str] = ()
        """Names of the commands."""
        self._searched = self.board.states

    def search(self, player: int, budget: Budget = OWN_BUDGET, watch: Watch | None = None) -> SearchResult:
        """Searches for a player's next move, without knowledge of games before this one. Ctrl-C raises KeyboardInterrupt."""
        if self._searched is not self.board.states:
            self.planner.forget()
            self._searched = self.board.states
        progress = None if watch is None else both(self.planner.progress, watch)
        found = self.planner.search(self.board.facing(player), progress=progress, **budget)
        if found.stopped == "interrupt":
            raise KeyboardInterrupt
        return found

    def choice(self, player: int, timed: bool, watch: Watch | None = None, cleanup: bool = False) -> int | None:
        """Returns the action for a player, or None to resign.

        In a game that is over it passes, or with `cleanup` searches where passes alone have ended the game. In a finished game
        without passes the player who has lost resigns, such as one without a legal move, and GTPError is raised for others.
        """
        state = self.board.facing(player) if cleanup else self.board.state
        if state.over:
            action = self.board.passing()
            if action is None and state.payoffs()[player] > 0:
                raise GTPError("the game is over")
            return action
        state = self.board.facing(player)
        began = time.perf_counter()
        clock = self.clocks[player] if timed and self.clocks is not None else None
        share = None if clock is None else clock.share((len(state.legal_actions()) + 1) // 2)
        found = self.search(player, OWN_BUDGET if share is None else {"seconds": share}, watch)
        if clock is not None:
            clock.spend(time.perf_counter() - began)
        if found.value < self.resign and not wins_at_once(state):
            return None
        return found.action

    def moved(self, player: int, watch: Watch | None = None, cleanup: bool = False) -> str:
        """Chooses a move as `choice` does and plays it. Returns its text."""
        action = self.choice(player, True, watch, cleanup)
        if action is None:
            return RESIGN
        name = self.board.state.action_name(action)
        self.board.push(player, action)
        return name

    def control(self, control: Control | None) -> None:
        """Sets both clocks to a time control, None for the planner's own budget."""
        self.clocks = None if control is None else [Clock(control) for _ in COLOURS]

    def restart_clocks(self) -> None:
        """Sets the clocks to the start of a game."""
        if self.clocks is not None:
            self.clocks = [Clock(clock.control) for clock in self.clocks]
