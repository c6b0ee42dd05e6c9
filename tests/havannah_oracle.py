"""Havannah as its rules read, slowly: stones are sets of cells, and chains and outsides are flooded anew after every stone.

A board with base n has the cells (x, y) with 0 <= x, y <= 2n - 2 and |x - y| < n. Around a cell lie (x +- 1, y), (x, y +- 1),
(x + 1, y + 1) and (x - 1, y - 1). An action is the place of a cell in the list of all cells, row y by row, and the swap is
the action after them.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cache, cached_property

Cell = tuple[int, int]
KINDS = ("ring", "bridge", "fork")
"""What a player may win with, in the order of their names here."""


@cache
def around(cell: Cell) -> tuple[Cell, ...]:
    """The six cells beside a cell, clockwise, on the board or not."""
    x, y = cell
    return ((x + 1, y), (x + 1, y + 1), (x, y + 1), (x - 1, y), (x - 1, y - 1), (x, y - 1))


def flood(sources: Iterable[Cell], ground: AbstractSet[Cell]) -> set[Cell]:
    """The cells of `ground` that can be walked to from the sources, which count themselves, over cells of `ground` only."""
    reached = set(sources)
    todo = list(reached)
    while todo:
        for cell in around(todo.pop()):
            if cell in ground and cell not in reached:
                reached.add(cell)
                todo.append(cell)
    return reached


def chains(stones: AbstractSet[Cell]) -> list[set[Cell]]:
    """The stones of one player, parted into those that are joined."""
    found, rest = [], set(stones)
    while rest:
        found.append(flood([min(rest)], stones))
        rest -= found[-1]
    return found


@dataclass(frozen=True)
class Board:
    """The hexagon of one base."""

    base: int

    @cached_property
    def cells(self) -> list[Cell]:
        """All cells in the order of their actions."""
        side = range(2 * self.base - 1)
        return [(x, y) for y in side for x in side if abs(x - y) < self.base]

    @cached_property
    def action(self) -> dict[Cell, int]:
        """The action of each cell."""
        return {cell: action for action, cell in enumerate(self.cells)}

    @cached_property
    def lines(self) -> list[set[Cell]]:
        """The six border lines with their ends."""
        last = 2 * self.base - 2
        return [
            {(x, y) for x, y in self.cells if y == 0},
            {(x, y) for x, y in self.cells if x - y == self.base - 1},
            {(x, y) for x, y in self.cells if x == last},
            {(x, y) for x, y in self.cells if y == last},
            {(x, y) for x, y in self.cells if y - x == self.base - 1},
            {(x, y) for x, y in self.cells if x == 0},
        ]

    @cached_property
    def corners(self) -> set[Cell]:
        """The six cells where two lines meet."""
        return {cell for cell in self.cells if sum(cell in line for line in self.lines) == 2}

    @cached_property
    def edges(self) -> list[set[Cell]]:
        """The six lines without their corners, which belong to no edge."""
        return [line - self.corners for line in self.lines]

    @cached_property
    def outside(self) -> set[Cell]:
        """The cells just beyond the border."""
        on = set(self.cells)
        return {cell for inner in self.cells for cell in around(inner)} - on

    @cached_property
    def wide(self) -> set[Cell]:
        """The board and the cells just beyond its border."""
        return set(self.cells) | self.outside

    def enclosed(self, chain: AbstractSet[Cell]) -> set[Cell]:
        """The cells, of the chain or not, that a chain encloses.

        Who stands outside walks over all cells that are not of the chain. Out of reach stay the cells that the chain encloses,
        and of its own stones those that are not even touched: such a stone could be taken away and would not be reached. Around
        a cell lie six, so fewer stones enclose nothing.
        """
        if len(chain) < 6:
            return set()
        walked = flood(self.outside, self.wide - chain)
        return {cell for cell in self.cells if cell not in walked and not any(other in walked for other in around(cell))}

    def kinds_of_chain(self, chain: AbstractSet[Cell]) -> tuple[str, ...]:
        """What a chain is, in the order of KINDS; nothing for most chains."""
        ring = bool(self.enclosed(chain))
        bridge = len(self.corners & chain) >= 2
        fork = sum(bool(edge & chain) for edge in self.edges) >= 3
        return tuple(kind for kind, made in zip(KINDS, (ring, bridge, fork), strict=True) if made)

    def kinds(self, stones: AbstractSet[Cell]) -> tuple[str, ...]:
        """What the chains of some stones are, together."""
        made = {kind for chain in chains(stones) for kind in self.kinds_of_chain(chain)}
        return tuple(kind for kind in KINDS if kind in made)

    def start(self, swap: bool = False) -> Position:
        """The empty board."""
        return Position(self, swap, (frozenset(), frozenset()))


@cache
def board(base: int) -> Board:
    """The board of a base, whose lists are made once."""
    return Board(base)


@dataclass(frozen=True)
class Position:
    """A position: the stones of both players, who is to move, and what the last stone made."""

    board: Board
    swap: bool
    stones: tuple[frozenset[Cell], frozenset[Cell]]
    mover: int = 0
    ply: int = 0
    made: tuple[str, ...] = ()

    @property
    def over(self) -> bool:
        """Whether the last stone has made something, or the board is full."""
        return bool(self.made) or len(self.stones[0]) + len(self.stones[1]) == len(self.board.cells)

    @property
    def payoffs(self) -> list[float]:
        """1 and 0 for who placed the last stone and the other, 1/2 each where it made nothing."""
        winner = 1 - self.mover
        return [float(player == winner) for player in range(2)] if self.made else [0.5, 0.5]

    def turned(self, player: int) -> Position:
        """The same position with this player to move."""
        return replace(self, mover=player)

    def legal_actions(self) -> list[int]:
        """All legal actions, ascending."""
        if self.over:
            return []
        taken = self.stones[0] | self.stones[1]
        swap = [len(self.board.cells)] if self.swap and self.ply == 1 and self.stones[1 - self.mover] else []
        return [action for action, cell in enumerate(self.board.cells) if cell not in taken] + swap

    def after(self, action: int) -> Position:
        """The position after a legal action."""
        first, second = self.stones
        if action == len(self.board.cells):
            return replace(self, stones=(second, first), mover=1 - self.mover, ply=2)
        cell = self.board.cells[action]
        own = self.stones[self.mover] | {cell}
        stones = (own, second) if self.mover == 0 else (first, own)
        made = self.board.kinds_of_chain(flood([cell], own))
        return replace(self, stones=stones, mover=1 - self.mover, ply=self.ply + 1, made=made)


def perft(position: Position, depth: int) -> int:
    """Number of sequences of so many legal moves, or fewer when the game is over."""
    if depth == 0 or position.over:
        return 1
    return sum(perft(position.after(action), depth - 1) for action in position.legal_actions())
