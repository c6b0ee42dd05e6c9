"""Pentago against a slow second implementation, against OpenSpiel, and in positions by hand (ids: cases.md)."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import product

import numpy as np
import pyspiel
import pytest
from lockstep import mean_return

import ucd_envs
from ucd_envs.games import pentago as game
from ucd_envs.kernels import OVER
from ucd_envs.pictures import pixels, text
from ucd_envs.pictures.scene import BLUE, INK, RED
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields

CELLS = [(row, column) for row in range(6) for column in range(6)]
RUNS = [
    [(row + i * up, column + i * right) for i in range(5)]
    for (row, column), (up, right) in product(CELLS, ((0, 1), (1, 0), (1, 1), (1, -1)))
]
LINES = [run for run in RUNS if set(run) <= set(CELLS)]
WON = [[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]
"""Payoffs if player 1 has won, if player 0 has, and of a draw."""


def pentago(after_rotation: bool = False) -> Rules:
    return ucd_envs.make_rules("pentago", after_rotation=after_rotation)


def placed(board: np.ndarray, turning: bool, rules: Rules) -> State:
    """The state with these stones, player + 1 by row from the bottom, written straight into the record and then checked."""
    array = rules.initial_state().array()
    s, place = fields(array, game.STATE), fields(rules.config, game.CONFIG).place
    count = int((board > 0).sum())
    s.ply = 2 * count - turning
    s.player = s.ply // 2 % 2
    for player in range(2):
        s.stones[player] = sum(1 << int(place[6 * row + column]) for row, column in np.argwhere(board == player + 1))
    return State(rules, array.tobytes())


def drawn(picture: str, turning: bool = False, after_rotation: bool = False) -> State:
    """The state of a drawn board, X for player 0 and O for player 1, the top row first."""
    rows = [[".XO".index(mark) for mark in line.split()] for line in picture.strip().splitlines()]
    return placed(np.array(rows[::-1]), turning, pentago(after_rotation))


def after(state: State, *moves: str) -> State:
    for move in moves:
        state = state.after(state.action_named(move))
    return state


def board_of(state: State) -> np.ndarray:
    """The board as the tests write it."""
    found = np.zeros((6, 6), np.int64)
    for row, line in enumerate(text(state).splitlines()[:6]):
        found[5 - row] = [".XO".index(mark) for mark in line.replace("Q2 Q1", "").replace("Q3 Q4", "").split()[1:]]
    return found


def has_line(board: np.ndarray, player: int) -> bool:
    """The slow scanner."""
    return any(all(board[cell] == player + 1 for cell in line) for line in LINES)


def turned(board: np.ndarray, rotation: int) -> np.ndarray:
    """The second implementation of rotations, by the formulas of the rules for x to the right and y upwards, from 1 to 3."""
    row, column = ((3, 3), (3, 0), (0, 0), (0, 3))[rotation // 2]
    found = board.copy()
    for x, y in product((1, 2, 3), repeat=2):
        to_x, to_y = (y, 4 - x) if rotation % 2 == 0 else (4 - y, x)
        found[row + to_y - 1, column + to_x - 1] = board[row + y - 1, column + x - 1]
    return found


def result(board: np.ndarray, rotated: bool, after_rotation: bool) -> list[float] | None:
    """Payoffs after a ply, None while the game goes on."""
    if after_rotation and not rotated:
        return None
    first, second = has_line(board, 0), has_line(board, 1)
    if first or second or (board > 0).all():
        return WON[2 if first == second else int(first)]
    return None


@pytest.mark.parametrize("after_rotation", [False, True])
def test_random_games_are_those_of_a_slow_second_implementation(after_rotation: bool) -> None:
    """Board, mover, legal moves, end and payoffs at every ply."""
    choice, results = random.Random(1), Counter[tuple[float, ...]]()
    for _ in range(40):
        state, board = pentago(after_rotation).initial_state(), np.zeros((6, 6), np.int64)
        for ply in range(1, 73):
            turning, mover, legal = ply % 2 == 0, (ply - 1) // 2 % 2, state.legal_actions()
            empty = [6 * row + column for row, column in np.argwhere(board == 0)]
            assert (state.player, legal) == (mover, list(range(36, 44)) if turning else empty)
            action = choice.choice(legal)
            state = state.after(action)
            if turning:
                board = turned(board, action - 36)
            else:
                board[divmod(action, 6)] = mover + 1
            assert (board_of(state) == board).all()
            payoffs = result(board, turning, after_rotation)
            assert state.over == (payoffs is not None)
            if payoffs is not None:
                assert state.payoffs() == payoffs
                results[tuple(payoffs)] += 1
                break
    assert sum(results.values()) == 40
    assert len(results) > 1


# OpenSpiel


def theirs(action: int, rotation: int) -> int:
    """OpenSpiel's number of a cell, its rows counted from the top, and a rotation."""
    row, column = divmod(action, 6)
    quadrant, direction = divmod(rotation - 36, 2)
    return 8 * (6 * (5 - row) + column) + 2 * (1, 0, 3, 2)[quadrant] + 1 - direction


