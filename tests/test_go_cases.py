"""Go: how games end and score, what small boards are known to be, and what can be set up, written, seen and told apart."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import numpy as np
import pytest
from go_boards import KO, board_of, can, drawn, go, neat, oracle, picture, planes, played, score
from go_oracle import Go, Position

import ucd_envs
from ucd_envs.games import go as game
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields

# Ends


@pytest.mark.parametrize("komi", [-7.5, -1, 0, 0.5, 7, 7.5])
def test_two_passes_end_the_game(komi: float) -> None:
    """B016, B017: an empty board scores minus the komi; equal areas with the komi are a draw, whoever asks."""
    state = played(go(size=9, komi=komi).initial_state(), "pass pass")
    black = 0.5 if komi == 0 else float(komi < 0)
    assert state.over
    assert score(state) == -komi
    assert state.payoffs() == [black, 1 - black]


def test_two_passes_with_a_move_between_end_nothing() -> None:
    """B017: and a pass may be the first move."""
    state = played(go(size=5).initial_state(), "pass C3 pass")
    assert not state.over
    assert not played(state, "B2 pass A1").over
    assert played(state, "pass").over


def test_a_board_with_a_pass_is_not_the_board_without() -> None:
    """B017: the pass is part of the position, and survives copying."""
    text, empty = ". .\n. .", go(size=2)
    passed = played(empty.initial_state(), "pass")
    assert passed != drawn(text, first="white")
    assert State(passed.rules, passed.data).after(4).over


def test_a_game_ends_after_the_longest_as_it_stands() -> None:
    """The last ply is played and scored; nothing is legal then."""
    state = played(go(size=3, komi=0, max_plies=3).initial_state(), "B2 A1 C3")
    assert state.over
    assert state.legal_actions() == []
    assert score(state) == 1
    assert state.payoffs() == [1.0, 0.0]


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize("ko", KO)
def test_games_end_where_a_pass_is_the_last_resort(ko: str, suicide: bool) -> None:
    """B001: two thousand random games that pass only when nothing else is legal, within 3 plies a point."""
    rules = go(size=5, ko=ko, suicide=suicide)
    assert rules.max_plies == 75
    kernels, board, actions = rules.kernels, rules.config, np.empty(rules.actions, np.int32)
    lengths = Counter[int]()
    for seed in range(2000 if not suicide else 500):
        choice, array, plies = random.Random(seed), rules.initial_state().array(), 0
        while count := kernels.legal_actions(board, array, actions):
            kernels.play(board, array, actions[choice.randrange(max(1, count - 1))])
            plies += 1
        lengths[plies] += 1
    assert max(lengths) <= 75
    if ko == "simple":
        assert lengths[75] > 0


def test_an_environment_refuses_what_superko_forbids() -> None:
    """B013: the point is masked out, and a step there raises and changes nothing."""
    env = ucd_envs.make("go", size=4, ko="positional").unwrapped
    env.reset()
    for move in ["B1", "C1", "A2", "D2", "B3", "C3", "C2", "B2"]:
        env.step(env.rules.initial_state().action_named(move))
    before, taken = env.clone_state(), env.rules.initial_state().action_named("C2")
    assert env.observe("player_0")["action_mask"].sum() == len(before.legal_actions())
    assert env.observe("player_0")["action_mask"][taken] == 0
    with pytest.raises(ValueError, match="move C2 is not legal"):
        env.step(taken)
    assert env.clone_state().data == before.data


# Score

SEKI = """
    . o o x x .
    o . o x . x
    o o o x x x
    x x x o o o
    . x . o o .
