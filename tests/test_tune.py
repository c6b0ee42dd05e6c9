"""Tuning: proposals that depend on seeds alone, an honest score of the best one, and what cannot be tuned."""

from __future__ import annotations

import json
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest

from ucd_planners import cli
from ucd_planners.arena import contest, tuning
from ucd_planners.arena.match import Game, Match, Score, play_game
from ucd_planners.arena.store import Store
from ucd_planners.arena.tuning import Range, Trial, Tuned, Tuning, range_from, tune

NOUGHTS = Tuning(
    "tic_tac_toe", "uct", (Range("c", 0.05, 2.0, log=True),), budget={"playouts": 5}, trials=14, games=20, again=20, seed=3
)


def tuned(tmp_path: Path, what: Tuning = NOUGHTS, name: str = "games.sqlite", **given: Any) -> Tuned:
    with Store(tmp_path / name) as store:
        return tune(what, store, **given)


def told(result: Tuned) -> list[Any]:
    """All of a tuning but the times of its games."""
    again = [] if result.again is None else [(game.number, game.moves, game.payoff) for game in result.again.games]
    return [result.trials, again]


# The same everywhere.


def test_a_tuning_does_not_depend_on_who_plays(tmp_path: Path) -> None:
    """The estimator proposes from the eleventh trial on."""
    expected = told(tuned(tmp_path))
    assert told(tuned(tmp_path, name="two.sqlite", jobs=2)) == expected
    with ThreadPoolExecutor(3) as executor:
        assert told(tuned(tmp_path, name="threads.sqlite", jobs=3, executor=executor)) == expected
    assert told(tuned(tmp_path, replace(NOUGHTS, seed=4), "other.sqlite")) != expected


def test_a_tuning_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[tuple[str, int]] = []

    def play(match: Match, number: int, stop: Any = None) -> Game:
        begun.append((str(match.a), number + (match.seed != 3) * 10**6))
        return play_game(match, number, stop)

    monkeypatch.setattr(contest, "play_game", play)

    def interrupted(trial: Trial) -> None:
        if trial.number == 5:
            raise KeyboardInterrupt

    half = tuned(tmp_path, progress=interrupted)
    assert ([trial.number for trial in half.trials], half.again) == ([0, 1, 2, 3], None)
    whole = tuned(tmp_path)
    assert len(begun) == len(set(begun))
    assert told(whole) == told(tuned(tmp_path, name="undisturbed.sqlite"))
    played = len(begun)
    assert told(tuned(tmp_path)) == told(whole)
    assert len(begun) == played


def test_more_trials_begin_with_the_same_ones(tmp_path: Path) -> None:
    """Groups have 4 trials."""
    fewer = tuned(tmp_path, replace(NOUGHTS, trials=12, games=2, again=2)).trials
    assert tuned(tmp_path, replace(NOUGHTS, trials=16, games=2, again=2)).trials[:12] == fewer


# The search and its result.


def test_a_better_parameter_is_found(tmp_path: Path) -> None:
    """Playouts of 1, 3 and 300: a planner that looks ahead beats one that does not."""
    what = Tuning("hex", "uct", (Range("playouts", choices=(1, 3, 300)),), "uct(playouts=3)", {"size": 3}, trials=8, games=40)
    result = tuned(tmp_path, replace(what, again=40))
    assert result.best is not None
    assert result.best.values == {"playouts": 300}
    assert result.again is not None
    assert result.again.score().interval[0] > 0.6


def test_the_winner_is_scored_on_fresh_seeds(tmp_path: Path) -> None:
    result = tuned(tmp_path)
    assert result.best is not None
    assert result.again is not None
    match = NOUGHTS.match(result.best.values, 20, NOUGHTS.fresh_seed)
    assert NOUGHTS.fresh_seed != NOUGHTS.seed
    assert [game.moves for game in result.again.games] == [play_game(match, number).moves for number in range(20)]


def test_a_trial_is_pruned_when_its_interval_is_below_the_best(tmp_path: Path) -> None:
    """One playout a move is hopeless against 300, and is seen to be so after the first 20 games."""
    what = Tuning("hex", "uct", (Range("playouts", choices=(1, 300)),), "uct(playouts=100)", {"size": 3}, trials=8, games=80)
    trials = tuned(tmp_path, replace(what, again=2)).trials
    pruned = [trial for trial in trials[4:] if trial.values == {"playouts": 1}]
    assert pruned
    assert all(trial.pruned and trial.score.games == 20 for trial in pruned)
    assert not any(trial.pruned for trial in trials[:4])


def test_the_best_trial_is_the_first_of_those_with_the_highest_mean() -> None:
    scores = [(0.5, False), (1.0, True), (0.7, False), (0.7, False)]
    trials = [Trial(i, {}, "uct", Score((mean,)), pruned) for i, (mean, pruned) in enumerate(scores)]
    assert Tuned(trials).best is trials[2]
    assert Tuned([]).best is None


def test_a_game_of_one_player_has_no_opponent(tmp_path: Path) -> None:
    what = Tuning("leftright", "uct", (Range("playouts", 1, 40, whole=True),), None, {"steps": 5}, trials=4, games=4, again=4)
    result = tuned(tmp_path, what)
    assert result.best is not None
    assert what.opponent is None


