"""What a search tells: the final move, the line, the figures (ids: cases.md)."""

from __future__ import annotations

import dataclasses
import math
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import hash_game
import numpy as np
import pytest
from scipy.stats import chisquare

import ucd_envs
from ucd_envs.rng import seeded
from ucd_planners import Planner, SearchResult, simple_way, ucd, uct, uct3, update_all
from ucd_planners.root import FINALS

GAMES = {
    "hex": ucd_envs.make_rules("hex", size=4).initial_state(),
    "tic_tac_toe": ucd_envs.make_rules("tic_tac_toe").initial_state(),
    "leftright": ucd_envs.make_rules("leftright", steps=12).initial_state(),
    "three players": hash_game.rules(seed=2, branching=4, plies=7, players=3).initial_state(),
}
PLANNERS: dict[str, Callable[..., Planner]] = {"uct": uct, "ucd": simple_way, "uct3": uct3, "update_all": update_all}
every_game = pytest.mark.parametrize("start", GAMES.values(), ids=GAMES)
every_planner = pytest.mark.parametrize("planner", PLANNERS.values(), ids=PLANNERS)


def chosen(final: str, visits: list[int], values: list[float], seed: int = 0) -> int:
    """Which of some moves the rule for the final move takes."""
    return FINALS[final](np.array(visits), np.array(values), seeded(seed))


# The final move


@pytest.mark.parametrize(("final", "move"), [("visits", 0), ("mean", 1), ("lower_bound", 2)])
def test_robust_max_and_secure_child_are_three_rules(final: str, move: int) -> None:
    """B073: N = 900, 3, 60 and Q = 0.6, 1, 0.8. The lower ends of Wilson's intervals, with z = 1.96 (z^2 = 3.84):

    900: (0.6 + 3.84/1800 - 1.96 sqrt(0.24/900 + 3.84/4/900^2)) / (1 + 3.84/900) = 0.5676
    3:   1 / (1 + 3.84/3) = 0.4385
    60:  (0.8 + 3.84/120 - 1.96 sqrt(0.16/60 + 3.84/4/60^2)) / (1 + 3.84/60) = 0.6822
    """
    assert chosen(final, [900, 3, 60], [0.6, 1.0, 0.8]) == move


@pytest.mark.parametrize(
    ("final", "visits", "values", "move"),
    [
        ("visits", [5, 7, 7], [0.9, 0.4, 0.5], 2),
        ("mean", [5, 7, 9], [0.9, 0.9, 0.5], 1),
        ("lower_bound", [0, 4], [math.nan, 0.0], 1),
        ("visits", [0, 4], [math.nan, 0.0], 1),
        ("mean", [0, 4], [math.nan, 0.0], 1),
        ("mean", [0, 1, 0], [math.nan, 0.0, math.nan], 1),
        ("lower_bound", [3, 9], [0.0, 0.0], 1),
    ],
)
def test_equals_are_decided_by_the_second_number(final: str, visits: list[int], values: list[float], move: int) -> None:
    """B094: also between moves that lose, and against moves without a mean."""
    assert chosen(final, visits, values) == move


@pytest.mark.parametrize("final", FINALS)
def test_equals_in_all_are_chosen_equally_often(final: str) -> None:
    """B074: over 2,000 seeds a fair choice among moves 1, 2 and 4, and never another."""
    counts = np.bincount([chosen(final, [5, 9, 9, 2, 9], [0.5] * 5, seed) for seed in range(2000)], minlength=5)
    assert counts[[0, 3]].tolist() == [0, 0]
    assert chisquare(counts[[1, 2, 4]]).pvalue > 0.001


@every_game
@pytest.mark.parametrize("final", FINALS)
def test_the_planners_option_is_the_rule(final: str, start: Any) -> None:
    """B073: for 20 searches of few playouts, where the rules differ."""
    for seed in range(20):
        result = simple_way(playouts=40, seed=seed, final_move=final).search(start)
        keys = {
            "visits": result.visits,
            "mean": np.nan_to_num(result.values, nan=-1.0),
            "lower_bound": [lower_end(n, mean) for n, mean in zip(result.visits, result.values, strict=True)],
        }
        place = result.actions.tolist().index(result.action)
        assert keys[final][place] == max(keys[final])


def lower_end(n: int, mean: float) -> float:
    """The lower end of Wilson's 95 % interval, as a textbook has it; -1 without playouts."""
    if n == 0:
        return -1.0
    z = 1.959963984540054
    return max(0.0, (mean + z * z / (2 * n) - z * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))) / (1 + z * z / n))


# Moves, visits, values


