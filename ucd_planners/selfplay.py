"""Self-play: many games of a planner against itself, side by side, as episodes for learning."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from statistics import NormalDist
from typing import Any

import numpy as np

from ucd_envs.kernels import compiled
from ucd_envs.registry import make_rules
from ucd_envs.rng import seeded, unforeseen
from ucd_envs.rules import MOST_PLIES, Rules
from ucd_envs.settings import integer, shown
from ucd_planners.episodes import Episode, Episodes
from ucd_planners.notation import planner_from
from ucd_planners.options import checked_temperature
from ucd_planners.planner import Planner
from ucd_planners.pool import Pool
from ucd_planners.search.interface import DONE, divides_budget
from ucd_planners.selfplay_steps import BROKEN, ENDED, FULL, GAME, PLAY_EACH, READY, SEARCHING, STYLE, play_each

RULES_OF = ("visits", "mean", "lower_bound", "gumbel")
"""Final rules by their numbers in compiled code."""
MOST_GAMES, MOST_THREADS = 2**16, 1024
FIRST_ROWS = 64
"""Moves for which a game has room at first."""
TEMPERATURE_PLIES = 30
"""Plies whose moves are drawn, by default [Silver et al. 2018]."""
SHORT, LONG = 0.05, 0.2
"""Seconds between which a compiled call is to last: shorter ones cost Python's time, longer ones keep Ctrl-C waiting."""


