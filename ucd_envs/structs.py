"""Flat vectors of bytes read as records of named fields, and words read as sets of bits."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, overload, type_callable


def record(*fields: tuple[Any, ...]) -> np.dtype[Any]:
    """Returns a record type whose fields kernels read by name. Its size is a multiple of 8 bytes, so that rows stay aligned.

    Raises ValueError for a name that NumPy's records use themselves, such as "size".
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
"""A block of rows of numbers at an address: `length` rows in use, `room` for more, `columns` numbers in each."""


def configuration(layout: np.dtype[Any], **values: Any) -> np.ndarray:
    """Returns a configuration vector: one record of `layout` with the given fields, as [layout.itemsize] uint8."""
    board = np.zeros(1, layout)
    for name, value in values.items():
        board[name] = value
    return board.view(np.uint8)


def fields(vector: Any, layout: Any) -> Any:
    """Returns the record in a vector of bytes: `fields(state, STATE).player` reads and writes the vector itself.

    The vector may be longer than the record. In a kernel this is a pointer and costs nothing, whereas
    `vector.view(layout)[0]` costs 20 ns.
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
    """Returns the address of an array's data. The caller must keep the array alive."""
    return int(array.__array_interface__["data"][0])


def array_at(address: Any, shape: Any, layout: Any) -> Any:
    """Returns the array of the given shape at an address.

    A kernel that works on many arrays takes one record of their addresses, because every array passed to a function takes
    seven machine words.
    """
    sizes = tuple(int(size) for size in shape)
    space = (ctypes.c_uint8 * (math.prod(sizes) * layout.itemsize)).from_address(int(address))
    return np.frombuffer(space, layout).reshape(sizes)


@type_callable(array_at)
def _type_array_at(context):
    return lambda address, shape, layout: types.Array(layout.dtype, len(shape), "C")


@lower_builtin(array_at, types.uint64, types.UniTuple, types.DType)
def _generate_array_at(context, builder, signature, arguments):
    array = context.make_array(signature.return_type)(context, builder)
    data = builder.inttoptr(arguments[0], array.data.type)
    return _generated(context, builder, signature, array, data, cgutils.unpack_tuple(builder, arguments[1]))


def _generated(context: Any, builder: Any, signature: Any, array: Any, data: Any, sizes: Any) -> Any:
    """Generates code for an array without an owner, whose entries lie at `data`."""
    word = context.get_value_type(types.intp)
    size = context.get_abi_sizeof(context.get_data_type(signature.return_type.dtype))
    steps = [ir.Constant(word, size)]
    for length in reversed(sizes[1:]):
        steps.insert(0, builder.mul(steps[0], length))
    items = ir.Constant(word, 1)
    for length in sizes:
        items = builder.mul(items, length)
    array.data = data
    array.shape = cgutils.pack_array(builder, sizes)
    array.strides = cgutils.pack_array(builder, steps)
    array.itemsize = ir.Constant(word, size)
    array.nitems = items
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    return array._getvalue()


def stack_array(size: Any, layout: Any) -> Any:
    """Returns a new array of `size` entries, not cleared, that is valid until the calling kernel returns.

    In a kernel it lies on the stack, so several threads may run the kernel at once. Call it outside loops.
    """
    return np.empty(int(size), layout)


@type_callable(stack_array)
def _type_stack_array(context):
    return lambda size, layout: types.Array(layout.dtype, 1, "C")


@lower_builtin(stack_array, types.Integer, types.DType)
def _generate_stack_array(context, builder, signature, arguments):
    array = context.make_array(signature.return_type)(context, builder)
    size = context.cast(builder, arguments[0], signature.args[0], types.intp)
    data = builder.alloca(array.data.type.pointee, size)
    data.align = 16
    return _generated(context, builder, signature, array, data, [size])


def c_function(signature: Any) -> Any:
    """Returns a function that calls the C function of a signature at an address: `call(address, *arguments)`.

    The caller must keep the function at the address alive. In plain Python it takes and returns int64.
    """

    def call(address: Any, *arguments: Any) -> Any:
        found = ctypes.CFUNCTYPE(*[ctypes.c_int64] * (1 + len(arguments)))(int(address))
        return found(*map(int, arguments))

    class Call(AbstractTemplate):
        key = call

        def generic(self, arguments: Any, keywords: Any) -> Any:
            return signature.return_type(types.uint64, *signature.args)

    def generate(context: Any, builder: Any, typed: Any, values: Any) -> Any:
        kinds = [context.get_value_type(kind) for kind in signature.args]
        function = ir.FunctionType(context.get_value_type(signature.return_type), kinds)
        return builder.call(builder.inttoptr(values[0], function.as_pointer()), values[1:])

    infer_global(call, types.Function(Call))
    lower_builtin(call, types.uint64, *signature.args)(generate)
    return call


