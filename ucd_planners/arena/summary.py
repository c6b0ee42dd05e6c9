"""Summaries of a store: each configuration with its score, from sums that the store keeps, without a look at its games."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan, sqrt
from typing import Any

from ucd_planners.intervals import student, wilson

KNOWN = ("planners", "study", "game", "settings", "seed", "ucd-planners")
"""Names in a configuration that every summary shows."""


@dataclass(frozen=True)
class Total:
    """Sums over games: their number, payoffs, squares of payoffs, and how many payoffs were 1, 1/2 and 0."""

    games: int
    total: float
    squares: float
    wins: int
    draws: int
    losses: int

    @property
    def mean(self) -> float:
        """Returns the mean payoff; NaN without games."""
        return self.total / self.games if self.games else nan

    @property
    def decided(self) -> bool:
        """Returns whether every game was won, drawn or lost."""
        return self.wins + self.draws + self.losses == self.games

    @property
    def interval(self) -> tuple[float, float]:
        """Returns the 95% interval of the mean as Score does: Wilson's if every game was decided, else Student's."""
        if self.decided:
            return wilson(self.total, self.games)
        if self.games < 2:
            return 0.0, 1.0
        spread = max(0.0, self.squares - self.total**2 / self.games) / (self.games - 1)
        reach = student(0.95, self.games - 1) * sqrt(spread / self.games)
        return max(0.0, self.mean - reach), min(1.0, self.mean + reach)


@dataclass(frozen=True)
class Summary:
    """The games of one configuration in a store."""

    number: int
    """Number of the configuration in its store, from 1."""
    text: str
    """Everything that decides the games, as configuration() wrote it."""
    games: int
    distinct: int
    seconds: float
    """Wall-clock time of all games, one after another."""
    longest: int
    """Moves of the longest game; 0 in a study, which keeps no moves."""
    totals: Mapping[tuple[int, int], Total]
    """Sums by the seat of planner a and the place of a payoff."""

    @cached_property
    def about(self) -> Mapping[str, Any]:
        """Returns what decides the games by name."""
        return dict(json.loads(self.text))

    @property
    def planners(self) -> tuple[str, ...]:
        """Returns the canonical texts of the planners: a, and b if there is one."""
        return tuple(map(str, self.about.get("planners", [self.about.get("study", "")])))

    @property
    def game(self) -> str:
        """Returns the game with its settings, without those that are off or empty."""
        settings = [
            f"{name}={value}" for name, value in self.about.get("settings", {}).items() if value not in (False, "", None)
        ]
        name = str(self.about.get("game", ""))
        return f"{name}({', '.join(settings)})" if settings else name

    @property
    def further(self) -> dict[str, Any]:
        """Returns what else decides the games, such as the numbers of playouts of a study."""
        return {name: value for name, value in self.about.items() if name not in KNOWN}

    @property
    def side(self) -> int:
        """Returns the place of the payoff that counts: a's, or in a study that of the most playouts."""
        return 0 if "planners" in self.about else max((side for _, side in self.totals), default=0)

    def score(self, seat: int | None = None) -> Total:
        """Returns the score of a, in one seat or in all; of a study the share of right moves after the most playouts."""
        return added([total for (a, side), total in self.totals.items() if side == self.side and seat in (None, a)])

    def row(self) -> dict[str, Any]:
        """Returns the summary as one flat object, with percentages from 0 to 100 and None for unknown values."""
        score = self.score()
        low, high = score.interval
        a, b = (*self.planners, None)[:2]
        decided = score.decided and bool(score.games)
        return {
            "configuration": self.number,
            "game": self.game,
            "a": a,
            "b": b,
            "seed": self.about.get("seed"),
            "version": self.about.get("ucd-planners"),
            "games": self.games,
            "percent": _percent(score.mean) if score.games else None,
            "interval_low": _percent(low),
            "interval_high": _percent(high),
            "wins": score.wins if decided else None,
            "draws": score.draws if decided else None,
            "losses": score.losses if decided else None,
            "games_as_first": self.score(0).games,
            "distinct_games": self.distinct if self.longest else None,
            "seconds": round(self.seconds, 3),
            **{name.replace("-", "_"): json.dumps(value) for name, value in self.further.items()},
        }


def added(totals: Sequence[Total]) -> Total:
    """Returns the sums of several sets of games as one."""
    games, wins, draws, losses = (sum(getattr(each, name) for each in totals) for name in ("games", "wins", "draws", "losses"))
    return Total(games, sum(each.total for each in totals), sum(each.squares for each in totals), wins, draws, losses)


def _percent(share: float) -> float:
    return round(100 * share, 4)
