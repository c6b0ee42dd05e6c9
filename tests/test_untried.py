"""The order of untried moves: at random, as moves are listed, and the other way round (`untried=`).

At every node of every descent the move that is tried is compared with the rules' own list of legal moves and a log of what was
tried there before; the numbers of the graph with the definitions in exact fractions (tests/oracle.py).
"""

from __future__ import annotations

import math
import re
from itertools import cycle
from pathlib import Path
from typing import Any

import hash_game
import numpy as np
import pytest
from searching import INF, C, Name, Search, after, assert_exact, random_games, real_games

import ucd_envs
import ucd_planners
from ucd_envs.kernels import CHANCE
from ucd_envs.rules import State
from ucd_planners import Planner, rave, simple_way, ucd, uct
from ucd_planners.evaluation import Evaluation
from ucd_planners.evaluators.function import FunctionEvaluator
from ucd_planners.groups import Manhattan
from ucd_planners.notation import canonical, planner_from
from ucd_planners.playouts import CMC, GoInitial
from ucd_planners.selection.catch_up import CatchUp
from ucd_planners.selection.stop_and_correct import StopAndCorrect
from ucd_planners.selection.ucd import UCD
from ucd_planners.selection.update_all import UpdateAll

ORDERS = ("listed", "reversed")
UCDS = [UCD(c=C, table=False), UCD(1, 0, 1, C), UCD(2, 1, 3, C), UCD(INF, INF, INF, C, store="nodes"), UpdateAll(C)]
OTHERS = [CatchUp(C), StopAndCorrect(0.01, C), UCD(1, 0, 1, C, graded=False)]
every_order = pytest.mark.parametrize("untried", ORDERS)


def assert_in_order(start: State, selection: Any, playouts: int, untried: str, **options: Any) -> int:
    """Every move that is tried is the next one of its position's list; how many were, beyond the first of each position."""
    search, tried, count = Search(start, selection, untried=untried, **options), dict[Name, list[int]](), 0
    for path, _ in search.steps(playouts):
        for source, action, _ in path:
            state, known = search.states[source], tried.setdefault(source, [])
            if action in known:
                continue
            if state.player != CHANCE:
                order = state.legal_actions()
                assert action == (order if untried == "listed" else order[::-1])[len(known)]
                count += len(known) > 0
            known.append(action)
    return count


@every_order
@pytest.mark.parametrize("selection", [*UCDS, *OTHERS], ids=str)
def test_untried_moves_are_tried_in_the_order_of_the_list(selection: Any, untried: str) -> None:
    """At every position of every descent, with and without a bound for untried moves, in small graphs and large ones."""
    games = (*random_games(seed=70), *real_games())
    for start, urgency, most in zip(games, cycle((INF, 0.7)), cycle((2**20, 12, 2**20)), strict=False):
        assert assert_in_order(start, selection, 60, untried, first_play_urgency=urgency, most_edges=most) > 0


@every_order
def test_outcomes_of_chance_are_drawn_in_any_order(untried: str) -> None:
    """The moves of the players are in order all the same."""
    start = ucd_envs.make_rules("pig", target=20).initial_state()
    assert assert_in_order(start, UCD(1, 0, 1, C), 200, untried) > 0


@every_order
@pytest.mark.parametrize("selection", UCDS, ids=str)
def test_cached_values_are_the_definitions_in_every_order(selection: Any, untried: str) -> None:
    for seed, start in enumerate((*random_games(seed=71), *real_games()[2:])):
        assert_exact(start, selection, 30, {7, 30}, seed=seed, untried=untried, first_play_urgency=(INF, 0.8)[seed % 2])


@pytest.mark.slow
@every_order
@pytest.mark.parametrize("selection", [*UCDS, *OTHERS], ids=str)
def test_cached_values_and_orders_are_right_in_many_graphs(selection: Any, untried: str) -> None:
    """Graphs of other sizes and shapes, with limits on their edges."""
    for seed in range(8):
        for start in random_games(3000 + seed, width=3 + seed, branching=2 + seed % 5, plies=4 + seed):
            for most in (10, 40, 2**20):
                assert_in_order(start, selection, 80, untried, seed=seed, most_edges=most)
                if selection in UCDS:
                    assert_exact(start, selection, 80, {40, 80}, seed=seed, most_edges=most, untried=untried)


def test_the_first_simulations_try_the_roots_moves_one_after_another() -> None:
    start = ucd_envs.make_rules("hex", size=4).initial_state()
    legal = start.legal_actions()
    for untried, order in (("listed", legal), ("reversed", legal[::-1])):
        paths = [path for path, _ in Search(start, UCD(1, 0, 1, C), untried=untried).steps(len(legal))]
        assert [path[0][1] for path in paths] == order
        for count in (1, 5, 15):
            visits = ucd(playouts=count, untried=untried, seed=1).search(start).visits.tolist()
            assert visits == [int(action in order[:count]) for action in legal]


