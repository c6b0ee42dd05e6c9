"""Names, versions and references of games, and how their rules are made.

A version changes only with a game's rules or its observations. Game files are imported on first use, so importing the
package compiles nothing. A reference `package.module:name` is accepted wherever a game's name is. It names a function that
returns Rules. Other distributions offer games as entry points of the group `ucd.games`, each named as its rules are
("nim_v0").
"""

from __future__ import annotations

import copyreg
import importlib
import importlib.metadata
import importlib.util
import inspect
import os
import re
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import cache
from threading import Lock
from typing import Any

from ucd_envs.grouped import grouped
from ucd_envs.rules import Rules
from ucd_envs.settings import shown

Builder = Callable[..., Rules]
ENTRY_POINTS = "ucd.games"
VERSIONED = re.compile(r"[a-z][a-z0-9_]{0,80}_v\d{1,9}")
REFERENCE = re.compile(r"[^\W\d][\w.]{0,200}:[^\W\d]\w{0,80}")
FAMILIES = {"spiel": "ucd_envs.foreign.openspiel"}
"""Modules that make the games of other collections, by the part of a name before its colon: "spiel:chess"."""
MOST_RULES = 256
"""Number of configurations kept in memory, the most recently used ones."""
MOST_BYTES = 2**29
"""Size of all configurations kept, in bytes. The last one used is kept at any size."""

OWN_GAMES = (
    *("breakthrough_v0", "capture_the_king_v0", "connect_four_v0", "crisscross_v0", "einstein_v0", "go_v0", "havannah_v0"),
    *("hex_v0", "knightthrough_v0", "leftright_v0", "merrills_v0", "nogo_v0", "othello_v0", "p_game_v0", "pawn_whopping_v0"),
    *("pentago_v0", "pig_v0", "quarto_v0", "tic_tac_toe_v0", "twenty_forty_eight_v0"),
)

_builders: dict[str, Builder | str] = {name: f"ucd_envs.games.{name.rpartition('_v')[0]}" for name in OWN_GAMES}
_made: OrderedDict[Hashable, Rules] = OrderedDict()
_making = Lock()


def available() -> list[str]:
    """Returns every registered name, those of entry points included, sorted."""
    return sorted({*_builders, *_entry_points()})


def register(name: str, builder: Builder) -> None:
    """Adds a game under a name such as "nim_v0"; `builder(**settings)` returns its Rules.

    Raises ValueError for a name without a version or one that is taken by another builder.
    """
    if not isinstance(name, str) or not VERSIONED.fullmatch(name):
        raise ValueError(f"a game's name must look like nim_v0, not {shown(name)}")
    if _builders.get(name, builder) is not builder:
        raise ValueError(f"the name {name} is taken")
    _builders[name] = builder


def versioned(name: str) -> str:
    """Returns the registered name: "hex_v0" and "hex-v0" unchanged, "hex" in its highest version, a reference unchanged.

    Raises TypeError for anything but text, ValueError for an unknown game.
    """
    if not isinstance(name, str):
        raise TypeError(f"a game's name must be text such as 'hex', not {shown(name)}")
    if REFERENCE.fullmatch(name) or family_of(name) is not None:
        return name
    wanted = name.replace("-", "_")
    for names in (_builders, _entry_points()):
        versions = [known for known in names if wanted in (known, known.rpartition("_v")[0])]
        if versions:
            return max(versions, key=lambda known: int(known.rpartition("_v")[2]))
    raise ValueError(f"unknown game {shown(name)}: expected one of {', '.join(available())}")


def family_of(name: str) -> Any:
    """Returns the module that makes the games of a name's collection, or None for another name."""
    family = FAMILIES.get(name.partition(":")[0]) if ":" in name else None
    return None if family is None else importlib.import_module(family)


def load(reference: str) -> Any:
    """Returns the object that a reference `package.module:name` names.

    If the module is not found otherwise, it is searched in the current folder, which then stays on the import path. Raises
    TypeError for anything but text. Raises ValueError with one sentence for a malformed text, for a module that cannot be
    imported, and for one without the name.
    """
    if not isinstance(reference, str):
        raise TypeError(f"a reference must be text such as 'package.module:name', not {shown(reference)}")
    if not REFERENCE.fullmatch(reference):
        raise ValueError(f"a reference must look like package.module:name, not {shown(reference)}")
    module, _, name = reference.partition(":")
    try:
        if module not in sys.modules:
            importlib.invalidate_caches()
            if not _is_found(module.partition(".")[0]) and os.getcwd() not in sys.path:
                sys.path.append(os.getcwd())
        found = importlib.import_module(module)
        if hasattr(found, name):
            return getattr(found, name)
    except (Exception, SystemExit) as error:
        raise ValueError(f"{reference} cannot be imported: {sentence(error)}") from error
    raise ValueError(f"{reference} cannot be imported: the module {module} has no {name}")


def builder(name: str) -> Builder:
    """Returns the function that makes the rules of a game. Raises TypeError or ValueError for an unknown game or a bad
    reference."""
    name = versioned(name)
    if (family := family_of(name)) is not None:
        return family.builder(name)  # type: ignore[no-any-return]
    if ":" in name:
        found: Any = load(name)
        if not callable(found):
            raise ValueError(f"{name} is no game: expected a function that returns Rules, not {shown(found)}")
        build: Builder = found
        return build
    entry = _builders.get(name)
    if entry is None:
        return _of_entry_point(name)
    return importlib.import_module(entry).rules if isinstance(entry, str) else entry


