"""A store: the games of a match, or of an experiment's matches, in one SQLite file.

A game is stored under its match's configuration and its number. The configuration is everything that decides the moves: the
planners with their budgets, the game with all its settings, the seed and the version of this distribution. Texts are
canonical, so that `uct` and `uct(c=0.3)` share their games. The number of games asked for is not part of it, so games can be
added later. With anything else changed, old results are not found. Games are added in short transactions. They survive any
end of the process, and several processes may add to one file.
"""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

import ucd_envs
from ucd_planners import files
from ucd_planners.arena.contest import Contest, Game
from ucd_planners.arena.origin import Origin, here
from ucd_planners.arena.summary import Summary, Total
from ucd_planners.arena.tables import BEFORE, LAYOUT, MARK, STEP, TABLES, sums


class Store:
    """The store in a file, which is created if it does not exist; a context manager that closes it.

    Raises ValueError, leaving the file unchanged, for a file that is no store or has another layout. A store of the layout
    before is brought to this one. Its methods raise OSError for failures of the disk or a lock of another process. A store is
    used only in the thread that opened it.

    reading: opens a file for reading alone. It must exist, and stays as it is, also one of the layout before.
    """

    def __init__(self, path: str | PathLike[str], reading: bool = False) -> None:
        self.path = Path(path)
        self.reading = reading
        self.began = datetime.now(UTC).isoformat(timespec="seconds")
        self._sessions: dict[Origin, int] = {}
        if reading and not self.path.is_file():
            raise ValueError(f"there is no store {self.path}")
        if files.is_foreign(self.path):
            raise ValueError(f"{self.path} is no store of games")
        try:
            self._database = files.database(self.path)
        except sqlite3.Error as error:
            raise ValueError(f"{self.path} cannot be opened: {error}") from None
        try:
            self._prepare()
        except BaseException:
            self._database.close()
            raise

    def append(self, match: Contest, games: Sequence[Game]) -> None:
        """Adds games of a match, all of them or, on failure, none. A number that is already stored keeps its game.

        A game that failed is no result. It is left out, so that its number is still missing.
        """
        rows = [(game.origin or here(), _row(game)) for game in games if not game.failure]
        sessions = dict(self._sessions)
        with self._transaction():
            self._run("INSERT OR IGNORE INTO configurations (text) VALUES (?)", configuration(match))
            key = self._key(match)
            for origin, row in rows:
                if origin not in sessions:
                    sessions[origin] = self._begun(origin)
                own = key, row[0], sessions[origin]
                self._run("INSERT OR IGNORE INTO games VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", *own, *row[1:])
        self._sessions = sessions

    def games(self, match: Contest) -> list[Game]:
        """Returns the stored games of a match, by number."""
        rows = self._run(
            "SELECT number, seat, moves, payoffs, playouts, cpu_seconds, seconds FROM games"
            " WHERE configuration = ? AND number BETWEEN 0 AND ? - 1 ORDER BY number",
            self._key(match),
            match.games,
        )
        try:
            if [row[0] for row in rows] != sorted({int(row[0]) for row in rows}):
                raise ValueError("numbers of games are damaged")
            return [_game(match.sides, *row) for row in rows]
        except (ValueError, TypeError, struct.error):
            raise OSError(f"{self.path} is damaged: it has games that cannot be read") from None

    def missing(self, match: Contest) -> list[int]:
        """Returns the numbers of a match's games that are not stored, ascending."""
        there = {number for (number,) in self._run("SELECT number FROM games WHERE configuration = ?", self._key(match))}
        return [number for number in range(match.games) if number not in there]

    def claim(self, match: Contest) -> None:
        """Makes this the store of one match alone. Raises ValueError, leaving it unchanged, if it holds another one."""
        with self._transaction():
            self._run("INSERT OR IGNORE INTO configurations (text) VALUES (?)", configuration(match))
            if self._run("SELECT count(*) FROM configurations")[0][0] > 1:
                raise ValueError(f"{self.path} holds games of another match, or of another version: name another store")

    def sessions(self) -> list[dict[str, Any]]:
        """Returns the sessions of workers: when each began, its versions of Python, numpy and numba, and its kind of machine.

        Every process that has added games since a store was opened is a session.
        """
        names = ("id", "began", "python", "numpy", "numba", "platform")
        rows = self._run(f"SELECT {', '.join(names)} FROM sessions ORDER BY id")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def sessions_of(self, match: Contest) -> dict[int, int]:
        """Returns the session that added each stored game of a match, by the game's number."""
        return dict(self._run("SELECT number, session FROM games WHERE configuration = ?", self._key(match)))

    def summaries(self) -> list[Summary]:
        """Returns every configuration with its sums, in the order in which they came."""
        totals: dict[int, dict[tuple[int, int], Total]] = {}
        for key, seat, side, *row in self._run("SELECT * FROM totals ORDER BY configuration, seat, side"):
            totals.setdefault(key, {})[seat, side] = Total(*row)
        columns = "id, text, coalesce(games, 0), coalesce(distinct_games, 0), coalesce(seconds, 0.0), coalesce(longest, 0)"
        rows = self._run(f"SELECT {columns} FROM configurations LEFT JOIN counts ON id = configuration ORDER BY id")
        summaries = [
            Summary(key, text, games, distinct, seconds, longest, totals.get(key, {}))
            for key, text, games, distinct, seconds, longest in rows
        ]
        try:
            for summary in summaries:
                assert summary.about
        except (ValueError, TypeError):
            raise OSError(f"{self.path} is damaged: it has configurations that cannot be read") from None
        return summaries

    def cpu_seconds(self) -> dict[int, float]:
        """Returns the CPU seconds of all planners in the games of each configuration, by its number in `summaries`.

        A program of its own counts as none. Unlike `Summary.seconds` this leaves out other work of the machine and pauses.
        """
        statement = "SELECT configuration, sum(value) FROM games, json_each(games.cpu_seconds) GROUP BY configuration"
        return dict(self._run(statement))

    def stored(self, key: int, first: int = 0, last: int = 2**62) -> Iterator[Game]:
        """Yields the games of a configuration, given its number in `summaries`, by number from `first` to `last`."""
        columns = "number, seat, moves, payoffs, playouts, cpu_seconds, seconds"
        statement = f"SELECT {columns} FROM games WHERE configuration = ? AND number BETWEEN ? AND ? ORDER BY number LIMIT 1000"
        while rows := self._run(statement, key, first, last):
            try:
                yield from [_game(None, *row) for row in rows]
            except (ValueError, TypeError, struct.error):
                raise OSError(f"{self.path} is damaged: it has games that cannot be read") from None
            first = rows[-1][0] + 1

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _prepare(self) -> None:
        """Creates the tables of a new file, and checks those of an old one."""
        try:
            if not self.reading and self._blank():
                self._make(TABLES, self._blank)
            mark, layout = self._pragma("application_id"), self._pragma("user_version")
            if mark == MARK and layout == BEFORE and self.reading:
                for statement in sums("TEMP "):
                    self._run(statement)
                layout = LAYOUT
            elif mark == MARK and layout == BEFORE:
                self._make(STEP, lambda: self._pragma("user_version") == BEFORE)
                layout = LAYOUT
            if self.reading:
                self._run("PRAGMA query_only = ON")
        except NotADatabaseError as error:
            if _marked(self.path):
                raise ValueError(str(error)) from None
            mark, layout = 0, 0
        except OSError as error:
            raise ValueError(str(error)) from None
        if mark != MARK:
            raise ValueError(f"{self.path} is no store of games")
        if layout != LAYOUT:
            raise ValueError(f"{self.path} has the layout {layout} of stores, but this version needs the layout {LAYOUT}")

    def _make(self, statements: Sequence[str], needed: Callable[[], bool]) -> None:
        """Runs statements in one transaction, unless another process was faster."""
        with self._transaction():
            if needed():
                for statement in statements:
                    self._run(statement)

    def _blank(self) -> bool:
        """Returns whether nothing was ever written to the file."""
        tables = self._run("SELECT count(*) FROM sqlite_master")[0][0]
        return not tables and not self._pragma("application_id") and not self._pragma("user_version")

    def _pragma(self, name: str) -> int:
        return int(self._run(f"PRAGMA {name}")[0][0])

    def _key(self, match: Contest) -> int | None:
        """Returns the row of a match's configuration, or None."""
        rows = self._run("SELECT id FROM configurations WHERE text = ?", configuration(match))
        return rows[0][0] if rows else None

    def _begun(self, origin: Origin) -> int:
        """Returns a new row for a session."""
        row = (self.began, *origin[1:])
        self._run("INSERT INTO sessions (began, python, numpy, numba, platform) VALUES (?, ?, ?, ?, ?)", *row)
        return int(self._run("SELECT last_insert_rowid()")[0][0])

    def _run(self, statement: str, *values: Any) -> list[Any]:
        """Returns all rows of a statement."""
        try:
            return self._database.execute(statement, values).fetchall()
        except sqlite3.OperationalError as error:
            full = _code(error) & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
            hint = "; is the disk full? The games that it has are kept" if full else ""
            raise OSError(f"{self.path} cannot be used: {error}{hint}") from None
        except sqlite3.DatabaseError as error:
            hint = "" if _code(error) != sqlite3.SQLITE_CORRUPT else "; `sqlite3 FILE .recover` may save games"
            raise NotADatabaseError(f"{self.path} cannot be used: {error}{hint}") from None
        except UnicodeDecodeError:
            raise NotADatabaseError(f"{self.path} is damaged: a text in it cannot be read") from None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Commits everything inside, or nothing."""
        try:
            self._run("BEGIN IMMEDIATE")  # Ctrl-C may come as soon as it has begun
            yield
            self._run("COMMIT")
        finally:
            if self._database.in_transaction:
                self._database.rollback()


class NotADatabaseError(OSError):
    """Raised for a file that SQLite cannot read."""


def _code(error: sqlite3.Error) -> int:
    """Returns SQLite's code of an error, 0 for one that Python's module found itself."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code


