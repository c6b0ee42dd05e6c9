"""The GTP engine: what it answers, word for word, what it refuses, its clock, its analysis, and that nothing brings it down."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from gtp_fake import PATIENCE
from gtp_talk import GO5, Talk

import ucd_envs
from ucd_envs import registry
from ucd_envs.formats import sgf
from ucd_planners.gtp.analysis import Wish, information
from ucd_planners.gtp.clock import LAG, LEAST, Clock, Control
from ucd_planners.gtp.protocol import LONGEST, Command, Lines, Reply, command_from
from ucd_planners.planner import Planner
from ucd_planners.presets import uct


@pytest.fixture
def talk() -> Talk:
    """Go on 5x5 without komi."""
    return Talk()


# Lines to commands.


@pytest.mark.parametrize(
    ("line", "command"),
    [
        (b"name", Command("", "name", [])),
        (b"12 play b d4", Command("12", "play", ["b", "d4"])),
        (b"play\tb\td4", Command("", "play", ["b", "d4"])),
        (b"  play   b  d4  ", Command("", "play", ["b", "d4"])),
        (b"name\r", Command("", "name", [])),
        (b"na\x01\x07me\x7f", Command("", "name", [])),
        (b"name # what is it", Command("", "name", [])),
        (b"name#what", Command("", "name", [])),
        (b"007 name", Command("007", "name", [])),
        (b"7", Command("7", "", [])),
        (b"-7 name", Command("", "-7", ["name"])),
        (b"7name", Command("", "7name", [])),
        ("\u0661 name".encode(), Command("", "\u0661", ["name"])),
        (b"\xff\xfe", Command("", "\ufffd\ufffd", [])),
        (b"", None),
        (b" \t\r", None),
        (b"# a comment", None),
        (b"\x00", None),
    ],
)
def test_a_line_is_read_as_the_protocol_says(line: bytes, command: Command | None) -> None:
    assert command_from(line) == command


def lines_of(*pieces: bytes) -> list[bytes | None]:
    """What Lines makes of pieces that arrive one after another, up to the end."""
    reading, writing = os.pipe()
    lines = Lines(reading)
    for piece in pieces:
        os.write(writing, piece)
    os.close(writing)
    found: list[bytes | None] = []
    while not found or found[-1] is not None:
        found.append(lines.next())
    os.close(reading)
    return found


def test_lines_arrive_whole() -> None:
    assert lines_of(b"na", b"me\nver", b"sion\n") == [b"name", b"version", None]


def test_a_last_line_needs_no_end() -> None:
    assert lines_of(b"name\nquit") == [b"name", b"quit", None]


def test_a_line_without_an_end_takes_little_memory() -> None:
    piece = b"x" * 50_000
    assert [line and len(line) for line in lines_of(*[piece] * 20)] == [LONGEST + 1, None]


# What is asked for and what is answered.


@pytest.mark.parametrize(
    ("text", "written"),
    [("", "=3\n\n"), ("a", "=3 a\n\n"), ("a\n\n\nb\x07\t\n", "=3 a\nb\n\n"), ("\na\n", "=3 \na\n\n")],
)
def test_an_answer_has_no_empty_line_but_its_end(text: str, written: str) -> None:
    pieces: list[str] = []
    Reply("3", pieces.append).end(text)
    assert "".join(pieces) == written


def test_an_answer_that_goes_wrong_in_the_middle_just_ends() -> None:
    pieces: list[str] = []
    reply = Reply("3", pieces.append)
    reply.tell("a")
    reply.tell("b")
    reply.refuse("oh no")
    assert "".join(pieces) == "=3\na\nb\n\n"


def test_a_game_as_it_is_talked() -> None:
    """Black's stones on the third column part the 15 points of their side from the rest: 15 + 0 against 10."""
    talk = Talk(name="ucd uct")
    dialogue = [
        ("1 protocol_version", "=1 2\n\n"),
        ("name", "= ucd uct\n\n"),
        ("version", f"= {ucd_envs.__version__}\n\n"),
        ("2 known_command play", "=2 true\n\n"),
        ("known_command dance", "= false\n\n"),
        ("boardsize 5", "=\n\n"),
        ("clear_board", "=\n\n"),
        ("komi 4.5", "=\n\n"),
        ("# a comment", ""),
        ("", ""),
        ("play B c1", "=\n\n"),
        ("play white D1", "=\n\n"),
        ("play BLACK C2", "=\n\n"),
        ("play w d2", "=\n\n"),
        ("play b C3", "=\n\n"),
        ("play W d3", "=\n\n"),
        ("play b C4", "=\n\n"),
        ("play w d4", "=\n\n"),
        ("play b C5", "=\n\n"),
        ("play w d5", "=\n\n"),
        ("3 final_score", "=3 B+0.5\n\n"),
        ("play b c5", "? illegal move\n\n"),
        ("play b PASS", "=\n\n"),
        ("play w pass", "=\n\n"),
        ("genmove b", "= pass\n\n"),
        ("undo", "=\n\n"),
        (
            "9 showboard",
            "=9 \n 5 . . X O .\n 4 . . X O .\n 3 . . X O .\n 2 . . X O .\n 1 . . X O .\n   A B C D E\n"
            "ply 12: Black (X) has won\n\n",
        ),
        ("quit", "=\n\n"),
    ]
    assert [(line, talk(line)) for line, _ in dialogue] == dialogue
    assert talk.engine.left


