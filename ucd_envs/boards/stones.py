"""Stones of Go: where the rules allow them, what they capture, and the moves of the random policy.

The random policy draws a legal point uniformly, except true eyes of the mover and suicides of one stone, and passes where there
is no such point. Under the usual rules, a simple ko without suicide, and without a mercy rule, a loop of its own plays the
games of this policy: from the same random numbers the same moves as the loop for all rules, a quarter faster.

A game that uses these kernels has the fields of a state of Go in its record, and those of its configuration. `boards` are the
words of superko.py.
"""

from __future__ import annotations

import numpy as np

from ucd_envs.boards import chains, superko
from ucd_envs.boards.chains import EMPTY, ROOM, SURROUNDED, U0, U1, U4, U15
from ucd_envs.kernels import kernel, most_moves, move_of
from ucd_envs.rng import stepped

U32 = np.uint64(32)


@kernel()
def may_put(c, s, boards, p, player):
    """Returns whether the rules allow a player's stone on an empty point."""
    free = s.around[p] >= ROOM or c.suicide != 0 or chains.breathes(s, p, player)
    return free and not chains.in_ko(s, p, player) and not (c.ko != 0 and superko.repeats(c, s, boards, p, player))


@kernel()
def put(c, s, p, player):
    """Puts a stone on the board, captures, and updates the lead, under superko also the board's key."""
    s.ko = 0
    before = s.vacant - U1
    chains.place(s, p, player)
    gone = np.int64(s.vacant - before)
    suicide = s.colour[p] == EMPTY
    s.lead += (1 - 2 * player) * (1 - gone if suicide else 1 + gone)
    if c.ko:
        s.ko = 0  # superko includes the simple ko
        s.hash ^= c.key[player, p]
        for i in range(before, s.vacant):  # captured points lie at the end of `empty`
            s.hash ^= c.key[player if suicide else 1 - player, s.empty[i]]


@kernel()
def finish(s):
    """Ends the game and counts the area."""
    s.player, s.area = -1, s.lead + chains.surrounded(s)


@kernel()
def sensible(c, s, boards, p, player):
    """Returns whether the random policy may put a player's stone on an empty point."""
    around = s.around[p]
    if around < ROOM:
        if (around >> U4 * np.uint64(player)) & 15 == SURROUNDED and chains.is_eye(s, p, player):
            return False
        if chains.in_ko(s, p, player) or not (
            chains.breathes(s, p, player) or (c.suicide != 0 and chains.touches(s, p, player))
        ):
            return False
    return not (c.ko != 0 and superko.repeats(c, s, boards, p, player))


@kernel(inline=True)
def usually_sensible(s, p, player):
    """The same under the usual rules."""
    around, found = np.uint64(s.around[p]), True
    if around < ROOM:
        shut_in = (around >> U4 * np.uint64(player)) & U15 == SURROUNDED
        found = not (chains.is_eye(s, p, player) if shut_in else p == np.uint64(s.ko)) and chains.breathes(s, p, player)
    return found


@kernel()
def list_sensible(c, s, boards, actions):
    """Lists the points where the random policy may put the mover's stone, in the order of `empty`. Returns their number."""
    count, player, vacant = U0, s.player, s.vacant
    if c.ko == 0 and c.suicide == 0:
        for i in range(vacant):
            p = np.uint64(s.empty[i])
            actions[count] = c.action[p]
            count += np.uint64(usually_sensible(s, p, player))
    else:
        for i in range(vacant):
            p = np.uint64(s.empty[i])
            actions[count] = c.action[p]
            count += np.uint64(sensible(c, s, boards, p, player))
    return count


@kernel(inline=True)
def set_aside(s, i, left):
    """Exchanges entry i of the empty points with the last of the first `left`."""
    p, q = s.empty[i], s.empty[left]
    s.empty[left] = p
    s.empty[i] = q
    s.place[np.uint64(p)] = left  # `place` stays the inverse of `empty`
    s.place[np.uint64(q)] = i


@kernel()
def play_usually(c, s, rng, trace):
    """Plays moves of the random policy under the usual rules. Returns their number."""
    player, passes, ply, last = s.player, s.passes, s.ply, min(c.max_plies, s.ply + most_moves(trace))
    # In registers until the end: what every move changes.
    first, second, vacant, lead, latest, before = rng[0], rng[1], s.vacant, s.lead, s.last[0], s.last[1]
    while passes < 2 and ply < last:
        left, point = vacant, U0  # empty[left:vacant] was tried without success in this move
        while left > U0:
            bits, first, second = stepped(first, second)
            i = ((bits >> U32) * left) >> U32
            p = np.uint64(s.empty[i])
            if usually_sensible(s, p, player):
                point = p
                break
            left -= U1
            set_aside(s, i, left)
        s.ko = 0
        before = latest
        if point != U0:
            passes, kept = 0, vacant
            vacant = chains.placed(s, point, player, vacant)
            lead += (1 - 2 * player) * (2 + np.int64(vacant - kept))
            latest = np.int32(c.action[point])
        else:
            passes += 1
            latest = np.int32(c.rows * c.columns)
        if trace.size > 0:
            trace[ply - s.ply] = move_of(player, latest)
        ply += 1
        player = 1 - player
    count = ply - s.ply
    rng[0], rng[1], s.vacant, s.lead, s.last[0], s.last[1] = first, second, vacant, lead, latest, before
    s.passes, s.ply, s.player = passes, ply, player
    if passes == 2 or ply == c.max_plies:
        finish(s)
    return count


@kernel()
def play_randomly(c, s, boards, rng, trace):
    """Plays moves of the random policy under any rules. Returns their number."""
    player, passes, ply, last = s.player, s.passes, s.ply, min(c.max_plies, s.ply + most_moves(trace))
    first, second, latest, before = rng[0], rng[1], s.last[0], s.last[1]
    while passes < 2 and ply < last:
        left, point = s.vacant, U0
        while left > U0:
            bits, first, second = stepped(first, second)
            i = ((bits >> U32) * left) >> U32
            p = np.uint64(s.empty[i])
            if sensible(c, s, boards, p, player):
                point = p
                break
            left -= U1
            set_aside(s, i, left)
        if point != U0:
            put(c, s, point, player)
            passes = 0
        else:
            s.ko = 0
            passes += 1
        before, latest = latest, np.int32(c.action[point]) if point != U0 else np.int32(c.rows * c.columns)
        if trace.size > 0:
            trace[ply - s.ply] = move_of(player, latest)
        ply += 1
        player = 1 - player
        if c.ko:
            s.player, s.passes = player, passes
            superko.remember(c, s, boards)
        if c.mercy and abs(s.lead) > c.mercy:
            break
    count = ply - s.ply
    rng[0], rng[1], s.last[0], s.last[1] = first, second, latest, before
    s.passes, s.ply, s.player = passes, ply, player
    if passes == 2 or ply == c.max_plies or (c.mercy and abs(s.lead) > c.mercy):
        finish(s)
    return count
