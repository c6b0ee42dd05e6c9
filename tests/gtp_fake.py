"""A fake program that speaks GTP, and whether processes run."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

from ucd_planners.gtp.client import Program

PATIENCE = 600
"""Seconds until something that surely comes is given up, however busy the machine is."""
SILENCE = "print('silent', file=log)\ntime.sleep(600)"
"""What a fake does that says nothing more."""
NOTES = ("pid", "silent")
FAKE = """
import os, sys, time
log = open({log!r}, "a", buffering=1)
print("pid", os.getpid(), file=log)
games, taken, columns, rows = 0, set(), 3, 3
def answer(text="", sign="="):
    print(sign + " " + text + "\\n", flush=True)
def genmove():
    for row in range(rows):
        for column in range(columns):
            name = "abcdefghi"[column] + str(row + 1)
            if name not in taken:
                taken.add(name)
                return name
{start}
for line in sys.stdin:
    print(line.strip(), file=log)
    command, *words = line.split()
    if command == "boardsize":
        columns, rows = int(words[0]), int(words[-1])
    if command == "clear_board":
        games, taken = games + 1, set()
    if command == "play":
        taken.add(words[1].lower())
{each}
    answer(genmove() if command == "genmove" else "")
    if command == "quit":
        break
"""
"""A program that takes the first empty cell of a Hex board, with lines of its own at its start and before each answer."""


class Fake:
    """Where a fake program is, and what it was told."""

    def __init__(self, folder: Path, each: str = "", start: str = "") -> None:
        self.log = folder / "log.txt"
        self.log.touch()
        path = folder / "fake.py"
        indented = "\n".join(f"    {line}" for line in each.splitlines())
        path.write_text(FAKE.format(log=str(self.log), start=start, each=indented))
        self.command = shlex.join([sys.executable, "-S", "-E", str(path)])

    @property
    def text(self) -> str:
        """The program as an agent of a match."""
        return f'gtp("{self.command}", timeout={PATIENCE})'

    def program(self) -> Program:
        return Program(self.command)

    def told(self) -> list[str]:
        return [line for line in self.log.read_text().splitlines() if not line.startswith(NOTES)]

    def pids(self) -> list[int]:
        """Of its processes, in order of their start."""
        return [int(line.split()[1]) for line in self.log.read_text().splitlines() if line.startswith("pid")]

    def monotonic(self) -> float:
        """A clock that stands still, until an hour passes whenever a process falls silent."""
        return 3600.0 * self.log.read_text().splitlines().count("silent")


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits for its parent to hear of its end does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pid: int) -> bool:
    """Whether a process ends, within as long as a busy machine may take."""
    for _ in range(3000):
        if not alive(pid):
            return True
        time.sleep(0.01)
    return False
