"""Views of a game for one learner: Gymnasium environments of their own, with masks, seats and states to begin from."""

from __future__ import annotations

from typing import Any

import gymnasium
import hash_game
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from test_foreign import HookedSticks

import ucd_envs
from ucd_envs.envs.aec import environment
from ucd_envs.envs.single import SinglePlayerEnv
from ucd_envs.envs.wrappers import ChannelsFirstWrapper, MoverViewWrapper, SeatWrapper
from ucd_planners import uct

IDS = {
    "ucd_envs/ConnectFour-v0": {"columns": 5, "rows": 4},
    "ucd_envs/Go-v0": {"size": 5},
    "ucd_envs/Havannah-v0": {"base": 3},
    "ucd_envs/Hex-v0": {"size": 5, "swap": True},
    "ucd_envs/TicTacToe-v0": {},
    "ucd_envs/EinStein-v0": {},
    "ucd_envs/Pig-v0": {"target": 20},
    "ucd_envs/TwentyFortyEight-v0": {"rows": 3, "columns": 3, "highest": 32},
    "ucd_envs/LeftRight-v0": {"steps": 9},
    "ucd_envs/Breakthrough-v0": {"rows": 5, "columns": 4},
    "ucd_envs/CaptureTheKing-v0": {"plies": 20},
    "ucd_envs/CrissCross-v0": {},
    "ucd_envs/Knightthrough-v0": {"rows": 5, "columns": 4},
    "ucd_envs/Merrills-v0": {},
    "ucd_envs/Othello-v0": {"size": 6, "payoff": "discs"},
    "ucd_envs/PawnWhopping-v0": {"rows": 6, "columns": 4},
    "ucd_envs/Pentago-v0": {},
    "ucd_envs/Quarto-v0": {},
}
every_id = pytest.mark.parametrize("name", IDS)
quiet = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")


def made(name: str, **more: Any) -> Any:
    """The environment of an id with its settings."""
    return gymnasium.make(name, **IDS[name], **more)


def episode(env: Any, seed: int | None, choices: np.random.Generator) -> list[Any]:
    """Observations, rewards and masks of an episode of masked random moves."""
    observation, info = env.reset(seed=seed)
    course, over = [observation.tolist(), info["action_mask"].tolist()], False
    while not over:
        masks = env.unwrapped.action_masks()
        assert masks.tolist() == info["action_mask"].astype(bool).tolist()
        assert masks.any()
        observation, reward, terminated, truncated, info = env.step(int(choices.choice(np.flatnonzero(masks))))
        assert observation in env.observation_space
        course += [observation.tolist(), reward, info["action_mask"].tolist()]
        over = terminated or truncated
    assert not info["action_mask"].any()
    return course


@every_id
@quiet
def test_every_game_is_made_by_gymnasium_and_passes_its_check(name: str) -> None:
    """F2-50: gymnasium.make("ucd_envs/Hex-v0") did not exist."""
    env = made(name)
    assert isinstance(env.unwrapped, gymnasium.Env)
    assert env.unwrapped.unwrapped is env.unwrapped
    check_env(env.unwrapped, skip_render_check=True)


@pytest.mark.parametrize("game", ["hex", "tic_tac_toe", "connect_four"])
@quiet
def test_gymnasiums_check_passes_on_every_view(game: str) -> None:
    """F2-50: 'BoardEnv' object has no attribute '_np_random'."""
    for view in (
        MoverViewWrapper(ucd_envs.make(game)),
        SeatWrapper(ucd_envs.make(game), seat=1),
        MoverViewWrapper(ChannelsFirstWrapper(ucd_envs.make(game))),
    ):
        assert view.unwrapped is view
        check_env(view, skip_render_check=True)


@every_id
def test_episodes_are_repeated_by_their_seed(name: str) -> None:
    """Opponents draw from the generator that reset seeds."""
    first, again, other = (episode(made(name), seed, np.random.default_rng(1)) for seed in (5, 5, 6))
    assert first == again
    assert (first != other) == (name != "ucd_envs/LeftRight-v0")


