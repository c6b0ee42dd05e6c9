"""Whether a position follows from another one: what a planner has learned of a game's past serves the present only then.

Between two searches a planner's own move is played, and moves of others. The rule: a position of our games follows if moves
lead there from the last root. The move that was chosen is tried before others, so in a match a look at each reply is enough. At
most 2**17 moves are tried, which covers any two plies of Go 19x19, and fewer where a budget in seconds is small. What they do
not show begins anew, and so does a position more than 16 plies on. A third-party game follows if its position lies in the last
graph below its root: its moves cannot be tried without playing them.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ucd_envs.kernels import HEADER, WORDS, kernel
from ucd_envs.rules import State
from ucd_envs.structs import fields
from ucd_planners.search.kernels import rules_at
from ucd_planners.search.reuse import node_of, survey
from ucd_planners.search.storage import Graph

MOST_TRIED = 2**17
"""Moves that are tried before a position counts as one that does not follow."""
TRIED_A_SECOND, LEAST_TRIED = 200_000, 512
"""Moves that are tried for each second of a budget, which take up to a tenth of it, and at least."""
MOST_PLIES = 16
"""Plies at most between two searches of one game."""


@kernel(types.boolean(WORDS, types.uint8[:, ::1], types.int32[:, ::1], types.int64, WORDS, WORDS, types.int64))
def leads_to(rules_words, states, lists, first, target, key, most):
    """Returns whether moves lead from a position to the one with a key, as many as `lists` has rows.

    states: [plies + 1, state_bytes], the position in the first row, the rest scratch; lists: [plies, actions + 2], scratch:
    the numbers of a position's actions and of those tried, then the actions; first: the action tried before others; target:
    [key_words]; key: [key_words], scratch; most: moves that are tried.
    """
    rules, depth, last, tried = rules_at(rules_words), np.int64(0), np.int64(lists.shape[0]) - 1, np.int64(0)
    list_moves(rules, states[0], lists[0], first)
    while depth >= 0:
        listed = lists[depth]
        if listed[1] == listed[0]:
            depth -= 1
            continue
        if tried == most:
            return False
        action, position = np.int64(listed[np.uint64(listed[1]) + np.uint64(2)]), states[depth + 1]
        listed[1] += 1
        tried += 1
        for i in range(position.size):
            position[i] = states[depth, i]
        rules.play(rules.config, position, action)
        if fields(position, HEADER).player < 0:
            continue
        if depth < last:
            depth += 1
            list_moves(rules, position, lists[depth], np.int64(-1))
            continue
        rules.key(rules.config, position, key)
        same = True
        for i in range(target.size):
            same = same and key[i] == target[i]
        if same:
            return True
    return False


@kernel()
def list_moves(rules, position, listed, first):
    """Writes the actions of a position, one of them before the others."""
    actions = listed[2:]
    listed[0], listed[1] = rules.legal_actions(rules.config, position, actions), 0
    for i in range(np.uint64(listed[0])):
        if actions[i] == first:
            actions[i], actions[0] = actions[0], actions[i]


def follows(
    state: State, last: State | None, chosen: int, rules_kernels: np.ndarray, graph: Graph, seconds: float | None = None
) -> bool:
    """Returns whether a state follows from the last root of a search.

    chosen: the action that was chosen there, or -1; graph: the graph of that search; seconds: the budget of the next one.
    """
    if last is None or state.ply <= last.ply:
        return False
    words = np.frombuffer(state.words, np.uint64).copy()
    if state.rules.rooted is not None:
        return lies_below(graph, words, state.ply)
    plies = state.ply - last.ply
    if plies > MOST_PLIES:
        return False
    states = np.empty((plies + 1, state.rules.state_bytes), np.uint8)
    states[0] = last.array()
    lists = np.zeros((plies, state.rules.actions + 2), np.int32)
    most = MOST_TRIED if seconds is None else min(MOST_TRIED, LEAST_TRIED + int(TRIED_A_SECOND * min(seconds, 1.0)))
    return bool(leads_to(rules_kernels, states, lists, chosen, words, np.empty_like(words), most))


def lies_below(graph: Graph, key: np.ndarray, ply: int) -> bool:
    """Returns whether a position lies in a graph below its root. A graph that keeps no keys knows none.

    key: [key_words] uint64.
    """
    node = node_of(graph.header, key, ply) if graph.record.keys.columns else -1
    if node < 0:
        return False
    numbers = np.empty((2, graph.node_count), np.int32)
    survey(graph.header, numbers, np.zeros(3, np.int64))
    return bool(numbers[0, node] >= 0)
