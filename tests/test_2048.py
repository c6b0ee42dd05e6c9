"""2048 against slow rows of numbers, against OpenSpiel, and against exact values of a small board."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from functools import cache, partial

import gymnasium
import numpy as np
import pyspiel
import pytest
from state_bytes import played_out

import ucd_envs
from ucd_envs import pictures
from ucd_envs.boards import tiles
from ucd_envs.games import twenty_forty_eight as game
from ucd_envs.kernels import CHANCE, OVER
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields
from ucd_planners import Planner, ucd, uct
from ucd_planners.arena.match import Match, play_match

Rows = tuple[tuple[int, ...], ...]
UP, RIGHT, DOWN, LEFT = range(4)
MANY = 100_000
SETTINGS = [
    {},
    {"highest": 64},
    {"highest": 32768},
    {"rows": 2, "columns": 2},
    {"rows": 2, "columns": 2, "highest": 8},
    {"rows": 3, "columns": 3},
    {"rows": 2, "columns": 6},
    {"rows": 6, "columns": 2, "highest": 128},
    {"rows": 4, "columns": 5},
    {"rows": 5, "columns": 4},
    {"rows": 6, "columns": 6, "highest": 128},
]


def rules_of(**settings: int) -> Rules:
    """The rules in a configuration."""
    return ucd_envs.make_rules("twenty_forty_eight", **settings)


# The slow board: rows of tiles as numbers, 0 for an empty cell


def squeezed(line: list[int]) -> tuple[list[int], int]:
    """A line after its tiles have slid to the front, and the points."""
    left, points = [tile for tile in line if tile], 0
    out = list[int]()
    while left:
        tile = left.pop(0)
        if left and left[0] == tile:
            tile += left.pop(0)
            points += tile
        out.append(tile)
    return out + [0] * (len(line) - len(out)), points


def pushed(board: Rows, direction: int) -> tuple[Rows, int]:
    """The board after a move, and its points."""
    lines = [list(row) for row in (board if direction in (LEFT, RIGHT) else zip(*board, strict=True))]
    moved = [squeezed(line[::-1] if direction in (RIGHT, DOWN) else line) for line in lines]
    found = [line[::-1] if direction in (RIGHT, DOWN) else line for line, _ in moved]
    if direction in (UP, DOWN):
        found = [list(column) for column in zip(*found, strict=True)]
    return tuple(map(tuple, found)), sum(points for _, points in moved)


def moves(board: Rows) -> list[int]:
    """The moves that change a board."""
    return [direction for direction in range(4) if pushed(board, direction)[0] != board]


def outcomes(board: Rows) -> dict[int, float]:
    """The tiles that can come, as the game numbers them, and their probabilities."""
    empty = [cell for cell, tile in enumerate(sum(board, ())) if not tile]
    return {2 * cell + four: (0.1 if four else 0.9) / len(empty) for cell in empty for four in (0, 1)}


def with_tile(board: Rows, outcome: int) -> Rows:
    """The board when a tile has come."""
    columns, flat = len(board[0]), list(sum(board, ()))
    flat[outcome // 2] = 4 if outcome % 2 else 2
    return tuple(tuple(flat[first : first + columns]) for first in range(0, len(flat), columns))


def shown(state: State) -> Rows:
    """The board as the observation shows it."""
    rules = state.rules
    planes = np.zeros(rules.planes, np.int8)
    rules.kernels.observe(rules.config, state.array(), 0, planes.reshape(-1))
    assert planes.sum(axis=2).max() <= 1
    numbers = (planes * 2 ** np.arange(1, rules.planes[2] + 1)).sum(axis=2)
    return tuple(map(tuple, numbers.tolist()))


def drawn(text: str, fours: int = 0, **settings: int) -> State:
    """The state of a drawn board with the player to move, or the game over, when 4s have come so often.

    It is checked as bytes from outside are.
    """
    lines = [[int(word.replace(".", "0")) for word in line.split()] for line in text.strip().splitlines()]
    rules = rules_of(rows=len(lines), columns=len(lines[0]), **settings)
    data, flat = rules.initial_state().array(), [tile for line in lines for tile in line]
    s = fields(data, game.STATE)
    for cell, tile in enumerate(flat):
        s.board[cell // 16] |= np.uint64(max(tile.bit_length() - 1, 0) << 4 * (cell % 16))
    s.ply = 2 * (sum(flat) // 2 - fours - 1)
    s.player = 0 if moves(tuple(map(tuple, lines))) else OVER
    return State(rules, data.tobytes())


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_random_games_are_those_of_the_slow_board(settings: dict[str, int]) -> None:
    """The board, the mover, legal moves, outcomes and their probabilities, points, the end and the payoff, at every ply."""
    rules, choice, ends = rules_of(**settings), random.Random(str(settings)), set[bool]()
    rows, columns, highest = (rules.settings[name] for name in ("rows", "columns", "highest"))
    assert rules.score is not None
    for _ in range(2 if rows * columns > 20 else 12):
        board: Rows = ((0,) * columns,) * rows
        state, points, favourite = rules.initial_state(), 0, choice.choice((None, LEFT, UP, DOWN))
        for ply in range(rules.max_plies + 1):
            assert (shown(state), state.ply, rules.score(state)) == (board, ply, points)
            State(rules, state.data)
            reached = max(map(max, board)) == highest
            if reached or (ply >= 2 and ply % 2 == 0 and not moves(board)):
                break
            if ply < 2 or ply % 2:
                expected = outcomes(board)
                assert state.player == CHANCE
                assert state.legal_actions() == sorted(expected)
                chances = {a: rules.kernels.probability(rules.config, state.array(), a) for a in expected}
                assert chances == pytest.approx(expected)
                action = choice.choices(list(expected), list(expected.values()))[0]
                board = with_tile(board, action)
            else:
                legal = moves(board)
                assert state.player == 0
                assert state.legal_actions() == legal
                action = favourite if favourite in legal and choice.random() < 0.7 else choice.choice(legal)
                board, gained = pushed(board, action)
                points += gained
            legal = [a for a in range(rules.actions) if rules.kernels.is_legal(rules.config, state.array(), a)]
            assert legal == state.legal_actions()
            assert state.action_named(state.action_name(action)) == action
            state = state.after(action)
        assert (state.player, state.legal_actions()) == (OVER, [])
        assert state.payoffs() == [min(points / rules.rewards[1], 1.0)]
        ends.add(reached)
    assert highest > 8 or True in ends


def test_rows_of_the_table_are_the_slow_ones() -> None:
    """All 65,536 rows, to the left and to the right, but those where two 32768 would meet."""
    table = tiles.row_moves().tolist()
    for row in range(2**16):
        line = [1 << k if (k := row >> 4 * place & 15) else 0 for place in range(4)]
        left, right = squeezed(line)[0], squeezed(line[::-1])[0][::-1]
        if 2**16 not in left:
            for moved, word in ((left, table[row] & 0xFFFF), (right, table[row] >> 16)):
                assert [word >> 4 * place & 15 for place in range(4)] == [max(tile.bit_length() - 1, 0) for tile in moved]


# OpenSpiel


def only_merges(board: Rows, direction: int) -> bool:
    """Whether no tile would slide if all were different."""
    different = tuple(
        tuple(tile and 8 * row + column + 1 for column, tile in enumerate(line)) for row, line in enumerate(board)
    )
    return pushed(different, direction)[0] == different


@pytest.mark.parametrize("favourite", [None, LEFT])
@pytest.mark.parametrize("highest", [32, 2048])
def test_random_games_are_those_of_openspiel(favourite: int | None, highest: int) -> None:
    """Movers, legal lists, outcomes, probabilities, boards, ends and returns, which are the points there.

    OpenSpiel 1.6 does not list a move that only merges a tile which the last move has made. It may end a game so.
    """
    theirs, choice, rules = pyspiel.load_game(f"2048(max_tile={highest})"), random.Random(1), rules_of(highest=highest)
    assert rules.score is not None
    ends = Counter[bool]()
    for _ in range(40):
        state, other, merged = rules.initial_state(), theirs.new_initial_state(), False
        while not state.over:
            if state.player == CHANCE:
                assert other.is_chance_node()
                expected = dict(other.chance_outcomes())
                chances = {a: rules.kernels.probability(rules.config, state.array(), a) for a in state.legal_actions()}
                assert chances == pytest.approx(expected)
                action = choice.choices(list(expected), list(expected.values()))[0]
            else:
                legal, board = other.legal_actions(), shown(state)
                for unlisted in set(state.legal_actions()) - set(legal):
                    assert only_merges(board, unlisted)
                    assert merged
                assert set(legal) <= set(state.legal_actions())
                if other.is_terminal():
                    break
                assert other.current_player() == 0
                assert all(state.action_name(a) == other.action_to_string(a).lower() for a in legal)
                action = choice.choice(legal)
                if favourite is not None and favourite in legal and choice.random() < 0.5:
                    action = favourite
                merged = pushed(board, action)[1] > 0
            state = state.after(action)
            other.apply_action(action)
            numbers = [int(word) for word in str(other).split()]
            assert numbers == [tile for row in shown(state) for tile in row]
        assert other.is_terminal()
        assert other.returns() == [rules.score(state)]
        ends[max(map(max, shown(state))) == highest] += 1
    assert ends[highest == 32] > 20


# Hand positions


@pytest.mark.parametrize(
    ("row", "left", "points"),
    [
        ("2 2 2 2", "4 4 . .", 8),
        ("2 2 4 .", "4 4 . .", 4),
        ("4 2 2 .", "4 4 . .", 4),
        ("2 2 2 .", "4 2 . .", 4),
        ("2 . . 2", "4 . . .", 4),
        ("4 4 8 .", "8 8 . .", 8),
        (". . 4 2", "4 2 . .", 0),
    ],
)
def test_tiles_merge_once_a_turn_the_front_ones_first(row: str, left: str, points: int) -> None:
    """The first two of three equal tiles merge, and a merged tile does not merge again."""
    state = drawn(f"{row}\n. . . .\n. . . .\n. . . .")
    after = state.after(LEFT)
    assert shown(after)[0] == tuple(int(word.replace(".", "0")) for word in left.split())
    assert state.rules.score is not None
    assert state.rules.score(after) - state.rules.score(state) == points


def test_a_move_that_changes_nothing_is_illegal() -> None:
    """All tiles are in the upper left corner, and differ."""
    state = drawn("4 2 . .\n2 . . .\n. . . .\n. . . .")
    assert state.legal_actions() == [RIGHT, DOWN]
    with pytest.raises(ValueError, match="action 0 is not legal here"):
        state.after(UP)


def test_a_full_board_without_equal_neighbours_is_over() -> None:
    """And one with a pair is not."""
    assert drawn("2 4 2 4\n4 2 4 2\n2 4 2 4\n4 2 4 2").over
    assert drawn("2 4 2 4\n4 2 4 2\n2 4 2 4\n4 8 8 2").legal_actions() == [RIGHT, LEFT]


def test_the_highest_tile_ends_the_game() -> None:
    """Before another tile comes; the payoff is the score, 20,480 for a 2048 of twos alone."""
    state = drawn("1024 1024 . .\n. . . .\n. . . .\n2 . . .").after(RIGHT)
    assert shown(state)[0] == (0, 0, 0, 2048)
    assert (state.player, state.payoffs()) == (OVER, [1.0])
    state = drawn("1024 1024 . .\n. . . .\n. . . .\n2 . . .", fours=128).after(RIGHT)
    assert state.payoffs() == [(20_480 - 4 * 128) / 20_480]
    assert not drawn("1024 1024 . .\n. . . .\n. . . .\n2 . . .", highest=4096).after(RIGHT).over


def test_the_goal_of_a_small_board_can_be_reached() -> None:
    """32 is the largest tile of 2x2, 128 its points of twos alone; and no game of 4 cells takes longer than 64 plies."""
    rules = rules_of(rows=2, columns=2)
    assert (rules.rewards[1], rules.max_plies) == (128, 64)
    assert rules_of().rewards[1] == 20_480


def test_move_orders_to_one_position_are_equal() -> None:
    """The same tiles come in another order: equal boards at equal plies have equal scores."""
    rules = rules_of()
    one, other = (rules.initial_state().after(first).after(second) for first, second in ((0, 7), (7, 0)))
    assert one == other
    assert hash(one) == hash(other)
    assert one != rules.initial_state().after(1).after(6)
    assert one.after(DOWN) != one.after(RIGHT)


def test_a_board_at_another_ply_has_other_points() -> None:
    """A 4 that came as such has scored nothing."""
    came, made = drawn("4 2 . .\n. . . .\n. . . .\n. . . .", fours=1), drawn("4 2 . .\n. . . .\n. . . .\n. . . .")
    assert came.words == made.words
    assert came != made
    assert came.rules.score is not None
    assert (came.rules.score(came), came.rules.score(made)) == (0, 4)


def test_positions_are_as_many_as_on_the_slow_board() -> None:
    """Distinct boards and points by ply: 32 tiles come first, then 480 pairs: 120 pairs of cells times four kinds."""
    level, counts = {rules_of().initial_state()}, list[int]()
    empty: Rows = ((0,) * 4,) * 4
    boards, expected = {(empty, 0)}, list[int]()
    for ply in range(5):
        counts.append(len(level))
        expected.append(len(boards))
        level = {state.after(action) for state in level for action in state.legal_actions()}
        if ply == 2:
            after = [(pushed(board, action), points) for board, points in boards for action in moves(board)]
            boards = {(board, points + gained) for (board, gained), points in after}
        else:
            boards = {(with_tile(board, outcome), points) for board, points in boards for outcome in outcomes(board)}
    assert counts[:3] == [1, 32, 480]
    assert counts == expected


# Playouts


@pytest.mark.parametrize("settings", [{}, {"rows": 2, "columns": 3}, {"highest": 16}], ids=str)
def test_traced_playouts_are_random_games(settings: dict[str, int]) -> None:
    """The moves of a trace lead to the state that the playout leaves; it may stop anywhere."""
    rules, choice = rules_of(**settings), random.Random(1)
    for seed in range(60):
        trace, state = np.zeros(choice.choice((1, 2, 3, 50, 5000)), np.int32), rules.initial_state().array()
        count = rules.kernels.playout(rules.config, state, seeded(seed), trace)
        played = rules.initial_state()
        for move in trace[:count].tolist():
            assert move >> 16 == played.player
            played = played.after(move & 0xFFFF)
        assert played.data == state.tobytes()
        assert played.over or count == len(trace)


@pytest.mark.parametrize("settings", [{}, {"highest": 32}, {"highest": 128}], ids=str)
def test_quick_playouts_have_the_payoffs_and_lengths_of_random_games(settings: dict[str, int]) -> None:
    """Means over 4,000 games within 4 standard errors of those of traced playouts, from the start and from a full board."""
    rules, payoff = rules_of(**settings), np.zeros(1)
    crowded = drawn("2 4 2 4\n4 8 . 2\n2 4 2 4\n. . . 2", **settings)
    for start in (rules.initial_state(), crowded):
        found = np.zeros((2, 2, 4000))
        for kind, room in enumerate((0, rules.max_plies)):
            rng, trace = seeded(kind), np.empty(room, np.int32)
            for i in range(found.shape[2]):
                state = start.array()
                count = rules.kernels.playout(rules.config, state, rng, trace)
                State(rules, state.tobytes())
                rules.kernels.payoffs(rules.config, state, payoff)
                found[kind, :, i] = payoff[0] * rules.rewards[1], count
                assert fields(state, game.STATE).ply == start.ply + count
        means, errors = found.mean(axis=2), found.std(axis=2) / math.sqrt(found.shape[2])
        assert (np.abs(means[0] - means[1]) < 4 * np.hypot(errors[0], errors[1])).all(), (means, errors)


def test_random_games_have_the_points_of_the_slow_board() -> None:
    """1,082 points, with a standard error of 8, of 4,000 random games on the slow board."""
    rules, rng, payoff, points = rules_of(), seeded(1), np.zeros(1), 0.0
    for _ in range(20_000):
        state = rules.initial_state().array()
        rules.kernels.playout(rules.config, state, rng, np.empty(0, np.int32))
        rules.kernels.payoffs(rules.config, state, payoff)
        points += payoff[0] * 20_480
    assert abs(points / 20_000 - 1082) < 4 * math.hypot(8, 4)


def test_tiles_come_with_their_probabilities() -> None:
    """20,000 draws on a board with three empty cells."""
    state = drawn("2 4 2 4\n4 8 . 2\n2 4 2 .\n8 4 2 2").after(LEFT)
    assert [state.action_name(a) for a in state.legal_actions()] == ["2-d2", "4-d2", "2-d3", "4-d3", "2-d4", "4-d4"]
    rules, rng = state.rules, seeded(1)
    found = Counter(rules.kernels.draw(rules.config, state.array(), rng) for _ in range(20_000))
    assert sorted(found) == state.legal_actions()
    for action, count in found.items():
        mean = 20_000 * (0.1 if action % 2 else 0.9) / 3
        assert abs(count - mean) < 5 * math.sqrt(mean)


def test_moves_of_playouts_are_uniform() -> None:
    """Two legal directions, half of the time each."""
    state = drawn("4 2 . .\n2 . . .\n. . . .\n. . . .")
    rng = seeded(1)
    found = Counter(state.rules.kernels.playout_action(state.rules.config, state.array(), rng) for _ in range(4000))
    assert set(found) == {RIGHT, DOWN}
    assert abs(found[RIGHT] - 2000) < 5 * math.sqrt(1000)


# Exact values


@cache
def coming(board: Rows) -> float:
    """The expected points from a board to which a tile comes, of 2x2 with best play."""
    return sum(chance * best(with_tile(board, outcome)) for outcome, chance in outcomes(board).items())


def worth(board: Rows) -> dict[int, float]:
    """The expected points to come by each move."""
    after = {action: pushed(board, action) for action in moves(board)}
    return {
        action: points + (0.0 if max(map(max, moved)) == 32 else coming(moved)) for action, (moved, points) in after.items()
    }


@cache
def best(board: Rows) -> float:
    """The expected points to come of the best move, 0 where there is none."""
    return max(worth(board).values(), default=0.0)


PLANNERS: dict[str, Callable[..., Planner]] = {
    "uct": uct,
    "ucd(1, 0, 1)": partial(ucd, 1, 0, 1),
    "ucd(inf, 0, 1)": partial(ucd, math.inf, 0, 1),
    "ucd(0, 1, 2)": partial(ucd, 0, 1, 2),
}


def small_boards(count: int, seed: int) -> list[State]:
    """Positions of random games on 2x2, to 32, where the moves differ by at least a point."""
    rules, choice, found = rules_of(rows=2, columns=2, highest=32), random.Random(seed), list[State]()
    while len(found) < count:
        state = rules.initial_state()
        for _ in range(choice.choice((6, 8, 10))):
            if not state.over:
                state = state.after(choice.choice(state.legal_actions()))
        if state.player == 0 and state.ply >= 6 and state not in found:
            values = worth(shown(state)).values()
            if max(values) - min(values) >= 1:
                found.append(state)
    return found


def error(planner: Planner, state: State) -> float:
    """How far the value of the planner's move lies from that of the best one, in points, after asserting that it is as good."""
    assert state.rules.score is not None
    values, result = worth(shown(state)), planner.search(state)
    if planner.playouts == MANY:
        assert max(values.values()) - values[result.action] < 4, (state, values, result.action)
    points = result.values[list(result.actions).index(result.action)] * state.rules.rewards[1] - state.rules.score(state)
    return abs(float(points) - max(values.values()))


