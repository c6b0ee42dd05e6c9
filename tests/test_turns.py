"""Moves out of turn: which games allow them, and what follows from the mover: ko, superko, swap, keys, answers."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import havannah_oracle
import numpy as np
import pytest
from go_boards import KO, assert_same, board_of, can, drawn, go, neat, oracle, planes, played
from go_oracle import Go

import ucd_envs
from ucd_envs import pictures
from ucd_envs.kernels import PLAY, kernel
from ucd_envs.rules import Rules, State, set_mover
from ucd_envs.structs import fields
from ucd_planners import ucd
from ucd_planners.gtp.board import Board
from ucd_planners.gtp.protocol import GTPError

# Which games


@pytest.mark.parametrize("game", ["go", "hex", "havannah"])
def test_any_player_may_be_set_to_move_where_the_key_tells_the_mover(game: str) -> None:
    """F2-31: the ply and the stones stay, the key is another, and the way back leads to the same state."""
    state = ucd_envs.make_rules(game).initial_state().after(5)
    turned = state.turned(0)
    assert (state.player, turned.player, turned.ply) == (1, 0, 1)
    assert (pictures.stones(turned) == pictures.stones(state)).all()
    assert turned != state
    assert turned.turned(1) == state
    assert state.turned(1) is state


@pytest.mark.parametrize("game", ["connect_four", "tic_tac_toe", "write_a_game:rules"])
def test_players_move_only_in_turn_where_a_game_does_not_allow_else(game: str) -> None:
    """F2-31: their keys say nothing of the mover, so with a kept graph an answer would be for the wrong side."""
    state = ucd_envs.make_rules(game).initial_state()
    with pytest.raises(ValueError, match=f"players of {state.rules.name} move only in turn, and player 0 is to move"):
        state.turned(1)
    assert state.turned(0) is state


def test_nobody_is_set_to_move_after_the_end_or_from_elsewhere() -> None:
    state = ucd_envs.make_rules("hex", size=1).initial_state()
    for player in (-1, 2):
        with pytest.raises(ValueError, match=f"players are 0 to 1, not {player}"):
            state.turned(player)
    with pytest.raises(ValueError, match="the game is over: no player is to move"):
        state.after(0).turned(1)


@pytest.mark.parametrize("game", ["connect_four", "tic_tac_toe"])
def test_gtp_refuses_a_colour_that_is_not_to_move(game: str) -> None:
    """F2-31: with a reason, and the position stays."""
    board = Board(game, {})
    board.push(0, 0)
    with pytest.raises(GTPError, match="move only in turn, and player 1 is to move"):
        board.push(0, 1)
    with pytest.raises(GTPError, match="move only in turn"):
        board.facing(0)
    assert (board.state.ply, board.facing(1)) == (1, board.state)


@kernel(PLAY)
def turns_and_counts(config, state, player):
    """A ply too many."""
    fields(state, ucd_envs.rules.HEADER).player = player
    fields(state, ucd_envs.rules.HEADER).ply += 1


def faults(rules: Rules) -> tuple[str, ...]:
    return ucd_envs.check(rules, states=60, playouts=0).faults


def test_a_check_finds_a_key_that_does_not_tell_the_mover() -> None:
    """F2-31: a game that says more than its key holds; one whose turn does more than it should; one that is right."""
    rules = ucd_envs.make_rules("tic_tac_toe")
    found = faults(replace(rules, turn=set_mover, validate=None))
    assert "key is the same for the players 0 and 1, though turn may set either, at the start." in found
    hexes = ucd_envs.make_rules("hex", size=3, swap=True)
    assert faults(hexes) == ()
    assert faults(replace(hexes, turn=turns_and_counts)) == ("turn to player 0 leads to player 0 at ply 1, at the start.",)
    assert faults(replace(hexes, validate=lambda config, state: False)) == (
        "validate refuses a state that reset has made, at the start.",
    )


# Ko

SHUT_IN = """
    . . . . .
    . x o . .
    x o . o .
    . x o . .
    . . . . .
