"""Initial statistics of Go: virtual playouts of untried moves by an expert's features [Gelly and Silver 2007, section 6].

Each move begins with `even` playouts, half of them won. Each feature that it has adds others:

    captures      won     it takes a chain
    escapes       won     it saves an own chain in atari as in go_expert.py, whether near the last move or not
    patterns      won     it is the middle of a pattern of patterns.py
    near          won     it is on the eight points around the last move; half as many on the sixteen around these, and half of
                          both around the move before the last
    self_ataris   lost    it takes nothing and leaves a chain of two stones or more in atari
    eyes          lost    the random policy would not play it: it fills a true eye, or passes while there is something to play
    edges         lost    it is on the first line with no stone around; half as many on the second
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ucd_envs.boards.chains import EMPTY, U0, U1, UP
from ucd_envs.games.go import CONFIG, STATE, sensible
from ucd_envs.kernels import action_of_move, kernel
from ucd_envs.rules import Rules
from ucd_envs.settings import real
from ucd_envs.structs import fields, record
from ucd_planners.go import patterns
from ucd_planners.go.expert import in_atari, is_thin, last_liberty, pairs_at, takes
from ucd_planners.go.patterns import CODES, apart, check_game, code, is_set
from ucd_planners.search.interface import INITIAL, Initial
from ucd_planners.search.sim import trace

STRENGTHS = ("even", "captures", "escapes", "patterns", "near", "self_ataris", "eyes", "edges")
MEMORY = record(*((name, np.float32) for name in STRENGTHS), ("shapes", np.uint8, (CODES // 8,)))
"""Parameters of the kernel: the playouts that each feature adds, and the table of patterns."""
MOST = 1e6
NOTHING, HALF, ONE = np.float32(0), np.float32(0.5), np.float32(1)
STONES = np.uint64(0x5555)
"""Lower bits of the pairs of a code. A pair of different bits is a stone."""


@kernel(INITIAL)
def initial(config, state, sim, memory, actions, values):
    """Writes the virtual playouts of each action, and those of them that are won."""
    b, s, m = fields(config, CONFIG), fields(state, STATE), fields(memory, MEMORY)
    cells, columns = np.int64(b.rows * b.columns), np.int64(b.columns)
    last, before = move_at(sim, sim.traced.length - 1, cells), move_at(sim, sim.traced.length - 2, cells)
    must_pass = True
    for i in range(actions.size):
        action, won, lost = np.int64(actions[i]), NOTHING, NOTHING
        if action == cells:
            lost += NOTHING if must_pass else m.eyes
        else:
            p = np.uint64(b.point[np.uint64(action)])
            around = code(s, p, s.player)
            if sensible(b, s, state, p, s.player):
                must_pass = False
            else:
                lost += m.eyes
            if takes(s, p, s.player):
                won += m.captures
            if saves(s, p, s.player):
                won += m.escapes
            if is_set(m.shapes, around):
                won += m.patterns
            if in_atari(s, p, s.player) > U1:
                lost += m.self_ataris
            if (around ^ around >> U1) & STONES == U0:
                lost += m.edges * by_line(b, action)
            won += m.near * (by_distance(action, last, columns) + HALF * by_distance(action, before, columns))
        values[i, 0] = m.even + won + lost
        values[i, 1] = HALF * m.even + won


@kernel()
def move_at(sim, place, cells):
    """Returns the cell of a simulation's move as an action, -1 for no move or a pass."""
    if place < 0:
        return np.int64(-1)
    action = action_of_move(trace(sim)[place])
    return action if action < cells else np.int64(-1)


@kernel()
def by_distance(action, other, columns):
    """Returns 1 within one step of a point, 1/2 at two steps, else 0."""
    if other < 0:
        return NOTHING
    steps = max(apart(action, other, columns))
    return ONE if steps < 2 else HALF if steps == 2 else NOTHING


@kernel()
def by_line(b, action):
    """Returns 1 on the first line, 1/2 on the second, else 0."""
    row, column = np.int64(action // b.columns), np.int64(action % b.columns)
    line = min(row, np.int64(b.rows) - 1 - row, column, np.int64(b.columns) - 1 - column)
    return ONE if line == 0 else HALF if line == 1 else NOTHING


@kernel()
def saves(s, p, player):
    """Whether a stone on an empty point saves an own chain in atari, by two liberties or by taking something."""
    if in_atari(s, p, player) != U0:
        return False
    own, enemy = np.uint8(player + 1), np.uint8(2 - player)
    for q in (p + U1, p - U1, p + UP, p - UP):
        chain = np.uint64(s.chain[q])
        loses_all = s.colour[q] != EMPTY and s.liberties[chain] == pairs_at(s, p, chain)
        if loses_all and (s.colour[q] == own or (s.colour[q] == enemy and touches_atari(s, chain, own))):
            return True
    return False


@kernel()
def touches_atari(s, chain, colour):
    """Whether a chain touches a chain of a colour in atari."""
    stone = chain
    while True:
        for q in (stone + U1, stone - U1, stone + UP, stone - UP):
            if is_thin(s, colour, q) and last_liberty(s, np.uint64(s.chain[q])) != U0:
                return True
        stone = np.uint64(s.next[stone])
        if stone == chain:
            return False


@dataclass(frozen=True)
class GoInitial(Initial):
    """Virtual playouts by the features of a move of Go.

    Each parameter is the number of playouts that a feature adds, 0 to 1e6; 0 turns it off. Raises TypeError or ValueError for
    anything else.
    """

    even: float = 8.0
    captures: float = 16.0
    escapes: float = 16.0
    patterns: float = 8.0
    near: float = 8.0
    self_ataris: float = 16.0
    eyes: float = 64.0
    edges: float = 8.0
    kernel = initial

    def __post_init__(self) -> None:
        for name in STRENGTHS:
            if not 0 <= real(name, getattr(self, name)) <= MOST:
                raise ValueError(f"{name} must be a number from 0 to {MOST:g}, not {getattr(self, name)!r}")

    def memory(self, rules: Rules) -> np.ndarray:
        """Returns the parameters and the patterns. Raises ValueError for another game than Go."""
        check_game("go_initial", rules)
        memory = np.zeros(MEMORY.itemsize, np.uint8)
        m = fields(memory, MEMORY)
        for name in STRENGTHS:
            m[name] = getattr(self, name)
        m.shapes = patterns.table()
        return memory
