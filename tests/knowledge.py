"""A knowledge base beside a model in plain Python: positions are boards as text, and classes are found by turning the text."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from ucd_envs import make_rules
from ucd_envs.rules import State
from ucd_planners.knowledge_base import KnowledgeBase

CELLS = range(9)
TURNS = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8],
    [6, 3, 0, 7, 4, 1, 8, 5, 2],
    [8, 7, 6, 5, 4, 3, 2, 1, 0],
    [2, 5, 8, 1, 4, 7, 0, 3, 6],
    [2, 1, 0, 5, 4, 3, 8, 7, 6],
    [6, 7, 8, 3, 4, 5, 0, 1, 2],
    [0, 3, 6, 1, 4, 7, 2, 5, 8],
    [8, 5, 2, 7, 4, 1, 6, 3, 0],
]
"""Boards of tic-tac-toe turned and mirrored: cell i of the image is cell TURNS[s][i]."""


def new_base(path: Path, game: str = "tic_tac_toe", planner: str = "uct(c=0.3)", **options: Any) -> KnowledgeBase:
    """An empty base."""
    settings = {key: options.pop(key) for key in ("size", "ko", "columns", "rows", "swap") if key in options}
    return KnowledgeBase.create(path, make_rules(game, **settings), planner, **options)


def result_of(moves: dict[int, tuple[int, float]], stopped: str = "playouts") -> Any:
    """The part of a search's result that a base learns: visits and values by action."""
    actions = np.array(sorted(moves))
    visits = np.array([moves[action][0] for action in sorted(moves)], np.int64)
    values = np.array([moves[action][1] for action in sorted(moves)])
    return SimpleNamespace(actions=actions, visits=visits, values=np.where(visits > 0, values, np.nan), stopped=stopped)


def board_of(line: list[int]) -> str:
    """The board after moves of tic-tac-toe from its first one."""
    return "".join("XO"[line.index(cell) % 2] if cell in line else "." for cell in CELLS)


class Model:
    """A base of tic-tac-toe as a dict: visits and value sums by board and move, the same for all images of a board."""

    def __init__(self, alpha: float, threshold: float) -> None:
        self.alpha, self.threshold = alpha, threshold
        self.totals: dict[str, int] = {}
        self.moves: dict[tuple[str, int], tuple[int, float]] = {}

    def learn(self, line: list[int], moves: dict[int, tuple[int, float]]) -> int:
        """Adds a search, and returns the number of moves written."""
        board, total = board_of(line), sum(visits for visits, _ in moves.values())
        images = {"".join(board[cell] for cell in turn): turn for turn in TURNS}
        written = 0
        for move, (visits, value) in moves.items():
            known = (board, move) in self.moves
            if visits and (known or self.alpha * visits / total + value >= self.threshold):
                written += 1
                for image, turn in images.items():
                    to = turn.index(move)
                    had = self.moves.get((image, to), (0, 0.0))
                    self.moves[image, to] = (had[0] + visits, had[1] + visits * value)
        if written:
            for image in images:
                self.totals[image] = self.totals.get(image, 0) + total
        return written


def searches(seed: int, stabilised: bool = False) -> Iterator[tuple[list[int], State, dict[int, tuple[int, float]]]]:
    """Random searches of random positions of tic-tac-toe without a symmetry of their own, but where asked for, without end.

    Values are multiples of 1/4 and visits of 4, so that all sums are exact.
    """
    draw, rules = random.Random(seed), make_rules("tic_tac_toe")
    while True:
        line: list[int] = []
        state = rules.initial_state()
        for _ in range(draw.randrange(6)):
            line.append(draw.choice(state.legal_actions()))
            state = state.after(line[-1])
            if state.over:
                break
        board = board_of(line)
        own = sum("".join(board[cell] for cell in turn) == board for turn in TURNS)
        if not state.over and (stabilised or own == 1):
            moves = {action: (4 * draw.randrange(20), draw.randrange(5) / 4) for action in state.legal_actions()}
            yield line, state, moves
