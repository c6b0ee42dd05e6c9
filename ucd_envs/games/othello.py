"""Othello.

Board    size x size cells, 8x8 by default. Four discs lie in the middle, two of each player.
Players  two; player 0 is black and begins.
Turn     a disc on an empty cell, so that one or more straight or diagonal runs of the other's discs lie between it and another
         own disc. All discs of these runs are turned over. A player without such a cell passes, and only then.
End      when neither player can put a disc. More discs win, equally many are a draw.
Moves    row * size + column of the cell, the first row at the bottom, then size * size for the pass; written column letter and
         row number ("d3"), and "pass".
Source   Hasegawa, 1973; General Game Playing, othello-comp2007.

choice    here                                             elsewhere
rows      counted from the bottom: black has d4 and e5     tournaments count from the top: black has e4 and d5
start     crossed; or parallel, black in the lower row     crossed; parallel in some books of 6x6
payoff    win, draw or loss; or 1/2 + difference of discs  empty cells go to the winner in tournaments
          / (2 * cells), where empty cells go to nobody
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards import discs
from ucd_envs.boards.bits import ZERO, bit, has, list_cells, nth
from ucd_envs.boards.discs import flips, open_cells
from ucd_envs.interface import Kernels
from ucd_envs.kernels import (
    IS_LEGAL,
    KEY,
    LEGAL_ACTIONS,
    OBSERVE,
    OVER,
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
from ucd_envs.rules import Rules, State
from ucd_envs.settings import cell_name, cell_named, integer, shown
from ucd_envs.structs import configuration, fields, popcount, record
from ucd_envs.symmetries import of_planes, of_rectangle, symmetries, with_others

U32 = np.uint64(32)
SIZES, STARTS, PAYOFFS = (4, 6, 8), ("crossed", "parallel"), ("win", "discs")

CONFIG = record(*discs.BOARD, ("cells", np.int64), ("by_discs", np.int64), *discs.LINES)
STATE = record(("player", np.int32), ("ply", np.int32), ("discs", np.uint64, (2,)), ("open", np.uint64))
"""`open`: the cells where the mover can put a disc; none when it must pass."""


@kernel(RESET)
def reset(config, state):
    """Puts the first four discs."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    s.player, s.ply = 0, 0
    s.discs[0], s.discs[1] = c.start[0], c.start[1]
    s.open = open_cells(c, c.start[0], c.start[1])


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists the cells where a disc turns others over, or the pass if there are none."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.open == ZERO and s.player != OVER:
        actions[0] = c.cells
        return 1
    return list_cells(s.open, 0, actions, 0)


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether a disc on the cell turns others over. A pass is legal where there is no such cell."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player == OVER or action < 0 or action > c.cells:
        return False
    return s.open == ZERO if action == c.cells else has(s.open, action)


