"""Settings of every test run: compiled kernels are kept in the temporary folder, windows need no display."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts tests in the background has it ignored

os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / "ucd-kernels"))
