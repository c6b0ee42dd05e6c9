"""The process that played a game: versions of libraries, kind of machine, and a token that tells it from all others."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib.metadata import version
from typing import NamedTuple
from uuid import uuid4


class Origin(NamedTuple):
    """A process that plays games, here or on another machine."""

    token: str
    """Unlike that of any other process. A store does not keep it."""
    python: str
    numpy: str
    numba: str
    platform: str
    """System, architecture and number of the process. It names no host."""


def here() -> Origin:
    """Returns the origin of games played by this process."""
    return _origin(os.getpid())


@cache
def _origin(process: int) -> Origin:
    """The origin of a process; a forked one has its own."""
    machine = f"{platform.system()} {platform.machine()}, process {process}"
    return Origin(uuid4().hex, platform.python_version(), version("numpy"), version("numba"), machine)
