"""P-games: values, graphs and groups against what is read move by move from states."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

import ucd_envs
import ucd_planners
from ucd_envs import registry
from ucd_envs.boards import levels
from ucd_envs.boards.levels import combine
from ucd_envs.boards.sums import PLACE, correct_moves, level_counts, minimax_value
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields

HALF = Fraction(1, 2)
GROUPED = {"branching": 7, "depth": 4, "groups": 3, "group_size": 2}


def game(**settings: Any) -> Rules:
    return ucd_envs.make_rules("p_game", **settings)


def root(**settings: Any) -> State:
    return game(**settings).initial_state()


def score(state: State) -> int:
    """The sum of the values of the moves to a state."""
    return int(fields(state.array(), PLACE).score)


def children(state: State) -> list[State]:
    return [state.after(action) for action in state.legal_actions()]


def states(top: State) -> list[State]:
    """All states of a small game, each once, level by level."""
    found, level = [top], [top]
    while level := list(dict.fromkeys(child for state in level for child in children(state))):
        found += level
    return found


def on_level(top: State, ply: int) -> list[State]:
    return [state for state in states(top) if state.ply == ply]


def minimax(state: State) -> Fraction:
    """The first player's payoff under best play, from the definition."""
    if state.over:
        return Fraction(state.payoffs()[0])
    return (max if state.player == 0 else min)(minimax(child) for child in children(state))


@cache
def solved(state: State) -> Fraction:
    """As `minimax`, each position once."""
    if state.over:
        return Fraction(state.payoffs()[0])
    return (max if state.player == 0 else min)(solved(child) for child in children(state))


# Trees


@pytest.mark.parametrize(("branching", "depth"), [(2, 1), (2, 9), (3, 6), (5, 4), (64, 2)])
@pytest.mark.parametrize("seed", range(4))
def test_the_value_of_a_tree_is_that_of_plain_minimax(branching: int, depth: int, seed: int) -> None:
    top = root(branching=branching, depth=depth, seed=seed)
    values = [minimax(child) for child in children(top)]
    assert minimax_value(top) == max(values)
    assert correct_moves(top) == [action for action, value in enumerate(values) if value == max(values)]


def test_every_state_of_a_tree_has_its_value_and_its_correct_moves() -> None:
    """With all three outcomes among them, so none of the cutoffs is wrong for one."""
    found = set()
    for seed in range(12):
        for state in states(root(branching=3, depth=5, seed=seed)):
            value = solved(state)
            found.add(value)
            assert minimax_value(state) == value
            assert correct_moves(state) == [a for a in state.legal_actions() if solved(state.after(a)) == value]
    assert found == {Fraction(0), HALF, Fraction(1)}


@pytest.mark.parametrize("settings", [{"depth": 9}, {"depth": 9, "dag_combination": 50}])
def test_the_outcome_is_the_sign_of_the_sum(settings: dict[str, int]) -> None:
    seen = set()
    for seed in range(20):
        for leaf in on_level(root(seed=seed, **settings), 9):
            won = 1.0 if score(leaf) > 0 else 0.5 if score(leaf) == 0 else 0.0
            assert leaf.payoffs() == [won, 1.0 - won]
            seen.add(won)
    assert seen == {0.0, 0.5, 1.0}


def test_a_draw_is_half_a_point_each() -> None:
    drawn = [s for seed in range(40) for s in on_level(root(seed=seed, depth=6), 6) if score(s) == 0]
    assert drawn
    assert all(state.payoffs() == [0.5, 0.5] for state in drawn)


def move_values(**settings: Any) -> Iterator[tuple[int, int]]:
    """The ply and value of every move of a small game."""
    for state in states(root(**settings)):
        for child in children(state):
            yield state.ply, score(child) - score(state)


def test_values_of_moves_are_uniform() -> None:
    """Chi-square with 127 degrees of freedom: above 200 once in 20,000 seeds. The seed is fixed."""
    counts = {0: Counter[int](), 1: Counter[int]()}
    for seed in range(8):
        for ply, value in move_values(branching=4, depth=6, seed=seed):
            counts[ply % 2][value] += 1
    for player, sign in ((0, 1), (1, -1)):
        assert set(counts[player]) == {sign * value for value in range(128)}
        total = counts[player].total()
        assert sum((count - total / 128) ** 2 / (total / 128) for count in counts[player].values()) < 200


