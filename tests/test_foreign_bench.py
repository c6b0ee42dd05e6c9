"""The benchmark in environments that others wrote: its bare loop makes the calls of the search, its peers search the same."""

from __future__ import annotations

import copy
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv
from pettingzoo.classic.connect_four import connect_four as classic

import ucd_envs
import ucd_planners.planner
from ucd_envs.foreign import Adapter, AECGame, SingleGame, SpielGame, check
from ucd_envs.foreign.replays import Replays
from ucd_envs.foreign.snapshots import Copier
from ucd_planners import cli, uct
from ucd_planners.benchmarks import foreign as foreign_bench
from ucd_planners.benchmarks import openspiel
from ucd_planners.benchmarks import speed as bench
from ucd_planners.benchmarks.foreign import ACTIONS, PLANNERS, POSITION, RESTORE, STEP, Case, recorded, replay
from ucd_planners.notation import planner_from
from ucd_planners.planner import Planner

CASES = [pytest.param(case, id=f"{case.name} {case.copies}") for case in foreign_bench.cases()]
FIELDS = ["game", "config", "copies", "planner", "playouts", "playouts_per_s", "bare_per_s", "cost_percent"]
PEER_FIELDS = ["peer", "peer_playouts_per_s", "ratio"]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches of a few playouts, each measured once; a clock that is never seen to stand still."""
    few = [replace(case, playouts=20) for case in foreign_bench.cases()]
    monkeypatch.setattr(foreign_bench, "cases", lambda: few)
    monkeypatch.setattr(foreign_bench, "REPEATS", 1)
    monkeypatch.setattr(foreign_bench, "user_seconds", time.perf_counter)
    monkeypatch.setattr(bench, "user_seconds", time.perf_counter)
    monkeypatch.setattr(bench, "BATCH_SECONDS", 0.001)


# The calls of a search, noted by the environments themselves.

LOG: list[tuple[int, Any]] = []


class LoggedFour(classic.raw_env):
    """PettingZoo's Connect Four, which notes the calls that are made of it."""

    def step(self, action: int | None) -> None:
        LOG.append((STEP, action))
        super().step(action)

    def observe(self, agent: str) -> Any:
        LOG.append((ACTIONS, None))
        return super().observe(agent)


class LoggedLake(FrozenLakeEnv):
    """FrozenLake, which notes its steps."""

    def step(self, action: int) -> Any:
        LOG.append((STEP, action))
        return super().step(action)


