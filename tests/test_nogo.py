"""NoGo against flood fills, known counts and solved boards, and its playouts against exact probabilities (ids: cases.md)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import nogo_oracle
import numpy as np
import pytest
from nogo_oracle import STONES, NoGo
from scipy.stats import chisquare
from test_rules import homogeneous

import ucd_envs
from ucd_envs.games import nogo as game
from ucd_envs.kernels import OVER
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields
from ucd_planners import Planner, ucd, uct

GENERATIONS = ("queue", "points", "search")
BOARDS = [(1, 2), (1, 19), (19, 1), (2, 2), (3, 3), (4, 8), (8, 8), (9, 9), (11, 11), (12, 12), (19, 19)]
"""Sizes around the limits of machine words, and the smallest and the largest."""


def nogo(rows: int, columns: int, **settings: object) -> Rules:
    return ucd_envs.make_rules("nogo", rows=rows, columns=columns, **settings)


def played(state: State, moves: str) -> State:
    for move in moves.split():
        state = state.after(state.action_named(move))
    return state


def drawn(text: str, **settings: object) -> State:
    """The state with these stones, the top line first, Black's put first: as many of each, or one more of Black.

    Every order of them is legal, since fewer stones leave chains more liberties.
    """
    lines = ["".join(line.split()) for line in text.strip().splitlines()][::-1]
    board = "".join(lines)
    state = nogo(len(lines), len(lines[0]), **settings).initial_state()
    black, white = ([point for point, mark in enumerate(board) if mark == wanted] for wanted in STONES)
    for ply in range(len(black) + len(white)):
        state = state.after((black, white)[ply % 2][ply // 2])
    assert board_of(state) == board
    return state


def board_of(state: State) -> str:
    own, other = planes(state, 0)[:2].reshape(2, -1).tolist()
    return "".join("x" if x else "o" if o else "." for x, o in zip(own, other, strict=True))


def planes(state: State, player: int) -> np.ndarray:
    """What a player sees, plane by plane: [planes, rows, columns] int8."""
    seen = np.full(state.rules.planes, -7, np.int8)
    state.rules.kernels.observe(state.rules.config, state.array(), player, seen.reshape(-1))
    return seen.transpose(2, 0, 1)


def legal_for(state: State, player: int) -> list[int]:
    """The points that are legal for a player, in turn or not, ascending."""
    array, actions = state.array(), np.empty(state.rules.actions, np.int32)
    fields(array, game.STATE).player = player
    return actions[: state.rules.kernels.legal_actions(state.rules.config, array, actions)].tolist()


def queued(state: State, player: int) -> list[int]:
    """The points in a player's queue, ascending."""
    s, c = fields(state.array(), game.STATE), fields(state.rules.config, game.CONFIG)
    return sorted(c.action[s.queue[player, : int(s.left[player])]].tolist())


def names(state: State, actions: list[int]) -> str:
    return " ".join(state.action_name(action) for action in actions)


# Legal moves

CORNER = """
    . . . x
    . . . .
    o x . .
    . o . .
"""
"""At A1 Black would have no liberty, and would take nothing: the white stones beside it have others."""
TAKING = """
    . . . .
    . . . .
    x x o .
    o . x o
"""
"""B1 is the last liberty of a white stone and of a black one."""
JOINING = """
    o . x o .
    x x o . o
    o o . o x
    . . o x .
    x . . x x
"""
"""At C3 Black would have no liberty. White would join four chains with others."""


def test_a_stone_without_a_liberty_is_illegal() -> None:
    state = drawn(CORNER)
    a1 = state.action_named("A1")
    assert a1 not in legal_for(state, 0)
    assert a1 in legal_for(state, 1)
    with pytest.raises(ValueError, match="not legal"):
        state.after(a1)


def test_a_stone_that_would_take_a_chain_is_illegal_though_it_had_a_liberty() -> None:
    """Black's would join the one at B2, which has the liberty B3."""
    state = drawn(TAKING)
    b1 = state.action_named("B1")
    assert b1 not in legal_for(state, 0)
    assert b1 not in legal_for(state, 1)


