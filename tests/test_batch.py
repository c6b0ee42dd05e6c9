"""Many games at once: in lock-step with environments of one game, Gymnasium's contract, threads, snapshots, bad input."""

from __future__ import annotations

import copy
import os
import pickle
import re
import signal
import threading
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import gymnasium
import hash_game
import numpy as np
import pytest
import test_guards
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

import ucd_envs
from ucd_envs import registry
from ucd_envs.envs import crew
from ucd_envs.envs.aec import IllegalMoveError, environment
from ucd_envs.envs.batch import BatchEnv
from ucd_envs.envs.single import SinglePlayerEnv
from ucd_envs.envs.wrappers import MoverViewWrapper
from ucd_envs.rules import Rules

SAME, NEXT, DISABLED = AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED
CONFIGURATIONS = [(name, example) for name in registry.available() for example in registry.examples(name)]


def actions_of(masks: np.ndarray, rng: np.random.Generator, illegal: float = 0.0) -> np.ndarray:
    """Random legal actions of masks, 0 where there is none; now and then one of all actions instead."""
    actions = np.array([rng.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in masks])
    wild = rng.random(len(actions)) < illegal
    actions[wild] = rng.integers(masks.shape[1], size=int(wild.sum()))
    return actions


# Lock-step with environments of one game


def lockstep(rules: Rules, count: int, games: int, seed: int, illegal: float = 0.0, most_steps: int = 10**9) -> int:
    """Plays games in a batch and in as many AEC environments, and asserts at every ply that they agree; how many ended.

    Compared are the player to move, its observation and mask, the rewards of all players, and the end with its observation.
    With one seed, chance draws the same outcomes.
    """
    batch = BatchEnv(rules, count, threads=1)
    seen, infos = batch.reset(seed=seed)
    singles = [environment(rules) for _ in range(count)]
    for i, env in enumerate(singles):
        env.reset(seed=seed + i)
    rng, ended, steps = np.random.default_rng(seed), 0, 0
    while ended < games and steps < most_steps:
        movers = infos["player"]
        for i, env in enumerate(singles):
            expected = env.observe(env.agent_selection)
            assert env.agent_selection == f"player_{movers[i]}"
            assert np.array_equal(expected["observation"], seen[i])
            assert np.array_equal(expected["action_mask"], infos["action_mask"][i])
        actions = actions_of(infos["action_mask"], rng, illegal)
        seen, rewards, over, cut, infos = batch.step(actions)
        assert not cut.any()
        for i, env in enumerate(singles):
            env.step(int(actions[i]))
            assert list(env.rewards.values()) == infos["rewards"][i].tolist()
            assert env.rewards[f"player_{movers[i]}"] == rewards[i]
            assert env.terminations[env.agent_selection] == over[i]
            if over[i]:
                assert np.array_equal(env.observe(env.agent_selection)["observation"], infos["final_obs"][i])
                env.reset()
        ended, steps = ended + int(over.sum()), steps + 1
    return ended


@pytest.mark.parametrize(("name", "settings"), CONFIGURATIONS, ids=str)
def test_a_batch_is_in_step_with_single_games(name: str, settings: dict[str, Any]) -> None:
    """Every game of the registry with its options, some moves being illegal."""
    rules = registry.make_rules(name, **settings)
    assert lockstep(rules, 4, 12, seed=5, illegal=0.02, most_steps=100) > 0 or rules.max_plies > 100


@pytest.mark.slow
@pytest.mark.parametrize("name", registry.available())
def test_ten_thousand_games_are_in_step(name: str) -> None:
    assert lockstep(registry.make_rules(name), 50, 10_000, seed=9) >= 10_000


@pytest.mark.parametrize(("players", "chance"), [(1, 0), (3, 0), (3, 3)])
def test_games_of_any_number_of_players_are_in_step(players: int, chance: int) -> None:
    """Movers come in any order, and several times in a row; every player has a payoff of its own."""
    rules = hash_game.rules(seed=3, players=players, plies=8, chance=chance)
    assert lockstep(rules, 8, 200, seed=1) >= 200