def test_values_of_siblings_and_of_moves_in_a_row_are_independent() -> None:
    """Correlations of 20,000 and more pairs lie within 4 / sqrt(pairs) of 0."""
    siblings, lines = [], []
    for seed in range(4):
        for state in states(root(branching=4, depth=6, seed=seed)):
            values = [score(child) - score(state) for child in children(state)]
            siblings += list(pairwise(values))
            for child in children(state):
                lines += [(score(child) - score(state), score(below) - score(child)) for below in children(child)]
    for pairs in (siblings, lines):
        assert len(pairs) > 16_000
        assert abs(np.corrcoef(np.abs(np.array(pairs)).T)[0, 1]) < 4 / len(pairs) ** 0.5


def test_the_key_is_the_path() -> None:
    """[ply * bits, ...): three bits an action, so the 22nd lies in two words."""
    actions = [(7 * i + 3) % 5 for i in range(40)]
    state = root(branching=5, depth=40)
    for action in actions:
        state = state.after(action)
    packed = sum(action << (3 * place) for place, action in enumerate(actions))
    assert state.words == packed.to_bytes(16, "little")


@pytest.mark.parametrize("settings", [{"depth": 7}, {"depth": 7, "dag_combination": 60}, {**GROUPED, "group_bias": 50}])
def test_the_seed_alone_decides_the_game(settings: dict[str, int]) -> None:
    def sums(seed: int) -> list[int]:
        return [score(state) for state in states(registry.builder("p_game")(seed=seed, **settings).initial_state())]

    assert sums(5) == sums(5)
    assert len({tuple(sums(seed)) for seed in (*range(20), 2**63 - 1)}) == 21


def test_the_largest_game_can_be_played() -> None:
    state = root(branching=64, depth=1024)
    while not state.over:
        state = state.after(63)
    assert state.ply == 1024
    assert state.words == b"\xff" * 768


def test_a_playout_without_a_trace_has_the_outcomes_of_play() -> None:
    """Uniform over the paths: its mean lies within five standard errors of the exact one."""
    for settings in ({"branching": 3, "depth": 6}, {"branching": 3, "depth": 6, "dag_combination": 50}):
        top = root(seed=4, **settings)
        exact = mean_payoff(top)
        kernels, config, out, rng, total = top.rules.kernels, top.rules.config, np.zeros(2), seeded(7), 0.0
        for _ in range(20_000):
            state = top.array()
            kernels.playout(config, state, rng, np.empty(0, np.int32))
            kernels.payoffs(config, state, out)
            total += out[0]
        assert abs(total / 20_000 - float(exact)) < 5 * 0.5 / 20_000**0.5


def mean_payoff(state: State) -> Fraction:
    """The first player's mean payoff of uniform play."""
    if state.over:
        return Fraction(state.payoffs()[0])
    return sum((mean_payoff(child) for child in children(state)), Fraction(0)) / len(state.legal_actions())


# Graphs

GRAPHS = [
    *({"branching": 2, "depth": 9, "dag_combination": percent, "seed": 1} for percent in (5, 20, 50, 100)),
    {"branching": 3, "depth": 6, "dag_combination": 40, "seed": 2},
    {"branching": 7, "depth": 4, "dag_combination": 80, "seed": 3},
]


@pytest.mark.parametrize("settings", GRAPHS)
def test_every_node_of_a_graph_has_its_exact_value(settings: dict[str, int]) -> None:
    for state in states(root(**settings)):
        assert minimax_value(state) == solved(state)
        assert correct_moves(state) == [a for a in state.legal_actions() if solved(state.after(a)) == solved(state)]


@pytest.mark.parametrize("settings", GRAPHS)
def test_all_paths_to_a_node_have_one_sum_and_no_move_favours_the_other(settings: dict[str, int]) -> None:
    """Paths are walked one by one, and the sum of each is made of the values of its moves alone."""
    sums: dict[State, set[int]] = {}
    values: dict[tuple[State, int], int] = {}
    for path in product(range(settings["branching"]), repeat=settings["depth"]):
        state, total = root(**settings), 0
        for action in path:
            child = state.after(action)
            value = values.setdefault((state, action), score(child) - score(state))
            assert value >= 0 if state.player == 0 else value <= 0
            state, total = child, total + value
            sums.setdefault(state, set()).add(total)
    assert all(len(found) == 1 for found in sums.values())
    assert all(found == {score(state)} for state, found in sums.items())


