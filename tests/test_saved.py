"""Searches that are saved, loaded and gone on with: a loaded planner is the one that was saved, to the last bit."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete
from signature import found

import ucd_envs
import ucd_planners
from ucd_envs.foreign import SingleGame
from ucd_envs.kernels import CHANCE
from ucd_envs.rules import State
from ucd_planners import Planner, catch_up, rave, rave_ucd, stop_and_correct, ucd, uct, update_all
from ucd_planners.knowledge_base import KnowledgeBase
from ucd_planners.playouts import BHRF, CMC, MAST, GoExpert, GoInitial, LastGoodReply, NGrams, PoolRAVE
from ucd_planners.selection.ucd import UCD

PLANNERS: dict[str, Callable[..., Planner]] = {
    "uct": uct,
    "ucd": lambda **options: ucd(2, 1, 3, **options),
    "ucd of nodes": lambda **options: ucd(math.inf, math.inf, 1, store="nodes", **options),
    "update_all": update_all,
    "stop_and_correct": stop_and_correct,
    "catch_up": catch_up,
    "rave": rave,
    "rave_ucd": lambda **options: rave_ucd(depth_mean=1, c=0.3, **options),
    "all positions": lambda **options: ucd(1, 0, 1, expand="all", first_play_urgency=0.8, **options),
    "small": lambda **options: ucd(1, 0, 1, final_move="mean", **{"max_nodes": 150, **options}),
    "policies": lambda **options: uct(policies=[CMC(0.35), MAST(), LastGoodReply(), NGrams()], **options),
    "bhrf": lambda **options: rave(policies=[BHRF(), PoolRAVE()], **options),
    "workers": lambda **options: rave_ucd(policies=MAST(), workers=3, **options),
}
every_planner = pytest.mark.parametrize("planner", PLANNERS.values(), ids=PLANNERS)


def start(game: str = "hex", **settings: Any) -> State:
    """The first position of a game, by default of Hex 5x5."""
    return ucd_envs.make_rules(game, **(settings or ({"size": 5} if game == "hex" else {}))).initial_state()


def later(state: State, plies: int, choices: random.Random) -> State:
    """A position after random moves, where a player moves."""
    while plies > 0 or state.player == CHANCE:
        state = state.after(choices.choice(state.legal_actions()))
        plies -= 1
    return state


def all_of(planner: Planner) -> list[Any]:
    """All that the graphs and the memories of a planner hold, but for places that were never written."""
    whole = []
    for worker in planner._workers:
        arrays, counts = worker.graph.parts()
        for node in range(worker.graph.node_count):
            block = worker.graph.block(node)
            whole.append(arrays["edges"][block].tolist())
            whole += [arrays[name][block].tobytes() for name in ("mean_value", "exploration", "edge_stats")]
        names = ["node_stats", "keys", "node_action_stats", "actions", "free_blocks"]
        names += ["initial_stats"] if worker.settings.initial else []  # probabilities are written at chance nodes only
        whole += [counts, arrays["nodes"].tolist(), *(arrays[name].tobytes() for name in names)]
        whole += [memory.tobytes() for memory in worker.sim.memories]
    return whole


def assert_goes_on(planner: Planner, loaded: Planner, state: State, plies: tuple[int, ...] = (2, 2, 1)) -> None:
    """Asserts that two planners find the same from positions that follow from their last one, and hold the same afterwards."""
    choices = random.Random(7)
    reused = []
    for each in plies:
        state = later(state.after(planner._workers[0].chosen), each - 1, choices)
        one, other = planner.search(state), loaded.search(state)
        assert found(one) == found(other)
        assert (one.reused, one.playouts) == (other.reused, other.playouts)
        reused.append(one.reused)
    assert all_of(planner) == all_of(loaded)
    assert any(reused)


@every_planner
def test_a_loaded_planner_goes_on_as_the_one_that_was_saved(planner: Callable[..., Planner], tmp_path: Path) -> None:
    """After two searches, so that the graph was rebuilt once: rows and free blocks too are as they were."""
    state = start()
    saved = planner(playouts=240, seed=3, reuse_graph=True)
    for each in (state, state.after(12).after(6)):
        saved.search(each)
    saved.save(tmp_path / "search.npz")
    loaded = ucd_planners.load(tmp_path / "search.npz", state)
    assert all_of(loaded) == all_of(saved)
    assert repr(loaded) == repr(saved)
    assert_goes_on(saved, loaded, state.after(12).after(6))


@pytest.mark.parametrize(
    ("game", "settings", "options"),
    [
        ("connect_four", {}, {}),
        ("pig", {}, {}),
        ("othello", {}, {"final_move": "lower_bound"}),
        ("go", {"size": 5}, {"policies": GoExpert(), "initial": GoInitial()}),
        ("leftright", {"steps": 40}, {"first_play_urgency": 0.6}),
    ],
)
def test_every_kind_of_game_is_saved(game: str, settings: dict[str, Any], options: dict[str, Any], tmp_path: Path) -> None:
    """With chance, with passes, with knowledge of its own, and for one player."""
    choices = random.Random(1)
    first = later(start(game, **settings), 0, choices)
    saved = uct(playouts=300, seed=2, reuse_graph=True, **options)
    saved.search(first)
    saved.save(tmp_path / "search")
    assert_goes_on(saved, ucd_planners.load(tmp_path / "search", first.rules), first)


def test_a_search_is_saved_from_an_environment_and_loaded_for_another(tmp_path: Path) -> None:
    env, other = ucd_envs.make("connect_four"), ucd_envs.make("connect_four")
    env.reset(seed=1)
    other.reset(seed=2)
    saved = rave(playouts=100, seed=1, reuse_graph=True)
    saved.act(env)
    saved.save(str(tmp_path / "search"))
    loaded = ucd_planners.load(str(tmp_path / "search"), other)
    assert loaded.act(env) == saved.act(env)


def test_a_planner_that_goes_back_to_a_saved_search_has_all_of_it(tmp_path: Path) -> None:
    """The live planner begins afresh above its last root; the file has what was known there."""
    state = start()
    planner = ucd(1, 0, 1, playouts=200, seed=1, reuse_graph=True)
    first = planner.search(state)
    planner.save(tmp_path / "search")
    planner.search(state.after(first.action))
    assert planner.search(state).reused == 0
    assert ucd_planners.load(tmp_path / "search", state).search(state).reused == 200


@dataclass(frozen=True)
class OwnUCD(UCD):
    """A user's selection."""


