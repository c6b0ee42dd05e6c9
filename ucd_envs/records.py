"""Flat vectors of bytes read as records of named fields, and words read as sets of bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, overload


def record(*fields: tuple[Any, ...]) -> np.dtype[Any]:
    """A record type whose fields kernels read by name; its size is a multiple of 8 bytes, so that rows stay aligned."""
    packed = np.dtype(list(fields), align=True)
    columns: Any = packed.fields
    padded = np.dtype(
        {
            "names": list(columns),
            "formats": [column[0] for column in columns.values()],
            "offsets": [column[1] for column in columns.values()],
            "itemsize": -(-packed.itemsize // 8) * 8,
        },
        align=True,
    )
    return np.dtype((np.record, padded))


def configuration(layout: np.dtype[Any], **values: Any) -> np.ndarray:
    """A board vector: one record of `layout` with the given fields, as [layout.itemsize] uint8."""
    board = np.zeros(1, layout)
    for name, value in values.items():
        board[name] = value
    return board.view(np.uint8)


def fields(vector: Any, layout: Any) -> Any:
    """The record that lies in a vector of bytes: `fields(state, STATE).player` reads and writes the vector itself.

    In a kernel this is a pointer and costs nothing, where `vector.view(layout)[0]` costs 20 ns.
    """
    return vector.view(layout)[0]


@intrinsic
def _fields(typing_context, vector, layout):
    if not isinstance(vector, types.Array) or not isinstance(layout, types.DType):
        return None

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.bitcast(data, context.get_value_type(signature.return_type))

    return layout.dtype(vector, layout), generate


@overload(fields)
def _compiled_fields(vector, layout):
    return lambda vector, layout: _fields(vector, layout)  # type: ignore[call-arg]


def popcount(word: Any) -> int:
    """How many bits of an unsigned word are set; one machine instruction in a kernel."""
    return int(word).bit_count()


@intrinsic
def _population(typing_context, word):
    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return word(word), generate


@overload(popcount)
def _compiled_popcount(word):
    return lambda word: _population(word)  # type: ignore[call-arg]
