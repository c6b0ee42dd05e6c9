"""2048, a sliding puzzle with random tiles.

Board    rows x columns cells, 4x4 by default; tiles 2, 4, 8, ...
Players  one.
Turn     all tiles slide as far as they can in one direction. Two equal tiles that meet become one of their sum, which scores
         its number and does not merge again in the turn. A move that changes nothing is illegal. Then a tile comes to an
         empty cell, each with the same probability: a 2 with probability 9/10, a 4 with 1/10. Two come before the first turn.
End      when a tile of `highest` is made; and when no move is legal.
Moves    0 up, 1 right, 2 down, 3 left; written so. The outcome 2 * cell is a 2, and 2 * cell + 1 a 4; written as tile and cell,
         "2-b3", columns from a and rows from 1 at the top.
Payoff   the score as a share of `goal`, at most 1. `goal` is the score of a `highest` made of twos alone, (k - 1) * 2**k
         points for the tile 2**k: 20,480 for 2048.
Source   Cirulli, 2014; Szubert and Jaskowski: Temporal Difference Learning of N-Tuple Networks for the Game 2048, CIG 2014.

choice      here                                        elsewhere
goal        the game ends at 2048, as in OpenSpiel      it may go on: `highest` up to 32768
payoff      linear in the score, so that the search     the rank of the highest tile; any other curve prefers
            maximizes the expected score                safe or risky play

A board is words of nibbles, the exponents of its tiles. On 4x4, where a row is 16 bits, moves are found in a table.
A tile 2**k has scored (k - 1) * 2**k points, less 4 for each tile that came as a 4. The sum of all tiles and the ply tell how
many fours came, so the board and the ply tell the score.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards.tiles import (
    DOWN,
    LEFT,
    ONES,
    TABLE,
    UP,
    contains,
    exponent,
    moved,
    occupied,
    put,
    row_moves,
    slid,
    transposed,
)
from ucd_envs.interface import Kernels
from ucd_envs.kernels import (
    CHANCE,
    DRAW,
    IS_LEGAL,
    KEY,
    LEGAL_ACTIONS,
    OBSERVE,
    OVER,
    PLAY,
    PLAYOUT,
    PLAYOUT_ACTION,
    PROBABILITY,
    READ_PAYOFFS,
    RESET,
    VALIDATE,
    kernel,
    most_moves,
    move_of,
)
from ucd_envs.rng import below, stepped
from ucd_envs.rules import Rules, State
from ucd_envs.settings import cell_name, cell_named, integer, shown
from ucd_envs.structs import configuration, fields, popcount, record

DIRECTIONS = ("up", "right", "down", "left")
SHORTEST, LONGEST, WORDS = 2, 6, 3
"""Bounds of the sides, and words of a board."""
LEAST_EXPONENT, MOST_EXPONENT = 3, 15
U1, U4, U15, U30, U32, U62 = (np.uint64(n) for n in (1, 4, 15, 30, 32, 62))
LOW30, LOW32 = np.uint64(2**30 - 1), np.uint64(2**32 - 1)
TENTH = np.uint64(round(2**30 / 10))
"""A 4 comes for 30 random bits below this."""

CONFIG = record(*((name, np.int64) for name in ("rows", "columns", "cells", "highest", "goal", "quick")))
"""`highest`: an exponent; `quick`: 1 if the board is 4x4, and a record of TABLE follows."""
CONFIG_BYTES = CONFIG.itemsize
STATE = record(("player", np.int32), ("ply", np.int32), ("board", np.uint64, (WORDS,)))


@kernel(RESET)
def reset(config, state):
    """Clears the board, to which chance adds two tiles."""
    s = fields(state, STATE)
    s.player, s.ply = CHANCE, 0
    for word in range(WORDS):
        s.board[word] = np.uint64(0)


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists the directions that change the board, or both tiles for each empty cell."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    count = 0
    if s.player == CHANCE:
        for cell in range(c.cells):
            if exponent(s.board, cell) == 0:
                actions[count], actions[count + 1] = 2 * cell, 2 * cell + 1
                count += 2
    elif s.player >= 0:
        for direction in range(4):
            if changes(config, c, s, direction):
                actions[count] = direction
                count += 1
    return count


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether the direction changes the board, or the tile comes to an empty cell."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player == CHANCE:
        return 0 <= action < 2 * c.cells and exponent(s.board, action >> 1) == 0
    return s.player >= 0 and 0 <= action < 4 and changes(config, c, s, action)


@kernel(PLAY)
def play(config, state, action):
    """Slides the tiles, or adds one. The game is over when the highest tile is made, or no move is left."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    s.ply += 1
    if s.player == CHANCE:
        put(s.board, action >> 1, 1 + (action & 1))
        s.player = CHANCE if s.ply < 2 else OVER if is_stuck(c, s) else 0
        return
    if c.quick:
        s.board[0] = moved(fields(config[CONFIG_BYTES:], TABLE), s.board[0], action)
    else:
        slide(c, s, action)
    s.player = OVER if has_tile(s, c.highest) else CHANCE


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes the score as a share of the goal, at most 1."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    out[0] = min(score(c, s) / c.goal, 1.0)


