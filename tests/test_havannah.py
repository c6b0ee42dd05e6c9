"""Havannah against a slow oracle of our own, against OpenSpiel, against solved boards and against games that people played."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import networkx
import numpy as np
import pyspiel
import pytest
from havannah_oracle import Cell, Position, around, board, chains, flood, perft
from lockstep import mean_return
from scipy.stats import chisquare

import ucd_envs
from ucd_envs.interface import Victory
from ucd_envs.kernels import OVER
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State

RECORDS = Path(__file__).parent / "data" / "havannah.txt"
"""Games played on LittleGolem, one a line after a head that explains them; see B043 and F06."""
FIXTURES = {
    "bridge": "a1 b1 a2 b2 a3 b3 a4",
    "fork": "b1 c1 b2 c2 b3 c3 b4 c4 b5 c5 a2",
    "ring": "b2 f3 b3 f4 c2 f5 c4 f6 d3 f7 d4",
    "filled ring": "b2 f3 b3 f4 c2 f5 c4 f6 d3 f7 c3 e6 d4",
}
"""F07: games on base 4 that the first player wins with the last stone, written with numbers that count from x = 0 (`morat`)."""
LONELY = "c1 e3 d3 c5 d2 d1 d4 b3 e2 c4 c3 a2 b4 b2 c2 e1 a3 b1 a1"
"""A drawn game on base 3 whose last stone has no neighbour of its colour, found by random search with the oracle."""
LAST_CELL = "b3 c2 b1 d2 e1 c5 c3 e2 c4 a2 d1 d3 a3 b2 d4 b4 a1 c1 e3"
"""A game on base 3 that is won on the last empty cell, found in the same way."""


def havannah(base: int, swap: bool = False) -> Rules:
    """The rules of Havannah in a configuration."""
    return ucd_envs.make_rules("havannah", base=base, swap=swap)


def actions(rules: Rules, text: str) -> list[int]:
    """The actions of moves as players write them."""
    return [rules.initial_state().action_named(word) for word in text.split()]


def morat(base: int, text: str) -> list[int]:
    """The actions of moves as the fixtures write them: the letter is y, and the number is x + 1 in every row."""
    return [board(base).action[int(word[1:]) - 1, ord(word[0]) - ord("a")] for word in text.split()]


def victory(state: State) -> Victory | None:
    """How the game was won."""
    assert state.rules.victory is not None
    return state.rules.victory(state)


def cells_of(position: Position, shown: tuple[int, ...]) -> set[Cell]:
    """The cells of some actions."""
    return {position.board.cells[action] for action in shown}


def observed(state: State, player: int) -> np.ndarray:
    """What a player sees: [planes, rows, columns] int8, filled with garbage before."""
    planes = np.full(state.rules.planes, -7, np.int8)
    state.rules.kernels.observe(state.rules.config, state.array(), player, planes.reshape(-1))
    return planes.transpose(2, 0, 1)


def plane(rules: Rules, cells: set[Cell] | frozenset[Cell]) -> list[list[int]]:
    """Ones on these cells, row y by row."""
    rows, columns, _ = rules.planes
    return [[int((x, y) in cells) for x in range(columns)] for y in range(rows)]


def assert_same(state: State, position: Position, where: object) -> None:
    """Mover, ply, end, legal list and payoffs are the oracle's."""
    assert state.over == position.over, where
    assert state.player == (OVER if position.over else position.mover), where
    assert state.ply == position.ply, where
    assert state.legal_actions() == position.legal_actions(), where
    if position.over:
        assert state.payoffs() == position.payoffs, where


def assert_victory(state: State, position: Position, last: int) -> None:
    """None without a winner; else the kinds are the oracle's, and the cells, ascending, are a chain of the winner with the last
    stone in it that is by itself of some of these kinds, and of no other."""
    shown, where = victory(state), (position, last)
    if not position.made:
        assert shown is None, where
        return
    assert shown is not None, where
    assert shown.kinds == position.made, where
    cells = cells_of(position, shown.cells)
    assert list(shown.cells) == sorted(set(shown.cells)), where
    assert cells <= position.stones[1 - position.mover], where
    assert position.board.cells[last] in cells, where
    assert len(chains(cells)) == 1, where
    alone = position.board.kinds_of_chain(cells)
    assert alone, where
    assert set(alone) <= set(position.made), where


class Ended(NamedTuple):
    """A game that was played in both programs."""

    state: State
    position: Position
    history: list[int]


def both(rules: Rules, moves: list[int]) -> Ended:
    """Plays these moves, or fewer when the game is over, in the engine and in the oracle, and compares them after each."""
    state, position = rules.initial_state(), board(rules.settings["base"]).start(rules.settings["swap"])
    history: list[int] = []
    assert_same(state, position, rules)
    for action in moves:
        state, position = state.after(action), position.after(action)
        history.append(action)
        assert_same(state, position, history)
        if not position.over:
            assert victory(state) is None
        else:
            assert_victory(state, position, action)
            break
    return Ended(state, position, history)


def order_of_play(rules: Rules, choice: random.Random) -> list[int]:
    """All cells in a random order; with the rule, every second game has a swap."""
    cells = len(board(rules.settings["base"]).cells)
    order = choice.sample(range(cells), cells)
    if rules.settings["swap"] and choice.random() < 0.5:
        order.insert(1, cells)
    return order


# The oracle


def has_hole(stones: set[Cell]) -> bool:
    """Whether some stones form a ring, by another road: the graph of stones has a cycle of four or more without a chord.

    All faces of the board's graph are triangles. A cycle that encloses no cell is a polygon of triangles between its own
    stones, so it has chords unless it is a triangle. Around an enclosed cell, whoever holds it, the shortest cycle has none.
    """
    graph = networkx.Graph()
    graph.add_nodes_from(stones)
    graph.add_edges_from((stone, other) for stone in stones for other in around(stone) if other in stones)
    return not networkx.is_chordal(graph)


