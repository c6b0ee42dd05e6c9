"""A player's time: what is left, and how much of it the next move may take."""

from __future__ import annotations

from dataclasses import dataclass

LAG = 0.05
"""Seconds of each move that are kept for the way there and back, and for the end of a search."""
LEAST = 0.01
"""Seconds that a move takes however late it is."""
FEWEST = 10
"""Moves to come at least, as far as the main time is shared out."""


@dataclass(frozen=True)
class Control:
    """Main time, then periods of `byo_yomi` seconds for `stones` moves each; the main time is all there is if both are 0."""

    main: float
    byo_yomi: float
    stones: int

    @property
    def unlimited(self) -> bool:
        """Periods without moves stand for no limit [GTP 2, time_settings]."""
        return self.byo_yomi > 0 and self.stones == 0


class Clock:
    """One player's clock. It runs by itself, and is set right whenever the controller tells what is left."""

    def __init__(self, control: Control) -> None:
        self.control = control
        self.left = control.main
        self.stones = 0
        """Moves to make in the time left; 0 in the main time."""
        if not control.main:
            self._begin_period()

    def set(self, seconds: float, stones: int) -> None:
        """What the controller says is left: of the main time (0 stones), or of a period for so many stones."""
        self.left, self.stones = seconds, stones
        if seconds <= 0 and stones == 0:
            self._begin_period()

    def share(self, moves: int) -> float | None:
        """Seconds for the next move when the player has so many to come; None without a limit.

        In a period its equal part; in the main time an equal part too, but not less than a period will give, since that much
        is there for every move afterwards.
        """
        if self.control.unlimited:
            return None
        if self.stones:
            share = self.left / self.stones
        else:
            share = self.left / max(moves, FEWEST)
            if self.control.stones:
                share = max(share, self.control.byo_yomi / self.control.stones)
        return max(LEAST, share - LAG)

    def spend(self, seconds: float) -> None:
        """A move was made that took so long."""
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
