"""Hex 5x5 and Table 1 of [UCD] where UCD keeps its graph between moves and UCT does not keep its tree.

This reading brings LeftRight and Connect 4 nearer to the paper than one in which both sides begin anew; here it is played where
the other experiments have both begin anew.
"""

from __future__ import annotations

from dataclasses import replace

from ucd_planners.experiments.experiment import Experiment, Setting
from ucd_planners.experiments.ucd import draw_hex, hex_settings
from ucd_planners.experiments.ucd_go import draw_go, go_settings


def kept(setting: Setting) -> Setting:
    """Returns a setting in which planner a keeps its graph, which is searched to the end of the budget."""
    planner = setting.match.a.replace(",stop_early=true", "")
    return replace(setting, match=replace(setting.match, a=f"{planner[:-1]},reuse_graph=true)"))


def hex_kept_settings(games: int, seed: int) -> list[Setting]:
    """Returns the settings of [UCD Figures 5 and 6] with kept graphs. Raises ValueError for an odd number of games."""
    return [kept(setting) for setting in hex_settings(games, seed)]


def go_kept_settings(games: int, seed: int) -> list[Setting]:
    """Returns the settings of [UCD Table 1] with kept graphs. Raises ValueError for an odd number of games."""
    return [kept(setting) for setting in go_settings(games, seed)]


EXPERIMENTS = {
    "ucd-hex-kept": Experiment(
        name="ucd-hex-kept",
        title="Hex 5x5 opened at b2, 1,000 playouts a move, c = 0.3, the graph kept between moves, against UCT",
        source="[UCD Figures 5 and 6]",
        claim="d1 = 0 is always above 53, d1 = 1 between 48 and 62; the best is (0, 1, 2)",
        games=1000,
        core_hours=0.2,
        settings=hex_kept_settings,
        draw=draw_hex,
    ),
    "ucd-go-kept": Experiment(
        name="ucd-go-kept",
        title="Go 6x6, komi 5.5, 10,000 playouts a move, the graph kept between moves, against UCT with c = 0.4",
        source="[UCD Table 1]",
        claim="no setting is clearly better than UCT, and d1 = 2 is worse",
        games=200,
        core_hours=3.3,
        settings=go_kept_settings,
        draw=draw_go,
    ),
}
"""Experiments by name."""
