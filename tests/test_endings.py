"""How the command ends when the machine fails it: a full disk, a closed or full output, damaged stores, signals."""

from __future__ import annotations

import json
import random
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ucd_planners import cli
from ucd_planners.arena.match import Match, play_match
from ucd_planners.arena.store import Store
from ucd_planners.cli import ending
from ucd_planners.experiments.experiment import write_rows

COMMAND = [sys.executable, "-m", "ucd_planners.cli"]
MATCH = ["match", "--game", "tic_tac_toe", "--a", "uct", "--b", "random", "--playouts", "5"]
FULL = "No space left on device"


def shell(words: str, **options: Any) -> tuple[int, str, str]:
    """Status, output and errors of a command in a shell, with `ucd` for the command."""
    line = words.replace("ucd ", f"{sys.executable} -m ucd_planners.cli ", 1)
    run = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=300, **options)
    return run.returncode, run.stdout, run.stderr


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        ("ucd games > /dev/full", 1, f"the output cannot be written: {FULL}"),
        ("ucd --help > /dev/full", 1, f"the output cannot be written: {FULL}"),
        (f"ucd {' '.join(MATCH)} --games 4 > /dev/full", 1, f"the output cannot be written: {FULL}"),
        ("echo name | ucd gtp --game tic_tac_toe --playouts 5 > /dev/full", 1, f"the output cannot be written: {FULL}"),
        ("ucd games >&-", 2, "standard output is closed"),
        ("ucd gtp --game tic_tac_toe <&-", 2, "standard input is closed"),
        ("ucd play --game tic_tac_toe <&-", 2, "standard input is closed"),
    ],
)
def test_a_closed_or_full_input_or_output_is_told_in_one_sentence(words: str, status: int, sentence: str) -> None:
    """F2-61."""
    assert shell(words) == (status, "", f"ucd: {sentence}\n")


@pytest.mark.parametrize("words", ["ucd match --game hex --a foo 2>&-", "ucd match --game hex --a foo 2>/dev/full"])
def test_a_sentence_that_cannot_be_printed_leaves_its_status(words: str) -> None:
    assert shell(words) == (2, "", "")


def test_a_text_that_the_output_cannot_encode_is_escaped() -> None:
    words = [*COMMAND, *MATCH, "--games", "2", "--a", "uct(final_move='visits')"]
    words = [word.replace("random", "gtp('caf\xe9')") for word in words]
    run = subprocess.run(words, capture_output=True, text=True, env={"PYTHONIOENCODING": "ascii"}, timeout=300)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith(r"ucd: the program 'caf\xe9' is not there")


# Disks.


def limited(size: int) -> Callable[[], None]:
    """Makes a process that may write no file longer than this, as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_a_match_on_a_full_disk_shows_its_games_and_goes_on_later(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """F2-61, F2-62: 60,000 bytes have room for some hundred of the 600 games."""
    path = tmp_path / "games.sqlite"
    words = [*MATCH, "--games", "600", "--store", str(path), "--json"]
    run = subprocess.run([*COMMAND, *words], capture_output=True, text=True, preexec_fn=limited(60_000), timeout=300)
    assert (run.returncode, run.stderr.count("\n")) == (1, 1)
    assert run.stderr.startswith(f"ucd: {path} cannot be used: ")
    assert 0 < json.loads(run.stdout)["games"] < 600
    results = []
    for each in (words, [*words[:-3], "--json"]):
        assert cli.main(each) == 0
        results.append(json.loads(capsys.readouterr().out) | {"playouts_per_s": None})
    assert results[0] == results[1]


def test_an_experiment_on_a_full_disk_keeps_what_was_played(tmp_path: Path) -> None:
    words = ["reproduce", "ucd-hex", "--games", "2", "--only", "planner=update_all", "--folder", str(tmp_path)]
    run = subprocess.run([*COMMAND, *words], capture_output=True, text=True, preexec_fn=limited(40_000), timeout=300)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == f"ucd: {tmp_path / 'ucd-hex.svg'} cannot be written: File too large\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ucd-hex.csv", "ucd-hex.sqlite"]
    assert cli.main(words) == 0


@pytest.mark.slow
def test_kernels_are_compiled_in_memory_where_no_file_can_be_written(tmp_path: Path) -> None:
    """F2-61: numba's cache on a full disk."""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    words = [*COMMAND, *MATCH, "--games", "2", "--json"]
    run = subprocess.run(words, capture_output=True, text=True, env=environment, preexec_fn=limited(0), timeout=600)
    assert (run.returncode, json.loads(run.stdout)["games"], run.stderr) == (0, 2, "")
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size] == []


