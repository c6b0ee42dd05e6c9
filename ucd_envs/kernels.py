"""Kernels: compiled functions, the signatures by which games and planners call each other, and the encoding of moves."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import Any

import numpy as np
from numba import config, njit, types
from numba.core.registry import CPUDispatcher
from numba.core.typeconv.castgraph import Conversion

from ucd_envs.cache import KernelCache
from ucd_envs.structs import record

BYTES = types.uint8[::1]
ACTIONS = types.int32[::1]
RNG = types.uint64[::1]
WORDS = types.uint64[::1]
PAYOFFS = types.float64[::1]
PLANES = types.int8[::1]

RESET = types.void(BYTES, BYTES)
LEGAL_ACTIONS = types.int64(BYTES, BYTES, ACTIONS)
IS_LEGAL = types.boolean(BYTES, BYTES, types.int64)
PLAY = types.void(BYTES, BYTES, types.int64)
READ_PAYOFFS = types.void(BYTES, BYTES, PAYOFFS)
KEY = types.void(BYTES, BYTES, WORDS)
PLAYOUT = types.int64(BYTES, BYTES, RNG, ACTIONS)
PLAYOUT_ACTION = types.int64(BYTES, BYTES, RNG)
OBSERVE = types.void(BYTES, BYTES, types.int64, PLANES)
TURN = types.void(BYTES, BYTES, types.int64)
VALIDATE = types.boolean(BYTES, BYTES)
DRAW = PLAYOUT_ACTION
PROBABILITY = types.float64(BYTES, BYTES, types.int64)
GROUPS = types.uint64(BYTES, BYTES, BYTES, types.int64)
GROUP_KEY = types.void(BYTES, BYTES, BYTES, WORDS)

HEADER = record(("player", np.int32), ("ply", np.int32))
"""Fields at the beginning of every state."""

OVER = -1
"""The player to move when the game is over."""
FAILED = -2
"""The player to move when a kernel has failed: one that calls back into Python, or a default kernel of a faulty game."""
CHANCE = 2**10
"""The player to move where chance decides, a number above those of all players."""


def kernel(
    signature: Any = None,
    fastmath: Any = False,
    counted: bool = False,
    inline: bool = False,
    checked: bool | None = None,
) -> Callable[[Callable[..., Any]], Any]:
    """Makes a function a kernel: compiled on first use, without the interpreter lock, and cached on disk where possible.

    A kernel of the game interface names its `signature`; a private one gets its types from the kernels that call it.
    `fastmath` is a set of LLVM flags for a kernel whose result they cannot change. Kernels allocate nothing, so numba's
    reference counts, a fifth of a search's time, are left out unless `counted`. A kernel that returns an array must be
    `inline`. Where no cache can be written, kernels are compiled anew in each process.

    A `checked` kernel raises IndexError for an index outside of its array, as user-defined kernels do unless told otherwise.
    """

    def decorated(function: Callable[..., Any]) -> Any:
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath, "_nrt": counted}
        if inline:
            options["inline"] = "always"
        if not is_own(function) if checked is None else checked:
            options["boundscheck"] = True  # else as NUMBA_BOUNDSCHECK says
        if getattr(config, "DISABLE_JIT", 0):
            made: Any = function
        elif signature is None:
            made = PrivateKernel(function, options)
        else:
            made = with_wrapper(function, options)
        if signature is not None:
            made.seam_signature = signature
        return made

    return decorated


def widest(kind: Any) -> Any:
    """Returns int64 for a signed integer or a constant, and every other type as it is."""
    return types.int64 if isinstance(types.unliteral(kind), types.Integer) and types.unliteral(kind).signed else kind


def with_wrapper(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Returns a kernel that Python can call."""
    made = njit(**options)(function)
    made._cache = KernelCache(function, f"{'boundscheck' in options}")
    return made


class PrivateKernel(CPUDispatcher):
    """A kernel for other kernels, compiled without the code by which Python calls it: a fifth of the time to compile.

    The first call from Python compiles a twin that can be called.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        bare = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(function, targetoptions={**options, **bare})
        self._cache = KernelCache(function, f"private {'boundscheck' in options}")
        self._options, self._twin = options, None

    def add_overload(self, cres: Any) -> None:
        """Keeps a compiled form, for kernels only."""
        self.overloads[tuple(cres.signature.args)] = cres

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compiles for arguments of these types, with integers of any width as int64, so that there is one form of a kernel.

        One that calls itself is compiled for the types of that call.
        """
        if self.is_compiling:
            return super().get_call_template(args, kws)
        return super().get_call_template(tuple(map(widest, args)), {name: widest(kind) for name, kind in kws.items()})

    def _compile_for_args(self, *arguments: Any, **keywords: Any) -> Any:
        """Returns what a call from Python calls."""
        if self._twin is None:
            # A copy, since the compiler takes a call of the same function for a recursive one.
            own = self.py_func
            copy = FunctionType(own.__code__, own.__globals__, own.__name__, own.__defaults__, own.__closure__)
            self._twin = with_wrapper(update_wrapper(copy, own), self._options)
        return self._twin


