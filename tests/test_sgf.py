"""Games of Go and Hex written as SGF and read again, records of other programs, and what must be refused (ids: cases.md)."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sgfmill import boards, sgf_moves
from sgfmill.sgf import Sgf_game

import ucd_envs
from ucd_envs import Rules, State, pictures
from ucd_envs.formats import sgf

GO: list[dict[str, Any]] = [
    {"size": 2},
    {"size": 9},
    {"size": 19},
    {"rows": 5, "columns": 9},
    {"rows": 13, "columns": 4},
    {"size": 9, "handicap": 4, "komi": 0.5},
    {"size": 7, "komi": 6},
    {"size": 5, "komi": -3.5},
    {"size": 5, "komi": 0},
    {"size": 6, "black": "A1 F6 C3", "white": "D4 B2", "first": "white"},
    {"size": 6, "white": "D4"},
    {"size": 4, "ko": "positional", "suicide": True},
    {"size": 4, "ko": "situational"},
    {"size": 4, "max_plies": 11, "mercy": 5},
]
HEX: list[dict[str, Any]] = [
    {"size": 1},
    {"size": 5, "swap": True},
    {"size": 11},
    {"size": 19},
    {"rows": 3, "columns": 7},
    {"size": 5, "opening": "b2"},
    {"size": 5, "opening": "b2 c3 a1"},
    {"size": 4, "opening": "d1", "swap": True},
]
EVERY = [("go", settings) for settings in GO] + [("hex", settings) for settings in HEX]
every_game = pytest.mark.parametrize(("name", "settings"), EVERY, ids=lambda value: str(value))

SIMPLE_KO = "(;GM[1]SZ[9]AB[bh][ci]AW[ah][bi]PL[B];B[ai])"
LONG_LIFE = (
    "(;GM[1]SZ[9]AB[ag][ad][bf][be][ba][ce][cd][cc][cb]AW[af][ab][bh][bg][bd][bc][bb][cf][df][de][dd][dc][db]PL[B]"
    ";B[ac];W[ae];B[ad];W[af];B[ac])"
)
TRIPLE_KO = (
    "(;GM[1]SZ[9]AB[bg][bf][be][bd][bc][bb][ba][cg][dg][de][ef][ed][eb][ff][fe][fd][fc][fb][fa]"
    "AW[cf][ce][cd][cc][cb][ca][df][dd][db][eg][ec][ea][fg][gg][gf][ge][gd][gc][gb][ga]PL[B]"
    ";B[da];W[ee];B[dc];W[ea];B[de];W[ec])"
)
POSITIONAL_SUPERKO = (
    "(;GM[1]SZ[9]AB[ad][bd][bb][cd][cc][cb][db][da]AW[ae][ac][ab][be][ba][ce][de][dd][dc][ec][eb][ea]PL[W];W[ca];B[aa];W[ba])"
)
"""F01, from Fuego's tests of repetition."""
HEXGUI = "(;FF[4]AP[HexGui:0.9]GM[11]SZ[11];B[a4];W[swap-pieces];B[e7];W[resign])"
LITTLE_GOLEM = "(;FF[4]EV[hex.ld]PB[one]PW[two]SZ[11]RE[B]GC[game #1];W[ad];B[swap];W[eg];B[resign])"
WRITTEN = (
    SIMPLE_KO,
    LONG_LIFE,
    TRIPLE_KO,
    POSITIONAL_SUPERKO,
    HEXGUI,
    "(;GM[1]FF[4]CA[UTF-8]SZ[9:5]KM[6.5]HA[2]RU[NZ]PB[Ä]RE[W+R]AB[aa:cb];AE[ca]W[ee]C[a\\]b];B[];W[dd](;B[tt];W[ed])(;B[ed]))",
)


