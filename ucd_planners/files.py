"""Files of results, each written completely or not at all."""

from __future__ import annotations

import os
import sqlite3
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

SQLITE = b"SQLite format 3\0"
"""The first bytes of a database of SQLite."""
PATIENCE = 60.0
"""Seconds to wait while another process writes to a database."""


def is_foreign(path: Path) -> bool:
    """Returns whether a file begins as another format than SQLite's, which takes very short files for empty ones and overwrites
    them. A file that is empty or cannot be read does not."""
    with suppress(OSError), open(path, "rb") as file:
        return file.read(len(SQLITE)) not in (b"", SQLITE)
    return False


def database(path: Path) -> sqlite3.Connection:
    """Opens a database of SQLite, or begins one, with transactions that the caller begins and ends. Raises sqlite3.Error."""
    return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)


def save(path: Path, write: Callable[[Path], object]) -> None:
    """Makes a file by a function that writes to a path, and puts it in its place when it is complete.

    The path that the function gets is another one for each call, so processes that save one file at the same time do not meet.
    Raises OSError with one sentence, leaving an old file unchanged, where the file cannot be written.
    """
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
    try:
        write(part)
        os.replace(part, path)
    except OSError as error:
        raise OSError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
