"""Flat vectors of bytes read as records of named fields, and words read as sets of bits."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, overload, type_callable


def record(*fields: tuple[Any, ...]) -> np.dtype[Any]:
    """A record type whose fields kernels read by name; its size is a multiple of 8 bytes, so that rows stay aligned.

    Raises ValueError for a name that NumPy's records have themselves, such as "size": plain Python would read that.
    """
    packed = np.dtype(list(fields), align=True)
    columns: Any = packed.fields
    taken = [name for name in columns if hasattr(np.record, name)]
    if taken:
        raise ValueError(f"a field cannot be named {taken[0]}: NumPy's records have something of that name")
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


BLOCK = record(("address", np.uint64), ("length", np.int64), ("room", np.int64), ("columns", np.int64))
"""Rows of numbers at an address: `length` of them in use, `room` for more, `columns` numbers in each."""


def configuration(layout: np.dtype[Any], **values: Any) -> np.ndarray:
    """A board vector: one record of `layout` with the given fields, as [layout.itemsize] uint8."""
    board = np.zeros(1, layout)
    for name, value in values.items():
        board[name] = value
    return board.view(np.uint8)


def fields(vector: Any, layout: Any) -> Any:
    """The record that lies in a vector of bytes: `fields(state, STATE).player` reads and writes the vector itself.

    The vector may be longer than the record. In a kernel this is a pointer and costs nothing, where `vector.view(layout)[0]`
    costs 20 ns.
    """
    return vector[: layout.itemsize].view(layout)[0]


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


def address_of(array: np.ndarray) -> int:
    """Where an array's data lies; the caller keeps the array alive."""
    return int(array.ctypes.data)


def array_at(address: Any, shape: Any, layout: Any) -> Any:
    """The array of so many entries that lies at an address.

    A kernel that works on many arrays takes one record of their addresses, because every array that is passed to a function
    takes seven machine words.
    """
    sizes = tuple(int(size) for size in shape)
    space = (ctypes.c_uint8 * (math.prod(sizes) * layout.itemsize)).from_address(int(address))
    return np.frombuffer(space, layout).reshape(sizes)


@type_callable(array_at)
def _type_array_at(context):
    return lambda address, shape, layout: types.Array(layout.dtype, len(shape), "C")


@lower_builtin(array_at, types.uint64, types.UniTuple, types.DType)
def _generate_array_at(context, builder, signature, arguments):
    word = context.get_value_type(types.intp)
    size = context.get_abi_sizeof(context.get_data_type(signature.return_type.dtype))
    sizes = cgutils.unpack_tuple(builder, arguments[1])
    steps = [ir.Constant(word, size)]
    for length in reversed(sizes[1:]):
        steps.insert(0, builder.mul(steps[0], length))
    items = ir.Constant(word, 1)
    for length in sizes:
        items = builder.mul(items, length)
    array = context.make_array(signature.return_type)(context, builder)
    array.data = builder.inttoptr(arguments[0], array.data.type)
    array.shape = cgutils.pack_array(builder, sizes)
    array.strides = cgutils.pack_array(builder, steps)
    array.itemsize = ir.Constant(word, size)
    array.nitems = items
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    return array._getvalue()


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
