"""Hex against OpenSpiel, against a slow oracle of our own, and against solved openings."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable

import numpy as np
import pytest
from lockstep import lockstep, mean_return

import ucd_envs
from ucd_envs.games import hex as game
from ucd_envs.kernels import OVER, kernel
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields, popcount

Cell = tuple[int, int]


def hex_rules(**settings: int | str | bool) -> Rules:
    """The rules of Hex in a configuration."""
    return ucd_envs.make_rules("hex", **settings)


def picture(state: State) -> list[str]:
    """The board as rows of x (player 0), o (player 1) and dots, from what player 0 sees."""
    planes = np.zeros(state.rules.planes, np.int8)
    state.rules.kernels.observe(state.rules.config, state.array(), 0, planes.reshape(-1))
    return ["".join("x" if own else "o" if other else "." for own, other in row) for row in planes[..., :2].tolist()]


def stones(text: str) -> tuple[tuple[int, int], list[Cell], list[Cell]]:
    """Size (rows, columns) of a drawn board, and the cells of x and of o in reading order."""
    rows = [line.split() for line in text.strip().splitlines()]
    cells = [(r, c, mark) for r, row in enumerate(rows) for c, mark in enumerate(row)]
    x, o = ([(r, c) for r, c, mark in cells if mark == wanted] for wanted in "xo")
    return (len(rows), len(rows[0])), x, o


def drawn(text: str) -> State:
    """The state of a drawn board: x and o place their stones in turn in reading order, x first."""
    (rows, columns), x, o = stones(text)
    assert 0 <= len(x) - len(o) <= 1
    state = hex_rules(rows=rows, columns=columns).initial_state()
    for ply in range(len(x) + len(o)):
        r, c = (x, o)[ply % 2][ply // 2]
        state = state.after(r * columns + c)
    return state


class Chains:
    """The slow oracle: disjoint sets of cells and of the four sides, on the six neighbours as the rules state them."""

    def __init__(self, rows: int, columns: int) -> None:
        self.size = (rows, columns)
        self.owner: dict[Cell, int] = {}
        self.parent: dict[object, object] = {}

    def root(self, member: object) -> object:
        """The member that stands for a set."""
        while self.parent.setdefault(member, member) != member:
            member = self.parent[member]
        return member

    def put(self, cell: Cell, player: int) -> bool:
        """Puts a stone; whether it joins its player's two sides, top and bottom for player 0, left and right for player 1."""
        (row, column), (rows, columns) = cell, self.size
        self.owner[cell] = player
        along, last = (row, rows - 1) if player == 0 else (column, columns - 1)
        sides = [(player, "first")] * (along == 0) + [(player, "last")] * (along == last)
        around = [
            (row, column - 1),
            (row, column + 1),
            (row - 1, column),
            (row + 1, column),
            (row - 1, column + 1),
            (row + 1, column - 1),
        ]
        for other in (*sides, *(near for near in around if self.owner.get(near) == player)):
            self.parent[self.root(other)] = self.root(cell)
        return self.root((player, "first")) == self.root((player, "last"))


# OpenSpiel


@pytest.mark.parametrize(
    ("settings", "load", "games"),
    [
        ({"size": 2}, "hex(board_size=2)", 200),
        ({"size": 3}, "hex(board_size=3)", 2000),
        ({"size": 5}, "hex(board_size=5)", 1500),
        ({"size": 11}, "hex(board_size=11)", 60),
        ({"size": 19}, "hex(board_size=19)", 10),
        ({"rows": 4, "columns": 6}, "hex(num_rows=4,num_cols=6)", 500),
        ({"rows": 3, "columns": 5}, "hex(num_rows=3,num_cols=5)", 500),
        ({"rows": 7, "columns": 2}, "hex(num_rows=7,num_cols=2)", 500),
    ],
)
def test_random_games_are_those_of_openspiel(settings: dict[str, int], load: str, games: int) -> None:
    """Legal lists, movers, ends and returns agree at every ply, and both players win some games."""
    results = lockstep(hex_rules(**settings), load, games, seed=1)
    assert set(results) == {(1, -1), (-1, 1)}


def test_random_games_with_swap_are_those_of_openspiel() -> None:
    """B031: the swap is listed, moves the stone and passes the turn as in OpenSpiel; every second game has one."""
    rules = hex_rules(size=5, swap=True)
    results = lockstep(rules, "hex(board_size=5,swap=true)", 1500, seed=1, favourite=25)
    assert set(results) == {(1, -1), (-1, 1)}


