"""What the graph keeps, after every playout, against the definitions of [UCD section 3] in exact fractions (tests/oracle.py).

The compiled search runs one playout at a time; the path and the payoffs that it leaves go into the oracle, which computes
everything from its whole log. The oracle shares no code with the search. Cases: /cases.md; caution numbers: /design.md.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from itertools import product
from typing import Any

import hash_game
import numpy as np
import oracle
import pytest
from searching import (
    INF,
    C,
    Search,
    assert_exact,
    bound_of,
    close,
    log_of,
    random_games,
    real_games,
    scaled_log,
)

import ucd_envs
from ucd_envs.rules import Rules
from ucd_planners import simple_way, uct, uct0, uct1, uct2, uct3, update_all
from ucd_planners.planner import Planner
from ucd_planners.search.interface import Selection
from ucd_planners.search.ucb import exploration_of, scale_of
from ucd_planners.selection.ucd import UCD
from ucd_planners.selection.update_all import UpdateAll

DEPTHS = tuple(product((0, 1, 2, 3, INF), repeat=3))
FEW_DEPTHS = ((0, 0, 0), (1, 0, 1), (2, 1, 0), (0, 2, 3), (3, 3, 3), (INF, 0, 1), (1, INF, INF), (INF, INF, INF))

every_depth = pytest.mark.parametrize("depths", DEPTHS, ids=lambda depths: ",".join(map(str, depths)))
some_depths = pytest.mark.parametrize("depths", FEW_DEPTHS, ids=lambda depths: ",".join(map(str, depths)))


# Cached values and definitions


@every_depth
@pytest.mark.sweep(3)
def test_cached_values_are_the_definitions_in_random_graphs(depths: tuple[float, float, float]) -> None:
    """Caution 2 of the design: all of {0, 1, 2, 3, inf}^3, on graphs of their own for one, two or three players."""
    number = DEPTHS.index(depths)
    assert_exact(random_games(seed=number)[number % 3], UCD(*depths, C), 35, {20, 34, 35}, seed=number)


@pytest.mark.slow
@every_depth
def test_cached_values_are_the_definitions_for_any_players(depths: tuple[float, float, float]) -> None:
    for start in random_games(seed=DEPTHS.index(depths) + 2000):
        assert_exact(start, UCD(*depths, C), 35, {20, 34, 35}, seed=DEPTHS.index(depths))


@every_depth
@pytest.mark.sweep(3)
def test_cached_values_are_the_definitions_in_real_games(depths: tuple[float, float, float]) -> None:
    """The same in tic-tac-toe, Hex, Connect Four and LeftRight, two of them for each."""
    for start in real_games()[DEPTHS.index(depths) % 2 :: 2]:
        assert_exact(start, UCD(*depths, C), 35, {35}, seed=DEPTHS.index(depths))


@some_depths
def test_cached_values_are_the_definitions_after_every_playout(depths: tuple[float, float, float]) -> None:
    """No value is right only now and then."""
    for start in random_games(seed=200):
        assert_exact(start, UCD(*depths, C), 30, set(range(31)))


@some_depths
@pytest.mark.parametrize("most_edges", [1, 2, 3, 7, 12])
def test_cached_values_are_the_definitions_in_a_full_graph(depths: tuple[float, float, float], most_edges: int) -> None:
    """In a graph that has stopped growing descents end at edges to inner nodes, many times at the same one."""
    for start in random_games(seed=300):
        search = assert_exact(start, UCD(*depths, C), 40, {13, 40}, most_edges=most_edges)
        assert search.graph.edge_count == most_edges


@some_depths
def test_cached_values_are_the_definitions_in_a_large_graph(depths: tuple[float, float, float]) -> None:
    """After 5,000 playouts in Connect Four, when all arrays and blocks of edges have moved many times."""
    selection = UCD(*depths, C)
    search = Search(ucd_envs.make_rules("connect_four", columns=5, rows=5).initial_state(), selection)
    search.run(5000)
    graph = search.graph
    assert graph.transpositions > 300
    means, visits, parent_visits = recomputed(search, *depths)
    assert all(close(graph.mean_value[number], mean) for number, mean in means.items())
    assert all(close(graph.exploration[number], 1 / math.sqrt(n)) for number, n in visits.items())
    assert all(close(graph.node_stats[node, 0], scaled_log(C, p)) for node, p in parent_visits.items())


def recomputed(search: Search, d1: float, d2: float, d3: float) -> tuple[dict[int, float], dict[int, float], dict[int, float]]:
    """mu_d1 and n_d3 of every edge, and p_d2 of every node, from n, w, n', w': in floating point, from the last ply up."""
    graph, order, known = search.graph, [0], {0}
    for node in order:  # breadth first, so every position comes after all that lead to it
        fresh = [target for target in graph.edges[graph.block(node)]["target"].tolist() if target >= 0 and target not in known]
        order += dict.fromkeys(fresh)
        known.update(fresh)
    deepest = max((int(depth) for depth in (d1, d2, d3) if depth < INF), default=0)
    a: defaultdict[tuple[float, int], float] = defaultdict(float)
    b: defaultdict[tuple[float, int], Any] = defaultdict(float)
    means, visits = {}, {}
    players, has_leaf_sums = search.start.rules.players, "leaf_value_sum[0]" in graph.layout.edge_stats
    for node in reversed(order):
        block = graph.block(node)
        for number in range(block.start, block.stop):
            edge, target = graph.edges[number], int(graph.edges[number]["target"])
            paid = graph.edge_stats[number, :players]
            leaf_paid = graph.edge_stats[number, players : 2 * players] if has_leaf_sums else 0.0
            for depth in (0, *range(1, deepest + 1), INF):
                n = edge["visits"] if depth == 0 else edge["leaf_visits"] + a[depth - 1, target]
                total = paid if depth == 0 else leaf_paid + b[depth - 1, target]
                mean = total / (edge["visits"] if depth == 0 else edge["leaf_visits"] + a[0, target])
                a[depth, node] += n
                b[depth, node] = b[depth, node] + edge["visits"] * mean
                if depth == d1:
                    means[number] = mean[graph.nodes[node]["mover"]]
                if depth == d3:
                    visits[number] = n
    return means, visits, {node: a[d2, node] for node in order}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_cached_values_are_the_definitions_in_many_random_graphs(seed: int) -> None:
    """All depths on graphs of other sizes and shapes, with more playouts and with limits."""
    for number, depths in enumerate(DEPTHS):
        sizes = {"width": 3 + seed % 8, "branching": 2 + seed % 5, "plies": 4 + number % 8}
        for start in random_games(1000 * (seed + 1) + number, **sizes):
            assert_exact(start, UCD(*depths, C), 120, {60, 119, 120}, seed=seed, most_edges=10 ** (1 + number % 3))


# The literal rule of section 3.4, and update-all


@every_depth
@pytest.mark.sweep(3)
def test_the_literal_backup_is_the_rule_of_section_3_4(depths: tuple[float, float, float]) -> None:
    """backup="section_3_4" caches what the rule, executed step by step in fractions, caches."""
    number = DEPTHS.index(depths)
    assert_exact(random_games(seed=number)[number % 3], UCD(*depths, C, backup="section_3_4"), 35, {20, 34, 35})


@pytest.mark.slow
@every_depth
def test_the_literal_backup_is_the_rule_of_section_3_4_for_any_players(depths: tuple[float, float, float]) -> None:
    for start in random_games(seed=DEPTHS.index(depths) + 1000):
        assert_exact(start, UCD(*depths, C, backup="section_3_4"), 35, {20, 34, 35})


@every_depth
@pytest.mark.sweep(3)
def test_the_rule_of_section_3_4_is_exact_when_distances_count_from_the_path(depths: tuple[float, float, float]) -> None:
    """The two halves of the oracle agree: the correction of caution 1 is what the literal rule lacks."""
    start = random_games(seed=DEPTHS.index(depths))[1]
    rule, log = oracle.Section34(2, *depths, exact=True), oracle.Oracle(2)
    for path, payoffs in Search(start, UCD(*depths, C)).steps(25):
        rule.record(path, payoffs)
        log.record(path, payoffs)
    for edge in log.edges():
        assert rule.cached_mean(edge) == log.mean(edge, depths[0])
        assert rule.cached_visits(edge) == log.visits(edge, depths[2])
    assert all(rule.parent_visits(position) == log.parent_visits(position, depths[1]) for position in log.positions())


@pytest.mark.parametrize(("backup", "seen"), [("descent", 3), ("section_3_4", 2)])
def test_the_smallest_graph_where_the_literal_rule_differs(backup: str, seen: int) -> None:
    """Caution 1 of the design. Both moves of the root lead to a, then there is one move to b, then one to the end.

    With (0, 0, 1) the playouts are, x and y being the root's moves in the order of their first trial:

        1.  x            a is new, the playout starts there
        2.  y, a-b       a is known, b is new; n_1(x) = n'(x) + n(a-b) = 1 + 1
        3.  y, a-b, end  because n_1(y) = 0 + 1 is less than n_1(x), and all means are 1

    n_1(x) = 1 + 2 by equation 12. The literal rule sees that edge in playout 2, where a is the leaf's parent, but not in
    playout 3, where a is one ply farther from the leaf and x is not on the path.
    """
    start = hash_game.listed({"root": (0, ["a", "a"]), "a": (0, ["b"]), "b": (0, [1.0])}, players=1).initial_state()
    search = Search(start, UCD(0, 0, 1, C, backup=backup))
    paths = [path for path, _ in search.steps(3)]
    assert [len(path) for path in paths] == [1, 2, 3]
    x, y = paths[0][0][1], paths[1][0][1]
    assert {x, y} == {0, 1}
    assert paths[2][0][1] == y
    visits = {edge: search.graph.exploration[number] ** -2 for number, _, edge in search.edges()}
    assert visits[start.key, x] == pytest.approx(seen)


def test_update_all_counts_a_playout_once_at_every_edge_above_its_leaf() -> None:
    """Means, visits and weights after every playout are those of the oracle's own update-all."""
    for start in (start for seed in range(20) for start in random_games(seed)):
        assert_exact(start, UpdateAll(C), 40, {40}, seed=1)


