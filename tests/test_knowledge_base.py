"""The knowledge base: what it learns and knows, beside a model in plain Python, and what a planner does with it."""

from __future__ import annotations

import copy
import os
import pickle
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from knowledge import Model, board_of, new_base, result_of, searches

import ucd_planners
from ucd_envs import make, make_rules
from ucd_envs.rules import State
from ucd_planners.knowledge_base import KnowledgeBase
from ucd_planners.notation import canonical, planner_from
from ucd_planners.playouts import CMC, GoInitial


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "some.lmdb"


def state_after(game: str, text: str, **settings: Any) -> State:
    state = make_rules(game, **settings).initial_state()
    for word in text.split():
        state = state.after(state.action_named(word))
    return state


def known_of(base: KnowledgeBase, state: State) -> dict[int, tuple[int, float]]:
    known = base.lookup(state)
    if known is None:
        return {}
    rows = zip(known.actions.tolist(), known.visits.tolist(), known.value_sums.tolist(), strict=True)
    return {action: (visits, paid) for action, visits, paid in rows}


# What it learns


@pytest.mark.parametrize(("alpha", "threshold"), [(1.0, 0.7), (0.0, 0.5), (2.5, 1.0)])
def test_it_knows_what_a_model_in_plain_python_knows(path: Path, alpha: float, threshold: float) -> None:
    """Hundreds of searches of positions and their images; every position is looked up in the end."""
    base = new_base(path, alpha=alpha, threshold_to_learn=threshold, threshold_to_play=alpha + 1)
    model, states = Model(alpha, threshold), {}
    for line, state, moves in islice(searches(5), 120):
        assert base.learn(state, result_of(moves)) == model.learn(line, moves)
        states[board_of(line)] = state
    for board, state in states.items():
        found = {move: numbers for (each, move), numbers in model.moves.items() if each == board}
        assert known_of(base, state) == found
        known = base.lookup(state)
        assert (0 if known is None else known.total) == model.totals.get(board, 0)


def test_a_move_becomes_known_at_an_mcd_of_the_threshold(path: Path) -> None:
    """[NoGo 4.2] by hand: alpha 1, 100 visits. a1 has 0.5 + 0.25, b1 0.25 + 0.5 and c1 0.25 + 0.25."""
    base = new_base(path, threshold_to_learn=0.75)
    state = state_after("tic_tac_toe", "b2 a2")
    assert base.learn(state, result_of({0: (50, 0.25), 1: (25, 0.5), 2: (25, 0.25)})) == 2
    known = base.lookup(state)
    assert known is not None
    assert (known.total, known.actions.tolist(), known.visits.tolist()) == (100, [0, 1], [50, 25])
    assert known.confidence(1.0).tolist() == [0.75, 0.75]
    assert known.values.tolist() == [0.25, 0.5]


def test_a_known_move_is_brought_up_to_date_by_a_search_that_finds_it_weak(path: Path) -> None:
    base = new_base(path)
    state = state_after("tic_tac_toe", "b2 a2")
    base.learn(state, result_of({0: (80, 0.75), 1: (20, 0.25)}))
    assert base.learn(state, result_of({0: (10, 0.0), 1: (30, 0.0), 2: (60, 0.25)})) == 2
    assert known_of(base, state) == {0: (90, 60.0), 2: (60, 15.0)}


def test_a_position_without_a_good_move_is_not_entered(path: Path) -> None:
    base = new_base(path)
    assert base.learn(state_after("tic_tac_toe", "b2"), result_of({0: (50, 0.1), 1: (50, 0.1)})) == 0
    assert len(base) == 0


