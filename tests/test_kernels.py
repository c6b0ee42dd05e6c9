"""The cache of compiled kernels, the casts of their results, and what is said when one does not compile."""

from __future__ import annotations

import ast
import errno
import importlib
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from shutil import copytree, ignore_patterns
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numba import types
from numba.core import event
from numba.core.errors import NumbaError

import ucd_envs.cache
from ucd_envs.cache import PACKAGES, SOURCES, Sources
from ucd_envs.kernels import BYTES, COMPILING, compiled, kernel

ROOT = Path(__file__).resolve().parent.parent
DAY = 86400
READ = types.int64(BYTES)
"""The signature of the kernels of this file."""
HEAD = "from numba import types\nfrom ucd_envs.kernels import BYTES, kernel\nREAD = types.int64(BYTES)\n"
DOUBLE = HEAD + "@kernel(READ)\ndef read(state):\n    return types.int64(state[0]) * 2\n"
STATE = np.array([7], np.uint8)

Load = Callable[..., ModuleType]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of compiled kernels, used by this process during a test."""
    place = tmp_path / "kernels" / ("0" * 24)
    monkeypatch.setattr(ucd_envs.cache, "kernel_folder", lambda: place)
    return place


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Writes modules of a user's and imports the last of them, as a new process would."""
    home = tmp_path / "user"
    home.mkdir()
    monkeypatch.syspath_prepend(home)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def loaded(**texts: str) -> ModuleType:
        for name, text in texts.items():
            (home / f"{name}.py").write_text(text)
        for name in [name for name in sys.modules if name.startswith("users_")]:
            monkeypatch.delitem(sys.modules, name)
        importlib.invalidate_caches()
        return importlib.import_module([*texts][-1])

    return loaded


def called(function: Any) -> tuple[int, int]:
    """What a kernel returns for STATE, and how many kernels were compiled for that."""
    with event.install_recorder("numba:compile") as recorder:
        result = int(compiled(function, READ)(STATE))
    return result, len(recorder.buffer) // 2


def run(program: str, *, base: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A program run by a new process whose caches lie in a folder; its errors fail the test."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_", "UCD_"))}
    given = kept | {"XDG_CACHE_HOME": str(base), "PYTHONPATH": str(ROOT)} | environment
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=given, cwd=base)
    assert done.returncode == 0, done.stderr
    return done


ONE_KERNEL = """
from numba.core import event
from ucd_envs.games import tic_tac_toe
from ucd_envs.kernels import RESET, compiled
with event.install_recorder("numba:compile") as recorder:
    compiled(tic_tac_toe.reset, RESET)
print(len(recorder.buffer) // 2)
"""
"""Prints how many kernels were compiled."""


# Where the cache lies


