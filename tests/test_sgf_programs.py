"""Records as other programs write them: encodings, komi, skipped turns, setups in the middle, and what `strict` refuses."""

from __future__ import annotations

import codecs
from functools import cache
from typing import Any

import pytest

from ucd_envs import State, pictures
from ucd_envs.formats import sgf
from ucd_envs.formats.decoding import decodings
from ucd_envs.formats.record import Record


def names(record: Record) -> str:
    return " ".join(record.rules.initial_state().action_name(action) for action in record.actions)


def board(state: State) -> tuple[str, str]:
    """Points of Black's stones and of White's, sorted."""
    owners = list(pictures.stones(state).flat)
    black, white = (sorted(state.action_name(cell) for cell, owner in enumerate(owners) if owner == side) for side in (1, 2))
    return " ".join(black), " ".join(white)


def begun(record: Record) -> tuple[str, str]:
    """The board that the record begins with."""
    return board(record.rules.initial_state())


# Encodings


CODECS = {
    "Shift_JIS": "shift_jis",
    "SJIS": "cp932",
    "windows-31j": "cp932",
    "Big5": "big5",
    "big5-hkscs": "big5hkscs",
    "GBK": "gbk",
    "GB18030": "gb18030",
    "gb2312": "gbk",
    "EUC-KR": "cp949",
    "Johab": "johab",
    "EUC-JP": "euc_jp",
    "ISO-2022-JP": "iso2022_jp",
    "HZ-GB-2312": "hz",
    "KOI8-R": "koi8-r",
    "windows-1251": "cp1251",
    "ISO-8859-1": "latin-1",
    "UTF-8": "utf-8",
}
"""Values of CA, each with the codec that writes the file. Programs write GBK under the name of GB 2312."""
MARKED = ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")
"""Codecs whose files tell them by their first bytes."""
SCRIPTS = ((0xA1, 0x250), (0x400, 0x460), (0x3041, 0x30FF), (0x4E00, 0x9FA0), (0xAC00, 0xD7A0))
LETTERS = [chr(number) for script in SCRIPTS for number in range(*script)]
"""Letters of Europe, Japan, China and Korea."""
PLACES = ("PB", "PW", "EV", "RE", "C", "move")
"""Texts that a record may have. The first five stand in the root, before the board and komi."""


@cache
def trap(codec: str) -> str:
    """Up to 12 letters with each byte that means something in SGF, a backslash at the very end, and ordinary letters."""
    found: dict[bytes, list[str]] = {byte: [] for byte in (b"[", b"]", b"(", b";", b":", b"\\", b"")}
    for letter in LETTERS:
        data = encoded(letter, codec)
        if data is None or data.decode(codec) != letter:
            continue
        for byte, letters in found.items():
            if byte in data[1:] and len(letters) < 12:
                letters.append(letter)
    return "".join(letter for letters in [found[b""], *found.values()] for letter in letters) + "".join(found[b"\\"][:1])


def encoded(text: str, codec: str) -> bytes | None:
    try:
        return text.encode(codec)
    except UnicodeEncodeError:
        return None


def written(place: str, text: str, declared: str | None) -> str:
    """A game on 9x9 with a text in one place."""
    root = f"{place}[{text}]" if place != "move" else ""
    comment = f"C[{text}]" if place == "move" else ""
    return f"(;GM[1]FF[4]{'' if declared is None else f'CA[{declared}]'}{root}SZ[9]KM[6.5];B[ee]{comment};W[cc])"


def read(record: Record, place: str) -> str:
    """The text in a place."""
    return {
        "PB": record.players[0],
        "PW": record.players[1],
        "EV": record.event,
        "RE": record.result,
        "C": "",
        "move": record.comments[0],
    }[place]


def test_a_name_that_ends_in_a_backslash_hides_nothing() -> None:
    """F2-40, Sabaki #1029: the second byte of this letter is a backslash."""
    data = "(;GM[1]FF[4]CA[Shift_JIS]PB[ソ]SZ[9]KM[6.5];B[ee];W[cc])".encode("shift_jis")
    assert b"\\]SZ" in data
    record = sgf.load(data)
    assert (record.players[0], record.rules.settings["rows"], record.rules.settings["komi"]) == ("ソ", 9, 6.5)
    assert names(record) == "E5 C7"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("declared", [*CODECS, *MARKED])
