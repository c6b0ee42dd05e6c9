"""Capture the King against python-chess, and in positions whose moves and outcome are known (ids: cases.md)."""

from __future__ import annotations

import math
import random
from typing import Any

import chess
import numpy as np
import pytest

import ucd_envs
from ucd_envs import Rules, State, pictures
from ucd_envs.boards.chess import DIRECTIONS, KINDS, moves
from ucd_envs.games import capture_the_king as game
from ucd_envs.kernels import kernel
from ucd_envs.rng import seeded
from ucd_envs.structs import fields, stack_array
from ucd_planners import uct

PASS = 4096
KINGS = "Ke1 ke8"
BLOCKED = "Ka1 Rb2 Bb1 Pa2 Pb3 Pc2 pa3 pb4 pc3 kh8"
"""White has no move."""


def capture(**settings: Any) -> Rules:
    """The rules of the game in a configuration."""
    return ucd_envs.make_rules("capture_the_king", **settings)


def placed(pieces: str, player: int = 0, ply: int | None = None, **settings: Any) -> State:
    """The position of pieces such as "Ke1", those of player 0 in upper case, with a player to move."""
    rules = capture(**settings)
    array = np.zeros(rules.state_bytes, np.uint8)
    s = fields(array, game.STATE)
    codes = {letter: code for code, letter in KINDS}
    for piece in pieces.split():
        cell = chess.parse_square(piece[1:])
        s.sides[int(piece[0].islower())] |= np.uint64(1 << cell)
        for digit in range(3):
            s.kinds[digit] |= np.uint64((codes[piece[0].upper()] >> digit & 1) << cell)
    s.player, s.ply = player, player if ply is None else ply
    return State.trusted(rules, array.tobytes())


def standing(state: State) -> str:
    """The pieces of a position, in the order of their cells."""
    planes = np.zeros(state.rules.planes, np.int8)
    state.rules.kernels.observe(state.rules.config, state.array(), 0, planes.reshape(-1))
    found = planes[:, :, 2:14].reshape(64, 12)
    return " ".join(f"{'PNBRQKpnbrqk'[kind]}{chess.square_name(cell)}" for cell, kind in np.argwhere(found).tolist())


def after(state: State, moves: str) -> State:
    """The state after moves by their names."""
    for move in moves.split():
        state = state.after(state.action_named(move))
    return state


def names(state: State, start: str = "") -> set[str]:
    """The names of the legal moves, or of those from one cell."""
    return {name for name in map(state.action_name, state.legal_actions()) if name.startswith(start)}


def others(board: chess.Board) -> list[int]:
    """The numbers of pseudo-legal moves of python-chess without en passant, ascending."""
    board.ep_square = None
    moves = [move for move in board.generate_pseudo_legal_moves() if move.promotion in (None, chess.QUEEN)]
    return sorted(64 * move.from_square + move.to_square for move in moves)


def others_standing(board: chess.Board) -> str:
    """The pieces of a position of python-chess, as `standing` has them."""
    pieces = sorted(board.piece_map().items())
    return " ".join(f"{piece.symbol()}{chess.square_name(square)}" for square, piece in pieces)


# python-chess


