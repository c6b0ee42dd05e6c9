"""Playouts of Go: their moves replayed by the oracle, their probabilities, eyes, superko, and four exact totals."""

from __future__ import annotations

import math
import random
import sys
from collections import Counter

import numpy as np
import pytest
from go_boards import KO, board_of, drawn, go, oracle, picture, played, score
from go_oracle import Position
from lockstep import mean_return
from scipy.stats import chisquare

from ucd_envs.boards import stones, superko
from ucd_envs.games.go import CONFIG, RECORD_BYTES, STATE
from ucd_envs.kernels import OVER, PLAYOUT, compiled, kernel
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields
from ucd_planners import ucd, uct

NO_TRACE = np.empty(0, np.int32)
RULES = [(ko, suicide) for ko in KO for suicide in (False, True)]


def playout(state: State, rng: np.ndarray) -> tuple[State, list[tuple[int, int]]]:
    """The end of a playout, and its moves as players and actions."""
    array, trace = state.array(), np.full(state.rules.max_plies, -1, np.int32)
    count = state.rules.kernels.playout(state.rules.config, array, rng, trace)
    assert (trace[count:] == -1).all()
    return State(state.rules, array.tobytes()), [divmod(move, 2**16) for move in trace[:count].tolist()]


def suggested(state: State, number: int, seed: int) -> Counter[int]:
    """How often each action was suggested for a playout."""
    rng, array, rules = seeded(seed), state.array(), state.rules
    found = Counter(rules.kernels.playout_action(rules.config, array, rng) for _ in range(number))
    assert array.tobytes() == state.data
    return found


def uniform(counts: Counter[int], actions: list[int]) -> bool:
    """Whether these actions and no others may have been drawn with equal probability: chi-square with p > 1e-4."""
    return set(counts) == set(actions) and (len(actions) == 1 or chisquare(list(counts.values())).pvalue > 1e-4)


# Moves


def assert_playouts_are_the_oracles(state: State, position: Position, games: int, seed: int) -> None:
    """Every move of a playout is one that the oracle's policy may choose, up to an end that is the oracle's."""
    rng = seeded(seed)
    for _ in range(games):
        end, moves = playout(state, rng)
        known = position
        for player, action in moves:
            assert player == known.mover, known
            assert action in known.sensible(), known
            known = known.after(action)
        assert known.over
        assert (end.player, end.ply, board_of(end)) == (OVER, known.ply, known.board)
        assert score(end) == known.score()
        black = 0.5 if known.score() == 0 else float(known.score() > 0)
        assert end.payoffs() == [black, 1 - black]


@pytest.mark.parametrize(("ko", "suicide"), RULES)
@pytest.mark.parametrize(("rows", "columns", "games"), [(2, 2, 60), (2, 5, 40), (3, 3, 40), (4, 4, 20), (6, 5, 6), (9, 9, 1)])
def test_playouts_make_moves_of_their_policy(rows: int, columns: int, games: int, ko: str, suicide: bool) -> None:
    """Legal moves, superko included, that fill no true eye; a pass when there is none; to the end of the game."""
    start = go(rows=rows, columns=columns, ko=ko, suicide=suicide, komi=0).initial_state()
    assert_playouts_are_the_oracles(start, oracle(start), games, seed=1)


@pytest.mark.parametrize("ko", KO)
def test_playouts_know_the_moves_before_them(ko: str) -> None:
    """B013: from the middle of random games, boards from before the playout are not made again."""
    rules, choice = go(size=4, ko=ko, suicide=True), random.Random(2)
    for seed in range(25):
        state = rules.initial_state()
        position = oracle(state)
        for _ in range(choice.randrange(1, 25)):
            if not state.over:
                action = choice.choice(state.legal_actions())
                state, position = state.after(action), position.after(action)
        if not state.over:
            assert_playouts_are_the_oracles(state, position, 4, seed)


@pytest.mark.slow
@pytest.mark.parametrize(("ko", "suicide"), RULES)
@pytest.mark.parametrize(("size", "games"), [(2, 3000), (3, 1500), (5, 300), (9, 20), (19, 1)])
def test_many_playouts_make_moves_of_their_policy(size: int, games: int, ko: str, suicide: bool) -> None:
    """The same, at length."""
    start = go(size=size, ko=ko, suicide=suicide).initial_state()
    assert_playouts_are_the_oracles(start, oracle(start), games, seed=3)


