"""P-game: an artificial minimax tree or graph with known values.

Board    a node of a tree of `branching` moves and `depth` levels of moves, and the sum of the moves' values on the path to it.
Players  two; player 0 is MAX and begins, player 1 is MIN.
Turn     one of the `branching` moves, all always legal. Players alternate.
End      after `depth` moves: MAX wins with a sum above 0, MIN with one below 0, and 0 is a draw.
Moves    0 to branching - 1, written so. A move of MAX is worth a whole number from 0 to 127, one of MIN from -127 to 0, uniform
         and fixed by `seed` and the path.
Source   Smith and Nau 1994; Kocsis and Szepesvari 2006, section 4.1; combined nodes and groups: [Childs sections 3 and 4].

choice              here
dag_combination     percent of a level's nodes that are combined in pairs, level by level: 100 halves a level. The pairs are of
                    different parents, near each other in the level, with close sums; the pair has the larger sum. A level
                    that MIN has reached may have fewer pairs, since no move of MIN may be worth more than 0
groups              move groups of the game itself. All but the last hold group_size moves; a place is filled with probability
                    group_bias percent by a move with the mover's best outcome, else by one without. The last group holds the
                    rest, or with `overlap` all moves

Without combined nodes and groups a tree has any size, since values are hashes of paths. Else the graph lies in memory, with at
most 2**26 moves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ucd_envs.boards.levels import graph, groups_of
from ucd_envs.boards.sums import (
    PLACE,
    TREE,
    correct_moves,
    hash_after,
    levels_of,
    members_of,
    outcome_of,
    path_of,
    points,
    put,
    scores_of,
    taken,
    targets_of,
)
from ucd_envs.interface import Grouping, Kernels
from ucd_envs.kernels import (
    GROUPS,
    IS_LEGAL,
    KEY,
    LEGAL_ACTIONS,
    OBSERVE,
    PLAY,
    PLAYOUT,
    PLAYOUT_ACTION,
    READ_PAYOFFS,
    RESET,
    VALIDATE,
    kernel,
    move_of,
)
from ucd_envs.rng import below, seeded, stepped
from ucd_envs.rules import Rules, State
from ucd_envs.settings import boolean, integer, shown
from ucd_envs.structs import configuration, fields

LONGEST = 1024
U0, U1, U6, U32, U63, U64 = (np.uint64(n) for n in (0, 1, 6, 32, 63, 64))

CONFIG = TREE
STATE = PLACE


@kernel(RESET)
def reset(config, state):
    """Returns to the root."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    s.player = 0
    s.ply = 0
    s.score = 0
    s.hash = U0 if c.nodes > U0 else c.start
    path = path_of(c, state)
    for word in range(c.words):
        path[word] = U0


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Lists all moves until the game is over."""
    count = np.int64(fields(config, CONFIG).branching) if fields(state, STATE).player >= 0 else 0
    for action in range(np.uint64(count)):
        actions[action] = action
    return count


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether the game goes on and the action is one of the moves."""
    return fields(state, STATE).player >= 0 and 0 <= action < np.int64(fields(config, CONFIG).branching)


@kernel(PLAY)
def play(config, state, action):
    """Follows a move. The last one ends the game."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    follow(config, c, s, path_of(c, state), np.uint64(action))


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Writes 1 for the winner and 0 for the other, or 1/2 each for a draw."""
    out[0] = 0.5 * outcome_of(fields(state, STATE).score)
    out[1] = 1.0 - out[0]


