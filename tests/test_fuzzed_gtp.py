"""Lines that no controller sends, or in no such order: each command has one answer, and a refusal changes nothing."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gtp_fake import PATIENCE
from gtp_talk import Talk

from ucd_planners.gtp.board import Board
from ucd_planners.presets import ucd

GAMES: dict[str, dict[str, Any]] = {
    "hex": {"size": 4, "swap": True},
    "havannah": {"base": 3, "swap": True},
    "go": {"size": 5, "komi": 0.5, "ko": "situational", "suicide": True},
    "connect_four": {"rows": 4, "columns": 5},
}
COLOURS = ("b", "w", "b", "w", "b", "w", "B", "black", "White", "x", "", "1")
NUMBERS = ("0", "1", "2", "3", "4", "7", "9", "-1", "2.5", "1e3", "nan", "999999999", "9" * 30, "x", "+.5", "\u0663")
TIMES = ("0", "0.02", "0.05", "-1", "-0.5", "+.03", "nan", "inf", "1e9", "x", "")
SIZES = ("3", "4", "5", "5", "4 6", "7 3", "9", "0", "1", "25", "-4", "x", "", "5 5 5")
RULES = ("chinese", "aga", "tromp-taylor", "japanese", '{"ko":"SIMPLE"}', '{"suicide":true}', "{", "[" * 3000, '{"ko":3}', "")
PAIRS = ("interval 1", "maxmoves 2", "maxmoves x", "minmoves 3", "ownership true", "avoid b c3 2", "interval", "5", "x")
KINDS = ("none", "absolute", "canadian", "byoyomi", "fischer", "")
STATUSES = ("alive", "dead", "seki", "lost", "")
RECORDS = (
    "(;GM[1]SZ[5]KM[1.5];B[aa];W[bb];B[cc])",
    "(;GM[1]SZ[4]RU[NZ]AB[aa][bb];W[dd];B[])",
    "(;GM[11]SZ[4];B[a2];W[swap-pieces];B[c3])",
    "(;GM[11]SZ[4];W[b2];B[b2])",
    "(;SZ[5];B[aa]",
    "",
)
NOISE = (*range(1, 10), *range(11, 33), 35, 61, 63, 127, 128, 195, 255)
"""Bytes put into lines: control characters, comments, signs of answers, no UTF-8."""


class Sender:
    """A controller that sends lines by chance: good ones, wrong ones and noise."""

    def __init__(self, seed: int, files: list[Path]) -> None:
        self.draw, self.files = random.Random(seed), files

    def vertex(self) -> str:
        """Returns a point near the board, a column, or a word that may stand for one."""
        if self.draw.random() < 0.2:
            return self.draw.choice(("pass", "PASS", "swap", "Swap", "resign", "i5", "z99", "a", "3", "a0", ""))
        return f"{self.draw.choice('abcdef')}{self.draw.choice(('', '1', '2', '3', '4', '5'))}"

    def line(self) -> bytes:
        """Returns a line without its end."""
        any_of: Callable[[tuple[str, ...]], str] = self.draw.choice
        kinds: dict[str, tuple[int, Callable[[], str]]] = {
            "play": (45, lambda: f"{any_of(COLOURS)} {self.vertex()}"),
            "genmove": (10, lambda: any_of(COLOURS)),
            "undo": (6, str),
            "reg_genmove": (2, lambda: any_of(COLOURS)),
            "kgs-genmove_cleanup": (2, lambda: any_of(COLOURS)),
            "clear_board": (1, str),
            "boardsize": (1, lambda: any_of(SIZES)),
            "komi": (2, lambda: any_of(NUMBERS)),
            "showboard": (1, str),
            "final_score": (1, str),
            "final_status_list": (1, lambda: any_of(STATUSES)),
            "time_settings": (1, lambda: f"{any_of(TIMES)} {any_of(TIMES)} {any_of(NUMBERS)}"),
            "kgs-time_settings": (1, lambda: f"{any_of(KINDS)} {any_of(TIMES)} {any_of(TIMES)} {any_of(NUMBERS)}"),
            "time_left": (2, lambda: f"{any_of(COLOURS)} {any_of(TIMES)} {any_of(NUMBERS)}"),
            "fixed_handicap": (1, lambda: any_of(NUMBERS)),
            "place_free_handicap": (1, lambda: any_of(NUMBERS)),
            "set_free_handicap": (1, lambda: " ".join(self.vertex() for _ in range(self.draw.randrange(5)))),
            "kata-set-rules": (1, lambda: any_of(RULES)),
            "kata-get-rules": (1, str),
            "get_komi": (1, str),
            "loadsgf": (1, lambda: f"{self.draw.choice(self.files)} {any_of((*NUMBERS, '', ''))}"),
            "lz-analyze": (1, lambda: f"{any_of(COLOURS)} {any_of(PAIRS)} {any_of(PAIRS)}"),
            "kata-analyze": (1, lambda: f"{any_of(COLOURS)} {any_of(NUMBERS)} {any_of(PAIRS)}"),
            "kata-genmove_analyze": (1, lambda: f"{any_of(COLOURS)} {any_of(PAIRS)}"),
            "known_command": (1, self.vertex),
            "list_commands": (1, str),
            "gogui-analyze_commands": (1, str),
            "kgs-game_over": (1, str),
            "cputime": (1, str),
            "dance": (1, self.vertex),
            "": (1, str),
        }
        (name,) = self.draw.choices(tuple(kinds), [weight for weight, _ in kinds.values()])
        number = any_of(("", "", "7 ", "007 ", f"{'8' * 40} "))
        line = bytearray(f"{number}{name} {kinds[name][1]()}".encode())
        if self.draw.random() < 0.1:
            for _ in range(self.draw.choice((1, 1, 3, 30))):
                place = self.draw.randrange(len(line) + 1)
                line[place : place + self.draw.choice((0, 1, 4))] = bytes([self.draw.choice(NOISE)])
        if self.draw.random() < 0.01:
            line += b" " + b"a" * self.draw.choice((1000, 70_000))
        return bytes(line)


def number_of(line: bytes) -> str | None:
    """The number that the answer to a line bears, or None for a line that has no answer."""
    text = re.sub(rb"[\x00-\x08\x0a-\x1f\x7f]", b"", line.split(b"#")[0]).replace(b"\t", b" ").decode(errors="replace")
    if not text.strip():
        return None
    return (re.match(r"\s*([0-9]+)(?!\S)", text) or ["", ""])[1]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Records of Go and Hex, some of them damaged, and paths that name none."""
    paths = [tmp_path, tmp_path / "none.sgf", tmp_path / ("x" * 999)]
    for place, record in enumerate(RECORDS):
        paths.append(tmp_path / f"{place}.sgf")
        paths[-1].write_text(record)
    return paths


