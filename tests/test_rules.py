"""The identities of ucd_envs/rules.py, for every registered game in every configuration that it lists."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import types
from scipy.stats import chi2_contingency, chisquare

import ucd_envs
from ucd_envs import defaults, registry
from ucd_envs.kernels import (
    ACTIONS,
    BYTES,
    CHANCE,
    DRAW,
    HEADER,
    IS_LEGAL,
    LEGAL_ACTIONS,
    OVER,
    PLAY,
    PLAYOUT,
    PLAYOUT_ACTION,
    READ_PAYOFFS,
    RESET,
    RNG,
    compiled,
    kernel,
)
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_envs.structs import fields

STATES = 3000
"""At least so many states of random games are looked at in every configuration."""
REACHABLE, SMALL = 3000, 25
"""Number of states that are enumerated, breadth first, in games with at most SMALL actions: all states of the small ones. A
third of it in the others, where it still ends at the second or third move."""
SEEN_IN_FULL = {
    *("breakthrough_v0", "capture_the_king_v0", "connect_four_v0", "crisscross_v0", "go_v0", "havannah_v0", "hex_v0"),
    *("knightthrough_v0", "leftright_v0", "merrills_v0", "nogo_v0", "othello_v0", "pawn_whopping_v0", "pentago_v0"),
    *("quarto_v0", "tic_tac_toe_v0"),
}
"""Games whose whole position can be read off observations, mover, ply and legal actions."""
CONFIGURATIONS = [(name, settings) for name in registry.available() for settings in registry.examples(name)]
CONFIGURATIONS += [("write_a_game:rules", {"rows": rows, "columns": columns}) for rows, columns in ((2, 2), (3, 4), (8, 8))]
"""With a game of five kernels by its reference, that of the examples."""
GARBAGE = 0xA5
NO_TRACE = np.empty(0, np.int32)


class Game(NamedTuple):
    """A finished game: `states[i + 1]` is what `actions[i]` makes of `states[i]`."""

    states: list[State]
    actions: list[int]


@pytest.fixture(
    params=CONFIGURATIONS,
    ids=lambda pair: "-".join([pair[0], *(f"{key}={value}" for key, value in pair[1].items())]).replace(" ", ""),
)
def rules(request: pytest.FixtureRequest) -> Rules:
    """The rules of one configuration."""
    name, settings = request.param
    return registry.make_rules(name, **settings)


@cache
def games(rules: Rules) -> list[Game]:
    """Seeded random games with at least STATES states together."""
    choice, played, states = random.Random(str(rules)), [], 0
    while states < STATES:
        game = Game([rules.initial_state()], [])
        while not game.states[-1].over:
            game.actions.append(choice.choice(game.states[-1].legal_actions()))
            game.states.append(game.states[-1].after(game.actions[-1]))
        played.append(game)
        states += len(game.states)
    return played


def states(rules: Rules) -> Iterator[State]:
    """All states of these games."""
    return (state for game in games(rules) for state in game.states)


def samples(rules: Rules) -> list[State]:
    """The start, the middle and almost the end of a game."""
    longest = max(games(rules), key=lambda game: len(game.actions))
    return [longest.states[0], longest.states[len(longest.actions) // 2], longest.states[max(0, len(longest.actions) - 4)]]


@cache
def reachable(rules: Rules) -> list[State]:
    """The first states that differ in their record, breadth first."""
    most = REACHABLE if rules.actions <= SMALL else REACHABLE // 3
    found = {rules.initial_state().data: rules.initial_state()}
    queue = list(found.values())
    for state in queue:
        for action in state.legal_actions():
            if len(queue) == most:
                return queue
            child = state.after(action)
            if child.data not in found:
                found[child.data] = child
                queue.append(child)
    return queue


def observation(state: State, player: int) -> np.ndarray:
    """What a player sees: [rows, columns, planes] int8, filled with garbage before."""
    planes = np.full(state.rules.planes, -7, np.int8)
    state.rules.kernels.observe(state.rules.config, state.array(), player, planes.reshape(-1))
    return planes


def seen(state: State) -> tuple[Any, ...]:
    """All that can be seen of a state from outside."""
    views = tuple(observation(state, player).tobytes() for player in range(state.rules.players))
    return (state.player, state.ply, tuple(state.legal_actions()), views)


def guarded(size: int, dtype: type, fill: int) -> tuple[np.ndarray, Callable[[], bool]]:
    """An array with eight entries of garbage behind it, and whether those are still as they were."""
    whole = np.full(size + 8, fill, dtype)
    return whole[:size], lambda: bool((whole[size:] == fill).all())


# Moves


@pytest.mark.sweep(2)
def test_no_identity_is_broken(rules: Rules) -> None:
    """F2-04, B041, B062, B097: the public check finds nothing in hundreds of states of random games and thirty playouts.

    In ten playouts where they may have thousands of moves.
    """
    assert ucd_envs.check(rules, states=200, playouts=30 if rules.max_plies < 2000 else 10, seed=1).faults == ()


def test_reset_sets_every_field(rules: Rules) -> None:
    """A reset on garbage gives the fields of a reset on zeros; only padding between fields may keep its bytes."""
    layout = sys.modules[rules.kernels.reset.py_func.__module__].STATE
    fresh, reused = rules.initial_state().array(), np.full(rules.state_bytes, GARBAGE, np.uint8)
    rules.kernels.reset(rules.config, reused)
    for name in layout.names:
        assert (fields(fresh, layout)[name] == fields(reused, layout)[name]).all(), name
    assert (fresh[layout.itemsize :] == reused[layout.itemsize :]).all()


@pytest.mark.sweep(2)
def test_a_reused_state_plays_like_a_fresh_one(rules: Rules) -> None:
    """A game on a state that held garbage before its reset looks the same at every ply."""
    array = np.full(rules.state_bytes, GARBAGE, np.uint8)
    rules.kernels.reset(rules.config, array)
    game = games(rules)[0]
    for state, action in zip(game.states, [*game.actions, None], strict=True):
        reused = State(rules, array.tobytes())
        assert (reused, seen(reused)) == (state, seen(state))
        if action is not None:
            rules.kernels.play(rules.config, array, action)


# Positions


def test_equal_positions_have_equal_futures(rules: Rules) -> None:
    """States with equal words look the same, have the same payoffs and lead to equal positions by every action."""
    known: dict[bytes, State] = {}
    for state in states(rules):
        other = known.setdefault(state.key, state)
        if other.data != state.data:
            assert seen(other) == seen(state)
            assert not state.over or other.payoffs() == state.payoffs()
            for action in state.legal_actions():
                assert other.after(action).key == state.after(action).key


def test_moves_in_another_order_lead_to_an_equal_position_or_to_one_that_looks_different(rules: Rules) -> None:
    """Of two orders of the same moves, the words are equal when all that can be seen is, and only then."""
    choice = random.Random(str(rules))
    for game in games(rules):
        for _ in range(4):
            at = choice.randrange(len(game.actions))
            moves = game.actions[at : at + choice.randint(2, 4)]
            state = game.states[at]
            for action in choice.sample(moves, len(moves)):
                if action not in state.legal_actions():
                    break
                state = state.after(action)
            else:
                other = game.states[at + len(moves)]
                same = seen(state) == seen(other)
                assert same or state.key != other.key
                assert not same or not is_seen_in_full(rules) or state.key == other.key


@pytest.mark.sweep(4)
def test_positions_that_look_different_have_different_words(rules: Rules) -> None:
    """B089: among reachable states, the first ones and those of random games, none that look different share words."""
    looks: dict[bytes, tuple[Any, ...]] = {}
    for state in (*reachable(rules), *states(rules)):
        assert looks.setdefault(state.key, seen(state)) == seen(state)


def test_positions_that_look_the_same_have_the_same_words(rules: Rules) -> None:
    """B089: there are as many words as things to see, where nothing is hidden."""
    if is_seen_in_full(rules):
        found = reachable(rules)
        assert len({state.key for state in found}) == len({seen(state) for state in found})


# Playouts


RANDOM_GAMES = types.void(
    *(types.FunctionType(signature) for signature in (PLAYOUT_ACTION, DRAW, PLAY, READ_PAYOFFS)),
    *(BYTES, BYTES, BYTES, RNG, types.float64[:, ::1], types.int64[::1]),
)


@kernel(RANDOM_GAMES)
def random_games(playout_action, draw, play, payoffs, config, start, state, rng, out, lengths):
    """Plain games of the random policy and of chance from `start`: payoffs [games, players], and their lengths [games]."""
    for game in range(len(lengths)):
        for i in range(len(state)):
            state[i] = start[i]
        lengths[game] = 0
        while fields(state, HEADER).player >= 0:
            if fields(state, HEADER).player == CHANCE:
                play(config, state, draw(config, state, rng))
            else:
                play(config, state, playout_action(config, state, rng))
            lengths[game] += 1
        payoffs(config, state, out[game])


def plain_games(state: State, number: int, rng: np.ndarray) -> list[tuple[list[float], int]]:
    """Payoffs and length of so many random games from a state, played without the game's own playout."""
    rules = state.rules
    out, lengths = np.empty((number, rules.players)), np.empty(number, np.int64)
    scratch = state.array()
    four = (rules.kernels.playout_action, rules.kernels.draw, rules.kernels.play, rules.kernels.payoffs)
    compiled(random_games, RANDOM_GAMES)(*four, rules.config, state.array(), scratch, rng, out, lengths)
    return list(zip(out.tolist(), lengths.tolist(), strict=True))


