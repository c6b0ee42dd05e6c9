"""Pawn Whopping against a slow board and in positions made by hand (ids: cases.md)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from forward_boards import Board, Cell, after, assert_games_are_the_slow_ones, drawn, names, owners

import ucd_envs
from ucd_envs.pictures import text
from ucd_envs.rules import Rules, State


def pawn_whopping(**settings: Any) -> Rules:
    """The rules of Pawn Whopping in a configuration."""
    return ucd_envs.make_rules("pawn_whopping", **settings)


def targets(board: Board, cell: Cell, player: int, rows: int, corrected: bool) -> Iterator[Cell]:
    """One row ahead to an empty cell, two from the first row of a side that may so, and diagonally onto the other side."""
    (column, row), up = cell, 1 - 2 * player
    ahead = (column, row + up)
    if ahead not in board:
        yield ahead
        beyond = (column, row + 2 * up)
        if beyond not in board and (row == 1 if player == 0 else corrected and row == rows - 2):
            yield beyond
    for side in (-1, 1):
        target = (column + side, row + up)
        if board.get(target) == 1 - player:
            yield target


# A slow board


@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (4, 2), (4, 16), (5, 3), (6, 10), (9, 7), (12, 5), (32, 2)])
def test_random_games_are_those_of_a_slow_board(rows: int, columns: int, corrected: bool) -> None:
    """Up to all 64 bits of a word, and where the sides stand face to face."""
    rules = pawn_whopping(rows=rows, columns=columns, corrected=corrected)
    rulebook = partial(targets, rows=rows, corrected=corrected)
    events = assert_games_are_the_slow_ones(rules, range(1, 2), rulebook, 8 if rows * columns > 30 else 40)
    assert events["row"] + events["taken"] > 0


@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("greedy", [False, True])
def test_games_end_in_every_way(corrected: bool, greedy: bool) -> None:
    """B061, B053: passes, blocked boards, and wins of both sides on the last row and by taking the last pawn."""
    rules = pawn_whopping(rows=6, columns=3, corrected=corrected)
    rulebook = partial(targets, rows=6, corrected=corrected)
    events = assert_games_are_the_slow_ones(rules, range(1, 2), rulebook, 300, greedy=greedy)
    assert min(events[event] for event in ("row", "taken", "block", "pass", "won by 0", "won by 1")) > 2


@pytest.mark.slow
@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("columns", range(2, 17))
def test_random_games_of_every_size_are_those_of_a_slow_board(columns: int, corrected: bool) -> None:
    """Every number of rows that the builder accepts."""
    for rows in range(4, 64 // columns + 1):
        rules = pawn_whopping(rows=rows, columns=columns, corrected=corrected)
        rulebook = partial(targets, rows=rows, corrected=corrected)
        for greedy in (False, True):
            assert_games_are_the_slow_ones(rules, range(1, 2), rulebook, 6, greedy=greedy)


# Moves


def test_player_0_alone_has_the_double_step() -> None:
    """The rulesheet gives player 1 none: 16 moves and 8 replies, or 16 of both when corrected."""
    for corrected, replies in ((False, 8), (True, 16)):
        state = pawn_whopping(corrected=corrected).initial_state()
        assert len(state.legal_actions()) == 16
        assert {len(state.after(action).legal_actions()) for action in state.legal_actions()} == {replies}


@pytest.mark.parametrize(("player", "corrected"), [(0, False), (0, True), (1, True)])
def test_a_double_step_needs_two_empty_cells_and_the_first_row(player: int, corrected: bool) -> None:
    """Blocked at the first cell, at the second, from the second row, and free; no capture straight ahead."""
    board = """
    . . . .
    . . . .
    . . . x
    o x . .
    . o x .
    x x . x
    . . . .
    """
    expected = ["a2a3", "d2d3", "d2d4", "c3c4", "b4b5", "d5d6"]
    if player == 1:
        lines = [line.strip() for line in board.strip().splitlines()]
        board = "\n".join(lines[::-1]).translate(str.maketrans("xo", "ox"))
        expected = ["d3d2", "b4b3", "c5c4", "a6a5", "d6d4", "d6d5"]
    state = drawn(pawn_whopping(rows=7, columns=4, corrected=corrected), board, player)
    # b3 is taken from a2; a4 from nowhere.
    taken = ["a2b3"] if player == 0 else ["a6b5"]
    assert sorted(names(state)) == sorted(expected + taken)


def test_there_is_no_double_step_of_player_1_by_default() -> None:
    state = drawn(pawn_whopping(rows=7, columns=2), ". .\no .\n. .\n. .\n. .\n. x\n. .", 1)
    assert names(state) == ["a6a5"]


def test_pawns_take_diagonally_only() -> None:
    """b3 takes a4 and c4 and is blocked by b4; d4 of player 1 is blocked as well, with nothing to take."""
    board = """
    . . . .
    . . . .
    o o o o
    . x . x
    . . . .
    . . . .
    """
    rules = pawn_whopping(rows=6, columns=4)
    assert names(drawn(rules, board, 0)) == ["b3a4", "b3c4", "d3c4"]
    assert names(drawn(rules, board, 1)) == ["a4a3", "a4b3", "c4b3", "c4c3", "c4d3"]


def test_a_capture_removes_one_pawn_of_the_other_side() -> None:
    """B061: and a state kept from before the capture is as it was."""
    before = drawn(pawn_whopping(rows=6, columns=4), ". . . .\n. . . .\no o . .\n. x . .\n. . . .\n. . . .", 0)
    assert owners(after(before, "b3a4")) == {(0, 3): 0, (1, 3): 1}
    assert owners(before) == {(1, 2): 0, (0, 3): 1, (1, 3): 1}


def test_a_pawn_that_has_made_a_double_step_cannot_be_taken_in_passing() -> None:
    state = drawn(pawn_whopping(rows=7, columns=2), ". .\no .\n. .\n. o\n. .\nx .\n. .", 0)
    assert names(after(state, "a2a4")) == ["b4b3", "a6a5"]


# Ends


@pytest.mark.parametrize(("player", "move"), [(0, "a4a5"), (0, "a4b5"), (1, "c2c1"), (1, "c2b1")])
def test_a_pawn_on_its_last_row_wins(player: int, move: str) -> None:
    """B064: for each player, straight ahead or with a capture, with the payoffs the right way round."""
    state = drawn(pawn_whopping(rows=5, columns=4), ". o . .\nx . . .\no . . x\n. . o .\n. x . .", player)
    end = after(state, move)
    assert end.payoffs() == [1.0 - player, 0.0 + player]
    assert end.legal_actions() == []
    assert not after(state, "d3d4" if player == 0 else "a3a2").over


@pytest.mark.parametrize("player", [0, 1])
def test_taking_the_last_pawn_wins(player: int) -> None:
    """B064: also where neither side could move any more."""
    state = drawn(pawn_whopping(rows=6, columns=2), ". .\n. .\n. o\nx .\n. .\n. .", player)
    end = after(state, "a3b4" if player == 0 else "b4a3")
    assert end.payoffs() == [1.0 - player, 0.0 + player]


BLOCKED = (
    """
    . . .
    . . .
    o . {}
    x . .
    . . x
    . . .
    """,
    """
    . . .
    . . o
    o . .
    x . {}
    . . .
    . . .
    """,
)
"""Pawns that block each other and one that goes on its way, of player 0 and 1; there may be one in front of it."""


def blocked(player: int, front: str = ".") -> State:
    """One of these boards, with its player to move."""
    return drawn(pawn_whopping(rows=6, columns=3), BLOCKED[player].format(front), player)


@pytest.mark.parametrize(("player", "moves"), [(0, "c2c3 c3c4 c4c5 c5c6"), (1, "c5c4 c4c3 c3c2 c2c1")])
def test_a_blocked_side_passes(player: int, moves: str) -> None:
    """And may not where it has a move, so that the other goes on alone to its last row."""
    state = blocked(player)
    for move in moves.split():
        assert not state.over
        assert "pass" not in names(state)
        state = after(state, move)
        if not state.over:
            assert names(state) == ["pass"]
            assert state.action_named("Pass") == state.rules.actions - 1 == 72
            state = after(state, "pass")
    assert state.payoffs() == [1.0 - player, 0.0 + player]


@pytest.mark.parametrize(("player", "move"), [(0, "c2c3"), (1, "c5c4")])
def test_the_game_is_a_draw_when_both_sides_are_blocked(player: int, move: str) -> None:
    """B053: whoever has moved last."""
    end = after(blocked(player, "ox"[player]), move)
    assert end.payoffs() == [0.5, 0.5]
    assert end.legal_actions() == []


def test_a_pass_changes_nothing_but_the_mover() -> None:
    """The observation of each player tells who is to move."""
    state = after(blocked(0), "c2c3")
    passed = after(state, "pass")
    assert owners(passed) == owners(state)
    assert passed.words != state.words
    seen = np.zeros((2, 6, 3, 3), np.int8)
    for at, found in enumerate((state, passed)):
        found.rules.kernels.observe(found.rules.config, found.array(), 0, seen[at].reshape(-1))
    assert [set(planes[..., 2].flat) for planes in seen] == [{0}, {1}]
    assert (seen[0, ..., :2] == seen[1, ..., :2]).all()


# Names


def test_ways_have_their_numbers() -> None:
    """4 * cell + way: captures to both sides, a step and a double step."""
    state = pawn_whopping().initial_state()
    assert [state.action_name(4 * 9 + way) for way in range(4)] == ["b2a3", "b2b3", "b2c3", "b2b4"]
    assert state.action_name(256) == "pass"
    assert state.action_named("B2B4") == 4 * 9 + 3


@pytest.mark.parametrize("name", ["pass", "a2b3", "a2a5", "a7a6", "a1a2"])
def test_a_text_that_is_no_move_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^'{name}' is no move here: expected one such as a2a3$"):
        pawn_whopping().initial_state().action_named(name)


def test_a_board_in_text() -> None:
    """The first row at the bottom."""
    assert (
        text(after(pawn_whopping(rows=6, columns=3).initial_state(), "b2b4 a5b4"))
        == """\
  6 . . .
  5 . O O
  4 . O .
  3 . . .
  2 X . X
  1 . . .
    a b c
ply 2: player_0 (X) to move
"""
    )


# Settings


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        ({"rows": 9, "columns": 8}, ValueError, r"rows \* columns must be at most 64, but 9 \* 8 is 72"),
        ({"rows": 3}, ValueError, "rows must be from 4 to 32, not 3"),
        ({"columns": 1}, ValueError, "columns must be from 2 to 16, not 1"),
        ({"corrected": "yes"}, TypeError, "corrected must be True or False, not 'yes'"),
    ],
)
def test_boards_that_cannot_be_are_refused(settings: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=f"^{sentence}$"):
        pawn_whopping(**settings)
