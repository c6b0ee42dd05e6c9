"""Files of knowledge bases: foreign and damaged ones, a full disk, no room for the map, readers that write nothing, kills."""

from __future__ import annotations

import json
import os
import random
import signal
import stat
import subprocess
import sys
import tempfile
import time
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from knowledge import Model, board_of, new_base, result_of, searches

from ucd_envs import make_rules
from ucd_planners.arena.upkeep import compact, exported, verify
from ucd_planners.knowledge_base import FORMAT, MOVE, KnowledgeBase, packed
from ucd_planners.knowledge_file import HEADER, library

ROOT = Path(__file__).resolve().parent.parent
PAGE = 4096


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "some.lmdb"


def filled(path: Path, count: int = 60, seed: int = 1) -> KnowledgeBase:
    """A base that has learned random searches of tic-tac-toe."""
    base = new_base(path, threshold_to_learn=0.0)

    def change(transaction: Any) -> None:
        for _, state, moves in islice(searches(seed, stabilised=True), count):
            key, _ = base._key(state)
            table = [(action, visits, visits * value) for action, (visits, value) in moves.items() if visits]
            transaction.put(key, packed(key, 10**6, _sorted(base, state, table)), db=base.file.positions)

    base.file.write(change)
    return base


def _sorted(base: KnowledgeBase, state: Any, table: list[tuple[int, int, float]]) -> Any:
    image = state.rules.symmetries.actions[base._key(state)[1]]
    return np.array(sorted((int(image[action]), visits, paid) for action, visits, paid in table), MOVE)


