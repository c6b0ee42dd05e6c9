"""The benchmark of kept graphs: two planners play one game, and the table says how their rates and their playouts differ."""

from __future__ import annotations

import json

import pytest

import ucd_envs
from ucd_envs import registry
from ucd_planners import cli
from ucd_planners.benchmarks import kept
from ucd_planners.benchmarks.speed import Case
from ucd_planners.notation import planner_from

FIELDS = ["game", "config", "planner", "playouts", "moves", "kept_per_s", "fresh_per_s", "ratio", "kept_edges", "fresh_edges"]


def test_a_row_has_the_documented_fields() -> None:
    (row,) = kept.kept_rows([Case("tic_tac_toe_v0", "uct(c=0.3)", 300)])
    assert list(row) == FIELDS
    assert 5 <= row["moves"] <= 9
    assert row["ratio"] == pytest.approx(row["kept_per_s"] / row["fresh_per_s"], abs=0.01)


def test_edges_are_the_plies_of_playouts() -> None:
    """Three steps give a tree of seven positions, known after few playouts: later ones go to the end of the game, which is
    three, two and one plies below its positions."""
    (row,) = kept.kept_rows([Case("leftright_v0", "uct(c=0.3)", 600, {"steps": 3})])
    assert (row["moves"], row["kept_edges"], row["fresh_edges"]) == (3, 2.0, 2.0)


def test_edges_of_update_all_are_all_that_lead_to_a_leaf() -> None:
    """More than any path has: a game of tic-tac-toe has nine plies at most, but many ways lead to a position."""
    (row,) = kept.kept_rows([Case("tic_tac_toe_v0", "update_all", 1000)])
    assert row["kept_edges"] > 9


def test_a_search_of_few_playouts_tells_no_edges() -> None:
    (row,) = kept.kept_rows([Case("tic_tac_toe_v0", "rave", 20)])
    assert (row["kept_edges"], row["fresh_edges"]) == (None, None)


def test_both_planners_search_each_position_of_the_kept_ones_game() -> None:
    state = ucd_envs.make_rules("connect_four").initial_state()
    ours, theirs = (planner_from("uct(c=0.3)", playouts=30, reuse_graph=keep) for keep in (True, False))
    seen: list[tuple[bool, int]] = []

    def first(planner: object, position: ucd_envs.State) -> tuple[int, float]:
        seen.append((planner is ours, position.ply))
        return (position.legal_actions()[0] if planner is ours else -1), 1.0

    figures = kept.play(state, ours, theirs, first)
    assert figures == [[1.0, 1.0]] * len(figures)
    assert sorted(seen) == sorted((who, ply) for who in (False, True) for ply in range(len(figures)))
    assert [who for who, _ in seen[:4]] == [False, True, True, False]  # in turn, so that neither is always first


def test_every_game_is_measured_with_every_planner() -> None:
    found = kept.cases()
    assert [case.game for case in found[:: len(kept.PLANNERS)]] == registry.available()
    assert len(found) == len(registry.available()) * len(kept.PLANNERS)


def test_the_command_measures_a_game(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "--kept", "--json", "--game", "leftright", "--steps", "4", "--planner", "rave", "--planner", "uct"]
    assert cli.main(words) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["planner"], row["playouts"], row["moves"]) for row in rows] == [("rave", 1000, 4), ("uct", 1000, 4)]
    assert cli.main([*words[:2], *words[3:], "--playouts", "300"]) == 0
    assert "edges, kept" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--envs"], "--envs and --kept are two benchmarks: one at a time"),
        (["--foreign"], "--foreign and --kept are two benchmarks: one at a time"),
        (["--against", "openspiel"], "--kept has no peer"),
        (["--game", "hex", "--planner", "playout"], "--kept measures planners: 'playout' is none"),
    ],
)
def test_what_has_no_meaning_is_refused_in_one_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["bench", "--kept", *words]) == 2
    assert capsys.readouterr().err == f"ucd: {sentence}\n"
