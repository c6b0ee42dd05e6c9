"""Texts that the bytes of a game record may stand for.

A record names its encoding in the property CA, and has to be decoded before it is parsed: in Shift_JIS, Big5, GBK and GB18030
the second byte of a character may be a backslash or a bracket. The order of trust:

1. a byte order mark, or the zero bytes of UTF-16, which leave no other choice;
2. the encoding in CA, and the larger one that files under its name use;
3. UTF-8 where all bytes are valid;
4. the encoding in CA, with a mark for each character that cannot be read;
5. without a usable CA: ISO-8859-1, the default of SGF, and the encodings of East Asia.

A wrong text hides brackets or shows false ones: `parsing` takes the text with most properties, among equals the most trusted.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"(\0", "utf-16-le"),
    (b"\0(", "utf-16-be"),
)
"""First bytes that tell an encoding. The mark of UTF-32 begins with that of UTF-16."""
DECLARED = re.compile(rb"[Cc][Aa]\s*\[\s*([A-Za-z0-9][A-Za-z0-9._: -]{0,40}?)\s*\]")
MOST_DECLARED = 3
"""Values of CA that are tried. The right one is the first, or stands behind a text that has the same letters."""
OTHER_NAMES = {"x-sjis": "cp932", "windows-31j": "cp932", "x-gbk": "gbk", "x-windows-949": "cp949", "x-windows-950": "cp950"}
"""Names, in lower case, that Python does not know."""
LARGER = {
    "shift_jis": "cp932",
    "shift_jisx0213": "cp932",
    "shift_jis_2004": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "euc_kr": "cp949",
}
"""Encodings by Python's names, each with a larger one that is often meant."""
EAST = ("cp932", "gb18030", "big5hkscs", "cp949")
NO_FILES = {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "utf-7", "utf-8"}
"""Codecs that are no encodings of files, and UTF-8, which is tried in any case."""
ASCII = bytes(range(32, 126))
LOST = "\ufffd"
"""Mark of a character that could not be read."""


class Decoded(NamedTuple):
    """A text, the value of CA that it was decoded by, and whether it may be garbled."""

    text: str
    declared: str | None
    doubtful: bool


def decodings(data: bytes) -> Iterator[Decoded]:
    """Returns the texts that bytes may stand for, the most trusted first. There is at least one."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            text = data.decode(encoding, "replace")
            yield Decoded(text, None, LOST in text)
            return
    names = [name.decode("ascii") for name in dict.fromkeys(DECLARED.findall(data))][:MOST_DECLARED]
    declared = [(name, encoding) for name in names for encoding in _encodings(name)]
    for name, encoding in declared:
        read = _decoded(data, encoding)
        if read is not None:
            yield Decoded(read, name, False)
    unicode = _decoded(data, "utf-8")
    if unicode is not None:
        yield Decoded(unicode, None, LOST in unicode)
        return
    for name, encoding in declared:
        yield Decoded(data.decode(encoding, "replace"), name, True)
    hidden = re.search(rb"[\x80-\xff]\\", data) is not None
    yield Decoded(data.decode("latin-1"), None, hidden or bool(names))
    if not declared:
        for encoding in EAST:
            foreign = _decoded(data, encoding)
            if foreign is not None:
                yield Decoded(foreign, None, True)


def _encodings(name: str) -> list[str]:
    """Returns the encoding of a name in CA and the larger one, or nothing for a name that is no encoding of files."""
    try:
        known = codecs.lookup(OTHER_NAMES.get(name.lower(), name)).name
    except LookupError:
        return []
    found = dict.fromkeys((known, LARGER.get(known, known)))
    return [encoding for encoding in found if known not in NO_FILES and _decoded(ASCII, encoding) == ASCII.decode()]


def _decoded(data: bytes, encoding: str) -> str | None:
    """Returns a text, or None for bytes that the encoding cannot read."""
    try:
        return data.decode(encoding)
    except (LookupError, ValueError):
        return None
