"""CrissCross against a slow second implementation, against counts of all its positions, and solved (ids: cases.md)."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from ggp import perft

import ucd_envs
from ucd_envs.boards import plus
from ucd_envs.games import crisscross as game
from ucd_envs.kernels import OVER
from ucd_envs.pictures import pixels, text
from ucd_envs.pictures.mosaics import TINTS
from ucd_envs.pictures.scene import BLUE, RED
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields
from ucd_planners import ucd

CELLS = [column + row for row in "123456" for column in "abcdef" if column in "cd" or row in "34"]
STARTS = ({"a3", "a4", "b3", "b4"}, {"c1", "c2", "d1", "d2"})
NEAR = ({"e3", "e4"}, {"c5", "d5"})
FAR = ({"f3", "f4"}, {"c6", "d6"})
HOME = "e3 e4 f3 f4", "c5 c6 d5 d6"
"""The goals of players 0 and 1."""


def crisscross(plies: int = 39) -> Rules:
    return ucd_envs.make_rules("crisscross", plies=plies)


def placed(stones: tuple[str, str], ply: int, first: int = -1, plies: int = 39) -> State:
    """The state with these stones, written straight into the record and then checked."""
    rules = crisscross(plies)
    array = rules.initial_state().array()
    s = fields(array, game.STATE)
    s.ply, s.first = ply, first
    home = first >= 0 and set(stones[1 - first].split()) == NEAR[1 - first] | FAR[1 - first]
    s.player = OVER if ply == plies or home else ply % 2
    for player in range(2):
        s.stones[player] = sum(1 << plus.PLACES[CELLS.index(name)] for name in stones[player].split())
    return State(rules, array.tobytes())


def after(state: State, *moves: str) -> State:
    for move in moves:
        state = state.after(state.action_named(move))
    return state


def legal(state: State) -> set[str]:
    return {state.action_name(action) for action in state.legal_actions()}


# A second implementation


class Slow(NamedTuple):
    """A position as sets of names of cells."""

    stones: tuple[frozenset[str], frozenset[str]] = (frozenset(STARTS[0]), frozenset(STARTS[1]))
    first: int = -1
    ply: int = 0

    def moves(self) -> dict[str, tuple[str, str] | None]:
        """The moves by their names, as the cells between which a stone moves."""
        player, taken = self.ply % 2, self.stones[0] | self.stones[1]
        found: dict[str, tuple[str, str] | None] = {}
        for cell in self.stones[player]:
            path = [cell]
            for _ in range(4):
                column, row = path[-1][0], path[-1][1]
                path.append(chr(ord(column) + 1) + row if player == 0 else column + chr(ord(row) + 1))
            free = [name in CELLS and name not in taken for name in path]
            held = [name in taken for name in path]
            if free[1]:
                found[cell + path[1]] = (cell, path[1])
            if held[1] and free[2]:
                found[cell + path[2]] = (cell, path[2])
            if held[1] and free[2] and held[3] and free[4]:
                found[cell + path[4]] = (cell, path[4])
        return found or {"pass": None}

    def home(self, player: int) -> bool:
        return self.stones[player] == NEAR[player] | FAR[player]

    def after(self, name: str) -> Slow:
        move, player, first = self.moves()[name], self.ply % 2, self.first
        if first < 0:
            first = next((p for p in range(2) if self.home(p) and not self.home(1 - p)), -1)
        stones = list(self.stones)
        if move is not None:
            stones[player] = stones[player] - {move[0]} | {move[1]}
        return Slow((stones[0], stones[1]), first, self.ply + 1)

    def over(self, plies: int) -> bool:
        return self.ply == plies or (self.first >= 0 and self.home(1 - self.first))

    def value(self, player: int) -> int:
        near, far = len(self.stones[player] & NEAR[player]), len(self.stones[player] & FAR[player])
        return {(2, 2): 100, (1, 2): 75, (2, 1): 50, (0, 2): 25}.get((near, far), 0)

    def goals(self) -> list[int]:
        if self.first < 0:
            return [self.value(0), self.value(1)]
        shares = {100: 25, 75: 15, 50: 10, 25: 5, 0: 0}
        return [100 if player == self.first else shares[self.value(player)] for player in range(2)]


@pytest.mark.parametrize(("plies", "games"), [(39, 60), (12, 60), (22, 40), (99, 20)])
def test_random_games_are_those_of_a_slow_second_implementation(plies: int, games: int) -> None:
    """Mover, legal moves, end and payoffs at every ply, also with limits at which nobody is home."""
    choice = random.Random(plies)
    for _ in range(games):
        state, slow = crisscross(plies).initial_state(), Slow()
        while not slow.over(plies):
            assert (state.player, legal(state)) == (slow.ply % 2, set(slow.moves()))
            name = choice.choice(sorted(slow.moves()))
            state, slow = after(state, name), slow.after(name)
        assert (state.over, state.payoffs()) == (True, [goal / 100 for goal in slow.goals()])


# All positions


class Position(NamedTuple):
    """A position of the whole game: its bytes, the paths to it, and the positions that follow, by action."""

    state: np.ndarray
    paths: list[int]
    following: dict[int, bytes]


@cache
def everything() -> list[dict[bytes, Position]]:
    """All reachable positions by depth and key."""
    rules = crisscross()
    kernels, config, actions, words = rules.kernels, rules.config, np.empty(rules.actions, np.int32), np.zeros(2, np.uint64)
    start = rules.initial_state()
    levels = [{start.words: Position(start.array(), [1], {})}]
    while levels[-1]:
        below: dict[bytes, Position] = {}
        for state, (paths,), following in levels[-1].values():
            for action in actions[: kernels.legal_actions(config, state, actions)].tolist():
                child = state.copy()
                kernels.play(config, child, action)
                kernels.key(config, child, words)
                key = following[action] = words.tobytes()
                below.setdefault(key, Position(child, [0], {})).paths[0] += paths
        levels.append(below)
    return levels[:-1]


def goals(position: Position) -> tuple[float, float]:
    out = np.zeros(2)
    crisscross().kernels.payoffs(crisscross().config, position.state, out)
    return (float(out[0]), float(out[1]))


@cache
def solution() -> list[dict[bytes, tuple[float, float]]]:
    """The payoffs of all positions if each player maximises its own and, of equal ones, gives the other the least."""
    values: list[dict[bytes, tuple[float, float]]] = [{}]
    for depth, level in reversed(list(enumerate(everything()))):
        found = {}
        for key, position in level.items():
            player = depth % 2
            follow = [values[0][child] for child in position.following.values()]
            found[key] = max(follow, key=lambda pair: (pair[player], -pair[1 - player])) if follow else goals(position)
        values.insert(0, found)
    return values


def test_paths_and_positions_of_every_depth_are_those_of_the_rulesheet() -> None:
    """143,632 positions in 40 depths; of each the paths, the positions, and the ended ones of both."""
    found = []
    for level in everything():
        ended = [position.paths[0] for position in level.values() if not position.following]
        found.append((sum(position.paths[0] for position in level.values()), len(level), sum(ended), len(ended)))
    rows = [(row["paths"], row["states"], row["terminal_paths"], row["terminal_states"]) for row in perft("crisscross")]
    assert found == rows
    assert sum(row[1] for row in found) == 143_632


def test_no_two_positions_of_a_depth_share_a_key() -> None:
    """Those of one key have one record: the key tells the mover and who was first."""
    for level in everything():
        assert len({position.state.tobytes() for position in level.values()}) == len(level)


def test_the_second_player_wins_after_every_first_move() -> None:
    """0.25 and 1 by backward induction."""
    levels, values = everything(), solution()
    (start,) = levels[0].values()
    assert list(values[0].values()) == [(0.25, 1.0)]
    assert {values[1][child] for child in start.following.values()} == {(0.25, 1.0)}
    assert len(start.following) == 4


def test_the_payoffs_that_can_be_reached_are_those_of_the_rulesheet() -> None:
    """And games end after 14 plies at the earliest, 39 at the latest."""
    ends = [(depth, goals(each)) for depth, level in enumerate(everything()) for each in level.values() if not each.following]
    better = {(1.0, 0.25), (1.0, 0.15), (1.0, 0.1)}
    assert {payoffs for _, payoffs in ends} == better | {(b, a) for a, b in better}
    assert (min(depth for depth, _ in ends), max(depth for depth, _ in ends)) == (14, 39)
    assert {payoffs for depth, payoffs in ends if depth < 39} == {(1.0, 0.25), (0.25, 1.0)}


def test_a_search_seeks_the_movers_own_payoff() -> None:
    """Near the end, where the mover has lost the race, it takes the best of what is left."""
    rules, values = crisscross(), solution()
    found = []
    for depth in range(26, 39):
        for key, position in everything()[depth].items():
            own = {action: values[depth + 1][child][depth % 2] for action, child in position.following.items()}
            if own and max(own.values()) < 1 and len(set(own.values())) > 1:
                found.append((depth, key, own))
    assert len(found) > 14
    for depth, key, own in found:
        state = State(rules, everything()[depth][key].state.tobytes())
        assert own[ucd(2, 2, 0, playouts=3000, seed=1).search(state).action] == max(own.values())


# Moves


def test_stones_step_jump_and_jump_twice() -> None:
    """Player 0 to the right, player 1 upwards; over stones of both; b4 jumps twice across d4."""
    state = placed(("a4 b4 a3 f3", "c4 d1 c5 d5"), 16)
    assert legal(state) == {"a3b3", "b4d4"}
    state = placed(("a4 b4 e3 a3", "c4 d4 c1 d2"), 16)
    assert legal(state) == {"a3b3", "e3f3"}
    state = placed(("b4 e4 a3 b3", "c4 d1 c1 d2"), 16)
    assert legal(state) == {"a3c3", "b3c3", "b4d4", "b4f4", "e4f4"}
    assert state.after(state.action_named("B4F4")) == after(state, "b4f4")


def test_no_stone_leaves_the_end_of_its_row_for_the_next_one() -> None:
    """f3 and a4 follow each other in numbers only; so do the last cells of the plus."""
    state = placed(("e3 f3 e4 f4", "c1 c2 d1 d2"), 16, first=0)
    assert legal(state) == {"pass"}
    state = placed(("a3 b3 a4 b4", "c5 c6 d5 d6"), 17, first=1)
    assert legal(state) == {"pass"}


def test_a_pass_is_legal_only_when_no_stone_can_move() -> None:
    start = crisscross().initial_state()
    assert len(start.legal_actions()) == 4
    with pytest.raises(ValueError, match="expected one of a3c3, b3c3, a4c4, b4c4"):
        start.action_named("pass")
    with pytest.raises(ValueError, match="not legal"):
        start.after(plus.PASS)


# The end


def test_the_first_player_is_noted_one_ply_after_it_came_home() -> None:
    """The words differ from those of the same stones with nobody first."""
    state = after(placed(("e3 d4 f3 f4", "c1 c2 d1 d2"), 16), "d4e4")
    assert fields(state.array(), game.STATE).first == -1
    state = after(state, "c2c3")
    assert (fields(state.array(), game.STATE).first, state.over) == (0, False)


def test_the_game_goes_on_until_the_other_player_is_home() -> None:
    state = placed((HOME[0], "c4 c6 d5 d6"), 21, first=0)
    assert not state.over
    state = after(state, "c4c5")
    assert (state.over, state.payoffs()) == (True, [1.0, 0.25])
    state = after(placed(("d3 e4 f3 f4", HOME[1]), 22, first=1), "d3e3")
    assert (state.over, state.payoffs()) == (True, [0.25, 1.0])


@pytest.mark.parametrize(
    ("stones", "share"),
    [
        (HOME[1], 0.25),
        ("c6 d6 c5 d4", 0.15),
        ("c6 d6 d5 c1", 0.15),
        ("c5 d5 c6 d4", 0.1),
        ("c5 d5 d6 c4", 0.1),
        ("c6 d6 c1 d4", 0.05),
        ("c5 d5 c4 d4", 0.0),
        ("c5 c6 d4 d3", 0.0),
        ("c6 d5 c4 d4", 0.0),
    ],
)
def test_the_second_player_gets_a_share_for_stones_at_home(stones: str, share: float) -> None:
    """After the last ply, for both players: the board is symmetric under an exchange of rows and columns."""
    assert placed((HOME[0], stones), 39, first=0).payoffs() == [1.0, share]
    mirrored = " ".join(chr(ord("a") + int(name[1]) - 1) + str(ord(name[0]) - ord("a") + 1) for name in stones.split())
    assert placed((mirrored, HOME[1]), 39, first=1).payoffs() == [share, 1.0]


def test_both_players_get_their_values_where_nobody_is_first() -> None:
    """With a limit below 14 plies: 0 for both, or what stands at home."""
    assert placed(("e3 f3 f4 d4", "c1 c2 d1 d6"), 12, plies=12).payoffs() == [0.75, 0.0]
    assert placed(("e3 e4 f4 d3", "c6 d6 c3 d4"), 12, plies=12).payoffs() == [0.5, 0.25]
    assert placed((HOME[0], "c5 d5 c6 d4"), 13, plies=13).payoffs() == [1.0, 0.5]
    state = crisscross(1).initial_state().after(crisscross(1).initial_state().legal_actions()[0])
    assert (state.over, state.payoffs()) == (True, [0.0, 0.0])


# The rest


def test_observations_have_the_first_row_at_the_bottom_for_both_players() -> None:
    """B106, B107: stones, cells, goals, who was first, and the plies left in bits from the lowest on."""
    state = placed((HOME[0], "c4 c6 d5 d6"), 21, first=0)
    for player in range(2):
        planes = np.zeros((6, 6, 14), np.int8)
        state.rules.kernels.observe(state.rules.config, state.array(), player, planes.reshape(-1))
        red, teal = (player, 1 - player)
        assert np.argwhere(planes[:, :, red]).tolist() == [[2, 4], [2, 5], [3, 4], [3, 5]]
        assert np.argwhere(planes[:, :, teal]).tolist() == [[3, 2], [4, 3], [5, 2], [5, 3]]
        assert planes[:, :, 2].sum() == 20
        assert (planes[:, :, 3 + red] == planes[:, :, red]).all()
        assert np.argwhere(planes[:, :, 3 + teal]).tolist() == [[4, 2], [4, 3], [5, 2], [5, 3]]
        assert (planes[0, 0, 5 + red], planes[0, 0, 5 + teal]) == (1, 0)
        assert planes[0, 0, 7:].tolist() == [0, 1, 0, 0, 1, 0, 0]  # 18


@pytest.mark.parametrize("move", ["a3a4", "c2c3", "a3", "a3z9", "b3c3b", "pass"])
def test_a_text_that_is_no_move_is_refused(move: str) -> None:
    with pytest.raises(ValueError, match=f"'{move}' is no move here: expected one of a3c3"):
        crisscross().initial_state().action_named(move)


def test_every_action_has_a_text() -> None:
    """Also those that no stone can ever make, for messages about illegal moves."""
    for state in (crisscross().initial_state(), after(crisscross().initial_state(), "b3c3")):
        assert len({state.action_name(action) for action in range(61)}) == 61


@pytest.mark.parametrize("plies", [0, 100, -1])
def test_a_limit_out_of_range_is_refused(plies: int) -> None:
    with pytest.raises(ValueError, match=f"plies must be from 1 to 99, not {plies}"):
        crisscross(plies)


@pytest.mark.parametrize(
    ("name", "value"), [("first", 0), ("first", 1), ("first", 5), ("player", 1), ("player", OVER), ("stones", (0, 0))]
)
def test_a_state_whose_fields_contradict_each_other_is_refused(name: str, value: int) -> None:
    state = placed(("a3 e3 a4 b4", "c1 c2 d1 d2"), 2)
    array = state.array()
    fields(array, game.STATE)[name] = value
    with pytest.raises(ValueError, match="contradict"):
        State(state.rules, array.tobytes())


def test_a_stone_outside_of_its_row_or_off_the_board_is_refused() -> None:
    for stones in (("a3 b3 e3 b4", "c1 c2 d1 d2"), ("a3 b3 a4 b4", "c1 c2 c3 d2"), ("a3 d1 a4 b4", "c1 c2 d2 d3")):
        with pytest.raises(ValueError, match="contradict"):
            placed(stones, 2)


def test_lengths_of_random_games_are_those_of_the_rulesheet() -> None:
    """Mean 26.0 of 200 games there, between 19 and 32; a little more among more games."""
    rules, rng, lengths = crisscross(), np.array([1, 2], np.uint64), Counter[int]()
    for _ in range(5000):
        lengths[rules.kernels.playout(rules.config, rules.initial_state().array(), rng, np.empty(0, np.int32))] += 1
    assert abs(sum(length * count for length, count in lengths.items()) / 5000 - 26.0) < 0.8


# Drawings


def test_a_board_in_text_is_a_plus() -> None:
    expected = """\
  6     . .
  5     . .
  4 . X X . . .
  3 X X O . . .
  2     . O
  1     O O
    a b c d e f
ply 2: player_0 (X) to move
"""
    assert text(after(crisscross().initial_state(), "a4c4", "c2c3")) == expected


def test_goals_of_a_picture_have_a_tint_of_their_players_colour() -> None:
    """Player 0's to the right, player 1's at the top; stones begin on the other side."""
    picture = pixels(crisscross().initial_state()).astype(int)[:-50]
    middle = (picture.shape[0] / 2, picture.shape[1] / 2)
    places = []
    for colour in (*TINTS, RED, BLUE):
        rows, columns = np.nonzero((np.abs(picture - colour) < 4).all(axis=2))
        places.append((rows.mean() - middle[0], columns.mean() - middle[1]))
    unit = picture.shape[1] / 8
    assert places[0][1] > unit
    assert places[1][0] < -unit
    assert places[2][1] < -unit
    assert places[3][0] > unit
