"""Names of selections, policies and agents: built in, references `package.module:name`, entry points of installed packages."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from importlib.metadata import entry_points
from typing import Any

from ucd_envs.registry import REFERENCE, load, sentence
from ucd_envs.settings import shown
from ucd_planners.evaluators import Evaluator, evaluator_of
from ucd_planners.evaluators.networks import is_network
from ucd_planners.grammar import parse

RENAMED = {"go_priors": "go_initial"}
"""New names of built-in objects by their old ones."""


def found(name: str, known: Mapping[str, Any], groups: Iterable[str], kind: str) -> Any:
    """Returns the object of a name: one of `known`, a reference's, or an entry point's from one of the groups.

    kind: the word for it in messages. Raises TypeError for anything but text, and ValueError with one sentence for a name that
    stands for nothing.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of {kind} must be text, not {shown(name)}")
    if name in known:
        return known[name]
    if ":" in name:
        return load(name)
    for group in groups:
        for point in entry_points(group=group, name=name):
            return load(point.value)
    if name in RENAMED:
        raise ValueError(f"{name} is now called {RENAMED[name]}")
    raise ValueError(
        f"unknown {kind} {shown(name)}: expected one of {', '.join(known)}, or a reference such as my_module:my_name"
    )


def parameters_of(maker: Any) -> dict[str, inspect.Parameter]:
    """Returns the parameters of a function or class; none for anything else."""
    if not callable(maker):
        return {}
    try:
        return dict(inspect.signature(maker).parameters)
    except (TypeError, ValueError):
        return {}


def takes_any(maker: Any) -> bool:
    """Returns whether a function takes options besides its own parameters."""
    return any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters_of(maker).values())


def chooses_moves(made: Any, written: Collection[str] = ()) -> bool:
    """Returns whether a function, given the parameters written, is one of observation, mask and rng that returns an action.

    Its first three parameters have any names, no defaults, and are not written; all others have defaults or are written. As a
    maker such a function could not be called, so that nothing is both.
    """
    if isinstance(made, type):
        return False
    known = list(parameters_of(made).values())
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    bare = [each for each in known if each.default is each.empty and each.name not in written and each.kind < each.VAR_KEYWORD]
    return len(bare) == 3 and bare == known[:3] and all(each.kind in kinds for each in bare)


def is_reference(path: str) -> bool:
    """Returns whether a text names an object of Python, `package.module:name`, with parameters or without, and no file."""
    return REFERENCE.fullmatch(path.partition("(")[0].strip()) is not None and not os.path.exists(path)


def evaluator_from(net: Any, layout: str = "chw", logits: bool = True, signed: bool = False) -> Evaluator:
    """Returns the evaluator of a network: as `evaluator_of`, and of a reference such as my_module:my_net.

    A reference names a network, a function of planes, masks and players, or a function that returns either.
    """
    if isinstance(net, str) and is_reference(net):
        name, written = parse(net)
        net = load(name)
        if not chooses_moves(net, written) and not is_network(net):
            net = built(name, net, written)
    return evaluator_of(net, layout, logits, signed)


def refuse_unknown(name: str, written: Collection[str], known: Collection[str]) -> None:
    """Raises ValueError for an unknown parameter."""
    for key in written:
        if key not in known:
            expected = f"expected one of {', '.join(known)}" if known else "it takes none"
            raise ValueError(f"{name} has no parameter {key!r}: {expected}")


def built(name: str, maker: Callable[..., Any] | Any, written: Mapping[str, Any]) -> Any:
    """Returns the result of a function or class with the parameters written. Any other object is returned unchanged.

    Raises ValueError for an unknown parameter and for a call that fails, and the call's own ValueError and TypeError.
    """
    if not takes_any(maker):
        refuse_unknown(name, written, parameters_of(maker))
    try:
        return maker(**written) if callable(maker) else maker
    except (ValueError, TypeError):
        raise
    except (Exception, SystemExit) as error:
        raise ValueError(f"{name} failed: {sentence(error)}") from error
