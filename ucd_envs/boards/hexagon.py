"""Hexagonal boards of hexagonal cells: their geometry, and the stones that form a ring, a bridge or a fork."""

from __future__ import annotations

from collections import deque
from itertools import combinations

Cell = tuple[int, int]
"""Coordinates (x, y) of a cell."""
STEPS = ((1, 0), (1, 1), (0, 1), (-1, 0), (-1, -1), (0, -1))
"""Steps to the six neighbours, in circular order."""
AROUND = ((-1, -1), (0, -1), (-1, 0), (0, 0), (1, 0), (0, 1), (1, 1))
"""Steps of the bits in a set of neighbours. The fourth is the cell itself."""
GOING_AROUND = tuple(AROUND.index(step) for step in STEPS)
"""Bits of the six neighbours, in circular order."""


def cells_of(base: int) -> list[Cell]:
    """Returns the cells of a board row by row, y ascending and x ascending in each row: 0 <= x, y < 2 base - 1, |x - y| <
    base."""
    side = range(2 * base - 1)
    return [(x, y) for y in side for x in side if abs(x - y) < base]


def images_of(base: int) -> list[list[int]]:
    """Returns the images of all cells under the twelve symmetries of the board: six turns, then the same after a mirroring.

    The first one is the identity.
    """
    grid, middle = cells_of(base), base - 1
    number, found = {cell: place for place, cell in enumerate(grid)}, []
    for mirrored in (False, True):
        images = [(y, x) if mirrored else (x, y) for x, y in grid]
        for _ in range(6):
            found.append([number[image] for image in images])
            # A turn by a sixth about the middle takes the step (1, 0) to (1, 1), and (1, 1) to (0, 1).
            images = [(x - y + middle, x) for x, y in images]
    return found


def edges_at(base: int, cell: Cell) -> list[int]:
    """Returns which of the six edges, numbered in circular order, a cell lies on: two for a corner."""
    (x, y), last = cell, 2 * base - 2
    on = (y == 0, x - y == base - 1, x == last, y == last, y - x == base - 1, x == 0)
    return [edge for edge in range(6) if on[edge]]


def marks_of(base: int, cell: Cell) -> int:
    """Returns a cell's corner in bits 0 to 5, or its edge in bits 6 to 11. A corner belongs to no edge."""
    on = edges_at(base, cell)
    if len(on) == 2:
        return 1 << (5 if on == [0, 5] else on[0])
    return 1 << 6 + on[0] if on else 0


def neighbours(cell: Cell) -> list[Cell]:
    """Returns the six cells around a cell, in circular order. Some may be off the board."""
    return [(cell[0] + x, cell[1] + y) for x, y in STEPS]


def arcs_of(around: int) -> tuple[list[int], int]:
    """Returns the first bit of each unbroken run in a set of neighbours, and the set of those that lie between two others."""
    own = [around >> bit & 1 for bit in GOING_AROUND]
    heads = [bit for i, bit in enumerate(GOING_AROUND) if own[i] and not own[i - 1]]
    inner = sum(1 << bit for i, bit in enumerate(GOING_AROUND) if own[i - 1] and own[i] and own[(i + 1) % 6])
    return heads or list(GOING_AROUND[: own[0]]), inner


def shape(kind: str, base: int, stones: set[Cell], last: Cell) -> list[Cell]:
    """Returns stones of a player that form the "ring", "bridge" or "fork" made by the last one, which is among them."""
    if kind == "ring":
        return ring_through(stones, last)
    bits, count = (range(6), 2) if kind == "bridge" else (range(6, 12), 3)
    goals = [{cell for cell in stones if marks_of(base, cell) >> bit & 1} for bit in bits]
    return tree_through(stones, last, goals, count)


def ring_through(stones: set[Cell], last: Cell) -> list[Cell]:
    """Returns the cells of a shortest ring through the last stone, which has closed it."""
    for middle in neighbours(last):
        if middle in stones and stones.issuperset(neighbours(middle)):
            return neighbours(middle)
    around = neighbours(last)
    own = [cell in stones for cell in around]
    runs = []
    for head in (i for i in range(6) if own[i] and not own[i - 1]):
        length = next(length for length in range(1, 6) if not own[(head + length) % 6])
        runs.append([around[(head + i) % 6] for i in range(length)])
    # A way between two cells of one run would go around nothing.
    ways = [way_to(stones - {last}, first, set(other)) for run, other in combinations(runs, 2) for first in run]
    return [last, *min((way for way in ways if way), key=len)]


def tree_through(stones: set[Cell], last: Cell, goals: list[set[Cell]], count: int) -> list[Cell]:
    """Returns the cells of shortest paths from the last stone to the nearest `count` of the goals that its chain reaches."""
    ways = sorted((way for goal in goals if (way := way_to(stones, last, goal))), key=len)
    return sorted({cell for way in ways[:count] for cell in way})


def way_to(stones: set[Cell], start: Cell, goal: set[Cell]) -> list[Cell]:
    """Returns a shortest path over stones from `start` to any cell of a goal, empty if there is none."""
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
