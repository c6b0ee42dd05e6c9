"""NoGo.

Board    rows x columns points, 1x1 to 19x19. A point touches those above, below, left and right.
Players  two; player 0 is Black and begins.
Turn     a stone on an empty point, after which every chain, of either colour, has a liberty. There is no pass.
End      when the player to move has no such point. That player has lost. On 1x1 the game is over before the first move.
Moves    row * columns + column, row 0 being line 1 at the bottom, written as Go players do: column letter without I, then
         line ("J9").
Source   the rules of the tournament at BIRS 2011 (webdocs.cs.ualberta.ca/~mmueller/nogo/rules.html); queues of moves
         [NoGo section 3].

choice      here                                                           elsewhere
irrational  False: only moves by the rules are legal;                      [NoGo section 3]: without its move generation
            True: every empty point may be played, and a player who takes  every empty point is expanded
            a chain's last liberty loses at once. That stone is not put
            on the board

Playouts draw uniformly from the points that are legal by the rules. With `irrational` a player who has none loses by a stone
on an empty point, drawn uniformly. `generation` tells how these points are found, which changes no probability:

"queue"     by drawing from a queue of the player's points, which loses each point that is found illegal (`boards.queues`)
"points"    by testing every empty point at every move
"search"    in the same way, but instead of counts of liberties by a search of every chain beside the point for one
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards import points, queues
from ucd_envs.boards.chains import BLACK, CELLS, EMPTY, FLAG, POINT, POINTS, SIDE, U0, U1, U2, WHITE
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
from ucd_envs.settings import boolean, integer, one_of
from ucd_envs.structs import configuration, fields, record, stack_array

U32, ACTION = np.uint64(32), np.dtype(np.int32)
GENERATIONS = ("queue", "points", "search")

CONFIG = record(
    *((name, np.int32) for name in ("rows", "columns", "cells", "irrational")),
    ("point", np.uint16, (CELLS,)),
    ("action", np.uint16, (POINTS,)),
)
"""Fields of a configuration. `point` of an action, `action` of a point."""
STATE = record(("player", np.int32), ("ply", np.int32), *queues.QUEUES)


@kernel(RESET)
def reset(config, state):
    """Clears the board. On a single point the game is over."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    s.ply = 0
    queues.clear(s, c.point, c.cells)
    hand_over(c, s, 0)


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists the points where a stone is legal: with `irrational` all empty ones."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    return listed(c, s, actions, c.irrational != 0)


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether a stone is legal on the point."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0 or action < 0 or action >= c.cells:
        return False
    p = np.uint64(c.point[np.uint64(action)])
    return s.colour[p] == EMPTY and (c.irrational != 0 or queues.is_free(s, p, s.player))


@kernel(PLAY)
def play(config, state, action):
    """Puts a stone. The game is over when the other player has no point by the rules, or after a stone against them."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    p = np.uint64(c.point[np.uint64(action)])
    s.ply += 1
    if c.irrational and not queues.is_free(s, p, s.player):
        s.player = OVER
    else:
        queues.put(s, p, s.player)
        hand_over(c, s, 1 - s.player)


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 0 for the player who has no move by the rules, or has made one against them, and 1 for the other."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    loser = (s.ply - (c.irrational != 0)) & 1
    out[loser] = 0.0
    out[1 - loser] = 1.0


@kernel(KEY)
def key(config, state, words):
    """Writes the mover, then the points, two bits each."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    word, used, filled = np.uint64(s.player + 1), U2, U0
    for action in range(np.uint64(c.cells)):
        if used == np.uint64(64):
            words[filled] = word
            word, used, filled = U0, U0, filled + U1
        word |= np.uint64(s.colour[np.uint64(c.point[action])]) << used
        used += U2
    words[filled] = word


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays random moves from the queues, and drops points that it finds illegal."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0:
        return 0
    player, played, most = np.uint64(s.player), np.int64(0), most_moves(trace)
    first, second = rng[0], rng[1]  # in registers until the end
    while played < most:
        left, point = s.left[player], U0
        while left > U0:
            bits, first, second = stepped(first, second)
            i = ((bits >> U32) * left) >> U32
            p = np.uint64(s.queue[player, i])
            if queues.is_free(s, p, player):
                point = p
                break
            left -= U1
            q = s.queue[player, left]
            s.queue[player, i] = q
            s.place[player, np.uint64(q)] = i
        s.left[player] = left
        if point == U0:
            break
        if trace.size > 0:
            trace[played] = move_of(player, c.action[point])
        played += 1
        queues.put(s, point, player)
        player ^= U1
    rng[0], rng[1] = first, second
    return ended(c, s, rng, trace, played, player)


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns a point of `playout_actions`, drawn uniformly."""
    found = stack_array(CELLS, ACTION)
    return np.int64(found[below(rng, np.uint64(playout_actions(config, state, found)))])


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes own stones, the other's, and ones for Black."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    for action in range(c.cells):
        colour = s.colour[c.point[action]]
        planes[3 * action] = colour == player + 1
        planes[3 * action + 1] = colour == 2 - player
        planes[3 * action + 2] = 1 - player


@kernel(LEGAL_ACTIONS)
def playout_actions(config, state, actions):
    """Lists the points that are legal by the rules, or the empty points where there is none."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    count = listed(c, s, actions, False)
    return count if count > 0 else listed(c, s, actions, True)