MANY_PLAYOUTS = types.boolean(
    *(types.FunctionType(signature) for signature in (PLAYOUT, READ_PAYOFFS)),
    *(BYTES, BYTES, BYTES, RNG, ACTIONS, types.float64[:, ::1], types.int64[::1], types.int64[::1]),
)


@kernel(MANY_PLAYOUTS)
def many_playouts(playout, payoffs, config, start, state, rng, trace, out, lengths, first):
    """Playouts from `start`: payoffs [playouts, players], what each returned [playouts], and the first entry of its trace."""
    for i in range(len(lengths)):
        for k in range(len(state)):
            state[k] = start[k]
        lengths[i] = playout(config, state, rng, trace)
        if fields(state, HEADER).player != OVER:
            return np.bool_(False)
        payoffs(config, state, out[i])
        first[i] = trace[0] if len(trace) > 0 else 0
    return np.bool_(True)


def playouts(state: State, number: int, rng: np.ndarray, trace: np.ndarray) -> Iterator[tuple[list[float], int, int]]:
    """Payoffs of so many playouts from a state, what each returned, and its first move, if `trace` can hold it."""
    rules = state.rules
    out, lengths, first = np.empty((number, rules.players)), np.empty(number, np.int64), np.empty(number, np.int64)
    two = (rules.kernels.playout, rules.kernels.payoffs)
    arrays = (rules.config, state.array(), state.array(), rng, trace, out, lengths, first)
    assert compiled(many_playouts, MANY_PLAYOUTS)(*two, *arrays)
    return zip(out.tolist(), lengths.tolist(), first.tolist(), strict=True)


