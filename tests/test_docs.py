"""The documents tell the truth: code runs, commands parse, numbers were printed, links lead somewhere."""

from __future__ import annotations

import argparse
import csv
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from ucd_envs.registry import make_rules
from ucd_planners.arena.agents import AGENTS
from ucd_planners.cli import COMMANDS
from ucd_planners.cli.console import settings_from
from ucd_planners.experiments import MODULES
from ucd_planners.grammar import parse
from ucd_planners.notation import planner_from

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = {str(path.relative_to(ROOT)): path for path in (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))}
every_page = pytest.mark.parametrize("name", PAGES)
REPOSITORY = "https://github.com/ucd-planners/ucd-planners/blob/main/"
RAW = "https://raw.githubusercontent.com/ucd-planners/ucd-planners/main/"
PRINTED = {path.stem: path.read_text() for path in sorted((ROOT / "tests" / "printed").glob("*.txt"))}
"""What commands printed, each text beginning with its command."""
LONGEST_README = 130
INCLUDED = re.compile(r'^ *--8<-- "([^":]+)(?::\d+)?"$', re.MULTILINE)


def text_of(name: str) -> str:
    """A document's source."""
    return PAGES[name].read_text()


def blocks(name: str, *languages: str) -> Iterator[str]:
    """The code blocks of a document in some languages, without those that include a file."""
    for block in re.findall(rf"^```(?:{'|'.join(languages)})\n(.*?)^```", text_of(name), flags=re.DOTALL | re.MULTILINE):
        if not INCLUDED.search(block):
            yield block


# Code.


@pytest.mark.parametrize("name", [name for name in PAGES if list(blocks(name, "python"))])
def test_the_python_of_a_page_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page are one program; what it writes goes into a folder of its own."""
    monkeypatch.chdir(tmp_path)
    program = "\n".join(blocks(name, "python"))
    exec(compile(program, name, "exec"), {"__name__": "page"})


@every_page
def test_a_page_includes_files_that_there_are(name: str) -> None:
    """An example, which a test of its own runs, or the output of a command."""
    for path in INCLUDED.findall(text_of(name)):
        assert (ROOT / path).is_file(), path
        assert path.startswith(("examples/", "tests/printed/")), path


@every_page
def test_examples_that_a_page_names_are_there(name: str) -> None:
    for path in re.findall(r"\b(?:examples|tests|docs|ucd_envs|ucd_planners)/[\w/]+\.\w+", text_of(name)):
        assert (ROOT / path).is_file(), path


# Commands.


def commands(name: str) -> list[list[str]]:
    """Every `ucd ...` of the console blocks and of the lines of text, as words."""
    found = [line for block in blocks(name, "sh", "console") for line in block.splitlines()]
    pieces = [piece.strip() for line in found for piece in line.split("&&")]
    return [shlex.split(piece)[1:] for piece in pieces if piece.startswith("ucd ")]


COMMANDS_SHOWN = sorted({tuple(words) for name in PAGES for words in commands(name)})


@pytest.mark.parametrize("words", COMMANDS_SHOWN, ids=lambda words: " ".join(words)[:60])
def test_a_command_of_a_page_can_be_run(words: tuple[str, ...]) -> None:
    """Its options parse, its game has the settings, its planners can be made."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    subparsers = parser.add_subparsers(required=True)
    for command in COMMANDS:
        command.add(subparsers)
    known, rest = parser.parse_known_args(list(words))
    game = getattr(known, "game", None)
    settings = settings_from(rest, game)
    if game is not None:
        make_rules(game, **settings)
    planners = getattr(known, "planner", None) or []
    for text in [known.a, known.b or known.a] if "a" in known else [planners] if isinstance(planners, str) else planners:
        if parse(text)[0] not in AGENTS:
            planner_from(text, playouts=10)


def test_commands_are_shown() -> None:
    assert len(COMMANDS_SHOWN) > 15


@pytest.mark.parametrize("name", MODULES)
def test_every_experiment_has_its_command_on_a_page(name: str) -> None:
    assert any(words[:2] == ("reproduce", name) for words in COMMANDS_SHOWN)


# Numbers.

NUMBER = re.compile(r"(?<![\w.,/-])\d[\d,]*(?:\.\d+)?(?![\w-])")
YEARS = range(1900, 2100)
QUOTED = {
    "48": "[BHRF section 4]: percent of moves near the one before",
    "75": "[CMC Figure 3]: prob in the text",
    "35": "[CMC Figure 3]: prob in the caption",
}
"""Figures of papers that no command prints."""
RATIOS = {
    "2.3": ("124,264", "52,896"),
    "1.7": ("124,264", "71,539"),
    "3.1": ("11.3", "3.6"),
}
"""Quotients of two printed figures."""


