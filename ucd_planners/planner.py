"""Planners: agents that act in any environment whose state can be cloned."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from itertools import pairwise
from os import PathLike
from typing import Any

from ucd_envs.foreign import Adapter, ChanceFoundError, adapted, raw_environment
from ucd_envs.grouped import MoveGroups, grouped
from ucd_envs.interface import Grouping
from ucd_envs.kernels import CHANCE
from ucd_envs.rng import seeded, unforeseen
from ucd_envs.rules import Rules, State
from ucd_envs.settings import boolean, integer, one_of
from ucd_planners.evaluation import Evaluation, Remembered
from ucd_planners.knowledge_base import KnowledgeBase, base_for
from ucd_planners.options import (
    Progress,
    checked_progress,
    checked_seconds,
    checked_temperature,
    listed,
    refuse_chance,
    refuse_old_names,
    refuse_undivided,
    refuse_with_division,
    refuse_with_evaluation,
    refuse_with_groups,
    search_options,
)
from ucd_planners.playouts.pool_rave import check_pools
from ucd_planners.result import SearchResult, summary, variation
from ucd_planners.root import FINALS, chosen
from ucd_planners.search.interface import Initial, PlayoutPolicy, Selection
from ucd_planners.worker import Budget, Settings, Stop, Worker, current_worker, run_all

MOST_EDGES = 2**31 - 2**17
"""The largest graph: places of edges are 32-bit numbers."""


class Planner:
    """A Monte-Carlo planner: `act(env)` and `search(env)` look at an environment and never change it.

    selection: chooses actions and backs values up, such as UCD().
    playouts or seconds: the default budget of a search, at most one of the two; a call may name its own.
    seed: the same seed gives the same moves, search after search; with a budget in seconds, speed enters.
    workers: the number of independent searches on threads, 1 to 1024. They share the budget; root statistics are added.
    final_move: the rule that chooses the action in the end: "visits", "mean" or "lower_bound".
    max_nodes: the largest graph of a worker, root and tried actions, 2 or more. A search that reaches it goes on inside it.
    expand: the positions of a simulation that enter the graph: the "first" new one, or "all".
    first_play_urgency: the bound of an untried action, 0 or more; infinite, all actions of a position are tried before any is
    chosen again [Gelly and Wang 2006].
    untried: the order in which a position's untried actions are tried: at "random", as its legal actions are "listed", or
    "reversed". The last two go with expand="first", without initial, and with selections to which untried actions are alike.
    reuse_graph: whether a search from a position of the last graph goes on in it. Positions out of reach are given back, and a
    position above the last one begins afresh.
    stop_early: whether a search ends once no action can overtake the most visited one, which changes no move. It goes with a
    budget in playouts, one worker and final_move="visits".
    policies: at most four playout policies, such as CMC(prob=0.35), asked in turn before the game's own random policy.
    initial: statistics of untried actions, such as GoInitial().
    groups: groups of moves, such as Manhattan(), from which the search picks one before a move of it [Childs section 4]. It
    answers with moves as ever. They go without reuse_graph, stop_early, graded=False, and with policies without expand="all".
    knowledge: a KnowledgeBase or the path of its file, read when a search starts: it answers at once, or gives the root initial
    statistics, without groups, reuse_graph, initial and an order of untried actions.
    progress: a function that every worker calls in its thread between pieces of a search, with its playouts and seconds so far.
    An exception that it raises ends the search.
    temperature: 0 for the final rule, above it a move is drawn in proportion to visits^(1 / temperature), in the first
    `temperature_plies` plies of a game or, by default, all.
    evaluation: an Evaluation of leaves by a network or another evaluator, in place of playouts, which PUCT needs. It goes with
    one worker and without chance, expand="all", initial, groups and knowledge. Evaluations are remembered until `forget`.

    Raises TypeError or ValueError for any other parameter.
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
        untried: str = "random",
        reuse_graph: bool = False,
        stop_early: bool = False,
        policies: PlayoutPolicy | Iterable[PlayoutPolicy] = (),
        initial: Initial | None = None,
        groups: MoveGroups | Grouping | None = None,
        knowledge: KnowledgeBase | str | None = None,
        progress: Progress | None = None,
        temperature: float = 0.0,
        temperature_plies: int | None = None,
        evaluation: Evaluation | None = None,
        **old_names: Any,
    ) -> None:
        refuse_old_names(old_names)
        if old_names:
            raise TypeError(f"a planner has no option {next(iter(old_names))!r}")
        self.selection = selection
        self.name = name
        self.workers = integer("workers", workers, 1, 1024)
        if playouts is not None and seconds is not None:
            raise ValueError("a budget is either playouts or seconds: give one of them")
        self.playouts, self.seconds = self._checked_playouts(playouts), checked_seconds(seconds)
        self.final_move = one_of("final_move", final_move, FINALS)
        self.max_nodes = MOST_EDGES if max_nodes is None else integer("max_nodes", max_nodes, 2, MOST_EDGES)
        self.stop_early = boolean("stop_early", stop_early)
        if self.stop_early and (self.seconds is not None or self.workers > 1 or final_move != "visits"):
            raise ValueError('stop_early goes with a budget in playouts, one worker and final_move="visits"')
        self.policies = listed(policies)
        check_pools(self.policies, selection)
        self.options = search_options(selection, expand, first_play_urgency, untried, reuse_graph, initial, evaluation)
        self.initial = initial
        self.groups = groups
        refuse_with_groups(groups, selection, expand == "all", reuse_graph, self.stop_early, self.asked)
        shapes_root = initial is not None or groups is not None or reuse_graph or untried != "random"
        self.knowledge = base_for(knowledge, selection, shapes_root)
        self.progress = checked_progress(progress)
        self.temperature, self.temperature_plies = checked_temperature(temperature, temperature_plies, self.stop_early)
        self.evaluation = evaluation
        without = {"workers": self.workers > 1, 'expand="all"': expand == "all", "initial": initial is not None}
        refuse_with_evaluation(evaluation, selection, {**without, "groups": groups is not None, "knowledge": self.knowledge})
        refuse_with_division(selection, final_move, reuse_graph, self.stop_early, evaluation)
        self._parts = [selection, *self.asked, *([] if evaluation is None else [evaluation.evaluator])]
        self._settings = Settings(
            *(selection, self.asked, initial, self.options, self.max_nodes, self.stop_early, groups),
            evaluation=evaluation,
            remembered=None if evaluation is None else Remembered(evaluation.remember),
        )
        self._workers: list[Worker] = []
        self._adapter: Adapter | None = None
        self.reset(seed)

    def reset(self, seed: int | None = None) -> None:
        """Begins a new sequence of searches, as a new planner with this seed would; without one, an unforeseeable sequence.

        Raises TypeError or ValueError for a seed that is not a whole number, 0 or more.
        """
        if seed is None:
            seed = unforeseen()
        self.seed = integer("seed", seed, 0, 2**128 - 1)
        self._searches = 0
        self.forget()

    def forget(self) -> None:
        """Gives up the kept graph, all that playouts have learned and all evaluations, as before another game or after a
        network has learned; random numbers go on."""
        for worker in self._workers:
            worker.forget()
        if self._settings.remembered is not None:
            self._settings.remembered.forget()

    def save(self, path: str | PathLike[str]) -> None:
        """Saves the kept graph and all that playouts have learned in a file, which `ucd_planners.load` reads.

        Raises ValueError for a planner without reuse_graph and where there is no search to save, ValueError or OSError, leaving
        an old file unchanged, for one that cannot be saved.
        """
        from ucd_planners.saved import save

        save(self, path)

    @property
    def asked(self) -> list[PlayoutPolicy]:
        """The policies that may be asked: those with prob above 0."""
        return [policy for policy in self.policies if policy.prob > 0]

    def guard(self) -> None:
        """Checks every kernel at work from now on, not only user-defined ones."""
        self._settings = self._settings._replace(guarded=True)
        self._workers = []

    def check(self, rules: Rules) -> None:
        """Raises ValueError for a game that a policy, initial statistics or groups do not know, or for which they lack memory,
        and for one with chance that the selection or a policy does not serve; with groups, TypeError for a game of Python.
        """
        refuse_chance(rules, *self._parts)
        if self.evaluation is not None:
            self.evaluation.evaluator.check(rules)
        if self.knowledge is not None:
            self.knowledge.check(rules)
        if self.groups is not None:
            grouped(rules, self.groups)
        for policy in self.asked:
            policy.memory(rules)
        if self.initial is not None:
            self.initial.memory(rules)

    def act(
        self,
        env: Any,
        *,
        playouts: int | None = None,
        seconds: float | None = None,
        progress: Progress | None = None,
        final_move: str | None = None,
    ) -> int:
        """Returns the action for the agent to move in an environment, wrapped or not. Ctrl-C raises KeyboardInterrupt.

        Parameters and errors are those of `search`.
        """
        if (answer := self._answer(env, playouts, seconds, progress, final_move)) is not None:
            return answer.action
        state, workers, budget, _, interrupted = self._searched(env, playouts, seconds, progress, final_move)
        if interrupted:
            raise KeyboardInterrupt
        rule = budget.final_move, workers[0].sim.rng, state, self.temperature_at(state)
        action = chosen([worker.graph for worker in workers], *rule)
        for worker in workers:
            worker.chosen = action
        return action

    def search(
        self,
        env: Any,
        *,
        playouts: int | None = None,
        seconds: float | None = None,
        progress: Progress | None = None,
        final_move: str | None = None,
    ) -> SearchResult:
        """Searches from an environment's state, or from a State, and returns all it found. Ctrl-C ends it with what it has so
        far.

        env: an environment of ucd_envs, an adapter of ucd_envs.foreign, or any environment with the hooks described there;
        playouts or seconds: the budget; progress, final_move: as in Planner. Without them the planner's own hold. Raises
        TypeError for an environment without the hooks, ValueError for a search without a budget, a finished game or several
        workers in a third-party environment, RuntimeError for a user-defined kernel that breaks its contract, what `check`
        raises, and what such an environment raises.
        """
        if (answer := self._answer(env, playouts, seconds, progress, final_move)) is not None:
            return answer
        state, workers, budget, seconds_spent, interrupted = self._searched(env, playouts, seconds, progress, final_move)
        result = summary(
            state,
            [worker.graph for worker in workers],
            final_move=budget.final_move,
            seconds=seconds_spent,
            cpu_seconds=sum(worker.cpu_seconds for worker in workers),
            stopped="interrupt" if interrupted else self._end_of(budget, workers),
            rng=workers[0].sim.rng,
            searched=workers[0].searched,
            temperature=self.temperature_at(state),
        )
        for worker in workers:
            worker.chosen = result.action
        return result

    def search_many(self, states: Sequence[State], *, playouts: int | None = None) -> list[SearchResult]:
        """Searches from many states of one game, side by side, and returns the results without times.

        They are those of `search`, one state after another, bit for bit, but every search begins anew; leaves of an evaluator
        share its batches. Ctrl-C raises KeyboardInterrupt. Raises ValueError for a planner with reuse_graph, and as Pool does.
        """
        from ucd_planners.pool import searched_side_by_side

        first, self._searches = self._searches, self._searches + len(states)
        return searched_side_by_side(self, states, playouts, first)

    def temperature_at(self, state: State) -> float:
        """Returns the temperature at which a move of a state is drawn, 0 for the final rule."""
        return self.temperature if self.temperature_plies is None or state.ply < self.temperature_plies else 0.0

    def moves_after(
        self, env: Any, playouts: Sequence[int], *, progress: Progress | None = None, final_move: str | None = None
    ) -> list[int]:
        """Returns the actions that one search would choose after each of several numbers of playouts, ascending.

        Ctrl-C raises KeyboardInterrupt. Raises ValueError for numbers that do not ascend and for several workers, else as
        `search` does.
        """
        goals = [integer("playouts", goal, 1, MOST_EDGES) for goal in playouts]
        if self.workers > 1 or not goals or any(later <= goal for goal, later in pairwise(goals)):
            raise ValueError(f"expected one worker and ascending numbers of playouts, not {self.workers} and {list(playouts)}")
        budget = self._budget(goals[-1], None, progress, final_move)
        state, count, began = self._starting_state(env), self._searches, self._settings.clock()
        self._searches, budget = count + 1, budget._replace(temperature=self.temperature_at(state))
        while True:
            (worker,) = self._team(state.rules, budget)
            worker.begin(state, seeded(self.seed, count, 0), goals[-1], Stop(), budget)
            try:
                moves = [worker.move_after(goal, began) for goal in goals]
                break
            except ChanceFoundError as found:
                state = found.root()
        worker.chosen, self._workers = moves[-1], [worker]
        return moves

    def _answer(self, env: Any, *call: Any) -> SearchResult | None:
        """The answer of the knowledge base, which stands for a search; None where it has none."""
        answer = None
        if self.knowledge is not None and self._budget(*call):
            answer = self.knowledge.answer(self._starting_state(env))
            self._searches += answer is not None
        return answer

    def _searched(self, env: Any, *call: Any) -> tuple[State, list[Worker], Budget, float, bool]:
        """Runs a search: its state, the workers that had playouts, its budget, the seconds it took, whether Ctrl-C ended it."""
        budget = self._budget(*call)
        state = self._starting_state(env)
        if state.rules.live is not None and self.workers > 1:
            raise ValueError(f"{state.rules.name} is one game of Python, which one worker can search at a time: workers=1")
        workers = self._team(state.rules, budget)
        count = self._searches
        self._searches += 1
        began = self._settings.clock()
        while True:
            stop = Stop()
            for place, worker in enumerate(workers):
                worker.begin(state, seeded(self.seed, count, place), self._share(budget, place), stop, budget)
            try:
                interrupted = run_all(workers, stop, began)
                break
            except ChanceFoundError as found:
                state = found.root()
                workers = self._team(state.rules, budget)
        spent = self._settings.clock() - began
        busy = [worker for worker in workers if worker.graph.playouts]
        if not busy:
            raise KeyboardInterrupt
        if not interrupted:
            self._workers = workers
        return state, busy, budget, spent, interrupted

    def _budget(
        self,
        playouts: int | None,
        seconds: float | None,
        progress: Progress | None,
        final_move: str | None,
    ) -> Budget:
        """The budget of a call, the planner's own where the call names none."""
        if playouts is not None and seconds is not None:
            raise ValueError("a budget is either playouts or seconds: give one of them")
        if final_move is not None:
            one_of("final_move", final_move, FINALS)
        if playouts is None and seconds is None:
            playouts, seconds = self.playouts, self.seconds
            if playouts is None and seconds is None:
                raise ValueError("a search needs a budget, playouts or seconds: give one to the planner or to the call")
        else:
            playouts, seconds = self._checked_playouts(playouts), checked_seconds(seconds)
        refuse_undivided(self.selection, playouts, final_move)
        return Budget(playouts, seconds, checked_progress(progress) or self.progress, final_move or self.final_move)

    def _checked_playouts(self, playouts: int | None) -> int | None:
        """A budget in playouts, at least one for each worker."""
        if playouts is None:
            return None
        if integer("playouts", playouts, 1, MOST_EDGES) < self.workers:
            raise ValueError(f"{self.workers} workers need at least as many playouts, not {playouts}")
        return int(playouts)

    def known(self) -> SearchResult:
        """Returns what the search under way has found so far; for `progress`, and with several workers what that one's has.

        Raises RuntimeError outside of `progress`.
        """
        worker = self._here()
        return summary(
            worker.state,
            [worker.graph],
            final_move=worker.budget.final_move,
            seconds=self._settings.clock() - worker.began,
            cpu_seconds=time.thread_time() - worker.cpu_began,
            stopped="progress",
            rng=worker.sim.rng.copy(),  # a look must not change how the search breaks ties
            searched=worker.searched,
        )

    def line(self, action: int) -> list[int]:
        """Returns an action that the search under way has tried and then the most visited ones; for `progress`, as `known`."""
        return variation(self._here().graph, action)

    def _here(self) -> Worker:
        """The worker in whose thread this is called."""
        worker = current_worker()
        if worker is None or worker.settings is not self._settings:
            raise RuntimeError("a search can be looked into only from its progress callback")
        return worker

    def _starting_state(self, env: Any) -> State:
        """The state to search from. An adapter that an environment needs is made once and serves its later searches too."""
        inner = raw_environment(env)
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
        if state.player == CHANCE:
            raise ValueError("the move is left to chance: there is no player to plan for")
        found: State = state
        if self.knowledge is not None:
            self._settings = self.knowledge.seeded(self._settings, found)
        return found

    def _end_of(self, budget: Budget, workers: list[Worker]) -> str:
        """The end of a search that nobody interrupted."""
        if budget.playouts is None:
            return "seconds"
        return "decided" if any(worker.graph.playouts < (worker.share or 0) for worker in workers) else "playouts"

    def _share(self, budget: Budget, worker: int) -> int | None:
        """A worker's part of the playouts; the first ones take the remainder."""
        if budget.playouts is None:
            return None
        return budget.playouts // self.workers + (worker < budget.playouts % self.workers)

    def _team(self, rules: Rules, budget: Budget) -> list[Worker]:
        """The workers for a game, from the last search if that was in the same game: kernels and memory serve again.

        While a search runs its workers are nobody else's, and after Ctrl-C or an exception, which may have come while memory
        grew, they are not used again.
        """
        team: list[Worker] = []
        while len(team) < self.workers:
            try:
                worker = self._workers.pop(0)
            except IndexError:
                refuse_chance(rules, *self._parts)
                worker = Worker(self._settings, rules, self._share(budget, 0))
            if worker.rules is rules and worker.settings is self._settings:
                team.append(worker)
        return team

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_workers": [], "_adapter": None}

    def __repr__(self) -> str:
        budget = f"seconds={self.seconds}" if self.seconds is not None else f"playouts={self.playouts}"
        knowledge = [*self.policies, *(part for part in (self.initial, self.groups, self.knowledge) if part is not None)]
        parts = [str(self.selection), *map(str, knowledge), budget, f"seed={self.seed}"]
        return f"<{self.name}: {', '.join(parts)}>"
