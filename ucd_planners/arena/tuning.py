"""Tuning: a planner's parameters, chosen by Optuna from the results of matches.

Trials are proposed in groups by the tree-structured Parzen estimator [Bergstra et al. 2011]. The trials of a group play against
the same opponent, in growing numbers of games with seats swapped in pairs, and one is pruned once the upper end of its 95%
interval is below the mean of the best trial so far. The score of the best of many trials is too high, since luck chose it too:
the winner plays again on fresh seeds, and that score with its interval is the result.

Groups do not depend on the number of workers, and games depend on their seeds alone, so neither do the trials. A tuning that
was stopped is made again from the games in its store: the same proposals follow from the same scores, and no game is played
twice.
"""

from __future__ import annotations

import logging
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ucd_envs import registry
from ucd_envs.settings import integer, shown
from ucd_planners.arena.contest import Contest, Game, Match
from ucd_planners.arena.match import MatchResult, Score
from ucd_planners.arena.schedule import Batch, play_batches
from ucd_planners.arena.store import Store
from ucd_planners.arena.workers import Workers, workers
from ucd_planners.grammar import NUMBER, WHOLE, parse, value_of, value_text

FIRST_GAMES = 20
"""Games of a trial before it may be pruned; their number doubles from then on."""
DIGITS = 4
"""Significant digits of a real parameter."""
NAMED = re.compile(r"\{(\w+)\}")
RANGE = "c=0.05:2:log, d1=0:3 or reuse_graph=true,false"

Value = bool | int | float | str | None


@dataclass(frozen=True)
class Range:
    """The values that a parameter may have: those from low to high, or one of several.

    whole: whole numbers only; log: each order of magnitude is as likely as another; choices: values, without low and high.
    """

    name: str
    low: float = 0.0
    high: float = 0.0
    whole: bool = False
    log: bool = False
    choices: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Tuning:
    """A search for the parameters of planner `a` with which it scores best against `b`.

    game, settings, budget, seed: as in Match; a: a planner's text: a range sets the parameter of its name, or replaces {name}
    where that stands in the text, as in "uct(policies='cmc(prob={prob})')"; b: the opponent, by default `a` as it is written,
    or nobody in a game of one player; trials: their number; games: of each trial that is not pruned; again: games of the
    winner on fresh seeds; at_once: trials proposed together, before any of them has a score.

    Raises ValueError or TypeError, before any game, for anything that cannot be played.
    """

    game: str
    a: str
    ranges: tuple[Range, ...]
    b: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    budget: Mapping[str, Any] = field(default_factory=lambda: {"playouts": 1000})
    trials: int = 40
    games: int = 100
    again: int = 400
    seed: int = 0
    at_once: int = 4

    def __post_init__(self) -> None:
        for name, least in (("trials", 1), ("games", 2), ("again", 2), ("at_once", 1)):
            integer(name, getattr(self, name), least, 10**6)
        names = [each.name for each in self.ranges]
        if not names:
            raise ValueError(f"there is nothing to tune: give a range, such as {RANGE}")
        if len(set(names)) < len(names):
            raise ValueError(f"a parameter has two ranges: {', '.join(names)}")
        for name in NAMED.findall(self.a):
            if name not in names:
                raise ValueError(f"{{{name}}} in {shown(self.a)} has no range: give one, such as {name}=0:1.0")
        self.match({each.name: _example(each, 0) for each in self.ranges}, self.again, self.fresh_seed)
        for number in range(2 + max((len(each.choices) for each in self.ranges), default=0)):
            self.match({each.name: _example(each, number) for each in self.ranges}, self.games, self.seed)

    def planner(self, values: Mapping[str, Value]) -> str:
        """Returns the text of `a` with values of its parameters."""
        text = NAMED.sub(lambda found: value_text(values[found[1]]), self.a)
        name, written = parse(text)
        written |= {key: value for key, value in values.items() if f"{{{key}}}" not in self.a}
        return f"{name}({', '.join(f'{key}={value_text(value)}' for key, value in written.items())})"

    @cached_property
    def opponent(self) -> str | None:
        """The text of the opponent, None in a game of one player. Raises ValueError where a text with {name} needs one."""
        if self.b is not None or registry.make_rules(self.game, **self.settings).players == 1:
            return self.b
        if NAMED.search(self.a):
            raise ValueError(f"{shown(self.a)} is no planner to play against: give b")
        return self.a

    @property
    def fresh_seed(self) -> int:
        """The seed of the winner's games after the search."""
        return int(np.random.SeedSequence((self.seed, 1)).generate_state(1, np.uint64)[0])

    def match(self, values: Mapping[str, Value], games: int, seed: int) -> Match:
        """Returns the match of a trial."""
        return Match(self.game, self.planner(values), self.opponent, self.settings, self.budget, games, seed)


