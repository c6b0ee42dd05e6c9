"""Go.

Board    rows x columns points, 2x2 to 19x19; stones stand on points, which touch those above, below, left and right. Stones
         may stand there before the start (`black`, `white`, or `handicap` stones of Black on the points of the GTP
         standard).
Players  two; player 0 is Black and begins, White with a handicap, or whom `first` names.
Turn     a stone on an empty point, or a pass. Enemy chains without a liberty are taken off, then, with `suicide`, one's own.
End      at the second pass in a row, or after `max_plies` plies. A side has its stones, all alive, and the empty regions that
         touch no other stones; Black wins with more than White has and `komi`, both have a draw with just as much.
Moves    row * columns + column for a point, row 0 being line 1 at the bottom, written as players do: column letter without I,
         then line ("J9"); then rows * columns for "pass".
Source   area rules as by Tromp and Taylor (with suicide and ko="positional" exactly so); chains by pseudo-liberties, a
         chain's pairs of a stone and an empty neighbour, as in libego (Lew 2009).

choice     here                                                              elsewhere
ko         "simple": the stone that has just been taken alone by a lone      OpenSpiel: a repeated board is a draw
           stone with one liberty cannot be taken back at once;
           "positional": no move makes a board that was there before;        Tromp-Taylor
           "situational": nor with the same player to move                   AGA
passes     are never forbidden, and end the game at the second in a row      some servers: at the third
suicide    forbidden; allowed, it may be of one stone too                    Tromp-Taylor: allowed; Ing: of two and more
dead       stones left on the board are alive                                Japanese rules: agreed upon
max_plies  3 plies a point, so that a game without superko ends              OpenSpiel: 2

Superko is checked wherever a move is judged: in lists and masks, at a step, inside a search and in playouts; boards are told
apart there by 64-bit keys. Under superko the history belongs to a position, so positions reached in different orders do not
meet; a search in graphs wants ko="simple".

Playouts take with equal probability any legal point but one's true eyes (all neighbours one's own or the edge, and fewer than
two diagonal ones the enemy's, none at the edge) and suicides of one stone, which change nothing, or pass where there is none.
With `mercy` they end when one side has more than so many stones more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from ucd_envs.boards import chains, points, superko
from ucd_envs.boards.chains import CELLS, EMPTY, POINTS, ROOM, SIDE, SURROUNDED, U0, U1, U2, U4
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
    kernel,
    most_moves,
    move_of,
)
from ucd_envs.rng import below, stepped
from ucd_envs.rules import Kernels, Rules, State
from ucd_envs.settings import boolean, integer
from ucd_envs.structs import configuration, fields, record

U32 = np.uint64(32)

FACTS = ("rows", "columns", "twice_komi", "ko", "suicide", "first", "max_plies", "mercy")
CONFIG = record(
    *((name, np.int32) for name in FACTS),
    ("stones", np.uint8, (CELLS,)),
    ("point", np.uint16, (CELLS,)),
    ("action", np.uint16, (POINTS,)),
    ("key", np.uint64, (2, POINTS)),
)
"""`stones`: before the start; `point` of an action and `action` of a point; `key` of a player's stone on a point, that of
White to move at the border point 0."""
STATE = record(
    ("player", np.int32),
    ("ply", np.int32),
    ("passes", np.int32),
    ("lead", np.int32),
    ("area", np.int32),
    *superko.SUPERKO,
    *chains.CHAINS,
)
"""`lead`: black stones less white ones; `area`: the same with regions, when over."""
RECORD_BYTES = STATE.itemsize
AREA = types.int64(BYTES)


@kernel(RESET)
def reset(config, state):
    """The stones that stand there before the start."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    s.player = c.first
    s.ply = 0
    s.passes = 0
    s.lead = 0
    s.area = 0
    chains.clear(s, c.point, c.rows * c.columns)
    superko.forget(s, superko.boards_of(state, RECORD_BYTES))
    for action in range(c.rows * c.columns):
        if c.stones[action] != EMPTY:
            put(c, s, np.uint64(c.point[action]), np.int64(c.stones[action]) - 1)
    s.ko = 0
    if c.ko:
        superko.remember(c, s, superko.boards_of(state, RECORD_BYTES))


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Every empty point where a stone may be put, and the pass."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
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
    """Whether a stone may be put on the point; a pass is always legal."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    cells = c.rows * c.columns
    if s.player < 0 or action < 0 or action > cells:
        return False
    if action == cells:
        return True
    p = np.uint64(c.point[np.uint64(action)])
    return s.colour[p] == EMPTY and may_put(c, s, state, p)


@kernel(PLAY)
def play(config, state, action):
    """Puts the mover's stone on a point and takes off chains without a liberty, or passes; sees whether the game is over."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    player = s.player
    s.ply += 1
    s.player = 1 - player
    if action == c.rows * c.columns:
        s.passes += 1
        s.ko = 0
    else:
        s.passes = 0
        put(c, s, np.uint64(c.point[np.uint64(action)]), player)
    if c.ko:
        superko.remember(c, s, superko.boards_of(state, RECORD_BYTES))
    if s.passes == 2 or s.ply >= c.max_plies:
        finish(s)


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """1 for the player with more than the other, komi counted; 1/2 for both where it is the same."""
    c = fields(config, CONFIG)
    margin = 2 * fields(state, STATE).area - c.twice_komi
    out[0] = 0.5 if margin == 0 else 1.0 if margin > 0 else 0.0
    out[1] = 1.0 - out[0]