@pytest.mark.parametrize(("size", "mean", "error"), [(3, 0.3327, 0.0013), (5, 0.1469, 0.0022), (11, 0.0507, 0.0050)])
def test_playouts_have_the_mean_return_of_openspiels(size: int, mean: float, error: float) -> None:
    """Mean and standard error of player 0 under random play were measured with OpenSpiel's own playouts."""
    ours, our_error = mean_return(hex_rules(size=size), 100_000, seed=size)
    assert abs(ours - mean) < 4 * math.hypot(our_error, error)


# Winners


@pytest.mark.parametrize(
    ("rows", "columns", "games"),
    [
        (8, 8, 60),
        (11, 11, 40),
        (12, 12, 30),
        (14, 14, 25),
        (19, 19, 15),
        (7, 9, 60),
        (9, 7, 60),
        (5, 19, 40),
        (19, 5, 40),
        (16, 17, 20),
    ],
)
def test_the_winner_is_the_oracles_after_every_ply(rows: int, columns: int, games: int) -> None:
    """B035: on boards around the limits of machine words, and where bits of a position fill its words exactly (7x9, 5x19)."""
    rules, choice = hex_rules(rows=rows, columns=columns), random.Random(rows * columns)
    order = list(range(rows * columns))
    for _ in range(games):
        choice.shuffle(order)
        state, oracle = rules.initial_state(), Chains(rows, columns)
        for ply, action in enumerate(order):
            state = state.after(action)
            won = oracle.put(divmod(action, columns), ply % 2)
            assert state.over == won
            if won:
                assert state.payoffs() == [1.0 - ply % 2, 0.0 + ply % 2]
                break


def winding(size: int) -> list[Cell]:
    """A chain from the first row to the last that runs through every second row from end to end."""
    path = []
    for row in range(0, size, 2):
        path += [(row, column) for column in range(size)]
        if row + 1 < size:
            path.append((row + 1, size - 1 if row % 4 == 0 else 0))
    return path


@pytest.mark.parametrize("player", [0, 1])
def test_a_winding_chain_joins_with_its_last_stone_whichever_that_is(player: int) -> None:
    """The longest detours, laid in random orders on a board of 19x19: joined cells must spread up, down and both ways.

    Every cell of the chain but those beside a bend is needed, so the oracle decides when the game is over.
    """
    rules, choice, chain = hex_rules(size=19), random.Random(3), winding(19)
    if player == 1:
        chain = [(column, row) for row, column in chain]
    for _ in range(30):
        choice.shuffle(chain)
        array, oracle = rules.initial_state().array(), Chains(19, 19)
        for row, column in chain:
            fields(array, game.STATE).player = player
            rules.kernels.play(rules.config, array, row * 19 + column)
            won = oracle.put((row, column), player)
            assert State(rules, array.tobytes()).over == won
            if won:
                break
        else:
            pytest.fail("the chain must join the two sides")


def test_the_last_cell_can_win() -> None:
    """B044: on a full board of 3x3 the ninth stone joins the sides: a win, and no draw."""
    state = drawn(
        """
        x x x
         o o x
          o o x
        """
    )
    assert state.ply == 9
    assert state.payoffs() == [1.0, 0.0]


@pytest.mark.parametrize("size", [2, 3, 6, 11, 19])
def test_a_board_filled_at_random_has_one_winner(size: int) -> None:
    """No draws: a game played to the last cell ends there or before, never later."""
    rules, choice = hex_rules(size=size), random.Random(size)
    for _ in range(20):
        state = rules.initial_state()
        while not state.over:
            state = state.after(choice.choice(state.legal_actions()))
        assert sorted(state.payoffs()) == [0.0, 1.0]
        assert state.ply <= size * size


def test_the_player_who_joins_top_and_bottom_wins_with_one_move() -> None:
    """B064: b3 completes the column of x."""
    state = drawn(
        """
        . x o
         . x o
          . . .
        """
    )
    assert state.after(7).payoffs() == [1.0, 0.0]


def test_the_player_who_joins_left_and_right_wins_with_one_move() -> None:
    """B064: c2 completes the row of o."""
    state = drawn(
        """
        x x .
         o o .
          . . x
        """
    )
    assert state.after(5).payoffs() == [0.0, 1.0]