def test_compiled_kernels_lie_in_the_users_cache_folder_and_serve_the_next_process(tmp_path: Path) -> None:
    assert run(ONE_KERNEL, base=tmp_path).stdout != "0\n"
    files = [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert all(re.fullmatch(r"ucd-planners/[0-9a-f]{24}/[\w.]+-[0-9a-f]{32}\.kernel", path) for path in files), files
    assert run(ONE_KERNEL, base=tmp_path).stdout == "0\n"


def test_nothing_is_written_beside_the_sources(tmp_path: Path) -> None:
    """F2-02: compiled kernels in site-packages outlive an uninstallation and hide the next installation."""
    for package in PACKAGES:
        copytree(ROOT / package, tmp_path / "copy" / package, ignore=ignore_patterns("__pycache__"))
    before = set((tmp_path / "copy").rglob("*"))
    cache = tmp_path / "cache"
    cache.mkdir()
    run(ONE_KERNEL, base=cache, PYTHONPATH=str(tmp_path / "copy"), PYTHONDONTWRITEBYTECODE="1")
    assert set((tmp_path / "copy").rglob("*")) == before
    assert list(cache.rglob("reset-*.kernel"))


def test_a_cache_folder_given_to_numba_is_used(tmp_path: Path) -> None:
    given = tmp_path / "given"
    run(ONE_KERNEL, base=tmp_path, NUMBA_CACHE_DIR=str(given))
    assert list(given.glob("ucd-planners/*/reset-*.kernel"))
    assert os.listdir(tmp_path) == ["given"]


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/cache"}, "/cache/ucd-planners"),
        ("linux", {"XDG_CACHE_HOME": "relative", "HOME": "/home/u"}, "/home/u/.cache/ucd-planners"),
        ("linux", {"HOME": "/home/u"}, "/home/u/.cache/ucd-planners"),
        ("darwin", {"HOME": "/Users/u"}, "/Users/u/Library/Caches/ucd-planners"),
        ("win32", {"LOCALAPPDATA": "/Local"}, "/Local/ucd-planners"),
        ("win32", {}, None),
    ],
)
def test_each_system_has_its_cache_folder(
    monkeypatch: pytest.MonkeyPatch, platform: str, environment: dict[str, str], expected: str | None
) -> None:
    for name in ("XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("numba.config.CACHE_DIR", "")
    monkeypatch.setattr(sys, "platform", platform)
    assert ucd_envs.cache.user_folder() == (Path(expected) if expected else None)


def test_folders_unused_for_three_weeks_and_all_but_the_last_twelve_are_cleared(tmp_path: Path) -> None:
    now = time.time()
    ages = {f"{number:024x}": number + 1 for number in range(14)} | {"a" * 24: 22, "b" * 24: 20, "c" * 23: 400}
    for name, days in ages.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.kernel").write_bytes(b"x")
        os.utime(tmp_path / name, (now - days * DAY,) * 2)
    ucd_envs.cache.make_folder(tmp_path / ("f" * 24))
    kept = {f"{number:024x}" for number in range(12)}
    assert set(os.listdir(tmp_path)) == kept | {"f" * 24, "c" * 23}


def test_a_folder_unused_for_three_weeks_is_cleared_even_if_there_is_no_other(tmp_path: Path) -> None:
    for name, days in (("a" * 24, 22), ("b" * 24, 20)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (time.time() - days * DAY,) * 2)
    ucd_envs.cache.make_folder(tmp_path / ("f" * 24))
    assert set(os.listdir(tmp_path)) == {"b" * 24, "f" * 24}


# What must not be found again


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the packages' sources, whose digest is taken."""
    for package in PACKAGES:
        copytree(ROOT / package, tmp_path / "tree" / package, ignore=ignore_patterns("__pycache__"))
    monkeypatch.setattr(ucd_envs.cache, "ROOT", tmp_path / "tree")
    return tmp_path / "tree"


def edited(path: Path, line: str = "# edited\n") -> None:
    path.write_text(path.read_text() + line)


@pytest.mark.parametrize(
    "file", ["ucd_envs/rng.py", "ucd_envs/structs.py", "ucd_envs/games/hex.py", "ucd_planners/search/graph.py"]
)
def test_an_edit_in_a_source_of_kernels_changes_the_digest(tree: Path, file: str) -> None:
    """F2-01: numba's own cache notices edits in a kernel's own file only."""
    before = Sources()
    edited(tree / file)
    assert Sources().digest != before.digest
    assert not before.unchanged()


@pytest.mark.parametrize("file", ["ucd_planners/cli/match.py", "ucd_envs/registry.py", "ucd_planners/gtp/engine.py"])
def test_an_edit_in_another_file_keeps_the_digest(tree: Path, file: str) -> None:
    before = Sources()
    edited(tree / file)
    assert Sources().digest == before.digest
    assert before.unchanged()


def test_a_tree_in_another_place_has_the_same_digest(tree: Path) -> None:
    assert Sources().digest == SOURCES.digest


def test_what_kernels_import_from_the_packages_belongs_to_the_digest() -> None:
    """A constant from a file that is left out would stay old in compiled code."""
    counted = {os.path.relpath(path, ROOT)[:-3].replace(os.sep, ".") for path in SOURCES.written}
    missing = []
    for path in SOURCES.written:
        module = ast.parse(Path(path).read_text())
        compiled_parts = [part for part in module.body if isinstance(part, ast.Assign)] + [
            function
            for function in ast.walk(module)
            if isinstance(function, ast.FunctionDef) and any("kernel" in ast.unparse(mark) for mark in function.decorator_list)
        ]
        names = {name.id for part in compiled_parts for name in ast.walk(part) if isinstance(name, ast.Name)}
        for node in ast.walk(module):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGES) and node.module not in counted:
                used = [alias.name for alias in node.names if (alias.asname or alias.name) in names]
                missing += [f"{path}: {name}" for name in used if f"{node.module}.{name}" not in counted]
    assert not missing


