"""Quarto against a slow second implementation, by all minimal wins, and against known counts (ids: cases.md)."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest

import ucd_envs
from ucd_envs.games import quarto as game
from ucd_envs.kernels import OVER
from ucd_envs.pictures import pixels, text
from ucd_envs.pictures.mosaics import DARK_PIECE, LIGHT_PIECE
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields

LINES = [
    *([4 * row + i for i in range(4)] for row in range(4)),
    *([column + 4 * i for i in range(4)] for column in range(4)),
    *([0, 5, 10, 15], [3, 6, 9, 12]),
]
SQUARES = [[corner, corner + 1, corner + 4, corner + 5] for corner in (0, 1, 2, 4, 5, 6, 8, 9, 10)]
MOVERS = [(ply + 1) // 2 % 2 for ply in range(32)]
"""0, 1, 1, 0, 0, 1, 1, ...: player 0 selects first, then each places and selects."""


def quarto(squares: bool = False) -> Rules:
    return ucd_envs.make_rules("quarto", squares=squares)


def placed(board: dict[int, int], hand: int, squares: bool = False) -> State:
    """The state with these pieces by cell and one selected, written straight into the record and then checked."""
    array = quarto(squares).initial_state().array()
    s = fields(array, game.STATE)
    s.ply, s.hand = 2 * len(board) + 1, hand
    s.player = MOVERS[s.ply]
    s.taken = sum(1 << cell for cell in board)
    s.ones = sum(1 << 16 * k + cell for cell, piece in board.items() for k in range(4) if piece >> k & 1)
    s.left = sum(1 << piece for piece in range(16) if piece not in {*board.values(), hand})
    return State(quarto(squares), array.tobytes())


def after(state: State, *moves: str) -> State:
    for move in moves:
        state = state.after(state.action_named(move))
    return state


def shared(pieces: list[int]) -> list[tuple[int, int]]:
    """The properties, as bit and value, that all pieces have: the slow scanner."""
    return [(k, value) for k in range(4) for value in range(2) if all(piece >> k & 1 == value for piece in pieces)]


def wins(board: dict[int, int], squares: bool) -> bool:
    """The second implementation of the end."""
    shapes = LINES + (SQUARES if squares else [])
    return any(all(cell in board for cell in shape) and shared([board[cell] for cell in shape]) for shape in shapes)


def four(k: int, value: int) -> list[int]:
    """Four pieces that share this property and no other: the other bits are 000, 011, 101 and 110."""
    pieces = [(others >> k << k + 1) | value << k | (others & (1 << k) - 1) for others in (0b000, 0b011, 0b101, 0b110)]
    assert shared(pieces) == [(k, value)]
    return pieces


def other(pieces: list[int], k: int) -> int:
    """The piece that takes the last one's place with the other value of the bit, so that nothing is shared."""
    found = pieces[-1] ^ 1 << k
    assert not shared([*pieces[:-1], found])
    return found


@pytest.mark.parametrize("squares", [False, True])
def test_random_games_are_those_of_a_slow_second_implementation(squares: bool) -> None:
    """Mover, legal moves, end and payoffs at every ply."""
    choice, results = random.Random(1), Counter[tuple[float, ...]]()
    for _ in range(150):
        state, board, left, hand = quarto(squares).initial_state(), dict[int, int](), list(range(16)), 0
        for ply in range(32):
            legal = [16 + piece for piece in left] if ply % 2 == 0 else [cell for cell in range(16) if cell not in board]
            assert (state.player, state.legal_actions()) == (MOVERS[ply], legal)
            action = choice.choice(legal)
            state = state.after(action)
            if ply % 2 == 0:
                hand = action - 16
                left.remove(hand)
                assert not state.over
                continue
            board[action] = hand
            won = wins(board, squares)
            assert state.over == (won or len(board) == 16)
            if state.over:
                assert state.payoffs() == ([0.5, 0.5] if not won else [1.0 - MOVERS[ply], 0.0 + MOVERS[ply]])
                results[tuple(state.payoffs())] += 1
                break
    assert sum(results.values()) == 150
    assert {(1.0, 0.0), (0.0, 1.0)} <= set(results)


@pytest.mark.parametrize("last", range(4))
def test_each_of_the_80_minimal_wins_alone_wins(last: int) -> None:
    """B065: ten lines, four properties, two values, whichever piece is the last; the one who places it wins."""
    found = 0
    for line, k, value in product(LINES, range(4), range(2)):
        pieces = four(k, value)
        board = {cell: piece for i, (cell, piece) in enumerate(zip(line, pieces, strict=True)) if i != last}
        state = placed(board, pieces[last])
        assert state.after(line[last]).payoffs() == [1.0 - state.player, 0.0 + state.player]
        found += 1
    assert found == 80


