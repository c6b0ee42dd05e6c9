"""The commands of GTP 2 and those that Leela Zero added for analysis.

Each is a function of session, words and reply, which returns the text of a good answer or raises GTPError.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import ucd_envs
from ucd_envs import pictures
from ucd_planners.gtp.analysis import StoppedError, Unit, Watch, Wish, leela
from ucd_planners.gtp.board import Board, result
from ucd_planners.gtp.clock import Clock, Control
from ucd_planners.gtp.protocol import (
    COLOURS,
    RESIGN,
    GTPError,
    Reply,
    colour_named,
    exactly,
    real_from,
    seconds_from,
    whole_from,
)
from ucd_planners.gtp.session import UNTIL_STOPPED, Session

MOST_STONES = 9
"""Largest handicap on the points of the standard."""
Words = list[str]


def everywhere(board: Board) -> bool:
    """Returns whether a command for all games serves a board."""
    return True


def with_handicap(board: Board) -> bool:
    """Returns whether the game of a board has handicaps."""
    return "handicap" in board.settable


class Command(NamedTuple):
    """A command and the games that it serves."""

    run: Callable[[Session, Words, Reply], str]
    serves: Callable[[Board], bool] = everywhere


def protocol_version(session: Session, words: Words, reply: Reply) -> str:
    """Returns the version of the protocol."""
    return "2"


def name(session: Session, words: Words, reply: Reply) -> str:
    """Returns the name of the engine."""
    return session.name


def version(session: Session, words: Words, reply: Reply) -> str:
    """Returns the version of the engine."""
    return ucd_envs.__version__


def known_command(session: Session, words: Words, reply: Reply) -> str:
    """Returns whether there is a command: `name`."""
    (word,) = exactly(1, words)
    return "true" if word in session.names else "false"


def list_commands(session: Session, words: Words, reply: Reply) -> str:
    """Returns the names of all commands, one a line."""
    return "\n".join(session.names)


def leave(session: Session, words: Words, reply: Reply) -> str:
    """Ends the session."""
    session.left = True
    return ""


def boardsize(session: Session, words: Words, reply: Reply) -> str:
    """Clears a board of another size: `columns [rows]`."""
    sides = [whole_from(word) for word in words]
    if len(sides) not in (1, 2):
        raise GTPError("syntax error")
    session.board.resize(sides[0], sides[-1])
    session.restart_clocks()
    return ""


def clear_board(session: Session, words: Words, reply: Reply) -> str:
    """Begins a new game."""
    session.board.clear()
    session.restart_clocks()
    return ""


def komi(session: Session, words: Words, reply: Reply) -> str:
    """Sets komi."""
    (word,) = exactly(1, words)
    wanted = real_from(word)
    if "komi" in session.board.settable:
        session.board.change("unacceptable komi", komi=wanted)
    return ""


def play(session: Session, words: Words, reply: Reply) -> str:
    """Plays a move: `colour vertex`."""
    colour, vertex = exactly(2, words)
    player = colour_named(colour)
    if vertex.lower() != RESIGN:
        session.board.push(player, session.board.action_named(vertex))
    return ""


def genmove(session: Session, words: Words, reply: Reply) -> str:
    """Chooses a move for a colour and plays it."""
    (colour,) = exactly(1, words)
    return session.moved(colour_named(colour))


def reg_genmove(session: Session, words: Words, reply: Reply) -> str:
    """Chooses a move for a colour, and leaves board and clock as they are."""
    (colour,) = exactly(1, words)
    action = session.choice(colour_named(colour), timed=False)
    return RESIGN if action is None else session.board.state.action_name(action)


def undo(session: Session, words: Words, reply: Reply) -> str:
    """Takes a move back."""
    session.board.undo()
    return ""


def showboard(session: Session, words: Words, reply: Reply) -> str:
    """Returns a drawing of the board."""
    return "\n" + pictures.text(session.board.state)


def final_score(session: Session, words: Words, reply: Reply) -> str:
    """Returns the result, all stones being alive."""
    try:
        return result(session.board.state)
    except ValueError:
        raise GTPError("cannot score") from None


def time_settings(session: Session, words: Words, reply: Reply) -> str:
    """Sets the time control: `main_time byo_yomi_time byo_yomi_stones`."""
    main, byo_yomi, stones = exactly(3, words)
    session.control(Control(seconds_from(main), seconds_from(byo_yomi), whole_from(stones)))
    return ""


def time_left(session: Session, words: Words, reply: Reply) -> str:
    """Corrects the clock of a colour: `colour seconds stones`."""
    colour, seconds, stones = exactly(3, words)
    player, left, moves = colour_named(colour), real_from(seconds), whole_from(stones)
    if session.clocks is None:
        session.clocks = [Clock(Control(seconds_from(seconds), 0, 0)) for _ in COLOURS]
    session.clocks[player].set(left, moves)
    return ""


def fixed_handicap(session: Session, words: Words, reply: Reply) -> str:
    """Places handicap stones on the points of the standard, and returns these."""
    (word,) = exactly(1, words)
    session.board.set_up("invalid number of stones", handicap=_stones(session, word))
    return str(session.board.rules.settings["black"])


def place_free_handicap(session: Session, words: Words, reply: Reply) -> str:
    """Places handicap stones, fewer where the standard has fewer points, and returns their points."""
    (word,) = exactly(1, words)
    for stones in range(min(_stones(session, word), MOST_STONES), 1, -1):
        with suppress(GTPError):
            session.board.set_up("invalid number of stones", handicap=stones)
            return str(session.board.rules.settings["black"])
    raise GTPError("invalid number of stones")


def set_free_handicap(session: Session, words: Words, reply: Reply) -> str:
    """Places handicap stones on the given points."""
    _stones(session, str(len(words)))
    actions = [session.board.action_named(word) for word in words]
    if session.board.passing() in actions or len(set(actions)) < len(actions):
        raise GTPError("bad vertex list")
    vertices = " ".join(session.board.state.action_name(action) for action in actions)
    session.board.set_up("bad vertex list", black=vertices, first="white")
    return ""


def _stones(session: Session, word: str) -> int:
    """Reads a number of handicap stones, which needs an empty board."""
    stones = whole_from(word)
    if not session.board.bare:
        raise GTPError("board not empty")
    if stones < 2:
        raise GTPError("invalid number of stones")
    return stones


def loadsgf(session: Session, words: Words, reply: Reply) -> str:
    """Loads the position before a numbered move, or at the end: `file [number]`."""
    number = whole_from(words[1]) if len(words) > 1 else None
    if number == 0:
        raise GTPError("syntax error")
    session.board.load(exactly(1, words)[0], None if number is None else number - 1)
    session.restart_clocks()
    return ""


def analysis_in(unit: Unit) -> Callable[[Session, Words, Reply], str]:
    """Returns the command that tells of a search until the next line arrives, in a format."""

    def analyze(session: Session, words: Words, reply: Reply) -> str:
        player, wish = watched(session, words, unit)
        if not session.board.state.over:
            with suppress(StoppedError):
                session.search(player, UNTIL_STOPPED, Watch(session.planner, wish, reply.tell, session.waiting))
        return ""

    return analyze


def told_move_in(unit: Unit) -> Callable[[Session, Words, Reply], str]:
    """Returns the command that chooses a move, plays it, and tells of the search, in a format."""

    def genmove_analyze(session: Session, words: Words, reply: Reply) -> str:
        player, wish = watched(session, words, unit)
        reply.tell(f"play {session.moved(player, Watch(session.planner, wish, reply.tell))}")
        return ""

    return genmove_analyze


def watched(session: Session, words: Words, unit: Unit) -> tuple[int, Wish]:
    """Returns the player and the lines that an analysis is wanted for: `[colour] [centiseconds] {key value}`.

    Of the pairs `interval` and `maxmoves` are obeyed. Others, such as `ownership true`, ask for what is not known here.
    """
    rest = list(words)
    player = max(session.board.state.player, 0)
    if rest and not rest[0].isdecimal() and rest[0] not in KEYS:
        player = colour_named(rest.pop(0))
    found = {"interval": 100}
    if rest and rest[0] not in KEYS:
        found["interval"] = whole_from(rest.pop(0))
    for key, value in zip(rest[::2], [*rest[1::2], ""], strict=False):
        if key in ("interval", "maxmoves") and value:
            found[key] = max(whole_from(value), key == "maxmoves")
    return player, Wish(found["interval"] / 100, unit, found.get("maxmoves"))


KEYS = frozenset(
    ("interval", "minmoves", "maxmoves", "allow", "avoid", "ownership", "ownershipStdev", "movesOwnership", "pvVisits")
) | {"pvEdgeVisits", "rootInfo"}
"""Names of the pairs that controllers send to an analysis."""

COMMANDS = {
    "protocol_version": Command(protocol_version),
    "name": Command(name),
    "version": Command(version),
    "known_command": Command(known_command),
    "list_commands": Command(list_commands),
    "quit": Command(leave),
    "boardsize": Command(boardsize),
    "clear_board": Command(clear_board),
    "komi": Command(komi),
    "fixed_handicap": Command(fixed_handicap, with_handicap),
    "place_free_handicap": Command(place_free_handicap, with_handicap),
    "set_free_handicap": Command(set_free_handicap, with_handicap),
    "play": Command(play),
    "genmove": Command(genmove),
    "reg_genmove": Command(reg_genmove),
    "undo": Command(undo),
    "time_settings": Command(time_settings),
    "time_left": Command(time_left),
    "final_score": Command(final_score),
    "showboard": Command(showboard),
    "loadsgf": Command(loadsgf),
    "lz-analyze": Command(analysis_in(leela)),
    "lz-genmove_analyze": Command(told_move_in(leela)),
}
"""The commands by name."""