def test_update_all_counts_right_in_real_games() -> None:
    """The same in tic-tac-toe, Hex, Connect Four and LeftRight, where edges count up to thousands of ways to them as one."""
    for start in real_games():
        assert_exact(start, UpdateAll(C), 80, set(range(81)))


# Selection

SELECTIONS = (
    *(UCD(*depths, C) for depths in FEW_DEPTHS),
    UCD(1, 2, 3, C, backup="section_3_4"),
    UCD(INF, INF, INF, C, backup="section_3_4"),
    UpdateAll(C),
)


@pytest.mark.parametrize("selection", SELECTIONS, ids=str)
@pytest.mark.sweep(2)
def test_every_descent_follows_the_largest_bound(selection: Selection) -> None:
    """At each node an untried move if there is one, else a move whose bound, from the log before this playout, no other
    exceeds; on through every known position, and no further than the first new one."""
    for start in (*random_games(seed=7), *real_games()):
        search = Search(start, selection)
        log = log_of(selection, start.rules.players)
        states = {start.key: start}
        for path, payoffs in search.steps(60):
            for source, action, target in path:
                state, known = states[source], log.out.get(source, [])
                untried = set(state.legal_actions()) - {tried for _, tried in known}
                if untried:
                    assert action in untried
                else:
                    best = max(bound_of(log, selection, edge, state.player) for edge in known)
                    assert bound_of(log, selection, (source, action), state.player) >= best - 1e-9
                child = state.after(action)
                assert target == (None if child.over else child.key)
                states.setdefault(child.key, child)
            assert all(target in log.out for _, _, target in path[:-1])
            assert path[-1][2] not in log.out
            log.record(path, payoffs)