@pytest.mark.parametrize("ko", KO)
def test_playouts_without_a_trace_have_the_same_results(ko: str) -> None:
    """The same generator gives the same payoffs, whether moves are written or not."""
    rules, payoffs = go(size=5, ko=ko, suicide=True, komi=2), np.zeros(2)
    start, traced, quick = rules.initial_state(), seeded(4), seeded(4)
    for _ in range(300):
        end, _ = playout(start, traced)
        array = start.array()
        rules.kernels.playout(rules.config, array, quick, NO_TRACE)
        rules.kernels.payoffs(rules.config, array, payoffs)
        assert State(rules, array.tobytes()).over
        assert payoffs.tolist() == end.payoffs()


@kernel(PLAYOUT)
def by_any_rules(config, state, rng, trace):
    """Plays moves of the random policy by the loop for all rules."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    return stones.play_randomly(c, s, superko.boards_of(state, RECORD_BYTES), rng, trace)


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (3, 5), (9, 9), (19, 19)])
@pytest.mark.parametrize("room", [0, 1, 7, 10_000])
def test_the_loop_for_the_usual_rules_plays_the_moves_of_the_loop_for_all(rows: int, columns: int, room: int) -> None:
    """From the same random numbers, from positions of random games, with a trace of any length: every byte is the same."""
    rules, choices = go(rows=rows, columns=columns), random.Random(7)
    general, usual = compiled(by_any_rules, PLAYOUT), rules.kernels.playout
    for number in range(40):
        state = rules.initial_state()
        for _ in range(choices.randrange(2 * rows * columns)):
            if not state.over:
                state = state.after(choices.choice(state.legal_actions()))
        ends = []
        for play in (usual, general):
            array, rng, trace = state.array(), seeded(number), np.full(min(room, 2 * rules.max_plies), -1, np.int32)
            count = play(rules.config, array, rng, trace) if not state.over else 0
            ends.append((array.tobytes(), rng.tolist(), trace.tolist(), count))
        assert ends[0] == ends[1]


@pytest.mark.parametrize("ko", KO)
@pytest.mark.parametrize("mercy", [1, 4, 12])
def test_mercy_ends_playouts_with_a_lead_in_stones(mercy: int, ko: str) -> None:
    """At the first move after which one side has more than so many stones more, and as the board stands; games go on."""
    rules, rng, stopped = go(size=5, mercy=mercy, komi=0, ko=ko, suicide=True, black="A1", white="B2 E4"), seeded(5), 0
    for _ in range(40):
        end, moves = playout(rules.initial_state(), rng)
        state, leads = rules.initial_state(), []
        for _, action in moves:
            state = state.after(action)
            leads.append(abs(board_of(state).count("x") - board_of(state).count("o")))
        assert max(leads[:-1], default=0) <= mercy
        assert leads[-1] > mercy or state.over
        assert (end.player, picture(end), score(end)) == (OVER, picture(state), score(state))
        assert end.payoffs()[0] == (0.5 if score(end) == 0 else float(score(end) > 0))
        stopped += not state.over
    assert stopped > 0


@pytest.mark.parametrize("ko", KO)
def test_a_playout_of_ten_thousand_plies_needs_no_recursion(ko: str) -> None:
    """B079: on 19x19, as long as games can be, with little room on Python's stack."""
    limit = sys.getrecursionlimit()
    start = go(size=19, ko=ko, suicide=True, max_plies=10_000).initial_state()
    for action in range(200):
        start = start.after(action)
    sys.setrecursionlimit(200)
    try:
        end, moves = playout(start, seeded(6))
    finally:
        sys.setrecursionlimit(limit)
    assert end.over
    assert len(moves) > 100


# Probabilities

FIXTURES = {
    "a ko": (". . . . .\n. x o . .\nx o . o .\n. x o . .\n. . . . .", "C3"),
    "two stones for one": (
        ". . . . . .\nx . . . . .\n. x . . . .\nx o . . . .\n. o . . . .\no o . . . .",
        "A2 A4",
    ),
    "eyes and suicides": (
        ". x o . o\nx x o o .\no o x x o\n. o x . x\no . x x .",
        "",
    ),
    "a corner to be retaken": (". . .\n. . .\n. . .", "A2 A1 B1"),
    "nothing but eyes": (". x . x\nx x x x\n. x x .\nx x . x", ""),
}


@pytest.mark.parametrize(("ko", "suicide"), RULES)
@pytest.mark.parametrize("name", FIXTURES)
def test_the_moves_of_playouts_are_uniform(name: str, ko: str, suicide: bool) -> None:
    """One move of the policy, and the first move of a playout, among those that the oracle's policy chooses from."""
    text, moves = FIXTURES[name]
    state = drawn(text, ko=ko, suicide=suicide)
    position = oracle(state)
    for move in moves.split():
        action = state.action_named(move)
        state, position = state.after(action), position.after(action)
    actions, rng = position.sensible(), seeded(8)
    assert uniform(suggested(state, 100 * len(actions), seed=7), actions), position
    assert uniform(Counter(playout(state, rng)[1][0][1] for _ in range(60 * len(actions))), actions), position