@pytest.mark.parametrize("seat", [0, 1])
def test_a_seat_sees_only_its_own_turns_and_is_paid_its_own_rewards(seat: int) -> None:
    """F2-50: over many games it wins and loses, each with the reward of its agent; the other moves first for seat 1."""
    env, choices = SeatWrapper(ucd_envs.make("tic_tac_toe"), seat=seat), np.random.default_rng(3)
    paid = set()
    for game in range(60):
        env.reset(seed=game)
        assert env.clone_state().ply == seat
        over = False
        while not over:
            assert env.agent_selection == f"player_{seat}"
            before = env.clone_state().ply
            _, reward, over, truncated, _ = env.step(int(choices.choice(np.flatnonzero(env.action_masks()))))
            assert not truncated
            assert 1 <= env.clone_state().ply - before <= 2
            assert reward == (0.0 if not over else 2 * env.clone_state().payoffs()[seat] - 1)
        paid.add(reward)
    assert paid == {-1.0, 0.0, 1.0}


def test_the_replies_are_uniform() -> None:
    """Eight replies to the first move of tic-tac-toe, 4000 times: 500 each, with a standard deviation of 21."""
    env = SeatWrapper(ucd_envs.make("tic_tac_toe"))
    replies = np.zeros(9)
    env.reset(seed=1)
    start = env.clone_state()
    for _ in range(4000):
        env.restore_state(start)
        env.step(4)
        replies[[action for action in range(9) if action != 4 and not env.action_masks()[action]]] += 1
    assert replies[4] == 0
    assert abs(replies[[0, 1, 2, 3, 5, 6, 7, 8]] - 500).max() < 110


@pytest.mark.parametrize("kind", [SeatWrapper, MoverViewWrapper])
def test_an_illegal_move_of_the_learner_ends_the_game_against_it(kind: Any) -> None:
    """An end of the game is none of the learning: Gymnasium's check fails where the first step truncates."""
    env = kind(ucd_envs.make("tic_tac_toe"))
    env.reset(seed=0)
    env.step(4)
    assert env.step(4)[1:4] == (-1.0, True, False)


def test_a_game_that_is_over_is_not_played_on() -> None:
    env = SeatWrapper(ucd_envs.make("tic_tac_toe"))
    env.reset(seed=0)
    env.step(4)
    env.step(4)
    with pytest.raises(ValueError, match=r"\Athe game is over: call reset\(\) to start another\Z"):
        env.step(0)


@pytest.mark.parametrize("seat", [-1, 2, True, "a"])
def test_a_seat_that_there_is_not_is_refused(seat: Any) -> None:
    with pytest.raises(ValueError, match="seat must be"):
        SeatWrapper(ucd_envs.make("hex"), seat=seat)


def test_a_restored_state_of_another_mover_is_not_played_on() -> None:
    """The learner would move for its opponent."""
    env = SeatWrapper(ucd_envs.make("hex", size=3))
    env.reset(seed=0)
    state = ucd_envs.make_rules("hex", size=3).initial_state().after(4)
    env.restore_state(state)
    assert env.clone_state() == state
    assert not env.action_masks().any()
    with pytest.raises(ValueError, match=r"\Aplayer_1 is to move, but the learner is player_0: reset from this state\Z"):
        env.step(0)
    env.reset(options={"state": state})
    assert env.clone_state().ply == 2
    assert env.clone_state().array().tolist() != state.array().tolist()


VIEWS = {
    "aec": lambda: ucd_envs.make("hex", size=4),
    "raw": lambda: ucd_envs.make("hex", size=4).unwrapped,
    "mover": lambda: MoverViewWrapper(ucd_envs.make("hex", size=4)),
    "seat": lambda: SeatWrapper(ucd_envs.make("hex", size=4)),
    "gymnasium": lambda: gymnasium.make("ucd_envs/Hex-v0", size=4),
}


@pytest.mark.parametrize("view", VIEWS)
def test_reset_begins_from_a_state(view: str) -> None:
    """F2-50: the option was ignored."""
    state = ucd_envs.make_rules("hex", size=4).initial_state().after(5).after(6)
    env = VIEWS[view]()
    env.reset(seed=1, options={"state": state})
    assert env.unwrapped.clone_state() == state
    env.reset(seed=1, options={"other": 3})
    assert env.unwrapped.clone_state().ply == 0
    env.step(7)
    env.reset(seed=1)
    assert env.unwrapped.clone_state().ply == 0


def test_reset_of_a_single_player_begins_from_a_state() -> None:
    """F2-50."""
    env = gymnasium.make("ucd_envs/LeftRight-v0", steps=4)
    state = ucd_envs.make_rules("leftright", steps=4).initial_state().after(1)
    seen, info = env.reset(options={"state": state})
    assert env.unwrapped.clone_state() == state  # type: ignore[attr-defined]
    assert seen.sum() == 1
    assert info["action_mask"].tolist() == [1, 1]


