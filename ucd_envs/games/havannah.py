"""Havannah.

Board    a hexagon of hexagonal cells, `base` (2 to 10) on a side: cells (x, y) with 0 <= x, y < 2 base - 1 and
         |x - y| < base. Cell (x, y) touches (x +- 1, y), (x, y +- 1), (x + 1, y + 1) and (x - 1, y - 1).
Players  two; both may use all sides.
Turn     a stone on an empty cell, which is never moved. With `swap`, the second move of the game may be a swap instead.
End      at the first winning chain, whose owner wins. A ring surrounds at least one cell, empty or not; a bridge connects two
         of the six corners; a fork touches three of the six edges. Corners belong to no edge. A full board without any is a
         draw. `Rules.victory` returns how the game was won, and by which stones.
Moves    cells row by row, y from 0, in each row x ascending: 0 ... cells - 1. With `swap` one more action, written "swap".
Source   Freeling 1981; the game of [CMC 6].

choice            here                                            elsewhere
names of cells    as on Little Golem: the letter of y, and x      castro, morat: the letter of y and x + 1, "h9"; OpenSpiel
                  counted from the row's own first cell: (8, 7)   has the letter of x and y + 1
                  at base 5 is "h5"
swap              the stone stays and becomes the swapper's       Little Golem exchanges the seats, which is the same game
actions           cells only                                      OpenSpiel numbers the cut corners too, y (2 base - 1) + x
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards.hexagon import cells_of, images_of, shape
from ucd_envs.boards.rings import HEXAGON, KINDS, MOST_BASE, SIDE, hexagon, kinds_on, links_agree, on_board, put, split
from ucd_envs.boards.rows import WHY_NO_SWAP, may_swap
from ucd_envs.interface import Kernels, Victory
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
from ucd_envs.rng import below, stepped
from ucd_envs.rules import Rules, State, set_mover
from ucd_envs.settings import boolean, integer
from ucd_envs.structs import array_at, configuration, fields, popcount, record, stack_array
from ucd_envs.symmetries import of_planes, symmetries, with_others

U0, U1, U2, U32, U64 = (np.uint64(n) for n in (0, 1, 2, 32, 64))
ONE = np.uint32(1)
LINK, POINT = np.dtype(np.uint32), np.dtype(np.uint16)

CONFIG = record(("swap", np.int32), *HEXAGON)
STATE = record(
    ("player", np.int32),
    ("ply", np.int32),
    ("winner", np.int32),
    ("kinds", np.int32),
    ("last", np.int32),
    ("vacant", np.uint64),
    ("stones", np.uint32, (2, SIDE + 2)),
)
"""Fields of a state. `kinds`: RING, BRIDGE, FORK of the last stone; `last`: its cell. Behind the record lie the links of all
points, then the list of empty points. The link of an empty point is its index in that list."""
RECORD_BYTES = np.uint64(STATE.itemsize)


@kernel(RESET)
def reset(config, state):
    """Clears the board."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    s.player = 0
    s.ply = 0
    s.winner = -1
    s.kinds = 0
    s.last = -1
    s.vacant = c.cells
    for player in range(2):
        for row in range(SIDE + 2):
            s.stones[player, row] = 0
    for i in range(RECORD_BYTES, np.uint64(state.size)):
        state[i] = 0
    links, empty = links_of(state, c), empty_of(state, c)
    for i in range(c.cells):
        empty[i] = c.point[i]
        links[c.point[i]] = i


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists every empty cell, and the swap at the second move."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    count = U0
    if s.player < 0:
        return np.int64(0)
    cell = U0
    for row in range(np.uint64(c.side)):
        vacant = ~(s.stones[0, row + U1] | s.stones[1, row + U1]) >> np.uint32(c.first[row])
        for column in range(c.width[row]):
            actions[count] = cell
            count += (vacant >> np.uint32(column)) & ONE
            cell += U1
    if may_swap(c, s):
        actions[count] = c.cells
        count += U1
    return np.int64(count)


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether the cell is empty, or the swap is legal."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    cells = np.int64(c.cells)
    if s.player < 0 or action < 0 or action > cells:
        return False
    if action == cells:
        return may_swap(c, s)
    return is_empty(c, s, np.uint64(c.point[action]))


@kernel(PLAY)
def play(config, state, action):
    """Puts the mover's stone on an empty cell, or swaps. The game is over when the stone wins or fills the board."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    player = s.player
    s.ply += 1
    s.player = 1 - player
    if action == np.int64(c.cells):
        for row in range(SIDE + 2):
            s.stones[player, row], s.stones[1 - player, row] = s.stones[1 - player, row], 0
        return
    # The link of an empty point is its index in `empty`; a stone overwrites it in `put`.
    links, empty, p = links_of(state, c), empty_of(state, c), np.uint64(c.point[action])
    s.vacant -= U1
    place, other = np.uint64(links[p]), np.uint64(empty[s.vacant])
    empty[place] = other
    links[other] = place
    settle(c, s, put(c, s, links, np.uint64(player), p), player, p)


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 for the winner and 0 for the other, or 1/2 each for a draw."""
    winner = fields(state, STATE).winner
    for player in range(2):
        out[player] = 0.5 if winner < 0 else 1.0 - abs(winner - player)