@kernel(KEY)
def key(config, state, words):
    """Writes the path, or the number of the node in an explicit graph."""
    c = fields(config, CONFIG)
    path = path_of(c, state)
    for word in range(c.words):
        words[word] = path[word]


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Follows random moves. Without a trace only the sum at the end is found."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    path = path_of(c, state)
    if trace.size > 0:
        return followed(config, c, s, path, rng, trace)
    branching, first, last = c.branching, np.int64(s.ply), c.depth
    a, b = rng[U0], rng[U1]
    if c.nodes > U0:
        targets, node = targets_of(c, config), path[U0]
        for _ in range(first, last):
            bits, a, b = stepped(a, b)
            node = np.uint64(targets[node, ((bits >> U32) * branching) >> U32])
        s.score = scores_of(c, config)[node]
    else:
        score, found = s.score, s.hash
        for ply in range(first, last):
            bits, a, b = stepped(a, b)
            found = hash_after(found, ((bits >> U32) * branching) >> U32)
            score += points(found, ply)
        s.score = score
    rng[U0], rng[U1] = a, b
    s.player = -1
    return last - first


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns a move, drawn uniformly."""
    return np.int64(below(rng, fields(config, CONFIG).branching))


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """Writes the bits of the key, a row for each word and the lowest bit first, in plane 0 if the ply is one of the observer's
    moves and in plane 1 if not, and the bits of the ply in the first row of plane 2."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    path, plane, ply = path_of(c, state), np.uint64((s.ply & 1) != player), np.uint64(s.ply)
    for bit in range(c.words * U64):
        at = np.uint64(3) * bit
        one = (path[bit >> U6] >> (bit & U63)) & U1
        planes[at + plane] = one
        planes[at + U1 - plane] = 0
        planes[at + np.uint64(2)] = (ply >> bit) & U1 if bit < U64 else U0


