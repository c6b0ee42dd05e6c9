"""Third-party environments with chance: outcomes of a move are told apart by the position that followed."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest
from chance_cases import SERVING
from gymnasium.spaces import Box, Discrete
from pettingzoo import AECEnv

from ucd_envs.foreign import AECGame, SingleGame, check
from ucd_envs.foreign.outcomes import Outcomes, fingerprint
from ucd_envs.kernels import CHANCE
from ucd_planners import PRESETS, Planner, rave, ucd, uct, update_all
from ucd_planners.playouts.bhrf import BHRF
from ucd_planners.playouts.last_good_reply import LastGoodReply
from ucd_planners.playouts.mast import MAST
from ucd_planners.playouts.n_grams import NGrams


class Die(gymnasium.Env[int, int]):
    """The legal action is what a die shows; each of five throws pays 0.1."""

    action_space = Discrete(6)
    observation_space = Discrete(6)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.throws = 0
        self.throw()
        return self.die, {}

    def throw(self) -> None:
        self.die = int(self.np_random.integers(6))

    def action_masks(self) -> np.ndarray:
        return np.arange(6) == self.die

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        assert action == self.die, "not legal"
        self.throws += 1
        self.throw()
        return self.die, 0.1, self.throws == 5, False, {}


class HiddenDie(Die):
    """Only the legal actions tell what the die shows."""

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        return self.throws, *super().step(action)[1:]


class Walk(gymnasium.Env[int, int]):
    """Action 1 pays what a wheel with `fields` fields says, in [0, 1]; action 0 pays a quarter. Then one more step ends it."""

    action_space = Discrete(2)
    observation_space = Discrete(1000)

    def __init__(self, fields: int = 2) -> None:
        self.fields = fields

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.at = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        if self.at:
            paid = 0.25 if self.at == 1 else (self.at - 2) / (self.fields - 1)
            return self.at, paid, True, False, {}
        self.at = 2 + int(self.np_random.integers(self.fields)) if action else 1
        return self.at, 0.0, False, False, {}


class Dice(AECEnv[str, Any, int]):
    """Two players in turn; the mover may play up to what a die shows. Who plays the larger sum in three turns wins."""

    metadata: ClassVar[dict[str, Any]] = {"name": "dice", "render_modes": []}
    render_mode = None

    def __init__(self, where: str = "observation") -> None:
        super().__init__()
        self.possible_agents = ["a", "b"]
        self.where = where

    def observation_space(self, agent: str) -> Any:
        return Box(0, 9, (4,), np.int8)

    def action_space(self, agent: str) -> Discrete:
        return Discrete(3)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.random = np.random.default_rng(seed)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict(self.rewards)
        self.terminations, self.truncations = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, False)
        self.sums, self.turn = [0, 0], 0
        self.throw()

    def throw(self) -> None:
        self.agent_selection = self.agents[self.turn % 2]
        self.die = int(self.random.integers(3))
        self.infos = {agent: {"action_mask": self.mask()} if self.where == "infos" else {} for agent in self.agents}

    def mask(self) -> np.ndarray:
        return (np.arange(3) <= self.die).astype(np.int8)

    def observe(self, agent: str) -> Any:
        seen = np.array([*self.sums, self.turn, 0], np.int8)
        return {"observation": seen, "action_mask": self.mask()} if self.where == "observation" else seen

    def step(self, action: int | None) -> None:
        assert action is not None
        assert action <= self.die, "not legal"
        self.sums[self.turn % 2] += action
        self.turn += 1
        self.throw()
        if self.turn == 6:
            sign = float(np.sign(self.sums[0] - self.sums[1]))
            self.rewards = {"a": sign, "b": -sign}
            self.terminations = dict.fromkeys(self.agents, True)


def made(env: Any, seed: int = 1) -> Any:
    """The environment after a reset."""
    env.reset(seed=seed)
    return env


every_preset = pytest.mark.parametrize("preset", SERVING)


@every_preset
@pytest.mark.parametrize("position", [None, lambda env: (env.die, env.throws)], ids=["observation", "position"])
def test_no_illegal_action_is_stepped_where_a_die_decides(preset: str, position: Callable[[Any], Any] | None) -> None:
    """F2-10: each throw pays 0.1 whatever the die shows, and every simulation goes to the end."""
    env = made(Die())
    result = PRESETS[preset](playouts=700, seed=3).search(SingleGame(env, position=position))
    assert result.actions.tolist() == [env.die]
    assert result.playouts == 700
    assert result.value == pytest.approx(0.5, abs=1e-12)
    assert result.depth == 10, "five moves and five outcomes"


@every_preset
def test_legal_actions_keep_outcomes_apart_that_look_the_same(preset: str) -> None:
    """F2-10: by the environment's masks, and by a function of the user."""
    for options in ({}, {"legal_actions": lambda env: [env.die]}):
        result = PRESETS[preset](playouts=300, seed=3).search(SingleGame(made(HiddenDie()), **options))
        assert result.playouts == 300
        assert result.value == pytest.approx(0.5, abs=1e-12)


