"""The benchmark: how a rate is taken, what a row says, and which game of a peer is the same."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyspiel
import pytest

from ucd_envs import registry
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules
from ucd_planners.benchmarks import seats, selfplay
from ucd_planners.benchmarks import speed as bench
from ucd_planners.benchmarks.speed import PLAYOUT, Case
from ucd_planners.notation import planner_from
from ucd_planners.planner import Planner
from ucd_planners.presets import PRESETS
from ucd_planners.search.kernels import bound_rules
from ucd_planners.search.sim import Sim

# Rates, with a clock that only moves when work is done.


class Clock:
    """Work that takes the given seconds, call after call (the last for ever), and does `units` a call."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: list[float], units: int = 3) -> None:
        self.now, self.calls, self.seconds, self.units = 0.0, 0, seconds, units
        monkeypatch.setattr(bench, "user_seconds", lambda: self.now)
        monkeypatch.setattr(bench, "BATCH_SECONDS", 0.5)
        monkeypatch.setattr(bench, "BATCHES", 3)

    def work(self) -> int:
        self.now += self.seconds[min(self.calls, len(self.seconds) - 1)]
        self.calls += 1
        return self.units


def test_a_rate_is_units_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bench.rate(Clock(monkeypatch, [0.125]).work) == 24.0


def test_the_first_call_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """B118f: it may compile."""
    assert bench.rate(Clock(monkeypatch, [1000.0, 0.125]).work) == 24.0


def test_a_batch_lasts_until_its_time_has_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One call that is not counted, then three batches of 0.5 s with four calls each."""
    clock = Clock(monkeypatch, [0.125])
    bench.rate(clock.work)
    assert clock.calls == 1 + 3 * 4


def test_a_call_longer_than_a_batch_is_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, [2.0])
    assert (bench.rate(clock.work), clock.calls) == (1.5, 4)


@pytest.mark.parametrize("batches", [[1.0, 2.0, 4.0], [4.0, 1.0, 2.0], [2.0, 4.0, 1.0]])
def test_a_rate_is_the_median_of_the_batches(batches: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of one call of 3 units each in 1, 2 and 4 s: the median is 3 units in 2 s."""
    assert bench.rate(Clock(monkeypatch, [0.0, *batches]).work) == 1.5


def test_sleeping_is_not_counted() -> None:
    began = bench.user_seconds()
    time.sleep(0.2)
    assert bench.user_seconds() - began < 0.1


def test_working_is_counted() -> None:
    began, cpu = bench.user_seconds(), time.process_time()
    while time.process_time() - cpu < 0.2:
        sum(range(1000))
    assert bench.user_seconds() - began > 0.1


# Light playouts.


@pytest.mark.parametrize("name", ["tic_tac_toe_v0", "leftright_v0"])
def test_so_many_playouts_are_so_many_games(name: str) -> None:
    """The generator stands where it stands after as many calls of the game's own playout."""
    rules = registry.make_rules(name)
    bound, sim = bound_rules(rules), Sim(rules, False, (), None)
    root = rules.initial_state().array()
    sim.rng[:] = seeded(3)
    bench.play_games(bound, root, sim.header, 25)
    rng, trace = seeded(3), np.empty(0, np.int32)
    for _ in range(25):
        rules.kernels.playout(rules.config, root.copy(), rng, trace)
    assert sim.rng.tolist() == rng.tolist()


def test_playouts_leave_the_start_as_it_was() -> None:
    rules = registry.make_rules("tic_tac_toe")
    bound, sim = bound_rules(rules), Sim(rules, False, (), None)
    root = rules.initial_state().array()
    sim.rng[:] = seeded(3)
    bench.play_games(bound, root, sim.header, 5)
    assert root.tobytes() == rules.initial_state().data


def test_the_rate_of_playouts_counts_games(monkeypatch: pytest.MonkeyPatch) -> None:
    games = []
    monkeypatch.setattr(bench, "rate", lambda run, *clock: float(run()))
    monkeypatch.setattr(bench, "compiled", lambda kernel, signature: lambda *arguments: games.append(arguments[-1]))
    assert [bench.playout_rate(registry.make_rules("tic_tac_toe"))] == games