def test_a_stone_may_join_chains_that_have_another_liberty() -> None:
    state = drawn(JOINING)
    c3 = state.action_named("C3")
    assert c3 not in legal_for(state, 0)
    assert c3 in legal_for(state, 1)


@pytest.mark.parametrize(
    ("rows", "columns", "counts"),
    [
        (1, 1, [0]),
        (2, 2, [4, 12, 16, 0]),
        (3, 3, [9, 72, 496, 2832, 12768, 41328]),
        (5, 5, [25, 600, 13792, 302896]),
        (9, 9, [81, 6480, 511912]),
    ],
)
def test_sequences_of_moves_are_as_many_as_is_known(rows: int, columns: int, counts: list[int]) -> None:
    """F08: perft from the empty board."""
    level = Counter([nogo(rows, columns).initial_state()])
    for expected in counts:
        assert sum(times * len(state.legal_actions()) for state, times in level.items()) == expected
        below: Counter[State] = Counter()
        for state, times in level.items() if expected != counts[-1] else ():
            for action in state.legal_actions():
                below[state.after(action)] += times
        level = below


@pytest.mark.parametrize(("rows", "columns", "depth"), [(2, 3, 6), (1, 6, 6), (3, 2, 6), (3, 4, 4)])
def test_sequences_of_moves_are_as_many_as_the_oracles(rows: int, columns: int, depth: int) -> None:
    level = [nogo(rows, columns).initial_state()]
    for plies in range(1, depth + 1):
        level = [state.after(action) for state in level for action in state.legal_actions()]
        assert len(level) == nogo_oracle.perft(nogo_oracle.start(rows, columns), plies)


def assert_same(state: State, position: NoGo) -> None:
    """Board, mover, end, winner, key and the legal points of both players are the oracle's. Queues hold all that are legal."""
    legal = [position.legal(player) for player in (0, 1)]
    assert board_of(state) == position.board
    assert state.over == (not legal[position.mover])
    assert state.player == (OVER if state.over else position.mover)
    assert [legal_for(state, player) for player in (0, 1)] == legal
    for player in (0, 1):
        in_queue = set(queued(state, player))
        assert in_queue >= set(legal[player])
        assert all(position.board[point] == "." for point in in_queue)
    words = [2 * [0], *([0, 1] if mark == "x" else [1, 0] if mark == "o" else [0, 0] for mark in position.board)]
    words[0] = [int(state.player == 1), int(state.player == 0)]
    bits = int("".join(f"{high}{low}" for high, low in reversed(words)), 2)
    assert int.from_bytes(state.key[: 8 * state.rules.key_words], "little") == bits
    if state.over:
        assert state.payoffs()[position.mover] == 0
        assert state.payoffs()[1 - position.mover] == 1


def games(rows: int, columns: int, seed: int) -> Iterator[tuple[State, NoGo]]:
    """All positions of one random game after another, each with the oracle's."""
    choice, rules = random.Random(f"{rows}x{columns} {seed}"), nogo(rows, columns)
    while True:
        state, position = rules.initial_state(), nogo_oracle.start(rows, columns)
        yield state, position
        while not state.over:
            action = choice.choice(state.legal_actions())
            state, position = state.after(action), position.after(action)
            yield state, position


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.sweep(15)
def test_legal_moves_are_those_of_a_flood_fill_on_random_positions(seed: int) -> None:
    """B007, B035: of more than 50,000 positions in all, of every size, with their keys."""
    for rows, columns in BOARDS:
        number = 100 if rows * columns > 200 else 300 if rows * columns > 100 else 400
        for (state, position), _ in zip(games(rows, columns, seed), range(number), strict=False):
            assert_same(state, position)