@kernel(KEY)
def key(config, state, words):
    """Writes two bits for the mover, then the rows of player 0 and of player 1."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    word, used, filled = np.uint64(s.player + 1), U2, np.uint64(0)
    for player in range(2):
        for row in range(c.side):
            width = c.width[row]
            bits = np.uint64(s.stones[player, row + 1] >> np.uint32(c.first[row]))
            word |= bits << used
            used += width
            if used >= U64:
                words[filled] = word
                filled += U1
                used -= U64
                word = bits >> (width - used)
    if filled < np.uint64(words.size):
        words[filled] = word


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays the empty cells in random order."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    played, most, ply = np.int64(0), most_moves(trace), s.ply
    while c.swap and s.player >= 0 and s.ply < 2 and played < most:
        action = playout_action(config, state, rng)
        if trace.size > 0:
            trace[played] = move_of(s.player, action)
        play(config, state, action)
        played += 1
    if s.player < 0 or played == most:
        return played
    links, empty, vacant, player = links_of(state, c), empty_of(state, c), s.vacant, np.uint64(s.player)
    low, high = rng[0], rng[1]
    while True:
        bits, low, high = stepped(low, high)
        place = ((bits >> U32) * vacant) >> U32
        p = np.uint64(empty[place])
        vacant -= U1
        empty[place] = empty[vacant]
        # Without a trace the links of empty points are not kept: the game runs to its end, where none is read.
        if trace.size > 0:
            links[np.uint64(empty[vacant])] = place
            trace[played] = move_of(player, c.action[p])
        played += 1
        kinds = put(c, s, links, player, p)
        player ^= U1
        if kinds or vacant == 0 or played == most:
            break
    rng[0], rng[1] = low, high
    s.ply = ply + played
    s.vacant = vacant
    settle(c, s, kinds, np.int64(player ^ U1), p)
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns a legal move, drawn uniformly."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    rank = below(rng, s.vacant + np.uint64(may_swap(c, s)))
    return np.int64(c.cells) if rank == s.vacant else np.int64(c.action[empty_of(state, c)[rank]])


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes own stones, the other's, ones on the cells of the board, and, with the swap rule, ones while a swap is legal."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    depth = 4 if c.swap else 3
    for i in range(planes.size):
        planes[i] = 0
    # Planes could lie anywhere, so that what the loop needs of the records is read before it.
    side, cells, own, other = np.uint64(c.side), np.uint64(c.cells), np.uint64(player), np.uint64(1 - player)
    for cell in range(cells):
        row, column = split(c, np.uint64(c.point[cell]))
        at = ((row - U1) * side + column - U1) * np.uint64(depth)
        planes[at] = (s.stones[own, row] >> np.uint32(column)) & ONE
        planes[at + U1] = (s.stones[other, row] >> np.uint32(column)) & ONE
        planes[at + U2] = 1
    swap = s.player == player and may_swap(c, s)
    for at in range(3, planes.size if c.swap else 0, depth):
        planes[at] = swap


@kernel(LEGAL_ACTIONS)
def playout_actions(config, state, actions):
    """Lists all legal moves in the order of the empty points, which is the fastest."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    empty = empty_of(state, c)
    for i in range(s.vacant):
        actions[i] = c.action[empty[i]]
    swap = np.uint64(may_swap(c, s))
    if swap:
        actions[s.vacant] = c.cells
    return np.int64(s.vacant + swap)


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether links, empty points, counts and the end of the game follow from the stones."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    links, empty, stones = links_of(state, c), empty_of(state, c), np.int64(0)
    for row in range(SIDE + 2):
        first, second = s.stones[0, row], s.stones[1, row]
        if (first | second) & ~on_board(c, row) or first & second:
            return False
        stones += np.int64(popcount(first)) + np.int64(popcount(second))
    swapped = c.swap != 0 and s.ply > 1 and s.ply == stones + 1
    if (s.ply != stones and not swapped) or s.vacant != c.cells - np.uint64(stones) or not links_agree(c, s, links):
        return False
    for i in range(s.vacant):
        p = np.uint64(empty[i])
        row, column = split(c, p)
        if (
            p >= np.uint64(links.size)
            or not (on_board(c, row) >> np.uint32(column)) & U1
            or not is_empty(c, s, p)
            or links[p] != i
        ):
            return False
    if s.last < -1 or s.last >= np.int64(c.cells) or (s.last < 0) != (stones == 0):
        return False
    if s.last >= 0 and is_empty(c, s, np.uint64(c.point[s.last])):
        return False
    return ends_as_it_says(c, s)


@kernel(inline=True)
def links_of(state, c):
    """Returns the links of all points: [points] uint32."""
    return array_at(np.uint64(state.ctypes.data) + RECORD_BYTES, (np.uint64(c.side + 2) << c.shift,), LINK)