def homogeneous(first: list[Any], second: list[Any]) -> bool:
    """Whether two samples may come from one distribution: chi-square with p > 1e-4, rare values taken together."""
    left, right = Counter(first), Counter(second)
    common = [value for value in left | right if left[value] + right[value] >= 20]
    table = [
        [counts[value] for value in common] + [sum(counts[v] for v in counts if v not in common)] for counts in (left, right)
    ]
    columns = [column for column in zip(*table, strict=True) if sum(column) > 0]
    if len(columns) == 1:
        return True
    return bool(chi2_contingency(list(zip(*columns, strict=True))).pvalue > 1e-4)


def is_seen_in_full(rules: Rules) -> bool:
    """Whether nothing of a position is hidden; superko hides its history."""
    return rules.name in SEEN_IN_FULL and rules.settings.get("ko", "simple") == "simple"


def choices(state: State) -> list[int]:
    """The actions that the game says its random policy may play, all legal."""
    kernels, actions = state.rules.kernels, np.empty(state.rules.actions, np.int32)
    array = state.array()
    count = kernels.playout_actions(state.rules.config, array, actions)
    assert array.tobytes() == state.data
    assert set(actions[:count].tolist()) <= set(state.legal_actions())
    playable = [action for action in state.legal_actions() if kernels.is_playable(state.rules.config, array, action)]
    assert array.tobytes() == state.data
    assert sorted(actions[:count].tolist()) == playable
    return playable


def uniform(counts: Counter[int], legal: list[int]) -> bool:
    """Whether actions may have been drawn uniformly from the legal ones, and no others: chi-square with p > 1e-4."""
    return set(counts) == set(legal) and (len(legal) == 1 or chisquare([counts[action] for action in legal]).pvalue > 1e-4)


