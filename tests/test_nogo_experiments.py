"""The experiments on NoGo: planners that search a variant of the game, planners with a trained base, and their figures."""

from __future__ import annotations

from pathlib import Path

import pytest

import ucd_envs
from ucd_envs.rules import State
from ucd_planners.arena.agents import agent_from
from ucd_planners.arena.match import Match, play_match
from ucd_planners.arena.trained import TrainedAgent, trained
from ucd_planners.arena.training import Training
from ucd_planners.arena.variants import variant
from ucd_planners.experiments import experiment_named, nogo
from ucd_planners.knowledge_base import KnowledgeBase
from ucd_planners.planner import Planner

UCT = "uct(c=0.3,playouts=30)"


def start(**settings: object) -> State:
    return ucd_envs.make_rules("nogo", **{"size": 4, **settings}).initial_state()


# Variants


def test_a_variant_is_what_the_planner_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The position is the same, and the legal moves are those of the variant."""
    seen: list[State] = []
    search = Planner.search
    monkeypatch.setattr(Planner, "search", lambda self, env, **call: [seen.append(env), search(self, env, **call)][1])
    agent = variant(UCT, "nogo(size=4,irrational=true)")
    agent.begin(start().rules, 1, None)
    state = start().after(1).after(10).after(4)  # White has no liberty on a1, between black stones on b1 and a2
    agent.choose(state, [])
    assert (seen[0].data, seen[0].rules.settings["irrational"]) == (state.data, True)
    assert set(state.legal_actions()) < set(seen[0].legal_actions())


@pytest.mark.parametrize("other", ["go(size=4)", "hex(size=4)", "nogo(size=5)"])
def test_another_game_is_no_variant(other: str) -> None:
    with pytest.raises(ValueError, match=r" is no variant of nogo_v0\(.*\): it has other states or actions\Z"):
        variant(UCT, other).begin(start().rules, 1, None)


def test_a_match_of_variants_is_played_and_told_apart_from_others() -> None:
    text = "ucd_planners.arena.variants:variant(planner='uct(c=0.3)',game='nogo(size=4,irrational={})')"
    matches = [Match("nogo", text.format(word), "uct(c=0.3)", {"size": 4}, {"playouts": 40}, 4) for word in ("true", "false")]
    results = [play_match(match) for match in matches]
    assert all(result.score().games == 4 for result in results)
    assert [game.playouts for result in results for game in result.games if min(game.playouts) == 0] == []
    assert matches[0].facts() != matches[1].facts()


def test_a_variant_of_the_same_rules_plays_as_the_planner_itself() -> None:
    text = "ucd_planners.arena.variants:variant(planner='uct(c=0.3)',game='nogo(size=4)')"
    plain, within = (Match("nogo", a, "uct(c=0.3)", {"size": 4}, {"playouts": 40}, 4) for a in ("uct(c=0.3)", text))
    assert [game.moves for game in play_match(plain).games] == [game.moves for game in play_match(within).games]


# Trained bases


def test_a_base_is_filled_by_the_stated_training_and_serves_the_next_games(tmp_path: Path) -> None:
    place = tmp_path / "bases" / "nogo.lmdb"
    agent = trained("uct(c=0.3)", str(place), games=3, training=40, playouts=30)
    agent.begin(start().rules, 1, None)
    assert agent.planner.knowledge is not None
    facts = {"threshold_to_learn": 0.5, "threshold_to_play": 2.0}
    other = KnowledgeBase.create(tmp_path / "other.lmdb", start().rules, "uct(c=0.3)", **facts)
    Training(other, {"playouts": 40}).play(3)
    written = [(key, total, moves.tobytes()) for key, total, moves in agent.planner.knowledge.entries()]
    assert written == [(key, total, moves.tobytes()) for key, total, moves in other.entries()]
    assert len(written) > 3
    before = place.read_bytes()
    for seed in (1, 2):
        agent.begin(start().rules, seed, None)
        move = agent.choose(start(), [])
        assert (move.playouts, move.action in start().legal_actions()) == (0, True)  # the base knows the start
    assert place.read_bytes() == before
    assert sorted(path.name for path in place.parent.iterdir()) == ["nogo.lmdb", "nogo.lmdb-lock"]


def test_a_stopped_training_leaves_no_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Training, "play", lambda self, games: False)
    with pytest.raises(KeyboardInterrupt):
        trained("uct", str(tmp_path / "nogo.lmdb"), games=3, playouts=30).begin(start().rules, 1, None)
    assert list(tmp_path.iterdir()) == []


def test_a_base_of_another_game_is_refused(tmp_path: Path) -> None:
    KnowledgeBase.create(tmp_path / "nogo.lmdb", start(size=5).rules, "uct")
    with pytest.raises(ValueError, match=r"nogo\.lmdb is a base of nogo_v0\(rows=5"):
        trained("uct", str(tmp_path / "nogo.lmdb"), games=3, playouts=30).begin(start().rules, 1, None)


@pytest.mark.parametrize(
    "wrong", [{"games": 0}, {"games": 1, "training": 0}, {"games": 1, "least": 2.5}, {"games": 1, "seconds": -1.0}]
)
def test_an_impossible_training_is_refused(wrong: dict[str, float], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\A(games|training|least|seconds) must be "):
        trained("uct", str(tmp_path / "nogo.lmdb"), **{"games": 1, **wrong})  # type: ignore[arg-type]


# The experiments


def test_each_part_plays_the_program_without_it_in_equal_time() -> None:
    settings = experiment_named("nogo").settings(2, 0)
    assert [tuple(each.labels.values()) for each in settings] == list(nogo.PARTS)
    assert {str(each.match.budget) for each in settings} == {str({"seconds": nogo.SECONDS})}
    words = ("irrational=true", "generation=points", "generation=search", "reuse_graph=true")
    for word, setting in zip(words, settings, strict=True):
        assert [word in text for text in (setting.match.a, setting.match.b)] == [word == words[3], word != words[3]]
        assert all(agent_from(text, setting.match.budget) for text in (setting.match.a, setting.match.b))


def test_a_base_of_each_training_plays_the_planner_without_one() -> None:
    for setting, games in zip(experiment_named("nogo-knowledge").settings(2, 0), nogo.LEARNED, strict=True):
        agent = agent_from(setting.match.a, setting.match.budget)
        assert isinstance(agent, TrainedAgent)
        assert (agent.games, agent.training, agent.budget) == (int(games), nogo.TRAINING, setting.match.budget)
        assert str(agent.base) == f"results/nogo-{games}.lmdb"
        assert setting.match.b == "uct(c=0.3)"


def test_the_figures_of_a_kept_tree_are_those_of_its_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has visits from earlier searches, which a new tree has not; every search has its budget."""
    monkeypatch.setattr(nogo, "SHARED", 200)
    one, two = nogo.PARTS["kept tree", "new tree"]
    match = Match("nogo_v0", one.text, two.text, {"size": 5}, {"playouts": 100}, 2)
    games = play_match(match).games
    kept, new = (nogo.figures(side, match, games, number) for number, side in enumerate((one, two)))
    assert kept.playouts == new.playouts == 100
    assert (kept.reused > 0, new.reused) == (True, 0)
    assert min(kept.nodes, kept.depth, kept.in_playouts, new.nodes, new.depth, new.in_playouts) > 0


def test_a_row_without_games_has_all_its_columns() -> None:
    (setting, *_) = experiment_named("nogo").settings(2, 0)
    row = experiment_named("nogo").measure(setting, [])
    assert {f"{name}_{side}" for name in nogo.Figures._fields for side in "ab"} < row.keys()
    assert all(row[f"{name}_a"] is None for name in nogo.Figures._fields)
