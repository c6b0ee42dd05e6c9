"""Tic-tac-toe: the smallest example of a game file.

Board    3 x 3 cells.
Players  two; player 0 begins.
Turn     a stone on an empty cell.
End      three own stones in a row, a column or a diagonal win. A full board without such a line is a draw.
Moves    row * 3 + column, written column letter and row number ("a1" is the first cell).
Source   traditional.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.interface import Kernels
from ucd_envs.kernels import (
    IS_LEGAL,
    KEY,
    LEGAL_ACTIONS,
    OBSERVE,
    PLAY,
    PLAYOUT,
    PLAYOUT_ACTION,
    READ_PAYOFFS,
    RESET,
    VALIDATE,
    kernel,
    most_moves,
    move_of,
)
from ucd_envs.rng import below
from ucd_envs.rules import Rules
from ucd_envs.settings import cell_named
from ucd_envs.structs import configuration, fields, record
from ucd_envs.symmetries import of_planes, of_rectangle, symmetries

CELLS = 9
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

CONFIG = record(("lines", np.int8, (8, 3)))
STATE = record(("player", np.int32), ("ply", np.int32), ("winner", np.int32), ("cells", np.int8, (CELLS,)))
"""Fields of a state. `cells`: 0 empty, else player + 1."""


@kernel(RESET)
def reset(config, state):
    """Clears the board."""
    s = fields(state, STATE)
    s.player = 0
    s.ply = 0
    s.winner = -1
    for cell in range(CELLS):
        s.cells[cell] = 0


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists every empty cell."""
    s = fields(state, STATE)
    count = 0
    for cell in range(CELLS):
        if s.player >= 0 and s.cells[cell] == 0:
            actions[count] = cell
            count += 1
    return count


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether the cell is empty."""
    s = fields(state, STATE)
    return s.player >= 0 and 0 <= action < CELLS and s.cells[action] == 0


@kernel(PLAY)
def play(config, state, action):
    """Puts the mover's stone on a cell. The game is over with a line of three or a full board."""
    s = fields(state, STATE)
    player = s.player
    s.cells[action] = player + 1
    s.ply += 1
    s.player = 1 - player
    if has_line(config, s, player + 1):
        s.winner = player
        s.player = -1
    elif s.ply == CELLS:
        s.player = -1


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 for the owner of the line and 0 for the other, or 1/2 each for a draw."""
    winner = fields(state, STATE).winner
    for player in range(2):
        out[player] = 0.5 if winner < 0 else 1.0 if winner == player else 0.0


@kernel(KEY)
def key(config, state, words):
    """Writes two bits for each cell."""
    s = fields(state, STATE)
    word = np.uint64(0)
    for cell in range(CELLS):
        word = (word << np.uint64(2)) | np.uint64(s.cells[cell])
    words[0] = word


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays random moves."""
    s = fields(state, STATE)
    played, most = 0, most_moves(trace)
    while s.player >= 0 and played < most:
        action = playout_action(config, state, rng)
        if trace.size > 0:
            trace[played] = move_of(s.player, action)
        play(config, state, action)
        played += 1
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns an empty cell, drawn uniformly by its rank among the empty ones."""
    s = fields(state, STATE)
    rank = np.int64(below(rng, np.uint64(CELLS - s.ply)))
    for cell in range(CELLS):
        rank -= s.cells[cell] == 0
        if rank < 0:
            return np.int64(cell)
    return np.int64(-1)


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes own stones and the other's stones."""
    s = fields(state, STATE)
    for cell in range(CELLS):
        planes[2 * cell] = s.cells[cell] == player + 1
        planes[2 * cell + 1] = s.cells[cell] == 2 - player


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether the stones were laid in turn and the game is over when they say so."""
    s = fields(state, STATE)
    first, second = 0, 0
    for cell in range(CELLS):
        if s.cells[cell] < 0 or s.cells[cell] > 2:
            return False
        first += s.cells[cell] == 1
        second += s.cells[cell] == 2
    if first + second != s.ply or first - second != s.ply % 2:
        return False
    last = (s.ply + 1) % 2
    won = has_line(config, s, last + 1)
    over = won or s.ply == CELLS
    mover, winner = -1 if over else s.ply % 2, last if won else -1
    return s.player == mover and s.winner == winner and not has_line(config, s, 2 - last)


@kernel()
def has_line(config, s, stone):
    """Returns whether three stones of a player stand in a line."""
    lines = fields(config, CONFIG).lines
    for line in range(8):
        if s.cells[lines[line, 0]] == stone and s.cells[lines[line, 1]] == stone and s.cells[lines[line, 2]] == stone:
            return True
    return False


def rules() -> Rules:
    """Tic-tac-toe."""
    turned, bits = of_rectangle(3, 3), 2 * np.arange(CELLS)[::-1, None] + np.arange(2)
    return Rules(
        name="tic_tac_toe_v0",
        settings={},
        players=2,
        actions=CELLS,
        max_plies=CELLS,
        config=configuration(CONFIG, lines=LINES),
        state_bytes=STATE.itemsize,
        key_words=1,
        planes=(3, 3, 2),
        tiling="square",
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key),
            is_legal=is_legal,
            playout=playout,
            playout_action=playout_action,
            observe=observe,
        ),
        action_name=lambda state, action: f"{'abc'[action % 3]}{action // 3 + 1}",
        action_named=lambda state, text: cell_named(text, 3, 3),
        why_illegal=lambda action: "the cell is taken",
        layout=STATE,
        validate=validate,
        symmetries=symmetries(turned, bits, turned, 1, of_planes(turned, 2)),
        shrinking=True,
    )


EXAMPLES: tuple[dict[str, Any], ...] = ({},)
"""Configurations for the shared tests."""