@dataclass
class Trial:
    """One choice of values and its games so far."""

    number: int
    values: dict[str, Value]
    planner: str
    score: Score
    pruned: bool = False


@dataclass(frozen=True)
class Tuned:
    """The trials in their order and, unless the tuning was stopped before, the winner's games on fresh seeds."""

    trials: list[Trial]
    again: MatchResult | None = None

    @property
    def best(self) -> Trial | None:
        """Returns the trial with the highest mean of those that were not pruned, the first of equal ones."""
        return max((trial for trial in self.trials if not trial.pruned), key=lambda trial: trial.score.mean, default=None)


def range_from(text: str) -> Range:
    """Returns the range of a text: name=low:high, with :log at the end for orders of magnitude, or name=value,value,...

    Both ends without a point mean whole numbers. Raises ValueError for anything else.
    """
    name, _, rest = text.partition("=")
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or not rest:
        raise ValueError(f"a range must be like {RANGE}, not {shown(text)}")
    if ":" not in rest:
        choices = tuple(value_of(word.strip()) for word in rest.split(",") if word.strip())
        if len(choices) < 2 or len(set(map(repr, choices))) < len(choices):
            raise ValueError(f"the range of {name} must have two values or more, all different, not {shown(rest)}")
        return Range(name, choices=choices)
    low, high, *kind = (part.strip() for part in rest.split(":"))
    if kind not in ([], ["log"]) or not all(re.fullmatch(NUMBER, end, re.ASCII) for end in (low, high)):
        raise ValueError(f"a range must be like {RANGE}, not {shown(text)}")
    first, last = float(low), float(high)
    if not first < last or not math.isfinite(last - first):
        raise ValueError(f"the range of {name} must begin below its end, not {shown(rest)}")
    if kind and first <= 0:
        raise ValueError(f"the range of {name} must begin above 0 for orders of magnitude, not {shown(rest)}")
    return Range(name, first, last, bool(WHOLE.fullmatch(low) and WHOLE.fullmatch(high)), bool(kind))


def tune(
    tuning: Tuning,
    store: Store,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Callable[[Trial], None] | None = None,
) -> Tuned:
    """Plays the trials that a store lacks, and the winner's games on fresh seeds.

    jobs, executor: as in play_match; progress: called with each trial once it has its games, and with the winner at the end.
    Ctrl-C ends it with the trials whose groups are complete; the same call goes on. Raises ImportError without Optuna, and
    RuntimeError for a match in which a game has failed.
    """
    optuna = library()
    trials: list[Trial] = []
    try:
        with workers(executor, integer("jobs", jobs, 1, 1024)) as team, _quiet(optuna):
            return Tuned(trials, _searched(optuna, tuning, trials, store, team, progress or (lambda trial: None)))
    except KeyboardInterrupt:
        return Tuned(trials)


