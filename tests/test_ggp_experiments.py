"""Statistics of experiments, the tables of the General Game Playing games, and the worth of sharing in playouts."""

from __future__ import annotations

import sys
from dataclasses import replace
from math import exp, log
from pathlib import Path
from typing import Any

import pytest

import ucd_envs
from ucd_planners import cli
from ucd_planners.arena.match import Game, Match
from ucd_planners.arena.store import Store
from ucd_planners.experiments import equivalents, experiment_named, statistics, ucd_ggp
from ucd_planners.experiments.experiment import Row, Setting, measured, reproduce
from ucd_planners.experiments.statistics import against, holm, homogeneity, rank_correlation
from ucd_planners.notation import planner_from

MATCH = Match("tic_tac_toe", "uct", "uct", games=4)


def games_with(*payoffs: tuple[float, float]) -> list[Game]:
    return [Game(number, 0, (number,), pair, (10, 10), (0.1, 0.1)) for number, pair in enumerate(payoffs)]


# Statistics.


def test_homogeneity_is_the_weighted_sum_of_squares() -> None:
    """Weights 1, 1 and 1/4 around the mean (40 + 50 + 15) / 2.25 = 46 2/3: 400/9 + 100/9 + 1600/36 = 100.

    Its p is that of 2 degrees of freedom, exp(-100 / 2).
    """
    square, p = homogeneity([40.0, 50.0, 60.0], [1.0, 1.0, 2.0])
    assert square == pytest.approx(100.0)
    assert p == pytest.approx(exp(-50.0))


def test_equal_values_are_homogeneous() -> None:
    assert homogeneity([50.0] * 5, [3.5] * 5) == pytest.approx((0.0, 1.0))


def test_rank_correlation_sees_order_alone() -> None:
    assert rank_correlation([1, 2, 3, 4], [1, 10, 100, 1000])[0] == pytest.approx(1.0)
    assert rank_correlation([1, 2, 3, 4], [9, 5, 4, 0])[0] == pytest.approx(-1.0)


def test_a_mean_two_errors_away_has_a_p_of_a_twentieth() -> None:
    assert against(50 + 1.959964 * 2.5, 2.5, 50.0) == pytest.approx(0.05)
    assert against(50 - 1.959964 * 2.5, 2.5, 50.0) == pytest.approx(0.05)
    assert against(50.0, 2.5, 50.0) == 1.0