def _marked(path: Path) -> bool:
    """Returns whether a file that SQLite cannot read begins as a store does."""
    with suppress(OSError), open(path, "rb") as file:
        return file.read(72)[68:] == MARK.to_bytes(4, "big")
    return False


def configuration(match: Contest) -> str:
    """Returns everything that decides a contest's games, as canonical JSON: equal texts, equal games."""
    written = {**match.facts(), "ucd-planners": ucd_envs.__version__}
    return json.dumps(written, sort_keys=True, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    """Returns a value in a form that JSON has."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a match with {value!r} in it cannot be stored")


def _row(game: Game) -> tuple[Any, ...]:
    """Returns a game as it is stored: moves as little-endian 16-bit numbers, values of each planner as JSON."""
    try:
        moves = struct.pack(f"<{len(game.moves)}H", *game.moves)
    except struct.error:
        raise ValueError(f"moves of a stored game must be from 0 to {2**16 - 1}, not {game.moves}") from None
    payoffs, playouts, cpu_seconds = map(json.dumps, (game.payoffs, game.playouts, game.cpu_seconds))
    return (game.number, game.seat, moves, payoffs, playouts, cpu_seconds, game.seconds)


def _game(
    sides: int | None, number: int, seat: int, moves: bytes, payoffs: str, playouts: str, cpu: str, seconds: float
) -> Game:
    """Returns the game of a row. Raises ValueError, TypeError or struct.error for a row that is damaged.

    sides: number of payoffs; None for any.
    """
    line = struct.unpack(f"<{len(moves) // 2}H", moves)
    paid, played, took = ([float(each) for each in json.loads(text)] for text in (payoffs, playouts, cpu))
    sides = len(paid) if sides is None else sides
    if {len(paid), len(played), len(took)} != {sides} or not 0 <= int(seat) < sides or not 0 <= min(paid) <= max(paid) <= 1:
        raise ValueError(f"game {number} is damaged")
    return Game(number, int(seat), line, tuple(paid), tuple(map(int, played)), tuple(took), float(seconds))