def test_random_is_the_default() -> None:
    """To the last bit; and no move comes first for every seed."""
    start = ucd_envs.make_rules("hex", size=4).initial_state()
    left_out, said = (simple_way(playouts=300, seed=3, **options) for options in ({}, {"untried": "random"}))
    assert left_out.search(start).visits.tolist() == said.search(start).visits.tolist()
    assert len({Search(start, UCD(c=C), seed=seed).step()[0][0][1] for seed in range(20)}) > 5


@every_order
def test_a_kept_graph_goes_on_in_order(untried: str) -> None:
    """In a whole game, while the part that can be reached is copied: a position's tried moves are the first of its list."""
    planner = simple_way(playouts=40, seed=2, untried=untried, reuse_graph=True)
    state = ucd_envs.make_rules("hex", size=5).initial_state()
    reused = 0
    while not state.over:
        result = planner.search(state)
        order = state.legal_actions() if untried == "listed" else state.legal_actions()[::-1]
        seen = dict(zip(result.actions.tolist(), result.visits.tolist(), strict=True))
        tried = [seen[action] > 0 for action in order]
        assert tried == sorted(tried, reverse=True)
        reused += result.reused
        state = state.after(result.action)
    assert reused > 0


@every_order
def test_an_order_goes_with_workers_policies_and_groups(untried: str) -> None:
    """Two workers try the same moves first, and a group's moves are tried as it lists them."""
    start = ucd_envs.make_rules("hex", size=4).initial_state()
    visits = uct(playouts=10, workers=2, policies=CMC(), seed=1, untried=untried).search(start).visits.tolist()
    expected = [2] * 5 + [0] * 11
    assert visits == (expected if untried == "listed" else expected[::-1])
    board = after(ucd_envs.make_rules("go", size=5), 12)
    planner = uct(groups=Manhattan(1, disjoint=True), playouts=20, seed=1, untried=untried)
    visits = planner.search(board).visits.tolist()
    near, far = [7, 11, 13, 17], [action for action in board.legal_actions() if action not in (7, 11, 13, 17)]
    for group in (near, far):
        tried = [visits[board.legal_actions().index(action)] > 0 for action in group]
        assert sum(tried) > 0
        assert tried == sorted(tried, reverse=untried == "listed")


def even(planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A net to which all moves and positions are alike."""
    return np.zeros(masks.shape, np.float32), np.full((len(planes), 2), 0.5, np.float32)


def test_an_order_goes_with_an_evaluation_without_priors() -> None:
    start = ucd_envs.make_rules("hex", size=4).initial_state()
    planner = Planner(UCD(1, 0, 1, C), untried="reversed", evaluation=Evaluation(FunctionEvaluator(even)), seed=1)
    assert planner.search(start, playouts=5).visits.tolist() == [0] * 11 + [1] * 5


@every_order
def test_an_order_is_saved_and_written(untried: str, tmp_path: Path) -> None:
    """In the file of a search, and in a planner's text."""
    start = ucd_envs.make_rules("hex", size=4).initial_state()
    saved = simple_way(playouts=30, seed=2, untried=untried, reuse_graph=True)
    saved.search(start)
    saved.save(tmp_path / "search.npz")
    loaded = ucd_planners.load(tmp_path / "search.npz", start)
    assert loaded.options == saved.options
    assert loaded.search(start).visits.tolist() == saved.search(start).visits.tolist()
    text = f"uct(untried={untried})"
    assert canonical(text) == f"uct(c=0.3,untried={untried})"
    assert planner_from(text, playouts=1).options.untried == untried
    assert canonical("uct(untried=random)") == "uct(c=0.3)"


@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        (uct, {"untried": "first"}, "untried must be one of random, listed, reversed, not 'first'"),
        (uct, {"untried": None}, "untried must be one of random, listed, reversed, not None"),
        (uct, {"expand": "all"}, 'untried="listed" goes with expand="first" and without initial'),
        (uct, {"initial": GoInitial()}, 'untried="listed" goes with expand="first" and without initial'),
        (
            rave,
            {},
            f"{rave(playouts=1).selection} does not serve untried: one whose own choice does declares serves_untried = True",
        ),
    ],
    ids=["word", "none", "all", "initial", "rave"],
)
def test_an_order_that_cannot_be_kept_is_refused(make: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=rf"\A{re.escape(words)}\Z"):
        make(playouts=5, **{"untried": "listed", **options})


def test_moves_of_a_game_written_by_hand() -> None:
    """Three moves worth 1, 1/2 and 0: with c = 0 and a bound of 1/2 the first one in the list has all playouts, the last one of
    the list read backwards is left for the next, whose bound is not below it, and that for the first."""
    start = hash_game.listed({"root": (0, [1.0, 0.5, 0.0])}).initial_state()
    options: dict[str, Any] = {"c": 0, "playouts": 20, "seed": 1, "first_play_urgency": 0.5}
    assert uct(untried="listed", **options).search(start).visits.tolist() == [20, 0, 0]
    assert uct(untried="reversed", **options).search(start).visits.tolist() == [18, 1, 1]
    assert math.isinf(Planner(UCD(), untried="listed").options.first_play_urgency)
