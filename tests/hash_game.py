"""Synthetic games whose positions are listed in a table: drawn by a hash, or written down by hand for one test.

Board    a list of positions, each with a mover and moves to positions one ply further, or with payoffs.
Players  one to three; a mover may move several times in a row.
Turn     one of the moves of the position.
End      at a position with payoffs.
Moves    the number of the move, written "m0", "m1", ...; `rules` leaves gaps between the numbers.
Source   none: `rules` takes every choice from a hash of the seed, the position and the question.

Different moves may lead to one position, from one position or from several, so a game is a graded acyclic graph; with
`tree=True` every position is reached in one way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from ucd_envs.interface import Kernels
from ucd_envs.kernels import (
    CHANCE,
    IS_LEGAL,
    KEY,
    LEGAL_ACTIONS,
    PLAY,
    PLAYOUT_ACTION,
    PROBABILITY,
    READ_PAYOFFS,
    RESET,
    kernel,
)
from ucd_envs.rng import below
from ucd_envs.rules import Rules, State
from ucd_envs.structs import configuration, fields, record

POSITIONS, MOVES, PLAYERS = 2048, 8, 3
"""The largest table."""
NAMES = tuple(f"m{action}" for action in range(MOVES))

CONFIG = record(
    ("mover", np.int32, (POSITIONS,)),
    ("target", np.int32, (POSITIONS, MOVES)),
    ("payoffs", np.float64, (POSITIONS, PLAYERS)),
    ("probability", np.float64, (POSITIONS, MOVES)),
)
"""A row a position: -1 for the mover of a finished game, -1 for the target of a move that there is not."""
STATE = record(("player", np.int32), ("ply", np.int32), ("place", np.int64))
"""`place`: the row of the position."""


@kernel(RESET)
def reset(config, state):
    """The first position of the list."""
    s = fields(state, STATE)
    s.player = fields(config, CONFIG).mover[0]
    s.ply = 0
    s.place = 0


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """The moves of the position."""
    target, place = fields(config, CONFIG).target, fields(state, STATE).place
    count = 0
    for action in range(MOVES):
        if target[place, action] >= 0:
            actions[count] = action
            count += 1
    return count


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Whether the position has this move."""
    return 0 <= action < MOVES and fields(config, CONFIG).target[fields(state, STATE).place, action] >= 0


@kernel(PLAY)
def play(config, state, action):
    """Goes to the position that the move leads to."""
    c = fields(config, CONFIG)
    s = fields(state, STATE)
    s.place = c.target[s.place, action]
    s.ply += 1
    s.player = c.mover[s.place]


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Those of the position."""
    for player in range(out.size):
        out[player] = fields(config, CONFIG).payoffs[fields(state, STATE).place, player]


@kernel(KEY)
def key(config, state, words):
    """The ply and the place."""
    s = fields(state, STATE)
    words[0] = np.uint64(s.ply)
    words[1] = np.uint64(s.place)


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Any move of the position, each with the same probability, by trying numbers until one is a move."""
    while True:
        action = np.int64(below(rng, np.uint64(MOVES)))
        if is_legal(config, state, action):
            return action


@kernel(PROBABILITY)
def probability(config, state, action):
    """That of an outcome, as listed."""
    return fields(config, CONFIG).probability[fields(state, STATE).place, action]


class Position(NamedTuple):
    """A row of the table: a mover and the rows that its moves lead to, or payoffs and neither; and probabilities of moves."""

    ply: int
    mover: int
    targets: Mapping[int, int]
    payoffs: Sequence[float]
    probabilities: Mapping[int, float] = {}