# Gymnasium's contract


def gymnasiums_own(rules: Rules, count: int, mode: AutoresetMode) -> SyncVectorEnv:
    """Gymnasium's vector environment of views that show the mover."""
    make = (lambda: SinglePlayerEnv(rules)) if rules.players == 1 else lambda: MoverViewWrapper(environment(rules))
    return SyncVectorEnv([make] * count, autoreset_mode=mode)


@pytest.mark.parametrize("mode", [SAME, NEXT, DISABLED])
@pytest.mark.parametrize("name", ["connect_four", "leftright", "twenty_forty_eight", "einstein"])
def test_a_batch_returns_what_gymnasiums_own_vector_returns(name: str, mode: AutoresetMode) -> None:
    """Observations, rewards, ends, masks, and the ends of games that were begun anew, in each of Gymnasium's modes."""
    rules = registry.make_rules(name, **({"steps": 5} if name == "leftright" else {}))
    ours, theirs = BatchEnv(rules, 3, autoreset_mode=mode), gymnasiums_own(rules, 3, mode)
    (seen, infos), (expected, others) = ours.reset(seed=4), theirs.reset(seed=4)
    rng, ended, over = np.random.default_rng(1), 0, np.zeros(3, bool)
    for _ in range(400 if name == "twenty_forty_eight" else 150):
        if mode is DISABLED and over.any():
            options = {"reset_mask": over}
            (seen, infos), (expected, others) = ours.reset(options=dict(options)), theirs.reset(options=dict(options))
        assert np.array_equal(seen, expected)
        assert seen.dtype == expected.dtype
        told = others["_action_mask"]
        assert np.array_equal(infos["action_mask"][told], others["action_mask"][told])
        actions = actions_of(infos["action_mask"], rng)
        found, wanted = ours.step(actions), theirs.step(actions)
        for one, other in zip(found[1:4], wanted[1:4], strict=True):
            assert np.array_equal(one, other)
            assert one.dtype == other.dtype
        (seen, _, over, _, infos), (expected, _, _, _, others) = found, wanted
        ended += int(over.sum())
        assert ("final_obs" in infos) == ("final_obs" in others)
        if "final_obs" in infos:
            assert np.array_equal(infos["_final_obs"], others["_final_obs"])
            for one, other in zip(infos["final_obs"], others["final_obs"], strict=True):
                assert (one is None and other is None) or np.array_equal(one, other)
            told = infos["_final_info"]
            assert np.array_equal(infos["final_info"]["action_mask"][told], others["final_info"]["action_mask"][told])
    assert ended > 1
    assert theirs.observation_space == ours.observation_space
    assert theirs.action_space == ours.action_space
    assert theirs.single_observation_space == ours.single_observation_space
    assert theirs.single_action_space == ours.single_action_space
    theirs.close()


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize("mode", [SAME, NEXT])
def test_spaces_contain_what_comes_out(mode: AutoresetMode, fresh: bool) -> None:
    env = ucd_envs.batch("hex", 70, size=3, autoreset_mode=mode, copy=fresh)
    assert isinstance(env, gymnasium.vector.VectorEnv)
    assert env.metadata["autoreset_mode"] is mode
    seen, infos = env.reset(seed=1)
    for _ in range(30):
        assert env.observation_space.contains(seen)
        actions = env.sample_actions()
        assert env.action_space.contains(actions)
        assert np.array_equal(env.action_masks(), infos["action_mask"].astype(bool))
        seen, rewards, over, cut, infos = env.step(actions)
        for array, shape, dtype in (
            *((rewards, (70,), np.float64), (over, (70,), np.bool_), (cut, (70,), np.bool_)),
            *((infos["player"], (70,), np.int32), (infos["rewards"], (70, 2), np.float64)),
            (infos["action_mask"], (70, 9), np.int8),
        ):
            assert (array.shape, array.dtype) == (shape, dtype)
        assert env.single_observation_space.contains(seen[0])


