"""The suite's best program of a game, by the rated ladder that is kept with the package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ucd_envs import registry
from ucd_planners.notation import planner_from
from ucd_planners.planner import Planner

PLACE = Path(__file__).parent / "ladders.json"
"""The ladders: for each game its players with their ratings, and the results between them."""


def strong(game: str, **settings: Any) -> Planner:
    """Returns a planner with its budget: the program with the highest rating on the ladder of a game, all with 10,000 playouts.

    game: a name with or without its version; settings: those of the game. A configuration without a ladder has the program of
    the same game's ladder that is the largest. Raises ValueError for a game without any, with the games that have one, and as
    ucd_envs.make_rules does.
    """
    rules = registry.make_rules(game, **settings)
    kept = ladders()
    rows = [row for row in kept.values() if registry.versioned(row["game"]) == rules.name]
    if not rows:
        names = sorted({registry.versioned(row["game"]) for row in kept.values()})
        raise ValueError(f"{rules.name} has no ladder that says which program is best: there is one of {', '.join(names)}")
    row = kept.get(str(rules)) or max(rows, key=lambda each: each["actions"])
    programs = [player for player in row["players"] if player["program"]]
    return planner_from(max(programs, key=lambda player: player["elo"])["player"])


def ladders(path: Path = PLACE) -> dict[str, Any]:
    """Returns the ladders of a file by the text of their game with all settings. Raises OSError for a missing file."""
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return kept
