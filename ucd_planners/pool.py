"""Many searches of one game side by side, in one compiled call: the same results as one after another, in less time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ucd_envs.kernels import OVER, compiled
from ucd_envs.rules import Rules, State
from ucd_envs.settings import integer
from ucd_envs.structs import address_of
from ucd_planners.graph_view.searched import Searched
from ucd_planners.options import refuse_chance
from ucd_planners.result import SearchResult, summary
from ucd_planners.root import chosen
from ucd_planners.search.interface import DONE
from ucd_planners.search.pool import CALL, begin_each, read_each, run_each
from ucd_planners.search.storage import fit_scratch
from ucd_planners.worker import Budget, Stop, Worker

if TYPE_CHECKING:
    from ucd_planners.planner import Planner


class Pool:
    """Searches of one game with the settings of a planner, each in memory of its own at a place from 0 to searches - 1.

    A search is exactly the one that the planner would run from the same state with the same generator, bit for bit, whatever
    the number of searches and whatever the others do.

        pool = Pool(planner, rules, searches=256)
        pool.begin(states, rngs)              # at places 0 to len(states) - 1
        pool.run()                            # all of them to the end of their budgets
        visits, values = pool.read()          # of the roots' actions
        moves = pool.choose()                 # by the planner's final rule

    All methods take `places`, different numbers in any order: [n] int. `begin` without them takes the first ones, the others
    take those of the last `begin`. A place's memory serves its next search: with `reuse_graph` it goes on in its graph, and
    its playout policies keep what they have learned, as a planner's do.

    planner: one with one worker, without stop_early, progress and knowledge, which stays as it was; rules: those of all
    states; playouts: the budget of each search, by default the planner's. Raises ValueError for any other planner, for one
    without a budget in playouts, for a game that it does not serve and for a game of Python.
    """

    def __init__(self, planner: Planner, rules: Rules, searches: int, playouts: int | None = None) -> None:
        searches = integer("searches", searches, 1, 2**20)
        playouts = planner.playouts if playouts is None else integer("playouts", playouts, 1, 2**31 - 2**17)
        if playouts is None or planner.workers > 1:
            raise ValueError("searches side by side need a planner with a budget in playouts and one worker")
        if planner.stop_early or planner.progress is not None or planner.knowledge is not None:
            raise ValueError("searches side by side go without stop_early, progress and knowledge")
        if rules.live is not None:
            raise ValueError(f"{rules.name} is one game of Python: its searches run one after another")
        refuse_chance(rules, planner.selection, *planner.asked)
        settings = planner._settings
        self.rules, self.budget = rules, Budget(playouts, None, None, planner.final_move)
        self.workers = [Worker(settings, rules, playouts) for _ in range(searches)]
        """The searches, by their places."""
        self.states = np.zeros((searches, rules.state_bytes), np.uint8)
        """Their positions: [searches, state_bytes]."""
        self._roots = np.zeros((searches, self.workers[0].searched_rules.state_bytes), np.uint8)
        self._calls = np.zeros((searches, CALL.itemsize), np.uint8)
        self._records: Any = self._calls.view(CALL)[:, 0]
        self._begun = np.zeros(0, np.int64)
        # A search that remembers nothing of the last one is begun in compiled code.
        self._afresh = not (settings.policies or settings.options.reuse_graph or settings.groups)
        for kernel in (begin_each, run_each, read_each):
            compiled(kernel, kernel.seam_signature)
        for place, worker in enumerate(self.workers):
            record = self._records[place]
            record.rules, record.search = address_of(worker.rules_kernels), address_of(worker.search_kernels)
            record.sim, record.root = address_of(worker.sim.header), address_of(self._roots[place])
            record.graph, record.root_bytes = address_of(worker.graph.header), self._roots.shape[1]
            fit_scratch(worker.sim, worker.graph)

    def begin(self, states: Sequence[State] | np.ndarray, rngs: np.ndarray, places: Any = None) -> None:
        """Begins a search from each state.

        states: of the pool's rules, or their bytes, trusted and unchecked: [n, state_bytes] uint8; rngs: generators of
        ucd_envs.rng, such as `seeded(7, number)`: [n, 2] uint64. The planner's own search number k has seeded(seed, k, 0).
        Raises ValueError for states of another game, finished ones, ones in which chance is to move, and for other shapes.
        """
        if not isinstance(states, np.ndarray):
            for state in states:
                if state.rules != self.rules:
                    raise ValueError(f"a pool of {self.rules} cannot search from {state!r}")
            states = np.array([np.frombuffer(state.data, np.uint8) for state in states]).reshape(-1, self.states.shape[1])
        begun = self._checked(np.arange(len(states)) if places is None else places)
        rngs = np.ascontiguousarray(rngs, np.uint64)
        if states.shape != (len(begun), self.states.shape[1]) or rngs.shape != (len(begun), 2):
            shapes = f"[{len(begun)}, {self.states.shape[1]}] and [{len(begun)}, 2]"
            raise ValueError(f"states and generators must be {shapes}, not {list(states.shape)} and {list(rngs.shape)}")
        players = np.ascontiguousarray(states[:, :4]).view(np.int32)[:, 0]
        if len(players) and not (0 <= players.min() and players.max() < self.rules.players):
            wrong = players[(players < 0) | (players >= self.rules.players)][0]
            raise ValueError(
                "the game is over: there is no move to plan" if wrong == OVER else "no player is to move in a state"
            )
        self._begun = begun
        self.states[begun] = states
        self._records["goal"][begun] = self.budget.playouts
        if self._afresh:
            self._roots[begun] = states
            for place, rng in zip(begun.tolist(), rngs, strict=True):
                worker = self.workers[place]
                worker.sim.rng[:] = rng
                worker.searched.forget()
            begin_each(self._calls, begun)
            return
        for place, rng in zip(begun.tolist(), rngs, strict=True):
            worker = self.workers[place]
            worker.begin(self.state(place), rng, self.budget.playouts, Stop(), self.budget)
            self._roots[place] = worker.root
            self._records["graph"][place] = address_of(worker.graph.header)

    def run(self, places: Any = None) -> None:
        """Runs searches to the end of their budgets. Raises RuntimeError for a user-defined kernel that breaks its contract."""
        left = self._chosen(places)
        while len(left):
            try:
                stopped = run_each(self._calls, left)
            except IndexError:
                raise self.workers[int(left[0])]._index_error() from None
            for place in left.tolist() if stopped or self.workers[0].guarded else ():
                worker = self.workers[place]
                worker.check(int(self._records["status"][place]))
                if self._records["status"][place] != DONE:
                    worker.share = self.budget.playouts
                    worker.grow(int(self._records["status"][place]))
            left = left[self._records["status"][left] != DONE]

    def read(self, places: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Returns visits [n, actions] int32 and mean payoffs of the player to move [n, actions] float64 of the roots' actions.

        Actions that were not tried have 0 visits and the mean NaN. With groups use `result`: roots have picks of groups there.
        """
        wanted = self._chosen(places)
        visits = np.empty((len(wanted), self.workers[0].searched_rules.actions), np.int32)
        values = np.empty(visits.shape)
        read_each(self._calls, wanted, visits, values)
        return visits[:, : self.rules.actions], values[:, : self.rules.actions]

    def choose(self, places: Any = None) -> np.ndarray:
        """Returns the moves that the planner's final rule chooses: [n] int64."""
        wanted = self._chosen(places).tolist()
        moves = np.empty(len(wanted), np.int64)
        for i, place in enumerate(wanted):
            worker = self.workers[place]
            worker.chosen = chosen([worker.graph], self.budget.final_move, worker.sim.rng, self.state(place))
            moves[i] = worker.chosen
        return moves

    def result(self, place: int) -> SearchResult:
        """Returns all that the search at a place has found, without times."""
        worker, state = self.workers[place], self.state(place)
        root = State.trusted(worker.searched_rules, self._roots[place].tobytes())
        worker.searched.forget()
        worker.searched = Searched(worker.graph, root)
        found = summary(
            state,
            [worker.graph],
            final_move=self.budget.final_move,
            seconds=0.0,
            cpu_seconds=0.0,
            stopped="playouts",
            rng=worker.sim.rng,
            searched=worker.searched,
        )
        worker.chosen = found.action
        return found

    def state(self, place: int) -> State:
        """Returns the position of a place."""
        return State.trusted(self.rules, self.states[place].tobytes())

    def _checked(self, places: Any) -> np.ndarray:
        """Some places. Raises ValueError for others than there are, and for one named twice."""
        found = np.ascontiguousarray(places, np.int64).reshape(-1)
        if len(found) and not (0 <= found.min() and found.max() < len(self.workers) and len(np.unique(found)) == len(found)):
            raise ValueError(f"places must be different numbers from 0 to {len(self.workers) - 1}, not {found[:8].tolist()}")
        return found

    def _chosen(self, places: Any) -> np.ndarray:
        """Some places, by default those of the last `begin`."""
        return self._begun if places is None else self._checked(places)