def of_positions(positions: Sequence[Position], players: int, name: str, settings: Mapping[str, Any]) -> Rules:
    """The game of a table. Raises ValueError for a move that skips a ply."""
    mover = np.full(POSITIONS, -1, np.int32)
    target = np.full((POSITIONS, MOVES), -1, np.int32)
    payoffs_of, probabilities = np.zeros((POSITIONS, PLAYERS)), np.zeros((POSITIONS, MOVES))
    for place, row in enumerate(positions):
        mover[place] = row.mover
        payoffs_of[place, : len(row.payoffs)] = row.payoffs
        for action, chance in row.probabilities.items():
            probabilities[place, action] = chance
        for action, other in row.targets.items():
            target[place, action] = other
            if positions[other].ply != row.ply + 1:
                raise ValueError(f"move {action} of position {place} must lead one ply down")
    own = Kernels(reset, legal_actions, play, payoffs, key, is_legal=is_legal, playout_action=playout_action)
    return Rules(
        name=name,
        settings=settings,
        players=players,
        actions=MOVES,
        max_plies=max(row.ply for row in positions),
        config=configuration(CONFIG, mover=mover, target=target, payoffs=payoffs_of, probability=probabilities),
        state_bytes=STATE.itemsize,
        key_words=2,
        kernels=own._replace(probability=probability) if (mover == CHANCE).any() else own,
        action_name=lambda state, action: NAMES[action],
        action_named=action_named,
    )


def action_named(state: State, text: str) -> int:
    """The number of a move."""
    if text not in NAMES:
        raise ValueError(f"{text!r} is no move: expected {NAMES[0]} to {NAMES[-1]}")
    return NAMES.index(text)


@cache
def rules(
    seed: int = 0, width: int = 6, branching: int = 3, plies: int = 6, players: int = 2, tree: bool = False, chance: int = 0
) -> Rules:
    """A random game: at most `width` positions a ply, each with 1 to `branching` moves and one of `players` to move.

    Payoffs are multiples of 1/16. From the second ply on a position in sixteen ends the game. In a tree the width has no
    meaning. Below the first, `chance` positions in eight are left to chance, by probabilities that single precision holds.
    """

    def chosen(n: int, *question: object) -> int:
        digest = blake2b(repr((seed, *question)).encode(), digest_size=8).digest()
        return int.from_bytes(digest, "little") % n

    found = {(0, 0): 0}
    rows: list[Position] = []
    for ply, column in (queue := [(0, 0)]):
        if ply == plies or (ply > 1 and chosen(16, "end", ply, column) == 0):
            rows.append(Position(ply, -1, {}, [chosen(17, "payoff", ply, column, player) / 16 for player in range(players)]))
            continue
        count = branching if ply == 0 else 1 + chosen(branching, "count", ply, column)
        numbers = sorted(range(MOVES), key=lambda number: chosen(2**32, "number", ply, column, number))
        targets = {}
        for move, number in enumerate(sorted(numbers[:count])):
            other = (ply + 1, column * branching + move if tree else chosen(width, "target", ply, column, move))
            if other not in found:
                found[other] = len(queue)
                queue.append(other)
            targets[number] = found[other]
        if ply > 0 and chosen(8, "chance", ply, column) < chance:
            shares = [1, 1, 2, 4, 8, 16, 32, 64][:count]
            rows.append(
                Position(
                    ply,
                    CHANCE,
                    targets,
                    [],
                    {number: share / sum(shares) for number, share in zip(targets, shares, strict=True)},
                )
            )
        else:
            rows.append(Position(ply, chosen(players, "mover", ply, column), targets, []))
    settings = {"seed": seed, "width": width, "branching": branching, "plies": plies, "players": players, "tree": tree}
    settings |= {"chance": chance} if chance else {}
    return of_positions(rows, players, "hash_game_v0", settings)


Ending = float | tuple[float, ...]


def listed(positions: Mapping[str, tuple[int, Sequence[str | Ending]]], players: int = 2) -> Rules:
    """A game written down: each position's mover and where its moves 0, 1, ... lead, the first position being the start.

    A move leads to a position by name or ends the game with payoffs; one number is player 0's, and player 1 has the rest to 1.
    """
    start = next(iter(positions))
    found: dict[str, int] = {start: 0}
    rows: list[Position | None] = [None]
    queue = [(start, 0)]
    for name, ply in queue:
        mover, moves = positions[name]
        targets = {}
        for action, move in enumerate(moves):
            if isinstance(move, str):
                if move not in found:
                    found[move] = len(rows)
                    rows.append(None)
                    queue.append((move, ply + 1))
                targets[action] = found[move]
            else:
                targets[action] = len(rows)
                rows.append(Position(ply + 1, -1, {}, move if isinstance(move, tuple) else (move, 1 - move)[:players]))
        rows[found[name]] = Position(ply, mover, targets, [])
    return of_positions([row for row in rows if row is not None], players, "listed_v0", {})
