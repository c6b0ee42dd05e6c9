"""Graphs against trees beyond the papers: in equal time in real games, and with RAVE and initial statistics.

Shared positions cost time and save nodes. Which of both counts more is a matter of the game, so planners on a graph play UCT on
a tree at equal playouts and in equal time, and a search of the start tells nodes and bytes of both. RAVE and initial statistics
already spread what playouts have found; the second experiment asks what a graph adds to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ucd_planners.arena.match import Match
from ucd_planners.experiments import picture
from ucd_planners.experiments.experiment import Experiment, Row, Setting
from ucd_planners.notation import planner_from


class Field(NamedTuple):
    """A game of an experiment, and the constant of all its planners."""

    game: str
    settings: Mapping[str, Any]
    c: float


FIELDS = {
    **{f"Hex {size}x{size}": Field("hex_v0", {"size": size}, 0.3) for size in (5, 7, 9, 11)},
    "Go 9x9": Field("go_v0", {"size": 9, "komi": 7.5}, 0.3),
    "Connect 4": Field("connect_four_v0", {}, 0.4),
    "Havannah 5": Field("havannah_v0", {"base": 5}, 0.3),
}
TREE, GRAPHS = "uct(", {"ucd(1,0,1)": "ucd(d1=1,d2=0,d3=1,", "ucd(0,1,2)": "ucd(d1=0,d2=1,d3=2,"}
BUDGETS: dict[str, dict[str, Any]] = {"3,000 playouts": {"playouts": 3000}, "0.02 s": {"seconds": 0.02}}
SEARCHED = 20_000
"""Playouts of the searches of the start that tell nodes and bytes."""


def tree_settings(games: int, seed: int) -> list[Setting]:
    """Returns both planners on a graph in every game under both budgets. Raises ValueError for an odd number of games."""
    return [
        Setting(
            {"game": name, "budget": budget, "planner": label},
            Match(field.game, f"{text}c={field.c})", f"{TREE}c={field.c})", field.settings, limit, games, seed),
        )
        for name, field in FIELDS.items()
        for budget, limit in BUDGETS.items()
        for label, text in GRAPHS.items()
    ]


def sizes(rows: Sequence[Row]) -> list[Row]:
    """Returns nodes and bytes after a search of the start by the tree and by each graph, for the games of the rows."""
    found, matches = [], {setting.labels["game"]: setting.match for setting in tree_settings(2, 0)}
    for name in dict.fromkeys(row["game"] for row in rows if row["games"]):
        field, state = FIELDS[name], matches[name].rules.initial_state()
        for label, text in {"uct": TREE, **GRAPHS}.items():
            result = planner_from(f"{text}c={field.c})", seed=1).search(state, playouts=SEARCHED)
            known = {"playouts": SEARCHED, "nodes": result.nodes, "edges": result.edges, "bytes": result.bytes}
            found.append({"game": name, "planner": label, **known, "transpositions": result.transpositions})
    return found


def draw_trees(rows: Sequence[Row]) -> Any:
    """Draws points against UCT over games, a panel for each budget."""
    figure, axes = picture.panels([f"against UCT, {budget} a move" for budget in BUDGETS], "game", "points in percent")
    for axis, budget in zip(axes, BUDGETS, strict=True):
        picture.lines(axis, [row for row in rows if row["budget"] == budget], "game", tuple(FIELDS), "planner", "o")
        picture.level(axis, 50.0, "UCT", "--")
        axis.tick_params(axis="x", rotation=45)
    picture.legend(figure)
    return figure


STRONG = {
    "Hex 11x11": (FIELDS["Hex 11x11"], ""),
    "Go 9x9": (FIELDS["Go 9x9"], ""),
    "Go 9x9, initial": (FIELDS["Go 9x9"], ",initial=go_initial"),
}
"""Games by name, and options of all planners there."""
BIAS = "bias=0.001"
"""The constant of RAVE, the default one."""


def pairs(field: Field, options: str) -> dict[str, tuple[str, str]]:
    """Returns planners on a graph by name, each with the planner on a tree that is its opponent."""
    tree = f"rave({BIAS}{options})"
    found = {
        f"rave_ucd({rave},{mean})": (f"rave_ucd({BIAS},depth_rave={rave},depth_mean={mean}{options})", tree)
        for rave in "01"
        for mean in "01"
    }
    if options:
        found["ucd(1,0,1)"] = (f"{GRAPHS['ucd(1,0,1)']}c={field.c}{options})", f"{TREE}c={field.c}{options})")
    return found


def rave_settings(games: int, seed: int) -> list[Setting]:
    """Returns RAVE on a graph against RAVE on a tree, and UCD against UCT where both have initial statistics, under both
    budgets. Raises ValueError for an odd number of games."""
    return [
        Setting(
            {"game": name, "budget": budget, "planner": label},
            Match(field.game, planner, opponent, field.settings, limit, games, seed),
        )
        for name, (field, options) in STRONG.items()
        for budget, limit in BUDGETS.items()
        for label, (planner, opponent) in pairs(field, options).items()
    ]


def draw_rave(rows: Sequence[Row]) -> Any:
    """Draws points against the same planner on a tree, a panel for each game."""
    planners = tuple(dict.fromkeys(row["planner"] for row in rows))
    figure, axes = picture.panels(list(STRONG), "planner", "points in percent", columns=3)
    for axis, name in zip(axes, STRONG, strict=True):
        picture.lines(axis, [row for row in rows if row["game"] == name], "planner", planners, "budget", "o")
        picture.level(axis, 50.0, "on a tree", "--")
        axis.tick_params(axis="x", rotation=45)
    picture.legend(figure)
    return figure


EXPERIMENTS = {
    "graph-against-tree": Experiment(
        name="graph-against-tree",
        title="UCD on a graph against UCT on a tree with the same constant, at equal playouts and in equal time",
        source="(no paper)",
        claim="no comparison in equal time is published",
        games=400,
        core_hours=1.7,
        settings=tree_settings,
        draw=draw_trees,
        summary=sizes,
    ),
    "graph-with-rave": Experiment(
        name="graph-with-rave",
        title="RAVE and initial statistics on a graph against the same on a tree, at equal playouts and in equal time",
        source="(no paper)",
        claim="[UCD Table 2] has RAVE on a graph for Go 6x6 only",
        games=400,
        core_hours=6.4,
        settings=rave_settings,
        draw=draw_rave,
    ),
}
"""Experiments by name."""
