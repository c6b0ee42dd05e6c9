"""The order of a tournament's games: all at once, or in steps between which a sequential test may end it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace

from ucd_planners.arena.contest import Contest, Game
from ucd_planners.arena.schedule import play_matches
from ucd_planners.arena.store import Store
from ucd_planners.arena.workers import workers
from ucd_planners.ratings.sequential import SPRT
from ucd_planners.ratings.tournament import Tournament

STEP = 64
"""Games between two looks at a sequential test. Its answer does not depend on them."""


def play(
    tournament: Tournament,
    store: Store,
    jobs: int = 1,
    progress: Callable[[Contest, list[Game]], None] | None = None,
    test: SPRT | None = None,
    executor: Executor | None = None,
) -> bool:
    """Plays the games that a store lacks. Returns False if Ctrl-C ended it early.

    jobs, executor: as in play_batches; test: ends the games of two players soon after it is decided. It looks at pairs in their
    order, as far as none is missing, so its answer depends neither on workers nor on the games that were under way. A game that
    failed, with its pair, is passed over. Raises ValueError for a test of more than two players.
    """
    failed: list[Game] = []

    def report(match: Contest, games: list[Game]) -> None:
        failed.extend(game for game in games if game.failure)
        if progress is not None:
            progress(match, games)

    if test is None:
        ended = play_matches(tournament.matches(), store, jobs, executor, report)
        return ended or bool(failed)
    if len(tournament.players) != 2:
        raise ValueError(f"a sequential test is between two players, not {len(tournament.players)}")
    with workers(executor, jobs) as team:
        for games in (*range(STEP, tournament.games, STEP), tournament.games):
            failed.clear()
            part = replace(tournament, games=games)
            if not play_matches(part.matches(), store, jobs, team, report) and not failed:
                return False
            (pairing,) = part.pairings(store.games)
            scores = pairing.scores if pairing.players[0] == 0 else [1 - score for score in pairing.scores]
            if test.verdict(scores).accepted:
                break
    return True