def test_gymnasiums_wrappers_of_vectors_work() -> None:
    """Tic-tac-toe takes five to nine moves, and the last mover does not lose."""
    env = DictInfoToList(RecordEpisodeStatistics(ucd_envs.batch("tic_tac_toe", 5)))
    _, infos = env.reset(seed=1)
    episodes = []
    for _ in range(30):
        _, _, _, _, infos = env.step(env.unwrapped.sample_actions())
        assert [sorted(info)[:1] for info in infos] == [["action_mask"]] * 5
        episodes += [info["episode"] for info in infos if "episode" in info]
    assert len(episodes) > 10
    assert all(5 <= episode["l"] <= 9 and episode["r"] in (0, 1) for episode in episodes)


def test_arrays_are_fresh_or_the_same() -> None:
    for fresh in (True, False):
        env = ucd_envs.batch("tic_tac_toe", 3, copy=fresh)
        first, infos = env.reset(seed=1)
        before, mask = first.copy(), infos["action_mask"].copy()
        second, _, _, _, others = env.step([4, 4, 4])
        assert np.array_equal(first, before) == fresh
        assert np.array_equal(infos["action_mask"], mask) == fresh
        assert np.shares_memory(first, second) != fresh
        assert np.shares_memory(infos["action_mask"], others["action_mask"]) != fresh
        assert env.step(env.sample_actions())[0].any()


# Illegal actions


def test_an_illegal_action_forfeits_or_raises() -> None:
    """The second player of game 1 takes the cell that the first has taken."""
    env = ucd_envs.batch("tic_tac_toe", 3, autoreset_mode=NEXT)
    env.reset(seed=1)
    env.step([4, 4, 4])
    _, rewards, over, cut, infos = env.step([0, 4, 0])
    assert (rewards.tolist(), over.tolist(), cut.any()) == ([0, -1, 0], [False, True, False], False)
    assert infos["rewards"].tolist() == [[0, 0], [0, -1], [0, 0]]
    assert (infos["player"].tolist(), infos["action_mask"][1].any()) == ([0, -1, 0], False)
    _, rewards, over, _, infos = env.step([1, 77, 1])  # the action of an ended game is ignored
    assert (rewards[1], over[1], infos["player"].tolist(), infos["action_mask"][1].all()) == (0, False, [1, 0, 1], True)

    raising = ucd_envs.batch("tic_tac_toe", 3, illegal="raise")
    raising.reset(seed=1)
    raising.step([4, 4, 4])
    before = raising.clone_states()
    with pytest.raises(IllegalMoveError, match=r"\Agame 1: move b2 is not legal: the cell is taken\Z"):
        raising.step([0, 4, 0])
    assert raising.clone_states() == before


# Threads


def digest(env: BatchEnv, steps: int, first: int = 10**9) -> list[bytes]:
    """All that a batch returns for its first games while its own random actions are played."""
    seen, infos = env.reset(seed=7)
    found = [seen[:first].tobytes(), infos["action_mask"][:first].tobytes()]
    for _ in range(steps):
        actions = env.sample_actions()
        seen, rewards, over, _, infos = env.step(actions)
        arrays = (actions, seen, rewards, over, infos["action_mask"], infos["player"], infos["rewards"])
        found += [array[:first].tobytes() for array in arrays]
    return found


@pytest.mark.parametrize("name", ["connect_four", "twenty_forty_eight", "einstein", "pig", "go"])
def test_results_do_not_depend_on_threads_or_on_the_size_of_a_batch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = registry.make_rules(name)
    alone = digest(BatchEnv(rules, 150, threads=1), 40)
    assert digest(BatchEnv(rules, 150, threads=2), 40) == alone
    monkeypatch.setattr(crew, "LEAST_SECONDS", 0.0)
    assert digest(BatchEnv(rules, 150, threads=2), 40) == alone
    assert digest(BatchEnv(rules, 300, threads=2), 40, first=150) == alone
    monkeypatch.setattr(crew, "LEAST_SHARE", 1)
    for threads in (3, 7):
        env = BatchEnv(rules, 150, threads=threads)
        assert digest(env, 40) == alone
        env.close()