def random_game(rules: Rules, seed: int) -> list[int]:
    """The actions of a random game, of which every third is left off before its end."""
    choose = random.Random(seed).choice
    state, actions = rules.initial_state(), []
    while not state.over:
        actions.append(choose(state.legal_actions()))
        state = state.after(actions[-1])
    return actions[: len(actions) // 2] if seed % 3 == 2 else actions


def played(rules: Rules, actions: list[int]) -> State:
    state = rules.initial_state()
    for action in actions:
        state = state.after(action)
    return state


def stones(state: State) -> str:
    """The board from the top line, one character a point."""
    planes = np.zeros(state.rules.planes, np.int8)
    state.rules.kernels.observe(state.rules.config, state.array(), 0, planes.reshape(-1))
    rows = ["".join(".XO"[int(point[0]) + 2 * int(point[1])] for point in row) for row in planes]
    return "\n".join(reversed(rows)) if state.rules.tiling == "points" else "\n".join(rows)


def moves(record: sgf.Record) -> str:
    return " ".join(record.rules.initial_state().action_name(action) for action in record.actions)


# Writing and reading


@every_game
def test_a_game_is_the_same_after_writing_and_reading(name: str, settings: dict[str, Any]) -> None:
    """B037: name, size and all settings too."""
    rules = ucd_envs.make_rules(name, **settings)
    for seed in range(6):
        actions = random_game(rules, seed)
        record = sgf.load(sgf.saved(rules, actions))
        assert (record.rules.name, record.rules.identity) == (rules.name, rules.identity)
        assert record.actions == tuple(actions)
        assert record.state == played(rules, actions)
        assert record.state.over == (seed % 3 != 2)


def test_every_state_of_a_record_can_be_asked_for() -> None:
    rules = ucd_envs.make_rules("go", size=5)
    actions = random_game(rules, 1)
    states = list(sgf.load(sgf.saved(rules, actions)).states())
    assert states == [played(rules, actions[:count]) for count in range(len(actions) + 1)]


@pytest.mark.parametrize("size", [9, 19])
def test_another_reader_finds_the_same_stones(size: int) -> None:
    """sgfmill's own board, which takes stones but knows no ko."""
    rules = ucd_envs.make_rules("go", size=size, black="C3 D4", white="E5")
    for seed in range(3):
        actions = random_game(rules, seed)
        board, plays = sgf_moves.get_setup_and_moves(Sgf_game.from_string(sgf.saved(rules, actions)))
        for colour, point in plays:
            if point is not None:
                board.play(*point, colour)
        shown = {
            (row, column): {None: ".", "b": "X", "w": "O"}[board.get(row, column)] for row, column in np.ndindex(size, size)
        }
        lines = ["".join(shown[row, column] for column in range(size)) for row in reversed(range(size))]
        assert "\n".join(lines) == stones(played(rules, actions))
        assert isinstance(board, boards.Board)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "PL[B] SZ[9]"),
        ({"rows": 13}, "PL[B] SZ[9:13]"),
        ({"handicap": 2}, "AB[cg][gc] PL[W] SZ[9]"),
        ({"white": "A9 J1"}, "AW[aa][ii] PL[B] SZ[9]"),
    ],
)
def test_what_go_has_before_the_first_move_is_written_as_other_programs_write_it(
    settings: dict[str, Any], expected: str
) -> None:
    text = sgf.saved(ucd_envs.make_rules("go", **settings), [])
    assert all(part in text for part in expected.split())
    assert ("AB[" in text, "AW[" in text) == ("AB[" in expected, "AW[" in expected)


def test_a_pass_and_a_corner_are_written_as_other_programs_write_them() -> None:
    rules = ucd_envs.make_rules("go", size=9)
    text = sgf.saved(rules, [rules.initial_state().action_named(name) for name in ("A1", "pass", "J9")])
    assert text.replace("\n", "").endswith(";B[ai];W[];B[ia])")


def test_a_swap_is_written_as_other_programs_write_it() -> None:
    rules = ucd_envs.make_rules("hex", size=5, swap=True)
    text = sgf.saved(rules, [rules.initial_state().action_named(name) for name in ("a4", "swap", "e5")])
    assert text.replace("\n", "").endswith(";B[a4];W[swap-pieces];B[e5])")


