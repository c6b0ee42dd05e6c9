"""Gumbel root selection beside sequential halving written out, the Gumbel distribution, and the formulas of the paper."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import oracle
import pytest
import scipy.stats
import searching
from searching import Search
from test_puct import CLOSE, asked, assert_chosen, evaluation, net

import ucd_envs
from ucd_envs.rules import State
from ucd_planners import Planner, SelfPlay, puct
from ucd_planners.evaluation import Evaluation
from ucd_planners.evaluators import FunctionEvaluator
from ucd_planners.notation import planner_from
from ucd_planners.selection.gumbel import PARAMETERS, GumbelPUCT, visits_now


def schedule(considered: int, playouts: int) -> list[int]:
    """Sequential halving written out: for each playout, the visits that its move has had before."""
    phases, found, visits = math.ceil(math.log2(considered)), [], [0] * considered
    while len(found) < playouts:
        for _ in range(max(1, playouts // (phases * considered))):
            for move in range(considered):
                found.append(visits[move])
                visits[move] += 1
        considered = max(2, considered // 2)
    return found[:playouts]


@pytest.mark.parametrize("considered", [2, 3, 4, 5, 7, 8, 16, 33])
@pytest.mark.parametrize("playouts", [1, 2, 5, 16, 50, 200, 1000])
def test_moves_are_visited_in_rounds_and_halved(considered: int, playouts: int) -> None:
    found = [visits_now(considered, playouts, done) for done in range(playouts)]
    assert found == schedule(considered, playouts)


def test_a_single_move_has_all_visits() -> None:
    assert [visits_now(1, 5, done) for done in range(5)] == [0, 1, 2, 3, 4]


def test_budgets_are_shared_as_in_the_paper() -> None:
    """200 playouts among 16 moves: four phases of at least 48, 12 for each of 16 moves, and so on down to two moves."""
    found = Counter(schedule(16, 200))
    assert [found[visits] for visits in (0, 2, 3, 8, 9, 20, 21)] == [16, 16, 8, 8, 4, 4, 2]


def scores(search: Search, selection: GumbelPUCT) -> dict[int, float]:
    """g + log P + sigma(q) of each move of the root, by the formula; without sigma(q) for a move without visits."""
    graph, (priors, _) = search.graph, asked(search.start)
    block = graph.block(graph.root)
    edges, means = graph.edges[block], graph.mean_value[block]
    found = {action: float(draws_of(search)[action]) + math.log(prior) for action, prior in priors.items()}
    for edge, mean in zip(edges, means, strict=True):
        found[int(edge["action"])] += (selection.c_visit + int(edges["visits"].max())) * selection.c_scale * float(mean)
    return found


def draws_of(search: Search) -> np.ndarray:
    """The draws g of a search, one for each action."""
    kept: np.ndarray = search.graph._parameters[PARAMETERS.itemsize :].view(np.float64)
    return kept


@pytest.mark.parametrize("depths", [(0, 0, 0), (1, 0, 1), (0, 1, 2), None], ids=str)
def test_every_move_at_the_root_is_the_best_with_its_visits(depths: Any) -> None:
    """And below the root every choice is that of PUCT, and every sum that of the oracle of fractions."""
    given = {"table": False} if depths is None else dict(zip(("d1", "d2", "d3"), depths, strict=True))
    for start in [*searching.random_games(1), ucd_envs.make_rules("hex", size=3).initial_state()]:
        selection = GumbelPUCT(c=1.2, considered=5, c_visit=10.0, c_scale=0.5, **given)
        search = Search(start, selection, evaluation=evaluation(start.rules.players))
        search.graph.divide(60)
        log, legal = oracle.Oracle(start.rules.players), start.legal_actions()
        wanted = schedule(min(5, len(legal)), 60) if len(legal) > 1 else list(range(60))
        for number in range(60):
            had = dict.fromkeys(legal, 0) | {edge[1]: int(log.n[edge]) for edge in log.out.get(search.name(start, ()), [])}
            compared = scores(search, selection) if number else {}
            path, paid = search.step()
            if not number:
                priors, _ = asked(start)
                compared = {action: float(draws_of(search)[action]) + math.log(prior) for action, prior in priors.items()}
            chosen = path[0][1]
            assert had[chosen] == wanted[number]
            assert compared[chosen] >= max(compared[action] for action in legal if had[action] == wanted[number]) - 20 * CLOSE
            assert_chosen(log, selection, search, path[1:])
            log.record(path, paid)
        searching.assert_definition(search, log, selection.ucd)


def hex_start() -> State:
    """The empty board of Hex 4x4."""
    return ucd_envs.make_rules("hex", size=4).initial_state()


def gumbel(considered: int = 8, **options: Any) -> Planner:
    """A planner with Gumbel root selection and the net of random numbers."""
    return puct(net, gumbel=considered, **{"playouts": 40, **options})


def test_the_move_played_is_the_best_of_those_with_the_most_visits() -> None:
    for seed in range(20):
        selection = GumbelPUCT(considered=6)
        search = Search(hex_start(), selection, seed, evaluation=evaluation())
        search.graph.divide(30)
        search.run(30)
        edges = search.graph.edges[search.graph.block(search.graph.root)]
        compared, most = scores(search, selection), edges["visits"].max()
        best = max(edges["action"][edges["visits"] == most].tolist(), key=lambda action: compared[action])
        assert selection.final_move(search.graph.header) == best


def test_one_playout_draws_a_move_from_the_priors() -> None:
    """The largest of g + log P is a draw from P: chi-square of 3,000 searches."""
    start, planner = hex_start(), gumbel(16, playouts=1, seed=5)
    found = Counter(planner.act(start) for _ in range(3000))
    priors, _ = asked(start)
    expected = [3000 * priors[action] for action in start.legal_actions()]
    seen = [found[action] for action in start.legal_actions()]
    small = [i for i, count in enumerate(expected) if count < 5]
    expected = [count for count in expected if count >= 5] + ([sum(expected[i] for i in small)] if small else [])
    seen = [count for i, count in enumerate(seen) if i not in small] + ([sum(seen[i] for i in small)] if small else [])
    assert scipy.stats.chisquare(seen, np.array(expected) * sum(seen) / sum(expected)).pvalue > 0.001


def improved(result: Any, c_visit: float = 50.0, c_scale: float = 1.0) -> np.ndarray:
    """The improved policy of a result, by the formula."""
    priors, (value, *_) = result.priors, asked(result.state)[1]
    visited = result.visits > 0
    total = result.visits.sum()
    known = (priors * np.where(visited, result.values, 0.0)).sum() / priors[visited].sum()
    filled = np.where(visited, result.values, (value + total * known) / (1 + total))
    logits = np.log(priors) + (c_visit + result.visits.max()) * c_scale * filled
    weights = np.exp(logits - logits.max())
    found: np.ndarray = weights / weights.sum()
    return found


def test_the_policy_is_the_improved_one() -> None:
    for seed in range(10):
        result = gumbel(5, playouts=12, seed=seed).search(hex_start())
        assert np.allclose(result.policy, improved(result), atol=1e-5)
        assert (result.policy > 0).sum() > 5  # moves without visits have their share
        assert result.visits.sum() == 12


def test_searches_are_the_same_alone_in_a_batch_and_in_any_order() -> None:
    start = hex_start()
    states = [start, *(start.after(action) for action in range(9))]
    one, many = gumbel(seed=3), gumbel(seed=3, batch=4)
    alone, together = [one.search(state) for state in states], many.search_many(states)
    for a, b in zip(alone, together, strict=True):
        assert (a.action, a.visits.tolist(), a.policy.tolist()) == (b.action, b.visits.tolist(), b.policy.tolist())
    again = gumbel(seed=3)
    assert [again.act(state) for state in states] == [result.action for result in alone]


def test_draws_are_those_of_the_seed() -> None:
    actions = {gumbel(16, playouts=2, seed=seed).act(hex_start()) for seed in range(12)}
    assert len(actions) > 3
    assert gumbel(seed=9).search(hex_start()).visits.tolist() == gumbel(seed=9).search(hex_start()).visits.tolist()


def test_moves_after_some_playouts_are_those_of_one_search() -> None:
    """The budget is divided for the last number of playouts."""
    planner, other = gumbel(4, seed=2), gumbel(4, seed=2)
    assert planner.moves_after(hex_start(), [4, 10, 40])[-1] == other.act(hex_start(), playouts=40)


def test_self_play_learns_from_improved_policies() -> None:
    """Moves and policies of a game are those that the planner's searches find; no move is drawn by its visits."""
    selfplay = SelfPlay(gumbel(6, playouts=20), "hex_v0", size=4, games=3, seed=4)
    assert selfplay.temperature == 0.0
    episodes = list(selfplay.play(6))
    assert [e.moves.tolist() for e in episodes] == [
        e.moves.tolist() for e in SelfPlay(gumbel(6, playouts=20), "hex_v0", size=4, games=6, seed=4).play(6)
    ]
    for episode in episodes:
        assert np.allclose(episode.policies.sum(axis=1), 1, atol=1e-5)
        legal = episode.masks.astype(bool)
        assert (episode.policies[~legal] == 0).all()
        assert (episode.policies[0] > 0).sum() > 6  # more than were visited
    assert len({episode.moves[0] for episode in episodes}) > 1