def test_games_are_shared_evenly() -> None:
    for threads, games, bounds in (
        (1, 500, [0, 500]),
        (4, 127, [0, 127]),
        (4, 128, [0, 64, 128]),
        (3, 1000, [0, 333, 666, 1000]),
    ):
        assert crew.Crew(threads, games).bounds == bounds


def test_threads_tell_what_goes_wrong_in_one_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error reaches the caller after all of them have ended, also that of the caller's own share."""
    monkeypatch.setattr(crew, "LEAST_SECONDS", 0.0)
    calls: list[tuple[int, int]] = []

    def fails(wrong: int, first: int, last: int) -> int:
        calls.append((first, last))
        if first == wrong:
            raise IndexError("index out of range")
        return -1

    team = crew.Crew(2, 128)
    for wrong in (0, 64):
        with pytest.raises(IndexError, match="index out of range"):
            team.run(fails, wrong)
    assert sorted(calls) == [(0, 64), (0, 64), (64, 128), (64, 128)]
    team.close()
    assert team.run(fails, 1) == -1


def last_game(_first: int, last: int) -> int:
    """A kernel that does nothing: the end of its run of games."""
    return last


def test_a_share_that_is_soon_done_is_no_work_for_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first call tells how long a game takes; a kernel that becomes slower is shared after all, each kernel for itself."""
    team, calls, now = crew.Crew(2, 128), list[tuple[int, int]](), [0.0]
    monkeypatch.setattr(crew, "time", SimpleNamespace(perf_counter=lambda: now[0]))

    def noted(seconds: float, first: int, last: int) -> int:
        calls.append((first, last))
        if first == 0:
            now[0] += seconds * last
        return last

    for _ in range(3):
        assert team.run(noted, 1e-6) == 128
    assert calls == [(0, 128)] * 3
    assert team.run(noted, 1e-4) == team.run(noted, 1e-4) == 128
    assert sorted(calls[3:]) == [(0, 64), (0, 128), (64, 128)]
    team.close()


def test_ctrl_c_leaves_no_thread_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes through when all of them have ended, and the next call is as good as the first."""
    monkeypatch.setattr(crew, "LEAST_SECONDS", 0.0)
    team, written = crew.Crew(2, 128), np.zeros(128, np.int64)

    def interrupted(first: int, last: int) -> int:
        if first == 0:
            raise KeyboardInterrupt
        time.sleep(0.2)
        written[first:last] += 1
        return last

    for count in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            team.run(interrupted)
        assert (written[64:] == count).all()
    assert team.run(last_game) == 128
    team.close()


def test_threads_end_with_their_crew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "LEAST_SECONDS", 0.0)
    known = set(threading.enumerate())
    for closes in (True, False):
        team = crew.Crew(3, 300)
        team.run(last_game)
        started = set(threading.enumerate()) - known
        assert len(started) == 2
        if closes:
            team.close()
        del team
        for thread in started:
            thread.join(5)
            assert not thread.is_alive()


def test_a_forked_process_has_threads_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "LEAST_SECONDS", 0.0)
    team = crew.Crew(2, 128)
    assert team.run(last_game) == 128
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if team.run(last_game) == 128 else 1)
    assert os.waitpid(child, 0)[1] == 0
    team.close()


# Seeds and sampled actions


