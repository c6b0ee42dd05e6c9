"""Checks of a game: the identities of `ucd_envs.rules` on random games, with a report in sentences.

Every array passed to a kernel lies between bands of known bytes, so a kernel that writes outside is found and does no harm.
Default kernels run only on a game whose own kernels have passed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ucd_envs.guarded import GARBAGE, Guarded
from ucd_envs.kernels import CHANCE, HEADER, OVER
from ucd_envs.rng import seeded
from ucd_envs.rules import Rules, State
from ucd_envs.settings import integer
from ucd_envs.symmetries import disagreement

OUTSIDE = (-1, -2, 2**32, -(2**32), 2**63 - 1, -(2**63))
"""Numbers that are not an action of any game."""
DRAWS = 8
"""Draws of chance at each position that is checked."""
MOST_NAMED = 50
"""Limit on the legal actions of a state whose names are read back."""


@dataclass(frozen=True)
class Report:
    """The result of a check."""

    game: str
    states: int
    """Number of states of random games that were checked."""
    playouts: int
    """Number of playouts that were repeated move by move."""
    faults: tuple[str, ...]
    """One sentence for each faulty kernel, empty for a game that passes."""

    @property
    def passed(self) -> bool:
        """Returns whether no fault was found."""
        return not self.faults

    def __str__(self) -> str:
        looked = f"{self.game}: {self.states} states and {self.playouts} playouts"
        return f"{looked}, no fault" if self.passed else "\n".join([f"{looked}, {len(self.faults)} faults", *self.faults])


def check(rules: Rules, states: int = 1000, playouts: int = 100, seed: int = 0) -> Report:
    """Plays random games of `rules` and reports every identity of the game interface that does not hold.

    Plays random games until `states` states have been seen, then `playouts` playouts from some of them, and a game beside its
    image by each symmetry that the rules name. A kernel that never returns cannot be found. Raises TypeError for anything but
    Rules, and for a live Python game or a grouped one.
    """
    if not isinstance(rules, Rules):
        raise TypeError(f"expected Rules, such as make_rules returns, not {type(rules).__name__}")
    if rules.rooted is not None or rules.inside is not None:
        kind = "one game of Python" if rules.inside is None else "a grouped game, whose playouts are those of the game inside"
        raise TypeError(f"{rules.name} is {kind}: only rules made of kernels are checked")
    checker = Checker(rules, integer("seed", seed, 0, 2**63))
    try:
        while checker.states < integer("states", states, 1, 2**31):
            checker.check_game()
        if not checker.faults:
            for _ in range(integer("playouts", playouts, 0, 2**31)):
                checker.check_playout()
    except StoppedError:
        pass
    if not checker.faults and rules.symmetries is not None and (fault := disagreement(rules, seed)):
        checker.faults["symmetries"] = f"{fault}."
    return Report(str(rules), checker.states, checker.playouts, tuple(checker.faults.values()))


class StoppedError(Exception):
    """A fault after which the game cannot continue."""


class Checker:
    """Random games of one configuration, and the faults that were found."""

    def __init__(self, rules: Rules, seed: int) -> None:
        self.rules, self.kernels = rules, rules.kernels
        self.faults: dict[str, str] = {}
        self.states = self.playouts = 0
        self.choice = random.Random(seed)
        self.moves: list[str] = []
        self.known: dict[tuple[bytes, int], tuple[Any, bytes, str]] = {}
        self.starts: list[tuple[bytes, list[str]]] = []
        self.config = Guarded(len(rules.config), np.uint8)
        self.config.array[:] = rules.config
        self.config_bytes = self.config.array.tobytes()
        self.state, self.actions = Guarded(rules.state_bytes, np.uint8), Guarded(rules.actions, np.int32)
        self.words, self.payoffs = Guarded(rules.key_words, np.uint64), Guarded(rules.players, np.float64)
        self.header_fields = self.state.array[: HEADER.itemsize].view(HEADER)
        self.planes, self.rng = Guarded(int(np.prod(rules.planes)), np.int8), Guarded(2, np.uint64)
        self.rng.array[:] = seeded(seed)

    # Faults

    def where(self) -> str:
        """Returns the present state in words."""
        return f"after {' '.join(self.moves)}" if self.moves else "at the start"

    def fault(self, kernel: str, what: str, where: str | None = None) -> None:
        """Records the first fault of a kernel."""
        self.faults.setdefault(kernel, f"{kernel} {what}, {where or self.where()}.")

    def stop(self, kernel: str, what: str) -> None:
        """Records a fault and ends the check."""
        self.fault(kernel, what)
        raise StoppedError

    def call(self, kernel: str, state: Guarded, *arguments: Any) -> Any:
        """Returns the result of a kernel. Checks that all bands and the configuration are unchanged."""
        try:
            function = getattr(self.kernels, kernel, None) or getattr(self.rules, kernel)
            result = function(self.config.array, state.array, *arguments)
        except Exception as error:
            self.stop(kernel, f"raises {type(error).__name__}: {error}")
        guarded = (self.config, self.state, self.actions, self.words, self.payoffs, self.planes, self.rng, state)
        if not all(array.intact for array in guarded):
            self.stop(kernel, "writes outside its arrays")
        if self.config.array.tobytes() != self.config_bytes:
            self.stop(kernel, "changes config")
        return result

    def read(self, kernel: str, *arguments: Any) -> Any:
        """Returns the result of a kernel that must not change the state."""
        before = self.state.array.tobytes()
        result = self.call(kernel, self.state, *arguments)
        if self.state.array.tobytes() != before:
            self.stop(kernel, "changes the state")
        return result

    def written(self, kernel: str, out: Guarded, *arguments: Any) -> bytes:
        """Returns all bytes that a kernel writes to an array. They must not depend on the array's earlier content."""
        results = []
        for garbage in GARBAGE:
            out.fill(garbage)
            self.read(kernel, *arguments, out.array)
            results.append(bytes(out.array.tobytes()))
        if results[0] != results[1]:
            self.stop(kernel, "leaves a part of its result unwritten, or gives another result each time")
        return results[0]

    # Random games

    @property
    def header(self) -> tuple[int, int]:
        """Returns player and ply of the present state."""
        found: tuple[int, int] = self.header_fields.item()
        return found

    def check_game(self) -> None:
        """Plays one random game and checks all its states."""
        legal = self.begin()
        while True:
            self.states += 1
            player, ply = self.header
            self.check_key(legal)
            self.check_observations()
            if player == OVER:
                self.check_payoffs()
                return
            self.check_legality(legal)
            self.check_names(legal)
            if player == CHANCE:
                self.check_chance(legal)
            else:
                self.check_policy(legal)
                self.check_turn(player)
            if ply >= self.rules.max_plies:
                self.stop("play", f"goes on at ply {ply}, but max_plies is {self.rules.max_plies}")
            self.starts.append((self.state.array.tobytes(), list(self.moves)))
            action = self.choice.choice(legal)
            legal = self.move(action)

    def begin(self) -> list[int]:
        """Begins a game on zeros and on garbage. Returns the legal actions."""
        self.moves = []
        legal, first = self.after_reset(0)
        faults = dict(self.faults)
        for garbage in GARBAGE:
            try:
                same = self.after_reset(garbage)[1] == first
            except StoppedError:  # what fails on garbage only is the fault of the reset
                same, self.faults = False, faults
            if not same:
                self.stop("reset", "leaves a part of the state as it was before")
        return legal

    def after_reset(self, garbage: int) -> tuple[list[int], Any]:
        """Returns the legal actions and the `outlook` after a reset on garbage."""
        self.state.fill(garbage)
        self.call("reset", self.state)
        legal = self.look("reset")
        return legal, (self.header, legal, self.written("key", self.words))

    def move(self, action: int) -> list[int]:
        """Plays a legal action. Returns the legal actions afterwards."""
        ply, name = self.header[1], self.name(action)
        self.call("play", self.state, action)
        self.moves.append(name)
        if self.header[1] != ply + 1:
            self.stop("play", f"leads from ply {ply} to ply {self.header[1]} instead of {ply + 1}")
        return self.look("play")

    def look(self, maker: str) -> list[int]:
        """Checks a state that a kernel has made and its mover. Returns its legal actions."""
        player, ply = self.header
        if player == CHANCE and not self.rules.has_chance:
            self.stop(maker, "names the player CHANCE, but the game has neither draw nor probability")
        if player not in (OVER, CHANCE) and not 0 <= player < self.rules.players:
            self.stop(maker, f"names the player {player}, but there are {self.rules.players} players")
        if ply > self.rules.max_plies:
            self.stop(maker, f"leads to ply {ply}, but max_plies is {self.rules.max_plies}")
        legal = self.listed("legal_actions")
        for first, second in pairwise(legal):
            if first >= second:
                self.stop("legal_actions", f"lists action {second} behind {first}, but the list must ascend")
        if legal and player == OVER:
            self.stop("legal_actions", f"lists action {legal[0]}, though the game is over")
        if not legal and player != OVER:
            mover = "chance" if player == CHANCE else f"player {player}"
            self.stop("legal_actions", f"lists nothing, though {mover} is to move")
        if self.rules.validate is not None and not self.read("validate"):
            self.fault("validate", f"refuses a state that {maker} has made")
        return legal

    def listed(self, kernel: str) -> list[int]:
        """Returns the actions that a kernel lists."""
        self.actions.fill(GARBAGE[0])
        count, most = int(self.read(kernel, self.actions.array)), self.rules.actions
        if not 0 <= count <= most:
            self.stop(kernel, f"returns a count of {count}, but there are {most} actions")
        listed: list[int] = self.actions.array[:count].tolist()
        for action in listed:
            if not 0 <= action < most:
                self.stop(kernel, f"lists action {action}, but actions are 0 to {most - 1}")
        return listed

    def name(self, action: int) -> str:
        """Returns the text of an action, or its number where the game gives no text."""
        try:
            return str(self.present().action_name(action))
        except Exception:
            return str(action)

    def present(self) -> State:
        """Returns the present state as users see it."""
        return State.trusted(self.rules, self.state.array.tobytes())

    # Kernels that read

    def check_legality(self, legal: list[int]) -> None:
        """Checks is_legal on every action and on numbers that are not actions."""
        is_legal, config, state = self.kernels.is_legal, self.config.array, self.state.array
        listed = set(legal)
        for action in (*range(self.rules.actions), self.rules.actions, *OUTSIDE):
            if bool(is_legal(config, state, action)) != (action in listed):
                said = "refuses" if action in listed else "allows"
                self.fault("is_legal", f"{said} action {action}, but legal_actions does not")
                return
        self.read("is_legal", legal[0])

    def check_key(self, legal: list[int]) -> None:
        """Compares the state with an earlier one of equal key and ply."""
        player, ply = self.header
        words, data = self.written("key", self.words), self.state.array.tobytes()
        paid = self.written("payoffs", self.payoffs) if player == OVER else b""
        facts = (player, legal, paid)
        known, other, where = self.known.setdefault((words, ply), (facts, data, self.where()))
        if known != facts:
            names = ("movers", "legal actions", "payoffs")
            differing = next(name for name, one, two in zip(names, known, facts, strict=True) if one != two)
            self.fault("key", f"is the same as {where}, where the {differing} are others")
        elif other != data and legal:
            action = self.choice.choice(legal)
            if self.key_after(data, action) != self.key_after(other, action):
                self.fault("key", f"is the same as {where}, but action {action} leads to different keys")

    def key_after(self, data: bytes, action: int) -> bytes:
        """Returns the key after an action in a given state. Restores the present state."""
        present = self.state.array.tobytes()
        self.state.array[:] = np.frombuffer(data, np.uint8)
        self.call("play", self.state, action)
        words = self.written("key", self.words)
        self.state.array[:] = np.frombuffer(present, np.uint8)
        return words

    def check_turn(self, player: int) -> None:
        """Checks that every other player may be set to move, has a key of its own, and that the way back leads to the same."""
        if self.rules.turn is None:
            return
        present, key = self.state.array.tobytes(), self.written("key", self.words)
        for other in range(self.rules.players):
            ply = self.header[1]
            self.call("turn", self.state, other)
            if self.header != (other, ply):
                self.stop("turn", f"to player {other} leads to player {self.header[0]} at ply {self.header[1]}")
            self.look("turn")
            if other != player and self.written("key", self.words) == key:
                self.fault("key", f"is the same for the players {player} and {other}, though turn may set either")
            self.call("turn", self.state, player)
            if self.written("key", self.words) != key:
                self.fault("turn", f"to player {other} and back leads to another key")
            self.state.array[:] = np.frombuffer(present, np.uint8)

    def check_payoffs(self) -> None:
        """Checks that payoffs are in [0, 1]."""
        payoffs = np.frombuffer(self.written("payoffs", self.payoffs))
        for player, payoff in enumerate(payoffs.tolist()):
            if not 0 <= payoff <= 1:
                self.fault("payoffs", f"gives player {player} {payoff}, but payoffs are from 0 to 1")

    def check_observations(self) -> None:
        """Checks that observations are zeros and ones."""
        for player in range(self.rules.players):
            seen = set(self.written("observe", self.planes, player))
            if seen - {0, 1}:
                self.fault("observe", f"writes {max(seen)} for player {player}, but observations are 0 or 1")

    def check_policy(self, legal: list[int]) -> None:
        """Checks that the random policy plays legal actions and that its three kernels agree."""
        playable = sorted(self.listed("playout_actions"))
        if not playable or len(set(playable)) < len(playable) or not set(playable) <= set(legal):
            self.stop("playout_actions", f"lists {playable[:20]}, but it must list some of the legal actions, each once")
        for action in legal:
            if bool(self.kernels.is_playable(self.config.array, self.state.array, action)) != (action in playable):
                self.fault("is_playable", f"does not agree with playout_actions about action {action}")
                break
        self.read("is_playable", legal[0])
        action = int(self.read("playout_action", self.rng.array))
        if action not in playable:
            self.stop("playout_action", f"returns {action}, which playout_actions does not list")

    def check_chance(self, legal: list[int]) -> None:
        """Checks that outcomes have probabilities above 0 whose sum is 1, where the game knows them, and that draws are
        outcomes.
        """
        if self.rules.knows_probabilities:
            chances = [float(self.read("probability", action)) for action in legal]
            if not all(0 < chance <= 1 for chance in chances) or abs(sum(chances) - 1) > 1e-9:
                self.stop("probability", f"gives outcomes {chances[:20]}, but they must be above 0 and sum to 1")
        for _ in range(DRAWS):
            action = int(self.read("draw", self.rng.array))
            if action not in legal:
                self.stop("draw", f"returns {action}, which legal_actions does not list")

    def check_names(self, legal: list[int]) -> None:
        """Checks that the names of legal actions are read back as the same actions."""
        state = self.present()
        for action in legal[:MOST_NAMED]:
            try:
                name = state.action_name(action)
                found = state.action_named(name)
            except Exception as error:
                self.fault("action_name", f"or action_named raises {type(error).__name__} for action {action} ({error})")
                return
            if not isinstance(name, str) or found != action:
                self.fault("action_name", f"writes {name!r} for action {action}, which action_named reads as {found!r}")
                return

    # Playouts

    def check_playout(self) -> None:
        """Checks a playout from a state of the random games: twice with a whole trace, with a short one, and without a
        trace."""
        if not self.starts:
            return
        self.playouts += 1
        data, moves = self.choice.choice(self.starts)
        seed, ply = self.choice.randrange(2**32), int(np.frombuffer(data, np.int32)[1])
        whole = self.rules.max_plies - ply
        results = [self.playout(data, moves, seed, room) for room in (whole, whole, self.choice.randint(1, whole), 0)]
        if results[0] != results[1]:
            self.fault("playout", "gives two results for one seed")

    def playout(self, data: bytes, moves: list[str], seed: int, room: int) -> tuple[bytes, ...]:
        """Plays a playout with a trace of `room` moves, then its moves one by one. Returns the trace and the key at its end."""
        self.put(data, moves)
        trace = Guarded(room, np.int32)
        self.rng.array[:] = seeded(seed)
        count = int(self.call("playout", self.state, self.rng.array, trace.array))
        if not trace.intact:
            self.stop("playout", f"writes outside a trace of {room} moves")
        if room == 0:
            if self.header[0] != OVER:
                self.stop("playout", f"without a trace ends with the player {self.header[0]}, but the game must be over")
            self.check_payoffs()
            return ()
        if not 0 <= count <= room:
            self.stop("playout", f"returns a count of {count} moves for a trace of {room}")
        ended = self.state.array.tobytes()
        self.put(data, moves)
        legal = self.listed("legal_actions")
        for player, action in self.traced(trace.array[:count]):
            if player != self.header[0] or action not in legal:
                self.stop("playout", f"plays action {action} of player {player}, which is not legal")
            legal = self.move(action)
        if legal and count < room:
            self.stop("playout", f"stops after {count} moves, though the game goes on")
        replayed = self.outlook()
        self.state.array[:] = np.frombuffer(ended, np.uint8)
        if self.outlook() != replayed:
            self.stop("playout", "leaves another state than its moves lead to")
        return trace.array[:count].tobytes(), replayed[-1]

    def put(self, data: bytes, moves: list[str]) -> None:
        """Sets the present state to one of an earlier game."""
        self.state.array[:] = np.frombuffer(data, np.uint8)
        self.moves = list(moves)

    @staticmethod
    def traced(trace: np.ndarray) -> Iterator[tuple[int, int]]:
        """Returns player and action of every move."""
        return (divmod(move, 2**16) for move in trace.tolist())

    def outlook(self) -> tuple[Any, ...]:
        """Returns the results of all reading kernels in the present state, its key last."""
        over = self.header[0] == OVER
        paid = self.written("payoffs", self.payoffs) if over else b""
        return (self.header, self.listed("legal_actions"), paid, self.written("key", self.words))