def test_a_game_goes_on_to_its_end() -> None:
    """Also where fewer moves are legal than considered, at last a single one."""
    state, planner = hex_start(), gumbel(16, playouts=8, seed=1)
    while not state.over:
        result = planner.search(state)
        assert result.visits.sum() == 8
        state = state.after(result.action)


def test_a_small_graph_ends_with_puct() -> None:
    """At the limit of edges no untried move can be visited, and the search goes on inside."""
    result = gumbel(16, playouts=50, seed=1, max_nodes=5).search(hex_start())
    assert (result.visits.sum(), result.full) == (50, True)


def test_texts_name_it() -> None:
    planner = planner_from("puct(net='test_puct:net',gumbel=4,playouts=10)")
    assert planner.selection == GumbelPUCT(1.5, 1, 0, 1, considered=4)
    assert not isinstance(planner_from("puct(net='test_puct:net',playouts=10)").selection, GumbelPUCT)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"reuse_graph": True}, "goes without reuse_graph"),
        ({"stop_early": True}, "goes without stop_early"),
        ({"final_move": "mean"}, "goes without final_move"),
        ({"noise": (0.25, 0.3)}, "goes without noise"),
        ({"leaves": 4}, "goes without leaves above 1"),
        ({"considered": -1}, "gumbel must be from 0 to 65536, not -1"),
    ],
    ids=str,
)
def test_what_does_not_go_with_it_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        gumbel(**options)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: gumbel().search(hex_start(), seconds=0.01), "divides a budget in playouts: seconds are none"),
        (lambda: gumbel(playouts=None, seconds=0.01).act(hex_start()), "divides a budget in playouts: seconds are none"),
        (lambda: gumbel().act(hex_start(), final_move="mean", playouts=5), "has a final rule of its own"),
        (lambda: GumbelPUCT(considered=0), "considered must be"),
        (lambda: GumbelPUCT(c_visit=-1.0), "c_visit must be a number, 0 or more"),
        (lambda: GumbelPUCT(c_scale=math.inf), "c_scale must be a number, 0 or more"),
    ],
)
def test_bad_calls_are_refused(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()


def test_values_may_count_for_nothing_and_for_all() -> None:
    """With c_scale = 0 the move is the one with the largest g + log P, with a large one the best value of those considered."""
    for scale in (0.0, 1e6):
        selection = GumbelPUCT(considered=4, c_scale=scale)
        planner = Planner(selection, playouts=40, seed=6, evaluation=Evaluation(FunctionEvaluator(net)))
        result = planner.search(hex_start())
        (worker,) = planner._workers
        draws = worker.graph._parameters[PARAMETERS.itemsize :].view(np.float64)[result.actions]
        by_draws = int(result.actions[np.argmax(draws + np.log(result.priors))])
        most = result.visits == result.visits.max()
        by_values = int(result.actions[most][np.argmax(result.values[most])])
        assert result.action == (by_values if scale else by_draws)