def test_a_seed_is_that_of_the_first_game_or_of_each() -> None:
    """Chance draws the tiles of 2048."""
    env = ucd_envs.batch("twenty_forty_eight", 4)
    first = env.reset(seed=10)[0]
    assert np.array_equal(env.reset(seed=[10, 11, 12, 13])[0], first)
    assert np.array_equal(env.reset(seed=12)[0][:2], first[2:])
    assert not np.array_equal(env.reset()[0], first)
    again = env.reset(seed=[None, 11, None, None])[0]
    assert np.array_equal(again[1], first[1])
    env.reset(seed=10)
    alone = np.array([False, True, False, False])
    fresh, _ = env.reset(seed=10, options={"reset_mask": alone})
    assert np.array_equal(fresh, first)


def test_batches_without_a_seed_differ() -> None:
    one, other = (ucd_envs.batch("hex", 8) for _ in range(2))
    one.reset()
    other.reset()
    assert not np.array_equal(one.sample_actions(), other.sample_actions())


def test_sampled_actions_are_legal_and_equally_likely() -> None:
    """9,000 draws from nine cells: chi-square has eight degrees of freedom, and passes 30 once in 5,000 times."""
    env = ucd_envs.batch("tic_tac_toe", 9000)
    env.reset(seed=2)
    counts = np.bincount(env.sample_actions(), minlength=9)
    assert ((counts - 1000) ** 2 / 1000).sum() < 30
    for _ in range(8):
        actions = env.sample_actions()
        assert env.action_masks()[np.arange(9000), actions].all()
        env.step(actions)


# Snapshots


@pytest.mark.parametrize("name", [*registry.available()])
def test_restored_games_go_on_as_before(name: str) -> None:
    """All of them: the same actions lead to the same observations again, where chance has no part."""
    env = ucd_envs.batch(name, 6, autoreset_mode=NEXT)
    env.reset(seed=3)
    for _ in range(8):
        env.step(env.sample_actions())
    states, (seen, infos) = env.clone_states(), env.observe()

    def played() -> list[Any]:
        rng, mask = np.random.default_rng(1), infos["action_mask"]
        found = []
        for _ in range(12):
            after, *others, told = env.step(actions_of(mask, rng))
            mask = told["action_mask"]
            found.append([after, *others, *(told[key] for key in ("action_mask", "player", "rewards"))])
        return found

    first = played()
    env.restore_states(states)
    assert env.clone_states() == states
    back, told = env.observe()
    assert np.array_equal(back, seen)
    assert np.array_equal(told["action_mask"], infos["action_mask"])
    if not env.rules.has_chance:
        again = played()
        for before, after in zip(first, again, strict=True):
            assert all(map(np.array_equal, before, after))


def test_some_games_are_cloned_and_restored() -> None:
    env = ucd_envs.batch("connect_four", 5)
    env.reset(seed=1)
    env.step([0, 1, 2, 3, 4])
    mask = np.array([False, True, False, True, False])
    states = env.clone_states([1, 3])
    assert states == env.clone_states(mask) == [env.clone_states()[i] for i in (1, 3)]
    assert env.clone_states(2) == [env.clone_states()[2]]
    assert env.clone_states([]) == []
    env.step([5, 5, 5, 5, 5])
    after = env.clone_states()
    env.restore_states(states, mask)
    assert env.clone_states() == [after[0], states[0], after[2], states[1], after[4]]
    env.restore_states(states[0], [4, 2])
    assert env.clone_states() == [after[0], states[0], states[0], states[1], states[0]]
    seen, infos = env.observe()
    assert infos["player"].tolist() == [0, 1, 1, 1, 1]
    assert np.array_equal(seen[4], seen[1])


