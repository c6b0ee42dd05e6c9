"""Built distributions, installed, upgraded and removed; an installation that cannot be written to; the cost of an import."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DROP_FROM_BOUNDS, WRITE_ANYWHERE = 24, 1
"""Linux's PR_CAPBSET_DROP and CAP_DAC_OVERRIDE."""
WORK_FILES = ("__pycache__", "*.egg-info", "build", "dist", ".*_cache", ".hypothesis", ".git", ".venv")


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


def outer() -> dict[str, str]:
    """This process's environment, but for what leads to packages; the user's cache folder is that of the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "PYTHON", "XDG_"))}
    return kept | {"XDG_CACHE_HOME": os.path.abspath(os.environ["NUMBA_CACHE_DIR"])}


def run(program: str, folder: Path = ROOT, **environment: str) -> str:
    """What a program prints in a fresh process that finds the packages in a folder."""
    given = outer() | {"PYTHONPATH": str(folder)} | environment
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, env=given, preexec_fn=bow)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def played(installed: Path) -> list[str]:
    """Lines printed by a game where neither the packages' folder nor a home can be written to."""
    program = """
import os
import ucd_envs
print(os.path.dirname(ucd_envs.__file__))
print(os.access(os.path.dirname(ucd_envs.__file__), os.W_OK))
env = ucd_envs.make("tic_tac_toe")
env.reset()
env.step(4)
print(env.clone_state().legal_actions())
"""
    return run(program, installed, HOME=str(installed / "nobody"), XDG_CACHE_HOME="").splitlines()


def test_the_read_only_installation_is_the_one_that_is_imported(played: list[str], installed: Path) -> None:
    assert played[0] == str(installed / "ucd_envs")


def test_the_read_only_installation_cannot_be_written_to(played: list[str]) -> None:
    assert played[1] == "False"


def test_a_game_needs_no_cache(played: list[str]) -> None:
    """B112: without a place for compiled kernels, they are compiled in each process."""
    assert played[2] == "[0, 1, 2, 3, 5, 6, 7, 8]"


def test_nothing_was_written_into_the_read_only_installation(played: list[str], installed: Path) -> None:
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


# Distributions


