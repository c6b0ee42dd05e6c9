"""EinStein würfelt nicht, a race of numbered stones with a die.

Board    size x size cells, 5x5 by default. Six numbered stones a side, three on 3x3, fill the triangle at the side's corner.
Players  two; player 0 begins in the upper left corner, player 1 in the lower right one.
Turn     the die rolls, then the mover moves the stone of that number one cell towards the opposite corner: along the row,
         along the column or along the diagonal. A stone of either side on that cell is removed. If the number is gone,
         the mover chooses between the nearest lower and the nearest higher number that it has left.
End      a player wins with a stone on the opposite corner, or by removing the other player's last stone.
Moves    3 * (number - 1) + 0 along the row, 1 along the column, 2 along the diagonal; written as number and target, "3-c4",
         columns from a and rows from 1 at the top. The faces 1 to 6 of the die are the outcomes 0 to 5.
Payoff   1 to the winner, 0 to the other.
Source   Althöfer, 2004: EinStein würfelt nicht; Lorentz: An MCTS Program to Play EinStein Würfelt Nicht!, ACG 2011.

choice              here                                           elsewhere
setup               the same each game: `first` and `second`       chosen by the players, or drawn
die                 as many faces as a side has stones             six on every board

A side's stones are one word, a byte each: cell + 1, or 0 for one that is gone. Cells are counted row by row from the side's own
corner, so that both sides move towards higher cells, and cell i of one side is cell `cells` - 1 - i of the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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
from ucd_envs.settings import cell_name, cell_named, integer, move_among, shown
from ucd_envs.structs import configuration, fields, record

SMALLEST, LARGEST, MOST = 3, 8, 6
"""Bounds of the size, and most stones of a side."""
INNER, LAST_COLUMN, LAST_ROW = 0, 1, 2
"""Edges: where a cell lies, seen by the side that moves there."""
STEPS = 3
U7, U8, U32, U56, BYTE, LOW32 = (np.uint64(n) for n in (7, 8, 32, 56, 0xFF, 0xFFFFFFFF))
ONES, SEVENS, TOPS = (np.uint64(0x010101010101 * n) for n in (1, 0x7F, 0x80))
GATHER = np.uint64(sum(1 << (56 - 7 * i) for i in range(MOST)))
"""Multiplier that moves bits 0, 8, 16, ... of a word to bits 56, 57, 58, ..."""

CONFIG = record(
    *((name, np.int64) for name in ("side", "cells", "stones")),
    ("start", np.uint64, (2,)),
    ("edge", np.uint8, (LARGEST * LARGEST + 1,)),
    ("step", np.uint8, (3, STEPS)),
    ("nearest", np.uint8, (2**MOST, MOST)),
)
"""`start`: both sides' stones at the beginning; `edge`: of each cell + 1; `step`: cells forward of possible steps, by
edge; `nearest`: 8 * lower + higher stone that may move, by the stones left and the face."""
STATE = record(*((name, np.int32) for name in ("player", "ply", "turn", "face")), ("stones", np.uint64, (2,)))
"""`turn`: whose turn it is, also while the die rolls, and who moved last at the end; `face`: the face rolled, -1 before."""


@kernel(RESET)
def reset(config, state):
    """Sets up the stones; the die rolls first."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    s.player, s.ply, s.turn, s.face = CHANCE, 0, 0, -1
    s.stones[0], s.stones[1] = c.start[0], c.start[1]


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists the steps of the stones that may move, or the faces of the die."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    count = 0
    if s.player == CHANCE:
        for face in range(c.stones):
            actions[face] = face
        count = c.stones
    elif s.player >= 0:
        lower, higher = movable(c, s)
        count = list_steps(c, s, lower, actions, 0)
        if higher != lower:
            count = list_steps(c, s, higher, actions, count)
    return count


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether a stone that may move can make the step, or the action is a face while the die rolls."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player == CHANCE:
        return 0 <= action < c.stones
    if s.player < 0 or action < 0 or action >= STEPS * c.stones:
        return False
    lower, higher = movable(c, s)
    stone = action // STEPS
    return stone in (lower, higher) and is_step(c, s, stone, action % STEPS)


