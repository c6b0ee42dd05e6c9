"""Saved searches: a kept graph in a file, with all that playouts have learned, to go on with another day.

A file is a NumPy archive (.npz) of plain numbers. Its header, JSON text, names the layout of the file, the version of this
distribution, the game with its configuration, and the planner with its options, seed and number of searches; then come, for
each worker, the rows in use of its graph's arrays and the memories of its policies. Nothing is pickled. A loaded planner
searches as the one that was saved would have, to the last bit. Every part carries a checksum, so a damaged file is refused, but
not a forged one.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import os
import sys
from collections.abc import Mapping
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ucd_envs.foreign import raw_environment
from ucd_envs.rules import Rules, State
from ucd_envs.settings import shown
from ucd_planners import files
from ucd_planners.options import PlannerOptions
from ucd_planners.planner import Planner
from ucd_planners.search.graph import EDGE, NODE
from ucd_planners.search.storage import Graph
from ucd_planners.worker import Worker

LAYOUT = 1
"""The layout of files, which changes with what they hold."""
MAGIC = b"PK\x03\x04"
"""The first bytes of an archive."""
OWN = ("ucd_envs", "ucd_planners")
"""Packages whose modules a file may name; those of others are imported by their users before."""


def save(planner: Planner, path: str | PathLike[str]) -> None:
    """Saves a planner with its kept graphs and what its policies have learned, completely or not at all.

    Its `progress` is left out. Raises ValueError for a planner without reuse_graph, one that has not searched yet, one with
    parts of other kinds than dataclasses, one with an evaluator, and for a third-party game; OSError, leaving an old file
    unchanged, where the file cannot be written.
    """
    if not planner.options.reuse_graph:
        raise ValueError("a search can be saved by a planner with reuse_graph=True: others begin every search afresh")
    if planner.evaluation is not None:
        raise ValueError(
            f"a search with the evaluator {planner.evaluation.evaluator} cannot be saved: a file holds no networks"
        )
    workers = planner._workers
    if not workers or any(worker.last is None for worker in workers):
        raise ValueError("there is no search to save: the planner has not searched yet, or was reset since")
    rules = workers[0].rules
    if rules.live is not None:
        raise ValueError(f"a search in {rules.name} cannot be saved: its positions belong to a third-party environment")
    arrays: dict[str, np.ndarray] = {}
    header = {
        "layout": LAYOUT,
        "version": version("ucd-planners"),
        "game": identity_of(rules),
        "shapes": shapes_of(workers[0].graph),
        "planner": {name: described(name, value) for name, value in options_of(planner).items()},
        "seed": planner.seed,
        "searches": planner._searches,
        "workers": [worker_parts(worker, f"{place}.", arrays) for place, worker in enumerate(workers)],
    }
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)

    def write(part: Path) -> None:
        with open(part, "wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())

    files.save(Path(path), write)


def load(path: str | PathLike[str], env: Any) -> Planner:
    """Returns the planner that was saved in a file, with the graphs and the memories that it had.

    env: the game that it is for, as an environment of ucd_envs, a State or Rules; positions may be any. The planner's next
    search is from a position of the caller's, in the same Rules. Raises OSError where the file cannot be read, ValueError, with
    one sentence, for a file that is no saved search, is damaged, has another layout or version, or is of another game or
    configuration, and TypeError for something without a game.
    """
    path, rules = Path(path), rules_of(env)
    header, arrays = read(path)
    if header.get("layout") != LAYOUT:
        raise ValueError(f"{path} has layout {shown(header.get('layout'))} of saved searches, but this version reads {LAYOUT}")
    if header["version"] != (here := version("ucd-planners")):
        raise ValueError(f"{path} was saved by version {header['version']}, whose searches version {here} cannot go on with")
    if header["game"] != identity_of(rules):
        there = header["game"]["text"]
        other = there if there != str(rules) else f"another version of {there}"
        raise ValueError(f"{path} is a search of {other}, not of {rules}")
    planner = Planner(**{name: made(path, value) for name, value in header["planner"].items()}, seed=header["seed"])
    for place, kept in enumerate(header["workers"]):
        worker = Worker(planner._settings, rules, 0)
        if header["shapes"] != shapes_of(worker.graph):
            raise ValueError(f"{path} keeps other statistics than {planner.selection} does in this version")
        restore(worker, kept, {name: rows for name, rows in arrays.items() if name.startswith(f"{place}.")}, f"{place}.")
        planner._workers.append(worker)
    planner._searches = header["searches"]
    return planner


def read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Returns the header of a file and its other arrays, each [any] uint8.

    Raises OSError where the file cannot be read, ValueError for one that is no saved search or is damaged.
    """
    try:
        with open(path, "rb") as file:
            first = file.read(len(MAGIC))
    except OSError as error:
        raise OSError(f"{path} cannot be read: {error.strerror or error}") from None
    if first != MAGIC:
        raise ValueError(f"{path} is no saved search")
    try:
        with np.load(path, allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
        header = dict(json.loads(bytes(arrays.pop("header"))))
    except MemoryError:
        raise
    except Exception:  # of the archive, of NumPy or of JSON: they have many for a file with wrong bytes
        raise ValueError(f"{path} is damaged, or no saved search") from None
    return header, arrays


def rules_of(env: Any) -> Rules:
    """Returns the game of an environment, a State or Rules. Raises TypeError for anything else."""
    inner = raw_environment(env)
    if not isinstance(inner, (Rules, State)):
        clone_state = getattr(inner, "clone_state", None)
        inner = clone_state() if callable(clone_state) else None
    found = inner.rules if isinstance(inner, State) else inner
    if not isinstance(found, Rules):
        raise TypeError(f"a search is loaded for an environment of ucd_envs, a State or Rules, not for {shown(env)}")
    return found


def identity_of(rules: Rules) -> dict[str, Any]:
    """Returns what two games must share for one's search to be gone on with in the other."""
    sizes = [rules.players, rules.actions, rules.max_plies, rules.key_words, rules.state_bytes]
    return {"name": rules.name, "text": str(rules), "digest": rules.digest, "sizes": sizes}


def shapes_of(graph: Graph) -> dict[str, Any]:
    """Returns the names and sizes of a graph's numbers."""
    columns = {name: int(graph.record[name]["columns"]) for name in ("actions", "keys", "node_actions")}
    layout = {name: list(getattr(graph.layout, name)) for name in ("node_stats", "edge_stats", "node_action_stats")}
    return {**columns, **layout, "records": str((NODE.descr, EDGE.descr)), "order": sys.byteorder}


def options_of(planner: Planner) -> dict[str, Any]:
    """Returns the selection, the name and the options of a planner, but for its seed and `progress`."""
    options = planner.options
    found = {"selection": planner.selection, "name": planner.name}
    found |= {"expand": "all" if options.expand_all else "first", "reuse_graph": options.reuse_graph}
    found |= {"first_play_urgency": options.first_play_urgency, "untried": options.untried}
    others = PlannerOptions.__annotations__.keys() - found.keys() - {"seed", "progress"}
    return found | {name: getattr(planner, name) for name in sorted(others)}


def described(name: str, value: Any) -> Any:
    """Returns a value of an option as JSON has it: a dataclass by the names of its class and of its fields.

    Raises ValueError, naming the option, for a value that `made` would not make again.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, PathLike):
        value = os.fspath(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [described(name, each) for each in value]
    kind = type(value)
    reference = f"{kind.__module__}:{kind.__qualname__}"
    # Of the class itself: one that inherits from a dataclass may keep more.
    if "__dataclass_fields__" in vars(kind) and named(reference) is kind and is_made_by_its_fields(kind):
        fields = {each.name: getattr(value, each.name) for each in dataclasses.fields(value) if each.init}
        return {"class": reference, "fields": {key: described(name, each) for key, each in fields.items()}}
    raise ValueError(
        f"a search with {name}={shown(value)} cannot be saved: {kind.__name__} is no dataclass of a module, made by its fields"
    )


def is_made_by_its_fields(kind: Any) -> bool:
    """Returns whether the parameters of a dataclass are its fields."""
    return sorted(inspect.signature(kind).parameters) == sorted(each.name for each in dataclasses.fields(kind) if each.init)


def made(path: Path, value: Any) -> Any:
    """Returns the value that `described` has written. Raises ValueError for a class that there is not."""
    if isinstance(value, list):
        return tuple(made(path, each) for each in value)
    if not isinstance(value, Mapping):
        return value
    kind = named(value["class"])
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        module, _, name = value["class"].partition(":")
        raise ValueError(f"{path} needs {name} of {module}: import that module before")
    return kind(**{key: made(path, each) for key, each in value["fields"].items()})


def named(reference: str) -> Any:
    """Returns the object of a reference `module:name`, None where no such module is imported or it has no such object."""
    module, _, name = reference.partition(":")
    if module.partition(".")[0] in OWN:
        importlib.import_module(module)
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def worker_parts(worker: Worker, prefix: str, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Adds a worker's arrays to others, under names with a prefix; returns its counts and its last position."""
    parts, counts = worker.graph.parts()
    parts |= {f"memory{place}": memory for place, memory in enumerate(worker.sim.memories)}
    arrays |= {prefix + name: np.ascontiguousarray(rows).reshape(-1).view(np.uint8) for name, rows in parts.items()}
    last = worker.last
    return {"counts": counts, "last": None if last is None else last.data.hex(), "chosen": int(worker.chosen)}


def restore(worker: Worker, kept: Mapping[str, Any], arrays: Mapping[str, np.ndarray], prefix: str) -> None:
    """Gives a new worker what `worker_parts` has written."""
    parts, _ = worker.graph.parts()
    found = {
        name: arrays[prefix + name].view(empty.dtype).reshape(-1, *empty.shape[1:])
        for name, empty in parts.items()
        if arrays[prefix + name].size
    }
    worker.graph.restore(found, kept["counts"])
    for place in range(len(worker.sim.memories)):
        worker.sim.remember(place, arrays[f"{prefix}memory{place}"])
    worker.last, worker.chosen = State(worker.rules, bytes.fromhex(kept["last"])), kept["chosen"]
