"""What priors are to the search: a kernel that says what is thought of a position's moves before any is tried.

When a node's moves are listed, the search calls `priors(board, state, w, count, memory, actions, values)`: the position is in
`state`, the first `count` of `moves_of(w)` led to it from the root, and for each of `actions` the kernel writes a row of
`values`, the number of playouts that the move is taken to have had and what they paid the mover in sum, 0 and 0 for nothing
known. The choice adds them to what was played; they count in no result. `actions` is not to be written to, and
`actions_of(w)` is the same array. `memory` holds the kernel's parameters.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numba import types

from ucd_envs.kernels import ACTIONS, BYTES, kernel
from ucd_envs.rules import Rules
from ucd_planners.search.interface import WORK_RECORD

PRIORS = types.void(BYTES, BYTES, WORK_RECORD, types.int64, BYTES, ACTIONS, types.float32[:, ::1])


class Priors(Protocol):
    """What the planner asks of priors."""

    @property
    def kernel(self) -> Any:
        """What writes them, declared with @kernel(PRIORS)."""

    def memory(self, rules: Rules) -> np.ndarray:
        """What the kernel reads of its parameters: [any] uint8. Raises ValueError for a game that it does not know."""


@kernel(PRIORS)
def no_priors(config, state, w, count, memory, actions, values):
    """Fills the place of priors that are not there."""
