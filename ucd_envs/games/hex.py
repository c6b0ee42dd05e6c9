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
swap              the stone moves to the transposed cell and becomes the       some exchange the players' seats
                  swapper's; square boards only
opening           stones placed in turn before the start; they count as plies  given as ordinary first moves
black, white      any stones of player 0 and 1 before the start, also plies    by editors and puzzles only

Each player's stones are rows of bits in the player's own frame: player 0's by rows, player 1's by columns, the
board transposed. The neighbourhood is its own transpose, so one piece of code serves both, and every chain runs from
row 0 to the last row of a frame.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards.rows import WHY_NO_SWAP, may_swap, place, ranked, spread
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
from ucd_envs.rng import below, draw
from ucd_envs.rules import Rules, State, set_mover
from ucd_envs.settings import boolean, cell_name, cell_named, integer
from ucd_envs.structs import configuration, fields, popcount, record, stack_array
from ucd_envs.symmetries import of_planes, symmetries, with_others

SIDE = 19
"""Longest side of a board."""
ONE = np.uint32(1)
ROW = np.dtype(np.uint32)
U1, U2, U3, U32, U45, U64 = (np.uint64(n) for n in (1, 2, 3, 32, 64 - SIDE, 64))

CONFIG = record(
    *((name, np.int32) for name in ("rows", "columns", "swap", "first", "stones")),
    ("opening", np.int32, (SIDE * SIDE,)),
    ("owner", np.int8, (SIDE * SIDE,)),
)
"""Fields of a configuration. `opening` and `owner`: cells and players of the `stones` placed before the start, after which
player `first` moves."""
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
    """Clears the board and places the stones before the start."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    s.player = 0
    s.ply = 0
    s.winner = -1
    for row in range(SIDE):
        s.empty[row] = (ONE << np.uint32(c.columns)) - ONE if row < c.rows else np.uint32(0)
        for player in range(2):
            s.stones[player, row] = np.uint32(0)
            s.joined[player, row] = np.uint32(0)
    for i in range(c.stones):
        s.player = c.owner[i]
        play(config, state, np.int64(c.opening[i]))
    s.player = c.first


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists every empty cell, and the swap at the second move."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    count = 0
    if s.player < 0:
        return count
    for row in range(np.uint64(c.rows)):
        empty = s.empty[row]
        for column in range(np.uint32(c.columns)):
            actions[count] = row * c.columns + column
            count += (empty >> column) & ONE
    if may_swap(c, s):
        actions[count] = c.rows * c.columns
        count += 1
    return count


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether the cell is empty, or the swap is legal."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    cells = c.rows * c.columns
    if s.player < 0 or action < 0 or action > cells:
        return False
    if action == cells:
        return may_swap(c, s)
    return (s.empty[action // c.columns] >> np.uint32(action % c.columns)) & ONE != 0


@kernel(PLAY)
def play(config, state, action):
    """Puts the mover's stone on an empty cell, or swaps. The game is over when the stone connects the mover's two sides."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    player = s.player
    s.ply += 1
    s.player = 1 - player
    if action == c.rows * c.columns:
        take_over(c, s, player)
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
    c, s = fields(config, CONFIG), fields(state, STATE)
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
    c, s = fields(config, CONFIG), fields(state, STATE)
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
    c, s = fields(config, CONFIG), fields(state, STATE)
    cells = np.uint64(c.rows * c.columns - s.ply)  # each ply but a swap is a stone
    if c.swap:
        cells = np.uint64(0)
        for row in range(np.uint64(c.rows)):
            cells += np.uint64(popcount(s.empty[row]))
    swap = np.uint64(may_swap(c, s))
    rank = below(rng, cells + swap)
    if rank == cells:
        return c.rows * c.columns
    row, bit = ranked(s.empty, rank)
    return row * c.columns + popcount(bit - ONE)


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes own stones, the other's, ones for player 0, and, with the swap rule, ones while a swap is legal."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    # Planes could lie anywhere, so that what a loop needs of the records is read before it.
    rows, columns, depth = np.uint32(c.rows), np.uint32(c.columns), np.uint64(4 if c.swap else 3)
    swap, first, at = may_swap(c, s), np.int8(1 - player), np.uint64(0)
    own, other = np.uint64(player), np.uint64(1 - player)
    for row in range(rows):
        stones = s.stones[0, row]
        for column in range(columns):
            planes[at + own] = (stones >> column) & ONE
            planes[at + other] = (s.stones[1, column] >> row) & ONE
            planes[at + U2] = first
            if depth > U3:
                planes[at + U3] = swap
            at += depth


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether each cell has one owner, the ply counts the moves, and `joined` and winner follow from the stones."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    stones = 0
    for row in range(SIDE):
        for column in range(32):
            bit, inside = np.uint32(column), row < c.rows and column < c.columns
            first = (s.stones[0, row] >> bit) & ONE
            second = (s.stones[1, column] >> np.uint32(row)) & ONE if column < SIDE else np.uint32(0)
            if first + second + ((s.empty[row] >> bit) & ONE) != np.uint32(inside):
                return False
            stones += first + second
        if (
            s.stones[1, row] >> np.uint32(c.rows)
            or s.joined[0, row] & ~s.stones[0, row]
            or s.joined[1, row] & ~s.stones[1, row]
        ):
            return False
    if s.ply != stones and not (c.swap and s.ply > 1 and s.ply == stones + 1):
        return False
    winner, joined = -1, stack_array(SIDE, ROW)
    for player in range(2):
        for row in range(SIDE):
            joined[row] = s.stones[player, row] if row == 0 else np.uint32(0)
        if spread(s.stones[player], joined, np.uint32(0), np.uint32((c.rows if player == 0 else c.columns) - 1)):
            winner = player  # the last stone may have ended the game before all that it joins was found
        for row in range(SIDE):
            if winner != player and joined[row] != s.joined[player, row]:
                return False
    return s.winner == winner and (s.player < 0) == (winner >= 0)