@kernel(KEY)
def key(config, state, words):
    """Writes the board. The ply tells whether a tile comes next."""
    s = fields(state, STATE)
    for word in range(words.size):
        words[word] = s.board[word]


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays random moves. Without a trace on 4x4 it finishes the game in registers, on a board that may be turned."""
    c, s, played, most = fields(config, CONFIG), fields(state, STATE), np.int64(0), most_moves(trace)
    quick = c.quick == 1 and trace.size == 0
    while s.player >= 0 and played < most and not (quick and s.player == 0):
        action = come(config, state, rng) if s.player == CHANCE else playout_action(config, state, rng)
        if trace.size > 0:
            trace[played] = move_of(s.player, action)
        play(config, state, action)
        played += 1
    if quick and s.player == 0:
        played += finish(fields(config[CONFIG_BYTES:], TABLE), np.uint64(c.highest), s, rng)
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Draws directions until one changes the board, and returns it."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    while True:
        direction = np.int64(below(rng, U4))
        if changes(config, c, s, direction):
            return direction


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes the cells of the tile 2**k to plane k - 1."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    for i in range(planes.size):
        planes[i] = 0
    for cell in range(c.cells):
        k = exponent(s.board, cell)
        if k > 0:
            planes[cell * c.highest + k - 1] = 1


@kernel(DRAW)
def come(config, state, rng):
    """Returns an empty cell and a tile: all cells with the same probability, a 4 once in ten times."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    drawn = np.int64(below(rng, np.uint64(10 * empty_cells(c, s))))
    left, cell = drawn // 10, np.int64(-1)
    while left >= 0:
        cell += 1
        left -= exponent(s.board, cell) == 0
    return 2 * cell + (drawn % 10 == 0)


@kernel(PROBABILITY)
def probability(config, state, action):
    """Returns 9/10 or 1/10, divided by the number of empty cells."""
    return (0.1 if action & 1 else 0.9) / empty_cells(fields(config, CONFIG), fields(state, STATE))


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether the tiles can have come in the plies that were played, and the game is over exactly when it must be."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    for word in range(WORDS):
        used = min(max(c.cells - 16 * word, 0), 16)
        if used < 16 and s.board[word] >> np.uint64(4 * used):
            return False
    came, total, reducible, highest = tiles_come(s.ply), 0, 0, 0
    for cell in range(c.cells):
        k = exponent(s.board, cell)
        if k > c.highest:
            return False
        highest += k == c.highest
        total += (1 << k) if k > 0 else 0
        # A tile 2**k is made of at most 2**(k - 2) fours.
        reducible += (1 << (k - 2)) if k > 1 else 0
    fours = total // 2 - came
    if fours < 0 or fours > min(came, reducible) or highest > 2:
        return False
    chance = s.ply < 2 or s.ply % 2 == 1
    if highest > 0:
        return s.player == OVER and s.ply > 2 and chance and empty_cells(c, s) > 0
    if chance:
        return s.player == CHANCE and empty_cells(c, s) > 0
    return s.player == (OVER if is_stuck(c, s) else 0)


