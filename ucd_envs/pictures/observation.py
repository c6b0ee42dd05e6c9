"""Contents of a position for pictures: stones, cells, names, and the result of the game."""

from __future__ import annotations

import numpy as np

from ucd_envs.interface import Victory
from ucd_envs.kernels import CHANCE, OVER
from ucd_envs.rules import State

STONES = ".XOABCDEFGHIJKLMNPQRSTUVWYZ"
"""Characters of an empty cell and of the players' stones."""


def name_of(state: State, action: int) -> str:
    """Returns the text of an action."""
    return state.action_name(action)


def seen(state: State, player: int) -> np.ndarray:
    """Returns a player's observation: [rows, columns, planes] int8."""
    planes = np.zeros(state.rules.planes, np.int8)
    state.rules.kernels.observe(state.rules.config, state.array(), player, planes.reshape(-1))
    return planes


def stones(state: State) -> np.ndarray:
    """Returns the owners of all stones: [rows, columns] int, 0 for none, else player + 1."""
    board = np.zeros(state.rules.planes[:2], np.int64)
    for player in range(state.rules.players):
        board[seen(state, player)[:, :, 0] == 1] = player + 1
    return board


def victory_of(state: State) -> Victory | None:
    """Returns the victory that ended a game, or None where its rules name none."""
    return state.rules.victory(state) if state.rules.victory else None


def subject(state: State) -> int | None:
    """Returns the player of the caption: the one to move, the winner, or the one whose illegal move ended the game; None where
    chance is to move."""
    if state.player != OVER:
        return state.player if state.player != CHANCE else None
    payoffs = state.payoffs()
    return payoffs.index(max(payoffs)) if len(set(payoffs)) > 1 else None


def caption(state: State, names: tuple[str, ...], characters: str = "") -> str:
    """Returns the player to move or the end of the game, in words. `characters` name the players' stones in text."""
    player = subject(state)
    name = "" if player is None else names[player] + (f" ({characters[player + 1]})" if characters else "")
    if state.player == CHANCE:
        what = "chance to move"
    elif state.player != OVER:
        what = f"{name} to move" if state.ending is None else f"over by an illegal move of {name}"
    elif state.rules.players == 1:
        what = f"over, payoff {state.payoffs()[0]:.3f}"
    else:
        what = "a draw" if player is None else f"{name} {'has won' if state.payoffs()[player] == 1 else 'is ahead'}"
        if victory := victory_of(state):
            what += " by a " + " and a ".join(victory.kinds)
            what += ": " + " ".join(name_of(state, cell) for cell in victory.cells) if characters else ""
    return f"ply {state.ply}: {what}"
