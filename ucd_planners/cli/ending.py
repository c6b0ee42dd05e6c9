"""The end of a command: its status, and one sentence for everything that users and machines cause.

| status     | after                                                                              |
| ---------- | ---------------------------------------------------------------------------------- |
| 0          | success                                                                            |
| 1          | a failure: of the disk, the output, a process, a game; what was played is kept     |
| 2          | unusable arguments, or a closed input or output                                    |
| 130, 143   | Ctrl-C, or SIGTERM, which ends a command as Ctrl-C does                            |
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from ucd_envs.settings import shown
from ucd_planners.cli.console import UsageError

FAILED, UNUSABLE, STOPPED = 1, 2, 128 + signal.SIGINT
OUTPUT = {errno.EBADF, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC, errno.EPIPE}
"""Errors of standard output. Those of other files come with a file's name, or as a sentence."""
LONGEST = 2000
"""Limit on the characters of a sentence."""
TRACEBACK = "UCD_TRACEBACK"
"""Environment variable that lets exceptions through, for those who look for the cause of one."""


def ended(command: Callable[[], int]) -> int:
    """Runs a command and returns its status. A command that was stopped, but printed what it has, returns STOPPED.

    Every failure is printed as one sentence. SystemExit passes, since it has its own status.
    """
    if sys.stdout is None:
        return _said("standard output is closed", UNUSABLE)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    with terminated_as_stopped() as signals:
        try:
            try:
                status = command()
            finally:
                sys.stdout.flush()
        except KeyboardInterrupt:
            status = _said("stopped", STOPPED)
        except Exception as error:
            if os.environ.get(TRACEBACK):
                raise
            status = _failed(error)
    return 128 + signals[-1] if status == STOPPED else status


def _failed(error: Exception) -> int:
    """Prints the sentence of an exception and returns its status."""
    if isinstance(error, UsageError):
        return _said(str(error), UNUSABLE)
    if isinstance(error, OSError) and error.errno in OUTPUT and error.filename is None:
        with suppress(OSError):  # nothing is left to be flushed when the process ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:
            return FAILED  # the reader, such as `head`, has what it wanted
        return _said(f"the output cannot be written: {error.strerror}", FAILED)
    return _said(_reason(error), FAILED)


def _reason(error: Exception) -> str:
    """Returns an exception as a sentence. One that nobody foresaw is named with the line that raised it."""
    if isinstance(error, BrokenExecutor):
        return "a process that played games has ended too early, as when it is killed or memory runs out"
    if isinstance(error, EOFError):
        return "the input has ended"
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    if isinstance(error, OSError) and error.errno is not None:
        place = "" if error.filename is None else f"{shown(error.filename)}: "
        return f"{place}{error.strerror}"
    if isinstance(error, (OSError, RuntimeError)) and str(error):
        return str(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return f"unexpected {type(error).__name__}: {error} ({place}; {TRACEBACK}=1 shows the way there)"


def _said(sentence: str, status: int) -> int:
    """Prints a sentence to standard error, if there is one, and returns the status."""
    with suppress(OSError):
        if sys.stderr is not None:
            print(f"ucd: {' '.join(sentence.splitlines())[:LONGEST]}", file=sys.stderr, flush=True)
    return status


@contextmanager
def terminated_as_stopped() -> Iterator[list[int]]:
    """Makes SIGTERM raise KeyboardInterrupt in the main thread. Yields the number of SIGINT, then of each SIGTERM."""
    signals: list[int] = [signal.SIGINT]

    def stop(number: int, frame: FrameType | None) -> Any:
        signals.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield signals
    finally:
        signal.signal(signal.SIGTERM, before)