def test_the_oracle_finds_rings_by_two_roads_on_all_boards_of_base_2() -> None:
    """All 128 sets of stones: the only ring goes around the centre, with a stone in it or not."""
    small = board(2)
    rings = 0
    for bits in range(2**7):
        stones = {cell for place, cell in enumerate(small.cells) if bits >> place & 1}
        assert ("ring" in small.kinds(stones)) == has_hole(stones)
        rings += "ring" in small.kinds(stones)
    assert rings == 2


@pytest.mark.parametrize(("base", "number"), [(3, 1000), (4, 600), (6, 150)])
def test_the_oracle_finds_rings_by_two_roads_on_random_boards(base: int, number: int) -> None:
    """Sets of stones from sparse to dense."""
    choice, found = random.Random(base), Counter[bool]()
    for _ in range(number):
        share = choice.uniform(0.2, 0.9)
        stones = {cell for cell in board(base).cells if choice.random() < share}
        ring = "ring" in board(base).kinds(stones)
        assert ring == has_hole(stones)
        found[ring] += 1
    assert min(found[True], found[False]) > number // 5


@pytest.mark.parametrize("base", range(2, 11))
def test_the_oracles_board_is_a_hexagon(base: int) -> None:
    """3n(n-1)+1 cells, six corners with three neighbours each and six edges of n-2 cells with four; all others have six."""
    sizes = Counter(sum(other in board(base).action for other in around(cell)) for cell in board(base).cells)
    assert sizes == Counter({3: 6, 4: 6 * (base - 2), 6: 3 * (base - 1) * (base - 2) + 1})
    assert len(board(base).cells) == 3 * base * (base - 1) + 1
    assert len(board(base).corners) == 6
    assert [len(edge) for edge in board(base).edges] == 6 * [base - 2]
    assert len(set().union(*board(base).edges)) == 6 * (base - 2)


# Random games


ORACLE_GAMES = [(2, 200), (3, 400), (4, 120), (5, 40), (6, 20), (8, 5), (10, 2)]


def assert_random_games_are_the_oracles(base: int, swap: bool, games: int, seed: int) -> Counter[tuple[float, ...]]:
    """Plays so many random games in both; how often each payoffs occurred."""
    rules, choice = havannah(base, swap), random.Random(seed)
    results: Counter[tuple[float, ...]] = Counter()
    for _ in range(games):
        ended = both(rules, order_of_play(rules, choice))
        assert ended.state.over
        results[tuple(ended.state.payoffs())] += 1
    return results


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(("base", "games"), ORACLE_GAMES)
def test_random_games_are_those_of_the_oracle(base: int, games: int, swap: bool) -> None:
    """Every ply, payoffs and victories, on boards up to 271 cells; both players win some where there are many."""
    results = assert_random_games_are_the_oracles(base, swap, games, seed=base)
    assert {(1.0, 0.0), (0.0, 1.0)} <= set(results) or games < 10


@pytest.mark.slow
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(("base", "games"), [*ORACLE_GAMES, (7, 12), (9, 5)])
def test_many_random_games_are_those_of_the_oracle(base: int, games: int, swap: bool) -> None:
    """Thirty times as many, with another seed, and on every base."""
    assert_random_games_are_the_oracles(base, swap, 30 * games, seed=100 + base)


# OpenSpiel


def openspiel_lockstep(base: int, swap: bool, games: int, seed: int) -> Counter[tuple[float, ...]]:
    """Plays so many random games here and in OpenSpiel and compares them at every ply; how often each returns occurred.

    There the cell (x, y) is the action y * (2 * base - 1) + x, and the swap is the first cell once more.
    """
    rules, choice = havannah(base, swap), random.Random(seed)
    theirs = pyspiel.load_game(f"havannah(board_size={base},swap={str(swap).lower()})")
    number = [y * (2 * base - 1) + x for x, y in board(base).cells]
    results: Counter[tuple[float, ...]] = Counter()
    for _ in range(games):
        state, other = rules.initial_state(), theirs.new_initial_state()
        history: list[int] = []
        numbers = list(number)
        while True:
            where = f"{rules}, after {history}"
            assert state.over == other.is_terminal(), where
            assert state.player == (OVER if state.over else other.current_player()), where
            legal = state.legal_actions()
            assert sorted(numbers[action] for action in legal) == other.legal_actions(), where
            if state.over:
                break
            may_swap = len(number) in legal
            action = len(number) if may_swap and choice.random() < 0.5 else choice.choice(legal)
            state = state.after(action)
            other.apply_action(numbers[action])
            history.append(action)
            if len(history) == 1 and swap:
                numbers.append(number[action])
        returns = tuple(2 * payoff - 1 for payoff in state.payoffs())
        assert returns == tuple(other.returns()), where
        results[returns] += 1
    return results


OPENSPIEL_GAMES = [
    (3, False, 3000),
    (3, True, 1000),
    (4, False, 1500),
    (4, True, 500),
    (5, False, 1000),
    (5, True, 300),
    (8, False, 100),
    (8, True, 50),
]


@pytest.mark.parametrize(("base", "swap", "games"), OPENSPIEL_GAMES)
def test_random_games_are_those_of_openspiel(base: int, swap: bool, games: int) -> None:
    """Legal lists, movers, ends and returns agree at every ply, both players win some games, and on base 3 some are drawn."""
    results = openspiel_lockstep(base, swap, games, seed=1)
    assert {(1.0, -1.0), (-1.0, 1.0)} <= set(results)
    assert (0.0, 0.0) in results or (base, swap) != (3, False)


