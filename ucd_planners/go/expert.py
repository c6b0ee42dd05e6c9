"""An expert's Go playouts: each move follows the first rule that applies, as in MoGo and Fuego.

Sources: Gelly, Wang, Munos and Teytaud 2006, section 3.2; Enzenberger and Mueller 2009. The rules in their order:

    captures          takes the chain of the last move, if it is in atari
    escapes           saves an own chain in atari beside the last move: by a stone on its liberty that leaves it two liberties
                      or takes something, or by taking a chain in atari that touches it
    patterns          plays the middle of a pattern of patterns.py on the eight points around the last move
    global_captures   takes a chain in atari anywhere

Moves of one kind have equal probabilities. If no rule applies, the move is left to the next policy. After a pass and at the
start of a game only the last rule applies. Every suggestion is a move of the game's random policy, so no true eye is filled.
Patterns refuse self-atari of more than a single stone: moves that take nothing and leave a chain with one liberty.

Chains count pairs of a stone and an empty neighbour: one in atari has all its pairs at one point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ucd_envs.boards.chains import EMPTY, ROOM, U0, U1, UP
from ucd_envs.games.go import CONFIG, STATE, sensible
from ucd_envs.kernels import action_of_move, kernel
from ucd_envs.rng import below
from ucd_envs.rules import Rules
from ucd_envs.settings import boolean
from ucd_envs.structs import fields, record
from ucd_planners.go import patterns
from ucd_planners.go.patterns import CODES, check_game, code, is_set
from ucd_planners.search.interface import SUGGEST, PlayoutPolicy, probability
from ucd_planners.search.sim import action_list, trace

PARTS = ("captures", "escapes", "patterns", "global_captures", "refuses_self_atari")
MEMORY = record(*((part, np.uint8) for part in PARTS), ("shapes", np.uint8, (CODES // 8,)))
"""Memory of the policy: the parts that are on, and the table of patterns."""
ALONE = np.uint64(4) * ROOM
"""`around` of a point with four empty neighbours, which is no middle of a pattern."""
BLOCK = np.uint64(32)
"""Points that are compared together. The last block may go beyond the board, not beyond the arrays."""


@kernel(SUGGEST)
def suggest(playout_actions, is_playable, config, state, graph, sim, memory, rng):
    """Returns a move by the first rule that applies, or -1."""
    length = sim.traced.length
    b, s, m = fields(config, CONFIG), fields(state, STATE), fields(memory, MEMORY)
    found, moves = action_list(sim), trace(sim)
    last = action_of_move(moves[length - 1]) if length > 0 else np.int64(b.rows * b.columns)
    n = U0
    if last != b.rows * b.columns:
        p = np.uint64(b.point[np.uint64(last)])
        if m.captures:
            n = captures_at(b, s, state, p, found)
        if n == U0 and m.escapes:
            n = escapes_beside(b, s, state, p, found)
        if n == U0 and m.patterns:
            n = patterns_around(b, s, state, m, p, found)
    if n == U0 and m.global_captures:
        n = captures_anywhere(b, s, state, found)
    if n == U0:
        return np.int64(-1)
    return np.int64(b.action[np.uint64(found[below(rng, n) if n > U1 else U0])])


@kernel()
def captures_at(b, s, state, p, found):
    """Lists the move that takes the enemy chain of a point, if that is in atari; returns the number of moves."""
    if not is_thin(s, np.uint8(2 - s.player), p):
        return U0
    return listed(b, s, state, last_liberty(s, np.uint64(s.chain[p])), found, U0)


@kernel()
def escapes_beside(b, s, state, p, found):
    """Lists the moves that save own chains in atari beside a point; returns their number."""
    n, own = U0, np.uint8(s.player + 1)
    if not (is_thin(s, own, p + U1) | is_thin(s, own, p - U1) | is_thin(s, own, p + UP) | is_thin(s, own, p - UP)):
        return n
    for q in (p + U1, p - U1, p + UP, p - UP):
        if is_thin(s, own, q):
            chain = np.uint64(s.chain[q])
            liberty = last_liberty(s, chain)
            if liberty != U0:
                if in_atari(s, liberty, s.player) == U0:
                    n = listed(b, s, state, liberty, found, n)
                n = captures_beside(b, s, state, chain, found, n)
    return n


@kernel()
def captures_beside(b, s, state, chain, found, n):
    """Adds to n listed moves those that take a chain in atari beside an own chain; returns the new number."""
    enemy, stone = np.uint8(2 - s.player), chain
    while True:
        for q in (stone + U1, stone - U1, stone + UP, stone - UP):
            if is_thin(s, enemy, q):
                n = listed(b, s, state, last_liberty(s, np.uint64(s.chain[q])), found, n)
        stone = np.uint64(s.next[stone])
        if stone == chain:
            return n


@kernel()
def patterns_around(b, s, state, m, p, found):
    """Lists the middles of patterns on the eight points around a point; returns their number."""
    empty, shaped, n = U0, U0, U0
    for q in (p + U1, p - U1, p + UP, p - UP, p + UP + U1, p + UP - U1, p - UP + U1, p - UP - U1):
        found[empty] = q
        empty += np.uint64((s.colour[q] == EMPTY) & (s.around[q] < ALONE))
    for i in range(empty):
        q = np.uint64(found[i])
        found[shaped] = q
        shaped += np.uint64(is_set(m.shapes, code(s, q, s.player)))
    for i in range(shaped):
        q = np.uint64(found[i])
        if not m.refuses_self_atari or in_atari(s, q, s.player) <= U1:
            n = listed(b, s, state, q, found, n)
    return n


@kernel()
def captures_anywhere(b, s, state, found):
    """Lists the moves that take enemy chains in atari; returns their number."""
    start, end = np.uint64(b.point[U0]), np.uint64(b.point[np.uint64(b.rows * b.columns - 1)])
    n, enemy = U0, np.uint8(2 - s.player)
    while start <= end:
        if any_named(s, enemy, start):
            for p in range(start, start + BLOCK):
                if is_named(s, enemy, p):
                    n = listed(b, s, state, last_liberty(s, p), found, n)
        start += BLOCK
    return n


@kernel()
def any_named(s, colour, start):
    """Whether any point of a block names a chain that may be in atari. LLVM compares many at once."""
    named = np.uint16(0)
    for p in range(start, start + BLOCK):
        named |= np.uint16(is_named(s, colour, p))
    return named != 0


@kernel()
def is_named(s, colour, p):
    """Whether a point names a chain of a colour that may be in atari."""
    return (s.colour[p] == colour) & (s.chain[p] == np.uint16(p)) & has_few_pairs(s, p)


@kernel()
def is_thin(s, colour, p):
    """Whether a point has a stone of a colour whose chain may be in atari."""
    return (s.colour[p] == colour) & has_few_pairs(s, np.uint64(s.chain[p]))


@kernel()
def has_few_pairs(s, chain):
    """Whether a chain has few enough pairs to be in atari: two at one point need three stones, three five, four seven."""
    pairs = s.liberties[chain]
    return (pairs <= np.uint16(4)) & (np.uint16(pairs + pairs) <= np.uint16(s.length[chain] + np.uint16(1)))


@kernel()
def listed(b, s, state, p, found, n):
    """Adds a point to n listed ones if it is new and the random policy may play it; returns the new number. 0 adds nothing."""
    if p == U0 or not sensible(b, s, state, p, s.player):
        return n
    for i in range(n):
        if found[i] == p:
            return n
    found[n] = p
    return n + U1


@kernel()
def pairs_at(s, p, chain):
    """Returns the number of a point's neighbours that are stones of a chain."""
    e, w, d, u = s.chain[p + U1], s.chain[p - U1], s.chain[p - UP], s.chain[p + UP]
    return np.uint64(e == chain) + np.uint64(w == chain) + np.uint64(d == chain) + np.uint64(u == chain)


