"""The live game behind kernels that call back into Python, so that planners search games that are Python objects in the same
loop.

A simulation resets the live game to the root at its first move and steps it from there, in the descent and in the playout. A
simulation thus costs one reset and the game's own steps.

A game whose steps may have chance names what followed a step. As long as every move has had one outcome, positions follow their
moves at once. The first other outcome of a move raises ChanceFoundError: the search begins again with the game's new Rules, in
which every step leads to a position of CHANCE.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import numpy as np

from ucd_envs.foreign.interrupts import Interruptible
from ucd_envs.foreign.kernels import CALLBACK, CONFIG, STATE, kernels
from ucd_envs.foreign.outcomes import Outcomes, Place
from ucd_envs.kernels import CHANCE, FAILED, OVER
from ucd_envs.rules import Rules, State
from ucd_envs.structs import configuration, fields


class Game(Protocol):
    """One live Python game that can be read, stepped, and reset to the root of a search."""

    players: int
    actions: int
    max_plies: int
    """Limit on the plies that a search looks ahead. Longer games are cut there and paid by their present payoffs."""
    outcomes: int
    """The most outcomes of a step that are kept apart, 0 for a game whose steps have no chance."""
    widening: float
    """Exponent of the outcomes kept apart after n visits of a move, n**widening; 1 for no such limit."""

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
        """Plays a legal action. Returns the next player to move, as `player` does."""

    def name(self) -> tuple[int, Hashable, Hashable]:
        """Returns the player to move, and two values that keep apart what a step has led to."""

    def position(self) -> Hashable:
        """Returns a value that determines the future and the payoffs. Equal positions of one ply are searched as one."""

    def payoffs(self) -> Sequence[float]:
        """Returns each player's payoff in [0, 1] for the present position."""


class ChanceFoundError(Exception):
    """Raised at the first move that has had two outcomes.

    root: a function that returns the state of the root with the game's new Rules, which have chance.
    """

    def __init__(self, root: Callable[[], State]) -> None:
        super().__init__()
        self.root = root


MOST_KEYS = 1_000_000
"""Limit on numbered positions. Beyond it the numbering starts anew with the next search."""
UNNAMED = 2**62
"""The first number of positions before an outcome is named."""


def unhashable(key: Any, error: TypeError) -> TypeError:
    """Returns the error to raise for a position that cannot be a dictionary key."""
    return TypeError(f"a position must be hashable, but {key!r} is not ({error})")


def _absent(place: int, number: int) -> int:
    """Fails: the callback of a game that is elsewhere."""
    return FAILED


ABSENT = CALLBACK(_absent)
"""The C function in place of every callback of a game that is elsewhere."""


FUNCTIONS = ("legal_actions", "play", "position", "payoffs", "playout")
"""The callbacks, in the order of their addresses."""


class AbsentGame:
    """A game of Python that stayed in another process: its facts are known, but nothing can be played or searched."""

    def __init__(self, name: str, *facts: Any) -> None:
        self.name = name
        self._facts = (name, *facts)

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
    name: str,
    players: int,
    actions: int,
    max_plies: int,
    chance: bool = False,
    config: np.ndarray | None = None,
    live: Any = None,
) -> Rules:
    """Returns the Rules of a live game. Without a game they give its facts, but nothing can be played or searched.

    chance: whether its steps have been seen to draw random numbers.
    """
    if config is None:
        absent = ctypes.cast(ABSENT, ctypes.c_void_p).value
        config = configuration(CONFIG, **dict.fromkeys(FUNCTIONS, absent))
        live = AbsentGame(name, players, actions, max_plies, chance)
    return Rules(
        name=name,
        settings={},
        players=players,
        actions=actions,
        max_plies=max_plies,
        config=config,
        state_bytes=STATE.itemsize,
        key_words=2,
        kernels=kernels(chance),
        action_name=lambda state, action: str(action),
        action_named=lambda state, text: int(text),
        live=live,
    )


