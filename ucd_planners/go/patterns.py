"""Patterns of MoGo: three by three points whose middle is worth a move.

Source: Gelly, Wang, Munos and Teytaud 2006, "Modification of UCT with Patterns in Monte-Carlo Go", figures 2 to 5. A pattern is
a diagram with the move in its middle. It holds in all eight symmetries and for either player to move, with the colours swapped.
With `x_moves` it holds only if the player with the diagram's x is to move.

    x  o   a stone of one colour, of the other        .   an empty point
    X  O   a stone of that colour or an empty point   ?   any point of the board
                                                      -   outside the board

The table has a bit for each of the 4^8 surroundings of a point as the mover sees them; `code` numbers them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from ucd_envs.boards.chains import U1, U2, U4, U8, UP
from ucd_envs.kernels import kernel
from ucd_envs.rules import Rules

FREE, OWN, ENEMY, OUTSIDE = 0, 1, 2, 3
"""Values of two bits of a code."""
CODES = 4**8
MEANINGS = {
    "x": (OWN,),
    "o": (ENEMY,),
    "X": (OWN, FREE),
    "O": (ENEMY, FREE),
    ".": (FREE,),
    "?": (FREE, OWN, ENEMY),
    "-": (OUTSIDE,),
}
SWAPPED = {FREE: FREE, OWN: ENEMY, ENEMY: OWN, OUTSIDE: OUTSIDE}


@dataclass(frozen=True)
class Pattern:
    """A diagram with its lines from the top, and a name for its move.

    but: diagrams in the same orientation that must not hold at the same time; x_moves: whether only x may make the move.
    """

    name: str
    diagram: str
    but: tuple[str, ...] = ()
    x_moves: bool = False


PATTERNS = (
    Pattern("hane between two stones", "xox ... ???"),
    Pattern("hane that cuts nothing", "xo. ... ?.?"),
    Pattern("hane round a corner", "xo? x.. ?.?"),
    Pattern("hane at a stone that is held on one side", "oox ... ?.?", x_moves=True),
    Pattern("cut of a diagonal, where it is not caught at once", "xo? o.? ???", but=("??? ?.o ?.?", "??? ?.. ?o?")),
    Pattern("push between two stones that are not joined below", "?x? o.o XXX"),
    Pattern("on the side, chase beneath a stone", "x.? o.? ---"),
    Pattern("on the side, stop a stone or join one", "?x? O.o ---"),
    Pattern("on the side, come down from one's stone", "?xo ?.? ---", x_moves=True),
    Pattern("on the side, go beneath a stone from one's own", "?ox ?.X ---", x_moves=True),
    Pattern("on the side, cut beneath a stone", "?ox x.o ---", x_moves=True),
)
"""`x_moves` is as in the paper."""


def points(diagram: str) -> tuple[str, ...]:
    """Returns the eight signs around the middle, line by line."""
    signs = diagram.replace(" ", "")
    return (*signs[:4], *signs[5:])


def turned(signs: tuple[str, ...], symmetry: int) -> tuple[str, ...]:
    """Returns the signs after a symmetry, 0 to 7: the lower two bits are quarter turns, the upper one mirrors."""
    a, b, c, d, e, f, g, h = signs
    if symmetry & 4:
        a, b, c, d, e, f, g, h = c, b, a, e, d, h, g, f
    for _ in range(symmetry & 3):
        a, b, c, d, e, f, g, h = f, d, a, g, b, h, e, c
    return (a, b, c, d, e, f, g, h)


def codes_of(signs: tuple[str, ...], swap: bool) -> Iterator[int]:
    """Yields the codes that match a diagram, with x as the mover, or with `swap` as the opponent."""
    for found in product(*(MEANINGS[sign] for sign in signs)):
        yield sum((SWAPPED[colour] if swap else colour) << 2 * place for place, colour in enumerate(found))


def codes(pattern: Pattern) -> set[int]:
    """Returns the codes that match a pattern."""
    found: set[int] = set()
    for symmetry in range(8):
        for swap in (False,) if pattern.x_moves else (False, True):
            wanted = set(codes_of(turned(points(pattern.diagram), symmetry), swap))
            for diagram in pattern.but:
                wanted -= set(codes_of(turned(points(diagram), symmetry), swap))
            found |= wanted
    return found


def is_go(rules: Rules) -> bool:
    """Whether a game is Go with its own kernels."""
    return rules.name == "go_v0" and rules.live is None


def check_game(name: str, rules: Rules) -> None:
    """Raises ValueError for another game than Go; name: the policy for the message."""
    if not is_go(rules):
        raise ValueError(f"{name} knows Go only, not {rules}")


@cache
def table() -> np.ndarray:
    """Returns a bit for each code, set if a pattern matches it: [CODES / 8] uint8, the lowest bits first."""
    bits = np.zeros(CODES, np.uint8)
    bits[sorted(set().union(*map(codes, PATTERNS)))] = 1
    return np.packbits(bits, bitorder="little")


@kernel()
def code(s, p, player):
    """Returns the number of a point's surroundings as a player sees them, below CODES."""
    word = np.uint64(two_bits(s.colour[p + UP - U1]))
    word |= two_bits(s.colour[p + UP]) << U2
    word |= two_bits(s.colour[p + UP + U1]) << U4
    word |= two_bits(s.colour[p - U1]) << np.uint64(6)
    word |= two_bits(s.colour[p + U1]) << U8
    word |= two_bits(s.colour[p - UP - U1]) << np.uint64(10)
    word |= two_bits(s.colour[p - UP]) << np.uint64(12)
    word |= two_bits(s.colour[p - UP + U1]) << np.uint64(14)
    low = np.uint64(0x5555)
    return word if player == 0 else (word & low) << U1 | (word >> U1) & low


@kernel()
def two_bits(colour):
    """Returns a colour in two bits: the border, 4, becomes 3."""
    return np.uint64(colour) - (np.uint64(colour) >> U2)


@kernel()
def is_set(shapes, place):
    """Whether the table has the bit of a code."""
    return (shapes[place >> np.uint64(3)] >> (place & np.uint64(7))) & 1 != 0


@kernel()
def apart(action, other, columns):
    """Returns the distance of two cells in rows and in columns."""
    return abs(action // columns - other // columns), abs(action % columns - other % columns)
