"""The example of a game in one file: Clobber against OpenSpiel, and all that its five kernels bring."""

from __future__ import annotations

import ast
import dataclasses
import io
import pickle
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyspiel
import pytest
import write_a_game
from lockstep import lockstep
from pettingzoo.test import api_test

import ucd_envs
from ucd_envs import defaults
from ucd_envs.kernels import FAILED, HEADER, LEGAL_ACTIONS, PLAY, PLAYOUT_ACTION, kernel
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields
from ucd_planners import uct

PATH = Path(write_a_game.__file__)
BOARDS = [(2, 2), (3, 4), (5, 6), (7, 2), (8, 8), (6, 16)]
boards = pytest.mark.parametrize(("rows", "columns"), BOARDS)


def code_lines(path: Path) -> int:
    """Lines of a file that are neither empty, nor comments, nor part of a docstring."""
    source = path.read_text()
    lines: set[int] = set()
    ignored = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    texts = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in ignored:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - texts)


def test_the_example_is_short() -> None:
    """Under 100 lines of code, and five kernels."""
    assert code_lines(PATH) < 100
    tree = ast.parse(PATH.read_text())
    assert sum(isinstance(node, ast.FunctionDef) and bool(node.decorator_list) for node in tree.body) == 5


@boards
def test_random_games_agree_with_openspiel(rows: int, columns: int) -> None:
    """At every ply the end, the mover and the whole legal list, and the returns; actions have the same numbers."""
    results = lockstep(write_a_game.rules(rows, columns), f"clobber(rows={rows},columns={columns})", games=60, seed=1)
    # On 2x2 player 0 wins every game.
    assert set(results) == ({(1.0, -1.0), (-1.0, 1.0)} if rows * columns > 4 else {(1.0, -1.0)})


def test_moves_are_written_as_by_openspiel() -> None:
    """In all four directions."""
    other = pyspiel.load_game("clobber(rows=5,columns=3)").new_initial_state()
    state, choice, directions = write_a_game.rules(5, 3).initial_state(), np.random.default_rng(2), set()
    while not state.over:
        for action in state.legal_actions():
            assert state.action_name(action) == other.action_to_string(action)
            assert state.action_named(state.action_name(action).upper()) == action
            directions.add(action % 4)
        action = int(choice.choice(state.legal_actions()))
        state = state.after(action)
        other.apply_action(action)
    assert directions == {0, 1, 2, 3}


def test_a_text_that_names_no_move_is_refused() -> None:
    """Also one of the other player's moves, a capture of an own stone, and a cell alone."""
    state = write_a_game.rules(2, 3).initial_state()
    assert state.action_named("a1a2") == 12
    for name in ("b1a1", "a1b2", "a1", ""):
        with pytest.raises(ValueError, match=rf"'{name}' is no move here: expected one such as b2c2"):
            state.action_named(name)


@boards
def test_no_identity_is_broken(rows: int, columns: int) -> None:
    assert ucd_envs.check(write_a_game.rules(rows, columns), states=500, playouts=50).faults == ()


@pytest.mark.parametrize("sides", [{"rows": 1}, {"rows": 17}, {"columns": 1}, {"columns": 17}])
def test_a_board_out_of_range_is_refused(sides: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"\A(rows|columns) must be from \d to 16, not \d+\Z"):
        write_a_game.rules(**sides)


def drawn(state: State) -> list[str]:
    """The rows of a board: x for player 0, o for player 1."""
    rows, columns = state.rules.settings["rows"], state.rules.settings["columns"]
    cells = fields(state.array(), write_a_game.STATE).cells[1 : rows + 1, 1 : columns + 1]
    return ["".join("xo."[cell] for cell in row) for row in cells.tolist()]


def test_a_game_ends_where_no_stone_can_move() -> None:
    """Two stones are left on 2x3, at opposite corners of a square, and the last one to move was player 1."""
    state = write_a_game.rules(2, 3).initial_state()
    assert drawn(state) == ["oxo", "xox"]
    for name, board in (
        ("b2b1", ["o.o", "xxx"]),
        ("a2a1", ["..o", "oxx"]),
        ("c1c2", ["..x", "ox."]),
        ("a1b1", ["..x", ".o."]),
    ):
        assert not state.over
        state = state.after(state.action_named(name))
        assert drawn(state) == board
    assert (state.over, state.legal_actions(), state.payoffs()) == (True, [], [0.0, 1.0])


def test_a_stone_alone_cannot_move() -> None:
    """On 2x2 the third ply takes the last enemy stone, and no game is longer."""
    state = write_a_game.rules(2, 2).initial_state()
    for name in ("a1a2", "b1b2", "a2b2"):
        state = state.after(state.action_named(name))
    assert drawn(state) == [".x", ".."]
    assert (state.over, state.ply, state.rules.max_plies, state.payoffs()) == (True, 3, 3, [1.0, 0.0])