@pytest.mark.parametrize(
    ("game", "settings", "moves", "image"),
    [
        ("connect_four", {}, "1 2 3", "7 6 5"),
        ("hex", {"size": 5}, "a1 b2 c2", "e5 d4 c4"),
        ("go", {"size": 5}, "A1 C2 B4", "E5 C4 D2"),
        ("go", {"size": 5}, "A1 C2 B4", "A1 B3 D2"),
    ],
)
def test_images_of_a_position_are_one_entry(path: Path, game: str, settings: dict[str, Any], moves: str, image: str) -> None:
    """The last moves are images of each other as well: what is learned of one is known of the other."""
    base = new_base(path, game, **settings)
    first, other = (state_after(game, " ".join(text.split()[:2]), **settings) for text in (moves, image))
    base.learn(first, result_of({first.action_named(moves.split()[2]): (10, 1.0)}))
    base.learn(other, result_of({other.action_named(image.split()[2]): (20, 1.0)}))
    assert len(base) == 1
    assert known_of(base, first) == {first.action_named(moves.split()[2]): (30, 30.0)}
    assert known_of(base, other) == {other.action_named(image.split()[2]): (30, 30.0)}


def test_positions_at_other_plies_are_one_entry_where_the_ply_is_left_out(tmp_path: Path) -> None:
    """Two passes in between lead to the same stones with the same player to move."""
    short, long = state_after("go", "A1 C1 B1", size=3), state_after("go", "pass C1 A1 pass B1", size=3)
    assert short.words == long.words
    for graded, count in ((True, 2), (False, 1)):
        base = new_base(tmp_path / f"{graded}.lmdb", "go", size=3, graded=graded)
        for state in (short, long):
            base.learn(state, result_of({4: (10, 1.0)}))
        assert len(base) == count
        assert base.graded == graded


def test_a_game_without_named_symmetries_has_each_position_for_itself(path: Path) -> None:
    base = new_base(path, "go", size=3, ko="positional")
    for point in ("A1", "C3"):
        base.learn(state_after("go", point, size=3, ko="positional"), result_of({4: (10, 1.0)}))
    assert len(base) == 2


# What a planner does with it


def test_a_move_of_enough_confidence_is_played_at_once(path: Path) -> None:
    base = new_base(path)
    state = state_after("tic_tac_toe", "b2 a2")
    base.learn(state, result_of({0: (60, 0.5), 1: (30, 1.0), 2: (10, 0.0)}))
    planner = ucd_planners.uct(playouts=50, seed=1, knowledge=base)
    result = planner.search(state)
    assert (result.stopped, result.action, result.value, result.playouts) == ("knowledge", 1, 1.0, 0)
    assert result.actions.tolist() == state.legal_actions()
    assert result.visits.tolist() == [60, 30, 0, 0, 0, 0, 0]
    assert result.principal_variation == [1]
    assert planner.act(state) == 1
    assert "variation" in str(result)
    with pytest.raises(ValueError, match="nor has an answer of a knowledge base"):
        result.to_networkx()


def test_below_the_threshold_the_planner_searches(path: Path) -> None:
    """b1 has 0.3 + 1."""
    base = new_base(path)
    state = state_after("tic_tac_toe", "b2 a2")
    base.learn(state, result_of({0: (60, 0.5), 1: (30, 1.0), 2: (10, 0.0)}))
    for threshold, stopped in ((1.3, "knowledge"), (1.3001, "playouts")):
        planner = ucd_planners.uct(playouts=50, seed=1, knowledge=KnowledgeBase(path, threshold=threshold))
        assert planner.search(state).stopped == stopped


def test_the_environment_may_be_the_planners_argument(path: Path) -> None:
    env = make("tic_tac_toe")
    env.reset()
    base = new_base(path)
    base.learn(env.clone_state(), result_of({4: (100, 0.75)}))
    planner = ucd_planners.uct(playouts=50, seed=1, knowledge=base)
    assert planner.act(env) == 4
    assert planner.search(env).stopped == "knowledge"
    with pytest.raises(ValueError, match="a search needs a budget"):
        ucd_planners.uct(knowledge=base).search(env)


PLANNERS: list[dict[str, Any]] = [
    {"text": "uct"},
    {"text": "uct", "workers": 2},
    {"text": "ucd(d1=0,d2=1,d3=2)", "policies": CMC()},
    {"text": "ucd", "first_play_urgency": 0.9},
    {"text": "update_all", "expand": "all"},
]


