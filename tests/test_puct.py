"""PUCT beside an oracle: every choice from the formula in plain numbers, every cached sum as an exact fraction."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import oracle
import pytest
import searching
from searching import Search, real_games
from test_evaluation import contents

import ucd_envs
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_planners import Planner, puct
from ucd_planners.evaluation import Evaluation
from ucd_planners.evaluators import FunctionEvaluator
from ucd_planners.pool import Pool
from ucd_planners.selection.puct import PUCT

INF = math.inf
DEPTHS = [(0, 0, 0), (1, 0, 1), (0, 1, 2), (INF, 0, 1), (2, INF, 3)]
CLOSE = 1e-5
"""By how much the bounds of moves may differ that count as equal: priors are single numbers."""


def net(planes: np.ndarray, masks: np.ndarray, players: np.ndarray, seats: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Logits and values that look random, each from its own position alone: values [n, seats] from 0 to 1."""
    seen = planes.reshape(len(planes), -1).astype(np.float64) + 0.1 * players[:, None]
    inputs = np.arange(seen.shape[1])[:, None]
    logits = np.sin(seen @ np.cos(inputs * (1.0 + np.arange(masks.shape[1])))) * 2
    values = 0.5 + 0.5 * np.sin(seen @ np.cos(inputs * (0.7 + np.arange(seats))))
    return logits.astype(np.float32), values.astype(np.float32)


def evaluation(seats: int = 2, **options: Any) -> Evaluation:
    """The evaluation of leaves by that net."""
    return Evaluation(FunctionEvaluator(lambda planes, masks, players: net(planes, masks, players, seats)), **options)


def asked(state: State) -> tuple[dict[int, float], list[float]]:
    """The priors of a state's legal actions, a softmax in double numbers, and the value for each player."""
    rules, legal = state.rules, state.legal_actions()
    planes = np.zeros((1, *rules.planes), np.int8)
    rules.kernels.observe(rules.config, state.array(), state.player, planes.reshape(-1))
    logits, values = net(planes, np.zeros((1, rules.actions), np.int8), np.array([state.player], np.int8), rules.players)
    weights = np.exp(logits[0, legal].astype(np.float64))
    return dict(zip(legal, (weights / weights.sum()).tolist(), strict=True)), values[0].tolist()


def bounds(log: oracle.Oracle, selection: PUCT, name: Any, state: State) -> dict[int, float]:
    """The bound of every legal move of a position, by the formula."""
    priors, values = asked(state)
    mover, edges = state.player, log.out.get(name, [])
    spread = selection.c * math.sqrt(log.parent_visits(name, selection.d2)) if edges else 0.0
    means = {edge[1]: float(log.mean(edge, selection.d1)[mover]) for edge in edges}
    counts = {edge[1]: float(log.visits(edge, selection.d3)) for edge in edges}
    total = values[mover] + sum(counts[action] * mean for action, mean in means.items())
    urgency = total / (1 + sum(counts.values())) - selection.reduction
    return {a: means.get(a, urgency) + spread * prior / (1 + counts.get(a, 0.0)) for a, prior in priors.items()}


def assert_chosen(log: oracle.Oracle, selection: PUCT, search: Search, path: searching.Path) -> None:
    """Every move of a path had the largest bound, and of untried ones the largest prior."""
    for name, action, _ in path:
        state = search.states[name]
        found = bounds(log, selection, name, state)
        assert found[action] >= max(found.values()) - CLOSE, (found, action)
        tried = {edge[1] for edge in log.out.get(name, [])}
        if action not in tried:
            priors, _ = asked(state)
            assert priors[action] >= max(prior for a, prior in priors.items() if a not in tried) - CLOSE


