"""The experiments of Childs, Brodeur and Kocsis: trees with known values, Go against GNU Go, and groups that P-games bring."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from searching import assert_exact

import ucd_envs
from ucd_envs.boards.sums import correct_moves
from ucd_envs.grouped import entered
from ucd_planners import cli
from ucd_planners.arena.contest import Game
from ucd_planners.arena.store import Store
from ucd_planners.arena.study import Study
from ucd_planners.experiments import childs_go, childs_trees, experiment_named, picture
from ucd_planners.experiments.experiment import Row, Setting, contests, reproduce
from ucd_planners.grammar import parse
from ucd_planners.groups import Manhattan, OwnGroups
from ucd_planners.notation import planner_from
from ucd_planners.selection.ucd import UCD
from ucd_planners.selection.update_all import UpdateAll

TREES, GO = experiment_named("childs-trees"), experiment_named("childs-go")
ROOT_2 = math.sqrt(2)
RULES = {
    "uct0": UCD(c=ROOT_2, table=False),
    "uct1": UCD(0, 0, 0, ROOT_2),
    "uct2": UCD(1, 0, 0, ROOT_2),
    "uct3": UCD(math.inf, 0, 0, ROOT_2),
    "ucd(1,0,1)": UCD(1, 0, 1, ROOT_2),
    "ucd(0,1,2)": UCD(0, 1, 2, ROOT_2),
    "ucd(inf,0,1)": UCD(math.inf, 0, 1, ROOT_2),
    "update_all": UpdateAll(ROOT_2),
}
GROUPED = {"branching": 6, "depth": 4, "groups": 2, "group_size": 3}


# Trees


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The experiment with small trees and two numbers of playouts. Returns the numbers of the games that are played."""
    played: list[int] = []
    play = Study.play

    def counted(self: Study, number: int, stop: Any = None) -> Game:
        played.append(number)
        return play(self, number, stop)

    monkeypatch.setattr(Study, "play", counted)
    monkeypatch.setattr(childs_trees, "PLAYOUTS", (10, 100))
    monkeypatch.setattr(childs_trees, "SHOWN", ("10", "100"))
    monkeypatch.setattr(childs_trees, "BINARY", {"branching": 2, "depth": 6})
    monkeypatch.setattr(childs_trees, "WIDE", {"branching": 10, "depth": 3})
    few = replace(TREES, settings=lambda trees, seed: childs_trees.settings(trees, seed, (6, 3)))
    monkeypatch.setitem(childs_trees.EXPERIMENTS, "childs-trees", few)
    return played


def test_every_curve_has_all_numbers_of_playouts() -> None:
    """Figure 2: eight rules; Figure 3: two at three more shares; Figures 4 and 5: one without groups, five biases each for
    UCT0 without overlap and for two rules with it."""
    settings = TREES.settings(200, 0)
    assert len(settings) == (8 + 3 * 2 + 1 + 5 + 2 * 5) * 13
    curves: dict[tuple[str, ...], list[str]] = {}
    for setting in settings:
        *curve, playouts = setting.labels.values()
        curves.setdefault(tuple(curve), []).append(playouts)
    assert len(curves) == len(contests(settings)) == 30
    numbers = [one * 10**power for power in range(1, 5) for one in (1, 2, 5)] + [10**5]
    assert all(found == [str(number) for number in numbers] for found in curves.values())
    assert {setting.match.playouts for setting in settings} == {tuple(numbers)}


def test_planners_are_those_of_their_labels() -> None:
    """The constant sqrt(2), all positions of a simulation added, the move with the best mean."""
    for setting in TREES.settings(2, 0):
        study, label = setting.match, setting.labels["planner"]
        planner = planner_from(study.planner)
        assert planner.selection == RULES[label.removesuffix(", groups")]
        assert (planner.options.expand_all, planner.final_move) == (True, "mean")
        assert planner.groups == (OwnGroups() if label.endswith(", groups") else None)


