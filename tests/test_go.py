"""The rules of Go against an oracle of our own, against OpenSpiel, and against positions with known answers."""

from __future__ import annotations

import random
import re
from collections import Counter

import numpy as np
import pyspiel
import pytest
from go_boards import (
    KO,
    assert_random_games_are_the_oracles,
    assert_same,
    board_of,
    can,
    drawn,
    go,
    neat,
    oracle,
    picture,
    played,
)
from go_oracle import Go, perft

from ucd_envs.kernels import OVER
from ucd_envs.rules import State

# The oracle

RULES = [(ko, suicide) for ko in KO for suicide in (False, True)]


@pytest.mark.parametrize(("ko", "suicide"), RULES)
@pytest.mark.parametrize(
    ("rows", "columns", "games"),
    [
        (2, 2, 60),
        (2, 3, 40),
        (3, 2, 40),
        (3, 3, 25),
        (3, 4, 15),
        (5, 2, 15),
        (4, 4, 10),
        (2, 9, 6),
        (5, 7, 3),
        (7, 5, 3),
        (9, 9, 1),
    ],
)
@pytest.mark.sweep(2)
def test_random_games_are_the_oracles(rows: int, columns: int, games: int, ko: str, suicide: bool) -> None:
    """Ends, movers, whole lists of moves, stones, scores and payoffs agree at every ply."""
    assert_random_games_are_the_oracles(go(rows=rows, columns=columns, ko=ko, suicide=suicide, komi=0), games, seed=1)


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize("ko", ["positional", "situational"])
@pytest.mark.sweep(2)
def test_superko_matters_in_random_games(ko: str, suicide: bool) -> None:
    """The comparison with the oracle is not empty: moves that only superko forbids come up in games of 3x3 and 4x4."""
    for size in (3, 4):
        forbidden, _ = assert_random_games_are_the_oracles(go(size=size, ko=ko, suicide=suicide, max_plies=100), 40, seed=2)
        assert forbidden > 30


def test_suicides_happen_in_random_games() -> None:
    """The comparison with the oracle sees chains that kill themselves."""
    _, lost = assert_random_games_are_the_oracles(go(size=4, suicide=True), 20, seed=3)
    assert lost > 10


@pytest.mark.parametrize(("ko", "suicide"), RULES)
def test_games_from_random_boards_are_the_oracles(ko: str, suicide: bool) -> None:
    """Crowded set-ups of many shapes with either player first, where captures, kos and suicides begin at once."""
    choice = random.Random(6)
    for game in range(60):
        rows, columns = choice.randrange(2, 7), choice.randrange(2, 7)
        board = neat(choice, Go(rows, columns))
        text = "\n".join(board[row * columns : (row + 1) * columns] for row in reversed(range(rows)))
        first = choice.choice(["black", "white"])
        rules = drawn(text, ko=ko, suicide=suicide, first=first, komi=0.5, max_plies=25).rules
        assert_random_games_are_the_oracles(rules, 1, seed=game)


def test_a_game_on_the_largest_board_is_the_oracles() -> None:
    """B035: 361 points, one game to its end."""
    assert_random_games_are_the_oracles(go(size=19, ko="positional", suicide=True, max_plies=300), 1, seed=4)


@pytest.mark.slow
@pytest.mark.parametrize(("ko", "suicide"), RULES)
@pytest.mark.parametrize(
    ("rows", "columns", "games"),
    [(2, 2, 2000), (2, 3, 1000), (3, 3, 800), (4, 3, 400), (5, 5, 100), (9, 9, 15), (13, 9, 4), (2, 19, 20), (19, 19, 2)],
)
def test_many_random_games_are_the_oracles(rows: int, columns: int, games: int, ko: str, suicide: bool) -> None:
    """The same, at length, with games that last far longer than usual."""
    rules = go(rows=rows, columns=columns, ko=ko, suicide=suicide, max_plies=6 * rows * columns)
    assert_random_games_are_the_oracles(rules, games, seed=5)


def sequences(state: State, depth: int) -> int:
    """Number of sequences of so many legal moves, or fewer when the game is over."""
    if depth == 0 or state.over:
        return 1
    if depth == 1:
        return len(state.legal_actions())
    return sum(sequences(state.after(action), depth - 1) for action in state.legal_actions())


@pytest.mark.parametrize(("ko", "suicide"), RULES)
@pytest.mark.parametrize(("rows", "columns", "depth"), [(2, 2, 6), (2, 3, 5), (3, 3, 3), (3, 4, 3)])
def test_sequences_of_moves_are_as_many_as_the_oracles(rows: int, columns: int, depth: int, ko: str, suicide: bool) -> None:
    """Perft from the empty board."""
    start = go(rows=rows, columns=columns, ko=ko, suicide=suicide).initial_state()
    assert sequences(start, depth) == perft(oracle(start), depth)


