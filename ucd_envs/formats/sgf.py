"""Games of Go and Hex as SGF text, parsed and written by sgfmill.

A record is the main line of the first game of a file.

property     Go, GM[1]                                         Hex, GM[11]
SZ           9, or 9:13 for columns:rows; 19 where missing     11, or 11:9
B, W         "cd"; a pass is empty, or "tt"                    "c4" or "cd", "swap-pieces" or "swap"; read also "resign",
                                                               which changes nothing on the board
AB, AW, AE   stones before the first move                      the same, without AE
PL           the first player; where missing the first mover,  the first player; where missing, after stones the first
             or White if there are only black stones           mover, else the player whose turn their number makes it
KM           komi; 0 where missing                             not read
RU           "NZ", "GOE" and Tromp-Taylor's allow suicide;     not read
             superko only as KataGo writes it
             ("koPOSITIONALscoreAREAtaxNONEsui0")
UCD          our own: settings that no other property has      the same

B is player 0 and W is player 1, except in Little Golem's Hex records, known by points of two letters: W is their first player.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ucd_envs import registry
from ucd_envs.rules import Rules, State
from ucd_envs.settings import integer

GAMES = {"go": 1, "hex": 11}
"""The number of a game in GM."""
COLOURS = ("Black", "White")
ADD = ("AB", "AW", "AE")
SWAP = ("swap", "swap-pieces")
ANY_SIDE = 26
"""Longest side that sgfmill knows. It knows square boards only; on its largest, columns and rows count from the top."""
OWN = "UCD"
OWN_SETTINGS = {"go": ("max_plies", "mercy"), "hex": ("swap",)}
"""Settings without an SGF property, written as a property of our own."""
SUICIDE = re.compile(r"sui1|^nz|new.?zealand|^goe|\bing\b|tromp", re.IGNORECASE)
SUPERKO = re.compile("ko(positional|situational)", re.IGNORECASE)


@dataclass(frozen=True)
class Record:
    """A recorded game."""

    rules: Rules
    actions: tuple[int, ...]
    comments: tuple[str, ...]
    """One comment for each action."""
    players: tuple[str, str]
    """Names of Black and White, empty where missing, as are the result and the event."""
    result: str
    event: str

    def states(self) -> Iterator[State]:
        """Returns the states before the first move and after each move."""
        state = self.rules.initial_state()
        yield state
        for action in self.actions:
            state = state.after(action)
            yield state

    @cached_property
    def state(self) -> State:
        """Returns the state after the last move."""
        return list(self.states())[-1]


def load(source: str | Path | bytes, stop: int | None = None, game: str | None = None, **settings: Any) -> Record:
    """Returns the game in SGF text, in the bytes of a file or in the file at a Path, or its first `stop` moves.

    `game` is "go" or "hex", for text without GM or to accept no other game. `settings` of the game, such as ko="positional",
    take precedence over the record. Raises ValueError with one sentence for invalid SGF, another game, an illegal move (by
    its number; moves after `stop` are not checked) and stones put on the board in the middle of the game.
    """
    if stop is not None:
        stop = integer("stop", stop, 0, 2**31)
    nodes = _main_line(source)
    game = _game(nodes[0], game)
    told = sorted({"size", "rows", "columns", "handicap", "black", "white", "first", "opening"} & settings.keys())
    if told:
        raise TypeError(f"the record itself tells {told[0]}")
    empty = registry.make_rules(game, **_sides(nodes[0], game))
    moves = [move for node in nodes for move in _moves(node)]
    start = next((at for at, node in enumerate(nodes) if _moves(node)), len(nodes) - 1)
    found = (_go_settings if game == "go" else _hex_settings)(empty, nodes[: start + 1], moves)
    if game == "go" and "komi" not in settings:
        found["komi"] = _value(nodes[0], "KM", 0.0)
    rules = registry.make_rules(game, **{**found, **_own_settings(nodes[0], game), **settings})
    seats = {"B": 0, "W": 1}
    if game == "hex" and moves and moves[0][0] == "W" and re.fullmatch("[a-z]{2}", moves[0][1]):
        seats = {"W": 0, "B": 1}

    state = rules.initial_state()
    actions: list[int] = []
    comments: list[str] = []
    for at, node in enumerate(nodes[start:]):
        if len(actions) == stop:
            break
        if at and (any(node.has_property(name) for name in ADD) or _turn(node) not in (None, state.player)):
            raise ValueError(f"after move {len(actions)}, in the middle of the game, the position is set up anew")
        played = _moves(node)
        if len(played) > 1:
            both = " and ".join(f"{letter} {text[:20]!r}" for letter, text in played[:2])
            raise ValueError(f"move {len(actions) + 1} is more than one: {both}")
        for letter, text in played:
            if text.lower() == "resign":
                continue
            name = repr(text[:20])
            try:
                action = _action(rules, node, letter, text)
                name = state.action_name(action)
                state = after_move(state, seats[letter], action)
            except ValueError as error:
                raise ValueError(f"move {len(actions) + 1} ({letter} {name}) is not legal: {error}") from None
            actions.append(action)
            comments.append(_text(node, "C"))
    names = (_text(nodes[0], "PB"), _text(nodes[0], "PW"))
    return Record(rules, tuple(actions), tuple(comments), names, _text(nodes[0], "RE"), _text(nodes[0], "EV"))


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
    by default the result by the rules, or "?" for a game that goes on. Raises ValueError for a game other than Go and Hex,
    an illegal move, and more comments than moves.
    """
    game = rules.name.rpartition("_v")[0]
    if game not in GAMES:
        raise ValueError(f"only Go and Hex are written as SGF, not {rules.name}")
    if len(comments) > len(actions):
        raise ValueError(f"there are {len(comments)} comments, but only {len(actions)} moves")
    sgf, grammar, properties = sgfmill_modules()
    presenter = properties.Presenter(ANY_SIDE, "UTF-8")
    settings = rules.settings
    rows, columns = settings["rows"], settings["columns"]
    size = str(rows) if rows == columns else f"{columns}:{rows}"
    root = sgf.Node({"SZ": [size.encode()]}, presenter)
    root.set("FF", 4)
    root.set("CA", "UTF-8")
    root.set("GM", GAMES[game])
    if game == "go":
        for name, colour in (("AB", "black"), ("AW", "white")):
            if settings[colour]:
                root.set(name, [_point(rules, rules.initial_state().action_named(point)) for point in settings[colour].split()])
        root.set("PL", settings["first"][0])
        root.set("KM", settings["komi"])
        root.set("RU", f"ko{settings['ko'].upper()}scoreAREAtaxNONEsui{int(settings['suicide'])}")
        root.set(OWN, f"max_plies={settings['max_plies']} mercy={settings['mercy']}")
    else:
        opening = settings["opening"].split()
        black, white = (
            settings[colour].split() if colour in settings else opening[seat::2]
            for seat, colour in enumerate(("black", "white"))
        )
        for name, points in (("AB", black), ("AW", white)):
            if points:
                root.set_raw_list(name, [point.encode() for point in points])
        if "first" in settings:
            root.set("PL", settings["first"][0])
        root.set(OWN, f"swap={int(settings['swap'])}")

    nodes, state = [root], rules.initial_state()
    for number, action in enumerate(actions):
        mover, before = state.player, state
        try:
            state = after_move(state, mover, action)
        except ValueError as error:
            raise ValueError(f"move {number + 1} (action {action}) is not legal: {error}") from None
        node = sgf.Node({}, presenter)
        if game == "go":
            node.set("BW"[mover], _point(rules, action))
        else:
            node.set_raw("BW"[mover], before.action_name(action).replace("swap", "swap-pieces").encode())
        if comments[number : number + 1] and comments[number]:
            node.set("C", comments[number])
        nodes.append(node)
    for name, text in (("PB", players[0]), ("PW", players[1]), ("EV", event), ("RE", result or _result(state))):
        if text:
            root.set(name, text)
    tree = grammar.Coarse_game_tree()
    tree.sequence = [node.get_raw_property_map() for node in nodes]
    written: bytes = grammar.serialise_game_tree(tree)
    return written.decode()


