"""Breakthrough against OpenSpiel, against a slow board, and against solved small boards (ids: cases.md)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from forward_boards import Board, Cell, after, assert_games_are_the_slow_ones, drawn, names, owners
from lockstep import lockstep, mean_return

import ucd_envs
from ucd_envs.games import breakthrough as game
from ucd_envs.kernels import kernel
from ucd_envs.pictures import text
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields


def breakthrough(**settings: int) -> Rules:
    """The rules of Breakthrough in a configuration."""
    return ucd_envs.make_rules("breakthrough", **settings)


def targets(board: Board, cell: Cell, player: int) -> Iterator[Cell]:
    """Ahead: straight to an empty cell, diagonally to any but an own one."""
    (column, row), up = cell, 1 - 2 * player
    for side in (-1, 0, 1):
        target = (column + side, row + up)
        if target not in board or (side != 0 and board[target] != player):
            yield target


# OpenSpiel


def translated(state: State, action: int) -> int:
    """OpenSpiel's number: of the cell, of one of six directions, and of a capture."""
    columns, player = state.rules.planes[1], state.player
    cell, way = divmod(action, 3)
    target = cell + (1 - 2 * player) * columns + way - 1
    taken = int(fields(state.array(), game.STATE).pieces[1 - player]) >> target & 1
    return (cell * 6 + 3 * player + way) * 2 + taken


@pytest.mark.parametrize(
    ("rows", "columns", "count"), [(8, 8, 60), (6, 6, 100), (5, 3, 200), (7, 9, 40), (3, 2, 60), (2, 4, 10)]
)
def test_random_games_are_those_of_openspiel(rows: int, columns: int, count: int) -> None:
    """Legal lists, movers, ends and returns agree at every ply, with one and two filled rows a side."""
    ours = breakthrough(rows=rows, columns=columns)
    found = lockstep(ours, f"breakthrough(rows={rows},columns={columns})", count, seed=1, translated=translated)
    assert set(found) == ({(1, -1)} if rows == 2 else {(1, -1), (-1, 1)})


@pytest.mark.parametrize(
    ("rows", "columns", "theirs", "error"), [(5, 5, 0.0991, 0.0031), (6, 6, 0.0328, 0.0032), (8, 8, 0.0172, 0.0045)]
)
def test_playouts_have_the_mean_return_of_openspiels(rows: int, columns: int, theirs: float, error: float) -> None:
    """Measured with OpenSpiel's own playouts."""
    ours, own_error = mean_return(breakthrough(rows=rows, columns=columns), 50_000, seed=1)
    assert abs(ours - theirs) < 4 * math.hypot(own_error, error)


# A slow board


@pytest.mark.parametrize(
    ("rows", "columns", "filled"),
    [(8, 8, 2), (8, 8, 1), (4, 2, 2), (5, 3, 2), (4, 4, 2), (2, 26, 1), (3, 21, 1), (32, 2, 2), (6, 10, 1), (9, 7, 2)],
)
def test_random_games_are_those_of_a_slow_board(rows: int, columns: int, filled: int) -> None:
    """Up to all 64 bits of a word, and where the sides stand face to face."""
    rules = breakthrough(rows=rows, columns=columns, filled=filled)
    events = assert_games_are_the_slow_ones(rules, range(filled), targets, games=6 if rows * columns > 30 else 30)
    assert events["row"] > 0
    assert events["block"] == events["pass"] == 0


def test_greedy_games_end_by_taking_the_last_piece() -> None:
    """B061: on both sides, where a wrong count of pieces would show."""
    rules = breakthrough(rows=6, columns=3)
    events = assert_games_are_the_slow_ones(rules, range(2), targets, games=150, greedy=True)
    assert events["taken"] > 20
    assert events["row"] > 5
    assert events["won by 0"] > 20
    assert events["won by 1"] > 20