def test_a_text_in_any_encoding_and_any_place_is_read_and_hides_nothing(declared: str, place: str) -> None:
    """F2-40: files as Python's own codecs write them."""
    codec = CODECS.get(declared, declared)
    text = trap(codec)
    data = written(place, text, declared if declared in CODECS else None).encode(codec)
    for strict in (False, True):
        record = sgf.load(data, strict=strict)
        settings = record.rules.settings
        assert (settings["rows"], settings["columns"], settings["komi"], names(record)) == (9, 9, 6.5, "E5 C7")
        assert read(record, place) == ("" if place == "C" else text)


def test_the_traps_are_traps() -> None:
    """Files of six encodings, read byte by byte, end a text with a backslash and hold brackets."""
    for declared in ("Shift_JIS", "SJIS", "Big5", "GBK", "GB18030", "gb2312"):
        data = written("PB", trap(CODECS[declared]), declared).encode(CODECS[declared])
        assert b"\\]SZ" in data
        assert data.count(b"[") > 9


@pytest.mark.parametrize("codec", ["shift_jis", "cp932", "big5", "gbk", "gb18030", "cp949", "euc_jp", "koi8-r", "cp1251"])
@pytest.mark.parametrize("declared", [None, "UTF-8", "no such", ""])
def test_a_wrong_or_missing_name_of_the_encoding_hides_no_moves(codec: str, declared: str | None) -> None:
    """F2-40: the names may be garbled then, but not the board, komi and moves."""
    for place in PLACES:
        record = sgf.load(written(place, trap(codec)[-7:], declared).encode(codec))
        assert (record.rules.settings["rows"], record.rules.settings["komi"], names(record)) == (9, 6.5, "E5 C7")


@pytest.mark.parametrize("declared", ["GB2312", "Big5", "Shift_JIS", "EUC-KR"])
def test_utf_8_under_another_name_hides_nothing(declared: str) -> None:
    """F2-40: programs that convert a file to UTF-8 leave CA as it was. Three letters have nine bytes, and the ninth would take
    the bracket."""
    record = sgf.load(f"(;GM[1]CA[{declared}]PB[你好吗]PW[a]SZ[9]KM[6.5];B[ee])".encode())
    assert (record.players, record.rules.settings["rows"], names(record)) == (("你好吗", "a"), 9, "E5")


def test_a_name_that_was_cut_in_the_middle_of_a_letter_hides_nothing() -> None:
    """F2-40: the first byte of a letter alone takes the bracket for its second byte."""
    for declared in ("GBK", "Big5", "Shift_JIS"):
        data = f"(;GM[1]CA[{declared}]PB[中".encode(declared)[:-1] + b"]PW[a]SZ[9];B[ee])"
        record = sgf.load(data)
        assert (record.players[1], record.rules.settings["rows"], names(record)) == ("a", 9, "E5")


@pytest.mark.parametrize("declared", ["GB2312", "EUC-KR", "EUC-JP"])
def test_the_rest_of_a_cut_name_is_read(declared: str) -> None:
    """F2-40: one letter is lost, not the encoding of all."""
    record = sgf.load(f"(;GM[1]CA[{declared}]PB[日本中".encode(declared)[:-1] + b"]PW[a]SZ[9];B[ee])")
    assert record.players == ("日本\ufffd", "a")


def test_the_encoding_stands_in_the_root() -> None:
    """F2-40: not in a text before it."""
    data = b"From America[KOI8-R]\n" + "(;GM[1]CA[Shift_JIS]PB[ソ]SZ[9];B[ee])".encode("shift_jis")
    assert sgf.load(data).players[0] == "ソ"


@pytest.mark.parametrize(
    "data",
    [
        b"(;GM[1]PB[\x83\\];B[ee])",
        b"(;GM[1]PB[\xe9\\\\a];B[ee])",
        b"(;GM[1]CA[Shift_JIS]PB[\x83\xff];B[ee])",
        b"(;GM[1]CA[UTF-8]PB[\x83\xff];B[ee])",
        b"(;GM[1]CA[no such]PB[\x83\xff];B[ee])",
        "(;GM[1]CA[UTF-8]PB[\ufffd];B[ee])".encode(),
        "(;GM[1]PB[\ud800];B[ee])".encode("utf-16", "surrogatepass"),
    ],
)
def test_a_garbled_file_without_a_size_is_refused(data: bytes) -> None:
    """F2-40: it may have had one. With a size it is read."""
    with pytest.raises(ValueError, match=r"\Athis is no SGF: its encoding is not known, and no size of a board can be read\Z"):
        sgf.load(data)
    sized = data.replace(b";\0B", "SZ[9];B".encode("utf-16-le")[:-1]).replace(b";B", b"SZ[9];B")
    assert names(sgf.load(sized)) == "E5"


