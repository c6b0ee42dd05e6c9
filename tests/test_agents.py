"""Agents in matches: functions and objects of users, their labels, the store, processes, and what happens when one fails."""

from __future__ import annotations

import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ucd_envs
from ucd_envs.rules import Rules, State
from ucd_planners import cli, uct
from ucd_planners.arena import functions
from ucd_planners.arena.agents import agent_from, canonical_player, label
from ucd_planners.arena.functions import FunctionAgent, Guard, observed
from ucd_planners.arena.interface import FailedError, Move
from ucd_planners.arena.match import Match, MatchResult, play_match
from ucd_planners.arena.store import Store, configuration
from ucd_planners.grammar import parse
from ucd_planners.notation import planner_from

HEX = {"size": 3}
MINE = """
import numpy as np

def first(observation, mask, rng):
    return int(np.flatnonzero(mask)[0])

def drawn(observation, mask, rng, share=1.0):
    legal = np.flatnonzero(mask)
    return rng.choice(legal[: max(1, int(share * len(legal)))])

def with_clock(observation, mask, rng, timeout=5):
    return int(np.flatnonzero(mask)[timeout - 5])

def last(step=-1):
    return lambda observation, mask, rng: int(np.flatnonzero(mask)[step])

def pair(game, player):
    pass
"""


