"""Sentences for a search that was stopped by a kernel which broke its contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ucd_envs.kernels import CHANCE, HEADER, action_of_move
from ucd_envs.rules import Rules
from ucd_envs.structs import fields
from ucd_planners.search import interface as codes
from ucd_planners.search.sim import Sim
from ucd_planners.search.storage import Graph

SENTENCES = {
    codes.STOPPED: "{rules} fails: its random policy names no action that there is, or it goes on after {max_plies} plies",
    codes.NO_ACTIONS: "{rules} goes on at a position without legal actions",
    codes.TOO_MANY_ACTIONS: "legal_actions of {rules} counts more than {actions} actions",
    codes.NO_ACTION: "legal_actions of {rules} lists an action outside 0 to {last}",
    codes.NO_PLAYER: "play of {rules} leaves the move to player {player}, but players are 0 to {last_player}",
    codes.NO_CHOICE: "select of {selection} chooses an action that is not there",
    codes.NO_SUGGESTION: "a playout policy suggests an action that cannot be played: one of {policies}",
    codes.NO_DRAW: "{draw} of {rules} draws an action that cannot be played",
    codes.NO_COUNT: "playout of {rules} leaves the game unfinished or counts its moves wrong",
    codes.NO_MOVE: "playout of {rules} writes a move to its trace that no player can make",
    codes.TOO_LONG: "{rules} goes on after {max_plies} plies, more than max_plies tells",
}
"""Sentences by the status of the loop."""


def contract_error(status: int, rules: Rules, graph: Graph, sim: Sim, selection: Any, policies: Any) -> RuntimeError:
    """Returns the error of a status, which names the kernel and the moves from the root that led there."""
    player = int(fields(sim.state, HEADER).player)
    if status == codes.NO_PLAYER and player == CHANCE:
        return RuntimeError(f"{rules} leaves a move to chance, but has neither draw nor probability ({where(graph, sim)})")
    if status == codes.STOPPED and rules.inside is not None:
        return RuntimeError(f"{rules.inside.grouping.name} leaves a legal move without a group, or {rules.inside.rules} fails")
    sentence = SENTENCES[status].format(
        rules=rules,
        draw="draw" if player == CHANCE else "playout_action",
        actions=rules.actions,
        last=rules.actions - 1,
        player=player,
        last_player=rules.players - 1,
        selection=selection,
        policies=", ".join(map(str, policies)) or "none",
        max_plies=rules.max_plies,
    )
    return RuntimeError(f"{sentence} ({where(graph, sim)})")


def evaluation_error(status: int, rules: Rules, graph: Graph, sim: Sim, label: str, policy: Any, values: Any) -> ValueError:
    """Returns the error of an evaluation that is none, with the position that it was asked for.

    policy: what it answered for the legal actions, [legal]; values: [any].
    """
    if status == codes.NO_PRIORS:
        found = {"NaN": np.isnan(policy), "infinite": policy == np.inf, "negative": (policy < 0) & (policy > -np.inf)}
        told = next((name for name, places in found.items() if places.any()), "all zero")
        what = f"priors that are {told} on legal moves, {np.round(policy[:8], 6).tolist()}"
    else:
        what = f"a value outside of its range, {np.round(values, 6).tolist()}"
    hint = "" if status == codes.NO_PRIORS else ": payoffs go from 0 to 1, or with signed=True from -1 to 1"
    return ValueError(f"{label} gives {rules} {what}{hint} ({where(graph, sim)})")


def index_error(user_defined: Sequence[Any], playouts: int) -> RuntimeError:
    """Returns the error of a kernel that has used an index outside of its array; it names all that may have done so."""
    named = " or ".join(map(str, user_defined)) or "this package"  # whose kernels check indexes with NUMBA_BOUNDSCHECK only
    return RuntimeError(f"a kernel of {named} uses an index outside of its array (playout {playouts + 1})")


def damage_error(block: str, rules: Rules, policies: Any) -> RuntimeError:
    """Returns the error of a kernel that wrote behind a block of the simulation."""
    writers = {
        "state": f"a kernel of {rules} writes behind its state of {rules.state_bytes} bytes",
        "key": f"key of {rules} writes more than {rules.key_words} words",
        "action_list": f"a kernel writes more than {rules.actions} actions to a list",
        "payoffs": f"payoffs of {rules} writes more than {rules.players} payoffs",
        "traced": f"playout of {rules} writes behind its trace",
        "scratch": "the selection writes behind its scratch",
        "initial": "initial statistics write behind their memory",
    }
    kind, _, place = block.partition(" ")
    return RuntimeError(
        writers.get(
            kind,
            f"playout policy {policies[int(place)]} writes behind its memory" if place else f"a kernel writes behind {kind}",
        )
    )


def where(graph: Graph, sim: Sim) -> str:
    """The moves of a simulation's path, as numbers of actions."""
    length = min(int(sim.record.traced.length), len(sim.trace))
    if length:
        actions = [int(action_of_move(move)) for move in sim.trace[:length]]
    else:
        steps = sim.path[:, : int(sim.record.path.length)].T.tolist()
        actions = [action_at(graph, source, number, place) for source, number, place in steps]
    return f"after the actions {' '.join(map(str, actions))} from the root" if actions else "at the root"


def action_at(graph: Graph, source: int, number: int, place: int) -> int:
    """The action of an edge, or of an untried place in its source's list."""
    if number >= 0:
        return int(graph.edges[number]["action"])
    return int(graph.actions[int(graph.nodes[source]["first_action"]) + place])
