"""The rated ladder: results between UCT with 1 to 100,000 playouts, programs and perfect play, kept with the package.

The file has the pentanomial counts of each pairing, from which ratings follow, and each player's rating. A player is placed by
games against rungs near its strength. Its rating becomes a number of playouts by a monotone cubic through the rungs, over the
logarithm of playouts [Fritsch and Butland 1984].
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ucd_envs import registry
from ucd_planners import files
from ucd_planners.arena.contest import Match
from ucd_planners.arena.store import Store
from ucd_planners.ratings.elo import Ratings, Scores, rate
from ucd_planners.ratings.pairs import Pairing, expanded, pentanomial
from ucd_planners.ratings.rungs import PLIES, Rungs, is_program, key_of, playouts_of
from ucd_planners.strong import PLACE, ladders

DRAWS = 1000
"""Draws of the ratings from their joint distribution, for the interval of an interpolated number of playouts."""

FINE = 501
"""Points of an interpolating curve."""


@dataclass(frozen=True)
class Ladder:
    """The results of a game's rungs."""

    name: str
    game: str
    settings: Mapping[str, Any]
    players: tuple[str, ...]
    results: tuple[tuple[int, int, tuple[int, ...]], ...]
    """Two players' places and the pentanomial counts of their pairs, in scores of the first."""

    @property
    def rungs(self) -> list[tuple[int, int]]:
        """Returns place and playouts of each rung of UCT, weakest first."""
        found = [(place, playouts_of(text)) for place, text in enumerate(self.players)]
        return sorted(((place, playouts) for place, playouts in found if playouts is not None), key=lambda rung: rung[1])

    def scores(self) -> list[Scores]:
        """Returns the pairs of all pairings."""
        return [Scores(one, other, expanded(counts)) for one, other, counts in self.results]

    def ratings(self) -> Ratings:
        """Returns the ratings of all players. UCT with the fewest playouts has 0."""
        return rate(len(self.players), self.scores(), self.rungs[0][0])


def kept_ladders(path: Path = PLACE) -> list[Ladder]:
    """Returns all ladders of a file."""
    return [_ladder(name, row) for name, row in ladders(path).items()]


def ladder_of(game: str, settings: Mapping[str, Any], path: Path = PLACE) -> Ladder:
    """Returns the ladder of a game in one configuration. Raises ValueError, with the games that have one, if there is none."""
    kept, name = ladders(path), key_of(game, settings)
    if name not in kept:
        raise ValueError(
            f"{name} has no ladder: there is one of {', '.join(kept)}; `ucd rate --game ... --build` makes another"
        )
    return _ladder(name, kept[name])


def _ladder(name: str, row: Mapping[str, Any]) -> Ladder:
    players = tuple(player["player"] for player in row["players"])
    results = tuple((one, other, tuple(counts)) for one, other, counts in row["results"])
    return Ladder(name, row["game"], row["settings"], players, results)


def build(rungs: Rungs, store: Store, games: int, seed: int, play: Callable[[Sequence[Match]], bool]) -> Ladder | None:
    """Plays the missing games of a ladder and returns it, or None if it was stopped before every player had games.

    games and seed: as in Rungs.matches; play: plays matches into the store.
    """
    pairings = rungs.matches(games, seed)
    play([match for _, match in pairings])
    players = tuple(rungs.players())
    results = []
    for (one, other), match in pairings:
        scores = Pairing((0, 1), tuple(store.games(match)), match.games).scores
        if scores:
            results.append((players.index(one), players.index(other), pentanomial(scores)))
    if {place for one, other, _ in results for place in (one, other)} != set(range(len(players))):
        return None
    return Ladder(rungs.name, rungs.game, rungs.settings, players, tuple(results))


def keep(ladder: Ladder, path: Path = PLACE) -> None:
    """Adds a ladder to the file, or replaces that of its game. Raises OSError if that is not possible."""
    ratings = ladder.ratings()
    players = [
        {
            "player": text,
            "playouts": playouts_of(text),
            "program": is_program(text),
            "elo": _number(ratings.elo[place]),
            "interval": [_number(ratings.low[place]), _number(ratings.high[place])],
        }
        for place, text in enumerate(ladder.players)
    ]
    row = {
        "game": ladder.game,
        "settings": dict(ladder.settings),
        "actions": registry.make_rules(ladder.game, **ladder.settings).actions,
        "random_plies": PLIES,
        "players": players,
        "results": [[one, other, list(counts)] for one, other, counts in ladder.results],
    }
    kept = {**(ladders(path) if path.exists() else {}), ladder.name: row}
    text = "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(kept[name])}" for name in sorted(kept)) + "\n}\n"
    files.save(path, lambda part: part.write_text(text, encoding="utf-8"))


def _number(value: float) -> float | None:
    """Returns a rating as JSON has it, None for an infinite one."""
    return round(float(value), 1) if math.isfinite(value) else None


@dataclass(frozen=True)
class Placed:
    """A player's place on a ladder."""

    elo: float
    """Rating, where UCT with the fewest playouts has 0."""
    low: float
    high: float
    playouts: float
    """Playouts of UCT that are as strong: 0 for weaker than the lowest rung, inf for stronger than the highest one."""
    fewest: float
    """Lower end of the 95% interval of `playouts`; 0 and inf as there."""
    most: float


