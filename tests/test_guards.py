"""User-defined kernels that break their contract end a search with one sentence, and memory stays whole (F2-04, F2-05).

Kernels of this file count as user-defined: the search checks them at work.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import hash_game
import numpy as np
import pytest
from hash_game import MOVES, STATE
from simulations import Policy

import ucd_envs
from ucd_envs import defaults
from ucd_envs.kernels import KEY, LEGAL_ACTIONS, PLAY, PLAYOUT, PLAYOUT_ACTION, READ_PAYOFFS, RESET, kernel, move_of
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields
from ucd_planners import Planner, rave, ucd, uct
from ucd_planners.playouts import MAST, GoInitial
from ucd_planners.search.interface import LEARN, SELECT, SUGGEST
from ucd_planners.search.sim import SETTLED
from ucd_planners.selection.rave import RAVE
from ucd_planners.selection.ucd import UCD

PLANNERS: dict[str, Callable[..., Planner]] = {"uct": uct, "ucd": partial(ucd, 1, 0, 1), "rave": rave}
every_planner = pytest.mark.parametrize("planner", PLANNERS.values(), ids=PLANNERS)
every_expand = pytest.mark.parametrize("expand", ["first", "all"])
GAME = hash_game.rules(seed=4, width=8, branching=5, plies=9)
HEX = ucd_envs.make_rules("hex", size=5)
SEES = 2
"""The ply at which faulty kernels break their contract."""


def with_kernels(**kernels: Any) -> Rules:
    """The random game with other kernels."""
    return replace(GAME, name="faulty_v0", kernels=GAME.kernels._replace(**kernels))


def sound() -> list[bytes]:
    """What searches with every selection find in sound games."""
    games = GAME.initial_state(), HEX.initial_state()
    return [make(playouts=300, seed=1).search(start).values.tobytes() for make in PLANNERS.values() for start in games]


@pytest.fixture(autouse=True)
def memory_stays_whole() -> Any:
    """After a search that failed, others find what they found before."""
    before = sound()
    yield
    assert sound() == before


def checking(unchecked: Any) -> Any:
    """The same kernel as users declare it, with checks of every index."""
    return kernel(unchecked.seam_signature)(unchecked.py_func)


def refusal(planner: Planner, start: State) -> str:
    """The one sentence with which a search ends."""
    with pytest.raises(RuntimeError) as caught:
        planner.search(start)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 400
    return text


def led_to(text: str) -> list[int]:
    """The actions from the root that a sentence names."""
    found = re.search(r"\((?:after the actions ([\d ]+) from the root|at the root)\)\Z", text)
    assert found, text
    return [int(action) for action in (found[1] or "").split()]


# Playout policies


@kernel(SUGGEST)
def suggest_24(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """The last cell of a board of 25, taken or not."""
    return np.int64(24)


@kernel(SUGGEST)
def suggest_a_million(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """No action of any game."""
    return np.int64(10**6)


@every_planner
@every_expand
@pytest.mark.parametrize(("suggest", "action"), [(suggest_24, 24), (suggest_a_million, 10**6)], ids=["24", "a million"])
def test_a_policy_that_suggests_an_illegal_action_is_named(
    planner: Callable[..., Planner], expand: str, suggest: Any, action: int
) -> None:
    """F2-04: on Hex 5x5, after the actions that the sentence names, where the suggestion is illegal."""
    start = HEX.initial_state()
    text = refusal(planner(playouts=500, seed=1, expand=expand, policies=Policy(suggest)), start)
    assert text.startswith("a playout policy suggests an action that cannot be played: one of Policy()")
    for played in led_to(text):
        start = start.after(played)
    assert action not in start.legal_actions()
    assert not start.over


@kernel(SUGGEST, checked=False)
def suggest_and_write(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """Writes behind its memory."""
    memory[memory.size + 100] = 1
    return np.int64(-1)


@kernel(LEARN, checked=False)
def learn_and_write(sim, memory):
    """Writes behind its memory."""
    memory[memory.size] = 1
    return np.bool_(True)


@every_planner
@every_expand
@pytest.mark.parametrize("policy", [Policy(suggest_and_write), Policy(learn=learn_and_write)], ids=["suggest", "learn"])
def test_a_policy_that_writes_behind_its_memory_is_named(planner: Callable[..., Planner], expand: str, policy: Policy) -> None:
    """F2-04: also as the second of two."""
    start = HEX.initial_state()
    for policies in (policy, (Policy(), policy)):
        text = refusal(planner(playouts=500, seed=1, expand=expand, policies=policies), start)
        assert text == "playout policy Policy() writes behind its memory"
    checked = Policy(checking(policy.suggest)) if policy.suggest is suggest_and_write else Policy(learn=checking(policy.learn))
    text = refusal(planner(playouts=500, seed=1, expand=expand, policies=(Policy(), checked)), start)
    assert re.fullmatch(r"a kernel of Policy\(\) uses an index outside of its array \(playout \d+\)", text)


# Games


@kernel(LEGAL_ACTIONS)
def no_actions(config, state, actions):
    """None from the third ply on, in a game that goes on."""
    return np.int64(0) if fields(state, STATE).ply >= SEES else hash_game.legal_actions(config, state, actions)


@kernel(LEGAL_ACTIONS)
def too_many_actions(config, state, actions):
    """Counts one more than there are."""
    hash_game.legal_actions(config, state, actions)
    return np.int64(MOVES + 1) if fields(state, STATE).ply >= SEES else hash_game.legal_actions(config, state, actions)


@kernel(LEGAL_ACTIONS)
def an_action_too_large(config, state, actions):
    """Lists the number of actions as one."""
    count = hash_game.legal_actions(config, state, actions)
    if fields(state, STATE).ply >= SEES:
        actions[count - 1] = MOVES
    return count


@kernel(LEGAL_ACTIONS)
def an_action_below_zero(config, state, actions):
    """Lists -1."""
    count = hash_game.legal_actions(config, state, actions)
    if fields(state, STATE).ply >= SEES:
        actions[0] = -1
    return count


@every_planner
@every_expand
@pytest.mark.parametrize(
    ("listing", "words"),
    [
        (no_actions, "faulty_v0(.*) goes on at a position without legal actions"),
        (too_many_actions, "legal_actions of faulty_v0(.*) counts more than 8 actions"),
        (an_action_too_large, "legal_actions of faulty_v0(.*) lists an action outside 0 to 7"),
        (an_action_below_zero, "legal_actions of faulty_v0(.*) lists an action outside 0 to 7"),
    ],
    ids=["none", "too many", "too large", "below zero"],
)
def test_a_wrong_list_of_legal_actions_is_named(planner: Callable[..., Planner], expand: str, listing: Any, words: str) -> None:
    """F2-04: two moves below the root."""
    rules = with_kernels(legal_actions=listing)
    text = refusal(planner(playouts=2000, seed=1, expand=expand), rules.initial_state())
    assert re.match(words, text)
    assert len(led_to(text)) == SEES


@kernel(LEGAL_ACTIONS, checked=False)
def a_list_too_long(config, state, actions):
    """Writes behind the list."""
    for i in range(MOVES + 9):
        actions[i] = 0
    return hash_game.legal_actions(config, state, actions)


@every_planner
def test_a_list_of_actions_that_is_too_long_is_found(planner: Callable[..., Planner]) -> None:
    """F2-04: whatever it counts."""
    text = refusal(planner(playouts=100, seed=1), with_kernels(legal_actions=a_list_too_long).initial_state())
    assert text == "a kernel writes more than 8 actions to a list"
    rules = with_kernels(legal_actions=checking(a_list_too_long))
    text = refusal(planner(playouts=100, seed=1), rules.initial_state())
    assert text == f"a kernel of {rules} uses an index outside of its array (playout 1)"


@kernel(PLAY)
def play_to_player_5(config, state, action):
    """Leaves the move to a player that there is not."""
    hash_game.play(config, state, action)
    s = fields(state, STATE)
    if s.ply == SEES and s.player >= 0:
        s.player = 5


@kernel(PLAY)
def play_to_player_minus_7(config, state, action):
    """Leaves the move to nobody."""
    hash_game.play(config, state, action)
    s = fields(state, STATE)
    if s.ply == SEES and s.player >= 0:
        s.player = -7


@every_planner
@every_expand
@pytest.mark.parametrize("policies", [(), (MAST(),)], ids=["plain", "policy"])
def test_a_mover_that_there_is_not_is_named(planner: Callable[..., Planner], expand: str, policies: Any) -> None:
    """F2-04: in a descent or in a playout, whose moves learn by their players."""
    rules = with_kernels(play=play_to_player_5)
    text = refusal(planner(playouts=2000, seed=1, expand=expand, policies=policies), rules.initial_state())
    assert re.match(
        r"play of faulty_v0(.*) leaves the move to player 5, but players are 0 to 1 \(after"
        r"|playout of faulty_v0(.*) writes a move to its trace that no player can make \(after",
        text,
    )
    assert led_to(text)


@every_planner
def test_a_mover_below_those_of_a_finished_game_is_named(planner: Callable[..., Planner]) -> None:
    """F2-04."""
    text = refusal(planner(playouts=2000, seed=1), with_kernels(play=play_to_player_minus_7).initial_state())
    assert "leaves the move to player -7, but players are 0 to 1 (after" in text
    assert len(led_to(text)) == SEES


@kernel(RESET)
def reset_to_player_5(config, state):
    """Begins with a player that there is not."""
    hash_game.reset(config, state)
    fields(state, STATE).player = 5


@every_planner
def test_a_mover_at_the_root_that_there_is_not_is_named(planner: Callable[..., Planner]) -> None:
    """F2-04."""
    text = refusal(planner(playouts=10, seed=1), with_kernels(reset=reset_to_player_5).initial_state())
    assert re.fullmatch(r"faulty_v0(.*) leaves the move to player 5, but players are 0 to 1 \(at the root\)", text)


@every_planner
@every_expand
@pytest.mark.parametrize("policies", [(), (Policy(),)], ids=["plain", "policy"])
def test_a_game_that_is_longer_than_it_says_is_named(planner: Callable[..., Planner], expand: str, policies: Any) -> None:
    """F2-04: nine plies, where it says three."""
    rules = replace(GAME, name="faulty_v0", max_plies=3)
    text = refusal(planner(playouts=2000, seed=1, expand=expand, policies=policies), rules.initial_state())
    assert re.match(r"faulty_v0(.*) (goes on after 3 plies, more than max_plies tells|.*goes on after 3 plies) \(after", text)
    assert led_to(text)


@kernel(PLAY, checked=False)
def play_and_write(config, state, action):
    """Writes behind the state."""
    hash_game.play(config, state, action)
    state[state.size + 8] = 1


@kernel(READ_PAYOFFS, checked=False)
def three_payoffs(config, state, out):
    """Writes one payoff more than there are players."""
    hash_game.payoffs(config, state, out)
    out[2] = 0.5


@every_planner
@pytest.mark.parametrize(
    ("kernels", "words"),
    [
        ({"play": play_and_write}, r"a kernel of faulty_v0(.*) writes behind its state of 16 bytes"),
        ({"payoffs": three_payoffs}, r"payoffs of faulty_v0(.*) writes more than 2 payoffs"),
    ],
    ids=["play", "payoffs"],
)
def test_a_kernel_that_writes_behind_its_memory_is_named(
    planner: Callable[..., Planner], kernels: dict[str, Any], words: str
) -> None:
    """F2-04."""
    text = refusal(planner(playouts=100, seed=1), with_kernels(**kernels).initial_state())
    assert re.fullmatch(words, text)
    rules = with_kernels(**{name: checking(unchecked) for name, unchecked in kernels.items()})
    text = refusal(planner(playouts=100, seed=1), rules.initial_state())
    assert text == f"a kernel of {rules} uses an index outside of its array (playout 1)"


@kernel(KEY, checked=False)
def a_long_key(config, state, words):
    """Writes one word more than there are."""
    hash_game.key(config, state, words)
    words[2] = 1


@kernel(KEY, checked=False)
def a_key_that_becomes_long(config, state, words):
    """The same below the root."""
    hash_game.key(config, state, words)
    if fields(state, STATE).ply > 0:
        words[2] = 1


@every_planner
def test_a_key_of_too_many_words_is_named(planner: Callable[..., Planner]) -> None:
    """F2-04: at the root, where each search takes it, and below, where those with a table or a kept graph do."""
    start = with_kernels(key=a_long_key).initial_state()
    assert re.fullmatch(r"key of faulty_v0(.*) writes more than 2 words", refusal(planner(playouts=10, seed=1), start))
    start = with_kernels(key=a_key_that_becomes_long).initial_state()
    text = refusal(planner(playouts=100, seed=1, reuse_graph=True), start)
    assert re.fullmatch(r"key of faulty_v0(.*) writes more than 2 words", text)
    for key in (a_long_key, a_key_that_becomes_long):
        rules = with_kernels(key=checking(key))
        text = refusal(planner(playouts=100, seed=1, reuse_graph=True), rules.initial_state())
        assert re.fullmatch(rf"a kernel of {re.escape(str(rules))} uses an index outside of its array \(playout \d+\)", text)


# Playouts of a game's own


@kernel(PLAYOUT)
def a_wrong_move(config, state, rng, trace):
    """Writes a move of a player that there is not."""
    count = defaults.playout(config, state, rng, trace)
    if count > 0 and trace.size > 0:
        trace[count - 1] = move_of(9, 0)
    return count


@kernel(PLAYOUT)
def a_wrong_action(config, state, rng, trace):
    """Writes a move that is no action."""
    count = defaults.playout(config, state, rng, trace)
    if count > 0 and trace.size > 0:
        trace[count - 1] = move_of(0, MOVES)
    return count


@pytest.mark.parametrize("playout", [a_wrong_move, a_wrong_action], ids=["player", "action"])
@pytest.mark.parametrize("policies", [(), (MAST(0.5),)], ids=["plain", "policy"])
def test_a_playout_that_traces_a_wrong_move_is_named(playout: Any, policies: Any) -> None:
    """F2-04: where moves are traced, as RAVE and policies need them."""
    text = refusal(rave(playouts=500, seed=1, policies=policies), with_kernels(playout=playout).initial_state())
    assert re.match(r"playout of faulty_v0(.*) writes a move to its trace that no player can make \(after", text)


@kernel(PLAYOUT)
def one_too_many(config, state, rng, trace):
    """Counts one move more."""
    return defaults.playout(config, state, rng, trace) + 1


@kernel(PLAYOUT)
def far_too_many(config, state, rng, trace):
    """Counts a thousand million."""
    defaults.playout(config, state, rng, trace)
    return 10**9


@kernel(PLAYOUT)
def below_zero(config, state, rng, trace):
    """Counts less than nothing."""
    defaults.playout(config, state, rng, trace)
    return -(10**9)


@kernel(PLAYOUT)
def nothing_played(config, state, rng, trace):
    """Plays nothing."""
    return 0


@every_planner
@pytest.mark.parametrize("policies", [(), (MAST(0.5),)], ids=["plain", "policy"])
@pytest.mark.parametrize("playout", [one_too_many, far_too_many, below_zero, nothing_played], ids=lambda found: found.__name__)
def test_a_playout_that_counts_wrong_is_named(planner: Callable[..., Planner], playout: Any, policies: Any) -> None:
    """F2-04: where nobody reads the moves, one too many is found in the longest game."""
    text = refusal(planner(playouts=500, seed=1, policies=policies), with_kernels(playout=playout).initial_state())
    assert re.match(
        r"playout of faulty_v0(.*) leaves the game unfinished or counts its moves wrong \(after"
        r"|faulty_v0(.*) goes on after 9 plies, more than max_plies tells \(after",
        text,
    )


@kernel(PLAYOUT_ACTION)
def draw_7(config, state, rng):
    """The same action always."""
    return np.int64(7)


@every_planner
def test_a_random_action_that_cannot_be_played_is_named(planner: Callable[..., Planner]) -> None:
    """F2-04: where the positions of a playout enter the graph."""
    start = with_kernels(playout_action=draw_7).initial_state()
    text = refusal(planner(playouts=500, seed=1, expand="all"), start)
    assert re.match(r"playout_action of faulty_v0(.*) draws an action that cannot be played \(after", text)


@kernel(PLAYOUT_ACTION)
def draw_none(config, state, rng):
    """No action."""
    return np.int64(-1)


@every_planner
@every_expand
def test_a_random_policy_without_an_action_is_named(planner: Callable[..., Planner], expand: str) -> None:
    """F2-04: the default playout stops there."""
    start = with_kernels(playout_action=draw_none, playout=None).initial_state()
    text = refusal(planner(playouts=500, seed=1, expand=expand), start)
    assert re.match(r"faulty_v0(.*) fails: its random policy|playout_action of faulty_v0(.*) draws an action that cannot", text)


# Selections


@kernel(SELECT)
def select_far(graph, sim, node, may_add):
    """A place that no list has."""
    return np.int64(10**6)


@kernel(SELECT)
def select_nothing(graph, sim, node, may_add):
    """Nothing, where there is something."""
    return np.int64(-1)


@kernel(SELECT)
def select_first(graph, sim, node, may_add):
    """The first place, where it may and where it may not be tried."""
    return np.int64(0)


@kernel(SELECT)
def select_settled(graph, sim, node, may_add):
    """The end of the simulation, at the root too."""
    return np.int64(SETTLED)


@dataclass(frozen=True)
class OwnChoice(UCD):
    """UCD with another choice."""

    choice: Any = None

    @property
    def select_kernel(self) -> Any:
        """The choice."""
        return self.choice

    def __str__(self) -> str:
        return "OwnChoice()"


@dataclass(frozen=True)
class OwnRaveChoice(RAVE):
    """RAVE with another choice."""

    choice: Any = None

    @property
    def select_kernel(self) -> Any:
        """The choice."""
        return self.choice

    def __str__(self) -> str:
        return "OwnChoice()"


OWN = {
    "uct": lambda choice: OwnChoice(table=False, choice=choice),
    "ucd": lambda choice: OwnChoice(1, 0, 1, choice=choice),
    "rave": lambda choice: OwnRaveChoice(choice=choice),
}
every_own_choice = pytest.mark.parametrize("make", OWN.values(), ids=OWN)


@every_own_choice
@every_expand
@pytest.mark.parametrize("choice", [select_far, select_nothing, select_settled], ids=["far", "nothing", "settled"])
def test_a_choice_that_is_not_there_is_named(make: Callable[[Any], Any], expand: str, choice: Any) -> None:
    """F2-04."""
    text = refusal(Planner(make(choice), playouts=500, seed=1, expand=expand), GAME.initial_state())
    assert text == "select of OwnChoice() chooses an action that is not there (at the root)"


@every_own_choice
def test_an_untried_action_beyond_the_limit_is_named(make: Callable[[Any], Any]) -> None:
    """F2-04: in a graph of two nodes the first place of the second is untried and may not be chosen."""
    text = refusal(Planner(make(select_first), playouts=500, seed=1, max_nodes=2), GAME.initial_state())
    assert text.startswith("select of OwnChoice() chooses an action that is not there (after the actions ")
    assert len(led_to(text)) == 1


@dataclass(frozen=True)
class Serving(OwnChoice):
    """A selection that says that its choice serves both options."""

    serves_urgency, serves_initial = True, True


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"first_play_urgency": 0.5}, "OwnChoice() does not serve first_play_urgency: one whose own choice does declares "),
        ({"initial": GoInitial()}, "OwnChoice() does not serve initial: one whose own choice does declares "),
    ],
    ids=["urgency", "initial"],
)
def test_an_option_that_a_selection_does_not_serve_is_refused(options: dict[str, Any], words: str) -> None:
    """F2-05: unless it declares that it does, as RAVE does."""
    with pytest.raises(ValueError, match=rf"\A{re.escape(words)}serves_(urgency|initial) = True\Z"):
        Planner(OwnChoice(choice=select_first), playouts=10, **options)
    assert Planner(Serving(choice=select_first), playouts=10, **options).selection.choice is select_first
    assert rave(playouts=10, **options).selection == RAVE()
    assert Planner(OwnChoice(choice=select_first), playouts=10, first_play_urgency=np.inf).initial is None


def test_the_loop_serves_an_urgency_where_the_choice_is_the_default() -> None:
    """F2-05: a selection with a backup alone is served: with an urgency of 0 one action has all playouts."""
    start = hash_game.listed({"root": (0, [0.5] * 4)}).initial_state()
    result = Planner(OwnChoice(c=0.0), playouts=50, seed=1, first_play_urgency=0.0).search(start)
    assert sorted(result.visits.tolist()) == [0, 0, 0, 50]
