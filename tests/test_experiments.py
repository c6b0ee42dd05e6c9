"""Experiments of papers: their settings, figures, files, and the command `ucd reproduce`, stopped and resumed."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from stopping import games_in, process, wait_for

from ucd_planners import cli
from ucd_planners.arena.match import Game, Match
from ucd_planners.arena.profile import MEASURES, ProfiledGames
from ucd_planners.arena.store import Store, configuration
from ucd_planners.arena.study import Study
from ucd_planners.experiments import (
    MODULES,
    beyond,
    bhrf,
    bhrf_profile,
    experiment_named,
    nogo,
    picture,
    ucd,
    ucd_ggp,
    ucd_go,
    ucd_go_budgets,
    ucd_orders,
)
from ucd_planners.experiments.experiment import (
    Report,
    Row,
    Setting,
    contests,
    measured,
    replaceable,
    reproduce,
    with_labels,
    write_rows,
)
from ucd_planners.grammar import parse
from ucd_planners.intervals import wilson
from ucd_planners.notation import planner_from
from ucd_planners.playouts import BHRF, CMC, GoExpert, GoInitial
from ucd_planners.selection.rave import RAVE
from ucd_planners.selection.ucd import UCD
from ucd_planners.selection.update_all import UpdateAll

HEX = experiment_named("ucd-hex")


def test_an_unknown_experiment_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"\Aunknown experiment 'chess': expected one of leftright, .*, bhrf-profile, or a reference"
    ):
        experiment_named("chess")


@pytest.mark.parametrize("name", MODULES)
def test_an_experiment_has_its_name(name: str) -> None:
    assert experiment_named(name).name == name


# The settings of the paper.


@pytest.mark.parametrize(
    ("name", "games", "settings"),
    [
        ("leftright", 200, 2 + 30 + 12),
        ("leftright-order", 100, 2 + 30 + 12 + 4 * 5),
        ("ucd-hex", 400, 1 + 72),
        ("ucd-go", 200, 36),
        ("ucd-go-budgets", 200, 2 * 2 * 36),
        ("ucd-hex-kept", 1000, 1 + 72),
        ("ucd-go-kept", 200, 36),
        ("graph-against-tree", 400, 7 * 2 * 2),
        ("graph-with-rave", 400, 2 * (4 + 4 + 5)),
        ("ucd-rave", 200, 14),
        ("cmc", 400, 3 * 16),
        ("cmc-hex", 400, 2 * 16),
        ("cmc-go", 400, 2 * 16),
        ("cmc-over", 400, 2 * 3 * 16),
        ("cmc-details", 1000, 3 * 2 * 5),
        ("cmc-zero", 4000, 3),
        ("bhrf-readings", 400, 2 * 2 * 2),
        ("bhrf-profile", 20, 5 * 4),
        ("bhrf", 200, 2 * 6 * 6),
        ("bhrf-playouts", 200, 10),
        ("bhrf-epsilon", 200, 2 * 2 * 7),
    ],
)
def test_an_experiment_has_the_games_and_settings_of_the_paper(name: str, games: int, settings: int) -> None:
    chosen = experiment_named(name)
    each = [setting.match.games for setting in chosen.settings(chosen.games, 0)]
    assert each == [games] * settings


@pytest.mark.parametrize("name", MODULES)
def test_no_two_settings_are_the_same(name: str) -> None:
    """But those that measure several things of one contest, which is one object."""
    settings = experiment_named(name).settings(2, 0)
    texts = {configuration(contest) for contest in contests(settings)}
    labels = {tuple(setting.labels.values()) for setting in settings}
    studies = [setting.match for setting in settings if isinstance(setting.match, (Study, ProfiledGames))]
    matches = len(settings) - len(studies)
    assert (len(texts), len(labels)) == (matches + len({id(study) for study in studies}), len(settings))
    assert len(contests(settings)) == len(texts)


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("leftright", {("uct", "", "", ""): 81.5, ("update_all", "", "", ""): 77.7, ("ucd", "inf", "0", "1"): 99.8}),
        ("ucd-hex", {("update_all", "", "", ""): 51.5, ("ucd", "0", "1", "2"): 63.5}),
    ],
)
def test_the_papers_figures_stand_where_it_gives_them(name: str, figures: dict[tuple[str, ...], float]) -> None:
    settings = experiment_named(name).settings(2, 0)
    assert {tuple(each.labels.values()): each.paper for each in settings if each.paper is not None} == figures


def test_the_papers_tables_of_go_are_whole() -> None:
    """Every cell has a figure; corners and best cells of [UCD Tables 1 and 2]."""
    table_1 = {tuple(each.labels.values()): each.paper for each in experiment_named("ucd-go").settings(2, 0)}
    assert None not in table_1.values()
    assert (table_1["0", "0", "0", "0.2"], table_1["2", "1", "1", "0.6"]) == (42.5, 31.5)
    assert max(table_1, key=lambda labels: table_1[labels] or 0) == ("1", "1", "0", "0.4")
    table_2 = {tuple(each.labels.values()): each.paper for each in experiment_named("ucd-rave").settings(2, 0)}
    assert (table_2["0", "0.0001"], table_2["1", "0.0064"]) == (48.0, 30.5)
    assert max(table_2, key=lambda labels: table_2[labels] or 0) == ("0", "0.0002")


def test_the_planners_of_go_with_fewer_playouts_have_the_labels_parameters() -> None:
    """All of Table 1 for each budget, with and without the ply in keys; the paper's figures in all."""
    table_1 = {tuple(each.labels.values()): each.paper for each in experiment_named("ucd-go").settings(2, 0)}
    found: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    for setting in experiment_named("ucd-go-budgets").settings(2, 0):
        playouts, keys, *cell = setting.labels.values()
        planner = planner_from(setting.match.a, **setting.match.budget)
        d1, d2, d3, c = map(float, cell)
        assert planner.selection == UCD(d1, d2, d3, c, graded=keys == "with the ply")
        assert (setting.match.b, setting.match.settings) == (ucd_go.UCT, {"size": 6, "komi": 5.5})
        assert setting.match.budget == {"playouts": int(playouts)}
        assert setting.paper == table_1[tuple(cell)]
        found.setdefault((playouts, keys), set()).add(tuple(cell))
    tables = [(playouts, keys) for playouts in ("1000", "3000") for keys in ("with the ply", "without")]
    assert found == dict.fromkeys(tables, table_1.keys())


