"""Known moves of a position, and the same as initial statistics of a root."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ucd_envs.kernels import kernel
from ucd_envs.rules import Rules
from ucd_planners.search.interface import INITIAL, Initial

SINGLE = np.float32


class Known(NamedTuple):
    """The statistics of a position in a knowledge base, with the actions of that position."""

    total: int
    """Visits of all moves in all searches that were learned, V."""
    actions: np.ndarray
    """Known moves, ascending: [moves] int64."""
    visits: np.ndarray
    """[moves] int64, in sum at most `total`."""
    value_sums: np.ndarray
    """Payoffs of the player to move in sum: [moves] float64."""

    @property
    def values(self) -> np.ndarray:
        """Returns mean payoffs of the player to move: [moves] float64."""
        means: np.ndarray = self.value_sums / self.visits
        return means

    def confidence(self, alpha: float) -> np.ndarray:
        """Returns the MCD of each move [NoGo 4.2]: [moves] float64, from 0 to alpha + 1."""
        found: np.ndarray = alpha * self.visits / self.total + self.values
        return found


@kernel(INITIAL)
def seed(config, state, sim, memory, actions, values):
    """Writes the virtual playouts of the root's known moves, and nothing for all other actions."""
    given = memory.view(SINGLE)
    for i in range(actions.size):
        place = 2 * np.int64(actions[i])
        for column in range(2):
            values[i, column] = given[place + column] if sim.path.length == 0 else SINGLE(0)


class Seeds(Initial):
    """Virtual playouts of the moves that a knowledge base knows at the root of one search."""

    kernel = seed

    def __init__(self, playouts: np.ndarray) -> None:
        """playouts: virtual playouts of each action, and their payoffs for the mover in sum: [actions, 2] float32."""
        self.playouts = playouts

    @classmethod
    def of(cls, known: Known, actions: int, most: float) -> Seeds:
        """Returns the seeds of known moves in a game: their visits, all scaled down alike where they are more than `most`."""
        playouts = np.zeros((actions, 2), np.float32)
        scale = min(1.0, most / known.visits.sum())
        playouts[known.actions] = scale * np.stack([known.visits, known.value_sums], axis=1)
        return cls(playouts)

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns the playouts as bytes."""
        return self.playouts.reshape(-1).view(np.uint8).copy()

    def __str__(self) -> str:
        return "Seeds()"
