"""Other programs that speak GTP: started by the first command, killed when they misbehave."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import IO, Any

GAMES_FOLDER = "/usr/games"
"""Folder where some systems install games, although not every shell searches it."""
GRACE = 1.0
"""Seconds that a program has to end by itself after `quit`."""
POLL = 0.05
"""Seconds between two checks whether an answer is still wanted."""
LONGEST_LINE = 65_536
MOST_LINES = 10_000
"""Limit on the lines of one answer."""


class ProgramError(Exception):
    """Raised for a program that does not answer properly; the text gives the program's name and the reason."""


class RefusalError(ProgramError):
    """Raised for a failure response to a command."""


class Program:
    """A program by its command line, without a shell.

    Raises ValueError for a command that names no program on this machine.
    """

    def __init__(self, command: str) -> None:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise ValueError(f"the command {command!r} cannot be read: {error}") from None
        if not words:
            raise ValueError("the command of a GTP program is empty")
        found = shutil.which(words[0]) or shutil.which(words[0], path=GAMES_FOLDER)
        if found is None and os.path.exists(words[0]):
            raise ValueError(f"{words[0]!r} is there, but is no program that can be run")
        if found is None:
            raise ValueError(f"the program {words[0]!r} is not there, neither on the PATH nor in {GAMES_FOLDER}")
        self.words = [found, *words[1:]]
        self._process: subprocess.Popen[bytes] | None = None
        self._finalizer: Any = None

    @property
    def running(self) -> bool:
        """Returns whether the program was started and not closed since."""
        return self._process is not None

    def ask(self, command: str, seconds: float, check: Callable[[], None] = lambda: None) -> str:
        """Returns the text of the answer to a command. `check` is called repeatedly meanwhile; an exception in it ends the
        program.

        Raises RefusalError for a failure response. Raises ProgramError, and ends the program, when there is no answer in
        time or the answer is not valid GTP.
        """
        try:
            if self._process is None:
                self._start()
            self._send(command)
            good, text = self._answer(command, time.monotonic() + seconds, seconds, check)
        except BaseException:
            self.close(0.0)
            raise
        if not good:
            raise RefusalError(f"refuses {command!r}: {text}")
        return text

    def close(self, grace: float = GRACE) -> None:
        """Ends the program if it runs, by force after `grace` seconds. The next command starts it anew."""
        if self._process is not None:
            self._finalizer.detach()
            _end(self._process, grace)
            self._process = None

    def _start(self) -> None:
        pipe = subprocess.PIPE
        try:  # in a session of its own, so that Ctrl-C is ours alone, and helpers that it starts end with it
            process = subprocess.Popen(self.words, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
        except OSError as error:
            raise ProgramError(f"cannot be started: {error.strerror}") from None
        self._process, self._finalizer = process, weakref.finalize(self, _end, process, 0.0)
        self._answers: SimpleQueue[bytes | None] = SimpleQueue()
        self._complaints: deque[bytes | None] = deque(maxlen=3)
        self._readers = [
            threading.Thread(target=_read, args=(process.stdout, self._answers.put), daemon=True),
            threading.Thread(target=_read, args=(process.stderr, self._complaints.append), daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        assert process.stdin is not None
        os.set_blocking(process.stdin.fileno(), False)

    def _send(self, command: str) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        line = f"{command}\n".encode()
        try:
            sent = self._process.stdin.write(line)
        except OSError:
            raise ProgramError(self._ended()) from None
        if sent != len(line):
            raise ProgramError("does not read what it is told")

    def _answer(self, command: str, deadline: float, seconds: float, check: Callable[[], None]) -> tuple[bool, str]:
        """Returns whether the answer is a success, and its text."""
        lines: list[str] = []
        while True:
            check()
            try:
                arrived = self._answers.get(timeout=max(0.0, min(POLL, deadline - time.monotonic())))
            except Empty:
                if time.monotonic() >= deadline:
                    raise ProgramError(f"has not answered {command!r} within {seconds:g} s") from None
                continue
            if arrived is None:
                raise ProgramError(self._ended())
            line = arrived.decode(errors="replace").strip()
            if not lines and line and line[0] not in "=?":
                raise ProgramError(f"answers {command!r} with {line[:60]!r}, which is no GTP")
            if lines and not line:
                return lines[0][0] == "=", "\n".join([lines[0][1:].strip(), *lines[1:]]).strip()
            if line:
                lines.append(line)
            if len(lines) > MOST_LINES:
                raise ProgramError(f"answers {command!r} without an end")

    def _ended(self) -> str:
        """Returns how the program has ended, with its last line on standard error."""
        assert self._process is not None
        for reader in self._readers:
            reader.join(POLL)
        try:
            status = f"has ended with status {self._process.wait(GRACE)}"
        except subprocess.TimeoutExpired:
            status = "has closed its output"
        said = [line.decode(errors="replace").strip() for line in list(self._complaints) if line is not None]
        last = next((line for line in reversed(said) if line), "")
        return f"{status}: {last[:200]}" if last else status


def _read(file: IO[bytes], take: Callable[[bytes | None], None]) -> None:
    """Passes each line of a file to `take` as it arrives, then None."""
    rest = b""
    with file, suppress(OSError):
        while piece := file.read(LONGEST_LINE):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                take(line)
            if len(rest) > LONGEST_LINE:
                take(rest)
                rest = b""
    if rest:
        take(rest)
    take(None)


def _end(process: subprocess.Popen[bytes], grace: float) -> None:
    """Sends `quit` to a program, waits `grace` seconds for its end, and kills it with all processes that it has started."""
    assert process.stdin is not None
    with suppress(OSError):
        if grace:
            process.stdin.write(b"quit\n")
    with suppress(OSError):
        process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(grace)
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