def child(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A program in a process of its own."""
    given = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    return subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, env=given)


# Foreign and damaged files


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "some.lmdb cannot be used: there is no such file"),
        (b"", "some.lmdb is no knowledge base"),
        (b"SQLite format 3\0" * 1000, "some.lmdb is no knowledge base, or its first pages are damaged: name another"),
        (b"\0" * 3 * PAGE, "some.lmdb is no knowledge base"),
    ],
)
def test_a_file_that_is_no_base_is_refused(path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        KnowledgeBase(path)
    assert (path.read_bytes() if path.exists() else None) == content
    assert not list(path.parent.glob("*-lock"))


def test_a_folder_and_another_database_are_refused(path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be used: it is no file"):
        KnowledgeBase(path.parent)
    other = library().open(str(path), subdir=False, max_dbs=1)
    other.open_db(b"mine")
    other.close()
    with pytest.raises(ValueError, match=r"some.lmdb is no knowledge base: name another file"):
        KnowledgeBase(path)


def rewritten(path: Path, change: Any) -> None:
    """Changes the header of a base."""
    base = KnowledgeBase(path)

    def write(transaction: Any) -> None:
        transaction.put(HEADER, change(transaction.get(HEADER)))

    base.file.write(write)
    base.close()


def test_a_base_of_another_format_is_refused(path: Path) -> None:
    new_base(path).close()
    rewritten(path, lambda header: json.dumps(json.loads(header) | {"format": FORMAT + 1}).encode())
    with pytest.raises(ValueError, match=f"the format {FORMAT + 1} of bases, but this version needs {FORMAT}: make another"):
        KnowledgeBase(path)


@pytest.mark.parametrize("header", [b"", b"{", b"[]", b'{"format": 1}', b'{"format": 1, "more": 2}'])
def test_a_damaged_header_is_refused(path: Path, header: bytes) -> None:
    new_base(path).close()
    rewritten(path, lambda old: header)
    with pytest.raises(ValueError, match="is no knowledge base, or its header is damaged: name another file, or use a copy"):
        KnowledgeBase(path)


def test_a_file_whose_end_is_missing_is_refused(path: Path) -> None:
    filled(path).close()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - PAGE])
    with pytest.raises(ValueError, match="is damaged, since its end is missing: use a copy of it"):
        KnowledgeBase(path)


def test_a_changed_entry_is_refused_and_named_by_verify(path: Path) -> None:
    """A single bit of a number, which LMDB itself does not notice."""
    base = filled(path)
    key, value = next(iter(base.values()))
    state = make_rules("tic_tac_toe").initial_state()
    assert base.lookup(state) is not None
    base.file.write(lambda t: t.put(key, value[:20] + bytes([value[20] ^ 1]) + value[21:], db=base.file.positions))
    with pytest.raises(OSError, match="is damaged: an entry has changed on the disk; `ucd kb verify` says where, use a copy"):
        base.lookup(state)
    assert verify(base) == [f"the position {key.hex()}: it has changed on the disk"]
    with pytest.raises(OSError, match="an entry has changed on the disk"):
        list(exported(base))


READ_ALL = """
import sys
from ucd_planners.arena.upkeep import verify
from ucd_planners.knowledge_base import KnowledgeBase
from test_knowledge_file import all_states
try:
    base = KnowledgeBase(sys.argv[1])
    for state in all_states():
        base.lookup(state)
    print("read", verify(base)[:1])
except (OSError, ValueError) as error:
    print("refused", error)
"""


def all_states() -> list[Any]:
    return [state for _, state, _ in islice(searches(1, stabilised=True), 60)]


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.slow] if seed > 1 else []) for seed in range(60)])
def test_no_damaged_page_ends_the_process(path: Path, seed: int) -> None:
    """Bytes of one page are changed, cleared or drawn anew: a reader says so in one sentence or reads on."""
    filled(path, 300).close()
    draw, data = random.Random(seed), bytearray(path.read_bytes())
    page = draw.randrange(len(data) // PAGE)
    if seed % 3 == 0:
        data[page * PAGE : (page + 1) * PAGE] = draw.randbytes(PAGE)
    elif seed % 3 == 1:
        data[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    else:
        for _ in range(8):
            data[page * PAGE + draw.randrange(PAGE)] ^= draw.randrange(1, 256)
    path.write_bytes(data)
    done = child(READ_ALL, str(path))
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1
    if done.stdout.startswith("refused"):
        assert str(path) in done.stdout
    assert path.read_bytes() == bytes(data)


# What verify finds


def changed(base: KnowledgeBase, key: bytes, value: bytes) -> None:
    """Puts an entry instead of all others."""

    def change(transaction: Any) -> None:
        transaction.drop(base.file.positions, delete=False)
        transaction.put(key, value, db=base.file.positions)

    base.file.write(change)


@pytest.mark.parametrize(
    ("total", "moves", "message"),
    [
        (100, [(0, 50, 20.0), (1, 51, 20.0)], "its visits do not agree with their sum"),
        (100, [(0, 50, 51.0)], "it has a mean payoff outside of 0 to 1"),
        (100, [(0, 50, -1.0)], "it has a mean payoff outside of 0 to 1"),
        (100, [(1, 5, 2.0), (0, 5, 2.0)], "its moves are not actions in their order"),
        (100, [(9, 5, 2.0)], "its moves are not actions in their order"),
        (100, [], "its value has 12 bytes"),
        (100, [(0, 50, 20.0)], ""),
    ],
)
def test_verify_finds_an_entry_that_cannot_be(
    path: Path, total: int, moves: list[tuple[int, int, float]], message: str
) -> None:
    base = new_base(path)
    key = make_rules("tic_tac_toe").initial_state().key
    changed(base, key, packed(key, total, np.array(moves, MOVE)))
    assert verify(base) == ([f"the position {key.hex()}: {message}"] if message else [])


def test_verify_finds_keys_that_are_short_or_not_canonical(path: Path) -> None:
    base, moves = new_base(path), np.array([(1, 5, 2.0)], MOVE)
    rules = make_rules("tic_tac_toe")
    keys = [rules.initial_state().after(corner).key for corner in (0, 2, 6, 8)]
    found = []
    for key in (*keys, b"short"):
        changed(base, key, packed(key, 100, moves))
        found += verify(base)
    assert len(found) == 4
    assert [fault.partition(": ")[2] for fault in found] == ["its key is not the canonical one"] * 3 + ["its key has 5 bytes"]


def test_verify_finds_a_page_that_no_lookup_meets(path: Path) -> None:
    base = filled(path, 300)
    base.close()
    data = bytearray(path.read_bytes())
    data[-PAGE + 20 :] = bytes(PAGE - 20)
    path.write_bytes(data)
    assert verify(KnowledgeBase(path))[0].startswith("the file: ")


# Readers


def test_a_reader_makes_no_file_and_changes_none(path: Path) -> None:
    filled(path).close()
    Path(f"{path}-lock").unlink()
    before = path.read_bytes()
    done = child(READ_ALL, str(path))
    assert done.stdout == "read []\n"
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_file_that_may_only_be_read_is_read_and_not_written(tmp_path: Path) -> None:
    """The process gives up the rights of the superuser, for whom no file is read-only."""
    base = filled(tmp_path / "some.lmdb")
    path = base.path
    base.close()
    for part in (path, Path(f"{path}-lock")):
        part.chmod(stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)
    program = """
import os, sys
from ucd_planners.knowledge_base import KnowledgeBase
from test_knowledge_file import all_states
import ucd_planners
states = all_states()
base = KnowledgeBase(sys.argv[1])
base.lookup(states[0])  # compiles its kernels and imports all modules while they may be read
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
base.close()
try:
    base = KnowledgeBase(sys.argv[1])
    print(base.lookup(states[0]) is not None)
    base.note("a line")
except (OSError, ValueError) as error:
    print(error)
print(base.lookup(states[0]) is not None)
"""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and Path(tempfile.gettempdir()) in folder.parents:
            folder.chmod(0o755)
    before = path.read_bytes()
    done = child(program, str(path))
    sentence = f"{path} cannot be used: it may not be read or written by this user"
    assert done.stdout.splitlines() == ["True", sentence, "True"], done
    assert path.read_bytes() == before


# A full disk, and no room

LEARN_UNTIL_FULL = """
import resource, signal, sys
from itertools import islice
from knowledge import result_of, searches
from ucd_planners.knowledge_base import KnowledgeBase
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
base = KnowledgeBase(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
for number, (_, state, moves) in enumerate(searches(3)):
    try:
        base.learn(state, result_of(moves))
    except OSError as error:
        print(number, error)
        break
if len(sys.argv) > 3:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    base.learn(state, result_of(moves))
"""


def contents(base: KnowledgeBase) -> list[str]:
    return list(exported(base))


@pytest.mark.parametrize("more", [0, 1])
def test_a_full_disk_leaves_the_base_as_it_was(tmp_path: Path, more: int) -> None:
    """The system lets the file grow to 64 kB only. What was learned before is there, and the base learns on when there is room
    again, in the same process too."""
    path, other = tmp_path / "some.lmdb", tmp_path / "other.lmdb"
    new_base(path, threshold_to_learn=0.0).close()
    done = child(LEARN_UNTIL_FULL, str(path), str(16 * PAGE), *["more"] * more)
    number, _, sentence = done.stdout.strip().partition(" ")
    assert sentence == f"{path} cannot be used: the disk is full, or fails; the base is as it was before", done
    base, reference = KnowledgeBase(path), new_base(other, threshold_to_learn=0.0)
    for _, state, moves in islice(searches(3), int(number) + more):
        reference.learn(state, result_of(moves))
    assert contents(base) == contents(reference)
    assert verify(base) == []
    base.note("there is room again")


def test_no_room_for_the_map_is_one_sentence(path: Path) -> None:
    filled(path).close()
    program = """
import resource, sys
from ucd_planners.knowledge_base import KnowledgeBase
from ucd_planners.knowledge_file import FIRST_MAP
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + FIRST_MAP // 2,) * 2)
try:
    KnowledgeBase(sys.argv[1])
except ValueError as error:
    print(error)
"""
    before = path.read_bytes()
    done = child(program, str(path))
    assert done.stdout == f"{path} cannot be used: there is no room for its map in the memory of this process\n", done
    assert path.read_bytes() == before


def test_the_map_grows_with_the_base(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two bases' worth of one map: another process reads what lies beyond the map that it has opened."""
    monkeypatch.setattr("ucd_planners.knowledge_file.FIRST_MAP", 16 * PAGE)
    base = filled(path, 600)
    assert path.stat().st_size > 16 * PAGE
    assert verify(base) == []


def test_another_processs_larger_map_is_taken_over(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ucd_planners.knowledge_file.FIRST_MAP", 16 * PAGE)
    base = new_base(path, threshold_to_learn=0.0)
    state = make_rules("tic_tac_toe").initial_state()
    assert base.lookup(state) is None
    program = """
import sys
from itertools import islice
from knowledge import result_of, searches
from ucd_planners.knowledge_base import KnowledgeBase
base = KnowledgeBase(sys.argv[1])
base.note("x" * 400_000)
for _, state, moves in islice(searches(4, stabilised=True), 30):
    base.learn(state, result_of(moves))
base.learn(state.rules.initial_state(), result_of({4: (8, 0.5)}))
"""
    done = child(program, str(path))
    assert done.returncode == 0, done.stderr
    assert base.lookup(state) is not None
    base.learn(state, result_of({4: (8, 0.5)}))
    assert verify(base) == []


def test_a_base_is_made_once(path: Path) -> None:
    base = filled(path)
    before = contents(base)
    with pytest.raises(OSError, match="cannot be used: it exists already: name another file"):
        new_base(path)
    assert contents(base) == before
    assert sorted(os.listdir(path.parent)) == ["some.lmdb", "some.lmdb-lock"]
    with pytest.raises(OSError, match="no such file"):
        new_base(path.parent / "missing" / "some.lmdb")


# Copies, text and log


def test_a_compact_copy_has_all_entries_and_the_log(path: Path) -> None:
    base = filled(path, 300)
    base.file.write(
        lambda transaction: [transaction.delete(key, db=base.file.positions) for key, _ in islice(base.values(), 200)]
    )
    place = path.with_name("copy.lmdb")
    compact(base, place)
    copied = KnowledgeBase(place)
    assert contents(copied) == contents(base)
    assert copied.log()[:-1] == base.log()
    assert copied.log()[-1].endswith("compact: a copy of some.lmdb")
    assert place.stat().st_size < path.stat().st_size
    assert verify(copied) == []
    with pytest.raises(OSError, match="it exists already"):
        compact(base, place)
    assert contents(KnowledgeBase(place)) == contents(base)


def test_exports_name_every_move(path: Path) -> None:
    """CSV and JSON say the same, and what lookups say."""
    base = filled(path)
    lines = [line.split(",") for line in exported(base)]
    assert lines[0] == ["key", "ply", "total", "action", "visits", "value_sum"]
    objects = [json.loads(line) for line in exported(base, True)]
    assert len(objects) == len(base) == len({line[0] for line in lines[1:]})
    flat = [
        [each["key"], str(each["ply"]), str(each["total"]), str(move["action"]), str(move["visits"]), repr(move["value_sum"])]
        for each in objects
        for move in each["moves"]
    ]
    assert flat == lines[1:]
    state = make_rules("tic_tac_toe").initial_state()
    known = base.lookup(state)
    assert known is not None
    assert [int(line[4]) for line in lines[1:] if line[0] == state.words.hex() and line[1] == "0"] == known.visits.tolist()


def test_the_log_keeps_each_line_with_its_date(path: Path) -> None:
    base = new_base(path)
    for text in ("one", "two\nlines"):
        base.note(text)
    dates, words = zip(*(line.split(" ", 1) for line in base.log()), strict=True)
    assert words == ("create: tic_tac_toe_v0(), uct(c=0.3)", "one", "two lines")
    assert list(dates) == sorted(dates)


# Kills

LEARN_ON = """
import sys
from knowledge import result_of, searches
from ucd_planners.knowledge_base import KnowledgeBase
base = KnowledgeBase(sys.argv[1])
for number, (_, state, moves) in enumerate(searches(9), 1):
    base.learn(state, result_of(moves))
    print(number, flush=True)
"""


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.slow] if seed > 1 else []) for seed in range(50)])
def test_a_process_killed_while_it_learns_loses_at_most_the_last_search(path: Path, seed: int) -> None:
    """kill -9 after a random number of searches and at a random time within one: the base is the model after as many searches
    as the process has reported, or one more."""
    new_base(path, threshold_to_learn=0.0, threshold_to_play=2.0).close()
    given = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    draw = random.Random(seed)
    command = [sys.executable, "-c", LEARN_ON, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=given) as started:
        assert started.stdout is not None
        lines = [started.stdout.readline() for _ in range(draw.randrange(1, 60))]
        time.sleep(draw.random() * 0.01)
        started.send_signal(signal.SIGKILL)
        reported = int([*lines, *started.stdout.readlines()][-1])
    base = KnowledgeBase(path)
    assert verify(base) == []
    states: dict[str, Any] = {}
    model, learned = Model(1.0, 0.0), 0
    total = sum(each for _, each, _ in base.entries())
    for line, state, moves in searches(9):
        if sum(model.totals.values()) // 8 >= total:
            break
        model.learn(line, moves)
        learned += 1
        states[board_of(line)] = state
    assert reported <= learned <= reported + 1
    for board, state in states.items():
        known = base.lookup(state)
        found = {move: each for (one, move), each in model.moves.items() if one == board}
        rows = (
            {}
            if known is None
            else dict(
                zip(known.actions.tolist(), zip(known.visits.tolist(), known.value_sums.tolist(), strict=True), strict=True)
            )
        )
        assert rows == found
    assert base.learn(state, result_of(moves)) > 0


