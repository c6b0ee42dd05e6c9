"""The rated ladder: perfect play, the kept ratings, the place of a player, and the best program of a game."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ucd_planners
from ucd_envs.registry import make_rules
from ucd_planners.arena.agents import FailedError
from ucd_planners.arena.match import Match, play_match
from ucd_planners.arena.store import Store
from ucd_planners.cli import main
from ucd_planners.ratings.ladder import Ladder, Placed, kept_ladders, ladder_of, narrow, next_rung, placed, sentence
from ucd_planners.ratings.perfect import REFERENCE, Perfect
from ucd_planners.ratings.placing import Placing
from ucd_planners.ratings.rungs import PLAYOUTS, Rungs, rung, rungs_of
from ucd_planners.strong import PLACE, ladders

LADDERS = kept_ladders()
every_ladder = pytest.mark.parametrize("ladder", LADDERS, ids=lambda ladder: ladder.name)


def solved(name: str, **settings: int) -> tuple[Perfect, Any]:
    """An agent that knows the values of a game, and the game's start."""
    rules, agent = make_rules(name, **settings), Perfect()
    agent.begin(rules, 0, None)
    return agent, rules.initial_state()


# Perfect play.


@pytest.mark.parametrize(
    ("game", "settings"),
    [("tic_tac_toe", {}), ("connect_four", {"columns": 4, "rows": 4}), ("connect_four", {"columns": 4, "rows": 3})],
)
def test_small_games_are_drawn(game: str, settings: dict[str, int]) -> None:
    """Connect Four with four columns is drawn for all heights up to 8 [Tromp, solutions of small boards]."""
    agent, start = solved(game, **settings)
    assert agent.value(start) == 0.5


def test_the_openings_that_win_hex_3x3_are_the_five_known_ones() -> None:
    """c1, a2, b2, c2 and a3, by exhaustive solutions of small boards."""
    agent, start = solved("hex", size=3)
    won = {start.action_name(action) for action in start.legal_actions() if agent.value(start.after(action)) == 1.0}
    assert won == {"c1", "a2", "b2", "c2", "a3"}


def test_perfect_play_never_loses_tic_tac_toe() -> None:
    payoffs = play_match(Match("tic_tac_toe", REFERENCE, "uct(playouts=50)", games=60)).score().payoffs
    assert min(payoffs) == 0.5 < max(payoffs)


def test_perfect_play_refuses_a_game_that_is_too_large() -> None:
    rules, agent = make_rules("connect_four"), Perfect(most=1000)
    agent.begin(rules, 0, None)
    with pytest.raises(FailedError, match="more than 1,000 positions"):
        agent.choose(rules.initial_state(), [])


def test_perfect_play_refuses_chance() -> None:
    with pytest.raises(FailedError, match="without chance"):
        Perfect().begin(make_rules("einstein"), 0, None)


# The kept ladders.


@every_ladder
def test_kept_ratings_follow_from_the_kept_results(ladder: Ladder) -> None:
    ratings = ladder.ratings()
    for place, row in enumerate(ladders()[ladder.name]["players"]):
        assert row["elo"] == pytest.approx(ratings.elo[place], abs=0.06)


@every_ladder
def test_a_ladder_rises_from_1_to_1000_playouts(ladder: Ladder) -> None:
    """Above that, small games have nothing left to gain."""
    ratings, places = ladder.ratings(), [place for place, playouts in ladder.rungs if playouts <= 1000]
    assert all(ratings.difference(upper, lower)[1] > 0 for lower, upper in pairwise(places))


@every_ladder
def test_perfect_play_is_not_below_any_rung(ladder: Ladder) -> None:
    """As far as intervals tell."""
    if REFERENCE in ladder.players:
        top, ratings = ladder.players.index(REFERENCE), ladder.ratings()
        assert all(ratings.difference(top, place)[2] > 0 for place in range(len(ladder.players)) if place != top)


def test_a_game_without_a_ladder_is_told_which_games_have_one() -> None:
    with pytest.raises(ValueError, match=r"has no ladder: there is one of .*connect_four_v0"):
        ladder_of("pig", {})