@pytest.mark.parametrize("promotion", [False, True])
def test_random_games_are_those_of_python_chess(promotion: bool) -> None:
    """Legal lists, pieces and ends agree at every ply. Promotions of both, vanished pawns, taken kings and draws occur."""
    choice, met = random.Random(1), set()
    for _ in range(60):
        state, board = capture(promotion=promotion).initial_state(), chess.Board()
        board.castling_rights = chess.BB_EMPTY
        while True:
            assert standing(state) == others_standing(board)
            lost = [board.king(colour) is None for colour in (chess.WHITE, chess.BLACK)]
            assert state.over == (any(lost) or state.ply == 69)
            if state.over:
                assert state.payoffs() == ([1.0 - lost[0], 1.0 - lost[1]] if any(lost) else [0.5, 0.5])
                met.add("taken" if any(lost) else "draw")
                break
            assert state.player == int(board.turn == chess.BLACK)
            assert state.legal_actions() == others(board)
            # Pawns are preferred, so that some of them arrive.
            legal = state.legal_actions()
            pawns = [action for action in legal if board.piece_type_at(action // 64) == chess.PAWN]
            action = choice.choice(pawns if pawns and choice.random() < 0.7 else legal)
            start, end = divmod(action, 64)
            arrives = board.piece_type_at(start) == chess.PAWN and end // 8 in (0, 7)
            board.push(chess.Move(start, end, chess.QUEEN if arrives else None))
            if arrives:
                met.add("white arrives" if state.player == 0 else "black arrives")
            if arrives and state.player == 1 and not promotion:
                board.remove_piece_at(end)
            state = state.after(action)
    assert met == {"taken", "draw", "white arrives", "black arrives"}


def test_sequences_of_five_plies_are_as_many_as_in_chess() -> None:
    """4,896,998: the pseudo-legal ones of chess, 4,897,256, without the 258 that end by taking in passing."""
    level = {capture().initial_state(): 1}
    for _ in range(3):
        following: dict[State, int] = {}
        for state, paths in level.items():
            for action in state.legal_actions():
                child = state.after(action)
                following[child] = following.get(child, 0) + paths
        level = following
    rules, actions, total = capture(), np.empty(PASS + 1, np.int32), 0
    for state, paths in level.items():
        for action in state.legal_actions():
            array = state.array()
            rules.kernels.play(rules.config, array, action)
            total += paths * rules.kernels.legal_actions(rules.config, array, actions)
    assert total == 4_896_998


@kernel()
def number_of_moves(config, state):
    """The number of moves by the sets of their targets."""
    return moves(fields(config, game.CONFIG), fields(state, game.STATE), stack_array(DIRECTIONS, np.dtype(np.uint64)))


def test_moves_of_random_positions_are_those_of_python_chess() -> None:
    """Many pieces of all kinds anywhere, pawns also on first rows and before last ones; sets count as many moves as lists."""
    choice = random.Random(2)
    for number in range(400):
        board = chess.Board(None)
        for square in choice.sample(range(64), choice.randint(2, 40)):
            kinds = "PNBRQKpnbrqk" if square // 8 in range(1, 7) else "NBRQKnbrqk"
            board.set_piece_at(square, chess.Piece.from_symbol(choice.choice(kinds)))
        board.turn = chess.WHITE if number % 2 == 0 else chess.BLACK
        state = placed(others_standing(board), number % 2)
        assert state.legal_actions() == (others(board) or [PASS])
        assert number_of_moves(state.rules.config, state.array()) == len(others(board))


def test_random_moves_of_a_position_with_many_queens_are_uniform() -> None:
    """Every move comes about as often as the others: 30,000 draws, none off by five standard deviations."""
    state = placed("Ka1 Qd4 Qd5 Qh8 Ne5 Ng6 Bc1 Ra7 Pb7 Pf2 kh1 qa8 pc6 pg3 re4 nc3")
    legal, rng, draws = state.legal_actions(), seeded(3), 30_000
    found = [state.rules.kernels.playout_action(state.rules.config, state.array(), rng) for _ in range(draws)]
    counts = [found.count(action) for action in legal]
    assert sum(counts) == draws
    expected = draws / len(legal)
    assert max(abs(count - expected) for count in counts) < 5 * math.sqrt(expected)


def test_playouts_end_as_often_as_those_of_the_rulesheet() -> None:
    """200 games of the rulesheet: white 29, black 22, drawn 149; 64.4 plies on average, 19 to 69."""
    rules, rng, no_trace = capture(), seeded(4), np.empty(0, np.int32)
    games, wins, plies = 20_000, [0, 0, 0], 0
    out = np.zeros(2)
    for _ in range(games):
        array = rules.initial_state().array()
        plies += rules.kernels.playout(rules.config, array, rng, no_trace)
        rules.kernels.payoffs(rules.config, array, out)
        wins[int(2 * out[0])] += 1
    for won, known in zip(wins, (22, 149, 29), strict=True):
        share = known / 200
        assert abs(won / games - share) < 4 * math.sqrt(share * (1 - share) / 200)
    assert 62 < plies / games < 66.5


# Pawns


def test_a_black_pawn_vanishes_on_row_1() -> None:
    assert standing(after(placed(f"{KINGS} pa2", 1), "a2a1")) == KINGS


def test_a_black_pawn_vanishes_with_the_piece_that_it_takes() -> None:
    state = after(placed(f"{KINGS} Rb1 pa2", 1), "a2b1")
    assert (standing(state), state.over) == (KINGS, False)


def test_a_black_pawn_that_vanishes_with_the_king_has_won() -> None:
    state = after(placed("Kb1 Qh1 pa2 ke8", 1), "a2b1")
    assert (standing(state), state.over, state.payoffs()) == ("Qh1 ke8", True, [0, 1])


def test_a_black_pawn_becomes_a_queen_with_the_option() -> None:
    state = after(placed(f"{KINGS} Rb1 pa2", 1, promotion=True), "a2b1")
    assert standing(state) == "qb1 Ke1 ke8"
    assert "e1e2" in names(state)


@pytest.mark.parametrize("promotion", [False, True])
def test_a_white_pawn_becomes_a_queen(promotion: bool) -> None:
    state = after(placed(f"{KINGS} Pa7 nb8", promotion=promotion), "a7b8")
    assert standing(state) == "Ke1 Qb8 ke8"
    assert "b8b1" in names(state.after(state.legal_actions()[0]))


def test_pawns_do_not_take_around_the_border() -> None:
    """From the a- and h-files of both players."""
    state = placed(f"{KINGS} Pa4 Ph4 pa6 ph6 nh5 na5 Nh3 Na7")
    assert names(state, "a4") == set()
    assert names(state, "h4") == set()
    state = placed(f"{KINGS} pa5 ph5 Nh6 Na4 Nh4 Na3", 1)
    assert names(state, "a5") == names(state, "h5") == set()


def test_pawns_go_two_cells_only_from_their_first_ones_over_empty_cells() -> None:
    state = placed(f"{KINGS} Pa2 Pb2 Pc2 Pd3 bb3 bc4")
    assert [names(state, f"{column}2") for column in "abc"] == [{"a2a3", "a2a4", "a2b3"}, set(), {"c2c3", "c2b3"}]
    assert names(state, "d3") == {"d3d4", "d3c4"}
    state = placed(f"{KINGS} pa7 pb7 pc7 pd6 Bb6 Bc5", 1)
    assert [names(state, f"{column}7") for column in "abc"] == [{"a7a6", "a7a5", "a7b6"}, set(), {"c7c6", "c7b6"}]


def test_nobody_takes_in_passing() -> None:
    state = after(placed(f"{KINGS} Pe5 pd7", 1), "d7d5")
    assert names(state, "e5") == {"e5e6"}


# Kings and ends


def test_nobody_castles() -> None:
    state = placed("Ke1 Rh1 Ra1 ke8 rh8 ra8")
    assert not {"e1g1", "e1c1"} & names(state)


def test_a_king_may_go_where_it_can_be_taken() -> None:
    """And the mover need not save it."""
    state = placed("Ke1 Pa2 ke8 rd8 rf8")
    assert {"e1d1", "e1f1", "a2a3"} <= names(state)


@pytest.mark.parametrize(
    ("pieces", "player", "move", "expected"),
    [("Ke1 Rd1 kd8", 0, "d1d8", [1, 0]), ("Ke1 qe7 kd8", 1, "e7e1", [0, 1]), ("Ke1 kd2", 1, "d2e1", [0, 1])],
)
def test_who_takes_the_king_has_won(pieces: str, player: int, move: str, expected: list[float]) -> None:
    """B064: with one move, for each player."""
    state = placed(pieces, player)
    other = next(name for name in sorted(names(state)) if name != move)
    assert not after(state, other).over
    state = after(state, move)
    assert (state.over, state.payoffs(), state.legal_actions()) == (True, expected, [])


def test_the_last_ply_without_a_king_taken_is_a_draw() -> None:
    """69 plies, the last of them by white."""
    state = placed("Ke1 Rd1 kd8", 0, ply=68)
    assert (after(state, "e1e2").over, after(state, "e1e2").payoffs()) == (True, [0.5, 0.5])
    assert after(state, "e1e2").ply == 69


def test_a_king_taken_in_the_last_ply_is_a_win() -> None:
    assert after(placed("Ke1 Rd1 kd8", 0, ply=68), "d1d8").payoffs() == [1, 0]


def test_the_number_of_plies_is_a_setting() -> None:
    state = placed("Ke1 Rd1 kd8", 0, ply=68, plies=70)
    assert not after(state, "e1e2").over
    assert after(capture(plies=2).initial_state(), "e2e4 e7e5").payoffs() == [0.5, 0.5]


def test_a_player_without_a_move_passes() -> None:
    """All white pieces stand behind own ones and blocked pawns."""
    state = placed(BLOCKED)
    assert state.legal_actions() == [PASS]
    assert state.action_name(PASS) == "pass"
    rules, rng = state.rules, seeded(1)
    assert rules.kernels.playout_action(rules.config, state.array(), rng) == PASS
    then = after(state, "pass")
    assert (then.player, then.ply, standing(then)) == (1, 1, standing(state))
    with pytest.raises(ValueError, match="not legal"):
        then.after(PASS)


def test_a_playout_passes_where_there_is_no_move() -> None:
    """Its first move; the replay of all its moves comes to the same end."""
    state = placed(BLOCKED, ply=2)
    array, trace = state.array(), np.zeros(69, np.int32)
    played = state.rules.kernels.playout(state.rules.config, array, seeded(5), trace)
    assert trace[0] == PASS
    for move in trace[:played].tolist():
        assert move >> 16 == state.player
        state = state.after(move & 0xFFFF)
    assert state.over
    assert state.data == array.tobytes()


def test_a_search_takes_the_king() -> None:
    """A win in one ply among 40 moves, for both players."""
    for pieces, player, best in (("Ke1 Qd1 Rh1 kd8 pa7 rh7", 0, "d1d8"), ("Ke1 Pa2 Ng1 kd8 qe7 ra8", 1, "e7e1")):
        state = placed(pieces, player)
        assert state.action_name(uct(playouts=2000, seed=1).search(state).action) == best


# Names, settings, views and pictures


def test_moves_are_read_in_either_case() -> None:
    state = capture().initial_state()
    assert state.action_named("E2E4") == state.action_named("e2e4") == 64 * 12 + 28
    assert state.action_named("PASS") == PASS
    with pytest.raises(ValueError, match=r"^'e2e9' is no move: expected two cells such as e2e4, or pass$"):
        state.action_named("e2e9")


def test_reasons_of_illegal_moves() -> None:
    rules = capture()
    assert (rules.why_illegal(0), rules.why_illegal(PASS)) == ("no own piece can go so", "there is a move to make")


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        ({"plies": 0}, ValueError, "plies must be from 1 to 1000, not 0"),
        ({"plies": 1001}, ValueError, "plies must be from 1 to 1000, not 1001"),
        ({"promotion": 1}, TypeError, "promotion must be True or False, not 1"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=f"^{sentence}$"):
        capture(**settings)


def test_both_players_see_the_pieces_where_they_are() -> None:
    """B106, B107: the same orientation for both, own kinds before the other's; then the turn and the ply in binary digits."""
    state = placed("Ka1 Pb2 kh8 qg7", 1, ply=5)
    views = np.zeros((2, 8, 8, 22), np.int8)
    for player in range(2):
        state.rules.kernels.observe(state.rules.config, state.array(), player, views[player].reshape(-1))
    white, black = ({"K": (0, 0), "P": (1, 1)}, {"K": (7, 7), "Q": (6, 6)})
    for view, own, other in ((views[0], white, black), (views[1], black, white)):
        for plane, side in ((0, own), (1, other)):
            assert sorted(map(tuple, np.argwhere(view[:, :, plane]).tolist())) == sorted(side.values())
        for first, side in ((2, own), (8, other)):
            for kind, letter in enumerate("PNBRQK"):
                cells = [side[letter]] if letter in side else []
                assert list(map(tuple, np.argwhere(view[:, :, first + kind]).tolist())) == cells
        assert view[:, :, 15:].reshape(64, 7).tolist() == [[1, 0, 1, 0, 0, 0, 0]] * 64
    assert [views[player, :, :, 14].mean() for player in range(2)] == [0, 1]


def test_equal_pieces_with_another_mover_have_other_words() -> None:
    """B089: the words of a position tell the mover, also where they leave the ply out."""
    assert placed(BLOCKED, 0).words != placed(BLOCKED, 1).words


def test_a_board_in_text() -> None:
    expected = """\
 8 r n b q k b n r
 7 p p p p . p p p
 6 . . . . . . . .
 5 . . . . p . . .
 4 . . . . . . . .
 3 . . . . . N . .
 2 P P P P P P P P
 1 R N B Q K B . R
   a b c d e f g h
ply 2: White (K) to move
"""
    assert pictures.text(after(capture().initial_state(), "g1f3 e7e5")) == expected


def test_a_finished_board_in_text_names_the_winner() -> None:
    state = after(placed("Kb1 Qh1 pa2 ke8", 1), "a2b1")
    assert pictures.text(state).splitlines()[-1] == "ply 2: Black (k) has won"


def test_a_picture_has_discs_in_the_colours_of_the_players() -> None:
    """The middle of the left border of the discs on a1 and h8, away from letters."""
    pixels = pictures.pixels(placed("Qa1 Kb1 kg8 qh8"))
    unit = (pixels.shape[1] - 2 * 20 - 26) / 8
    for column, row, light in ((0, 0, True), (7, 7, False)):
        x, y = 46 + unit * (column + 0.5 - 0.3), 20 + unit * (7 - row + 0.5)
        assert (pixels[round(y), round(x)].mean() > 200) == light


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("player", 1),
        ("player", -1),
        ("ply", 1),
        ("sides", (0xFFFF, 0xFFFF)),
        ("sides", (0xFFFE, 0xFFFF << 48)),
        ("kinds", (0, 0, 0)),
        ("kinds", (0x4AFF << 48 | 0xFF4A, 0x76 << 56 | 0x76, 0x99 << 56 | 0x99)),
    ],
)
def test_bytes_that_contradict_each_other_are_no_state(field: str, wrong: Any) -> None:
    """The last ones are a start with kings and queens in each other's places."""
    array = capture().initial_state().array()
    fields(array, game.STATE)[field] = wrong
    with pytest.raises(ValueError, match="no state of capture_the_king_v0"):
        State(capture(), array.tobytes())