def test_snapshots_are_those_of_single_environments() -> None:
    """Of games that go on, and that have ended by the rules or by an illegal move; both ways."""
    env = ucd_envs.batch("tic_tac_toe", 3, autoreset_mode=DISABLED)
    env.reset(seed=1)
    singles = [ucd_envs.make("tic_tac_toe") for _ in range(3)]
    for single in singles:
        single.reset()
    games = ([4, 0, 1, 2, 7], [4, 0, 1, 2, 3], [4, 0, 1, 2, 4])
    for moves in zip(*games, strict=True):
        env.step(np.array(moves))
        for single, move in zip(singles, moves, strict=True):
            single.step(move)
    states, theirs = env.clone_states(), [single.unwrapped.clone_state() for single in singles]
    assert states == theirs
    assert [state.ending for state in states] == [state.ending for state in theirs]
    assert [state.over for state in states] == [True, False, True]
    seen, infos = env.observe()
    other = ucd_envs.batch("tic_tac_toe", 3, autoreset_mode=NEXT)
    other.restore_states(theirs)
    back, told = other.observe()
    assert np.array_equal(back, seen)
    assert (told["player"].tolist(), infos["player"].tolist()) == ([-1, 1, -1], [-1, 1, -1])
    assert other.step([0, 8, 0])[4]["player"].tolist() == [0, 0, 0]
    same = ucd_envs.batch("tic_tac_toe", 3)
    same.restore_states(theirs)
    assert same.step([0, 8, 0])[4]["player"].tolist() == [0, 0, 0]


def test_a_game_begins_from_a_state() -> None:
    state = registry.make_rules("hex", size=5).initial_state().after(12)
    env = ucd_envs.batch("hex", 4, size=5)
    _, infos = env.reset(seed=1, options={"state": state})
    assert infos["player"].tolist() == [1, 1, 1, 1]
    assert infos["action_mask"].sum(axis=1).tolist() == [24] * 4
    first, last = state.after(0), state.after(24)
    env.reset(options={"state": [first, last], "reset_mask": np.array([True, False, False, True])})
    assert env.clone_states() == [first, state, state, last]


def test_where_chance_is_to_move_an_outcome_is_drawn() -> None:
    """A tile comes in 2048; where it ends the game, the next step begins another."""
    rules = registry.make_rules("twenty_forty_eight", rows=2, columns=2)
    env = BatchEnv(rules, 40)
    _, infos = env.reset(seed=6)
    ends = 0
    for _ in range(12):
        states = [
            state.after(int(np.flatnonzero(mask)[0]))
            for state, mask in zip(env.clone_states(), env.action_masks(), strict=True)
        ]
        env.restore_states(states)
        _, infos = env.observe()
        over = infos["player"] == -1
        ends += int(over.sum())
        assert [state.ply for state in env.clone_states()] == [state.ply + 1 for state in states]
        assert env.action_masks().any(axis=1).tolist() == (~over).tolist()
        _, rewards, ended, _, infos = env.step(env.sample_actions())
        assert not rewards[over].any()
        assert not ended[over].any()
    assert ends > 5


def test_copies_go_on_alike_and_clones_draw_anew() -> None:
    env = ucd_envs.batch("twenty_forty_eight", 130, threads=2)
    env.reset(seed=1)
    env.step(env.sample_actions())
    pickled, deep, clone = pickle.loads(pickle.dumps(env)), copy.deepcopy(env), env.clone()
    for twin in (pickled, deep, clone):
        assert twin.clone_states() == env.clone_states()
        assert np.array_equal(twin.observe()[0], env.observe()[0])
    actions = env.sample_actions()
    seen = env.step(actions)[0]
    for twin in (pickled, deep):
        assert np.array_equal(twin.sample_actions(), actions)
        assert np.array_equal(twin.step(actions)[0], seen)
    assert not np.array_equal(clone.sample_actions(), actions)
    assert not np.array_equal(clone.step(actions)[0], seen)


