"""Our games as games of OpenSpiel, for its algorithms and bots: "ucd_hex(size=5)" is hex_v0 on 5x5.

    import pyspiel, ucd_envs
    ucd_envs.openspiel.register()
    state = pyspiel.load_game("ucd_hex(size=5)").new_initial_state()

Settings are OpenSpiel's parameters of the same names; -1 and an empty text stand for a number and a text that are None.
Returns are on the scale of `Rules.rewards`. A game of two players is declared zero-sum where its payoffs sum to 1; of a game
that is none of this package's, some random games tell. Actions have our numbers. The
observation tensor is that of our environments with planes first: [planes, rows, columns] float32, of 0 and 1; the information
state is the text of all moves. Our position is the attribute `position` of a state.
"""

from __future__ import annotations

import ctypes
import math
import random
from collections.abc import Mapping
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from ucd_envs import pictures
from ucd_envs.kernels import CHANCE, OVER
from ucd_envs.registry import OWN_GAMES, make_rules, parameters, versioned
from ucd_envs.rules import Rules, State

NAMES = "ucd_"
"""Beginning of our games' names in OpenSpiel."""
WITH_DICE = frozenset(("einstein_v0", "pig_v0", "twenty_forty_eight_v0"))
SOLITARY = frozenset(("leftright_v0", "twenty_forty_eight_v0"))
UNBALANCED = frozenset(("crisscross_v0",))
"""Facts of our own games, so that none of them is compiled in order to be registered."""
GAMES = 20
"""Random games that tell whether a game is zero-sum."""
NOTHING = {"int": -1, "str": ""}
"""Values that stand for None, by a setting's type."""


def imported() -> Any:
    """Returns the module pyspiel. Raises ImportError with the extra to install."""
    try:
        import pyspiel
    except ImportError:
        raise ImportError("games of OpenSpiel need it: pip install 'ucd-planners[openspiel]'") from None
    return pyspiel


def register(*games: str) -> list[str]:
    """Registers games in OpenSpiel and returns their names there, such as "ucd_hex". A game stays registered.

    games: names or references as in `make_rules`, by default all games of this package. Raises ImportError without OpenSpiel,
    ValueError for an unknown game, for chance without probabilities and for a name that another game has.
    """
    pyspiel = imported()
    names = []
    for game in games or OWN_GAMES:
        name = versioned(game)
        short = NAMES + name.rpartition(":")[2].rpartition("_v")[0] if ":" not in name else NAMES + name.rpartition(":")[2]
        if _registered.setdefault(short, name) != name:
            raise ValueError(f"{short} is {_registered[short]} in OpenSpiel already, and cannot be {name} too")
        if short not in pyspiel.registered_names():
            kind = kind_of(short, name, facts(name), specified(name))
            maker = partial(_made, kind, name)
            # OpenSpiel lets go of it after Python has ended, when nothing can be freed any more.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(maker))
            pyspiel.register_game(kind, maker)
        names.append(short)
    return names


_registered: dict[str, str] = {}
"""Our names by those in OpenSpiel."""


class Facts(NamedTuple):
    """Facts of a game that OpenSpiel asks for before there is a configuration."""

    players: int
    chance: bool
    zero_sum: bool


def facts(name: str) -> Facts:
    """Returns the facts of a game. Raises ValueError for chance without probabilities."""
    if name in OWN_GAMES:
        return Facts(1 if name in SOLITARY else 2, name in WITH_DICE, name not in SOLITARY | UNBALANCED)
    return facts_of(make_rules(name))


@lru_cache(256)
def facts_of(rules: Rules) -> Facts:
    """Returns the facts of a configuration. Raises ValueError for chance without probabilities."""
    if rules.name in OWN_GAMES:
        return facts(rules.name)
    if rules.has_chance and not rules.knows_probabilities:
        raise ValueError(f"{rules.name} draws its chance itself: OpenSpiel needs outcomes with probabilities")
    return Facts(rules.players, rules.has_chance, rules.players == 2 and all(map(_is_balanced, [rules] * GAMES, range(GAMES))))


def _is_balanced(rules: Rules, seed: int) -> bool:
    """Returns whether the payoffs of a random game sum to 1."""
    choice, state = random.Random(seed), rules.initial_state()
    while not state.over:
        state = state.after(choice.choice(state.legal_actions()))
    return math.isclose(sum(state.payoffs()), 1.0)


def specified(name: str) -> dict[str, Any]:
    """Returns the settings of a game with defaults that OpenSpiel can hold."""
    found = {}
    for setting, parameter in parameters(name).items():
        default = parameter.default
        if default is None:
            default = NOTHING.get(str(parameter.annotation).partition(" ")[0])
        if isinstance(default, (bool, int, float, str)):
            found[setting] = default
    return found


