"""Subcommand `ucd report`: one HTML page of all results in a folder, which needs no network and no other file."""

from __future__ import annotations

import argparse
import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ucd_planners.cli.console import usage
from ucd_planners.intervals import REACH

if TYPE_CHECKING:
    from ucd_planners.arena.summary import Summary
    from ucd_planners.experiments.experiment import Experiment

FOLDED = 24
"""Lines from which a table is folded."""
PIXELS = 1.6
"""Width of a percent in a table's bars."""
BOUNDS = ("interval_low", "interval_high")
STORE = "store of games"
LADDERS = "ladders"


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    title: str
    kind: str = ""
    """"number" for numbers, "planner" for long texts."""

    @property
    def number(self) -> bool:
        """Returns whether the column has numbers."""
        return self.kind == "number"


@dataclass(frozen=True)
class Table:
    """A table: cells are texts or bars."""

    title: str
    columns: list[Column]
    rows: list[list[Any]]

    @property
    def folded(self) -> bool:
        """Returns whether the reader opens the table."""
        return len(self.rows) > FOLDED


@dataclass
class Section:
    """The results of an experiment or of a store."""

    name: str
    note: str
    """Text beside the name in the list of contents."""
    lines: list[str]
    tables: list[Table]
    picture: Any = None
    anchor: str = field(init=False)

    def __post_init__(self) -> None:
        self.anchor = re.sub(r"\W+", "-", self.name.lower()).strip("-") or "results"


def add(commands: Any) -> None:
    """Adds `ucd report`."""
    parser = commands.add_parser(
        "report",
        allow_abbrev=False,
        help="writes one page of all results in a folder",
        description="Writes one HTML page, which needs no network, of the tables of experiments (NAME.csv) and the stores of "
        "games (.sqlite) in a folder: tables with intervals, pictures, and pairs of players; at its end the rated ladders. The "
        "folder stays as it is.",
        epilog="example: ucd report --folder results --output report.html",
    )
    parser.add_argument("--folder", default="results", help="where the results are (default results)")
    parser.add_argument("--output", default="report.html", metavar="PATH", help="default report.html")
    parser.add_argument("--title", default="Results", help="the page's title (default Results)")
    parser.add_argument("--ladders", metavar="FILE", help="the file of ladders (default: that of the package)")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from ucd_planners import files
    from ucd_planners.strong import PLACE

    with usage():
        jinja2 = library()
        sections = sections_of(Path(arguments.folder))
        sections += ladder_sections(PLACE if arguments.ladders is None else Path(arguments.ladders))
    page = page_of(jinja2, arguments.title, sections)
    files.save(Path(arguments.output), lambda part: part.write_text(page, encoding="utf-8"))
    print(f"{arguments.output}: {len(sections)} result{'s' * (len(sections) != 1)}, {len(page.encode()) / 1000:,.0f} kB")
    return 0


def library() -> Any:
    """Returns the library that fills the page. Raises ImportError, naming the extra that installs both libraries needed."""
    try:
        import jinja2
        import matplotlib
    except ImportError:
        raise ImportError("reports need jinja2 and matplotlib: pip install 'ucd-planners[report]'") from None
    assert matplotlib
    return jinja2


def page_of(jinja2: Any, title: str, sections: Sequence[Section]) -> str:
    """Returns the page as HTML. All texts are escaped."""
    import ucd_envs

    template = (Path(__file__).parent / "report.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
    page: str = environment.from_string(template).render(title=title, sections=sections, version=ucd_envs.__version__)
    return page


def sections_of(folder: Path) -> list[Section]:
    """Returns the results of a folder: experiments of this package, other tables, stores.

    Raises ValueError for a folder that there is not or that has none.
    """
    from ucd_planners.experiments import MODULES, experiment_named

    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}")
    tables = {path.stem: path for path in sorted(folder.glob("*.csv"))}
    sections = [_experiment(experiment_named(name), tables[name]) for name in MODULES if name in tables]
    sections += [section for name, path in tables.items() if name not in MODULES and (section := _other(path))]
    shown = {section.name for section in sections}
    sections += [_store(path) for path in sorted(folder.glob("*.sqlite")) if path.stem not in shown]
    if not sections:
        raise ValueError(f"the folder {folder} has no results: no table (.csv) and no store (.sqlite)")
    return sections


def ladder_sections(path: Path) -> list[Section]:
    """Returns a section with all ladders of a file, none for an empty file. Raises ValueError for any other file."""
    from ucd_planners.experiments import picture
    from ucd_planners.strong import ladders

    try:
        kept = ladders(path)
        tables = [_ladder(name, row) for name, row in kept.items()]
        rungs = {name: [player for player in row["players"] if player["playouts"] is not None] for name, row in kept.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"{path} is no file of ladders") from None
    if not tables:
        return []
    lines = [
        "Elo of UCT with 1 to 100,000 playouts a move, of programs and of perfect play, where UCT with 1 playout has 0. "
        "Bradley-Terry, 95% intervals from cluster-robust errors with the pair of games as cluster."
    ]
    return [Section(LADDERS, f"{len(tables)} games", lines, tables, _svg(picture.ladders(rungs), LADDERS))]