@kernel(VALIDATE)
def validate(config, state):
    """Returns whether the path or node lies in the level of the ply, with the hash, the sum and the mover that belong to it."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    path = path_of(c, state)
    if s.player != (-1 if s.ply == c.depth else s.ply & 1):
        return False
    if c.nodes > U0:
        node, level = path[U0], np.uint64(s.ply)
        first = levels_of(c, config)
        return first[level] <= node < first[level + U1] and s.hash == U0 and s.score == scores_of(c, config)[node]
    found, score, place = c.start, np.int64(0), U0
    for ply in range(s.ply):
        action = taken(path, place, c.bits)
        if action >= c.branching:
            return False
        found = hash_after(found, action)
        score += points(found, ply)
        place += c.bits
    for word in range(c.words):
        # Bits above the last action must be 0.
        above = path[word] >> (place & U63) if word == place >> U6 else path[word]
        if word >= place >> U6 and above != U0:
            return False
    return s.hash == found and s.score == score


@kernel(GROUPS)
def move_groups(config, state, memory, action):
    """Returns the groups of a move as bits."""
    c = fields(config, CONFIG)
    last = c.groups - U1
    group = np.uint64(members_of(c, config)[path_of(c, state)[U0], np.uint64(action)])
    return U1 << group | (U1 << last if c.overlap > U0 else U0)


@kernel()
def follow(config, c, s, path, action):
    """Makes a move and passes the turn, or ends the game."""
    if c.nodes > U0:
        node = np.uint64(targets_of(c, config)[path[U0], action])
        path[U0] = node
        s.score = scores_of(c, config)[node]
    else:
        ply = np.int64(s.ply)
        put(path, np.uint64(ply) * c.bits, c.bits, action)
        s.hash = hash_after(s.hash, action)
        s.score += points(s.hash, ply)
    s.ply += 1
    s.player = -1 if s.ply == c.depth else 1 - s.player


@kernel()
def followed(config, c, s, path, rng, trace):
    """Follows random moves until the game is over or the trace is full, and returns their number."""
    played = np.uint64(0)
    while s.player >= 0 and played < np.uint64(trace.size):
        action = below(rng, c.branching)
        trace[played] = move_of(s.player, action)
        follow(config, c, s, path, action)
        played += U1
    return np.int64(played)


def rules(
    branching: int = 2,
    depth: int = 20,
    seed: int = 0,
    dag_combination: int = 0,
    groups: int = 1,
    group_size: int = 0,
    group_bias: int = 0,
    overlap: bool = False,
) -> Rules:
    """P-game with `branching` moves, 2 to 64, and `depth` levels of moves, 1 to 1024, made from `seed`, 0 to 2**63 - 1.

    dag_combination: percent of a level's nodes that are combined, 0 to 100. groups: 1 for none, or 2 to 63, with group_size of
    1 or more and group_bias in percent, 0 to 100. Raises ValueError for a number out of range, for groups that need more
    moves than there are, for options of groups without groups, and for an explicit graph of more than 2**26 moves.
    """
    branching, depth = integer("branching", branching, 2, 64), integer("depth", depth, 1, LONGEST)
    seed, dag_combination = integer("seed", seed, 0, 2**63 - 1), integer("dag_combination", dag_combination, 0, 100)
    groups, overlap = integer("groups", groups, 1, 63), boolean("overlap", overlap)
    group_size, group_bias = integer("group_size", group_size, 0, 64), integer("group_bias", group_bias, 0, 100)
    if groups == 1 and (group_size or group_bias or overlap):
        raise ValueError("group_size, group_bias and overlap need groups to be 2 or more")
    if groups > 1 and group_size == 0:
        raise ValueError("group_size must be 1 or more where there are groups")
    grouped = group_size * (groups - 1)
    if grouped > branching:
        raise ValueError(f"group_size * (groups - 1) must be at most branching, but {group_size} * {groups - 1} is {grouped}")
    if grouped == branching and not overlap:
        raise ValueError("the last group would be empty: group_size * (groups - 1) must be below branching, or overlap True")

    bits = (branching - 1).bit_length()
    words = 1 if dag_combination or groups > 1 else -(-depth * bits // 64)
    start = int(seeded(seed)[0])
    facts = {"branching": branching, "depth": depth, "bits": bits, "words": words, "start": start}
    arrays = {}
    if dag_combination or groups > 1:
        made = graph(branching, depth, start, seed, dag_combination)
        arrays = made._asdict()
        if groups > 1:
            arrays["members"] = groups_of(made, groups, group_size, group_bias, seed)
        facts |= {"nodes": len(made.scores), "groups": groups, "overlap": overlap}
    places, end = {}, CONFIG.itemsize
    for name, array in arrays.items():
        places[name], end = end, end + -(-array.nbytes // 8) * 8
    config = np.zeros(end, np.uint8)
    config[: CONFIG.itemsize] = configuration(CONFIG, **facts, **places)
    for name, array in arrays.items():
        config[places[name] : places[name] + array.nbytes] = array.reshape(-1).view(np.uint8)
    options = f"groups={groups}, group_size={group_size}, group_bias={group_bias}, overlap={overlap}"

    def action_named(state: State, text: str) -> int:
        if not (text.isascii() and text.isdecimal()) or not 0 <= int(text[:9]) < branching:
            raise ValueError(f"{shown(text)} is no move: expected 0 to {branching - 1}")
        return int(text)

    def drawing(state: State) -> str:
        score = int(fields(state.array(), STATE).score)
        moves = ("MAX to move", "MIN to move")[state.ply % 2]
        return f"level {state.ply} of {depth}, sum {score}, {moves if state.player >= 0 else 'over'}"

    return Rules(
        name="p_game_v0",
        settings={
            **{"branching": branching, "depth": depth, "seed": seed, "dag_combination": dag_combination},
            **{"groups": groups, "group_size": group_size, "group_bias": group_bias, "overlap": overlap},
        },
        players=2,
        actions=branching,
        max_plies=depth,
        config=config,
        state_bytes=STATE.itemsize + 8 * words,
        key_words=words,
        planes=(words, 64, 3),
        drawing=drawing,
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key),
            is_legal=is_legal,
            playout=playout,
            playout_action=playout_action,
            observe=observe,
        ),
        action_name=lambda state, action: str(action),
        action_named=action_named,
        why_illegal=lambda action: "the game is over",
        layout=STATE,
        validate=validate,
        solution=correct_moves,
        groups=None if groups == 1 else Grouping(f"p_game({options})", groups, move_groups, groups - 1 if overlap else -1),
    )


EXAMPLES: tuple[dict[str, Any], ...] = (
    {"branching": 5, "depth": 30, "seed": 1},
    {"depth": 8, "seed": 2, "dag_combination": 60},
    {"branching": 6, "depth": 3, "seed": 3, "groups": 3, "group_size": 2, "group_bias": 50, "overlap": True},
)
"""Configurations for the shared tests."""