REQUIRED = (
    "protocol_version name version known_command list_commands quit boardsize clear_board komi play genmove reg_genmove undo "
    "time_settings time_left fixed_handicap place_free_handicap set_free_handicap final_score loadsgf showboard"
)


def test_what_is_listed_is_known(talk: Talk) -> None:
    listed = talk.text("list_commands").split("\n")
    assert {talk.text(f"known_command {name}") for name in listed} == {"true"}
    assert set(REQUIRED.split()) < set(listed)


def test_games_without_handicaps_have_no_commands_for_them() -> None:
    talk = Talk("hex", {"size": 3})
    assert set(REQUIRED.split()) - set(talk.text("list_commands").split()) == {
        "fixed_handicap",
        "place_free_handicap",
        "set_free_handicap",
    }
    assert talk.refused("fixed_handicap 2") == "unknown command"


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("dance", "unknown command"),
        ("PLAY b d4", "unknown command"),
        ("known_command", "syntax error"),
        ("boardsize", "syntax error"),
        ("boardsize nine", "syntax error"),
        ("boardsize -9", "syntax error"),
        ("boardsize 9.0", "syntax error"),
        ("boardsize 5 5 5", "syntax error"),
        ("boardsize 1", "unacceptable size"),
        ("boardsize 20", "unacceptable size"),
        ("boardsize 25", "unacceptable size"),
        ("boardsize 999999999", "unacceptable size"),
        ("boardsize 9999999999", "syntax error"),
        ("komi", "syntax error"),
        ("komi half", "syntax error"),
        ("komi nan", "syntax error"),
        ("komi inf", "syntax error"),
        ("komi 1e9", "syntax error"),
        ("komi 0.3", "unacceptable komi"),
        ("komi 1000", "unacceptable komi"),
        ("play", "syntax error"),
        ("play b", "syntax error"),
        ("play B", "syntax error"),
        ("play d4", "syntax error"),
        ("play x d4", "syntax error"),
        ("play bw d4", "syntax error"),
        ("play b d", "syntax error"),
        ("play b 4", "syntax error"),
        ("play b i1", "syntax error"),
        ("play b f1", "syntax error"),
        ("play b a0", "syntax error"),
        ("play b a6", "syntax error"),
        ("play b d4d4", "syntax error"),
        ("play b swap", "syntax error"),
        ("play b c3", "illegal move"),
        ("play w c3", "illegal move"),
        ("genmove", "syntax error"),
        ("genmove x", "syntax error"),
        ("reg_genmove", "syntax error"),
        ("time_settings 1 2", "syntax error"),
        ("time_settings 1 2 x", "syntax error"),
        ("time_settings 1 2 3.5", "syntax error"),
        ("time_settings nan 2 3", "syntax error"),
        ("time_left b 5 -1", "syntax error"),
        ("time_left b 1e3 0", "syntax error"),
        ("time_left b 1", "syntax error"),
        ("time_left x 1 1", "syntax error"),
        ("time_left b x 1", "syntax error"),
        ("fixed_handicap", "syntax error"),
        ("fixed_handicap x", "syntax error"),
        ("fixed_handicap 2", "board not empty"),
        ("place_free_handicap 2", "board not empty"),
        ("set_free_handicap a1 a2", "board not empty"),
        ("loadsgf", "syntax error"),
        ("loadsgf x.sgf zero", "syntax error"),
        ("loadsgf x.sgf 0", "syntax error"),
        ("lz-analyze b soon", "syntax error"),
        ("lz-analyze x 10", "syntax error"),
        ("lz-analyze b interval", None),
    ],
)
def test_what_cannot_be_done_is_refused(line: str, answer: str | None, talk: Talk) -> None:
    """B025, B026; the position stays (B022). Only the last is fine: the interval is the usual one."""
    talk("play b c3")
    if answer is None:
        assert talk(line).startswith("=\ninfo ")
    else:
        assert talk.refused(line) == answer


def test_refusals_bear_the_number_of_the_command(talk: Talk) -> None:
    assert [talk("7 dance"), talk("8"), talk("9 undo")] == [
        "?7 unknown command\n\n",
        "?8 unknown command\n\n",
        "?9 cannot undo\n\n",
    ]