def talked(game: str, seed: int, count: int, files: list[Path]) -> dict[str, int]:
    """Sends lines to an engine in this process. Returns the number of good answers, of refusals and of moves on the board.

    A refusal leaves the game as it was, and the game is always that of its moves.
    """
    sender, talk = Sender(seed, files), Talk(game, GAMES[game], ucd(playouts=3, seed=seed, reuse_graph=True))
    found = {"=": 0, "?": 0, "moves": 0}
    for _ in range(count):
        line, before = sender.line(), talk.position()
        answer = talk(line)
        number, board = number_of(line), talk.engine.board
        if number is None:
            assert answer == ""
            continue
        assert re.fullmatch(rf"(={number}|\?{number} )[^\n]*\n(?:[^\n]+\n)*\n", answer), (line, answer)
        assert "internal error" not in answer, (line, answer)
        found[answer[0]] += 1
        found["moves"] = max(found["moves"], len(board.moves))
        if answer[0] == "?":
            assert talk.position() == before, line
        else:
            again = Board(game, GAMES[game])
            again.begin(board.rules)
            for move in board.moves:
                again.push(*move)
            assert [state.data for state in again.states] == [state.data for state in board.states]
        if len(board.moves) > 40:
            talk.text("clear_board")
    return found


def piped(game: str, seed: int, count: int, files: list[Path]) -> dict[str, int]:
    """Sends lines to the command at once. Returns the number of good answers and of refusals.

    It ends with `quit` and status 0, each command has one answer, and nothing is complained of.
    """
    sender = Sender(seed, files)
    lines = [sender.line() for _ in range(count)]
    words = [sys.executable, "-m", "ucd_planners.cli", "gtp", "--game", game, "--playouts", "3", "--seed", str(seed)]
    words += [word for key, value in GAMES[game].items() for word in options(key, value)]
    run = subprocess.run(words, input=b"\n".join([*lines, b"99 quit"]), capture_output=True, timeout=PATIENCE)
    assert (run.returncode, run.stderr) == (0, b""), (run.returncode, run.stderr[-2000:])
    answers = run.stdout.decode().split("\n\n")
    assert answers.pop() == ""
    expected = [number for line in lines if (number := number_of(line)) is not None]
    assert [(re.match(r"[=?](\d*)", answer) or ["", None])[1] for answer in answers] == [*expected, "99"]
    assert not [answer for answer in answers if "internal error" in answer]
    return {sign: sum(answer[0] == sign for answer in answers) for sign in "=?"}


def options(key: str, value: int | float | str) -> list[str]:
    """A setting as words of the command."""
    return [f"--{key}"] if value is True else [f"--{key}", str(value)]


@pytest.mark.parametrize("game", ["hex", "havannah", "go"])
def test_a_refusal_changes_nothing_and_moves_make_the_position(game: str, files: list[Path]) -> None:
    found = talked(game, 1, 250, files)
    assert min(found.values()) > 5, found


def test_a_few_hundred_lines_have_their_answers(files: list[Path]) -> None:
    assert min(piped("hex", 2, 300, files).values()) > 50


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_thousands_of_lines_leave_the_game_as_its_moves_made_it(game: str, files: list[Path]) -> None:
    for seed in range(100, 110):
        assert min(talked(game, seed, 300, files).values()) > 1


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_thousands_of_lines_have_their_answers(game: str, files: list[Path]) -> None:
    for seed in range(200, 210):
        assert min(piped(game, seed, 300, files).values()) > 20
