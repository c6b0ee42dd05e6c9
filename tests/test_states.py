"""A State whose bytes come from outside is checked, and whatever is accepted does no harm."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import state_bytes

import ucd_envs
from ucd_envs import registry
from ucd_envs.envs.aec import BoardEnv
from ucd_envs.games import go, havannah
from ucd_envs.games import hex as hexes
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields
from ucd_planners import ucd

TESTS = Path(__file__).parent
HEX = {"size": 5, "swap": True}


def hex_rules(**settings: Any) -> Rules:
    return registry.make_rules("hex", **(HEX | settings))


def header(player: int, ply: int, state: State) -> bytes:
    """The bytes of a state with another header."""
    return np.array([player, ply], np.int32).tobytes() + state.data[8:]


@pytest.mark.parametrize("name", registry.OWN_GAMES)
def test_bytes_of_another_length_are_refused(name: str) -> None:
    """F2-60: also none, and a whole state with one byte more."""
    state = registry.make_rules(name).initial_state()
    for data in (b"", state.data[:-1], state.data + b"\0", 2 * state.data):
        with pytest.raises(ValueError, match=rf"a state of .* has {len(state.data)} bytes, not {len(data)}"):
            State(state.rules, data)


@pytest.mark.parametrize("name", [*registry.OWN_GAMES, "write_a_game:rules"])
def test_a_mover_or_ply_out_of_range_is_refused(name: str) -> None:
    """F2-60: also where the game has nothing to say about its states; at the last ply the game must be over."""
    state = registry.make_rules(name).initial_state()
    players, most = state.rules.players, state.rules.max_plies
    for player in (players, 7, -2, -3, 2**31 - 1):
        with pytest.raises(ValueError, match=rf"the player to move is 0 to {players - 1}, or -1 at the end, not {player}"):
            State(state.rules, header(player, 0, state))
    for player, ply, last in ((0, -1, most - 1), (0, most, most - 1), (-1, most + 1, most)):
        with pytest.raises(ValueError, match=rf"the ply is 0 to {last}, not {ply}"):
            State(state.rules, header(player, ply, state))


def test_only_bytes_and_rules_make_a_state() -> None:
    """F2-60: what could be changed later is not taken."""
    rules = hex_rules()
    for data in (bytearray(rules.state_bytes), rules.initial_state().array(), "x" * rules.state_bytes, None):
        with pytest.raises(TypeError, match="a state is made of bytes, not of "):
            State(rules, data)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected Rules, such as make_rules returns, not str"):
        State("hex", rules.initial_state().data)  # type: ignore[arg-type]


def changed(state: State, layout: Any, name: str, place: Any, value: Any) -> bytes:
    """The bytes of a state with one entry of a field changed."""
    array = state.array()
    entry = fields(array, layout)
    if place is None:
        entry[name] = value
    else:
        entry[name][place] = value
    return array.tobytes()


def middle(name: str, moves: str, **settings: Any) -> State:
    """The state after moves."""
    state = registry.make_rules(name, **settings).initial_state()
    for move in moves.split():
        state = state.after(state.action_named(move))
    return state


FAULTS = [
    ("hex", "b2 c3 d4", {}, "winner", None, 0),
    ("hex", "b2 c3 d4", {}, "empty", 1, 0),
    ("hex", "b2 c3 d4", {}, "stones", (0, 1), 6),
    ("hex", "b2 c3 d4", {}, "stones", (1, 18), 1),
    ("hex", "a1 c3 d4", {}, "joined", (0, 0), 0),
    ("hex", "b2 c3 d4", {}, "ply", None, 4),
    ("hex", "b2 c3 d4", {}, "player", None, -1),
    ("havannah", "a1 c3 b2", {}, "vacant", None, 60),
    ("havannah", "a1 c3 b2", {}, "last", None, 500),
    ("havannah", "a1 c3 b2", {}, "last", None, 20),
    ("havannah", "a1 c3 b2", {}, "kinds", None, 1),
    ("havannah", "a1 c3 b2", {}, "winner", None, 1),
    ("havannah", "a1 c3 b2", {}, "stones", (0, 0), 1),
    ("havannah", "a1 c3 b2", {}, "stones", (1, 1), 2),
    ("go", "C3 D4 C4", {"size": 5}, "chain", 63, 9999),
    ("go", "C3 D4 C4", {"size": 5}, "next", 63, 63),
    ("go", "C3 D4 C4", {"size": 5}, "next", 63, 9999),
    ("go", "C3 D4 C4", {"size": 5}, "liberties", 63, 0),
    ("go", "C3 D4 C4", {"size": 5}, "liberties", 63, 6),
    ("go", "C3 D4 C4", {"size": 5}, "length", 63, 3),
    ("go", "A1 C3 E5", {"size": 5}, "chain", 105, 21),
    ("go", "C3 D4 C4", {"size": 5}, "colour", 63, 0),
    ("go", "C3 D4 C4", {"size": 5}, "colour", 0, 1),
    ("go", "C3 D4 C4", {"size": 5}, "around", 62, 0),
    ("go", "C3 D4 C4", {"size": 5}, "place", 21, 20),
    ("go", "C3 D4 C4", {"size": 5}, "empty", 0, 9999),
    ("go", "C3 D4 C4", {"size": 5}, "empty", 0, 63),
    ("go", "C3 D4 C4", {"size": 5}, "vacant", None, 10**6),
    ("go", "C3 D4 C4", {"size": 5}, "vacant", None, 21),
    ("go", "C3 D4 C4", {"size": 5}, "lead", None, 0),
    ("go", "C3 D4 C4", {"size": 5}, "area", None, 1),
    ("go", "C3 D4 C4", {"size": 5}, "passes", None, 2),
    ("go", "C3 D4 C4", {"size": 5}, "passes", None, -1),
    ("go", "C3 D4 C4", {"size": 5}, "ko", None, 21),
    ("go", "C3 D4 C4", {"size": 5}, "ko", None, 10**6),
    ("go", "pass pass", {"size": 5}, "area", None, 1),
    ("go", "C3 D4", {"size": 5, "ko": "positional"}, "boards", None, 2**40),
    ("go", "C3 D4", {"size": 5, "ko": "positional"}, "boards", None, 0),
    ("go", "C3 D4", {"size": 5, "ko": "situational"}, "boards", None, 2),
    ("go", "C3 D4", {"size": 5, "ko": "positional"}, "hash", None, 1),
    ("go", "C3 D4", {"size": 5, "ko": "positional"}, "digest", None, 1),
    ("connect_four", "4 4 5", {}, "winner", None, 0),
    ("connect_four", "4 4 5", {}, "player", None, 0),
    ("connect_four", "4 4 5", {}, "stones", 0, 1 << 6),
    ("connect_four", "4 4 5", {}, "stones", 0, 1 << 22 | 1 << 28),
    ("connect_four", "4 4 5", {}, "ply", None, 5),
    ("tic_tac_toe", "a1 b2 c3", {}, "cells", 0, 3),
    ("tic_tac_toe", "a1 b2 c3", {}, "cells", 0, -1),
    ("tic_tac_toe", "a1 b2 c3", {}, "cells", 1, 1),
    ("tic_tac_toe", "a1 b2 c3", {}, "player", None, 0),
    ("tic_tac_toe", "a1 b2 c3", {}, "winner", None, 1),
    ("leftright", "left right left", {"steps": 5}, "lefts", None, 4),
    ("leftright", "left right left", {"steps": 5}, "lefts", None, -1),
    ("leftright", "left right left", {"steps": 5}, "player", None, -1),
    ("breakthrough", "b1c2 d5d4", {"rows": 5, "columns": 4}, "player", None, 1),
    ("breakthrough", "b1c2 d5d4", {"rows": 5, "columns": 4}, "player", None, -1),
    ("breakthrough", "b1c2 d5d4", {"rows": 5, "columns": 4}, "ply", None, 4),
    ("breakthrough", "b1c2 d5d4", {"rows": 5, "columns": 4}, "ply", None, 0),
    ("breakthrough", "b1c2 d5d4", {"rows": 5, "columns": 4}, "pieces", 0, 0b01001101 | 1 << 20),
    ("breakthrough", "b1c2 d5d4", {"rows": 5, "columns": 4}, "pieces", 0, 0b01001111),
    ("breakthrough", "b1c2 d5d4", {"rows": 5, "columns": 4}, "pieces", 0, 0b01001101 | 1 << 16),
    ("breakthrough", "b1c2 d5d4", {"rows": 5, "columns": 4}, "pieces", 0, 0),
    ("breakthrough", "b1c2 d5d4", {"rows": 5, "columns": 4}, "pieces", 1, 0),
    ("breakthrough", "b1c2 d5d4", {"rows": 5, "columns": 4}, "pieces", 0, 0b010010001100),
    ("knightthrough", "b1c3 d5c3", {"rows": 5, "columns": 4}, "pieces", 0, 0),
    ("knightthrough", "b1c3 d5c3", {"rows": 5, "columns": 4, "elimination": False}, "pieces", 1, 0),
    ("knightthrough", "b1c3 d5c3", {"rows": 5, "columns": 4}, "pieces", 0, 0b1111),
    ("knightthrough", "b1c3 d5c3", {"rows": 5, "columns": 4}, "ply", None, 6),
    ("pawn_whopping", "b2b4 c5b4", {"rows": 6, "columns": 3}, "pieces", 0, 0b1000000101000),
    ("pawn_whopping", "b2b4 c5b4", {"rows": 6, "columns": 3}, "pieces", 0, 0b101000 | 1 << 15),
    ("pawn_whopping", "b2b4 c5b4", {"rows": 6, "columns": 3}, "ply", None, 20),
    ("pawn_whopping", "b2b4 c5b4", {"rows": 6, "columns": 3}, "player", None, -1),
    ("merrills", "+On +Is +One", {}, "men", 0, 0b111),
    ("merrills", "+On +Is +One", {}, "men", 0, 1 << 16 | 0b10),
    ("merrills", "+On +Is +One", {}, "men", 0, 1 << 24 | 0b10),
    ("merrills", "+On +Is +One", {}, "hands", 0, 6),
    ("merrills", "+On +Is +One", {}, "hands", 1, -1),
    ("merrills", "+On +Is +One", {}, "turn", None, 0),
    ("merrills", "+On +Is +One", {}, "turn", None, 2),
    ("merrills", "+On +Is +One", {}, "removing", None, 1),
    ("merrills", "+On +Is +One", {}, "player", None, -1),
    ("merrills", "+On +Is +One", {}, "ply", None, 2),
    ("merrills", "+On +Is +One", {"tournament": True}, "ply", None, 4),
    ("merrills", "+On +Is +One +Ie +Onw", {}, "removing", None, 0),
]


@pytest.mark.parametrize(("game", "moves", "settings", "name", "place", "value"), FAULTS)
def test_fields_that_contradict_each_other_are_refused(
    game: str, moves: str, settings: dict[str, Any], name: str, place: Any, value: Any
) -> None:
    """F2-60: one entry is wrong; without the change the same bytes are accepted."""
    state = middle(game, moves, **settings)
    assert State(state.rules, state.data) == state
    layout = state.rules.layout
    if game == "go" and place == 63:
        assert fields(state.array(), layout).chain[63] == 63  # C3 of 5x5
    with pytest.raises(ValueError, match=r"no state of .*: its fields contradict each other"):
        State(state.rules, changed(state, layout, name, place, value))


def test_links_and_lists_behind_the_record_are_checked() -> None:
    """F2-60: of Havannah, where a wrong link ended the process; each pair of bytes in turn."""
    state = middle("havannah", "a1 c3 b2", base=3)
    links = state.array()[havannah.STATE.itemsize :]
    refused = 0
    for at in range(0, links.size - 4, 2):
        array = state.array()
        behind = array[havannah.STATE.itemsize :]
        behind[at : at + 2] = 255
        found = state_bytes.accepted(state.rules, array.tobytes())
        refused += found is None
        if found is not None:  # a link that is never read: of the border, or beyond the empty points
            state_bytes.use(found, ucd(1, 1, 1, playouts=20, seed=1), BoardEnv(state.rules), at)
    assert refused > 19 + 16  # a link of each cell, and each entry of the list of empty points


def test_a_chain_without_a_liberty_is_on_no_board() -> None:
    """F2-60: a white stone at A1 between two black ones, with every count that it would have."""
    state = middle("go", "A2 D4 B1", size=5)
    array = state.array()
    s = fields(array, go.STATE)
    s.vacant -= 1
    last, place = s.empty[s.vacant], s.place[21]
    s.empty[place], s.place[last] = last, place
    s.colour[21], s.chain[21], s.next[21], s.length[21], s.liberties[21] = 2, 21, 21, 1, 0
    for point in (22, 41):
        s.around[point] -= 0x100 - 0x10
        s.liberties[point] -= 1
    s.lead -= 1
    with pytest.raises(ValueError, match="contradict"):
        State(state.rules, array.tobytes())
    # With one liberty more it is like any other.
    s.colour[41], s.chain[41] = 0, 0
    s.place[41], s.empty[s.vacant] = s.vacant, 41
    s.vacant += 1
    s.liberties[21] = 1
    for point in (21, 42, 61):
        s.around[point] += 0x100 - 0x1
    s.lead -= 1
    assert State(state.rules, array.tobytes()).legal_actions()


def won_by_a_row() -> State:
    """Hex 3x3 won by player 0 in the first column."""
    return middle("hex", "a1 b1 a2 b2 a3", size=3)


def test_a_game_that_is_over_has_its_winner() -> None:
    """F2-60: a finished game of Hex with the other winner, or that goes on, is none."""
    state = won_by_a_row()
    assert (state.over, State(state.rules, state.data).payoffs()) == (True, [1.0, 0.0])
    for name, value in (("winner", 1), ("winner", -1), ("player", 1)):
        with pytest.raises(ValueError, match="contradict"):
            State(state.rules, changed(state, hexes.STATE, name, None, value))


def test_a_victory_of_havannah_is_on_the_board() -> None:
    """F2-60: kinds, last stone and winner of a bridge are what the stones say."""
    state = middle("havannah", "a1 c3 a2 c4 a3", base=3)
    assert (state.over, State(state.rules, state.data).payoffs()) == (True, [1.0, 0.0])
    other = state.action_named("c3")
    for name, value in (("winner", 1), ("kinds", 1), ("kinds", 3), ("last", other), ("winner", -1), ("player", 1)):
        with pytest.raises(ValueError, match="contradict"):
            State(state.rules, changed(state, havannah.STATE, name, None, value))


def test_the_last_stone_of_havannah_has_won() -> None:
    """F2-60: with another stone as the last one, the game would have been over before it."""
    state = middle("havannah", "c3 d3 a1 d4 a2 e3 a3", base=3)
    assert (state.over, State(state.rules, state.data)) == (True, state)
    with pytest.raises(ValueError, match="contradict"):
        State(state.rules, changed(state, havannah.STATE, "last", None, state.action_named("c3")))


# Environments


@pytest.mark.parametrize("wrapped", [False, True])
def test_an_environment_that_refuses_a_state_stays_as_it_was(wrapped: bool) -> None:
    """F2-60: the same state, observation, agents and generators after every kind of refusal."""
    env = ucd_envs.make("hex", **HEX)
    env = env if wrapped else env.unwrapped
    env.reset(seed=3)
    env.action_space("player_0").seed(7)
    env.step(3)
    raw = env.unwrapped
    before, facts = raw.clone_state(), copy.deepcopy({**vars(raw), "rules": None})
    good = before.after(4)
    ended = (("player_0",), ((1.0, 1.0),), ((True, False),), "player_0", None)
    endings = [
        (*ended[:3], "player_7", None),
        (("player_1", "player_0"), ended[1] * 2, ended[2] * 2, "player_0", None),
        (("player_0",), (), ended[2], "player_0", None),
        (("player_0",), ((1.0, "x"),), ended[2], "player_0", None),
        (("player_0",), ((1.0, float("nan")),), ended[2], "player_0", None),
        (("player_0",), ended[1], ((True, 2),), "player_0", None),
        ended[:4],
        "over",
        7,
    ]
    bad: list[Any] = [State.trusted(raw.rules, good.data, ending) for ending in endings]
    bad += [good.data, None, hex_rules(size=4).initial_state(), registry.make_rules("hex", size=5).initial_state()]
    lax = replace(raw.rules, validate=None)
    bad.append(State(lax, changed(good, hexes.STATE, "stones", (0, 3), 31)))
    for state in bad:
        with pytest.raises((TypeError, ValueError)):
            env.restore_state(state)
        assert raw.clone_state().data == before.data
        now = {**vars(raw), "rules": None}
        assert {name: str(value) for name, value in now.items()} == {name: str(value) for name, value in facts.items()}
    env.restore_state(good)
    assert raw.clone_state() == good


def test_an_ending_of_an_environment_is_restored() -> None:
    """The agents left, their rewards and flags, after the end and after each step behind it."""
    env = ucd_envs.make("tic_tac_toe").unwrapped
    env.reset()
    for action in (0, 3, 1, 4, 2):
        env.step(action)
    while env.agents:
        twin = BoardEnv(env.rules)
        twin.restore_state(pickle.loads(pickle.dumps(env.clone_state())))
        assert (twin.agents, twin.rewards, twin.terminations) == (env.agents, env.rewards, env.terminations)
        assert (twin.agent_selection, twin.truncations) == (env.agent_selection, env.truncations)
        env.step(None)
    twin = BoardEnv(env.rules)
    twin.restore_state(env.clone_state())
    assert twin.agents == []


# Pickles


def test_a_pickle_is_checked_like_other_bytes() -> None:
    """F2-60: the bytes of a pickled state are changed inside the pickle."""
    state = middle("havannah", "a1 c3 b2", base=3)
    pickled = pickle.dumps(state)
    assert pickle.loads(pickled) == state
    wrong = pickled.replace(state.data, changed(state, havannah.STATE, "vacant", None, 3))
    assert wrong != pickled
    with pytest.raises(ValueError, match="its fields contradict each other"):
        pickle.loads(wrong)


def test_a_pickle_of_another_layout_is_refused() -> None:
    """F2-60: the same number of bytes with other fields, as another version may have."""
    state = middle("go", "C3 D4 C4", size=5)
    pickled = pickle.dumps(state)
    wrong = pickled.replace(state.rules.digest.encode(), b"0" * 16)
    with pytest.raises(ValueError, match="pickled by another version, whose states of go_v0 have another layout"):
        pickle.loads(wrong)


def test_a_digest_tells_layouts_and_configurations_apart() -> None:
    """Sizes, names and settings count; another process finds the same digest."""
    rules = hex_rules()
    names = [("player", np.int32), ("ply", np.int32), ("winner", np.int32), ("other", np.uint8, (rules.state_bytes - 12,))]
    other = replace(rules, layout=np.dtype(names))
    assert len({rules.digest, other.digest, hex_rules(size=6).digest, hex_rules(swap=False).digest}) == 4
    code = f"from ucd_envs import make_rules; print(make_rules('hex', **{HEX}).digest)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=TESTS.parent)
    assert printed.stdout.strip() == rules.digest


def test_a_layout_begins_with_player_and_ply() -> None:
    rules = hex_rules()
    for layout in (np.dtype([("ply", np.int32), ("player", np.int32)]), np.dtype(np.int64), np.dtype([("player", np.int32)])):
        with pytest.raises(ValueError, match="layout must begin with player and ply"):
            replace(rules, layout=layout)
    with pytest.raises(ValueError, match="no longer than state_bytes"):
        replace(rules, layout=np.dtype([("player", np.int32), ("ply", np.int32), ("rest", np.uint8, (500,))]))


def test_a_copy_of_a_state_is_the_state() -> None:
    """It never changes, so nothing is copied and nothing checked."""
    state = hex_rules().initial_state()
    assert copy.deepcopy([state])[0] is state


@pytest.mark.parametrize("name", registry.OWN_GAMES)
def test_an_environment_is_checked_where_it_is_unpickled(name: str) -> None:
    """F2-60: the state of a pickled environment too; one that was never reset has none yet."""
    env = BoardEnv(registry.make_rules(name))
    assert pickle.loads(pickle.dumps(env)).agents == []
    env.reset()
    env.step(env.clone_state().legal_actions()[0])
    pickled = pickle.dumps(env)
    assert pickle.loads(pickled).clone_state() == env.clone_state()
    data = env.clone_state().data
    wrong = pickled.replace(data, header(7, 1, env.clone_state()))
    assert wrong != pickled
    with pytest.raises(ValueError, match="the player to move is"):
        pickle.loads(wrong)
    twin = copy.deepcopy(env)
    twin.step(env.clone_state().legal_actions()[-1])
    assert env.clone_state().data == data


def test_states_that_a_game_makes_itself_are_not_checked() -> None:
    """The price of a check is not paid by moves, copies, environments and searches."""
    calls = []

    def counted(config: np.ndarray, state: np.ndarray) -> bool:
        calls.append(1)
        return True

    rules = replace(hex_rules(), validate=counted)
    state = rules.initial_state().after(3).turned(0).after(5)
    env = BoardEnv(rules)
    env.reset()
    env.restore_state(state)
    env.clone().step(7)
    copy.deepcopy(env).observe("player_0")
    ucd(1, 1, 1, playouts=20, seed=1).act(env)
    assert not calls
    State(rules, state.data)
    assert len(calls) == 1


# Random faults


@pytest.mark.parametrize(("name", "settings"), state_bytes.GAMES, ids=[f"{n}-{s}" for n, s in state_bytes.GAMES])
def test_mutated_states_are_refused_or_do_no_harm(name: str, settings: dict[str, Any]) -> None:
    """F2-60, the quick share: sixty of each game."""
    rules = registry.make_rules(name, **settings)
    for state, data in state_bytes.mutants(rules, seed=0, count=60):
        assert state_bytes.accepted(rules, state.data) == state
        found = state_bytes.accepted(rules, data)
        if found is not None:
            state_bytes.use(found, ucd(1, 1, 1, playouts=20, seed=1), BoardEnv(rules), 0)


@pytest.mark.slow
@pytest.mark.parametrize("checked", ["0", "1"])
@pytest.mark.parametrize(("name", "settings"), state_bytes.GAMES, ids=[f"{n}-{s}" for n, s in state_bytes.GAMES])
def test_many_mutated_states_end_no_process(name: str, settings: dict[str, Any], checked: str) -> None:
    """F2-60: each game in a process of its own, with and without numba's own check of indices."""
    command = [sys.executable, str(TESTS / "state_bytes.py"), name, json.dumps(settings), "1", "1500"]
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": checked, "PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:]
    count, used = map(int, done.stdout.split())
    assert count == 1500
    assert 0 < used < count
    print(f"{name} {settings} boundscheck={checked}: {count} tried, {used} accepted")


def test_the_record_of_go_is_known_here() -> None:
    """The points used above: C3 of a 5x5 board is point 63, A1 is 21."""
    assert go.chains.UP * 3 + 3 == 63
