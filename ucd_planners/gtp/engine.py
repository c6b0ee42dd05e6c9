"""A planner as a GTP engine: it keeps a game that a controller, such as a graphical board, plays with it.

choice      here                                                         elsewhere
clear_board the start given by the options, without a handicap that      the empty board
            was set by a command; komi stays
komi        kept, also for the game in progress; accepted without        refused
            effect for a game without komi
boardsize   one number, or columns and rows
loadsgf     what the file does not tell stays as before: komi, ko,       defaults
            suicide, longest game, mercy, swap, and NoGo's options
resign      never played: `play b resign` changes nothing                stored like a move by some
genmove     in a finished game: passes, or resigns where there is no     an error
            pass and the colour has lost
score       all stones on the board are alive                            dead ones are guessed
time        without time_settings each move has the planner's budget,    the budget is one of the two
            with them it has seconds, by the clock of its colour
knowledge   a new game begins without the graph and the learned          kept by some
            playouts of the last one
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from ucd_planners.gtp.commands import COMMANDS, Command
from ucd_planners.gtp.extensions import EXTENSIONS
from ucd_planners.gtp.protocol import GTPError, Lines, Reply, command_from
from ucd_planners.gtp.session import Session
from ucd_planners.planner import Planner


class Engine(Session):
    """A session and the GTP commands for it.

    game and settings: as in ucd_envs.make; name: the engine's name; resign: it resigns when its mean payoff is below this,
    unless one move wins; write: receives the text of answers; waiting: whether another line has arrived, which ends an
    analysis. Raises ValueError or TypeError for a game that cannot be played with these settings.
    """

    def __init__(
        self,
        game: str,
        settings: Mapping[str, Any],
        planner: Planner,
        *,
        name: str = "ucd",
        resign: float = 0.0,
        write: Callable[[str], None],
        waiting: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(game, settings, planner, name, resign, waiting)
        self._write = write
        every: dict[str, Command] = COMMANDS | EXTENSIONS
        self.commands = {word: command for word, command in every.items() if command.serves(self.board)}
        self.names = self.commands.keys()

    def warm(self) -> None:
        """Compiles the kernels of a search, so that no move has to wait for it."""
        if not self.board.state.over:
            seed = self.planner.seed
            self.search(0, {"playouts": self.planner.workers})
            self.planner.reset(seed)

    def serve(self, lines: Lines) -> None:
        """Runs commands until `quit` or the end of the lines."""
        while not self.left and (line := lines.next()) is not None:
            self.obey(line)

    def obey(self, line: bytes) -> None:
        """Runs the command of one line and writes its answer. No line raises an exception."""
        command = command_from(line)
        if command is None:
            return
        reply = Reply(command.number, self._write)
        if command.name not in self.commands:
            reply.refuse("unknown command")
            return
        try:
            reply.end(self.commands[command.name].run(self, command.words, reply))
        except GTPError as error:
            reply.refuse(str(error))
        except BrokenPipeError:
            raise
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            reply.refuse(f"internal error: {type(error).__name__}: {' '.join(str(error).split())}")
