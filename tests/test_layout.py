"""The house keeps its order: who may import whom, how a game file reads, what is documented, and where numbers come from."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import house
import pytest

from ucd_envs.structs import BLOCK
from ucd_planners.search.graph import EDGE, GRAPH, NODE
from ucd_planners.search.sim import POLICY, SIM

ROOT = Path(__file__).resolve().parent.parent
INTERFACE = {
    "ucd_envs.bindings",
    "ucd_envs.interface",
    "ucd_envs.kernels",
    "ucd_envs.picks",
    "ucd_envs.rng",
    "ucd_envs.rules",
    "ucd_envs.settings",
    "ucd_envs.structs",
    "ucd_envs.symmetries",
    "ucd_envs.tables",
}
SHARED = (
    *("bits", "chains", "chess", "discs", "forward", "hexagon", "levels", "lines", "men", "mills", "plus", "properties"),
    *("quadrants", "queues", "rings", "rows", "sums", "tiles"),
)
BOARDS = {"ucd_envs.boards", *(f"ucd_envs.boards.{name}" for name in SHARED)}
"""What games of one kind share; it knows no game."""
SOURCES = sorted([*ROOT.glob("ucd_envs/**/*.py"), *ROOT.glob("ucd_planners/**/*.py")])
GAMES = sorted(path for path in ROOT.glob("ucd_envs/games/*.py") if path.name != "__init__.py")
PEOPLE = {
    "arena",
    "benchmarks",
    "checks.py",
    "cli",
    "episodes.py",
    "gtp",
    "ratings",
    "references.py",
    "selfplay.py",
    "strong.py",
}
"""Parts of the planners that make environments or games for people, and so know the registry."""
EXPERTS = "go/*.py"
"""Knowledge of one game, which names that game's state."""
KERNELS = ["reset", "legal_actions", "is_legal", "play", "payoffs", "key", "playout", "playout_action", "observe"]
LONGEST = 450
MOST_ROOMS, MOST_FIELDS, MOST_LINES, MOST_FILES = 18, 46, 900, 9
ONE_LOOP = ("search/loop.py", "search/graph.py", "search/ucb.py", "selection/ucd.py")
"""The files that a reader of UCD needs: loop, graph, choice and backup."""


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imports(path: Path) -> set[str]:
    """Every module that a file names in an import, at its top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} if node.module == "ucd_envs" else {node.module}
    return found


EXTENSIONS = {"intrinsic", "lower_builtin", "lower_getattr_generic", "overload", "type_callable"}
"""Decorators of numba for what the compiler calls; a class that it calls inherits from AbstractTemplate."""


def is_kernel(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Whether a function or a class is for the compiler: a kernel, or one of numba's extensions."""
    if isinstance(node, ast.ClassDef):
        return "AbstractTemplate" in map(ast.unparse, node.bases)
    names = {ast.unparse(decorator).partition("(")[0] for decorator in node.decorator_list}
    return bool(names & {"kernel", *EXTENSIONS})


@pytest.mark.parametrize("path", GAMES, ids=name_of)
def test_a_game_knows_only_the_game_interface(path: Path) -> None:
    outside = {module for module in imports(path) if module.startswith("ucd_")} - INTERFACE - BOARDS
    assert not outside


def test_no_environment_imports_a_planner() -> None:
    for path in ROOT.glob("ucd_envs/**/*.py"):
        assert not {module for module in imports(path) if module.startswith("ucd_planners")}, path


def test_planners_know_games_only_through_their_interface() -> None:
    for path in ROOT.glob("ucd_planners/**/*.py"):
        if path.relative_to(ROOT / "ucd_planners").parts[0] in PEOPLE:
            continue
        known = {"ucd_envs.games.go", "ucd_envs.boards.chains"} if path.match(EXPERTS) else {"ucd_envs.foreign"}
        known.add("ucd_envs.grouped")
        outside = {module for module in imports(path) if module.startswith("ucd_envs")} - INTERFACE - known
        assert not outside, path


def test_no_planner_imports_a_game() -> None:
    for path in ROOT.glob("ucd_planners/**/*.py"):
        games = {module for module in imports(path) if module.startswith("ucd_envs.games.")}
        assert not games or path.match(EXPERTS), path


def test_no_modules_import_each_other() -> None:
    """Directly or through others, at their tops."""
    assert house.circles() == []


def test_imports_lead_down_from_room_to_room() -> None:
    assert house.upward() == []


def test_there_are_few_rooms() -> None:
    assert len(house.folders()) <= MOST_ROOMS


