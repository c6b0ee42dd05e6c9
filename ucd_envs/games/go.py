"""Go.

Board    rows x columns points, 2x2 to 19x19. A point touches those above, below, left and right. Stones may stand on the
         board before the start: `black`, `white`, or `handicap` black stones on the points of the GTP standard.
Players  two; player 0 is Black. Black moves first, White in a handicap game, or the player named by `first`.
Turn     a stone on an empty point, or a pass. Enemy chains without a liberty are captured; then, with `suicide`, the own one.
End      at the second pass in a row, or after `max_plies` plies. A side's area is its stones, all alive, and the empty regions
         that touch no other stones. Black wins with more area than White's and `komi`, and draws with exactly as much.
Moves    row * columns + column for a point, row 0 being line 1 at the bottom, written as players do: column letter without I,
         then line ("J9"); then rows * columns for "pass".
Source   area rules of Tromp and Taylor (exactly theirs with suicide and ko="positional"); chains by pseudo-liberties, a
         chain's pairs of a stone and an empty neighbour, as in libego (Lew 2009).

choice     here                                                              elsewhere
ko         "simple": a lone stone that has captured a lone stone and has     OpenSpiel: a repeated board is a draw
           one liberty cannot be captured by the next move;
           "positional": no stone may repeat an earlier board;               Tromp-Taylor
           "situational": nor an earlier board with the same mover           AGA
passes     are always legal, and end the game at the second in a row         some servers: at the third
suicide    forbidden; if allowed, also of a single stone                     Tromp-Taylor: allowed; Ing: of two and more
dead       stones left on the board are alive                                Japanese rules: by agreement
max_plies  3 plies a point, so that a game without superko ends              OpenSpiel: 2

Superko is checked wherever a move is judged: in lists and masks, at a step, inside a search and in playouts. Boards are
compared there by 64-bit keys. Under superko a position includes its history, so that different move orders never reach equal
positions. Use ko="simple" to search in graphs.

Playouts draw a legal point uniformly, except true eyes of the mover (all neighbours own or the edge, and fewer than two
diagonal points the enemy's, none at the edge) and suicides of one stone. Where there is no such point they pass.
With `mercy` they end when one side has more than `mercy` stones more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from ucd_envs.boards import chains, points, stones, superko
from ucd_envs.boards.chains import CELLS, EMPTY, POINTS, SIDE, U0, U1, U2
from ucd_envs.interface import Kernels
from ucd_envs.kernels import (
    BYTES,
    IS_LEGAL,
    KEY,
    LEGAL_ACTIONS,
    OBSERVE,
    PLAY,
    PLAYOUT,
    PLAYOUT_ACTION,
    READ_PAYOFFS,
    RESET,
    TURN,
    VALIDATE,
    kernel,
)
from ucd_envs.rng import below
from ucd_envs.rules import Rules
from ucd_envs.settings import boolean, integer, one_of
from ucd_envs.structs import configuration, fields, record

U3 = np.uint64(3)

FACTS = ("rows", "columns", "twice_komi", "ko", "suicide", "first", "max_plies", "mercy")
CONFIG = record(
    *((name, np.int32) for name in FACTS),
    ("stones", np.uint8, (CELLS,)),
    ("point", np.uint16, (CELLS,)),
    ("action", np.uint16, (POINTS,)),
    ("key", np.uint64, (2, POINTS)),
)
"""Fields of a configuration. `stones`: before the start. `point` of an action, `action` of a point. `key` of a player's
stone on a point, and at point 0 of the border that for White to move."""
STATE = record(
    ("player", np.int32),
    ("ply", np.int32),
    ("passes", np.int32),
    ("lead", np.int32),
    ("area", np.int32),
    ("last", np.int32, (2,)),
    *superko.SUPERKO,
    *chains.CHAINS,
)
"""Fields of a state. `lead`: black less white stones. `area`: the lead with regions, once over. `last`: the
last two moves, the latest first, -1 for none; the key leaves them out."""
RECORD_BYTES = STATE.itemsize
AREA = types.int64(BYTES)


@kernel(RESET)
def reset(config, state):
    """Sets up the stones that stand on the board before the start."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    s.player = c.first
    s.ply = 0
    s.passes = 0
    s.lead = 0
    s.area = 0
    s.last[0] = s.last[1] = -1
    chains.clear(s, c.point, c.rows * c.columns)
    superko.forget(s, superko.boards_of(state, RECORD_BYTES))
    for action in range(c.rows * c.columns):
        if c.stones[action] != EMPTY:
            stones.put(c, s, np.uint64(c.point[action]), np.int64(c.stones[action]) - 1)
    s.ko = 0
    if c.ko:
        superko.remember(c, s, superko.boards_of(state, RECORD_BYTES))


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists every empty point where a stone is legal, and the pass."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0:
        return 0
    count = 0
    cells = np.uint64(c.rows * c.columns)
    for action in range(cells):
        p = np.uint64(c.point[action])
        if s.colour[p] == EMPTY and may_put(c, s, state, p):
            actions[count] = action
            count += 1
    actions[count] = cells
    return count + 1


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether a stone is legal on the point. A pass is always legal."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    cells = c.rows * c.columns
    if s.player < 0 or action < 0 or action > cells:
        return False
    if action == cells:
        return True
    p = np.uint64(c.point[np.uint64(action)])
    return s.colour[p] == EMPTY and may_put(c, s, state, p)


