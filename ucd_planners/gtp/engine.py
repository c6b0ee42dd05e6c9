"""A planner as a GTP engine: it keeps a game that a controller, such as a graphical board, plays with it.

choice      here                                                         elsewhere
clear_board the start given by the options, without a handicap that      the empty board
            was set by a command; komi stays
komi        kept, also for the game in progress; accepted without        refused
            effect for a game without komi
boardsize   one number, or columns and rows
resign      never played: `play b resign` changes nothing                stored like a move by some
genmove     passes in a finished game, where there is a pass             an error
score       all stones on the board are alive                            dead ones are guessed
time        without time_settings each move has the planner's budget,    the budget is one of the two
            with them it has seconds, by the clock of its colour
"""

from __future__ import annotations

import re
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import ucd_envs
from ucd_envs import pictures
from ucd_planners.gtp.analysis import StoppedError, Watch, both
from ucd_planners.gtp.board import Board, result, wins_at_once
from ucd_planners.gtp.clock import Clock, Control
from ucd_planners.gtp.protocol import COLOURS, RESIGN, GTPError, Lines, Reply, colour_named, command_from
from ucd_planners.planner import Planner
from ucd_planners.result import SearchResult

MOST_STONES = 9
"""Largest handicap on the points of the standard."""

Words = list[str]
Budget = Mapping[str, Any]
"""Playouts or seconds of a search, by name."""
OWN_BUDGET: Budget = {}
"""The planner's own budget."""
UNTIL_STOPPED: Budget = {"seconds": 1e9}
"""Thirty years, in effect until the search is stopped."""