@pytest.mark.parametrize("name", PLANNERS)
def test_searches_find_the_exact_value_of_a_small_board(name: str) -> None:
    """Within 2.5 points of 128 at 100,000 playouts."""
    planner = PLANNERS[name](playouts=MANY, seed=1)
    assert max(error(planner, state) for state in small_boards(3, seed=1)) < 2.5


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANNERS)
def test_errors_fall_with_playouts(name: str) -> None:
    """From 1,000 to 100,000 playouts, in the mean of 20 positions."""
    states = small_boards(20, seed=2)
    few, many = ([error(PLANNERS[name](playouts=n, seed=1), state) for state in states] for n in (1000, MANY))
    assert sum(many) < sum(few) / 2
    assert max(many) < 4


def test_a_match_of_uct_has_many_times_the_points_of_random() -> None:
    """Random moves make about 1,100 points a game, and 40 playouts a move some ten times as many."""
    points = []
    for agent, games in (("random", 300), ("uct", 2)):
        match = Match("twenty_forty_eight", agent, budget={"playouts": 40}, games=games)
        points.append(play_match(match).score().mean * 20_480)
    assert 1000 < points[0] < 1200
    assert points[1] > 5 * points[0]


@pytest.mark.slow
def test_uct_reaches_1024_in_most_games() -> None:
    """In at least 14 of 20, with 1,000 playouts a move."""
    rules, rng, reached = rules_of(), seeded(1), 0
    planner = uct(c=0.1, playouts=1000, seed=1)
    for _ in range(20):
        state = rules.initial_state()
        while not state.over:
            state = state.after(state.outcome(rng) if state.player == CHANCE else planner.search(state).action)
        reached += max(map(max, shown(state))) >= 1024
    assert reached >= 14


