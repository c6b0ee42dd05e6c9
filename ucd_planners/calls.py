"""Compiled calls that run several searches, with a batch for those whose leaves are evaluated outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ucd_envs.kernels import compiled
from ucd_envs.rules import Rules
from ucd_envs.structs import address_of
from ucd_planners.evaluation import FAULTS, Batch, Evaluation, Remembered
from ucd_planners.search.evaluation import BATCH
from ucd_planners.search.in_flight import HEAD, STEP
from ucd_planners.search.interface import DONE, NEEDS_EVALUATION
from ucd_planners.search.pool import CALL, begin_each, read_each, run_each
from ucd_planners.search.sim import Sim
from ucd_planners.search.storage import Graph


class Searching(Protocol):
    """A search with memory of its own, as a Worker is."""

    rules: Rules
    rules_kernels: np.ndarray
    search_kernels: np.ndarray
    graph: Graph
    sim: Sim


class Calls:
    """The records by which compiled code runs searches of one game, each at its place, and their batch.

    searches: those that a record is made for; evaluation and remembered: where leaves are evaluated; rows: of the batch.
    """

    def __init__(
        self, searches: Sequence[Searching], evaluation: Evaluation | None, remembered: Remembered | None, rows: int
    ) -> None:
        self.searches = searches
        self.bytes = np.zeros((len(searches), CALL.itemsize), np.uint8)
        self.records: Any = self.bytes.view(CALL)[:, 0]
        self.batch: Batch | None = None
        self._header, self._noisy = np.zeros(BATCH.itemsize, np.uint8), evaluation is not None and evaluation.is_noisy
        if evaluation is not None:
            has_priors = searches[0].graph.layout.has_priors
            self.batch = Batch(evaluation, searches[0].rules, rows, remembered or Remembered(0), has_priors)
            self._header = self.batch.header
        leaves = 1 if evaluation is None else evaluation.leaves
        self._in_flight: list[tuple[np.ndarray, np.ndarray]] = []
        for kernel in (begin_each, run_each, read_each):
            compiled(kernel, kernel.seam_signature)
        for place, search in enumerate(searches):
            record = self.records[place]
            record.rules, record.search = address_of(search.rules_kernels), address_of(search.search_kernels)
            record.sim, record.graph = address_of(search.sim.header), address_of(search.graph.header)
            record.leaves = leaves
            if leaves > 1:
                room = HEAD + STEP * int(search.sim.record.path.room), search.rules.key_words
                self._in_flight.append((np.zeros((leaves, room[0]), np.int32), np.zeros((leaves, room[1]), np.uint64)))
                record.descents, record.waiting_keys = map(address_of, self._in_flight[-1])

    def begin(self, places: np.ndarray, goal: int, share: int) -> None:
        """Marks searches as begun: `goal` playouts to be had now, and `share` in the end. Their roots are yet to be given."""
        for name, value in {
            "goal": goal,
            "share": share,
            "status": DONE,
            "row": -1,
            "noise": self._noisy,
            "waiting": 0,
        }.items():
            self.records[name][places] = value
        if self.batch is not None:
            self.batch.begin()

    def give(self, place: int, root: np.ndarray) -> None:
        """Gives a search its root, [state_bytes] uint8, which must live as long as it runs, and its present graph."""
        record = self.records[place]
        record.root, record.root_bytes = address_of(root), root.size
        record.graph = address_of(self.searches[place].graph.header)

    def run(self, places: np.ndarray, grow: Callable[[int, int], None] | None = None) -> None:
        """Runs searches to their goals, and evaluates the leaves where they wait on the way.

        grow: called with a place and the status of a search that has stopped otherwise, which then goes on; without it, it
        stays there. Raises what an evaluator raises, and ValueError for an answer that is no evaluation; all searches are then
        where they waited, with nothing of it in their graphs.
        """
        # Searches at their goals stay among those that are run: they cost nothing.
        places = np.ascontiguousarray(places, np.int64)
        stopped = run_each(self.bytes, places, self._header)
        while True:
            going = places
            while stopped:
                statuses = self.records["status"][going]
                self._refuse_faults(places, going, statuses)
                if grow is None:
                    return
                going = going[(statuses != DONE) & (statuses != NEEDS_EVALUATION)]
                for place in map(int, going):
                    grow(place, int(self.records["status"][place]))
                stopped = run_each(self.bytes, going, self._header)
            if self.batch is None or not self.batch.used:
                return
            try:
                self.batch.evaluate()
            except BaseException:
                self._ask_again(places)
                raise
            stopped = run_each(self.bytes, places, self._header)

    def _ask_again(self, places: np.ndarray) -> None:
        """Lets searches that wait ask again when they go on."""
        rows = self.records["row"]
        rows[places] = np.minimum(rows[places], -1)

    def _refuse_faults(self, left: np.ndarray, places: np.ndarray, statuses: np.ndarray) -> None:
        """Raises ValueError for a search whose evaluation was none; all that are left ask again when they go on."""
        faulty = places[(statuses >= FAULTS.start) & (statuses < FAULTS.stop)]
        if len(faulty) and self.batch is not None:
            place = int(faulty[0])
            search, row = self.searches[place], int(self.records["row"][place])
            error = self.batch.error(int(self.records["status"][place]), search.graph, search.sim, row)
            self.records["status"][faulty], self.batch.used = NEEDS_EVALUATION, 0
            self._ask_again(left)
            raise error
