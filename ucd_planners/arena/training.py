"""Training of a knowledge base [NoGo 4.2]: guided study of given positions, and combat training by games.

Both search with the base's own planner and let the base learn each search in a transaction of its own, so that a stopped
training keeps all but the search under way. Several trainings of one base take turns by its lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ucd_envs import registry
from ucd_envs.formats import sgf
from ucd_envs.kernels import CHANCE
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_planners.arena.agents import Agent, FailedError, Move, PlannerAgent, agent_from, seed_of
from ucd_planners.gtp.board import UNTOLD
from ucd_planners.knowledge_base import ANSWERED, KnowledgeBase
from ucd_planners.notation import planner_from


@dataclass
class Lesson:
    """The figures of a training."""

    games: int = 0
    searches: int = 0
    answers: int = 0
    """Moves that the base answered without a search."""
    positions: int = 0
    """Searches of which at least one move was written."""
    moves: int = 0
    """Moves written."""

    def __str__(self) -> str:
        return f"{self.searches} searches, {self.answers} answers of the base, {self.moves} moves of {self.positions} written"


class Student(PlannerAgent):
    """The base's planner as an agent that plays with the base, and lets it learn each of its searches."""

    def __init__(self, base: KnowledgeBase, budget: Mapping[str, Any], lesson: Lesson, reads: bool = True) -> None:
        super().__init__(planner_from(base.header.planner, **budget, **({"knowledge": base} if reads else {})), {})
        self.base, self.lesson = base, lesson

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Move:
        """Returns the move of the base or of a search. Ctrl-C raises KeyboardInterrupt."""
        result = self.planner.search(state)
        if result.stopped == "interrupt":
            raise KeyboardInterrupt
        written = self.base.learn(state, result)
        answered = result.stopped == ANSWERED
        self.lesson.answers += answered
        self.lesson.searches += not answered
        self.lesson.positions += written > 0
        self.lesson.moves += written
        return Move(result.action, result.value, result.playouts, result.cpu_seconds)


def rules_of(base: KnowledgeBase) -> Rules:
    """Returns the rules that a base belongs to. Raises ValueError for a game that is not there or has another version."""
    rules = registry.make_rules(base.header.game, **base.header.settings)
    base.check(rules)
    return rules


def positions(base: KnowledgeBase, source: str) -> list[State]:
    """Returns the positions of a record, or those along moves, from the start to the last one that has a player to move.

    source: the path of an SGF file, which ends in ".sgf", or moves as the game writes them, with blanks between. Raises
    ValueError for a file that cannot be read, a game that is not the base's, and an illegal move, by its number.
    """
    rules = rules_of(base)
    if source.lower().endswith(".sgf"):
        told = {name: value for name, value in rules.settings.items() if name in UNTOLD}
        try:
            states = list(sgf.load(Path(source), game=rules.name.rpartition("_v")[0], defaults=told).states())
        except OSError as error:
            raise ValueError(f"the record {source} cannot be read: {error.strerror}") from None
        base.check(states[0].rules)
    else:
        states = [rules.initial_state()]
        for number, word in enumerate(source.split(), 1):
            try:
                states.append(states[-1].after(states[-1].action_named(word)))
            except ValueError as error:
                raise ValueError(f"move {number} ({word}): {error}") from None
    return [state for state in states if not state.over and state.player != CHANCE]


def study(
    base: KnowledgeBase,
    states: Iterable[State],
    budget: Mapping[str, Any],
    seed: int = 0,
    progress: Callable[[], None] = lambda: None,
) -> Lesson:
    """Searches positions without the help of the base and lets it learn; progress is called after each of them.

    budget: playouts or seconds of a search. Raises OSError where the base cannot be written, with all before it learned.
    """
    lesson = Lesson()
    student = Student(base, budget, lesson, reads=False)
    student.planner.reset(seed)
    try:
        for state in states:
            student.choose(state, ())
            student.planner.forget()
            progress()
    finally:
        base.note(f"study: seed {seed}, {_words(budget)}, {lesson}")
    return lesson


class Training:
    """Games in which the base's planner plays with the base, and lets it learn.

    budget: playouts or seconds of a search; opponent: a planner or program in text, which changes seats with each game, by
    default the base's planner itself. Raises ValueError or TypeError for an opponent that cannot play, and for a base of
    another version.
    """

    def __init__(self, base: KnowledgeBase, budget: Mapping[str, Any], seed: int = 0, opponent: str | None = None) -> None:
        self.base, self.budget, self.seed = base, budget, seed
        self.rules, self.lesson = rules_of(base), Lesson()
        self.student = Student(base, budget, self.lesson)
        self.other: Agent = self.student if opponent is None else agent_from(opponent, budget)
        for agent in (self.student, self.other):
            if isinstance(agent, PlannerAgent):
                agent.planner.check(self.rules)

    def play(self, games: int, progress: Callable[[], None] = lambda: None) -> bool:
        """Plays games and returns whether all came to their end: Ctrl-C ends them early. progress is called after each.

        A game in which a program fails ends early, and what was learned of it stays. Raises OSError where the base cannot be
        written, with all before it learned.
        """
        try:
            for number in range(games):
                ended = _play(self.rules, (self.student, self.other), number, self.seed)
                self.lesson.games += 1
                self.base.note(f"train: game {number + 1} of {games}, {self._words()}, {ended}, so far {self.lesson}")
                progress()
        except KeyboardInterrupt:
            self.base.note(f"train: stopped after {self.lesson.games} of {games} games, {self._words()}, {self.lesson}")
            return False
        finally:
            self.other.close()
        return True

    def _words(self) -> str:
        return f"{_words(self.budget)}, seed {self.seed}"


def _play(rules: Rules, agents: tuple[Agent, Agent], number: int, seed: int) -> str:
    """Plays one game and returns its end in words."""
    for side, agent in enumerate(dict.fromkeys(agents)):
        agent.begin(rules, seed_of(seed, number, side), None)
    state, chance = rules.initial_state(), seeded(seed, number, len(agents))
    line: list[tuple[int, int]] = []
    while not state.over:
        if state.player == CHANCE:
            player, action = CHANCE, state.outcome(chance)
        else:
            player = state.player
            try:
                move = agents[(player + number) % 2].choose(state, line)
            except FailedError as error:
                return f"the opponent {error}"
            if move.action is None:
                return "resigned"
            action = move.action
        line.append((player, action))
        state = state.after(action)
    return f"payoffs {' '.join(f'{payoff:g}' for payoff in state.payoffs())}"


def _words(budget: Mapping[str, Any]) -> str:
    return " ".join(f"{value:,} {name}" for name, value in budget.items())