@pytest.mark.slow
@pytest.mark.parametrize(("base", "swap", "games"), [*OPENSPIEL_GAMES, (2, False, 200), (6, True, 100), (10, True, 20)])
def test_many_random_games_are_those_of_openspiel(base: int, swap: bool, games: int) -> None:
    """Twenty times as many, with another seed."""
    openspiel_lockstep(base, swap, 20 * games, seed=2)


@pytest.mark.parametrize(
    ("base", "mean", "error", "playouts"),
    [(4, 0.1068, 0.0031, 100_000), (5, 0.0742, 0.0032, 100_000), (8, 0.0258, 0.0071, 20_000)],
)
def test_playouts_have_the_mean_return_of_openspiels(base: int, mean: float, error: float, playouts: int) -> None:
    """Mean and standard error of player 0 under random play were measured with OpenSpiel's own playouts."""
    ours, our_error = mean_return(havannah(base), playouts, seed=base)
    assert abs(ours - mean) < 4 * math.hypot(our_error, error)


# Known games


@pytest.mark.parametrize("winner", [0, 1])
@pytest.mark.parametrize("name", FIXTURES)
def test_a_known_game_ends_with_its_last_stone(name: str, winner: int) -> None:
    """F07: each fixture by its first player, and with d7 before it, which it leaves empty, by the second."""
    moves = morat(4, winner * "d7 " + FIXTURES[name])
    ended = both(havannah(4), moves)
    assert ended.history == moves
    assert ended.state.payoffs() == [1.0 - winner, 0.0 + winner]
    shown = victory(ended.state)
    assert shown is not None
    assert shown.kinds == (name.split()[-1],)


def test_the_known_draw_goes_on_to_the_full_board() -> None:
    """B038, F07: base 4 filled row by row, so the actions ascend; nobody has won at ply 36, and the 37th stone makes a draw."""
    ended = both(havannah(4), list(range(37)))
    assert len(ended.history) == 37
    assert ended.state.payoffs() == [0.5, 0.5]
    assert victory(ended.state) is None


def test_a_last_stone_without_own_neighbours_makes_a_draw() -> None:
    """B038: a game of base 3 found by random search with the oracle; the stone on a1 lies between two of the other's."""
    last, beside = "a1", ["a2", "b1", "b2"]
    rules = havannah(3)
    moves = actions(rules, LONELY)
    ended = both(rules, moves)
    assert rules.initial_state().action_name(moves[-1]) == last
    assert not {rules.initial_state().action_named(name) for name in beside} & set(moves[::2])
    assert ended.state.ply == 19
    assert ended.state.payoffs() == [0.5, 0.5]


def test_the_last_cell_can_win() -> None:
    """B044: on a full board of base 3 the 19th stone makes a bridge: a win, and no draw."""
    rules = havannah(3)
    ended = both(rules, actions(rules, LAST_CELL))
    assert ended.state.ply == 19
    assert ended.state.payoffs() == [1.0, 0.0]


# Boards