@kernel(KEY)
def key(config, state, words):
    """Mover, passes and ko point, then the points, two bits each; under superko the digest of the history last."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    words[0] = np.uint64(s.player + 1) | np.uint64(s.passes) << U2 | np.uint64(s.ko) << U4
    word, used, filled = U0, U0, U1
    for action in range(np.uint64(c.rows * c.columns)):
        word |= np.uint64(s.colour[np.uint64(c.point[action])]) << used
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
    """Moves of the random policy."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    player, passes, ply = s.player, s.passes, s.ply
    cells, last = c.rows * c.columns, min(c.max_plies, s.ply + most_moves(trace))
    first, second = rng[0], rng[1]
    while passes < 2 and ply < last:
        left, point = s.vacant, U0
        while left > U0:
            bits, first, second = stepped(first, second)
            i = ((bits >> U32) * left) >> U32
            p = np.uint64(s.empty[i])
            if sensible(c, s, state, p, player):
                point = p
                break
            left -= U1
            q = s.empty[left]
            s.empty[left] = p
            s.empty[i] = q
            s.place[p] = left
            s.place[np.uint64(q)] = i
        if point != U0:
            put(c, s, point, player)
            passes = 0
        else:
            s.ko = 0
            passes += 1
        if trace.size > 0:
            trace[ply - s.ply] = move_of(player, np.int64(c.action[point]) if point != U0 else cells)
        ply += 1
        player = 1 - player
        if c.ko:
            s.player, s.passes = player, passes
            superko.remember(c, s, superko.boards_of(state, RECORD_BYTES))
        if c.mercy and abs(s.lead) > c.mercy:
            break
    rng[0], rng[1] = first, second
    count = ply - s.ply
    s.passes, s.ply, s.player = passes, ply, player
    if passes == 2 or ply == c.max_plies or (c.mercy and abs(s.lead) > c.mercy):
        finish(s)
    return count


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Any legal point but true eyes and one-stone suicides, each with the same probability, or a pass where there is none."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
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
    """Own stones, the other's, ones for Black, the ko point, and ones after a pass."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    for action in range(c.rows * c.columns):
        p = c.point[action]
        at = 5 * action
        planes[at] = s.colour[p] == player + 1
        planes[at + 1] = s.colour[p] == 2 - player
        planes[at + 2] = 1 - player
        planes[at + 3] = s.ko == p
        planes[at + 4] = s.passes > 0


@kernel(LEGAL_ACTIONS)
def playout_actions(config, state, actions):
    """Legal points but true eyes and one-stone suicides, in any order, or a pass where there is none."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    count = U0
    for i in range(s.vacant):
        p = np.uint64(s.empty[i])
        actions[count] = c.action[p]
        count += np.uint64(sensible(c, s, state, p, s.player))
    if count == U0:
        actions[0] = c.rows * c.columns
        return np.int64(1)
    return np.int64(count)


@kernel(IS_LEGAL)
def is_playable(config, state, action):
    """As `playout_actions`: a pass only where there is no point."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if action != c.rows * c.columns:
        p = np.uint64(c.point[np.uint64(action)])
        return s.colour[p] == EMPTY and sensible(c, s, state, p, s.player)
    found = False
    for i in range(s.vacant):
        found = found or sensible(c, s, state, np.uint64(s.empty[i]), s.player)
    return not found


@kernel()
def may_put(c, s, state, p):
    """Whether the rules allow the mover a stone on an empty point."""
    free = s.around[p] >= ROOM or c.suicide != 0 or chains.breathes(s, p, s.player)
    return (
        free
        and p != np.uint64(s.ko)
        and not (c.ko != 0 and superko.repeats(c, s, superko.boards_of(state, RECORD_BYTES), p, s.player))
    )


@kernel()
def sensible(c, s, state, p, player):
    """Whether the random policy may put a player's stone on an empty point."""
    around = s.around[p]
    if around < ROOM:
        if (around >> U4 * np.uint64(player)) & 15 == SURROUNDED and chains.is_eye(s, p, player):
            return False
        if p == np.uint64(s.ko) or not (chains.breathes(s, p, player) or (c.suicide != 0 and chains.touches(s, p, player))):
            return False
    return not (c.ko != 0 and superko.repeats(c, s, superko.boards_of(state, RECORD_BYTES), p, player))


