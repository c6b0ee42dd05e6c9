"""Learned knowledge serves the positions that follow from the last root, and no others."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete

import ucd_envs
from ucd_envs.foreign import SingleGame
from ucd_envs.rules import State
from ucd_planners import Planner, simple_way, ucd, uct
from ucd_planners.playouts import BHRF, MAST, LastGoodReply, NGrams, PlayoutPolicy
from ucd_planners.succession import MOST_PLIES, follows
from ucd_planners.worker import Worker

POLICIES: dict[str, Callable[[], PlayoutPolicy]] = {
    "bhrf": BHRF,
    "last_good_reply": LastGoodReply,
    "mast": MAST,
    "n_grams": NGrams,
}
every_policy = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
GAMES: dict[str, dict[str, Any]] = {
    "hex": {"size": 5, "swap": True},
    "go": {"size": 5},
    "havannah": {"base": 3},
    "connect_four": {},
    "tic_tac_toe": {},
    "leftright": {"steps": 12},
}


def start(game: str, **settings: Any) -> State:
    """The first position of a game."""
    return ucd_envs.make_rules(game, **settings).initial_state()


def begins_anew(planner: Planner, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """A list that gets, at every search of a planner with one policy, whether the policy's knowledge begins anew."""
    heard: list[bool] = []
    kind = type(planner.policies[0])
    begin = kind.begin

    def noted(policy: Any, memory: np.ndarray, goes_on: bool) -> None:
        heard.append(not goes_on)
        begin(policy, memory, goes_on)

    monkeypatch.setattr(kind, "begin", noted)
    return heard


@every_policy
def test_a_game_elsewhere_is_searched_as_by_a_new_planner(policy: Callable[[], PlayoutPolicy]) -> None:
    """F2-13: the search of an unrelated position at a later ply had other visits than alone."""
    first = start("hex", size=5).after(0)
    other = start("hex", size=5).after(7).after(8).after(9)
    planner, alone = (uct(playouts=300, seed=1, policies=policy()) for _ in range(2))
    planner.search(first)
    alone.search(start("tic_tac_toe"))
    found, expected = planner.search(other), alone.search(other)
    assert found.visits.tolist() == expected.visits.tolist()
    assert found.values.tolist() == expected.values.tolist()