def test_moves_are_chosen_by_the_bound_worked_out_by_hand() -> None:
    """B068: log of the parent's count, not of the child's.

    After one playout of each of three moves that end the game with 1/4, 1/2 and 3/4, UCB1 is deterministic; it is run here as
    the textbook has it.
    """
    payoffs = (0.25, 0.5, 0.75)
    visits = [1, 1, 1]
    for total in range(3, 200):
        bounds = [mean + C * math.sqrt(math.log(total) / n) for mean, n in zip(payoffs, visits, strict=True)]
        visits[bounds.index(max(bounds))] += 1
    game = hash_game.listed({"root": (0, [*payoffs])}).initial_state()
    assert uct(c=C, playouts=200, seed=0).search(game).visits.tolist() == visits


@pytest.mark.parametrize("planner", [uct0, uct1, uct2, uct3])
def test_the_planners_of_childs_have_the_bias_of_their_paper(planner: Callable[..., Planner]) -> None:
    """[Childs section 3]: mean + sqrt(2 ln N_s / N_sa), run here as written, over three moves that end the game."""
    payoffs, visits = (0.25, 0.5, 0.75), [1, 1, 1]
    for total in range(3, 200):
        bounds = [mean + math.sqrt(2 * math.log(total) / n) for mean, n in zip(payoffs, visits, strict=True)]
        visits[bounds.index(max(bounds))] += 1
    game = hash_game.listed({"root": (0, [*payoffs])}).initial_state()
    assert planner(playouts=200, seed=0).search(game).visits.tolist() == visits