class PlainUCD(UCD):
    """A user's selection with something that its fields do not show."""

    plain = True

    def __init__(self) -> None:
        super().__init__(1, 0, 1)


def test_a_planner_with_a_knowledge_base_opens_its_file_again(tmp_path: Path) -> None:
    """The base stays a file of its own; one that is gone is named when the search is loaded."""
    base = KnowledgeBase.create(tmp_path / "hex.lmdb", start().rules, "uct(c=0.3)", threshold_to_play=0.5)
    planner = uct(playouts=100, seed=1, reuse_graph=True, knowledge=base)
    planner.search(start())
    planner.save(tmp_path / "search.npz")
    loaded = ucd_planners.load(tmp_path / "search.npz", start())
    assert loaded.knowledge is not None
    assert (loaded.knowledge.path, loaded.knowledge.threshold) == (base.path, 0.5)
    assert_goes_on(planner, loaded, start())
    base.path.unlink()
    with pytest.raises(ValueError, match=r"hex\.lmdb"):
        ucd_planners.load(tmp_path / "search.npz", start())


def test_a_users_selection_is_saved_by_the_name_of_its_class(tmp_path: Path) -> None:
    saved = Planner(OwnUCD(1, 0, 1), playouts=50, seed=1, reuse_graph=True)
    saved.search(start())
    saved.save(tmp_path / "search")
    loaded = ucd_planners.load(tmp_path / "search", start())
    assert loaded.selection == saved.selection
    assert_goes_on(saved, loaded, start(), (1,))


def test_a_module_that_is_not_imported_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file imports nothing by itself but this package."""
    saved = Planner(OwnUCD(1, 0, 1), playouts=50, seed=1, reuse_graph=True)
    saved.search(start())
    saved.save(tmp_path / "search")
    monkeypatch.delitem(__import__("sys").modules, OwnUCD.__module__)
    with pytest.raises(ValueError, match=rf"search needs OwnUCD of {OwnUCD.__module__}: import that module before$"):
        ucd_planners.load(tmp_path / "search", start())


@dataclass(init=False, frozen=True)
class WordUCD(UCD):
    """A user's selection that is made from something else than its fields."""

    def __init__(self, word: str) -> None:
        super().__init__(1, 0, len(word) % 2)


class Steps(gymnasium.Env):
    """Three moves."""

    def __init__(self) -> None:
        self.observation_space, self.action_space = Discrete(2), Discrete(2)
        self.moves = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.moves = 0
        return 0, {}

    def step(self, action: int) -> Any:
        self.moves += 1
        return 0, float(self.moves == 3), self.moves == 3, False, {}