def test_holms_method_multiplies_by_what_is_left() -> None:
    """The second smallest, 0.02 * 2, raises the third, 0.03 * 1, to itself; none passes 1."""
    assert holm([0.03, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([0.9, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


def test_statistics_without_scipy_say_what_installs_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(ImportError, match=r"\Astatistics need scipy: pip install 'ucd-planners\[plot\]'\Z"):
        statistics.library()
    assert cli.main(["reproduce", "ucd-ggp", "--folder", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "ucd: statistics need scipy: pip install 'ucd-planners[plot]'\n"
    assert not list(tmp_path.iterdir())


# The tables of the ten games.


def test_the_papers_best_cells_are_its_bold_ones() -> None:
    """[UCD Tables 3 to 12]."""
    assert {game: ("".join(ucd_ggp.best_depths(game)), max(table.percents)) for game, table in ucd_ggp.TABLES.items()} == {
        "breakthrough": ("211", 54.1),
        "capture_the_king": ("100", 56.5),
        "connect_four": ("212", 70.9),
        "crisscross": ("020", 62.0),
        "knightthrough": ("211", 56.9),
        "merrills": ("122", 55.8),
        "othello": ("111", 59.2),
        "pawn_whopping": ("111", 59.8),
        "pentago": ("021", 56.8),
        "quarto": ("000", 55.8),
    }
    assert [table.number for table in ucd_ggp.TABLES.values()] == list(range(3, 13))
    assert {len(table.percents) for table in ucd_ggp.TABLES.values()} == {27}


def test_a_setting_is_the_planner_of_its_labels_against_uct() -> None:
    """UCD keeps its graph in one reading; UCT never keeps its tree."""
    for name in ("ucd-ggp", "ucd-ggp-budgets", "ucd-ggp-best"):
        for setting in experiment_named(name).settings(2, 5):
            labels, match = setting.labels, setting.match
            one, two = (planner_from(str(text), **match.budget) for text in (match.a, match.b))
            depths = {key: float(labels[key]) for key in ("d1", "d2", "d3")}
            assert (one.selection.d1, one.selection.d2, one.selection.d3) == tuple(depths.values())
            assert (one.selection.c, two.selection.c, two.selection.table) == (0.4, 0.4, False)
            assert one.selection.table
            assert [("reuse_graph=true" in str(text)) for text in (match.a, match.b)] == [labels["reading"] == "kept", False]
            assert (match.game, match.settings, match.seed) == (f"{labels['game']}_v0", {}, 5)
            assert one.playouts == two.playouts == int(labels["playouts"])


def test_a_game_is_won_by_the_higher_payoff() -> None:
    """CrissCross pays 1 and 1/4: equal players have 62.5 percent of the payoffs and win half of the games."""
    games = games_with((1.0, 0.25), (0.25, 1.0), (0.75, 0.25), (0.5, 0.5))
    row = ucd_ggp.won(Setting({}, MATCH, 50.0), games)
    assert (row["percent"], row["mean_payoff"], row["games"]) == (62.5, 62.5, 4)
    assert ucd_ggp.won(Setting({}, MATCH), games[:2])["percent"] == 50.0
    assert ucd_ggp.won(Setting({}, MATCH), games[:2])["mean_payoff"] == 62.5
    assert ucd_ggp.won(Setting({}, MATCH), [])["percent"] is None


def rows_like(game: str, shift: float, error: float = 2.0) -> list[Row]:
    """A table of ours that is the paper's, moved up by a constant."""
    settings = [
        setting
        for setting in experiment_named("ucd-ggp").settings(2, 0)
        if (setting.labels["game"], setting.labels["reading"]) == (game, "fresh")
    ]
    return [
        {**each.labels, "games": 200, "percent": (each.paper or 0) + shift, "standard_error": error, "paper": each.paper}
        for each in settings
    ]


def test_a_table_is_compared_with_the_papers() -> None:
    (row,) = ucd_ggp.compared(rows_like("connect_four", 1.0, error=3.5))
    assert (row["game"], row["reading"], row["correlation"]) == ("connect_four", "fresh", 1.0)
    assert row["chi2"] == row["paper chi2"]
    assert (row["paper's best"], row["paper"], row["ours there"]) == ("(2, 1, 2)", 70.9, 71.9)
    assert (row["best"], row["percent"]) == ("(2, 1, 2)", 71.9)


def test_the_papers_cells_differ_at_connect_four_alone_beyond_chance() -> None:
    """Against "all equal", with a standard error of 3.5: the smallest p of the other games is that of CrissCross."""
    ps = {row["game"]: row["paper p"] for game in ucd_ggp.TABLES for row in ucd_ggp.compared(rows_like(game, 0.0))}
    assert len(ps) == 10
    assert sorted(ps, key=lambda game: ps[game])[:2] == ["connect_four", "crisscross"]
    assert ps["connect_four"] < 0.001


def test_a_table_with_a_cell_without_an_error_is_not_compared() -> None:
    rows = rows_like("quarto", 0.0)
    rows[3]["standard_error"] = None
    assert ucd_ggp.compared(rows) == []


def test_the_best_cells_are_tested_together() -> None:
    """Three of them: p is multiplied by 3 for the smallest, and cells without games are left out."""
    settings = experiment_named("ucd-ggp-best").settings(2, 0)
    assert len(settings) == 20
    rows: list[Row] = [
        {**each.labels, "games": 1000, "percent": percent, "standard_error": 1.5, "paper": each.paper}
        for each, percent in zip([each for each in settings if each.labels["reading"] == "kept"], (50, 56, 51), strict=False)
    ]
    rows.append({**settings[0].labels, "games": 0, "percent": None, "standard_error": None, "paper": 50.0})
    found = ucd_ggp.tested(rows)
    assert [row["game"] for row in found] == ["breakthrough", "capture_the_king", "connect_four"]
    p = against(56.0, 1.5, 50.0)
    assert (found[1]["p"], found[1]["corrected p"]) == (round(p, 4), round(3 * p, 4))
    assert found[0]["corrected p"] == 1.0


def test_game_is_short_for_only_game(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    asked: list[Any] = []

    def noted(chosen: Any, settings: Any, store: Any, jobs: Any, executor: Any, count: Any, played: Any, *_: Any) -> Any:
        asked.append([dict(each.labels) for each in played])
        raise KeyboardInterrupt

    monkeypatch.setattr("ucd_planners.experiments.experiment.reproduce", noted)
    for words in (["--game", "quarto"], ["--game", "quarto_v0"], ["--only", "game=quarto"]):
        assert cli.main(["reproduce", "ucd-ggp", *words, "--folder", str(tmp_path)]) == 130
    assert asked[0] == asked[1] == asked[2]
    assert {labels["game"] for labels in asked[0]} == {"quarto"}
    assert len(asked[0]) == 54
    capsys.readouterr()
    for words, sentence in (
        (["--game", "chess"], "unknown game 'chess': expected one of breakthrough_v0, "),
        (["--game", "hex"], "no setting has game = 'hex': expected one of breakthrough, "),
        (["--game", "othello", "--size", "6"], "unexpected argument '--size': settings are those of a game"),
    ):
        assert cli.main(["reproduce", "ucd-ggp", *words, "--folder", str(tmp_path)]) == 2
        assert sentence in capsys.readouterr().err
    assert cli.main(["reproduce", "ucd-go", "--game", "go", "--folder", str(tmp_path)]) == 2
    assert "settings have no column 'game'" in capsys.readouterr().err


# The worth of sharing.


def row(planner: str, percent: float, error: float = 1.0) -> Row:
    return {"game": "Pentago", "planner": planner, "percent": percent, "standard_error": error, "links": 12.5}


def scale(slope: float) -> list[Row]:
    """UCT's points where odds are k to the power of the slope."""
    return [row(f"uct, {k} times", 100 / (1 + exp(-slope * log(float(k))))) for k in equivalents.TIMES]


def test_a_planner_as_strong_as_uct_with_twice_the_playouts_is_worth_two() -> None:
    rows = [*scale(0.7), row("ucd(1,0,1)", 100 / (1 + 2**-0.7)), row("update_all", 50.0), row("ucd(0,1,2)", 45.0)]
    two, worse, one = equivalents.equivalents(rows)
    assert (two["game"], two["planner"], two["k"], two["links"]) == ("Pentago", "ucd(1,0,1)", 2.0, 12.5)
    assert two["from"] < 2 < two["to"]
    assert two["twice the playouts"] == round(two["percent"], 1) == 61.9
    assert (one["planner"], one["k"]) == ("update_all", 1.0)
    assert worse["k"] < 1


def test_the_interval_of_a_worth_comes_from_both_errors() -> None:
    """Without an error of the scale it is that of the odds alone: 1.96 * 0.04 / 0.5 at 50 percent with an error of 1."""
    exact = [{**each, "standard_error": 1e-6} for each in scale(0.5)]
    (found,) = equivalents.equivalents([*exact, row("update_all", 50.0)])
    assert (found["from"], found["to"]) == (round(exp(-1.96 * 0.04 / 0.5), 2), round(exp(1.96 * 0.04 / 0.5), 2))


def test_results_that_do_not_rise_with_playouts_have_no_scale() -> None:
    assert equivalents.equivalents([*scale(-0.2), row("update_all", 50.0)]) == []
    assert equivalents.equivalents([row("update_all", 50.0)]) == []


def test_links_are_those_of_searches_of_the_games_positions() -> None:
    """In tic-tac-toe nearly every new edge of a long search leads to a known position; UCT has none."""
    match = Match("tic_tac_toe", "ucd(d1=1,d2=0,d3=1)", "uct", budget={"playouts": 300}, games=2)
    games = [Game(0, 0, (4, 0, 2), (0.5, 0.5), (900, 900), (0.1, 0.1))]
    planner = planner_from(str(match.a), seed=match.seed)
    state = ucd_envs.make_rules("tic_tac_toe").initial_state()
    shares = []
    for action in games[0].moves:
        found = planner.search(state, playouts=300)
        shares.append(found.transpositions / 300)
        state = state.after(action)
    told = equivalents.with_links(Setting({"planner": "ucd(1,0,1)"}, match), games)
    assert told["links"] == round(100 * sum(shares) / 3, 2) > 0
    uct = replace(match, a="uct")
    assert equivalents.with_links(Setting({"planner": "uct, 1 times"}, uct), games)["links"] is None
    assert equivalents.with_links(Setting({"planner": "ucd(1,0,1)"}, match), [])["links"] is None
    assert {**measured(Setting({"planner": "ucd(1,0,1)"}, match), games), "links": told["links"]} == told


def test_the_cells_of_the_scale_are_budgets_of_uct() -> None:
    settings = experiment_named("playouts-equivalent").settings(2, 0)
    assert len(settings) == 8 * 9
    for each in settings:
        label, budget = each.labels["planner"], each.match.budget["playouts"]
        planner = planner_from(str(each.match.a), **each.match.budget)
        if label.startswith("uct"):
            assert planner.playouts == round(float(label.split()[1]) * budget)
        else:
            assert planner.playouts == budget
            assert planner.name == label.partition("(")[0]
        assert planner_from(str(each.match.b), **each.match.budget).playouts == budget


def test_a_second_table_is_printed_and_reported(tmp_path: Path) -> None:
    chosen = experiment_named("ucd-hex")
    settings = chosen.settings(2, 0)[:1]
    with Store(tmp_path / "few.sqlite") as store:
        report = reproduce(replace(chosen, draw=chosen_draw, summary=lambda rows: [{"rows": len(rows)}]), settings, store)
    assert report.summary == [{"rows": 1}]


def chosen_draw(rows: Any) -> Any:
    return ucd_ggp.picture.panels(["one"], "x", "y")[0]