def test_letters_of_columns_leave_i_out_in_go_only() -> None:
    """B026: the ninth column."""
    go, hexagons = Talk("go", {"size": 9}), Talk("hex", {"size": 9})
    assert go.refused("play b i5") == "syntax error"
    go.text("play b j5")
    assert go.stones() == {"J5": "X"}
    assert hexagons.refused("play b j5") == "syntax error"
    hexagons.text("play b I5")
    assert hexagons.stones() == {"i5": "X"}


def test_a_fault_in_the_engine_is_told_and_survived(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(self: Planner, env: Any, **given: Any) -> Any:
        raise ZeroDivisionError("oh\n\nno")

    monkeypatch.setattr(Planner, "search", broken)
    assert talk("5 genmove b") == "?5 internal error: ZeroDivisionError: oh no\n\n"
    assert talk("6 name") == "=6 ucd\n\n"
    shown = capsys.readouterr()
    assert (shown.out, "ZeroDivisionError" in shown.err) == ("", True)


# The board.


def test_a_colour_may_move_twice(talk: Talk) -> None:
    for line in ("play b a1", "play b a2", "play w c3", "play w c4", "play b a3"):
        assert talk.text(line) == ""
    assert talk.stones() == {"A1": "X", "A2": "X", "A3": "X", "C3": "O", "C4": "O"}


def test_a_move_is_chosen_for_the_colour_that_is_asked(talk: Talk) -> None:
    moves = [talk.text("genmove w"), talk.text("genmove w")]
    assert talk.stones() == dict.fromkeys(moves, "O")


def test_undo_takes_back_one_move_at_a_time(talk: Talk) -> None:
    positions = [talk.position()[0]]
    for line in ("play b a1", "play b a2", "genmove w", "play b pass", "play b pass", "play b pass"):
        talk.text(line)
        positions.append(talk.position()[0])
    back = [positions[-1]]
    while talk("undo") == "=\n\n":
        back.append(talk.position()[0])
    assert back == positions[::-1]
    assert talk.refused("undo") == "cannot undo"


def test_a_capture_can_be_taken_back_and_made_again(talk: Talk) -> None:
    for line in ("play b a1", "play w a2", "play b e5", "play w b1"):
        talk.text(line)
    assert "A1" not in talk.stones()
    talk.text("undo")
    assert talk.stones()["A1"] == "X"
    talk.text("play w b1")
    assert "A1" not in talk.stones()


KO = ("play b b1", "play w c1", "play b a2", "play w d2", "play b b3", "play w c3", "play b e5", "play w b2", "play b c2")


def test_a_ko_is_forbidden_until_something_else_was_played(talk: Talk) -> None:
    r"""Black's stone takes B2; White may not take back at once, but may after a move elsewhere.

    3 . X O . .          3 . X O . .
    2 X O . O .    ->    2 X . X O .
    1 . X O . .          1 . X O . .
    """
    for line in KO:
        talk.text(line)
    assert "B2" not in talk.stones()
    assert talk.refused("play w b2") == "illegal move"
    talk.text("play w a5")
    talk.text("play b a4")
    talk.text("play w b2")


def test_resign_is_no_move(talk: Talk) -> None:
    """B028: the undo after it takes back the move before it."""
    talk.text("play b a1")
    before = talk.position()
    assert talk("play w resign") == "=\n\n"
    assert talk.position() == before
    talk.text("undo")
    assert talk.stones() == {}


def test_play_goes_on_after_two_passes(talk: Talk) -> None:
    for line in ("play b a1", "play w pass", "play b pass"):
        talk.text(line)
    assert talk.engine.board.state.over
    talk.text("play w c3")
    assert (talk.stones(), talk.engine.board.state.over) == ({"A1": "X", "C3": "O"}, False)


def test_a_finished_game_of_go_has_passes_only() -> None:
    """The game is over at its longest, with a stone."""
    talk = Talk(settings=GO5 | {"max_plies": 1})
    talk.text("play b a1")
    assert talk.refused("play w a2") == "illegal move"
    assert [talk.text("genmove w"), talk.text("genmove b")] == ["pass", "pass"]
    talk.text("undo")
    talk.text("undo")
    assert talk.stones() == {"A1": "X"}


def test_a_finished_game_of_hex_has_no_moves() -> None:
    talk = Talk("hex", {"size": 1})
    assert talk.text("genmove b") == "a1"
    assert talk.refused("genmove b") == "the game is over"
    assert talk.text("genmove w") == "resign"
    assert talk.refused("play w a1") == "illegal move"
    assert talk.text("final_score") == "B+"


def test_hex_has_a_swap_where_the_game_has_one() -> None:
    talk = Talk("hex", {"size": 3, "swap": True})
    talk.text("play b a2")
    talk.text("play w SWAP")
    assert talk.stones() == {"b1": "O"}


@pytest.mark.parametrize(
    "name",
    [name for name in registry.available() if name in ("connect_four_v0", "go_v0", "havannah_v0", "hex_v0", "tic_tac_toe_v0")],
)
def test_every_game_of_two_can_be_played_to_its_end(name: str) -> None:
    talk = Talk(name, registry.examples(name)[-1 if name == "tic_tac_toe_v0" else 1], uct(playouts=3, seed=2))
    board = talk.engine.board
    turns = 0
    while not board.state.over:
        move = talk.text(f"genmove {'bw'[board.state.player]}")
        assert board.rules.initial_state().action_named(move) == board.moves[-1][1]
        assert "\n\n" not in talk("showboard")[:-2]
        turns += 1
    assert len(board.moves) == turns <= board.rules.max_plies
    assert re.fullmatch(r"0|[BW]\+[\d.]*", talk.text("final_score"))


def test_a_game_of_one_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\AGTP needs a game of two players, but leftright_v0\(steps=300\) has 1\Z"):
        Talk("leftright", {})


# Sizes, komi, handicaps.


def test_a_new_size_clears_the_board(talk: Talk) -> None:
    talk.text("play b a1")
    talk.text("boardsize 9")
    assert (talk.stones(), talk.engine.board.rules.planes[:2]) == ({}, (9, 9))
    talk.text("play b j9")


def test_a_board_may_have_columns_and_rows() -> None:
    talk = Talk("hex", {"size": 3})
    talk.text("boardsize 5 2")
    assert talk.refused("play b a3") == "syntax error"
    talk.text("play b e2")


def test_a_game_of_one_size_takes_that_size() -> None:
    talk = Talk("tic_tac_toe", {})
    talk.text("boardsize 3")
    assert talk.refused("boardsize 4") == "unacceptable size"


def test_the_board_is_cleared_to_what_the_options_say() -> None:
    talk = Talk("hex", {"size": 3, "opening": "b2"})
    talk.text("play w a1")
    talk.text("clear_board")
    assert talk.stones() == {"b2": "X"}


@pytest.mark.parametrize(("komi", "score"), [("0", "B+25"), ("-0.5", "B+25.5"), ("25", "0"), ("25.5", "W+0.5"), ("+7", "B+18")])
def test_komi_is_counted(komi: str, score: str, talk: Talk) -> None:
    """B016: a lone stone of Black owns the 25 points of the board."""
    talk.text("play b c3")
    talk.text(f"komi {komi}")
    assert talk.text("final_score") == score


def test_komi_is_kept(talk: Talk) -> None:
    """B016: over clear_board, a new size and a handicap."""
    talk.text("komi 3.5")
    komis = []
    for line in ("clear_board", "boardsize 9", "fixed_handicap 2", "clear_board"):
        talk.text(line)
        komis.append(talk.engine.board.rules.settings["komi"])
    assert komis == [3.5] * 4


def test_komi_can_change_in_the_middle(talk: Talk) -> None:
    for line in (*KO, "komi 2.5"):
        talk.text(line)
    assert "B2" not in talk.stones()
    assert talk.refused("play w b2") == "illegal move"  # the ko is still on
    for _ in KO:
        talk.text("undo")
    assert talk.stones() == {}


def test_komi_means_nothing_in_a_game_without_it() -> None:
    talk = Talk("hex", {"size": 3})
    talk.text("play b a1")
    assert talk.text("komi 7.5") == ""
    assert talk.stones() == {"a1": "X"}


@pytest.mark.parametrize(
    ("line", "stones"),
    [
        ("fixed_handicap 2", {"C3", "G7"}),
        ("fixed_handicap 5", {"C3", "G7", "C7", "G3", "E5"}),
        ("place_free_handicap 4", {"C3", "G7", "C7", "G3"}),
        ("place_free_handicap 30", {"C3", "C5", "C7", "E3", "E5", "E7", "G3", "G5", "G7"}),
    ],
)
def test_handicap_stones_are_told_and_stand_on_the_board(line: str, stones: set[str]) -> None:
    talk = Talk(settings={"size": 9})
    assert set(talk.text(line).split()) == stones == set(talk.stones())
    assert set(talk.stones().values()) == {"X"}
    assert talk.engine.board.state.player == 1
    assert talk.refused("undo") == "cannot undo"
    talk.text("clear_board")
    talk.text("komi 1.5")
    assert (talk.stones(), talk.engine.board.state.player) == ({}, 0)


@pytest.mark.parametrize("count", [0, 1, 10])
def test_too_few_or_too_many_handicap_stones_are_refused(count: int) -> None:
    assert Talk(settings={"size": 9}).refused(f"fixed_handicap {count}") == "invalid number of stones"


def test_small_boards_have_no_handicap(talk: Talk) -> None:
    talk.text("boardsize 3")
    assert talk.refused("place_free_handicap 2") == "invalid number of stones"


def test_a_handicap_can_be_put_anywhere(talk: Talk) -> None:
    assert talk.text("set_free_handicap a1 B2 c3") == ""
    assert talk.stones() == dict.fromkeys(("A1", "B2", "C3"), "X")
    assert talk.engine.board.state.player == 1


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("", "invalid number of stones"),
        ("a1", "invalid number of stones"),
        ("a1 a1", "bad vertex list"),
        ("a1 pass", "bad vertex list"),
        ("a1 i9", "syntax error"),
    ],
)
def test_a_handicap_that_cannot_be_is_refused(words: str, answer: str, talk: Talk) -> None:
    assert talk.refused(f"set_free_handicap {words}") == answer


