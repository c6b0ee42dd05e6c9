"""Texts and command lines that nobody means: each is taken, or refused by one short sentence, whatever it says."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ucd_envs import registry
from ucd_planners import cli
from ucd_planners.arena.agents import agent_from, canonical_player
from ucd_planners.experiments import MODULES, experiment_named
from ucd_planners.notation import OPTIONS, initial_from, planner_from, policies_from
from ucd_planners.playouts import INITIAL, POLICIES
from ucd_planners.presets import PRESETS

NAMES = (*PRESETS, *POLICIES, *INITIAL, "random", "gtp", "foo", "go_priors", "math:inf", "math:sqrt", "no.such:thing", "os:sep")
KEYS = (*OPTIONS, "c", "d1", "d2", "d3", "bias", "ref", "prob", "threshold", "epsilon", "choice", "self", "seed", "keep", "x")
VALUES = ("0", "1", "-1", "0.3", "1e400", "-1e-400", "inf", "nan", "true", "none", "visits", "''", "'x'", "9" * 39, "9" * 40)
PIECES = (*"(),='\" \n\0:.-e\udcff\xe9\xb2\u0661\u2028", "((", "'cmc'", "1_0")
ODD = (None, 0, 1.5, True, b"uct", ["uct"], ("uct",), {"uct": 1}, object(), uct := PRESETS["uct"], "", "x" * 10**6, "(" * 10**6)
"""Things that stand where a text is expected. No piece names a program that exists, or a reference with effects."""


def written(draw: random.Random) -> str:
    """A text near the grammar of planners: whole, or with pieces put in, taken out or repeated."""
    each = []
    for _ in range(draw.choice((1, 1, 1, 2))):
        keys = [f"{draw.choice(KEYS)}={draw.choice(VALUES)}" for _ in range(draw.randrange(4))]
        if draw.random() < 0.3:
            keys.append(f"policies='{draw.choice(NAMES)}({draw.choice(KEYS)}={draw.choice(VALUES[:11])})'")
        each.append(f"{draw.choice(NAMES)}({','.join(keys)})" if draw.random() < 0.9 else draw.choice(NAMES))
    text = " ".join(each)
    for _ in range(draw.choice((0, 0, 1, 3))):
        place = draw.randrange(len(text) + 1)
        text = text[:place] + draw.choice(PIECES) + text[place + draw.choice((0, 0, 1, 5)) :]
    return text


READERS: tuple[Callable[[Any], Any], ...] = (
    lambda text: planner_from(text, playouts=5),
    lambda text: agent_from(text, {"playouts": 5}),
    lambda text: canonical_player(text, {"playouts": 5}),
    policies_from,
    initial_from,
    registry.versioned,
    registry.load,
    experiment_named,
)


def read(text: Any) -> int:
    """Gives a text to every reader; the number of those that take it."""
    taken = 0
    for reader in READERS:
        try:
            reader(text)
            taken += 1
        except (ValueError, TypeError) as error:
            if not 0 < len(str(error)) < 4000:
                raise
    return taken


def texts(count: int, seed: int) -> None:
    draw = random.Random(seed)
    taken = [read(written(draw)) for _ in range(count)]
    assert 0.02 < sum(map(bool, taken)) / count < 0.98


def test_planner_and_policy_texts_are_taken_or_refused() -> None:
    """F2-63."""
    texts(300, 1)


@pytest.mark.slow
def test_ten_thousand_planner_and_policy_texts_are_taken_or_refused() -> None:
    texts(10_000, 2)


@pytest.mark.parametrize("thing", ODD, ids=lambda thing: repr(thing)[:20])
def test_what_is_no_text_or_far_too_long_is_refused(thing: Any) -> None:
    """F2-63: by all, but that an empty text names no policies and no initial statistics."""
    assert read(thing) == (2 if thing == "" else 0)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("sys:exit", "sys:exit failed: SystemExit"),
        ("leaves:x", "leaves:x cannot be imported: SystemExit: at once"),
        ("strange:x", "strange:x cannot be imported: RuntimeError: no attributes today"),
        ("stumbles:planner", "stumbles:planner failed: ZeroDivisionError: division by zero"),
    ],
)
def test_a_reference_that_exits_or_fails_is_a_sentence(
    text: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F2-61, F2-63."""
    (tmp_path / "leaves.py").write_text("raise SystemExit('at once')")
    (tmp_path / "strange.py").write_text("def __getattr__(name): raise RuntimeError('no attributes today')")
    (tmp_path / "stumbles.py").write_text("def planner(): return 1 / 0")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ValueError, match=rf"\A{sentence}"):
        planner_from(text, playouts=5)