@every_preset
@pytest.mark.parametrize("where", ["observation", "infos"])
def test_masks_after_chance_are_those_of_the_outcome(preset: str, where: str) -> None:
    """F2-10: a PettingZoo environment, whose masks lie in the observation or in the infos."""
    env = made(Dice(where), 4)
    game, planner = AECGame(env), PRESETS[preset](playouts=150, seed=2)
    while env.agents and not env.terminations["a"]:
        action = planner.act(game)
        assert env.mask()[action]
        env.step(action)


def test_a_table_shares_the_positions_of_outcomes() -> None:
    """Five throws of six numbers and the end: no more than 26 positions of players, and as many of chance as moves."""
    game = SingleGame(made(Die()), position=lambda env: (env.die, env.throws))
    result = ucd(playouts=3000, seed=1).search(game)
    movers = [mover for _, mover in result.to_networkx().nodes(data="mover")]
    assert movers.count(0) == 25
    assert movers.count(CHANCE) == 25


@pytest.mark.parametrize("preset", [uct, ucd, update_all, rave])
@pytest.mark.parametrize("outcomes", [2, 4, 32])
def test_outcomes_beyond_those_told_apart_count_by_their_frequency(preset: Callable[..., Planner], outcomes: int) -> None:
    """21 fields pay one half in the mean. A mean of 2,900 throws has a standard error of 0.006."""
    game = SingleGame(made(Walk(21)), outcomes=outcomes)
    result = preset(c=0.3, playouts=3000, seed=7).search(game)
    assert result.action == 1
    assert result.visits[1] > 2800
    assert result.values[1] == pytest.approx(0.5, abs=0.025)


@pytest.mark.parametrize("most", [2, 3, 5, 9])
def test_outcomes_come_by_their_frequency_in_a_full_graph(most: int) -> None:
    game = SingleGame(made(Walk(5)))
    result = ucd(c=0.3, playouts=3000, seed=7, max_nodes=most).search(game)
    assert result.full
    assert result.values[-1] == pytest.approx(0.5, abs=0.03)


def test_every_position_of_a_playout_enters_the_graph() -> None:
    """Also where a playout meets an outcome beyond those told apart, behind which nothing is added."""
    for outcomes in (2, 32):
        result = ucd(playouts=500, seed=1, expand="all").search(SingleGame(made(Die()), outcomes=outcomes))
        assert result.value == pytest.approx(0.5, abs=1e-12)
        assert result.depth == 10


@pytest.mark.parametrize("policy", [LastGoodReply(), BHRF(), NGrams()], ids=lambda policy: type(policy).__name__)
def test_a_policy_without_chance_is_refused_once_chance_is_found(policy: Any) -> None:
    with pytest.raises(ValueError, match="does not serve Die, a game with chance"):
        uct(playouts=500, seed=1, policies=policy).search(SingleGame(made(Die())))


def test_policies_suggest_moves_of_players() -> None:
    result = uct(playouts=800, seed=1, policies=MAST()).search(SingleGame(made(Die())))
    assert result.value == pytest.approx(0.5, abs=1e-12)


