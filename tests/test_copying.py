"""Copies of environments that others wrote: the state is all there, nothing is shared that changes, chance is told apart."""

from __future__ import annotations

import ctypes
import functools
import io
import logging
import math
import pickle
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pygame
import pytest
from gymnasium.utils import EzPickle
from pettingzoo.classic import connect_four_v3, go_v5, tictactoe_v3

import ucd_envs
from ucd_envs.foreign.snapshots import Copier

BOARDS: dict[str, Callable[..., Any]] = {
    "our hex": lambda **options: ucd_envs.make("hex_v0", size=3, **options),
    "our connect four": lambda **options: ucd_envs.make("connect_four_v0", **options),
    "our leftright": lambda **options: ucd_envs.make("leftright_v0", steps=8, **options),
    "our tic-tac-toe": lambda **options: ucd_envs.make("tic_tac_toe_v0", **options),
    "connect_four_v3": connect_four_v3.env,
    "tictactoe_v3": tictactoe_v3.env,
    "go_v5": lambda **options: go_v5.env(board_size=5, **options),
}
SINGLES: dict[str, tuple[str, dict[str, Any]]] = {
    "FrozenLake-v1": ("FrozenLake-v1", {}),
    "CliffWalking-v1": ("CliffWalking-v1", {"is_slippery": True}),
    "Taxi-v4": ("Taxi-v4", {"is_rainy": True, "fickle_passenger": True}),
    "Blackjack-v1": ("Blackjack-v1", {}),
    "our leftright": ("ucd_envs/LeftRight-v0", {"steps": 8}),
}
every_board = pytest.mark.parametrize("make", BOARDS.values(), ids=BOARDS)
every_single = pytest.mark.parametrize(("name", "options"), SINGLES.values(), ids=SINGLES)


class Thing:
    """Anything with attributes."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)
        self.count = 0

    def add(self) -> None:
        self.count += 1


class Remade(EzPickle):
    """What pickles as its constructor's arguments, and so forgets."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.cells = [0] * size


def seen(env: Any) -> Any:
    """All that a player can see of an AEC environment."""
    raw = env.unwrapped
    observed = {agent: {key: value.tobytes() for key, value in raw.observe(agent).items()} for agent in raw.possible_agents}
    fields = (raw.agent_selection, raw.rewards, raw._cumulative_rewards, raw.terminations, raw.truncations, raw.infos)
    return observed, list(raw.agents), *(dict(field) if isinstance(field, dict) else field for field in fields)


def play_on(env: Any, plies: int, seed: int) -> list[Any]:
    """So many random legal plies, and steps with None after the end; what was to be seen after each."""
    choice, log = random.Random(seed), []
    for _ in range(plies):
        if not env.agents:
            break
        agent = env.agent_selection
        legal = np.flatnonzero(env.observe(agent)["action_mask"]).tolist()
        env.step(None if env.terminations[agent] or env.truncations[agent] else choice.choice(legal))
        log.append(seen(env))
    return log


def to_the_end(env: Any, seed: int) -> None:
    """Random legal plies until the game is over."""
    while not any(env.terminations.values()):
        play_on(env, 1, seed)
        seed += 1


@every_board
@pytest.mark.parametrize("plies", [0, 1, 5])
def test_a_copy_of_a_board_game_keeps_its_state(make: Callable[..., Any], plies: int) -> None:
    """B098: copies of EzPickle environments were fresh, not even reset. Twenty identical random plies on both."""
    env, copier = make(), Copier("copied")
    env.reset(seed=1)
    play_on(env, plies, 5)
    twin, before = copier.twin(env.unwrapped), seen(env)
    assert seen(twin) == before
    log = play_on(twin, 20, 9)
    assert seen(env) == before
    assert play_on(env.unwrapped, 20, 9) == log
    assert log