@pytest.mark.parametrize("suicide", [False, True])
def test_second_and_third_moves_of_playouts_are_uniform_too(suicide: bool) -> None:
    """On 2x2: after each first two moves, the third is one of the policy's with equal probability."""
    start, rng = go(size=2, ko="positional", suicide=suicide).initial_state(), seeded(9)
    following: dict[tuple[int, int], Counter[int]] = {}
    for _ in range(6000):
        (_, first), (_, second), (_, third), *_ = playout(start, rng)[1]
        following.setdefault((first, second), Counter())[third] += 1
    for (first, second), counts in following.items():
        assert uniform(counts, oracle(start).after(first).after(second).sensible())


def test_a_pass_in_a_playout_lifts_a_ko() -> None:
    """White may not take back at B1 and has nothing else; after its pass Black may fill the ko as well as take at D3."""
    state, rng = played(drawn("o o o .\no x x x\n. o x x"), "A1"), seeded(18)
    games = [playout(state, rng)[1] for _ in range(400)]
    assert {moves[0][1] for moves in games} == {state.rules.actions - 1}
    assert uniform(Counter(moves[1][1] for moves in games), [1, 11])


MEANS = {
    ("simple", False, 5.5): (-0.0274, 0.0071),
    ("positional", True, 0.5): (0.0884, 0.0070),
}
"""Mean return of Black in 5x5, and its standard error, in 20,000 playouts of the oracle: the slow test measures them again."""


@pytest.mark.parametrize(("ko", "suicide", "komi"), MEANS)
def test_playouts_have_the_mean_return_of_the_oracles(ko: str, suicide: bool, komi: float) -> None:
    """Within four standard errors of the difference."""
    mean, error = MEANS[ko, suicide, komi]
    ours, our_error = mean_return(go(size=5, ko=ko, suicide=suicide, komi=komi), 100_000, seed=10)
    assert abs(ours - mean) < 4 * math.hypot(our_error, error)


@pytest.mark.slow
@pytest.mark.parametrize(("ko", "suicide", "komi"), MEANS)
def test_the_mean_return_of_the_oracles_playouts_is_as_measured(ko: str, suicide: bool, komi: float) -> None:
    """Fresh playouts of the oracle."""
    mean, error = MEANS[ko, suicide, komi]
    start, choice, number = oracle(go(size=5, ko=ko, suicide=suicide, komi=komi).initial_state()), random.Random(11), 4000
    wins = [start.playout(choice).score() > 0 for _ in range(number)]
    fresh = 2 * sum(wins) / number - 1
    assert abs(fresh - mean) < 4 * math.hypot(error, math.sqrt((1 - fresh * fresh) / number))


# Eyes


def turned(text: str) -> str:
    """The board with the colours exchanged."""
    return text.translate(str.maketrans("xo", "ox"))


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(
    ("text", "point", "eye"),
    [
        (". . . . .\n. . x . .\n. x . x .\n. . x . .\n. . . . .", "C3", True),
        (". . . . .\n. o x . .\n. x . x .\n. . x . .\n. . . . .", "C3", True),
        (". . . . .\n. x x o .\n. x . x .\n. x x x .\n. . . . .", "C3", True),
        (". . . . .\n. o x o .\n. x . x .\n. . x . .\n. . . . .", "C3", False),
        (". . . . .\n. o x . .\n. x . x .\n. . x o .\n. . . . .", "C3", False),
        (". . . . .\n. o x o .\n. x . x .\n. o x o .\n. . . . .", "C3", False),
        (". . . . .\n. . x . .\n. x . o .\n. . x . .\n. . . . .", "C3", False),
        (". . . . .\n. . x . .\n. x . . .\n. . x . .\n. . . . .", "C3", False),
        (". . . . .\nx . . . .\n. x . . .\nx . . . .\n. . . . .", "A3", True),
        (". . . . .\nx x . . .\n. x . . .\nx x . . .\n. . . . .", "A3", True),
        (". . . . .\nx o . . .\n. x . . .\nx . . . .\n. . . . .", "A3", False),
        (". . . . .\nx o . . .\n. x . . .\nx o . . .\n. . . . .", "A3", False),
        (". . . . .\n. . . . x\n. . . x .\n. . . o x\n. . . . .", "E3", False),
        (". . . . .\n. . . . .\n. . . . .\n. . x . .\n. x . x .", "C1", True),
        (". . . . .\n. . . . .\n. . . . .\n. o x . .\n. x . x .", "C1", False),
        (". x . x .\n. . x o .\n. . . . .\n. . . . .\n. . . . .", "C5", False),
        (". . . . .\n. . . . .\n. . . . .\nx . . . .\n. x . . .", "A1", True),
        (". . . . .\n. . . . .\n. . . . .\nx x . . .\n. x . . .", "A1", True),
        (". . . . .\n. . . . .\n. . . . .\nx o . . .\n. x . . .", "A1", False),
        (". . . x .\n. . . . x\n. . . . .\n. . . . .\n. . . . .", "E5", True),
        (". . . x .\n. . . o x\n. . . . .\n. . . . .\n. . . . .", "E5", False),
        (". . . . .\n. . . . .\n. . . . .\n. . . . x\n. . . x .", "E1", True),
        (". x . . .\nx o . . .\n. . . . .\n. . . . .\n. . . . .", "A5", False),
    ],
)
def test_playouts_fill_all_but_true_eyes(text: str, point: str, eye: bool, player: int) -> None:
    """B020: all neighbours own; enemies diagonally: one at most in the middle, none at the edge and in the corner."""
    state = drawn(turned(text) if player else text, first=("black", "white")[player])
    counts = suggested(state, 2000, seed=12)
    assert (counts[state.action_named(point)] == 0) == eye
    assert played(state, point).player == 1 - player


