"""Hexagonal boards of hexagonal cells: their geometry, and the stones that make a ring, a bridge or a fork."""

from __future__ import annotations

from collections import deque
from itertools import combinations

Cell = tuple[int, int]
"""x and y."""
STEPS = ((1, 0), (1, 1), (0, 1), (-1, 0), (-1, -1), (0, -1))
"""To the six neighbours, going around."""
AROUND = ((-1, -1), (0, -1), (-1, 0), (0, 0), (1, 0), (0, 1), (1, 1))
"""Steps that belong to the bits of a set of neighbours; the fourth is the cell itself."""
GOING_AROUND = tuple(AROUND.index(step) for step in STEPS)
"""The bits of the neighbours, going around."""


def cells_of(base: int) -> list[Cell]:
    """The cells of a board row by row, y and in each row x ascending: 0 <= x, y < 2 base - 1, |x - y| < base."""
    side = range(2 * base - 1)
    return [(x, y) for y in side for x in side if abs(x - y) < base]


def edges_at(base: int, cell: Cell) -> list[int]:
    """Which of the six edges, numbered going around, a cell lies on: two for a corner."""
    (x, y), last = cell, 2 * base - 2
    on = (y == 0, x - y == base - 1, x == last, y == last, y - x == base - 1, x == 0)
    return [edge for edge in range(6) if on[edge]]


def marks_of(base: int, cell: Cell) -> int:
    """The corner that a cell is, in bits 0 to 5, or the edge that it lies on, in bits 6 to 11, where corners are on none."""
    on = edges_at(base, cell)
    if len(on) == 2:
        return 1 << (5 if on == [0, 5] else on[0])
    return 1 << 6 + on[0] if on else 0


def neighbours(cell: Cell) -> list[Cell]:
    """The six cells around one, going around; some may be off the board."""
    return [(cell[0] + x, cell[1] + y) for x, y in STEPS]


def arcs_of(around: int) -> tuple[list[int], int]:
    """The unbroken lines that a set of neighbours forms, the first bit of each; and the set of those between two others."""
    own = [around >> bit & 1 for bit in GOING_AROUND]
    heads = [bit for i, bit in enumerate(GOING_AROUND) if own[i] and not own[i - 1]]
    inner = sum(1 << bit for i, bit in enumerate(GOING_AROUND) if own[i - 1] and own[i] and own[(i + 1) % 6])
    return heads or list(GOING_AROUND[: own[0]]), inner


def shape(kind: str, base: int, stones: set[Cell], last: Cell) -> list[Cell]:
    """Some of a player's stones, the last one among them, which are a "ring", "bridge" or "fork" that it has made."""
    if kind == "ring":
        return ring_through(stones, last)
    bits, count = (range(6), 2) if kind == "bridge" else (range(6, 12), 3)
    goals = [{cell for cell in stones if marks_of(base, cell) >> bit & 1} for bit in bits]
    return tree_through(stones, last, goals, count)


def ring_through(stones: set[Cell], last: Cell) -> list[Cell]:
    """Cells of a shortest loop of stones around a cell through the last stone, which has closed a ring."""
    for middle in neighbours(last):
        if middle in stones and stones.issuperset(neighbours(middle)):
            return neighbours(middle)
    around = neighbours(last)
    own = [cell in stones for cell in around]
    heads = [around[i] for i in range(6) if own[i] and not own[i - 1]]
    ways = [way_to(stones - {last}, first, {second}) for first, second in combinations(heads, 2)]
    return [last, *min((way for way in ways if way), key=len)]


def tree_through(stones: set[Cell], last: Cell, goals: list[set[Cell]], count: int) -> list[Cell]:
    """Cells of shortest ways from the last stone to the nearest `count` of the goals that its chain reaches."""
    ways = sorted((way for goal in goals if (way := way_to(stones, last, goal))), key=len)
    return sorted({cell for way in ways[:count] for cell in way})


def way_to(stones: set[Cell], start: Cell, goal: set[Cell]) -> list[Cell]:
    """A shortest way over stones from one to any of a goal; empty if there is none."""
    before = {start: start}
    waiting = deque(before)
    while waiting:
        cell = waiting.popleft()
        if cell in goal:
            way = [cell]
            while before[cell] != cell:
                cell = before[cell]
                way.append(cell)
            return way
        for other in neighbours(cell):
            if other in stones and other not in before:
                before[other] = cell
                waiting.append(other)
    return []
