"""NoGo with other programs: GTP, and records in SGF, where it looks like Go (ids: cases.md)."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from gtp_talk import Talk

import ucd_envs
from ucd_envs.formats import sgf
from ucd_envs.rules import State
from ucd_planners import cli


def talk(**settings: Any) -> Talk:
    return Talk("nogo", {"size": 5, **settings})


def random_game(seed: int, **settings: Any) -> tuple[State, list[int]]:
    """A finished game and its moves."""
    choice, state, actions = random.Random(seed), ucd_envs.make_rules("nogo", **settings).initial_state(), []
    while not state.over:
        actions.append(choice.choice(state.legal_actions()))
        state = state.after(actions[-1])
    return state, actions


# GTP


def test_engines_play_until_one_resigns_for_want_of_a_move() -> None:
    """Each is told of the other's moves. The result is that of the rules."""
    black, white = talk(), talk()
    for ply in range(25):
        ours, theirs, colour = (black, white, "b") if ply % 2 == 0 else (white, black, "w")
        answer = ours.text(f"genmove {colour}")
        if answer == "resign":
            break
        theirs.text(f"play {colour} {answer}")
    assert answer == "resign"
    assert ours.engine.board.state.legal_actions() == []
    assert ours.text("final_score") == theirs.text("final_score") == ("W+" if ply % 2 == 0 else "B+")
    assert theirs.refused(f"genmove {'wb'[ply % 2]}") == "the game is over"
    assert ours.text(f"reg_genmove {colour}") == "resign"
    ours.text("undo")
    assert ours.text(f"genmove {'wb'[ply % 2]}") != "resign"


def test_there_is_no_pass_and_nobody_moves_out_of_turn() -> None:
    engine = talk()
    assert engine.refused("play b pass") == "illegal move"
    assert engine.refused("play w c3") == "players of nogo_v0 move only in turn, and player 0 is to move"
    engine.text("play b c3")
    assert engine.refused("play w c3") == "illegal move"
    assert engine.refused("play w f1") == "syntax error"
    assert engine.stones() == {"C3": "X"}


def test_coordinates_leave_out_i() -> None:
    """B026."""
    engine = talk(size=9)
    for line in ("play b J9", "play w j1", "play b h5"):
        engine.text(line)
    assert engine.refused("play w i5") == "syntax error"
    assert engine.stones() == {"J9": "X", "J1": "O", "H5": "X"}


def test_a_capture_is_refused_or_loses() -> None:
    """White's stone at A1 has the liberty A2 left."""
    for irrational in (False, True):
        engine = talk(irrational=irrational)
        for line in ("play b b1", "play w a1", "play b e5", "play w e1"):
            engine.text(line)
        if irrational:
            engine.text("play b a2")
            assert engine.text("final_score") == "W+"
        else:
            assert engine.refused("play b a2") == "illegal move"
            assert engine.refused("final_score") == "cannot score"


def test_sizes_are_those_of_the_rules() -> None:
    """On a single point Black has lost before the first move. Komi means nothing."""
    engine = talk()
    engine.text("boardsize 1")
    assert (engine.text("genmove b"), engine.text("final_score")) == ("resign", "W+")
    assert engine.refused("genmove w") == "the game is over"
    engine.text("boardsize 7 4")
    engine.text("komi 7.5")
    assert engine.engine.board.rules.settings.items() >= {"rows": 4, "columns": 7}.items()
    assert engine.refused("boardsize 20") == "unacceptable size"
    assert "fixed_handicap" not in engine.text("list_commands").split()


# Records


@pytest.mark.parametrize("settings", [{}, {"rows": 6, "columns": 19}, {"size": 5, "irrational": True}], ids=str)
def test_games_are_written_as_sgf_and_read_again(settings: dict[str, Any]) -> None:
    state, actions = random_game(1, **settings)
    text = sgf.saved(state.rules, actions, players=("one", "two"), comments=["first"])
    assert "GM[1]" in text
    assert "RU[NoGo]" in text
    record = sgf.load(text, strict=True)
    assert (record.rules, record.actions, record.state) == (state.rules, tuple(actions), state)
    assert (record.players, record.comments[0]) == (("one", "two"), "first")
    assert record.result == ("B+" if state.payoffs()[0] == 1 else "W+")


