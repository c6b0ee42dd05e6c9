"""Pieces that only move forward, as a set of cells for each side.

Cell row * columns + column is a bit. Player 0 moves to higher rows, player 1 to lower ones. A way is one kind of move, such as
straight ahead: a distance between cells, and the cells from which it stays on the board. Action cell * ways + way moves the
piece on a cell. Players alternate from ply to ply.

A distance is a rotation of the word, so that one operation moves the pieces of both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ucd_envs.boards.bits import ONE, ZERO, bit, first, has, nth
from ucd_envs.kernels import kernel
from ucd_envs.rules import State
from ucd_envs.settings import cell_name, integer, move_among
from ucd_envs.structs import popcount, record
from ucd_envs.symmetries import Symmetries, of_planes, symmetries, with_others

MOST_WAYS, MOST_CELLS, MOST_COLUMNS = 4, 64, 26
U32, U64 = np.uint64(32), np.uint64(64)
TWO_ROWS = 6
"""Least number of rows on which a side fills two, by default."""
PLANES = 3

CONFIG = record(
    *((name, np.int64) for name in ("rows", "columns", "elimination", "pass_action")),
    ("board", np.uint64),
    *((name, np.uint64, (2,)) for name in ("start", "last")),
    *((name, np.uint64, (2, MOST_WAYS)) for name in ("shift", "inside")),
)
"""Fields of a configuration. `elimination`: whether a side without pieces loses; `pass_action`: the action behind all moves;
`board`: all cells; `start` and `last`: the cells where a side begins, and its last row; `shift` and `inside`: the rotation of
each way, and the cells from which it stays on the board, by side."""
STATE = record(("player", np.int32), ("ply", np.int32), ("pieces", np.uint64, (2,)))


@kernel()
def set_up(c, s):
    """Puts all pieces where they begin."""
    s.player, s.ply = 0, 0
    s.pieces[0], s.pieces[1] = c.start[0], c.start[1]


@kernel()
def rotated(cells, by):
    """Returns a set moved towards higher cells, 0 < by < 64."""
    return cells << by | cells >> (U64 - by)


@kernel()
def movable(c, side, way, own, targets):
    """Returns the pieces that a way leads to one of the targets."""
    return own & c.inside[side, way] & rotated(targets, U64 - c.shift[side, way])


@kernel()
def moved(c, side, way, cell, own, other):
    """Returns both sides after a move of the piece on a cell. What stood on its target is gone."""
    piece = bit(cell)
    target = rotated(piece, c.shift[side, np.uint64(way)])
    return own ^ piece | target, other & ~target


@kernel()
def is_won(c, side, own, other):
    """Returns whether a side that has moved has won: it is on its last row, or has taken everything where that counts."""
    return own & c.last[side] != ZERO or (c.elimination != 0 and other == ZERO)


@kernel()
def all_of(ways):
    """Returns the pieces that have a move, of those that have one in each way."""
    found = ZERO
    for way in range(len(ways)):
        found |= ways[way]
    return found


@kernel()
def list_moves(ways, actions):
    """Writes the moves of the pieces that have one in each way, and returns their number."""
    count, left = 0, all_of(ways)
    while left:
        cell = first(left)
        left &= left - ONE
        for way in range(len(ways)):
            if has(ways[way], cell):
                actions[count] = cell * len(ways) + way
                count += 1
    return count


@kernel()
def chosen(ways, bits):
    """Returns way and cell of a move drawn uniformly by 64 random bits. There must be one."""
    total = ZERO
    for way in range(len(ways)):
        total += popcount(ways[way])
    left = (bits >> U32) * total >> U32
    for way in range(len(ways) - 1):
        count = popcount(ways[way])
        if left < count:
            return way, nth(ways[way], left)
        left -= count
    return len(ways) - 1, nth(ways[-1], left)


@kernel()
def write_key(c, s, words):
    """Writes the pieces of both sides. The empty cells, in both of them, tell that player 1 is to move."""
    mark = c.board & ~(s.pieces[0] | s.pieces[1]) if s.ply & 1 else ZERO
    words[0], words[1] = s.pieces[0] | mark, s.pieces[1] | mark


@kernel()
def write_planes(c, s, player, planes):
    """Writes own pieces, the other's pieces, and whether the observer is to move."""
    own, other = s.pieces[player], s.pieces[1 - player]
    for cell in range(c.rows * c.columns):
        planes[PLANES * cell] = has(own, cell)
        planes[PLANES * cell + 1] = has(other, cell)
        planes[PLANES * cell + 2] = s.player == player


@kernel()
def to_go(c, side, pieces):
    """Returns the rows between pieces and the last row but one, summed up: no side makes more moves before its last."""
    rows, line = np.int64(0), (ONE << np.uint64(c.columns)) - ONE
    for row in range(c.rows):
        count = np.int64(popcount((pieces >> np.uint64(row * c.columns)) & line))
        rows += count * (c.rows - 2 - row if side == 0 else row - 1)
    return rows


@kernel()
def gained(c, s, side):
    """Returns the rows that a side has gained or lost by captures."""
    return to_go(c, side, c.start[side]) - to_go(c, side, s.pieces[side])


