"""A check finds every identity of the game interface that a game breaks, says so in a sentence, and is not harmed by it."""

from __future__ import annotations

import dataclasses
from typing import Any

import hash_game
import numpy as np
import pytest

import ucd_envs
from ucd_envs.games import tic_tac_toe
from ucd_envs.games.tic_tac_toe import STATE
from ucd_envs.kernels import (
    CHANCE,
    IS_LEGAL,
    KEY,
    LEGAL_ACTIONS,
    OBSERVE,
    PLAY,
    PLAYOUT,
    PLAYOUT_ACTION,
    READ_PAYOFFS,
    RESET,
    kernel,
    move_of,
)
from ucd_envs.structs import fields

GOOD = tic_tac_toe.rules()


@kernel(LEGAL_ACTIONS)
def counts_too_many(config, state, actions):
    """A count above the number of actions."""
    return np.int64(10)


@kernel(LEGAL_ACTIONS)
def counts_below_nothing(config, state, actions):
    """A negative count."""
    return np.int64(-1)


@kernel(LEGAL_ACTIONS)
def lists_backwards(config, state, actions):
    """The empty cells, the last one first."""
    count = tic_tac_toe.legal_actions(config, state, actions)
    for i in range(count // 2):
        actions[i], actions[count - 1 - i] = actions[count - 1 - i], actions[i]
    return count


@kernel(LEGAL_ACTIONS)
def lists_a_cell_beside_the_board(config, state, actions):
    """A last action that is none, and a write behind the array where all cells are listed."""
    count = tic_tac_toe.legal_actions(config, state, actions)
    if count > 0:
        actions[count - 1] = 9
    return count


@kernel(LEGAL_ACTIONS, checked=False)
def writes_far(config, state, actions):
    """A write sixty entries behind the array."""
    actions[60] = 1
    return tic_tac_toe.legal_actions(config, state, actions)


@kernel(LEGAL_ACTIONS)
def writes_behind_the_list(config, state, actions):
    """A write one entry behind the array, by a kernel whose indexes are checked."""
    actions[actions.size] = 1
    return tic_tac_toe.legal_actions(config, state, actions)


@kernel(LEGAL_ACTIONS)
def lists_nothing_in_mid_game(config, state, actions):
    """No moves after the third."""
    return 0 if fields(state, STATE).ply == 3 else tic_tac_toe.legal_actions(config, state, actions)


@kernel(LEGAL_ACTIONS)
def lists_after_the_end(config, state, actions):
    """A move of a finished game."""
    actions[0] = 0
    return 1 if fields(state, STATE).player < 0 else tic_tac_toe.legal_actions(config, state, actions)


@kernel(LEGAL_ACTIONS)
def plays_while_it_lists(config, state, actions):
    """A change of the state."""
    fields(state, STATE).winner = 1
    return tic_tac_toe.legal_actions(config, state, actions)


@kernel(PLAY)
def keeps_the_ply(config, state, action):
    """A move without a ply."""
    tic_tac_toe.play(config, state, action)
    fields(state, STATE).ply -= 1


@kernel(PLAY)
def names_a_third_player(config, state, action):
    """Player 2 to move."""
    tic_tac_toe.play(config, state, action)
    fields(state, STATE).player = 2


@kernel(PLAY)
def throws_dice(config, state, action):
    """Chance to move."""
    tic_tac_toe.play(config, state, action)
    fields(state, STATE).player = CHANCE


@kernel(PLAY)
def paints_the_board(config, state, action):
    """A change of what never changes."""
    tic_tac_toe.play(config, state, action)
    config[0] = 7


@kernel(READ_PAYOFFS)
def pays_minus_one(config, state, out):
    """Payoffs between -1 and 1."""
    tic_tac_toe.payoffs(config, state, out)
    for player in range(2):
        out[player] = 2 * out[player] - 1


@kernel(READ_PAYOFFS)
def pays_one_player(config, state, out):
    """Nothing for player 1."""
    out[0] = 0.5


@kernel(KEY)
def forgets_the_cells(config, state, words):
    """The ply for a key."""
    words[0] = np.uint64(fields(state, STATE).ply)


@kernel(KEY)
def adds_to_what_is_there(config, state, words):
    """A key that depends on the word before."""
    words[0] = words[0] + np.uint64(1)


@kernel(RESET)
def resets_the_header_only(config, state):
    """Cells as they were."""
    s = fields(state, STATE)
    s.player = 0
    s.ply = 0


@kernel(IS_LEGAL)
def allows_every_cell(config, state, action):
    """Taken ones too."""
    return 0 <= action < 9


@kernel(IS_LEGAL)
def allows_any_number(config, state, action):
    """A cell beside the board."""
    return action >= 9 or tic_tac_toe.is_legal(config, state, action)


@kernel(PLAYOUT)
def plays_the_first_cell(config, state, rng, trace):
    """The first cell, even when it is taken."""
    if trace.size > 0:
        trace[0] = move_of(fields(state, STATE).player, 0)
        tic_tac_toe.play(config, state, np.int64(0))
        return np.int64(1)
    return tic_tac_toe.playout(config, state, rng, trace)


@kernel(PLAYOUT, checked=False)
def writes_one_move_too_many(config, state, rng, trace):
    """A move behind the trace."""
    count = tic_tac_toe.playout(config, state, rng, trace)
    trace[count] = 0
    return count


@kernel(PLAYOUT)
def stops_early(config, state, rng, trace):
    """One move, then nothing."""
    return tic_tac_toe.playout(config, state, rng, trace[:1])


@kernel(PLAYOUT)
def counts_one_more(config, state, rng, trace):
    """A count beyond the trace."""
    return tic_tac_toe.playout(config, state, rng, trace) + 10


@kernel(PLAYOUT)
def leaves_the_start(config, state, rng, trace):
    """A state with another winner than that of its moves."""
    count = tic_tac_toe.playout(config, state, rng, trace)
    fields(state, STATE).winner = 0
    return count


@kernel(PLAYOUT_ACTION)
def draws_nothing(config, state, rng):
    """No action."""
    return np.int64(-1)


@kernel(OBSERVE)
def sees_twos(config, state, player, planes):
    """Owners instead of zeros and ones."""
    for i in range(planes.size):
        planes[i] = 2


FAULTY: tuple[tuple[str, Any, str], ...] = (
    ("legal_actions", counts_too_many, "legal_actions returns a count of 10, but there are 9 actions, at the start."),
    ("legal_actions", counts_below_nothing, "legal_actions returns a count of -1, but there are 9 actions, at the start."),
    ("legal_actions", lists_backwards, "legal_actions lists action 7 behind 8, but the list must ascend, at the start."),
    ("legal_actions", lists_a_cell_beside_the_board, "legal_actions lists action 9, but actions are 0 to 8, at the start."),
    ("legal_actions", writes_far, "legal_actions writes outside its arrays, at the start."),
    ("legal_actions", writes_behind_the_list, "legal_actions raises IndexError: index is out of bounds, at the start."),
    ("legal_actions", lists_nothing_in_mid_game, "legal_actions lists nothing, though player 1 is to move, after "),
    ("legal_actions", lists_after_the_end, "legal_actions lists action 0, though the game is over, after "),
    ("legal_actions", plays_while_it_lists, "legal_actions changes the state, at the start."),
    ("play", keeps_the_ply, "play leads from ply 0 to ply 0 instead of 1, after "),
    ("play", names_a_third_player, "play names the player 2, but there are 2 players, after "),
    ("play", throws_dice, "play names the player CHANCE, but the game has neither draw nor probability, after "),
    ("play", paints_the_board, "play changes config, "),
    ("payoffs", pays_minus_one, "payoffs gives player "),
    ("payoffs", pays_one_player, "payoffs leaves a part of its result unwritten, or gives another result each time, after "),
    ("key", forgets_the_cells, "key is the same as after "),
    (
        "key",
        adds_to_what_is_there,
        "key leaves a part of its result unwritten, or gives another result each time, at the start.",
    ),
    ("reset", resets_the_header_only, "reset leaves a part of the state as it was before, at the start."),
    ("is_legal", allows_every_cell, "is_legal allows action "),
    ("is_legal", allows_any_number, "is_legal allows action 9, but legal_actions does not, at the start."),
    ("playout", plays_the_first_cell, "playout plays action 0 of player "),
    ("playout", writes_one_move_too_many, "playout writes outside a trace of "),
    ("playout", stops_early, "playout stops after 1 moves, though the game goes on, after "),
    ("playout", counts_one_more, "playout returns a count of "),
    ("playout", leaves_the_start, "playout leaves another state than its moves lead to, after "),
    ("playout_action", draws_nothing, "playout_action returns -1, which playout_actions does not list, at the start."),
    ("observe", sees_twos, "observe writes 2 for player 0, but observations are 0 or 1, at the start."),
)


@pytest.mark.parametrize(("place", "function", "sentence"), FAULTY, ids=[row[1].__name__ for row in FAULTY])
def test_a_faulty_kernel_is_named_with_the_state(place: str, function: Any, sentence: str) -> None:
    """F2-04: wrong counts, illegal playouts and writes outside arrays end in one sentence, and memory stays whole."""
    rules = dataclasses.replace(GOOD, kernels=GOOD.kernels._replace(**{place: function}))
    report = ucd_envs.check(rules)
    assert not report.passed
    assert any(fault.startswith(sentence) and fault.endswith(".") and "\n" not in fault for fault in report.faults), report


def test_a_longest_game_that_is_told_too_short_is_found() -> None:
    """F2-04: nine plies are possible where five are told."""
    report = ucd_envs.check(dataclasses.replace(GOOD, max_plies=5))
    assert len(report.faults) == 1
    assert report.faults[0].startswith("play goes on at ply 5, but max_plies is 5, after ")


def test_a_fault_tells_the_moves_that_lead_to_it() -> None:
    """Played again, they lead to the state of which the sentence speaks."""
    rules = dataclasses.replace(GOOD, kernels=GOOD.kernels._replace(legal_actions=lists_nothing_in_mid_game))
    state = GOOD.initial_state()
    for name in ucd_envs.check(rules).faults[0].rstrip(".").partition(", after ")[2].split():
        state = state.after(state.action_named(name))
    assert (state.ply, state.player) == (3, 1)


@pytest.mark.parametrize("wrong", ["a", None, 7])
def test_names_that_are_not_read_back_are_found(wrong: Any) -> None:
    rules = dataclasses.replace(GOOD, action_name=lambda state, action: wrong)
    (fault,) = ucd_envs.check(rules).faults
    assert fault.startswith("action_name ")


def test_a_game_of_three_players_without_faults_passes() -> None:
    """The report says how much was looked at."""
    report = ucd_envs.check(hash_game.rules(seed=3, players=3), states=200, playouts=20)
    assert report.passed
    assert report.faults == ()
    assert report.states >= 200
    assert str(report).endswith(f": {report.states} states and 20 playouts, no fault")


def test_symmetries_that_are_none_of_the_game_are_found() -> None:
    rules = ucd_envs.make_rules("connect_four", rows=4, columns=4)
    assert rules.symmetries is not None
    wrong = rules.symmetries._replace(actions=rules.symmetries.actions[:, ::-1])
    report = ucd_envs.check(dataclasses.replace(rules, symmetries=wrong), states=50, playouts=5)
    (fault,) = report.faults
    assert fault.startswith("symmetry 1 of connect_four_v0(")
    assert fault.endswith(" moves.")
    assert ucd_envs.check(rules, states=50, playouts=5).passed


def test_a_report_lists_its_faults() -> None:
    rules = dataclasses.replace(GOOD, kernels=GOOD.kernels._replace(observe=sees_twos, is_legal=allows_any_number))
    report = ucd_envs.check(rules)
    assert len(report.faults) == 2
    assert str(report).splitlines()[1:] == list(report.faults)


def test_two_checks_with_one_seed_say_the_same() -> None:
    rules = dataclasses.replace(GOOD, kernels=GOOD.kernels._replace(key=forgets_the_cells))
    assert ucd_envs.check(rules, seed=4) == ucd_envs.check(rules, seed=4)


def test_something_else_than_rules_is_refused() -> None:
    with pytest.raises(TypeError, match=r"\Aexpected Rules, such as make_rules returns, not str\Z"):
        ucd_envs.check("hex")  # type: ignore[arg-type]
