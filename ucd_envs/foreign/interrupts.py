"""Ctrl-C and exceptions in callbacks, which C code can neither raise nor see."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from types import FrameType
from typing import Any


class Interruptible:
    """The part of callbacks that stores what they catch. A callback sets `_inside` while it runs, and calls `_let_in`."""

    def __init__(self) -> None:
        self.caught: BaseException | None = None
        self._inside = False
        self._waiting: Callable[[], Any] | None = None

    def failure(self) -> BaseException | None:
        """Returns and clears the exception that a callback has caught."""
        caught, self.caught = self.caught, None
        return caught

    def apart(self) -> AbstractContextManager[None]:
        """Returns a context for the time of a search."""
        return nullcontext()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Raises Ctrl-C inside callbacks only while it lasts, since elsewhere ctypes would print and drop it. `apart` lasts as
        long."""
        handler = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(handler):
            with self.apart():
                yield
            return

        def interrupted(number: int, frame: FrameType | None) -> None:
            if self._inside:
                handler(number, frame)
            else:
                self._waiting = partial(handler, number, frame)

        signal.signal(signal.SIGINT, interrupted)
        try:
            with self.apart():
                yield
        finally:
            signal.signal(signal.SIGINT, handler)
            self._let_in()

    def _let_in(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting()
