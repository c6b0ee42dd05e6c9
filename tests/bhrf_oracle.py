"""BHRF by dictionaries, written from its definition [BHRF Algorithms 1 to 4]; it shares no code with the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Move = tuple[int, int]
"""Player and action."""
Context = tuple[Move, ...]
"""The moves before a reply, the latest one last."""


class Forest:
    """Patterns, contexts with replies, and what each context's last reply was."""

    def __init__(self) -> None:
        self.patterns: dict[tuple[Context, Move], tuple[int, Fraction]] = {}
        self.last: dict[Context, Move] = {}

    def add(self, descent: Sequence[Move], payoffs: Sequence[float]) -> None:
        """Learns from a descent."""
        for place in range(1, len(descent)):
            reply = descent[place]
            for length in range(1, place + 1):
                context = tuple(descent[place - length : place])
                known = (context, reply) in self.patterns
                count, paid = self.patterns.get((context, reply), (0, Fraction(0)))
                self.patterns[context, reply] = count + 1, paid + Fraction(payoffs[reply[0]])
                self.last[context] = reply
                if not known:
                    break

    def forget(self, fewest: int) -> None:
        """Only patterns with more simulations are left, and contexts that have some."""
        self.patterns = {pattern: found for pattern, found in self.patterns.items() if found[0] > fewest}
        contexts = {context for context, _ in self.patterns}
        self.last = {context: reply for context, reply in self.last.items() if context in contexts}

    def fewest_to_forget(self, most: int) -> int:
        """The smallest number of simulations such that at most half of so many patterns have more."""
        counts = [count for count, _ in self.patterns.values()]
        return next(number for number in range(max(counts) + 1) if sum(count > number for count in counts) <= most // 2)

    def matching(self, moves: Sequence[Move]) -> list[Context]:
        """The contexts that match the last moves, the longest one first."""
        suffixes = [tuple(moves[-length:]) for length in range(1, len(moves) + 1)]
        return [suffix for suffix in reversed(suffixes) if suffix in self.last]

    def replies(self, moves: Sequence[Move], player: int, playable: set[int], shorter: bool = True) -> dict[int, Fraction]:
        """What soft-UCT may suggest, with its mean: the playable replies of the longest context that has one, or without
        shorter ones of the longest context."""
        for context in self.matching(moves)[: None if shorter else 1]:
            found = {action: self.patterns.get((context, (player, action))) for action in playable}
            if any(found.values()):
                return {action: pattern[1] / pattern[0] for action, pattern in found.items() if pattern}
        return {}

    def last_reply(self, moves: Sequence[Move], player: int, playable: set[int]) -> int | None:
        """What the longest context that matches last saw, if that may be played."""
        for context in self.matching(moves)[:1]:
            reply = self.last[context]
            return reply[1] if reply[0] == player and reply[1] in playable else None
        return None
