"""Games of OpenSpiel: their states in lock-step with OpenSpiel's own, planners in them, matches by name, and refusals."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import pyspiel
import pytest

import ucd_envs
from ucd_envs import registry
from ucd_envs.foreign import SpielGame
from ucd_envs.foreign.openspiel import TOLD
from ucd_envs.kernels import CHANCE, OVER
from ucd_envs.pictures import text
from ucd_envs.rng import seeded
from ucd_envs.rules import State
from ucd_planners import Planner, ucd, uct
from ucd_planners.arena.contest import Match
from ucd_planners.arena.match import play_match
from ucd_planners.arena.store import Store, configuration
from ucd_planners.cli import main
from ucd_planners.playouts import MAST

GAMES = {
    "tic_tac_toe": 20,
    "connect_four": 10,
    "breakthrough(rows=5,columns=5)": 5,
    "backgammon(scoring_type=full_scoring)": 1,
    "pig(winscore=30)": 5,
    "2048(max_tile=32)": 2,
    "chess": 1,
    "misere(game=tic_tac_toe())": 3,
    "pig(players=3,winscore=20)": 2,
}
TINY_PIG = "pig(diceoutcomes=2,winscore=3,horizon=8)"


def rules_of(game: str, /, **settings: Any) -> ucd_envs.rules.Rules:
    """The rules of an OpenSpiel game."""
    return registry.make_rules(f"spiel:{game}", **settings)


def player_of(theirs: Any) -> int:
    """The player to move, in our numbers."""
    return {pyspiel.PlayerId.CHANCE: CHANCE, pyspiel.PlayerId.TERMINAL: OVER}.get(
        theirs.current_player(), int(theirs.current_player())
    )


def begun(game: str) -> State:
    """The first state in which a player is to move."""
    state, rng = rules_of(game).initial_state(), seeded(1)
    while state.player == CHANCE:
        state = state.after(state.outcome(rng))
    return state


@pytest.mark.parametrize("game", GAMES)
def test_random_games_are_those_of_openspiel(game: str) -> None:
    """Movers, legal actions, outcomes with probabilities, payoffs, names of moves, and the state of an adapter."""
    theirs = pyspiel.load_game(game)
    rules, choice = rules_of(game), random.Random(1)
    least, most = theirs.min_utility(), theirs.max_utility()
    for _ in range(GAMES[game]):
        state, other = rules.initial_state(), theirs.new_initial_state()
        while not other.is_terminal() and state.ply < 120:
            assert state.player == player_of(other)
            assert state.legal_actions() == other.legal_actions()
            if state.player == CHANCE:
                told = [rules.kernels.probability(rules.config, state.array(), action) for action, _ in other.chance_outcomes()]
                assert told == [share for _, share in other.chance_outcomes()]
            action = choice.choice(state.legal_actions())
            if state.player != CHANCE and state.ply < 20:
                assert state.action_named(state.action_name(action)) == action
            state = state.after(action)
            other.apply_action(action)
        assert SpielGame(other).clone_state() == state
        assert SpielGame(other).clone_state().data == state.data
        if other.is_terminal():
            assert state.over
            assert state.payoffs() == [min((paid - least) / (most - least), 1.0) for paid in other.returns()]


@pytest.mark.parametrize("game", ["tic_tac_toe", TINY_PIG, "2048(max_tile=16)"])
def test_the_identities_of_the_game_interface_hold(game: str) -> None:
    report = ucd_envs.check(rules_of(game), states=150, playouts=10)
    assert report.passed, str(report)


@pytest.mark.parametrize("game", sorted(TOLD))
def test_a_text_that_is_a_position_tells_all_of_it(game: str) -> None:
    """Two ways to one text at one ply have the same legal actions and the same game before them."""
    theirs, choice, seen = pyspiel.load_game(game), random.Random(1), {}
    for _ in range(15):
        state = theirs.new_initial_state()
        while not state.is_terminal() and state.move_number() < 60:
            known = seen.setdefault((state.move_number(), state.current_player(), str(state)), state.clone())
            line, pair = random.Random(choice.random()), (state.clone(), known.clone())
            while not pair[0].is_terminal() and line.random() < 0.8:
                assert pair[0].legal_actions() == pair[1].legal_actions()
                action = line.choice(pair[0].legal_actions())
                for each in pair:
                    each.apply_action(action)
            assert (str(pair[0]), pair[0].returns()) == (str(pair[1]), pair[1].returns())
            state.apply_action(choice.choice(state.legal_actions()[:2]))


def test_move_orders_to_one_text_are_one_position() -> None:
    first, other = (rules_of("tic_tac_toe").initial_state() for _ in range(2))
    for action, another in zip((0, 1, 2), (2, 1, 0), strict=True):
        first, other = first.after(action), other.after(another)
    assert first == other
    assert hash(first) == hash(other)
    apart = rules_of("tic_tac_toe", position="history").initial_state()
    assert apart.after(0).after(1).after(2) != apart.after(2).after(1).after(0)
    assert apart.after(0).after(1) == apart.after(0).after(1)


def test_move_orders_meet_in_a_graph_where_the_text_is_the_position() -> None:
    """A horizon or a count of turns, as in pig and backgammon, stands in no text: there the moves are the position."""
    graph = {game: ucd(playouts=500, seed=1).search(begun(game)).to_networkx() for game in ("connect_four", TINY_PIG)}
    assert max(dict(graph["connect_four"].in_degree()).values()) > 1
    assert max(dict(graph[TINY_PIG].in_degree()).values()) == 1


def test_a_position_may_be_a_function() -> None:
    state = rules_of("tic_tac_toe", position=count_of_moves).initial_state()
    assert state.after(0) == state.after(1)
    wrong = SpielGame(pyspiel.load_game("tic_tac_toe"), position=wrong_position)
    with pytest.raises(TypeError, match=r"^a position must be text or bytes, not int$"):
        ucd(playouts=10, seed=1).act(wrong)


def count_of_moves(state: Any) -> str:
    """A position that tells too little."""
    return str(state.move_number())


def wrong_position(state: Any) -> Any:
    """A position of a wrong type."""
    return state.move_number()


def values_of(game: str) -> list[float]:
    """The mover's expected payoff of each first move under best play, by expectimax over OpenSpiel's own states."""

    @cache
    def value(history: tuple[int, ...]) -> tuple[float, ...]:
        state = pyspiel.load_game(game).new_initial_state()
        for action in history:
            state.apply_action(action)
        if state.is_terminal():
            return tuple((paid + 1) / 2 for paid in state.returns())
        if state.is_chance_node():
            each = [(share, value((*history, action))) for action, share in state.chance_outcomes()]
            return tuple(sum(share * paid[player] for share, paid in each) for player in range(2))
        return max(
            (value((*history, action)) for action in state.legal_actions()), key=lambda paid: paid[state.current_player()]
        )

    return [value((action,))[0] for action in pyspiel.load_game(game).new_initial_state().legal_actions()]


@pytest.mark.parametrize("planner", [uct, ucd])
def test_values_are_those_of_expectimax(planner: Any) -> None:
    """Pig with a die of two faces: each value is met within a hundredth, though a planner also tries bad moves."""
    exact = values_of(TINY_PIG)
    result = planner(playouts=20_000, seed=1, final_move="visits").search(begun(TINY_PIG))
    assert result.action == int(np.argmax(exact))
    assert result.value == pytest.approx(max(exact), abs=0.02)


@pytest.mark.parametrize("make", [uct, ucd])
@pytest.mark.parametrize("game", ["tic_tac_toe", "backgammon", "pig"])
def test_planners_act_in_live_states_and_do_not_change_them(make: Any, game: str) -> None:
    """One adapter follows the game that is played outside."""
    state, choice, planner = pyspiel.load_game(game).new_initial_state(), random.Random(1), make(playouts=10, seed=1)
    adapter = SpielGame(state)
    for _ in range(6):
        if state.is_chance_node():
            state.apply_action(choice.choice(state.legal_actions()))
            continue
        before = state.history()
        action = planner.act(adapter)
        assert state.history() == before
        assert action in state.legal_actions()
        state.apply_action(action)


def test_a_win_in_one_is_found() -> None:
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    for action in (0, 3, 1, 4):
        state.apply_action(action)
    assert uct(playouts=200, seed=1).act(SpielGame(state)) == 2


@pytest.mark.parametrize("game", ["connect_four", TINY_PIG])
def test_a_search_repeats_with_its_seed_whatever_came_before(game: str) -> None:
    state = begun(game)
    first = uct(playouts=300, seed=5).search(state)
    again = uct(playouts=300, seed=5)
    again.search(state.after(state.legal_actions()[0]) if game == "connect_four" else state)
    again.reset(5)
    second = again.search(state)
    assert first.visits.tolist() == second.visits.tolist()
    assert first.value == second.value


def test_playouts_with_policies_go_through_the_same_positions() -> None:
    """A policy that is asked for half of the moves cuts playouts into pieces; every position is found again."""
    planner = uct(playouts=200, seed=1, policies=MAST(prob=0.5))
    planner.guard()
    assert planner.search(begun("connect_four")).playouts == 200
    assert planner.search(begun(TINY_PIG)).playouts == 200


def test_a_playout_is_longer_than_one_callback() -> None:
    """Backgammon takes several hundred plies; the moves of the trace lead to the state."""
    rules = rules_of("backgammon")
    state, trace = rules.initial_state().array(), np.zeros(rules.max_plies, np.int32)
    count = rules.kernels.playout(rules.config, state, seeded(3), trace)
    played = rules.initial_state()
    for move in trace[:count]:
        assert played.player == move >> 16
        played = played.after(int(move) & 0xFFFF)
    assert count > 128
    assert played.over
    assert played.data == state.tobytes()


def test_states_are_pickled_and_read_again_from_bytes() -> None:
    state = begun("backgammon").after(begun("backgammon").legal_actions()[0])
    again = pickle.loads(pickle.dumps(state))
    assert again == state
    assert State(state.rules, state.data) == state
    damaged = bytearray(state.data)
    damaged[-2 * -(-state.rules.max_plies // 4) * 4] ^= 1
    with pytest.raises(ValueError, match="its fields contradict each other"):
        State(state.rules, bytes(damaged))


def test_boards_are_drawn_by_openspiel() -> None:
    assert "..o\n.x.\n...\n" in text(rules_of("tic_tac_toe").initial_state().after(4).after(2))


def test_one_game_has_one_name() -> None:
    """However its parameters are written, where defaults are left out."""
    made = rules_of("pig(winscore=20)")
    assert made is rules_of("pig", winscore=20) is rules_of("pig(winscore=20,players=2)")
    assert str(made) == "spiel:pig(winscore=20)"
    assert str(rules_of("tic_tac_toe")) == "spiel:tic_tac_toe()"
    nested = rules_of("misere(game=pig(winscore=20,players=3))")
    assert nested is rules_of("misere", game="pig(players=3,winscore=20)")
    assert nested.players == 3


def test_matches_are_played_by_name_and_stored(tmp_path: Any) -> None:
    match = Match("spiel:pig(winscore=20)", "uct", "random", budget={"playouts": 30}, games=4)
    assert '"game":"spiel:pig"' in configuration(match)
    assert configuration(match) == configuration(Match("spiel:pig", "uct", "random", {"winscore": 20}, {"playouts": 30}, 4))
    with Store(tmp_path / "games.sqlite") as store:
        result = play_match(match, store=store)
        assert store.games(match) == result.games
    with ThreadPoolExecutor(2) as threads:
        assert play_match(match, executor=threads).games[0].moves == result.games[0].moves
    assert result.score().games == 4


def test_the_command_plays_matches_in_processes(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["match", "--game", "spiel:tic_tac_toe", "--a", "uct", "--b", "random", "--playouts", "50"]
    assert main([*words, "--games", "4", "--jobs", "2", "--json"]) == 0
    assert '"game": "spiel:tic_tac_toe()"' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("game", "reason"),
    [
        ("kuhn_poker", "kuhn_poker is a game of imperfect information"),
        ("leduc_poker", "leduc_poker is a game of imperfect information"),
        ("matrix_rps", "players of matrix_rps move simultaneously"),
        ("oshi_zumo", "players of oshi_zumo move simultaneously"),
        ("mfg_crowd_modelling", "mfg_crowd_modelling is a mean-field game"),
        ("stones_and_gems", "stones_and_gems draws its chance itself"),
        ("no_such_game", "OpenSpiel has no game 'no_such_game'"),
        ("pig(sides=3)", r"OpenSpiel cannot load 'pig\(sides=3\)': Unknown parameter 'sides'"),
        ("pig(winscore", "the game 'spiel:pig(winscore' does not parse"),
        ("pig(winscore)", "expected key=value, each key once, not 'winscore'"),
        ("pig(winscore=3,winscore=4)", "expected key=value, each key once, not 'winscore=4'"),
        ("", "OpenSpiel has no game ''"),
    ],
)
def test_what_cannot_be_searched_is_refused_by_name(game: str, reason: str) -> None:
    reason = reason if "\\" in reason else reason.replace("(", r"\(")
    with pytest.raises(ValueError, match=reason) as refused:
        rules_of(game)
    assert "\n" not in str(refused.value)


def test_what_is_no_game_of_openspiel_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^SpielGame needs a pyspiel.State or a pyspiel.Game, not int$"):
        SpielGame(1)
    with pytest.raises(ValueError, match="kuhn_poker is a game of imperfect information"):
        SpielGame(pyspiel.load_game("kuhn_poker"))
    with pytest.raises(TypeError, match=r"SpielGame\(env\) for OpenSpiel"):
        uct(playouts=1).act(pyspiel.load_game("tic_tac_toe").new_initial_state())
    with pytest.raises(ValueError, match="position must be one of history, text or a function, not 'board'"):
        rules_of("tic_tac_toe", position="board")
    with pytest.raises(ValueError, match="the move is left to chance"):
        uct(playouts=1).act(SpielGame(pyspiel.load_game("backgammon")))
    with pytest.raises(ValueError, match="workers=1"):
        Planner(uct().selection, playouts=10, workers=2).act(SpielGame(pyspiel.load_game("tic_tac_toe")))


def test_a_state_with_another_start_needs_its_text() -> None:
    fen = "7k/5Q2/6K1/8/8/8/8/8 w - - 0 1"
    state = pyspiel.load_game("chess").new_initial_state(fen)
    with pytest.raises(ValueError, match="do not lead to it from the first state: name the text of its start"):
        uct(playouts=10).act(SpielGame(state))
    assert state.action_to_string(uct(playouts=200, seed=1).act(SpielGame(state, start=fen))).startswith("Q")


class Coin(pyspiel.State):
    """A coin whose faces have the probabilities that the game's class says."""

    def __init__(self, game: Any) -> None:
        super().__init__(game)
        self.faces: list[int] = []

    def current_player(self) -> int:
        """One move, the coin, the end."""
        ends = (0, pyspiel.PlayerId.CHANCE, pyspiel.PlayerId.TERMINAL)
        return int(ends[len(self.faces)])

    def _legal_actions(self, player: int) -> list[int]:
        return [0, 1]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Both faces."""
        return list(enumerate(CoinGame.shares))

    def _apply_action(self, action: int) -> None:
        self.faces.append(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return str(action)

    def is_terminal(self) -> bool:
        """Whether the coin has fallen."""
        return len(self.faces) == 2

    def returns(self) -> list[float]:
        """What the coin pays."""
        return [float(self.is_terminal() and self.faces[0] == 0 and self.faces[1])]

    def __str__(self) -> str:
        return str(self.faces)


class CoinGame(pyspiel.Game):
    """One player and one coin."""

    shares, most = (0.25, 0.75), 1.0
    kind = pyspiel.GameType(
        short_name="python_coin_of_tests",
        long_name="Coin",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.PERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.GENERAL_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=1,
        min_num_players=1,
        provides_information_state_string=False,
        provides_information_state_tensor=False,
        provides_observation_string=False,
        provides_observation_tensor=False,
        parameter_specification={},
    )

    def __init__(self, params: Any = None) -> None:
        facts = pyspiel.GameInfo(2, 2, 1, 0.0, self.most, 0.0, 1)
        super().__init__(self.kind, facts, params or {})

    def new_initial_state(self) -> Any:
        """The coin in the hand."""
        return Coin(self)


pyspiel.register_game(CoinGame.kind, CoinGame)


def test_games_written_in_python_are_searched() -> None:
    result = uct(playouts=2000, seed=1).search(SpielGame(pyspiel.load_game("python_coin_of_tests")))
    assert result.action == 0
    assert result.value == pytest.approx(0.75, abs=0.05)


@pytest.mark.parametrize("shares", [(0.5, 0.4), (1.5, -0.5), (float("nan"), 0.5)])
def test_probabilities_that_are_none_are_refused(shares: tuple[float, float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CoinGame, "shares", shares)
    with pytest.raises(ValueError, match=r"^spiel:python_coin_of_tests\(\) lists outcomes with probabilities .* sum to 1$"):
        uct(playouts=20, seed=1).act(SpielGame(pyspiel.load_game("python_coin_of_tests")))
    with pytest.raises(ValueError, match=r"they must be above 0 and sum to 1$"):
        rules_of("python_coin_of_tests").initial_state().after(0)


@pytest.mark.parametrize("most", [0.0, float("inf"), float("nan")])
def test_utilities_without_bounds_are_refused(most: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CoinGame, "most", most)
    with pytest.raises(ValueError, match=f"utilities of python_coin_of_tests go from 0.0 to {most}: planners need"):
        rules_of("python_coin_of_tests", position="history")


def test_openspiel_is_imported_only_for_its_games() -> None:
    """And its absence is told in a sentence."""
    program = (
        "import sys; sys.modules['pyspiel'] = None\n"
        "import ucd_envs, ucd_planners\n"
        "try:\n    ucd_envs.make_rules('spiel:chess')\n"
        "except ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "games of OpenSpiel need it: pip install 'ucd-planners[openspiel]'"
