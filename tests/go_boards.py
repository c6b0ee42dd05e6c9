"""Go boards drawn as strings, x Black and o White, the top line first, for the game and for its oracle."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
from go_oracle import Go, Position

import ucd_envs
from ucd_envs.kernels import OVER
from ucd_envs.rules import Rules, State

LETTERS = "ABCDEFGHJKLMNOPQRST"
KO = ("simple", "positional", "situational")


def go(**settings: object) -> Rules:
    """The rules of Go in a configuration."""
    return ucd_envs.make_rules("go", **settings)


def lines(text: str) -> list[str]:
    """The lines of a drawn board without the blanks between points."""
    return ["".join(line.split()) for line in text.strip().splitlines()]


def named(points: list[int], columns: int) -> str:
    """Points as text for the settings `black` and `white`."""
    return " ".join(f"{LETTERS[point % columns]}{point // columns + 1}" for point in points)


def drawn(text: str, **settings: object) -> State:
    """The start of a game on a drawn board."""
    rows = lines(text)
    board, columns = "".join(reversed(rows)), len(rows[0])
    black, white = ([point for point, mark in enumerate(board) if mark == wanted] for wanted in "xo")
    stones = {"black": named(black, columns), "white": named(white, columns)}
    return go(rows=len(rows), columns=columns, **stones, **settings).initial_state()


def oracle(state: State, **more: object) -> Position:
    """The oracle in the configuration of a game, at the start on the state's board."""
    settings = state.rules.settings
    rows, columns, _ = state.rules.planes
    own = Go(rows, columns, Fraction(settings["komi"]), settings["ko"], settings["suicide"], state.rules.max_plies)
    return own.set_up(board_of(state), state.player)


def neat(choice: random.Random, rules: Go) -> str:
    """A random board without chains that have no liberty."""
    density = choice.random()
    board = "".join(choice.choice("xo") if choice.random() < density else "." for _ in range(rules.points))
    while stuck := {point for point in range(rules.points) if board[point] != "." and not rules.chain(board, point)[1]}:
        board = "".join("." if point in stuck else mark for point, mark in enumerate(board))
    return board


def played(state: State, moves: str) -> State:
    """The state after moves written as players do."""
    for move in moves.split():
        state = state.after(state.action_named(move))
    return state


def can(state: State, move: str) -> bool:
    """Whether a move written as players do is legal."""
    return state.action_named(move) in state.legal_actions()


def planes(state: State, player: int) -> np.ndarray:
    """What a player sees, plane by plane, the bottom line first: [planes, rows, columns] int8."""
    seen = np.full(state.rules.planes, -7, np.int8)
    state.rules.kernels.observe(state.rules.config, state.array(), player, seen.reshape(-1))
    return seen.transpose(2, 0, 1)


def board_of(state: State) -> str:
    """The stones point by point, from what player 0 sees."""
    own, other = planes(state, 0)[:2].reshape(2, -1).tolist()
    return "".join("x" if x else "o" if o else "." for x, o in zip(own, other, strict=True))


def picture(state: State) -> list[str]:
    """The board as it is drawn, the top line first."""
    board, columns = board_of(state), state.rules.planes[1]
    return [board[start : start + columns] for start in range(0, len(board), columns)][::-1]


def score(state: State) -> float:
    """Black's area less White's and less the komi, as the game sees it."""
    assert state.rules.score is not None
    return state.rules.score(state)


def assert_same(state: State, position: Position, where: object = "") -> None:
    """The game and the oracle agree on end, mover, moves, stones, score and payoffs."""
    assert state.over == position.over, where
    assert state.player == (OVER if position.over else position.mover), where
    assert state.ply == position.ply, where
    assert board_of(state) == position.board, where
    assert state.legal_actions() == ([] if position.over else position.legal_actions()), where
    assert score(state) == position.score(), where
    if state.over:
        won = 0.5 if position.score() == 0 else float(position.score() > 0)
        assert state.payoffs() == [won, 1 - won], where


def assert_random_games_are_the_oracles(rules: Rules, games: int, seed: int) -> tuple[int, int]:
    """Plays random games in both and compares at every ply; how often superko forbade a move, and how many stones were lost."""
    choice, forbidden, lost = random.Random(f"{rules} {seed}"), 0, 0
    for game in range(games):
        state = rules.initial_state()
        position = oracle(state)
        while True:
            assert_same(state, position, f"{rules}, game {game} of seed {seed}, {position}")
            if position.over:
                break
            legal = position.legal_actions()
            forbidden += sum(_only_superko_forbids(position, point) for point in range(position.go.points))
            action = legal[-1] if choice.random() < 0.05 else choice.choice(legal[:-1] or legal)
            before = position.board
            state, position = state.after(action), position.after(action)
            lost += before.count("xo"[1 - position.mover]) > position.board.count("xo"[1 - position.mover])
    return forbidden, lost


def _only_superko_forbids(position: Position, point: int) -> bool:
    if position.board[point] != "." or position.go.ko == "simple" or position.is_legal(point):
        return False
    return position.go.suicide or not position.go.put(position.board, point, position.mover)[2]