class Engine:
    """A board and a planner, and the GTP commands for them.

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
        self.board = Board(game, settings)
        if self.board.rules.players != 2:
            raise ValueError(f"GTP needs a game of two players, but {self.board.rules} has {self.board.rules.players}")
        planner.check(self.board.rules)
        if not 0 <= resign <= 1:
            raise ValueError(f"resign must be from 0 to 1, not {resign}")
        self.planner, self.name, self.resign = planner, name, resign
        self._write, self._waiting = write, waiting
        self.clocks: list[Clock] | None = None
        self.left = False
        """Whether `quit` was received."""
        handicaps = "handicap" in self.board.settable
        self.commands = {word: run for word, run in COMMANDS.items() if handicaps or not word.endswith("_handicap")}

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
            reply.end(self.commands[command.name](self, command.words, reply))
        except GTPError as error:
            reply.refuse(str(error))
        except BrokenPipeError:
            raise
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            reply.refuse(f"internal error: {type(error).__name__}: {' '.join(str(error).split())}")

    def search(self, player: int, budget: Budget = OWN_BUDGET, watch: Watch | None = None) -> SearchResult:
        """Searches for a player's next move. Ctrl-C raises KeyboardInterrupt."""
        progress = None if watch is None else both(self.planner.progress, watch)
        found = self.planner.search(self.board.facing(player), progress=progress, **budget)
        if found.stopped == "interrupt":
            raise KeyboardInterrupt
        return found

    def choice(self, player: int, timed: bool, watch: Watch | None = None) -> int | None:
        """Returns the action for a player, or None to resign. Raises GTPError for a finished game without passes."""
        if self.board.state.over:
            action = self.board.passing()
            if action is None:
                raise GTPError("the game is over")
            return action
        state = self.board.facing(player)
        began = time.perf_counter()
        clock = self.clocks[player] if timed and self.clocks is not None else None
        share = None if clock is None else clock.share((len(state.legal_actions()) + 1) // 2)
        found = self.search(player, OWN_BUDGET if share is None else {"seconds": share}, watch)
        if clock is not None:
            clock.spend(time.perf_counter() - began)
        if found.value < self.resign and not wins_at_once(state):
            return None
        return found.action

    def moved(self, player: int, watch: Watch | None = None) -> str:
        """Chooses a move and plays it. Returns its text."""
        action = self.choice(player, True, watch)
        if action is None:
            return RESIGN
        name = self.board.state.action_name(action)
        self.board.push(player, action)
        return name

    # The commands: each takes its words and the reply, and returns the text of a good answer or raises GTPError.

    def _protocol_version(self, words: Words, reply: Reply) -> str:
        return "2"

    def _name(self, words: Words, reply: Reply) -> str:
        return self.name

    def _version(self, words: Words, reply: Reply) -> str:
        return ucd_envs.__version__

    def _known_command(self, words: Words, reply: Reply) -> str:
        (word,) = exactly(1, words)
        return "true" if word in self.commands else "false"

    def _list_commands(self, words: Words, reply: Reply) -> str:
        return "\n".join(self.commands)

    def _quit(self, words: Words, reply: Reply) -> str:
        self.left = True
        return ""

    def _boardsize(self, words: Words, reply: Reply) -> str:
        sides = [whole_from(word) for word in words]
        if len(sides) not in (1, 2):
            raise GTPError("syntax error")
        self.board.resize(sides[0], sides[-1])
        self._set_clocks()
        return ""

    def _clear_board(self, words: Words, reply: Reply) -> str:
        self.board.clear()
        self._set_clocks()
        return ""

    def _set_clocks(self) -> None:
        """Sets the clocks to the start of a game."""
        if self.clocks is not None:
            self.clocks = [Clock(clock.control) for clock in self.clocks]

    def _komi(self, words: Words, reply: Reply) -> str:
        (word,) = exactly(1, words)
        if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", word, re.ASCII):
            raise GTPError("syntax error")
        self.board.set_komi(float(word))
        return ""

    def _play(self, words: Words, reply: Reply) -> str:
        colour, vertex = exactly(2, words)
        player = colour_named(colour)
        if vertex.lower() != RESIGN:
            self.board.push(player, self.board.action_named(vertex))
        return ""

    def _genmove(self, words: Words, reply: Reply) -> str:
        (colour,) = exactly(1, words)
        return self.moved(colour_named(colour))

    def _reg_genmove(self, words: Words, reply: Reply) -> str:
        (colour,) = exactly(1, words)
        action = self.choice(colour_named(colour), timed=False)
        return RESIGN if action is None else self.board.state.action_name(action)

    def _undo(self, words: Words, reply: Reply) -> str:
        self.board.undo()
        return ""

    def _showboard(self, words: Words, reply: Reply) -> str:
        return "\n" + pictures.text(self.board.state)

    def _final_score(self, words: Words, reply: Reply) -> str:
        try:
            return result(self.board.state)
        except ValueError:
            raise GTPError("cannot score") from None

    def _time_settings(self, words: Words, reply: Reply) -> str:
        control = Control(*map(whole_from, exactly(3, words)))
        self.clocks = [Clock(control) for _ in COLOURS]
        return ""

    def _time_left(self, words: Words, reply: Reply) -> str:
        colour, seconds, stones = exactly(3, words)
        player, left, moves = colour_named(colour), whole_from(seconds), whole_from(stones)
        if self.clocks is None:
            self.clocks = [Clock(Control(left, 0, 0)) for _ in COLOURS]
        self.clocks[player].set(left, moves)
        return ""

    def _fixed_handicap(self, words: Words, reply: Reply) -> str:
        (word,) = exactly(1, words)
        self.board.set_up("invalid number of stones", handicap=self._stones(word))
        return str(self.board.rules.settings["black"])

    def _place_free_handicap(self, words: Words, reply: Reply) -> str:
        """Places the handicap. It has fewer stones where the standard has fewer points."""
        (word,) = exactly(1, words)
        for stones in range(min(self._stones(word), MOST_STONES), 1, -1):
            with suppress(GTPError):
                self.board.set_up("invalid number of stones", handicap=stones)
                return str(self.board.rules.settings["black"])
        raise GTPError("invalid number of stones")

    def _set_free_handicap(self, words: Words, reply: Reply) -> str:
        self._stones(str(len(words)))
        actions = [self.board.action_named(word) for word in words]
        if self.board.passing() in actions or len(set(actions)) < len(actions):
            raise GTPError("bad vertex list")
        vertices = " ".join(self.board.state.action_name(action) for action in actions)
        self.board.set_up("bad vertex list", black=vertices, first="white")
        return ""

    def _stones(self, word: str) -> int:
        """Reads a number of handicap stones, which needs an empty board."""
        stones = whole_from(word)
        if not self.board.bare:
            raise GTPError("board not empty")
        if stones < 2:
            raise GTPError("invalid number of stones")
        return stones

    def _loadsgf(self, words: Words, reply: Reply) -> str:
        """Loads the position before a numbered move, or at the end."""
        number = whole_from(words[1]) if len(words) > 1 else None
        if number == 0:
            raise GTPError("syntax error")
        self.board.load(exactly(1, words)[0], None if number is None else number - 1)
        self._set_clocks()
        return ""

    def _analyze(self, words: Words, reply: Reply) -> str:
        player, interval = self._watched(words)
        if not self.board.state.over:
            with suppress(StoppedError):
                self.search(player, UNTIL_STOPPED, Watch(self.planner, interval, reply.tell, self._waiting))
        return ""

    def _genmove_analyze(self, words: Words, reply: Reply) -> str:
        player, interval = self._watched(words)
        reply.tell(f"play {self.moved(player, Watch(self.planner, interval, reply.tell))}")
        return ""

    def _watched(self, words: Words) -> tuple[int, float]:
        """Returns the player and the seconds between two lines: `[colour] [[interval] centiseconds]`."""
        rest = list(words)
        player = max(self.board.state.player, 0)
        if rest and not rest[0].isdecimal() and rest[0] != "interval":
            player = colour_named(rest.pop(0))
        if rest[:1] == ["interval"]:
            rest.pop(0)
        (word,) = exactly(1, rest or ["100"])
        return player, whole_from(word) / 100


def exactly(count: int, words: Words) -> Words:
    """Returns the first `count` words of a command; more are ignored. Raises GTPError for fewer."""
    if len(words) < count:
        raise GTPError("syntax error")
    return words[:count]


def whole_from(word: str) -> int:
    """Returns a whole number, 0 or more. Raises GTPError for anything else."""
    if not re.fullmatch(r"\d{1,9}", word, re.ASCII):
        raise GTPError("syntax error")
    return int(word)


COMMANDS: dict[str, Callable[[Engine, Words, Reply], str]] = {
    "protocol_version": Engine._protocol_version,
    "name": Engine._name,
    "version": Engine._version,
    "known_command": Engine._known_command,
    "list_commands": Engine._list_commands,
    "quit": Engine._quit,
    "boardsize": Engine._boardsize,
    "clear_board": Engine._clear_board,
    "komi": Engine._komi,
    "fixed_handicap": Engine._fixed_handicap,
    "place_free_handicap": Engine._place_free_handicap,
    "set_free_handicap": Engine._set_free_handicap,
    "play": Engine._play,
    "genmove": Engine._genmove,
    "reg_genmove": Engine._reg_genmove,
    "undo": Engine._undo,
    "time_settings": Engine._time_settings,
    "time_left": Engine._time_left,
    "final_score": Engine._final_score,
    "showboard": Engine._showboard,
    "loadsgf": Engine._loadsgf,
    "lz-analyze": Engine._analyze,
    "lz-genmove_analyze": Engine._genmove_analyze,
}
"""Commands by name. Those for handicaps exist only for games that have them."""