class SelfPlay:
    """Games of a planner against itself, many side by side.

        selfplay = SelfPlay(uct(playouts=200), "hex_v0", size=7, games=256, seed=7)
        for episode in selfplay.play(10_000):
            ...                                        # episode.observations, policies, values, moves, payoffs

    Game k depends on the seed and k alone: neither on `games` and `threads` nor on how many were asked for at once. Each move
    is searched with the planner's budget. Moves of the first plies are drawn in proportion to visits^(1 / temperature), later
    ones chosen by the planner's final rule.

    planner: a Planner or its text, such as "uct(playouts=200)", with a budget in playouts; it stays as it was. game: a name,
    with its settings as further options, or Rules. games: those side by side, 1 to 65,536. seed: of all games; by default an
    unforeseeable one. temperature, temperature_plies: as in Planner; by default the planner's own where it has a temperature,
    else 1 in the first 30 plies, but 0 with Gumbel root selection. threads: those that play, 1 to 1024, one with an evaluator.

    After a network has learned, `planner.forget()` forgets the evaluations of the old one.

    Games of one player and games with chance are played as well. Raises TypeError or ValueError for other parameters, a planner
    that does not serve the game, one with a budget in seconds, workers, stop_early, progress, knowledge or groups of moves, and
    a game of Python.
    """

    def __init__(
        self,
        planner: Planner | str,
        game: Rules | str,
        *,
        games: int = 256,
        seed: int | None = None,
        temperature: float | None = None,
        temperature_plies: int | None = None,
        threads: int = 1,
        **settings: Any,
    ) -> None:
        self.games = integer("games", games, 1, MOST_GAMES)
        self.threads = integer("threads", threads, 1, MOST_THREADS)
        self.planner = planner_from(planner) if isinstance(planner, str) else planner
        if not isinstance(self.planner, Planner):
            raise TypeError(f"expected a planner such as uct(playouts=200), or its text, not {shown(planner)}")
        if isinstance(game, Rules) and settings:
            raise TypeError(f"settings go with the name of a game: {game} has its own")
        self.rules = game if isinstance(game, Rules) else make_rules(game, **settings)
        planner, evaluation = self.planner, self.planner.evaluation
        if planner.playouts is None:
            raise ValueError("self-play needs a planner with a budget in playouts, such as uct(playouts=200)")
        if planner.groups is not None:
            raise ValueError("self-play goes without groups of moves")
        if evaluation is not None and self.threads > 1:
            raise ValueError("an evaluator is called by one thread: threads=1")
        if temperature is None and temperature_plies is None and planner.temperature > 0:
            temperature, temperature_plies = planner.temperature, planner.temperature_plies
            temperature_plies = MOST_PLIES if temperature_plies is None else temperature_plies
        # Gumbel root selection draws by itself.
        usual = 0.0 if divides_budget(planner.selection) else 1.0
        temperature = usual if temperature is None else temperature
        temperature_plies = TEMPERATURE_PLIES if temperature_plies is None else temperature_plies
        self.temperature, plies = checked_temperature(temperature, temperature_plies, False)
        self.temperature_plies = plies or 0
        self.reset(seed)
        self._begins = not (planner.asked or planner.options.reuse_graph)
        self._runs = self._begins and (evaluation is None or evaluation.evaluator.kernel is not None)
        self._kernel = compiled(play_each, PLAY_EACH)
        self._start = self.rules.initial_state().array()
        self._style = np.zeros(STYLE.itemsize, np.uint8)
        style: Any = self._style.view(STYLE)[0]
        style.begins, style.runs, style.noisy = self._begins, self._runs, evaluation is not None and evaluation.is_noisy
        style.final_rule = RULES_OF.index("gumbel" if divides_budget(planner.selection) else planner.final_move)
        style.z = NormalDist().inv_cdf(0.975)
        style.temperature, style.temperature_plies = self.temperature, self.temperature_plies
        self._make(1)

    def reset(self, seed: int | None = None) -> None:
        """Begins the sequence of games of a seed again, by default that of an unforeseeable one.

        Raises TypeError or ValueError for a seed that is not a whole number, 0 or more.
        """
        self.seed = integer("seed", unforeseen() if seed is None else seed, 0, 2**128 - 1)
        self.played = 0
        """Number of games so far, and of the next one."""
        self._turn = object()

    def play(self, count: int) -> Iterator[Episode]:
        """Yields the next games in their order, each as soon as it and those before it are over.

        Games that were not taken are played again by the next call. Raises ValueError for a number below 1, and RuntimeError
        for a kernel of a user that breaks its contract and where another call has begun meanwhile.
        """
        return self._played(integer("count", count, 1, 2**62))

    def episodes(self, count: int) -> Episodes:
        """Returns the next games all together, to sample from or to save. Raises as `play` does."""
        return Episodes(self.rules, self.play(count), repr(self))

    def _played(self, count: int) -> Iterator[Episode]:
        """Yields games, as `play` says."""
        self._turn = turn = object()
        last, number = self.played + count, self.played
        found: dict[int, Episode] = {}
        places = min(self.games, count)
        if places > len(self._games):
            self._make(places)
        free, busy = list(range(places)), np.zeros(0, np.int64)
        with ThreadPoolExecutor(self.threads) as pool:
            while self.played < last:
                begun = free[: last - number]
                for place in begun:
                    self._begin(place, number)
                    number += 1
                busy = np.sort(np.concatenate([busy, np.array(begun, np.int64)]))
                self._advance(busy, pool)
                is_over = self._games["phase"][busy] == ENDED
                for place in busy[is_over].tolist():
                    episode = self._episode(place)
                    found[episode.number] = episode
                free, busy = busy[is_over].tolist(), busy[~is_over]
                while self.played in found:
                    episode = found.pop(self.played)
                    self.played += 1
                    yield episode
                    if self._turn is not turn:
                        raise RuntimeError("another call of play has begun: these games cannot go on")

    def _begin(self, place: int, number: int) -> None:
        """Begins a game at a place."""
        games, self._positions[place] = self._games, self._start
        games["rng"][place], games["episode"][place], games["phase"][place] = seeded(self.seed, number), number, READY
        games["plies"][place] = games["decisions"][place] = 0
        if not self._begins:
            self._pool.workers[place].forget()

    def _advance(self, places: np.ndarray, pool: ThreadPoolExecutor) -> None:
        """Plays on, at all of the places, to the end of their games or, where searches are begun in Python, by a move."""
        parts = [part for part in np.array_split(places, self.threads) if len(part)]
        advance = self._to_the_end if self._runs else self._by_a_move
        if len(parts) == 1:
            advance(parts[0], [])
        else:
            stop: list[bool] = []
            running = [pool.submit(advance, part, stop) for part in parts]
            try:
                while wait(running, LONG).not_done:  # in pieces, since Ctrl-C does not always wake a thread that waits
                    pass
            finally:
                stop.append(True)
                wait(running)
            for future in running:
                future.result()
        full = places[self._games["phase"][places] == FULL]
        if len(full):
            if self._notes[0].shape[1] == self.rules.max_plies:
                raise RuntimeError(f"a game of {self.rules} goes on after {self.rules.max_plies} moves, its most")
            self._make_notes(2 * self._notes[0].shape[1])
            self._games["phase"][full] = READY

    def _to_the_end(self, places: np.ndarray, stop: list[bool]) -> None:
        """Plays games to their ends, or until one has no room, in calls of about the same time."""
        moves = 1
        while len(places) and not stop:
            some = places[: max(moves, 1)]
            began = time.perf_counter()
            waiting = self._call(some, max(moves // len(some), 1))
            spent = time.perf_counter() - began
            if waiting or self._pool.workers[0].guarded:
                self._look_after(some)
            if spent < SHORT:
                moves *= 2
            elif spent > LONG:
                moves = max(moves // 2, 1)
            places = places[(self._games["phase"][places] != ENDED) & (self._games["phase"][places] != FULL)]

    def _by_a_move(self, places: np.ndarray, stop: list[bool]) -> None:
        """Plays the move that the last search of each game has found, and runs the next search."""
        if self._call(places, 1):
            self._look_after(places)
        searching = places[self._games["phase"][places] == SEARCHING]
        if self._begins:
            self._calls.run(searching, self._pool._grow)
        else:
            self._pool.begin(self._positions[searching], self._games["search_rng"][searching], searching)
            self._pool.run(searching)

    def _look_after(self, places: np.ndarray) -> None:
        """Makes room for searches that need it. Raises RuntimeError for a kernel that breaks its contract."""
        phases, statuses = self._games["phase"][places], self._calls.records["status"][places]
        self._calls._refuse_faults(places, places, statuses)
        stopped = (phases == BROKEN) | (statuses != DONE) | self._pool.workers[0].guarded
        for place, phase, status in zip(*(part[stopped].tolist() for part in (places, phases, statuses)), strict=True):
            if phase == BROKEN:
                raise RuntimeError(f"{self.rules} leaves a game to nobody after {self._games['plies'][place]} moves")
            if status == DONE:
                self._pool.workers[place].check(status)
            else:
                self._pool._grow(place, status)

    def _call(self, places: np.ndarray, moves: int) -> int:
        """Calls compiled code."""
        calls = self._calls
        if calls.batch is not None:
            calls.batch.begin()
        try:
            return int(
                self._kernel(
                    *(calls.bytes, places, calls._header, self._game_bytes, self._positions, self._style, moves),
                    *self._notes,
                )
            )
        except IndexError:
            raise self._pool.workers[int(places[0])]._index_error() from None

    def _make(self, places: int) -> None:
        """Makes places for games, and the searches that stand there."""
        playouts = self.planner.playouts or 0
        self._pool = Pool(self.planner, self.rules, places)
        self._calls = self._pool._calls
        self._calls.begin(np.arange(places), playouts, playouts)
        self._positions = np.zeros((places, self.rules.state_bytes), np.uint8)
        self._game_bytes = np.zeros((places, GAME.itemsize), np.uint8)
        self._games: Any = self._game_bytes.view(GAME)[:, 0]
        self._notes: tuple[np.ndarray, ...] = ()
        self._make_notes(FIRST_ROWS)

    def _make_notes(self, rows: int) -> None:
        """Makes the arrays that games fill, with room for `rows` moves, or makes them longer."""
        rules, games = self.rules, len(self._games)
        count = min(rules.max_plies, rows)
        shapes: list[tuple[tuple[int, ...], Any]] = [
            ((games, count), np.int32),
            ((games, count, math.prod(rules.planes)), np.int8),
            ((games, count, rules.actions), np.int8),
            ((games, count, rules.actions), np.float32),
            ((games, count), np.float32),
            ((games, rules.players), np.float64),
            ((games, 3, rules.actions), np.float64),
        ]
        made = tuple(np.zeros(shape, dtype) for shape, dtype in shapes)
        for new, old in zip(made, self._notes, strict=False):
            new[:, : old.shape[1]] = old  # payoffs, too, are those of games that have ended meanwhile
        self._notes = made

    def _episode(self, place: int) -> Episode:
        """Returns the game that has ended at a place."""
        number, plies, decisions = (int(self._games[name][place]) for name in ("episode", "plies", "decisions"))
        moves, observations, masks, policies, values, payoffs, _ = (notes[place] for notes in self._notes)
        return Episode(
            number=number,
            observations=observations[:decisions].reshape(-1, *self.rules.planes).copy(),
            masks=masks[:decisions].copy(),
            policies=policies[:decisions].copy(),
            values=values[:decisions].copy(),
            moves=moves[:plies] & 0xFFFF,
            players=moves[:plies] >> 16,
            payoffs=payoffs.copy(),
        )

    def __repr__(self) -> str:
        style = f"temperature={self.temperature:g} for {self.temperature_plies} plies, seed={self.seed}"
        return f"<self-play of {self.rules} by {self.planner!r}, {style}>"