def assert_priors(search: Search) -> None:
    """Every listed node has the priors of its actions, the largest untried one first, and the value of its position."""
    graph = search.graph
    for node, name in search.nodes():
        first, legal = int(graph.nodes[node]["first_action"]), int(graph.nodes[node]["legal"])
        priors, values = asked(search.states[name])
        listed = graph.actions[first : first + legal].tolist()
        assert sorted(listed) == sorted(priors)
        kept = graph.initial_stats[first : first + legal, 0]
        assert np.allclose(kept, [priors[action] for action in listed], atol=1e-6)
        assert graph.initial_stats[first + legal, 0] == np.float32(values[graph.nodes[node]["mover"]])
        untried = kept[int(graph.nodes[node]["expanded"]) :]
        assert len(untried) == 0 or untried[0] == untried.max()


def games() -> list[State]:
    """Random games of one, two and three players, Hex and Connect Four."""
    return [*searching.random_games(2), *real_games()[1:3]]


@pytest.mark.parametrize("depths", [*DEPTHS, None], ids=str)
def test_every_choice_and_every_sum_is_right(depths: Any) -> None:
    """In a tree (None) and in graphs; sums under priors equal those of the oracle of fractions after each of some playouts."""
    for start in games():
        given = {"table": False} if depths is None else dict(zip(("d1", "d2", "d3"), depths, strict=True))
        selection = PUCT(c=1.2, reduction=0.1, **given)
        search = Search(start, selection, evaluation=evaluation(start.rules.players))
        log = oracle.Oracle(start.rules.players)
        for number in range(1, 71):
            path, paid = search.step()
            assert_chosen(log, selection, search, path)
            log.record(path, paid)
            if path[-1][2] is not None:
                assert np.allclose(paid, asked(search.states[path[-1][2]])[1], atol=0)
            if number in (1, 7, 30, 70):
                searching.assert_definition(search, log, selection.ucd)
                assert_priors(search)
        assert search.tree or search.graph.transpositions > 0


def test_playouts_kept_by_positions_are_right_too() -> None:
    """store="nodes", and the literal rule of section 3.4 of UCD, which falls short of it, each beside its oracle."""
    for start in games()[:3]:
        for selection in (PUCT(c=1.2, d1=1, d2=1, d3=2, store="nodes"), PUCT(c=1.2, d1=1, d2=1, d3=2, backup="section_3_4")):
            search = Search(start, selection, evaluation=evaluation(start.rules.players))
            log = searching.log_of(selection.ucd, start.rules.players)
            for _ in range(60):
                log.record(*search.step())
            searching.assert_right(search, log, selection.ucd)


def test_stale_values_of_other_parents_are_corrected_at_once() -> None:
    """What Czech et al. 2020 and KataGo's page correct later: an edge to a shared position sees all that others have found.

    With d1 = 1 the mean of every edge is the mean of all that lies below it and ended there by it, also of edges that no later
    playout went through. Each edge's own mean, d1 = 0, is another number at some of them.
    """
    start = games()[1]
    search, log = Search(start, PUCT(c=1.2, d1=1), evaluation=evaluation(2)), oracle.Oracle(2)
    for _ in range(150):
        log.record(*search.step())
    shared = [edge for target, edges in log.into.items() if len(edges) > 1 for edge in edges if log.below(edge)]
    assert any(log.mean(edge, 0) != log.mean(edge, 1) for edge in shared)
    for number, mover, edge in search.edges():
        assert searching.close(search.graph.mean_value[number], log.mean(edge, 1)[mover])


def states_of(rules: Rules, count: int) -> list[State]:
    """Positions a few random moves from the start."""
    rng, found = np.random.default_rng(4), []
    for number in range(count):
        state = rules.initial_state()
        for _ in range(number % 4):
            state = state.after(int(rng.choice(state.legal_actions())))
        found.append(state)
    return found