def test_sources_that_changed_after_the_import_are_neither_saved_nor_loaded(
    folder: Path, load: Load, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ucd_envs.cache, "SOURCES", Sources())
    assert called(load(users_game=DOUBLE).read) == (14, 1)
    edited(tree / "ucd_envs" / "rng.py")
    saved = os.listdir(folder)
    assert called(load(users_game=DOUBLE).read) == (14, 1)
    assert os.listdir(folder) == saved


def test_a_users_kernel_is_compiled_once(folder: Path, load: Load) -> None:
    assert called(load(users_game=DOUBLE).read) == (14, 1)
    assert called(load(users_game=DOUBLE).read) == (14, 0)


def test_an_edit_of_a_users_kernel_is_noticed(folder: Path, load: Load) -> None:
    called(load(users_game=DOUBLE).read)
    assert called(load(users_game=DOUBLE.replace("* 2", "* 3")).read) == (21, 1)


def test_an_edit_in_a_file_that_a_users_kernel_imports_is_noticed(folder: Path, load: Load) -> None:
    """F2-01, for kernels outside the packages: through another file, too."""
    game = HEAD + "from users_middle import twice\n@kernel(READ)\ndef read(state):\n    return twice(types.int64(state[0]))\n"
    middle = HEAD + "import users_numbers\nFACTOR = users_numbers.FACTOR\n@kernel()\ndef twice(x):\n    return x * FACTOR\n"
    assert called(load(users_numbers="FACTOR = 2\n", users_middle=middle, users_game=game).read) == (14, 2)
    assert called(load(users_numbers="FACTOR = 2\n", users_middle=middle, users_game=game).read) == (14, 0)
    assert called(load(users_numbers="FACTOR = 3\n", users_middle=middle, users_game=game).read) == (21, 2)