# Bytes and settings


@pytest.mark.parametrize("settings", [{}, {"rows": 2, "columns": 3}, {"rows": 3, "columns": 6, "highest": 64}], ids=str)
def test_mutated_states_are_refused_or_play_to_the_end(settings: dict[str, int]) -> None:
    """Those accepted keep their identities to the end, in time, whatever is played."""
    ends = list(played_out(rules_of(**settings), 1, 300))
    assert len(ends) > 5
    assert all(0 <= end.payoffs()[0] <= 1 for end in ends)


@pytest.mark.parametrize("change", ["player", "ply", "outside", "above", "board"])
def test_fields_that_contradict_each_other_are_refused(change: str) -> None:
    """A mover who is not, a ply that tells of more tiles, a tile off the board or above the highest, and a tile too many."""
    state = drawn("4 2 .\n2 . .", highest=64)
    data = state.array()
    s = fields(data, game.STATE)
    if change == "player":
        s.player = CHANCE
    elif change == "ply":
        s.ply += 20
    elif change == "outside":
        s.board[1] = 1
    elif change == "above":
        s.board[0] |= 7 << 20
    else:
        s.board[0] |= 5 << 20
    with pytest.raises(ValueError, match="its fields contradict each other"):
        State(state.rules, data.tobytes())


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"rows": 1}, "rows must be from 2 to 6, not 1"),
        ({"columns": 7}, "columns must be from 2 to 6, not 7"),
        ({"highest": 4}, "highest must be from 8 to 32768, not 4"),
        ({"highest": 65536}, "highest must be from 8 to 32768, not 65536"),
        ({"highest": 100}, "highest must be a power of two from 8 to 32768, not 100"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, int], sentence: str) -> None:
    """With one sentence that says what is allowed."""
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        rules_of(**settings)