def sgfmill_modules() -> tuple[Any, Any, Any]:
    """Returns the library's modules. Raises ImportError where it is not installed."""
    try:
        from sgfmill import sgf, sgf_grammar, sgf_properties
    except ImportError:
        raise ImportError("SGF needs sgfmill: pip install 'ucd-planners[sgf]'") from None
    return sgf, sgf_grammar, sgf_properties


def _main_line(source: str | Path | bytes) -> list[Any]:
    """Returns the nodes of the main line of the first game."""
    sgf, grammar, properties = sgfmill_modules()
    text = source.encode(errors="replace") if isinstance(source, str) else source
    data = text.read_bytes() if isinstance(text, Path) else text
    try:
        tree = grammar.parse_sgf_game(data)
    except ValueError as error:
        named = isinstance(source, str) and re.fullmatch(r"[^(\n]+", source)
        raise ValueError(f"this is no SGF: {error}{'; the name of a file must be a Path' if named else ''}") from None
    encoding = tree.sequence[0].get("CA", [b"ISO-8859-1"])[0].decode("ascii", "replace")
    try:
        presenter = properties.Presenter(ANY_SIDE, "UTF-8" if isinstance(source, str) else encoding)
    except ValueError:
        presenter = properties.Presenter(ANY_SIDE, "ISO-8859-1")
    return [sgf.Node(found, presenter) for found in grammar.main_sequence_iter(tree)]