"""


def laid(rules: Rules, board: str) -> State:
    """The state after the stones of a board without chains in danger were laid one by one, with passes where needed."""
    array, play = rules.initial_state().array(), rules.kernels.play
    mover = 0
    for point, mark in enumerate(board):
        if mark != ".":
            if "xo"[mover] != mark:
                play(rules.config, array, len(board))
                mover = 1 - mover
            play(rules.config, array, point)
            mover = 1 - mover
    return State(rules, array.tobytes())


@pytest.mark.parametrize(("rows", "columns", "boards"), [(5, 5, 8000), (6, 6, 4000), (7, 8, 3000), (9, 9, 2500), (5, 9, 2500)])
def test_boards_score_as_breadth_first_search_says(rows: int, columns: int, boards: int) -> None:
    """B014: twenty thousand random boards that no game would end with."""
    rules, choice = go(rows=rows, columns=columns, komi=0), random.Random(14)
    slow = Go(rows, columns)
    for _ in range(boards):
        board = neat(choice, slow)
        assert score(laid(rules, board)) == slow.area(board), board


@pytest.mark.parametrize(
    ("text", "area"),
    [
        (". . . .\n" * 4, 0),
        (". . . .\n. x . .\n" + ". . . .\n" * 2, 16),
        (". . . .\n. x . .\n. . . .\n. . . o", 0),
        ("x . x .\n. x o o\n. x o .\n. x o .", 3),
        (". x o .\n. x o .\n. x o .\n. x o .", 0),
        ("x x . o\n. x o .\nx x o o\n. x . o", 2),
    ],
)
def test_regions_belong_to_whom_alone_they_touch(text: str, area: int) -> None:
    """B014: the empty board, one stone, one each, and regions that both touch."""
    assert score(drawn(text, komi=0)) == area


def test_a_long_corridor_that_both_touch_is_nobodys() -> None:
    """B014: a fill that stopped as soon as it saw both colours would give its far end to Black."""
    state = drawn(
        """
        o . . . . . .
        x x x x x x .
        . . . . . . .
        . x x x x x x
        . . . . . . .
        x x x x x x .
        . . . . . . .
        """,
        komi=0,
    )
    assert score(state) == 18 - 1


def test_the_shared_liberty_of_a_seki_is_nobodys() -> None:
    """B019: the two chains below have an eye each and share C1; eyes are one's own, and stones count as they stand."""
    assert score(drawn(SEKI, komi=0)) == (11 + 3) - (12 + 3)


# Small boards


@pytest.mark.parametrize(("rows", "columns", "legal"), [(2, 2, 57), (2, 3, 489)])
def test_boards_that_may_be_set_up_are_those_where_every_chain_has_a_liberty(rows: int, columns: int, legal: int) -> None:
    """F09: their number is known."""
    count = 0
    for marks in product(".xo", repeat=rows * columns):
        text = "\n".join(" ".join(marks[row * columns : (row + 1) * columns]) for row in range(rows))
        try:
            state = drawn(text)
        except ValueError:
            continue
        assert "".join(picture(state)) == "".join(marks)
        count += 1
    assert count == legal


def best(state: State, low: float, high: float) -> float:
    """The score under perfect play if it lies between the bounds, by alpha-beta search; passes first."""
    if state.over:
        return score(state)
    for action in reversed(state.legal_actions()):
        value = best(state.after(action), low, high)
        if state.player == 0:
            low = max(low, value)
        else:
            high = min(high, value)
        if low >= high:
            break
    return low if state.player == 0 else high


@pytest.mark.parametrize("suicide", [False, True])
def test_black_wins_2x2_by_one_point(suicide: bool) -> None:
    """F09: under positional superko, the whole game searched."""
    assert best(go(size=2, komi=0, ko="positional", suicide=suicide, max_plies=200).initial_state(), -4, 4) == 1


# Positions


def facts(position: Position) -> tuple[object, ...]:
    """What a position is, by the oracle: what can be seen of it, and the history that its superko asks for."""
    history: frozenset[object] = frozenset()
    if position.go.ko == "positional":
        history = frozenset(board for board, _ in position.past)
    if position.go.ko == "situational":
        history = frozenset(position.past)
    return (position.board, position.mover, position.ply, position.passes, position.forbidden, history)


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize(("ko", "plies"), [("simple", 12), ("positional", 8), ("situational", 9)])
def test_positions_are_equal_exactly_when_boards_and_histories_are(ko: str, plies: int, suicide: bool) -> None:
    """B088, B089: all states of 2x2 to a ply: with superko, different histories of one board are different positions."""
    start = go(size=2, ko=ko, suicide=suicide).initial_state()
    level = {facts(oracle(start)): (start, oracle(start))}
    words = {start.key: facts(oracle(start))}
    for _ in range(plies):
        following: dict[tuple[object, ...], tuple[State, Position]] = {}
        for state, position in level.values():
            for action in state.legal_actions():
                child, known = state.after(action), position.after(action)
                key = facts(known)
                assert words.setdefault(child.key, key) == key
                if not child.over:
                    assert following.setdefault(key, (child, known))[0].key == child.key
        level = following
    assert len(words) > 900


