"""The check of an adapter: random games in its copy that look for faults of hooks, positions and legal actions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ucd_envs.foreign.adapters import Adapter
from ucd_envs.kernels import OVER
from ucd_envs.rng import seeded


class Report(NamedTuple):
    """The findings of an adapter's check."""

    games: int
    positions: int
    """Number of different positions."""
    deterministic: bool
    """Whether the same actions always led from the same position to the same next ones, also with other random numbers."""


def check(game: Adapter, games: int = 100, seed: int = 0) -> Report:
    """Plays random games in an adapter's live copy from the environment's present state and tests its hooks.

    Finds only faults that show in these games. Each is played twice, with the same actions and other random numbers. In an
    environment without chance, a report that is not deterministic means that the position leaves something out. In one with
    chance, a report that is deterministic means that its chance cannot be seen: planners foresee what will be drawn.

    Raises ValueError, naming the position, when two visits of one position differ in their mover, their legal actions or the
    payoffs at the end; when a restored copy is not at the root; when the copy shares memory or a random generator with the
    environment, or memory with the snapshot. Raises TypeError for a position that is not hashable.
    """
    choices = np.random.default_rng(seeded(seed))
    game.clone_state()
    root, legal = game.position(), game.described(game.env)
    before = game._position(game.env), legal, game.drawn()
    known: dict[Any, tuple[Any, ...]] = {}
    led: dict[tuple[Any, int], Any] = {}
    deterministic = True
    for number in range(games):
        game.reseed(2 * number)
        with game.apart():
            _restart(game, root, legal)
            course, end = _random_game(game, choices, known)
        _compare(game, before)
        for choice, following in pairwise([*course, (end, 0)]):
            deterministic &= led.setdefault(choice, following[0]) == following[0]
        game.reseed(2 * number + 1)
        with game.apart():
            _restart(game, root, legal)
            deterministic &= _is_repeated(game, course, end)
        _compare(game, before)
    return Report(games, len(known), deterministic)


def _restart(game: Adapter, root: Any, legal: tuple[int, list[int]]) -> None:
    """Resets the copy to the root. Raises ValueError where it is not as the environment was."""
    game.restart()
    if game.position() != root or game.described(game.live) != legal:
        raise ValueError(f"after restore_state the copy is at {game.position()!r} instead of {root!r}: its snapshot changed")


def _compare(game: Adapter, before: tuple[Any, tuple[int, list[int]], list[str]]) -> None:
    """Raises ValueError where an environment is not as before: its position, its legal actions and its generators."""
    *here, states = game._position(game.env), game.described(game.env), game.drawn()
    if here != list(before[:2]):
        raise ValueError(f"the copy shares memory with its environment, which went from {before[:2]} to {tuple(here)}")
    if states != before[2]:
        raise ValueError(f"the copy draws from a random generator of its environment, {type(game.env).__name__}")


def _random_game(
    game: Adapter, choices: np.random.Generator, known: dict[Any, tuple[Any, ...]]
) -> tuple[list[tuple[Any, int]], Any]:
    """Plays a random game from the root. Returns its positions with the actions played there, and its last position.

    known: what was seen of each position before.
    """
    course: list[tuple[Any, int]] = []
    for ply in range(game.max_plies + 1):
        key = (game.position(), ply)
        over = game.player() == OVER or ply == game.max_plies
        seen = (game.player(), *(game.payoffs() if over else game.legal_actions()))
        if known.setdefault(key, seen) != seen:
            raise ValueError(f"two different positions share the key {key[0]!r}: {known[key]} and {seen}")
        if over:
            break
        course.append((key, int(choices.choice(seen[1:]))))
        game.step(course[-1][1])
    return course, key


def _is_repeated(game: Adapter, course: list[tuple[Any, int]], end: Any) -> bool:
    """Returns whether the actions of a game lead from the root through its positions to its end again."""
    for ply, ((_, action), (following, _)) in enumerate(pairwise([*course, (end, 0)]), 1):
        if game.player() == OVER or action not in game.legal_actions():
            return False
        game.step(action)
        if (game.position(), ply) != following:
            return False
    return True