# Bad input


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"num_envs": 0}, ValueError, "num_envs must be from 1 to 1048576, not 0"),
        ({"num_envs": 2**20 + 1}, ValueError, "num_envs must be from 1 to 1048576, not 1048577"),
        ({"num_envs": 2.0}, TypeError, "num_envs must be a whole number from 1 to 1048576, not 2.0"),
        ({"threads": 0}, ValueError, "threads must be from 1 to 1024, not 0"),
        ({"copy": 1}, TypeError, "copy must be True or False, not 1"),
        ({"illegal": "ignore"}, ValueError, "illegal must be 'forfeit' or 'raise', not 'ignore'"),
        (
            {"autoreset_mode": "later"},
            ValueError,
            "autoreset_mode must be an AutoresetMode or one of 'NextStep', 'SameStep', 'Disabled', not 'later'",
        ),
        ({"name": "hexx"}, ValueError, "unknown game 'hexx': expected one of .*"),
        ({"name": "spiel:tic_tac_toe"}, ValueError, "a batch holds compiled games, but .*tic_tac_toe.* calls back into Python"),
        ({"size": 99}, ValueError, "size must be from 1 to 19, not 99"),
        ({"sized": 5}, TypeError, "hex_v0 has no setting 'sized': expected one of .*"),
    ],
)
def test_a_batch_that_cannot_be_is_refused(options: dict[str, Any], error: type[Exception], text: str) -> None:
    given = {"name": "hex", "num_envs": 4} | options
    with pytest.raises(error, match=rf"\A{text}\Z"):
        ucd_envs.batch(given.pop("name"), given.pop("num_envs"), **given)


@pytest.mark.parametrize(
    ("actions", "found"),
    [
        ([0, 1], r"int64 of shape \(2,\)"),
        (3, r"int64 of shape \(\)"),
        (np.zeros((3, 1), int), r"int64 of shape \(3, 1\)"),
        (np.zeros(3), r"float64 of shape \(3,\)"),
        (np.zeros(3, bool), r"bool of shape \(3,\)"),
        (["0", "1", "2"], r"<U1 of shape \(3,\)"),
        ([[0], [1, 2], 3], r"object of shape \(0,\)"),
        (None, r"object of shape \(\)"),
    ],
)
def test_actions_are_one_whole_number_a_game(actions: Any, found: str) -> None:
    env = ucd_envs.batch("tic_tac_toe", 3)
    env.reset(seed=1)
    with pytest.raises(ValueError, match=rf"\Aactions must be whole numbers, one for each of 3 games, not {found}\Z"):
        env.step(actions)


@pytest.mark.parametrize("wrong", [-1, 9, 2**40])
@pytest.mark.parametrize("illegal", ["forfeit", "raise"])
def test_a_number_that_is_no_action_changes_nothing(wrong: int, illegal: str) -> None:
    env = ucd_envs.batch("tic_tac_toe", 3, illegal=illegal)
    env.reset(seed=1)
    with pytest.raises(ValueError, match=rf"\Agame 2: action {wrong} is not legal: actions are 0 to 8\Z"):
        env.step([0, 1, wrong])
    assert [state.ply for state in env.clone_states()] == [0, 0, 0]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_actions_are_of_any_integer_type(dtype: Any) -> None:
    env = ucd_envs.batch("tic_tac_toe", 3)
    env.reset(seed=1)
    env.step(np.array([0, 1, 2], dtype))
    assert [state.data for state in env.clone_states()] == [env.rules.initial_state().after(i).data for i in range(3)]
    with pytest.raises(ValueError, match=r"game 0: action \d+ is not legal"):
        env.step(np.array([np.iinfo(dtype).max, 0, 0], dtype))


def calls_before_a_reset() -> Sequence[tuple[str, tuple[Any, ...]]]:
    return [("step", ([0, 0, 0],)), ("observe", ()), ("action_masks", ()), ("sample_actions", ()), ("clone_states", ())]


@pytest.mark.parametrize(("name", "arguments"), calls_before_a_reset())
def test_a_batch_needs_a_reset(name: str, arguments: tuple[Any, ...]) -> None:
    env = ucd_envs.batch("tic_tac_toe", 3)
    with pytest.raises(ValueError, match=r"\Ano game has begun: call reset\(\) first\Z"):
        getattr(env, name)(*arguments)


