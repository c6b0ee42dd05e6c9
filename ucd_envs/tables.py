"""Hash tables with open addressing, in arrays of any kind."""

from __future__ import annotations

import numpy as np

from ucd_envs.kernels import kernel

HASH = np.uint64(0x9E3779B97F4A7C15)
"""2**64 divided by the golden ratio: its multiples lie far apart [Knuth, The Art of Computer Programming 3, section 6.4]."""
U0, U1 = np.uint64(0), np.uint64(1)


@kernel(inline=True)
def place_in(table, key, home, size, is_other):
    """Returns the place of a key in a table, or the free place where it belongs.

    home: the place where the search begins, below `size`; is_other: a kernel `(table, place, key) -> bool`, True if the place
    has another key. Needs a free place.
    """
    place = home
    while is_other(table, place, key):
        place += U1
        if place == size:
            place = U0
    return place