@pytest.mark.slow
@pytest.mark.parametrize(("ko", "suicide"), RULES)
@pytest.mark.parametrize(("rows", "columns", "depth"), [(2, 2, 9), (2, 3, 7), (3, 3, 5), (3, 4, 4), (4, 3, 4)])
def test_long_sequences_of_moves_are_as_many_as_the_oracles(
    rows: int, columns: int, depth: int, ko: str, suicide: bool
) -> None:
    """Perft from the empty board, deeper."""
    start = go(rows=rows, columns=columns, ko=ko, suicide=suicide).initial_state()
    assert sequences(start, depth) == perft(oracle(start), depth)


# OpenSpiel


def lockstep(size: int, komi: float, games: int, seed: int) -> Counter[str]:
    """Plays random games in OpenSpiel and here with ko="simple" and asserts that they agree; how often each end occurred.

    Compared are, at every ply, the end, the mover and the whole list, and at the end the returns. OpenSpiel stops with a draw
    at a board that was there before: then ours must have been there, and the game is left.
    """
    theirs, rules = pyspiel.load_game(f"go(board_size={size},komi={komi})"), go(size=size, komi=komi, max_plies=2 * size * size)
    assert theirs.num_distinct_actions() == rules.actions
    choice, ends = random.Random(seed), Counter[str]()
    for game in range(games):
        state, other, moves = rules.initial_state(), theirs.new_initial_state(), list[int]()
        boards = {board_of(state)}
        while True:
            where = f"{rules}, game {game} of seed {seed}, after {moves}"
            repeated = bool(moves) and moves[-1] != size * size and board_of(state) in boards
            boards.add(board_of(state))
            if repeated:
                assert other.is_terminal(), where
                assert other.returns() == [0, 0], where
                ends["repetition"] += 1
                break
            assert state.over == other.is_terminal(), where
            assert state.player == (OVER if other.is_terminal() else other.current_player()), where
            assert state.legal_actions() == other.legal_actions(), where
            if state.over:
                assert [2 * payoff - 1 for payoff in state.payoffs()] == other.returns(), where
                ends["max_plies" if state.ply == rules.max_plies else "passes"] += 1
                break
            moves.append(choice.choice(state.legal_actions()))
            state = state.after(moves[-1])
            other.apply_action(moves[-1])
    return ends


@pytest.mark.parametrize(
    ("size", "komi", "games"),
    [(3, 0.5, 300), (3, 1.0, 300), (4, 3.0, 200), (5, 5.5, 100), (6, -2.0, 50), (9, 7.5, 15), (13, 6.0, 3), (19, 7.5, 1)],
)
def test_random_games_are_those_of_openspiel(size: int, komi: float, games: int) -> None:
    """B062: legal lists, movers, ends and returns agree at every ply, up to repetitions."""
    ends = lockstep(size, komi, games, seed=1)
    assert ends["passes"] > 0


def test_random_games_of_openspiel_end_in_all_three_ways() -> None:
    """The comparison has seen passes, the longest game and repetitions."""
    assert set(lockstep(3, 0.5, 400, seed=2)) == {"passes", "max_plies", "repetition"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "games"), [(3, 20_000), (4, 8000), (5, 3000), (6, 1500), (7, 800), (9, 400), (13, 60), (19, 15)]
)
def test_many_random_games_are_those_of_openspiel(size: int, games: int) -> None:
    """The same, at length."""
    lockstep(size, 0.5, games, seed=3)


# Ko, F01


TAKEN = """
    . . . . .
    . x o . .
    x o . o .
    . x o . .
    . . . . .
"""
"""Black takes at C3, White may take back at B3."""

SUPERKO = {
    "simpleko": ("AB[bh][ci]AW[ah][bi]PL[B];B[ai]", "B1", {"simple": False, "situational": False, "positional": False}),
    "long-life": (
        "AB[ag][ad][bf][be][ba][ce][cd][cc][cb]AW[af][ab][bh][bg][bd][bc][bb][cf][df][de][dd][dc][db]PL[B];B[ac];W[ae];B[ad]",
        "A4",
        {"simple": True, "situational": False, "positional": False},
    ),
    "triple-ko": (
        "AB[bg][bf][be][bd][bc][bb][ba][cg][dg][de][ef][ed][eb][ff][fe][fd][fc][fb][fa]"
        "AW[cf][ce][cd][cc][cb][ca][df][dd][db][eg][ec][ea][fg][gg][gf][ge][gd][gc][gb][ga]PL[B]"
        ";B[da];W[ee];B[dc];W[ea];B[de]",
        "E7",
        {"simple": True, "situational": False, "positional": False},
    ),
    "positional-superko": (
        "AB[ad][bd][bb][cd][cc][cb][db][da]AW[ae][ac][ab][be][ba][ce][de][dd][dc][ec][eb][ea]PL[W];W[ca];B[aa]",
        "B9",
        {"simple": True, "situational": True, "positional": False},
    ),
}
"""Fuego's regression tests of repetition: a record of 9x9, a move, and the rules that allow it."""


