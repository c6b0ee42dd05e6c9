"""Games of an engine that follow one another: what stays, what changes in the middle, and what is forgotten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from gtp_talk import GO5, Talk

from ucd_envs import registry
from ucd_planners.notation import planner_from
from ucd_planners.planner import Planner

FILE = "(;GM[1]SZ[5];B[aa];W[ee])"


def loaded(talk: Talk, text: str, folder: Path) -> dict[str, Any]:
    """The settings of the game after a file was loaded."""
    path = folder / "game.sgf"
    path.write_text(text)
    talk.text(f"loadsgf {path}")
    return dict(talk.engine.board.rules.settings)


GO = {"size": 9, "komi": 5.5, "ko": "positional", "suicide": True, "max_plies": 77, "mercy": 20}


def test_what_a_file_does_not_tell_stays_as_the_engine_was_started(tmp_path: Path) -> None:
    """F2-30: komi, ko, suicide, longest game and mercy of Go."""
    talk = Talk(settings=GO)
    assert loaded(talk, FILE, tmp_path).items() >= (GO | {"size": 5}).items() - {("size", 5)}
    assert talk.engine.board.rules.planes[:2] == (5, 5)
    talk.text("clear_board")
    assert talk.engine.board.rules.settings.items() >= {key: GO[key] for key in GO if key != "size"}.items()


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("RU[Chinese]", {"ko": "simple", "suicide": False, "komi": 5.5}),
        ("RU[NZ]", {"ko": "simple", "suicide": True, "komi": 5.5}),
        ("RU[koSITUATIONALscoreAREAtaxNONEsui0]", {"ko": "situational", "suicide": False, "komi": 5.5}),
        ("RU[ ]", {"ko": "positional", "suicide": True, "komi": 5.5}),
        ("KM[7.5]", {"ko": "positional", "suicide": True, "komi": 7.5}),
        ("KM[0]", {"ko": "positional", "suicide": True, "komi": 0.0}),
        ("UCD[mercy=3]", {"ko": "positional", "mercy": 3, "max_plies": 77}),
    ],
)
def test_what_a_file_tells_holds_for_its_game(told: str, found: dict[str, Any], tmp_path: Path) -> None:
    """F2-30: and ko and suicide are the engine's again once the board is cleared."""
    talk = Talk(settings=GO)
    assert loaded(talk, f"(;GM[1]SZ[5]{told};B[aa])", tmp_path).items() >= found.items()
    talk.text("clear_board")
    assert talk.engine.board.rules.settings.items() >= {"ko": "positional", "suicide": True, "mercy": 20}.items()


@pytest.mark.parametrize(
    ("swap", "moves", "expected"),
    [(True, ";B[b1]", True), (True, "", True), (False, ";B[b1]", False), (False, ";B[b1];W[swap-pieces]", True)],
)
def test_the_swap_of_hex_stays_unless_the_file_swaps(swap: bool, moves: str, expected: bool, tmp_path: Path) -> None:
    """F2-30."""
    talk = Talk("hex", {"size": 3, "swap": swap})
    assert loaded(talk, f"(;GM[11]SZ[4]{moves})", tmp_path)["swap"] is expected
    talk.text("clear_board")
    assert talk.engine.board.rules.settings["swap"] is swap


@pytest.mark.parametrize(("ko", "answer"), [("positional", "? illegal move\n\n"), ("simple", "=\n\n")])
def test_a_loaded_game_obeys_the_superko_of_the_engine(ko: str, answer: str, tmp_path: Path) -> None:
    r"""F2-30: Black took the stone on B2 by C2. White passes, so no simple ko is left, and would make the last board again.

    3 . X O . .          3 . X O . .
    2 X O . O .    ->    2 X . X O .
    1 . X O . .          1 . X O . .
    """
    names = ["b1", "c1", "a2", "d2", "b3", "c3", "e5", "b2", "c2"]
    moves = "".join(f";{'BW'[turn % 2]}[{name[0]}{'edcba'[int(name[1]) - 1]}]" for turn, name in enumerate(names))
    talk = Talk(settings=GO5 | {"ko": ko})
    loaded(talk, f"(;GM[1]SZ[5]{moves})", tmp_path)
    talk.text("play w pass")
    assert talk("play w b2") == answer


# New game, new knowledge.


def reusing() -> Planner:
    return planner_from("ucd(policies=mast,reuse_graph=true)", playouts=300, seed=4)


NEW_GAMES = ("clear_board", "boardsize 5", "set_free_handicap a1 b2", "loadsgf {file}", "komi 1.5", "kata-set-rules aga")