every_size = pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.slow)])
"""How many times as many playouts as in every run of the tests."""


@every_size
@pytest.mark.sweep(4)
def test_playouts_without_a_trace_have_the_payoffs_of_random_games(rules: Rules, times: int) -> None:
    """Short cuts of a game change no probability: its payoffs are distributed as those of plain random games.

    At the start, in the middle and near the end of a game.
    """
    rng, number = seeded(5), times * max(1500, min(7000, 700_000 // rules.max_plies))
    for state in samples(rules):
        plain = [tuple(payoffs) for payoffs, _ in plain_games(state, number, rng)]
        quick = [tuple(payoffs) for payoffs, _, _ in playouts(state, number, rng, NO_TRACE)]
        assert homogeneous(plain, quick), state


@every_size
@pytest.mark.sweep(2)
def test_playouts_with_a_trace_have_the_payoffs_and_lengths_of_random_games(rules: Rules, times: int) -> None:
    """At the start, in the middle and near the end of a game."""
    rng, number = seeded(6), times * max(1000, min(4000, 400_000 // rules.max_plies))
    trace = np.empty(rules.max_plies, np.int32)
    for state in samples(rules):
        plain = [(*payoffs, length) for payoffs, length in plain_games(state, number, rng)]
        traced = [(*payoffs, length) for payoffs, length, _ in playouts(state, number, rng, trace)]
        assert homogeneous(plain, traced), state


def test_the_first_moves_of_playouts_are_uniform(rules: Rules) -> None:
    """Every action of the policy, all legal ones by default, begins as many playouts as the others, and every outcome as many
    as are drawn.

    At the start, in the middle and near the end of a game.
    """
    rng, trace = seeded(7), np.empty(rules.max_plies, np.int32)
    for state in samples(rules):
        legal = state.legal_actions()
        number = 20 * len(legal) + 500
        first = [move % 2**16 for _, _, move in playouts(state, number, rng, trace)]
        if state.player == CHANCE:
            assert homogeneous(first, [state.outcome(rng) for _ in range(number)]), state
        else:
            assert uniform(Counter(first), choices(state)), state


def test_a_playout_stops_when_its_trace_is_full(rules: Rules) -> None:
    """In the state that its moves lead to, from which the next one goes on, until the game is over."""
    rng, kernels = seeded(10), rules.kernels
    for state in samples(rules):
        for room in (1, 2, 3, 7, max(1, rules.max_plies - 1)):
            array, replayed = state.array(), state
            trace, is_whole = guarded(room, np.int32, GARBAGE)
            while not replayed.over:
                played = kernels.playout(rules.config, array, rng, trace)
                for move in trace[:played].tolist():
                    assert move >> 16 == replayed.player
                    replayed = replayed.after(move & 0xFFFF)
                stopped = State(rules, array.tobytes())
                assert (stopped, seen(stopped)) == (replayed, seen(replayed))
                assert played == room or replayed.over
                assert replayed.over or choices(stopped) == choices(replayed)
            assert is_whole()
            assert stopped.payoffs() == replayed.payoffs()


def test_playout_actions_are_uniform(rules: Rules) -> None:
    """Every action of the policy, all legal ones by default, is as frequent as the others.

    At the start, in the middle and near the end of a game.
    """
    rng = seeded(9)
    for state in samples(rules):
        legal, array = state.legal_actions(), state.array()
        number = 40 * len(legal) + 2000
        if state.player == CHANCE:
            continue
        counts = Counter(rules.kernels.playout_action(rules.config, array, rng) for _ in range(number))
        assert uniform(counts, choices(state)), state


def test_playouts_depend_on_the_generator_alone(rules: Rules) -> None:
    """B115: the same generator state gives the same playout, whatever NumPy's generator does."""
    records = []
    for seed in (1, 2):
        np.random.seed(seed)
        array, trace = rules.initial_state().array(), np.zeros(rules.max_plies, np.int32)
        rules.kernels.playout(rules.config, array, seeded(8), trace)
        records.append((array.tobytes(), trace.tolist()))
    assert records[0] == records[1]


# Observations


def test_the_next_players_stones_are_what_that_player_sees_as_its_own(rules: Rules) -> None:
    """B049, B103: plane 1 of a player is plane 0 of the next, on turn or not and after the end."""
    if rules.players > 1 and rules.kernels.observe is not defaults.observe:
        for state in states(rules):
            views = [observation(state, player) for player in range(rules.players)]
            for player, view in enumerate(views):
                assert (view[..., 1] == views[(player + 1) % rules.players][..., 0]).all()


# Names


def test_every_legal_action_has_a_name_of_its_own(rules: Rules) -> None:
    """Names are read back as the actions they were written for."""
    for state in samples(rules):
        legal = state.legal_actions()
        assert [state.action_named(state.action_name(action)) for action in legal] == legal


@pytest.mark.parametrize("text", ["", " ", "?", "-1", "0", "a0", "z99", "a1b", "1.0", "no such move"])
def test_a_text_that_names_no_action_is_refused_with_one_sentence(rules: Rules, text: str) -> None:
    """The message repeats the text and says what was expected. A text that is a name in one game gets a letter there."""
    state = rules.initial_state()
    text += "x" * (text in map(state.action_name, state.legal_actions()))
    with pytest.raises(ValueError, match="expected") as refusal:
        state.action_named(text)
    assert repr(text) in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_settings_make_the_same_rules_again(rules: Rules) -> None:
    """Rules.settings are arguments of the game's builder, and the rules made from them have the same identity."""
    assert registry.make_rules(rules.reference or rules.name, **rules.settings) == rules


def test_the_size_of_a_state_is_a_multiple_of_a_word(rules: Rules) -> None:
    """Rows of states in one array stay aligned to 8 bytes."""
    assert rules.state_bytes % 8 == 0


def test_rules_can_be_pickled(rules: Rules) -> None:
    """Compiled kernels do not travel, but the rules that arrive are the same."""
    arrived = pickle.loads(pickle.dumps(rules))
    assert arrived == rules
    assert str(arrived) == str(rules)


def test_a_deep_copy_of_rules_is_the_rules(rules: Rules) -> None:
    """Rules never change, so nothing is copied."""
    assert copy.deepcopy(rules) is rules


# States


@pytest.mark.parametrize("ply", [0, 1, -1])
def test_states_can_be_pickled(rules: Rules, ply: int) -> None:
    """At the start, in a game and at the end."""
    state = games(rules)[0].states[ply]
    arrived = pickle.loads(pickle.dumps(state))
    assert (arrived, arrived.data, arrived.legal_actions()) == (state, state.data, state.legal_actions())


@pytest.fixture
def corner() -> State:
    """Tic-tac-toe after a stone in the first corner."""
    return ucd_envs.make_rules("tic_tac_toe").initial_state().after(0)


def test_two_move_orders_give_equal_states_with_equal_hashes(corner: State) -> None:
    """So a State serves as the key of a dictionary."""
    first = corner.after(4).after(8)
    second = corner.rules.initial_state().after(8).after(4).after(0)
    assert first == second
    assert {first: "found"}[second] == "found"


def test_states_of_different_positions_differ(corner: State) -> None:
    """The same cells taken by other players are another position."""
    assert corner.after(4) != corner.rules.initial_state().after(4).after(0)


def test_states_of_different_games_differ() -> None:
    """Equal words of two configurations are not the same position."""
    small, large = (ucd_envs.make_rules("hex", size=size).initial_state() for size in (3, 4))
    assert small.key == large.key
    assert small != large


def test_states_of_the_same_game_made_twice_are_equal() -> None:
    """Two ways to write one configuration have the same states."""
    first = ucd_envs.make_rules("hex", size=4).initial_state()
    second = ucd_envs.make_rules("hex", rows=4, columns=4).initial_state()
    assert first == second
    assert hash(first) == hash(second)


def test_a_state_is_not_equal_to_something_else(corner: State) -> None:
    """Comparison with other types is left to them."""
    assert corner != corner.data
    assert corner != None  # noqa: E711


def test_a_move_makes_a_new_state(corner: State) -> None:
    """B083: the state that a move is made from stays as it was, with its hash and its list."""
    before = (corner.data, hash(corner), corner.key, corner.legal_actions())
    corner.after(4).after(8)
    assert (corner.data, hash(corner), corner.key, corner.legal_actions()) == before


def test_writing_into_arrays_of_a_state_does_not_change_it(corner: State) -> None:
    """B083: every array is a fresh copy that shares no memory with another."""
    first, second = corner.array(), corner.array()
    assert not np.shares_memory(first, second)
    first[:] = 0
    assert corner.array().tolist() == second.tolist()
    assert corner.data == second.tobytes()


def test_the_bytes_of_a_state_cannot_be_written(corner: State) -> None:
    """B083: a view of a state's bytes is read-only."""
    with pytest.raises(ValueError, match="read-only"):
        np.frombuffer(corner.data, np.uint8)[0] = 1


@pytest.mark.parametrize("action", [0, -1, 9, 2**31])
def test_an_illegal_move_is_refused_with_the_legal_ones(corner: State, action: int) -> None:
    """B097: a taken cell and numbers outside the actions."""
    with pytest.raises(ValueError, match=rf"action {action} is not legal here: expected one of \[1, 2, 3, 4, 5, 6, 7, 8\]"):
        corner.after(action)


def test_no_move_can_be_made_after_the_end(rules: Rules) -> None:
    """B062: every action of a finished game is refused."""
    last = games(rules)[0].states[-1]
    for action in range(rules.actions):
        with pytest.raises(ValueError, match="not legal"):
            last.after(action)


@pytest.mark.parametrize("text", ["", "nonsense", "zz99", "a1-"])
def test_a_text_that_names_no_move_is_refused_after_the_end(rules: Rules, text: str) -> None:
    """ValueError with one line, though there is no legal move left to show."""
    last = games(rules)[0].states[-1]
    with pytest.raises(ValueError, match=r"\A[^\n]+\Z"):
        last.action_named(text)


def test_payoffs_of_a_game_that_goes_on_are_refused(corner: State) -> None:
    """There is nothing to be read yet."""
    with pytest.raises(ValueError, match="this one goes on"):
        corner.payoffs()


def test_a_state_says_who_moves(corner: State) -> None:
    """The text of a state names game, ply and mover, or that it is over."""
    assert repr(corner) == "State(tic_tac_toe_v0(), ply 1, player 1 to move)"
    assert repr(corner.after(3).after(1).after(4).after(2)) == "State(tic_tac_toe_v0(), ply 5, over)"


# Kernels are compiled for one signature


@kernel(PLAY)
def legal_declared_as_a_move(config, state, action):
    """A kernel of another signature than that of its place."""


@kernel()
def legal_without_a_signature(config, state, action):
    """A private kernel."""
    return True


@kernel(LEGAL_ACTIONS)
def half_a_count(config, state, actions):
    """A kernel with a result of another type than it declares, which could be converted."""
    return 0.5


@kernel(RESET)
def reset_with_a_result(config, state):
    """A kernel with a result where none is declared."""
    return state


@kernel(IS_LEGAL)
def legal_of_two(config, state):
    """A kernel that takes fewer arguments than it declares."""
    return True


@pytest.mark.parametrize(
    ("place", "function"),
    [
        ("is_legal", legal_declared_as_a_move),
        ("is_legal", legal_without_a_signature),
        ("is_legal", legal_of_two),
        ("is_legal", lambda config, state, action: True),
        ("legal_actions", half_a_count),
        ("reset", reset_with_a_result),
    ],
)
def test_a_kernel_of_another_signature_is_refused(place: str, function: Any) -> None:
    """A declared signature of another place, none at all, or one that the function does not have: TypeError."""
    good = ucd_envs.make_rules("tic_tac_toe")
    with pytest.raises(TypeError):
        dataclasses.replace(good, kernels=good.kernels._replace(**{place: function}))


@pytest.mark.parametrize("dtype", [np.int8, np.uint64])
def test_a_kernel_refuses_arrays_of_another_type(rules: Rules, dtype: type) -> None:
    """Nothing is compiled for a call, so that a mistake shows at once."""
    with pytest.raises(TypeError, match="No matching definition"):
        rules.kernels.reset(rules.config, np.zeros(rules.state_bytes, dtype))


def test_a_setting_that_a_game_does_not_have_is_refused(rules: Rules) -> None:
    """The message lists those that it has, or says that there are none."""
    with pytest.raises(TypeError, match=r"has no setting 'colour': (expected one of|it has no settings at all)"):
        registry.make_rules(rules.reference or rules.name, colour="red")
