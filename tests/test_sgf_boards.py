"""Boards of records with skipped turns, handicaps as moves and setups in the middle, compared with other programs' boards."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sgfmill import boards
from test_go_records import DAME, PASSES
from test_sgf import LONG_LIFE, POSITIONAL_SUPERKO, SIMPLE_KO, TRIPLE_KO

from ucd_envs import pictures
from ucd_envs.formats import sgf
from ucd_planners.gtp.client import GAMES_FOLDER

Point = tuple[int, int]
"""Column and row, both from the top left."""
Board = dict[Point, str]
"""Colour letters of the stones."""
Kind = Callable[[random.Random, int], Iterator[str]]


ADD = ("AB", "AW", "AE")
FIRST = ord("a")


def any_point(chance: random.Random, size: int) -> str:
    return "".join("abcdefghijklmnopqrs"[chance.randrange(size)] for _ in range(2))


def in_turn(chance: random.Random, size: int) -> Iterator[str]:
    """Moves in turn, and a pass now and then."""
    for number in range(chance.randrange(60)):
        yield f";{'BW'[number % 2]}[{any_point(chance, size) if chance.random() < 0.95 else ''}]"


def free_handicap(chance: random.Random, size: int) -> Iterator[str]:
    """Black's stones one after the other, then moves in turn."""
    for _ in range(chance.randrange(2, 6)):
        yield f";B[{any_point(chance, size)}]"
    for number in range(chance.randrange(40)):
        yield f";{'WB'[number % 2]}[{any_point(chance, size)}]"


def skipped(chance: random.Random, size: int) -> Iterator[str]:
    """Moves of which any was dropped, and passes among them."""
    for number in range(chance.randrange(60)):
        if chance.random() < 0.8:
            yield f";{'BW'[number % 2]}[{any_point(chance, size) if chance.random() < 0.85 else 'tt'}]"


def set_up(chance: random.Random, size: int) -> Iterator[str]:
    """Moves in turn with setups among them, then a move."""
    for number in range(chance.randrange(40)):
        if chance.random() < 0.15:
            yield f";{chance.choice(('AB', 'AW', 'AE'))}[{any_point(chance, size)}][{any_point(chance, size)}]"
        yield f";{'BW'[number % 2]}[{any_point(chance, size)}]"


def edited(chance: random.Random, size: int) -> Iterator[str]:
    """Anything of that."""
    for node in [*free_handicap(chance, size), *set_up(chance, size), *skipped(chance, size)]:
        yield node
        if chance.random() < 0.1:
            yield f";PL[{chance.choice('BW')}]"


KINDS: tuple[Kind, ...] = (in_turn, free_handicap, skipped, set_up, edited)


def generated(seed: int, kind: Kind, removals: bool = True) -> str:
    """A record that can be played: nodes that would make it illegal are left out.

    GNU Go ignores stones set up on other stones and, with AE, taken off.
    """
    chance = random.Random(f"{kind.__name__} {seed}")
    size = chance.choice((3, 5, 9, 13))
    found = f"(;GM[1]SZ[{size}]KM[0.5]"
    for node in kind(chance, size):
        (name, points), *_ = nodes(found + node)[-1:]
        if (name in ("AB", "AW") and {*points} & {*loaded(found + ")")}) or (name == "AE" and not removals):
            continue
        try:
            sgf.load(found + node + ";B[])")  # a setup in the last node may be a mark for the count
        except ValueError:
            continue
        found += node
    return found + ";B[])"


def loaded(text: str) -> Board:
    """The board after the last move, as we read it."""
    state = sgf.load(text).state
    rows, columns = state.rules.planes[:2]
    owners = pictures.stones(state)
    return {
        (column, rows - 1 - row): "bw"[owners[row, column] - 1]
        for row in range(rows)
        for column in range(columns)
        if owners[row, column]
    }


def nodes(text: str) -> list[tuple[str, list[Point]]]:
    """Names of the properties after the root, each with the points of its values. A pass has none."""
    found = []
    for node in text.removesuffix(")").split(";")[2:]:
        name, *values = node.replace("]", "").split("[")
        points = [value for value in values if value not in ("", "tt") and name != "PL"]
        found.append((name, [(ord(value[0]) - FIRST, ord(value[1]) - FIRST) for value in points]))
    return found


def by_sgfmill(text: str) -> Board:
    """The board by sgfmill, which plays any colour at any time and knows neither turns nor ko."""
    size = int(text.partition("SZ[")[2].partition("]")[0])
    board = boards.Board(size)
    for name, points in nodes(text):
        flipped = [(size - 1 - row, column) for column, row in points]
        for row, column in flipped if name in ("B", "W") else []:
            board.play(row, column, name.lower())
        if name in ADD:
            assert board.apply_setup(*(flipped if name == this else [] for this in ADD))
    return {(column, size - 1 - row): colour for colour, (row, column) in board.list_occupied_points()}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_another_board_has_the_same_stones(kind: Kind) -> None:
    """F2-42, F2-43."""
    stones = 0
    for seed in range(12):
        text = generated(seed, kind)
        assert loaded(text) == by_sgfmill(text), text
        stones += len(loaded(text))
    assert stones > 60


class GnuGo:
    """The program, which loads files and lists stones."""

    def __init__(self, path: Path) -> None:
        self.path = path
        program = shutil.which("gnugo", path=os.environ["PATH"] + os.pathsep + GAMES_FOLDER)
        assert program, "these tests need the program gnugo"
        self.process = subprocess.Popen([program, "--mode", "gtp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, command: str) -> str:
        """The answer to a command."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        lines = list(iter(self.process.stdout.readline, "\n"))
        assert lines[0].startswith("=")
        return "".join(lines)[1:].strip()

    def board(self, text: str) -> Board:
        """The board after the last move."""
        self.path.write_text(text)
        self.ask(f"loadsgf {self.path}")
        size = int(self.ask("query_boardsize"))
        found = {}
        for colour in ("black", "white"):
            for name in self.ask(f"list_stones {colour}").split():
                found["ABCDEFGHJKLMNOPQRST".index(name[0]), size - int(name[1:])] = colour[0]
        return found


@pytest.fixture
def gnugo(tmp_path: Path) -> Iterator[GnuGo]:
    program = GnuGo(tmp_path / "game.sgf")
    yield program
    program.ask("quit")
    program.process.wait()


@pytest.mark.gnugo
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_gnugo_has_the_same_stones(gnugo: GnuGo, kind: Kind) -> None:
    """F2-42, F2-43: 40 records of each kind."""
    for seed in range(100, 140):
        text = generated(seed, kind, removals=False)
        assert loaded(text) == gnugo.board(text), text


@pytest.mark.gnugo
@pytest.mark.parametrize("text", [DAME, PASSES, SIMPLE_KO, LONG_LIFE, TRIPLE_KO, POSITIONAL_SUPERKO])
def test_gnugo_has_the_same_stones_in_recorded_games(gnugo: GnuGo, text: str) -> None:
    assert loaded(text) == gnugo.board(text)
