"""Othello against OpenSpiel, against known counts and values, and in positions whose outcome is known (ids: cases.md).

Others count rows from the top; `played` reads their moves.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from lockstep import lockstep, mean_return

import ucd_envs
from ucd_envs import Rules, State, pictures
from ucd_envs.boards.discs import open_cells
from ucd_envs.games import othello as game
from ucd_envs.structs import fields
from ucd_planners import uct

DRAW_WITH_A_PASS = (
    "f4 f5 c6 e3 d2 b7 e6 f7 e7 f3 c5 e2 g7 c1 c7 d6 a8 c3 d7 b8 g5 f6 b2 h7 e1 a1 g2 h6 d3 b5 b6 "
    "c4 b3 a6 a7 a5 d8 c2 b4 a2 f8 f2 h4 g4 b1 c8 f1 h2 h3 a3 e8 a4 h8 g6 h5 g8 g1 g3 h1 pass d1"
)
"""A game of 61 plies that ends 32 to 32."""


def othello(**settings: Any) -> Rules:
    """The rules of Othello in a configuration."""
    return ucd_envs.make_rules("othello", **settings)


def upside_down(state: State, action: int) -> int:
    """The number of an action where rows are counted from the top."""
    return action if action == 64 else (7 - action // 8) * 8 + action % 8


def played(moves: str, **settings: Any) -> State:
    """The state after moves of a game whose rows are counted from the top; "--" is a pass."""
    state = othello(**settings).initial_state()
    size = state.rules.planes[0]
    for move in moves.split():
        state = state.after(state.action_named("pass" if move == "--" else f"{move[0]}{size + 1 - int(move[1:])}"))
    return state


def board(drawing: str, player: int, **settings: Any) -> State:
    """The position of a drawn board, X for player 0 and O for player 1, the last line being row 1."""
    rules = othello(size=math.isqrt(len("".join(drawing.split()))), **settings)
    marks = "".join("".join(line.split()) for line in reversed(drawing.splitlines()))
    array = rules.initial_state().array()
    s = fields(array, game.STATE)
    for owner, mark in enumerate("XO"):
        s.discs[owner] = sum(1 << i for i, found in enumerate(marks) if found == mark)
    s.player = player
    s.ply = player
    c = fields(rules.config, game.CONFIG)
    s.open = open_cells(c, s.discs[player], s.discs[1 - player])
    return State.trusted(rules, array.tobytes())


def discs(state: State) -> tuple[int, int]:
    """The number of black and of white discs."""
    stones = pictures.stones(state)
    return int((stones == 1).sum()), int((stones == 2).sum())


def names(state: State) -> str:
    """The names of the legal moves."""
    return " ".join(state.action_name(action) for action in state.legal_actions())


# OpenSpiel


def test_random_games_are_those_of_openspiel() -> None:
    """Legal lists, movers, passes, ends and returns agree at every ply; wins of both and draws occur."""
    results = lockstep(othello(), "othello", 150, seed=1, translated=upside_down)
    assert set(results) == {(1, -1), (-1, 1), (0, 0)}


def test_playouts_have_the_mean_return_of_openspiels() -> None:
    """-0.0446 with a standard error of 0.0071, measured with OpenSpiel's own playouts."""
    ours, our_error = mean_return(othello(), 100_000, seed=1)
    assert abs(ours + 0.0446) < 4 * math.hypot(our_error, 0.0071)


# Counts and values


def leaves(state: State, depth: int) -> int:
    """The number of ways to make so many plies, a finished game being one."""
    if depth == 0 or state.over:
        return 1
    return sum(leaves(state.after(action), depth - 1) for action in state.legal_actions())


@pytest.mark.parametrize(
    ("size", "counts"),
    [(8, [4, 12, 56, 244, 1396, 8200]), (6, [4, 12, 56, 244, 1364, 7604]), (4, [4, 12, 44, 128, 424, 1256, 3624])],
)
def test_move_sequences_are_as_many_as_known(size: int, counts: list[int]) -> None:
    """F05: passes count as plies."""
    state = othello(size=size).initial_state()
    assert [leaves(state, depth) for depth in range(1, len(counts) + 1)] == counts


def value(state: State, known: dict[State, float]) -> float:
    """Black's payoff under perfect play."""
    if state.over:
        return state.payoffs()[0]
    if state not in known:
        known[state] = (max, min)[state.player](value(state.after(action), known) for action in state.legal_actions())
    return known[state]


