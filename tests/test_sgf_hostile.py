"""Damaged, random and huge records: each is read, or refused in one sentence."""

from __future__ import annotations

import random
import re
import string
from pathlib import Path

import pytest
from test_go_records import DAME, PASSES
from test_littlegolem import GAME, hgf, lines
from test_sgf import HEXGUI, LITTLE_GOLEM, WRITTEN

from ucd_envs.formats import littlegolem, sgf
from ucd_envs.formats.record import Record

TEXTS = [
    *WRITTEN,
    LITTLE_GOLEM.replace("EV", "GM[11]EV"),
    HEXGUI.replace(";B[e7]", ";B[e7];AB[c3][d4]AW[e5]PL[W];W[b2]"),
    DAME,
    PASSES,
    "(;SZ[19]HA[2]KM[375]AP[foxwq];B[dd];B[pp];W[dp];B[];W[];B[aa];AE[dd];PL[W])",
    "(\nGM[1]SZ[9]\n;b[ee];w[ cc ];AB[dd][ff]AW[gg];B[aa](;W[bb])(;W[])PL[1])",
    "(;GM[1]FF[4]CA[GBK]PB[中文]PW[囗\\]]SZ[9]KM[3.75]RU[Chinese]C[评论];B[ee]C[好];W[cc])",
    "(;GM[11]CA[Shift_JIS]PB[ソ]SZ[5];B[a1]C[表];W[swap];B[b2];B[c3])",
]
CODECS = ("shift_jis", "gbk", "big5", "gb18030", "cp949", "euc_jp", "iso2022_jp", "hz", "utf-8", "utf-16", "utf-32", "latin-1")
TOKENS = (
    *("(", ")", ";", "[", "]", "\\", ":", " ", "\n", "(;", "[]", "[aa]", "[tt]", "[ee]", "[a1]", "[b2]", "[aa:cc]", "[swap]"),
    *("B", "W", "AB", "AW", "AE", "PL", "SZ", "KM", "RU", "HA", "GM", "CA", "C", "PB", "RE", "UCD", "b", "w", "ab", "resign"),
    *("[1]", "[9]", "[19]", "[11]", "[9:5]", "[375]", "[-7]", "[B]", "[2]", "[white]", "[NZ]", "[Chinese]", "[mercy=3]"),
    *("[Shift_JIS]", "[GBK]", "[UTF-8]", "[UTF-16]", "[bz2]", "[idna]", "[999999999999]", "[1e9]"),
    *("[nan]", "\xff", "\u4e2d", "\0"),
)
VALUES = {
    "B": ("aa", "bb", "ab", "ba", "cc", "", "tt", "resign", " bb ", "zz"),
    "AB": ("aa", "bb", "ab", "ba:cb", "", "cc"),
    "PL": ("B", "W", "black", "2", "x"),
    "KM": ("6.5", "375", "3.75", "-1", "0", "x"),
    "RU": ("Chinese", "NZ", "koPOSITIONALsui1", "Area Scoring"),
    "HA": ("0", "2", "x"),
    "UCD": ("max_plies=9 mercy=0", "swap=1", "mercy=1"),
    "AP": ("foxwq", "SGFC:2.0"),
    "C": ("中", "a\\]b", "\n"),
}
CELLS = {
    "B": ("a1", "b2", "c3", "a2", "b1", "swap", "swap-pieces", "aa", "bb", "resign", "", "z9"),
    "AB": ("a1", "b2", "c1", "bc"),
}
ALIKE = {"W": "B", "b": "B", "w": "B", "AW": "AB", "AE": "AB", "ab": "AB"}
NAMES = (*("B", "W") * 12, *ALIKE, *VALUES)
LONGEST_SENTENCE = 200
ONE_LINE = rf"\A.{{1,{LONGEST_SENTENCE}}}\Z"


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Bytes removed, doubled, exchanged and changed."""
    found = bytearray(data)
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3, 10))):
        at, other = chance.randrange(len(found)), chance.randrange(len(found))
        match chance.randrange(5):
            case 0:
                del found[at : at + chance.choice((1, 1, 4, 30))]
            case 1:
                found[at:at] = found[other : other + chance.choice((1, 5, 20))]
            case 2:
                found[at], found[other] = found[other], found[at]
            case 3:
                found[at] = chance.choice(b"[]();:\\ABWEPLSZ019at \n\xff\x00\x83\xe4")
            case 4:
                found[at:at] = chance.choice(TOKENS).encode()
        if not found:
            break
    return bytes(found)


def random_file(chance: random.Random) -> bytes:
    """A damaged record, perhaps of another encoding, a game of any properties, tokens in any order, or any bytes."""
    match chance.randrange(11):
        case 0 | 1 | 2 | 3 | 4:
            text = chance.choice(TEXTS)
            codec = chance.choice(CODECS) if chance.random() < 0.5 else "gb18030"
            return damaged(text.encode(codec, "replace"), chance)
        case 5 | 6 | 7 | 8:
            return random_game(chance).encode(chance.choice(("utf-8", "gb18030", "utf-16")))
        case 9:
            return "".join(chance.choice(TOKENS) for _ in range(chance.randrange(60))).encode("utf-8")
        case _:
            return chance.choice((b"", b"(;", b"(;SZ[9]C[", b"\xff\xfe")) + chance.randbytes(chance.randrange(200))


def random_game(chance: random.Random) -> str:
    """Nodes with properties in any order."""
    hexagonal = chance.random() < 0.3
    size = chance.choice(("2", "3", "4", "5", "3:2"))
    text = f"(;{'GM[11]' if hexagonal else ''}SZ[{size}]"
    for _ in range(chance.randrange(12)):
        text += chance.choice((";", ";", ";", ";", ""))
        name = chance.choice(NAMES)
        values = (VALUES | CELLS if hexagonal else VALUES)[ALIKE.get(name, name)]
        text += name + "".join(f"[{chance.choice(values)}]" for _ in range(chance.choice((1, 1, 1, 1, 1, 2))))
    return text + ")"


def moves(record: Record) -> list[str]:
    return [record.rules.initial_state().action_name(action) for action in record.actions]


def sentence(error: ValueError) -> str:
    """The text of an error, which is one short line."""
    text = str(error)
    assert type(error) is ValueError
    assert re.search(ONE_LINE, text)
    assert text.isprintable()
    return text


def outcome(data: bytes) -> Record | str:
    """The record, which can be written and is the same, or the sentence. Strict reading refuses more, but reads the same."""
    try:
        record = sgf.load(data)
    except ValueError as error:
        with pytest.raises(ValueError, match=ONE_LINE):
            sgf.load(data, strict=True)
        return sentence(error)
    again = sgf.load(sgf.saved(record.rules, record.actions, comments=record.comments), strict=True)
    assert (again.state, again.rules.identity, again.comments) == (record.state, record.rules.identity, record.comments)
    try:
        strict = sgf.load(data, strict=True)
    except ValueError as error:
        sentence(error)
    else:
        assert (moves(strict), strict.rules.planes) == (moves(record), record.rules.planes)
    stop = len(data) % 7
    assert len(sgf.load(data, stop=stop).actions) <= 2 * stop + 1
    return record


def fuzz(seed: int, count: int) -> tuple[int, set[str]]:
    """Records read, and the sentences without their details."""
    chance = random.Random(seed)
    read, sentences = 0, set()
    for _ in range(count):
        found = outcome(random_file(chance))
        if isinstance(found, str):
            sentences.add("".join(word for word in found if word in string.ascii_letters + " ")[:30])
        else:
            read += 1
    return read, sentences


def test_a_few_damaged_records_are_read_or_refused() -> None:
    read, sentences = fuzz(0, 300)
    assert read > 40
    assert len(sentences) > 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 13))
def test_damaged_records_are_read_or_refused(seed: int) -> None:
    """12,000 files."""
    read, sentences = fuzz(seed, 1000)
    assert read > 150
    assert len(sentences) > 15


@pytest.mark.parametrize(
    "data",
    [
        b"(" * 100_000,
        b"(;" * 30_000,
        b"(;SZ[9]" + b"(;B[aa]" * 20_000 + b")" * 20_001,
        b"(;SZ[9]C[" + b"[" * 100_000,
        b"(;SZ[9]C[" + b"\\" * 100_001 + b"])",
        b"(;SZ[9]" + b"a" * 100_000 + b"[x])",
        b"(;SZ[9]" + b"a " * 50_000 + b"[x])",
        b"(;SZ[9]" + b" " * 100_000 + b"B[aa])",
        b"(" + b" " * 100_000 + b"x",
        b"(;SZ[9]" + b"".join(b"CA[x%d]" % number for number in range(10_000)) + b"PB[\xff\\])",
        b"(;SZ[9]" + b"AB[aa]" * 20_000 + b")",
        b"(;SZ[9]AB" + b"[aa:ii]" * 2_000 + b"AE[ee])",
        b"(;SZ[9]" + b";B[aa];AE[aa]" * 2_000 + b")",
        b"(;SZ[2]" + b";B[];W[];B[aa];AE[aa]" * 1_000 + b")",
        b"(;GM[11]SZ[19]" + b"".join(b";B[%c%d]" % (97 + cell % 19, 1 + cell // 19) for cell in range(100)) + b")",
        b"(;SZ[" + b"9" * 100_000 + b"])",
        b"(;SZ[9]KM[" + b"9" * 100_000 + b"])",
        b"(;SZ[9]PB[" + b"\x83\\" * 50_000 + b"];B[aa])",
        b"\xff\xfe" + b"(\0;\0" * 10_000,
    ],
    ids=range(19),
)
def test_a_huge_file_is_read_or_refused(data: bytes) -> None:
    """No time or memory that grows faster than the file, no recursion."""
    found = outcome(data)
    assert isinstance(found, (Record, str))


def havannah_file(chance: random.Random, games: list[tuple[str, str, list[str]]]) -> bytes:
    """Games of Little Golem or HavannahGui, damaged, or tokens."""
    match chance.randrange(4):
        case 0 | 1:
            text = "\n".join(hgf(*chance.choice(games)) for _ in range(chance.choice((1, 1, 2))))
        case 2:
            text = GAME if chance.random() < 0.5 else GAME.replace("FF[4]", "GM[Havannah]")
        case _:
            return (f"(;SZ[4]{''.join(chance.choice(TOKENS) for _ in range(chance.randrange(30)))})").encode()
    return damaged(text.encode(), chance)


def fuzz_havannah(seed: int, count: int, path: Path) -> tuple[int, int]:
    """Files read and refused."""
    chance = random.Random(seed)
    games = [game for game in lines() if len(game[2]) < 60]
    read, refusals = 0, []
    for _ in range(count):
        path.write_bytes(havannah_file(chance, games))
        try:
            for record in littlegolem.load(path):
                assert len(list(record.states())) == len(record.actions) + 1 == len(record.comments) + 1
            read += 1
        except ValueError as error:
            refusals.append(error)
    for error in refusals:
        sentence(error)
    return read, len(refusals)


def test_a_few_damaged_records_of_havannah_are_read_or_refused(tmp_path: Path) -> None:
    assert min(fuzz_havannah(0, 200, tmp_path / "games.hgf")) > 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 13))
def test_damaged_records_of_havannah_are_read_or_refused(seed: int, tmp_path: Path) -> None:
    """12,000 files."""
    assert min(fuzz_havannah(seed, 1000, tmp_path / "games.hgf")) > 100