def test_a_ladder_needs_two_players() -> None:
    with pytest.raises(ValueError, match="two players"):
        rungs_of("leftright", {})


# The place of a player.


def straight() -> Ladder:
    """A ladder on which each rung takes 3 of 4 points from the one below, so that it rises by 190.8 Elo."""
    counts = (0, 0, 1000, 0, 1000)
    results = tuple((place + 1, place, counts) for place in range(len(PLAYOUTS) - 1))
    return Ladder("hex", "hex", {"size": 3}, tuple(map(rung, PLAYOUTS)), results)


def share(score: float) -> list[float]:
    """Scores of 400 pairs with a mean."""
    won = round(400 * score)
    return [1.0] * won + [0.0] * (400 - won)


def test_the_rungs_of_a_straight_ladder_are_where_their_scores_say() -> None:
    """400 log10 3 = 190.85."""
    assert straight().ratings().elo == pytest.approx([190.85 * place for place in range(6)], abs=0.1)


def test_a_player_between_two_rungs_has_the_playouts_between_them() -> None:
    """As strong as halfway from 100 to 1,000: 95.42 Elo above the one, a score of 1 / (1 + 3^-0.5) = 0.634."""
    found = placed(straight(), {2: share(0.634), 3: share(0.366)})
    assert math.log10(found.playouts) == pytest.approx(2.5, abs=0.02)
    assert 200 < found.fewest < 316 < found.most < 500


def test_a_player_beyond_the_ladder_has_no_number() -> None:
    above, below = placed(straight(), {5: share(0.9)}), placed(straight(), {0: share(0.1)})
    assert (above.playouts, above.fewest, above.most) == (math.inf, math.inf, math.inf)
    assert (below.playouts, below.fewest, below.most) == (0, 0, 0)
    assert sentence(above, 1, 100_000) == "stronger than UCT with 100,000 playouts, the highest rung (the whole interval is)"
    assert sentence(below, 1, 100_000) == "weaker than UCT with 1 playout, the lowest rung (the whole interval is)"


def test_a_player_that_won_everything_is_bounded_from_below_only() -> None:
    found = placed(straight(), {3: [1.0] * 10})
    assert found.most == math.inf
    assert 0 < found.fewest < math.inf


def test_an_answer_is_one_sentence_with_two_digits() -> None:
    assert sentence(Placed(0, 0, 0, 3021, 2234, 4146), 1, 10**5) == "as strong as UCT with 3,000 playouts (2,200 to 4,100)"
    assert sentence(Placed(0, 0, 0, 2.34, 0, math.inf), 1, 10**5).endswith("2.3 playouts (less than 1 to more than 100,000)")


def test_the_search_for_a_place_begins_in_the_middle_and_follows_the_results() -> None:
    ladder = straight()
    assert next_rung(ladder, {}) == 3
    assert next_rung(ladder, {3: [1.0] * 5}) == 4
    assert next_rung(ladder, {3: [0.0] * 5}) == 2
    assert next_rung(ladder, {5: [1.0] * 5}) == 5
    assert next_rung(ladder, {3: share(0.4)}) == 2
    assert next_rung(ladder, {2: share(0.7) * 2, 3: share(0.4)}) == 3
    assert next_rung(ladder, {0: share(0.1)}) == 0
    assert next_rung(ladder, {5: share(0.9)}) == 5


def test_an_interval_is_narrow_by_its_factor() -> None:
    found = Placed(0, 0, 0, 100, 60, 170)
    assert narrow(found, 3.0)
    assert not narrow(found, 2.0)
    assert not narrow(Placed(0, 0, 0, 100, 0, 0), 2.0)


def test_a_rung_is_placed_where_it_stands() -> None:
    """UCT with 10 playouts on Hex 3x3, in 60 games; the answer is the same on two workers."""
    places = []
    for jobs in (1, 2):
        placing = Placing(ladder_of("hex", {"size": 3}), "uct(playouts=10)", games=60, seed=2)
        assert placing.play(jobs)
        places.append(placing.place)
    assert places[0] == places[1]
    assert places[0] is not None
    assert places[0].fewest < 10 < places[0].most