@kernel()
def empty_cells(c, s):
    """Returns the number of empty cells."""
    count = np.uint64(0)
    for word in range(WORDS):
        count += np.uint64(popcount(occupied(s.board[word])))
    return c.cells - np.int64(count)


@kernel()
def has_tile(s, k):
    """Returns whether a tile 2**k, k > 0, is on the board."""
    found = False
    for word in range(WORDS):
        found = found or contains(s.board[word], np.uint64(k) * ONES)
    return found


@kernel()
def tiles_come(ply):
    """Returns how many tiles came in the first plies: two, then one for every second ply."""
    return min(np.int64(ply), 1 + np.int64(ply) // 2)


@kernel()
def score(c, s):
    """Returns the points: those of all tiles as if made of twos, less those that the fours did not score."""
    total, points = 0, 0
    for cell in range(c.cells):
        k = exponent(s.board, cell)
        if k > 0:
            total += 1 << k
            points += (k - 1) << k
    return points - 4 * (total // 2 - tiles_come(s.ply))


@kernel()
def line_of(c, direction, line):
    """Returns the first cell of a line, the step to the next one, and the line's length: tiles slide to the first cell."""
    if direction == UP:
        return line, c.columns, c.rows
    if direction == DOWN:
        return c.cells - c.columns + line, -c.columns, c.rows
    if direction == LEFT:
        return line * c.columns, np.int64(1), c.columns
    return (line + 1) * c.columns - 1, np.int64(-1), c.columns


@kernel()
def slide(c, s, direction):
    """Slides the tiles of all lines and merges equal ones, on a board of any size."""
    for line in range(c.columns if direction in (UP, DOWN) else c.rows):
        first, step, length = line_of(c, direction, np.int64(line))
        target, waiting = np.int64(0), np.int64(0)
        # `waiting`: the exponent of the last tile before `target` if it may merge, else 0
        for place in range(length):
            k = exponent(s.board, first + step * place)
            if k > 0:
                put(s.board, first + step * place, 0)
                if k == waiting:
                    put(s.board, first + step * (target - 1), k + 1)
                    waiting = np.int64(0)
                else:
                    put(s.board, first + step * target, k)
                    target, waiting = target + 1, k


@kernel()
def changes(config, c, s, direction):
    """Returns whether a move changes the board."""
    if c.quick:
        return moved(fields(config[CONFIG_BYTES:], TABLE), s.board[0], direction) != s.board[0]
    for line in range(c.columns if direction in (UP, DOWN) else c.rows):
        first, step, length = line_of(c, direction, np.int64(line))
        for place in range(length - 1):
            here, behind = exponent(s.board, first + step * place), exponent(s.board, first + step * (place + 1))
            if behind > 0 and (here == 0 or here == behind):
                return True
    return False


@kernel()
def is_stuck(c, s):
    """Returns whether no move changes the board: it is full, without equal neighbours."""
    if empty_cells(c, s) > 0:
        return False
    for cell in range(c.cells):
        k = exponent(s.board, cell)
        if (cell % c.columns + 1 < c.columns and exponent(s.board, cell + 1) == k) or (
            cell + c.columns < c.cells and exponent(s.board, cell + c.columns) == k
        ):
            return False
    return True


@kernel()
def finish(table, highest, s, rng):
    """Plays random moves on 4x4 to the end, and returns how many plies that took.

    The board is not turned back behind a vertical move: directions and cells are drawn uniformly, so all turns of a board
    have the same future.
    """
    a, b, board, plies, tried = rng[0], rng[1], s.board[0], np.int64(0), np.uint64(0)
    while tried < U15:
        # The upper two of the random bits are the direction, the next 32 the cell of the tile that comes, the rest its number.
        bits, a, b = stepped(a, b)
        direction = bits >> U62
        turned = board ^ ((board ^ transposed(board)) & (np.uint64(0) - (direction & U1)))
        after = slid(table, turned, direction >> U1 << U4)
        if after == turned:
            tried |= U1 << direction
            continue
        plies += 1
        if contains(after, highest * ONES):
            board = after
            break
        empty = occupied(after) ^ ONES
        index = (bits >> U30 & LOW32) * np.uint64(popcount(empty)) >> U32
        # The product counts in each nibble the empty cells up to there, 15 at most: a move leaves a tile.
        place = empty & ~occupied(empty * ONES ^ (index + U1) * ONES)
        board = after | place << np.uint64((bits & LOW30) < TENTH)
        plies, tried = plies + 1, np.uint64(0)
    rng[0], rng[1] = a, b
    s.board[0], s.player = board, OVER
    s.ply += plies
    return plies


def rules(rows: int = 4, columns: int = 4, highest: int = 2048) -> Rules:
    """2048 on `rows` x `columns` cells, 2 to 6 each, up to a tile of `highest`, a power of two from 8 to 32768.

    Raises ValueError for others.
    """
    rows, columns = integer("rows", rows, SHORTEST, LONGEST), integer("columns", columns, SHORTEST, LONGEST)
    highest = integer("highest", highest, 1 << LEAST_EXPONENT, 1 << MOST_EXPONENT)
    if highest & (highest - 1):
        raise ValueError(f"highest must be a power of two from 8 to 32768, not {highest}")
    cells, top, quick = rows * columns, highest.bit_length() - 1, rows == columns == 4
    # No board of n cells has a tile above 2**(n + 1), nor has a game that goes on one above half of `highest`.
    reached = min(top, cells + 1)
    goal = (reached - 1) << reached
    most = min(cells << (top - 1), 4 << cells)
    config = configuration(CONFIG, rows=rows, columns=columns, cells=cells, highest=top, goal=goal, quick=quick)

    def points(state: State) -> float:
        return float(score(fields(config, CONFIG), fields(state.array(), STATE)))

    def action_name(state: State, action: int) -> str:
        if state.player != CHANCE and action < len(DIRECTIONS):
            return DIRECTIONS[action]
        return f"{2 + 2 * (action % 2)}-{cell_name(action // 2, columns)}"

    def action_named(state: State, text: str) -> int:
        if state.player != CHANCE:
            if text.lower() not in DIRECTIONS:
                raise ValueError(f"{shown(text)} is no move: expected one of {', '.join(DIRECTIONS)}")
            return DIRECTIONS.index(text.lower())
        tile, dash, cell = text.partition("-")
        if not dash or tile not in ("2", "4"):
            raise ValueError(f"{shown(text)} is no tile: expected 2 or 4 and a cell, such as 2-a1")
        return 2 * cell_named(cell, rows, columns) + (tile == "4")

    return Rules(
        name="twenty_forty_eight_v0",
        settings={"rows": rows, "columns": columns, "highest": highest},
        players=1,
        actions=max(4, 2 * cells),
        max_plies=most,
        config=np.concatenate([config, configuration(TABLE, moved=row_moves())]) if quick else config,
        state_bytes=STATE.itemsize,
        key_words=-(-cells // 16),
        planes=(rows, columns, top),
        tiling="tiles",
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key),
            is_legal=is_legal,
            playout=playout,
            playout_action=playout_action,
            observe=observe,
            draw=come,
            probability=probability,
        ),
        action_name=action_name,
        action_named=action_named,
        rewards=(0.0, float(goal)),
        score=points,
        why_illegal=lambda action: "the move changes nothing",
        layout=STATE,
        validate=validate,
    )


EXAMPLES: tuple[dict[str, Any], ...] = (
    {},
    {"rows": 2, "columns": 2},
    {"rows": 3, "columns": 2, "highest": 32},
    {"rows": 2, "columns": 6},
    {"rows": 5, "columns": 5, "highest": 256},
)
"""Configurations for the shared tests."""
