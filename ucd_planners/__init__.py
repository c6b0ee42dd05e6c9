"""Monte-Carlo planners that act in any environment whose state can be cloned: UCT, UCD on graphs of positions, RAVE, and
playouts that learn."""

from ucd_planners.planner import Planner
from ucd_planners.presets import PRESETS, cmc, grave, rave, rave_ucd, simple_way, ucd, uct, uct0, uct1, uct2, uct3, update_all
from ucd_planners.result import SearchResult

__all__ = [
    "PRESETS",
    "Planner",
    "SearchResult",
    "cmc",
    "grave",
    "rave",
    "rave_ucd",
    "simple_way",
    "ucd",
    "uct",
    "uct0",
    "uct1",
    "uct2",
    "uct3",
    "update_all",
]
