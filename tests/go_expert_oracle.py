"""An expert's Go move by move, slowly: chains are flooded anew, and patterns are matched sign by sign.

The figures of the paper are drawn here a second time, in its own notation: X and O are the colours, x is X or empty, o is O or
empty, ? is any point of the board, # lies outside, and a B or W behind a figure says that only X or only O may move there.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

from go_oracle import STONES, Position, near

HANE = ("XOX ... ???", "XO. ... ?.?", "XO? X.. ?.?", "XOO ... ?.? B")
CUT = "XO? O.? ???"
NO_CUT = ("XO? O.O ?.?", "XO? O.. ?O?")
PUSH = "?X? O.O xxx"
SIDE = ("X.? O.? ###", "?X? o.O ###", "?XO ?.? ### B", "?XO ?.o ### W", "?XO O.X ### W")
SIGNS = {"X": "X", "O": "O", ".": ".", "x": "X.", "o": "O.", "?": "XO.", "#": "#"}
Square = tuple[str, str, str]
"""Three lines of three signs, the upper one first."""


def symmetries(square: Square) -> Iterator[Square]:
    """The square turned and mirrored."""
    for _ in range(4):
        first, second, third = ("".join(column) for column in zip(*square[::-1], strict=True))
        square = first, second, third
        yield square
        yield third, second, first


def fits(square: Square, figure: str) -> bool:
    """Whether a figure holds as it is drawn, whoever moves; what is in its middle is the move."""
    drawn = "".join(figure.split()[:3])
    return all(mark in SIGNS[sign] for place, (mark, sign) in enumerate(zip("".join(square), drawn, strict=True)) if place != 4)


def views(square: Square, mover: str) -> Iterator[tuple[Square, str]]:
    """The square and its mover, X or O, turned, mirrored and with the colours swapped."""
    for turned in symmetries(square):
        yield turned, mover
        swapped = "/".join(turned).translate(str.maketrans("XO", "OX")).split("/")
        yield (swapped[0], swapped[1], swapped[2]), "XO"[mover == "X"]


def is_pattern(square: Square, mover: str) -> bool:
    """Whether the middle of a square is a move of a pattern for X or O."""
    return matches(*min(views(square, mover)))


@cache
def matches(square: Square, mover: str) -> bool:
    """As `is_pattern`, for one of the views of a square."""
    for view, player in views(square, mover):
        for figure in (*HANE, PUSH, *SIDE):
            wanted = {"B": "X", "W": "O"}.get(figure[-1], player)
            if player == wanted and fits(view, figure):
                return True
        if fits(view, CUT) and not any(fits(view, figure) for figure in NO_CUT):
            return True
    return False


class Expert:
    """What may be played at a position after a move, None for none, and what is thought of every move."""

    def __init__(self, position: Position, last: int | None, before: int | None = None) -> None:
        self.position, self.board, self.go = position, position.board, position.go
        self.own, self.enemy = STONES[position.mover], STONES[1 - position.mover]
        self.last, self.before = (None if move == self.go.points else move for move in (last, before))
        self.beside = near(self.go.rows, self.go.columns)

    def around(self, point: int, reach: int = 1) -> list[int]:
        """The points of the square round a point, itself among them."""
        row, column = divmod(point, self.go.columns)
        rows, columns = range(row - reach, row + reach + 1), range(column - reach, column + reach + 1)
        inside = ((r, c) for r in rows for c in columns if 0 <= r < self.go.rows and 0 <= c < self.go.columns)
        return [r * self.go.columns + c for r, c in inside]

    def plays(self, point: int) -> bool:
        """Whether the random policy may put a stone there."""
        position = self.position
        if self.board[point] != "." or not position.is_legal(point) or self.go.is_eye(self.board, point, position.mover):
            return False
        return position.after(point).board != self.board

    def in_atari(self, colour: str) -> list[tuple[set[int], int]]:
        """The stones and the liberty of every chain of a colour that has one."""
        found, seen = [], set[int]()
        for point, mark in enumerate(self.board):
            if mark == colour and point not in seen:
                stones, liberties = self.go.chain(self.board, point)
                seen |= stones
                if len(liberties) == 1:
                    found.append((stones, min(liberties)))
        return found

    def sacrificed(self, point: int) -> int:
        """How many stones a stone on an empty point leaves in atari or dead, 0 where it takes something."""
        taken = self.go.put(self.board, point, self.position.mover)[1]
        if taken:
            return 0
        stones, liberties = self.go.chain(self.board[:point] + self.own + self.board[point + 1 :], point)
        return len(stones) if len(liberties) < 2 else 0

    def captures(self) -> set[int]:
        """Of the last move's chain."""
        return {liberty for stones, liberty in self.in_atari(self.enemy) if self.last in stones and self.plays(liberty)}

    def all_captures(self) -> set[int]:
        """Of chains anywhere."""
        return {liberty for _, liberty in self.in_atari(self.enemy) if self.plays(liberty)}

    def saving(self, zone: set[int] | None = None) -> set[int]:
        """Where a stone saves an own chain anywhere, or one with a stone in a zone."""
        found = set()
        for stones, liberty in self.in_atari(self.own):
            if zone is None or stones & zone:
                if self.sacrificed(liberty) == 0:
                    found.add(liberty)
                touched = {other for stone in stones for other in self.beside[stone]}
                found |= {there for others, there in self.in_atari(self.enemy) if others & touched}
        return found

    def escapes(self) -> set[int]:
        """Of chains beside the last move."""
        return set() if self.last is None else set(filter(self.plays, self.saving(set(self.beside[self.last]))))

    def is_shape(self, point: int) -> bool:
        """Whether an empty point is the middle of a pattern."""
        row, column = divmod(point, self.go.columns)
        upper, middle, lower = (self.signs(row + up, column) for up in (1, 0, -1))
        return is_pattern((upper, middle, lower), "XO"[self.position.mover])

    def signs(self, row: int, column: int) -> str:
        """What is at a place, which may lie outside, and to its left and right."""
        places = ((row, column + right) for right in (-1, 0, 1))
        inside = range(self.go.rows), range(self.go.columns)
        marks = (self.board[r * self.go.columns + c] if r in inside[0] and c in inside[1] else "#" for r, c in places)
        return "".join(marks).upper()

    def patterns(self, refuses_self_atari: bool = True) -> set[int]:
        """Around the last move."""
        found = [] if self.last is None else [point for point in self.around(self.last) if point != self.last]
        shapes = {point for point in found if self.board[point] == "." and self.is_shape(point) and self.plays(point)}
        return {point for point in shapes if not refuses_self_atari or self.sacrificed(point) < 2}

    def moves(self) -> set[int]:
        """All that the whole policy may play; empty where it leaves the move to the game."""
        return self.captures() or self.escapes() or self.patterns() or self.all_captures()

    def nearness(self, point: int, move: int | None) -> Fraction:
        """1 within a point of a move, 1/2 within two."""
        if move is None:
            return Fraction(0)
        return Fraction(1) if point in self.around(move) else Fraction(int(point in self.around(move, 2)), 2)

    def remoteness(self, point: int) -> Fraction:
        """1 on the first line and 1/2 on the second, with no stone around."""
        if any(self.board[other] != "." for other in self.around(point)):
            return Fraction(0)
        row, column = divmod(point, self.go.columns)
        line = min(row, column, self.go.rows - 1 - row, self.go.columns - 1 - column)
        return Fraction(1, line + 1) if line < 2 else Fraction(0)

    def prior(self, action: int, strengths: dict[str, Fraction]) -> tuple[Fraction, Fraction]:
        """The virtual playouts of a legal move and those that are won."""
        won, lost = Fraction(0), Fraction(0)
        if action == self.go.points:
            lost += strengths["eyes"] * any(map(self.plays, range(self.go.points)))
        else:
            won += strengths["captures"] * any(there == action for _, there in self.in_atari(self.enemy))
            won += strengths["escapes"] * (action in self.saving())
            won += strengths["patterns"] * self.is_shape(action)
            won += strengths["near"] * (self.nearness(action, self.last) + self.nearness(action, self.before) / 2)
            lost += strengths["self_ataris"] * (self.sacrificed(action) > 1)
            lost += strengths["eyes"] * (not self.plays(action))
            lost += strengths["edges"] * self.remoteness(action)
        return strengths["even"] + won + lost, strengths["even"] / 2 + won