@pytest.mark.parametrize(
    ("seed", "options", "error", "text"),
    [
        (-1, None, ValueError, r"seed must be from 0 to \d+, not -1"),
        ("a", None, TypeError, "seed must be a whole number or a sequence of them, not 'a'"),
        (1.5, None, TypeError, "seed must be a whole number or a sequence of them, not 1.5"),
        ([1, 2], None, ValueError, "seeds must be one for each of 3 games, not 2"),
        (None, {"reset_mask": [True, False, True]}, ValueError, r"reset_mask must be an array of 3 booleans, not .*"),
        (None, {"reset_mask": np.zeros(3, bool)}, ValueError, "reset_mask chooses no game"),
        (None, {"state": []}, ValueError, "there are 0 states for 3 games"),
        (None, {"state": 5}, TypeError, "states must be a State or a sequence of them, not int"),
    ],
)
def test_a_reset_that_cannot_be_is_refused(seed: Any, options: Any, error: type[Exception], text: str) -> None:
    env = ucd_envs.batch("tic_tac_toe", 3)
    env.reset(seed=1)
    with pytest.raises(error, match=rf"\A{text}\Z"):
        env.reset(seed=seed, options=options)


def test_the_first_reset_takes_all_games() -> None:
    with pytest.raises(ValueError, match=r"\Ano game has begun: the first reset takes all of them\Z"):
        ucd_envs.batch("tic_tac_toe", 2).reset(options={"reset_mask": np.array([True, False])})


def test_states_of_other_games_and_numbers_of_no_game_are_refused() -> None:
    env = ucd_envs.batch("hex", 3, size=5)
    env.reset(seed=1)
    before, small = env.clone_states(), registry.make_rules("hex", size=4).initial_state()
    for states, games, error, text in (
        ([before[0], before[1], small], None, ValueError, "this state belongs to hex_v0"),
        ([1, 2, 3], None, TypeError, r"expected a State from clone_state\(\), not int"),
        (before[:2], None, ValueError, "there are 2 states for 3 games"),
        (before[0], [3], ValueError, r"games are 0 to 2, not \[3\]"),
        (before[0], [0, 0], ValueError, r"games must be different, not \[0, 0\]"),
        (before[0], [0.5], TypeError, r"games must be numbers or a mask of 3 booleans, not \[0.5\]"),
        (before[0], np.array([True, False]), TypeError, "games must be numbers or a mask of 3 booleans"),
    ):
        with pytest.raises(error, match=text):
            env.restore_states(states, games)
    assert env.clone_states() == before
    won = registry.make_rules("hex", size=1).initial_state().after(0)
    with pytest.raises(ValueError, match=r"\Agame 0 is over in its state: there is no move to make\Z"):
        ucd_envs.batch("hex", 2, size=1).reset(options={"state": won})


def test_ended_games_that_wait_for_a_reset_are_not_stepped() -> None:
    env = ucd_envs.batch("hex", 2, size=1, autoreset_mode="Disabled")
    env.reset(seed=1)
    _, rewards, over, _, _ = env.step([0, 0])
    assert (rewards.tolist(), over.tolist()) == ([1, 1], [True, True])
    with pytest.raises(ValueError, match=re.escape('game 0 is over: reset(options={"reset_mask": mask}) begins another')):
        env.step([0, 0])


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
def test_a_faulty_game_is_told(kernels: dict[str, Any]) -> None:
    env = BatchEnv(test_guards.with_kernels(**kernels), 3)
    env.reset(seed=1)

    def play_on() -> None:
        for _ in range(5):
            env.step(env.sample_actions())

    with pytest.raises(RuntimeError, match=r"\Afaulty_v0\(.*\) breaks its contract: ucd_envs.check tells how\Z"):
        play_on()


def test_a_game_that_is_over_before_its_first_move_is_refused() -> None:
    over = [hash_game.Position(ply, -1, {}, [1, 0]) for ply in (0, 1)]
    rules = hash_game.of_positions(over, 2, "over_v0", {})
    with pytest.raises(ValueError, match=r"is over before its first move: there is nothing to step\Z"):
        BatchEnv(rules, 2).reset(seed=1)