@pytest.mark.slow
@pytest.mark.parametrize("columns", range(2, 27))
def test_random_games_of_every_size_are_those_of_a_slow_board(columns: int) -> None:
    """Every number of rows and of filled ones that the builder accepts."""
    for rows in range(2, 64 // columns + 1):
        for filled in range(1, 1 + min(2, rows // 2)):
            rules = breakthrough(rows=rows, columns=columns, filled=filled)
            assert_games_are_the_slow_ones(rules, range(filled), targets, games=4, greedy=False)
            assert_games_are_the_slow_ones(rules, range(filled), targets, games=4, greedy=True)


# Solved boards


@kernel()
def mover_wins(config, states, depth, keys, values):
    """Whether the mover of states[depth] wins under perfect play; depth first with a table. For boards of up to 31 cells."""
    state = states[depth]
    s = fields(state, game.STATE)
    word = s.pieces[0] | s.pieces[1] << np.uint64(32) | np.uint64(s.player) << np.uint64(31)
    slot = np.int64((word * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(42))
    if keys[slot] == word:
        return values[slot] != 0
    won = False
    for action in range(game.WAYS * fields(config, game.CONFIG).rows * fields(config, game.CONFIG).columns):
        if not won and game.is_legal(config, state, action):
            for i in range(states.shape[1]):
                states[depth + 1, i] = state[i]
            game.play(config, states[depth + 1], action)
            over = fields(states[depth + 1], game.STATE).player < 0
            won = over or not mover_wins(config, states, depth + 1, keys, values)
    keys[slot], values[slot] = word, won
    return won


@pytest.mark.parametrize(
    ("columns", "rows", "wins"),
    [
        *((2, 4, False), (3, 4, False), (4, 4, False), (2, 5, False), (3, 5, False), (2, 6, True)),
        pytest.param(3, 6, True, marks=pytest.mark.slow),
    ],
)
def test_small_boards_have_their_known_winners(columns: int, rows: int, wins: bool) -> None:
    """F10: whether the first player wins with two filled rows a side."""
    rules = breakthrough(rows=rows, columns=columns, filled=2)
    states = np.zeros((rules.max_plies + 1, rules.state_bytes), np.uint8)
    states[0] = rules.initial_state().array()
    assert mover_wins(rules.config, states, 0, np.zeros(2**22, np.uint64), np.zeros(2**22, np.uint8)) == wins


def test_the_first_moves_are_as_many_as_known() -> None:
    """F10: 22 moves each; the counts of deeper plies are compared with the rulesheet's in test_ggp.py."""
    state = breakthrough().initial_state()
    assert len(state.legal_actions()) == 22
    assert sum(len(state.after(action).legal_actions()) for action in state.legal_actions()) == 484


# Moves

MIDDLE = """
. . . .
. o o .
. x . .
. . . .
. . . .
"""


def middle(player: int) -> State:
    """Pieces that face each other on 5x4 cells."""
    return drawn(breakthrough(rows=5, columns=4), MIDDLE, player)


def test_straight_ahead_is_no_capture() -> None:
    """The piece on b3 can go to the empty a4 and take c4, not b4."""
    assert names(middle(0)) == ["b3a4", "b3c4"]


def test_player_1_moves_down() -> None:
    """b4 is blocked straight ahead, c4 can take b3."""
    assert names(middle(1)) == ["b4a3", "b4c3", "c4b3", "c4c3", "c4d3"]


def test_a_capture_removes_one_piece_of_the_other_side() -> None:
    """B061: and a state kept from before the capture is as it was."""
    before = middle(0)
    state = after(before, "b3c4")
    assert owners(state) == {(1, 3): 1, (2, 3): 0}
    assert owners(before) == {(1, 2): 0, (1, 3): 1, (2, 3): 1}
    state = middle(1)
    assert owners(after(state, "c4b3")) == {(1, 3): 1, (1, 2): 1}


@pytest.mark.parametrize(("player", "move"), [(0, "b4a5"), (0, "b4b5"), (1, "c2c1"), (1, "c2d1")])
def test_a_piece_on_its_last_row_wins(player: int, move: str) -> None:
    """B064: for each player, with the payoffs the right way round; another move does not end the game."""
    state = drawn(breakthrough(rows=5, columns=4), ". . . .\n. x . .\no . . x\n. . o .\n. . . .", player)
    end = after(state, move)
    assert end.payoffs() == [1.0 - player, 0.0 + player]
    assert end.legal_actions() == []
    assert not after(state, "d3d4" if player == 0 else "a3b2").over


@pytest.mark.parametrize(("player", "move"), [(0, "b3c4"), (1, "c4b3")])
def test_taking_the_last_piece_wins(player: int, move: str) -> None:
    """B064: far from the last row."""
    end = after(drawn(breakthrough(rows=6, columns=4), MIDDLE.replace("o o", ". o") + ". . . .", player), move.translate(UP))
    assert end.payoffs() == [1.0 - player, 0.0 + player]


UP = str.maketrans("345", "456")
"""Moves of the middle board one row higher."""


def test_an_edge_is_not_joined_to_the_other() -> None:
    """Pieces on the first and last column have two ways each."""
    state = drawn(breakthrough(rows=5, columns=4), ". . . .\n. . . .\n. . . .\nx . . x\n. o . .", 0)
    assert names(state) == ["a2a3", "a2b3", "d2c3", "d2d3"]
    state = drawn(breakthrough(rows=5, columns=4), ". x . .\no . . o\n. . . .\n. . . .\n. . . .", 1)
    assert names(state) == ["a4a3", "a4b3", "d4c3", "d4d3"]


# Names


def test_the_first_action_names_the_first_cell() -> None:
    """3 * cell + way, from a1 on."""
    state = breakthrough().initial_state()
    assert [state.action_name(action) for action in (1, 2, 3 * 8, 3 * 9 + 2)] == ["a1a2", "a1b2", "a2off", "b2c3"]
    assert state.action_named("A2A3") == state.action_named("a2a3") == 3 * 8 + 1


def test_rows_may_have_two_digits() -> None:
    state = breakthrough(rows=12, columns=4).initial_state()
    assert names(after(state, "a2a3"))[:3] == ["a11a10", "a11b10", "b11a10"]
    assert state.after(state.action_named("a2a3")).action_named("b11A10") == 3 * 41


def test_a_text_that_is_no_move_is_refused() -> None:
    state = breakthrough().initial_state()
    with pytest.raises(ValueError, match=r"^'a2a4' is no move here: expected one such as a2a3$"):
        state.action_named("a2a4")
    end = drawn(breakthrough(rows=3, columns=2), ". .\nx .\n. o", 0)
    with pytest.raises(ValueError, match=r"^'a1a2' is no move here: the game is over$"):
        after(after(end, "a2a3"), "a1a2")


# Observations and pictures


def test_observations_have_the_orientation_of_actions() -> None:
    """B106, B107: row 0 is the bottom for both players; the third plane is set for the one to move."""
    state = after(breakthrough(rows=4, columns=3).initial_state(), "a1b2")
    assert state.player == 1
    seen = [np.zeros((4, 3, 3), np.int8) for _ in range(2)]
    for player, planes in enumerate(seen):
        state.rules.kernels.observe(state.rules.config, state.array(), player, planes.reshape(-1))
    assert seen[0][..., 0].tolist() == [[0, 1, 1], [0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert seen[0][..., 1].tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 1, 1]]
    assert (seen[0][..., :2] == seen[1][..., 1::-1]).all()
    assert [set(planes[..., 2].flat) for planes in seen] == [{0}, {1}]


def test_a_board_in_text() -> None:
    """The first row at the bottom."""
    assert (
        text(after(breakthrough(rows=5, columns=4).initial_state(), "b1c2 d5d4"))
        == """\
  5 O O O .
  4 . . . O
  3 . . . .
  2 . . X .
  1 X . X X
    a b c d
ply 2: player_0 (X) to move
"""
    )


# Settings


@pytest.mark.parametrize(("rows", "filled"), [(2, 1), (5, 1), (6, 2), (8, 2)])
def test_two_rows_are_filled_from_six_rows_on(rows: int, filled: int) -> None:
    rules = breakthrough(rows=rows, columns=3)
    assert rules.settings == {"rows": rows, "columns": 3, "filled": filled}
    assert len(owners(rules.initial_state())) == 6 * filled


@pytest.mark.parametrize(("rows", "columns", "filled", "plies"), [(8, 8, 2, 177), (4, 2, 2, 13), (2, 2, 1, 1)])
def test_games_have_their_known_most_plies(rows: int, columns: int, filled: int, plies: int) -> None:
    """All pieces before the last row: 8 * (6 + 5) plies a side on 8x8, and one more."""
    assert breakthrough(rows=rows, columns=columns, filled=filled).max_plies == plies


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        ({"rows": 9, "columns": 8}, ValueError, r"rows \* columns must be at most 64, but 9 \* 8 is 72"),
        ({"columns": 1}, ValueError, "columns must be from 2 to 26, not 1"),
        ({"rows": 2, "columns": 27}, ValueError, "columns must be from 2 to 26, not 27"),
        ({"rows": 1}, ValueError, "rows must be from 2 to 32, not 1"),
        ({"rows": 2.0}, TypeError, "rows must be a whole number from 2 to 32, not 2.0"),
        ({"filled": 3}, ValueError, "filled must be from 1 to 2, not 3"),
        ({"filled": True}, TypeError, "filled must be a whole number from 1 to 2, not True"),
        ({"rows": 3, "filled": 2}, ValueError, "two filled rows a side need 4 rows, not 3: expected filled=1 on this board"),
    ],
)
def test_boards_that_cannot_be_are_refused(settings: dict[str, int], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=f"^{sentence}$"):
        breakthrough(**settings)
