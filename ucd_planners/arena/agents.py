"""Agents that play the games of matches, by what stands for them: a text, a planner, a function or an object.

| text | agent |
| --- | --- |
| uct(c=0.3), package.module:name | a planner, or what a reference makes: a selection, a planner, an agent, a function |
| package.module:name of three parameters | a function (observation, mask, rng) -> action, see ucd_planners.arena.functions |
| random | moves all equally likely |
| gtp("program") | a program that speaks GTP |
| sb3("model.zip"), torch("net.pt"), onnx("net.onnx") | a trained network, see ucd_planners.arena.models |
| spiel_bot("uniform_random") | a bot of OpenSpiel, see ucd_planners.arena.bots |
"""

from __future__ import annotations

import copy
import pickle
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ucd_envs.rules import Rules, State
from ucd_envs.settings import shown
from ucd_planners.arena.bots import spiel_agent
from ucd_planners.arena.functions import FunctionAgent, Guard
from ucd_planners.arena.interface import METHODS, Agent, FailedError, Move, Stop, StoppedError
from ucd_planners.arena.interface import obey as _obey
from ucd_planners.arena.models import onnx_agent, sb3_agent, torch_agent
from ucd_planners.arena.programs import GTPAgent, stones_before
from ucd_planners.evaluators.loading import digest_of
from ucd_planners.grammar import parse, write
from ucd_planners.gtp.analysis import both
from ucd_planners.notation import canonical, maker_of, player_from
from ucd_planners.options import checked_seconds
from ucd_planners.planner import Planner
from ucd_planners.references import chooses_moves, parameters_of, refuse_unknown

__all__ = [
    "AGENTS",
    "Agent",
    "FailedError",
    "GTPAgent",
    "Move",
    "PlannerAgent",
    "Player",
    "RandomAgent",
    "Stop",
    "StoppedError",
    "agent_from",
    "budget_of",
    "canonical_player",
    "label",
    "refuse_unpicklable",
    "seed_of",
    "stones_before",
]

Player = Any
"""A player of a match: a text in the notation of ucd_planners.notation, a planner, a function (observation, mask, rng) ->
action, or an agent."""


def agent_from(player: Player, budget: Mapping[str, Any]) -> Agent:
    """Returns a new agent for a player. `budget` applies to planners that have none.

    A caller's planner or agent is copied, with all that it holds, so that no two threads share one. Raises ValueError or
    TypeError for anything that cannot play.
    """
    if isinstance(player, Planner):
        return _of_planner(copy.copy(player), player, budget)
    if isinstance(player, str):
        return _of_text(player, budget)
    if not _is_agent(player):
        if chooses_moves(player):
            return Guard(FunctionAgent(player))
        kinds = "as text, such as 'uct(c=0.3)', or be a planner, a function (observation, mask, rng) -> action or an agent"
        raise TypeError(f"a planner must be written {kinds}, not {shown(player)}")
    try:
        copied = copy.deepcopy(player)
    except Exception as error:
        raise TypeError(f"the agent {label(player)} cannot be copied for each thread: {error}") from error
    return _guarded(copied)


def _of_text(text: str, budget: Mapping[str, Any]) -> Agent:
    """Returns the agent of a text."""
    name, written = parse(text)
    if name in AGENTS:
        refuse_unknown(name, written, parameters_of(AGENTS[name]))
        return AGENTS[name](**written)
    if (function := _function_of(name, written)) is not None:
        return function
    made = player_from(text, **budget)
    if isinstance(made, Planner):
        return _of_planner(made, text, budget)
    if chooses_moves(made):
        return Guard(FunctionAgent(made))
    if not _is_agent(made):
        raise ValueError(f"{name} makes no selection, planner or agent, but {shown(made)}")
    return _guarded(made)


def _of_planner(planner: Planner, player: Player, budget: Mapping[str, Any]) -> Agent:
    """Returns the agent of a planner. Raises ValueError for one without a budget."""
    if planner.playouts is None and planner.seconds is None and not budget:
        raise ValueError(f"{label(player)} has no budget: give it, or the match, playouts or seconds")
    return PlannerAgent(planner, budget)


def _function_of(name: str, written: Mapping[str, Any]) -> Guard | None:
    """Returns the agent of a name that is a function of observation, mask and rng, else None.

    `timeout` is the agent's own, unless the function has a parameter of that name.
    """
    if ":" not in name:
        return None
    function = maker_of(name)
    own, timeout = _divided(function, written)
    if not chooses_moves(function, own):
        return None
    if unknown := own.keys() - parameters_of(function).keys():
        raise ValueError(f"{name} has no parameter {min(unknown)!r}")
    return Guard(FunctionAgent(partial(function, **own) if own else function), timeout)


def _divided(function: Any, written: Mapping[str, Any]) -> tuple[dict[str, Any], float | None]:
    """Returns the parameters of a function, and the time that its agent has for a move."""
    own = dict(written)
    return own, None if "timeout" in parameters_of(function) else own.pop("timeout", None)