def test_a_value_computed_by_a_users_file_is_noticed(folder: Path, load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    game = (
        HEAD
        + "import os\nN = len(os.environ['USERS_N'])\n@kernel(READ)\ndef read(state):\n    return types.int64(state[0]) * N\n"
    )
    monkeypatch.setenv("USERS_N", "xx")
    assert called(load(users_game=game).read) == (14, 1)
    monkeypatch.setenv("USERS_N", "xxx")
    assert called(load(users_game=game).read) == (21, 1)


def test_kernels_of_one_place_with_other_enclosed_values_are_told_apart(folder: Path, load: Load) -> None:
    game = HEAD + (
        "def made(n):\n    @kernel()\n    def times(x):\n        return x * n\n"
        "    @kernel(READ)\n    def read(state):\n        return times(types.int64(state[0]))\n    return read\n"
    )
    module = load(users_game=game)
    assert [called(module.made(n)) for n in (2, 3)] == [(14, 2), (21, 2)]
    module = load(users_game=game)
    assert [called(module.made(n)) for n in (3, 2)] == [(21, 0), (14, 0)]


def test_a_kernel_without_a_file_is_compiled_in_memory(folder: Path) -> None:
    scope: dict[str, Any] = {"__name__": "users_cell"}
    exec(DOUBLE, scope)
    assert called(scope["read"]) == (14, 1)
    assert not folder.exists()


# What must not be an error


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "noise": lambda content: np.random.default_rng(1).bytes(len(content)),
    "one wrong bit": lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
    "text": lambda content: b"no kernel\n",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_compiled_anew(folder: Path, load: Load, capfd: pytest.CaptureFixture[str], damage: str) -> None:
    """F2-03: and the damage is repaired."""
    called(load(users_game=DOUBLE).read)
    (path,) = folder.iterdir()
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert called(load(users_game=DOUBLE).read) == (14, 1)
    assert called(load(users_game=DOUBLE).read) == (14, 0)
    assert capfd.readouterr() == ("", "")


def test_a_folder_in_place_of_a_file_is_no_error(folder: Path, load: Load) -> None:
    called(load(users_game=DOUBLE).read)
    (path,) = folder.iterdir()
    path.unlink()
    path.mkdir()
    assert called(load(users_game=DOUBLE).read) == (14, 1)
    assert os.listdir(folder) == [path.name]


def test_kernels_are_compiled_in_memory_where_no_folder_can_be_made(folder: Path, load: Load) -> None:
    folder.parent.write_text("a file where the folder should be")
    assert called(load(users_game=DOUBLE).read) == (14, 1)


def test_a_full_disk_leaves_no_part_of_a_file(folder: Path, load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    """F2-61: kernels are compiled in memory."""
    whole = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        whole(path, content[:100])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    assert called(load(users_game=DOUBLE).read) == (14, 1)
    assert os.listdir(folder) == []


def test_processes_that_compile_at_the_same_time_agree(tmp_path: Path) -> None:
    """Each kernel and signature has a file of its own, which appears whole."""
    program = """
from ucd_envs import rng
import numpy as np
kinds = [np.int64, np.uint64]
from sys import argv
first = int(argv[1])
for i in range(2):
    g = np.array([1, 2], np.uint64)
    print(int(rng.below(g, kinds[(first + i) % 2](6))), end=" ")
"""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_"))}
    given = kept | {"XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program]
    begun = [
        subprocess.Popen([*command, str(first)], env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for first in range(3)
    ]
    ended = [process.communicate() for process in begun]
    after = subprocess.run([*command, "3"], env=given, capture_output=True, text=True)
    assert [*ended, (after.stdout, after.stderr)] == [(after.stdout, "")] * 4
    assert len(set(after.stdout.split())) == 1


def test_the_digest_costs_little() -> None:
    """About 3 ms."""
    begun = time.process_time()
    Sources()
    assert time.process_time() - begun < 0.2


# What a kernel may return


def test_a_kernel_that_ends_in_return_0_is_cast() -> None:
    """F2-06."""

    @kernel(READ)
    def read(state):
        return 0

    assert compiled(read, READ).nopython_signatures == [READ]


def test_a_cast_kernel_comes_from_the_cache(folder: Path, load: Load) -> None:
    zero = HEAD + "@kernel(READ)\ndef read(state):\n    return 0\n"
    assert called(load(users_game=zero).read) == (0, 2)
    assert called(load(users_game=zero).read) == (0, 0)


RESULTS: dict[str, Callable[[Any], Any]] = {
    "a byte": lambda state: state[0],
    "an unsigned word": lambda state: np.uint64(state[0]),
    "a truth value": lambda state: state[0] == 7,
}


@pytest.mark.parametrize("result", RESULTS)
def test_whole_numbers_of_any_width_are_cast(result: str) -> None:
    """F2-06."""
    function = compiled(kernel(READ)(RESULTS[result]), READ)
    assert function.nopython_signatures == [READ]
    assert function(STATE) == int(RESULTS[result](STATE))


def test_a_whole_number_is_cast_to_a_truth_value_and_to_a_float() -> None:
    for wanted in (types.boolean(BYTES), types.float64(BYTES)):
        assert compiled(kernel(wanted)(RESULTS["a byte"]), wanted).nopython_signatures == [wanted]


REFUSED: list[tuple[Any, Callable[[Any], Any], str]] = [
    (READ, lambda state: 2.5, "returns float64, expected int64"),
    (READ, lambda state: None, "returns none, expected int64"),
    (READ, lambda state: state, "returns array(uint8, 1d, C), expected int64"),
    (types.void(BYTES), lambda state: 1, "returns int64, expected none"),
    (types.float32(BYTES), lambda state: 0.1, "returns float64, expected float32"),
    (types.int64(BYTES, BYTES), lambda state: 1, "has 1 parameter, expected 2"),
    (types.int64(), lambda state: 1, "has 1 parameter, expected 0"),
]


@pytest.mark.parametrize(("signature", "function", "sentence"), REFUSED, ids=lambda value: value if type(value) is str else "")
def test_a_result_that_would_change_is_refused(signature: Any, function: Callable[[Any], Any], sentence: str) -> None:
    with pytest.raises(TypeError) as caught:
        compiled(kernel(signature)(function), signature)
    assert str(caught.value) == f"kernel <lambda> {sentence}"


# What is said of a kernel that does not compile

BROKEN: list[tuple[str, str]] = [
    ("return mising", "NameError: name 'mising' is not defined"),
    ("return np.fooo(1)", "module 'numpy' has no attribute 'fooo'"),
    ("return fields(state, HEADER).playerr", "unknown name 'playerr'"),
    ("return state.foo", "Unknown attribute 'foo' of type array(uint8, 1d, C)"),
    ("return state['a']", "no implementation of getitem(array(uint8, 1d, C), Literal[str](a))"),
    ("return plain(state)", "Untyped global name 'plain': Cannot determine Numba type of <class 'function'>"),
    ("return f'{state[0]:3}'", "format spec in f-strings not supported yet"),
]


@pytest.mark.parametrize(("line", "cause"), BROKEN)
def test_a_kernel_that_does_not_compile_says_the_cause_and_its_line_first(load: Load, line: str, cause: str) -> None:
    """F2-06: numba's own text, up to 2,000 characters of which the last are the cause, comes after."""
    head = HEAD + "import numpy as np\nfrom ucd_envs.kernels import HEADER\nfrom ucd_envs.structs import fields\n"
    text = head + f"def plain(x):\n    return x\n@kernel(READ)\ndef read(state):\n    x = 1\n    {line}\n"
    module = load(users_game=text)
    with pytest.raises(TypeError) as caught:
        compiled(module.read, READ)
    begun, _, place = str(caught.value).rpartition(" (")
    assert begun == f"kernel read does not compile: {cause}"
    file, _, number = place.rstrip(")").rpartition(":")
    assert file == module.__file__
    assert text.splitlines().index("@kernel(READ)") < int(number) <= len(text.splitlines())
    assert caught.value.__cause__ is not None


def test_a_fault_in_a_kernel_that_is_called_names_it(load: Load) -> None:
    text = HEAD + "@kernel()\ndef helper(x):\n    return x + mising\n@kernel(READ)\ndef read(state):\n    return helper(1)\n"
    module = load(users_game=text)
    with pytest.raises(TypeError) as caught:
        compiled(module.read, READ)
    cause = "NameError: name 'mising' is not defined"
    assert str(caught.value) == f"kernel read does not compile: {cause} (in helper, called from {module.__file__}:9)"
    assert isinstance(caught.value.__cause__, NumbaError)


# What is said while kernels are compiled


TWO_KERNELS = ONE_KERNEL + "from ucd_envs.kernels import PLAY\ncompiled(tic_tac_toe.play, PLAY)\n"
WORKER = f"import multiprocessing\nmultiprocessing.parent_process = lambda: 1\n{TWO_KERNELS}"


def on_terminal(base: Path, program: str = TWO_KERNELS, **environment: str) -> str:
    """What a process writes to its standard error, a terminal."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_", "UCD_"))}
    given = kept | {"XDG_CACHE_HOME": str(base), "PYTHONPATH": str(ROOT)} | environment
    ours, theirs = pty.openpty()
    try:
        subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=theirs, env=given, check=True)
        os.set_blocking(ours, False)
        try:
            return os.read(ours, 10_000).decode()
        except BlockingIOError:
            return ""
    finally:
        os.close(theirs)
        os.close(ours)


def test_a_terminal_is_told_once_that_kernels_are_compiled(tmp_path: Path) -> None:
    """F2-07: and nothing when they come from the cache."""
    said = on_terminal(tmp_path)
    assert said == "compiling kernels (about 20 s, once for each game and planner) ...\r\n"
    assert on_terminal(tmp_path) == ""


def test_the_word_on_compiling_can_be_silenced(tmp_path: Path) -> None:
    assert on_terminal(tmp_path, UCD_QUIET="1") == ""


def test_a_worker_process_says_nothing_of_compiling(tmp_path: Path) -> None:
    """The process that began it plays too, and says it."""
    assert on_terminal(tmp_path, WORKER) == ""


def test_a_pipe_is_told_nothing_of_compiling(tmp_path: Path) -> None:
    assert run(ONE_KERNEL, base=tmp_path).stderr == ""


def test_compiling_is_for_one_thread_at_a_time() -> None:
    assert COMPILING.acquire(blocking=False)
    COMPILING.release()


# Kernels for other kernels


@kernel()
def fibonacci(n):
    """Calls itself."""
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


CALL_BOTH = types.int64(types.int32, types.int64)


@kernel(CALL_BOTH)
def call_both(narrow, wide):
    """Calls with numbers of several widths."""
    return fibonacci(narrow) * 1000 + fibonacci(wide) + fibonacci(np.int16(1)) - fibonacci(1)


def test_a_kernel_without_a_signature_has_one_form_for_all_widths(folder: Path) -> None:
    """And calls itself; a call from Python compiles it apart."""
    assert compiled(call_both, CALL_BOTH)(10, 11) == 55_089
    assert [str(arguments[0]) for arguments in fibonacci.overloads] == ["int64"]
    assert fibonacci(12) == 144
    assert fibonacci(np.int32(12)) == 144
    assert len(fibonacci.overloads) == 1