@pytest.mark.parametrize("use", ["play", "seed"])
@pytest.mark.parametrize("options", PLANNERS, ids=str)
def test_with_an_empty_base_a_planner_plays_as_without(path: Path, use: str, options: dict[str, Any]) -> None:
    new_base(path, "hex", size=4)
    text = options["text"]
    given = {key: value for key, value in options.items() if key != "text"} | {"playouts": 200, "seed": 3}
    plain = planner_from(text, **given)
    reader = planner_from(text, **given, knowledge=KnowledgeBase(path, use=use))
    state = make_rules("hex", size=4).initial_state()
    for _ in range(3):
        results = [planner.search(state) for planner in (plain, reader)]
        assert results[0].visits.tolist() == results[1].visits.tolist()
        assert results[0].values.tobytes() == results[1].values.tobytes()
        assert results[0].action == results[1].action
        assert results[1].priors is None
        state = state.after(results[0].action)


def test_an_answer_counts_as_a_search(path: Path) -> None:
    """The random numbers of later searches are those of a planner that has searched before."""
    base = new_base(path, "hex", size=4)
    state = make_rules("hex", size=4).initial_state()
    base.learn(state, result_of({5: (100, 0.75)}))
    plain, reader = ucd_planners.uct(playouts=100, seed=3), ucd_planners.uct(playouts=100, seed=3, knowledge=base)
    plain.search(state)
    assert reader.search(state).stopped == "knowledge"
    after = state.after(5)
    assert plain.search(after).visits.tolist() == reader.search(after).visits.tolist()


def test_known_moves_may_seed_the_root_instead(path: Path) -> None:
    """In sum at most 40 virtual playouts, in the shares of the visits; the real playouts alone are counted."""
    base = new_base(path, "hex", size=4)
    state = make_rules("hex", size=4).initial_state()
    base.learn(state, result_of({3: (300, 1.0), 5: (100, 1.0), 6: (600, 0.0)}))
    reader = KnowledgeBase(path, use="seed", virtual=40)
    planner = ucd_planners.uct(playouts=100, seed=3, knowledge=reader)
    result = planner.search(state)
    assert result.stopped == "playouts"
    assert result.visits.sum() == result.playouts == 100
    assert result.priors is not None
    assert result.priors.tolist() == [0.75 * (action == 3) + 0.25 * (action == 5) for action in range(16)]
    plain = ucd_planners.uct(playouts=100, seed=3).search(state)
    assert result.visits[3] > 2 * plain.visits[3]


def test_a_position_that_is_not_known_has_no_seeds(path: Path) -> None:
    """Nor are those of the search before left."""
    base = new_base(path, "hex", size=4)
    state = make_rules("hex", size=4).initial_state()
    base.learn(state, result_of({3: (300, 1.0)}))
    plain = ucd_planners.uct(playouts=100, seed=3)
    reader = ucd_planners.uct(playouts=100, seed=3, knowledge=KnowledgeBase(path, use="seed"))
    assert plain.search(state).visits.tolist() != reader.search(state).visits.tolist()
    after = state.after(3)
    assert plain.search(after).visits.tolist() == reader.search(after).visits.tolist()
    assert plain.moves_after(after, (10, 50)) == reader.moves_after(after, (10, 50))
    assert reader.search(state).priors is not None


def test_seeds_begin_the_search_at_the_root_only(path: Path) -> None:
    """A move that is known as won at the root gets no virtual playouts where it comes later in a simulation."""
    base = new_base(path, "hex", size=3)
    state = make_rules("hex", size=3).initial_state()
    base.learn(state, result_of({0: (1000, 1.0)}))
    planner = ucd_planners.uct(playouts=3000, seed=3, knowledge=KnowledgeBase(path, use="seed", virtual=5))
    planner.search(state)
    graph = planner._workers[0].graph
    given = graph.initial_stats[: graph.action_places]
    root = int(graph.nodes[graph.root]["first_action"])
    legal = int(graph.nodes[graph.root]["legal"])
    assert given[root : root + legal, 0].sum() == 5
    assert given[:, 0].sum() == 5