@pytest.mark.parametrize(
    ("name", "settings", "names", "expected"),
    [
        ("go", {"size": 3, "komi": 2.5}, "B2 pass pass", "B+6.5"),
        ("go", {"size": 3, "komi": 2.5}, "pass pass", "W+2.5"),
        ("go", {"size": 3, "komi": 0}, "pass pass", "Draw"),
        ("go", {"size": 3}, "B2 pass", "?"),
        ("hex", {"size": 1}, "a1", "B+"),
        ("hex", {"size": 2}, "a1 a2 b1 b2", "W+"),
        ("hex", {"size": 2}, "a1", "?"),
    ],
)
def test_the_result_is_what_the_rules_say(name: str, settings: dict[str, Any], names: str, expected: str) -> None:
    rules = ucd_envs.make_rules(name, **settings)
    assert sgf.load(sgf.saved(rules, [rules.initial_state().action_named(move) for move in names.split()])).result == expected


def test_texts_survive_writing_and_reading() -> None:
    """Brackets, backslashes, line ends, and letters of any script."""
    rules = ucd_envs.make_rules("go", size=5)
    comments = ["a]b", "\\", "ends with \\]", "one\ntwo\n\nthree", "[;B[aa](:", "Ko 劫 ☗ ü", " padded ", "", "x" * 500]
    text = sgf.saved(rules, range(9), comments=comments, players=("A]B\\", "劫"), result="Void", event="1:2")
    record = sgf.load(text)
    assert list(record.comments) == comments
    assert (record.players, record.result, record.event) == (("A]B\\", "劫"), "Void", "1:2")


def test_moves_without_a_comment_have_an_empty_one() -> None:
    rules = ucd_envs.make_rules("hex", size=3)
    assert sgf.load(sgf.saved(rules, [0, 1, 2], comments=["first"])).comments == ("first", "", "")


def test_a_file_and_its_bytes_are_read_like_its_text(tmp_path: Path) -> None:
    text = sgf.saved(ucd_envs.make_rules("go", size=5), [12], comments=["劫"])
    (tmp_path / "game.sgf").write_text(text, encoding="utf-8")
    records = [sgf.load(text), sgf.load(text.encode()), sgf.load(tmp_path / "game.sgf")]
    assert [(record.state, record.comments) for record in records] == [(records[0].state, ("劫",))] * 3


@pytest.mark.parametrize(
    ("encoding", "data", "name"),
    [
        ("ISO-8859-1", b"\xc4", "Ä"),
        ("UTF-8", b"\xc3\x84", "Ä"),
        ("UTF-8", b"\xc4", "Ä"),
        ("no such", b"\xc4", "Ä"),
        ("hex", b"\xc4", "Ä"),
    ],
)
def test_names_in_a_wrong_encoding_do_not_keep_a_game_from_being_read(encoding: str, data: bytes, name: str) -> None:
    record = sgf.load(b"(;SZ[9]CA[" + encoding.encode() + b"]PB[" + data + b"];B[aa])")
    assert (record.players[0], moves(record)) == (name, "A9")


@pytest.mark.parametrize(
    ("name", "actions", "options", "message"),
    [
        ("go", [0, 0], {}, r"move 2 \(action 0\) is not legal: the point is taken, in ko, or without a liberty"),
        ("go", [81, 81, 0], {}, r"move 3 \(action 0\) is not legal: the game is over"),
        ("go", [82], {}, r"move 1 \(action 82\) is not legal: the point is taken, in ko, or without a liberty"),
        ("hex", [3], {"comments": ["a", "b"]}, "there are 2 comments, but only 1 moves"),
        ("tic_tac_toe", [3], {}, "only Go, NoGo and Hex are written as SGF, not tic_tac_toe_v0"),
    ],
)
def test_what_is_no_game_is_not_written(name: str, actions: list[int], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=rf"\A{message}\Z"):
        sgf.saved(ucd_envs.make_rules(name), actions, **options)


# Records of other programs


