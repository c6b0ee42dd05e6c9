"""Tournaments: fair pairs from one opening, games that depend on nothing else, one store, and failures kept apart."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ucd_envs.registry import make_rules
from ucd_envs.rules import Rules
from ucd_planners.arena.agents import FailedError, RandomAgent
from ucd_planners.arena.match import play_match
from ucd_planners.arena.store import Store
from ucd_planners.cli import main
from ucd_planners.ratings.openings import GivenOpenings, RandomOpenings, openings_in
from ucd_planners.ratings.perfect import Perfect
from ucd_planners.ratings.schedule import play
from ucd_planners.ratings.sequential import SPRT
from ucd_planners.ratings.tournament import Tournament, claim

PLAYERS = ("uct(playouts=5)", "uct(playouts=20)", "random")


class Moody(RandomAgent):
    """A random player that fails in some games."""

    def begin(self, rules: Rules, seed: int, stop: Any) -> None:
        super().begin(rules, seed, stop)
        if random.Random(seed).random() < 0.2:
            raise FailedError("is not in the mood")


def moody() -> Moody:
    return Moody()


def noughts(**changes: Any) -> Tournament:
    usual: dict[str, Any] = {"games": 12, "seed": 3}
    return Tournament("tic_tac_toe", PLAYERS, **(usual | changes))


def lines(tournament: Tournament, store: Store) -> list[list[tuple[int, ...]]]:
    """The moves of all games by pairing."""
    return [[game.moves for game in store.games(match)] for match in tournament.matches()]


# The same games everywhere.


def test_games_depend_neither_on_jobs_nor_on_an_interruption(tmp_path: Path) -> None:
    """A store with the first games, as after a stop, ends as one that was played at once on two workers."""
    with Store(tmp_path / "at_once") as whole, Store(tmp_path / "in_parts") as parts:
        assert play(noughts(), whole, jobs=2)
        assert play(noughts(games=4), parts)
        assert play(noughts(), parts)
        assert lines(noughts(), whole) == lines(noughts(), parts)


def test_games_depend_neither_on_other_players_nor_on_their_order(tmp_path: Path) -> None:
    with Store(tmp_path / "games") as store:
        assert play(noughts(), store)
        turned = Tournament("tic_tac_toe", PLAYERS[::-1], games=12, seed=3)
        assert all(not store.missing(match) for match in turned.matches())


# Openings.


def test_both_games_of_a_pair_begin_with_the_same_opening() -> None:
    """B118d: and colours are swapped."""
    match = noughts(openings=RandomOpenings(3, 1)).matches()[0]
    played = play_match(match).games
    for one, other in zip(played[::2], played[1::2], strict=True):
        assert one.moves[:3] == other.moves[:3]
        assert {one.seat, other.seat} == {0, 1}
    assert len({game.moves[:3] for game in played}) > 3


def test_random_openings_leave_the_game_open() -> None:
    """After five plies of tic-tac-toe a third of all games is lost for one side; exact values tell which are drawn."""
    rules, judge = make_rules("tic_tac_toe"), Perfect()
    judge.begin(rules, 0, None)

    def drawn(line: Sequence[int]) -> bool:
        state = rules.initial_state()
        for action in line:
            state = state.after(action)
        return not state.over and judge.value(state) == 0.5

    openings = RandomOpenings(5, 2)
    assert sum(drawn(openings.moves(rules, pair)) for pair in range(60)) >= 45
    assert sum(drawn(random_line(rules, 5, pair)) for pair in range(60)) <= 35


def random_line(rules: Rules, plies: int, seed: int) -> list[int]:
    draw, state = random.Random(seed), rules.initial_state()
    line: list[int] = []
    for _ in range(plies):
        line.append(draw.choice(state.legal_actions()))
        state = state.after(line[-1])
        if state.over:
            break
    return line


def test_openings_of_a_file_are_played_in_turn(tmp_path: Path) -> None:
    (tmp_path / "openings").write_text("# two\nb2 a1\n\na1 b2 c3\n")
    given = openings_in(str(tmp_path / "openings"))
    rules = make_rules("tic_tac_toe")
    names = [[rules.initial_state().action_name(action) for action in given.moves(rules, pair)] for pair in range(3)]
    assert names == [["b2", "a1"], ["a1", "b2", "c3"], ["b2", "a1"]]


@pytest.mark.parametrize(
    ("text", "said"),
    [("b2 b2", "not legal"), ("z9", "not legal"), ("a1 b1 a2 b2 a3", "ends the game"), ("a1 b1 a2 b2 a3 c1", "goes on after")],
)
def test_openings_that_cannot_be_played_are_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        noughts(openings=GivenOpenings((text,)))


def test_random_plies_that_end_every_game_are_refused() -> None:
    with pytest.raises(ValueError, match="random plies end every game"):
        RandomOpenings(9, 0).moves(make_rules("tic_tac_toe"), 0)


# Statistics of a tournament.


def run(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> dict[str, Any]:
    """The object that a command prints."""
    assert main([*words, "--json"]) == status
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    return printed


def test_identical_players_share_the_points(capsys: pytest.CaptureFixture[str]) -> None:
    """B118b: 400 games by named fields; the first player's advantage is in both players' scores."""
    report = run(
        capsys, "tournament", "--game", "tic_tac_toe", "--player", "random", "--player", "uct(playouts=1)", "--games", "400"
    )
    (pairing,) = report["pairings"]
    assert abs(pairing["percent"] - 50) < 5
    assert [row["ranks"] for row in report["players"]] == [[1, 2], [1, 2]]
    assert sum(pairing["pentanomial"]) == 200


def test_games_that_repeat_each_other_are_counted_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    """B118a: perfect play of Hex 2x2 from one opening has few games."""
    words = ("--game", "hex", "--size", "2", "--player", "random", "--player", "uct(playouts=50)", "--games", "40")
    assert main(["tournament", *words]) == 0
    assert "fewer than 90% of the games are distinct in 1 pairings" in capsys.readouterr().out


def test_games_of_an_agent_that_fails_count_for_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    """B118h: a failure is an outcome of its own, and its pair is left out."""
    words = ("--player", "test_tournament:moody", "--player", "uct(playouts=50)", "--games", "40")
    report = run(capsys, "tournament", "--game", "tic_tac_toe", *words, status=1)
    (pairing,) = report["pairings"]
    assert report["failures"] == {"test_tournament:moody is not in the mood": 40 - pairing["games"]}
    assert 0 < pairing["games"] < 40
    assert 0 < pairing["pairs"] <= pairing["games"] // 2


def test_a_sequential_test_stops_early_with_the_same_answer_on_any_workers(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--game", "tic_tac_toe", "--player", "uct(playouts=50)", "--player", "random", "--games", "1000")
    reports = [run(capsys, "tournament", *words, "--sprt", "0,100", "--jobs", jobs) for jobs in ("1", "2")]
    assert reports[0]["sprt"] == reports[1]["sprt"]
    assert reports[0]["sprt"]["accepted"] == "H1"
    assert reports[0]["pairings"][0]["games"] < 1000


def test_a_sequential_test_is_between_two_players(tmp_path: Path) -> None:
    with Store(tmp_path / "games") as store, pytest.raises(ValueError, match="between two players"):
        play(noughts(), store, test=SPRT())


def test_a_ladder_of_budgets_rises(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--game", "hex", "--size", "4", "--player", "uct", "--budgets", "1,10,100", "--games", "60")
    report = run(capsys, "tournament", *words, "--anchor", "uct(c=0.3,playouts=1)")
    assert [row["player"] for row in report["players"]] == [f"uct(c=0.3,playouts={count})" for count in (100, 10, 1)]
    assert report["players"][-1]["elo"] == 0
    assert [row["pairs"] for row in report["pairings"]] == [30, 30]


def test_a_gauntlet_is_the_first_against_all_others() -> None:
    assert noughts(form="gauntlet").places() == [(0, 1), (0, 2)]


# Bad input.


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"games": 11}, "even number"),
        ({"form": "swiss"}, "form must be one of"),
    ],
)
def test_what_cannot_be_a_tournament_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        noughts(**changes)


@pytest.mark.parametrize(
    ("players", "said"),
    [(["uct"], "at least two players"), (["uct", "uct(c=0.30)"], "there twice"), (["uct", "nobody"], "nobody")],
)
def test_players_must_be_two_different_ones(players: list[str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Tournament("tic_tac_toe", players)


def test_a_store_of_another_tournament_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path / "games") as store:
        play(noughts(games=2), store)
        claim(noughts(games=4), store)
        with pytest.raises(ValueError, match="another tournament"):
            claim(noughts(openings=RandomOpenings(4, 3)), store)
        with pytest.raises(ValueError, match="another tournament"):
            claim(Tournament("hex", PLAYERS, settings={"size": 3}), store)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--player", "uct", "--player", "random", "--sprt", "0"], "two numbers"),
        (["--player", "uct", "--player", "random", "--sprt", "0,5", "--alpha", "2"], "alpha and beta"),
        (["--player", "uct", "--player", "random", "--anchor", "rave"], "none of the players"),
        (["--player", "uct", "--player", "random", "--budgets", "1,2"], "one player"),
        (["--player", "uct", "--budgets", "1,two"], "must be numbers"),
        (["--player", "uct", "--player", "random", "--openings", "nowhere"], "cannot be read"),
        (["--player", "uct", "--player", "random", "--plies", "-1"], "plies"),
    ],
)
def test_a_command_that_cannot_be_run_says_why(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tournament", "--game", "tic_tac_toe", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_the_power_calculation_prints_a_number_of_games(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tournament", "--power", "3"]) == 0
    assert capsys.readouterr().out.startswith("2,182 games show a score of 53%")


# Overhead.


@pytest.mark.slow
def test_ten_thousand_short_games_spend_their_time_in_games(tmp_path: Path) -> None:
    """The CPU time of a round robin of tic-tac-toe is at most a quarter above that of its games."""
    tournament = Tournament("tic_tac_toe", PLAYERS, games=3334)
    with Store(tmp_path / "games") as store:
        began = time.process_time()
        play(tournament, store)
        spent = time.process_time() - began
        playing = sum(game.seconds for match in tournament.matches() for game in store.games(match))
    assert spent < 1.25 * playing
