"""One number for all that a fixed suite of small searches finds: a refactor does not move it, a change of behaviour does.

Run as a script it prints the number, with compiled kernels or, with NUMBA_DISABLE_JIT=1, as plain Python.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from hashlib import sha256

import hash_game
import numpy as np

import ucd_envs
from ucd_envs.rules import Rules
from ucd_planners import Planner, SearchResult, grave, rave, rave_ucd, ucd, uct, update_all

PLAYOUTS, SEED = 40, 1


def games() -> Iterator[Rules]:
    """Every game of the package in a small configuration, and random ones for one, two and three players."""
    yield ucd_envs.make_rules("tic_tac_toe")
    yield ucd_envs.make_rules("hex", size=3, swap=True)
    yield ucd_envs.make_rules("hex", size=9)
    yield ucd_envs.make_rules("connect_four", columns=4, rows=4)
    yield ucd_envs.make_rules("leftright", steps=12)
    for players in (1, 2, 3):
        yield hash_game.rules(seed=players, branching=4, plies=7, players=players)


def planners() -> Iterator[Planner]:
    """Every selection, with sums of each kind, with a limit on the graph, and every option of the search."""
    yield uct(playouts=PLAYOUTS, seed=SEED)
    for depths in ((0, 0, 0), (1, 0, 1), (2, 1, 3), (math.inf, math.inf, math.inf)):
        yield ucd(*depths, playouts=PLAYOUTS, seed=SEED)
    yield ucd(1, 1, 1, backup="section_3_4", playouts=PLAYOUTS, seed=SEED)
    yield ucd(1, 2, 1, playouts=PLAYOUTS, seed=SEED, max_nodes=12, final_move="mean")
    yield update_all(playouts=PLAYOUTS, seed=SEED, workers=2)
    yield uct(playouts=PLAYOUTS, seed=SEED, expand="all", reuse_graph=True)
    yield ucd(2, 1, 3, store="nodes", playouts=PLAYOUTS, seed=SEED, expand="all", first_play_urgency=0.75)
    yield ucd(math.inf, math.inf, 1, store="nodes", playouts=PLAYOUTS, seed=SEED, first_play_urgency=0.5, reuse_graph=True)
    yield ucd(1, 0, 1, playouts=PLAYOUTS, seed=SEED, reuse_graph=True)
    yield rave(playouts=PLAYOUTS, seed=SEED, reuse_graph=True)
    yield rave_ucd(0.5, 0, 1, 0.3, playouts=3, seed=SEED, expand="all")
    yield rave_ucd(depth_mean=math.inf, playouts=PLAYOUTS, seed=SEED, max_nodes=30)
    yield rave_ucd(depth_mean=2, c=0.3, playouts=PLAYOUTS, seed=SEED, first_play_urgency=0.75, reuse_graph=True)
    yield grave(ref=5, playouts=PLAYOUTS, seed=SEED, workers=2)


def found(result: SearchResult) -> bytes:
    """What a search found at its root and on its best line, to the last bit."""
    line = np.array(
        [result.action, *result.principal_variation, result.nodes, result.edges, result.transpositions, result.depth]
    )
    values = np.nan_to_num(result.values, nan=-1.0)
    return b"".join(
        array.astype("<i8" if array.dtype.kind == "i" else "<f8").tobytes() for array in (line, result.visits, values)
    )


def signature() -> int:
    """48 bits of all results."""
    digest = sha256()
    for rules in games():
        for planner in planners():
            first = planner.search(rules.initial_state())
            digest.update(found(first))
            second = rules.initial_state().after(first.action)
            if not second.over:
                digest.update(found(planner.search(second)))
    return int.from_bytes(digest.digest()[:6], "little")


if __name__ == "__main__":
    warnings.filterwarnings(
        "ignore", "overflow encountered"
    )  # plain Python warns where 64-bit sums and products wrap, as they should
    print(signature())
