"""EinStein würfelt nicht against a slow board, against OpenSpiel, and against exact values of small boards."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, partial

import numpy as np
import pyspiel
import pytest
from state_bytes import played_out

import ucd_envs
from ucd_envs import pictures
from ucd_envs.games import einstein as game
from ucd_envs.kernels import CHANCE, OVER
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields
from ucd_planners import Planner, ucd, uct

Cell = tuple[int, int]
Sides = tuple[tuple[tuple[int, Cell], ...], ...]
ROW, COLUMN, DIAGONAL = range(3)
MANY = 100_000
SETTINGS = [
    {},
    {"first": "615243", "second": "342516"},
    {"size": 3},
    {"size": 3, "first": "1"},
    {"size": 3, "first": "213", "second": "321"},
    {"size": 4},
    {"size": 4, "first": "132", "second": "321"},
    {"size": 6, "first": "654321", "second": "162534"},
    {"size": 7},
    {"size": 8},
    {"size": 8, "first": "1"},
]


def einstein(**settings: object) -> Rules:
    """The rules in a configuration."""
    return ucd_envs.make_rules("einstein", **settings)


class Board:
    """The slow board: where each number of both sides stands, as (row, column)."""

    def __init__(self, size: int, setups: tuple[str, str]) -> None:
        self.size, self.faces = size, len(setups[0])
        layers = {1: 1, 3: 2, 6: 3}[self.faces]
        corner = [(row, column) for row in range(size) for column in range(size) if row + column < layers]
        self.stones: tuple[dict[int, Cell], dict[int, Cell]] = ({}, {})
        for digit, cell in zip(setups[0], corner, strict=True):
            self.stones[0][int(digit)] = cell
        for digit, (row, column) in zip(setups[1], corner, strict=True):
            self.stones[1][int(digit)] = (size - 1 - row, size - 1 - column)
        self.turn, self.winner = 0, -1

    def movable(self, face: int) -> list[int]:
        """The stone of this number, else the nearest on either side of it."""
        numbers = sorted(self.stones[self.turn])
        if face in numbers:
            return [face]
        return [n for n in numbers if n < face][-1:] + [n for n in numbers if n > face][:1]

    def target(self, number: int, step: int) -> Cell | None:
        """The cell one step ahead, or None where the board ends."""
        sign = 1 - 2 * self.turn
        row, column = self.stones[self.turn][number]
        row, column = row + sign * (step != ROW), column + sign * (step != COLUMN)
        return (row, column) if 0 <= row < self.size and 0 <= column < self.size else None

    def moves(self, face: int) -> list[int]:
        """All moves as the game numbers them."""
        return [3 * (n - 1) + step for n in self.movable(face) for step in range(3) if self.target(n, step) is not None]

    def move(self, action: int) -> None:
        """Makes a move and passes the turn, or ends the game."""
        number, step = action // 3 + 1, action % 3
        cell = self.target(number, step)
        assert cell is not None
        for side in self.stones:
            for other in [n for n, where in side.items() if where == cell]:
                del side[other]
        self.stones[self.turn][number] = cell
        goal = (self.size - 1, self.size - 1) if self.turn == 0 else (0, 0)
        if cell == goal or not self.stones[1 - self.turn]:
            self.winner = self.turn
        else:
            self.turn = 1 - self.turn


def position(state: State) -> tuple[dict[int, Cell], dict[int, Cell]]:
    """Both sides' stones as the observation of player 0 shows them."""
    rules = state.rules
    planes = np.zeros(rules.planes, np.int8)
    rules.kernels.observe(rules.config, state.array(), 0, planes.reshape(-1))
    faces = (rules.planes[2] - 3) // 3
    sides: tuple[dict[int, Cell], dict[int, Cell]] = ({}, {})
    for side in range(2):
        for number in range(faces):
            for row, column in np.argwhere(planes[:, :, 2 + side * faces + number]).tolist():
                sides[side][number + 1] = (row, column)
        everywhere = sorted(map(tuple, np.argwhere(planes[:, :, side]).tolist()))
        assert everywhere == sorted(sides[side].values())
    return sides


def text_of(cell: Cell) -> str:
    """The name of a cell: a column's letter and a row's number."""
    return f"{'abcdefgh'[cell[1]]}{cell[0] + 1}"


