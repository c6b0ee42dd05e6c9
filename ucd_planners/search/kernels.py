"""The kernels that a search calls, bound once for a game and a selection, and called by their addresses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numba import types
from numba.core.types import FunctionType, UniTuple

from ucd_envs.bindings import BindingType, bound, reader
from ucd_envs.kernels import (
    DRAW,
    IS_LEGAL,
    KEY,
    LEGAL_ACTIONS,
    OBSERVE,
    PLAY,
    PLAYOUT,
    PLAYOUT_ACTION,
    PROBABILITY,
    READ_PAYOFFS,
    compiled,
)
from ucd_envs.picks import is_move
from ucd_envs.rules import Rules
from ucd_planners.search.interface import (
    BACKUP,
    DEFAULT,
    EVALUATE,
    INITIAL,
    LEARN,
    MOST_POLICIES,
    SELECT,
    SUGGEST,
    Initial,
    PlayoutPolicy,
    SearchOptions,
    Selection,
    evaluate_nothing,
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
    "observe": FunctionType(OBSERVE),
    "config": types.uint8[::1],
    "players": types.int64,
    "actions": types.int64,
    "moves": types.int64,
    "has_chance": types.int64,
}
"""A game, as compiled code sees it."""
SEARCH = {
    "select": FunctionType(SELECT),
    "backup": FunctionType(BACKUP),
    "initial": FunctionType(INITIAL),
    "evaluate": FunctionType(EVALUATE),
    "suggest": UniTuple(FunctionType(SUGGEST), MOST_POLICIES),
    "learn": UniTuple(FunctionType(LEARN), MOST_POLICIES),
    "probs": UniTuple(types.float64, MOST_POLICIES),
    "policies": types.int64,
    "has_select": types.int64,
    "has_initial": types.int64,
    "expand_all": types.int64,
    "in_order": types.int64,
    "reverses": types.int64,
    "graded": types.int64,
    "evaluates": types.int64,
    "has_evaluate": types.int64,
    "has_priors": types.int64,
    "guarded": types.int64,
}
"""A selection with policies, initial statistics and options, as compiled code sees them."""


RULES_BINDING, SEARCH_BINDING = BindingType("rules", RULES), BindingType("search", SEARCH)
rules_at, search_at = reader(RULES_BINDING), reader(SEARCH_BINDING)


def bound_rules(rules: Rules) -> np.ndarray:
    """Binds the kernels of a game: [any] uint64, valid as long as the Rules."""
    kernels = {name: getattr(rules.kernels, name) for name, kind in RULES.items() if isinstance(kind, FunctionType)}
    if rules.inside is not None:
        kernels["is_legal"] = compiled(is_move, IS_LEGAL)  # playouts play without picks
    facts = {name: getattr(rules, name) for name in ("config", "players", "actions", "moves", "has_chance")}
    return bound(RULES_BINDING, **kernels, **facts)


def bound_search(
    selection: Selection,
    policies: Sequence[PlayoutPolicy] = (),
    initial: Initial | None = None,
    options: SearchOptions = DEFAULT,
    guarded: bool = False,
    evaluate: Any = None,
) -> np.ndarray:
    """Compiles and binds the kernels of a selection, at most MOST_POLICIES policies, initial statistics and an evaluation:
    [any] uint64.
    """
    default = select_action if initial is None else select_with_initial
    return bound(
        SEARCH_BINDING,
        select=compiled(selection.select_kernel or default, SELECT),
        backup=compiled(selection.backup_kernel, BACKUP),
        initial=compiled(no_initial if initial is None else initial.kernel, INITIAL),
        evaluate=compiled(evaluate or evaluate_nothing, EVALUATE),
        suggest=filled((compiled(policy.suggest, SUGGEST) for policy in policies), compiled(suggest_nothing, SUGGEST)),
        learn=filled((compiled(policy.learn, LEARN) for policy in policies), compiled(learn_nothing, LEARN)),
        probs=filled((float(policy.prob) for policy in policies), 0.0),
        policies=len(policies),
        has_select=selection.select_kernel is not None or initial is not None,
        has_initial=initial is not None,
        expand_all=options.expand_all,
        in_order=options.untried != "random",
        reverses=options.untried == "reversed",
        graded=is_graded(selection),
        evaluates=options.evaluates,
        has_evaluate=evaluate is not None,
        has_priors=selection.layout(1, 1).has_priors,
        guarded=guarded,
    )


def filled(found: Iterable[Any], missing: Any) -> tuple[Any, ...]:
    """One value for each of MOST_POLICIES."""
    return tuple([*found, *[missing] * MOST_POLICIES][:MOST_POLICIES])