def noting(what: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that notes its calls."""

    def noted(*arguments: Any) -> Any:
        LOG.append((what, None))
        return function(*arguments)

    return noted


def logged_four(kind: type[classic.raw_env] = LoggedFour) -> AECGame:
    """Connect Four by hooks."""
    env = kind()
    env.reset(seed=0)
    return AECGame(
        env,
        clone_state=foreign_bench._clone_connect_four,
        restore_state=noting(RESTORE, foreign_bench._restore_connect_four),
        position=noting(POSITION, lambda env: (bytes(env.board), env.agent_selection)),
    )


def logged_lake() -> SingleGame:
    """FrozenLake, pickled."""
    env = LoggedLake(is_slippery=False)
    env.reset(seed=0)
    return SingleGame(
        env,
        position=noting(POSITION, lambda env: int(env.s)),
        legal_actions=noting(ACTIONS, lambda env: range(4)),
        constant=("P", "desc", "initial_state_distrib"),
        max_plies=100,
    )


@pytest.fixture(params=["connect four", "frozen lake"])
def logged(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Adapter]:
    """A game whose calls are noted, none so far."""
    if request.param == "frozen lake":
        monkeypatch.setattr(Copier, "restore", noting(RESTORE, Copier.restore))
    game = logged_four() if request.param == "connect four" else logged_lake()
    LOG.clear()
    yield game
    LOG.clear()


def fields(env: Any) -> dict[str, Any]:
    """All attributes of an environment, by value."""
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in copy.copy(vars(env)).items()}


@pytest.mark.parametrize("text", PLANNERS)
def test_the_recorded_calls_are_those_that_were_made(text: str, logged: Adapter) -> None:
    with recorded(logged) as calls:
        planner_from(text, playouts=60, seed=1).search(logged)
    assert calls == LOG


def test_a_search_makes_calls_of_every_kind(logged: Adapter) -> None:
    with recorded(logged) as calls:
        planner_from(PLANNERS[1], playouts=60, seed=1).search(logged)
    assert {what for what, _ in calls} == {RESTORE, STEP, ACTIONS, POSITION}


def test_every_playout_is_restored_once_and_the_root_before(logged: Adapter) -> None:
    """clone_state restores the copy; so does each of the 60 simulations, and the search when it is asked about the root."""
    with recorded(logged) as calls:
        uct(playouts=60, seed=1).search(logged)
    restored = [what for what, _ in calls].count(RESTORE)
    assert 60 < restored < 60 + 10


def test_calls_are_noted_only_while_the_recording_lasts(logged: Adapter) -> None:
    planner = uct(playouts=20, seed=1)
    planner.search(logged)
    LOG.clear()
    with recorded(logged) as calls:
        planner.search(logged)
    noted = list(LOG)
    planner.search(logged)
    assert (calls == noted, len(LOG) > len(noted)) == (True, True)


def parts(game: Adapter) -> tuple[Any, ...]:
    """What a recording replaces."""
    kind = type(game.live)
    return (
        kind,
        kind.step,
        "step" in vars(kind),
        game._restore_state,
        game._actions_of,
        game._position,
        game._told,
        "step" in vars(game.live),
    )


def test_a_recording_puts_everything_back(logged: Adapter) -> None:
    before = parts(logged)
    with recorded(logged):
        uct(playouts=5, seed=1).search(logged)
    assert parts(logged) == before


def test_a_recording_puts_everything_back_after_an_exception(logged: Adapter) -> None:
    before = parts(logged)
    with pytest.raises(ZeroDivisionError), recorded(logged):
        raise ZeroDivisionError
    assert parts(logged) == before


def test_a_recording_leaves_a_class_without_a_step_of_its_own() -> None:
    class Heir(LoggedFour):
        """It has the step of its parent."""

    game = logged_four(Heir)
    with recorded(game):
        uct(playouts=5, seed=1).search(game)
    assert "step" not in vars(Heir)


def test_a_recording_leaves_other_environments_of_the_kind_alone(logged: Adapter) -> None:
    with recorded(logged) as calls:
        logged.env.step(0)
    assert calls == []


def test_steps_of_finished_agents_are_recorded_and_replayed_as_none() -> None:
    """White 0 and black 1 in turn: the fourth stone in column 0 wins."""
    game = logged_four()
    game.clone_state()
    with recorded(game) as calls:
        for action in (0, 1, 0, 1, 0, 1, 0, None, None):
            game.live.step(action)
    game.restart()
    replay(game, calls)
    assert (calls[-2:], game.live.agents) == ([(STEP, None)] * 2, [])


# Replays.


@pytest.mark.parametrize("text", PLANNERS)
def test_a_replay_makes_the_same_calls_in_order(text: str, logged: Adapter) -> None:
    with recorded(logged) as calls:
        planner_from(text, playouts=60, seed=1).search(logged)
    LOG.clear()
    replay(logged, calls)
    assert calls == LOG


@pytest.mark.parametrize("text", PLANNERS)
def test_a_replay_ends_where_the_search_ended(text: str, logged: Adapter) -> None:
    with recorded(logged) as calls:
        planner_from(text, playouts=60, seed=1).search(logged)
    after = fields(logged.live)
    logged.restart()
    assert fields(logged.live) != after
    replay(logged, calls)
    assert fields(logged.live) == after


@pytest.mark.parametrize("text", PLANNERS)
@pytest.mark.parametrize("case", CASES)
def test_every_search_that_is_measured_makes_the_recorded_calls(case: Case, text: str) -> None:
    """So the bare loop stands beside each of them, not only beside the recorded one."""
    game, planner = case.make(), planner_from(text, playouts=100, seed=1)
    planner.act(game)
    found = []
    for _ in range(3):
        planner.reset(1)
        with (openspiel if isinstance(game, SpielGame) else foreign_bench).recorded(game) as calls:
            planner.act(game)
        found.append(calls)
    assert found[1:] == found[:1] * 2


# Rates.


def test_rates_and_cost_are_medians_of_searches_and_loops_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches of 2, 4 and 3 s, loops of 1, 1 and 2 s: medians 3 and 1; the searches cost 100, 300 and 50 percent more."""
    now, searches, loops = [0.0], iter([50.0, 60.0, 2.0, 4.0, 3.0]), iter([1.0, 1.0, 2.0])

    def spend(seconds: Iterator[float]) -> Any:
        now[0] += next(seconds)
        return 0

    monkeypatch.setattr(foreign_bench, "user_seconds", lambda: now[0])
    monkeypatch.setattr(foreign_bench, "REPEATS", 3)
    monkeypatch.setattr(foreign_bench, "replay", lambda game, calls: spend(loops))
    monkeypatch.setattr(Planner, "act", lambda self, env: spend(searches))
    assert foreign_bench.beside_bare_loop(foreign_bench.frozen_lake(True), "uct", 12) == (4.0, 12.0, 100.0)


@pytest.mark.parametrize("case", CASES)
def test_the_cost_is_that_of_the_rates(case: Case, small: None) -> None:
    """With one repeat the medians are of one pair."""
    ours, bare, cost = foreign_bench.beside_bare_loop(case.make(), PLANNERS[0], 100)
    assert (ours > 0, bare > 0, cost) == (True, True, pytest.approx(100 * (bare / ours - 1)))


def test_ctrl_c_in_a_search_ends_the_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of a search that Ctrl-C has ended says nothing."""
    run = ucd_planners.planner.run_all
    monkeypatch.setattr(ucd_planners.planner, "run_all", lambda workers, stop, began: run(workers, stop, began) or True)
    with pytest.raises(KeyboardInterrupt):
        foreign_bench.beside_bare_loop(foreign_bench.frozen_lake(True), "uct", 10)


def test_a_row_has_the_documented_fields(small: None) -> None:
    assert [list(row) for row in foreign_bench.foreign_rows()] == [FIELDS] * 12


def test_every_case_has_a_row_for_every_planner(small: None) -> None:
    rows = [(row["game"], row["copies"], row["planner"]) for row in foreign_bench.foreign_rows()]
    assert rows == [(case.name, case.copies, text) for case in foreign_bench.cases() for text in PLANNERS]


def test_a_peer_adds_its_fields_and_the_ratio(small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """500 playouts a second of ours to 250 of theirs."""
    monkeypatch.setattr(foreign_bench, "peer_rate", lambda name: 250.0)
    monkeypatch.setattr(foreign_bench, "beside_bare_loop", lambda game, text, playouts: (500.0, 600.0, 20.0))
    rows = list(foreign_bench.foreign_rows(peers=True))
    assert [list(row) for row in rows] == [FIELDS + PEER_FIELDS] * 12
    assert {(row["peer"], row["peer_playouts_per_s"], row["ratio"]) for row in rows} == {
        ("mcts-simple", 250, 2.0),
        ("gymcts", 250, 2.0),
        ("mcts of tic_tac_toe", 250, 2.0),
        ("mcts of connect_four", 250, 2.0),
    }


def test_the_rate_of_openspiel_is_in_its_simulations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openspiel, "PLAYOUTS", 30)
    monkeypatch.setattr(openspiel, "rate", lambda run: float(run()))
    assert foreign_bench.peer_rate("mcts of tic_tac_toe") == 30


def test_a_replay_makes_the_calls_of_a_search_in_openspiel() -> None:
    game, planner = openspiel.spiel_game("tic_tac_toe"), planner_from(PLANNERS[1], playouts=50, seed=1)
    with openspiel.recorded(game) as calls:
        planner.act(game)
    assert sum(name == "clone" for name, _ in calls) == 54, "every simulation, the root, and the state that is searched"
    live = game.rules.live
    assert isinstance(live, Replays)
    found: list[tuple[str, Any]] = []
    start = live.start
    live.begin(openspiel.Noted(start, found))
    openspiel.replay(game, calls)
    live.begin(start)
    assert found == calls


# Copies.


@pytest.mark.parametrize("case", CASES)
def test_the_copies_keep_their_word(case: Case) -> None:
    game = case.make()
    report: Any = ucd_envs.check(game.rules, states=50) if isinstance(game, SpielGame) else check(game, games=10)
    assert getattr(report, "deterministic", None) or report.passed


def four(*actions: int) -> Any:
    """PettingZoo's Connect Four after a few moves."""
    env = classic.raw_env()
    env.reset(seed=0)
    for action in actions:
        env.step(action)
    return env


def ply(env: Any, rng: random.Random) -> None:
    """A random legal move, or the step of a finished agent."""
    over = env.terminations[env.agent_selection]
    env.step(None if over else rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist()))


