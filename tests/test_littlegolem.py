"""Little Golem's files of Havannah: real games, and files that are wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ucd_envs.formats.littlegolem import load

RECORDS = Path(__file__).parent / "data" / "havannah.txt"
GAME = (
    "(;FF[4]EV[havannah]PB[one]PW[two]SZ[4]RU[LG]RE[B]GC[ game #7]SO[http://www.littlegolem.com]"
    ";W[A1];B[B1];W[A2];B[B2];W[A3];B[B3];W[A4])"
)
"""A bridge by the first player on base 4."""


def lines() -> list[tuple[str, str, list[str]]]:
    """Base, result and moves of the recorded games."""
    rows = [line.split() for line in RECORDS.read_text().splitlines() if not line.startswith("#")]
    return [(base, result, moves) for base, result, *moves in rows]


def hgf(base: str, result: str, moves: list[str], name: str = "") -> str:
    """A game as Little Golem writes it."""
    tags = "".join(f";{'WB'[i % 2]}[{move.upper() if move[1:].isdigit() else move}]" for i, move in enumerate(moves))
    return f"(;FF[4]EV[null]PB[one]PW[two]SZ[{base}]RE[{result}]GC[{name}]{tags})"


def written(folder: Path, text: str) -> Path:
    """A file with this text."""
    path = folder / "games.hgf"
    path.write_text(text)
    return path


def test_all_real_games_can_be_read(tmp_path: Path) -> None:
    """1,430 of them in one file, with their moves, and no result that the moves contradict."""
    games = lines()
    found = load(written(tmp_path, "\n".join(hgf(*game) for game in games)))
    assert len(found) == len(games) == 1430
    for record, (base, result, moves) in zip(found, games, strict=True):
        names = [record.rules.initial_state().action_name(action) for action in record.actions]
        assert (record.rules.settings["base"], record.result) == (int(base), result)
        assert names == [move for move in moves if move != "resign"]
    assert sum(record.state.over for record in found) == 713
    assert all(len(record.comments) == len(record.actions) for record in found)


def test_a_game_is_read_as_it_was_played(tmp_path: Path) -> None:
    (record,) = load(written(tmp_path, GAME))
    assert (record.players, record.result, record.event) == (("one", "two"), "B", "havannah")
    assert record.rules.settings == {"base": 4, "swap": True}
    assert record.state.payoffs() == [1.0, 0.0]


def test_after_a_swap_the_first_stone_is_the_others(tmp_path: Path) -> None:
    """PB puts the stone, PW takes it over by the swap and so makes the bridge."""
    text = GAME.replace(";B[B1];W[A2]", ";B[swap];W[C3];B[A2];W[B1]").replace(";B[B2];W[A3];B[B3];W[A4]", ";B[A3];W[B2];B[A4]")
    (record,) = load(written(tmp_path, text.replace("RE[B]", "RE[W]")))
    assert record.state.payoffs() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        (";W[A2]", ";W[Z2]", "move 3: 'Z2' is no cell of this board: expected one such as a1 or g4"),
        (";W[A2]", ";W[]", "move 3: '' is no cell of this board: expected one such as a1 or g4"),
        (";W[A2]", ";W[b1]", "move 3 (b1) is not legal: the cell is taken"),
        (
            ";W[A2]",
            ";W[swap]",
            "move 3 (swap) is not legal: the swap is on at the second move only, for the other player's stone",
        ),
        (";W[A4]", ";W[A4];B[C1]", "move 8 (C1) comes after the end of the game"),
        (";W[A4]", ";W[resign];B[C1]", "move 8 (C1) comes after the end of the game"),
        (";W[A2]", ";B[A2]", "move 3 is tagged B, but W and B take turns from W on"),
        (";W[A2]", ";W[A2]B[A2]", "move 3 is tagged B and W, but W and B take turns from W on"),
        ("SZ[4]", "SZ[4x]", "SZ is '4x', no base of a board"),
        ("SZ[4]", "", "SZ is '', no base of a board"),
        ("SZ[4]", "SZ[11]", "base must be from 2 to 10, not 11"),
        ("RE[B]", "RE[W]", "RE[W] is not what the moves have led to"),
    ],
)
def test_a_wrong_game_names_file_game_and_move(tmp_path: Path, old: str, new: str, error: str) -> None:
    assert old in GAME
    path = written(tmp_path, GAME + GAME.replace(old, new).replace(" game #7", " game #8"))
    with pytest.raises(ValueError, match=rf"\A{re.escape(str(path))}, game #8: {re.escape(error)}\Z"):
        load(path)


def test_a_game_without_a_name_is_told_by_its_number(tmp_path: Path) -> None:
    path = written(tmp_path, GAME + GAME.replace("A2", "Z2").replace("GC[ game #7]", ""))
    with pytest.raises(ValueError, match=r"games\.hgf, game 2: move 3: "):
        load(path)


@pytest.mark.parametrize("text", ["", "(;", "no game", "(;SZ[4];W[a1]"])
def test_what_is_no_file_of_games_is_told(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ValueError, match=r"games\.hgf is no file of games: "):
        load(path)


def along_whole_rows(name: str, base: int) -> str:
    """A cell of Little Golem as HavannahGui names it: rows after the middle begin further right."""
    row, cell = ord(name[0]) - ord("a"), int(name[1:])
    return f"{name[0]}{cell + max(0, row + 1 - base)}"


def test_havannahgui_counts_along_the_whole_row(tmp_path: Path) -> None:
    """F2-46: e2 is the first cell of row e on base 4, and e1 is off the board."""
    text = "(;FF[4]GM[Havannah]SZ[4];W[e2];B[a1])"
    (record,) = load(written(tmp_path, text))
    assert [record.state.action_name(action) for action in record.actions] == ["e1", "a1"]
    path = written(tmp_path, text.replace("e2", "e1"))
    with pytest.raises(ValueError, match=r"games\.hgf, game 1: move 1: 'e1' is no cell of this board\Z"):
        load(path)


@pytest.mark.parametrize("base", range(2, 11))
def test_every_cell_of_havannahgui_is_one_of_little_golems(tmp_path: Path, base: int) -> None:
    """F2-46: cells in the order of rows. Names outside are refused."""
    rows = [[(row, cell) for cell in range(2 * base - 1) if abs(cell - row) < base] for row in range(2 * base - 1)]
    texts = [f"{chr(ord('a') + row)}{cell + 1}" for cells in rows for row, cell in cells]
    head = f"(;GM[havannah]SZ[{base}]"
    for place, text in enumerate(texts):
        (record,) = load(written(tmp_path, f"{head};W[{text.upper()}])"))
        assert record.actions == (place,)
    for text in ("a0", f"a{base + 1}", f"{chr(ord('a') + base)}1", f"{chr(ord('a') + 2 * base - 1)}1", "b", "1a", "a1b"):
        path = written(tmp_path, f"{head};W[{text}])")
        with pytest.raises(ValueError, match=rf"move 1: '{text}' is no cell of this board"):
            load(path)


def test_a_game_of_havannahgui_is_the_same_game(tmp_path: Path) -> None:
    """F2-46: games of Little Golem with their cells renamed, swaps and resignations too."""
    games = lines()[::40]
    renamed = []
    for base, result, moves in games:
        names = [along_whole_rows(move, int(base)) if move[1:].isdigit() else move for move in moves]
        renamed.append(hgf(base, result, names).replace("FF[4]", "FF[4]GM[Havannah]"))
    found = load(written(tmp_path, "\n".join(renamed)))
    expected = load(written(tmp_path, "\n".join(hgf(*game) for game in games)))
    assert [record.state for record in found] == [record.state for record in expected]


def test_comments_belong_to_their_moves(tmp_path: Path) -> None:
    (record,) = load(written(tmp_path, GAME.replace(";B[B1]", ";B[B1]C[ä]")))
    assert record.comments == ("", "ä", "", "", "", "", "")


def test_a_file_of_games_in_another_encoding_hides_nothing(tmp_path: Path) -> None:
    """F2-40."""
    path = tmp_path / "games.hgf"
    path.write_bytes(GAME.replace("FF[4]", "FF[4]CA[Shift_JIS]").replace("PB[one]", "PB[ソ]").encode("shift_jis") * 2)
    assert [(record.players, record.rules.settings["base"]) for record in load(path)] == [(("ソ", "two"), 4)] * 2


def test_liberties_of_other_programs_are_read(tmp_path: Path) -> None:
    """F2-45, F2-47: roots without a semicolon, names in lower case and blanks, in every game of a file."""
    text = GAME.replace("(;FF[4]", "(\nFF[4]").replace(";W[A2]", ";w[ A2 ]")
    assert [record.state.payoffs() for record in load(written(tmp_path, text * 2))] == [[1.0, 0.0]] * 2


def test_a_message_has_no_letters_that_cannot_be_printed(tmp_path: Path) -> None:
    path = written(tmp_path, GAME.replace(" game #7", " a\0\n b").replace(";W[A4]", ";W[A4];B[\0C1]"))
    with pytest.raises(ValueError, match=r"games\.hgf, a\ufffd b: move 8 \(\ufffdC1\) comes after the end of the game\Z"):
        load(path)


def test_a_missing_file_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.hgf")