def test_a_chain_along_the_short_diagonal_is_connected() -> None:
    """Cells (row, column) and (row - 1, column + 1) touch."""
    state = drawn(
        """
        o . x
         o x .
          x . .
        """
    )
    assert state.payoffs() == [1.0, 0.0]


def test_a_chain_along_the_long_diagonal_is_not_connected() -> None:
    """Cells (row, column) and (row + 1, column + 1) do not touch."""
    state = drawn(
        """
        x . o
         o x .
          . . x
        """
    )
    assert not state.over


@pytest.mark.parametrize("columns", [1, 4, 19])
def test_one_row_is_won_by_the_first_stone_of_player_0(columns: int) -> None:
    """The first row is the last: any stone of player 0 joins them (OpenSpiel gets these boards wrong)."""
    start = hex_rules(rows=1, columns=columns).initial_state()
    for action in start.legal_actions():
        assert start.after(action).payoffs() == [1.0, 0.0]


@pytest.mark.parametrize("rows", [2, 4, 19])
def test_one_column_is_won_by_the_first_stone_of_player_1(rows: int) -> None:
    """The first column is the last, and player 0 needs all of its cells: player 1 wins with its first stone."""
    start = hex_rules(rows=rows, columns=1).initial_state()
    for action in start.legal_actions():
        for reply in start.after(action).legal_actions():
            assert start.after(action).after(reply).payoffs() == [0.0, 1.0]


# Stones stay


def test_no_stone_is_ever_overwritten() -> None:
    """B034: a taken cell is not legal, playing there is refused, and a stone keeps its colour to the end."""
    rules, choice = hex_rules(size=6), random.Random(5)
    for _ in range(50):
        state, placed = rules.initial_state(), {}
        while not state.over:
            for taken in placed:
                assert taken not in state.legal_actions()
            action = choice.choice(state.legal_actions())
            placed[action] = "xo"[state.player]
            state = state.after(action)
            cells = "".join(picture(state))
            assert {cell: mark for cell, mark in enumerate(cells) if mark != "."} == placed


def test_a_stone_on_a_taken_cell_is_refused_and_changes_nothing() -> None:
    """B034: the state stays identical bit by bit."""
    state = drawn(
        """
        x . o
         . x .
          . . .
        """
    )
    before = state.data
    for taken in (0, 2, 4):
        with pytest.raises(ValueError, match=f"action {taken} is not legal here"):
            state.after(taken)
    assert state.data == before


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (7, 9), (9, 7), (8, 8), (5, 19), (19, 5), (15, 17), (19, 19)])
def test_every_stone_of_either_player_changes_the_position_in_its_own_way(rows: int, columns: int) -> None:
    """B035, B089: no two cells and no two players share a bit of the words, also where a row lies across two words."""
    rules = hex_rules(rows=rows, columns=columns)
    array, words = rules.initial_state().array(), np.zeros(rules.key_words, np.uint64)

    def encoded() -> int:
        rules.kernels.key(rules.config, array, words)
        return int.from_bytes(words.tobytes(), "little")

    empty, used = encoded(), 0
    for player in range(2):
        for row in range(rows):
            for column in range(columns):
                rules.kernels.reset(rules.config, array)
                s = fields(array, game.STATE)
                frame = (row, column) if player == 0 else (column, row)
                s.stones[player, frame[0]] = 1 << frame[1]
                difference = encoded() ^ empty
                assert difference
                assert difference & used == 0
                used |= difference


def test_both_players_see_the_stones_where_they_are() -> None:
    """B049: one stone each, on a board that is not square: own in plane 0, the other's in plane 1, side in plane 2."""
    rules = hex_rules(rows=2, columns=3)
    state = rules.initial_state().after(1).after(5)
    views = np.zeros((2, 2, 3, 3), np.int8)
    for player in range(2):
        rules.kernels.observe(rules.config, state.array(), player, views[player].reshape(-1))
    x, o = [[0, 1, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 1]]
    assert views[0].transpose(2, 0, 1).tolist() == [x, o, np.ones((2, 3)).tolist()]
    assert views[1].transpose(2, 0, 1).tolist() == [o, x, np.zeros((2, 3)).tolist()]


# Swap


