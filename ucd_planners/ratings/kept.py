"""Facts of a store about its games, beyond their results: the configurations, and the session that added each game."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any

from ucd_planners.arena.contest import Contest
from ucd_planners.arena.store import Store, configuration


def configurations(store: Store) -> list[dict[str, Any]]:
    """Returns the configurations of all games in a store. Raises OSError for a damaged one."""
    return [json.loads(text) for (text,) in _rows(store, "SELECT text FROM configurations")]


def sessions_of(store: Store, match: Contest) -> dict[int, int]:
    """Returns the session of each stored game of a match, by the game's number."""
    statement = (
        "SELECT number, session FROM games JOIN configurations ON configurations.id = games.configuration WHERE text = ?"
    )
    return dict(_rows(store, statement, configuration(match)))


def _rows(store: Store, statement: str, *values: Any) -> list[Any]:
    try:
        with closing(sqlite3.connect(store.path, timeout=60)) as database:
            return database.execute(statement, values).fetchall()
    except sqlite3.Error as error:
        raise OSError(f"{store.path} cannot be used: {error}") from None