"""
"""Black takes at C3, where a white stone at B3 is shut in."""


def test_a_simple_ko_binds_the_enemy_of_the_stone_that_took() -> None:
    """F2-31: White may not take back, but Black, whose move it is out of turn, may connect at the ko."""
    taken = played(drawn(SHUT_IN), "C3")
    assert not can(taken, "B3")
    connecting = taken.turned(0)
    assert can(connecting, "B3")
    assert not can(connecting.turned(1), "B3")
    assert board_of(played(connecting, "B3")).count("x") == board_of(taken).count("x") + 1
    assert can(played(taken.turned(0), "A1"), "B3")


def test_the_ko_plane_shows_what_the_mover_may_not_do() -> None:
    taken = played(drawn(SHUT_IN), "C3")
    assert (planes(taken, 0)[3].sum(), planes(taken.turned(0), 0)[3].sum()) == (1, 0)


def test_situational_superko_knows_who_moved() -> None:
    """F2-31: Black takes out of turn, so that the board before was one with Black to move: White may not bring it back."""
    state = drawn(SHUT_IN, ko="situational", first="white")
    taken = played(state.turned(0), "C3")
    assert not can(taken, "B3")


def test_a_board_on_which_nobody_moved_has_not_been() -> None:
    """White was to move at first, but Black moved: the board with White to move is new."""
    state = drawn(SHUT_IN, ko="situational", first="white").turned(0)
    position = oracle(drawn(SHUT_IN, ko="situational", first="white")).turned(0)
    for move in ("C3", "pass"):
        action = state.action_named(move)
        state, position = state.after(action), position.after(action)
    state, position = state.turned(1), position.turned(1)
    assert_same(state, position)
    assert can(state, "B3") == position.is_legal(state.action_named("B3"))


def assert_turned_games_are_the_oracles(rules: Rules, games: int, seed: int) -> int:
    """Plays random games with moves out of turn from random setups in both; how often the mover was set."""
    choice, count = random.Random(f"{rules} {seed}"), 0
    rows, columns, _ = rules.planes
    for _ in range(games):
        state = rules.initial_state()
        if choice.random() < 0.5:
            board = neat(choice, Go(rows, columns))
            text = "\n".join(board[row * columns : row * columns + columns] for row in reversed(range(rows)))
            settings = {name: rules.settings[name] for name in ("komi", "ko", "suicide", "max_plies")}
            state = drawn(text, first=choice.choice(("black", "white")), **settings)
        position = oracle(state)
        while not position.over:
            if choice.random() < 0.3:
                state, position = state.turned(1 - state.player), position.turned(1 - position.mover)
                count += 1
            assert_same(state, position, f"{rules}, {position}")
            room = np.empty(rules.actions, np.int32)
            listed = room[: rules.kernels.playout_actions(rules.config, state.array(), room)]
            assert sorted(listed.tolist()) == sorted(position.sensible())
            legal = position.legal_actions()
            action = legal[-1] if choice.random() < 0.05 else choice.choice(legal[:-1] or legal)
            state, position = state.after(action), position.after(action)
        assert_same(state, position)
        assert State(state.rules, state.data) == state
    return count


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize("ko", KO)
@pytest.mark.parametrize(("rows", "columns", "games"), [(2, 3, 25), (4, 4, 8)])
def test_games_with_moves_out_of_turn_are_the_oracles(ko: str, suicide: bool, rows: int, columns: int, games: int) -> None:
    """F2-31: legal moves, boards, points and playout moves at every ply, from setups with either side to move."""
    rules = go(rows=rows, columns=columns, ko=ko, suicide=suicide, max_plies=60)
    assert assert_turned_games_are_the_oracles(rules, games, seed=1) > 50


@pytest.mark.slow
@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize("ko", KO)
@pytest.mark.parametrize(("rows", "columns", "games"), [(2, 2, 600), (2, 3, 600), (3, 3, 300), (4, 5, 120), (7, 7, 12)])
def test_many_games_with_moves_out_of_turn_are_the_oracles(ko: str, suicide: bool, rows: int, columns: int, games: int) -> None:
    """F2-31: the same at length."""
    rules = go(rows=rows, columns=columns, ko=ko, suicide=suicide, max_plies=120)
    assert assert_turned_games_are_the_oracles(rules, games, seed=2) > 200


def test_a_memory_of_boards_has_room_for_every_turn() -> None:
    """Turns add no boards: the last one has another mover. A game to its last ply with ten turns at each."""
    rules = go(size=3, ko="situational", max_plies=40, suicide=True)
    state, choice = rules.initial_state(), random.Random(5)
    while not state.over:
        for _ in range(10):
            state = state.turned(1 - state.player)
        legal = state.legal_actions()
        state = state.after(choice.choice(legal[:-1] if len(legal) > 1 and choice.random() < 0.9 else legal))
        assert State(rules, state.data) == state


# Swap


def cells(state: State) -> dict[str, int]:
    """The owner of each stone by its cell's name."""
    found = pictures.stones(state)
    rows, columns = found.shape
    if state.rules.tiling == "hexagon":
        base = state.rules.settings["base"]
        places = [(y, x) for y in range(rows) for x in range(columns) if abs(x - y) < base]
    else:
        places = [(row, column) for row in range(rows) for column in range(columns)]
    return {state.action_name(cell): int(found[place]) - 1 for cell, place in enumerate(places) if found[place]}