@every_game
@every_planner
def test_moves_are_the_legal_ones_in_order(planner: Callable[..., Planner], start: Any) -> None:
    assert planner(playouts=1, seed=0).search(start).actions.tolist() == start.legal_actions()


@every_game
@every_planner
@pytest.mark.parametrize("playouts", [1, 3, 500])
def test_the_policy_is_a_distribution(planner: Callable[..., Planner], start: Any, playouts: int) -> None:
    """B070: also with fewer playouts than moves."""
    policy = planner(playouts=playouts, seed=0).search(start).policy
    assert policy.sum() == pytest.approx(1)
    assert (policy >= 0).all()


@every_planner
def test_a_move_without_playouts_has_no_value(planner: Callable[..., Planner]) -> None:
    result = planner(playouts=3, seed=0).search(GAMES["hex"])
    assert np.isnan(result.values).tolist() == (result.visits == 0).tolist()
    assert 0 <= result.value <= 1


@every_planner
@pytest.mark.parametrize("payoff", [0.0, 1.0])
def test_certain_payoffs_give_exact_values(planner: Callable[..., Planner], payoff: float) -> None:
    """Where all playouts pay 0, or all pay 1, no rounding leads a mean out of [0, 1], and each final rule works with it."""
    layers = {f"{ply}{side}": (0, [f"{ply + 1}{other}" for other in "abc"]) for ply in range(4) for side in "abc"}
    ends = {f"4{side}": (0, [payoff, payoff]) for side in "abc"}
    game = hash_game.listed({"start": (0, ["0a", "0b", "0c"]), **layers, **ends}, players=1).initial_state()
    for final in FINALS:
        result = planner(playouts=2000, seed=0, final_move=final).search(game)
        assert result.values.tolist() == [payoff] * 3
        assert result.value == payoff


def test_the_values_of_workers_are_weighted_by_their_visits() -> None:
    planner = simple_way(playouts=3000, seed=0, workers=3)
    result = planner.search(GAMES["hex"])
    total, visits = np.zeros(16), np.zeros(16)
    for worker in planner._workers:
        block = worker.graph.block(0)
        edges = worker.graph.edges[block]
        visits[edges["action"]] += edges["visits"]
        total[edges["action"]] += edges["visits"] * worker.graph.mean_value[block]
    assert result.values == pytest.approx(total / visits)


def test_values_are_those_of_the_player_to_move() -> None:
    """Three players of whom the second is to move: 1/4 for it by the first move, 3/4 by the second, whatever others get."""
    game = hash_game.listed({"root": (1, [(1.0, 0.25, 0.0), (0.0, 0.75, 1.0)])}, players=3).initial_state()
    result = uct(playouts=50, seed=0).search(game)
    assert result.values.tolist() == [0.25, 0.75]


def test_every_mover_looks_at_its_own_payoff() -> None:
    """B086: max^n with three players, the last one included.

    Player 2 takes 0.9 for itself at b and 0.8 at c; player 1, who gets 0.1 at b and 0.6 at c, goes to c; so move 0 is worth 0.2
    to player 0, and move 1, which ends the game with 0.4, is better.
    """
    game = hash_game.listed(
        {
            "root": (0, ["a", (0.4, 0.0, 0.0)]),
            "a": (1, ["b", "c"]),
            "b": (2, [(1.0, 1.0, 0.3), (0.9, 0.1, 0.9)]),
            "c": (2, [(1.0, 1.0, 0.1), (0.2, 0.6, 0.8)]),
        },
        players=3,
    ).initial_state()
    for planner in (uct, simple_way, partial(ucd, math.inf, math.inf, math.inf)):
        result = planner(playouts=20_000, seed=0).search(game)
        assert result.action == 1
        assert result.principal_variation == [1]
        assert planner(playouts=5000, seed=0).search(game.after(0)).principal_variation == [1, 1]


# The line


@every_game
@every_planner
def test_the_principal_variation_is_a_line_of_legal_moves(planner: Callable[..., Planner], start: Any) -> None:
    """It begins with the chosen move and is no longer than the longest descent."""
    result = planner(playouts=2000, seed=0).search(start)
    assert result.principal_variation[0] == result.action
    assert len(result.principal_variation) <= result.depth
    state = start
    for action in result.principal_variation:
        state = state.after(action)


def test_the_principal_variation_follows_the_most_visited_moves() -> None:
    """The only good moves, to the end of the game: x takes c2 (else o wins there), then wins with b3 or a1."""
    rules = ucd_envs.make_rules("tic_tac_toe")
    state = rules.initial_state()
    for name in ("b2", "a2", "b1", "b3", "c1", "a3"):
        state = state.after(rules.initial_state().action_named(name))
    result = simple_way(playouts=3000, seed=0).search(state)
    assert [rules.initial_state().action_name(action) for action in result.principal_variation] == ["a1"]


