"""Kernels: compiled functions, the signatures by which games and planners call one another, and the code of a move."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import config, njit, types
from numba.core.errors import NumbaError
from numba.experimental.function_type import _get_wrapper_address

from ucd_envs.structs import KERNELS, record

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

HEADER = record(("player", np.int32), ("ply", np.int32))
"""The fields that every state begins with."""

OVER = -1
"""The player to move when the game is over."""
FAILED = -2
"""The player to move when a kernel has failed: one that calls back into Python, or a default kernel of a faulty game."""
CHANCE = -3
"""Reserved for the player to move whose move is drawn, not chosen. No planner searches such a game yet."""


def kernel(
    signature: Any = None, fastmath: Any = False, counted: bool = False, inline: bool = False
) -> Callable[[Callable[..., Any]], Any]:
    """Makes a function a kernel: compiled on first need, without the interpreter lock, cached on disk where that is possible.

    A kernel of the seam names its `signature`; a private one is typed by the kernels that call it. `fastmath` is a set of
    LLVM flags for a kernel whose result they cannot change. Kernels allocate nothing, so numba's reference counts are left
    out (they cost a fifth of a search) unless `counted`; a kernel that returns an array must be `inline`. Where no cache
    can be written (a read-only installation and no home directory) kernels are compiled anew in each process.
    """

    def decorated(function: Callable[..., Any]) -> Any:
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath, "_nrt": counted}
        if inline:
            options["inline"] = "always"
        try:
            dispatcher = njit(cache=True, **options)(function)
        except RuntimeError as error:
            if "cannot cache function" not in str(error):
                raise
            dispatcher = njit(**options)(function)
        if signature is not None:
            dispatcher.seam_signature = signature
        return dispatcher

    return decorated


@kernel()
def move_of(player, action):
    """How a playout writes a move to its trace: player * 2**16 + action."""
    return np.int64(player) << 16 | np.int64(action)


@kernel()
def most_moves(trace):
    """How many moves a playout makes at most."""
    return trace.size if trace.size > 0 else np.int64(2**62)


COMPILING = threading.RLock()
"""Held while kernels are compiled: numba, and the filters of warnings that it sets meanwhile, are for one thread at a time."""


def compiled(function: Any, signature: Any) -> Any:
    """The kernel, compiled for this signature and for no other from now on.

    Raises TypeError when it was declared for another signature or its result has another type.
    """
    if getattr(function, "seam_signature", None) != signature:
        raise TypeError(f"kernel {function.__name__} must be declared with the signature {signature}")
    if getattr(config, "DISABLE_JIT", 0):
        return function
    with COMPILING:
        if function._can_compile:
            try:
                function.compile(signature.args)
            except NumbaError as error:
                raise TypeError(f"kernel {function.__name__} does not compile for {signature}: {error}") from error
            function.disable_compile()
    result = function.overloads[signature.args].signature.return_type
    if result != signature.return_type:
        raise TypeError(f"kernel {function.__name__} returns {result}, expected {signature.return_type}")
    return function


def address(function: Any) -> int:
    """The address by which kernels call a compiled kernel of one signature, see `structs.by_address`.

    It lasts as long as the kernel. The plain Python of a kernel is called by an address in KERNELS.
    """
    if getattr(config, "DISABLE_JIT", 0):
        KERNELS[id(function)] = function
        return id(function)
    return int(_get_wrapper_address(function, function.seam_signature))
