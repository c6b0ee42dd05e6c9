"""Other programs that speak GTP: started by the first command, killed when they misbehave, and at the latest with us.

Nothing that a program does takes more than a bounded time or memory: each wait looks at the deadline, and its output waits in
the pipe once enough of it has arrived.
"""

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
from typing import IO, Any

GAMES_FOLDER = "/usr/games"
"""Folder where some systems install games, although not every shell searches it."""
GRACE = 1.0
"""Seconds that a program has to end by itself after `quit`."""
POLL = 0.05
"""Seconds between two checks whether an answer is still wanted."""
LONGEST_LINE = 65_536
"""Limit on the bytes of a line."""
MOST_LINES = 10_000
"""Limit on the lines of one answer."""
MOST_BYTES = 2**20
"""Limit on the bytes of one answer, and of the lines that wait to be read."""
LINE_COST = 64
"""Bytes of memory that a line takes beside its text, about."""
WATCHER = ("/bin/sh", "-c", "trap '' 1 2 3 15; read -r word; kill -s KILL 0")
"""A process that kills its process group once its input ends, as it does when this process ends, by SIGKILL too."""


class ProgramError(Exception):
    """Raised for a program that does not answer properly; the text gives the program's name and the reason."""


class RefusalError(ProgramError):
    """Raised for a failure response to a command."""


class Inbox:
    """The lines that a program has written and nobody has read yet. None stands for their end. A full one makes `put` wait."""

    def __init__(self) -> None:
        self._lines: deque[bytes | None] = deque()
        self._room = MOST_BYTES
        self._closed = False
        self._changed = threading.Condition()

    def put(self, line: bytes | None) -> None:
        """Adds a line as soon as there is room for it. Drops it once the inbox is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._room > 0 or self._closed)
            if not self._closed:
                self._lines.append(line)
                self._room -= len(line or b"") + LINE_COST
                self._changed.notify_all()

    def get(self, seconds: float) -> bytes | None:
        """Returns the next line. Raises TimeoutError when none arrives within some seconds."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._lines, seconds):
                raise TimeoutError
            line = self._lines.popleft()
            self._room += len(line or b"") + LINE_COST
            self._changed.notify_all()
            return line

    def close(self) -> None:
        """Forgets all lines, those to come too."""
        with self._changed:
            self._closed = True
            self._lines.clear()
            self._changed.notify_all()


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
            deadline = time.monotonic() + seconds
            self._send(command)
            good, text = self._answer(command, deadline, seconds, check)
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
            _end(self._process, self._watcher, self._answers, grace)
            self._process = None

    def _start(self) -> None:
        try:
            self._watcher, process = _started(self.words)
        except OSError as error:
            raise ProgramError(f"cannot be started: {error.strerror}") from None
        self._answers = Inbox()
        self._process = process
        self._finalizer = weakref.finalize(self, _end, process, self._watcher, self._answers, 0.0)
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
        size = 0
        while True:
            check()
            left = deadline - time.monotonic()
            if left <= 0:
                raise ProgramError(f"has not answered {command!r} within {seconds:g} s")
            try:
                arrived = self._answers.get(min(POLL, left))
            except TimeoutError:
                continue
            if arrived is None:
                raise ProgramError(self._ended())
            if len(arrived) > LONGEST_LINE:
                raise ProgramError(f"answers {command!r} with a line of more than {LONGEST_LINE:,} bytes")
            line = arrived.decode(errors="replace").strip()
            if not lines and line and line[0] not in "=?":
                raise ProgramError(f"answers {command!r} with {line[:60]!r}, which is no GTP")
            if lines and not line:
                return lines[0][0] == "=", "\n".join([lines[0][1:].strip(), *lines[1:]]).strip()
            if line:
                lines.append(line)
                size += len(arrived)
            if len(lines) > MOST_LINES:
                raise ProgramError(f"answers {command!r} with more than {MOST_LINES:,} lines")
            if size > MOST_BYTES:
                raise ProgramError(f"answers {command!r} with more than {MOST_BYTES:,} bytes")

    def _ended(self) -> str:
        """Returns how the program has ended, with its last line on standard error."""
        assert self._process is not None
        try:
            status = f"has ended with status {self._process.wait(GRACE)}"
            self._readers[1].join(GRACE)
        except subprocess.TimeoutExpired:
            status = "has closed its output"
        said = [line.decode(errors="replace").strip() for line in list(self._complaints) if line is not None]
        last = next((line for line in reversed(said) if line), "")
        return f"{status}: {last[:200]}" if last else status


def _read(file: IO[bytes], take: Callable[[bytes | None], None]) -> None:
    """Passes each line of a file to `take` as it arrives, then None. A line that is too long comes in pieces."""
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


def _started(words: list[str]) -> tuple[subprocess.Popen[bytes], subprocess.Popen[bytes]]:
    """Returns a watcher and a program in its process group, which Ctrl-C does not reach. Raises OSError, and leaves neither.

    The watcher comes first, so that no program is ever without one. Its group keeps its number until the watcher is waited
    for, so that no signal to the group reaches a stranger.
    """
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    watcher = subprocess.Popen(WATCHER, stdin=pipe, stdout=nowhere, stderr=nowhere, process_group=0)
    try:
        return watcher, subprocess.Popen(words, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, process_group=watcher.pid)
    except BaseException:
        watcher.communicate()
        raise


def _end(process: subprocess.Popen[bytes], watcher: subprocess.Popen[bytes], inbox: Inbox, grace: float) -> None:
    """Sends `quit` to a program, waits `grace` seconds for its end, and kills it with all processes that it has started."""
    inbox.close()
    assert process.stdin is not None
    with suppress(OSError):
        if grace:
            process.stdin.write(b"quit\n")
    with suppress(OSError):
        process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(grace)
    with suppress(OSError):
        os.killpg(watcher.pid, signal.SIGKILL)
    process.kill()
    process.wait()
    watcher.communicate()
