"""The cache of compiled kernels: a file for each kernel and signature, in the user's cache folder.

Compiled code contains the kernels that it calls. A file is therefore used only while nothing that it may contain has
changed. All files of an installation lie in one folder, named by a digest of every source of kernels and of the compiler's
versions and settings. A user-defined kernel also has a stamp: a digest of its own file and of the files that it imports. A
cache that cannot be read or written raises nothing: kernels are then compiled in memory, which takes longer.
"""

from __future__ import annotations

import ast
import importlib.metadata
import os
import pickle
import re
import shutil
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import CodeType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba import config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("ucd_envs", "ucd_planners")
ROOMS = {"boards", "games", "go", "playouts", "search", "selection"}
"""Folders whose files, with their constants and tables, may all become part of a kernel."""
MARKS = (b"@kernel(", b" = record(", b"from numba", b"import numba")
"""Marks of other sources that matter: they define kernels, lay out their records, or extend the compiler."""
SETTINGS = ("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "ENABLE_AVX", "LOOP_VECTORIZE", "OPT", "SLP_VECTORIZE")
"""Settings of numba that change compiled code."""
FOLDER = re.compile("[0-9a-f]{24}")
"""Pattern of the name of a folder of compiled kernels."""
LIBRARIES = re.compile("(?:site|dist)-packages")
"""Pattern in the path of an installed file."""
EXTENSIONS = tuple(EXTENSION_SUFFIXES)
KEPT_DAYS, KEPT_FOLDERS = 21, 12
"""Limits of the cache. A folder is deleted three weeks after its last use, or when twelve others were used since."""


def digest(parts: Iterator[bytes]) -> str:
    """Returns a digest of parts and of their boundaries, as 64 hexadecimal digits."""
    total = sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "little") + part)
    return total.hexdigest()


def sources(folder: str) -> Iterator[str]:
    """Returns the Python files in a folder and below it, in a fixed order."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from sources(entry.path)
        elif entry.name.endswith(".py"):
            yield entry.path


def written(path: str) -> tuple[int, int]:
    """Returns the time a file was written, in ns, and its size; zeros for a missing file."""
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


def content_of(path: str) -> bytes:
    """Returns the bytes of a file."""
    with open(path, "rb") as file:
        return file.read()


class Sources:
    """The sources of the packages' kernels at the time of their import."""

    def __init__(self) -> None:
        self.written: dict[str, tuple[int, int]] = {}
        self.digest = digest(self._parts())

    def _parts(self) -> Iterator[bytes]:
        for package in PACKAGES:
            with suppress(OSError):  # packages imported from an archive have no folder, and then no cache
                for path in sources(str(ROOT / package)):
                    found = written(path)
                    content = content_of(path)
                    name = os.path.relpath(path, ROOT)
                    if not ROOMS.isdisjoint(name.split(os.sep)) or any(mark in content for mark in MARKS):
                        self.written[path] = found
                        yield name.encode()
                        yield content

    def unchanged(self) -> bool:
        """Returns whether the files are still the ones that this process has imported."""
        return len(self.written) > 0 and all(written(path) == found for path, found in self.written.items())


SOURCES = Sources()


def user_folder() -> Path | None:
    """Returns the folder for this package's caches, or None where there is no home. It is below NUMBA_CACHE_DIR, else below
    the user's cache folder."""
    chosen = getattr(config, "CACHE_DIR", "")
    if chosen:
        return Path(chosen).absolute() / "ucd-planners"
    if sys.platform == "win32":
        place = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        place = os.path.expanduser("~/Library/Caches")
    else:
        given = os.environ.get("XDG_CACHE_HOME", "")
        place = given if os.path.isabs(given) else os.path.expanduser("~/.cache")
    return Path(place) / "ucd-planners" if os.path.isabs(place) else None


@cache
def kernel_folder() -> Path | None:
    """Returns the folder of this installation's compiled kernels, marked as used now, or None where there is none."""
    place = user_folder()
    if place is None or not SOURCES.written:
        return None
    versions = (importlib.metadata.version("ucd-planners"), numba.__version__, llvmlite.__version__, sys.version)
    settings = [getattr(config, name, None) for name in SETTINGS]
    found = place / digest(repr(part).encode() for part in (SOURCES.digest, versions, settings))[:24]
    with suppress(OSError):
        os.utime(found)
    return found


def make_folder(folder: Path) -> None:
    """Creates the folder and deletes its neighbours that were not used for long."""
    if folder.is_dir():
        return
    folder.mkdir(parents=True, exist_ok=True)
    now = time.time()
    with suppress(OSError):  # another process may clear them at the same time
        used = [(entry.stat().st_mtime, entry.path) for entry in os.scandir(folder.parent) if FOLDER.fullmatch(entry.name)]
        for place, (last, path) in enumerate(sorted(used, reverse=True)):
            if place > KEPT_FOLDERS or now - last > KEPT_DAYS * 86400:
                shutil.rmtree(path, ignore_errors=True)