def test_a_search_that_finds_chance_has_its_whole_budget_and_repeats_itself() -> None:
    """As one that has known it from the beginning: with `again` the game has been searched before."""
    game = SingleGame(made(Die()))
    first, again = (ucd(playouts=700, seed=5).search(game) for _ in range(2))
    assert (first.playouts, again.playouts) == (700, 700)
    assert first.visits.tolist() == again.visits.tolist()
    assert first.edges == again.edges


@pytest.mark.parametrize("position", [None, lambda env: (*env.sums, env.turn, env.die)], ids=["attributes", "position"])
@pytest.mark.parametrize("preset", [uct, ucd])
def test_a_kept_graph_has_the_outcomes_that_it_had(preset: Callable[..., Planner], position: Any) -> None:
    """A planner whose graph numbered outcomes anew would step illegal actions or lead to other positions."""
    env = made(Dice(), 4)
    game, planner = AECGame(env, position=position), preset(playouts=600, seed=1, reuse_graph=True)
    kept = []
    for _ in range(6):
        result = planner.search(game)
        kept.append(int(result.visits.sum()))
        env.step(result.action)
    assert kept[1] > 600


class Noisy(Die):
    """A die whose observation is noise."""

    observation_space = Box(0, 1, (1,), np.float64)

    def step(self, action: int) -> Any:
        _, *others = super().step(action)
        return self.np_random.random(1), *others


@pytest.mark.parametrize("options", [{}, {"reuse_graph": True}, {"expand": "all"}], ids=str)
def test_equal_positions_with_other_observations_are_one(options: dict[str, Any]) -> None:
    """Their outcomes are numbered together: nothing illegal is stepped."""
    env = made(Noisy())
    game, planner = SingleGame(env, position=lambda env: (env.die, env.throws)), ucd(playouts=900, seed=1, **options)
    for throws in range(5):
        result = planner.search(game)
        assert result.value == pytest.approx(0.1 * (5 - throws), abs=1e-12)
        env.step(result.action)
    game = SingleGame(made(Noisy()))
    assert uct(playouts=900, seed=1).search(game).value == pytest.approx(0.5, abs=1e-12)


def test_a_copied_future_is_foreseen() -> None:
    """Whoever knows the wheel takes it only where it pays more than a quarter."""
    taken = []
    for seed in range(12):
        env = made(Walk(), seed)
        action = uct(playouts=50, seed=1).act(SingleGame(env, chance="copied"))
        env.step(1)
        taken.append(action == (env.at == 3))
    assert all(taken)


def test_environments_without_chance_have_the_graph_of_copied_futures() -> None:
    env = made(gymnasium.make("FrozenLake-v1", is_slippery=False))
    results = [
        ucd(playouts=2000, seed=1).search(SingleGame(env, position=lambda env: int(env.s), chance=chance))
        for chance in ("reseeded", "copied")
    ]
    assert results[0].visits.tolist() == results[1].visits.tolist()
    assert results[0].edges == results[1].edges
    assert results[0].nodes == results[1].nodes


def test_an_analysis_goes_through_outcomes() -> None:
    """Drawings and networks tell the mover behind every edge, chance or the player."""
    result = uct(playouts=300, seed=1).search(SingleGame(made(Walk())))
    network = result.to_networkx()
    assert {mover for _, mover in network.nodes(data="mover")} <= {0, CHANCE, -1}
    assert CHANCE in {mover for _, mover in network.nodes(data="mover")}
    assert len(result.names_of(result.principal_variation)) == len(result.principal_variation)


# The check


class Hidden(Die):
    """A die thrown by the operating system."""

    def throw(self) -> None:
        self.die = os.urandom(1)[0] % 6


def test_a_check_tells_chance_and_what_depends_on_it() -> None:
    report = check(SingleGame(made(Die()), position=lambda env: (env.die, env.throws)))
    assert (report.deterministic, report.chance, report.legal_actions_vary, report.repeatable) == (False, True, True, True)
    report = check(SingleGame(made(Walk())))
    assert (report.deterministic, report.chance, report.legal_actions_vary, report.repeatable) == (False, True, False, True)
    report = check(SingleGame(made(gymnasium.make("FrozenLake-v1", is_slippery=False))))
    assert (report.deterministic, report.chance, report.legal_actions_vary, report.repeatable) == (True, False, False, True)


