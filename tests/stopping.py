"""Commands that run in processes of their own, to be stopped once their store has so many games."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path


def process(*words: str) -> subprocess.Popen[str]:
    """The command in a process group of its own, as a terminal has it."""
    command = [sys.executable, "-m", "ucd_planners.cli", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def games_in(path: Path) -> int:
    """How many games a store has so far."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60)) as database:
            return int(database.execute("SELECT count(*) FROM games").fetchone()[0])
    except sqlite3.OperationalError:  # not there yet
        return 0


def wait_for(path: Path, games: int, started: subprocess.Popen[str]) -> bool:
    """Waits until so many games are stored, or the process ends; whether it is still there."""
    while games_in(path) < games and started.poll() is None:
        time.sleep(0.005)
    return started.poll() is None