@pytest.mark.parametrize("line", NEW_GAMES)
def test_a_new_game_knows_nothing_of_the_last_one(line: str, tmp_path: Path) -> None:
    """F2-32: the first search of the next game is that of a planner that has not searched, but for its random numbers."""
    file = tmp_path / "game.sgf"
    file.write_text(FILE)
    line = line.format(file=file)
    talk, fresh = Talk(planner=reusing()), Talk(planner=reusing())
    first = talk.engine.search(0)
    assert first.visits.sum() == 300
    fresh.engine.planner.search(registry.make_rules("tic_tac_toe").initial_state())  # the random numbers of one search
    talk.text(line)
    fresh.text(line)
    mover = talk.engine.board.state.player
    ours, theirs = talk.engine.search(mover), fresh.engine.search(mover)
    assert ours.visits.sum() == 300
    assert ours.visits.tolist() == theirs.visits.tolist()
    assert ours.nodes == theirs.nodes


def test_the_same_game_keeps_what_it_knows() -> None:
    """F2-32: moves, undo, and komi as it was begin no new game."""
    talk = Talk(planner=reusing())
    talk.engine.search(0)
    for line in ("komi 0", "play b c3", "undo"):
        talk.text(line)
    assert talk.engine.search(0).visits.sum() == 600


def test_a_new_game_goes_on_with_other_random_numbers() -> None:
    """F2-32: forgetting does not repeat the last game."""
    talk = Talk(planner=reusing())
    first = talk.engine.search(0)
    talk.text("clear_board")
    second = talk.engine.search(0)
    assert first.visits.tolist() != second.visits.tolist()


def test_a_planner_forgets_what_it_learned_and_kept() -> None:
    planner, state = reusing(), registry.make_rules("go", **GO5).initial_state()
    planner.search(state)
    assert planner.search(state).visits.sum() == 600
    planner.forget()
    assert planner.search(state).visits.sum() == 300
    planner.reset(4)
    again = planner.search(state).visits.tolist()
    planner.reset(4)
    assert planner.search(state).visits.tolist() == again == reusing().search(state).visits.tolist()


# Changes in the middle.


def test_komi_after_a_handicap_keeps_its_stones() -> None:
    talk = Talk(settings={"size": 9})
    talk.text("fixed_handicap 2")
    talk.text("komi 5.5")
    assert talk.stones() == {"C3": "X", "G7": "X"}
    assert (talk.engine.board.state.player, talk.engine.board.rules.settings["komi"]) == (1, 5.5)
    talk.text("play w e5")
    talk.text("komi 0.5")
    assert talk.stones() == {"C3": "X", "G7": "X", "E5": "O"}
    talk.text("clear_board")
    assert (talk.stones(), talk.engine.board.rules.settings["komi"]) == ({}, 0.5)


@pytest.mark.parametrize("handicap", ["fixed_handicap 2", "set_free_handicap a1 b2"])
def test_a_new_board_has_no_stones_of_the_last_handicap(handicap: str) -> None:
    talk = Talk(settings={"size": 9})
    for line in (handicap, "boardsize 9", "komi 5.5"):
        talk.text(line)
    assert (talk.stones(), talk.engine.board.state.player) == ({}, 0)


def test_play_goes_on_after_three_passes() -> None:
    talk = Talk()
    for line in ("play b a1", "play w pass", "play b pass", "play w pass"):
        talk.text(line)
    talk.text("play w c3")
    assert talk.stones() == {"A1": "X", "C3": "O"}
    for _ in range(5):
        talk.text("undo")
    assert talk.stones() == {}


def test_clocks_begin_anew_with_a_loaded_game(tmp_path: Path) -> None:
    talk = Talk()
    talk.text("time_settings 100 0 0")
    talk.text("time_left b 1 0")
    loaded(talk, FILE, tmp_path)
    assert talk.engine.clocks is not None
    assert [clock.left for clock in talk.engine.clocks] == [100, 100]


def test_rules_that_forbid_a_move_of_the_game_are_refused() -> None:
    """Black's suicide at A1 was legal; the game, its rules and its settings stay as they were."""
    talk = Talk(settings=GO5 | {"suicide": True})
    for line in ("play w a2", "play w b1", "play b a1"):
        talk.text(line)
    assert talk.refused("kata-set-rules chinese") == "unsupported rules: chinese"
    assert talk.engine.board.rules.settings["suicide"] is True
    talk.text("clear_board")
    talk.text("kata-set-rules chinese")
    talk.text("play w a2")
    talk.text("play w b1")
    assert talk.refused("play b a1") == "illegal move"
    talk.text("boardsize 7")
    assert talk.engine.board.rules.settings["suicide"] is False