def test_a_game_that_fails_ends_the_tuning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        contest, "play_game", lambda match, number, stop: replace(play_game(match, number), failure="b has ended")
    )
    with pytest.raises(RuntimeError, match=r"\Aa game of the tuning has failed: b has ended\Z"):
        tuned(tmp_path)


def test_optuna_says_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = optuna.logging.get_verbosity()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tuned(tmp_path, replace(NOUGHTS, trials=2, games=2, again=2))
    assert (capfd.readouterr(), optuna.logging.get_verbosity()) == (("", ""), before)


# Ranges and texts.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("c=0.05:2:log", Range("c", 0.05, 2.0, log=True)),
        ("d1=0:3", Range("d1", 0, 3, whole=True)),
        ("c=0:1.0", Range("c", 0, 1)),
        ("c=-1e-3:.5", Range("c", -0.001, 0.5)),
        ("reuse_graph=true,false", Range("reuse_graph", choices=(True, False))),
        ("d1=1, inf", Range("d1", choices=(1, float("inf")))),
        ("final_move=visits,mean", Range("final_move", choices=("visits", "mean"))),
    ],
)
def test_a_range_is_read(text: str, expected: Range) -> None:
    assert range_from(text) == expected


@pytest.mark.parametrize(
    "text", ["", "c", "c=", "=1:2", "c=1", "c=1:", "c=1:2:lin", "c=1:2:3", "c=a:b", "c=0:inf", "c=1,1", "c=,"]
)
def test_a_text_that_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\A(a range must be like|the range of c must have two values)"):
        range_from(text)


@pytest.mark.parametrize("text", ["c=2:1", "c=1:1", "c=0:1.0:log", "c=-1:1:log"])
def test_an_empty_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\Athe range of c must begin "):
        range_from(text)


def test_a_value_may_stand_inside_a_text() -> None:
    what = Tuning("hex", "uct(policies='cmc(prob={p})', c=1)", (Range("p", 0, 1), Range("c", 0, 1)), "uct", {"size": 3})
    assert what.planner({"p": 0.25, "c": 0.5}) == "uct(policies='cmc(prob=0.25)', c=0.5)"


def test_real_values_have_few_digits_and_stay_in_their_range() -> None:
    what = replace(NOUGHTS, ranges=(Range("c", 0.123449, 0.2),))
    assert tuning._trial(what, 0, {"c": 0.1234491}).values == {"c": 0.123449}
    assert tuning._trial(what, 0, {"c": 0.1876543}).values == {"c": 0.1877}


# The command.

WORDS = ["tune", "--game", "tic_tac_toe", "--a", "uct", "--playouts", "5", "--trials", "4", "--games", "10", "--again", "20"]


def test_the_command_prints_both_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*WORDS, "--range", "c=0.1:1.0", "--range", "final_move=visits,mean", "--store", str(tmp_path / "games.sqlite")]
    assert cli.main([*words, "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["b"], row["stopped"], len(row["trials"])) == ("uct", False, 4)
    assert row["chosen_by"]["percent"] == max(trial["percent"] for trial in row["trials"])
    assert (row["chosen_by"]["games"], row["again"]["games"]) == (10, 20)
    assert cli.main(words) == 0
    shown = capsys.readouterr().out
    low, high = row["again"]["interval_95"]
    assert f"on fresh seeds: {row['again']['percent']:.1f}%, 95% interval {low:.1f} to {high:.1f}, of 20 games" in shown
    assert "among the trials: " in shown


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "there is nothing to tune: give a range, such as "),
        (["--range", "x=0:1"], "uct has no parameter 'x': expected one of c, "),
        (["--range", "c=1:0.5"], "the range of c must begin below its end, not '1:0.5'"),
        (["--range", "c=-1:1.0"], "c must be a finite number, 0 or more, not -1"),
        (["--range", "c=0.1:1.0", "--range", "c=1:2"], "a parameter has two ranges: c, c"),
        (["--range", "final_move=visits,best"], "final_move must be one of "),
        (["--range", "c=0.1:1.0", "--trials", "0"], "trials must be from 1 to "),
        (["--range", "c=0.1:1.0", "--games", "3"], "games must be an even number"),
        (["--range", "c=0.1:1.0", "--again", "3"], "games must be an even number"),
        (["--range", "c=0.1:1.0", "--executor", "foo"], "executor must be "),
        (["--range", "c=0.1:1.0", "--a", "uct(c={d})"], "{d} in 'uct(c={d})' has no range: give one, such as d=0:1.0"),
        (["--range", "c=0.1:1.0", "--a", "uct(c={c})"], "'uct(c={c})' is no planner to play against: give b"),
    ],
)
def test_what_cannot_be_tuned_is_told_in_one_sentence(
    words: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([*WORDS, *words]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"ucd: {reason}")
    assert err.count("\n") == 1


def test_optuna_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert cli.main([*WORDS, "--range", "c=0.1:1.0"]) == 2
    assert capsys.readouterr().err == "ucd: tuning needs optuna: pip install 'ucd-planners[tune]'\n"