def test_two_that_write_one_file_at_once_leave_a_whole_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F2-61: a second writer begins and ends while the first one writes."""
    path, told = tmp_path / "rows.csv", []
    replace = ending.os.replace

    def late(part: Any, place: Any) -> None:
        told.append(part)
        if len(told) == 1:
            write_rows([{"a": "second"}], path)
        replace(part, place)

    monkeypatch.setattr("ucd_planners.files.os.replace", late)
    write_rows([{"a": "first"}], path)
    assert (path.read_text(), len(set(told)), list(tmp_path.iterdir())) == ("a\nfirst\n", 2, [path])


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.mkdir()
    with pytest.raises(OSError, match=r"\A.*rows\.csv cannot be written: Is a directory\Z"):
        write_rows([{"a": "1"}], path)
    assert list(tmp_path.iterdir()) == [path]


# Stores.


def damaged(content: bytes, draw: random.Random) -> bytes:
    """A store with some bytes changed or its end cut off; what begins as no store is refused as one that is none."""
    changed = bytearray(content)
    for _ in range(draw.choice((1, 5, 50, 500))):
        changed[draw.randrange(16, len(changed))] = draw.randrange(256)
    return bytes(changed[: draw.choice((len(changed), draw.randrange(len(changed))))])


def damage(count: int, seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Goes on with a match in damaged stores: the status is 0, or 1 or 2 with one sentence."""
    draw = random.Random(seed)
    path = tmp_path / "games.sqlite"
    words = [*MATCH, "--games", "40", "--store", str(path)]
    assert cli.main(words) == 0
    content = path.read_bytes()
    capsys.readouterr()
    statuses = []
    for _ in range(count):
        for file in tmp_path.iterdir():
            file.unlink()
        path.write_bytes(damaged(content, draw))
        statuses.append(cli.main(words))
        shown = capsys.readouterr()
        assert "unexpected" not in shown.err
        assert (statuses[-1] in (0, 1, 2), shown.err.count("\n")) == (True, min(statuses[-1], 1)), shown
    assert {1, 2} <= set(statuses)


def test_a_damaged_store_is_told_of_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """F2-61."""
    damage(60, 1, tmp_path, capsys)


@pytest.mark.slow
def test_a_thousand_damaged_stores_are_told_of_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damage(1000, 2, tmp_path, capsys)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("payoffs", "[0.5"),
        ("payoffs", "7"),
        ("payoffs", "[0.5]"),
        ("payoffs", "[7, -6]"),
        ("payoffs", '["x", "y"]'),
        ("playouts", "null"),
        ("cpu_seconds", ""),
        ("moves", b"\0"),
        ("moves", "a text"),
        ("seat", 2),
        ("seconds", "a text"),
        ("number", 0.5),
    ],
)
def test_a_damaged_game_is_told_of(column: str, value: Any, tmp_path: Path) -> None:
    match, path = Match("tic_tac_toe", "random", "random", games=2), tmp_path / "games.sqlite"
    with Store(path) as store:
        play_match(match, store=store)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"UPDATE games SET {column} = ? WHERE number = 1", (value,))
    with Store(path) as store, pytest.raises(OSError, match=r"games\.sqlite is damaged: it has games that cannot be read\Z"):
        store.games(match)


def test_games_beside_the_match_are_no_games_of_it(tmp_path: Path) -> None:
    """A number below zero, as a damaged store may have."""
    match, path = Match("tic_tac_toe", "random", "random", games=2), tmp_path / "games.sqlite"
    with Store(path) as store:
        play_match(match, store=store)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE games SET number = -1 WHERE number = 1")
    with Store(path) as store:
        assert ([game.number for game in store.games(match)], store.missing(match)) == ([0], [1])


# Signals and faults.


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_command_in_a_sentence(
    number: int, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("ucd_planners.cli.games.registry.available", lambda: signal.raise_signal(number))
    assert (cli.main(["games"]), capsys.readouterr()) == (status, ("", "ucd: stopped\n"))
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (MemoryError(), "there is not enough memory"),
        (RuntimeError("a kernel writes\nbehind its state"), "a kernel writes behind its state"),
        (OSError("the store is locked"), "the store is locked"),
        (FileNotFoundError(2, "No such file or directory", "there"), "'there': No such file or directory"),
        (ZeroDivisionError("x" * 10**6), "unexpected ZeroDivisionError: xxx"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_exception_is_one_sentence(
    error: Exception, sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> list[str]:
        raise error

    monkeypatch.setattr("ucd_planners.cli.games.registry.available", fail)
    assert cli.main(["games"]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith(f"ucd: {sentence}")
    assert (shown.count("\n"), len(shown) < 2100) == (1, True)


@pytest.mark.parametrize(
    "words",
    [
        ["x" * 10**6],
        ["games", "x" * 10**6],
        ["bench", "--playouts", "x" * 10**6],
        ["play", "--game", "x" * 10**6],
        ["play", "--game", "hex(" * 10**5],
        ["play", "--game", "hex", "--swap", "x" * 10**6],
        ["play", "--game", "hex", "--" + "x" * 10**6, "5"],
        ["play", "--game", "hex", "--size", "9" * 10**6],
        ["play", "--game", "hex", "--planner", "x" * 10**6],
        ["check", "x" * 10**6],
        ["reproduce", "x" * 10**6],
        ["reproduce", "leftright", "--only", "x" * 10**6],
    ],
    ids=lambda words: " ".join(words)[:30],
)
def test_a_million_characters_are_refused_in_a_short_sentence(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """F2-63."""
    try:
        status = cli.main(words)
    except SystemExit as left:
        status = int(left.code or 0)
    shown = capsys.readouterr()
    lines = [line for line in shown.err.splitlines() if not line.startswith(("usage: ", " "))]
    assert (status, shown.out, len(lines), max(map(len, lines)) < 2100) == (2, "", 1, True)
