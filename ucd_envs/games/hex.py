"""Hex.

Board    rows x columns hexagonal cells, 1x1 to 19x19. Cell (row, column) touches (row, column +- 1), (row +- 1, column),
         (row - 1, column + 1) and (row + 1, column - 1).
Players  two; player 0 connects the first row to the last, player 1 the first column to the last.
Turn     a stone on an empty cell, which is never moved. With `swap`, the second move of the game may be a swap instead.
End      at the first chain between a player's two sides, who wins. A full board has exactly one such chain: no draws.
Moves    row * columns + column for a cell, written as players do: column letter, then row from 1 ("b2" is row 1, column
         1). With `swap` one more action, rows * columns, written "swap".
Source   Hein 1942, Nash 1949; the configuration of [UCD 4.2] is size 5 with opening "b2".

choice            here                                                         elsewhere
sides             player 0 top-bottom (as OpenSpiel, Benzene's black)          some have player 0 left-right
swap              the stone moves to the transposed cell and becomes player    some exchange the players' seats
                  1's; square boards only
opening           stones placed in turn before the start; they count as plies  given as ordinary first moves

Each player's stones are rows of bits in the player's own frame: player 0's by rows, player 1's by columns, the
board transposed. The neighbourhood is its own transpose, so one piece of code serves both, and every chain runs from
row 0 to the last row of a frame.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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
    kernel,
    most_moves,
    move_of,
)
from ucd_envs.rng import below, draw
from ucd_envs.rules import Kernels, Rules, State
from ucd_envs.settings import boolean, cell_named, integer
from ucd_envs.structs import configuration, fields, popcount, record

SIDE = 19
"""Longest side of a board."""
ONE = np.uint32(1)
U1, U2, U32, U45, U64 = (np.uint64(n) for n in (1, 2, 32, 64 - SIDE, 64))

CONFIG = record(
    ("rows", np.int32), ("columns", np.int32), ("swap", np.int32), ("stones", np.int32), ("opening", np.int32, (SIDE * SIDE,))
)
"""Fields of a configuration. `opening`: the first `stones` entries are the cells of stones placed before the start."""
STATE = record(
    ("player", np.int32),
    ("ply", np.int32),
    ("winner", np.int32),
    ("empty", np.uint32, (SIDE,)),
    ("stones", np.uint32, (2, SIDE)),
    ("joined", np.uint32, (2, SIDE)),
)
"""Fields of a state. `empty` is in player 0's frame; `stones` and `joined` (stones connected to row 0) in each player's own."""


@kernel(RESET)
def reset(config, state):
    """Clears the board and plays the opening."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    s.player = 0
    s.ply = 0
    s.winner = -1
    for row in range(SIDE):
        s.empty[row] = (ONE << np.uint32(c.columns)) - ONE if row < c.rows else np.uint32(0)
        for player in range(2):
            s.stones[player, row] = np.uint32(0)
            s.joined[player, row] = np.uint32(0)
    for i in range(c.stones):
        play(config, state, c.opening[i])


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists every empty cell, and the swap at the second move."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    count = 0
    if s.player < 0:
        return count
    for row in range(np.uint64(c.rows)):
        empty = s.empty[row]
        for column in range(np.uint32(c.columns)):
            actions[count] = row * c.columns + column
            count += (empty >> column) & ONE
    if c.swap and s.ply == 1:
        actions[count] = c.rows * c.columns
        count += 1
    return count


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether the cell is empty, or the swap is legal."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    cells = c.rows * c.columns
    if s.player < 0 or action < 0 or action > cells:
        return False
    if action == cells:
        return c.swap != 0 and s.ply == 1
    return (s.empty[action // c.columns] >> np.uint32(action % c.columns)) & ONE != 0


@kernel(PLAY)
def play(config, state, action):
    """Puts the mover's stone on an empty cell, or swaps. The game is over when the stone connects the mover's two sides."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    player = s.player
    s.ply += 1
    s.player = 1 - player
    if action == c.rows * c.columns:
        take_over_first_stone(config, state)
        return
    row, column = np.uint32(action // c.columns), np.uint32(action % c.columns)
    s.empty[row] ^= ONE << column
    if place(s, player, row, column, c.rows, c.columns):
        s.player = -1
        s.winner = player


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 for the player whose sides are connected, 0 for the other."""
    winner = fields(state, STATE).winner
    out[winner] = 1.0
    out[1 - winner] = 0.0


@kernel(KEY)
def key(config, state, words):
    """Writes two bits for the mover, then the rows of player 0 and of player 1."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    word = np.uint64(s.player + 1)
    used = U2
    filled = 0
    for player in range(2):
        width = np.uint64(c.columns if player == 0 else c.rows)
        for row in range(np.uint64(c.rows if player == 0 else c.columns)):
            bits = np.uint64(s.stones[player, row])
            word |= bits << used
            used += width
            if used >= U64:
                words[filled] = word
                filled += 1
                used -= U64
                word = bits >> (width - used)
    if filled < words.size:
        words[filled] = word


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays random moves. Without a trace it fills the board at once. The full board's only winner is the player who would
    have connected first, because a chain is never broken."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    played, most = 0, most_moves(trace)
    one_by_one = most < c.rows * c.columns + c.swap  # the list of empty cells needs room behind a swap
    while s.player >= 0 and played < most and (one_by_one or (c.swap and s.ply < 2)):
        action = playout_action(config, state, rng)
        if trace.size > 0:
            trace[played] = move_of(s.player, action)
        play(config, state, action)
        played += 1
    if s.player < 0 or played == most:
        return played
    if trace.size > 0:
        return played + play_in_random_order(config, state, rng, trace[played:])
    played += fill(s, c.rows, rng)
    s.winner = 0 if top_meets_bottom(s, c.rows) else 1
    s.player = -1
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns a legal move, drawn uniformly."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    cells = np.uint64(0)
    for row in range(np.uint64(c.rows)):
        cells += np.uint64(popcount(s.empty[row]))
    swap = np.uint64(1 if c.swap and s.ply == 1 else 0)
    rank = below(rng, cells + swap)
    if rank == cells:
        return c.rows * c.columns
    row, bit = ranked(s.empty, rank)
    return row * c.columns + popcount(bit - ONE)


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes own stones, the other's, ones for player 0, and, with the swap rule, ones while a swap is legal."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    depth = 4 if c.swap else 3
    for row in range(c.rows):
        for column in range(c.columns):
            first = (s.stones[0, row] >> np.uint32(column)) & ONE
            second = (s.stones[1, column] >> np.uint32(row)) & ONE
            at = (row * c.columns + column) * depth
            planes[at] = first if player == 0 else second
            planes[at + 1] = second if player == 0 else first
            planes[at + 2] = 1 - player
            if c.swap:
                planes[at + 3] = 1 if s.ply == 1 and s.player == 1 else 0


@kernel()
def take_over_first_stone(config, state):
    """Gives the one stone to player 1 at the transposed cell. In player 1's frame it has the same bits [swap-pieces]."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    for row in range(np.uint64(c.rows)):
        bits = s.stones[0, row]
        s.stones[1, row], s.stones[0, row] = bits, np.uint32(0)
        s.joined[1, row], s.joined[0, row] = s.joined[0, row], np.uint32(0)
        if bits:
            s.empty[row] |= bits
            s.empty[popcount(bits - ONE)] ^= ONE << np.uint32(row)


@kernel()
def place(s, player, row, column, rows, columns):
    """Puts a stone in its player's frame and extends `joined`. Returns whether the last row is reached."""
    stones, joined = s.stones[player], s.joined[player]
    last = np.uint32(rows - 1)
    if player == 1:
        row, column = column, row
        last = np.uint32(columns - 1)
    stone = ONE << column
    stones[row] |= stone
    near = joined[row] & ((stone << ONE) | (stone >> ONE))
    if row > 0:
        near |= joined[row - ONE] & (stone | (stone << ONE))
    if row < last:
        near |= joined[row + ONE] & (stone | (stone >> ONE))
    if near == 0 and row > 0:
        return False
    joined[row] |= stone
    return spread(stones, joined, row, last)


@kernel()
def spread(stones, joined, row, last):
    """Extends `joined` from one row to all connected stones. Returns whether the last row is reached.

    Sweeps down and up in turn over the rows that may still extend their neighbours, until a sweep changes nothing.
    """
    joined[row] = widened(joined[row], stones[row])
    top, bottom = row, row  # no row outside can extend a neighbour
    while True:
        row = top
        while row < last:
            more = stones[row + ONE] & (joined[row] | (joined[row] >> ONE)) & ~joined[row + ONE]
            row += ONE
            if more != 0:
                joined[row] = widened(joined[row] | more, stones[row])
                bottom = max(bottom, row)
            elif row > bottom:
                break
        if joined[last] != 0:
            return True
        row, lowest, grown = bottom, top, False
        while row > 0:
            more = stones[row - ONE] & (joined[row] | (joined[row] << ONE)) & ~joined[row - ONE]
            row -= ONE
            if more != 0:
                joined[row] = widened(joined[row] | more, stones[row])
                top = row
                if not grown:
                    bottom, grown = row, True
            elif row < lowest:
                break
        if not grown:
            return False


@kernel()
def widened(seeds, stones):
    """Returns all stones of a row in an unbroken line with a seed."""
    seeds |= ((stones + seeds) ^ stones) & stones  # the carry of the sum runs up each line from its seed
    while True:
        more = stones & (seeds >> ONE) & ~seeds
        if more == 0:
            return seeds
        seeds |= more


@kernel()
def play_in_random_order(config, state, rng, trace):
    """Plays the empty cells in random order until the game is over. Returns the number of moves."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    cells = np.uint64(0)
    for row in range(np.uint64(c.rows)):
        for column in range(np.uint64(c.columns)):
            if (s.empty[row] >> np.uint32(column)) & ONE:
                trace[cells] = row * np.uint64(c.columns) + column
                cells += U1
    played = np.uint64(0)
    while s.player >= 0:
        other = played + below(rng, cells - played)
        trace[other], action = trace[played], np.int64(trace[other])
        trace[played] = move_of(s.player, action)
        play(config, state, action)
        played += U1
    return np.int64(played)


@kernel()
def fill(s, rows, rng):
    """Gives player 0 its share of the empty cells, a uniformly random set. Returns the number of empty cells.

    Random words give a set of random size, uniform among the sets of that size. Adding or removing random cells up to the
    right size keeps it uniform.
    """
    empty, chosen = s.empty, s.joined[1]  # scratch: on a full board only player 0's chains are followed
    cells, count, bits = np.uint64(0), np.uint64(0), np.uint64(0)
    for row in range(np.uint64(rows)):
        bits = draw(rng) if row & U1 == 0 else bits << U32
        chosen[row] = empty[row] & np.uint32(bits >> U45)
        cells += np.uint64(popcount(empty[row]))
        count += np.uint64(popcount(chosen[row]))
    share = (cells + np.uint64(1 - s.player)) >> U1
    while count > share:
        row, bit = ranked(chosen, below(rng, count))
        chosen[row] ^= bit
        count -= U1
    for row in range(np.uint64(rows)):
        empty[row] ^= chosen[row]
        s.stones[0, row] |= chosen[row]
    while count < share:
        row, bit = ranked(empty, below(rng, cells - count))
        empty[row] ^= bit
        s.stones[0, row] |= bit
        count += U1
    return np.int64(cells)


@kernel()
def ranked(words, rank):
    """Returns row and bit of the set bit of rank `rank` in `words`."""
    row = np.uint64(0)
    while True:
        count = np.uint64(popcount(words[row]))
        if rank < count:
            break
        rank -= count
        row += U1
    word = words[row]
    while rank > 0:
        word &= word - ONE  # clears the lowest bit
        rank -= U1
    return row, word & (~word + ONE)


@kernel()
def top_meets_bottom(s, rows):
    """Returns whether player 0's stones connect row 0 to the last row of a full board."""
    s.joined[0, 0] = s.stones[0, 0]
    for row in range(np.uint64(1), np.uint64(rows)):
        s.joined[0, row] = np.uint32(0)
    return spread(s.stones[0], s.joined[0], np.uint32(0), np.uint32(rows - 1))


def rules(size: int = 11, rows: int | None = None, columns: int | None = None, swap: bool = False, opening: str = "") -> Rules:
    """Hex on `rows` x `columns` cells (each 1 to 19, by default `size`), with `opening` such as "b2" or "b2 c3" played
    before.

    Raises ValueError for sides out of range, a swap on a board that is not square, and an illegal opening.
    """
    size = integer("size", size, 1, SIDE)
    rows = size if rows is None else integer("rows", rows, 1, SIDE)
    columns = size if columns is None else integer("columns", columns, 1, SIDE)
    if not isinstance(opening, str):
        raise TypeError(f"opening must be text such as 'b2' or 'b2 c3', not {opening!r}")
    if boolean("swap", swap) and rows != columns:
        raise ValueError(f"swap needs a square board, but this one has {rows} rows and {columns} columns")
    cells = rows * columns

    def action_name(state: State | None, action: int) -> str:
        return "swap" if action == cells else f"{chr(ord('a') + action % columns)}{action // columns + 1}"

    def action_named(state: State | None, text: str) -> int:
        if swap and text.lower() == "swap":
            return cells
        return cell_named(text, rows, columns)

    stones = [action_named(None, name) for name in opening.split()]
    if cells in stones or len(set(stones)) < len(stones):
        raise ValueError(f"opening {opening!r} must name different cells")
    if stones:
        state = rules(rows=rows, columns=columns).initial_state()
        for stone in stones:
            state = state if state.over else state.after(stone)
        if state.over:
            raise ValueError(f"opening {opening!r} already ends the game")
    padded = stones + [0] * (SIDE * SIDE - len(stones))
    return Rules(
        name="hex_v0",
        settings={
            "rows": rows,
            "columns": columns,
            "swap": bool(swap),
            "opening": " ".join(action_name(None, stone) for stone in stones),
        },
        players=2,
        actions=cells + bool(swap),
        max_plies=cells + bool(swap),
        config=configuration(CONFIG, rows=rows, columns=columns, swap=swap, stones=len(stones), opening=padded),
        state_bytes=STATE.itemsize,
        key_words=(2 + 2 * cells + 63) // 64,
        planes=(rows, columns, 4 if swap else 3),
        tiling="hexagonal",
        kernels=Kernels(reset, legal_actions, play, payoffs, key, is_legal, playout, playout_action, observe=observe),
        action_name=action_name,
        action_named=action_named,
        why_illegal=lambda action: "the swap is on at the second move only" if action == cells else "the cell is taken",
    )


EXAMPLES: tuple[dict[str, Any], ...] = (
    {"size": 1},
    {"size": 2, "swap": True},
    {"size": 5, "opening": "b2"},
    {"size": 5, "swap": True},
    {"rows": 3, "columns": 5},
    {"rows": 1, "columns": 4},
    {"size": 8},
    {"size": 11},
    {"size": 19},
)
"""Configurations for the shared tests."""