@pytest.mark.parametrize(
    ("text", "stop", "move", "simple", "situational", "positional"),
    [
        (SIMPLE_KO, 1, "B1", False, False, False),
        (LONG_LIFE, 3, "A4", True, False, False),
        (TRIPLE_KO, 5, "E7", True, False, False),
        (POSITIONAL_SUPERKO, 2, "B9", True, True, False),
    ],
    ids=["simple ko", "long life", "triple ko", "positional superko"],
)
def test_repetitions_are_judged_by_the_ko_rule(
    text: str, stop: int, move: str, simple: bool, situational: bool, positional: bool
) -> None:
    """B008, F01: White's move after so many, as Fuego's tests expect it."""
    for ko, expected in (("simple", simple), ("situational", situational), ("positional", positional)):
        state = sgf.load(text, stop=stop, ko=ko).state
        assert (state.ply, state.player) == (stop, 1)
        assert (state.action_named(move) in state.legal_actions()) == expected


def test_stones_before_the_start_stand_where_the_record_puts_them() -> None:
    """Black B2, C1; White A2, B1, which Black takes."""
    states = list(sgf.load(SIMPLE_KO.replace("SZ[9]", "SZ[3]").replace("h", "b").replace("i", "c")).states())
    assert [stones(state) for state in states] == ["...\nOX.\n.OX", "...\nOX.\nX.X"]


def test_compressed_points_and_removed_stones_are_read() -> None:
    """AE in a node of its own takes away what the root has put."""
    record = sgf.load("(;SZ[4:3]AB[aa:cb]AW[dc];AE[ba:bb];W[aa:aa])", stop=0)
    assert stones(record.state) == "X.X.\nX.X.\n...O"


@pytest.mark.parametrize(
    ("text", "player"),
    [
        ("(;SZ[5])", 0),
        ("(;SZ[5];W[aa])", 1),
        ("(;SZ[5]AB[cc])", 1),
        ("(;SZ[5]AB[cc]AW[dd])", 0),
        ("(;SZ[5]AB[cc];B[aa])", 0),
        ("(;SZ[5]PL[W])", 1),
        ("(;SZ[5]AB[cc]PL[B])", 0),
        ("(;SZ[5]AB[cc]PL[Blue])", None),
    ],
)
def test_who_begins_is_told_or_seen_from_the_first_move(text: str, player: int | None) -> None:
    if player is None:
        with pytest.raises(ValueError, match=r"\APL cannot be read: 'Blue'\Z"):
            sgf.load(text)
    else:
        assert sgf.load(text, stop=0).state.player == player


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ("", {"komi": 0.0, "suicide": False, "ko": "simple", "rows": 19, "columns": 19}),
        ("KM[6.5]SZ[9]", {"komi": 6.5, "rows": 9}),
        ("KM[]", {"komi": 0.0}),
        ("KM[-5]SZ[7:13]", {"komi": -5.0, "rows": 13, "columns": 7}),
        ("RU[Japanese]", {"suicide": False, "ko": "simple"}),
        ("RU[Tromp-Taylor]", {"suicide": True, "ko": "simple"}),
        ("RU[NZ]", {"suicide": True, "ko": "simple"}),
        ("RU[AGA]", {"suicide": False, "ko": "simple"}),
        ("RU[koSITUATIONALscoreAREAtaxNONEsui1]", {"suicide": True, "ko": "situational"}),
    ],
)
def test_settings_are_read_from_a_record(properties: str, expected: dict[str, Any]) -> None:
    settings = sgf.load(f"(;GM[1]{properties})").rules.settings
    assert {name: settings[name] for name in expected} == expected


def test_settings_of_the_caller_go_before_the_record() -> None:
    """Komi too that could not be read."""
    settings = sgf.load("(;SZ[9]KM[6,5]RU[koPOSITIONALsui1])", komi=6.5, ko="simple", suicide=False).rules.settings
    assert (settings["komi"], settings["ko"], settings["suicide"]) == (6.5, "simple", False)


def test_a_caller_cannot_change_the_board_of_a_record() -> None:
    with pytest.raises(TypeError, match=r"\Athe record itself tells size\Z"):
        sgf.load("(;SZ[9])", size=5)


