"""The stones that are named as a ring, a bridge or a fork: the fewest, and only those, on drawn boards."""

from __future__ import annotations

import random
from itertools import combinations, pairwise

import pytest

from ucd_envs.boards.hexagon import Cell, cells_of, marks_of, neighbours, ring_through, shape, tree_through, way_to


def stones_of(*texts: str) -> set[Cell]:
    """Cells written as two digits, x and y."""
    return {(int(word[0]), int(word[1])) for text in texts for word in text.split()}


def around(x: int, y: int) -> set[Cell]:
    """The six cells of the smallest ring."""
    return set(neighbours((x, y)))


def is_loop(cells: list[Cell]) -> bool:
    """Whether each cell touches the next one, and the last the first."""
    return len(set(cells)) == len(cells) and all(
        second in neighbours(first) for first, second in zip(cells, cells[1:] + cells[:1], strict=True)
    )


def test_the_shortest_of_two_rings_that_close_at_once_is_named() -> None:
    """Six cells around (2, 2) and a loop of ten around (4, 2) to (6, 2), both through (3, 2): the six are named."""
    small = around(2, 2)
    large = (around(4, 2) | around(5, 2) | around(6, 2)) - {(4, 2), (5, 2), (6, 2)}
    last = (3, 2)
    assert last in small & large
    found = ring_through(small | large, last)
    assert set(found) == small
    assert is_loop(found)
    # Without a stone of the small one only the large one is left.
    assert set(ring_through((small | large) - {(1, 1)}, last)) == large


def test_a_ring_of_six_around_an_own_stone_is_named_by_its_cells() -> None:
    """The last stone closes it, or is any of the six."""
    stones = around(3, 3) | {(3, 3)}
    for last in around(3, 3):
        found = ring_through(stones, last)
        assert set(found) == around(3, 3)
        assert is_loop(found)


def shortest_loop(stones: set[Cell], last: Cell) -> int:
    """The least number of cells of a loop through a stone, by walks from each neighbour to each of another unbroken run; more
    than there are stones where there is none."""
    best = len(stones) + 1
    own = {cell for cell in neighbours(last) if cell in stones}
    for first, second in combinations(sorted(own), 2):
        run = {first}
        for _ in own:
            run |= {other for cell in run for other in neighbours(cell) if other in own}
        if second in run:
            continue
        reached, front, length = {first}, {first}, 1
        while front and second not in reached:
            front = {other for cell in front for other in neighbours(cell) if other in stones - {last} - reached}
            reached |= front
            length += 1
        if second in reached:
            best = min(best, length + 1)
    return best


def test_a_ring_is_a_shortest_one() -> None:
    """Random sets of stones in which the last one closes a ring between two unbroken runs of its neighbours."""
    choice, lengths = random.Random(3), set()
    grid = cells_of(4)
    for _ in range(3000):
        stones = set(choice.sample(grid, choice.randrange(8, 25)))
        last = choice.choice(sorted(stones))
        shortest = shortest_loop(stones, last)
        closed = any(stones.issuperset({middle, *neighbours(middle)}) for middle in neighbours(last))
        if closed or shortest > len(stones):
            continue
        found = ring_through(stones, last)
        assert is_loop(found)
        assert last in found
        assert set(found) <= stones
        assert len(found) == shortest
        lengths.add(shortest)
    assert len(lengths) > 3


def test_a_bridge_takes_the_nearest_two_of_three_corners() -> None:
    """Base 4: the row of y = 0 joins two corners with four stones; a third corner hangs on a longer way."""
    row = {(x, 0) for x in range(4)}
    far = {(3, 1), (3, 2), (3, 3), (4, 4), (5, 5), (6, 6)}
    found = shape("bridge", 4, row | far, (1, 0))
    assert found == sorted(row)


def test_a_fork_takes_the_nearest_three_edges_and_their_ways_only() -> None:
    """Base 3, whose edges have one cell each: from the centre to three of four edges that the chain touches."""
    base, centre = 3, (2, 2)
    edge = {bit: cell for cell in cells_of(base) for bit in range(6, 12) if marks_of(base, cell) >> bit & 1}
    assert len(edge) == 6
    first, second, third, fourth = (edge[bit] for bit in (6, 7, 8, 9))
    stones = {centre, first, second, third, fourth, *neighbours(centre)}
    found = shape("fork", base, stones, centre)
    touched = [bit for bit, cell in edge.items() if cell in found]
    assert len(touched) == 3
    assert len(found) == 1 + 3 + len(set(found) & set(neighbours(centre)))
    assert len(found) <= 7


def test_ways_of_a_tree_leave_out_what_cannot_be_reached() -> None:
    """Goals without a way do not count; with fewer ways than asked, those that are there."""
    stones = stones_of("00 10 20 44")
    goals = [{(0, 0)}, {(4, 4)}, {(2, 0)}]
    assert tree_through(stones, (1, 0), goals, 2) == [(0, 0), (1, 0), (2, 0)]
    assert tree_through(stones, (1, 0), goals, 3) == [(0, 0), (1, 0), (2, 0)]
    assert tree_through(stones, (1, 0), goals, 1) in ([(0, 0), (1, 0)], [(1, 0), (2, 0)])
    assert tree_through(stones, (4, 4), goals[:1], 1) == []


@pytest.mark.parametrize(
    ("start", "goal", "length"),
    [("00", "30", 4), ("00", "00", 1), ("00", "31", 4), ("00", "55", 0)],
)
def test_a_way_is_a_shortest_one(start: str, goal: str, length: int) -> None:
    """Over stones only, both ends included; none where the goal is no stone."""
    stones = stones_of("00 10 20 30", "01 02 03", "11 21 31")
    (first,), goals = stones_of(start), stones_of(goal)
    found = way_to(stones, first, goals)
    assert len(found) == length
    assert all(second in neighbours(one) for one, second in pairwise(found))
    assert not found or (found[-1] == first and found[0] in goals)