TOURNAMENT = "(;FF[4]GM[1]SZ[9]KM[6.5]PB[BobNoGo]PW[FxNoGo];B[ee];W[ei];B[ia]{})"
"""A record as programs for Go write it: nothing tells that it is NoGo."""


def test_a_record_that_looks_like_go_is_read_as_nogo_by_name() -> None:
    record = sgf.load(TOURNAMENT.format(""), game="nogo")
    assert record.rules == ucd_envs.make_rules("nogo")
    assert [record.state.action_name(action) for action in record.actions] == ["E5", "E1", "J9"]
    assert sgf.load(TOURNAMENT.format("")).rules.name == "go_v0"
    assert sgf.load(TOURNAMENT.format(""), game="nogo", irrational=True).rules.settings["irrational"] is True
    assert sgf.load("(;RU[nogo]SZ[5];B[aa])").rules.name == "nogo_v0"


def test_passes_after_the_end_are_left_out() -> None:
    state, actions = random_game(2, size=3)
    text = sgf.saved(state.rules, actions)
    longer = text.strip().removesuffix(")") + ";B[];W[tt])"
    assert sgf.load(longer).actions == tuple(actions)
    with pytest.raises(ValueError, match="is not legal"):
        sgf.load(longer, strict=True)


SKIPS = r"a game of NoGo begins on an empty board with Black to move, and nobody skips a turn\Z"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(;GM[1]SZ[3];B[aa];W[])", r"move 2 \(W ''\) is not legal: 'pass' is no point of this board: expected A1 to C3\Z"),
        ("(;GM[1]SZ[3];B[aa];B[bb])", rf"move 2 \(B B2\) is not legal: {SKIPS}"),
        ("(;GM[1]SZ[3];W[aa])", rf"\A{SKIPS}"),
        ("(;GM[1]SZ[3]AB[aa];W[bb])", rf"\A{SKIPS}"),
        ("(;GM[1]SZ[3];B[aa];W[bb];AE[bb];B[cc])", rf"move 3 \(B 'cc'\) is not legal: {SKIPS}"),
        ("(;GM[1]SZ[3];B[aa];W[aa])", r"move 2 \(W A3\) is not legal: the point is taken, or a chain would be left without"),
        ("(;GM[1]SZ[3];B[ba];W[aa];B[ab])", r"move 3 \(B A2\) is not legal: the point is taken, or a chain would be left"),
        ("(;GM[1]SZ[3];B[da])", r"'da' is no point of a board with 3 columns and 3 rows"),
        ("(;GM[11]SZ[3];B[aa])", r"this is a record of another game: GM\[11\] instead of GM\[1\] \(nogo\)\Z"),
        ("(;GM[1]SZ[3]UCD[mercy=3];B[aa])", r"UCD cannot be read: 'mercy=3'\Z"),
    ],
)
def test_records_that_are_no_games_of_nogo_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sgf.load(text, game="nogo")


def test_a_record_of_nogo_is_no_record_of_go() -> None:
    with pytest.raises(ValueError, match=r"another game: RU\[NoGo\], no rules of Go\Z"):
        sgf.load("(;GM[1]SZ[3]RU[NoGo];B[aa])", game="go")


def test_an_engine_loads_a_record_and_keeps_its_own_choices(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text(TOURNAMENT.format(""))
    engine = talk(irrational=True, generation="points")
    engine.text(f"loadsgf {path}")
    assert engine.stones() == {"E5": "X", "E1": "O", "J9": "X"}
    wanted = {"rows": 9, "columns": 9, "irrational": True, "generation": "points"}
    assert engine.engine.board.rules.settings == wanted
    engine.text("clear_board")
    assert engine.engine.board.rules.settings == wanted


def test_matches_write_their_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One file each, which is read again."""
    words = ["match", "--game", "nogo", "--size", "4", "--a", "uct", "--b", "random", "--playouts", "50", "--games", "2"]
    cli.main([*words, "--sgf", str(tmp_path)])
    assert "2 games" in capsys.readouterr().out
    for path in sorted(tmp_path.glob("game-*.sgf")):
        assert sgf.load(path).state.over
    assert len(list(tmp_path.glob("game-*.sgf"))) == 2