def by_restoring(env: Any) -> Any:
    """A copy by the hooks, in an environment that was elsewhere."""
    other, snapshot = four(3, 3, 2), foreign_bench._clone_connect_four(env)
    foreign_bench._restore_connect_four(other, snapshot)
    if not any(other.terminations.values()):
        ply(other, random.Random(0))  # which does not change the snapshot
    foreign_bench._restore_connect_four(other, snapshot)
    return other


COPIES = [by_restoring, foreign_bench._twin_connect_four]
WON = (0, 1, 0, 1, 0, 1, 0)
POSITIONS = [(), (3,), (3, 3, 2, 4), WON[:-1], WON, (0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 3, 2, 2, 2, 2, 2)]


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("actions", POSITIONS, ids=str)
def test_connect_four_is_restored_exactly(actions: tuple[int, ...], copied: Callable[[Any], Any]) -> None:
    env = four(*actions)
    assert fields(copied(env)) == fields(Copier("copied").twin(env)) == fields(env)


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("actions", POSITIONS, ids=str)
def test_the_same_plies_follow_on_a_restored_connect_four(actions: tuple[int, ...], copied: Callable[[Any], Any]) -> None:
    """20 random plies, or as many as are left, with the steps of the finished agents at the end."""
    env = four(*actions)
    other, pickled = copied(env), Copier("copied").twin(env)
    generators = random.Random(5), random.Random(5)
    for _ in range(20):
        if not pickled.agents:
            break
        for game, rng in zip((other, pickled), generators, strict=True):
            ply(game, rng)
        assert fields(other) == fields(pickled)