def copied(folder: Path) -> Path:
    """A copy of the tree without what work leaves in it."""
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*WORK_FILES))
    return folder


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source distribution and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("distributions")
    build = "import sys; from setuptools import build_meta; build_meta.build_{}(sys.argv[1])"
    for kind, tree in (("sdist", copied(folder / "tree")), ("wheel", folder / "unpacked")):
        done = subprocess.run([sys.executable, "-c", build.format(kind), str(folder)], cwd=tree, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        if kind == "sdist":
            (packed,) = folder.glob("*.tar.gz")
            with tarfile.open(packed) as archive:
                archive.extractall(folder, filter="data")
            (folder / packed.name.removesuffix(".tar.gz")).rename(folder / "unpacked")
    (wheel,) = folder.glob("*.whl")
    return packed, wheel


def files_of(*names: str) -> set[str]:
    """Files of the tree in some folders, and files at its top."""
    return {
        str(path.relative_to(ROOT))
        for name in names
        for path in ([ROOT / name] if (ROOT / name).is_file() else (ROOT / name).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_source_distribution_has_what_its_tests_need_the_examples_and_the_changelog(
    distributions: tuple[Path, Path],
) -> None:
    with tarfile.open(distributions[0]) as archive:
        found = {name.partition("/")[2] for name in archive.getnames()}
    needed = files_of("ucd_envs", "ucd_planners", "tests", "examples", "docs", ".ci", "README.md", "CHANGELOG.md", "LICENSE")
    assert "tests/printed/match.txt" in needed
    assert not needed - found


def test_the_wheel_has_the_packages_and_nothing_else(distributions: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(distributions[1]) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    endings = (".py", "py.typed", ".html", "ladders.json")
    assert found == {name for name in files_of("ucd_envs", "ucd_planners") if name.endswith(endings)}


def test_the_classifiers_agree_with_the_python_that_is_required() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    told = [
        line.rpartition(" ")[2] for line in project["classifiers"] if line.startswith("Programming Language :: Python :: 3.")
    ]
    assert project["requires-python"] == f">={told[0]}"
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in told


# Installations


class Place:
    """A virtual environment outside the tree that finds the dependencies of this one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
        (self.packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
        (self.packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def pip(self, *words: str) -> None:
        python = str(self.folder / "venv" / "bin" / "python")
        command = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", *words]
        done = subprocess.run(command, capture_output=True, text=True, env=outer())
        assert done.returncode == 0, done.stdout + done.stderr

    def install(self, *words: str) -> None:
        """From local files only: nothing is downloaded."""
        self.pip("install", "--no-deps", "--no-build-isolation", "--no-index", *words)

    def run(self, program: str, *words: str) -> str:
        """What a program of the environment prints, run outside the tree."""
        command = [str(self.folder / "venv" / "bin" / program), *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, env=outer())
        assert done.returncode == 0, done.stderr
        return done.stdout

    def left(self) -> set[str]:
        """Files and folders of site-packages and of the programs."""
        programs = self.folder / "venv" / "bin"
        return {str(path) for place in (self.packages, programs) for path in place.rglob("*")}


MATCH = ("match", "--game", "tic_tac_toe", "--a", "uct", "--b", "uct(c=0.3)", "--playouts", "20", "--games", "2")
FRONT = "GRAPH = record(\n"
"""Where the record of the graph begins."""
ROOT_NODE = """
import numpy as np
import ucd_envs, ucd_planners
from ucd_planners.search.storage import Graph
print(ucd_envs.__file__)
state = ucd_envs.make_rules("tic_tac_toe").initial_state().after(4)
graph = Graph(ucd_planners.ucd().selection, state.rules, 20, 1000)
graph.begin(np.frombuffer(state.key, np.uint64)[:-1].copy(), state.player, state.ply)
print(graph.node_count, graph.nodes[0]["mover"], graph.nodes[0]["ply"], graph.keys[0].tobytes() == state.key[:-8])
"""
"""The quickest program with a kernel that reads the record and writes where it points to."""
SEARCH = """
import ucd_envs, ucd_planners
print(ucd_envs.__file__)
env = ucd_envs.make("tic_tac_toe")
env.reset()
print(*ucd_planners.uct(playouts=200, seed=1).search(env).visits)
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_wheel_in_a_clean_environment_plays_a_match(distributions: tuple[Path, Path], place: Place) -> None:
    place.install(str(distributions[1]))
    assert " of 2 games are distinct" in place.run("ucd", *MATCH)


def test_the_two_commands_of_the_readme_work_one_after_the_other_and_nothing_stays(place: Place, tmp_path: Path) -> None:
    """F2-02: an installation, a match, then an editable installation of the same tree, and its removal."""
    before = place.left()
    tree = copied(tmp_path / "tree")
    place.install(str(tree))
    place.run("ucd", *MATCH)
    place.install("-e", str(tree))
    assert place.run("ucd", "games")
    assert place.run("python", "-c", "import ucd_envs; print(ucd_envs.__file__)").startswith(str(tree))
    place.run("ucd", *MATCH)
    place.pip("uninstall", "-y", "ucd-planners")
    assert place.left() == before


@pytest.mark.parametrize("program", [ROOT_NODE, pytest.param(SEARCH, marks=pytest.mark.slow)], ids=["root", "search"])
def test_an_upgrade_to_another_graph_record_searches_with_kernels_of_its_own(
    program: str, place: Place, tmp_path: Path
) -> None:
    """F2-01: numba's cache would load kernels that read the old record: a segmentation fault."""
    tree = copied(tmp_path / "tree")
    place.install(str(tree))
    first, old = place.run("python", "-c", program).splitlines()
    graph = tree / "ucd_planners" / "search" / "graph.py"
    text = graph.read_text()
    assert FRONT in text
    graph.write_text(text.replace(FRONT, FRONT + '    ("spare", np.int64),\n'))
    place.install("--upgrade", "--force-reinstall", str(tree))
    assert (place.packages / "ucd_planners" / "search" / "graph.py").read_text() == graph.read_text()
    assert place.run("python", "-c", program).splitlines() == [first, old]
    assert first.startswith(str(place.packages))


def test_a_changed_helper_changes_games_that_were_not_touched(tmp_path: Path) -> None:
    """F2-01: `below` is compiled into the playouts of a game."""
    program = """
import numpy as np
from ucd_envs import make_rules
from ucd_envs.kernels import PLAYOUT_ACTION, compiled
rules = make_rules("tic_tac_toe")
choose = compiled(rules.kernels.playout_action, PLAYOUT_ACTION)
rng = np.array([1, 2], np.uint64)
print(*sorted({int(choose(rules.config, rules.initial_state().array(), rng)) for _ in range(200)}))
"""
    tree = copied(tmp_path / "tree")
    assert run(program, tree) == "0 1 2 3 4 5 6 7 8\n"
    generator = tree / "ucd_envs" / "rng.py"
    text = generator.read_text()
    changed = text.replace("return ((draw(rng) >> U32) * n) >> U32", "return n - np.uint64(1)")
    assert changed != text
    generator.write_text(changed)
    assert run(program, tree) == "8\n"