@kernel(IS_LEGAL)
def is_playable(config, state, action):
    """Returns whether an action is in `playout_actions`."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    p = np.uint64(c.point[np.uint64(action)])
    if s.player < 0 or s.colour[p] != EMPTY:
        return False
    return queues.is_free(s, p, s.player) or queues.free_end(s, s.player) == U0


@kernel(PLAYOUT)
def playout_of_points(config, state, rng, trace):
    """Plays random moves after testing every empty point at every move."""
    return plain_playout(config, state, rng, trace, False)


@kernel(PLAYOUT)
def playout_by_search(config, state, rng, trace):
    """Plays random moves after searching the chains beside every empty point for liberties at every move."""
    return plain_playout(config, state, rng, trace, True)


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether all fields follow from the stones."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if not queues.agrees(s, c.point, c.cells):
        return False
    black, white, free = np.int64(0), np.int64(0), np.int64(0)
    for action in range(c.cells):
        p = np.uint64(c.point[action])
        black += s.colour[p] == BLACK
        white += s.colour[p] == WHITE
    mover, over, stones = black - white, s.player < 0, black + white
    if (mover != 0 and mover != 1) or (not over and s.player != mover):
        return False
    for action in range(c.cells):
        p = np.uint64(c.point[action])
        free += s.colour[p] == EMPTY and queues.is_free(s, p, mover)
    if c.irrational:
        return s.ply == stones + over and not (over and free == c.cells - stones)
    return s.ply == stones and over == (free == 0)


@kernel()
def hand_over(c, s, player):
    """Makes a player the next to move, or ends the game where that player has no point by the rules."""
    s.player = player if c.irrational or queues.may_move(s, player) else OVER


@kernel()
def listed(c, s, actions, every):
    """Lists the mover's points that are legal by the rules, or every empty point. Returns their number."""
    count = 0
    if s.player >= 0:
        for action in range(np.uint64(c.cells)):
            p = np.uint64(c.point[action])
            if s.colour[p] == EMPTY and (every or queues.is_free(s, p, s.player)):
                actions[count] = action
                count += 1
    return count


@kernel()
def ended(c, s, rng, trace, played, player):
    """Writes ply and mover after the moves of a playout. Returns their number.

    Where the mover has no point by the rules, the game ends, with `irrational` by a stone on an empty point.
    """
    s.ply += played
    s.player = player
    if played == most_moves(trace):
        hand_over(c, s, player)
        return played
    if c.irrational:
        found = stack_array(CELLS, ACTION)
        action = found[below(rng, np.uint64(listed(c, s, found, True)))]
        if trace.size > 0:
            trace[played] = move_of(player, action)
        played += 1
        s.ply += 1
    s.player = OVER
    return played


@kernel()
def plain_playout(config, state, rng, trace, search):
    """Plays random moves without queues, of points tested by counts of liberties or by a search for them."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0:
        return 0
    found, unseen, todo = stack_array(CELLS, POINT), stack_array(POINTS, FLAG), stack_array(CELLS, POINT)
    player, played, most = np.uint64(s.player), np.int64(0), most_moves(trace)
    while played < most:
        count = U0
        for action in range(np.uint64(c.cells)):
            p = np.uint64(c.point[action])
            if s.colour[p] == EMPTY:
                free = queues.is_found_free(s, p, player, unseen, todo) if search else queues.is_free(s, p, player)
                found[count] = p
                count += np.uint64(free)
        if count == U0:
            break
        p = np.uint64(found[below(rng, count)])
        if trace.size > 0:
            trace[played] = move_of(player, c.action[p])
        played += 1
        queues.put(s, p, player)
        player ^= U1
    return ended(c, s, rng, trace, played, player)


def rules(
    size: int = 9, rows: int | None = None, columns: int | None = None, irrational: bool = False, generation: str = "queue"
) -> Rules:
    """NoGo on `rows` x `columns` points (each 1 to 19, by default `size`); the top of this file explains the choices.

    irrational: whether a player may make a move against the rules and lose; generation: "queue", "points" or "search", how
    playouts find their moves. Raises TypeError or ValueError for other values.
    """
    size = integer("size", size, 1, SIDE)
    rows = size if rows is None else integer("rows", rows, 1, SIDE)
    columns = size if columns is None else integer("columns", columns, 1, SIDE)
    cells, irrational = rows * columns, boolean("irrational", irrational)
    number = GENERATIONS.index(one_of("generation", generation, GENERATIONS))
    chosen = (playout, playout_of_points, playout_by_search)[number]

    def action_named(state: State, text: str) -> int:
        return points.point_named(text, rows, columns)

    return Rules(
        name="nogo_v0",
        settings={"rows": rows, "columns": columns, "irrational": irrational, "generation": generation},
        players=2,
        actions=cells,
        max_plies=cells,
        config=configuration(
            CONFIG, rows=rows, columns=columns, cells=cells, irrational=irrational, **points.tables(rows, columns)
        ),
        state_bytes=STATE.itemsize,
        key_words=(2 * cells + 65) // 64,
        planes=(rows, columns, 3),
        tiling="points",
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key, is_legal),
            *(chosen, playout_action, playout_actions, is_playable, observe),
        ),
        action_name=lambda state, action: points.point_name(action // columns, action % columns),
        action_named=action_named,
        why_illegal=lambda action: "the point is taken, or a chain would be left without a liberty",
        layout=STATE,
        validate=validate,
        shrinking=not irrational,
        symmetries=points.symmetries_of(rows, columns, 3, 2),
    )


EXAMPLES: tuple[dict[str, Any], ...] = (
    *({"size": 2}, {"size": 3, "irrational": True}, {"rows": 1, "columns": 7}),
    *({"rows": 5, "columns": 4, "generation": "points"}, {"size": 5, "irrational": True, "generation": "search"}),
    *({"size": 8}, {}, {"size": 19}),
)
"""Configurations for the shared tests."""