def test_utf_8_leaves_no_other_choice() -> None:
    """All bytes of a file are seldom valid by chance."""
    text = "(;GM[1]PB[中])"
    assert [decoded.text for decoded in decodings(text.encode())] == [text]


def test_a_file_of_the_default_encoding_needs_no_size() -> None:
    """SGF's default is ISO-8859-1, and 19 lines."""
    record = sgf.load(b"(;GM[1]PB[Jos\xe9];B[aa])")
    assert (record.players[0], record.rules.settings["rows"], names(record)) == ("José", 19, "A19")


# Komi and rules


def komi(text: str) -> Any:
    return sgf.load(text).rules.settings["komi"]


@pytest.mark.parametrize("program", ["foxwq", "SGFC:2.0"])
@pytest.mark.parametrize(
    ("stated", "meant"),
    [
        *(("375", 7.5), ("750", 7.5), ("325", 6.5), ("650", 6.5), ("275", 5.5), ("550", 5.5), ("350", 7), ("700", 7)),
        *(("50", 0.5), ("0", 0), ("6.5", 6.5), ("7", 7), ("3.75", 7.5), ("3.25", 6.5), ("", 0)),
    ],
)
def test_komi_of_fox_and_gokifu_is_in_hundredths(program: str, stated: str, meant: float) -> None:
    """F2-41, KataGo #1118."""
    for size in (9, 13, 19):
        assert komi(f"(;GM[1]SZ[{size}]KM[{stated}]AP[{program}];B[aa])") == meant


@pytest.mark.parametrize(
    ("properties", "meant"),
    [
        ("SZ[19]KM[375]", 7.5),
        ("SZ[9]KM[650]", 6.5),
        ("SZ[19]KM[275]", 5.5),
        ("SZ[19]KM[350]", 7),
        ("SZ[19]KM[50]", 50),
        ("SZ[19]KM[50]AP[SGFC:1.16]", 50),
        ("SZ[19]KM[180.5]", 180.5),
        ("SZ[19]KM[-180]", -180),
        ("SZ[9]KM[3.75]RU[Chinese]", 7.5),
        ("SZ[9]KM[3.25]RU[中国规则]", 6.5),
        ("SZ[9]KM[2.75]RU[cn]", 5.5),
        ("SZ[9]KM[-3.75]RU[Chinese]", -7.5),
        ("SZ[9]KM[3.5]RU[Chinese]", 3.5),
        ("SZ[9]KM[3]RU[Chinese]", 3),
        ("SZ[9]KM[3.5]AP[foxwq]", 3.5),
        ("SZ[9]KM[ 5.5 ]", 5.5),
        ("SZ[9]KM[+.5]", 0.5),
    ],
)
def test_komi_is_what_the_program_means(properties: str, meant: float) -> None:
    """F2-41: a stone of the Chinese count has two points."""
    assert komi(f"(;GM[1]{properties};B[aa])") == meant


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ("SZ[19]KM[181]", "KM is 181, but komi is at most half of the 361 points of the board"),
        ("SZ[19]KM[-181]", "KM is -181, but komi is at most half of the 361 points of the board"),
        ("SZ[9]KM[41]", "KM is 41, but komi is at most half of the 81 points of the board"),
        ("SZ[9]KM[50]", "KM is 50, but komi is at most half of the 81 points of the board"),
        ("SZ[4:5]KM[10.5]", "KM is 10.5, but komi is at most half of the 20 points of the board"),
        ("SZ[19]KM[600]AP[foxwq]", "KM is 600, but komi is at most half of the 361 points of the board"),
        ("SZ[9]KM[6.3]", "komi must be a multiple of 1/2 from -361 to 361, not 6.3"),
        ("SZ[9]KM[inf]", "KM cannot be read: 'inf'"),
        ("SZ[9]KM[1_0]", "KM cannot be read: '1_0'"),
    ],
)
def test_komi_of_more_than_half_the_board_never_passes_silently(properties: str, message: str) -> None:
    """F2-41. The caller may give another one."""
    text = f"(;GM[1]{properties};B[aa])"
    for strict in (False, True):
        with pytest.raises(ValueError, match=rf"\A{message}\Z"):
            sgf.load(text, strict=strict)
    assert sgf.load(text, komi=6.5).rules.settings["komi"] == 6.5