def test_passes_are_empty_or_two_t() -> None:
    assert moves(sgf.load("(;SZ[19];B[];W[aa];B[tt];W[bb];B[ ])")) == "pass A19 pass B18 pass"


def test_variations_other_than_the_first_are_left_aside() -> None:
    assert moves(sgf.load("(;SZ[9];B[aa](;W[bb];B[cc])(;W[aa]))")) == "A9 B8 C7"


@pytest.mark.parametrize(
    ("text", "game"), [(HEXGUI, None), (LITTLE_GOLEM, "hex"), (LITTLE_GOLEM.replace("EV", "GM[11]EV"), None)]
)
def test_hex_records_of_hexgui_and_little_golem_are_read(text: str, game: str | None) -> None:
    """B028: a resignation is no move. The swap moves the stone from a4 to d1 and makes it the second player's."""
    record = sgf.load(text, game=game)
    assert moves(record) == "a4 swap e7"
    assert (record.state.ply, record.state.player) == (3, 1)
    assert [line for line in stones(record.state).splitlines() if line.strip(".")] == ["...O.......", "....X......"]


@pytest.mark.parametrize(
    ("text", "stones", "mover"),
    [
        ("(;GM[11]SZ[4]AB[d1][a4]AW[c2]PL[B])", {"d1": 0, "a4": 0, "c2": 1}, 0),
        ("(;GM[11]SZ[4]AB[d1][a4]AW[c2])", {"d1": 0, "a4": 0, "c2": 1}, 1),
        ("(;GM[11]SZ[4]AB[d1][a4];B[a1])", {"d1": 0, "a4": 0, "a1": 0}, 1),
        ("(;GM[11]SZ[4]AW[d1][a4])", {"d1": 1, "a4": 1}, 0),
        ("(;GM[11]SZ[4]AB[d1]PL[B];B[a1])", {"d1": 0, "a1": 0}, 1),
    ],
)
def test_any_stones_of_hex_may_be_set_up_for_any_player(text: str, stones: dict[str, int], mover: int) -> None:
    """F2-44, by the settings black, white and first; what is saved is read as the same game."""
    record = sgf.load(text)
    state = record.state
    found = {state.action_name(cell): int(mark) - 1 for cell, mark in enumerate(pictures.stones(state).flat) if mark}
    assert (found, state.player) == (stones, mover)
    assert sgf.load(sgf.saved(record.rules, record.actions)).state == state


def test_stones_before_the_start_of_hex_are_its_opening() -> None:
    record = sgf.load("(;GM[11]SZ[5]AB[c3][a1]AW[b2];W[e5])")
    assert record.rules.settings["opening"] == "c3 b2 a1"
    assert record.state.ply == 4
    assert stones(record.state) == stones(sgf.load("(;GM[11]SZ[5];B[c3];W[b2];B[a1];W[e5])").state)


