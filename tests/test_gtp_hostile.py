"""Programs that mean harm, or that we leave behind: nothing they do takes long or much memory, and none outlives us."""

from __future__ import annotations

import io
import os
import random
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from gtp_fake import PATIENCE, Fake, alive, gone

from ucd_planners.gtp import client
from ucd_planners.gtp.client import LINE_COST, LONGEST_LINE, MOST_BYTES, Inbox, Program, ProgramError


def script(code: str) -> str:
    """The command of a program in Python."""
    return shlex.join([sys.executable, "-S", "-E", "-u", "-c", code])


# The lines that wait.


def test_lines_come_out_as_they_went_in() -> None:
    inbox = Inbox()
    for line in (b"a", b"", b"b", None):
        inbox.put(line)
    assert [inbox.get(0) for _ in range(4)] == [b"a", b"", b"b", None]
    with pytest.raises(TimeoutError):
        inbox.get(0)


@pytest.mark.parametrize("size", [0, 1000, LONGEST_LINE])
def test_a_full_inbox_makes_its_writer_wait(size: int) -> None:
    """F2-37: what waits is a megabyte and a line at most, empty lines counted too."""
    inbox, put = Inbox(), [0]

    def write() -> None:
        while put[0] < 10**6:
            inbox.put(b"x" * size)
            put[0] += 1

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    most = MOST_BYTES // (size + LINE_COST) + 1
    for taken in range(1, 5 * most):
        assert inbox.get(PATIENCE) == b"x" * size
        assert put[0] <= most + taken
    inbox.close()
    while put[0] < 5 * most + 10**4:  # the closed inbox takes and drops everything
        assert writer.is_alive()
        writer.join(0.01)
    put[0] = 10**6
    writer.join()
    with pytest.raises(TimeoutError):
        inbox.get(0)


@pytest.mark.parametrize("text", [b"", b"a\n\nb", b"a\n", b"x" * 7 * LONGEST_LINE + b"\nb", b"\xff\n\0"])
def test_a_line_without_an_end_is_taken_in_pieces(text: bytes) -> None:
    """And a last line needs no end."""
    taken: list[bytes | None] = []
    client._read(io.BytesIO(text), taken.append)
    assert taken.pop() is None
    lines = [line for line in taken if line is not None]
    assert max(map(len, lines), default=0) <= 2 * LONGEST_LINE
    assert len(lines) == len(taken)
    if len(text) < LONGEST_LINE:
        assert lines == text.splitlines()
    else:
        assert (b"".join(lines), lines[-1]) == (text.replace(b"\n", b""), b"b")


# Programs.