def test_trees_are_those_of_their_labels() -> None:
    """Depth 20 with two moves, or depth 6 with ten and groups of five."""
    for setting in TREES.settings(200, 7):
        study, kind, share = setting.match, setting.labels["trees"], setting.labels["share"]
        if kind == "combination":
            assert study.settings == {"branching": 2, "depth": 20, "dag_combination": int(share)}
        elif share == "none":
            assert study.settings == {"branching": 10, "depth": 6}
        else:
            groups = {"groups": 2, "group_size": 5, "group_bias": int(share), "overlap": kind == "overlapping groups"}
            assert study.settings == {"branching": 10, "depth": 6, **groups}
        assert (study.game, study.games, study.seed) == ("p_game_v0", 200, 7)


def test_all_or_fewer_searches_go_on_to_the_end() -> None:
    for name, last in (("childs-trees", 5), ("childs-trees-whole", 200)):
        runs = {setting.match.runs for setting in experiment_named(name).settings(2, 0)}
        assert [(found[0], found[-1]) for found in runs] == [(200, last)]


def trees_setting(playouts: int) -> Setting:
    study = Study("p_game_v0", "uct0", {"depth": 4}, (10, 100), (8, 4), 4)
    return Setting({"trees": "combination", "share": "20", "planner": "uct0", "playouts": str(playouts)}, study)


def games_with(*shares: tuple[float, float]) -> list[Game]:
    return [Game(i, 0, (), share, (40, 400), (0.0, 0.5)) for i, share in enumerate(shares)]


def test_the_row_of_a_curves_point_is_worked_out_over_trees() -> None:
    """Errors of 3/8, 1/4, 1/8 and 1/4: mean 1/4, variance 1/96, standard error 1/sqrt(384) = 0.051031. Student's quantile of
    three degrees of freedom is 3.182446. Of eight searches four end after 10 playouts and four after 100, in half a second."""
    row = TREES.measure(trees_setting(100), games_with((0.1, 0.625), (0.2, 0.75), (0.3, 0.875), (0.4, 0.75)))
    assert row == {
        **{"trees": "combination", "share": "20", "planner": "uct0", "playouts": "100", "games": 4, "percent": 25.0},
        **{"standard_error": 5.1031, "interval_low": 8.7596, "interval_high": 41.2404, "runs": 4, "paper": None},
        "playouts_per_second": 880,
    }
    assert TREES.measure(trees_setting(10), games_with((0.5, 1.0), (1.0, 1.0)))["percent"] == 25.0


def test_without_games_or_with_one_nothing_is_known() -> None:
    none, one = (TREES.measure(trees_setting(10), games) for games in ([], games_with((0.5, 1.0))))
    assert (none["percent"], one["percent"]) == (None, 50.0)
    for row in (none, one):
        assert (row["standard_error"], row["interval_low"], row["interval_high"]) == (None, 0.0, 100.0)


def rows_of(percents: dict[tuple[str, str, str], float | None], numbers: Sequence[str]) -> list[Row]:
    """Rows with these errors after the first number of playouts, halved at each of the next."""
    names = ("trees", "share", "planner", "playouts")
    return [
        {
            **dict(zip(names, (*place, playouts), strict=True)),
            "games": 0 if percent is None else 2,
            "percent": None if percent is None else percent / 2**power,
        }
        for place, percent in percents.items()
        for power, playouts in enumerate(numbers)
    ]


def test_ratios_are_over_uct0_on_trees_of_the_same_kind() -> None:
    """With groups of either kind, over uct0 without groups. Where one of the two is unknown or 0, there is no ratio."""
    numbers = childs_trees.SHOWN
    rows = rows_of(
        {
            ("combination", "20", "uct0"): 40.0,
            ("combination", "20", "uct2"): 10.0,
            ("combination", "80", "uct0"): None,
            ("combination", "80", "uct2"): 12.0,
            ("combination", "40", "uct0"): 0.0,
            ("combination", "40", "uct2"): 12.0,
            ("combination", "10", "uct2"): None,
            ("groups", "none", "uct0"): 32.0,
            ("groups", "25", "uct0, groups"): 24.0,
            ("overlapping groups", "100", "uct2, groups"): 16.0,
        },
        numbers,
    )
    rows += [{**row, "playouts": "50", "percent": 3.0} for row in rows if row["playouts"] == "100"]
    columns = [f"over uct0 at {text}" for text in ("100", "1,000", "10,000", "100,000")]
    assert childs_trees.ratios(rows) == [
        {"trees": trees, "share": share, "planner": planner, **dict.fromkeys(columns, ratio)}
        for trees, share, planner, ratio in [
            ("combination", "20", "uct2", "0.25"),
            ("combination", "80", "uct2", ""),
            ("combination", "40", "uct2", ""),
            ("groups", "25", "uct0, groups", "0.75"),
            ("overlapping groups", "100", "uct2, groups", "0.50"),
        ]
    ]


