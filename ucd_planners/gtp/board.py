"""The game of an engine: a board with its settings, and all positions since its start.

Any colour may move at any time, as GTP requires, in games that allow it (`State.turned`). A game that two passes have ended
continues as if after the first one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ucd_envs import pictures, registry
from ucd_envs.rules import Rules, State
from ucd_planners.gtp.protocol import GTPError

PASS = "pass"
UNTOLD = ("komi", "ko", "suicide", "max_plies", "mercy", "swap", "irrational", "generation")
"""Settings that a record need not tell."""


class Board:
    """A game by name with settings as in ucd_envs.make. Methods that raise GTPError change nothing.

    Raises ValueError or TypeError for impossible settings.
    """

    def __init__(self, game: str, settings: Mapping[str, Any]) -> None:
        self.game = game
        self.settings = dict(settings)
        """Settings of the board once it is cleared."""
        self.setup: dict[str, Any] = {}
        """Settings for the stones that a handicap, or a file, has placed before the first move."""
        self.settable = frozenset(registry.parameters(game))
        self.begin(registry.make_rules(game, **settings))

    def begin(self, rules: Rules) -> None:
        """Starts a game of these rules."""
        self.rules = rules
        self.states = [rules.initial_state()]
        """All positions so far, the present one last."""
        self.moves: list[tuple[int, int]] = []
        """Player and action of all moves so far."""

    @property
    def state(self) -> State:
        """Returns the present position."""
        return self.states[-1]

    @property
    def bare(self) -> bool:
        """Returns whether the board is empty and nothing was played."""
        return not self.moves and not pictures.stones(self.state).any()

    def facing(self, player: int) -> State:
        """Returns the present position with a player to move, or over. Raises GTPError where players move only in turn."""
        place = len(self.moves)
        while place and self.states[place].over and self.state.action_name(self.moves[place - 1][1]) == PASS:
            place -= 1
        state = self.states[place]
        try:
            return state if state.over else state.turned(player)
        except ValueError as error:
            raise GTPError(str(error)) from None

    def push(self, player: int, action: int) -> None:
        """Plays a move. Raises GTPError for an illegal one."""
        state = self.facing(player)
        if state.over and state.action_name(action) == PASS:
            self.states.append(state)
        else:
            if state.over or not self.rules.kernels.is_legal(self.rules.config, state.array(), action):
                raise GTPError("illegal move")
            self.states.append(state.after(action))
        self.moves.append((player, action))

    def undo(self) -> None:
        """Takes one move back. Raises GTPError at the start."""
        if not self.moves:
            raise GTPError("cannot undo")
        self.states.pop()
        self.moves.pop()

    def action_named(self, vertex: str) -> int:
        """Returns the action of a vertex. Raises GTPError, also for a pass in a game without one."""
        try:
            return self.state.action_named(vertex)
        except ValueError:
            raise GTPError("illegal move" if vertex.lower() == PASS else "syntax error") from None

    def passing(self) -> int | None:
        """Returns the action of a pass, or None in games without one."""
        try:
            return self.state.action_named(PASS)
        except ValueError:
            return None

    def clear(self) -> None:
        """Returns to the start given by the settings."""
        self.begin(registry.make_rules(self.game, **self.settings))
        self.setup = {}

    def resize(self, columns: int, rows: int) -> None:
        """Clears the board and changes its size. Raises GTPError."""
        kept = {key: value for key, value in self.settings.items() if key not in ("size", "rows", "columns")}
        if "size" in self.settable and rows == columns:
            kept["size"] = rows
        elif {"rows", "columns"} <= self.settable:
            kept |= {"rows": rows, "columns": columns}
        elif self.rules.planes[:2] != (rows, columns):
            raise GTPError("unacceptable size")
        self.begin(self._rules(kept, "unacceptable size"))
        self.settings, self.setup = kept, {}

    def change(self, refusal: str, **settings: Any) -> None:
        """Changes settings from now on, also for the game in progress, whose moves stay. Raises GTPError with the text
        `refusal`, also where a move would not have been legal."""
        rules = self._rules({**self.settings, **self.setup, **settings}, refusal)
        if rules != self.rules:
            before = (self.rules, self.states, self.moves)
            self.begin(rules)
            try:
                for player, action in before[2]:
                    self.push(player, action)
            except GTPError:
                self.rules, self.states, self.moves = before
                raise GTPError(refusal) from None
        self.settings |= settings
        self.setup = {key: value for key, value in self.setup.items() if key not in settings}

    def set_up(self, refusal: str, **setup: Any) -> None:
        """Starts with stones on the board. Raises GTPError with the text `refusal`."""
        self.begin(self._rules({**self.settings, **setup}, refusal))
        self.setup = setup

    def load(self, path: str, stop: int | None) -> None:
        """Loads the game of an SGF file, or its first moves. Its size and komi remain when the board is cleared. Rules that the
        file does not tell are those of the settings. Raises GTPError."""
        from ucd_envs.formats import sgf

        kept = {key: value for key, value in self.settings.items() if key in UNTOLD}
        try:
            if Path(path).exists() and not Path(path).is_file():
                raise ValueError("not a regular file")
            record = sgf.load(Path(path), stop, registry.versioned(self.game).rpartition("_v")[0], defaults=kept)
        except (ValueError, OSError, ImportError) as error:
            raise GTPError(f"cannot load file: {getattr(error, 'strerror', None) or error}") from None
        lasting = {"rows", "columns", "komi"} & record.rules.settings.keys()
        self.settings = {key: value for key, value in self.settings.items() if key != "size"}
        self.settings |= {key: record.rules.settings[key] for key in lasting}
        self.setup = {key: value for key, value in record.rules.settings.items() if key not in lasting}
        self.begin(record.rules)
        for action in record.actions:
            self.push(self.state.player, action)

    def _rules(self, settings: Mapping[str, Any], refusal: str) -> Rules:
        try:
            return registry.make_rules(self.game, **settings)
        except (ValueError, TypeError):
            raise GTPError(refusal) from None


def result(state: State) -> str:
    """Returns the result of a state at present, such as B+3.5, W+0.5 or 0, or B+ in a game without points.

    Raises ValueError for a game without points that is not over.
    """
    if state.rules.score is not None:
        lead = state.rules.score(state)
        return "0" if lead == 0 else f"{'B' if lead > 0 else 'W'}+{abs(lead):g}"
    first, second = state.payoffs()
    return "0" if first == second else "B+" if first > second else "W+"


def wins_at_once(state: State) -> bool:
    """Returns whether some move wins the game at once for the player who makes it."""
    return any(after.over and after.payoffs()[state.player] == 1.0 for after in map(state.after, state.legal_actions()))