def test_a_placing_goes_on_from_its_store(tmp_path: Path) -> None:
    with Store(tmp_path / "games") as store:
        played: list[Any] = []
        for games, new in ((20, 20), (40, 20), (40, 0)):
            placing = Placing(ladder_of("hex", {"size": 3}), "random", games=games, factor=1.01, store=store)
            before = len(played)
            assert placing.play(progress=played.append)
            assert len(played) - before == new


@pytest.mark.parametrize(("changes", "said"), [({"games": 7}, "even number"), ({"factor": 1.0}, "factor must be above 1")])
def test_a_placing_that_cannot_end_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Placing(straight(), "random", **changes)


# The command.


def test_the_command_answers_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rate", "--game", "hex", "--size", "3", "--agent", "random", "--games", "40"]) == 0
    first, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("random in hex_v0(rows=3, columns=3, swap=False, opening=''): ")
    assert "UCT with" in first


def test_an_agent_that_fails_in_all_games_has_no_place(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["rate", "--game", "hex", "--size", "3", "--agent", f"{REFERENCE}(most=1)", "--games", "10", "--json"]
    assert main(words) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["answer"] is None
    assert sum(report["failures"].values()) == 10


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--game", "pig"], "has no ladder"),
        (["--agent", "random"], "needs a game"),
        (["--game", "hex", "--build"], "needs --store"),
        (["--ladders", "nowhere"], "no file of ladders"),
        (["--game", "hex", "--size", "3", "--agent", "nobody"], "nobody"),
    ],
)
def test_a_command_that_cannot_be_run_says_why(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rate", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_ladder_is_built_from_its_store_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With rungs of few playouts in place of the usual ones."""
    from ucd_planners.ratings import rungs

    monkeypatch.setattr(rungs, "PLAYOUTS", (1, 2, 4))
    monkeypatch.setattr(rungs, "PROGRAM_PLAYOUTS", 2)
    monkeypatch.setattr(rungs, "OWN", (Rungs("hex", {"size": 2}, ("rave",), perfect=True),))
    file, store = tmp_path / "ladders.json", str(tmp_path / "games")
    words = ["rate", "--build", "--store", store, "--ladders", str(file), "--games", "20"]
    assert main(words) == 0
    first = file.read_text()
    assert main(words) == 0
    assert file.read_text() == first
    (row,) = json.loads(first).values()
    assert [player["playouts"] for player in row["players"]] == [1, 2, 4, None, None]
    assert [player["program"] for player in row["players"]] == [False, True, False, True, False]
    assert "kept in" in capsys.readouterr().out


# The best program.


def test_the_strong_opponent_is_the_best_program_of_its_ladder() -> None:
    row = ladders()["hex_v0(rows=5, columns=5, swap=False, opening='')"]
    best = max((player for player in row["players"] if player["program"]), key=lambda player: player["elo"])
    planner = ucd_planners.strong("hex-v0", size=5)
    assert planner.playouts == 10_000
    assert best["player"].startswith(planner.name)
    assert ucd_planners.strong("hex_v0", size=11).playouts == 10_000


def test_a_configuration_is_the_same_in_whatever_words() -> None:
    assert ucd_planners.strong("hex", rows=5, columns=5).name == ucd_planners.strong("hex_v0", size=5).name
    with pytest.raises(TypeError, match="hex_v0 has no setting 'sise'"):
        ucd_planners.strong("hex", sise=5)


def test_a_game_without_a_ladder_has_no_strong_opponent() -> None:
    with pytest.raises(ValueError, match="has no ladder that says which program is best"):
        ucd_planners.strong("pig")


def test_ladders_are_small() -> None:
    assert PLACE.stat().st_size < 100_000
    assert all(np.isfinite(ladder.ratings().elo).all() for ladder in LADDERS)