# Rows.


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rates are 1,000 for work that is done once."""

    def rate(run: Callable[[], int], *clock: Any) -> float:
        run()
        return 1000.0

    monkeypatch.setattr(bench, "rate", rate)


def test_a_row_of_a_search_has_the_documented_fields(once: None) -> None:
    row = bench.measure(Case("hex", "uct(c=0.3)", 50, {"size": 3}))
    assert list(row) == ["game", "config", "planner", "playouts", "playouts_per_s", "fresh_per_s", "bytes_per_playout"]


def test_a_row_says_what_was_measured(once: None) -> None:
    row = bench.measure(Case("hex", "uct(c=0.3)", 50, {"size": 3}))
    config = {"rows": 3, "columns": 3, "swap": False, "opening": ""}
    expected = {"game": "hex_v0", "config": config, "planner": "uct(c=0.3)", "playouts": 50, "playouts_per_s": 1000}
    assert {key: row[key] for key in expected} == expected


@pytest.mark.parametrize("planner", ["uct(c=0.3)", "ucd(d1=1, d2=0, d3=1)", "update_all"])
def test_bytes_a_playout_are_those_of_the_same_search(planner: str, once: None) -> None:
    row = bench.measure(Case("tic_tac_toe", planner, 400))
    result = planner_from(planner, playouts=400, seed=1).search(registry.make_rules("tic_tac_toe").initial_state())
    assert row["bytes_per_playout"] == round(result.bytes / 400, 1) > 0


def test_the_rate_of_a_search_is_in_its_playouts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "rate", lambda run, *clock: float(run()))
    assert bench.measure(Case("tic_tac_toe", "uct", 77))["playouts_per_s"] == 77


def test_a_budget_in_the_planner_replaces_that_of_the_case(once: None) -> None:
    assert bench.measure(Case("tic_tac_toe", "uct(playouts=60)", 400))["playouts"] == 60


def test_a_budget_in_seconds_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"\Aa benchmark needs a budget in playouts, but 'uct\(seconds=1\)' has one in seconds\Z"
    ):
        bench.measure(Case("tic_tac_toe", "uct(seconds=1)", 400))


def test_a_row_of_light_playouts_has_the_same_fields(once: None) -> None:
    row, other = (bench.measure(Case("tic_tac_toe", planner, 50)) for planner in (PLAYOUT, "uct"))
    assert list(row) == list(other)


def test_a_fresh_planner_searches_in_user_and_system_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second rate of a row is that of a planner made anew for every search, by the clock of all CPU time."""
    clocks, made = [], []
    monkeypatch.setattr(bench, "rate", lambda run, *clock: clocks.append(clock) or float(run() + run()))
    monkeypatch.setattr(Case, "built", lambda case, built=Case.built: made.append(case) or built(case))
    row = bench.measure(Case("tic_tac_toe", "uct", 77))
    assert (row["playouts_per_s"], row["fresh_per_s"]) == (154, 154)
    assert (clocks, len(made)) == ([(), (bench.cpu_seconds,)], 3)


def test_light_playouts_keep_nothing(once: None) -> None:
    assert bench.measure(Case("tic_tac_toe", PLAYOUT, 50))["bytes_per_playout"] is None


@pytest.mark.parametrize("planner", [PLAYOUT, "uct", "ucd(d1=inf)"])
def test_a_measured_rate_is_above_0(planner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "BATCH_SECONDS", 0.01)
    assert bench.measure(Case("tic_tac_toe", planner, 100))["playouts_per_s"] > 0