def prose(text: str) -> str:
    """A document without its code and links, and without the numbers of sections and equations."""
    words = re.sub(r"`[^`\n]*`", "", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    words = re.sub(r"\]\([^)]*\)(\{[^}]*\})?", "]", words)
    return re.sub(r"(section|UCD|equations?) \d+(\.\d+)*", "", words)


def figures(name: str) -> set[str]:
    """The numbers that a page may quote: those of outputs whose command it shows, and of results that it links, rounded or not.

    The README may quote what any page may.
    """
    pages = list(PAGES) if name == "README.md" else [name]
    shown = "\n".join(block for page in pages for block in blocks(page, "sh"))
    found: set[str] = set()
    for text in PRINTED.values():
        if text.splitlines()[0][2:] in shown:
            found |= set(NUMBER.findall(text))
    for path in {path for page in pages for path in re.findall(r"results/([\w-]+)\.(?:csv|svg)", text_of(page))}:
        with open(DOCS / "results" / f"{path}.csv", newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                written = {value for value in row.values() if re.fullmatch(r"\d+(\.\d+)?", value)}
                found |= written
                known = [float(value) for value in written]
                if "standard_error" in row and "interval_low" not in row:  # its 95% interval, as on the page "Reproduced?"
                    percent, error = float(row["percent"]), float(row["standard_error"])
                    known += [percent - 1.96 * error, percent + 1.96 * error]
                found |= {f"{value:,.{digits}f}" for value in known for digits in (0, 1, 2)}
    return found


@every_page
def test_every_number_of_a_page_was_printed_by_one_of_its_commands(name: str) -> None:
    """Whole numbers below 20 that stand alone are sizes and counts of things, and some are years."""
    allowed = figures(name)
    for number in NUMBER.findall(prose(text_of(name))):
        number = number.rstrip(",")
        if number.isdecimal() and (int(number) < 20 or int(number) in YEARS):
            continue
        assert number in allowed | set(QUOTED) | set(RATIOS), f"{name}: nothing printed {number}"


@pytest.mark.parametrize(("ratio", "parts"), RATIOS.items())
def test_a_ratio_is_that_of_two_printed_figures(ratio: str, parts: tuple[str, str]) -> None:
    upper, lower = (float(part.replace(",", "")) for part in parts)
    assert f"{upper / lower:.1f}" == ratio
    assert all(any(part in NUMBER.findall(text) for text in PRINTED.values()) for part in parts)


def test_results_in_the_readme_stand_on_the_page_that_their_row_links() -> None:
    rows = re.findall(
        rf"^\| \[[^]]*\]\({REPOSITORY}(docs/experiments/\w+\.md)[^)]*\) \|(.*)$", text_of("README.md"), re.MULTILINE
    )
    assert len(rows) > 8
    for page, cells in rows:
        for number in NUMBER.findall(cells):
            assert number in NUMBER.findall(prose(text_of(page))), (page, number)


@every_page
def test_output_shown_in_a_document_is_what_was_printed(name: str) -> None:
    for block in blocks(name, "text"):
        assert any(block.strip("\n") in text for text in PRINTED.values()), block


def test_the_readme_shows_output() -> None:
    assert list(blocks("README.md", "text"))


@pytest.mark.parametrize("printed", PRINTED)
def test_every_result_that_was_printed_has_its_command_on_a_page(printed: str) -> None:
    command = PRINTED[printed].splitlines()[0]
    assert command.startswith("$ ")
    assert any(command[2:] in block for name in PAGES for block in blocks(name, "sh"))


QUICK = ("match", "profile")
"""Outputs that take a few seconds to print again."""


@pytest.mark.parametrize("printed", QUICK)
def test_a_quick_command_prints_what_is_kept(printed: str) -> None:
    """But for speeds, which belong to a machine."""
    command, *kept = PRINTED[printed].splitlines()
    words = [sys.executable, "-m", "ucd_planners.cli", *shlex.split(command)[2:]]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    assert [line for line in lines if line and "per second" not in line] == [
        line for line in kept if line and "per second" not in line
    ]


# Pictures and links.


@pytest.mark.parametrize("title", ["refuted", "unexplored", "stale"])
def test_the_pictures_of_the_games_are_those_that_the_example_draws(title: str, tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(ROOT / "examples" / "draw_games.py"), str(tmp_path)], check=True, capture_output=True)
    assert (DOCS / "pictures" / f"{title}.svg").read_text() == (tmp_path / f"{title}.svg").read_text()


MADE = {"report.html"}
"""Pages that are written when the site is built, by docs/report_page.py; a strict build fails without them."""


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-")) for heading in headings}


@every_page
def test_links_lead_somewhere(name: str) -> None:
    """On a package index a link of the README must be whole; elsewhere it is a file of the site."""
    for link in re.findall(r"\]\(([^)]+)\)", text_of(name)):
        path, _, anchor = link.partition("#")
        inside = path.removeprefix(REPOSITORY).removeprefix(RAW)
        if path.startswith("https://") and inside == path:
            continue
        assert name != "README.md" or path.startswith("https://"), link
        if path in MADE:
            continue
        target = ROOT / inside if inside != path else (PAGES[name].parent / path if path else PAGES[name])
        assert target.is_file(), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_is_in_the_navigation() -> None:
    def paths(entry: object) -> Iterator[str]:
        for value in entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ():
            yield from [value] if isinstance(value, str) else paths(value)

    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    assert sorted(f"docs/{path}" for path in paths(site["nav"])) == sorted(set(PAGES) - {"README.md"})


# The README.


def test_the_readme_is_short() -> None:
    assert len(text_of("README.md").splitlines()) < LONGEST_README


def test_the_readme_begins_with_a_match_and_ends_with_the_tests() -> None:
    first, *_, last = blocks("README.md", "sh")
    assert first.startswith('pip install ".[cli]" && ucd match')
    assert last.startswith('pip install -e ".[test]"')
    assert last.rstrip().endswith("python -m pytest -q -n 2 --dist loadfile")