def moved(state: State, moves: str) -> State:
    """The state after moves such as "w a2 b swap", each by its colour."""
    words = moves.split()
    for colour, move in zip(words[::2], words[1::2], strict=True):
        state = state.turned("bw".index(colour))
        state = state.after(state.action_named(move))
    return state


@pytest.mark.parametrize(
    ("game", "settings", "moves", "stones"),
    [
        ("hex", {"size": 3}, "b a2 w swap", {"b1": 1}),
        ("hex", {"size": 3}, "w a2 b swap", {"b1": 0}),
        ("hex", {"size": 3}, "w b2 b swap", {"b2": 0}),
        ("hex", {"size": 3, "opening": "c1"}, "w swap", {"a3": 1}),
        ("hex", {"size": 3, "white": "c1"}, "b swap", {"a3": 0}),
        ("hex", {"size": 3, "white": "c1", "first": "black"}, "b swap", {"a3": 0}),
        ("havannah", {"base": 5}, "b c2 w swap", {"c2": 1}),
        ("havannah", {"base": 5}, "w c2 b swap", {"c2": 0}),
    ],
)
def test_a_swap_takes_the_others_stone(game: str, settings: dict[str, Any], moves: str, stones: dict[str, int]) -> None:
    """F2-36: whoever laid it; then the other moves, on a board whose other cells are free."""
    start = ucd_envs.make_rules(game, swap=True, **settings).initial_state()
    state = moved(start.turned("bw".index(moves[0])), moves)
    assert cells(state) == stones
    assert (state.player, state.ply) == ("wb".index(moves.split()[-2]), 2)
    taken = {state.action_named(name) for name in stones}
    assert state.legal_actions() == [cell for cell in range(state.rules.actions - 1) if cell not in taken]
    assert State(state.rules, state.data) == state
    assert ucd(1, 1, 1, playouts=50, seed=1).search(state).action in state.legal_actions()