def _searched(
    optuna: Any, tuning: Tuning, trials: list[Trial], store: Store, team: Workers, progress: Callable[[Trial], None]
) -> MatchResult:
    """Adds all trials to a list and returns the winner's games. Ctrl-C raises KeyboardInterrupt."""
    sampler = optuna.samplers.TPESampler(seed=tuning.seed % 2**32, constant_liar=True)
    study, state = optuna.create_study(direction="maximize", sampler=sampler), optuna.trial.TrialState
    ranges = _distributions(optuna, tuning)
    while len(trials) < tuning.trials:
        asked = [study.ask(ranges) for _ in range(min(tuning.at_once, tuning.trials - len(trials)))]
        group = [_trial(tuning, len(trials) + place, each.params) for place, each in enumerate(asked)]
        _play_group(tuning, group, Tuned(trials).best, store, team, progress)
        for each, trial in zip(asked, group, strict=True):
            each.report(trial.score.mean, trial.score.games)
            study.tell(each, None if trial.pruned else trial.score.mean, state.PRUNED if trial.pruned else state.COMPLETE)
        trials += group
    winner = Tuned(trials).best
    assert winner is not None  # a trial is pruned only for a better one
    match = tuning.match(winner.values, tuning.again, tuning.fresh_seed)
    _play([match], store, team)
    progress(winner)
    return MatchResult(match, store.games(match))


def library() -> Any:
    """Returns Optuna. Raises ImportError where it is not installed."""
    try:
        import optuna
    except ImportError:
        raise ImportError("tuning needs optuna: pip install 'ucd-planners[tune]'") from None
    return optuna


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """Keeps Optuna from telling of each trial, and of parts that may change."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)


def _distributions(optuna: Any, tuning: Tuning) -> dict[str, Any]:
    """Returns the ranges as Optuna has them."""
    found: dict[str, Any] = {}
    for each in tuning.ranges:
        if each.choices:
            found[each.name] = optuna.distributions.CategoricalDistribution(each.choices)
        elif each.whole:
            found[each.name] = optuna.distributions.IntDistribution(int(each.low), int(each.high), log=each.log)
        else:
            found[each.name] = optuna.distributions.FloatDistribution(each.low, each.high, log=each.log)
    return found


def _trial(tuning: Tuning, number: int, proposed: Mapping[str, Value]) -> Trial:
    """Returns a trial without games."""
    values: dict[str, Value] = {}
    for each in tuning.ranges:
        value = proposed[each.name]
        # Rounding may not leave the range.
        values[each.name] = min(max(float(f"{value:.{DIGITS}g}"), each.low), each.high) if isinstance(value, float) else value
        if each.choices:
            values[each.name] = value
    return Trial(number, values, tuning.planner(values), Score(()))


def _example(each: Range, number: int) -> Value:
    """Returns a value of a range, another one for each number."""
    if each.choices:
        return each.choices[number % len(each.choices)]
    end = each.high if number % 2 else each.low
    return int(end) if each.whole else end


def _play_group(
    tuning: Tuning,
    group: Sequence[Trial],
    best: Trial | None,
    store: Store,
    team: Workers,
    progress: Callable[[Trial], None],
) -> None:
    """Plays the trials of a group in growing numbers of games, and prunes some. Ctrl-C raises KeyboardInterrupt."""
    games = 0
    while games < tuning.games:
        games = min(max(FIRST_GAMES, 2 * games), tuning.games)
        alive = [trial for trial in group if not trial.pruned]
        matches = [tuning.match(trial.values, games, tuning.seed) for trial in alive]
        _play(matches, store, team)
        for trial, match in zip(alive, matches, strict=True):
            trial.score = MatchResult(match, store.games(match)).score()
            trial.pruned = games < tuning.games and best is not None and trial.score.interval[1] < best.score.mean
            if trial.pruned or games == tuning.games:
                progress(trial)


def _play(matches: Sequence[Match], store: Store, team: Workers) -> None:
    """Plays and stores the games of matches that a store lacks. Ctrl-C raises KeyboardInterrupt."""
    failures: list[Game] = []

    def keep(match: Contest, games: list[Game]) -> None:
        store.append(match, games)
        failures.extend(game for game in games if game.failure)

    different = {match.a: match for match in matches}.values()
    batches = [Batch(match, numbers) for match in different if (numbers := store.missing(match))]
    if batches and not play_batches(batches, keep, team.jobs, team):
        raise KeyboardInterrupt
    if failures:
        raise RuntimeError(f"a game of the tuning has failed: {failures[0].failure}")