def drawn_rows(percent: float | None) -> list[Row]:
    bounds = {"interval_low": 0.0, "interval_high": 100.0} if percent is None else {"interval_low": 5.0, "interval_high": 30.0}
    return [{**setting.labels, "percent": percent, "games": 200, **bounds} for setting in TREES.settings(2, 0)]


def test_curves_of_errors_stand_in_five_panels() -> None:
    axes = TREES.draw(drawn_rows(20.0)).axes
    by_share = [f"{name} {share}" for name in ("uct0", "uct2") for share in ("20", "10", "40", "80")]
    biases = ("0", "25", "50", "75", "100")
    assert [axis.get_legend_handles_labels()[1] for axis in axes] == [
        list(RULES),
        by_share,
        *(["uct0 none", *(f"{name}, groups {bias}" for bias in biases)] for name in ("uct0", "uct0", "uct2")),
    ]
    for axis in axes:
        assert (axis.get_xscale(), axis.get_yscale()) == ("log", "log")
        for line, _, (bars,) in axis.containers:
            assert line.get_xdata().tolist() == list(childs_trees.PLAYOUTS)
            assert set(line.get_ydata()) == {20.0}
            assert [bar.tolist() for bar in bars.get_segments()] == [[[x, 5.0], [x, 30.0]] for x in childs_trees.PLAYOUTS]
    assert "95% intervals" in axes[0].get_ylabel()


@pytest.mark.parametrize("percent", [20.0, 0.0, None])
def test_a_picture_of_trees_is_written_with_and_without_data(percent: float | None, tmp_path: Path) -> None:
    """Errors of 0 have no place on a logarithmic scale."""
    picture.save(TREES.draw(drawn_rows(percent)), tmp_path / "trees.svg")
    assert (tmp_path / "trees.svg").read_text().startswith("<?xml")


def test_numbers_of_playouts_of_one_planner_share_their_searches(small: list[int], tmp_path: Path) -> None:
    """Each game of the study is played once for the two settings, and they measure its two shares."""
    part = childs_trees.Part("groups", "none", {"branching": 10, "depth": 3}, {"uct0": "uct0("})
    settings = childs_trees.curve(part, "uct0", "uct0(", 4, 3, (6, 3))
    drawn = replace(TREES, draw=lambda rows: picture.panels(["nothing"], "", "")[0])
    with Store(tmp_path / "trees.sqlite") as store:
        report = reproduce(drawn, settings, store)
    assert sorted(small) == [0, 1, 2, 3]
    shares = [settings[0].match.play(number).payoffs for number in range(4)]
    assert [row["percent"] for row in report.rows] == [
        round(100 * (1 - sum(game[place] for game in shares) / 4), 4) for place in (0, 1)
    ]
    assert report.rows[0]["percent"] > report.rows[1]["percent"]
    assert [row["runs"] for row in report.rows] == [6, 3]