@pytest.mark.parametrize(("game", "settings"), [("hex", {"size": 3}), ("havannah", {"base": 3})])
@pytest.mark.parametrize("player", [0, 1])
def test_nobody_swaps_a_stone_of_ones_own(game: str, settings: dict[str, Any], player: int) -> None:
    """F2-36: it is not listed, not drawn, not seen, and refused with the reason."""
    rules = ucd_envs.make_rules(game, swap=True, **settings)
    state = rules.initial_state().turned(player).after(3).turned(player)
    swap = rules.actions - 1
    assert swap not in state.legal_actions()
    assert swap in state.turned(1 - player).legal_actions()
    with pytest.raises(ValueError, match="is not legal here"):
        state.after(swap)
    assert rules.why_illegal(swap) == "the swap is on at the second move only, for the other player's stone"
    seen = np.zeros(rules.planes, np.int8)
    for seat in range(2):
        rules.kernels.observe(rules.config, state.array(), seat, seen.reshape(-1))
        assert not seen[..., 3].any()
    rng, listed = ucd_envs.rng.seeded(1), np.empty(rules.actions, np.int32)
    drawn = {rules.kernels.playout_action(rules.config, state.array(), rng) for _ in range(500)}
    assert drawn == set(state.legal_actions())
    count = rules.kernels.playout_actions(rules.config, state.array(), listed)
    assert sorted(listed[:count].tolist()) == state.legal_actions()


@pytest.mark.parametrize(("game", "settings"), [("hex", {"size": 3}), ("havannah", {"base": 3})])
def test_an_engine_may_choose_the_swap_out_of_turn(game: str, settings: dict[str, Any]) -> None:
    """F2-36: it ended the process in Havannah. In every seed it goes on to the end of the game, as its own board says."""
    swapped = 0
    for seed in range(8):
        board, planner = Board(game, {**settings, "swap": True}), ucd(1, 1, 1, playouts=200, seed=seed)
        centre = board.rules.actions // 2 - 1
        board.push(1, centre)
        player = 0
        while not board.state.over:
            action = planner.act(board.facing(player))
            swapped += action == board.rules.actions - 1
            board.push(player, action)
            State(board.rules, board.state.data)
            player = 1 - player
        assert board.state.payoffs() in ([1.0, 0.0], [0.0, 1.0], [0.5, 0.5])
    assert swapped > 0


@pytest.mark.parametrize(("base", "games"), [(2, 60), (3, 25), (4, 12)])
def test_games_of_havannah_with_moves_out_of_turn_are_the_oracles(base: int, games: int) -> None:
    """F2-36: with swaps by either side, in lock-step with the slow rules."""
    rules, choice, swaps = ucd_envs.make_rules("havannah", base=base, swap=True), random.Random(base), set()
    for _ in range(games):
        state, position = rules.initial_state(), havannah_oracle.board(base).start(True)
        while not position.over:
            if choice.random() < 0.3:
                state, position = state.turned(1 - state.player), position.turned(1 - position.mover)
            legal = position.legal_actions()
            assert (state.player, state.legal_actions()) == (position.mover, legal)
            action = legal[-1] if position.ply == 1 and choice.random() < 0.7 else choice.choice(legal)
            if action == rules.actions - 1:
                swaps.add(position.mover)
            state, position = state.after(action), position.after(action)
            assert State(rules, state.data) == state
        assert (state.over, state.payoffs()) == (True, position.payoffs)
    assert swaps == {0, 1}


def joined(stones: dict[tuple[int, int], int], player: int, size: int) -> bool:
    """Whether a player's sides are connected: flooded from the first row, or column, cell by cell."""
    own = {cell for cell, owner in stones.items() if owner == player}
    todo = [cell for cell in own if cell[player] == 0]
    seen = set(todo)
    while todo:
        row, column = todo.pop()
        for step in ((0, 1), (0, -1), (1, 0), (-1, 0), (-1, 1), (1, -1)):
            other = (row + step[0], column + step[1])
            if other in own and other not in seen:
                seen.add(other)
                todo.append(other)
    return any(cell[player] == size - 1 for cell in seen)