def test_four_pieces_that_share_nothing_win_nowhere() -> None:
    """B065: the last piece has the other value."""
    for line, k, value in product(LINES, range(4), range(2)):
        pieces = four(k, value)
        board = dict(zip(line[:3], pieces, strict=False))
        assert not placed(board, other(pieces, k)).after(line[3]).over


def test_three_pieces_win_nowhere() -> None:
    """A missing piece counts as no value, not as 0."""
    for line, (k, value) in product(LINES, product(range(4), range(2))):
        pieces = four(k, value)
        board = dict(zip(line[:2], pieces, strict=False))
        assert not placed(board, pieces[2]).after(line[2]).over


@pytest.mark.parametrize("squares", [False, True])
def test_each_of_the_72_minimal_squares_wins_only_by_the_option(squares: bool) -> None:
    """Nine squares, four properties, two values."""
    for square, k, value in product(SQUARES, range(4), range(2)):
        pieces = four(k, value)
        state = placed(dict(zip(square[:3], pieces, strict=False)), pieces[3], squares)
        assert state.after(square[3]).over == squares
        if squares:
            assert not placed(dict(zip(square[:3], pieces, strict=False)), other(pieces, k), squares).after(square[3]).over


def test_a_square_across_the_edge_is_none() -> None:
    """Cells d1, a2, d2 and a3 follow each other in numbers only."""
    pieces = four(0, 1)
    assert not placed(dict(zip((3, 4, 7), pieces, strict=False)), pieces[3], True).after(8).over


FULL = dict(enumerate([4, 10, 1, 14, 15, 12, 5, 11, 9, 3, 13, 8, 0, 7, 6, 2]))
"""A full board on which only the line of the last cell, d4, wins."""
DRAW = dict(enumerate([12, 8, 2, 7, 5, 0, 10, 4, 11, 14, 9, 3, 1, 13, 6, 15]))
"""A full board without a line."""


def last_move(board: dict[int, int]) -> State:
    """The state before the last piece goes to d4."""
    return placed({cell: piece for cell, piece in board.items() if cell != 15}, board[15])


def test_the_16th_piece_can_win() -> None:
    """B044, B065: it is placed by player 0."""
    state = last_move(FULL)
    assert (state.player, state.legal_actions()) == (0, [15])
    assert (after(state, "d4").ply, after(state, "d4").payoffs()) == (32, [1.0, 0.0])


def test_the_16th_piece_without_a_line_is_a_draw() -> None:
    """B044, B053, B065."""
    state = after(last_move(DRAW), "d4")
    assert (state.ply, state.over, state.payoffs()) == (32, True, [0.5, 0.5])


def test_no_piece_is_selected_after_the_16th_selection() -> None:
    """B065: the last piece is the only choice, and after its placement there is none."""
    choice = random.Random(2)
    while True:
        state, counts = quarto().initial_state(), []
        while not state.over:
            counts.append(len(state.legal_actions()))
            state = state.after(choice.choice(state.legal_actions()))
        if state.ply == 32:
            break
    assert counts == [n for n in range(16, 0, -1) for _ in range(2)]
    assert state.legal_actions() == []


def test_players_select_and_place_in_their_order() -> None:
    """Player 0 only selects at first; then each places and selects."""
    states = [quarto().initial_state()]
    for move in ["s0000", "a1", "s1111", "b2", "s0001", "c3", "s1000"]:
        states.append(after(states[-1], move))
    assert [state.player for state in states] == [0, 1, 1, 0, 0, 1, 1, 0]


def test_sequences_are_as_many_as_known() -> None:
    """F13: selecting and placing are plies of their own. 28,800 positions after four plies."""
    level, counts = Counter([quarto().initial_state()]), []
    for _ in range(4):
        below = Counter[State]()
        for state, paths in level.items():
            for action in state.legal_actions():
                below[state.after(action)] += paths
        level = below
        counts.append(level.total())
    assert counts == [16, 256, 3840, 57600]
    assert len(level) == 28_800
    assert sum(paths * len(state.legal_actions()) for state, paths in level.items()) == 806_400


@pytest.mark.slow
def test_six_plies_are_as_many_as_known() -> None:
    """F13: 11,289,600."""
    level = Counter([quarto().initial_state()])
    for _ in range(5):
        below = Counter[State]()
        for state, paths in level.items():
            for action in state.legal_actions():
                below[state.after(action)] += paths
        level = below
    assert sum(paths * len(state.legal_actions()) for state, paths in level.items()) == 11_289_600


