"""Connect Four against OpenSpiel, against a slow scanner of lines, and against known counts and values."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import product

import numpy as np
import pytest
from lockstep import lockstep, mean_return

import ucd_envs
from ucd_envs.games import connect_four as game
from ucd_envs.kernels import kernel
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields

Cell = tuple[int, int]
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


def connect_four(**settings: int) -> Rules:
    """The rules of Connect Four in a configuration."""
    return ucd_envs.make_rules("connect_four", **settings)


def played(rules: Rules, columns: str) -> State:
    """The state after moves written as players do, one digit each: columns counted from 1."""
    state = rules.initial_state()
    for column in columns:
        state = state.after(int(column) - 1)
    return state


def drawn(text: str, player: int) -> State:
    """The state of a drawn board, x for player 0 and o for player 1, the top row first, with a player to move."""
    rows = [line.split() for line in text.strip().splitlines()]
    cells = [(column, len(rows) - 1 - row, mark) for row, line in enumerate(rows) for column, mark in enumerate(line)]
    x, o = ({(column, row) for column, row, mark in cells if mark == wanted} for wanted in "xo")
    return placed(connect_four(columns=len(rows[0]), rows=len(rows)), x, o, player)


def placed(rules: Rules, x: set[Cell], o: set[Cell], player: int) -> State:
    """The state with these stones as (column, row from the bottom), written straight into the record."""
    array = rules.initial_state().array()
    s = fields(array, game.STATE)
    s.player, s.ply = player, len(x) + len(o)
    for owner, cells in enumerate((x, o)):
        s.stones[owner] = sum(1 << (column * (rules.planes[0] + 1) + row) for column, row in cells)
    return State.trusted(rules, array.tobytes())


def lines(columns: int, rows: int, in_a_row: int) -> list[set[Cell]]:
    """All sets of so many cells in a row, as (column, row from the bottom)."""
    found = []
    for column, row, (right, up) in product(range(columns), range(rows), DIRECTIONS):
        line = {(column + i * right, row + i * up) for i in range(in_a_row)}
        if all(0 <= c < columns and 0 <= r < rows for c, r in line):
            found.append(line)
    return found


def longest_line(stones: set[Cell], cell: Cell) -> int:
    """The slow scanner: how many stones stand in a row through a cell."""
    best = 1
    for right, up in DIRECTIONS:
        length = 1
        for sign in (1, -1):
            column, row = cell
            while (column := column + sign * right, row := row + sign * up) in stones:
                length += 1
        best = max(best, length)
    return best


def assert_random_games_are_the_scanners(columns: int, rows: int, in_a_row: int, games: int) -> None:
    """Plays random games and checks the end and the payoffs after every ply; every second game tends to one column."""
    rules, choice = connect_four(columns=columns, rows=rows, in_a_row=in_a_row), random.Random(f"{columns} {rows} {in_a_row}")
    for number in range(games):
        state, heights = rules.initial_state(), [0] * columns
        stones: tuple[set[Cell], set[Cell]] = (set(), set())
        while not state.over:
            mover, legal = state.player, [column for column in range(columns) if heights[column] < rows]
            assert state.legal_actions() == legal
            column = legal[0] if number % 2 and choice.random() < 0.5 else choice.choice(legal)
            state = state.after(column)
            stones[mover].add((column, heights[column]))
            won = longest_line(stones[mover], (column, heights[column])) >= in_a_row
            heights[column] += 1
            assert state.over == (won or sum(heights) == columns * rows), (columns, rows, in_a_row, stones)
            if state.over:
                assert state.payoffs() == ([1.0 - mover, 0.0 + mover] if won else [0.5, 0.5])


# OpenSpiel


def test_random_games_are_those_of_openspiel() -> None:
    """Legal lists, movers, ends and returns agree at every ply; wins of both and draws occur."""
    assert set(lockstep(connect_four(), "connect_four", 1000, seed=1)) == {(1, -1), (-1, 1), (0, 0)}


def test_random_games_of_another_size_are_those_of_openspiel() -> None:
    """Five in a row on eight columns and five rows."""
    rules = connect_four(columns=8, rows=5, in_a_row=5)
    assert set(lockstep(rules, "connect_four(rows=5,columns=8,x_in_row=5)", 500, seed=1)) == {(1, -1), (-1, 1), (0, 0)}


def test_playouts_have_the_mean_return_of_openspiels() -> None:
    """+0.1128 with a standard error of 0.0022, measured with OpenSpiel's own playouts."""
    ours, our_error = mean_return(connect_four(), 200_000, seed=1)
    assert abs(ours - 0.1128) < 4 * math.hypot(our_error, 0.0022)