def test_the_largest_komi_is_half_the_board() -> None:
    assert (komi("(;SZ[4:5]KM[10])"), komi("(;SZ[4:5]KM[-10])")) == (10, -10)


def test_strict_komi_is_not_corrected() -> None:
    for text in ("(;SZ[19]KM[325]AP[foxwq])", "(;SZ[19]KM[3.75]RU[Chinese])"):
        with pytest.raises(ValueError, match="komi"):
            sgf.load(text, strict=True)
    assert sgf.load("(;SZ[19]KM[50]AP[foxwq])", strict=True).rules.settings["komi"] == 50


@pytest.mark.parametrize(
    ("rules", "suicide"),
    [
        ("Area Scoring", False),
        ("Counting", False),
        ("Ing", True),
        ("ING Goe", True),
        ("GOE", True),
        ("NZ", True),
        (" nz ", True),
        ("New Zealand", True),
        ("Kiwi NZ-like", False),
        ("Tromp-Taylor", True),
        ("koSIMPLEscoreAREAtaxNONEsui0", False),
        ("koSIMPLEscoreAREAtaxNONEsui1", True),
        ("Chinese", False),
    ],
)
def test_suicide_is_allowed_by_the_name_of_the_rules(rules: str, suicide: bool) -> None:
    """Letters inside a word name no rules."""
    for other in (False, True):
        assert sgf.load(f"(;SZ[9]RU[{rules}])", defaults={"suicide": other}).rules.settings["suicide"] is suicide


def test_a_file_says_nothing_of_what_it_does_not_name() -> None:
    """Defaults stand there, and do not where the file has a property for it."""
    kept = {"komi": 7.0, "ko": "positional", "suicide": True, "max_plies": 50, "mercy": 9, "rows": 13, "first": "white"}
    found = sgf.load("(;SZ[9];B[aa])", defaults=kept).rules.settings
    assert found == {**kept, "rows": 9, "columns": 9, "black": "", "white": "", "first": "black"}
    found = sgf.load("(;SZ[9]KM[0]RU[Japanese]UCD[mercy=0];B[aa])", defaults=kept).rules.settings
    assert [found[name] for name in ("komi", "ko", "suicide", "max_plies", "mercy")] == [0, "simple", False, 50, 0]
    assert sgf.load("(;SZ[9]KM[])", defaults=kept).rules.settings["komi"] == 7.0
    assert sgf.load("(;SZ[9]RU[ ])", defaults=kept).rules.settings["ko"] == "positional"


@pytest.mark.parametrize(
    ("text", "default", "swap"),
    [
        ("(;GM[11]SZ[3];B[a2];W[b2])", {"swap": True}, True),
        ("(;GM[11]SZ[3];B[a2];W[b2])", {"swap": False}, False),
        ("(;GM[11]SZ[3];B[a2];W[b2])", {}, False),
        ("(;GM[11]SZ[3];B[a2];W[swap])", {"swap": False}, True),
        ("(;GM[11]SZ[3]UCD[swap=0];B[a2];W[b2])", {"swap": True}, False),
        ("(;GM[11]SZ[3:4];B[a2];W[b2])", {"swap": True}, False),
    ],
)
def test_the_swap_is_a_default_too(text: str, default: dict[str, bool], swap: bool) -> None:
    """A board that is not square has none."""
    assert sgf.load(text, defaults=default).rules.settings["swap"] is swap


# Turns