def swap_is_on(state: State) -> list[set[int]]:
    """The entries of the swap plane, as either player sees it."""
    planes = np.full((2, *state.rules.planes), -7, np.int8)
    for player in range(2):
        state.rules.kernels.observe(state.rules.config, state.array(), player, planes[player].reshape(-1))
    return [set(np.unique(planes[player, ..., 3]).tolist()) for player in range(2)]


@pytest.mark.parametrize("size", [2, 3, 4, 5, 11])
def test_the_swap_is_legal_at_the_second_ply_only(size: int) -> None:
    """B031: never before, never again, whether it was taken or not."""
    rules, choice = hex_rules(size=size, swap=True), random.Random(size)
    for number in range(20):
        state = rules.initial_state()
        while not state.over:
            legal = state.legal_actions()
            assert (size * size in legal) == (state.ply == 1)
            state = state.after(size * size if number % 2 and state.ply == 1 else choice.choice(legal))
        assert state.legal_actions() == []


@pytest.mark.parametrize("size", [2, 3, 5, 19])
def test_a_swap_moves_the_stone_to_the_transposed_cell_for_the_other_player(size: int) -> None:
    """B031: for every opening, one stone, at (column, row), of player 1; player 0 moves next, and only that cell is taken."""
    start = hex_rules(size=size, swap=True).initial_state()
    for opening in range(size * size):
        state = start.after(opening).after(size * size)
        row, column = divmod(opening, size)
        cells = "".join(picture(state))
        assert {cell: mark for cell, mark in enumerate(cells) if mark != "."} == {column * size + row: "o"}
        assert state.player == 0
        assert state.legal_actions() == [cell for cell in range(size * size) if cell != column * size + row]


@pytest.mark.parametrize("size", [2, 3, 5])
def test_a_swapped_stone_is_joined_to_its_new_side(size: int) -> None:
    """B031: after a1 and a swap, player 1 needs the other columns of row 1 only."""
    state = hex_rules(size=size, swap=True).initial_state().after(0).after(size * size)
    for column in range(1, size):
        assert not state.over
        state = state.after((size - 1) * size + column).after(column)
    assert state.payoffs() == [0.0, 1.0]


def test_a_board_that_is_not_square_has_no_swap() -> None:
    """B031: the transposed cell would lie outside."""
    with pytest.raises(ValueError, match="swap needs a square board, but this one has 3 rows and 5 columns"):
        hex_rules(rows=3, columns=5, swap=True)


def test_without_the_rule_there_is_no_swap() -> None:
    """B031: neither in the list nor as an action after the cells."""
    rules = hex_rules(size=3)
    state = rules.initial_state().after(4)
    assert rules.actions == 9
    assert not rules.kernels.is_legal(rules.config, state.array(), 9)


def test_the_swap_plane_is_set_while_a_swap_may_be_chosen() -> None:
    """B032: ones for both observers at ply 1, zeros before and after."""
    start = hex_rules(size=3, swap=True).initial_state()
    opened = start.after(4)
    assert swap_is_on(start) == [{0}, {0}]
    assert swap_is_on(opened) == [{1}, {1}]
    assert swap_is_on(opened.after(9)) == [{0}, {0}]
    assert swap_is_on(opened.after(0)) == [{0}, {0}]


def test_a_game_that_ends_at_ply_1_offers_no_swap() -> None:
    """B032: on one cell the first stone wins; nothing is legal and the swap plane is empty."""
    state = hex_rules(size=1, swap=True).initial_state().after(0)
    assert state.payoffs() == [1.0, 0.0]
    assert state.legal_actions() == []
    assert swap_is_on(state) == [{0}, {0}]


@pytest.mark.parametrize(("moves", "winner"), [((1, 0, 3), 0), ((1, 0, 2), 0), ((0, 4, 3, 1), 1), ((1, 3, 0, 2), 1)])
def test_small_games_end_without_a_swap_on_offer(moves: tuple[int, ...], winner: int) -> None:
    """B032: 2x2 games that end at ply 3 or 4 (action 4 is the swap)."""
    state = hex_rules(size=2, swap=True).initial_state()
    for action in moves:
        assert not state.over
        state = state.after(action)
    assert state.payoffs()[winner] == 1.0
    assert state.legal_actions() == []
    assert swap_is_on(state) == [{0}, {0}]


# Settings