# Choosing moves.


def test_reg_genmove_leaves_the_board_alone(talk: Talk) -> None:
    before = talk.position()
    assert talk.text("reg_genmove b") != ""
    assert talk.position() == before


def test_it_resigns_when_its_value_is_low_enough() -> None:
    """Black's stones leave White no room for two eyes."""
    talk = Talk(planner=uct(playouts=50, seed=1), resign=0.05)
    for vertex in ("b1", "b2", "b3", "b4", "b5", "d1", "d2", "d3", "d4", "d5", "c3"):
        talk.text(f"play b {vertex}")
    before = talk.position()
    assert talk.text("genmove w") == "resign"
    assert talk.position() == before
    assert talk.text("reg_genmove w") == "resign"
    talk.engine.resign = 0.0
    assert talk.text("genmove w") != "resign"


def test_it_never_resigns_when_one_move_wins() -> None:
    """B028: any threshold, but Black's last stone is at hand: a1, a2 and then a3 join the first row to the last."""
    talk = Talk("hex", {"size": 3}, uct(playouts=300, seed=1), resign=1.0)
    for line in ("play b a1", "play w c1", "play b a2", "play w c2"):
        talk.text(line)
    assert talk.text("genmove b") == "a3"
    talk.text("clear_board")
    assert talk.text("genmove b") == "resign"