@kernel(PLAY)
def play(config, state, action):
    """Reads the face that came, or moves a stone and removes what stood on its target."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    s.ply += 1
    if s.player == CHANCE:
        s.face, s.player = action, s.turn
        return
    stone, step = action // STEPS, action % STEPS
    cell = np.uint64(cell_of(s.stones[s.turn], stone) + c.step[INNER, step])
    mine, other = arrived(s.stones[s.turn], s.stones[1 - s.turn], np.uint64(stone), cell, np.uint64(c.cells))
    s.stones[s.turn], s.stones[1 - s.turn], s.face = mine, other, -1
    if cell == np.uint64(c.cells) or other == 0:
        s.player = OVER
    else:
        s.turn, s.player = 1 - s.turn, CHANCE


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 for the player who moved last and 0 for the other."""
    turn = fields(state, STATE).turn
    out[turn], out[1 - turn] = 1.0, 0.0


@kernel(KEY)
def key(config, state, words):
    """Writes both sides' stones, whose turn it is, and the face."""
    s = fields(state, STATE)
    words[0] = s.stones[0] | np.uint64(s.turn) << U56
    words[1] = s.stones[1] | np.uint64(s.face + 1) << U56


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays random moves and rolls the die. Keeps the position in registers."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    played, most, cells, faces = np.int64(0), most_moves(trace), np.uint64(c.cells), np.uint64(c.stones)
    turn, face, over = np.int64(s.turn), np.int64(s.face), s.player == OVER
    mine, other, a, b = s.stones[turn], s.stones[1 - turn], rng[0], rng[1]
    while not over and played < most:
        # The upper half of the random bits is the die, the lower half the move.
        bits, a, b = stepped(a, b)
        if face < 0:
            face = np.int64((bits >> U32) * faces >> U32)
            if trace.size > 0:
                trace[played] = move_of(CHANCE, face)
            played += 1
            if played == most:
                break
        stone, edge, way = chosen(c, mine, face, bits & LOW32)
        cell = np.uint64(cell_of(mine, stone) + c.step[edge, way])
        if trace.size > 0:
            trace[played] = move_of(turn, STEPS * stone + (way if edge == INNER else LAST_ROW - edge))
        played += 1
        mine, other = arrived(mine, other, np.uint64(stone), cell, cells)
        face, over = np.int64(-1), cell == cells or other == 0
        if not over:
            mine, other, turn = other, mine, 1 - turn
    rng[0], rng[1] = a, b
    s.stones[turn], s.stones[1 - turn], s.turn, s.face = mine, other, turn, face
    s.player = OVER if over else CHANCE if face < 0 else turn
    s.ply += played
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns a step of a stone that may move, drawn uniformly."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    bits, rng[0], rng[1] = stepped(rng[0], rng[1])
    stone, edge, way = chosen(c, s.stones[s.turn], np.int64(s.face), bits >> U32)
    return STEPS * stone + (way if edge == INNER else LAST_ROW - edge)


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes all stones of the observer and of the other, each number of both, the face of the die, and whose turn it is."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    depth = 3 + 3 * c.stones
    for i in range(planes.size):
        planes[i] = 0
    for side in range(2):
        for stone in range(c.stones):
            cell = cell_of(s.stones[side], stone) - 1
            if cell >= 0:
                at = depth * (cell if side == 0 else c.cells - 1 - cell)
                whose = 0 if side == player else 1
                planes[at + whose] = 1
                planes[at + 2 + whose * c.stones + stone] = 1
    for cell in range(c.cells):
        if s.face >= 0:
            planes[depth * cell + 2 + 2 * c.stones + s.face] = 1
        planes[depth * cell + depth - 1] = s.turn == player


@kernel(DRAW)
def roll(config, state, rng):
    """Returns a face, all with the same probability."""
    return np.int64(below(rng, np.uint64(fields(config, CONFIG).stones)))


