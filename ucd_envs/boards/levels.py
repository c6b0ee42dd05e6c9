"""Explicit graphs of P-games, built level by level: nodes combined in pairs, exact outcomes, and groups of moves.

Every node of a level has one child for each move, with the sum and hash that it has in the tree. Then some of the children
are combined in pairs of different parents [Childs section 3]. The nodes of a pair are near each other in the level and have
close sums: for a node taken at random, eight others are drawn, near ones more often, and the one with the closest sum is
taken. A second pass looks for partners that the first one did not find. The combined node has the larger of the two sums, and
the hash of the node with that sum, so that the moves below are worth what they are in the tree below it. The move into the
other node is then worth more than in the tree. Where MIN has moved, a pair is possible only if no such move exceeds 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ucd_envs.boards.sums import U0, U1, amount, hash_after, outcome_of, points
from ucd_envs.kernels import kernel
from ucd_envs.rng import below, seeded

MOST_MOVES = 2**26
"""Largest number of moves of an explicit graph."""
TRIES, SPREAD, REACH = 8, 8, 64
"""Partners drawn for a node; the farthest of them, in families of siblings; free nodes that the second pass looks at."""
U2, U100, U200 = np.uint64(2), np.uint64(100), np.uint64(200)
PAIRS, GROUPS = 1, 2
"""Marks of the generators for pairs and for groups, which do not depend on each other."""


class Levels(NamedTuple):
    """An explicit graph, as TREE describes its arrays."""

    targets: np.ndarray
    scores: np.ndarray
    outcomes: np.ndarray
    levels: np.ndarray


@kernel()
def make_children(branching, ply, hashes, scores, new_hashes, new_scores):
    """Writes the hashes and sums of all children of a level's nodes, as in the tree."""
    for parent in range(np.uint64(scores.size)):
        for action in range(branching):
            child = parent * branching + action
            new_hashes[child] = hash_after(hashes[parent], action)
            new_scores[child] = scores[parent] + points(new_hashes[child], ply)


@kernel()
def may_combine(i, j, branching, ply, scores, parent_scores):
    """Returns whether two children of a level have different parents and no move of MIN into their pair is above 0."""
    first, second = i // branching, j // branching
    if first == second:
        return False
    larger = max(scores[i], scores[j])
    return ply & 1 == 0 or (larger <= parent_scores[first] and larger <= parent_scores[second])


@kernel()
def combine(branching, ply, wanted, scores, parent_scores, order, partners, rng):
    """Writes each child's partner, or -1, and returns the number of pairs: `wanted`, or fewer where no more are found.

    order: [children] uint32, scratch.
    """
    size, pairs = np.uint64(scores.size), np.int64(0)
    for i in range(size):
        partners[i] = -1
        order[i] = i
    for i in range(size):
        if pairs == wanted:
            break
        at = i + below(rng, size - i)
        order[i], order[at] = order[at], order[i]
        child, best, closest = np.uint64(order[i]), np.int64(-1), np.int64(0)
        for _ in range(TRIES if partners[child] < 0 else 0):
            # The distance is drawn below a limit drawn itself, so the near ones are frequent.
            distance = U1 + below(rng, U1 + below(rng, np.uint64(SPREAD) * branching))
            to_left = below(rng, U2) == U0
            if distance > (child if to_left else size - U1 - child):
                continue
            other = child - distance if to_left else child + distance
            gap = abs(np.int64(scores[child]) - np.int64(scores[other]))
            if best >= 0 and gap >= closest:
                continue
            if partners[other] < 0 and may_combine(child, other, branching, ply, scores, parent_scores):
                best, closest = np.int64(other), gap
        if best >= 0:
            partners[child], partners[np.uint64(best)] = best, child
            pairs += 1
    if pairs < wanted:
        pairs += combine_the_rest(branching, ply, wanted - pairs, scores, parent_scores, order, partners)
    return pairs


@kernel()
def combine_the_rest(branching, ply, wanted, scores, parent_scores, order, partners):
    """Combines free children, each with the closest sum among the next free ones; returns the number of new pairs."""
    free, pairs = np.uint64(0), 0
    for i in range(np.uint64(scores.size)):
        if partners[i] < 0:
            order[free] = i
            free += U1
    for i in range(free):
        child, best, closest = np.uint64(order[i]), np.int64(-1), np.int64(0)
        if pairs == wanted:
            break
        if partners[child] >= 0:
            continue
        for at in range(i + U1, min(free, i + np.uint64(REACH) * branching)):
            other = np.uint64(order[at])
            gap = abs(np.int64(scores[child]) - np.int64(scores[other]))
            if best >= 0 and gap >= closest:
                continue
            if partners[other] < 0 and may_combine(child, other, branching, ply, scores, parent_scores):
                best, closest = np.int64(other), gap
        if best >= 0:
            partners[child], partners[np.uint64(best)] = best, child
            pairs += 1
    return pairs


