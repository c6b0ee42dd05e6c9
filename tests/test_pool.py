"""Searches side by side in one compiled call are those that a planner runs one after another, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_evaluation import contents

import ucd_envs
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_planners import catch_up, rave, ucd, uct
from ucd_planners.playouts import CMC
from ucd_planners.pool import Pool
from ucd_planners.worker import Stop, Worker

GAMES = {
    "hex": ucd_envs.make_rules("hex", size=4),
    "connect_four": ucd_envs.make_rules("connect_four"),
    "leftright": ucd_envs.make_rules("leftright", steps=12),
    "pig": ucd_envs.make_rules("pig"),
}
PLAYOUTS, SEED = 120, 5


def positions(rules: Rules, count: int) -> list[State]:
    """Positions of random games in which a player is to move."""
    rng, found = np.random.default_rng(3), []
    while len(found) < count:
        state = rules.initial_state().settled(seeded(len(found)))
        for _ in range(int(rng.integers(0, 6))):
            after = state.after(int(rng.choice(state.legal_actions()))).settled(seeded(len(found)))
            state = state if after.over else after
        found.append(state)
    return found


def rngs(count: int, first: int = 0) -> np.ndarray:
    """The generators of a planner's searches from number `first` on."""
    return np.array([seeded(SEED, first + number, 0) for number in range(count)])


PLANNERS: dict[str, Any] = {
    "uct": lambda: uct(playouts=PLAYOUTS, seed=SEED),
    "ucd": lambda: ucd(1, 1, 2, playouts=PLAYOUTS, seed=SEED),
    "rave": lambda: rave(playouts=PLAYOUTS, seed=SEED, expand="all"),
    "catch_up": lambda: catch_up(playouts=PLAYOUTS, seed=SEED, final_move="lower_bound"),
}


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", PLANNERS)
def test_a_pool_finds_what_the_planner_finds(name: str, game: str) -> None:
    """Graphs to the last bit, final moves, visits and values, in two rounds in the same memory."""
    if game == "pig" and name == "catch_up":
        with pytest.raises(ValueError, match="does not serve pig_v0"):
            Pool(PLANNERS[name](), GAMES[game], 1)
        return
    states, planner = positions(GAMES[game], 6), PLANNERS[name]()
    pool = Pool(PLANNERS[name](), GAMES[game], 3)
    for first in (0, 3):
        these = states[first : first + 3]
        pool.begin(these, rngs(3, first))
        pool.run()
        moves, (visits, values) = pool.choose(), pool.read()
        for place, state in enumerate(these):
            result = planner.search(state)
            assert contents(pool.workers[place].graph) == contents(planner._workers[0].graph)
            assert moves[place] == result.action
            assert visits[place, result.actions].tolist() == result.visits.tolist()
            assert np.array_equal(values[place, result.actions], result.values, equal_nan=True)
            assert visits[place].sum() == result.visits.sum()


def test_memory_grows_on_the_way_without_a_trace() -> None:
    """A pool made for one playout, which has to make room many times, and one made for all of them."""
    states, graphs = positions(GAMES["hex"], 4), []
    for room in (1, PLAYOUTS):
        pool = Pool(ucd(0, 1, 2, seed=SEED), GAMES["hex"], 4, playouts=room)
        pool.budget = pool.budget._replace(playouts=PLAYOUTS)
        pool.begin(states, rngs(4))
        pool.run()
        graphs.append([contents(worker.graph) for worker in pool.workers])
    assert graphs[0] == graphs[1]


@pytest.mark.parametrize("options", [{"reuse_graph": True}, {"policies": CMC()}], ids=str)
def test_games_go_on_in_the_memory_of_their_places(options: dict[str, Any]) -> None:
    """Two games at places 2 and 0, each of them searched by a worker of its own as well."""
    planner, places, states = ucd(playouts=PLAYOUTS, **options), [2, 0], [GAMES["hex"].initial_state()] * 2
    pool = Pool(planner, GAMES["hex"], 3)
    alone = [Worker(planner._settings, GAMES["hex"], PLAYOUTS) for _ in places]
    for ply in range(4):
        pool.begin(states, rngs(2, 2 * ply), places)
        pool.run()
        moves = pool.choose().tolist()
        for worker, place, state, rng, move in zip(alone, places, states, rngs(2, 2 * ply), moves, strict=True):
            worker.begin(state, rng, PLAYOUTS, Stop(), pool.budget)
            worker.simulate(PLAYOUTS)
            assert contents(pool.workers[place].graph) == contents(worker.graph)
            worker.chosen = move
        states = [state.after(move) for state, move in zip(states, moves, strict=True)]
        assert options.get("policies") or not ply or pool.workers[0].graph.reused > 0


def test_a_place_has_the_result_of_its_search() -> None:
    """All of it but its times."""
    start, planner = GAMES["hex"].initial_state(), ucd(playouts=PLAYOUTS, seed=SEED)
    pool = Pool(planner, GAMES["hex"], 1)
    pool.begin([start], rngs(1))
    pool.run()
    found, alone = pool.result(0), planner.search(start)
    assert (found.action, found.value, found.nodes, found.depth) == (alone.action, alone.value, alone.nodes, alone.depth)
    assert found.principal_variation == alone.principal_variation
    assert found.to_networkx().number_of_nodes() == alone.nodes


def test_what_a_pool_cannot_do_is_refused_with_a_sentence() -> None:
    """Planners, states, shapes and places."""
    rules, start = GAMES["hex"], GAMES["hex"].initial_state()
    for options, message in (
        ({"seconds": 1.0}, "need a planner with a budget in playouts and one worker"),
        ({"playouts": 2, "workers": 2}, "need a planner with a budget in playouts and one worker"),
        ({"playouts": 2, "stop_early": True}, "without stop_early, progress and knowledge"),
    ):
        with pytest.raises(ValueError, match=message):
            Pool(uct(**options), rules, 1)
    with pytest.raises(ValueError, match="searches must be from 1 to"):
        Pool(uct(playouts=1), rules, 0)
    pool = Pool(uct(playouts=5), rules, 2)
    with pytest.raises(ValueError, match=r"cannot search from State.connect_four"):
        pool.begin([GAMES["connect_four"].initial_state()], rngs(1))
    with pytest.raises(ValueError, match=r"places must be different numbers from 0 to 1, not .0, 1, 2"):
        pool.begin([start] * 3, rngs(3))
    with pytest.raises(ValueError, match="places must be different numbers"):
        pool.begin([start] * 2, rngs(2), [1, 1])
    with pytest.raises(ValueError, match=r"must be \[2, \d+\] and \[2, 2\], not \[2, \d+\] and \[1, 2\]"):
        pool.begin([start] * 2, rngs(1))
    row = ucd_envs.make_rules("hex", size=1)
    with pytest.raises(ValueError, match="the game is over"):
        Pool(uct(playouts=5), row, 1).begin([row.initial_state().after(0)], rngs(1))