@pytest.mark.parametrize(
    ("text", "moves", "stones", "mover"),
    [
        ("(;SZ[19]HA[2]KM[0.5];B[dd];B[pp];W[dp])", "D16 pass Q4 D4", ("D16 Q4", "D4"), 0),
        ("(;SZ[9];B[aa];W[bb];W[cc];B[dd])", "A9 B8 pass C7 D6", ("A9 D6", "B8 C7"), 1),
        ("(;SZ[9]PL[W];B[aa])", "pass A9", ("A9", ""), 1),
        ("(;SZ[9];B[aa];PL[B])", "A9 pass", ("A9", ""), 0),
        ("(;SZ[9];B[aa];PL[W])", "A9", ("A9", ""), 1),
        ("(;SZ[9];B[aa];PL[B];C[x])", "A9 pass", ("A9", ""), 0),
        ("(;SZ[9]PL[W];PL[B];B[aa])", "A9", ("A9", ""), 1),
        ("(;SZ[9]PL[B];PL[W];W[aa])", "A9", ("", "A9"), 0),
        ("(;SZ[9];B[aa];PL[B];B[bb];W[cc])", "A9 pass B8 C7", ("A9 B8", "C7"), 0),
        ("(;SZ[9];B[aa];PL[B];W[bb])", "A9 B8", ("A9", "B8"), 0),
        ("(;SZ[9];W[aa];B[bb];B[cc])", "A9 B8 pass C7", ("B8 C7", "A9"), 1),
        ("(;SZ[9];B[aa]W[bb])", "A9 B8", ("A9", "B8"), 0),
        ("(;SZ[9];W[aa]B[bb])", "A9 B8", ("B8", "A9"), 1),
        ("(;SZ[9];B[aa];B[tt]W[tt])", "A9 pass", ("A9", ""), 0),
        ("(;SZ[9];B[aa];W[tt]B[tt])", "A9 pass pass", ("A9", ""), -1),
    ],
)
def test_a_skipped_turn_is_a_pass_that_was_not_written(text: str, moves: str, stones: tuple[str, str], mover: int) -> None:
    """F2-42, leela-zero #1653: free handicaps as moves, and turns left out anywhere."""
    record = sgf.load(text)
    assert (names(record), board(record.state), record.state.player) == (moves, stones, mover)
    assert len(record.comments) == len(record.actions)


@pytest.mark.parametrize(
    ("text", "moves", "mover"),
    [
        ("(;SZ[9];B[aa];W[];W[bb])", "A9 B8", 0),
        ("(;SZ[9];B[aa];B[];W[bb])", "A9 B8", 0),
        ("(;SZ[9];B[aa];B[])", "A9", 1),
        ("(;SZ[9];B[aa];B[];B[bb])", "A9 pass B8", 1),
        ("(;SZ[9];B[aa];W[];PL[W])", "A9", 1),
        ("(;SZ[9];B[];B[])", "pass", 1),
        ("(;SZ[9];B[];B[];B[])", "pass", 1),
        ("(;SZ[9];B[];W[];B[])", "pass pass", -1),
    ],
)
def test_a_skipped_turn_ends_no_game(text: str, moves: str, mover: int) -> None:
    """F2-42: it and a pass beside it cancel out, since two passes in a row would be the end."""
    record = sgf.load(text)
    assert (names(record), record.state.player) == (moves, mover)


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("(;SZ[9];B[aa];W[];B[];W[bb];B[cc])", "A9 B8 C7"),
        ("(;SZ[9];B[aa];W[];B[];B[bb];W[cc])", "A9 pass B8 C7"),
        ("(;SZ[9];B[];W[];B[aa];W[];B[];W[bb];B[];W[])", "A9 B8 pass pass"),
        ("(;SZ[9];B[aa];W[];B[];W[];B[cc])", "A9 pass C7"),
    ],
)
def test_a_game_that_goes_on_after_two_passes_goes_on(text: str, moves: str) -> None:
    """Servers let players go on who do not agree about dead stones."""
    record = sgf.load(text)
    assert (begun(record), names(record)) == (("", ""), moves)


def test_a_ko_that_two_passes_have_freed_is_taken_back() -> None:
    """White takes C7 from D7, both pass, and Black takes back: the record begins anew there."""
    text = "(;SZ[9]AB[cc][ec][db][dd]AW[bc][cb][cd]PL[W];W[dc]"
    taken = ("D6 D8 E7", "B7 C6 C8 D7")
    assert board(sgf.load(text + ")").state) == taken
    with pytest.raises(ValueError, match=r"\Amove 2 \(B C7\) is not legal: the point is taken, in ko, or without a liberty\Z"):
        sgf.load(text + ";B[cc])")
    record = sgf.load(text + ";B[];W[];B[cc];W[aa])")
    assert (begun(record), names(record)) == (taken, "C7 A9")


def test_a_root_with_moves_keeps_its_facts() -> None:
    text = "(;B[aa]W[bb]AB[cc]SZ[9]KM[5.5]RU[NZ]PB[one]C[two];B[dd])"
    record = sgf.load(text)
    settings = record.rules.settings
    assert (settings["rows"], settings["komi"], settings["suicide"], record.players[0]) == (9, 5.5, True, "one")
    assert (begun(record), names(record), record.comments) == (("A9 C7", "B8"), "D6", ("",))
    assert sgf.load(text, stop=2).comments == ("", "two")


