"""Budgets in seconds, by a clock that the test turns: no assertion depends on the speed or the load of the machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import pytest
from gymnasium.spaces import Discrete

import ucd_envs
import ucd_planners.worker
from ucd_envs.foreign import SingleGame
from ucd_envs.rules import State
from ucd_planners import Planner, rave, simple_way, uct
from ucd_planners.playouts import NGrams
from ucd_planners.worker import SLACK, Worker

Cost = Callable[[int], float]
"""Seconds of a playout by its number."""
COSTS: dict[str, Cost] = {
    "a microsecond": lambda number: 1e-6,
    "ten microseconds": lambda number: 1e-5,
    "a tenth of a millisecond": lambda number: 1e-4,
    "0.7 milliseconds": lambda number: 7e-4,
    "30 milliseconds": lambda number: 0.03,
    "more than the budget": lambda number: 3.0,
    "slower and slower": lambda number: 1e-6 * (1 + number / 500),
    "slower after the first": lambda number: 1e-6 if number < 3 else 5e-5,
    "a slow first one": lambda number: 0.004 if number == 0 else 2e-6,
    "faster and faster": lambda number: max(2e-6, 1e-4 / (1 + number / 50)),
    "unequal": lambda number: 3e-5 if number % 7 == 0 else 4e-6,
}


class Clock:
    """A clock that runs while playouts run, by the cost of each; `looks`: playouts between two looks."""

    def __init__(self, cost: Cost, monkeypatch: pytest.MonkeyPatch, growth: float = 0.0) -> None:
        self.now, self.slowest, self.looks = 1000.0, 0.0, []
        advance, grow = Worker.advance, Worker.grow

        def timed(worker: Worker, goal: int) -> int:
            before = worker.graph.playouts
            status = advance(worker, goal)
            costs = [cost(number) for number in range(before, worker.graph.playouts)]
            self.now += sum(costs)
            self.slowest = max(self.slowest, *costs, 0.0)
            self.looks.append(len(costs))
            return status

        def grown(worker: Worker, status: int) -> None:
            self.now += growth
            grow(worker, status)

        monkeypatch.setattr(Worker, "advance", timed)
        monkeypatch.setattr(Worker, "grow", grown)

    def __call__(self) -> float:
        return self.now


def by_clock(planner: Planner, clock: Clock) -> Planner:
    """The planner with another clock."""
    planner._settings = planner._settings._replace(clock=clock)
    return planner


def start() -> State:
    """A game with many positions."""
    return ucd_envs.make_rules("hex", size=7).initial_state()


@pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS)
@pytest.mark.parametrize("seconds", [0.0005, 0.01, 0.2])
@pytest.mark.parametrize("preset", [uct, simple_way])
def test_a_budget_is_passed_by_at_most_one_playout_and_a_millisecond(
    preset: Callable[..., Planner], seconds: float, cost: Cost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F2-14: a budget in seconds was at least 256 playouts."""
    clock = Clock(cost, monkeypatch)
    result = by_clock(preset(seconds=seconds, seed=1), clock).search(start())
    assert result.stopped == "seconds"
    assert result.playouts >= 1
    assert clock.now - 1000.0 == pytest.approx(result.seconds)
    assert seconds <= result.seconds <= seconds + clock.slowest + SLACK