@kernel()
def put(c, s, p, player):
    """Puts a stone on the board, takes off what has no liberty, and keeps count of the lead, under superko of the key too."""
    s.ko = 0
    before = s.vacant - U1
    chains.place(s, p, player)
    gone = np.int64(s.vacant - before)
    suicide = s.colour[p] == EMPTY
    s.lead += (1 - 2 * player) * (1 - gone if suicide else 1 + gone)
    if c.ko:
        s.ko = 0
        s.hash ^= c.key[player, p]
        for i in range(before, s.vacant):
            s.hash ^= c.key[player if suicide else 1 - player, s.empty[i]]


@kernel(AREA)
def area(state):
    """Ends a game as it stands; Black's area less White's."""
    s = fields(state, STATE)
    finish(s)
    return np.int64(s.area)


@kernel()
def finish(s):
    """The game is over: counts the area."""
    s.player = -1
    s.area = s.lead + chains.surrounded(s)


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
    """Go on `rows` x `columns` points (each 2 to 19, by default `size`); the choices are told at the top of this file.

    komi: points for White, a multiple of 1/2; handicap: stones of Black before the start, White to move; black and white: such
    stones as text like "C3 D4"; first: "black" or "white", who moves first; max_plies: plies of a game at most, by default 3
    for each point; mercy: the lead in stones above which playouts end, 0 for none. Raises TypeError or ValueError for anything
    else and for stones that cannot stand together.
    """
    size = integer("size", size, 2, SIDE)
    rows = size if rows is None else integer("rows", rows, 2, SIDE)
    columns = size if columns is None else integer("columns", columns, 2, SIDE)
    cells = rows * columns
    doubled = points.twice_komi(komi)
    if ko not in superko.RULES:
        raise ValueError(f"ko must be one of {', '.join(superko.RULES)}, not {ko!r}")
    black, stones = points.set_up(black, white, integer("handicap", handicap, 0, 9), rows, columns)
    first = points.first_player(first, handicap)
    max_plies = 3 * cells if max_plies is None else integer("max_plies", max_plies, 1, 2**16 - 1)

    def score(state: State) -> float:
        return int(area(state.array())) - doubled / 2

    return Rules(
        name="go_v0",
        settings={
            "rows": rows,
            "columns": columns,
            "komi": doubled / 2,
            "ko": ko,
            "suicide": boolean("suicide", suicide),
            "black": black,
            "white": white,
            "first": first,
            "max_plies": max_plies,
            "mercy": integer("mercy", mercy, 0, CELLS),
        },
        players=2,
        actions=cells + 1,
        max_plies=max_plies,
        config=configuration(
            CONFIG,
            rows=rows,
            columns=columns,
            twice_komi=doubled,
            ko=superko.RULES.index(ko),
            suicide=bool(suicide),
            first=("black", "white").index(first),
            max_plies=max_plies,
            mercy=mercy,
            stones=np.pad(stones, (0, CELLS - cells)),
            **points.tables(rows, columns),
            key=superko.KEYS,
        ),
        state_bytes=RECORD_BYTES + (8 * (superko.FILTER + max_plies + 1) if ko != "simple" else 0),
        key_words=1 + (2 * cells + 63) // 64 + (ko != "simple"),
        planes=(rows, columns, 5),
        tiling="points",
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key),
            is_legal=is_legal,
            playout=playout,
            playout_action=playout_action,
            playout_actions=playout_actions,
            is_playable=is_playable,
            observe=observe,
        ),
        action_name=lambda state, action: points.action_name(action, rows, columns),
        action_named=lambda state, text: points.action_named(text, rows, columns),
        score=score,
        why_illegal=lambda action: "the point is taken, in ko, or without a liberty",
    )


EXAMPLES: tuple[dict[str, Any], ...] = (
    {"size": 2},
    {"size": 2, "ko": "positional", "suicide": True},
    {"size": 3, "ko": "situational", "komi": 0},
    {"rows": 3, "columns": 5, "komi": -1.5, "suicide": True},
    {"size": 6, "komi": 5.5},
    {"size": 9},
    {"size": 9, "ko": "positional", "handicap": 3},
    {"size": 19},
)
"""Configurations that every shared test runs."""
