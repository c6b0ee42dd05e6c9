"""Tables of a store: their layout, sums that triggers keep as games are added, and the step from the layout before."""

from __future__ import annotations

MARK = 0x55434453
"""SQLite's application_id of a store: "UCDS"."""
LAYOUT = 3
"""SQLite's user_version of a store, which changes with the tables and with the texts of configurations.

1: planners as they were typed, one payoff a game. 2: planners in their canonical texts, a payoff for each planner. 3: sums
beside the games. A store of layout 2 becomes one of layout 3 when games are added to it; its games stay as they are.
"""
BEFORE = 2
"""The older layout that can still be read."""


def sums(kind: str = "") -> tuple[str, ...]:
    """Returns the statements that create the tables of sums and fill them from the games.

    `totals` has a row for each seat of a and each payoff's place, `counts` one for each configuration. kind: "TEMP " for tables
    that end with the connection.
    """
    return (
        f"CREATE {kind}TABLE totals (configuration INTEGER NOT NULL, seat INTEGER NOT NULL, side INTEGER NOT NULL,"
        " games INTEGER NOT NULL, total REAL NOT NULL, squares REAL NOT NULL, wins INTEGER NOT NULL, draws INTEGER NOT NULL,"
        " losses INTEGER NOT NULL, PRIMARY KEY (configuration, seat, side)) WITHOUT ROWID",
        f"CREATE {kind}TABLE counts (configuration INTEGER PRIMARY KEY, games INTEGER NOT NULL,"
        " distinct_games INTEGER NOT NULL, seconds REAL NOT NULL, longest INTEGER NOT NULL)",
        "INSERT INTO totals SELECT configuration, seat, key, count(*), sum(value), sum(value * value), sum(value = 1.0),"
        " sum(value = 0.5), sum(value = 0.0) FROM games, json_each(games.payoffs) GROUP BY configuration, seat, key",
        "INSERT INTO counts SELECT configuration, count(*), count(DISTINCT moves), sum(seconds), max(length(moves)) / 2"
        " FROM games GROUP BY configuration",
    )


KEPT = (
    "CREATE INDEX lines ON games (configuration, moves)",
    "CREATE TRIGGER added AFTER INSERT ON games BEGIN"
    " INSERT INTO totals SELECT NEW.configuration, NEW.seat, key, 1, value, value * value,"
    " value = 1.0, value = 0.5, value = 0.0 FROM json_each(NEW.payoffs) WHERE true"
    " ON CONFLICT (configuration, seat, side) DO UPDATE SET games = games + 1,"
    " total = total + excluded.total, squares = squares + excluded.squares, wins = wins + excluded.wins,"
    " draws = draws + excluded.draws, losses = losses + excluded.losses;"
    " INSERT INTO counts SELECT NEW.configuration, 1, NOT EXISTS (SELECT 1 FROM games WHERE configuration = NEW.configuration"
    " AND moves = NEW.moves AND number <> NEW.number), NEW.seconds, length(NEW.moves) / 2 WHERE true"
    " ON CONFLICT (configuration) DO UPDATE SET games = games + 1, distinct_games = distinct_games + excluded.distinct_games,"
    " seconds = seconds + excluded.seconds, longest = max(longest, excluded.longest);"
    " END",
)
"""An index of the moves, by which a game is seen to be a new one, and the trigger that adds each game to the sums."""
TABLES = (
    "CREATE TABLE configurations (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)",
    "CREATE TABLE sessions (id INTEGER PRIMARY KEY, began TEXT NOT NULL, python TEXT NOT NULL, numpy TEXT NOT NULL,"
    " numba TEXT NOT NULL, platform TEXT NOT NULL)",
    "CREATE TABLE games (configuration INTEGER NOT NULL REFERENCES configurations, number INTEGER NOT NULL,"
    " session INTEGER NOT NULL REFERENCES sessions, seat INTEGER NOT NULL, moves BLOB NOT NULL, payoffs TEXT NOT NULL,"
    " playouts TEXT NOT NULL, cpu_seconds TEXT NOT NULL, seconds REAL NOT NULL,"
    " PRIMARY KEY (configuration, number)) WITHOUT ROWID",
    *sums(),
    *KEPT,
    f"PRAGMA application_id = {MARK}",
    f"PRAGMA user_version = {LAYOUT}",
)
"""Statements that make an empty file a store."""
STEP = (*sums(), *KEPT, f"PRAGMA user_version = {LAYOUT}")
"""Statements that make a store of layout 2 one of layout 3."""
