"""Boards of pieces that only move forward: drawn ones, and slow ones that share no code with the games."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator

from ucd_envs.boards import forward
from ucd_envs.pictures import stones
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields

Cell = tuple[int, int]
"""Column and row."""
Board = dict[Cell, int]
"""The owner of each taken cell."""
Targets = Callable[[Board, Cell, int], Iterator[Cell]]
"""The cells that a piece can go to by the rules of a game, those beyond the board included."""


def drawn(rules: Rules, text: str, player: int, ply: int = 0) -> State:
    """The state of a drawn board, x for player 0 and o for player 1, the top row first, with a player to move."""
    lines = [line.split() for line in text.strip().splitlines()]
    array = rules.initial_state().array()
    s = fields(array, forward.STATE)
    s.player, s.ply = player, ply or player
    assert s.ply % 2 == player
    cells = [mark for line in reversed(lines) for mark in line]
    for owner, wanted in enumerate("xo"):
        s.pieces[owner] = sum(1 << cell for cell, mark in enumerate(cells) if mark == wanted)
    return State.trusted(rules, array.tobytes())


def names(state: State) -> list[str]:
    """The legal moves by name, in the order of their actions."""
    return [state.action_name(action) for action in state.legal_actions()]


def after(state: State, moves: str) -> State:
    """The state after moves by name."""
    for move in moves.split():
        state = state.after(state.action_named(move))
    return state


def owners(state: State) -> Board:
    """The owner of each taken cell of a state."""
    rows = stones(state).tolist()
    return {(column, row): stone - 1 for row, line in enumerate(rows) for column, stone in enumerate(line) if stone}


def slow_moves(board: Board, player: int, rows: int, columns: int, targets: Targets) -> dict[str, tuple[Cell, Cell]]:
    """The moves of a player by name."""
    found = {}
    for cell, owner in board.items():
        for column, row in targets(board, cell, player) if owner == player else ():
            if 0 <= column < columns and 0 <= row < rows:
                found[f"{chr(97 + cell[0])}{cell[1] + 1}{chr(97 + column)}{row + 1}"] = (cell, (column, row))
    return found


def assert_games_are_the_slow_ones(
    rules: Rules, home: range, targets: Targets, games: int, elimination: bool = True, greedy: bool = False
) -> Counter[str]:
    """Plays random games on both boards and asserts that they agree at every ply; how often each event occurred.

    home: the rows that player 0 fills. Greedy games take pieces and stay off the last row where they can.
    """
    rows, columns, _ = rules.planes
    choice, events = random.Random(str(rules)), Counter[str]()
    for _ in range(games):
        board = {(column, row): 0 for row in home for column in range(columns)}
        board |= {(column, rows - 1 - row): 1 for column, row in board}
        state, mover = rules.initial_state(), 0
        while True:
            assert owners(state) == board
            moves = slow_moves(board, mover, rows, columns, targets)
            legal = state.legal_actions()
            assert legal == sorted(legal)
            assert (state.player, sorted(names(state))) == (mover, sorted(moves) or ["pass"])
            if greedy:
                waiting = {name: move for name, move in moves.items() if move[1][1] not in (0, rows - 1)} or moves
                moves = {name: move for name, move in waiting.items() if move[1] in board} or waiting
            name = choice.choice(sorted(moves) or ["pass"])
            state = state.after(state.action_named(choice.choice((name, name.upper()))))
            last = -1
            if name == "pass":
                events["pass"] += 1
            else:
                start, (_, last) = moves[name]
                board[moves[name][1]] = board.pop(start)
            arrived = last == (rows - 1, 0)[mover]
            won = arrived or (elimination and 1 - mover not in board.values())
            blocked = not any(slow_moves(board, player, rows, columns, targets) for player in range(2))
            assert state.over == (won or blocked)
            if state.over:
                assert owners(state) == board
                assert state.payoffs() == ([1.0 - mover, 0.0 + mover] if won else [0.5, 0.5])
                events["row" if arrived else "taken" if won else "block"] += 1
                events[f"won by {mover}"] += won
                break
            mover = 1 - mover
    return events