# Counts and values


def test_distinct_positions_and_move_sequences_are_as_many_as_known() -> None:
    """F04: positions by ply 0 to 8, and the sequences that lead to them, counted on the merged graph."""
    rules = connect_four()
    kernels, config, actions = rules.kernels, rules.config, np.empty(7, np.int32)
    words = np.zeros(1, np.uint64)
    level = {rules.initial_state().key: (rules.initial_state().array(), 1)}
    positions, sequences = [1], [1]
    for _ in range(8):
        following: dict[bytes, tuple[np.ndarray, int]] = {}
        for state, count in level.values():
            for action in actions[: kernels.legal_actions(config, state, actions)].tolist():
                child = state.copy()
                kernels.play(config, child, action)
                kernels.key(config, child, words)
                key = words.tobytes()
                following[key] = (child, following.get(key, (child, 0))[1] + count)
        level = following
        positions.append(len(level))
        sequences.append(sum(count for _, count in level.values()))
    assert positions == [1, 7, 49, 238, 1120, 4263, 16422, 54859, 184275]
    assert sequences == [1, 7, 49, 343, 2401, 16807, 117649, 823536, 5673234]


@kernel()
def value(config, states, words, payoffs, depth, keys, values):
    """Twice the payoff of the mover of states[depth] under perfect play: 0, 1 or 2; depth first with a table."""
    state = states[depth]
    mover = fields(state, game.STATE).player
    game.key(config, state, words[depth])
    word = words[depth, 0]
    slot = np.int64((word * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(44))
    if keys[slot] == word:
        return values[slot]
    best = np.int64(0)
    for action in range(np.int64(fields(config, game.CONFIG).columns)):
        if best < 2 and game.is_legal(config, state, action):
            for i in range(states.shape[1]):
                states[depth + 1, i] = state[i]
            game.play(config, states[depth + 1], action)
            if fields(states[depth + 1], game.STATE).player < 0:
                game.payoffs(config, states[depth + 1], payoffs)
                best = max(best, np.int64(2 * payoffs[mover]))
            else:
                best = max(best, 2 - value(config, states, words, payoffs, depth + 1, keys, values))
    keys[slot], values[slot] = word, best
    return best


@pytest.mark.parametrize(("columns", "rows"), [(4, 4), (5, 4), (4, 5)])
def test_small_boards_are_draws(columns: int, rows: int) -> None:
    """F04: under perfect play."""
    rules = connect_four(columns=columns, rows=rows)
    states, words = np.zeros((rules.max_plies + 1, rules.state_bytes), np.uint8), np.zeros((rules.max_plies + 1, 1), np.uint64)
    states[0] = rules.initial_state().array()
    keys, values = np.zeros(2**20, np.uint64), np.zeros(2**20, np.int64)
    assert value(rules.config, states, words, np.zeros(2), 0, keys, values) == 1


def test_all_reachable_positions_of_4x4_have_words_of_their_own() -> None:
    """B089: 161,029 positions of stones, one word each (John Tromp counts as many legal positions of 4x4)."""
    rules = connect_four(columns=4, rows=4)
    kernels, config, actions = rules.kernels, rules.config, np.empty(4, np.int32)
    words = np.zeros(1, np.uint64)
    start = rules.initial_state().array()
    layout = game.STATE
    looks: dict[int, bytes] = {}
    queue = [start]
    for state in queue:
        kernels.key(config, state, words)
        look = state.view(layout)["stones"].tobytes()
        if looks.setdefault(int(words[0]), look) != look:
            pytest.fail("two boards share a word")
        for action in actions[: kernels.legal_actions(config, state, actions)].tolist():
            child = state.copy()
            kernels.play(config, child, action)
            kernels.key(config, child, words)
            if int(words[0]) not in looks:
                looks[int(words[0])] = child.view(layout)["stones"].tobytes()
                queue.append(child)
    assert len(looks) == len(set(looks.values())) == 161_029


# Lines

STANDARD = lines(7, 6, 4)
LAST_STONES = [(line, cell) for line in STANDARD for cell in line if (cell[0], cell[1] + 1) not in line]
"""The lines of the standard board with each stone that can be the last to fall."""


def fallen(own: set[Cell], other: set[Cell], cell: Cell, player: int) -> State:
    """The standard board after a player's stone has fallen to a cell, with stones of the other player below where needed."""
    below = other | ({(cell[0], row) for row in range(cell[1])} - own)
    stones = (own, below) if player == 0 else (below, own)
    return placed(connect_four(), *stones, player=player).after(cell[0])


def test_the_standard_board_has_69_lines() -> None:
    """B046: 24 along rows, 21 along columns, 24 along diagonals; 21 + 4 * 48 last stones."""
    assert (len(STANDARD), len(LAST_STONES)) == (69, 213)


@pytest.mark.parametrize("player", [0, 1])
def test_each_line_alone_wins_when_its_last_stone_falls(player: int) -> None:
    """B046: whichever of its stones is the last; lines that touch a border included."""
    for line, last in LAST_STONES:
        assert fallen(line - {last}, set(), last, player).payoffs() == [1.0 - player, 0.0 + player]


def test_no_line_wins_while_a_stone_of_it_is_missing() -> None:
    """B046: three of the four are not enough, wherever the gap is."""
    for line, last in LAST_STONES:
        for missing in line - {last}:
            if missing[0] != last[0]:
                assert not fallen(line - {last, missing}, set(), last, 0).over


def test_a_stone_of_the_opponent_breaks_a_line() -> None:
    """B046: three own stones with one of the other player are no line."""
    for line, last in LAST_STONES:
        for broken in line - {last}:
            assert not fallen(line - {last, broken}, {broken}, last, 0).over


@pytest.mark.parametrize("above", [1, 2, 3])
def test_a_line_does_not_go_on_at_the_foot_of_the_next_column(above: int) -> None:
    """Stones on top of one column and at the bottom of the next are no neighbours."""
    top, foot = {(0, 6 - above + i) for i in range(above)}, {(1, row) for row in range(3 - above)}
    assert not fallen(top | foot, set(), (1, 3 - above), 0).over


def test_a_gap_of_one_is_not_a_line() -> None:
    """B047: x x . x x in the bottom row."""
    assert not played(connect_four(), "11224455").over


def test_a_stone_in_the_gap_joins_two_runs() -> None:
    """B047: five in a row, longer than needed, win as well."""
    assert played(connect_four(), "112244553").payoffs() == [1.0, 0.0]


def test_the_stone_that_fills_the_board_can_win() -> None:
    """B044: player 1 wins with the 42nd stone, and nobody before."""
    columns = "211131416572345677654327654322345677654321"
    rules = connect_four()
    assert len(columns) == 42
    assert not played(rules, columns[:-1]).over
    full = played(rules, columns)
    assert full.ply == 42
    assert full.payoffs() == [0.0, 1.0]


def test_a_full_board_without_a_line_is_a_draw() -> None:
    """B053: half a point each."""
    state = played(connect_four(columns=4, rows=4, in_a_row=4), "1212212134344343")
    assert state.ply == 16
    assert state.payoffs() == [0.5, 0.5]


def test_player_0_wins_with_one_move() -> None:
    """B064: the fourth stone of a diagonal."""
    state = drawn(
        """
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . x o . . .
        o x o x . . .
        x o x o . . .
        """,
        player=0,
    )
    assert state.after(3).payoffs() == [1.0, 0.0]
    assert not state.after(0).over


def test_player_1_wins_with_one_move() -> None:
    """B064: the fourth stone of a column at the right border."""
    state = drawn(
        """
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . o
        x . . . . . o
        x x . . x . o
        """,
        player=1,
    )
    assert state.after(6).payoffs() == [0.0, 1.0]
    assert not state.after(0).over


# Sizes


@pytest.mark.parametrize(
    ("columns", "rows", "in_a_row"),
    [
        (7, 6, 4),
        (7, 6, 2),
        (7, 6, 7),
        (8, 7, 4),
        (8, 7, 3),
        (8, 7, 8),
        (1, 1, 2),
        (1, 63, 2),
        (1, 63, 4),
        (1, 63, 32),
        (1, 62, 3),
        (2, 2, 2),
        (2, 30, 2),
        (2, 31, 3),
        (3, 20, 3),
        (4, 15, 4),
        (4, 15, 8),
        (4, 14, 13),
        (5, 11, 5),
        (6, 9, 6),
        (9, 6, 5),
        (10, 5, 4),
        (12, 4, 4),
        (16, 3, 3),
        (21, 2, 5),
        (32, 1, 3),
        (32, 1, 32),
    ],
)
def test_games_of_any_size_end_as_the_scanner_says(columns: int, rows: int, in_a_row: int) -> None:
    """Up to all 64 bits of a word, for lines from two stones to the longest side."""
    assert_random_games_are_the_scanners(columns, rows, in_a_row, games=30)


@pytest.mark.slow
@pytest.mark.parametrize("columns", range(1, 33))
def test_games_of_every_size_end_as_the_scanner_says(columns: int) -> None:
    """Every number of rows and every length of line that the builder accepts."""
    for rows in range(1, 64 // columns):
        for in_a_row in range(2, max(columns, rows, 2) + 1):
            assert_random_games_are_the_scanners(columns, rows, in_a_row, games=10)


def test_a_column_of_63_rows_alternates_to_a_draw() -> None:
    """The board that fills its word to the last bit: stones alternate, so nobody has two in a row."""
    state = connect_four(columns=1, rows=63, in_a_row=2).initial_state()
    for _ in range(63):
        assert not state.over
        state = state.after(0)
    assert state.payoffs() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"columns": 8, "rows": 8}, r"columns \* \(rows \+ 1\) must be at most 64, but 8 \* 9 is 72"),
        ({"columns": 2, "rows": 32}, r"columns \* \(rows \+ 1\) must be at most 64, but 2 \* 33 is 66"),
        ({"columns": 33, "rows": 1}, "columns must be from 1 to 32, not 33"),
        ({"columns": 0}, "columns must be from 1 to 32, not 0"),
        ({"columns": 1, "rows": 64}, "rows must be from 1 to 63, not 64"),
        ({"rows": 0}, "rows must be from 1 to 63, not 0"),
        ({"in_a_row": 1}, "in_a_row must be from 2 to 7, not 1"),
        ({"in_a_row": 8}, "in_a_row must be from 2 to 7, not 8"),
        ({"columns": 3, "rows": 3}, "in_a_row must be from 2 to 3, not 4"),
    ],
)
def test_sizes_out_of_range_are_refused(settings: dict[str, int], sentence: str) -> None:
    """With one sentence that says what is allowed."""
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        connect_four(**settings)


