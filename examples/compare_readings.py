"""The tables of [UCD] beside ours under two readings: both sides begin anew ("fresh"), or UCD keeps its graph ("kept").

For each table the rank correlation of our cells with the paper's, and the mean difference in points. The tables of results lie
in docs/results; those that are not there are left out. Needs scipy (extra `plot`).
"""

import csv
from pathlib import Path
from statistics import fmean

from ucd_planners.experiments.statistics import rank_correlation

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "results"
READINGS = ("fresh", "kept")
GO = {"fresh": "ucd-go.csv", "kept": "ucd-go-kept.csv"}


def rows_of(name: str) -> list[dict[str, str]]:
    """The rows of a table of results, none where there is no such file."""
    path = FOLDER / name
    return list(csv.DictReader(path.open(encoding="utf-8"))) if path.exists() else []


def pairs_of(rows: list[dict[str, str]]) -> list[tuple[float, float]]:
    """Ours and the paper's of each cell that has both."""
    return [(float(row["percent"]), float(row["paper"])) for row in rows if row["percent"] and row["paper"]]


tables: dict[str, dict[str, list[tuple[float, float]]]] = {
    "Go 6x6 (Table 1)": {reading: pairs_of(rows_of(name)) for reading, name in GO.items()}
}
games = rows_of("ucd-ggp.csv")
for game in dict.fromkeys(row["game"] for row in games):
    of_game = [row for row in games if row["game"] == game]
    tables[game.replace("_", " ")] = {
        reading: pairs_of([row for row in of_game if row["reading"] == reading]) for reading in READINGS
    }
tables["all"] = {reading: [pair for table in tables.values() for pair in table[reading]] for reading in READINGS}

print(f"{'table':18}" + "".join(f"{reading + ': cells':>14}{'correlation':>13}{'difference':>12}" for reading in READINGS))
for name, table in tables.items():
    line = f"{name:18}"
    for reading in READINGS:
        ours, theirs = zip(*table[reading], strict=True) if table[reading] else ((), ())
        if not ours:
            line += f"{0:14}{'':25}"
            continue
        difference = fmean(abs(one - other) for one, other in table[reading])
        line += f"{len(ours):14}{rank_correlation(ours, theirs)[0]:13.2f}{difference:12.1f}"
    print(line.rstrip())