@pytest.mark.parametrize("ko", ["positional", "situational"])
@pytest.mark.parametrize("suicide", [False, True])
def test_the_key_of_a_board_is_the_same_after_any_captures(ko: str, suicide: bool) -> None:
    """B007: at every ply of random games it is that of the same stones set up afresh."""
    rules, choice = go(size=4, ko=ko, suicide=suicide), random.Random(7)
    for _ in range(15):
        state = rules.initial_state()
        while not state.over:
            legal = state.legal_actions()
            state = state.after(choice.choice(legal[:-1] or legal))
            if not state.over:
                fresh = drawn("\n".join(picture(state)), ko=ko, suicide=suicide, first=("black", "white")[state.player])
                assert fields(state.array(), game.STATE).hash == fields(fresh.array(), game.STATE).hash


def test_two_move_orders_meet_without_superko_only() -> None:
    """B088: with superko the boards on the way differ, and so does what may be made again."""
    for ko in KO:
        start = go(size=5, ko=ko).initial_state()
        assert (played(start, "A2 D4 C3") == played(start, "C3 D4 A2")) == (ko == "simple")


def test_a_ko_is_part_of_the_position() -> None:
    """B088: the board after a ko was taken, reached without taking, allows another move and is not equal."""
    text = ". . . . .\n. x o . .\nx . . o .\n. x o . .\n. . . . ."
    start = drawn(text)
    taken, quiet = played(start, "A1 B3 C3"), played(start, "A1 pass C3")
    assert picture(taken) == picture(quiet)
    assert (taken.ply, taken.player) == (quiet.ply, quiet.player)
    assert not can(taken, "B3")
    assert can(quiet, "B3")
    assert taken != quiet


def test_the_memory_of_superko_is_bounded() -> None:
    """B011: a state of 9x9 has room for every board of the longest game, and no more than 64 KiB."""
    for ko in KO:
        rules = go(size=9, ko=ko)
        assert rules.state_bytes < 2**16
        state, choice = rules.initial_state(), random.Random(1)
        while not state.over:
            legal = state.legal_actions()
            state = state.after(choice.choice(legal[:-1] or legal))
            assert len(state.data) == rules.state_bytes


# Settings


@pytest.mark.parametrize(
    "settings",
    [
        {"size": 1},
        {"size": 20},
        {"rows": 1},
        {"columns": 20},
        {"komi": 0.25},
        {"komi": float("nan")},
        {"komi": float("inf")},
        {"ko": "super"},
        {"first": "white "},
        {"first": 0},
        {"max_plies": 0},
        {"mercy": -1},
        {"handicap": 1},
        {"handicap": 10},
        {"size": 5, "handicap": 2},
        {"size": 8, "handicap": 5},
        {"black": "C3 C3"},
        {"black": "C3", "white": "C3"},
        {"black": "C3 c3"},
        {"black": "I3"},
        {"black": "pass"},
        {"black": "K1"},
        {"black": "A0"},
        {"black": "C3,D4"},
        {"black": "A2 B1", "white": "A1"},
        {"rows": 2, "columns": 2, "black": "A1 A2 B1 B2"},
        {"handicap": 2, "black": "C3"},
    ],
)
def test_a_setting_out_of_range_is_refused(settings: dict[str, object]) -> None:
    """B035: with one sentence; so are set-up stones twice on a point, off the board, and chains without liberties."""
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        go(**settings)


@pytest.mark.parametrize(
    "settings",
    [{"size": 9.0}, {"size": True}, {"komi": "7.5"}, {"suicide": 1}, {"black": 3}, {"max_plies": 2.5}, {"handicap": True}],
)
def test_a_setting_of_another_type_is_refused(settings: dict[str, object]) -> None:
    """With one sentence, and for komi no text."""
    with pytest.raises(TypeError, match=r"^[^\n]+$"):
        go(**settings)


@pytest.mark.parametrize("komi", [-7.5, -1, -0.5, 0, 0.5, 7, 7.5])
def test_the_komi_is_kept(komi: float) -> None:
    """B016: in the settings and their text, signs included, and through a reset."""
    rules = go(size=5, komi=komi)
    assert rules.settings["komi"] == komi
    assert f"komi={komi:.1f}" in str(rules)
    array = played(rules.initial_state(), "C3").array()
    rules.kernels.reset(rules.config, array)
    assert score(State(rules, array.tobytes())) == -komi


def test_configurations_that_play_differently_have_different_states() -> None:
    """Komi, ko, suicide, set-up, first player and length belong to a configuration."""
    others = [
        {"komi": 0.5},
        {"ko": "positional"},
        {"ko": "situational"},
        {"suicide": True},
        {"black": "C3"},
        {"first": "white"},
        {"max_plies": 99},
    ]
    states = {go(size=5, **settings).initial_state() for settings in [{}, *others]}
    assert len(states) == 8