@pytest.mark.parametrize(("visits", "weight"), [(0, 0.0), (1, 0.0), (math.e, 0.3), (math.e**4, 0.6), (math.e**9, 0.9)])
def test_the_weight_grows_with_the_root_of_the_log(visits: float, weight: float) -> None:
    """B068: 0.3 sqrt(log e^k) = 0.3 sqrt(k); nothing below one visit."""
    assert scale_of(0.3, float(visits)) == pytest.approx(weight)


@pytest.mark.parametrize(("visits", "explore"), [(1, 1.0), (4, 0.5), (100, 0.1)])
def test_the_exploration_of_a_move_falls_with_the_root_of_its_visits(visits: int, explore: float) -> None:
    """B068: 1 / sqrt(n)."""
    assert exploration_of(float(visits)) == explore


@pytest.mark.parametrize("depths", [(0, 0, 0), (0, 2, 3), (1, 0, 1), (1, INF, INF)])
def test_without_transpositions_ucd_is_uct(depths: tuple[float, float, float]) -> None:
    """B068: on a tree mu_d = w / n and n_d = n, so visits and values are equal to the last bit.

    Deeper means (d1 >= 2) are the same numbers, but rounded on the way.
    """
    for players in (1, 2, 3):
        start = hash_game.rules(seed=players, branching=3, plies=6, players=players, tree=True).initial_state()
        tree = uct(playouts=3000, seed=1).search(start)
        graph = Planner(UCD(*depths, C), playouts=3000, seed=1).search(start)
        assert (graph.visits.tolist(), graph.values.tolist()) == (tree.visits.tolist(), tree.values.tolist())
        assert (graph.action, graph.principal_variation) == (tree.action, tree.principal_variation)
        assert graph.transpositions == 0


def test_depths_beyond_the_game_see_all_of_it() -> None:
    """A depth of as many plies as the game has is infinite."""
    start = hash_game.rules(seed=3, width=6, branching=4, plies=7).initial_state()
    deep, infinite = (Search(start, UCD(depth, depth, depth, C)) for depth in (7, INF))
    assert list(deep.steps(60)) == list(infinite.steps(60))


# Games in which a backup is wrong


def means_and_actions(planner: Callable[..., Planner], game: Rules, c: float, playouts: int, seeds: int) -> tuple[Any, Any]:
    """The values of the root's moves, [seeds, moves], and the moves chosen."""
    results = [planner(c=c, playouts=playouts, seed=seed).search(game.initial_state()) for seed in range(seeds)]
    return np.array([result.values for result in results]), np.array([result.action for result in results])


EXACT_BACKUPS = {"uct1": uct1, "simple_way": simple_way, "uct3": uct3}
every_exact_backup = pytest.mark.parametrize("planner", EXACT_BACKUPS.values(), ids=EXACT_BACKUPS)

REFUTED = {"root": (0, ["l", "r"]), "l": (1, [0.0, "s"]), "r": (1, ["s"]), "s": (0, [1.0])}
"""Move 0 loses: the opponent at l ends the game with 0, and will not go to s. Move 1 wins: r must go to s."""
UNEXPLORED = {"root": (0, ["l", "r"]), "l": (0, ["g", "s"]), "r": (0, ["s"]), "s": (0, [0.5]), "g": (0, [1.0, *[0.0] * 7])}
"""Move 0 is worth 1, by way of g, where seven of eight moves lose; move 1 is worth 1/2, and so is l-s."""


