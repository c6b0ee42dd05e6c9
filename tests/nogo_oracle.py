"""NoGo as its rules read, slowly: a board is a string, and every chain is flooded anew.

Points are row * columns + column with row 0 the bottom line; x is Black, who begins, and o is White.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

STONES = "xo"


@cache
def neighbours(rows: int, columns: int) -> tuple[tuple[int, ...], ...]:
    """The points beside each point."""
    found = []
    for point in range(rows * columns):
        row, column = divmod(point, columns)
        near = ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1))
        found.append(tuple(r * columns + c for r, c in near if 0 <= r < rows and 0 <= c < columns))
    return tuple(found)


@dataclass(frozen=True)
class NoGo:
    """A position: rows and columns, the points in a string, and the number of the player to move."""

    rows: int
    columns: int
    board: str
    mover: int = 0

    def breathes(self, board: str, stone: int) -> bool:
        """Whether the chain of a stone has a liberty."""
        beside, chain, edge = neighbours(self.rows, self.columns), {stone}, {stone}
        while edge:
            around = {other for point in edge for other in beside[point]}
            if any(board[other] == "." for other in around):
                return True
            edge = {other for other in around if board[other] == board[stone]} - chain
            chain |= edge
        return False

    def is_legal(self, point: int, player: int) -> bool:
        """Whether a player's stone on a point leaves every chain a liberty."""
        if self.board[point] != ".":
            return False
        after = self.board[:point] + STONES[player] + self.board[point + 1 :]
        near = neighbours(self.rows, self.columns)[point]
        return all(self.breathes(after, stone) for stone in (point, *near) if after[stone] != ".")

    def legal(self, player: int) -> list[int]:
        """The points that are legal for a player, ascending."""
        return [point for point in range(len(self.board)) if self.is_legal(point, player)]

    def after(self, point: int) -> NoGo:
        """The position after the mover's stone."""
        board = self.board[:point] + STONES[self.mover] + self.board[point + 1 :]
        return NoGo(self.rows, self.columns, board, 1 - self.mover)

    def playout(self, choice: random.Random) -> tuple[int, list[int]]:
        """The winner and the moves of a random game."""
        position, moves = self, []
        while legal := position.legal(position.mover):
            moves.append(choice.choice(legal))
            position = position.after(moves[-1])
        return 1 - position.mover, moves


def start(rows: int, columns: int) -> NoGo:
    """The empty board."""
    return NoGo(rows, columns, "." * (rows * columns))


def perft(position: NoGo, depth: int) -> int:
    """Number of sequences of so many moves."""
    if depth == 0:
        return 1
    return sum(perft(position.after(point), depth - 1) for point in position.legal(position.mover))
