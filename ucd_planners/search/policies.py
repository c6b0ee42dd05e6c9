"""What a playout policy is to the search: a kernel that suggests, one that learns, and their memory.

For each move of a playout the search asks one policy after another, each with its own probability `prob`:
`suggest(playout_actions, is_playable, board, state, w, count, memory, rng)` answers a legal action, or -1 to leave the move to
the next policy and in the end to the game's random one. `playout_actions(board, state, actions)` lists what that may play, in
any order, and `is_playable(board, state, action)` says it of one action; only of these a policy suggests one, and
`actions_of(w)` has room for them. After each simulation the search calls `learn(w, memory)` of all, which answers whether the
memory has room for what another simulation may teach; if not, the search stops until `grown` has made room, or has forgotten
something. `moves_of(w)` are the moves of the simulation from the root on, each player * 2**16 + action: so far `count`, in the
end `w.count`, of which the first `w.descent` are those of the descent. `graph_of(w)` is the search's graph. What lies in
`memory` is the policy's affair. A search with several workers has a memory for each.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numba import types
from numba.core.types import FunctionType

from ucd_envs.kernels import BYTES, IS_LEGAL, LEGAL_ACTIONS, RNG, kernel
from ucd_envs.rules import Rules
from ucd_envs.settings import real
from ucd_planners.search.interface import MOST_POLICIES, WORK_RECORD

__all__ = ["LEARN", "MOST_POLICIES", "SUGGEST", "Policy", "checked_part", "no_suggestion", "nothing_learned"]

SUGGEST = types.int64(
    *(FunctionType(LEGAL_ACTIONS), FunctionType(IS_LEGAL)), *(BYTES, BYTES, WORK_RECORD, types.int64, BYTES, RNG)
)
LEARN = types.boolean(WORK_RECORD, BYTES)


def checked_part(name: str, value: Any) -> float:
    """A parameter as a number from 0 to 1. Raises TypeError or ValueError with one sentence otherwise."""
    if not 0 <= real(name, value) <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1, not {value!r}")
    return float(value)


class Policy(Protocol):
    """What the search asks of a playout policy. One that inherits from this learns nothing but where it says so."""

    @property
    def prob(self) -> float:
        """How often it is asked, 0 to 1. A search leaves a policy out that never is."""

    @property
    def suggest(self) -> Any:
        """What suggests moves, declared with @kernel(SUGGEST)."""

    @property
    def learn(self) -> Any:
        """What learns from simulations, declared with @kernel(LEARN)."""
        return nothing_learned

    def memory(self, rules: Rules) -> np.ndarray:
        """Memory that has learned nothing, with what the kernels read of the policy's parameters: [any] uint8."""

    def begin(self, memory: np.ndarray, goes_on: bool) -> None:
        """Prepares memory for another search, from whatever position; `goes_on`: later in the game of the one before."""

    def grown(self, memory: np.ndarray) -> np.ndarray:
        """Memory with what this has learned and room for more; called where `learn` has answered that there is none."""
        return memory


@kernel(SUGGEST)
def no_suggestion(playout_actions, is_playable, config, state, w, count, memory, rng):
    """Fills the place of a policy that is not there."""
    return np.int64(-1)


@kernel(LEARN)
def nothing_learned(w, memory):
    """Fills the place of a policy that is not there."""
    return np.bool_(True)