def test_observations_show_everything_to_both_players() -> None:
    """B106, B107: pieces belong to nobody, so both see the same. The first row is at the bottom."""
    state = after(quarto().initial_state(), "s1011", "d3", "s0100")
    views = []
    for player in range(2):
        planes = np.zeros((4, 4, 12), np.int8)
        state.rules.kernels.observe(state.rules.config, state.array(), player, planes.reshape(-1))
        views.append(planes.tolist())
    assert views[0] == views[1]
    for plane, cells in {0: [[2, 3]], 1: [[2, 3]], 2: [[2, 3]], 3: [], 4: [[2, 3]], 5: [[2, 3]]}.items():
        assert np.argwhere(planes[:, :, plane]).tolist() == cells
    assert planes[0, 0, 6:11].tolist() == [0, 1, 0, 0, 1]
    assert np.flatnonzero(planes[:, :, 11] == 0).tolist() == [0b0100, 0b1011]


def test_a_piece_and_a_cell_are_refused_out_of_order() -> None:
    start = quarto().initial_state()
    assert (start.action_named("S0110"), start.action_name(22), start.action_named("A1")) == (22, "s0110", 0)
    for moves in (("a1",), ("s0000", "s0001"), ("s0000", "a1", "s0000"), ("s0000", "a1", "s0001", "a1")):
        with pytest.raises(ValueError, match="not legal"):
            after(start, *moves)


@pytest.mark.parametrize("move", ["e1", "a5", "0110", "s01101", "s2", "s011x"])
def test_a_text_that_is_no_move_is_refused(move: str) -> None:
    with pytest.raises(ValueError, match="is no move: expected a cell, a1 to d4, or a piece, s0000 to s1111"):
        quarto().initial_state().action_named(move)


def test_a_setting_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match="squares must be True or False, not 'yes'"):
        ucd_envs.make_rules("quarto", squares="yes")


@pytest.mark.parametrize(
    ("name", "value"),
    [("winner", 0), ("player", 1), ("player", OVER), ("hand", 3), ("hand", 77), ("ones", 2), ("taken", 3), ("left", 0xFFFF)],
)
def test_a_state_whose_fields_contradict_each_other_is_refused(name: str, value: int) -> None:
    state = after(quarto().initial_state(), "s0001", "a1", "s1000")
    array = state.array()
    fields(array, game.STATE)[name] = value
    with pytest.raises(ValueError, match="no state of quarto"):
        State(state.rules, array.tobytes())


# Drawings


def test_a_board_in_text_shows_bits_the_selected_piece_and_those_left() -> None:
    expected = """\
 4 .... .... .... ....
 3 .... .... .... 1011
 2 .... .... .... ....
 1 0000 .... .... ....
      a    b    c    d
selected: 0100
left: 0001 0010 0011 0101 0110 0111 1000 1001 1010 1100 1101 1110 1111
ply 5: player_1 to move
"""
    assert text(after(quarto().initial_state(), "s1011", "d3", "s0000", "a1", "s0100")) == expected


def test_a_full_board_in_text_has_nothing_left() -> None:
    lines = text(after(last_move(DRAW), "d4")).splitlines()
    assert lines[-3:] == ["selected: none", "left: none", "ply 32: a draw"]


def areas(state: State) -> list[int]:
    """Pixels of light and of dark pieces."""
    picture = pixels(state).astype(int)
    return [int((np.abs(picture - colour) < 4).all(axis=2).sum()) for colour in (LIGHT_PIECE, DARK_PIECE)]


def test_pieces_of_a_picture_show_their_properties() -> None:
    """On an otherwise equal picture a large piece covers more than a small one, a square one more than a round one, and a hole
    takes some away; the first bit is the colour.
    """
    start = quarto().initial_state()
    whole = areas(start)
    shown: dict[str, int] = {}
    for piece in ("0000", "0001", "0010", "0100", "0110", "1000", "1110"):
        light, dark = areas(after(start, f"s{piece}"))
        # The selected piece is drawn larger than among those left.
        shown[piece] = light - whole[0] if piece[0] == "0" else dark - whole[1]
        assert shown[piece] > 0
        assert (light, dark)[piece[0] == "0"] == whole[piece[0] == "0"]
    for smaller, larger in pairwise(["0001", "0000", "0010", "0100", "0110"]):
        assert shown[smaller] < shown[larger]
    assert (shown["1000"], shown["1110"]) == pytest.approx((shown["0000"], shown["0110"]), rel=0.03)
