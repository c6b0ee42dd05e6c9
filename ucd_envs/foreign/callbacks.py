"""Kernels that call back into Python, so that planners search games that are Python objects in the same loop.

There is one live game. A simulation resets it to the root at its first move and steps it from there, in the descent and in
the playout. A simulation thus costs one reset and the game's own steps. A state of such a game is either the root or the
present position of the live game; the present position is never copied.

An exception in a callback is stored: the state's player becomes FAILED, the search stops, and the planner raises the
exception.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from types import FrameType
from typing import Any, Protocol

import numpy as np
from numba import types

from ucd_envs.interface import Kernels
from ucd_envs.kernels import (
    FAILED,
    IS_LEGAL,
    KEY,
    LEGAL_ACTIONS,
    OVER,
    PLAY,
    PLAYOUT,
    PLAYOUT_ACTION,
    READ_PAYOFFS,
    RESET,
    kernel,
    most_moves,
)
from ucd_envs.rng import below, draw
from ucd_envs.rules import Rules, State
from ucd_envs.structs import array_at, by_address, configuration, fields, record


class Game(Protocol):
    """One live Python game that can be read, stepped, and reset to the root of a search."""

    players: int
    actions: int
    max_plies: int
    """Limit on the plies that a search looks ahead. Longer games are cut there and paid by their present payoffs."""

    def restart(self) -> None:
        """Resets the live game to the root."""

    def reseed(self, seed: int) -> None:
        """Begins a new sequence of random numbers, where the game has chance."""

    def apart(self) -> AbstractContextManager[None]:
        """Returns a context in which random numbers from outside the game are those of the search. It puts them back."""

    def player(self) -> int:
        """Returns the player to move, or -1 when the game is over."""

    def legal_actions(self) -> Sequence[int]:
        """Returns the legal actions, ascending, at least one. Called only while the game goes on."""

    def step(self, action: int) -> int:
        """Plays a legal action. Returns the next player to move, or -1."""

    def position(self) -> Hashable:
        """Returns a value that determines the future and the payoffs. Equal positions of one ply are searched as one."""

    def payoffs(self) -> Sequence[float]:
        """Returns each player's payoff in [0, 1] for the present position."""


LIVE, PAID = -1, -2
MOST_KEYS = 1_000_000
"""Limit on numbered positions. Beyond it the numbering starts anew with the next search."""
CONFIG = record(
    ("legal_actions", np.uint64),
    ("play", np.uint64),
    ("position", np.uint64),
    ("payoffs", np.uint64),
    ("playout", np.uint64),
    ("numbers", np.uint64),
    ("bits", np.uint64),
    ("shares", np.uint64),
    ("room", np.int64),
    ("max_plies", np.int64),
    ("first_ply", np.int64),
    ("epoch", np.uint64),
)
"""Addresses of the callbacks and of their buffers: actions, random bits, payoffs, [room] each. `first_ply` is the ply of the
root."""
STATE = record(("player", np.int32), ("ply", np.int32), ("place", np.int64))
"""Fields of a state. `ply` counts from the first root of a numbering of positions. `place` is the number of the root, LIVE,
or PAID when the payoffs are also written."""
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
NUMBER, WORD, REAL = np.dtype(np.int32), np.dtype(np.uint64), np.dtype(np.float64)
call = by_address(types.int64(types.int64, types.int64))
U32 = np.uint64(32)
LOW = np.int64(0xFFFFFFFF)


@kernel(RESET)
def reset(config, state):
    """Writes the root, the last position to which the game was reset. Only a state made by the game itself is valid."""
    s = fields(state, STATE)
    s.player = OVER
    s.ply = 0
    s.place = LIVE


@kernel(LEGAL_ACTIONS)
def legal_actions(config, state, actions):
    """Copies the actions that the callback has written."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0:
        return 0
    count = call(c.legal_actions, s.place, 0)
    if count < 0:
        s.player = FAILED
        return 0
    numbers = array_at(c.numbers, (c.room,), NUMBER)
    for i in range(count):
        actions[i] = numbers[i]
    return count


@kernel(IS_LEGAL)
def is_legal(config, state, action):
    """Returns whether the action is legal."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player < 0:
        return False
    numbers = array_at(c.numbers, (c.room,), NUMBER)
    found = False
    for i in range(call(c.legal_actions, s.place, 0)):
        found = found or numbers[i] == action
    return found


@kernel(PLAY)
def play(config, state, action):
    """Steps the live game, from the root if the state is the root."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player == FAILED:
        return
    player = call(c.play, s.place, action)
    s.place = LIVE
    s.ply += 1
    s.player = OVER if player >= 0 and s.ply - c.first_ply >= c.max_plies else player


@kernel(READ_PAYOFFS)
def payoffs(config, state, out):
    """Copies the payoffs that the callback has written."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    if s.player == FAILED or (s.place != PAID and call(c.payoffs, s.place, 0) < 0):
        s.player = FAILED
        return
    shares = array_at(c.shares, (c.room,), REAL)
    for player in range(out.size):
        out[player] = shares[player]