def settings_of(name: str, written: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings that parameters of OpenSpiel stand for."""
    nothing = {setting for setting, each in parameters(name).items() if each.default is None}
    return {key: None if key in nothing and value in NOTHING.values() else value for key, value in written.items()}


def kind_of(short: str, name: str, known: Facts, specification: Mapping[str, Any]) -> Any:
    """Returns the pyspiel.GameType of a game."""
    types = imported().GameType
    return types(
        short_name=short,
        long_name=f"{name} of ucd_envs",
        dynamics=types.Dynamics.SEQUENTIAL,
        chance_mode=types.ChanceMode.EXPLICIT_STOCHASTIC if known.chance else types.ChanceMode.DETERMINISTIC,
        information=types.Information.PERFECT_INFORMATION,
        utility=types.Utility.ZERO_SUM if known.zero_sum else types.Utility.GENERAL_SUM,
        reward_model=types.RewardModel.TERMINAL,
        max_num_players=known.players,
        min_num_players=known.players,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=dict(specification),
    )


def game_of(rules: Rules) -> Any:
    """Returns the pyspiel.Game of our rules, which need not be registered. Raises ImportError and ValueError as `register`."""
    short = NAMES + rules.name.rpartition(":")[2].rpartition("_v")[0]
    return classes()[0](kind_of(short, rules.name, facts_of(rules), {}), rules, None)


def _made(kind: Any, name: str, written: Mapping[str, Any]) -> Any:
    """Returns the pyspiel.Game of a registered game with parameters."""
    return classes()[0](kind, make_rules(name, **settings_of(name, written)), dict(written))


def _loaded(name: str, text: str) -> Any:
    """Unpickles a registered game."""
    register(name)
    return imported().load_game(text)


def _replayed(game: Any, history: list[int]) -> Any:
    """Unpickles a position."""
    state = game.new_initial_state()
    for action in history:
        state.apply_action(action)
    return state


@cache
def classes() -> tuple[Any, Any]:
    """Returns the classes of our games and of their states, made when OpenSpiel is first needed."""
    import pyspiel

    players = {CHANCE: pyspiel.PlayerId.CHANCE, OVER: pyspiel.PlayerId.TERMINAL}

    class Game(pyspiel.Game):
        """A game of ours in one configuration."""

        def __init__(self, kind: Any, rules: Rules, written: Mapping[str, Any] | None) -> None:
            least, most = rules.rewards
            info = pyspiel.GameInfo(
                num_distinct_actions=rules.actions,
                max_chance_outcomes=rules.actions if rules.has_chance else 0,
                num_players=rules.players,
                min_utility=least,
                max_utility=most,
                utility_sum=least + most if kind.utility == pyspiel.GameType.Utility.ZERO_SUM else None,
                max_game_length=rules.max_plies,
            )
            super().__init__(kind, info, written or {})
            self.rules, self.is_registered = rules, written is not None

        def new_initial_state(self) -> Any:
            return Position(self)

        def max_chance_nodes_in_history(self) -> int:
            return self.rules.max_plies if self.rules.has_chance else 0

        def __reduce__(self) -> tuple[Any, ...]:
            name = _registered.get(self.get_type().short_name, "")
            return (_loaded, (name, str(self))) if self.is_registered else (game_of, (self.rules,))

        def make_py_observer(self, kind: Any = None, parameters: Any = None) -> Any:
            recalls = kind is not None and kind.perfect_recall
            return HistoryObserver() if recalls else BoardObserver(self.rules)

    class Position(pyspiel.State):
        """A position of a game of ours, immutable inside, so that a copy costs nothing."""

        def __init__(self, game: Any) -> None:
            super().__init__(game)
            self.position: State = game.rules.initial_state()

        def __reduce__(self) -> tuple[Any, ...]:
            return _replayed, (self.get_game(), self.history())

        def current_player(self) -> int:
            mover = self.position.player
            return int(players.get(mover, mover))

        def _legal_actions(self, player: int) -> list[int]:
            return self.position.legal_actions()

        def chance_outcomes(self) -> list[tuple[int, float]]:
            kernels, config, state = self.position.rules.kernels, self.position.rules.config, self.position.array()
            return [(action, float(kernels.probability(config, state, action))) for action in self.position.legal_actions()]

        def _apply_action(self, action: int) -> None:
            self.position = self.position.after(action)

        def _action_to_string(self, player: int, action: int) -> str:
            return self.position.action_name(action)

        def is_terminal(self) -> bool:
            return self.position.player == OVER

        def returns(self) -> list[float]:
            rules = self.position.rules
            least, most = rules.rewards
            if self.position.player != OVER:
                return [0.0] * rules.players
            return [least + (most - least) * payoff for payoff in self.position.payoffs()]

        def __str__(self) -> str:
            return pictures.text(self.position)

    return Game, Position


class BoardObserver:
    """The observation of a player: `tensor` [planes * rows * columns] float32, and the same as `dict["observation"]`."""

    def __init__(self, rules: Rules) -> None:
        rows, columns, planes = rules.planes
        self.tensor = np.zeros(planes * rows * columns, np.float32)
        self.dict = {"observation": self.tensor.reshape(planes, rows, columns)}

    def set_from(self, state: Any, player: int) -> None:
        """Writes the observation of a player in a state."""
        position = state.position
        seen = np.zeros(position.rules.planes, np.int8)
        position.rules.kernels.observe(position.rules.config, position.array(), player, seen.reshape(-1))
        self.dict["observation"][:] = seen.transpose(2, 0, 1)

    def string_from(self, state: Any, player: int) -> str:
        """Returns the board as text, which all players see."""
        return str(state)


class HistoryObserver:
    """The information state of a player: all moves, which tell all players the same. It has no tensor."""

    tensor = None
    dict: Mapping[str, Any] = {}

    def set_from(self, state: Any, player: int) -> None:
        """Does nothing, since there is no tensor."""

    def string_from(self, state: Any, player: int) -> str:
        """Returns the numbers of all actions so far."""
        return str(state.history_str())
