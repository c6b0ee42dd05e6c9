"""An installation that cannot be written to, and what the import of the packages costs."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DROP_FROM_BOUNDS, WRITE_ANYWHERE = 24, 1
"""Linux's PR_CAPBSET_DROP and CAP_DAC_OVERRIDE."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The two packages in a folder where nothing can be written."""
    folder = tmp_path_factory.mktemp("installed")
    for package in ("ucd_envs", "ucd_planners"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    folders = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    for path in folders:
        path.chmod(0o555)
    yield folder
    for path in folders:
        path.chmod(0o755)


def bow() -> None:
    """Takes from root the right to write where permissions forbid it; in a new process, before its program begins."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(DROP_FROM_BOUNDS, WRITE_ANYWHERE, 0, 0, 0)


def run(program: str, folder: Path = ROOT, **environment: str) -> str:
    """What a program prints in a fresh process that finds the packages in a folder; numba's cache is not that of the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "PYTHON", "XDG_"))}
    given = kept | {"PYTHONPATH": str(folder)} | environment
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, env=given, preexec_fn=bow)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def searched(installed: Path) -> list[str]:
    """Lines printed by a search where neither the packages' folder nor a home can be written to."""
    program = """
import os
import ucd_envs, ucd_planners
print(os.path.dirname(ucd_envs.__file__))
print(os.access(os.path.dirname(ucd_envs.__file__), os.W_OK))
env = ucd_envs.make("tic_tac_toe")
env.reset()
print(sum(ucd_planners.uct(playouts=20, seed=1).search(env).visits))
"""
    return run(program, installed, HOME=str(installed / "nobody")).splitlines()


def test_the_read_only_installation_is_the_one_that_is_imported(searched: list[str], installed: Path) -> None:
    assert searched[0] == str(installed / "ucd_envs")


def test_the_read_only_installation_cannot_be_written_to(searched: list[str]) -> None:
    assert searched[1] == "False"


def test_a_search_needs_no_cache(searched: list[str]) -> None:
    """B112: without a place for numba's cache, kernels are compiled in each process."""
    assert searched[2] == "20"


def test_nothing_was_written_into_the_read_only_installation(searched: list[str], installed: Path) -> None:
    assert not [path for path in installed.rglob("*") if path.name in ("__pycache__", "nobody")]


def test_the_import_compiles_nothing(tmp_path: Path) -> None:
    """With an empty cache, so that nothing can come from it."""
    program = """
from numba.core import event
with event.install_recorder("numba:compile") as recorder:
    import ucd_envs, ucd_planners
print(len(recorder.buffer))
"""
    assert run(program, NUMBA_CACHE_DIR=str(tmp_path)) == "0\n"


def test_a_search_compiles_something(tmp_path: Path) -> None:
    """The measure of the test above sees compilation where there is some."""
    program = """
from numba.core import event
from ucd_envs.games import tic_tac_toe
from ucd_envs.kernels import RESET, compiled
with event.install_recorder("numba:compile") as recorder:
    compiled(tic_tac_toe.reset, RESET)
print(len(recorder.buffer) > 0)
"""
    assert run(program, NUMBA_CACHE_DIR=str(tmp_path)) == "True\n"


def test_the_import_leaves_the_extras_alone() -> None:
    program = """
import sys
import ucd_envs, ucd_planners
print(*sorted({"rich", "PIL", "pygame", "pyspiel"} & set(sys.modules)))
"""
    assert run(program) == "\n"


def test_the_import_adds_no_scipy_to_that_of_its_dependencies() -> None:
    """numba imports scipy's outermost module to see its version."""
    program = """
import sys
import gymnasium, numba, pettingzoo
before = set(sys.modules)
import ucd_envs, ucd_planners
print(*sorted(name for name in set(sys.modules) - before if name.partition(".")[0] == "scipy"))
"""
    assert run(program) == "\n"


def test_the_import_is_quick() -> None:
    """About 0.4 s of CPU time, most of it numpy's and numba's."""
    program = """
import time
import ucd_envs, ucd_planners
print(time.process_time())
"""
    assert float(run(program)) < 5
