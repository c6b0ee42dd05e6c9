"""The page "Reproduced?": its figures are those of the kept tables, and its verdicts follow from them."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path
from typing import Any

import pytest

from ucd_planners.experiments import MODULES, experiment_named

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "experiments" / "reproduced.md"
UCD_ERROR = 3.5
"""Standard error of a match of 200 games."""
VERDICTS = {"agrees", "within errors", "differs", "in kind", "not run"}


def best(game: str, reading: str) -> tuple[str, dict[str, str], float]:
    return "ucd-ggp-best", {"game": game, "reading": reading}, UCD_ERROR


def go(depths: str, c: str) -> tuple[str, dict[str, str], float]:
    d1, d2, d3 = depths
    return "ucd-go", {"d1": d1, "d2": d2, "d3": d3, "c": c}, UCD_ERROR


def cmc(base: str, prob: str, b: str) -> tuple[str, dict[str, str], float]:
    return "cmc", {"base": base, "prob": prob, "B": b}, 0.0


CELLS = {
    "LeftRight, (inf, 0, 1)": ("leftright", {"planner": "ucd", "d1": "inf", "d2": "0", "d3": "1"}, 0.0),
    "LeftRight, UCT": ("leftright", {"planner": "uct"}, 0.0),
    "LeftRight, update-all": ("leftright", {"planner": "update_all"}, 0.0),
    "Hex 5x5, (0, 1, 2)": ("ucd-hex-readings", {"reading": "plain", "planner": "ucd(0,1,2)"}, UCD_ERROR),
    "Hex 5x5, update-all": ("ucd-hex-readings", {"reading": "plain", "planner": "update_all"}, UCD_ERROR),
    "Go 6x6, (0, 0, 0), c = 0.4": go("000", "0.4"),
    "Go 6x6, (1, 1, 0), c = 0.4": go("110", "0.4"),
    "Go 6x6, (1, 0, 1), c = 0.4": go("101", "0.4"),
    "Go 6x6, (2, 0, 0), c = 0.4": go("200", "0.4"),
    "Go 6x6, (0, 0, 0), c = 0.2": go("000", "0.2"),
    "RAVE on Go 6x6, depth mean 0, 0.0002": ("ucd-rave", {"depth_mean": "0", "bias": "0.0002"}, UCD_ERROR),
    "RAVE on Go 6x6, depth mean 1, 0.0002": ("ucd-rave", {"depth_mean": "1", "bias": "0.0002"}, UCD_ERROR),
    "Breakthrough, (2, 1, 1)": best("breakthrough", "fresh"),
    "Capture the King, (1, 0, 0)": best("capture_the_king", "fresh"),
    "Connect 4, (2, 1, 2)": best("connect_four", "kept"),
    "CrissCross, (0, 2, 0)": best("crisscross", "fresh"),
    "Knightthrough, (2, 1, 1)": best("knightthrough", "fresh"),
    "Merrills, (1, 2, 2)": best("merrills", "kept"),
    "Othello, (1, 1, 1)": best("othello", "kept"),
    "Pawn Whopping, (1, 1, 1)": best("pawn_whopping", "kept"),
    "Pentago, (0, 2, 1)": best("pentago", "fresh"),
    "Quarto, (0, 0, 0)": best("quarto", "kept"),
    "Havannah, base 5, prob 35, B = 0": cmc("5", "35", "0"),
    "Havannah, base 6, prob 35, B = 0": cmc("6", "35", "0"),
    "Havannah, base 8, prob 35, B = 0": cmc("8", "35", "0"),
    "Havannah, base 5, prob 75, B = 0": cmc("5", "75", "0"),
    "Havannah, base 5, prob 35, B = 100": cmc("5", "35", "100"),
    "Havannah, base 5, prob 35, B = 0, three details": (
        "cmc-details",
        {"over": "UCT", "base": "5", "detail": "all three"},
        0.0,
    ),
    "Havannah, base 5, prob 0": ("cmc-zero", {"base": "5"}, 0.0),
    "Go 9x9, 10k playouts, soft-UCT": ("bhrf", {"board": "9", "budget": "10k", "policy": "soft-UCT"}, 0.0),
    "Go 9x9, before an expert's playouts, epsilon 15": (
        "bhrf-epsilon",
        {"board": "9", "choice": "soft-UCT", "epsilon": "15"},
        0.0,
    ),
    "legal moves only": ("nogo", {"a": "legal moves only"}, 0.0),
    "a queue of moves, against testing every point": ("nogo", {"b": "every point tested"}, 0.0),
    "a kept tree": ("nogo", {"a": "kept tree"}, 0.0),
    "a knowledge base from 100 games": ("nogo-knowledge", {"training": "100"}, 0.0),
}
"""The table of each cell with a figure, its row, and the standard error of the paper's figure."""


def cells_of_page() -> dict[str, list[str]]:
    """The lines of the page's tables by their second column: where, what, ours, paper, verdict, why."""
    lines = [re.split(r" *\| *", line)[1:-1] for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    cells = [line for line in lines if line[0] != "where" and "---" not in line[0]]
    return {cell[1]: cell for cell in cells}


def row_of(what: str) -> dict[str, Any]:
    table, wanted, _ = CELLS[what]
    with open(ROOT / "docs" / "results" / f"{table}.csv", newline="", encoding="utf-8") as file:
        (row,) = (row for row in csv.DictReader(file) if all(row[name] == label for name, label in wanted.items()))
    return row


@pytest.mark.parametrize("what", CELLS)
def test_a_figure_of_ours_is_that_of_the_table(what: str) -> None:
    row = row_of(what)
    percent, error = float(row["percent"]), float(row["standard_error"])
    low, high = percent - 1.96 * error, percent + 1.96 * error
    if "interval_low" in row:
        low, high = float(row["interval_low"]), float(row["interval_high"])
    _, _, ours, paper, verdict, _ = cells_of_page()[what]
    assert ours == f"{percent:.1f} ({low:.1f} to {high:.1f}), {int(row['games']):,}"
    if not row["paper"]:
        assert (paper, verdict) in {("", "in kind"), ("above 85", "differs")}
        return
    told = float(row["paper"])
    assert paper == f"{told:.1f}"
    if low <= told <= high:
        assert verdict == "agrees"
    else:
        assert verdict == ("within errors" if abs(percent - told) <= 1.96 * math.hypot(error, CELLS[what][2]) else "differs")


def test_every_line_has_a_figure_or_a_command() -> None:
    """And every verdict is one of those that the page explains. An experiment that is not run has no table."""
    page = cells_of_page()
    assert set(CELLS) <= set(page)
    for what, (_, _, ours, _, verdict, _) in page.items():
        assert verdict in VERDICTS
        assert f"**{verdict}**" in PAGE.read_text()
        if what not in CELLS:
            names = re.findall(r"`([^`]+)`", ours)
            assert names
            assert all(name in MODULES or (ROOT / name).is_file() for name in names)
            assert verdict in ("not run", "in kind")


def test_every_figure_and_table_of_an_experiment_is_on_the_page() -> None:
    places = {where for where, *_ in cells_of_page().values()}
    for name in MODULES:
        for kind, digits in re.findall(r"(Figure|Table|Algorithm)s? (\d+)", experiment_named(name).source):
            assert any(kind in place and covers(place, int(digits)) for place in places), (name, kind, digits)


def covers(place: str, number: int) -> bool:
    """Whether a place such as "Figure 4", "Figures 5 and 6" or "Figures 2 to 5" has a number."""
    named = [int(each) for each in re.findall(r"\d+", place)]
    return number in named or (" to " in place and named[0] <= number <= named[-1])