def test_the_summary_of_go_with_fewer_playouts_compares_whole_tables() -> None:
    """Ours 50 for c = 0.2, else the paper's figure; the table of 3,000 playouts without the ply lacks a cell."""
    rows: list[Row] = [
        {**setting.labels, "paper": setting.paper, "percent": 50.0 if setting.labels["c"] == "0.2" else setting.paper}
        for setting in experiment_named("ucd-go-budgets").settings(2, 0)
    ]
    rows[-1]["percent"] = None
    first, second, third = ucd_go_budgets.compared(rows)
    assert [(each["playouts"], each["keys"], each["cells"]) for each in (first, second, third)] == [
        *(("1000", "with the ply", 36), ("1000", "without", 36), ("3000", "with the ply", 36))
    ]
    assert (first["c = 0.2"], first["c = 0.2, the paper"]) == (50.0, 42.0)
    assert second["c = 0.4"] == second["c = 0.4, the paper"] == 45.8
    assert 0.3 < first["rank correlation"] < 1


@pytest.mark.parametrize(("name", "plain"), [("ucd-hex-kept", "ucd-hex"), ("ucd-go-kept", "ucd-go")])
def test_with_kept_graphs_only_the_graph_is_kept(name: str, plain: str) -> None:
    """Planner a goes on in its graph, which is searched to the end of the budget; all else is as in the plain experiment."""
    for kept, fresh in zip(experiment_named(name).settings(2, 0), experiment_named(plain).settings(2, 0), strict=True):
        planner, other = planner_from(kept.match.a), planner_from(fresh.match.a)
        assert planner.selection == other.selection
        assert planner.options == other.options._replace(reuse_graph=True)
        assert not planner.stop_early
        assert replace(kept.match, a=fresh.match.a) == fresh.match
        assert (kept.labels, kept.paper) == (fresh.labels, fresh.paper)


def test_planners_on_a_graph_play_the_same_on_a_tree() -> None:
    """With the constant of the opponent, its bias and its initial statistics; RAVE on a graph with the labels' depths."""
    for name in ("graph-against-tree", "graph-with-rave"):
        for setting in experiment_named(name).settings(2, 0):
            planner, opponent = planner_from(setting.match.a), planner_from(setting.match.b)
            assert (planner.selection.table, opponent.selection.table) == (True, False)
            assert planner.selection.c == opponent.selection.c
            assert getattr(planner.selection, "bias", None) == getattr(opponent.selection, "bias", None)
            assert (planner.initial is None) == (opponent.initial is None) == ("initial" not in setting.labels["game"])
            kind, depths = setting.labels["planner"][:-1].split("(")
            found, written = parse(setting.match.a)
            assert found == kind
            names = ("depth_rave", "depth_mean") if kind == "rave_ucd" else ("d1", "d2", "d3")
            assert tuple(written[each] for each in names) == tuple(map(int, depths.split(",")))


def test_sizes_of_graphs_are_told_for_the_games_that_were_played() -> None:
    """A graph shares positions, so it has fewer nodes than edges and takes more bytes; a tree has one node more than edges."""
    rows: list[Row] = [{"game": "Connect 4", "games": 2}, {"game": "Hex 11x11", "games": 0}, {"game": "Connect 4", "games": 2}]
    tree, *graphs = beyond.sizes(rows)
    assert {each["game"] for each in (tree, *graphs)} == {"Connect 4"}
    assert (tree["planner"], tree["nodes"], tree["transpositions"]) == ("uct", tree["edges"] + 1, 0)
    assert [each["planner"] for each in graphs] == list(beyond.GRAPHS)
    for graph in graphs:
        assert graph["nodes"] < graph["edges"]
        assert graph["transpositions"] > 1000
        assert graph["bytes"] > tree["bytes"]


def test_the_planners_of_go_have_the_labels_parameters() -> None:
    """With the opponents of the paper, on 6x6 with komi 5.5 and 10,000 playouts."""
    for name, preset, opponent in (("ucd-go", "ucd", ucd_go.UCT), ("ucd-rave", "rave_ucd", ucd_go.RAVE)):
        for setting in experiment_named(name).settings(2, 0):
            found, written = parse(setting.match.a)
            assert found == preset
            assert {key: float(value) for key, value in setting.labels.items()}.items() <= written.items()
            assert setting.match.b == opponent
            assert (setting.match.settings, setting.match.budget) == ({"size": 6, "komi": 5.5}, {"playouts": 10_000})


