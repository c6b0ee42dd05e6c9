"""Playouts over whole games [BHRF Figures 7 to 10]: how local they are, how often they match an expert's patterns.

The program of the other experiments plays both sides of Go 9x9 with 10,000 playouts a move, and what BHRF has learned goes on
from move to move. Each policy has a line for each share; soft-UCT also under the text of Algorithm 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ucd_planners.arena.contest import Game
from ucd_planners.arena.profile import MEASURES, ProfiledGames
from ucd_planners.experiments import picture
from ucd_planners.experiments.bhrf import POLICIES as OWN
from ucd_planners.experiments.bhrf import program, settings_of
from ucd_planners.experiments.experiment import Experiment, Row, Setting
from ucd_planners.intervals import mean_interval, sample_error

TEXT = "accept=estimate,fallback=default"
"""The reading of Algorithm 3 as it is written."""
POLICIES = {
    "random": "",
    "expert": "go_expert",
    **{name: OWN[name] for name in ("soft-UCT", "last reply")},
    "soft-UCT, the text": OWN["soft-UCT"].replace(")", f",{TEXT})"),
}
"""Policies by the names of the table."""
FIGURES = {("soft-UCT", "near"): 48.0, ("expert", "near"): 48.0, ("soft-UCT", "suggested"): 51.0}
"""The paper's shares in percent that we could read, by policy without its reading, and measure."""
PLAYOUTS = 10_000


def settings(games: int, seed: int) -> list[Setting]:
    """Returns each share of each policy; those of one policy measure the same games."""
    found = []
    for name, policy in POLICIES.items():
        played = ProfiledGames("go_v0", program(policy), settings_of("9"), PLAYOUTS, games, seed)
        for measure in MEASURES:
            paper = FIGURES.get((name.partition(",")[0], measure))
            found.append(Setting({"policy": name, "measure": measure}, played, paper))
    return found


def measure(setting: Setting, games: Sequence[Game]) -> Row:
    """Returns a share in percent, the mean over games, with its standard error and its 95% interval."""
    place = MEASURES.index(setting.labels["measure"])
    shares = [game.payoffs[place] for game in games]
    (low, high), error = mean_interval(shares), sample_error(shares)
    spent = sum(sum(game.cpu_seconds) for game in games)
    return {
        **setting.labels,
        **{"games": len(games), "percent": round(100 * sum(shares) / len(shares), 4) if shares else None},
        "standard_error": None if math.isnan(error) else round(100 * error, 4),
        **{"interval_low": round(100 * low, 4), "interval_high": round(100 * high, 4), "paper": setting.paper},
        "playouts_per_second": round(sum(sum(game.playouts) for game in games) / spent) if spent else None,
    }


def ratios(rows: Sequence[Row]) -> list[Row]:
    """Returns a row for each policy with games: its shares, and those of patterns over the ones of random playouts."""
    shares = {(row["policy"], row["measure"]): row["percent"] for row in rows if row["games"]}
    found = []
    for name in POLICIES:
        if (name, MEASURES[0]) not in shares:
            continue
        line: Row = {"policy": name, **{kind: round(shares[name, kind], 1) for kind in MEASURES}}
        for kind in ("pattern", "near pattern"):
            known = shares.get(("random", kind))
            line[f"{kind} over random"] = f"{shares[name, kind] / known:.2f}" if known else ""
        found.append(line)
    return found


def draw(rows: Sequence[Row]) -> Any:
    """Draws each share of each policy with its 95% interval; crosses: the paper."""
    figure, (axis,) = picture.panels(["Playouts over whole games of Go 9x9"], "", "percent of moves")
    picture.intervals(axis, rows, "measure", MEASURES, "policy", ("interval_low", "interval_high"))
    picture.paper(axis, rows, "measure", MEASURES)
    picture.legend(figure)
    return figure


EXPERIMENTS = {
    "bhrf-profile": Experiment(
        name="bhrf-profile",
        title=f"Go 9x9, the playouts of whole games, {PLAYOUTS:,} a move, RAVE with initial statistics",
        source="[BHRF Figures 7 to 10]",
        claim="48 percent of BHRF's moves are near the last one, as the expert's; they match patterns over four times as often "
        "as random ones; BHRF suggests about half of all moves",
        games=20,
        settings=settings,
        draw=draw,
        measure=measure,
        summary=ratios,
    ),
}
"""Experiments by name."""