def test_update_all_credits_a_refuted_move_with_playouts_that_its_opponent_would_avoid() -> None:
    """[UCD Figure 1] in spirit, [Childs]. Every playout by way of r passes s and is counted at l too, for s can be reached
    from there: mean(l) = 1 - z / n(l), where z, the playouts in which the opponent refuted l, stays below 20, but n(l)
    grows with all others. The true value is 0."""
    values, _ = means_and_actions(update_all, hash_game.listed(REFUTED), 1.0, 10_000, 30)
    assert (values[:, 0] > 1 - 20 / 9_900).all()


@every_exact_backup
def test_a_refuted_move_is_worth_little_where_playouts_stay_on_their_path(planner: Callable[..., Planner]) -> None:
    """Its own n playouts have a mean m with m + sqrt(log 10,000 / n) near 1, so n is near 9.2 / (1 - m)^2, under 20 for
    m < 0.3; of those only the opponent's own trials of s count 1."""
    values, actions = means_and_actions(planner, hash_game.listed(REFUTED), 1.0, 10_000, 30)
    assert (values[:, 0] < 0.3).all()
    assert (actions == 1).all()


def test_update_all_never_finds_a_good_move_behind_a_bad_first_impression() -> None:
    """[UCD Figure 1] in spirit. Once l-s is there, a playout by way of r adds 1/2 and a visit to both of the root's moves.
    l has tried g and lost, so mean(l) < mean(r) = 1/2, and with as many visits its bound stays below that of r for ever."""
    values, actions = means_and_actions(update_all, hash_game.listed(UNEXPLORED), 1.0, 10_000, 30)
    assert (values[:, 0] <= 0.5).all()
    assert (actions == 1).sum() > 20


@every_exact_backup
def test_a_bad_first_impression_is_corrected_where_playouts_stay_on_their_path(planner: Callable[..., Planner]) -> None:
    """Visits of l grow by its own playouts only, so l-g is tried until its one good move is found, after which nearly all
    playouts are worth 1."""
    values, actions = means_and_actions(planner, hash_game.listed(UNEXPLORED), 1.0, 10_000, 30)
    assert (values[:, 0] > 0.98).all()
    assert (actions == 0).all()


STALE = {
    "root": (0, ["p", "q", 0.3]),
    "p": (1, ["v", 0.6]),
    "q": (1, ["v"]),
    "v": (1, ["x", 1.0, 1.0, 1.0]),
    "x": (1, [0.0, *[1.0] * 7]),
}
"""Move 2 is best, with 0.3: at v the opponent wins by way of x, one reply in 4 * 8. Move 1 must go to v, and after move 0 the
opponent can."""


@pytest.mark.parametrize(("planner", "wrong"), [(uct1, range(25, 51)), (uct2, range(3)), (uct3, range(3))])
def test_the_mean_of_an_edge_alone_can_be_stale(planner: Callable[..., Planner], wrong: range) -> None:
    """[UCD Figure 2] in spirit. By way of q the search soon learns that the opponent wins at v. The edge p-v does not hear of
    that: its first playout was almost surely a loss for the opponent, who has 0.4 for sure instead, so with mu_0 and c = 0.2
    that edge is tried again when 0.2 sqrt(log p) (1 - 1 / sqrt(p - 1)) > 0.4, after about 90 visits of p, and until then p
    seems to be worth 0.6. mu_1 of that edge is the mean of v. In how many of 50 searches the wrong move is chosen: this is a
    matter of luck, since the two first playouts of v can find x's one good reply."""
    _, actions = means_and_actions(planner, hash_game.listed(STALE), 0.2, 500, 50)
    assert (actions != 2).sum() in wrong


def test_visits_of_update_all_may_sum_to_more_than_the_playouts() -> None:
    """F2-18: a diamond. Both moves lead to positions from which one move leads to the same, so its playouts count for both."""
    game = {"root": (0, ["a", "b"]), "a": (1, ["end"]), "b": (1, ["end"]), "end": (0, [1.0, 0.0])}
    result = update_all(playouts=20, seed=1).search(hash_game.listed(game).initial_state())
    assert result.visits.sum() > result.playouts == 20
    assert result.visits.max() <= 20