@kernel()
def is_possible(c, s, longest, may_pass):
    """Returns whether pieces can stand where they do after as many plies, at most one of them on its last row.

    longest: rows that a move gains at most. may_pass: whether a side with pieces may pass.
    """
    if s.pieces[0] & s.pieces[1] or (s.pieces[0] | s.pieces[1]) & ~c.board:
        return False
    for side in range(2):
        own, moves = s.pieces[side], (s.ply + 1 - side) // 2
        lost = np.int64(popcount(c.start[side])) - np.int64(popcount(own))
        rows = gained(c, s, side)
        if popcount(own & c.last[side]) > (s.ply + side) % 2:  # only the side that moved last can have come there
            return False
        if not 0 <= lost <= s.ply - moves or rows > longest * moves + lost * (c.rows - 2):
            return False
        if rows < moves and own and not may_pass:
            return False
    return True


def checked_size(rows: Any, columns: Any, least_rows: int, least_columns: int) -> tuple[int, int]:
    """Returns the numbers of rows and columns. Raises TypeError or ValueError for others than a word has room for."""
    rows = integer("rows", rows, least_rows, MOST_CELLS // least_columns)
    columns = integer("columns", columns, least_columns, min(MOST_COLUMNS, MOST_CELLS // least_rows))
    if rows * columns > MOST_CELLS:
        raise ValueError(f"rows * columns must be at most {MOST_CELLS}, but {rows} * {columns} is {rows * columns}")
    return rows, columns


def checked_filled(filled: Any, rows: int) -> int:
    """Returns the number of rows that a side fills, None for the default. Raises TypeError or ValueError for an invalid one."""
    if filled is None:
        return 2 if rows >= TWO_ROWS else 1
    number = integer("filled", filled, 1, 2)
    if rows < 2 * number:
        raise ValueError(f"two filled rows a side need 4 rows, not {rows}: expected filled=1 on this board")
    return number


def cells_of(columns: int, *rows: int) -> int:
    """Returns the set of all cells of some rows."""
    return sum(1 << row * columns + column for row in rows for column in range(columns))


def constants(
    rows: int, columns: int, home: Sequence[int], steps: Sequence[tuple[int, int]], elimination: bool = True
) -> dict[str, Any]:
    """Returns the fields of a configuration.

    home, steps: rows that player 0 fills, and columns and rows that each way goes for it.
    """
    shift, inside = np.zeros((2, MOST_WAYS), np.uint64), np.zeros((2, MOST_WAYS), np.uint64)
    for side, up in enumerate((1, -1)):
        for way, (right, ahead) in enumerate(steps):
            shift[side, way] = (up * ahead * columns + right) % 64
            starts = [
                row * columns + column
                for row in range(rows)
                for column in range(columns)
                if 0 <= row + up * ahead < rows and 0 <= column + right < columns
            ]
            inside[side, way] = sum(1 << cell for cell in starts)
    return {
        "rows": rows,
        "columns": columns,
        "elimination": elimination,
        "pass_action": rows * columns * len(steps),
        "board": cells_of(columns, *range(rows)),
        "start": [cells_of(columns, *home), cells_of(columns, *(rows - 1 - row for row in home))],
        "last": [cells_of(columns, rows - 1), cells_of(columns, 0)],
        "shift": shift,
        "inside": inside,
    }


def symmetries_of(rows: int, columns: int, ways: Sequence[int], others: int) -> Symmetries:
    """Returns the identity and the mirroring that exchanges the columns; ways: the image of each; others: actions behind all
    moves."""
    cells = np.arange(rows * columns).reshape(rows, columns)
    mirrored = np.stack([cells, cells[:, ::-1]]).reshape(2, -1)
    actions = mirrored[:, :, None] * len(ways) + np.array([range(len(ways)), ways])[:, None]
    bits = cells.reshape(-1, 1) + np.array([0, 64])
    return symmetries(mirrored, bits, with_others(actions.reshape(2, -1), others), 2, of_planes(mirrored, PLANES))


class Names:
    """Names of moves, from one cell to another, such as "a2a3"; "pass" for the action behind the last."""

    def __init__(self, rows: int, columns: int, steps: Sequence[tuple[int, int]]) -> None:
        self.rows, self.columns, self.steps = rows, columns, steps

    def action_name(self, state: State, action: int) -> str:
        """Returns the text of an action, legal or not."""
        cell, way = divmod(action, len(self.steps))
        if cell == self.rows * self.columns:
            return "pass"
        row, column = divmod(cell, self.columns)
        right, ahead = self.steps[way]
        return self._cell(row, column) + self._cell(row + ahead * (1 - 2 * (state.ply % 2)), column + right)

    def action_named(self, state: State, text: str) -> int:
        """Returns the action of a text, in upper or lower case. Raises ValueError for one that names no legal move."""
        return move_among(text, {self.action_name(state, action): action for action in state.legal_actions()})

    def _cell(self, row: int, column: int) -> str:
        """Returns the name of a cell, or "off" for one that does not lie on the board."""
        inside = 0 <= row < self.rows and 0 <= column < self.columns
        return cell_name(row * self.columns + column, self.columns) if inside else "off"
