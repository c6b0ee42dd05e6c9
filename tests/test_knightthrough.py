"""Knightthrough against recorded games and against a slow board (ids: cases.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from forward_boards import Board, Cell, after, assert_games_are_the_slow_ones, drawn, names, owners
from ggp import recorded

import ucd_envs
from ucd_envs.pictures import text
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State


def knightthrough(**settings: Any) -> Rules:
    """The rules of Knightthrough in a configuration."""
    return ucd_envs.make_rules("knightthrough", **settings)


def targets(board: Board, cell: Cell, player: int) -> Iterator[Cell]:
    """Jumps ahead to any cell but an own one."""
    (column, row), up = cell, 1 - 2 * player
    for right, ahead in ((1, 2), (-1, 2), (2, 1), (-2, 1)):
        target = (column + right, row + up * ahead)
        if board.get(target) != player:
            yield target


# A slow board

SIZES = [(8, 8, 2), (8, 8, 1), (4, 4, 2), (5, 4, 1), (2, 26, 1), (3, 21, 1), (16, 4, 2), (6, 10, 1), (9, 7, 2)]


@pytest.mark.parametrize("elimination", [False, True])
@pytest.mark.parametrize(("rows", "columns", "filled"), SIZES)
def test_random_games_are_those_of_a_slow_board(rows: int, columns: int, filled: int, elimination: bool) -> None:
    """Up to all 64 bits of a word, and where the sides stand face to face."""
    rules = knightthrough(rows=rows, columns=columns, filled=filled, elimination=elimination)
    events = assert_games_are_the_slow_ones(rules, range(filled), targets, 10, elimination)
    assert events["row"] > 0
    assert events["block"] == 0


def test_greedy_games_end_by_taking_the_last_knight() -> None:
    """B061: on both sides, where a wrong count of knights would show."""
    rules = knightthrough(rows=8, columns=4, filled=1)
    events = assert_games_are_the_slow_ones(rules, range(1), targets, 100, greedy=True)
    assert events["taken"] > 20
    assert events["row"] > 5
    assert events["won by 0"] > 20
    assert events["won by 1"] > 20


def test_greedy_games_without_elimination_go_on_to_the_last_row() -> None:
    """A side without knights passes again and again; nobody is blocked, so every game ends."""
    rules = knightthrough(rows=8, columns=4, filled=1, elimination=False)
    events = assert_games_are_the_slow_ones(rules, range(1), targets, 100, elimination=False, greedy=True)
    assert events["pass"] > 30
    assert events["row"] == 100
    assert events["won by 0"] > 20
    assert events["won by 1"] > 20


@pytest.mark.slow
@pytest.mark.parametrize("elimination", [False, True])
@pytest.mark.parametrize("columns", range(4, 27))
def test_random_games_of_every_size_are_those_of_a_slow_board(columns: int, elimination: bool) -> None:
    """Every number of rows and of filled ones that the builder accepts."""
    for rows in range(2, 64 // columns + 1):
        for filled in range(1, 1 + min(2, rows // 2)):
            rules = knightthrough(rows=rows, columns=columns, filled=filled, elimination=elimination)
            for greedy in (False, True):
                assert_games_are_the_slow_ones(rules, range(filled), targets, 4, elimination, greedy)


# Recorded games


@pytest.mark.parametrize("game", range(20))
def test_games_without_elimination_are_those_of_the_rulesheet(game: int) -> None:
    """No recorded game takes all knights, so both forms of the rules play them alike (with `elimination`: test_ggp.py)."""
    told = recorded("knightthrough")["games"][game]
    state = knightthrough(elimination=False).initial_state()
    for count, move in zip(told["legal_counts"], told["moves"], strict=True):
        assert len(state.legal_actions()) == count
        state = after(state, move)
    assert state.payoffs() == [told["goals"]["white"] / 100, told["goals"]["black"] / 100]


def emptied(elimination: bool) -> State:
    """The recorded position in which black, to move, has no knight left."""
    (told,) = recorded("knightthrough")["feature_games"]
    return after(knightthrough(elimination=elimination).initial_state(), " ".join(told["moves"]))


def test_a_side_without_knights_loses() -> None:
    """The position that the rulesheet of 2010 leaves open."""
    state = emptied(elimination=True)
    assert (state.ply, state.payoffs()) == (49, [1.0, 0.0])
    assert set(owners(state).values()) == {0}


def test_a_side_without_knights_passes_without_elimination() -> None:
    """Until the other side is on its last row; only that side moves."""
    state = emptied(elimination=False)
    assert not state.over
    while not state.over:
        assert (state.player, names(state)) == (1, ["pass"])
        assert state.action_named("PASS") == 256
        state = after(state, "pass")
        assert "pass" not in names(state)
        state = state.after(state.legal_actions()[0])
    assert state.payoffs() == [1.0, 0.0]


def test_playouts_from_there_end_with_a_win() -> None:
    """White alone moves, and makes the last move."""
    state, rng = emptied(elimination=False), seeded(1)
    trace, payoffs = np.empty(state.rules.max_plies, np.int32), np.zeros(2)
    for _ in range(200):
        array = state.array()
        played = state.rules.kernels.playout(state.rules.config, array, rng, trace)
        assert set(trace[:played:2].tolist()) == {1 << 16 | 256}
        assert played % 2 == 0
        state.rules.kernels.payoffs(state.rules.config, array, payoffs)
        assert payoffs.tolist() == [1.0, 0.0]


# Moves

MIDDLE = """
. . . . .
. o . o .
o . . . o
. . x . .
. x . x .
"""


def middle(player: int) -> State:
    """A knight with an enemy on each of its targets, on 5x5 cells."""
    return drawn(knightthrough(rows=5, columns=5), MIDDLE, player)


def test_a_knight_jumps_ahead_only() -> None:
    """Over any piece, onto an empty cell or an enemy; the jumps of the knight on c2 are its last."""
    assert names(middle(0)) == ["b1a3", "b1c3", "b1d2", "d1b2", "d1c3", "d1e3", "c2a3", "c2b4", "c2d4", "c2e3"]


def test_player_1_jumps_down() -> None:
    """c2 is taken by all four; b2 and d2 are two columns beside."""
    assert names(middle(1)) == ["a3b1", "a3c2", "e3c2", "e3d1", "b4a2", "b4c2", "b4d3", "d4b3", "d4c2", "d4e2"]


def test_a_capture_removes_one_knight_of_the_other_side() -> None:
    """B061: and a state kept from before the capture is as it was."""
    before = middle(0)
    assert owners(after(before, "c2b4")) == {(1, 0): 0, (3, 0): 0, (1, 3): 0, (0, 2): 1, (4, 2): 1, (3, 3): 1}
    assert owners(before) == owners(middle(0))


def test_an_own_knight_is_no_target() -> None:
    """And an edge is not joined to the other."""
    state = drawn(knightthrough(rows=5, columns=4), ". . . .\n. . . .\n. x . .\n. . x .\nx . . .", 0)
    assert names(state) == ["c2a3", "c2b4", "c2d4", "b3a5", "b3c5", "b3d4"]


@pytest.mark.parametrize(("player", "move"), [(0, "c3b5"), (0, "d4b5"), (1, "b2d1"), (1, "a3b1")])
def test_a_knight_on_its_last_row_wins(player: int, move: str) -> None:
    """B064: for each player, by both kinds of jump, with the payoffs the right way round; other moves do not end the game."""
    state = drawn(knightthrough(rows=5, columns=4), ". . . .\n. . . x\no . x .\n. o . .\nx . . .", player)
    end = after(state, move)
    assert end.payoffs() == [1.0 - player, 0.0 + player]
    assert end.legal_actions() == []
    assert not after(state, "a1c2" if player == 0 else "a3c2").over


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("elimination", [False, True])
def test_taking_the_last_knight_wins_with_elimination_only(player: int, elimination: bool) -> None:
    """B064: far from the last row."""
    rules = knightthrough(rows=6, columns=4, elimination=elimination)
    state = drawn(rules, ". . . .\n. . . .\n. . o .\nx . . .\n. . . .\n. . . .", player)
    state = after(state, "a3c4" if player == 0 else "c4a3")
    assert state.over == elimination
    assert state.over or names(state) == ["pass"]
    assert not state.over or state.payoffs() == [1.0 - player, 0.0 + player]


def test_a_side_with_knights_is_never_blocked_on_four_columns() -> None:
    """Wherever its only knight stands before the last row: each cell of the narrowest board, for both sides."""
    rules = knightthrough(rows=5, columns=4)
    for player in range(2):
        for cell in range(4, 16):
            marks = ["." if at != cell else "xo"[player] for at in range(20)]
            lines = [" ".join(marks[row * 4 : row * 4 + 4]) for row in (4, 3, 2, 1, 0)]
            assert names(drawn(rules, "\n".join(lines), player)) not in ([], ["pass"])


# Names


def test_ways_are_ordered_by_the_column_of_the_target() -> None:
    """4 * cell + way, from a1 on, for both players."""
    state = knightthrough().initial_state()
    assert [state.action_name(4 * 2 + way) for way in range(4)] == ["c1a2", "c1b3", "c1d3", "c1e2"]
    state = after(state, "c1d3")
    assert [state.action_name(4 * 58 + way) for way in range(4)] == ["c8a7", "c8b6", "c8d6", "c8e7"]
    assert state.action_named("C8B6") == 4 * 58 + 1


@pytest.mark.parametrize("name", ["pass", "a1a2", "a1b4", "b1d2", "a9b7"])
def test_a_text_that_is_no_move_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^'{name}' is no move here: expected one such as a1b3$"):
        knightthrough().initial_state().action_named(name)


def test_a_board_in_text() -> None:
    """The first row at the bottom."""
    assert (
        text(after(knightthrough(rows=5, columns=4).initial_state(), "b1c3 c5a4"))
        == """\
  5 O O . O
  4 O . . .
  3 . . X .
  2 . . . .
  1 X . X X
    a b c d
ply 2: player_0 (X) to move
"""
    )


# Settings


def test_a_pass_is_an_action_without_elimination_only() -> None:
    assert [knightthrough(elimination=value).actions for value in (True, False)] == [256, 257]


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        ({"rows": 9, "columns": 8}, ValueError, r"rows \* columns must be at most 64, but 9 \* 8 is 72"),
        ({"columns": 3}, ValueError, "columns must be from 4 to 26, not 3"),
        ({"rows": 17, "columns": 4}, ValueError, "rows must be from 2 to 16, not 17"),
        ({"rows": 3, "filled": 2}, ValueError, "two filled rows a side need 4 rows, not 3: expected filled=1 on this board"),
        ({"elimination": 1}, TypeError, "elimination must be True or False, not 1"),
    ],
)
def test_boards_that_cannot_be_are_refused(settings: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=f"^{sentence}$"):
        knightthrough(**settings)