def test_a_base_that_seeds_goes_without_options_that_shape_the_root(path: Path) -> None:
    new_base(path, "go", size=5)
    base = KnowledgeBase(path, use="seed")
    for option in ({"reuse_graph": True}, {"initial": GoInitial()}, {"groups": "own"}, {"untried": "listed"}):
        given = dict(option)
        if "groups" in given:
            given["groups"] = ucd_planners.groups.OwnGroups()
        with pytest.raises(ValueError, match='use="seed" goes without initial, groups, reuse_graph and untried'):
            ucd_planners.uct(knowledge=base, **given)
    with pytest.raises(ValueError, match="does not serve initial"):
        ucd_planners.stop_and_correct(knowledge=base)


# As text, and in other processes


def test_a_planner_in_text_names_its_base(path: Path) -> None:
    new_base(path)
    plain = planner_from(f"uct(knowledge='{path}')")
    assert isinstance(plain.knowledge, KnowledgeBase)
    written = canonical(f"uct(knowledge='{path}')")
    assert written == f"uct(c=0.3,knowledge=\"base(path='{path}',threshold=none,use=play,virtual=5)\")"
    assert canonical(written) == written
    again = planner_from(f"uct(knowledge=\"base(path='{path}', threshold=1.5, use=seed, virtual=7)\")").knowledge
    assert isinstance(again, KnowledgeBase)
    assert (again.threshold, again.use, again.virtual) == (1.5, "seed", 7.0)
    assert repr(again) in repr(ucd_planners.uct(knowledge=again))


def test_copies_and_pickles_of_a_planner_read_the_same_base(path: Path) -> None:
    base = new_base(path)
    state = state_after("tic_tac_toe", "b2 a2")
    base.learn(state, result_of({0: (100, 1.0)}))
    planner = ucd_planners.uct(playouts=5, knowledge=str(path))
    for other in (copy.copy(planner), copy.deepcopy(planner), pickle.loads(pickle.dumps(planner))):
        assert other.search(state).stopped == "knowledge"


def test_a_saved_search_names_its_base(path: Path, tmp_path: Path) -> None:
    """A kept graph goes on where the base has no answer."""
    new_base(path, "hex", size=4)
    state = make_rules("hex", size=4).initial_state()
    given: Any = {"playouts": 100, "seed": 3, "reuse_graph": True}
    planner = ucd_planners.uct(knowledge=KnowledgeBase(path, threshold=1.5), **given)
    action = planner.search(state).action
    planner.save(tmp_path / "search.npz")
    loaded = ucd_planners.load(tmp_path / "search.npz", state)
    assert isinstance(loaded.knowledge, KnowledgeBase)
    assert (loaded.knowledge.path, loaded.knowledge.threshold) == (path, 1.5)
    after = state.after(action)
    assert loaded.search(after).visits.tolist() == planner.search(after).visits.tolist()


@pytest.mark.parametrize("writes", [False, True])
def test_a_forked_process_reads_and_writes_for_itself(path: Path, writes: bool) -> None:
    """The child maps the file again, and the parent's lock and map stay as they are."""
    base = new_base(path)
    state, other = state_after("tic_tac_toe", "b2 a2"), state_after("tic_tac_toe", "b2 a1")
    base.learn(state, result_of({0: (100, 1.0)}))
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            assert known_of(base, state) == {0: (100, 100.0)}
            assert known_of(KnowledgeBase(path), state) == {0: (100, 100.0)}
            if writes:
                base.learn(other, result_of({2: (100, 1.0)}))
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert known_of(base, other) == ({2: (100, 100.0)} if writes else {})
    base.learn(other, result_of({2: (100, 1.0)}))
    assert known_of(base, other) == ({2: (200, 200.0)} if writes else {2: (100, 100.0)})