def test_two_eyes_are_never_filled() -> None:
    """B020: ten thousand playouts leave Black's corner alive, and empty points only where they are eyes or suicide."""
    start, rng = drawn(". x . x o\nx x x x o\no o o o o\n. . . . .\n. . . . .", first="white"), seeded(13)
    for _ in range(10_000):
        array = start.array()
        start.rules.kernels.playout(start.rules.config, array, rng, np.empty(start.rules.max_plies, np.int32))
        assert picture(State(start.rules, array.tobytes()))[0][:4] == ".x.x"


def test_a_false_eye_may_be_filled() -> None:
    """B020: E5 above two white diagonals."""
    state = drawn("x . x . .\no x o . .\n. . . . .\n. . . . .\n. . . . .")
    assert suggested(state, 2000, seed=14)[state.action_named("B5")] > 0


def test_playouts_know_no_seki() -> None:
    """B019, a known limitation: Black has no other move than the shared liberty C1, and loses the chain that shares it."""
    state = drawn(
        """
        . o o x x .
        o . o x . x
        o o o x x x
        x x x o o o
        . x . o o .
        """
    )
    assert suggested(state, 500, seed=15) == {state.action_named("C1"): 500}
    assert score(played(state, "C1 A1")) < score(state)


# Searches


@pytest.mark.parametrize("ko", KO)
@pytest.mark.parametrize("keep", [False, True])
def test_a_search_moves_only_where_superko_allows(ko: str, keep: bool) -> None:
    """B013, B077: the moves of the root and of the best line are legal, also in a graph that is kept from search to search."""
    state, choice = go(size=3, ko=ko, suicide=True).initial_state(), random.Random(16)
    position = oracle(state)
    planners = [uct(playouts=60, seed=1, reuse_graph=keep), ucd(1, 1, 1, playouts=60, seed=1, reuse_graph=keep)]
    while not state.over:
        for planner in planners:
            result = planner.search(state)
            assert result.actions.tolist() == position.legal_actions()
            assert result.visits.sum() >= 60
            line = position
            for action in result.principal_variation:
                assert line.is_legal(action)
                line = line.after(action)
        action = choice.choice(position.legal_actions())
        state, position = state.after(action), position.after(action)


# Totals


def totals(rules: Rules, playouts: int, seed: int) -> tuple[int, int, int, int]:
    """Moves played, wins of Black, sum of twice the scores and stones left, over so many playouts."""
    start, rng, trace = rules.initial_state(), seeded(seed), np.empty(rules.max_plies, np.int32)
    fresh, moves, wins, scores, stones = start.array(), 0, 0, 0, 0
    for _ in range(playouts):
        array = fresh.copy()
        moves += rules.kernels.playout(rules.config, array, rng, trace)
        end = State(rules, array.tobytes())
        wins += score(end) > 0
        scores += int(2 * score(end))
        stones += rules.planes[0] * rules.planes[1] - board_of(end).count(".")
    return moves, wins, scores, stones


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, (1_112_794, 4161, -116_704, 681_498)),
        ({"ko": "positional", "suicide": True}, (1_143_846, 4367, -105_928, 678_025)),
    ],
    ids=["default", "Tromp-Taylor"],
)
def test_ten_thousand_playouts_of_9x9_have_their_totals(
    settings: dict[str, object], expected: tuple[int, int, int, int]
) -> None:
    """The signature of the playouts: a refactor does not move it."""
    assert totals(go(**settings), 10_000, seed=1) == expected