def test_random_games_are_those_of_openspiel() -> None:
    """Two plies for one of theirs: movers, whole legal lists, ends and returns; wins of both and draws occur.

    The board is full in some games: the 36th stone is followed by a rotation.
    """
    choice, results, full = random.Random(3), Counter[tuple[float, ...]](), 0
    for _ in range(150):
        state, other = pentago(True).initial_state(), pyspiel.load_game("pentago").new_initial_state()
        while not state.over:
            mover, cells = state.player, state.legal_actions()
            rotations = state.after(cells[0]).legal_actions()
            numbers = sorted(theirs(cell, rotation) for cell in cells for rotation in rotations)
            assert (mover, numbers) == (other.current_player(), other.legal_actions())
            cell, rotation = choice.choice(cells), choice.choice(rotations)
            other.apply_action(theirs(cell, rotation))
            state = state.after(cell)
            assert state.player == mover
            state = state.after(rotation)
            assert state.over == other.is_terminal()
        assert other.current_player() == pyspiel.PlayerId.TERMINAL
        returns = tuple(2 * payoff - 1 for payoff in state.payoffs())
        assert returns == tuple(other.returns())
        results[returns] += 1
        full += state.ply == 72
    assert set(results) == {(1, -1), (-1, 1), (0, 0)}
    assert full > 0


def test_playouts_have_the_mean_return_of_openspiels() -> None:
    """+0.0930 with a standard error of 0.0031, measured with OpenSpiel's own playouts."""
    ours, our_error = mean_return(pentago(True), 100_000, seed=1)
    assert abs(ours - 0.0930) < 4 * math.hypot(our_error, 0.0031)


# Lines


def others(line: list[tuple[int, int]], count: int, choice: random.Random) -> list[tuple[int, int]]:
    """Cells beside a line for the other player's stones, without five in a row."""
    while True:
        found = choice.sample([cell for cell in CELLS if cell not in line], count)
        if not any(set(each) <= set(found) for each in LINES):
            return found


def nearly(line: list[tuple[int, int]], last: tuple[int, int], player: int, choice: random.Random) -> np.ndarray:
    """A board with all stones of a player's line but the last one, which he is to place."""
    board = np.zeros((6, 6), np.int64)
    for cell in others(line, 4 + player, choice):
        board[cell] = 2 - player
    for cell in line:
        board[cell] = 0 if cell == last else player + 1
    return board


def test_the_board_has_32_lines() -> None:
    """Two in each row and column, two on each long diagonal and one on each of the four beside them."""
    assert len(LINES) == 32


@pytest.mark.parametrize("player", [0, 1])
def test_each_line_alone_wins_whichever_stone_is_the_last(player: int) -> None:
    """B047: also a stone that joins runs of 2 and 2, or of 3 and 1."""
    choice = random.Random(player)
    for line, last in [(each, cell) for each in LINES for cell in each]:
        state = placed(nearly(line, last, player, choice), False, pentago())
        assert state.after(6 * last[0] + last[1]).payoffs() == WON[1 - player]


@pytest.mark.parametrize("player", [0, 1])
def test_a_line_with_a_gap_or_a_stone_of_the_other_player_does_not_win(player: int) -> None:
    """B047: X X . X X is none, and a stone elsewhere does not fill the gap."""
    choice = random.Random(player)
    for line, gap in [(each, cell) for each in LINES for cell in each]:
        board = nearly(line, gap, player, choice)
        state = placed(board, False, pentago())
        elsewhere = [
            cell
            for cell in np.argwhere(board == 0).tolist()
            if tuple(cell) != gap and not any(set(each) - set(line) == {tuple(cell)} for each in LINES)
        ]
        row, column = choice.choice(elsewhere)
        assert not state.after(6 * row + column).over
        theirs = np.argwhere(board == 2 - player).tolist()
        board[gap], board[tuple(theirs[0])] = 2 - player, 0
        if not has_line(board, 1 - player):
            assert not placed(board, False, pentago()).after(6 * row + column).over


