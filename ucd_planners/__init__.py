"""Monte-Carlo planners that act in any environment whose state can be cloned: UCT, UCD on graphs of positions, RAVE, and
playouts that learn."""

from ucd_planners.checks import check
from ucd_planners.episodes import Episode, Episodes
from ucd_planners.planner import Planner
from ucd_planners.presets import (
    PRESETS,
    catch_up,
    cmc,
    grave,
    puct,
    rave,
    rave_ucd,
    simple_way,
    stop_and_correct,
    ucd,
    uct,
    uct0,
    uct1,
    uct2,
    uct3,
    update_all,
)
from ucd_planners.result import SearchResult
from ucd_planners.saved import load
from ucd_planners.search.interface import PlayoutPolicy, Selection
from ucd_planners.selfplay import SelfPlay
from ucd_planners.strong import strong

__all__ = [
    "PRESETS",
    "Episode",
    "Episodes",
    "Planner",
    "PlayoutPolicy",
    "SearchResult",
    "Selection",
    "SelfPlay",
    "catch_up",
    "check",
    "cmc",
    "grave",
    "load",
    "puct",
    "rave",
    "rave_ucd",
    "simple_way",
    "stop_and_correct",
    "strong",
    "ucd",
    "uct",
    "uct0",
    "uct1",
    "uct2",
    "uct3",
    "update_all",
]