# Records that are refused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this is no SGF: no SGF data found"),
        ("game.sgf", "this is no SGF: no SGF data found; the name of a file must be a Path"),
        ("(;SZ[9];B[aa]", "this is no SGF: unexpected end of SGF data"),
        ("(;SZ[9];B[aa", "this is no SGF: unexpected end of SGF data"),
        ("(;SZ[9]B)", "this is no SGF: property with no values"),
        (
            "(;GM[6])",
            r".* another game: GM\[6\] instead of GM\[1\] \(go\) or GM\[11\] \(hex\) or GM\[1\] \(nogo\)",
        ),
        ("(;GM[x])", "GM cannot be read: 'x'"),
        ("(;SZ[x])", "SZ is 'x', no size of a board such as '9', or '9:13' for 9 columns and 13 rows"),
        ("(;SZ[20])", "rows must be from 2 to 19, not 20"),
        ("(;SZ[9:1])", "rows must be from 2 to 19, not 1"),
        ("(;SZ[9]KM[6,5])", "KM cannot be read: '6,5'"),
        ("(;SZ[9]KM[3.75])", r"komi must be a multiple of 1/2 from -361 to 361, not 3.75"),
        ("(;SZ[9]AB[jj])", "'jj' is no point of a board with 9 columns and 9 rows"),
        ("(;SZ[9]AB[aa][zzz][bb])", "AB cannot be read: 'zzz'"),
        ("(;SZ[9]AB[ac:ca])", "AB cannot be read: 'ac:ca'"),
        ("(;SZ[9]AB[ca:ac])", "AB cannot be read: 'ca:ac'"),
        ("(;SZ[9]AB[aa]AW[aa])", "AB, AW and AE say different things of A9"),
        ("(;SZ[9]AB[aa]AW[ab][ba])", "every chain before the start needs a liberty"),
        ("(;SZ[9]HA[3];W[aa])", "HA tells of 3 handicap stones, but AB puts none on the board"),
        ("(;SZ[9];B[aa][bb])", "move 1 is more than one: B 'aa' and B 'bb'"),
        ("(;SZ[9];B[aa][bb]W[cc])", "move 1 is more than one: B 'aa' and B 'bb'"),
        ("(;SZ[9]UCD[max_plies=2];B[aa];W[bb];B[cc])", r"move 3 \(B C7\) is not legal: the game is over"),
        ("(;SZ[9];B[aa];W[jj])", r"move 2 \(W 'jj'\) is not legal: 'jj' is no point of a board with 9 columns and 9 rows"),
        ("(;SZ[9];B[xyz])", r"move 1 \(B 'xyz'\) is not legal: B cannot be read: 'xyz'"),
        ("(;SZ[9];B[aa];W[aa])", r"move 2 \(W A9\) is not legal: the point is taken, in ko, or without a liberty"),
        ("(;SZ[9]UCD[max_plies=x])", "UCD cannot be read: 'max_plies=x'"),
        ("(;SZ[9]UCD[swap=1])", "UCD cannot be read: 'swap=1'"),
        ("(;GM[11];B[a1])", "SZ is '', no size of a board such as '9', or '9:13' for 9 columns and 13 rows"),
        ("(;GM[11]SZ[5];B[f1])", r"move 1 \(B 'f1'\) is not legal: 'f1' is no cell of this board: expected a1 to e5"),
        ("(;GM[11]SZ[5];B[])", r"move 1 \(B ''\) is not legal: '' is no cell of this board: expected a1 to e5"),
        ("(;GM[11]SZ[5];B[a1];W[a1])", r"move 2 \(W a1\) is not legal: the cell is taken"),
        (
            "(;GM[11]SZ[5];B[a1];W[b2];B[swap])",
            r"move 3 \(B swap\) is not legal: the swap is on at the second move only, for the other player's stone",
        ),
        ("(;GM[11]SZ[5:4];B[a1];W[swap])", "swap needs a square board, but this one has 4 rows and 5 columns"),
        ("(;GM[11]SZ[5]AB[a1]AW[a1])", "AB, AW and AE say different things of a1"),
        ("(;GM[11]SZ[2]AB[a1][a2]PL[B])", "stones 'a1 a2' already end the game"),
    ],
)
def test_a_faulty_record_is_refused_in_one_sentence(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"\A{message}\Z"):
        sgf.load(text)


def test_handicap_stones_may_be_written_as_a_setup() -> None:
    """HA tells of the stones that AB puts, and White is to move."""
    record = sgf.load("(;SZ[9]HA[2]AB[cc][gg];W[ee])")
    assert (record.rules.settings["black"], record.rules.settings["first"]) == ("G3 C7", "white")
    assert len(list(record.states())) == 2


@pytest.mark.parametrize(
    ("text", "game", "number", "expected"),
    [
        ("(;GM[11]SZ[9])", "go", 11, r"GM\[1\] \(go\)"),
        ("(;GM[1]SZ[9])", "hex", 1, r"GM\[11\] \(hex\)"),
        ("(;GM[19]SZ[9])", "hex", 19, r"GM\[11\] \(hex\)"),
    ],
)
def test_a_record_of_another_game_is_refused(text: str, game: str, number: int, expected: str) -> None:
    """B037: a record of Havannah (GM[19]) given to Hex."""
    with pytest.raises(ValueError, match=rf"\Athis is a record of another game: GM\[{number}\] instead of {expected}\Z"):
        sgf.load(text, game=game)