def test_six_in_a_row_win() -> None:
    """B047."""
    state = drawn("""
        . . . . . .
        . . . . . .
        O O . . . .
        . . . . . .
        . . . O O O
        X X X . X X
    """)
    assert after(state, "d1").payoffs() == [1.0, 0.0]


# Rotations

BOTH = """
    . . . . . .
    . . . . . .
    . . . . . X
    X . O X X .
    X . O . . .
    X . O O O .
"""
"""Q3 clockwise makes five for both players."""


def test_a_rotation_that_makes_five_for_both_is_a_draw() -> None:
    """B053, B059."""
    state = after(drawn(BOTH, turning=True), "Q3cw")
    assert (state.over, state.payoffs()) == (True, [0.5, 0.5])


def test_a_rotation_that_makes_five_for_the_other_player_loses() -> None:
    """B059: player 0 rotates, player 1 has the line."""
    state = after(drawn(BOTH.replace("X . O X X .", "X . O X . X"), turning=True), "Q3cw")
    assert state.payoffs() == [0.0, 1.0]


def test_a_rotation_that_makes_five_for_its_player_wins() -> None:
    """B059."""
    state = after(drawn(BOTH.replace("X . O O O .", "X . O O . O"), turning=True), "Q3cw")
    assert state.payoffs() == [1.0, 0.0]


def test_another_rotation_of_the_same_quadrant_makes_none() -> None:
    assert not after(drawn(BOTH, turning=True), "Q3ccw").over


FOUR = """
    . . . . . .
    . . . . . .
    . . . . . .
    . . . . . .
    O . O . O O
    . X X X X .
"""


def test_five_by_the_placement_wins_before_the_rotation() -> None:
    """B059: the game is over at once."""
    state = after(drawn(FOUR), "a1")
    assert (state.over, state.payoffs(), state.legal_actions()) == (True, [1.0, 0.0], [])


def test_five_by_the_placement_can_be_lost_by_the_rotation_where_it_counts_after_it() -> None:
    """B059, the other convention: the rotation is compulsory and may break the line."""
    state = after(drawn(FOUR, after_rotation=True), "a1")
    assert (state.over, state.player, len(state.legal_actions())) == (False, 0, 8)
    assert after(state, "Q1cw").payoffs() == [1.0, 0.0]
    assert not after(state, "Q3cw").over


FULL = """
    O O O X X X
    O X O X X X
    O O O . X O
    X X X O O X
    X X O X X O
    X O O X O O
"""
"""Player 1 makes five with the 36th stone on d4."""
DRAW = """
    X X O X X X
    X X X O X X
    O O O O X O
    X O X X O O
    O X O O O .
    X O X X O O
"""
"""Nobody has five after the 36th stone on f2."""


def test_the_36th_stone_can_win() -> None:
    """B044: no five before it, and a full board with it."""
    state = after(drawn(FULL), "d4")
    assert (state.ply, state.over, state.payoffs()) == (71, True, [0.0, 1.0])


def test_the_36th_stone_without_five_is_a_draw() -> None:
    """B044, B053."""
    state = after(drawn(DRAW), "f2")
    assert (state.ply, state.over, state.payoffs()) == (71, True, [0.5, 0.5])


def test_the_36th_stone_too_is_followed_by_a_rotation_where_five_counts_after_it() -> None:
    """B044: the game ends with ply 72, by the lines that are there then."""
    for picture, last in ((FULL, "d4"), (DRAW, "f2")):
        state = after(drawn(picture, after_rotation=True), last)
        assert (state.ply, state.over, state.player) == (71, False, 1)
        for rotation in state.legal_actions():
            board = turned(board_of(state), rotation - 36)
            assert state.after(rotation).payoffs() == result(board, True, True)


# Positions