# Command lines.

GAMES = ("hex", "tic_tac_toe", "leftright", "chess", "go-v0", "hex(size=3)", "hex(", "", "no.such:game", "math:pi", "hex_v9")
OPTIONS_OF = {
    "match": ("--game", "--a", "--b", "--playouts", "--seconds", "--games", "--seed", "--jobs", "--json", "--store", "--sgf"),
    "play": ("--game", "--planner", "--playouts", "--seconds", "--seat", "--seed"),
    "gtp": ("--game", "--planner", "--playouts", "--seconds", "--resign", "--seed"),
    "reproduce": ("--games", "--only", "--jobs", "--seed", "--folder", "--force", "--json"),
    "profile": ("--game", "--planner", "--playouts", "--seed", "--moves", "--sgf", "--every", "--json"),
    "bench": ("--game", "--planner", "--playouts", "--envs", "--foreign", "--against", "--json"),
    "check": (),
    "games": (),
    "dance": ("--game",),
}
SETTINGS = ("--size", "--swap", "--opening", "--base", "--steps", "--rows", "--=", "--", "-x", "--help me", "--\u00e9")
WORDS = ("1", "2", "-1", "0", "x", "", "1e9", "1.5", "9" * 30, "uct", "random", "first", "a1", "d1=0", "/dev/null/x", "\udcff")


def line(draw: random.Random) -> list[str]:
    """A command line that is wrong: at its end stand a seed and playouts that cannot be."""
    command = draw.choice(tuple(OPTIONS_OF))
    words = [command]
    if command in ("reproduce", "check"):
        words.append(draw.choice((*MODULES, *GAMES, *NAMES)))
    for _ in range(draw.randrange(6)):
        option = draw.choice((*OPTIONS_OF[command], *SETTINGS))
        value = draw.choice(GAMES) if option == "--game" else written(draw) if option in ("--a", "--b", "--planner") else None
        words += [option, draw.choice(WORDS) if value is None else value][: draw.choice((1, 2, 2, 2))]
    return [
        *words,
        draw.choice((["--game"], ["--a"], ["--x"], ["--size="], [draw.choice(WORDS)]))[0],
        "--seed",
        "-7",
        "--playouts",
        "0",
    ]


def sentences(errors: str) -> list[str]:
    """Lines of standard error that are no lines of usage."""
    return [line for line in errors.splitlines() if not line.startswith(("usage: ", " "))]


def lines(count: int, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    draw = random.Random(seed)
    monkeypatch.chdir(tmp_path)
    for _ in range(count):
        words = line(draw)
        try:
            status = cli.main(words)
        except SystemExit as left:
            status = int(left.code or 0)
        shown = capsys.readouterr()
        assert (status, shown.out, len(sentences(shown.err))) == (2, "", 1), (words, shown)
        assert len(shown.err) < 4000, words


def test_wrong_command_lines_are_refused_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """F2-61."""
    lines(200, 1, tmp_path, monkeypatch, capsys)


@pytest.mark.slow
def test_ten_thousand_wrong_command_lines_are_refused_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines(10_000, 2, tmp_path, monkeypatch, capsys)


@pytest.mark.slow
def test_three_hundred_wrong_command_lines_end_processes_with_status_2(tmp_path: Path) -> None:
    """With bytes that are no text, and an output that nobody reads."""
    draw = random.Random(3)
    for _ in range(300):
        words = [os.fsencode(word.replace("\0", "")) for word in line(draw)]
        run = subprocess.run([sys.executable, "-m", "ucd_planners.cli", *words], capture_output=True, cwd=tmp_path, timeout=100)
        assert (run.returncode, run.stdout) == (2, b""), words
        assert len(sentences(run.stderr.decode())) == 1, (words, run.stderr)
