"""A knowledge base [NoGo 4.2]: statistics of earlier searches by position, which later searches begin with.

The confidence of move i of a position is

    MCD = alpha * v_i / V + winrate_i        v_i: its visits,  V: all visits of the position,  winrate_i: its mean payoff

with the mover's payoff. After a search the moves with an MCD of at least `threshold_to_learn` are written; a move that is known
already is brought up to date in any case, so that its numbers stay means. Before a search the base is read: a move with an MCD
of at least `threshold_to_play` is played at once, or the known moves are the root's initial statistics.

A position is its exact key. In a game that names its symmetries all images of a position are one entry, that of the smallest
key, and moves are mapped there and back. The file is written in short transactions and read without a copy.
"""

from __future__ import annotations

import json
import weakref
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ucd_envs.rules import Rules, State
from ucd_envs.settings import boolean, one_of, real, shown
from ucd_envs.symmetries import canonical_key, disagreement
from ucd_planners.knowledge_file import HEADER, File, created, opened
from ucd_planners.options import refuse_unserved
from ucd_planners.result import SearchResult
from ucd_planners.search.interface import Selection
from ucd_planners.seeds import Known, Seeds
from ucd_planners.worker import Settings

FORMAT = 1
"""The layout of a base's file, which changes with keys, values and header."""
LONGEST_KEY = 511
"""Bytes of the longest key in LMDB."""
MOVE = np.dtype([("action", "<u2"), ("visits", "<u8"), ("value_sum", "<f8")])
"""A move of an entry: its action in the canonical position, its visits, and the mover's payoffs in sum."""
CHECK_BYTES, START = 4, 12
"""A value is the CRC-32 of the key and the rest, the visits of all moves in 8 bytes up to START, and the known moves."""
BLOCK = 4096
"""Entries read by one transaction."""
MOST_ALPHA = 100.0
USES = ("play", "seed")
ANSWERED = "knowledge"
"""The end of a search that the base has answered."""


@dataclass(frozen=True)
class Header:
    """The facts of a base, which never change: what it is a base of, and by which rule it learns."""

    game: str
    settings: dict[str, Any]
    rules: str
    """Digest of the game's configuration and of the layout of its states."""
    key: str
    """Layout of a position's key: its words, the ply, and a digest of the symmetries."""
    actions: int
    planner: str
    """Canonical text of the planner whose searches are learned."""
    alpha: float
    threshold_to_learn: float
    threshold_to_play: float
    made: str
    format: int = FORMAT


