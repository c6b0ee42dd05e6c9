"""Bindings: kernels, sizes and vectors that compiled code finds by name at an address.

A `BindingType` lists what code may ask by name with its type: function types, tuples of them, numbers and vectors of bytes.
`bound` writes their values and the addresses of compiled kernels as words, and a `reader` reads them again. In compiled code a
binding is one pointer; `rules.play(config, state, action)` loads an address and calls it. Handing over the functions themselves
would cost 50 microseconds each at every call. What a kernel raises reaches its caller.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.types import FunctionType, UniTuple
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.experimental.function_type import _get_jit_address
from numba.extending import intrinsic, lower_getattr_generic, models, overload, register_model

from ucd_envs.structs import address_of, array_at

BYTE = np.dtype(np.uint8)
FUNCTIONS: dict[int, Any] = {}
"""Uncompiled kernels by the addresses that bindings give them."""


class BindingType(types.Type):
    """The numba type of a binding: a pointer to its words."""

    def __init__(self, label: str, listed: dict[str, Any]) -> None:
        super().__init__(f"Binding({label})")
        self.listed = listed
        self.words = sum(words_of(kind) for kind in listed.values())
        """Its size, in words of 8 bytes."""


register_model(BindingType)(models.OpaqueModel)


def words_of(kind: Any) -> int:
    """Returns the size of a value in a binding, in words of 8 bytes."""
    if isinstance(kind, UniTuple):
        return int(kind.count) * words_of(kind.dtype)
    return 2 if isinstance(kind, types.Array) else 1


@infer_getattr
class BindingAttributes(AttributeTemplate):
    """Attributes of a binding are what it lists."""

    key = BindingType

    def generic_resolve(self, value: Any, attr: str) -> Any:  # type: ignore[override]
        """Returns the type of an attribute, None for one that is not listed."""
        return value.listed.get(attr)


@lower_getattr_generic(BindingType)
def _read(context, builder, kind, value, name):
    place = 0
    for listed, found in kind.listed.items():
        if listed == name:
            return _value_at(context, builder, found, value, place)
        place += words_of(found)
    raise KeyError(name)


def _value_at(context: Any, builder: Any, kind: Any, pointer: Any, place: int) -> Any:
    """Reads a value of a type from the words of a binding."""
    if isinstance(kind, UniTuple):
        step = words_of(kind.dtype)
        parts = [_value_at(context, builder, kind.dtype, pointer, place + step * i) for i in range(kind.count)]
        return context.make_tuple(builder, kind, parts)
    word = context.get_value_type(types.float64 if kind == types.float64 else types.int64)
    words = builder.bitcast(pointer, word.as_pointer())
    read = builder.load(builder.gep(words, [ir.IntType(32)(place)]))
    if isinstance(kind, FunctionType):
        function = cgutils.create_struct_proxy(kind)(context, builder)
        function.jit_addr = builder.inttoptr(read, function.jit_addr.type)
        return function._getvalue()
    if isinstance(kind, types.Array):
        size = builder.load(builder.gep(words, [ir.IntType(32)(place + 1)]))
        array = context.make_array(kind)(context, builder)
        context.populate_array(
            array,
            data=builder.inttoptr(read, array.data.type),
            shape=cgutils.pack_array(builder, [size]),
            strides=cgutils.pack_array(builder, [ir.IntType(64)(1)]),
            itemsize=ir.IntType(64)(1),
            meminfo=None,
        )
        return array._getvalue()
    return read


def bound(kind: BindingType, **values: Any) -> np.ndarray:
    """Returns the words of a binding: [kind.words] uint64.

    Kernels are compiled before, and None stands for one that is never called. The words hold addresses: kernels and vectors
    must live as long as they do.
    """
    if list(values) != list(kind.listed):
        raise TypeError(f"a binding lists {', '.join(kind.listed)}, not {', '.join(values)}")
    words = [word for name, found in kind.listed.items() for word in _words(values[name], found)]
    return np.array([np.float64(word).view(np.uint64) if isinstance(word, float) else word for word in words], np.uint64)


def _words(value: Any, kind: Any) -> list[int | float]:
    """The words of a value of a type."""
    if isinstance(kind, UniTuple):
        return [word for part in value for word in _words(part, kind.dtype)]
    if isinstance(kind, types.Array):
        return [address_of(value), value.size]
    if isinstance(kind, FunctionType):
        return [0 if value is None else _address(value, kind.signature)]
    return [float(value) if kind == types.float64 else int(value)]


def _address(kernel: Any, signature: Any) -> int:
    if getattr(config, "DISABLE_JIT", 0):
        FUNCTIONS[id(kernel)] = kernel
        return id(kernel)
    if not hasattr(kernel, "seam_address"):  # a kernel has one signature, so one address
        kernel.seam_address = int(_get_jit_address(kernel, signature))
    return int(kernel.seam_address)


def reader(kind: BindingType) -> Callable[[Any], Any]:
    """Returns the function by which a kernel reads a binding in a vector: its words, or the same as bytes."""

    @lru_cache(maxsize=256)
    def values(words: bytes) -> SimpleNamespace:
        """The values of an uncompiled binding."""
        left = np.frombuffer(words, np.uint64, kind.words).tolist()
        return SimpleNamespace(**{name: _value(left, found) for name, found in kind.listed.items()})

    def binding_at(words: Any) -> Any:
        return values(words.tobytes())

    @intrinsic
    def pointer(typing_context, words):
        def generate(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            return builder.bitcast(data, context.get_value_type(kind))

        return kind(words), generate

    overload(binding_at)(lambda words: lambda words: pointer(words))  # type: ignore[call-arg]
    return binding_at


def _value(words: list[int], kind: Any) -> Any:
    """Takes a value of a type from the front of a list of words."""
    if isinstance(kind, UniTuple):
        return tuple(_value(words, kind.dtype) for _ in range(kind.count))
    word = words.pop(0)
    if isinstance(kind, types.Array):
        return array_at(word, (words.pop(0),), BYTE)
    if isinstance(kind, FunctionType):
        return FUNCTIONS.get(word)
    return np.uint64(word).view(np.float64) if kind == types.float64 else np.uint64(word).view(np.int64)
