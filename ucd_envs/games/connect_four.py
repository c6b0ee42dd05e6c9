"""Connect Four.

Board    columns x rows cells, 7x6 by default; a stone falls to the lowest empty cell of its column.
Players  two; player 0 begins.
Turn     a stone into a column that is not full.
End      at the first line of `in_a_row` own stones along a column, a row or a diagonal: its owner wins, even if the stone
         also fills the board. A full board without a line is a draw.
Moves    the column, counted from 0; written from 1, as players do.
Source   Wexler and Strongin 1974; solved by Allen and by Allis, 1988.

choice            here                          elsewhere
longer lines      win as well                   the same
size              columns * (rows + 1) <= 64    fixed 7x6 in most programs

Each player's stones are one word, column by column. Above each column lies an empty sentinel bit, so that no line crosses
an edge.
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
from ucd_envs.rules import Rules, State
from ucd_envs.settings import integer
from ucd_envs.structs import configuration, fields, popcount, record
from ucd_envs.symmetries import of_planes, symmetries

ONE, BITS = np.uint64(1), np.uint64(64)

CONFIG = record(("columns", np.uint64), ("rows", np.uint64), ("in_a_row", np.uint64), ("bottom", np.uint64), ("top", np.uint64))
"""Fields of a configuration. `bottom` and `top`: the lowest cells of all columns, and the sentinels above them."""
STATE = record(("player", np.int32), ("ply", np.int32), ("winner", np.int32), ("stones", np.uint64, (2,)))


@kernel(RESET)
def reset(config, state):
    """Clears the board."""
    s = fields(state, STATE)
    s.player = 0
    s.ply = 0
    s.winner = -1
    s.stones[0] = s.stones[1] = np.uint64(0)


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists every column that is not full."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    count = 0
    if s.player < 0:
        return count
    for column in range(np.int64(c.columns)):
        if landing(c, s, np.uint64(column)):
            actions[count] = column
            count += 1
    return count


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether the column is not full."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    return s.player >= 0 and 0 <= action < np.int64(c.columns) and landing(c, s, np.uint64(action)) != 0


@kernel(PLAY)
def play(config, state, action):
    """Drops the mover's stone. The game is over when it makes a line or fills the board."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    drop(c, s, landing(c, s, np.uint64(action)))


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 for the owner of the line and 0 for the other, or 1/2 each for a draw."""
    winner = fields(state, STATE).winner
    for player in range(2):
        out[player] = 0.5 if winner < 0 else 1.0 if winner == player else 0.0


@kernel(KEY)
def key(config, state, words):
    """Writes player 0's stones, with a bit on top of each column that marks its height."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    # The sum carries to the lowest empty cell of each column, or to its sentinel.
    words[0] = s.stones[0] | ((s.stones[0] | s.stones[1]) + c.bottom)


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays random moves."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    played, most = 0, most_moves(trace)
    while s.player >= 0 and played < most:
        column = random_column(c, s, rng)
        if trace.size > 0:
            trace[played] = move_of(s.player, column)
        drop(c, s, landing(c, s, column))
        played += 1
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns a column that is not full, drawn uniformly."""
    return np.int64(random_column(fields(config, CONFIG), fields(state, STATE), rng))


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes own stones and the other's stones, the top row first."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    # Planes could lie anywhere, so that what the loop needs of the records is read before it.
    rows, columns, own, other = c.rows, c.columns, s.stones[player], s.stones[1 - player]
    at = np.uint64(0)
    for line in range(rows):
        shift = rows - ONE - line
        for _ in range(columns):
            planes[at] = (own >> shift) & ONE
            planes[at + ONE] = (other >> shift) & ONE
            shift += rows + ONE
            at += ONE + ONE


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether the stones have fallen in turn and the game is over when they say so."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    first, second = s.stones[0], s.stones[1]
    stones = first | second
    # In a column filled from below, adding the lowest cell carries past all stones.
    if first & second or stones & ~(c.top - c.bottom) or stones & (stones + c.bottom):
        return False
    last, plies = (s.ply + 1) % 2, np.uint64(s.ply)
    if np.uint64(popcount(stones)) != plies or np.uint64(popcount(first)) != (plies + ONE) // np.uint64(2):
        return False
    won = has_line(s.stones[last], c.in_a_row, c.rows)
    over = won or plies == c.columns * c.rows
    mover, winner = -1 if over else s.ply % 2, last if won else -1
    return s.player == mover and s.winner == winner and not has_line(s.stones[1 - last], c.in_a_row, c.rows)


@kernel()
def landing(c, s, column):
    """Returns the bit of the cell where a stone in a column lands, or 0 for a full column."""
    # Adding the lowest cell to a column's stones carries to its lowest empty cell, or to the sentinel, which ~top removes.
    first = ONE << (column * (c.rows + ONE))
    whole_column = (first << c.rows) - first
    return (((s.stones[0] | s.stones[1]) & whole_column) + first) & ~c.top


@kernel()
def drop(c, s, stone):
    """Puts the mover's stone on a cell and passes the turn, or ends the game."""
    player = s.player
    s.stones[player] |= stone
    s.ply += 1
    if has_line(s.stones[player], c.in_a_row, c.rows):
        s.winner = player
        s.player = -1
    elif np.uint64(s.ply) == c.columns * c.rows:
        s.player = -1
    else:
        s.player = 1 - player