def first(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
    """The first legal action."""
    return int(np.flatnonzero(mask)[0])


class Counting:
    """An agent that fails in its games of some numbers, and else takes the first legal action."""

    def __init__(self, failing: set[int], how: str = "raise") -> None:
        self.failing, self.how, self.games = failing, how, 0

    def begin(self, rules: Rules, seed: int, stop: Any) -> None:
        self.games += 1

    def choose(self, state: State, moves: Any) -> Move:
        if self.games in self.failing:
            if self.how == "raise":
                raise KeyError("lost")
            return Move(10**6 if self.how == "illegal" else 2.5)  # type: ignore[arg-type]
        return Move(state.legal_actions()[0])

    def close(self) -> None:
        pass


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module of functions, which is the current one."""
    (tmp_path / "moving.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "moving", raising=False)
    return tmp_path


def hex_match(a: Any, b: Any = "uct", games: int = 6, **changes: Any) -> Match:
    """Games of Hex 3x3 with 10 playouts a move."""
    return Match("hex", a, b, **({"settings": HEX, "budget": {"playouts": 10}, "games": games, "seed": 3} | changes))


def moves(result: MatchResult) -> list[tuple[int, ...]]:
    return [game.moves for game in result.games]


# What a function sees.


@pytest.mark.parametrize("game", ["hex", "connect_four", "go", "pig", "einstein", "twenty_forty_eight"])
def test_a_function_sees_what_an_environment_shows(game: str) -> None:
    env = ucd_envs.make(game)
    env.reset(seed=4)
    for _ in range(30):
        state = env.unwrapped.clone_state()
        if state.over:
            break
        seen = env.observe(env.agent_selection)
        observation, mask = observed(state)
        assert (observation.dtype, mask.dtype) == (np.int8, np.int8)
        assert np.array_equal(observation, seen["observation"])
        assert np.array_equal(mask, seen["action_mask"])
        env.step(int(np.flatnonzero(mask)[-1]))


def test_a_function_may_write_into_what_it_sees() -> None:
    def writing(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
        action = int(np.flatnonzero(mask)[0])
        observation[:], mask[:] = 7, 0
        return action

    assert moves(play_match(hex_match(writing))) == moves(play_match(hex_match(first)))


def test_the_generator_of_a_function_follows_from_the_seed(folder: Path) -> None:
    played = [moves(play_match(hex_match("moving:drawn", "moving:drawn", seed=seed))) for seed in (1, 1, 2)]
    assert played[0] == played[1] != played[2]
    assert len(set(played[0])) == 6


@pytest.mark.parametrize("answer", [int, np.int8, np.int64, np.array], ids=lambda kind: kind.__name__)
def test_an_action_is_any_kind_of_whole_number(answer: Any) -> None:
    result = play_match(hex_match(lambda observation, mask, rng: answer(first(observation, mask, rng))))
    assert moves(result) == moves(play_match(hex_match(first)))
    assert all(type(action) is int for game in result.games for action in game.moves)


# What is a function, and what makes an agent.


def test_a_function_by_reference_plays_as_the_function_itself(folder: Path) -> None:
    texts = ["moving:first", "moving:drawn(share=0)", "moving:last(step=0)", "moving:with_clock", "moving:first(timeout=60)"]
    assert {tuple(moves(play_match(hex_match(text)))) for text in texts} == {tuple(moves(play_match(hex_match(first))))}


def test_the_timeout_of_a_text_is_the_functions_own_where_it_has_one(folder: Path) -> None:
    """Its default is 5, for the first legal action; 6 stands for the second."""
    game = play_match(hex_match("moving:with_clock(timeout=6)", games=2)).games[0]
    assert game.moves[0] == 1


def test_one_function_has_one_canonical_text(folder: Path) -> None:
    texts = ["moving:drawn", "moving:drawn(share=1)", "moving:drawn( share = 1.0 )"]
    assert {canonical_player(text, {"playouts": 7}) for text in texts} == {"moving:drawn(share=1)"}
    assert canonical_player("moving:first(timeout=2)", {}) == "moving:first(timeout=2)"


def test_a_function_is_no_planner(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"^moving:first chooses moves: it plays in matches, and is no planner$"):
        planner_from("moving:first")


def test_an_agent_object_is_copied_for_the_match() -> None:
    agent = Counting(set())
    assert moves(play_match(hex_match(agent))) == moves(play_match(hex_match(first)))
    assert agent.games == 0


def test_objects_play_in_threads() -> None:
    match = hex_match(lambda observation, mask, rng: first(observation, mask, rng), Counting(set()), games=12)
    with ThreadPoolExecutor(3) as executor:
        assert moves(play_match(match, executor=executor)) == moves(play_match(match))


class Locked(Counting):
    """An agent that cannot be copied."""

    def __init__(self) -> None:
        super().__init__(set())
        self.lock = threading.Lock()


@pytest.mark.parametrize(
    ("player", "sentence"),
    [
        (Locked(), "the agent Locked cannot be copied for each thread: cannot pickle '_thread.lock' object"),
        (
            lambda observation, mask: 1,
            "a planner must be written as text, such as 'uct\\(c=0\\.3\\)', or be a planner, a function ",
        ),
        (Counting, "a planner must be written as text"),
        ("moving:first(share=1)", "moving:first has no parameter 'share'"),
        ("moving:first(timeout=0)", "timeout must be a finite number of seconds above 0, not 0"),
        ("moving:first(timeout=inf)", "timeout must be a finite number of seconds above 0, not inf"),
        ("moving:pair", r"pair\(\) missing 2 required positional arguments"),
        ("random(seed=1)", "random has no parameter 'seed': it takes none"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_cannot_play_is_refused_before_any_game(player: Any, sentence: str, folder: Path) -> None:
    with pytest.raises((ValueError, TypeError), match=rf"(^|\.){sentence}"):
        hex_match(player)


class Picky(Counting):
    """An agent for one game."""

    def check(self, rules: Rules) -> None:
        if rules.name != "go_v0":
            raise ValueError(f"this agent plays go, not {rules.name}")


def test_an_agent_may_refuse_a_game() -> None:
    with pytest.raises(ValueError, match=r"^this agent plays go, not hex_v0$"):
        hex_match(Picky(set()))


# Labels, stores and processes.


def test_objects_have_labels() -> None:
    named = Counting(set())
    named.name = "the counter"  # type: ignore[attr-defined]
    nameless = lambda observation, mask, rng: 0  # noqa: E731
    labels = [
        label(player) for player in ("uct(c=1)", uct(), first, nameless, Counting(set()), named, Guard(FunctionAgent(first)))
    ]
    assert labels == ["uct(c=1)", "uct", "test_agents:first", "<lambda>", "Counting", "the counter", "first"]


def test_a_function_and_its_reference_are_one_player_in_a_store(tmp_path: Path) -> None:
    by_object, by_text = hex_match(first), hex_match("test_agents:first")
    assert configuration(by_object) == configuration(by_text)
    with Store(tmp_path / "games.sqlite") as store:
        games = play_match(by_object, store=store).games
        assert store.games(by_text) == games


@pytest.mark.parametrize("player", [Counting(set()), lambda observation, mask, rng: 0], ids=["object", "lambda"])
def test_a_store_refuses_what_no_text_makes_again(player: Any) -> None:
    with pytest.raises(TypeError, match=r"^a match of .* cannot be stored: write the planner as text, such as 'uct\(c=0\.3\)'"):
        hex_match(player).facts()


def test_functions_and_objects_play_in_processes(folder: Path) -> None:
    match = hex_match("moving:drawn", "moving:last(step=-1)", games=8)
    assert moves(play_match(match, 2)) == moves(play_match(match))


def test_what_cannot_be_pickled_is_refused_by_processes_before_any_game() -> None:
    seen: list[Any] = []
    match = hex_match(lambda observation, mask, rng: 0)
    sentence = r"^<lambda> plays in this process only \(.*\): take jobs=1, threads, or a text that makes it$"
    with pytest.raises(ValueError, match=sentence):
        play_match(match, jobs=2, progress=seen.append)
    assert seen == []


# Failures.


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("raise", r"b raises KeyError: 'lost' \(test_agents\.py:\d+\)"),
        ("illegal", "b plays action 1000000, which is not legal: actions are 0 to 8"),
        ("number", r"b answers 2\.5, which is no action"),
    ],
)
def test_a_game_in_which_an_agent_fails_counts_for_nobody_and_the_others_are_played(how: str, reason: str) -> None:
    """B118h. It fails in its 38th game of 40."""
    result = play_match(hex_match("random", Counting({38}, how), games=40))
    (failed,) = result.failures
    assert failed.number == 37
    assert len(result.games) == result.score().games == 39
    with pytest.raises(AssertionError, match=rf"^{reason}$"):
        raise AssertionError(failed.failure)


def test_a_failed_game_is_played_again_by_the_same_command(tmp_path: Path) -> None:
    """The store has the others."""
    import test_agents

    test_agents.broken = True  # type: ignore[attr-defined]
    with Store(tmp_path / "games.sqlite") as store:
        assert len(play_match(hex_match("test_agents:weather"), store=store).failures) == 6
        test_agents.broken = False  # type: ignore[attr-defined]
        again = play_match(hex_match("test_agents:weather"), store=store)
    assert (len(again.games), again.failures) == (6, [])


broken = False


def weather(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
    """Fails while the module says so."""
    if sys.modules["test_agents"].broken:
        raise OSError("no connection")
    return first(observation, mask, rng)


@pytest.mark.parametrize("seconds", [0.5, 1.5])
def test_a_move_after_its_time_fails_the_game(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock goes on by some seconds with each look at it; a move has one."""
    clock = iter(np.arange(0.0, 1e6, seconds).tolist())
    monkeypatch.setattr(functions, "time", type("Clock", (), {"perf_counter": lambda: next(clock)}))
    result = play_match(hex_match(Guard(FunctionAgent(first), timeout=1.0), "random", games=2))
    reasons = {game.failure for game in result.failures}
    assert reasons == ({"a takes more than its 1 s for a move"} if seconds > 1 else set())


def test_an_agent_that_resigns_has_lost() -> None:
    result = play_match(hex_match(lambda observation, mask, rng: Move(None), "random", games=2))
    assert [game.payoff for game in result.games] == [0.0, 0.0]


def test_a_stopped_match_asks_no_function_again() -> None:
    agent = agent_from(first, {})
    event = threading.Event()
    rules = ucd_envs.make_rules("hex", **HEX)
    agent.begin(rules, 1, event)
    event.set()
    with pytest.raises(functions.StoppedError):
        agent.choose(rules.initial_state(), ())


def test_a_fault_of_a_planner_is_no_failed_game() -> None:
    """It is a fault of kernels, which a match does not hide."""

    class Faulty(type(uct())):  # type: ignore[misc]
        def search(self, *given: Any, **options: Any) -> Any:
            raise RuntimeError("a kernel's fault")

    planner = uct()
    planner.__class__ = Faulty
    with pytest.raises(RuntimeError, match="a kernel's fault"):
        play_match(hex_match(planner))


def test_memory_that_runs_out_is_no_failed_game() -> None:
    def hungry(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
        raise MemoryError

    with pytest.raises(MemoryError):
        play_match(hex_match(hungry))


def test_the_command_shows_the_games_that_failed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "--game",
        "hex",
        "--size",
        "3",
        "--a",
        "moving:first(timeout=1e-9)",
        "--b",
        "moving:first",
        "--games",
        "4",
        "--playouts",
        "5",
    ]
    assert cli.main(["match", *words]) == 1
    assert "4 x a takes more than its 1e-09 s for a move\n" in capsys.readouterr().err


# Texts.


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('sb3("model.zip")', ("sb3", {"path": "model.zip"})),
        ("torch('a b.pt', layout=hwc, temperature=0.5)", ("torch", {"path": "a b.pt", "layout": "hwc", "temperature": 0.5})),
        (" onnx ( 'net.onnx' ) ", ("onnx", {"path": "net.onnx"})),
        ("spiel_bot('uniform_random',timeout=3)", ("spiel_bot", {"name": "uniform_random", "timeout": 3})),
    ],
)
def test_agents_are_written_with_a_quoted_text(text: str, written: tuple[str, dict[str, Any]]) -> None:
    assert parse(text) == written


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("sb3", "planner 'sb3' does not parse: expected a file, such as sb3('model.zip')"),
        (
            "torch(path='x')",
            "planner \"torch(path='x')\" does not parse: expected a file or a reference, such as torch('net.pt')",
        ),
        ("onnx('x', path='y')", "planner \"onnx('x', path='y')\" has the parameter 'path' twice"),
        ("sb3('no.zip')", "there is no file no.zip"),
        ("sb3('no.zip', level=3)", "sb3 has no parameter 'level': expected one of path, temperature, timeout, digest"),
    ],
)
def test_a_text_of_an_agent_that_is_wrong_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=rf"^{re.escape(sentence)}$"):
        agent_from(text, {})


def test_an_agent_is_no_planner() -> None:
    with pytest.raises(ValueError, match=r"^sb3 is an agent that plays in matches, not a planner: expected one of uct, ucd, "):
        planner_from("sb3('model.zip')")


def test_guards_measure_real_time() -> None:
    rules = ucd_envs.make_rules("hex", **HEX)

    def slow(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
        time.sleep(0.02)
        return 0

    agent = Guard(FunctionAgent(slow), timeout=0.01)
    agent.begin(rules, 1, None)
    with pytest.raises(FailedError, match=r"^takes more than its 0\.01 s for a move$"):
        agent.choose(rules.initial_state(), ())