@kernel()
def last_liberty(s, chain):
    """Returns the liberty of a chain in atari, 0 for a chain with more. Needs a chain with few pairs."""
    stone = chain
    while s.around[stone] < ROOM:
        stone = np.uint64(s.next[stone])
    p = empty_beside(s, stone)
    return p if pairs_at(s, p, chain) == s.liberties[chain] else U0


@kernel()
def empty_beside(s, stone):
    """Returns an empty point beside a stone. Needs one."""
    if s.colour[stone + U1] == EMPTY:
        return stone + U1
    if s.colour[stone - U1] == EMPTY:
        return stone - U1
    return stone + UP if s.colour[stone + UP] == EMPTY else stone - UP


@kernel()
def takes(s, p, player):
    """Whether a stone on an empty point takes an enemy chain."""
    enemy = np.uint8(2 - player)
    for q in (p + U1, p - U1, p + UP, p - UP):
        if s.colour[q] == enemy:
            chain = np.uint64(s.chain[q])
            if s.liberties[chain] == pairs_at(s, p, chain):
                return True
    return False


@kernel()
def in_atari(s, p, player):
    """Returns 0 if a stone on an empty point takes something or gets two liberties, else 1 if alone, more for a chain."""
    if s.around[p] >= ROOM << U1 or takes(s, p, player):
        return U0
    own, stones, only = np.uint8(player + 1), U1, U0
    for q in (p + U1, p - U1, p + UP, p - UP):
        if s.colour[q] == EMPTY:
            only = q
    for q in (p + U1, p - U1, p + UP, p - UP):
        if s.colour[q] == own:
            only = common_liberty(s, np.uint64(s.chain[q]), p, only)
            if only == p:
                return U0
            stones += U1
    return stones


@kernel()
def common_liberty(s, chain, p, only):
    """Returns the only point among a chain's liberties without p, and `only` unless that is 0; 0 for none, p for several."""
    pairs = np.uint64(s.liberties[chain]) - pairs_at(s, p, chain)
    if pairs > np.uint64(4):
        return p
    stone = chain
    while pairs > U0:
        if s.around[stone] >= ROOM:
            for q in (stone + U1, stone - U1, stone + UP, stone - UP):
                if s.colour[q] == EMPTY and q != p:
                    if only != U0 and only != q:
                        return p
                    only = q
                    pairs -= U1
        stone = np.uint64(s.next[stone])
    return only


@dataclass(frozen=True)
class GoExpert(PlayoutPolicy):
    """Captures, escapes and patterns near the last move, then captures anywhere.

    prob: probability of asking the policy for a move, 0 to 1; captures, escapes, patterns, global_captures: whether the rule
    is on; refuses_self_atari: whether patterns refuse to leave chains in atari. Raises TypeError or ValueError for anything
    else.
    """

    prob: float = 1.0
    captures: bool = True
    escapes: bool = True
    patterns: bool = True
    global_captures: bool = True
    refuses_self_atari: bool = True
    suggest = suggest

    def __post_init__(self) -> None:
        probability("prob", self.prob)
        for part in PARTS:
            boolean(part, getattr(self, part))

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns memory with the parts that are on and the patterns. Raises ValueError for another game than Go."""
        check_game("go_expert", rules)
        memory = np.zeros(MEMORY.itemsize, np.uint8)
        m = fields(memory, MEMORY)
        for part in PARTS:
            m[part] = getattr(self, part)
        m.shapes = patterns.table()
        return memory
