"""Recorded games and counts of positions of the General Game Playing games (source and notation in each file).

The files come from the rulesheets themselves, run by a Prolog program, and share no code with this project.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ucd_envs import State
from ucd_envs.boards import mills
from ucd_envs.pictures import stones
from ucd_envs.pictures.observation import seen

DATA = Path(__file__).resolve().parent / "data" / "ggp"


def colours(state: State) -> dict[str, str]:
    """The owner of each taken cell by its name, the first row being 1, as the number of a player."""
    board = stones(state)
    return {
        f"{chr(ord('a') + column)}{row + 1}": str(board[row, column] - 1) for row, column in zip(*board.nonzero(), strict=True)
    }


def columns(state: State) -> dict[str, list[str]]:
    """The stones of each column of Connect Four, from the bottom."""
    board = stones(state)[::-1]
    return {f"col{column + 1}": [str(stone - 1) for stone in line if stone] for column, line in enumerate(board.T)}


def patterns(state: State) -> dict[str, str]:
    """The four bits of each piece of Quarto by the name of its cell."""
    planes = seen(state, 0)
    return {
        f"{chr(ord('a') + column)}{row + 1}": "".join(map(str, planes[row, column, 2:6]))
        for row, column in zip(*planes[:, :, 0].nonzero(), strict=True)
    }


def points(state: State) -> dict[str, str]:
    """The owner of each man of Merrills by the name of its point."""
    board = stones(state)
    return {name: str(board[place] - 1) for name, place in zip(mills.NAMES, mills.PLACES, strict=True) if board[place]}


class Recorded(NamedTuple):
    """A game of the collection and its form here."""

    game: str
    settings: dict[str, Any]
    board: Callable[[State], dict[str, Any]]
    """Returns a position as the files write it, with the numbers of players in place of their names."""


def pieces(state: State) -> dict[str, str]:
    """The pieces of chess by the names of their cells, each after the number of its player."""
    planes = seen(state, 0)[:, :, 2:14]
    kinds = ("pawn", "knight", "bishop", "rook", "queen", "king")
    return {
        f"{chr(ord('a') + column)}{row + 1}": f"{kind // 6}{kinds[kind % 6]}"
        for row, column, kind in zip(*planes.nonzero(), strict=True)
    }


RECORDED = {
    "breakthrough": Recorded("breakthrough", {}, colours),
    "capture_the_king": Recorded("capture_the_king", {}, pieces),
    "connect4": Recorded("connect_four", {}, columns),
    "connectfour_8x6": Recorded("connect_four", {"columns": 8}, columns),
    "crisscross": Recorded("crisscross", {}, colours),
    "pentago_2008": Recorded("pentago", {}, colours),
    "quarto": Recorded("quarto", {}, patterns),
    "othello_comp2007": Recorded("othello", {}, colours),
    "knightthrough": Recorded("knightthrough", {}, colours),
    "pawn_whopping": Recorded("pawn_whopping", {}, colours),
    "pawn_whopping_corrected": Recorded("pawn_whopping", {"corrected": True}, colours),
    "merrills": Recorded("merrills", {}, points),
}
"""By the name of the file."""


@cache
def recorded(name: str) -> dict[str, Any]:
    """The contents of a file. The order of `roles` gives the numbers of the players."""
    told: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    return told


def perft(name: str) -> list[dict[str, Any]]:
    """Rows of depth, paths and states."""
    rows: list[dict[str, Any]] = json.loads((DATA / "PERFT.json").read_text())["games"][name]
    return rows