def test_stop_counts_the_written_moves() -> None:
    text = "(;SZ[9];B[aa]C[1];B[bb]C[2];W[]C[3];W[cc]C[4];AB[dd];B[ee]C[5]W[ff];B[tt])"
    found = [sgf.load(text, stop=stop) for stop in range(8)]
    assert [names(record) for record in found] == [
        *("", "A9", "A9 pass B8", "A9 pass B8 pass", "A9 pass B8 C7", "E5", "E5 F4", "E5 F4 pass"),
    ]
    assert [record.comments for record in found[2:]] == [
        *(("1", "", "2"), ("1", "", "2", "3"), ("1", "", "2", "4"), ("5",), ("5", ""), ("5", "", "")),
    ]


def test_more_moves_than_a_game_has_need_a_higher_limit() -> None:
    """Skipped turns count, also against the limit of the caller's defaults; a file of our own keeps its limit."""
    one = "(;SZ[2]" + ";B[aa];B[bb];W[ab];W[ba]" * 4 + ")"
    record = sgf.load("(;SZ[2]PL[W];B[aa];B[bb])", defaults={"max_plies": 3})
    assert (names(record), record.rules.max_plies) == ("pass A2 pass B1", 4)
    assert sgf.load("(;SZ[2];B[aa];B[bb])", defaults={"max_plies": 3}).rules.max_plies == 3
    assert sgf.load("(;SZ[2];W[];B[aa];W[ab];B[ba])").rules.max_plies == 12
    with pytest.raises(ValueError, match=r"\Amove 4 \(B B2\) is not legal: the game is over\Z"):
        sgf.load("(;SZ[2]UCD[max_plies=3];B[aa];W[bb];B[tt];B[ba])")
    assert sgf.load(one, stop=0).rules.max_plies > 12
    assert sgf.load(one.replace("SZ[2]", "SZ[2]UCD[max_plies=3]"), stop=0).rules.max_plies == 3


# Setups


@pytest.mark.parametrize(
    ("text", "begins", "moves", "mover"),
    [
        ("(;SZ[9]KM[5.5];B[ee];W[cc];AB[dd][ff]AW[gg];B[aa])", ("D6 E5 F4", "C7 G3"), "A9", 1),
        ("(;SZ[9];B[ee];W[cc];AB[dd];W[aa])", ("D6 E5", "C7"), "A9", 0),
        ("(;SZ[9];B[ee];AB[dd];AE[dd];AW[cc];W[aa])", ("E5", "C7"), "A9", 0),
        ("(;SZ[9];B[ee];W[cc];AB[ee]AW[cc]AE[aa];B[aa])", ("", ""), "E5 C7 A9", 1),
        ("(;SZ[9];B[ee];W[cc];AB[dd];AE[dd];B[aa])", ("", ""), "E5 C7 A9", 1),
        ("(;SZ[9];B[ee];W[cc];AE[ee];B[aa])", ("", "C7"), "A9", 1),
        ("(;SZ[9];B[ee];W[cc];AE[ee])", ("", ""), "E5 C7", 0),
        ("(;SZ[9];B[ee];W[];B[];AE[ee]AB[aa])", ("", ""), "E5 pass pass", -1),
        ("(;SZ[9];B[ee];W[];B[];AE[ee]AB[aa];W[bb])", ("A9", ""), "B8", 0),
        ("(;SZ[9];B[ee];W[cc];AB[dd])", ("D6 E5", "C7"), "", 0),
        ("(;SZ[9];B[ee];AB[dd])", ("D6 E5", ""), "", 1),
        ("(;SZ[9];B[ee];AB[dd]PL[B])", ("D6 E5", ""), "", 0),
        ("(;SZ[9];B[ee];AB[dd];B[aa];W[bb];AW[cc];B[ff])", ("A9 D6 E5", "B8 C7"), "F4", 1),
        ("(;SZ[9];B[resign];AB[dd];W[ee])", ("D6", ""), "E5", 0),
        ("(;SZ[9]AB[dd];AE[dd];AW[ee]B[aa])", ("", "E5"), "A9", 1),
        ("(;SZ[9];B[ee];W[cc];B[tt]AE[ee]C[dead])", ("", ""), "E5 C7 pass", 1),
        ("(;SZ[9];B[ee]AW[cc];B[aa])", ("E5", "C7"), "A9", 1),
        ("(;SZ[9];B[ee];AW[cc]W[dd]AB[ff];B[aa])", ("E5 F4", "C7 D6"), "A9", 1),
    ],
)
def test_a_record_begins_at_its_last_setup(text: str, begins: tuple[str, str], moves: str, mover: int) -> None:
    """F2-43, Sabaki #316: not at a setup that changes nothing or takes off dead stones after the end."""
    record = sgf.load(text)
    assert (begun(record), names(record), record.state.player) == (begins, moves, mover)
    assert sgf.load(sgf.saved(record.rules, record.actions)).state == record.state