@kernel(PLAY)
def play(config, state, action):
    """Puts a disc and turns others over, or passes. The game is over when neither player can go on."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    mine, other = s.discs[s.player], s.discs[1 - s.player]
    if action < c.cells:
        turned = flips(c, mine, other, np.uint64(action))
        mine, other = mine | turned | bit(action), other & ~turned
    settle(c, s, 1 - s.player, other, mine)
    s.ply += 1


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1, 1/2 or 0 by who has more discs, or payoffs that grow with the difference."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    lead = np.float64(popcount(s.discs[0])) - np.float64(popcount(s.discs[1]))
    if c.by_discs:
        out[0] = 0.5 + lead / (2 * c.cells)
    else:
        out[0] = 0.5 if lead == 0 else 1.0 if lead > 0 else 0.0
    out[1] = 1.0 - out[0]


@kernel(KEY)
def key(config, state, words):
    """Writes both players' discs. In the second word the four middle cells, never empty, tell the mover instead."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    words[0] = s.discs[0]
    words[1] = (s.discs[1] & ~c.centre) | (c.centre if s.player == 1 else ZERO)


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays random moves. Keeps the position in registers."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player == OVER:
        return 0
    played, most, player = np.int64(0), most_moves(trace), np.int64(s.player)
    mine, other, free, a, b = s.discs[player], s.discs[1 - player], s.open, rng[0], rng[1]
    while played < most:
        cell = np.uint64(c.cells)
        if free:
            bits, a, b = stepped(a, b)
            cell = np.uint64(nth(free, (bits >> U32) * np.uint64(popcount(free)) >> U32))
            turned = flips(c, mine, other, cell)
            mine, other = mine | turned | bit(cell), other & ~turned
        if trace.size > 0:
            trace[played] = move_of(player, cell)
        played += 1
        mine, other, player = other, mine, 1 - player
        free = open_cells(c, mine, other)
        if free == ZERO and open_cells(c, other, mine) == ZERO:
            break
    rng[0], rng[1] = a, b
    settle(c, s, player, mine, other)
    s.ply += played
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns a cell where a disc turns others over, drawn uniformly, or the pass."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    return nth(s.open, below(rng, np.uint64(popcount(s.open)))) if s.open else c.cells


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes own discs, the other's discs, and ones if the observer is to move."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    for cell in range(c.cells):
        planes[3 * cell] = has(s.discs[player], cell)
        planes[3 * cell + 1] = has(s.discs[1 - player], cell)
        planes[3 * cell + 2] = s.player == player


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether the number of discs agrees with the ply, and mover and open cells with the discs."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    both = s.discs[0] | s.discs[1]
    middle = c.start[0] | c.start[1]
    put = np.int64(popcount(both)) - 4
    if s.discs[0] & s.discs[1] or both & ~c.board or middle & ~both:
        return False
    # The first ply puts a disc, and at least every second one after it.
    if not put <= s.ply <= 2 * put - (put > 0) or (put == 0 and s.discs[0] != c.start[0]):
        return False
    mover = s.ply % 2
    free, others = open_cells(c, s.discs[mover], s.discs[1 - mover]), open_cells(c, s.discs[1 - mover], s.discs[mover])
    return s.open == free and s.player == (OVER if free | others == ZERO else mover)


@kernel()
def settle(c, s, player, mine, other):
    """Writes the position with a player to move, or the end of the game."""
    s.discs[player], s.discs[1 - player] = mine, other
    s.open = open_cells(c, mine, other)
    s.player = OVER if s.open == ZERO and open_cells(c, other, mine) == ZERO else player


def rules(size: int = 8, payoff: str = "win", start: str = "crossed") -> Rules:
    """Othello on `size` x `size` cells, 4, 6 or 8.

    payoff: "win" for 1, 1/2 and 0, "discs" for payoffs that grow with the difference of discs. start: "crossed" for first discs
    of one colour on a diagonal, "parallel" in a row. Raises ValueError for other sizes and words.
    """
    size = integer("size", size, SIZES[0], SIZES[-1])
    if size not in SIZES:
        raise ValueError(f"size must be 4, 6 or 8, not {size}")
    for name, text, words in (("payoff", payoff, PAYOFFS), ("start", start, STARTS)):
        if text not in words:
            raise ValueError(f"{name} must be {' or '.join(map(repr, words))}, not {shown(text)}")
    cells = size * size
    turned, bits = of_rectangle(size, size), np.arange(cells)[:, None] + np.array([0, 64])

    def action_name(state: State, action: int) -> str:
        return "pass" if action == cells else cell_name(action, size)

    def action_named(state: State, text: str) -> int:
        return cells if text.lower() == "pass" else cell_named(text, size, size)

    def score(state: State) -> float:
        black, white = map(int, fields(state.array(), STATE).discs)
        return black.bit_count() - white.bit_count()

    return Rules(
        name="othello_v0",
        settings={"size": size, "payoff": payoff, "start": start},
        players=2,
        actions=cells + 1,
        max_plies=2 * (cells - 4) - 1,
        config=configuration(CONFIG, cells=cells, by_discs=payoff == "discs", **discs.tables(size, start == "crossed")),
        state_bytes=STATE.itemsize,
        key_words=2,
        planes=(size, size, 3),
        tiling="discs",
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key),
            is_legal=is_legal,
            playout=playout,
            playout_action=playout_action,
            observe=observe,
        ),
        action_name=action_name,
        action_named=action_named,
        why_illegal=lambda action: "it turns no disc over" if action < cells else "there is a cell to play",
        score=score,
        layout=STATE,
        validate=validate,
        symmetries=symmetries(turned, bits, with_others(turned, 1), 2, of_planes(turned, 3)),
    )


EXAMPLES: tuple[dict[str, Any], ...] = ({}, {"size": 6, "start": "parallel"}, {"size": 4, "payoff": "discs"})
"""Configurations for the shared tests."""