def _is_agent(made: Any) -> bool:
    """Returns whether an object has the methods of an agent."""
    return not isinstance(made, type) and all(callable(getattr(made, method, None)) for method in METHODS)


def _guarded(agent: Agent) -> Agent:
    """Returns an agent whose faults fail its game only."""
    return agent if isinstance(agent, (Guard, PlannerAgent, GTPAgent, RandomAgent)) else Guard(agent)


def label(player: Player) -> str:
    """Returns the text of a player in tables and records: its own, a reference to a function, or an object's name."""
    if isinstance(player, str):
        return player
    name = getattr(player, "name", None) or getattr(player, "__name__", None)
    return _reference_to(player) or (name if isinstance(name, str) else type(player).__name__)


def _reference_to(player: Player) -> str | None:
    """Returns the reference `package.module:name` by which a function can be imported again, or None."""
    module, name = getattr(player, "__module__", None), getattr(player, "__qualname__", None)
    found = getattr(sys.modules.get(module or ""), name or "", None)
    return f"{module}:{name}" if chooses_moves(player) and module != "__main__" and found is player else None


def canonical_player(player: Player, budget: Mapping[str, Any]) -> str:
    """Returns one text for all texts that name the same player with its budget. That of a file has the file's digest.

    Raises TypeError for an object that no text can make again.
    """
    text = player if isinstance(player, str) else _reference_to(player)
    if text is None:
        raise TypeError(
            f"a match of {shown(player)} cannot be stored: write the planner as text, such as 'uct(c=0.3)', or a function as "
            "'package.module:name'"
        )
    name, written = parse(text)
    if name in AGENTS:
        known = parameters_of(AGENTS[name])
        if "digest" in known and isinstance(written["path"], str):
            written["digest"] = written.get("digest") or digest_of(written["path"])
        if "timeout" in written and written["timeout"] is not None:
            written["timeout"] = float(written["timeout"])
        return write(name, written, known)
    if ":" in name and chooses_moves(function := maker_of(name), (divided := _divided(function, written))[0]):
        return write(name, divided[0], parameters_of(function), {} if divided[1] is None else {"timeout": divided[1]})
    return canonical(text, **budget)


def refuse_unpicklable(player: Player) -> None:
    """Raises ValueError with one sentence for an object that cannot be sent to another process."""
    home = sys.modules.get("__main__")
    try:
        pickle.dumps(player)
        if getattr(player, "__module__", "") == "__main__" and not isinstance(player, str) and not hasattr(home, "__file__"):
            raise ValueError("it is defined where no other process can import it")
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(
            f"{label(player)} plays in this process only ({reason}): take jobs=1, threads, or a text that makes it"
        ) from error


def seed_of(seed: int, number: int, side: int) -> int:
    """Returns the seed of an agent in a game, given that of all games, the game's number and the agent's side."""
    return int(np.random.SeedSequence((seed, number, side)).generate_state(1, np.uint64)[0])


def budget_of(playouts: int | None, seconds: float | None) -> dict[str, Any]:
    """Returns the part of a budget that is given."""
    given = {"playouts": playouts, "seconds": checked_seconds(seconds)}
    return {name: value for name, value in given.items() if value is not None}


class PlannerAgent:
    """A planner as an agent. `budget` applies to its searches if the planner has none."""

    def __init__(self, planner: Planner, budget: Mapping[str, Any]) -> None:
        own = planner.playouts is not None or planner.seconds is not None
        self.planner, self.budget = planner, {} if own else dict(budget)
        self._stop: Stop | None = None

    def check(self, rules: Rules) -> None:
        """Raises ValueError or TypeError for a game that the planner does not search."""
        self.planner.check(rules)

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """Begins a reproducible sequence of searches."""
        self.planner.reset(seed)
        self._stop = stop

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Move:
        """Returns the move chosen by a search. Ctrl-C raises KeyboardInterrupt."""
        stop = self._stop
        progress = None if stop is None else both(self.planner.progress, lambda playouts, seconds: _obey(stop))
        result = self.planner.search(state, progress=progress, **self.budget)
        if result.stopped == "interrupt":
            raise KeyboardInterrupt
        return Move(result.action, result.value, result.playouts, result.cpu_seconds)

    def close(self) -> None:
        """Does nothing, since the agent holds nothing."""


class RandomAgent:
    """A player whose moves are all equally likely."""

    def begin(self, rules: Rules, seed: int, stop: Stop | None) -> None:
        """Begins a reproducible sequence of moves."""
        self._random, self._stop = random.Random(seed), stop

    def choose(self, state: State, moves: Sequence[tuple[int, int]]) -> Move:
        """Returns one of the legal moves."""
        _obey(self._stop)
        return Move(self._random.choice(state.legal_actions()))

    def close(self) -> None:
        """Does nothing, since the agent holds nothing."""


AGENTS: dict[str, Callable[..., Agent]] = {
    **{"gtp": GTPAgent, "random": RandomAgent, "spiel_bot": spiel_agent},
    **{"sb3": sb3_agent, "torch": torch_agent, "onnx": onnx_agent},
}
"""Agents by the name in their texts, which are no planners."""