def test_a_setup_keeps_komi_and_rules() -> None:
    text = "(;SZ[9]KM[5.5]RU[koPOSITIONALsui1];B[ee];W[cc];AB[dd];B[aa])"
    settings = sgf.load(text, mercy=40).rules.settings
    assert [settings[name] for name in ("komi", "ko", "suicide", "mercy")] == [5.5, "positional", True, 40]


def test_an_impossible_setup_is_refused_with_its_move() -> None:
    with pytest.raises(ValueError, match=r"\Amove 2 \(W 'cc'\) is not legal: every chain before the start needs a liberty\Z"):
        sgf.load("(;SZ[9];B[aa];AW[ba][ab];W[cc])")
    with pytest.raises(ValueError, match=r"\AAB, AW and AE say different things of B8\Z"):
        sgf.load("(;SZ[9];B[aa];AW[bb]AB[bb];W[cc])")


# Hex


@pytest.mark.parametrize(
    ("text", "begins", "moves", "stones", "mover"),
    [
        ("(;GM[11]SZ[4];W[a1])", ("", ""), "a1", ("", "a1"), 0),
        ("(;GM[11]SZ[4]AB[a1][a2];AE[a1];B[b1])", ("a2", ""), "b1", ("a2 b1", ""), 1),
        ("(;GM[11]SZ[4];B[a1];B[b1];W[c1])", ("a1", ""), "b1 c1", ("a1 b1", "c1"), 0),
        ("(;GM[11]SZ[4];B[a1];W[b1];AB[c1];B[d1])", ("a1 c1", "b1"), "d1", ("a1 c1 d1", "b1"), 1),
        ("(;GM[11]SZ[4];B[a1];W[b1];AE[b1])", ("", ""), "a1 b1", ("a1", "b1"), 0),
        ("(;GM[11]SZ[4];B[a1];W[b1];PL[W])", ("a1", "b1"), "", ("a1", "b1"), 1),
        ("(;GM[11]SZ[4]AB[ aa ]PL[white];W[ b1 ])", ("a1", ""), "b1", ("a1", "b1"), 0),
        ("(;GM[11]SZ[4];b[a1];w[SWAP])", ("", ""), "a1 swap", ("", "a1"), 0),
    ],
)
def test_records_of_hex_keep_to_the_same_rules(
    text: str, begins: tuple[str, str], moves: str, stones: tuple[str, str], mover: int
) -> None:
    """F2-42 to 45 and 47. Hex has no pass: a record begins anew after a skipped turn."""
    record = sgf.load(text)
    assert (begun(record), names(record), board(record.state), record.state.player) == (begins, moves, stones, mover)
    assert sgf.load(sgf.saved(record.rules, record.actions)).state == record.state


# Grammar


@pytest.mark.parametrize(
    "text",
    [
        "(\nGM[1]SZ[9]\n;B[ee];W[cc])",
        "(GM[1]SZ[9];B[ee];W[cc])",
        "( SZ [9];B[ee](;W[cc])(;W[dd]))",
        "From: one\n(see below)\n(\nSZ[9]\n;B[ee](;W[cc])(;W[dd]))",
        "(;SZ[9];b[ee];w[cc])",
        "(;sz[9]gm[1];black[ee];white[cc])",
        "(;SiZe[9]GaMe[1];Black[ee];White[cc])",
        "(gm[1]sz[9];b[ee]c[(GM[1\\] b[dd\\]];w[cc])",
        "(;SZ[ 9 ];B[ ee ];W[\ncc\n])",
        "(;SZ[9]C[(SZ[19\\] b[aa\\]];B[ee];W[cc])",
        "(;SZ[9]PL[1];B[ee];W[cc])",
        "(;SZ[9]PL[black];B[ee];W[cc];PL[1])",
        "(;SZ[9]PL[ B ];B[ee];W[cc];PL[BLACK])",
        "(;SZ[9]ab[];B[ee];W[cc])",
    ],
)
def test_liberties_of_other_programs_are_read(text: str) -> None:
    """F2-45, F2-47: a root without a semicolon, names in lower case, PL in words and numbers, blanks in points."""
    record = sgf.load(text)
    assert (record.rules.settings["rows"], names(record), record.state.player) == (9, "E5 C7", 0)