def _ladder(name: str, row: dict[str, Any]) -> Table:
    """Returns a ladder's table, the strongest player first."""
    games = [0] * len(row["players"])
    for one, other, counts in row["results"]:
        games[one] += 2 * sum(counts)
        games[other] += 2 * sum(counts)
    ranked = sorted(zip(row["players"], games, strict=True), key=lambda pair: -_elo(pair[0]["elo"], math.inf))
    columns = [Column("player", "planner"), *(Column(title, "number") for title in ("Elo", "95% interval", "games"))]
    rows = []
    for player, played in ranked:
        low, high = player["interval"]
        elo, ends = _elo(player["elo"], math.inf), (_elo(low, -math.inf), _elo(high, math.inf))
        rows.append([player["player"], f"{elo:.0f}", f"{ends[0]:.0f} to {ends[1]:.0f}", f"{played:,}"])
    return Table(name, columns, rows)


def _elo(value: float | None, infinite: float) -> float:
    """Returns a rating of a file, where None stands for an infinite one."""
    return infinite if value is None else value


def _experiment(experiment: Experiment, path: Path) -> Section:
    """Returns an experiment's section from its table."""
    from ucd_planners.experiments.picture import FEW

    settings = experiment.settings(2, 0)
    labels = list(dict.fromkeys(column for setting in settings for column in setting.labels))
    rows = [_with_interval(row) for row in _rows(path, labels)]
    lines = [f"{experiment.title} {experiment.source}", f"The paper: {experiment.claim}."]
    few = sum(bool(row.get("distinct_games") and row["distinct_games"] < 0.9 * row["games"]) for row in rows)
    if any(0 < row["games"] < FEW for row in rows):
        lines.append(f"* marks fewer than {FEW} games.")
    if few:
        lines.append(f"Fewer than 90% of the games are distinct in {few} of {len(rows)} lines: their intervals are too narrow.")
    played = [row for row in rows if row["games"]]
    least, most = (pick((row["games"] for row in rows), default=0) for pick in (min, max))
    note = f"{len(played)} lines, {most:,.0f} games each" if least == most else f"{len(played)} lines, up to {most:,.0f} games"
    tables = [_table("All lines", played, labels, FEW)]
    if experiment.summary is not None:
        try:
            second = experiment.summary(rows)
        except (KeyError, ValueError, ZeroDivisionError, TypeError):
            second = []
        if second:
            tables.insert(0, _table("Summary", second, [key for key, value in second[0].items() if isinstance(value, str)]))
    return Section(experiment.name, note, lines, tables, _picture(experiment, rows, path.stem))


def _rows(path: Path, labels: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the rows of a table, numbers as numbers. Raises ValueError for a file that is no such table."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = [
                {name: text if name in labels else _number(text) for name, text in row.items()} for row in csv.DictReader(file)
            ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    needed = {*labels, "games", "percent"}
    if not rows or any(needed - row.keys() or not isinstance(row["games"], (int, float)) for row in rows):
        raise ValueError(f"{path} is no table of this experiment")
    return rows


def _with_interval(row: dict[str, Any]) -> dict[str, Any]:
    """Returns a row with an interval: where its table has none, the normal one by its standard error."""
    if row.get("standard_error") is None or any(row.get(bound) is not None for bound in BOUNDS):
        return row
    reach = REACH * row["standard_error"]
    return {**row, BOUNDS[0]: max(0.0, row["percent"] - reach), BOUNDS[1]: min(100.0, row["percent"] + reach)}


def _number(text: Any) -> Any:
    """Returns a cell of a table as a number, None if it is empty, or as it is."""
    if not text:
        return None
    try:
        return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
    except (ValueError, TypeError):
        return text


def _other(path: Path) -> Section | None:
    """Returns the section of a table of a user's own experiment, None for a file that is no table of percentages."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            columns = next(csv.reader(file), [])
        labels = columns[: columns.index("games")]
        rows = _rows(path, labels)
    except (OSError, ValueError, csv.Error):
        return None
    return Section(path.stem, f"{len(rows)} lines", [], [_table("All lines", rows, labels)])


def _table(title: str, rows: Sequence[dict[str, Any]], labels: Sequence[str], few: int = 0) -> Table:
    """Returns a table of rows with bars for percentages that have an interval, and a star at fewer games than `few`."""
    names = [name for name in dict.fromkeys(name for row in rows for name in row) if name not in BOUNDS]
    names = [name for name in names if any(row.get(name) not in (None, "") for row in rows)]
    if "paper" in names:
        names.remove("paper")
        names.insert(names.index("percent") + 1, "paper")
    bars = any(row.get(bound) is not None for row in rows for bound in BOUNDS)
    columns: list[Column] = []
    for name in names:
        kind = ("planner" if name in ("a", "b") else "") if name in labels else "number"
        columns.append(Column(name.replace("_", " "), kind))
        if name == "percent" and bars:
            columns += [Column("95% interval", "number"), Column("")]
    cells = []
    for row in rows:
        line: list[Any] = []
        for name in names:
            line.append(_text(name, row.get(name)) + "*" * (name == "games" and row[name] < few))
            if name == "percent" and bars:
                line += _bar(row)
        cells.append(line)
    return Table(title, columns, cells)


def _bar(row: dict[str, Any]) -> list[Any]:
    """Returns the cells of an interval: its text and its bar."""
    low, high, mean, paper = (row.get(name) for name in (*BOUNDS, "percent", "paper"))
    if low is None or high is None or mean is None:
        return ["", ""]
    words = f"{low:.1f} to {high:.1f}"
    places = {name: round(PIXELS * value, 1) for name, value in (("low", low), ("high", high), ("mean", mean))}
    return [words, {**places, "paper": None if paper is None else round(PIXELS * paper, 1), "words": words}]


def _text(name: str, value: Any) -> str:
    """Returns a cell in readable form."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.2f}" if name == "standard_error" else f"{value:,.1f}" if abs(value) >= 1 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) and name != "seed" else str(value)


