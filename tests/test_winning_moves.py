"""A move that has ended the game with a win is chosen, whatever the visits."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import pytest
from gymnasium.spaces import Discrete

import ucd_envs
from ucd_envs.foreign import SingleGame
from ucd_envs.rules import State
from ucd_planners import Planner, grave, rave, rave_ucd, simple_way, ucd, uct, update_all

PLANNERS: dict[str, Callable[..., Planner]] = {
    "uct": uct,
    "simple_way": simple_way,
    "ucd": partial(ucd, math.inf, math.inf, math.inf),
    "update_all": update_all,
    "rave": rave,
    "rave_ucd": rave_ucd,
    "grave": grave,
    "expand all": partial(uct, expand="all"),
    "store nodes": partial(ucd, 1, 1, 1, store="nodes"),
    "two workers": partial(uct, workers=2),
    "kept graph": partial(ucd, 1, 0, 1, reuse_graph=True),
    "urgency": partial(uct, first_play_urgency=2.0),
}
every_planner = pytest.mark.parametrize("planner", PLANNERS.values(), ids=PLANNERS)
FINALS = ("visits", "mean", "lower_bound")


def after(game: str, *moves: str, **settings: Any) -> State:
    """The position after moves by name."""
    state = ucd_envs.make_rules(game, **settings).initial_state()
    for move in moves:
        state = state.after(state.action_named(move))
    return state


def wins(state: State) -> set[int]:
    """The moves that end the game with a payoff of 1 for the mover."""
    found = [(action, state.after(action)) for action in state.legal_actions()]
    return {action for action, end in found if end.over and end.payoffs()[state.player] == 1}


POSITIONS = {
    "tic-tac-toe": lambda: after("tic_tac_toe", "a1", "b1", "a2", "b2"),
    "hex": lambda: after("hex", "a1", "b1", "a2", "b2", size=3),
    "connect four": lambda: after("connect_four", "1", "2", "1", "2", "1", "2"),
}


@every_planner
@pytest.mark.parametrize("final_move", FINALS)
@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.sweep(3)
def test_a_win_in_one_move_is_taken(planner: Callable[..., Planner], final_move: str, position: str) -> None:
    """F2-15: with playouts for each move twice, 2 to 4 of 20 choices threw a won game away, for a tie of visits and means."""
    state = POSITIONS[position]()
    winning, moves = wins(state), len(state.legal_actions())
    assert 0 < len(winning) < moves
    for seed in range(12):
        result = planner(playouts=2 * moves, seed=seed, final_move=final_move).search(state)
        places = [list(result.actions).index(action) for action in winning]
        if any(result.visits[place] for place in places):
            assert result.action in winning
            assert result.principal_variation == [result.action]
        assert planner(playouts=2 * moves, seed=seed, final_move=final_move).act(state) == result.action


@pytest.mark.parametrize("final_move", FINALS)
def test_among_several_wins_the_final_rule_chooses(final_move: str) -> None:
    """Three wins in a row of tic-tac-toe: that with the most visits, or among equals each in turn."""
    state = after("tic_tac_toe", "a1", "b2", "a2", "b3", "c1", "c2")
    winning = wins(state)
    assert len(winning) == 2
    result = uct(playouts=200, seed=1, final_move=final_move).search(state)
    assert result.action in winning
    visits = {int(action): int(count) for action, count in zip(result.actions, result.visits, strict=True)}
    if final_move == "visits":
        assert visits[result.action] == max(visits[action] for action in winning)
    chosen = {uct(playouts=len(state.legal_actions()), seed=seed, final_move=final_move).act(state) for seed in range(20)}
    assert chosen == winning


class Ends(gymnasium.Env):
    """Action 0 ends the game at once with the reward of `ends`, action 1 goes on to an end with 1."""

    def __init__(self, reward: float) -> None:
        self.observation_space, self.action_space = Discrete(2), Discrete(2)
        self.reward, self.ply = reward, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.ply = 0
        return 0, {}

    def step(self, action: int) -> Any:
        self.ply += 1
        if action == 0 and self.ply == 1:
            return 0, self.reward, True, False, {}
        return 0, float(self.ply == 3), self.ply == 3, False, {}


@pytest.mark.parametrize("final_move", FINALS)
@pytest.mark.parametrize("planner", [uct, simple_way])
def test_an_end_with_less_than_a_win_has_no_right_of_way(planner: Callable[..., Planner], final_move: str) -> None:
    """Neither a draw nor a loss, where the other move wins later."""
    for reward in (0.0, 0.5, 0.99):
        env = Ends(reward)
        env.reset()
        assert planner(playouts=60, seed=1, final_move=final_move).act(SingleGame(env)) == 1
    env = Ends(1.0)
    env.reset()
    assert planner(playouts=60, seed=1, final_move=final_move).act(SingleGame(env)) == 0


def test_an_end_that_loses_is_not_taken() -> None:
    """Hex never ends with a loss for the mover; a game of one player that ends with nothing does."""
    state = ucd_envs.make_rules("leftright", steps=1).initial_state()
    best = max(state.legal_actions(), key=lambda action: state.after(action).payoffs()[0])
    assert {uct(playouts=2, seed=seed).act(state) for seed in range(10)} == {best}


@pytest.mark.parametrize("planner", [preset for name, preset in PLANNERS.items() if name != "two workers"])
def test_an_early_end_is_not_before_a_win_can_be_seen(planner: Callable[..., Planner]) -> None:
    """F2-15: a search that stops early chooses the move of the whole search, also where an untried move wins at once."""
    for seed in range(12):
        for state in (POSITIONS["tic-tac-toe"](), POSITIONS["hex"]()):
            options = {"playouts": 300, "seed": seed, "first_play_urgency": 0.4}
            if planner is PLANNERS["urgency"]:
                options["first_play_urgency"] = 0.55
            early, whole = planner(stop_early=True, **options).search(state), planner(**options).search(state)
            assert early.action == whole.action
            tried = early.visits > 0
            assert early.stopped != "decided" or tried.all() or early.action in wins(state)