@kernel(KEY)
def key(config, state, words):
    """Writes the number of the position among those seen, and the number of the numbering."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    number = np.int64(-1) if s.player == FAILED or c.room == 0 else call(c.position, s.place, s.ply)
    if number < 0:
        s.player = FAILED
        number = np.int64(0)
    words[0] = np.uint64(number)
    words[1] = c.epoch


@kernel(PLAYOUT)
def playout(config, state, rng, trace):
    """Plays random steps in one callback, which receives as many random words as it can need."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    bits = array_at(c.bits, (c.room,), WORD)
    first, second = rng[0], rng[1]
    most = min(c.first_ply + c.max_plies - s.ply, most_moves(trace))
    for i in range(most):
        bits[i] = draw(rng) >> U32
    rng[0], rng[1] = first, second
    answer = np.int64(-1) if s.player == FAILED else call(c.playout, s.place, most)
    if answer < 0:
        s.player = FAILED
        return 0
    played = answer & LOW
    numbers = array_at(c.numbers, (c.room,), NUMBER)
    for i in range(played):
        draw(rng)
        if trace.size > 0:
            trace[i] = numbers[i]
    s.ply += np.int32(played)
    player = (answer >> 32) - 1
    s.player = OVER if s.ply == c.first_ply + c.max_plies else player
    s.place = PAID if player == OVER else LIVE
    return played


@kernel(PLAYOUT_ACTION)
def playout_action(config, state, rng):
    """Returns a legal action, drawn uniformly, or -1 when the callback has failed."""
    c, s = fields(config, CONFIG), fields(state, STATE)
    count = np.int64(-1) if s.player == FAILED else call(c.legal_actions, s.place, 0)
    if count <= 0:
        s.player = FAILED
        return np.int64(-1)
    return np.int64(array_at(c.numbers, (c.room,), NUMBER)[below(rng, np.uint64(count))])


def unhashable(key: Any, error: TypeError) -> TypeError:
    """Returns the error to raise for a position that cannot be a dictionary key."""
    return TypeError(f"a position must be hashable, but {key!r} is not ({error})")


def _absent(place: int, number: int) -> int:
    """Fails: the callback of a game that is elsewhere."""
    return FAILED


ABSENT = CALLBACK(_absent)
"""The C function in place of every callback of a game that is elsewhere."""


class AbsentGame:
    """A game of Python that stayed in another process: its facts are known, but nothing can be played or searched."""

    def __init__(self, name: str, players: int, actions: int, max_plies: int) -> None:
        self.name = name
        self._facts = (name, players, actions, max_plies)

    def facts(self) -> tuple[Callable[..., Rules], tuple[Any, ...]]:
        """Returns the function that makes these Rules, and its arguments."""
        return rules_without_game, self._facts

    def reseed(self, seed: int) -> None:
        """Does nothing: there is no chance to draw."""

    def failure(self) -> BaseException:
        """Returns the error of every callback."""
        return RuntimeError(f"{self.name} is one game of Python in another process: it cannot be played here")

    def listening(self) -> AbstractContextManager[None]:
        """Returns a context that does nothing."""
        return nullcontext()

    def mover_after(self, state: State, moves: Iterable[int]) -> int:
        """Raises RuntimeError."""
        raise self.failure()


def rules_without_game(
    name: str, players: int, actions: int, max_plies: int, config: np.ndarray | None = None, live: Any = None
) -> Rules:
    """Returns the Rules of a live game. Without a game they give its facts, but nothing can be played or searched."""
    if config is None:
        absent = ctypes.cast(ABSENT, ctypes.c_void_p).value
        config = configuration(CONFIG, **dict.fromkeys(("legal_actions", "play", "position", "payoffs", "playout"), absent))
        live = AbsentGame(name, players, actions, max_plies)
    return Rules(
        name=name,
        settings={},
        players=players,
        actions=actions,
        max_plies=max_plies,
        config=config,
        state_bytes=STATE.itemsize,
        key_words=2,
        kernels=Kernels(
            *(reset, legal_actions, play, payoffs, key),
            is_legal=is_legal,
            playout=playout,
            playout_action=playout_action,
        ),
        action_name=lambda state, action: str(action),
        action_named=lambda state, text: int(text),
        live=live,
    )