def test_the_second_player_wins_on_4x4_by_eight_discs() -> None:
    """F05: 11 to 3, by exhaustive search; payoffs by discs are 1/2 - 8 / 32."""
    assert value(othello(size=4, payoff="discs").initial_state(), {}) == 0.25


def test_the_second_player_wins_on_4x4() -> None:
    """F05: where a win by one disc counts as much as one by eight."""
    assert value(othello(size=4).initial_state(), {}) == 0


# Games


def test_the_shortest_game_takes_every_white_disc() -> None:
    """F05: 13 to 0 after 9 plies; neither player can go on, though cells are empty."""
    state = played("e6 f4 e3 f6 g5 d6 e7 f5 c5")
    assert (state.over, state.ply, discs(state), state.payoffs()) == (True, 9, (13, 0), [1, 0])
    assert state.rules.score is not None
    assert state.rules.score(state) == 13


def test_a_player_without_a_move_passes_and_the_game_goes_on() -> None:
    """B050: Black has 17 discs of 20 and no move, White has three."""
    state = played("e6 f6 c4 c5 c6 d6 g7 f4 g4 g6 e7 h8 h6 g5 g8 f8")
    assert (state.ply, state.player, discs(state)) == (16, 0, (17, 3))
    assert (state.over, names(state)) == (False, "pass")
    then = state.after(state.action_named("pass"))
    assert (then.ply, then.player, discs(then), len(then.legal_actions())) == (17, 1, (17, 3), 3)


def test_a_pass_is_legal_only_where_there_is_no_cell() -> None:
    """B052: and the next ply is never a second pass."""
    choice, passes = random.Random(1), 0
    for _ in range(60):
        state, previous = othello(size=6).initial_state(), -1
        while not state.over:
            legal = state.legal_actions()
            assert (36 in legal) == (legal == [36])
            action = choice.choice(legal)
            assert not previous == action == 36
            passes += action == 36
            state, previous = state.after(action), action
        assert previous != 36
    assert passes > 20


def lines(state: State) -> list[list[str]]:
    """All ways to the end of a game, by the names of moves."""
    if state.over:
        return [[]]
    return [[state.action_name(action), *line] for action in state.legal_actions() for line in lines(state.after(action))]


def test_a_search_goes_no_deeper_than_the_game() -> None:
    """B052: with passes in some of the five ways to the end, 2,000 playouts go as deep as the longest."""
    state = board(". O O O\n. X X X\nO O O O\nO O . .", 1)
    ways = lines(state)
    assert sorted(map(len, ways)) == [4, 5, 5, 6, 6]
    assert sum("pass" in way for way in ways) == 4
    assert uct(playouts=2000, seed=1).search(state).depth == 6


def test_32_discs_each_are_a_draw() -> None:
    """B053, B054: with a pass in the game; half a point each, and no winner."""
    state = othello().initial_state()
    for move in DRAW_WITH_A_PASS.split():
        state = state.after(state.action_named(move))
    assert DRAW_WITH_A_PASS.split().count("pass") == 1
    assert (state.over, state.ply, discs(state), state.payoffs()) == (True, 61, (32, 32), [0.5, 0.5])
    assert pictures.text(state).endswith("Black 32, White 32\nply 61: a draw\n")


@pytest.mark.parametrize(("player", "expected"), [(0, [1.0, 0.0]), (1, [0.0, 1.0])])
def test_the_disc_that_fills_the_board_can_win(player: int, expected: list[float]) -> None:
    """B044, B064: six discs turn in three directions with the last one."""
    mine, other = ("X", "O") if player == 0 else ("O", "X")
    drawing = "M M M M\nM O M O\nM O O O\nM O O .".replace("O", "o").replace("M", mine).replace("o", other)
    state = board(drawing, player)
    assert names(state) == "d1"
    last = state.after(3)
    assert (last.over, last.payoffs()) == (True, expected)
    assert discs(last) == ((15, 1) if player == 0 else (1, 15))


def test_runs_turn_over_in_all_eight_directions_at_once() -> None:
    state = board(
        """
        X . . X . . X .
        . O . O . O . .
        . . O O O . . .
        X O O . O O O X
        . . O O O . . .
        . O . O . O . .
        X . . O . . O .
        . . . X . . . X
        """,
        0,
    )
    after = state.after(state.action_named("d5"))
    assert discs(state) == (8, 19)
    assert discs(after) == (8 + 19 + 1, 0)