@pytest.mark.parametrize("options", [{}, {"table": False, "d1": 0, "d3": 0}, {"noise": (0.25, 0.5), "mix": 0.5}], ids=str)
def test_a_search_is_the_same_in_a_batch_of_any_size_and_in_any_company(options: dict[str, Any]) -> None:
    """Graphs to the last bit: alone, in batches of 1, 3 and 64, with and without memory, and among others."""
    rules, playouts = ucd_envs.make_rules("hex", size=5), 90
    given = {key: options.pop(key) for key in ("noise", "mix") if key in options}
    selection = PUCT(**{"d1": 1, "d3": 1, **options})
    states = states_of(rules, 7)
    rngs = np.array([seeded(9, number, 0) for number in range(7)])
    alone = []
    planner = Planner(selection, playouts=playouts, seed=9, evaluation=evaluation(**given))
    for state in states:
        planner.search(state)
        alone.append(contents(planner._workers[0].graph))
    for batch, remember, order in ((1, 2**10, range(7)), (3, 0, range(7)), (64, 2**10, [4, 6, 1, 0, 3])):
        planner = Planner(selection, playouts=playouts, evaluation=evaluation(batch=batch, remember=remember, **given))
        pool = Pool(planner, rules, 7)
        pool.begin([states[number] for number in order], rngs[list(order)])
        pool.run()
        assert [contents(pool.workers[place].graph) for place in range(len(order))] == [alone[number] for number in order]


def test_many_searches_of_a_planner_are_its_searches_one_after_another() -> None:
    """Actions, visits and values, and the seeds of later searches."""
    states = states_of(ucd_envs.make_rules("hex", size=5), 5)
    one, many = (puct(FunctionEvaluator(net), playouts=60, seed=3, temperature=1.0) for _ in range(2))
    results = many.search_many(states)
    for state, result in zip([*states, states[0]], [*results, many.search(states[0])], strict=True):
        single = one.search(state)
        assert (single.action, single.visits.tolist()) == (result.action, result.visits.tolist())
        assert np.array_equal(single.values, result.values, equal_nan=True)
        assert single.priors is not None
        assert result.priors is not None
        assert single.priors.tolist() == result.priors.tolist()