@cache
def imports(path: str, name: str, version: tuple[int, int]) -> list[str]:
    """Returns the modules that a file may import, including absent ones. `name` is its own module, `version` the result of
    `written`."""
    found = []
    package = name if os.path.basename(path) == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(content_of(path))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            found += [module, *(f"{module}.{alias.name}" for alias in node.names)]
    return found


def stamp(function: Callable[..., Any]) -> str | None:
    """Returns a digest of a user-defined kernel's file and the files that it imports, without the imports of libraries.

    It is empty for a kernel of the packages, and None for one without a file, such as a notebook's.
    """
    path, name = os.path.realpath(function.__code__.co_filename), function.__module__ or ""
    if path in SOURCES.written:
        return ""
    home = name.partition(".")[0]
    contents: dict[str, bytes] = {}
    waiting = [(path, name)]
    try:
        while waiting:
            path, name = waiting.pop()
            if path in contents:
                continue
            contents[path] = content_of(path)
            if path.endswith(EXTENSIONS) or (name.partition(".")[0] != home and LIBRARIES.search(path)):
                continue
            for module in imports(path, name, written(path)):
                file = getattr(sys.modules.get(module), "__file__", None)
                if file and module.partition(".")[0] not in (*sys.stdlib_module_names, *PACKAGES):
                    waiting.append((file, module))
    except (OSError, SyntaxError, ValueError):
        return None
    return digest(part for path in sorted(contents) for part in (path.encode(), contents[path]))


def names(code: CodeType) -> Iterator[str]:
    """Returns the names that a function's code looks up, with those of inner functions."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names(constant)


def frozen(function: Callable[..., Any], seen: set[int]) -> Iterator[bytes]:
    """Returns the code of a function and the values that it captures, also for the kernels that it calls."""
    if id(function) in seen:
        return
    seen.add(id(function))
    yield function.__code__.co_code
    around = {name: function.__globals__[name] for name in sorted({*names(function.__code__)} & {*function.__globals__})}
    values = [value for value in around.values() if isinstance(value, (bool, int, float, str, tuple, np.generic, np.dtype))]
    enclosed = [cell.cell_contents for cell in function.__closure__ or ()]
    for value in (*values, *enclosed, *around.values()):
        inner = getattr(value, "py_func", None)
        if inner is not None:
            yield from frozen(inner, seen)
    yield dumps([value for value in (*values, *enclosed) if not hasattr(value, "py_func")])


class KernelCache(NullCache):
    """The compiled forms of one kernel. Replaces numba's own cache in the kernel's dispatcher."""

    def __init__(self, function: Callable[..., Any], form: str) -> None:
        """Makes the cache of a function; `form` tells apart kernels that are made of one function."""
        self._function, self._form = function, form
        self._stamp = stamp(function)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Returns the kernel compiled for a signature, or None if it has to be compiled."""
        target_context.refresh()
        with suppress(Exception):  # whatever is wrong with a file of the cache, the kernel can be compiled
            path = self._path(sig, target_context.codegen())
            content = path.read_bytes() if path is not None else b""
            if content[:32] == sha256(content[32:]).digest():
                return CompileResult._rebuild(target_context, *pickle.loads(content[32:]))
        announce()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Saves the kernel compiled for a signature, completely or not at all."""
        if data.lifted or data.library.has_dynamic_globals:
            return
        with suppress(Exception):  # a full disk, a folder that cannot be written to, or a value that cannot be pickled
            path = self._path(sig, data.codegen)
            if path is None:
                return
            content = dumps(data._reduce())
            make_folder(path.parent)
            part = Path(f"{path}.{uuid.uuid4().hex}")
            try:
                part.write_bytes(sha256(content).digest() + content)
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)

    def _path(self, sig: Any, codegen: Any) -> Path | None:
        """Returns the file for a signature, or None for a kernel that has no file or whose sources have changed since the
        import."""
        folder = kernel_folder()
        if folder is None or self._stamp is None or not SOURCES.unchanged():
            return None
        function = self._function
        place = (function.__module__, function.__qualname__, function.__code__.co_firstlineno, self._stamp, self._form)
        text = repr((*place, sig, codegen.magic_tuple()))
        if " at 0x" in text:  # an address is another thing in another process
            return None
        values = frozen(function, set()) if self._stamp or function.__closure__ else iter(())
        name = "".join(letter for letter in function.__qualname__ if letter.isalnum() or letter in "._")[:60]
        return folder / f"{name}-{digest(part for parts in ((text.encode(),), values) for part in parts)[:32]}.kernel"


@cache
def announce() -> None:
    """Prints once, on a terminal, that kernels are being compiled. Prints nothing in a worker process or where UCD_QUIET is
    set."""
    from multiprocessing import parent_process

    with suppress(Exception):  # a standard error that is closed or gone
        if sys.stderr.isatty() and parent_process() is None and not os.environ.get("UCD_QUIET"):
            print("compiling kernels (about 20 s, once for each game and planner) ...", file=sys.stderr, flush=True)
