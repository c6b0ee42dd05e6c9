"""The command `ucd`: what it prints, and one sentence with status 2 for everything that it cannot do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import entry_points
from typing import Any

import pytest

from ucd_envs import registry
from ucd_planners import cli
from ucd_planners.arena import contest
from ucd_planners.arena.match import Match, play_match
from ucd_planners.benchmarks import speed as bench
from ucd_planners.cli import bench as bench_command
from ucd_planners.cli.console import progress
from ucd_planners.cli.match import match_row
from ucd_planners.intervals import mean_interval, wilson


@pytest.fixture(autouse=True)
def short_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test asks how fast anything is."""
    monkeypatch.setattr(bench, "BATCH_SECONDS", 0.005)
    monkeypatch.setattr(bench, "GAMES", 4)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command that succeeds prints; it says nothing on the side."""
    assert cli.main(arguments) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return shown.out


def refused(capsys: pytest.CaptureFixture[str], arguments: Sequence[str]) -> str:
    """The one sentence of a command that cannot be run. Nothing else is printed, but argparse's lines of usage."""
    try:
        status = cli.main(arguments)
    except SystemExit as left:
        status = left.code
    shown = capsys.readouterr()
    sentences = [line for line in shown.err.splitlines() if not line.startswith(("usage: ", " "))]
    assert (status, shown.out, len(sentences)) == (2, "", 1), shown
    assert sentences[0].startswith("ucd"), sentences
    return sentences[0].partition(": ")[2].removeprefix("error: ")


def match(*more: str, **changes: str | None) -> list[str]:
    """A quick match of tic-tac-toe, with options changed, left out (None) or added."""
    options = {"game": "tic_tac_toe", "a": "uct", "b": "ucd", "playouts": "5", "games": "4"} | changes
    words = [word for option, value in options.items() if value is not None for word in (f"--{option}", value)]
    return ["match", *words, *more]


# ucd match


def row_of(capsys: pytest.CaptureFixture[str], *more: str, **changes: str | None) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(printed(capsys, *match("--json", *more, **changes)))
    return row


