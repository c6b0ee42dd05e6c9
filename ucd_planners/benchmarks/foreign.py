"""The speed of planners in third-party environments, beside a bare loop that makes the same calls.

The bare loop repeats every call of a search to the environment, one after another: restores, steps, legal actions,
positions. Only the single snapshot of the root is not repeated. The difference is the cost of the search itself: the graph,
the selection, and the way from kernels to Python and back.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import os
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from ucd_envs.foreign import Adapter, AECGame, SingleGame, SpielGame
from ucd_planners.benchmarks import openspiel
from ucd_planners.benchmarks.speed import find_peer, rate, user_seconds
from ucd_planners.notation import planner_from

PLANNERS = ("uct(c=0.3)", "ucd(d1=1,d2=0,d3=1,c=0.3)")
REPEATS = 5


@dataclass(frozen=True)
class Case:
    """An adapter of a third-party environment, and the peer that can search it."""

    name: str
    copies: str
    """Kind of copies: "pickled", "hooks" or "clones"."""
    playouts: int
    make: Callable[[], Any]
    peer: str


def connect_four(hooks: bool) -> AECGame:
    """Returns PettingZoo's Connect Four at its start, copied by pickling or by functions written for it."""
    from pettingzoo.classic.connect_four import connect_four as classic

    env = classic.raw_env()
    env.reset(seed=0)
    options: dict[str, Any] = {"position": lambda env: (bytes(env.board), env.agent_selection)}
    if hooks:
        options |= {"clone_state": _clone_connect_four, "restore_state": _restore_connect_four}
    return AECGame(env, **options)


def _clone_connect_four(env: Any) -> Any:
    selector = env._agent_selector
    turn = env.agent_selection, selector.selected_agent, selector._current_agent
    return bytes(env.board), env.agents[:], turn, dict(env.rewards), dict(env._cumulative_rewards), dict(env.terminations)


def _restore_connect_four(env: Any, state: Any) -> None:
    board, agents, turn, rewards, cumulative, terminations = state
    env.board, env.agents, selector = list(board), agents[:], env._agent_selector
    selector.agent_order = env.agents  # one list, as after a reset
    env.agent_selection, selector.selected_agent, selector._current_agent = turn
    env.rewards, env._cumulative_rewards, env.terminations = dict(rewards), dict(cumulative), dict(terminations)
    env.truncations = dict.fromkeys(agents, False)
    env.infos = {agent: {} for agent in agents}


def _twin_connect_four(env: Any) -> Any:
    other = object.__new__(type(env))
    other.__dict__.update(env.__dict__)
    other._agent_selector = copy.copy(env._agent_selector)
    _restore_connect_four(other, _clone_connect_four(env))
    return other


def frozen_lake(hooks: bool) -> SingleGame:
    """Returns Gymnasium's FrozenLake 4x4 without slipping at its start, copied by pickling or by functions written for it."""
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    env.reset(seed=0)
    options: dict[str, Any] = {"position": lambda env: int(env.s)}
    if hooks:
        options |= {"clone_state": lambda env: env.s, "restore_state": lambda env, state: setattr(env, "s", state)}
    else:
        options |= {"constant": ("P", "desc", "initial_state_distrib")}
    return SingleGame(env, **options)


def cases() -> list[Case]:
    """Returns the measured environments."""
    return [
        Case("pettingzoo connect_four_v3", "pickled", 1000, lambda: connect_four(False), "mcts-simple"),
        Case("pettingzoo connect_four_v3", "hooks", 1000, lambda: connect_four(True), "mcts-simple"),
        Case("gymnasium FrozenLake-v1", "pickled", 5000, lambda: frozen_lake(False), "gymcts"),
        Case("gymnasium FrozenLake-v1", "hooks", 5000, lambda: frozen_lake(True), "gymcts"),
        Case("openspiel tic_tac_toe", "clones", 5000, lambda: openspiel.spiel_game("tic_tac_toe"), "mcts of tic_tac_toe"),
        Case("openspiel connect_four", "clones", 5000, lambda: openspiel.spiel_game("connect_four"), "mcts of connect_four"),
    ]


def foreign_rows(peers: bool = False) -> Iterator[dict[str, Any]]:
    """Returns a row for every case and planner: playouts a second, those of the bare loop, and the search's extra cost over
    it in percent. With `peers`, also the playouts a second of another program in the same environment.

    Raises ImportError where a peer, PettingZoo's classic games or OpenSpiel are not installed.
    """
    for case in cases():
        game = case.make()
        theirs = peer_rate(case.peer) if peers else None
        for text in PLANNERS:
            ours, bare, cost = beside_bare_loop(game, text, case.playouts)
            row = {"game": case.name, "config": {}, "copies": case.copies, "planner": text, "playouts": case.playouts}
            row |= {"playouts_per_s": round(ours), "bare_per_s": round(bare), "cost_percent": round(cost, 1)}
            if theirs is not None:
                row |= {"peer": case.peer, "peer_playouts_per_s": round(theirs), "ratio": round(ours / theirs, 2)}
            yield row