def test_symmetric_rotations_lead_to_one_position() -> None:
    """F12: 288 sequences lead to 36 boards after a turn, and 80,640 to 1,260 after two."""
    level = Counter([pentago().initial_state()])
    counts = []
    for _ in range(4):
        below = Counter[State]()
        for state, paths in level.items():
            for action in state.legal_actions():
                below[state.after(action)] += paths
        level = below
        counts.append((level.total(), len(level)))
    assert counts == [(36, 36), (288, 36), (10_080, 1_260), (80_640, 1_260)]


def test_the_key_tells_a_placement_from_a_rotation() -> None:
    """The words alone, without the ply, differ where the same stones stand and the other kind of move is due."""
    board = np.zeros((6, 6), np.int64)
    board[0, 0], board[5, 5] = 1, 2
    assert placed(board, False, pentago()).words != placed(board, True, pentago()).words


def test_observations_have_the_first_row_at_the_bottom_for_both_players() -> None:
    """B106, B107: own stones, the other's, and whether a rotation is due."""
    state = after(pentago().initial_state(), "b1", "Q1cw", "f6")
    for player in range(2):
        planes = np.zeros((6, 6, 3), np.int8)
        state.rules.kernels.observe(state.rules.config, state.array(), player, planes.reshape(-1))
        assert np.argwhere(planes[:, :, player]).tolist() == [[0, 1]]
        assert np.argwhere(planes[:, :, 1 - player]).tolist() == [[5, 5]]
        assert planes[:, :, 2].all()


def test_a_stone_and_a_rotation_are_refused_out_of_order() -> None:
    start = pentago().initial_state()
    assert (start.action_named("Q4CCW"), start.action_name(43), start.action_named("A1")) == (43, "Q4ccw", 0)
    with pytest.raises(ValueError, match="not legal"):
        after(start, "Q1cw")
    with pytest.raises(ValueError, match="not legal"):
        after(start, "a1", "a2")


@pytest.mark.parametrize("move", ["g1", "a7", "Q5cw", "Q1", "cw", "Q1 cw"])
def test_a_text_that_is_no_move_is_refused(move: str) -> None:
    with pytest.raises(ValueError, match="is no move: expected a cell, a1 to f6, or a rotation, Q1cw to Q4ccw"):
        pentago().initial_state().action_named(move)


def test_a_setting_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match="after_rotation must be True or False, not 1"):
        ucd_envs.make_rules("pentago", after_rotation=1)


@pytest.mark.parametrize(("name", "value"), [("winner", 0), ("ply", 3), ("player", 0), ("player", OVER), ("stones", (1, 1))])
def test_a_state_whose_fields_contradict_each_other_is_refused(name: str, value: int) -> None:
    state = after(pentago().initial_state(), "a1", "Q1cw")
    array = state.array()
    fields(array, game.STATE)[name] = value
    with pytest.raises(ValueError, match="contradict"):
        State(state.rules, array.tobytes())


# Drawings


def test_a_board_in_text_has_two_halves_and_names_the_quadrants() -> None:
    expected = """\
  6 . . .  . . .
  5 . . .  . . . Q2 Q1
  4 . . .  O . .
  3 X . .  . . .
  2 . . .  . . . Q3 Q4
  1 . . .  . . .
    a b c  d e f
ply 3: player_1 (O) to rotate a quadrant
"""
    assert text(after(pentago().initial_state(), "a1", "Q3cw", "d4")) == expected


def test_the_caption_tells_a_placement_from_a_rotation() -> None:
    state = pentago().initial_state()
    assert text(state).splitlines()[-1] == "ply 0: player_0 (X) to place a stone"
    assert text(after(drawn(FOUR), "a1")).splitlines()[-1] == "ply 17: player_0 (X) has won"


def test_stones_of_a_picture_stand_in_their_quadrants() -> None:
    """The middle of each stone's pixels, and dark bands between the quadrants."""
    picture = pixels(after(pentago().initial_state(), "a1", "Q1cw", "f6")).astype(int)[:-50]
    height, width, _ = picture.shape
    for colour, side in ((RED, 0), (BLUE, 1)):
        rows, columns = np.nonzero((np.abs(picture - colour) < 4).all(axis=2))
        assert (rows.mean() < height / 2, columns.mean() > width / 2) == (side == 1, side == 1)
    dark = (np.abs(picture - INK) < 4).all(axis=2)
    assert (dark.sum(axis=1) > 0.8 * width).sum() > 10
    assert (dark.sum(axis=0) > 0.7 * height).sum() > 10