def test_the_command_prints_a_table_and_goes_on(small: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*more: str) -> str:
        only = ("--only", "trees=groups,overlapping groups", "--only", "share=none,100")
        assert cli.main(["reproduce", "childs-trees", *only, "--folder", str(tmp_path), *more]) == 0
        return capsys.readouterr().out

    out = run("--games", "2")
    assert sorted(small) == [0] * 4 + [1] * 4  # one planner without groups, one of groups apart, two of groups that overlap
    assert run("--games", "2") == out
    assert len(small) == 8
    lines = [line.split() for line in run("--games", "3").splitlines()]
    assert sorted(small)[8:] == [2] * 4
    with open(tmp_path / "childs-trees.csv", newline="", encoding="utf-8") as file:
        rows = {(row["trees"], row["share"], row["planner"], row["playouts"]): row for row in csv.DictReader(file)}
    assert len(rows) == 60
    assert [row["games"] for row in rows.values()].count("3") == 8
    plain = [float(rows["groups", "none", "uct0", playouts]["percent"]) for playouts in ("10", "100")]
    own = [float(rows["groups", "100", "uct0, groups", playouts]["percent"]) for playouts in ("10", "100")]
    assert ["groups", "none", "uct0", "10", "3*", f"{plain[0]:.1f}"] in [line[:6] for line in lines]
    ratios = [f"{one / other:.2f}" for one, other in zip(own, plain, strict=True) if other]
    assert ["groups", "100", "uct0,", "groups", *ratios] in lines


# Groups of P-games


@pytest.mark.parametrize(
    "selection", [UCD(0, 0, 0), UCD(1, 0, 0), UCD(math.inf, 0, 0), UCD(0, 1, 2), UCD(table=False), UpdateAll()], ids=str
)
@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("add", ["first", "all"])
def test_every_statistic_of_a_grouped_p_game_is_the_oracles(selection: Any, overlap: bool, add: str) -> None:
    """With combined nodes, so that positions are reached by several moves too."""
    rules = ucd_envs.make_rules("p_game", **GROUPED, group_bias=50, overlap=overlap, dag_combination=50, seed=3)
    game = ucd_envs.grouped(rules, rules.groups)
    search = assert_exact(entered(game, rules.initial_state()), selection, 80, {7, 30, 80}, expand=add)
    assert (search.graph.transpositions > 0) == (selection != UCD(table=False))


@pytest.mark.parametrize("text", ["uct0(groups=own)", "uct2(groups=own)", "uct3(groups=own)"])
def test_a_planner_picks_a_group_of_the_game_and_answers_with_a_move(text: str) -> None:
    """Its nodes behind the root's picks have the moves that the game's rules name for the groups. The simulation that adds a
    pick ends there."""
    rules = ucd_envs.make_rules("p_game", **GROUPED, group_bias=50, seed=3)
    state, planner = rules.initial_state(), planner_from(text, seed=1, playouts=2000)
    result = planner.search(state)
    assert result.actions.tolist() == list(range(6))
    assert result.visits.sum() == 2000 - 2
    assert result.action in correct_moves(state)
    kernel, memory, graph = rules.groups.kernel, np.zeros(0, np.uint8), planner._workers[0].graph
    picks = graph.edges[graph.block(graph.root)]
    assert sorted(picks["action"].tolist()) == [6, 7]
    for pick in picks:
        behind = graph.edges[graph.block(int(pick["target"]))]["action"].tolist()
        group = 1 << (int(pick["action"]) - 6)
        assert sorted(behind) == [move for move in range(6) if int(kernel(rules.config, state.array(), memory, move)) & group]


@pytest.mark.parametrize("name", ["uct0", "uct2"])
@pytest.mark.sweep(2)
def test_overlapping_groups_lower_the_error_where_they_hold_winning_moves(name: str) -> None:
    """On 30 games with 10 searches each. One group holds five of ten moves, at a bias of 100 as many right ones as there are
    and at 0 none, the other one all [Childs section 4]."""
    found = {}
    for bias in (None, 0, 100):
        groups = {} if bias is None else {"groups": 2, "group_size": 5, "group_bias": bias, "overlap": True}
        text = f"{name}(expand=all,final_move=mean{'' if bias is None else ',groups=own'})"
        study = Study("p_game_v0", text, {"branching": 10, "depth": 4, **groups}, (100, 1000), (10, 10), 30)
        games = [study.play(number).payoffs for number in range(30)]
        found[bias] = [sum(shares) / 30 for shares in zip(*games, strict=True)]
    for none, worst, best in zip(*(found[bias] for bias in (None, 0, 100)), strict=True):
        assert worst + 0.1 < none < best - 0.03


# Go