@every_policy
def test_a_planner_goes_on_with_what_it_has_learned_in_a_game(
    policy: Callable[[], PlayoutPolicy], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own move and any reply, which is the way of a match: searches know more than those of a new planner do."""
    planner = uct(playouts=200, seed=1, policies=policy())
    planner.search(start("hex", size=5))
    heard = begins_anew(planner, monkeypatch)
    state, replies = start("hex", size=5), np.random.default_rng(1)
    while not state.over:
        state = state.after(planner.act(state))
        if not state.over:
            state = state.after(int(replies.choice(state.legal_actions())))
    assert heard == [True] + [False] * (len(heard) - 1)
    assert len(heard) > 3


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("plies", [1, 2, 3])
def test_what_moves_lead_to_follows_in_every_game(game: str, plies: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """F2-13: the planner's own move, or another; and in games where several orders lead to one position."""
    planner = uct(playouts=20, seed=3, policies=LastGoodReply())
    heard, choices = begins_anew(planner, monkeypatch), np.random.default_rng(plies)
    state = start(game, **GAMES[game])
    for _ in range(4):
        planner.search(state)
        for _ in range(plies):
            if not state.over:
                state = state.after(int(choices.choice(state.legal_actions())))
        if state.over:
            break
    assert heard == [True] + [False] * (len(heard) - 1)


@pytest.mark.parametrize("game", [game for game in GAMES if game != "leftright"])  # whose positions count steps only
def test_what_no_moves_lead_to_begins_anew_in_every_game(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """F2-13: a position with another first move, two plies on; the same one twice, a new game from there; an earlier one."""
    planner = uct(playouts=20, seed=3, policies=LastGoodReply())
    heard = begins_anew(planner, monkeypatch)
    first = start(game, **GAMES[game])
    actions = [action for action in first.legal_actions() if first.after(action).legal_actions()][:4]
    one = first.after(actions[0])
    other = first.after(actions[1]).after(actions[2]).after(actions[3])
    for state in (one, other, one, one, first):
        planner.search(state)
    assert heard == [True] * 5


def test_the_key_tells_which_side_a_first_move_was() -> None:
    """Stones may have come in another order: what matters is the position."""
    rules = ucd_envs.make_rules("hex", size=4)
    state = rules.initial_state()
    target = state.after(5).after(9).after(6)
    worker = Worker(uct(playouts=5)._settings, rules, 5)
    for last in (state, state.after(5), state.after(6)):
        assert follows(target, last, -1, worker.rules_kernels, worker.graph)
    for last in (state.after(9), state.after(7), target, target.after(1), None):
        assert not follows(target, last, -1, worker.rules_kernels, worker.graph)


def test_a_position_after_the_end_of_other_games_is_found() -> None:
    """Moves that end the game are dead ends, not the end of the search for the position."""
    rules = ucd_envs.make_rules("connect_four", columns=4, rows=4, in_a_row=2)
    state = rules.initial_state().after(0)
    target = state.after(2).after(3)
    worker = Worker(uct(playouts=5)._settings, rules, 5)
    assert not target.over
    assert follows(target, state, -1, worker.rules_kernels, worker.graph)


@pytest.mark.parametrize(("chosen", "needed"), [(8, 9), (-1, 81), (0, 81), (4, 81)])
def test_the_chosen_move_is_looked_at_first_and_the_look_is_bounded(
    chosen: int, needed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Move 8 and reply 7 on tic-tac-toe. The chosen 8 needs one look and eight at replies, of which 7 is the last; after
    another choice the other eight moves come first, each with its eight replies: 9 * 9 looks."""
    rules = ucd_envs.make_rules("tic_tac_toe")
    state = rules.initial_state()
    worker = Worker(uct(playouts=5)._settings, rules, 5)
    target = state.after(8).after(7)
    found = []
    for most in (needed - 1, needed):
        monkeypatch.setattr("ucd_planners.succession.MOST_TRIED", most)
        found.append(follows(target, state, chosen, worker.rules_kernels, worker.graph))
    assert found == [False, True]


def test_a_small_budget_in_seconds_bounds_the_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """F2-14: 2**17 moves of Go 19x19 take 50 ms. Here 81 looks are needed, as above."""
    rules = ucd_envs.make_rules("tic_tac_toe")
    state = rules.initial_state()
    worker = Worker(uct(playouts=5)._settings, rules, 5)
    target = state.after(8).after(7)
    monkeypatch.setattr("ucd_planners.succession.LEAST_TRIED", 10)
    monkeypatch.setattr("ucd_planners.succession.TRIED_A_SECOND", 1000)
    for seconds, found in ((0.0, False), (0.0705, False), (0.0715, True), (1e9, True), (None, True)):
        assert follows(target, state, -1, worker.rules_kernels, worker.graph, seconds) == found
    planner = uct(seed=1, policies=LastGoodReply())
    heard = begins_anew(planner, monkeypatch)
    planner.search(state, playouts=10)
    planner._workers[0].chosen = -1
    planner.search(target, seconds=0.001)
    assert heard == [True, True]


def test_a_position_many_plies_on_begins_anew() -> None:
    """No search for a position has more than MOST_PLIES rows."""
    rules = ucd_envs.make_rules("leftright", steps=40)
    state = last = rules.initial_state()
    worker = Worker(uct(playouts=5)._settings, rules, 5)
    for _ in range(MOST_PLIES):
        state = state.after(0)
    assert follows(state, last, -1, worker.rules_kernels, worker.graph)
    assert not follows(state.after(0), last, -1, worker.rules_kernels, worker.graph)


class Steps(gymnasium.Env):
    """Seven bits, paid at the end by their share of ones."""

    def __init__(self) -> None:
        self.observation_space, self.action_space = Discrete(2), Discrete(2)
        self.bits = ""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.bits = ""
        return 0, {}

    def step(self, action: int) -> Any:
        self.bits += str(int(action))
        return 0, self.bits.count("1") / 7 if len(self.bits) == 7 else 0.0, len(self.bits) == 7, False, {}


@pytest.mark.parametrize("preset", [simple_way, lambda **options: uct(reuse_graph=True, **options)])
def test_a_third_party_game_goes_on_where_the_last_graph_has_the_position(
    preset: Callable[..., Planner], monkeypatch: pytest.MonkeyPatch
) -> None:
    """F2-13: and not where an earlier graph had it, of a position that the last root does not lead to."""
    env = Steps()
    env.reset()
    game, planner = SingleGame(env), preset(playouts=300, seed=1, policies=LastGoodReply())
    heard = begins_anew(planner, monkeypatch)
    for bits in ("", "1", "10", "111", "1110", "0000", "00001"):
        env.bits = bits
        planner.search(game)
    assert heard == [True, False, False, True, False, True, False]


def test_a_third_party_game_in_a_tree_without_keys_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing tells whether its position was met."""
    env = Steps()
    env.reset()
    game, planner = SingleGame(env), uct(playouts=300, seed=1, policies=LastGoodReply())
    heard = begins_anew(planner, monkeypatch)
    for bits in ("", "1", "10"):
        env.bits = bits
        planner.search(game)
    assert heard == [True] * 3


def test_a_reset_planner_has_learned_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    state = start("hex", size=4)
    planner = uct(playouts=50, seed=1, policies=LastGoodReply())
    heard = begins_anew(planner, monkeypatch)
    planner.search(state)
    planner.reset(1)
    planner.search(state.after(3))
    planner.search(state.after(3).after(4))
    assert heard == [True, True, False]


@pytest.mark.parametrize("game", ["pentago", "othello", "merrills", "quarto", "pawn_whopping"])
def test_a_kept_graph_serves_untried_moves_several_plies_and_positions_before(game: str) -> None:
    """B076: the root's moves are the legal ones, whatever came between, and other rules begin anew."""
    rules = ucd_envs.make_rules(game)
    planner = ucd(1, 0, 1, playouts=40, seed=2, reuse_graph=True)
    first = state = rules.initial_state()
    choice = random.Random(game)
    before: list[State] = []
    for plies in (1, 2, 3, 1, 5, 2, 1):
        before.append(state)
        for _ in range(plies):
            if not state.over:
                state = state.after(choice.choice(state.legal_actions()))
        for wanted in (state, choice.choice(before), first):
            if not wanted.over:
                found = planner.search(wanted)
                assert (found.state, found.actions.tolist()) == (wanted, wanted.legal_actions())
                assert found.visits.sum() >= 40
    other = ucd_envs.make_rules("connect_four").initial_state()
    assert planner.search(other).actions.tolist() == other.legal_actions()