@pytest.mark.parametrize("settings", GRAPHS)
def test_a_pair_has_two_different_parents(settings: dict[str, int]) -> None:
    """Every node of a graph has one parent or two."""
    pairs = 0
    parents: dict[State, list[tuple[State, int]]] = {}
    for state in states(root(**settings)):
        for action in state.legal_actions():
            parents.setdefault(state.after(action), []).append((state, action))
    for edges in parents.values():
        assert len(edges) <= 2
        assert len({source for source, _ in edges}) == len(edges)
        pairs += len(edges) == 2
    assert pairs > 0


def test_nothing_but_the_moves_of_the_other_parent_differs_from_the_tree() -> None:
    """A path of the graph whose nodes all have one parent has the sums of the tree; some have not."""
    settings = {"branching": 2, "depth": 9, "seed": 1}
    graph, tree = root(dag_combination=20, **settings), root(**settings)
    seen = Counter(child for state in states(graph) for child in children(state))
    same = 0
    for path in product(range(2), repeat=9):
        here, there = graph, tree
        for action in path:
            here, there = here.after(action), there.after(action)
            if seen[here] > 1:
                break
            assert score(here) == score(there)
            same += 1
    assert same > 500


def test_moves_below_a_pair_have_the_values_of_the_tree_below_its_larger_sum() -> None:
    """Pairs of level 2, whose parents are as in the tree; of the levels below, moves into nodes with one parent."""
    seen = 0
    for seed in range(5):
        settings = {"branching": 4, "depth": 4, "seed": seed}
        graph, tree = root(dag_combination=40, **settings), root(**settings)
        parents = Counter(child for state in states(graph) for child in children(state))
        ways: dict[State, list[State]] = {}
        for first, second in product(range(4), repeat=2):
            ways.setdefault(graph.after(first).after(second), []).append(tree.after(first).after(second))
        for node, found in ways.items():
            best = max(found, key=score)
            assert score(node) == score(best)
            if len(found) == 2 and score(found[0]) != score(found[1]):
                for action in node.legal_actions():
                    if parents[node.after(action)] == 1:
                        assert score(node.after(action)) == score(best.after(action))
                        seen += 1
    assert seen > 10


@pytest.mark.parametrize("percent", [1, 10, 20, 50, 80])
def test_the_percentage_of_nodes_is_combined(percent: int) -> None:
    """Rounded up or down; at MIN's levels the constraint leaves enough pairs, for their sums are close."""
    counts = level_counts(game(depth=14, dag_combination=percent, seed=9))
    for before, after in counts[4:]:
        assert abs(Fraction(before - after) - Fraction(before * percent, 200)) < 1, (before, after)


def test_all_of_a_level_can_be_combined() -> None:
    """Up to what the constraints leave: with 100 percent a level has about as many nodes as the one above it."""
    counts = level_counts(game(branching=4, depth=9, dag_combination=100, seed=9))
    for before, after in counts[4:]:
        assert Fraction(1, 2) <= Fraction(after, before) < Fraction(53, 100)


@pytest.mark.parametrize("settings", [*GRAPHS, {"branching": 3, "depth": 5}, {**GROUPED, "group_bias": 10}])
def test_the_counts_of_levels_are_those_of_the_states(settings: dict[str, int]) -> None:
    top = root(**settings)
    own = Counter(state.ply for state in states(top))
    made = Counter({0: 1}) + Counter(state.ply + 1 for state in states(top) for _ in state.legal_actions())
    assert level_counts(top.rules) == [(made[ply], own[ply]) for ply in range(settings["depth"] + 1)]


def test_the_counts_of_a_tree_need_no_memory() -> None:
    assert level_counts(game(branching=64, depth=1024))[-1] == (64**1024, 64**1024)