@pytest.mark.parametrize("rows", [6.0, "6", None, True])
def test_a_size_that_is_no_whole_number_is_refused(rows: object) -> None:
    """With one sentence, and whichever sizes have been asked for before."""
    connect_four(columns=7, rows=6)
    connect_four(columns=7, rows=1)
    with pytest.raises(TypeError, match="rows must be a whole number from 1 to 63"):
        connect_four(columns=7, rows=rows)  # type: ignore[arg-type]


# What players see


def test_both_players_see_the_stones_where_they_are() -> None:
    """B049: own stones in plane 0, the other's in plane 1, the top row first."""
    rules = connect_four(columns=4, rows=4)
    state = rules.initial_state().after(1).after(1).after(3)
    views = np.zeros((2, 4, 4, 2), np.int8)
    for player in range(2):
        rules.kernels.observe(rules.config, state.array(), player, views[player].reshape(-1))
    x = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 1]]
    o = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert views[0].transpose(2, 0, 1).tolist() == [x, o]
    assert views[1].transpose(2, 0, 1).tolist() == [o, x]


def test_a_full_column_is_not_legal() -> None:
    """Six stones fill a column; the other six columns stay open."""
    assert played(connect_four(), "111111").legal_actions() == [1, 2, 3, 4, 5, 6]


def test_columns_are_written_from_1() -> None:
    """As players write them."""
    rules = connect_four()
    assert [rules.initial_state().action_name(action) for action in range(7)] == list("1234567")


def test_random_games_fill_columns_evenly() -> None:
    """The playout policy prefers no column while none is full: the first moves of 7,000 playouts."""
    rules, trace = connect_four(), np.zeros(42, np.int32)
    rng = np.array([1, 2], np.uint64)
    first: Counter[int] = Counter()
    for _ in range(7000):
        rules.kernels.playout(rules.config, rules.initial_state().array(), rng, trace)
        first[int(trace[0]) % 2**16] += 1
    assert all(abs(first[column] - 1000) < 5 * math.sqrt(1000 * 6 / 7) for column in range(7))
