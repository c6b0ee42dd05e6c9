"""A learner's seat against opponents of every kind: the game's kernels beside the steps of PettingZoo, seeds and errors."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import pytest
import test_guards
from pettingzoo.utils import BaseWrapper
from test_foreign import HookedSticks

import ucd_envs
from ucd_envs.envs.aec import environment
from ucd_envs.envs.wrappers import ChannelsFirstWrapper, FlatWrapper, FloatWrapper, SeatWrapper
from ucd_planners import uct

GAMES: dict[str, dict[str, Any]] = {
    "breakthrough": {"rows": 5, "columns": 4},
    "capture_the_king": {"plies": 20},
    "connect_four": {},
    "crisscross": {},
    "einstein": {},
    "go": {"size": 5},
    "havannah": {"base": 3},
    "hex": {"size": 4, "swap": True},
    "knightthrough": {"rows": 5, "columns": 4},
    "merrills": {},
    "nogo": {"size": 5},
    "othello": {"size": 6},
    "p_game": {},
    "pawn_whopping": {"rows": 6, "columns": 4},
    "pentago": {},
    "pig": {"target": 20},
    "quarto": {},
    "tic_tac_toe": {},
}


class Opaque(BaseWrapper):  # type: ignore[type-arg]
    """A wrapper that views do not know, so that they play by the steps of PettingZoo below it."""


def middle(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
    """A function that looks at everything it is given."""
    legal = np.flatnonzero(mask)
    return int(legal[(int(observation.sum()) + int(rng.integers(3))) % len(legal)])


class Move(NamedTuple):
    action: int | None


class Listener:
    """An agent that checks that the moves it hears lead to the state that it is shown."""

    def __init__(self) -> None:
        self.seeds: list[int] = []

    def begin(self, rules: Any, seed: int, stop: Any) -> None:
        self.rules, self.stop = rules, stop
        self.seeds.append(seed)

    def choose(self, state: Any, moves: Sequence[tuple[int, int]]) -> Move:
        reached = self.rules.initial_state()
        for player, action in moves:
            assert player == reached.player
            reached = reached.after(action)
        assert reached.data == state.data
        legal = state.legal_actions()
        return Move(legal[self.seeds[-1] % len(legal)])


class Scripted:
    """A planner of others: it acts in an environment and has no seed."""

    def act(self, env: Any) -> int:
        return int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[-1])


OPPONENTS: dict[str, Callable[[], Any]] = {
    "random": lambda: "random",
    "function": lambda: middle,
    "planner": lambda: uct(playouts=6),
    "planner of others": Scripted,
}


def course(env: Any, games: int, seed: int) -> list[Any]:
    """All that a learner meets in some games. One move in twenty is any action, legal or not."""
    rng, met = np.random.default_rng(seed), []
    for game in range(games):
        observation, info = env.reset(seed=seed if game == 0 else None)
        over, reward, truncated = False, 0.0, False
        while True:
            state = env.clone_state()
            met.append((observation.tolist(), info["action_mask"].tolist(), reward, over, truncated, env.seat))
            met.append((state.data, state.ending, env.agent_selection, dict(env.rewards)))
            assert type(over) is bool
            assert type(reward) is float
            if over:
                break
            legal = np.flatnonzero(info["action_mask"])
            anything = rng.random() < 0.05 or len(legal) == 0
            action = int(rng.integers(env.action_space.n) if anything else rng.choice(legal))
            observation, reward, over, truncated, info = env.step(action)
    return met


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("opponent", OPPONENTS)
def test_kernels_play_as_pettingzoo_does(game: str, opponent: str) -> None:
    """Observations, masks, rewards, flags, states and agents over many games of every game, from both seats."""
    games = 12 if opponent == "random" else 4
    by_kernels = SeatWrapper(ucd_envs.make(game, **GAMES[game]), OPPONENTS[opponent](), "random")
    by_steps = SeatWrapper(Opaque(ucd_envs.make(game, **GAMES[game])), OPPONENTS[opponent](), "random")
    met = course(by_kernels, games, 7)
    assert met == course(by_steps, games, 7)
    assert {entry[5] for entry in met[::2]} == {0, 1} or games == 4


def test_every_game_of_several_players_is_among_these() -> None:
    several = {name.rpartition("_v")[0] for name in ucd_envs.registry.OWN_GAMES if ucd_envs.make_rules(name).players > 1}
    assert several == set(GAMES)


@pytest.mark.parametrize("seat", [0, 1])
def test_wrappers_below_a_seat_change_what_learner_and_opponent_see(seat: int) -> None:
    shapes = set()

    def opponent(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
        shapes.add((observation.shape, observation.dtype, mask.shape, mask.dtype))
        return middle(observation, mask, rng)

    def seen(env: Any) -> Any:
        return SeatWrapper(FloatWrapper(FlatWrapper(ChannelsFirstWrapper(env))), opponent, seat)

    by_kernels, by_steps = seen(ucd_envs.make("hex", rows=3, columns=5)), seen(Opaque(ucd_envs.make("hex", rows=3, columns=5)))
    assert course(by_kernels, 3, 1) == course(by_steps, 3, 1)
    assert shapes == {((45,), np.dtype(np.float32), (15,), np.dtype(np.int8))}
    observation, _ = by_kernels.reset(seed=1)
    assert observation in by_kernels.observation_space


@pytest.mark.parametrize("game", ["connect_four", "pig", "einstein"])
@pytest.mark.parametrize("seat", [0, 1])
def test_an_agent_hears_every_move_and_every_outcome(game: str, seat: int) -> None:
    env, agent = SeatWrapper(ucd_envs.make(game, **GAMES[game]), Listener(), seat), None
    agent = env.opponent.agent  # type: ignore[attr-defined]
    assert len(course(env, 6, 3)) > 12
    assert len(set(agent.seeds)) == 6
    assert agent.stop is None


@pytest.mark.parametrize(
    "opponent", [*OPPONENTS.values(), lambda: "uct(playouts=6)", Listener], ids=lambda made: made().__class__
)
def test_what_an_opponent_draws_follows_from_the_seed(opponent: Callable[[], Any]) -> None:
    """In the first game and in those after it; a copied planner keeps the seed of its own."""
    first, again, other = (course(SeatWrapper(ucd_envs.make("othello"), opponent(), "random"), 3, seed) for seed in (5, 5, 6))
    assert first == again != other


def test_a_planner_keeps_its_own_seed() -> None:
    planner = uct(playouts=10, seed=4)
    course(SeatWrapper(ucd_envs.make("tic_tac_toe"), planner), 2, 1)
    assert planner.seed == 4


def test_a_text_is_the_planner_that_it_names() -> None:
    by_text = course(SeatWrapper(ucd_envs.make("othello"), "uct(playouts=9)"), 2, 1)
    assert by_text == course(SeatWrapper(ucd_envs.make("othello"), uct(playouts=9)), 2, 1)


def test_the_seat_is_drawn_anew_at_each_reset() -> None:
    """100 games: each seat 50 times, with a standard deviation of 5."""
    env = SeatWrapper(ucd_envs.make("hex", size=3), seat="random")
    seats = []
    for game in range(100):
        env.reset(seed=game)
        seats.append(env.seat)
        assert env.agent_selection == f"player_{env.seat}"
    assert 25 < sum(seats) < 75


def test_an_opponent_moves_in_a_third_party_game() -> None:
    """Random moves, a function and a planner, which learns to leave a multiple of four sticks."""

    class Sticks(HookedSticks):
        render_mode = None

        def observation_space(self, agent: str) -> Any:
            box = super().observation_space(agent)
            return gymnasium.spaces.Dict({"observation": box, "action_mask": gymnasium.spaces.MultiBinary(3)})

    lost = []
    for opponent in ("random", middle, uct(playouts=400, seed=1), "uct(playouts=400)"):
        env = SeatWrapper(Sticks(9), opponent)
        for game in range(5):
            _, info = env.reset(seed=game)
            over, choices = False, np.random.default_rng(game)
            while not over:
                _, reward, over, _, info = env.step(int(choices.choice(np.flatnonzero(info["action_mask"]))))
            lost.append(reward)
    assert len(set(lost[:10])) > 1
    with pytest.raises(ValueError, match=r"\Athe opponent Listener plays the games of ucd_envs only\Z"):
        SeatWrapper(Sticks(9), Listener())


def test_the_end_before_the_learners_first_move_is_paid_by_its_first_step() -> None:
    """Seat 1 of Hex on one cell."""
    env = SeatWrapper(ucd_envs.make("hex", size=1), seat=1)
    _, info = env.reset(seed=1)
    assert not info["action_mask"].any()
    assert env.step(0)[1:4] == (-1.0, True, False)
    with pytest.raises(ValueError, match=r"\Athe game is over: call reset\(\) to start another\Z"):
        env.step(0)
    by_steps = SeatWrapper(Opaque(ucd_envs.make("hex", size=1)), seat=1)
    by_steps.reset(seed=1)
    assert by_steps.step(0)[1:4] == (-1.0, True, False)


class Resigning(Listener):
    def choose(self, state: Any, moves: Sequence[tuple[int, int]]) -> Move:
        return Move(None)


@pytest.mark.parametrize("below", [lambda env: env, Opaque])
def test_an_agent_that_resigns_has_lost(below: Callable[[Any], Any]) -> None:
    env = SeatWrapper(below(ucd_envs.make("hex", size=3)), Resigning())
    env.reset()
    _, reward, terminated, truncated, info = env.step(4)
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert not info["action_mask"].any()
    assert env.rewards == {"player_0": 1.0, "player_1": -1.0}
    state = env.clone_state()
    env.reset()
    env.restore_state(state)
    assert env.terminations["player_0"]


# Errors


def always(answer: Any) -> Callable[..., Any]:
    def stubborn(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> Any:
        return answer

    return stubborn


@pytest.mark.parametrize("below", [lambda env: env, Opaque])
@pytest.mark.parametrize("answer", [4, 9, -1, 1.0, True, None, "b2"], ids=repr)
def test_an_illegal_move_of_an_opponent_is_told(below: Callable[[Any], Any], answer: Any) -> None:
    env = SeatWrapper(below(ucd_envs.make("tic_tac_toe")), always(answer))
    env.reset()
    with pytest.raises(ValueError, match=r"\Athe opponent stubborn chose .{1,9}, which is no legal action\Z"):
        env.step(4)
    with pytest.raises(ValueError, match=r"\Aplayer_1 is to move, but the learner is player_0: reset from this state\Z"):
        env.step(0)


@pytest.mark.parametrize("below", [lambda env: env, Opaque])
def test_an_opponent_that_raises_is_told(below: Callable[[Any], Any]) -> None:
    def broken(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
        raise KeyError("weights\nand more")

    env = SeatWrapper(below(ucd_envs.make("tic_tac_toe")), broken)
    env.reset()
    with pytest.raises(RuntimeError, match=r"\Athe opponent broken failed: KeyError: 'weights\\nand more'\Z"):
        env.step(4)
    env.reset()
    assert env.clone_state().ply == 0


@pytest.mark.parametrize(
    ("opponent", "error", "text"),
    [
        (7, TypeError, r"an opponent is 'random', the text of a planner or agent, a function .*, not 7"),
        (None, TypeError, r"an opponent is 'random', .*, not None"),
        (Listener, TypeError, r"an opponent is 'random', .*, not the class Listener"),
        ("strongest", ValueError, r"unknown [a-z ]+ 'strongest': expected one of .*"),
        ("uct(c=", ValueError, r"planner 'uct\(c=' does not parse: .*"),
        ("uct", ValueError, r"uct has no budget: .*"),
        ("no_such_module:agent", ValueError, r"no_such_module:agent cannot be imported: .*"),
    ],
)
def test_what_is_no_opponent_is_refused(opponent: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=rf"\A{text}\Z"):
        SeatWrapper(ucd_envs.make("hex"), opponent)


@pytest.mark.parametrize("seat", [-1, 2, True, "a", 0.0, None])
def test_a_seat_is_a_number_or_random(seat: Any) -> None:
    with pytest.raises(ValueError, match=r"\Aseat must be from 0 to 1 or 'random', not [^\n]+\Z"):
        SeatWrapper(ucd_envs.make("hex"), seat=seat)


def test_a_game_of_one_player_has_no_seat_for_an_opponent() -> None:
    with pytest.raises(ValueError, match=r"\Aa game of one player has no seat for an opponent: MoverViewWrapper shows it to "):
        SeatWrapper(ucd_envs.make("leftright"))


def test_a_step_before_the_reset_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\Ano game has begun: call reset\(\) first\Z"):
        SeatWrapper(ucd_envs.make("hex")).step(0)


@pytest.mark.parametrize("opponent", ["random", middle], ids=["random", "middle"])
@pytest.mark.parametrize(
    "kernels",
    [
        {"legal_actions": test_guards.no_actions},
        {"legal_actions": test_guards.too_many_actions},
        {"legal_actions": test_guards.an_action_too_large},
        {"legal_actions": test_guards.an_action_below_zero},
        {"play": test_guards.play_to_player_5},
        {"play": test_guards.play_to_player_minus_7},
    ],
    ids=lambda kernels: next(iter(kernels.values())).__name__,
)
def test_a_faulty_game_is_told(kernels: dict[str, Any], opponent: Any) -> None:
    """It breaks its contract at its third ply. Random moves of a player that there is not do no harm."""
    rules = test_guards.with_kernels(**kernels)
    env = SeatWrapper(environment(rules), opponent)
    _, info = env.reset(seed=1)

    def play_on() -> None:
        mask, over = info["action_mask"], False
        while not over:
            _, _, over, _, told = env.step(int(np.flatnonzero(mask)[0]))
            mask = told["action_mask"]

    if opponent == "random" and kernels.get("play") is test_guards.play_to_player_5:
        play_on()
    else:
        with pytest.raises(RuntimeError, match=r"\Afaulty_v0\(.*\) breaks its contract: ucd_envs.check tells how\Z"):
            play_on()


# Copies


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deepcopy", "pickle"])
@pytest.mark.parametrize("opponent", ["random", middle, "uct(playouts=6)"], ids=["random", "middle", "uct"])
def test_a_copy_goes_on_as_its_original(copied: Callable[[Any], Any], opponent: Any) -> None:
    env = SeatWrapper(FlatWrapper(ucd_envs.make("einstein")), opponent)
    env.reset(seed=3)
    env.step(int(np.flatnonzero(env.action_masks())[0]))
    twin = copied(env)
    action = int(np.flatnonzero(env.action_masks())[0])
    here, there = env.step(action), twin.step(action)
    assert here[0].tolist() == there[0].tolist()
    assert env.clone_state() == twin.clone_state()


@pytest.mark.parametrize("opponent", ["random", middle, "uct(playouts=6)"], ids=["random", "middle", "uct"])
def test_a_clone_has_the_state_of_its_original_and_draws_of_its_own(opponent: Any) -> None:
    """T10, T13: a view of the same kind, not the raw game; twenty answers on an empty board are not all alike."""
    env = SeatWrapper(FlatWrapper(ucd_envs.make("hex", size=8)), opponent)
    env.reset(seed=3)
    answers = set()
    for _ in range(20):
        twin = env.clone()
        assert type(twin) is SeatWrapper
        assert twin.clone_state() == env.clone_state()
        twin.step(0)
        answers.add(twin.clone_state())
    assert len(answers) > 1
    assert env.clone_state().ply == 0


def test_an_opponent_that_cannot_be_copied_is_told() -> None:
    class Held(Scripted):
        def __deepcopy__(self, memo: Any) -> Any:
            raise TypeError("it holds a process")

    env = SeatWrapper(ucd_envs.make("hex"), Held())
    env.reset()
    with pytest.raises(TypeError, match=r"\ASeatWrapper<hex_v0> cannot be copied: it holds a process\Z"):
        env.clone()


def test_a_window_shows_every_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """The games with and without a window are the same."""
    shown: list[int] = []
    env = SeatWrapper(ucd_envs.make("tic_tac_toe", render_mode="human"))
    monkeypatch.setattr("ucd_envs.envs.aec.BoardEnv.render", lambda board: shown.append(board.clone_state().ply))
    seen = course(env, 2, 3)
    assert seen == course(SeatWrapper(ucd_envs.make("tic_tac_toe")), 2, 3)
    assert shown[:4] == [1, 2, 3, 4]
    assert env.clone().render_mode is None


def test_no_planner_is_imported_before_a_text_names_one() -> None:
    program = (
        "import sys, gymnasium, ucd_envs; env = gymnasium.make('ucd_envs/TicTacToe-v0'); env.reset(seed=1); env.step(4); "
        "assert not [name for name in sys.modules if name.startswith('ucd_planners')]; "
        "gymnasium.make('ucd_envs/TicTacToe-v0', opponent='uct(playouts=2)'); assert 'ucd_planners.arena.agents' in sys.modules"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