def test_a_match_has_the_documented_fields(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(row_of(capsys)) == [
        "game",
        "a",
        "b",
        "playouts",
        "games",
        "stopped",
        "wins",
        "draws",
        "losses",
        "percent",
        "standard_error",
        "interval_95",
        "wins_as_first",
        "draws_as_first",
        "losses_as_first",
        "wins_as_second",
        "draws_as_second",
        "losses_as_second",
        "distinct_games",
        "playouts_per_s",
    ]


def test_a_match_of_the_command_is_that_of_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    row = row_of(capsys, games="30", seed="7")
    result = play_match(Match("tic_tac_toe", "uct", "ucd", budget={"playouts": 5}, games=30, seed=7))
    expected = match_row(result) | {"playouts_per_s": row["playouts_per_s"]}
    assert row == json.loads(json.dumps(expected))


def test_results_of_a_match_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    """B118b."""
    row = row_of(capsys, games="30")
    assert row["wins"] + row["draws"] + row["losses"] == row["games"] == 30


@pytest.mark.parametrize("kind", ["wins", "draws", "losses"])
def test_results_of_the_seats_add_up(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    row = row_of(capsys, games="30")
    assert row[f"{kind}_as_first"] + row[f"{kind}_as_second"] == row[kind]


@pytest.mark.parametrize("seat", ["first", "second"])
def test_a_planner_has_each_seat_in_half_of_the_games(seat: str, capsys: pytest.CaptureFixture[str]) -> None:
    """B118d."""
    row = row_of(capsys, games="30")
    assert sum(row[f"{kind}_as_{seat}"] for kind in ("wins", "draws", "losses")) == 15


def test_percent_counts_draws_half(capsys: pytest.CaptureFixture[str]) -> None:
    row = row_of(capsys, games="30")
    assert row["percent"] == round(100 * (row["wins"] + row["draws"] / 2) / 30, 2)


def test_the_interval_is_wilsons_in_percent(capsys: pytest.CaptureFixture[str]) -> None:
    """B118c."""
    row = row_of(capsys, games="30")
    assert row["interval_95"] == [round(100 * end, 2) for end in wilson(row["wins"] + row["draws"] / 2, 30)]


def test_a_match_that_was_played_to_its_end_was_not_stopped(capsys: pytest.CaptureFixture[str]) -> None:
    assert row_of(capsys)["stopped"] is False


def test_a_match_by_seconds_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    row = row_of(capsys, playouts=None, seconds="0.002", games="2")
    assert (row["seconds"], "playouts" in row) == (0.002, False)


def test_jobs_change_no_result(capsys: pytest.CaptureFixture[str]) -> None:
    one, three = (row_of(capsys, games="30", jobs=jobs) | {"playouts_per_s": None} for jobs in ("1", "3"))
    assert one == three


def test_without_a_budget_a_match_has_1000_playouts_a_move(capsys: pytest.CaptureFixture[str]) -> None:
    assert row_of(capsys, playouts=None, games="2")["playouts"] == 1000


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        (["--size", "3"], {"size": 3}),
        (["--size=3"], {"size": 3}),
        (["--size", "3", "--opening", "b2"], {"size": 3, "opening": "b2"}),
        (["--size=3", "--opening=b2 c3"], {"size": 3, "opening": "b2 c3"}),
        (["--rows", "2", "--columns", "4"], {"rows": 2, "columns": 4}),
        (["--swap", "--size", "3"], {"size": 3, "swap": True}),
        (["--size", "3", "--swap"], {"size": 3, "swap": True}),
        (["--size", "3", "--swap", "true"], {"size": 3, "swap": True}),
        (["--size", "3", "--swap=False"], {"size": 3, "swap": False}),
        (["--size", "4", "--size", "3"], {"size": 3}),
    ],
)
def test_settings_reach_the_game(words: list[str], settings: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert row_of(capsys, *words, game="hex", games="2")["game"] == str(registry.make_rules("hex", **settings))


def test_settings_may_stand_before_the_commands_own_options(capsys: pytest.CaptureFixture[str]) -> None:
    words = match(game="hex", games="2")
    words[1:1] = ["--size", "3", "--json", "--swap"]
    assert json.loads(printed(capsys, *words))["game"] == str(registry.make_rules("hex", size=3, swap=True))


def test_a_dash_in_a_setting_is_an_underscore(capsys: pytest.CaptureFixture[str]) -> None:
    row = row_of(capsys, "--in-a-row", "3", "--columns", "4", "--rows", "4", game="connect-four", games="2")
    assert row["game"] == "connect_four_v0(columns=4, rows=4, in_a_row=3)"


def test_a_table_says_what_was_played(capsys: pytest.CaptureFixture[str]) -> None:
    head = printed(capsys, *match(playouts="5000", games="2")).splitlines()[:3]
    assert head == ["tic_tac_toe_v0(), 5,000 playouts a move", "a = uct", "b = ucd"]


def cells(table: str) -> list[list[str]]:
    """The rows of a printed table below its head; columns are at least two blanks apart."""
    lines = table.splitlines()
    (rule,) = (i for i, line in enumerate(lines) if line.strip(" ─-+") == "" != line.strip())
    return [re.split(r" {2,}", line.strip()) for line in lines[rule + 1 :] if line.startswith(" ") and line.strip()]


def test_a_table_has_the_numbers_of_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    row = row_of(capsys, games="30")
    low, high = row["interval_95"]
    both = cells(printed(capsys, *match(games="30")))[-1]
    counts = [str(row[key]) for key in ("games", "wins", "draws", "losses")]
    assert both == ["both", *counts, f"{row['percent']:.1f}", f"{low:.1f} to {high:.1f}"]


def test_a_table_has_a_row_for_each_seat(capsys: pytest.CaptureFixture[str]) -> None:
    assert [row[0] for row in cells(printed(capsys, *match()))] == ["first", "second", "both"]


def leftright(capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """Four games of three steps of a planner alone, of which not all go left."""
    words = ("--game", "leftright", "--steps", "3", "--a", "uct(playouts=1, seed=1)", "--games", "4")
    return printed(capsys, "match", *words, *more)


def test_a_planner_alone_has_a_mean_payoff_and_no_wins(capsys: pytest.CaptureFixture[str]) -> None:
    """F2-20: payoffs of LeftRight are thirds."""
    row = json.loads(leftright(capsys, "--json"))
    result = play_match(Match("leftright", "uct(playouts=1)", settings={"steps": 3}, games=4))
    assert (row["wins"], row["draws"], row["losses"], row["b"]) == (None, None, None, None)
    assert row["percent"] == round(100 * sum(game.payoff for game in result.games) / 4, 2)
    assert row["interval_95"] == [round(100 * end, 2) for end in mean_interval([game.payoff for game in result.games])]


def test_a_table_of_fractional_payoffs_has_their_mean_and_its_error(capsys: pytest.CaptureFixture[str]) -> None:
    """F2-20."""
    row, shown = json.loads(leftright(capsys, "--json")), leftright(capsys)
    low, high = row["interval_95"]
    assert "mean payoff in percent  standard error  95% interval (Student)" in re.sub(r" {3,}", "  ", shown)
    assert cells(shown) == [["only", "4", f"{row['percent']:.1f}", f"{row['standard_error']:.2f}", f"{low:.1f} to {high:.1f}"]]


def test_few_distinct_games_are_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    """B118a: Hex on one cell has one game."""
    shown = printed(capsys, *match("--size", "1", game="hex", games="4"))
    assert "1 of 4 games are distinct (fewer than 90%: the interval is too narrow)\n" in shown


def test_distinct_games_are_not_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    assert "4 of 4 games are distinct\n" in printed(capsys, *match("--size", "5", game="hex", games="4"))


# ucd bench


def rows_of(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed(capsys, "bench", "--json", *words).splitlines()]


FIELDS = ["game", "config", "planner", "playouts", "playouts_per_s", "fresh_per_s", "bytes_per_playout"]


def test_a_bench_has_the_documented_fields(capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(capsys, "--game", "tic_tac_toe", "--playouts", "50")
    assert [list(row) for row in rows] == [FIELDS] * 3


def test_a_bench_of_a_game_has_light_playouts_uct_and_the_simple_way(capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(capsys, "--game", "tic_tac_toe", "--playouts", "50")
    assert [row["planner"] for row in rows] == ["playout", "uct(c=0.3)", bench.ucd_text("1,0,1")]


def test_planners_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(capsys, "--game", "tic_tac_toe", "--playouts", "50", "--planner", "uct3", "--planner=uct(playouts=9)")
    assert [(row["planner"], row["playouts"]) for row in rows] == [("uct3", 50), ("uct(playouts=9)", 9)]


def test_settings_reach_the_benched_game(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = rows_of(capsys, "--game", "hex", "--size", "3", "--opening", "a1", "--planner", "uct", "--playouts", "50")
    assert row["config"] == {"rows": 3, "columns": 3, "swap": False, "opening": "a1"}


def test_a_peer_adds_its_fields(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--game", "hex", "--size", "3", "--planner", "uct", "--playouts", "50", "--against", "openspiel")
    (row,) = rows_of(capsys, *words)
    assert list(row) == [*FIELDS, "peer", "peer_playouts_per_s", "ratio"]


def test_the_ratio_is_our_rate_to_theirs(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--game", "hex", "--size", "3", "--planner", "uct", "--playouts", "50", "--against", "openspiel")
    (row,) = rows_of(capsys, *words)
    assert row["ratio"] == pytest.approx(row["playouts_per_s"] / row["peer_playouts_per_s"], rel=0.01, abs=0.01)


def test_a_bench_says_on_a_terminal_what_it_measures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """F2-63: before each case, since its kernels may have to be compiled first; standard output has the rows alone."""
    told: list[tuple[Any, ...]] = []

    @contextmanager
    def progress(*arguments: Any) -> Iterator[Callable[..., None]]:
        told.append(arguments)
        yield lambda *words: told.append(words)

    monkeypatch.setattr(bench_command, "progress", progress)
    monkeypatch.setattr(bench, "measure", lambda case, against: told.append(("measured",)) or {"planner": case.planner})
    rows_of(capsys, "--game", "tic_tac_toe", "--playouts", "5", "--planner", "uct", "--planner", "ucd")
    each = [(("uct in tic_tac_toe",), ("measured",), ()), (("ucd in tic_tac_toe",), ("measured",), ())]
    assert told == [(2, "measured"), *each[0], *each[1]]


def test_a_bar_on_a_terminal_has_the_text_and_the_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress(7, "measured") as advance:
        advance("uct in [hex]")
        advance()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.search(r"uct in \[hex\].*1/7 measured", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.err))


def test_a_bench_without_a_game_is_the_suite(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(bench, "measure", lambda case, against: {"planner": case.planner})
    assert rows_of(capsys) == [{"planner": case.planner} for case in bench.suite()]


def test_a_bench_of_environments_has_every_game(capsys: pytest.CaptureFixture[str]) -> None:
    assert [row["game"] for row in rows_of(capsys, "--envs")] == registry.available()


def test_a_bench_is_a_table_without_json(capsys: pytest.CaptureFixture[str]) -> None:
    table = cells(printed(capsys, "bench", "--game", "tic_tac_toe", "--planner", "uct", "--playouts", "1234"))
    assert [row[:3] for row in table] == [["tic_tac_toe_v0", "uct", "1,234"]]


def test_a_table_cuts_nothing_off(capsys: pytest.CaptureFixture[str]) -> None:
    planner = f"uct({' ' * 200}c=0.3)"
    table = printed(capsys, "bench", "--game", "hex", "--planner", planner, "--playouts", "1234")
    assert planner in table
    assert "…" not in table


def test_a_stopped_bench_shows_what_it_has(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def measure(case: bench.Case, against: str | None) -> dict[str, Any]:
        if case.planner != bench.PLAYOUT:
            raise KeyboardInterrupt
        return {"game": case.game, "config": {}, "planner": case.planner}

    monkeypatch.setattr(bench, "measure", measure)
    status = cli.main(["bench", "--game", "tic_tac_toe"])
    shown = capsys.readouterr()
    assert (status, cells(shown.out), shown.err) == (130, [["tic_tac_toe", "playout"]], "ucd: stopped\n")


# ucd games, and help


def test_games_lists_every_game_with_its_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "games").splitlines() == [
        "breakthrough_v0 rows=8, columns=8, filled=None",
        "capture_the_king_v0 promotion=False, plies=69",
        "connect_four_v0 columns=7, rows=6, in_a_row=4",
        "crisscross_v0 plies=39",
        "einstein_v0 size=5, first='', second=''",
        "go_v0 size=9, rows=None, columns=None, komi=7.5, ko='simple', suicide=False, handicap=0, black='', "
        "white='', first=None, max_plies=None, mercy=0",
        "havannah_v0 base=8, swap=False",
        "hex_v0 size=11, rows=None, columns=None, swap=False, opening='', black='', white='', first=None",
        "knightthrough_v0 rows=8, columns=8, filled=None, elimination=True",
        "leftright_v0 steps=300",
        "merrills_v0 tournament=False",
        "nogo_v0 size=9, rows=None, columns=None, irrational=False, generation='queue'",
        "othello_v0 size=8, payoff='win', start='crossed'",
        "p_game_v0 branching=2, depth=20, seed=0, dag_combination=0, groups=1, group_size=0, group_bias=0, overlap=False",
        "pawn_whopping_v0 rows=8, columns=8, corrected=False",
        "pentago_v0 after_rotation=False",
        "pig_v0 target=100, max_plies=10000",
        "quarto_v0 squares=False",
        "tic_tac_toe_v0 (no settings)",
        "twenty_forty_eight_v0 rows=4, columns=4, highest=2048",
    ]


@pytest.mark.parametrize("words", ["", "match", "bench", "games", "rate", "results", "results plot", "tournament"])
def test_help_is_no_error(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main([*words.split(), "--help"])
    told, error = capsys.readouterr()
    assert (left.value.code, error) == (0, "")
    assert "%%" not in told  # argparse halves them in some of its texts only


def test_the_example_of_the_help_runs(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["match", "--help"])
    example = " ".join(capsys.readouterr().out.partition("example: ucd ")[2].split())
    words = [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', example)]
    assert printed(capsys, *words, "--games=2", "--playouts=5").startswith(
        "hex_v0(rows=5, columns=5, swap=False, opening='b2')"
    )


# What cannot be run: status 2, one sentence, nothing else.


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "the following arguments are required: command"),
        (["dance"], "argument command: invalid choice: 'dance'"),
        (["mat"], "argument command: invalid choice: 'mat'"),
        (["--size", "5"], "argument command: invalid choice: '5'"),
        (["--seed"], "the following arguments are required: command"),
        (["match"], "the following arguments are required: --game, --a"),
        (match(game=None), "the following arguments are required: --game"),
        (match(a=None), "the following arguments are required: --a"),
        (match("--game"), "argument --game: expected one argument"),
        (match(game="chess"), "unknown game 'chess': expected one of breakthrough_v0, "),
        (match(game="tic_tac"), "unknown game 'tic_tac'"),
        (match(game=""), "unknown game ''"),
        (match(game="a\nb"), r"unknown game 'a\nb'"),
        (match(game="\udcff"), r"unknown game '\udcff'"),
        (match(game="leftright"), "a match of leftright_v0(steps=300) needs one planner: a"),
        (match("--size", "5"), "tic_tac_toe_v0 has no setting 'size'"),
        (match("--siz", "5", game="hex"), "hex_v0 has no setting 'siz': expected one of size, "),
        (match("--render-mode", "human", game="hex"), "hex_v0 has no setting 'render_mode'"),
        (match("--si\nze", "5", game="hex"), r"hex_v0 has no setting 'si\nze'"),
        (match("--=5", game="hex"), "hex_v0 has no setting ''"),
        (match("--", game="hex"), "hex_v0 has no setting ''"),
        (match("--size", game="hex"), "size needs a value"),
        (match("--opening", game="hex"), "opening needs a value"),
        (match("--size=", game="hex"), "size must be a whole number from 1 to 19, not ''"),
        (match("--size", "0", game="hex"), "size must be from 1 to 19, not 0"),
        (match("--size", "-3", game="hex"), "size must be from 1 to 19, not -3"),
        (match("--size", "20", game="hex"), "size must be from 1 to 19, not 20"),
        (match("--size", "5.0", game="hex"), "size must be a whole number from 1 to 19, not '5.0'"),
        (match("--size=--5", game="hex"), "size must be a whole number from 1 to 19, not '--5'"),
        (match("--size", "9" * 5000, game="hex"), "size must be a whole number from 1 to 19, not '99999"),
        (match("--size", "true", game="hex"), "size must be a whole number from 1 to 19, not True"),
        (match("--size", "5", "6", game="hex"), "unexpected argument '6': expected options such as --size 5"),
        (match("--size", "5", "-swap", game="hex"), "unexpected argument '-swap'"),
        (match("5", game="hex"), "unexpected argument '5'"),
        (match("", game="hex"), "unexpected argument ''"),
        (match("--swap", "5", game="hex"), "swap must be true or false, not '5'"),
        (match("--swap", "maybe", game="hex"), "swap must be true or false, not 'maybe'"),
        (match("--swap", "--rows", "3", game="hex"), "swap needs a square board, but this one has 3 rows and 11 columns"),
        (match("--opening", "5", game="hex"), "'5' is no cell of this board: expected a1 to k11"),
        (match("--opening", "true", game="hex"), "'true' is no cell of this board"),
        (match("--opening", "b2 b2", game="hex"), "opening 'b2 b2' must name different cells"),
        (match("--opening", "a1", "--size", "1", game="hex"), "opening 'a1' already ends the game"),
        (match("--in-a-row", "9", game="connect_four"), "in_a_row must be from 2 to 7, not 9"),
        (match(a="foo"), "unknown planner 'foo': expected one of uct, "),
        (match(b=""), "planner '' does not parse"),
        (match(a="uct("), "planner 'uct(' does not parse"),
        (match(a="u\nct"), r"planner 'u\nct' does not parse"),
        (match(a="uct(c=1, c=2)"), "planner 'uct(c=1, c=2)' has the parameter 'c' twice"),
        (match(a="uct(c=" + "9" * 400 + ")"), "planner 'uct(c=999"),
        (match(a="uct(c=" + "-" * 10**6 + "1)"), "a planner must be written with at most 1000 characters, not 1000008"),
        (match(a="uct(c=1if 1 else 2)"), "planner 'uct(c=1if 1 else 2)' does not parse"),
        (match(a=r"uct(final_move='\d')"), "final_move must be one of visits, mean, lower_bound"),
        (match(b="uct(d=1)"), "uct has no parameter 'd'"),
        (match(b="uct(c=-1)"), "c must be a finite number, 0 or more, not -1"),
        (match(b="uct(workers=6)"), "6 workers need at least as many playouts, not 5"),
        (match(b="uct(playouts=1, seconds=1)"), "a budget is either playouts or seconds"),
        (match(games="3"), "games must be an even number, since seats are swapped in pairs, not 3"),
        (match(games="0"), "games must be from 2 to 1000000000, not 0"),
        (match(games="-2"), "games must be from 2 to 1000000000, not -2"),
        (match(games="1e3"), "argument --games: invalid int value: '1e3'"),
        (match(games=""), "argument --games: invalid int value: ''"),
        (match(playouts="0"), "playouts must be from 1 to "),
        (match(playouts="-1"), "playouts must be from 1 to "),
        (match(playouts="9" * 20), "playouts must be from 1 to "),
        (match(playouts="1.5"), "argument --playouts: invalid int value: '1.5'"),
        (match(playouts=None, seconds="0"), "seconds must be a finite number above 0, not 0.0"),
        (match(playouts=None, seconds="-1"), "seconds must be a finite number above 0, not -1.0"),
        (match(playouts=None, seconds="nan"), "seconds must be a finite number above 0, not nan"),
        (match(playouts=None, seconds="inf"), "seconds must be a finite number above 0, not inf"),
        (match(playouts=None, seconds="a second"), "argument --seconds: invalid float value: 'a second'"),
        (match(seconds="1"), "argument --seconds: not allowed with argument --playouts"),
        (match(jobs="0"), "jobs must be from 1 to 1024, not 0"),
        (match(jobs="-1"), "jobs must be from 1 to 1024, not -1"),
        (match(jobs="9999"), "jobs must be from 1 to 1024, not 9999"),
        (match(seed="-1"), "seed must be from 0 to 18446744073709551615, not -1"),
        (match(seed="9" * 30), "seed must be from 0 to 18446744073709551615, not 9999"),
        (match(seed="x"), "argument --seed: invalid int value: 'x'"),
        (match("--json=yes"), "argument --json: ignored explicit argument 'yes'"),
        (match("--play", "7"), "tic_tac_toe_v0 has no setting 'play'"),
        (match("--see", "7"), "tic_tac_toe_v0 has no setting 'see'"),
        (["bench", "--against", "stockfish"], "argument --against: invalid choice: 'stockfish'"),
        (["bench", "--against"], "argument --against: expected one argument"),
        (["bench", "--against", "pettingzoo"], "the peer of planners is openspiel"),
        (["bench", "--envs", "--against", "openspiel"], "the peer of environments is pettingzoo"),
        (["bench", "--size", "5"], "unexpected argument '--size': settings are those of a game, after --game"),
        (["bench", "hex"], "unexpected argument 'hex': settings are those of a game, after --game"),
        (["bench", "--planner", "uct"], "--planner and --playouts go with --game"),
        (["bench", "--playouts", "5"], "--planner and --playouts go with --game"),
        (["bench", "--envs", "--playouts", "5"], "--planner and --playouts go with --game"),
        (["bench", "--envs", "--game", "hex"], "--envs measures every game with its defaults: it goes without --game"),
        (["bench", "--seats", "--game", "hex"], "--seats measures every game with its defaults: it goes without --game"),
        (["bench", "--seats", "--kept"], "--kept and --seats are two benchmarks: one at a time"),
        (["bench", "--seats", "--against", "openspiel"], "--seats has no peer"),
        (["bench", "--selfplay", "--against", "openspiel"], "--selfplay has no peer"),
        (["bench", "--selfplay", "--seats"], "--seats and --selfplay are two benchmarks: one at a time"),
        (["bench", "--selfplay", "--game", "hex", "--planner", "playout"], "--selfplay measures planners: 'playout' is none"),
        (["bench", "--game", "chess"], "unknown game 'chess'"),
        (["bench", "--game", "chess", "--size", "5"], "unknown game 'chess'"),
        (["bench", "--game", "hex", "--size", "99"], "size must be from 1 to 19, not 99"),
        (["bench", "--game", "hex", "--planner", "foo"], "unknown planner 'foo'"),
        (["bench", "--game", "hex", "--planner", ""], "planner '' does not parse"),
        (["bench", "--game", "hex", "--planner", "uct", "--planner", "foo"], "unknown planner 'foo'"),
        (["bench", "--game", "hex", "--planner", "uct(seconds=1)"], "a benchmark needs a budget in playouts, but "),
        (["bench", "--game", "hex", "--playouts", "0"], "playouts must be from 1 to "),
        (["bench", "--game", "hex", "--playouts", "0", "--planner", "playout"], "playouts must be from 1 to "),
        (["bench", "--game", "hex", "--playouts", "-1", "--json"], "playouts must be from 1 to "),
        (["games", "--size", "5"], "unexpected argument '--size'"),
        (["games", "hex"], "unexpected argument 'hex'"),
        (["games", "--a\nb"], r"unexpected argument '--a\nb'"),
        (["games", "--json"], "unexpected argument '--json'"),
        (["games", "--hel"], "unexpected argument '--hel'"),
        (["--hel"], "the following arguments are required: command"),
    ],
    ids=lambda value: " ".join(value)[:60].encode("unicode_escape").decode() if isinstance(value, list) else "",
)
def test_what_cannot_be_run_is_refused_in_one_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, words).startswith(sentence)


@pytest.mark.parametrize("words", [match(), ["bench", "--game", "tic_tac_toe"]], ids=["match", "bench"])
def test_without_rich_the_command_says_what_installs_it(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    assert refused(capsys, words) == "the command ucd needs rich: pip install 'ucd-planners[cli]'"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["bench", "--json", "--against", "openspiel"],
            "the peer openspiel is not installed: pip install 'ucd-planners[bench]'",
        ),
        (
            ["bench", "--json", "--envs", "--against", "pettingzoo"],
            "the peer pettingzoo is not installed: pip install 'ucd-planners[render]'",
        ),
    ],
    ids=["openspiel", "pettingzoo"],
)
def test_a_missing_peer_is_told_before_anything_is_measured(
    words: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("pyspiel", "pettingzoo.classic.connect_four_v3"):
        monkeypatch.setitem(sys.modules, name, None)
    assert refused(capsys, words) == sentence


def test_a_fault_of_the_program_is_not_taken_for_wrong_arguments(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """F2-61: it has the status of a failure and names the line; the traceback is for those who ask for it."""

    def measure(case: bench.Case, against: str | None) -> dict[str, Any]:
        raise ValueError("a fault")

    monkeypatch.setattr(bench, "measure", measure)
    assert cli.main(["bench", "--json"]) == 1
    sentence = r"ucd: unexpected ValueError: a fault \(test_cli\.py:\d+; UCD_TRACEBACK=1 shows the way there\)\n"
    assert re.fullmatch(sentence, capsys.readouterr().err)
    monkeypatch.setenv("UCD_TRACEBACK", "1")
    with pytest.raises(ValueError, match="a fault"):
        cli.main(["bench", "--json"])


# Processes.

COMMAND = [sys.executable, "-m", "ucd_planners.cli"]


def test_the_command_is_installed_as_ucd() -> None:
    (point,) = entry_points(group="console_scripts", name="ucd")
    assert point.load() is cli.main


def test_the_command_runs_as_a_module(capsys: pytest.CaptureFixture[str]) -> None:
    run = subprocess.run([*COMMAND, "games"], capture_output=True, text=True, check=True)
    assert run.stdout == printed(capsys, "games")


def test_the_status_of_a_refusal_is_2() -> None:
    run = subprocess.run([*COMMAND, *match(games="3")], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (2, "", 1)


def test_a_table_can_be_printed_in_ascii() -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    run = subprocess.run([*COMMAND, *match()], capture_output=True, text=True, check=True, env=environment)
    assert re.search(r"both\W+4\W", run.stdout)


@pytest.mark.parametrize("words", [["games"], match("--json")], ids=["games", "match"])
def test_a_reader_that_goes_away_is_no_error(words: list[str]) -> None:
    """Such as `ucd games | head -1`."""
    with subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout
        assert run.stderr
        run.stdout.close()
        assert run.stderr.read() == ""
    assert run.returncode == 1


INTERRUPTED = """
import os, signal, sys
from ucd_planners import cli
from ucd_planners.arena import agents, schedule
signal.signal(signal.SIGINT, signal.default_int_handler)
learn, obey, ended, looks = schedule.Batch.learn, agents._obey, [], []
def learn_and_interrupt(batch, games, seconds):
    learn(batch, games, seconds)
    ended.append(batch)
    if len(ended) == {batches}:
        os.kill(os.getpid(), signal.SIGINT)
def obey_and_interrupt(stop):
    looks.append(stop)
    if {batches} == 0 and len(looks) == 1:
        os.kill(os.getpid(), signal.SIGINT)
    obey(stop)
schedule.Batch.learn, agents._obey = learn_and_interrupt, obey_and_interrupt
sys.exit(cli.main(sys.argv[1:]))
"""


def interrupted(words: list[str], batches: int) -> subprocess.CompletedProcess[str]:
    """A command that gets Ctrl-C when a number of batches have ended, or, for 0, while the first search is under way."""
    program = INTERRUPTED.format(batches=batches)
    return subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_shows_the_games_played_so_far(jobs: str) -> None:
    run = interrupted(match(games="100000", jobs=jobs), 5)
    last = run.stdout.splitlines()[-1]
    assert (run.returncode, run.stderr) == (130, "")
    assert 0 < int(re.fullmatch(r"stopped: (\d+) of 100000 games were played", last)[1]) < 100000  # type: ignore[index]


def test_ctrl_c_is_told_in_json() -> None:
    run = interrupted(match("--json", games="100000"), 5)
    row = json.loads(run.stdout)
    assert (run.returncode, row["stopped"], 0 < row["games"] < 100000) == (130, True, True)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_ends_a_long_search(jobs: str) -> None:
    run = interrupted(match(game="hex", playouts="1000000000", jobs=jobs), 0)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "ucd: stopped before the first game ended\n")


def test_ctrl_c_outside_of_a_match_leaves_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def impatient(self: Match) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(contest.Match, "__post_init__", impatient)
    assert (cli.main(match()), capsys.readouterr().err) == (130, "ucd: stopped\n")