@kernel()
def number_nodes(first, hashes, scores, partners, targets):
    """Writes the node of each child, and moves the hashes and sums of the level's nodes to the front; returns their number.

    A pair stands where the first of its two children does. `targets` are numbered from `first` on.
    """
    count = np.uint64(0)
    for child in range(np.uint64(scores.size)):
        other = np.int64(partners[child])
        if 0 <= other < np.int64(child):
            targets[child] = targets[np.uint64(other)]
            continue
        kept = np.uint64(other) if other >= 0 and scores[np.uint64(other)] > scores[child] else child
        hashes[count], scores[count] = hashes[kept], scores[kept]
        targets[child] = first + count
        count += U1
    return np.int64(count)


@kernel()
def solve(branching, depth, levels, targets, scores, outcomes):
    """Writes the half points of MAX under best play from each node, the leaves first."""
    for node in range(levels[depth], levels[depth + 1]):
        outcomes[node] = outcome_of(scores[node])
    for level in range(depth - 1, -1, -1):
        for node in range(levels[level], levels[level + 1]):
            best = outcomes[targets[node, U0]]
            for action in range(U1, branching):
                found = outcomes[targets[node, action]]
                best = min(best, found) if level & 1 else max(best, found)
            outcomes[node] = best


@kernel()
def fill_groups(groups, size, bias, targets, outcomes, best, members, rng):
    """Writes the group of each move of every node above the leaves [Childs section 4].

    Each of the `size` places of a group but the last is filled by a random free move with the mover's best outcome, with
    probability bias / 100, else by one without; by one of the other kind where a kind is used up. The last group has the rest.
    best: [branching] bool, scratch.
    """
    branching = np.uint64(targets.shape[1])
    for node in range(np.uint64(targets.shape[0])):
        count = np.uint64(0)
        for action in range(branching):
            members[node, action] = groups - U1
            best[action] = outcomes[targets[node, action]] == outcomes[node]
            count += np.uint64(best[action])
        left = branching
        for place in range((groups - U1) * size):
            wins = below(rng, U100) < bias
            wins = count > U0 if wins else count == left
            # The number of a free move of the kind, counted in the order of actions.
            skipped = below(rng, count if wins else left - count)
            for action in range(branching):
                if members[node, action] == groups - U1 and best[action] == wins:
                    if skipped == U0:
                        members[node, action] = place // size
                        break
                    skipped -= U1
            left -= U1
            count -= np.uint64(wins)


def graph(branching: int, depth: int, start: int, seed: int, percent: int) -> Levels:
    """Returns the graph of a P-game, `percent` of each level's nodes combined in pairs, up to the pairs that are possible.

    start: hash of the root. The number of pairs of a level is rounded up or down at random. Raises ValueError with one sentence
    for a graph of more than 2**26 moves.
    """
    expected = sizes(branching, depth, percent)
    too_large = ValueError(
        f"a graph of {amount(sum(expected), percent > 0)} nodes does not fit in memory: it may have at most {MOST_MOVES} moves"
    )
    if branching * sum(expected[:-1]) > MOST_MOVES:
        raise too_large
    rng, width = seeded(seed, PAIRS), np.uint64(branching)
    hashes, scores = np.array([start], np.uint64), np.zeros(1, np.int32)
    levels, all_targets, all_scores = [0, 1], [], [scores]
    for ply in range(depth):
        children = len(scores) * branching
        if levels[-1] * branching > MOST_MOVES:
            raise too_large
        parent_scores, partners = scores, np.empty(children, np.int32)
        targets, order = np.empty(children, np.uint32), np.empty(children, np.uint32)
        below_hashes, below_scores = np.empty(children, np.uint64), np.empty(children, np.int32)
        make_children(width, ply, hashes, scores, below_hashes, below_scores)
        wanted = (children * percent + int(below(rng, U200))) // 200
        combine(width, ply, wanted, below_scores, parent_scores, order, partners, rng)
        count = number_nodes(np.uint64(levels[-1]), below_hashes, below_scores, partners, targets)
        hashes, scores = below_hashes[:count], below_scores[:count].copy()
        levels.append(levels[-1] + count)
        all_targets.append(targets)
        all_scores.append(scores)
    made = Levels(
        np.concatenate(all_targets).reshape(-1, branching),
        np.concatenate(all_scores),
        np.zeros(levels[-1], np.uint8),
        np.array(levels, np.uint64),
    )
    solve(width, depth, made.levels, made.targets, made.scores, made.outcomes)
    return made


def sizes(branching: int, depth: int, percent: int) -> list[int]:
    """Returns the number of nodes of each level if all pairs are possible but those of the root's own children."""
    found = [1, branching]
    for _ in range(depth - 1):
        children = found[-1] * branching
        found.append(children - children * percent // 200)
    return found


def groups_of(made: Levels, groups: int, size: int, bias: int, seed: int) -> np.ndarray:
    """Returns the group of each move of a graph: [nodes above the leaves, branching] uint8. `bias` is in percent."""
    members = np.empty(made.targets.shape, np.uint8)
    best = np.empty(made.targets.shape[1], np.bool_)
    words = (np.uint64(number) for number in (groups, size, bias))
    fill_groups(*words, made.targets, made.outcomes, best, members, seeded(seed, GROUPS))
    return members
