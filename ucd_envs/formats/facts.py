"""Facts that the first node of a game record states: the game, its board, komi and rules.

Komi, as programs write it:

- 375 and 750 mean 7.5, 325 and 650 mean 6.5, 275 and 550 mean 5.5, 350 and 700 mean 7, where the program (AP) is Fox or
  gokifu's, or where the number is more than half of the board's points; 50 means 0.5 in the files of these two;
- an odd number of quarters, such as 3.75, counts stones under Chinese rules, each worth two points, and means 7.5;
- any other komi of more than half of the board's points is an error, except in a file of our own.
"""

from __future__ import annotations

import re
from typing import Any

from ucd_envs.formats.parsing import SHOWN, Node, real_from, whole_from
from ucd_envs.settings import one_of

GAMES = {"go": 1, "hex": 11, "nogo": 1}
"""The number of a game in GM. Programs write NoGo as Go, since its moves are moves of Go."""
OWN = "UCD"
OWN_SETTINGS = {"go": ("max_plies", "mercy"), "hex": ("swap",), "nogo": ("irrational",)}
"""Settings without an SGF property, written as a property of our own."""
SWITCHES = ("irrational", "swap")
"""Those of them that are 0 or 1."""
NOGO = "NoGo"
"""The rules in RU that tell NoGo from Go."""
SUICIDE = re.compile(r"sui1|^nz|new.?zealand|^goe|\bing\b|tromp", re.IGNORECASE)
SUPERKO = re.compile("ko(positional|situational)", re.IGNORECASE)
CHINESE = re.compile(r"chinese|^cn\b|中国|中國", re.IGNORECASE)
FOX = ("foxwq", "SGFC:2.0")
"""Programs that write komi in hundredths of stones or points."""
HUNDREDTHS = {375: 7.5, 750: 7.5, 325: 6.5, 650: 6.5, 275: 5.5, 550: 5.5, 350: 7.0, 700: 7.0, 50: 0.5}
TURNS = {"B": 0, "W": 1, "b": 0, "w": 1}
MORE_TURNS = {"black": 0, "1": 0, "white": 1, "2": 1}
"""Players in PL, and as some editors write them, in any case."""


def game_of(root: Node, wanted: str | None) -> str:
    """Returns the game of a record. Raises ValueError for one that is not known or not wanted."""
    if wanted is not None:
        one_of("game", wanted, GAMES)
    number = root.value("GM", whole_from, GAMES[wanted or "go"])
    is_nogo = root.text("RU").strip().lower() == NOGO.lower()
    games = [name for name, known in GAMES.items() if known == number and name == (wanted or name)]
    if not games:
        expected = " or ".join(f"GM[{known}] ({name})" for name, known in GAMES.items() if name == (wanted or name))
        raise ValueError(f"this is a record of another game: GM[{str(number)[:SHOWN]}] instead of {expected}")
    if games == ["go"] and is_nogo:
        raise ValueError(f"this is a record of another game: RU[{NOGO}], no rules of Go")
    return games[-1] if is_nogo else games[0]


def sides(root: Node, game: str) -> dict[str, int]:
    """Returns rows and columns of the board."""
    text = next(iter(root.texts("SZ")), "19" if GAMES[game] == 1 else "")
    size = re.fullmatch(r"([0-9]{1,3})(?::([0-9]{1,3}))?", text.strip())
    if size is None:
        raise ValueError(f"SZ is {text[:SHOWN]!r}, no size of a board such as '9', or '9:13' for 9 columns and 13 rows")
    return {"rows": int(size[2] or size[1]), "columns": int(size[1])}


def turn(node: Node, strict: bool) -> int | None:
    """Returns the player that PL declares to move."""
    return node.value("PL", lambda text: TURNS[text] if strict else (TURNS | MORE_TURNS)[text.strip().lower()], None)


def komi(root: Node, points: int, strict: bool) -> float:
    """Returns komi, 0 where it is missing. With `strict` no number is read as another one. Raises ValueError for komi that no
    game has."""
    stated: float = root.value("KM", real_from, 0.0)
    if OWN in root:
        return stated
    if not strict:
        fox = any(program in text for text in root.texts("AP") for program in FOX)
        if stated in HUNDREDTHS and (fox or (stated > points / 2 and stated != 50)):
            return HUNDREDTHS[int(stated)]
        if (4 * stated) % 2 == 1 and (fox or CHINESE.search(root.text("RU"))):
            return 2 * stated
    if abs(stated) > points / 2:
        raise ValueError(f"KM is {stated:g}, but komi is at most half of the {points} points of the board")
    return stated


def own_settings(root: Node, game: str) -> dict[str, Any]:
    """Returns the settings in the property of our own."""
    found: dict[str, Any] = {}
    for text in root.text(OWN).split():
        name, _, value = text.partition("=")
        if name not in OWN_SETTINGS[game] or not re.fullmatch("[0-9]{1,6}", value):
            raise ValueError(f"{OWN} cannot be read: {text[:SHOWN]!r}")
        found[name] = int(value) != 0 if name in SWITCHES else int(value)
    return found


def rules_of_go(root: Node) -> dict[str, Any]:
    """Returns the ko rule and whether suicide is allowed, or nothing where RU is missing."""
    text = root.text("RU").strip()
    if not text:
        return {}
    superko = SUPERKO.search(text)
    return {"suicide": SUICIDE.search(text) is not None, "ko": superko[1].lower() if superko else "simple"}