@every_board
def test_a_copy_of_a_finished_board_game_keeps_its_state(make: Callable[..., Any]) -> None:
    """B098, B104: the end, and the steps with None."""
    env, copier = make(), Copier("copied")
    env.reset(seed=1)
    to_the_end(env.unwrapped, 3)
    twin = copier.twin(env.unwrapped)
    assert seen(twin) == seen(env)
    assert any(twin.terminations.values())
    log = play_on(twin, 5, 0)
    assert len(log) == len(env.possible_agents) == len(env.agents)
    assert twin.agents == []
    assert play_on(env.unwrapped, 5, 0) == log


@every_board
def test_a_restored_copy_stands_where_the_snapshot_was_taken(make: Callable[..., Any]) -> None:
    """From the end of a game back to its start, and the other way."""
    env, copier = make(), Copier("copied")
    env.reset(seed=1)
    twin = copier.twin(env.unwrapped)
    start, first = copier.snapshot(env.unwrapped), seen(env)
    to_the_end(env.unwrapped, 3)
    end, last = copier.snapshot(env.unwrapped), seen(env)
    for _ in range(2):
        copier.restore(twin, end)
        assert seen(twin) == last
        copier.restore(twin, start)
        assert seen(twin) == first
        play_on(twin, 3, 0)


@pytest.mark.parametrize("make", [connect_four_v3.env, tictactoe_v3.env, BOARDS["our hex"]], ids=["connect 4", "ttt", "hex"])
def test_an_environment_that_has_drawn_a_picture_is_copied(make: Callable[..., Any]) -> None:
    """B098, B110: surfaces cannot be pickled; the copy has the state and the original still draws."""
    env = make(render_mode="rgb_array")
    env.reset(seed=1)
    play_on(env, 3, 5)
    picture = env.render()
    twin = Copier("copied").twin(env.unwrapped)
    assert seen(twin) == seen(env)
    play_on(twin, 4, 0)
    assert np.array_equal(env.render(), picture)
    env.close()


@every_single
def test_a_copy_of_a_gymnasium_environment_has_the_same_future(name: str, options: dict[str, Any]) -> None:
    """With chance copied, also that: both draw the same, step after step, and neither moves the other."""
    env, copier = gymnasium.make(name, **options).unwrapped, Copier("copied")
    env.reset(seed=4)
    env.step(0)
    twins = [copier.twin(env) for _ in range(2)]

    def future(env: Any) -> list[Any]:
        steps, choice = [], random.Random(2)
        while len(steps) < 30 and not (steps and steps[-1][2]):
            steps.append(env.step(choice.randrange(env.action_space.n)))
        return [(str(observation), reward, over, cut, str(info)) for observation, reward, over, cut, info in steps]

    first = future(twins[0])
    assert future(twins[1]) == first
    assert future(env) == first


@every_single
def test_snapshots_alone_leave_an_environment_as_it_is(name: str, options: dict[str, Any]) -> None:
    env, copier = gymnasium.make(name, **options).unwrapped, Copier("reseeded")
    env.reset(seed=4)
    generator, state = env.np_random, env.np_random.bit_generator.state
    first = copier.snapshot(env)
    twin = copier.twin(env)
    for _ in range(5):
        twin.reset()
    assert env.np_random is generator
    assert env.np_random.bit_generator.state == state
    assert copier.snapshot(env) == first


def test_a_snapshot_is_not_moved_by_what_comes_later() -> None:
    thing, copier = Thing(cells=[[0, 0], [0]], board=np.zeros(3)), Copier("copied")
    snapshot = copier.snapshot(thing)
    thing.cells[0][0], thing.board[1] = 5, 7
    twin = copier.twin(thing)
    copier.restore(twin, snapshot)
    twin.cells[1].append(3)
    twin.board += 1
    copier.restore(twin, snapshot)
    assert twin.cells == [[0, 0], [0]]
    assert twin.board.tolist() == [0, 0, 0]
    assert (thing.cells, thing.board.tolist()) == ([[5, 0], [0]], [0, 7, 0])


