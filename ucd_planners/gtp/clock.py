"""A player's clock: the time left, and the part of it for the next move."""

from __future__ import annotations

from dataclasses import dataclass

LAG = 0.05
"""Seconds of each move reserved for communication and for the end of a search."""
LEAST = 0.01
"""Least seconds for a move, however little time is left."""
FEWEST = 10
"""Least number of moves to come over which the main time is shared."""


@dataclass(frozen=True)
class Control:
    """Main time, then periods of `byo_yomi` seconds for `stones` moves each. If both are 0, there is only main time.

    With `japanese` byo-yomi a period is for one move, and begins anew unless the move takes longer.
    """

    main: float
    byo_yomi: float
    stones: int
    japanese: bool = False

    @property
    def unlimited(self) -> bool:
        """Returns whether there is no limit: periods without moves [GTP 2, time_settings]."""
        return self.byo_yomi > 0 and self.stones == 0


class Clock:
    """One player's clock. It runs by itself, and is corrected whenever the controller sends the time left."""

    def __init__(self, control: Control) -> None:
        self.control = control
        self.left = control.main
        self.stones = 0
        """Moves to make in the time left; 0 in the main time."""
        if not control.main:
            self._begin_period()

    def set(self, seconds: float, stones: int) -> None:
        """Sets the time left: of the main time (0 stones), or of a period for `stones` moves. It may be below zero.

        In Japanese byo-yomi controllers send the number of periods left instead of the moves.
        """
        self.left, self.stones = seconds, min(stones, 1) if self.control.japanese else stones
        if seconds == 0 and stones == 0:
            self._begin_period()

    def share(self, moves: int) -> float | None:
        """Returns seconds for the next move when the player has `moves` moves to come; None without a limit.

        In a period it is an equal part. In the main time it is also an equal part, but at least the part of a period, since
        every later move has that much.
        """
        if self.control.unlimited:
            return None
        if self.left < 0:
            return LEAST
        if self.stones:
            share = self.left / self.stones
        else:
            share = self.left / max(moves, FEWEST)
            if self.control.stones:
                share = max(share, self.control.byo_yomi / self.control.stones)
        return max(LEAST, share - LAG)

    def spend(self, seconds: float) -> None:
        """Subtracts the time of a move."""
        self.left -= seconds
        if not self.stones and self.left <= 0:
            over = self.left
            self._begin_period()
            self.left += over
        if self.stones:
            self.stones -= 1
            if not self.stones:
                self._begin_period()

    def _begin_period(self) -> None:
        self.stones = self.control.stones
        self.left = self.control.byo_yomi if self.stones else 0.0
