"""Our games in OpenSpiel: its own random tests, its searches and bots on them, and their states in lock-step with ours."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import mcts, minimax
from open_spiel.python.observation import make_observation

import ucd_envs
from ucd_envs import registry
from ucd_envs.foreign.exports import SOLITARY, UNBALANCED, WITH_DICE, game_of
from ucd_envs.kernels import CHANCE, OVER
from ucd_planners import uct
from ucd_planners.arena.contest import Match
from ucd_planners.arena.match import play_match

OWN = [name.rpartition("_v")[0] for name in registry.OWN_GAMES]
SMALL = {
    "twenty_forty_eight": "ucd_twenty_forty_eight(highest=64)",
    "pig": "ucd_pig(target=20)",
    "go": "ucd_go(size=5,komi=5.5)",
    "hex": "ucd_hex(rows=4,columns=5)",
    "leftright": "ucd_leftright(steps=20)",
    "havannah": "ucd_havannah(base=4)",
    "nogo": "ucd_nogo(size=5)",
    "breakthrough": "ucd_breakthrough(rows=6,columns=4)",
    "merrills": "ucd_merrills(tournament=true)",
}


@pytest.fixture(autouse=True, scope="module")
def registered() -> list[str]:
    return ucd_envs.openspiel.register()


def loaded(name: str) -> Any:
    return pyspiel.load_game(SMALL.get(name, f"ucd_{name}"))


def test_all_our_games_are_registered(registered: list[str]) -> None:
    assert registered == [f"ucd_{name}" for name in OWN]
    assert set(registered) <= set(pyspiel.registered_names())


@pytest.mark.parametrize("name", OWN)
def test_openspiels_own_test_passes(name: str) -> None:
    """Random games with copies, serialisation, masks, observations and information states."""
    pyspiel.random_sim_test(loaded(name), num_sims=2, serialize=True, verbose=False)


@pytest.mark.parametrize("name", registry.OWN_GAMES)
def test_facts_of_own_games_are_true(name: str) -> None:
    rules = registry.make_rules(name)
    assert (rules.players == 1, rules.has_chance) == (name in SOLITARY, name in WITH_DICE)
    sums = []
    for seed in range(5):
        state, choice = rules.initial_state(), random.Random(seed)
        while not state.over and state.ply < 1000:
            state = state.after(choice.choice(state.legal_actions()))
        sums += [sum(state.payoffs())] if state.over else []
    assert (set(sums) <= {1.0}) == (name not in SOLITARY | UNBALANCED) or not sums


@pytest.mark.parametrize("name", OWN)
def test_a_game_is_ours_move_by_move(name: str) -> None:
    """Movers, legal actions, outcomes, names, observations and returns."""
    theirs, rng = loaded(name).new_initial_state(), np.random.default_rng(1)
    state = theirs.position
    rules, (least, most) = state.rules, state.rules.rewards
    for _ in range(60):
        if state.player == OVER:
            break
        assert theirs.is_chance_node() == (state.player == CHANCE)
        assert theirs.legal_actions() == state.legal_actions()
        if state.player == CHANCE:
            assert sum(share for _, share in theirs.chance_outcomes()) == pytest.approx(1.0)
        else:
            assert theirs.current_player() == state.player
            seen = np.zeros(rules.planes, np.int8)
            rules.kernels.observe(rules.config, state.array(), state.player, seen.reshape(-1))
            shape = theirs.get_game().observation_tensor_shape()
            assert np.array_equal(np.reshape(theirs.observation_tensor(state.player), shape), seen.transpose(2, 0, 1))
        action = int(rng.choice(state.legal_actions()))
        assert theirs.action_to_string(theirs.current_player(), action) == state.action_name(action)
        theirs.apply_action(action)
        state = state.after(action)
        assert theirs.position == state
    if state.player == OVER:
        assert theirs.returns() == [least + (most - least) * payoff for payoff in state.payoffs()]


def test_a_copy_goes_its_own_way() -> None:
    state = loaded("tic_tac_toe").new_initial_state()
    state.apply_action(4)
    copy = state.clone()
    copy.apply_action(0)
    assert (state.history(), copy.history(), state.position.ply) == ([4], [4, 0], 1)


def test_settings_are_parameters() -> None:
    rules = pyspiel.load_game("ucd_go(size=7,komi=0.5,ko=positional)").new_initial_state().position.rules
    assert rules == registry.make_rules("go", size=7, komi=0.5, ko="positional")
    assert pyspiel.load_game("ucd_hex").new_initial_state().position.rules == registry.make_rules("hex")


def test_games_and_states_are_pickled() -> None:
    for game in (loaded("hex"), game_of(registry.make_rules("hex", size=3))):
        state = game.new_initial_state()
        state.apply_action(3)
        again = pickle.loads(pickle.dumps(state))
        assert (again.position, again.history(), str(pickle.loads(pickle.dumps(game)))) == (state.position, [3], str(game))


def test_an_observation_has_planes_first() -> None:
    observation = make_observation(loaded("hex"))
    state = loaded("hex").new_initial_state()
    observation.set_from(state, 0)
    assert observation.dict["observation"].shape == (3, 4, 5)


# The value of small games by OpenSpiel's alpha-beta.


def test_tic_tac_toe_is_a_draw_by_their_alpha_beta() -> None:
    assert minimax.alpha_beta_search(loaded("tic_tac_toe"))[0] == 0.0


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_first_player_of_hex_wins_by_their_alpha_beta(size: int) -> None:
    assert minimax.alpha_beta_search(pyspiel.load_game(f"ucd_hex(size={size})"))[0] == 1.0


def test_hex_without_a_winning_opening_is_lost_by_their_alpha_beta() -> None:
    """On 3x3 the corner a1 loses for the player that opens there, and the centre wins."""
    values = {}
    for name in ("a1", "b2"):
        state = pyspiel.load_game("ucd_hex(size=3)").new_initial_state()
        state.apply_action(state.position.action_named(name))
        values[name] = minimax.alpha_beta_search(state.get_game(), state, maximizing_player_id=0)[0]
    assert values == {"a1": -1.0, "b2": 1.0}


def test_a_game_that_goes_there_and_back_is_searched_alike() -> None:
    """The same seed, the same tree and the same numbers in our kernels and in OpenSpiel's states of our game."""
    results = [
        uct(playouts=200, seed=3).search(registry.make_rules(name).initial_state())
        for name in ("tic_tac_toe", "spiel:ucd_tic_tac_toe")
    ]
    assert len({(result.action, result.value, tuple(result.visits.tolist())) for result in results}) == 1
    assert ucd_envs.check(registry.make_rules("spiel:ucd_pig(target=10,max_plies=60)"), states=60, playouts=5).passed


