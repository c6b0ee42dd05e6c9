"""Perfect play in small games: exact values by a search of everything, with memory.

The agent is named by the reference ucd_planners.ratings.perfect:perfect wherever an agent may stand.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from ucd_envs.rules import Rules, State
from ucd_envs.settings import integer
from ucd_planners.arena.agents import FailedError, Move, Stop, StoppedError

REFERENCE = "ucd_planners.ratings.perfect:perfect"
MOST_POSITIONS = 3_000_000
"""Default limit on remembered positions, about a gigabyte."""
BETWEEN = 4096
"""Positions between two looks at the flag that stops a game."""


class Perfect:
    """An agent that plays a random one of the moves with the best exact value, in games of two players without chance.

    Values are found by depth-first search with alpha-beta windows on payoffs [Knuth and Moore 1975]. Positions and their
    bounds are remembered from game to game. The payoffs of the two players must add up to 1.
    """

    def __init__(self, most: int = MOST_POSITIONS) -> None:
        self._most = integer("most", most, 1, 10**9)
        self._identity: object = None
        self._bounds: dict[bytes, tuple[float, float]] = {}

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """Begins the next game. Raises FailedError for a game with chance, or not of two players."""
        if rules.players != 2 or rules.has_chance:
            raise FailedError(f"plays games of two players without chance, not {rules}")
        if self._identity != rules.identity:
            self._identity, self._bounds = rules.identity, {}
        self._random, self._stop = random.Random(seed), stop

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Move:
        """Returns a move of the best value. Raises FailedError where the game has too many positions."""
        actions, best, value = state.legal_actions(), list[int](), -1.0
        for action in actions:
            follower = state.after(action)
            paid = self.value(follower) if state.player == 0 else 1.0 - self.value(follower)
            if paid > value:
                best, value = [], paid
            if paid == value:
                best.append(action)
        return Move(self._random.choice(best), value)

    def close(self) -> None:
        """Does nothing, since the agent holds nothing outside this process."""

    def value(self, state: State) -> float:
        """Returns the payoff of the first player when both play perfectly from a state, in [0, 1]."""
        return self._search(state, 0.0, 1.0)

    def _search(self, state: State, alpha: float, beta: float) -> float:
        """Returns the value if it lies in the window, else a bound beyond it; the frames of the search are a stack."""
        known = self._known(state, alpha, beta)
        if isinstance(known, float):
            return known
        frames = [_Frame(state, *known)]
        returned: float | None = None
        while frames:
            frame = frames[-1]
            if returned is not None:
                frame.take(returned)
            if not frame.done:
                child = frame.next()
                known, returned = self._known(child, frame.alpha, frame.beta), None
                if isinstance(known, float):
                    returned = known
                else:
                    frames.append(_Frame(child, *known))
                continue
            returned = frame.best
            self._remember(frame)
            frames.pop()
        assert returned is not None
        return returned

    def _known(self, state: State, alpha: float, beta: float) -> float | tuple[float, float]:
        """Returns the value of a state as far as the window needs it, or the window that is left to search."""
        if state.over:
            return float(state.payoffs()[0])
        low, high = self._bounds.get(state.key, (0.0, 1.0))
        if low == high or low >= beta:
            return low
        if high <= alpha:
            return high
        return max(alpha, low), min(beta, high)

    def _remember(self, frame: _Frame) -> None:
        low, high = self._bounds.get(frame.state.key, (0.0, 1.0))
        if frame.best > frame.start[0]:  # else every move failed low: the value is an upper bound
            low = max(low, frame.best)
        if frame.best < frame.start[1]:
            high = min(high, frame.best)
        self._bounds[frame.state.key] = (low, high)
        if len(self._bounds) > self._most:
            raise FailedError(f"has more than {self._most:,} positions to remember in {frame.state.rules}")
        if self._stop is not None and len(self._bounds) % BETWEEN == 0 and self._stop.is_set():
            raise StoppedError


class _Frame:
    """A position of the search and what its moves have given so far."""

    __slots__ = ("_actions", "_first", "alpha", "best", "beta", "start", "state")

    def __init__(self, state: State, alpha: float, beta: float) -> None:
        self.state, self.alpha, self.beta, self.start = state, alpha, beta, (alpha, beta)
        self._actions = state.legal_actions()
        self._first = state.player == 0
        self.best = -1.0 if self._first else 2.0

    @property
    def done(self) -> bool:
        """Returns whether no move is left, or none can matter."""
        return not self._actions or self.alpha >= self.beta

    def next(self) -> State:
        """Takes the next move, and returns the position after it."""
        return self.state.after(self._actions.pop())

    def take(self, value: float) -> None:
        """Uses the value of the move that was taken last."""
        if self._first:
            self.best = max(self.best, value)
            self.alpha = max(self.alpha, value)
        else:
            self.best = min(self.best, value)
            self.beta = min(self.beta, value)


def perfect(most: int = MOST_POSITIONS) -> Perfect:
    """Returns the agent. most: limit on remembered positions."""
    return Perfect(most)