@kernel()
def has_line(stones, in_a_row, rows):
    """Returns whether `in_a_row` stones stand in a line in one of the four directions."""
    for step in (ONE, rows, rows + ONE, rows + ONE + ONE):
        if step * (in_a_row - ONE) >= BITS:
            continue
        # A bit of `line` is set if `length` stones stand in a row from it on. Sentinels are empty and end every row.
        line, length = stones, ONE
        while length + length <= in_a_row:
            line &= line >> (step * length)
            length += length
        if length < in_a_row:
            line &= line >> (step * (in_a_row - length))
        if line:
            return True
    return False


@kernel()
def random_column(c, s, rng):
    """Draws columns until one is not full, and returns it."""
    while True:
        column = below(rng, c.columns)
        if landing(c, s, column):
            return column


def rules(columns: int = 7, rows: int = 6, in_a_row: int = 4) -> Rules:
    """Connect Four on `columns` x `rows` cells, columns * (rows + 1) <= 64, for lines of `in_a_row`, 2 or more.

    Raises ValueError for a board that does not fit in a word or is too short for a line. A board of a single cell is a draw.
    """
    columns = integer("columns", columns, 1, 32)
    rows = integer("rows", rows, 1, 63)
    if columns * (rows + 1) > 64:
        raise ValueError(f"columns * (rows + 1) must be at most 64, but {columns} * {rows + 1} is {columns * (rows + 1)}")
    in_a_row = integer("in_a_row", in_a_row, 2, max(columns, rows, 2))
    bottom = sum(1 << (column * (rows + 1)) for column in range(columns))
    places = np.arange(columns * (rows + 1)).reshape(columns, rows + 1)
    mirrored, bits = np.stack([places, places[::-1]]).reshape(2, -1), places.reshape(-1, 1)
    seen = np.arange(rows * columns).reshape(rows, columns)
    entries = of_planes(np.stack([seen, seen[:, ::-1]]).reshape(2, -1), 2)

    def action_named(state: State, text: str) -> int:
        if not text.isdecimal() or not 1 <= int(text) <= columns:
            raise ValueError(f"{text!r} is no column of this board: expected 1 to {columns}")
        return int(text) - 1

    return Rules(
        name="connect_four_v0",
        settings={"columns": columns, "rows": rows, "in_a_row": in_a_row},
        players=2,
        actions=columns,
        max_plies=columns * rows,
        config=configuration(CONFIG, columns=columns, rows=rows, in_a_row=in_a_row, bottom=bottom, top=bottom << rows),
        state_bytes=STATE.itemsize,
        key_words=1,
        planes=(rows, columns, 2),
        tiling="column",
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key),
            is_legal=is_legal,
            playout=playout,
            playout_action=playout_action,
            observe=observe,
        ),
        action_name=lambda state, action: str(action + 1),
        action_named=action_named,
        why_illegal=lambda action: "the column is full",
        layout=STATE,
        validate=validate,
        symmetries=symmetries(mirrored, bits, np.array([range(columns), range(columns)[::-1]]), 1, entries),
    )


EXAMPLES: tuple[dict[str, Any], ...] = (
    {},
    {"columns": 4, "rows": 4},
    {"columns": 8, "rows": 5, "in_a_row": 5},
    {"columns": 8, "rows": 7},
    {"columns": 1, "rows": 63},
    {"columns": 2, "rows": 2, "in_a_row": 2},
)
"""Configurations for the shared tests."""
