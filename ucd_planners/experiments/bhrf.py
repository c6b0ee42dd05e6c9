"""The experiments of [BHRF section 4]: Fabbri, Armetta, Duchene and Hassas.

Go against the same program with random playouts: RAVE with an expert's initial statistics for new nodes in both. The paper
gives its gain over 50 percent of wins. Beside BHRF the tables have the policies that it is compared with or builds on, at
equal playouts and in equal time. Komi is 7.5. The larger boards and budgets take days, so the shorter ones come first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ucd_planners.arena.match import Match
from ucd_planners.experiments import picture
from ucd_planners.experiments.experiment import Experiment, Row, Setting
from ucd_planners.playouts.bhrf import CHOICES

POLICIES = {
    "soft-UCT": "bhrf(choice=soft_uct)",
    "last reply": "bhrf(choice=last_reply)",
    "LGR": "last_good_reply",
    "MAST": "mast",
    "N-grams": "n_grams",
    "Pool-RAVE": "pool_rave",
}
"""Policies of the tables: BHRF with its two choices, and the others. Each is always active except Pool-RAVE."""
BUDGETS: Mapping[str, Mapping[str, Any]] = {
    "10k": {"playouts": 10_000},
    "0.1 s": {"seconds": 0.1},
    "30k": {"playouts": 30_000},
    "0.3 s": {"seconds": 0.3},
    "100k": {"playouts": 100_000},
    "1 s": {"seconds": 1.0},
}
TABLE_1 = {"9": {"10k": 67.3, "30k": 66.9, "100k": 68.0}, "19": {"10k": 74.3, "30k": 76.6, "100k": 77.7}}
"""[BHRF Table 1]: 50 plus the gain in percent of soft-UCT, by board and playouts."""
PLAYOUTS = tuple(str(1000 * thousand) for thousand in range(1, 11))
"""Playouts of BHRF in Figure 5, against 10,000."""
EPSILONS = ("0", "5", "15", "25", "50", "75", "100")
"""Values of epsilon in percent."""
FIGURE_11 = {"19": {("soft-UCT", "15"): 61.0, ("last reply", "25"): 61.0}}
"""[BHRF Figure 11], text: the best of both choices, 11 percent."""
BOARDS: Mapping[str, Mapping[str, Any]] = {"9": {"playouts": 10_000}, "19": {"playouts": 30_000}}
"""Boards of Figure 11 here, with their budgets. The paper has the second."""


def program(policies: str = "", budget: str = "") -> str:
    """Returns the program with playout policies, and its own budget."""
    written = f"policies='{policies}'," if policies else ""
    return f"rave({written}revisit=0,initial='go_initial'{budget})"


def settings_of(size: str) -> dict[str, Any]:
    """Returns the settings of Go in these experiments."""
    return {"size": int(size), "komi": 7.5}


def table_settings(games: int, seed: int) -> list[Setting]:
    """Returns [BHRF Table 1] with the other policies. Raises ValueError for an odd number of games."""
    return [
        Setting(
            {"board": size, "budget": budget, "policy": name},
            Match("go_v0", program(policy), program(), settings_of(size), BUDGETS[budget], games, seed),
            TABLE_1[size].get(budget) if name == "soft-UCT" else None,
        )
        for budget in BUDGETS
        for size in TABLE_1
        for name, policy in POLICIES.items()
    ]


def draw_table(rows: Sequence[Row]) -> Any:
    """Draws points against random playouts over the budget, a panel for each board; crosses: the paper's soft-UCT."""
    figure, axes = picture.panels([f"Go {size}x{size}" for size in TABLE_1], "budget", "points in percent")
    for axis, size in zip(axes, TABLE_1, strict=True):
        these = [row for row in rows if row["board"] == size]
        picture.lines(axis, these, "budget", tuple(BUDGETS), "policy", "o")
        picture.paper(axis, these, "budget", tuple(BUDGETS))
        picture.level(axis, 50.0, "random playouts", "--")
    picture.legend(figure)
    return figure


def playouts_settings(games: int, seed: int) -> list[Setting]:
    """Returns [BHRF Figure 5]: fewer playouts of BHRF against 10,000 random ones. Raises ValueError for an odd number of
    games."""
    settings = []
    for playouts in PLAYOUTS:
        planner = program(POLICIES["soft-UCT"], f",playouts={playouts}")
        match = Match("go_v0", planner, program(), settings_of("9"), BUDGETS["10k"], games, seed)
        settings.append(Setting({"policy": "soft-UCT", "playouts": playouts}, match))
    return settings