def drawn(text: str) -> Ended:
    """A drawn board: x and o place their stones in turn in reading order, x first; the capital stone comes last."""
    rows = [line.split() for line in text.strip().splitlines()]
    base, marks = (len(rows) + 1) // 2, [mark for row in rows for mark in row]
    assert [len(row) for row in rows] == [2 * base - 1 - abs(y - base + 1) for y in range(2 * base - 1)]
    x, o = (
        sorted((place for place, mark in enumerate(marks) if mark.lower() == one), key=lambda at: marks[at] != one)
        for one in "xo"
    )
    assert sum(mark in "XO" for mark in marks) == 1
    assert len(x) - len(o) == ("X" in marks)
    moves = [(x, o)[ply % 2][ply // 2] for ply in range(len(x) + len(o))]
    ended = both(havannah(base), moves)
    assert ended.history == moves, "the game must not end before the capital stone"
    return ended


BOARDS = {
    "six stones around an empty cell are a ring": (
        "ring",
        """
           . . . .
          . x x . o
         . x . x . o
        . . x X . . .
         o . . . . o
          . . . . .
           . o . .
        """,
    ),
    "six stones around an enemy stone are a ring": (
        "ring",
        """
           . . . .
          . x x . o
         . x o x . .
        . . x X . . .
         o . . . . o
          . . . . .
           . o . .
        """,
    ),
    "six stones around an own stone are a ring": (
        "ring",
        """
           . . . .
          . x x . o
         . x x x . o
        . . x X . . .
         o . . . . o
          . . . . .
           . o o .
        """,
    ),
    "five stones around a cell are no ring": (
        "",
        """
           . . . .
          . x x . o
         . x . x . o
        . . x . . . .
         o . . . . o
          . . X . .
           . o . .
        """,
    ),
    "stones that all touch one another enclose nothing": (
        "",
        """
           . . . .
          . . x . .
         . . x x . .
        . . x x X . .
         o . . . . o
          . o . o .
           . o . .
        """,
    ),
    "the second player makes rings too": (
        "ring",
        """
           . . . .
          . o O . .
         . o . o . .
        . . o o . x .
         x . . . . .
          . . . x x
           . x x .
        """,
    ),
    "a large ring may hold stones of both and empty cells": (
        "ring",
        """
           o . . o
          o x x x o
         . x o x x .
        o x x o . x o
         . x o o x o
          . x x X .
           o . o .
        """,
    ),
    "a large ring with a gap is none": (
        "",
        """
           o . . o
          o x x x .
         . x . . x .
        o x . o . . o
         . x . . x o
          . x x X .
           o . o o
        """,
    ),
    "the border closes no ring": (
        "",
        """
           x . x .
          . x X . .
         . . . . . .
        . . . . . . o
         . . . . . .
          . o . . .
           . . o .
        """,
    ),
    "a chain on three edges is a fork": (
        "fork",
        """
           o x . o
          . x . . o
         . . x . o .
        . x x X . o .
         x . . x x x
          . o . o .
           o . o .
        """,
    ),
    "a corner belongs to no edge": (
        "",
        """
           x o . o
          . x . . o
         . . x . o .
        . x x X . o .
         x . . x x x
          . o . o .
           o . o .
        """,
    ),
    "chains on three edges that are not joined are no fork": (
        "",
        """
           o x . o
          . x . . o
         . . x . o .
        . x x . . o .
         x . . x x x
          . o . o X
           o . o .
        """,
    ),
    "four cells of two edges are no fork": (
        "",
        """
           . x x .
          x X . . .
         x . . . . .
        . . . . . . o
         . . . o . .
          . o . . .
           . . o .
        """,
    ),
    "two corners along an edge are a bridge": (
        "bridge",
        """
           x x X x
          . . . . .
         . . . . . .
        . . . . . . o
         . . . . . .
          . o . . .
           . . o .
        """,
    ),
    "two corners across the board are a bridge": (
        "bridge",
        """
           x . o .
          o x . . .
         . . x . . .
        . . . X . . o
         . . . x . .
          . o . x o
           . . o x
        """,
    ),
    "two corners that are not joined are no bridge": (
        "",
        """
           x . o .
          o x . . .
         . . x . . .
        . . . . . X o
         . . . x . .
          . o . x o
           . . o x
        """,
    ),
    "one stone makes a bridge and a fork": (
        "bridge fork",
        """
           x x X x
          x . . . x
         . . . . . .
        . o . . . . o
         . . . . . .
          . o . o .
           . . o .
        """,
    ),
    "one stone makes all three": (
        "ring bridge fork",
        """
           x o . o
          x x o . o
         o . X x . o
        o . x . x o .
         o . x x . o
          . o . x x
           o . x x
        """,
    ),
}
"""What the last stone makes, and the board."""


@pytest.mark.parametrize(("kinds", "text"), BOARDS.values(), ids=BOARDS)
def test_a_drawn_board_ends_the_game_as_its_title_says(kinds: str, text: str) -> None:
    """The last stone makes this and nothing more."""
    state = drawn(text).state
    shown = victory(state)
    assert (shown.kinds if shown else ()) == tuple(kinds.split())
    assert state.over == bool(kinds)


@pytest.mark.parametrize("title", [title for title, (kinds, _) in BOARDS.items() if kinds])
def test_every_other_last_stone_shows_the_same_victory(title: str) -> None:
    """Whichever stone of the structure comes last wins, unless the game is over before it."""
    ended, won = drawn(BOARDS[title][1]), 0
    winner = (len(ended.history) - 1) % 2
    own, others = ended.history[winner::2], ended.history[1 - winner :: 2]
    for last in own:
        mine = [stone for stone in own if stone != last] + [last]
        first, second = (mine, others) if winner == 0 else (others, mine)
        moves = [(first, second)[ply % 2][ply // 2] for ply in range(len(ended.history))]
        again = both(havannah(4), moves)
        assert again.state.over
        assert again.state.payoffs()[winner] == 1.0
        won += len(again.history) == len(moves)
    assert won >= 1


# Rings of all shapes


class Ring(NamedTuple):
    """A random ring: the stones around a blob of cells, some stones within, and some elsewhere."""

    stones: set[Cell]
    others: set[Cell]


def random_ring(base: int, choice: random.Random) -> Ring:
    """A blob is grown cell by cell away from the border and surrounded; own stones and others are strewn over all the rest."""
    inner = [cell for cell in board(base).cells if all(other in board(base).action for other in around(cell))]
    blob = {choice.choice(inner)}
    for _ in range(choice.randint(0, 3 * base - 6)):
        beside = sorted({other for cell in blob for other in around(cell) if other in inner} - blob)
        if beside:
            blob.add(choice.choice(beside))
    ring = {other for cell in blob for other in around(cell)} - blob
    within, without = choice.choice([(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (0.5, 0.3)]), choice.uniform(0.0, 0.2)
    own = {cell for cell in sorted(blob) if choice.random() < within[0]}
    own |= {cell for cell in board(base).cells if cell not in blob | ring and choice.random() < without}
    others = {cell for cell in sorted(blob - own) if choice.random() < choice.choice([0.0, 1.0])}
    return Ring(ring | own, others)


def ring_game(base: int, ring: Ring, maker: int, choice: random.Random) -> list[int]:
    """An order of play: the ring's maker places its stones in a random order, the other player those within and any others."""
    number = board(base).action
    own, within = (choice.sample(sorted(cells), len(cells)) for cells in ring)
    rest = [cell for cell in board(base).cells if cell not in ring.stones | ring.others]
    other = (
        choice.sample(within + rest, len(within + rest)) if choice.random() < 0.5 else within + choice.sample(rest, len(rest))
    )
    turns = [own, other] if maker == 0 else [other, own]
    plies = 2 * min(len(own), len(other))
    return [number[turns[ply % 2][ply // 2]] for ply in range(plies)]


def assert_ring_games_are_the_oracles(base: int, games: int, seed: int) -> Counter[str]:
    """Plays so many games around random rings in both; what the rings enclosed."""
    rules, choice, seen = havannah(base), random.Random(seed), Counter[str]()
    for number in range(games):
        _, position, history = both(rules, ring_game(base, random_ring(base, choice), number % 2, choice))
        if "ring" not in position.made:
            continue
        own, other = position.stones[1 - position.mover], position.stones[position.mover]
        chain = flood([position.board.cells[history[-1]]], own)
        enclosed = position.board.enclosed(chain)
        seen["rings"] += 1
        seen["several cells"] += len(enclosed) > 1
        seen["empty only"] += not enclosed & (own | other)
        seen["enemies only"] += enclosed <= other
        seen["own only"] += enclosed <= own
        seen["with other kinds"] += len(position.made) > 1
        seen["mixed"] += bool(enclosed & own and enclosed & other)
    return seen


@pytest.mark.parametrize(
    ("base", "games", "rings"),
    [(3, 600, 40), (4, 400, 150), (5, 150, 90), (6, 60, 45), (7, 30, 25), (8, 16, 14), (9, 10, 8), (10, 8, 6)],
)
def test_rings_of_all_shapes_are_the_oracles(base: int, games: int, rings: int) -> None:
    """Large, small, filled and half-filled rings, closed by a stone anywhere in them; at least so many come about, of all
    kinds where the board is large enough and the games are many."""
    seen = assert_ring_games_are_the_oracles(base, games, seed=base)
    assert seen["rings"] >= rings
    if base in (4, 5):
        for kind in ("several cells", "empty only", "enemies only", "own only", "mixed"):
            assert seen[kind] >= 5, kind


@pytest.mark.slow
@pytest.mark.parametrize("base", range(3, 11))
def test_many_rings_of_all_shapes_are_the_oracles(base: int) -> None:
    """In the thousands, with another seed."""
    assert_ring_games_are_the_oracles(base, 12_000 // base, seed=100 + base)


# Every legal move


@pytest.mark.parametrize(("base", "number"), [(2, 1500), (3, 2700), (4, 600), (5, 200)])
def test_every_legal_move_wins_when_the_oracle_says_so(base: int, number: int) -> None:
    """B040: in 5,000 states a move wins if the oracle says that its stone makes something; and trying it changes nothing."""
    rules, choice = havannah(base), random.Random(base)
    seen = wins = 0
    while seen < number:
        state, position = rules.initial_state(), board(base).start()
        while not state.over and seen < number:
            before, won, lost = state.data, list[int](), list[int]()
            own = position.stones[position.mover]
            for action in state.legal_actions():
                cell = position.board.cells[action]
                made = position.board.kinds_of_chain(flood([cell], own | {cell}))
                child = state.after(action)
                shown = victory(child)
                assert (shown.kinds if shown else ()) == made, (position, action)
                assert child.over == (bool(made) or len(state.legal_actions()) == 1)
                assert not made or child.payoffs()[position.mover] == 1.0
                (won if made else lost).append(action)
            assert state.data == before
            seen += 1
            wins += len(won)
            action = choice.choice(lost or won)
            state, position = state.after(action), position.after(action)
    assert wins > number // 4


# Small boards


def assert_same_below(state: State, position: Position, known: dict[bytes, Position]) -> None:
    """The whole graph below a state is the oracle's; equal words stand for equal positions of it."""
    assert_same(state, position, position)
    for action in state.legal_actions():
        child, below = state.after(action), position.after(action)
        if child.key not in known:
            known[child.key] = below
            assert_same_below(child, below, known)
        else:
            one = known[child.key]
            assert (one.stones, one.mover, one.ply, one.made) == (below.stones, below.mover, below.ply, below.made)


@pytest.mark.parametrize("swap", [False, True])
def test_the_whole_graph_of_base_2_is_the_oracles(swap: bool) -> None:
    """Every reachable position, and as many words as there are positions."""
    start, known = havannah(2, swap).initial_state(), dict[bytes, Position]()
    assert_same_below(start, board(2).start(swap), known)
    assert len({(one.stones, one.ply) for one in known.values()}) == len(known)


def sequences(state: State, depth: int) -> int:
    """Number of sequences of so many legal moves, or fewer when the game is over."""
    if depth == 0 or state.over:
        return 1
    return sum(sequences(state.after(action), depth - 1) for action in state.legal_actions())


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(("base", "depth"), [(2, 7), (3, 3)])
def test_there_are_as_many_move_sequences_as_in_the_oracle(base: int, depth: int, swap: bool) -> None:
    """From the empty board: all games of base 2, and three moves on base 3."""
    assert sequences(havannah(base, swap).initial_state(), depth) == perft(board(base).start(swap), depth)


@pytest.mark.parametrize("seed", range(10))
def test_there_are_as_many_move_sequences_late_in_a_game(seed: int) -> None:
    """To the end from ply 13 of games on base 3, and three moves from ply 24 on base 4, or from where the game has ended."""
    choice = random.Random(seed)
    for base, plies, depth in ((3, 13, 6), (4, 24, 3)):
        rules, position = havannah(base), board(base).start()
        state = rules.initial_state()
        while not position.over and position.ply < plies:
            quiet = [action for action in position.legal_actions() if not position.after(action).made]
            action = choice.choice(quiet or position.legal_actions())
            state, position = state.after(action), position.after(action)
        assert sequences(state, depth) == perft(position, depth)


def mover_wins(state: State, known: dict[bytes, float]) -> float:
    """What the mover gets with best play, by trying everything: 1, 1/2 or 0."""
    if state.key not in known:
        best, mover = 0.0, state.player
        children = [state.after(action) for action in state.legal_actions()]
        for child in sorted(children, key=lambda child: not child.over):
            best = max(best, child.payoffs()[mover] if child.over else 1 - mover_wins(child, known))
            if best == 1.0:
                break
        known[state.key] = best
    return known[state.key]


def winning_openings(rules: Rules) -> set[str]:
    """The names of the first moves with which player 0 wins; with all others player 1 must win."""
    known: dict[bytes, float] = {}
    start, won = rules.initial_state(), set()
    for action in start.legal_actions():
        reply = mover_wins(start.after(action), known)
        assert reply in (0.0, 1.0)
        if reply == 0.0:
            won.add(rules.initial_state().action_name(action))
    return won


def corner_names(rules: Rules) -> set[str]:
    """The six corners."""
    small = board(rules.settings["base"])
    return {rules.initial_state().action_name(small.action[cell]) for cell in small.corners}


def test_on_base_2_the_corners_win_and_the_centre_loses() -> None:
    """F07."""
    rules = havannah(2)
    assert winning_openings(rules) == corner_names(rules) == {"a1", "a2", "b1", "b3", "c1", "c2"}


def test_with_the_swap_no_opening_of_base_2_wins() -> None:
    """F07: the corners are taken over, the centre is not."""
    rules = havannah(2, swap=True)
    assert winning_openings(rules) == set()
    for opening in rules.initial_state().legal_actions():
        swapped = rules.initial_state().after(opening).after(7)
        assert (mover_wins(swapped, {}) == 0.0) == (rules.initial_state().action_name(opening) in corner_names(rules))


@pytest.mark.slow
def test_on_base_3_exactly_the_corners_win() -> None:
    """F07: six corners win, and the other thirteen cells lose."""
    rules = havannah(3)
    assert winning_openings(rules) == corner_names(rules)


# Symmetries


def turned(base: int, cell: Cell, quarter: int) -> Cell:
    """One of the twelve symmetries of the hexagon: 0 to 5 turn it by so many sixths, 6 to 11 reflect it before."""
    u, v = cell[0] - base + 1, cell[1] - base + 1
    if quarter >= 6:
        u, v = v, u
    for _ in range(quarter % 6):
        u, v = u - v, u
    return u + base - 1, v + base - 1


@pytest.mark.parametrize("base", [2, 3, 5, 8])
def test_the_symmetries_keep_neighbours(base: int) -> None:
    """They are twelve different ways to lay the board onto itself."""
    maps = {tuple(turned(base, cell, quarter) for cell in board(base).cells) for quarter in range(12)}
    assert len(maps) == 12
    for image in maps:
        assert set(image) == set(board(base).cells)
        for cell, to in zip(board(base).cells, image, strict=True):
            beside = {image[board(base).action[other]] for other in around(cell) if other in board(base).action}
            assert beside == {other for other in around(to) if other in board(base).action}


@pytest.mark.parametrize(("base", "games"), [(3, 60), (4, 40), (5, 30), (7, 12), (10, 4)])
def test_a_turned_or_reflected_game_ends_in_the_same_way(base: int, games: int) -> None:
    """Every second game runs around a random ring; ends, payoffs and kinds of victory agree under all twelve symmetries."""
    rules, choice = havannah(base), random.Random(base)
    cells, number = board(base).cells, board(base).action
    for game in range(games):
        order = (
            ring_game(base, random_ring(base, choice), 0, choice) if game % 2 else choice.sample(range(len(cells)), len(cells))
        )
        ends = set()
        for quarter in range(12):
            state = rules.initial_state()
            for action in order:
                if state.over:
                    break
                state = state.after(number[turned(base, cells[action], quarter)])
            shown = victory(state)
            ends.add((state.ply, state.player, *(state.payoffs() if state.over else ()), shown.kinds if shown else None))
        assert len(ends) == 1, order


# Playouts


@pytest.mark.parametrize(("base", "swap"), [(2, False), (3, True), (4, False), (5, True), (8, False), (10, False)])
def test_playouts_end_as_their_moves_do(base: int, swap: bool) -> None:
    """B041: 2,400 playouts, from the start and from the middle of games: replayed they have the same length and result."""
    rules, choice, rng = havannah(base, swap), random.Random(base), seeded(base)
    trace, out = np.zeros(rules.max_plies, np.int32), np.zeros(2)
    for number in range(400):
        start = rules.initial_state()
        for action in order_of_play(rules, choice)[: choice.randrange(len(board(base).cells))] if number % 2 else ():
            child = start.after(action)
            if child.over:
                break
            start = child
        array = start.array()
        count = rules.kernels.playout(rules.config, array, rng, trace)
        rules.kernels.payoffs(rules.config, array, out)
        state = start
        for move in trace[:count].tolist():
            player, action = divmod(move, 2**16)
            assert player == state.player
            state = state.after(action)
        assert state.over
        assert state.payoffs() == out.tolist()
        assert State(rules, array.tobytes()).ply == state.ply


def test_the_first_moves_of_playouts_are_uniform() -> None:
    """On base 2 the first three moves are one of 7 * 6 * 5 sequences; each comes 200 times on average."""
    rules, rng = havannah(2), seeded(1)
    trace, start = np.zeros(rules.max_plies, np.int32), rules.initial_state()
    counts: Counter[tuple[int, ...]] = Counter()
    for _ in range(200 * 210):
        rules.kernels.playout(rules.config, start.array(), rng, trace)
        counts[tuple(move % 2**16 for move in trace[:3].tolist())] += 1
    assert set(counts) == set(permutations(range(7), 3))
    assert chisquare(list(counts.values())).pvalue > 1e-4


def test_the_first_moves_of_playouts_with_a_swap_are_uniform() -> None:
    """On base 3 an opening is one of 19 cells, and the reply one of 18 and the swap: 361 pairs, each 50 times on average."""
    rules, rng = havannah(3, swap=True), seeded(2)
    trace, start = np.zeros(rules.max_plies, np.int32), rules.initial_state()
    counts: Counter[tuple[int, ...]] = Counter()
    for _ in range(50 * 361):
        rules.kernels.playout(rules.config, start.array(), rng, trace)
        counts[tuple(move % 2**16 for move in trace[:2].tolist())] += 1
    assert set(counts) == {(one, two) for one in range(19) for two in range(20) if one != two}
    assert chisquare(list(counts.values())).pvalue > 1e-4


def chances(position: Position, share: Fraction, out: dict[tuple[int, float], Fraction]) -> None:
    """Adds to `out` how likely uniform random play ends with each ply and payoff of player 0."""
    if position.over:
        key = (position.ply, position.payoffs[0])
        out[key] = out.get(key, Fraction(0)) + share
        return
    legal = position.legal_actions()
    for action in legal:
        chances(position.after(action), share / len(legal), out)


def test_playouts_of_base_2_have_the_exact_distribution_of_random_games() -> None:
    """Lengths and results of 40,000 playouts against the oracle's, which weighs all games."""
    rules, rng, out, exact = havannah(2), seeded(3), np.zeros(2), dict[tuple[int, float], Fraction]()
    chances(board(2).start(), Fraction(1), exact)
    assert sum(exact.values()) == 1
    counts: Counter[tuple[int, float]] = Counter()
    for _ in range(40_000):
        array = rules.initial_state().array()
        length = rules.kernels.playout(rules.config, array, rng, np.empty(0, np.int32))
        rules.kernels.payoffs(rules.config, array, out)
        counts[length, float(out[0])] += 1
    assert set(counts) == set(exact)
    assert chisquare([counts[key] for key in exact], [float(40_000 * exact[key]) for key in exact]).pvalue > 1e-4


# Real games


def records() -> list[tuple[int, str, list[str]]]:
    """Base, result tag and moves of every recorded game."""
    lines = [line.split() for line in RECORDS.read_text().splitlines() if not line.startswith("#")]
    return [(int(base), tag, moves) for base, tag, *moves in lines]


def test_real_games_end_with_their_last_stone_or_not_at_all() -> None:
    """B043: 1,430 games of LittleGolem: no illegal move, nobody has won before the last stone, and every game that is won on
    the board is won by the seat that its tag names.

    The totals were counted by the oracle over these records, which are a part of the 2,146 games of B043. Chains only grow,
    so it looks at the boards before and after the last stone.
    """
    endings: Counter[str] = Counter()
    for base, tag, moves in records():
        rules = havannah(base, swap=True)
        resigned = moves[-1:] == ["resign"]
        played = actions(rules, " ".join(moves[:-1] if resigned else moves))
        state, position = rules.initial_state(), board(base).start(swap=True)
        for action in played:
            assert not state.over, (base, moves)
            state = state.after(action)
        if played:
            position = replayed(position, played[:-1])
            assert position.board.kinds(position.stones[0]) == position.board.kinds(position.stones[1]) == ()
            position = position.after(played[-1])
            assert_same(state, position, (base, moves))
            assert_victory(state, position, played[-1])
        assert not (state.over and resigned)
        if state.over:
            assert state.payoffs() == {"B": [1.0, 0.0], "W": [0.0, 1.0]}[tag]
        endings[" ".join(position.made) or ("resign" if resigned else "unfinished")] += 1
    assert endings == {
        "fork": 426,
        "bridge": 157,
        "ring": 127,
        "bridge fork": 2,
        "ring fork": 1,
        "resign": 570,
        "unfinished": 147,
    }


def replayed(position: Position, played: list[int]) -> Position:
    """The position after some moves that make nothing, which is not looked into."""
    stones: list[set[Cell]] = [set(), set()]
    for ply, action in enumerate(played):
        if action == len(position.board.cells):
            stones.reverse()
        else:
            stones[ply % 2].add(position.board.cells[action])
    first, second = (frozenset(cells) for cells in stones)
    ply = len(played)
    return Position(position.board, position.swap, (first, second), mover=ply % 2, ply=ply)


def test_seats_and_stones_are_the_same_game() -> None:
    """A swap exchanges seats on LittleGolem: without the rule, and with the stones in turn, games end as they do with it."""
    ends: Counter[bool] = Counter()
    for base, _, moves in records()[::10]:
        stones = [move for move in moves if move != "resign"]
        swapped = "swap" in stones
        with_rule, without = havannah(base, swap=True), havannah(base)
        state, plain = with_rule.initial_state(), without.initial_state()
        for action in actions(with_rule, " ".join(stones)):
            state = state.after(action)
        for action in actions(without, " ".join(move for move in stones if move != "swap")):
            plain = plain.after(action)
        assert state.over == plain.over
        if state.over:
            assert state.payoffs() == (plain.payoffs()[::-1] if swapped else plain.payoffs())
        ends[swapped] += state.over
    assert min(ends[True], ends[False]) > 10


# Swap


@pytest.mark.parametrize("base", [2, 3, 5, 10])
def test_a_swap_turns_the_stone_over_where_it_lies(base: int) -> None:
    """For every opening: one stone, of player 1, on the same cell; player 0 moves next, and only that cell is taken."""
    rules, cells = havannah(base, swap=True), board(base).cells
    swap = rules.initial_state().action_named("swap")
    assert swap == len(cells)
    assert rules.initial_state().action_name(swap) == "swap"
    for opening, cell in enumerate(cells):
        opened = rules.initial_state().after(opening)
        assert opened.legal_actions() == [action for action in range(len(cells) + 1) if action != opening]
        state = opened.after(swap)
        assert (state.player, state.ply) == (0, 2)
        assert state.legal_actions() == [action for action in range(len(cells)) if action != opening]
        assert observed(state, 0)[:2].tolist() == [plane(rules, set()), plane(rules, {cell})]
        assert observed(state, 1)[:2].tolist() == [plane(rules, {cell}), plane(rules, set())]


def test_a_swapped_corner_counts_for_its_new_owner() -> None:
    """a1 is swapped; player 1 needs one more corner, joined to it, while a1 is nothing to player 0."""
    rules = havannah(3, swap=True)
    ended = both(rules, actions(rules, "a1 swap c1 b1 d4 c2 e3 a2 e1 a3"))
    assert ended.state.payoffs() == [0.0, 1.0]
    shown = victory(ended.state)
    assert shown is not None
    assert [rules.initial_state().action_name(action) for action in shown.cells] == ["a1", "a2", "a3"]


def test_a_swap_is_not_legal_before_the_first_stone_or_after_the_second() -> None:
    """Nor anywhere without the rule, where it is no action at all."""
    rules = havannah(4, swap=True)
    start = rules.initial_state()
    swap = rules.initial_state().action_named("swap")
    for state in (start, start.after(0).after(1), start.after(0).after(swap)):
        assert swap not in state.legal_actions()
        with pytest.raises(ValueError, match=f"action {swap} is not legal here"):
            state.after(swap)
    assert havannah(4).actions == swap
    with pytest.raises(ValueError, match="'swap'"):
        havannah(4).initial_state().action_named("swap")


# Observations


@pytest.mark.parametrize(("base", "swap"), [(2, True), (3, False), (4, True), (6, False), (10, True)])
def test_players_see_own_stones_the_others_the_board_and_the_swap(base: int, swap: bool) -> None:
    """B049: all planes for both players at every ply of a random game; the swap is on for player 1 at ply 1 only."""
    rules, choice = havannah(base, swap), random.Random(base)
    side = 2 * base - 1
    assert rules.planes == (side, side, 3 + swap)
    for _ in range(3):
        state, position = rules.initial_state(), board(base).start(swap)
        for action in order_of_play(rules, choice):
            for player in range(2):
                stones = [plane(rules, position.stones[player]), plane(rules, position.stones[1 - player])]
                on = [[[int(player == 1 and position.ply == 1)] * side] * side] if swap else []
                assert observed(state, player).tolist() == [*stones, plane(rules, set(position.board.cells)), *on]
            if position.over:
                break
            state, position = state.after(action), position.after(action)


# Names


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("base", range(2, 11))
def test_cells_have_the_names_that_littlegolem_gives_them(base: int, swap: bool) -> None:
    """A letter for the line, from a, i included, and a number from 1 that counts from the line's own first cell, in small and
    capital letters."""
    rules = havannah(base, swap)
    for action, (x, y) in enumerate(board(base).cells):
        name = f"{'abcdefghijklmnopqrs'[y]}{x - max(0, y - (base - 1)) + 1}"
        assert rules.initial_state().action_name(action) == name
        assert rules.initial_state().action_named(name) == rules.initial_state().action_named(name.upper()) == action
    assert rules.actions == rules.max_plies == len(board(base).cells) + swap


@pytest.mark.parametrize("base", range(2, 11))
def test_a_name_beyond_the_board_is_refused(base: int) -> None:
    """One cell before and behind every line, a line too many, and texts of other forms."""
    rules = havannah(base)
    lengths = Counter(y for _, y in board(base).cells)
    letters = "abcdefghijklmnopqrst"
    wrong = [f"{letters[y]}{number}" for y, length in lengths.items() for number in (0, length + 1, -1)]
    wrong += [
        f"{letters[len(lengths)]}1",
        "",
        "a",
        "1",
        "1a",
        "aa1",
        "a1a",
        "a1 b1",
        "a 1",
        "a1.0",
        "a+1",
        "ä1",
        "a²",
        "swap",
        "resign",
    ]
    for text in wrong:
        with pytest.raises(ValueError, match="expected") as refusal:
            rules.initial_state().action_named(text)
        assert repr(text) in str(refusal.value)


# Settings


@pytest.mark.parametrize("base", [1, 0, -3, 11, 2**40])
def test_a_base_out_of_range_is_refused(base: int) -> None:
    """With one sentence that names the range."""
    with pytest.raises(ValueError, match=rf"^base must be from 2 to 10, not {base}$"):
        havannah(base)


@pytest.mark.parametrize("base", ["5", 5.0, None, True])
def test_a_base_that_is_no_whole_number_is_refused(base: object) -> None:
    """With one sentence."""
    with pytest.raises(TypeError, match="base must be a whole number from 2 to 10"):
        ucd_envs.make_rules("havannah", base=base)


@pytest.mark.parametrize("swap", [1, 0, "yes", None])
def test_a_swap_that_is_neither_on_nor_off_is_refused(swap: object) -> None:
    """With one sentence."""
    with pytest.raises(TypeError, match="swap must be True or False"):
        ucd_envs.make_rules("havannah", base=4, swap=swap)


def test_the_board_is_openspiels_by_default() -> None:
    """The same base, and no swap."""
    theirs = pyspiel.load_game("havannah").get_parameters()
    rules = ucd_envs.make_rules("havannah")
    assert rules.settings == {"base": theirs["board_size"], "swap": theirs["swap"]}
    assert rules.identity == havannah(8).identity


# Stones stay


@pytest.mark.parametrize("base", [3, 8])
def test_a_stone_on_a_taken_cell_is_refused(base: int) -> None:
    """By either player, to the end of the game, and after it."""
    rules, choice = havannah(base), random.Random(base)
    state, taken = rules.initial_state(), list[int]()
    for action in order_of_play(rules, choice):
        for stone in taken:
            with pytest.raises(ValueError, match=f"action {stone} is not legal here"):
                state.after(stone)
        if state.over:
            break
        state = state.after(action)
        taken.append(action)
    assert state.over
    for action in range(rules.actions):
        with pytest.raises(ValueError, match="is not legal here"):
            state.after(action)