class Callbacks:
    """The callbacks of one live game, and its Rules."""

    def __init__(self, game: Game, name: str) -> None:
        self.game = game
        self.place = 0
        self.epoch = 0
        self.base = 0
        self.keys: dict[tuple[Hashable, int], int] = {}
        self.caught: BaseException | None = None
        room = max(game.max_plies, game.actions, game.players) + 1
        self._numbers, self._bits = (ctypes.c_int32 * room)(), (ctypes.c_uint64 * room)()
        self._shares = (ctypes.c_double * room)()
        self._inside = False
        self._waiting: Callable[[], Any] | None = None
        functions = (self._legal_actions, game.step, self._position, self._payoffs, self._playout)
        self._callbacks = [CALLBACK(self._guarded(function)) for function in functions]
        addresses = [ctypes.cast(callback, ctypes.c_void_p).value or 0 for callback in self._callbacks]
        addresses += [ctypes.addressof(array) for array in (self._numbers, self._bits, self._shares)]
        names = list(CONFIG.names or ())[: len(addresses)]
        config = configuration(CONFIG, room=room, max_plies=game.max_plies, epoch=0, **dict(zip(names, addresses, strict=True)))
        self.rules = rules_without_game(name, game.players, game.actions, game.max_plies, config, self)
        self._board = fields(self.rules.config, CONFIG)

    def begin(self) -> State:
        """Returns the state of the root, to which the live game has just been reset. Earlier states become invalid."""
        self.place += 1
        self.caught = None
        key = self.game.position()
        try:
            hash(key)
        except TypeError as error:
            raise unhashable(key, error) from error
        plies = range(self.base, self.base + self.game.max_plies + 1)
        seen = next((ply for ply in plies if (key, ply) in self.keys), None) if len(self.keys) < MOST_KEYS else None
        if seen is None:
            self.epoch += 1
            self._board.epoch = self.epoch
            self.keys.clear()
        self.base = seen or 0
        self._board.first_ply = self.base
        data = np.zeros(1, STATE)
        data["player"], data["ply"], data["place"] = self.game.player(), self.base, self.place
        return State.trusted(self.rules, data.tobytes())

    def reseed(self, seed: int) -> None:
        """Begins a new sequence of random numbers for a search."""
        self.game.reseed(seed)

    def failure(self) -> BaseException | None:
        """Returns and clears the exception that a callback has caught."""
        caught, self.caught = self.caught, None
        return caught

    def mover_after(self, state: State, moves: Iterable[int]) -> int:
        """Returns the player to move after moves from the root. Raises ValueError when the game has another root by now."""
        with self.game.apart():
            self._go_to(int(np.frombuffer(state.data, STATE)["place"][0]))
            player = self.game.player()
            for move in moves:
                player = self.game.step(move)
            return player

    def facts(self) -> tuple[Callable[..., Rules], tuple[Any, ...]]:
        """Returns a function and its arguments that make Rules with the same facts in another process. The game itself is
        not sent."""
        return rules_without_game, (self.rules.name, self.rules.players, self.rules.actions, self.rules.max_plies)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Raises Ctrl-C inside callbacks only while it lasts, since elsewhere ctypes would print and drop it. Random numbers
        from outside the game are those of the search meanwhile."""
        handler = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(handler):
            with self.game.apart():
                yield
            return

        def interrupted(number: int, frame: FrameType | None) -> None:
            if self._inside:
                handler(number, frame)
            else:
                self._waiting = partial(handler, number, frame)

        signal.signal(signal.SIGINT, interrupted)
        try:
            with self.game.apart():
                yield
        finally:
            signal.signal(signal.SIGINT, handler)
            self._let_in()

    def _let_in(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting()

    def _guarded(self, function: Callable[[int], int]) -> Callable[[int, int], int]:
        """Returns a callback that goes to a place and calls the function there. It stores an exception and returns FAILED."""

        def guarded(place: int, number: int) -> int:
            try:
                self._inside = True
                if self._waiting is not None:
                    self._let_in()
                if place >= 0:
                    self._go_to(place)
                answer = function(number)
                self._inside = False
                return answer
            except BaseException as error:
                self._inside = False
                self.caught = error
                return FAILED

        return guarded

    def _legal_actions(self, _: int) -> int:
        actions = self.game.legal_actions()
        self._numbers[: len(actions)] = list(actions)
        return len(actions)

    def _position(self, ply: int) -> int:
        key = self.game.position()
        try:
            return self.keys.setdefault((key, ply), len(self.keys))
        except TypeError as error:
            raise unhashable(key, error) from error

    def _payoffs(self, _: int) -> int:
        shares = self._shares
        for player, payoff in enumerate(self.game.payoffs()):
            shares[player] = payoff
        return 0

    def _playout(self, most: int) -> int:
        bits, numbers = self._bits, self._numbers
        legal_actions, step = self.game.legal_actions, self.game.step
        played, player = 0, self.game.player()
        while player >= 0 and played < most:
            actions = legal_actions()
            action = actions[(bits[played] * len(actions)) >> 32]
            numbers[played] = player << 16 | action  # as move_of does
            player = step(action)
            played += 1
        if player < 0:
            self._payoffs(0)
        return max(player + 1, 0) << 32 | played

    def _go_to(self, place: int) -> None:
        """Resets the live game to the root if `place` is the root."""
        if place != self.place:
            raise ValueError("this environment has been searched from another root since: search it again")
        self.game.restart()