@kernel(PROBABILITY)
def probability(config, state, action):
    """Returns 1 divided by the number of faces."""
    return 1.0 / fields(config, CONFIG).stones


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether the stones can have come where they are in the moves that were made, and the rest agrees with them."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    rolled, over, moves = 0 <= s.player < CHANCE, s.player == OVER, s.ply // 2
    if not (0 <= s.turn <= 1 and -1 <= s.face < c.stones) or (s.face >= 0) != rolled:
        return False
    # Plies alternate between the die and a move, and moves between the players; at the end the turn is not passed.
    if s.ply % 2 != rolled or s.turn != (moves - over) % 2 or (rolled and s.player != s.turn):
        return False
    taken, gone, arrivals = np.uint64(0), 0, 0
    for side in range(2):
        made = moves // 2 if side == 1 else (moves + 1) // 2
        if s.stones[side] >> np.uint64(8 * c.stones) != 0:
            return False
        least, most = 0, 0
        for stone in range(c.stones):
            first, cell = cell_of(c.start[side], stone) - 1, cell_of(s.stones[side], stone) - 1
            gone += cell < 0
            if cell >= c.cells:
                return False
            end = cell if cell >= 0 else c.cells - 1
            down, right = end // c.side - first // c.side, end % c.side - first % c.side
            if down < 0 or right < 0:
                return False
            most += down + right
            if cell >= 0:
                bit = np.uint64(1) << np.uint64(cell if side == 0 else c.cells - 1 - cell)
                if taken & bit:
                    return False
                taken |= bit
                least += max(down, right)
                arrivals += cell == c.cells - 1
        if made < least or made > most:
            return False
    if gone > moves or s.stones[s.turn] == 0:
        return False
    last = cell_is_taken(s.stones[s.turn], np.uint64(c.cells))
    return arrivals == last and over == (last or s.stones[1 - s.turn] == 0)


@kernel()
def cell_of(stones, stone):
    """Returns cell + 1 of a stone, 0 for one that is gone."""
    return np.int64((stones >> np.uint64(8 * stone)) & BYTE)


@kernel()
def cell_is_taken(stones, cell):
    """Returns whether one of a side's stones stands on cell - 1."""
    return ((stones ^ (cell * ONES)) + SEVENS) & TOPS != TOPS


@kernel()
def without(stones, cell):
    """Returns a side's stones without the one on cell - 1, if there is one."""
    # No byte exceeds 0x7F, so the sum carries to a byte's highest bit and no further: that is 0 for an equal byte alone.
    same = ~((stones ^ (cell * ONES)) + SEVENS) & TOPS
    return stones & ~((same >> U7) * BYTE)


@kernel()
def arrived(mine, other, stone, cell, cells):
    """Returns both sides' stones after a stone has come to cell - 1, and what stood there is gone."""
    shift = U8 * stone
    kept = without(mine, cell) & ~(BYTE << shift)
    return kept | cell << shift, without(other, cells + np.uint64(1) - cell)


@kernel()
def nearest(c, stones, face):
    """Returns the lower and the higher stone that may move, the same one twice where there is no choice."""
    left = (((stones + SEVENS) & TOPS) >> U7) * GATHER >> U56
    both = np.int64(c.nearest[left, face])
    return both >> 3, both & 7


@kernel()
def movable(c, s):
    """Returns the mover's stones that may move, as `nearest` does."""
    return nearest(c, s.stones[s.turn], s.face)


@kernel()
def is_step(c, s, stone, step):
    """Returns whether the mover's stone stays on the board with a step."""
    edge = c.edge[cell_of(s.stones[s.turn], stone)]
    return edge == INNER or step == LAST_ROW - edge


@kernel()
def list_steps(c, s, stone, actions, count):
    """Writes the possible steps of the mover's stone behind the first `count` actions. Returns the new count."""
    for step in range(STEPS):
        if is_step(c, s, stone, step):
            actions[count] = STEPS * stone + step
            count += 1
    return count


@kernel()
def chosen(c, mine, face, bits):
    """Returns a random stone that may move, its edge, and which of its possible steps, from 32 random bits."""
    stone, higher = nearest(c, mine, face)
    edge, beyond = np.int64(c.edge[cell_of(mine, stone)]), np.int64(c.edge[cell_of(mine, higher)])
    ways = 3 if edge == INNER else 1
    more = 0 if higher == stone else 3 if beyond == INNER else 1
    way = np.int64(bits * np.uint64(ways + more) >> U32)
    if way >= ways:
        stone, edge, way = higher, beyond, way - ways
    return stone, edge, way


