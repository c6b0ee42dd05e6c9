"""The report: one page with everything in a folder, escaped, that asks for nothing else."""

from __future__ import annotations

import csv
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ucd_planners.arena.match import Game, Match
from ucd_planners.arena.store import Store
from ucd_planners.cli import main
from ucd_planners.strong import ladders

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "docs" / "results"
LADDERS = ladders()
VOID = {"meta", "link", "br", "img", "use", "path", "circle", "rect"}


class Reader(HTMLParser):
    """Reads a page: its open tags, the places that it names, those that it links, and its texts by tag."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: list[str] = []
        self.links: list[str] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.note(attributes)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.note(attributes)

    def note(self, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            assert name != "src"
            if name == "id":
                self.names.append(value or "")
            if name in ("href", "xlink:href"):
                self.links.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))


def report(folder: Path, output: Path, *more: str) -> str:
    """The page of a folder."""
    assert main(["report", "--folder", str(folder), "--output", str(output), *more]) == 0
    return output.read_text()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of the results that are kept here."""
    return report(KEPT, tmp_path_factory.mktemp("report") / "report.html")


def test_every_kept_table_is_on_the_page(kept: str) -> None:
    names = {path.stem for path in KEPT.glob("*.csv")}
    assert {text for tag, text in Reader(kept).texts if tag == "h2"} == {*names, "ladders"}
    assert kept.count("<figure") == len(names) + 1


def test_every_ladder_is_on_the_page(kept: str) -> None:
    """With the games and the rating of a rung as the file has them."""
    start = kept.index('<section id="ladders">')
    section = kept[start : kept.index("</section>", start)]
    assert [text for tag, text in Reader(section).texts if tag == "h3"] == list(LADDERS)
    for row in LADDERS.values():
        rung = row["players"][1]
        low, high = rung["interval"]
        cells = f'>{rung["player"]}</td><td class="number">{rung["elo"]:.0f}</td>'
        assert f'{cells}<td class="number">{low:.0f} to {"inf" if high is None else f"{high:.0f}"}</td>' in section


@pytest.mark.parametrize("content", [None, "a text", "[]", '{"hex": {}}', '{"hex": {"players": 5}}'])
def test_a_file_of_no_ladders_is_said_so(content: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(KEPT / "nogo.csv", tmp_path)
    path = tmp_path / "own.json"
    if content is not None:
        path.write_text(content)
    command = ["report", "--folder", str(tmp_path), "--output", str(tmp_path / "report.html"), "--ladders", str(path)]
    assert main(command) == 2
    assert capsys.readouterr().err == f"ucd: {path} is no file of ladders\n"


def test_without_ladders_there_is_no_section_of_them(tmp_path: Path) -> None:
    shutil.copy(KEPT / "nogo.csv", tmp_path)
    (tmp_path / "own.json").write_text("{}")
    assert "ladders" not in report(tmp_path, tmp_path / "report.html", "--ladders", str(tmp_path / "own.json"))


def test_every_line_of_a_table_is_on_the_page(kept: str) -> None:
    with open(KEPT / "ucd-hex.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    section = kept[kept.index('<section id="ucd-hex">') : kept.index('<section id="ucd-hex-readings">')]
    for row in rows:
        assert f'<td class="number">{float(row["interval_low"]):.1f} to {float(row["interval_high"]):.1f}</td>' in section
    assert section.count("<tr>") == len(rows) + 1


def test_the_page_is_whole_html_whose_links_stay_in_it(kept: str) -> None:
    page = Reader(kept)
    assert page.open == []
    assert len(page.names) == len(set(page.names))
    assert {link.removeprefix("#") for link in page.links} <= set(page.names)
    assert all(link.startswith("#") for link in page.links)
    assert not re.search(r"url\((?!#)|@import|<script|<img", kept)


def test_the_page_is_small(kept: str) -> None:
    assert len(kept.encode()) < 3_000_000


def test_the_page_depends_on_nothing_but_the_folder(tmp_path: Path) -> None:
    shutil.copy(KEPT / "nogo.csv", tmp_path)
    assert report(tmp_path, tmp_path / "one.html") == report(tmp_path, tmp_path / "two.html")


def game(number: int, payoff: float) -> Game:
    return Game(number, number % 2, (4, 0, 8), (payoff, 1 - payoff), (60, 41), (0.1, 0.2), 0.5)


PLAYERS = ("uct(c=0.1)", "uct(c=0.2)", "ucd")


def test_a_tournament_has_a_table_of_pairs(tmp_path: Path) -> None:
    with Store(tmp_path / "cup.sqlite") as store:
        for a, b in ((0, 1), (0, 2), (1, 2)):
            match = Match("hex", PLAYERS[a], PLAYERS[b], {"size": 3}, {"playouts": 20}, games=8)
            store.append(match, [game(number, float(number < 6)) for number in range(8)])
    page = report(tmp_path, tmp_path / "report.html")
    cells = re.findall(r">([\d.]+) \((\d+) to (\d+)\)<", page)
    assert cells == [("75.0", "41", "93")] * 2 + [("25.0", "7", "59"), ("75.0", "41", "93")] + [("25.0", "7", "59")] * 2


def test_players_who_met_one_opponent_only_have_no_table_of_pairs(tmp_path: Path) -> None:
    with Store(tmp_path / "cup.sqlite") as store:
        for a in (0, 1):
            match = Match("hex", PLAYERS[a], PLAYERS[2], {"size": 3}, {"playouts": 20}, games=8)
            store.append(match, [game(number, float(number < 6)) for number in range(8)])
    assert "Pairs in" not in report(tmp_path, tmp_path / "report.html")


def test_numbers_in_the_text_of_a_picture_stay_as_they_are(kept: str) -> None:
    assert ">NoGo 9x9, 0.05 s a move</text>" in kept


def test_texts_are_escaped(tmp_path: Path) -> None:
    label = "<script>alert('a & b')</script>"
    with open(tmp_path / "own.csv", "w", newline="") as file:
        csv.writer(file).writerows([["planner", "games", "percent"], [label, 10, 50.0]])
    page = report(tmp_path, tmp_path / "report.html", "--title", "<b>mine</b>")
    assert "<script" not in page
    assert "<b>mine" not in page
    assert label in "".join(text for _, text in Reader(page).texts)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (None, "", "the folder {} has no results: no table (.csv) and no store (.sqlite)"),
        ("leftright.csv", "planner,games\nuct,5\n", "{}/leftright.csv is no table of this experiment"),
        ("leftright.csv", "", "{}/leftright.csv is no table of this experiment"),
        ("a.sqlite", "a text", "{}/a.sqlite is no store of games"),
        ("notes.csv", "a,b\n1,2\n", "the folder {} has no results: no table (.csv) and no store (.sqlite)"),
    ],
    ids=str,
)
def test_a_folder_without_results_is_said_so(
    name: str | None, content: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if name is not None:
        (tmp_path / name).write_text(content)
    assert main(["report", "--folder", str(tmp_path), "--output", str(tmp_path / "report.html")]) == 2
    assert capsys.readouterr().err == f"ucd: {sentence.format(tmp_path)}\n"
    assert not (tmp_path / "report.html").exists()


def test_no_folder_is_said_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--folder", str(tmp_path / "no")]) == 2
    assert capsys.readouterr().err == f"ucd: there is no folder {tmp_path / 'no'}\n"