@dataclass(init=False, eq=False, repr=False)
class KnowledgeBase:
    """A knowledge base in a file, which `KnowledgeBase.create` makes; for a planner's `knowledge=`.

    threshold: MCD from which a move is played at once, 0 to alpha + 1; by default the base's own. use: "play", or "seed" to
    begin the search with known moves as initial statistics of the root, of at most `virtual` playouts in all, 1 to 1e6. They
    count in no result, and a search at a position that the base does not know is the same as without it.

    Raises ValueError with one sentence for a file that is missing, no base, damaged or of another format, and TypeError or
    ValueError for other parameters. In another process a pickled one opens the file again. Reading writes nothing.
    """

    path: Path
    threshold: float
    use: str
    virtual: float

    def __init__(
        self, path: str | PathLike[str], threshold: float | None = None, use: str = "play", virtual: float = 5.0
    ) -> None:
        self.path = Path(path)
        self.use, self.virtual = one_of("use", use, USES), real("virtual", virtual)
        if not 1 <= self.virtual <= 1e6:
            raise ValueError(f"virtual must be a number of playouts from 1 to 1e6, not {virtual!r}")
        try:
            self.file: File = opened(self.path)
        except OSError as error:
            raise ValueError(str(error)) from None
        self.close = weakref.finalize(self, self.file.release)
        """Releases the file, which otherwise happens with the base's own end."""
        try:
            self.header = header_of(self.path, self.file.within(lambda transaction: transaction.get(HEADER)))
            self.threshold = self.header.threshold_to_play if threshold is None else real("threshold", threshold)
            if not 0 <= self.threshold <= self.header.alpha + 1:
                raise ValueError(f"threshold must be from 0 to {self.header.alpha + 1:g} in this base, not {threshold!r}")
        except OSError as error:
            self.close()
            raise ValueError(str(error)) from None
        except BaseException:
            self.close()
            raise
        self._rules: Rules | None = None
        self.graded = "without" not in self.header.key
        """Whether the ply is a part of a position's key."""

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        rules: Rules,
        planner: str,
        alpha: float = 1.0,
        threshold_to_learn: float = 0.7,
        threshold_to_play: float = 1.1,
        graded: bool = True,
    ) -> KnowledgeBase:
        """Makes the file of an empty base and opens it.

        planner: canonical text of the planner whose searches are learned; alpha: the weight of a move's share of the visits, 0
        to 100; threshold_to_learn and threshold_to_play: 0 to alpha + 1; graded: whether the ply is a part of the key, as in
        searches with graded=True. Raises OSError for a file that exists or cannot be written; ValueError for values out of
        range and for a game with wrong symmetries, with a longer key than 511 bytes or without states of its own; TypeError for
        settings of the game that are neither numbers nor texts.
        """
        if rules.live is not None or rules.inside is not None:
            raise ValueError(f"a knowledge base needs a game of its own kernels and without groups, not {rules}")
        if 8 * (rules.key_words + 1) > LONGEST_KEY:
            raise ValueError(f"keys of a knowledge base have at most {LONGEST_KEY} bytes, but those of {rules} have more")
        if rules.symmetries is not None and (fault := disagreement(rules)):
            raise ValueError(fault)
        if not 0 <= real("alpha", alpha) <= MOST_ALPHA:
            raise ValueError(f"alpha must be a number from 0 to {MOST_ALPHA:g}, not {alpha!r}")
        for name, value in (("threshold_to_learn", threshold_to_learn), ("threshold_to_play", threshold_to_play)):
            if not 0 <= real(name, value) <= alpha + 1:
                raise ValueError(f"{name} must be a number from 0 to {alpha + 1:g}, which is alpha + 1, not {value!r}")
        header = Header(
            game=rules.reference or rules.name,
            settings=dict(rules.settings),
            rules=rules.digest,
            key=key_layout(rules, boolean("graded", graded)),
            actions=rules.actions,
            planner=planner,
            alpha=float(alpha),
            threshold_to_learn=float(threshold_to_learn),
            threshold_to_play=float(threshold_to_play),
            made=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        created(Path(path), json.dumps(vars(header), default=_plain).encode())
        base = cls(path)
        base.note(f"create: {rules}, {planner}")
        return base

    def check(self, rules: Rules) -> None:
        """Raises ValueError with one sentence for a game, a configuration or a layout of keys that is not the base's."""
        if rules is self._rules:
            return
        header = self.header
        mine = f"{header.game}({', '.join(f'{key}={value!r}' for key, value in header.settings.items())})"
        settings = json.loads(json.dumps(dict(rules.settings), default=_plain))
        if (rules.reference or rules.name) != header.game or settings != header.settings:
            raise ValueError(f"{self.path} is a base of {mine}, not of {rules}: make another base for that game")
        if rules.digest != header.rules or key_layout(rules, self.graded) != header.key or rules.actions != header.actions:
            raise ValueError(
                f"{self.path} is a base of another version of {rules}, whose positions have other keys: make another"
            )
        self._rules = rules
        if rules.symmetries is not None:
            self._back = np.argsort(rules.symmetries.actions, axis=1)
            """The action whose image is each action: [symmetries, actions]."""

    def lookup(self, state: State) -> Known | None:
        """Returns what the base knows of a position, None for nothing.

        Raises OSError for an entry that is damaged, ValueError for another game.
        """
        self.check(state.rules)
        key, symmetry = self._key(state)
        value = self.file.read(key)
        return None if value is None else self._turned(self._entry(key, value), symmetry)

    def answer(self, state: State) -> SearchResult | None:
        """Returns the known move with the largest MCD as the result of a search, None if it is below `threshold`.

        Its visits and values are those of the base; it has no playouts.
        """
        known = None if self.use != "play" else self.lookup(state)
        if known is None:
            return None
        confidence = known.confidence(self.header.alpha)
        best = int(np.lexsort((known.visits, confidence))[-1])
        if confidence[best] < self.threshold:
            return None
        legal = np.array(state.legal_actions(), np.int64)
        if not np.isin(known.actions, legal).all():
            raise OSError(f"{self.path} is damaged: it knows moves that are not legal; use a copy of it")
        visits, values = np.zeros(len(legal), np.int64), np.full(len(legal), np.nan)
        places = np.searchsorted(legal, known.actions)
        visits[places], values[places] = known.visits, known.values
        action = int(known.actions[best])
        nothing = ("playouts", "nodes", "edges", "transpositions", "depth", "workers", "bytes")
        figures: dict[str, Any] = dict.fromkeys(nothing, 0)
        return SearchResult(
            action=action,
            actions=legal,
            visits=visits,
            values=values,
            priors=None,
            value=float(known.values[best]),
            principal_variation=[action],
            state=state,
            full=False,
            stopped=ANSWERED,
            seconds=0.0,
            cpu_seconds=0.0,
            **figures,
        )

    def seeded(self, settings: Settings, state: State) -> Settings:
        """Returns a planner's settings for a search from a position: known moves are its root's initial statistics, or, where
        nothing is known, there are none."""
        if self.use != "seed":
            return settings
        known = self.lookup(state)
        if known is None and settings.initial is None:
            return settings  # the same object, by which workers are kept
        seeds = None if known is None else Seeds.of(known, state.rules.actions, self.virtual)
        return settings._replace(initial=seeds, options=settings.options._replace(has_initial=seeds is not None))

    def learn(self, state: State, result: SearchResult) -> int:
        """Adds a search of a position, in one transaction, and returns the number of moves written.

        Moves with an MCD of at least `threshold_to_learn` become known; the statistics of known moves are added up. An answer
        of the base teaches nothing. Raises OSError, leaving the base as it was, where writing is not possible, and ValueError
        for another game.
        """
        self.check(state.rules)
        visits, total = np.asarray(result.visits, np.int64), int(result.visits.sum())
        if result.stopped == ANSWERED or total == 0:
            return 0
        key, symmetry = self._key(state)
        actions = np.asarray(result.actions, np.int64)
        if state.rules.symmetries is not None:
            actions = state.rules.symmetries.actions[symmetry][actions].astype(np.int64)
        tried = visits > 0
        actions, visits = actions[tried], visits[tried]
        values = np.clip(np.asarray(result.values)[tried], 0.0, 1.0)
        passes = self.header.alpha * visits / total + values >= self.header.threshold_to_learn

        def change(transaction: Any) -> int:
            value = transaction.get(key, db=self.file.positions)
            before, old = (0, np.zeros(0, MOVE)) if value is None else self._entry(key, value)
            chosen = passes | np.isin(actions, old["action"])
            if not chosen.any():
                return 0
            merged = np.zeros(len(np.union1d(old["action"], actions[chosen])), MOVE)
            merged["action"] = np.union1d(old["action"], actions[chosen])
            for each, counts, sums in (
                (old["action"], old["visits"], old["value_sum"]),
                (actions[chosen], visits[chosen], visits[chosen] * values[chosen]),
            ):
                places = np.searchsorted(merged["action"], each)
                merged["visits"][places] += counts.astype(np.uint64)
                merged["value_sum"][places] += sums
            transaction.put(key, packed(key, before + total, merged), db=self.file.positions)
            return int(chosen.sum())

        return self.file.write(change)

    def note(self, text: str) -> None:
        """Adds a line with the date to the base's log. Raises OSError, leaving the base as it was, where it cannot."""
        line = f"{datetime.now(UTC).isoformat(timespec='seconds')} {' '.join(text.split())}"
        self.file.write(lambda transaction: self._log(transaction, line))

    def _log(self, transaction: Any, line: str) -> None:
        number = int(transaction.stat(self.file.log)["entries"])
        transaction.put(number.to_bytes(8, "big"), line.encode(), db=self.file.log)

    def log(self) -> list[str]:
        """Returns all lines of the log, the first first."""
        return self.file.within(lambda transaction: [bytes(line).decode() for _, line in transaction.cursor(self.file.log)])

    def __len__(self) -> int:
        """Returns the number of positions."""
        return int(self.file.within(lambda transaction: transaction.stat(self.file.positions)["entries"]))

    def entries(self) -> Iterator[tuple[bytes, int, np.ndarray]]:
        """Yields the key, the visits V and the moves, [moves] MOVE, of each canonical position, in the order of keys.

        Each block of entries is read by a transaction of its own. Raises OSError for an entry that is damaged.
        """
        for key, value in self.values():
            yield (key, *self._entry(key, value))

    def values(self) -> Iterator[tuple[bytes, bytes]]:
        """Yields keys and values as the file has them, in the order of keys."""
        after: bytes | None = b""
        while after is not None:
            block = self.file.within(partial(self._block, after))
            yield from block
            after = block[-1][0] if block else None

    def _block(self, after: bytes, transaction: Any) -> list[tuple[bytes, bytes]]:
        """Returns the entries that follow a key, at most BLOCK of them."""
        cursor = transaction.cursor(self.file.positions)
        found = cursor.set_range(after) if after else cursor.first()
        if found and after and bytes(cursor.key()) == after:
            found = cursor.next()
        entries: list[tuple[bytes, bytes]] = []
        while found and len(entries) < BLOCK:
            entries.append((bytes(cursor.key()), bytes(cursor.value())))
            found = cursor.next()
        return entries

    def _key(self, state: State) -> tuple[bytes, int]:
        """Returns the canonical key of a position, and the symmetry that leads to it."""
        words, symmetry = canonical_key(state)
        return words + (state.ply.to_bytes(8, "little") if self.graded else b""), symmetry

    def _entry(self, key: bytes, value: bytes) -> tuple[int, np.ndarray]:
        """Returns the visits V and the moves of an entry, [moves] MOVE. Raises OSError for a damaged one."""
        if value[:CHECK_BYTES] != check_of(key, value[CHECK_BYTES:]):
            raise OSError(f"{self.path} is damaged: an entry has changed on the disk; `ucd kb verify` says where, use a copy")
        return int.from_bytes(value[CHECK_BYTES:START], "little"), np.frombuffer(value, MOVE, offset=START)

    def _turned(self, entry: tuple[int, np.ndarray], symmetry: int) -> Known:
        """Returns an entry in the actions of the position whose image under the symmetry is the canonical one."""
        total, moves = entry
        actions = moves["action"].astype(np.int64)
        if symmetry:
            actions = self._back[symmetry][actions]
            order = np.argsort(actions)
            actions, moves = actions[order], moves[order]
        return Known(total, actions, moves["visits"].astype(np.int64), moves["value_sum"].astype(np.float64))

    def __reduce__(self) -> tuple[Any, ...]:
        return (KnowledgeBase, (str(self.path), self.threshold, self.use, self.virtual))

    def __repr__(self) -> str:
        return f"KnowledgeBase({str(self.path)!r}, threshold={self.threshold:g}, use={self.use!r}, virtual={self.virtual:g})"


def base_for(knowledge: Any, selection: Selection, shapes_root: bool) -> KnowledgeBase | None:
    """Returns the base of a planner, opened if it is a path; `shapes_root`: whether an option goes without one that seeds.

    Raises TypeError for anything else, ValueError for a base that seeds beside such an option, or for a selection that does not
    serve initial statistics, and what KnowledgeBase raises.
    """
    if knowledge is None:
        return None
    base = KnowledgeBase(knowledge) if isinstance(knowledge, (str, PathLike)) else knowledge
    if not isinstance(base, KnowledgeBase):
        raise TypeError(f"knowledge must be a KnowledgeBase or the path of one, not {knowledge!r}")
    if base.use == "seed":
        if shapes_root:
            raise ValueError('a knowledge base with use="seed" goes without initial, groups, reuse_graph and untried')
        refuse_unserved(selection, inf, Seeds(np.zeros((0, 2), np.float32)))
    return base


def packed(key: bytes, total: int, moves: np.ndarray) -> bytes:
    """Returns the value of an entry: its check, the visits V and its moves, [moves] MOVE."""
    value = total.to_bytes(8, "little") + moves.tobytes()
    return check_of(key, value) + value


def check_of(key: bytes, rest: bytes) -> bytes:
    """Returns the check of an entry, given its key and its value behind the check."""
    return zlib.crc32(rest, zlib.crc32(key)).to_bytes(CHECK_BYTES, "little")


def key_layout(rules: Rules, graded: bool) -> str:
    """Returns what a position's key consists of, as one text."""
    named = rules.symmetries
    turned = "no symmetries"
    if named is not None:
        turned = f"{len(named.bits)} symmetries {sha256(named.bits.tobytes() + named.actions.tobytes()).hexdigest()[:16]}"
    return f"{rules.key_words} words, {'with' if graded else 'without'} the ply, {turned}"


def header_of(path: Path, text: bytes | None) -> Header:
    """Returns the header in a base's file. Raises ValueError with one sentence for one that is damaged or of another
    format."""
    try:
        written = json.loads(text or b"")
        found = Header(**written) if written["format"] == FORMAT else None
    except (ValueError, TypeError, KeyError):
        raise ValueError(f"{path} is no knowledge base, or its header is damaged: name another file, or use a copy") from None
    if found is None:
        raise ValueError(f"{path} has the format {written['format']!r} of bases, but this version needs {FORMAT}: make another")
    return found


def _plain(value: Any) -> Any:
    """Returns a number of numpy in a form that JSON has. Raises TypeError for anything else."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a base is of a game whose settings are numbers and texts, not {shown(value)}")