@pytest.mark.parametrize("settings", [{"size": 0}, {"size": 20}, {"rows": 0}, {"columns": 20}, {"rows": -1}, {"size": 2**40}])
def test_sides_out_of_range_are_refused(settings: dict[str, int]) -> None:
    """B035: sizes above the stated maximum raise, in one sentence that names side and range."""
    with pytest.raises(ValueError, match=r"^(size|rows|columns) must be from 1 to 19, not -?\d+$"):
        hex_rules(**settings)


@pytest.mark.parametrize("size", ["5", 5.5, None, True, 11.0])
def test_a_size_that_is_no_whole_number_is_refused(size: object) -> None:
    """With one sentence, and whichever sizes have been asked for before."""
    hex_rules(size=1)
    hex_rules(size=11)
    with pytest.raises(TypeError, match="must be a whole number from 1 to 19"):
        hex_rules(size=size)  # type: ignore[arg-type]


def test_rows_and_columns_stand_above_size() -> None:
    """The size is what they are by default."""
    rules = hex_rules(size=4, columns=6)
    assert rules.planes[:2] == (4, 6)
    assert rules.actions == 24


@pytest.mark.parametrize(
    ("opening", "sentence"),
    [
        ("f1", "'f1' is no cell of this board: expected a1 to e5"),
        ("a6", "'a6' is no cell of this board: expected a1 to e5"),
        ("b2,c3", "'b2,c3' is no cell of this board: expected a1 to e5"),
        ("swap", "'swap' is no cell of this board: expected a1 to e5"),
        ("b2 c3 b2", "opening 'b2 c3 b2' must name different cells"),
        ("b1 a1 b2 a2 b3 a3 b4 a4 b5", "opening 'b1 a1 b2 a2 b3 a3 b4 a4 b5' already ends the game"),
        ("b1 a1 b2 a2 b3 a3 b4 a4 b5 a5", "opening 'b1 a1 b2 a2 b3 a3 b4 a4 b5 a5' already ends the game"),
    ],
)
def test_an_opening_that_cannot_be_played_is_refused(opening: str, sentence: str) -> None:
    """With one clear sentence."""
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        hex_rules(size=5, opening=opening)


def test_an_opening_with_a_swap_is_refused() -> None:
    """An opening names stones."""
    with pytest.raises(ValueError, match="opening 'a1 swap' must name different cells"):
        hex_rules(size=3, swap=True, opening="a1 swap")


def test_an_opening_is_played_before_the_start() -> None:
    """[UCD 4.2]: its stones count as plies, and the player whose turn it then is begins."""
    state = hex_rules(size=5, opening="b2").initial_state()
    assert (state.ply, state.player) == (1, 1)
    assert picture(state) == [".....", ".x...", ".....", ".....", "....."]


def test_a_game_from_an_opening_is_the_game_with_those_moves() -> None:
    """The same plies, movers and lists as when the moves are made from the empty board; capital letters are read too."""
    opened = hex_rules(size=4, opening="B2 c3 a4").initial_state()
    played = hex_rules(size=4).initial_state().after(5).after(10).after(12)
    choice = random.Random(7)
    while not played.over:
        assert (opened.key, opened.data, opened.legal_actions()) == (played.key, played.data, played.legal_actions())
        action = choice.choice(played.legal_actions())
        opened, played = opened.after(action), played.after(action)
    assert opened.payoffs() == played.payoffs()


def test_the_opening_stone_can_be_swapped() -> None:
    """The opening's stone is the first move, so player 1 may take it over."""
    state = hex_rules(size=3, swap=True, opening="c1").initial_state()
    assert picture(state.after(9)) == ["...", "...", "o.."]


@pytest.mark.parametrize(("action", "name"), [(0, "a1"), (18, "s1"), (8, "i1"), (19, "a2"), (360, "s19")])
def test_cells_are_written_as_letter_and_number(action: int, name: str) -> None:
    """B026: column letter, i included, then the row from 1."""
    rules = hex_rules(size=19)
    assert rules.initial_state().action_name(action) == name
    assert rules.initial_state().action_named(name.upper()) == action


# Solved openings


@kernel()
def play_on(board, states, depth, action):
    """Makes states[depth + 1] what the action makes of states[depth]."""
    for i in range(states.shape[1]):
        states[depth + 1, i] = states[depth, i]
    game.play(board, states[depth + 1], action)