class Callbacks(Interruptible):
    """The callbacks of one live game, and its Rules."""

    def __init__(self, game: Game, name: str) -> None:
        super().__init__()
        self.game = game
        self.place = 0
        self.epoch = 0
        self.base = 0
        self.keys: dict[tuple[Hashable, int], int] = {}
        self.outcomes = Outcomes(game.outcomes, game.widening)
        self._unnamed = UNNAMED
        self._root: Place | None = None
        self._here: Place | None = None
        self._room = max(game.max_plies, game.actions, game.players) + 1
        self._numbers, self._bits = (ctypes.c_int32 * self._room)(), (ctypes.c_uint64 * self._room)()
        self._shares = (ctypes.c_double * self._room)()
        functions = (
            self._legal_actions,
            self._play if game.outcomes == 0 else self._play_and_name,
            self._position,
            self._payoffs,
            self._playout,
        )
        self._callbacks = [CALLBACK(self._guarded(function)) for function in functions]
        self._name = name
        self._make_rules(False)

    def _make_rules(self, chance: bool) -> None:
        """Makes the Rules; chance: whether a move has had two outcomes."""
        game = self.game
        places = {
            name: ctypes.cast(callback, ctypes.c_void_p).value or 0
            for name, callback in zip(FUNCTIONS, self._callbacks, strict=True)
        }
        places |= {name: ctypes.addressof(getattr(self, f"_{name}")) for name in ("numbers", "bits", "shares")}
        sizes = {"room": self._room, "max_plies": game.max_plies, "outcomes": game.outcomes if chance else 0, "epoch": 0}
        config = configuration(CONFIG, **places, **sizes)
        actions = max(game.actions, game.outcomes if chance else 0)
        # A step with chance is two plies: the move, and what came of it.
        plies = game.max_plies * (2 if chance else 1)
        self.rules = rules_without_game(self._name, game.players, actions, plies, chance, config, self)
        self._board = fields(self.rules.config, CONFIG)

    def begin(self) -> State:
        """Resets the live game to the root and returns the root's state. Earlier states become invalid."""
        self.game.restart()
        self.place += 1
        self.caught = None
        key = self.game.position()
        try:
            hash(key)
        except TypeError as error:
            raise unhashable(key, error) from error
        plies = range(self.base, self.base + self.rules.max_plies + 1)
        few = max(len(self.keys), self.outcomes.moves) < MOST_KEYS
        seen = next((ply for ply in plies if (key, ply) in self.keys), None) if few else None
        if seen is None:
            self.epoch += 1
            self._board.epoch = self.epoch
            self.keys.clear()
            self.outcomes.clear()
        self.base = seen or 0
        if self.game.outcomes:
            self._root = self._here = self.outcomes.root(self.keys.get((key, self.base)))
        data = np.zeros(1, STATE)
        data["player"], data["ply"], data["place"] = self.game.player(), self.base, self.place
        return State.trusted(self.rules, data.tobytes())

    def _again(self) -> State:
        """Returns the state of the root once more, with the present Rules."""
        with self.game.apart():
            return self.begin()

    def reseed(self, seed: int) -> None:
        """Begins a new sequence of random numbers for a search."""
        self.game.reseed(seed)

    def mover_after(self, state: State, moves: Iterable[int]) -> int:
        """Returns the player to move after moves from the root. Raises ValueError when the game has another root by now."""
        if state.rules.has_chance:
            return self._mover_after_outcomes(list(moves))
        with self.game.apart():
            self._go_to(int(np.frombuffer(state.data, STATE)["place"][0]))
            player = self.game.player()
            for move in moves:
                player = self.game.step(move)
            return player

    def _mover_after_outcomes(self, moves: list[int]) -> int:
        """Returns the player to move after moves and the numbers of their outcomes, in turn."""
        if len(moves) % 2:
            return CHANCE
        place: Any = self._root
        player = self.game.player()
        for action, number in zip(moves[::2], moves[1::2], strict=True):
            (player, *_), place = self.outcomes.named(place, action, number)
        return OVER if len(moves) >= self.rules.max_plies else player

    def facts(self) -> tuple[Callable[..., Rules], tuple[Any, ...]]:
        """Returns a function and its arguments that make Rules with the same facts in another process. The game itself is
        not sent."""
        rules = self.rules
        return rules_without_game, (rules.name, rules.players, rules.actions, rules.max_plies, rules.has_chance)

    def apart(self) -> AbstractContextManager[None]:
        """Returns a context in which random numbers from outside the game are those of the search."""
        return self.game.apart()

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

    def _play(self, action: int) -> int:
        return self.game.step(action) + 1

    def _play_and_name(self, action: int) -> int:
        """Plays a move; returns the number of what followed beside the next player. Behind a playout nothing is named."""
        player, here = self.game.step(action), self._here
        if here is None:
            return player + 1
        name, move = self.game.name(), here.get(action)
        if move is not None and move.first == name:
            # Without chance every known move ends here.
            move.visits += 1
            self._here, self.outcomes.last = move.place, move
            return player + 1
        try:
            number, self._here = self.outcomes.after(here, action, name)
        except TypeError as error:
            raise unhashable(name, error) from error
        if number > 0 and not self.rules.has_chance:
            self.outcomes.clear()
            self._make_rules(True)
            raise ChanceFoundError(self._again)
        return number << 32 | (player + 1)

    def _position(self, ply: int) -> int:
        if ply < 0:
            self._unnamed += 1
            return self._unnamed
        key = self.game.position()
        try:
            number = self.keys.setdefault((key, ply), len(self.keys))
        except TypeError as error:
            raise unhashable(key, error) from error
        if self._here is not None:
            self._here = self.outcomes.same(number, self._here)
        return number

    def _payoffs(self, _: int) -> int:
        shares = self._shares
        for player, payoff in enumerate(self.game.payoffs()):
            shares[player] = payoff
        return 0

    def _playout(self, most: int) -> int:
        bits, numbers = self._bits, self._numbers
        legal_actions, step = self.game.legal_actions, self.game.step
        played, player = 0, self.game.player()
        self._here = None
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
        self._here = self._root