@pytest.mark.parametrize(
    ("pieces", "player", "ply"),
    [
        ("Ke1 ke8 Pa1", 0, 60),
        ("Ke1 ke8 pa8", 0, 60),
        ("Ke1 Ka1 ke8", 0, 60),
        ("Ke1", 0, 60),
        ("ke8", 0, 60),
        ("Ke1 ke8", 1, 60),
        ("Ke1 ke8", 0, 4),
        ("Ke1 ke8", 0, 0),
        ("Ke1 ke8 Pa2 Pb2 Pc2 Pd2 Pe2 Pf2 Pg2 Ph2 Pa3", 0, 60),
    ],
)
def test_positions_that_no_game_has_are_refused(pieces: str, player: int, ply: int) -> None:
    """Pawns on the last rows, two kings or none, the wrong mover, more pieces gone than plies can take, nine pawns."""
    with pytest.raises(ValueError, match="no state of capture_the_king_v0"):
        State(capture(), placed(pieces, player, ply).data)


def test_positions_that_a_game_may_have_are_accepted() -> None:
    """The pieces of the test before in their order; a king that the other player has taken."""
    for pieces, player, ply in (
        ("Ke1 ke8 Pa2", 0, 60),
        ("Ke1 ke8", 1, 61),
        ("Ke1", -1, 61),
        ("ke8", -1, 60),
        ("Ke1 ke8", -1, 69),
    ):
        assert State(capture(), placed(pieces, player, ply).data).ply == ply