@kernel(inline=True)
def empty_of(state, c):
    """Returns the list of empty points, [cells] uint16: the first `vacant` entries, in any order."""
    points = np.uint64(c.side + 2) << c.shift
    return array_at(np.uint64(state.ctypes.data) + RECORD_BYTES + (points << U2), (c.cells,), POINT)


@kernel()
def ends_as_it_says(c, s):
    """Returns whether the last stone, and nothing before it, made the recorded kinds of victory, and else no stone did."""
    kinds = kinds_on(c, s.stones[0]) | kinds_on(c, s.stones[1])
    if s.winner < 0:
        return s.winner == -1 and kinds == 0 and s.kinds == 0 and (s.player < 0) == (s.vacant == 0)
    if s.player >= 0 or s.winner > 1 or kinds == 0 or s.kinds != np.int64(kinds) or kinds_on(c, s.stones[1 - s.winner]):
        return False
    before = stack_array(SIDE + 2, LINK)
    for row in range(SIDE + 2):
        before[row] = s.stones[s.winner, row]
    row, column = split(c, np.uint64(c.point[s.last]))
    last = ONE << np.uint32(column)
    before[row] &= ~last
    return s.stones[s.winner, row] & last != 0 and kinds_on(c, before) == 0


@kernel()
def is_empty(c, s, p):
    """Returns whether no stone lies on a point."""
    row, column = split(c, p)
    return ((s.stones[0, row] | s.stones[1, row]) >> np.uint32(column)) & U1 == 0


@kernel()
def settle(c, s, kinds, player, p):
    """Records a player's stone on a point and its `kinds`. Passes the turn, or ends the game."""
    s.last = c.action[p]
    s.kinds = np.int64(kinds)
    s.winner = player if kinds else -1
    s.player = -1 if kinds or s.vacant == 0 else 1 - player


def rules(base: int = 8, swap: bool = False) -> Rules:
    """Havannah with `base` cells, 2 to 10, on a side of the board. Raises ValueError for another base."""
    base, swap = integer("base", base, 2, MOST_BASE), boolean("swap", swap)
    grid, side = cells_of(base), 2 * base - 1
    cells, tables = len(grid), hexagon(base)
    names = [f"{chr(ord('a') + y)}{x - max(0, y - base + 1) + 1}" for x, y in grid] + ["swap"] * swap
    places = {name: place for place, name in enumerate(names)}
    turned, key_words = np.array(images_of(base)), (2 + 2 * cells + 63) // 64
    bits, seen = 2 + np.arange(cells)[:, None] + np.array([0, cells]), np.tile(np.arange(side * side), (len(turned), 1))
    seen[:, [y * side + x for x, y in grid]] = np.array([y * side + x for x, y in grid])[turned]

    def action_named(state: State, text: str) -> int:
        if text.lower() not in places:
            raise ValueError(f"{text!r} is no cell of this board: expected one such as {names[0]} or {names[cells - 1]}")
        return places[text.lower()]

    def victory(state: State) -> Victory | None:
        s = fields(state.array(), STATE)
        if s.winner < 0:
            return None
        stones = {(x, y) for x, y in grid if int(s.stones[s.winner, y + 1]) >> x + 1 & 1}
        kinds = tuple(kind for bit, kind in enumerate(KINDS) if int(s.kinds) >> bit & 1)
        return Victory(kinds, tuple(sorted(grid.index(cell) for cell in shape(kinds[0], base, stones, grid[s.last]))))

    return Rules(
        name="havannah_v0",
        settings={"base": base, "swap": swap},
        players=2,
        actions=cells + swap,
        max_plies=cells + swap,
        config=configuration(CONFIG, swap=swap, **tables),
        state_bytes=STATE.itemsize + (4 * ((side + 2) << tables["shift"]) + 2 * cells + 7) // 8 * 8,
        key_words=key_words,
        planes=(side, side, 4 if swap else 3),
        tiling="hexagon",
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key),
            is_legal=is_legal,
            playout=playout,
            playout_action=playout_action,
            playout_actions=playout_actions,
            is_playable=is_legal,
            observe=observe,
        ),
        action_name=lambda state, action: names[action],
        action_named=action_named,
        why_illegal=lambda action: WHY_NO_SWAP if action == cells else "the cell is taken",
        victory=victory,
        layout=STATE,
        validate=validate,
        turn=set_mover,
        symmetries=symmetries(turned, bits, with_others(turned, int(swap)), key_words, of_planes(seen, 4 if swap else 3)),
        shrinking=not swap,
    )


EXAMPLES: tuple[dict[str, Any], ...] = (
    {"base": 2},
    {"base": 2, "swap": True},
    {"base": 3},
    {"base": 4, "swap": True},
    {"base": 5},
    {"base": 7},
    {"base": 8, "swap": True},
    {"base": 10},
)
"""Configurations for the shared tests."""