def test_a_game_that_is_not_known_is_not_asked_for() -> None:
    with pytest.raises(ValueError, match=r"\Agame must be one of go, hex, nogo, not 'chess'\Z"):
        sgf.load("(;SZ[9])", game="chess")


def long_record() -> str:
    """White fills lines 19 to 14 while Black passes; Black takes a ko with move 217, and White takes it back at once."""
    points = [f"{column}{row}" for row in "abcdef" for column in "abcdefghijklmnopqrs"]
    quiet = "".join(f";B[];W[{point}]" for point in points[:108])
    return f"(;GM[1]SZ[19]AB[br][cs]AW[ar][bs]PL[B]{quiet};B[as];W[bs];B[jj])"


def test_an_illegal_move_is_named_by_its_number() -> None:
    """B022: a ko taken back at move 218."""
    with pytest.raises(
        ValueError, match=r"\Amove 218 \(W B1\) is not legal: the point is taken, in ko, or without a liberty\Z"
    ):
        sgf.load(long_record())


def test_what_comes_before_an_illegal_move_can_be_read() -> None:
    record = sgf.load(long_record(), stop=217)
    assert (len(record.actions), record.state.ply, record.state.player) == (217, 217, 1)
    assert stones(record.state).splitlines()[-2:] == ["OX.................", "X.X................"]


def test_what_comes_after_the_stop_is_not_looked_at() -> None:
    assert moves(sgf.load("(;SZ[9];B[aa];AW[bb];W[aa][cc])", stop=1)) == "A9"


@pytest.mark.parametrize(("stop", "count"), [(0, 0), (2, 2), (3, 3), (9, 3), (None, 3)])
def test_so_many_moves_are_read(stop: int | None, count: int) -> None:
    record = sgf.load("(;SZ[9];B[aa]C[1];W[bb]C[2];N[no move];B[cc]C[3])", stop=stop)
    assert (len(record.actions), record.comments) == (count, ("1", "2", "3")[:count])


@pytest.mark.parametrize("text", WRITTEN)
def test_a_damaged_file_is_read_or_refused_in_one_sentence(text: str) -> None:
    """Bytes removed, doubled, exchanged and changed. What is read can be written and is the same."""
    chance = random.Random(text)
    read, refused = 0, []
    for _ in range(250):
        data = bytearray(text.encode())
        for _ in range(chance.choice((1, 1, 1, 3))):
            at, other = chance.randrange(len(data)), chance.randrange(len(data))
            match chance.randrange(4):
                case 0:
                    del data[at : at + chance.choice((1, 1, 4, 30))]
                case 1:
                    data[at:at] = data[other : other + chance.choice((1, 5, 20))]
                case 2:
                    data[at], data[other] = data[other], data[at]
                case 3:
                    data[at] = chance.choice(b"[]();:\\ABWEPLSZ019at \n\xff\x00")
        try:
            record = sgf.load(bytes(data))
        except ValueError as error:
            refused.append(error)
            continue
        read += 1
        again = sgf.load(sgf.saved(record.rules, record.actions, comments=record.comments))
        assert (again.state, again.comments) == (record.state, record.comments)
    assert all(type(error) is ValueError and len(str(error).splitlines()) == 1 for error in refused)
    assert min(read, len(refused)) > 9


# The library


def test_a_missing_sgfmill_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sgfmill", None)
    for use in (lambda: sgf.load(SIMPLE_KO), lambda: sgf.saved(ucd_envs.make_rules("hex"), [])):
        with pytest.raises(ImportError, match=r"\ASGF needs sgfmill: pip install 'ucd-planners\[sgf\]'\Z"):
            use()


def test_sgfmill_is_imported_when_it_is_needed_only() -> None:
    program = "import sys, ucd_envs.formats.sgf; print('sgfmill' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "False\n"
