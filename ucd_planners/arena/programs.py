"""Programs that speak GTP, as agents."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ucd_envs.rules import Rules, State
from ucd_envs.settings import real
from ucd_planners.arena.interface import FailedError, Move, Stop, obey
from ucd_planners.grammar import TIMEOUT
from ucd_planners.gtp.client import Program, ProgramError
from ucd_planners.gtp.protocol import COLOURS, RESIGN


class GTPAgent:
    """A program that speaks GTP, as an agent. Its process serves game after game and is restarted after a failure.

    It receives size, komi, stones before the start and moves, and plays by the rules set on its command line. Our rules
    decide legality and the winner. Go is scored by area after both have passed, with all stones on the board alive. A
    program that passes while there are dead stones loses by them: GNU Go needs --chinese-rules --capture-all-dead.
    """

    def __init__(self, command: str, timeout: float = TIMEOUT) -> None:
        if not 0 < real("timeout", timeout) < math.inf:
            raise ValueError(f"timeout must be a finite number of seconds above 0, not {timeout!r}")
        self.program, self.timeout = Program(command), float(timeout)
        self._stop: Stop | None = None

    def check(self, rules: Rules) -> None:
        """Raises ValueError for a game that GTP does not know."""
        if rules.players != 2:
            raise ValueError(f"a program that speaks GTP plays games of two players, but {rules} has {rules.players}")
        if rules.has_chance:
            raise ValueError(f"a program that speaks GTP knows no dice, and {rules} is a game with chance")

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """Sends size, komi, and the stones that stand on the board before the start."""
        self._known, self._stop, self._sent = rules.initial_state(), stop, 0
        rows, columns = rules.planes[:2]
        self._ask(f"boardsize {rows}" if rows == columns else f"boardsize {columns} {rows}", max(self.timeout, TIMEOUT))
        self._ask("clear_board")
        if "komi" in rules.settings:
            self._ask(f"komi {rules.settings['komi']:g}")
        for player, name in stones_before(rules):
            self._ask(f"play {COLOURS[player]} {name}")

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Move:
        """Returns the program's answer to genmove, after sending it the moves that it does not know."""
        for player, action in moves[self._sent :]:
            self._ask(f"play {COLOURS[player]} {self._known.action_name(action)}")
            self._known = self._known.after(action)
        self._sent = len(moves) + 1
        answer = self._ask(f"genmove {COLOURS[state.player]}")
        if answer.lower() == RESIGN:
            return Move(None)
        try:
            action = state.action_named(answer)
        except ValueError:
            raise self._failed(f"answers genmove with {answer[:60]!r}, which is no move") from None
        if action not in state.legal_actions():
            raise self._failed(f"plays {answer}, which is not legal: {state.rules.why_illegal(action)}")
        self._known = state.after(action)
        return Move(action)

    def close(self) -> None:
        """Ends the process."""
        self.program.close()

    def _ask(self, command: str, seconds: float | None = None) -> str:
        try:
            return self.program.ask(command, seconds or self.timeout, lambda: obey(self._stop))
        except ProgramError as error:
            raise self._failed(str(error)) from None

    def _failed(self, reason: str) -> FailedError:
        """Returns the error of this game, and ends the process, whose board may be wrong."""
        self.program.close(0.0)
        return FailedError(reason)


def stones_before(rules: Rules) -> list[tuple[int, str]]:
    """Returns player and point of the stones that a game's settings put on the board before the start."""
    found = []
    for setting in ("opening", "black", "white"):
        for turn, name in enumerate(str(rules.settings.get(setting, "")).split()):
            found.append(({"opening": turn % 2, "black": 0, "white": 1}[setting], name))
    return found
