"""Nim, a game of one's own in one file: its rules as compiled kernels, then an environment and a planner that play it.

Board    heaps of counters.
Players  two, who take turns.
Turn     any number of counters, at least one, from one heap.
End      when no counter is left; whoever took the last one has won.
Moves    heap * most + (number - 1), `most` being the size of the largest heap; written heap:number, "2:3".
Source   Bouton, Nim, a game with a complete mathematical theory, 1901: the mover loses just when the exclusive or of the
         heaps is 0.

The order of moves does not matter, so many lead to one position, and UCD shares what it learns about it.
"""

from functools import lru_cache, reduce
from operator import xor

import numpy as np

import ucd_envs
import ucd_planners
from ucd_envs.kernels import (
    IS_LEGAL,
    KEY,
    LEGAL_ACTIONS,
    OBSERVE,
    PLAY,
    PLAYOUT,
    PLAYOUT_ACTION,
    READ_PAYOFFS,
    RESET,
    kernel,
    most_moves,
    move_of,
)
from ucd_envs.rng import below
from ucd_envs.rules import Kernels, Rules
from ucd_envs.structs import configuration, fields, record

MOST_HEAPS = 8
CONFIG = record(("heaps", np.int64), ("most", np.int64), ("start", np.int64, (MOST_HEAPS,)))
STATE = record(("player", np.int32), ("ply", np.int32), ("counters", np.uint8, (MOST_HEAPS,)))
"""The first two fields are those of every game: the player to move, -1 when the game is over, and the moves played."""


@kernel(RESET)
def reset(config, state):
    """All counters are there."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    s.player = 0
    s.ply = 0
    for heap in range(MOST_HEAPS):
        s.counters[heap] = c.start[heap]


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """From each heap any number that it has."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    count = 0
    for heap in range(c.heaps):
        for number in range(s.counters[heap]):
            actions[count] = heap * c.most + number
            count += 1
    return count


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Whether the heap has so many."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    return 0 <= action < c.heaps * c.most and action % c.most < s.counters[action // c.most]


@kernel(PLAY)
def play(config, state, action):
    """Takes the counters; the game is over when none is left."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    s.counters[action // c.most] -= action % c.most + 1
    s.ply += 1
    s.player = 1 - s.player
    left = 0
    for heap in range(c.heaps):
        left += s.counters[heap]
    if left == 0:
        s.player = -1


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """1 for whoever made the last move."""
    last = (fields(state, STATE).ply - 1) % 2
    out[last] = 1.0
    out[1 - last] = 0.0


@kernel(KEY)
def key(config, state, words):
    """The heaps, a byte each, and the ply, which tells the mover too."""
    s = fields(state, STATE)
    words[0] = np.uint64(s.ply)
    words[1] = 0
    for heap in range(MOST_HEAPS):
        words[1] = (words[1] << np.uint64(8)) | np.uint64(s.counters[heap])


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Random moves."""
    s = fields(state, STATE)
    played, most = 0, most_moves(trace)
    while s.player >= 0 and played < most:
        action = playout_action(config, state, rng)
        if trace.size > 0:
            trace[played] = move_of(s.player, action)
        play(config, state, action)
        played += 1
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Each legal move with the same probability: of all counters one, which tells heap and number."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    left = 0
    for heap in range(c.heaps):
        left += s.counters[heap]
    rank = np.int64(below(rng, np.uint64(left)))
    for heap in range(c.heaps):
        if rank < s.counters[heap]:
            return heap * c.most + rank
        rank -= s.counters[heap]
    return np.int64(-1)


@kernel(OBSERVE)
def observe(config, state, player, planes):
    """A row a heap, with 1 for counters that are there; they belong to both players, so the two planes are the same."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    for heap in range(c.heaps):
        for number in range(c.most):
            for plane in range(2):
                planes[2 * (heap * c.most + number) + plane] = number < s.counters[heap]


@lru_cache(maxsize=None, typed=True)
def rules(heaps: str = "1,3,5,7") -> Rules:
    """Nim with heaps of these sizes, 1 to 8 of them with 1 to 255 counters. Raises ValueError for others."""
    sizes = [int(size) for size in heaps.split(",")]
    if not 1 <= len(sizes) <= MOST_HEAPS or not all(1 <= size <= 255 for size in sizes):
        raise ValueError(f"heaps must be 1 to {MOST_HEAPS} sizes from 1 to 255, such as 1,3,5,7, not {heaps!r}")
    most = max(sizes)

    def action_named(text: str) -> int:
        heap, _, number = text.partition(":")
        if not (heap.isdecimal() and number.isdecimal() and 1 <= int(heap) <= len(sizes) and 1 <= int(number) <= most):
            raise ValueError(f"{text!r} is no move: expected heap:number, such as 2:3")
        return (int(heap) - 1) * most + int(number) - 1

    return Rules(
        name="nim_v0",
        settings={"heaps": heaps},
        players=2,
        actions=len(sizes) * most,
        max_plies=sum(sizes),
        config=configuration(CONFIG, heaps=len(sizes), most=most, start=sizes + [0] * (MOST_HEAPS - len(sizes))),
        state_bytes=STATE.itemsize,
        key_words=2,
        planes=(len(sizes), most, 2),
        tiling="square",
        kernels=Kernels(reset, legal_actions, is_legal, play, payoffs, key, playout, playout_action, observe),
        action_name=lambda action: f"{action // most + 1}:{action % most + 1}",
        action_named=action_named,
    )


if __name__ == "__main__":
    ucd_envs.register("nim_v0", rules)
    env = ucd_envs.make("nim_v0", heaps="3,4,5")
    planner = ucd_planners.ucd(d1=1, d2=0, d3=1, c=0.5, playouts=5000, seed=1)
    env.reset()
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        if terminated or truncated:
            print(f"{agent} gets {reward:+.0f}")
            env.step(None)
            continue
        result = planner.search(env)
        heaps = observation["observation"][:, :, 0].sum(axis=1).tolist()
        print(f"heaps {heaps}, exclusive or {reduce(xor, heaps)}: {agent} takes {result.names(result.action)}", end=" ")
        print(f"(value {result.value:.2f}, {result.transpositions} transpositions)")
        env.step(result.action)