@pytest.mark.parametrize("name", ["cmc", "cmc-hex", "cmc-go"])
def test_the_planners_of_cmc_have_the_labels_parameters(name: str) -> None:
    """In percent, against the same UCT, over all of prob at B = 0 and all of B at the two probs that the paper may mean."""
    settings = experiment_named(name).settings(2, 0)
    for setting in settings:
        prob, threshold = int(setting.labels["prob"]) / 100, int(setting.labels["B"]) / 100
        assert parse(setting.match.a) == ("cmc", {"prob": prob, "threshold": threshold, "c": 0.3})
        assert parse(setting.match.b) == ("uct", {"c": 0.3})
        first, value = next(iter(setting.labels.items()))
        if first == "base":
            assert (setting.match.settings, setting.match.budget) == ({"base": int(value)}, {"playouts": 1000})
        else:
            assert setting.match.budget == {"playouts": 1000} if value == "1000 playouts" else {"seconds": 0.01}
    points = {(setting.labels["prob"], setting.labels["B"]) for setting in settings}
    percents = ("0", "20", "35", "50", "75", "100")
    assert points == {(prob, "0") for prob in percents} | {
        (prob, b) for prob in ("35", "75") for b in ("0", "20", "40", "60", "80", "100")
    }


def test_the_planners_of_cmc_over_other_programs_have_the_labels_parameters() -> None:
    """The opponent is the same program without the policy."""
    programs = {"UCT": UCD(c=0.3, table=False), "UCT, c = sqrt 2": UCD(c=sqrt(2), table=False), "RAVE": RAVE(revisit=0)}
    details = {
        "ours": CMC(),
        "tiles of both players": CMC(tiles="shared"),
        "pairs in any order": CMC(pairs="any"),
        "b from the playout": CMC(context="playout"),
        "all three": CMC(tiles="shared", pairs="any", context="playout"),
    }
    for name in ("cmc-over", "cmc-details", "cmc-zero"):
        for setting in experiment_named(name).settings(2, 0):
            one, two = (planner_from(text, **setting.match.budget) for text in (setting.match.a, setting.match.b))
            labels = {"over": "UCT", "prob": "0", "B": "0", **setting.labels}
            assert one.selection == two.selection == programs[labels["over"]]
            expected = CMC(int(labels["prob"]) / 100, int(labels["B"]) / 100)
            assert one.policies == (details[labels["detail"]] if name == "cmc-details" else expected,)
            assert two.policies == ()
            assert (setting.match.settings, setting.match.budget) == ({"base": int(labels["base"])}, {"playouts": 1000})


def test_the_planners_of_both_readings_of_bhrf_have_the_labels_parameters() -> None:
    for setting in experiment_named("bhrf-readings").settings(2, 0):
        one, two = (planner_from(text, **setting.match.budget) for text in (setting.match.a, setting.match.b))
        assert one.policies == (BHRF(accept=setting.labels["accept"], fallback=setting.labels["fallback"]),)
        assert (two.policies, one.selection, one.initial) == ((), two.selection, two.initial)
        assert (setting.paper is not None) == (tuple(setting.labels.values()) == ("10k", "estimate", "default"))


@pytest.mark.parametrize("name", ["bhrf", "bhrf-playouts", "bhrf-epsilon"])
def test_the_planners_of_bhrf_have_the_labels_parameters(name: str) -> None:
    """The opponent is the same program without the policy, priors in both."""
    for setting in experiment_named(name).settings(2, 0):
        one, two = (planner_from(text, **setting.match.budget) for text in (setting.match.a, setting.match.b))
        assert one.selection == two.selection == RAVE(revisit=0)
        assert one.initial == two.initial == GoInitial()
        labels = setting.labels
        expert = (GoExpert(),) if name == "bhrf-epsilon" else ()
        assert two.policies == expert
        policy = one.policies[0]
        assert one.policies[1:] == expert
        if name == "bhrf":
            assert policy == planner_from(f"rave(policies='{bhrf.POLICIES[labels['policy']]}')", playouts=1).policies[0]
            assert setting.match.budget == bhrf.BUDGETS[labels["budget"]]
        elif name == "bhrf-playouts":
            assert (policy, one.playouts, two.playouts) == (BHRF(), int(labels["playouts"]), 10_000)
        else:
            choice = {"soft-UCT": "soft_uct", "last reply": "last_reply"}[labels["choice"]]
            assert policy == BHRF(int(labels["epsilon"]) / 100, choice)


def test_the_planners_of_the_profiles_have_the_labels_parameters() -> None:
    """One contest a policy, of which each line is a share."""
    expected = {
        **{"random": (), "expert": (GoExpert(),), "soft-UCT": (BHRF(),), "last reply": (BHRF(choice="last_reply"),)},
        "soft-UCT, the text": (BHRF(accept="estimate", fallback="default"),),
    }
    settings = experiment_named("bhrf-profile").settings(2, 0)
    assert [tuple(each.labels.values()) for each in settings] == [(name, kind) for name in expected for kind in MEASURES]
    for setting in settings:
        planner = planner_from(setting.match.planner)
        assert (planner.selection, planner.initial) == (RAVE(revisit=0), GoInitial())
        assert planner.policies == expected[setting.labels["policy"]]
        assert (setting.match.playouts, setting.match.settings) == (10_000, {"size": 9, "komi": 7.5})