def _value(node: Any, name: str, default: Any) -> Any:
    """Returns a property's value, or the default where it is missing or empty. Raises ValueError for a malformed value."""
    raw = node.get_raw_property_map().get(name, [])
    if not any(text.strip() for text in raw):
        return default
    try:
        return node.get(name)
    except (ValueError, LookupError):
        wrong = next((text for text in raw if not _can_be_read(node, name, text)), raw[0])
        raise ValueError(f"{name} cannot be read: {wrong[:20].decode('ascii', 'replace')!r}") from None


def _can_be_read(node: Any, name: str, text: bytes) -> bool:
    """Returns whether a value of a property is well formed by itself."""
    try:
        node.get_presenter().interpret(name, [text])
    except (ValueError, LookupError):
        return False
    return True


def _text(node: Any, name: str) -> str:
    """Returns a text. Its encoding may differ from the file's declared one, since nothing depends on it."""
    try:
        return str(node.get(name)) if node.has_property(name) else ""
    except (ValueError, LookupError):
        return str(node.get_raw(name).decode("ISO-8859-1"))


def _texts(node: Any, name: str) -> list[str]:
    """Returns the raw values of a property."""
    return [raw.decode("ascii", "replace") for raw in node.get_raw_property_map().get(name, ())]


def _moves(node: Any) -> list[tuple[str, str]]:
    """Returns colour letters and texts of the moves of a node, which should be at most one."""
    return [(letter, text) for letter in "BW" for text in _texts(node, letter)]


def _turn(node: Any) -> int | None:
    """Returns the player that PL declares to move."""
    turn = _value(node, "PL", None)
    return None if turn is None else "bw".index(turn)


def _game(root: Any, wanted: str | None) -> str:
    """Returns the game of a record. Raises ValueError for one that is not known or not wanted."""
    if wanted is not None and wanted not in GAMES:
        raise ValueError(f"game must be one of {', '.join(GAMES)}, not {wanted!r}")
    number = _value(root, "GM", GAMES[wanted or "go"])
    game = next((name for name, known in GAMES.items() if known == number), "")
    if not game or wanted not in (None, game):
        expected = " or ".join(f"GM[{GAMES[name]}] ({name})" for name in GAMES if wanted in (None, name))
        raise ValueError(f"this is a record of another game: GM[{number}] instead of {expected}")
    return game


def _sides(root: Any, game: str) -> dict[str, Any]:
    """Returns rows and columns of the board."""
    text = next(iter(_texts(root, "SZ")), "19" if game == "go" else "")
    size = re.fullmatch(r"([0-9]{1,3})(?::([0-9]{1,3}))?", text.strip())
    if size is None:
        raise ValueError(f"SZ is {text[:20]!r}, no size of a board such as '9', or '9:13' for 9 columns and 13 rows")
    return {"rows": int(size[2] or size[1]), "columns": int(size[1])}


def _own_settings(root: Any, game: str) -> dict[str, Any]:
    """Returns the settings in the property of our own."""
    found = {}
    for text in _text(root, OWN).split():
        name, _, value = text.partition("=")
        if name not in OWN_SETTINGS[game] or not re.fullmatch("[0-9]{1,6}", value):
            raise ValueError(f"{OWN} cannot be read: {text[:20]!r}")
        found[name] = int(value) != 0 if name == "swap" else int(value)
    return found