def test_ctrl_c_in_a_search_ends_the_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search takes Ctrl-C for itself and returns what it has; its time says nothing."""
    monkeypatch.setattr(Planner, "search", lambda self, env: SimpleNamespace(stopped="interrupt", bytes=1, playouts=1))
    with pytest.raises(KeyboardInterrupt):
        bench.measure(Case("tic_tac_toe", "uct", 100))


# The peer.


@pytest.mark.parametrize(
    ("game", "settings", "name"),
    [
        ("hex", {}, "hex(num_rows=11,num_cols=11)"),
        ("hex", {"rows": 3, "columns": 5}, "hex(num_rows=3,num_cols=5)"),
        ("hex", {"size": 5, "opening": "b2"}, None),
        ("hex", {"size": 5, "swap": True}, None),
        ("hex", {"size": 1}, None),
        ("hex", {"rows": 1, "columns": 4}, None),
        ("hex", {"rows": 4, "columns": 1}, None),
        ("connect_four", {}, "connect_four(rows=6,columns=7,x_in_row=4)"),
        ("connect_four", {"columns": 8, "rows": 5, "in_a_row": 5}, "connect_four(rows=5,columns=8,x_in_row=5)"),
        ("tic_tac_toe", {}, "tic_tac_toe"),
        ("havannah", {"base": 6}, "havannah(board_size=6)"),
        ("havannah", {"base": 6, "swap": True}, None),
        ("leftright", {}, None),
        ("breakthrough", {"rows": 6, "columns": 5}, "breakthrough(rows=6,columns=5)"),
        ("breakthrough", {"rows": 5, "columns": 5, "filled": 2}, None),
        ("merrills", {"tournament": True}, "nine_mens_morris"),
        ("merrills", {}, None),
        ("othello", {}, "othello"),
        ("othello", {"size": 6}, None),
        ("othello", {"payoff": "discs"}, None),
        ("pentago", {"after_rotation": True}, "pentago"),
        ("pentago", {}, None),
        ("knightthrough", {}, None),
    ],
)
def test_a_game_is_named_as_openspiel_names_it(game: str, settings: dict[str, Any], name: str | None) -> None:
    assert bench.openspiel_name(registry.make_rules(game, **settings)) == name


SHARED = [
    rules
    for game in registry.available()
    for rules in (registry.make_rules(game, **settings) for settings in registry.examples(game))
    if bench.openspiel_name(rules)
]


NUMBERED_ELSE = ("breakthrough_v0", "merrills_v0", "othello_v0", "pentago_v0")
"""Games whose actions the peer numbers in another way; their own tests play both side by side."""


@pytest.mark.parametrize("rules", SHARED, ids=str)
def test_the_peers_game_has_the_same_moves(rules: Rules) -> None:
    theirs = pyspiel.load_game(bench.openspiel_name(rules))
    start, ours = theirs.new_initial_state().legal_actions(), rules.initial_state().legal_actions()
    if rules.name == "havannah_v0":  # theirs numbers the cut corners of a square too
        start = [sorted(start).index(action) for action in start]
        assert theirs.num_distinct_actions() == rules.planes[0] * rules.planes[1]
    elif rules.name not in NUMBERED_ELSE:
        assert theirs.num_distinct_actions() == rules.actions
    elif rules.name == "pentago_v0":  # theirs is a stone and one of eight rotations
        assert len(start) == 8 * len(ours)
        return
    if rules.name in NUMBERED_ELSE:
        assert len(start) == len(ours)
    else:
        assert start == ours


@pytest.mark.parametrize("rules", SHARED, ids=str)
def test_the_peer_searches_with_the_same_playouts(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "rate", lambda run, *clock: float(run()))
    assert bench.openspiel_rate(rules, 10) == 10


def test_a_row_with_a_peer_has_the_documented_fields(once: None) -> None:
    row = bench.measure(Case("tic_tac_toe", "uct", 50), "openspiel")
    assert list(row)[-3:] == ["peer", "peer_playouts_per_s", "ratio"]


def test_the_ratio_is_our_rate_to_theirs(once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 of ours to 250 of theirs."""
    monkeypatch.setattr(bench, "openspiel_rate", lambda rules, playouts: 250.0)
    row = bench.measure(Case("tic_tac_toe", "uct", 50), "openspiel")
    assert (row["peer_playouts_per_s"], row["ratio"]) == (250, 4.0)


