"""The speed of batches: many games stepped by one compiled call, with random legal actions."""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Iterator
from typing import Any

from ucd_envs import registry
from ucd_envs.envs.batch import BatchEnv
from ucd_planners.benchmarks.speed import find_peer, rate

GAMES = 1024
STEPS = 50
"""Steps of all games between two looks at the clock."""
ROUNDS = 5
"""Pairs of measurements, with one thread and with several, of which the median counts."""
PGX = {
    "connect_four_v0": "connect_four",
    "go_v0": "go_9x9",
    "hex_v0": "hex",
    "othello_v0": "othello",
    "tic_tac_toe_v0": "tic_tac_toe",
    "twenty_forty_eight_v0": "2048",
}
"""Games that pgx has too, in its defaults, and their names there. Its Hex has the swap rule."""


def batch_rows(against: str | None = None, threads: int | None = None) -> Iterator[dict[str, Any]]:
    """Yields a row for each game: game, config, games at once, and plies_per_s: plies of all games per second of user time.

    One thread plays random legal actions that `sample_actions` draws; observations, masks, draws and new games are counted.
    threads: another number of threads, whose plies by the clock are `scaling` times those of one. With the peer "pgx" also its
    plies per second of user time, None for games that it does not have. Raises ImportError where the peer is not installed.
    """
    for name in registry.available():
        rules = registry.make_rules(name)
        env = BatchEnv(rules, GAMES, threads=1, copy=False)
        env.reset(seed=1)
        row: dict[str, Any] = {"game": name, "config": dict(rules.settings), "games": GAMES}
        row["plies_per_s"] = round(rate(lambda env=env: played(env)))  # type: ignore[misc]
        if threads is not None:
            several = BatchEnv(rules, GAMES, threads=threads, copy=False)
            several.reset(seed=1)
            row |= {"threads": threads, "scaling": round(scaling(env, several), 2)}
            several.close()
        if against is not None:
            theirs = round(pgx_rate(PGX[name])) if name in PGX else None
            row |= {"peer": against, "peer_plies_per_s": theirs}
            row["ratio"] = None if theirs is None else round(row["plies_per_s"] / theirs, 2)
        yield row


def played(env: BatchEnv) -> int:
    """Plays random actions in all games. Returns the number of plies."""
    for _ in range(STEPS):
        env.step(env.sample_actions())
    return STEPS * env.num_envs


def scaling(one: BatchEnv, several: BatchEnv) -> float:
    """Returns how many times as fast as one batch another is, by the clock: the median of measurements in turn."""
    found = []
    played(several)  # starts its threads
    for _ in range(ROUNDS):
        seconds = []
        for env in (one, several):
            began = time.perf_counter()
            played(env)
            seconds.append(time.perf_counter() - began)
        found.append(seconds[0] / seconds[1])
    return statistics.median(found)


def pgx_rate(name: str) -> float:
    """Returns plies a second of user time of pgx with as many games, compiled as one loop with its automatic reset.

    The loop draws random legal actions, and its states hold observations and masks. Raises ImportError where pgx is not
    installed.
    """
    env: Any = find_peer("pgx").make(name)
    jax: Any = importlib.import_module("jax")
    reset: Any = importlib.import_module("pgx.experimental.wrappers")
    step = jax.vmap(reset.auto_reset(env.step, env.init))

    def one(carry: Any, _: Any) -> Any:
        state, key = carry
        key, drawing, stepping = jax.random.split(key, 3)
        actions = jax.random.categorical(drawing, jax.numpy.log(state.legal_action_mask.astype(float)), axis=-1)
        return (step(state, actions, jax.random.split(stepping, GAMES)), key), None

    loop = jax.jit(lambda carry: jax.lax.scan(one, carry, None, length=STEPS)[0])
    key = jax.random.PRNGKey(1)
    carry = jax.jit(jax.vmap(env.init))(jax.random.split(key, GAMES)), key

    def run() -> int:
        nonlocal carry
        carry = jax.block_until_ready(loop(carry))
        return STEPS * GAMES

    return rate(run)
