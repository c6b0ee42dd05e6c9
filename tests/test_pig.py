"""Pig: its rules beside OpenSpiel's, and what planners find beside value iteration."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest

import ucd_envs
from ucd_envs.kernels import CHANCE
from ucd_envs.rng import seeded
from ucd_envs.rules import State
from ucd_planners import Planner, cmc, rave, rave_ucd, ucd, uct, update_all
from ucd_planners.arena.match import Match, play_match
from ucd_planners.graph_view import drawing
from ucd_planners.notation import planner_from
from ucd_planners.playouts.mast import MAST

INF = float("inf")
PLANNERS: dict[str, Callable[..., Planner]] = {
    "uct": uct,
    "ucd(1,0,1)": ucd,
    "ucd(inf,0,1)": lambda **options: ucd(INF, 0, 1, **options),
    "rave": rave,
    "rave_ucd": rave_ucd,
}


def start(**settings: Any) -> State:
    """The first position."""
    return ucd_envs.make_rules("pig", **settings).initial_state()


def after(state: State, *moves: str) -> State:
    """The position after moves and faces by their names."""
    for move in moves:
        state = state.after(state.action_named(move))
    return state


@pytest.mark.parametrize("target", [1, 20, 100])
def test_games_go_as_in_openspiel(target: int) -> None:
    """Legal actions, outcomes with their probabilities, the mover and the winner, in random games.

    Only OpenSpiel forbids to roll on when a hold wins.
    """
    game, choice = pyspiel.load_game("pig", {"winscore": target, "horizon": 100_000}), random.Random(target)
    for _ in range(20):
        state, other = start(target=target), game.new_initial_state()
        while not state.over:
            if other.is_chance_node():
                probability = state.rules.kernels.probability
                own = [(action, probability(state.rules.config, state.array(), action)) for action in state.legal_actions()]
                assert state.player == CHANCE
                assert own == [(action, pytest.approx(chance)) for action, chance in other.chance_outcomes()]
            else:
                assert state.player == other.current_player()
                assert state.legal_actions() == [0, 1]
                assert other.legal_actions() == ([1] if state.after(1).over else [0, 1])
            action = choice.choice(other.legal_actions())
            state = state.after(action)
            other.apply_action(action)
        assert other.is_terminal()
        assert [2 * payoff - 1 for payoff in state.payoffs()] == other.returns()


def test_a_turn_is_rolled_and_held() -> None:
    state = after(start(), "roll", "6", "roll", "2")
    assert state.player == 0
    assert after(state, "hold").player == 1
    assert after(state, "roll").player == CHANCE
    assert after(state, "roll", "1").player == 1
    assert after(state, "roll", "1").words != after(state, "hold").words
    assert [state.action_name(action) for action in state.legal_actions()] == ["roll", "hold"]
    assert state.action_name(0) == "roll"
    assert after(state, "roll").action_name(0) == "1"


def test_a_game_without_a_winner_is_a_draw() -> None:
    state = start(max_plies=2)
    assert after(state, "roll", "5").payoffs() == [0.5, 0.5]


def test_faces_come_equally_often() -> None:
    """Six thousand rolls: each face within four standard deviations of a thousand."""
    state, rng = after(start(), "roll"), seeded(3)
    counts = np.bincount([state.outcome(rng) for _ in range(6000)], minlength=6)
    assert len(counts) == 6
    assert np.abs(counts - 1000).max() < 4 * (6000 * 5 / 36) ** 0.5


def test_nothing_is_drawn_where_a_player_moves() -> None:
    with pytest.raises(ValueError, match="there is nothing to draw"):
        start().outcome(seeded(1))
    with pytest.raises(ValueError, match="the move is left to chance"):
        after(start(), "roll").turned(0)


def test_a_settled_position_has_a_player_to_move() -> None:
    """Outcomes are drawn in turn; a position without chance is settled already."""
    start = ucd_envs.make_rules("einstein").initial_state()
    assert start.player == CHANCE
    settled = {start.settled(seeded(seed)) for seed in range(60)}
    assert {state.player for state in settled} == {0}
    assert len(settled) == 6, "a die with six faces"
    roll = ucd_envs.make_rules("pig").initial_state()
    assert roll.settled(seeded(1)) == roll


def test_an_environment_draws_by_its_seed() -> None:
    """Agents never see a position where chance is to move, and a seed fixes the game."""

    def game(seed: int) -> list[bytes]:
        env = ucd_envs.make("pig", target=30)
        env.reset(seed=seed)
        found = []
        while env.agents and not env.terminations[env.agent_selection]:
            found.append(env.unwrapped.clone_state().key)
            env.step(0 if len(found) % 4 else 1)
        return found

    assert game(1) == game(1)
    assert len({tuple(game(seed)) for seed in range(8)}) == 8


def test_a_restored_position_of_chance_goes_on_by_a_draw() -> None:
    env = ucd_envs.make("pig").unwrapped
    env.reset(seed=4)
    env.restore_state(after(start(), "roll"))
    assert env.clone_state().ply == 2


def exact(target: int) -> np.ndarray:
    """[target, target, target] float: the mover's probability to win by own score, the other's, and the total."""
    value = np.zeros((target, target, target + 6))
    for _ in range(1000):
        before = value.copy()
        for own in reversed(range(target)):
            for other in range(target):
                for total in reversed(range(target - own)):
                    wins = [1.0 if own + total + face >= target else value[own, other, total + face] for face in range(2, 7)]
                    roll = (1 - value[other, own, 0] + sum(wins)) / 6
                    hold = 1 - value[other, own + total, 0]
                    value[own, other, total] = max(roll, hold)
        if np.abs(value - before).max() < 1e-12:
            return value
    raise AssertionError("no fixed point")


@pytest.fixture(scope="module")
def ten() -> np.ndarray:
    """The game to ten points."""
    return exact(10)


@pytest.mark.parametrize("name", PLANNERS)
def test_planners_find_the_value_of_a_race_to_ten(name: str, ten: np.ndarray) -> None:
    """The better move and, within 0.03, the probability to win of the position 0 to 0."""
    result = PLANNERS[name](playouts=20_000, seed=7).search(start(target=10))
    assert result.names(result.action) == "roll"
    assert result.value == pytest.approx(ten[0, 0, 0], abs=0.03)


def against_random(value: np.ndarray) -> float:
    """The score of the best policy, by `exact`, against one that rolls or holds at random, in the mean of both seats."""
    target = len(value)
    best, worst = np.zeros(
        (2, *value.shape)
    )  # what the best policy wins where it, or random, moves; both by the mover's scores

    def roll(lost: float, won: float, table: np.ndarray, own: int, other: int, total: int) -> float:
        left = [won if own + total + face >= target else table[own, other, total + face] for face in range(2, 7)]
        return float(lost + sum(left)) / 6

    for _ in range(1000):
        before = best.copy(), worst.copy()
        for own, other in np.ndindex(target, target):
            for total in reversed(range(target - own)):
                rolls = roll(1 - value[other, own, 0], 1, value, own, other, total) > 1 - value[other, own + total, 0]
                rolled, held = roll(worst[other, own, 0], 1, best, own, other, total), worst[other, own + total, 0]
                best[own, other, total] = rolled if rolls else held
                lost, held = best[other, own, 0], best[other, own + total, 0]
                # At a total that wins, random holds at once or rolls on: it wins 6 of 7 times before it rolls a 1.
                worst[own, other, total] = (roll(lost, lost / 7, worst, own, other, total) + held) / 2
        if max(np.abs(best - before[0]).max(), np.abs(worst - before[1]).max()) < 1e-12:
            return float(best[0, 0, 0] + worst[0, 0, 0]) / 2
    raise AssertionError("no fixed point")


def test_a_match_against_random_has_the_score_of_the_best_policy(ten: np.ndarray) -> None:
    """Within four standard errors, and nothing lost by searching 1,000 playouts a move."""
    expected, games = against_random(ten), 400
    match = Match("pig", "uct", "random", {"target": 10}, {"playouts": 1000}, games=games)
    score = play_match(match).score().mean
    assert score == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / games))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PLANNERS if name not in ("rave", "rave_ucd")])
def test_errors_fall_with_playouts(name: str, ten: np.ndarray) -> None:
    """The mean error over ten seeds at 1,000, 10,000 and 100,000 playouts, at a position in mid-turn."""
    state = after(start(target=10), "roll", "4", "hold", "roll", "3")
    own, other, total = 0, 4, 3
    errors = []
    for playouts in (1_000, 10_000, 100_000):
        found = [PLANNERS[name](playouts=playouts, seed=seed).search(state).value for seed in range(10)]
        errors.append(abs(float(np.mean(found)) - ten[own, other, total]))
    assert errors[2] < 0.01
    assert errors[2] < errors[0]


@pytest.mark.parametrize("policy", [cmc(), uct(policies=MAST())], ids=["cmc", "mast"])
def test_policies_that_serve_chance_play(policy: Planner) -> None:
    result = policy.search(start(target=10), playouts=2000)
    assert result.visits.sum() == 2000


@pytest.mark.parametrize("name", ["last_good_reply", "n_grams"])
def test_other_policies_are_refused_by_name(name: str) -> None:
    planner = planner_from(f"uct(policies={name})", playouts=10)
    with pytest.raises(ValueError, match="does not serve pig_v0, a game with chance"):
        planner.act(start())
    with pytest.raises(ValueError, match="does not serve pig_v0, a game with chance"):
        planner.check(start().rules)


def test_update_all_serves_chance() -> None:
    result = update_all(playouts=5000, seed=1).search(start(target=10))
    assert result.names(result.action) == "roll"


def test_the_tree_of_a_search_shows_faces() -> None:
    """Edges out of a chance node are named by their faces, and have no value for a mover."""
    graph = ucd(playouts=2000, seed=1).search(start(target=10)).to_networkx()
    chance = [node for node, mover in graph.nodes(data="mover") if mover == CHANCE]
    names = {data["name"] for node in chance for _, _, data in graph.out_edges(node, data=True)}
    assert names == {"1", "2", "3", "4", "5", "6"}
    assert all(np.isnan(data["value"]) for node in chance for _, _, data in graph.out_edges(node, data=True))


def test_a_picture_tells_positions_of_chance(tmp_path: Path) -> None:
    """No row is said to belong to a player with the number of chance."""
    graph = uct(playouts=60, seed=1).search(start(target=10)).to_networkx()
    kinds = {drawing.kind_of(graph, node) for node, mover in graph.nodes(data="mover") if mover == CHANCE}
    assert kinds == {"chance"}
    drawing.draw(graph, tmp_path / "pig.svg")
    drawn = (tmp_path / "pig.svg").read_text()
    assert "chance draws" in drawn
    assert "player_1024" not in drawn