def test_positions_are_evaluated_once() -> None:
    """In a graph every node but ends costs one evaluation; a tree asks its memory, also of earlier searches."""
    rules, seen = ucd_envs.make_rules("hex", size=4), []

    def counting(planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> Any:
        seen.extend(row.tobytes() for row in planes)
        return net(planes, masks, players)

    graph = puct(counting, playouts=300, seed=1, remember=0)
    result = graph.search(rules.initial_state())
    assert len(seen) == len(set(seen)) == result.nodes
    assert result.transpositions > 0
    tree = puct(counting, playouts=300, seed=1, table=False)
    for _ in range(2):
        seen_before = len(seen)
        tree.search(rules.initial_state())
        assert len(seen[seen_before:]) == len(set(seen[seen_before:]))
    assert len(seen) == seen_before  # the second search of the tree found all in memory
    tree.forget()
    tree.search(rules.initial_state())
    assert len(seen) > seen_before


def test_a_small_memory_changes_no_search() -> None:
    """Of few places, which new evaluations take from others: an answer for another position would change a search."""
    states = states_of(ucd_envs.make_rules("hex", size=4), 3)
    found, asked = [], []
    for remember in (0, 4, 64, 256, 2**12):
        seen: list[int] = []

        def counting(planes: np.ndarray, masks: np.ndarray, players: np.ndarray, seen: list[int] = seen) -> Any:
            seen.append(len(planes))
            return net(planes, masks, players)

        planner = puct(counting, playouts=200, seed=1, table=False, remember=remember)
        found.append([planner.search(state).visits.tolist() for state in states])
        asked.append(sum(seen))
    assert all(each == found[0] for each in found)
    assert asked == sorted(asked, reverse=True)
    assert asked[0] > asked[2] > asked[-1]


def test_a_kept_graph_goes_on_with_its_priors() -> None:
    """A game of eight moves in one graph, rebuilt on the way: priors, first places and values stay with their positions."""
    start = ucd_envs.make_rules("hex", size=4).initial_state()
    search = Search(start, PUCT(d1=1, d3=1), evaluation=evaluation(), reuse_graph=True)
    state, rebuilt = start, 0
    for _ in range(6):
        search.run(40)
        before = search.graph
        best = int(
            before.edges["action"][before.block(before.root)][before.edges["visits"][before.block(before.root)].argmax()]
        )
        state = state.after(best)
        search.begin(state)
        rebuilt += search.graph is not before
        named = {state.key: state}
        for node, name in search.nodes():
            for edge in search.graph.edges[search.graph.block(node)].tolist():
                child = named[name].after(edge[4])
                named.setdefault(child.key, child)
        search.states = named
        assert_priors(search)
    assert rebuilt > 0


def test_noise_mixes_a_draw_into_the_priors_of_the_root_alone() -> None:
    """Priors still sum to 1, another seed draws another, none below the root moves, and the mean of many draws is 1 / moves."""
    start = ucd_envs.make_rules("hex", size=3).initial_state()
    plain = puct(net, playouts=30, seed=1).search(start).priors
    assert plain is not None
    draws = []
    for seed in range(400):
        planner = puct(net, playouts=1, seed=seed, noise=(0.25, 0.5))
        priors = planner.search(start).priors
        assert priors is not None
        assert math.isclose(priors.sum(), 1.0, abs_tol=1e-5)
        draws.append((priors - 0.75 * plain) / 0.25)
    shares = np.array(draws)
    assert shares.min() > -1e-5
    # A share of Dirichlet(0.5, ..., 0.5) of nine has the mean 1/9 and the variance (1/9)(8/9) / (9 * 0.5 + 1).
    variance = 8 / 81 / 5.5
    assert np.abs(shares.mean(axis=0) - 1 / 9).max() < 5 * math.sqrt(variance / 400)
    assert abs(shares.var() / variance - 1) < 0.15
    below = puct(net, playouts=60, seed=1, noise=(0.5, 0.5))
    below.search(start)
    search = Search(start, PUCT(d1=1, d3=1), evaluation=evaluation())
    search.run(1)
    graph = below._workers[0].graph
    target = int(graph.edges["target"][graph.block(graph.root)][0])
    first, legal = int(graph.nodes[target]["first_action"]), int(graph.nodes[target]["legal"])
    child = start.after(int(graph.edges["action"][graph.block(graph.root)][0]))
    expected, _ = asked(child)
    listed = graph.actions[first : first + legal].tolist()
    assert np.allclose(graph.initial_stats[first : first + legal, 0], [expected[action] for action in listed], atol=1e-6)


def test_a_temperature_draws_moves_by_their_visits() -> None:
    """visits^(1 / T) in the first plies, then the most visited."""
    start = ucd_envs.make_rules("hex", size=3).initial_state()
    planner = puct(net, playouts=40, seed=1, temperature=0.5, temperature_plies=1)
    result = planner.search(start)
    shares = result.visits.astype(float) ** 2 / (result.visits.astype(float) ** 2).sum()
    counts = np.zeros(9)
    for seed in range(300):
        planner.reset(seed)
        counts[planner.act(start)] += 1
    assert np.abs(counts / 300 - shares).max() < 5 * math.sqrt(0.25 / 300)
    assert (counts > 0).sum() > 1
    later = start.after(4)
    assert {puct(net, playouts=40, seed=seed, temperature=0.5, temperature_plies=1).act(later) for seed in range(8)} == {
        planner.act(later)
    }


def test_leaves_in_flight_leave_every_sum_right_and_nothing_behind() -> None:
    """Batches of at most eight leaves: the graph of an oracle after each search, its visits, and no visit in flight."""
    for start in games()[3:]:
        sizes: list[int] = []

        def counted(planes: np.ndarray, masks: np.ndarray, players: np.ndarray, sizes: list[int] = sizes) -> Any:
            sizes.append(len(planes))
            return net(planes, masks, players)

        batches = Evaluation(FunctionEvaluator(counted), leaves=8)
        search, log = Search(start, PUCT(c=1.2, d1=1, d2=1, d3=1), evaluation=batches), oracle.Oracle(start.rules.players)
        for playouts in (1, 4, 40, 41):
            search.worker.share = search.graph.playouts + playouts
            search.run(search.worker.share)
            graph = search.graph
            assert graph.edges["visits"][graph.block(graph.root)].sum() == graph.playouts == search.worker.share
            assert not graph.initial_stats[: graph.action_places, 1].any()
        assert sum(sizes) <= 87
        assert 3 < max(sizes) <= 8
        assert_sums(search, log, start)


def assert_sums(search: Search, log: oracle.Oracle, start: State) -> None:
    """The sums of a graph follow from its edges: n(e), and n'(e) with the value of the position where a playout ended."""
    graph = search.graph
    names: dict[int, Any] = {search.root: start}
    queue = [search.root]
    for node in queue:
        for number in range(graph.block(node).start, graph.block(node).stop):
            edge = graph.edges[number]
            child, target = names[node].after(int(edge["action"])), int(edge["target"])
            if target >= 0 and target not in names:
                names[target] = child
                queue.append(target)
            kept = names[node].key, int(edge["action"])
            log.link([(kept[0], kept[1], None if child.over else child.key)], [0] * start.rules.players)
            paid = [oracle.Fraction(x) for x in (child.payoffs() if child.over else asked(child)[1])]
            log.n[kept] = oracle.Fraction(int(edge["visits"]))
            log.n_end[kept] = oracle.Fraction(int(edge["leaf_visits"]))
            log.w_end[kept] = tuple(log.n_end[kept] * x for x in paid)
            log.w[kept] = tuple(oracle.Fraction(float(x)) for x in graph.edge_stats[number, : start.rules.players])
    for node, state in names.items():
        for number in range(graph.block(node).start, graph.block(node).stop):
            edge = (state.key, int(graph.edges[number]["action"]))
            assert searching.close(graph.mean_value[number], log.mean(edge, 1)[state.player])
            assert searching.close(graph.exploration[number], 1 / math.sqrt(log.visits(edge, 1)))
        if graph.block(node).stop > graph.block(node).start:
            assert graph.node_stats[node, 2] == float(log.parent_visits(state.key, 1))


def test_leaves_in_flight_are_the_same_in_any_company_and_after_a_fault() -> None:
    """Graphs to the last bit, of one search alone and of several in small batches, also after the evaluator has failed once."""
    rules = ucd_envs.make_rules("hex", size=5)
    states, rngs = states_of(rules, 4), np.array([seeded(9, number, 0) for number in range(4)])
    planner = Planner(PUCT(d1=1, d3=1), playouts=90, seed=9, evaluation=evaluation(leaves=5, noise=(0.25, 0.5)))
    alone = []
    for state in states:
        planner.search(state)
        alone.append(contents(planner._workers[0].graph))
    calls: list[int] = []

    def failing(planes: np.ndarray, masks: np.ndarray, players: np.ndarray) -> Any:
        calls.append(len(planes))
        if len(calls) in (1, 6):
            raise InterruptedError
        return net(planes, masks, players)

    for batch in (5, 12):
        calls.clear()
        several = Evaluation(FunctionEvaluator(failing), batch=batch, leaves=5, noise=(0.25, 0.5))
        pool = Pool(Planner(PUCT(d1=1, d3=1), playouts=90, evaluation=several), rules, 4)
        pool.begin(states, rngs)
        for _ in range(2):
            with pytest.raises(InterruptedError):
                pool.run()
        pool.run()
        assert max(calls) <= batch
        assert [contents(worker.graph) for worker in pool.workers] == alone


def test_one_leaf_at_a_time_is_the_same_with_and_without_flights() -> None:
    """A search with room for four leaves in flight that has one at a time, and one without flights: to the last bit."""
    for start in games()[3:]:
        searches = [Search(start, PUCT(c=1.2, d1=1, d3=1), evaluation=evaluation(leaves=leaves)) for leaves in (4, 1)]
        for search in searches:
            for playouts in range(1, 91):
                search.worker.share = playouts
                search.run(playouts)
        assert searches[0].graph.record.actions.columns == 2
        assert contents(searches[0].graph) == contents(searches[1].graph)
