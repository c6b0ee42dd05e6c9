"""Settings of every test run: kernels are cached by a digest of the sources, windows need no display."""

from __future__ import annotations

import hashlib
import os
import signal
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts tests in the background has it ignored


def sources_digest() -> str:
    """A digest of all sources: numba's own cache does not notice edits in files that a kernel's file imports."""
    digest = hashlib.sha256()
    for folder in ("ucd_envs", "ucd_planners", "tests", "examples"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / "ucd-kernels" / sources_digest()))
