"""Every example runs from start to end in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs(path: Path, tmp_path: Path) -> None:
    """In a folder of its own, for what it writes."""
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_numbers_of_the_page_on_graphs_are_those_that_its_example_prints() -> None:
    """The page quotes tests/printed/graphs.txt, which is what the example prints, to the letter."""
    command, printed = (ROOT / "tests" / "printed" / "graphs.txt").read_text().split("\n", 1)
    assert command == "$ python examples/search_in_graphs.py"
    path = ROOT / "examples" / "search_in_graphs.py"
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == printed


def test_there_are_examples() -> None:
    assert EXAMPLES
