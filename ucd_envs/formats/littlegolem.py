"""Games of Havannah in Little Golem's format (hgf files), parsed by sgfmill.

A file has one game or several, each "(;FF[4]PB[...]PW[...]SZ[8]RE[B];W[H3];B[swap];...)". SZ is the base. PB moves first,
but its first move has the tag W; tags take turns. A move is a cell, "swap", or "resign", which changes nothing on the board.
After a swap the players have exchanged their colours there; here the stone becomes the other player's. In both formats PB is
player 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ucd_envs import registry
from ucd_envs.formats.sgf import Record, after_move, sgfmill_modules

RESIGN = "resign"
RESULTS = {"B": 1.0, "W": 0.0}
"""The first player's payoff."""
Node = Mapping[str, Sequence[bytes]]


def load(path: str | Path) -> list[Record]:
    """Returns the games of a file.

    Raises OSError for a file that cannot be read and ImportError without sgfmill. Raises ValueError with one sentence, which
    names the file, the game and the move, for a file of another format, a move off the board, on a stone or after the end,
    and a result that the moves contradict.
    """
    _, grammar, _ = sgfmill_modules()
    try:
        trees = grammar.parse_sgf_collection(Path(path).read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is no file of games: {error}") from None
    games = []
    for number, tree in enumerate(trees, 1):
        nodes = list(grammar.main_sequence_iter(tree))
        try:
            games.append(_game(nodes))
        except ValueError as error:
            raise ValueError(f"{path}, {_text(nodes[0], 'GC') or f'game {number}'}: {error}") from None
    return games


def _game(nodes: Sequence[Node]) -> Record:
    """Returns the game of a main line."""
    base = _text(nodes[0], "SZ")
    if not (base.isascii() and base.isdecimal()):
        raise ValueError(f"SZ is {base[:20]!r}, no base of a board")
    rules = registry.make_rules("havannah", base=int(base), swap=True)
    state, actions, resigned = rules.initial_state(), list[int](), False
    for number, text in enumerate(_moves(nodes), 1):
        if resigned or state.over:
            raise ValueError(f"move {number} ({text[:20]}) comes after the end of the game")
        resigned = text.lower() == RESIGN
        if resigned:
            continue
        try:
            actions.append(state.action_named(text))
        except ValueError as error:
            raise ValueError(f"move {number}: {error}") from None
        try:
            state = after_move(state, state.player, actions[-1])
        except ValueError as error:
            raise ValueError(f"move {number} ({text}) is not legal: {error}") from None
    result = _text(nodes[0], "RE")
    if state.over and RESULTS.get(result, state.payoffs()[0]) != state.payoffs()[0]:
        raise ValueError(f"RE[{result}] is not what the moves have led to")
    names = (_text(nodes[0], "PB"), _text(nodes[0], "PW"))
    return Record(rules, tuple(actions), ("",) * len(actions), names, result, _text(nodes[0], "EV"))


def _moves(nodes: Sequence[Node]) -> list[str]:
    """Returns the texts of the moves. Raises ValueError where tags do not take turns."""
    found: list[str] = []
    for node in nodes:
        tags = [tag for tag in ("B", "W") if tag in node]
        if tags and tags != ["WB"[len(found) % 2]]:
            raise ValueError(f"move {len(found) + 1} is tagged {' and '.join(tags)}, but W and B take turns from W on")
        found += [_text(node, tag) for tag in tags]
    return found


def _text(node: Node, name: str) -> str:
    """Returns a property's text, empty where it is missing."""
    return node.get(name, [b""])[0].decode("utf-8", "replace").strip()
