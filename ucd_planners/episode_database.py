"""Episodes in one SQLite file: a row for each, so that games are added as they are played, also by several programs.

The table `about` has one row, the header of the episodes as JSON text. In `episodes` each array is a blob, compressed by zlib,
and `checksum` is the CRC-32 of a row's number and blobs, so that damage is seen.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ucd_planners import files

SUFFIXES = (".sqlite", ".db")
"""The ends of names by which a file is written as a database."""
MARK = 0x55434445
"""SQLite's application_id of a file of episodes: "UCDE"."""
LEVEL = 1

Arrays = Mapping[str, np.ndarray]


def add(
    path: Path, header: Mapping[str, Any], numbers: Sequence[int], episodes: Sequence[Arrays], names: Sequence[str]
) -> None:
    """Adds episodes to a file, all or none; it is made if it does not exist.

    numbers and episodes: the number of each episode, and its arrays by `names`. Raises ValueError for a file of another game,
    for one that holds no episodes, and for a number that it has already, OSError where it cannot be written.
    """
    rows = []
    for number, arrays in zip(numbers, episodes, strict=True):
        blobs = [zlib.compress(np.ascontiguousarray(arrays[name]).tobytes(), LEVEL) for name in names]
        rows.append((number, _checksum(number, blobs), *blobs))
    columns, text = ", ".join(f'"{name}" BLOB NOT NULL' for name in names), json.dumps(header, default=str)
    with _opened(path, "written") as database:
        database.execute("BEGIN IMMEDIATE")
        if not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            database.execute(f"PRAGMA application_id = {MARK}")
            database.execute("CREATE TABLE about (header TEXT NOT NULL)")
            database.execute("INSERT INTO about VALUES (?)", (text,))
            database.execute(f"CREATE TABLE episodes (number INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, {columns})")
        there, given = _header(database, path), json.loads(text)
        if any(there.get(name) != given[name] for name in ("layout", "game", "settings")):
            raise ValueError(f"{path} holds games of {there.get('game')} with other settings, or has another layout")
        for row in rows:
            try:
                database.execute(f"INSERT INTO episodes VALUES ({', '.join('?' * len(row))})", row)
            except sqlite3.IntegrityError:
                raise ValueError(f"{path} has episode {row[0]} already") from None
        database.execute("COMMIT")


def read(path: Path, names: Sequence[str]) -> tuple[dict[str, Any], dict[int, dict[str, bytes]]]:
    """Returns the header of a file, and the bytes of each episode's arrays by its number, ascending.

    Raises OSError where it cannot be read, ValueError for a file that holds no episodes or is damaged.
    """
    with _opened(path, "read") as database:
        header = _header(database, path)
        columns = ", ".join(f'"{name}"' for name in names)
        rows = database.execute(f"SELECT number, checksum, {columns} FROM episodes ORDER BY number").fetchall()
    try:
        if any(_checksum(number, blobs) != checksum for number, checksum, *blobs in rows):
            raise ValueError("a checksum is another one")
        return header, {row[0]: dict(zip(names, map(zlib.decompress, row[2:]), strict=True)) for row in rows}
    except (zlib.error, TypeError, ValueError, OverflowError):
        raise ValueError(f"{path} holds no episodes, or is damaged") from None


def is_database(path: Path) -> bool:
    """Returns whether a file begins as SQLite's do."""
    try:
        with open(path, "rb") as file:
            return file.read(len(files.SQLITE)) == files.SQLITE
    except OSError:
        return False


@contextmanager
def _opened(path: Path, what: str) -> Iterator[sqlite3.Connection]:
    """A connection, whose transaction is undone where something is raised inside. Raises OSError and ValueError as above."""
    if files.is_foreign(path):
        raise ValueError(f"{path} holds no episodes, or is damaged")
    try:
        with closing(files.database(path)) as database:
            yield database
    except sqlite3.OperationalError as error:
        raise OSError(f"{path} cannot be {what}: {error}") from None
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        raise ValueError(f"{path} holds no episodes, or is damaged") from None


def _header(database: sqlite3.Connection, path: Path) -> dict[str, Any]:
    """The header in a file. Raises ValueError for one without."""
    if database.execute("PRAGMA application_id").fetchone()[0] == MARK:
        try:
            found = json.loads(database.execute("SELECT header FROM about").fetchone()[0])
        except (TypeError, ValueError):
            found = None
        if isinstance(found, dict):
            return found
    raise ValueError(f"{path} holds no episodes, or is damaged")


def _checksum(number: int, blobs: Sequence[bytes]) -> int:
    """The CRC-32 of an episode."""
    total = zlib.crc32(str(number).encode())
    for blob in blobs:
        total = zlib.crc32(blob, total)
    return total