def from_record(record: str, **settings: object) -> State:
    """The state after a record of 9x9 with set-up stones and moves; points are letters from the left and from the top."""
    found = dict(re.findall(r"(AB|AW|PL)((?:\[\w+\])+)", record))
    black, white = (" ".join(point(text) for text in re.findall(r"\w\w", found[key])) for key in ("AB", "AW"))
    first = {"[B]": "black", "[W]": "white"}[found["PL"]]
    moves = [point(text) for text in re.findall(r";[BW]\[(\w\w)\]", record)]
    return played(go(size=9, black=black, white=white, first=first, **settings).initial_state(), " ".join(moves))


def point(text: str) -> str:
    """A point of a record of 9x9 as players write it."""
    return "ABCDEFGHJ"[ord(text[0]) - ord("a")] + str(9 - (ord(text[1]) - ord("a")))


@pytest.mark.parametrize("ko", KO)
@pytest.mark.parametrize("name", SUPERKO)
def test_repetitions_are_allowed_as_fuegos_tests_say(name: str, ko: str) -> None:
    """F01, B008: the set-up and the player who was to move on it belong to the history."""
    record, move, allowed = SUPERKO[name]
    assert can(from_record(record, ko=ko), move) == allowed[ko]


def test_the_oracle_agrees_with_fuegos_tests() -> None:
    """F01: what decides elsewhere is itself right, and equals the game at every ply."""
    for record, move, allowed in SUPERKO.values():
        setup, _, moves = record.partition(";")
        for ko in KO:
            state = from_record(setup, ko=ko)
            position = oracle(state)
            for text in re.findall(r"\[(\w\w)\]", moves):
                action = state.action_named(point(text))
                state, position = state.after(action), position.after(action)
                assert_same(state, position)
            assert position.is_legal(state.action_named(move)) == allowed[ko]


