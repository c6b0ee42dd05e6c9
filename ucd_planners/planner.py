"""Planners: agents that act in any environment whose state can be cloned."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext
from threading import Event, local
from typing import Any

import numpy as np

from ucd_envs.foreign import Adapter, adapted
from ucd_envs.kernels import compiled
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_envs.settings import boolean, integer, real
from ucd_planners.graph_view.searched import Searched
from ucd_planners.playouts.pool_rave import check_pools
from ucd_planners.result import FINALS, SearchResult, summary, variation
from ucd_planners.search.graph import BROKEN, MORE_MEMORY
from ucd_planners.search.initial import Priors
from ucd_planners.search.interface import WORK, Selection
from ucd_planners.search.kernels import bound_kernels, work_for
from ucd_planners.search.loop import SIMULATE, simulate
from ucd_planners.search.policies import MOST_POLICIES, Policy
from ucd_planners.search.storage import Graph, Options

FIRST_ROOM = 65_536
"""Playouts for which a worker has room at first, or fewer if the budget is smaller."""
CHUNK_SECONDS = 0.05
"""About how long the compiled loop runs between two looks at the clock, the callback and Ctrl-C."""
LOOKS = 64
"""How often at most a search that may end early looks whether it can."""
MOST_EDGES = 2**31 - 2**17
"""The largest graph: places of edges are 32-bit numbers."""
EXPANDS = ("first", "all")


class Planner:
    """A Monte-Carlo planner: `act(env)` and `search(env)` look at an environment and never change it.

    selection: how moves are chosen and playouts added up; playouts or seconds: the budget of one search, exactly one of the
    two; seed: the same seed gives the same moves, search after search (with a budget of seconds, speed enters); workers: so
    many independent searches with an equal share of the budget each, run on threads, their root statistics added up; final:
    how the move is chosen in the end, "visits", "mean" or "lower_bound"; max_nodes: the largest graph of a worker, root and
    moves tried; a search that reaches it goes on inside it and says so; add: which positions of a simulation enter the
    graph, the "first" new one or "all"; urgency: the bound of an untried move, a number of 0 or more, infinite to try all
    moves of a position before any again [first-play urgency: Gelly and Wang 2006]; keep: whether a search that starts at a
    position of the graph of the one before goes on in it, what can no longer be reached being given back, instead of
    starting afresh; early: whether a search ends as soon as no move can overtake the most visited one, which changes no
    move (with a budget in playouts, one worker and final_move="visits"); policies: one or several, at most four, that are asked
    in turn for each move of a playout, such as CMC(prob=0.35), before the game's own random policy; priors: what is thought
    of a position's moves before any is tried, such as GoInitial(); progress: called between pieces of the search, by each
    worker in its own thread, with that worker's playouts and seconds; what it raises ends the search.

    Raises TypeError or ValueError for a parameter that is not so.
    """

    def __init__(
        self,
        selection: Selection,
        *,
        name: str = "planner",
        playouts: int | None = None,
        seconds: float | None = None,
        seed: int | None = None,
        workers: int = 1,
        final_move: str = "visits",
        max_nodes: int | None = None,
        expand: str = "first",
        first_play_urgency: float = math.inf,
        reuse_graph: bool = False,
        stop_early: bool = False,
        policies: Policy | Iterable[Policy] = (),
        initial: Priors | None = None,
        progress: Callable[[int, float], None] | None = None,
    ) -> None:
        if (playouts is None) == (seconds is None):
            raise ValueError("a budget is either playouts or seconds: give exactly one of them")
        if seconds is not None and not 0 < real("seconds", seconds) < float("inf"):
            raise ValueError(f"seconds must be a finite number above 0, not {seconds!r}")
        if final_move not in FINALS:
            raise ValueError(f"final_move must be one of {', '.join(FINALS)}, not {final_move!r}")
        self.selection = selection
        self.name = name
        self.playouts = None if playouts is None else integer("playouts", playouts, 1, MOST_EDGES)
        self.seconds = None if seconds is None else float(seconds)
        self.workers = integer("workers", workers, 1, 1024)
        if self.playouts is not None and self.playouts < self.workers:
            raise ValueError(f"{self.workers} workers need at least as many playouts, not {self.playouts}")
        self.final_move = final_move
        self.max_nodes = MOST_EDGES if max_nodes is None else integer("max_nodes", max_nodes, 2, MOST_EDGES)
        if expand not in EXPANDS:
            raise ValueError(f"expand must be one of {', '.join(EXPANDS)}, not {expand!r}")
        if not real("first_play_urgency", first_play_urgency) >= 0:
            raise ValueError(f"first_play_urgency must be a number, 0 or more, or inf, not {first_play_urgency!r}")
        self.options = Options(
            expand == "all", float(first_play_urgency), boolean("reuse_graph", reuse_graph), has_priors=initial is not None
        )
        self.stop_early = boolean("stop_early", stop_early)
        if self.stop_early and (self.playouts is None or self.workers > 1 or final_move != "visits"):
            raise ValueError('stop_early goes with a budget in playouts, one worker and final_move="visits"')
        self.policies = listed(policies)
        check_pools(self.policies, selection)
        if initial is not None and (
            isinstance(initial, type) or not hasattr(initial, "kernel") or not hasattr(initial, "memory")
        ):
            raise TypeError(f"initial must be such as GoInitial(), not {initial!r}")
        self.initial = initial
        if progress is not None and not callable(progress):
            raise TypeError(f"progress must be a function of playouts and seconds, not {progress!r}")
        self.progress = progress
        self._workers: list[Worker] = []
        self._adapter: Adapter | None = None
        self.reset(seed)

    def reset(self, seed: int | None = None) -> None:
        """Begins a new sequence of searches, as a new planner with this seed would; without one, an unforeseeable sequence.

        Raises TypeError or ValueError for a seed that is not a whole number, 0 or more.
        """
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        self.seed = integer("seed", seed, 0, 2**128 - 1)
        self._searches = 0
        for worker in self._workers:
            worker.forget()

    @property
    def asked(self) -> list[Policy]:
        """The policies that may be asked: those with prob above 0."""
        return [policy for policy in self.policies if policy.prob > 0]

    def check(self, rules: Rules) -> None:
        """Raises ValueError for a game that a policy or the priors do not know, or need more memory for than they may have."""
        for policy in self.asked:
            policy.memory(rules)
        if self.initial is not None:
            self.initial.memory(rules)

    def act(self, env: Any) -> int:
        """The move to play for the agent to move in an environment, wrapped or not. Ctrl-C raises KeyboardInterrupt.

        Raises as `search` does.
        """
        result = self.search(env)
        if result.stopped == "interrupt":
            raise KeyboardInterrupt
        return result.action

    def search(self, env: Any) -> SearchResult:
        """Everything a search from an environment's state, or from a State, finds out. Ctrl-C ends it with what it has so far.

        env: an environment of ucd_envs, an adapter of ucd_envs.foreign, or any environment with the hooks that are told there.
        Raises TypeError for something without the hooks, ValueError for a finished game or for several workers in an
        environment that others wrote, as `check` does, and whatever such an environment raises.
        """
        state = self._starting_state(env)
        if state.rules.live is not None and self.workers > 1:
            raise ValueError(f"{state.rules.name} is one game of Python, which one worker can search at a time: workers=1")
        workers = self._team(state.rules)
        count = self._searches
        self._searches += 1
        stop = Event()
        for place, worker in enumerate(workers):
            worker.begin(state, seeded(self.seed, count, place), self._share(place), stop)
        began = time.perf_counter()
        interrupted = _run(workers, stop)
        seconds = time.perf_counter() - began
        graphs = [worker.graph for worker in workers if worker.graph.count("playouts")]
        if not graphs:
            raise KeyboardInterrupt
        if not interrupted:
            self._workers = workers
        return summary(
            state.rules,
            graphs,
            final_move=self.final_move,
            seconds=seconds,
            cpu_seconds=sum(worker.cpu_seconds for worker in workers),
            stopped="interrupt" if interrupted else self._end_of(workers),
            rng=workers[0].work.rng,
            searched=next(worker.searched for worker in workers if worker.graph.count("playouts")),
        )

    def known(self) -> SearchResult:
        """What the search under way has found out so far; for `progress`, and with several workers what that one's has.

        Raises RuntimeError outside of `progress`.
        """
        worker = self._here()
        return summary(
            worker.rules,
            [worker.graph],
            final_move=self.final_move,
            seconds=time.perf_counter() - worker.began,
            cpu_seconds=time.thread_time() - worker.cpu_began,
            stopped="progress",
            rng=worker.work.rng.copy(),  # ties are broken by the search's numbers, which must go on as if nobody had looked
            searched=worker.searched,
        )

    def line(self, action: int) -> list[int]:
        """An action that the search under way has tried and then the most visited moves; for `progress`, as `known`."""
        return variation(self._here().graph, action)

    def _here(self) -> Worker:
        """The worker in whose thread this is called."""
        worker: Worker | None = getattr(_current, "worker", None)
        if worker is None or worker.planner is not self:
            raise RuntimeError("a search can be looked into only from its progress callback")
        return worker

    def _starting_state(self, env: Any) -> State:
        """The state to search from. An adapter that an environment needs is made once and serves its later searches too."""
        inner = getattr(env, "unwrapped", env)
        state: Any = inner
        if self._adapter is not None and self._adapter.env is inner:
            state = self._adapter.clone_state()
        elif not isinstance(inner, State):
            clone_state = getattr(inner, "clone_state", None)
            state = clone_state() if callable(clone_state) else None
            if not isinstance(state, State):
                self._adapter = adapted(inner)
                state = self._adapter.clone_state()
        if state.over:
            raise ValueError("the game is over: there is no move to plan")
        found: State = state
        return found

    def _end_of(self, workers: list[Worker]) -> str:
        """What ended a search that nobody interrupted."""
        if self.playouts is None:
            return "seconds"
        return "decided" if any(worker.graph.count("playouts") < (worker.share or 0) for worker in workers) else "playouts"

    def _share(self, worker: int) -> int | None:
        """A worker's part of the playouts; the first ones take what is left over."""
        if self.playouts is None:
            return None
        return self.playouts // self.workers + (worker < self.playouts % self.workers)

    def _team(self, rules: Rules) -> list[Worker]:
        """The workers for a game, from the last search if that was in the same game: kernels and memory serve again.

        While a search runs its workers are nobody else's, and after Ctrl-C or an exception, which may have come while memory
        grew, they are not used again.
        """
        team: list[Worker] = []
        while len(team) < self.workers:
            try:
                worker = self._workers.pop(0)
            except IndexError:
                worker = Worker(self, rules)
            if worker.rules is rules:
                team.append(worker)
        return team

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_workers": [], "_adapter": None}

    def __repr__(self) -> str:
        budget = f"playouts={self.playouts}" if self.playouts is not None else f"seconds={self.seconds}"
        knowledge = [*self.policies, *([] if self.initial is None else [self.initial])]
        parts = [str(self.selection), *map(str, knowledge), budget, f"seed={self.seed}"]
        return f"<{self.name}: {', '.join(parts)}>"