# Defaults


@pytest.fixture
def rules() -> Rules:
    """A board on which games are short."""
    return write_a_game.rules(4, 3)


def sampled(rules: Rules) -> Iterator[State]:
    """States of one random game."""
    choice, state = np.random.default_rng(3), rules.initial_state()
    while not state.over:
        yield state
        state = state.after(int(choice.choice(state.legal_actions())))


def test_kernels_that_a_game_leaves_out_are_the_same_for_all_games(rules: Rules) -> None:
    """Nothing is compiled anew for them."""
    names = ("is_legal", "playout", "playout_action", "observe")
    assert [getattr(rules.kernels, name) for name in names] == [getattr(defaults, name) for name in names]
    assert (rules.kernels.playout_actions, rules.kernels.is_playable) == (rules.kernels.legal_actions, defaults.is_legal)


def test_the_default_observation_is_the_bits_of_the_key(rules: Rules) -> None:
    """The same for both players; a row and a column."""
    assert rules.planes == (1, 1, 64 * rules.key_words)
    for state in sampled(rules):
        env = ucd_envs.make("write_a_game:rules", rows=4, columns=3)
        env.reset()
        env.restore_state(state)
        for agent in env.possible_agents:
            bits = env.observe(agent)["observation"].reshape(-1)
            assert np.packbits(bits, bitorder="little").tobytes() == state.words


@pytest.mark.filterwarnings("ignore:Observation:UserWarning")
def test_the_environment_passes_pettingzoos_test() -> None:
    api_test(ucd_envs.make("write_a_game:rules", rows=4, columns=3), num_cycles=50)


def is_won(state: State, known: dict[State, bool]) -> bool:
    """Whether the player to move wins, by trying all that can follow."""
    if state not in known:
        known[state] = any(child.over or not is_won(child, known) for child in map(state.after, state.legal_actions()))
    return known[state]


def test_a_planner_finds_a_move_that_wins() -> None:
    """Seven of the thirteen first moves on 2x5 do."""
    state = write_a_game.rules(2, 5).initial_state()
    winning = {action for action in state.legal_actions() if not is_won(state.after(action), {})}
    assert len(winning) == 7
    assert {uct(playouts=3000, seed=seed).search(state).action for seed in range(3)} <= winning


def test_rules_of_the_file_are_pickled_by_their_reference() -> None:
    rules = ucd_envs.make_rules("write_a_game:rules", rows=4, columns=4)
    assert pickle.loads(pickle.dumps(rules)) is rules


def test_the_game_is_made_by_its_reference_in_another_folder(tmp_path: Path) -> None:
    """With the file copied there, and nothing of this project on the path of imports but what is installed."""
    (tmp_path / "write_a_game.py").write_text(PATH.read_text())
    code = (
        "import pickle, ucd_envs; rules = ucd_envs.make_rules('write_a_game:rules', rows=4); "
        "state = pickle.loads(pickle.dumps(rules.initial_state())); print(state.rules, len(state.legal_actions()))"
    )
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert run.stdout.strip() == "clobber_v0(rows=4, columns=6) 38"


# Faulty games in default kernels


@kernel(LEGAL_ACTIONS)
def lists_nothing(config, state, actions):
    """No moves, though the game goes on."""
    return np.int64(0)


@kernel(PLAY)
def plays_on(config, state, action):
    """A game without an end."""
    fields(state, write_a_game.STATE).ply += 1


@kernel(PLAYOUT_ACTION)
def draws_far_outside(config, state, rng):
    """No action of the game."""
    return np.int64(2**40)


@pytest.mark.parametrize(
    "kernels",
    [
        {"legal_actions": lists_nothing, "playout_actions": lists_nothing},
        {"play": plays_on},
        {"playout_action": draws_far_outside},
    ],
)
@pytest.mark.parametrize("room", [0, 500])
def test_a_default_playout_of_a_faulty_game_fails_and_ends(rules: Rules, kernels: dict[str, object], room: int) -> None:
    """F2-04: no moves, no end, or a move that there is not: the player is FAILED, and nothing is written outside."""
    faulty = dataclasses.replace(rules, kernels=rules.kernels._replace(**kernels))
    state, trace = faulty.initial_state().array(), np.zeros(room, np.int32)
    count = faulty.kernels.playout(faulty.config, state, seeded(1), trace)
    assert fields(state, HEADER).player == FAILED
    assert count <= faulty.max_plies


def test_a_default_playout_action_of_a_game_without_moves_is_none(rules: Rules) -> None:
    faulty = dataclasses.replace(rules, kernels=rules.kernels._replace(playout_actions=lists_nothing))
    assert faulty.kernels.playout_action(faulty.config, faulty.initial_state().array(), seeded(1)) == -1