def test_bases_of_one_file_in_one_process_see_each_others_writes(path: Path) -> None:
    base, reader = new_base(path), KnowledgeBase(path)
    state = state_after("tic_tac_toe", "b2 a2")
    assert reader.lookup(state) is None
    base.learn(state, result_of({0: (100, 1.0)}))
    assert known_of(reader, state) == {0: (100, 100.0)}
    base.close()
    reader.learn(state, result_of({0: (100, 1.0)}))
    assert known_of(reader, state) == {0: (200, 200.0)}


# Bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 2.5}, "threshold must be from 0 to 2 in this base"),
        ({"threshold": -1}, "threshold must be from 0 to 2 in this base"),
        ({"use": "guess"}, "use must be one of play, seed"),
        ({"virtual": 0}, "virtual must be a number of playouts from 1 to 1e6"),
    ],
)
def test_parameters_out_of_range_are_refused(path: Path, options: dict[str, Any], message: str) -> None:
    new_base(path)
    with pytest.raises(ValueError, match=message):
        KnowledgeBase(path, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": -1}, "alpha must be a number from 0 to 100"),
        ({"alpha": 1, "threshold_to_learn": 2.1}, "threshold_to_learn must be a number from 0 to 2"),
        ({"threshold_to_play": np.nan}, "threshold_to_play must be a number from 0 to 2"),
    ],
)
def test_a_base_with_parameters_out_of_range_is_not_made(path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        new_base(path, **options)
    assert not path.exists()


def test_a_game_with_settings_that_no_text_has_is_refused(path: Path) -> None:
    rules = replace(make_rules("tic_tac_toe"), settings={"pieces": [object()]})
    with pytest.raises(TypeError, match="a base is of a game whose settings are numbers and texts"):
        KnowledgeBase.create(path, rules, "uct")
    assert not path.exists()


def test_a_game_with_wrong_symmetries_is_refused(path: Path) -> None:
    rules = make_rules("tic_tac_toe")
    assert rules.symmetries is not None
    wrong = rules.symmetries._replace(bits=rules.symmetries.bits[::-1].copy())
    with pytest.raises(ValueError, match="symmetry 1 of tic_tac_toe_v0"):
        KnowledgeBase.create(path, replace(rules, symmetries=wrong), "uct")
    assert not path.exists()


def test_anything_but_a_base_or_a_path_is_refused() -> None:
    with pytest.raises(TypeError, match="knowledge must be a KnowledgeBase or the path of one, not 5"):
        ucd_planners.uct(knowledge=5)  # type: ignore[arg-type]


@pytest.mark.parametrize(("game", "settings"), [("tic_tac_toe", {}), ("hex", {"size": 5}), ("hex", {"size": 4, "swap": True})])
def test_a_base_of_another_game_or_configuration_is_refused(path: Path, game: str, settings: dict[str, Any]) -> None:
    base = new_base(path, "hex", size=4)
    rules = make_rules(game, **settings)
    planner = ucd_planners.uct(playouts=5, knowledge=base)
    message = r"some.lmdb is a base of hex_v0\(rows=4, columns=4, swap=False, opening=''\), not of .*: make another base"
    for refused in (
        lambda: planner.check(rules),
        lambda: planner.search(rules.initial_state()),
        lambda: base.lookup(rules.initial_state()),
        lambda: base.learn(rules.initial_state(), result_of({0: (10, 1.0)})),
    ):
        with pytest.raises(ValueError, match=message):
            refused()
    assert len(base) == 0


@pytest.mark.parametrize("field", ["rules", "key", "actions"])
def test_a_base_of_another_version_of_the_game_is_refused(path: Path, field: str) -> None:
    base = new_base(path)
    vars(base.header)[field] = 0 if field == "actions" else "another with the ply"
    with pytest.raises(ValueError, match=r"another version of tic_tac_toe_v0.*, whose positions have other keys: make"):
        base.check(make_rules("tic_tac_toe"))


def test_a_game_with_longer_keys_than_lmdb_has_is_refused(path: Path) -> None:
    rules = replace(make_rules("tic_tac_toe"), key_words=63)
    with pytest.raises(ValueError, match="keys of a knowledge base have at most 511 bytes"):
        KnowledgeBase.create(path, rules, "uct")