def draw_playouts(rows: Sequence[Row]) -> Any:
    """Draws points over the number of playouts."""
    figure, (axis,) = picture.panels(["Go 9x9, against 10,000 random playouts"], "playouts", "points in percent")
    picture.lines(axis, rows, "playouts", PLAYOUTS, "policy")
    picture.level(axis, 50.0, "even", "--")
    picture.legend(figure)
    return figure


def epsilon_settings(games: int, seed: int) -> list[Setting]:
    """Returns [BHRF Figure 11]: BHRF before an expert's playouts, against the expert's alone. Raises ValueError for an odd
    number of games."""
    settings = []
    for size, budget in BOARDS.items():
        for name in ("soft-UCT", "last reply"):
            for epsilon in EPSILONS:
                own = POLICIES[name].replace("(", f"(prob={int(epsilon) / 100},")
                planner, opponent = program(f"{own} go_expert"), program("go_expert")
                match = Match("go_v0", planner, opponent, settings_of(size), budget, games, seed)
                paper = FIGURE_11.get(size, {}).get((name, epsilon))
                settings.append(Setting({"board": size, "choice": name, "epsilon": epsilon}, match, paper))
    return settings


def readings_settings(games: int, seed: int) -> list[Setting]:
    """Returns soft-UCT under both readings of acceptance and of fallback, against random playouts on 9x9. Raises ValueError for
    an odd number of games."""
    return [
        Setting(
            {"budget": budget, "accept": accept, "fallback": fallback},
            Match(
                "go_v0",
                program(f"bhrf(accept={accept},fallback={fallback})"),
                program(),
                settings_of("9"),
                BUDGETS[budget],
                games,
                seed,
            ),
            TABLE_1["9"].get(budget) if (accept, fallback) == ("estimate", "default") else None,
        )
        for budget in ("10k", "0.1 s")
        for accept in CHOICES["accept"]
        for fallback in CHOICES["fallback"]
    ]


def draw_readings(rows: Sequence[Row]) -> Any:
    """Draws points against random playouts over acceptance, a panel for each budget; crosses: the paper."""
    budgets = list(dict.fromkeys(row["budget"] for row in rows))
    figure, axes = picture.panels([f"Go 9x9, {budget}" for budget in budgets], "accept", "points in percent")
    for axis, budget in zip(axes, budgets, strict=True):
        these = [row for row in rows if row["budget"] == budget]
        picture.lines(axis, these, "accept", CHOICES["accept"], "fallback", "o")
        picture.paper(axis, these, "accept", CHOICES["accept"])
        picture.level(axis, 50.0, "random playouts", "--")
    picture.legend(figure)
    return figure


def draw_epsilon(rows: Sequence[Row]) -> Any:
    """Draws points over epsilon, a panel for each board; crosses: the paper's best."""
    figure, axes = picture.panels(
        [f"Go {size}x{size}, expert playouts" for size in BOARDS], "epsilon in percent", "points in percent"
    )
    for axis, size in zip(axes, BOARDS, strict=True):
        these = [row for row in rows if row["board"] == size]
        picture.lines(axis, these, "epsilon", EPSILONS, "choice")
        picture.paper(axis, these, "epsilon", EPSILONS)
        picture.level(axis, 50.0, "expert alone", "--")
    picture.legend(figure)
    return figure


EXPERIMENTS = {
    "bhrf": Experiment(
        name="bhrf",
        title="Go, playout policies against random playouts, RAVE with initial statistics in both",
        source="[BHRF Table 1]",
        claim="BHRF gains 17.3, 16.9 and 18 percent on 9x9, 24.3, 26.6 and 27.7 on 19x19",
        games=200,
        settings=table_settings,
        draw=draw_table,
    ),
    "bhrf-playouts": Experiment(
        name="bhrf-playouts",
        title="Go 9x9, BHRF with fewer playouts against 10,000 random ones, RAVE with initial statistics in both",
        source="[BHRF Figure 5]",
        claim="nothing in words that we could read",
        games=200,
        settings=playouts_settings,
        draw=draw_playouts,
    ),
    "bhrf-epsilon": Experiment(
        name="bhrf-epsilon",
        title="Go, BHRF before an expert's playouts against these alone, RAVE with initial statistics in both",
        source="[BHRF Figure 11]",
        claim="on 19x19 with 30,000 playouts at best 11 percent more, at epsilon 15 and 25",
        games=200,
        settings=epsilon_settings,
        draw=draw_epsilon,
    ),
    "bhrf-readings": Experiment(
        name="bhrf-readings",
        title="Go 9x9, soft-UCT under two readings of acceptance and of fallback, against random playouts",
        source="[BHRF Algorithm 3, Table 1]",
        claim="BHRF gains 17.3 percent on 9x9 with 10,000 playouts",
        games=400,
        settings=readings_settings,
        draw=draw_readings,
    ),
}
"""Experiments by name."""
