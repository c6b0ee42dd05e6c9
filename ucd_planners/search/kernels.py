"""What the compiled loop calls, bound once for a game, a selection and policies, and what it works on."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import config, types
from numba.core.errors import NumbaExperimentalFeatureWarning
from numba.core.types import FunctionType
from numba.experimental import structref

from ucd_envs.kernels import (
    ACTIONS,
    BYTES,
    COMPILING,
    IS_LEGAL,
    KEY,
    LEGAL_ACTIONS,
    PAYOFFS,
    PLAY,
    PLAYOUT,
    PLAYOUT_ACTION,
    READ_PAYOFFS,
    RNG,
    WORDS,
    compiled,
    kernel,
)
from ucd_envs.rules import Rules
from ucd_envs.structs import address_of
from ucd_planners.search.initial import PRIORS, Priors, no_priors
from ucd_planners.search.interface import BACK_UP, CHOOSE, WORK, Selection
from ucd_planners.search.policies import LEARN, MOST_POLICIES, SUGGEST, Policy, no_suggestion, nothing_learned
from ucd_planners.search.ucb import choose, choose_with_priors


class Bound(NamedTuple):
    """The kernels that a search calls. In compiled code a structure of function pointers, made once for a planner and a
    game: passing the functions themselves costs 50 microseconds each at every call."""

    legal_actions: Any
    play: Any
    payoffs: Any
    key: Any
    playout: Any
    playout_action: Any
    playout_actions: Any
    is_playable: Any
    choose: Any
    back_up: Any
    priors: Any
    suggest: Any
    learn: Any


BOUND_TYPES = Bound(
    *map(FunctionType, (LEGAL_ACTIONS, PLAY, READ_PAYOFFS, KEY, PLAYOUT, PLAYOUT_ACTION, LEGAL_ACTIONS, IS_LEGAL)),
    *map(FunctionType, (CHOOSE, BACK_UP, PRIORS)),
    *(types.UniTuple(FunctionType(signature), MOST_POLICIES) for signature in (SUGGEST, LEARN)),
)


@structref.register
class BoundType(types.StructRef):
    """The numba type of bound kernels."""


class BoundKernels(structref.StructRefProxy):
    """Bound kernels as Python holds them."""


structref.define_boxing(BoundType, BoundKernels)
BOUND = BoundType(list(BOUND_TYPES._asdict().items()))


@kernel(BOUND(*BOUND_TYPES), counted=True)
def bind(
    legal_actions,
    play,
    payoffs,
    key,
    playout,
    playout_action,
    playout_actions,
    is_playable,
    choose,
    back_up,
    priors,
    suggest,
    learn,
):
    """The structure of these kernels."""
    bound: Any = structref.new(BOUND)  # type: ignore[call-arg]
    bound.legal_actions = legal_actions
    bound.play = play
    bound.payoffs = payoffs
    bound.key = key
    bound.playout = playout
    bound.playout_action = playout_action
    bound.playout_actions = playout_actions
    bound.is_playable = is_playable
    bound.choose = choose
    bound.back_up = back_up
    bound.priors = priors
    bound.suggest = suggest
    bound.learn = learn
    return bound


def bound_kernels(rules: Rules, selection: Selection, policies: Sequence[Policy] = (), priors: Priors | None = None) -> Any:
    """The kernels of a game, a selection, at most MOST_POLICIES policies and priors, compiled now, before any clock runs."""
    default = choose if priors is None else choose_with_priors
    game = rules.kernels
    functions = (
        *(game.legal_actions, game.play, game.payoffs, game.key, game.playout, game.playout_action),
        *(game.playout_actions, game.is_playable),
        compiled(selection.chooser or default, CHOOSE),
        compiled(selection.kernel, BACK_UP),
        compiled(no_priors if priors is None else priors.kernel, PRIORS),
        filled((compiled(policy.suggest, SUGGEST) for policy in policies), compiled(no_suggestion, SUGGEST)),
        filled((compiled(policy.learn, LEARN) for policy in policies), compiled(nothing_learned, LEARN)),
    )
    if getattr(config, "DISABLE_JIT", 0):
        return Bound(*functions)
    with COMPILING, warnings.catch_warnings():  # tuples of functions work, but numba calls them experimental each time
        warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)
        return compiled(bind, bind.seam_signature)(*functions)


def filled(found: Iterable[Any], missing: Any) -> tuple[Any, ...]:
    """One of something for each of MOST_POLICIES."""
    return tuple([*found, *[missing] * MOST_POLICIES][:MOST_POLICIES])


@kernel(inline=True)
def kernels_of(bound):
    """The kernels of a structure, ready to be called."""
    return Bound(
        bound.legal_actions,
        bound.play,
        bound.payoffs,
        bound.key,
        bound.playout,
        bound.playout_action,
        bound.playout_actions,
        bound.is_playable,
        bound.choose,
        bound.back_up,
        bound.priors,
        bound.suggest,
        bound.learn,
    )


class Work(NamedTuple):
    """What one simulation works on."""

    record: np.ndarray
    """[WORK.itemsize] uint8: what the backup sees."""
    state: np.ndarray
    """[state_bytes] uint8: the position that the simulation has reached."""
    rng: np.ndarray
    """[2] uint64: the generator."""
    actions: np.ndarray
    """[actions] int32."""
    words: np.ndarray
    """[key_words] uint64."""
    payoffs: np.ndarray
    """[players] float64."""
    moves: np.ndarray
    """int32: for moves of the simulation [max_plies + 1], and behind them for two numbers of every action of a player; or [0]
    where neither the selection nor policies nor priors ask for them."""
    path: np.ndarray
    """[3, longest + 1] int32: sources of the descent's edges, then the known node where it ended, or -1; the edges, -1 for one
    that is yet to be made; and for such a one the place of its move in the source's list, else -1."""
    memories: tuple[np.ndarray, ...]
    """[any] uint8 for each of MOST_POLICIES."""
    knowledge: np.ndarray
    """[any] uint8: what priors read."""