def test_a_restored_copy_loses_attributes_that_came_later() -> None:
    thing, copier = Thing(known=1), Copier("copied", constant=("known",))
    twin, snapshot = copier.twin(thing), copier.snapshot(thing)
    twin.winner = 1
    copier.restore(twin, snapshot)
    assert vars(twin) == vars(thing)


def test_attributes_that_are_one_object_stay_one_object() -> None:
    cells = [0, 0]
    twin = Copier("copied").twin(Thing(cells=cells, shown={"cells": cells}))
    twin.cells[0] = 1
    assert twin.shown["cells"] == [1, 0]
    assert cells == [0, 0]


def test_constant_attributes_are_shared() -> None:
    table = {"a": [1]}
    copier, thing = Copier("copied", constant=("table",)), Thing(table=table, cells=[0])
    twin = copier.twin(thing)
    assert twin.table is table
    copier.restore(twin, copier.snapshot(thing))
    assert twin.table is table
    assert twin.cells is not thing.cells


@pytest.mark.parametrize("way", ["method", "partial", "itself", "deep"])
def test_methods_among_the_attributes_are_the_copy_s_own(way: str) -> None:
    """A dictionary of handlers, say: its methods once moved a third object, which nobody looked at."""
    thing = Thing()
    holders: dict[str, Callable[[], Any]] = {
        "method": lambda: thing.add,
        "partial": lambda: functools.partial(thing.add),
        "itself": lambda: thing,
        "deep": lambda: {1: [thing.add]},
    }
    thing.held = holders[way]()
    copier = Copier("copied")
    twin = copier.twin(thing)
    for _ in range(2):
        copier.restore(twin, copier.snapshot(thing))
        {"itself": lambda: twin.held.add(), "deep": lambda: twin.held[1][0]()}.get(way, lambda: twin.held())()
        assert (twin.count, thing.count) == (1, 0)


def test_methods_of_lists_among_the_attributes_are_of_the_copied_list() -> None:
    thing = Thing(cells=[0])
    thing.push = thing.cells.append
    twin = Copier("copied").twin(thing)
    twin.push(1)
    assert (twin.cells, thing.cells) == ([0, 1], [0])


def test_functions_without_variables_are_shared() -> None:
    thing = Thing(plain=lambda x: x + 1, square=math.sqrt, length=len, module=math, log=logging.getLogger("x"))
    twin = Copier("copied").twin(thing)
    for name in ("plain", "square", "length", "module", "log"):
        assert getattr(twin, name) is getattr(thing, name)


def test_a_function_that_holds_the_object_is_refused() -> None:
    """Shared, it moved the original."""
    thing = Thing()
    thing.moves = {0: lambda: thing.add()}
    with pytest.raises(TypeError, match=r"Thing cannot be copied, for its attribute moves .*constant"):
        Copier("copied").twin(thing)


def deep() -> list[Any]:
    """A list in a list in a list, and so on."""
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    return nested


UNCOPIABLE: dict[str, Callable[[], Any]] = {
    "generator": lambda: (x for x in range(3)),
    "lock": threading.Lock,
    "open file": Path(__file__).open,
    "pointer": lambda: ctypes.pointer(ctypes.c_int(3)),
    "object of a local class": lambda: type("Local", (), {})(),
    "nesting": deep,
    "bound variable": lambda: (lambda kept: lambda: kept)([0]),
}


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("make", UNCOPIABLE.values(), ids=UNCOPIABLE)
def test_what_cannot_be_copied_is_told_by_the_name_of_its_attribute(make: Callable[[], Any]) -> None:
    thing = Thing(fine=[1], strange=make(), also=2)
    with pytest.raises(TypeError, match=r"^Thing cannot be copied, for its attribute strange \("):
        Copier("reseeded").twin(thing)
    twin = Copier("reseeded", constant=("strange",)).twin(thing)
    assert twin.strange is thing.strange
    if isinstance(thing.strange, io.IOBase):
        thing.strange.close()