def test_a_check_tells_a_generator_that_cannot_be_reseeded() -> None:
    report = check(SingleGame(made(Hidden())))
    assert not report.repeatable
    assert report.legal_actions_vary


def test_a_check_refuses_a_position_that_leaves_the_die_out() -> None:
    with pytest.raises(ValueError, match="two different positions share the key"):
        check(SingleGame(made(Die()), position=lambda env: env.throws))


# The numbers of outcomes


def test_outcomes_are_numbered_as_they_come() -> None:
    outcomes = Outcomes(3, 1.0)
    root = outcomes.root(None)
    found = [outcomes.after(root, 7, name) for name in "abacb"]
    assert [number for number, _ in found] == [0, 1, 0, 2, 1]
    assert found[0][1] is found[2][1] is not found[1][1]
    assert outcomes.after(root, 7, "d") == (3, None)
    assert outcomes.after(root, 8, "d")[0] == 0
    assert outcomes.named(root, 7, 2)[0] == "c"
    assert outcomes.named(root, 7, 2)[1] is found[3][1]


@pytest.mark.parametrize(("widening", "numbers"), [(1.0, [0, 1, 2, 3, 4, 5]), (0.5, [0, 1, 9, 9, 2, 9])])
def test_more_outcomes_are_kept_apart_after_more_visits(widening: float, numbers: list[int]) -> None:
    """With the exponent 1/2: one after one visit, two after two to four, three after five to nine."""
    outcomes = Outcomes(9, widening)
    root = outcomes.root(None)
    assert [outcomes.after(root, 0, name)[0] for name in "abcdef"] == numbers


def test_an_equal_position_is_the_earlier_place() -> None:
    outcomes = Outcomes(3, 1.0)
    root = outcomes.root(None)
    first = outcomes.after(root, 0, "a")[1]
    assert first is not None
    assert outcomes.same(5, first) is first
    second = outcomes.after(root, 1, "b")[1]
    assert second is not None
    assert outcomes.same(5, second) is first
    assert outcomes.after(root, 1, "b")[1] is first
    third = outcomes.after(root, 1, "c")[1]
    assert third is not None
    assert outcomes.same(5, third) is first
    assert outcomes.after(root, 1, "c") == (1, first)
    assert outcomes.root(5) is first


def test_fingerprints_are_equal_for_equal_observations() -> None:
    seen = {"a": np.arange(3), "b": (1, [2.0, "x"]), "c": None}
    again = {"a": np.arange(3), "b": (1, [2.0, "x"]), "c": None}
    assert fingerprint(seen) == fingerprint(again)
    assert hash(fingerprint(seen)) == hash(fingerprint(again))
    assert fingerprint(seen) != fingerprint({**seen, "a": np.arange(1, 4)})
    assert fingerprint({1, 2}) == fingerprint({1, 2})


def test_a_search_may_widen_slowly() -> None:
    """A descent that meets an outcome too many ends there, and its payoff counts."""
    results = [
        ucd(c=0.3, playouts=2000, seed=7).search(SingleGame(made(Walk(21)), widening=widening)) for widening in (1.0, 0.3)
    ]
    assert results[0].edges == 7 + 21 * 5
    assert results[1].edges <= 7 + 10 * 5, "2,000 ** 0.3 is 9.8: ten outcomes, each of two moves with one outcome"
    for result in results:
        assert result.values[1] == pytest.approx(0.5, abs=0.03)


def test_a_widening_is_checked() -> None:
    for wrong in (0, -1, 1.5, "x", float("nan")):
        with pytest.raises((TypeError, ValueError), match="widening"):
            SingleGame(made(Die()), widening=wrong)


def test_a_number_of_outcomes_is_checked() -> None:
    for wrong in (1, 0, 10_001, 2.5, "x"):
        with pytest.raises((TypeError, ValueError), match="outcomes"):
            SingleGame(made(Die()), outcomes=wrong)
