"""Files of results, each written completely or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


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