@pytest.mark.parametrize(("size", "games"), [(1, 3), (2, 60), (3, 60), (6, 30)])
def test_games_of_hex_with_moves_out_of_turn_are_those_of_a_slow_board(size: int, games: int) -> None:
    """F2-36: stones, legal moves and the end after any swap, in lock-step with a dictionary of cells."""
    rules, choice, swaps = ucd_envs.make_rules("hex", size=size, swap=True), random.Random(size), set()
    for _ in range(games):
        state, stones, mover = rules.initial_state(), dict[tuple[int, int], int](), 0
        while not any(joined(stones, player, size) for player in range(2)):
            if choice.random() < 0.3:
                state, mover = state.turned(1 - mover), 1 - mover
            legal = [cell for cell in range(size * size) if divmod(cell, size) not in stones]
            if state.ply == 1 and 1 - mover in stones.values():
                legal.append(size * size)
            assert (state.player, state.legal_actions()) == (mover, legal)
            action = legal[-1] if state.ply == 1 and choice.random() < 0.7 else choice.choice(legal)
            if action == size * size:
                ((row, column),) = stones
                stones = {(column, row): mover}
                swaps.add(mover)
            else:
                stones[divmod(action, size)] = mover
            state, mover = state.after(action), 1 - mover
            owners = pictures.stones(state)
            assert {place: int(owners[place]) - 1 for place in zip(*np.nonzero(owners), strict=True)} == stones
            assert State(rules, state.data) == state
        assert state.over
        assert state.payoffs() == [float(joined(stones, player, size)) for player in range(2)]
    assert size == 1 or swaps == {0, 1}


# Planners


@pytest.mark.parametrize("game", ["go", "hex", "havannah"])
def test_a_kept_graph_answers_for_the_side_that_is_asked(game: str) -> None:
    """F2-31: the position of the other side is another position, also at one ply."""
    settings: dict[str, Any] = {"go": {"size": 4}, "hex": {"size": 4}, "havannah": {"base": 3}}[game]
    state = ucd_envs.make_rules(game, **settings).initial_state().after(2)
    keeping, fresh = (ucd(1, 1, 1, playouts=200, seed=4, reuse_graph=kept) for kept in (True, False))
    for side in (1, 0, 1):
        found = keeping.search(state.turned(side))
        other = fresh.search(state.turned(side))
        assert found.visits.sum() == other.visits.sum() == 200
    assert (keeping.search(state.turned(0)).state.player, state.player) == (0, 1)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"black": "a1 b2", "white": "a1"}, "stones 'a1 b2 a1' must name different cells"),
        ({"black": "a1", "opening": "b2"}, "either an opening or black and white"),
        ({"first": "red"}, "first must be black or white, not 'red'"),
        ({"black": "a1 a2 a3"}, "stones 'a1 a2 a3' already end the game"),
        ({"white": "z9"}, "'z9' is no cell of this board"),
    ],
)
def test_stones_of_hex_that_cannot_be_set_up_are_refused(given: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ucd_envs.make_rules("hex", size=3, **given)
    with pytest.raises(TypeError, match="black must be text"):
        ucd_envs.make_rules("hex", size=3, black=7)


def test_stones_of_hex_are_set_up_for_any_mover() -> None:
    """F2-44: by default the player moves whose turn the number of stones makes it; an opening in turn stays an opening."""
    rules = ucd_envs.make_rules("hex", size=4, black="d1 a4", white="c2", first="black")
    state = rules.initial_state()
    assert (cells(state), state.player, state.ply) == ({"d1": 0, "a4": 0, "c2": 1}, 0, 3)
    by_number = ucd_envs.make_rules("hex", size=4, black="d1 a4", white="c2").initial_state()
    assert (by_number.key, by_number.player) == (state.turned(1).key, 1)
    assert ucd_envs.make_rules("hex", size=4, black="d1", white="c2") is ucd_envs.make_rules("hex", size=4, opening="d1 c2")
    assert ucd_envs.make_rules(rules.name, **rules.settings) is rules