@kernel()
def add_two_distances(own, empty, edges, near, scores):
    """Adds to the scores of cells their two-distances to a player's edges [van Rijswijck 2002].

    A cell on the edge, or beside a chain on it, has distance 1; any other has one more than the second nearest of its
    neighbours, since the opponent takes the nearest. Chains make the cells around them neighbours. Sets of cells are bits.
    """
    cells = len(near)
    reach = scores[-cells:]
    for cell in range(cells):
        found, more = np.int64(0), near[cell]
        while more != found:
            found = more
            for other in range(cells):
                if (found & own) >> other & 1:
                    more |= near[other]
        reach[cell] = found
    for edge in edges:
        nearer = np.int64(0)
        for cell in range(cells):
            if ((reach[cell] & own) | (1 << cell)) & edge:
                nearer |= 1 << cell
        changed = True
        while changed:
            changed, more = False, nearer
            for cell in range(cells):
                if not (nearer >> cell) & 1:
                    scores[cell] += 1
                    if popcount(reach[cell] & empty & nearer) >= 2:
                        more |= 1 << cell
                        changed = True
            nearer = more


@kernel()
def mover_wins(board, near, edges, prune, states, words, planes, scores, depth, keys, values):
    """Whether the mover of states[depth] wins, and a set of empty cells in which the winner wins, as bits.

    Depth first, with a table of positions; first the moves that matter to both players. With `prune`, a move outside of the
    cells in which the opponent answered another move is not tried: the same answers beat it, since a stone more of one's
    own never hurts in Hex. One row of `states`, `words` and `scores` for each depth.
    """
    state = states[depth]
    game.key(board, state, words[depth])
    word = words[depth, 0]
    slot = np.int64((word * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(44))
    if keys[slot] == word:
        return values[slot, 0] != 0, values[slot, 1]
    cells = len(near)
    rank, untried = scores[depth], np.int64(0)
    won, needed = False, np.int64(0)
    for action in range(cells + 1):
        rank[action] = 0
        if game.is_legal(board, state, action):
            untried |= np.int64(1) << action
            play_on(board, states, depth, action)
            if fields(states[depth + 1], game.STATE).player < 0:
                won, needed = True, np.int64(1) << action
                break
    if not won:
        game.observe(board, state, 0, planes)
        depth_of_planes = len(planes) // cells
        x, o = np.int64(0), np.int64(0)
        for cell in range(cells):
            x |= np.int64(planes[cell * depth_of_planes]) << cell
            o |= np.int64(planes[cell * depth_of_planes + 1]) << cell
        add_two_distances(x, ~(x | o), edges[0], near, rank)
        add_two_distances(o, ~(x | o), edges[1], near, rank)
    while untried and not won:
        best = -1
        for action in range(cells + 1):
            if (untried >> action) & 1 and (best < 0 or rank[action] < rank[best]):
                best = action
        untried ^= np.int64(1) << best
        play_on(board, states, depth, best)
        lost, used = mover_wins(board, near, edges, prune, states, words, planes, scores, depth + 1, keys, values)
        if lost:
            needed |= used
            if prune:
                untried &= used
        else:
            won, needed = True, used | (np.int64(1) << best)
    keys[slot], values[slot, 0], values[slot, 1] = word, won, needed
    return won, needed


def winning_moves(state: State, prune: bool) -> list[int]:
    """The moves with which the mover wins by force, on a board of at most 31 cells."""
    rules = state.rules
    rows, columns, depth_of_planes = rules.planes
    cells = rows * columns
    assert rules.key_words == 1
    touching = [
        {(r, c + 1), (r + 1, c), (r + 1, c - 1), (r, c - 1), (r - 1, c), (r - 1, c + 1)} for r, c in np.ndindex(rows, columns)
    ]
    grid = list(np.ndindex(rows, columns))
    near = np.array([sum(1 << cell for cell in range(cells) if grid[cell] in around) for around in touching])
    edges = np.array(
        [
            [sum(1 << cell for cell in range(cells) if grid[cell][axis] == line) for line in (0, rules.planes[axis] - 1)]
            for axis in range(2)
        ]
    )
    states, words = np.zeros((cells + 3, rules.state_bytes), np.uint8), np.zeros((cells + 3, 1), np.uint64)
    scores, planes = np.zeros((cells + 3, 2 * cells + 1), np.int64), np.zeros(cells * depth_of_planes, np.int8)
    keys, values = np.zeros(2**20, np.uint64), np.zeros((2**20, 2), np.int64)
    winning = []
    for action in state.legal_actions():
        child = state.after(action)
        states[0] = child.array()
        if child.over or not mover_wins(rules.config, near, edges, prune, states, words, planes, scores, 0, keys, values)[0]:
            winning.append(action)
    return winning


def names(rules: Rules, actions: Iterable[int]) -> str:
    """Actions as players write them."""
    return " ".join(rules.initial_state().action_name(action) for action in actions)


@pytest.mark.parametrize("prune", [False, True], ids=["by brute force", "with pruning"])
@pytest.mark.parametrize(("size", "winning"), [(1, "a1"), (2, "b1 a2"), (3, "c1 a2 b2 c2 a3"), (4, "d1 c2 b3 a4")])
def test_the_winning_openings_of_small_boards_are_the_known_ones(size: int, winning: str, prune: bool) -> None:
    """F03: and the pruning that 5x5 needs finds the same."""
    rules = hex_rules(size=size)
    assert names(rules, winning_moves(rules.initial_state(), prune)) == winning


@pytest.mark.parametrize(("rows", "columns", "prune"), [(2, 3, False), (3, 4, False), (4, 5, True)])
def test_every_opening_wins_when_ones_own_sides_are_nearer(rows: int, columns: int, prune: bool) -> None:
    """B029, F03: with fewer rows than columns player 0, who joins the rows, wins whatever its first move is."""
    rules = hex_rules(rows=rows, columns=columns)
    assert winning_moves(rules.initial_state(), prune) == list(range(rows * columns))


@pytest.mark.parametrize(("rows", "columns", "prune"), [(3, 2, False), (4, 3, False), (5, 4, True)])
def test_no_opening_wins_when_the_opponents_sides_are_nearer(rows: int, columns: int, prune: bool) -> None:
    """B029, F03: with more rows than columns player 1 wins even moving second."""
    rules = hex_rules(rows=rows, columns=columns)
    assert winning_moves(rules.initial_state(), prune) == []


@pytest.mark.slow
def test_thirteen_openings_of_5x5_win() -> None:
    """F03: the map of all 25, drawn as it is published."""
    expected = """
        l l l l W
         l W W W W
          l W W W l
           W W W W l
            W l l l l
    """
    winning = winning_moves(hex_rules(size=5).initial_state(), prune=True)
    assert [("l", "W")[cell in winning] for cell in range(25)] == expected.split()


def test_with_the_swap_no_opening_of_3x3_wins() -> None:
    """B031: player 1 takes the better side: the value of an opening v is max(v, 1 - v) to player 1, which is 1."""
    rules = hex_rules(size=3, swap=True)
    assert winning_moves(rules.initial_state(), prune=False) == []


@pytest.mark.parametrize("opening", range(9))
def test_a_swap_wins_on_3x3_where_the_opening_does(opening: int) -> None:
    """B031: it is among the winning replies to c1, a2, b2, c2 and a3, and to no other opening."""
    state = hex_rules(size=3, swap=True).initial_state().after(opening)
    assert (9 in winning_moves(state, prune=False)) == (opening in (2, 3, 4, 5, 6))


def test_all_reachable_positions_of_3x3_have_words_of_their_own() -> None:
    """B089: as many words as boards; over or not, and who won, follows from the stones."""
    start = hex_rules(size=3).initial_state()
    found = {start: picture(start)}
    queue = [start]
    for state in queue:
        for action in state.legal_actions():
            child = state.after(action)
            if child not in found:
                found[child] = picture(child)
                queue.append(child)
            assert found[child] == picture(child)
    assert len({tuple(rows) for rows in found.values()}) == len(found)
    assert all((state.player == OVER) == (not state.legal_actions()) for state in found)


def test_a_playout_with_a_swap_stays_within_a_trace_as_long_as_the_board_has_cells() -> None:
    """Behind a stone and a swap there are one more empty cells than places in such a trace."""
    rules = hex_rules(size=2, swap=True)
    for seed in range(200):
        whole = np.full(12, -7, np.int32)
        played = rules.kernels.playout(rules.config, rules.initial_state().array(), seeded(seed), whole[:4])
        assert played <= 4
        assert (whole[4:] == -7).all()