def test_pairs_are_near_and_have_close_sums() -> None:
    """Of 6,000 children with uniform sums from -300 to 300, random pairs lie 2,000 and their sums 200 apart on average."""
    sums = np.random.default_rng(1).integers(-300, 301, 6000).astype(np.int32)
    partners, order = np.empty(6000, np.int32), np.empty(6000, np.uint32)
    wanted = combine(np.uint64(3), 0, 1000, sums, np.zeros(2000, np.int32), order, partners, seeded(1))
    pairs = [(child, int(other)) for child, other in enumerate(partners) if other > child]
    assert wanted == len(pairs) == 1000
    assert all(partners[other] == child and child // 3 != other // 3 for child, other in pairs)
    apart = [other - child for child, other in pairs]
    assert max(apart) <= 24
    assert sum(distance <= 8 for distance in apart) > sum(distance > 16 for distance in apart) * 2
    assert np.mean([abs(int(sums[child]) - int(sums[other])) for child, other in pairs]) < 80
    assert 2500 < np.mean(pairs) < 3500


def test_groups_alone_keep_the_tree() -> None:
    tree, graph = root(branching=7, depth=4), root(**GROUPED)
    assert tree.rules.key_words == graph.rules.key_words == 1
    for path in product(range(7), repeat=4):
        here, there = graph, tree
        for action in path:
            here, there = here.after(action), there.after(action)
            assert (score(here), here.player) == (score(there), there.player)


# Groups


def bits(state: State) -> list[int]:
    """The groups of each action, as bits."""
    grouping = state.rules.groups
    assert grouping is not None
    config, array = state.rules.config, state.array()
    return [int(grouping.kernel(config, array, np.zeros(0, np.uint8), action)) for action in state.legal_actions()]


@pytest.mark.parametrize("bias", [0, 50, 100])
def test_groups_share_the_moves(bias: int) -> None:
    """Two groups of two, and the rest of seven moves in the third: no move in two."""
    for state in states(root(**GROUPED, group_bias=bias)):
        if not state.over:
            assert sorted(bits(state)) == [1, 1, 2, 2, 4, 4, 4]


@pytest.mark.parametrize(("groups", "size"), [(3, 2), (2, 7), (8, 1)])
def test_with_overlap_the_last_group_has_all_moves(groups: int, size: int) -> None:
    top = root(**GROUPED | {"groups": groups, "group_size": size}, group_bias=50, overlap=True)
    grouping = top.rules.groups
    assert grouping is not None
    assert (grouping.groups, grouping.whole) == (groups, groups - 1)
    for state in states(top):
        if not state.over:
            found = bits(state)
            assert all(mask >> (groups - 1) & 1 for mask in found)
            own = Counter(mask & ~(1 << (groups - 1)) for mask in found)
            rest = {0: 7 - size * (groups - 1)} if 7 - size * (groups - 1) else {}
            assert own == {1 << group: size for group in range(groups - 1)} | rest


def winning_in_groups(bias: int) -> list[tuple[list[bool], list[bool]]]:
    """For each state above the leaves of some games: the grouped moves and the others, whether each is a best one."""
    found = []
    for seed in range(4):
        for state in states(root(**GROUPED, group_bias=bias, seed=seed)):
            if not state.over:
                best = [action in correct_moves(state) for action in state.legal_actions()]
                grouped = [mask < 4 for mask in bits(state)]
                sides = [[b for b, g in zip(best, grouped, strict=True) if g == side] for side in (True, False)]
                found.append((sides[0], sides[1]))
    return found


def test_groups_without_bias_hold_winning_moves_only_where_no_others_are_left() -> None:
    for grouped, others in winning_in_groups(0):
        assert not any(grouped) or all(others)


def test_groups_with_full_bias_hold_other_moves_only_where_no_winning_ones_are_left() -> None:
    for grouped, others in winning_in_groups(100):
        assert all(grouped) or not any(others)


def test_a_place_is_filled_by_a_winning_move_with_the_probability_of_the_bias() -> None:
    """A single place, filled by a winning move with probability 0.3 wherever there are moves of both kinds."""
    wins, total = 0, 0
    for seed in range(60):
        for state in states(root(branching=6, depth=3, seed=seed, groups=2, group_size=1, group_bias=30)):
            best = correct_moves(state)
            if not state.over and 0 < len(best) < 6:
                wins += bits(state).index(1) in best
                total += 1
    assert total > 500
    assert abs(wins / total - 0.3) < 4 * (0.3 * 0.7 / total) ** 0.5


def test_places_of_groups_are_drawn_uniformly_among_moves_of_a_kind() -> None:
    """At leaves' parents that only lose or only win, each of six moves is as likely: chi-square of 5 degrees below 25."""
    counts = np.zeros(6)
    for seed in range(60):
        for state in states(root(branching=6, depth=3, seed=seed, groups=2, group_size=1, group_bias=50)):
            if not state.over and len(correct_moves(state)) == 6:
                counts[bits(state).index(1)] += 1
    assert counts.sum() > 500
    assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < 25


def test_a_game_without_groups_has_none() -> None:
    assert game().groups is None


def test_groupings_with_other_parameters_have_other_names() -> None:
    made = [game(**GROUPED, group_bias=bias, overlap=overlap).groups for bias in (0, 50) for overlap in (False, True)]
    assert len({grouping.name for grouping in made if grouping}) == 4


# Search


@pytest.mark.parametrize(
    "settings", [{"depth": 8}, {"depth": 8, "dag_combination": 20}, {"branching": 4, "depth": 4, "dag_combination": 40}]
)
@pytest.mark.parametrize("planner", ["uct", "uct1", "uct2", "uct3"])
@pytest.mark.sweep(4)
def test_a_long_search_finds_a_correct_move(planner: str, settings: dict[str, int]) -> None:
    """The error falls towards 0: of ten games where some move is wrong, after 100,000 playouts all moves are correct."""
    searched = 0
    for seed in range(60):
        top = root(seed=seed, **settings)
        best = correct_moves(top)
        if len(best) == top.rules.actions:
            continue
        made = getattr(ucd_planners, planner)(c=2**0.5, final_move="mean", expand="all", playouts=100_000, seed=1)
        assert made.search(top).action in best, seed
        searched += 1
        if searched == 10:
            break
    assert searched >= 5


def test_the_error_is_smaller_after_more_playouts() -> None:
    """Kocsis and Szepesvari 2006, Figure 1 in spirit: the share of wrong moves over seeds, early and late."""
    wrong = {2: 0, 20_000: 0}
    for seed in range(60):
        top = root(seed=seed, depth=8)
        for playouts in wrong:
            planner = ucd_planners.uct(c=2**0.5, final_move="mean", expand="all", playouts=playouts, seed=seed)
            wrong[playouts] += planner.search(top).action not in correct_moves(top)
    assert wrong[2] >= 5
    assert wrong[20_000] <= 1


# Errors and limits


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"branching": 1}, "branching must be from 2 to 64, not 1"),
        ({"branching": 65}, "branching must be from 2 to 64, not 65"),
        ({"depth": 0}, "depth must be from 1 to 1024, not 0"),
        ({"depth": 1025}, "depth must be from 1 to 1024, not 1025"),
        ({"seed": -1}, f"seed must be from 0 to {2**63 - 1}, not -1"),
        ({"dag_combination": 101}, "dag_combination must be from 0 to 100, not 101"),
        ({"groups": 0}, "groups must be from 1 to 63, not 0"),
        ({"groups": 64, "group_size": 1}, "groups must be from 1 to 63, not 64"),
        ({"group_size": 1}, "group_size, group_bias and overlap need groups to be 2 or more"),
        ({"group_bias": 1}, "group_size, group_bias and overlap need groups to be 2 or more"),
        ({"overlap": True}, "group_size, group_bias and overlap need groups to be 2 or more"),
        ({"groups": 2}, "group_size must be 1 or more where there are groups"),
        ({"groups": 2, "group_size": 1, "group_bias": 101}, "group_bias must be from 0 to 100, not 101"),
        (
            {"branching": 5, "groups": 4, "group_size": 2, "overlap": True},
            r"group_size \* \(groups - 1\) must be at most branching, but 2 \* 3 is 6",
        ),
        (
            {"branching": 6, "groups": 4, "group_size": 2},
            r"the last group would be empty: group_size \* \(groups - 1\) must be below branching, or overlap True",
        ),
        (
            {"depth": 26, "groups": 2, "group_size": 1},
            f"a graph of {2**27 - 1} nodes does not fit in memory: it may have at most {2**26} moves",
        ),
        (
            {"branching": 64, "depth": 1024, "dag_combination": 50},
            rf"a graph of about 10\*\*\d+ nodes does not fit in memory: it may have at most {2**26} moves",
        ),
    ],
)
def test_bad_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=rf"\A{message}\Z"):
        game(**settings)