def test_the_peer_has_the_budget_of_our_search(once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    budgets = []
    monkeypatch.setattr(bench, "openspiel_rate", lambda rules, playouts: budgets.append(playouts) or 1.0)
    bench.measure(Case("tic_tac_toe", "uct(playouts=60)", 50), "openspiel")
    assert budgets == [60]


@pytest.mark.parametrize("case", [Case("leftright", "uct", 50), Case("tic_tac_toe", PLAYOUT, 1)], ids=["game", "search"])
def test_without_the_peers_like_there_is_no_ratio(case: Case, once: None) -> None:
    row = bench.measure(case, "openspiel")
    assert (row["peer"], row["peer_playouts_per_s"], row["ratio"]) == ("openspiel", None, None)


@pytest.mark.parametrize(("peer", "extra"), [("openspiel", "bench"), ("pettingzoo", "render")])
def test_a_missing_peer_is_named_with_what_installs_it(peer: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, bench.PEERS[peer][0], None)
    reason = rf"\Athe peer {peer} is not installed: pip install 'ucd-planners\[{extra}\]'\Z"
    with pytest.raises(ImportError, match=reason):
        bench.find_peer(peer)


# The suite.


def test_the_suite_has_every_game() -> None:
    assert {registry.versioned(case.game) for case in bench.suite()} == set(registry.available())


def test_every_case_of_the_suite_can_be_built() -> None:
    for case in bench.suite():
        registry.make_rules(case.game, **case.settings)
        assert case.planner == PLAYOUT or case.built().playouts == case.playouts


def test_no_case_of_the_suite_comes_twice() -> None:
    cases = [(case.game, str(case.settings), case.planner, case.playouts) for case in bench.suite()]
    assert len(set(cases)) == len(cases)


@pytest.mark.parametrize("depths", bench.DEPTHS)
def test_depths_are_written_in_the_notation(depths: str) -> None:
    d1, d2, d3 = map(float, depths.split(","))
    assert planner_from(bench.ucd_text(depths), playouts=1).selection == PRESETS["ucd"](d1, d2, d3, playouts=1).selection


# Environments.


@pytest.fixture(scope="module")
def environments() -> list[dict[str, Any]]:
    """The rows of the environments beside PettingZoo, from short batches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench, "BATCH_SECONDS", 0.01)
        patch.setattr(bench, "GAMES", 4)
        return list(bench.environment_rows("pettingzoo"))


def test_every_game_has_a_row_of_its_environment(environments: list[dict[str, Any]]) -> None:
    assert [row["game"] for row in environments] == registry.available()


def test_a_row_of_an_environment_has_the_documented_fields(environments: list[dict[str, Any]]) -> None:
    fields = ["game", "config", "steps_per_s", "clone_restore_us", "peer", "peer_steps_per_s", "ratio"]
    assert [list(row) for row in environments] == [fields] * len(environments)


def test_steps_and_clones_take_time(environments: list[dict[str, Any]]) -> None:
    assert all(row["steps_per_s"] > 0 and row["clone_restore_us"] > 0 for row in environments)


def test_pettingzoo_has_connect_four_only(environments: list[dict[str, Any]]) -> None:
    assert [row["game"] for row in environments if row["ratio"] is not None] == ["connect_four_v0"]


def test_the_ratio_of_environments_is_our_rate_to_theirs(environments: list[dict[str, Any]]) -> None:
    (row,) = (row for row in environments if row["ratio"] is not None)
    assert row["ratio"] == pytest.approx(row["steps_per_s"] / row["peer_steps_per_s"], rel=0.01, abs=0.01)


def test_without_a_peer_a_row_has_no_fields_of_one(once: None) -> None:
    assert list(next(bench.environment_rows())) == ["game", "config", "steps_per_s", "clone_restore_us"]


def test_a_bench_of_seats_has_every_game_of_several_players(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the steps of the learner, who plays on through the games of a batch, against both opponents."""
    monkeypatch.setattr(seats, "rate", lambda play: play() / 2)
    monkeypatch.setattr(seats, "STEPS", 6)
    rows = list(seats.seat_rows())
    assert [row["game"] for row in rows] == [name for name in registry.available() if registry.make_rules(name).players > 1]
    assert all(list(row) == ["game", "config", "random_steps_per_s", "uct_steps_per_s"] for row in rows)
    assert {row["random_steps_per_s"] for row in rows} == {row["uct_steps_per_s"] for row in rows} == {3}


def test_a_bench_of_self_play_is_compared_with_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both play whole games of five to nine samples: the loop one at a time, self-play as many as are asked for at once."""
    monkeypatch.setattr(selfplay, "rate", lambda play: play())
    monkeypatch.setattr(selfplay, "GAMES", 4)
    (row,) = selfplay.selfplay_rows([bench.Case("tic_tac_toe_v0", "uct(c=0.3)", 20)])
    assert list(row) == ["game", "config", "planner", "playouts", "samples_per_s", "loop_per_s", "ratio"]
    assert 4 * 5 <= row["samples_per_s"] <= 4 * 9
    assert 5 <= row["loop_per_s"] <= 9
    assert row["ratio"] == pytest.approx(row["samples_per_s"] / row["loop_per_s"], abs=0.01)
    assert {case.game for case in selfplay.cases()} >= {"connect_four_v0", "hex_v0"}