HOSTILE = {
    "blank lines": ("while True: print()", "has not answered 'name' within 0.3 s"),
    "no newline": ("import time\nprint('= x', end='')\ntime.sleep(600)", "has not answered 'name' within 0.3 s"),
    "closes early": ("import os, time\nos.close(1)\ntime.sleep(600)", "has closed its output"),
    "garbage bytes": (
        "import os\nwhile True: os.write(1, bytes(range(256)) * 99)",
        "answers 'name' with '\\x00\\x01\\x02\\x03\\x04\\x05\\x06\\x07\\x08', which is no GTP",
    ),
    "sleeps": ("import time\ntime.sleep(600)", "has not answered 'name' within 0.3 s"),
    "ignores every signal": (
        "import signal, time\n[signal.signal(s, signal.SIG_IGN) for s in (1, 2, 13, 15)]\ntime.sleep(600)",
        "has not answered 'name' within 0.3 s",
    ),
    "complains for ever": ("import sys\nwhile True: sys.stderr.write('x' * 999)", "has not answered 'name' within 0.3 s"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_program_takes_neither_time_nor_memory(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """F2-37: it is given up in time, for a reason, and ended."""
    monkeypatch.setattr(client, "GRACE", 0.1)
    code, reason = HOSTILE[kind]
    program = Program(script(f"import sys\nsys.stdin.readline()\n{code}"))
    with pytest.raises(ProgramError) as error:
        program.ask("name", 0.3 if "0.3" in reason else PATIENCE)
    assert str(error.value) == reason
    assert not program.running


@pytest.mark.parametrize("flood", ["= y\\n", "", "noise"])
def test_what_follows_an_answer_fills_no_memory(flood: str) -> None:
    """F2-37: a program answers and then writes for ever; the pipe is full, and about a megabyte waits here."""
    program = Program(script(f"import sys\nsys.stdin.readline()\nprint('= x\\n')\nwhile True: print('{flood}')"))
    assert program.ask("name", PATIENCE) == "x"
    assert program._process is not None
    pid, inbox = program._process.pid, program._answers
    with inbox._changed:
        assert inbox._changed.wait_for(lambda: inbox._room <= 0, PATIENCE)
        assert inbox._room > -LONGEST_LINE - 2 * LINE_COST
    assert program._readers[0].is_alive()
    program.close(0.0)
    assert inbox._closed
    program._readers[0].join(PATIENCE)
    assert not program._readers[0].is_alive()
    assert gone(pid)


def test_a_program_that_never_stops_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """F2-37: by the clock that the deadline is read from, looked at with every line."""
    now = [100.0]
    monkeypatch.setattr(client, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def tick() -> None:
        now[0] += 1.0

    program = Program(script("while True: print()"))
    with pytest.raises(ProgramError, match=r"\Ahas not answered 'name' within 50 s\Z"):
        program.ask("name", 50, tick)
    assert now[0] == 150.0


# Life.

PARENT = """
import sys, time
from ucd_planners.gtp.client import Program
program = Program({command!r})
program.ask("name", 600)
print("ready", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("stubborn", [False, True])
def test_programs_end_with_us(number: int, stubborn: bool, tmp_path: Path) -> None:
    """F2-38: with what they have started, and though they ignore the end of their input and every other signal."""
    start = "import subprocess, signal\nprint('pid', subprocess.Popen(['sleep', '600']).pid, file=log)"
    if stubborn:
        start += "\n[signal.signal(each, signal.SIG_IGN) for each in (1, 2, 13, 15)]"
    fake = Fake(tmp_path, "answer()\ntime.sleep(600)" if stubborn else "", start)
    words = [sys.executable, "-c", PARENT.format(command=fake.command)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        pids = fake.pids()
        assert [alive(pid) for pid in pids] == [True, True]
        parent.send_signal(number)
        parent.wait()
    assert [gone(pid) for pid in pids] == [True, True]


@pytest.mark.parametrize(("number", "jobs"), [(signal.SIGTERM, 2), (signal.SIGKILL, 1), (signal.SIGKILL, 2)])
def test_programs_end_with_a_match(number: int, jobs: int, tmp_path: Path) -> None:
    """F2-38: those of worker processes too."""
    fake = Fake(tmp_path, "if command == 'genmove': time.sleep(600)")
    words = [*(sys.executable, "-m", "ucd_planners.cli", "match", "--game", "hex", "--size", "3"), "--jobs", str(jobs)]
    words += ["--a", "uct(playouts=5)", "--b", f'gtp("{fake.command}", timeout=3600)', "--games", "40"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as match:
        while fake.told().count("genmove w") + fake.told().count("genmove b") < jobs:
            assert match.poll() is None
            threading.Event().wait(0.02)
        pids = fake.pids()
        assert len(pids) == jobs
        match.send_signal(number)
        match.wait()
    assert [gone(pid) for pid in pids] == [True] * jobs


def test_the_watcher_ends_with_its_program(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    program = fake.program()
    program.ask("name", PATIENCE)
    watcher = program._watcher
    assert os.getpgid(fake.pids()[0]) == os.getpgid(watcher.pid) != os.getpgid(0)
    program.close(PATIENCE)
    assert watcher.returncode == -signal.SIGKILL
    assert fake.told() == ["name", "quit"]


ESCAPES = {
    "leaves its group": "os.setsid()",
    "ends its watcher": "os.kill(os.getpgid(0), 9)",
    "signals its group": "import signal\nsignal.signal(15, signal.SIG_IGN)\nos.killpg(0, 15)",
}


@pytest.mark.parametrize("kind", ESCAPES)
def test_a_program_that_tries_to_escape_is_ended_too(kind: str, tmp_path: Path) -> None:
    """F2-38: with what it has started in its group, though it does not mind the end of its input."""
    child = "import subprocess\nprint('pid', subprocess.Popen(['sleep', '600']).pid, file=log)"
    fake = Fake(tmp_path, "answer()\ntime.sleep(600)", f"{child}\n{ESCAPES[kind]}")
    program = fake.program()
    program.ask("name", PATIENCE)
    assert gone(program._watcher.pid) if kind == "ends its watcher" else alive(program._watcher.pid)
    process = program._process
    program.close(0.0)
    assert [gone(pid) for pid in fake.pids()] == [True, True]
    assert process is not None
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("error", [BlockingIOError(11, "no room"), KeyboardInterrupt()])
@pytest.mark.parametrize("room", [0, 1])
def test_no_process_is_left_of_a_start_that_fails(room: int, error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """F2-38: the machine has room for no process, or for the watcher alone, or Ctrl-C comes in between."""
    started, popen = [], subprocess.Popen

    def scarce(words: list[str], **options: object) -> object:
        if len(started) == room:
            raise error
        started.append(popen(words, **options))  # type: ignore[call-overload]
        return started[-1]

    monkeypatch.setattr(client.subprocess, "Popen", scarce)
    program = Program(script(""))
    with pytest.raises((ProgramError, KeyboardInterrupt)) as raised:
        program.ask("name", PATIENCE)
    assert str(raised.value) == ("cannot be started: no room" if isinstance(error, OSError) else "")
    assert not program.running
    assert [process.returncode for process in started] == [-signal.SIGKILL] * room


# Chance.

ACTS = (
    "print('= x\\n')",
    "print('? no\\n')",
    "print()",
    "print('= x', end='')",
    "print('x')",
    "print('=\\n' * 3000)",
    "os.write(1, random.randbytes(random.randrange(3000)))",
    "os.write(2, random.randbytes(random.randrange(3000)))",
    "os.write(1, b'\\n' * 100_000)",
    "os.write(1, b'= ' + b'y' * random.choice((10, 65_000, 70_000, 2_000_000)))",
    "sys.stdin.readline()",
    "sys.stdin.readline()",
    "os.close(random.randrange(3))",
    "time.sleep(random.random() / 9)",
    "time.sleep(600)",
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
    "subprocess.Popen(['sleep', '600'])",
    "os._exit(random.randrange(9))",
    "os.kill(os.getpid(), random.choice((9, 11, 13, 15)))",
)
"""What a hostile program does, one after another."""


def hostilities(seeds: range) -> tuple[int, int]:
    """Asks hostile programs in turn; the numbers of answers and of failures."""
    answers = failures = 0
    for seed in seeds:
        chance = random.Random(seed)
        acts = "\n".join(f"    lambda: {act}," for act in chance.choices(ACTS, k=chance.randrange(1, 12)))
        code = f"import os, random, signal, subprocess, sys, time\nrandom.seed({seed})\nfor act in (\n{acts}\n): act()"
        program = Program(script(code))
        pids: set[int] = set()
        for _ in range(3):
            try:
                program.ask("name", 0.2)
                answers += 1
            except ProgramError:
                failures += 1
            if program._process is not None:
                pids.add(program._process.pid)
        program.close(0.0)
        assert all(gone(pid) for pid in pids)
    return answers, failures


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little patience with programs that have closed their output."""
    monkeypatch.setattr(client, "GRACE", 0.05)


@pytest.mark.usefixtures("quick")
def test_no_program_of_a_few_holds_us_up() -> None:
    answers, failures = hostilities(range(8))
    assert answers + failures == 24
    assert failures > 0


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_no_program_of_many_holds_us_up() -> None:
    """Programs that answer, flood, fall silent, close, crash, fork and ignore signals, in random order."""
    before = len(os.listdir("/proc/self/fd"))
    answers, failures = hostilities(range(1000, 2500))
    assert answers + failures == 4500
    assert min(answers, failures) > 100
    assert len(os.listdir("/proc/self/fd")) <= before + 10
    assert threading.active_count() < 20