def popcount(word: Any) -> int:
    """Returns the number of set bits in an unsigned word; one machine instruction in a kernel."""
    return int(word).bit_count()


@intrinsic
def _population(typing_context, word):
    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return word(word), generate


@overload(popcount)
def _compiled_popcount(word):
    return lambda word: _population(word)  # type: ignore[call-arg]


def trailing_zeros(word: Any) -> int:
    """Returns the number of the lowest set bit of an unsigned word that is not 0; one machine instruction in a kernel."""
    return (int(word) & -int(word)).bit_length() - 1


@intrinsic
def _lowest(typing_context, word):
    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return word(word), generate


@overload(trailing_zeros)
def _compiled_trailing_zeros(word):
    return lambda word: _lowest(word)  # type: ignore[call-arg]


def leading_zeros(word: Any) -> int:
    """Returns the number of bits above the highest set bit of a word of 64 bits, 64 for none; one machine instruction in a
    kernel."""
    return 64 - int(word).bit_length()


@intrinsic
def _highest(typing_context, word):
    def generate(context, builder, signature, arguments):
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return word(word), generate


@overload(leading_zeros)
def _compiled_leading_zeros(word):
    return lambda word: _highest(word)  # type: ignore[call-arg]


def equal_bits(values: Any, first: Any, value: Any) -> int:
    """Returns 32 bits, one for each value from `first` on: set where it equals `value`. A few machine instructions in a kernel.

    values: [any] float32, with 32 or more from `first` on; value: float32, not NaN.
    """
    return sum(int(values[int(first) + i] == value) << i for i in range(32))


@intrinsic
def _equal_bits(typing_context, values, first, value):
    if values != types.Array(types.float32, 1, "C") or value != types.float32 or first != types.uint64:
        return None

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        row = ir.VectorType(ir.FloatType(), 32)
        found = builder.load(builder.bitcast(builder.gep(data, [arguments[1]]), row.as_pointer()), align=4)
        lane = builder.insert_element(ir.Constant(row, ir.Undefined), arguments[2], ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), 32), [0] * 32)
        bits = builder.fcmp_ordered("==", found, builder.shuffle_vector(lane, ir.Constant(row, ir.Undefined), zeros))
        return builder.zext(builder.bitcast(bits, ir.IntType(32)), ir.IntType(64))

    return types.uint64(values, first, value), generate


@overload(equal_bits)
def _compiled_equal_bits(values, first, value):
    return lambda values, first, value: _equal_bits(values, first, value)  # type: ignore[call-arg]


def row_sum(values: Any, first: Any) -> int:
    """Returns the sum of 32 values from `first` on, modulo 2**32. A few machine instructions in a kernel.

    values: [any] uint32, with 32 or more from `first` on.
    """
    return sum(int(values[int(first) + i]) for i in range(32)) & 0xFFFFFFFF


@intrinsic
def _row_sum(typing_context, values, first):
    if values != types.Array(types.uint32, 1, "C") or first != types.uint64:
        return None

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        row = ir.VectorType(ir.IntType(32), 32)
        found = builder.load(builder.bitcast(builder.gep(data, [arguments[1]]), row.as_pointer()), align=4)
        kind = ir.FunctionType(ir.IntType(32), [row])
        total = cgutils.get_or_insert_function(builder.module, kind, "llvm.vector.reduce.add.v32i32")
        return builder.zext(builder.call(total, [found]), ir.IntType(64))

    return types.uint64(values, first), generate


@overload(row_sum)
def _compiled_row_sum(values, first):
    return lambda values, first: _row_sum(values, first)  # type: ignore[call-arg]


def fetch(array: Any, place: Any) -> None:
    """Has the processor read an entry of a large array into its cache while a kernel goes on. Does nothing in plain Python."""


@intrinsic
def _fetch(typing_context, array, place):
    if not isinstance(array, types.Array) or place != types.uint64:
        return None

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        place = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        builder.call(function, [place, word(1), word(3), word(1)])  # to write, into the nearest cache, data
        return context.get_dummy_value()

    return types.void(array, place), generate


@overload(fetch)
def _compiled_fetch(array, place):
    return lambda array, place: _fetch(array, place)  # type: ignore[call-arg]
