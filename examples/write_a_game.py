"""Breakthrough, a game in one file: five kernels, and an environment and a planner that play it.

Board    rows x columns cells, 3x2 to 16x16; each player's pieces fill the two rows next to its side, or one row on a board
         of less than six rows.
Players  two; player 0 begins at the top and moves down.
Turn     a piece moves one row forward: straight to an empty cell, or diagonally to a cell without an own piece, where it
         captures an enemy piece.
End      when a piece reaches the last row or a side has no piece left: the mover wins.
Moves    ((row * columns + column) * 6 + direction) * 2 + capture; directions 0 to 2 go down, 3 to 5 up, from left to right.
Source   Troyka, 2000; numbered and written as in OpenSpiel.

From any folder: `ucd match --game "write_a_game:rules"` where this file can be imported.
"""

import numpy as np

import ucd_envs
import ucd_planners
from ucd_envs.interface import Kernels
from ucd_envs.kernels import KEY, LEGAL_ACTIONS, PLAY, READ_PAYOFFS, RESET, kernel
from ucd_envs.rules import Rules, State
from ucd_envs.settings import integer
from ucd_envs.structs import configuration, fields, record

SIDE, EMPTY = 16, 2
CONFIG = record(("rows", np.int64), ("columns", np.int64))
STATE = record(("player", np.int32), ("ply", np.int32), ("pieces", np.int32, (2,)), ("cells", np.uint8, (SIDE * SIDE,)))
"""The first two fields belong to every game: the player to move, -1 when the game is over, and the number of moves played."""


@kernel(RESET)
def reset(config, state):
    """Sets both players' pieces in their rows."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    s.player = s.ply = 0
    filled = 2 if c.rows > 5 else 1
    s.pieces[0] = s.pieces[1] = filled * c.columns
    for cell in range(SIDE * SIDE):
        row = cell // c.columns
        s.cells[cell] = 0 if row < filled else 1 if c.rows - filled <= row < c.rows else EMPTY


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists the legal steps of all pieces."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    count, cell, player, columns = 0, 0, s.player, c.columns
    for _ in range(c.rows if player >= 0 else 0):
        for column in range(columns):
            if s.cells[cell] == player:
                ahead = cell + (1 - 2 * player) * columns
                for side in range(-1, 2):
                    if 0 <= column + side < columns:
                        found = s.cells[ahead + side]
                        if found == EMPTY or (side != 0 and found != player):
                            actions[count] = (cell * 6 + 3 * player + side + 1) * 2 + (found != EMPTY)
                            count += 1
            cell += 1
    return count


@kernel(PLAY)
def play(config, state, action):
    """Moves a piece. The game is over when it reaches the last row or has captured the last enemy piece."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    player, cell = s.player, action // 12
    target = cell + (1 - 2 * player) * c.columns + action // 2 % 3 - 1
    s.pieces[1 - player] -= s.cells[target] != EMPTY
    s.cells[cell], s.cells[target] = EMPTY, player
    s.ply += 1
    is_last = target // c.columns == (1 - player) * (c.rows - 1)
    s.player = -1 if is_last or s.pieces[1 - player] == 0 else 1 - player


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 for the player who made the last move, 0 for the other."""
    last = (fields(state, STATE).ply - 1) % 2
    out[last], out[1 - last] = 1.0, 0.0


@kernel(KEY)
def key(config, state, words):
    """Writes the cells, 32 to a word with two bits each, then the mover."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    for i in range(words.size):
        words[i] = 0
    for cell in range(c.rows * c.columns):
        words[cell // 32] |= np.uint64(s.cells[cell]) << np.uint64(2 * (cell % 32))
    words[-1] = np.uint64(s.player + 1)


def rules(rows: int = 8, columns: int = 8) -> Rules:
    """Breakthrough on a board of 3 to 16 rows and 2 to 16 columns. Raises TypeError or ValueError for other sizes."""
    rows, columns = integer("rows", rows, 3, SIDE), integer("columns", columns, 2, SIDE)

    def cell_name(row: int, column: int) -> str:
        return f"{chr(ord('a') + column)}{rows - row}"

    def action_name(state: State, action: int) -> str:
        row, column = divmod(action // 12, columns)
        direction, capture = divmod(action % 12, 2)
        target = cell_name(row + (1 if direction < 3 else -1), column + direction % 3 - 1)
        return cell_name(row, column) + target + "*" * capture

    def action_named(state: State, text: str) -> int:
        found = [action for action in state.legal_actions() if action_name(state, action) == text.lower()]
        if not found:
            raise ValueError(f"{text!r} is no move here: expected one such as {action_name(state, state.legal_actions()[0])}")
        return found[0]

    return Rules(
        name="breakthrough_v0",
        settings={"rows": rows, "columns": columns},
        players=2,
        actions=rows * columns * 12,
        max_plies=2 * (2 if rows > 5 else 1) * columns * (rows - 1),
        config=configuration(CONFIG, rows=rows, columns=columns),
        state_bytes=STATE.itemsize,
        key_words=(rows * columns + 31) // 32 + 1,
        kernels=Kernels(reset, legal_actions, play, payoffs, key),
        action_name=action_name,
        action_named=action_named,
    )


if __name__ == "__main__":
    ucd_envs.register("breakthrough_v0", rules)
    env = ucd_envs.make("breakthrough", rows=6, columns=5)
    planner = ucd_planners.ucd(d1=1, d2=0, d3=1, c=0.5, playouts=2000, seed=1)
    env.reset()
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        if terminated or truncated:
            print(f"{agent} gets {reward:+.0f}")
            env.step(None)
            continue
        result = planner.search(env)
        print(f"{agent} plays {env.unwrapped.clone_state().action_name(result.action)} (value {result.value:.2f})")
        env.step(result.action)