@pytest.mark.parametrize("copied", COPIES)
def test_a_copy_of_connect_four_goes_its_own_way(copied: Callable[[Any], Any]) -> None:
    """To the end, which takes the agents away from one of the two."""
    env = four(*WON[:-1])
    other, before = copied(env), copy.deepcopy(fields(env))
    for action in (0, None, None):
        other.step(action)
    assert (fields(env), other.agents) == (before, [])


# Peers. The real ones may or may not be installed: here they are small modules, or missing.


class Game:
    """What mcts-simple's games inherit."""


class OneGameAnIteration:
    """In place of mcts-simple's UCT: a random game an iteration, each in a deep copy. It keeps where they ended."""

    ends: list[Any]

    def __init__(self, game: Any, seed: int) -> None:
        self.game, self.rng = game, random.Random(seed)

    def self_play(self, iterations: int) -> None:
        print("a progress bar", file=sys.stderr)
        start = self.game.get_state(), self.game.current_player(), self.game.possible_actions()
        for _ in range(iterations):
            game = copy.deepcopy(self.game)
            assert (game.get_state(), game.current_player(), game.possible_actions()) == start
            players = []
            while not game.has_outcome():
                players.append(game.current_player())
                game.take_action(self.rng.choice(game.possible_actions()))
            type(self).ends.append((players, game.winner(), game.get_state()))


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """Both peers are installed; what they were asked for, by name."""
    asked: dict[str, list[Any]] = {"gymcts": [], "mcts-simple": []}

    class Agent:
        def __init__(self, env: Any) -> None:
            self.env = env

        def vanilla_mcts_search(self, num_simulations: int) -> None:
            print("a line of its log")
            asked["gymcts"].append((num_simulations, self.env))

    class Uct(OneGameAnIteration):
        ends = asked["mcts-simple"]

    modules: dict[str, dict[str, Any]] = {
        "mcts_simple": {"Game": Game, "UCT": Uct},
        "gymcts": {},
        "gymcts.gymcts_deepcopy_wrapper": {"DeepCopyMCTSGymEnvWrapper": gymnasium.Wrapper},
        "gymcts.gymcts_agent": {"GymctsAgent": Agent},
    }
    for name, contents in modules.items():
        module = ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(bench, "rate", lambda run: float(run()))
    monkeypatch.setattr(foreign_bench, "rate", bench.rate)
    return asked


