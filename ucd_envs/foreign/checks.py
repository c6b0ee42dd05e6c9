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
    chance: bool
    """Whether other random numbers, and only those, led to other positions."""
    legal_actions_vary: bool
    """Whether one move from one position led to different movers or legal actions, chance or not."""
    repeatable: bool
    """Whether the same random numbers led to the same positions. Else the environment draws from a generator that cannot be
    reseeded, such as the operating system's: a seeded planner does not repeat its searches."""


def check(game: Adapter, games: int = 100, seed: int = 0) -> Report:
    """Plays random games in an adapter's live copy from the environment's present state and tests its hooks.

    Finds only faults that show in these games. Each is played three times with the same actions, twice with the same random
    numbers and then with others. In an environment without chance, a report that is not deterministic means that the position
    leaves something out. In one with chance, a report without it means that its chance cannot be seen: planners foresee what
    will be drawn.

    Raises ValueError, naming the position, when two visits of one position differ in their mover, their legal actions or the
    payoffs at the end; when a restored copy is not at the root; when the copy shares memory or a random generator with the
    environment, or memory with the snapshot. Raises TypeError for a position that is not hashable.
    """
    choices = np.random.default_rng(seeded(seed))
    game.clone_state()
    root, legal = game.position(), game.described(game.env)
    before = game._position(game.env), legal, game.drawn()
    found = _Findings()
    for number in range(games):
        game.reseed(2 * number)
        with game.apart():
            _restart(game, root, legal)
            course = _random_game(game, choices, found)
        _compare(game, before)
        repeated = []
        for draws in (2 * number, 2 * number + 1):
            game.reseed(draws)
            with game.apart():
                _restart(game, root, legal)
                repeated.append(_is_repeated(game, course, found))
            _compare(game, before)
        found.repeatable &= repeated[0]
        found.chance |= not repeated[1]
    deterministic = found.deterministic and found.repeatable and not found.chance
    chance = found.chance and found.repeatable
    return Report(games, len(found.known), deterministic, chance, found.legal_actions_vary, found.repeatable)


class _Findings:
    """Findings of a check so far."""

    def __init__(self) -> None:
        self.known: dict[Any, tuple[Any, ...]] = {}
        """The mover of each position, and its legal actions or payoffs."""
        self.led: dict[tuple[Any, int], Any] = {}
        """The first position that followed each position and action."""
        self.deterministic, self.chance, self.legal_actions_vary, self.repeatable = True, False, False, True

    def note(self, before: Any, action: int, after: Any) -> None:
        """Notes a move from one position to another one."""
        first = self.led.setdefault((before, action), after)
        self.deterministic &= first == after
        self.legal_actions_vary |= self.known[first] != self.known[after] and OVER not in (
            self.known[first][0],
            self.known[after][0],
        )

    def look(self, game: Adapter, ply: int) -> tuple[Any, bool]:
        """Returns the position of the live copy and whether the game ends there.

        Raises ValueError for a position that was another one before.
        """
        key = game.position(), ply
        over = game.player() == OVER or ply == game.max_plies
        seen = (OVER, *game.payoffs()) if over else (game.player(), *game.legal_actions())
        if self.known.setdefault(key, seen) != seen:
            raise ValueError(f"two different positions share the key {key[0]!r}: {self.known[key]} and {seen}")
        return key, over


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


def _random_game(game: Adapter, choices: np.random.Generator, found: _Findings) -> list[tuple[Any, int]]:
    """Plays a random game from the root. Returns its positions with the actions played there, at the last one -1."""
    course: list[tuple[Any, int]] = []
    for ply in range(game.max_plies + 1):
        key, over = found.look(game, ply)
        if course:
            found.note(*course[-1], key)
        course.append((key, -1 if over else int(choices.choice(found.known[key][1:]))))
        if over:
            break
        game.step(course[-1][1])
    return course


def _is_repeated(game: Adapter, course: list[tuple[Any, int]], found: _Findings) -> bool:
    """Plays the actions of a game again as long as they can be. Returns whether its positions came again up to the end."""
    for ply, ((before, action), (after, _)) in enumerate(pairwise(course), 1):
        game.step(action)
        key, _ = found.look(game, ply)
        found.note(before, action, key)
        if key != after:
            return False
    return True