def _go_settings(empty: Rules, nodes: list[Any], moves: list[tuple[str, str]]) -> dict[str, Any]:
    """Returns the settings of a game of Go before its first move."""
    stones: dict[int, str] = {}
    turn = None
    for node in nodes:
        black, white, none = ({_cell(empty, point) for point in _value(node, name, ())} for name in ADD)
        if twice := black & white | black & none | white & none:
            raise ValueError(f"AB, AW and AE say different things of {empty.initial_state().action_name(min(twice))}")
        stones |= dict.fromkeys(black, "black") | dict.fromkeys(white, "white")
        stones = {point: colour for point, colour in stones.items() if point not in none}
        turn = _turn(node) if turn is None else turn
    if turn is None:
        turn = "BW".index(moves[0][0]) if moves else int(set(stones.values()) == {"black"})
    handicap = _value(nodes[0], "HA", 0)
    if handicap > 1 and turn == 1 and not stones:
        raise ValueError(f"HA tells of {handicap} handicap stones, but AB puts none on the board")
    found: dict[str, Any] = {"rows": empty.settings["rows"], "columns": empty.settings["columns"]}
    for colour in ("black", "white"):
        found[colour] = " ".join(
            empty.initial_state().action_name(point) for point in sorted(stones) if stones[point] == colour
        )
    text = _text(nodes[0], "RU")
    superko = SUPERKO.search(text)
    ko = superko[1].lower() if superko else "simple"
    return found | {"first": ("black", "white")[turn], "suicide": SUICIDE.search(text) is not None, "ko": ko}


def _hex_settings(empty: Rules, nodes: list[Any], moves: list[tuple[str, str]]) -> dict[str, Any]:
    """Returns the settings of a game of Hex before its first move, and whether there is a swap."""
    black, white, none = ([_hex_cell(empty, text) for node in nodes for text in _texts(node, name)] for name in ADD)
    if none:
        raise ValueError("AE takes stones off, but stones of Hex stay before the first move")
    told = [turn for node in nodes if (turn := _turn(node)) is not None]
    turn = (len(black) + len(white)) % 2
    if told or ((black or white) and moves):
        turn = told[-1] if told else "BW".index(moves[0][0])
    found: dict[str, Any] = {"rows": empty.settings["rows"], "columns": empty.settings["columns"]}
    name = empty.initial_state().action_name
    if turn == len(black) - len(white):
        opening = [name(cell) for pair in zip_longest(black, white) for cell in pair if cell is not None]
        found["opening"] = " ".join(opening)
    else:
        found |= {"black": " ".join(map(name, black)), "white": " ".join(map(name, white)), "first": ("black", "white")[turn]}
    return found | {"swap": any(text.lower() in SWAP for _, text in moves)}


def _action(rules: Rules, node: Any, letter: str, text: str) -> int:
    """Returns the action of a node's move. Raises ValueError for a text that is no move on this board."""
    if rules.tiling == "hexagonal":
        return _hex_cell(rules, "swap" if text.lower() in SWAP else text)
    if text.strip() in ("", "tt"):  # on boards to 19x19 there is no such point
        return rules.initial_state().action_named("pass")
    return _cell(rules, _value(node, letter, None))


def _hex_cell(rules: Rules, text: str) -> int:
    """Returns the action of "c4", or of "cd" for the same cell."""
    two = re.fullmatch("([a-z])([a-z])", text)
    return rules.initial_state().action_named(f"{two[1]}{ord(two[2]) - ord('a') + 1}" if two else text)


def _cell(rules: Rules, point: tuple[int, int]) -> int:
    """Returns the action of sgfmill's row and column on its largest board. Raises ValueError off the board."""
    rows, columns = rules.settings["rows"], rules.settings["columns"]
    row, column = point[0] - ANY_SIDE + rows, point[1]
    if row < 0 or column >= columns:
        text = chr(ord("a") + column) + chr(ord("a") + ANY_SIDE - 1 - point[0])
        raise ValueError(f"{text!r} is no point of a board with {columns} columns and {rows} rows")
    return int(row * columns + column)


def _point(rules: Rules, action: int) -> tuple[int, int] | None:
    """Returns sgfmill's row and column on its largest board, or None for a pass."""
    rows, columns = rules.settings["rows"], rules.settings["columns"]
    return None if action == rows * columns else (action // columns + ANY_SIDE - rows, action % columns)


def after_move(state: State, player: int, action: int) -> State:
    """Returns the state after a player's move. Raises ValueError with the reason for an illegal one."""
    if state.over:
        raise ValueError("the game is over")
    if player != state.player:
        raise ValueError(f"it is {COLOURS[state.player]}'s turn")
    try:
        return state.after(action)
    except ValueError:
        raise ValueError(state.rules.why_illegal(action)) from None


def _result(state: State) -> str:
    """Returns the result of a game in SGF's form."""
    if not state.over:
        return "?"
    black, white = state.payoffs()
    lead = "" if state.rules.score is None else f"{abs(state.rules.score(state)):g}"
    return f"B+{lead}" if black > white else f"W+{lead}" if black < white else "Draw"