@kernel()
def take_over(c, s, player):
    """Gives the other's one stone to a player at the transposed cell, where it has the same bits in the player's own frame
    [swap-pieces]."""
    other = 1 - player
    for row in range(np.uint64(c.rows)):
        bits = s.stones[other, row]
        s.stones[player, row], s.stones[other, row] = bits, np.uint32(0)
        s.joined[player, row], s.joined[other, row] = s.joined[other, row], np.uint32(0)
        if bits:
            # The board has the cell and the transposed one; which of the two was taken depends on the frame.
            s.empty[row] ^= bits
            s.empty[popcount(bits - ONE)] ^= ONE << np.uint32(row)


@kernel()
def play_in_random_order(config, state, rng, trace):
    """Plays the empty cells in random order until the game is over. Returns the number of moves."""
    c, s = fields(config, CONFIG), fields(state, STATE)
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
def top_meets_bottom(s, rows):
    """Returns whether player 0's stones connect row 0 to the last row of a full board."""
    s.joined[0, 0] = s.stones[0, 0]
    for row in range(np.uint64(1), np.uint64(rows)):
        s.joined[0, row] = np.uint32(0)
    return spread(s.stones[0], s.joined[0], np.uint32(0), np.uint32(rows - 1))


def rules(
    size: int = 11,
    rows: int | None = None,
    columns: int | None = None,
    swap: bool = False,
    opening: str = "",
    black: str = "",
    white: str = "",
    first: str | None = None,
) -> Rules:
    """Hex on `rows` x `columns` cells (each 1 to 19, by default `size`), with `opening` such as "b2" or "b2 c3" played
    before.

    black and white: stones of player 0 and of player 1 before the start, any number of each, instead of an opening; first:
    "black" or "white", who moves then, by default White after an odd number of stones. Raises TypeError for an opening or
    stones that are not text. Raises ValueError for sides out of range, a swap on a board that is not square, an illegal
    opening, and stones that cannot stand together.
    """
    size = integer("size", size, 1, SIDE)
    rows = size if rows is None else integer("rows", rows, 1, SIDE)
    columns = size if columns is None else integer("columns", columns, 1, SIDE)
    for name, text in (("opening", opening), ("black", black), ("white", white)):
        if not isinstance(text, str):
            raise TypeError(f"{name} must be text such as 'b2' or 'b2 c3', not {text!r}")
    if first not in (None, "black", "white"):
        raise ValueError(f"first must be black or white, not {first!r}")
    if opening and (black or white):
        raise ValueError("stones before the start are either an opening or black and white: give one of them")
    if boolean("swap", swap) and rows != columns:
        raise ValueError(f"swap needs a square board, but this one has {rows} rows and {columns} columns")
    cells = rows * columns

    def action_name(state: State | None, action: int) -> str:
        return "swap" if action == cells else cell_name(action, columns)

    def action_named(state: State | None, text: str) -> int:
        if swap and text.lower() == "swap":
            return cells
        return cell_named(text, rows, columns)

    given = opening or f"{black} {white}".strip()
    stones = [action_named(None, name) for name in given.split()]
    owners = [place % 2 if opening else int(place >= len(black.split())) for place in range(len(stones))]
    what = f"opening {given!r}" if opening else f"stones {given!r}"
    if cells in stones or len(set(stones)) < len(stones):
        raise ValueError(f"{what} must name different cells")
    if stones:
        state = rules(rows=rows, columns=columns).initial_state()
        for owner, stone in zip(owners, stones, strict=True):
            state = state if state.over else state.turned(owner).after(stone)
        if state.over:
            raise ValueError(f"{what} already end{'s' * bool(opening)} the game")
    mover = len(stones) % 2 if first is None else int(first == "white")
    names = [action_name(None, stone) for stone in stones]
    settings: dict[str, Any] = {"rows": rows, "columns": columns, "swap": bool(swap), "opening": " ".join(names)}
    if owners != [place % 2 for place in range(len(stones))] or mover != len(stones) % 2:
        by_owner = [" ".join(name for name, owner in zip(names, owners, strict=True) if owner == seat) for seat in (0, 1)]
        settings |= {"opening": "", "black": by_owner[0], "white": by_owner[1], "first": ("black", "white")[mover]}
    room = (0, SIDE * SIDE - len(stones))
    turned = np.array([range(cells), range(cells)[::-1]])
    by_columns = np.argsort(np.arange(cells).reshape(rows, columns).T, axis=None)
    key_words, bits = (2 + 2 * cells + 63) // 64, 2 + np.stack([turned[0], cells + by_columns], axis=1)
    return Rules(
        name="hex_v0",
        settings=settings,
        players=2,
        actions=cells + bool(swap),
        max_plies=cells + bool(swap),
        config=configuration(
            CONFIG,
            **{"rows": rows, "columns": columns, "swap": swap, "first": mover, "stones": len(stones)},
            opening=np.pad(stones, room),
            owner=np.pad(owners, room),
        ),
        state_bytes=STATE.itemsize,
        key_words=key_words,
        planes=(rows, columns, 4 if swap else 3),
        tiling="hexagonal",
        kernels=Kernels(reset, legal_actions, play, payoffs, key, is_legal, playout, playout_action, observe=observe),
        action_name=action_name,
        action_named=action_named,
        why_illegal=lambda action: WHY_NO_SWAP if action == cells else "the cell is taken",
        layout=STATE,
        validate=validate,
        turn=set_mover,
        symmetries=symmetries(turned, bits, with_others(turned, int(swap)), key_words, of_planes(turned, 4 if swap else 3)),
        shrinking=not swap,
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
