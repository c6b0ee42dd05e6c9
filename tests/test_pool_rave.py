"""PoolRAVE against pools worked out from the moves of all simulations so far."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from test_playout_baselines import ALL_GAMES, start_of
from test_policies import Search, Simulation, Told, policy_moves, silent

import ucd_envs
from ucd_envs.structs import fields
from ucd_planners import cmc, rave, uct
from ucd_planners.playouts.cmc import CMC
from ucd_planners.playouts.pool_rave import MEMORY, PoolRAVE, check_pools
from ucd_planners.search.interface import Selection
from ucd_planners.selection.rave import RAVE


class Values:
    """What was played after each position of descents, by all simulations through it."""

    def __init__(self, search: Search, policy: PoolRAVE, add: str) -> None:
        self.search, self.policy, self.add_all = search, policy, add == "all"
        self.visits = Counter[Any]()
        self.played: dict[Any, dict[tuple[int, int], list[Fraction]]] = {}

    def names(self, simulation: Simulation, plies: int) -> list[Any]:
        """The positions before the first so many moves of a simulation and after them."""
        actions = [action for _, action in simulation.moves]
        return [self.search.name(simulation.states[depth], tuple(actions[:depth])) for depth in range(plies + 1)]

    def add(self, simulation: Simulation) -> None:
        """Adds a simulation to all positions of its descent, or to all of its positions."""
        names = self.names(simulation, len(simulation.moves) if self.add_all else simulation.descent)
        self.visits.update(names[:-1])
        for depth, name in enumerate(names):
            here = self.played.setdefault(name, {})
            for player, action in set(simulation.moves[depth:]):
                numbers = here.setdefault((player, action), [Fraction(0), Fraction(0)])
                numbers[0] += 1
                numbers[1] += Fraction(simulation.payoffs[player])

    def pools(self, simulation: Simulation) -> dict[int, list[int]]:
        """Each player's pool in the playout of a simulation, the best action first."""
        known = [name for name in self.names(simulation, simulation.descent)[:-1] if self.visits[name] >= self.policy.least]
        pools: dict[int, list[int]] = {}
        if known:
            here = self.played[known[-1]]
            for player, action in sorted(here, key=lambda move: (-here[move][1] / here[move][0], move[1])):
                pools.setdefault(player, []).append(action)
        return {player: actions[: self.policy.size] for player, actions in pools.items()}


@pytest.mark.parametrize(
    ("selection", "add"),
    [(RAVE(), "first"), (RAVE(), "all"), (RAVE(table=True, depth_rave=1, depth_mean=1), "first")],
    ids=["tree", "all", "graph"],
)
@pytest.mark.parametrize(("game", "settings"), ALL_GAMES)
@pytest.mark.sweep(2)
def test_pools_are_those_of_all_simulations(game: str, settings: dict[str, Any], selection: Selection, add: str) -> None:
    """With prob = 1 a playout's move is in the mover's pool if one of it may be played, each as often as any other there."""
    policy = PoolRAVE(1.0, size=3, least=10)
    search = Search(start_of(game, settings), selection, 1, policies=policy, expand=add)
    values, spoken, first, expected, variance = Values(search, policy, add), Counter[bool](), 0, 0.0, 0.0
    for _ in range(300):
        simulation = search.simulation()
        pools = values.pools(simulation)
        for place in range(simulation.descent, len(simulation.moves)):
            player, action = simulation.moves[place]
            playable = policy_moves(simulation.states[place])
            pool = [move for move in pools.get(player, []) if move in playable]
            assert action in (pool or playable)
            spoken[bool(pool)] += 1
            if len(pool) > 1:
                first += action == pool[0]
                expected += 1 / len(pool)
                variance += (1 - 1 / len(pool)) / len(pool)
        values.add(simulation)
    assert min(spoken[False], spoken[True]) > 90
    assert abs(first - expected) <= 4 * variance**0.5 > 15


def test_without_enough_playouts_there_is_no_pool() -> None:
    """As many simulations as `least` are those of a policy that is silent, and the next ones are not."""
    start = start_of("havannah", {"base": 3})
    one, two = (Search(start, RAVE(), 1, policies=policy) for policy in (PoolRAVE(1.0, least=50), Told(silent)))
    courses = [[search.simulation().moves for _ in range(100)] for search in (one, two)]
    assert courses[0][:50] == courses[1][:50]
    assert courses[0][50:] != courses[1][50:]


def test_a_pool_is_not_for_the_next_search() -> None:
    """From the start again, the first playouts know nothing, even where the last simulation before broke off."""
    start = start_of("havannah", {"base": 3})
    search, other = Search(start, RAVE(), 1, policies=PoolRAVE(1.0, least=10)), Search(start, RAVE(), 1, policies=Told(silent))
    search.run(99)
    fields(search.worker.sim.memories[0], MEMORY).ready = 1
    for one in (search, other):
        one.searches = 1
        one.begin(start)
    assert [search.simulation().moves for _ in range(10)] == [other.simulation().moves for _ in range(10)]


@pytest.mark.parametrize("planner", [uct, cmc])
def test_pools_need_rave_values(planner: Any) -> None:
    """One sentence says so."""
    selection = planner(playouts=10).selection
    with pytest.raises(ValueError, match=r"^PoolRAVE needs a selection that keeps RAVE values, such as RAVE\(\), not UCD\("):
        check_pools([CMC(), PoolRAVE()], selection)
    check_pools([CMC()], selection)
    check_pools([CMC(), PoolRAVE()], rave(playouts=10).selection)


def test_a_pool_may_be_larger_than_a_game() -> None:
    """All actions that were ever played are in it."""
    found = rave(playouts=300, seed=1, policies=PoolRAVE(1.0, size=65535, least=1)).search(
        ucd_envs.make_rules("tic_tac_toe").initial_state()
    )
    assert int(found.visits.sum()) == 300
