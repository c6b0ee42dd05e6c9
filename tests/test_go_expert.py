"""Go's expert playouts and initial statistics: each rule on drawn boards, the whole against a slow oracle in random games."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from go_boards import drawn, go, neat, oracle, played
from go_expert_oracle import Expert, Square, is_pattern
from go_oracle import Position
from searching import Search
from simulations import WrittenSimulation, initial_stats

import ucd_envs
from ucd_envs.games.go import STATE
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields
from ucd_planners import rave, uct
from ucd_planners.cli import main
from ucd_planners.go.expert import PARTS, GoExpert
from ucd_planners.go.initial import STRENGTHS, GoInitial
from ucd_planners.go.patterns import PATTERNS, Pattern, is_set, points, table, turned
from ucd_planners.go.patterns import code as code_of
from ucd_planners.gtp.engine import Engine
from ucd_planners.selection.ucd import UCD

SHAPES = ((5, 5), (5, 7), (9, 9), (13, 13), (19, 19))
KINDS = PARTS[:4]


class Asked:
    """A game's expert, asked from Python."""

    def __init__(self, rules: Rules, policy: GoExpert) -> None:
        self.policy, self.memory, self.simulation = policy, policy.memory(rules), WrittenSimulation(rules)

    def answers(self, state: State, moves: list[int], draws: int = 24) -> Counter[int]:
        """What is suggested after moves of the two players in turn, over random numbers evenly spread, and how often."""
        rngs = [np.array([(draw << 64) // draws, 0], np.uint64) for draw in range(draws)]
        return Counter(self.simulation.suggestions(state, in_turn(moves), self.policy, self.memory, rngs))


def in_turn(moves: list[int]) -> list[tuple[int, int]]:
    """Moves of the two players in turn, each with its player."""
    return [(place % 2, move) for place, move in enumerate(moves)]


def only(*kinds: str, **options: Any) -> GoExpert:
    """An expert of these kinds of moves alone."""
    return GoExpert(**{kind: kind in kinds for kind in KINDS}, **options)


def replies(board: str, move: str, policy: GoExpert, **settings: Any) -> set[str]:
    """What is suggested on a drawn board after a move; empty where it is left to the game."""
    state = drawn(board, **settings)
    moves = [state.action_named(name) for name in move.split()]
    found = Asked(state.rules, policy).answers(played(state, move), moves)
    return {state.action_name(action) for action in found if action >= 0}


def test_a_chain_in_atari_at_the_last_move_is_taken() -> None:
    """White plays D2 and puts itself in atari at D1."""
    board = """
        . . . . .
        . . . . .
        . . . x .
        . . x . x
        . . . . .
    """
    assert replies(board, "D2", only("captures"), first="white") == {"D1"}
    assert replies(board, "D2", only("escapes"), first="white") == set()
    assert replies(board, "A5", only("captures"), first="white") == set()


FAR = """
    . . . . . .
    . . . . . .
    . . . . . .
    . x . . . .
    x o x . . .
    . . . . . .
"""
"""B2 is in atari at B1."""


def test_other_chains_are_not_taken_for_standing_near() -> None:
    """The stone at B2 has nothing to do with the move at C3."""
    assert replies(FAR, "C3", only("captures"), first="white") == set()
    assert replies(FAR, "C3", only("global_captures"), first="white") == {"B1"}


def test_chains_in_atari_are_taken_anywhere() -> None:
    """Far from the last move, after a pass and before the first move."""
    assert replies(FAR, "F6", only("global_captures"), first="white") == {"B1"}
    assert replies(FAR, "pass", GoExpert(), first="white") == {"B1"}
    assert replies(FAR, "", GoExpert()) == {"B1"}
    assert replies(FAR, "F6", GoExpert(global_captures=False), first="white") == set()


@pytest.mark.parametrize(
    ("liberty", "board"),
    [
        ("A3", "o x . . . / . . . . . / . . . . . / . . . . ."),
        ("E3", ". . . x o / . . . . . / . . . . . / . . . . ."),
        ("A2", ". . . . . / . . . . . / . . . . . / o x . . ."),
        ("E2", ". . . . . / . . . . . / . . . . . / . . . x o"),
    ],
)
def test_a_chain_in_a_corner_is_taken(liberty: str, board: str) -> None:
    """The first and the last point of the board are looked at too."""
    assert replies(board.replace(" / ", "\n"), "", only("global_captures")) == {liberty}


@pytest.mark.parametrize(
    ("liberty", "board"),
    [
        ("C2", ". x x . . / x o o x . / x o . x . / . x x . ."),
        ("C2", ". x x x . / x o o o x / x o . o x / . x x x ."),
        ("C3", ". x x x . / x o o o x / x o . o x / x o o x . / . x x . ."),
    ],
)
def test_chains_with_several_pairs_at_one_liberty_are_taken(liberty: str, board: str) -> None:
    """Three stones can stand on two sides of a point, five on three, seven on four, and no fewer."""
    assert replies(board.replace(" / ", "\n"), "", only("global_captures")) == {liberty}


def test_a_chain_in_atari_extends_to_two_liberties() -> None:
    """Black's C2 is in atari at C1 after D2, at D2 after C1."""
    board = """
        . . . . .
        . . . . .
        . . o . .
        . o x . .
        . . . . .
    """
    assert replies(board, "D2", only("escapes"), first="white") == {"C1"}
    assert replies(board, "C1", only("escapes"), first="white") == {"D2"}
    assert replies(board, "A1", only("escapes"), first="white") == set()
    assert replies(board, "D2", only("captures", "global_captures"), first="white") == set()


def test_a_chain_that_stays_in_atari_does_not_extend() -> None:
    """From C1 to D1 it would have D2 and E1, or E1 alone where White has D2."""
    board = """
        . . . . .
        . . o . .
        . . x . .
    """
    assert replies(board, "B1", only("escapes"), first="white") == {"D1"}
    assert replies(board.replace("o .", "o o"), "B1", only("escapes"), first="white") == set()


def test_a_chain_in_atari_joins_one_with_liberties() -> None:
    """At B1, which has no empty neighbour, A1 joins C1."""
    board = """
        . . . . .
        . . . . .
        . o x . .
        x . x . .
    """
    assert replies(board, "A2", only("escapes"), first="white") == {"B1"}


def test_a_chain_is_saved_by_taking_what_attacks_it() -> None:
    """C3 extends to C2, or takes the stone at B3, which is not beside the last move, at A3."""
    board = """
        . . . . .
        . x o . .
        . o x . .
        . x . . .
        . . . . .
    """
    assert replies(board, "D3", only("escapes"), first="white") == {"A3", "C2"}


def test_a_contact_is_answered_above_and_below() -> None:
    """Black has played C4 beside D4: White has the hane above and below Black's stone, and may stand up at its own."""
    board = """
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . o . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
    """
    assert replies(board, "C4", only("patterns")) == {"C3", "C5", "D3", "D5"}
    assert replies(board, "C4", GoExpert(patterns=False)) == set()
    assert replies(board, "A1", only("patterns")) == set()


def test_a_cut_is_played_where_it_is_not_caught_at_once() -> None:
    """White has played D4, and Black cuts it from C3 at D3; not where White's E3 would leave the cutting stone one liberty."""
    board = """
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . x . . . .
        . . o . . . .
        . . . . . . .
        . . . . . . .
    """
    assert "D3" in replies(board, "D4", only("patterns"), first="white")
    assert "D3" not in replies(board.replace("o . .", "o . o"), "D4", only("patterns"), first="white")


def test_patterns_leave_no_two_stones_in_atari() -> None:
    """After D2 the middle of the push is C2, where Black's C3 would have C1 alone."""
    board = """
        . . . . .
        . . o . .
        . o x o .
        . o . . .
        . . . . .
    """
    assert "C2" not in replies(board, "D2", only("patterns"), first="white")
    assert "C2" in replies(board, "D2", only("patterns", refuses_self_atari=False), first="white")


def test_patterns_may_leave_one_stone_in_atari() -> None:
    """Beneath B2 Black's C1 would have C2 alone."""
    board = """
        . . . . .
        . . . . .
        . x . . .
        . o . . .
    """
    assert "C1" in replies(board, "D1", only("patterns"), first="white")


def test_patterns_may_leave_stones_in_atari_for_a_capture() -> None:
    """At C2 Black takes B2, or with A2 empty does not, and then would have three stones with C1 alone."""
    board = """
        . . . . .
        . o o . .
        o x x o .
        x o . . .
        . x . . .
    """
    assert "C2" in replies(board, "D2", only("patterns"), first="white")
    assert "C2" not in replies(board.replace("x o . .", ". o . ."), "D2", only("patterns"), first="white")


def test_a_capture_that_ko_forbids_is_not_suggested() -> None:
    """White's C3 has taken D3 and could be taken there, but at once it may not."""
    board = """
        . . . . . .
        . . x o . .
        . x . x o .
        . . x o . .
        . . . . . .
    """
    assert replies(board, "C3", only("captures", "global_captures"), first="white") == set()
    assert replies(board, "C3 A1 F1", only("captures", "global_captures"), first="white") == {"D3"}


def test_moves_of_a_kind_have_the_same_probability() -> None:
    """Four moves, over 840 random numbers that are spread evenly."""
    state = drawn("\n".join([". . . . . . ."] * 3 + [". . . o . . ."] + [". . . . . . ."] * 3))
    move = state.action_named("C4")
    assert sorted(Asked(state.rules, GoExpert()).answers(state.after(move), [move], 840).values()) == [210] * 4


def test_a_move_that_takes_two_chains_counts_once() -> None:
    """A1 takes two stones that do not touch, F1 another."""
    board = """
        . . . . . .
        x . . . . x
        o x . . x o
        . o x . . .
    """
    state = drawn(board)
    found = Asked(state.rules, GoExpert()).answers(state, [])
    assert found == {state.action_named(name): 12 for name in ("A1", "F1")}


@pytest.mark.parametrize("symmetry", range(8))
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_patterns_hold_in_all_symmetries_and_for_both_players(pattern: Pattern, symmetry: int) -> None:
    """Where a diagram asks for nothing in particular there is an empty point; the middle is a move by the paper's figures."""
    signs = "".join(turned(points(pattern.diagram), symmetry)).translate(str.maketrans("XO?-", "...#"))
    for own, colours in product("xo", ("xo", "ox")):
        found = signs.translate(str.maketrans("xo", colours))
        if own == colours[0] or not pattern.x_moves:
            assert is_pattern(square_of(found), own.upper())
            assert in_table(found, own)


def square_of(signs: str) -> Square:
    """The square of eight signs, as the oracle has it."""
    signs = signs.upper()
    return signs[:3], f"{signs[3]}.{signs[4]}", signs[5:]


SCRATCH, MIDDLE = np.zeros(STATE.itemsize, np.uint8), np.uint64(210)
"""A state whose colours alone are read, and a point inside a large board."""


def in_table(signs: str, own: str) -> bool:
    """Whether the table has a surrounding of eight signs, line by line from the top, for x or o to move."""
    s, middle = fields(SCRATCH, STATE), int(MIDDLE)
    for step, sign in zip((19, 20, 21, -1, 1, -21, -20, -19), signs, strict=True):
        s.colour[middle + step] = {".": 0, "x": 1, "o": 2, "#": 4}[sign]
    return bool(is_set(table(), code_of(s, MIDDLE, "xo".index(own))))


def test_the_table_of_patterns_is_that_of_the_figures() -> None:
    """Over all surroundings inside a board, at its sides and in its corners, for both players."""
    inside = ["".join(signs) for signs in product(".xo", repeat=8)]
    sides = [f"{a}{b}{c}{d}{e}###" for a, b, c, d, e in product(".xo", repeat=5)]
    turns = ((0, 1, 2, 3, 4, 5, 6, 7), (5, 3, 0, 6, 1, 7, 4, 2), (7, 6, 5, 4, 3, 2, 1, 0), (2, 4, 7, 1, 6, 0, 3, 5))
    corners = [f"{a}{b}#{c}####" for a, b, c in product(".xo", repeat=3)]
    edges = ["".join(signs[place] for place in turn) for signs in (*sides, *corners) for turn in turns]
    counts = Counter[bool]()
    for signs, own in product((*inside, *edges), "xo"):
        expected = is_pattern(square_of(signs), own.upper())
        assert in_table(signs, own) == expected, (signs, own)
        counts[expected] += 1
    assert min(counts.values()) > 1000


def games(rules: Rules, number: int, seed: int) -> Iterator[tuple[State, Position, list[int]]]:
    """The positions of random games, with the moves so far; many moves are the oracle's, some are passes."""
    choice = random.Random(f"{rules} {seed}")
    for game in range(number):
        state = rules.initial_state()
        if game % 2:
            state = drawn("\n".join(board_lines(neat(choice, oracle(state).go), rules.planes[1])), **chosen(rules))
        position, moves = oracle(state), list[int]()
        while not state.over:
            yield state, position, moves
            legal = state.legal_actions()
            wise = sorted(Expert(position, moves[-1] if moves else None).moves())
            action = choice.choice(wise) if wise and choice.random() < 0.6 else choice.choice(legal[:-1] or legal)
            action = legal[-1] if choice.random() < 0.03 else action
            moves = [*moves, action]
            state, position = state.after(action), position.after(action)


def chosen(rules: Rules) -> dict[str, Any]:
    """The settings of a game that a drawn board keeps."""
    return {name: rules.settings[name] for name in ("ko", "suicide", "max_plies")}


def board_lines(board: str, columns: int) -> list[str]:
    """A board as it is drawn."""
    return [board[start : start + columns] for start in range(0, len(board), columns)][::-1]


RULES = [("simple", False), ("simple", True), ("positional", True), ("situational", False)]


@pytest.mark.parametrize(("ko", "suicide"), RULES)
@pytest.mark.parametrize(("rows", "columns"), SHAPES)
@pytest.mark.sweep(2)
def test_suggestions_are_those_of_the_oracle(rows: int, columns: int, ko: str, suicide: bool) -> None:
    """At positions of random games, with all parts and with some: every move of the first kind that has any, and no other."""
    rules = go(rows=rows, columns=columns, ko=ko, suicide=suicide, max_plies=max(60, rows * columns // 2))
    choice, kinds = random.Random(rows), Counter[str]()
    asked: dict[tuple[Rules, GoExpert], Asked] = {}
    for state, position, moves in games(rules, 2 if rows > 9 else 4, 1):
        if rows > 9 and choice.random() < 0.7:
            continue
        on = {part: choice.random() < 0.8 for part in PARTS}
        policy = GoExpert(**on)
        expert = Expert(position, moves[-1] if moves else None)
        sets = {
            "captures": expert.captures(),
            "escapes": expert.escapes(),
            "patterns": expert.patterns(on["refuses_self_atari"]),
            "global_captures": expert.all_captures(),
        }
        kind = next((kind for kind in KINDS if on[kind] and sets[kind]), "none")
        expected = sets.get(kind, {-1})
        assert len(expected) <= 24
        key = state.rules, policy
        asked[key] = asked.get(key) or Asked(*key)
        assert set(asked[key].answers(state, moves)) == expected, (str(position), moves, policy)
        kinds[kind] += 1
    assert len(kinds) >= 4


@pytest.mark.parametrize(("ko", "suicide"), [*RULES, ("positional", False), ("situational", True)])
@pytest.mark.parametrize(("rows", "columns"), [*SHAPES, (2, 2), (2, 3), (3, 3)])
@pytest.mark.sweep(3)
def test_suggestions_can_be_played(rows: int, columns: int, ko: str, suicide: bool) -> None:
    """By the rules and by the game's random policy, in games of the expert."""
    rules = go(rows=rows, columns=columns, ko=ko, suicide=suicide)
    asked, choice, suggested, rng = Asked(rules, GoExpert()), random.Random(f"{rules}"), 0, np.array([1, rows], np.uint64)
    for _ in range(1 + 150 // (rows * columns)):
        state, moves = rules.initial_state(), list[int]()
        while not state.over:
            data = state.array()
            for action in asked.answers(state, moves, 3):
                if action >= 0:
                    assert rules.kernels.is_legal(rules.config, data, action)
                    assert rules.kernels.is_playable(rules.config, data, action)
                    suggested += 1
            if action < 0 or choice.random() < 0.1:
                action = int(rules.kernels.playout_action(rules.config, data, rng))
            moves.append(action)
            state = state.after(action)
    assert suggested > 0 if rows * columns < 9 else suggested > 50


TWO_EYES = """
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    o o o o o . .
    x x x x o . .
    . x . x o . .
"""
"""Black lives with A1 and C1."""
FALSE_EYE = """
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . o . . . . .
    o x o o . . .
    x . x x . . .
    . o x . . . .
"""
"""White stands at B1 and holds two of the diagonal points of B2: it is no true eye of Black."""


def playouts(board: str, number: int, **settings: Any) -> Iterator[tuple[list[str], int]]:
    """The moves of simulations from a drawn board, each the first of a search, and how many of them the descent made."""
    start = drawn(board, **settings)
    search = Search(start, UCD(table=False), 1, policies=[GoExpert()])
    for _ in range(number):
        search.step()
        sim = search.worker.sim
        listed = sim.trace[: sim.record.traced.length].tolist()
        yield [start.action_name(move & 0xFFFF) for move in listed], int(sim.record.leaf_depth)
        search.begin(start)


@pytest.mark.parametrize("first", ["black", "white"])
def test_a_group_with_two_eyes_lives(first: str) -> None:
    """In 3,000 playouts whose first move fills neither eye, nobody ever does."""
    left = 0
    for moves, descent in playouts(TWO_EYES, 3000, first=first):
        if not {"A1", "C1"} & set(moves[:descent]):
            assert not {"A1", "C1"} & set(moves[descent:])
            left += 1
    assert left > 2000


def test_a_false_eye_can_be_filled() -> None:
    """By Black, first of all when White's move puts the stones beyond it in atari."""
    assert any("B2" in moves[descent:] for moves, descent in playouts(FALSE_EYE, 300))


@pytest.mark.parametrize("preset", [uct, rave])
def test_with_prob_0_a_search_is_the_one_without(preset: Any) -> None:
    """Bit for bit, at every position of a game."""
    state = go(size=5).initial_state()
    plain, other = preset(playouts=200, seed=3), preset(playouts=200, seed=3, policies=[GoExpert(prob=0)])
    while not state.over:
        one, two = plain.search(state), other.search(state)
        assert one.visits.tolist() == two.visits.tolist()
        assert one.values.tobytes() == two.values.tobytes()
        state = state.after(one.action)


STRENGTH = {name: Fraction(3 + 2 * place, 4) for place, name in enumerate(STRENGTHS)}


def thought(state: State, moves: list[int], policy: GoInitial) -> dict[int, tuple[Fraction, Fraction]]:
    """The virtual playouts of every legal move, and those that are won."""
    pairs = [(Fraction(float(n)), Fraction(float(won))) for n, won in initial_stats(state, in_turn(moves), policy)]
    return dict(zip(state.legal_actions(), pairs, strict=True))


def stats_of(board: str, move: str, name: str, policy: GoInitial, **settings: Any) -> tuple[Fraction, Fraction]:
    """The virtual playouts of a named move after others on a drawn board, and those that are won."""
    state = drawn(board, **settings)
    actions = [state.action_named(text) for text in move.split()]
    return thought(played(state, move), actions, policy)[state.action_named(name)]


def alone(**strengths: float) -> GoInitial:
    """Initial statistics with no other strengths than these."""
    return GoInitial(**{**dict.fromkeys(STRENGTHS, 0), **strengths})


def test_captures_are_thought_well_of() -> None:
    """Wherever they are."""
    assert stats_of(FAR, "F6", "B1", alone(captures=6), first="white") == (6, 6)
    assert stats_of(FAR, "F6", "C1", alone(captures=6), first="white") == (0, 0)
    assert stats_of(FAR, "F6", "B1", alone(captures=6, even=4), first="white") == (10, 8)


def test_escapes_are_thought_well_of() -> None:
    """By extending and by taking, wherever the last move was; not where the chain stays in atari."""
    board = """
        . . . . .
        . x o . .
        . o x o .
        . x . . .
        . . . . .
    """
    found = {name: stats_of(board, "", name, alone(escapes=6)) for name in ("A3", "C2", "C1", "D2")}
    assert found == {"A3": (6, 6), "C2": (6, 6), "C1": (0, 0), "D2": (0, 0)}
    lower = """
        . . . . .
        . . o . .
        . o x . .
    """
    assert stats_of(lower, "", "D1", alone(escapes=6)) == (6, 6)
    assert stats_of(lower.replace("o . .", "o o ."), "", "D1", alone(escapes=6)) == (0, 0)


def test_patterns_are_thought_well_of() -> None:
    """Wherever they are."""
    board = """
        . . . . . . .
        . . . . . . .
        . . x o . . .
        . . . . . . .
        . . . . . . .
    """
    assert stats_of(board, "G1", "D2", alone(patterns=6)) == (6, 6)
    assert stats_of(board, "G1", "E2", alone(patterns=6)) == (0, 0)


def test_nearness_is_thought_well_of() -> None:
    """Around the last move, E5, and half of that one point further; around the move before, G7, half of both."""
    empty = "\n".join([". . . . . . . . ."] * 9)
    last = {"D4": 8, "D5": 8, "C3": 4, "D3": 4, "D7": 4}
    before = {"F8": 4, "H7": 4, "J9": 2}
    both = {"F6": 8 + 4, "E6": 8 + 2, "E7": 4 + 2, "G8": 4}
    expected = {**last, **before, **both, "B2": 0, "A5": 0, "J1": 0}
    assert {name: stats_of(empty, "G7 E5", name, alone(near=8)) for name in expected} == {
        name: (value, value) for name, value in expected.items()
    }
    assert stats_of(empty, "G7 pass", "G8", alone(near=8)) == (4, 4)
    assert stats_of(empty, "", "E5", alone(near=8)) == (0, 0)


def test_self_atari_is_thought_badly_of() -> None:
    """Of two stones, not of one, nor where it takes something."""
    board = """
        . . . . .
        . . o . .
        . o x o .
        . o . o .
        . . . . .
    """
    assert stats_of(board, "", "C2", alone(self_ataris=6)) == (6, 0)
    assert stats_of(board.replace("o x o", "o . o"), "", "C3", alone(self_ataris=6)) == (0, 0)


def test_eyes_are_kept() -> None:
    """True ones; a false one may be filled. To pass is as bad, but where there is nothing else to play."""
    assert stats_of(TWO_EYES, "", "A1", alone(eyes=6)) == (6, 0)
    assert stats_of(TWO_EYES, "", "F1", alone(eyes=6)) == (0, 0)
    assert stats_of(FALSE_EYE, "G1", "B2", alone(eyes=6), first="white") == (0, 0)
    assert stats_of(TWO_EYES, "", "pass", alone(eyes=6)) == (6, 0)
    full = """
        . x .
        x x x
        . x .
    """
    assert stats_of(full, "", "pass", alone(eyes=6, even=2)) == (2, 1)


def test_the_first_lines_are_thought_badly_of_where_nothing_stands() -> None:
    """The second by half."""
    board = """
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . x . . . . .
        . . . . . . .
        . . . . . . .
    """
    names = {"A1": 6, "A2": 0, "B1": 6, "A3": 0, "B5": 3, "C6": 3, "C5": 0, "G7": 6, "D4": 0, "F4": 3}
    assert {name: stats_of(board, "", name, alone(edges=6))[0] for name in names} == names
    assert stats_of(board, "", "G7", alone(edges=6)) == (6, 0)


@pytest.mark.parametrize(("ko", "suicide"), RULES)
@pytest.mark.parametrize(("rows", "columns"), SHAPES)
@pytest.mark.sweep(2)
def test_initial_statistics_are_those_of_the_oracle(rows: int, columns: int, ko: str, suicide: bool) -> None:
    """Of every legal move at positions of random games, exactly."""
    rules = go(rows=rows, columns=columns, ko=ko, suicide=suicide, max_plies=max(60, rows * columns // 2))
    choice, counts = random.Random(rows), Counter[Fraction]()
    policy = GoInitial(**{name: float(value) for name, value in STRENGTH.items()})
    for state, position, moves in games(rules, 2, 2):
        if choice.random() < 25 / (rows * columns):
            expert = Expert(position, *moves[-1:], *moves[-2:-1]) if moves else Expert(position, None)
            expected = {action: expert.prior(action, STRENGTH) for action in state.legal_actions()}
            assert thought(state, moves, policy) == expected, (str(position), moves)
            counts.update(n for n, _ in expected.values())
    assert len(counts) > 10


def test_initial_statistics_and_expert_find_a_capture_at_once() -> None:
    """With five playouts the move that takes eight stones has had most of them."""
    board = """
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . x x x x . . . .
        x o o o o x . . .
        x o o o o x . . .
        . x x x . . . . .
    """
    for preset in (uct, rave):
        result = preset(playouts=5, seed=1, policies=GoExpert(), initial=GoInitial()).search(drawn(board))
        assert result.rules.initial_state().action_name(result.action) == "E1"


@pytest.mark.parametrize(
    "words",
    [
        ["play", "--planner", "uct(policies=go_expert)"],
        ["bench", "--planner", "uct(policies=go_expert)"],
        ["profile", "--planner", "uct(policies=go_expert)"],
        ["match", "--a", "uct(policies='go_expert(prob=0)')", "--b", "uct(policies=go_expert)"],
    ],
    ids=lambda words: words[0],
)
def test_no_command_begins_with_an_expert_in_another_game(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence and the exit status of wrong arguments; a policy that is never asked may know any game."""
    assert main([*words, "--game", "hex", "--size", "5"]) == 2
    assert capsys.readouterr().err.startswith("ucd: go_expert knows Go only, not hex_v0(rows=5")


def test_no_engine_begins_with_an_expert_in_another_game() -> None:
    """It says so before a controller asks for a move."""
    with pytest.raises(ValueError, match=r"^go_expert knows Go only, not hex_v0"):
        Engine("hex", {"size": 5}, uct(policies=GoExpert(), playouts=10), write=print)


@pytest.mark.parametrize("kind", [GoExpert, GoInitial])
@pytest.mark.parametrize("game", ["hex", "tic_tac_toe", "havannah"])
def test_the_expert_knows_go_only(kind: Any, game: str) -> None:
    """One sentence says so."""
    rules = ucd_envs.make_rules(game)
    name = "go_expert" if kind is GoExpert else "go_initial"
    with pytest.raises(ValueError, match=f"^{name} knows Go only, not {rules.name}"):
        kind().memory(rules)
    options = {"policies": GoExpert()} if kind is GoExpert else {"initial": GoInitial()}
    with pytest.raises(ValueError, match="Go only"):
        uct(playouts=10, **options).search(rules.initial_state())


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: GoExpert(prob=2), ValueError, "prob must be a number from 0 to 1, not 2"),
        (lambda: GoExpert(prob=-0.1), ValueError, "prob must be a number from 0 to 1, not -0.1"),
        (lambda: GoExpert(prob=float("nan")), ValueError, "prob must be a number from 0 to 1, not nan"),
        (lambda: GoExpert(prob="1"), TypeError, "prob must be a number, not '1'"),  # type: ignore[arg-type]
        *((lambda part=part: GoExpert(**{part: 1}), TypeError, f"{part} must be True or False, not 1") for part in PARTS),
        *((lambda n=n: GoInitial(**{n: -1}), ValueError, f"{n} must be a number from 0 to 1e+06, not -1") for n in STRENGTHS),
        (lambda: GoInitial(near=float("inf")), ValueError, "near must be a number from 0 to 1e+06, not inf"),
        (lambda: GoInitial(even=None), TypeError, "even must be a number, not None"),  # type: ignore[arg-type]
    ],
)
def test_parameters_are_checked(make: Any, error: type[Exception], words: str) -> None:
    """One sentence names the parameter and the value."""
    with pytest.raises(error) as caught:
        make()
    assert str(caught.value) == words
