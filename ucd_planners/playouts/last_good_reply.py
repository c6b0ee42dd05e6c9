"""Last good reply: playouts repeat the replies that last won [Drake 2009; Baier and Drake 2010].

After each simulation every move of a winner (payoff above 1/2), in the descent or the playout, becomes that player's reply to
the move before it and, with length = 2, to the two moves before it. The newest reply replaces the old one. With `forgetting`, a
stored reply is deleted when its player loses with it (payoff below 1/2). Draws change nothing. The moves before a reply may be
those of any player. Each player has its own replies, and wins or loses by its own payoff.

In a playout the reply to the last two moves is played if the random policy may play it, else the reply to the last move. If
neither is playable, the move is left to the next policy. LGR-1 and LGR-2 of Drake are length = 1 and 2 without forgetting;
LGRF-1 and LGRF-2 of Baier and Drake are the same with it. Replies are kept over the turns of one game.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ucd_envs.kernels import HEADER, action_of_move, kernel, player_of_move
from ucd_envs.rules import Rules
from ucd_envs.settings import boolean, integer
from ucd_envs.structs import array_at, fields, record
from ucd_planners.search.interface import LEARN, SUGGEST, PlayoutPolicy, probability
from ucd_planners.search.sim import payoffs, trace

MEMORY = record(("players", np.int64), ("actions", np.int64), ("length", np.int64), ("forgetting", np.int64))
"""Header of the memory. Behind it lie the replies to one move and, with length = 2, those to two moves."""
MEMORY_BYTES = np.uint64(MEMORY.itemsize)
REPLY = np.dtype(np.uint16)
MOST_BYTES = 2**30
"""Largest memory for replies to two moves."""
U1 = np.uint64(1)


@kernel(inline=True)
def replies_of(memory, m):
    """[players, actions] uint16: the reply of a player to an action, as action + 1, or 0."""
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES, (m.players, m.actions), REPLY)


@kernel(inline=True)
def replies_to_two_of(memory, m):
    """[players, actions, actions] uint16: the reply of a player to two actions, the earlier one first; no rows for length 1."""
    ones = np.uint64(m.players * m.actions) << U1
    players = m.players if m.length > 1 else 0
    return array_at(np.uint64(memory.ctypes.data) + MEMORY_BYTES + ones, (players, m.actions, m.actions), REPLY)


@kernel(SUGGEST)
def suggest(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """Returns the reply to the last two moves if it is playable, else the reply to the last move if playable, else -1."""
    length = sim.traced.length
    m = fields(memory, MEMORY)
    if length == 0:
        return np.int64(-1)
    moves, player = trace(sim), np.uint64(fields(state, HEADER).player)
    last = np.uint64(action_of_move(moves[length - 1]))
    if m.length > 1 and length > 1:
        reply = np.int64(replies_to_two_of(memory, m)[player, np.uint64(action_of_move(moves[length - 2])), last]) - 1
        if reply >= 0 and is_playable(config, state, reply):
            return reply
    reply = np.int64(replies_of(memory, m)[player, last]) - 1
    if reply >= 0 and is_playable(config, state, reply):
        return reply
    return np.int64(-1)


@kernel(LEARN)
def learn(sim, memory):
    """Stores the replies of winners, and with `forgetting` deletes those of losers."""
    m = fields(memory, MEMORY)
    moves, replies, replies_to_two = trace(sim), replies_of(memory, m), replies_to_two_of(memory, m)
    for i in range(np.int64(1), sim.traced.length):
        player, action = np.uint64(player_of_move(moves[i])), action_of_move(moves[i])
        last, paid = np.uint64(action_of_move(moves[i - 1])), payoffs(sim)[player]
        if paid == 0.5 or (paid < 0.5 and not m.forgetting):
            continue
        replies[player, last] = changed(replies[player, last], action, paid)
        if m.length > 1 and i > 1:
            before = np.uint64(action_of_move(moves[i - 2]))
            replies_to_two[player, before, last] = changed(replies_to_two[player, before, last], action, paid)
    return np.bool_(True)


@kernel()
def changed(reply, action, paid):
    """Returns the new stored reply, action + 1 or 0, after `action` was played and paid."""
    if paid > 0.5:
        return np.uint16(action + 1)
    return np.uint16(0) if reply == action + 1 else np.uint16(reply)


@dataclass(frozen=True)
class LastGoodReply(PlayoutPolicy):
    """Last good reply.

    prob: probability of asking the policy for a move, 0 to 1; length: longest context of a reply in moves, 1 or 2;
    forgetting: whether replies that lose are deleted. The defaults are LGRF-2 [Baier and Drake 2010]. Raises TypeError or
    ValueError for anything else.
    """

    prob: float = 1.0
    length: int = 2
    forgetting: bool = True
    suggest, learn = suggest, learn

    def __post_init__(self) -> None:
        probability("prob", self.prob)
        integer("length", self.length, 1, 2)
        boolean("forgetting", self.forgetting)

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns memory without replies. Raises ValueError if replies to two moves need more than MOST_BYTES."""
        contexts = rules.actions + (rules.actions**2 if self.length > 1 else 0)
        size = REPLY.itemsize * rules.players * contexts
        if size > MOST_BYTES:
            raise ValueError(f"replies to two moves need {size} bytes in {rules}, more than {MOST_BYTES}: length must be 1")
        memory = np.zeros(MEMORY.itemsize + size, np.uint8)
        m = fields(memory, MEMORY)
        m.players, m.actions, m.length, m.forgetting = rules.players, rules.actions, self.length, bool(self.forgetting)
        return memory

    def begin(self, memory: np.ndarray, goes_on: bool) -> None:
        """Forgets all replies unless the same game goes on."""
        if not goes_on:
            memory[MEMORY.itemsize :] = 0