def test_the_rate_of_gymcts_is_in_its_simulations(peers: dict[str, list[Any]]) -> None:
    rate = foreign_bench.peer_rate("gymcts")
    assert [rate] == [simulations for simulations, _ in peers["gymcts"]]


def test_gymcts_searches_the_same_frozen_lake_from_its_start(peers: dict[str, list[Any]]) -> None:
    foreign_bench.peer_rate("gymcts")
    (_, theirs), ours = peers["gymcts"][0], foreign_bench.frozen_lake(True).env
    assert (theirs.unwrapped.s, theirs.unwrapped.P) == (ours.s, ours.P)


def test_the_rate_of_mcts_simple_is_in_its_iterations(peers: dict[str, list[Any]]) -> None:
    assert foreign_bench.peer_rate("mcts-simple") == len(peers["mcts-simple"])


def test_mcts_simple_plays_games_of_two_players_in_turn(peers: dict[str, list[Any]]) -> None:
    foreign_bench.peer_rate("mcts-simple")
    for players, _, board in peers["mcts-simple"]:
        assert players == [number % 2 for number in range(len(board) - board.count(0))]


def test_mcts_simple_is_told_the_winners(peers: dict[str, list[Any]]) -> None:
    """Who made the last move has won, unless the board is full; in a draw both have."""
    foreign_bench.peer_rate("mcts-simple")
    for players, winner, board in peers["mcts-simple"]:
        assert winner == [players[-1]] or (winner == [0, 1] and 0 not in board)