@pytest.mark.parametrize(
    ("size", "stones", "points"),
    [
        (19, 2, "D4 Q16"),
        (19, 3, "D4 Q16 D16"),
        (19, 4, "D4 Q16 D16 Q4"),
        (19, 5, "D4 Q16 D16 Q4 K10"),
        (19, 6, "D4 Q16 D16 Q4 D10 Q10"),
        (19, 7, "D4 Q16 D16 Q4 D10 Q10 K10"),
        (19, 8, "D4 Q16 D16 Q4 D10 Q10 K4 K16"),
        (19, 9, "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10"),
        (13, 9, "D4 K10 D10 K4 D7 K7 G4 G10 G7"),
        (9, 5, "C3 G7 C7 G3 E5"),
        (8, 4, "C3 F6 C6 F3"),
        (7, 2, "C3 E5"),
    ],
)
def test_handicap_stones_stand_where_gtp_puts_them(size: int, stones: int, points: str) -> None:
    """The GTP standard's fixed points [version 2, section 4.1.1]; White begins."""
    state = go(size=size, handicap=stones).initial_state()
    assert {state.action_name(point) for point, mark in enumerate(board_of(state)) if mark == "x"} == set(points.split())
    assert board_of(state).count("o") == 0
    assert (state.player, state.ply) == (1, 0)
    assert go(size=size, handicap=stones, first="black").initial_state().player == 0


def test_who_begins_can_be_chosen() -> None:
    """Black by default, with set-up stones too."""
    assert [go(size=5, first=first).initial_state().player for first in (None, "black", "white")] == [0, 0, 1]
    assert go(size=5, black="A1 B2").initial_state().player == 0


# Names and planes


@pytest.mark.parametrize(
    ("action", "name"), [(0, "A1"), (7, "H1"), (8, "J1"), (18, "T1"), (19, "A2"), (360, "T19"), (361, "pass")]
)
def test_points_are_written_without_the_letter_i(action: int, name: str) -> None:
    """B026: the ninth column is J; small and capital letters are read."""
    rules = go(size=19)
    assert rules.initial_state().action_name(action) == name
    assert rules.initial_state().action_named(name.upper()) == rules.initial_state().action_named(name.lower()) == action


@pytest.mark.parametrize("text", ["I5", "i5", "K5", "A10", "A0", "J", "5J", "A 1", "A1 ", "A\u00b2", "resign", "pas", ""])
def test_a_text_that_is_no_point_of_9x9_is_refused(text: str) -> None:
    """B026, B028: there is no column I, and resigning is no move."""
    with pytest.raises(ValueError, match="expected"):
        go(size=9).initial_state().action_named(text)


def test_points_of_a_board_that_is_not_square_are_where_they_are_written() -> None:
    """Row 0 is line 1, at the bottom."""
    state = played(go(rows=2, columns=3).initial_state(), "C1 A2")
    assert picture(state) == ["o..", "..x"]


def test_both_players_see_the_stones_where_they_are() -> None:
    """B106, B049: own stones, the other's, and ones for Black, whoever is on turn."""
    state = played(go(rows=2, columns=3).initial_state(), "B1 C2")
    x, o, ones, zeros = [[0, 1, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 1]], np.ones((2, 3)).tolist(), np.zeros((2, 3)).tolist()
    assert planes(state, 0).tolist() == [x, o, ones, zeros, zeros]
    assert planes(state, 1).tolist() == [o, x, zeros, zeros, zeros]


def test_both_players_see_the_point_of_a_ko_and_a_pass() -> None:
    """B002, B017: the ko for one move; ones after a pass, also as the first move."""
    taken = played(drawn(". . . . .\n. x o . .\nx o . o .\n. x o . .\n. . . . ."), "C3")
    for player in range(2):
        assert np.argwhere(planes(taken, player)[3]).tolist() == [[2, 1]]
        assert not planes(taken, player)[4].any()
        assert not planes(played(taken, "A1"), player)[3].any()
        assert not planes(played(taken, "pass"), player)[3].any()
        assert planes(played(taken, "pass"), player)[4].all()
        assert planes(played(go(size=5).initial_state(), "pass"), player)[4].all()


def test_a_stone_taken_by_a_stone_with_liberties_leaves_no_ko() -> None:
    """B002: the plane of the ko is empty."""
    state = played(go(size=9).initial_state(), "A2 A1 B1")
    assert not planes(state, 0)[3].any()