def placed(ladder: Ladder, results: Mapping[int, Sequence[float]]) -> Placed:
    """Returns the place of a player. results: its mean payoffs in the pairs of games against rungs, by their places."""
    new = len(ladder.players)
    played = [*ladder.scores(), *(Scores(new, place, tuple(scores)) for place, scores in results.items())]
    ratings = rate(new + 1, played, ladder.rungs[0][0])
    places = [place for place, _ in ladder.rungs]
    logs = np.log10([playouts for _, playouts in ladder.rungs])
    draw = np.random.default_rng(0).multivariate_normal(ratings.elo, ratings.covariance, DRAWS, method="eigh")
    drawn = _interpolated(draw[:, places], logs, draw[:, new])
    fewest, most = np.sort(drawn)[[round(0.025 * DRAWS), round(0.975 * DRAWS) - 1]]
    (own,) = _interpolated(ratings.elo[None, places], logs, ratings.elo[None, new])
    points = {score for scores in results.values() for score in scores}
    if points == {0.0}:
        fewest = -math.inf
    if points == {1.0}:
        most = math.inf
    elo, low, high = (float(each[new]) for each in (ratings.elo, ratings.low, ratings.high))
    return Placed(elo, low, high, 10 ** float(own), 10 ** float(fewest), 10 ** float(most))


def _interpolated(elo: np.ndarray, logs: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Returns logarithms of playouts at ratings, -inf below all rungs and inf above: [draws] float64.

    elo: [draws, rungs], own: [draws]. Where a rung is rated below a weaker one, both count with the mean of the two, so that
    ratings ascend.
    """
    from scipy.interpolate import PchipInterpolator

    ascending = np.array([_ascending(row) for row in elo])
    fine = np.linspace(logs[0], logs[-1], FINE)
    curves = PchipInterpolator(logs, ascending, axis=1)(fine)
    found = np.array([np.interp(value, curve, fine) for value, curve in zip(own, curves, strict=True)])
    found[own < ascending[:, 0]], found[own > ascending[:, -1]] = -math.inf, math.inf
    return found


def _ascending(values: np.ndarray) -> np.ndarray:
    """Returns the nearest ascending sequence, by pooling adjacent violators [Ayer et al. 1955]."""
    blocks: list[list[float]] = []
    for value in values:
        blocks.append([float(value), 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, count = blocks.pop()
            total = blocks[-1][1] + count
            blocks[-1] = [(blocks[-1][0] * blocks[-1][1] + mean * count) / total, total]
    return np.array([mean for mean, count in blocks for _ in range(int(count))])


def next_rung(ladder: Ladder, results: Mapping[int, Sequence[float]]) -> int:
    """Returns the place of the rung to play next: the middle one at first, then those around the player's rating.

    Of the rung below and the one above, the one with fewer games is next: results against one alone would lean to it where
    differences do not add up as the model says. A player that took all points goes up a rung, one that took none goes down, as
    far as there are any.
    """
    places = [place for place, _ in ladder.rungs]
    seen = [place for place in places if place in results]
    if not seen:
        return places[len(places) // 2]
    if all(score == 1 for place in seen for score in results[place]):
        return places[min(places.index(seen[-1]) + 1, len(places) - 1)]
    if all(score == 0 for place in seen for score in results[place]):
        return places[max(places.index(seen[0]) - 1, 0)]
    elo, ascending = placed(ladder, results).elo, _ascending(ladder.ratings().elo[places])
    above = int(np.searchsorted(ascending, elo))
    around = places[max(0, above - 1) : above + 1]
    return min(around, key=lambda place: len(results.get(place, ())))


def narrow(found: Placed, factor: float) -> bool:
    """Returns whether the interval of the playouts is finite, and its ends are apart by at most a factor."""
    return found.fewest > 0 and found.most <= factor * found.fewest < math.inf


def sentence(found: Placed, lowest: int, highest: int) -> str:
    """Returns a place in words. No number stands for what lies beyond the ladder."""
    if math.isinf(found.playouts):
        return f"stronger than UCT with {highest:,} playouts, the highest rung ({_least(found)})"
    if found.playouts == 0:
        return f"weaker than UCT with {lowest:,} playout, the lowest rung ({_most(found)})"
    low = f"less than {lowest:,}" if found.fewest == 0 else _rounded(found.fewest)
    high = f"more than {highest:,}" if math.isinf(found.most) else _rounded(found.most)
    return f"as strong as UCT with {_rounded(found.playouts)} playouts ({low} to {high})"


def _least(found: Placed) -> str:
    if math.isinf(found.fewest):
        return "the whole interval is"
    return f"{_rounded(found.fewest)} at least" if found.fewest else "the interval covers the whole ladder"


def _most(found: Placed) -> str:
    if found.most == 0:
        return "the whole interval is"
    return f"{_rounded(found.most)} at most" if math.isfinite(found.most) else "the interval covers the whole ladder"


def _rounded(playouts: float) -> str:
    """Returns a number of playouts with two digits."""
    digits = max(0, 1 - math.floor(math.log10(playouts))) if playouts < 10 else 0
    step = 10 ** max(0, math.floor(math.log10(playouts)) - 1)
    return f"{round(playouts / step) * step:,}" if not digits else f"{playouts:.{digits}f}"


def games_of(ladder: Ladder) -> int:
    """Returns the number of games behind a ladder."""
    return 2 * sum(sum(counts) for _, _, counts in ladder.results)