@pytest.mark.parametrize("growth", [0.002, 0.02])
def test_memory_that_grows_passes_no_budget(growth: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """F2-14: making room takes time as well, which is known after the first time. A search that has no time for it ends."""
    monkeypatch.setattr(ucd_planners.worker, "FIRST_ROOM", 100)
    monkeypatch.setattr(Worker, "make_room", lambda worker, playouts: None)
    clock = Clock(lambda number: 1e-6, monkeypatch, growth)
    planner = by_clock(uct(seed=1), clock)
    for seconds in (1.0, 0.05, 0.02, 0.01):
        result = planner.search(start(), seconds=seconds)
        assert result.seconds <= seconds + SLACK + 1e-6
        assert result.seconds >= seconds - 2 * growth


def test_room_is_made_before_there_is_much_to_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    """F2-14: where the pace is steady, memory grows in the first hundredth of a search, by what will be needed."""
    monkeypatch.setattr(ucd_planners.worker, "FIRST_ROOM", 100)
    grown: list[float] = []
    clock = Clock(lambda number: 1e-5, monkeypatch)
    grow = Worker.grow

    def noted(worker: Worker, status: int) -> None:
        grown.append(clock.now - 1000.0)
        grow(worker, status)

    monkeypatch.setattr(Worker, "grow", noted)
    result = by_clock(uct(seconds=1.0, seed=1), clock).search(start())
    assert result.playouts > 99_000
    assert max(grown, default=0.0) < 0.01


def test_a_long_search_looks_at_the_clock_as_seldom_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks grow fourfold to 50 milliseconds, and get small again only at the end."""
    clock = Clock(lambda number: 1e-5, monkeypatch)
    monkeypatch.setattr(Worker, "grow", lambda worker, status: worker.graph.grow(status, None))
    by_clock(uct(seconds=2.0, seed=1), clock).search(start())
    looks = [count for count in clock.looks if count]
    assert looks[:3] == [1, 4, 16]
    assert max(looks) == 5000
    assert len(looks) < 80


def test_the_reuse_of_a_graph_counts_as_time_of_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """F2-14: what is done before the first playout is part of the budget."""
    clock = Clock(lambda number: 1e-5, monkeypatch)
    begin = Worker.begin

    def slow(worker: Worker, *arguments: Any) -> None:
        clock.now += 0.15
        begin(worker, *arguments)

    monkeypatch.setattr(Worker, "begin", slow)
    told: list[tuple[float, float]] = []
    planner = by_clock(uct(seconds=0.2, seed=1), clock)
    planner.progress = lambda done, seconds: told.append((seconds, planner.known().seconds))
    result = planner.search(start())
    assert 0.2 <= result.seconds <= 0.2 + 1e-5 + SLACK
    assert told[0][0] > 0.15
    assert all(seconds == known for seconds, known in told)
    assert by_clock(uct(seconds=0.1, seed=1), clock).search(start()).playouts == 1


def test_a_slow_callback_counts_as_time_of_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """F2-14: the next chunk is planned by the time after it."""
    clock = Clock(lambda number: 1e-5, monkeypatch)

    def progress(done: int, seconds: float) -> None:
        clock.now += 0.003

    result = by_clock(uct(seconds=0.1, seed=1, progress=progress), clock).search(start())
    assert 0.1 <= result.seconds <= 0.1 + 0.003 + 1e-5 + SLACK


class Slow(gymnasium.Env):
    """A game of twenty steps, whose clock runs by a millisecond a step."""

    def __init__(self) -> None:
        self.observation_space, self.action_space = Discrete(2), Discrete(2)
        self.ply = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.ply = 0
        return 0, {}

    def step(self, action: int) -> Any:
        TIME[0] += 0.001
        self.ply += 1
        return 0, 0.0, self.ply == 20, False, {}


TIME = [0.0]


@pytest.mark.parametrize("seconds", [0.001, 0.01, 0.2])
@pytest.mark.parametrize("preset", [uct, simple_way])
def test_a_third_party_environment_passes_a_budget_by_one_playout(preset: Callable[..., Planner], seconds: float) -> None:
    """F2-14: a playout takes 20 milliseconds."""
    env = Slow()
    env.reset()
    planner = preset(seconds=seconds, seed=0)
    planner._settings = planner._settings._replace(clock=lambda: TIME[0])
    result = planner.search(SingleGame(env))
    assert seconds <= result.seconds <= seconds + 0.02 + SLACK
    assert result.playouts == max(1, round(seconds / 0.02 + 0.4))


def test_every_kind_of_search_has_a_first_chunk_of_one_playout(monkeypatch: pytest.MonkeyPatch) -> None:
    """F2-14: a Go 19x19 search by RAVE with n-grams took 0.19 s for a budget of 0.01 s."""
    clock = Clock(lambda number: 0.006, monkeypatch)
    state = ucd_envs.make_rules("go", size=7).initial_state()
    result = by_clock(rave(seconds=0.01, seed=1, policies=NGrams()), clock).search(state)
    assert result.playouts == 2
    assert [count for count in clock.looks if count] == [1, 1]
