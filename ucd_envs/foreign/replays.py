"""The callbacks of OpenSpiel games, whose positions are reached by playing their histories.

Each thread has one live position. A callback is about the state with a token: it uses the live position if that is the state's,
else a copy of the thread's root, else a position that the state's history is played to, which becomes the root.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import threading
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from ucd_envs.foreign.histories import CALLBACK, CONFIG, LAST, PIECE, STATE
from ucd_envs.foreign.interrupts import Interruptible
from ucd_envs.kernels import CHANCE, FAILED, OVER
from ucd_envs.structs import address_of, configuration
from ucd_envs.tables import HASH

FUNCTIONS = ("legal_actions", "play", "position", "playout")
"""The callbacks, in the order of their addresses."""
DICE, ENDED = -1, -4
"""OpenSpiel's players at chance nodes and at the end."""
DIGEST_BYTES = 16
MOST_VIEWS = 256
"""Addresses whose arrays are kept."""
SLACK = 1e-6
"""Rounding error of probabilities."""
FACTOR, ONES = int(HASH), 2**64 - 1
WORDS = ctypes.c_uint64 * PIECE

Position = Callable[[Any], str | bytes]
"""A function of a pyspiel.State: its result is equal only for positions with equal futures and payoffs."""


def token_after(token: int, action: int) -> int:
    """Returns the token of a history with one more action, as the kernel does."""
    return (token ^ (action + 1)) * FACTOR & ONES


class Blocks(NamedTuple):
    """The blocks of a state in memory."""

    header: Any
    """[2] int32: player and ply."""
    tail: Any
    """[2] int64: token and number of outcomes."""
    numbers: Any
    outcomes: Any
    history: Any


class Thread(threading.local):
    """The positions of one thread: the live one and the root of its search, with their tokens; None where there is none."""

    token: int | None = None
    live: Any = None
    root_token: int | None = None
    root: Any = None
    caught: BaseException | None = None