def test_profiles_of_whole_games_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With one playout a move, of 5x5: the table has the means of the games' shares, and the summary their ratios."""
    monkeypatch.setattr(bhrf_profile, "PLAYOUTS", 1)
    monkeypatch.setattr(bhrf_profile, "settings_of", lambda size: {"size": 5})
    assert cli.main(["reproduce", "bhrf-profile", "--games", "2", "--folder", str(tmp_path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    rows = {(row["policy"], row["measure"]): float(row["percent"]) for row in table(tmp_path, "bhrf-profile")}
    for setting in bhrf_profile.settings(2, 0)[:4]:
        place = MEASURES.index(setting.labels["measure"])
        shares = [setting.match.play(number).payoffs[place] for number in (0, 1)]
        assert rows["random", setting.labels["measure"]] == round(100 * sum(shares) / 2, 4)
    assert rows["expert", "near pattern"] > rows["random", "near pattern"] > 0
    ratio = rows["expert", "near pattern"] / rows["random", "near pattern"]
    (expert,) = (row for row in report["summary"] if row["policy"] == "expert")
    assert expert["near pattern over random"] == f"{ratio:.2f}"


@pytest.mark.parametrize("name", ["leftright", "ucd-hex"])
def test_labels_are_those_of_the_planner(name: str) -> None:
    for setting in experiment_named(name).settings(2, 0):
        depths = [f"{depth}={setting.labels[depth]}" for depth in ("d1", "d2", "d3") if setting.labels[depth]]
        assert setting.match.a == f"{setting.labels['planner']}({','.join([*depths, 'c=0.3'])})"


def test_the_order_of_leftright_is_in_the_text_of_its_planners() -> None:
    """Right first; only UCT forgets. With the paper's c all cells of Figure 4 are there."""
    settings = experiment_named("leftright-order").settings(2, 0)
    for setting in settings:
        planner = planner_from(setting.match.a, **setting.match.budget)
        depths = {name: float(setting.labels[name]) for name in ("d1", "d2", "d3") if setting.labels[name]}
        own = {"uct": UCD(table=False), "update_all": UpdateAll(), "ucd": UCD(**depths)}[setting.labels["planner"]]
        assert planner.selection == replace(own, c=float(setting.labels["c"]))
        assert planner.options.untried == "reversed"
        assert planner.options.reuse_graph == (setting.labels["planner"] != "uct")
    figure = [dict(setting.labels) for setting in experiment_named("leftright").settings(2, 0)]
    labels = [dict(setting.labels) for setting in settings]
    assert [{"c": "0.3", **cell} for cell in figure] == [cell for cell in labels if cell["c"] == "0.3"]
    assert {setting.paper for setting in settings if setting.labels["c"] == "0.3"} == {None, 81.5, 77.7, 99.8}


def test_the_summary_of_leftright_tells_how_far_the_papers_figures_are() -> None:
    figures = {"uct": (82.0, 0.25), "update_all": (None, None), "ucd": (99.0, 0.0)}
    rows: list[Row] = [
        {**setting.labels, "games": 4, "percent": percent, "standard_error": error}
        for setting in experiment_named("leftright-order").settings(2, 0)
        for percent, error in [figures[setting.labels["planner"]]]
    ]
    next(row for row in rows if row["d1"] == "2")["percent"] = 99.5
    uct, ucd_cell = ucd_orders.nearness(rows)[-2:]
    assert uct == {
        **{"c": "0.3", "planner": "uct", "games": 4, "percent": 82.0, "paper": 81.5, "points_off": 0.5, "errors_off": 2.0},
        **{"place": None, "of": None},
    }
    assert ucd_cell == {
        **{"c": "0.3", "planner": "(inf,0,1)", "games": 4, "percent": 99.0, "paper": 99.8, "points_off": -0.8},
        **{"errors_off": None, "place": 2, "of": 42},
    }


@pytest.mark.parametrize("name", ["leftright-readings", "ucd-hex-readings"])
def test_a_reading_is_in_the_text_of_its_planner_and_of_the_opponent(name: str) -> None:
    """But where a tree cannot have it."""
    for setting in experiment_named(name).settings(2, 0):
        options = ucd.READINGS[setting.labels["reading"]]
        assert setting.match.a.startswith(setting.labels["planner"].partition("(")[0])
        assert setting.match.a.endswith(f",{options})" if options else "c=0.3)")
        if setting.match.b is not None:
            assert setting.match.b == (f"uct(c=0.3,{options})" if options and options != "store=nodes" else "uct(c=0.3)")


def test_the_seed_reaches_every_match() -> None:
    assert {setting.match.seed for setting in HEX.settings(2, 7)} == {7}


# Figures.

MATCH = Match("tic_tac_toe", "uct", "uct", games=4)
ALONE = Match("leftright", "uct", games=4)


def row_of(match: Match, *payoffs: float) -> Row:
    """The row of games with these payoffs, all but the first two with different moves."""
    games = [Game(i, 0, (max(i, 1),), (payoff, 1 - payoff), (30, 70), (0.5, 0.1)) for i, payoff in enumerate(payoffs)]
    return measured(Setting({"planner": "x"}, match, 12.5), games)


def test_the_row_of_a_match_has_its_columns_in_order() -> None:
    figures = ["games", "percent", "standard_error", "interval_low", "interval_high", "distinct_games"]
    assert list(row_of(MATCH, 1.0)) == ["planner", *figures, "paper", "playouts_per_second"]


def test_the_row_of_one_planner_has_its_columns_in_order() -> None:
    figures = ["games", "percent", "standard_error", "interval_low", "interval_high"]
    assert list(row_of(ALONE, 1.0)) == ["planner", *figures, "paper", "playouts_per_second"]


def test_percent_of_a_match_counts_draws_half() -> None:
    assert row_of(MATCH, 1.0, 0.5, 0.0, 1.0)["percent"] == 62.5


def test_the_standard_error_of_a_match_is_that_of_a_share() -> None:
    assert row_of(MATCH, 1.0, 0.5, 0.0, 1.0)["standard_error"] == round(100 * sqrt(0.625 * 0.375 / 4), 4)


def test_the_interval_of_a_match_is_wilsons() -> None:
    row = row_of(MATCH, 1.0, 0.5, 0.0, 1.0)
    assert [row["interval_low"], row["interval_high"]] == [round(100 * end, 4) for end in wilson(2.5, 4)]


def test_distinct_games_of_a_match_are_counted() -> None:
    assert row_of(MATCH, 1.0, 0.5, 0.0, 1.0)["distinct_games"] == 3


def test_percent_of_one_planner_is_the_mean_payoff() -> None:
    assert row_of(ALONE, 0.5, 0.75)["percent"] == 62.5


def test_the_standard_error_of_one_planner_is_that_of_the_mean() -> None:
    """Payoffs 1/2 and 3/4 have the sample variance 2 (1/8)^2 = 1/32: sqrt(1/32 / 2) = 1/8."""
    assert row_of(ALONE, 0.5, 0.75)["standard_error"] == 12.5


def test_one_run_has_no_standard_error() -> None:
    assert row_of(ALONE, 0.5)["standard_error"] is None


@pytest.mark.parametrize("match", [MATCH, ALONE])
def test_without_games_nothing_is_known(match: Match) -> None:
    row = row_of(match)
    assert [row[column] for column in ("games", "percent", "standard_error", "playouts_per_second")] == [0, None, None, None]


def test_playouts_per_second_are_those_of_planner_a() -> None:
    assert row_of(MATCH, 1.0, 1.0)["playouts_per_second"] == 60


# Files.


def test_rows_are_written_as_values_with_commas(tmp_path: Path) -> None:
    write_rows([{"planner": "ucd", "d1": "inf", "percent": 62.5, "paper": None}], tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_bytes() == b"planner,d1,percent,paper\nucd,inf,62.5,\n"


def rows_with(name: str, percent: float | None) -> list[Row]:
    """Rows of an experiment that all have the same figure, or none."""
    figures = {"games": 200, "percent": percent, "standard_error": None if percent is None else 2.5}
    figures |= {"interval_low": 55.0, "interval_high": 65.0, "low_90": 56.0, "high_90": 64.0}
    return [{**setting.labels, **figures, "paper": setting.paper} for setting in experiment_named(name).settings(2, 0)]


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("percent", [60.0, None])
@pytest.mark.sweep(4)
def test_a_picture_is_svg(name: str, percent: float | None, tmp_path: Path) -> None:
    picture.save(experiment_named(name).draw(rows_with(name, percent)), tmp_path / "picture.svg")
    assert ElementTree.parse(tmp_path / "picture.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_equal_pictures_are_equal_files(tmp_path: Path) -> None:
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        picture.save(HEX.draw(rows_with("ucd-hex", 60.0)), folder / "picture.svg")
    assert (tmp_path / "a" / "picture.svg").read_bytes() == (tmp_path / "b" / "picture.svg").read_bytes()


@pytest.mark.parametrize(
    ("name", "panel", "names"),
    [
        ("leftright", 0, ["d3 = 0", "d3 = 1", "d3 = 2"]),
        ("ucd-hex", 0, [f"d3 = {d3}" for d3 in (0, 1, 2, 3, 4, "inf")]),
        ("ucd-hex", 1, [f"d3 = {d3}" for d3 in (0, 1, 2, 3, 4, "inf")]),
    ],
)
def test_a_panel_has_a_line_for_each_d3(name: str, panel: int, names: list[str]) -> None:
    axis = experiment_named(name).draw(rows_with(name, 60.0)).axes[panel]
    assert [label for label in axis.get_legend_handles_labels()[1] if label in names] == names


@pytest.mark.parametrize(("name", "depths"), [("leftright", "0 1 2 3 4 5 6 8 10 inf"), ("ucd-hex", "0 1 2 3 4 inf")])
def test_depths_stand_below_a_panel_in_order(name: str, depths: str) -> None:
    axis = experiment_named(name).draw(rows_with(name, 60.0)).axes[0]
    assert [label.get_text() for label in axis.get_xticklabels()] == depths.split()


def test_an_experiment_of_a_few_settings_is_reproduced(tmp_path: Path) -> None:
    settings = HEX.settings(2, 0)
    with Store(tmp_path / "few.sqlite") as store:
        report = reproduce(replace(HEX, draw=lambda rows: HEX.draw(rows_with("ucd-hex", 60.0))), settings[:3], store)
    assert ([row["games"] for row in report.rows], report.missing) == ([2, 2, 2], 0)


# ucd reproduce


def words(folder: Path, *more: str, games: int = 2) -> list[str]:
    return ["reproduce", "ucd-hex", "--games", str(games), "--folder", str(folder), *more]


def table(folder: Path, name: str = "ucd-hex") -> list[dict[str, str]]:
    """The rows of a run, without what depends on the clock."""
    with open(folder / f"{name}.csv", newline="") as file:
        return [{key: text for key, text in row.items() if key != "playouts_per_second"} for row in csv.DictReader(file)]


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that was not stopped."""
    folder = tmp_path_factory.mktemp("whole")
    assert cli.main(words(folder)) == 0
    return folder


def printed(capsys: pytest.CaptureFixture[str], arguments: Sequence[str]) -> str:
    assert cli.main(arguments) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return shown.out


def test_a_run_leaves_games_table_and_picture(whole_run: Path) -> None:
    assert sorted(path.name for path in whole_run.iterdir()) == ["ucd-hex.csv", "ucd-hex.sqlite", "ucd-hex.svg"]


def test_a_run_has_a_row_for_each_setting(whole_run: Path) -> None:
    assert [row["games"] for row in table(whole_run)] == ["2"] * 73


def test_a_run_prints_our_figure_beside_the_papers(whole_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, words(whole_run)).splitlines()
    best = next(row for row in table(whole_run) if (row["d1"], row["d2"], row["d3"]) == ("0", "1", "2"))
    shown = ["ucd", "0", "1", "2", "2*", f"{float(best['percent']):.1f}", f"{float(best['standard_error']):.2f}", "63.5"]
    assert shown in [line.split()[:-1] for line in lines]


def test_a_run_can_be_printed_as_json(whole_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report: dict[str, Any] = json.loads(printed(capsys, words(whole_run, "--json")))
    assert (report["experiment"], report["missing_games"], len(report["rows"])) == ("ucd-hex", 0, 73)


def test_leftright_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its first four settings, since all of them take a while."""
    chosen = experiment_named("leftright")
    few = replace(chosen, settings=lambda games, seed: chosen.settings(games, seed)[:4])
    monkeypatch.setitem(ucd.EXPERIMENTS, "leftright", few)
    assert cli.main(["reproduce", "leftright", "--games", "3", "--folder", str(tmp_path)]) == 0
    assert [row["games"] for row in table(tmp_path, "leftright")] == ["3"] * 4


def test_only_some_settings_are_played_and_the_table_has_all_that_were(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second call plays other settings; the first one's games are told of too."""
    for only, games in ((["planner=ucd", "d1=0,inf", "d2=0", "d3=1"], [2, 2]), (["planner=update_all"], [2, 2, 2])):
        report = json.loads(printed(capsys, words(tmp_path, "--json", *(f"--only={word}" for word in only))))
        there = [row for row in report["rows"] if row["games"]]
        assert ([row["games"] for row in there], report["missing_games"], len(report["rows"])) == (games, 0, 73)
    assert [(row["planner"], row["d1"], row["d2"], row["d3"]) for row in there] == [
        ("update_all", "", "", ""),
        *(("ucd", d1, "0", "1") for d1 in ("0", "inf")),
    ]


def test_labels_with_commas_are_found() -> None:
    """The longest label that fits is taken, so that a comma may stand in a label as well as between labels."""
    budgets = ("1", "1,000 playouts", "30,000 playouts", "0.1 s")
    settings = [Setting({"budget": budget, "d": "0"}, lambda setting: None) for budget in budgets]
    for texts, found in (
        (["30,000 playouts"], "30,000 playouts"),
        (["0.1 s,1,000 playouts"], "1,000 playouts;0.1 s"),
        (["1", "30,000 playouts,1"], "1;30,000 playouts"),
    ):
        assert ";".join(setting.labels["budget"] for setting in with_labels(settings, {"budget": texts})) == found
    for text, unknown in (("30", "30"), ("1,", ""), ("1,000", "000"), ("0.1 s;1", "0.1 s;1")):
        with pytest.raises(ValueError, match=f"no setting has budget = '{unknown}': expected one of 1, 1,000 playouts,"):
            with_labels(settings, {"budget": [text]})


def test_a_folder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ucd_planners.experiments.experiment.reproduce", lambda *given, **more: Report([], 0, [], []))
    assert cli.main(words(tmp_path / "a" / "b")) == 0
    assert (tmp_path / "a" / "b").is_dir()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["ucd-hex", "--games", "3"], "games must be an even number, since seats are swapped in pairs, not 3"),
        (["leftright", "--games", "0"], "games must be from 1 to 1000000000, not 0"),
        (["leftright", "--seed", "-1"], "seed must be from 0 to 18446744073709551615, not -1"),
        (["leftright", "--jobs", "0"], "jobs must be from 1 to 1024, not 0"),
        (["ucd-hex", "--only", "d1"], "--only must be like budget=10k, or budget=10k,30k for both, not 'd1'"),
        (["ucd-hex", "--only", "d4=1"], "settings have no column 'd4': expected one of planner, d1, d2, d3"),
        (["ucd-hex", "--only", "d2=5"], "no setting has d2 = '5': expected one of 0, 1"),
        (["leftright", "--steps", "5"], "unexpected argument '--steps': settings are those of a game, after --game"),
        (["leftright", "--folder", "/dev/null/x"], "the folder /dev/null/x cannot be made: Not a directory"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_run_is_refused_in_one_sentence(
    arguments: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["reproduce", *arguments]) == 2
    assert capsys.readouterr() == ("", f"ucd: {sentence}\n")


def test_an_unknown_experiment_has_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["reproduce", "chess"]) == 2
    assert capsys.readouterr().err.startswith("ucd: unknown experiment 'chess': expected one of leftright, ")


def test_a_file_in_the_way_is_told_of_and_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ucd-hex.sqlite").write_text("my notes")
    assert cli.main(words(tmp_path)) == 2
    assert capsys.readouterr().err == f"ucd: {tmp_path / 'ucd-hex.sqlite'} is no store of games\n"
    assert (tmp_path / "ucd-hex.sqlite").read_text() == "my notes"


def test_without_matplotlib_the_command_says_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert cli.main(words(tmp_path)) == 2
    assert capsys.readouterr().err == "ucd: pictures need matplotlib: pip install 'ucd-planners[plot]'\n"


# Stopped and resumed (B118e).


def test_a_run_that_is_killed_again_and_again_ends_with_the_same_table(whole_run: Path, tmp_path: Path) -> None:
    for games, jobs in ((1, "2"), (75, "1")):
        with process(*words(tmp_path, "--jobs", jobs, games=2)) as run:
            wait_for(tmp_path / "ucd-hex.sqlite", games, run)
            run.kill()
    with process(*words(tmp_path, games=2)) as run:
        assert (run.communicate()[1], run.returncode) == ("", 0)
    assert table(tmp_path) == table(whole_run)


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.sweep(2)
def test_ctrl_c_tells_what_there_is_and_the_same_command_goes_on(jobs: str, whole_run: Path, tmp_path: Path) -> None:
    """40 games of each of 73 settings were asked for; 2 of each, as in the run to compare with, are quicker to go on with."""
    with process(*words(tmp_path, "--jobs", jobs, games=40)) as run:
        wait_for(tmp_path / "ucd-hex.sqlite", 20, run)
        os.killpg(run.pid, signal.SIGINT)
        out, err = run.communicate(timeout=60)
    missing = 2920 - games_in(tmp_path / "ucd-hex.sqlite")
    assert (run.returncode, err) == (130, f"stopped: {missing} of 2920 games are missing; the same command goes on\n")
    assert sum(line.split()[:1] in (["ucd"], ["update_all"]) for line in out.splitlines()) >= 20
    assert cli.main(words(tmp_path)) == 0
    assert table(tmp_path) == table(whole_run)


def test_a_stopped_run_has_lines_of_equally_many_games(tmp_path: Path) -> None:
    """Ctrl-C comes when the first setting has 7 games, the second 5 and the third 4: each has two pairs. A fourth, which is
    not among those played, keeps its 3."""
    settings = HEX.settings(8, 0)[:4]
    with Store(tmp_path / "few.sqlite") as store:
        for setting, count in zip(settings, (7, 5, 4, 3), strict=True):
            game = partial(Game, seat=0, moves=(1, 2), payoffs=(1.0, 0.0), playouts=(9, 9), cpu_seconds=(0.1, 0.1))
            store.append(setting.match, [game(number) for number in range(count)])

        def stop(contest: Any, games: Any) -> None:
            raise KeyboardInterrupt

        drawn = replace(HEX, draw=lambda rows: HEX.draw(rows_with("ucd-hex", 60.0)))
        report = reproduce(drawn, settings, store, progress=stop, played=settings[:3])
        assert report.missing > 0
        assert (report.games, [row["games"] for row in report.rows]) == (4, [4, 4, 4, 3])


def test_few_games_are_marked(whole_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the table by a star, in the picture by open circles with a name of their own."""
    lines = printed(capsys, words(whole_run)).splitlines()
    assert "* fewer than 100 games" in lines
    assert sum(" 2* " in line for line in lines) == 73
    for games, named in ((99, ["open: fewer than 100 games"]), (100, [])):
        axis = HEX.draw([{**row, "games": games} for row in rows_with("ucd-hex", 60.0)]).axes[0]
        assert any(line.get_markerfacecolor() == "white" for line in axis.lines) == (games < 100)
        assert [label for label in axis.get_legend_handles_labels()[1] if label.startswith("open")] == named


def test_fewer_games_than_there_are_give_the_table_of_fewer(whole_run: Path, tmp_path: Path) -> None:
    settings = HEX.settings(4, 0)
    with Store(whole_run / "ucd-hex.sqlite") as old, Store(tmp_path / "ucd-hex.sqlite") as new:
        for setting in settings:
            later = [replace(game, number=game.number + 2, payoffs=(0.5, 0.5)) for game in old.games(setting.match)]
            new.append(setting.match, [*old.games(setting.match), *later])
    assert cli.main(words(tmp_path)) == 0
    assert table(tmp_path) == table(whole_run)


def test_a_table_of_more_games_is_replaced_only_if_told(
    whole_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """F2-22: the store has all games, but the table and the picture are of the more."""
    shutil.copytree(whole_run, tmp_path / "run")
    folder = tmp_path / "run"
    longer = (folder / "ucd-hex.csv").read_text().replace(",2,", ",20,")
    (folder / "ucd-hex.csv").write_text(longer)
    (folder / "ucd-hex.svg").write_text("of twenty games")
    assert "it stays as it is, and its picture; --force replaces them\n" in printed(capsys, words(folder))
    assert [(folder / f"ucd-hex.{kind}").read_text() for kind in ("csv", "svg")] == [longer, "of twenty games"]
    printed(capsys, words(folder, "--force"))
    assert table(folder) == table(whole_run)
    assert (folder / "ucd-hex.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("old", "replaced"),
    [
        (None, True),
        ("c,games,percent\n", True),
        ("c,games,percent\n0.1,4,50\n0.3,0,\n", True),
        ("c,games,percent\n0.3,2,50\n", True),
        ("c,games,percent\n0.1,6,50\n", False),
        ("c,games,percent\n0.1,0,\n0.3,3,50\n", False),
        ("c,games,percent\n0.9,1,50\n", False),
        ("d,games,percent\n0.1,1,50\n", False),
        ("c,games,percent\n0.1,many,50\n", False),
        ("my notes\n1\n", False),
        ("c,games\n\xff", False),
    ],
)
def test_a_table_gives_way_to_one_with_as_many_games_in_each_row(old: str | None, replaced: bool, tmp_path: Path) -> None:
    """F2-22: of two rows, with four and two games."""
    path = tmp_path / "rows.csv"
    if old is not None:
        path.write_bytes(old.encode("latin-1"))
    assert replaceable(path, [{"c": "0.1", "games": 4}, {"c": "0.3", "games": 2}], ["c"]) == replaced


# The results that are kept


KEPT = Path(__file__).parent.parent / "docs" / "results"
CMC_TABLES = ("cmc", "cmc-hex", "cmc-go", "cmc-zero")
PARTIAL = ("bhrf", "bhrf-playouts", "bhrf-epsilon", "childs-go", "shared-positions", "cmc-details")
"""Experiments of which a part is kept, which the same command goes on from."""
WHOLE = (
    *ucd.EXPERIMENTS,
    *ucd_go.EXPERIMENTS,
    *CMC_TABLES,
    *ucd_ggp.EXPERIMENTS,
    "playouts-equivalent",
    *nogo.EXPERIMENTS,
    "childs-trees",
    "ucd-hex-kept",
)
"""Experiments whose whole runs are kept."""


def kept(name: str) -> list[dict[str, str]]:
    """The rows of a run at full size."""
    with open(KEPT / f"{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", [*WHOLE, *PARTIAL])
def test_the_kept_results_are_those_of_the_experiment(name: str) -> None:
    """Every setting, in order, with all of its games if it is kept whole, and a picture."""
    experiment = experiment_named(name)
    settings = experiment.settings(experiment.games, 0)
    rows = kept(name)
    assert [{label: row[label] for label in setting.labels} for row, setting in zip(rows, settings, strict=True)] == [
        dict(setting.labels) for setting in settings
    ]
    games, whole = [int(row["games"]) for row in rows], [setting.match.games for setting in settings]
    assert max(games) > 0
    assert all(count <= most for count, most in zip(games, whole, strict=True))
    assert name in PARTIAL or games == whole
    assert (KEPT / f"{name}.svg").read_text().startswith("<?xml")


def test_the_kept_results_of_leftright_are_as_in_the_paper() -> None:
    """Plain UCT 81.5, (inf, 0, 1) 99.8; the others as sketches of the definition had them."""
    percent = {(row["planner"], row["d1"], row["d2"], row["d3"]): float(row["percent"]) for row in kept("leftright")}
    assert 79 < percent["uct", "", "", ""] < 84
    assert percent["ucd", "1", "0", "1"] > 97
    assert 94 < percent["ucd", "inf", "0", "0"] < 98
    assert percent["ucd", "inf", "0", "1"] > 99.3


@pytest.mark.parametrize(
    ("page", "names", "others", "least"),
    [
        (
            "ucd",
            (*ucd.EXPERIMENTS, *ucd_go.EXPERIMENTS, *ucd_ggp.EXPERIMENTS, "playouts-equivalent", "ucd-hex-kept"),
            {
                "0.2",
                "0.3",
                "0.4",
                "0.6",
                "5.5",
                "56.0",
                "61.8",
                "63.5",
                "81.5",
                "121.7",
                "129.5",
                *("10.0", "5.8", "6.5", "8.9"),  # mean differences, in tests/printed/readings.txt
                "41.1",
                "0.1",
                "3.5",
                "10.4",
                "62.3",
                "77.8",
            },
            30,
        ),
        ("cmc", (*CMC_TABLES, "cmc-details"), {"0.3", "54.0", "56.0", "94.0", "57.0", "55.4", "64.0", "52.0", "60.7"}, 18),
        ("bhrf", PARTIAL, {"1.7", "2.3", "7.5", "0.1"}, 8),
        (
            "nogo",
            tuple(nogo.EXPERIMENTS),
            {"50770.6", "22695.7", "40618.4", "10500.6", "4449.7", "84.7", "86.7", "6.6", "6.5"},
            3,
        ),
    ],
    ids=["ucd", "cmc", "bhrf", "nogo"],
)
def test_percentages_of_the_pages_are_in_the_kept_results(
    page: str, names: Sequence[str], others: set[str], least: int
) -> None:
    """All with one decimal, outside of the paper's brackets; standard errors are of another column, some numbers no results."""
    text = (KEPT.parent / "experiments" / f"{page}.md").read_text(encoding="utf-8")
    text = re.sub(r"\[[^]]*\]|standard errors?[^,.)]*[\d.]+", "", text)
    rows = [row for name in names for row in kept(name)]
    known = {f"{float(row['percent']):.1f}" for row in rows if row["percent"]}
    said = set(re.findall(r"(?<![\d.])\d+\.\d\b", text)) - others
    assert len(said) > least
    assert said <= known, said - known