def rules(size: int = 5, first: str = "", second: str = "") -> Rules:
    """EinStein würfelt nicht on `size` x `size` cells, 3 to 8.

    first, second: the numbers of player 0's and 1's stones, row by row from the side's own corner, such as "123456". There are
    six; three on 3x3, or for a shorter game; or one. Both sides have equally many. By default they are in order.
    Raises ValueError for other sizes and setups.
    """
    size = integer("size", size, SMALLEST, LARGEST)
    given = {"first": first, "second": second}
    for name, text in given.items():
        if not isinstance(text, str):
            raise TypeError(f"{name} must be text such as '123456', not {shown(text)}")
    stones = len(first or second) or (3 if size == SMALLEST else 6)
    layers = {1: 1, 3: 2, 6: 3}.get(stones, size)
    # The corners' triangles meet where they have as many layers as the board.
    if layers >= size:
        raise ValueError(f"a side has {'1 or 3' if size == SMALLEST else '1, 3 or 6'} stones on {size}x{size}, not {stones}")
    texts = [text or "123456"[:stones] for text in given.values()]
    for name, text in zip(given, texts, strict=True):
        if sorted(text) != list("123456"[:stones]):
            raise ValueError(f"{name} must have each of the digits 1 to {stones} once, not {shown(text)}")
    cells = size * size
    corner = [row * size + column for row in range(layers) for column in range(layers - row)]
    start = [sum((cell + 1) << 8 * (int(digit) - 1) for digit, cell in zip(text, corner, strict=True)) for text in texts]
    edge = [0] * (LARGEST * LARGEST + 1)
    for cell in range(cells):
        edge[cell + 1] = LAST_ROW if cell >= cells - size else LAST_COLUMN if cell % size == size - 1 else INNER
    near = np.zeros((2**MOST, MOST), np.uint8)
    for left in range(1, 2**MOST):
        numbers = [number for number in range(MOST) if left >> number & 1]
        for face in range(MOST):
            lower = max((number for number in numbers if number <= face), default=numbers[0])
            higher = min((number for number in numbers if number >= face), default=numbers[-1])
            near[left, face] = 8 * lower + higher
    steps = 2 * sum(2 * (size - 1) - cell // size - cell % size for cell in corner)

    def place(player: int, cell: int) -> str:
        return cell_name(cell if player == 0 else cells - 1 - cell, size)

    def action_name(state: State, action: int) -> str:
        if state.player == CHANCE:
            return str(action + 1)
        s = fields(state.array(), STATE)
        cell = (int(s.stones[s.turn]) >> 8 * (action // STEPS) & 0xFF) - 1
        return f"{action // STEPS + 1}-{place(int(s.turn), cell + (1, size, size + 1)[action % STEPS])}"

    def action_named(state: State, text: str) -> int:
        named = {action_name(state, action): action for action in state.legal_actions()}
        if text.lower() not in named:
            number, dash, target = text.partition("-")
            if dash and number.isdecimal():
                cell_named(target, size, size)
        return move_among(text, named)

    return Rules(
        name="einstein_v0",
        settings={"size": size, "first": texts[0], "second": texts[1]},
        players=2,
        actions=STEPS * stones,
        max_plies=2 * steps,
        config=configuration(
            CONFIG,
            **{"side": size, "cells": cells, "stones": stones, "start": start, "edge": edge},
            step=[(1, size, size + 1), (size, 0, 0), (1, 0, 0)],
            nearest=near,
        ),
        state_bytes=STATE.itemsize,
        key_words=2,
        planes=(size, size, 3 + 3 * stones),
        tiling="numbered",
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key),
            is_legal=is_legal,
            playout=playout,
            playout_action=playout_action,
            observe=observe,
            draw=roll,
            probability=probability,
        ),
        action_name=action_name,
        action_named=action_named,
        why_illegal=lambda action: "the die chose another stone, or the step leaves the board",
        layout=STATE,
        validate=validate,
    )


EXAMPLES: tuple[dict[str, Any], ...] = (
    {},
    {"size": 3},
    {"size": 4, "first": "132", "second": "321"},
    {"size": 5, "first": "615243", "second": "342516"},
    {"size": 8},
    {"size": 3, "first": "1"},
)
"""Configurations for the shared tests."""