@pytest.mark.parametrize(("rows", "columns"), [(1, 8), (2, 4), pytest.param(3, 3, marks=pytest.mark.slow)])
def test_a_point_that_is_illegal_for_a_colour_stays_so(rows: int, columns: int) -> None:
    """On all boards that moves lead to, in turn or not, and after every move of either player."""
    found = {nogo_oracle.start(rows, columns).board}
    waiting = list(found)
    while waiting:
        position = NoGo(rows, columns, waiting.pop())
        legal = [set(position.legal(player)) for player in (0, 1)]
        for player in (0, 1):
            for point in legal[player]:
                after = NoGo(rows, columns, position.board, player).after(point)
                assert all(set(after.legal(other)) <= legal[other] - {point} for other in (0, 1))
                if after.board not in found:
                    found.add(after.board)
                    waiting.append(after.board)


# The end


@pytest.mark.parametrize("irrational", [False, True])
def test_on_a_single_point_the_first_player_has_lost(irrational: bool) -> None:
    """F08: by the rules before the first move, else with the only one."""
    state = nogo(1, 1, irrational=irrational).initial_state()
    if irrational:
        assert (state.player, state.legal_actions()) == (0, [0])
        state = state.after(0)
    assert (state.over, state.legal_actions(), state.payoffs()) == (True, [], [0.0, 1.0])


def test_an_environment_that_is_over_at_reset_has_its_rewards() -> None:
    env = ucd_envs.make("nogo", size=1).unwrapped
    for _ in range(2):
        env.reset()
        assert (env.terminations, env.rewards) == (dict.fromkeys(env.agents, True), {"player_0": -1, "player_1": 1})
        assert env.last()[2]
        for _ in env.possible_agents:
            env.step(None)
        assert env.agents == []


def test_there_is_nothing_to_search_where_the_game_is_over_at_reset() -> None:
    with pytest.raises(ValueError, match="over"):
        uct(playouts=10).search(nogo(1, 1).initial_state())


SOLVED = {
    **{(1, 1): "", (1, 2): "A1 B1", (1, 3): "B1", (1, 4): "", (1, 7): "D1", (2, 3): "", (2, 4): "", (3, 4): ""},
    (3, 3): "A1 B1 C1 A2 B2 C2 A3 B3 C3",
}
"""The first moves that win."""
WON = {(1, 1): False, (1, 2): True, (1, 3): True, (1, 4): False, (1, 5): True, (1, 6): True, (1, 7): True, (1, 8): True}
WON |= {(2, 2): True, (2, 3): False, (2, 4): False, (2, 5): True, (3, 3): True, (3, 4): False, (4, 4): False}
"""Whether the first player wins."""


def is_won(start: State) -> bool:
    """Whether the player to move wins, by a search of all moves with memory of positions."""
    known: dict[bytes, bool] = {}

    def won(state: State) -> bool:
        if state.key not in known:
            known[state.key] = any(not won(state.after(action)) for action in state.legal_actions())
        return known[state.key]

    return won(start)


@pytest.mark.parametrize(
    ("rows", "columns"), [pytest.param(*size, marks=[pytest.mark.slow] if size == (4, 4) else []) for size in WON]
)
def test_small_boards_have_their_known_values(rows: int, columns: int) -> None:
    """F08."""
    assert is_won(nogo(rows, columns).initial_state()) == WON[rows, columns]


@pytest.mark.parametrize(("rows", "columns"), SOLVED)
def test_the_winning_first_moves_are_those_known(rows: int, columns: int) -> None:
    """F08: on 3x3 all nine, on 1x3 and 1x7 the centre only."""
    start = nogo(rows, columns).initial_state()
    winning = [action for action in start.legal_actions() if not is_won(start.after(action))]
    assert names(start, winning) == SOLVED[rows, columns]