@pytest.mark.parametrize("ko", KO)
def test_a_repetition_of_a_board_that_was_played_is_judged_like_one_of_a_set_up(ko: str) -> None:
    """F01's triple ko with its stones laid by moves from the empty board: a game of 44 plies before the question."""
    record, move, allowed = SUPERKO["triple-ko"]
    setup = board_of(from_record(record.partition(";")[0]))
    black, white = ([place for place, mark in enumerate(setup) if mark == wanted] for wanted in "xo")
    state = go(size=9, first="white", ko=ko).initial_state()
    for ply in range(len(black) + len(white)):
        state = state.after((white, black)[ply % 2][ply // 2])
    assert board_of(state) == setup
    state = played(state, "D9 E5 D7 E9 D5")
    assert (state.ply, state.player) == (44, 1)
    assert can(state, move) == allowed[ko]


@pytest.mark.parametrize("ko", KO)
def test_a_lone_stone_that_took_one_cannot_be_taken_back_at_once(ko: str) -> None:
    """The point is forbidden for one move; after an exchange elsewhere it is free again."""
    taken = played(drawn(TAKEN, ko=ko), "C3")
    assert not can(taken, "B3")
    assert can(played(taken, "A1 E5"), "B3")


def test_a_pass_lifts_a_simple_ko() -> None:
    """The player who passes gives the point up; the next may still fill it."""
    passed = played(drawn(TAKEN), "C3 pass")
    assert can(passed, "B3")


@pytest.mark.parametrize("ko", KO)
def test_a_stone_that_took_one_and_is_joined_to_another_can_be_taken_back(ko: str) -> None:
    """Black's taker at C3 is one of two stones: White takes both, which makes another board."""
    state = drawn(
        """
        . . . . .
        . x o o .
        x o . x o
        . x o o .
        . . . . .
        """,
        ko=ko,
    )
    state = played(state, "C3")
    assert picture(state)[2] == "x.xxo"
    assert picture(played(state, "B3"))[2] == "xo..o"


@pytest.mark.parametrize(("ko", "allowed"), [("simple", True), ("positional", False), ("situational", True)])
def test_two_stones_taken_for_one(ko: str, allowed: bool) -> None:
    """B004: Black adds a stone, White takes both, and Black takes the taker: the first board again, but White to move."""
    text = """
        . . . . . . .
        x . . . . . .
        . x . . . . .
        x o . . . . .
        . o . . . . .
        o o . . . . .
        . . . . . . .
    """
    state = played(drawn(text, ko=ko), "A3 A5")
    assert board_of(state).count("x") == 2
    assert can(state, "A4") == allowed
    if allowed:
        assert picture(played(state, "A4")) == picture(drawn(text))


@pytest.mark.parametrize(("ko", "allowed"), [("simple", True), ("positional", False), ("situational", False)])
def test_a_board_is_repeated_with_passes_in_between(ko: str, allowed: bool) -> None:
    """B011: B004 with a pass of White first. The set-up had White to move, so taking back makes that situation again."""
    text = """
        . . . . . . .
        x . . . . . .
        . x . . . . .
        x o . . . . .
        . o . . . . .
        o o . . . . .
        . . . . . . .
    """
    state = played(drawn(text, ko=ko, first="white"), "pass A3 A5")
    assert can(state, "A4") == allowed
    assert can(state, "pass")


@pytest.mark.parametrize("ko", KO)
def test_a_ko_can_be_taken_in_another_line_of_play(ko: str) -> None:
    """B005: what was played from a state and given up is not in its history."""
    before = played(go(size=9, ko=ko).initial_state(), "A2 A1")
    assert picture(played(before, "B1"))[-1] == ".x......."
    assert can(before, "B1")
    assert played(before, "B1") == played(played(go(size=9, ko=ko).initial_state(), "A2 A1"), "B1")


@pytest.mark.parametrize("ko", KO)
def test_states_that_are_saved_and_restored_go_on_like_a_replay(ko: str) -> None:
    """B005: ten thousand times a line is played on a state's bytes and taken back; position and moves stay a replay's."""
    rules, choice = go(size=4, ko=ko, suicide=True), random.Random(11)
    kernels, board, actions = rules.kernels, rules.config, np.empty(rules.actions, np.int32)

    def at_random(array: np.ndarray) -> int:
        return int(actions[choice.randrange(kernels.legal_actions(board, array, actions))])

    cycles = 0
    while cycles < 10_000:
        work, replay = rules.initial_state().array(), rules.initial_state().array()
        while kernels.legal_actions(board, work, actions):
            saved = work.copy()
            for _ in range(choice.randrange(1, 6)):
                if kernels.legal_actions(board, work, actions):
                    kernels.play(board, work, at_random(work))
            work[:] = saved
            cycles += 1
            action = at_random(work)
            kernels.play(board, work, action)
            kernels.play(board, replay, action)
            one, two = State(rules, work.tobytes()), State(rules, replay.tobytes())
            assert one.key == two.key
            assert one.legal_actions() == two.legal_actions()


@pytest.mark.parametrize("ko", KO)
def test_a_ko_is_lost_when_only_the_stones_are_kept(ko: str) -> None:
    """B023: a game set up on the board of another has no history."""
    taken = played(drawn(TAKEN, ko=ko), "C3")
    again = drawn("\n".join(picture(taken)), ko=ko, first="white")
    assert not can(State(taken.rules, taken.data), "B3")
    assert can(again, "B3")
    assert taken.key != again.key


# Suicide


@pytest.mark.parametrize("size", [9, 19])
def test_suicide_is_no_ko(size: int) -> None:
    """B002: White's corner stone was taken by a stone with liberties; the corner is suicide, and there is no ko."""
    state = played(go(size=size).initial_state(), "A2 A1 B1")
    assert not can(state, "A1")
    lone = played(go(size=size, suicide=True).initial_state(), "A2 A1 B1")
    assert can(lone, "A1")
    assert picture(played(lone, "A1")) == picture(lone)
    assert not can(played(go(size=size, suicide=True, ko="positional").initial_state(), "A2 A1 B1"), "A1")


def test_a_chain_can_kill_itself_where_that_is_allowed() -> None:
    """B010: two white stones leave the board; without suicide the move is illegal."""
    text = """
        . x x .
        x o . x
        . x x .
        . . . .
    """
    assert not can(drawn(text, first="white"), "C3")
    for ko in KO:
        after = played(drawn(text, first="white", suicide=True, ko=ko), "C3")
        assert picture(after) == [".xx.", "x..x", ".xx.", "...."]


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize("ko", KO)
def test_enemies_are_taken_before_own_liberties_are_counted(ko: str, suicide: bool) -> None:
    """B010: the stone at A1 has no liberty until it has taken two."""
    state = drawn(
        """
        . . . . .
        x x . . .
        o o x . .
        . x . . .
        """,
        ko=ko,
        suicide=suicide,
    )
    assert picture(played(state, "A1")) == [".....", "xx...", "..x..", "xx..."]


def test_suicide_belongs_to_the_configuration() -> None:
    """B010: off by default, kept in the settings, and states of the two are not equal."""
    default, allowed = go(size=5), go(size=5, suicide=True)
    assert default.settings["suicide"] is False
    assert allowed.settings["suicide"] is True
    assert default.initial_state() != allowed.initial_state()
