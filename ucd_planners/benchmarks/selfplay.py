"""The speed of self-play: samples per second on one core, beside a loop of steps and searches in Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ucd_envs import registry
from ucd_envs.envs.aec import environment
from ucd_envs.rules import Rules
from ucd_planners.benchmarks.speed import Case, rate, ucd_text
from ucd_planners.planner import Planner
from ucd_planners.selfplay import SelfPlay

PLAYOUTS, GAMES = 200, 64
"""Playouts of a search, and games side by side."""
PLANNERS = ("uct(c=0.3)", ucd_text("1,0,1"))


def cases() -> list[Case]:
    """Returns the standard cases."""
    games: list[tuple[str, dict[str, Any]]] = [("connect_four_v0", {}), ("hex_v0", {"size": 7}), ("tic_tac_toe_v0", {})]
    return [Case(game, planner, PLAYOUTS, settings) for game, settings in games for planner in PLANNERS]


def selfplay_rows(cases: Iterable[Case]) -> Iterator[dict[str, Any]]:
    """Yields the row of each case: game, config, planner, playouts, samples_per_s, loop_per_s and their ratio.

    Both are samples per second of user time: a position seen, searched and played on, with its observation, mask and policy.
    loop_per_s is that of an environment and `planner.search`, move by move; both draw the moves of the first 30 plies.
    """
    for case in cases:
        rules = registry.make_rules(case.game, **case.settings)
        selfplay = SelfPlay(case.built(), rules, games=GAMES, seed=1)
        ours = rate(lambda selfplay=selfplay: sum(map(len, selfplay.play(GAMES))))  # type: ignore[misc]
        loop = loop_rate(rules, case.built())
        row = {"game": rules.name, "config": dict(rules.settings), "planner": case.planner, "playouts": case.playouts}
        yield row | {"samples_per_s": round(ours), "loop_per_s": round(loop), "ratio": round(ours / loop, 2)}


def loop_rate(rules: Rules, planner: Planner) -> float:
    """Returns samples per second of games that are played step by step."""
    env, rng = environment(rules), np.random.default_rng(1)

    def play() -> int:
        samples: list[Any] = []
        env.reset()
        while env.agents and not env.terminations[env.agent_selection]:
            seen, result, policy = env.observe(env.agent_selection), planner.search(env), np.zeros(rules.actions, np.float32)
            policy[result.actions] = result.policy
            action = rng.choice(result.actions, p=result.policy) if len(samples) < 30 else result.action
            samples.append((seen["observation"], seen["action_mask"], policy, result.value, action))
            env.step(int(action))
        return len(samples)

    return rate(play)
