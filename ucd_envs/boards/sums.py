"""Minimax trees whose outcome is the sign of the sum of the moves' values along the path [Childs section 3].

MAX is player 0 and moves first, players alternate. A move of MAX is worth 0 to 127 points, one of MIN -127 to 0. MAX wins the
leaves with a positive sum, MIN those with a negative one, and a sum of 0 is a draw. Each path has a hash, made from the hash
of the path before its last move; seven of its bits are the value of that move. A tree of any size therefore needs no memory.

An explicit graph, as `levels` builds it, lies behind the record of the configuration, in arrays of its own. Its nodes are
numbered level by level, 0 is the root. An outcome is 0, 1 or 2 half points of MAX.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ucd_envs.kernels import kernel
from ucd_envs.rules import Rules, State
from ucd_envs.structs import array_at, fields, record, stack_array
from ucd_envs.tables import HASH

MOST_VALUE = 127
"""Largest value of a move of MAX."""
MOST_SOLVED = 2**44
"""Largest tree whose exact value is searched for, in positions."""
U0, U1, U6, U31, U57, U63, U64 = (np.uint64(n) for n in (0, 1, 6, 31, 57, 63, 64))
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
"""Factors of the mixing function of SplitMix64 [Steele, Lea and Flood 2014], one for the hash and one for the value."""
WORD, NUMBER, POINTS, OUTCOME, GROUP, FLAG = (np.dtype(kind) for kind in ("u8", "u4", "i4", "u1", "u1", "i8"))

TREE = record(
    *((name, np.uint64) for name in ("branching", "bits", "words", "start", "nodes", "groups", "overlap")),
    *((name, np.uint64) for name in ("targets", "scores", "outcomes", "members", "levels")),
    ("depth", np.int64),
)
"""Fields of a configuration. `bits`: of an action in a path; `words`: of a path; `start`: hash of the empty path; `nodes`: of
the explicit graph, 0 for a tree without one. The five arrays of a graph begin that number of bytes behind the record's start:
`targets` [nodes above the leaves, branching] uint32; `scores` [nodes] int32, the sums; `outcomes` [nodes] uint8; `members`
[nodes above the leaves, branching] uint8, the group of each move, only with two groups or more; `levels` [depth + 2] uint64,
the first node of each level and the number of nodes."""
PLACE = record(("player", np.int32), ("ply", np.int32), ("score", np.int64), ("hash", np.uint64))
"""Fields of a state. Behind them lies its path, [words] uint64: the actions, the first in the lowest bits; in an explicit
graph the number of the node, with the hash 0."""
PLACE_BYTES = np.uint64(PLACE.itemsize)


@kernel(inline=True)
def path_of(c, state):
    """Returns the path of a state: [words] uint64."""
    return array_at(np.uint64(state.ctypes.data) + PLACE_BYTES, (c.words,), WORD)


@kernel(inline=True)
def targets_of(c, config):
    """Returns the nodes that moves lead to: [nodes, branching] uint32, rows of leaves excluded."""
    return array_at(np.uint64(config.ctypes.data) + c.targets, (c.nodes, c.branching), NUMBER)


@kernel(inline=True)
def scores_of(c, config):
    """Returns the sums of all nodes: [nodes] int32."""
    return array_at(np.uint64(config.ctypes.data) + c.scores, (c.nodes,), POINTS)


@kernel(inline=True)
def outcomes_of(c, config):
    """Returns the half points of MAX under best play from each node: [nodes] uint8."""
    return array_at(np.uint64(config.ctypes.data) + c.outcomes, (c.nodes,), OUTCOME)


@kernel(inline=True)
def members_of(c, config):
    """Returns the group of each move: [nodes, branching] uint8, rows of leaves excluded."""
    return array_at(np.uint64(config.ctypes.data) + c.members, (c.nodes, c.branching), GROUP)


@kernel(inline=True)
def levels_of(c, config):
    """Returns the first node of each level, and the number of nodes: [depth + 2] uint64."""
    return array_at(np.uint64(config.ctypes.data) + c.levels, (np.uint64(c.depth + 2),), WORD)


@kernel()
def hash_after(before, action):
    """Returns the hash of a path with one more action, given that of the path before. No two actions give the same."""
    word = (before + (action + U1) * HASH) * FIRST
    return word ^ (word >> U31)


@kernel()
def points(last, ply):
    """Returns the value of the move at a ply after which the path has the hash `last`: 0 to 127 of MAX, -127 to 0 of MIN."""
    # The factor lies outside the chain of hashes, whose latency is most of a playout's time.
    value = np.int64((last * SECOND) >> U57)
    return -value if ply & 1 else value


@kernel()
def outcome_of(score):
    """Returns the half points of MAX for a sum."""
    return np.int64(2 if score > 0 else 1 if score == 0 else 0)


@kernel()
def put(path, place, bits, action):
    """Writes an action into a path whose bits from a place on are 0."""
    word, shift = place >> U6, place & U63
    path[word] |= action << shift
    if shift + bits > U64:
        path[word + U1] |= action >> (U64 - shift)


@kernel()
def taken(path, place, bits):
    """Returns the action at a place of a path."""
    word, shift = place >> U6, place & U63
    found = path[word] >> shift
    if shift + bits > U64:
        found |= path[word + U1] << (U64 - shift)
    return found & ((U1 << bits) - U1)


@kernel()
def is_forced(branching, depth, ply, score, last, least):
    """Returns whether MAX can reach a sum of at least `least` from a path of the tree with this sum and hash.

    Searches depth first. A subtree is left as soon as one move decides it, or when the values of all moves to come cannot
    change the outcome.
    """
    room = depth - ply + 1
    hashes, scores, tried = stack_array(room, WORD), stack_array(room, FLAG), stack_array(room, WORD)
    hashes[U0], scores[U0], tried[U0] = last, score, U0
    level, reached = np.int64(0), False
    while level >= 0:
        at, now = np.uint64(level), ply + level
        if tried[at] == U0:
            by_min = (depth - now + (now & 1)) >> 1
            low = scores[at] - MOST_VALUE * by_min
            if low >= least or scores[at] + MOST_VALUE * (depth - now - by_min) < least:
                reached = low >= least
                level -= 1
                continue
        elif reached == (now & 1 == 0) or tried[at] == branching:
            level -= 1
            continue
        below = at + U1
        hashes[below] = hash_after(hashes[at], tried[at])
        scores[below] = scores[at] + points(hashes[below], now)
        tried[at] += U1
        tried[below] = U0
        level += 1
    return reached


@kernel()
def outcome_at(config, state):
    """Returns the half points of MAX under best play from a state."""
    c, s = fields(config, TREE), fields(state, PLACE)
    if c.nodes > U0:
        return np.int64(outcomes_of(c, config)[path_of(c, state)[U0]])
    for wanted in (1, 0):
        if is_forced(c.branching, c.depth, np.int64(s.ply), s.score, s.hash, wanted):
            return np.int64(1 + wanted)
    return np.int64(0)


def minimax_value(state: State) -> float:
    """Returns player 0's payoff under best play of both from a state of a P-game: 1, 1/2 or 0.

    A state of an explicit graph has it stored; in a tree it is searched for. Raises TypeError for anything but a state,
    ValueError for one of another game and for a tree of more than 2**44 positions below the state.
    """
    if not isinstance(state, State):
        raise TypeError(f"expected a State, such as initial_state returns, not {type(state).__name__}")
    c = tree_of(state.rules)
    branching, plies = int(c.branching), int(c.depth) - state.ply
    positions = (branching ** (plies + 1) - 1) // (branching - 1)
    if not c.nodes and positions > MOST_SOLVED:
        raise ValueError(f"{amount(positions)} positions are too many to solve: at most {MOST_SOLVED}")
    return int(outcome_at(state.rules.config, state.array())) / 2


def correct_moves(state: State) -> list[int]:
    """Returns the actions whose exact value is the best for the mover, ascending; none when the game is over.

    Raises as `minimax_value` does.
    """
    minimax_value(state)
    values = {action: minimax_value(state.after(action)) for action in state.legal_actions()}
    best = (min if state.ply % 2 else max)(values.values(), default=0.0)
    return [action for action, value in values.items() if value == best]


def level_counts(rules: Rules) -> list[tuple[int, int]]:
    """Returns the numbers of nodes of each level, the root's first, before and after its nodes are combined [Childs Figure 1].

    Before: one for each move from the level above, as combined already. Raises ValueError for rules of another game.
    """
    c = tree_of(rules)
    branching, depth = int(c.branching), int(c.depth)
    if not c.nodes:
        return [(branching**level, branching**level) for level in range(depth + 1)]
    first = np.frombuffer(rules.config, np.uint64, depth + 2, int(c.levels)).tolist()
    after = [end - begin for begin, end in pairwise(first)]
    return [(1, 1), *((above * branching, own) for above, own in pairwise(after))]


def tree_of(rules: Rules) -> np.record:
    """Returns the record of a P-game's configuration. Raises ValueError for rules of another game."""
    if rules.layout is not PLACE:
        raise ValueError(f"{rules.name} is no P-game, and has no exact values")
    found: np.record = fields(rules.config, TREE)
    return found


def amount(number: int, roughly: bool = False) -> str:
    """Returns a number as text, one above 10**15 by its power of ten."""
    large = number > 10**15
    return f"{'about ' * (large or roughly)}{f'10**{len(str(number)) - 1}' if large else number}"
