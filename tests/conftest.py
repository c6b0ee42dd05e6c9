"""Settings of every test run: compiled kernels are kept in the temporary folder, windows need no display."""

from __future__ import annotations

import os
import signal
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts tests in the background has it ignored

os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / "ucd-kernels"))


def pytest_configure(config: pytest.Config) -> None:
    """Compiles the kernels that most tests need. Two workers begin at both ends, so hardly any kernel is compiled twice."""
    worker = getattr(config, "workerinput", {}).get("workerid")
    if worker is not None and not config.option.collectonly:
        for compile_kernels in widely_used()[:: 1 if worker.endswith(tuple("02468")) else -1]:
            compile_kernels()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks all but one in `n` of the cases of a test that is marked `sweep(n)` as slow, the same ones in every run."""
    sweeps: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sweep"):
            sweeps[item.nodeid.partition("[")[0]].append(item)
    for cases in sweeps.values():
        (n,) = cases[0].get_closest_marker("sweep").args  # type: ignore[union-attr]
        ranked = sorted(cases, key=lambda item: zlib.crc32(item.nodeid.encode()))
        for item in ranked[-(-len(cases) // n) :]:
            item.add_marker(pytest.mark.slow)


def widely_used() -> list[Callable[[], Any]]:
    """Functions that compile the kernels of one game or planner each; the two halves of the list take about equally long."""
    import ucd_envs
    import ucd_planners

    def search(planner: Callable[..., ucd_planners.Planner]) -> None:
        planner(playouts=1).search(ucd_envs.make_rules("tic_tac_toe").initial_state())

    games = (
        *("go", "hex", "einstein", "twenty_forty_eight", "havannah", "connect_four", "leftright", "pig", "tic_tac_toe"),
        *("breakthrough", "capture_the_king", "othello", "merrills", "pentago", "quarto", "crisscross", "pawn_whopping"),
        *("knightthrough", "nogo"),
    )
    planners = (ucd_planners.cmc, ucd_planners.update_all, ucd_planners.rave, ucd_planners.ucd)
    return [*(partial(ucd_envs.make_rules, game) for game in games), *(partial(search, planner) for planner in planners)]
