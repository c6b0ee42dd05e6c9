"""The evaluation of leaves by an evaluator: its options, remembered evaluations, and the batches in which searches wait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ucd_envs.rules import Rules
from ucd_envs.settings import integer, real
from ucd_envs.structs import address_of
from ucd_planners.evaluators.interface import Evaluator, checked_answer
from ucd_planners.search.errors import evaluation_error
from ucd_planners.search.evaluation import BATCH, WAYS
from ucd_planners.search.interface import NO_PRIORS, probability
from ucd_planners.search.sim import Sim
from ucd_planners.search.storage import Graph


@dataclass(frozen=True)
class Evaluation:
    """The evaluation of leaves by a planner, in place of playouts.

    evaluator: as `evaluator_of` makes one; batch: positions in one call at most, of searches side by side; leaves:
    of one search in a batch, at most `batch`, and 1 for a compiled evaluator: more than one are kept apart by visits in flight,
    each as good as one that its mover lost, and do not use remembered evaluations; mix: the share of a
    playout in the value of a leaf, 0 to 1; noise: the share of a draw of Dirichlet(alpha) in the priors of the root, and alpha,
    None for none; remember: evaluations that are remembered, a power of two, or 0. Raises TypeError or ValueError otherwise.
    """

    evaluator: Evaluator
    batch: int = 64
    leaves: int = 1
    mix: float = 0.0
    noise: tuple[float, float] | None = None
    remember: int = 2**16

    def __post_init__(self) -> None:
        integer("batch", self.batch, 1, 2**20)
        if integer("leaves", self.leaves, 1, self.batch) > 1 and self.evaluator.kernel is not None:
            raise ValueError(f"{self.evaluator} evaluates in compiled code, one leaf after another: leaves=1")
        probability("mix", self.mix)
        if self.noise is not None:
            if not isinstance(self.noise, tuple) or len(self.noise) != 2:
                raise ValueError(f"noise must be two numbers, the share of noise and alpha, not {self.noise!r}")
            probability("the share of noise", self.noise[0])
            if not 0 < real("alpha", self.noise[1]) <= 1e6:
                raise ValueError(f"alpha must be a number above 0, at most 1e6, not {self.noise[1]!r}")
        size = integer("remember", self.remember, 0, 2**28)
        if size and (size < WAYS or size & (size - 1)):
            raise ValueError(f"remember must be 0 or a power of two, {WAYS} or more, not {self.remember}")

    @property
    def is_noisy(self) -> bool:
        """Whether priors of the root get noise."""
        return self.noise is not None and self.noise[0] > 0


class Remembered:
    """Evaluations of one game by keys of positions, as many as there is room for."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._rules: Rules | None = None
        self.keys, self.rows = np.zeros(0, np.uint64), np.zeros(0, np.int64)
        self.priors, self.values = np.zeros(0, np.float32), np.zeros(0)

    def forget(self) -> None:
        """Forgets all evaluations, but keeps the room."""
        self.keys.fill(0)

    def begin(self, rules: Rules, has_priors: bool) -> None:
        """Makes room for positions of a game. Evaluations of another one are forgotten."""
        if self._rules is not rules:
            self._rules = rules
            # Zeros of the system, which cost nothing before they are written.
            self.keys = np.zeros(self.slots * (rules.key_words + 1), np.uint64)
            self.rows = np.zeros(self.slots + 1, np.int64)
            self.priors = np.zeros(self.slots * rules.actions * has_priors, np.float32)
            self.values = np.zeros(self.slots * rules.players)


FIELDS: Any = BATCH.fields
PLACES = {name: FIELDS[name][1] // 8 for name in ("policy", "values", "used", "calls", "columns")}
"""Fields of the record that change with each call, and where they lie, in words of 8 bytes."""


class Batch:
    """Positions that wait for one call of an evaluator, with room for `rows`, and the answers for the last ones."""

    def __init__(self, evaluation: Evaluation, rules: Rules, rows: int, remembered: Remembered, has_priors: bool) -> None:
        evaluator = evaluation.evaluator
        if rules.live is not None:
            raise ValueError(f"{rules.name} is one game of Python: an evaluator needs one with compiled kernels")
        evaluator.check(rules)
        self.evaluator, self.rules, self.leaves = evaluator, rules, evaluation.leaves
        self.header = np.zeros(BATCH.itemsize, np.uint8)
        record: Any = self.header.view(BATCH)[0]
        self._numbers = self.header.view(np.int64)
        self.record, self.remembered, self._has_priors = record, remembered, has_priors
        self.planes = np.zeros((rows, *rules.planes), np.int8)
        self.masks, self.movers = np.zeros((rows, rules.actions), np.int8), np.zeros(rows, np.int8)
        self._policy, self._values = np.zeros((0, rules.actions), np.float32), np.zeros((0, 1), np.float32)
        self._priors, self._powers = np.zeros(rules.actions, np.float32), np.zeros(rules.actions, np.int32)
        self._paid, self._memory = np.zeros(rules.players), evaluator.memory(rules)
        for name in ("planes", "masks", "movers"):
            record[name] = address_of(getattr(self, name))
        for name in ("priors", "powers", "paid", "memory"):
            record[name] = address_of(getattr(self, f"_{name}"))
        record.rows, record.plane_bytes, record.memory_bytes = rows, int(np.prod(rules.planes)), self._memory.size
        record.logits, record.signed, record.mix = evaluator.logits, evaluator.signed, evaluation.mix
        record.fraction, record.alpha = evaluation.noise or (0.0, 1.0)

    def begin(self) -> None:
        """Makes room for evaluations that are remembered."""
        kept, record = self.remembered, self.record
        kept.begin(self.rules, self._has_priors)
        record.slots = kept.slots if self.evaluator.kernel is None and self.leaves == 1 else 0
        record.kept_keys, record.kept_rows = address_of(kept.keys), address_of(kept.rows)
        record.kept_priors, record.kept_values = address_of(kept.priors), address_of(kept.values)

    @property
    def used(self) -> int:
        """Positions that wait."""
        return int(self._numbers[PLACES["used"]])

    @used.setter
    def used(self, count: int) -> None:
        """Sets their number."""
        self._numbers[PLACES["used"]] = count

    def evaluate(self) -> None:
        """Asks the evaluator about the positions that wait. Raises what it raises, and ValueError for an answer of a wrong
        shape."""
        count, self.used = self.used, 0
        answer = self.evaluator(self.planes[:count], self.masks[:count], self.movers[:count])
        self._policy, self._values = checked_answer(answer, self.evaluator, count, self.rules)
        numbers = self._numbers
        numbers[PLACES["policy"]], numbers[PLACES["values"]] = address_of(self._policy), address_of(self._values)
        numbers[PLACES["columns"]] = self._values.shape[1]
        numbers[PLACES["calls"]] += 1

    def error(self, status: int, graph: Graph, sim: Sim, row: int) -> ValueError:
        """Returns the error of an answer that is no evaluation: of the one in a row, or of a compiled one for -1."""
        listed = sim.action_list[: int(sim.record.action_list.length)]
        policy = self._priors[: len(listed)] if row < 0 else self._policy[row, listed]
        values = self._paid if row < 0 else self._values[row]
        return evaluation_error(status, self.rules, graph, sim, str(self.evaluator), policy, values)


FAULTS = range(NO_PRIORS, NO_PRIORS + 2)
"""Statuses of a search whose evaluation is none."""
