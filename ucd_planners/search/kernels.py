"""The kernels that a search calls, bound once for a game and a selection, and called by their addresses.

A `Binding` lists what compiled code may ask of it by name, each with its type: function types, tuples of them, flags, numbers
and vectors of bytes. In compiled code it is one pointer; `rules.play(config, state, action)` loads an address and calls it.
Handing over the functions themselves would cost 50 microseconds each at every call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.types import FunctionType, UniTuple
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.experimental.function_type import _get_jit_address
from numba.extending import intrinsic, lower_getattr_generic, models, overload, register_model

from ucd_envs.kernels import (
    DRAW,
    IS_LEGAL,
    KEY,
    LEGAL_ACTIONS,
    PLAY,
    PLAYOUT,
    PLAYOUT_ACTION,
    PROBABILITY,
    READ_PAYOFFS,
    compiled,
)
from ucd_envs.rules import Rules
from ucd_envs.structs import address_of
from ucd_planners.search.interface import (
    BACKUP,
    DEFAULT,
    INITIAL,
    LEARN,
    MOST_POLICIES,
    SELECT,
    SUGGEST,
    Initial,
    PlayoutPolicy,
    SearchOptions,
    Selection,
    is_graded,
    learn_nothing,
    no_initial,
    suggest_nothing,
)
from ucd_planners.search.ucb import select_action, select_with_initial

RULES = {
    "legal_actions": FunctionType(LEGAL_ACTIONS),
    "is_legal": FunctionType(IS_LEGAL),
    "play": FunctionType(PLAY),
    "payoffs": FunctionType(READ_PAYOFFS),
    "key": FunctionType(KEY),
    "playout": FunctionType(PLAYOUT),
    "playout_action": FunctionType(PLAYOUT_ACTION),
    "playout_actions": FunctionType(LEGAL_ACTIONS),
    "is_playable": FunctionType(IS_LEGAL),
    "draw": FunctionType(DRAW),
    "probability": FunctionType(PROBABILITY),
    "config": types.uint8[::1],
    "players": types.int64,
    "actions": types.int64,
    "has_chance": types.int64,
}
"""A game, as compiled code sees it."""
SEARCH = {
    "select": FunctionType(SELECT),
    "backup": FunctionType(BACKUP),
    "initial": FunctionType(INITIAL),
    "suggest": UniTuple(FunctionType(SUGGEST), MOST_POLICIES),
    "learn": UniTuple(FunctionType(LEARN), MOST_POLICIES),
    "probs": UniTuple(types.float64, MOST_POLICIES),
    "policies": types.int64,
    "has_select": types.int64,
    "has_initial": types.int64,
    "expand_all": types.int64,
    "graded": types.int64,
    "evaluates": types.int64,
    "guarded": types.int64,
}
"""A selection with policies, initial statistics and options, as compiled code sees them."""


class BindingType(types.Type):
    """The numba type of a binding: a pointer to its words."""

    def __init__(self, label: str, listed: dict[str, Any]) -> None:
        super().__init__(f"Binding({label})")
        self.listed = listed


register_model(BindingType)(models.OpaqueModel)
RULES_TYPE, SEARCH_TYPE = BindingType("rules", RULES), BindingType("search", SEARCH)


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


class Binding:
    """A binding as Python holds it: the words, and the values for uncompiled kernels."""

    def __init__(self, kind: BindingType, **values: Any) -> None:
        if list(values) != list(kind.listed):
            raise TypeError(f"a binding lists {', '.join(kind.listed)}, not {', '.join(values)}")
        self.__dict__.update(values)
        words: list[int | float] = []
        for name, found in kind.listed.items():
            words += _words(values[name], found)
        self.words = np.array(
            [np.float64(word).view(np.uint64) if isinstance(word, float) else word for word in words], np.uint64
        )
        _bindings[address_of(self.words)] = self


_bindings: WeakValueDictionary[int, Binding] = WeakValueDictionary()
"""Bindings by the address of their words, for uncompiled kernels."""


def _words(value: Any, kind: Any) -> list[int | float]:
    """The words of a value of a type."""
    if isinstance(kind, UniTuple):
        return [word for part in value for word in _words(part, kind.dtype)]
    if isinstance(kind, types.Array):
        return [address_of(value), value.size]
    if isinstance(kind, FunctionType):
        return [0 if getattr(config, "DISABLE_JIT", 0) else _get_jit_address(value, kind.signature)]
    return [float(value) if kind == types.float64 else int(value)]


def rules_at(words: Any) -> Any:
    """The binding of a game whose words these are: [any] uint64."""
    return _bindings[address_of(words)]


def search_at(words: Any) -> Any:
    """The binding of a search whose words these are: [any] uint64."""
    return _bindings[address_of(words)]


def _pointer_to(kind: BindingType) -> Any:
    @intrinsic
    def pointer(typing_context, words):
        def generate(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            return builder.bitcast(data, context.get_value_type(kind))

        return kind(words), generate

    return pointer


_rules_pointer, _search_pointer = _pointer_to(RULES_TYPE), _pointer_to(SEARCH_TYPE)


@overload(rules_at)
def _compiled_rules_at(words):
    return lambda words: _rules_pointer(words)


@overload(search_at)
def _compiled_search_at(words):
    return lambda words: _search_pointer(words)


def bound_rules(rules: Rules) -> Binding:
    """Binds the kernels of a game."""
    kernels = {name: getattr(rules.kernels, name) for name, kind in RULES.items() if isinstance(kind, FunctionType)}
    facts = {"config": rules.config, "players": rules.players, "actions": rules.actions, "has_chance": rules.has_chance}
    return Binding(RULES_TYPE, **kernels, **facts)


def bound_search(
    selection: Selection,
    policies: Sequence[PlayoutPolicy] = (),
    initial: Initial | None = None,
    options: SearchOptions = DEFAULT,
    guarded: bool = False,
) -> Binding:
    """Compiles and binds the kernels of a selection, at most MOST_POLICIES policies and initial statistics."""
    default = select_action if initial is None else select_with_initial
    return Binding(
        SEARCH_TYPE,
        select=compiled(selection.select_kernel or default, SELECT),
        backup=compiled(selection.backup_kernel, BACKUP),
        initial=compiled(no_initial if initial is None else initial.kernel, INITIAL),
        suggest=filled((compiled(policy.suggest, SUGGEST) for policy in policies), compiled(suggest_nothing, SUGGEST)),
        learn=filled((compiled(policy.learn, LEARN) for policy in policies), compiled(learn_nothing, LEARN)),
        probs=filled((float(policy.prob) for policy in policies), 0.0),
        policies=len(policies),
        has_select=selection.select_kernel is not None or initial is not None,
        has_initial=initial is not None,
        expand_all=options.expand_all,
        graded=is_graded(selection),
        evaluates=options.evaluates,
        guarded=guarded,
    )


def filled(found: Iterable[Any], missing: Any) -> tuple[Any, ...]:
    """One value for each of MOST_POLICIES."""
    return tuple([*found, *[missing] * MOST_POLICIES][:MOST_POLICIES])
