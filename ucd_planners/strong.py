"""The suite's best program of a game, by the rated ladder that is kept with the package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ucd_envs.settings import shown
from ucd_planners.notation import planner_from
from ucd_planners.planner import Planner

PLACE = Path(__file__).parent / "ladders.json"
"""The ladders: for each game its players with their ratings, and the results between them."""


def strong(game: str, **settings: Any) -> Planner:
    """Returns a planner with its budget: the program with the highest rating on the ladder of a game, all with 10,000 playouts.

    game: a name with or without its version; settings: those of the game. A configuration without a ladder has the program of
    the same game's ladder that is the largest. Raises ValueError for a game without any, with the games that have one.
    """
    if not isinstance(game, str):
        raise TypeError(f"a game's name must be text such as 'hex', not {shown(game)}")
    kept, wanted = ladders(), game.replace("-", "_")
    names = {key.partition("(")[0] for key in kept}
    name = next((known for known in names if wanted in (known, known.rpartition("_v")[0])), None)
    found = [row for key, row in kept.items() if key.partition("(")[0] == name]
    if not found:
        raise ValueError(
            f"{shown(game)} has no ladder that says which program is best: there is one of {', '.join(sorted(names))}"
        )
    same = [row for row in found if settings.items() <= row["settings"].items()]
    row = max(same or found, key=lambda each: each["actions"])
    programs = [player for player in row["players"] if player["program"]]
    return planner_from(max(programs, key=lambda player: player["elo"])["player"])


def ladders(path: Path = PLACE) -> dict[str, Any]:
    """Returns the ladders of a file by the text of their game with all settings. Raises OSError for a missing file."""
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return kept