@pytest.mark.parametrize("view", ["mover", "seat", "gymnasium"])
def test_an_episode_does_not_begin_from_a_finished_state(view: str) -> None:
    state = ucd_envs.make_rules("hex", size=4).initial_state()
    for action in (0, 1, 4, 5, 8, 9, 12):
        state = state.after(action)
    assert state.over
    with pytest.raises(ValueError, match=r"\Athe game is over in this state: there is no move to make\Z"):
        VIEWS[view]().reset(options={"state": state})
    single = ucd_envs.make_rules("leftright", steps=1).initial_state().after(0)
    with pytest.raises(ValueError, match=r"\Athe game is over in this state: there is no move to make\Z"):
        SinglePlayerEnv(single.rules).reset(options={"state": single})


@pytest.mark.parametrize("view", VIEWS)
def test_what_is_no_state_of_the_game_is_refused(view: str) -> None:
    for state, error in ((7, TypeError), (ucd_envs.make_rules("hex", size=5).initial_state(), ValueError)):
        with pytest.raises(error):
            VIEWS[view]().reset(options={"state": state})


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("action", [True, False])
def test_a_truth_is_no_action(view: str, action: Any) -> None:
    """F2-50: env.step(True) played action 1."""
    env = VIEWS[view]()
    env.reset(seed=0)
    state = env.unwrapped.clone_state()
    with pytest.raises(ValueError, match=rf"\Aan action is a whole number from 0 to 15, not {action}\Z"):
        env.unwrapped.step(action) if view == "gymnasium" else env.step(action)
    assert env.unwrapped.clone_state() == state


def test_a_truth_of_numpy_is_no_action() -> None:
    env = ucd_envs.make("hex", size=4).unwrapped
    env.reset()
    with pytest.raises(ValueError, match=r"\Aan action is a whole number from 0 to 15, not (np\.)?True_?\Z"):
        env.step(np.True_)


def test_a_truth_is_no_step_of_a_single_player() -> None:
    """F2-50."""
    env = SinglePlayerEnv(ucd_envs.make_rules("leftright", steps=3))
    env.reset()
    with pytest.raises(ValueError, match=r"\Aan action is a whole number from 0 to 1, not True\Z"):
        env.step(True)


@pytest.mark.parametrize("view", ["mover", "seat", "gymnasium"])
def test_planners_plan_in_the_game_below_a_view(view: str) -> None:
    env, below = VIEWS[view](), ucd_envs.make("hex", size=4)
    env.reset(seed=0)
    below.reset()
    assert uct(playouts=200, seed=1).search(env).visits.tolist() == uct(playouts=200, seed=1).search(below).visits.tolist()


def test_planners_plan_in_a_third_party_game_below_a_view() -> None:
    """The view is an environment of its own, but the hooks are those of the game with all its players."""

    class Seen(HookedSticks):
        def observation_space(self, agent: str) -> Any:
            box = super().observation_space(agent)
            return gymnasium.spaces.Dict({"observation": box, "action_mask": gymnasium.spaces.MultiBinary(3)})

    below = Seen(9)
    below.reset()
    env = MoverViewWrapper(below)
    env.reset()
    found, expected = uct(playouts=300, seed=1).search(env), uct(playouts=300, seed=1).search(below)
    assert found.visits.tolist() == expected.visits.tolist()
    assert found.state.rules.players == 2


def test_three_players_take_part_through_a_seat() -> None:
    """Two opponents reply to each move. A game that they end before the learner's turn has no move to make."""
    rules = hash_game.rules(seed=3, players=3, width=8, branching=4, plies=9)
    least, most = rules.rewards
    unplayed = 0
    for seat in range(3):
        env, choices = SeatWrapper(environment(rules), seat=seat), np.random.default_rng(seat)
        for game in range(10):
            _, info = env.reset(seed=game)
            if env.clone_state().over:
                unplayed += 1
                assert not info["action_mask"].any()
                continue
            over = False
            while not over:
                assert env.agent_selection == f"player_{seat}"
                _, reward, over, _, _ = env.step(int(choices.choice(np.flatnonzero(env.action_masks()))))
            assert reward == pytest.approx(least + (most - least) * env.clone_state().payoffs()[seat])
    assert 0 < unplayed < 10
