"""Self-play: games of a planner against itself, the same however many are played at once, and their files."""

from __future__ import annotations

import _thread
import errno
import os
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ucd_envs import make_rules
from ucd_envs.kernels import CHANCE, HEADER, kernel
from ucd_envs.rng import draw, seeded
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields
from ucd_planners import Episode, Episodes, Planner, SelfPlay, grave, puct, rave, ucd, uct
from ucd_planners.evaluators import Heuristic
from ucd_planners.groups import Manhattan
from ucd_planners.playouts import CMC
from ucd_planners.root import chosen
from ucd_planners.search.interface import EVALUATE
from ucd_planners.worker import Stop, Worker

PLAYOUTS, SEED = 40, 11
FIELDS = ("observations", "masks", "policies", "values", "moves", "players", "payoffs")


def bytes_of(episodes: Any) -> list[tuple[Any, ...]]:
    return [(episode.number, *(getattr(episode, name).tobytes() for name in FIELDS)) for episode in episodes]


def seen_from(state: State) -> np.ndarray:
    planes = np.zeros(state.rules.planes, np.int8)
    state.rules.kernels.observe(state.rules.config, state.array(), state.player, planes.reshape(-1))
    return planes


def search_rng(game: np.ndarray) -> np.ndarray:
    """The generator of the next search of a game, drawn from the game's own."""
    first, second = int(draw(game)), int(draw(game)) | 1
    return np.array([first, second], np.uint64)


def played_one_by_one(planner: Planner, rules: Rules, number: int) -> Episode:
    """A game of self-play without sampled moves by the planner's own parts, a search after another."""
    worker, game, state = Worker(planner._settings, rules, PLAYOUTS), seeded(SEED, number), rules.initial_state()
    budget = planner._budget(None, None, None, None)
    rows: dict[str, list[Any]] = {name: [] for name in FIELDS}
    while not state.over:
        rows["players"].append(state.player)
        if state.player == CHANCE:
            rows["moves"].append(state.outcome(game))
            state = state.after(rows["moves"][-1])
            continue
        worker.begin(state, search_rng(game), PLAYOUTS, Stop(), budget)
        worker.simulate(PLAYOUTS)
        worker.chosen = chosen([worker.graph], planner.final_move, worker.sim.rng, state)
        edges = worker.graph.edges[worker.graph.block(worker.graph.root)]
        means, shares = worker.graph.mean_value[worker.graph.block(worker.graph.root)], np.zeros(rules.actions)
        shares[edges["action"]] = edges["visits"] / edges["visits"].sum()
        mask = np.zeros(rules.actions, np.int8)
        mask[state.legal_actions()] = 1
        rows["observations"].append(seen_from(state))
        rows["masks"].append(mask)
        rows["policies"].append(shares.astype(np.float32))
        rows["values"].append(np.float32((edges["visits"] * means).sum() / edges["visits"].sum()))
        rows["moves"].append(worker.chosen)
        state = state.after(worker.chosen)
    made = {name: np.array(found) for name, found in rows.items()}
    return Episode(number=number, **{**made, "payoffs": np.array(state.payoffs())})


