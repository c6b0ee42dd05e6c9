"""Tic-tac-toe against OpenSpiel and against its known counts, lines and value."""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations

import numpy as np
import pyspiel
import pytest
from lockstep import lockstep, mean_return

import ucd_envs
from ucd_envs.rules import Rules, State

LINES = [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}]


@pytest.fixture
def rules() -> Rules:
    """The rules of tic-tac-toe."""
    return ucd_envs.make_rules("tic_tac_toe")


def drawn(text: str) -> State:
    """The state of a drawn board: x and o place their stones in turn in reading order, x first."""
    cells = text.split()
    x, o = ([cell for cell, mark in enumerate(cells) if mark == wanted] for wanted in "xo")
    assert 0 <= len(x) - len(o) <= 1
    state = ucd_envs.make_rules("tic_tac_toe").initial_state()
    for ply in range(len(x) + len(o)):
        state = state.after((x, o)[ply % 2][ply // 2])
    return state


@cache
def levels() -> list[dict[State, int]]:
    """For every ply the positions, with how many move sequences lead to each."""
    found = [{ucd_envs.make_rules("tic_tac_toe").initial_state(): 1}]
    while found[-1]:
        following: dict[State, int] = {}
        for state, sequences in found[-1].items():
            for action in state.legal_actions():
                child = state.after(action)
                following[child] = following.get(child, 0) + sequences
        found.append(following)
    return found[:-1]


@cache
def value(state: State) -> float:
    """The payoff of player 0 under perfect play."""
    if state.over:
        return state.payoffs()[0]
    best = max if state.player == 0 else min
    return best(value(state.after(action)) for action in state.legal_actions())


@cache
def mean(state: State) -> float:
    """The exact mean payoff of player 0 under random play."""
    if state.over:
        return state.payoffs()[0]
    children = [mean(state.after(action)) for action in state.legal_actions()]
    return sum(children) / len(children)


def test_random_games_are_those_of_openspiel(rules: Rules) -> None:
    """Legal lists, movers, ends and returns agree at every ply; wins of both and draws occur."""
    assert set(lockstep(rules, "tic_tac_toe", 2000, seed=1)) == {(1, -1), (-1, 1), (0, 0)}


def test_every_position_is_that_of_openspiel() -> None:
    """All 5,478 positions, reached by the first move sequence found: lists, movers, ends and returns."""
    theirs = pyspiel.load_game("tic_tac_toe")
    queue = [(ucd_envs.make_rules("tic_tac_toe").initial_state(), theirs.new_initial_state())]
    known = {queue[0][0]}
    for state, other in queue:
        assert state.legal_actions() == other.legal_actions()
        assert state.over == other.is_terminal()
        if state.over:
            assert [2 * payoff - 1 for payoff in state.payoffs()] == other.returns()
        for action in state.legal_actions():
            child = state.after(action)
            if child not in known:
                known.add(child)
                queue.append((child, other.child(action)))
    assert len(known) == 5478


def test_move_sequences_are_as_many_as_known() -> None:
    """Perft by ply; from ply 5 on, games that have ended are not gone on with."""
    counts = [sum(level.values()) for level in levels()]
    assert counts == [1, 9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]


def test_there_are_255168_games() -> None:
    """131,184 won by the first player, 77,904 by the second, 46,080 drawn."""
    games = {1.0: 0, 0.0: 0, 0.5: 0}
    for level in levels():
        for state, sequences in level.items():
            if state.over:
                games[state.payoffs()[0]] += sequences
    assert games == {1.0: 131_184, 0.0: 77_904, 0.5: 46_080}
    assert sum(games.values()) == 255_168


def test_there_are_5478_positions() -> None:
    """B089: words of their own for every board, 958 of which are finished games."""
    positions = [state for level in levels() for state in level]
    assert len({state.key for state in positions}) == len(positions) == 5478
    assert sum(state.over for state in positions) == 958


def test_perfect_play_is_a_draw(rules: Rules) -> None:
    """Whatever the first move is."""
    start = rules.initial_state()
    assert [value(start.after(action)) for action in start.legal_actions()] == [0.5] * 9


def test_playouts_have_the_exact_mean(rules: Rules) -> None:
    """The mean return of random play, summed over all positions, and OpenSpiel's measured +0.2973 +- 0.0010."""
    exact = 2 * mean(rules.initial_state()) - 1
    assert abs(exact - 0.2973) < 4 * 0.0010
    ours, error = mean_return(rules, 200_000, seed=1)
    assert abs(ours - exact) < 4 * error


def test_three_in_a_line_win_and_no_other_three() -> None:
    """All 84 sets of three cells of the first player, with two of the second that make no difference."""
    for cells in combinations(range(9), 3):
        others = [cell for cell in range(9) if cell not in cells][:2]
        state = ucd_envs.make_rules("tic_tac_toe").initial_state()
        for x, o in zip(cells[:2], others, strict=True):
            state = state.after(x).after(o)
        state = state.after(cells[2])
        assert state.over == (set(cells) in LINES)


def test_the_ninth_stone_can_win() -> None:
    """B044: a full board is won, not drawn, when its last stone makes a line."""
    state = drawn(
        """
        x o x
        o x x
        o o .
        """
    )
    assert state.ply == 8
    assert state.after(8).payoffs() == [1.0, 0.0]


def test_a_full_board_without_a_line_is_a_draw() -> None:
    """Half a point each."""
    state = drawn(
        """
        x o x
        x o o
        o x x
        """
    )
    assert state.ply == 9
    assert state.payoffs() == [0.5, 0.5]


def test_player_0_wins_with_one_move() -> None:
    """B064: c1 completes the first row."""
    state = drawn(
        """
        x x .
        o o .
        . . .
        """
    )
    assert state.after(2).payoffs() == [1.0, 0.0]


def test_player_1_wins_with_one_move() -> None:
    """B064: c2 completes the second row."""
    state = drawn(
        """
        x x .
        o o .
        . . x
        """
    )
    assert state.after(5).payoffs() == [0.0, 1.0]


def test_both_players_see_the_stones_where_they_are(rules: Rules) -> None:
    """B049: own stones in plane 0, the other's in plane 1."""
    state = rules.initial_state().after(1).after(5)
    views = np.full((2, 3, 3, 2), -7, np.int8)
    for player in range(2):
        rules.kernels.observe(rules.config, state.array(), player, views[player].reshape(-1))
    x, o = [[0, 1, 0], [0, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert views[0].transpose(2, 0, 1).tolist() == [x, o]
    assert views[1].transpose(2, 0, 1).tolist() == [o, x]


def test_cells_are_written_as_letter_and_number(rules: Rules) -> None:
    """Column letter, then the row from 1."""
    assert [rules.initial_state().action_name(action) for action in (0, 2, 3, 8)] == ["a1", "c1", "a2", "c3"]


def test_the_mean_of_random_play_is_that_of_its_games() -> None:
    """0.585 wins and 0.127 draws, by the probability of each of the move sequences."""
    probability = {1.0: 0.0, 0.5: 0.0, 0.0: 0.0}
    for ply, level in enumerate(levels()):
        for state, sequences in level.items():
            if state.over:
                probability[state.payoffs()[0]] += sequences * math.factorial(9 - ply) / math.factorial(9)
    assert probability[1.0] == pytest.approx(737 / 1260)
    assert probability[0.5] == pytest.approx(8 / 63)
    assert sum(probability.values()) == pytest.approx(1)
