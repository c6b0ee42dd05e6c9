"""A schedule: plays the games of many matches on several workers and stores each as soon as possible.

Workers play batches of about a second, longer ones on a cluster. Matches take turns, so that no core waits while games are
left. A game does not depend on its worker or its time, so the batch of a worker that was lost is played again.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from queue import SimpleQueue

from ucd_envs.settings import integer
from ucd_planners.arena.contest import Contest, Game, Match
from ucd_planners.arena.store import Store
from ucd_planners.arena.workers import Workers, workers

MOST_LOSSES = 3
"""Number of times that a batch may be lost with its worker before the schedule ends."""


def play_matches(
    matches: Sequence[Contest],
    store: Store,
    jobs: int = 1,
    executor: Executor | Workers | None = None,
    progress: Callable[[Contest, list[Game]], None] | None = None,
) -> bool:
    """Plays and stores the games of matches that a store lacks. Returns whether all came to their end.

    jobs and executor: as in play_batches; progress: called with each batch once it is stored. Ctrl-C ends it soon, with all
    finished games in the store. An exception in a game is raised after the other finished batches are stored. A game that
    failed is reported to `progress` and played again by the next run.
    """
    failures: list[Game] = []

    def keep(match: Contest, games: list[Game]) -> None:
        store.append(match, games)
        failures.extend(game for game in games if game.failure)

    batches = [Batch(match, numbers) for match in matches if (numbers := store.missing(match))]
    ended = play_batches(batches, keep, integer("jobs", jobs, 1, 1024), executor, progress)
    return ended and not failures


def play_batches(
    batches: Sequence[Batch],
    keep: Callable[[Contest, list[Game]], None],
    jobs: int,
    executor: Executor | Workers | None = None,
    progress: Callable[[Contest, list[Game]], None] | None = None,
) -> bool:
    """Plays games and passes finished ones to `keep`, then to `progress`. Returns False if Ctrl-C ended it early.

    jobs: games played at once, one in a thread of this process, the others in processes; executor: a caller's executor that
    plays all of them instead, with `jobs` the number that it can play at once (a Cluster has its own), or workers that have
    started already. Games that were finished when Ctrl-C or an exception ended the schedule are kept, but not reported to
    `progress`. Games of a worker that was killed are played again; BrokenExecutor is raised when a batch has lost three.

    Processes are spawned: a program that calls this with jobs > 1 must do so below `if __name__ == "__main__"`. Games
    registered by the program need jobs = 1, or an executor whose workers know them; games given by a reference need neither.
    Raises ValueError, before any game, for an agent that cannot be sent to them.
    """
    if jobs > 1 if executor is None else isinstance(executor, ProcessPoolExecutor):
        for match in {id(batch.match): batch.match for batch in batches}.values():
            if isinstance(match, Match):
                match.refuse_processes()
    try:
        with nullcontext(executor) if isinstance(executor, Workers) else workers(executor, jobs) as team:
            _play_on(team, batches, keep, progress)
    except KeyboardInterrupt:  # also one that came while processes started or ended
        return False
    return True


def _play_on(
    team: Workers,
    batches: Sequence[Batch],
    keep: Callable[[Contest, list[Game]], None],
    progress: Callable[[Contest, list[Game]], None] | None,
) -> None:
    """Plays batches on workers, and keeps the finished ones however it ends."""
    turns = deque(batches)
    lost: deque[Part] = deque()
    running: dict[Future[list[Game]], Part] = {}
    ended: SimpleQueue[Future[list[Game]]] = SimpleQueue()
    try:
        while turns or lost or running:
            while (turns or lost) and team.idle:
                if lost:
                    part = lost.popleft()
                else:
                    batch = turns.popleft()
                    part = Part(batch, batch.take(team.jobs))
                    if batch.numbers:
                        turns.append(batch)
                running[team.submit(part.batch.match, part.numbers, ended.put)] = part
            future = ended.get()
            team.release(future)
            part = running[future]
            try:
                games = future.result()
            except BrokenExecutor:
                if part.losses + 1 == MOST_LOSSES:
                    raise
                lost.append(Part(part.batch, part.numbers, part.losses + 1))
                del running[future]
                continue
            part.batch.learn(games, team.batch_seconds)
            keep(part.batch.match, games)
            del running[future]
            if progress is not None:
                progress(part.batch.match, games)
    finally:
        if running:
            team.stop()
        for future in [future for future in running if not future.cancel()]:
            if team.ours or future.done():
                with suppress(Exception, KeyboardInterrupt):
                    keep(running[future].batch.match, future.result())


@dataclass
class Batch:
    """The games of a match that are still to be played, and the number of them played in a row."""

    match: Contest
    numbers: Sequence[int]
    size: int = 1

    def take(self, jobs: int) -> Sequence[int]:
        """Takes the next numbers, fewer near the end, so that all workers share them."""
        count = min(self.size, math.ceil(len(self.numbers) / (2 * jobs)))
        taken, self.numbers = self.numbers[:count], self.numbers[count:]
        return taken

    def learn(self, games: list[Game], seconds: float) -> None:
        """Sets the size for batches of about some seconds. It grows in steps, since the first games say little."""
        if games:
            pace = sum(game.seconds for game in games) / len(games)
            self.size = max(1, min(int(seconds / max(pace, 1e-6)), 4 * len(games)))


@dataclass(frozen=True)
class Part:
    """Games of a match that one worker plays in a row, and the number of workers lost with them."""

    batch: Batch
    numbers: Sequence[int]
    losses: int = 0