def test_a_root_without_a_semicolon_begins_with_any_of_its_facts() -> None:
    """F2-45."""
    for first in ("GM[1]", "FF[4]", "CA[UTF-8]", "AP[x]", "GN[x]", "EV[x]", "DT[x]", "PB[x]", "PW[x]", "KM[5.5]", "RU[x]"):
        assert names(sgf.load(f"(\n{first}SZ[9];B[ee](;W[cc])(;W[dd]))")) == "E5 C7"


@pytest.mark.parametrize("text", ["PL[2]", "PL[white]", "PL[White]", "PL[W]", "PL[w]"])
def test_white_has_three_names(text: str) -> None:
    """F2-45."""
    assert sgf.load(f"(;SZ[9]{text})").state.player == 1


def test_a_text_in_a_value_is_left_alone() -> None:
    text = "(SZ [1\\] gm[ (; x"
    record = sgf.load(f"(SZ[9]PB[{text}];b[ee]c[{text}])")
    assert (record.players[0], *record.comments) == ("(SZ [1] gm[ (; x", "(SZ [1] gm[ (; x")


# Strict


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(;SZ[9];B[aa];AW[bb];W[cc])", "after move 1, in the middle of the game, the position is set up anew"),
        ("(;SZ[9];B[aa]AW[bb])", "move 1 and a setup after it stand in one node"),
        ("(;SZ[9]B[aa]AW[bb])", "move 1 and a setup after it stand in one node"),
        ("(;SZ[9];B[aa];AW[bb])", "after move 1, in the middle of the game, the position is set up anew"),
        ("(;SZ[9];B[aa];PL[B];B[cc])", "after move 1, in the middle of the game, the position is set up anew"),
        ("(;SZ[9];B[aa];B[bb])", r"move 2 \(B B8\) is not legal: it is White's turn"),
        ("(;SZ[9]PL[W];B[bb])", r"move 1 \(B B8\) is not legal: it is White's turn"),
        ("(;SZ[9];B[];W[];B[aa])", r"move 3 \(B A9\) is not legal: the game is over"),
        ("(;SZ[9];B[];W[];B[])", r"move 3 \(B pass\) is not legal: the game is over"),
        ("(;SZ[9];B[aa]W[bb])", "move 1 is more than one: B 'aa' and W 'bb'"),
        ("(;SZ[9];B[ aa ])", r"move 1 \(B ' aa '\) is not legal: B cannot be read: ' aa '"),
        ("(;SZ[9]AB[ aa ])", "AB cannot be read: ' aa '"),
        ("(;SZ[9]PL[Black])", "PL cannot be read: 'Black'"),
        ("(;SZ[9]PL[1])", "PL cannot be read: '1'"),
        ("(;SZ[9]PL[ B])", "PL cannot be read: ' B'"),
        ("(SZ[9];B[aa])", "this is no SGF: a root has no semicolon, or names of properties are in lower case"),
        ("(;SZ[9];b[aa])", "this is no SGF: a root has no semicolon, or names of properties are in lower case"),
        ("(;GM[11]SZ[5];W[a1])", r"move 1 \(W a1\) is not legal: it is Black's turn"),
        ("(;GM[11]SZ[5];B[ a1])", r"move 1 \(B ' a1'\) is not legal: ' a1' is no cell of this board: expected a1 to e5"),
    ],
)
def test_strict_reading_repairs_nothing(text: str, message: str) -> None:
    """Only what stands in no contradiction to itself is read otherwise."""
    with pytest.raises(ValueError, match=rf"\A{message}\Z"):
        sgf.load(text, strict=True)
    sgf.load(text)


def test_strict_reading_reads_what_keeps_the_rules() -> None:
    text = "(;GM[1]FF[4]SZ[9]KM[6.5]AB[aa:bb]PL[w]W[cc];B[tt];W[])"
    assert sgf.load(text, strict=True).state == sgf.load(text).state
    assert names(sgf.load(text, strict=True)) == "C7 pass pass"


def test_every_name_of_an_encoding_is_known_to_python() -> None:
    assert all(codecs.lookup(codec) for codec in CODECS.values())
