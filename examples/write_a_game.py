"""Clobber, a game in one file: five kernels, and an environment and a planner that play it.

Board    rows x columns cells, 2x2 to 16x16, full of stones: those of both players alternate like the colours of a chessboard,
         and player 0 has the one in the lower left corner.
Players  two; player 0 begins.
Turn     a stone moves to the next cell of its row or column, where it removes an enemy stone.
End      when no stone can move any more: the player who moved last wins.
Moves    (row * columns + column) * 4 + direction; the directions 0 to 3 are up, right, down and left.
Source   Albert, Grossman, Nowakowski and Wolfe, 2005; numbered and written as in OpenSpiel.

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
STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))
"""Rows down and columns to the right, by direction."""
CONFIG = record(("rows", np.int64), ("columns", np.int64))
STATE = record(("player", np.int32), ("ply", np.int32), ("cells", np.uint8, (SIDE + 2, SIDE + 2)))
"""The first two fields belong to every game: the player to move, -1 when the game is over, and the number of moves played.
A cell is 0, 1 or EMPTY, and the board begins at row 1 and column 1, since empty cells surround it."""


@kernel(RESET)
def reset(config, state):
    """Sets the stones of both players."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    s.player = s.ply = 0
    for row, column in np.ndindex(SIDE + 2, SIDE + 2):
        is_on_board = 1 <= row <= c.rows and 1 <= column <= c.columns
        s.cells[row, column] = (c.rows - row + column - 1) % 2 if is_on_board else EMPTY


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists the legal moves of all stones."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    count, cell, player = 0, 0, s.player
    for row in range(1, c.rows + 1 if player >= 0 else 0):
        for column in range(1, c.columns + 1):
            if s.cells[row, column] == player:
                for direction in range(4):
                    down, right = STEPS[direction]
                    if s.cells[row + down, column + right] == 1 - player:
                        actions[count] = cell * 4 + direction
                        count += 1
            cell += 1
    return count


@kernel(PLAY)
def play(config, state, action):
    """Moves a stone. The game goes on while two enemy stones stand side by side, so that either player could move."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    player, cell = s.player, action // 4
    row, column = cell // c.columns + 1, cell % c.columns + 1
    down, right = STEPS[action % 4]
    s.cells[row, column], s.cells[row + down, column + right] = EMPTY, player
    s.ply += 1
    s.player = -1
    for row, column in np.ndindex(c.rows + 1, c.columns + 1):
        stone = s.cells[row, column]
        # Only the stones 0 and 1 add up to 1.
        if stone + s.cells[row, column + 1] == 1 or stone + s.cells[row + 1, column] == 1:
            s.player = 1 - player


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 for the player who made the last move, 0 for the other."""
    last = (fields(state, STATE).ply - 1) % 2
    out[last], out[1 - last] = 1.0, 0.0


@kernel(KEY)
def key(config, state, words):
    """Writes the cells, 32 to a word with two bits each. The ply, which is part of every key, tells the mover."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    for i in range(words.size):
        words[i] = 0
    for cell in range(c.rows * c.columns):
        stone = np.uint64(s.cells[cell // c.columns + 1, cell % c.columns + 1])
        words[cell // 32] |= stone << np.uint64(2 * (cell % 32))


def rules(rows: int = 5, columns: int = 6) -> Rules:
    """Clobber on a board of 2 to 16 rows and columns. Raises TypeError or ValueError for other sizes."""
    rows, columns = integer("rows", rows, 2, SIDE), integer("columns", columns, 2, SIDE)

    def cell_name(row: int, column: int) -> str:
        return f"{chr(ord('a') + column)}{rows - row}"

    def action_name(state: State, action: int) -> str:
        row, column = divmod(action // 4, columns)
        down, right = STEPS[action % 4]
        return cell_name(row, column) + cell_name(row + down, column + right)

    def action_named(state: State, text: str) -> int:
        named = {action_name(state, action): action for action in state.legal_actions()}
        if text.lower() not in named:
            wanted = f"expected one such as {next(iter(named))}" if named else "the game is over"
            raise ValueError(f"{text!r} is no move here: {wanted}")
        return named[text.lower()]

    return Rules(
        name="clobber_v0",
        settings={"rows": rows, "columns": columns},
        players=2,
        actions=rows * columns * 4,
        max_plies=rows * columns - 1,
        config=configuration(CONFIG, rows=rows, columns=columns),
        state_bytes=STATE.itemsize,
        key_words=(rows * columns + 31) // 32,
        kernels=Kernels(reset, legal_actions, play, payoffs, key),
        action_name=action_name,
        action_named=action_named,
    )


if __name__ == "__main__":
    ucd_envs.register("clobber_v0", rules)
    env = ucd_envs.make("clobber", rows=4, columns=5)
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