@pytest.mark.parametrize("resign", [-0.1, 1.1, float("nan")])
def test_a_threshold_out_of_range_is_refused(resign: float) -> None:
    with pytest.raises(ValueError, match="resign must be from 0 to 1"):
        Talk(resign=resign)


def test_equal_seeds_give_equal_games() -> None:
    """Warmed beforehand or not."""
    games = []
    for warmed in (False, True):
        talk = Talk(planner=uct(playouts=50, seed=3))
        if warmed:
            talk.engine.warm()
        games.append([talk.text(f"genmove {colour}") for colour in "bwbwbw"])
    assert games[0] == games[1]


# Time.


def budgets(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int | None, float | None]]:
    """The budget of every call of a search from now on, (None, None) for the planner's own; none lasts long."""
    found, search = [], Planner.search

    def brief(self: Planner, env: Any, *, playouts: Any = None, seconds: Any = None, progress: Any = None) -> Any:
        found.append((playouts, seconds))
        return search(self, env, playouts=1, progress=progress)

    monkeypatch.setattr(Planner, "search", brief)
    return found


def test_without_time_settings_a_move_has_the_planners_budget(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    found = budgets(monkeypatch)
    talk.text("genmove b")
    talk.text("genmove w")
    assert found == [(None, None)] * 2


def test_with_time_settings_a_move_has_its_share(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    """26 legal moves are 13 of one's own to come; then what is left is told; reg_genmove is not timed."""
    found = budgets(monkeypatch)
    for line in ("time_settings 130 0 0", "genmove b", "time_left w 10 5", "genmove w", "reg_genmove w", "time_settings 0 1 0"):
        talk.text(line)
    talk.text("genmove b")
    assert found == [
        (None, pytest.approx(10 - LAG)),
        (None, pytest.approx(2 - LAG)),
        (None, None),
        (None, None),
    ]


def test_time_left_needs_no_time_settings(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    found = budgets(monkeypatch)
    talk.text("time_left b 5 5")
    talk.text("genmove b")
    assert found == [(None, pytest.approx(1 - LAG))]


@pytest.mark.parametrize("line", ["clear_board", "boardsize 5"])
def test_clocks_begin_anew_with_the_game(line: str, talk: Talk) -> None:
    talk.text("time_settings 100 0 0")
    talk.text("time_left b 1 0")
    talk.text(line)
    assert talk.engine.clocks is not None
    assert [clock.left for clock in talk.engine.clocks] == [100, 100]


def test_a_move_in_a_period_has_its_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    talk = Talk()
    found = budgets(monkeypatch)
    talk.text("time_settings 0 1 5")
    talk.text("genmove b")
    assert found == [(None, pytest.approx(0.2 - LAG))]
    assert talk.engine.clocks is not None
    assert (talk.engine.clocks[0].stones, talk.engine.clocks[1].stones) == (4, 5)


@pytest.mark.parametrize(
    ("control", "told", "moves", "share"),
    [
        (Control(0, 5, 0), None, 20, None),  # GTP: no limit
        (Control(100, 5, 0), None, 20, None),
        (Control(100, 0, 0), None, 20, 5 - LAG),
        (Control(100, 0, 0), None, 1, 10 - LAG),
        (Control(100, 0, 0), (10, 0), 20, 0.5 - LAG),
        (Control(100, 30, 10), None, 20, 5 - LAG),
        (Control(40, 30, 10), None, 20, 3 - LAG),
        (Control(0, 30, 10), None, 20, 3 - LAG),
        (Control(100, 30, 10), (6, 3), 20, 2 - LAG),
        (Control(100, 30, 10), (0, 0), 20, 3 - LAG),
        (Control(0, 0, 0), None, 20, LEAST),
        (Control(100, 0, 0), (0, 0), 20, LEAST),
        (Control(100, 30, 10), (0, 3), 20, LEAST),
        (Control(100, 30, 10), (-1, 5), 20, LEAST),
        (Control(100, 30, 10), (-1, 0), 20, LEAST),
        (Control(100, 0, 0), (-0.5, 0), 20, LEAST),
        (Control(100, 30, 10), (2.5, 1), 20, 2.5 - LAG),
        (Control(100, 30, 1, japanese=True), (30, 5), 20, 30 - LAG),
        (Control(100, 30, 1, japanese=True), (60, 0), 20, 30 - LAG),
    ],
)
def test_a_share_of_the_time(control: Control, told: tuple[float, int] | None, moves: int, share: float | None) -> None:
    clock = Clock(control)
    if told is not None:
        clock.set(*told)
    assert clock.share(moves) == (None if share is None else pytest.approx(share))


@pytest.mark.parametrize(
    ("control", "spent", "left"),
    [
        (Control(100, 30, 2), [40], (60, 0)),
        (Control(100, 30, 2), [110], (20, 1)),
        (Control(100, 30, 2), [110, 5], (30, 2)),
        (Control(100, 30, 1), [110], (30, 1)),
        (Control(0, 30, 2), [10], (20, 1)),
        (Control(0, 30, 2), [10, 10, 1], (29, 1)),
        (Control(10, 0, 0), [15], (-5, 0)),
    ],
)
def test_a_clock_runs_by_itself(control: Control, spent: list[float], left: tuple[float, int]) -> None:
    clock = Clock(control)
    for seconds in spent:
        clock.spend(seconds)
    assert (clock.left, clock.stones) == left


# Analysis.

NUMBERS = r"visits (?P<visits>\d+) winrate (?P<winrate>\d+) lcb (?P<lcb>\d+) order (?P<order>\d+)"
ANALYSIS = re.compile(rf"info move (?P<move>\S+) {NUMBERS} pv (?P<pv>[^=]+?)(?= info|$)")


def told_after(lines: int) -> tuple[Talk, str]:
    """An engine and the answer of an analysis during which a line arrives so late."""
    calls = []

    def waiting() -> bool:
        calls.append(1)
        return len(calls) > lines

    talk = Talk(waiting=waiting)
    return talk, talk("4 lz-analyze w 0")


def test_an_analysis_tells_lines_until_another_arrives() -> None:
    _, answer = told_after(3)
    head, *lines, last, end = answer.split("\n")
    assert (head, len(lines), last, end) == ("=4", 4, "", "")
    visits = [sum(int(found["visits"]) for found in ANALYSIS.finditer(line)) for line in lines]
    assert visits == sorted(visits)
    assert visits[0] < visits[-1]


def test_an_analysis_says_how_good_each_move_is() -> None:
    talk, answer = told_after(2)
    found = list(ANALYSIS.finditer(answer.split("\n")[-3]))
    assert len(found) == 26
    assert {each["move"] for each in found} == {*map(talk.engine.board.rules.initial_state().action_name, range(26))}
    assert [int(each["order"]) for each in found] == list(range(26))
    assert all(0 <= int(each["lcb"]) <= int(each["winrate"]) <= 10_000 for each in found)
    assert all(each["pv"].split()[0] == each["move"] for each in found)
    assert max(len(each["pv"].split()) for each in found) > 1
    visits = [int(each["visits"]) for each in found]
    assert visits == sorted(visits, reverse=True)


def test_an_analysis_leaves_everything_as_it_was() -> None:
    talk, _ = told_after(1)
    assert talk.stones() == {}
    assert (talk.engine.planner.playouts, talk.engine.planner.seconds, talk.engine.planner.progress) == (20, None, None)
    assert talk.text("genmove b") != ""


@pytest.mark.parametrize("line", ["genmove b", "lz-analyze b 10", "lz-genmove_analyze b 10"])
def test_the_progress_of_the_planner_is_called_under_gtp_too(line: str) -> None:
    """F2-33."""
    seen: list[int] = []
    planner = uct(playouts=20, seed=1, progress=lambda playouts, seconds: seen.append(playouts))
    assert Talk(planner=planner)(line).startswith("=")
    assert seen


@pytest.mark.parametrize(
    "line",
    ["lz-analyze b 20", "lz-analyze b interval 20", "kata-analyze 20", "lz-genmove_analyze b 20", "lz-analyze 20 interval 20"],
)
def test_lines_of_an_analysis_are_as_far_apart_as_asked(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty hundredths of a second, by the clock of the search."""
    talk, shown, search = Talk(waiting=lambda: False), [], Planner.search

    def paced(self: Planner, env: Any, *, progress: Any = None, **budget: Any) -> Any:
        def look(playouts: int, seconds: float) -> None:
            for moment in (0.0, 0.1, 0.19, 0.2, 0.3, 0.41, 0.6, 0.62):
                before = len(talk.written)
                progress(playouts, moment)
                shown.extend([moment] * (len(talk.written) - before))

        return search(self, env, playouts=1, progress=look)

    monkeypatch.setattr(Planner, "search", paced)
    talk(line)
    assert shown == [0.0, 0.2, 0.41, 0.62]


@pytest.mark.parametrize(
    "words", ["", " 10", " b", " B 10", " b interval 10", " interval 10", " maxmoves 9 interval 10", " 10 avoid b c3 1"]
)
def test_an_analysis_can_be_asked_in_many_ways(words: str, talk: Talk) -> None:
    assert re.fullmatch(r"=\ninfo move .+\n\n", talk(f"lz-analyze{words}"))


def test_an_analysis_without_a_colour_is_for_the_player_to_move() -> None:
    """In a game whose players move only in turn."""
    talk = Talk("tic_tac_toe", {})
    talk.text("play b b2")
    assert re.fullmatch(r"=\ninfo move .+\n\n", talk("lz-analyze 10"))
    assert talk("lz-analyze b 10").startswith("? ")


def test_an_analysis_with_several_workers_ends(talk: Talk) -> None:
    talk.engine.planner = uct(playouts=20, workers=2, seed=1)
    assert re.fullmatch(r"=\ninfo move .+\n\n", talk("lz-analyze b 1"))


def test_a_finished_game_has_nothing_to_analyze() -> None:
    talk = Talk("hex", {"size": 1})
    talk.text("play b a1")
    assert talk("lz-analyze w 10") == "=\n\n"


def test_a_move_can_be_analyzed_as_it_is_chosen(talk: Talk) -> None:
    answer = talk("3 lz-genmove_analyze b 10")
    played = re.fullmatch(r"=3\ninfo move [^\n]+\nplay (\S+)\n\n", answer)
    assert played is not None
    assert talk.stones() == {played[1]: "X"}


def test_what_a_search_knows_is_what_it_will_return() -> None:
    """At the end of the search; looking into it changes nothing of it."""
    state, known, lines = registry.make_rules("go", **GO5).initial_state(), [], []
    planner = uct(playouts=2000, seed=5)

    def look(playouts: int, seconds: float) -> None:
        known.append(planner.known())
        lines.append(information(known[-1], planner.line, Wish()))

    planner.progress = look
    result = planner.search(state)
    assert list(result.visits) == list(known[-1].visits) == list(uct(playouts=2000, seed=5).search(state).visits)
    assert (known[-1].value, known[-1].playouts) == (result.value, 2000)
    assert known[0].playouts < 2000
    assert planner.playouts == 2000


def test_nothing_is_known_outside_of_a_search() -> None:
    planner = uct(playouts=10)
    planner.search(registry.make_rules("tic_tac_toe").initial_state())
    with pytest.raises(RuntimeError, match="only from its progress callback"):
        planner.known()


# Records.


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Three moves on 5x5 with a stone of White before the start."""
    rules = registry.make_rules("go", size=5, komi=2.5, white="e5")
    actions = [rules.initial_state().action_named(name) for name in ("a1", "pass", "c3")]
    path = tmp_path / "game.sgf"
    path.write_text(sgf.saved(rules, actions))
    return path


def test_a_record_can_be_loaded(record: Path) -> None:
    talk = Talk(settings={"size": 9})
    talk.text(f"loadsgf {record}")
    assert talk.stones() == {"E5": "O", "A1": "X", "C3": "X"}
    assert talk.engine.board.rules.settings["komi"] == 2.5
    talk.text("undo")
    talk.text("undo")
    talk.text("undo")
    assert talk.stones() == {"E5": "O"}
    talk.text("clear_board")
    assert (talk.stones(), talk.engine.board.rules.planes[:2]) == ({}, (5, 5))


@pytest.mark.parametrize(("number", "stones"), [(1, {"E5"}), (2, {"E5", "A1"}), (3, {"E5", "A1"}), (9, {"E5", "A1", "C3"})])
def test_a_record_can_be_loaded_up_to_a_move(number: int, stones: set[str], record: Path, talk: Talk) -> None:
    talk.text(f"loadsgf {record} {number}")
    assert set(talk.stones()) == stones


def test_a_file_that_is_not_there_cannot_be_loaded(talk: Talk) -> None:
    assert talk.refused("loadsgf /no/such.sgf") == "cannot load file: No such file or directory"


@pytest.mark.parametrize("path", ["/dev/null", "/"])
def test_what_is_no_file_cannot_be_loaded(path: str, talk: Talk) -> None:
    assert talk.refused(f"loadsgf {path}") == "cannot load file: not a regular file"


@pytest.mark.parametrize("text", ["", "no record", "(;GM[11]SZ[5];B[a1])", "(;GM[1]SZ[5];B[aa];W[aa])", "(;GM[1]SZ[99])"])
def test_what_is_no_record_of_the_game_cannot_be_loaded(text: str, tmp_path: Path, talk: Talk) -> None:
    """B022, B037."""
    talk.text("play b a1")
    path = tmp_path / "game.sgf"
    path.write_text(text)
    assert talk.refused(f"loadsgf {path}").startswith("cannot load file: ")


# The command.

COMMAND = [sys.executable, "-m", "ucd_planners.cli", "gtp"]


def piped(text: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *options], input=text, capture_output=True, timeout=PATIENCE)


def test_the_command_speaks_gtp() -> None:
    """With the ends of lines that Windows has, and no end of the last one."""
    text = b"1 boardsize 3\r\n2 play b b2\r\n\r\n3 genmove w\r\n4 lz-analyze b 1\r\n5 name\r\n6 quit"
    run = piped(text, "--game", "hex", "--planner", "uct(c=0.4)", "--playouts", "50", "--seed", "1")
    answer = rb"=1\n\n=2\n\n=3 [abc][123]\n\n=4\n(info .*\n)+\n=5 ucd uct\(c=0.4\)\n\n=6\n\n"
    assert re.fullmatch(answer, run.stdout), run.stdout
    assert (run.returncode, run.stderr) == (0, b"")


def test_the_end_of_the_input_ends_it() -> None:
    run = piped(b"name\n", "--game", "tic_tac_toe", "--seconds", "0.01")
    assert (run.returncode, run.stdout, run.stderr) == (0, b"= ucd uct\n\n", b"")


def test_an_analysis_goes_on_until_the_next_line() -> None:
    words = [*COMMAND, "--game", "hex", "--size", "5", "--planner", "uct(workers=2)"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdin
        assert run.stdout
        watchdog = threading.Timer(PATIENCE, run.kill)
        watchdog.start()
        run.stdin.write("lz-analyze b 1\n")
        run.stdin.flush()
        assert run.stdout.readline() == "=\n"
        lines = [run.stdout.readline() for _ in range(3)]
        run.stdin.write("\nname\n")
        run.stdin.close()
        rest = run.stdout.read()
        watchdog.cancel()
    assert {line.partition(" move")[0] for line in lines} == {"info"}
    assert re.fullmatch(r"(info .*\n)*\n= ucd uct\(workers=2\)\n\n", rest)
    assert run.returncode == 0


def test_ctrl_c_ends_it_without_a_traceback() -> None:
    with subprocess.Popen(
        [*COMMAND, "--game", "hex"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        assert run.stdin
        assert run.stdout
        assert run.stderr
        run.stdin.write(b"name\n")
        run.stdin.flush()
        run.stdout.readline()
        run.send_signal(signal.SIGINT)
        assert run.wait(PATIENCE) == 130
        assert run.stderr.read() == b"ucd: stopped\n"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--game", "leftright"], "GTP needs a game of two players, but leftright_v0(steps=300) has 1"),
        (["--game", "chess"], "unknown game 'chess'"),
        (["--game", "hex", "--size", "99"], "size must be from 1 to 19, not 99"),
        (["--game", "hex", "--planner", "foo"], "unknown planner 'foo'"),
        (["--game", "hex", "--planner", "gtp('cat')"], "gtp is a program that plays in matches, not a planner"),
        (["--game", "hex", "--resign", "2"], "resign must be from 0 to 1, not 2.0"),
        (["--game", "hex", "--playouts", "0"], "playouts must be from 1 to "),
    ],
)
def test_what_cannot_be_played_is_refused_in_one_sentence(options: list[str], sentence: str) -> None:
    run = piped(b"name\n", *options)
    assert (run.returncode, run.stdout, run.stderr.count(b"\n")) == (2, b"", 1)
    assert run.stderr.decode().startswith(f"ucd: {sentence}")
