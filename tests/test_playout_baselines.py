"""What holds for last good reply, MAST, n-grams and PoolRAVE alike, and what their own tests share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import hash_game
import numpy as np
import pytest
from test_policies import GAMES, Search, suggested

import ucd_envs
from ucd_envs.kernels import IS_LEGAL, LEGAL_ACTIONS, kernel
from ucd_envs.rules import State
from ucd_planners import rave, uct
from ucd_planners.playouts.last_good_reply import LastGoodReply
from ucd_planners.playouts.mast import MAST
from ucd_planners.playouts.n_grams import NGrams
from ucd_planners.playouts.pool_rave import PoolRAVE
from ucd_planners.selection.rave import RAVE

THREE = "three players"
"""A synthetic game in which a player may move several times in a row."""
ALL_GAMES = (*GAMES, (THREE, {}))
KEPT: tuple[Any, ...] = (LastGoodReply(), MAST(), MAST(choice="greedy"), NGrams(), NGrams(length=2))
"""Policies that keep over a game what they learn."""
EVERY: tuple[Any, ...] = (*KEPT, PoolRAVE(least=5))


def start_of(game: str, settings: dict[str, Any]) -> State:
    """The first state of one of ALL_GAMES."""
    if game == THREE:
        return hash_game.rules(seed=5, players=3, width=8, branching=5, plies=12).initial_state()
    return ucd_envs.make_rules(game, **settings).initial_state()


def chi_square(counts: Sequence[int], expected: Sequence[float]) -> float:
    """How far counts are from what is expected of them."""
    return sum((count - mean) ** 2 / mean for count, mean in zip(counts, expected, strict=True))


def limit(counts: Sequence[int]) -> float:
    """What chi-square exceeds with a probability of about 1 in 10,000 [Wilson and Hilferty 1931]."""
    free = len(counts) - 1
    return float(free * (1 - 2 / (9 * free) + 3.72 * math.sqrt(2 / (9 * free))) ** 3)


def bytes_of(search: Any) -> tuple[Any, ...]:
    """What a search has found, to be compared bit for bit."""
    return search.action, search.actions.tolist(), search.visits.tolist(), search.values.tobytes()


@pytest.mark.parametrize(("game", "settings"), GAMES)
def test_with_prob_0_a_search_is_the_one_without(game: str, settings: dict[str, Any]) -> None:
    """Bit for bit."""
    state = ucd_envs.make_rules(game, **settings).initial_state()
    policies = [LastGoodReply(0.0), MAST(0.0), NGrams(0.0), PoolRAVE(0.0)]
    plain, other = rave(playouts=300, seed=3), rave(playouts=300, seed=3, policies=policies)
    assert bytes_of(plain.search(state)) == bytes_of(other.search(state))


@pytest.mark.parametrize("policy", EVERY, ids=str)
def test_the_same_seed_gives_the_same_searches(policy: Any) -> None:
    """Over the turns of a game, with a new planner and with the old one begun again, and not with another seed."""
    state = ucd_envs.make_rules("havannah", base=3).initial_state()

    def course(planner: Any) -> list[Any]:
        return [bytes_of(planner.search(state.after(4).after(7) if turn else state)) for turn in range(2)]

    planner = rave(playouts=400, seed=7, policies=policy)
    first = course(planner)
    planner.reset(7)
    assert course(planner) == first == course(rave(playouts=400, seed=7, policies=policy))
    assert first != course(rave(playouts=400, seed=8, policies=policy))
    assert first != course(rave(playouts=400, seed=7))


@pytest.mark.parametrize("policy", EVERY, ids=str)
def test_workers_learn_apart(policy: Any) -> None:
    """The same seed gives the same search with two workers, each with a memory of its own."""
    state = ucd_envs.make_rules("hex", size=4).initial_state()
    planners = [rave(playouts=600, seed=5, workers=2, policies=policy) for _ in range(2)]
    one, two = (bytes_of(planner.search(state)) for planner in planners)
    assert one == two
    memories = [[worker.sim.memories[0].tobytes() for worker in planner._workers] for planner in planners]
    assert memories[0][0] != memories[0][1]


@pytest.mark.parametrize("policy", KEPT, ids=str)
def test_what_is_learned_lasts_for_a_game(policy: Any) -> None:
    """Another search further on begins with something, one from the start with a memory that has learned nothing."""
    start = ucd_envs.make_rules("havannah", base=3).initial_state()
    search, fresh = Search(start, RAVE(), 1, policies=policy), policy.memory(start.rules)
    search.run(300)
    search.begin(start.after(4).after(7))
    assert not learned_nothing(search, policy, fresh)
    search.begin(start)
    assert learned_nothing(search, policy, fresh)


def learned_nothing(search: Search, policy: Any, fresh: np.ndarray) -> bool:
    """Whether a policy's memory, which may have grown, is as it began."""
    memory = search.worker.sim.memories[0]
    policy.begin(fresh, False)
    while len(fresh) < len(memory):
        fresh = policy.grown(fresh)
    return bool(memory.tobytes() == fresh.tobytes())