WORK_TUPLE = types.NamedTuple(
    (
        *(BYTES, BYTES, RNG, ACTIONS, WORDS, PAYOFFS, ACTIONS, types.int32[:, ::1]),
        *(types.UniTuple(BYTES, MOST_POLICIES), BYTES),
    ),
    Work,
)


def work_for(rules: Rules, selection: Selection, policies: Sequence[Policy] = (), priors: Priors | None = None) -> Work:
    """Room for the simulations of any search in a game with a selection, policies and priors."""
    path = np.empty((3, rules.max_plies + 1), np.int32)
    traces = selection.layout(rules.players).amaf > 0 or len(policies) > 0 or priors is not None
    pairs = rules.players * rules.actions
    moves = np.zeros((path.shape[1] + 2 * pairs) * traces, np.int32)
    actions = np.empty(rules.actions, np.int32)
    header = np.zeros(WORK.itemsize, np.uint8)
    fixed = header.view(WORK)[0]
    fixed.path_room = path.shape[1]
    fixed.path_nodes, fixed.path_edges = address_of(path[0]), address_of(path[1])
    fixed.moves, fixed.notes = address_of(moves), address_of(moves) + moves.itemsize * path.shape[1]
    fixed.actions, fixed.action_room = address_of(actions), len(actions)
    fixed.policies = len(policies)
    fixed.probs[: len(policies)] = [policy.prob for policy in policies]
    return Work(
        header,
        np.zeros(rules.state_bytes, np.uint8),
        np.zeros(2, np.uint64),
        actions,
        np.zeros(rules.key_words, np.uint64),
        np.zeros(rules.players),
        moves,
        path,
        filled((policy.memory(rules) for policy in policies), np.zeros(0, np.uint8)),
        np.zeros(0, np.uint8) if priors is None else priors.memory(rules),
    )
