"""A record of Go, NoGo or Hex as SGF text, parsed and written by sgfmill.

A record is the main line of the first game of a file. One of NoGo looks like one of Go and is marked by RU[NoGo], or read so
by game="nogo". It begins on an empty board with Black, no turn is skipped, and komi and passes after its end are left out.

property     Go, GM[1]                                         Hex, GM[11]
SZ           9, or 9:13 for columns:rows; 19 where missing     11, or 11:9
B, W         "cd"; a pass is empty, or "tt"                    "c4" or "cd", "swap-pieces" or "swap"; read also "resign",
                                                               which changes nothing on the board
AB, AW, AE   stones before the first move                      the same
PL           the first player; where missing the first mover,  the first player; where missing the first mover, or the
             or White if there are only black stones           player whose turn the number of stones makes it
KM           komi; 0 where missing (`formats.facts`)           not read
RU           "NZ", "GOE" and Tromp-Taylor's allow suicide;     not read
             superko only as KataGo writes it
             ("koPOSITIONALscoreAREAtaxNONEsui0")
UCD          our own: settings that no other property has      the same

B is player 0 and W is player 1, except in Little Golem's Hex records, known by points of two letters: W is their first player.

A file is played as it says, and refused only where it contradicts itself:

- a skipped turn is a pass that was not written, which ends no game: it and a pass beside it cancel out. Hex has no pass, so
  that the record begins anew after a skipped turn;
- stones set up or taken off in the middle begin the record anew, unless they leave the board as it is. Stones taken off after
  the last move, and any setup after the end of the game, are marks for the count;
- passes after the end of the game are left out, and so are two passes after which the game goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ucd_envs.formats import facts
from ucd_envs.formats.facts import GAMES, NOGO, OWN
from ucd_envs.formats.parsing import main_line, sgfmill_grammar
from ucd_envs.formats.reading import TOLD, Reading
from ucd_envs.formats.record import Record, after_move
from ucd_envs.rules import Rules, State
from ucd_envs.settings import integer


def load(
    source: str | Path | bytes,
    stop: int | None = None,
    game: str | None = None,
    *,
    strict: bool = False,
    defaults: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Record:
    """Returns the game in SGF text, in the bytes of a file or in the file at a Path, or its first `stop` written moves.

    `game` is "go", "nogo" or "hex", for text without GM or RU[NoGo], or to accept no other game. `settings` of the game, such
    as ko="positional", take precedence over the record, and `defaults` stand where the record says nothing. With `strict`
    nothing is repaired: a skipped turn, a setup in the middle, a move after the end, and texts that SGF does not allow are
    errors. Raises ValueError with one sentence for invalid SGF, another game, komi of more than half of the board's points,
    and an illegal move (by its number; moves after `stop` are not checked).
    """
    if stop is not None:
        stop = integer("stop", stop, 0, 2**31)
    nodes = main_line(source, strict)
    game = facts.game_of(nodes[0], game)
    told = sorted(TOLD & settings.keys())
    if told:
        raise TypeError(f"the record itself tells {told[0]}")
    reading = Reading(game, nodes, strict, defaults or {}, settings)
    reading.follow(stop)
    names = (nodes[0].text("PB"), nodes[0].text("PW"))
    event, result = nodes[0].text("EV"), nodes[0].text("RE")
    return Record(reading.rules, tuple(reading.actions), tuple(reading.comments), names, result, event)


def saved(
    rules: Rules,
    actions: Sequence[int],
    *,
    comments: Sequence[str] = (),
    players: tuple[str, str] = ("", ""),
    result: str = "",
    event: str = "",
) -> str:
    """Returns SGF text of a game from its first move on, which `load` reads again.

    comments: one for each move, from the first on; result: in SGF's form, such as "W+R", or "Void" for a game that failed;
    by default the result by the rules, or "?" for a game that goes on. Raises ValueError for a game other than Go, NoGo and
    Hex, an illegal move, and more comments than moves.
    """
    game = rules.name.rpartition("_v")[0]
    if game not in GAMES:
        raise ValueError(f"only Go, NoGo and Hex are written as SGF, not {rules.name}")
    if len(comments) > len(actions):
        raise ValueError(f"there are {len(comments)} comments, but only {len(actions)} moves")
    grammar = sgfmill_grammar()
    settings, start = rules.settings, rules.initial_state()
    rows, columns = settings["rows"], settings["columns"]
    root: dict[str, list[bytes]] = {
        "FF": [b"4"],
        "CA": [b"UTF-8"],
        "GM": [str(GAMES[game]).encode()],
        "SZ": [(str(rows) if rows == columns else f"{columns}:{rows}").encode()],
    }
    if game == "go":
        for name, colour in (("AB", "black"), ("AW", "white")):
            root[name] = [_point(rules, start.action_named(point)) for point in settings[colour].split()]
        root["PL"] = [settings["first"][0].upper().encode()]
        root["KM"] = [f"{settings['komi']:g}".encode()]
        root["RU"] = [f"ko{settings['ko'].upper()}scoreAREAtaxNONEsui{int(settings['suicide'])}".encode()]
        root[OWN] = [f"max_plies={settings['max_plies']} mercy={settings['mercy']}".encode()]
    elif game == "nogo":
        root["RU"] = [NOGO.encode()]
        root[OWN] = [f"irrational={int(settings['irrational'])}".encode()]
    else:
        opening = settings["opening"].split()
        for seat, (name, colour) in enumerate((("AB", "black"), ("AW", "white"))):
            points = settings[colour].split() if colour in settings else opening[seat::2]
            root[name] = [point.encode() for point in points]
        if "first" in settings:
            root["PL"] = [settings["first"][0].upper().encode()]
        root[OWN] = [f"swap={int(settings['swap'])}".encode()]

    nodes, state = [root], start
    for number, action in enumerate(actions):
        mover, before = state.player, state
        try:
            state = after_move(state, mover, action)
        except ValueError as error:
            raise ValueError(f"move {number + 1} (action {action}) is not legal: {error}") from None
        text = before.action_name(action).replace("swap", "swap-pieces").encode() if game == "hex" else _point(rules, action)
        comment = comments[number] if number < len(comments) else ""
        nodes.append({"BW"[mover]: [text], "C": [grammar.escape_text(comment.encode())] if comment else []})
    for name, words in (("PB", players[0]), ("PW", players[1]), ("EV", event), ("RE", result or _result(state))):
        root[name] = [grammar.escape_text(words.encode())] if words else []
    tree = grammar.Coarse_game_tree()
    tree.sequence = [{name: values for name, values in node.items() if values} for node in nodes]
    written: bytes = grammar.serialise_game_tree(tree)
    return written.decode()


def _point(rules: Rules, action: int) -> bytes:
    """Returns column and row by their letters, the row from the top, or nothing for a pass."""
    rows, columns = rules.settings["rows"], rules.settings["columns"]
    if action == rows * columns:
        return b""
    return f"{chr(ord('a') + action % columns)}{chr(ord('a') + rows - 1 - action // columns)}".encode()


def _result(state: State) -> str:
    """Returns the result of a game in SGF's form."""
    if not state.over:
        return "?"
    black, white = state.payoffs()
    lead = "" if state.rules.score is None else f"{abs(state.rules.score(state)):g}"
    return f"B+{lead}" if black > white else f"W+{lead}" if black < white else "Draw"