@pytest.mark.parametrize("irrational", [False, True])
@pytest.mark.parametrize("planner", [uct(playouts=3000, seed=1), ucd(1, 0, 1, playouts=3000, seed=1)], ids=str)
def test_a_search_finds_the_only_winning_move(planner: Planner, irrational: bool) -> None:
    """F08: the centre of 1x7."""
    assert planner.act(nogo(1, 7, irrational=irrational).initial_state()) == 3


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"size": 0}, ValueError, "size must be from 1 to 19, not 0"),
        ({"columns": 20}, ValueError, "columns must be from 1 to 19, not 20"),
        ({"rows": 2.5}, TypeError, "rows must be a whole number from 1 to 19, not 2.5"),
        ({"irrational": 1}, TypeError, "irrational must be True or False, not 1"),
        ({"generation": "list"}, ValueError, "generation must be one of queue, points, search, not 'list'"),
    ],
    ids=str,
)
def test_other_settings_are_refused(settings: dict[str, object], error: type[Exception], message: str) -> None:
    """B035."""
    with pytest.raises(error, match=rf"\A{message}\Z"):
        ucd_envs.make_rules("nogo", **settings)


# Irrational moves


def test_an_irrational_move_loses_at_once_and_is_not_put_on_the_board() -> None:
    """[NoGo section 3]: suicide, and taking a chain; every empty point is legal, and the others are not."""
    for text, name in ((CORNER, "A1"), (TAKING, "B1")):
        state = drawn(text, irrational=True)
        board = board_of(state)
        assert state.legal_actions() == [point for point, mark in enumerate(board) if mark == "."]
        lost = played(state, name)
        assert (lost.over, lost.ply, lost.payoffs(), board_of(lost)) == (True, state.ply + 1, [0.0, 1.0], board)
        assert lost.key != state.key
        assert not played(state, "A4").over


def test_a_player_without_a_rational_move_can_only_lose() -> None:
    """On 1x2 Black has both points, and after A1 White has only the other one."""
    state = played(nogo(1, 2, irrational=True).initial_state(), "A1")
    assert (state.player, state.legal_actions(), legal_for(played(nogo(1, 2).initial_state(), "A1"), 1)) == (1, [1], [])
    assert (played(state, "B1").over, played(state, "B1").payoffs()) == (True, [1.0, 0.0])