class Replays(Interruptible):
    """The callbacks of one OpenSpiel game.

    start: a position before the first move; position: its key, or None for the moves that led to it; least, most: the range of
    returns; actions: their number, outcomes among them; outcomes: the most of a chance node; max_plies: the longest history.
    """

    def __init__(
        self,
        name: str,
        start: Any,
        position: Position | None,
        returns: tuple[float, float],
        actions: int,
        outcomes: int,
        max_plies: int,
    ) -> None:
        super().__init__()
        self.name, self.start, self._position_of = name, start, position
        self._least, self._width = returns[0], returns[1] - returns[0]
        self.players, self.actions, self.max_plies = start.num_players(), actions, max_plies
        self._numbers, self._outcomes = max(self.players, outcomes), outcomes + outcomes % 2
        self._history = -(-max_plies // 4) * 4
        self.state_bytes = STATE.itemsize + 8 * self._numbers + 4 * self._outcomes + 2 * self._history
        self._thread = Thread()
        self._list = ctypes.c_int32 * actions
        self._kinds: list[Any] = [ctypes.c_int32 * 2, ctypes.c_int64 * 2, ctypes.c_double * self._numbers]
        self._kinds += [ctypes.c_int32 * self._outcomes, ctypes.c_uint16 * max_plies]
        self._states: dict[int, Blocks] = {}
        self._lists: dict[int, Any] = {}
        self._words: dict[int, Any] = {}
        functions = (self._legal_actions, self._play, self._position, self._playout)
        self._callbacks = [CALLBACK(self._guarded(function)) for function in functions]
        self._first = np.frombuffer(bytearray(self.state_of([])), np.uint8)
        addresses = [ctypes.cast(callback, ctypes.c_void_p).value for callback in self._callbacks]
        places = dict(zip(FUNCTIONS, addresses, strict=True))
        sizes = {"players": self.players, "numbers": self._numbers, "outcomes": self._outcomes, "max_plies": max_plies}
        self.config = configuration(CONFIG, **places, **sizes, start=address_of(self._first))

    def begin(self, start: Any) -> None:
        """Uses another object for the position before the first move. Every thread begins there again."""
        self.start, self._thread = start, Thread()

    def reseed(self, seed: int) -> None:
        """Does nothing: all random numbers come from the search."""

    def failure(self) -> BaseException | None:
        """Returns and clears the exception that a callback of this thread has caught."""
        thread = self._thread
        caught, thread.caught = thread.caught, None
        return caught

    def state_of(self, moves: Sequence[int]) -> bytes:
        """Returns the bytes of the state that legal moves lead to."""
        data = bytearray(self.state_bytes)
        address = ctypes.addressof(ctypes.c_char.from_buffer(data))
        blocks = self._blocks_at(address)
        live = self._after(moves)
        token = 0
        for move in moves:
            token = token_after(token, move)
        blocks.history[: len(moves)] = list(moves)
        blocks.tail[0] = ctypes.c_int64(token).value
        blocks.header[1] = len(moves)
        blocks.header[0] = self._next(live, live.current_player(), blocks, len(moves) >= self.max_plies) - 1
        self._states.pop(address, None)
        return bytes(data)

    def position_of(self, data: bytes) -> Any:
        """Returns a new pyspiel.State of the bytes of a state."""
        return self._after(self.moves_of(data))

    def moves_of(self, data: bytes) -> list[int]:
        """Returns the moves in the bytes of a state."""
        ply = int.from_bytes(data[4:8], "little")
        before = len(data) - 2 * self._history
        moves: list[int] = np.frombuffer(data, np.uint16, ply, before).tolist()
        return moves

    def is_valid(self, config: np.ndarray, state: np.ndarray) -> bool:
        """Returns whether the bytes are those of the state that their moves lead to."""
        data, live = state.tobytes(), self.start.clone()
        moves = self.moves_of(data)
        for move in moves:
            if live.is_terminal() or move not in live.legal_actions():
                return False
            live.apply_action(move)
        return self.state_of(moves) == data

    def _after(self, moves: Sequence[int]) -> Any:
        """Returns a new position that legal moves lead to."""
        live = self.start.clone()
        for move in moves:
            live.apply_action(move)
        return live

    def _guarded(self, function: Callable[[int, int, int, int], int]) -> Callable[[int, int, int, int], int]:
        """Returns a callback that stores an exception of a function and returns FAILED."""

        def guarded(token: int, number: int, state: int, other: int) -> int:
            try:
                self._inside = True
                if self._waiting is not None:
                    self._let_in()
                answer = function(token, number, state, other)
                self._inside = False
                return answer
            except BaseException as error:
                self._inside = False
                thread = self._thread
                thread.token = thread.root_token = None  # Ctrl-C may have come between a position and its token
                thread.caught = error
                return FAILED

        return guarded

    def _live(self, token: int, state: int) -> Any:
        """Returns the thread's live position, which is that of a state afterwards."""
        thread = self._thread
        if token != thread.token:
            if token != thread.root_token:
                blocks = self._blocks_at(state)
                thread.root = self._after(blocks.history[: blocks.header[1]])
                thread.root_token = token
            thread.live = thread.root.clone()
            thread.token = token
        return thread.live

    def _legal_actions(self, token: int, ply: int, state: int, place: int) -> int:
        actions = self._live(token, state).legal_actions()
        count = len(actions)
        if not count or not 0 <= actions[0] <= actions[-1] < self.actions:
            raise ValueError(f"{self.name} lists the legal actions {actions}, but its actions are 0 to {self.actions - 1}")
        view = self._lists.get(place) or self._array(self._lists, self._list, place)
        view[:count] = actions
        return count

    def _play(self, token: int, number: int, state: int, after: int) -> int:
        thread = self._thread
        live = thread.live if token == thread.token else self._live(token, state)
        live.apply_action(number & 0xFFFF)
        thread.token = after
        player: int = live.current_player()
        if player >= 0 and number < LAST:
            return player + 1
        return self._next(live, player, self._blocks_at(state), number >= LAST)

    def _position(self, token: int, ply: int, state: int, place: int) -> int:
        live = self._live(token, state)
        if self._position_of is None:
            digest = blake2b(ctypes.string_at(self._blocks_at(state).history, 2 * ply), digest_size=DIGEST_BYTES)
        else:
            told = self._position_of(live)
            if not isinstance(told, str | bytes):
                raise TypeError(f"a position must be text or bytes, not {type(told).__name__}")
            digest = blake2b(told if isinstance(told, bytes) else told.encode(), digest_size=DIGEST_BYTES)
        ctypes.memmove(place, digest.digest(), DIGEST_BYTES)
        return 0

    def _playout(self, token: int, most: int, state: int, place: int) -> int:
        thread = self._thread
        live = thread.live if token == thread.token else self._live(token, state)
        words = self._words.get(place) or self._array(self._words, WORDS, place)
        legal_actions, apply_action, current_player = live.legal_actions, live.apply_action, live.current_player
        player, played = current_player(), 0
        while played < most:
            if player >= 0:
                actions = legal_actions()
                action = actions[words[played] * len(actions) >> 32]
                words[played] = player << 16 | action  # as move_of does
            elif player == DICE:
                action = self._drawn(live, words[played])
                words[played] = CHANCE << 16 | action
            else:
                break
            apply_action(action)
            player = current_player()
            played += 1
        blocks = self._blocks_at(state)
        code = self._next(live, player, blocks, blocks.header[1] + played >= self.max_plies)
        thread.token = None
        if code:
            for i in range(played):
                token = token_after(token, words[i] & 0xFFFF)
            thread.token = token
        return code << 32 | played

    def _drawn(self, live: Any, word: int) -> int:
        """Returns an outcome for a random number of 32 bits."""
        left, found = word / 2**32, 0
        for outcome, probability in live.chance_outcomes():
            if probability > 0:
                found = outcome
                left -= probability
                if left < 0:
                    break
        return found

    def _next(self, live: Any, player: int, blocks: Blocks, is_last: bool) -> int:
        """Writes what follows into a state: payoffs or outcomes. Returns the next player, 0 for OVER, 1 for player 0."""
        if is_last or player == ENDED:
            blocks.numbers[: self.players] = [self._payoff(paid) for paid in live.returns()]
            return OVER + 1
        if player == DICE:
            self._list_outcomes(live.chance_outcomes(), blocks)
            return CHANCE + 1
        if not 0 <= player < self.players:
            raise ValueError(f"{self.name} leaves a move to player {player}, but players are 0 to {self.players - 1}")
        return player + 1

    def _list_outcomes(self, found: list[tuple[int, float]], blocks: Blocks) -> None:
        """Writes the outcomes of a chance node. Raises ValueError for outcomes or probabilities that are none."""
        listed = sorted((outcome, probability) for outcome, probability in found if probability != 0)
        shares = [probability for _, probability in listed]
        if not listed or not min(shares) > 0 or not abs(math.fsum(shares) - 1) <= SLACK:
            raise ValueError(f"{self.name} lists outcomes with probabilities {shares}: they must be above 0 and sum to 1")
        room = min(len(blocks.outcomes), len(blocks.numbers))
        if len(listed) > room or not 0 <= listed[0][0] <= listed[-1][0] < self.actions:
            raise ValueError(f"{self.name} lists the outcomes {[one for one, _ in listed]}, more than it has declared")
        blocks.tail[1] = len(listed)
        blocks.outcomes[: len(listed)] = [outcome for outcome, _ in listed]
        blocks.numbers[: len(listed)] = shares

    def _payoff(self, paid: float) -> float:
        """Returns a player's payoff in [0, 1] for a return."""
        payoff = (paid - self._least) / self._width
        if payoff != payoff:
            raise ValueError(f"{self.name} pays {paid}, which is no number")
        return min(max(payoff, 0.0), 1.0)

    def _blocks_at(self, state: int) -> Blocks:
        """Returns the blocks of the state at an address."""
        blocks = self._states.get(state)
        if blocks is None:
            places = itertools.accumulate(map(ctypes.sizeof, self._kinds), initial=state)
            blocks = Blocks(*(kind.from_address(place) for kind, place in zip(self._kinds, places, strict=False)))
            if len(self._states) >= MOST_VIEWS:
                self._states.clear()
            self._states[state] = blocks
        return blocks

    def _array(self, views: dict[int, Any], kind: Any, place: int) -> Any:
        """Returns the array of a kind at an address."""
        if len(views) >= MOST_VIEWS:
            views.clear()
        return views.setdefault(place, kind.from_address(place))
