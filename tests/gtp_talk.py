"""A conversation with an engine: lines in, text out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ucd_envs
from ucd_planners.gtp.engine import Engine
from ucd_planners.planner import Planner
from ucd_planners.presets import uct

GO5 = {"size": 5, "komi": 0}


class Talk:
    """An engine that is asked line by line."""

    def __init__(
        self,
        game: str = "go",
        settings: dict[str, Any] | None = None,
        planner: Planner | None = None,
        waiting: Callable[[], bool] = lambda: True,
        **options: Any,
    ) -> None:
        self.written: list[str] = []
        settings = GO5 if settings is None else settings
        planner = uct(playouts=20, seed=1) if planner is None else planner
        self.engine = Engine(game, settings, planner, write=self.written.append, waiting=waiting, **options)

    def __call__(self, line: str | bytes) -> str:
        """Everything that is written for a line."""
        self.written.clear()
        self.engine.obey(line.encode() if isinstance(line, str) else line)
        return "".join(self.written)

    def text(self, line: str) -> str:
        """The text of a good answer."""
        answer = self(line)
        assert answer.startswith("="), (line, answer)
        assert answer.endswith("\n\n")
        return answer[1:].strip("\n ")

    def refused(self, line: str) -> str:
        """The text of a refusal, which leaves the position as it was."""
        before = self.position()
        answer = self(line)
        assert re.fullmatch(r"\? .+\n\n", answer), (line, answer)
        assert self.position() == before
        return answer[2:-2]

    def position(self) -> tuple[Any, ...]:
        board = self.engine.board
        return (board.state.data, board.moves, board.rules, board.settings, board.setup)

    def stones(self) -> dict[str, str]:
        """The stones on the board by their names: X of Black, O of White."""
        board = self.engine.board
        rows, columns = board.rules.planes[:2]
        found = ucd_envs.pictures.stones(board.state)
        return {
            board.rules.initial_state().action_name(row * columns + column): ".XO"[found[row, column]]
            for row in range(rows)
            for column in range(columns)
            if found[row, column]
        }