@pytest.mark.parametrize("text", ["", "2", "2-", "2-e1", "8-a1", "left", "-a1", "2-a1 "])
def test_a_text_that_names_no_tile_is_refused(text: str) -> None:
    """With one sentence."""
    with pytest.raises(ValueError, match="expected"):
        rules_of().initial_state().action_named(text)


def test_gymnasium_makes_the_game() -> None:
    """With settings. Chance moves by itself, and the reward of the last move is the score."""
    env = gymnasium.make("ucd_envs/TwentyFortyEight-v0", rows=2, columns=2)
    assert env.observation_space.shape == (2, 2, 11)
    observation, info = env.reset(seed=1)
    assert observation.sum() == 2
    rewards, over = [], False
    while not over:
        observation, reward, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
        rewards.append(float(reward))
    state = env.unwrapped.clone_state()  # type: ignore[attr-defined]
    assert rewards[:-1] == [0.0] * (len(rewards) - 1)
    assert rewards[-1] == min(state.rules.score(state), 128)


def test_an_illegal_move_ends_the_game_of_gymnasium() -> None:
    """With reward -1, as in the games of several players; a number that is no action is an error."""
    env = gymnasium.make("ucd_envs/TwentyFortyEight-v0", rows=2, columns=2)
    _, info = env.reset(seed=1)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    _, reward, terminated, truncated, info = env.step(illegal)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert not info["action_mask"].any()


def test_a_picture_shows_the_tiles() -> None:
    """Numbers in columns."""
    text = pictures.text(drawn("128 4 .\n2 . .")).splitlines()
    assert text[1:4] == ["      a   b   c", "  1 128   4   .", "  2   2   .   ."]