def _picture(experiment: Experiment, rows: Sequence[dict[str, Any]], name: str) -> Any:
    """Returns an experiment's picture as SVG, None if its table has too little for one."""
    try:
        return _svg(experiment.draw(rows), name)
    except (KeyError, ValueError, IndexError, TypeError):
        return None


def _svg(figure: Any, name: str) -> Any:
    """Returns a figure as SVG to stand in a page, small and with text as text."""
    import matplotlib
    from markupsafe import Markup

    out = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none", "path.simplify": True}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    svg = out.getvalue()[out.getvalue().index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r' id="(?:figure|axes|patch|line2d|text|matplotlib\.axis|xtick|ytick|legend|LineCollection|\w+)_\d+"', "", svg)
    svg = re.sub(r"<[^>]*>", _shorter, svg)
    return Markup(re.sub(r"\n\s*", "\n", svg))


def _shorter(tag: re.Match[str]) -> str:
    """Returns a tag of an SVG with places to a tenth of a point, and with one name of its letters."""
    plain = re.sub(r"font-family: [^;\"]*", "font-family: sans-serif", tag[0])
    return re.sub(r' (?:d|x|y)="[^"]*"', lambda places: re.sub(r"(\d\.\d)\d+", r"\1", places[0]), plain)


def _store(path: Path) -> Section:
    """Returns a store's section: its configurations, and pairs of players. Raises ValueError for a file that is no store."""
    from ucd_planners.arena.store import Store
    from ucd_planners.experiments import picture

    with Store(path, reading=True) as store:
        summaries, sessions = [summary for summary in store.summaries() if summary.games], store.sessions()
    rows = [summary.row() for summary in summaries]
    for row in rows:
        if not row["seconds"]:
            del row["seconds"]
    labels = ["configuration", "game", "a", "b", "seed", "version"]
    games = sum(summary.games for summary in summaries)
    lines = [f"A {STORE}: {games:,} games of {len(rows):,} configuration{'s' * (len(rows) != 1)}."]
    lines += [f"Versions: Python {row['python']}, numpy {row['numpy']}, numba {row['numba']}." for row in sessions[-1:]]
    if not rows:
        return Section(path.stem, "no games", lines, [])
    drawn = _svg(picture.scores(rows, path.name), path.stem) if len(rows) <= FOLDED else None
    return Section(path.stem, f"{games:,} games", lines, [*pairs(summaries), _table("All configurations", rows, labels)], drawn)


def pairs(summaries: Iterable[Summary]) -> list[Table]:
    """Returns a table for each game in which three or more players met each other: percent of the row against the column."""
    from ucd_planners.arena.summary import Total, added

    by_game: dict[str, dict[tuple[str, str], list[Total]]] = {}
    for summary in summaries:
        if len(summary.planners) == 2:
            a, b = summary.planners
            score, met = summary.score(), by_game.setdefault(summary.game, {})
            turned = added([total for (_, side), total in summary.totals.items() if side == 1])
            met.setdefault((a, b), []).append(score)
            met.setdefault((b, a), []).append(turned)
    tables = []
    for game, met in by_game.items():
        players = list(dict.fromkeys(a for a, _ in met))
        if not 3 <= len(players) <= len({frozenset(pair) for pair in met if pair[0] != pair[1]}):
            continue
        rows = []
        for place, player in enumerate(players, 1):
            cells = [str(place), player]
            for other_player in players:
                score = added(met.get((player, other_player), []))
                low, high = score.interval
                cells.append(f"{100 * score.mean:.1f} ({100 * low:.0f} to {100 * high:.0f})" if score.games else "")
            rows.append(cells)
        columns = [
            Column("", "number"),
            Column("player", "planner"),
            *(Column(str(place), "number") for place in range(1, len(players) + 1)),
        ]
        tables.append(Table(f"Pairs in {game}: percent of the row against the column, with 95% intervals", columns, rows))
    return tables
