"""Chance nodes: outcomes are drawn by their probabilities, and what the graph keeps is what exact fractions say."""

from __future__ import annotations

from itertools import product

import pytest
from searching import INF, C, assert_exact, random_games

from ucd_planners.selection.ucd import UCD
from ucd_planners.selection.update_all import UpdateAll

DEPTHS = tuple(product((0, 1, 2, INF), repeat=3))
every_depth = pytest.mark.parametrize("depths", DEPTHS, ids=lambda depths: ",".join(map(str, depths)))


@every_depth
@pytest.mark.sweep(2)
def test_cached_values_are_the_definitions_where_chance_decides(depths: tuple[float, float, float]) -> None:
    """Random graphs of one to three players, in which three positions of eight are left to chance."""
    for start in random_games(seed=500 + DEPTHS.index(depths), chance=3):
        assert_exact(start, UCD(*depths, C), 40, {15, 39, 40}, seed=DEPTHS.index(depths))


@pytest.mark.parametrize("depths", [(0, 0, 0), (1, 0, 1), (2, 1, 0), (INF, 0, 1)], ids=str)
def test_playouts_kept_by_positions_are_weighed_too(depths: tuple[float, float, float]) -> None:
    for start in random_games(seed=600, chance=3):
        assert_exact(start, UCD(*depths, C, store="nodes"), 40, {15, 39, 40})


@pytest.mark.parametrize("depths", [(0, 0, 0), (1, 0, 1), (2, 1, 0), (INF, 0, 1)], ids=str)
@pytest.mark.parametrize("most_edges", [3, 12])
def test_values_are_right_in_a_full_graph(depths: tuple[float, float, float], most_edges: int) -> None:
    """A descent ends at a chance node when the graph has no room for what came."""
    for start in random_games(seed=700, chance=4):
        assert_exact(start, UCD(*depths, C), 40, {13, 40}, most_edges=most_edges)


def test_a_tree_counts_outcomes() -> None:
    for start in random_games(seed=800, chance=3, tree=True):
        assert_exact(start, UCD(c=C, table=False), 40, {15, 40})


def test_update_all_counts_outcomes() -> None:
    for start in random_games(seed=900, chance=3):
        assert_exact(start, UpdateAll(C), 40, {15, 40})


@pytest.mark.parametrize(
    "selection", [UCD(depth, 0, depth, C) for depth in (0, 1, INF)] + [UCD(2, 1, 0, C), UpdateAll(C)], ids=str
)
def test_every_position_of_a_playout_may_be_added(selection: UCD | UpdateAll) -> None:
    """Outcomes that a playout draws are edges too; without room a simulation adds its first new position only."""
    for start in random_games(seed=950, chance=3):
        assert_exact(start, selection, 25, {15, 25}, expand="all")
        assert_exact(start, selection, 25, {13, 25}, expand="all", most_edges=12)


def test_every_position_of_a_playout_may_be_added_to_a_tree() -> None:
    for start in random_games(seed=960, chance=3, tree=True):
        assert_exact(start, UCD(c=C, table=False), 25, {15, 25}, expand="all")
