"""Workers: one search at a time, in one thread, with memory that serves the next one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext
from threading import local
from typing import NamedTuple

import numpy as np

from ucd_envs.grouped import MoveGroups, entered, grouped
from ucd_envs.interface import Grouping
from ucd_envs.kernels import compiled, is_own
from ucd_envs.rules import Rules, State
from ucd_planners.calls import Calls
from ucd_planners.evaluation import Evaluation, Remembered
from ucd_planners.graph_view.searched import Searched
from ucd_planners.root import chosen, only_at, winning
from ucd_planners.search.errors import contract_error, damage_error, index_error
from ucd_planners.search.interface import (
    DONE,
    GROW_MEMORY,
    STOPPED,
    Initial,
    PlayoutPolicy,
    SearchOptions,
    Selection,
    is_graded,
)
from ucd_planners.search.kernels import bound_rules, bound_search
from ucd_planners.search.loop import RUN, run
from ucd_planners.search.sim import Sim
from ucd_planners.search.storage import Graph, fit_scratch
from ucd_planners.succession import follows

FIRST_ROOM = 65_536
"""Playouts for which a graph has room at first where the budget is in seconds."""
CHUNK_SECONDS = 0.05
"""About how long the compiled loop runs between two looks at the clock, the callback and Ctrl-C."""
LOOKS = 64
"""Looks at most of a search that may end early."""
FIRST_CHUNK = 256
"""Playouts before the first look, where no clock has to be kept, or one that these cannot reach."""
UNHURRIED = 600.0
"""Seconds of a budget that the first playouts cannot reach."""
SLACK = 0.001
"""Seconds by which a budget may be passed, beside one playout."""
NO_END = 2**62
"""Playouts of a budget in seconds."""
GROWTH = 1.5
"""The time of making room against that of the last time: blocks grow by half."""


class Stop:
    """A flag that ends the workers of one search."""

    __slots__ = ("_on",)

    def __init__(self) -> None:
        self._on = False

    def is_set(self) -> bool:
        """Whether the search should end."""
        return self._on

    def set(self) -> None:
        """Ends the search soon."""
        self._on = True


class Settings(NamedTuple):
    """The settings of a planner that its workers use."""

    selection: Selection
    policies: Sequence[PlayoutPolicy]
    initial: Initial | None
    options: SearchOptions
    max_nodes: int
    stop_early: bool
    groups: MoveGroups | Grouping | None = None
    guarded: bool = False
    evaluation: Evaluation | None = None
    remembered: Remembered | None = None
    clock: Callable[[], float] = time.perf_counter
    """Seconds of a clock that never goes back, by which budgets in seconds are kept."""


class Budget(NamedTuple):
    """The budget of one search and how it ends."""

    playouts: int | None
    seconds: float | None
    progress: Callable[[int, float], None] | None
    final_move: str
    temperature: float = 0.0


_current = local()
"""`worker`: the one that runs in this thread."""


def current_worker() -> Worker | None:
    """Returns the worker that runs in this thread, None outside of a search."""
    return getattr(_current, "worker", None)


class Worker:
    """One search at a time, in one thread, with memory that serves the next one."""

    def __init__(self, settings: Settings, rules: Rules, playouts: int | None = None) -> None:
        self.settings, self.rules = settings, rules
        self.searched_rules = searched = rules if settings.groups is None else grouped(rules, settings.groups)
        self.policies = settings.policies
        selection, initial = settings.selection, settings.initial
        kernels_of = [(rules, rules.kernels), (selection, (selection.select_kernel, selection.backup_kernel))]
        kernels_of += [(policy, (policy.suggest, policy.learn)) for policy in self.policies]
        kernels_of += [] if initial is None else [(initial, (initial.kernel,))]
        if settings.evaluation is not None:
            kernels_of.append((settings.evaluation.evaluator, (settings.evaluation.evaluator.kernel,)))
        if searched.inside is not None:
            grouping = searched.inside.grouping
            kernels_of.append((grouping.name, (grouping.kernel, grouping.key)))
        self.user_defined = [subject for subject, kernels in kernels_of if not all(map(is_own, filter(None, kernels)))]
        self.guarded = settings.guarded or len(self.user_defined) > 0
        compiled(run, RUN)
        self.moves_kernels = bound_rules(rules)
        self.rules_kernels = self.moves_kernels if searched is rules else bound_rules(searched)
        evaluation = settings.evaluation
        evaluate = None if evaluation is None else evaluation.evaluator.kernel
        self.search_kernels = bound_search(selection, self.policies, initial, settings.options, self.guarded, evaluate)
        room = min(FIRST_ROOM if playouts is None else playouts, settings.max_nodes)
        self.graph = Graph(selection, searched, room, settings.max_nodes - 1, settings.options)
        self.graph.divide(playouts or 1)
        traced = self.graph.layout.traced or len(self.policies) > 0 or initial is not None
        memories = [policy.memory(rules) for policy in self.policies]
        given = None if initial is None else initial.memory(rules)
        self.sim = Sim(searched, traced, memories, given, self.guarded)
        self.searched = Searched()
        self.calls: Calls | None = None
        self.last: State | None = None
        self.chosen = -1
        self.growths: dict[int, float] = {}
        self.noisy_root, self.gets_noise, self.fresh = b"", True, True
        self.expected = room
        self.cpu_seconds = 0.0
        self.running = False

    def forget(self) -> None:
        """Begins anew: the next search belongs to another game."""
        self.searched.forget()
        self.graph.clear()
        self.last = None

    def begin(self, state: State, rng: np.ndarray, share: int | None, stop: Stop, budget: Budget) -> None:
        """Prepares a search from a state; share: its playouts, None until the seconds are gone."""
        if self.policies:
            goes_on = follows(state, self.last, self.chosen, self.moves_kernels, self.graph, budget.seconds)
            for policy, memory in zip(self.policies, self.sim.memories, strict=True):
                policy.begin(memory, goes_on)
        self.last, self.chosen = state, -1
        root = state if self.searched_rules is self.rules else entered(self.searched_rules, state)
        self.state, self.root, self.share, self.stop, self.budget = state, root.array(), share, stop, budget
        self.sim.rng[:] = rng
        if not 0 <= state.player < self.rules.players:
            last = self.rules.players - 1
            raise RuntimeError(
                f"{self.rules} leaves the move to player {state.player}, but players are 0 to {last} (at the root)"
            )
        if len(self.policies):
            self.sim.policies["suggested"] = 0
        if self.rules.live is not None:
            self.rules.live.reseed(int(rng[0]))
        try:
            self.sim.key[:] = np.frombuffer(root.words, np.uint64)
        except IndexError:
            raise self._index_error() from None
        self.searched.forget()
        self.graph = self.graph.begin(self.sim.key, state.player, root.ply if is_graded(self.settings.selection) else 0)
        # A kept root that has got its noise keeps it.
        self.gets_noise = not (self.graph.nodes[self.graph.root]["legal"] and self.noisy_root == root.key)
        self.noisy_root, self.fresh = root.key, True
        if share is not None:
            self.graph.divide(share)
            self.graph.make_room(min(self.graph.edge_count + share, self.settings.max_nodes))
        fit_scratch(self.sim, self.graph)
        self.searched = Searched(self.graph, root)

    def run(self, began: float) -> None:
        """Runs to the end of the budget, which began at a time of the clock, or to the stop."""
        self.running = True
        outer, _current.worker = getattr(_current, "worker", None), self
        self.began, self.cpu_began = began, time.thread_time()
        budget, stop_early = self.budget, self.settings.stop_early and self.budget.playouts is not None
        unhurried = self.rules.live is None and (budget.seconds is None or budget.seconds >= UNHURRIED)
        chunk = FIRST_CHUNK if unhurried else 1
        graph, clock, pace = self.graph, self.settings.clock, 0.0
        try:
            while not self.stop.is_set():
                done = graph.playouts
                goal = done + chunk if self.share is None else min(done + chunk, self.share)
                before = clock()
                with nullcontext() if self.rules.live is None else self.rules.live.listening():
                    status = self.advance(goal)
                now, played = clock(), graph.playouts
                ran = played - done
                if ran:
                    # The slower of the last pieces: a chunk that takes longer than expected passes the budget.
                    last = (now - before) / ran
                    pace = max(last, (pace + last) / 2)
                    if budget.progress is not None:
                        budget.progress(played, now - began)
                if status != DONE:
                    now = clock()
                    if played and not self._has_time_to_grow(status, now):
                        break
                    self.grow(status)
                    self.growths[status] = clock() - now
                if stop_early and self.share is not None and self._is_decided(self.share - played):
                    break
                left = CHUNK_SECONDS if budget.seconds is None else budget.seconds - (clock() - began)
                if played == self.share or (left <= 0 and played):
                    break
                if budget.seconds is not None:
                    self.make_room(played + left / max(pace, 1e-9))
                # Half of what is left is expected to be used, so that a game may slow down to half of its pace.
                target = min(CHUNK_SECONDS, left if left <= SLACK or budget.seconds is None else left / 2)
                chunk = max(1, min(int(target / max(pace, 1e-9)), 4 * chunk))
                if stop_early and self.share is not None:
                    chunk = min(chunk, self.share // LOOKS + 1)
        except BaseException:
            self.stop.set()
            raise
        finally:
            self.cpu_seconds = time.thread_time() - self.cpu_began
            _current.worker = outer
            self.running = False

    def move_after(self, playouts: int, began: float) -> int:
        """Runs on to a number of playouts and returns the action that the search would choose then."""
        self.share = playouts
        self.run(began)
        # Ties are broken by a copy, so that the search is the same without this look.
        return chosen([self.graph], self.budget.final_move, self.sim.rng.copy(), self.state, self.budget.temperature)

    def make_room(self, playouts: float) -> None:
        """Makes room for the playouts that a budget in seconds will last for, before the graph has much to copy."""
        expected = min(int(playouts), self.settings.max_nodes)
        if expected > self.expected:
            self.expected = min(expected + expected // 2, self.settings.max_nodes)
            self.graph.make_room(self.expected + self.graph.kept)
            fit_scratch(self.sim, self.graph)

    def _has_time_to_grow(self, status: int, now: float) -> bool:
        """Whether making room, as long as the last time and longer, ends within the seconds of the budget."""
        spent = now - self.began + GROWTH * self.growths.get(status, 0.0)
        return self.budget.seconds is None or spent <= self.budget.seconds

    def _is_decided(self, left: int) -> bool:
        """Whether no playouts that are left can change the move: the most visited one, or of those that win at once."""
        root = self.graph.root
        numbers = only_at(self.graph, root)
        visits, wins = self.graph.edges["visits"][numbers], winning(self.graph, numbers)
        all_tried = len(visits) == int(self.graph.nodes[root]["legal"])
        if wins.any():
            visits = visits[wins]
        elif not all_tried:
            return False  # an untried move may win at once
        if len(visits) == 1:
            return all_tried or int(visits[0]) > left
        second, first = np.partition(visits, -2)[-2:].tolist()
        return bool(first - second > left)

    def simulate(self, goal: int) -> None:
        """Simulates until the graph has had `goal` playouts. Raises as `advance` does."""
        while (status := self.advance(goal)) != DONE:
            self.grow(status)

    def advance(self, goal: int) -> int:
        """Simulates until the graph has had `goal` playouts or needs room. Returns DONE or the status that asks for room.

        Raises what a third-party environment has raised, and RuntimeError for a kernel that breaks its contract.
        """
        try:
            if self.settings.evaluation is not None:
                status = self._evaluated(goal)
            else:
                status = run(self.rules_kernels, self.search_kernels, self.root, self.graph.header, self.sim.header, goal)
        except IndexError:
            raise self._index_error() from None
        self.check(status)
        return int(status)

    def _evaluated(self, goal: int) -> int:
        """Does the same where leaves are evaluated, as the only search of a batch."""
        evaluation, alone = self.settings.evaluation, np.zeros(1, np.int64)
        if self.calls is None:
            self.calls = Calls([self], evaluation, self.settings.remembered, self.settings.options.leaves)
        record = self.calls.records[0]
        if self.fresh:
            self.fresh = False
            self.calls.begin(alone, goal, goal)
            record.noise &= self.gets_noise
        self.calls.give(0, self.root)
        record.goal, record.share = goal, NO_END if self.share is None else self.share
        self.calls.run(alone)
        return int(record.status)

    def check(self, status: int) -> None:
        """Raises what has stopped the compiled loop for good: an exception of a third-party environment, or RuntimeError for a
        kernel that breaks its contract.
        """
        if self.guarded and (block := self.sim.damaged()):
            raise damage_error(block, self.searched_rules, self.policies)
        # A callback may have failed in the move before the graph had to grow.
        caught = None if self.rules.live is None or status == DONE else self.rules.live.failure()
        if caught is not None:
            raise caught
        if status >= STOPPED:
            raise contract_error(status, self.searched_rules, self.graph, self.sim, self.settings.selection, self.policies)

    def _index_error(self) -> RuntimeError:
        """Returns the error of a kernel that has used an index outside of its array."""
        return index_error(self.user_defined, self.graph.playouts)

    def grow(self, status: int) -> None:
        """Makes more room of the kind that a status asks for."""
        if status != GROW_MEMORY:
            self.graph.grow(status, None if self.share is None else self.share - self.graph.playouts)
            fit_scratch(self.sim, self.graph)
            return
        for place, policy in enumerate(self.policies):
            memory = self.sim.policies[place]["memory"]
            if memory["length"]:
                memory["length"] = 0
                self.sim.remember(place, policy.grown(self.sim.memories[place]))


def run_all(workers: list[Worker], stop: Stop, began: float) -> bool:
    """Runs one search in this thread, several in threads of their own; returns whether Ctrl-C ended them."""
    if len(workers) == 1:
        try:
            workers[0].run(began)
        except KeyboardInterrupt:
            return True
        return False
    interrupted = False
    with ThreadPoolExecutor(len(workers)) as threads:
        try:
            running = [threads.submit(worker.run, began) for worker in workers]
            while wait(running, CHUNK_SECONDS).not_done:  # in pieces, since Ctrl-C does not always wake a thread that waits
                pass
            for future in running:
                future.result()
        except KeyboardInterrupt:
            interrupted = True
        finally:
            stop.set()
    while any(worker.running for worker in workers):  # of a thread that Ctrl-C met while it started, the pool may not know
        time.sleep(0.001)
    return interrupted
