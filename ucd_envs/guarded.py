"""Arrays between bands of known bytes, by which a kernel that writes outside of its array is found."""

from __future__ import annotations

from typing import Any

import numpy as np

GARBAGE = (0xA5, 0x5A)
"""Bytes of memory that no kernel has written."""
BAND = 4096
"""Least number of guarded bytes on each side of an array, a multiple of 64."""


class Guarded:
    """An array between two bands of known bytes."""

    def __init__(self, size: int, dtype: Any, garbage: int = GARBAGE[0]) -> None:
        length = size * np.dtype(dtype).itemsize
        self.band = -(-max(BAND, length) // 64) * 64
        self.bytes = np.empty(length + 2 * self.band, np.uint8)
        self.array = self.bytes[self.band : self.band + length].view(dtype)
        self.low, self.high = self.bytes[: self.band], self.bytes[self.band + length :]
        self.fill(garbage)

    def fill(self, garbage: int) -> None:
        """Overwrites the array and its bands."""
        self.expected = bytes([garbage]) * self.band
        self.bytes[:] = garbage

    @property
    def intact(self) -> bool:
        """Returns whether the bands are unchanged."""
        return bool(self.low.tobytes() == self.expected == self.high.tobytes())