@kernel(PLAY)
def play(config, state, action):
    """Puts the mover's stone on a point and captures chains without a liberty, or passes. Ends the game if it is over."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    player = s.player
    s.ply += 1
    s.player = 1 - player
    s.last[1], s.last[0] = s.last[0], action
    if action == c.rows * c.columns:
        s.passes += 1
        s.ko = 0
    else:
        s.passes = 0
        stones.put(c, s, np.uint64(c.point[np.uint64(action)]), player)
    if c.ko:
        superko.remember(c, s, superko.boards_of(state, RECORD_BYTES))
    if s.passes == 2 or s.ply >= c.max_plies:
        stones.finish(s)


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 for the player with more area, komi counted, and 0 for the other; 1/2 for both where it is equal."""
    c = fields(config, CONFIG)
    margin = 2 * fields(state, STATE).area - c.twice_komi
    out[0] = 0.5 if margin == 0 else 1.0 if margin > 0 else 0.0
    out[1] = 1.0 - out[0]


@kernel(KEY)
def key(config, state, words):
    """Writes mover and passes, then the points, two bits each, 3 for a ko; under superko also the digest of the history."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    ko = np.uint64(s.ko) if chains.in_ko(s, np.uint64(s.ko), s.player) else U0
    words[0] = np.uint64(s.player + 1) | np.uint64(s.passes) << U2
    word, used, filled = U0, U0, U1
    for action in range(np.uint64(c.rows * c.columns)):
        word |= (U3 if np.uint64(c.point[action]) == ko else np.uint64(s.colour[np.uint64(c.point[action])])) << used
        used += U2
        if used == np.uint64(64):
            words[filled] = word
            word, used, filled = U0, U0, filled + U1
    if used > U0:
        words[filled] = word
        filled += U1
    if c.ko:
        words[filled] = s.digest


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays moves of the random policy."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if c.ko == 0 and c.suicide == 0 and c.mercy == 0:
        return stones.play_usually(c, s, rng, trace)
    return stones.play_randomly(c, s, superko.boards_of(state, RECORD_BYTES), rng, trace)


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns a point of `playout_actions`, drawn uniformly, or a pass where there is none."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    count = U0
    for i in range(s.vacant):
        count += np.uint64(sensible(c, s, state, np.uint64(s.empty[i]), s.player))
    if count == U0:
        return c.rows * c.columns
    rank = below(rng, count)
    for i in range(s.vacant):
        p = np.uint64(s.empty[i])
        if sensible(c, s, state, p, s.player):
            if rank == U0:
                return np.int64(c.action[p])
            rank -= U1
    return c.rows * c.columns


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes own stones, the other's, ones for Black, the ko point, and ones after a pass."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    own, other, black, passed = player + 1, 2 - player, 1 - player, s.passes > 0
    at = U0
    for action in range(np.uint64(c.rows * c.columns)):
        p = np.uint64(c.point[action])
        planes[at] = s.colour[p] == own
        planes[at + U1] = s.colour[p] == other
        planes[at + U2] = black
        planes[at + U3] = chains.in_ko(s, p, s.player)
        planes[at + U3 + U1] = passed
        at += U3 + U2


@kernel(LEGAL_ACTIONS)
def playout_actions(config, state, actions):
    """Lists legal points except true eyes and one-stone suicides, in any order, or a pass where there is none."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    count = stones.list_sensible(c, s, superko.boards_of(state, RECORD_BYTES), actions)
    if count == U0:
        actions[0] = c.rows * c.columns
        return np.int64(1)
    return np.int64(count)


@kernel(IS_LEGAL)
def is_playable(config, state, action):
    """Returns whether an action is in `playout_actions`. A pass is playable only where there is no point."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if action != c.rows * c.columns:
        p = np.uint64(c.point[np.uint64(action)])
        if c.ko == 0 and c.suicide == 0:
            return s.colour[p] == EMPTY and stones.usually_sensible(s, p, s.player)
        return s.colour[p] == EMPTY and sensible(c, s, state, p, s.player)
    found = False
    for i in range(s.vacant):
        found = found or sensible(c, s, state, np.uint64(s.empty[i]), s.player)
    return not found


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether all fields follow from the stones and from the remembered boards."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    cells = c.rows * c.columns
    known = -1 <= min(s.last[0], s.last[1]) <= max(s.last[0], s.last[1]) <= cells and 0 <= s.passes <= min(2, s.ply)
    if not known or not chains.agrees(s, c.point, cells) or s.lead != chains.lead(s, c.point, cells):
        return False
    over = s.passes == 2 or s.ply == c.max_plies or (s.player < 0 and c.mercy != 0 and abs(s.lead) > c.mercy)
    if (s.player < 0) != over or (s.ko != 0 and (c.ko != 0 or s.passes > 0 or not chains.may_be_ko(s))):
        return False
    area = s.lead + chains.territory(s, c.point, cells) if s.player < 0 else 0
    return s.area == area and (c.ko == 0 or superko.agrees(c, s, superko.boards_of(state, RECORD_BYTES)))


@kernel(TURN)
def turn(config, state, player):
    """Sets the player to move, also of the present board among those remembered."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    superko.turn(c, s, superko.boards_of(state, RECORD_BYTES), player)