def test_objects_that_pickle_by_their_arguments_are_copied_by_their_attributes() -> None:
    """B098: at the top and inside."""
    inner = Remade(3)
    inner.cells[1] = 5
    assert pickle.loads(pickle.dumps(inner)).cells == [0, 0, 0]
    twin = Copier("copied").twin(Thing(inner=inner, row=[inner]))
    assert twin.inner.cells == [0, 5, 0]
    assert twin.inner is twin.row[0]
    assert twin.inner is not inner
    assert Copier("copied").twin(inner).cells == [0, 5, 0]


def test_rectangles_and_groups_of_pygame_are_copied_but_surfaces_shared() -> None:
    """State is kept in such rectangles; shared ones moved in the original too."""
    sprite = pygame.sprite.Sprite()
    sprite.rect = pygame.Rect(0, 0, 2, 2)
    group = pygame.sprite.Group(sprite)
    thing = Thing(ball=pygame.Rect(0, 0, 5, 5), speed=pygame.Vector2(1, 0), screen=pygame.Surface((4, 4)), group=group)
    twin = Copier("copied").twin(thing)
    twin.ball.x, twin.speed.x = 3, 9
    twin.group.sprites()[0].rect.x = 7
    twin.group.empty()
    assert (thing.ball.x, thing.speed.x, sprite.rect.x, len(group)) == (0, 1, 0, 1)
    assert twin.screen is thing.screen


# Chance

GENERATORS: dict[str, Callable[[], Any]] = {
    "Generator": lambda: np.random.default_rng(5),
    "RandomState": lambda: np.random.RandomState(5),
    "RandomState of other bits": lambda: np.random.RandomState(np.random.SFC64(5)),
    "Random": lambda: random.Random(5),
    "other bits": lambda: np.random.Generator(np.random.MT19937(5)),
}
every_generator = pytest.mark.parametrize("make", GENERATORS.values(), ids=GENERATORS)


def drawn(thing: Any) -> list[float]:
    """Eight numbers of its generator."""
    return [float(thing.chance.random()) for _ in range(8)]


@every_generator
def test_copied_chance_is_the_original_s_future(make: Callable[[], Any]) -> None:
    thing, copier = Thing(chance=make()), Copier("copied")
    twin, snapshot = copier.twin(thing), copier.snapshot(thing)
    numbers = drawn(twin)
    copier.chance.reseed(3)
    copier.restore(twin, snapshot)
    assert drawn(twin) == numbers
    assert drawn(thing) == numbers


@every_generator
def test_reseeded_chance_goes_on_over_restorings_and_is_begun_anew_by_its_seed(make: Callable[[], Any]) -> None:
    """The one of numpy was not begun anew: since numpy 2 its __setstate__ does nothing with what its __getstate__ gives."""
    thing, copier = Thing(chance=make()), Copier("reseeded")
    twin, snapshot = copier.twin(thing), copier.snapshot(thing)

    def sequence(seed: int) -> list[list[float]]:
        copier.chance.reseed(seed)
        numbers = []
        for _ in range(3):
            copier.restore(twin, snapshot)
            numbers.append(drawn(twin))
        return numbers

    first, other, again = sequence(1), sequence(2), sequence(1)
    assert first == again
    assert len({tuple(numbers) for numbers in [*first, *other]}) == 6
    assert drawn(thing) == drawn(Thing(chance=make()))
    assert drawn(thing) not in [*first, *other]


@every_generator
def test_reseeded_chance_is_no_part_of_a_snapshot(make: Callable[[], Any]) -> None:
    """Otherwise no two positions were ever equal."""
    thing, copier = Thing(chance=make()), Copier("reseeded")
    twin, snapshot = copier.twin(thing), copier.snapshot(thing)
    drawn(twin)
    assert copier.snapshot(twin) == copier.snapshot(thing) == snapshot


def test_many_snapshots_keep_nothing_but_themselves() -> None:
    env, copier = tictactoe_v3.raw_env(), Copier("reseeded")
    env.reset()
    twin = copier.twin(env)
    shared = len(copier._shared)
    for _ in range(50):
        copier.restore(twin, copier.snapshot(env))
    assert len(copier._shared) == shared