def listed(policies: Any) -> tuple[Policy, ...]:
    """One policy or several. Raises TypeError for anything else and for too many."""
    found = tuple(policies) if isinstance(policies, Iterable) else (policies,)
    if len(found) > MOST_POLICIES or not all(hasattr(policy, "suggest") and not isinstance(policy, type) for policy in found):
        raise TypeError(f"policies must be at most {MOST_POLICIES} playout policies such as CMC(), not {policies!r}")
    return found


_current = local()
"""`worker`: the one that runs in this thread."""


class Worker:
    """One search at a time, in one thread, with memory that serves the next one."""

    def __init__(self, planner: Planner, rules: Rules) -> None:
        self.planner, self.rules = planner, rules
        self.policies = planner.asked
        compiled(simulate, SIMULATE)
        self.kernels = bound_kernels(rules, planner.selection, self.policies, planner.initial)
        share = None if planner.playouts is None else planner.playouts // planner.workers + 1
        room = min(FIRST_ROOM if share is None else share, FIRST_ROOM, planner.max_nodes)
        self.graph = Graph(planner.selection, rules, room, planner.max_nodes - 1, planner.options)
        self.work = work_for(rules, planner.selection, self.policies, planner.initial)
        self.searched = Searched()
        self.ply = self.rules.max_plies
        self.cpu_seconds = 0.0
        self.running = False

    def forget(self) -> None:
        """The next search belongs to another game."""
        self.searched.forget()
        self.graph.clear()
        self.ply = self.rules.max_plies

    def begin(self, state: State, rng: np.ndarray, share: int | None, stop: Event) -> None:
        """Prepares a search from a state for so many playouts (None: until the seconds are gone)."""
        self.root, self.share, self.stop = state.array(), share, stop
        self.work.rng[:] = rng
        for policy, memory in zip(self.policies, self.work.memories, strict=False):
            policy.begin(memory, state.ply > self.ply)
        self.ply = state.ply
        record = self.work.record.view(WORK)[0]
        record.suggested[:], record.played = 0, 0
        if self.rules.live is not None:
            self.rules.live.reseed(int(rng[0]))
        self.work.words[:] = np.frombuffer(state.words, np.uint64)
        self.searched.forget()
        self.graph = self.graph.begin(self.work.words, state.player, state.ply)
        self.searched = Searched(self.graph, state)

    def run(self) -> None:
        """Runs to the end of the budget, or to the stop."""
        self.running = True
        outer, _current.worker = getattr(_current, "worker", None), self
        self.began, self.cpu_began = began, cpu = time.perf_counter(), time.thread_time()
        planner = self.planner
        done, chunk = 0, 256 if self.rules.live is None else 1
        try:
            while not self.stop.is_set():
                goal = done + chunk if self.share is None else min(done + chunk, self.share)
                before = time.perf_counter()
                with nullcontext() if self.rules.live is None else self.rules.live.listening():
                    self._simulate(goal)
                now = time.perf_counter()
                pace = goal - done
                done = goal
                if planner.progress is not None:
                    planner.progress(done, now - began)
                if planner.stop_early and self.share is not None and self._is_decided(self.share - goal):
                    break
                if done == self.share or (planner.seconds is not None and now - began >= planner.seconds):
                    break
                target = CHUNK_SECONDS
                if planner.seconds is not None:
                    target = min(target, planner.seconds - (now - began))
                chunk = max(1, min(int(pace * target / max(now - before, 1e-6)), 4 * pace))
                if planner.stop_early and self.share is not None:
                    chunk = min(chunk, self.share // LOOKS + 1)
        except BaseException:
            self.stop.set()
            raise
        finally:
            self.cpu_seconds = time.thread_time() - cpu
            _current.worker = outer
            self.running = False

    def _is_decided(self, left: int) -> bool:
        """Whether the most visited move stays so whatever the playouts that are left do."""
        root = self.graph.count("root")
        visits = self.graph.edges[self.graph.block(root)]["visits"]
        if len(visits) < 2:
            return bool(self.graph.nodes[root]["moves"] == 1)
        second, first = np.partition(visits, -2)[-2:].tolist()
        return bool(first - second > left)

    def _simulate(self, goal: int) -> None:
        """Simulations until the graph has had so many. Raises what an environment that others wrote has raised."""
        graph = self.graph
        while not simulate(self.kernels, graph.header, self.work, self.rules.config, self.root, goal):
            caught = None if self.rules.live is None else self.rules.live.failure()
            if caught is not None:
                raise caught
            if graph.count("wanted") == BROKEN:
                raise RuntimeError(f"{self.rules} goes on at a position without legal moves")
            self.grow()

    def grow(self) -> None:
        """Makes more room of the kind that a search said it wants."""
        if self.graph.count("wanted") != MORE_MEMORY:
            self.graph.grow(None if self.share is None else self.share - self.graph.count("playouts"))
            return
        full, memories = int(self.work.record.view(WORK)[0].full), list(self.work.memories)
        for place, policy in enumerate(self.policies):
            if full >> place & 1:
                memories[place] = policy.grown(memories[place])
        self.work = self.work._replace(memories=tuple(memories))


def _run(workers: list[Worker], stop: Event) -> bool:
    """Runs one search in this thread, several in threads of their own; whether Ctrl-C ended them."""
    if len(workers) == 1:
        try:
            workers[0].run()
        except KeyboardInterrupt:
            return True
        return False
    interrupted = False
    with ThreadPoolExecutor(len(workers)) as threads:
        try:
            running = [threads.submit(worker.run) for worker in workers]
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
