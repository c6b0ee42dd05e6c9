"""Games of Havannah in Little Golem's format (hgf files) and in HavannahGui's, parsed by sgfmill.

A file has one game or several, each "(;FF[4]PB[...]PW[...]SZ[8]RE[B];W[H3];B[swap];...)". SZ is the base. PB moves first,
but its first move has the tag W; tags take turns. A move is a cell, "swap", or "resign", which changes nothing on the board.
After a swap the players have exchanged their colours there; here the stone becomes the other player's. In both formats PB is
player 0.

HavannahGui's files have GM[Havannah] and count the cells of a row from the left corner of the whole board: "e2" is the first
cell of row e on base 4. Little Golem counts from the row's own first cell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ucd_envs import registry
from ucd_envs.formats.parsing import SHOWN, Node, main_lines, printable
from ucd_envs.formats.record import Record, after_move

RESIGN = "resign"
GUI = "havannah"
"""The name of the game in HavannahGui's files."""
MOST_NAME = 80
"""Characters of a game's name in a message."""
RESULTS = {"B": 1.0, "W": 0.0}
"""The first player's payoff."""


def load(path: str | Path) -> list[Record]:
    """Returns the games of a file.

    Raises OSError for a file that cannot be read and ImportError without sgfmill. Raises ValueError with one sentence, which
    names the file, the game and the move, for a file of another format, a move off the board, on a stone or after the end,
    and a result that the moves contradict.
    """
    try:
        lines = main_lines(Path(path))
    except ValueError as error:
        raise ValueError(f"{path} is no file of games: {error}") from None
    games = []
    for number, nodes in enumerate(lines, 1):
        try:
            games.append(_game(nodes))
        except ValueError as error:
            name = printable(nodes[0].text("GC"), MOST_NAME) or f"game {number}"
            raise ValueError(f"{path}, {name}: {error}") from None
    return games


def _game(nodes: Sequence[Node]) -> Record:
    """Returns the game of a main line."""
    root = nodes[0]
    base = root.text("SZ").strip()
    if not re.fullmatch("[0-9]{1,3}", base):
        raise ValueError(f"SZ is {base[:SHOWN]!r}, no base of a board")
    rules = registry.make_rules("havannah", base=int(base), swap=True)
    whole_rows = root.text("GM").strip().lower() == GUI
    state, actions, comments, resigned = rules.initial_state(), list[int](), list[str](), False
    for number, (text, comment) in enumerate(_moves(nodes), 1):
        if resigned or state.over:
            raise ValueError(f"move {number} ({printable(text, SHOWN)}) comes after the end of the game")
        resigned = text.lower() == RESIGN
        if resigned:
            continue
        try:
            action = state.action_named(_own_name(text, int(base)) if whole_rows else text)
        except ValueError as error:
            raise ValueError(f"move {number}: {error}") from None
        try:
            state = after_move(state, state.player, action)
        except ValueError as error:
            raise ValueError(f"move {number} ({text}) is not legal: {error}") from None
        actions.append(action)
        comments.append(comment)
    result = root.text("RE").strip()
    if state.over and RESULTS.get(result, state.payoffs()[0]) != state.payoffs()[0]:
        raise ValueError(f"RE[{result}] is not what the moves have led to")
    names = (root.text("PB").strip(), root.text("PW").strip())
    return Record(rules, tuple(actions), tuple(comments), names, result, root.text("EV").strip())


def _own_name(text: str, base: int) -> str:
    """Returns the row's own name of a cell that is counted along the whole row. Raises ValueError for a text off the board."""
    cell = re.fullmatch("([a-z])([0-9]{1,2})", text.lower())
    if cell is None:
        return text
    row, column = ord(cell[1]) - ord("a"), int(cell[2]) - 1
    if not 0 <= column < 2 * base - 1 or abs(column - row) >= base:
        raise ValueError(f"{text!r} is no cell of this board")
    return f"{cell[1]}{column - max(0, row - base + 1) + 1}"


def _moves(nodes: Sequence[Node]) -> list[tuple[str, str]]:
    """Returns texts and comments of the moves. Raises ValueError where tags do not take turns."""
    found: list[tuple[str, str]] = []
    for node in nodes:
        tags = [tag for tag in ("B", "W") if tag in node]
        if tags and tags != ["WB"[len(found) % 2]]:
            raise ValueError(f"move {len(found) + 1} is tagged {' and '.join(tags)}, but W and B take turns from W on")
        found += [(node.text(tag).strip(), node.text("C")) for tag in tags]
    return found