def test_what_cannot_be_saved_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path, state = tmp_path / "search", start()
    planner = uct(playouts=20, seed=1)
    planner.search(state)
    with pytest.raises(ValueError, match=r"^a search can be saved by a planner with reuse_graph=True: others begin every"):
        planner.save(path)
    planner = uct(playouts=20, seed=1, reuse_graph=True)
    with pytest.raises(ValueError, match=r"^there is no search to save: the planner has not searched yet, or was reset since$"):
        planner.save(path)
    planner.search(state)
    planner.forget()
    with pytest.raises(ValueError, match=r"^there is no search to save"):
        planner.save(path)
    for selection in (PlainUCD(), WordUCD("simple")):
        planner = Planner(selection, playouts=20, seed=1, reuse_graph=True)
        planner.search(state)
        sentence = rf"cannot be saved: {type(selection).__name__} is no dataclass of a module, made by its fields$"
        with pytest.raises(ValueError, match=sentence):
            planner.save(path)
    env = Steps()
    env.reset()
    planner = uct(playouts=20, seed=1, reuse_graph=True)
    planner.search(SingleGame(env))
    with pytest.raises(ValueError, match=r"cannot be saved: its positions belong to a third-party environment$"):
        planner.save(path)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """The file of a search of Hex 5x5."""
    planner = rave(playouts=30, seed=1, reuse_graph=True, policies=MAST())
    planner.search(start())
    planner.save(tmp_path / "search")
    return tmp_path / "search"


def rewritten(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Writes a file again, complete and with right checksums, after a change of its header."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(bytes(arrays["header"]))
    change(header)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with open(path, "wb") as file:
        np.savez(file, **arrays)


def test_a_search_of_another_game_or_configuration_is_refused(saved: Path) -> None:
    with pytest.raises(ValueError, match=r"search is a search of hex_v0\(rows=5.*, not of hex_v0\(rows=4"):
        ucd_planners.load(saved, start("hex", size=4))
    with pytest.raises(ValueError, match=r"search is a search of hex_v0.*, not of connect_four_v0"):
        ucd_planners.load(saved, start("connect_four"))
    rewritten(saved, lambda header: header["game"].update(digest="0" * 16))
    with pytest.raises(ValueError, match=r"is a search of another version of hex_v0.*, not of hex_v0"):
        ucd_planners.load(saved, start())


def test_a_file_of_another_layout_or_version_is_refused(saved: Path) -> None:
    rewritten(saved, lambda header: header.update(version="0.0.1"))
    with pytest.raises(ValueError, match=r"search was saved by version 0\.0\.1, whose searches version .* cannot go on with$"):
        ucd_planners.load(saved, start())
    rewritten(saved, lambda header: header.update(layout=99))
    with pytest.raises(ValueError, match=r"search has layout 99 of saved searches, but this version reads 1$"):
        ucd_planners.load(saved, start())


def test_a_file_with_other_statistics_is_refused(saved: Path) -> None:
    rewritten(saved, lambda header: header["planner"].update(policies=[]))
    rewritten(saved, lambda header: header["planner"]["selection"]["fields"].update(depth_mean=2, table=True))
    with pytest.raises(ValueError, match=r"search keeps other statistics than RAVE\(.*\) does in this version$"):
        ucd_planners.load(saved, start())


def test_a_file_that_is_no_saved_search_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with pytest.raises(OSError, match=r"file cannot be read: No such file or directory$"):
        ucd_planners.load(path, start())
    for data in (b"", b"PK", b"no archive", bytes(1000)):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"file is no saved search$"):
            ucd_planners.load(path, start())
    np.savez(path.with_suffix(".npz"), numbers=np.arange(3))
    with pytest.raises(ValueError, match=r"file\.npz is damaged, or no saved search$"):
        ucd_planners.load(path.with_suffix(".npz"), start())
    with pytest.raises(TypeError, match=r"^a search is loaded for an environment of ucd_envs, a State or Rules, not for 3$"):
        ucd_planners.load(path, 3)


def test_a_damaged_file_is_refused_or_makes_no_difference(saved: Path) -> None:
    """A byte changed, anywhere, or the end missing: dates and such in the archive may change, and nothing else."""
    whole, state, choices = saved.read_bytes(), start(), random.Random(1)
    expected = all_of(ucd_planners.load(saved, state))
    refused: list[str] = []
    for trial in range(300):
        data = bytearray(whole)
        if trial % 3 == 0:
            del data[choices.randrange(4, len(data)) :]
        else:
            data[choices.randrange(4, len(data))] ^= choices.randrange(1, 256)
        saved.write_bytes(data)
        try:
            loaded = ucd_planners.load(saved, state)
        except ValueError as error:
            refused.append(str(error))
        else:
            assert all_of(loaded) == expected
    assert len(refused) > 200
    assert not any("\n" in sentence for sentence in refused)


def test_a_search_is_written_completely_or_not_at_all(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk in the middle: the old file is as it was, and nothing else is left."""
    before = saved.read_bytes()
    planner = uct(playouts=20, seed=1, reuse_graph=True)
    planner.search(start())

    def half(file: Any, **arrays: np.ndarray) -> None:
        file.write(b"half of it")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(np, "savez", half)
        with pytest.raises(OSError, match=r"search cannot be written: No space left on device$"):
            planner.save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]
    planner.save(saved)
    assert saved.read_bytes() != before
    with pytest.raises(OSError, match=r"search cannot be written: No such file or directory$"):
        planner.save(saved.parent / "nowhere" / "search")