def test_their_monte_carlo_search_finds_the_winning_move() -> None:
    """Three of four in a row stand, and the fourth wins."""
    game = loaded("connect_four")
    state = game.new_initial_state()
    for action in (0, 1, 0, 1, 0, 1):
        state.apply_action(action)
    random = np.random.RandomState(1)
    bot = mcts.MCTSBot(game, 2.0, 200, mcts.RandomRolloutEvaluator(1, random), random_state=random)
    assert bot.step(state) == 0


def test_their_monte_carlo_search_plays_games_with_dice() -> None:
    game, random = loaded("einstein"), np.random.RandomState(1)
    state = game.new_initial_state()
    bot = mcts.MCTSBot(game, 2.0, 10, mcts.RandomRolloutEvaluator(1, random), random_state=random)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[-1] if state.is_chance_node() else bot.step(state))
    assert sorted(state.returns()) == [-1.0, 1.0]


# Bots in our matches.


def searcher(game: Any, player: int, seed: int, simulations: int = 30) -> Any:
    """OpenSpiel's search as a bot."""
    random = np.random.RandomState(seed)
    return mcts.MCTSBot(game, 2.0, simulations, mcts.RandomRolloutEvaluator(1, random), random_state=random)


class Noting(pyspiel.Bot):
    """A bot that takes the first legal action and looks whether it was informed of all others."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[int] = []

    def inform_action(self, state: Any, player: int, action: int) -> None:
        assert state.current_player() == player
        self.heard.append(action)

    def step(self, state: Any) -> int:
        action = state.legal_actions()[0]
        assert self.heard == state.history()
        self.heard.append(action)
        return int(action)


def noting(game: Any, player: int) -> Any:
    return Noting()


def failing(game: Any, player: int) -> Any:
    raise ValueError("no bot today")


@pytest.mark.parametrize("game", ["hex", "spiel:tic_tac_toe", "pig", "spiel:pig(winscore=15)"])
def test_a_bot_hears_of_all_moves_of_others(game: str) -> None:
    settings = {"hex": {"size": 3}, "pig": {"target": 15}}.get(game, {})
    result = play_match(Match(game, "spiel_bot('test_spiel_exports:noting')", "random", settings, games=6))
    assert (len(result.games), result.failures) == (6, [])


@pytest.mark.parametrize("game", ["tic_tac_toe", "spiel:tic_tac_toe"])
def test_bots_play_by_the_seed_of_the_game(game: str) -> None:
    texts = "spiel_bot('test_spiel_exports:searcher(simulations=10)')", "spiel_bot('uniform_random')"
    played = [[each.moves for each in play_match(Match(game, *texts, games=8, seed=seed)).games] for seed in (1, 1, 2)]
    assert played[0] == played[1] != played[2]
    assert len(set(played[0])) > 4


def test_their_search_wins_against_random_moves() -> None:
    match = Match("tic_tac_toe", "spiel_bot('test_spiel_exports:searcher')", "random", games=20)
    assert play_match(match).score().mean > 0.8


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("spiel_bot('no_bot')", "OpenSpiel has no bot 'no_bot': expected one of fixed_action_preference, uniform_random"),
        ("spiel_bot('test_spiel_exports:failing')", r"test_spiel_exports:failing does not play hex_v0\(.*: no bot today"),
        ("spiel_bot('test_spiel_exports:searcher(level=3)')", "test_spiel_exports:searcher has no parameter 'level'"),
        ("spiel_bot('test_spiel_exports:OWN')", "test_spiel_exports:OWN is no function of a game and a player"),
    ],
)
def test_a_bot_that_cannot_play_is_refused_before_any_game(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}"):
        Match("hex", text, "random", {"size": 3})


# Names.


def tiny(size: int = 2) -> ucd_envs.Rules:
    """A game by reference."""
    return registry.make_rules("hex", size=size)


def test_a_game_by_reference_is_registered_under_its_name() -> None:
    assert ucd_envs.openspiel.register("test_spiel_exports:tiny") == ["ucd_tiny"]
    assert pyspiel.load_game("ucd_tiny(size=1)").num_distinct_actions() == 1


def even_pig() -> ucd_envs.Rules:
    """A game with dice under a name of its own."""
    return replace(registry.make_rules("pig", target=10), name="even_pig")


def mixed() -> ucd_envs.Rules:
    """A game whose payoffs do not sum to 1, under a name of its own."""
    return replace(registry.make_rules("crisscross", plies=9), name="mixed")


def test_whether_a_game_is_zero_sum_is_seen_in_random_games() -> None:
    ucd_envs.openspiel.register("test_spiel_exports:tiny", "test_spiel_exports:even_pig", "test_spiel_exports:mixed")
    kinds = {name: pyspiel.load_game(name).get_type() for name in ("ucd_tiny", "ucd_even_pig", "ucd_mixed")}
    assert [kind.utility.name for kind in kinds.values()] == ["ZERO_SUM", "ZERO_SUM", "GENERAL_SUM"]
    assert kinds["ucd_even_pig"].chance_mode.name == "EXPLICIT_STOCHASTIC"


def test_two_games_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^ucd_hex is hex_v0 in OpenSpiel already, and cannot be other:hex too$"):
        ucd_envs.openspiel.register("other:hex")


def test_an_unknown_game_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^unknown game 'chess'"):
        ucd_envs.openspiel.register("chess")


def test_a_wrong_setting_is_refused_by_our_sentence() -> None:
    with pytest.raises(ValueError, match=r"^size must be from 1 to 19, not 99$"):
        pyspiel.load_game("ucd_hex(size=99)")


def test_registering_compiles_nothing_and_a_program_ends_well() -> None:
    """OpenSpiel holds what makes the games until after the end of Python."""
    program = (
        "import sys, ucd_envs; assert 'pyspiel' not in sys.modules; ucd_envs.openspiel.register(); import pyspiel; "
        "from ucd_envs.registry import _made; assert not _made; pyspiel.load_game('ucd_tic_tac_toe').new_initial_state()"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