def net(planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A network of whole numbers, whose answer for a position does not depend on the rest of its batch."""
    seen, actions = planes.reshape(len(planes), -1).astype(np.int64), masks.shape[1]
    weights = np.arange(seen.shape[1] * (actions + 1)).reshape(seen.shape[1], -1) ** 2 % 101
    told = seen @ weights % 97
    return told[:, :actions].astype(np.float32) / 40, told[:, actions].astype(np.float32) / 96


@kernel(EVALUATE)
def first_cells(config, state, memory, actions, priors, values):
    """Prefers actions with low numbers, and the player to move."""
    for i in range(actions.size):
        priors[i] = 1.0 / (1.0 + actions[i])
    mover = fields(state, HEADER).player
    values[mover], values[1 - mover] = 0.6, 0.4


CASES: dict[str, tuple[Any, Rules]] = {
    "uct": (lambda: uct(playouts=PLAYOUTS), make_rules("connect_four")),
    "ucd": (lambda: ucd(1, 0, 1, playouts=PLAYOUTS, final_move="mean"), make_rules("hex", size=4)),
    "rave": (lambda: rave(playouts=PLAYOUTS, final_move="lower_bound"), make_rules("hex", size=4)),
    "grave": (lambda: grave(playouts=PLAYOUTS, expand="all"), make_rules("tic_tac_toe")),
    "policies": (lambda: uct(playouts=PLAYOUTS, policies=CMC(prob=0.5)), make_rules("hex", size=4)),
    "kept": (lambda: ucd(playouts=PLAYOUTS, reuse_graph=True), make_rules("othello", size=4)),
    "one player": (lambda: ucd(playouts=PLAYOUTS), make_rules("leftright", steps=90)),
    "chance": (lambda: uct(playouts=PLAYOUTS), make_rules("einstein", size=3)),
    "puct": (lambda: puct(net, playouts=PLAYOUTS, noise=(0.25, 0.5), batch=3), make_rules("hex", size=4)),
    "heuristic": (lambda: puct(Heuristic(first_cells), playouts=PLAYOUTS, noise=(0.25, 0.5)), make_rules("hex", size=4)),
    "kept puct": (lambda: puct(net, playouts=PLAYOUTS, reuse_graph=True, batch=3), make_rules("tic_tac_toe")),
    "pairs of plies": (lambda: uct(playouts=PLAYOUTS), make_rules("pentago")),
}


@pytest.mark.parametrize("case", CASES)
def test_a_game_is_the_one_that_is_played_search_by_search(case: str) -> None:
    """Every move by the planner's final rule; all arrays to the last bit but the values, whose sums have another order."""
    make, rules = CASES[case]
    found = list(SelfPlay(make(), rules, games=2, seed=SEED, temperature=0).play(3))
    for number, episode in enumerate(found):
        alone = played_one_by_one(make(), rules, number)
        assert episode.number == number
        for name in set(FIELDS) - {"values"}:
            assert (getattr(episode, name) == getattr(alone, name)).all(), name
        assert np.allclose(episode.values, alone.values, rtol=0, atol=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_games_do_not_depend_on_how_many_are_played_at_once(case: str) -> None:
    """One, three, and many at a time, in threads, and in two calls."""
    make, rules = CASES[case]

    def played(**options: Any) -> list[tuple[Any, ...]]:
        if "puct" in case or case == "heuristic":
            options.pop("threads", None)  # an evaluator is called by one
        return bytes_of(SelfPlay(make(), rules, seed=SEED, temperature_plies=6, temperature=0.7, **options).play(7))

    alone = played(games=1)
    assert len({game[1:] for game in alone}) > 1
    assert played(games=3) == played(games=100) == played(games=5, threads=2) == alone
    again = SelfPlay(make(), rules, seed=SEED, games=4, temperature_plies=6, temperature=0.7)
    assert bytes_of([*again.play(3), *again.play(4)]) == alone
    again.reset(SEED)
    assert bytes_of(again.play(7)) == alone


def test_all_games_share_a_call_of_the_evaluator() -> None:
    """Sixteen games with 20 evaluations a search: 21 calls a move with the root's, and not 16 times as many."""
    calls: list[int] = []

    def counted(planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> Any:
        calls.append(len(planes))
        return net(planes, masks, players)

    planner = puct(counted, playouts=20, remember=0)
    episodes = list(SelfPlay(planner, "hex", size=4, games=16, seed=1).play(16))
    assert len(calls) <= 21 * max(map(len, episodes))
    assert max(calls) == 16


def test_an_evaluator_that_fails_ends_self_play_with_its_own_error() -> None:
    """And the games go on when it answers again."""
    broken = False

    def sometimes(planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> Any:
        if broken:
            raise ZeroDivisionError("no network")
        return net(planes, masks, players)

    selfplay = SelfPlay(puct(sometimes, playouts=20), "hex", size=4, games=4, seed=1)
    first = bytes_of(selfplay.play(2))
    broken = True
    selfplay.planner.forget()
    with pytest.raises(ZeroDivisionError, match="no network"):
        next(selfplay.play(1))
    broken = False
    later = bytes_of(selfplay.play(2))
    selfplay.reset(1)
    assert bytes_of(selfplay.play(4)) == first + later


def test_priors_that_are_none_are_refused_with_the_position() -> None:
    def wrong(planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> Any:
        return np.full(masks.shape, np.nan), np.zeros(len(planes))

    with pytest.raises(ValueError, match="nan"):
        next(SelfPlay(puct(wrong, playouts=20), "hex", size=4, games=4, seed=1).play(1))
    with pytest.raises(ValueError, match="an evaluator is called by one thread"):
        SelfPlay(puct(net, playouts=20), "hex", size=4, threads=2)


def test_a_planner_with_a_temperature_keeps_its_own() -> None:
    own = SelfPlay(uct(playouts=20, temperature=0.5, temperature_plies=3), "tic_tac_toe", seed=1)
    assert (own.temperature, own.temperature_plies) == (0.5, 3)
    given = SelfPlay(uct(playouts=20, temperature=0.5, temperature_plies=3), "tic_tac_toe", seed=1, temperature=2.0)
    assert (given.temperature, given.temperature_plies) == (2.0, 30)
    usual = SelfPlay(uct(playouts=20), "tic_tac_toe", seed=1)
    assert (usual.temperature, usual.temperature_plies) == (1.0, 30)


def test_dtypes_and_shapes_are_as_documented() -> None:
    rules = make_rules("hex", size=3, swap=True)
    (episode,) = SelfPlay(uct(playouts=20), "hex", size=3, swap=True, games=1, seed=2).play(1)
    n = len(episode)
    shapes = {name: (getattr(episode, name).shape, getattr(episode, name).dtype) for name in FIELDS}
    assert shapes == {
        "observations": ((n, *rules.planes), np.int8),
        "masks": ((n, rules.actions), np.int8),
        "policies": ((n, rules.actions), np.float32),
        "values": ((n,), np.float32),
        "moves": ((n,), np.int32),
        "players": ((n,), np.int32),
        "payoffs": ((2,), np.float64),
    }
    assert np.allclose(episode.policies.sum(axis=1), 1)
    assert (episode.policies[episode.masks == 0] == 0).all()
    assert (episode.outcomes == episode.payoffs[episode.players]).all()


def test_early_moves_are_drawn_by_their_visits() -> None:
    """First moves of 3,000 games at two temperatures, against visits to that power; a game's search is known by its policy."""
    for temperature in (1.0, 0.5):
        selfplay = SelfPlay(uct(playouts=30), "tic_tac_toe", games=64, seed=3, temperature=temperature, temperature_plies=1)
        expected, counted, variance = np.zeros(9), np.zeros(9), np.zeros(9)
        for episode in selfplay.play(3000):
            chances = episode.policies[0].astype(float) ** (1 / temperature)
            chances /= chances.sum()
            expected += chances
            variance += chances * (1 - chances)
            counted[episode.moves[0]] += 1
        # Within four and a half standard deviations: 18 figures are all so but once in 8,000 seeds.
        assert (abs(counted - expected) < 4.5 * np.sqrt(variance)).all()


def test_an_unlikely_temperature_still_draws_a_move_with_visits() -> None:
    """Very hot: all moves with visits alike; very cold: the most visited one."""
    rules = make_rules("tic_tac_toe")
    cold = SelfPlay(uct(playouts=60), rules, seed=4, temperature=1e-3, games=9)
    for episode in cold.play(20):
        rows = np.arange(len(episode))
        assert (episode.policies[rows, episode.moves] == episode.policies.max(axis=1)).all()
    hot = [episode.moves[0] for episode in SelfPlay(uct(playouts=60), rules, seed=4, temperature=1e5).play(600)]
    assert np.bincount(hot, minlength=9).min() > 35  # 67 are expected, with a standard deviation of 7.7


def test_games_that_end_while_others_need_room_keep_their_payoffs() -> None:
    """Games of pig last up to hundreds of moves, and the arrays begin with room for 64."""
    together = list(SelfPlay(uct(playouts=4), "pig", target=30, seed=6, games=40).play(40))
    assert min(len(episode.moves) for episode in together) < 64 < max(len(episode.moves) for episode in together)
    assert all(episode.payoffs.sum() == 1 for episode in together)
    assert bytes_of(SelfPlay(uct(playouts=4), "pig", target=30, seed=6, games=1).play(40)) == bytes_of(together)


def test_a_game_that_is_not_taken_is_played_again() -> None:
    selfplay = SelfPlay(uct(playouts=20), "tic_tac_toe", seed=1, games=8)
    games = selfplay.play(8)
    first, second = next(games), next(games)
    games.close()
    assert selfplay.played == 2
    assert [episode.number for episode in selfplay.play(2)] == [2, 3]
    selfplay.reset(1)
    assert bytes_of(selfplay.play(2)) == bytes_of([first, second])


def test_two_calls_at_once_are_refused() -> None:
    selfplay = SelfPlay(uct(playouts=20), "tic_tac_toe", seed=1)
    older = selfplay.play(3)
    next(older)
    next(selfplay.play(1))
    with pytest.raises(RuntimeError, match="another call of play has begun"):
        next(older)


def test_a_text_names_a_planner_and_the_seed_is_kept() -> None:
    selfplay = SelfPlay("uct(playouts=20)", "tic_tac_toe")
    assert selfplay.planner.playouts == 20
    other = SelfPlay(uct(playouts=20), make_rules("tic_tac_toe"), seed=selfplay.seed)
    assert bytes_of(other.play(2)) == bytes_of(selfplay.play(2))
    assert "tic_tac_toe_v0" in repr(selfplay)
    assert f"seed={selfplay.seed}" in repr(selfplay)


@pytest.mark.parametrize(
    ("planner", "game", "options", "message"),
    [
        ("uct", "tic_tac_toe", {}, "needs a planner with a budget in playouts"),
        ("uct(seconds=1)", "tic_tac_toe", {}, "needs a planner with a budget in playouts"),
        ("uct(playouts=9,workers=2)", "tic_tac_toe", {}, "one worker"),
        ("uct(playouts=9,stop_early=True)", "tic_tac_toe", {}, "without stop_early"),
        ("uct(playouts=9)", "nim", {}, "unknown game 'nim'"),
        ("uct(playouts=9)", "tic_tac_toe", {"games": 0}, "games must be from 1 to 65536"),
        ("uct(playouts=9)", "tic_tac_toe", {"games": 65537}, "games must be from 1 to 65536"),
        ("uct(playouts=9)", "tic_tac_toe", {"threads": 0}, "threads must be from 1 to 1024"),
        ("uct(playouts=9)", "tic_tac_toe", {"temperature_plies": -1}, "temperature_plies must be"),
        ("uct(playouts=9)", "tic_tac_toe", {"temperature": -1}, "temperature must be"),
        ("uct(playouts=9)", "tic_tac_toe", {"temperature": float("nan")}, "temperature must be"),
        ("uct(playouts=9)", "tic_tac_toe", {"seed": -1}, "seed must be from 0"),
        ("catch_up(playouts=9)", "pig", {}, "does not serve pig_v0, a game with chance"),
    ],
)
def test_parameters_out_of_range_are_refused_with_a_sentence(planner: str, game: str, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SelfPlay(planner, game, **options)


def test_what_is_no_planner_or_no_count_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a planner such as"):
        SelfPlay(SEED, "tic_tac_toe")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="settings go with the name of a game"):
        SelfPlay(uct(playouts=9), make_rules("hex", size=3), size=4)
    with pytest.raises(ValueError, match="goes without groups of moves"):
        SelfPlay(uct(playouts=9, groups=Manhattan()), make_rules("hex", size=3))
    with pytest.raises(ValueError, match="count must be from 1"):
        SelfPlay(uct(playouts=9), "tic_tac_toe").play(0)


def test_ctrl_c_ends_games_in_a_moment() -> None:
    """The generator ends, and the next call plays the same games."""
    selfplay = SelfPlay(uct(playouts=2000), "hex", size=9, games=64, seed=5)
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        list(selfplay.play(10_000))
    timer.join()
    kept = selfplay.played
    assert next(selfplay.play(1)).number == kept


@pytest.fixture(scope="module")
def some() -> Episodes:
    return SelfPlay(uct(playouts=20), "hex", size=3, seed=9, games=8).episodes(12)


@pytest.mark.parametrize("name", ["games.npz", "games.sqlite", "games.db"])
def test_episodes_are_the_same_after_a_file(some: Episodes, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    some.save(path)
    some[:2].save(path)  # in place of the old file
    some.save(path)
    found = Episodes.load(path)
    assert bytes_of(found) == bytes_of(some)
    assert found.rules is some.rules
    assert found.note == some.note
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert bytes_of(Episodes.load(path, some.rules)[3:5]) == bytes_of([some[3], some[4]])


def test_an_archive_is_read_by_numpy(some: Episodes, tmp_path: Path) -> None:
    path = tmp_path / "games.npz"
    some.save(path)
    with np.load(path) as arrays:
        assert arrays["policies"].shape == (sum(map(len, some)), 9)


@pytest.mark.parametrize("name", ["games.npz", "games.sqlite"])
def test_a_game_with_chance_and_no_games_at_all_have_files(tmp_path: Path, name: str) -> None:
    for episodes in (
        SelfPlay(uct(playouts=9), "pig", target=20, seed=2).episodes(3),
        Episodes(make_rules("hex", size=3), ()),
    ):
        episodes.save(tmp_path / name)
        found = Episodes.load(tmp_path / name, episodes.rules)
        assert bytes_of(found) == bytes_of(episodes)


def test_episodes_are_added_to_a_database(some: Episodes, tmp_path: Path) -> None:
    path = tmp_path / "games.sqlite"
    some[4:].append(path)
    some[:4].append(path)
    assert bytes_of(Episodes.load(path)) == bytes_of(some)  # by number
    with pytest.raises(ValueError, match=r"games\.sqlite has episode 3 already"):
        some[3:4].append(path)
    other = SelfPlay(uct(playouts=9), "hex", size=4, seed=1, games=2).episodes(2)
    with pytest.raises(ValueError, match=r"games\.sqlite holds games of hex_v0 with other settings"):
        other.append(path)
    assert bytes_of(Episodes.load(path)) == bytes_of(some)  # nothing of what was refused is in it
    twice = Episodes(some.rules, [some[0], some[0]])
    with pytest.raises(ValueError, match="has episode 0 already"):
        twice.save(tmp_path / "twice.sqlite")
    assert not list(tmp_path.glob("twice*"))


def test_a_file_that_is_no_database_of_episodes_is_refused_and_left(some: Episodes, tmp_path: Path) -> None:
    path = tmp_path / "games.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE others (number INTEGER)")
    for content in (path.read_bytes(), b"text", b"SQLite format 3\0" * 100):
        path.write_bytes(content)
        for use in (Episodes.load, some.append):
            with pytest.raises(ValueError, match=r"games\.sqlite holds no episodes, or is damaged"):
                use(path)
        assert path.read_bytes() == content
    with pytest.raises(OSError, match=r"games\.sqlite cannot be written: unable to open database file"):
        some.append(tmp_path / "nowhere" / "games.sqlite")


def test_samples_follow_one_another_and_are_augmented_by_symmetries(some: Episodes) -> None:
    plain = some.samples()
    assert plain.policies.tobytes() == b"".join(episode.policies.tobytes() for episode in some)
    assert (plain.outcomes == np.concatenate([episode.outcomes for episode in some])).all()
    turned = some.samples(np.random.default_rng(1))
    same, other = (plain.policies == turned.policies).all(axis=1), (plain.policies[:, ::-1] == turned.policies).all(axis=1)
    assert (same | other).all()
    assert 0 < (~same).sum() < len(same)
    for place in np.flatnonzero(~same):
        assert (plain.observations[place, ::-1, ::-1] == turned.observations[place]).all()
        assert (plain.masks[place, ::-1] == turned.masks[place]).all()
    alone = SelfPlay(uct(playouts=9), "leftright", steps=5, seed=1).episodes(2)
    assert alone.samples(np.random.default_rng(1)).policies.tobytes() == alone.samples().policies.tobytes()
    with pytest.raises(ValueError, match="there are no samples"):
        some[:0].samples()


def test_files_that_cannot_be_written_or_read_are_refused_with_a_sentence(some: Episodes, tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"games\.npz cannot be written: No such file or directory"):
        some.save(tmp_path / "nowhere" / "games.npz")
    with pytest.raises(OSError, match=r"none\.npz cannot be read: No such file or directory"):
        Episodes.load(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("no games")
    with pytest.raises(ValueError, match=r"text\.npz holds no episodes, or is damaged"):
        Episodes.load(tmp_path / "text.npz")
    np.savez(tmp_path / "others.npz", policies=np.zeros(3))
    with pytest.raises(ValueError, match=r"others\.npz holds no episodes"):
        Episodes.load(tmp_path / "others.npz")
    some.save(tmp_path / "games.npz")
    with pytest.raises(ValueError, match=r"holds games of hex_v0\(.*columns=3.*\), not of tic_tac_toe_v0"):
        Episodes.load(tmp_path / "games.npz", make_rules("tic_tac_toe"))
    with pytest.raises(ValueError, match=r"columns=3.*not of hex_v0\(.*columns=4"):
        Episodes.load(tmp_path / "games.npz", make_rules("hex", size=4))


def test_a_full_disk_leaves_an_old_file_as_it_was(some: Episodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some[:2].save(tmp_path / "games.npz")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"games\.npz cannot be written: No space left on device"):
        some.save(tmp_path / "games.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["games.npz"]
    assert len(Episodes.load(tmp_path / "games.npz")) == 2


@pytest.mark.parametrize(("name", "least"), [("games.npz", 150), ("games.sqlite", 100)])
def test_a_damaged_file_is_refused_wherever_a_byte_has_changed(some: Episodes, tmp_path: Path, name: str, least: int) -> None:
    """Each of 200 changed or cut files is refused with a sentence, or has the same games, where nobody reads the byte."""
    some.save(tmp_path / name)
    whole, rng = (tmp_path / name).read_bytes(), np.random.default_rng(8)
    messages: list[str] = []
    for k in range(200):
        damaged = bytearray(whole)
        if k % 4 == 0:
            damaged = damaged[: int(rng.integers(len(whole)))]
        else:
            damaged[int(rng.integers(len(whole)))] ^= 1 << int(rng.integers(8))
        (tmp_path / f"damaged{name}").write_bytes(damaged)
        try:
            assert bytes_of(Episodes.load(tmp_path / f"damaged{name}")) == bytes_of(some)
        except (ValueError, OSError) as error:
            messages.append(str(error))
    assert len(messages) > least
    assert all(message.startswith(str(tmp_path / f"damaged{name}")) for message in messages)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"policies": np.zeros((1, 9), np.float32)}, "policies has the shape"),
        ({"values": np.zeros(1000)}, "values has the shape"),
        ({"lengths": np.array([[5, 4]])}, "observations has the shape"),
        ({"payoffs": np.zeros((2, 2))}, "payoffs or numbers are missing"),
        ({"players": None}, "a move is nobody's"),
    ],
)
def test_arrays_that_do_not_fit_each_other_are_refused(some: Episodes, tmp_path: Path, change: Any, message: str) -> None:
    some.save(tmp_path / "games.npz")
    with np.load(tmp_path / "games.npz") as found:
        arrays = {name: found[name] for name in found.files}
    arrays |= {name: 7 + arrays[name] if value is None else value for name, value in change.items()}
    np.savez(tmp_path / "changed.npz", **arrays)
    with pytest.raises(ValueError, match=rf"changed\.npz is damaged: its arrays do not fit each other \({message}"):
        Episodes.load(tmp_path / "changed.npz")


def test_episodes_of_another_game_do_not_come_together(some: Episodes) -> None:
    with pytest.raises(ValueError, match="episode 0 is no game of tic_tac_toe_v0"):
        Episodes(make_rules("tic_tac_toe"), some)


def test_a_kernel_that_breaks_its_contract_ends_self_play_with_a_sentence() -> None:
    """A game that says it has fewer plies than it plays."""
    rules = make_rules("tic_tac_toe")
    short = replace(rules, max_plies=3)
    with pytest.raises(RuntimeError, match=r"tic_tac_toe_v0"):
        list(SelfPlay(uct(playouts=5), short, seed=1).play(2))