def test_the_search_reaches_no_planner_and_no_environment() -> None:
    """All that its modules import, directly or through others: the search itself and the interface of games."""
    search = [path for path in SOURCES if path.match("ucd_planners/search/*.py")]
    others = {house.module_of(path) for path in house.closure(search)} - {house.module_of(path) for path in search}
    assert others == {*INTERFACE, "ucd_envs.cache", "ucd_envs.defaults"}


def test_the_records_of_a_search_have_few_fields() -> None:
    assert sum(len(layout.names or ()) for layout in (NODE, EDGE, GRAPH, SIM, POLICY, BLOCK)) <= MOST_FIELDS


def test_the_loop_of_ucd_fits_on_few_pages() -> None:
    lines = {name: len((ROOT / "ucd_planners" / name).read_text().splitlines()) for name in ONE_LOOP}
    assert sum(lines.values()) <= MOST_LINES, lines


def test_the_loop_of_ucd_imports_few_files() -> None:
    """Of the rooms of the search and of selections, directly or through others; below them is the interface of games."""
    found = house.closure([ROOT / "ucd_planners" / name for name in ONE_LOOP])
    assert sum(path.parent.name in ("search", "selection") for path in found) <= MOST_FILES


def test_every_folder_is_a_package() -> None:
    assert all((path.parent / "__init__.py").exists() for path in SOURCES)


def test_the_core_needs_the_core_dependencies_only() -> None:
    """Extras are imported where they are used, in a function, never at the top of a file."""
    core = {"numpy", "numba", "llvmlite", "gymnasium", "pettingzoo", "ucd_envs", "ucd_planners"}
    extras = {"rich", "PIL", "pygame", "pyspiel", "scipy", "matplotlib", "networkx", "sgfmill", "lmdb"}
    extras |= {"statsmodels", "pandas", "optuna", "distributed", "ray", "sb3_contrib", "stable_baselines3", "torch"}
    extras |= {"onnxruntime", "jinja2", "pgx", "jax"}
    for path in SOURCES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                for module in modules:
                    assert module.partition(".")[0] not in extras, (path, module, core)


@pytest.mark.parametrize("path", GAMES, ids=name_of)
def test_a_game_file_reads_in_order(path: Path) -> None:
    """Rulebook, constants, records, the kernels of the seam, private kernels, the Rules value, test configurations."""
    tree = ast.parse(path.read_text())
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    names = [node.name for node in functions]
    assert names[: len(KERNELS)] == KERNELS
    assert all(is_kernel(node) for node in functions[:-1])
    assert names[-1] == "rules"
    assigned = [
        (node.lineno, target.id)
        for node in tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    ]
    lines = {name: line for line, name in assigned}
    assert lines["CONFIG"] < lines["STATE"] < functions[0].lineno
    assert lines.pop("EXAMPLES") > functions[-1].lineno
    assert all(line < functions[0].lineno for line in lines.values())


@pytest.mark.parametrize("path", GAMES, ids=name_of)
@pytest.mark.parametrize("section", ["Board", "Players", "Turn", "End", "Moves", "Source"])
def test_a_rulebook_has_every_section(path: Path, section: str) -> None:
    rulebook = ast.get_docstring(ast.parse(path.read_text())) or ""
    assert re.search(rf"^{section} +\S", rulebook, re.MULTILINE)


def test_files_are_nouns_of_readable_length() -> None:
    for path in SOURCES:
        assert path.stem not in {"utils", "util", "common", "base", "helpers", "helper", "misc"}, path
        assert len(path.read_text().splitlines()) <= LONGEST, path


def definitions(path: Path) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """Functions and classes at the top of a file, and the methods of its classes."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node
        if isinstance(node, ast.ClassDef):
            yield from (inner for inner in node.body if isinstance(inner, ast.FunctionDef))


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_what_is_public_is_documented(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text())), path
    for node in definitions(path):
        if not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{path}: {node.name}"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_python_functions_have_types(path: Path) -> None:
    """The type checker asks this of all functions but those that have their types in a kernel's signature."""
    found = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    kernels = [(node.lineno, node.end_lineno or 0) for node in found if is_kernel(node)]
    for node in found:
        if isinstance(node, ast.FunctionDef) and not any(first <= node.lineno <= last for first, last in kernels):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            missing = [argument.arg for argument in arguments if argument.annotation is None]
            assert not set(missing) - {"self", "cls"}, f"{path}: {node.name}"
            assert node.returns is not None, f"{path}: {node.name}"


def test_no_test_can_hide() -> None:
    """No skipped and no expected failures: a missing dependency is an error."""
    hidden = re.compile(r"pytest\.(mark\.)?(skip|xfail|importorskip)")
    for path in (ROOT / "tests").glob("*.py"):
        if path != Path(__file__):
            assert not hidden.search(path.read_text()), path
