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


def test_a_missing_file_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.hgf")
