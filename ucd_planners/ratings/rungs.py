"""The rungs of the rated ladder: UCT with 1 to 100,000 playouts, the suite's programs, and perfect play in small games.

UCT has its default, c = 0.3. Programs are presets with their defaults and 10,000 playouts a move; that of Go also has the
playouts of an expert. Neighbouring rungs meet each other, programs meet UCT with their playouts and the rung above, and perfect
play meets the three highest rungs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ucd_envs import registry
from ucd_planners.arena.contest import Match
from ucd_planners.notation import planner_from
from ucd_planners.ratings.openings import RandomOpenings
from ucd_planners.ratings.perfect import REFERENCE
from ucd_planners.ratings.tournament import paired

PLAYOUTS = (1, 10, 100, 1_000, 10_000, 100_000)
"""Playouts a move of UCT on the ladder."""
PROGRAM_PLAYOUTS = 10_000
"""Playouts a move of the programs."""
PROGRAMS = ("rave", "grave", "ucd")
"""Programs of most games."""
GO_PROGRAMS = ("rave", "rave(policies=go_expert)")
PLIES = 2
"""Random plies before each pair of games."""
GAMES = 200
"""Games of two neighbouring rungs by default."""
SHARES = {1_000: 1.0, 10_000: 0.5, 100_000: 0.2}
"""Share of the games that a pairing has, by the most playouts of its players. Long searches take time."""


@dataclass(frozen=True)
class Rungs:
    """The players of a game's ladder and their pairings."""

    game: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    programs: tuple[str, ...] = PROGRAMS
    perfect: bool = False
    """Whether the game is small enough for perfect play."""

    @property
    def name(self) -> str:
        """Returns the game with all its settings, the key of its ladder."""
        return key_of(self.game, self.settings)

    def players(self) -> list[str]:
        """Returns the texts of all players: UCT by playouts, programs, perfect play."""
        rungs = [rung(playouts) for playouts in PLAYOUTS]
        return rungs + [program(text) for text in self.programs] + [REFERENCE] * self.perfect

    def matches(self, games: int = GAMES, seed: int = 0) -> list[tuple[tuple[str, str], Match]]:
        """Returns the two players of each pairing and their match.

        games: those of rungs below 10,000 playouts, an even number.
        """
        top = len(PLAYOUTS) - 1
        meetings = [(rung(PLAYOUTS[place]), rung(PLAYOUTS[place + 1]), PLAYOUTS[place + 1]) for place in range(top)]
        for text in self.programs:
            meetings.append((program(text), rung(PROGRAM_PLAYOUTS), PROGRAM_PLAYOUTS))
            meetings.append((program(text), rung(PLAYOUTS[top]), PLAYOUTS[top]))
        if self.perfect:
            meetings += [(REFERENCE, rung(playouts), playouts) for playouts in PLAYOUTS[top - 2 :]]
        found = []
        for one, other, playouts in meetings:
            share = next((share for most, share in SHARES.items() if playouts <= most), 0.1)
            count = max(2, 2 * round(games * share / 2))
            match = paired(self.game, one, other, self.settings, {}, count, seed, RandomOpenings(PLIES, seed))
            found.append(((str(match.a), str(match.b)), match))
        return found


def key_of(game: str, settings: Mapping[str, Any]) -> str:
    """Returns the text of a game with all its settings. Raises ValueError or TypeError as make_rules does."""
    return str(registry.make_rules(game, **settings))


def rung(playouts: int) -> str:
    """Returns the text of UCT with some playouts a move."""
    return f"uct(c=0.3,playouts={playouts})"


def program(text: str) -> str:
    """Returns the text of a program with its playouts."""
    return f"{text[:-1]},playouts={PROGRAM_PLAYOUTS})" if text.endswith(")") else f"{text}(playouts={PROGRAM_PLAYOUTS})"


def playouts_of(text: str) -> int | None:
    """Returns the playouts of UCT on the ladder; None for another player."""
    return next((playouts for playouts in PLAYOUTS if rung(playouts) == text), None)


def is_program(text: str) -> bool:
    """Returns whether a player is a planner with the playouts of programs, UCT among them."""
    return text != REFERENCE and planner_from(text).playouts == PROGRAM_PLAYOUTS


OWN = (
    Rungs("tic_tac_toe", perfect=True),
    Rungs("connect_four", {"columns": 4, "rows": 4}, perfect=True),
    Rungs("connect_four", {"columns": 4, "rows": 5}, perfect=True),
    Rungs("connect_four"),
    Rungs("hex", {"size": 3}, perfect=True),
    Rungs("hex", {"size": 5}),
    Rungs("hex", {"size": 7}),
    Rungs("breakthrough"),
    Rungs("othello"),
    Rungs("pentago"),
)
"""Ladders that `ucd rate --build` makes by default."""


def rungs_of(game: str | None, settings: Mapping[str, Any]) -> list[Rungs]:
    """Returns the rungs of a game in one configuration, or of all that OWN lists.

    Raises ValueError for a game that is not of two players.
    """
    if game is None:
        return list(OWN)
    rules = registry.make_rules(game, **settings)
    if rules.players != 2:
        raise ValueError(f"a ladder needs a game of two players, but {rules} has {rules.players}")
    programs = GO_PROGRAMS if rules.name.startswith("go_") else PROGRAMS
    return [
        next(
            (own for own in OWN if registry.versioned(own.game) == rules.name and own.name == str(rules)),
            Rungs(game, settings, programs),
        )
    ]