def test_a_run_without_an_own_disc_behind_it_stays() -> None:
    """Runs to the border and to an empty cell; a row does not go on in the next one."""
    state = board(
        """
        . . . .
        . X O .
        X O X O
        O O . .
        """,
        0,
    )
    after = state.after(state.action_named("d3"))
    assert pictures.text(after).splitlines()[:4] == [" 4 . . . .", " 3 . X X X", " 2 X O X O", " 1 O O . ."]
    assert "d1" not in names(state)


# Settings


@pytest.mark.parametrize(
    ("start", "size", "expected"),
    [
        ("crossed", 8, "e3 f4 c5 d6"),
        ("parallel", 8, "c6 d6 e6 f6"),
        ("crossed", 4, "c1 d2 a3 b4"),
        ("parallel", 6, "b5 c5 d5 e5"),
    ],
)
def test_first_moves(start: str, size: int, expected: str) -> None:
    """Black's first discs stand on a diagonal or in the lower of two rows."""
    assert names(othello(start=start, size=size).initial_state()) == expected


def test_payoffs_by_discs_grow_with_the_difference() -> None:
    """13 to 0 on 64 cells: 1/2 + 13 / 128; a draw stays 1/2."""
    assert played("e6 f4 e3 f6 g5 d6 e7 f5 c5", payoff="discs").payoffs() == [0.6015625, 0.3984375]
    state = board("X X X X\nX X X X\nO O O O\nO O O O", 0, payoff="discs")
    out = np.zeros(2)
    state.rules.kernels.payoffs(state.rules.config, state.array(), out)
    assert out.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        ({"size": 2}, ValueError, "size must be from 4 to 8, not 2"),
        ({"size": 5}, ValueError, "size must be 4, 6 or 8, not 5"),
        ({"size": 10}, ValueError, "size must be from 4 to 8, not 10"),
        ({"size": "8"}, TypeError, "size must be a whole number from 4 to 8, not '8'"),
        ({"payoff": "points"}, ValueError, "payoff must be 'win' or 'discs', not 'points'"),
        ({"start": 1}, ValueError, "start must be 'crossed' or 'parallel', not 1"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=f"^{sentence}$"):
        othello(**settings)


# Names, views and pictures


def test_moves_are_read_in_either_case() -> None:
    rules = othello(size=4)
    state = rules.initial_state()
    assert [state.action_named(text) for text in ("A1", "d4", "PASS", "Pass")] == [0, 15, 16, 16]
    with pytest.raises(ValueError, match=r"^'e1' is no cell of this board: expected a1 to d4$"):
        state.action_named("e1")


def test_reasons_of_illegal_moves() -> None:
    rules = othello()
    assert rules.why_illegal(0) == "it turns no disc over"
    assert rules.why_illegal(64) == "there is a cell to play"


def test_both_players_see_the_discs_where_they_are() -> None:
    """B106, B107: own discs in plane 0, row 1 first; plane 2 tells the mover its turn."""
    state = othello(size=4).initial_state()
    state = state.after(state.action_named("c1"))
    views = np.zeros((2, 4, 4, 3), np.int8)
    for player in range(2):
        state.rules.kernels.observe(state.rules.config, state.array(), player, views[player].reshape(-1))
    black = [[0, 0, 1, 0], [0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    white = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert views[0, :, :, :2].transpose(2, 0, 1).tolist() == [black, white]
    assert views[1, :, :, :2].transpose(2, 0, 1).tolist() == [white, black]
    assert [views[player, :, :, 2].mean() for player in range(2)] == [0, 1]


def test_equal_discs_with_another_mover_have_other_words() -> None:
    """B089: the words of a position tell the mover, also where they leave the ply out."""
    drawing = "O X X .\nO X X X\nO O O O\nX X X ."
    first, second = (board(drawing, player) for player in range(2))
    assert first.words != second.words


def test_a_board_in_text() -> None:
    expected = """\
 4 . . . .
 3 . O X .
 2 . X X .
 1 . . X .
   a b c d
Black 4, White 1
ply 1: White (O) to move
"""
    assert pictures.text(othello(size=4).initial_state().after(2)) == expected


@pytest.mark.parametrize(
    ("field", "wrong"),
    [("player", 1), ("player", -1), ("ply", 2), ("ply", 1), ("open", 0), ("discs", (1 << 63, 0)), ("discs", (3, 3))],
)
def test_bytes_that_contradict_each_other_are_no_state(field: str, wrong: Any) -> None:
    array = othello().initial_state().array()
    fields(array, game.STATE)[field] = wrong
    with pytest.raises(ValueError, match="no state of othello_v0"):
        State(othello(), array.tobytes())