def test_a_copy_for_mcts_simple_costs_no_adapter(peers: dict[str, list[Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    """The peer pays for copies of Connect Four by hooks, as we do, and for nothing else of ours."""
    made, adapt = [], Adapter.__init__

    def counting(self: Adapter, *arguments: Any, **options: Any) -> None:
        made.append(self)
        adapt(self, *arguments, **options)

    monkeypatch.setattr(Adapter, "__init__", counting)
    foreign_bench.peer_rate("mcts-simple")
    assert len(made) == 1


@pytest.mark.parametrize("name", ["gymcts", "mcts-simple"])
def test_what_a_peer_prints_is_not_seen(name: str, peers: dict[str, list[Any]], capsys: pytest.CaptureFixture[str]) -> None:
    foreign_bench.peer_rate(name)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["gymcts", "mcts-simple"])
def test_a_missing_peer_is_named_with_what_installs_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, bench.PEERS[name][0], None)
    with pytest.raises(ImportError, match=rf"\Athe peer {name} is not installed: pip install '{name}'\Z"):
        foreign_bench.peer_rate(name)


# ucd bench --foreign


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """The lines of a benchmark that succeeds; it says nothing on the side."""
    status = cli.main(["bench", "--foreign", *words])
    shown = capsys.readouterr()
    assert (status, shown.err) == (0, "")
    return shown.out.splitlines()


def test_json_prints_one_object_a_row(small: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert [list(json.loads(line)) for line in printed(capsys, "--json")] == [FIELDS] * 12


def test_json_with_peers_prints_their_fields(
    small: None, peers: dict[str, list[Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = printed(capsys, "--json", "--against", "python")
    assert [list(json.loads(line)) for line in lines] == [FIELDS + PEER_FIELDS] * 12


def test_without_json_there_is_a_table(small: None, peers: dict[str, list[Any]], capsys: pytest.CaptureFixture[str]) -> None:
    table = [" ".join(line.split()) for line in printed(capsys, "--against", "python") if line.strip()]
    head = "environment copies planner playouts playouts/s bare loop/s cost in percent peer peer/s ratio"
    assert (table[0], len(table)) == (head, 1 + 1 + 12)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--game", "hex"], "--foreign measures environments that others wrote: it goes without --game"),
        (["--game", "hex", "--size", "5"], "--foreign measures environments that others wrote: it goes without --game"),
        (["--envs"], "--envs and --foreign are two benchmarks: one at a time"),
        (["--envs", "--against", "pettingzoo"], "--envs and --foreign are two benchmarks: one at a time"),
        (["--against", "openspiel"], "the peer of planners in environments of others is python"),
        (["--against", "pettingzoo"], "the peer of planners in environments of others is python"),
        (["--planner", "uct"], "--planner and --playouts go with --game"),
        (["--playouts", "5"], "--planner and --playouts go with --game"),
    ],
    ids=str,
)
@pytest.mark.parametrize("installed", [True, False], ids=["installed", "missing"])
def test_what_foreign_does_not_go_with_is_refused(
    words: Sequence[str],
    sentence: str,
    installed: bool,
    peers: dict[str, list[Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if not installed:
        for name in ("gymcts", "mcts_simple"):
            monkeypatch.setitem(sys.modules, name, None)
    assert refused(capsys, *words) == sentence


def test_python_is_the_peer_of_foreign_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--against", "python"]) == 2
    assert capsys.readouterr() == ("", "ucd: the peer of planners is openspiel\n")


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The one sentence of a benchmark that cannot be run; its status is 2, and nothing else is printed."""
    status = cli.main(["bench", "--foreign", *words])
    shown = capsys.readouterr()
    assert (status, shown.out, shown.err[:5], shown.err.count("\n")) == (2, "", "ucd: ", 1), shown
    return shown.err.removeprefix("ucd: ").rstrip()


@pytest.mark.parametrize("json", [[], ["--json"]], ids=["table", "json"])
@pytest.mark.parametrize("name", ["gymcts", "mcts-simple"])
def test_a_missing_peer_is_told_before_anything_is_measured(
    name: str,
    json: list[str],
    peers: dict[str, list[Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, bench.PEERS[name][0], None)
    assert refused(capsys, *json, "--against", "python") == f"the peer {name} is not installed: pip install '{name}'"


def test_without_peers_none_is_needed(small: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("gymcts", "mcts_simple"):
        monkeypatch.setitem(sys.modules, name, None)
    assert len(printed(capsys, "--json")) == 12


def test_the_classic_games_are_needed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """They want pygame, which is no dependency of ours."""
    monkeypatch.setitem(sys.modules, "pettingzoo.classic.connect_four_v3", None)
    assert refused(capsys) == "the peer pettingzoo is not installed: pip install 'ucd-planners[render]'"
