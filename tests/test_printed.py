"""Printed results are those of today's code: the long commands again, marked slow. tests/test_docs.py has the quick ones.

Speeds differ from run to run, and so do results that a clock decides. Neither is compared.
"""

from __future__ import annotations

import csv
import json
import math
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from ucd_planners.cli import main

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"
FIGURES = ("games", "percent", "standard_error")
PRINTED = {path.stem: path.read_text() for path in sorted((ROOT / "tests" / "printed").glob("*.txt"))}
SLOW_MATCHES = ("cmc-rave", "cmc-rave-8", "go-expert", "hex-twice", "rave-havannah")
SLOW_SETTINGS = (
    ("leftright", "planner=uct"),
    ("leftright", "planner=update_all"),
    ("leftright", "d1=inf,d2=0,d3=1"),
    ("leftright-readings", "planner=update_all"),
    ("ucd-hex", "d1=0,d2=1,d3=2"),
    ("ucd-hex", "planner=update_all"),
    ("ucd-go", "d1=0,d2=0,d3=0,c=0.2"),
    ("ucd-rave", "depth_mean=0,bias=0.0002"),
    ("cmc", "base=5,prob=35,B=80"),
    ("cmc-hex", "budget=1000 playouts,prob=50"),
)
"""Experiments, and settings of them by their labels."""
OTHER_DRAWS = (("cmc-go", "budget=1000 playouts,prob=20,B=0"),)
"""The same of planners that have drawn other moves, with the same probabilities, since they were printed."""


def rows(text: str) -> list[list[str]]:
    """The cells of the lines of tables; columns are at least two blanks apart."""
    return [re.split(r" {2,}", line.strip()) for line in text.splitlines() if re.match(r" +\S", line)]


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command prints."""
    assert main(list(words)) == 0
    return capsys.readouterr().out


def check_match(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """A match again: every line of its table, and that there is one."""
    command, _, text = PRINTED[name].partition("\n")
    program, *words = shlex.split(command.removeprefix("$ "))
    assert program == "ucd"
    before = [row for row in rows(text) if row[0] in ("first", "second", "both")]
    after = [row for row in rows(run(capsys, *words)) if row[0] in ("first", "second", "both")]
    assert len(before) == 3
    assert after == before


def played_again(capsys: pytest.CaptureFixture[str], folder: Path, name: str, only: str) -> list[tuple[Any, Any]]:
    """The rows of some settings of an experiment, played again, and those of the kept table with the same labels."""
    with (RESULTS / f"{name}.csv").open() as file:
        kept = list(csv.DictReader(file))
    labels_wanted = [word for label in only.split(",") for word in ("--only", label)]  # one column for each --only
    printed: dict[str, Any] = json.loads(run(capsys, "reproduce", name, *labels_wanted, "--folder", str(folder), "--json"))
    assert printed["missing_games"] == 0
    played = [(row, before) for row, before in zip(printed["rows"], kept, strict=True) if row["games"]]
    assert played
    labels = list(kept[0])[: list(kept[0]).index("games")]
    assert [[row[label] for label in labels] for row, _ in played] == [[row[label] for label in labels] for _, row in played]
    return played


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW_MATCHES)
def test_long_matches_end_as_printed(capsys: pytest.CaptureFixture[str], name: str) -> None:
    check_match(capsys, name)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "only"), SLOW_SETTINGS)
def test_long_settings_end_as_printed(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, only: str) -> None:
    """With the games, percent and standard error of the kept table."""
    for row, before in played_again(capsys, tmp_path, name, only):
        assert [row[column] for column in FIGURES] == [float(before[column]) for column in FIGURES], row


@pytest.mark.slow
@pytest.mark.parametrize(("name", "only"), OTHER_DRAWS)
def test_settings_with_other_draws_end_within_their_errors(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, only: str
) -> None:
    """Both percentages have errors of their own; four of the difference's are passed once in 16,000 times."""
    for row, before in played_again(capsys, tmp_path, name, only):
        assert row["games"] == int(before["games"])
        error = math.hypot(row["standard_error"], float(before["standard_error"]))
        assert abs(row["percent"] - float(before["percent"])) < 4 * error, row