@pytest.mark.parametrize("kind", [LastGoodReply, MAST, NGrams, PoolRAVE])
@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan"), float("inf"), "0.5", None, True])
def test_probabilities_lie_between_0_and_1(kind: Any, value: Any) -> None:
    """One sentence names the parameter and the value."""
    names = [name for name in ("prob", "epsilon", "decay") if hasattr(kind(), name)]
    for name in names:
        with pytest.raises((ValueError, TypeError), match=f"^{name} must be a number"):
            kind(**{name: value})


@pytest.mark.parametrize(
    ("kind", "name", "value", "error"),
    [
        (LastGoodReply, "length", 3, "length must be from 1 to 2, not 3"),
        (LastGoodReply, "length", 1.5, "length must be a whole number from 1 to 2, not 1.5"),
        (LastGoodReply, "forgetting", 1, "forgetting must be True or False, not 1"),
        (MAST, "choice", "softmax", "choice must be one of gibbs, greedy, not 'softmax'"),
        (MAST, "tau", 0, "tau must be a number from 0.001 to 1000, not 0"),
        (MAST, "tau", float("nan"), "tau must be a number from 0.001 to 1000, not nan"),
        (MAST, "tau", "1", "tau must be a number, not '1'"),
        (NGrams, "choice", None, "choice must be one of gibbs, greedy, not None"),
        (NGrams, "tau", float("inf"), "tau must be a number from 0.001 to 1000, not inf"),
        (NGrams, "length", 1, "length must be from 2 to 3, not 1"),
        (NGrams, "least", 0, "least must be from 1 to 16777216, not 0"),
        (NGrams, "most_bytes", 0.5, "most_bytes must be a whole number from 1 to 1099511627776, not 0.5"),
        (PoolRAVE, "size", 0, "size must be from 1 to 65535, not 0"),
        (PoolRAVE, "least", 0, "least must be from 1 to 2147483647, not 0"),
    ],
)
def test_other_parameters_have_ranges_too(kind: Any, name: str, value: Any, error: str) -> None:
    """One sentence each."""
    with pytest.raises((ValueError, TypeError)) as caught:
        kind(**{name: value})
    assert str(caught.value) == error


@kernel(LEGAL_ACTIONS)
def nothing_listed(config, state, actions):
    """As a game does whose callback into Python has failed."""
    return np.int64(0)


@kernel(IS_LEGAL)
def nothing_playable(config, state, action):
    """As a game does whose callback into Python has failed."""
    return np.bool_(False)


@pytest.mark.parametrize("policy", KEPT, ids=str)
def test_where_nothing_can_be_listed_nothing_is_suggested(policy: Any) -> None:
    """The search then finds out why."""
    start = ucd_envs.make_rules("tic_tac_toe").initial_state()
    kernels = start.rules.kernels._replace(playout_actions=nothing_listed, is_playable=nothing_playable)
    state = State(replace(start.rules, kernels=kernels), start.after(4).data)
    assert suggested(state, [(0, 4)], policy, policy.memory(state.rules), 20) == {-1: 20}


def test_several_policies_play_together() -> None:
    """A move that the first leaves open is the second one's: no reply and no pool at first, and n-grams always."""
    state = ucd_envs.make_rules("go", size=5).initial_state()
    policies = [LastGoodReply(), PoolRAVE(), NGrams(choice="greedy")]
    found = rave(playouts=500, seed=2, policies=policies).search(state)
    assert int(found.visits.sum()) == 500
    assert bytes_of(found) != bytes_of(uct(playouts=500, seed=2, policies=policies[0]).search(state))
