"""A record of Go, NoGo or Hex while it is read: the rules with their first position, and the moves from there on."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ucd_envs import registry
from ucd_envs.formats import facts
from ucd_envs.formats.parsing import SHOWN, Node, whole_from
from ucd_envs.formats.record import after_move
from ucd_envs.pictures import stones
from ucd_envs.rules import State

MOVES = ("B", "W")
ADD = ("AB", "AW", "AE")
COLOURS = ("black", "white")
PASS = "pass"
PASSES = ("", "tt")
"""Texts of a pass in Go. No board has more than 19 columns, so that "tt" is no point."""
SWAP = ("swap", "swap-pieces")
RESIGN = "resign"
TOLD = {"size", "rows", "columns", "handicap", "black", "white", "first", "opening"}
"""Settings that the record itself tells."""
MOST_PLIES = 2**16 - 1
FIRST_LETTER = ord("a")

Move = tuple[str, str]
"""Letter of a colour, and text."""
Stones = dict[int, int]
"""Players of the stones on a board, by cell."""


class Reading:
    """A record that `follow` plays move by move.

    The board, komi and rules are those of `nodes`, before them `defaults`, after them `settings`. Raises ValueError with one
    sentence for facts that contradict each other.
    """

    def __init__(
        self, game: str, nodes: Sequence[Node], strict: bool, defaults: Mapping[str, Any], settings: Mapping[str, Any]
    ) -> None:
        self.game, self.strict, self.root = game, strict, nodes[0]
        nodes = nodes if strict else [part for node in nodes for part in parts_of(node)]
        self.nodes = nodes
        self.empty = registry.make_rules(game, **facts.sides(self.root, game))
        self.bare = self.empty.initial_state()
        moves = [move for node in nodes for move in moves_of(node)]
        self.start = next((at for at, node in enumerate(nodes) if moves_of(node)), len(nodes) - 1)
        """Number of the node of the first move, before which no setup is out of place."""
        seats = "WB" if game == "hex" and moves and re.fullmatch("W[a-z]{2}", "".join(moves[0])) else "BW"
        self.seats = {letter: player for player, letter in enumerate(seats)}
        board: Stones = {}
        turns = []
        for node in nodes[: self.start + 1]:
            self._put(board, node)
            turns.append(facts.turn(node, strict))
        first = next((turn for turn in reversed(turns) if turn is not None), None)
        first = self._first(board, moves) if first is None else first
        handicap = self.root.value("HA", whole_from, 0) if game == "go" else 0
        if handicap > 1 and first == 1 and not board:
            raise ValueError(f"HA tells of {handicap} handicap stones, but AB puts none on the board")
        left = {name: value for name, value in defaults.items() if name not in TOLD}
        self.settings = left | self._facts(moves, first, left, settings) | dict(settings)
        self.pending: Stones | None = None
        """The board of a setup since the last move."""
        self.turn: int | None = None
        """The player to move by a PL since the last move."""
        self.begin(board, first)

    def begin(self, board: Stones, first: int) -> None:
        """Begins the record at a position."""
        board = dict(sorted(board.items())) if self.game == "go" else board
        black, white = ([self._name(cell) for cell, player in board.items() if player == side] for side in (0, 1))
        found: dict[str, Any] = {name: self.empty.settings[name] for name in ("rows", "columns")}
        if self.game == "nogo":
            if board or first:
                raise ValueError("a game of NoGo begins on an empty board with Black to move, and nobody skips a turn")
        elif self.game == "hex" and first == len(black) - len(white):
            pairs = zip(black, [*white, ""][: len(black)], strict=True)
            found["opening"] = " ".join(name for pair in pairs for name in pair if name)
        else:
            found |= {"black": " ".join(black), "white": " ".join(white), "first": COLOURS[first]}
        self.rules = registry.make_rules(self.game, **found, **self.settings)
        self.states = deque([self.rules.initial_state()], maxlen=3)
        """The last three states, so that two passes can be taken back."""
        self.actions: list[int] = []
        self.comments: list[str] = []
        self.skipped = False
        """Whether the last action is a pass that was not written."""

    @property
    def state(self) -> State:
        """Returns the state after the last action."""
        return self.states[-1]

    def follow(self, stop: int | None) -> None:
        """Plays the moves, or the first `stop` that are written. Raises ValueError with one sentence for an illegal one, and
        for a node that cannot be read."""
        written = 0
        for at, node in enumerate(self.nodes[self.start :]):
            if written == stop:
                break
            moves = moves_of(node)
            if len(moves) > 1:
                both = " and ".join(f"{letter} {text[:SHOWN]!r}" for letter, text in moves[:2])
                raise ValueError(f"move {written + 1} is more than one: {both}")
            if self.strict and len(parts_of(node)) > 1:
                raise ValueError(f"move {written + 1} and a setup after it stand in one node")
            if at:
                self._change(node, written)
            for letter, text in moves:
                if text.strip().lower() != RESIGN:
                    written += 1
                    self._move(written, letter, text, node.text("C"))
        self._finish()

    def _change(self, node: Node, written: int) -> None:
        """Takes note of a setup and a turn, which hold from the next move on. Raises ValueError for them with `strict`."""
        turn = facts.turn(node, self.strict)
        puts = any(name in node for name in ADD)
        if self.strict and (puts or turn not in (None, self.state.player)):
            raise ValueError(f"after move {written}, in the middle of the game, the position is set up anew")
        if puts:
            self.pending = standing(self.state) if self.pending is None else self.pending
            self._put(self.pending, node)
        self.turn = self.turn if turn is None else turn

    def _move(self, number: int, letter: str, text: str, comment: str) -> None:
        """Plays a move with its number in the file. Raises ValueError for an illegal one."""
        player, name = self.seats[letter], repr(text[:SHOWN])
        if self.game == "nogo" and self.state.over and text.strip() in PASSES and not self.strict:
            return
        try:
            if self.pending is not None and self.pending != standing(self.state):
                self.begin(self.pending, player)
            self.pending = self.turn = None
            action = self._action(letter, text)
            name = self.state.action_name(action)
            if not self.strict:
                if self.state.over and name == PASS:
                    return
                self._resume(player, action)
                if not self.state.over and player != self.state.player:
                    self._skip()
                if name == PASS and self.skipped:
                    self._take_back(1)
                    return
            self._append(after_move(self.state, player, action), action, comment)
        except ValueError as error:
            raise ValueError(f"move {number} ({letter} {name}) is not legal: {error}") from None

    def _finish(self) -> None:
        """Ends the record: a setup after the last move begins it anew, unless it only takes stones off."""
        if self.state.over:
            return
        if self.pending is not None and self.pending.items() - standing(self.state).items():
            self.begin(self.pending, self.state.player if self.turn is None else self.turn)
        if self.turn not in (None, self.state.player):
            self._skip()

    def _skip(self) -> None:
        """Leaves a turn out: by a pass, or in a game without one by a new beginning. It and a pass before it cancel out."""
        if self.game != "go":
            self.begin(standing(self.state), 1 - self.state.player)
        elif self.actions and self.state.action_name(self.actions[-1]) == PASS:
            self._take_back(1)
        else:
            action = self.state.action_named(PASS)
            self._append(self.state.after(action), action, "")
            self.skipped = True

    def _resume(self, player: int, action: int) -> None:
        """Takes the last two passes back if they have ended the game, since it goes on after them."""
        passes = [self.state.action_name(action) == PASS for action in self.actions[-2:]]
        if not self.state.over or passes != [True, True]:
            return
        board = standing(self.state)
        self._take_back(2)
        if action not in self.state.legal_actions():
            self.begin(board, player)

    def _append(self, state: State, action: int, comment: str) -> None:
        """Adds an action and the state after it."""
        self.states.append(state)
        self.actions.append(action)
        self.comments.append(comment)
        self.skipped = False

    def _take_back(self, count: int) -> None:
        """Removes the last actions, one or two."""
        for _ in range(count):
            self.states.pop()
            self.actions.pop()
            self.comments.pop()
        self.skipped = False

    def _facts(self, moves: Sequence[Move], first: int, left: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the settings that the record states, and those that its moves need."""
        if self.game == "hex":
            swaps = any(text.strip().lower() in SWAP for _, text in moves)
            square = self.empty.settings["rows"] == self.empty.settings["columns"]
            kept = "swap" in left and square and not swaps
            return ({} if kept else {"swap": swaps}) | facts.own_settings(self.root, "hex")
        if self.game == "nogo":
            return facts.own_settings(self.root, "nogo")
        found = facts.rules_of_go(self.root)
        stated = any(text.strip() for text in self.root.texts("KM"))
        if "komi" not in settings and (stated or "komi" not in left):
            found["komi"] = facts.komi(self.root, self.empty.actions - 1, self.strict)
        found |= facts.own_settings(self.root, "go")
        movers = [1 - first, *(self.seats[letter] for letter, _ in moves)]
        plies = len(moves) + sum(one == other for one, other in pairwise(movers))
        if not self.strict and "max_plies" not in found and plies > left.get("max_plies", self.empty.max_plies):
            found["max_plies"] = min(plies, MOST_PLIES)
        return found

    def _first(self, board: Stones, moves: Sequence[Move]) -> int:
        """Returns the player to move where PL does not tell it."""
        if moves and not (self.strict and self.game == "hex" and not board):
            return self.seats[moves[0][0]]
        if self.game == "hex":
            return len(board) % 2
        return int(set(board.values()) == {0})

    def _put(self, board: Stones, node: Node) -> None:
        """Puts and removes the stones of a node's AB, AW and AE. Raises ValueError where these contradict each other."""
        black, white, none = (list(self._cells(node, name)) for name in ADD)
        twice = {*black} & {*white} | {*black} & {*none} | {*white} & {*none}
        if twice:
            raise ValueError(f"AB, AW and AE say different things of {self._name(min(twice))}")
        board.update(dict.fromkeys(black, 0) | dict.fromkeys(white, 1))
        for cell in none:
            board.pop(cell, None)

    def _cells(self, node: Node, name: str) -> list[int]:
        """Returns the cells of a list of points. Raises ValueError for text of another form."""
        found: list[int] = []
        for text in node.texts(name):
            text = text if self.strict else text.strip()
            if not text.strip():
                continue
            if self.game == "hex":
                found.append(self._cell_of_hex(text))
                continue
            corners = re.fullmatch("([a-z])([a-z])(?::([a-z])([a-z]))?", text)
            if corners is None:
                raise ValueError(f"{name} cannot be read: {text[:SHOWN]!r}")
            left, top = ord(corners[1]), ord(corners[2])
            right, bottom = ord(corners[3] or corners[1]), ord(corners[4] or corners[2])
            if left > right or top > bottom:
                raise ValueError(f"{name} cannot be read: {text[:SHOWN]!r}")
            found += [self._point(column, row) for row in range(top, bottom + 1) for column in range(left, right + 1)]
        return found

    def _action(self, letter: str, text: str) -> int:
        """Returns the action of a move. Raises ValueError for a text that is no move on this board."""
        bare = text.strip()
        if self.game == "hex":
            return (
                self.state.action_named(SWAP[0]) if bare.lower() in SWAP else self._cell_of_hex(text if self.strict else bare)
            )
        if bare in PASSES:
            return self.state.action_named(PASS)
        point = re.fullmatch("([a-z])([a-z])", text if self.strict else bare)
        if point is None:
            raise ValueError(f"{letter} cannot be read: {text[:SHOWN]!r}")
        return self._point(ord(point[1]), ord(point[2]))

    def _cell_of_hex(self, text: str) -> int:
        """Returns the action of "c4", or of "cd" for the same cell."""
        two = re.fullmatch("([a-z])([a-z])", text)
        return self.bare.action_named(f"{two[1]}{ord(two[2]) - FIRST_LETTER + 1}" if two else text)

    def _point(self, column: int, row: int) -> int:
        """Returns the action of a column and a row by their letters, the row from the top. Raises ValueError off the board."""
        rows, columns = self.empty.settings["rows"], self.empty.settings["columns"]
        x, y = column - FIRST_LETTER, rows - 1 - (row - FIRST_LETTER)
        if x >= columns or y < 0:
            raise ValueError(f"{chr(column) + chr(row)!r} is no point of a board with {columns} columns and {rows} rows")
        return int(y * columns + x)

    def _name(self, cell: int) -> str:
        """Returns the name of a cell."""
        return self.bare.action_name(cell)


def moves_of(node: Node) -> list[Move]:
    """Returns colour letters and texts of the moves of a node, which should be at most one."""
    return [(letter, text) for letter in MOVES for text in node.texts(letter)]


def parts_of(node: Node) -> list[Node]:
    """Returns a node as nodes of which each has setups, then a move, in the order of the file. Other properties stay with the
    last move."""
    parts: list[dict[str, Sequence[bytes]]] = [{}]
    for name, values in node.properties.items():
        if name in (*MOVES, *ADD) and any(letter in parts[-1] for letter in MOVES):
            parts.append({})
        played = [part for part in parts if any(letter in part for letter in MOVES)]
        (parts if name in (*MOVES, *ADD) or not played else played)[-1][name] = values
    return [Node(part) for part in parts]


def standing(state: State) -> Stones:
    """Returns the stones on the board of a state, in the order of cells."""
    return {cell: int(owner) - 1 for cell, owner in enumerate(stones(state).flat) if owner}