@pytest.mark.parametrize(("rows", "columns"), [(2, 3), (1, 5), (4, 4), (9, 9)])
def test_irrational_games_are_games_by_the_rules_and_one_move_against_them(rows: int, columns: int) -> None:
    """Side by side with the oracle."""
    choice, rules = random.Random(14), nogo(rows, columns, irrational=True)
    for _ in range(30):
        state, position = rules.initial_state(), nogo_oracle.start(rows, columns)
        while not state.over:
            empty = [point for point, mark in enumerate(position.board) if mark == "."]
            assert state.legal_actions() == empty
            rational = [point for point in empty if position.is_legal(point, position.mover)]
            action = choice.choice(rational if rational and choice.random() < 0.9 else empty)
            state = state.after(action)
            if action in rational:
                position = position.after(action)
            assert (state.over, board_of(state)) == (action not in rational, position.board)
        assert state.payoffs()[position.mover] == 0


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_playout_without_a_rational_move_ends_with_any_empty_point(generation: str) -> None:
    """At the end of a game by the rules with three empty points."""
    ends = (position for state, position in games(3, 3, 16) if state.over)
    board = next(position.board for position in ends if position.board.count(".") == 3)
    black, white = ([point for point, mark in enumerate(board) if mark == wanted] for wanted in STONES)
    rules = nogo(3, 3, irrational=True, generation=generation)
    state = rules.initial_state()
    for ply in range(6):
        state = state.after((black, white)[ply % 2][ply // 2])
    array, trace, rng, counts = state.array(), np.empty(9, np.int32), seeded(15), Counter()
    for _ in range(600):
        array[:] = np.frombuffer(state.data, np.uint8)
        assert rules.kernels.playout(rules.config, array, rng, trace) == 1
        counts[trace[0] & 0xFFFF] += 1
    assert set(counts) == set(state.legal_actions())
    assert chisquare(list(counts.values())).pvalue > 1e-4


# Playouts


def exact(position: NoGo) -> dict[str, Fraction]:
    """The probabilities of the boards at the end of random games."""
    ends: dict[str, Fraction] = {}
    level = {position: Fraction(1)}
    while level:
        below: dict[NoGo, Fraction] = {}
        for place, probability in level.items():
            legal = place.legal(place.mover)
            for point in legal:
                after = place.after(point)
                below[after] = below.get(after, Fraction(0)) + probability / len(legal)
            if not legal:
                ends[place.board] = ends.get(place.board, Fraction(0)) + probability
        level = below
    return ends


@cache
def known_ends(rows: int, columns: int, moves: str) -> dict[str, Fraction]:
    return exact(oracle(played(nogo(rows, columns).initial_state(), moves)))


def oracle(state: State) -> NoGo:
    """The oracle's position on a state's board, by the number of stones."""
    board = board_of(state)
    return NoGo(*state.rules.planes[:2], board, (len(board) - board.count(".")) % 2)


def fits(counts: Counter[str], chances: dict[str, Fraction]) -> bool:
    """Whether values may have these probabilities: chi-square with p > 1e-4, rare values taken together."""
    number = counts.total()
    common = [value for value, chance in chances.items() if number * chance >= 5]
    rest = 1 - sum((chances[value] for value in common), Fraction(0))
    seen, expected = [counts[value] for value in common], [float(number * chances[value]) for value in common]
    if rest:
        seen, expected = [*seen, number - sum(seen)], [*expected, float(number * rest)]
    return set(counts) <= set(chances) and (len(seen) == 1 or chisquare(seen, expected).pvalue > 1e-4)


ROUGH = "B2 D2 C3 B3 A3 D4 C1 A4"
"""Moves on 4x4 after which both queues hold points that have become illegal."""


@pytest.mark.parametrize("irrational", [False, True])
@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize(("rows", "columns", "moves"), [(2, 4, ""), (3, 3, ""), (4, 4, ROUGH)])
def test_playouts_end_on_each_board_as_often_as_uniform_moves_do(
    rows: int, columns: int, moves: str, generation: str, irrational: bool
) -> None:
    """All kinds have the exact distribution of boards, winners and lengths at the end."""
    rules = nogo(rows, columns, generation=generation, irrational=irrational)
    state, rng, counts = played(rules.initial_state(), moves), seeded(11), Counter()
    trace, start = np.empty(rules.max_plies, np.int32), state.array()
    array = start.copy()
    for _ in range(10_000):
        array[:] = start
        length = rules.kernels.playout(rules.config, array, rng, trace)
        end = State.trusted(rules, array.tobytes())
        counts[board_of(end)] += 1
        assert length == end.ply - state.ply
        assert end.payoffs()[oracle(end).mover] == 0
    assert fits(counts, known_ends(rows, columns, moves))


def test_the_rough_position_has_illegal_points_in_both_queues() -> None:
    state = played(nogo(4, 4).initial_state(), ROUGH)
    assert all(set(queued(state, player)) - set(legal_for(state, player)) for player in (0, 1))


@cache
def slow_games(rows: int, columns: int) -> list[tuple[bool, int]]:
    """Whether White has won, and half the length, of random games of the oracle."""
    choice = random.Random(13)
    found = [nogo_oracle.start(rows, columns).playout(choice) for _ in range(100)]
    return [(winner == 1, len(moves) // 2) for winner, moves in found]


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize(("rows", "columns"), [(9, 9), (5, 8)])
def test_playouts_are_won_as_often_and_as_long_as_the_oracles_random_games(rows: int, columns: int, generation: str) -> None:
    rules, rng, ours, out = nogo(rows, columns, generation=generation), seeded(12), [], np.empty(2)
    start = rules.initial_state().array()
    for _ in range(3000):
        array = start.copy()
        rules.kernels.playout(rules.config, array, rng, np.empty(0, np.int32))
        rules.kernels.payoffs(rules.config, array, out)
        ours.append((bool(out[1] > out[0]), int(fields(array, game.STATE).ply) // 2))
    assert homogeneous(ours, slow_games(rows, columns))
