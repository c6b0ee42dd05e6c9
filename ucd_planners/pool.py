"""Many searches of one game side by side, in one compiled call: the same results as one after another, in less time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ucd_envs.kernels import OVER
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_envs.settings import integer
from ucd_planners.calls import Calls
from ucd_planners.graph_view.searched import Searched
from ucd_planners.result import SearchResult, summary
from ucd_planners.root import chosen
from ucd_planners.search.interface import DONE
from ucd_planners.search.pool import begin_each, read_each
from ucd_planners.search.storage import fit_scratch
from ucd_planners.worker import Budget, Stop, Worker

if TYPE_CHECKING:
    from ucd_planners.planner import Planner


class Pool:
    """Searches of one game with the settings of a planner, each in memory of its own at a place from 0 to searches - 1.

    A search is exactly the one that the planner would run from the same state with the same generator, bit for bit. It depends
    neither on the number of searches nor on the others.

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
        planner.check(rules)
        settings = planner._settings
        self._planner, self.rules, self.budget = planner, rules, Budget(playouts, None, None, planner.final_move)
        self.workers = [Worker(settings, rules, playouts) for _ in range(searches)]
        """The searches, by their places."""
        self.states = np.zeros((searches, rules.state_bytes), np.uint8)
        """Their positions: [searches, state_bytes]."""
        self._roots = np.zeros((searches, self.workers[0].searched_rules.state_bytes), np.uint8)
        rows, leaves = searches, settings.options.leaves
        if settings.evaluation is not None:
            rows = max(leaves, min(settings.evaluation.batch, searches * leaves))
        self._calls = Calls(self.workers, settings.evaluation, settings.remembered, rows)
        self._begun = np.zeros(0, np.int64)
        # A search that remembers nothing of the last one is begun in compiled code.
        self._afresh = not (settings.policies or settings.options.reuse_graph or settings.groups)
        for place, worker in enumerate(self.workers):
            self._calls.give(place, self._roots[place])
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
        if len(players) and not (players.min() >= 0 and players.max() < self.rules.players):
            wrong = players[(players < 0) | (players >= self.rules.players)][0]
            raise ValueError(
                "the game is over: there is no move to plan" if wrong == OVER else "no player is to move in a state"
            )
        self._begun = begun
        self.states[begun] = states
        self._calls.begin(begun, self.budget.playouts or 0, self.budget.playouts or 0)
        if self._afresh:
            self._roots[begun] = states
            for place, rng in zip(begun.tolist(), rngs, strict=True):
                worker = self.workers[place]
                worker.sim.rng[:] = rng
                worker.searched.forget()
            begin_each(self._calls.bytes, begun)
            return
        for place, rng in zip(begun.tolist(), rngs, strict=True):
            worker = self.workers[place]
            worker.begin(self.state(place), rng, self.budget.playouts, Stop(), self.budget)
            self._roots[place] = worker.root
            self._calls.give(place, self._roots[place])
            self._calls.records["noise"][place] &= worker.gets_noise

    def run(self, places: Any = None) -> None:
        """Runs searches to the end of their budgets.

        Raises RuntimeError for a user-defined kernel that breaks its contract, what an evaluator raises, and ValueError for
        an answer that is no evaluation; searches that waited for it are then as they were.
        """
        wanted = self._chosen(places)
        try:
            self._calls.run(wanted, self._grow)
        except IndexError:
            if not self.workers[0].user_defined:
                raise
            raise self.workers[0]._index_error() from None
        for place in wanted.tolist() if self.workers[0].guarded else ():
            self.workers[place].check(DONE)

    def _grow(self, place: int, status: int) -> None:
        """Gives a search the room that it needs. Raises for one that a fault has stopped."""
        worker = self.workers[place]
        worker.check(status)
        worker.share = self.budget.playouts
        worker.grow(status)

    def read(self, places: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Returns visits [n, actions] int32 and mean payoffs of the player to move [n, actions] float64 of the roots' actions.

        Actions that were not tried have 0 visits and the mean NaN. With groups use `result`: roots have picks of groups there.
        """
        wanted = self._chosen(places)
        visits = np.empty((len(wanted), self.workers[0].searched_rules.actions), np.int32)
        values = np.empty(visits.shape)
        read_each(self._calls.bytes, wanted, visits, values)
        return visits[:, : self.rules.actions], values[:, : self.rules.actions]

    def choose(self, places: Any = None) -> np.ndarray:
        """Returns the moves that the planner's final rule chooses: [n] int64."""
        wanted = self._chosen(places).tolist()
        moves = np.empty(len(wanted), np.int64)
        for i, place in enumerate(wanted):
            worker = self.workers[place]
            state = self.state(place)
            rule = self.budget.final_move, worker.sim.rng, state, self._planner.temperature_at(state)
            worker.chosen = chosen([worker.graph], *rule)
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
            temperature=self._planner.temperature_at(state),
        )
        worker.chosen = found.action
        return found

    def state(self, place: int) -> State:
        """Returns the position of a place."""
        return State.trusted(self.rules, self.states[place].tobytes())

    def _checked(self, places: Any) -> np.ndarray:
        """Some places. Raises ValueError for others than there are, and for one named twice."""
        found = np.ascontiguousarray(places, np.int64).reshape(-1)
        if len(found) and not (found.min() >= 0 and found.max() < len(self.workers) and len(np.unique(found)) == len(found)):
            raise ValueError(f"places must be different numbers from 0 to {len(self.workers) - 1}, not {found[:8].tolist()}")
        return found

    def _chosen(self, places: Any) -> np.ndarray:
        """Some places, by default those of the last `begin`."""
        return self._begun if places is None else self._checked(places)


SIDE_BY_SIDE = 256
"""Searches at once, whose graphs are all in memory."""


def searched_side_by_side(planner: Planner, states: Sequence[State], playouts: int | None, first: int) -> list[SearchResult]:
    """Returns the results of a planner's searches from states of one game; `first` is the number of the first search.

    Raises ValueError for a planner with reuse_graph, and as Pool does.
    """
    if planner.options.reuse_graph:
        raise ValueError("searches side by side begin afresh: the planner must be one without reuse_graph")
    found: list[SearchResult] = []
    pool = None
    for start in range(0, len(states), SIDE_BY_SIDE):
        these = states[start : start + SIDE_BY_SIDE]
        if pool is None or planner.asked:
            pool = Pool(planner, these[0].rules, len(these), playouts)
        pool.begin(these, np.array([seeded(planner.seed, first + start + place, 0) for place in range(len(these))]))
        pool.run()
        found += [pool.result(place) for place in range(len(these))]
    return found
