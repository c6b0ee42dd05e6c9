"""Upkeep of a knowledge base: a check of its whole file, a copy without gaps, and its entries as text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ucd_envs.kernels import compiled
from ucd_envs.rules import Rules
from ucd_envs.symmetries import CANONICAL, canonical
from ucd_planners.arena.training import rules_of
from ucd_planners.knowledge_base import CHECK_BYTES, MOVE, START, KnowledgeBase, check_of
from ucd_planners.knowledge_file import library

COLUMNS = ("key", "ply", "total", "action", "visits", "value_sum")
SLACK = 1e-6
"""Rounding of sums of payoffs, relative to the visits."""
MOST_FAULTS = 20


def verify(base: KnowledgeBase) -> list[str]:
    """Returns the faults of a base in sentences, at most 20; none for a base that is whole.

    First every page of the file is checked without LMDB, then every entry: its check, the size of its key and value, its moves,
    and whether its key is the canonical one. Nobody should write meanwhile. Raises ValueError for a base of another version.
    """
    library()
    from lmdb.verify import verify as verified

    rules = rules_of(base)
    faults: list[str] = [f"the file: {fault}" for fault in verified(str(base.path), subdir=False)]
    if faults:
        return faults[:MOST_FAULTS]
    for key, value in base.values():
        fault = fault_of(rules, base, key, value)
        if fault:
            faults.append(f"the position {key.hex()}: {fault}")
        if len(faults) == MOST_FAULTS:
            break
    return faults


def fault_of(rules: Rules, base: KnowledgeBase, key: bytes, value: bytes) -> str:
    """Returns the fault of an entry in words, empty for none."""
    words = 8 * rules.key_words
    if len(key) != words + 8 * base.graded:
        return f"its key has {len(key)} bytes"
    if len(value) <= START or (len(value) - START) % MOVE.itemsize:
        return f"its value has {len(value)} bytes"
    if value[:CHECK_BYTES] != check_of(key, value[CHECK_BYTES:]):
        return "it has changed on the disk"
    total, moves = int.from_bytes(value[CHECK_BYTES:START], "little"), np.frombuffer(value, MOVE, offset=START)
    actions, visits, sums = moves["action"].astype(int), moves["visits"].astype(np.float64), moves["value_sum"]
    if (np.diff(actions) <= 0).any() or actions[-1] >= rules.actions:
        return "its moves are not actions in their order"
    if (visits < 1).any() or visits.sum() > total:
        return "its visits do not agree with their sum"
    if not ((sums >= -SLACK * visits) & (sums <= (1 + SLACK) * visits)).all():
        return "it has a mean payoff outside of 0 to 1"
    if rules.symmetries is not None:
        own, least = np.frombuffer(bytearray(key[:words]), np.uint64), np.zeros(rules.key_words, np.uint64)
        compiled(canonical, CANONICAL)(rules.symmetries.bits, own, least)
        if own.tobytes() != least.tobytes():
            return "its key is not the canonical one"
    return ""


def compact(base: KnowledgeBase, place: Path) -> None:
    """Writes a copy without gaps to a new file. Raises OSError with one sentence where it exists or cannot be written."""
    base.file.copy(place)
    copied = KnowledgeBase(place)
    copied.note(f"compact: a copy of {base.path.name}")
    copied.close()


def exported(base: KnowledgeBase, as_json: bool = False) -> Iterator[str]:
    """Yields the base as lines: CSV with a head line and a line for each move, or an object of JSON for each position.

    key: the canonical key in hexadecimal digits without the ply; ply: empty, or null, in a base that leaves it out. Raises
    OSError for a damaged base.
    """
    if not as_json:
        yield ",".join(COLUMNS)
    for key, total, moves in base.entries():
        words, ply = (key[:-8], int.from_bytes(key[-8:], "little")) if base.graded else (key, None)
        listed = [(int(move["action"]), int(move["visits"]), float(move["value_sum"])) for move in moves]
        if as_json:
            named = [dict(zip(COLUMNS[3:], move, strict=True)) for move in listed]
            yield json.dumps({"key": words.hex(), "ply": ply, "total": total, "moves": named})
            continue
        for action, visits, value_sum in listed:
            yield f"{words.hex()},{'' if ply is None else ply},{total},{action},{visits},{value_sum!r}"
