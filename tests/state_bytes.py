"""Bytes that are no state, made from states of random games, and all that is done with those that are taken for one.

Run as a script it tries COUNT of them on one game and prints how many there were and how many were accepted:
`python tests/state_bytes.py GAME SETTINGS-AS-JSON SEED COUNT`.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator

import numpy as np

from ucd_envs import pictures
from ucd_envs.envs.aec import BoardEnv
from ucd_envs.kernels import OVER
from ucd_envs.registry import make_rules
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_planners import Planner, ucd

GAMES = (
    ("tic_tac_toe", {}),
    ("connect_four", {}),
    ("connect_four", {"columns": 8, "rows": 7}),
    ("leftright", {"steps": 12}),
    ("merrills", {}),
    ("merrills", {"tournament": True}),
    ("hex", {"size": 5, "swap": True}),
    ("hex", {"rows": 3, "columns": 5}),
    ("hex", {"size": 19}),
    ("havannah", {"base": 3, "swap": True}),
    ("havannah", {"base": 5}),
    ("go", {"size": 5}),
    ("go", {"size": 4, "ko": "situational", "suicide": True}),
    ("go", {"size": 9, "ko": "positional", "mercy": 20}),
    ("nogo", {"size": 5}),
    ("nogo", {"rows": 4, "columns": 3, "irrational": True}),
    ("nogo", {"size": 9, "generation": "points"}),
    ("pentago", {}),
    ("pentago", {"after_rotation": True}),
    ("quarto", {}),
    ("crisscross", {}),
    ("crisscross", {"plies": 99}),
    ("breakthrough", {"rows": 5, "columns": 4}),
    ("knightthrough", {"rows": 5, "columns": 4, "elimination": False}),
    ("pawn_whopping", {"rows": 6, "columns": 4, "corrected": True}),
)
SMALL = (-2, -1, 0, 1, 2, 3, 7, 255)


def visited(rules: Rules, choice: random.Random) -> State:
    """A state of a random game, where players may move out of turn if the game allows it."""
    state, plies = rules.initial_state(), choice.randrange(rules.max_plies + 1)
    for _ in range(plies):
        if rules.turn is not None and choice.random() < 0.1:
            state = state.turned(1 - state.player)
        after = state.after(choice.choice(state.legal_actions()))
        if after.over and choice.random() < 0.8:
            return state
        state = after
        if state.over:
            return state
    return state


def mutated(state: State, other: State, choice: random.Random) -> bytes:
    """The bytes of a state with a fault of a random kind."""
    data, layout = bytearray(state.data), state.rules.layout
    kind = choice.randrange(9)
    if kind == 0:
        place = choice.randrange(8 * len(data))
        data[place // 8] ^= 1 << place % 8
    elif kind == 1:
        for _ in range(choice.randrange(2, 9)):
            data[choice.randrange(len(data))] = choice.randrange(256)
    elif kind == 2:
        first = choice.randrange(len(data))
        last = choice.randrange(first, len(data)) + 1
        data[first:last] = choice.randbytes(last - first)
    elif kind == 3:
        data = bytearray(choice.randbytes(choice.choice((0, 1, 7, len(data) - 1, len(data) + 1, 2 * len(data)))))
    elif kind == 4:
        cut = choice.randrange(len(data))
        data[cut:] = other.data[cut:]
    else:
        # One entry of one field: a small number, another entry, another state's, or the mover.
        s, t = (np.frombuffer(vector, np.uint8)[: layout.itemsize].view(layout)[0] for vector in (data, bytearray(other.data)))
        name = "player" if kind == 8 else choice.choice(layout.names or ())
        if kind == 5 and s[name].size > 1:
            flat, (i, j) = s[name].reshape(-1), choice.choices(range(s[name].size), k=2)
            flat[i], flat[j] = flat[j], flat[i]
        elif kind == 6:
            s[name] = t[name]
        elif s[name].size > 1:
            s[name].reshape(-1)[choice.randrange(s[name].size)] = np.int64(choice.choice(SMALL)).astype(s[name].dtype)
        else:
            s[name] = np.int64(choice.choice(SMALL)).astype(s[name].dtype)
    return bytes(data)


def mutants(rules: Rules, seed: int, count: int) -> Iterator[tuple[State, bytes]]:
    """As many mutated states, each with the state that it was made of."""
    choice = random.Random(f"{rules} {seed}")
    for _ in range(count):
        state = visited(rules, choice)
        yield state, mutated(state, visited(rules, choice), choice)


def accepted(rules: Rules, data: bytes) -> State | None:
    """The state in these bytes, None where they are refused; any other exception is a fault."""
    try:
        return State(rules, data)
    except ValueError:
        return None


def played_out(rules: Rules, seed: int, count: int) -> Iterator[State]:
    """The ends of games from mutated states that are accepted, move by move; each state on the way is accepted too, and a
    playout ends as well.
    """
    choice, used = random.Random(seed), 0
    for state, data in mutants(rules, seed, count):
        assert accepted(rules, state.data) is not None
        after = accepted(rules, data)
        if after is None or data == state.data:
            continue
        used += 1
        whole = after.array()
        if not after.over:
            rules.kernels.playout(rules.config, whole, seeded(used), np.empty(0, np.int32))
            assert State(rules, whole.tobytes()).player == OVER
        while not after.over:
            after = after.after(choice.choice(after.legal_actions()))
            State(rules, after.data)
        yield after


def use(state: State, planner: Planner, env: BoardEnv, seed: int) -> None:
    """Does with a state all that a user may, and raises where that does not end well."""
    rules, choice = state.rules, random.Random(seed)
    kernels, config = rules.kernels, rules.config
    env.restore_state(state)
    for agent in env.possible_agents:
        assert set(np.unique(env.observe(agent)["observation"])) <= {0, 1}
    assert len(state.key) == 8 * rules.key_words + 8
    assert pictures.text(state)
    assert pictures.svg(state)
    if rules.victory is not None:
        rules.victory(state)
    if rules.score is not None:
        rules.score(state)
    legal = state.legal_actions()
    assert bool(legal) != state.over
    if state.over:
        assert all(0 <= payoff <= 1 for payoff in state.payoffs())
        return
    actions = np.empty(rules.actions, np.int32)
    assert set(actions[: kernels.playout_actions(config, state.array(), actions)].tolist()) <= set(legal)
    for room in (0, 3, rules.max_plies):
        array, out = state.array(), np.zeros(rules.players)
        kernels.playout(config, array, seeded(seed), np.empty(room, np.int32))
        if room != 3:
            kernels.payoffs(config, array, out)
            assert out.sum() == 1 or rules.players == 1 or rules.name == "crisscross_v0"
    assert planner.search(state).action in legal
    after = state
    while not after.over:
        after = after.after(choice.choice(after.legal_actions()))
        State(rules, after.data)
    assert pictures.text(after)


def tried(rules: Rules, seed: int, count: int) -> tuple[int, int]:
    """Tries mutated states: how many there were, and how many were accepted and used."""
    planner, env, used = ucd(1, 1, 1, playouts=20, seed=seed), BoardEnv(rules), 0
    for number, (_, data) in enumerate(mutants(rules, seed, count)):
        state = accepted(rules, data)
        if state is not None:
            used += 1
            use(state, planner, env, number)
    return count, used


if __name__ == "__main__":
    name, settings, seed, count = sys.argv[1:]
    print(*tried(make_rules(name, **json.loads(settings)), int(seed), int(count)))
