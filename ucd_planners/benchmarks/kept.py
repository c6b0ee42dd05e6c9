"""The speed of kept graphs: a planner that goes on in its graph beside the same one that begins every search afresh.

Both search the positions of one game, in turn, and the first one's moves are played. The game is played several times and the
last time counts, since by then all is compiled and the system has given all memory. Beside the rates stand the edges that a
playout visits: as many as its path has, but with update-all all edges that lead to its leaf.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ucd_envs import registry
from ucd_envs.rng import seeded
from ucd_envs.rules import State
from ucd_planners.benchmarks.speed import Case, cpu_seconds, ucd_text
from ucd_planners.notation import planner_from
from ucd_planners.planner import Planner
from ucd_planners.worker import current_worker

PLAYOUTS = 1000
PLANNERS = (
    "uct(c=0.3)",
    *(ucd_text(depths) for depths in ("1,0,1", "0,1,2", "inf,0,1")),
    *("update_all(c=0.3)", "rave", "rave_ucd"),
)
GAME_SECONDS = 4.0
"""CPU seconds of both planners after which a game is not played on."""


def cases() -> list[Case]:
    """Returns every game with its defaults, with each of PLANNERS."""
    return [Case(game, planner, PLAYOUTS) for game in registry.available() for planner in PLANNERS]


def kept_rows(measured: list[Case]) -> Iterator[dict[str, Any]]:
    """Yields the row of each case: game, config, planner, playouts a search, moves of the game, kept_per_s, fresh_per_s and
    their ratio, kept_edges and fresh_edges a playout, None for searches that are too short to tell. Rates are playouts per
    second of CPU time."""
    for case in measured:
        rules = registry.make_rules(case.game, **case.settings)
        kept, fresh = planner_from(case.planner, playouts=case.playouts, reuse_graph=True), case.built()
        start = rules.initial_state().settled(seeded(1))
        play(start, kept, fresh, seconds_of)  # compiles what is new
        edges = play(start, kept, fresh, edges_of)
        seconds = play(start, kept, fresh, seconds_of)
        ours, theirs = (sum(column) for column in zip(*seconds, strict=True))
        row = {"game": rules.name, "config": dict(rules.settings), "planner": case.planner, "playouts": case.playouts}
        done = len(seconds) * case.playouts
        row |= {"moves": len(seconds), "kept_per_s": round(done / ours), "fresh_per_s": round(done / theirs)}
        row["ratio"] = round(theirs / ours, 2)
        for name, column in zip(("kept_edges", "fresh_edges"), zip(*edges, strict=True), strict=True):
            row[name] = None if math.isnan(sum(column)) else round(sum(column) / len(column), 1)
        yield row


def play(
    state: State, kept: Planner, fresh: Planner, figure_of: Callable[[Planner, State], tuple[int, float]]
) -> list[list[float]]:
    """Plays a game, and returns for each move a figure of both planners, which search and choose a move with it."""
    figures: list[list[float]] = []
    began = cpu_seconds()
    for planner in (kept, fresh):
        planner.reset(1)
    while not state.over and (not figures or cpu_seconds() - began < GAME_SECONDS):
        found = {}
        for name, planner in sorted({"kept": kept, "fresh": fresh}.items(), reverse=bool(len(figures) % 2)):
            found[name] = figure_of(planner, state)
        figures.append([found["kept"][1], found["fresh"][1]])
        state = state.after(found["kept"][0]).settled(seeded(len(figures)))
    return figures


def seconds_of(planner: Planner, state: State) -> tuple[int, float]:
    """Returns the move that a planner chooses, and the CPU seconds that it took."""
    began = cpu_seconds()
    action = planner.act(state)
    return action, cpu_seconds() - began


def edges_of(planner: Planner, state: State) -> tuple[int, float]:
    """Returns the move that a planner chooses, and the edges that a playout visited, NaN where that was looked at but once."""
    looks: list[tuple[int, int]] = []

    def look(playouts: int, seconds: float) -> None:
        worker = current_worker()
        assert worker is not None
        graph, nodes = worker.graph, worker.graph.nodes[: worker.graph.node_count]
        counts = nodes["expanded"].astype(np.int64)
        # The places of all edges in use: each node's block, from its first place on.
        places = np.repeat(nodes["first_edge"] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        looks.append((playouts, int(graph.edges["visits"][places].sum())))

    action = planner.act(state, progress=look)
    (first, before), (last, after) = looks[0], looks[-1]
    return action, (after - before) / (last - first) if last > first else math.nan