def test_go_is_played_by_four_planners_on_two_boards_under_two_budgets() -> None:
    """The program plays the same on both sides of every comparison: level 10, komi 7.5, the same budget."""
    settings = GO.settings(1000, 4)
    places = [tuple(setting.labels.values()) for setting in settings]
    planners = ("uct0", "uct2", "uct0, groups", "uct2, groups")
    budgets = {"30,000 playouts": {"playouts": 30_000}, "0.1 s": {"seconds": 0.1}}
    assert places == [(size, budget, planner) for size in ("9", "13") for budget in budgets for planner in planners]
    for setting in settings:
        match, label = setting.match, setting.labels["planner"]
        planner = planner_from(match.a, **match.budget)
        assert planner.selection == (UCD(c=0.3, table=False) if label.startswith("uct0") else UCD(1, 0, 0, 0.3))
        assert planner.groups == (Manhattan() if label.endswith(", groups") else None)
        assert match.budget == budgets[setting.labels["budget"]]
        assert match.b == childs_go.GNU_GO
        assert (match.game, match.settings) == ("go_v0", {"size": int(setting.labels["size"]), "komi": 7.5})
        assert (match.games, match.seed) == (1000, 4)
    assert "--level 10 " in childs_go.GNU_GO
    with pytest.raises(ValueError, match=r"games must be an even number"):
        GO.settings(3, 0)


def test_planners_of_go_differ_in_what_their_labels_say_only() -> None:
    written = {setting.labels["planner"]: parse(setting.match.a) for setting in GO.settings(2, 0)}
    assert {label: options for label, (_, options) in written.items()} == {
        **{name: {"c": 0.3} for name in ("uct0", "uct2")},
        **{f"{name}, groups": {"c": 0.3, "groups": "manhattan"} for name in ("uct0", "uct2")},
    }


def test_the_interval_of_go_is_wilsons_of_90_percent() -> None:
    """Both ends p solve (w / n - p)^2 = z^2 p (1 - p) / n with z = 1.644854 [Wilson 1927]; 7 of 10 games are won."""
    games = [Game(i, i % 2, (i,), (float(i < 7), float(i >= 7)), (30, 0), (0.5, 0.1)) for i in range(10)]
    row = GO.measure(GO.settings(10, 0)[0], games)
    assert (row["percent"], row["games"]) == (70.0, 10)
    for bound in (row["low_90"], row["high_90"]):
        share = bound / 100
        assert math.isclose((0.7 - share) ** 2, 1.644854**2 * share * (1 - share) / 10, abs_tol=2e-6)
    assert row["interval_low"] < row["low_90"] < 70 < row["high_90"] < row["interval_high"]
    nothing = GO.measure(GO.settings(10, 0)[0], [])
    assert (nothing["percent"], nothing["low_90"], nothing["high_90"]) == (None, 0.0, 100.0)


@pytest.mark.parametrize("percent", [60.0, None])
def test_points_of_go_have_their_intervals_as_bars(percent: float | None, tmp_path: Path) -> None:
    """Two budgets side by side over the names of the planners, a panel for each board."""
    rows = [
        {**setting.labels, "games": 100, "percent": percent, "low_90": 55.0, "high_90": 70.0} for setting in GO.settings(2, 0)
    ]
    figure = GO.draw(rows)
    assert [axis.get_title() for axis in figure.axes] == ["Go 9x9", "Go 13x13"]
    for axis in figure.axes:
        assert [label.get_text() for label in axis.get_xticklabels()] == list(childs_go.PLANNERS)
        assert axis.get_legend_handles_labels()[1] == ["budget = 30,000 playouts", "budget = 0.1 s"]
        for shift, (line, _, (bars,)) in zip((-0.05, 0.05), axis.containers, strict=True):
            places = [] if percent is None else [place + shift for place in range(4)]
            assert line.get_xdata().tolist() == places
            assert [bar.tolist() for bar in bars.get_segments()] == [[[x, 55.0], [x, 70.0]] for x in places]
    assert figure.axes[0].get_ylabel() == "wins in percent (bars: 90% intervals)"
    picture.save(figure, tmp_path / "go.svg")
    assert (tmp_path / "go.svg").read_text().startswith("<?xml")