def placed(rules: Rules, text: str, turn: int, face: int | None = None) -> State:
    """The state of a drawn board, 1 to 6 for player 0's stones and A to F for player 1's; every move may have taken a stone.

    With a face the mover is to move, else the die rolls. The state is checked as bytes from outside are.
    """
    cells, size = text.split(), rules.planes[0]
    data = rules.initial_state().array()
    s = fields(data, game.STATE)
    made = [0, 0]
    start = [int(word) for word in s.stones]
    for side, marks in enumerate(("123456", "ABCDEF")):
        s.stones[side] = 0
        for i, mark in enumerate(marks[: (rules.planes[2] - 3) // 3]):
            first = (start[side] >> 8 * i & 0xFF) - 1
            if mark in cells:
                cell = cells.index(mark)
                cell = cell if side == 0 else size * size - 1 - cell
                s.stones[side] |= np.uint64((cell + 1) << 8 * i)
                made[side] += max(cell // size - first // size, cell % size - first % size)
    moves = max(2 * made[0] - 1, 2 * made[1], 12 - sum(mark.isalnum() for mark in cells))
    moves += moves % 2 != turn
    s.turn, s.ply, s.face = turn, 2 * moves, -1
    if face is not None:
        s.ply, s.face, s.player = s.ply + 1, face - 1, turn
    return State(rules, data.tobytes())


# The slow board


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_random_games_are_those_of_the_slow_board(settings: dict[str, object]) -> None:
    """Stones, movers, legal moves, their names, outcomes and their probabilities, the end and the payoffs, at every ply."""
    rules, choice = einstein(**settings), random.Random(str(settings))
    for _ in range(40):
        board = Board(rules.planes[0], (rules.settings["first"], rules.settings["second"]))
        state, ply = rules.initial_state(), 0
        while board.winner < 0:
            assert (state.player, state.ply) == (CHANCE, ply)
            assert state.legal_actions() == list(range(board.faces))
            chances = [rules.kernels.probability(rules.config, state.array(), face) for face in range(board.faces)]
            assert chances == [1 / board.faces] * board.faces
            face = choice.randrange(board.faces)
            assert state.action_name(face) == str(face + 1)
            state = state.after(face)
            legal = board.moves(face + 1)
            assert (state.player, state.ply) == (board.turn, ply + 1)
            assert state.legal_actions() == legal
            assert [a for a in range(rules.actions) if rules.kernels.is_legal(rules.config, state.array(), a)] == legal
            action = choice.choice(legal)
            target = board.target(action // 3 + 1, action % 3)
            assert target is not None
            assert state.action_name(action) == f"{action // 3 + 1}-{text_of(target)}"
            assert state.action_named(state.action_name(action).upper()) == action
            state, ply = state.after(action), ply + 2
            board.move(action)
            assert position(state) == board.stones
            State(rules, state.data)
        assert (state.player, state.ply, state.legal_actions()) == (OVER, ply, [])
        assert state.payoffs() == [1.0 - board.winner, 0.0 + board.winner]


@pytest.mark.parametrize("settings", [{}, {"size": 3}, {"size": 4, "first": "1"}], ids=str)
def test_playouts_are_random_games(settings: dict[str, object]) -> None:
    """A trace, played move by move, gives the state and the payoffs that the playout leaves; and it may stop anywhere."""
    rules, choice = einstein(**settings), random.Random(1)
    for seed in range(200):
        rng, again = seeded(seed), seeded(seed)
        trace, state = np.zeros(choice.choice((1, 2, 7, 200)), np.int32), rules.initial_state().array()
        count = rules.kernels.playout(rules.config, state, rng, trace)
        played = rules.initial_state()
        for move in trace[:count].tolist():
            assert move >> 16 == played.player
            played = played.after(move & 0xFFFF)
        assert played.data == state.tobytes()
        assert played.over or count == len(trace)
        whole, payoffs = rules.initial_state().array(), np.zeros((2, 2))
        rules.kernels.playout(rules.config, whole, again, np.empty(0, np.int32))
        if played.over:
            rules.kernels.payoffs(rules.config, whole, payoffs[0])
            assert payoffs[0].tolist() == played.payoffs()


def test_playouts_draw_moves_and_faces_uniformly() -> None:
    """The first face and the first move of 36,000 playouts; the numbers 1, 4 and 6 of the corner can make all three steps."""
    rules, first = einstein(), Counter[tuple[int, int]]()
    rng, trace = seeded(3), np.zeros(2, np.int32)
    for _ in range(36_000):
        rules.kernels.playout(rules.config, rules.initial_state().array(), rng, trace)
        first[int(trace[0]) & 0xFFFF, int(trace[1]) & 0xFFFF] += 1
    assert set(first) == {(face, 3 * face + step) for face in range(6) for step in range(3)}
    assert all(abs(count - 2000) < 5 * math.sqrt(2000) for count in first.values())


def test_a_choice_of_two_stones_is_uniform_over_their_steps() -> None:
    """A stone in the last column has one step, an inner one three: each with probability 1/4."""
    rules = einstein()
    state = placed(rules, ". . . . 2  . 5 . . .  . . . . .  . . B A .  . . . . .", 0, face=3)
    assert [state.action_name(action) for action in state.legal_actions()] == ["2-e2", "5-c2", "5-b3", "5-c3"]
    rng, found = seeded(1), Counter[int]()
    for _ in range(8000):
        found[rules.kernels.playout_action(rules.config, state.array(), rng)] += 1
    assert set(found) == set(state.legal_actions())
    assert all(abs(count - 2000) < 5 * math.sqrt(1500) for count in found.values())


def test_the_die_is_fair() -> None:
    """6,000 draws."""
    rules, rng = einstein(), seeded(2)
    faces = Counter(rules.kernels.draw(rules.config, rules.initial_state().array(), rng) for _ in range(6000))
    assert set(faces) == set(range(6))
    assert all(abs(count - 1000) < 5 * math.sqrt(1000) for count in faces.values())


# OpenSpiel


def numbered(text: str) -> tuple[str, str]:
    """Both setups in OpenSpiel's drawing, each from its own corner: White's for our player 0, who begins, then Black's."""
    cells = re.findall(r"\|(.)(.)\|", text)
    black, white = ("".join(cell[1] for cell in board if cell[0] == mark) for board, mark in ((cells, "b"), (cells[::-1], "w")))
    return white, black


def test_random_games_are_those_of_openspiel() -> None:
    """Its White begins below and moves up: our player 0 on a board turned by half. Setups are drawn there, and given here."""
    theirs, choice, winners = pyspiel.load_game("einstein_wurfelt_nicht"), random.Random(1), Counter[float]()
    steps = {"up": COLUMN, "down": COLUMN, "left": ROW, "right": ROW, "diag": DIAGONAL}
    for _ in range(150):
        other = theirs.new_initial_state()
        for _ in range(2):
            other.apply_action(choice.randrange(720))
        first, second = numbered(str(other))
        state = einstein(first=first, second=second).initial_state()
        while not state.over:
            assert sorted(other.chance_outcomes()) == [(face, pytest.approx(1 / 6)) for face in range(6)]
            face = choice.randrange(6)
            state = state.after(face)
            other.apply_action(face)
            assert other.current_player() == 1 - state.player
            named = {}
            for action in other.legal_actions():
                found = re.fullmatch(r"[BW](\d)-([a-z]+)\*?", other.action_to_string(action))
                assert found
                named[3 * (int(found[1]) - 1) + steps[found[2]]] = action
            assert sorted(named) == state.legal_actions()
            action = choice.choice(state.legal_actions())
            state = state.after(action)
            other.apply_action(named[action])
            assert numbered(str(other))[0] == "".join(str(n) for n, _ in by_cell(state, 0))
            assert numbered(str(other))[1] == "".join(str(n) for n, _ in by_cell(state, 1))
            assert state.over == other.is_terminal()
        assert [2 * payoff - 1 for payoff in state.payoffs()] == other.returns()[::-1]
        winners[state.payoffs()[0]] += 1
    assert min(winners[0.0], winners[1.0]) > 40


def by_cell(state: State, side: int) -> list[tuple[int, Cell]]:
    """Numbers and cells of a side's stones, from its own corner on."""
    return sorted(position(state)[side].items(), key=lambda item: item[1], reverse=side == 1)


# Hand positions


def test_the_setup_is_read_from_each_sides_corner() -> None:
    """The rows of a side's triangle from its corner: three stones, two, one."""
    first, second = position(einstein(first="615243", second="342516").initial_state())
    assert first == {6: (0, 0), 1: (0, 1), 5: (0, 2), 2: (1, 0), 4: (1, 1), 3: (2, 0)}
    assert second == {3: (4, 4), 4: (4, 3), 2: (4, 2), 5: (3, 4), 1: (3, 3), 6: (2, 4)}


@pytest.mark.parametrize(("face", "numbers"), [(1, {2}), (2, {2}), (3, {2, 5}), (4, {2, 5}), (5, {5}), (6, {5})])
def test_the_nearest_numbers_stand_in_for_one_that_is_gone(face: int, numbers: set[int]) -> None:
    """With 2 and 5 left."""
    state = placed(einstein(), ". . . . .  . 2 5 . .  . . . . .  . . B A .  . . . . .", 0, face)
    assert {action // 3 + 1 for action in state.legal_actions()} == numbers


def test_a_stone_takes_an_own_one() -> None:
    """It is gone, and the other player's are left."""
    state = placed(einstein(), ". . . . .  . 2 5 . .  . . . . .  . . B A .  . . . . .", 0, 2).after(3 * 1 + ROW)
    assert position(state) == ({2: (1, 2)}, {1: (3, 3), 2: (3, 2)})
    assert state.player == CHANCE


def test_a_stone_takes_the_other_players() -> None:
    """Player 1 moves up and to the left."""
    state = placed(einstein(), ". . . . .  . 2 5 . .  . B . . .  . . . A .  . . . . .", 1, 2).after(3 * 1 + COLUMN)
    assert position(state) == ({5: (1, 2)}, {1: (3, 3), 2: (1, 1)})


@pytest.mark.parametrize("step", [ROW, COLUMN, DIAGONAL])
def test_the_opposite_corner_wins(step: int) -> None:
    """From each of its three neighbours; what stands there does not matter."""
    cells = ["."] * 25
    cells[{ROW: 23, COLUMN: 19, DIAGONAL: 18}[step]], cells[24], cells[20] = "1", "A", "B"
    state = placed(einstein(), " ".join(cells), 0, 1).after(step)
    assert (state.player, state.payoffs()) == (OVER, [1.0, 0.0])


def test_player_1_wins_in_the_upper_left_corner() -> None:
    """A move to the left."""
    state = placed(einstein(), ". C . . .  . 2 5 . .  . . . . .  . . . A .  . . . . .", 1, 3).after(3 * 2 + ROW)
    assert (state.player, state.payoffs()) == (OVER, [0.0, 1.0])


def test_the_last_stone_taken_wins() -> None:
    """Anywhere on the board."""
    state = placed(einstein(), ". . . . .  . 2 5 . .  . . C . .  . . . . .  . . . . .", 0, 2).after(3 * 1 + DIAGONAL)
    assert (state.player, state.payoffs()) == (OVER, [1.0, 0.0])


def test_an_own_stone_in_the_way_may_be_the_last_but_one() -> None:
    """A side never loses its last stone by its own move."""
    state = placed(einstein(), ". . . . .  . 2 5 . .  . . . . .  . . . A .  . . . . .", 0, 2).after(3 * 1 + ROW)
    assert state.player == CHANCE
    assert position(state)[0] == {2: (1, 2)}


def test_move_orders_to_one_position_are_equal() -> None:
    """Two stones each, moved in either order; the faces that let them are part of the way, not of the position."""
    rules = einstein()

    def played(*moves: str) -> State:
        state = rules.initial_state()
        for move in moves:
            state = state.after(int(move[0]) - 1)
            state = state.after(state.action_named(move))
        return state

    one, other = played("3-d1", "3-b5", "6-a4", "6-e2"), played("6-a4", "6-e2", "3-d1", "3-b5")
    assert one == other
    assert hash(one) == hash(other)
    assert one.after(0) != one.after(1)
    assert one.after(0) == other.after(0)


def test_positions_of_3x3_are_as_many_as_on_the_slow_board() -> None:
    """Distinct positions by ply, and the games that lead to them, one of each for a face and a move."""
    level, counts, sequences = {einstein(size=3).initial_state(): 1}, list[int](), list[int]()
    for _ in range(7):
        counts.append(len(level))
        sequences.append(sum(level.values()))
        after: Counter[State] = Counter()
        for state, times in level.items():
            for action in state.legal_actions():
                after[state.after(action)] += times
        level = dict(after)
    slow: dict[Sides, int] = {(((1, (0, 0)), (2, (0, 1)), (3, (1, 0))), ((1, (2, 2)), (2, (2, 1)), (3, (1, 2)))): 1}
    expected, games = [1], [1]
    for turn in (0, 1, 0):
        rolled = {(sides, face): times for sides, times in slow.items() for face in (1, 2, 3)}
        expected.append(len(rolled))
        games.append(sum(rolled.values()))
        following: Counter[Sides] = Counter()
        going = Counter[Sides]()
        for (sides, face), times in rolled.items():
            for after_move, over in slow_moves(sides, turn, face):
                following[after_move] += times
                if not over:
                    going[after_move] += times
        expected.append(len(following))
        games.append(sum(following.values()))
        slow = dict(going)
    assert counts == expected
    assert sequences == games


def slow_moves(sides: Sides, turn: int, face: int) -> Iterator[tuple[Sides, bool]]:
    """What the slow board of 3x3 makes of each move: both sides' stones, and whether the game is over."""
    board = Board(3, ("123", "123"))
    for action in board_at(board, sides, turn).moves(face):
        moved = board_at(Board(3, ("123", "123")), sides, turn)
        moved.move(action)
        yield tuple(tuple(sorted(side.items())) for side in moved.stones), moved.winner >= 0


def board_at(board: Board, sides: Sides, turn: int) -> Board:
    """The board with these stones and this turn."""
    board.stones, board.turn = (dict(sides[0]), dict(sides[1])), turn
    return board


# Exact values


@cache
def rolling(sides: Sides, turn: int) -> Fraction:
    """The mover's probability of winning 3x3 before the die rolls, by expectimax on the slow board."""
    return sum((max(values_of(sides, turn, face).values()) for face in (1, 2, 3)), Fraction(0)) / 3


def values_of(sides: Sides, turn: int, face: int) -> dict[int, Fraction]:
    """The mover's probability of winning by each move."""
    moves = board_at(Board(3, ("123", "123")), sides, turn).moves(face)
    found = {}
    for action, (after, over) in zip(moves, slow_moves(sides, turn, face), strict=True):
        found[action] = Fraction(1) if over else 1 - rolling(after, 1 - turn)
    return found


def exact(state: State) -> dict[int, Fraction]:
    """The mover's probability of winning by each move of a state of 3x3."""
    s = fields(state.array(), game.STATE)
    return values_of(tuple(tuple(sorted(side.items())) for side in position(state)), int(s.turn), int(s.face) + 1)


def endgames(count: int, seed: int) -> list[State]:
    """Positions of random games on 3x3 with four stones at most where the mover has a choice and neither wins nor loses for
    certain."""
    rules, choice, found = einstein(size=3), random.Random(seed), list[State]()
    while len(found) < count:
        state = rules.initial_state()
        for _ in range(choice.choice((5, 7, 9, 11))):
            if not state.over:
                state = state.after(choice.choice(state.legal_actions()))
        if state.over or state in found or len(state.legal_actions()) == 1 or sum(map(len, position(state))) > 4:
            continue
        if 0 < max(exact(state).values()) < 1:
            found.append(state)
    return found


PLANNERS: dict[str, Callable[..., Planner]] = {
    "uct": partial(uct, c=1.0),
    "ucd(1, 0, 1)": partial(ucd, 1, 0, 1, c=1.0),
    "ucd(inf, 0, 1)": partial(ucd, math.inf, 0, 1, c=1.0),
}
"""Searches whose values converge. That of (0, 1, 2) does not where many ways lead to a position, with or without chance: the
visits of the others shrink the bound of a move whose own mean is of few playouts."""


def error(planner: Planner, state: State) -> float:
    """How far the value of the planner's move lies from that of the best move, after asserting that it is nearly as good."""
    values, result = exact(state), planner.search(state)
    best = max(values.values())
    if planner.playouts == MANY:
        assert best - values[result.action] < 0.05, (state, values, result.action)
    return abs(float(result.values[list(result.actions).index(result.action)]) - float(best))


@pytest.mark.parametrize("name", PLANNERS)
def test_searches_find_the_exact_value_of_endgames(name: str) -> None:
    """Within 0.02 at 100,000 playouts."""
    planner = PLANNERS[name](playouts=MANY, seed=1)
    assert max(error(planner, state) for state in endgames(4, seed=1)) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANNERS)
def test_errors_fall_with_playouts(name: str) -> None:
    """From 1,000 to 100,000 playouts by a factor of 10, in the mean of 30 endgames."""
    states = endgames(30, seed=2)
    few, many = ([error(PLANNERS[name](playouts=n, seed=1), state) for state in states] for n in (1000, MANY))
    assert sum(many) < sum(few) / 10
    assert max(many) < 0.05


# Bytes and settings


@pytest.mark.parametrize("settings", [{}, {"size": 3}, {"size": 4, "first": "132"}], ids=str)
def test_mutated_states_are_refused_or_play_to_the_end(settings: dict[str, object]) -> None:
    """Those accepted keep their identities to the end, in time, whatever is played."""
    ends = list(played_out(einstein(**settings), 1, 3000))
    assert len(ends) > 10
    assert all(sum(end.payoffs()) == 1 for end in ends)


@pytest.mark.parametrize(
    ("name", "value"), [("turn", 1), ("face", 2), ("ply", 3), ("player", 0), ("player", 1), ("player", OVER)]
)
def test_fields_that_contradict_each_other_are_refused(name: str, value: int) -> None:
    """Before the first roll."""
    rules = einstein()
    data = rules.initial_state().array()
    fields(data, game.STATE)[name] = value
    with pytest.raises(ValueError, match="its fields contradict each other"):
        State(rules, data.tobytes())


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"size": 2}, "size must be from 3 to 8, not 2"),
        ({"size": 9}, "size must be from 3 to 8, not 9"),
        ({"first": "12345"}, "a side has 1, 3 or 6 stones on 5x5, not 5"),
        ({"size": 3, "first": "123456"}, "a side has 1 or 3 stones on 3x3, not 6"),
        ({"first": "123455"}, "first must have each of the digits 1 to 6 once, not '123455'"),
        ({"second": "12x"}, "second must have each of the digits 1 to 3 once, not '12x'"),
        ({"first": "123456", "second": "123"}, "second must have each of the digits 1 to 6 once, not '123'"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, object], sentence: str) -> None:
    """With one sentence that says what is allowed."""
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        einstein(**settings)


def test_a_setup_that_is_no_text_is_refused() -> None:
    """A number would lose its zeros."""
    with pytest.raises(TypeError, match="first must be text such as '123456', not 123456"):
        einstein(first=123456)


@pytest.mark.parametrize("text", ["1-c9", "1-", "7-b2", "", "1", "b2", "1-e5", "-"])
def test_a_text_that_names_no_move_is_refused(text: str) -> None:
    """With one sentence."""
    state = einstein().initial_state().after(0)
    with pytest.raises(ValueError, match="expected"):
        state.action_named(text)


def test_both_players_see_their_own_stones_first() -> None:
    """Planes: own stones, the other's, own numbers, the other's numbers, the face, and whose turn it is."""
    rules = einstein(size=3)
    state = rules.initial_state().after(2)
    views = np.zeros((2, 3, 3, 12), np.int8)
    for player in range(2):
        rules.kernels.observe(rules.config, state.array(), player, views[player].reshape(-1))
    assert views[0][:, :, 0].tolist() == views[1][:, :, 1].tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert views[1][:, :, 0].tolist() == views[0][:, :, 1].tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 1]]
    assert views[0][:, :, 2:5].tolist() == views[1][:, :, 5:8].tolist()
    assert [int(views[0][:, :, plane].sum()) for plane in range(2, 12)] == [1, 1, 1, 1, 1, 1, 0, 0, 9, 9]
    assert [int(views[1][:, :, plane].sum()) for plane in range(8, 12)] == [0, 0, 9, 0]


def test_a_picture_shows_the_numbers() -> None:
    """X for player 0's stones and O for player 1's."""
    text = pictures.text(einstein(size=3, first="312").initial_state().after(2)).splitlines()
    assert text[1:6] == ["     a  b  c", "  1 X3 X1  .", "  2 X2  . O3", "  3  . O2 O1", "legal moves: 3-b1 3-a2 3-b2"]
    assert text[6] == "ply 1: player_0 (X) to move"