def test_one_playout_gives_a_line_of_one_move() -> None:
    result = simple_way(playouts=1, seed=0).search(GAMES["hex"])
    assert result.principal_variation == [result.action]


# Figures


def test_figures_of_the_smallest_search() -> None:
    """One playout: the root and one new position, one edge."""
    result = simple_way(playouts=1, seed=0).search(GAMES["hex"])
    assert (result.playouts, result.nodes, result.edges, result.transpositions, result.depth) == (1, 2, 1, 0, 1)
    assert (result.full, result.stopped, result.workers, result.priors) == (False, "playouts", 1, None)


def test_positions_reached_in_two_ways_are_counted() -> None:
    """Two steps of LeftRight have 3 inner positions and 6 moves: to left, right; 4 to the end. With 3 steps: 6 inner positions
    and 12 moves, 6 of them to the end; left-right and right-left meet once."""
    for steps, figures in ((2, (3, 6, 0)), (3, (6, 12, 1))):
        result = simple_way(c=5.0, playouts=2000, seed=0).search(ucd_envs.make_rules("leftright", steps=steps).initial_state())
        assert (result.nodes, result.edges, result.transpositions) == figures
        assert result.depth == steps


def test_in_a_tree_every_move_tried_is_a_position() -> None:
    """Three steps of LeftRight: 2 + 4 + 8 moves, and the root."""
    result = uct(c=5.0, playouts=2000, seed=0).search(ucd_envs.make_rules("leftright", steps=3).initial_state())
    assert (result.nodes, result.edges, result.transpositions) == (15, 14, 0)


def test_figures_of_workers_are_added_up() -> None:
    planner = simple_way(playouts=3000, seed=0, workers=2)
    result = planner.search(GAMES["hex"])
    graphs = [worker.graph for worker in planner._workers]
    for name, count in (
        ("nodes", "node_count"),
        ("edges", "edge_count"),
        ("transpositions", "transpositions"),
        ("playouts", "playouts"),
    ):
        assert getattr(result, name) == sum(getattr(graph, count) for graph in graphs)
    assert result.depth == max(graph.depth for graph in graphs)
    assert result.bytes == sum(graph.bytes for graph in graphs)


def test_speed_is_playouts_by_wall_clock_time() -> None:
    result = uct(playouts=20_000, seed=0).search(GAMES["hex"])
    assert result.playouts_per_second == pytest.approx(20_000 / result.seconds)
    assert 0 < result.cpu_seconds <= 2 * result.seconds + 0.1


def test_a_result_cannot_be_changed() -> None:
    result = uct(playouts=10, seed=0).search(GAMES["hex"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.action = 0  # type: ignore[misc]


# Text


def text_of(**changes: Any) -> list[str]:
    """The lines of a result with known numbers."""
    result = SearchResult(
        action=1,
        actions=np.array([0, 1, 4]),
        visits=np.array([20, 70, 0]),
        values=np.array([0.25, 0.5, math.nan]),
        priors=None,
        value=0.44,
        principal_variation=[1, 4],
        state=ucd_envs.make_rules("tic_tac_toe").initial_state(),
        playouts=90,
        nodes=31,
        edges=40,
        transpositions=7,
        depth=5,
        full=False,
        stopped="playouts",
        workers=1,
        seconds=0.5,
        cpu_seconds=0.5,
        bytes=1000,
    )
    return str(dataclasses.replace(result, **changes)).splitlines()


def test_the_text_lists_moves_by_their_visits() -> None:
    assert text_of() == [
        "  move    visits   value",
        "    b1        70   0.500",
        "    a1        20   0.250",
        "    b2         0     nan",
        "variation  b1 b2",
        "90 playouts, 180/s, 31 nodes, 40 edges, 7 transpositions, depth 5",
    ]


def test_the_text_says_when_the_graph_was_full() -> None:
    assert text_of(full=True)[-1].endswith("depth 5, graph full")


def test_the_text_shows_eight_moves_at_most() -> None:
    result = uct(playouts=100, seed=0).search(GAMES["hex"])
    assert len(str(result).splitlines()) == 1 + 8 + 2


def test_a_result_can_be_pickled() -> None:
    """Executors in other processes send results back."""
    result = uct(playouts=50, seed=0).search(ucd_envs.make_rules("tic_tac_toe").initial_state())
    twin = pickle.loads(pickle.dumps(result))
    assert (str(twin), twin.action, twin.visits.tolist()) == (str(result), result.action, result.visits.tolist())
