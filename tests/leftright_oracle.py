"""LeftRight played by UCT and by update-all in plain Python: nothing of the package is used here.

The reading of [UCD Figure 4] with which both of the paper's figures can be had: UCT's tree is forgotten after each move, the
graph of update-all is kept, and the untried moves of a position are tried in a fixed order, Right first. A position of the
graph is its ply and its steps to the left, one of the tree the steps that lead to it from the root; n and w are sums of moves.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any

LEFT, RIGHT = 0, 1


def share_of_lefts(rng: Random, steps: int, playouts: int, c: float, shared: bool, order: tuple[int, ...] | None) -> float:
    """The share of steps to the left in one game; shared: update-all on a kept graph, else UCT; order: None for random."""
    n: dict[Any, int] = {}
    w: dict[Any, float] = {}
    known: set[Any] = set()
    ply = lefts = 0
    while ply < steps:
        if not shared:
            n.clear()
            w.clear()
        for _ in range(playouts):
            simulate(rng, n, w, known, (ply, lefts), steps, c, shared, order)
        root = (ply, lefts) if shared else ()
        move = max((LEFT, RIGHT), key=lambda move: (n.get((root, move), 0), w.get((root, move), 0.0), rng.random()))
        ply, lefts = ply + 1, lefts + (move == LEFT)
    return lefts / steps


def simulate(
    rng: Random, n: Any, w: Any, known: Any, start: Any, steps: int, c: float, shared: bool, order: tuple[int, ...] | None
) -> None:
    """One simulation: down to the first new position, a random game from there, and its payoff."""
    ply, lefts = start
    path: list[tuple[Any, int]] = []
    known.add(start)
    while ply < steps:
        position = (ply, lefts) if shared else tuple(move for _, move in path)
        untried = [move for move in order or rng.sample((LEFT, RIGHT), 2) if (position, move) not in n]
        move = untried[0] if untried else best(rng, n, w, position, c)
        path.append((position, move))
        ply, lefts = ply + 1, lefts + (move == LEFT)
        if untried and not (shared and (ply, lefts) in known):
            break
    known.add((ply, lefts))
    payoff = (lefts + sum(rng.random() < 0.5 for _ in range(steps - ply))) / steps
    for edge in path:
        n.setdefault(edge, 0)
        w.setdefault(edge, 0.0)
    for edge in ancestors(path[-1], n, start[0]) if shared else path:
        n[edge] += 1
        w[edge] += payoff


def best(rng: Random, n: Any, w: Any, position: Any, c: float) -> int:
    """The move of the largest bound w/n + c sqrt(log p / n), p the visits of both; of equal ones either."""
    visits = [n[position, move] for move in (LEFT, RIGHT)]
    bounds = [w[position, move] / n[position, move] + c * math.sqrt(math.log(sum(visits)) / visits[move]) for move in (0, 1)]
    return rng.choice([move for move in (LEFT, RIGHT) if bounds[move] == max(bounds)])


def ancestors(last: Any, n: Any, first_ply: int) -> set[Any]:
    """An edge, and all tried edges of this ply and later ones from which it can be reached [UCD 3.2]."""
    found, level = {last}, {last[0]}
    while (ply := next(iter(level))[0]) > first_ply:
        above = {((ply - 1, lefts - (move == LEFT)), move) for _, lefts in level for move in (LEFT, RIGHT)}
        above = {edge for edge in above if edge in n}
        found |= above
        level = {position for position, _ in above}
    return found