@pytest.mark.parametrize("settings", [{"branching": 2.0}, {"depth": "8"}, {"overlap": 1}, {"seed": None}])
def test_settings_of_another_type_are_named(settings: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=rf"\A{next(iter(settings))} must be "):
        game(**settings)


def test_a_graph_that_grows_beyond_its_estimate_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the first check; constraints may leave fewer pairs than the percentage asks for."""
    monkeypatch.setattr(levels, "sizes", lambda branching, depth, percent: [1, 2, 3])
    monkeypatch.setattr(levels, "MOST_MOVES", 100)
    with pytest.raises(ValueError, match="a graph of about 6 nodes does not fit in memory: it may have at most 100 moves"):
        game(depth=9, dag_combination=17)


def test_a_tree_too_large_to_solve_says_its_size() -> None:
    with pytest.raises(ValueError, match=rf"\A{2**45 - 1} positions are too many to solve: at most {2**44}\Z"):
        minimax_value(root(depth=44))
    with pytest.raises(ValueError, match=r"\Aabout 10\*\*1849 positions are too many"):
        correct_moves(root(branching=64, depth=1024))


def test_deep_trees_are_solved_from_below() -> None:
    """Two moves before the end of a game of a thousand."""
    state = root(depth=1000)
    for ply in range(998):
        state = state.after(ply % 2)
    assert minimax_value(state) == minimax(state)


def test_other_games_have_no_exact_values() -> None:
    other = ucd_envs.make_rules("hex", size=3)
    for ask in (minimax_value, correct_moves):
        with pytest.raises(ValueError, match=r"\Ahex_v0 is no P-game, and has no exact values\Z"):
            ask(other.initial_state())
        with pytest.raises(TypeError, match="expected a State, such as initial_state returns, not int"):
            ask(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="hex_v0 is no P-game"):
        level_counts(other)


@pytest.mark.parametrize("text", ["2", "-1", "x", "", "1.0", "²", "0" * 4 + "9"])
def test_no_move_has_another_name(text: str) -> None:
    with pytest.raises(ValueError, match="is no move: expected 0 to 1"):
        root().action_named(text)


def test_a_drawing_tells_level_sum_and_mover() -> None:
    top = root(depth=2)
    drawing = top.rules.drawing
    assert drawing is not None
    child = top.after(1)
    assert drawing(top) == "level 0 of 2, sum 0, MAX to move"
    assert drawing(child) == f"level 1 of 2, sum {score(child)}, MIN to move"
    assert drawing(child.after(0)) == f"level 2 of 2, sum {score(child.after(0))}, over"


@pytest.mark.parametrize("settings", [{"branching": 3, "depth": 30}, {"depth": 8, "dag_combination": 30}])
def test_contradictory_states_are_refused(settings: dict[str, int]) -> None:
    """Each field in turn, by one bit."""
    state = root(**settings).after(1).after(0)
    assert State(state.rules, state.data) == state
    tree = "dag_combination" not in settings
    for byte, bit in [(0, 0), (4, 0), (8, 0), (15, 7), (16, 5), (23, 7), (24, 0 if tree else 1), (24, 5), (31, 7)]:
        data = bytearray(state.data)
        data[byte] ^= 1 << bit
        with pytest.raises(ValueError, match="no state of p_game_v0"):
            State(state.rules, bytes(data))


def test_an_action_that_is_none_is_refused() -> None:
    """Two bits hold an action of three moves; 3 is none."""
    state = root(branching=3, depth=5).after(0)
    data = bytearray(state.data)
    data[24] = 3
    with pytest.raises(ValueError, match="its fields contradict each other"):
        State(state.rules, bytes(data))


def test_a_state_travels_to_another_process_without_its_graph() -> None:
    state = root(depth=12, dag_combination=20, seed=77).after(1)
    text = pickle.dumps(state)
    assert len(text) < 1000 < len(state.rules.config)
    assert pickle.loads(text) == state


# The registry


def test_large_configurations_are_forgotten_by_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three of about the same size where there is room for two and a half."""
    monkeypatch.setattr(registry, "_made", type(registry._made)())
    size = len(game(depth=10, dag_combination=1, seed=100).config)
    monkeypatch.setattr(registry, "MOST_BYTES", 5 * size // 2)
    made = [game(depth=10, dag_combination=1, seed=seed) for seed in (100, 101, 102)]
    assert game(depth=10, dag_combination=1, seed=102) is made[2]
    assert game(depth=10, dag_combination=1, seed=101) is made[1]
    assert game(depth=10, dag_combination=1, seed=100) is not made[0]


def test_the_newest_configuration_is_kept_at_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_made", type(registry._made)())
    monkeypatch.setattr(registry, "MOST_BYTES", 100)
    first, second = game(depth=11), game(depth=10, dag_combination=1)
    assert game(depth=10, dag_combination=1) is second
    assert game(depth=11) is not first