def is_own(function: Any) -> bool:
    """Returns whether a function or kernel belongs to these packages, whose tests hold it to its contract."""
    module = str(getattr(getattr(function, "py_func", function), "__module__", ""))
    return module.partition(".")[0] in ("ucd_envs", "ucd_planners")


@kernel()
def move_of(player, action):
    """Returns a move in the encoding of traces: player * 2**16 + action."""
    return np.int64(player) << 16 | np.int64(action)


@kernel()
def player_of_move(move):
    """Returns the player of a move in a trace."""
    return np.int64(move) >> 16


@kernel()
def action_of_move(move):
    """Returns the action of a move in a trace."""
    return np.int64(move) & 0xFFFF


@kernel()
def most_moves(trace):
    """Returns the largest number of moves of a playout."""
    return trace.size if trace.size > 0 else np.int64(2**62)


COMPILING = threading.RLock()
"""Held while kernels are compiled. Numba, and the warning filters that it sets meanwhile, are not thread-safe."""


def compiled(function: Any, signature: Any) -> Any:
    """Returns the kernel compiled for this signature, and for no other from now on. A result of another width is cast.

    A kernel that is a field of a class is a bound method when it is read from an object, and is taken without its object.

    Raises TypeError when the kernel was declared for another signature, does not compile, or returns a value that cannot be
    cast.
    """
    function = getattr(function, "__func__", function)
    declared = getattr(function, "seam_signature", None)
    if declared is not signature and declared != signature:
        raise TypeError(f"kernel {getattr(function, '__name__', function)} must be declared with the signature {signature}")
    if getattr(config, "DISABLE_JIT", 0):
        return function
    with COMPILING:
        if function._can_compile:
            result = _compile(function, signature, signature.args)
            if result != signature.return_type:
                returned = types.unliteral(result)
                if not _is_castable(function, returned, signature.return_type):
                    raise TypeError(f"kernel {function.__name__} returns {returned}, expected {signature.return_type}")
                function._reset_overloads()
                _compile(function, signature, signature)
            function.disable_compile()
    return function


def _compile(function: Any, signature: Any, wanted: Any) -> Any:
    """Returns the type of a kernel's result after compiling it for the wanted signature or arguments."""
    given, expected = function.py_func.__code__.co_argcount, len(signature.args)
    if given != expected:
        raise TypeError(f"kernel {function.__name__} has {given} parameter{'s' * (given != 1)}, expected {expected}")
    try:
        function.compile(wanted)
    except Exception as error:  # numba also raises AttributeError, KeyError and others for names that are not there
        raise TypeError(f"kernel {function.__name__} does not compile: {_cause(function, error)}") from error
    return function.overloads[signature.args].signature.return_type


def _is_castable(function: Any, result: Any, expected: Any) -> bool:
    """Returns whether a cast keeps a result's meaning: between integers of any width and booleans, or to a wider number."""
    whole = (types.Integer, types.Boolean)
    if isinstance(result, whole) and isinstance(expected, whole):
        return True
    conversion = function.typingctx.can_convert(result, expected)
    return conversion is not None and conversion <= Conversion.safe


COLOURS = re.compile(r"\x1b\[[0-9;]*m")
PLACE = re.compile(r'File "(?P<file>[^"\n]+)", line (?P<line>\d+)|Raised from (?P<raised>.+) \((?P<at>\d+)\)')
CALLEE = re.compile(r"resolving callee type: type\(\w+\(<function (\S+) at")
MISSING = re.compile(r"No implementation of function .* found for signature:\s+>>> (.*)")
FRAME = re.compile(r"\s*(?:Failed in \w+ mode pipeline|During: |File \"|$)")
"""Patterns in numba's messages."""


def _cause(function: Any, error: Exception) -> str:
    """Returns the reason and the line where a kernel fails to compile, taken from the end of numba's message."""
    text = COLOURS.sub("", str(error))
    missing = MISSING.search(text)
    if missing:
        cause = f"no implementation of {missing[1].strip()}"
    elif isinstance(error, KeyError):
        cause = f"unknown name {text}"
    else:
        cause = next((line.strip() for line in text.splitlines() if not FRAME.match(line)), type(error).__name__)
    cause = cause.partition(" Raised from ")[0].rstrip(".")
    callee = CALLEE.search(text)
    place, found = getattr(error, "loc", None), PLACE.search(text)
    code = function.py_func.__code__
    file, line = code.co_filename, code.co_firstlineno
    if place is not None:
        file, line = place.filename, place.line
    elif found:
        file, line = found["file"] or found["raised"], int(found["line"] or found["at"])
    return f"{cause} ({f'in {callee[1]}, called from ' if callee else ''}{os.path.abspath(file)}:{line})"
