"""Go as its rules read, slowly: a board is a string, chains are flooded anew, and the whole history is kept.

Points are row * columns + column with row 0 the bottom line; x is Black, who is player 0, and o is White.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

STONES = "xo"


@cache
def near(rows: int, columns: int) -> list[list[int]]:
    """The points beside each point."""
    return _steps(rows, columns, [(-1, 0), (1, 0), (0, -1), (0, 1)])


@cache
def across(rows: int, columns: int) -> list[list[int]]:
    """The points diagonally beside each point."""
    return _steps(rows, columns, [(-1, -1), (-1, 1), (1, -1), (1, 1)])


def _steps(rows: int, columns: int, steps: list[tuple[int, int]]) -> list[list[int]]:
    found = []
    for row in range(rows):
        for column in range(columns):
            ends = [(row + up, column + right) for up, right in steps]
            found.append([r * columns + c for r, c in ends if 0 <= r < rows and 0 <= c < columns])
    return found


@dataclass(frozen=True)
class Go:
    """One configuration: the size and the rules that differ from place to place. A pass is the action after the points."""

    rows: int
    columns: int
    komi: Fraction = Fraction(15, 2)
    ko: str = "simple"
    suicide: bool = False
    longest: int = 10**6

    @property
    def points(self) -> int:
        """Number of points, and the action that is a pass."""
        return self.rows * self.columns

    def chain(self, board: str, point: int) -> tuple[set[int], set[int]]:
        """The stones joined to a stone, and the empty points beside them."""
        around = near(self.rows, self.columns)
        stones, liberties, todo = {point}, set(), [point]
        while todo:
            for other in around[todo.pop()]:
                if board[other] == ".":
                    liberties.add(other)
                elif board[other] == board[point] and other not in stones:
                    stones.add(other)
                    todo.append(other)
        return stones, liberties

    def put(self, board: str, point: int, player: int) -> tuple[str, set[int], set[int]]:
        """The board after a stone: enemy chains without liberties leave it first, then the stone's own; and both sets."""
        around = near(self.rows, self.columns)
        board = board[:point] + STONES[player] + board[point + 1 :]
        taken: set[int] = set()
        for other in around[point]:
            if board[other] == STONES[1 - player]:
                stones, liberties = self.chain(board, other)
                if not liberties:
                    taken |= stones
        board = without(board, taken)
        stones, liberties = self.chain(board, point)
        lost = set() if liberties else stones
        return without(board, lost), taken, lost

    def area(self, board: str) -> int:
        """Black's stones and the empty regions that border black stones only, less White's: breadth first, to the last."""
        around, seen = near(self.rows, self.columns), set()
        total = board.count("x") - board.count("o")
        for first in range(self.points):
            if board[first] == "." and first not in seen:
                region, borders, queue = {first}, set(), deque([first])
                while queue:
                    for other in around[queue.popleft()]:
                        if board[other] != ".":
                            borders.add(board[other])
                        elif other not in region:
                            region.add(other)
                            queue.append(other)
                seen |= region
                if len(borders) == 1:
                    total += len(region) if borders == {"x"} else -len(region)
        return total

    def is_eye(self, board: str, point: int, player: int) -> bool:
        """Whether an empty point is a true eye: all neighbours own, fewer than two enemies diagonally, at the border none."""
        if any(board[other] != STONES[player] for other in near(self.rows, self.columns)[point]):
            return False
        diagonals = across(self.rows, self.columns)[point]
        enemies = sum(board[other] == STONES[1 - player] for other in diagonals)
        return enemies < (2 if len(diagonals) == 4 else 1)

    def start(self, black: Iterable[int] = (), white: Iterable[int] = (), first: int = 0) -> Position:
        """The position before the first move, with set-up stones."""
        black, white = set(black), set(white)
        board = "".join("x" if point in black else "o" if point in white else "." for point in range(self.points))
        return self.set_up(board, first)

    def set_up(self, board: str, first: int = 0) -> Position:
        """The position before the first move, on a given board."""
        return Position(self, board, first, frozenset())


def without(board: str, points: set[int]) -> str:
    """The board with these points empty."""
    return "".join("." if point in points else mark for point, mark in enumerate(board)) if points else board


@dataclass(frozen=True)
class Position:
    """A position with all that has been: `moved` holds every earlier board together with the player who moved on it.

    Any player may be set to move. Only the enemy of the stone that has captured at a ko is kept from its point.
    """

    go: Go
    board: str
    mover: int
    moved: frozenset[tuple[str, int]]
    ply: int = 0
    passes: int = 0
    forbidden: int | None = None
    captor: int | None = None

    @property
    def past(self) -> frozenset[tuple[str, int]]:
        """All boards and movers so far, the present ones with them."""
        return self.moved | {(self.board, self.mover)}

    def turned(self, player: int) -> Position:
        """The same position with this player to move: nobody has moved on it yet."""
        return replace(self, mover=player)

    def has_been(self, board: str, mover: int) -> bool:
        """Whether this player has moved, or is to move, on a board."""
        return (board, mover) in self.moved or (board, mover) == (self.board, self.mover)

    @property
    def over(self) -> bool:
        """Two passes in a row or as many plies as there may be."""
        return self.passes == 2 or self.ply >= self.go.longest

    def is_legal(self, action: int) -> bool:
        """Whether the mover may do this."""
        if self.over:
            return False
        if action == self.go.points:
            return True
        if self.board[action] != "." or (action == self.forbidden and self.mover != self.captor):
            return False
        board, _, lost = self.go.put(self.board, action, self.mover)
        if lost and not self.go.suicide:
            return False
        if self.go.ko == "positional":
            return not (self.has_been(board, 0) or self.has_been(board, 1))
        return self.go.ko == "simple" or not self.has_been(board, 1 - self.mover)

    def legal_actions(self) -> list[int]:
        """All of these, ascending."""
        return [action for action in range(self.go.points + 1) if self.is_legal(action)]

    def after(self, action: int) -> Position:
        """The position after a legal move."""
        board, passes, forbidden = self.board, self.passes + 1, None
        if action < self.go.points:
            board, taken, lost = self.go.put(board, action, self.mover)
            passes = 0
            stones, liberties = ({action}, set()) if lost else self.go.chain(board, action)
            if self.go.ko == "simple" and len(taken) == 1 and stones == {action} and liberties == taken:
                forbidden = min(taken)
        found = replace(self, board=board, mover=1 - self.mover, moved=self.past, ply=self.ply + 1, passes=passes)
        return replace(found, forbidden=forbidden, captor=self.mover)

    def score(self) -> Fraction:
        """Black's area less White's and less the komi."""
        return self.go.area(self.board) - self.go.komi

    def sensible(self) -> list[int]:
        """What a playout chooses from: legal moves that change the board and fill no true eye of the mover, or else a pass."""
        points = [point for point in range(self.go.points) if self.is_legal(point) and self.after(point).board != self.board]
        kept = [point for point in points if not self.go.is_eye(self.board, point, self.mover)]
        return kept or ([] if self.over else [self.go.points])

    def playout(self, choice: random.Random) -> Position:
        """The end of a game of such moves."""
        position = self
        while not position.over:
            position = position.after(choice.choice(position.sensible()))
        return position


def perft(position: Position, depth: int) -> int:
    """Number of sequences of so many legal moves, or fewer when the game is over."""
    if depth == 0 or position.over:
        return 1
    return sum(perft(position.after(action), depth - 1) for action in position.legal_actions())