LEARN_AT_ONCE = """
import sys, time
from itertools import islice
from pathlib import Path
from knowledge import result_of, searches
from ucd_planners.knowledge_base import KnowledgeBase
base = KnowledgeBase(sys.argv[1])
found = list(islice(searches(int(sys.argv[2])), 80))
base.note(f"{sys.argv[2]} is ready")
while len([line for line in base.log() if "ready" in line]) < 2:
    time.sleep(0.001)
for _, state, moves in found:
    base.learn(state, result_of(moves))
    base.note(sys.argv[2])
"""


def test_processes_that_learn_at_once_are_never_mixed(path: Path) -> None:
    """Each position of both is looked up: it has the sums of a model that has learned one process's searches after the other's.
    Lines of the log show that they took turns."""
    base = new_base(path, threshold_to_learn=0.0, threshold_to_play=2.0)
    given = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    running = [subprocess.Popen([sys.executable, "-c", LEARN_AT_ONCE, str(path), seed], env=given) for seed in "12"]
    assert [started.wait() for started in running] == [0, 0]
    model, states = Model(1.0, 0.0), {}
    for seed in (1, 2):
        for line, state, moves in islice(searches(seed), 80):
            model.learn(line, moves)
            states[board_of(line)] = state
    for board, state in states.items():
        known = base.lookup(state)
        assert known is not None
        rows = zip(known.actions.tolist(), known.visits.tolist(), known.value_sums.tolist(), strict=True)
        found = {move: each for (one, move), each in model.moves.items() if one == board}
        assert ({move: (visits, paid) for move, visits, paid in rows}, known.total) == (found, model.totals[board])
    turns = [line.split()[-1] for line in base.log() if line[-2:] in (" 1", " 2")]
    assert len(turns) == 160
    assert sum(one != other for one, other in pairwise(turns)) > 1
    assert verify(base) == []
