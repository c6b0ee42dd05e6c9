"""Commands that other programs ask for: those of KGS, KataGo, GoGui and GNU Go.

kata-set-rules takes the names or the JSON of KataGo. Our Go counts area: territory, taxes and the button are refused. White's
bonus for handicap stones belongs to komi here, so that of a name is left out, and one in JSON is refused.
"""

from __future__ import annotations

import json
import time
from typing import Any

from ucd_envs import pictures
from ucd_planners.gtp.analysis import katago
from ucd_planners.gtp.board import Board
from ucd_planners.gtp.clock import Control
from ucd_planners.gtp.commands import Command, Words, analysis_in, told_move_in
from ucd_planners.gtp.protocol import GTPError, Reply, colour_named, exactly, seconds_from, whole_from
from ucd_planners.gtp.session import Session

STATUSES = ("alive", "seki", "dead")
AREA: dict[str, Any] = {"hasButton": False, "scoring": "AREA", "tax": "NONE", "whiteHandicapBonus": "0"}
"""Rules of KataGo that are always so here."""
RULES = {
    "tromp-taylor": ("positional", True),
    "chinese": ("simple", False),
    "chinese-ogs": ("positional", False),
    "chinese-kgs": ("positional", False),
    "aga": ("situational", False),
    "bga": ("situational", False),
    "new-zealand": ("situational", True),
}
"""Ko rule and suicide by KataGo's names of rules that count area."""
ANALYSES = (
    ("string", "Final score", "final_score"),
    ("plist", "Living stones", "final_status_list alive"),
    ("string", "Rules", "kata-get-rules"),
    ("string", "Komi", "get_komi"),
    ("string", "Chosen move", "reg_genmove %c"),
    ("hstring", "Board", "showboard"),
    ("string", "CPU time", "cputime"),
)
"""Commands in GoGui's menu: type of the answer, label, command."""


def with_points(board: Board) -> bool:
    """Returns whether the game of a board is counted in points."""
    return board.rules.score is not None


def with_komi(board: Board) -> bool:
    """Returns whether the game of a board has komi."""
    return "komi" in board.settable


def with_ko(board: Board) -> bool:
    """Returns whether the game of a board has a choice of rules."""
    return {"ko", "suicide"} <= board.settable


def final_status_list(session: Session, words: Words, reply: Reply) -> str:
    """Returns the stones of a status, a chain a line: all are alive."""
    (status,) = exactly(1, words)
    if status not in STATUSES:
        raise GTPError("syntax error")
    return "\n".join(chains(session.board)) if status == "alive" else ""


def chains(board: Board) -> list[str]:
    """Returns the points of each chain of neighbouring stones of one colour."""
    stones, names = pictures.stones(board.state), board.rules.initial_state()
    rows, columns = stones.shape
    found, seen = [], set()
    for start in range(rows * columns):
        chain = [start] if stones.flat[start] and start not in seen else []
        seen |= set(chain)
        for point in chain:
            row, column = divmod(point, columns)
            for beside, across in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                neighbour = beside * columns + across
                on_board = 0 <= beside < rows and 0 <= across < columns
                if on_board and neighbour not in seen and stones[beside, across] == stones.flat[start]:
                    seen.add(neighbour)
                    chain.append(neighbour)
        if chain:
            found.append(" ".join(names.action_name(point) for point in chain))
    return found


def get_komi(session: Session, words: Words, reply: Reply) -> str:
    """Returns komi."""
    return f"{session.board.rules.settings['komi']:g}"


def get_rules(session: Session, words: Words, reply: Reply) -> str:
    """Returns the rules of the game in progress as KataGo's JSON."""
    settings = session.board.rules.settings
    rules = {**AREA, "ko": settings["ko"].upper(), "suicide": settings["suicide"]}
    return json.dumps(rules, sort_keys=True, separators=(",", ":"))


def set_rules(session: Session, words: Words, reply: Reply) -> str:
    """Changes ko rule and suicide, also for the game in progress: KataGo's JSON, or the name of rules."""
    exactly(1, words)
    text = " ".join(words)
    refusal = f"unsupported rules: {text[:200]}"
    named = RULES.get(text.lower().replace("_", "-"))
    wanted = _told_rules(text, refusal) if named is None else {"ko": named[0], "suicide": named[1]}
    session.board.change(refusal, **wanted)
    return ""


def _told_rules(text: str, refusal: str) -> dict[str, Any]:
    """Returns the settings of KataGo's JSON. Raises GTPError for rules that we do not have."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise GTPError(refusal)
    wanted: dict[str, Any] = {}
    for key, value in told.items():
        if key == "ko" and value in ("SIMPLE", "POSITIONAL", "SITUATIONAL"):
            wanted["ko"] = value.lower()
        elif key == "suicide" and isinstance(value, bool):
            wanted["suicide"] = value
        elif key not in AREA or value != AREA[key]:
            raise GTPError(refusal)
    return wanted


def kgs_time_settings(session: Session, words: Words, reply: Reply) -> str:
    """Sets the time control: none, absolute, or canadian or byoyomi with time and stones or periods."""
    (kind,), rest = exactly(1, words), words[1:]
    if kind == "none":
        session.control(None)
    elif kind == "absolute":
        session.control(Control(seconds_from(exactly(1, rest)[0]), 0, 0))
    elif kind in ("canadian", "byoyomi"):
        main, period, count = exactly(3, rest)
        stones, japanese = whole_from(count), kind == "byoyomi"
        if japanese:
            stones = min(stones, 1)
        times = seconds_from(main), seconds_from(period)
        session.control(Control(times[0], times[1] if stones else 0.0, stones, japanese))
    else:
        raise GTPError("syntax error")
    return ""


def genmove_cleanup(session: Session, words: Words, reply: Reply) -> str:
    """Chooses a move for a colour and plays it, also after both have passed: what stays on the board counts as alive."""
    (colour,) = exactly(1, words)
    return session.moved(colour_named(colour), cleanup=True)


def game_over(session: Session, words: Words, reply: Reply) -> str:
    """Takes note that the game on the server is over: nothing is left to do."""
    return ""


def analyze_commands(session: Session, words: Words, reply: Reply) -> str:
    """Returns the commands of GoGui's menu that the game has: `type/label/command` a line."""
    return "\n".join("/".join(entry) for entry in ANALYSES if entry[2].split()[0] in session.names)


def cputime(session: Session, words: Words, reply: Reply) -> str:
    """Returns the seconds of CPU time that this process has used."""
    return f"{time.process_time():.3f}"


EXTENSIONS = {
    "final_status_list": Command(final_status_list, with_points),
    "get_komi": Command(get_komi, with_komi),
    "kata-get-rules": Command(get_rules, with_ko),
    "kata-set-rules": Command(set_rules, with_ko),
    "kata-analyze": Command(analysis_in(katago)),
    "kata-genmove_analyze": Command(told_move_in(katago)),
    "kgs-time_settings": Command(kgs_time_settings),
    "kgs-genmove_cleanup": Command(genmove_cleanup, with_points),
    "kgs-game_over": Command(game_over),
    "gogui-analyze_commands": Command(analyze_commands),
    "cputime": Command(cputime),
}
"""The commands by name."""
