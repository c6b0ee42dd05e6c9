"""The command `ucd play`: a person types moves, and whatever is typed gets an answer."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys

import hash_game
import pytest

import ucd_envs
from ucd_envs import pictures
from ucd_planners import Planner, cli
from ucd_planners.cli.play import result_of

COMMAND = [sys.executable, "-m", "ucd_planners.cli"]
TIC_TAC_TOE = ("--game", "tic_tac_toe", "--playouts", "50", "--seed", "1")


def played(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str, *options: str
) -> tuple[int, str, str]:
    """Exit status, output and complaints of a game in which a person types words (lines of input)."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{word}\n" for word in typed.split(" "))))
    status = cli.main(["play", *(options or TIC_TAC_TOE)])
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def test_two_people_play_to_a_win(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """X has the first row."""
    status, out, err = played(monkeypatch, capsys, "a1 a2 b1 b2 c1", *TIC_TAC_TOE, "--seat", "both")
    assert (status, err) == (0, "")
    assert "  1 X X X\n  2 O O .\n  3 . . .\nply 5: player_0 (X) has won\n" in out
    assert out.endswith("player_0 won: player_0 1, player_1 0\n")


def test_the_board_is_shown_after_each_move(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = played(monkeypatch, capsys, "a1 a2 b1 b2 c1", *TIC_TAC_TOE, "--seat", "both")
    state = ucd_envs.make_rules("tic_tac_toe").initial_state()
    boards = [pictures.text(state)]
    for name in ("a1", "a2", "b1", "b2", "c1"):
        state = state.after(state.action_named(name))
        boards.append(pictures.text(state))
    places = [out.index(board) for board in boards]
    assert places == sorted(places)
    assert out.count("ply ") == len(boards)


def test_a_draw_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """XOX / XOO / OXX."""
    typed = "a1 b1 c1 b2 a2 c2 b3 a3 c3"
    status, out, _ = played(monkeypatch, capsys, typed, *TIC_TAC_TOE, "--seat", "both")
    assert (status, out.splitlines()[-1]) == (0, "a draw: player_0 0.5, player_1 0.5")


def test_the_planner_answers_with_its_move_value_and_playouts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = played(monkeypatch, capsys, "a1 quit")
    assert re.search(r"^player_1: ucd plays [a-c][1-3], value 0\.\d{3} in 50 playouts$", out, re.MULTILINE)


def test_in_the_second_seat_the_planner_begins(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = played(monkeypatch, capsys, "quit", *TIC_TAC_TOE, "--seat", "second")
    assert status == 0
    assert out.index("player_0: ucd plays") < out.index("ply 1: player_1 (O) to move") < out.index("your move")


@pytest.mark.parametrize("game", [("tic_tac_toe",), ("leftright", "--steps", "5"), ("hex", "--size", "2", "--swap")])
def test_the_planner_plays_alone_when_nobody_has_a_seat(
    game: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--game", *game, "--planner", "uct(c=0.3)", "--playouts", "50", "--seat", "none", "--seed", "3")
    status, out, err = played(monkeypatch, capsys, "", *options)
    assert (status, err) == (0, "")
    assert "uct plays" in out
    assert "move: " not in out
    assert re.search("won: player_0|a draw: |payoff ", out.splitlines()[-1])


def test_the_seed_makes_the_game(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--game", "hex", "--size", "3", "--seat", "none", "--playouts", "20")
    games = [played(monkeypatch, capsys, "", *options, "--seed", seed)[1] for seed in ("1", "1", "2")]
    assert games[0] == games[1] != games[2]


def test_a_person_wins_or_loses_in_the_own_seat(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The single cell of Hex 1x1 wins for whoever has it: the first."""
    cell = ("--game", "hex", "--size", "1")
    assert played(monkeypatch, capsys, "a1", *cell)[1].endswith("you won: player_0 1, player_1 0\n")
    assert played(monkeypatch, capsys, "", *cell, "--seat", "second")[1].endswith("you lost: player_0 1, player_1 0\n")


def test_a_game_of_one_player_has_a_payoff(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """All steps to the left are the best of LeftRight."""
    status, out, _ = played(monkeypatch, capsys, "left left", "--game", "leftright", "--steps", "2")
    assert (status, out.splitlines()[-1]) == (0, "the game is over: payoff 1")


def test_several_can_win_a_game_of_three() -> None:
    state = hash_game.rules(seed=2, branching=4, plies=7, players=3).initial_state()
    while not state.over:
        state = state.after(state.legal_actions()[0])
    winners = [f"player_{player}" for player, payoff in enumerate(state.payoffs()) if payoff == max(state.payoffs())]
    assert result_of(state, set()).startswith(f"{' and '.join(winners)} won: player_0 ")


def test_the_swap_of_hex_is_a_move(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--game", "hex", "--size", "2", "--swap", "--seat", "both")
    _, out, _ = played(monkeypatch, capsys, "swap b1 moves swap swap quit", *options)
    assert "move swap is not legal: the swap is on at the second move only" in out
    assert "a1 a2 b2 swap\n" in out
    assert "  1 . .\n   2 O .\nply 2: player_0 (X) to move" in out


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("z9", "'z9' is no cell of this board: expected a1 to c3 (or type help)"),
        ("", "type a move, such as a1, or help"),
        ("\x1b[A\u00e9", "is no cell of this board: expected a1 to c3 (or type help)"),
        ("b2 b2", "move b2 is not legal: the cell is taken"),
    ],
    ids=["no cell", "nothing", "no word", "taken"],
)
def test_what_is_no_move_gets_one_sentence_and_another_turn(
    typed: str, sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = played(monkeypatch, capsys, f"{typed} quit", *TIC_TAC_TOE, "--seat", "both")
    assert (status, err) == (0, "")
    line = next(line for line in out.splitlines() if sentence in line)
    assert line.startswith("move of player_")
    assert out.rstrip().endswith(":")


def test_capitals_and_blanks_do_not_matter(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("  B2 \nQuit\n"))
    assert cli.main(["play", *TIC_TAC_TOE, "--seat", "both"]) == 0
    assert "  2 . X .\n" in capsys.readouterr().out


def test_a_line_that_is_no_text_gets_an_answer() -> None:
    words = [*COMMAND, "play", *TIC_TAC_TOE]
    run = subprocess.run(words, input=b"\xff\xfe\n", capture_output=True, env=os.environ | {"PYTHONIOENCODING": "utf-8:strict"})
    assert (run.returncode, run.stderr) == (1, b"ucd: the input has ended\n")
    assert b"this cannot be read as text\n" in run.stdout


def test_help_tells_of_every_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = played(monkeypatch, capsys, "help quit")
    assert re.findall(r"^  (\w+) +\w", out, re.MULTILINE) == ["help", "moves", "hint", "undo", "quit"]


def test_moves_are_the_legal_ones(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = played(monkeypatch, capsys, "b2 moves quit", *TIC_TAC_TOE, "--seat", "both")
    assert "move of player_1: a1 b1 c1 a2 c2 a3 b3 c3\n" in out


def test_a_hint_has_the_move_and_its_table_and_plays_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = played(monkeypatch, capsys, "hint quit")
    suggested = re.search(r"ucd suggests (\w\d)\n +move +visits +value\n +(\w\d) ", out)
    assert suggested
    assert suggested[1] == suggested[2]
    assert "\nvariation  " in out
    assert out.count("ply ") == 1


def test_undo_takes_back_the_move_and_its_answer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = played(monkeypatch, capsys, "undo a1 undo moves quit")
    assert "there is no move of yours to take back\n" in out
    assert [int(ply) for ply in re.findall(r"ply (\d)", out)] == [0, 1, 2, 0]
    assert "your move: a1 b1 c1 a2 b2 c2 a3 b3 c3\n" in out


def test_undo_in_the_second_seat_keeps_the_planners_first_move(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = played(monkeypatch, capsys, "undo quit", *TIC_TAC_TOE, "--seat", "second")
    assert "there is no move of yours to take back\n" in out


def test_undo_of_two_people_takes_back_one_move(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = played(monkeypatch, capsys, "a1 a2 undo undo quit", *TIC_TAC_TOE, "--seat", "both")
    assert [int(ply) for ply in re.findall(r"ply (\d)", out)] == [0, 1, 2, 1, 0]


def test_the_end_of_the_input_stops_the_game() -> None:
    run = subprocess.run([*COMMAND, "play", *TIC_TAC_TOE], input="b2\n", capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (1, "ucd: the input has ended\n")
    assert run.stdout.endswith("your move: \n")


def test_ctrl_c_at_the_prompt_stops_the_game(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Impatient(io.StringIO):
        def readline(self, size: int | None = -1, /) -> str:
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", Impatient())
    assert cli.main(["play", *TIC_TAC_TOE]) == 130
    shown = capsys.readouterr()
    assert shown.out.endswith("your move: \n")
    assert shown.err == "ucd: stopped\n"


def test_ctrl_c_in_a_search_stops_the_game(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(playouts: int, seconds: float) -> None:
        raise KeyboardInterrupt

    search = Planner.search

    def interrupted(self: Planner, env: object) -> object:
        self.progress = interrupt
        return search(self, env)

    monkeypatch.setattr(Planner, "search", interrupted)
    status, out, err = played(monkeypatch, capsys, "", *TIC_TAC_TOE, "--seat", "none")
    assert (status, err) == (130, "ucd: stopped\n")
    assert "plays" not in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--game", "chess"], "unknown game 'chess'"),
        (["--game", "hex", "--size", "99"], "size must be from 1 to 19"),
        (["--game", "hex", "--planner", "best"], "unknown planner 'best'"),
        (["--game", "hex", "--playouts", "0"], "playouts must be from 1 to "),
        (["--game", "hex", "--seconds", "-1"], "seconds must be a finite number above 0"),
        (["--game", "hex", "--seed", "-1"], "seed must be from 0 to "),
        (["--game", "leftright", "--seat", "second"], "leftright_v0(steps=300) has no second seat: it has one player"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_played_is_refused_in_one_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["play", *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"ucd: {sentence}")
    assert shown.err.count("\n") == 1


def test_the_game_needs_no_library_for_tables(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    assert played(monkeypatch, capsys, "hint quit")[0] == 0