@kernel()
def may_put(c, s, state, p):
    """Returns whether the rules allow the mover a stone on an empty point."""
    return stones.may_put(c, s, superko.boards_of(state, RECORD_BYTES), p, s.player)


@kernel()
def sensible(c, s, state, p, player):
    """Returns whether the random policy may put a player's stone on an empty point."""
    return stones.sensible(c, s, superko.boards_of(state, RECORD_BYTES), p, player)


@kernel(AREA)
def area(state):
    """Ends a game early. Returns Black's area less White's."""
    s = fields(state, STATE)
    stones.finish(s)
    return np.int64(s.area)


def rules(
    size: int = 9,
    rows: int | None = None,
    columns: int | None = None,
    komi: float = 7.5,
    ko: str = "simple",
    suicide: bool = False,
    handicap: int = 0,
    black: str = "",
    white: str = "",
    first: str | None = None,
    max_plies: int | None = None,
    mercy: int = 0,
) -> Rules:
    """Go on `rows` x `columns` points (each 2 to 19, by default `size`); the top of this file explains the choices.

    komi: points for White, a multiple of 1/2; handicap: number of black stones before the start, White to move; black and
    white: stones before the start, as text like "C3 D4"; first: "black" or "white", who moves first; max_plies: limit on a
    game's plies, by default 3 a point; mercy: the lead in stones above which playouts end, 0 for none. Raises TypeError or
    ValueError for other values and for stones that cannot stand together.
    """
    size = integer("size", size, 2, SIDE)
    rows = size if rows is None else integer("rows", rows, 2, SIDE)
    columns = size if columns is None else integer("columns", columns, 2, SIDE)
    cells = rows * columns
    doubled = points.twice_komi(komi)
    one_of("ko", ko, superko.RULES)
    black, board = points.set_up(black, white, integer("handicap", handicap, 0, 9), rows, columns)
    first = points.first_player(first, handicap)
    max_plies = 3 * cells if max_plies is None else integer("max_plies", max_plies, 1, 2**16 - 1)
    return Rules(
        name="go_v0",
        settings={
            **{"rows": rows, "columns": columns, "komi": doubled / 2, "ko": ko, "suicide": boolean("suicide", suicide)},
            **{"black": black, "white": white, "first": first, "max_plies": max_plies},
            "mercy": integer("mercy", mercy, 0, CELLS),
        },
        players=2,
        actions=cells + 1,
        max_plies=max_plies,
        config=configuration(
            CONFIG,
            **{"rows": rows, "columns": columns, "twice_komi": doubled, "ko": superko.RULES.index(ko)},
            **{"suicide": suicide, "first": ("black", "white").index(first), "max_plies": max_plies, "mercy": mercy},
            stones=np.pad(board, (0, CELLS - cells)),
            **points.tables(rows, columns),
            key=superko.KEYS,
        ),
        state_bytes=RECORD_BYTES + (8 * (superko.FILTER + max_plies + 1) if ko != "simple" else 0),
        key_words=1 + (2 * cells + 63) // 64 + (ko != "simple"),
        planes=(rows, columns, 5),
        tiling="points",
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key, is_legal),
            *(playout, playout_action, playout_actions, is_playable, observe),
        ),
        action_name=lambda state, action: points.action_name(action, rows, columns),
        action_named=lambda state, text: points.action_named(text, rows, columns),
        score=lambda state: int(area(state.array())) - doubled / 2,
        why_illegal=lambda action: "the point is taken, in ko, or without a liberty",
        layout=STATE,
        validate=validate,
        turn=turn,
        symmetries=points.symmetries_of(rows, columns, 5, 64, 1) if ko == "simple" else None,
    )


EXAMPLES: tuple[dict[str, Any], ...] = (
    *({"size": 2}, {"size": 2, "ko": "positional", "suicide": True}, {"size": 3, "ko": "situational", "komi": 0}),
    {"rows": 3, "columns": 5, "komi": -1.5, "suicide": True},
    *({"size": 6, "komi": 5.5}, {"size": 9}, {"size": 9, "ko": "positional", "handicap": 3}, {"size": 19}),
)
"""Configurations for the shared tests."""