def beside_bare_loop(game: Adapter | SpielGame, text: str, playouts: int) -> tuple[float, float, float]:
    """Returns playouts a second of a search, those of the bare loop with the same calls, and the search's median extra cost
    over the loop in percent. Both are measured in turn.

    Raises KeyboardInterrupt on Ctrl-C.
    """
    planner = planner_from(text, playouts=playouts, seed=1)
    planner.act(game)
    planner.reset(1)
    recording: Any = recorded(game) if isinstance(game, Adapter) else openspiel.recorded(game)
    with recording as calls:
        planner.act(game)
    searches, loops = [], []
    for _ in range(REPEATS):
        planner.reset(1)
        began = user_seconds()
        planner.act(game)
        between = user_seconds()
        replay(game, calls) if isinstance(game, Adapter) else openspiel.replay(game, calls)
        searches.append(between - began)
        loops.append(user_seconds() - between)
    cost = statistics.median(100 * (search / loop - 1) for search, loop in zip(searches, loops, strict=True))
    return playouts / statistics.median(searches), playouts / statistics.median(loops), cost


RESTORE, STEP, ACTIONS, POSITION = range(4)


@contextlib.contextmanager
def recorded(game: Adapter) -> Iterator[list[tuple[int, Any]]]:
    """Records the calls made to a game's environment: the kind of each, and a step's action (else None)."""
    calls: list[tuple[int, Any]] = []
    live, kind = game.live, type(game.live)
    before = game._restore_state, game._actions_of, game._position, game._told

    def noting(what: int, function: Callable[..., Any]) -> Callable[..., Any]:
        def noted(env: Any, *arguments: Any) -> Any:
            calls.append((what, arguments[0] if what == STEP else None))
            return function(env, *arguments)

        return noted

    game._restore_state, game._actions_of = noting(RESTORE, before[0]), noting(ACTIONS, before[1])
    game._position = noting(POSITION, before[2])
    # Outcomes are kept apart by the user's position, where there is one.
    game._told = game._position if before[3] is before[2] else before[3]
    # A copy is restored by its attributes, which would take away a step of its own: so it is of another class for a while.
    live.__class__ = type(kind.__name__, (kind,), {"step": noting(STEP, kind.step)})
    try:
        yield calls
    finally:
        game._restore_state, game._actions_of, game._position, game._told = before
        live.__class__ = kind


def replay(game: Adapter, calls: list[tuple[int, Any]]) -> None:
    """Makes the same calls again."""
    env, snapshot = game.live, game.snapshot
    restore, actions_of, position = game._restore_state, game._actions_of, game._position
    for what, action in calls:
        if what == STEP:
            env.step(action)
        elif what == ACTIONS:
            actions_of(env)
        elif what == POSITION:
            position(env)
        else:
            restore(env, snapshot)


def peer_rate(name: str) -> float:
    """Returns playouts a second of another program in the same environment."""
    program, _, game = name.partition(" of ")
    if program == "mcts":
        return openspiel.python_mcts_rate(game)
    module = find_peer(name)
    with open(os.devnull, "w") as nothing, contextlib.redirect_stderr(nothing), contextlib.redirect_stdout(nothing):
        return _gymcts_rate() if name == "gymcts" else _mcts_simple_rate(module)


def _gymcts_rate() -> float:
    """Returns the rate of gymcts with its deep-copying wrapper, on FrozenLake."""
    wrappers: Any = importlib.import_module("gymcts.gymcts_deepcopy_wrapper")
    agents: Any = importlib.import_module("gymcts.gymcts_agent")
    playouts = 200
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    env.reset(seed=0)
    wrapped = wrappers.DeepCopyMCTSGymEnvWrapper(env)
    wrapped.reset(seed=0)

    def run() -> int:
        agents.GymctsAgent(env=copy.deepcopy(wrapped)).vanilla_mcts_search(num_simulations=playouts)
        return playouts

    return rate(run)


def _mcts_simple_rate(module: Any) -> float:
    """Returns the rate of mcts-simple's UCT on PettingZoo's Connect Four, copied by the functions written for it."""
    playouts = 200

    class Four(module.Game):
        """The interface that mcts-simple requires."""

        def __init__(self, env: Any) -> None:
            self.env = env

        def __deepcopy__(self, memo: Any) -> Any:
            return Four(_twin_connect_four(self.env))

        def get_state(self) -> Any:
            return bytes(self.env.board)

        def number_of_players(self) -> int:
            return 2

        def current_player(self) -> int:
            return int(self.env.agents.index(self.env.agent_selection)) if self.env.agents else 0

        def possible_actions(self) -> list[int]:
            actions: list[int] = np.flatnonzero(self.env.observe(self.env.agent_selection)["action_mask"]).tolist()
            return actions

        def take_action(self, action: int) -> None:
            self.env.step(action)

        def has_outcome(self) -> bool:
            return any(self.env.terminations.values())

        def winner(self) -> list[int]:
            return [seat for seat, reward in enumerate(self.env.rewards.values()) if reward >= 0]

    start = Four(connect_four(True).env)

    def run() -> int:
        module.UCT(start, seed=1).self_play(iterations=playouts)
        return playouts

    return rate(run)