def parameters(name: str) -> dict[str, inspect.Parameter]:
    """Returns the settings of a game by name. Raises as `builder` does."""
    build = builder(name)
    try:
        return dict(inspect.signature(build).parameters)
    except (TypeError, ValueError):
        raise ValueError(f"{versioned(name)} is no game: it does not tell its settings") from None


def make_rules(name: str, /, **settings: Any) -> Rules:
    """Returns the rules of a game in one configuration, the same object while that is among the last used ones.

    Raises ValueError for an unknown game, a setting out of range, a reference that makes no game, or a builder whose rules
    have another name. Raises TypeError for a name that is not text and for an unknown setting.
    """
    name = versioned(name)
    if (family := family_of(name)) is not None:
        name, settings = family.spelled(name, settings)
    build, known = builder(name), parameters(name)
    open_ended = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    for setting, value in settings.items():
        if setting not in known and not open_ended:
            expected = f"expected one of {', '.join(known)}" if known else "it has no settings at all"
            raise TypeError(f"{name} has no setting {shown(setting)}: {expected}")
        if not isinstance(value, Hashable):
            raise TypeError(f"the setting {setting} of {name} cannot be {shown(value)}")
    given = _configuration(name, build, settings)
    found = _kept(given)
    is_new = found is None
    if found is None:
        made = _called(name, build, settings)
        found = _kept(_configuration(name, build, made.settings)) or made
    with _making:
        # The whole configuration is used whenever one way to write it is, so that all ways have one object.
        for key in (given, _configuration(name, build, found.settings)):
            _made[key] = found
            _made.move_to_end(key)
        while len(_made) > MOST_RULES or (is_new and _kept_bytes() > MOST_BYTES and next(iter(_made.values())) is not found):
            _made.popitem(last=False)
    return found


def examples(name: str) -> tuple[dict[str, Any], ...]:
    """Returns the configurations that a game lists for tests, or the default one of a user-registered game."""
    found = _builders.get(versioned(name))
    return importlib.import_module(found).EXAMPLES if isinstance(found, str) else ({},)


def _called(name: str, build: Builder, settings: dict[str, Any]) -> Rules:
    """Returns the rules that a builder makes, with the reference that makes them again."""
    try:
        made = build(**settings)
    except (TypeError, ValueError):
        raise
    except (Exception, SystemExit) as error:
        raise ValueError(f"{name} failed: {sentence(error)}") from error
    if not isinstance(made, Rules):
        raise ValueError(f"{name} is no game: it returned {shown(made)}, not Rules")
    for setting, value in made.settings.items():
        if not isinstance(value, Hashable):
            raise ValueError(f"{name} is no game: its setting {setting} is {shown(value)}, which cannot be hashed")
    if ":" in name:
        return replace(made, reference=name)
    if made.name != name:
        raise ValueError(f"the builder of {name} made rules that are named {made.name}")
    return made


def _configuration(name: str, build: Builder, settings: Any) -> Hashable:
    """Returns a configuration as a key: 1, 1.0 and True are different settings."""
    return name, build, tuple(sorted((key, type(value).__name__, value) for key, value in settings.items()))


def _kept(key: Hashable) -> Rules | None:
    """Returns the rules of a configuration if they are kept, else None."""
    with _making:
        return _made.get(key)


def _kept_bytes() -> int:
    """Returns the size of all configurations that are kept."""
    return sum({id(rules): rules.config.nbytes for rules in _made.values()}.values())


def _is_found(package: str) -> bool:
    """Returns whether a top-level module can be imported at present."""
    return package in sys.modules or importlib.util.find_spec(package) is not None


@cache
def _entry_points() -> dict[str, importlib.metadata.EntryPoint]:
    """Returns games of other distributions, by versioned name."""
    offered = importlib.metadata.entry_points(group=ENTRY_POINTS)
    return {entry.name: entry for entry in offered if VERSIONED.fullmatch(entry.name)}


def _of_entry_point(name: str) -> Builder:
    """Returns the builder that an entry point names. Raises ValueError with one sentence where it cannot be imported."""
    entry = _entry_points()[name]
    try:
        found: Builder = entry.load()
    except (Exception, SystemExit) as error:
        raise ValueError(f"{name} cannot be imported from {entry.value}: {sentence(error)}") from error
    return found


def sentence(error: BaseException) -> str:
    """Returns the kind of an error and its first line."""
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _again(name: str, settings: dict[str, Any]) -> Rules:
    """Unpickles Rules from name and settings, since compiled kernels cannot be pickled."""
    return make_rules(name, **settings)


def _reduced(rules: Rules) -> tuple[Any, ...]:
    """Pickles Rules as name or reference and settings, those of a live game as its facts, and a grouped game as its parts."""
    if rules.inside is not None:
        return grouped, (rules.inside.rules, rules.inside.source)
    if rules.rooted is not None:
        return rules.rooted.facts()
    return _again, (rules.reference or rules.name, dict(rules.settings))


copyreg.pickle(Rules, _reduced)
